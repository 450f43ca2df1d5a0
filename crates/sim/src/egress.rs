//! The state of egress ports.

use crate::agenda::Agenda;
use crate::fifo::Fifo;
use crate::mark;
use incast_fabric::Fabric;
use incast_transport::{Bytes, PacketPool, PacketRef, Port, Random, prefetch};
use incast_world::{PortParts, PortSeries, Transmitter};

/// An egress port. The data used by most packets takes one cache line here, one in `fifo` and one
/// in `series`.
#[repr(C, align(64))]
pub(crate) struct Egress {
    pub transmitter: Transmitter,
    /// Earliest scheduled timer event.
    pub timer: u64,
    pub propagation: u64,
    /// Picoseconds per byte, or 0 if this is not an integer.
    pub byte_ps: u32,
    pub peer: u32,
    /// The peer's port of the reverse path, which breaks ties.
    pub reverse: u32,
    /// The packet sent last.
    pub last: PacketRef,
    /// The arrival of `last` will update the port.
    pub armed: bool,
    /// On the list of ports that transmit at this instant.
    pub kicked: bool,
    /// The peer is in another partition.
    pub cut: bool,
    /// Sent bytes are counted for hooks.
    pub counted: bool,
    pub captured: bool,
    pub lossy: bool,
    /// Updated at the end of every transmission, because its switch shares a buffer or pauses
    /// links.
    pub eager: bool,
    /// Computes departures on arrival ([`Port::in_order`]).
    pub in_order: bool,
    /// The queue, if the port is in order.
    pub fifo: Fifo,
    pub series: PortSeries,
}

const _: () = assert!(std::mem::offset_of!(Egress, fifo) == 64);

/// The remaining state of an egress port.
pub(crate) struct PortBody {
    /// Queues and markers, if the switch belongs to this partition.
    pub handler: Option<Box<dyn Port>>,
    pub random: Random,
    /// Charged bytes sent, counted for hooks.
    pub sent: u64,
}

impl PortBody {
    /// Prefetches what an accepted packet touches of the handler.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(handler) = &self.handler {
            prefetch(&**handler, 2);
        }
    }
}

/// Transmission time of `charged` bytes on a port's link, at `byte_ps` per byte.
#[inline]
pub(crate) fn tx_time(fabric: &Fabric, port: u32, byte_ps: u32, charged: u16) -> u64 {
    match byte_ps {
        0 => exact_tx(fabric, port, charged),
        per_byte => charged as u64 * per_byte as u64,
    }
}

/// Transmission time if `byte_ps` is not an integer; rounded up.
#[cold]
fn exact_tx(fabric: &Fabric, port: u32, charged: u16) -> u64 {
    fabric.ports()[port as usize].rate.tx_time(Bytes(charged as u64)).0
}

impl Egress {
    /// Schedules the next update of a backlogged port.
    #[inline(always)]
    pub fn rearm(&mut self, agenda: &mut Agenda, packets: &mut PacketPool, port: u32) {
        if !self.transmitter.waiting || self.kicked {
            return;
        }
        let start = self.transmitter.start();
        if start <= agenda.now {
            self.kick(agenda, port);
        } else if self.eager || self.transmitter.resume > self.transmitter.busy_until {
            self.schedule(agenda, port, start);
        } else if !self.cut && !self.armed {
            self.arm(packets);
        }
    }

    /// Marks the packet sent last to update the port on its arrival.
    #[inline]
    pub fn arm(&mut self, packets: &mut PacketPool) {
        self.armed = true;
        packets.meta_mut(self.last).mark |= mark::SERVICE;
    }

    /// Adds the port to the list of ports that transmit at the end of this instant.
    #[inline]
    pub fn kick(&mut self, agenda: &mut Agenda, port: u32) {
        if !self.kicked {
            self.kicked = true;
            agenda.kicks.push(port);
        }
    }

    /// Schedules an update of the port, unless an earlier one is scheduled.
    fn schedule(&mut self, agenda: &mut Agenda, port: u32, time: u64) {
        if time < self.timer {
            self.timer = time;
            agenda.schedule_port(time, port);
        }
    }

    /// Splits the port into its transmitter and the other parts.
    #[inline(always)]
    pub fn split<'a>(
        &'a mut self,
        body: &'a mut PortBody,
        packets: &'a mut PacketPool,
    ) -> (&'a mut Transmitter, PortParts<'a>) {
        let PortBody { handler, random, .. } = body;
        let handler = &mut **handler.as_mut().expect("a switch port has a handler");
        let series = &mut self.series;
        (&mut self.transmitter, PortParts { handler, random, series, packets })
    }
}
