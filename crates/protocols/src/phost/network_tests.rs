//! Known results of pHost in whole networks.

use super::ENTRY;
use incast_testkit::*;
use incast_transport::{Bytes, Span, Time};

#[test]
fn a_short_flow_alone_takes_the_ideal_time() {
    for (spec, dst) in [("star:2", 1), ("leaf-spine:2x2x2", 3)] {
        let network = Trial::of(&ENTRY, &[], spec, Span::from_us(2));
        let free = network.base_rtt().0.div_ceil(network.rate().tx_time(Bytes(1_538)).0);
        for packets in [1, free] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time(777))]);
            assert_eq!(record.fct(0), network.ideal(0, dst, packets), "{spec}");
        }
    }
}

#[test]
fn a_long_flow_alone_waits_one_rtt_and_fills_the_link() {
    for (spec, dst, hops) in [("star:2", 1, 2), ("leaf-spine:2x2x2", 3, 4)] {
        let network = Trial::of(&ENTRY, &[], spec, Span::from_us(2));
        let record = network.carry(vec![flow(0, 0, dst, 2_000 * MSS, Time::ZERO)]);
        let handshake = (network.rate().tx_time(Bytes(84)) + Span::from_us(2)) * hops * 2;
        assert_eq!(record.fct(0), handshake + network.ideal(0, dst, 2_000), "{spec}");
        assert_eq!(record.flows[0].retransmits, 0);
        // With free tokens for its first packets it need not wait.
        let network = Trial::of(&ENTRY, &[("free_for_long", "true")], spec, Span::from_us(2));
        let record = network.carry(vec![flow(0, 0, dst, 2_000 * MSS, Time::ZERO)]);
        let late = record.fct(0) - network.ideal(0, dst, 2_000);
        assert!(late <= network.rate().tx_time(Bytes(1_538)) * 3, "{spec}: {late}");
    }
}

#[test]
fn long_flows_to_one_host_take_turns_without_a_queue() {
    let network = Trial::of(&ENTRY, &[], "star:5", Span::from_us(2));
    let flows = (0..4).map(|id| flow(id, id + 1, 0, (200 + 100 * id as u64) * MSS, Time::ZERO));
    let record = network.carry(flows.collect());
    assert!(record.complete);
    // Shortest first, each at the link's rate.
    let ends: Vec<_> = record.flows.iter().map(|flow| flow.completed.unwrap()).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    let link = network.rate().tx_time(Bytes(1_538));
    let handshake = (network.rate().tx_time(Bytes(84)) + Span::from_us(2)) * 4;
    let first = handshake + network.ideal(1, 0, 200);
    let late = record.fct(0).0 as i64 - first.0 as i64;
    assert!((0..5 * link.0 as i64).contains(&late), "{late}");
    let all = handshake + network.ideal(1, 0, 200 + 300 + 400 + 500);
    let got = record.finished().since(Time::ZERO);
    assert!(got.0 as f64 <= all.0 as f64 * 1.02, "{got}, {all}");
    let backlog = record.last_hop(0).total.backlog_max;
    assert!(backlog <= 6 * 1_538, "{backlog}");
}

#[test]
fn an_incast_of_short_flows_recovers() {
    // 40 flows of the free tokens' size overflow 24 packets of buffer at once.
    let network = Trial::of(&ENTRY, &[], "star:41", Span::from_us(2));
    let flows = (0..40).map(|id| flow(id, id + 1, 0, 8 * MSS, Time::ZERO)).collect();
    let record = network.carry(flows);
    assert!(record.complete);
    let drops: u32 = record.drops();
    assert!(drops > 100, "{drops}");
    // All tokens are issued at the link's rate, none before the pause of the short flows.
    let link = network.rate().tx_time(Bytes(1_538)) * (40 * 8);
    let got = record.finished().since(Time::ZERO);
    assert!(got.0 <= link.0 * 2, "{got}, link time {link}");
}

#[test]
fn every_flow_completes_despite_faults() {
    for seed in 1..6 {
        let long = if seed % 2 == 0 { "true" } else { "false" };
        let settings = [("free_for_long", long)];
        Trial::of(&ENTRY, &settings, "leaf-spine:3x2x3", Span::from_us(1))
            .survives_impairments(seed);
    }
}
