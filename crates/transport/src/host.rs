//! The transport of one host.

use crate::{Acks, Classes, Env, Flow, FlowId, Observed, PacketRef, Timers};
use incast_units::Time;

/// All senders and receivers of one transport on one host. A world calls it; it never calls back.
///
/// There is one object per host, not per flow, because receiver-driven transports schedule across
/// flows. Calls are ordered by [`Env::now`]. At one instant packets are received first, then
/// timers run, then the NIC transmits.
pub trait Host: Send {
    /// Sets the service class of ACKs, before the first flow. Receiver-driven transports, whose
    /// control packets have a class of their own, need not do anything.
    fn set_acks(&mut self, _acks: Acks) {}

    /// Sets how exact retransmission timers are, before the first flow. Receiver-driven transports,
    /// whose timers are not those of TCP, need not do anything.
    fn set_timers(&mut self, _timers: Timers) {}

    /// Starts a flow at this host. Must not send: the NIC calls [`transmit`](Host::transmit). A flow on a
    /// [connection](crate::Connection) that is there already is appended to it.
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow);

    /// Receives a packet. The world frees it after the call.
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef);

    /// Returns the next packet to transmit, of a class in `open`. The NIC calls it when it is idle.
    /// After `None` the NIC calls again after the next call of any other method, or at the
    /// deadline. Control, of class 0, comes before data if `open` has both, and sending data makes no
    /// control for the same instant.
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef>;

    /// Whether [`transmit`](Host::transmit) returns `None` for every set of open classes until
    /// another method is called. A world may then skip the call.
    fn idle(&self) -> bool {
        false
    }

    /// When to call [`wake`](Host::wake) next; [`Time::NEVER`] without a timer. It may be late only
    /// if no observable result depends on it. After a `wake` it must lie in the future.
    fn deadline(&self) -> Time;

    /// Runs the timers that have expired. Early and repeated calls must be harmless.
    fn wake(&mut self, env: &mut Env<'_>);

    /// Forgets a flow that this host sends or receives: the world has given it up. Its packets that
    /// wait for the NIC may still be transmitted; a packet that arrives later counts as the first
    /// of a new flow. Must not send, and does nothing if the flow is not known. A transport without
    /// state per flow need not do anything.
    fn abandon(&mut self, _env: &mut Env<'_>, _flow: FlowId) {}

    /// What this host's transport says of a flow at `now`, for traces. It must not depend on being
    /// asked. A transport that has nothing to say need not do anything.
    fn observe(&self, _flow: FlowId, _now: Time) -> Observed {
        Observed::default()
    }

    /// Number of flows with state, as sender or receiver; for tests of bounded state.
    fn open_flows(&self) -> usize;
}
