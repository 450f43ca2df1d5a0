//! Known results of Homa in whole networks.

use super::ENTRY;
use incast_testkit::*;
use incast_transport::{
    Bytes, Flow, Header, Limit, PortRecord, Random, SizeQuantiles, Span, Time, data_flag, flag,
};
use std::sync::Arc;

fn network(settings: &[(&'static str, &'static str)], spec: &str) -> Trial<'static> {
    let mut network = Trial::of(&ENTRY, settings, spec, Span::from_us(2));
    network.buffer = Limit::Unlimited;
    network
}

/// RTTbytes in packets.
fn blind(network: &Trial) -> u64 {
    network.base_rtt().0.div_ceil(FULL.0)
}

/// Charged bytes that a port sent from the `from`-th to before the `to`-th microsecond.
fn sent(port: &PortRecord, interval: Span, from: u64, to: u64) -> u64 {
    let bin = |us: u64| (us * 1_000_000 / interval.0) as usize;
    let bins = port.bins.iter().take(bin(to)).skip(bin(from));
    bins.map(|bin| bin.sent_bytes).sum()
}

#[test]
fn a_message_no_larger_than_rtt_bytes_takes_the_ideal_time() {
    for (spec, dst) in [("star:2", 1), ("leaf-spine:2x2x2", 3)] {
        let network = network(&[], spec);
        for packets in [1, blind(&network)] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time(777))]);
            assert_eq!(record.fct(0), network.ideal(0, dst, packets), "{spec}");
        }
    }
}

#[test]
fn a_long_message_alone_fills_the_link_and_no_queue() {
    for (spec, dst) in [("star:2", 1), ("leaf-spine:2x2x2", 3)] {
        let network = network(&[], spec);
        let record = network.carry(vec![flow(0, 0, dst, 2_000 * MSS, Time::ZERO)]);
        assert_eq!(record.fct(0), network.ideal(0, dst, 2_000), "{spec}");
        let most = record.ports.iter().map(|port| port.total.backlog_max).max().unwrap();
        assert!(most <= 2 * 1_538, "{spec}: {most}");
    }
    // With RTTbytes of 9.7 KB and 27 KB per RTT it is clocked at 7 packets per RTT.
    let mut network = network(&[("rtt_bytes", "9700B")], "leaf-spine:2x4x2");
    network.options.until = Time::ZERO + Span::from_secs(1);
    let record = network.carry(vec![flow(0, 0, 3, 2_000 * MSS, Time::ZERO)]);
    let rounds = network.base_rtt().0 as f64 * 2_000.0 / 7.0;
    assert!((record.fct(0).0 as f64 / rounds - 1.0).abs() < 0.01);
}

#[test]
fn two_long_messages_to_one_receiver() {
    let run = |overcommitment: &'static str| {
        let network = network(&[("overcommitment", overcommitment)], "star:3");
        let flows = (0..2).map(|id| flow(id, id + 1, 0, 1_000 * MSS, Time::ZERO)).collect();
        let record = network.carry(flows);
        let steady = record.last_hop(0).bins[20..40].iter();
        let queue = steady.map(|bin| bin.backlog_max).max().unwrap();
        (network, record, queue)
    };
    let (network, serial, queue) = run("1");
    let rtt_bytes = blind(&network) * 1_538;
    // Run to completion: the first after its own packets and the other's blind ones.
    let first = |record: &Outcome| record.fct(0).min(record.fct(1));
    let alone = network.ideal(1, 0, 1_000 + blind(&network));
    assert!(first(&serial) <= alone + FULL * 4, "{} {alone}", first(&serial));
    assert!(queue <= 2 * 1_538, "{queue}");
    let both = network.ideal(1, 0, 2_000);
    assert!(serial.finished().since(Time::ZERO) <= both + FULL * 10);
    // Both granted: about one RTTbytes waits, in a lower class than the first one's.
    let (_, shared, queue) = run("2");
    assert!((rtt_bytes / 2..=rtt_bytes + 2 * 1_538).contains(&queue), "{queue} {rtt_bytes}");
    // The first one is first as soon as one of them is ahead; they begin equal, for an RTT.
    let late = FULL * (blind(&network) + 4);
    assert!(first(&shared) <= first(&serial) + late, "{}", first(&shared));
    assert!(shared.finished().since(Time::ZERO) <= both + FULL * 10);
}

