//! The columns of `collectives.parquet`.

use super::column::{Column, Row, float, integer, text};
use super::table::{Table, each};
use crate::Run;
use crate::jobs::{Collective, CriticalPath};
use incast_transport::Parts;
use incast_units::Span;

/// `collectives.parquet`.
pub static COLLECTIVES: Table = Table {
    name: "collectives",
    doc: "Only with traffic of kind `collective`, and jobs of collectives. One row per iteration, ordered by `collective`, then \
          `iteration`. Times of an iteration that is not complete are null. The critical path goes from the \
          message that arrived last back over whichever of the messages and computations that it waited \
          for ended last, and so on, to where a rank began to compute: `path_compute_ps` and the parts of \
          its messages, as in `flows.parquet`, add up to the time of the iteration and `path_ahead_ps`. Jobs with `server` have neither an ideal time nor a path here.",
    columns: COLUMNS,
    rows: |run| each(run.collectives.len()),
};

fn of(run: &Run, row: Row) -> &Collective {
    &run.collectives[row.item]
}

fn ns(span: Option<Span>) -> Option<f64> {
    Some(span?.as_ns_f64())
}

fn path(run: &Run, row: Row) -> Option<&CriticalPath> {
    of(run, row).path.as_ref()
}

fn parts(run: &Run, row: Row) -> Option<&Parts> {
    Some(&path(run, row)?.parts)
}

