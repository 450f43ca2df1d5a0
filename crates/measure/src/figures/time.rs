//! Charts over time: throughput, queues and imbalance.

use super::marks;
use crate::Run;
use crate::chart::{Axis, Chart, Choice, Line, Mark, Point, Scale};
use crate::fairness::{self, Window};
use crate::number::time_unit;
use crate::run::gbps;
use crate::uplinks::Uplinks;
use incast_transport::Bin;
use incast_units::Span;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Most points of a line; neighbouring intervals are joined until they fit.
const POINTS: usize = 1000;
/// Most lines of a chart over time.
const LINES: usize = 8;
/// Ports of one run that are drawn, or offered.
const PORTS: usize = 5;
/// Most ports of several runs that are offered.
const CHOICES: usize = 12;
/// Most runs that get a chart of their own.
const RUNS: usize = 12;

/// Consecutive intervals joined into one point.
type Stretch = Range<usize>;

/// The points of a line over so many intervals, and how many a point has. A last stretch of less than half the usual
/// length is left out: what starts transmission there would count as a spike. `share` is its length in intervals.
fn stretches(count: usize, share: impl Fn(&Stretch) -> f64) -> impl Iterator<Item = Stretch> {
    let step = count.div_ceil(POINTS).max(1);
    let all = (0..count).step_by(step).map(move |from| from..(from + step).min(count));
    all.filter(move |stretch| stretch.start == 0 || share(stretch) * 2.0 >= step as f64)
}

/// The points of a line of a run.
fn joined(run: &Run) -> impl Iterator<Item = Stretch> {
    let whole = run.record.interval.0 as f64;
    stretches(run.intervals(), move |stretch| place(run, stretch).1.0 as f64 / whole)
}

/// What a chart over time shows of rows with the beginnings of their intervals, in nanoseconds: rows of one interval are
/// added up, or the largest counts; where there is none the value is 0, and neighbours are joined likewise, to their mean.
/// `begin`, the length of an interval and the end of the run are nanoseconds too.
pub fn over_time(
    rows: impl IntoIterator<Item = (f64, f64)>,
    (begin, length, until): (f64, f64, f64),
    largest: bool,
) -> Vec<(f64, f64)> {
    let count = ((until - begin) / length).ceil().max(1.0) as usize;
    let mut values = vec![0.0f64; count];
    for (at, value) in rows {
        if let Some(own) = values.get_mut(((at - begin) / length).round() as usize) {
            *own = if largest { own.max(value) } else { *own + value };
        }
    }
    let end = |at: usize| (begin + at as f64 * length).min(until);
    let long = |stretch: &Stretch| end(stretch.end) - end(stretch.start);
    let points = stretches(count, |stretch| long(stretch) / length).map(|stretch| {
        let own = || stretch.clone().map(|at| (values[at], long(&(at..at + 1))));
        let value = match largest {
            true => own().map(|(value, _)| value).fold(0.0, f64::max),
            false => own().map(|(value, long)| value * long).sum::<f64>() / long(&stretch),
        };
        ((end(stretch.start) + end(stretch.end)) / 2.0, value)
    });
    points.collect()
}

/// Middle in nanoseconds and length of joined intervals.
fn place(run: &Run, span: &Stretch) -> (f64, Span) {
    let length: Span = span.clone().map(|at| run.interval(at).1).sum();
    (run.interval(span.start).0.as_ns_f64() + length.as_ns_f64() / 2.0, length)
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

/// What is over and beside the lines of a chart over time.
struct Titles<'a> {
    name: &'a str,
    title: &'a str,
    y: &'a str,
    unit: &'a str,
}

/// A chart over time of some runs.
fn draw(titles: Titles<'_>, caption: String, runs: &[&Run], series: Vec<Series>) -> Chart {
    let last = series.iter().flat_map(|line| line.values.last()).map(|(at, _)| *at);
    let (unit, length) = time_unit(last.fold(0.0, f64::max));
    let line = |one: Series| {
        let points = one.values.into_iter().map(|(at, value)| Point::at(at / length, value));
        Line { name: one.name, points: points.collect(), mark: Mark::Plain, ..Line::default() }
    };
    let time = "time since the start of the run";
    let mut chart = Chart {
        name: titles.name.into(),
        title: titles.title.into(),
        caption,
        x: Axis { unit: unit.into(), ..Axis::titled(time) },
        y: Axis { unit: titles.unit.into(), ..Axis::titled(titles.y).scaled(Scale::FromZero) },
        lines: series.into_iter().map(line).collect(),
        ..Chart::default()
    };
    marks::pauses(&mut chart, &paused(runs), runs.len() > 1, length);
    marks::links(&mut chart, runs, length);
    chart.coloured()
}

