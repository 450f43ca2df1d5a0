//! When a run is in balance: as many flows complete as arrive.
//!
//! Flows that arrive over time find an empty network first, and the last ones share it with
//! nobody. In between the number of open flows has a steady level if the network carries the load.
//! Flows that start there are those to judge.

use crate::Run;
use incast_units::Time;
use serde::{Deserialize, Serialize};

/// Fewest arrivals from which balance can be told.
pub const FEWEST_ARRIVALS: usize = 100;
/// Equal parts into which the time of the arrivals is cut.
const PARTS: usize = 100;
/// Arrivals and departures that differ by at most this share balance.
const TOLERANCE: f64 = 0.02;
/// Fewest parts of which the level is taken.
const FEWEST_PARTS: usize = 20;

/// Whether a run reaches balance, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Balance {
    /// Nothing arrives over time, or fewer than [`FEWEST_ARRIVALS`] flows do.
    Unknown,
    /// The number of open flows has no steady level in the second half of the arrivals.
    Never,
    /// Arrivals and departures balance in this window.
    Reached(Window),
}

/// A window of time in which arrivals and departures balance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Its start.
    pub from: Time,
    /// The last arrival.
    pub to: Time,
}

impl Window {
    /// The second half of a run's arrivals; `None` if nothing arrives over time, or too few flows do.
    pub fn second_half(run: &Run) -> Option<Window> {
        let period = period(&stays(run))?;
        Some(Window { from: Time(border(period, PARTS / 2)), to: Time(period.1) })
    }

    /// Whether a flow that starts then is to be judged.
    pub fn contains(&self, start: Time) -> bool {
        (self.from..=self.to).contains(&start)
    }
}

/// What is reported of a run's balance.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct BalanceSummary {
    /// Whether it is reached. If not, the rest describes the second half of the arrivals.
    pub reached: bool,
    /// Start of the window.
    pub from_ns: f64,
    /// Its end, the last arrival.
    pub to_ns: f64,
    /// Flows that start in it.
    pub arrivals: usize,
    /// Flows that complete in it.
    pub departures: usize,
}

/// Starts and ends of the flows that arrive over time; of incomplete flows the end of the run.
fn stays(run: &Run) -> Vec<(u64, u64)> {
    let flows = run.record.flows.iter().zip(&run.flows).filter(|(_, meta)| meta.arrival);
    let stay = |(flow, _): (&incast_transport::FlowRecord, _)| {
        let start = flow.started?;
        Some((start.0, flow.completed.unwrap_or(run.record.ended.max(start)).0))
    };
    flows.filter_map(stay).collect()
}

/// First and last arrival.
fn period(stays: &[(u64, u64)]) -> Option<(u64, u64)> {
    let starts = || stays.iter().map(|(start, _)| *start);
    let (first, last) = (starts().min()?, starts().max()?);
    (first < last && stays.len() >= FEWEST_ARRIVALS).then_some((first, last))
}

/// Where part `at` of a period begins.
fn border((first, last): (u64, u64), at: usize) -> u64 {
    first + ((last - first) as u128 * at as u128 / PARTS as u128) as u64
}

/// Time that flows are open in each part of the period, summed over flows.
fn open_time(stays: &[(u64, u64)], period: (u64, u64)) -> Vec<u128> {
    let (first, last) = period;
    let part = |at: u64| {
        let guess = ((at - first) as u128 * PARTS as u128 / (last - first) as u128) as usize;
        let next = guess + 1;
        // Borders are rounded down.
        if next < PARTS && border(period, next) <= at { next } else { guess.min(PARTS - 1) }
    };
    let mut open = vec![0u128; PARTS];
    let mut change = vec![0i64; PARTS + 1];
    for (start, end) in stays.iter().map(|(start, end)| (*start, (*end).min(last))) {
        let (from, to) = (part(start), part(end));
        if from == to {
            open[from] += (end - start) as u128;
            continue;
        }
        open[from] += (border(period, from + 1) - start) as u128;
        open[to] += (end - border(period, to)) as u128;
        change[from + 1] += 1;
        change[to] -= 1;
    }
    let mut through = 0i64;
    for at in 0..PARTS {
        through += change[at];
        open[at] += through as u128 * (border(period, at + 1) - border(period, at)) as u128;
    }
    open
}

