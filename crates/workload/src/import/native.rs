//! The native flow list: CSV with the header `src,dst,size_bytes,start_ns` and optional columns.

use super::content;
use super::place::{HostIds, Place, unscaled, waits};
use crate::error::{in_file, setting};
use crate::traffic::{FlowClass, FlowSpec, Start, Traffic};
use crate::warning::RESULTS_AS_FLOWS;
use incast_units::fault::{Fault, one_of};
use incast_units::{Bytes, Time};
use std::collections::BTreeSet;
use std::fmt::Write;

const REQUIRED: [&str; 4] = ["src", "dst", "size_bytes", "start_ns"];
const OPTIONAL: [&str; 4] = ["class", "transport", "priority", "until_ns"];

/// A column of results alone: their header begins with it.
const RESULTS: &str = "flow_id";

/// Where the fields of a flow are in a line.
struct Columns {
    count: usize,
    src: usize,
    dst: usize,
    size: usize,
    start: usize,
    /// The power of ten of picoseconds that the start is in.
    power: i32,
    class: Option<usize>,
    transport: Option<usize>,
    priority: Option<usize>,
    /// Where the end of a flow without an end of its own is, and in what power of ten of picoseconds.
    until: Option<(usize, i32)>,
    /// Whether they are the results of a run.
    results: bool,
}

impl Columns {
    fn read(place: Place<'_>, header: &str) -> Result<Columns, Fault> {
        let layout = "the header `src,dst,size_bytes,start_ns[,class][,transport][,priority][,until_ns]`, or \
                      that of a run's flows.csv";
        let columns: Vec<&str> = header.split(',').map(str::trim).collect();
        let at = |name: &str| columns.iter().position(|column| *column == name);
        let results = columns[0] == RESULTS;
        if !results {
            if columns.len() < 4 || columns[..4] != REQUIRED {
                return place.fail("header", header, layout);
            }
            for (i, column) in columns.iter().enumerate().skip(4) {
                if !OPTIONAL.contains(column) || columns[4..i].contains(column) {
                    let problem = one_of(column, OPTIONAL).or("each once");
                    let fault = Fault::value("header", column, problem);
                    return Err(fault.on_line(place.file, place.line));
                }
            }
        }
        let start = at("start_ps").map(|at| (at, 0)).or(at("start_ns").map(|at| (at, 3)));
        let ends = (at("src"), at("dst"), at("size_bytes"), start);
        let (Some(src), Some(dst), Some(size), Some((start, power))) = ends else {
            return place.fail("header", header, layout);
        };
        let transport = at("transport").filter(|_| !results);
        let until = at("until_ps").map(|at| (at, 0)).or(at("until_ns").map(|at| (at, 3)));
        let (count, class, priority) = (columns.len(), at("class"), at("priority"));
        Ok(Columns {
            count,
            src,
            dst,
            size,
            start,
            power,
            class,
            transport,
            priority,
            until,
            results,
        })
    }
}

impl Columns {
    /// When the application ends the flow of a line.
    fn until(
        &self,
        place: Place<'_>,
        fields: &[&str],
        size: u64,
        start: &Start,
    ) -> Result<Option<Time>, Fault> {
        let Some((at, power)) = self.until.filter(|(at, _)| !fields[*at].is_empty()) else {
            return Ok(None);
        };
        let (name, text) = (if power == 0 { "until_ps" } else { "until_ns" }, fields[at]);
        let until = place.time(name, text, power)?;
        if size < Bytes::ENDLESS.0 {
            let accepted =
                format!("nothing: only a flow of {} or more has no end of its own", Bytes::ENDLESS);
            return place.fail(name, text, accepted);
        }
        if Start::At(until) == *start || matches!(start, Start::At(start) if until < *start) {
            return place.fail(name, text, "a time after the start");
        }
        Ok(Some(until))
    }
}

