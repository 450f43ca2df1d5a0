//! Where a data plane's time comes from.

use crate::Pace;
use incast_transport::Time;

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
