//! Messages with what they wait for.

use super::spec::{Collective, CollectiveGroup, Message};
use crate::flow::Lane;
use crate::traffic::{FlowClass, FlowSpec, Gate, Start, Traffic};
use incast_units::{Span, Time};

/// What a rank has to have before it sends: flows that have arrived, and a gate that is open.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub flows: Vec<u32>,
    /// None where the flows cannot arrive before it is open.
    gate: Option<u32>,
    /// When a rank that waits for no flow starts, in the first iteration.
    at: Option<Time>,
}

/// The flows of a collective as they are made, one iteration after the other.
pub(super) struct Program<'a> {
    pub spec: &'a Collective,
    flows: Vec<FlowSpec>,
    gates: Vec<Gate>,
    groups: Vec<CollectiveGroup>,
    iteration: u32,
    channel: u32,
    /// The first of the gates that open when ranks have computed, in the current iteration.
    ready: u32,
    messages: Vec<Message>,
    /// The messages of the chunk before in the order in which they were made, and those of the current one.
    before: Vec<Option<u32>>,
    now: Vec<Option<u32>>,
}

impl<'a> Program<'a> {
    pub fn new(spec: &'a Collective) -> Program<'a> {
        Program {
            spec,
            flows: vec![],
            gates: vec![],
            groups: vec![],
            iteration: 0,
            channel: 0,
            ready: 0,
            messages: vec![],
            before: vec![],
            now: vec![],
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.spec.ranks.len() as u32
    }

    /// How long a rank computes before an iteration.
    fn compute(&self, rank: u32) -> Span {
        let extra = self.spec.straggler.filter(|(late, _)| *late == rank);
        Span(self.spec.compute.0.saturating_add(extra.map_or(0, |(_, extra)| extra.0)))
    }

    /// Begins an iteration: ranks compute when what came in the one before is there.
    pub fn begin(&mut self, iteration: u32) {
        let (before, ranks) = (self.ready, self.ranks());
        let mut arrived = vec![vec![]; ranks as usize];
        let mut sent = arrived.clone();
        for message in self.messages.drain(..) {
            arrived[message.to as usize].push(message.flow);
            sent[message.from as usize].push(message.flow);
        }
        (self.iteration, self.ready) = (iteration, self.gates.len() as u32);
        for (rank, (arrived, sent)) in (0..).zip(arrived.into_iter().zip(sent)) {
            let flows = if arrived.is_empty() { sent } else { arrived };
            let (gate, from) = match iteration {
                0 => (None, self.spec.at),
                _ => (Some(before + rank), Time::ZERO),
            };
            self.gates.push(Gate { flows, gate, from, delay: self.compute(rank) });
        }
    }

    /// Begins part `number` of the data that is treated at the same time.
    pub fn channel(&mut self, number: u32) {
        self.channel = number;
        self.before.clear();
    }

    /// Begins the chunk after this one.
    pub fn next_chunk(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// What each rank waits for at the beginning of an iteration: its computation.
    pub fn start(&self) -> Vec<Wait> {
        let computed = |rank| {
            let first = self.iteration == 0;
            let at = self.spec.at.saturating_add(self.compute(rank));
            // In the first iteration nothing arrives before a rank has computed, unless it is the one that
            // takes longer.
            let late = self.compute(rank) > self.spec.compute;
            let gate = (!first || late).then_some(self.ready + rank);
            Wait { flows: vec![], gate, at: first.then_some(at) }
        };
        (0..self.ranks()).map(computed).collect()
    }

    /// A message of a rank; none if it has no bytes.
    pub fn send(&mut self, from: u32, to: u32, size: u64, wait: &Wait) -> Option<u32> {
        let before = self.before.get(self.now.len()).copied().flatten();
        if size == 0 {
            self.now.push(None);
            return None;
        }
        let mut flows = wait.flows.clone();
        // Only the chunk before keeps the first message of a chunk from leaving together with that one's.
        let first = flows.is_empty() && wait.is_start(self.ready, self.ranks());
        flows.extend(
            before.filter(|before| (first || self.spec.in_turn) && !flows.contains(before)),
        );
        let flow = self.flows.len() as u32;
        let (start, gate) = match (flows.as_slice(), wait.at) {
            ([], Some(at)) => (Start::At(at), None),
            _ => (Start::After { flows, delay: Span::ZERO }, wait.gate),
        };
        let [src, dst] = [from, to].map(|rank| self.spec.ranks[rank as usize]);
        let spec = FlowSpec::new(src, dst, size, start, FlowClass::Collective);
        let lane = Lane { entry: 0, channel: self.channel };
        self.flows.push(FlowSpec { gate, connection: Some(lane), ..spec });
        self.messages.push(Message { flow, from, to });
        self.now.push(Some(flow));
        Some(flow)
    }

    /// The flow, if a rank's next message waits for it because it is its last one.
    pub fn in_turn(&self, sent: Option<u32>) -> Option<u32> {
        sent.filter(|_| self.spec.in_turn)
    }

    /// One gate for what a rank waits for, so that many messages can wait for it.
    pub fn join(&mut self, wait: &Wait) -> Wait {
        if wait.flows.is_empty() {
            return wait.clone();
        }
        let gate = self.gates.len() as u32;
        let (flows, from) = (wait.flows.clone(), Time::ZERO);
        self.gates.push(Gate { flows, gate: wait.gate, from, delay: Span::ZERO });
        Wait { flows: vec![], gate: Some(gate), at: None }
    }

    /// The iteration has all its messages.
    pub fn end(&mut self) {
        let spec = self.spec;
        let longest = (0..self.ranks()).map(|rank| self.compute(rank)).max();
        self.groups.push(CollectiveGroup {
            number: 0,
            iteration: self.iteration,
            kind: spec.kind,
            algorithm: spec.algorithm,
            ranks: self.ranks(),
            bytes: spec.size,
            messages: self.messages.clone(),
            ready: self.ready..self.ready + self.ranks(),
            at: spec.at,
            compute: longest.unwrap_or(Span::ZERO),
        });
    }

    pub fn traffic(self) -> Traffic {
        let mut traffic = Traffic::from_flows(vec![], vec![]);
        (traffic.flows, traffic.gates) = (self.flows, self.gates);
        traffic.collectives = self.groups;
        traffic.sorted()
    }
}

impl Wait {
    /// Whether it is for a rank's computation alone; `ready` are the gates of these.
    fn is_start(&self, ready: u32, ranks: u32) -> bool {
        self.at.is_some() || self.gate.is_some_and(|gate| (ready..ready + ranks).contains(&gate))
    }

    /// For this flow instead of those before.
    pub fn for_flow(&self, flow: Option<u32>) -> Wait {
        Wait { flows: flow.into_iter().collect(), gate: self.gate, at: self.at_without(flow) }
    }

    /// For these flows instead of those before.
    pub fn for_flows(&self, flows: Vec<u32>) -> Wait {
        let at = self.at_without(flows.first().copied());
        Wait { flows, gate: self.gate, at }
    }

    /// For this flow, too.
    pub fn and(&mut self, flow: Option<u32>) {
        self.flows.extend(flow);
        self.at = self.at_without(flow);
    }

    fn at_without(&self, flow: Option<u32>) -> Option<Time> {
        self.at.filter(|_| flow.is_none())
    }
}
