//! What is marked in charts over time: failures and repairs of links, and pauses.

use crate::Run;
use crate::chart::{Chart, Strip, Upright};

/// Most lines of link changes.
const CHANGES: usize = 400;
/// Most link changes that are named.
const NAMED: usize = 6;

/// Marks each failure and repair of a link; `unit` is that of the time axis in nanoseconds.
/// All runs of a chart have the same.
pub(super) fn links(chart: &mut Chart, runs: &[&Run], unit: f64) {
    let Some(run) = runs.iter().find(|run| !run.link_changes.is_empty()) else { return };
    let within = |at: &f64| *at <= run.record.ended.as_ns_f64();
    let changes: Vec<_> = run
        .link_changes
        .iter()
        .map(|change| (change.at.as_ns_f64(), change))
        .filter(|(at, _)| within(at))
        .collect();
    if changes.is_empty() {
        return;
    }
    let named = changes.len() <= NAMED;
    for (at, change) in changes.iter().take(CHANGES) {
        let what = if change.up { "repaired" } else { "fails" };
        let text = if named { format!("{} {what}", change.link) } else { String::new() };
        chart.uprights.push(Upright { x: at / unit, text, repaired: change.up });
    }
    let repairs = changes.iter().filter(|(_, change)| change.up).count();
    chart.caption += &format!(
        " Upright lines: links that fail (dashed, {}) and work again (dotted, {repairs}).",
        changes.len() - repairs
    );
    if changes.len() > CHANGES {
        chart.caption += &format!(" The first {CHANGES} are drawn.");
    }
}

/// Adds a strip under the lines: when some port of each run was paused, in nanoseconds. With `several` runs in the
/// chart each strip has the name of its own.
pub(super) fn pauses(
    chart: &mut Chart,
    runs: &[(&str, Vec<(f64, f64)>)],
    several: bool,
    unit: f64,
) {
    for (label, spans) in runs {
        let name = if several { format!("{label} paused") } else { "paused".into() };
        let spans = spans.iter().map(|(from, to)| (from / unit, to / unit)).collect();
        chart.strips.push(Strip { name, says: "some port is paused".into(), spans });
    }
    if !runs.is_empty() {
        chart.caption += " Strip below: when some port of the run was paused (PFC).";
    }
}
