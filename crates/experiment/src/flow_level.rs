//! Runs at flow level: what of a scenario has a meaning there, and how far they are from packets.

use crate::chosen::check_flows;
use crate::described::{describe, list_warnings};
use crate::fault::wrong;
use crate::plan::{Case, Plan};
use crate::scenario::{Connections, Node, Scenario, Value};
use crate::setup::{begin, options, setups};
use crate::stopwatch::Stopwatch;
use crate::warnings::{AGAINST_PACKETS, FLOW_LEVEL, IGNORED_AT_FLOW_LEVEL};
use crate::{Fault, World, collectives, endless, packets};
use incast_flow::{Carrier, Load};
use incast_measure::{AgainstPackets, FlowLevel, Run, Warning};
use incast_transport::{Rate, RunRecord, Span};
use incast_workload::{Start, Traffic};
use incast_world::{Monitor, RunTransport, most_payload};

/// Keys that say how packets are queued, marked, lost, acknowledged or recorded, as they are written in a path without
/// the numbers of list entries; what is below them counts as they do.
const IGNORED: &[&str] = &[
    "fabric.loss",
    "fabric.buffer",
    "fabric.shared_buffer",
    "fabric.pfc",
    "fabric.control_packet",
    "fabric.links.loss",
    "fabric.links.burst_every",
    "fabric.links.burst_lasts",
    "fabric.links.burst_loss",
    "transport.balance",
    "transport.acks",
    "transport.rto_jitter",
    "transport.timer_granularity",
    "transport.join",
    "transport.marking",
    "transport.parameters",
    "traffic.burst",
    "traffic.priority",
    "job.burst",
    "job.priority",
    "dataplane",
    "output.pcap_snap",
    "output.pcap_limit",
    "output.paths",
];

/// The one parameter that is a rate.
const RATE: &str = "transport.parameters.none.rate";

/// Refuses what would be another result without packets.
///
/// # Errors
/// A key that has no meaning at flow level, and no result without it.
pub fn check(scenario: &Scenario) -> Result<(), Fault> {
    let refuse = |key: &str, why: &str| {
        let problem = wrong(format!("{why} (run.world = `flow`)"));
        Err(Fault::at(key, problem.expected("run.world = `sim` or `dataplane`, or no such key")))
    };
    let captured = "there are no packets at flow level to capture";
    if !scenario.output.pcap.is_empty() {
        return refuse("output.pcap", captured);
    }
    if !scenario.output.pcap_flows.is_empty() {
        return refuse("output.pcap_flows", captured);
    }
    if scenario.output.trace.is_some() {
        return refuse("output.trace", "there are no packets at flow level to trace");
    }
    if !scenario.fabric.queues.is_empty() {
        return refuse(
            "fabric.queues",
            "at flow level all flows share links alike, without queues",
        );
    }
    if !scenario.fabric.storms.is_empty() {
        return refuse("fabric.storms", "there are no pause frames at flow level");
    }
    let others = |how: Connections| how != Connections::Message;
    let one = scenario.traffic.iter().position(|entry| others(entry.connection()));
    let job = scenario.job.iter().position(|job| others(job.connection));
    if let Some(key) = one.map(|at| format!("traffic.{at}")).or(job.map(|at| format!("job.{at}"))) {
        let why = "at flow level messages have no windows to keep";
        return refuse(&format!("{key}.connection"), why);
    }
    if scenario.run.against_packets.is_some() && scenario.transport.paths.is_some() {
        let why = "a sample of flows has other numbers than the file of paths names";
        return refuse("run.against_packets", why);
    }
    Ok(())
}

/// What a user has to know of a run at flow level: that it is one, and which keys do nothing there.
pub fn notices(plan: &Plan) -> Vec<Warning> {
    let mut all = vec![Warning::known(&FLOW_LEVEL.notice(&[]))];
    all.extend(endless::warning(plan));
    let mut keys = vec![];
    list_ignored(&plan.scenario.brief(), &mut String::new(), "", &mut keys);
    if !keys.is_empty() {
        all.push(Warning::known(&IGNORED_AT_FLOW_LEVEL.notice(&[("keys", &keys.join(", "))])));
    }
    all
}

