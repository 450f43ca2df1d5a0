//! A picture in the form of a paper's: lines over one axis, with intervals and printed points.

use crate::number::significant;
use crate::svg::{FONT, legend, outline, rgb, within};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{
    AsRangedCoord, KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter,
};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 400);

/// Where a picture is drawn.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

pub use crate::figures::style::looks;

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
    /// Number of its colour and marker; its place among the lines if not given.
    pub style: Option<usize>,
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
    /// Whether the horizontal axis is logarithmic; what lies at 0 or below is then left out.
    pub log_x: bool,
    /// Whether the vertical axis is, in the same way.
    pub log_y: bool,
    /// Places on the horizontal axis with what is written there; round numbers if there are none.
    pub ticks: Vec<(f64, String)>,
}

/// What the horizontal axis adds if there are hollow points.
const HOLLOW: &str = " (hollow: never reaches balance)";
/// The same of lines of many points, which have no markers.
const DASHED: &str = " (dashed: never reaches balance)";
/// Most points of a line whose points have markers.
const MARKED: usize = 30;
/// How far lines with intervals stand apart on a linear axis, as a share of it, so that none hides another.
const APART: f64 = 0.006;

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

/// Places and values that a picture has room for, and the least value of an interval.
struct Room {
    x: (f64, f64),
    y: (f64, f64),
    /// An interval ends at 0 where no value is below.
    floor: f64,
}

impl Room {
    fn of(panel: &Panel) -> Option<Room> {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let printed = || panel.lines.iter().flat_map(|line| &line.printed);
        let xs = points().map(|point| point.x).chain(printed().map(|point| point.0));
        let tops = points().map(|point| point.y + point.half_width.unwrap_or(0.0));
        let floor = if points().any(|point| point.y < 0.0) { f64::NEG_INFINITY } else { 0.0 };
        let lows = points().map(|point| (point.y - point.half_width.unwrap_or(0.0)).max(floor));
        let ys = tops.chain(lows).chain(printed().map(|point| point.1));
        let along = |log: bool, values: &mut dyn Iterator<Item = f64>| match log {
            true => log_limits(values),
            false => limits(values),
        };
        let (x, y) = (along(panel.log_x, &mut { xs })?, along(panel.log_y, &mut { ys })?);
        Some(Room { x, y, floor: if panel.log_y { y.0 } else { floor } })
    }
}

/// Least and largest positive value, a little apart.
fn log_limits(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low * 0.9, high * 1.1))
}

/// The lines with intervals side by side; others, and all on a logarithmic axis, as they are.
fn side_by_side(panel: &Panel, (low, high): (f64, f64)) -> Panel {
    let mut apart = panel.clone();
    let middle = (panel.lines.len() as f64 - 1.0) / 2.0;
    for (at, line) in apart.lines.iter_mut().enumerate() {
        let whiskers = line.points.iter().any(|point| point.half_width.is_some());
        if panel.log_x || line.points.len() > MARKED || !whiskers {
            continue;
        }
        let by = (at as f64 - middle) * APART * (high - low);
        line.points.iter_mut().for_each(|point| point.x += by);
        line.printed.iter_mut().for_each(|(x, _)| *x += by);
    }
    apart
}

fn draw(area: &Area<'_>, panel: &Panel) -> Drawn<()> {
    area.fill(&WHITE)?;
    let area = area.titled(&panel.title, (FONT, 18))?;
    let Some(room) = Room::of(panel) else { return Ok(()) };
    let panel = &side_by_side(panel, room.x);
    let Some(room) = Room::of(panel) else { return Ok(()) };
    let named = panel.lines.iter().enumerate();
    let names: Vec<_> =
        named.map(|(at, line)| (line.style.unwrap_or(at), line.name.as_str())).collect();
    let widest = names.iter().map(|(_, name)| name.chars().count().min(40)).max().unwrap_or(0);
    let (area, beside) = area.split_horizontally(SIZE.0 - (60 + 8 * widest as u32));
    legend(&beside, &names)?;
    let (low, high) = room.y;
    if panel.log_y {
        let y = (low..high).log_scale().with_key_points(within(room.y, &[1.0, 2.0, 5.0]));
        over_x(&area, panel, &room, y)
    } else {
        over_x(&area, panel, &room, low..high)
    }
}

