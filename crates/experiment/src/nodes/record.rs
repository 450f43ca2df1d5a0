//! What each node of a testbed records, and the record of all.

use super::{Kept, Node};
use crate::plan::Plan;
use incast_dataplane::Outside;
use incast_transport::{Bin, Histogram, Pauses, PortRecord, RunRecord, Span, Time};
use incast_world::empty_record;
use serde::{Deserialize, Serialize};

/// What one node has seen. Times in picoseconds from the start of the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Its name.
    pub name: String,
    /// Its number.
    #[serde(default)]
    pub id: Option<u32>,
    /// How it kept time.
    #[serde(default)]
    pub kept: Option<Kept>,
    /// When it ended.
    pub ended: u64,
    /// Width of the intervals.
    pub interval: u64,
    /// Packets sent.
    pub packet_hops: u64,
    /// Frames received.
    pub frames: u64,
    /// Frames that were refused.
    pub malformed: u64,
    /// Packets lost on links.
    pub link_losses: u64,
    /// Those of them for which there was no packet memory.
    #[serde(default)]
    pub exhausted: u64,
    /// Processor time of the run, seconds.
    pub cpu_s: f64,
    /// Real time of the run, seconds.
    pub wall_s: f64,
    /// Flows that start or end here.
    pub flows: Vec<FlowPart>,
    /// Its ports.
    pub ports: Vec<PortPart>,
    /// Frames at its interfaces.
    pub interfaces: Vec<Interface>,
    /// Its cores, if its ports are spread over several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<CorePart>,
}

/// What one core of a switch did.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CorePart {
    /// Its number.
    pub core: usize,
    /// Ports that it polled and served.
    pub ports: Vec<u32>,
    /// Packets that it sent.
    pub packets: u64,
    /// Frames that it handed over to the other cores.
    pub crossed: u64,
    /// Frames that it took from the other cores.
    #[serde(default)]
    pub taken: u64,
    /// Frames from the other cores that were still on their way when the run was over.
    #[serde(default)]
    pub unread: u64,
    /// Processor time, seconds.
    pub cpu_s: f64,
}

/// What a node knows of a flow.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FlowPart {
    flow: u32,
    started: Option<u64>,
    completed: Option<u64>,
    acknowledged: Option<u64>,
    delivered: u64,
    packets: u32,
    retransmits: u32,
    wasted: u32,
    control_packets: u32,
    control_bytes: u64,
    extension_bytes: u64,
}

/// An interval of a port: bytes and packets sent, marks, drops, dropped credits, trims, largest
/// backlog, backlog times time, paused time.
type BinRow = (u64, u32, u32, u32, u32, u32, u64, u128, u64);

/// A port's series.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortPart {
    port: u32,
    bins: Vec<BinRow>,
    /// Per interval: paused time by class, frames that pause, frames that resume.
    pauses: Vec<([u64; 8], u32, u32, u32)>,
    /// Backlogs at random instants, and how often.
    backlogs: Vec<(u64, u64)>,
}

/// Frames at an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Interface {
    /// The port.
    pub port: u32,
    /// Frames that the interface took.
    pub sent: u64,
    /// Frames received, the unread ones included.
    pub received: u64,
    /// Frames that were there when the run was over.
    pub unread: u64,
    /// Frames of other programs.
    pub foreign: u64,
    /// Frames that the interface refused.
    pub refused: u64,
    /// Frames that came while the kernel's buffer was full.
    pub dropped: u64,
}

impl Interface {
    /// At the part of a node's ports in which the port is.
    pub(super) fn of(port: u32, parts: &mut [impl Outside]) -> Interface {
        let count = parts.iter_mut().find_map(|io| io.count(port)).unwrap_or_default();
        let incast_dataplane::PortCount { sent, received, unread, foreign, refused, dropped } =
            count;
        Interface { port, sent, received, unread, foreign, refused, dropped }
    }
}

impl NodeRecord {
    /// Share of a core that its process took.
    pub fn cpu_share(&self) -> f64 {
        self.cpu_s / self.wall_s.max(1e-9)
    }

    /// Payload delivered here.
    pub fn delivered(&self) -> u64 {
        self.flows.iter().map(|flow| flow.delivered).sum()
    }

    /// Whether flows start or end here.
    pub fn has_flows(&self) -> bool {
        !self.flows.is_empty()
    }

    /// Whether the ends of flows that are here know that they are complete.
    pub fn is_complete(&self) -> bool {
        let ended = |flow: &FlowPart| flow.completed.is_some() || flow.acknowledged.is_some();
        self.flows.iter().all(ended)
    }