/// In order; a row's item is an iteration of a collective.
const COLUMNS: &[Column] = &[
    integer("collective", "", "Number of the collective in the scenario, from 0.", |run, row| {
        Some(of(run, row).number.into())
    }),
    integer("iteration", "", "Number of the iteration, from 0.", |run, row| {
        Some(of(run, row).iteration.into())
    }),
    text("job", "Name of its job; empty of traffic of kind `collective`.", |run, row| {
        &of(run, row).job
    }),
    text("kind", "What the ranks want, such as `all_reduce`.", |run, row| of(run, row).kind),
    text("algorithm", "How they get it, such as `ring`.", |run, row| of(run, row).algorithm),
    integer("ranks", "", "Number of ranks.", |run, row| Some(of(run, row).ranks.into())),
    integer("size_bytes", "bytes", "Size of the collective, as in the scenario.", |run, row| {
        Some(of(run, row).bytes)
    }),
    integer(
        "messages",
        "",
        "Number of its messages: flows of class `collective`, or `program` of a job with `server`; and of that also those within \
         servers.",
        |run, row| Some(of(run, row).messages.into()),
    ),
    float("start_ns", "ns", "When its first message started.", |run, row| {
        Some(of(run, row).start?.as_ns_f64())
    }),
    float("end_ns", "ns", "When its last message had arrived.", |run, row| {
        Some(of(run, row).end?.as_ns_f64())
    }),
    integer("completion_ps", "ps", "Completion time: from its start to its end.", |run, row| {
        Some(of(run, row).completion()?.0)
    }),
    float("completion_ns", "ns", "`completion_ps` in nanoseconds.", |run, row| {
        ns(of(run, row).completion())
    }),
    integer(
        "iteration_ps",
        "ps",
        "Time of the iteration: from the end of the one before, or the beginning of the first computation, \
         to its end.",
        |run, row| Some(of(run, row).time()?.0),
    ),
    float("iteration_ns", "ns", "`iteration_ps` in nanoseconds.", |run, row| {
        ns(of(run, row).time())
    }),
    float(
        "compute_ns",
        "ns",
        "The longest computation of a rank before the iteration.",
        |run, row| ns(Some(of(run, row).compute)),
    ),
    float(
        "exposed_ns",
        "ns",
        "Exposed communication: what the iteration takes longer than that computation.",
        |run, row| ns(of(run, row).exposed()),
    ),
    float(
        "algbw",
        "GB/s",
        "Algorithm bandwidth: `size_bytes` over the completion time.",
        |run, row| of(run, row).algorithm_bandwidth(),
    ),
    float(
        "busbw",
        "GB/s",
        "Bus bandwidth, which compares with the rate of a link: `algbw` times 2(n-1)/n of an all-reduce, \
         (n-1)/n of a reduce-scatter, all-gather or all-to-all, 1 of a broadcast (n ranks; as nccl-tests).",
        |run, row| of(run, row).bus_bandwidth(),
    ),
    float(
        "ideal_ns",
        "ns",
        "Ideal completion time, with ranks that begin when they did: each message takes its ideal time, and messages \
         of one rank that are under way together share its NIC, one after the other; what is between the NICs limits \
         nothing.",
        |run, row| ns(of(run, row).ideal),
    ),
    float("slowdown", "", "Completion time over the ideal one.", |run, row| {
        of(run, row).slowdown()
    }),
    integer("slowest_rank", "", "The rank that was sent the last message.", |run, row| {
        Some(of(run, row).slowest_rank?.into())
    }),
    float(
        "skew_start_ns",
        "ns",
        "From the first rank that had computed to the last one.",
        |run, row| ns(of(run, row).skew_start),
    ),
    float(
        "skew_end_ns",
        "ns",
        "From the first rank that had got its last message to the last one.",
        |run, row| ns(of(run, row).skew_end),
    ),
    integer("path_messages", "", "Messages on the critical path.", |run, row| {
        Some(path(run, row)?.messages.into())
    }),
    integer("path_compute_ps", "ps", "Computation on the critical path.", |run, row| {
        Some(path(run, row)?.compute.0)
    }),
    integer(
        "path_ahead_ps",
        "ps",
        "How long before the end of the iteration before the path begins: its rank was done earlier.",
        |run, row| Some(path(run, row)?.ahead.0),
    ),
    integer(
        "path_nic_own_ps",
        "ps",
        "Of the path: NICs were busy with its messages.",
        |run, row| Some(parts(run, row)?.nic_own),
    ),
    integer(
        "path_nic_other_ps",
        "ps",
        "Of the path: messages were ready, and NICs busy with others.",
        |run, row| Some(parts(run, row)?.nic_other),
    ),
    integer(
        "path_blocked_ready_ps",
        "ps",
        "Of the path: NICs were idle, without a reason reported.",
        |run, row| Some(parts(run, row)?.blocked[0]),
    ),
    integer("path_blocked_grant_ps", "ps", "Of the path: waiting for grants.", |run, row| {
        Some(parts(run, row)?.blocked[1])
    }),
    integer("path_blocked_credit_ps", "ps", "Of the path: waiting for credits.", |run, row| {
        Some(parts(run, row)?.blocked[2])
    }),
    integer("path_blocked_window_ps", "ps", "Of the path: windows were full.", |run, row| {
        Some(parts(run, row)?.blocked[3])
    }),
    integer("path_blocked_pacing_ps", "ps", "Of the path: delayed by pacing.", |run, row| {
        Some(parts(run, row)?.blocked[4])
    }),
    integer("path_recovery_ps", "ps", "Of the path: recovery from losses.", |run, row| {
        Some(parts(run, row)?.recovery)
    }),
    integer("path_serialisation_ps", "ps", "Of the path: serialisation.", |run, row| {
        Some(parts(run, row)?.serialisation)
    }),
    integer("path_propagation_ps", "ps", "Of the path: propagation.", |run, row| {
        Some(parts(run, row)?.propagation)
    }),
    integer("path_queue_nic_ps", "ps", "Of the path: waits in queues of NICs.", |run, row| {
        Some(parts(run, row)?.queueing[0])
    }),
    integer(
        "path_queue_edge_ps",
        "ps",
        "Of the path: waits in queues of edge switches.",
        |run, row| Some(parts(run, row)?.queueing[1]),
    ),
    integer(
        "path_queue_aggregation_ps",
        "ps",
        "Of the path: waits in queues of aggregation switches.",
        |run, row| Some(parts(run, row)?.queueing[2]),
    ),
    integer(
        "path_queue_core_ps",
        "ps",
        "Of the path: waits in queues of core switches.",
        |run, row| Some(parts(run, row)?.queueing[3]),
    ),
];
