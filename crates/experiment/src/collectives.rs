//! How collectives went: when each iteration was over, how long it takes at best, and what its end waited for.

use crate::plan::Plan;
use incast_measure::{Collective, CriticalPath, FlowMeta};
use incast_transport::{Bytes, FlowId, Parts, RunRecord, Span, Time};
use incast_workload::{CollectiveGroup, FlowSpec, Gate, Start, Traffic};
use incast_world::{FlowSetup, GateId, Progress};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The gates of a plan, as a world has them.
pub fn gates(plan: &Plan) -> Vec<incast_world::Gate> {
    let gate = |gate: &Gate| incast_world::Gate {
        after: gate.flows.iter().map(|flow| FlowId(*flow)).collect(),
        gate: gate.gate.map(GateId::new),
        from: gate.from,
        delay: gate.delay,
    };
    plan.traffic.gates.iter().map(gate).collect()
}

/// All iterations of all collectives; `flows` are as in the run.
pub fn collectives(
    plan: &Plan,
    flows: &[FlowSetup],
    metas: &[FlowMeta],
    record: &RunRecord,
) -> Vec<Collective> {
    let groups = &plan.traffic.collectives;
    let run = Times {
        started: record.flows.iter().map(|flow| flow.started).collect(),
        ended: record.flows.iter().map(|flow| flow.completed).collect(),
    };
    let opened = opened(&plan.traffic.gates, &run);
    let ideal = ideal(plan, flows, metas, &opened);
    let mut before: Option<&CollectiveGroup> = None;
    let mut all = Vec::with_capacity(groups.len());
    for group in groups {
        let first = before.is_none_or(|before| before.number != group.number);
        let begin = match before.filter(|_| !first) {
            Some(before) => run.last(before),
            None => Some(group.at),
        };
        let gates = &opened[group.ready.start as usize..group.ready.end as usize];
        let mut ends: Vec<Option<Time>> = vec![None; group.ranks as usize];
        for message in &group.messages {
            let own = &mut ends[message.to as usize];
            *own = (*own).max(run.ended[message.flow as usize]);
        }
        let end = run.last(group);
        let slowest = end.and_then(|end| ends.iter().position(|own| *own == Some(end)));
        all.push(Collective {
            number: group.number,
            job: plan.collective_jobs.get(group.number as usize).cloned().unwrap_or_default(),
            iteration: group.iteration,
            kind: group.kind.name(),
            algorithm: group.algorithm.name(),
            ranks: group.ranks,
            bytes: group.bytes,
            bus_factor: group.kind.bus_factor(group.ranks),
            messages: group.messages.len() as u32,
            compute: group.compute,
            begin,
            start: run.first(group),
            end,
            slowest_rank: slowest.map(|rank| rank as u32),
            skew_start: gates.iter().all(Option::is_some).then(|| spread(gates)).flatten(),
            skew_end: end.and_then(|_| spread(&ends)),
            ideal: ideal.completion(group),
            path: begin.and_then(|begin| path(plan, group, &run, record, begin)),
        });
        before = Some(group);
    }
    all
}

/// From the first to the last of these.
fn spread(times: &[Option<Time>]) -> Option<Span> {
    let known = || times.iter().flatten();
    Some(known().max()?.since(*known().min()?))
}

/// When flows start and end, in a run or at best.
pub struct Times {
    /// By flow; none if it has not started.
    pub started: Vec<Option<Time>>,
    /// When it has arrived; none if it has not.
    pub ended: Vec<Option<Time>>,
}

impl Times {
    /// When the first message of an iteration starts.
    pub fn first(&self, group: &CollectiveGroup) -> Option<Time> {
        group.messages.iter().filter_map(|one| self.started[one.flow as usize]).min()
    }

    /// When its last one has arrived; none if some has not.
    pub fn last(&self, group: &CollectiveGroup) -> Option<Time> {
        let ends: Option<Vec<Time>> =
            group.messages.iter().map(|one| self.ended[one.flow as usize]).collect();
        ends?.into_iter().max()
    }

    fn completion(&self, group: &CollectiveGroup) -> Option<Span> {
        Some(self.last(group)?.since(self.first(group)?))
    }
}

/// When gates opened; none if they did not.
pub fn opened(gates: &[Gate], times: &Times) -> Vec<Option<Time>> {
    let mut opened: Vec<Option<Time>> = Vec::with_capacity(gates.len());
    for gate in gates {
        let ends = gate.flows.iter().map(|flow| times.ended[*flow as usize]);
        let earlier = gate.gate.map(|gate| opened[gate as usize]);
        let all: Option<Vec<Time>> = ends.chain(earlier).collect();
        let last = all.map(|all| all.into_iter().fold(gate.from, Time::max));
        opened.push(last.map(|last| last.saturating_add(gate.delay)));
    }
    opened
}

/// What happens to a message at best, in the order of what comes first at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// It is at its destination.
    Over,
    /// Its last byte has passed the network.
    Arrives,
    /// It may start.
    Ready,
}

