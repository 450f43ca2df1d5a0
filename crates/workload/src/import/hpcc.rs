//! Flow files of HPCC and related simulators: a count, then one `src dst pg dport bytes start_s`
//! per line.

use super::content;
use super::place::{HostIds, Place, unscaled, waits};
use crate::error::{in_file, setting};
use crate::traffic::{FlowClass, FlowSpec, MAX_FLOWS, Start, Traffic};
use crate::warning::FLOW_LINES_IGNORED;
use incast_units::Fault;
use incast_units::Time;
use std::fmt::Write;

/// Destination port of background flows.
const BACKGROUND_PORT: u64 = 100;
/// Destination port of incast flows.
const INCAST_PORT: u64 = 200;
/// The priority group written by HPCC's generator.
const PRIORITY_GROUP: u8 = 3;

/// Reads an HPCC flow file. Port 200 marks incast flows, all other ports background flows. The
/// priority group is the flow's priority. As in HPCC the count rules: what stands
/// behind so many lines is not read, and a warning says how many lines there are.
///
/// # Errors
/// With file, line, column and the accepted values. As many lines as counted must follow, and start
/// times must ascend, because HPCC reads flows sequentially.
pub fn read_hpcc(text: &str, file: &str, hosts: &HostIds) -> Result<Traffic, Fault> {
    let lines = content(text);
    let Some(first) = lines.first() else {
        return Err(in_file(file, "number of flows", "", "a count in the first line"));
    };
    let place = Place { file, line: first.number };
    let count = place.integer("number of flows", first.text, 1, MAX_FLOWS)?;
    let body = &lines[1..];
    if count > body.len() as u64 {
        let accepted = format!("at most {}, the number of lines that follow", body.len());
        return place.fail("number of flows", count, accepted);
    }
    let (body, behind) = body.split_at(count as usize);
    let (mut flows, mut last) = (Vec::new(), Time::ZERO);
    for line in body {
        let place = Place { file, line: line.number };
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        let &[src, dst, group, port, bytes, start] = &fields[..] else {
            return place.fail("line", line.text, "6 columns: src dst pg dport bytes start_s");
        };
        let src = place.host("src", src, hosts)?;
        let dst = place.receiver(dst, src, hosts)?;
        let priority = Some(place.integer("pg", group, 0, 7)? as u8);
        let port = place.integer("dport", port, 0, 65_535)?;
        let size = place.size("bytes", bytes)?;
        let start_time = place.time("start", start, 12)?;
        if start_time < last {
            let accepted = format!("{last} or later: flows are sorted by start");
            return place.fail("start", start, accepted);
        }
        last = start_time;
        let class = if port == INCAST_PORT { FlowClass::Incast } else { FlowClass::Background };
        let flow = FlowSpec::new(src, dst, size, Start::At(start_time), class);
        flows.push(FlowSpec { priority, ..flow });
    }
    let mut traffic = Traffic::from_flows(flows, Vec::new());
    if let Some(first) = behind.first() {
        let (line, left) = (first.number, behind.len());
        let lines = if left == 1 { "line" } else { "lines" };
        traffic.warnings.push(FLOW_LINES_IGNORED.notice(&[
            ("file", &file),
            ("flows", &count),
            ("left", &left),
            ("lines", &lines),
            ("line", &line),
        ]));
    }
    Ok(traffic)
}

/// Writes `traffic` as an HPCC flow file, starts exact to the picosecond. Classes other than
/// incast become background; transports, prescribed packets and requests are not part of the
/// format.
///
/// # Errors
/// Rejects flows that wait for others, and hosts that are not in `hosts`.
pub fn export_hpcc(traffic: &Traffic, hosts: &HostIds) -> Result<String, Fault> {
    let mut text = format!("{}\n", traffic.flows.len());
    for (i, flow) in traffic.flows.iter().enumerate() {
        let Start::At(start) = flow.start else {
            return Err(waits(i));
        };
        let id = |key: &str, host: u32| {
            hosts.id(host).ok_or_else(|| setting(key, host, hosts.accepted()))
        };
        let (src, dst) = (id("src", flow.src)?, id("dst", flow.dst)?);
        let port = if flow.class == FlowClass::Incast { INCAST_PORT } else { BACKGROUND_PORT };
        let group = flow.priority.unwrap_or(PRIORITY_GROUP);
        let (size, start) = (flow.size, unscaled(start.0, 12));
        let _ = writeln!(text, "{src} {dst} {group} {port} {size} {start}");
    }
    Ok(text)
}
