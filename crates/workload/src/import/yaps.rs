//! YAPS flow traces: `id start_s _ _ size_packets _ _ src dst`.

use super::content;
use super::place::{HostIds, Place};
use crate::error::in_file;
use crate::traffic::{FlowClass, FlowSpec, MAX_FLOW_BYTES, Start, Traffic};
use incast_units::Fault;

/// Bytes per packet in YAPS, which gives sizes in packets.
const MSS: u64 = 1460;

/// Reads a YAPS flow trace, in any order. The columns marked `_` are results of an earlier run
/// and are ignored.
///
/// # Errors
/// With file, line, column and the accepted values.
pub fn read_yaps(text: &str, file: &str, hosts: &HostIds) -> Result<Traffic, Fault> {
    let mut flows = Vec::new();
    for line in content(text) {
        let place = Place { file, line: line.number };
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        let &[_, start, _, _, packets, _, _, src, dst] = &fields[..] else {
            return place.fail("line", line.text, "9 columns: id start_s _ _ packets _ _ src dst");
        };
        let src = place.host("src", src, hosts)?;
        let dst = place.receiver(dst, src, hosts)?;
        let size = place.integer("size", packets, 1, MAX_FLOW_BYTES / MSS)? * MSS;
        let start = Start::At(place.time("start", start, 12)?);
        flows.push(FlowSpec::new(src, dst, size, start, FlowClass::Background));
    }
    if flows.is_empty() {
        return Err(in_file(file, "flows", "", "at least one line of 9 columns"));
    }
    Ok(Traffic::from_flows(flows, Vec::new()))
}
