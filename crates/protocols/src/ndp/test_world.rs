//! A small unkind network for tests: NICs, a delay, and any packet may be lost, doubled, delayed,
//! trimmed or bounced.

use incast_transport::{
    Bytes, Classes, Configured, Env, FabricSite, Flow, FlowId, Framing, Host, HostId, HostSite,
    Limit, PacketPool, PacketRef, Probe, Random, Rate, Segments, Span, Time, Transport, flag,
};
use incast_transport::{HostClock, Loss};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Probabilities, per packet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unkindness {
    pub loss: f64,
    pub double: f64,
    pub delay: f64,
    pub trim: f64,
    pub bounce: f64,
}

enum Event {
    Open(Flow),
    Arrive(PacketRef),
    Free,
    Wake,
}

struct Node {
    host: Box<dyn Host>,
    random: Random,
    busy: u64,
    free_at: Time,
    wake_at: Time,
}

pub(crate) struct World {
    pub now: Time,
    pub packets: PacketPool,
    pub probe: Probe,
    pub sent: Vec<(Time, incast_transport::Packet)>,
    rate: Rate,
    pub delay: Span,
    unkind: Unkindness,
    /// Packets for which it says yes are lost.
    pub lose: Option<fn(&incast_transport::Packet) -> bool>,
    random: Random,
    nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), (usize, Event)>,
    count: u64,
    flows: Vec<Flow>,
}

/// A fabric of `hosts` at `rate`, as sites describe it.
pub(crate) fn fabric(hosts: u32, rate: Rate, base_rtt: Span) -> Arc<FabricSite> {
    Arc::new(FabricSite {
        hosts,
        framing: Framing::ETHERNET,
        base_rtt,
        max_rate: rate,
        rates: Arc::new([rate]),
        host_rate: rate,
        buffer: Limit::Packets(128),
        hops: 2,
        paths: 1,
        sizes: None,
    })
}

/// A host's place in it.
pub(crate) fn host_site(host: u32, fabric: &Arc<FabricSite>) -> HostSite {
    HostSite {
        host: HostId(host),
        rate: fabric.host_rate,
        bdp_packets: fabric.bdp_packets(fabric.host_rate),
        fabric: fabric.clone(),
    }
}

/// A transport with settings as a person writes them.
pub(crate) fn configured(
    transport: &dyn Transport,
    settings: &[(&str, &str)],
    fabric: &Arc<FabricSite>,
) -> Arc<dyn Configured> {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    transport.configure(&settings, fabric.clone()).expect("valid settings")
}

/// A flow of `size` bytes.
pub(crate) fn flow(id: u32, src: u32, dst: u32, size: u64, start: Time) -> Flow {
    let segments = Segments::Uniform(Framing::ETHERNET.mss());
    Flow { id: FlowId(id), src: HostId(src), dst: HostId(dst), size, start, segments }
}

impl World {
    pub fn new(
        plan: &dyn Configured,
        fabric: &Arc<FabricSite>,
        unkind: Unkindness,
        seed: u64,
    ) -> World {
        let node = |host| Node {
            host: plan.host(&host_site(host, fabric)),
            random: Random::new(seed, host, 1),
            busy: 0,
            free_at: Time::ZERO,
            wake_at: Time::NEVER,
        };
        let tx = |bytes: u32| fabric.host_rate.tx_time(Bytes(bytes as u64));
        let data = tx(fabric.framing.charged_mtu());
        let answer = tx(fabric.framing.charged_header());
        World {
            now: Time::ZERO,
            packets: PacketPool::new(fabric.framing),
            probe: Probe::default(),
            sent: vec![],
            rate: fabric.host_rate,
            delay: (fabric.base_rtt - data - answer) / 2,
            unkind,
            lose: None,
            random: Random::new(seed, 0, 2),
            nodes: (0..fabric.hosts).map(node).collect(),
            events: BTreeMap::new(),
            count: 0,
            flows: vec![],
        }
    }

    pub fn add(&mut self, flow: Flow) {
        self.schedule(flow.start, flow.src.0 as usize, Event::Open(flow.clone()));
        self.flows.push(flow);
    }

