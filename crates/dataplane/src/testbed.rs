//! The nodes of one process, and the loop that polls them.

use crate::host::HostNode;
use crate::line::Line;
use crate::node::{Medium, Node, Tally};
use crate::record::collect;
use crate::schedule::{NEVER, Schedule};
use crate::switch::{Egress, SwitchNode};
use crate::{Clock, Mem, PacketIo, Virtual};
use incast_fabric::{NodeId, PortId, Routes};
use incast_transport::{
    FlowId, HostClock, HostId, PacketPool, Probe, Random, RunRecord, Time, TransportId,
};
use incast_world::{Captured, Captures, Deliveries, Options, Setup, Turns, purpose};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Runs a setup in memory under the virtual clock and returns the record and the captured packets,
/// as `incast_sim::run` does. Flow records have no parts and no decisions; `events` counts
/// frames received.
pub fn run_virtual(setup: Setup) -> (RunRecord, Vec<Captured>) {
    let (record, captures, _) = Testbed::new(setup).run();
    (record, captures)
}

/// Links that fail at an instant.
struct Epoch {
    at: u64,
    routes: Arc<Routes>,
    dead: Vec<PortId>,
}

/// Hosts and switches of a setup, polled by one thread.
pub struct Testbed<I = Mem, C = Virtual> {
    nodes: Vec<Node>,
    medium: Medium<I>,
    clock: C,
    schedule: Schedule,
    /// Nodes that a full ring holds up; visited in every pass.
    held: Vec<u32>,
    /// Flows to come: when, and which.
    opens: BinaryHeap<Reverse<(u64, u32)>>,
    /// Flows that wait for a flow, by that flow; empty if there are none.
    dependents: Vec<Vec<u32>>,
    /// Flows that each flow still waits for.
    missing: Vec<u32>,
    /// Failures to come, the latest first.
    epochs: Vec<Epoch>,
    /// Outcomes taken note of.
    completed: usize,
    last_completion: u64,
    /// Ports and classes that wait for each other for ever.
    deadlock: Vec<(u32, u8)>,
    options: Options,
    /// Nodes of the present pass.
    visited: Vec<u32>,
}

impl Testbed {
    /// A setup in memory, under the virtual clock, with rings as long as the links need.
    pub fn new(setup: Setup) -> Testbed {
        let io = Mem::new(&setup.fabric, setup.framing);
        Testbed::with(setup, io, Virtual::new())
    }
}

impl<C: Clock> Testbed<Mem, C> {
    /// Puts a frame of anybody's making on its way to `port`, due at `due`. Returns whether the
    /// ring had room.
    pub fn inject(&mut self, port: u32, due: Time, bytes: &[u8]) -> bool {
        let room = self.medium.io.inject(port, due, bytes);
        let node = self.medium.fabric.ports()[port as usize].node.0;
        self.schedule.visit(node, due.0);
        room
    }
}

impl<I: PacketIo, C: Clock> Testbed<I, C> {
    /// A setup over a backend and a clock.
    pub fn with(mut setup: Setup, io: I, clock: C) -> Testbed<I, C> {
        let options = setup.options.clone();
        let buffers = setup.buffers();
        let nodes = build_nodes(&mut setup);
        let flows = setup.flows;
        let mut opens = BinaryHeap::new();
        let mut dependents = vec![];
        for (index, flow) in flows.iter().enumerate() {
            if flow.after.is_empty() && flow.flow.start != Time::NEVER {
                opens.push(Reverse((flow.flow.start.0, index as u32)));
            }
            for before in &flow.after {
                dependents.resize(flows.len(), vec![]);
                dependents[before.0 as usize].push(index as u32);
            }
        }
        let transports = setup.routing.iter().map(|(id, _)| *id);
        let watch = options.watch.iter().copied();
        let deliveries = Deliveries::new(flows.len(), transports, options.interval, watch);
        let mut routing = [None; 256];
        setup.routing.iter().for_each(|(id, how)| routing[id.0 as usize] = Some(*how));
        let fabric = setup.fabric;
        let mut testbed = Testbed {
            schedule: Schedule::new(nodes.len()),
            nodes,
            clock,
            held: vec![],
            missing: flows.iter().map(|flow| flow.after.len() as u32).collect(),
            opens,
            dependents,
            epochs: epochs(&fabric),
            completed: 0,
            last_completion: 0,
            deadlock: vec![],
            visited: vec![],
            medium: Medium {
                now: 0,
                seed: options.seed,
                routing,
                standstill: buffers.standstill(),
                buffers,
                faults: options.faults,
                routes: Arc::new(fabric.routes()),
                dead: vec![false; fabric.ports().len()],
                probe: Probe::new(flows.len(), options.log_deliveries),
                tally: Tally {
                    captures: Captures::new(options.capture_limit),
                    deliveries,
                    ..Tally::default()
                },
                flows,
                fabric,
                io,
            },
            options,
        };
        for node in 0..testbed.nodes.len() {
            testbed.reschedule(node as u32);
        }
        testbed
    }

