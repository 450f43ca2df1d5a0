//! Links that fail, work again and flap: times by hand, both worlds, any number of threads.

use incast_experiment::{Monitor, Plan, Scenario, execute, output};
use incast_fabric::PortId;
use incast_transport::{RunRecord, Span, Time};
use incast_world::Captured;

fn plan(text: &str, failures: &str, sets: &[&str]) -> Result<Plan, String> {
    let failures = format!("fabric.failures=[{failures}]");
    let sets = sets.iter().copied().chain([failures.as_str()]).map(String::from);
    let scenario = Scenario::parse(text, "links.toml", &sets.collect::<Vec<_>>());
    Plan::new(scenario.map_err(|fault| fault.to_string())?).map_err(|fault| fault.to_string())
}

/// The record and every packet, which the data plane and other numbers of threads repeat.
fn run(text: &str, failures: &str, sets: &[&str]) -> (RunRecord, Vec<Captured>) {
    let run = |world: &str, threads| {
        let world = format!("run.world={world}");
        let sets: Vec<&str> = sets.iter().copied().chain([world.as_str()]).collect();
        let plan = plan(text, failures, &sets).expect("a plan");
        let ports = output::ports(&plan, &["all".into()]).expect("ports");
        let monitor = Monitor::default();
        let (mut run, seen) =
            execute(&plan, &plan.cases[0], ports, threads, &monitor).expect("it runs");
        run.record.events = 0;
        (run.record, seen)
    };
    let first = run("sim", 1);
    for (world, threads) in [("sim", 2), ("sim", 3), ("dataplane", 1)] {
        let (record, seen) = run(world, threads);
        assert!(first.0 == record, "{failures} {sets:?}: {world}, {threads} threads");
        assert!(first.1 == seen, "{failures} {sets:?}: packets of {world}, {threads} threads");
    }
    first
}

/// When packets with payload began transmission at a port of this name.
fn starts(text: &str, seen: &[Captured], name: &str) -> Vec<Time> {
    let fabric = plan(text, "", &[]).expect("a plan").fabric;
    let of = |port: u32| {
        let spec = fabric.port(PortId(port));
        format!("{}->{}", fabric.node_name(spec.node), fabric.node_name(spec.peer))
    };
    let own = |one: &&Captured| one.packet.payload > 0 && of(one.port) == name;
    seen.iter().filter(own).map(|one| one.at).collect()
}

/// One packet over two links of 1 us at 10 Gb/s, where it takes 1230.4 ns: at the switch from
/// 2230.4 ns to 3460.8 ns, at the receiver at 4460.8 ns.
const PACKET: &str = r#"
[fabric]
topology = "star:2"
rate = "10Gbps"
[transport]
names = ["dctcp"]
[[traffic]]
kind = "long"
from = "0"
to = "1"
size = "1460B"
[run]
warmup = 0.0
"#;

#[test]
fn a_packet_crosses_a_link_that_works_all_the_while() {
    let took = Span(4_460_800);
    for (at, down, survives) in [
        // Before the packet is at the switch, and up to its arrival there, which comes first.
        ("1us", "1230399ps", true),
        ("1us", "1230400ps", false),
        // While it is on the link, for shorter than that takes.
        ("2300ns", "1ps", false),
        ("4400ns", "50ns", false),
        // It arrives at the instant of the failure, and just after.
        ("4460800ps", "1us", true),
        ("4460799ps", "1us", false),
    ] {
        let failure = format!(
            "{{ at = \"{at}\", a = \"host1\", b = \"switch0\", repair_after = \"{down}\" }}"
        );
        let (record, seen) = run(PACKET, &failure, &[]);
        let sent = starts(PACKET, &seen, "host0->leaf0");
        let done = record.flows[0].completed.expect("complete");
        assert_eq!(survives, sent.len() == 1, "{failure}: sent at {sent:?}");
        // Resent by a timer, into a network that works.
        assert_eq!(done, *sent.last().expect("sent") + took, "{failure}");
        let drops: u32 = record.ports.iter().map(|port| port.total.drops).sum();
        let kept = drops as u64 + record.link_losses == 0;
        // What survives by a hair has an ACK that does not.
        assert!(survives || !kept, "{failure}");
    }
}

/// 100 packets over the only link, which is down for 4 ms: what was delivered before arrives no
/// more, the rest is sent again, and nothing crosses the link meanwhile.
#[test]
fn a_flow_over_the_only_link_stalls_and_resumes() {
    let failure = r#"{ at = "50us", a = "switch0", b = "host1", repair_after = "4ms" }"#;
    let (whole, _) = run(PACKET, "", &["traffic.0.size=146KB"]);
    let (record, seen) = run(PACKET, failure, &["traffic.0.size=146KB"]);
    let (down, up) = (Time(50_000_000), Time(4_050_000_000));
    assert!(whole.flows[0].completed.expect("complete") > down, "the failure comes too late");
    let crossed = starts(PACKET, &seen, "leaf0->host1");
    let before = crossed.iter().filter(|at| **at < down).count();
    assert!(crossed.iter().all(|at| *at < down || *at >= up));
    // They leave back to back, number k at 2230.4 + 1230.4 k ns; of those before 50 us number 38 is
    // lost, which left at 48,985.6 ns and would have arrived 2230.4 ns later.
    let arrived = crossed.iter().filter(|at| **at + Span(2_230_400) <= down).count();
    assert!((before, arrived) == (39, 38) && record.link_losses > 0, "{before} {arrived}");
    assert!(crossed.len() >= before + 100 - arrived, "each missing packet is sent again");
    let done = record.flows[0].completed.expect("complete");
    assert!(done > up && record.complete);
    assert_eq!(record.flows[0].delivered, 146_000);
}

