//! Figures over time: throughput and queues.

use super::figure::Figure;
use super::style::{self, Stroke};
use crate::Run;
use crate::fairness::{self, Window};
use crate::number::{escape, time_unit};
use crate::run::gbps;
use incast_transport::Bin;
use incast_units::Span;
use plotly::Plot;
use plotly::layout::RangeMode;

/// Most points of a line; neighbouring intervals are joined until they fit.
const POINTS: usize = 1000;
/// Most lines of a figure over time.
const LINES: usize = 8;
/// Most runs that get a figure of their own.
const RUNS: usize = 12;

/// Consecutive intervals joined into one point.
struct Stretch {
    from: usize,
    to: usize,
}

/// The points of a line. A last stretch of less than half the usual length is left out: what
/// starts transmission there would count as a spike.
fn joined(run: &Run) -> impl Iterator<Item = Stretch> {
    let count = run.intervals();
    let step = count.div_ceil(POINTS).max(1);
    let long_enough = move |stretch: &Stretch| {
        stretch.from == 0 || place(run, stretch).1.0 * 2 >= run.record.interval.0 * step as u64
    };
    (0..count)
        .step_by(step)
        .map(move |from| Stretch { from, to: (from + step).min(count) })
        .filter(long_enough)
}

/// Middle in nanoseconds and length of joined intervals.
fn place(run: &Run, span: &Stretch) -> (f64, Span) {
    let length: Span = (span.from..span.to).map(|at| run.interval(at).1).sum();
    (run.interval(span.from).0.as_ns_f64() + length.as_ns_f64() / 2.0, length)
}

/// Runs that are drawn over time: the first of each label.
fn firsts(runs: &[Run]) -> Vec<&Run> {
    let mut firsts: Vec<&Run> = Vec::new();
    for run in runs {
        if run.intervals() > 0 && firsts.iter().all(|known| known.label != run.label) {
            firsts.push(run);
        }
    }
    firsts
}

/// A line over time: its name and one value a stretch.
struct Series {
    name: String,
    values: Vec<(f64, f64)>,
}

fn draw(name: &str, title: &str, caption: String, y: &str, series: Vec<Series>) -> Figure {
    let last = series.iter().flat_map(|line| line.values.last()).map(|(at, _)| *at);
    let (unit, length) = time_unit(last.fold(0.0, f64::max));
    let mut plot = Plot::new();
    let x = style::axis(&format!("time since the start of the run ({unit})"));
    let y = style::axis(y).range_mode(RangeMode::ToZero);
    plot.set_layout(style::layout(title, x, y, 380));
    for (at, line) in series.into_iter().enumerate() {
        let points = line.values.iter().map(|(at, value)| (at / length, *value)).unzip();
        let hover = format!("%{{y:.4g}} at %{{x:.5g}} {unit}");
        let scatter = style::scatter(at, &line.name, points, Stroke::Plain);
        plot.add_trace(scatter.hover_template(hover));
    }
    Figure::new(name, title, caption, 380, &plot)
}

/// Throughput over time: of the chosen flows of each run if they were recorded, and the sum over
/// the links to the hosts.
pub(super) fn throughput(runs: &[Run]) -> Vec<Figure> {
    let firsts = firsts(runs);
    let mut figures = Vec::new();
    for (at, run) in firsts.iter().filter(|run| !run.record.series.is_empty()).enumerate() {
        if at == RUNS {
            break;
        }
        let title = format!("Throughput of flows over time: {}", run.label);
        let caption = format!(
            "Payload delivered per interval of {} by the first {} of {} recorded flows.",
            run.record.interval,
            run.record.series.len().min(LINES),
            run.record.series.len()
        );
        let series = run.record.series.iter().take(LINES).map(|flow| {
            let meta = &run.flows[flow.flow.0 as usize];
            let name = format!("flow {}: {} to {}", flow.flow.0, meta.src, meta.dst);
            let values = joined(run).filter_map(|stretch| {
                let sent = |at: usize| flow.delivered.get(at).copied().unwrap_or(0);
                let bytes = (stretch.from..stretch.to).map(sent).sum();
                let (middle, length) = place(run, &stretch);
                Some((middle, gbps(bytes, length)?))
            });
            Series { name, values: values.collect() }
        });
        let name = format!("flow_throughput_over_time_{}", at + 1);
        let series = series.collect();
        figures.push(draw(&name, &escape(&title), caption, "throughput (Gb/s)", series));
    }
    let sums: Vec<Series> = firsts.iter().take(LINES).filter_map(|run| total(run)).collect();
    if !sums.is_empty() {
        let caption = "Sum over all links to the hosts (the NICs' own if there are no switches), \
                       in charged bytes: payload, headers and framing of data, acknowledgements \
                       and control packets.";
        let name = "throughput_over_time";
        let title = "Traffic to the hosts over time";
        figures.push(draw(name, title, caption.to_string(), "throughput (Gb/s)", sums));
    }
    figures
}

