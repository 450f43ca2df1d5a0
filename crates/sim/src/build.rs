//! From a setup to partitions.

use crate::egress::Egress;
use crate::host::HostState;
use crate::line::Line;
use crate::partition::{Common, Outbox, Partition, SwitchState};
use crate::queue::Wheel;
use incast_fabric::{Fabric, PortId, Routes};
use incast_transport::{Bytes, HostClock, PacketPool, PacketRef, Probe, Random, Routing, Time};
use incast_world::{Captures, Deliveries, FlowSetup, Ingress, PortSeries, Setup, Turns, purpose};
use std::sync::Arc;

/// Cuts a setup for `threads` threads; also returns the length of a window in picoseconds.
pub(crate) fn build(setup: Setup, threads: usize) -> (Vec<Partition>, u64) {
    Builder(setup).build(threads)
}

struct Builder(Setup);

impl Builder {
    fn build(mut self, threads: usize) -> (Vec<Partition>, u64) {
        let fabric = self.0.fabric.clone();
        let mut part_of = fabric.partitions(threads.max(1));
        let cut = |part_of: &[u32], port: &incast_fabric::PortSpec| {
            part_of[port.node.0 as usize] != part_of[port.peer.0 as usize]
        };
        let cuts = fabric.ports().iter().filter(|port| cut(&part_of, port));
        let mut window = cuts.map(|port| port.propagation.0).min().unwrap_or(u64::MAX);
        // Without propagation there is nothing to run ahead by; a flow that waits for a flow that
        // ends at another host must learn of it at once.
        if window == 0 || window > self.0.options.drain.0 || self.waits_across() || self.cyclic() {
            part_of.iter_mut().for_each(|part| *part = 0);
            window = u64::MAX;
        }
        let count = part_of.iter().max().map_or(1, |most| most + 1);
        let common = Arc::new(self.common(part_of));
        let mut parts: Vec<Partition> =
            (0..count).map(|index| self.partition(index, count, &common)).collect();
        for part in &mut parts {
            self.fill(part);
        }
        (parts, window)
    }

    /// Whether a flow waits for one that ends at another host than it starts from.
    fn waits_across(&self) -> bool {
        self.0.flows.iter().any(|setup| {
            setup.after.iter().any(|f| self.0.flows[f.0 as usize].flow.dst != setup.flow.src)
        })
    }

    /// Whether links may come to wait for each other in a circle, which only one who sees all of
    /// them can notice at the same instant whatever the number of threads.
    fn cyclic(&self) -> bool {
        self.0.options.pfc.as_ref().is_some_and(|pfc| pfc.cyclic)
    }

    fn common(&mut self, part_of: Vec<u32>) -> Common {
        let flows = std::mem::take(&mut self.0.flows);
        let mut dependents = vec![];
        if flows.iter().any(|setup| !setup.after.is_empty()) {
            dependents = vec![vec![]; flows.len()];
            for (index, setup) in flows.iter().enumerate() {
                setup.after.iter().for_each(|f| dependents[f.0 as usize].push(index as u32));
            }
        }
        let mut routing = [Routing::Ecmp; 256];
        self.0.routing.iter().for_each(|(id, how)| routing[id.0 as usize] = *how);
        Common {
            fabric: self.0.fabric.clone(),
            seed: self.0.options.seed,
            part_of,
            routing,
            flows,
            epochs: epochs(&self.0.fabric),
            dependents,
            buffers: self.0.buffers(),
            faults: self.0.options.faults,
        }
    }

    fn partition(&self, index: u32, count: u32, common: &Arc<Common>) -> Partition {
        let fabric = &self.0.fabric;
        let (nodes, ports) = (fabric.nodes() as usize, fabric.ports().len());
        let seed = self.0.options.seed;
        let egress = (0..ports).map(|port| self.egress(port, index, common)).collect();
        let own = |port: usize| common.part_of[fabric.ports()[port].node.0 as usize] == index;
        let interval = self.0.options.interval;
        let watch = self.0.options.watch.iter().copied().filter(|flow| {
            let dst = common.flows[flow.0 as usize].flow.dst.0 as usize;
            common.part_of[dst] == index
        });
        let transports = self.0.routing.iter().map(|(id, _)| *id);
        let deliveries = Deliveries::new(common.flows.len(), transports, interval, watch);
        let cut_ports = (0..ports).filter(|port| {
            let peer = fabric.ports()[*port].peer.0 as usize;
            own(*port) && common.part_of[peer] != index
        });
        let mut probe = Probe::new(common.flows.len(), self.0.options.log_deliveries);
        probe.expect(common.flows.iter().map(|setup| setup.flow.size));
        let place = |id| self.0.routing.iter().position(|(known, _)| *known == id);
        let lane = |setup: &FlowSetup| place(setup.transport).unwrap_or(0) as u8;
        probe.group(common.flows.iter().map(lane));
        Partition {
            index,
            common: common.clone(),
            now: 0,
            queue: Wheel::new(),
            kicks: vec![],
            pool: PacketPool::new(self.0.framing),
            probe,
            egress,
            ports: (0..ports).map(|_| None).collect(),
            port_random: (0..ports)
                .map(|port| Random::new(seed, port as u32, purpose::PORT))
                .collect(),
            sent_bytes: vec![0; ports],
            standstill: common.buffers.standstill(),
            deadlock: vec![],
            queued_shared: vec![0; ports],
            ingress: vec![Ingress::default(); if common.buffers.pfc.is_some() { ports } else { 0 }],
            booked: self.0.buffers().any(),
            plain: !self.0.buffers().any() && self.0.hooks.iter().all(|hooks| hooks.is_empty()),
            hooked: self.0.hooks.iter().any(|hooks| !hooks.is_empty()),
            failing: common.epochs.len() > 1,
            faulty: self.0.options.faults != Default::default(),
            hosts: (0..fabric.hosts()).map(|_| None).collect(),
            switches: (0..nodes).map(|_| None).collect(),
            routes: common.epochs[0].1.clone(),
            cut_ports: cut_ports.map(|port| port as u32).collect(),
            outboxes: (0..count).map(|_| Outbox::default()).collect(),
            opens: vec![],
            missing: common.flows.iter().map(|setup| setup.after.len() as u32).collect(),
            deliveries,
            captures: Captures::new(self.0.options.capture_limit),
            hops: 0,
            events: 0,
            link_losses: 0,
            completed: 0,
            last_completion: 0,
        }
    }

