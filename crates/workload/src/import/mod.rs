//! Readers of flow files, including other tools' formats, detected by content.

pub(crate) mod hpcc;
pub(crate) mod htsim;
pub(crate) mod native;
mod place;
pub(crate) mod yaps;

use crate::dialect::{Dialect, dialect};
use crate::error::{in_file, in_line, setting};
pub(crate) use crate::lines::{Line, content};
use crate::traffic::Traffic;
use htsim::{Failure, StartUnit};
use incast_units::Fault;
pub use place::HostIds;
pub(crate) use place::Place;

/// The format of a workload file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadFormat {
    /// Flow list with the header `src,dst,size_bytes,start_ns`.
    NativeFlows,
    /// HPCC flow file: a count, then six columns.
    HpccFlows,
    /// htsim connection matrix.
    HtsimConnections,
    /// YAPS flow trace: nine columns.
    YapsTrace,
    /// Size distribution with the header `size_bytes,cdf`.
    NativeSizes,
    /// Size distribution `bytes percent`.
    PercentSizes,
    /// Size distribution `bytes probability`.
    ProbabilitySizes,
    /// Size distribution `size 1 probability`.
    ThreeColumnSizes,
    /// Size distribution of the Homa simulator.
    HomaSizes,
}

/// Detects the format of a workload file by its header, or else by most of its lines, so that a
/// single broken line does not change the result and the reader can report it. `None` for an
/// unknown format.
pub fn detect(text: &str) -> Option<WorkloadFormat> {
    let lines = content(text);
    let first = lines.first()?;
    let header: Vec<&str> = first.text.split(',').map(str::trim).collect();
    match header[..] {
        ["flow_id", "src", "dst", ..] | ["src", "dst", ..] => {
            return Some(WorkloadFormat::NativeFlows);
        }
        [sizes, ..] if sizes.starts_with("size_bytes") => return Some(WorkloadFormat::NativeSizes),
        _ => {}
    }
    let share = |is: fn(&str) -> bool| {
        let such = lines.iter().filter(|line| is(line.text)).count();
        such as f64 / lines.len() as f64
    };
    let connects = |line: &Line<'_>| htsim::connects(line.text);
    if share(htsim::belongs) > 0.5 && lines.iter().any(connects) {
        return Some(WorkloadFormat::HtsimConnections);
    }
    let counted = lines.len() > 1 && columns(first.text) == 1 && numbers(first.text);
    // The line with the count does not have six columns.
    let body = if counted { &lines[1..] } else { &lines[..] };
    let most = |wide: fn(&str) -> bool| {
        2 * body.iter().filter(|line| wide(line.text)).count() > body.len()
    };
    if most(|text| text.split(',').count() >= 4) {
        return Some(WorkloadFormat::NativeFlows);
    }
    let flow = |text: &str| columns(text) == 6 && columns_of_numbers(text) == 6;
    if counted && body.first().is_some_and(|line| flow(line.text)) {
        return Some(WorkloadFormat::HpccFlows);
    }
    if most(|text| columns(text) == 6 && columns_of_numbers(text) >= 4)
        || (counted && most(|text| columns_of_numbers(text) >= 4))
    {
        return Some(WorkloadFormat::HpccFlows);
    }
    if most(|text| columns(text) == 9 && columns_of_numbers(text) >= 4) {
        return Some(WorkloadFormat::YapsTrace);
    }
    sizes(&lines)
}

fn columns(text: &str) -> usize {
    text.split_whitespace().count()
}

fn columns_of_numbers(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).count()
}

fn numbers(text: &str) -> bool {
    let mut fields = text.split([',', ' ', '\t']).filter(|field| !field.is_empty());
    fields.all(|field| field.parse::<f64>().is_ok())
}

