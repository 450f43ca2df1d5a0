//! Figures of flows: by size, where the time went, distribution.

use super::figure::Figure;
use super::lines::{Line, SizeBin, size_bins};
use super::multiples::{self, Picture};
use super::style::{self, Stroke, decades};
use crate::PartMeans;
use crate::frame::{Frame, Values};
use crate::number::{escape, significant, size, time_unit};
use crate::statistics::percentile;
use plotly::common::{Marker, Orientation, Pattern, PatternFillMode, PatternShape};
use plotly::layout::{Axis, BarMode, Legend, TraceOrder};
use plotly::{Bar, Plot};
use serde_json::{Value, json};

/// Slowdown and completion time by size of the flow: medians beside 99th percentiles.
pub(super) fn by_size(lines: &[Line]) -> Vec<Figure> {
    let bins: Vec<(&str, Vec<SizeBin>)> =
        lines.iter().map(|line| (line.name.as_str(), line.by_size())).collect();
    if bins.iter().all(|(_, bins)| bins.is_empty()) {
        return Vec::new();
    }
    let all = |y: Pick| -> Vec<f64> {
        let bins = bins.iter().flat_map(|(_, bins)| bins);
        bins.flat_map(|bin| y(bin).map(|(value, _)| value)).collect()
    };
    let (slowdowns, times) = (slowdown_ticks(&all(slowdowns_of)), time_ticks(&all(times_of)));
    let slowdown = "Completion time of a flow over its completion time alone on an empty network: 1 is perfect.";
    let time = "From the start of a flow to the arrival of its last byte.";
    vec![
        small_multiples(
            ["slowdown_by_size", "Slowdown by flow size", slowdown],
            &bins,
            slowdowns,
            slowdowns_of,
        ),
        small_multiples(
            ["fct_by_size", "Completion time by flow size", time],
            &bins,
            times,
            times_of,
        ),
    ]
}

/// A figure by size with these name, title and first sentence.
fn small_multiples(
    [name, title, what]: [&str; 3],
    lines: &[(&str, Vec<SizeBin>)],
    ticks: Vec<(f64, String)>,
    y: Pick,
) -> Figure {
    let looks = style::looks(lines.iter().map(|(name, _)| *name));
    let traces = lines.iter().zip(looks).flat_map(|((name, bins), look)| {
        [0, 1].map(|which| (which, by_size_trace(name, bins, look, which, y)))
    });
    let (x, y_axis) = (log_ticks(size_ticks(lines)), log_ticks(ticks));
    let picture = Picture {
        name: name.into(),
        title: title.into(),
        caption: format!(
            "{what} Flows are collected in bins of a factor of two in size and drawn at their mean size. Hollow: \
             fewer than {FEW} flows in the bin, so the 99th percentile is the slowest. Whiskers: 95 % \
             confidence intervals by order statistics, as if flows were independent; none where flows are \
             too few."
        ),
        x: "flow size (payload)".into(),
        y: title.split(" by ").next().unwrap_or(title).to_lowercase(),
        facets: PERCENTILES.map(String::from).to_vec(),
        traces: traces.collect(),
        x_axis: x,
        y_axis,
    };
    picture.figure()
}

/// What is drawn of each bin.
const PERCENTILES: [&str; 2] = ["median", "99th percentile"];

/// Flows of a bin below which its 99th percentile is the slowest.
const FEW: usize = 100;

