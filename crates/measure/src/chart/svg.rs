//! A chart as a picture for documents, as SVG: its lines in one picture, with intervals and printed points.

use super::style::{colour, decades, marker};
use super::{Axis, Chart, Line, Mark, Point};
use crate::number::significant;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

const FONT: &str = "Helvetica, Arial, sans-serif";
const SIZE: (u32, u32) = (720, 400);
/// Most points of a line whose points have markers.
const MARKED: usize = 30;
/// How far lines with intervals stand apart on a linear axis, as a share of it, so that none hides another.
const APART: f64 = 0.006;

/// Where a picture is drawn.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

impl Chart {
    /// The picture. Without a point it has a title only.
    pub fn svg(&self) -> String {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        // Drawing to a string fails only if a coordinate is wrong, and those are ours.
        draw(&area, self).expect("drawing to a string");
        area.present().expect("drawing to a string");
        drop(area);
        text
    }
}

/// Whether the points of a line have markers.
fn marked(line: &Line) -> bool {
    line.mark != Mark::Plain && line.points.len() <= MARKED
}

/// Least and largest value, a little apart; of a linear axis from 0 if all are positive.
fn limits(axis: &Axis, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    if axis.range.is_some() {
        return axis.range;
    }
    let placed = |value: &f64| value.is_finite() && (!axis.is_log() || *value > 0.0);
    let values: Vec<f64> = values.filter(placed).collect();
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    if axis.is_log() {
        return Some((low * 0.9, high * 1.1));
    }
    let margin = 0.05 * (high - low.min(0.0)).max(1e-9);
    Some((if low >= 0.0 { 0.0 } else { low - margin }, high + margin))
}

/// Places and values that a picture has room for, and the least value of an interval.
struct Room {
    x: (f64, f64),
    y: (f64, f64),
    /// An interval ends at 0 where no value is below.
    floor: f64,
}

impl Room {
    fn of(chart: &Chart) -> Option<Room> {
        let points = || chart.lines.iter().flat_map(|line| &line.points);
        let printed = || chart.lines.iter().flat_map(|line| &line.printed);
        let xs = points().map(|point| point.x).chain(printed().map(|point| point.0));
        let tops = points().map(|point| point.between.map_or(point.y, |ends| ends.1));
        let floor = if points().any(|point| point.y < 0.0) { f64::NEG_INFINITY } else { 0.0 };
        let lows = points().map(|point| point.between.map_or(point.y, |ends| ends.0).max(floor));
        let ys = tops.chain(lows).chain(printed().map(|point| point.1));
        let (x, y) = (limits(&chart.x, xs)?, limits(&chart.y, ys)?);
        Some(Room { x, y, floor: if chart.y.is_log() { y.0 } else { floor } })
    }
}

/// The lines with intervals side by side; others, and all on a logarithmic axis, as they are.
fn side_by_side(chart: &Chart, (low, high): (f64, f64)) -> Chart {
    let mut apart = chart.clone();
    let middle = (chart.lines.len() as f64 - 1.0) / 2.0;
    for (at, line) in apart.lines.iter_mut().enumerate() {
        let whiskers = line.points.iter().any(|point| point.between.is_some());
        if chart.x.is_log() || !marked(line) || !whiskers {
            continue;
        }
        let by = (at as f64 - middle) * APART * (high - low);
        line.points.iter_mut().for_each(|point| point.x += by);
        line.printed.iter_mut().for_each(|(x, _)| *x += by);
    }
    apart
}

/// Places along an axis.
struct Along {
    /// Over the values, or over their logarithms.
    line: RangedCoordf64,
    ends: (f64, f64),
    log: bool,
    /// Where its ticks are; round numbers if not given.
    ticks: Option<Vec<f64>>,
}

impl Along {
    /// Of these ends. A logarithmic one without ticks has them at the powers of ten times these steps.
    fn of(axis: &Axis, ends: (f64, f64), steps: &[f64]) -> Along {
        let named = axis.ticks.as_ref().map(|ticks| ticks.iter().map(|(at, _)| *at).collect());
        let within = |at: &f64| (ends.0..=ends.1).contains(at);
        let (line, ticks) = match axis.is_log() {
            true => {
                let all = || decades(ends.0, ends.1).into_iter();
                let round = || all().flat_map(|decade| steps.iter().map(move |step| decade * step));
                let ticks: Vec<f64> = named.unwrap_or_else(|| round().collect());
                (ends.0.ln()..ends.1.ln(), Some(ticks.into_iter().filter(within).collect()))
            }
            false => (ends.0..ends.1, named),
        };
        Along { line: line.into(), ends, log: axis.is_log(), ticks }
    }
}

