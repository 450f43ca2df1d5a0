//! Names of the numbers that claims are about, and their units.

use serde::{Deserialize, Serialize};

/// Names of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Largest backlog of `port` in full packets (1538 charged bytes, 1500 without Ethernet's).
    BacklogMaxPackets,
    /// Mean backlog of `port` in full packets.
    BacklogMeanPackets,
    /// Largest backlog of `port` in KB.
    BacklogMaxKb,
    /// Mean backlog of `port` in KB.
    BacklogMeanKb,
    /// Median over time of the backlog of `port` during the run, in KB.
    BacklogP50Kb,
    /// 99th percentile over time of the backlog of `port` during the run, in KB.
    BacklogP99Kb,
    /// Share of the time that `port` transmits.
    Utilisation,
    /// Packets whose transmission `port` started.
    Packets,
    /// The ECN bits of a data packet of `flow` as it leaves each of several ports.
    Marks,
    /// Packets dropped at `port`, or anywhere.
    Drops,
    /// Credits dropped at `port`, or anywhere.
    CreditDrops,
    /// Packets trimmed at `port`, or anywhere.
    Trims,
    /// Payload throughput of `flow` in Gb/s.
    FlowGbps,
    /// Mean flow completion time in microseconds.
    FctMeanUs,
    /// 99th percentile of the flow completion time in microseconds.
    FctP99Us,
    /// 99.9th percentile of the flow completion time in microseconds.
    FctP999Us,
    /// Mean slowdown.
    SlowdownMean,
    /// 99th percentile of the slowdown.
    SlowdownP99,
    /// Mean request completion time in milliseconds.
    RequestMeanMs,
    /// Mean over flows of size by completion time, in Gb/s of payload.
    ThroughputMeanGbps,
    /// Share of the flows that completed.
    Completed,
    /// Share of the payload delivered that `carrier` delivered.
    Share,
    /// Mean rate of a recorded flow of `carrier` over that of one of `against`.
    RateRatio,
    /// Jain's index over recorded flows, of `carrier` or all; with a `window`, the mean over windows.
    Jain,
    /// Milliseconds from `from` to the end of the first `window` in which all recorded flows have
    /// equal rates, or each transport's have on average if `against` is given; infinite if that
    /// never comes until `to`.
    ConvergenceMs,
    /// Mean age of the information behind decisions in microseconds.
    FeedbackAgeUs,
    /// The same by FastTune's Eq. 6: 2 minus the age in base RTTs.
    FeedbackUtility,
    /// Decisions of a flow per base RTT.
    DecisionsPerRtt,
    /// Control packets and header extensions of data packets, over the payload, in percent.
    FeedbackPercent,
    /// Header extensions of data packets, in bytes per packet sent.
    ExtensionPerPacket,
}

impl Kind {
    /// Its unit as it is printed; empty for a share, an index, a ratio or a count of no unit.
    pub fn unit(self) -> &'static str {
        match self {
            Kind::BacklogMaxPackets | Kind::BacklogMeanPackets | Kind::Packets => "packets",
            Kind::Drops | Kind::CreditDrops | Kind::Trims => "packets",
            Kind::BacklogMaxKb | Kind::BacklogMeanKb | Kind::BacklogP50Kb | Kind::BacklogP99Kb => {
                "KB"
            }
            Kind::FlowGbps | Kind::ThroughputMeanGbps => "Gb/s",
            Kind::FctMeanUs | Kind::FctP99Us | Kind::FctP999Us | Kind::FeedbackAgeUs => "us",
            Kind::RequestMeanMs | Kind::ConvergenceMs => "ms",
            Kind::FeedbackPercent => "%",
            Kind::ExtensionPerPacket => "B per packet",
            Kind::DecisionsPerRtt => "per base RTT",
            Kind::SlowdownMean
            | Kind::SlowdownP99
            | Kind::Utilisation
            | Kind::Marks
            | Kind::Completed
            | Kind::Share
            | Kind::RateRatio
            | Kind::Jain
            | Kind::FeedbackUtility => "",
        }
    }

    /// Whether it is a percentile over flows that completed.
    pub fn is_percentile(self) -> bool {
        matches!(self, Kind::FctP99Us | Kind::FctP999Us | Kind::SlowdownP99)
    }

    /// Whether it depends on the length of a run that never reaches balance: statistics over flows,
    /// and means over time of queues, links and feedback, which grow with the number of open flows.
    pub fn needs_balance(self) -> bool {
        let over_time = matches!(
            self,
            Kind::BacklogMeanPackets
                | Kind::BacklogMeanKb
                | Kind::BacklogP50Kb
                | Kind::BacklogP99Kb
                | Kind::Utilisation
                | Kind::FeedbackAgeUs
        );
        over_time || self.is_of_flows()
    }

    /// Whether it is a statistic over flows that completed.
    pub fn is_of_flows(self) -> bool {
        matches!(
            self,
            Kind::FctMeanUs
                | Kind::FctP99Us
                | Kind::FctP999Us
                | Kind::SlowdownMean
                | Kind::SlowdownP99
                | Kind::ThroughputMeanGbps
        )
    }
}
