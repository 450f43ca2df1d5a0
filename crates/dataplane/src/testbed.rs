//! The nodes of one process, and the loop that polls them.

mod bench;
mod build;

use crate::medium::{Medium, Tally};
use crate::node::Node;
use crate::record::collect;
use crate::schedule::Schedule;
use crate::switch::{Crossing, one_core_only};
use crate::trouble::Troubles;
use crate::{Clock, Data, Fidelity, Mem, PacketIo, Payload, Virtual, Zeros};
use incast_fabric::PortId;
use incast_transport::{FlowId, Framing, RunRecord, Time, TransportId};
use incast_world::{
    Captured, Captures, End, Ending, Epoch, FlowSetup, LinkState, LossLog, Monitor, NEVER,
    PathRecorder, Progress, Setup, Work, epochs, new_deliveries, new_probe,
};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::atomic::Ordering;

/// Passes between two reports to the monitor.
const PASSES_PER_REPORT: u32 = 1_024;

/// Runs a setup in memory under the virtual clock and returns the record and the captured packets,
/// as `incast_sim::run` does, in this thread. The record is the same, apart from `events`, which
/// are frames received here.
pub fn run(setup: Setup, monitor: &Monitor) -> (RunRecord, Vec<Captured>) {
    let (record, captures, _) = Testbed::new(setup).run_watched(monitor);
    (record, captures)
}

/// [`run`] without anybody who watches.
pub fn run_virtual(setup: Setup) -> (RunRecord, Vec<Captured>) {
    run(setup, &Monitor::default())
}

/// What a run leaves.
pub struct Ran<I: PacketIo> {
    /// The record.
    pub record: RunRecord,
    /// Captured packets, in order of time and port.
    pub captured: Vec<Captured>,
    /// How faithful it was; `None` under a clock that does not follow real time.
    pub fidelity: Option<Fidelity>,
    /// The backend, for what it has counted.
    pub io: I,
    /// Packets for which there was no frame: packet memory was exhausted. They are link losses too.
    pub exhausted: u64,
    /// Frames that went to other cores of the same switch.
    pub crossed: u64,
    /// Frames that came from them.
    pub taken: u64,
    /// What leads from and to them.
    crossing: Option<Crossing<I::Frame>>,
}

impl<I: PacketIo> Ran<I> {
    /// Gives back the frames that were on their way from other cores of the same switch when this one
    /// ended, and returns how many: what went to other cores has come there or is among these. To be
    /// called once all of them have ended.
    pub fn drain_crossing(&mut self) -> u64 {
        self.crossing.as_mut().map_or(0, |crossing| crossing.drain(&mut self.io))
    }
}

/// Hosts and switches of a setup, polled by one thread.
pub struct Testbed<I: PacketIo = Mem, C = Virtual, P = Zeros> {
    /// By number; most may be elsewhere.
    pub(crate) nodes: Vec<Node<I>>,
    /// Nodes that are here.
    pub(crate) here: Vec<u32>,
    pub(crate) framing: Framing,
    /// Most payload of a packet, of transports whose packets carry an extension.
    pub(crate) payloads: Vec<(TransportId, u16)>,
    pub(crate) medium: Medium<I>,
    pub(crate) payload: P,
    pub(crate) clock: C,
    schedule: Schedule,
    /// Nodes that a full ring holds up; visited in every pass.
    held: Vec<u32>,
    /// Nodes that frames come to from outside the process; visited in every pass.
    pub(crate) external: Vec<u32>,
    /// Flows to come, and those to be ended: when, and which.
    opens: BinaryHeap<Reverse<(u64, u32)>>,
    /// Those that are ended; the first has the number after the last flow.
    endings: Vec<Ending>,
    progress: Progress,
    end: End,
    /// Changes of links to come, the latest first.
    epochs: Vec<Epoch>,
    /// Ports and classes that wait for each other for ever.
    deadlock: Vec<(u32, u8)>,
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

impl<C: Clock, P: Payload> Testbed<Mem, C, P> {
    /// Puts a frame of anybody's making in flight to `port`, due at `due`. Returns whether the
    /// ring had room.
    pub fn inject(&mut self, port: u32, due: Time, bytes: &[u8]) -> bool {
        let room = self.medium.io.inject(port, due, bytes);
        let node = self.medium.fabric.ports()[port as usize].node.0;
        self.schedule.visit(node, due.0);
        room
    }
}

/// When the flows that start here open, but for those that wait, and when applications here end flows: these
/// have the numbers behind those of all flows.
fn openings(
    flows: &[FlowSetup],
    endings: &[Ending],
    here: &[u32],
) -> BinaryHeap<Reverse<(u64, u32)>> {
    let known = flows.iter().map(|setup| (setup.flow.start.0, setup.flow.src.0, !setup.waits()));
    let starts = known.map(|(at, host, opens)| (at, host, opens && at != Time::NEVER.0));
    let stops = endings.iter().map(|one| (one.at, one.host, true));
    let all = starts.chain(stops).zip(0..);
    let due = all.filter(|((_, host, opens), _)| *opens && here.contains(host));
    due.map(|((at, ..), number)| Reverse((at, number))).collect()
}

impl<I: PacketIo, C: Clock> Testbed<I, C> {
    /// A setup over a backend and a clock. Packets carry zeros.
    pub fn with(setup: Setup, io: I, clock: C) -> Testbed<I, C> {
        let end = End::of(&setup);
        let all: Vec<u32> = (0..setup.fabric.nodes()).collect();
        Testbed::of(setup, io, clock, &all, end)
    }

