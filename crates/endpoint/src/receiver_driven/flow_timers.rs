//! One lazily updated timer a flow.

use crate::flow_table::FlowTable;
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

    /// Takes out an entry that is due, and disarms its flow: which, and its slot. Entries of flows
    /// that are gone or were armed for another instant since are dropped. `armed` is where a flow
    /// keeps its instant.
    pub fn expired<T>(
        &mut self,
        now: Time,
        flows: &mut FlowTable<T>,
        armed: impl Fn(&mut T) -> &mut Time,
    ) -> Option<(FlowId, u32)> {
        while self.next() <= now {
            // Without entries the next one is never.
            let (at, flow) = self.entries.pop()?;
            if let Some(slot) = flows.slot_of(flow) {
                let armed = armed(flows.at_mut(slot));
                if *armed == at {
                    *armed = Time::NEVER;
                    return Some((flow, slot));
                }
            }
        }
        None
    }

    /// The earliest deadline that a flow still has, by what `deadline` says of each;
    /// [`Time::NEVER`] if none has one. Unlike [`next`](FlowTimers::next) it counts no entry of a
    /// flow that is gone or whose deadline has moved; it drops or renews these.
    pub fn earliest<T>(
        &mut self,
        flows: &mut FlowTable<T>,
        armed: impl Fn(&mut T) -> &mut Time,
        deadline: impl Fn(&T) -> Time,
    ) -> Time {
        while let Some(&(at, flow)) = self.entries.peek() {
            let slot = flows.slot_of(flow).filter(|slot| *armed(flows.at_mut(*slot)) == at);
            let wanted = slot.map_or(Time::NEVER, |slot| deadline(flows.at_mut(slot)));
            if wanted == at {
                return at;
            }
            self.entries.pop();
            if let Some(slot) = slot {
                let armed = armed(flows.at_mut(slot));
                *armed = Time::NEVER;
                self.arm(flow, armed, wanted);
            }
        }
        Time::NEVER
    }

    /// Entries held, stale ones included.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }
}
