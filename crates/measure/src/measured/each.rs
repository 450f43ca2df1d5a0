//! The values that a number summarises, and how far two runs' values are apart.

use super::{ClaimedNumber, Measure, Of};
use crate::numbers::Interval;
use crate::{Run, statistics};
use serde::Serialize;

/// Largest difference of a quantile, as a share, of values that are distributed alike.
pub const MOST: f64 = 0.05;
/// Values that are nearer than this share count as equal in the distance of two distributions.
pub const EQUAL: f64 = 0.01;
/// The 5 % level of the Kolmogorov-Smirnov test of two samples: this times `sqrt(1/n + 1/m)`.
const LEVEL: f64 = 1.358;

impl Measure {
    /// The values in ascending order, with five digits: of each chosen flow that completed, or of each
    /// interval of the time series in the window, of all chosen ports. Empty if there are none.
    pub fn each(&self, run: &Run) -> Vec<f64> {
        let all = match self.kind.of() {
            Of::Flows => self.values(run),
            Of::Flow => self.rates(run),
            Of::Ports => self.intervals(run).unwrap_or_default(),
            _ => vec![],
        };
        statistics::ascending(&all).into_iter().map(rounded).collect()
    }

    /// The number of each interval of each chosen port. What the port sent counts where the link carried
    /// it, so that a full link is 1 in every interval.
    fn intervals(&self, run: &Run) -> Option<Vec<f64>> {
        let (from, to) = self.window(run);
        let middle = |index: usize| run.interval(index).0 + run.interval(index).1 / 2;
        let all = run.intervals();
        let inside: Vec<usize> =
            (0..all).filter(|index| (from..to).contains(&middle(*index))).collect();
        let (number, unit) = self.kind.of_interval(run)?;
        let of_port = |port: usize| {
            let (meta, carried) = (&run.ports[port], run.wire_bytes(port, all));
            let number = |index: &usize| {
                let (bin, width) = (run.bin(port, *index), run.interval(*index).1.0 as f64);
                let carried = carried.get(*index).copied().unwrap_or(0) as f64;
                number(&Interval { bin, width, carried, port: meta }) / unit
            };
            inside.iter().map(number).collect::<Vec<f64>>()
        };
        Some(self.ports_of(run).into_iter().flat_map(of_port).collect())
    }

    /// The rate of the flow in each interval whose middle lies in the window, in Gb/s.
    fn rates(&self, run: &Run) -> Vec<f64> {
        let flow = |flow: u32| run.record.series.iter().find(|series| series.flow.0 == flow);
        let Some(series) = self.flow.and_then(flow) else { return vec![] };
        let ((from, to), width) = (self.window(run), run.record.interval.0.max(1));
        let at = |index: usize| series.delivered.get(index).copied().unwrap_or(0);
        run.middles_in(from, to).map(|index| at(index) as f64 * 8e3 / width as f64).collect()
    }
}

/// Five significant digits: tables stay small.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// How far the values of one run are from those of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// What the values are of: `flows`, or `intervals` of the time series.
    pub of: &'static str,
    /// The difference of the medians, as a share of the other run's.
    pub p50: f64,
    /// The same of the 90th percentiles.
    pub p90: f64,
    /// The same of the 99th percentiles.
    pub p99: f64,
    /// The Kolmogorov-Smirnov distance, in which values that are nearer than 1 % count as equal.
    pub distance: f64,
    /// The distance above which the Kolmogorov-Smirnov test of so many values refuses, at the 5 % level,
    /// that both are of one distribution.
    pub most_distance: f64,
}

impl Apart {
    /// How far `own` values are from `base`, both in ascending order. Differences are shares of the
    /// value, or of the least size that counts for its kind if that is more. `None` if there are none of either.
    pub fn between(own: &[f64], base: &[f64], kind: ClaimedNumber) -> Option<Apart> {
        let least = kind.least()?;
        let quantile = |thousandths: u32| {
            let own = statistics::percentile(own, thousandths)?;
            let base = statistics::percentile(base, thousandths)?;
            Some((own - base) / base.abs().max(least))
        };
        let numbers = 1.0 / own.len().max(1) as f64 + 1.0 / base.len().max(1) as f64;
        Some(Apart {
            of: if kind.is_of_flows() { "flows" } else { "intervals" },
            p50: quantile(500)?,
            p90: quantile(900)?,
            p99: quantile(990)?,
            distance: beyond(own, base, least).max(beyond(base, own, least)),
            most_distance: LEVEL * numbers.sqrt(),
        })
    }

