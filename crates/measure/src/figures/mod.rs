//! Figures of a report. Each is a Plotly figure, kept as JSON too, so that other tools open the
//! very same picture.

mod figure;
mod flows;
mod lines;
mod marks;
pub(crate) mod multiples;
pub(crate) mod style;
mod time;

pub use figure::Figure;
pub(crate) use flows::PARTS;
pub use flows::by_size_frame;
pub(crate) use lines::{Line, SizeBin, lines};

use crate::Run;
use crate::folder::{FolderError, at, write_atomic};
use std::path::Path;

/// The figures of some runs: completion time and slowdown by size, where the time went,
/// distribution of the slowdown, throughput, queues and imbalance over time. Figures without data are left out.
pub fn figures(runs: &[Run]) -> Vec<Figure> {
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

/// Writes each figure to `figures/<name>.json` beside the page `report`.
///
/// # Errors
/// What the system refuses.
pub fn write_figures(report: &Path, figures: &[Figure]) -> Result<(), FolderError> {
    let folder = report.with_file_name("figures");
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    figures.iter().try_for_each(|figure| {
        let text = figure.plot.to_string();
        write_atomic(&folder.join(format!("{}.json", figure.name)), text.as_bytes())
    })
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
