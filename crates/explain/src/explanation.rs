//! What is known of one flow.

use crate::control::{ControlPoint, Silence};
use crate::fronts::{HopFacts, PortWait};
use crate::pauses::PauseFacts;
use incast_measure::Run;
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
    /// One part of the completion time, picoseconds.
    pub fn part(&self, name: &str) -> u64 {
        self.parts.iter().find(|part| part.name == name).map_or(0, |part| part.ps)
    }

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