/// The picture with a vertical axis of some scale.
fn over_x<Y>(area: &Area<'_>, panel: &Panel, room: &Room, y: Y) -> Drawn<()>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let (low, high) = room.x;
    let places: Vec<f64> = panel.ticks.iter().map(|(at, _)| *at).collect();
    if panel.log_x {
        let x = (low..high).log_scale().with_key_points(within(room.x, &[1.0]));
        plot(area, panel, room, x, y)
    } else if places.is_empty() {
        plot(area, panel, room, low..high, y)
    } else {
        plot(area, panel, room, Named { range: (low..high).into(), places }, y)
    }
}

/// A linear axis with marks at these places only.
struct Named {
    range: RangedCoordf64,
    places: Vec<f64>,
}

impl Ranged for Named {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.places.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.range()
    }
}

impl ValueFormatter<f64> for Named {
    fn format(value: &f64) -> String {
        significant(*value)
    }
}

/// Axes of some scales, and all lines.
fn plot<X, Y>(area: &Area<'_>, panel: &Panel, room: &Room, x: X, y: Y) -> Drawn<()>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)?;
    let tick = |value: &f64| {
        let named = panel.ticks.iter().find(|(at, _)| at == value);
        named.map_or_else(|| significant(*value), |(_, name)| name.clone())
    };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(format!("{}{}", panel.x, unsteady(panel)))
        .y_desc(&panel.y)
        .x_label_formatter(&tick)
        .y_label_formatter(&|value| significant(*value))
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    for (at, line) in panel.lines.iter().enumerate() {
        let own = line.style.unwrap_or(at);
        let seen = |point: &&Point| {
            let shown = (!panel.log_x || point.x > 0.0) && (!panel.log_y || point.y > 0.0);
            point.y.is_finite() && shown
        };
        let points = || line.points.iter().filter(seen);
        let places = points().map(|point| (point.x, point.y));
        let style = rgb(own).stroke_width(2);
        let marked = line.points.len() <= MARKED;
        if !marked && points().any(|point| point.unsteady) {
            chart.draw_series(DashedLineSeries::new(places.clone(), 6, 4, style))?;
        } else {
            chart.draw_series(LineSeries::new(places.clone(), style))?;
        }
        if marked {
            let marker =
                |place| EmptyElement::at(place) + Polygon::new(outline(own), rgb(own).filled());
            chart.draw_series(places.map(marker))?;
        }
        let whisker = |point: &Point| {
            let width = point.half_width.filter(|width| width.is_finite())?;
            let low = (point.y - width).max(room.floor);
            let ends = [(point.x, low), (point.x, point.y + width)];
            Some(PathElement::new(ends, rgb(own).stroke_width(1)))
        };
        chart.draw_series(points().filter_map(whisker))?;
        let hole = |point: &Point| Circle::new((point.x, point.y), 2, WHITE.filled());
        let hollow = points().filter(|point| point.unsteady && marked);
        chart.draw_series(hollow.map(hole))?;
        for place in &line.printed {
            let square = EmptyElement::at(*place)
                + Rectangle::new([(-5, -5), (5, 5)], rgb(own).stroke_width(2));
            chart.draw_series(std::iter::once(square))?;
        }
    }
    Ok(())
}

