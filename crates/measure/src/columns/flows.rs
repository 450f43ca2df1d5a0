//! The columns of `flows.parquet`.

use super::column::{Column, Row, flag, float, integer, text};
use super::table::{Table, each};
use crate::Run;
use incast_transport::{FlowRecord, Parts};

/// `flows.parquet`.
pub static FLOWS: Table = Table {
    name: "flows",
    doc: "One row per flow, in order of `flow_id`.",
    columns: COLUMNS,
    rows: |run| each(run.flows.len()),
};

fn record(run: &Run, row: Row) -> &FlowRecord {
    &run.record.flows[row.item]
}

fn parts(run: &Run, row: Row) -> Option<&Parts> {
    record(run, row).parts.as_ref()
}

/// In order. The columns from `nic_own_ps` to `queue_core_ps` are the critical path of the byte that
/// came last and add up to `fct_ps` exactly.
const COLUMNS: &[Column] = &[
    integer("flow_id", "", "Number of the flow.", |_, row| Some(row.item as u64)),
    integer("src", "", "Sending host.", |run, row| Some(run.flows[row.item].src as u64)),
    integer("dst", "", "Receiving host.", |run, row| Some(run.flows[row.item].dst as u64)),
    text("transport", "Its transport.", |run, row| {
        &run.transports[run.flows[row.item].transport as usize]
    }),
    text("class", "Traffic class.", |run, row| run.flows[row.item].class),
    flag(
        "warmup",
        "Whether it is left out of the summary: it belongs to the warm-up, or with `run.warmup = \
        \"auto\"` it starts outside of the window in which arrivals and departures balance.",
        |run, row| run.flows[row.item].warmup,
    ),
    integer("size_bytes", "bytes", "Payload to transfer.", |run, row| {
        Some(run.flows[row.item].size_bytes)
    }),
    integer(
        "start_ps",
        "ps",
        "Time since the start of the run at which the flow started; null if it did not.",
        |run, row| record(run, row).started.map(|time| time.0),
    ),
    float("start_ns", "ns", "`start_ps` in nanoseconds.", |run, row| {
        record(run, row).started.map(|time| time.as_ns_f64())
    }),
    integer(
        "fct_ps",
        "ps",
        "Completion time: from its start to the arrival of its last byte; null if incomplete.",
        |run, row| run.fct(row.item).map(|span| span.0),
    ),
    float("fct_ns", "ns", "`fct_ps` in nanoseconds.", |run, row| {
        run.fct(row.item).map(|span| span.as_ns_f64())
    }),
    integer(
        "sender_fct_ps",
        "ps",
        "Completion time as the sender sees it: from its start until the sender has learned that \
        everything was delivered, by the arrival of the last ACK or of the packet with which the \
        receiver ends the flow; null if it has not by the end of the run.",
        |run, row| run.sender_fct(row.item).map(|span| span.0),
    ),
    float("sender_fct_ns", "ns", "`sender_fct_ps` in nanoseconds.", |run, row| {
        run.sender_fct(row.item).map(|span| span.as_ns_f64())
    }),
    integer("ideal_fct_ps", "ps", "Ideal completion time on an empty network.", |run, row| {
        Some(run.flows[row.item].ideal_fct.0)
    }),
    float("ideal_fct_ns", "ns", "`ideal_fct_ps` in nanoseconds.", |run, row| {
        Some(run.flows[row.item].ideal_fct.as_ns_f64())
    }),
    float("slowdown", "", "`fct_ps` over `ideal_fct_ps`; null if incomplete.", |run, row| {
        run.slowdown(row.item)
    }),
    integer("packets", "", "Data packets sent, retransmissions included.", |run, row| {
        Some(record(run, row).packets as u64)
    }),
    integer("retransmits", "", "Retransmitted data packets.", |run, row| {
        Some(record(run, row).retransmits as u64)
    }),
    integer(
        "wasted",
        "",
        "Credits, grants or tokens that came when nothing was left to send; for transports that \
        count them.",
        |run, row| Some(record(run, row).wasted as u64),
    ),
    float(
        "goodput_gbps",
        "Gb/s",
        "`size_bytes` over `fct_ps`; of an incomplete flow, `delivered_bytes` over the time from its start until its \
        application or the run ended it.",
        |run, row| run.throughput_gbps(row.item),
    ),
    integer("delivered_bytes", "bytes", "Payload delivered, each byte once.", |run, row| {
        Some(record(run, row).delivered)
    }),
    integer(
        "nic_own_ps",
        "ps",
        "Its NIC was busy with this flow; null, like all parts of the \
        completion time, if the flow is incomplete.",
        |run, row| Some(parts(run, row)?.nic_own),
    ),
    integer(
        "nic_other_ps",
        "ps",
        "It was ready to send and its NIC busy with other flows.",
        |run, row| Some(parts(run, row)?.nic_other),
    ),
    integer(
        "blocked_ready_ps",
        "ps",
        "The NIC was idle although the flow reported no reason to wait: \
        between opening and first packet, while paused, or with everything sent.",
        |run, row| Some(parts(run, row)?.blocked[0]),
    ),
    integer("blocked_grant_ps", "ps", "Waiting for a grant, token or pull.", |run, row| {
        Some(parts(run, row)?.blocked[1])
    }),
    integer("blocked_credit_ps", "ps", "Waiting for a credit.", |run, row| {
        Some(parts(run, row)?.blocked[2])
    }),
    integer("blocked_window_ps", "ps", "Its window was full.", |run, row| {
        Some(parts(run, row)?.blocked[3])
    }),
    integer("blocked_pacing_ps", "ps", "Delayed by pacing.", |run, row| {
        Some(parts(run, row)?.blocked[4])
    }),
    integer(
        "recovery_ps",
        "ps",
        "Recovery from losses: from the loss of a packet, or the end of the last new packet sent \
        after it, to the last retransmission before the next new packet; after the loss of a \
        control packet, the wait until the flow went on.",
        |run, row| Some(parts(run, row)?.recovery),
    ),
    integer(
        "serialisation_ps",
        "ps",
        "Serialisation on every link, of the packet that completed the flow.",
        |run, row| Some(parts(run, row)?.serialisation),
    ),
    integer("propagation_ps", "ps", "Propagation of that packet on every link.", |run, row| {
        Some(parts(run, row)?.propagation)
    }),
    integer(
        "queue_nic_ps",
        "ps",
        "Its wait in queues of NICs, and what `[host]` says that hosts take.",
        |run, row| Some(parts(run, row)?.queueing[0]),
    ),
    integer("queue_edge_ps", "ps", "Its wait in queues of edge switches.", |run, row| {
        Some(parts(run, row)?.queueing[1])
    }),
    integer(
        "queue_aggregation_ps",
        "ps",
        "Its wait in queues of aggregation switches.",
        |run, row| Some(parts(run, row)?.queueing[2]),
    ),
    integer("queue_core_ps", "ps", "Its wait in queues of core switches.", |run, row| {
        Some(parts(run, row)?.queueing[3])
    }),
    text(
        "path",
        "Nodes on the path of the packet that completed it (of all its packets, if it keeps to one path), \
        while no link has failed; `sprayed` if switches choose for each packet, or if it is incomplete \
        and its source chooses.",
        |run, row| &run.flows[row.item].path,
    ),
    text(
        "worst_port",
        "Port at which the packet that completed it waited longest, as `name` in `ports.parquet`; empty \
        if it waited nowhere or is incomplete.",
        |run, row| match record(run, row).last {
            Some(last) if last.worst_wait > 0 => &run.ports[last.worst_port as usize].name,
            _ => "",
        },
    ),
    integer("worst_port_ps", "ps", "Its wait there.", |run, row| {
        Some(record(run, row).last?.worst_wait)
    }),
    integer("decisions", "", "Decisions of its congestion control.", |run, row| {
        Some(record(run, row).decisions as u64)
    }),
    float(
        "decision_age_mean_ns",
        "ns",
        "Mean age of the information behind a decision; null without decisions.",
        |run, row| {
            let flow = record(run, row);
            let count = flow.decisions as f64;
            (count > 0.0).then(|| flow.decision_age as f64 / 1e3 / count)
        },
    ),
    float(
        "decision_age_max_ns",
        "ns",
        "Largest age of the information behind a decision; null without decisions.",
        |run, row| {
            let flow = record(run, row);
            (flow.decisions > 0).then(|| flow.decision_age_max as f64 / 1e3)
        },
    ),
    float(
        "decisions_per_rtt",
        "",
        "Decisions over the flow's life, or what the run saw of it, in base round-trip times; null \
        without decisions.",
        |run, row| run.decisions_per_rtt(std::iter::once(row.item)),
    ),
    integer(
        "control_packets",
        "",
        "Packets without payload that its two hosts received: acknowledgements, grants, credits, \
        pulls, requests, notifications, and headers whose payload was cut off.",
        |run, row| Some(record(run, row).control_packets as u64),
    ),
    integer(
        "control_bytes",
        "bytes",
        "Charged bytes of these packets on one link, extensions included.",
        |run, row| Some(record(run, row).control_bytes),
    ),
    integer(
        "extension_bytes",
        "bytes",
        "What its data packets carried behind their headers when they arrived: explicit feedback, \
        telemetry, timestamps.",
        |run, row| Some(record(run, row).extension_bytes),
    ),
    integer(
        "reordered_packets",
        "",
        "Data packets that arrived behind one that was sent later, of those that arrived until the flow was \
        complete; null where their order is not known, as in runs of processes.",
        |run, row| Some(u64::from(record(run, row).reordering?.packets)),
    ),
    integer(
        "reorder_distance",
        "",
        "By how many packets at most the latest one that had arrived was sent later.",
        |run, row| Some(u64::from(record(run, row).reordering?.distance)),
    ),
    integer(
        "paths_used",
        "",
        "Different paths that its data packets took, of those that arrived until the flow was complete; null \
        without `output.paths`, and where they are not known, as in runs of processes.",
        |run, row| Some(u64::from(record(run, row).paths?.used)),
    ),
    integer(
        "path_changes",
        "",
        "How often one of these packets took another path than the one that was sent before it.",
        |run, row| Some(u64::from(record(run, row).paths?.changes)),
    ),
    integer(
        "until_ps",
        "ps",
        "When its application ended it, of a flow without an end; null if the run did, or it has an end.",
        |run, row| run.flows[row.item].stop.map(|time| time.0),
    ),
    integer(
        "priority",
        "",
        "The queue of data that it is in, or its priority group in the file; null if none was given.",
        |run, row| run.flows[row.item].priority.map(u64::from),
    ),
];
