//! Whether a run in real time can be trusted.

use crate::Pace;
use incast_transport::{Histogram, Span};
use std::fmt;

/// How faithful a run in real time was.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fidelity {
    /// What real time did.
    pub pace: Pace,
    /// By how much frames were handled after they were due, by the run's clock, in picoseconds. Of
    /// every frame received.
    pub lateness: Histogram,
    /// Packets that began transmission at any port.
    pub packets: u64,
    /// The same in the run of the same scenario under the virtual clock; `None` if there was none.
    pub exact_packets: Option<u64>,
}

/// What is accepted of a run in real time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Largest 99.9th percentile of the lateness, as a share of the base RTT.
    pub lateness: f64,
    /// Largest difference of the number of packets from that of the virtual run, as a share of the
    /// latter.
    pub packets: f64,
}

impl Default for Bounds {
    /// 5 % of the base RTT, and 3 % of the packets: lateness alone is not enough, because passes in
    /// bursts distort short queues at small lateness.
    fn default() -> Bounds {
        Bounds { lateness: 0.05, packets: 0.03 }
    }
}

/// Why a run in real time is not to be trusted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Refusal {
    /// Frames were handled too late.
    Late {
        /// The 99.9th percentile.
        lateness: Span,
        /// As a share of the base RTT.
        share: f64,
        /// The largest share accepted.
        most: f64,
    },
    /// Too many or too few packets.
    Packets {
        /// In this run.
        packets: u64,
        /// In the virtual run.
        exact: u64,
        /// The largest difference accepted, as a share of `exact`.
        most: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Late { lateness, share, most } => write!(
                f,
                "the 99.9th percentile of the lateness of packets is {lateness}, {:.2} % of the base \
                 RTT; at most {:.1} % are accepted",
                100.0 * share,
                100.0 * most
            ),
            Refusal::Packets { packets, exact, most } => write!(
                f,
                "{packets} packets were sent, and {exact} under the virtual clock: a difference of \
                 {:+.2} %; at most {:.1} % are accepted",
                100.0 * difference(*packets, *exact),
                100.0 * most
            ),
        }
    }
}

/// The signed difference of a count from the exact one, as a share of the latter.
fn difference(packets: u64, exact: u64) -> f64 {
    (packets as f64 - exact as f64) / (exact as f64).max(1.0)
}

impl Fidelity {
    /// A percentile of the lateness in thousandths, rounded down by less than 1/16; zero without
    /// frames.
    pub fn lateness(&self, thousandths: u32) -> Span {
        Span(self.lateness.percentile(thousandths).unwrap_or(0))
    }

    /// A percentile of the lateness as a share of the base RTT.
    pub fn lateness_share(&self, thousandths: u32, base_rtt: Span) -> f64 {
        self.lateness(thousandths).0 as f64 / (base_rtt.0 as f64).max(1.0)
    }

    /// The signed difference of the number of packets from that of the virtual run, as a share of
    /// the latter.
    pub fn packet_difference(&self) -> Option<f64> {
        self.exact_packets.map(|exact| difference(self.packets, exact))
    }

    /// Everything for which the run is refused.
    pub fn refusals(&self, base_rtt: Span, bounds: Bounds) -> Vec<Refusal> {
        let mut all = vec![];
        let share = self.lateness_share(999, base_rtt);
        if share > bounds.lateness {
            all.push(Refusal::Late { lateness: self.lateness(999), share, most: bounds.lateness });
        }
        if let Some(exact) = self.exact_packets
            && difference(self.packets, exact).abs() > bounds.packets
        {
            all.push(Refusal::Packets { packets: self.packets, exact, most: bounds.packets });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fidelity(late: u64, packets: u64) -> Fidelity {
        let mut lateness = Histogram::new();
        lateness.add_many(0, 9_980);
        lateness.add_many(late, 20);
        Fidelity { lateness, packets, exact_packets: Some(10_000), ..Fidelity::default() }
    }

    /// 20 of 10,000 packets late: the 99.9th percentile is theirs, the 99th is not.
    #[test]
    fn a_run_is_refused_beyond_its_bounds() {
        let rtt = Span::from_us(100);
        let refused =
            |late: Span, packets: u64| fidelity(late.0, packets).refusals(rtt, Bounds::default());
        assert_eq!(refused(Span::from_us(5), 10_300), []);
        let [Refusal::Late { lateness, share, most }] = refused(Span::from_us(6), 9_700)[..] else {
            panic!("too late");
        };
        assert!(lateness <= Span::from_us(6) && lateness > Span::from_us(5) && most == 0.05);
        assert!((0.05..=0.06).contains(&share), "{share}");
        // NDP at 1 Gb/s, in bursts: 26 % more packets at a small lateness.
        let text = refused(Span::from_us(3), 12_600)[0].to_string();
        assert!(text.contains("12600 packets") && text.contains("+26.00 %"), "{text}");
        assert_eq!(refused(Span::from_us(6), 9_699).len(), 2);
        let wide = Bounds { lateness: 1.0, packets: 0.3 };
        assert_eq!(fidelity(6_000_000, 12_600).refusals(rtt, wide), []);
        let lone = Fidelity { exact_packets: None, ..fidelity(0, 12_600) };
        assert_eq!(
            (lone.refusals(rtt, Bounds::default()), lone.packet_difference()),
            (vec![], None)
        );
        assert_eq!(lone.lateness(990), Span::ZERO);
    }
}