/// Four leaves and spines; flows by ECMP from leaf 0.
const ECMP: &str = r#"
[fabric]
topology = "leaf-spine:2x4x4"
rate = "10Gbps"
[transport]
names = ["cubic"]
[[traffic]]
kind = "long"
from = "0-3"
to = "4-7"
size = "4MB"
"#;

/// By ECMP a flow takes another uplink while its own is down, and its own again after each repair.
#[test]
fn flows_return_to_the_path_of_before() {
    let spines: Vec<String> = (0..4).map(|spine| format!("leaf0->spine{spine}")).collect();
    let of_flow = |seen: &[Captured], from: u64, until: u64| -> Vec<String> {
        let within = |one: &&Captured| (from..until).contains(&(one.at.0 / 1_000_000));
        let own = seen.iter().filter(within).filter(|one| one.packet.flow.0 == 0).cloned();
        let own: Vec<Captured> = own.collect();
        spines.iter().filter(|name| !starts(ECMP, &own, name).is_empty()).cloned().collect()
    };
    let (_, whole) = run(ECMP, "", &[]);
    let [own] = &of_flow(&whole, 0, u64::MAX)[..] else { panic!("one path per flow") };
    let spine = own.strip_prefix("leaf0->").expect("an uplink");
    let failure = format!(
        "{{ at = \"500us\", a = \"leaf0\", b = \"{spine}\", repair_after = \"1ms\", up_for = \"2ms\", \
         times = 2 }}"
    );
    let (record, seen) = run(ECMP, &failure, &[]);
    assert!(record.complete);
    // Down from 500 us to 1500 us and from 3500 us to 4500 us. Packets that wait at the leaf leave
    // by where they wait.
    for (from, until, up) in
        [(0, 500, true), (500, 1500, false), (1500, 3500, true), (3500, 4500, false)]
    {
        let taken = of_flow(&seen, from, until);
        assert!(!taken.is_empty(), "{from} to {until} us: nothing is sent");
        assert_eq!(taken.contains(own), up, "{from} to {until} us: {taken:?}");
        assert!(up || taken.len() == 1, "{from} to {until} us: {taken:?}");
    }
    let after = of_flow(&seen, 4500, u64::MAX);
    assert!(after.is_empty() || after.contains(own), "{after:?}");
}

/// Three senders into one host at 10 Gb/s, lossless: the switch pauses them.
const PAUSED: &str = r#"
[fabric]
topology = "star:4"
rate = "10Gbps"
[fabric.pfc]
xoff = "20KB"
[transport]
names = ["dcqcn"]
[[traffic]]
kind = "long"
from = "0-2"
to = "3,3,3"
size = "1MB"
"#;

/// A link fails while it is paused, and the word of its release is lost with it. It works again
/// without a pause, and is paused again.
#[test]
fn a_pause_does_not_outlive_its_link() {
    let failure = r#"{ at = "150us", a = "host0", b = "switch0", repair_after = "2us", up_for = "40us", times = 20 }"#;
    let (whole, _) = run(PAUSED, "", &[]);
    assert!(whole.ports.iter().any(|port| port.total.paused > 0));
    let (record, _) = run(PAUSED, failure, &[]);
    assert!(record.complete, "flows are left: {:?}", record.stalled_since);
    assert!(record.link_losses > 0);
}

#[test]
fn a_flow_may_start_while_its_link_is_down_if_that_is_repaired() {
    let down = |more: &str| format!("{{ at = \"0s\", a = \"host1\", b = \"switch0\"{more} }}");
    let (record, _) = run(PACKET, &down(", repair_after = \"2ms\""), &[]);
    assert!(record.flows[0].completed.expect("complete") > Time(2_000_000_000));
    let refused = plan(PACKET, &down(""), &[]).err().expect("refused");
    assert!(refused.contains("with the links that failed by 0s"), "{refused}");
}

#[test]
fn a_run_waits_for_a_repair_hours_later() {
    let failure = r#"{ at = "1us", a = "host1", b = "switch0", repair_after = "7200s" }"#;
    let plan = plan(PACKET, failure, &["run.until=10000s"]).expect("a plan");
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("runs");
    assert!(run.record.complete);
    assert!(run.record.flows[0].completed.expect("complete") > Time(7_200_000_000_000_000));
}

