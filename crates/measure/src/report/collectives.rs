//! Collectives as tables: how fast they were, and what their critical paths consist of.

use super::table::{Get, cells, heads};
use crate::collective::CollectiveSummary;
use crate::number::escape;
use crate::{PartMeans, Summary};

/// Columns: name and value.
const COLUMNS: [(&str, Get<CollectiveSummary>); 11] = [
    ("ranks", |one| Some(one.ranks.into())),
    ("size, MB", |one| Some(one.bytes as f64 / 1e6)),
    ("iterations", |one| Some(one.completed as f64)),
    ("iteration, mean ms", |one| Some(one.iteration_ns?.mean / 1e6)),
    ("exposed, mean ms", |one| Some(one.exposed_mean_ns? / 1e6)),
    ("completion, mean ms", |one| Some(one.completion_ns?.mean / 1e6)),
    ("completion, max ms", |one| Some(one.completion_ns?.max / 1e6)),
    ("algbw, GB/s", |one| one.algbw),
    ("busbw, GB/s", |one| one.busbw),
    ("slowdown, mean", |one| Some(one.slowdown?.mean)),
    ("skew at the end, mean \u{b5}s", |one| Some(one.skew_end_mean_ns? / 1e3)),
];

/// Names of the parts of a completion time, in words.
const PARTS: [&str; 14] = [
    "sending",
    "NIC busy with others",
    "NIC idle",
    "waiting for grants",
    "waiting for credits",
    "window full",
    "pacing",
    "recovery",
    "serialisation",
    "propagation",
    "queues of NICs",
    "queues of edge switches",
    "queues of aggregation switches",
    "queues of core switches",
];

/// The tables of all runs; nothing without collectives.
pub(super) fn table(summaries: &[Summary]) -> String {
    let of = |summary| move |one| (summary, one);
    let all: Vec<(&Summary, &CollectiveSummary)> =
        summaries.iter().flat_map(|summary| summary.collectives.iter().map(of(summary))).collect();
    let numbers: Vec<&CollectiveSummary> = all.iter().map(|(_, one)| *one).collect();
    let numbers = cells(COLUMNS.iter().map(|(_, get)| get), &numbers);
    let row = |((summary, one), cells): (&(&Summary, &CollectiveSummary), String)| {
        format!("{}{cells}</tr>\n", head(summary, one))
    };
    let rows: String = all.iter().zip(numbers).map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let heads = heads(COLUMNS.iter().map(|(name, _)| *name));
    format!(
        "<h2>Collectives</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>run</th><th \
         class=\"text\">collective</th>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"caption\">Completion: from the first message's start to the last one's arrival. Iteration: \
         from the end of the one before; exposed: what of it is more than computation. Bus bandwidth is algorithm \
         bandwidth (size over completion time) times a factor by which it compares with the rate of a link, as in \
         nccl-tests. Slowdown: completion over that on a network that only NICs limit.</p>\n{}",
        paths(summaries)
    )
}

fn head(summary: &Summary, one: &CollectiveSummary) -> String {
    let name = match one.job.as_str() {
        "" => one.collective.to_string(),
        job => format!("{}:", escape(job)),
    };
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"text\">{name} {} ({})</td>",
        escape(&summary.label),
        escape(&one.kind),
        escape(&one.algorithm)
    )
}

/// Computation and parts of the mean critical path, in words, the largest first; in nanoseconds.
fn shares(one: &CollectiveSummary) -> Option<Vec<(&'static str, f64)>> {
    let parts: PartMeans = one.path_parts_mean_ns?;
    let mut all = vec![("computation", one.path_compute_mean_ns?)];
    all.extend(PARTS.into_iter().zip(parts.named().map(|(_, value)| value)));
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(all)
}

/// What the critical paths consist of, a line for each collective.
fn paths(summaries: &[Summary]) -> String {
    let mut rows = String::new();
    for summary in summaries {
        for one in &summary.collectives {
            let Some(shares) = shares(one) else { continue };
            let total: f64 = shares.iter().map(|(_, value)| value).sum();
            let shown = |(name, value): &(&str, f64)| {
                let percent = 100.0 * value / total;
                (percent >= 0.05).then(|| format!("{percent:.1} % {name}"))
            };
            let words: Vec<String> = shares.iter().filter_map(shown).collect();
            rows += &head(summary, one);
            rows += &format!("<td class=\"text\">{}</td></tr>\n", words.join(", "));
        }
    }
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>run</th><th class=\"text\">collective</th><th \
         class=\"text\">critical path</th></tr></thead><tbody>\n{rows}</tbody></table></div>\n<p \
         class=\"caption\">Critical path: from the message that arrived last back over whatever each one waited for \
         longest, to where a rank began to compute; mean over iterations.</p>\n"
    )
}