/// What the horizontal axis says of runs that never reach balance.
fn unsteady(panel: &Panel) -> String {
    let has = |marked: bool| {
        let mut of = panel.lines.iter().filter(|line| (line.points.len() <= MARKED) == marked);
        of.any(|line| line.points.iter().any(|point| point.unsteady))
    };
    let said = [(true, HOLLOW), (false, DASHED)].into_iter().filter(|(marked, _)| has(*marked));
    said.map(|(_, text)| text).collect()
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
            style: None,
        };
        let (title, x, y) = ("(d) AFCT".into(), "load".into(), "us".into());
        let panel = Panel { title, x, y, lines: vec![line], ..Panel::default() };
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

    /// Of two lines with the same values both can be seen.
    #[test]
    fn lines_with_intervals_stand_side_by_side() {
        let point = |half_width| Point { x: 0.5, y: 5.0, half_width, unsteady: false };
        let line = |half_width| Line { points: vec![point(half_width)], ..Line::default() };
        let places = |half_width, log_x| {
            let lines = vec![line(half_width), line(half_width)];
            let panel = side_by_side(&Panel { lines, log_x, ..Panel::default() }, (0.0, 1.0));
            panel.lines.iter().map(|line| line.points[0].x).collect::<Vec<_>>()
        };
        assert_eq!(places(Some(1.0), false), [0.497, 0.503]);
        assert_eq!(places(None, false), [0.5, 0.5]);
        assert_eq!(places(Some(1.0), true), [0.5, 0.5]);
    }

    /// A distribution has no markers and powers of ten below; one that never reaches balance is dashed.
    #[test]
    fn distributions_have_a_logarithmic_axis_and_tenths_their_sizes() {
        let point = |at: i32, unsteady| Point {
            x: 10f64.powf(f64::from(at) / 20.0),
            y: f64::from(at) / 100.0,
            unsteady,
            ..Point::default()
        };
        let line = |unsteady| Line {
            name: "one".into(),
            points: (0..=100).map(|at| point(at, unsteady)).collect(),
            ..Line::default()
        };
        let panel =
            Panel { x: "us".into(), lines: vec![line(false)], log_x: true, ..Panel::default() };
        let drawn = panel_svg_text(&panel);
        for tick in ["1", "10", "100", "1000", "10000", "100000"] {
            assert!(drawn.contains(&format!("\n{tick}\n")), "{tick}: {drawn}");
        }
        assert!(!drawn.contains("dashed") && drawn.matches("<polygon").count() == 1);
        let dashed = panel_svg_text(&Panel { lines: vec![line(true)], ..panel.clone() });
        assert!(dashed.contains("us (dashed: never reaches balance)"));
        assert!(dashed.matches("<polyline").count() > drawn.matches("<polyline").count() + 10);

        let (x, y) = ("us".into(), "slowdown".into());
        let tall = panel_svg_text(&Panel { x, y, log_y: true, log_x: false, ..panel.clone() });
        for tick in ["0.01", "0.1", "0.5", "1"] {
            assert!(tall.contains(&format!("\n{tick}\n")), "{tick}: {tall}");
        }

        let ticks = vec![(10.0, "1.5 KB".to_string()), (20.0, "2 MB".to_string())];
        let points = vec![
            Point { x: 10.0, y: 1.0, ..Point::default() },
            Point { x: 20.0, y: 2.0, ..Point::default() },
        ];
        let tenths = Line { name: "one".into(), points, ..Line::default() };
        let drawn = panel_svg_text(&Panel { lines: vec![tenths], ticks, ..Panel::default() });
        assert!(drawn.contains("1.5 KB") && drawn.contains("2 MB") && !drawn.contains("\n15\n"));
    }

    /// A line keeps its colour and marker where others are missing.
    #[test]
    fn a_style_is_the_lines_own() {
        let line = |style| {
            let points = vec![Point { x: 1.0, y: 2.0, ..Point::default() }];
            Line { name: "one".into(), points, style, ..Line::default() }
        };
        let drawn = |style| {
            panel_svg_text(&Panel { lines: vec![line(style)], ..Panel::default() }).to_uppercase()
        };
        let colours =
            |text: &str| [0, 3].map(|at| text.contains(crate::figures::style::colour(at)));
        assert_eq!(colours(&drawn(None)), [true, false]);
        assert_eq!(colours(&drawn(Some(3))), [false, true]);
    }
}