    /// Polls until every flow has been complete for the options' `drain`, or until `until`, or
    /// until nothing is left to do. Returns the backend too, for what it has counted.
    pub fn run(mut self) -> (RunRecord, Vec<Captured>, I) {
        let ended = self.poll();
        let (mut record, captures) = collect(self.nodes, &mut self.medium, ended);
        record.deadlock = self.deadlock;
        (record, captures, self.medium.io)
    }

    /// The loop. Returns when the run ended.
    fn poll(&mut self) -> u64 {
        loop {
            let due = self.due();
            let limit = self.limit();
            if due == NEVER && limit != NEVER && self.is_complete() {
                return limit;
            }
            if due == NEVER {
                return self.medium.now;
            }
            if due >= limit {
                return limit;
            }
            let now = self.clock.now().0;
            if due > now {
                self.clock.idle(Time(due));
            } else {
                self.pass(now);
                if self.is_standing_still() {
                    return now;
                }
            }
        }
    }

    /// Whether links have come to wait for each other for ever.
    fn is_standing_still(&mut self) -> bool {
        let Medium { standstill, fabric, buffers, .. } = &mut self.medium;
        if let (Some(standstill), Some(pfc)) = (standstill, &buffers.pfc) {
            let below = |port: u32, class| match &self.nodes
                [fabric.ports()[port as usize].node.0 as usize]
            {
                Node::Switch(switch) => switch.below(port, class),
                Node::Host(_) => 0,
            };
            self.deadlock = standstill.find(fabric, pfc, below).unwrap_or_default();
        }
        !self.deadlock.is_empty()
    }

    fn is_complete(&self) -> bool {
        self.completed == self.medium.flows.len()
    }

    /// Nothing at or after this instant is done.
    fn limit(&self) -> u64 {
        let until = self.options.until.0;
        if self.is_complete() {
            return until.min(self.last_completion.saturating_add(self.options.drain.0));
        }
        until
    }

    /// When there is something to do next.
    fn due(&mut self) -> u64 {
        let open = self.opens.peek().map_or(NEVER, |Reverse((at, _))| *at);
        let epoch = self.epochs.last().map_or(NEVER, |epoch| epoch.at);
        self.schedule.due().min(open).min(epoch)
    }

    /// One pass over the nodes at which something is due. The steps are taken for all nodes before
    /// the next begins, since a flow may open because of an arrival at another host.
    fn pass(&mut self, now: u64) {
        self.medium.now = now;
        let mut visited = std::mem::take(&mut self.visited);
        self.schedule.take(now, &mut visited);
        visited.append(&mut self.held);
        visited.sort_unstable();
        visited.dedup();
        for node in &visited {
            self.nodes[*node as usize].advance(&mut self.medium, now);
            self.nodes[*node as usize].receive(&mut self.medium);
        }
        self.note_completions();
        self.open_flows(now, &mut visited);
        for node in &visited {
            self.nodes[*node as usize].run_timers(&mut self.medium);
        }
        while self.epochs.last().is_some_and(|epoch| epoch.at <= now) {
            self.fail();
            visited = (0..self.nodes.len() as u32).collect();
        }
        for node in &visited {
            self.nodes[*node as usize].advance(&mut self.medium, now + 1);
        }
        for (release, node) in self.medium.tally.released.drain(..) {
            self.schedule.visit(node, release);
        }
        for node in visited.drain(..) {
            self.reschedule(node);
        }
        self.visited = visited;
    }

    fn reschedule(&mut self, node: u32) {
        let one = &self.nodes[node as usize];
        self.schedule.visit(node, one.due(&self.medium));
        if one.is_held() {
            self.held.push(node);
        }
    }

