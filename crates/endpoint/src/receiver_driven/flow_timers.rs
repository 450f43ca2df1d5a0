//! One lazily updated timer a flow.

use crate::queue::Agenda;
use incast_transport::{FlowId, Time};

/// Timers of many flows. A flow keeps the instant of its only valid entry in `armed`; a deadline
/// that moves to later costs nothing until the old instant comes.
#[derive(Debug, Default)]
pub struct FlowTimers {
    entries: Agenda<(Time, FlowId)>,
}

impl FlowTimers {
    /// Makes sure that the flow is looked at no later than `deadline`.
    #[inline]
    pub fn arm(&mut self, flow: FlowId, armed: &mut Time, deadline: Time) {
        if deadline < *armed {
            *armed = deadline;
            self.entries.push((deadline, flow));
        }
    }

    /// The earliest entry; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.entries.peek().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// Takes out an entry that is due: the instant it was armed for, and whose it is. It is valid
    /// only if the flow still exists and its `armed` is that instant.
    pub fn due(&mut self, now: Time) -> Option<(Time, FlowId)> {
        if self.next() > now {
            return None;
        }
        self.entries.pop()
    }

    /// Entries held, stale ones included.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }
}
