//! Charts of flows: by size, where the time went, distribution.

use super::lines::{Line, SizeBin, size_bins};
use crate::PartMeans;
use crate::chart::style::{ratio_ticks, size_ticks, time_ticks};
use crate::chart::{self, Axis, Chart, Mark, Point, Scale};
use crate::frame::{Frame, Values};
use crate::number::{significant, size, time_unit};
use crate::statistics::percentile;

/// What is drawn of each bin.
pub(crate) const PERCENTILES: [&str; 2] = ["median", "99th percentile"];

/// Flows of a bin below which its 99th percentile is the slowest: drawn hollow.
pub(crate) const FEW: u64 = 100;
/// What those points have in common.
pub(crate) const HOLLOW: &str = "fewer than 100 flows";

/// What of a bin is drawn: median and 99th percentile, with their intervals.
type Pick = fn(&SizeBin) -> [(f64, Option<(f64, f64)>); 2];

fn slowdowns_of(bin: &SizeBin) -> [(f64, Option<(f64, f64)>); 2] {
    [0, 1].map(|at| (bin.slowdown[at], bin.slowdown_between[at]))
}

fn times_of(bin: &SizeBin) -> [(f64, Option<(f64, f64)>); 2] {
    [0, 1].map(|at| (bin.fct_ns[at], bin.fct_between[at]))
}

/// Slowdown and completion time by size of the flow: medians beside 99th percentiles.
pub(super) fn by_size(lines: &[Line]) -> Vec<Chart> {
    let slowdown = "Completion time of a flow over its completion time alone on an empty network: 1 is perfect.";
    let time = "From the start of a flow to the arrival of its last byte.";
    let charts = [
        (
            ["slowdown_by_size", "Slowdown", slowdown],
            ratio_ticks as fn(&[f64]) -> _,
            slowdowns_of as Pick,
        ),
        (["fct_by_size", "Completion time", time], time_ticks, times_of),
    ];
    charts
        .into_iter()
        .filter_map(|(texts, ticks, y)| small_multiples(texts, lines, ticks, y))
        .collect()
}

/// A chart by size with these name, title and first sentence; `None` without a completed flow.
fn small_multiples(
    [name, of, what]: [&str; 3],
    lines: &[Line],
    ticks: fn(&[f64]) -> Vec<(f64, String)>,
    y: Pick,
) -> Option<Chart> {
    let bins: Vec<(&str, Vec<SizeBin>)> =
        lines.iter().map(|line| (line.name.as_str(), line.by_size())).collect();
    let both = |(name, bins): &(&str, Vec<SizeBin>)| {
        [0, 1].map(|panel| by_size_line(name, bins, panel, y))
    };
    let lines: Vec<chart::Line> = bins.iter().flat_map(both).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let (sizes, values) =
        points().map(|point| (point.x, point.y)).unzip::<_, _, Vec<f64>, Vec<f64>>();
    let log = |title: &str, ticks| Axis::titled(title).scaled(Scale::Log).ticks(ticks);
    let chart = Chart {
        name: name.into(),
        title: format!("{of} by flow size"),
        caption: format!(
            "{what} Flows are collected in bins of a factor of two in size and drawn at their mean size. Hollow: \
             fewer than {FEW} flows in the bin, so the 99th percentile is the slowest. Whiskers: 95 % \
             confidence intervals by order statistics, as if flows were independent; none where flows are \
             too few."
        ),
        x: log("flow size (payload)", size_ticks(&sizes)),
        y: log(&of.to_lowercase(), ticks(&values)),
        panels: PERCENTILES.map(String::from).to_vec(),
        lines,
        hollow: HOLLOW,
        ..Chart::default()
    };
    (!sizes.is_empty()).then(|| chart.coloured())
}

/// The median (0) or 99th percentile (1) of so many flows of this mean size.
pub(crate) fn by_size_point(
    (name, which): (&str, usize),
    (flows, mean): (u64, f64),
    value: f64,
    between: Option<(f64, f64)>,
) -> Point {
    let ends = between.map_or(String::new(), |(low, high)| {
        format!("\n95 %: {} to {}", significant(low), significant(high))
    });
    let (what, shown) = (PERCENTILES[which], significant(value));
    let says = format!("{name}\n{what} of {flows} flows of {}: {shown}{ends}", size(mean));
    Point { between, hollow: which == 1 && flows < FEW, says, ..Point::at(mean, value) }
}

/// The medians (0) or 99th percentiles (1) of a line.
fn by_size_line(name: &str, bins: &[SizeBin], panel: usize, y: Pick) -> chart::Line {
    let point = |bin: &SizeBin| {
        let (value, between) = y(bin)[panel];
        by_size_point((name, panel), (bin.count as u64, bin.size), value, between)
    };
    let points = bins.iter().map(point).collect();
    chart::Line { name: name.into(), panel, points, ..chart::Line::default() }
}

/// The 99th percentiles of the slowdown by size of the flow, for documents.
pub(super) fn summary(title: &str, lines: &[Line]) -> Chart {
    let chart = by_size(lines).into_iter().next().unwrap_or_default();
    let lines: Vec<chart::Line> = chart.lines.into_iter().filter(|line| line.panel == 1).collect();
    let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.y);
    let ends = (values().fold(1.0, f64::min) * 0.9, values().fold(2.0, f64::max) * 1.15);
    let y = Axis { title: "slowdown, 99th percentile".into(), range: Some(ends), ..chart.y };
    Chart { title: title.into(), y, panels: vec![], lines, ..chart }
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