    /// The same with these nodes only; the others are elsewhere, at the other ends of the backend's
    /// links. Such a run ends at `until`, or when it is told to: what is complete elsewhere is not
    /// known here.
    pub fn part(setup: Setup, io: I, clock: C, nodes: &[u32]) -> Testbed<I, C> {
        let end = End::of_part(&setup);
        Testbed::of(setup, io, clock, nodes, end)
    }

    /// The same for one core of switch `node`, whose ports are spread over several: what crosses
    /// between them goes by `crossing`.
    ///
    /// Panics if the node is a host, or if its ports have something in common
    /// ([`one_core_only`](crate::one_core_only)).
    pub fn core(
        setup: Setup,
        io: I,
        clock: C,
        node: u32,
        crossing: Crossing<I::Frame>,
    ) -> Testbed<I, C> {
        assert_eq!(one_core_only(&setup, node), None);
        let mut testbed = Testbed::part(setup, io, clock, &[node]);
        let Node::Switch(switch) = &mut testbed.nodes[node as usize] else {
            panic!("node {node} is a host")
        };
        switch.crossing = Some(crossing);
        testbed.external = vec![node];
        testbed
    }

    fn of(mut setup: Setup, io: I, clock: C, here: &[u32], end: End) -> Testbed<I, C> {
        let buffers = setup.buffers();
        let trails = io.keeps_trails();
        let live = clock.pace().is_some();
        let endings = setup.endings();
        let recorder = PathRecorder::of(&setup).filter(|_| trails);
        let nodes = build::nodes(&mut setup, &buffers, here, trails);
        let Setup { fabric, flows, gates, options, routing: transports, framing, payloads, .. } =
            setup;
        let opens = openings(&flows, &endings, here);
        let mut routing = [None; 256];
        transports.iter().for_each(|(id, how)| routing[id.0 as usize] = Some(*how));
        let mut testbed = Testbed {
            schedule: Schedule::new(nodes.len()),
            nodes,
            payload: Zeros,
            clock,
            held: vec![],
            external: vec![],
            opens,
            endings,
            progress: Progress::new(&flows, &gates),
            end,
            framing,
            payloads,
            here: here.to_vec(),
            epochs: epochs(&fabric).into_iter().rev().collect(),
            deadlock: vec![],
            visited: vec![],
            medium: Medium {
                now: 0,
                since: 0,
                seed: options.seed,
                routing,
                detector: buffers.deadlock_detector(),
                buffers,
                faults: options.faults,
                ended: BTreeSet::new(),
                routes: fabric.routes(),
                links: vec![LinkState::Whole; fabric.ports().len()],
                probe: new_probe(&flows, &transports, &options),
                troubles: Troubles::of(live),
                losses: LossLog::new(&options, fabric.ports().len()),
                tally: Tally {
                    captures: Captures::new(&options, &fabric),
                    deliveries: new_deliveries(&flows, &transports, &options, |_| true),
                    ..Tally::default()
                },
                sent: vec![0; flows.len()],
                flows,
                fabric,
                trails,
                recorder,
                io,
                incoming: vec![],
            },
        };
        for node in 0..testbed.nodes.len() {
            testbed.reschedule(node as u32);
            if testbed.nodes[node].is_external(&testbed.medium.io) {
                testbed.external.push(node as u32);
            }
        }
        testbed
    }

