//! What a run leaves behind.

use crate::PacketIo;
use crate::line::Line;
use crate::medium::Medium;
use crate::node::Node;
use incast_transport::{RunRecord, Span, Time};
use incast_world::{Captured, add_flows, all_complete, common_width};

/// The record of a run that ended at `ended`, and the captures in order of time and port.
pub(crate) fn collect<I: PacketIo>(
    mut nodes: Vec<Node<I>>,
    medium: &mut Medium<I>,
    ended: u64,
) -> (RunRecord, Vec<Captured>) {
    nodes.iter_mut().for_each(|node| node.give_frames_back(&mut medium.io));
    let tally = std::mem::take(&mut medium.tally);
    let mut lines: Vec<Line> = nodes.into_iter().flat_map(into_lines).collect();
    lines.sort_by_key(|line| line.port);
    let deliveries = [tally.deliveries.width()];
    let widths = lines.iter().map(|line| line.series.width()).chain(deliveries);
    let width = common_width(widths, ended.saturating_sub(tally.deliveries.start()));
    let mut record = RunRecord::default();
    add_flows(&mut record, std::mem::take(&mut medium.probe), |_| true);
    if !medium.trails {
        forget_paths(&mut record);
    }
    record.complete = all_complete(&record, &medium.flows);
    record.ports =
        lines.into_iter().map(|line| line.series.finish(line.port, ended, width)).collect();
    record.interval = Span(width);
    record.ended = Time(ended);
    record.packet_hops = tally.hops;
    record.events = tally.frames;
    record.malformed = tally.malformed;
    record.link_losses = tally.link_losses;
    tally.deliveries.finish(width, &mut record);
    let captured = tally.captures.finish(&mut record);
    (record, captured)
}

/// Without trails only bytes come: where the time of a flow went and how old its information was
/// is not known. A transport may count only decisions of known age, so neither is their number.
fn forget_paths(record: &mut RunRecord) {
    record.decision_ages.clear();
    for flow in &mut record.flows {
        (flow.parts, flow.last, flow.decisions) = (None, None, 0);
        (flow.decision_age, flow.decision_age_max) = (0, 0);
    }
}

/// A node's lines, their records brought to the end.
fn into_lines<I: PacketIo>(node: Node<I>) -> Vec<Line> {
    match node {
        Node::Host(mut host) => {
            host.line.series.set_marks(host.end.marks().unwrap_or(0));
            vec![host.line]
        }
        Node::Switch(switch) => {
            let finish = |mut egress: crate::switch::Egress| {
                egress.line.series.set_marks(egress.handler.marks());
                egress.line
            };
            switch.egress.into_iter().map(finish).collect()
        }
        Node::Elsewhere => vec![],
    }
}
