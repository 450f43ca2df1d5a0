//! A part of the fabric with its own clock, queue, packets and probe.

use crate::egress::{Egress, tx_time};
use crate::host::HostState;
use crate::queue::{Event, Wheel};
use incast_fabric::{Fabric, NodeId, PortId, Routes, order};
use incast_transport::{
    Extension, FlowId, Header, Loss, Meta, Packet, PacketPool, PacketRef, Port, Probe, Random,
    Routing, Stamps, SwitchHook, Time, prefetch,
};
use incast_world::{
    Buffers, Captured, Captures, Choice, Deliveries, Faults, FlowSetup, Ingress, Standstill, Turns,
};
use std::sync::Arc;

/// Classes of events, in the upper bits of the key: at one instant arrivals come first, in an
/// order drawn anew for each instant; then flows open, then timers run. Transmissions are last
/// and have no events: they are on the list of kicked ports.
pub(crate) mod class {
    pub const OPEN: u32 = 1 << 30;
    pub const TIMER: u32 = 2 << 30;
    pub const CONTROL: u32 = 3 << 30;
}
/// In a timer's id: a port, not a host.
pub(crate) const PORT_TIMER: u32 = 1 << 31;

/// Bits of `Meta::mark`.
pub(crate) mod mark {
    /// The port this packet left must be brought up to date when it arrives.
    pub const SERVICE: u8 = 1;
    /// Lost on the link.
    pub const LOST: u8 = 2;
    /// Already went through fault injection.
    pub const FAULTED: u8 = 4;
}

/// A packet on its way to another partition.
pub(crate) struct Crossing {
    pub at: u64,
    pub packet: Packet,
    pub meta: Meta,
    pub extension: Extension,
    pub stamps: Stamps,
}

/// What a partition hands to another at the end of a window.
#[derive(Default)]
pub(crate) struct Outbox {
    pub packets: Vec<Crossing>,
    pub losses: Vec<Loss>,
}

/// What all partitions know and none changes.
pub(crate) struct Common {
    pub fabric: Arc<Fabric>,
    pub seed: u64,
    pub part_of: Vec<u32>,
    pub routing: [Routing; 256],
    pub flows: Vec<FlowSetup>,
    /// Routes from each failure on, in order; the first entry is time zero.
    pub epochs: Vec<(Time, Arc<Routes>, Vec<PortId>)>,
    /// Flows that wait for a flow, by that flow.
    pub dependents: Vec<Vec<u32>>,
    pub buffers: Buffers,
    pub faults: Faults,
}

/// One switch.
pub(crate) struct SwitchState {
    pub random: Random,
    pub hooks: Vec<Box<dyn SwitchHook>>,
    pub turns: Turns,
    /// Bytes of the shared buffer in use.
    pub used: u64,
}

pub(crate) struct Partition {
    pub index: u32,
    pub common: Arc<Common>,
    pub now: u64,
    pub queue: Wheel,
    pub kicks: Vec<u32>,
    pub pool: PacketPool,
    pub probe: Probe,
    pub egress: Vec<Egress>,
    pub ports: Vec<Option<Box<dyn Port>>>,
    pub port_random: Vec<Random>,
    /// Charged bytes sent, by port.
    pub sent_bytes: Vec<u64>,
    /// Bytes booked in the switch's buffer, by port; with PFC those that are not lossless.
    pub queued_shared: Vec<u64>,
    /// With PFC: what the link into the port's switch holds there, by the port that leads back.
    pub ingress: Vec<Ingress>,
    /// Switches account for what they hold.
    pub booked: bool,
    /// Where links may come to wait for each other: who waits for whom.
    pub standstill: Option<Standstill>,
    /// The circle that was found.
    pub deadlock: Vec<(u32, u8)>,
    /// Switches do nothing but enqueue: no hooks, no shared buffers.
    pub plain: bool,
    /// Some switch has hooks.
    pub hooked: bool,
    /// Links fail during the run.
    pub failing: bool,
    /// Faults are injected.
    pub faulty: bool,
    pub hosts: Vec<Option<HostState>>,
    pub switches: Vec<Option<SwitchState>>,
    pub routes: Arc<Routes>,
    pub cut_ports: Vec<u32>,
    pub outboxes: Vec<Outbox>,
    /// Own flows by start, latest first.
    pub opens: Vec<u32>,
    /// Flows each dependent flow still waits for.
    pub missing: Vec<u32>,
    pub deliveries: Deliveries,
    pub captures: Captures,
    pub hops: u64,
    pub events: u64,
    pub link_losses: u64,
    pub completed: usize,
    pub last_completion: u64,
}

