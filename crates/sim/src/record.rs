//! Merges the records of the partitions.

use crate::egress::Egress;
use crate::partition::Partition;
use incast_transport::{FlowId, PortRecord, RunRecord, Span, Time};
use incast_world::{Captured, Captures, add_flows, all_complete, common_width};

/// The record of a run that ended at `ended`, and the captured packets.
pub(crate) fn collect(parts: Vec<Partition>, ended: u64) -> (RunRecord, Vec<Captured>) {
    let mut record = RunRecord { ended: Time(ended), ..RunRecord::default() };
    let mut captures: Option<Captures> = None;
    let common = parts[0].net.transit.common.clone();
    let start = parts[0].net.transit.deliveries.start();
    let widths = parts.iter().flat_map(|part| {
        let net = &part.net;
        let ports = net.egress.made().map(|(_, egress)| egress.series.width());
        ports.chain([net.egress[0].series.width(), net.transit.deliveries.width()])
    });
    let width = common_width(widths, ended.saturating_sub(start));
    record.interval = Span(width);
    let mut executions: Vec<_> =
        parts.iter().flat_map(|part| part.openings.executions.records()).collect();
    executions.sort_by_key(|(number, _)| *number);
    record.executions = executions.into_iter().flat_map(|(_, own)| own).collect();
    for part in parts {
        let net = part.net;
        let transit = net.transit;
        let index = transit.border.index;
        let here = |node: u32| common.part_of(node) == index;
        record.packet_hops += transit.hops;
        record.events += part.events;
        record.link_losses += transit.link_losses;
        let starts_here = |flow: FlowId| here(common.flows[flow.0 as usize].flow.src.0);
        drop(transit.packets);
        add_flows(&mut record, transit.probe, starts_here);
        let first = record.ports.len();
        let own = common.fabric.ports().iter().zip(0..).filter(|(spec, _)| here(spec.node.0));
        record.ports.extend(own.map(|(_, port)| PortRecord { port, ..PortRecord::default() }));
        let mut own = record.ports[first..].iter_mut();
        for (port, Egress { mut series, .. }) in net.egress.into_made() {
            let node = common.fabric.ports()[port as usize].node.0;
            if !here(node) {
                continue;
            }
            let host = part.hosts.get(node as usize).and_then(|host| host.as_ref());
            let of_nic = || host.and_then(|host| host.end.marks());
            let handler = net.bodies.get(port as usize).and_then(|body| body.handler.as_ref());
            if let Some(marks) = handler.map(|handler| handler.marks()).or_else(of_nic) {
                series.set_marks(marks);
            }
            let place = own.find(|record| record.port == port);
            *place.expect("rows are in order") = series.finish(port, ended, width);
        }
        transit.deliveries.finish(width, &mut record);
        match &mut captures {
            Some(all) => all.join(transit.captures),
            None => captures = Some(transit.captures),
        }
    }
    record.ports.sort_by_key(|port| port.port);
    record.series.sort_by_key(|series| series.flow);
    let over = record.executions.iter().all(|own| own.ended.is_some());
    record.complete = over && all_complete(&record, &common.flows);
    let captured = captures.map_or(vec![], |captures| captures.finish(&mut record));
    (record, captured)
}
