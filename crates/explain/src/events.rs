//! Events of flows, and what packets are called.

use incast_measure::Run;
use incast_transport::{LAYOUTS, TraceEvent, Traced};

/// The events of a flow, in order.
pub(crate) fn events(run: &Run, flow: u32) -> impl Iterator<Item = &TraceEvent> + Clone {
    let all = run.record.trace.as_ref().map_or(&[][..], |trace| &trace.events);
    all.iter().filter(move |event| event.flow.is_some_and(|own| own.0 == flow))
}

/// The name of a header's kind. A segment is named by what it is for: data, or the ACK of some; without
/// either it is a notification of congestion or the ACK of nothing.
pub(crate) fn kind_name(packet: &Traced) -> &'static str {
    let found = LAYOUTS.iter().find(|layout| layout.kind == packet.kind);
    match (found.map_or("packet", |layout| layout.name), packet.payload) {
        ("Segment", 0) if packet.number > 0 => "ACK",
        ("Segment", size) if size > 0 => "Data",
        ("Ack", _) => "ACK",
        (name, _) => name,
    }
}
