//! AMRT §5: time to fill a link, and the gain from it.
//!
//! Sizes are in packets, times in RTTs, rates in packets per RTT. So `C x T` is a number of
//! packets, and Eq. 8 can add a rate to a time.

/// AMRT §5, Eq. 4: RTTs to fill `vacant` of `full` evenly spread slots of a round: ceil(k / (n -
/// k)). `vacant` is below `full`.
pub fn fill_rounds_spread(full: u32, vacant: u32) -> u32 {
    assert!(vacant < full, "{vacant} of {full} slots are vacant");
    vacant.div_ceil(full - vacant)
}

/// AMRT §5, Eq. 5: RTTs to fill `vacant` consecutive slots of a round.
pub fn fill_rounds_consecutive(vacant: u32) -> u32 {
    vacant
}

/// A flow of `size` packets on a link of `capacity` whose rate falls to `reduced` at `at`.
///
/// The equations require that at least one packet per round is left and at least one slot is vacant
/// (otherwise the earliest time is after the latest), and that the flow lasts until it has the
/// entire link again: see [`lasts`](Reduced::lasts).
#[derive(Clone, Copy, Debug)]
pub struct Reduced {
    /// S, packets.
    pub size: f64,
    /// C, packets per RTT.
    pub capacity: f64,
    /// R, packets per RTT, 1 to C - 1.
    pub reduced: f64,
    /// T_R, RTTs.
    pub at: f64,
}

impl Reduced {
    /// AMRT §5, Eq. 6: completion time of the traditional transports, T_1.
    pub fn traditional(&self) -> f64 {
        (self.size - self.capacity * self.at) / self.reduced + self.at
    }

    /// AMRT §5, Eq. 7: the earliest time at which AMRT has the entire link again, t'_min.
    pub fn earliest(&self) -> f64 {
        self.check();
        // The rounding error of the subtraction must not add a round.
        ((self.capacity - self.reduced) / self.reduced - 1e-9).ceil() + self.at
    }

    /// AMRT §5, Eq. 8: the latest such time, t'_max.
    pub fn latest(&self) -> f64 {
        self.check();
        self.capacity - self.reduced + self.at
    }

    /// Packets sent until `full`, the time at which AMRT has the entire link again: the first
    /// two terms of Eq. 9.
    fn sent_until(&self, full: f64) -> f64 {
        self.capacity * self.at + (self.reduced + self.capacity) * (full - self.at) / 2.0
    }

    /// Whether the flow still has packets at `full`, which Eq. 9 requires.
    pub fn lasts(&self, full: f64) -> bool {
        self.size >= self.sent_until(full)
    }

    /// AMRT §5, Eq. 9: packets that AMRT sends until `end`, when it has the entire link from `full`
    /// on.
    pub fn sent(&self, full: f64, end: f64) -> f64 {
        self.sent_until(full) + self.capacity * (end - full)
    }

    /// AMRT §5, Eq. 10: AMRT's completion time when it has the entire link again at `full`, T_2.
    pub fn amrt(&self, full: f64) -> f64 {
        assert!(self.lasts(full), "{self:?} ends before {full}");
        (self.size - self.sent_until(full)) / self.capacity + full
    }

    /// AMRT §5, Eq. 11: gain in utilisation, T_1 / T_2.
    pub fn utilisation_gain(&self, full: f64) -> f64 {
        self.traditional() / self.amrt(full)
    }

    /// AMRT §5, Eq. 12: gain in completion time beyond the ideal S / C. T_R is before S / C.
    pub fn fct_gain(&self, full: f64) -> f64 {
        let ideal = self.size / self.capacity;
        (self.traditional() - ideal) / (self.amrt(full) - ideal)
    }

    fn check(&self) {
        let most = self.capacity - 1.0;
        assert!((1.0..=most).contains(&self.reduced), "{self:?} is outside of the model");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_and_the_slot_models() {
        // Figure 5: n = 6, k = 4.
        assert_eq!(fill_rounds_spread(6, 4), 2);
        assert_eq!(fill_rounds_consecutive(4), 4);
        assert_eq!(fill_rounds_spread(16, 14), 7);
        assert_eq!(fill_rounds_spread(10, 9), 9);
        assert_eq!(fill_rounds_spread(10, 0), 0);
        for full in 2..50 {
            for vacant in 0..full {
                let (least, most) = (fill_rounds_spread(full, vacant), vacant);
                assert!(least <= fill_rounds_consecutive(most), "{full}, {vacant}");
            }
        }
    }

    /// C = 10, R = 4, T_R = 5, S = 200: 150 packets are left at 5.
    const KNOWN: Reduced = Reduced { size: 200.0, capacity: 10.0, reduced: 4.0, at: 5.0 };

    #[test]
    fn known_flow() {
        assert_eq!(KNOWN.traditional(), 150.0 / 4.0 + 5.0);
        // ceil(6/4) = 2 rounds, or 6.
        assert_eq!(KNOWN.earliest(), 7.0);
        assert_eq!(KNOWN.latest(), 11.0);
        // Until 7: 50 + 14 packets; 136 more at 10 a round: 20.6. Until 11: 50 + 42; 21.8.
        assert!((KNOWN.amrt(7.0) - 20.6).abs() < 1e-12);
        assert!((KNOWN.amrt(11.0) - 21.8).abs() < 1e-12);
        assert!((KNOWN.utilisation_gain(7.0) - 42.5 / 20.6).abs() < 1e-12);
        assert!((KNOWN.fct_gain(11.0) - 22.5 / 1.8).abs() < 1e-12);
    }

    #[test]
    fn eq_10_inverts_eq_9() {
        for full in [KNOWN.earliest(), 8.5, KNOWN.latest()] {
            assert!((KNOWN.sent(full, KNOWN.amrt(full)) - KNOWN.size).abs() < 1e-9);
        }
    }

    #[test]
    fn exact_quotients_take_no_extra_round() {
        // (C - R) / R = 2 exactly in decimals, not in binary.
        let flow = Reduced { size: 1e4, capacity: 0.3 * 30.0, reduced: 0.1 * 30.0, at: 0.0 };
        assert_eq!(flow.earliest(), 2.0);
    }

    #[test]
    fn a_short_flow_ends_before_the_link_is_full() {
        let short = Reduced { size: 60.0, ..KNOWN };
        assert!(!short.lasts(short.latest()));
        assert!(short.lasts(5.5));
    }

    #[test]
    #[should_panic(expected = "outside of the model")]
    fn less_than_one_packet_per_round_is_outside() {
        Reduced { reduced: 0.5, ..KNOWN }.earliest();
    }
}
