//! Curves of a model: a table, and a page with one chart.

use crate::chart::{Chart, write_charts};
use crate::folder::{FolderError, write_atomic};
use crate::page;
use std::path::Path;

/// Every point as `curve,x,value`, with a head line; numbers as short as they can be read back.
fn csv(chart: &Chart) -> String {
    let rows = chart.lines.iter().flat_map(|line| {
        line.points.iter().map(move |point| format!("{},{},{}\n", line.name, point.x, point.y))
    });
    std::iter::once("curve,x,value\n".to_string()).chain(rows).collect()
}

/// Writes `model.csv`, and `report.html` and `figures/` with the chart; the folder exists.
///
/// # Errors
/// An I/O error.
pub fn write_curves(folder: &Path, chart: &Chart) -> Result<(), FolderError> {
    write_atomic(&folder.join("model.csv"), csv(chart).as_bytes())?;
    let path = folder.join("report.html");
    write_charts(&path, std::slice::from_ref(chart))?;
    let text = page::head(&chart.title) + &page::section(chart) + page::END;
    write_atomic(&path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Line, Point};

    #[test]
    fn table_and_page_hold_every_point() {
        let points = vec![Point::at(0.1, 1.5), Point::at(0.2, 3.0)];
        let curves = Chart {
            name: "model".into(),
            title: "queues <mean>".into(),
            x: Axis::titled("strength"),
            y: Axis::titled("packets"),
            lines: vec![Line { name: "one".into(), points, ..Line::default() }],
            ..Chart::default()
        };
        assert_eq!(csv(&curves), "curve,x,value\none,0.1,1.5\none,0.2,3\n");
        let folder = tempfile::tempdir().unwrap();
        write_curves(folder.path(), &curves).unwrap();
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("queues &lt;mean&gt;") && page.contains("strength"));
        let json = std::fs::read_to_string(folder.path().join("figures/model.json")).unwrap();
        assert!(json.contains("[0.1,0.2]") && json.contains("[1.5,3.0]"), "{json}");
    }
}
