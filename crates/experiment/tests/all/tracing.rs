//! Traces: the same for any number of threads and in both worlds, without effect on any record, and
//! exact about who was in front.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::{Run, Warning};
use incast_protocols::CATALOGUE;
use incast_transport::{EventKind, RunRecord, Trace, TraceEvent, Why};
use std::collections::BTreeMap;

fn run(text: &str, changes: &[&str], threads: usize) -> Run {
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    let scenario = Scenario::parse(text, "test", &changes).unwrap_or_else(|f| panic!("{f}"));
    let plan = Plan::new(scenario).unwrap_or_else(|fault| panic!("{fault}"));
    let case = &plan.cases[0];
    execute(&plan, case, vec![], threads, &Monitor::default()).unwrap_or_else(|f| panic!("{f}")).0
}

/// The record without what a trace may change: the trace itself, and the number of events.
fn plain(run: &Run) -> RunRecord {
    RunRecord { trace: None, events: 0, ..run.record.clone() }
}

fn trace(run: &Run) -> &Trace {
    run.record.trace.as_ref().expect("a trace")
}

/// Two tiers with losses, and three tiers with pauses.
const FABRICS: [&str; 2] = [
    "topology = \"leaf-spine:3x2x3\"\nrate = \"10Gbps\"\nuplink_rate = \"20Gbps\"\nloss = 0.002\n\
     buffer = \"64KiB\"\n",
    "topology = \"fat-tree:4\"\nrate = \"25Gbps\"\nbuffer = \"32KiB\"\npfc = { allow_cycles = true }\n",
];

fn scenario(transport: &str, fabric: &str) -> String {
    format!(
        "[fabric]\n{fabric}[transport]\nnames = [\"{transport}\"]\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = 6\nsize = \"40KB\"\n\
         [[traffic]]\nkind = \"permutation\"\nsize = \"60KB\"\n"
    )
}

const ALL: &str = "output.trace={}";

/// What a port's record says that it dropped, marked or trimmed is in the trace of everything, and
/// every wait is explained to the picosecond.
fn check(run: &Run, name: &str) {
    let events = &trace(run).events;
    let count = |kind: EventKind| events.iter().filter(|event| event.kind == kind).count() as u64;
    let sum = |of: fn(&incast_transport::Bin) -> u32| {
        run.record.ports.iter().map(|port| of(&port.total) as u64).sum::<u64>()
    };
    assert_eq!(count(EventKind::Dropped), sum(|bin| bin.drops + bin.credit_drops), "{name}");
    assert_eq!(count(EventKind::Trimmed), sum(|bin| bin.trims), "{name}");
    assert_eq!(count(EventKind::Marked), sum(|bin| bin.marks), "{name}");
    assert_eq!(count(EventKind::Lost), run.record.link_losses, "{name}");
    let decisions: u32 = run.record.flows.iter().map(|flow| flow.decisions).sum();
    assert_eq!(count(EventKind::Decision), decisions as u64, "{name}");
    let age: u64 = run.record.flows.iter().map(|flow| flow.decision_age).sum();
    let told: u64 = events.iter().filter_map(|event| event.age).sum();
    assert!(told <= age && age - told <= decisions as u64, "{name}: {told} of {age}");
    let mut at = 0;
    while at < events.len() {
        let started = events[at];
        at += 1;
        if started.kind != EventKind::Started {
            continue;
        }
        let parts = events[at..].iter();
        let own = parts
            .take_while(|event| event.kind == EventKind::Waited && event.place == started.place);
        let total: u64 = own.filter_map(|event| event.waited).sum();
        assert_eq!(Some(total), started.waited, "{name}: {started:?}");
    }
}

