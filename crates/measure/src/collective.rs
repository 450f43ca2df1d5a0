//! Iterations of collectives: bandwidth, skew, exposed communication, critical path.

use crate::Run;
use crate::jobs::Collective;
use crate::parts::PartMeans;
use crate::statistics::{Distribution, mean};
use incast_units::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The iterations of one collective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveSummary {
    /// Which collective of the scenario, from 0.
    pub collective: u32,
    /// Its job; empty of traffic of kind `collective`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub job: String,
    /// What the ranks want, such as `all_reduce`.
    pub kind: String,
    /// How they get it, such as `ring`.
    pub algorithm: String,
    /// How many ranks.
    pub ranks: u32,
    /// Bytes that each has or wants.
    pub bytes: u64,
    /// Iterations.
    pub iterations: usize,
    /// Of these complete; only they count in what follows.
    pub completed: usize,
    /// From the first start to the last arrival.
    pub completion_ns: Option<Distribution>,
    /// From the end of the iteration before.
    pub iteration_ns: Option<Distribution>,
    /// What of this time is more than computation, mean.
    pub exposed_mean_ns: Option<f64>,
    /// Size over completion time, GB/s, mean.
    pub algbw: Option<f64>,
    /// The same as compared with the rate of a link.
    pub busbw: Option<f64>,
    /// Completion time over the ideal one.
    pub slowdown: Option<Distribution>,
    /// From the first rank that had got everything to the last one, mean.
    pub skew_end_mean_ns: Option<f64>,
    /// Computation on the critical path, mean.
    pub path_compute_mean_ns: Option<f64>,
    /// Parts of the critical path, mean.
    pub path_parts_mean_ns: Option<PartMeans>,
}

impl fmt::Display for CollectiveSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CollectiveSummary { job, kind, algorithm, ranks, completed, iterations, .. } = self;
        write!(f, "{job}: {kind} ({algorithm}, {ranks} ranks): ")?;
        let ms = |ns: f64| crate::significant(ns / 1e6);
        match (self.iteration_ns, self.exposed_mean_ns, self.busbw) {
            (Some(took), Some(exposed), Some(busbw)) => write!(
                f,
                "{completed} of {iterations} iterations are complete; one takes {} ms, {} ms of it exposed \
                 communication, mean; bus bandwidth {} GB/s",
                ms(took.mean),
                ms(exposed),
                crate::significant(busbw)
            ),
            _ => write!(f, "{completed} of {iterations} iterations are complete"),
        }
    }
}

/// The collectives of a run.
pub fn collectives(run: &Run) -> Vec<CollectiveSummary> {
    run.collectives.chunk_by(|a, b| a.number == b.number).map(summary).collect()
}

fn summary(all: &[Collective]) -> CollectiveSummary {
    let values = |value: fn(&Collective) -> Option<f64>| -> Vec<f64> {
        all.iter().filter_map(value).collect()
    };
    let ns = |span: Span| span.as_ns_f64();
    let first = &all[0];
    let paths = || all.iter().filter_map(|one| one.path.as_ref());
    CollectiveSummary {
        collective: first.number,
        job: first.job.clone(),
        kind: first.kind.into(),
        algorithm: first.algorithm.into(),
        ranks: first.ranks,
        bytes: first.bytes,
        iterations: all.len(),
        completed: all.iter().filter(|one| one.end.is_some()).count(),
        completion_ns: Distribution::of(&values(|one| Some(one.completion()?.as_ns_f64()))),
        iteration_ns: Distribution::of(&values(|one| Some(one.time()?.as_ns_f64()))),
        exposed_mean_ns: mean(&values(|one| Some(one.exposed()?.as_ns_f64()))),
        algbw: mean(&values(Collective::algorithm_bandwidth)),
        busbw: mean(&values(Collective::bus_bandwidth)),
        slowdown: Distribution::of(&values(Collective::slowdown)),
        skew_end_mean_ns: mean(&values(|one| Some(one.skew_end?.as_ns_f64()))),
        path_compute_mean_ns: mean(&paths().map(|path| ns(path.compute)).collect::<Vec<_>>()),
        path_parts_mean_ns: PartMeans::of(paths().map(|path| &path.parts)),
    }
}

/// The largest, or smallest, of the means of collectives that have such a number.
pub(crate) fn extreme(
    all: &[CollectiveSummary],
    number: impl Fn(&CollectiveSummary) -> Option<f64>,
    choose: fn(f64, f64) -> f64,
) -> Option<f64> {
    all.iter().filter_map(number).reduce(choose)
}

/// A number of all collectives: its mean over the iterations that are complete.
pub(crate) fn over(
    all: &[CollectiveSummary],
    number: impl Fn(&CollectiveSummary) -> Option<f64>,
) -> Option<f64> {
    let of = |one: &CollectiveSummary| Some((number(one)? * one.completed as f64, one.completed));
    let (sum, count) =
        all.iter().filter_map(of).fold((0.0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
    (count > 0).then(|| sum / count as f64)
}
