//! The ports of a partition and the links between them.

use crate::buffer::SwitchBuffers;
use crate::egress::{Egress, PortBody};
use crate::mark;
use crate::paged::Paged;
use crate::transit::{Crossing, Outbox, Transit};
use incast_transport::{FlowId, Header, PacketPool, PacketRef, Time, prefetch};
use incast_world::{BurstLoss, Captured, Drops, Inward, PortSeries};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Network {
    pub egress: Paged<Egress>,
    pub bodies: Paged<PortBody>,
    pub buffers: SwitchBuffers,
    pub transit: Transit,
    /// Switches only enqueue: no hooks, no shared buffers.
    pub plain: bool,
    /// Something may keep packets from a host where they arrive.
    pub impaired: bool,
    /// What waits in NICs of hosts that are not ideal, by host.
    pub inward: BTreeMap<u32, Inward>,
    /// Hosts and flows to them that their applications have ended: what is late of these is nothing.
    pub ended: BTreeSet<(u32, FlowId)>,
    /// Ports whose links lose packets in bursts.
    pub bursts: BTreeMap<u32, BurstLoss>,
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

    /// Prefetches the ports that a packet in flight comes from and goes to. Any packet is allowed.
    #[inline]
    pub fn prefetch(&self, packet: PacketRef) {
        let meta = self.transit.packets.meta(packet);
        self.prefetch_port(meta.link, 1);
        if meta.next != PacketRef::NONE {
            self.prefetch_port(meta.next.0, 3);
            if let Some(body) = self.bodies.get(meta.next.0 as usize) {
                prefetch(body, 1);
            }
        }
    }

    /// Prefetches the first cache lines of a port.
    #[inline]
    pub fn prefetch_port(&self, port: u32, lines: usize) {
        if let Some(egress) = self.egress.get(port as usize) {
            prefetch(egress, lines);
        }
    }

    /// The node of a port.
    #[inline]
    pub fn node_of(&self, port: u32) -> u32 {
        self.transit.common.fabric.ports()[port as usize].node.0
    }

    /// Starts the transmission of `packet` on `port` at `start`; `backlog` bytes remain queued.
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

    /// Applies captures and random loss on the link.
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
        if matches!(content.header, Header::Pause { .. }) {
            return;
        }
        let loss = transit.common.fabric.ports()[port as usize].loss;
        let lost = match self.bursts.get_mut(&port) {
            Some(bursts) => bursts.loses(&mut body.random, start, loss),
            None => loss > 0.0 && body.random.chance(loss),
        };
        if lost {
            transit.packets.meta_mut(packet).mark |= mark::LOST;
        }
    }

    /// Whether the switch admits the packet; charges its buffers if so.
    #[inline]
    pub fn admit(&mut self, port: u32, packet: PacketRef) -> bool {
        !self.buffers.in_use || self.charge(port, packet)
    }

    fn charge(&mut self, port: u32, packet: PacketRef) -> bool {
        if self.buffers.drops(port, self.transit.packets[packet].class) {
            return false;
        }
        let node = self.node_of(port);
        let (switch, detector) = self.buffers.of(node);
        let (rules, packets) = (&self.transit.common.buffers, &mut self.transit.packets);
        let (fits, announces) = switch.admit(rules, detector, port, packets, packet);
        self.announce(announces);
        fits
    }

    /// Releases a packet's charge to a switch's buffers.
    #[inline]
    pub fn release(&mut self, port: u32, packet: PacketRef) {
        if self.buffers.in_use {
            self.release_charged(port, packet);
        }
    }

    fn release_charged(&mut self, port: u32, packet: PacketRef) {
        let node = self.node_of(port);
        let (switch, detector) = self.buffers.of(node);
        let stamps = self.transit.packets.stamps_mut(packet);
        let announces = switch.release(&self.transit.common.buffers, detector, port, stamps);
        self.announce(announces);
    }

    /// Schedules a pause frame at a port, ahead of all packets.
    #[inline]
    pub fn announce(&mut self, port: Option<u32>) {
        if let Some(port) = port {
            let egress = &mut self.egress[port as usize];
            egress.transmitter.announce(self.transit.agenda.now);
            egress.kick(&mut self.transit.agenda, port);
        }
    }

    /// Receives packets and losses from another partition.
    pub fn receive(&mut self, outbox: &mut Outbox) {
        for (loss, stamps) in outbox.losses.drain(..) {
            self.transit.probe.record_loss(&loss, &stamps);
        }
        let mut extensions = outbox.extensions.drain(..);
        for (crossing, stamps) in outbox.packets.iter().zip(&outbox.stamps) {
            let Crossing { at, packet: content, meta, taken } = crossing;
            let Egress { reverse, peer, .. } = self.egress[meta.link as usize];
            let packets = &mut self.transit.packets;
            let place = packets.adopt_with(|packet| {
                *packet = *content;
                true
            });
            let packet = place.expect("it is written");
            if content.extension > 0 {
                packets.extend(packet, extensions.next().expect("one per such packet"));
            }
            *packets.meta_mut(packet) = *meta;
            *packets.stamps_mut(packet) = *stamps;
            if self.transit.recorder.is_some() {
                self.transit.packets.set_path_taken(packet, *taken);
            }
            let Transit { common, border, agenda, .. } = &mut self.transit;
            let batch = common.batch_of[peer as usize];
            let agenda = border.batches.agenda_for(batch, *at).unwrap_or(agenda);
            agenda.schedule_arrival(*at, reverse, packet);
        }
        drop(extensions);
        outbox.packets.clear();
        outbox.stamps.clear();
    }
}

impl Drops for Network {
    fn packets_and_series(&mut self, port: u32) -> (&mut PacketPool, &mut PortSeries) {
        (&mut self.transit.packets, &mut self.egress[port as usize].series)
    }

    fn give_back(&mut self, port: u32, packet: PacketRef) {
        // NICs do not charge buffers.
        if !self.is_nic(port) {
            self.release(port, packet);
        }
    }

    fn note_loss(&mut self, packet: PacketRef, at: u64) {
        self.transit.note_loss(packet, at);
    }
}