/// Of a flow that lost nothing, the waits of the packet that completed it are the queueing of its
/// breakdown, and the longest is at the worst port.
fn check_queueing(run: &Run, name: &str) {
    let mut seen = 0;
    for flow in &run.record.flows {
        let (Some(parts), Some(last)) = (flow.parts, flow.last) else {
            panic!("{name}: incomplete")
        };
        if parts.recovery > 0 || flow.retransmits > 0 {
            continue;
        }
        let of = |event: &&TraceEvent| event.flow == Some(flow.flow);
        let events = || trace(run).events.iter().filter(of);
        let data = |event: &&TraceEvent| event.packet.is_some_and(|packet| packet.payload > 0);
        let arrived = flow.completed.expect("complete");
        let key = events()
            .filter(data)
            .find(|event| event.kind == EventKind::Delivered && event.at == arrived)
            .and_then(|event| event.packet?.departed);
        let Some(departed) = key else { continue };
        let mut waits = BTreeMap::new();
        for event in events().filter(data).filter(|event| event.kind == EventKind::Started) {
            if event.packet.and_then(|packet| packet.departed) == Some(departed) {
                *waits.entry(event.place.port).or_insert(0) += event.waited.expect("a wait");
            }
        }
        assert_eq!(waits.values().sum::<u64>(), parts.queueing.iter().sum::<u64>(), "{name}");
        let worst = waits.values().max().copied().unwrap_or(0);
        assert_eq!(worst, last.worst_wait, "{name}");
        if worst > 0 {
            assert_eq!(waits[&last.worst_port], worst, "{name}");
        }
        seen += 1;
    }
    assert!(seen > 0, "{name}: no flow without loss");
}

/// Every transport, with losses and with pauses: a trace of everything leaves the record as it is,
/// is the same in three threads, and agrees with the record.
#[test]
fn a_trace_changes_nothing_and_agrees_with_the_record() {
    for entry in CATALOGUE {
        for (number, fabric) in FABRICS.iter().enumerate() {
            let name = entry.info().name;
            let text = scenario(name, fabric);
            let name = format!("{name} in fabric {number}");
            let without = run(&text, &[], 1);
            let with = run(&text, &[ALL], 1);
            assert_eq!(plain(&without), plain(&with), "{name}");
            let threads = run(&text, &[ALL], 3);
            assert_eq!(trace(&with).events.len(), trace(&threads).events.len(), "{name}");
            assert!(trace(&with) == trace(&threads), "{name}: other events in three threads");
            check(&with, &name);
            check_queueing(&with, &name);
        }
    }
}

/// The data plane's trace is the simulator's, apart from losses on links, which it does not carry
/// to the end.
#[test]
fn both_worlds_have_the_same_trace() {
    for name in ["dctcp", "homa", "expresspass", "ndp"] {
        let text = scenario(name, FABRICS[1]);
        let sim = run(&text, &[ALL], 1);
        let plane = run(&text, &[ALL, "run.world=dataplane"], 1);
        assert!(trace(&sim).events.len() > 1_000);
        assert!(trace(&sim) == trace(&plane), "{name}");
    }
}

/// Two hosts send three packets each to a third at one instant: packets take turns, and each waits
/// for those that came before it, to the byte.
#[test]
fn who_was_in_front_is_exact() {
    let text = "[fabric]\ntopology = \"star:3\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"trd\"]\n\
        [[traffic]]\nkind = \"long\"\nfrom = \"1\"\nto = \"0\"\nsize = \"4380B\"\n\
        [[traffic]]\nkind = \"long\"\nfrom = \"2\"\nto = \"0\"\nsize = \"4380B\"\n";
    let run = run(text, &["output.trace={ ports = [\"leaf0->host0\"] }"], 1);
    let data = |event: &&TraceEvent| event.packet.is_some_and(|packet| packet.payload > 0);
    let events: Vec<&TraceEvent> = trace(&run).events.iter().filter(data).collect();
    let tx = 1_538 * 800;
    let started: Vec<_> = events.iter().filter(|e| e.kind == EventKind::Started).collect();
    // Pairs arrive every packet time, so the n-th packet to leave has waited for n / 2 others.
    let waits: Vec<u64> = started.iter().map(|event| event.waited.unwrap() / tx).collect();
    assert_eq!(waits, [0, 1, 1, 2, 2, 3]);
    for (place, event) in started.iter().enumerate() {
        let fronts = events.iter().filter(|other| {
            other.kind == EventKind::Waited
                && other.flow == event.flow
                && other.packet.unwrap().departed == event.packet.unwrap().departed
        });
        let all: Vec<_> = fronts.map(|event| (event.front.unwrap(), event.why.unwrap())).collect();
        let bytes: u64 = all.iter().map(|(front, _)| front.bytes).sum();
        assert_eq!(bytes, 1_538 * waits[place], "{all:?}");
        assert!(all.iter().all(|(_, why)| *why == Why::Ahead), "{all:?}");
        let own = |flow| all.iter().filter(|(front, _)| front.flow == flow).count();
        assert!(own(event.flow) <= 1 && all.len() <= 2, "{all:?}");
    }
}