impl Partition {
    /// Runs events before `end`, at most `most` of them, and no further when `goal` flows are
    /// complete. Returns whether events before `end` may be left.
    pub fn run_some(&mut self, end: u64, most: u64, goal: usize) -> bool {
        let last = self.events.saturating_add(most);
        loop {
            if !self.kicks.is_empty() && !self.queue.has_at(self.now) {
                self.flush();
                continue;
            }
            let next = self.queue.next_time(end);
            if self.standstill.is_some() && next > self.now && self.is_standing_still() {
                return false;
            }
            if next >= end {
                return false;
            }
            if self.events >= last || self.completed >= goal {
                return true;
            }
            self.now = next;
            let event = self.queue.pop();
            self.events += 1;
            self.look_ahead();
            self.handle(event);
        }
    }

    /// Decides every transmission that begins before `end`, after all events before it.
    pub fn settle_until(&mut self, end: u64) {
        for port in 0..self.egress.len() as u32 {
            if self.egress[port as usize].in_order {
                self.drain_line(port, end);
            }
            if self.ports[port as usize].is_some() && self.egress[port as usize].waiting {
                self.advance_port(port, end);
            }
        }
        for host in 0..self.hosts.len() as u32 {
            if self.hosts[host as usize].is_some() {
                self.advance_host(host, end);
            }
        }
    }

    /// Decides what leaves towards other partitions before `end`, after
    /// [`run_some`](Partition::run_some) to the same instant. Returns when there is something to do
    /// next.
    pub fn close_window(&mut self, end: u64) -> u64 {
        debug_assert!(self.kicks.is_empty());
        let mut next = self.queue.earliest();
        for index in 0..self.cut_ports.len() {
            let port = self.cut_ports[index];
            self.advance_port(port, end);
            let egress = &self.egress[port as usize];
            if egress.waiting {
                next = next.min(egress.start());
            }
        }
        for outbox in &self.outboxes {
            next = outbox.packets.iter().fold(next, |next, crossing| next.min(crossing.at));
        }
        next
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event.key >> 30 {
            0 => self.arrival(PacketRef(event.id)),
            1 => self.open(event.id),
            2 if event.id & PORT_TIMER != 0 => self.port_timer(event.id & !PORT_TIMER),
            2 => self.host_timer(event.id),
            _ => self.fail(event.id as usize),
        }
    }

    /// By which port a packet in flight will leave the switch it will arrive at, if that can be
    /// known now, while the packet is near: for [`Meta::next`].
    #[inline]
    pub fn aim(&self, node: u32, back: u32, packet: PacketRef, at: u64) -> PacketRef {
        if (node as usize) < self.hosts.len() {
            return PacketRef::NONE;
        }
        match self.choose(NodeId(node), back, packet, at) {
            Choice::Port(port) => PacketRef(port.0),
            _ => PacketRef::NONE,
        }
    }

    /// Brings near what the next events will touch: packets, then the hosts they arrive at, then
    /// what these hold. Where fewer events are at hand all is near anyway.
    #[inline]
    fn look_ahead(&self) {
        let Some([second, _, fourth, _, _, _, eighth]) = self.queue.after_next() else { return };
        if eighth.key < class::OPEN {
            self.pool.prefetch(PacketRef(eighth.id));
        }
        if let Some(host) = self.destination(fourth) {
            prefetch(host, 2);
        }
        if let Some(host) = self.destination(second)
            && let Some((_, transport)) = host.transports.first()
        {
            prefetch(&**transport, 6);
        }
    }

    /// The host at which a packet arrives with this event.
    #[inline]
    fn destination(&self, event: &Event) -> Option<&HostState> {
        if event.key >= class::OPEN {
            return None;
        }
        let meta = self.pool.meta(PacketRef(event.id));
        if meta.next != PacketRef::NONE {
            return None;
        }
        let peer = self.egress.get(meta.link as usize)?.peer;
        self.hosts.get(peer as usize)?.as_ref()
    }

