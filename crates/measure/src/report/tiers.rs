//! The ports of each tier as a table.

use super::table::{Get, cells, heads};
use crate::number::escape;
use crate::{Summary, TierSummary};

/// Columns: name, value, and whether the column stays when it is zero everywhere.
const COLUMNS: [(&str, Get<TierSummary>, bool); 15] = [
    ("ports", |tier| Some(tier.ports as f64), true),
    ("use, mean %", |tier| Some(100.0 * tier.utilisation_mean?), true),
    ("use, max %", |tier| Some(100.0 * tier.utilisation_max?), true),
    ("imbalance, mean", |tier| tier.imbalance_mean, false),
    ("imbalance, run", |tier| tier.imbalance_run, false),
    ("queue, mean KB", |tier| Some(tier.backlog_mean_bytes? / 1e3), true),
    ("queue, p99 KB", |tier| Some(tier.backlog_p99_bytes as f64 / 1e3), true),
    ("queue, max KB", |tier| Some(tier.backlog_max_bytes as f64 / 1e3), true),
    ("marks", |tier| Some(tier.marks as f64), false),
    ("drops", |tier| Some(tier.drops as f64), false),
    ("credits dropped", |tier| Some(tier.credit_drops as f64), false),
    ("trims", |tier| Some(tier.trims as f64), false),
    ("paused, \u{b5}s", |tier| Some(tier.paused_ns / 1e3), false),
    ("classes stuck by pauses", |tier| Some(tier.storms as f64), false),
    ("pause frames", |tier| Some(tier.pause_frames as f64), false),
];

fn is_zero(value: Option<f64>) -> bool {
    value.is_none_or(|value| value == 0.0)
}

/// The table. Rows in which nothing happened and columns that are zero everywhere are folded.
pub(super) fn table(summaries: &[Summary]) -> String {
    let tiers = || summaries.iter().flat_map(|one| one.tiers.iter().map(move |tier| (one, tier)));
    let idle = |tier: &TierSummary| COLUMNS.iter().skip(1).all(|(_, get, _)| is_zero(get(tier)));
    let zero = |get: &Get<TierSummary>| tiers().all(|(_, tier)| is_zero(get(tier)));
    let queued = summaries.iter().any(|one| one.flow_level.is_none());
    let stays = |name: &str, stays: bool| stays && (queued || !name.starts_with("queue"));
    let (shown, left): (Vec<_>, Vec<_>) =
        COLUMNS.iter().partition(|(name, get, always)| stays(name, *always) || !zero(get));
    let (busy, still): (Vec<_>, Vec<_>) = tiers().partition(|(_, tier)| !idle(tier));
    let direction = |tier: &TierSummary| if tier.upward { "up" } else { "down" };
    let name = |(summary, tier): &(&Summary, &TierSummary)| {
        format!("{}: {} {}", summary.label, tier.tier, direction(tier))
    };
    let still: Vec<String> = still.iter().map(name).collect();
    let numbers: Vec<&TierSummary> = busy.iter().map(|(_, tier)| *tier).collect();
    let numbers = cells(shown.iter().map(|(_, get, _)| get), &numbers);
    let row = |((summary, tier), cells): (&(&Summary, &TierSummary), String)| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{} {}</td>{cells}</tr>\n",
            escape(&summary.label),
            escape(&tier.tier),
            direction(tier)
        )
    };
    let rows: String = busy.iter().zip(numbers).map(row).collect();
    if rows.is_empty() && still.is_empty() {
        return rows;
    }
    let heads = heads(shown.iter().map(|(name, _, _)| *name));
    let left: Vec<&str> = left.iter().map(|(name, _, _)| *name).collect();
    let still: Vec<&str> = still.iter().map(String::as_str).collect();
    format!(
        "<h2>Ports by tier</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>run</th><th \
         class=\"text\">tier</th>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n{}{}\
         <p class=\"caption\">From the start of the first flow to the end. Use: bytes sent over link capacity. Imbalance: what the busiest uplink of a switch carries \
         over the mean of its uplinks, by interval or with the whole run as one, mean over switches. Queue: \
         charged bytes waiting; p99 over time, of the port where it is largest. Paused: summed over \
         ports.</p>\n",
        folded("columns are", &left),
        folded("rows are", &still)
    )
}

/// What is zero in every run, folded.
pub(super) fn folded(what: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let (count, names) = (names.len(), escape(&names.join("; ")));
    let what = if count == 1 { what.replace("s are", " is") } else { what.to_string() };
    format!(
        "<details class=\"fold\"><summary>{count} {what} zero in every run</summary><p>{names}</p>\
         </details>\n"
    )
}