    /// The part of a node in the record of its process.
    pub fn of(plan: &Plan, node: &Node, record: &RunRecord) -> NodeRecord {
        let own = plan.fabric.ports_of(node.id);
        let here = |flow: u32| {
            let spec = &plan.traffic.flows[flow as usize];
            [spec.src, spec.dst].contains(&node.id.0)
        };
        let flows = record.flows.iter().filter(|flow| here(flow.flow.0)).map(|flow| FlowPart {
            flow: flow.flow.0,
            started: flow.started.map(|at| at.0),
            completed: flow.completed.map(|at| at.0),
            acknowledged: flow.acknowledged.map(|at| at.0),
            delivered: flow.delivered,
            packets: flow.packets,
            retransmits: flow.retransmits,
            wasted: flow.wasted,
            control_packets: flow.control_packets,
            control_bytes: flow.control_bytes,
            extension_bytes: flow.extension_bytes,
        });
        NodeRecord {
            name: node.name.clone(),
            id: Some(node.id.0),
            ended: record.ended.0,
            interval: record.interval.0,
            packet_hops: record.packet_hops,
            frames: record.events,
            malformed: record.malformed,
            link_losses: record.link_losses,
            flows: flows.collect(),
            ports: record
                .ports
                .iter()
                .filter(|p| own.contains(&p.port))
                .map(PortPart::of)
                .collect(),
            ..NodeRecord::default()
        }
    }
}

impl NodeRecord {
    /// The record of a switch from those of its cores.
    pub(super) fn of_cores(parts: Vec<(NodeRecord, CorePart)>) -> NodeRecord {
        let interval = parts.iter().map(|(part, _)| part.interval).max().unwrap_or(1).max(1);
        let mut all = NodeRecord { interval, ..NodeRecord::default() };
        for (part, core) in parts {
            let times = interval / part.interval.max(1);
            let own = part.ports.iter().filter(|port| core.ports.contains(&port.port));
            all.ports.extend(own.map(|port| PortPart::of(&port.series(times))));
            (all.name, all.id) = (part.name, part.id);
            all.ended = all.ended.max(part.ended);
            all.packet_hops += part.packet_hops;
            all.frames += part.frames;
            all.malformed += part.malformed;
            all.link_losses += part.link_losses;
            all.exhausted += part.exhausted;
            all.flows = part.flows;
            all.cores.push(core);
        }
        all.ports.sort_by_key(|port| port.port);
        all
    }
}

impl PortPart {
    fn of(port: &PortRecord) -> PortPart {
        let bin = |bin: &Bin| {
            let Bin { sent_bytes, sent_packets, marks, drops, credit_drops, trims, .. } = *bin;
            let Bin { backlog_max, backlog_area, paused, .. } = *bin;
            let first = (sent_bytes, sent_packets, marks, drops, credit_drops, trims);
            let (a, b, c, d, e, f) = first;
            (a, b, c, d, e, f, backlog_max, backlog_area, paused)
        };
        let pause = |one: &Pauses| (one.paused, one.pause_frames, one.resume_frames, one.storms);
        PortPart {
            port: port.port,
            bins: port.bins.iter().map(bin).collect(),
            pauses: port.pauses.iter().map(pause).collect(),
            backlogs: port.backlogs.values().collect(),
        }
    }

    /// The series in intervals `times` as wide; a power of two.
    fn series(&self, times: u64) -> PortRecord {
        let bins = self.bins.iter().map(|&(a, b, c, d, e, f, g, h, i)| Bin {
            sent_bytes: a,
            sent_packets: b,
            marks: c,
            drops: d,
            credit_drops: e,
            trims: f,
            backlog_max: g,
            backlog_area: h,
            paused: i,
        });
        let bins = widened(bins.collect(), times, |a, b| a.join(b));
        let pauses = self.pauses.iter().map(|&(paused, pause_frames, resume_frames, storms)| {
            Pauses { paused, pause_frames, resume_frames, storms }
        });
        let pauses = widened(pauses.collect(), times, |a, b| a.join(b));
        let (mut total, mut total_pauses) = (Bin::default(), Pauses::default());
        bins.iter().for_each(|bin| total.join(bin));
        pauses.iter().for_each(|one| total_pauses.join(one));
        let mut backlogs = Histogram::new();
        self.backlogs.iter().for_each(|&(value, count)| backlogs.add_many(value, count));
        PortRecord { port: self.port, total, bins, total_pauses, pauses, backlogs }
    }
}

