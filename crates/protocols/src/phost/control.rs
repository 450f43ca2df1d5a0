//! Control packets that wait for the NIC: announcements, tokens and finishes.

use super::{CONTROL, ID};
use incast_transport::{Env, FlowId, Header, HostId, Packet, PacketRef, Time, flag};
use std::collections::VecDeque;

/// A control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Whose flow.
    pub flow: FlowId,
    /// Where it goes.
    pub to: HostId,
    /// What it says.
    pub header: Header,
    /// Whether it repeats an announcement.
    pub again: bool,
    /// When what it tells was current.
    pub informed: Time,
}

/// First in, first out.
#[derive(Default)]
pub struct Outbox {
    waiting: VecDeque<Control>,
}

impl Outbox {
    /// Adds a packet.
    #[inline]
    pub fn push(&mut self, control: Control) {
        self.waiting.push_back(control);
    }

    /// The next packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Control> {
        self.waiting.pop_front()
    }

    /// Puts the next packet into the pool.
    pub fn send(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        let control = self.pop()?;
        let packet = env.packets.create(Packet {
            header: control.header,
            src: env.host,
            dst: control.to,
            flow: control.flow,
            payload: 0,
            path: 0,
            mark: 0,
            class: CONTROL,
            transport: ID,
            flags: if control.again { flag::RETRANSMIT } else { 0 },
            extension: 0,
        });
        env.packets.stamps_mut(packet).informed = control.informed.0;
        Some(packet)
    }
}
