//! The ports of a partition and the links between them: everything but the nodes.

use crate::buffer::Books;
use crate::egress::{Egress, PortBody};
use crate::mark;
use crate::transit::{Outbox, Transit};
use incast_transport::{Header, PacketPool, PacketRef, Time};
use incast_world::{Captured, Drops, PortSeries};

pub(crate) struct Network {
    pub egress: Vec<Egress>,
    pub bodies: Vec<PortBody>,
    pub books: Books,
    pub transit: Transit,
    /// Switches do nothing but enqueue: no hooks, no shared buffers.
    pub plain: bool,
    /// Packets are impaired where they arrive at hosts.
    pub impaired: bool,
}

impl Network {
    #[inline]
    pub fn now(&self) -> u64 {
        self.transit.agenda.now
    }

    #[inline]
    pub fn is_nic(&self, port: u32) -> bool {
        self.egress[port as usize].transmitter.tier == 0
    }

    /// The node whose port this is.
    #[inline]
    pub fn node_of(&self, port: u32) -> u32 {
        self.transit.common.fabric.ports()[port as usize].node.0
    }

    /// `packet` begins transmission at `start` on `port` and leaves `backlog` bytes behind.
    #[inline]
    pub fn send_by(&mut self, port: u32, packet: PacketRef, start: u64, backlog: u64) {
        let Egress { counted, captured, lossy, .. } = self.egress[port as usize];
        if counted {
            self.bodies[port as usize].sent += self.transit.packets.charged(packet) as u64;
        }
        if captured || lossy {
            self.observe(port, packet, start);
        }
        self.transit.send(&mut self.egress[port as usize], port, packet, start, backlog);
    }

    /// Captures, and random loss on the link.
    #[cold]
    fn observe(&mut self, port: u32, packet: PacketRef, start: u64) {
        let transit = &mut self.transit;
        let body = &mut self.bodies[port as usize];
        let content = transit.packets[packet];
        if self.egress[port as usize].captured {
            let extension = *transit.packets.extension(packet);
            let at = Time(start);
            transit.captures.push(Captured { at, port, packet: content, extension });
        }
        let loss = transit.common.fabric.ports()[port as usize].loss;
        let control = matches!(content.header, Header::Pause { .. });
        if loss > 0.0 && !control && body.random.chance(loss) {
            transit.packets.meta_mut(packet).mark |= mark::LOST;
        }
    }

    /// Whether the switch has room for the packet; books it if so.
    #[inline]
    pub fn admit(&mut self, port: u32, packet: PacketRef) -> bool {
        !self.books.booked || self.book(port, packet)
    }

    fn book(&mut self, port: u32, packet: PacketRef) -> bool {
        let node = self.node_of(port);
        let (switch, detector) = self.books.of(node);
        let (rules, packets) = (&self.transit.common.buffers, &mut self.transit.packets);
        let (fits, announces) = switch.admit(rules, detector, port, packets, packet);
        self.announce(announces);
        fits
    }

    /// Gives a packet's share of a switch's buffers back.
    #[inline]
    pub fn release(&mut self, port: u32, packet: PacketRef) {
        if self.books.booked {
            self.release_booked(port, packet);
        }
    }

    fn release_booked(&mut self, port: u32, packet: PacketRef) {
        let node = self.node_of(port);
        let (switch, detector) = self.books.of(node);
        let stamps = self.transit.packets.stamps_mut(packet);
        let announces = switch.release(&self.transit.common.buffers, detector, port, stamps);
        self.announce(announces);
    }

    /// A pause frame has to leave by the port before anything else.
    #[inline]
    fn announce(&mut self, port: Option<u32>) {
        if let Some(port) = port {
            let egress = &mut self.egress[port as usize];
            egress.transmitter.announce(self.transit.agenda.now);
            egress.kick(&mut self.transit.agenda, port);
        }
    }

    /// Takes in what another partition handed over.
    pub fn receive(&mut self, outbox: &mut Outbox) {
        for loss in outbox.losses.drain(..) {
            self.transit.probe.record_loss(loss);
        }
        for crossing in outbox.packets.drain(..) {
            let reverse = self.egress[crossing.meta.link as usize].reverse;
            let (meta, extension) = (crossing.meta, crossing.extension);
            let packets = &mut self.transit.packets;
            let packet = packets.put(crossing.packet, meta, extension, crossing.stamps);
            self.transit.agenda.schedule_arrival(crossing.at, reverse, packet);
        }
    }
}

impl Drops for Network {
    fn packets_and_series(&mut self, port: u32) -> (&mut PacketPool, &mut PortSeries) {
        (&mut self.transit.packets, &mut self.egress[port as usize].series)
    }

    fn give_back(&mut self, port: u32, packet: PacketRef) {
        // At a NIC nothing is booked.
        if !self.is_nic(port) {
            self.release(port, packet);
        }
    }

    fn note_loss(&mut self, packet: PacketRef, at: u64) {
        self.transit.note_loss(packet, at);
    }
}
