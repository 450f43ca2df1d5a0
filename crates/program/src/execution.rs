//! One rank of a program as it goes on.

use crate::error::Place;
use crate::graph::{ANY, Op, Program};
use crate::matching::Matching;
use incast_units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// When a rank's sends start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Issue {
    /// As soon as what they wait for is done.
    #[default]
    Free,
    /// Also not before the one before it at the same NIC is delivered, as its sender knows.
    Serial,
}

/// What a world is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Nodes of the rank whose messages to other ranks start now.
    pub sends: Vec<u32>,
}

/// When a node did what, and why it did not do it earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it began; [`Time::NEVER`] if it has not.
    pub begun: Time,
    /// When it was done; [`Time::NEVER`] if it is not.
    pub ended: Time,
    /// The node of its rank for which it waited last before it began, if it waited for one.
    pub after: Option<u32>,
    /// The message that a receive took: the rank that sent it and the node there.
    pub message: Option<(u32, u32)>,
}

impl Step {
    const NONE: Step = Step { begun: Time::NEVER, ended: Time::NEVER, after: None, message: None };
}

/// How a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for other nodes, its stream or its NIC.
    Waits,
    Begun,
    Done,
}

/// The computations of one stream.
#[derive(Clone, Debug, Default)]
struct Stream {
    busy: bool,
    ready: VecDeque<u32>,
}

/// When a rank did what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// When it began; none if it has not.
    pub begun: Option<Time>,
    /// When its last node was done; none if one is not.
    pub ended: Option<Time>,
    /// For how long some stream of it computed.
    pub computing: Span,
}

/// What a node waits for that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A message.
    Message {
        /// From this rank, or [`ANY`].
        from: u32,
        /// With this tag, or [`ANY`].
        tag: u32,
    },
    /// The delivery of its own.
    Delivery {
        /// To this rank.
        to: u32,
        /// So many bytes.
        bytes: u64,
    },
}

/// A node that has begun and is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Its rank.
    pub rank: u32,
    /// Its number there.
    pub node: u32,
    /// The line of its file, if that has lines.
    pub line: Option<u32>,
    /// What it waits for.
    pub waiting: Waiting,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, node {}", self.rank, self.node)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        match self.waiting {
            Waiting::Message { from, tag } => {
                write!(f, " waits for a message from ")?;
                if from == ANY { write!(f, "any rank") } else { write!(f, "rank {from}") }?;
                if tag == ANY { write!(f, " with any tag") } else { write!(f, " with tag {tag}") }
            }
            Waiting::Delivery { to, bytes } => {
                write!(f, " waits for the delivery of its {bytes} bytes to rank {to}")
            }
        }
    }
}

/// The state of one rank. It is told what happens to it, in order of time, and says what its world is to do; of
/// one instant it does all that this instant allows.
#[derive(Clone, Debug)]
pub struct Execution {
    program: Arc<Program>,
    rank: u32,
    issue: Issue,
    /// For how many others each node still waits.
    waits: Vec<u32>,
    states: Vec<State>,
    left: usize,
    /// Nodes that wait for nothing but their turn here.
    ready: VecDeque<u32>,
    streams: BTreeMap<u8, Stream>,
    /// Computations that go on, by their end.
    calcs: BTreeSet<(Time, u32)>,
    /// Of [`Issue::Serial`] the sends of each NIC; the first one is on its way.
    nics: BTreeMap<u8, VecDeque<u32>>,
    matching: Matching,
    times: RankTimes,
    computes_since: Time,
    steps: Vec<Step>,
    now: Time,
}

impl Execution {
    /// A rank of a program, before it begins.
    pub fn new(program: Arc<Program>, rank: u32, issue: Issue) -> Execution {
        let own = &program.ranks()[rank as usize];
        let (waits, count) = (own.waits(), own.nodes().len());
        Execution {
            program,
            rank,
            issue,
            waits,
            states: vec![State::Waits; count],
            left: count,
            ready: VecDeque::new(),
            streams: BTreeMap::new(),
            calcs: BTreeSet::new(),
            nics: BTreeMap::new(),
            matching: Matching::default(),
            times: RankTimes::default(),
            computes_since: Time::ZERO,
            steps: vec![Step::NONE; count],
            now: Time::ZERO,
        }
    }

    /// The rank begins.
    pub fn begin(&mut self, now: Time, orders: &mut Orders) {
        (self.times.begun, self.now) = (Some(now), now);
        let free = (0u32..).zip(&self.waits).filter(|(_, waits)| **waits == 0);
        self.ready.extend(free.map(|(node, _)| node));
        self.settle(now, orders);
    }

    /// The last byte of the message that `node` of rank `source` sends has arrived here.
    pub fn received(&mut self, now: Time, source: u32, node: u32, orders: &mut Orders) {
        let op = self.program.ranks()[source as usize].nodes()[node as usize].op;
        let Op::Send { tag, .. } = op else { panic!("node {node} of rank {source} sends nothing") };
        self.now = now;
        if let Some(receive) = self.matching.arrive(source, tag, node) {
            self.take_message(receive, (source, node), orders);
        }
        self.settle(now, orders);
    }

    /// The rank knows that the message of its node has arrived.
    pub fn acknowledged(&mut self, now: Time, node: u32, orders: &mut Orders) {
        self.now = now;
        self.done(node, orders);
        self.settle(now, orders);
    }

    /// When the next computation ends: then [`wake`](Execution::wake) is to be called.
    pub fn deadline(&self) -> Option<Time> {
        self.calcs.first().map(|(end, _)| *end)
    }

