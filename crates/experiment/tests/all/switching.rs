//! Cut-through switching and processing delays: times by hand, both worlds, any number of threads.

use incast_experiment::{Monitor, Plan, Scenario, execute, output};
use incast_transport::{RunRecord, Span};
use incast_world::Captured;

fn plan(text: &str, sets: &[&str]) -> Plan {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let scenario = Scenario::parse(text, "switching.toml", &sets).expect("a scenario");
    Plan::new(scenario).expect("a plan")
}

/// Flow completion times, after a check against the ideal times if flows are alone.
fn times(text: &str, sets: &[&str], alone: bool) -> Vec<Span> {
    let plan = plan(text, sets);
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("it runs");
    let flows = run.record.flows.iter().zip(&run.flows);
    let took = flows.map(|(flow, meta)| {
        let took = flow.completed.expect("complete") - flow.started.expect("opened");
        assert!(!alone || took == meta.ideal_fct, "{sets:?}: {took}, ideal {}", meta.ideal_fct);
        took
    });
    took.collect()
}

const LONE: &str = r#"
[fabric]
topology = "leaf-spine:2x1x2"
rate = "10Gbps"
forwarding = "cut_through"
[transport]
names = ["ren"]
[[traffic]]
kind = "long"
from = "0"
to = "3"
size = "1460B"
[run]
warmup = 0.0
"#;

/// Nanoseconds with one decimal.
fn ps(ns: f64) -> Span {
    Span((ns * 10.0).round() as u64 * 100)
}

/// Links of 1 us; 1538 B take 1230.4 ns at 10 Gb/s and 307.6 ns at 40 Gb/s, the first 64 B take
/// 51.2 and 12.8 ns.
#[test]
fn an_unloaded_packet_takes_the_time_computed_by_hand() {
    let two = "traffic.0.size=2920B";
    for (sets, ns) in [
        // Three switches cut through: 3 x 51.2 + 1230.4 + 4 us.
        (&[][..], 5_384.0),
        // As many as 100 B: 3 x 80 + 1230.4 + 4 us.
        (&["fabric.cut_through_bytes=100"], 5_470.4),
        // A packet of fewer bytes is stored: 4 x 1230.4 + 4 us.
        (&["fabric.cut_through_bytes=2000"], 8_921.6),
        (&["fabric.forwarding=store_and_forward"], 8_921.6),
        // The smallest frame, 84 B: 3 x 51.2 + 67.2 + 4 us.
        (&["traffic.0.size=1B"], 4_220.8),
        // Slow to fast is stored, fast to fast and fast to slow cut through:
        // 1230.4 + 12.8 + 12.8 + 1230.4 + 4 us.
        (&["fabric.uplink_rate=40Gbps"], 6_486.4),
        // Fast to slow and slow to slow cut through, slow to fast is stored:
        // 12.8 + 51.2 + 1230.4 + 307.6 + 4 us.
        (&["fabric.rate=40Gbps", "fabric.uplink_rate=10Gbps"], 5_602.0),
        // Two packets: the second leaves as the first has left.
        (&[two], 5_384.0 + 1_230.4),
        (&[two, "fabric.uplink_rate=40Gbps"], 6_486.4 + 1_230.4),
        // Before the slow link the second waits for the first, and is stored.
        (&[two, "fabric.rate=40Gbps", "fabric.uplink_rate=10Gbps"], 5_602.0 + 1_230.4),
        // Three switches and a host.
        (&["fabric.switch_delay=300ns", "fabric.host_delay=500ns"], 5_384.0 + 3.0 * 300.0 + 500.0),
        (
            &[
                "fabric.forwarding=store_and_forward",
                "fabric.switch_delay=300ns",
                "fabric.host_delay=500ns",
            ],
            8_921.6 + 3.0 * 300.0 + 500.0,
        ),
    ] {
        let took = times(LONE, sets, true)[0];
        assert_eq!(took, ps(ns), "{sets:?}");
    }
}

