//! When a paced flow may send next.

use incast_transport::{Bytes, Rate, Span, Time};

/// Spaces packets at a rate that may change between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    rate: Rate,
    /// When the last packet, or the first of its burst, was due, and their length.
    last: Option<(Time, Bytes)>,
    /// The burst goes on: its gap comes after its last packet.
    within: bool,
    next: Time,
}

impl Pacer {
    /// Nothing was sent yet: the first packet may leave at once.
    pub fn new() -> Pacer {
        Pacer::default()
    }

    /// The rate is now `rate`; the packet to come is re-timed as if it had been so since the last
    /// one left (next += length/new - length/old). At a rate of zero nothing is due.
    #[inline]
    pub fn retime(&mut self, rate: Rate) {
        if rate != self.rate {
            self.rate = rate;
            self.next = match self.last {
                _ if rate == Rate(0) => Time::NEVER,
                None => Time::ZERO,
                Some((due, _)) if self.within => due,
                Some((due, length)) => due.saturating_add(self.gap(length)),
            };
        }
    }

    /// A packet of `length` bytes left at `now`. What the NIC delayed by up to one gap is made
    /// up for, so that sharing a NIC does not lower the rate.
    #[inline]
    pub fn sent(&mut self, now: Time, length: Bytes) {
        self.sent_of_burst(now, length, false);
    }

    /// The same for a packet of a burst: with `more` the next one may follow at once, and the gap
    /// of all of them comes after the last.
    #[inline]
    pub fn sent_of_burst(&mut self, now: Time, length: Bytes, more: bool) {
        if self.rate == Rate(0) {
            return;
        }
        let (due, length) = match self.last {
            Some((due, before)) if self.within => (due, before + length),
            Some(_) if now.since(self.next) <= self.gap(length) => (self.next.min(now), length),
            _ => (now, length),
        };
        self.within = more;
        self.last = Some((due, length));
        self.next = if more { due } else { due.saturating_add(self.gap(length)) };
    }

    /// When the next packet may leave.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    fn gap(&self, length: Bytes) -> Span {
        self.rate.tx_time(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Bytes = Bytes(1_250); // 1 us at 10 Gb/s

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn gaps_follow_the_rate() {
        let mut pacer = Pacer::new();
        pacer.retime(Rate::from_gbps(10));
        assert_eq!(pacer.next(), Time::ZERO);
        pacer.sent(us(5), LENGTH);
        assert_eq!(pacer.next(), us(6));
        pacer.retime(Rate::from_gbps(5));
        assert_eq!(pacer.next(), us(7));
        pacer.retime(Rate::from_gbps(10));
        assert_eq!(pacer.next(), us(6));
    }

    #[test]
    fn makes_up_for_a_short_delay_only() {
        let mut pacer = Pacer::new();
        pacer.retime(Rate::from_gbps(5));
        pacer.sent(us(10), LENGTH);
        pacer.sent(us(13), LENGTH); // due at 12
        assert_eq!(pacer.next(), us(14));
        pacer.sent(us(30), LENGTH);
        assert_eq!(pacer.next(), us(32));
    }

    #[test]
    fn the_gap_of_a_burst_comes_after_it() {
        let mut pacer = Pacer::new();
        pacer.retime(Rate::from_gbps(5));
        pacer.sent_of_burst(us(10), LENGTH, true);
        assert_eq!(pacer.next(), us(10));
        pacer.sent_of_burst(us(11), LENGTH, true);
        pacer.retime(Rate::from_gbps(2));
        assert_eq!(pacer.next(), us(10));
        pacer.sent_of_burst(us(12), LENGTH, false);
        assert_eq!(pacer.next(), us(10 + 3 * 5));
        pacer.retime(Rate::from_gbps(10));
        assert_eq!(pacer.next(), us(13));
        // The next burst begins where the last one's gap ended, though a little late.
        pacer.sent_of_burst(Time(13_400_000), LENGTH, true);
        pacer.sent_of_burst(us(15), LENGTH, false);
        assert_eq!(pacer.next(), us(15));
    }

    #[test]
    fn nothing_is_due_at_rate_zero() {
        let mut pacer = Pacer::new();
        pacer.retime(Rate::from_gbps(10));
        pacer.sent(us(1), LENGTH);
        pacer.retime(Rate(0));
        assert_eq!(pacer.next(), Time::NEVER);
        pacer.retime(Rate::from_gbps(10));
        assert_eq!(pacer.next(), us(2));
    }
}