/// Display name of a part of the completion time, its colour, and its pattern as Plotly names it, which a greyscale print
/// keeps. Blue: the NIC works; yellow to brown: blocked; red: recovery; grey: the links; green and
/// purple: queues.
pub(crate) const PARTS: [(&str, &str, &str); 14] = [
    ("NIC busy with this flow", "#0072B2", ""),
    ("NIC busy with other flows", "#7FC4EE", "/"),
    ("NIC idle, no reason reported", "#F3E9C0", "."),
    ("waiting for a grant", "#F0E442", "\\"),
    ("waiting for a credit", "#E69F00", "x"),
    ("window full", "#B07A00", "|"),
    ("paced", "#6B4A00", "-"),
    ("recovery from loss", "#D52B00", "+"),
    ("serialisation", "#8C8C8C", ""),
    ("propagation", "#CFCFCF", "."),
    ("queues in NICs", "#E3B5CF", "/"),
    ("queues at the edge", "#009E73", "\\"),
    ("queues in the aggregation", "#00573F", "x"),
    ("queues in the core", "#8A3F6E", "-"),
];

/// Mean parts of the completion time of short and of long flows.
pub(super) fn breakdown(lines: &[Line]) -> Vec<Chart> {
    let both = [false, true].into_iter().filter_map(|long| {
        let means = |line: &Line| Some((line.name.clone(), PartMeans::of(line.parts(long))?));
        breakdown_of(&lines.iter().filter_map(means).collect::<Vec<_>>(), long)
    });
    both.collect()
}

/// The same of means that are known, of long flows or of short ones; `None` without any.
pub fn breakdown_of(means: &[(String, PartMeans)], long: bool) -> Option<Chart> {
    let (name, limit) =
        if long { ("long", "of 100 KB and more") } else { ("short", "under 100 KB") };
    let (x, lines) = stacked_bars(means);
    let names = means.iter().enumerate().map(|(at, (name, _))| (at as f64, name.clone()));
    // The first line of the table is the uppermost bar.
    let range = Some((means.len() as f64 - 0.5, -0.5));
    let chart = Chart {
        name: format!("time_of_{name}_flows"),
        title: format!("Breakdown of the completion time of {name} flows"),
        caption: format!(
            "Mean over completed flows {limit}: what the byte that came last waited for, at each \
             instant; timeouts are recovery. The parts of a bar add up to the mean completion \
             time."
        ),
        x,
        y: Axis { range, ..Axis::default().ticks(names.collect()) },
        lines,
        ..Chart::default()
    };
    (!means.is_empty()).then_some(chart)
}

/// The horizontal axis, and a line for each part that is not 0 in all.
fn stacked_bars(means: &[(String, PartMeans)]) -> (Axis, Vec<chart::Line>) {
    let total = |parts: &PartMeans| parts.named().iter().map(|(_, ns)| ns).sum::<f64>();
    let (unit, length) = time_unit(means.iter().map(|(_, p)| total(p)).fold(0.0, f64::max));
    let part = |(at, (name, colour, pattern)): (usize, (&str, _, _))| {
        let value = |(bar, (_, parts)): (usize, &(String, PartMeans))| {
            Point::at(parts.named()[at].1 / length, bar as f64)
        };
        let points = means.iter().enumerate().map(value).collect();
        chart::Line {
            name: name.into(),
            points,
            mark: Mark::Bar(colour, pattern),
            ..chart::Line::default()
        }
    };
    let lines = PARTS.into_iter().enumerate().map(part);
    let some = lines.filter(|line| line.points.iter().any(|point| point.x != 0.0));
    (Axis { unit: unit.into(), ..Axis::titled("mean time per flow") }, some.collect())
}

/// Distribution of the slowdown.
pub(super) fn distribution(lines: &[Line]) -> Option<Chart> {
    let sorted: Vec<(&Line, Vec<f64>)> =
        lines.iter().map(|line| (line, line.slowdowns())).collect();
    let all: Vec<f64> = sorted.iter().flat_map(|(_, own)| own).copied().collect();
    let line = |(line, values): &(&Line, Vec<f64>)| {
        // Every 0.5 % and finer towards the end: enough for a picture of any number of flows.
        let shares = (0..198).map(|half| half * 5).chain(990..=1000);
        let point = |share| Some(Point::at(percentile(values, share)?, f64::from(share) / 10.0));
        let points = shares.filter_map(point).collect();
        chart::Line { name: line.name.clone(), points, mark: Mark::Plain, ..chart::Line::default() }
    };
    let share =
        Axis { unit: "%".into(), range: Some((0.0, 101.0)), ..Axis::titled("share of flows") };
    let chart = Chart {
        name: "slowdown_distribution".into(),
        title: "Distribution of the slowdown".into(),
        caption: "Share of completed flows with at most this slowdown: the further up and left, the better.".into(),
        x: Axis::titled("slowdown").scaled(Scale::Log).ticks(ratio_ticks(&all)),
        y: share,
        lines: sorted.iter().map(line).collect(),
        ..Chart::default()
    };
    (!all.is_empty()).then(|| chart.coloured())
}