/// The base RTT of a full packet and its reply of 84 B.
#[test]
fn the_base_rtt_follows() {
    for (sets, ns) in [
        (&[][..], 5_384.0 + 4_220.8),
        (&["fabric.forwarding=store_and_forward"], 8_921.6 + 4.0 * 67.2 + 4_000.0),
        // The reply: 67.2 + 12.8 + 12.8 + 67.2 + 4 us.
        (&["fabric.uplink_rate=40Gbps"], 6_486.4 + 4_160.0),
        (
            &["fabric.switch_delay=300ns", "fabric.host_delay=500ns"],
            5_384.0 + 4_220.8 + 6.0 * 300.0 + 2.0 * 500.0,
        ),
    ] {
        let base_rtt = plan(LONE, sets).site.base_rtt;
        assert_eq!(base_rtt, ps(ns), "{sets:?}");
    }
}

/// Two packets whose first bytes arrive at one instant for one egress: one cuts through, the other
/// is stored and sent behind it.
#[test]
fn a_packet_that_meets_another_is_stored() {
    let text = LONE.replace("leaf-spine:2x1x2", "star:3").replace("from = \"0\"", "from = \"0,1\"");
    let text = text.replace("to = \"3\"", "to = \"2,2\"");
    let mut took = times(&text, &[], false);
    took.sort_unstable();
    // 51.2 + 1230.4 + 2 us; free at 1051.2 + 1230.4, after the last bit at 2230.4.
    assert_eq!(took, [3_281_600, 4_512_000].map(Span));
    // With a second link four times as fast both are stored: 1230.4 + 307.6 (x 2) + 2 us.
    let fast = "fabric.links=[{ a = \"host2\", b = \"switch0\", rate = \"40Gbps\" }]";
    let mut took = times(&text, &[fast], false);
    took.sort_unstable();
    assert_eq!(took, [3_538_000, 3_845_600].map(Span));
}

const CONGESTED: &str = r#"
[fabric]
topology = "leaf-spine:3x2x4"
rate = "10Gbps"
buffer = "24packets"
forwarding = "cut_through"
switch_delay = "150ns"
host_delay = "400ns"
[transport]
names = ["dctcp"]
[[traffic]]
kind = "incast"
receiver = 0
senders = 7
size = "100KB"
[[traffic]]
kind = "poisson"
workload = "web_server"
load = 0.5
flows = 60
[run]
until = "2s"
"#;

fn run(sets: &[&str], threads: usize, seen: bool) -> (RunRecord, Vec<Captured>) {
    let plan = plan(CONGESTED, sets);
    let all = if seen { vec!["all".into()] } else { vec![] };
    let ports = output::ports(&plan, &all).expect("ports");
    let monitor = Monitor::default();
    let (mut run, captured) =
        execute(&plan, &plan.cases[0], ports, threads, &monitor).expect("it runs");
    run.record.events = 0;
    (run.record, captured)
}

/// An uplink that flaps, some outages shorter than the propagation, and a host's link.
const REPAIRED: &str = r#"fabric.failures=[
    { at = "100us", a = "leaf0", b = "spine1", repair_after = "700ns", up_for = "20us", times = 9 },
    { at = "150us", a = "host0", b = "leaf0", repair_after = "90us" },
]"#;

