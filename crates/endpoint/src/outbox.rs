//! Control packets of a host that wait for the NIC: announcements, grants, tokens, finishes.

use crate::queue::Queue;
use incast_transport::{Env, FlowId, Header, HostId, Packet, PacketRef, Time, TransportId, flag};

/// Service class of control packets.
pub const CONTROL: u8 = 0;

/// A control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Whose flow.
    pub flow: FlowId,
    /// Where it goes.
    pub to: HostId,
    /// What it says.
    pub header: Header,
    /// Whether it repeats an earlier one.
    pub again: bool,
    /// When its information was current.
    pub informed: Time,
}

/// Control packets of one transport, first in, first out.
pub struct Outbox {
    transport: TransportId,
    waiting: Queue<Control>,
}

impl Outbox {
    /// Nothing waits.
    pub fn new(transport: TransportId) -> Outbox {
        Outbox { transport, waiting: Queue::new() }
    }

    /// Adds a packet.
    #[inline]
    pub fn push(&mut self, control: Control) {
        self.waiting.push_back(control);
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops the next packets for as long as they are of no use any more.
    #[inline]
    pub fn drop_while(&mut self, useless: impl Fn(&Control) -> bool) {
        while self.waiting.front().is_some_and(&useless) {
            self.waiting.pop_front();
        }
    }

    /// Takes the next packet out.
    #[inline]
    pub fn pop(&mut self) -> Option<Control> {
        self.waiting.pop_front()
    }

    /// Puts the next packet into the pool.
    #[inline]
    pub fn send(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        self.send_in(env, CONTROL)
    }

    /// The same in another service class, in which it cannot overtake the data before it.
    #[inline]
    pub fn send_in(&mut self, env: &mut Env<'_>, class: u8) -> Option<PacketRef> {
        let control = self.pop()?;
        let Control { flow, to, header, again, .. } = control;
        let flags = if again { flag::RETRANSMIT } else { 0 };
        let packet = Packet::header_only(self.transport, flow, env.host, to, class, header);
        let packet = env.packets.create(Packet { flags, ..packet });
        env.packets.stamps_mut(packet).informed = control.informed.0;
        Some(packet)
    }
}
