//! Builds partitions from a setup.

use crate::agenda::Agenda;
use crate::batches::Batches;
use crate::buffer::SwitchBuffers;
use crate::egress::{Egress, PortBody};
use crate::fifo::Fifo;
use crate::host::HostState;
use crate::network::Network;
use crate::paged::Paged;
use crate::partition::{Openings, Partition, Switches};
use crate::transit::{Border, Common, Outbox, Transit};
use incast_fabric::{Fabric, Forwarding, PortId, PortSpec};
use incast_transport::{FlowId, HostId, PacketPool, PacketRef, Port, Random, Routing};
use incast_world::{
    BurstLoss, Captures, EndHost, Executions, FlowSetup, Hosted, LinkState, LossLog, Options,
    PathRecorder, PortMaker, PortSeries, Running, Setup, Switch, Transmitter, epochs,
    new_deliveries, new_probe, purpose,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The largest flow, in bytes, that partitions are weighed by: more does not run to its end.
const LONGEST: u64 = 1 << 34;

/// Hosts of a batch, about: what they touch in a window fits a second-level cache.
const BATCH_HOSTS: u32 = 1 << 9;
/// Batches at the most, about: each has a schedule, and is looked at in each window.
const MOST_BATCHES: u32 = 1 << 7;
/// Packets of a host that are under way at a time, about.
const PACKETS: u64 = 32;
/// Hosts from which on batches are worth their exchange.
const LARGE: u32 = 1 << 13;

/// Partitions a setup for `threads` threads; also returns the length of a window in picoseconds.
pub(crate) fn build(setup: Setup, threads: usize) -> (Vec<Partition>, u64) {
    Builder::new(setup).build(threads.max(1), 1)
}

/// The same, each partition in batches of about `hosts` hosts; without a number, of as many as suits
/// a fabric of its size.
pub(crate) fn build_batched(
    setup: Setup,
    threads: usize,
    hosts: Option<u32>,
) -> (Vec<Partition>, u64) {
    let all = setup.fabric.hosts();
    let usual = if all < LARGE { all } else { BATCH_HOSTS.max(all / MOST_BATCHES) };
    let hosts = hosts.unwrap_or(usual);
    let builder = Builder::new(setup);
    let batches = if builder.takes_batches() { all.div_ceil(hosts.max(1)) } else { 1 };
    let threads = threads.max(1);
    builder.build(threads, (batches as usize).div_ceil(threads))
}

/// What partitions take their parts of.
struct Builder(Setup, Shared);

/// Executions that no partition has taken yet, and the ends of flows.
#[derive(Default)]
struct Shared {
    executions: Vec<Option<Hosted>>,
    ends: Arc<[[u32; 2]]>,
}

impl Builder {
    fn new(setup: Setup) -> Builder {
        Builder(setup, Shared::default())
    }

    /// For `threads` partitions of so many batches each.
    fn build(mut self, threads: usize, batches: usize) -> (Vec<Partition>, u64) {
        let fabric = self.0.fabric.clone();
        let mut batch_of = fabric.partitions(threads * batches, &self.work());
        let batches = batches as u32;
        let mut window = window(&fabric, |node| batch_of[node as usize]);
        // Without propagation delay there is no lookahead. A flow that waits for one that ends in
        // another batch must start at the instant of that flow's completion.
        let waits = self.waits_across(&batch_of) || self.executes_across(&batch_of);
        if window == 0 || window > self.0.options.drain.0 || waits || self.cyclic() {
            batch_of.iter_mut().for_each(|batch| *batch = 0);
            window = u64::MAX;
        }
        let common = Arc::new(self.common(batch_of, batches));
        let count = common.batch_of.iter().max().map_or(1, |most| most / batches + 1);
        let parts = (0..count).map(|index| self.partition(index, count, window, &common)).collect();
        (parts, window)
    }

    /// Whether batches may be advanced one after the other: what they share is not ordered in time.
    fn takes_batches(&self) -> bool {
        let options = &self.0.options;
        let ordered = !options.capture.is_empty() || options.trace.is_some();
        !ordered && self.0.fabric.failures().is_empty() && !self.0.buffers().any()
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

    /// Whether a flow waits, itself or through gates, for one whose destination is in another
    /// partition than its own source.
    fn waits_across(&self, part_of: &[u32]) -> bool {
        let part = |host: HostId| part_of[host.0 as usize];
        let ends = |after: &[FlowId]| -> Vec<u32> {
            let end = |f: &FlowId| part(self.0.flows[f.0 as usize].flow.dst);
            after.iter().map(end).collect()
        };
        // Where what opens a gate ends; none where that is in several partitions.
        let mut gates: Vec<Option<Option<u32>>> = Vec::with_capacity(self.0.gates.len());
        for gate in &self.0.gates {
            let before = gate.gate.map_or(Some(None), |gate| gates[gate.place()]);
            let Some(before) = before else { return true };
            let mut parts = ends(&gate.after);
            parts.extend(before);
            parts.dedup();
            gates.push((parts.len() <= 1).then(|| parts.first().copied()));
        }
        self.0.flows.iter().any(|setup| {
            let own = part(setup.flow.src);
            let gate = setup.gate.map_or(Some(None), |gate| gates[gate.place()]);
            let across = gate.is_none_or(|end| end.is_some_and(|end| end != own));
            across || setup.after.iter().any(|f| part(self.0.flows[f.0 as usize].flow.dst) != own)
        })
    }

    /// Whether a flow of an execution starts or ends in another partition than that has its host.
    fn executes_across(&self, part_of: &[u32]) -> bool {
        let Executions { all, ends } = &self.0.executions;
        let at = |number: u32| all.get(number as usize).map(|one| part_of[one.host as usize]);
        self.0.flows.iter().zip(ends).any(|(FlowSetup { flow, .. }, [from, to])| {
            let differs = |number: u32, host: HostId| {
                at(number).is_some_and(|part| part != part_of[host.0 as usize])
            };
            differs(*from, flow.src) || differs(*to, flow.dst)
        })
    }

    /// Whether pauses can deadlock. Only a single partition detects a deadlock at the same instant
    /// for any number of threads.
    fn cyclic(&self) -> bool {
        self.0.options.pfc.as_ref().is_some_and(|pfc| pfc.cyclic)
    }

    fn common(&mut self, batch_of: Vec<u32>, batches: u32) -> Common {
        let mut routing = [Routing::Ecmp; 256];
        self.0.routing.iter().for_each(|(id, how)| routing[id.0 as usize] = *how);
        let Executions { all, ends } = std::mem::take(&mut self.0.executions);
        let begins = all.iter().map(|one| (one.host, one.at.0)).collect();
        self.1 = Shared { executions: all.into_iter().map(Some).collect(), ends: ends.into() };
        Common {
            fabric: self.0.fabric.clone(),
            seed: self.0.options.seed,
            batch_of,
            batches,
            routing,
            endings: self.0.endings(),
            begins,
            flows: std::mem::take(&mut self.0.flows),
            epochs: epochs(&self.0.fabric),
            buffers: self.0.buffers(),
            faults: self.0.options.faults,
            hosts: self.0.options.hosts.clone(),
        }
    }

    fn partition(
        &mut self,
        index: u32,
        count: u32,
        window: u64,
        common: &Arc<Common>,
    ) -> Partition {
        let fabric = self.0.fabric.clone();
        let here = |node: u32| common.part_of(node) == index;
        let first = index * common.batches;
        let last = common.batch_of.iter().filter(|batch| **batch / common.batches == index).max();
        let own = last.map_or(1, |last| last - first + 1);
        let batches = Batches::new(first, own, window, common.seed);
        let batch_of =
            |host: u32| here(host).then(|| (common.batch_of[host as usize] - first) as usize);
        let Shared { executions, ends } = &mut self.1;
        let executions = Running::new(executions, ends, here);
        let starts = (self.0.gates.as_slice(), executions);
        let mut part = Partition {
            openings: Openings::new(common, starts, batches.count(), batch_of),
            events: 0,
            net: self.network(index, count, batches, common),
            hosts: vec![],
            switches: Switches { hosts: fabric.hosts(), all: vec![] },
        };
        let host = |host| here(host).then(|| HostState::new(EndHost::new(&mut self.0, host)));
        part.hosts = (0..fabric.hosts()).map(host).collect();
        let switch = |node| here(node).then(|| Switch::new(&mut self.0, node));
        part.switches.all = (fabric.hosts()..fabric.nodes()).map(switch).collect();
        match own {
            1 => part.openings.schedule(&mut part.net),
            _ => (0..own as usize).for_each(|batch| {
                part.enter(batch);
                part.openings.schedule(&mut part.net);
                part.leave(0);
            }),
        }
        for (index, epoch) in common.epochs.iter().enumerate() {
            part.net.transit.agenda.schedule_epoch(epoch.at, index as u32);
        }
        part
    }

    fn network(
        &mut self,
        index: u32,
        count: u32,
        batches: Batches,
        common: &Arc<Common>,
    ) -> Network {
        let ports = self.0.fabric.ports().len();
        let hooked = self.0.hooks.iter().any(|hooks| !hooks.is_empty());
        let transit = self.transit(index, count, batches, common);
        let plain = !common.buffers.any() && !hooked;
        let rows = Arc::new(Rows {
            common: common.clone(),
            ports: self.0.ports.clone(),
            options: self.0.options.clone(),
            captured: self.0.options.capture.iter().copied().collect(),
            index,
            hooked,
            undisturbed: plain && !transit.late_choice,
            cut_through: transit.cut_through > 0,
        });
        let of_body = rows.clone();
        Network {
            egress: Paged::new(ports, move |port| rows.egress(port)),
            bodies: Paged::new(ports, move |port| of_body.body(port)),
            buffers: SwitchBuffers::new(&common.buffers, &common.fabric),
            transit,
            plain,
            impaired: common.faults != Default::default()
                || !common.endings.is_empty()
                || self.0.options.hosts.is_some(),
            inward: BTreeMap::new(),
            ended: BTreeSet::new(),
            bursts: bursts(&common.fabric),
        }
    }

    fn transit(&self, index: u32, count: u32, batches: Batches, common: &Arc<Common>) -> Transit {
        let fabric = &self.0.fabric;
        let here = |node: u32| common.part_of(node) == index;
        let is_cut = |port: &u32| {
            let spec = &fabric.ports()[*port as usize];
            here(spec.node.0) && !here(spec.peer.0)
        };
        let ends_here = |setup: &FlowSetup| here(setup.flow.dst.0);
        let (flows, routing, options) = (&common.flows, &self.0.routing, &self.0.options);
        let mut packets = PacketPool::new(self.0.framing);
        if fabric.hosts() >= LARGE {
            let own = (0..fabric.hosts()).filter(|host| here(*host)).count();
            let most = flows.iter().fold(0u64, |sum, setup| {
                let packets = setup.flow.size.min(LONGEST) / self.0.framing.mss() as u64 + 1;
                sum.saturating_add(2 * packets)
            });
            packets.reserve(most.min(own as u64 * PACKETS) as usize);
        }
        Transit {
            common: common.clone(),
            routes: fabric.routes(),
            failing: !common.epochs.is_empty(),
            late_choice: !common.epochs.is_empty() || common.routing.contains(&Routing::Conga),
            links: match common.epochs[..] {
                [] => vec![],
                _ => vec![LinkState::Whole; fabric.ports().len()],
            },
            agenda: Agenda::new(common.seed),
            packets,
            border: Border {
                index,
                cut_ports: (0..fabric.ports().len() as u32).filter(is_cut).collect(),
                outboxes: (0..count).map(|_| Outbox::default()).collect(),
                batches,
            },
            probe: {
                let mut probe = new_probe(flows, routing, options);
                if !common.begins.is_empty() {
                    probe.keep_known();
                }
                probe
            },
            deliveries: new_deliveries(flows, routing, options, ends_here),
            captures: Captures::new(options, fabric),
            hops: 0,
            link_losses: 0,
            losses: LossLog::new(options, fabric.ports().len()),
            cut_through: cut_through(fabric),
            notices: cut_through(fabric) > 0 || options.record_paths || options.hosts.is_some(),
            outward: BTreeMap::new(),
            recorder: PathRecorder::of(&self.0),
        }
    }
}

/// Makes the rows of a partition's ports.
struct Rows {
    common: Arc<Common>,
    ports: Arc<PortMaker>,
    options: Options,
    captured: BTreeSet<u32>,
    /// The partition.
    index: u32,
    hooked: bool,
    /// Nothing but queues happens to packets at switches.
    undisturbed: bool,
    cut_through: bool,
}

impl Rows {
    fn here(&self, node: u32) -> bool {
        self.common.part_of(node) == self.index
    }

    fn spec(&self, port: u32) -> &PortSpec {
        &self.common.fabric.ports()[port as usize]
    }

    /// The handler of a port, if its switch belongs to this partition.
    fn handler(&self, port: u32) -> Option<Box<dyn Port>> {
        let spec = self.spec(port);
        let of_switch = spec.tier as u8 > 0;
        (self.here(spec.node.0) && of_switch).then(|| self.ports.make(port)).flatten()
    }

    /// The record of a port; its trace, if there is one, is kept where the port is.
    fn series(&self, port: u32, own: bool) -> PortSeries {
        let options = &self.options;
        let rate = self.spec(port).rate;
        let series = PortSeries::new(options.interval, rate).starting(options.series_start);
        if own { series.traced(options, port) } else { series }
    }

    fn egress(&self, port: u32) -> Egress {
        let common = &self.common;
        let spec = self.spec(port);
        let cut = common.batch_of[spec.node.0 as usize] != common.batch_of[spec.peer.0 as usize];
        let (own, of_switch) = (self.here(spec.node.0), spec.tier as u8 > 0);
        // Only to ask it: the one that serves the port is made with the body.
        let handler = self.handler(port);
        let captured = self.captured.contains(&port);
        let lossy = spec.loss > 0.0 || common.fabric.bursts_of(PortId(port)).is_some();
        let undisturbed = self.undisturbed && !lossy && !captured;
        let timed = handler.as_ref().is_some_and(|handler| handler.timed());
        Egress {
            transmitter: Transmitter::new(spec.tier as u8, timed),
            timer: u64::MAX,
            propagation: spec.propagation.0,
            byte_ps: spec.rate.byte_ps(),
            peer: spec.peer.0,
            reverse: spec.reverse.0,
            last: PacketRef::NONE,
            armed: false,
            kicked: false,
            cut: own && cut,
            counted: self.hooked,
            captured,
            lossy,
            // What leaves for another batch leaves in its own window.
            eager: common.buffers.any() && of_switch
                || self.cut_through
                || own && cut && self.here(spec.peer.0),
            in_order: undisturbed && handler.as_ref().is_some_and(|handler| handler.in_order()),
            fifo: Fifo::new(),
            series: self.series(port, own),
        }
    }

    fn body(&self, port: u32) -> PortBody {
        let random = Random::new(self.common.seed, port, purpose::PORT);
        PortBody { handler: self.handler(port), random, sent: 0 }
    }
}

/// The links that lose packets in bursts, by port.
fn bursts(fabric: &Fabric) -> BTreeMap<u32, BurstLoss> {
    let own = |(port, bursts): &(PortId, _)| (port.0, BurstLoss::new(*bursts));
    fabric.bursts().iter().map(own).collect()
}

/// The shortest propagation between two batches, picoseconds.
fn window(fabric: &Fabric, batch_of: impl Fn(u32) -> u32) -> u64 {
    let cut = |port: &&PortSpec| batch_of(port.node.0) != batch_of(port.peer.0);
    let cuts = fabric.ports().iter().filter(cut);
    cuts.map(|port| port.propagation.0).min().unwrap_or(u64::MAX)
}

/// Bytes that switches read before they forward a packet, 0 if they store all of it.
fn cut_through(fabric: &Fabric) -> u16 {
    match fabric.forwarding() {
        Forwarding::StoreAndForward => 0,
        Forwarding::CutThrough(first) => first.0.clamp(1, u16::MAX as u64) as u16,
    }
}
