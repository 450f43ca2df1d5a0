//! A node of a process: a host or a switch.

use crate::host::HostNode;
use crate::medium::Medium;
use crate::switch::{Crossing, SwitchNode};
use crate::{PacketIo, Payload};
use incast_transport::FlowId;
use incast_world::NEVER;

/// A host or a switch.
#[expect(clippy::large_enum_variant, reason = "few, and each in its place for the whole run")]
pub(crate) enum Node<I: PacketIo> {
    Host(HostNode<I>),
    Switch(SwitchNode<I>),
    /// It runs in another process, or another testbed.
    Elsewhere,
}

impl<I: PacketIo> Node<I> {
    /// Does what was due before `until`, in order of time; at one instant timers before
    /// transmissions.
    pub fn advance(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, until: u64) {
        match self {
            Node::Host(host) => host.advance(medium, payload, until),
            Node::Switch(switch) => switch.advance(medium, until),
            Node::Elsewhere => {}
        }
    }

    /// Does what was due before now, and takes in what has arrived.
    pub fn receive(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) {
        match self {
            Node::Host(host) => host.receive(medium, payload),
            Node::Switch(switch) => switch.receive(medium),
            Node::Elsewhere => {}
        }
    }

    /// Opens a flow that starts here.
    pub fn open(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, flow: FlowId) {
        match self {
            Node::Host(host) => host.open(medium, payload, flow),
            Node::Switch(_) | Node::Elsewhere => unreachable!("flows start at hosts that are here"),
        }
    }

    /// A host forgets a flow.
    pub fn abandon(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, flow: FlowId) {
        match self {
            Node::Host(host) => host.abandon(medium, payload, flow),
            Node::Switch(_) | Node::Elsewhere => unreachable!("flows end at hosts that are here"),
        }
    }

    /// A host's NIC looks what is due.
    pub fn look(&mut self, now: u64) {
        if let Node::Host(host) = self {
            host.end.want(now);
        }
    }

    /// Runs the timers of this instant.
    pub fn run_timers(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) {
        match self {
            Node::Host(host) => host.run_timers(medium, payload),
            Node::Switch(switch) => switch.run_timers(medium),
            Node::Elsewhere => {}
        }
    }

    /// Some links have failed or work again.
    pub fn change_links(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(host) => host.change_link(medium),
            Node::Switch(switch) => switch.change_links(medium),
            Node::Elsewhere => {}
        }
    }

    /// When it must be visited next, frames in flight included.
    pub fn due(&self, medium: &mut Medium<I>) -> u64 {
        match self {
            Node::Host(host) => host.due(medium),
            Node::Switch(switch) => switch.due(medium),
            Node::Elsewhere => NEVER,
        }
    }

    /// Hands what was staged to the links.
    pub fn flush(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(host) => host.line.flush(medium),
            Node::Switch(switch) => switch.flush(medium),
            Node::Elsewhere => {}
        }
    }

    /// Whether frames come to it from outside the process.
    pub fn is_external(&self, io: &I) -> bool {
        match self {
            Node::Host(host) => io.is_external(host.line.port),
            Node::Switch(switch) => {
                switch.crossing.is_some()
                    || switch.egress.iter().any(|egress| io.is_external(egress.line.port))
            }
            Node::Elsewhere => false,
        }
    }

    /// The way to other cores of the node, if it has several: the run is over.
    pub fn take_crossing(&mut self) -> Option<Crossing<I::Frame>> {
        match self {
            Node::Switch(switch) => switch.crossing.take(),
            Node::Host(_) | Node::Elsewhere => None,
        }
    }

    /// Its packets' frames go back: the run is over.
    pub fn give_frames_back(&mut self, io: &mut I) {
        match self {
            Node::Host(host) => host.packets.clear(io),
            Node::Switch(switch) => switch.packets.clear(io),
            Node::Elsewhere => {}
        }
    }

    /// Whether a full ring keeps it from sending.
    pub fn is_held(&self) -> bool {
        match self {
            Node::Host(host) => host.line.waits(),
            Node::Switch(switch) => switch.is_held(),
            Node::Elsewhere => false,
        }
    }
}
