//! Packets in flight: the packet pool, statistics, routing, and the border to other partitions.

use crate::agenda::Agenda;
use crate::batches::{Batches, Passing};
use crate::egress::{Egress, tx_time};
use crate::mark;
use incast_fabric::{Fabric, NodeId, PortId, Routes};
use incast_transport::{
    Extension, Header, Loss, Meta, Packet, PacketPool, PacketRef, Probe, Routing, Span, Stamps,
    Time,
};
use incast_world::{
    Arrival, Buffers, Captures, Choice, Deliveries, Ending, Epoch, Faults, FlowSetup, HostModel,
    LinkState, LossLog, Outward, PathRecorder, Work, choose, choose_here,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Immutable data shared by all partitions.
pub(crate) struct Common {
    pub fabric: Arc<Fabric>,
    pub seed: u64,
    /// The batch of each node. Those of a partition follow each other.
    pub batch_of: Vec<u32>,
    /// Batches of a partition; the last one may have fewer.
    pub batches: u32,
    pub routing: [Routing; 256],
    pub flows: Vec<FlowSetup>,
    /// Flows that their applications end; the first has the number after the last flow.
    pub endings: Vec<Ending>,
    /// Host of each execution, and when it begins; the first has the number after the last ending.
    pub begins: Vec<(u32, u64)>,
    /// Changes of links, in order of time.
    pub epochs: Vec<Epoch>,
    pub buffers: Buffers,
    pub faults: Faults,
    /// What hosts take, if they are not ideal.
    pub hosts: Option<Arc<HostModel>>,
}

impl Common {
    /// The partition of a node.
    #[inline]
    pub fn part_of(&self, node: u32) -> u32 {
        self.batch_of[node as usize] / self.batches
    }

    /// The number of the first execution.
    #[inline]
    pub fn first_execution(&self) -> u32 {
        (self.flows.len() + self.endings.len()) as u32
    }

    /// When a flow with a given start opens, one is ended, or an execution begins, by its number.
    pub fn opens_at(&self, index: u32) -> u64 {
        if let Some(setup) = self.flows.get(index as usize) {
            return setup.flow.start.0;
        }
        let place = index as usize - self.flows.len();
        let ending = self.endings.get(place).map(|ending| ending.at);
        ending.unwrap_or_else(|| self.begins[place - self.endings.len()].1)
    }
}

/// A packet in flight to another partition.
pub(crate) struct Crossing {
    pub at: u64,
    pub packet: Packet,
    pub meta: Meta,
    pub taken: u32,
}

/// Packets and losses for another partition, transferred at the end of a window. A packet is copied
/// twice, from where it stays to where it stays: a window's packets would otherwise fill the cache.
#[derive(Default)]
pub(crate) struct Outbox {
    pub packets: Vec<Crossing>,
    /// Of all packets, in the same order.
    pub stamps: Vec<Stamps>,
    /// Of the packets that have one, in the same order.
    pub extensions: Vec<Extension>,
    pub losses: Vec<(Loss, Stamps)>,
}

/// The border of a partition.
pub(crate) struct Border {
    /// This partition.
    pub index: u32,
    /// Ports whose links lead to other partitions.
    pub cut_ports: Vec<u32>,
    /// Outboxes by partition.
    pub outboxes: Vec<Outbox>,
    /// What goes from one batch to another.
    pub batches: Batches,
}

impl Border {
    /// Whether there is no other partition or batch.
    fn is_of_all(&self) -> bool {
        self.outboxes.len() == 1 && self.batches.count() == 1
    }
}

/// Packets in flight and their statistics.
pub(crate) struct Transit {
    pub common: Arc<Common>,
    /// Routes without failed links.
    pub routes: Arc<Routes>,
    /// Links fail during the run.
    pub failing: bool,
    /// Egress ports are chosen when a packet has come to the switch, not before.
    pub late_choice: bool,
    /// The links of all ports, if some fail during the run.
    pub links: Vec<LinkState>,
    pub agenda: Agenda,
    pub packets: PacketPool,
    pub border: Border,
    pub probe: Probe,
    pub deliveries: Deliveries,
    pub captures: Captures,
    /// Transmissions started.
    pub hops: u64,
    pub link_losses: u64,
    /// Losses for a trace.
    pub losses: LossLog,
    /// Charged bytes that a switch reads before it forwards a packet; 0 if it stores all.
    pub cut_through: u16,
    /// Records which paths packets take.
    pub recorder: Option<PathRecorder>,
    /// Whether each transmission is [noticed](Transit::notice).
    pub notices: bool,
    /// What NICs take to send, by host.
    pub outward: BTreeMap<u32, Outward>,
}

impl Transit {
    /// What has been done.
    pub fn work(&self) -> Work {
        Work { hops: self.hops, wakes: self.probe.wakes }
    }

    /// Starts the transmission of `packet` on `port` at `start` and schedules its arrival;
    /// `backlog` bytes remain queued.
    #[inline]
    pub fn send(
        &mut self,
        egress: &mut Egress,
        port: u32,
        packet: PacketRef,
        start: u64,
        backlog: u64,
    ) {
        let meta = self.packets.meta_mut(packet);
        let charged = meta.charged;
        let tx = tx_time(&self.common.fabric, port, egress.byte_ps, charged);
        egress.transmitter.busy_until = start + tx;
        let mut at = start + tx + egress.propagation;
        meta.serialised = meta.serialised.saturating_add(tx.min(u32::MAX as u64) as u32);
        meta.link = port;
        meta.next = PacketRef::NONE;
        self.hops += 1;
        let arrived = meta.arrived.0;
        // Only stamps of data packets are read, but a branch would cost more.
        let stamps = self.packets.stamps_mut(packet);
        stamps.wait(port, egress.transmitter.tier, start - arrived);
        egress.series.sent(start, charged as u32, backlog);
        egress.last = packet;
        if self.notices {
            at = self.notice(egress, port, packet, at, tx);
        }
        if !self.late_choice {
            let next = self.next_egress(egress.peer, egress.reverse, packet, at);
            self.packets.meta_mut(packet).next = next;
        }
        self.hand_over(egress, packet, at);
    }

    /// What few runs do at each transmission. Returns when the packet is handled at the other end of its
    /// link, where its last bit arrives at `at`.
    #[cold]
    pub fn notice(
        &mut self,
        egress: &Egress,
        port: u32,
        packet: PacketRef,
        at: u64,
        tx: u64,
    ) -> u64 {
        if let Some(recorder) = &self.recorder {
            recorder.note(&mut self.packets, packet, port);
        }
        let at = if egress.transmitter.tier == 0 { self.leaves(port, packet, at, tx) } else { at };
        match self.cut_through {
            0 => at,
            _ => self.first_bytes(egress, port, packet, at, tx),
        }
    }

    /// The same at the NIC of a host that is not ideal.
    fn leaves(&mut self, port: u32, packet: PacketRef, at: u64, tx: u64) -> u64 {
        let Some(model) = &self.common.hosts else { return at };
        if matches!(self.packets[packet].header, Header::Pause { .. }) {
            return at;
        }
        let (seed, host) = (self.common.seed, self.common.fabric.port(PortId(port)).node.0);
        let outward = self.outward.entry(host);
        let outward = outward.or_insert_with(|| Outward::new(model, seed, host));
        let later = outward.delays(Time(at), Span(tx));
        outward.stamp(&mut self.packets, packet, later);
        self.packets.stamps_mut(packet).wait(port, 0, later.0);
        at + later.0
    }

    /// When a packet is handled at the other end of its link, where its last bit arrives at `at`
    /// after a transmission of `tx`: with its first bytes at a switch that cuts through.
    fn first_bytes(
        &mut self,
        egress: &Egress,
        port: u32,
        packet: PacketRef,
        at: u64,
        tx: u64,
    ) -> u64 {
        let pause = matches!(self.packets[packet].header, Header::Pause { .. });
        let meta = self.packets.meta_mut(packet);
        let stored = meta.mark & mark::LOST != 0 || meta.charged <= self.cut_through;
        if pause || stored || egress.peer < self.common.fabric.hosts() {
            return at;
        }
        meta.arrived = Time(at);
        meta.mark |= mark::HEAD;
        at - tx + tx_time(&self.common.fabric, port, egress.byte_ps, self.cut_through)
    }

    /// Schedules a packet's arrival at the other end of its link at `at`.
    #[inline]
    pub fn hand_over(&mut self, egress: &Egress, packet: PacketRef, at: u64) {
        match egress.cut {
            true => self.cross(egress.peer, egress.reverse, packet, at),
            false => self.agenda.schedule_arrival(at, egress.reverse, packet),
        }
    }

    /// Sends a packet to `peer`, a node of another batch, where it arrives at `at`; `reverse` is its
    /// port of the reverse path.
    fn cross(&mut self, peer: u32, reverse: u32, packet: PacketRef, at: u64) {
        let batch = self.common.batch_of[peer as usize];
        if self.border.batches.post(batch, Passing { at, reverse, packet }) {
            return;
        }
        let part = batch / self.common.batches;
        let outbox = &mut self.border.outboxes[part as usize];
        let (content, meta) = self.packets.both(packet);
        let taken = self.packets.path_taken(packet);
        outbox.packets.push(Crossing { at, packet: *content, meta: *meta, taken });
        outbox.stamps.extend_from_slice(std::slice::from_ref(self.packets.stamps(packet)));
        if content.extension > 0 {
            outbox.extensions.push(*self.packets.extension(packet));
        }
        self.packets.free(packet);
    }

    /// The egress port of a packet at the next switch, for [`Meta::next`], if it is determined at
    /// departure, when the packet is still in the cache.
    #[inline]
    pub fn next_egress(&self, node: u32, back: u32, packet: PacketRef, at: u64) -> PacketRef {
        if node < self.common.fabric.hosts() {
            return PacketRef::NONE;
        }
        match self.choose(NodeId(node), back, packet, at) {
            Choice::Port(port) => PacketRef(port.0),
            _ => PacketRef::NONE,
        }
    }

    /// The egress port at a switch where the packet arrives at `at`.
    #[inline]
    pub fn choose(&self, node: NodeId, back: u32, packet: PacketRef, at: u64) -> Choice {
        let content = &self.packets[packet];
        let routing = self.common.routing[content.transport.0 as usize];
        let arrival = Arrival { node, back: PortId(back), at: Time(at) };
        let (fabric, seed) = (&self.common.fabric, self.common.seed);
        choose(fabric, &self.routes, routing, seed, arrival, content)
    }

    /// The same at a switch where the packet is.
    pub fn choose_here(&self, node: NodeId, back: u32, packet: PacketRef, at: u64) -> Choice {
        let content = &self.packets[packet];
        let routing = self.common.routing[content.transport.0 as usize];
        let arrival = Arrival { node, back: PortId(back), at: Time(at) };
        let (fabric, seed) = (&self.common.fabric, self.common.seed);
        choose_here(fabric, &self.routes, routing, seed, arrival, content)
    }

    /// Whether no event is pending.
    pub fn is_idle(&self) -> bool {
        self.agenda.queue.is_empty() && self.border.batches.is_empty()
    }

    /// Loses a packet on a link.
    pub fn lose_on_link(&mut self, packet: PacketRef) {
        self.link_losses += 1;
        self.losses.lost(self.agenda.now, &self.packets, packet);
        let loss = Loss::of(&self.packets[packet], self.packets.meta(packet), self.agenda.now);
        self.record_loss(loss, packet);
        self.packets.free(packet);
    }

    /// Loses a packet at a port.
    pub fn lose(&mut self, packet: PacketRef) {
        self.losses.lost(self.agenda.now, &self.packets, packet);
        self.note_loss(packet, self.agenda.now);
        self.packets.free(packet);
    }

    /// Records the loss of a packet or its payload at a port at `at`.
    pub fn note_loss(&mut self, packet: PacketRef, at: u64) {
        let loss = Loss::at_port(&self.packets[packet], self.packets.meta(packet), at);
        self.record_loss(loss, packet);
    }

    /// Takes a loss to the partition of the flow's receiver.
    fn record_loss(&mut self, loss: Option<Loss>, packet: PacketRef) {
        let Some(loss) = loss else { return };
        let stamps = self.packets.stamps_mut(packet);
        let border = &mut self.border;
        if border.is_of_all() {
            self.probe.record_loss(&loss, stamps);
            return stamps.lose();
        }
        let receiver = self.common.flows[loss.flow.0 as usize].flow.dst;
        let home = self.common.batch_of[receiver.0 as usize];
        let part = home / self.common.batches;
        if part != border.index {
            border.outboxes[part as usize].losses.push((loss, *stamps));
        } else if border.batches.is_current(home) {
            self.probe.record_loss(&loss, stamps);
        } else {
            border.batches.losses.push((loss, *stamps));
        }
        // What is left of the packet may be lost as well.
        stamps.lose();
    }
}