impl Ranged for Along {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.line.map(&if self.log { value.ln() } else { *value }, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.ticks.clone().unwrap_or_else(|| self.line.key_points(hint))
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl ValueFormatter<f64> for Along {
    fn format(value: &f64) -> String {
        significant(*value)
    }
}

/// What is written at a tick.
fn tick(axis: &Axis, value: f64) -> String {
    let named = axis.ticks.iter().flatten().find(|(at, _)| *at == value);
    named.map_or_else(|| significant(value), |(_, name)| name.clone())
}

fn draw(area: &Area<'_>, chart: &Chart) -> Drawn<()> {
    area.fill(&WHITE)?;
    let area = area.titled(&chart.title, (FONT, 18))?;
    let Some(room) = Room::of(chart) else { return Ok(()) };
    let chart = &side_by_side(chart, room.x);
    let Some(room) = Room::of(chart) else { return Ok(()) };
    let widest = chart.lines.iter().map(|line| line.name.chars().count().min(40)).max();
    // The legend has a column of its own, where it cannot cover a line.
    let (area, beside) = area.split_horizontally(SIZE.0 - (60 + 8 * widest.unwrap_or(0) as u32));
    legend(&beside, &chart.lines)?;
    let x = Along::of(&chart.x, room.x, &[1.0]);
    let y = Along::of(&chart.y, room.y, &[1.0, 2.0, 5.0]);
    let mut drawn = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)?;
    drawn
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(format!("{}{}", chart.x.label(), hollow(chart)))
        .y_desc(chart.y.label())
        .x_label_formatter(&|value| tick(&chart.x, *value))
        .y_label_formatter(&|value| tick(&chart.y, *value))
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    for line in &chart.lines {
        draw_line(&mut drawn, chart, &room, line)?;
    }
    Ok(())
}

fn draw_line(
    drawn: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<Along, Along>>,
    chart: &Chart,
    room: &Room,
    line: &Line,
) -> Drawn<()> {
    let seen = |point: &&Point| {
        let placed = (!chart.x.is_log() || point.x > 0.0) && (!chart.y.is_log() || point.y > 0.0);
        point.y.is_finite() && placed
    };
    let points = || line.points.iter().filter(seen);
    let places = points().map(|point| (point.x, point.y));
    let (own, style) = (rgb(line.look), rgb(line.look).stroke_width(2));
    if !marked(line) && points().any(|point| point.hollow) {
        drawn.draw_series(DashedLineSeries::new(places.clone(), 6, 4, style))?;
    } else {
        drawn.draw_series(LineSeries::new(places.clone(), style))?;
    }
    if marked(line) {
        let marker =
            |place| EmptyElement::at(place) + Polygon::new(outline(line.look), own.filled());
        drawn.draw_series(places.map(marker))?;
    }
    let whisker = |point: &Point| {
        let (low, high) = point.between.filter(|ends| ends.1.is_finite())?;
        let ends = [(point.x, low.max(room.floor)), (point.x, high)];
        Some(PathElement::new(ends, own.stroke_width(1)))
    };
    drawn.draw_series(points().filter_map(whisker))?;
    let hole = |point: &Point| Circle::new((point.x, point.y), 2, WHITE.filled());
    drawn.draw_series(points().filter(|point| point.hollow && marked(line)).map(hole))?;
    let square = |place: &(f64, f64)| {
        EmptyElement::at(*place) + Rectangle::new([(-5, -5), (5, 5)], own.stroke_width(2))
    };
    drawn.draw_series(line.printed.iter().map(square))?;
    Ok(())
}

/// What the horizontal axis says of hollow points, and of lines of many points, which have no markers.
fn hollow(chart: &Chart) -> String {
    let has = |with: bool| {
        let mut of = chart.lines.iter().filter(|line| marked(line) == with);
        of.any(|line| line.points.iter().any(|point| point.hollow))
    };
    let said = [(true, "hollow"), (false, "dashed")].into_iter().filter(|(with, _)| has(*with));
    said.map(|(_, how)| format!(" ({how}: {})", chart.hollow)).collect()
}

fn rgb(line: usize) -> RGBColor {
    let hex = u32::from_str_radix(&colour(line)[1..], 16).expect("colours are six hex digits");
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The outline of the marker of a line, which tells it apart in grey too.
fn outline(line: usize) -> Vec<(i32, i32)> {
    match marker(line) {
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

/// The names of lines with their looks, one below the other.
fn legend(area: &Area<'_>, lines: &[Line]) -> Drawn<()> {
    for (at, line) in lines.iter().enumerate() {
        let (y, own) = (24 + 24 * at as i32, rgb(line.look));
        area.draw(&PathElement::new([(4, y), (30, y)], own.stroke_width(2)))?;
        area.draw(&(EmptyElement::at((17, y)) + Polygon::new(outline(line.look), own.filled())))?;
        let short: String = line.name.chars().take(40).collect();
        area.draw(&Text::new(short, (38, y - 8), (FONT, 15)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Scale;

    /// Of two lines with the same values both can be seen.
    #[test]
    fn lines_with_intervals_stand_side_by_side() {
        let line =
            |width| Line { points: vec![Point::at(0.5, 5.0).within(width)], ..Line::default() };
        let places = |width, scale| {
            let x = Axis::default().scaled(scale);
            let chart = Chart { x, lines: vec![line(width), line(width)], ..Chart::default() };
            let apart = side_by_side(&chart, (0.0, 1.0));
            apart.lines.iter().map(|line| line.points[0].x).collect::<Vec<_>>()
        };
        assert_eq!(places(Some(1.0), Scale::Linear), [0.497, 0.503]);
        assert_eq!(places(None, Scale::Linear), [0.5, 0.5]);
        assert_eq!(places(Some(1.0), Scale::Log), [0.5, 0.5]);
    }
}