    /// A packet arrives at the other end of the link it left by.
    #[inline]
    fn arrival(&mut self, packet: PacketRef) {
        let meta = self.pool.meta_mut(packet);
        let (port, marks, target) = (meta.link, meta.mark, meta.next.0);
        meta.mark = marks & mark::FAULTED;
        if marks & mark::SERVICE != 0 {
            self.egress[port as usize].armed = false;
            self.serve(port);
        }
        if marks & mark::LOST != 0 || self.failing && self.egress[port as usize].dead {
            self.link_losses += 1;
            self.lose(packet, self.now);
        } else if self.common.buffers.pfc.is_some() && self.heed_pause(port, packet) {
            // It was for this node alone.
        } else if target != PacketRef::NONE.0 && self.plain {
            self.enqueue(target, packet);
        } else {
            let egress = &self.egress[port as usize];
            let (peer, reverse) = (egress.peer, egress.reverse);
            if (peer as usize) < self.hosts.len() {
                self.host_arrival(peer, packet);
            } else {
                self.switch_arrival(NodeId(peer), reverse, target, packet);
            }
        }
    }

    /// Brings a port or NIC of this partition up to date, short of this very instant.
    #[inline]
    pub fn serve(&mut self, port: u32) {
        if self.is_nic(port) {
            self.advance_host(self.host_of(port), self.now);
            self.rearm_host(self.host_of(port));
        } else {
            self.advance_port(port, self.now);
            self.rearm_port(port);
        }
    }

    #[inline]
    pub fn is_nic(&self, port: u32) -> bool {
        self.egress[port as usize].tier == 0
    }

    #[inline]
    pub fn host_of(&self, port: u32) -> u32 {
        self.common.fabric.ports()[port as usize].node.0
    }

    /// Puts a port on the list of those that transmit at the end of this instant.
    #[inline]
    pub fn kick(&mut self, port: u32) {
        let egress = &mut self.egress[port as usize];
        if !egress.kicked {
            egress.kicked = true;
            self.kicks.push(port);
        }
    }

    /// All arrivals and timers of this instant are done: transmit.
    fn flush(&mut self) {
        let mut index = 0;
        while let Some(&port) = self.kicks.get(index) {
            index += 1;
            self.egress[port as usize].kicked = false;
            if self.is_nic(port) {
                let host = self.host_of(port);
                self.advance_host(host, self.now + 1);
                self.rearm_host(host);
            } else {
                self.advance_port(port, self.now + 1);
                self.rearm_port(port);
            }
        }
        self.kicks.clear();
    }

    /// `packet` begins transmission at `start` on `port` and leaves `backlog` bytes behind: its
    /// arrival is scheduled.
    #[inline]
    pub fn send(&mut self, port: u32, packet: PacketRef, start: u64, backlog: u64) {
        let egress = &mut self.egress[port as usize];
        let meta = self.pool.meta_mut(packet);
        let charged = meta.charged;
        let tx = tx_time(&self.common.fabric, port, egress.byte_ps, charged);
        egress.busy_until = start + tx;
        let at = start + tx + egress.propagation;
        meta.serialised = meta.serialised.saturating_add(tx.min(u32::MAX as u64) as u32);
        meta.link = port;
        meta.next = PacketRef::NONE;
        self.hops += 1;
        let arrived = meta.arrived.0;
        if egress.lossy || egress.captured {
            self.observe(port, packet, start);
        }
        let egress = &mut self.egress[port as usize];
        // Only the stamps of data are read, but asking takes longer.
        self.pool.stamps_mut(packet).waited[egress.tier as usize] += start - arrived;
        if self.hooked {
            self.sent_bytes[port as usize] += charged as u64;
        }
        egress.series.sent(start, charged as u32, backlog);
        let (peer, reverse) = (egress.peer, egress.reverse);
        let cut = egress.cut;
        egress.last = packet;
        if !self.failing {
            self.pool.meta_mut(packet).next = self.aim(peer, reverse, packet, at);
        }
        match cut {
            true => self.cross(peer, packet, at),
            false => self.schedule_arrival(at, reverse, packet),
        }
    }

