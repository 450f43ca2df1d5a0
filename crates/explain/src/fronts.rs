//! Who was in front.

use crate::events::events;
use incast_measure::Run;
use incast_measure::columns::place;
use incast_transport::{EventKind, TraceEvent};
use serde::Serialize;

/// A part of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrontFacts {
    /// Why, as `why` in `trace.parquet`.
    pub why: &'static str,
    /// The flow in front, if a packet was.
    pub flow: Option<u32>,
    /// Service class of its packets.
    pub class: u8,
    /// Bytes of its packets, as links charge them.
    pub bytes: u64,
    /// For how long.
    pub ps: u64,
}

/// A port on the way of the packet that completed the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopFacts {
    /// The port.
    pub port: String,
    /// Its tier.
    pub tier: &'static str,
    /// When the packet arrived there, since the flow's start.
    pub after_ps: u64,
    /// Its service class.
    pub class: u8,
    /// How long it waited.
    pub waited_ps: u64,
    /// The queue that it found, bytes.
    pub queue_bytes: Option<u64>,
    /// Whether the port marked it.
    pub marked: bool,
    /// What it waited for; adds up to `waited_ps`.
    pub fronts: Vec<FrontFacts>,
}

/// All waits of the flow's data packets at a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortWait {
    /// The port.
    pub port: String,
    /// Its tier.
    pub tier: &'static str,
    /// Packets of the flow that it transmitted.
    pub packets: u64,
    /// Sum of their waits.
    pub waited_ps: u64,
    /// The longest.
    pub longest_ps: u64,
    /// The largest queue that one found, bytes.
    pub queue_bytes_max: u64,
    /// Packets that it marked.
    pub marks: u64,
    /// What they waited for, longest first; adds up to `waited_ps`. `bytes` has a packet in front
    /// once for each packet that waited for it.
    pub fronts: Vec<FrontFacts>,
}

fn is_data(event: &&TraceEvent) -> bool {
    event.packet.is_some_and(|packet| packet.payload > 0)
}

/// What identifies a data packet of a flow: its departure and number.
fn identity(event: &TraceEvent) -> Option<(u64, u32)> {
    let packet = event.packet?;
    Some((packet.departed?, packet.number))
}

/// The packet that completed the flow.
fn last_packet(run: &Run, flow: u32) -> Option<(u64, u32)> {
    let completed = run.record.flows[flow as usize].completed?;
    let arrives = |event: &&TraceEvent| {
        event.kind == EventKind::Delivered && event.at == completed && event.place.host
    };
    // Several may arrive at that instant if a transport is given them together: the last completes.
    events(run, flow).filter(is_data).filter(arrives).last().and_then(identity)
}

fn front(event: &TraceEvent) -> Option<FrontFacts> {
    let front = event.front?;
    Some(FrontFacts {
        why: event.why?.name(),
        flow: front.flow.map(|flow| flow.0),
        class: front.class,
        bytes: front.bytes,
        ps: event.waited?,
    })
}

/// The way of the packet that completed the flow.
pub(crate) fn hops(run: &Run, flow: u32) -> Vec<HopFacts> {
    let Some(last) = last_packet(run, flow) else { return vec![] };
    let start = run.record.flows[flow as usize].started.map_or(0, |start| start.0);
    let own = |event: &&TraceEvent| identity(event) == Some(last) && !event.place.host;
    let mut hops: Vec<HopFacts> = vec![];
    let mut found = None;
    for event in events(run, flow).filter(is_data).filter(own) {
        match event.kind {
            EventKind::Queued => found = event.queue,
            EventKind::Started => {
                let waited = event.waited.unwrap_or(0);
                hops.push(HopFacts {
                    port: place(run, event).to_string(),
                    tier: run.ports[event.place.port as usize].tier,
                    after_ps: (event.at.0 - waited).saturating_sub(start),
                    class: event.packet.map_or(0, |packet| packet.class),
                    waited_ps: waited,
                    queue_bytes: found.take(),
                    marked: false,
                    fronts: vec![],
                });
            }
            EventKind::Waited => {
                if let Some(hop) = hops.last_mut() {
                    hop.fronts.extend(front(event));
                }
            }
            _ => {}
        }
    }
    let marked: Vec<&str> = events(run, flow)
        .filter(own)
        .filter(|event| event.kind == EventKind::Marked)
        .map(|event| place(run, event))
        .collect();
    hops.iter_mut().for_each(|hop| hop.marked = marked.contains(&hop.port.as_str()));
    hops
}

/// All waits of the flow's data packets, by port, longest first.
pub(crate) fn port_waits(run: &Run, flow: u32) -> Vec<PortWait> {
    let mut all: Vec<PortWait> = vec![];
    for event in events(run, flow).filter(is_data).filter(|event| !event.place.host) {
        let port = place(run, event);
        let at = match all.iter().position(|wait| wait.port == port) {
            Some(at) => at,
            None => {
                all.push(PortWait {
                    port: port.to_string(),
                    tier: run.ports[event.place.port as usize].tier,
                    packets: 0,
                    waited_ps: 0,
                    longest_ps: 0,
                    queue_bytes_max: 0,
                    marks: 0,
                    fronts: vec![],
                });
                all.len() - 1
            }
        };
        let wait = &mut all[at];
        match event.kind {
            EventKind::Queued => {
                wait.queue_bytes_max = wait.queue_bytes_max.max(event.queue.unwrap_or(0));
            }
            EventKind::Started => {
                let waited = event.waited.unwrap_or(0);
                wait.packets += 1;
                wait.waited_ps += waited;
                wait.longest_ps = wait.longest_ps.max(waited);
            }
            EventKind::Marked => wait.marks += 1,
            EventKind::Waited => {
                if let Some(new) = front(event) {
                    let key = |front: &FrontFacts| (front.why, front.flow, front.class);
                    match wait.fronts.iter_mut().find(|known| key(known) == key(&new)) {
                        Some(known) => {
                            known.bytes += new.bytes;
                            known.ps += new.ps;
                        }
                        None => wait.fronts.push(new),
                    }
                }
            }
            _ => {}
        }
    }
    for wait in &mut all {
        wait.fronts.sort_by_key(|front| std::cmp::Reverse(front.ps));
    }
    all.retain(|wait| wait.packets > 0 || wait.marks > 0);
    all.sort_by_key(|wait| std::cmp::Reverse(wait.waited_ps));
    all
}