/// A link that loses everything in bursts of 100 us, a tenth of the time: what is lost is lost in rows, in both worlds
/// alike. How often and how long is a test of the mechanism.
#[test]
fn losses_in_bursts_are_the_same_in_both_worlds() {
    let link = "fabric.links=[{ a = \"host1\", b = \"switch0\", burst_every = \"200us\", burst_lasts = \"20us\" }]";
    let (record, seen) = run(PACKET, "", &[link, "traffic.0.size=20MB"]);
    assert!(record.complete && record.link_losses > 50, "{} losses", record.link_losses);
    assert!(record.flows[0].retransmits > 50 && seen.len() > 2 * 20_000_000 / 1_460);
    let some = |more: &str| format!("fabric.links=[{{ a = \"host1\", b = \"switch0\", {more} }}]");
    for (more, says) in [
        ("burst_every = \"1ms\"", "fabric.links.0.burst_every: needs `burst_lasts`"),
        ("burst_lasts = \"1ms\"", "fabric.links.0.burst_lasts: needs `burst_every`"),
        ("burst_loss = 0.5", "fabric.links.0.burst_loss: needs `burst_every`"),
        (
            "burst_every = \"1ms\", burst_lasts = \"1us\", burst_loss = 2",
            "burst_loss = `2`: expected 0 to 1",
        ),
        ("burst_every = \"0s\", burst_lasts = \"1us\"", "burst_every = `0s`: expected more than 0"),
    ] {
        let refused = plan(PACKET, "", &[&some(more)]).err().expect("refused");
        assert!(refused.contains(says), "{more}: {refused}");
    }
}

/// An optic that flaps 2,000 times at random: up for 3 ms and down for 1 ms on average (2.2 % is one deviation of the
/// mean), other times with another seed, and the same again.
#[test]
fn a_link_flaps_at_random() {
    let outages = |seed: &str| -> Vec<(u64, u64)> {
        let flaps = "{ at = \"1ms\", a = \"host1\", b = \"switch0\", repair_after = \"1ms\", up_for = \"3ms\", \
                     times = 2000, random = true }";
        let plan = plan(PACKET, flaps, &[seed]).expect("a plan");
        plan.fabric.failures().iter().map(|one| (one.at.0, one.until.0)).collect()
    };
    let one = outages("run.seed=1");
    assert!(one == outages("run.seed=1") && one != outages("run.seed=2"));
    assert_eq!((one.len(), one[0].0), (2_000, 1_000_000_000));
    let mean = |all: Vec<u64>| all.iter().sum::<u64>() as f64 / all.len() as f64 / 1e9;
    let down = mean(one.iter().map(|(at, until)| until - at).collect());
    let up = mean(one.windows(2).map(|two| two[1].0 - two[0].1).collect());
    assert!(
        (down - 1.0).abs() < 0.07 && (up / 3.0 - 1.0).abs() < 0.07,
        "{down} ms down, {up} ms up"
    );
    let flaps = "{ at = \"3us\", a = \"host1\", b = \"switch0\", repair_after = \"20us\", up_for = \"50us\", \
                 times = 30, random = true }";
    let (record, _) = run(PACKET, flaps, &["traffic.0.size=1MB"]);
    assert!(record.complete && record.link_losses > 0);
}

#[test]
fn what_cannot_be_is_refused() {
    let ends = "a = \"host1\", b = \"switch0\"";
    for (more, says) in [
        ("repair_after = \"0s\"", "fabric.failures.0.repair_after = `0s`: expected more than 0"),
        ("up_for = \"1ms\"", "fabric.failures.0.up_for: the link is never repaired"),
        ("times = 3", "fabric.failures.0.times: a link that is never repaired fails once"),
        ("times = 0", "fabric.failures.0.times = `0`: expected 1 to 10000"),
        ("repair_after = \"1ms\", times = 3", "fabric.failures.0.times: the link fails 3 times"),
        ("repair_after = \"1ms\", up_for = \"1ms\"", "up_for: the link fails once"),
        (
            "repair_after = \"9000000s\"",
            "fabric.failures.0.repair_after: the last repair is beyond",
        ),
        (
            "repair_after = \"9000s\", up_for = \"9000s\", times = 10000",
            "fabric.failures.0.times: the last repair is beyond the longest run",
        ),
        ("random = true", "fabric.failures.0.random: the link is never repaired"),
        ("repaired_after = \"1ms\"", "did you mean `repair_after`?"),
    ] {
        let refused = plan(PACKET, &format!("{{ at = \"1us\", {ends}, {more} }}"), &[]);
        let refused = refused.err().expect("refused");
        assert!(refused.contains(says), "{more}: {refused}");
    }
    for (a, b, says) in [
        ("host9", "switch0", "fabric.failures.1.a: no node `host9`"),
        ("host1", "spine0", "fabric.failures.1.b: "),
        ("host1", "host0", "fabric.failures.1.b: there is no link host1 - host0"),
    ] {
        let first = format!("{{ at = \"1us\", {ends} }}");
        let both = format!("{first}, {{ at = \"2us\", a = \"{a}\", b = \"{b}\" }}");
        let refused = plan(PACKET, &both, &[]).err().expect("refused");
        assert!(refused.contains(says), "{a}, {b}: {refused}");
    }
}
