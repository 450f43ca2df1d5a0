//! The simulator and the data plane through one interface: the same results folder.

use incast_experiment::{Monitor, Plan, Scenario, execute, output};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

const WORLDS: [&str; 2] = ["sim", "dataplane"];

/// A lossy fabric with a shared buffer: background traffic, an incast, requests that wait.
const SCENARIO: &str = r#"
[fabric]
topology = "leaf-spine:2x2x4"
rate = "10Gbps"
loss = 0.001
shared_buffer = { pool = "200KB" }
[transport]
names = ["dctcp", "ren", "ndp", "homa", "expresspass", "hpcc", "fasttune"]
[[traffic]]
kind = "poisson"
workload = "web_search"
load = 0.5
flows = 40
[[traffic]]
kind = "incast"
receiver = 0
senders = 6
size = "64KB"
at = "100us"
[run]
watch = 5
[output]
csv = true
pcap = ["leaf0->host0", "spine1->leaf0"]
"#;

fn plan(text: &str, world: &str, sets: &[&str]) -> Plan {
    let mut sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    sets.push(format!("run.world={world}"));
    let scenario = Scenario::parse(text, "a test", &sets).expect("a scenario");
    Plan::new(scenario).expect("a plan")
}

/// Every file of a case's results folder; the manifest without what names the world and the
/// machine's pace.
fn files(plan: &Plan, case: usize) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let ports = output::ports(plan, &plan.scenario.output.pcap).expect("ports");
    let monitor = Monitor::default();
    let (mut run, captured) =
        execute(plan, &plan.cases[case], ports.clone(), 2, &monitor).expect("it runs");
    assert!(run.record.complete, "{}: flows are left", run.label);
    let progress =
        (monitor.begun.load(Ordering::Relaxed), monitor.completed.load(Ordering::Relaxed));
    assert_eq!(progress, (true, run.flows.len() as u64));
    let manifest = &mut run.manifest;
    assert_eq!(manifest.world, plan.scenario.run.world.name());
    let scenario = manifest.outline.scenario.as_object_mut().expect("a table");
    scenario["run"]["world"] = "either".into();
    scenario.remove("dataplane");
    (manifest.world, manifest.threads, manifest.events) = ("either".into(), 0, 0);
    manifest.wall_seconds = None;
    run.wall_seconds = None;
    output::write_run(folder.path(), &run, true).expect("written");
    output::write_captures(folder.path(), plan, &ports, &captured).expect("written");
    let read = |path: &Path| std::fs::read(path).expect("readable");
    let all = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| {
        let path = entry.expect("an entry").path();
        (path.file_name().expect("a name").to_string_lossy().into_owned(), read(&path))
    });
    all.collect()
}

#[test]
fn a_scenario_leaves_the_same_folder_in_both_worlds() {
    let [sim, data_plane] = WORLDS.map(|world| plan(SCENARIO, world, &[]));
    for case in 0..sim.cases.len() {
        let name = &sim.cases[case].label;
        let (one, other) = (files(&sim, case), files(&data_plane, case));
        for file in ["flows.parquet", "ports.parquet", "summary.json", "ports.pcapng"] {
            assert!(one[file].len() > 500, "{name}: {file} is empty");
        }
        assert!(one.keys().eq(other.keys()), "{name}");
        for (file, bytes) in &one {
            assert!(*bytes == other[file], "{name}: {file} differs");
        }
    }
}

/// One small network per mechanism: every record and every packet.
#[test]
fn the_networks_of_the_traces_are_the_same_in_both_worlds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|kind| kind != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let [one, other] = WORLDS.map(|world| {
            let plan = plan(&text, world, &[]);
            let ports = output::ports(&plan, &["all".into()]).expect("ports");
            let monitor = Monitor::default();
            let (mut run, captured) =
                execute(&plan, &plan.cases[0], ports, 1, &monitor).expect("it runs");
            run.record.events = 0;
            (run.record, captured)
        });
        assert!(one == other, "{} differs", path.display());
        seen += 1;
    }
    assert!(seen > 10, "only {seen} networks");
}

