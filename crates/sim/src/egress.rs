//! Switch ports: enqueue, lazily dequeue, account.

use crate::agenda::Agenda;
use crate::line::Line;
use crate::network::Network;
use crate::transit::mark;
use incast_fabric::Fabric;
use incast_transport::{Bytes, Fate, PacketPool, PacketRef, Port, Random, Time, Verdict};
use incast_world::{PortParts, PortSeries, Transmitter, drop_packet};

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
    fn split<'a>(
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

impl Network {
    /// A port as its transmitter and what that works with.
    #[inline]
    fn split(&mut self, port: u32) -> (&mut Transmitter, PortParts<'_>) {
        let index = port as usize;
        self.egress[index].split(&mut self.bodies[index], &mut self.transit.packets)
    }

    /// A packet wants to leave by `port`, now. Where the verdict is not that it simply waits, the
    /// caller carries it out.
    #[inline]
    pub fn enqueue(&mut self, port: u32, packet: PacketRef) -> Verdict {
        let now = self.now();
        let index = port as usize;
        if self.egress[index].in_order {
            self.line_up(port, packet);
            return Verdict::only(Fate::Queued);
        }
        self.advance_port(port, now);
        let transmitter = &self.egress[index].transmitter;
        let meta = self.transit.packets.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(now), transmitter.tier);
        if transmitter.dead || !self.admit(port, packet) {
            drop_packet(self, port, packet, now);
            return Verdict::only(Fate::Queued);
        }
        let (transmitter, parts) = self.split(port);
        let verdict = transmitter.enqueue(parts, packet, now);
        self.rearm_port(port);
        verdict
    }

    /// Makes sure that something brings a backlogged port up to date in time.
    #[inline]
    pub fn rearm_port(&mut self, port: u32) {
        let transit = &mut self.transit;
        self.egress[port as usize].rearm(&mut transit.agenda, &mut transit.packets, port);
    }

    /// Decides every transmission that begins before `until`.
    #[inline(always)]
    pub fn advance_port(&mut self, port: u32, until: u64) {
        let transmitter = &self.egress[port as usize].transmitter;
        if transmitter.timed {
            self.advance_timed(port, until);
        } else if transmitter.waiting && transmitter.start() < until {
            self.advance_waiting(port, until);
        }
    }

    fn advance_waiting(&mut self, port: u32, until: u64) {
        loop {
            let transmitter = &self.egress[port as usize].transmitter;
            if !transmitter.waiting || transmitter.start() >= until {
                return;
            }
            self.dequeue(port, transmitter.start());
        }
    }

    /// The same at a port with deadlines, which come in order with its transmissions. They need no
    /// events: what a marker does there shows only when something touches the port.
    fn advance_timed(&mut self, port: u32, until: u64) {
        loop {
            let (transmitter, mut parts) = self.split(port);
            let start = transmitter.next_start();
            let deadline = parts.handler.deadline().0;
            if start.min(deadline) >= until {
                return;
            }
            if start < deadline {
                self.dequeue(port, start);
            } else {
                parts.wake(port, deadline);
            }
        }
    }

    fn dequeue(&mut self, port: u32, start: u64) {
        if self.egress[port as usize].transmitter.pausing
            && (self.send_pause(port, start) || !self.egress[port as usize].transmitter.waiting)
        {
            return;
        }
        let (transmitter, parts) = self.split(port);
        if let Some((packet, backlog)) = transmitter.dequeue(parts, start) {
            self.release(port, packet);
            self.send_by(port, packet, start, backlog);
        }
    }

    /// Sends the pause frame that says what has changed; false if nothing has, after all.
    #[cold]
    fn send_pause(&mut self, port: u32, start: u64) -> bool {
        let index = port as usize;
        let node = self.node_of(port);
        let link = self.books.link(node, port);
        let (transmitter, parts) =
            self.egress[index].split(&mut self.bodies[index], &mut self.transit.packets);
        let Some((packet, backlog)) = transmitter.pause_frame(parts, link, start) else {
            return false;
        };
        self.send_by(port, packet, start, backlog);
        true
    }

    /// A shaper's token has come, or an eager port is free.
    pub fn port_timer(&mut self, port: u32) {
        let now = self.now();
        let egress = &mut self.egress[port as usize];
        if egress.timer == now {
            egress.timer = u64::MAX;
        }
        self.advance_port(port, now);
        self.rearm_port(port);
    }

    /// Whatever waits at a port of a switch whose link has failed is lost.
    pub fn fail_port(&mut self, port: u32) {
        let now = self.now();
        self.advance_port(port, now);
        while let Some(packet) = self.split(port).1.strand(now) {
            self.release(port, packet);
            drop_packet(self, port, packet, now);
        }
        let egress = &mut self.egress[port as usize];
        egress.transmitter.waiting = false;
        egress.series.set_backlog(now, 0);
    }
}
