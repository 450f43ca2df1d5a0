//! Breakdown of completion times and age of feedback, over many flows.

use incast_transport::{Histogram, Parts};
use serde::{Deserialize, Serialize};

/// Percentiles of an age in nanoseconds, at most 1/16 too small.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgePercentiles {
    /// 50th percentile.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl AgePercentiles {
    /// Of these decisions; `None` without any.
    pub fn of(ages: &Histogram) -> Option<AgePercentiles> {
        let ns = |thousandths| Some(ages.percentile(thousandths)? as f64 / 1e3);
        Some(AgePercentiles { median: ns(500)?, p95: ns(950)?, p99: ns(990)? })
    }
}

/// Means of the parts of the completion time in nanoseconds; they add up to its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartMeans {
    /// The NIC was busy with this flow.
    pub nic_own: f64,
    /// The NIC was busy with other flows.
    pub nic_other: f64,
    /// The NIC was idle, and no reason reported.
    pub blocked_ready: f64,
    /// Waiting for a grant, token or pull.
    pub blocked_grant: f64,
    /// Waiting for a credit.
    pub blocked_credit: f64,
    /// The window was full.
    pub blocked_window: f64,
    /// Paced.
    pub blocked_pacing: f64,
    /// Recovery from losses.
    pub recovery: f64,
    /// Serialisation on all links.
    pub serialisation: f64,
    /// Propagation on all links.
    pub propagation: f64,
    /// Queueing in NICs, and what hosts take that are not ideal.
    pub queue_nic: f64,
    /// Queueing in edge switches.
    pub queue_edge: f64,
    /// Queueing in aggregation switches.
    pub queue_aggregation: f64,
    /// Queueing in core switches.
    pub queue_core: f64,
}

impl PartMeans {
    /// Names of the parts as in the columns (without `_ps`) and their values.
    pub fn named(&self) -> [(&'static str, f64); 14] {
        [
            ("nic_own", self.nic_own),
            ("nic_other", self.nic_other),
            ("blocked_ready", self.blocked_ready),
            ("blocked_grant", self.blocked_grant),
            ("blocked_credit", self.blocked_credit),
            ("blocked_window", self.blocked_window),
            ("blocked_pacing", self.blocked_pacing),
            ("recovery", self.recovery),
            ("serialisation", self.serialisation),
            ("propagation", self.propagation),
            ("queue_nic", self.queue_nic),
            ("queue_edge", self.queue_edge),
            ("queue_aggregation", self.queue_aggregation),
            ("queue_core", self.queue_core),
        ]
    }

    /// The mean over flows; `None` without flows.
    pub fn of<'a>(parts: impl Iterator<Item = &'a Parts>) -> Option<PartMeans> {
        PartMeans::of_rows(parts.map(|part| {
            let [b0, b1, b2, b3, b4] = part.blocked;
            let [q0, q1, q2, q3] = part.queueing;
            let Parts { nic_own, nic_other, recovery, serialisation, propagation, .. } = *part;
            [
                nic_own,
                nic_other,
                b0,
                b1,
                b2,
                b3,
                b4,
                recovery,
                serialisation,
                propagation,
                q0,
                q1,
                q2,
                q3,
            ]
        }))
    }

    /// The mean over rows of picoseconds, in the order of [`named`](PartMeans::named); `None` without rows. Sums are exact
    /// (128-bit).
    pub fn of_rows(rows: impl Iterator<Item = [u64; 14]>) -> Option<PartMeans> {
        let (mut sums, mut count) = ([0u128; 14], 0u64);
        for values in rows {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value as u128);
            count += 1;
        }
        let m = sums.map(|sum| sum as f64 / 1e3 / count as f64);
        (count > 0).then_some(PartMeans {
            nic_own: m[0],
            nic_other: m[1],
            blocked_ready: m[2],
            blocked_grant: m[3],
            blocked_credit: m[4],
            blocked_window: m[5],
            blocked_pacing: m[6],
            recovery: m[7],
            serialisation: m[8],
            propagation: m[9],
            queue_nic: m[10],
            queue_edge: m[11],
            queue_aggregation: m[12],
            queue_core: m[13],
        })
    }
}