#[test]
fn synchronous_starts_queue_all_blind_bytes_but_one_share() {
    for senders in [2, 4, 8] {
        let network = network(&[], "star:9");
        let flows = (0..senders).map(|id| flow(id, id + 1, 0, 400 * MSS, Time::ZERO)).collect();
        let record = network.carry(flows);
        let expected = (senders as u64 - 1) * blind(&network) * 1_538;
        let found = record.last_hop(0).total.backlog_max;
        // REN eq. (1); the first grants are received before all of it has arrived.
        let more = 4 * blind(&network) * 1_538 / 4 + 4 * 1_538;
        assert!((expected - 4 * 1_538..=expected + more).contains(&found), "{found} {expected}");
        assert!(record.complete);
    }
}

#[test]
fn scheduled_packets_queue_no_more_than_overcommitment_allows() {
    // Invariant 2: beyond the first RTTs at most (K - 1) RTTbytes and K packets wait, and
    // what rounding RTTbytes up to packets adds, a packet for each message.
    for (setting, degree) in [("1", 1), ("2", 2), ("4", 4)] {
        // Packets of the worst of them wait for longer than the usual interval.
        let settings = [("overcommitment", setting), ("resend_interval", "1s")];
        let network = network(&settings, "star:9");
        let flows = (0..8).map(|id| flow(id, id + 1, 0, 500 * MSS, Time(id as u64 * 40_000_000)));
        let record = network.carry(flows.collect());
        let bins = &record.last_hop(0).bins;
        let most = bins[60..400].iter().map(|bin| bin.backlog_max).max().unwrap();
        let bound = ((degree - 1) * blind(&network) + 2 * degree) * 1_538;
        assert!(most <= bound, "{degree}: {most} {bound}");
        assert!(degree == 1 || most > bound / 2, "{degree}: {most} {bound}");
    }
}

#[test]
fn a_dead_sender_idles_the_link_only_without_overcommitment() {
    for (setting, busy) in [("1", false), ("2", true)] {
        let mut network = network(&[("overcommitment", setting)], "star:3");
        network.options.silent = vec![(1, Time(40_000_000))];
        network.options.until = Time::ZERO + Span::from_ms(5);
        let flows =
            vec![flow(0, 1, 0, 500 * MSS, Time::ZERO), flow(1, 2, 0, 2_000 * MSS, Time::ZERO)];
        let record = network.carry(flows);
        let port = record.last_hop(0);
        let share = sent(port, record.interval, 200, 900) as f64 / (700e-6 * 10e9 / 8.0);
        assert_eq!(share > 0.95, busy, "{setting}: {share}");
        assert!(busy || share < 0.05, "{setting}: {share}");
    }
}

#[test]
fn a_shorter_message_takes_the_link_at_once() {
    let network = network(&[], "star:3");
    let flows = vec![
        flow(0, 1, 0, 3_000 * MSS, Time::ZERO),
        flow(1, 2, 0, 200 * MSS, Time::ZERO + Span::from_us(1_000)),
    ];
    let record = network.carry(flows);
    // It waits for packets in transmission only.
    let late = record.fct(1).saturating_sub(network.ideal(2, 0, 200));
    assert!(late <= FULL * 3, "{late}");
    // And costs the other what it took.
    let late = record.fct(0).saturating_sub(network.ideal(1, 0, 3_200));
    assert!(late <= FULL * 12, "{late}");
}

#[test]
fn without_priorities_in_switches_it_is_not_homa() {
    let run = |priorities: &'static str| {
        let network = network(&[("priorities", priorities), ("overcommitment", "4")], "star:6");
        let mut flows: Vec<_> =
            (0..4).map(|id| flow(id, id + 1, 0, 2_000 * MSS, Time::ZERO)).collect();
        let start = Time::ZERO + Span::from_us(3_000);
        flows.push(flow(4, 5, 0, 10_000, start));
        let record = network.carry(flows);
        record.fct(4)
    };
    assert!(run("8") < Span::from_us(17), "{}", run("8"));
    assert!(run("2") > run("8") + FULL * 20, "{}", run("2"));
}

