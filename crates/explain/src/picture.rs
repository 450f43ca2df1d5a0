//! A picture over time: window or rate, losses, timeouts.

use crate::control::ControlPoint;
use crate::explanation::Explanation;
use crate::words::{bytes, time};

/// Size of the picture and of the area within its axes.
const SIZE: (f64, f64) = (640.0, 240.0);
const LEFT: f64 = 84.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 12.0;
const FLOOR: f64 = 194.0;
/// Most points of a line.
const POINTS_MOST: usize = 2_000;

const HEAD: &str = "role=\"img\" aria-label=\"Window or rate, losses and silences over time\" \
    font-size=\"13\" fill=\"currentColor\" font-family=\"sans-serif\"><defs><pattern id=\"hatch\" width=\"6\" height=\"6\" \
    patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" stroke=\"#777\" stroke-width=\"1\"/></pattern></defs>";

/// A line: name and values over time.
type Series = (&'static str, Vec<(u64, u64)>);

/// What a congestion control tells over time.
fn series(all: &Explanation) -> Option<Series> {
    fn of<'a>(
        points: impl Iterator<Item = &'a ControlPoint>,
        get: fn(&ControlPoint) -> Option<u64>,
    ) -> Vec<(u64, u64)> {
        points.filter_map(|point| Some((point.after_ps, get(point)?))).collect()
    }
    let source = || all.control.iter().filter(|point| point.end == "source");
    let lines = [
        ("window", of(source(), |point| point.window_bytes)),
        ("rate", of(all.control.iter(), |point| point.rate_bps)),
        ("credits", of(source(), |point| point.credits)),
    ];
    lines.into_iter().find(|(_, points)| points.len() > 1)
}

fn label(name: &str, value: u64) -> String {
    match name {
        "window" => bytes(value),
        "rate" => format!("{:.2} Gb/s", value as f64 / 1e9),
        _ => value.to_string(),
    }
}

/// The place of an instant on the horizontal axis, which is `fct` long.
fn x(at: u64, fct: u64) -> f64 {
    let wide = SIZE.0 - LEFT - RIGHT;
    LEFT + wide * at.min(fct) as f64 / fct.max(1) as f64
}

/// The picture as SVG; `None` if there is nothing to show.
pub(crate) fn svg(all: &Explanation) -> Option<String> {
    let fct = all.flow.fct_ps?;
    let series = series(all);
    if series.is_none() && all.losses.is_empty() && all.silences.is_empty() {
        return None;
    }
    let (width, height) = SIZE;
    let mut out = format!("<svg viewBox=\"0 0 {width} {height}\" {HEAD}");
    for one in &all.silences {
        let (from, to) = (x(one.after_ps, fct), x(one.after_ps + one.ps, fct));
        let (wide, tall) = ((to - from).max(1.0), FLOOR - TOP);
        let (long, until) = (time(one.ps), &one.ended_by);
        out += &format!(
            "<rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{wide:.1}\" height=\"{tall}\" \
             fill=\"url(#hatch)\"><title>no data sent for {long}, until: {until}</title></rect>"
        );
    }
    out += &series.map_or(String::new(), |series| line(&series, fct));
    out += &marks(all, fct);
    let right = width - RIGHT;
    let below = FLOOR + 18.0;
    out += &format!(
        "<path d=\"M{LEFT} {TOP}V{FLOOR}H{right}\" fill=\"none\" stroke=\"currentColor\"/><text x=\"{LEFT}\" \
         y=\"{below}\">start</text><text x=\"{right}\" y=\"{below}\" text-anchor=\"end\">{} after the \
         start</text></svg>",
        time(fct)
    );
    Some(out)
}

/// A value over time, in steps.
fn line((name, points): &Series, fct: u64) -> String {
    let most = points.iter().map(|point| point.1).max().unwrap_or(1).max(1);
    let y = |value: u64| FLOOR - (FLOOR - TOP) * value as f64 / most as f64;
    let mut path = String::new();
    for (after, value) in points.iter().step_by(points.len().div_ceil(POINTS_MOST)) {
        let (x, y) = (x(*after, fct), y(*value));
        path += &match path.is_empty() {
            true => format!("M{x:.1} {y:.1}"),
            false => format!("H{x:.1}V{y:.1}"),
        };
    }
    let (end, middle) = (x(fct, fct), (TOP + FLOOR) / 2.0);
    let (beside, high, label) = (LEFT - 4.0, TOP + 10.0, label(name, most));
    format!(
        "<path d=\"{path}H{end:.1}\" fill=\"none\" stroke=\"#3a7fc4\" stroke-width=\"2\"/><text \
         x=\"{beside}\" y=\"{high}\" text-anchor=\"end\">{label}</text><text x=\"16\" y=\"{middle}\" \
         text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\">{name}</text>"
    )
}

/// Losses and timeouts.
fn marks(all: &Explanation, fct: u64) -> String {
    let mut out = String::new();
    for loss in &all.losses {
        let at = x(loss.after_ps, fct);
        let (left, right, low, high) = (at - 5.0, at + 5.0, FLOOR - 5.0, FLOOR + 5.0);
        out += &format!(
            "<path d=\"M{left:.1} {low}L{right:.1} {high}M{right:.1} {low}L{left:.1} {high}\" \
             stroke=\"currentColor\" stroke-width=\"2\"><title>{} {} {} at {}</title></path>",
            loss.packet,
            loss.number,
            loss.how,
            loss.port.replace('>', "&gt;")
        );
    }
    for point in all.control.iter().filter(|point| point.event == "timeout") {
        let at = x(point.after_ps, fct);
        let (beside, high) = (at - 3.0, TOP + 10.0);
        out += &format!(
            "<path d=\"M{at:.1} {TOP}V{FLOOR}\" stroke=\"currentColor\" stroke-width=\"1.5\" \
             stroke-dasharray=\"5 3\"/><text x=\"{beside:.1}\" y=\"{high}\" text-anchor=\"end\">timeout\
             </text>"
        );
    }
    out
}