    /// The same with packets that carry what `payload` lends; it is given what arrives.
    pub fn carrying<P: Payload>(self, payload: P) -> Testbed<I, C, P> {
        let Testbed {
            nodes,
            medium,
            clock,
            schedule,
            held,
            external,
            opens,
            endings,
            progress,
            end,
            ..
        } = self;
        let Testbed { here, framing, payloads, epochs, deadlock, visited, .. } = self;
        Testbed {
            here,
            framing,
            payloads,
            nodes,
            medium,
            payload,
            clock,
            schedule,
            held,
            external,
            opens,
            endings,
            progress,
            end,
            epochs,
            deadlock,
            visited,
        }
    }
}

impl<I: PacketIo, C: Clock, P: Payload> Testbed<I, C, P> {
    /// Polls until every flow has been complete for the options' `drain`, or until `until`, or
    /// until nothing is left to do or nothing has been delivered for long. Returns the backend too,
    /// for what it has counted.
    pub fn run(self) -> (RunRecord, Vec<Captured>, I) {
        self.run_watched(&Monitor::default())
    }

    /// The same; reports progress to `monitor`, and ends early if `monitor` requests it.
    pub fn run_watched(self, monitor: &Monitor) -> (RunRecord, Vec<Captured>, I) {
        let Ran { record, captured, io, .. } = self.run_timed(monitor);
        (record, captured, io)
    }

    /// The same, with how faithful the run was to real time.
    pub fn run_timed(mut self, monitor: &Monitor) -> Ran<I> {
        monitor.begun.store(true, Ordering::Relaxed);
        let busy = self.poll(monitor);
        let interrupted = monitor.stopped();
        let cut = interrupted || !self.deadlock.is_empty();
        let ended = self.end.ended(self.medium.now, busy, cut);
        let fidelity = self.fidelity();
        let crossing = self.nodes.iter_mut().find_map(Node::take_crossing);
        let (crossed, taken) = crossing.as_ref().map_or((0, 0), Crossing::counts);
        let exhausted = self.medium.tally.exhausted;
        self.medium.tally.end_at(self.end.limit());
        let (mut record, captured) = collect(self.nodes, &mut self.medium, ended);
        if busy && !record.complete && !interrupted {
            record.stalled_since = self.end.stalled_since();
        }
        record.interrupted = interrupted;
        // Those were counted where they were received.
        record.events -= taken;
        record.deadlock = self.deadlock;
        let io = self.medium.io;
        Ran { record, captured, fidelity, io, exhausted, crossed, taken, crossing }
    }

    /// How faithful the run has been so far; `None` under a clock that does not follow real time.
    pub(crate) fn fidelity(&mut self) -> Option<Fidelity> {
        let troubles = self.medium.troubles.take();
        let (packets, resent) = self.medium.probe.sent();
        let data = Data { packets, resent };
        let pace = self.clock.pace()?;
        let tally = &mut self.medium.tally;
        let mut lateness = std::mem::take(&mut tally.lateness);
        lateness.add_many(0, tally.frames - lateness.count());
        let packets = tally.hops;
        Some(Fidelity { pace, lateness, packets, data, troubles, ..Fidelity::default() })
    }

    /// The loop. Returns whether something was left to do.
    fn poll(&mut self, monitor: &Monitor) -> bool {
        let mut passes = 0u32;
        loop {
            let due = self.due();
            let delivered = self.medium.probe.last_delivery();
            let Progress { completed, last_completion, opens, whole, .. } = &self.progress;
            self.end.note(*completed, *last_completion, delivered.max(*opens), *whole);
            let now = self.clock.now().0;
            // A clock that follows real time may be there before all that was due; and what comes
            // from outside is due at any time until then.
            let reached = if self.external.is_empty() { due.max(now) } else { now };
            let work = Work { hops: self.medium.tally.hops, wakes: self.medium.probe.wakes };
            let more = due != NEVER || !self.external.is_empty();
            while more && reached >= self.end.limit() && !self.end.is_over(work) {}
            let over = reached >= self.end.limit() || monitor.stopped();
            if over || passes.is_multiple_of(PASSES_PER_REPORT) {
                let (completed, hops) = (self.progress.completed, self.medium.tally.hops);
                monitor.report(self.medium.now, completed, hops);
                self.medium.tally.captures.reach(self.medium.now);
            }
            if over {
                return more;
            }
            if due > now && self.external.is_empty() {
                self.clock.idle(Time(due));
                continue;
            }
            passes = passes.wrapping_add(1);
            let seen = self.medium.tally.moved();
            self.pass(now);
            if self.is_deadlocked() {
                return true;
            }
            if due > now && self.medium.tally.moved() == seen {
                let due = self.due();
                self.clock.idle(Time(due.min(self.end.limit())));
            }
        }
    }

