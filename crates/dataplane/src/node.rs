//! A node of a process: a host or a switch.

use crate::PacketIo;
use crate::host::HostNode;
use crate::medium::Medium;
use crate::switch::SwitchNode;
use incast_transport::FlowId;

/// A host or a switch.
#[expect(clippy::large_enum_variant, reason = "few, and each in its place for the whole run")]
pub(crate) enum Node {
    Host(HostNode),
    Switch(SwitchNode),
}

impl Node {
    /// Does what was due before `until`, in order of time; at one instant timers before
    /// transmissions.
    pub fn advance<I: PacketIo>(&mut self, medium: &mut Medium<I>, until: u64) {
        match self {
            Node::Host(host) => host.advance(medium, until),
            Node::Switch(switch) => switch.advance(medium, until),
        }
    }

    /// Takes in what has arrived.
    pub fn receive<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(host) => host.receive(medium),
            Node::Switch(switch) => switch.receive(medium),
        }
    }

    /// Opens a flow that starts here.
    pub fn open<I: PacketIo>(&mut self, medium: &mut Medium<I>, flow: FlowId) {
        match self {
            Node::Host(host) => host.open(medium, flow),
            Node::Switch(_) => unreachable!("flows start at hosts"),
        }
    }

    /// Runs the timers of this instant.
    pub fn run_timers<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(host) => host.run_timers(medium),
            Node::Switch(switch) => switch.run_timers(medium),
        }
    }

    /// Some links have failed.
    pub fn fail<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(_) => {}
            Node::Switch(switch) => switch.fail(medium),
        }
    }

    /// When it must be visited next, frames in flight included.
    pub fn due<I: PacketIo>(&self, medium: &Medium<I>) -> u64 {
        match self {
            Node::Host(host) => host.due(medium),
            Node::Switch(switch) => switch.due(medium),
        }
    }

    /// Whether a full ring keeps it from sending.
    pub fn is_held(&self) -> bool {
        match self {
            Node::Host(host) => host.line.held,
            Node::Switch(switch) => switch.is_held(),
        }
    }
}
