//! What grant-clocked transports share: a sender that starts with a burst at line rate and then
//! sends what grants allow, a receiver that replies to each data packet with one grant, reassembly,
//! and timers that bring back lost grants and data.
//!
//! A transport of this family is data - which mark a data packet leaves with, how many packets a
//! grant of each mark lets go - and a [`Recovery`]: when its receiver re-issues a grant.
//!
//! The packets are those of [`views`].

mod arrivals;
mod flow_timers;
mod receivers;
mod senders;
mod stall;
#[cfg(test)]
mod tests;
pub mod views;

pub use arrivals::{Arrival, Arrivals, Holes};
pub use flow_timers::FlowTimers;
pub use receivers::{Order, OwnGrants, ReceiverTerms, Receivers, Recovery, Reissue, Request};
pub use senders::{SenderTerms, Senders, Tells};
pub use stall::{StallState, StallTimeout};

use incast_transport::{Classes, Env, Flow, FlowId, Header, Host, Observed, PacketRef, Time};

/// Service class of grants and finishes.
pub const CONTROL: u8 = 0;
/// Service class of data.
pub const DATA: u8 = 1;

/// The transport of one host: all its senders and receivers, control packets first.
pub struct ReceiverDriven<R: Recovery> {
    senders: Senders,
    receivers: Receivers<R>,
}

impl<R: Recovery> ReceiverDriven<R> {
    /// A host without flows.
    pub fn new(senders: SenderTerms, receivers: ReceiverTerms, recovery: R) -> Self {
        ReceiverDriven {
            senders: Senders::new(senders),
            receivers: Receivers::new(receivers, recovery),
        }
    }
}

impl<R: Recovery> Host for ReceiverDriven<R> {
    fn open(&mut self, _env: &mut Env<'_>, flow: &Flow) {
        self.senders.open(flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        match env.packets[packet].header {
            Header::Data { .. } => self.receivers.data(env, packet),
            Header::Grant { .. } => self.senders.grant(env, packet),
            Header::Finish { .. } => self.senders.finish(env, env.packets[packet].flow),
            _ => {}
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(CONTROL)
            && let Some(packet) = self.receivers.transmit(env)
        {
            return Some(packet);
        }
        if open.has(DATA) { self.senders.transmit(env) } else { None }
    }

    fn idle(&self) -> bool {
        self.receivers.is_idle() && self.senders.is_idle()
    }

    fn deadline(&self) -> Time {
        self.senders.deadline().min(self.receivers.deadline())
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        self.receivers.wake(env);
        self.senders.wake(env);
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.senders.abandon(flow);
        self.receivers.abandon(flow, env.now);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        self.senders.observe(flow)
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }
}