/// Lists the keys below a node that are ignored: `path` with the numbers of list entries, `plain` without.
fn list_ignored(node: &Node, path: &mut String, plain: &str, keys: &mut Vec<String>) {
    let under = |known: &str| {
        plain.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let whole = !matches!(&node.value, Value::Table(entries) if !entries.is_empty());
    if plain != RATE && IGNORED.iter().any(|known| under(known)) && whole {
        keys.push(path.clone());
        return;
    }
    let length = path.len();
    let mut below = |name: &str, plain: &str, node: &Node| {
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        list_ignored(node, path, plain, keys);
        path.truncate(length);
    };
    match &node.value {
        Value::Table(entries) => entries.iter().for_each(|(name, node)| {
            let dot = if plain.is_empty() { "" } else { "." };
            below(name, &format!("{plain}{dot}{name}"), node);
        }),
        Value::List(all) => {
            all.iter().enumerate().for_each(|(at, node)| below(&at.to_string(), plain, node));
        }
        _ => {}
    }
}

/// What of a transport has a meaning.
fn carrier(plan: &Plan, own: &RunTransport) -> Carrier {
    let rate = |(key, value): (&str, String)| match key {
        "rate" => value.parse::<Rate>().ok(),
        _ => None,
    };
    let fixed = own.info.name == "none";
    let most = own.configured.resolved().into_iter().filter(|_| fixed).find_map(rate);
    let payload = plan.site.framing.mss().saturating_sub(own.configured.extension()).max(1);
    Carrier { id: own.info.id, routing: own.routing, payload, most }
}

/// The record of a case.
fn record(plan: &Plan, case: &Case, monitor: &Monitor) -> Result<RunRecord, Fault> {
    let carriers: Vec<Carrier> = case.transports.iter().map(|own| carrier(plan, own)).collect();
    let payloads: Vec<_> = carriers.iter().map(|own| (own.id, own.payload)).collect();
    let flows = setups(plan, case).map(|mut setup| {
        let most = most_payload(&payloads, setup.transport);
        setup.flow.segments = setup.flow.segments.at_most(most, setup.flow.size);
        setup
    });
    let load = Load {
        fabric: plan.fabric.clone(),
        framing: plan.site.framing,
        flows: flows.collect(),
        carriers,
        gates: collectives::gates(plan),
        options: options(plan, case, vec![])?,
    };
    Ok(incast_flow::run(load, monitor))
}

/// Runs one case at flow level, and the sample that the scenario wants in both worlds.
///
/// # Errors
/// There is too little memory, or the sample cannot be run.
pub fn run(plan: &Plan, case: &Case, threads: usize, monitor: &Monitor) -> Result<Run, Fault> {
    crate::memory::check_flows(plan)?;
    check_flows(plan, "output.pcap_flows", &plan.scenario.output.pcap_flows)?;
    let watch = Stopwatch::start();
    let record = record(plan, case, monitor)?;
    let mut run = describe(plan, case, record, None, 1, watch.seconds());
    let against = match plan.scenario.run.against_packets {
        Some(count) if !monitor.stopped() => against(plan, case, &run.record, count, threads)?,
        _ => None,
    };
    if let Some(own) = &against {
        run.notes.push(Warning::known(&AGAINST_PACKETS.notice(&[("error", &own.words())])));
        list_warnings(&mut run);
    }
    run.manifest.flow_level = Some(FLOW_LEVEL.says.into());
    run.flow_level = Some(FlowLevel { says: FLOW_LEVEL.says.into(), against_packets: against });
    Ok(run)
}

/// Runs the flows that start first alone, in both worlds; `None` if none of them is complete in both.
fn against(
    plan: &Plan,
    case: &Case,
    whole: &RunRecord,
    count: u32,
    threads: usize,
) -> Result<Option<AgainstPackets>, Fault> {
    let (sample, numbers) = sample(plan, whole, count)?;
    let same = sample.cases.iter().find(|one| one.label == case.label);
    let same = same.expect("the sample has the cases of the plan");
    let monitor = Monitor::default();
    let flows = record(&sample, same, &monitor)?;
    let world = begin(&sample, same, vec![], &monitor)?;
    let (packets, _) = packets::run(&sample, same, world, threads, &monitor)?;
    let fct = |record: &RunRecord, at: usize| -> Option<Span> {
        let own = &record.flows[at];
        Some(own.completed?.since(own.started?))
    };
    let pairs = numbers
        .iter()
        .enumerate()
        .filter_map(|(at, number)| Some((*number, fct(&flows, at)?, fct(&packets.record, at)?)));
    Ok(AgainstPackets::of(&pairs.collect::<Vec<_>>(), numbers.len()))
}

/// A plan in the simulator of the flows that start first, with their numbers in the whole plan. What they wait for has
/// started before them, so nothing is missing.
fn sample(plan: &Plan, whole: &RunRecord, count: u32) -> Result<(Plan, Vec<u32>), Fault> {
    let started = whole.flows.iter().filter_map(|own| Some((own.started?, own.flow.0)));
    let mut order: Vec<_> = started.collect();
    order.sort_unstable();
    order.truncate(count as usize);
    let mut numbers: Vec<u32> = order.into_iter().map(|(_, flow)| flow).collect();
    numbers.sort_unstable();
    let mut scenario = plan.scenario.clone();
    (scenario.run.world, scenario.run.against_packets) = (World::Sim, None);
    let mut sample = Plan {
        hosts: None,
        scenario,
        traffic: sampled(&plan.traffic, &numbers),
        jobs: vec![],
        collective_jobs: vec![],
        cases: vec![],
        warnings: vec![],
        fabric: plan.fabric.clone(),
        site: plan.site.clone(),
        join: plan.join,
        inputs: plan.inputs.clone(),
        shared: plan.shared,
        pfc: plan.pfc.clone(),
        paths: None,
    };
    sample.cases = sample.cases()?;
    Ok((sample, numbers))
}

/// The traffic of these flows alone, ascending.
fn sampled(traffic: &Traffic, numbers: &[u32]) -> Traffic {
    let place = |flow: &u32| numbers.binary_search(flow).ok().map(|at| at as u32);
    let flows = numbers.iter().map(|number| {
        let mut flow = traffic.flows[*number as usize].clone();
        if let Start::After { flows, .. } = &mut flow.start {
            *flows = flows.iter().filter_map(place).collect();
        }
        flow
    });
    let mut gates = traffic.gates.clone();
    gates.iter_mut().for_each(|gate| gate.flows = gate.flows.iter().filter_map(place).collect());
    let (requests, collectives, warnings) = (vec![], vec![], vec![]);
    Traffic { flows: flows.collect(), gates, requests, collectives, warnings, ..traffic.clone() }
}
