//! Pauses (PFC) that a flow's packets waited for, and who held the link.

use crate::events::events;
use incast_measure::Run;
use incast_transport::{EventKind, TraceEvent, Why};
use serde::Serialize;
use std::collections::BTreeMap;

/// What stood in the switch that paused a link, of what had come by the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The port of the switch where it waited.
    pub port: String,
    /// Whether that port was itself paused.
    pub paused: bool,
    /// The flow.
    pub flow: u32,
    /// Bytes of it, as links charge them.
    pub bytes: u64,
}

/// The pauses of one class of a port while the flow was open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PauseFacts {
    /// The port that was paused.
    pub port: String,
    /// The node that paused it.
    pub by: String,
    /// The class.
    pub class: u8,
    /// How often.
    pub pauses: u64,
    /// For how long in all.
    pub paused_ps: u64,
    /// Sum over the flow's packets of their waits for it; 0 at the source, where packets wait in the
    /// transport.
    pub waited_ps: u64,
    /// Start of the longest pause, since the start of the run.
    pub longest_at_ps: u64,
    /// Its length.
    pub longest_ps: u64,
    /// What had come by this link and waited in the node when the longest pause began, most bytes
    /// first; empty if the trace does not have the node's ports.
    pub holders: Vec<Holder>,
}

/// A pause of a class of a port.
struct Pause {
    port: u32,
    class: u8,
    from: u64,
    until: u64,
}

fn all(run: &Run) -> &[TraceEvent] {
    run.record.trace.as_ref().map_or(&[], |trace| &trace.events)
}

/// All pauses of a run in order of their end; one that goes on ends with the run.
fn intervals(run: &Run) -> Vec<Pause> {
    let mut open = BTreeMap::new();
    let mut done = vec![];
    for event in all(run) {
        let Some(class) = event.class else { continue };
        let key = (event.place.port, class);
        match event.kind {
            EventKind::Paused => {
                open.insert(key, event.at.0);
            }
            EventKind::Resumed => {
                if let Some(from) = open.remove(&key) {
                    done.push(Pause { port: key.0, class, from, until: event.at.0 });
                }
            }
            _ => {}
        }
    }
    let ended = run.record.ended.0;
    let rest = open.into_iter();
    done.extend(rest.map(|((port, class), from)| Pause {
        port,
        class,
        from,
        until: ended.max(from),
    }));
    done
}

/// The node at the other end of a port.
fn peer(name: &str) -> &str {
    name.split_once("->").map_or(name, |(_, peer)| peer)
}

/// Whether a port is of a node.
fn is_of(name: &str, node: &str) -> bool {
    name.split_once("->").is_some_and(|(own, _)| own == node)
}

/// Ports at which the flow waited for a pause, with the sum of these waits; its source's NIC too.
fn waits(run: &Run, flow: u32) -> BTreeMap<u32, u64> {
    let mut waits = BTreeMap::new();
    let source = events(run, flow).find(|event| event.kind == EventKind::Opened);
    if let Some(opened) = source {
        waits.insert(opened.place.port, 0);
    }
    for event in events(run, flow) {
        if event.kind == EventKind::Waited && event.why == Some(Why::Paused) {
            *waits.entry(event.place.port).or_insert(0) += event.waited.unwrap_or(0);
        }
    }
    waits
}

/// The pauses that the flow waited for.
pub(crate) fn pauses(run: &Run, flow: u32) -> Vec<PauseFacts> {
    let record = &run.record.flows[flow as usize];
    let Some(start) = record.started else { return vec![] };
    let end = record.completed.unwrap_or(run.record.ended);
    let known = intervals(run);
    let classes: Vec<u8> = {
        let packets = events(run, flow).filter_map(|event| event.packet);
        let mut classes: Vec<u8> =
            packets.filter(|packet| packet.payload > 0).map(|packet| packet.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    };
    let mut found = vec![];
    for (port, waited_ps) in waits(run, flow) {
        for class in &classes {
            let own = |pause: &&Pause| {
                (pause.port, pause.class) == (port, *class)
                    && pause.from < end.0
                    && pause.until > start.0
            };
            let during: Vec<&Pause> = known.iter().filter(own).collect();
            let within = |pause: &Pause| pause.until.min(end.0) - pause.from.max(start.0);
            let Some(longest) = during.iter().max_by_key(|pause| within(pause)) else { continue };
            let name = &run.ports[port as usize].name;
            found.push(PauseFacts {
                port: name.clone(),
                by: peer(name).to_string(),
                class: *class,
                pauses: during.len() as u64,
                paused_ps: during.iter().map(|pause| within(pause)).sum(),
                waited_ps,
                longest_at_ps: longest.from,
                longest_ps: longest.until - longest.from,
                holders: holders(run, &known, name, longest.from),
            });
        }
    }
    found
}

/// What waited at an instant in the node at the other end of a port, of the flows that come by it.
fn holders(run: &Run, known: &[Pause], port: &str, at: u64) -> Vec<Holder> {
    let node = peer(port);
    let link = port.replace("->", ">");
    let comes = |flow: u32| {
        let path = &run.flows[flow as usize].path;
        **path == *"sprayed" || format!("{path}>").contains(&format!("{link}>"))
    };
    let mut held: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for event in all(run).iter().filter(|event| event.kind == EventKind::Started) {
        let (Some(flow), Some(packet), Some(waited)) = (event.flow, event.packet, event.waited)
        else {
            continue;
        };
        let there = event.at.0 > at && event.at.0 - waited <= at;
        let name = &run.ports[event.place.port as usize].name;
        if there && is_of(name, node) && comes(flow.0) {
            *held.entry((event.place.port, flow.0)).or_insert(0) += packet.bytes as u64;
        }
    }
    let paused = |port: u32| {
        let now = |pause: &Pause| pause.port == port && pause.from <= at && at < pause.until;
        known.iter().any(now)
    };
    let one = |((port, flow), bytes): ((u32, u32), u64)| Holder {
        port: run.ports[port as usize].name.clone(),
        paused: paused(port),
        flow,
        bytes,
    };
    let mut all: Vec<Holder> = held.into_iter().map(one).collect();
    all.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
    all
}

/// The nodes that paused a port at an instant: the one at its other end, and those that paused its
/// ports in turn.
pub(crate) fn pausing_nodes(run: &Run, port: &str, at: u64) -> Vec<String> {
    let known = intervals(run);
    let mut nodes = vec![peer(port).to_string()];
    let mut next = 0;
    while let Some(node) = nodes.get(next).cloned() {
        next += 1;
        let now = known.iter().filter(|pause| pause.from <= at && at < pause.until);
        for pause in now {
            let name = &run.ports[pause.port as usize].name;
            let further = peer(name).to_string();
            if is_of(name, &node) && !nodes.contains(&further) {
                nodes.push(further);
            }
        }
    }
    nodes
}

/// Adds what held each link when its longest pause began, from a run whose trace has that.
pub(crate) fn add_holders(run: &Run, pauses: &mut [PauseFacts]) {
    let known = intervals(run);
    for pause in pauses {
        pause.holders = holders(run, &known, &pause.port, pause.longest_at_ps);
    }
}