/// The median (0) or 99th percentile (1) of a line.
fn by_size_trace(name: &str, bins: &[SizeBin], look: usize, which: usize, y: Pick) -> Value {
    let name = escape(name);
    let values = || bins.iter().map(|bin| y(bin)[which]);
    let hover = |bin: &SizeBin| {
        let (value, between) = y(bin)[which];
        let (size, value) = (size(bin.size), significant(value));
        let between = between.map_or(String::new(), |(low, high)| {
            format!("<br>95 %: {} to {}", significant(low), significant(high))
        });
        let what = PERCENTILES[which];
        format!("{name}<br>{what} of {} flows of {size}: {value}{between}", bin.count)
    };
    let mut marker = multiples::marker(look, 8, false);
    if which == 1 {
        let symbol = |bin: &SizeBin| multiples::marker(look, 8, bin.count < FEW)["symbol"].clone();
        marker["symbol"] = bins.iter().map(symbol).collect();
    }
    let ends = |end: fn(f64, (f64, f64)) -> f64| -> Vec<f64> {
        values().map(|(value, between)| between.map_or(0.0, |all| end(value, all))).collect()
    };
    json!({
        "type": "scatter", "mode": "lines+markers", "name": name,
        "legendgroup": format!("line {look}"), "showlegend": which == 0,
        "x": bins.iter().map(|bin| bin.size).collect::<Vec<f64>>(),
        "y": values().map(|(value, _)| value).collect::<Vec<f64>>(),
        "error_y": {
            "type": "data", "symmetric": false, "thickness": 1, "width": 3,
            "array": ends(|value, (_, high)| high - value), "arrayminus": ends(|value, (low, _)| value - low),
        },
        "line": { "color": style::colour(look), "width": 2.2 }, "marker": marker,
        "text": bins.iter().map(hover).collect::<Vec<String>>(),
        "hovertemplate": "%{text}<extra></extra>",
    })
}

/// A logarithmic axis with these ticks.
fn log_ticks(ticks: Vec<(f64, String)>) -> Value {
    let (values, texts): (Vec<f64>, Vec<String>) = ticks.into_iter().unzip();
    json!({ "type": "log", "tickvals": values, "ticktext": texts })
}

/// What of a bin is drawn: median and 99th percentile, with their intervals.
type Pick = fn(&SizeBin) -> [(f64, Option<(f64, f64)>); 2];

fn slowdowns_of(bin: &SizeBin) -> [(f64, Option<(f64, f64)>); 2] {
    [0, 1].map(|at| (bin.slowdown[at], bin.slowdown_between[at]))
}

fn times_of(bin: &SizeBin) -> [(f64, Option<(f64, f64)>); 2] {
    [0, 1].map(|at| (bin.fct_ns[at], bin.fct_between[at]))
}

/// What the charts by size show, as a table: a row per bin of sizes, for its median and for its 99th percentile. Flows are
/// given by size in bytes, completion time in nanoseconds and slowdown.
pub fn by_size_frame(flows: impl IntoIterator<Item = (u64, f64, f64)>) -> Frame {
    let bins = size_bins(flows);
    let rows = || [0, 1].into_iter().flat_map(|which| bins.iter().map(move |bin| (which, bin)));
    let float = |value: &dyn Fn(usize, &SizeBin) -> Option<f64>| {
        Values::Float(rows().map(|(which, bin)| value(which, bin)).collect())
    };
    let whole = |value: &dyn Fn(&SizeBin) -> u64| {
        Values::Integer(rows().map(|(_, bin)| Some(value(bin))).collect())
    };
    let mut frame = Frame::default();
    let names = rows().map(|(which, _)| Some(PERCENTILES[which].to_string())).collect();
    frame.push("percentile", "", "`median` or `99th percentile`.", Values::Text(names));
    let from = whole(&|bin| 1 << (bin.bits - 1));
    frame.push("size_from_bytes", "bytes", "Where the bin begins; it ends below twice that.", from);
    let mean = float(&|_, bin| Some(bin.size));
    frame.push("size_bytes", "bytes", "Mean size of its flows.", mean);
    frame.push("flows", "", "Completed flows in the bin.", whole(&|bin| bin.count as u64));
    let picks = [("fct_ns", "ns", times_of as Pick), ("slowdown", "", slowdowns_of)];
    for (name, unit, pick) in picks {
        let interval = |which: usize, bin: &SizeBin| pick(bin)[which].1;
        let value = float(&|which, bin| Some(pick(bin)[which].0));
        let low = float(&|which, bin| Some(interval(which, bin)?.0));
        let high = float(&|which, bin| Some(interval(which, bin)?.1));
        let end = "of its 95 % confidence interval; null where flows are too few.";
        frame.push(name, unit, "The percentile.", value);
        frame.push(&format!("{name}_low"), unit, &format!("Lower end {end}"), low);
        frame.push(&format!("{name}_high"), unit, &format!("Upper end {end}"), high);
    }
    frame
}

fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::MAX, f64::min).max(1e-3);
    (low, values.iter().copied().fold(low, f64::max))
}

