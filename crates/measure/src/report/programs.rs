//! Programs as a table: how long they took, and what their ranks did.

use super::table::{Get, cells, heads};
use crate::Summary;
use crate::number::escape;
use crate::program::ProgramSummary;

/// Columns: name and value.
const COLUMNS: [(&str, Get<ProgramSummary>); 12] = [
    ("ranks", |one| Some(one.ranks as f64)),
    ("done", |one| Some(one.completed as f64)),
    ("messages", |one| Some(one.messages as f64)),
    ("MB", |one| Some(one.bytes as f64 / 1e6)),
    ("time, ms", |one| Some(one.completion_ns? / 1e6)),
    ("iterations", |one| Some(one.iterations.into())),
    ("iteration, mean ms", |one| Some(one.iteration_mean_ns? / 1e6)),
    ("exposed, mean ms", |one| Some(one.exposed_mean_ns? / 1e6)),
    ("last rank", |one| Some(one.slowest_rank?.into())),
    ("compute, mean ms", |one| Some(one.compute_mean_ns? / 1e6)),
    ("compute, max ms", |one| Some(one.compute_max_ns? / 1e6)),
    ("waiting, mean ms", |one| Some(one.waiting_mean_ns? / 1e6)),
];

/// The tables of all runs; nothing without programs.
pub(super) fn table(summaries: &[Summary]) -> String {
    let of = |summary| move |one| (summary, one);
    let all: Vec<(&Summary, &ProgramSummary)> =
        summaries.iter().flat_map(|summary| summary.programs.iter().map(of(summary))).collect();
    let numbers: Vec<&ProgramSummary> = all.iter().map(|(_, one)| *one).collect();
    let numbers = cells(COLUMNS.iter().map(|(_, get)| get), &numbers);
    let row = |((summary, one), cells): (&(&Summary, &ProgramSummary), String)| {
        let (label, mut file) = (escape(&summary.label), escape(&one.file));
        if !one.job.is_empty() {
            file = format!("{}: {file}", escape(&one.job));
        }
        format!("<tr><th scope=\"row\">{label}</th><td class=\"text\">{file}</td>{cells}</tr>\n")
    };
    let rows: String = all.iter().zip(numbers).map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let heads = heads(COLUMNS.iter().map(|(name, _)| *name));
    format!(
        "<h2>Programs</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>run</th><th \
         class=\"text\">program</th>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n<p \
         class=\"caption\">Time: from the beginning of the program to the end of its last rank. Waiting: until a rank is \
         done, the time in which it computes nothing. Exposed: what of an iteration is more than its computations would \
         take if messages took no time. Each rank is in ranks.parquet.</p>\n"
    )
}
