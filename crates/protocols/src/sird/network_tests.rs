//! Messages in a network: sums that can be done by hand, and what must hold whatever is lost.

use super::ENTRY;
use incast_testkit::{MSS, Network, Probabilities, Trial, configured, fabric_site, flow, us};
use incast_transport::{Bytes, Rate, Span, Time};

#[test]
fn a_lone_message_takes_the_ideal_time_or_waits_for_its_first_credit() {
    for (spec, dst, hops) in [("star:2", 1, 2), ("leaf-spine:2x2x2", 3, 4)] {
        let network = Trial::of(&ENTRY, &[], spec, us(2));
        let bdp = network.base_rtt().0.div_ceil(network.rate().tx_time(Bytes(1_538)).0);
        for packets in [1, bdp] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time(777))]);
            assert_eq!(record.fct(0), network.ideal(0, dst, packets), "{spec}, {packets}");
        }
        for packets in [bdp + 1, 2_000] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time::ZERO)]);
            let handshake = (network.rate().tx_time(Bytes(84)) + us(2)) * hops * 2;
            assert_eq!(record.fct(0), handshake + network.ideal(0, dst, packets), "{spec}");
            assert_eq!((record.drops(), record.retransmits()), (0, 0));
        }
    }
}

/// 1.5 BDP are under way at most, of which one fills the link: at most half a BDP waits, whatever the number of
/// sources.
#[test]
fn an_incast_of_long_messages_fills_the_link_and_not_the_queue() {
    for sources in [4, 16] {
        let spec = format!("star:{}", sources + 1);
        let mut network = Trial::of(&ENTRY, &[], &spec, us(5));
        network.options.interval = us(100);
        let bdp = network.base_rtt().0.div_ceil(network.rate().tx_time(Bytes(1_538)).0);
        let size = 400 * MSS;
        let flows = (0..sources).map(|id| flow(id, id + 1, 0, size, Time::ZERO)).collect();
        let record = network.carry(flows);
        let last = record.last_hop(0);
        let most = last.total.backlog_max.div_ceil(1_538);
        assert!(most <= bdp / 2, "{sources}: {most} packets, BDP {bdp}");
        assert_eq!((record.drops(), record.retransmits()), (0, 0));
        let took = record.finished().since(Time::ZERO);
        let ideal = network.ideal(1, 0, 400 * sources as u64);
        assert!(took <= ideal + us(30), "{took}, {ideal}");
    }
}

/// Three destinations credit one source, whose link they cannot fill three times: what it cannot use stays
/// there, unless it says so.
#[test]
fn a_congested_source_gets_less_credit() {
    let held = |threshold: &str| {
        let fabric = fabric_site(4, Rate::from_gbps(10), us(80));
        let plan = configured(&ENTRY, &[("sender_threshold", threshold)], &fabric);
        let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
        for id in 0..3 {
            network.add(flow(id, 0, 1 + id, 60_000_000, Time::ZERO));
        }
        network.run(Time::ZERO + Span::from_ms(60));
        let credits = |id| {
            let flow = incast_transport::FlowId(id);
            network.hosts[0].observe(flow, network.now).credits.expect("credit")
        };
        (0..3).map(credits).sum::<u64>()
    };
    // BDPs are 66 packets.
    let (without, with) = (held("1000"), held("0.5"));
    assert!((120..=140).contains(&without), "{without}");
    assert!((20..=50).contains(&with), "{with}");
}

#[test]
fn every_message_completes_in_an_impaired_network() {
    for seed in 0..20 {
        let fabric = fabric_site(4, Rate::from_gbps(10), us(10 + 90 * (seed % 2)));
        let unscheduled = ["1", "0", "3"][seed as usize % 3];
        let plan = configured(&ENTRY, &[("unscheduled", unscheduled)], &fabric);
        let level = 0.01 * (1 + seed % 5) as f64;
        let some = Probabilities::each(level, fabric.base_rtt * 4);
        Network::of(&*plan, &fabric, some, seed).survives();
    }
    for seed in 1..4 {
        Trial::of(&ENTRY, &[], "leaf-spine:3x2x3", us(1)).survives_impairments(seed);
    }
}