    /// The largest difference of the three quantiles, without its sign.
    pub fn most(&self) -> f64 {
        [self.p50, self.p90, self.p99].into_iter().map(f64::abs).fold(0.0, f64::max)
    }

    /// Whether the values are distributed alike by both rules.
    pub fn alike(&self) -> bool {
        self.most() <= MOST && self.distance <= self.most_distance
    }
}

/// The most by which the share of `low` up to some value exceeds the share of `high` up to a little
/// more than that value.
fn beyond(low: &[f64], high: &[f64], least: f64) -> f64 {
    let share = |values: &[f64], most: f64| {
        values.partition_point(|value| *value <= most) as f64 / values.len() as f64
    };
    let at = |value: &f64| {
        let more = value + EQUAL * value.abs().max(least);
        share(low, *value) - share(high, more)
    };
    low.iter().map(at).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> ClaimedNumber {
        ClaimedNumber::named(name).unwrap()
    }

    fn up_to(count: u32, step: f64) -> Vec<f64> {
        (1..=count).map(|at| f64::from(at) * step).collect()
    }

    #[test]
    fn equal_values_are_not_apart() {
        let values = up_to(100, 1.0);
        let apart = Apart::between(&values, &values, kind("backlog_mean_packets")).unwrap();
        assert!(apart.most() == 0.0 && apart.distance == 0.0 && apart.alike());
        assert_eq!(Apart::between(&[], &values, kind("backlog_mean_packets")), None);
        assert_eq!(Apart::between(&values, &[], kind("backlog_mean_packets")), None);
    }

    /// Of 1 to 100 and twice that: every quantile is 100 % more, and at 50 (and a little more) a half
    /// of the one and a quarter of the other are there.
    #[test]
    fn the_distance_is_that_of_kolmogorov_and_smirnov() {
        let (base, own) = (up_to(100, 1.0), up_to(100, 2.0));
        let apart = Apart::between(&own, &base, kind("fct_mean_us")).unwrap();
        assert_eq!((apart.p50, apart.p90, apart.p99, apart.of), (1.0, 1.0, 1.0, "flows"));
        assert_eq!(apart.distance, 0.5);
        // 1.358 sqrt(2/100): the table's value for two samples of 100.
        assert!((apart.most_distance - 0.192).abs() < 1e-3 && !apart.alike());
        let back = Apart::between(&base, &own, kind("fct_mean_us")).unwrap();
        assert_eq!((back.p50, back.distance), (-0.5, 0.5));
    }

    /// A full link is as full if each interval differs by 0.1 %, though no two values are equal.
    #[test]
    fn values_next_to_each_other_are_equal() {
        let base = vec![1.0; 50];
        let own: Vec<f64> = (0..50).map(|at| 0.999 + f64::from(at) * 1e-6).collect();
        let apart = Apart::between(&own, &base, kind("utilisation")).unwrap();
        assert!(apart.distance == 0.0 && apart.most() < 0.0011 && apart.alike(), "{apart:?}");
        let other = vec![0.98; 50];
        let apart = Apart::between(&other, &base, kind("utilisation")).unwrap();
        assert!(apart.distance == 1.0 && !apart.alike(), "{apart:?}");
    }

    /// Queues next to nothing are compared in packets, not by their quotient.
    #[test]
    fn small_values_are_shares_of_the_least() {
        let apart = Apart::between(&[0.02; 9], &[0.01; 9], kind("backlog_mean_packets")).unwrap();
        assert!((apart.p50 - 0.01).abs() < 1e-12 && apart.alike(), "{apart:?}");
        let apart = Apart::between(&[0.02; 9], &[0.0; 9], kind("backlog_mean_packets")).unwrap();
        assert!((apart.p99 - 0.02).abs() < 1e-12 && apart.distance == 1.0, "{apart:?}");
    }

    #[test]
    fn kept_values_have_five_digits() {
        assert_eq!([1.0 / 3.0, 0.0, 123_456.0].map(rounded), [0.33333, 0.0, 123_460.0]);
    }
}