    /// Whether links have come to wait for each other for ever.
    fn is_deadlocked(&mut self) -> bool {
        let Medium { detector, fabric, buffers, .. } = &mut self.medium;
        if let (Some(detector), Some(pfc)) = (detector, &buffers.pfc) {
            let below = |port: u32, class| match &self.nodes
                [fabric.ports()[port as usize].node.0 as usize]
            {
                Node::Switch(switch) => switch.buffer.below(port, class),
                Node::Host(_) | Node::Elsewhere => 0,
            };
            self.deadlock = detector.find(fabric, pfc, below).unwrap_or_default();
        }
        !self.deadlock.is_empty()
    }

    /// When there is something to do next.
    pub(crate) fn due(&mut self) -> u64 {
        let open = self.opens.peek().map_or(NEVER, |Reverse((at, _))| *at);
        let epoch = self.epochs.last().map_or(NEVER, |epoch| epoch.at);
        self.schedule.due().min(open).min(epoch)
    }

    /// One pass over the nodes at which something is due. The steps are taken for all nodes before
    /// the next begins, since a flow may open because of an arrival at another host.
    pub(crate) fn pass(&mut self, now: u64) {
        self.medium.now = now;
        let mut visited = std::mem::take(&mut self.visited);
        self.schedule.take(now, &mut visited);
        visited.append(&mut self.held);
        visited.extend(&self.external);
        visited.sort_unstable();
        visited.dedup();
        for node in &visited {
            self.nodes[*node as usize].receive(&mut self.medium, &mut self.payload);
        }
        self.note_completions();
        self.open_flows(now, &mut visited);
        for node in &visited {
            self.nodes[*node as usize].run_timers(&mut self.medium, &mut self.payload);
        }
        while self.epochs.last().is_some_and(|epoch| epoch.at <= now) {
            self.change_links();
            visited = (0..self.nodes.len() as u32).collect();
        }
        for node in &visited {
            self.nodes[*node as usize].advance(&mut self.medium, &mut self.payload, now + 1);
        }
        for node in &visited {
            self.nodes[*node as usize].flush(&mut self.medium);
        }
        for (release, node) in self.medium.tally.released.drain(..) {
            if !matches!(self.nodes[node as usize], Node::Elsewhere) {
                self.schedule.visit(node, release);
            }
        }
        for node in visited.drain(..) {
            self.reschedule(node);
        }
        self.visited = visited;
        self.medium.since = now;
    }

    pub(crate) fn reschedule(&mut self, node: u32) {
        let one = &self.nodes[node as usize];
        self.schedule.visit(node, one.due(&mut self.medium));
        if one.is_held() {
            self.held.push(node);
        }
    }

    /// Opens the flows that are due, in order of their numbers, and ends those whose applications do.
    fn open_flows(&mut self, now: u64, visited: &mut Vec<u32>) {
        let mut due = vec![];
        while let Some(Reverse((at, flow))) = self.opens.peek().copied() {
            if at > now {
                break;
            }
            self.opens.pop();
            due.push((at, flow));
        }
        for (_, index) in due {
            let ending = (index as usize).checked_sub(self.medium.flows.len());
            let ending = ending.map(|place| self.endings[place]);
            let host = match &ending {
                Some(ending) => ending.host,
                None => self.medium.flows[index as usize].flow.src.0,
            };
            if let Err(place) = visited.binary_search(&host) {
                visited.insert(place, host);
                self.nodes[host as usize].advance(&mut self.medium, &mut self.payload, now);
            }
            let (medium, payload) = (&mut self.medium, &mut self.payload);
            match ending {
                Some(Ending { flow: Some(flow), .. }) => {
                    self.nodes[host as usize].abandon(medium, payload, flow);
                    if medium.flows[flow.0 as usize].flow.dst.0 == host {
                        medium.ended.insert((host, flow));
                    }
                }
                Some(_) => self.nodes[host as usize].look(medium.now),
                None => self.nodes[host as usize].open(medium, payload, FlowId(index)),
            }
        }
    }

    /// Takes note of flows that are complete, and of those that waited for them.
    fn note_completions(&mut self) {
        let Testbed { progress, medium, opens, .. } = self;
        progress.note(medium.probe.outcomes(), &medium.flows, |at, flow| {
            opens.push(Reverse((at, flow)));
        });
    }

    /// The next change of links happens.
    fn change_links(&mut self) {
        let Some(epoch) = self.epochs.pop() else { return };
        self.medium.routes = epoch.routes;
        for (port, link) in self.medium.links.iter_mut().enumerate() {
            let down = epoch.dead.binary_search(&PortId(port as u32)).is_ok();
            *link = link.after(epoch.at, down);
        }
        for node in &mut self.nodes {
            node.change_links(&mut self.medium);
        }
    }
}
