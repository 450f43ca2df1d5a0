//! A picture in the form of a paper's: lines over one axis, with intervals and printed points.

use crate::number::significant;
use crate::svg::{FONT, legend, rgb};
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 400);

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// A measured point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Place.
    pub x: f64,
    /// Value.
    pub y: f64,
    /// Half width of its interval.
    pub half_width: Option<f64>,
    /// Its run never reaches balance: drawn hollow, which the horizontal axis says.
    pub unsteady: bool,
}

/// A line of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// What was measured, in order of place.
    pub points: Vec<Point>,
    /// What the paper prints: place and value, drawn as open squares.
    pub printed: Vec<(f64, f64)>,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// Title of the horizontal axis.
    pub x: String,
    /// Title of the vertical axis.
    pub y: String,
    /// The lines.
    pub lines: Vec<Line>,
}

/// What the horizontal axis adds if there are hollow points.
const HOLLOW: &str = " (hollow: never reaches balance)";

/// The picture as SVG. Without a point it has a title only.
pub fn panel_svg_text(panel: &Panel) -> String {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    // Drawing to a string fails only if a coordinate is wrong, and those are ours.
    draw(&area, panel).expect("drawing to a string");
    area.present().expect("drawing to a string");
    drop(area);
    text
}

/// Least and largest value, a little apart; from 0 if all are positive.
fn limits(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = 0.05 * (high - low.min(0.0)).max(1e-9);
    (!values.is_empty()).then_some((if low >= 0.0 { 0.0 } else { low - margin }, high + margin))
}

fn draw(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Drawn<()> {
    area.fill(&WHITE)?;
    let area = area.titled(&panel.title, (FONT, 18))?;
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let printed = || panel.lines.iter().flat_map(|line| &line.printed);
    let xs = points().map(|point| point.x).chain(printed().map(|point| point.0));
    let tops = points().map(|point| point.y + point.half_width.unwrap_or(0.0));
    // An interval ends at 0 where no value is below.
    let floor = if points().any(|point| point.y < 0.0) { f64::NEG_INFINITY } else { 0.0 };
    let lows = points().map(|point| (point.y - point.half_width.unwrap_or(0.0)).max(floor));
    let ys = tops.chain(lows).chain(printed().map(|point| point.1));
    let (Some(x), Some(y)) = (limits(xs), limits(ys)) else { return Ok(()) };
    let names: Vec<&str> = panel.lines.iter().map(|line| line.name.as_str()).collect();
    let widest = names.iter().map(|name| name.chars().count().min(40)).max().unwrap_or(0);
    let (area, beside) = area.split_horizontally(SIZE.0 - (60 + 8 * widest as u32));
    legend(&beside, &names, false)?;
    let hollow = if points().any(|point| point.unsteady) { HOLLOW } else { "" };
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(70)
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(format!("{}{hollow}", panel.x))
        .y_desc(&panel.y)
        .x_label_formatter(&|value| significant(*value))
        .y_label_formatter(&|value| significant(*value))
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    for (at, line) in panel.lines.iter().enumerate() {
        let points = || line.points.iter().filter(|point| point.y.is_finite());
        let places = points().map(|point| (point.x, point.y));
        chart.draw_series(LineSeries::new(places.clone(), rgb(at).stroke_width(2)))?;
        // A line of many points, as over time, needs no markers.
        if line.points.len() <= 30 {
            chart.draw_series(places.map(|place| Circle::new(place, 4, rgb(at).filled())))?;
        }
        let whisker = |point: &Point| {
            let width = point.half_width.filter(|width| width.is_finite())?;
            let low = (point.y - width).max(floor);
            let ends = [(point.x, low), (point.x, point.y + width)];
            Some(PathElement::new(ends, rgb(at).stroke_width(1)))
        };
        chart.draw_series(points().filter_map(whisker))?;
        let hole = |point: &Point| Circle::new((point.x, point.y), 2, WHITE.filled());
        chart.draw_series(points().filter(|point| point.unsteady).map(hole))?;
        for place in &line.printed {
            let square = EmptyElement::at(*place)
                + Rectangle::new([(-5, -5), (5, 5)], rgb(at).stroke_width(2));
            chart.draw_series(std::iter::once(square))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_intervals_and_printed_points_are_drawn() {
        let point = |x, y, half_width| Point { x, y, half_width, unsteady: false };
        let line = Line {
            name: "one".into(),
            points: vec![point(0.1, 5.0, Some(1.0)), point(0.7, 9.0, None)],
            printed: vec![(0.7, 12.0)],
        };
        let panel =
            Panel { title: "(d) AFCT".into(), x: "load".into(), y: "us".into(), lines: vec![line] };
        let drawn = panel_svg_text(&panel);
        for part in ["(d) AFCT", "load", "us", "one"] {
            assert!(drawn.contains(part), "{part}");
        }
        assert!(!drawn.contains("hollow"));
        let mut never = panel.clone();
        never.lines[0].points[1].unsteady = true;
        let never = panel_svg_text(&never);
        assert!(never.contains("load (hollow: never reaches balance)"));
        assert_eq!(never.matches("<circle").count(), drawn.matches("<circle").count() + 1);
        let without =
            Panel { lines: vec![Line { printed: vec![], ..panel.lines[0].clone() }], ..panel };
        assert_ne!(drawn, panel_svg_text(&without), "the printed point shows");
        let empty = panel_svg_text(&Panel { lines: vec![], ..without });
        assert!(empty.contains("(d) AFCT") && !empty.contains("load"));
    }
}