/// Two flows of a sender-driven and a receiver-driven transport on paths from a file, one of
/// another pair on none: each fixed flow uses its own spine alone, in both directions and worlds.
#[test]
fn fixed_paths_are_taken_in_both_worlds() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("paths.csv");
    std::fs::write(&file, "flow,path\n0,leaf0 spine2 leaf1\n1,leaf0 spine0 leaf1\n").unwrap();
    let name = file.display().to_string();
    for transport in ["dctcp", "ndp", "fasttune"] {
        let text = format!(
            "[fabric]\ntopology = \"leaf-spine:2x3x2\"\n[transport]\nnames = [{transport:?}]\n\
             routing = \"paths\"\npaths = {name:?}\n\
             [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"2\"\nsize = \"300KB\"\n\
             [[traffic]]\nkind = \"long\"\nfrom = \"1\"\nto = \"3\"\nsize = \"300KB\"\n"
        );
        let [one, other] = WORLDS.map(|world| {
            let plan = plan(&text, world, &[]);
            let (mut run, _) =
                execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("it runs");
            assert!(run.record.complete, "{transport}");
            let files = &run.manifest.outline.files;
            assert!(files.iter().any(|one| one.role == "paths" && one.name == *name));
            let sent = |port: &str| {
                let at = run.ports.iter().position(|meta| meta.name == port).expect(port);
                run.record.ports[at].total.sent_packets
            };
            let used: Vec<bool> = ["0", "1", "2"]
                .map(|spine| [format!("leaf0->spine{spine}"), format!("leaf1->spine{spine}")])
                .concat()
                .iter()
                .map(|port| sent(port) > 0)
                .collect();
            assert_eq!(used, [true, true, false, false, true, true], "{transport}");
            run.record.events = 0;
            run.record
        });
        assert_eq!(one, other, "{transport}");
    }
    let refused = |sets: &[String]| {
        let scenario = Scenario::parse(SCENARIO, "a test", sets).expect("a scenario");
        Plan::new(scenario).err().expect("refused").to_string()
    };
    let paths = format!("transport.paths={name}");
    let text = refused(&[paths.clone(), "transport.routing=ecmp".into()]);
    assert!(text.contains("transport.paths") && text.contains("routing = \"paths\""), "{text}");
    let text = refused(&["transport.routing=paths".into()]);
    assert!(text.contains("transport.paths: ") && text.contains("needs a file"), "{text}");
    // The flows of that scenario are others.
    let text = refused(&[paths, "transport.routing=paths".into()]);
    let known = "paths.csv:2: `leaf0`: a path from host4 begins at";
    assert!(text.contains("transport.paths = `") && text.contains(known), "{text}");
    let text = refused(&["transport.paths=none.csv".into(), "transport.routing=paths".into()]);
    assert!(text.contains("transport.paths = `none.csv`: none.csv: could not read"), "{text}");
}

/// ACKs among data wait behind the data of a flow the other way; as control they do not.
#[test]
fn the_class_of_acks_decides_whether_they_wait() {
    let text = "[fabric]\ntopology = \"dumbbell:2x2\"\nuplink_rate = \"10Gbps\"\n\
        [transport]\nnames = [\"dctcp\", \"cubic\", \"timely\"]\n\
        [[traffic]]\nkind = \"long\"\nfrom = \"0,1\"\nto = \"2,3\"\nsize = \"2MB\"\n\
        [[traffic]]\nkind = \"long\"\nfrom = \"2\"\nto = \"0\"\nsize = \"100KB\"\n";
    for case in 0..3 {
        let [data, control, own] = ["data", "control", "auto"].map(|acks| {
            let [one, other] = WORLDS.map(|world| {
                let plan = plan(text, world, &[&format!("transport.acks={acks}")]);
                let case = &plan.cases[case];
                let (mut run, _) =
                    execute(&plan, case, vec![], 1, &Monitor::default()).expect("it runs");
                assert!(run.record.complete);
                run.record.events = 0;
                run.record
            });
            assert_eq!(one, other);
            let last = one.flows.last().expect("a flow");
            last.completed.expect("complete").since(last.started.expect("started"))
        });
        // TIMELY's ACKs have priority, as in its paper; its rate depends on more than their delay.
        assert_eq!(own, if case == 2 { control } else { data }, "case {case}");
        let faster = if case == 2 { control != data } else { control < data };
        assert!(faster, "case {case}: {control} with control, {data} among data");
    }
}

#[test]
fn what_the_data_plane_cannot_do_is_refused() {
    let scenario = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        Scenario::parse(SCENARIO, "a test", &sets)
    };
    let threads = scenario(&["run.world=dataplane", "run.threads=2"]).expect("a scenario");
    let text = Plan::new(threads).err().expect("refused").to_string();
    assert!(text.contains("run.threads = `2`") && text.contains("one thread"), "{text}");
    for threads in ["1", "auto"] {
        let threads = format!("run.threads={threads}");
        let one = scenario(&["run.world=dataplane", &threads]).expect("a scenario");
        assert_eq!(Plan::new(one).expect("a plan").threads(), 1);
    }
    let text = scenario(&["run.world=dataplan"]).expect_err("refused").to_string();
    assert!(text.contains("run.world") && text.contains("did you mean `dataplane`?"), "{text}");
}

