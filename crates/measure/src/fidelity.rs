//! How faithful a run in real time was.

use crate::number::{significant, time_unit};
use serde::{Deserialize, Serialize};

/// How faithful a run in real time was, and why it is refused, if it is. Never enters the tables and
/// the summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// Real time of the run.
    pub wall_ns: f64,
    /// Its own time.
    pub run_ns: f64,
    /// How far real time was ahead at the end.
    pub wall_lag_ns: f64,
    /// The most that it was ahead.
    pub wall_lag_max_ns: f64,
    /// Share of real time in which the program did not run: gaps of more than 5 us between two
    /// readings of the clock.
    pub stalled_share: f64,
    /// Number of those gaps.
    pub stalls: u64,
    /// The longest.
    pub longest_stall_ns: f64,
    /// Median of the lateness: how long after it was due a packet was handled, by the run's clock.
    pub lateness_p50_ns: f64,
    /// Its 99th percentile.
    pub lateness_p99_ns: f64,
    /// Its 99.9th percentile.
    pub lateness_p999_ns: f64,
    /// The median as a share of the base RTT.
    pub lateness_p50_rtts: f64,
    /// The 99th percentile as a share of the base RTT.
    pub lateness_p99_rtts: f64,
    /// The 99.9th percentile as a share of the base RTT.
    pub lateness_p999_rtts: f64,
    /// Packets that began transmission at any port.
    pub packets: u64,
    /// The same in the run of the same scenario under the virtual clock.
    pub virtual_packets: Option<u64>,
    /// Share of data packets that were sent again.
    #[serde(default)]
    pub resent_share: f64,
    /// The same under the virtual clock.
    #[serde(default)]
    pub virtual_resent_share: Option<f64>,
    /// Why the run is refused; empty if it is not.
    pub refused: Vec<String>,
    /// What a run over wires does not share with the virtual run. It is not refused: wires take what they take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// Nanoseconds in the unit in which they are read best.
fn time(ns: f64) -> String {
    let (unit, length) = time_unit(ns);
    format!("{} {unit}", significant(ns / length))
}

fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share))
}

impl Fidelity {
    /// What is measured, each with its value.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let late = |ns: f64, rtts: f64| match ns > 0.0 {
            true => format!("{} ({} of the base RTT)", time(ns), percent(rtts)),
            false => "0".into(),
        };
        let packets = match self.virtual_packets {
            None => format!("{}, not compared", self.packets),
            Some(exact) => {
                let difference = self.packets as f64 / (exact as f64).max(1.0) - 1.0;
                let packets = self.packets;
                format!("{packets}, under the virtual clock {exact} ({:+.3} %)", 100.0 * difference)
            }
        };
        let resent = match self.virtual_resent_share {
            None => format!("{} of data packets", percent(self.resent_share)),
            Some(exact) => {
                format!(
                    "{} of data packets, under the virtual clock {}",
                    percent(self.resent_share),
                    percent(exact)
                )
            }
        };
        let ratio = self.wall_ns / self.run_ns.max(1.0);
        vec![
            ("real time", format!("{}, {ratio:.3} x the run", time(self.wall_ns))),
            (
                "real time ahead of the run",
                format!(
                    "{} at the end, {} at most",
                    time(self.wall_lag_ns),
                    time(self.wall_lag_max_ns)
                ),
            ),
            (
                "stalled",
                format!(
                    "{} of real time, {} times, {} at most",
                    percent(self.stalled_share),
                    self.stalls,
                    time(self.longest_stall_ns)
                ),
            ),
            ("lateness of packets, p50", late(self.lateness_p50_ns, self.lateness_p50_rtts)),
            ("lateness of packets, p99", late(self.lateness_p99_ns, self.lateness_p99_rtts)),
            ("lateness of packets, p99.9", late(self.lateness_p999_ns, self.lateness_p999_rtts)),
            ("packets", packets),
            ("sent again", resent),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_what_was_measured_in_units_that_can_be_read() {
        let fidelity = Fidelity {
            wall_ns: 1_050_000_000.0,
            run_ns: 1_000_000_000.0,
            wall_lag_ns: 50_000_000.0,
            wall_lag_max_ns: 50_000_000.0,
            stalled_share: 0.0475,
            stalls: 12,
            longest_stall_ns: 9_000_000.0,
            lateness_p999_ns: 2_500.0,
            lateness_p999_rtts: 0.029,
            packets: 1_260,
            virtual_packets: Some(1_000),
            resent_share: 0.021,
            virtual_resent_share: Some(0.0),
            ..Fidelity::default()
        };
        let text: Vec<String> =
            fidelity.rows().iter().map(|(name, value)| format!("{name}: {value}")).collect();
        for row in [
            "real time: 1050 ms, 1.050 x the run",
            "real time ahead of the run: 50 ms at the end, 50 ms at most",
            "stalled: 4.75 % of real time, 12 times, 9 ms at most",
            "lateness of packets, p99: 0",
            "lateness of packets, p99.9: 2.5 µs (2.9 % of the base RTT)",
            "packets: 1260, under the virtual clock 1000 (+26.000 %)",
            "sent again: 2.1 % of data packets, under the virtual clock 0 %",
        ] {
            assert!(text.contains(&row.to_string()), "{row} is not in {text:#?}");
        }
        let alone = Fidelity { virtual_packets: None, virtual_resent_share: None, ..fidelity };
        assert_eq!(alone.rows()[6].1, "1260, not compared");
        assert_eq!(alone.rows()[7].1, "2.1 % of data packets");
    }
}