    /// It is the deadline.
    pub fn wake(&mut self, now: Time, orders: &mut Orders) {
        self.settle(now, orders);
    }

    /// Whether every node is done.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// When it did what.
    pub fn times(&self) -> RankTimes {
        self.times
    }

    /// The same by node.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Nodes that are not done.
    pub fn left(&self) -> usize {
        self.left
    }

    /// What has begun and waits for another rank.
    pub fn blocked(&self) -> Vec<Blocked> {
        let own = &self.program.ranks()[self.rank as usize];
        let begun = (0u32..)
            .zip(own.nodes())
            .filter(|(node, _)| self.states[*node as usize] == State::Begun);
        let blocked = begun.filter_map(|(node, what)| {
            let waiting = match what.op {
                Op::Recv { from, tag, .. } => Waiting::Message { from, tag },
                Op::Send { to, bytes, .. } => Waiting::Delivery { to, bytes },
                Op::Calc { .. } => return None,
            };
            let line = match self.program.place(self.rank, node) {
                Place::Line(line) => Some(line),
                _ => None,
            };
            Some(Blocked { rank: self.rank, node, line, waiting })
        });
        blocked.collect()
    }

    /// Does what this instant allows.
    fn settle(&mut self, now: Time, orders: &mut Orders) {
        self.now = now;
        loop {
            if let Some(node) = self.ready.pop_front() {
                self.take(node, now, orders);
            } else if self.deadline().is_some_and(|end| end <= now) {
                let (_, node) = self.calcs.pop_first().expect("it has a first");
                self.end_calc(node, now, orders);
            } else {
                break;
            }
        }
        if self.left == 0 && self.times.ended.is_none() {
            self.times.ended = Some(now);
        }
    }

    /// A node waits for no other.
    fn take(&mut self, node: u32, now: Time, orders: &mut Orders) {
        let what = self.program.ranks()[self.rank as usize].nodes()[node as usize];
        match what.op {
            Op::Calc { .. } => {
                let stream = self.streams.entry(what.cpu).or_default();
                match stream.busy {
                    true => stream.ready.push_back(node),
                    false => self.begin_calc(node, now),
                }
            }
            Op::Recv { from, tag, .. } => {
                self.start(node);
                if let Some(message) = self.matching.post(node, from, tag) {
                    self.take_message(node, message, orders);
                }
            }
            Op::Send { to, tag, .. } if to == self.rank => {
                self.start(node);
                if let Some(receive) = self.matching.arrive(to, tag, node) {
                    self.take_message(receive, (to, node), orders);
                }
                self.done(node, orders);
            }
            Op::Send { .. } => {
                let waits = self.issue == Issue::Serial && {
                    let nic = self.nics.entry(what.nic).or_default();
                    nic.push_back(node);
                    nic.len() > 1
                };
                if !waits {
                    self.send(node, orders);
                }
            }
        }
    }

    fn take_message(&mut self, receive: u32, message: (u32, u32), orders: &mut Orders) {
        self.steps[receive as usize].message = Some(message);
        self.done(receive, orders);
    }

    fn send(&mut self, node: u32, orders: &mut Orders) {
        self.start(node);
        orders.sends.push(node);
    }

    fn begin_calc(&mut self, node: u32, now: Time) {
        let what = self.program.ranks()[self.rank as usize].nodes()[node as usize];
        if self.calcs.is_empty() {
            self.computes_since = now;
        }
        self.streams.entry(what.cpu).or_default().busy = true;
        self.calcs.insert((now.saturating_add(what.duration()), node));
        self.start(node);
    }

    fn end_calc(&mut self, node: u32, now: Time, orders: &mut Orders) {
        let cpu = self.program.ranks()[self.rank as usize].nodes()[node as usize].cpu;
        if self.calcs.is_empty() {
            self.times.computing.0 += now.since(self.computes_since).0;
        }
        let stream = self.streams.entry(cpu).or_default();
        stream.busy = false;
        let next = stream.ready.pop_front();
        self.done(node, orders);
        if let Some(next) = next {
            self.steps[next as usize].after = Some(node);
            self.begin_calc(next, now);
        }
    }

    fn start(&mut self, node: u32) {
        debug_assert_eq!(self.states[node as usize], State::Waits);
        self.states[node as usize] = State::Begun;
        self.steps[node as usize].begun = self.now;
        let program = self.program.clone();
        self.release(program.ranks()[self.rank as usize].at_start(node), node);
    }

    fn done(&mut self, node: u32, orders: &mut Orders) {
        assert_eq!(
            self.states[node as usize],
            State::Begun,
            "rank {}, node {node}: only what goes on ends",
            self.rank
        );
        self.states[node as usize] = State::Done;
        self.steps[node as usize].ended = self.now;
        self.left -= 1;
        let program = self.program.clone();
        let own = &program.ranks()[self.rank as usize];
        self.release(own.at_end(node), node);
        let what = own.nodes()[node as usize];
        let nic = self.nics.get_mut(&what.nic).filter(|nic| nic.front() == Some(&node));
        if let Some(nic) = nic.filter(|_| matches!(what.op, Op::Send { .. })) {
            nic.pop_front();
            if let Some(next) = nic.front().copied() {
                self.steps[next as usize].after = Some(node);
                self.send(next, orders);
            }
        }
    }

    fn release(&mut self, nodes: &[u32], by: u32) {
        for node in nodes {
            let waits = &mut self.waits[*node as usize];
            *waits -= 1;
            if *waits == 0 {
                self.steps[*node as usize].after = Some(by);
                self.ready.push_back(*node);
            }
        }
    }
}

#[cfg(test)]
mod tests;
