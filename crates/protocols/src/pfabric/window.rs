//! The window: it grows with ACKs up to a little above a BDP, and only a timeout lowers it.

/// Slow start ends nowhere before the first timeout (YAPS: 100000 packets).
const NO_THRESHOLD: u32 = u32::MAX;

/// Bounds of windows, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Law {
    /// First window.
    pub first: u32,
    /// Largest window.
    pub most: u32,
}

/// The window of one flow, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    packets: u32,
    most: u32,
    /// From here on a whole window of ACKs lets it grow.
    threshold: u32,
    /// ACKs since it grew, beyond the threshold.
    acks: u32,
}

impl Window {
    /// Of a new flow; `first` may exceed the law's bounds and does not grow then.
    pub fn new(law: Law, first: u32) -> Window {
        Window { packets: first, most: law.most.max(first), threshold: NO_THRESHOLD, acks: 0 }
    }

    /// Packets.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// An ACK has moved the cumulative number.
    #[inline]
    pub fn advanced(&mut self) {
        self.acks += 1;
        if self.packets < self.threshold || self.acks >= self.packets {
            self.acks = 0;
            self.packets = (self.packets + 1).min(self.most);
        }
    }

    /// The timer has expired.
    pub fn timed_out(&mut self) {
        self.threshold = (self.packets / 2).max(2);
        (self.packets, self.acks) = (1, 0);
    }
}
