//! Which credits came back.

/// Counts the credits of one period by the numbers that data echoes. A number that was passed over
/// counts as dropped, until it comes after all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CreditCount {
    /// The number after the highest that came.
    expected: u32,
    used: u32,
    dropped: u32,
}

impl CreditCount {
    /// Counts from credit `number` on.
    pub fn from(number: u32) -> CreditCount {
        CreditCount { expected: number, used: 0, dropped: 0 }
    }

    /// Credits below `sent` were sent, and one came back of which `echo` are the lower 24 bits of
    /// the number. Returns whether it counts: not twice, and not when it was given up in an earlier
    /// period.
    #[inline]
    pub fn comes(&mut self, echo: u32, sent: u32) -> bool {
        let ahead = (echo.wrapping_sub(self.expected) << 8) as i32 >> 8;
        if ahead >= 0 {
            if ahead as u32 >= sent.wrapping_sub(self.expected) {
                return false;
            }
            self.dropped += ahead as u32;
            self.expected = self.expected.wrapping_add(ahead as u32 + 1);
        } else if self.dropped > 0 {
            self.dropped -= 1;
        } else {
            return false;
        }
        self.used += 1;
        debug_assert!(sent.wrapping_sub(self.expected) as i32 >= 0, "a credit that was not sent");
        true
    }

    /// A new period begins.
    pub fn begin_again(&mut self) {
        (self.used, self.dropped) = (0, 0);
    }

    /// Credits that data came for.
    #[inline]
    pub fn used(&self) -> u32 {
        self.used
    }

    /// Credits passed over.
    #[inline]
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// All credits of the period.
    #[inline]
    pub fn total(&self) -> u32 {
        self.used + self.dropped
    }

    /// The share of credits that were dropped, 0 without credits.
    #[inline]
    pub fn loss(&self) -> f64 {
        match self.total() {
            0 => 0.0,
            total => self.dropped as f64 / total as f64,
        }
    }
}
