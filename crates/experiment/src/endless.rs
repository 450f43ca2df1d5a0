//! Flows without an end: until when they send, and what is said of them.

use crate::Fault;
use crate::fault::wrong;
use crate::plan::Plan;
use incast_measure::Warning;
use incast_transport::{Bytes, FlowId, Time};
use incast_workload::{ENDLESS_FLOWS, FlowSpec, Origin};
use incast_world::{cut_for_good, epochs};

/// The flows that their applications end, and when.
pub fn stops(plan: &Plan) -> Vec<(FlowId, Time)> {
    let flows = plan.traffic.flows.iter().zip(0u32..);
    flows.filter_map(|(flow, index)| Some((FlowId(index), flow.stop?))).collect()
}

/// Refuses flows of more packets than have numbers.
///
/// # Errors
/// A flow that packets of this size make 2^32 of.
pub fn check_packets(plan: &Plan) -> Result<(), Fault> {
    let uniform = plan.traffic.flows.iter().enumerate().filter(|(_, flow)| flow.segments.is_none());
    let Some((index, largest)) = uniform.max_by_key(|(_, flow)| flow.size) else { return Ok(()) };
    let all = plan.cases.iter().flat_map(|case| &case.transports);
    let longest = all.map(|one| one.configured.extension()).max().unwrap_or(0);
    let payload = u64::from(plan.site.framing.mss().saturating_sub(longest).max(1));
    if largest.size.div_ceil(payload) < u64::from(u32::MAX) {
        return Ok(());
    }
    let most = Bytes((u64::from(u32::MAX) - 1) * payload);
    let problem = wrong(format!(
        "flow {index} of {} would be more packets of {payload} B than have numbers",
        Bytes(largest.size)
    ))
    .expected(format!("at most {most}, or a larger `mtu`"));
    Err(Fault::value("fabric.mtu", plan.scenario.fabric.mtu, problem))
}

/// Refuses a run that nothing ends.
///
/// # Errors
/// There is no `run.until`, and all flows are without an end, or one of the others may never be complete.
pub fn check(plan: &Plan) -> Result<(), Fault> {
    let flows = &plan.traffic.flows;
    let goes_on = |flow: &&FlowSpec| flow.is_endless() && flow.stop.is_none();
    let Some(index) = flows.iter().position(|flow| goes_on(&flow)) else { return Ok(()) };
    if plan.scenario.run.until.is_some() {
        return Ok(());
    }
    let why = if flows.iter().all(FlowSpec::is_endless) {
        "no flow of this run has one"
    } else if comes_apart(plan) {
        "the ends of another come apart for good, so that it may never be complete"
    } else {
        return Ok(());
    };
    let of_long = "`until` in traffic of kind `long`";
    let problem = wrong(format!("flow {index} has no end, and {why}"))
        .expected(format!("the end of the run, or {of_long}"));
    Err(Fault::at("run.until", problem))
}

/// Whether the ends of a flow that has an end come apart for good.
fn comes_apart(plan: &Plan) -> bool {
    let epochs = epochs(&plan.fabric);
    let apart =
        |flow: &FlowSpec| cut_for_good(&plan.fabric, &epochs, flow.src, flow.dst) != Time::NEVER;
    !epochs.is_empty() && plan.traffic.flows.iter().any(|flow| !flow.is_endless() && apart(flow))
}

/// Says of flows of files, or of given sizes, that they stand for flows without an end.
pub fn warning(plan: &Plan) -> Option<Warning> {
    let named = plan.traffic.flows.iter().filter(|flow| flow.is_endless());
    let flows = match named.filter(|flow| flow.origin == Origin::File).count() {
        0 => return None,
        1 => "1 flow".to_string(),
        several => format!("{several} flows"),
    };
    let ends = match plan.scenario.run.until {
        Some(until) => format!("the run ends at {until}"),
        None => "the run ends when all others are complete".to_string(),
    };
    Some(Warning::known(&ENDLESS_FLOWS.notice(&[("flows", &flows), ("ends", &ends)])))
}
