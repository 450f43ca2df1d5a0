//! Charts of a report: each a function of the runs.

mod flows;
mod lines;
mod marks;
mod time;

pub(crate) use flows::{FEW, HOLLOW, PARTS, PERCENTILES, by_size_point};
pub use flows::{breakdown_of, by_size_frame};
pub(crate) use lines::{Line, SizeBin, lines};
pub use time::{fullest_of, over_time};

use crate::Run;
use crate::chart::Chart;

/// The charts of some runs: completion time and slowdown by size, where the time went,
/// distribution of the slowdown, throughput, queues and imbalance over time. Charts without data are left out.
pub fn figures(runs: &[Run]) -> Vec<Chart> {
    let lines = lines(runs);
    let mut all = Vec::new();
    all.extend(flows::by_size(&lines));
    all.extend(flows::breakdown(&lines));
    all.extend(time::throughput(runs));
    all.extend(time::shares(runs));
    all.extend(time::queues(runs));
    all.extend(time::imbalance(runs));
    all.extend(flows::distribution(&lines));
    all
}

/// The 99th percentile of the slowdown by size of the flow, one line per label (or per label and
/// transport), in one picture. Without a completed flow it has a title only.
pub fn summary(title: &str, runs: &[Run]) -> Chart {
    flows::summary(title, &lines(runs))
}

/// Parts of a completion time that a flow has alone, too: sending, serialisation, propagation.
const ALONE: [usize; 3] = [0, 8, 9];

/// Share of the time from which a part is named.
const NAMED: f64 = 0.1;

/// The largest part and its share of all, if that is worth a word.
pub(crate) fn largest(parts: &[f64; 14]) -> Option<(&'static str, f64)> {
    let total: f64 = parts.iter().sum();
    let others = (0..parts.len()).filter(|at| !ALONE.contains(at));
    let most = others.max_by(|a, b| parts[*a].total_cmp(&parts[*b]))?;
    let share = parts[most] / total;
    (share >= NAMED).then_some((PARTS[most].0, share))
}

/// The parts of a completion time in order: name of their column without `_ps`, what they are, colour.
pub fn parts() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let columns = crate::PartMeans::default().named().map(|(name, _)| name);
    columns.into_iter().zip(PARTS).map(|(column, (what, colour, _))| (column, what, colour))
}
