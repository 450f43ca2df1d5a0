//! The numbers that every kept table has, besides those that claims and pictures need.

use incast_measure::measured::{ClaimedNumber, Measure, Wanted};

/// Classes of flows by size in bytes: the smallest and the largest.
const SIZES: [(Option<u64>, Option<u64>); 7] = [
    (None, None),
    (None, Some(9_999)),
    (None, Some(99_999)),
    (Some(10_000), Some(99_999)),
    (Some(100_000), None),
    (Some(100_000), Some(999_999)),
    (Some(1_000_000), None),
];

/// Numbers of each class.
const OF_FLOWS: [&str; 5] =
    ["fct_mean_us", "fct_p99_us", "slowdown_mean", "slowdown_p99", "completed"];

/// Numbers of all flows, or of the run.
const OF_RUN: [&str; 11] = [
    "fct_p999_us",
    "throughput_mean_gbps",
    "drops",
    "credit_drops",
    "trims",
    "request_mean_ms",
    "feedback_age_us",
    "feedback_utility",
    "decisions_per_rtt",
    "feedback_percent",
    "extension_per_packet",
];

/// Adds what is not wanted yet of: completion times and slowdown of all flows and by size, throughput, losses,
/// and the cost and age of feedback. Without their batches, a table stays small: seeds give the interval.
pub fn add(wanted: &mut Vec<Wanted>) {
    let of = |name: &str| Measure::new(ClaimedNumber::named(name).expect("a number"));
    let by_size = SIZES.into_iter().flat_map(|(smallest, largest)| {
        OF_FLOWS.map(|name| Measure { smallest, largest, ..of(name) })
    });
    for measure in by_size.chain(OF_RUN.map(of)) {
        let id = measure.id();
        if wanted.iter().all(|one| one.id() != id) {
            wanted.push(Wanted::Value(measure));
        }
    }
}
