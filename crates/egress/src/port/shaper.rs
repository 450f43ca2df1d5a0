//! A token bucket without drift.

use incast_transport::{Shaper, Time};

/// Parts of a token in one byte: a rate of one bit per second earns one part per picosecond.
const PARTS: i128 = 8_000_000_000_000;

/// A token bucket in exact integer arithmetic: tokens accrue lazily, and none is lost to rounding.
/// It starts full. A packet larger than the bucket leaves when the bucket is full, and the bucket
/// then owes the rest.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: i128,
    depth: i128,
    tokens: i128,
    updated: Time,
}

impl TokenBucket {
    /// A full bucket. Panics when the rate is zero.
    pub fn new(shaper: Shaper) -> TokenBucket {
        assert!(shaper.rate.0 > 0, "a shaper needs a rate");
        let depth = shaper.depth.0 as i128 * PARTS;
        TokenBucket { rate: shaper.rate.0 as i128, depth, tokens: depth, updated: Time::ZERO }
    }

    /// The first instant, from `now` on, at which a packet of `charged` bytes may leave.
    #[inline]
    pub fn ready(&mut self, now: Time, charged: u32) -> Time {
        let elapsed = now.since(self.updated).0 as i128;
        self.tokens = (self.tokens + elapsed * self.rate).min(self.depth);
        self.updated = self.updated.max(now);
        let missing = (charged as i128 * PARTS).min(self.depth) - self.tokens;
        if missing <= 0 {
            return now;
        }
        // Buckets of up to two megabytes need no long division.
        let wait = match u64::try_from(missing + self.rate - 1) {
            Ok(missing) => (missing / self.rate as u64) as i128,
            Err(_) => (missing + self.rate - 1) / self.rate,
        };
        Time(u64::try_from(now.0 as i128 + wait).unwrap_or(u64::MAX))
    }

    /// A packet of `charged` bytes leaves, at the instant last given to [`ready`](Self::ready).
    #[inline]
    pub fn take(&mut self, charged: u32) {
        self.tokens -= charged as i128 * PARTS;
    }
}
