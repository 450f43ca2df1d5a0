//! Probes, and from a probe to the record of a run, as both worlds do it.

use crate::series::MOST;
use crate::{Deliveries, FlowSetup, Options};
use incast_transport::{
    FlowId, FlowRecord, Histogram, Known, Probe, Routing, RunRecord, Time, TransportId,
};

/// A probe for all flows of a run.
pub fn new_probe(
    flows: &[FlowSetup],
    routing: &[(TransportId, Routing)],
    options: &Options,
) -> Probe {
    let mut probe = Probe::new(flows.len(), options.log_deliveries);
    probe.set_patience(options.patience.0);
    probe.expect(flows.iter().map(|setup| setup.flow.size));
    let place = |id| routing.iter().position(|(known, _)| *known == id);
    let transport = |flow: &FlowSetup| place(flow.transport).unwrap_or(0) as u8;
    probe.group(flows.iter().map(transport));
    if options.record_paths {
        probe.record_paths();
    }
    probe
}

/// Payload delivered over time, of watched flows for which `ends_here`.
pub fn new_deliveries(
    flows: &[FlowSetup],
    routing: &[(TransportId, Routing)],
    options: &Options,
    ends_here: impl Fn(&FlowSetup) -> bool,
) -> Deliveries {
    let transports = routing.iter().map(|(id, _)| *id);
    let watch = options.watch.iter().copied().filter(|flow| ends_here(&flows[flow.0 as usize]));
    let intervals = (options.series_start, options.interval);
    Deliveries::new(flows.len(), transports, intervals, watch)
}

/// A record of `flows` flows of which nothing is known yet.
pub fn empty_record(flows: usize) -> RunRecord {
    RunRecord { flows: (0..flows).map(unknown).collect(), ..RunRecord::default() }
}

fn unknown(index: usize) -> FlowRecord {
    FlowRecord {
        flow: FlowId(index as u32),
        started: None,
        completed: None,
        acknowledged: None,
        parts: None,
        last: None,
        delivered: 0,
        packets: 0,
        retransmits: 0,
        wasted: 0,
        decisions: 0,
        decision_age: 0,
        decision_age_max: 0,
        control_packets: 0,
        control_bytes: 0,
        extension_bytes: 0,
        reordering: None,
        paths: None,
    }
}

/// Adds what a probe knows to a record, which has no flows yet or all. `starts` tells of which flows the
/// probe has the sending side.
pub fn add_flows(record: &mut RunRecord, probe: Probe, starts: impl Fn(FlowId) -> bool) {
    let Known { ages, flows, outcomes } = probe.finish();
    record.decision_ages.resize(ages.len(), Histogram::new());
    record.decision_ages.iter_mut().zip(&ages).for_each(|(all, part)| all.join(part));
    // From the last one on: the probe's memory of a flow goes as its record comes.
    let new = record.flows.is_empty();
    record.flows.reserve_exact(if new { flows.len() } else { 0 });
    for (index, trace, received) in flows {
        if new {
            record.flows.push(unknown(index));
        }
        let place = if new { record.flows.len() - 1 } else { index };
        let flow = &mut record.flows[place];
        flow.delivered += received.delivered;
        flow.decisions += trace.decisions;
        flow.decision_age += trace.decision_age;
        flow.decision_age_max = flow.decision_age_max.max(trace.decision_age_max);
        flow.control_packets += trace.control_packets;
        flow.control_bytes += trace.control_bytes;
        flow.extension_bytes += received.extension_bytes;
        flow.reordering = flow.reordering.or(received.reordering);
        flow.paths = flow.paths.or(received.paths);
        if trace.opened && starts(flow.flow) {
            flow.started = Some(Time(trace.started));
            flow.acknowledged = trace.acknowledged;
            flow.packets = trace.packets;
            flow.retransmits = trace.retransmits;
            flow.wasted = trace.wasted;
        }
    }
    if new {
        record.flows.reverse();
    }
    for outcome in outcomes {
        let flow = &mut record.flows[outcome.flow.0 as usize];
        flow.completed = Some(Time(outcome.completed));
        flow.parts = Some(outcome.parts);
        flow.last = Some(outcome.last);
    }
}

/// Whether every flow that has an end is complete; the record is of these flows.
pub fn all_complete(record: &RunRecord, flows: &[FlowSetup]) -> bool {
    let pairs = record.flows.iter().zip(flows);
    pairs.into_iter().all(|(record, setup)| record.completed.is_some() || setup.is_endless())
}

/// The common width of series of these widths, in a run that ended so long after their start: a power of two times
/// the longest of them. A run may end long after the last thing happened.
pub fn common_width(widths: impl Iterator<Item = u64>, lived: u64) -> u64 {
    let mut width = widths.max().unwrap_or(1);
    while lived / width > MOST_SHOWN {
        width *= 2;
    }
    width
}

/// Intervals of a run at the most, counted to its end.
const MOST_SHOWN: u64 = 8 * MOST as u64;
