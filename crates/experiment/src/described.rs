//! The record of a case with the metadata of its plan.

use crate::balance::path;
use crate::collectives::collectives;
use crate::manifest::manifest;
use crate::plan::{Case, Plan};
use crate::ports::{link_changes, port_metas};
use crate::programs;
use crate::setup::setups;
use incast_fabric::Packets;
use incast_measure::{Balance, Fidelity, FlowMeta, Manifest, Request, Run, StatedWarning};
use incast_transport::{Bytes, RunRecord, Time};
use incast_workload::{FlowClass, FlowSpec, Origin, Start};
use incast_world::path_use;

/// A record with the metadata of the plan.
pub(crate) fn describe(
    plan: &Plan,
    case: &Case,
    record: RunRecord,
    fidelity: Option<Fidelity>,
    threads: usize,
    wall: Option<f64>,
) -> Run {
    let manifest =
        Manifest { fidelity: fidelity.clone(), ..manifest(plan, case, &record, threads, wall) };
    let flows = flow_metas(plan, case, &record);
    let (programs, ranks) = programs::metas(plan);
    let of_programs = programs::collectives(plan, &record);
    let mut run = Run {
        label: case.title(),
        transports: case.transports.iter().map(|t| t.info.name.to_string()).collect(),
        collectives: match plan.traffic.collectives.as_slice() {
            [] => of_programs,
            _ => {
                let setups = setups(plan, case).collect::<Vec<_>>();
                [collectives(plan, &setups, &flows, &record), of_programs].concat()
            }
        },
        flows,
        ports: port_metas(plan),
        link_changes: link_changes(plan),
        requests: requests(plan, &record),
        programs,
        ranks,
        servers: vec![],
        base_rtt: plan.site.base_rtt,
        manifest,
        notes: plan.warnings.clone(),
        world: plan.scenario.run.world.words(&plan.dataplane()),
        fidelity,
        flow_level: None,
        wall_seconds: wall,
        record,
    };
    if plan.scenario.run.warmup.0.is_none() {
        Balance::of(&run).judge(&mut run);
    }
    run.servers = crate::nics::results(&plan.fabric, &run);
    list_warnings(&mut run);
    run.manifest.outline.complete = run.complete();
    run
}

/// Writes the warnings about a run into its manifest.
pub(crate) fn list_warnings(run: &mut Run) {
    run.manifest.warnings = run.warnings().into_iter().map(StatedWarning::from).collect();
}

fn flow_metas(plan: &Plan, case: &Case, record: &RunRecord) -> Vec<FlowMeta> {
    let routes = plan.fabric.routes();
    let framing = plan.site.framing;
    let charged = |payload: u32| Bytes(framing.charged_packet(payload as u16, 0) as u64);
    let mss = framing.mss() as u64;
    let drawn = |flow: &&FlowSpec| flow.origin == Origin::Poisson;
    let all = plan.traffic.flows.iter().filter(drawn).count();
    // What is left out by balance is known only once the run is over.
    let warm = (all as f64 * plan.scenario.run.warmup.0.unwrap_or(0.0)) as usize;
    let mut seen = 0;
    let flows = plan.traffic.flows.iter().zip(&case.transport_of).zip(&record.flows);
    let metas = flows.map(|((flow, transport), record)| {
        let hops = plan.fabric.hops(&routes, flow.src, flow.dst);
        let path_use = path_use(case.transports[*transport as usize].routing);
        let rest = (flow.size % mss) as u32;
        let last = if rest > 0 { charged(rest) } else { Bytes(0) };
        let packets = match &flow.segments {
            Some(all) => Packets::Each(all.iter().map(|payload| charged(*payload)).collect()),
            None => Packets::Uniform { full: charged(mss as u32), count: flow.size / mss, last },
        };
        let drawn = drawn(&flow);
        seen += drawn as usize;
        FlowMeta {
            src: flow.src,
            dst: flow.dst,
            size_bytes: flow.size,
            transport: *transport,
            class: flow.class.name(),
            path: path(plan, case, &routes, record, *transport as usize),
            ideal_fct: packets.ideal(plan.fabric.forwarding(), &hops, path_use),
            arrival: drawn
                || flow.origin == Origin::File
                    && flow.class == FlowClass::Background
                    && matches!(flow.start, Start::At(_)),
            warmup: drawn && seen <= warm,
            stop: flow.stop,
            priority: flow.priority,
        }
    });
    metas.collect()
}

fn requests(plan: &Plan, record: &RunRecord) -> Vec<Request> {
    let groups = plan.traffic.requests.iter().filter_map(|group| {
        let flows = group.requests.iter().chain(&group.responses).map(|f| *f as usize);
        let started = flows.clone().filter_map(|flow| record.flows[flow].started).min()?;
        let ends: Option<Vec<Time>> = flows.map(|flow| record.flows[flow].completed).collect();
        Some(Request {
            start: started,
            end: ends.and_then(|ends| ends.into_iter().max()),
            flows: (group.requests.len() + group.responses.len()) as u32,
            warmup: false,
        })
    });
    groups.collect()
}
