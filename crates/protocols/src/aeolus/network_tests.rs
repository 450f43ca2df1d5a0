//! Known results of Aeolus in whole networks.

use super::ENTRY;
use crate::homa;
use incast_testkit::*;
use incast_transport::{Bytes, Limit, Random, Span, Time, Transport};

fn network(
    transport: &'static dyn Transport,
    settings: &[(&'static str, &'static str)],
    spec: &str,
) -> Trial<'static> {
    let mut network = Trial::of(transport, settings, spec, Span::from_us(2));
    network.buffer = Limit::Bytes(128 << 10);
    network
}

fn blind(network: &Trial) -> u64 {
    network.base_rtt().0.div_ceil(FULL.0)
}

#[test]
fn a_short_flow_alone_takes_the_ideal_time() {
    for (spec, dst) in [("star:2", 1), ("leaf-spine:2x2x2", 3)] {
        let network = network(&ENTRY, &[], spec);
        for packets in [1, blind(&network)] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time(777))]);
            assert_eq!(record.fct(0), network.ideal(0, dst, packets), "{spec}");
        }
    }
}

#[test]
fn a_long_flow_alone_is_a_probe_behind_the_ideal_time() {
    let network = network(&ENTRY, &[], "leaf-spine:2x2x2");
    let record = network.carry(vec![flow(0, 0, 3, 2_000 * MSS, Time::ZERO)]);
    let late = record.fct(0) - network.ideal(0, 3, 2_000);
    assert_eq!(late, network.rate().tx_time(Bytes(84)));
    assert_eq!(record.flows[0].retransmits, 0);
}

#[test]
fn synchronous_bursts_lose_unscheduled_packets_only_and_recover_at_line_rate() {
    for senders in [2u32, 4, 8, 16] {
        let network = network(&ENTRY, &[("threshold_of", "port")], "star:17");
        let burst = blind(&network);
        let flows = (0..senders).map(|id| flow(id, id + 1, 0, burst * MSS, Time::ZERO));
        let record = network.carry(flows.collect());
        assert!(record.complete);
        // Delivered in the first RTT: what the link carries, and four packets.
        let lost = (senders as u64 - 1) * burst - 4;
        let found = record.drops() as u64;
        assert!(found.abs_diff(lost) <= senders as u64 + 2, "{senders}: {found} of {lost}");
        // Every lost packet is retransmitted once.
        let again: u32 = record.flows.iter().map(|flow| flow.retransmits).sum();
        assert_eq!(again as u64, found);
        // Four packets are queued, and scheduled ones up to the limit of overcommitment.
        let queue = record.last_hop(0).total.backlog_max;
        assert!(queue <= (4 + 4 * burst) * 1_538, "{senders}: {queue}");
        // After the probe, an RTT of grace and grants the link is busy to the end.
        let link = FULL * (senders as u64 * burst) + network.base_rtt() * 3;
        let got = record.finished().since(Time::ZERO);
        assert!(got <= link + FULL * (senders as u64), "{senders}: {got} {link}");
    }
}

#[test]
fn an_incast_takes_a_fraction_of_homas_time_in_a_small_buffer() {
    let run = |transport: &'static dyn Transport| {
        let mut network = network(transport, &[], "star:41");
        network.buffer = Limit::Bytes(65_536);
        let flows = (0..40).map(|id| flow(id, id + 1, 0, 8 * MSS, Time::ZERO)).collect();
        let record = network.carry(flows);
        assert!(record.complete);
        record.finished().since(Time::ZERO)
    };
    let (aeolus, homa) = (run(&ENTRY), run(&homa::ENTRY));
    assert!(aeolus * 3 < homa, "{aeolus} {homa}");
    assert!(aeolus < FULL * (40 * 8) * 5 / 4, "{aeolus}");
}

#[test]
fn without_a_threshold_it_starts_as_homa_does() {
    let run = |transport: &'static dyn Transport, settings: &[(&'static str, &'static str)]| {
        let mut network = network(transport, settings, "star:9");
        network.buffer = Limit::Unlimited;
        let flows = (0..8).map(|id| flow(id, id + 1, 0, (20 + 10 * id as u64) * MSS, Time::ZERO));
        let record = network.carry(flows.collect());
        assert_eq!(record.drops(), 0);
        (record.finished().since(Time::ZERO), record)
    };
    let (homa, _) = run(&homa::ENTRY, &[]);
    let (aeolus, record) = run(&ENTRY, &[("threshold", "1000000")]);
    // Probes and the delay of packets after them.
    assert!(aeolus.0.abs_diff(homa.0) < FULL.0 * 10, "{aeolus} {homa}");
    assert!(record.flows.iter().map(|flow| flow.retransmits).sum::<u32>() < 8 * 9);
}

#[test]
fn with_a_threshold_of_zero_it_waits_for_grants() {
    let network = network(&ENTRY, &[("threshold", "0")], "star:3");
    let burst = blind(&network);
    let record = network.carry(vec![flow(0, 1, 0, burst * MSS, Time::ZERO)]);
    assert_eq!(record.drops() as u64, burst);
    // The burst, the probe's delay, the grace time, and then a grant and its packet.
    let grace = network.base_rtt();
    let least = FULL * burst + grace + network.base_rtt();
    let late = record.fct(0);
    assert!(late >= least && late <= least + FULL * burst + Span::from_us(10), "{late} {least}");
    assert_eq!(record.flows[0].retransmits as u64, burst);
}

#[test]
fn scheduled_traffic_loses_nothing() {
    // Long flows in progress, and dropped bursts: the long flows lose no packet.
    let mut network = network(&ENTRY, &[("overcommitment", "4")], "star:30");
    network.options.until = Time::ZERO + Span::from_ms(50);
    let mut flows: Vec<_> = (0..4).map(|id| flow(id, id + 1, 0, 3_000 * MSS, Time::ZERO)).collect();
    let mut random = Random::new(4, 0, 0);
    for id in 4..200 {
        let start = Time(1_000_000_000 + random.below(4_000_000_000));
        flows.push(flow(id, 5 + id % 24, 0, (1 + random.below(9)) * MSS, start));
    }
    let record = network.carry(flows);
    assert!(record.complete);
    assert!(record.drops() > 10);
    let queue = record.last_hop(0).total.backlog_max;
    assert!(queue < 128 << 10, "the buffer was never full: {queue}");
}

#[test]
fn every_flow_completes_in_an_impaired_network() {
    for seed in 1..6 {
        Trial::of(&ENTRY, &[], "leaf-spine:3x2x3", Span::from_us(1)).survives_impairments(seed);
    }
}