/// What all flows of each transport delivered over time, for each run with several.
pub(super) fn shares(runs: &[Run]) -> Vec<Figure> {
    let several = firsts(runs).into_iter().filter(|run| run.record.shares.len() > 1);
    let figure = |(at, run): (usize, &Run)| {
        let title = format!("Throughput of transports over time: {}", run.label);
        let caption = "Payload delivered by all flows of each transport.".to_string();
        let series = run.transports.iter().enumerate().map(|(transport, name)| {
            let values = joined(run).filter_map(|stretch| {
                let window = Window { first: stretch.from, end: stretch.to };
                Some((place(run, &stretch).0, fairness::throughput(run, window, transport)?))
            });
            Series { name: name.clone(), values: values.collect() }
        });
        let name = format!("transport_throughput_over_time_{}", at + 1);
        draw(&name, &escape(&title), caption, "throughput (Gb/s)", series.collect())
    };
    several.take(RUNS).enumerate().map(figure).collect()
}

/// Sum over the links to the hosts.
fn total(run: &Run) -> Option<Series> {
    let of = |tier: &str, upward: bool| -> Vec<usize> {
        let matches = |at: &usize| run.ports[*at].tier == tier && run.ports[*at].upward == upward;
        (0..run.ports.len()).filter(matches).collect()
    };
    let ports = [of("edge", false), of("nic", true), of("nic", false)];
    let ports = ports.into_iter().find(|ports| !ports.is_empty())?;
    // Idle ports have no intervals.
    let mut sent = vec![0u64; run.intervals()];
    for port in ports {
        let bins = run.record.ports[port].bins.iter();
        sent.iter_mut().zip(bins).for_each(|(sum, bin)| *sum += bin.sent_bytes);
    }
    let values = joined(run).filter_map(|stretch| {
        let bytes = sent[stretch.from..stretch.to].iter().sum();
        let (middle, length) = place(run, &stretch);
        Some((middle, gbps(bytes, length)?))
    });
    Some(Series { name: run.label.clone(), values: values.collect() })
}

fn join(run: &Run, port: usize, stretch: &Stretch) -> Bin {
    let mut sum = Bin::default();
    (stretch.from..stretch.to).for_each(|at| sum.join(&run.bin(port, at)));
    sum
}

/// Largest backlog over time: of the fullest switch ports of one run, or of the fullest of each.
pub(super) fn queues(runs: &[Run]) -> Option<Figure> {
    let firsts = firsts(runs);
    let series: Vec<Series> = match firsts.as_slice() {
        [run] => fullest(run, 5).into_iter().map(|port| queue(run, port, false)).collect(),
        _ => firsts
            .iter()
            .take(LINES)
            .flat_map(|run| fullest(run, 1).into_iter().map(|port| queue(run, port, true)))
            .collect(),
    };
    let what = if firsts.len() == 1 { "the fullest ports" } else { "the fullest port of each run" };
    let caption = format!(
        "Largest backlog within each interval at {what}, chosen by the largest backlog \
         at any time; charged bytes waiting, without the packet in transmission."
    );
    let title = "Queues over time";
    (!series.is_empty())
        .then(|| draw("queues_over_time", title, caption, "largest backlog (KB)", series))
}

/// The ports with the largest backlogs, switches before NICs; none that never had one.
fn fullest(run: &Run, count: usize) -> Vec<usize> {
    let most = |port: &usize| run.record.ports[*port].total.backlog_max;
    let mut ports: Vec<usize> = (0..run.ports.len()).filter(|port| most(port) > 0).collect();
    ports.sort_by_key(|port| (run.ports[*port].tier == "nic", std::cmp::Reverse(most(port))));
    ports.truncate(count);
    ports
}

fn queue(run: &Run, port: usize, labelled: bool) -> Series {
    let name = &run.ports[port].name;
    let name = if labelled { format!("{}: {name}", run.label) } else { name.clone() };
    let values = joined(run).map(|stretch| {
        let most = join(run, port, &stretch).backlog_max as f64 / 1e3;
        (place(run, &stretch).0, most)
    });
    Series { name, values: values.collect() }
}