fn size_ticks(lines: &[(&str, Vec<SizeBin>)]) -> Vec<(f64, String)> {
    let sizes: Vec<f64> = lines.iter().flat_map(|(_, bins)| bins).map(|bin| bin.size).collect();
    let (low, high) = range(&sizes);
    decades(low, high).into_iter().map(|at| (at, size(at))).collect()
}

fn time_ticks(times_ns: &[f64]) -> Vec<(f64, String)> {
    let (low, high) = range(times_ns);
    let steps: &[f64] = if high / low > 2e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let text = |ns: f64| {
        // 1000 ns reads better as 1 µs.
        let (unit, length) = time_unit(ns * 2.0);
        (ns, format!("{} {unit}", significant(ns / length)))
    };
    let all = decades(low, high).into_iter();
    all.flat_map(|decade| steps.iter().map(move |step| decade * step)).map(text).collect()
}

/// Steps within a decade, from the coarsest on.
const STEPS: [&[f64]; 5] = [
    &[1.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
    &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    &[1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.12, 1.15, 1.2, 2.0, 5.0],
];

/// The coarsest steps of which at least four lie within the range: 1, 10, 100 over a wide one,
/// 1, 2, 5, 10, and so on.
fn slowdown_ticks(slowdowns: &[f64]) -> Vec<(f64, String)> {
    let (low, high) = range(slowdowns);
    let ticks = |steps: &&[f64]| -> Vec<f64> {
        let all = decades(low, high).into_iter();
        all.flat_map(|decade| steps.iter().map(move |step| decade * step)).collect()
    };
    let shown = |ticks: &Vec<f64>| ticks.iter().filter(|at| (low..=high).contains(*at)).count();
    let mut all = STEPS.iter().map(ticks);
    let finest = ticks(&STEPS[STEPS.len() - 1]);
    let chosen = all.find(|ticks| shown(ticks) >= 4).unwrap_or(finest);
    chosen.into_iter().map(|at| (at, significant(at))).collect()
}

/// Display name of a part of the completion time, its colour, and its pattern, which a greyscale print
/// keeps. Blue: the NIC works; yellow to brown: blocked; red: recovery; grey: the links; green and
/// purple: queues.
pub(crate) const PARTS: [(&str, &str, PatternShape); 14] = [
    ("NIC busy with this flow", "#0072B2", PatternShape::None),
    ("NIC busy with other flows", "#7FC4EE", PatternShape::RightDiagonalLine),
    ("NIC idle, no reason reported", "#F3E9C0", PatternShape::Dot),
    ("waiting for a grant", "#F0E442", PatternShape::LeftDiagonalLine),
    ("waiting for a credit", "#E69F00", PatternShape::DiagonalCross),
    ("window full", "#B07A00", PatternShape::VerticalLine),
    ("paced", "#6B4A00", PatternShape::HorizontalLine),
    ("recovery from loss", "#D52B00", PatternShape::Cross),
    ("serialisation", "#8C8C8C", PatternShape::None),
    ("propagation", "#CFCFCF", PatternShape::Dot),
    ("queues in NICs", "#E3B5CF", PatternShape::RightDiagonalLine),
    ("queues at the edge", "#009E73", PatternShape::LeftDiagonalLine),
    ("queues in the aggregation", "#00573F", PatternShape::DiagonalCross),
    ("queues in the core", "#8A3F6E", PatternShape::HorizontalLine),
];

/// Mean parts of the completion time of short and of long flows.
pub(super) fn breakdown(lines: &[Line]) -> Vec<Figure> {
    [(false, "short", "under 100 KB"), (true, "long", "of 100 KB and more")]
        .into_iter()
        .filter_map(|(long, name, limit)| {
            let title = format!("Breakdown of the completion time of {name} flows");
            let caption = format!(
                "Mean over completed flows {limit}: what the byte that came last waited for, at each \
                 instant; timeouts are recovery. The parts of a bar add up to the mean completion \
                 time."
            );
            let means: Vec<(&str, PartMeans)> = lines
                .iter()
                .filter_map(|line| Some((line.name.as_str(), PartMeans::of(line.parts(long))?)))
                .collect();
            let height = 210 + 46 * means.len();
            (!means.is_empty()).then(|| {
                let plot = stacked_bars(&title, &means, height);
                Figure::new(&format!("time_of_{name}_flows"), &title, caption, height, &plot)
            })
        })
        .collect()
}

fn stacked_bars(title: &str, means: &[(&str, PartMeans)], height: usize) -> Plot {
    let total = |parts: &PartMeans| parts.named().iter().map(|(_, ns)| ns).sum::<f64>();
    let (unit, length) = time_unit(means.iter().map(|(_, p)| total(p)).fold(0.0, f64::max));
    let names: Vec<String> = means.iter().map(|(name, _)| escape(name)).collect();
    let mut plot = Plot::new();
    for (at, (part, colour, shape)) in PARTS.into_iter().enumerate() {
        let values: Vec<f64> = means.iter().map(|(_, p)| p.named()[at].1 / length).collect();
        if values.iter().all(|value| *value == 0.0) {
            continue;
        }
        let hover = format!("%{{y}}<br>{part}: %{{x:.4g}} {unit}<extra></extra>");
        let pattern = Pattern::new()
            .shape(shape)
            .fill_mode(PatternFillMode::Overlay)
            .foreground_opacity(0.45)
            .size(7.0);
        let bar = Bar::new(values, names.clone())
            .orientation(Orientation::Horizontal)
            .name(part)
            .hover_template(hover)
            .marker(Marker::new().color(colour).pattern(pattern));
        plot.add_trace(bar);
    }
    let x = style::axis(&format!("mean time per flow ({unit})"));
    // The first line of the table is the uppermost bar.
    let y = Axis::new().auto_margin(true).range(vec![means.len() as f64 - 0.5, -0.5]);
    let legend = Legend::new().trace_order(TraceOrder::Normal);
    let layout = style::layout(title, x, y, height);
    plot.set_layout(layout.bar_mode(BarMode::Stack).legend(legend));
    plot
}

/// Distribution of the slowdown.
pub(super) fn distribution(lines: &[Line]) -> Option<Figure> {
    let sorted: Vec<Vec<f64>> = lines.iter().map(Line::slowdowns).collect();
    let all: Vec<f64> = sorted.iter().flatten().copied().collect();
    if all.is_empty() {
        return None;
    }
    let title = "Distribution of the slowdown";
    let mut plot = Plot::new();
    let x = style::log_axis("slowdown", slowdown_ticks(&all));
    let y = style::axis("share of flows (%)").range(vec![0.0, 101.0]);
    plot.set_layout(style::layout(title, x, y, 440));
    let looks = style::looks(lines.iter().map(|line| line.name.as_str()));
    for (look, (line, values)) in looks.into_iter().zip(lines.iter().zip(&sorted)) {
        // Every 0.5 % and finer towards the end: enough for a picture of any number of flows.
        let shares = (0..198).map(|half| half * 5).chain(990..=1000);
        let points = shares.filter_map(|share| Some((percentile(values, share)?, share)));
        let points = points.map(|(value, share)| (value, share as f64 / 10.0)).unzip();
        let hover = "%{y} % of flows have a slowdown of at most %{x:.4g}";
        let scatter = style::scatter(look, &line.name, points, Stroke::Plain);
        plot.add_trace(scatter.hover_template(hover));
    }
    let caption = "Share of completed flows with at most this slowdown: the further up and left, \
                   the better.";
    Some(Figure::new("slowdown_distribution", title, caption.to_string(), 440, &plot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_ticks_whatever_the_range() {
        let shown = |low: f64, high: f64| -> Vec<String> {
            let ticks = slowdown_ticks(&[low, high]).into_iter();
            ticks.filter(|(at, _)| (low..=high).contains(at)).map(|(_, text)| text).collect()
        };
        assert_eq!(shown(1.0, 5000.0), ["1", "10", "100", "1000"]);
        assert_eq!(shown(1.0, 20.0), ["1", "2", "5", "10", "20"]);
        assert_eq!(shown(1.0, 3.5), ["1", "1.5", "2", "3"]);
        assert_eq!(shown(1.0, 1.4), ["1", "1.1", "1.2", "1.3", "1.4"]);
        assert!(shown(1.0, 1.06).len() >= 4);
    }
}
