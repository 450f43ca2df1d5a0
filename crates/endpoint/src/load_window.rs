//! A window that follows the load of its path (VCP §3.2): it grows by a factor while there is room,
//! by one packet per RTT near full, and is cut at most once per interval and RTT.

use incast_transport::{Span, Time};

/// Most packets of a window. Where no link that measures is ever full, it would grow without end.
const MOST: f64 = 1_048_576.0;

/// Where the window stands after a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// It may be cut.
    Free,
    /// What switches say is still about the time before the cut.
    Frozen,
    /// It grows slowly whatever they say.
    Holding,
}

/// A window in packets, with its fraction.
#[derive(Clone, Copy, Debug)]
pub struct LoadWindow {
    packets: f64,
    cut: Option<Time>,
}

impl LoadWindow {
    /// A window of `packets`.
    pub fn new(packets: f64) -> LoadWindow {
        LoadWindow { packets, cut: None }
    }

    /// Packets.
    #[inline]
    pub fn packets(&self) -> f64 {
        self.packets
    }

    /// An ACK arrived: the window grows by the part `step` of a packet, so by the factor
    /// `1 + step` per RTT.
    #[inline]
    pub fn grow(&mut self, step: f64) {
        self.packets = (self.packets + step).min(MOST);
    }

    /// An ACK arrived: the window grows by `step` packets per RTT.
    #[inline]
    pub fn creep(&mut self, step: f64) {
        self.packets = (self.packets + step / self.packets).min(MOST);
    }

    /// Multiplies the window by `factor`, but keeps a packet.
    pub fn cut(&mut self, factor: f64, now: Time) {
        self.packets = (self.packets * factor).max(1.0);
        self.cut = Some(now);
    }

    /// A loss: what it leaves, at least a packet. No cut by load.
    pub fn lose(&mut self, packets: f64) {
        self.packets = packets.max(1.0);
    }

    /// Since the last cut: an interval long frozen, then an RTT of slow growth.
    #[inline]
    pub fn phase(&self, now: Time, interval: Span, rtt: Span) -> Phase {
        match self.cut {
            Some(at) if now < at + interval => Phase::Frozen,
            Some(at) if now < at + interval + rtt => Phase::Holding,
            _ => Phase::Free,
        }
    }
}