/// A trace is cut at its limit, says so, and its rows are the first ones however the run is divided.
#[test]
fn a_trace_is_cut_at_its_limit_and_says_so() {
    let text = scenario("dctcp", FABRICS[0]);
    let whole = run(&text, &[ALL], 1);
    assert_eq!(trace(&whole).cut_at, None);
    for threads in [1, 3] {
        let cut = run(&text, &["output.trace={ limit = 700 }"], threads);
        assert_eq!(trace(&cut).cut_at, Some(700));
        assert_eq!(trace(&cut).events.len(), 700);
        // Serial numbers are those of what was kept.
        assert!(trace(&cut).events == trace(&whole).events[..700], "{threads} threads");
        let warnings = &cut.manifest.warnings;
        assert!(warnings.iter().any(|one| one.text.contains("output.trace.limit")), "{warnings:?}");
        let is_cut = |warning: &Warning| matches!(warning, Warning::TraceCut { events: 700, .. });
        assert!(cut.warnings().iter().any(is_cut));
    }
}

/// Flows, ports, hosts and the window select what they say.
#[test]
fn a_trace_is_of_what_is_selected() {
    let text = scenario("homa", FABRICS[0]);
    let of = |what: &str| run(&text, &[&format!("output.trace={what}")], 1);
    let flow = of("{ flows = [3] }");
    assert!(trace(&flow).events.iter().all(|event| event.flow.is_some_and(|flow| flow.0 == 3)));
    let ports = of("{ ports = [\"leaf0->host0\"] }");
    let one = ports.ports.iter().position(|port| port.name == "leaf0->host0").unwrap() as u32;
    assert!(trace(&ports).events.iter().all(|e| e.place.port == one && !e.place.host));
    let hosts = of("{ hosts = \"0\", from = \"5us\", until = \"60us\" }");
    assert!(trace(&hosts).events.iter().all(|event| event.place.host));
    assert!(trace(&hosts).events.iter().all(|e| (5_000_000..60_000_000).contains(&e.at.0)));
    for run in [&flow, &ports, &hosts] {
        assert!(trace(run).events.len() > 20);
    }
    for (wrong, says) in [
        ("{ flows = [3, 99] }", "output.trace.flows.1 = `99`: expected a flow from 0 to 14"),
        ("{ ports = [\"leaf9\"] }", "output.trace.ports"),
        ("{ hosts = \"9\" }", "output.trace.hosts"),
        ("{ from = \"2us\", until = \"1us\" }", "output.trace.until"),
        ("{ limit = 0 }", "output.trace.limit = `0`: expected 1 to 100000000"),
    ] {
        let change = format!("output.trace={wrong}");
        let fault = Scenario::parse(&text, "test", &[change])
            .and_then(Plan::new)
            .and_then(|plan| incast_experiment::output::check(&plan));
        let told = fault.expect_err(wrong).to_string();
        assert!(told.contains(says), "{told}");
    }
}
