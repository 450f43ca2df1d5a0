//! Packets that wait for the NIC: credits, and in one queue all else.

use crate::queue::Queue;
use incast_transport::{Env, Extension, Framing, Packet, PacketRef};

/// Service class of credits.
pub const CREDIT: u8 = 0;

/// A packet and when its information was current, in picoseconds.
#[derive(Clone, Copy)]
struct Waiting {
    packet: Packet,
    informed: u64,
}

/// A credit and the pairs of bytes by which it is longer than the shortest packet.
#[derive(Clone, Copy)]
struct Paced {
    waiting: Waiting,
    longer: u8,
}

/// Two queues, each first in, first out.
#[derive(Default)]
pub struct Outbox {
    credits: Queue<Paced>,
    packets: Queue<Waiting>,
}

/// The padding of a credit that is charged `longer` pairs of bytes, at least one, more than the
/// shortest packet.
fn padding(framing: &Framing, longer: u8) -> Extension {
    Extension::Padding { count: (framing.control_fill() / 2) as u8 + longer - 1 }
}

impl Outbox {
    /// Adds a packet that is made now.
    #[inline]
    pub fn push(&mut self, env: &Env<'_>, packet: Packet) {
        debug_assert_ne!(packet.class, CREDIT);
        self.packets.push_back(Waiting { packet, informed: env.now.0 });
    }

    /// Adds a credit, which is charged `longer` pairs of bytes more than the shortest packet.
    #[inline]
    pub fn push_credit(&mut self, packet: Packet, informed: u64, longer: u8) {
        debug_assert_eq!(packet.class, CREDIT);
        self.credits.push_back(Paced { waiting: Waiting { packet, informed }, longer });
    }

    /// The next credit, made.
    #[inline]
    pub fn credit(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        let Paced { waiting, longer } = self.credits.pop_front()?;
        let packet = make(env, waiting);
        if longer > 0 {
            let padding = padding(env.packets.framing(), longer);
            env.packets.extend(packet, padding);
        }
        Some(packet)
    }

    /// The next packet that is no credit, made.
    #[inline]
    pub fn packet(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        self.packets.pop_front().map(|waiting| make(env, waiting))
    }
}

#[inline]
fn make(env: &mut Env<'_>, waiting: Waiting) -> PacketRef {
    let packet = env.packets.create(waiting.packet);
    env.packets.stamps_mut(packet).informed = waiting.informed;
    packet
}
