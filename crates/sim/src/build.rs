//! Builds partitions from a setup.

use crate::agenda::Agenda;
use crate::buffer::SwitchBuffers;
use crate::egress::{Egress, PortBody};
use crate::fifo::Fifo;
use crate::host::HostState;
use crate::network::Network;
use crate::partition::{Openings, Partition};
use crate::transit::{Border, Common, Outbox, Transit};
use incast_fabric::{Fabric, Forwarding, PortSpec};
use incast_transport::{Bytes, HostId, PacketPool, PacketRef, Random, Routing};
use incast_world::{
    Captures, EndHost, FlowSetup, LinkState, LossLog, PortSeries, Setup, Switch, Transmitter,
    epochs, new_deliveries, new_probe, purpose,
};
use std::sync::Arc;

/// The largest flow, in bytes, that partitions are weighed by: more does not run to its end.
const LONGEST: u64 = 1 << 34;

/// Partitions a setup for `threads` threads; also returns the length of a window in picoseconds.
pub(crate) fn build(setup: Setup, threads: usize) -> (Vec<Partition>, u64) {
    Builder(setup).build(threads)
}

struct Builder(Setup);

impl Builder {
    fn build(mut self, threads: usize) -> (Vec<Partition>, u64) {
        let fabric = self.0.fabric.clone();
        let mut part_of = fabric.partitions(threads.max(1), &self.work());
        let cut = |part_of: &[u32], port: &PortSpec| {
            part_of[port.node.0 as usize] != part_of[port.peer.0 as usize]
        };
        let cuts = fabric.ports().iter().filter(|port| cut(&part_of, port));
        let mut window = cuts.map(|port| port.propagation.0).min().unwrap_or(u64::MAX);
        // Without propagation delay there is no lookahead. A flow that waits for one that ends in
        // another partition must start at the instant of that flow's completion.
        let waits = self.waits_across(&part_of);
        if window == 0 || window > self.0.options.drain.0 || waits || self.cyclic() {
            part_of.iter_mut().for_each(|part| *part = 0);
            window = u64::MAX;
        }
        let count = part_of.iter().max().map_or(1, |most| most + 1);
        let common = Arc::new(self.common(part_of));
        let parts = (0..count).map(|index| self.partition(index, count, &common)).collect();
        (parts, window)
    }

    /// Bytes that each host sends and receives: what its rack will have to do. A flow without end
    /// counts as [`LONGEST`].
    fn work(&self) -> Vec<u64> {
        let mut work = vec![0u64; self.0.fabric.hosts() as usize];
        for FlowSetup { flow, .. } in &self.0.flows {
            for host in [flow.src, flow.dst] {
                let work = &mut work[host.0 as usize];
                *work = work.saturating_add(flow.size.min(LONGEST));
            }
        }
        work
    }

    /// Whether a flow waits for one whose destination is in another partition than its own source.
    fn waits_across(&self, part_of: &[u32]) -> bool {
        let part = |host: HostId| part_of[host.0 as usize];
        self.0.flows.iter().any(|setup| {
            let mut ends = setup.after.iter().map(|f| self.0.flows[f.0 as usize].flow.dst);
            ends.any(|end| part(end) != part(setup.flow.src))
        })
    }

    /// Whether pauses can deadlock. Only a single partition detects a deadlock at the same instant
    /// for any number of threads.
    fn cyclic(&self) -> bool {
        self.0.options.pfc.as_ref().is_some_and(|pfc| pfc.cyclic)
    }

    fn common(&mut self, part_of: Vec<u32>) -> Common {
        let mut routing = [Routing::Ecmp; 256];
        self.0.routing.iter().for_each(|(id, how)| routing[id.0 as usize] = *how);
        Common {
            fabric: self.0.fabric.clone(),
            seed: self.0.options.seed,
            part_of,
            routing,
            flows: std::mem::take(&mut self.0.flows),
            epochs: epochs(&self.0.fabric),
            buffers: self.0.buffers(),
            faults: self.0.options.faults,
        }
    }

    fn partition(&mut self, index: u32, count: u32, common: &Arc<Common>) -> Partition {
        let fabric = self.0.fabric.clone();
        let here = |node: u32| common.part_of[node as usize] == index;
        let mut part = Partition {
            openings: Openings::new(&common.flows, |setup| here(setup.flow.src.0)),
            events: 0,
            net: self.network(index, count, common),
            hosts: vec![],
            switches: vec![],
        };
        let host = |host| here(host).then(|| HostState::new(EndHost::new(&mut self.0, host)));
        part.hosts = (0..fabric.hosts()).map(host).collect();
        let is_switch = |node: u32| node >= fabric.hosts() && here(node);
        let switch = |node| is_switch(node).then(|| Switch::new(&mut self.0, node));
        part.switches = (0..fabric.nodes()).map(switch).collect();
        part.openings.schedule(&mut part.net);
        for (index, epoch) in common.epochs.iter().enumerate() {
            part.net.transit.agenda.schedule_epoch(epoch.at, index as u32);
        }
        part
    }

