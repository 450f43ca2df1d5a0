//! Figures of a report. Each is a Plotly figure, kept as JSON too, so that other tools open the
//! very same picture.

mod flows;
mod lines;
mod style;
mod time;

pub(crate) use lines::{Line, SizeBin, lines};
pub(crate) use style::{COLOURS, colour, decades};

use crate::Run;
use crate::curves::Curves;
use crate::folder::{FolderError, write_atomic};
use crate::number::escape;
use plotly::Plot;
use serde_json::Value;
use std::path::Path;

/// A picture with what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name, fit for a file: `slowdown_by_size`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is shown, in a sentence or two; plain text.
    pub caption: String,
    /// Height on the page in pixels.
    pub height: usize,
    /// The Plotly figure: an object with `data` and `layout`.
    pub plot: Value,
}

impl Figure {
    fn new(name: &str, title: &str, caption: String, height: usize, plot: &Plot) -> Figure {
        let mut value = serde_json::to_value(plot).expect("a figure becomes JSON");
        if let Value::Object(object) = &mut value {
            // Other readers do not know the configuration, and no figure moves.
            object.remove("config");
            object.remove("frames");
        }
        let (name, title) = (name.to_string(), title.to_string());
        Figure { name, title, caption, height, plot: value }
    }
}

/// The figures of some runs: completion time and slowdown
/// by size, where the time went, distribution of the slowdown, throughput and queues over time.
/// Figures without data are left out.
pub fn figures(runs: &[Run]) -> Vec<Figure> {
    let lines = lines(runs);
    let mut all = Vec::new();
    all.extend(flows::by_size(&lines));
    all.extend(flows::breakdown(&lines));
    all.extend(time::throughput(runs));
    all.extend(time::queues(runs));
    all.extend(flows::distribution(&lines));
    all
}

/// The curves of a model in one figure.
pub(crate) fn curves_figure(curves: &Curves) -> Figure {
    let mut plot = Plot::new();
    let (x, y) = (style::axis(&escape(&curves.x)), style::axis(&escape(&curves.y)));
    plot.set_layout(style::layout(&escape(&curves.title), x, y, 440));
    for (at, curve) in curves.curves.iter().enumerate() {
        let points = curve.points.iter().copied().unzip();
        plot.add_trace(style::scatter(at, &curve.name, points, style::Stroke::Marked));
    }
    let caption = "Values of the model's equations; model.csv has the same numbers.";
    Figure::new("model", &escape(&curves.title), caption.to_string(), 440, &plot)
}

/// Writes each figure to `<folder>/<name>.json`; the folder exists.
pub fn write_figures(folder: &Path, figures: &[Figure]) -> Result<(), FolderError> {
    figures.iter().try_for_each(|figure| {
        let text = figure.plot.to_string();
        write_atomic(&folder.join(format!("{}.json", figure.name)), text.as_bytes())
    })
}