/// Reads a native flow list, or the `flows.csv` of a run. Flows may be in any order. `start_ns` may
/// have a fraction, down to the picosecond. A flow without a class is background. Of a run's results
/// the transports are not taken, nor flows that had not started; a warning says so.
///
/// # Errors
/// With file, line, column and the accepted values: the header, hosts that exist, a receiver other
/// than the sender, sizes from 1 to 2^53, times within 213 days, known classes, at least one flow.
pub fn read_csv(text: &str, file: &str, hosts: &HostIds) -> Result<Traffic, Fault> {
    let lines = content(text);
    let Some(header) = lines.first() else {
        let layout = "the header `src,dst,size_bytes,start_ns[,class][,transport]`";
        return Err(in_file(file, "header", "", layout));
    };
    let columns = Columns::read(Place { file, line: header.number }, header.text)?;
    let (mut flows, mut left) = (Vec::with_capacity(lines.len() - 1), 0);
    for line in &lines[1..] {
        let place = Place { file, line: line.number };
        let fields: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if fields.len() != columns.count {
            return place.fail("line", line.text, format!("{} columns", columns.count));
        }
        let src = place.host("src", fields[columns.src], hosts)?;
        let dst = place.receiver(fields[columns.dst], src, hosts)?;
        let size = place.size("size_bytes", fields[columns.size])?;
        let start = fields[columns.start];
        if columns.results && start.is_empty() {
            left += 1;
            continue;
        }
        let name = if columns.power == 0 { "start_ps" } else { "start_ns" };
        let start = Start::At(place.time(name, start, columns.power)?);
        let class = match columns.class.map_or("", |at| fields[at]) {
            "" => FlowClass::Background,
            name => match name.parse::<FlowClass>() {
                Ok(class) => class,
                Err(fault) => return Err(fault.on_line(place.file, place.line)),
            },
        };
        let transport = columns.transport.map(|at| fields[at]).filter(|name| !name.is_empty());
        let priority = match columns.priority.map_or("", |at| fields[at]) {
            "" => None,
            priority => Some(place.integer("priority", priority, 1, 7)? as u8),
        };
        let stop = columns.until(place, &fields, size, &start)?;
        let flow = FlowSpec::new(src, dst, size, start, class);
        let transport = transport.map(str::to_string);
        flows.push(FlowSpec { transport, priority, stop, ..flow });
    }
    if flows.is_empty() {
        return Err(in_file(file, "flows", 0, "at least one flow below the header"));
    }
    let mut traffic = Traffic::from_flows(flows, Vec::new());
    if columns.results {
        let values = &[("file", &file as _), ("left", &left as _)];
        traffic.warnings.push(RESULTS_AS_FLOWS.notice(values));
    }
    Ok(traffic)
}

/// The transports that a flow list names, each once, in order of their name; none in a file of
/// another format. Nothing else is checked.
pub fn named_transports(text: &str) -> BTreeSet<&str> {
    let lines = content(text);
    let Some(header) = lines.first() else { return BTreeSet::new() };
    let header: Vec<&str> = header.text.split(',').map(str::trim).collect();
    let at = header.iter().position(|column| *column == "transport");
    let (Some(at), true) = (at, header.starts_with(&REQUIRED)) else { return BTreeSet::new() };
    let names = lines[1..].iter().filter_map(|line| line.text.split(',').nth(at));
    names.map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Writes `traffic` as a native flow list, which reads back as the same flows. Prescribed packets
/// and requests are not part of the format.
///
/// # Errors
/// Rejects flows that wait for others and transport names with a comma, `#` or line break.
pub fn export_csv(traffic: &Traffic) -> Result<String, Fault> {
    let mut text = REQUIRED.join(",") + "," + &OPTIONAL.join(",") + "\n";
    for (i, flow) in traffic.flows.iter().enumerate() {
        let Start::At(start) = flow.start else {
            return Err(waits(i));
        };
        let transport = flow.transport.as_deref().unwrap_or("");
        if transport.contains([',', '#', '\n', '\r']) || transport != transport.trim() {
            let accepted = "a name without comma, `#`, line break or outer blanks";
            return Err(setting("transport", transport, accepted));
        }
        let (start, class) = (unscaled(start.0, 3), flow.class);
        let (src, dst, size) = (flow.src, flow.dst, flow.size);
        let priority = flow.priority.map_or(String::new(), |priority| priority.to_string());
        let until = flow.stop.map_or(String::new(), |stop| unscaled(stop.0, 3));
        let _ = writeln!(text, "{src},{dst},{size},{start},{class},{transport},{priority},{until}");
    }
    Ok(text)
}