    fn network(&mut self, index: u32, count: u32, common: &Arc<Common>) -> Network {
        let ports = self.0.fabric.ports().len() as u32;
        let hooked = self.0.hooks.iter().any(|hooks| !hooks.is_empty());
        let mut net = Network {
            egress: vec![],
            bodies: vec![],
            buffers: SwitchBuffers::new(&common.buffers, &common.fabric),
            transit: self.transit(index, count, common),
            plain: !common.buffers.any() && !hooked,
            impaired: common.faults != Default::default(),
        };
        for port in 0..ports {
            let (egress, body) = self.port(port, &net, hooked);
            net.egress.push(egress);
            net.bodies.push(body);
        }
        net
    }

    fn transit(&self, index: u32, count: u32, common: &Arc<Common>) -> Transit {
        let fabric = &self.0.fabric;
        let here = |node: u32| common.part_of[node as usize] == index;
        let is_cut = |port: &u32| {
            let spec = &fabric.ports()[*port as usize];
            here(spec.node.0) && !here(spec.peer.0)
        };
        let ends_here = |setup: &FlowSetup| here(setup.flow.dst.0);
        let (flows, routing, options) = (&common.flows, &self.0.routing, &self.0.options);
        Transit {
            common: common.clone(),
            routes: Arc::new(fabric.routes()),
            failing: !common.epochs.is_empty(),
            links: match common.epochs[..] {
                [] => vec![],
                _ => vec![LinkState::Whole; fabric.ports().len()],
            },
            agenda: Agenda::new(common.seed),
            packets: PacketPool::new(self.0.framing),
            border: Border {
                index,
                cut_ports: (0..fabric.ports().len() as u32).filter(is_cut).collect(),
                outboxes: (0..count).map(|_| Outbox::default()).collect(),
            },
            probe: new_probe(flows, routing, options),
            deliveries: new_deliveries(flows, routing, options, ends_here),
            captures: Captures::new(options, fabric),
            hops: 0,
            link_losses: 0,
            losses: LossLog::new(options, fabric.ports().len()),
            cut_through: cut_through(fabric),
        }
    }

    /// The record of a port; its trace, if there is one, is kept where the port is.
    fn series(&self, port: u32, own: bool) -> PortSeries {
        let options = &self.0.options;
        let rate = self.0.fabric.ports()[port as usize].rate;
        let series = PortSeries::new(options.interval, rate).starting(options.series_start);
        if own { series.traced(options, port) } else { series }
    }

    /// A port of the fabric, with its handler if the switch belongs to this partition.
    fn port(&mut self, port: u32, net: &Network, hooked: bool) -> (Egress, PortBody) {
        let common = &net.transit.common;
        let spec = &common.fabric.ports()[port as usize];
        let here = |node: u32| common.part_of[node as usize] == net.transit.border.index;
        let (own, of_switch) = (here(spec.node.0), spec.tier as u8 > 0);
        let handler = match own && of_switch {
            true => self.0.ports[port as usize].take(),
            false => None,
        };
        let options = &self.0.options;
        let captured = options.capture.contains(&port);
        let lossy = spec.loss > 0.0;
        let undisturbed = net.plain && !net.transit.failing && !lossy && !captured;
        let timed = handler.as_ref().is_some_and(|handler| handler.timed());
        let egress = Egress {
            transmitter: Transmitter::new(spec.tier as u8, timed),
            timer: u64::MAX,
            propagation: spec.propagation.0,
            byte_ps: byte_ps(spec),
            peer: spec.peer.0,
            reverse: spec.reverse.0,
            last: PacketRef::NONE,
            armed: false,
            kicked: false,
            cut: own && !here(spec.peer.0),
            counted: hooked,
            captured,
            lossy,
            eager: common.buffers.any() && of_switch || net.transit.cut_through > 0,
            in_order: undisturbed && handler.as_ref().is_some_and(|handler| handler.in_order()),
            fifo: Fifo::new(),
            series: self.series(port, own),
        };
        let random = Random::new(common.seed, port, purpose::PORT);
        (egress, PortBody { handler, random, sent: 0 })
    }
}

/// Bytes that switches read before they forward a packet, 0 if they store all of it.
fn cut_through(fabric: &Fabric) -> u16 {
    match fabric.forwarding() {
        Forwarding::StoreAndForward => 0,
        Forwarding::CutThrough(first) => first.0.clamp(1, u16::MAX as u64) as u16,
    }
}

/// Picoseconds per byte, or 0 if this is not an integer.
fn byte_ps(spec: &PortSpec) -> u32 {
    let byte_ps = 8_000_000_000_000 / spec.rate.0;
    let exact = byte_ps * spec.rate.0 == 8_000_000_000_000 && byte_ps <= u32::MAX as u64;
    debug_assert!(!exact || spec.rate.tx_time(Bytes(7)).0 == 7 * byte_ps);
    if exact { byte_ps as u32 } else { 0 }
}
