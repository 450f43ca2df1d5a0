//! Switch ports: enqueue, lazily dequeue, account.

use crate::agenda::Agenda;
use crate::line::Line;
use crate::mark;
use incast_fabric::Fabric;
use incast_transport::{Bytes, PacketPool, PacketRef, Port, Random};
use incast_world::{PortParts, PortSeries, Transmitter};

/// An egress port: what most packets touch is one cache line each here, in its line and in its
/// series.
#[repr(C, align(64))]
pub(crate) struct Egress {
    pub transmitter: Transmitter,
    /// Earliest scheduled timer event.
    pub timer: u64,
    pub propagation: u64,
    /// Picoseconds per byte, or 0 when that is not a whole number.
    pub byte_ps: u32,
    pub peer: u32,
    /// Our identity at the peer, for ties.
    pub reverse: u32,
    /// The packet sent last.
    pub last: PacketRef,
    /// `last` will bring the port up to date.
    pub armed: bool,
    /// On the list of ports that transmit at this instant.
    pub kicked: bool,
    /// The peer is in another partition.
    pub cut: bool,
    /// What it sends is counted, because hooks look at it.
    pub counted: bool,
    pub captured: bool,
    pub lossy: bool,
    /// Evaluated at every transmission's end, because its switch shares a buffer or pauses links.
    pub eager: bool,
    /// Decides everything about a packet when it comes.
    pub in_order: bool,
    /// What waits, if it is in order.
    pub line: Line,
    pub series: PortSeries,
}

const _: () = assert!(std::mem::offset_of!(Egress, line) == 64);

/// What else an egress port has.
pub(crate) struct PortBody {
    /// Queues and markers of an own switch's port.
    pub handler: Option<Box<dyn Port>>,
    pub random: Random,
    /// Charged bytes sent, where hooks look at them.
    pub sent: u64,
}

/// How long `charged` bytes take on a port's link, where a byte takes `byte_ps`.
#[inline]
pub(crate) fn tx_time(fabric: &Fabric, port: u32, byte_ps: u32, charged: u16) -> u64 {
    match byte_ps {
        0 => exact_tx(fabric, port, charged),
        per_byte => charged as u64 * per_byte as u64,
    }
}

/// Transmission time where a byte does not last a whole number of picoseconds; rounded up.
#[cold]
fn exact_tx(fabric: &Fabric, port: u32, charged: u16) -> u64 {
    fabric.ports()[port as usize].rate.tx_time(Bytes(charged as u64)).0
}

impl Egress {
    /// Makes sure that something brings a backlogged port up to date in time.
    #[inline]
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

    /// The packet sent last will bring the port up to date when it arrives.
    #[inline]
    pub fn arm(&mut self, packets: &mut PacketPool) {
        self.armed = true;
        packets.meta_mut(self.last).mark |= mark::SERVICE;
    }

    /// Puts the port on the list of those that transmit at the end of this instant.
    #[inline]
    pub fn kick(&mut self, agenda: &mut Agenda, port: u32) {
        if !self.kicked {
            self.kicked = true;
            agenda.kicks.push(port);
        }
    }

    /// Schedules a look at the port, unless one comes earlier.
    fn schedule(&mut self, agenda: &mut Agenda, port: u32, time: u64) {
        if time < self.timer {
            self.timer = time;
            agenda.schedule_port(time, port);
        }
    }

    /// The port as its transmitter and what that works with.
    #[inline]
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
