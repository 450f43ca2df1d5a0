//! What is known of one flow.

use crate::control::{ControlPoint, Silence, control, silences};
use crate::events::{events, kind_name};
use crate::fronts::{HopFacts, PortWait, hops, port_waits};
use crate::pauses::{PauseFacts, pauses};
use crate::verdict::verdict;
use incast_measure::Run;
use incast_measure::columns::place;
use incast_transport::{EventKind, Parts, TraceEvent, flag};
use serde::Serialize;

/// The parts of a completion time: column of `flows.parquet` without `_ps`, and what it is.
pub const PART_NAMES: [(&str, &str); 14] = [
    ("nic_own", "its NIC sent its own packets"),
    ("nic_other", "its NIC sent other flows' packets"),
    ("blocked_ready", "its NIC was idle and no reason is known (start, pause)"),
    ("blocked_grant", "it waited for a grant, token or pull"),
    ("blocked_credit", "it waited for a credit"),
    ("blocked_window", "its window was full"),
    ("blocked_pacing", "it was paced"),
    ("recovery", "recovery from losses"),
    ("serialisation", "serialisation of the last packet on every link"),
    ("propagation", "propagation of the last packet"),
    ("queue_nic", "the last packet waited in NICs"),
    ("queue_edge", "the last packet waited in edge switches"),
    ("queue_aggregation", "the last packet waited in aggregation switches"),
    ("queue_core", "the last packet waited in core switches"),
];

/// The parts in the order of [`PART_NAMES`], picoseconds.
pub(crate) fn values(parts: &Parts) -> [u64; 14] {
    let [ready, grant, credit, window, pacing] = parts.blocked;
    let [nic, edge, aggregation, core] = parts.queueing;
    let Parts { nic_own, nic_other, recovery, serialisation, propagation, .. } = *parts;
    let sender = [nic_own, nic_other, ready, grant, credit, window, pacing, recovery];
    let path = [serialisation, propagation, nic, edge, aggregation, core];
    let mut all = [0; 14];
    all[..8].copy_from_slice(&sender);
    all[8..].copy_from_slice(&path);
    all
}

/// What flow it is. Times in picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowFacts {
    /// Its number.
    pub id: u32,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload.
    pub size_bytes: u64,
    /// Its transport.
    pub transport: String,
    /// Start; `None` if it did not start.
    pub start_ps: Option<u64>,
    /// Completion time; `None` if it is incomplete.
    pub fct_ps: Option<u64>,
    /// Completion time alone on an empty network.
    pub ideal_ps: u64,
    /// One over the other.
    pub slowdown: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub packets: u32,
    /// Retransmissions.
    pub retransmits: u32,
    /// Nodes on its path, as in `flows.parquet`: as the routes were at the start of the run.
    pub path: String,
}

impl FlowFacts {
    /// Of a flow of a run.
    pub fn of(run: &Run, flow: u32) -> FlowFacts {
        let (at, meta, record) =
            (flow as usize, &run.flows[flow as usize], &run.record.flows[flow as usize]);
        FlowFacts {
            id: flow,
            src: meta.src,
            dst: meta.dst,
            size_bytes: meta.size_bytes,
            transport: run.transports[meta.transport as usize].clone(),
            start_ps: record.started.map(|start| start.0),
            fct_ps: run.fct(at).map(|fct| fct.0),
            ideal_ps: meta.ideal_fct.0,
            slowdown: run.slowdown(at),
            packets: record.packets,
            retransmits: record.retransmits,
            path: meta.path.to_string(),
        }
    }
}

impl Explanation {
    /// The nodes that the packet which completed the flow has passed, in the form of `path`.
    pub fn way(&self) -> String {
        let source = match self.flow.path.split_once('>') {
            Some((source, _)) => source.to_string(),
            None => format!("host{}", self.flow.src),
        };
        let ports: Vec<_> = self.hops.iter().filter_map(|hop| hop.port.split_once("->")).collect();
        let Some((first, _)) = ports.first() else { return self.flow.path.clone() };
        let begin = std::iter::once(&*source).chain((*first != source).then_some(*first));
        begin.chain(ports.iter().map(|(_, to)| *to)).collect::<Vec<_>>().join(">")
    }
}

/// A part of the completion time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartFacts {
    /// Column of `flows.parquet` without `_ps`.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// How long.
    pub ps: u64,
    /// Share of the completion time.
    pub share: f64,
}

/// A lost packet of the flow, or its lost payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossFacts {
    /// When, since the flow's start.
    pub after_ps: u64,
    /// Where: a port.
    pub port: String,
    /// `dropped`, `trimmed`, `bounced` or `lost` (on the link).
    pub how: &'static str,
    /// Kind of packet: `Data`, `ACK`, or the name of its header, which is `Segment` for a notification
    /// of congestion.
    pub packet: &'static str,
    /// Its number.
    pub number: u32,
    /// Whether it was a retransmission itself.
    pub retransmission: bool,
    /// The port's queue then, bytes.
    pub queue_bytes: Option<u64>,
}

