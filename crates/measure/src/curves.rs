//! Curves of a model: a table, and a page with one figure.

use crate::figures::style::{self, Stroke};
use crate::figures::{Figure, write_figures};
use crate::folder::{FolderError, write_atomic};
use crate::number::escape;
use crate::page;
use plotly::Plot;
use std::path::Path;

/// A named line of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Place and value.
    pub points: Vec<(f64, f64)>,
}

/// Curves over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What they show.
    pub title: String,
    /// Title of the horizontal axis.
    pub x: String,
    /// Title of the vertical axis.
    pub y: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Curves {
    /// Every point as `curve,x,value`, with a head line; numbers as short as they can be read back.
    pub fn csv(&self) -> String {
        let mut out = "curve,x,value\n".to_string();
        for curve in &self.curves {
            for (x, value) in &curve.points {
                out += &format!("{},{x},{value}\n", curve.name);
            }
        }
        out
    }

    /// Writes `model.csv`, and `report.html` and `figures/model.json`; the folder exists.
    ///
    /// # Errors
    /// An I/O error.
    pub fn write(&self, folder: &Path) -> Result<(), FolderError> {
        write_atomic(&folder.join("model.csv"), self.csv().as_bytes())?;
        let figure = self.figure();
        let path = folder.join("report.html");
        write_figures(&path, std::slice::from_ref(&figure))?;
        let text = page::head(&self.title) + &page::section(&figure) + page::END;
        write_atomic(&path, text.as_bytes())
    }

    fn figure(&self) -> Figure {
        let title = escape(&self.title);
        let mut plot = Plot::new();
        let (x, y) = (style::axis(&escape(&self.x)), style::axis(&escape(&self.y)));
        plot.set_layout(style::layout(&title, x, y, 440));
        for (at, curve) in self.curves.iter().enumerate() {
            let points = curve.points.iter().copied().unzip();
            plot.add_trace(style::scatter(at, &curve.name, points, Stroke::Marked));
        }
        let caption = "Values of the model's equations; model.csv has the same numbers.";
        Figure::new("model", &title, caption.to_string(), 440, &plot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_page_hold_every_point() {
        let curves = Curves {
            title: "queues <mean>".into(),
            x: "strength".into(),
            y: "packets".into(),
            curves: vec![Curve { name: "one".into(), points: vec![(0.1, 1.5), (0.2, 3.0)] }],
        };
        assert_eq!(curves.csv(), "curve,x,value\none,0.1,1.5\none,0.2,3\n");
        let folder = tempfile::tempdir().unwrap();
        curves.write(folder.path()).unwrap();
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("queues &lt;mean&gt;") && page.contains("strength"));
        let json = std::fs::read_to_string(folder.path().join("figures/model.json")).unwrap();
        assert!(json.contains("[0.1,0.2]") && json.contains("[1.5,3.0]"), "{json}");
    }
}
