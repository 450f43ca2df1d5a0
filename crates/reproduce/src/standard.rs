//! The numbers that every kept table has, besides those that claims and pictures need.

use super::kind::Kind;
use super::measure::Measure;

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
const OF_FLOWS: [Kind; 5] =
    [Kind::FctMeanUs, Kind::FctP99Us, Kind::SlowdownMean, Kind::SlowdownP99, Kind::Completed];

/// Numbers of all flows, or of the run.
const OF_RUN: [Kind; 11] = [
    Kind::FctP999Us,
    Kind::ThroughputMeanGbps,
    Kind::Drops,
    Kind::CreditDrops,
    Kind::Trims,
    Kind::RequestMeanMs,
    Kind::FeedbackAgeUs,
    Kind::FeedbackUtility,
    Kind::DecisionsPerRtt,
    Kind::FeedbackPercent,
    Kind::ExtensionPerPacket,
];

/// Completion times and slowdown of all flows and by size, throughput, losses, and the cost and age
/// of feedback.
pub fn measures() -> impl Iterator<Item = Measure> {
    let by_size = SIZES.into_iter().flat_map(|(smallest, largest)| {
        OF_FLOWS.map(|kind| Measure { smallest, largest, ..Measure::new(kind) })
    });
    by_size.chain(OF_RUN.map(Measure::new))
}