/// When some port of each run was paused, nanoseconds; runs without pauses are left out.
fn paused<'a>(runs: &[&'a Run]) -> Vec<(&'a str, Vec<(f64, f64)>)> {
    let of = |run: &&'a Run| {
        let ports = (0..run.ports.len()).filter(|at| run.record.ports[*at].total.paused > 0);
        let ports: Vec<usize> = ports.collect();
        let some =
            |stretch: &Stretch| ports.iter().any(|port| join(run, *port, stretch).paused > 0);
        let ends = |stretch: Stretch| {
            let (middle, length) = place(run, &stretch);
            let half = length.as_ns_f64() / 2.0;
            (middle - half, middle + half)
        };
        let mut all: Vec<(f64, f64)> = vec![];
        for (from, to) in joined(run).filter(some).map(ends) {
            match all.last_mut() {
                Some(last) if from - last.1 < 0.5 => last.1 = to,
                _ => all.push((from, to)),
            }
        }
        (!all.is_empty()).then_some((run.label.as_str(), all))
    };
    runs.iter().filter_map(of).collect()
}

/// Throughput over time: of the chosen flows of each run if they were recorded, and the sum over
/// the links to the hosts.
pub(super) fn throughput(runs: &[Run]) -> Vec<Chart> {
    let firsts = firsts(runs);
    let mut charts = Vec::new();
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
                let bytes = stretch.clone().map(sent).sum();
                let (middle, length) = place(run, &stretch);
                Some((middle, gbps(bytes, length)?))
            });
            Series { name, values: values.collect() }
        });
        let name = format!("flow_throughput_over_time_{}", at + 1);
        let series = series.collect();
        let titles = Titles { name: &name, title: &title, y: "throughput", unit: "Gb/s" };
        charts.push(draw(titles, caption, &[run], series));
    }
    let sums: Vec<Series> = firsts.iter().take(LINES).filter_map(|run| total(run)).collect();
    if !sums.is_empty() {
        let caption = "Sum over all links to the hosts (the NICs' own if there are no switches), \
                       in charged bytes: payload, headers and framing of data, acknowledgements \
                       and control packets.";
        let titles = Titles {
            name: "throughput_over_time",
            title: "Traffic to the hosts over time",
            y: "throughput",
            unit: "Gb/s",
        };
        let drawn = &firsts[..firsts.len().min(LINES)];
        charts.push(draw(titles, caption.to_string(), drawn, sums));
    }
    charts
}

/// What all flows of each transport delivered over time, for each run with several.
pub(super) fn shares(runs: &[Run]) -> Vec<Chart> {
    let several = firsts(runs).into_iter().filter(|run| run.record.shares.len() > 1);
    let chart = |(at, run): (usize, &Run)| {
        let title = format!("Throughput of transports over time: {}", run.label);
        let caption = "Payload delivered by all flows of each transport.".to_string();
        let series = run.transports.iter().enumerate().map(|(transport, name)| {
            let values = joined(run).filter_map(|stretch| {
                let window = Window { first: stretch.start, end: stretch.end };
                Some((place(run, &stretch).0, fairness::throughput(run, window, transport)?))
            });
            Series { name: name.clone(), values: values.collect() }
        });
        let name = format!("transport_throughput_over_time_{}", at + 1);
        let titles = Titles { name: &name, title: &title, y: "throughput", unit: "Gb/s" };
        draw(titles, caption, &[run], series.collect())
    };
    several.take(RUNS).enumerate().map(chart).collect()
}

/// How unevenly the switches use their uplinks over time.
pub(super) fn imbalance(runs: &[Run]) -> Option<Chart> {
    let firsts = firsts(runs);
    let drawn = &firsts[..firsts.len().min(LINES)];
    let line = |run: &&Run| {
        let uplinks = Uplinks::of(run);
        let values = joined(run).filter_map(|stretch| {
            Some((place(run, &stretch).0, uplinks.imbalance(None, stretch)?))
        });
        Series { name: run.label.clone(), values: values.collect() }
    };
    let lines: Vec<Series> = drawn.iter().map(line).collect();
    let caption = "What the uplink that carries most carries over the mean of the uplinks of its switch, by \
                   interval: 1 if all carry the same. Mean over the switches with several uplinks, \
                   weighted by their bytes.";
    let titles = Titles {
        name: "imbalance_over_time",
        title: "Imbalance of uplinks over time",
        y: "busiest uplink over mean",
        unit: "",
    };
    let some = lines.iter().any(|line| !line.values.is_empty());
    some.then(|| draw(titles, caption.to_string(), drawn, lines))
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
        let bytes = run.wire_bytes(port, sent.len());
        sent.iter_mut().zip(bytes).for_each(|(sum, bytes)| *sum += bytes);
    }
    let values = joined(run).filter_map(|stretch| {
        let bytes = sent[stretch.clone()].iter().sum();
        let (middle, length) = place(run, &stretch);
        Some((middle, gbps(bytes, length)?))
    });
    Some(Series { name: run.label.clone(), values: values.collect() })
}