    /// The packet will arrive at `peer`, a node of another partition, at `at`.
    pub fn cross(&mut self, peer: u32, packet: PacketRef, at: u64) {
        let part = self.common.part_of[peer as usize];
        let (packet, meta, extension, stamps) = self.pool.take(packet);
        let crossing = Crossing { at, packet, meta, extension, stamps };
        self.outboxes[part as usize].packets.push(crossing);
    }

    #[inline]
    pub fn schedule_arrival(&mut self, at: u64, reverse: u32, packet: PacketRef) {
        let key = order::arrival_key(self.common.seed, Time(at), PortId(reverse));
        self.queue.push(Event { time: at, key, id: packet.0 });
    }

    /// Random loss on the link, and captures.
    #[cold]
    fn observe(&mut self, port: u32, packet: PacketRef, start: u64) {
        let egress = &self.egress[port as usize];
        if egress.captured {
            self.captures.push(Captured {
                at: Time(start),
                port,
                packet: self.pool[packet],
                extension: *self.pool.extension(packet),
            });
        }
        let loss = self.common.fabric.ports()[port as usize].loss;
        let control = matches!(self.pool[packet].header, Header::Pause { .. });
        if loss > 0.0 && !control && self.port_random[port as usize].chance(loss) {
            self.pool.meta_mut(packet).mark |= mark::LOST;
        }
    }

    /// A packet is lost at `at`.
    pub fn lose(&mut self, packet: PacketRef, at: u64) {
        if self.pool[packet].is_data() {
            self.note_loss(packet, at);
        }
        self.pool.free(packet);
    }

    /// The payload of a packet is lost at `at`.
    pub fn note_loss(&mut self, packet: PacketRef, at: u64) {
        let content = self.pool[packet];
        let (stamps, meta) = (self.pool.stamps(packet), self.pool.meta(packet));
        let loss = Loss::of(content.flow, content.header.data_key(), stamps, meta, at);
        let home = self.common.part_of[content.dst.0 as usize];
        if home == self.index {
            self.probe.record_loss(loss);
        } else {
            self.outboxes[home as usize].losses.push(loss);
        }
    }

    /// Takes in what another partition handed over.
    pub fn receive(&mut self, outbox: &mut Outbox) {
        for loss in outbox.losses.drain(..) {
            self.probe.record_loss(loss);
        }
        for crossing in outbox.packets.drain(..) {
            let reverse = self.egress[crossing.meta.link as usize].reverse;
            let Crossing { at, packet, meta, extension, stamps } = crossing;
            let packet = self.pool.put(packet, meta, extension, stamps);
            self.schedule_arrival(at, reverse, packet);
        }
    }

    /// Links fail: the epoch's routes hold from now on.
    fn fail(&mut self, epoch: usize) {
        let common = self.common.clone();
        let (_, routes, dead) = &common.epochs[epoch];
        self.routes = routes.clone();
        for port in dead {
            self.egress[port.0 as usize].dead = true;
            if self.common.part_of[self.owner(port.0)] == self.index {
                self.kick_after_failure(port.0);
            }
        }
    }

    /// Schedules a change of routes.
    pub fn schedule_epoch(&mut self, at: u64, epoch: u32) {
        self.queue.push(Event { time: at, key: class::CONTROL, id: epoch });
    }

    fn owner(&self, port: u32) -> usize {
        self.common.fabric.ports()[port as usize].node.0 as usize
    }

    /// Flows whose last byte has arrived since the last look.
    #[inline]
    pub fn note_completions(&mut self, before: usize) {
        for index in before..self.probe.outcomes().len() {
            let flow = self.probe.outcomes()[index].flow;
            self.completed += 1;
            self.last_completion = self.now;
            if !self.common.dependents.is_empty() {
                self.release(flow);
            }
        }
    }

    fn release(&mut self, flow: FlowId) {
        let common = self.common.clone();
        for &waiting in &common.dependents[flow.0 as usize] {
            self.missing[waiting as usize] -= 1;
            if self.missing[waiting as usize] == 0 {
                let delay = common.flows[waiting as usize].delay.0;
                let key = class::OPEN | (waiting & (class::OPEN - 1));
                self.queue.push(Event { time: self.now + delay, key, id: waiting });
            }
        }
    }
}
