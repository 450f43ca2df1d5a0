//! Captures streamed to disk: the same bytes as those kept in memory, with any number of threads and
//! in both worlds; by flow, cut at a length, and never cut off without a word.

use incast_experiment::{Fault, Monitor, Plan, Scenario, execute, execute_into, output};
use incast_measure::{Run, StatedWarning};
use std::sync::atomic::Ordering;

const CONGESTED: &str = r#"
[fabric]
topology = "leaf-spine:3x2x4"
rate = "10Gbps"
buffer = "24packets"
[transport]
names = ["dctcp"]
[[traffic]]
kind = "incast"
receiver = 0
senders = 7
size = "60KB"
[[traffic]]
kind = "poisson"
workload = "web_server"
load = 0.5
flows = 30
[run]
until = "2s"
[output]
pcap = ["all"]
"#;

fn plan(sets: &[&str]) -> Result<Plan, Fault> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let plan = Plan::new(Scenario::parse(CONGESTED, "captures.toml", &sets)?)?;
    output::check(&plan)?;
    Ok(plan)
}

/// The streamed file and the run.
fn streamed(sets: &[&str], threads: usize) -> (Vec<u8>, Run) {
    let (plan, folder) = (plan(sets).expect("a plan"), tempfile::tempdir().expect("a folder"));
    let monitor = Monitor::default();
    let run = execute_into(folder.path(), &plan, &plan.cases[0], threads, &monitor).expect("runs");
    (std::fs::read(folder.path().join("ports.pcapng")).expect("a capture"), run)
}

/// The file of what was kept in memory, and how many packets it has.
fn kept(sets: &[&str]) -> (Vec<u8>, usize) {
    let (plan, folder) = (plan(sets).expect("a plan"), tempfile::tempdir().expect("a folder"));
    let ports = output::ports(&plan, &plan.scenario.output.pcap).expect("ports");
    let monitor = Monitor::default();
    let (_, seen) = execute(&plan, &plan.cases[0], ports.clone(), 1, &monitor).expect("runs");
    output::write_captures(folder.path(), &plan, &ports, &seen).expect("written");
    (std::fs::read(folder.path().join("ports.pcapng")).expect("a capture"), seen.len())
}

#[test]
fn a_streamed_file_is_that_of_memory() {
    let names: Vec<String> = incast_protocols::CATALOGUE
        .iter()
        .map(|entry| format!("transport.names=[\"{}\"]", entry.info().name))
        .collect();
    let each = names.iter().map(|name| vec![name.as_str()]);
    let others = [
        vec!["fabric.pfc={ xoff = \"8KB\", allow_cycles = true }"],
        vec!["fabric.forwarding=cut_through"],
        vec!["fabric.loss=0.002", "output.pcap=[\"leaf0->host0\", \"host5->leaf1\", \"0\"]"],
        vec!["output.pcap_flows=[3]", "output.pcap_snap=120"],
        vec!["output.pcap_limit=5000"],
    ];
    for sets in each.chain(others) {
        let (expected, packets) = kept(&sets);
        assert!(packets > 60, "{sets:?}: {packets} packets");
        for threads in [1, 3] {
            let (file, _) = streamed(&sets, threads);
            assert!(file == expected, "{sets:?}: {threads} threads differ from memory");
        }
        let data_plane: Vec<&str> = sets.iter().copied().chain(["run.world=dataplane"]).collect();
        assert!(streamed(&data_plane, 1).0 == expected, "{sets:?}: the data plane differs");
    }
}

#[test]
fn a_filter_and_a_snap_length_keep_what_they_say() {
    let plan = plan(&["output.pcap_flows=[3, 5]"]).expect("a plan");
    let ports = output::ports(&plan, &plan.scenario.output.pcap).expect("ports");
    let run = |plan: &Plan| {
        execute(plan, &plan.cases[0], ports.clone(), 1, &Monitor::default()).expect("runs").1
    };
    let (some, all) = (run(&plan), run(&self::plan(&[]).expect("a plan")));
    let own = all.into_iter().filter(|one| [3, 5].contains(&one.packet.flow.0));
    assert!(some == own.collect::<Vec<_>>() && some.len() > 100);
    // A block of a cut packet has 120 B of it and 32 B of its own.
    let sets = ["output.pcap_flows=[3]", "output.pcap=[\"leaf0->host0\"]"];
    let whole = streamed(&sets, 1).0.len();
    let cut = streamed(&[sets[0], sets[1], "output.pcap_snap=120"], 1).0.len();
    assert!(cut > 42 * 152 && cut < 60 * 152 && whole > 42 * 1_500, "{cut} of {whole}");
}

#[test]
fn a_limit_that_is_reached_is_announced() {
    let (_, run) = streamed(&["output.pcap_limit=5000"], 2);
    let warnings: Vec<String> = run.warnings().iter().map(ToString::to_string).collect();
    let told = warnings.iter().find(|text| text.contains("cut off at 5000 packets"));
    assert!(told.is_some_and(|text| text.contains("raise output.pcap_limit")), "{warnings:?}");
    let stated = |one: &StatedWarning| one.name() == "captures_cut" && one.data["packets"] == 5000;
    assert!(run.manifest.warnings.iter().any(stated));
    let (_, run) = streamed(&[], 2);
    assert!(run.record.captures_cut.is_none());
}

/// A full disk ends the run with an error instead of running on for nothing.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_cannot_be_written_ends_the_run() {
    let (plan, folder) = (plan(&[]).expect("a plan"), tempfile::tempdir().expect("a folder"));
    std::os::unix::fs::symlink("/dev/full", folder.path().join("ports.pcapng")).expect("a link");
    let monitor = Monitor::default();
    let fault = execute_into(folder.path(), &plan, &plan.cases[0], 1, &monitor).err();
    assert!(fault.expect("refused").to_string().contains("the capture could not be written"));
    assert!(monitor.halt.load(Ordering::Relaxed));
}

#[test]
fn flows_that_do_not_exist_are_refused() {
    let fault = plan(&["output.pcap_flows=[3, 99]"]).err().expect("refused").to_string();
    assert!(fault.contains("output.pcap_flows.1 = `99`: expected a flow from 0 to 36"), "{fault}");
}