fn join(run: &Run, port: usize, stretch: &Stretch) -> Bin {
    let mut sum = Bin::default();
    stretch.clone().for_each(|at| sum.join(&run.bin(port, at)));
    sum
}

/// Largest backlog over time: of the fullest switch ports of one run, or of one port in each of
/// several, with a choice of the port.
pub(super) fn queues(runs: &[Run]) -> Option<Chart> {
    let firsts = firsts(runs);
    let titles = Titles {
        name: "queues_over_time",
        title: "Queues over time",
        y: "largest backlog",
        unit: "KB",
    };
    let what = "charged bytes waiting, without the packet in transmission";
    if let [run] = firsts.as_slice() {
        let series: Vec<Series> =
            fullest(run, PORTS).into_iter().map(|port| queue(run, port)).collect();
        let caption = format!(
            "Largest backlog within each interval at the fullest ports, chosen by the largest backlog \
             at any time; {what}."
        );
        return (!series.is_empty()).then(|| draw(titles, caption, &firsts, series));
    }
    let drawn = &firsts[..firsts.len().min(LINES)];
    let ports = fullest_of_all(drawn);
    let caption = format!(
        "Largest backlog within each interval at the same port in every run; {what}. The choice has \
         the fullest ports of the runs, by the largest backlog at any time."
    );
    let of_port = |name: &String| drawn.iter().map(|run| queue_of(run, name)).collect();
    let first: Vec<Series> = of_port(ports.first()?);
    let choice = |port: &String| {
        let all: Vec<Series> = of_port(port);
        let values = all.iter().map(|one| one.values.iter().map(|value| value.1).collect());
        Choice { name: port.clone(), values: values.collect() }
    };
    let choices = ports.iter().map(choice).collect();
    Some(Chart { choices, ..draw(titles, caption, drawn, first) })
}

/// Names of the ports that are among the fullest of some run, the fullest first.
fn fullest_of_all(runs: &[&Run]) -> Vec<String> {
    let mut all: Vec<(bool, u64, &str)> = vec![];
    for run in runs {
        for port in fullest(run, PORTS) {
            let (meta, most) = (&run.ports[port], run.record.ports[port].total.backlog_max);
            match all.iter_mut().find(|known| known.2 == meta.name) {
                Some(known) => known.1 = known.1.max(most),
                None => all.push((meta.tier == "nic", most, &meta.name)),
            }
        }
    }
    all.sort_by_key(|(nic, most, name)| (*nic, Reverse(*most), *name));
    all.into_iter().take(CHOICES).map(|(_, _, name)| name.to_string()).collect()
}

/// The queue of a port in a run, which the run may not have.
fn queue_of(run: &Run, name: &str) -> Series {
    let label = run.label.clone();
    match run.ports.iter().position(|port| port.name == name) {
        Some(port) => Series { name: label, ..queue(run, port) },
        None => Series { name: label, values: vec![] },
    }
}

/// The ports with the largest backlogs, switches before NICs; none that never had one. Given are rows of ports: number,
/// whether it is of a NIC, and a backlog.
pub fn fullest_of(rows: impl IntoIterator<Item = (usize, bool, u64)>, count: usize) -> Vec<usize> {
    let mut most: BTreeMap<usize, (bool, Reverse<u64>)> = BTreeMap::new();
    for (port, nic, backlog) in rows.into_iter().filter(|row| row.2 > 0) {
        let own = most.entry(port).or_insert((nic, Reverse(0)));
        own.1.0 = own.1.0.max(backlog);
    }
    let mut ports: Vec<usize> = most.keys().copied().collect();
    ports.sort_by_key(|port| most[port]);
    ports.truncate(count);
    ports
}

fn fullest(run: &Run, count: usize) -> Vec<usize> {
    let total = |port: usize| run.record.ports[port].total.backlog_max;
    let row = |port: usize| (port, run.ports[port].tier == "nic", total(port));
    fullest_of((0..run.ports.len()).map(row), count)
}

fn queue(run: &Run, port: usize) -> Series {
    let values = joined(run).map(|stretch| {
        let most = join(run, port, &stretch).backlog_max as f64 / 1e3;
        (place(run, &stretch).0, most)
    });
    Series { name: run.ports[port].name.clone(), values: values.collect() }
}