    fn egress(&self, port: usize, index: u32, common: &Common) -> Egress {
        let spec = &self.0.fabric.ports()[port];
        let byte_ps = 8_000_000_000_000 / spec.rate.0;
        let exact = byte_ps * spec.rate.0 == 8_000_000_000_000 && byte_ps <= u32::MAX as u64;
        debug_assert!(!exact || spec.rate.tx_time(Bytes(7)).0 == 7 * byte_ps);
        let node = spec.node.0 as usize;
        Egress {
            busy_until: 0,
            resume: 0,
            timer: u64::MAX,
            propagation: spec.propagation.0,
            byte_ps: if exact { byte_ps as u32 } else { 0 },
            peer: spec.peer.0,
            reverse: spec.reverse.0,
            last: PacketRef::NONE,
            waiting: false,
            armed: false,
            kicked: false,
            cut: common.part_of[node] == index
                && common.part_of[spec.peer.0 as usize] != common.part_of[node],
            dead: false,
            lossy: spec.loss > 0.0,
            captured: self.0.options.capture.contains(&(port as u32)),
            tier: spec.tier as u8,
            open: 0xFF,
            eager: self.0.buffers().any() && spec.tier as u8 > 0,
            pausing: false,
            timed: false,
            in_order: false,
            line: Line::new(),
            series: PortSeries::new(self.0.options.interval),
        }
    }

    /// Moves the nodes of a partition into it and schedules what starts by itself.
    fn fill(&mut self, part: &mut Partition) {
        let fabric = self.0.fabric.clone();
        let seed = self.0.options.seed;
        let common = part.common.clone();
        for (port, spec) in fabric.ports().iter().enumerate() {
            let node = spec.node.0 as usize;
            if common.part_of[node] != part.index {
                continue;
            }
            let handler = self.0.ports[port].take();
            if spec.tier as u8 > 0 {
                let egress = &part.egress[port];
                let undisturbed = part.plain && !part.failing && !egress.lossy && !egress.captured;
                let in_order = handler.as_ref().is_some_and(|handler| handler.in_order());
                part.egress[port].in_order = undisturbed && in_order;
                part.egress[port].timed = handler.as_ref().is_some_and(|handler| handler.timed());
                part.ports[port] = handler;
                continue;
            }
            let host = spec.node.0;
            let transports = std::mem::take(&mut self.0.hosts[host as usize]);
            let silent = self.0.options.silent.iter().filter(|(silent, _)| *silent == host);
            let mut state = HostState {
                clock: HostClock::default(),
                wanted: u64::MAX,
                deadline: u64::MAX,
                timers: [u64::MAX; 2],
                silent_from: silent.map(|(_, at)| at.0).min().unwrap_or(u64::MAX),
                port: port as u32,
                turn: 0,
                transports: transports.into_iter().collect(),
                nic: handler,
                random: Random::new(seed, host, purpose::HOST),
                faults: Random::new(seed, host, purpose::FAULTS),
            };
            state.refresh_deadline();
            part.hosts[host as usize] = Some(state);
        }
        for node in fabric.hosts()..fabric.nodes() {
            if common.part_of[node as usize] == part.index {
                part.switches[node as usize] = Some(SwitchState {
                    random: Random::new(seed, node, purpose::SWITCH),
                    hooks: std::mem::take(&mut self.0.hooks[node as usize]),
                    turns: Turns::default(),
                    used: 0,
                });
            }
        }
        part.opens = own_opens(part);
        part.schedule_open();
        for (index, (at, ..)) in common.epochs.iter().enumerate().skip(1) {
            part.schedule_epoch(at.0, index as u32);
        }
    }
}

/// The partition's own flows that start at a given time, the latest first.
fn own_opens(part: &Partition) -> Vec<u32> {
    let flows = &part.common.flows;
    let own = |setup: &&FlowSetup| {
        setup.after.is_empty()
            && part.common.part_of[setup.flow.src.0 as usize] == part.index
            && setup.flow.start != Time::NEVER
    };
    let mut opens: Vec<u32> = flows.iter().filter(own).map(|setup| setup.flow.id.0).collect();
    opens.sort_by_key(|index| std::cmp::Reverse((flows[*index as usize].flow.start, *index)));
    opens
}

/// The routes from the start and from each failure on, with the ports that die then.
fn epochs(fabric: &Fabric) -> Vec<(Time, Arc<Routes>, Vec<PortId>)> {
    let mut epochs = vec![(Time::ZERO, Arc::new(fabric.routes()), vec![])];
    for failure in fabric.failures() {
        let dead = fabric.dead_at(failure.at);
        if epochs.last().is_some_and(|(at, ..)| *at == failure.at && epochs.len() > 1) {
            continue;
        }
        epochs.push((failure.at, Arc::new(fabric.routes_without(&dead)), dead));
    }
    epochs
}