/// Every transport, and what acts on ports: PFC, a shared buffer, losses, failures, each way to
/// balance load, links of several rates.
#[test]
fn cut_through_is_the_same_in_both_worlds_and_any_number_of_threads() {
    let names: Vec<String> = incast_protocols::CATALOGUE
        .iter()
        .map(|entry| format!("transport.names=[\"{}\"]", entry.info().name))
        .collect();
    let each = names.iter().map(|name| vec![name.as_str()]);
    let ndp = "transport.names=[\"ndp\"]";
    let others = [
        vec!["fabric.pfc={ xoff = \"8KB\", allow_cycles = true }"],
        vec![
            "fabric.pfc={ xoff = \"8KB\", allow_cycles = true }",
            "fabric.uplink_rate=25Gbps",
            "transport.names=[\"dcqcn\"]",
        ],
        vec!["fabric.shared_buffer={ pool = \"60KB\" }", "transport.names=[\"ren\"]"],
        vec!["fabric.loss=0.002"],
        vec!["fabric.failures=[{ at = \"200us\", a = \"leaf0\", b = \"spine1\" }]"],
        vec![REPAIRED],
        vec![REPAIRED, "fabric.pfc={ xoff = \"8KB\", allow_cycles = true }"],
        vec!["fabric.uplink_rate=40Gbps", ndp],
        vec!["fabric.uplink_rate=4Gbps", ndp],
        vec!["transport.routing=spray", "fabric.cut_through_bytes=200"],
        vec!["transport.routing=round-robin"],
    ];
    for sets in each.chain(others) {
        let (one, packets) = run(&sets, 1, true);
        assert!(one.complete, "{sets:?}: flows are left");
        let (alone, _) = run(&sets, 1, false);
        assert!(one == alone, "{sets:?}: observation changes the run");
        for threads in [2, 3] {
            let (other, _) = run(&sets, threads, false);
            assert!(one == other, "{sets:?}: {threads} threads differ");
        }
        let data_plane: Vec<&str> = sets.iter().copied().chain(["run.world=dataplane"]).collect();
        let (other, received) = run(&data_plane, 1, true);
        let differ = packets.iter().zip(&received).position(|(a, b)| a != b);
        if let Some(at) = differ {
            panic!("{sets:?}: packet {at}\n{:?}\n{:?}", packets[at], received[at]);
        }
        assert!(packets == received && one == other, "{sets:?}: the worlds differ");
    }
}

/// No hop begins before the first bytes are there, none onto a faster link before the last; and
/// some do begin between.
#[test]
fn no_hop_is_faster_than_its_input() {
    for rates in [&["fabric.uplink_rate=40Gbps"][..], &["fabric.uplink_rate=10Gbps"]] {
        for name in ["dctcp", "ndp"] {
            let names = format!("transport.names=[\"{name}\"]");
            let sets: Vec<&str> = rates.iter().copied().chain([names.as_str()]).collect();
            let plan = plan(CONGESTED, &sets);
            let (_, packets) = run(&sets, 1, true);
            let (mut early, mut stored) = (0, 0);
            for (at, seen) in packets.iter().enumerate() {
                let node = plan.fabric.ports()[seen.port as usize].node;
                let before = packets[..at].iter().rev().find(|other| {
                    let spec = &plan.fabric.ports()[other.port as usize];
                    spec.peer == node
                        && other.packet.flow == seen.packet.flow
                        && other.packet.dst == seen.packet.dst
                        && other.packet.header == seen.packet.header
                });
                // At its source, bounced, or made by this switch.
                let Some(before) = before.filter(|_| node.0 >= plan.fabric.hosts()) else {
                    continue;
                };
                let (input, output) = (
                    &plan.fabric.ports()[before.port as usize],
                    &plan.fabric.ports()[seen.port as usize],
                );
                let framing = plan.site.framing;
                let charged =
                    framing.charged_packet(before.packet.payload, before.packet.extension) as u64;
                let tx = |bytes| input.rate.tx_time(incast_transport::Bytes(bytes));
                let first = before.at + tx(charged.min(64)) + input.propagation;
                let last = before.at + tx(charged) + input.propagation;
                assert!(seen.at >= first, "{sets:?}: {seen:?} after {before:?}");
                let trimmed = before.packet.payload != seen.packet.payload;
                if output.rate > input.rate || trimmed {
                    assert!(seen.at >= last, "{sets:?}: {seen:?} after {before:?}");
                }
                early += (seen.at < last) as u32;
                stored += (seen.at >= last) as u32;
                if seen.at < last {
                    assert_eq!(seen.at, first, "{sets:?}: neither at once nor stored");
                }
            }
            assert!(early > 500 && stored > 500, "{sets:?}: {early} early, {stored} stored");
        }
    }
}
