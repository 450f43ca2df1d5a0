//! Sizes of packets as a scenario gives them: lone flows, loads, both worlds, and what is refused.

use incast_experiment::{Monitor, Plan, Scenario, execute, output};
use incast_fabric::{PathUse, ideal_fct_over};
use incast_transport::{Bytes, RunRecord};
use incast_world::Captured;

/// MTU, header, control packet, layer 2, least frame, padding of last packets.
const SIZES: [(&str, [u64; 5]); 8] = [
    ("defaults", [1_500, 40, 40, 38, 84]),
    ("jumbo frames", [9_000, 40, 40, 38, 84]),
    ("ns-2", [1_500, 40, 40, 0, 0]),
    ("htsim", [9_000, 0, 64, 0, 0]),
    ("HPCC's ns-3", [1_048, 48, 60, 0, 0]),
    ("the smallest of IPv4", [576, 40, 40, 38, 84]),
    ("large control packets", [4_096, 64, 84, 24, 128]),
    ("as large as can be", [65_000, 40, 60_000, 255, 0]),
];

fn sets(sizes: [u64; 5]) -> Vec<String> {
    let keys = ["mtu", "data_header", "control_packet", "l2_overhead", "min_frame"];
    keys.iter().zip(sizes).map(|(key, value)| format!("fabric.{key}={value}")).collect()
}

fn plan(text: &str, sets: &[String]) -> Result<Plan, String> {
    let scenario = Scenario::parse(text, "sizes.toml", sets).map_err(|fault| fault.to_string())?;
    Plan::new(scenario).map_err(|fault| fault.to_string())
}

const LONE: &str = r#"
[fabric]
topology = "leaf-spine:2x1x2"
rate = "10Gbps"
uplink_rate = "40Gbps"
buffer = "unlimited"
[transport]
names = ["ren", "trd", "amrt", "ndp", "homa", "aeolus", "dcqcn", "dctcp"]
[[traffic]]
kind = "long"
from = "0"
to = "3"
size = "4001B"
[run]
warmup = 0.0
"#;

/// The charge of each packet of a flow, from the five numbers alone.
fn charges(sizes: [u64; 5], padded: bool, bytes: u64) -> Vec<Bytes> {
    let [mtu, header, _, overhead, least] = sizes;
    let payload = mtu - header;
    let mut left = bytes;
    let mut charges = vec![];
    while left > 0 {
        let own = left.min(payload);
        let length = if padded { mtu } else { own + header };
        charges.push(Bytes((length + overhead).max(least)));
        left -= own;
    }
    charges
}

/// A lone flow takes the time that follows from the five numbers, and the run says so.
#[test]
fn a_lone_flow_takes_the_ideal_time_with_any_sizes() {
    for (what, sizes) in SIZES {
        for padded in [false, true] {
            let mut sets = sets(sizes);
            sets.push(format!("fabric.pad_last={padded}"));
            let plan = plan(LONE, &sets).unwrap_or_else(|fault| panic!("{what}: {fault}"));
            let hops = plan.fabric.hops(&plan.fabric.routes(), 0, 3);
            let charges = charges(sizes, padded, 4_001);
            let expected = ideal_fct_over(&hops, PathUse::One, charges.into_iter());
            for case in &plan.cases {
                let (run, _) =
                    execute(&plan, case, vec![], 1, &Monitor::default()).expect("it runs");
                let name = &case.label;
                assert_eq!(run.flows[0].ideal_fct, expected, "{name}, {what}, padded: {padded}");
                let flow = &run.record.flows[0];
                let took = flow.completed.expect("complete") - flow.started.expect("opened");
                assert_eq!(took, expected, "{name}, {what}, padded: {padded}");
            }
        }
    }
}

const CONGESTED: &str = r#"
[fabric]
topology = "leaf-spine:2x2x4"
rate = "10Gbps"
buffer = "24packets"
[transport]
names = ["dctcp"]
[[traffic]]
kind = "incast"
receiver = 0
senders = 6
size = "200KB"
[[traffic]]
kind = "poisson"
workload = "web_server"
load = 0.4
flows = 30
[run]
until = "2s"
"#;

fn run(sets: &[String], name: &str, world: &str) -> (RunRecord, Vec<Captured>) {
    let mut sets = sets.to_vec();
    sets.extend([format!("transport.names=[\"{name}\"]"), format!("run.world={world}")]);
    let plan = plan(CONGESTED, &sets).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let ports = output::ports(&plan, &["all".into()]).expect("ports");
    let (mut run, captured) =
        execute(&plan, &plan.cases[0], ports, 1, &Monitor::default()).expect("it runs");
    run.record.events = 0;
    (run.record, captured)
}

