//! Running a plan's cases.

use crate::Fault;
use crate::buffers::way;
use crate::plan::{Case, Plan, name_of};
use crate::scenario::Buffer;
use incast_egress::port::Join;
use incast_fabric::{NodeId, PortId, Tier, ideal_fct_over, ideal_fct_over_uniform};
use incast_measure::{FlowMeta, PortMeta, Request, Run};
use incast_sim::{Captured, Monitor};
use incast_transport::{Bytes, Flow, FlowId, HostId, RunRecord, Segments, Span, Time};
use incast_workload::{FlowSpec, Start};
use incast_world::{FlowSetup, Options, Pfc, Setup, assemble, ways};
use serde_json::{Value, json};

/// The shortest interval of time series.
pub const SHORTEST_INTERVAL: Span = Span::from_us(1);

/// Flows whose throughput is recorded if the scenario does not say.
pub fn watched(case: &Case) -> u32 {
    if case.lanes.len() > 1 { 128 } else { 8 }
}

/// Makes the world of one case. `capture` are ports whose packets are kept.
pub fn prepare(plan: &Plan, case: &Case, capture: Vec<u32>) -> Result<Setup, Fault> {
    let run = &plan.scenario.run;
    let starts = |flow: &FlowSpec| match flow.start {
        Start::At(at) => at,
        Start::After { .. } => Time::NEVER,
    };
    let flows = plan.traffic.flows.iter().zip(&case.lane_of).enumerate();
    let flows = flows.map(|(index, (flow, lane))| FlowSetup {
        flow: Flow {
            id: FlowId(index as u32),
            src: HostId(flow.src),
            dst: HostId(flow.dst),
            size: flow.size,
            start: starts(flow),
            segments: segments(plan, flow),
        },
        transport: case.lanes[*lane as usize].info.id,
        after: match &flow.start {
            Start::After { flows, .. } => flows.iter().map(|f| FlowId(*f)).collect(),
            Start::At(_) => vec![],
        },
        delay: match flow.start {
            Start::After { delay, .. } => delay,
            Start::At(_) => Span::ZERO,
        },
    });
    let base_rtt = plan.site.base_rtt;
    let silent = plan.traffic.silent_after_first_rtt.iter().map(|host| {
        let own = plan.traffic.flows.iter().filter(|flow| flow.src == *host).map(starts);
        (*host, own.min().unwrap_or(Time::ZERO).saturating_add(base_rtt))
    });
    let watch = run.watch.0.unwrap_or(watched(case)) as usize;
    let options = Options {
        seed: run.seed,
        until: run.until.map_or(Time::NEVER, |until| Time(until.0)),
        drain: base_rtt.saturating_mul(4),
        interval: run.interval.0.unwrap_or(base_rtt).max(SHORTEST_INTERVAL),
        watch: (0..plan.traffic.flows.len().min(watch) as u32).map(FlowId).collect(),
        capture,
        silent: silent.collect(),
        pfc: plan.pfc.clone(),
        marking: case.marking,
        ..Options::default()
    };
    let (fabric, site) = (plan.fabric.clone(), plan.site.clone());
    Ok(assemble(fabric, site, &case.lanes, plan.join, flows.collect(), plan.shared, options)?)
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

/// Runs one case.
pub fn execute(
    plan: &Plan,
    case: &Case,
    capture: Vec<u32>,
    threads: usize,
    monitor: &Monitor,
) -> Result<(Run, Vec<Captured>), Fault> {
    let setup = prepare(plan, case, capture)?;
    let begin = std::time::Instant::now();
    let (record, captured) = incast_sim::run(setup, threads, monitor);
    let wall = begin.elapsed().as_secs_f64();
    Ok((describe(plan, case, record, threads, wall), captured))
}

/// A record beside what the plan knows.
pub fn describe(plan: &Plan, case: &Case, record: RunRecord, threads: usize, wall: f64) -> Run {
    let manifest = manifest(plan, case, &record, threads, wall);
    Run {
        label: case.label.clone(),
        transports: case.lanes.iter().map(|lane| lane.info.name.to_string()).collect(),
        flows: flow_metas(plan, case),
        ports: port_metas(plan),
        requests: requests(plan, &record),
        base_rtt: plan.site.base_rtt,
        manifest,
        wall_seconds: Some(wall),
        record,
    }
}

fn flow_metas(plan: &Plan, case: &Case) -> Vec<FlowMeta> {
    let routes = plan.fabric.routes();
    let framing = plan.site.framing;
    let charged = |payload: u32| Bytes(framing.charged(payload + 40) as u64);
    let mss = framing.mss() as u64;
    let timed = plan.traffic.flows.iter().filter(|flow| matches!(flow.start, Start::At(_)));
    let background = timed.filter(|flow| flow.class.name() == "background").count();
    let warm = (background as f64 * plan.scenario.run.warmup) as usize;
    let mut seen = 0;
    let metas = plan.traffic.flows.iter().zip(&case.lane_of).map(|(flow, lane)| {
        let hops = plan.fabric.hops(&routes, flow.src, flow.dst);
        let ways = ways(case.lanes[*lane as usize].routing);
        let ideal = match &flow.segments {
            Some(payloads) => ideal_fct_over(&hops, ways, payloads.iter().map(|p| charged(*p))),
            None => {
                let rest = flow.size % mss;
                let last = if rest > 0 { charged(rest as u32) } else { Bytes(0) };
                ideal_fct_over_uniform(&hops, ways, charged(mss as u32), flow.size / mss, last)
            }
        };
        let is_background = flow.class.name() == "background";
        seen += is_background as usize;
        FlowMeta {
            src: flow.src,
            dst: flow.dst,
            size_bytes: flow.size,
            transport: *lane,
            class: flow.class.name(),
            ideal_fct: ideal,
            warmup: is_background && seen <= warm,
        }
    });
    metas.collect()
}

fn port_metas(plan: &Plan) -> Vec<PortMeta> {
    let fabric = &plan.fabric;
    let name = |node: NodeId| fabric.node_name(node);
    let tier = |tier: Tier| match tier {
        Tier::Host => "nic",
        Tier::Edge => "edge",
        Tier::Aggregation => "aggregation",
        Tier::Core => "core",
    };
    let metas = fabric.ports().iter().map(|port| PortMeta {
        name: format!("{}->{}", name(port.node), name(port.peer)),
        tier: tier(port.tier),
        rate: port.rate,
        upward: port.upward,
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

/// Everything needed to repeat the run, and where it ran.
fn manifest(plan: &Plan, case: &Case, record: &RunRecord, threads: usize, wall: f64) -> Value {
    let parameters: serde_json::Map<String, Value> = case
        .lanes
        .iter()
        .map(|lane| {
            let values = lane.configured.resolved().into_iter();
            let values = values.map(|(key, value)| (key.to_string(), Value::String(value)));
            let mut table: serde_json::Map<String, Value> = values.collect();
            table.insert("routing".into(), json!(name_of(lane.routing)));
            (lane.info.name.to_string(), Value::Object(table))
        })
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    json!({
        "complete": record.complete && !record.interrupted,
        "deadlock": deadlock(plan, record),
        "silent_since": record.silent_since.map(|since| since.to_string()),
        "interrupted": record.interrupted,
        "version": env!("CARGO_PKG_VERSION"),
        "title": plan.scenario.title,
        "transport": case.label,
        "parameters": parameters,
        "join": Join::NAMES.iter().find(|(_, one)| *one == plan.join).map(|(name, _)| *name),
        "marking": case.lanes.iter().find(|l| Some(l.info.id) == case.marking).map(|l| l.info.name),
        "fabric": {
            "topology": plan.fabric.name(),
            "hosts": plan.fabric.hosts(),
            "base_rtt": plan.site.base_rtt.to_string(),
            "bdp_packets": plan.site.bdp_packets(plan.site.host_rate),
            "host_rate": plan.site.host_rate.to_string(),
            "max_rate": plan.site.max_rate.to_string(),
            "buffer": Buffer(plan.site.buffer).to_string(),
            "pfc": plan.pfc.as_deref().map(pfc_json),
            "shared_buffer": plan.shared.map(|s| json!({"pool_bytes": s.pool, "alpha": s.alpha})),
            "charged_mtu_bytes": plan.site.framing.charged_mtu(),
        },
        "traffic": {
            "flows": plan.traffic.flows.len(),
            "load_definition": plan.traffic.load_definition,
            "offered_load": plan.traffic.offered_load,
            "total_bytes": plan.traffic.total_bytes(),
        },
        "seed": plan.scenario.run.seed,
        "threads": threads,
        "warnings": plan.warnings,
        "machine": { "cpu": cpu(), "cores": cores, "os": std::env::consts::OS },
        "wall_seconds": wall,
        "simulated_ns": record.ended.as_ns_f64(),
        "packet_hops": record.packet_hops,
        "events": record.events,
    })
}

/// The ports that wait for each other for ever, if any.
pub fn deadlock(plan: &Plan, record: &RunRecord) -> Option<String> {
    let ports = record.deadlock.iter().map(|(port, _)| PortId(*port));
    let (_, class) = record.deadlock.first()?;
    Some(format!("{} (class {class})", way(&plan.fabric, ports)))
}

fn pfc_json(pfc: &Pfc) -> Value {
    let classes: Vec<u8> = (0..8).filter(|class| pfc.lossless.has(*class)).collect();
    json!({
        "classes": classes,
        "xoff_bytes": pfc.xoff,
        "release_bytes": pfc.release,
        "headroom_bytes_max": pfc.headroom.iter().max(),
    })
}

/// The processor's name, where the system tells.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or(std::env::consts::ARCH).to_string()
}
