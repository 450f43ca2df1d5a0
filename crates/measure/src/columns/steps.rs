//! The columns of `steps.parquet`.

use super::column::{Column, Row, integer, text};
use super::table::Table;
use crate::Run;
use crate::jobs::StepMeta;
use crate::program::{iteration_of, record};
use incast_transport::StepRecord;

/// `steps.parquet`.
pub static STEPS: Table = Table {
    name: "steps",
    doc: "Only with traffic of kind `program`, and jobs of programs or with `server`. One row per step of a rank - a message that it \
          sends or takes, or a computation - ordered by `program`, `rank`, then `step`.",
    columns: COLUMNS,
    rows: |run| {
        let of = |(place, rank): (usize, &crate::RankMeta)| {
            (0..rank.what.len()).map(move |step| Row::of(place, step))
        };
        Box::new(run.ranks.iter().enumerate().flat_map(of))
    },
};

fn of(run: &Run, row: Row) -> &StepMeta {
    &run.ranks[row.item].what[row.interval]
}

fn own(run: &Run, row: Row) -> &StepRecord {
    &record(run, row.item).steps[row.interval]
}

/// In order; a row's item is a rank, its interval a step.
const COLUMNS: &[Column] = &[
    integer("program", "", "Number of the program in the scenario, from 0.", |run, row| {
        Some(run.ranks[row.item].program.into())
    }),
    integer("rank", "", "Number of the rank, from 0.", |run, row| {
        Some(run.ranks[row.item].rank.into())
    }),
    integer("step", "", "Number of the step, from 0; `node` in messages.", |_, row| {
        Some(row.interval as u64)
    }),
    integer("iteration", "", "The iteration that it is of, from 0.", |run, row| {
        Some(iteration_of(run, row.item, row.interval).into())
    }),
    text("kind", "`send`, `recv` or `calc`.", |run, row| of(run, row).kind),
    integer(
        "peer",
        "",
        "The other rank of a message; null for any, and of a computation.",
        |run, row| Some(of(run, row).peer?.into()),
    ),
    integer("size_bytes", "bytes", "Bytes of a message; null of a computation.", |run, row| {
        of(run, row).bytes
    }),
    integer("flow_id", "", "The flow of a message that it sends over the network.", |run, row| {
        Some(of(run, row).flow?.into())
    }),
    integer(
        "begin_ps",
        "ps",
        "When it began: of a receive, when the rank wanted the message.",
        |run, row| Some(own(run, row).begun?.0),
    ),
    integer(
        "end_ps",
        "ps",
        "When it was done: of a send, when the rank knew that the message had arrived.",
        |run, row| Some(own(run, row).ended?.0),
    ),
    integer(
        "after",
        "",
        "The step of its rank for which it waited last before it began.",
        |run, row| Some(own(run, row).after?.into()),
    ),
    integer("from_rank", "", "The rank whose message a receive took.", |run, row| {
        Some(own(run, row).message?.0.into())
    }),
    integer("from_step", "", "The step there.", |run, row| Some(own(run, row).message?.1.into())),
];