/// Each `times` intervals in one.
fn widened<T: Clone>(bins: Vec<T>, times: u64, join: impl Fn(&mut T, &T)) -> Vec<T> {
    let group = |group: &[T]| {
        let (first, rest) = group.split_first().expect("a chunk is not empty");
        let mut sum = first.clone();
        rest.iter().for_each(|one| join(&mut sum, one));
        sum
    };
    bins.chunks(times as usize).map(group).collect()
}

/// The record of a run from those of its nodes. What no node knows - where the time of flows went,
/// and how old information was - is missing.
pub fn gather(plan: &Plan, nodes: &[NodeRecord]) -> RunRecord {
    let mut record = empty_record(plan.traffic.flows.len());
    let interval = nodes.iter().map(|node| node.interval).max().unwrap_or(1).max(1);
    for node in nodes {
        for part in &node.flows {
            let flow = &mut record.flows[part.flow as usize];
            flow.started = flow.started.or(part.started.map(Time));
            flow.completed = flow.completed.or(part.completed.map(Time));
            flow.acknowledged = flow.acknowledged.or(part.acknowledged.map(Time));
            flow.delivered += part.delivered;
            flow.packets += part.packets;
            flow.retransmits += part.retransmits;
            flow.wasted += part.wasted;
            flow.control_packets += part.control_packets;
            flow.control_bytes += part.control_bytes;
            flow.extension_bytes += part.extension_bytes;
        }
        let times = interval / node.interval.max(1);
        record.ports.extend(node.ports.iter().map(|port| port.series(times)));
        record.packet_hops += node.packet_hops;
        record.events += node.frames;
        record.malformed += node.malformed;
        record.link_losses += node.link_losses;
        record.ended = record.ended.max(Time(node.ended));
    }
    record.ports.sort_by_key(|port| port.port);
    record.interval = Span(interval);
    record.series_start = plan.series_start();
    let mut pairs = record.flows.iter().zip(&plan.traffic.flows);
    record.complete = pairs.all(|(record, flow)| record.completed.is_some() || flow.is_endless());
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, prepare};
    use incast_dataplane::run_virtual;

    /// The parts of all nodes make the record of the whole, but for what needs both ends.
    #[test]
    fn the_parts_make_the_whole() {
        let text = "[fabric]\ntopology = \"dumbbell:2x2\"\nrate = \"1Gbps\"\n[transport]\n\
                    names = [\"dctcp\"]\n[[traffic]]\nkind = \"incast\"\nreceiver = 3\nsize = \"200KB\"\n";
        let plan = Plan::new(Scenario::parse(text, "test", &[]).unwrap()).unwrap();
        let (mut whole, _) = run_virtual(prepare(&plan, &plan.cases[0], vec![]).unwrap());
        assert!(whole.complete && whole.flows.len() == 3);
        let parts: Vec<NodeRecord> = (0..plan.fabric.nodes())
            .map(|id| {
                let id = incast_fabric::NodeId(id);
                let name = plan.fabric.node_name(id);
                let node = Node { id, name, ports: vec![], past_switch: false };
                let part = NodeRecord::of(&plan, &node, &whole);
                let json = serde_json::to_string(&part).unwrap();
                let mut part: NodeRecord = serde_json::from_str(&json).unwrap();
                // In processes of their own, a source knows of its packets, a destination of bytes.
                for flow in &mut part.flows {
                    let source = plan.traffic.flows[flow.flow as usize].src == node.id.0;
                    if source {
                        (flow.completed, flow.delivered, flow.extension_bytes) = (None, 0, 0);
                        (flow.control_packets, flow.control_bytes) = (0, 0);
                    } else {
                        (flow.started, flow.acknowledged) = (None, None);
                        (flow.packets, flow.retransmits, flow.wasted) = (0, 0, 0);
                    }
                }
                (part.packet_hops, part.frames) = (0, 0);
                part
            })
            .collect();
        let record = gather(&plan, &parts);
        for flow in &mut whole.flows {
            (flow.parts, flow.last, flow.decisions) = (None, None, 0);
            (flow.decision_age, flow.decision_age_max) = (0, 0);
            flow.reordering = None;
        }
        assert_eq!(record.flows, whole.flows);
        assert_eq!(record.ports, whole.ports);
        assert_eq!((record.interval, record.complete), (whole.interval, true));
    }
}
