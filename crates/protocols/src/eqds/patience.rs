//! How long a source waits for an answer. Credits alone say how much may be in flight.

use incast_endpoint::unordered::{Cut, Law, Lost, News};
use incast_transport::{Span, Time};

/// Timeouts double at most this often.
const DOUBLINGS_MOST: u32 = 6;

/// The round trip of a flow, as a TCP follows it: an eighth of each sample, a quarter of each difference.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// Smoothed round trip and its mean difference, in picoseconds; 0 without samples.
    rtt: u64,
    difference: u64,
    /// Timeouts since the last sample.
    doublings: u32,
    /// Until when a timeout doubles none.
    doubled_until: Time,
}

impl Patience {
    fn sample(&mut self, rtt: Option<Span>) {
        let Some(Span(rtt)) = rtt else { return };
        self.doublings = 0;
        if self.rtt == 0 {
            (self.rtt, self.difference) = (rtt, rtt / 2);
            return;
        }
        self.difference = self.difference / 4 * 3 + rtt.abs_diff(self.rtt) / 4;
        self.rtt = self.rtt / 8 * 7 + rtt / 8;
    }

    fn wait(&self, least: Span) -> Span {
        Span(least.0.max(self.rtt + 4 * self.difference) << self.doublings)
    }
}

impl Law for Patience {
    fn on_ack(&mut self, news: &News<'_>) {
        self.sample(news.rtt);
    }

    fn on_nack(&mut self, cut: &Cut) {
        self.sample(cut.rtt);
    }

    fn on_timeout(&mut self, lost: &Lost) {
        if lost.now >= self.doubled_until {
            self.doublings = (self.doublings + 1).min(DOUBLINGS_MOST);
            self.doubled_until = lost.now + self.wait(Span::ZERO);
        }
    }

    fn window(&self) -> u64 {
        u64::MAX
    }

    fn due(&self, at: Time, timeout: Span) -> Time {
        at + self.wait(timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_round_trip_and_doubles_without_answers() {
        let (us, least) = (Span::from_us, Span::from_us(100));
        let at = |time: u64| Time::ZERO + us(time);
        let mut wait = Patience::default();
        assert_eq!(wait.due(at(7), least), at(107));
        wait.sample(Some(us(10)));
        // 10 us and four times 5 us are less.
        assert_eq!(wait.due(at(0), least), at(100));
        wait.sample(Some(us(80)));
        // 18.75 us and four times 21.25 us.
        assert_eq!(wait.due(at(0), least).0, 103_750_000);
        let lost = |now| Lost { now, bytes: 1, in_flight: 1 };
        // All packets of one timeout double it once.
        (0..9).for_each(|_| wait.on_timeout(&lost(at(200))));
        assert_eq!(wait.due(at(0), least).0, 207_500_000);
        (0..9).for_each(|step| wait.on_timeout(&lost(at(100_000 * (step + 1)))));
        assert_eq!(wait.due(at(0), least).0, 103_750_000 << DOUBLINGS_MOST);
        wait.sample(None);
        wait.sample(Some(us(20)));
        assert!(wait.due(at(0), least) < at(110));
    }
}