/// Why a flow took as long as it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What run it is of.
    pub run: String,
    /// The flow.
    pub flow: FlowFacts,
    /// The answer in sentences, what took longest first.
    pub verdict: Vec<String>,
    /// Where the time went, as the columns of `flows.parquet`; the parts add up to the completion
    /// time. Empty if the flow is incomplete.
    pub parts: Vec<PartFacts>,
    /// The port at which the last packet waited longest, as the columns say, and how long.
    pub worst_port: Option<(String, u64)>,
    /// The way of the packet that completed the flow, port by port.
    pub hops: Vec<HopFacts>,
    /// All waits of all its data packets, by port: they overlap, and are no part of the completion
    /// time.
    pub waits: Vec<PortWait>,
    /// What was lost of it, control packets too.
    pub losses: Vec<LossFacts>,
    /// When its source sent no data for a base RTT or more, and what ended that.
    pub silences: Vec<Silence>,
    /// Pauses that its packets waited for.
    pub pauses: Vec<PauseFacts>,
    /// What its congestion control knew and decided.
    pub control: Vec<ControlPoint>,
    /// The other flows that are named.
    pub others: Vec<FlowFacts>,
    /// What is incomplete or uncertain about this explanation.
    pub notes: Vec<String>,
}

impl Explanation {
    /// Of a flow of a run whose trace has the flow's events at its hosts and on its path. Panics if
    /// the run has no such flow.
    pub fn of(run: &Run, flow: u32) -> Explanation {
        let facts = FlowFacts::of(run, flow);
        let record = &run.record.flows[flow as usize];
        let total = facts.fct_ps.unwrap_or(0);
        let share = |ps: u64| if total > 0 { ps as f64 / total as f64 } else { 0.0 };
        let parts = record.parts.iter().flat_map(|parts| PART_NAMES.into_iter().zip(values(parts)));
        let parts: Vec<PartFacts> = parts
            .map(|((name, meaning), ps)| PartFacts { name, meaning, ps, share: share(ps) })
            .collect();
        let worst = record.last.filter(|last| last.worst_wait > 0);
        let start = facts.start_ps.unwrap_or(0);
        let mut all = Explanation {
            run: run.label.clone(),
            worst_port: worst
                .map(|last| (run.ports[last.worst_port as usize].name.clone(), last.worst_wait)),
            hops: hops(run, flow),
            waits: port_waits(run, flow),
            losses: losses(run, flow, start),
            silences: silences(run, flow),
            pauses: pauses(run, flow),
            control: control(run, flow),
            verdict: vec![],
            others: vec![],
            notes: vec![],
            flow: facts,
            parts,
        };
        all.note(run);
        all.name_others(run);
        all.verdict = verdict(&all, run.base_rtt.0);
        all
    }

    /// What is uncertain.
    fn note(&mut self, run: &Run) {
        match &run.record.trace {
            None => self.notes.push("the run has no trace: only its columns are known".into()),
            Some(trace) if trace.cut_at.is_some() => {
                let until = trace.events.last().map_or(0, |event| event.at.0);
                self.notes.push(format!(
                    "the trace was cut off at {} events, {} into the run: what came later is missing",
                    trace.events.len(),
                    crate::words::time(until)
                ));
            }
            Some(_) => {}
        }
        if self.flow.fct_ps.is_none() {
            self.notes.push("the flow did not complete: there is no breakdown of its time".into());
        }
    }

    /// Looks up the flows that were in front, or held a link.
    fn name_others(&mut self, run: &Run) {
        let fronts = self.hops.iter().flat_map(|hop| &hop.fronts);
        let waits = self.waits.iter().flat_map(|wait| &wait.fronts);
        let flows = fronts.chain(waits).filter_map(|front| front.flow);
        let held = self.pauses.iter().flat_map(|pause| &pause.holders).map(|holder| holder.flow);
        let mut known: Vec<u32> = flows.chain(held).filter(|flow| *flow != self.flow.id).collect();
        known.sort_unstable();
        known.dedup();
        self.others = known.into_iter().map(|flow| FlowFacts::of(run, flow)).collect();
    }

    /// One part of the completion time, picoseconds.
    pub fn part(&self, name: &str) -> u64 {
        self.parts.iter().find(|part| part.name == name).map_or(0, |part| part.ps)
    }
}

fn losses(run: &Run, flow: u32, start: u64) -> Vec<LossFacts> {
    use EventKind::{Bounced, Dropped, Lost, Trimmed};
    let lost = |event: &&TraceEvent| matches!(event.kind, Dropped | Trimmed | Bounced | Lost);
    let one = |event: &TraceEvent| {
        let packet = event.packet.as_ref()?;
        Some(LossFacts {
            after_ps: event.at.0.saturating_sub(start),
            port: place(run, event).to_string(),
            how: event.kind.name(),
            packet: kind_name(packet),
            number: packet.number,
            retransmission: packet.flags & flag::RETRANSMIT != 0,
            queue_bytes: event.queue,
        })
    };
    events(run, flow).filter(lost).filter_map(one).collect()
}

impl Explanation {
    /// Takes who held the links that were paused from a run with a trace of the switches that paused
    /// them, and says it.
    pub fn add_holders(&mut self, run: &Run) {
        crate::pauses::add_holders(run, &mut self.pauses);
        self.name_others(run);
        self.verdict = verdict(self, run.base_rtt.0);
    }
}
