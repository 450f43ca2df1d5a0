//! htsim connection matrices (`.cm`), with their triggers and failures.
//!
//! A trigger becomes [`Start::After`]: both `send_done_trigger` and `recv_done_trigger` fire at
//! the flow's completion. (htsim fires the first when the sender has its last ACK, half an
//! RTT later.) A oneshot trigger starts all its connections when it fires, a barrier when it
//! has fired `count` times. A multishot starts one connection per firing. The firing order of a
//! multishot's sources is known only during the run, so the k-th connection waits for the k-th
//! source in file order. This is exact if the sources finish in that order; a warning reports it.

use super::place::{HostIds, Place, waits};
use super::{Line, content};
use crate::error::in_file;
use crate::traffic::{FlowClass, FlowSpec, MAX_FLOW_BYTES, MAX_FLOWS, Start, Traffic};
use crate::warning::{KEY_IGNORED, START_UNIT_TAKEN, TRIGGER_ORDER, TRIGGER_STARTS_NOTHING};
use incast_units::fault::{Fault, one_of};
use incast_units::{Bytes, Notice, Span, Time, WarningKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The tier of a switch in htsim's fat tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SwitchTier {
    /// Top of rack.
    Tor,
    /// Aggregation.
    Agg,
    /// Core.
    Core,
}

/// A link that is down from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Tier of the switch whose uplink fails.
    pub tier: SwitchTier,
    /// The switch within its tier, from 0.
    pub switch: u32,
    /// The link of that switch, from 0.
    pub link: u32,
    /// Its line in the file, for messages.
    pub line: usize,
}

/// The contents of a connection matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct HtsimTraffic {
    /// The number of hosts the file was made for.
    pub nodes: u32,
    /// Its flows.
    pub traffic: Traffic,
    /// Its link failures.
    pub failures: Vec<Failure>,
}

/// What the starts of a connection matrix count: older files and htsim's `save()` write decimal
/// microseconds, newer ones whole picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartUnit {
    /// Microseconds.
    Microseconds,
    /// Picoseconds.
    Picoseconds,
}