/// The format of a size distribution, if most lines have the columns of its dialect.
fn sizes(lines: &[Line<'_>]) -> Option<WorkloadFormat> {
    let dialect = dialect(lines)?;
    let fits = |line: &&Line<'_>| dialect.fits(line.text) && numbers(line.text);
    if 2 * lines.iter().filter(fits).count() <= lines.len() && dialect != Dialect::Homa {
        return None;
    }
    match dialect {
        Dialect::Native => Some(WorkloadFormat::NativeSizes),
        Dialect::Percent => Some(WorkloadFormat::PercentSizes),
        Dialect::Probability => Some(WorkloadFormat::ProbabilitySizes),
        Dialect::ThreeColumns => {
            let ones = lines.iter().filter(|line| line.text.split_whitespace().nth(1) == Some("1"));
            (2 * ones.count() > lines.len()).then_some(WorkloadFormat::ThreeColumnSizes)
        }
        Dialect::Homa => (lines.len() > 1
            && numbers(lines[0].text)
            && lines[1..].iter().filter(fits).count() * 2 > lines.len() - 1)
            .then_some(WorkloadFormat::HomaSizes),
    }
}

/// The contents of a flow file.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The format.
    pub kind: WorkloadFormat,
    /// Its flows.
    pub traffic: Traffic,
    /// Its link failures (htsim only).
    pub failures: Vec<Failure>,
}

/// Reads a flow file of any format. `file` is its name in messages, `starts` the unit of the starts
/// of a connection matrix, if it is given.
///
/// # Errors
/// Those of the format's reader; for an unknown format, an error that lists the known ones; a unit of
/// starts for a file that is no connection matrix.
pub fn read_flows(
    text: &str,
    file: &str,
    hosts: &HostIds,
    starts: Option<StartUnit>,
) -> Result<Imported, Fault> {
    let kind = detect(text);
    if let (Some(unit), true) =
        (starts, kind.is_some_and(|kind| kind != WorkloadFormat::HtsimConnections))
    {
        let named = StartUnit::NAMES.iter().find(|(_, known)| *known == unit);
        let accepted = format!("no unit: {file} is no connection matrix of htsim");
        return Err(setting("start_unit", named.map_or("", |one| one.0), accepted));
    }
    let (traffic, failures) = match kind {
        Some(WorkloadFormat::NativeFlows) => (native::read_csv(text, file, hosts)?, Vec::new()),
        Some(WorkloadFormat::HpccFlows) => (hpcc::read_hpcc(text, file, hosts)?, Vec::new()),
        Some(WorkloadFormat::YapsTrace) => (yaps::read_yaps(text, file, hosts)?, Vec::new()),
        Some(WorkloadFormat::HtsimConnections) => {
            let read = htsim::read_htsim(text, file, hosts, starts)?;
            (read.traffic, read.failures)
        }
        other => return Err(no_flow_file(text, file, other)),
    };
    let kind = kind.expect("matched above");
    Ok(Imported { kind, traffic, failures })
}

/// The error for a file that contains no flows.
fn no_flow_file(text: &str, file: &str, kind: Option<WorkloadFormat>) -> Fault {
    let accepted = "a flow list: CSV with the header `src,dst,size_bytes,start_ns`, an HPCC flow \
         file (a count, then `src dst pg dport bytes start_s`), an htsim connection matrix \
         (`Nodes <n>`, `Connections <n>`, `0->1 start 0 size 1000`) or a YAPS trace (9 columns)";
    match (kind, content(text).first()) {
        (Some(_), _) => in_file(file, "content", "a size distribution", accepted),
        (None, None) => in_file(file, "content", "an empty file", accepted),
        (None, Some(first)) => in_line(file, first.number, "unknown layout", first.text, accepted),
    }
}

#[cfg(test)]
mod tests {
    use super::place::{scaled, unscaled};

    #[test]
    fn decimals_are_exact() {
        assert_eq!(scaled("2.000001", 12), Some(2_000_001_000_000));
        assert_eq!(scaled("2e-05", 12), Some(20_000_000));
        assert_eq!(scaled("1.5E3", 0), Some(1500));
        assert_eq!(scaled("0.0005", 3), Some(1));
        assert_eq!(scaled("0.0004", 3), Some(0));
        assert_eq!(scaled("000", 12), Some(0));
        assert_eq!(scaled("1e-400", 12), Some(0));
        for bad in ["-1", "", ".", "1e", "nan", "inf", "1e40", "18446745", "1.2.3", "+1"] {
            assert_eq!(scaled(bad, 12), None, "{bad}");
        }
        assert_eq!(unscaled(2_000_001_000_000, 12), "2.000001");
        assert_eq!(unscaled(1_234, 3), "1.234");
        assert_eq!(unscaled(5_000, 3), "5");
    }
}