    fn schedule(&mut self, at: Time, node: usize, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), (node, event));
    }

    /// Runs to the end and checks that every flow is complete, each byte delivered once, and
    /// nothing left behind.
    pub fn run(&mut self, at_most: Span) {
        self.probe = Probe::new(self.flows.len(), true);
        while let Some(((at, _), (node, event))) = self.events.pop_first() {
            assert!(at < Time::ZERO + at_most, "not finished after {at}");
            self.now = at;
            self.step(node, event);
        }
        let mut ranges: Vec<Vec<(u64, u64)>> = vec![vec![]; self.flows.len()];
        for &(flow, offset, bytes) in self.probe.deliveries() {
            ranges[flow.0 as usize].push((offset, offset + bytes as u64));
        }
        for (flow, ranges) in self.flows.iter().zip(&mut ranges) {
            ranges.sort_unstable();
            let end = ranges.iter().fold(0, |end, &(from, to)| {
                assert_eq!(from, end, "flow {}: a gap or a byte delivered twice", flow.id.0);
                to
            });
            assert_eq!(end, flow.size, "flow {} is not complete", flow.id.0);
        }
        assert_eq!(self.probe.outcomes().len(), self.flows.len());
        self.nodes.iter().for_each(|node| assert_eq!(node.host.open_flows(), 0));
        assert_eq!(self.packets.alive(), 0);
    }

    fn step(&mut self, index: usize, event: Event) {
        let node = &mut self.nodes[index];
        let clock = HostClock { busy: node.busy, busy_until: node.free_at.0 };
        self.probe.enter(self.now, clock);
        let mut env = Env {
            now: self.now,
            host: HostId(index as u32),
            random: &mut node.random,
            probe: &mut self.probe,
            packets: &mut self.packets,
        };
        match event {
            Event::Open(flow) => {
                env.probe.opened(flow.id);
                node.host.open(&mut env, &flow);
            }
            Event::Arrive(packet) => {
                if env.packets[packet].is_data() {
                    env.probe.arriving(env.packets.stamps(packet), env.packets.meta(packet));
                }
                node.host.receive(&mut env, packet);
                env.packets.free(packet);
            }
            Event::Wake => node.wake_at = Time::NEVER,
            Event::Free => {}
        }
        if node.host.deadline() <= env.now {
            node.host.wake(&mut env);
        }
        assert!(node.host.deadline() > env.now, "a timer in the past");
        let mut departs = None;
        if node.free_at <= env.now {
            departs = node.host.transmit(&mut env, Classes::ALL);
        }
        if let Some(packet) = departs {
            let tx = self.rate.tx_time(Bytes(self.packets.charged(packet) as u64));
            node.busy += tx.0;
            node.free_at = self.now + tx;
            let content = self.packets[packet];
            if content.is_data() {
                let stamps = self.packets.stamps_mut(packet);
                self.probe.departs(content.flow, tx.0, content.has(flag::RETRANSMIT), stamps);
            }
            self.sent.push((self.now, content));
            self.schedule(self.now + tx, index, Event::Free);
            self.carry(packet, self.now + tx + self.delay);
        }
        let deadline = self.nodes[index].host.deadline();
        if deadline < self.nodes[index].wake_at {
            self.nodes[index].wake_at = deadline;
            self.schedule(deadline, index, Event::Wake);
        }
    }

    fn carry(&mut self, packet: PacketRef, mut at: Time) {
        let unkind = self.unkind;
        if self.random.chance(unkind.double) {
            let copy = self.packets.create(self.packets[packet]);
            *self.packets.stamps_mut(copy) = *self.packets.stamps(packet);
            let later = Span(self.random.below(self.delay.0 * 8));
            self.deliver(copy, at + later);
        }
        if self.random.chance(unkind.delay) {
            at += Span(self.random.below(self.delay.0 * 8));
        }
        let content = self.packets[packet];
        if self.random.chance(unkind.loss) || self.lose.is_some_and(|lose| lose(&content)) {
            self.lost(packet, at);
            return self.packets.free(packet);
        }
        if content.is_data() && self.random.chance(unkind.trim) {
            self.lost(packet, at);
            self.packets.trim(packet);
            if self.random.chance(unkind.bounce) {
                self.packets[packet].flags |= flag::BOUNCED;
            }
        }
        self.deliver(packet, at);
    }

    fn deliver(&mut self, packet: PacketRef, at: Time) {
        let content = &self.packets[packet];
        let to = if content.has(flag::BOUNCED) { content.src } else { content.dst };
        self.schedule(at, to.0 as usize, Event::Arrive(packet));
    }

    fn lost(&mut self, packet: PacketRef, at: Time) {
        let content = self.packets[packet];
        if content.is_data() {
            let (stamps, meta) = (self.packets.stamps(packet), self.packets.meta(packet));
            let key = content.header.data_key();
            self.probe.record_loss(Loss::of(content.flow, key, stamps, meta, at.0));
        }
    }

    /// When a flow was complete.
    pub fn completed(&self, flow: u32) -> Time {
        let outcome = self.probe.outcomes().iter().find(|outcome| outcome.flow.0 == flow);
        Time(outcome.expect("the flow is complete").completed)
    }
}