/// From which of the values on their level is steady: where the marginal standard error of the mean
/// of the rest is least (MSER; White, Simulation 69 (1997) 323). Ties go to the earlier.
fn steady_from(values: &[f64]) -> usize {
    let (mut best, mut least) = (0, f64::INFINITY);
    let (mut sum, mut squares) = (0.0, 0.0);
    let scale = values.iter().copied().fold(0.0, f64::max).max(1.0);
    for (at, value) in values.iter().enumerate().rev() {
        let value = value / scale;
        sum += value;
        squares += value * value;
        let count = (values.len() - at) as f64;
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        if count >= FEWEST_PARTS as f64 && error <= least {
            (best, least) = (at, error);
        }
    }
    best
}

impl Balance {
    /// The balance of a run, from the records of its flows. The time from the first to the last
    /// arrival is cut into hundredths; the window begins with the first from which on the mean
    /// number of open flows is steady, and ends with the last arrival. If that is in the second half,
    /// the second half is the window if as many flows complete as start in it, within 2 %; otherwise
    /// the run never reaches balance.
    ///
    /// Flows that follow others, patterns and long flows are no arrivals.
    pub fn of(run: &Run) -> Balance {
        let stays = stays(run);
        let Some(period) = period(&stays) else { return Balance::Unknown };
        let open: Vec<f64> =
            open_time(&stays, period).into_iter().map(|time| time as f64).collect();
        let window = |part| Window { from: Time(border(period, part)), to: Time(period.1) };
        let from = steady_from(&open);
        if from <= PARTS / 2 {
            return Balance::Reached(window(from));
        }
        let half = window(PARTS / 2);
        let arrivals = stays.iter().filter(|(start, _)| half.contains(Time(*start))).count();
        let departures = stays.iter().filter(|(_, end)| half.contains(Time(*end))).count();
        if arrivals.abs_diff(departures) as f64 <= TOLERANCE * arrivals as f64 {
            return Balance::Reached(half);
        }
        Balance::Never
    }

    /// The balance that several runs of the same arrivals have in common: what is judged in each of
    /// them are then the same flows. `Never` if one of them never reaches it.
    pub fn common<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Balance {
        let all = runs.into_iter().map(Balance::of);
        all.reduce(|a, b| match (a, b) {
            (Balance::Never, _) | (_, Balance::Never) => Balance::Never,
            (Balance::Unknown, other) | (other, Balance::Unknown) => other,
            (Balance::Reached(a), Balance::Reached(b)) => {
                let (from, to) = (a.from.max(b.from), a.to.min(b.to));
                if from < to { Balance::Reached(Window { from, to }) } else { Balance::Never }
            }
        })
        .unwrap_or(Balance::Unknown)
    }

    /// Leaves those arrivals out of a run's statistics that start outside of the window; of a run
    /// that never reaches balance those of the first half of the arrivals. If the balance is
    /// unknown, all flows are measured.
    pub fn judge(&self, run: &mut Run) {
        let window = self.window(run);
        for (flow, meta) in run.record.flows.iter().zip(&mut run.flows) {
            let inside = |window: Window| flow.started.is_some_and(|at| window.contains(at));
            meta.warmup = meta.arrival && window.is_some_and(|window| !inside(window));
        }
    }

    /// The window whose flows are judged; `None` if all are.
    fn window(&self, run: &Run) -> Option<Window> {
        match self {
            Balance::Reached(window) => Some(*window),
            Balance::Unknown => None,
            Balance::Never => Window::second_half(run),
        }
    }

    /// In numbers; `None` if it is unknown.
    pub fn summary(&self, run: &Run) -> Option<BalanceSummary> {
        let window = self.window(run)?;
        let flows = || run.record.flows.iter().zip(&run.flows).filter(|(_, meta)| meta.arrival);
        let inside = |at: Option<Time>| at.is_some_and(|at| window.contains(at));
        Some(BalanceSummary {
            reached: matches!(self, Balance::Reached(_)),
            from_ns: window.from.as_ns_f64(),
            to_ns: window.to.as_ns_f64(),
            arrivals: flows().filter(|(flow, _)| inside(flow.started)).count(),
            departures: flows().filter(|(flow, _)| inside(flow.completed)).count(),
        })
    }
}
