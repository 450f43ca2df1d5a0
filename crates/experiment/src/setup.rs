//! The world of one case, before it runs and after.

use crate::chosen::check_flows;
use crate::mix::of_policies;
use crate::plan::{Case, Plan};
use crate::{Fault, collectives, connections, endless, programs, queues, trace};
use incast_transport::{Flow, FlowId, HostId, RunRecord, Segments, Span, Time};
use incast_workload::{FlowSpec, Start};
use incast_world::{FlowSetup, GateId, Monitor, Options, Setup, TraceLog, assemble};
use std::sync::{Arc, atomic::Ordering};

/// When a flow starts if it waits for no other.
fn start(flow: &FlowSpec) -> Time {
    match flow.start {
        Start::At(at) => at,
        Start::After { .. } | Start::Told => Time::NEVER,
    }
}

/// The flows of one case, as a world has them.
pub(crate) fn setups<'a>(plan: &'a Plan, case: &'a Case) -> impl Iterator<Item = FlowSetup> + 'a {
    let connections = connections::of(&plan.traffic.flows);
    let flows = plan.traffic.flows.iter().zip(&case.transport_of).zip(connections).enumerate();
    flows.map(|(index, ((flow, transport), connection))| FlowSetup {
        flow: Flow {
            id: FlowId(index as u32),
            src: HostId(flow.src),
            dst: HostId(flow.dst),
            size: flow.size,
            start: start(flow),
            segments: segments(plan, flow),
            burst: flow.burst,
            connection: connection.map(|(connection, _)| connection),
        },
        transport: case.transports[*transport as usize].info.id,
        after: match &flow.start {
            Start::After { flows, .. } => flows.iter().map(|f| FlowId(*f)).collect(),
            Start::At(_) | Start::Told => vec![],
        },
        delay: match flow.start {
            Start::After { delay, .. } => delay,
            Start::At(_) | Start::Told => Span::ZERO,
        },
        gate: flow.gate.map(GateId::new),
        cut: Time::NEVER,
    })
}

/// How a case is run. `capture` are ports whose packets are kept.
pub(crate) fn options(plan: &Plan, case: &Case, capture: Vec<u32>) -> Result<Options, Fault> {
    let run = &plan.scenario.run;
    let base_rtt = plan.site.base_rtt;
    let silent = plan.traffic.silent_after_first_rtt.iter().map(|host| {
        let own = plan.traffic.flows.iter().filter(|flow| flow.src == *host).map(start);
        (*host, own.min().unwrap_or(Time::ZERO).saturating_add(base_rtt))
    });
    let watch = run.watch.0.unwrap_or(case.watched()) as usize;
    Ok(Options {
        seed: run.seed,
        until: run.until.map_or(Time::NEVER, |until| Time(until.0)),
        drain: base_rtt.saturating_mul(4),
        interval: plan.interval(),
        series_start: plan.series_start(),
        watch: (0..plan.traffic.flows.len().min(watch) as u32).map(FlowId).collect(),
        capture,
        capture_limit: usize::try_from(plan.scenario.output.pcap_limit).unwrap_or(usize::MAX),
        capture_flows: plan.scenario.output.pcap_flows.iter().copied().collect(),
        silent: silent.collect(),
        storms: crate::buffers::storms(&plan.scenario.fabric, &plan.fabric)?,
        stops: endless::stops(plan),
        pfc: plan.pfc.clone(),
        queues: queues::of_case(plan, case)?,
        hosts: plan.hosts.clone(),
        paths: plan.paths.clone(),
        record_paths: plan.scenario.output.paths,
        marking: case.marking,
        balance: plan.balance(),
        ..Options::default()
    })
}

/// Makes the world of one case. `capture` are ports whose packets are kept.
pub fn prepare(plan: &Plan, case: &Case, capture: Vec<u32>) -> Result<Setup, Fault> {
    crate::memory::check_flows(plan)?;
    let options = options(plan, case, capture)?;
    check_flows(plan, "output.pcap_flows", &plan.scenario.output.pcap_flows)?;
    let (fabric, site) = (plan.fabric.clone(), plan.site.clone());
    let flows = setups(plan, case).collect();
    let setup = assemble(fabric, site, &case.transports, plan.join, flows, plan.shared, options)
        .map_err(of_policies)?;
    let (gates, executions) = (collectives::gates(plan), programs::executions(plan));
    Ok(Setup { gates, executions, ..setup })
}

fn segments(plan: &Plan, flow: &FlowSpec) -> Segments {
    match &flow.segments {
        None => Segments::Uniform(plan.site.framing.mss()),
        Some(payloads) => {
            let ends = payloads.iter().scan(0u64, |end, payload| {
                *end += *payload as u64;
                Some(*end)
            });
            Segments::Table(ends.collect::<Vec<u64>>().into())
        }
    }
}

/// Makes the world of one case with the trace that the scenario wants, and tells its transports that
/// they begin.
pub(crate) fn begin(
    plan: &Plan,
    case: &Case,
    capture: Vec<u32>,
    monitor: &Monitor,
) -> Result<(Setup, Option<Arc<TraceLog>>), Fault> {
    let mut setup = prepare(plan, case, capture)?;
    let log = trace::filter(plan)?.map(|filter| setup.trace(filter));
    monitor.halt.store(false, Ordering::Relaxed);
    case.transports.iter().for_each(|transport| transport.configured.begin(&monitor.halt));
    Ok((setup, log))
}

/// Takes the trace of a world that is gone into its record.
///
/// # Errors
/// A transport that could not go on.
pub(crate) fn ended(
    case: &Case,
    mut record: RunRecord,
    log: Option<Arc<TraceLog>>,
) -> Result<RunRecord, Fault> {
    record.trace = log.map(|log| log.finish());
    match case.transports.iter().find_map(|one| one.configured.failure()) {
        Some(failure) => Err(Fault::new(failure)),
        None => Ok(record),
    }
}
