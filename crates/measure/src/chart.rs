//! A chart as data: lines of points, how they are marked, and their axes. Everything that draws takes one: the page
//! ([`Chart::plotly`]), a picture for documents ([`Chart::svg`]), and other tools, which read its [`Chart::frame`].

mod plotly;
pub(crate) mod style;
mod svg;

pub use style::{COLOURS, looks, ratio_ticks};

use crate::folder::{FolderError, at, write_atomic};
use crate::frame::{Frame, Values};
use std::path::Path;

/// A chart. Its texts are plain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Its name, fit for a file: `slowdown_by_size`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is shown, in a sentence or two.
    pub caption: String,
    /// The horizontal axis, the same in all small multiples.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Titles of its small multiples; none if it is one picture.
    pub panels: Vec<String>,
    /// The lines; those of one name look alike in all small multiples.
    pub lines: Vec<Line>,
    /// What hollow points have in common, in a few words; a picture says so at its horizontal axis.
    pub hollow: &'static str,
    /// Instants that are marked.
    pub uprights: Vec<Upright>,
    /// Spans of time under the lines.
    pub strips: Vec<Strip>,
    /// What a reader may have the lines show instead; the first is what they show.
    pub choices: Vec<Choice>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is along it.
    pub title: String,
    /// The unit of its values; empty if they have none.
    pub unit: String,
    /// How places follow from values.
    pub scale: Scale,
    /// Places with what is written there; round numbers if not given.
    pub ticks: Option<Vec<(f64, String)>>,
    /// Its ends; those of the values if not given.
    pub range: Option<(f64, f64)>,
}

/// How places on an axis follow from values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally long.
    #[default]
    Linear,
    /// The same, and the axis begins at 0.
    FromZero,
    /// The same, with a line through 0: values are differences.
    AroundZero,
    /// Equal factors are equally long; what lies at 0 or below has no place.
    Log,
}

impl Scale {
    /// A logarithmic scale, or a linear one.
    pub fn log(log: bool) -> Scale {
        if log { Scale::Log } else { Scale::Linear }
    }
}

impl Axis {
    /// A linear axis of this title.
    pub fn titled(title: &str) -> Axis {
        Axis { title: title.into(), ..Axis::default() }
    }

    /// The same on another scale.
    pub fn scaled(self, scale: Scale) -> Axis {
        Axis { scale, ..self }
    }

    /// The same with these ticks.
    pub fn ticks(self, ticks: Vec<(f64, String)>) -> Axis {
        Axis { ticks: Some(ticks), ..self }
    }

    /// The title with its unit.
    pub fn label(&self) -> String {
        match self.unit.as_str() {
            "" => self.title.clone(),
            unit => format!("{} ({unit})", self.title),
        }
    }

    /// Whether it is logarithmic.
    pub fn is_log(&self) -> bool {
        self.scale == Scale::Log
    }
}

/// How the points of a line are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Joined, each with a marker.
    #[default]
    Marked,
    /// Joined only: there are many.
    Plain,
    /// Markers only: places are names.
    Points,
    /// Parts of bars that lie on each other from left to right, of a colour and pattern of their own.
    Bar(&'static str, &'static str),
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Place.
    pub x: f64,
    /// Value.
    pub y: f64,
    /// The ends of its 95 % confidence interval.
    pub between: Option<(f64, f64)>,
    /// Drawn hollow.
    pub hollow: bool,
    /// What a reader is told who points at it; its numbers if empty.
    pub says: String,
}

impl Point {
    /// A value at a place.
    pub fn at(x: f64, y: f64) -> Point {
        Point { x, y, ..Point::default() }
    }

    /// The same with an interval of this half width.
    pub fn within(self, half_width: Option<f64>) -> Point {
        Point { between: half_width.map(|width| (self.y - width, self.y + width)), ..self }
    }
}

/// A line of a chart, in one of its small multiples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Number of its colour and marker.
    pub look: usize,
    /// The small multiple that it is in.
    pub panel: usize,
    /// What is shown, in order.
    pub points: Vec<Point>,
    /// How.
    pub mark: Mark,
    /// What a paper prints: place and value, drawn as open squares.
    pub printed: Vec<(f64, f64)>,
}

/// An upright line through all lines: a link that fails, or works again.
#[derive(Clone, Debug, PartialEq)]
pub struct Upright {
    /// Place on the horizontal axis.
    pub x: f64,
    /// What is written at it; empty where texts would cover the lines.
    pub text: String,
    /// It works again, after it failed.
    pub repaired: bool,
}

/// Spans of time during which something held, in a row of its own under the lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Its name beside it.
    pub name: String,
    /// What holds in the spans, of which line.
    pub says: String,
    /// From and to.
    pub spans: Vec<(f64, f64)>,
}

/// Other values of all lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// The values of each line.
    pub values: Vec<Vec<f64>>,
}

impl Chart {
    /// Its lines with the looks of their names: a transport has the same colour in every chart. Lines of one name look alike.
    pub fn coloured(mut self) -> Chart {
        let mut names: Vec<&str> = Vec::new();
        for line in &self.lines {
            if !names.contains(&line.name.as_str()) {
                names.push(&line.name);
            }
        }
        let all = looks(names.iter().copied());
        let place = |line: &Line| names.iter().position(|name| *name == line.name);
        let own: Vec<usize> =
            self.lines.iter().map(|line| all[place(line).expect("it is known")]).collect();
        self.lines.iter_mut().zip(own).for_each(|(line, look)| line.look = look);
        self
    }

    /// What is drawn as a table: a row per point, in order of the lines.
    pub fn frame(&self) -> Frame {
        let rows =
            || self.lines.iter().flat_map(|line| line.points.iter().map(move |at| (line, at)));
        let floats = |value: &dyn Fn(&Point) -> Option<f64>| {
            Values::Float(rows().map(|(_, point)| value(point)).collect())
        };
        let texts = |value: &dyn Fn(&Line) -> String| {
            Values::Text(rows().map(|(line, _)| Some(value(line))).collect())
        };
        let panel = |line: &Line| self.panels.get(line.panel).cloned().unwrap_or_default();
        let mut frame = Frame::default();
        frame.push(
            "panel",
            "",
            "Title of the small multiple; empty of a chart that is one picture.",
            texts(&panel),
        );
        frame.push("line", "", "Name of the line.", texts(&|line| line.name.clone()));
        frame.push("x", &self.x.unit, &self.x.title, floats(&|point| Some(point.x)));
        frame.push("y", &self.y.unit, &self.y.title, floats(&|point| Some(point.y)));
        let ends = "of the 95 % confidence interval; null where there is none.";
        let end = |end: fn((f64, f64)) -> f64| floats(&move |point| point.between.map(end));
        frame.push("low", &self.y.unit, &format!("Lower end {ends}"), end(|ends| ends.0));
        frame.push("high", &self.y.unit, &format!("Upper end {ends}"), end(|ends| ends.1));
        let hollow = rows().map(|(_, point)| Some(point.hollow)).collect();
        frame.push("hollow", "", "Whether the point is drawn hollow.", Values::Flag(hollow));
        frame
    }
}

/// Writes each chart to `figures/<name>.json` beside the page `report`, as Plotly reads it.
///
/// # Errors
/// What the system refuses.
pub fn write_charts(report: &Path, charts: &[Chart]) -> Result<(), FolderError> {
    let folder = report.with_file_name("figures");
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    charts.iter().try_for_each(|chart| {
        let text = chart.plotly().to_string();
        write_atomic(&folder.join(format!("{}.json", chart.name)), text.as_bytes())
    })
}

#[cfg(test)]
mod tests;
