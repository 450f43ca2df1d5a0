//! When a paced flow may send next.

use incast_transport::{Bytes, Rate, Span, Time};

/// Spaces packets at a rate that may change between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    rate: Rate,
    /// When the last packet was due, and its length.
    last: Option<(Time, Bytes)>,
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
                Some((due, length)) => due.saturating_add(self.gap(length)),
            };
        }
    }

    /// A packet of `length` bytes left at `now`. What the NIC delayed by up to one gap is made
    /// up for, so that sharing a NIC does not lower the rate.
    #[inline]
    pub fn sent(&mut self, now: Time, length: Bytes) {
        if self.rate == Rate(0) {
            return;
        }
        let gap = self.gap(length);
        let due = if now.since(self.next) <= gap { self.next.min(now) } else { now };
        let due = if self.last.is_none() { now } else { due };
        self.last = Some((due, length));
        self.next = due.saturating_add(gap);
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
