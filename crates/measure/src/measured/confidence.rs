//! Confidence intervals of measured values.
//!
//! Of several seeds, the interval is that of their values; quotients and differences are formed
//! seed by seed. A single run is cut into batches of its flows in order of their start, and the
//! values of the batches are treated as samples. Two runs of the same flows are compared batch by
//! batch: effects of the arrivals cancel, as in a paired comparison.

use super::{Measure, MeasuredValue};
use crate::{Run, statistics};
use std::collections::BTreeMap;

/// What runs that differ in their seed gave for one name.
pub type BySeed<'a> = BTreeMap<u64, &'a MeasuredValue>;

/// A measured number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Its value; the mean over seeds.
    pub value: f64,
    /// Half width of its 95 % confidence interval, if it has one.
    pub half_width: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

impl Estimate {
    /// The number of several seeds; with one, `half_width` is that of its batches.
    fn of(samples: &[f64], half_width: impl Fn() -> Option<f64>) -> Option<Estimate> {
        // Seeds some of which never get there have no mean.
        let finite = samples.iter().filter(|sample| sample.is_finite()).count();
        if finite > 0 && finite < samples.len() {
            return None;
        }
        let value = statistics::mean(samples)?;
        let half_width = match samples.len() {
            1 => half_width(),
            _ => interval(samples).filter(|width| width.is_finite()),
        };
        Some(Estimate { value, half_width, seeds: samples.len() })
    }
}

/// The number of some runs that differ in their seed.
pub fn estimate(runs: &BySeed<'_>) -> Option<Estimate> {
    let samples: Vec<f64> = runs.values().filter_map(|seen| seen.value).collect();
    Estimate::of(&samples, || runs.values().find_map(|seen| interval(&seen.list)))
}

/// The number of some runs less that of others.
pub fn difference(runs: &BySeed<'_>, base: &BySeed<'_>) -> Option<Estimate> {
    let pairs = pairs(runs, base);
    let samples: Vec<f64> = pairs
        .iter()
        .map(|(a, b)| a.value.zip(b.value))
        .map(|pair| pair.map(|(a, b)| a - b))
        .collect::<Option<_>>()?;
    Estimate::of(&samples, || width_against(pairs[0].0, pairs[0].1, 1.0))
}

/// The number of some runs over that of others. Of `r = a / b` in one run of each, the half width
/// is that of `(a - r b) / b`.
pub fn quotient(runs: &BySeed<'_>, base: &BySeed<'_>) -> Option<Estimate> {
    let pairs = pairs(runs, base);
    let ratio = |(a, b): &(&MeasuredValue, &MeasuredValue)| {
        let (a, b) = a.value.zip(b.value)?;
        (b != 0.0).then(|| a / b)
    };
    let samples: Vec<f64> = pairs.iter().map(ratio).collect::<Option<_>>()?;
    Estimate::of(&samples, || {
        let (own, other) = pairs[0];
        Some(width_against(own, other, samples[0])? / other.value?.abs())
    })
}

/// Runs of the same seed.
fn pairs<'a>(runs: &BySeed<'a>, base: &BySeed<'a>) -> Vec<(&'a MeasuredValue, &'a MeasuredValue)> {
    runs.iter().filter_map(|(seed, own)| Some((*own, *base.get(seed)?))).collect()
}

/// Half width of the 95 % confidence interval of one number less `factor` times another. Where the
/// same flows completed in both, it is that of the batches' differences; else the runs are taken
/// for independent and the squares of their half widths added.
pub fn width_against(own: &MeasuredValue, base: &MeasuredValue, factor: f64) -> Option<f64> {
    if own.flows == base.flows && own.list.len() == base.list.len() {
        let pairs = own.list.iter().zip(&base.list);
        return interval(&pairs.map(|(a, b)| a - factor * b).collect::<Vec<_>>());
    }
    let (a, b) = (interval(&own.list)?, factor * interval(&base.list)?);
    Some((a * a + b * b).sqrt())
}

impl Measure {
    /// The number of each batch of the flows in order of their start; `None` for numbers that are
    /// not statistics of flows, and of too few flows.
    pub(super) fn batches(&self, run: &Run) -> Option<Vec<f64>> {
        let smallest = self.kind.smallest_batch()?;
        statistics::batches(&self.values(run), smallest, |batch| self.kind.statistic(batch))
    }

    /// Which flows are behind the number, as a hash of number, source, destination and size; 0 if
    /// it is not a statistic of flows.
    pub(super) fn fingerprint(&self, run: &Run) -> u64 {
        if self.batches(run).is_none() {
            return 0;
        }
        // FNV-1a: the same on every machine, and kept in tables.
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let known = self.samples(run).into_iter().flat_map(|(flow, _)| {
            let meta = &run.flows[flow];
            [flow as u64, meta.src.into(), meta.dst.into(), meta.size_bytes]
        });
        known.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, add)
    }
}

/// Half width of the 95 % confidence interval of the mean of some samples.
pub fn interval(samples: &[f64]) -> Option<f64> {
    statistics::confidence(samples).map(|interval| interval.half_width)
}
