//! What a study will cost, from a short probe.

use crate::point::Point;
use crate::run::row;
use crate::store::Store;
use crate::study::Study;
use cpu_time::ThreadTime;
use incast_experiment::memory::of_plan;
use incast_experiment::{Fault, Monitor, Plan, execute};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time that all probes take together, about.
const PROBES: Duration = Duration::from_secs(10);

/// Most combinations of a series that run for a moment.
const PROBED: usize = 6;

/// Most combinations that are planned to learn their size.
const PLANNED: usize = 32;

/// Bytes of a block of the file system: a row takes whole ones.
const BLOCK: u64 = 4 << 10;
/// Bytes of a row whose run did not end during its probe, at least; measured with 200 and 300 flows.
const ROW: u64 = 12 << 10;
/// Bytes that a row adds to the tables.
const IN_TABLES: u64 = 500;
/// Bytes of the page, whose charts carry their library, of its figures, and of tables without rows.
const PAGE: u64 = 2_650_000;

/// Bytes of the report and the tables of a run, where they are kept.
const REPORT: u64 = 2_900_000;

/// Bytes of memory of the program without a run.
const PROGRAM: u64 = 11_000_000;
/// Bytes that it takes at the end, to write tables and page.
const ENDING: u64 = 48_000_000;
/// Bytes that it takes then per row, which are all read; measured with 10,000.
const ROW_READ: u64 = 16 << 10;

/// What a study will cost.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// Points; equal ones once. With `repeat_until`, the least.
    pub points: usize,
    /// Points without a row.
    pub to_run: usize,
    /// CPU seconds of all that is to be run.
    pub cpu_seconds: f64,
    /// Seconds with so many threads, at least those of the longest point.
    pub wall_seconds: f64,
    /// Bytes of memory of the program with the points that run at a time.
    pub memory: u64,
    /// Bytes on disk of all rows, of the tables and of the page.
    pub disk: u64,
}

/// The cost of a point by how much it delivers.
struct Size {
    bytes: f64,
    memory: u64,
}

/// Probes a study: up to six combinations of each series, evenly chosen, run for a moment, and the
/// others are assumed to cost as much per byte of payload, in CPU time, as the one next to them in
/// the order in which the study varies its keys: other programs do not change it. With a store, what
/// it has need not be run.
///
/// # Errors
/// A scenario that cannot be planned.
pub fn estimate(study: &Study, store: Option<&Store>, threads: usize) -> Result<Estimate, Fault> {
    let kept = store.map(Store::hashes).transpose()?.unwrap_or_default();
    let mut once: BTreeMap<&str, &Arc<Point>> = BTreeMap::new();
    study.points().iter().for_each(|point| {
        once.entry(&point.hash).or_insert(point);
    });
    let to_run: Vec<&Arc<Point>> =
        once.values().copied().filter(|point| !kept.contains(&point.hash)).collect();
    let mut all = Estimate {
        points: once.len(),
        to_run: to_run.len(),
        cpu_seconds: 0.0,
        wall_seconds: 0.0,
        memory: ENDING + once.len() as u64 * ROW_READ,
        disk: PAGE + once.len() as u64 * IN_TABLES,
    };
    if study.reports() {
        all.disk += to_run.len() as u64 * REPORT;
    }
    let there = (once.len() - to_run.len()) as u64;
    if to_run.is_empty() {
        all.disk += there * ROW;
        return Ok(all);
    }
    let sizes = sizes(&to_run)?;
    let rates = rates(&to_run)?;
    let mean = sizes.values().map(|size| size.bytes).sum::<f64>() / sizes.len() as f64;
    let (mut longest, mut rows) = (0.0f64, 0);
    for point in &to_run {
        let bytes = sizes.get(&point.combination).map_or(mean, |size| size.bytes);
        let Rate { fixed, per_byte, row } = *nearest(&rates[&point.series], point.combination);
        let seconds = fixed + per_byte * bytes;
        all.cpu_seconds += seconds;
        longest = longest.max(seconds);
        rows += row;
    }
    // Those that are there are taken for such as are not.
    all.disk += rows + there * rows / to_run.len() as u64;
    let at_once = threads.max(1).min(to_run.len());
    all.wall_seconds = (all.cpu_seconds / threads.max(1) as f64).max(longest);
    let largest = sizes.values().map(|size| size.memory).max().unwrap_or(0);
    all.memory = all.memory.max(PROGRAM + largest * at_once as u64);
    Ok(all)
}

