//! Flows whose ends are apart when they start, or come apart for good while they are open.

use crate::Fault;
use crate::fault::wrong;
use crate::plan::Plan;
use incast_fabric::{Fabric, Failure, NodeId};
use incast_transport::{Bytes, RunRecord, Span, Time};
use incast_workload::{FlowSpec, Start};
use incast_world::{Epoch, cut_for_good, epochs, last_repair};

/// Flows that are named one by one.
const NAMED: usize = 3;

/// Refuses flows without a path at their start or after a later repair, at the start of the run
/// for flows that wait for others; and those that are certainly open when their ends come apart for
/// good, unless the run ends at a given time.
pub fn check(plan: &Plan) -> Result<(), Fault> {
    let fabric = &*plan.fabric;
    let whole = Epoch { at: 0, routes: fabric.routes(), dead: vec![] };
    let epochs: Vec<_> = std::iter::once(whole).chain(epochs(fabric)).collect();
    let repaired = last_repair(fabric);
    for (index, flow) in plan.traffic.flows.iter().enumerate() {
        let start = match flow.start {
            Start::At(at) => at,
            Start::After { .. } | Start::Told => Time::ZERO,
        };
        let current = epochs.partition_point(|one| one.at <= start.0).max(1) - 1;
        let since = Time(epochs[current].at);
        let reaches = |one: &Epoch| one.connects(fabric, flow.src, flow.dst);
        let later = if repaired > Some(since.0) { &epochs[current + 1..] } else { &[] };
        if !reaches(&epochs[current]) && !later.iter().any(reaches) {
            let (src, dst, name) = (flow.src, flow.dst, fabric.name());
            let why = match current {
                0 => String::new(),
                _ => format!(", with the links that failed by {since}"),
            };
            return Err(Fault::new(format!(
                "flow {index}: host {dst} cannot be reached from host {src} in {name}{why}"
            )));
        }
        if plan.scenario.run.until.is_none() && !flow.is_endless() {
            check_end(fabric, &epochs, index, flow)?;
        }
    }
    Ok(())
}

/// Refuses a flow that is certainly open when its ends come apart for good.
fn check_end(
    fabric: &Fabric,
    epochs: &[Epoch],
    index: usize,
    flow: &FlowSpec,
) -> Result<(), Fault> {
    let cut = cut_for_good(fabric, epochs, flow.src, flow.dst);
    let Start::At(start) = flow.start else { return Ok(()) };
    if cut == Time::NEVER {
        return Ok(());
    }
    let rate = fabric.host_rate(flow.src).min(fabric.host_rate(flow.dst));
    // Longer than any run where a huge flow meets a slow link.
    let least = flow.size as u128 * 8_000_000_000_000 / rate.0.max(1) as u128;
    let least = Span(least.min(u64::MAX as u128) as u64);
    if start.saturating_add(least) <= cut {
        return Ok(());
    }
    Err(Fault::at(
        "fabric.failures",
        wrong(format!(
            "{}, and its {} take {least} or more from {start} on: it cannot end",
            why(fabric, cut, index, flow),
            Bytes(flow.size)
        ))
        .expected("a repair (`repair_after`), or `run.until`, where the run ends all the same"),
    ))
}

/// Which flow is cut off, by which links and when.
fn why(fabric: &Fabric, cut: Time, index: usize, flow: &FlowSpec) -> String {
    let link = |one: &Failure| {
        let port = fabric.port(one.port);
        let mut ends = [port.node, port.peer];
        ends.sort_unstable();
        format!("{} - {}", fabric.node_name(ends[0]), fabric.node_name(ends[1]))
    };
    let failed = fabric.failures().iter().filter(|one| one.at == cut);
    let mut links: Vec<String> = failed.map(link).collect();
    links.dedup();
    let what = match links.as_slice() {
        [one] => format!("link {one} failed"),
        several => format!("links {} failed", several.join(", ")),
    };
    let [src, dst] = [flow.src, flow.dst].map(|host| fabric.node_name(NodeId(host)));
    format!("flow {index} ({src} to {dst}): {what} at {cut} for good")
}

/// The flows of a run that could not end, with the links and the time; the first few of them.
pub fn cut_off(plan: &Plan, record: &RunRecord) -> Vec<String> {
    let epochs = epochs(&plan.fabric);
    let flows = plan.traffic.flows.iter().zip(&record.flows).enumerate();
    let mut cut = flows.filter_map(|(index, (flow, own))| {
        let open = own.started.is_some() && own.completed.is_none();
        let at = open.then(|| cut_for_good(&plan.fabric, &epochs, flow.src, flow.dst))?;
        (at < record.ended).then(|| why(&plan.fabric, at, index, flow))
    });
    let mut all: Vec<String> = cut.by_ref().take(NAMED).collect();
    match cut.count() {
        0 => {}
        1 => all.push("1 more flow".into()),
        more => all.push(format!("{more} more flows")),
    }
    all
}
