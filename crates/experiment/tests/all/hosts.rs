//! Hosts that are not ideal: times by hand, and what is refused.

use incast_experiment::{Content, Contents, Monitor, Plan, Scenario, execute};
use std::sync::Arc;

/// One packet of 1460 B over two links of 1 us; 1538 B take 1230.4 ns at 10 Gb/s.
const LONE: &str = r#"
[fabric]
topology = "star:2"
rate = "10Gbps"
[transport]
names = ["swift"]
[[traffic]]
kind = "long"
from = "0"
to = "1"
size = "1452B"
[run]
warmup = 0.0
"#;

/// Without hosts that take time.
const IDEAL: u64 = 2_000_000 + 2 * 1_230_400;

fn planned(sets: &[&str], files: &[(&str, &str)]) -> Result<Plan, String> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let scenario = Scenario::parse(LONE, "hosts.toml", &sets).map_err(|fault| fault.to_string())?;
    let file = |(name, text): &(&str, &str)| (name.to_string(), Content::of(text.to_string()));
    let contents: Contents = files.iter().map(file).collect();
    Plan::with_contents(scenario, Arc::new(contents)).map_err(|fault| fault.to_string())
}

/// The completion time, and what of it was in NICs, in picoseconds.
fn time(sets: &[&str], files: &[(&str, &str)]) -> (u64, u64) {
    let plan = planned(sets, files).unwrap_or_else(|fault| panic!("{fault}"));
    let run = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("it runs").0;
    let flow = &run.record.flows[0];
    let took = flow.completed.expect("complete") - flow.started.expect("opened");
    (took.0, flow.parts.expect("complete").queueing[0])
}

#[test]
fn times_are_those_computed_by_hand() {
    assert_eq!(time(&[], &[]), (IDEAL, 0));
    let none = "host.stamp_resolution=1us";
    assert_eq!(time(&[none], &[]), (IDEAL, 0), "only stamps are of another clock");
    let (send, receive) = ("host.send_delay=300ns", "host.receive_delay=1700ns");
    assert_eq!(time(&[send], &[]), (IDEAL + 300_000, 300_000));
    assert_eq!(time(&[send, receive], &[]), (IDEAL + 2_000_000, 2_000_000));
    let coalesced = ["host.coalesce_packets=2", "host.coalesce_time=10us", receive];
    assert_eq!(time(&coalesced, &[]), (IDEAL + 11_700_000, 11_700_000));
    // Both bounds of a range and of a file are drawn from.
    let uniform = "host.receive_delay=uniform:2us-2us";
    assert_eq!(time(&[uniform], &[]), (IDEAL + 2_000_000, 2_000_000));
    let file = ("delays.txt", "# NIC of a kind\n\n4us, 1\n");
    assert_eq!(time(&["host.send_delay=file:delays.txt"], &[file]), (IDEAL + 4_000_000, 4_000_000));
    let drawn = ("delays.txt", "1us 0.5\n3us 1.0\n");
    let (took, waited) = time(&["host.send_delay=file:delays.txt"], &[drawn]);
    assert!((1_000_000..=3_000_000).contains(&waited) && took == IDEAL + waited, "{waited}");
    let (took, waited) = time(&["host.send_delay=exponential:1us"], &[]);
    assert!(waited > 0 && took == IDEAL + waited, "{waited}");
}

#[test]
fn the_base_rtt_and_ideal_times_are_those_of_the_network() {
    let (with, without) = (planned(&["host.receive_delay=5us"], &[]), planned(&[], &[]));
    assert_eq!(with.unwrap().site.base_rtt, without.unwrap().site.base_rtt);
}

#[test]
fn what_does_not_fit_is_refused_with_key_value_and_range() {
    let refused = |sets: &[&str], files: &[(&str, &str)], words: &[&str]| {
        let text = planned(sets, files).err().unwrap_or_else(|| panic!("{sets:?} are taken"));
        for word in words {
            assert!(text.contains(word), "{sets:?}: {text}");
        }
    };
    let forms = "uniform:1us-3us";
    for (set, words) in [
        ("host.send_delay=2", &["host.send_delay", forms][..]),
        ("host.send_delay=uniform:3us", &["host.send_delay", forms]),
        ("host.send_delay=uniform:3us-1us", &["host.send_delay", "the lesser time first"]),
        ("host.receive_delay=exponential:2s", &["host.receive_delay", "at most 1s"]),
        ("host.receive_delay=gamma:2us", &["host.receive_delay", forms]),
        ("host.receive_delay=file:", &["host.receive_delay", forms]),
        ("host.coalesce_packets=1", &["host.coalesce_packets", "2 to 65535"]),
        ("host.coalesce_packets=8", &["host.coalesce_packets", "coalesce_time", "10us"]),
        ("host.coalesce_time=0us", &["host.coalesce_time", "1ns to 1s"]),
        ("host.stamp_resolution=2ms", &["host.stamp_resolution", "at most 1ms"]),
        ("host.stamp_at=nics", &["host.stamp_at", "nic"]),
        ("host.send_dealy=1us", &["send_dealy", "send_delay"]),
    ] {
        refused(&[set], &[], words);
    }
    let file = "host.send_delay=file:d.txt";
    for (text, words) in [
        ("", &["d.txt", "cumulative probability"][..]),
        ("1us 0.5\n", &["d.txt", "the probability 1"]),
        ("1us 0.5\n0.5us 1\n", &["d.txt:2", "more than on the line before"]),
        ("1us 0.5\n2us 0.5\n", &["d.txt:2", "more than on the line before"]),
        ("1us\n", &["d.txt:1", "`2us 0.5`"]),
        ("1us 1.5\n", &["d.txt:1", "0 to 1"]),
        ("1 1\n", &["d.txt:1", "at most 1s"]),
        ("2s 1\n", &["d.txt:1", "at most 1s"]),
    ] {
        refused(&[file], &[("d.txt", text)], words);
    }
    refused(&[file], &[], &["d.txt"]);
    let some = "host.send_delay=1us";
    refused(&[some, "run.world=dataplane"], &[], &["host", "dataplane", "run.world = `sim`"]);
    refused(&[some, "run.world=flow"], &[], &["host", "flow level", "run.world = `sim`"]);
}

/// Pauses stop a NIC while packets wait in it to be handed up: the host is not looked at before it has caught up.
#[test]
fn hosts_that_take_time_can_be_paused() {
    let text = r#"
[fabric]
topology = "leaf-spine:2x1x8"
rate = "100Gbps"
pfc = {}
[transport]
names = ["dcqcn", "timely"]
[host]
send_delay = "uniform:500ns-1500ns"
receive_delay = "exponential:1us"
[[traffic]]
kind = "poisson"
workload = "web_search"
load = 0.8
flows = 60
[run]
warmup = 0.0
"#;
    let plan =
        Plan::new(Scenario::parse(text, "paused.toml", &[]).expect("valid")).expect("planned");
    for case in &plan.cases {
        let run = execute(&plan, case, vec![], 1, &Monitor::default()).expect("it runs").0;
        assert!(run.record.flows.iter().all(|flow| flow.completed.is_some()), "{}", case.label);
    }
}
