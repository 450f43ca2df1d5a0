//! A small picture for documents: the 99th percentile of the slowdown by size of the flow.

use crate::Run;
use crate::figures::style::{COLOURS, colour, decades, looks};
use crate::figures::{SizeBin, lines};
use crate::folder::{FolderError, write_atomic};
use crate::number::{significant, size};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

pub(crate) const FONT: &str = "Helvetica, Arial, sans-serif";
const SIZE: (u32, u32) = (900, 480);

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// Writes [`summary_svg_text`] to a file, atomically.
pub fn summary_svg(path: &Path, title: &str, runs: &[Run]) -> Result<(), FolderError> {
    write_atomic(path, summary_svg_text(title, runs).as_bytes())
}

/// The 99th percentile of the slowdown by size of the flow, one line per label (or per label and
/// transport), as SVG. Without a completed flow it is an empty picture with a title.
pub fn summary_svg_text(title: &str, runs: &[Run]) -> String {
    let lines: Vec<(String, Vec<SizeBin>)> =
        lines(runs).iter().map(|line| (line.name.clone(), line.by_size())).collect();
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    // Drawing to a string fails only if a coordinate is wrong, and those are ours.
    draw(&area, title, &lines).expect("drawing to a string");
    area.present().expect("drawing to a string");
    drop(area);
    text
}

pub(crate) fn rgb(line: usize) -> RGBColor {
    let hex = u32::from_str_radix(&colour(line)[1..], 16).expect("colours are six hex digits");
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

fn draw(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    lines: &[(String, Vec<SizeBin>)],
) -> Drawn<()> {
    area.fill(&WHITE)?;
    let area = area.titled(title, (FONT, 22))?;
    let bins = || lines.iter().flat_map(|(_, bins)| bins);
    let limits = |value: fn(&SizeBin) -> f64| {
        let low = bins().map(value).fold(f64::MAX, f64::min);
        (low, bins().map(value).fold(low, f64::max))
    };
    if bins().next().is_none() {
        return Ok(());
    }
    let ((x0, x1), (y0, y1)) = (limits(|bin| bin.size), limits(|bin| bin.slowdown[1]));
    let (x, y) = ((x0 * 0.8, x1 * 1.25), (y0.min(1.0) * 0.9, y1.max(2.0) * 1.15));
    // The legend has a column of its own, where it cannot cover a line.
    let widest = lines.iter().map(|(name, _)| name.chars().count().min(40)).max().unwrap_or(0);
    let (area, beside) = area.split_horizontally(SIZE.0 - (60 + 8 * widest as u32));
    let names = || lines.iter().map(|(name, _)| name.as_str());
    let looks = looks(names());
    let names: Vec<_> = looks.iter().copied().zip(names()).collect();
    legend(&beside, &names)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(50)
        .y_label_area_size(64)
        .build_cartesian_2d(
            (x.0..x.1).log_scale().with_key_points(within(x, &[1.0])),
            (y.0..y.1).log_scale().with_key_points(within(y, &[1.0, 2.0, 5.0])),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("flow size (payload)")
        .y_desc("slowdown, 99th percentile")
        .x_label_formatter(&|bytes| size(*bytes))
        .y_label_formatter(&|slowdown| significant(*slowdown))
        .label_style((FONT, 15))
        .axis_desc_style((FONT, 16))
        .draw()?;
    for (at, (_, bins)) in looks.into_iter().zip(lines) {
        let points = bins.iter().map(|bin| (bin.size, bin.slowdown[1]));
        chart.draw_series(LineSeries::new(points.clone(), rgb(at).stroke_width(2)))?;
        let marker = |place| EmptyElement::at(place) + Polygon::new(outline(at), rgb(at).filled());
        chart.draw_series(points.map(marker))?;
    }
    Ok(())
}

/// The outline of the marker of a line, which tells it apart in grey too; they repeat after seven,
/// with another colour.
pub(crate) fn outline(line: usize) -> Vec<(i32, i32)> {
    match (line + line / COLOURS.len()) % COLOURS.len() {
        0 => vec![(0, -5), (3, -4), (5, 0), (3, 4), (0, 5), (-3, 4), (-5, 0), (-3, -4)],
        1 => vec![(-4, -4), (4, -4), (4, 4), (-4, 4)],
        2 => vec![(0, -6), (6, 0), (0, 6), (-6, 0)],
        3 => vec![(0, -6), (6, 5), (-6, 5)],
        4 => [(-2, -6), (2, -6), (2, -2), (6, -2), (6, 2), (2, 2), (2, 6), (-2, 6), (-2, 2)]
            .into_iter()
            .chain([(-6, 2), (-6, -2), (-2, -2)])
            .collect(),
        5 => vec![(0, 6), (6, -5), (-6, -5)],
        _ => vec![(-6, -3), (6, -3), (6, 3), (-6, 3)],
    }
}

/// The names of lines with their styles, one below the other.
pub(crate) fn legend(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    lines: &[(usize, &str)],
) -> Drawn<()> {
    for (at, (style, name)) in lines.iter().enumerate() {
        let y = 24 + 24 * at as i32;
        area.draw(&PathElement::new([(4, y), (30, y)], rgb(*style).stroke_width(2)))?;
        let filled = rgb(*style).filled();
        area.draw(&(EmptyElement::at((17, y)) + Polygon::new(outline(*style), filled)))?;
        let short: String = name.chars().take(40).collect();
        area.draw(&Text::new(short, (38, y - 8), (FONT, 15)))?;
    }
    Ok(())
}

/// Decades times steps that lie between the limits.
pub(crate) fn within((low, high): (f64, f64), steps: &[f64]) -> Vec<f64> {
    let all = decades(low, high).into_iter();
    let all = all.flat_map(|decade| steps.iter().map(move |step| decade * step));
    all.filter(|at| (low..=high).contains(at)).collect()
}
