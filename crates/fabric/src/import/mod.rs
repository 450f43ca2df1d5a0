//! Topology files of other tools.

mod hpcc;
mod htsim;
mod imported;
mod warning;

pub use hpcc::{export_hpcc_topology, import_hpcc_topology};
pub use htsim::{HtsimFailure, import_htsim_topo};
pub use imported::{Imported, TierQueues};
pub use warning::WARNINGS;

use crate::TopologyError;
use imported::error_at;
use incast_units::Span;
use incast_units::fault::{self, wrong};
use std::path::Path;

/// The topology files that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyFormat {
    /// HPCC and other ns-3 RDMA simulators: counts, switch ids, one line per link.
    Hpcc,
    /// htsim's `.topo`.
    HtsimTopo,
}

/// What kind of topology file a text is, by its content: the header, or else what most of its lines
/// look like, so that a broken line leaves the kind known and the reader can name it.
pub fn detect(text: &str) -> Option<TopologyFormat> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let words: Vec<&str> = lines().next()?.split_whitespace().collect();
    let integers = words.iter().take_while(|word| word.parse::<u64>().is_ok()).count();
    match (words.len(), integers) {
        (3, 3) | (4, 4) | (6, 5 | 6) => return Some(TopologyFormat::Hpcc),
        _ => {}
    }
    let mut keys = lines().filter_map(|line| line.split_whitespace().next());
    if keys.any(|key| key.eq_ignore_ascii_case("tiers")) {
        return Some(TopologyFormat::HtsimTopo);
    }
    let content = || lines().filter(|line| !line.starts_with('#'));
    let most =
        |is: fn(&str) -> bool| 2 * content().filter(|line| is(line)).count() > content().count();
    if most(htsim::known) {
        return Some(TopologyFormat::HtsimTopo);
    }
    // Links between numbered nodes; the rate has a unit or the delay has.
    let link = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbered = words.iter().take(2).all(|word| word.parse::<u32>().is_ok());
        words.len() == 5 && numbered && words[3].parse::<Span>().is_ok()
    };
    most(link).then_some(TopologyFormat::Hpcc)
}

/// Reads a topology of any kind that [`detect`] knows from the text of a file. Errors name the file
/// and the line.
pub fn import_text(file: &str, text: &str) -> Result<Imported, TopologyError> {
    import_text_with(file, text, false)
}

/// The same; with `forward`, hosts of several links forward, which else are servers with a NIC for each link.
pub fn import_text_with(file: &str, text: &str, forward: bool) -> Result<Imported, TopologyError> {
    match detect(text) {
        Some(TopologyFormat::Hpcc) => hpcc::import_hpcc(file, text, forward),
        Some(TopologyFormat::HtsimTopo) => import_htsim_topo(file, text),
        None => {
            let message = wrong("not a topology file").expected(
                "an ns-3 header such as `320 64 640`, or htsim's `Nodes`, `Tiers`, `Podsize`",
            );
            Err(error_at(file, 1, message))
        }
    }
}

/// Reads a topology file of any kind that [`detect`] knows. Errors name the file and the line.
pub fn import_file(path: &Path) -> Result<Imported, TopologyError> {
    let file = path.display().to_string();
    let refuse = |message: fault::Problem| TopologyError::malformed(message).at(&file, None);
    let bytes = std::fs::read(path).map_err(|e| refuse(wrong(format!("cannot read: {e}"))))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = error.as_bytes()[good.len()];
        error_at(&file, line, wrong(format!("the byte 0x{byte:02x} is no text")).expected("UTF-8"))
    })?;
    import_text(&file, &text)
}