/// When messages start and end if each takes its ideal time once its source's NIC has sent those before it, and its
/// destination's has received them. One iteration after the other, each as if it was alone and with its ranks ready when
/// they were (`opened` are all gates).
fn ideal(plan: &Plan, flows: &[FlowSetup], metas: &[FlowMeta], opened: &[Option<Time>]) -> Times {
    let (count, groups) = (flows.len(), &plan.traffic.collectives);
    let mut times = Times { started: vec![None; count], ended: vec![None; count] };
    let mut gates = gates(plan);
    for place in groups.iter().flat_map(|group| group.ready.clone()) {
        let from = opened[place as usize].unwrap_or(Time::NEVER);
        let (after, gate, delay) = (vec![], None, Span::ZERO);
        gates[place as usize] = incast_world::Gate { after, gate, from, delay };
    }
    let starts = flows.iter().map(|setup| (!setup.waits()).then_some(setup.flow.start));
    let mut starts: Vec<Option<Time>> = starts.collect();
    let mut progress = Progress::opening(flows, &gates, |at, flow| {
        starts[flow as usize] = Some(Time(at));
    });
    let hosts = plan.fabric.hosts() as usize;
    for group in groups {
        let (mut sends, mut receives) = (vec![Time::ZERO; hosts], vec![Time::ZERO; hosts]);
        let first = |one: &incast_workload::Message| {
            Some(Reverse((starts[one.flow as usize]?, Step::Ready, one.flow)))
        };
        let mut steps: BinaryHeap<_> = group.messages.iter().filter_map(first).collect();
        while let Some(Reverse((now, step, index))) = steps.pop() {
            let flow = &flows[index as usize].flow;
            let busy = |host: u32| wire_time(plan, host, flow.size);
            match step {
                _ if now == Time::NEVER => {}
                Step::Ready => {
                    times.started[index as usize] = Some(now);
                    let free = &mut sends[flow.src.0 as usize];
                    let start = now.max(*free);
                    *free = start.saturating_add(busy(flow.src.0));
                    let arrives = start.saturating_add(metas[index as usize].ideal_fct);
                    steps.push(Reverse((arrives, Step::Arrives, index)));
                }
                Step::Arrives => {
                    let last = &mut receives[flow.dst.0 as usize];
                    *last = now.max(last.saturating_add(busy(flow.dst.0)));
                    steps.push(Reverse((*last, Step::Over, index)));
                }
                Step::Over => {
                    times.ended[index as usize] = Some(now);
                    progress.complete(FlowId(index), now, flows, &mut |at, flow| {
                        steps.push(Reverse((Time(at), Step::Ready, flow)));
                    });
                }
            }
        }
    }
    times
}

/// How long a message occupies a host's link.
fn wire_time(plan: &Plan, host: u32, size: u64) -> Span {
    let framing = plan.site.framing;
    let charged = |payload: u64| u64::from(framing.charged_packet(payload as u16, 0));
    let (mss, rate) = (framing.mss() as u64, plan.fabric.host_rate(host));
    let rest = match size % mss {
        0 => 0,
        rest => charged(rest),
    };
    rate.tx_time(Bytes((size / mss).saturating_mul(charged(mss)).saturating_add(rest)))
}

/// What the end of an iteration waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Messages, by flow, the last one first: each started when the one behind it in this list arrived.
    pub flows: Vec<u32>,
    /// The computation before the first message.
    pub compute: Span,
    /// When that computation began.
    pub start: Time,
}

/// What a flow waited for last.
enum Before {
    /// This flow's arrival.
    Flow(u32),
    /// Its rank's computation, of which this gate is told.
    Computation(usize),
    /// A time of the scenario.
    Nothing,
}

/// What a flow waited for last before it started, if that is known.
fn before(traffic: &Traffic, group: &CollectiveGroup, times: &Times, flow: u32) -> Option<Before> {
    let started = times.started[flow as usize]?;
    let FlowSpec { start, gate, .. } = &traffic.flows[flow as usize];
    let Start::After { flows, .. } = start else { return Some(Before::Nothing) };
    let mut flows = flows.as_slice();
    let mut gate = *gate;
    // Gates that open at once lead to what they wait for.
    loop {
        if let Some(before) = flows.iter().find(|one| times.ended[**one as usize] == Some(started))
        {
            return Some(Before::Flow(*before));
        }
        let place = gate? as usize;
        if group.ready.contains(&(place as u32)) {
            return Some(Before::Computation(place));
        }
        (flows, gate) = (traffic.gates[place].flows.as_slice(), traffic.gates[place].gate);
    }
}

/// The flow whose arrival let a message of an iteration start; none if that was its rank's computation.
pub fn awaited(
    traffic: &Traffic,
    group: &CollectiveGroup,
    times: &Times,
    flow: u32,
) -> Option<u32> {
    match before(traffic, group, times, flow)? {
        Before::Flow(before) => Some(before),
        _ => None,
    }
}

/// The critical path of an iteration: from the message that arrived last back over whatever each waited for
/// longest, to where a rank began to compute. None if it is not complete.
pub fn chain(traffic: &Traffic, group: &CollectiveGroup, times: &Times) -> Option<Chain> {
    let end = times.last(group)?;
    let is_last = |one: &&incast_workload::Message| times.ended[one.flow as usize] == Some(end);
    let mut flows = vec![group.messages.iter().find(is_last)?.flow];
    loop {
        let at = *flows.last()?;
        let started = times.started[at as usize]?;
        match before(traffic, group, times, at)? {
            Before::Flow(before) => flows.push(before),
            Before::Computation(gate) => {
                let compute = traffic.gates[gate].delay;
                let start = Time(started.0.checked_sub(compute.0)?);
                return Some(Chain { flows, compute, start });
            }
            // The first iteration: its rank has computed since the collective began.
            Before::Nothing => {
                let compute = started.since(group.at);
                return Some(Chain { flows, compute, start: group.at });
            }
        }
    }
}

/// The critical path of an iteration that began when the one before it was over.
fn path(
    plan: &Plan,
    group: &CollectiveGroup,
    times: &Times,
    record: &RunRecord,
    begin: Time,
) -> Option<CriticalPath> {
    let Chain { flows, compute, start } = chain(&plan.traffic, group, times)?;
    let mut parts = Parts::default();
    for flow in &flows {
        parts.add(record.flows[*flow as usize].parts.as_ref()?);
    }
    Some(CriticalPath { messages: flows.len() as u32, compute, parts, ahead: begin.since(start) })
}
