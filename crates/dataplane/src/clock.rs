//! Where a data plane's time comes from.

use incast_transport::Time;

/// A clock that polling threads read.
///
/// Three are foreseen: [`Virtual`], which jumps; one on the processor's counter, for isolated
/// cores, whose `idle` spins or yields; and one on the same counter that takes out gaps in which
/// the thread did not run - for that one, every reading is compared with the one before, hence
/// `&mut self`.
pub trait Clock {
    /// The present. Never earlier than a value returned before.
    fn now(&mut self) -> Time;

    /// A pass found nothing to do, and nothing will be due before `due`. May return earlier; the
    /// caller looks again.
    fn idle(&mut self, due: Time);
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
