//! Flows in a network: sums that can be done by hand, and what must hold whatever is lost.

use super::ENTRY;
use incast_fabric::{LinkDefaults, Options, parse_with};
use incast_testkit::{
    MSS, Network, Outcome, Probabilities, Trial, configured, fabric_site, flow, us,
};
use incast_transport::{Flow, FlowId, Framing, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(40);
/// Of a full packet.
const PACKET: Span = Span::from_ns(300);

/// YAPS's fabric: 40 Gb/s and 200 ns, four spines with links of four times the rate, packets of 1500 B as
/// they are.
fn yaps<'a>(flows: Vec<Flow>) -> Trial<'a> {
    let defaults = LinkDefaults { rate: RATE, propagation: Span::from_ns(200), loss: 0.0 };
    let shape = Options { uplink_rate: Some(Rate::from_gbps(160)), ..Options::default() };
    let fabric = parse_with("leaf-spine:9x4x16", defaults, &shape).expect("a valid topology");
    let mut trial = Trial::new(&ENTRY, fabric, flows).set("set", "yaps");
    trial.framing = Framing::NONE;
    trial.options.drain = Span::from_ms(1);
    trial
}

fn packets(id: u32, src: u32, dst: u32, packets: u64) -> Flow {
    flow(id, src, dst, packets * MSS, Time::ZERO)
}

/// How long each flow took until its source knew.
fn acknowledged(outcome: &Outcome) -> Vec<Span> {
    let took = |flow: &incast_transport::FlowRecord| {
        flow.acknowledged.expect("acknowledged") - flow.started.expect("opened")
    };
    outcome.flows.iter().map(took).collect()
}

/// All of them confirmed by YAPS, whose times end with the last ACK.
#[test]
fn a_lone_flow_takes_the_sum_of_its_times() {
    for (dst, count, ns) in [
        (1, 1, 1_416),
        (1, 100, 31_116),
        (1, 1_000, 301_116),
        (143, 1, 2_370),
        (143, 1_000, 2_370 + 999 * 300),
    ] {
        let outcome = yaps(vec![packets(0, 0, dst, count)]).run();
        assert_eq!(acknowledged(&outcome), [Span::from_ns(ns)], "{count} packets to {dst}");
        assert_eq!((outcome.retransmits(), outcome.drops()), (0, 0));
        assert_eq!(outcome.flows[0].control_packets as u64, count);
    }
}

#[test]
fn a_short_flow_passes_a_long_one_but_for_the_packet_on_the_link() {
    let short = |start| Flow { start, ..packets(1, 1, 2, 10) };
    let alone = acknowledged(&yaps(vec![Flow { id: FlowId(0), ..short(Time::ZERO) }]).run())[0];
    for ns in [40_000, 40_100, 40_299] {
        let outcome = yaps(vec![packets(0, 0, 2, 1_000), short(Time(ns * 1_000))]).run();
        let took = acknowledged(&outcome)[1];
        assert!((alone..=alone + PACKET).contains(&took), "{took}, alone {alone}");
    }
}

/// Eight windows of twelve packets meet in a port for 24: what it neither holds nor has sent is lost.
#[test]
fn what_a_port_cannot_hold_is_lost_at_once() {
    let mut trial = yaps((0..8).map(|id| packets(id, id, 8, 12)).collect());
    trial.options.until = Time::ZERO + us(40);
    let outcome = trial.run();
    // Eight come every 300 ns. Before the last eight come eleven have begun to leave.
    assert_eq!(outcome.drops(), 96 - 24 - 11);
    assert_eq!(outcome.retransmits(), 0);
    trial.options.until = Time::ZERO + us(4_000);
    let outcome = trial.delivers();
    assert_eq!(outcome.retransmits(), outcome.drops());
}

/// One link, flows of 10, 20 ... 60 packets: those that the port has room for take their turns without a
/// gap, the shortest first; the others lose their windows and come after a timeout.
#[test]
fn the_shortest_flows_to_one_host_end_as_if_they_took_turns() {
    let flows: Vec<Flow> = (0..6).map(|id| packets(id, id, 8, 60 - 10 * id as u64)).collect();
    let outcome = yaps(flows).delivers();
    let ends: Vec<Time> = outcome.flows.iter().rev().map(|flow| flow.completed.unwrap()).collect();
    let turns = [10, 30, 60].map(|before| Time::ZERO + Span::from_ns(700) + PACKET * before);
    assert_eq!(ends[..3], turns);
    let late = Time::ZERO + us(45)..Time::ZERO + us(100);
    assert!(ends[3..].iter().all(|end| late.contains(end)), "{ends:?}");
}

#[test]
fn hosts_send_their_shortest_flow_and_lose_nothing() {
    let flows: Vec<Flow> = (0..6).map(|id| packets(id, 0, 1 + id, 60 - 10 * id as u64)).collect();
    let outcome = yaps(flows).delivers();
    assert_eq!((outcome.drops(), outcome.retransmits()), (0, 0));
    for (place, flow) in outcome.flows.iter().rev().enumerate() {
        let before = (1..=place as u64 + 1).map(|size| 10 * size).sum::<u64>();
        let end = Time::ZERO + Span::from_ns(700) + PACKET * before;
        assert_eq!(flow.completed, Some(end), "flow of {} packets", 10 * (place + 1));
    }
}

#[test]
fn every_flow_completes_in_an_impaired_network() {
    for seed in 0..20 {
        let fabric = fabric_site(4, Rate::from_gbps(10), us(10 + 90 * (seed % 2)));
        let probes = ["5", "0", "1"][seed as usize % 3];
        let plan = configured(&ENTRY, &[("probe_after", probes)], &fabric);
        let level = 0.01 * (1 + seed % 5) as f64;
        let some = Probabilities::each(level, fabric.base_rtt * 4);
        Network::of(&*plan, &fabric, some, seed).survives();
    }
    for seed in 1..4 {
        Trial::of(&ENTRY, &[], "leaf-spine:3x2x3", us(1)).survives_impairments(seed);
    }
}
