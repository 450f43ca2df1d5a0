//! One look for all figures.

use crate::number::escape;
use plotly::common::{DashType, Font, Line, Marker, MarkerSymbol, Mode, Title};
use plotly::layout::{Axis, AxisType, HoverMode, Legend, Margin};
use plotly::{Layout, Scatter};

/// Colours of lines: the palette of Okabe and Ito, distinct for colour-blind readers too, without
/// its yellow, which is too pale for a line.
pub(crate) const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

/// The colour of a line; they repeat after seven, then with another marker.
pub(crate) fn colour(line: usize) -> &'static str {
    COLOURS[line % COLOURS.len()]
}

/// Decides the colour of a name. Chosen so that transports that are often compared have colours of their own.
const SEED: u32 = 42_093;

/// The colour that a name has where it can, by its FNV-1a hash. Python and the explorer compute the same.
fn own(name: &str) -> usize {
    let hash =
        name.bytes().fold(SEED, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    ((hash >> 16) ^ hash) as usize % COLOURS.len()
}

/// The looks of lines of these names, as `colour` and `symbol` take them: a transport has the same colour in every figure. A
/// name whose colour another has before it takes the next that is free; after a full turn, the same with another marker.
pub fn looks<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let mut taken: Vec<usize> = Vec::new();
    for name in names {
        let turn = taken.len() / COLOURS.len() * COLOURS.len();
        let all = (0..COLOURS.len()).map(|by| turn + (own(name) + by) % COLOURS.len());
        let free = all.into_iter().find(|look| !taken.contains(look));
        taken.push(free.expect("a turn has a look for each of its lines"));
    }
    taken
}

/// The marker of a line.
pub(crate) fn symbol(line: usize) -> MarkerSymbol {
    let symbols = [
        MarkerSymbol::Circle,
        MarkerSymbol::Square,
        MarkerSymbol::Diamond,
        MarkerSymbol::TriangleUp,
        MarkerSymbol::Cross,
        MarkerSymbol::TriangleDown,
        MarkerSymbol::X,
    ];
    // After a full turn of colours the symbols are shifted, so that no pair repeats for long.
    symbols[(line + line / COLOURS.len()) % symbols.len()].clone()
}

/// The family of all texts.
pub(crate) const FAMILY: &str = "system-ui, Segoe UI, Helvetica, Arial, sans-serif";

/// The dashes of a line without markers, which tell lines apart in grey.
fn dash(line: usize) -> DashType {
    let dashes =
        [DashType::Solid, DashType::Dash, DashType::Dot, DashType::DashDot, DashType::LongDash];
    dashes[line % dashes.len()].clone()
}

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Solid with markers.
    Marked,
    /// Without markers, with dashes of its own.
    Plain,
}

/// A line of the figure.
pub(crate) fn scatter(
    at: usize,
    name: &str,
    points: (Vec<f64>, Vec<f64>),
    stroke: Stroke,
) -> Box<Scatter<f64, f64>> {
    let line = Line::new().color(colour(at));
    let line = match stroke {
        Stroke::Plain => line.width(2.2).dash(dash(at)),
        Stroke::Marked => line.width(2.2),
    };
    Scatter::new(points.0, points.1)
        .name(escape(name))
        .legend_group(format!("line {at}"))
        .mode(if stroke == Stroke::Plain { Mode::Lines } else { Mode::LinesMarkers })
        .line(line)
        .marker(Marker::new().color(colour(at)).symbol(symbol(at)).size(8))
}

/// An axis with its title.
pub(crate) fn axis(title: &str) -> Axis {
    Axis::new()
        .title(Title::with_text(title))
        .show_line(true)
        .line_color("#444444")
        .grid_color("#e4e4e4")
        .zero_line(false)
        .auto_margin(true)
}

/// A logarithmic axis with the given ticks.
pub(crate) fn log_axis(title: &str, ticks: Vec<(f64, String)>) -> Axis {
    let (values, texts) = ticks.into_iter().unzip();
    axis(title).type_(AxisType::Log).tick_values(values).tick_text(texts)
}

/// Powers of ten from the one below `low` to the one above `high` (both positive), at least two.
pub(crate) fn decades(low: f64, high: f64) -> Vec<f64> {
    let first = low.log10().floor() as i32;
    let last = (high.log10().ceil() as i32).max(first + 1);
    (first..=last).map(|power| 10f64.powi(power)).collect()
}

/// The layout shared by all figures.
pub(crate) fn layout(title: &str, x: Axis, y: Axis, height: usize) -> Layout {
    Layout::new()
        .title(Title::with_text(title))
        .font(Font::new().family(FAMILY).size(14))
        .paper_background_color("#ffffff")
        .plot_background_color("#ffffff")
        .margin(Margin::new().left(70).right(20).top(30).bottom(60))
        .hover_mode(HoverMode::Closest)
        .show_legend(true)
        .legend(Legend::new())
        .height(height)
        .x_axis(x)
        .y_axis(y)
}
