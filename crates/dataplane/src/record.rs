//! What a run leaves behind.

use crate::line::Line;
use crate::node::{Medium, Node};
use incast_transport::{FlowId, FlowRecord, Probe, RunRecord, Span, Time};
use incast_world::Captured;

/// The record of a run that ended at `ended`, and the captures in order of time and port.
pub(crate) fn collect<I>(
    nodes: Vec<Node>,
    medium: &mut Medium<I>,
    ended: u64,
) -> (RunRecord, Vec<Captured>) {
    let tally = std::mem::take(&mut medium.tally);
    let mut lines: Vec<Line> = nodes.into_iter().flat_map(into_lines).collect();
    lines.sort_by_key(|line| line.port);
    let deliveries = [tally.deliveries.width()];
    let width = lines.iter().map(|line| line.series.width()).chain(deliveries).max().unwrap_or(1);
    let port = |line: Line| line.series.finish(line.port, ended, width);
    let flows = flows(&medium.probe);
    let mut record = RunRecord {
        decision_ages: vec![],
        complete: flows.iter().all(|flow| flow.completed.is_some()),
        flows,
        ports: lines.into_iter().map(port).collect(),
        interval: Span(width),
        series: vec![],
        shares: vec![],
        ended: Time(ended),
        interrupted: false,
        deadlock: vec![],
        silent_since: None,
        packet_hops: tally.hops,
        events: tally.frames,
        malformed: tally.malformed,
        link_losses: tally.link_losses,
    };
    tally.deliveries.finish(width, &mut record);
    (record, tally.captures.finish())
}

/// A node's lines, their records brought to the end.
fn into_lines(node: Node) -> Vec<Line> {
    match node {
        Node::Host(mut host) => {
            let marks = host.nic.map_or(0, |nic| nic.marks());
            host.line.series.set_marks(marks);
            vec![host.line]
        }
        Node::Switch(switch) => {
            let finish = |mut egress: crate::switch::Egress| {
                egress.line.series.set_marks(egress.handler.marks());
                egress.line
            };
            switch.egress.into_iter().map(finish).collect()
        }
    }
}

fn flows(probe: &Probe) -> Vec<FlowRecord> {
    let of = |(index, trace): (usize, &incast_transport::SenderTrace)| {
        let flow = FlowId(index as u32);
        FlowRecord {
            flow,
            started: trace.opened.then_some(Time(trace.started)),
            completed: None,
            parts: None,
            delivered: probe.bytes_delivered(flow),
            packets: trace.packets,
            retransmits: trace.retransmits,
            wasted: trace.wasted,
            // How old information is does not travel, and a transport may count only decisions
            // of known age: neither is reported.
            decisions: 0,
            decision_age: 0,
            decision_age_max: 0,
            control_packets: trace.control_packets,
            control_bytes: trace.control_bytes,
            extension_bytes: probe.extension_bytes(flow),
        }
    };
    let mut flows: Vec<FlowRecord> = probe.senders().iter().enumerate().map(of).collect();
    for outcome in probe.outcomes() {
        flows[outcome.flow.0 as usize].completed = Some(Time(outcome.completed));
    }
    flows
}