/// Sizes of combinations, evenly chosen if there are many.
fn sizes(points: &[&Arc<Point>]) -> Result<BTreeMap<usize, Size>, Fault> {
    let mut first: BTreeMap<usize, &Arc<Point>> = BTreeMap::new();
    points.iter().for_each(|point| {
        first.entry(point.combination).or_insert(point);
    });
    let step = first.len().div_ceil(PLANNED);
    let chosen = first.into_iter().step_by(step);
    let size = |(combination, point): (usize, &Arc<Point>)| {
        let plan = Plan::with_contents(point.scenario(), point.contents().clone());
        let plan = plan.map_err(|fault| fault.noted(&point.name()))?;
        let size = Size { bytes: plan.traffic.total_bytes() as f64, memory: of_plan(&plan) };
        Ok((combination, size))
    };
    chosen.map(size).collect()
}

/// What a point of a series takes.
#[derive(Clone, Copy)]
struct Rate {
    /// CPU seconds before the run, for its plan, and after it, for its row.
    fixed: f64,
    /// CPU seconds per byte of payload.
    per_byte: f64,
    /// Bytes of its row on disk.
    row: u64,
}

/// What the probed combinations of each series take.
fn rates(points: &[&Arc<Point>]) -> Result<BTreeMap<usize, BTreeMap<usize, Rate>>, Fault> {
    let mut series: BTreeMap<usize, BTreeMap<usize, &Arc<Point>>> = BTreeMap::new();
    points.iter().for_each(|point| {
        series.entry(point.series).or_default().entry(point.combination).or_insert(point);
    });
    let probes: usize = series.values().map(|own| own.len().min(PROBED)).sum();
    let slice = (PROBES / probes as u32).min(Duration::from_secs(1));
    let rates_of = |own: BTreeMap<usize, &Arc<Point>>| -> Result<BTreeMap<usize, Rate>, Fault> {
        let own: Vec<_> = own.into_iter().collect();
        let chosen = own.len().min(PROBED);
        // The first and the last are among them.
        let place = |at: usize| at * (own.len() - 1) / (chosen - 1).max(1);
        (0..chosen)
            .map(|at| own[place(at)])
            .map(|(of, point)| Ok((of, probe(point, slice)?)))
            .collect()
    };
    series.into_iter().map(|(at, own)| Ok((at, rates_of(own)?))).collect()
}

/// What is known of the combination that is next to this one.
fn nearest(rates: &BTreeMap<usize, Rate>, combination: usize) -> &Rate {
    let near = rates.iter().min_by_key(|(of, _)| of.abs_diff(combination));
    near.expect("a series has points to run").1
}

/// What a point takes, from what it delivers until `slice` is over.
fn probe(point: &Point, slice: Duration) -> Result<Rate, Fault> {
    let cpu = ThreadTime::now();
    let plan = Plan::with_contents(point.scenario(), point.contents().clone())?;
    let fixed = cpu.elapsed().as_secs_f64();
    let monitor = Monitor::default();
    let (begin, cpu) = (Instant::now(), ThreadTime::now());
    let run = std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            while begin.elapsed() < slice && !monitor.stopped() {
                std::thread::sleep(Duration::from_millis(5));
            }
            monitor.stop.store(true, Ordering::Relaxed);
        });
        let run = execute(&plan, &plan.cases[0], vec![], 1, &monitor);
        monitor.stop.store(true, Ordering::Relaxed);
        timer.join().expect("the timer only sleeps");
        run
    });
    let (run, _) = run?;
    let seconds = cpu.elapsed().as_secs_f64();
    let delivered: u64 = run.record.flows.iter().map(|flow| flow.delivered).sum();
    // What a row says of the run is part of what it takes, and looks at every flow in any case.
    let cpu = ThreadTime::now();
    let bytes = row(point, &run).to_bytes().len() as u64;
    let fixed = fixed + cpu.elapsed().as_secs_f64();
    let least = if run.record.interrupted { ROW } else { 0 };
    let row = bytes.next_multiple_of(BLOCK).max(least);
    // Without a byte the whole of the slice was for the first.
    Ok(Rate { fixed, per_byte: seconds / delivered.max(1) as f64, row })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_costs_as_much_as_the_probed_one_next_to_it() {
        let rate = |fixed| Rate { fixed, per_byte: 0.0, row: 0 };
        let rates = BTreeMap::from([(0, rate(1.0)), (4, rate(2.0)), (9, rate(3.0))]);
        let near = |combination| nearest(&rates, combination).fixed;
        assert_eq!([0, 1, 3, 6, 7, 20].map(near), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    }
}
