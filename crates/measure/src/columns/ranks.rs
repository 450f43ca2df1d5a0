//! The columns of `ranks.parquet`.

use super::column::{Column, Row, float, integer, text};
use super::table::{Table, each};
use crate::Run;
use crate::jobs::RankMeta;
use crate::program::{record, time, waiting};
use incast_transport::ExecutionRecord;

/// `ranks.parquet`.
pub static RANKS: Table = Table {
    name: "ranks",
    doc: "Only with traffic of kind `program`, and jobs of programs or with `server`. One row per rank, ordered by `program`, then `rank`.",
    columns: COLUMNS,
    rows: |run| each(run.ranks.len()),
};

fn of(run: &Run, row: Row) -> &RankMeta {
    &run.ranks[row.item]
}

fn own(run: &Run, row: Row) -> &ExecutionRecord {
    record(run, row.item)
}

/// In order; a row's item is a rank.
const COLUMNS: &[Column] = &[
    integer("program", "", "Number of the program in the scenario, from 0.", |run, row| {
        Some(of(run, row).program.into())
    }),
    text("job", "Name of its job; empty of traffic of kind `program`.", |run, row| {
        &run.programs[of(run, row).program as usize].job
    }),
    integer("rank", "", "Number of the rank, from 0.", |run, row| Some(of(run, row).rank.into())),
    integer("host", "", "Its host; a server where those have several NICs.", |run, row| {
        Some(of(run, row).host.into())
    }),
    integer("steps", "", "Its sends, receives and computations.", |run, row| {
        Some(of(run, row).steps)
    }),
    integer("steps_left", "", "Of these not done at the end of the run.", |run, row| {
        Some(own(run, row).left)
    }),
    integer(
        "messages",
        "",
        "Messages that it sends to ranks of other servers; each rank is one where there are none.",
        |run, row| Some(of(run, row).messages),
    ),
    integer("sent_bytes", "bytes", "Their sizes.", |run, row| Some(of(run, row).bytes)),
    integer("local_bytes", "bytes", "What it sends to ranks of its server.", |run, row| {
        Some(of(run, row).local_bytes)
    }),
    float("begin_ns", "ns", "When it began.", |run, row| Some(own(run, row).begun?.as_ns_f64())),
    float("end_ns", "ns", "When its last step was done; null if one is not.", |run, row| {
        Some(own(run, row).ended?.as_ns_f64())
    }),
    integer("time_ps", "ps", "From its begin to its end.", |run, row| Some(time(own(run, row))?.0)),
    integer(
        "compute_ps",
        "ps",
        "For how long it computed, in one stream or several at once.",
        |run, row| Some(own(run, row).computing.0),
    ),
    integer(
        "waiting_ps",
        "ps",
        "The rest of its time: all of its streams waited for messages.",
        |run, row| Some(waiting(own(run, row))?.0),
    ),
    text(
        "waits_for",
        "What it waits for at the end of the run, the first of it; empty if it is done or computes.",
        |run, row| own(run, row).waits.first().map_or("", String::as_str),
    ),
];
