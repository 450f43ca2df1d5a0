//! Curves of a model: a table, and a page with one figure.

use crate::chart::{Axis, Chart, Line, Point, write_charts};
use crate::folder::{FolderError, write_atomic};
use crate::page;
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
        let chart = self.chart();
        let path = folder.join("report.html");
        write_charts(&path, std::slice::from_ref(&chart))?;
        let text = page::head(&self.title) + &page::section(&chart) + page::END;
        write_atomic(&path, text.as_bytes())
    }

    fn chart(&self) -> Chart {
        let line = |(look, curve): (usize, &Curve)| {
            let points = curve.points.iter().map(|(x, y)| Point::at(*x, *y)).collect();
            Line { name: curve.name.clone(), look, points, ..Line::default() }
        };
        Chart {
            name: "model".into(),
            title: self.title.clone(),
            caption: "Values of the model's equations; model.csv has the same numbers.".into(),
            x: Axis::titled(&self.x),
            y: Axis::titled(&self.y),
            lines: self.curves.iter().enumerate().map(line).collect(),
            ..Chart::default()
        }
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
