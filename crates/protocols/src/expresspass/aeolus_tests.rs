//! Known results of ExpressPass with Aeolus's first RTT.

use super::ENTRY;
use super::network_tests::mixed;
use incast_testkit::*;
use incast_transport::{Bytes, Header, Limit, Random, Span, Time};
use incast_world::Faults;

const AEOLUS: (&str, &str) = ("first_rtt", "aeolus");

fn network(settings: &[(&'static str, &'static str)], spec: &str) -> Trial<'static> {
    let mut network = Trial::of(&ENTRY, settings, spec, Span::from_us(4));
    network.options.until = Time::ZERO + Span::from_ms(50);
    network.buffer = Limit::Bytes(250 * 1_538);
    network
}

fn bdp(network: &Trial) -> u64 {
    network.base_rtt().0.div_ceil(FULL.0)
}

#[test]
fn a_short_flow_alone_takes_the_ideal_time_after_its_request() {
    for (spec, dst) in [("star:2", 1), ("leaf-spine:2x2x2", 3)] {
        let network = network(&[AEOLUS], spec);
        // The first credit comes few packets before the BDP is sent, whose RTT is one of a
        // full packet; what is left then waits for credits.
        for packets in [1, bdp(&network) - 5] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time(777))]);
            let expected = network.rate().tx_time(Bytes(84)) + network.ideal(0, dst, packets);
            assert_eq!(record.fct(0), expected, "{spec}");
        }
    }
}

#[test]
fn a_long_flow_gains_its_first_rtt() {
    let run = |settings: &[(&'static str, &'static str)]| {
        let network = network(settings, "leaf-spine:2x2x2");
        let record = network.carry(vec![flow(0, 0, 3, 1_000 * MSS, Time::ZERO)]);
        assert!(record.complete);
        (record.fct(0), network.base_rtt(), record.retransmits())
    };
    let (wait, rtt, none) = run(&[]);
    let (aeolus, _, _) = run(&[AEOLUS]);
    assert_eq!(none, 0);
    let gained = (wait - aeolus).0 as f64 / rtt.0 as f64;
    assert!((0.5..2.0).contains(&gained), "{gained}");
}

#[test]
fn synchronous_bursts_lose_unscheduled_packets_only() {
    for senders in [2u32, 4, 8] {
        let mut network = network(&[AEOLUS], "star:9");
        let last = network.fabric.routes().next(network.fabric.rack_of(0), 0)[0];
        network.options.capture = (0..=last.0).collect();
        let burst = bdp(&network);
        let flows = (0..senders).map(|id| flow(id, id + 1, 0, 3 * burst * MSS, Time::ZERO));
        let record = network.carry(flows.collect());
        assert!(record.complete);
        let count = |at_last: bool, kind: fn(&Header) -> bool| {
            let there = |port: u32| (port == last.0) == at_last;
            record.packets.iter().filter(|p| there(p.port) && kind(&p.packet.header)).count() as u64
        };
        let early = |header: &Header| matches!(header, Header::Data { .. });
        let credited = |header: &Header| matches!(header, Header::Credited { .. });
        // Delivered of the bursts: what the link carries in one RTT, and four packets.
        let (sent, delivered) = (count(false, early), count(true, early));
        assert!(sent >= senders as u64 * (burst - 3) && sent <= senders as u64 * burst);
        assert!(delivered.abs_diff(burst + 1) <= 4, "{senders}: {delivered} {burst}");
        // Every drop is an unscheduled packet: data with a credit is never dropped.
        let drops = record.ports[last.0 as usize].total.drops as u64;
        assert_eq!(drops, sent - delivered);
        assert_eq!(count(false, credited), count(true, credited));
        // Every lost packet is retransmitted once; few others, whose ACK was late.
        let again = record.retransmits() as u64;
        assert!(again >= drops && again <= drops + 8, "{again} {drops}");
        let queue = record.ports[last.0 as usize].total.backlog_max;
        assert!(queue <= 12 * 1_538, "{senders}: {queue}");
    }
}

#[test]
fn a_threshold_of_zero_waits_for_credits() {
    let run = |settings: &[(&'static str, &'static str)]| {
        let network = network(settings, "star:3");
        let record = network.carry(vec![flow(0, 1, 0, 10 * MSS, Time::ZERO)]);
        (record.finished().since(Time::ZERO), record.retransmits())
    };
    let (wait, _) = run(&[]);
    let (zero, again) = run(&[AEOLUS, ("threshold", "0")]);
    assert_eq!(again, 10, "the burst was useless");
    assert!(zero >= wait && zero < wait + FULL * 30, "{zero} {wait}");
}

#[test]
fn short_flows_beside_long_ones_gain_and_long_ones_lose_nothing() {
    let run = |settings: &[(&'static str, &'static str)]| {
        let mut network = network(settings, "star:12");
        network.options.until = Time::ZERO + Span::from_ms(100);
        let mut flows = vec![flow(0, 1, 0, 4_000 * MSS, Time::ZERO)];
        let mut random = Random::new(3, 0, 0);
        for id in 1..100 {
            let dst = 2 + random.below(9) as u32;
            let src = 2 + (dst - 1 + random.below(8) as u32) % 9;
            let start = Time(random.below(4_000_000_000));
            flows.push(flow(id, src, dst, 1 + random.below(20_000), start));
        }
        let record = network.carry(flows);
        assert!(record.complete);
        let sum: u64 = (1..100).map(|id| record.fct(id).0).sum();
        (Span(sum / 99), record.fct(0))
    };
    let ((wait, long), (aeolus, beside)) = (run(&[]), run(&[AEOLUS]));
    assert!(aeolus * 3 < wait * 2, "{aeolus} {wait}");
    assert!(beside <= long + FULL * 60, "{beside} {long}");
}

#[test]
fn every_flow_completes_under_impairments() {
    for seed in 1..6 {
        let mut network = Trial::of(&ENTRY, &[AEOLUS], "leaf-spine:4x2x4", Span::from_us(4));
        let late = Span::from_us(100);
        network.options.faults = Faults { loss: 0.1, reorder: 0.1, duplicate: 0.1, late };
        network.options.seed = seed;
        network.options.until = Time::ZERO + Span::from_secs(20);
        network.options.drain = Span::from_secs(5);
        network.buffer = Limit::Packets(20);
        network.set_flows(mixed(16, 200, seed));
        network.delivers();
    }
}
