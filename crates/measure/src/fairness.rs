//! Who got how much: shares of transports, Jain's index over flows, time to convergence.

use crate::Run;
use crate::run::gbps;
use crate::statistics::{jain, mean};
use incast_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Rates are equal when each is within this share of their mean. For two rates: they differ by less
/// than 20 % of their sum (DECN Figure 1's criterion as we read it).
pub const TOLERANCE: f64 = 0.2;

/// A stretch of consecutive intervals of a run's series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// First interval.
    pub first: usize,
    /// The interval behind the last one.
    pub end: usize,
}

impl Window {
    /// One interval.
    pub fn interval(index: usize) -> Window {
        Window { first: index, end: index + 1 }
    }

    /// The intervals whose middle lies from `from` to `to`, cut into windows of about `length`, at
    /// least one interval each and at most all; what is left over at the end is left out.
    pub fn cut(run: &Run, from: Time, to: Time, length: Span) -> Vec<Window> {
        let width = run.record.interval.0.max(1);
        let intervals = run.intervals();
        let inside: Vec<usize> =
            run.middles_in(from, to).take_while(|index| *index < intervals).collect();
        let each = ((length.0 + width / 2) / width).clamp(1, inside.len().max(1) as u64) as usize;
        let window = |some: &[usize]| Window { first: some[0], end: some[0] + some.len() };
        inside.chunks_exact(each).map(window).collect()
    }

    /// Start and length; the last interval ends with the run.
    pub fn place(&self, run: &Run) -> (Time, Span) {
        let length = (self.first..self.end).map(|at| run.interval(at).1).sum();
        (run.interval(self.first).0, length)
    }

    fn sum(&self, series: &[u64]) -> u64 {
        (self.first..self.end).map(|at| series.get(at).copied().unwrap_or(0)).sum()
    }

    /// Payload bytes that all flows of a transport delivered; `None` if they were not recorded:
    /// a run of one transport records chosen flows only.
    pub fn delivered(&self, run: &Run, transport: usize) -> Option<u64> {
        if let Some(series) = run.record.shares.get(transport) {
            return Some(self.sum(series));
        }
        let whole = run.transports.len() == 1 && run.record.series.len() == run.flows.len();
        whole.then(|| run.record.series.iter().map(|one| self.sum(&one.delivered)).sum())
    }

    /// A transport's part of the payload delivered; `None` if nothing was, or it is unknown.
    pub fn share(&self, run: &Run, transport: usize) -> Option<f64> {
        let all: Option<u64> = (0..run.transports.len()).map(|at| self.delivered(run, at)).sum();
        let all = all.filter(|bytes| *bytes > 0)?;
        Some(self.delivered(run, transport)? as f64 / all as f64)
    }

    /// Bytes of the recorded flows, of one transport or all, that were open during the whole
    /// window.
    pub fn rates(&self, run: &Run, transport: Option<usize>) -> Vec<f64> {
        let (start, length) = self.place(run);
        let whole = |flow: usize| {
            let record = &run.record.flows[flow];
            transport.is_none_or(|at| run.flows[flow].transport as usize == at)
                && record.started.is_some_and(|at| at <= start)
                && record.completed.is_none_or(|at| at >= start + length)
        };
        let chosen = run.record.series.iter().filter(|one| whole(one.flow.0 as usize));
        chosen.map(|one| self.sum(&one.delivered) as f64).collect()
    }

    /// Jain's index over [`rates`](Window::rates).
    pub fn jain(&self, run: &Run, transport: Option<usize>) -> Option<f64> {
        jain(&self.rates(run, transport))
    }

    /// Mean rate of the recorded flows of each transport that has some, in order.
    pub fn rates_of_transports(&self, run: &Run) -> Vec<f64> {
        (0..run.transports.len()).filter_map(|at| mean(&self.rates(run, Some(at)))).collect()
    }
}

/// Whether each of at least two rates is within `tolerance` (a share) of their mean.
pub fn equal(rates: &[f64], tolerance: f64) -> bool {
    let Some(mean) = mean(rates).filter(|mean| *mean > 0.0 && rates.len() > 1) else {
        return false;
    };
    rates.iter().all(|rate| (rate - mean).abs() < tolerance * mean)
}