    /// Opens the flows that are due, in order of their numbers.
    fn open_flows(&mut self, now: u64, visited: &mut Vec<u32>) {
        let mut due = vec![];
        while let Some(Reverse((at, flow))) = self.opens.peek().copied() {
            if at > now {
                break;
            }
            self.opens.pop();
            due.push((at, flow));
        }
        for (_, flow) in due {
            let src = self.medium.flows[flow as usize].flow.src.0;
            if let Err(place) = visited.binary_search(&src) {
                visited.insert(place, src);
                self.nodes[src as usize].advance(&mut self.medium, now);
            }
            self.nodes[src as usize].open(&mut self.medium, FlowId(flow));
        }
    }

    /// Takes note of flows that are complete, and of those that waited for them.
    fn note_completions(&mut self) {
        for outcome in &self.medium.probe.outcomes()[self.completed..] {
            self.last_completion = outcome.completed;
            let Some(waiting) = self.dependents.get(outcome.flow.0 as usize) else { continue };
            for flow in waiting {
                self.missing[*flow as usize] -= 1;
                if self.missing[*flow as usize] == 0 {
                    let delay = self.medium.flows[*flow as usize].delay.0;
                    self.opens.push(Reverse((outcome.completed + delay, *flow)));
                }
            }
        }
        self.completed = self.medium.probe.outcomes().len();
    }

    /// The next failure happens.
    fn fail(&mut self) {
        let Some(epoch) = self.epochs.pop() else { return };
        self.medium.routes = epoch.routes;
        epoch.dead.iter().for_each(|port| self.medium.dead[port.0 as usize] = true);
        for node in &mut self.nodes {
            node.fail(&mut self.medium);
        }
    }
}

/// The failures of the run, the latest first.
fn epochs(fabric: &incast_fabric::Fabric) -> Vec<Epoch> {
    let mut times: Vec<Time> = fabric.failures().iter().map(|failure| failure.at).collect();
    times.dedup();
    let epoch = |at: Time| {
        let dead = fabric.dead_at(at);
        Epoch { at: at.0, routes: Arc::new(fabric.routes_without(&dead)), dead }
    };
    times.into_iter().rev().map(epoch).collect()
}

fn build_nodes(setup: &mut Setup) -> Vec<Node> {
    let fabric = setup.fabric.clone();
    let node = |node: u32| {
        if node < fabric.hosts() {
            Node::Host(build_host(setup, node))
        } else {
            Node::Switch(build_switch(setup, node))
        }
    };
    (0..fabric.nodes()).map(node).collect()
}

fn build_host(setup: &mut Setup, host: u32) -> HostNode {
    let port = setup.fabric.host_port(host);
    let options = &setup.options;
    let silent = options.silent.iter().filter(|(silent, _)| *silent == host);
    let nic = setup.ports[port.0 as usize].take();
    let transports: Vec<(TransportId, _)> = std::mem::take(&mut setup.hosts[host as usize]);
    let deadlines = transports.iter().map(|(_, transport)| transport.deadline().0);
    let nic_deadline = nic.as_ref().map_or(NEVER, |nic| nic.deadline().0);
    HostNode {
        deadline: deadlines.min().unwrap_or(NEVER).min(nic_deadline),
        host: HostId(host),
        line: Line::new(port.0, setup.fabric.port(port), options),
        pool: PacketPool::new(setup.framing),
        transports,
        nic,
        random: Random::new(options.seed, host, purpose::HOST),
        fault_random: Random::new(options.seed, host, purpose::FAULTS),
        silent_from: silent.map(|(_, at)| at.0).min().unwrap_or(NEVER),
        clock: HostClock::default(),
        wanted: NEVER,
        turn: 0,
        late: vec![],
        arrived: vec![],
    }
}

fn build_switch(setup: &mut Setup, node: u32) -> SwitchNode {
    let ports = setup.fabric.ports_of(NodeId(node));
    let egress = |port: u32| Egress {
        line: Line::new(port, setup.fabric.port(PortId(port)), &setup.options),
        handler: setup.ports[port as usize].take().expect("a switch port has a handler"),
        waiting: false,
        resume: 0,
        booked: 0,
        pausing: false,
        dead: false,
    };
    SwitchNode {
        node: NodeId(node),
        first: ports.start,
        egress: ports.map(egress).collect(),
        pool: PacketPool::new(setup.framing),
        hooks: std::mem::take(&mut setup.hooks[node as usize]),
        random: Random::new(setup.options.seed, node, purpose::SWITCH),
        turns: Turns::default(),
        used: 0,
        arrived: vec![],
    }
}
