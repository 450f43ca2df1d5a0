//! Whether a run in real time can be trusted.

use crate::{Pace, Trouble};
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
    /// Data packets of the flows that start here.
    pub data: Data,
    /// The same under the virtual clock.
    pub exact_data: Option<Data>,
    /// Flows that were given up and timers that were stopped, because they let no time pass.
    pub troubles: Vec<Trouble>,
}

/// Data packets that sources sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// All of them.
    pub packets: u64,
    /// Those that were sent again.
    pub resent: u64,
}

impl Data {
    /// Share of packets that were sent again; 0 of none.
    pub fn resent_share(&self) -> f64 {
        self.resent as f64 / (self.packets as f64).max(1.0)
    }
}

/// What is accepted of a run in real time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Largest 99.9th percentile of the lateness, as a share of the base RTT.
    pub lateness: f64,
    /// Largest difference of the number of packets from that of the virtual run, as a share of the
    /// latter.
    pub packets: f64,
    /// By how much the share of data packets that were sent again may be larger than that of the virtual run.
    pub resent: f64,
}

impl Default for Bounds {
    /// 5 % of the base RTT, and 3 % of the packets: lateness alone is not enough, because passes in
    /// bursts distort short queues at small lateness. What is sent again is among the packets.
    fn default() -> Bounds {
        Bounds { lateness: 0.05, packets: 0.03, resent: f64::INFINITY }
    }
}

/// Why a run in real time is not to be trusted.
#[derive(Clone, PartialEq, Debug)]
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
    /// Too much was sent again.
    Resent {
        /// Share of data packets in this run.
        share: f64,
        /// In the virtual run.
        exact: f64,
        /// By how much it may be larger.
        most: f64,
    },
    /// A transport or port let no time pass.
    Trouble(Trouble),
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
            Refusal::Resent { share, exact, most } => write!(
                f,
                "{:.2} % of data packets were sent again, and {:.2} % under the virtual clock; at most \
                 {:.1} % more are accepted",
                100.0 * share,
                100.0 * exact,
                100.0 * most
            ),
            Refusal::Trouble(trouble) => trouble.fmt(f),
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
        let share = self.data.resent_share();
        if let Some(exact) = self.exact_data.map(|data| data.resent_share())
            && share > exact + bounds.resent
        {
            all.push(Refusal::Resent { share, exact, most: bounds.resent });
        }
        all.extend(self.troubles.iter().cloned().map(Refusal::Trouble));
        all
    }

    /// Adds what another node, or another core of one, did: the pace is that of the one that stalled
    /// longest.
    pub fn join(&mut self, other: &Fidelity) {
        if other.pace.stalled >= self.pace.stalled {
            self.pace = other.pace;
        }
        self.lateness.join(&other.lateness);
        self.packets += other.packets;
        self.data.packets += other.data.packets;
        self.data.resent += other.data.resent;
        self.troubles.extend(other.troubles.iter().cloned());
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
        let wide = Bounds { lateness: 1.0, packets: 0.3, ..Bounds::default() };
        assert_eq!(fidelity(6_000_000, 12_600).refusals(rtt, wide), []);
        let lone = Fidelity { exact_packets: None, ..fidelity(0, 12_600) };
        assert_eq!(
            (lone.refusals(rtt, Bounds::default()), lone.packet_difference()),
            (vec![], None)
        );
        assert_eq!(lone.lateness(990), Span::ZERO);
    }

    /// What is sent again beyond what the virtual run sends again.
    #[test]
    fn what_is_sent_again_is_held_against_the_virtual_run() {
        let (rtt, data) = (Span::from_us(100), |resent| Data { packets: 1_000, resent });
        let of = |resent: u64, exact: Option<u64>| Fidelity {
            data: data(resent),
            exact_data: exact.map(data),
            ..fidelity(0, 10_000)
        };
        let bounds = Bounds { resent: 0.03, ..Bounds::default() };
        assert_eq!(of(40, Some(10)).refusals(rtt, bounds), []);
        let refused = of(41, Some(10)).refusals(rtt, bounds);
        let text = refused[0].to_string();
        assert!(text.starts_with("4.10 % of data packets were sent again, and 1.00 %"), "{text}");
        assert_eq!(of(900, None).refusals(rtt, bounds), []);
        assert_eq!(of(900, Some(0)).refusals(rtt, Bounds::default()), []);
    }

    #[test]
    fn nodes_are_judged_together_by_the_pace_of_the_worst() {
        let at = |stalled, late, packets| {
            let pace = Pace { stalled: Span(stalled), stalls: stalled, ..Pace::default() };
            let data = Data { packets, resent: 1 };
            Fidelity { pace, data, ..fidelity(late, packets) }
        };
        let mut all = at(5, 0, 10);
        all.join(&at(9, 8_000, 20));
        all.join(&at(7, 0, 30));
        assert_eq!((all.pace.stalls, all.packets, all.data.resent), (9, 60, 3));
        assert_eq!((all.lateness.count(), all.lateness(500)), (30_000, Span::ZERO));
        assert!(all.lateness(1_000) > Span(7_000));
    }
}
