//! The transport of one host.

use crate::{Classes, Env, Flow, PacketRef};
use incast_units::Time;

/// All senders and receivers of one transport on one host. It is called; it never calls out.
///
/// One object a host, not one a flow, because receiver-driven schemes schedule across flows.
/// Calls come in order of [`Env::now`]. At one instant packets are received first, then timers
/// run, then the NIC transmits.
pub trait Host: Send {
    /// A flow starts here. Must not send; the NIC asks.
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow);

    /// A packet arrived for this host. The world frees it after the call.
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef);

    /// The NIC is free: hand over the next packet, if one of the classes in `open` may leave now.
    /// `None` means: ask again after the next call of any other method, or at the deadline.
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef>;

    /// Whether [`transmit`](Host::transmit) would return `None` whatever classes are open, until
    /// another method is called. So a world need not ask.
    fn idle(&self) -> bool {
        false
    }

    /// When to call [`wake`](Host::wake) next; [`Time::NEVER`] if not at all. May be later than
    /// needed to be exact only if nothing observable depends on it; never in the past after a
    /// `wake` at that instant.
    fn deadline(&self) -> Time;

    /// The deadline has come. Early and repeated calls must be harmless.
    fn wake(&mut self, env: &mut Env<'_>);

    /// Flows about which state is held, as sender and as receiver; for tests of bounded state.
    fn open_flows(&self) -> usize;
}
