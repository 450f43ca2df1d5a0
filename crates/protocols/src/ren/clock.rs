//! The times that a port goes by.

use incast_transport::Span;

/// The times that a port's marker goes by.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// `T`, more than 0.
    pub period: Span,
    /// A base RTT: how long the effect of a mark takes.
    pub horizon: Span,
    /// Transmission time of a full packet.
    pub packet_time: Span,
}

impl Clock {
    /// A gap or period of at least this length is a pause of the traffic.
    pub(super) fn pause(&self) -> Span {
        self.period.max(self.horizon) * 2
    }

    /// Periods that the last base RTT reaches into, rounded up.
    pub fn periods(&self) -> u64 {
        self.horizon.0.div_ceil(self.period.0).max(1)
    }
}