/// Both worlds end early on the monitor's word, and keep what is done.
#[test]
fn a_monitor_stops_both_worlds() {
    for world in WORLDS {
        let plan = plan(SCENARIO, world, &[]);
        let monitor = Monitor::default();
        monitor.stop.store(true, Ordering::Relaxed);
        let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &monitor).expect("it runs");
        assert!(run.record.interrupted && !run.record.complete, "{world}");
        assert!(run.manifest.interrupted, "{world}");
    }
}

/// A run over a link that loses nearly all packets is stopped at the same time in both worlds.
#[test]
fn both_worlds_end_by_the_same_rules() {
    let long = |sets: &[&str]| {
        WORLDS.map(|world| {
            let plan = plan(SCENARIO, world, sets);
            let monitor = Monitor::default();
            let (mut run, _) =
                execute(&plan, &plan.cases[0], vec![], 1, &monitor).expect("it runs");
            run.record.events = 0;
            run.record
        })
    };
    let [one, other] = long(&["run.until=300us"]);
    assert_eq!(one, other, "until");
    assert!(!one.complete && one.stalled_since.is_none());
    let [one, other] = long(&["fabric.loss=0.9999", "transport.names=[\"dctcp\"]"]);
    assert_eq!(one, other, "silence");
    assert!(!one.complete && one.stalled_since.is_some(), "{}", one.ended);
}

/// A flow that keeps to one path names its nodes, and its last packet waited longest at a port on
/// it, no longer than in all queues together.
#[test]
fn paths_lead_from_source_to_destination_over_the_worst_port() {
    let text = "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n[transport]\nnames = [\"dctcp\"]\n\
                [[traffic]]\nkind = \"poisson\"\nworkload = \"ali_storage\"\nload = 0.5\nflows = 400\n";
    let plan = Plan::new(Scenario::parse(text, "paths", &[]).unwrap()).unwrap();
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
    let mut waited = 0;
    for (flow, meta) in run.record.flows.iter().zip(&run.flows) {
        let nodes: Vec<&str> = meta.path.split('>').collect();
        let hosts = [meta.src, meta.dst].map(|host| format!("host{host}"));
        assert_eq!([nodes[0], nodes[nodes.len() - 1]], [&hosts[0][..], &hosts[1][..]]);
        assert_eq!(nodes.len(), if meta.src / 4 == meta.dst / 4 { 3 } else { 5 }, "{nodes:?}");
        let Some(last) = flow.last else { continue };
        let queueing = flow.parts.expect("complete").queueing;
        assert!(last.worst_wait <= queueing.iter().sum(), "{last:?}, {queueing:?}");
        if last.worst_wait > 0 {
            waited += 1;
            let port = run.ports[last.worst_port as usize].name.replace("->", ">");
            assert!(meta.path.contains(&port), "{port} is not on {}", meta.path);
        }
    }
    assert!(waited > 20, "{waited} flows waited");
}

/// At any time as many flows are under way as asked for, in both worlds, until the first has no
/// successor.
#[test]
fn a_closed_loop_keeps_its_flows_under_way() {
    let text = "[fabric]\ntopology = \"leaf-spine:2x2x4\"\nrate = \"10Gbps\"\n[transport]\n\
                names = [\"dctcp\"]\n[[traffic]]\nkind = \"closed_loop\"\nworkload = \"hadoop\"\n\
                active = 6\nflows = 200\n";
    let starts = WORLDS.map(|world| {
        let plan = plan(text, world, &[]);
        let monitor = Monitor::default();
        let (run, _) = execute(&plan, &plan.cases[0], vec![], 2, &monitor).expect("it runs");
        let flows = &run.record.flows;
        let started: Vec<_> = flows.iter().map(|flow| flow.started.expect("started")).collect();
        let completed: Vec<_> =
            flows.iter().map(|flow| flow.completed.expect("complete")).collect();
        let last = *completed[200 - 6..].iter().min().expect("200 flows");
        let under_way = |at| {
            let open = |place: &usize| started[*place] <= at && completed[*place] > at;
            (0..200).filter(open).count()
        };
        // The next flow starts at the instant at which its predecessor is complete.
        for at in started.iter().filter(|at| **at < last) {
            assert_eq!(under_way(*at), 6, "{world}, at {at}");
        }
        started
    });
    assert_eq!(starts[0], starts[1]);
}
