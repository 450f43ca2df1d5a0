//! What hosts are told of ACKs and timers.

use crate::random::mix;
use incast_units::{Span, Time};
use incast_wire::HostId;
/// The service class of ACKs, where all sender-driven transports use the same one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acks {
    /// The class of data: ACKs wait among data.
    Data,
    /// Class 0, served strictly before data unless the port policy has weights.
    Control,
}

impl Acks {
    /// Both, with their names in scenarios.
    pub const NAMES: [(&'static str, Acks); 2] = [("data", Acks::Data), ("control", Acks::Control)];
}

/// How late the retransmission timers of sender-driven transports expire, as those of real hosts do;
/// by default not at all.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Timers {
    /// Up to this share of the timeout, at random.
    pub jitter: f64,
    /// At the next tick of a clock with this period, of which each host has its own; zero: at once.
    pub granularity: Span,
    /// What is random follows from this.
    pub key: u64,
}

impl Timers {
    /// When a timer expires that was started at `start` for `timeout`; `which` tells it from others.
    #[inline]
    pub fn due(&self, start: Time, timeout: Span, which: u64) -> Time {
        let exact = start.saturating_add(timeout);
        if self.jitter == 0.0 && self.granularity == Span::ZERO {
            return exact;
        }
        self.late(exact, timeout, which)
    }

    #[cold]
    fn late(&self, exact: Time, timeout: Span, which: u64) -> Time {
        let share = (mix(self.key ^ mix(which)) >> 11) as f64 / (1u64 << 53) as f64;
        let at = exact.saturating_add(Span((timeout.0 as f64 * self.jitter * share) as u64));
        match self.granularity.0 {
            0 => at,
            tick => {
                let since = at.0.wrapping_add(mix(self.key) % tick) % tick;
                at.saturating_add(Span((tick - since) % tick))
            }
        }
    }

    /// Those of one host.
    pub(crate) fn of_host(self, host: HostId) -> Timers {
        Timers { key: mix(self.key ^ mix(host.0 as u64 + 1)), ..self }
    }
}