/// Every transport under congestion with jumbo frames, and some with every set of sizes: flows
/// complete, and both worlds agree on every packet.
#[test]
fn congested_transports_are_the_same_in_both_worlds_with_any_sizes() {
    let names = incast_protocols::CATALOGUE.iter().map(|entry| entry.info().name);
    let jumbo = names.map(|name| (name, SIZES[1]));
    let some = ["ndp", "dctcp", "expresspass", "hpcc"];
    let each = SIZES[2..7].iter().flat_map(|sizes| some.map(|name| (name, *sizes)));
    for (name, (what, sizes)) in jumbo.chain(each) {
        let sets = sets(sizes);
        let (one, packets) = run(&sets, name, "sim");
        let (other, received) = run(&sets, name, "dataplane");
        assert!(one.complete, "{name}, {what}: flows are left");
        assert!(one == other, "{name}, {what}: records differ");
        assert!(packets == received, "{name}, {what}: packets differ");
        let largest = packets.iter().map(|seen| seen.packet.payload as u64).max();
        assert!(largest.is_some_and(|payload| payload <= sizes[0] - sizes[1]), "{name}, {what}");
        assert!(largest.is_some_and(|payload| payload + 100 > sizes[0] - sizes[1]), "{name}");
    }
}

/// The load counts what links charge: with the same arrivals in bytes, a smaller MTU needs fewer
/// flows per second.
#[test]
fn the_load_follows_the_sizes() {
    let definition = |sizes| plan(CONGESTED, &sets(sizes)).expect("a plan").traffic;
    let traffic = definition([1_500, 40, 40, 38, 84]);
    let text = &traffic.load_definition;
    assert!(text.contains("40 B of headers and 38 B of layer 2"), "{text}");
    let traffic = definition([576, 64, 40, 20, 84]);
    let text = &traffic.load_definition;
    assert!(text.contains("64 B of headers and 20 B of layer 2"), "{text}");
    assert!(text.contains("packet of 512 B payload"), "{text}");
}

/// What sizes must not be: key, value and range are named.
#[test]
fn sizes_that_contradict_each_other_are_refused() {
    let xoff = "fabric.pfc={ xoff = \"9KB\", allow_cycles = true }";
    for (given, words) in [
        (&["fabric.mtu=65001"][..], "fabric.mtu=65001: expected 128 to 65000"),
        (&["fabric.mtu=100"], "expected 128 to 65000"),
        (&["fabric.mtu=jumbo"], "expected a whole number"),
        (&["fabric.l2_overhead=256"], "expected 0 to 255"),
        (&["fabric.l2_overhead=ethernet"], "expected a whole number, true or false"),
        (
            &["fabric.mtu=500", "fabric.data_header=500"],
            "fabric.data_header = `500`: expected less than fabric.mtu, 500",
        ),
        (
            &[
                "fabric.mtu=200",
                "fabric.data_header=150",
                "transport.names=[\"hpcc\"]",
                "transport.parameters.hpcc.int_hops=8",
            ],
            "fabric.mtu = `200`: expected 217 or more: the headers of hpcc take 216 B",
        ),
        (
            &["fabric.mtu=1000", "fabric.control_packet=1000"],
            "fabric.control_packet = `1000`: expected at most 934",
        ),
        (&["fabric.min_frame=1539"], "fabric.min_frame = `1539`: expected at most 1538"),
        (&["fabric.mtu=9000", "fabric.buffer=9000B"], "fabric.buffer = `9KB`: expected 9.038KB"),
        (
            &["fabric.mtu=9000", "fabric.shared_buffer={ pool = \"9KB\" }"],
            "fabric.shared_buffer.pool = `9KB`: expected 9.038KB or more",
        ),
        (&["fabric.mtu=9000", xoff], "fabric.pfc.xoff = `9KB`: expected 9.038KB or more"),
        (
            &[
                "fabric.mtu=9000",
                "transport.names=[\"homa\"]",
                "transport.parameters.homa.buffer=9000B",
            ],
            "transport.parameters.homa.buffer = `9KB`: expected 9.038KB and more",
        ),
        (
            &[
                "fabric.control_packet=500",
                "transport.names=[\"ren\"]",
                "transport.parameters.ren.control_limit=537B",
            ],
            "transport.parameters.ren.control_limit = `537B`: expected 538B and more",
        ),
        (
            &[
                "fabric.mtu=9000",
                "transport.names=[\"expresspass\"]",
                "transport.parameters.expresspass.credit_share=0.05",
            ],
            "transport.parameters.expresspass.credit_share = `0.05`: expected at most 0.0093",
        ),
        (
            &["fabric.mtu=1000", "traffic.1.packets=pkt_hadoop"],
            "traffic.1.packets = `pkt_hadoop`: its longest packet takes 1500 B with headers",
        ),
        (&["fabric.pad_last=true", "traffic.1.packets=pkt_hadoop"], "expected no such key"),
    ] {
        let given: Vec<String> = given.iter().map(|set| set.to_string()).collect();
        let said = plan(CONGESTED, &given).err().unwrap_or_default();
        assert!(said.contains(words), "{given:?}: `{words}` is not in: {said}");
    }
}

/// Words and numbers of the layer-2 overhead mean the same.
#[test]
fn the_overhead_can_be_a_word() {
    for (word, number, least) in [("true", "38", 84), ("false", "0", 0), ("24", "24", 70)] {
        let of = |value: &str| plan(CONGESTED, &[format!("fabric.l2_overhead={value}")]);
        let [one, other] = [word, number].map(|value| of(value).expect("a plan").site.framing);
        assert_eq!(one, other);
        assert_eq!((one.overhead.to_string().as_str(), one.minimum), (number, least));
    }
}
