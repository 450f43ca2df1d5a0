//! What a congestion control knew and decided, and when a source was silent.

use crate::events::{events, kind_name};
use incast_measure::Run;
use incast_transport::{EventKind, TraceEvent};
use serde::Serialize;

/// The state of a flow at one of its hosts after an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControlPoint {
    /// When, since the flow's start.
    pub after_ps: u64,
    /// `source` or `destination`.
    pub end: &'static str,
    /// `opened`, `decision` or `timeout`.
    pub event: &'static str,
    /// Age of the information behind a decision.
    pub age_ps: Option<u64>,
    /// Payload that may be in flight, bytes.
    pub window_bytes: Option<u64>,
    /// Rate of packets or credits, bit/s.
    pub rate_bps: Option<u64>,
    /// Payload in flight, bytes.
    pub in_flight_bytes: Option<u64>,
    /// Packets that grants, credits, tokens or pulls allow.
    pub credits: Option<u64>,
}

/// A time in which the source sent no data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Silence {
    /// Since when, since the flow's start: the start of the last transmission before it.
    pub after_ps: u64,
    /// How long until the next transmission.
    pub ps: u64,
    /// What ended it: `timeout` (the source's), `receiver timeout` (then a packet of the receiver arrived),
    /// the kind of packet that arrived last during it, `source` if nothing did, or `the start` of the
    /// flow.
    pub ended_by: String,
    /// Whether a retransmission ended it.
    pub retransmission: bool,
}

fn start(run: &Run, flow: u32) -> u64 {
    run.record.flows[flow as usize].started.map_or(0, |start| start.0)
}

/// The decisions and timeouts of the flow.
pub(crate) fn control(run: &Run, flow: u32) -> Vec<ControlPoint> {
    let start = start(run, flow);
    let opened = events(run, flow).find(|event| event.kind == EventKind::Opened);
    let source = opened.map(|event| event.place);
    let tells = |event: &&TraceEvent| {
        matches!(event.kind, EventKind::Opened | EventKind::Decision | EventKind::Timeout)
    };
    let one = |event: &TraceEvent| ControlPoint {
        after_ps: event.at.0.saturating_sub(start),
        end: if Some(event.place) == source { "source" } else { "destination" },
        event: event.kind.name(),
        age_ps: event.age,
        window_bytes: event.observed.window,
        rate_bps: event.observed.rate.map(|rate| rate.0),
        in_flight_bytes: event.observed.in_flight,
        credits: event.observed.credits,
    };
    events(run, flow).filter(tells).map(one).collect()
}

/// The times of a base RTT or more in which the source sent no data, before the flow was complete.
pub(crate) fn silences(run: &Run, flow: u32) -> Vec<Silence> {
    let (start, shortest) = (start(run, flow), run.base_rtt.0.max(1));
    let opened = events(run, flow).find(|event| event.kind == EventKind::Opened);
    let Some(opened) = opened else { return vec![] };
    let end = run.record.flows[flow as usize].completed.map_or(u64::MAX, |at| at.0);
    let mut since = start;
    // What happened in it: `the start` is that of the flow.
    let mut cause = Some("the start");
    // A timer of the receiver has expired; the next packet that the receiver sends is what it asks with.
    let (mut expired, mut asked) = (false, None);
    let mut all = vec![];
    for event in events(run, flow).filter(|event| event.at.0 <= end) {
        let at_source = event.place == opened.place;
        match (event.kind, event.packet) {
            (EventKind::Timeout, _) if at_source => cause = Some("timeout"),
            (EventKind::Timeout, _) => expired = true,
            (EventKind::Sent, Some(packet)) if !at_source && expired => {
                (expired, asked) = (false, Some((packet.kind, packet.number)));
            }
            (EventKind::Delivered, Some(packet)) if at_source => {
                let caused = asked == Some((packet.kind, packet.number));
                cause = Some(if caused { "receiver timeout" } else { kind_name(&packet) });
                asked = asked.filter(|_| !caused);
            }
            (EventKind::Sent, Some(packet)) if at_source && packet.payload > 0 => {
                let ps = event.at.0 - since;
                if ps >= shortest {
                    let retransmission = packet.flags & incast_transport::flag::RETRANSMIT != 0;
                    let (after_ps, ended_by) = (since - start, cause.unwrap_or("source").into());
                    all.push(Silence { after_ps, ps, ended_by, retransmission });
                }
                (since, cause) = (event.at.0, None);
            }
            _ => {}
        }
    }
    all
}