impl StartUnit {
    /// Both, by name.
    pub const NAMES: [(&'static str, StartUnit); 2] =
        [("us", StartUnit::Microseconds), ("ps", StartUnit::Picoseconds)];

    /// The unit and the power of ten of picoseconds that it is, in words and in the key.
    fn facts(self) -> (&'static str, i32, &'static str) {
        match self {
            StartUnit::Microseconds => ("microseconds", 6, "us"),
            StartUnit::Picoseconds => ("picoseconds", 0, "ps"),
        }
    }

    /// The unit that the lines of a file show.
    fn of(lines: &[Line<'_>]) -> (StartUnit, &'static str) {
        let starts = lines.iter().filter_map(|line| {
            let mut words = line.text.split_whitespace();
            words.find(|word| *word == "start").and_then(|_| words.next())
        });
        match starts.clone().any(|start| start.contains(['.', 'e', 'E'])) {
            true => (StartUnit::Microseconds, "one has a fraction"),
            false => (StartUnit::Picoseconds, "all are whole numbers"),
        }
    }
}

/// Says in which unit starts were taken, unless all are 0 and it does not matter.
fn start_notice(
    file: &str,
    unit: StartUnit,
    reason: &str,
    connections: &[Connection],
) -> Option<Notice> {
    let last = connections.iter().filter_map(|connection| connection.start).max()?;
    let other = match unit {
        StartUnit::Microseconds => StartUnit::Picoseconds,
        StartUnit::Picoseconds => StartUnit::Microseconds,
    };
    let elsewhere = match other {
        StartUnit::Microseconds => last.0.saturating_mul(1_000_000),
        StartUnit::Picoseconds => last.0 / 1_000_000,
    };
    let ((unit, ..), (other_unit, _, key)) = (unit.facts(), other.facts());
    (last > Time::ZERO).then(|| {
        START_UNIT_TAKEN.notice(&[
            ("file", &file),
            ("unit", &unit),
            ("reason", &reason),
            ("last", &last),
            ("other_unit", &other_unit),
            ("other", &Span(elsewhere)),
            ("key", &key),
        ])
    })
}

/// Writes `traffic` as a connection matrix for `hosts` nodes, starts in picoseconds. Classes, transports and
/// prescribed packets are not part of the format.
///
/// # Errors
/// Rejects flows that wait for others.
pub fn export_htsim(traffic: &Traffic, hosts: u32) -> Result<String, Fault> {
    let mut text = format!("Nodes {hosts}\nConnections {}\n", traffic.flows.len());
    for (i, flow) in traffic.flows.iter().enumerate() {
        let Start::At(start) = flow.start else {
            return Err(waits(i));
        };
        let (src, dst, size) = (flow.src, flow.dst, flow.size);
        let _ = writeln!(text, "{src}->{dst} id {} start {} size {size}", i + 1, start.0);
    }
    Ok(text)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fires {
    OneShot,
    MultiShot,
    Barrier(u64),
}

struct Connection {
    line: usize,
    src: u32,
    dst: u32,
    size: u64,
    start: Option<Time>,
    trigger: Option<u64>,
    fires: Vec<u64>,
    id: Option<u64>,
    ignored: BTreeSet<&'static str>,
}

/// Reads an htsim connection matrix. Sizes have 64 bits; 0 is a flow without an end, of
/// [`Bytes::ENDLESS`]. Starts are in `unit`; if that is not given, in microseconds where one has a
/// fraction, else in picoseconds, and a warning says which. `msg` and `prio` are ignored with a
/// warning.
///
/// # Errors
/// With file, line, keyword and the accepted values: counts must match, hosts exist, each
/// connection has a size and either a start or a trigger, triggers are defined and can fire, and
/// no connection waits for itself.
pub fn read_htsim(
    text: &str,
    file: &str,
    hosts: &HostIds,
    unit: Option<StartUnit>,
) -> Result<HtsimTraffic, Fault> {
    let lines = content(text);
    let (shown, reason) = StartUnit::of(&lines);
    let starts = unit.unwrap_or(shown);
    // Unknown lines first, so that a misspelt header is not reported as missing.
    if let Some(line) = lines.iter().find(|line| !belongs(line.text)) {
        let other = word(line.text, 0);
        let known = HEADER.into_iter().chain(["trigger", "failure", "0->1"]);
        let fault = Fault::value("line", other, one_of(other, known));
        return Err(fault.on_line(file, line.number));
    }
    let is_header = |line: &&Line<'_>| HEADER.contains(&word(line.text, 0));
    let header = Header::read(file, &lines, hosts)?;
    let ids = HostIds::same(header.nodes);
    let (mut connections, mut triggers, mut failures) = (Vec::new(), BTreeMap::new(), Vec::new());
    for line in lines.iter().filter(|line| !is_header(line)) {
        let place = Place { file, line: line.number };
        match word(line.text, 0) {
            first if joins(first) => {
                connections.push(read_connection(place, line.text, &ids, starts)?);
            }
            "trigger" => {
                let (id, fires) = read_trigger(place, line.text)?;
                if triggers.insert(id, (line.number, fires)).is_some() {
                    return place.fail("trigger id", id, "each trigger once");
                }
            }
            _ => failures.push(read_failure(place, line.text)?),
        }
    }
    header.check(file, [connections.len(), triggers.len(), failures.len()])?;
    let mut traffic = assemble(file, &connections, &triggers)?;
    if unit.is_none() {
        let notice = start_notice(file, starts, reason, &connections);
        traffic = traffic.with_warnings(notice.into_iter().collect());
    }
    Ok(HtsimTraffic { nodes: header.nodes, traffic, failures })
}

const HEADER: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];

/// Whether a line belongs to a connection matrix, by its first word.
pub(crate) fn belongs(text: &str) -> bool {
    let first = word(text, 0);
    joins(first) || HEADER.contains(&first) || ["trigger", "failure"].contains(&first)
}

/// Whether a word is the ends of a connection, `0->1`; what follows the arrow may be broken.
fn joins(word: &str) -> bool {
    let source = word.split_once("->").map_or("", |(source, _)| source);
    !source.is_empty() && source.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a line belongs to a connection matrix and not to a topology.
pub(crate) fn connects(text: &str) -> bool {
    let first = word(text, 0);
    joins(first) || first == "Connections"
}

fn word(text: &str, place: usize) -> &str {
    text.split_whitespace().nth(place).unwrap_or("")
}

/// The counts at the top of the file.
struct Header {
    nodes: u32,
    /// Line and number of connections, triggers and failures, if the file states them.
    counts: [Option<(usize, u64)>; 3],
}

impl Header {
    fn read(file: &str, lines: &[Line<'_>], hosts: &HostIds) -> Result<Header, Fault> {
        let mut found = [None; 4];
        for line in lines {
            let Some(at) = HEADER.iter().position(|key| *key == word(line.text, 0)) else {
                continue;
            };
            let place = Place { file, line: line.number };
            if line.text.split_whitespace().count() != 2 || found[at].is_some() {
                let accepted = format!("`{} <number>`, once", HEADER[at]);
                return place.fail("line", line.text, accepted);
            }
            let (low, high) = match at {
                0 => (2, u64::from(hosts.hosts())),
                1 => (1, MAX_FLOWS),
                _ => (0, MAX_FLOWS),
            };
            let number = place.integer(HEADER[at], word(line.text, 1), low, high)?;
            found[at] = Some((line.number, number));
        }
        let [nodes, connections, triggers, failures] = found;
        let missing = |key: &str| in_file(file, key, "", format!("`{key} <number>`"));
        let (_, nodes) = nodes.ok_or_else(|| missing("Nodes"))?;
        connections.ok_or_else(|| missing("Connections"))?;
        Ok(Header { nodes: nodes as u32, counts: [connections, triggers, failures] })
    }

    fn check(&self, file: &str, seen: [usize; 3]) -> Result<(), Fault> {
        for ((stated, seen), key) in self.counts.iter().zip(seen).zip(&HEADER[1..]) {
            let (line, number) = stated.unwrap_or((1, 0));
            if number != seen as u64 {
                let accepted = format!("{seen}, the number of such lines in the file");
                return Place { file, line }.fail(key, number, accepted);
            }
        }
        Ok(())
    }
}

fn read_connection(
    place: Place<'_>,
    text: &str,
    hosts: &HostIds,
    starts: StartUnit,
) -> Result<Connection, Fault> {
    const KEYS: [&str; 8] =
        ["id", "msg", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio"];
    let mut words = text.split_whitespace();
    let pair = words.next().unwrap_or("");
    let (src, dst) = pair.split_once("->").unwrap_or((pair, ""));
    let src = place.host("src", src, hosts)?;
    let dst = place.receiver(dst, src, hosts)?;
    let (mut start, mut trigger, mut id, mut size) = (None, None, None, None);
    let (mut fires, mut ignored, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    while let Some(key) = words.next() {
        let Some(&key) = KEYS.iter().find(|known| **known == key) else {
            let fault = Fault::value("keyword", key, one_of(key, KEYS));
            return Err(fault.on_line(place.file, place.line));
        };
        let value = words.next().unwrap_or("");
        if !seen.insert(key) {
            return place.fail(key, value, "each keyword once");
        }
        match key {
            "start" => start = Some(place.time(key, value, starts.facts().1)?),
            "trigger" => trigger = Some(place.integer(key, value, 1, u64::MAX)?),
            "id" => id = Some(place.integer(key, value, 1, u64::MAX)?),
            "size" => {
                let bytes = place.integer(key, value, 0, MAX_FLOW_BYTES)?;
                size = Some(if bytes == 0 { Bytes::ENDLESS.0 } else { bytes });
            }
            "msg" | "prio" => {
                place.integer(key, value, 0, u64::MAX)?;
                ignored.insert(key);
            }
            _ => fires.push(place.integer(key, value, 1, u64::MAX)?),
        }
    }
    let Some(size) = size else {
        return place.fail("size", "", "`size <bytes>`");
    };
    match (start, trigger) {
        (None, None) => return place.fail("start", "", "`start <time>` or `trigger <id>`"),
        (Some(_), Some(trigger)) => {
            return place.fail("trigger", trigger, "either a start or a trigger, not both");
        }
        _ => {}
    }
    Ok(Connection { line: place.line, src, dst, size, start, trigger, fires, id, ignored })
}

fn read_trigger(place: Place<'_>, text: &str) -> Result<(u64, Fires), Fault> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |key: &str, value: &str| place.integer(key, value, 1, u64::MAX);
    match words[..] {
        ["trigger", "id", id, "oneshot"] => Ok((number("trigger id", id)?, Fires::OneShot)),
        ["trigger", "id", id, "multishot"] => Ok((number("trigger id", id)?, Fires::MultiShot)),
        ["trigger", "id", id, "barrier", "count", count] => {
            Ok((number("trigger id", id)?, Fires::Barrier(number("count", count)?)))
        }
        _ => place.fail(
            "trigger",
            text,
            "`trigger id <id>` and `oneshot`, `multishot` or `barrier count <n>`",
        ),
    }
}

fn read_failure(place: Place<'_>, text: &str) -> Result<Failure, Fault> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["failure", "switch_type", tier, "switch_id", switch, "link_id", link] = words[..] else {
        let accepted = "`failure switch_type <TOR|AGG|CORE> switch_id <n> link_id <n>`";
        return place.fail("failure", text, accepted);
    };
    let tier = match tier {
        "TOR" => SwitchTier::Tor,
        "AGG" => SwitchTier::Agg,
        "CORE" => SwitchTier::Core,
        other => return place.fail("switch_type", other, "TOR, AGG or CORE"),
    };
    let number = |key: &str, value: &str| place.integer(key, value, 0, u64::from(u32::MAX));
    let (switch, link) = (number("switch_id", switch)?, number("link_id", link)?);
    Ok(Failure { tier, switch: switch as u32, link: link as u32, line: place.line })
}

/// Builds the traffic from connections and triggers.
fn assemble(
    file: &str,
    connections: &[Connection],
    triggers: &BTreeMap<u64, (usize, Fires)>,
) -> Result<Traffic, Fault> {
    let (sources, targets) = ends(file, connections, triggers)?;
    let mut warnings = check_triggers(file, triggers, &sources, &targets)?;
    let flow = |connection: &Connection, place: u32| {
        let start = match (connection.start, connection.trigger) {
            (Some(time), _) => Start::At(time),
            (None, id) => {
                let id = id.expect("a start or a trigger was read");
                let sources = &sources[&id];
                let flows = match triggers[&id].1 {
                    Fires::MultiShot => {
                        let turn = targets[&id].binary_search(&place);
                        vec![sources[turn.expect("listed among its trigger's targets")]]
                    }
                    _ => sources.clone(),
                };
                Start::After { flows, delay: Span::ZERO }
            }
        };
        FlowSpec::new(connection.src, connection.dst, connection.size, start, FlowClass::Background)
    };
    let flows: Vec<FlowSpec> = connections.iter().zip(0..).map(|(c, i)| flow(c, i)).collect();
    for (connection, flow) in connections.iter().zip(&flows) {
        if let Start::After { flows: firing, .. } = &flow.start
            && let Some(endless) = firing.iter().find(|&&i| flows[i as usize].is_endless())
        {
            let (line, id) = (connections[*endless as usize].line, connection.trigger.unwrap_or(0));
            let accepted = format!(
                "a trigger of connections that end: the one in line {line} has size 0 or 1 TB and more, and no end"
            );
            return Place { file, line: connection.line }.fail("trigger", id, accepted);
        }
    }
    let unordered = Traffic { flows, ..Traffic::default() };
    if let Some(i) = unordered.waiting_for_itself() {
        let connection = &connections[i as usize];
        let id = connection.trigger.unwrap_or(0);
        let accepted = "triggers that do not wait for one another in a circle";
        return Place { file, line: connection.line }.fail("trigger", id, accepted);
    }
    let ignored: BTreeSet<&str> = connections.iter().flat_map(|c| &c.ignored).copied().collect();
    let ignored = ignored.iter().map(|key| KEY_IGNORED.notice(&[("file", &file), ("key", key)]));
    warnings.extend(ignored);
    let mut traffic = Traffic::from_flows(unordered.flows, Vec::new());
    traffic.warnings = warnings;
    Ok(traffic)
}

/// The connections at one end of each trigger, as indices in file order.
type Ends = BTreeMap<u64, Vec<u32>>;

/// Per trigger, the connections that fire it and those that it starts.
fn ends(
    file: &str,
    connections: &[Connection],
    triggers: &BTreeMap<u64, (usize, Fires)>,
) -> Result<(Ends, Ends), Fault> {
    let empty: Ends = triggers.keys().map(|&id| (id, Vec::new())).collect();
    let (mut sources, mut targets, mut ids) = (empty.clone(), empty, BTreeSet::new());
    for (connection, i) in connections.iter().zip(0..) {
        let place = Place { file, line: connection.line };
        let unknown = |key: &str, id: u64| {
            place.fail(key, id, "the id of a trigger that a `trigger id` line defines")
        };
        for &id in &connection.fires {
            match sources.get_mut(&id) {
                Some(list) => list.push(i),
                None => return unknown("send_done_trigger or recv_done_trigger", id),
            }
        }
        if let Some(id) = connection.trigger {
            match targets.get_mut(&id) {
                Some(list) => list.push(i),
                None => return unknown("trigger", id),
            }
        }
        if let Some(id) = connection.id.filter(|&id| !ids.insert(id)) {
            return place.fail("id", id, "each id once");
        }
    }
    Ok((sources, targets))
}

/// Rejects triggers with a wrong number of firing connections; returns warnings.
fn check_triggers(
    file: &str,
    triggers: &BTreeMap<u64, (usize, Fires)>,
    sources: &Ends,
    targets: &Ends,
) -> Result<Vec<Notice>, Fault> {
    let (mut idle, mut ordered) = (Vec::new(), Vec::new());
    for (&id, &(line, fires)) in triggers {
        let (firing, started) = (sources[&id].len(), targets[&id].len());
        let place = Place { file, line };
        if started == 0 {
            idle.push((line, id));
            continue;
        }
        match fires {
            Fires::OneShot if firing != 1 => {
                let accepted = format!("one connection that fires it, but {firing} do");
                return place.fail("oneshot trigger", id, accepted);
            }
            Fires::Barrier(count) if count != firing as u64 => {
                let accepted = format!("{firing}, the connections that fire trigger {id}");
                return place.fail("barrier count", count, accepted);
            }
            Fires::MultiShot if firing < started => {
                let accepted = format!("{started} connections that fire it, but {firing} do");
                return place.fail("multishot trigger", id, accepted);
            }
            Fires::MultiShot if firing > 1 => ordered.push((line, id)),
            _ => {}
        }
    }
    let kinds = [(&TRIGGER_STARTS_NOTHING, idle), (&TRIGGER_ORDER, ordered)];
    Ok(kinds.into_iter().filter_map(|(kind, found)| once(kind, file, &found)).collect())
}

/// One warning about triggers, which names the first one and counts the others.
fn once(kind: &'static WarningKind, file: &str, found: &[(usize, u64)]) -> Option<Notice> {
    let (line, trigger) = found.first()?;
    let more = match found.len() - 1 {
        0 => String::new(),
        1 => " (and 1 other)".to_string(),
        others => format!(" (and {others} others)"),
    };
    Some(kind.notice(&[("file", &file), ("line", line), ("trigger", trigger), ("more", &more)]))
}