/// End of the first window in which rates are [`equal`]; with `lasting`, of the first from which on
/// they are in all windows.
pub fn converged(
    run: &Run,
    windows: &[Window],
    rates: impl Fn(&Window) -> Vec<f64>,
    tolerance: f64,
    lasting: bool,
) -> Option<Time> {
    let fits = |window: &&Window| equal(&rates(window), tolerance);
    let found = if lasting {
        let tail = windows.iter().rev().take_while(fits).count();
        windows[windows.len() - tail..].first()
    } else {
        windows.iter().find(fits)
    };
    let (start, length) = found?.place(run);
    Some(start + length)
}

/// Fairness of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FairnessSummary {
    /// Recorded flows: over them Jain's index and convergence are taken.
    pub recorded_flows: usize,
    /// Length of the windows: a fiftieth of the run in whole intervals.
    pub window_ns: f64,
    /// Mean over windows of Jain's index over recorded flows open during the whole window.
    pub jain_mean: Option<f64>,
    /// The least of these.
    pub jain_min: Option<f64>,
    /// From the opening of the last recorded flow (but not before) to the end of the first window
    /// from which on every recorded flow's rate is within 20 % of their mean, until the first of
    /// them completes; null if it does not converge.
    pub convergence_ns: Option<f64>,
    /// By transport, in the run's order, those without flows left out.
    pub shares: Vec<TransportShare>,
}

/// What one transport got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransportShare {
    /// Its name.
    pub transport: String,
    /// Its flows, warm-up included.
    pub flows: usize,
    /// Payload bytes they delivered.
    pub delivered_bytes: u64,
    /// Their part of the payload of all, 0 to 1.
    pub share: Option<f64>,
    /// Mean over its recorded flows of the rate until completion or the end of the run.
    pub recorded_flow_mean_gbps: Option<f64>,
}

/// The fairness of a run, if it has several transports or at least two recorded flows.
pub fn fairness(run: &Run) -> Option<FairnessSummary> {
    if run.transports.len() < 2 && run.record.series.len() < 2 {
        return None;
    }
    let length = run.lived() / 50;
    let windows = Window::cut(run, run.began(), run.record.ended, length);
    let jains: Vec<f64> = windows.iter().filter_map(|window| window.jain(run, None)).collect();
    let total: u64 = run.record.flows.iter().map(|flow| flow.delivered).sum();
    let of_transport = |(at, name): (usize, &String)| {
        let own = |flow: &usize| run.flows[*flow].transport as usize == at;
        let flows: Vec<usize> = (0..run.flows.len()).filter(own).collect();
        let delivered = flows.iter().map(|flow| run.record.flows[*flow].delivered).sum::<u64>();
        let recorded = run.record.series.iter().map(|one| one.flow.0 as usize).filter(own);
        let rates: Vec<f64> = recorded.filter_map(|flow| run.throughput_gbps(flow)).collect();
        (!flows.is_empty()).then(|| TransportShare {
            transport: name.clone(),
            flows: flows.len(),
            delivered_bytes: delivered,
            share: (total > 0).then(|| delivered as f64 / total as f64),
            recorded_flow_mean_gbps: mean(&rates),
        })
    };
    Some(FairnessSummary {
        recorded_flows: run.record.series.len(),
        window_ns: windows.first().map_or(0.0, |window| window.place(run).1.as_ns_f64()),
        jain_mean: mean(&jains),
        jain_min: jains.iter().copied().reduce(f64::min),
        convergence_ns: convergence(run, length).map(Span::as_ns_f64),
        shares: run.transports.iter().enumerate().filter_map(of_transport).collect(),
    })
}

/// From the opening of the last recorded flow until rates are equal for good.
fn convergence(run: &Run, length: Span) -> Option<Span> {
    let recorded = || run.record.series.iter().map(|one| &run.record.flows[one.flow.0 as usize]);
    let joined = recorded().filter_map(|flow| flow.started).max()?;
    let left = recorded().filter_map(|flow| flow.completed).min().unwrap_or(run.record.ended);
    let windows = Window::cut(run, joined, left, length);
    let end = converged(run, &windows, |window| window.rates(run, None), TOLERANCE, true)?;
    Some(end.since(joined))
}

/// Throughput of a transport over a window in Gb/s.
pub(crate) fn throughput(run: &Run, window: Window, transport: usize) -> Option<f64> {
    gbps(window.delivered(run, transport)?, window.place(run).1)
}
