//! The columns of `trace.parquet`.

use super::column::{Column, Row, integer, text};
use super::table::{Table, each};
use crate::Run;
use incast_transport::{LAYOUTS, TraceEvent, Traced, flag};

/// `trace.parquet`.
pub static TRACE: Table = Table {
    name: "trace",
    doc: "Only with `output.trace`. One row per event, ordered by `time_ps`, then place, then order at \
          the place. Events: `opened`, `completed` and `acknowledged` (a flow opened, its last byte \
          arrived, its sender learned so), `sent` and `delivered` (a packet left or reached the \
          transport of a host), `queued` and `started` (it joined the queue of a port, began \
          transmission there), `waited` (after `started`: a part of its wait; these rows add up to \
          `wait_ps` of `started`), `marked`, `dropped`, `trimmed`, `bounced`, `lost` (on a link, or by a \
          switch without a route), `decision` (of the congestion control), `timeout` (a \
          retransmission timer expired), `paused` and `resumed` (a class of a port, by PFC; recorded at \
          all ports).",
    columns: COLUMNS,
    rows: |run| each(run.record.trace.as_ref().map_or(0, |trace| trace.events.len())),
};

fn event(run: &Run, row: Row) -> &TraceEvent {
    let trace = run.record.trace.as_ref().expect("a row of a trace");
    &trace.events[row.item]
}

fn packet(run: &Run, row: Row) -> Option<&Traced> {
    event(run, row).packet.as_ref()
}

/// The name of a place: that of the port, or of the host that it belongs to.
pub fn place<'a>(run: &'a Run, event: &TraceEvent) -> &'a str {
    let name = &run.ports[event.place.port as usize].name;
    match event.place.host {
        true => name.split("->").next().unwrap_or(name),
        false => name,
    }
}

const COLUMNS: &[Column] = &[
    integer("time_ps", "ps", "When, since the start of the run.", |run, row| {
        Some(event(run, row).at.0)
    }),
    text("place", "Where: a port, as `name` in `ports.parquet`, or a host.", |run, row| {
        place(run, event(run, row))
    }),
    text("event", "What, see above.", |run, row| event(run, row).kind.name()),
    integer("flow_id", "", "Of which flow; null for pauses.", |run, row| {
        event(run, row).flow.map(|flow| flow.0 as u64)
    }),
    text(
        "packet",
        "Kind of the packet's header, such as `Data` or `Grant`; empty without a packet.",
        |run, row| {
            let kind = packet(run, row).map(|packet| packet.kind);
            LAYOUTS.iter().find(|layout| Some(layout.kind) == kind).map_or("", |layout| layout.name)
        },
    ),
    integer(
        "number",
        "",
        "Of data, its first byte or its packet number, as the transport counts; of other packets the \
         first number in the header (what an ACK acknowledges, the number of a grant).",
        |run, row| Some(packet(run, row)?.number as u64),
    ),
    integer("bytes", "bytes", "The packet, as links charge it.", |run, row| {
        Some(packet(run, row)?.bytes as u64)
    }),
    integer("payload_bytes", "bytes", "Its payload.", |run, row| {
        Some(packet(run, row)?.payload as u64)
    }),
    integer(
        "class",
        "",
        "Service class of the packet, or the class paused or resumed.",
        |run, row| {
            let event = event(run, row);
            event.class.or(event.packet.map(|packet| packet.class)).map(u64::from)
        },
    ),
    integer(
        "ecn",
        "",
        "The packet's two ECN bits, which each transport uses its own way.",
        |run, row| Some(packet(run, row)?.mark as u64),
    ),
    integer("retransmission", "", "1 if the packet is a retransmission, else 0.", |run, row| {
        Some((packet(run, row)?.flags & flag::RETRANSMIT != 0) as u64)
    }),
    integer(
        "departed_ps",
        "ps",
        "When the packet left its source, which with the flow identifies it; of data only.",
        |run, row| packet(run, row)?.departed,
    ),
    integer(
        "queue_bytes",
        "bytes",
        "Queue of the port without the packet and without what is in transmission: what it found, or \
         with `started` left behind.",
        |run, row| event(run, row).queue,
    ),
    integer(
        "wait_ps",
        "ps",
        "With `started`, how long the packet waited at the port; with `waited`, which part of it `why` \
         and `front_flow` account for.",
        |run, row| event(run, row).waited,
    ),
    text(
        "why",
        "Of `waited`: `transmitting` (a packet was in transmission when it arrived), `ahead` (packets that \
         had arrived before it), `overtaken` (packets that arrived later), `paused` (its class, by the \
         other end of the link), `shaped` (by a rate limit of its class), `other` (the port sent \
         pause frames). Of `marked`: `on arrival` or `on departure`.",
        |run, row| event(run, row).why.map_or("", |why| why.name()),
    ),
    integer(
        "front_flow",
        "",
        "Of `waited`: the flow whose packets were transmitted meanwhile.",
        |run, row| event(run, row).front?.flow.map(|flow| flow.0 as u64),
    ),
    integer("front_class", "", "Their service class.", |run, row| {
        let front = event(run, row).front?;
        front.flow.map(|_| front.class as u64)
    }),
    integer(
        "front_bytes",
        "bytes",
        "Their bytes as links charge them, a packet already in transmission in full.",
        |run, row| event(run, row).front.map(|front| front.bytes),
    ),
    integer("age_ps", "ps", "Age of the information behind a decision.", |run, row| {
        event(run, row).age
    }),
    integer(
        "window_bytes",
        "bytes",
        "Payload that may be in flight, for transports with a window; this and the following are the \
         state of the flow at this host after the event.",
        |run, row| event(run, row).observed.window,
    ),
    integer("rate_bps", "bit/s", "Rate at which packets, or credits, are spaced.", |run, row| {
        event(run, row).observed.rate.map(|rate| rate.0)
    }),
    integer(
        "in_flight_bytes",
        "bytes",
        "Payload sent and neither acknowledged nor taken for lost.",
        |run, row| event(run, row).observed.in_flight,
    ),
    integer(
        "credits",
        "",
        "Packets that grants, credits, tokens or pulls allow at once.",
        |run, row| event(run, row).observed.credits,
    ),
    integer(
        "timer_ps",
        "ps",
        "When its retransmission timer expires; null if it does not run.",
        |run, row| {
            event(run, row).observed.timer.map(|time| time.0).filter(|time| *time < u64::MAX)
        },
    ),
];