#[test]
fn one_lost_packet_costs_one_request() {
    let fabric = super::tests::eight();
    let plan = configured(&ENTRY, &[], &fabric);
    let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
    network.impair_all(Impairments::losing(|packet| {
        !packet.has(flag::RETRANSMIT)
            && matches!(packet.header, Header::Data { seq: 100, flags, .. }
                if flags & data_flag::UNSCHEDULED == 0)
    }));
    network.add(flow(0, 0, 1, 200 * MSS, Time::ZERO));
    network.complete(Span::from_ms(10));
    let resend = |sent: &Sent| match sent.packet.header {
        Header::Resend { first, packets, .. } => Some((first, packets)),
        _ => None,
    };
    let resends: Vec<_> = network.sent.iter().filter_map(resend).collect();
    assert_eq!(resends, [(100, 1)]);
    let again = network.sent.iter().filter(|sent| sent.packet.has(flag::RETRANSMIT)).count();
    assert_eq!(again, 1);
    // All the rest arrives at once, the missing packet an interval and one RTT later. Until
    // then seven packets are in flight: one slot of each RTT is empty.
    let end = network.completed(0).expect("complete");
    let rest = Time::ZERO + FULL * (200 + 100 / 8 + 2) + network.delay();
    let latest = rest + Span::from_ms(1) + FULL * 10;
    assert!(end <= latest && end >= Time::ZERO + Span::from_ms(1), "{end} {latest}");
}

/// Forty senders of two racks, each with a message for both hosts under the third; of some only
/// the first RTT is heard (AMRT §8.2, figure 14, at half its size).
fn response(ratio: u32, overcommitment: &'static str) -> (f64, u64) {
    let mut network = network(&[("overcommitment", overcommitment)], "leaf-spine:3x4x10");
    let mut random = Random::new(5, 0, 0);
    let mut flows: Vec<Flow> = vec![];
    for src in 0..20 {
        for dst in [20, 21] {
            let size = (400 + random.below(200)) * MSS;
            flows.push(flow(flows.len() as u32, src, dst, size, Time::ZERO));
        }
    }
    for src in 0..20 {
        if random.below(10) >= ratio as u64 {
            network.options.silent.push((src, Time::ZERO + Span::from_us(14)));
        }
    }
    // Set aside after five requests: well before that.
    network.options.until = Time::ZERO + Span::from_us(4_000);
    let record = network.carry(flows);
    let (mut bytes, mut queue) = (0, 0);
    for host in [20, 21] {
        let port = record.last_hop(host);
        bytes += sent(port, record.interval, 1_000, 4_000);
        let steady = port.bins.iter().skip(100).map(|bin| bin.backlog_max);
        queue = queue.max(steady.max().unwrap_or(0));
    }
    (bytes as f64 / (2.0 * 3_000e-6 * 10e9 / 8.0), queue)
}

#[test]
fn overcommitment_trades_queue_for_utilisation() {
    // AMRT figure 14 at a response ratio of one half: from 2 to 8 utilisation +32 %, queue x 4.
    let (low, short) = response(5, "2");
    let (high, long) = response(5, "8");
    assert!(high > low * 1.2, "{low} {high}");
    assert!(long > short * 2, "{short} {long}");
    let (all, _) = response(10, "2");
    assert!(all > 0.97, "{all}");
}

#[test]
fn classes_by_the_sizes_of_the_run() {
    // Short messages of a run of mostly short ones pass the longer blind ones.
    let mut network = network(&[], "star:12");
    let points = vec![(100.0, 0.0), (2_000.0, 0.6), (20_000.0, 1.0)];
    network.sizes = Some(Arc::new(SizeQuantiles { points }));
    let mut flows: Vec<_> = (0..10).map(|id| flow(id, id + 1, 0, 8 * MSS, Time::ZERO)).collect();
    flows.push(flow(10, 11, 0, 500, Time::ZERO + Span::from_us(20)));
    let record = network.carry(flows);
    assert!(record.complete);
    let late = record.fct(10).saturating_sub(Span::from_us(4));
    assert!(late <= FULL * 4, "{late}");
}

#[test]
fn an_incast_into_a_small_buffer_recovers_after_an_interval() {
    let mut network = network(&[], "star:41");
    network.buffer = Limit::Bytes(65_536);
    let flows = (0..40).map(|id| flow(id, id + 1, 0, 8 * MSS, Time::ZERO)).collect();
    let record = network.carry(flows);
    assert!(record.complete);
    let drops: u32 = record.drops();
    assert!(drops > 100, "{drops}");
    // Some messages are lost as a whole: their senders wait three intervals.
    let got = record.finished().since(Time::ZERO);
    assert!(got > Span::from_ms(1) && got < Span::from_ms(12), "{got}");
    let link = network.rate().tx_time(Bytes(1_538)) * (40 * 8);
    assert!(got > link, "{got} {link}");
}

#[test]
fn every_message_completes_despite_faults() {
    for seed in 1..6 {
        Trial::of(&ENTRY, &[], "leaf-spine:3x2x3", Span::from_us(1)).survives_impairments(seed);
    }
}
