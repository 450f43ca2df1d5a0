//! Where a data plane's time comes from.

use incast_transport::{Span, Time};

/// A clock that polling threads read: [`Virtual`], which jumps, or
/// [`RealTime`](crate::RealTime), which keeps to a counter by one of three rules.
pub trait Clock {
    /// The present. Never earlier than a value returned before.
    fn now(&mut self) -> Time;

    /// A pass found nothing to do, and nothing will be due before `due`, frames from outside the
    /// process apart. May return earlier; the caller looks again.
    fn idle(&mut self, due: Time);

    /// What real time did so far; `None` if the clock does not follow it.
    fn pace(&self) -> Option<Pace> {
        None
    }
}

/// A clock that stands still while there is work and then jumps to what is due next.
#[derive(Clone, Debug)]
pub struct Virtual {
    now: Time,
}

impl Virtual {
    /// A clock at the start of the run.
    pub fn new() -> Virtual {
        Virtual { now: Time::ZERO }
    }
}

impl Default for Virtual {
    fn default() -> Virtual {
        Virtual::new()
    }
}

impl Clock for Virtual {
    fn now(&mut self) -> Time {
        self.now
    }

    fn idle(&mut self, due: Time) {
        self.now = self.now.max(due);
    }
}

/// What real time did during a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pace {
    /// Real time from the start of the run to the last reading.
    pub wall: Span,
    /// Time of the run at the last reading.
    pub run: Span,
    /// Real time in gaps of more than [`STALL`](crate::STALL) between two readings.
    pub stalled: Span,
    /// Number of those gaps.
    pub stalls: u64,
    /// The longest of them.
    pub longest_stall: Span,
    /// The most that real time was ahead of the run.
    pub lag_most: Span,
}
