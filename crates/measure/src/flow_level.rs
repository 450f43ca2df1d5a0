//! Runs at flow level, and how far they are from packets.

use crate::number::{significant, time_unit};
use crate::statistics::{ascending, mean, percentile};
use incast_units::Span;
use serde::{Deserialize, Serialize};

/// That a run is one at flow level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowLevel {
    /// What that means, in a sentence.
    pub says: String,
    /// How far a sample of its flows is from packets, if that was wanted.
    pub against_packets: Option<AgainstPackets>,
}

/// Completion times of a sample of flows, the same alone at flow level and in packets. Errors are those of the flow
/// level, relative to packets: positive where it is slower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgainstPackets {
    /// Flows of the sample.
    pub sampled: usize,
    /// Of these complete in both.
    pub flows: usize,
    /// Mean completion time at flow level.
    pub fct_mean_ns: f64,
    /// The same in packets.
    pub packets_fct_mean_ns: f64,
    /// Error of the mean.
    pub mean_error: f64,
    /// 99th percentile at flow level.
    pub fct_p99_ns: f64,
    /// The same in packets.
    pub packets_fct_p99_ns: f64,
    /// Error of the 99th percentile.
    pub p99_error: f64,
    /// Mean over flows of the size of a flow's own error.
    pub each_error_mean: f64,
    /// The largest of these, with its sign.
    pub each_error_worst: f64,
    /// Whose it is.
    pub worst_flow: u32,
}

impl AgainstPackets {
    /// Of flows by number, with completion times at flow level and in packets; `None` without any.
    pub fn of(flows: &[(u32, Span, Span)], sampled: usize) -> Option<AgainstPackets> {
        let error = |own: f64, packets: f64| own / packets - 1.0;
        let of = |time: fn(&(u32, Span, Span)) -> Span| -> Vec<f64> {
            flows.iter().map(|one| time(one).as_ns_f64()).collect()
        };
        let (own, packets) = (of(|one| one.1), of(|one| one.2));
        let each: Vec<f64> = own.iter().zip(&packets).map(|(a, b)| error(*a, *b)).collect();
        let worst = (0..each.len()).max_by(|a, b| each[*a].abs().total_cmp(&each[*b].abs()))?;
        let p99 = |values: &[f64]| percentile(&ascending(values), 990);
        let (fct_mean_ns, packets_fct_mean_ns) = (mean(&own)?, mean(&packets)?);
        let (fct_p99_ns, packets_fct_p99_ns) = (p99(&own)?, p99(&packets)?);
        Some(AgainstPackets {
            sampled,
            flows: flows.len(),
            fct_mean_ns,
            packets_fct_mean_ns,
            mean_error: error(fct_mean_ns, packets_fct_mean_ns),
            fct_p99_ns,
            packets_fct_p99_ns,
            p99_error: error(fct_p99_ns, packets_fct_p99_ns),
            each_error_mean: mean(&each.iter().map(|one| one.abs()).collect::<Vec<_>>())?,
            each_error_worst: each[worst],
            worst_flow: flows[worst].0,
        })
    }

    /// In a sentence.
    pub fn words(&self) -> String {
        let time = |ns: f64| {
            let (unit, length) = time_unit(ns);
            format!("{} {unit}", significant(ns / length))
        };
        let error = |share: f64| {
            let sign = if share < 0.0 { "-" } else { "+" };
            format!("{sign}{} %", significant(100.0 * share.abs()))
        };
        let of = |own: f64, packets: f64, by: f64| {
            format!("{} instead of {} ({})", time(own), time(packets), error(by))
        };
        let count = match self.flows == self.sampled {
            true => format!("{} flows", self.flows),
            false => format!("{} flows, of which {} are complete,", self.sampled, self.flows),
        };
        format!(
            "the first {count} alone in both: mean completion time {}, 99th percentile {}; a flow is off by {} % on \
             average, at most by {} (flow {})",
            of(self.fct_mean_ns, self.packets_fct_mean_ns, self.mean_error),
            of(self.fct_p99_ns, self.packets_fct_p99_ns, self.p99_error),
            significant(100.0 * self.each_error_mean),
            error(self.each_error_worst),
            self.worst_flow,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_packets() {
        let flows = [(3, Span(80_000), Span(100_000)), (5, Span(330_000), Span(300_000))];
        let all = AgainstPackets::of(&flows, 3).unwrap();
        assert_eq!((all.flows, all.sampled, all.worst_flow), (2, 3, 3));
        assert_eq!((all.fct_mean_ns, all.packets_fct_mean_ns), (205.0, 200.0));
        assert!((all.mean_error - 0.025).abs() < 1e-12 && (all.p99_error - 0.1).abs() < 1e-12);
        assert!((all.each_error_mean - 0.15).abs() < 1e-12);
        assert!((all.each_error_worst + 0.2).abs() < 1e-12);
        let words = all.words();
        assert!(words.starts_with("the first 3 flows, of which 2 are complete, alone"), "{words}");
        assert!(words.contains("205 ns instead of 200 ns (+2.5 %)"), "{words}");
        assert!(words.ends_with("at most by -20 % (flow 3)"), "{words}");
        assert_eq!(AgainstPackets::of(&[], 3), None);
    }
}
