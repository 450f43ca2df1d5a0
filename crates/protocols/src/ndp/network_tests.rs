//! Known results of NDP in whole networks.

use super::ENTRY;
use incast_testkit::*;
use incast_transport::{Bytes, FlowRecord, Routing, Span, Time, Transport};

fn sum(record: &Outcome, f: impl Fn(&FlowRecord) -> u32) -> u32 {
    record.flows.iter().map(f).sum()
}

#[test]
fn a_lone_flow_takes_the_ideal_time() {
    for (spec, dst) in [("star:2", 1), ("leaf-spine:2x2x2", 3), ("fat-tree:4", 15)] {
        let network = Trial::of(&ENTRY, &[], spec, Span::from_us(2));
        for packets in [1, 15] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time(777))]);
            assert_eq!(record.fct(0), network.ideal(0, dst, packets), "{spec}");
            assert_eq!(record.trims(), 0);
        }
        let record = network.carry(vec![flow(0, 0, dst, 3_000 * MSS, Time::ZERO)]);
        let (got, ideal) = (record.fct(0), network.ideal(0, dst, 3_000));
        assert!(got.0 as f64 <= ideal.0 as f64 * 1.002, "{spec}: {got}, ideal {ideal}");
    }
}

/// Each of `n` hosts sends one window to host 0.
fn incast(n: u32, settings: &[(&'static str, &'static str)]) -> (Trial<'static>, Outcome) {
    let spec = format!("star:{}", n + 1);
    let network = Trial::of(&ENTRY, settings, &spec, Span::from_us(1));
    let flows = (0..n).map(|id| flow(id, id + 1, 0, 15 * MSS, Time::ZERO)).collect();
    let record = network.carry(flows);
    (network, record)
}

#[test]
fn an_incast_loses_payloads_but_never_packets() {
    for n in [2, 8, 20] {
        let (network, record) = incast(n, &[]);
        assert!(record.complete && record.drops() == 0);
        // Every payload that was cut off was sent again, once each, and nothing else was.
        assert_eq!(sum(&record, |flow| flow.retransmits), record.trims());
        assert_eq!(sum(&record, |flow| flow.packets), 15 * n + record.trims());
        // Data of 8 packets and headers.
        let backlog = record.last_hop(0).total.backlog_max;
        assert!(backlog <= 8 * 1_538 + 24_000, "{backlog}");
        // The first window costs one header a trimmed packet on the last link; from then on pulls
        // are paced. One RTT may pass before the first pulled packet arrives.
        let data = network.rate().tx_time(Bytes(1_538)) * (15 * n) as u64;
        let headers = network.rate().tx_time(Bytes(84)) * record.trims() as u64;
        let bound = Time::ZERO + data + headers + network.base_rtt() * 2;
        let last = record.finished();
        assert!(last <= bound, "{n}: {last} instead of {bound}");
        assert!(last >= Time::ZERO + data);
    }
}

#[test]
fn no_more_trims_once_pulls_set_the_pace() {
    // Long flows: only the first windows, and at most what the pacer and the queue disagree about.
    let network = Trial::of(&ENTRY, &[], "star:5", Span::from_us(1));
    let run = |packets: u64| {
        let flows = (0..4).map(|id| flow(id, id + 1, 0, packets * MSS, Time::ZERO)).collect();
        network.carry(flows)
    };
    let (short, long) = (run(100), run(1_000));
    assert!(short.trims() > 30);
    let more = long.trims() - short.trims();
    assert!(more <= 4, "{more} of 3600 further packets were trimmed");
    let ideal = network.rate().tx_time(Bytes(1_538)) * 4_000;
    let got = long.finished().since(Time::ZERO);
    assert!(got.0 as f64 <= ideal.0 as f64 * 1.02, "{got}, link time {ideal}");
}

#[test]
fn headers_beyond_their_queue_return_to_their_senders() {
    // 80 x 15 headers exceed 285: they come back, and no timeout is needed.
    let (_, record) = incast(80, &[]);
    assert!(record.complete && record.drops() == 0, "{} drops", record.drops());
    let data = incast_transport::Rate::from_gbps(10).tx_time(Bytes(1_538)) * (15 * 80);
    let last = record.finished().since(Time::ZERO);
    assert!(last.0 as f64 <= data.0 as f64 * 1.25, "{last}, link time {data}");
    // Without it they are dropped and the timeout, a millisecond, brings them back.
    let (_, record) = incast(80, &[("return_to_sender", "false")]);
    assert!(record.complete && record.drops() > 0);
}

/// A port that serves headers strictly first loses and repeats what a weighted one does, within the
/// same time.
#[test]
fn strict_headers_recover_an_incast_too() {
    let (network, record) = incast(20, &[("header_priority", "strict")]);
    assert!(record.complete && record.drops() == 0);
    assert_eq!(sum(&record, |flow| flow.retransmits), record.trims());
    let data = network.rate().tx_time(Bytes(1_538)) * (15 * 20);
    let headers = network.rate().tx_time(Bytes(84)) * record.trims() as u64;
    let bound = Time::ZERO + data + headers + network.base_rtt() * 2;
    assert!(record.finished() <= bound, "{} instead of {bound}", record.finished());
}

/// A larger header queue alone avoids the timeout; its limit is not the data queue's.
#[test]
fn the_header_queue_has_a_limit_of_its_own() {
    let settings = [("return_to_sender", "false"), ("header_queue", "1200 packets")];
    let (_, record) = incast(80, &settings);
    assert!(record.complete && record.drops() == 0, "{} drops", record.drops());
    let settings = [("return_to_sender", "false"), ("header_queue", "10 packets")];
    let (_, record) = incast(80, &settings);
    assert!(record.complete && record.drops() > 500, "{} drops", record.drops());
}

/// Headers of one burst are lost together; each packet goes again after its own timeout, so one
/// timeout repairs them all.
#[test]
fn lost_headers_of_a_burst_cost_one_timeout() {
    let settings =
        [("return_to_sender", "false"), ("header_queue", "100 packets"), ("rto_min", "2ms")];
    let (network, record) = incast(16, &settings);
    assert!(record.complete && record.drops() > 10, "{} drops", record.drops());
    let data = network.rate().tx_time(Bytes(1_538)) * (15 * 16);
    let last = record.finished().since(Time::ZERO);
    assert!(last > Span::from_ms(2) && last < Span::from_ms(4), "{last}, link time {data}");
}

#[test]
fn two_line_rate_flows_share_a_link_and_one_takes_it_over() {
    let network = Trial::of(&ENTRY, &[], "dumbbell:2x2", Span::from_us(8));
    let flows =
        vec![flow(0, 0, 2, 1_000 * MSS, Time::ZERO), flow(1, 1, 3, 2_000 * MSS, Time::ZERO)];
    let record = network.carry(flows);
    assert!(record.complete && record.drops() == 0);
    let link = network.fabric.ports_between(network.fabric.rack_of(0), network.fabric.rack_of(2));
    let port = &record.ports[link[0].0 as usize];
    assert!(port.total.backlog_max <= 8 * 1_538 + 24_000);
    // Both windows keep the queue filled until flow 0 ends.
    let end = record.fct(0).0;
    let interval = record.interval.0;
    let shared = &port.bins[(end / 4 / interval) as usize..(end * 3 / 4 / interval) as usize];
    let mean = shared.iter().map(|bin| bin.backlog_area).sum::<u128>()
        / (shared.len() as u128 * interval as u128);
    assert!((6 * 1_538..10 * 1_538).contains(&mean), "{mean} bytes wait");
    // The link is busy from the first to the last packet, headers included.
    let busy = network.rate().tx_time(Bytes(port.total.sent_bytes)).0 as f64;
    let last = record.finished().0 as f64;
    assert!(busy / last > 0.97, "{}", busy / last);
    // Alone, flow 1 has the link to itself at once.
    let alone = &port.bins[(end / interval) as usize + 4..(last as u64 / interval) as usize - 4];
    let rate = alone.iter().map(|bin| bin.sent_packets as u64 * 1_538).sum::<u64>() as f64
        / network.rate().bytes_in(Span(alone.len() as u64 * interval)).0 as f64;
    assert!(rate > 0.99, "{rate}");
}

/// Sixteen endless flows, one from and one to each host, for 3 ms: the shares of the last links
/// that are busy and that carry data, and the number of trims.
fn permutation(window: &'static str, routing: Routing) -> (f64, f64, u32) {
    let settings = [("first_window", window)];
    let mut network = Trial::of(&ENTRY, &settings, "leaf-spine:4x4x4", Span::from_us(1));
    network.routing = Some(routing);
    network.options.until = Time::ZERO + Span::from_ms(3);
    network.options.log_deliveries = false;
    let flows = (0..16).map(|id| flow(id, id, (id + 5) % 16, 1 << 30, Time::ZERO)).collect();
    let record = network.carry(flows);
    let capacity = network.rate().bytes_in(Span::from_ms(3)).0 as f64 * 16.0;
    let ports = (0..16).map(|host| record.last_hop(host).total.sent_bytes);
    let busy = ports.sum::<u64>() as f64 / capacity;
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered).sum();
    (busy, delivered as f64 * 1_538.0 / 1_460.0 / capacity, record.trims())
}

#[test]
fn a_permutation_uses_most_of_a_full_bisection_fabric() {
    // As configured without a word: sources permute their paths, the window is 15 packets.
    let (busy, data, trims) = permutation("auto", ENTRY.info().routing);
    assert!(busy > 0.94 && data > 0.9, "{busy} {data} {trims}");
    // The authors' 23 covers the queues of a loaded path too, and none is ever full.
    let (busy, data, trims) = permutation("23", Routing::SourcePath);
    assert!(busy > 0.99 && data > 0.93 && trims == 0, "{busy} {data} {trims}");
    // Switches that choose at random make packets wait for each other.
    let (busy, data, _) = permutation("auto", Routing::Spray);
    assert!(busy > 0.85 && data > 0.8, "{busy} {data}");
    let (busy, data, _) = permutation("23", Routing::Spray);
    assert!(busy > 0.93 && data > 0.86, "{busy} {data}");
}

/// Two choices on the way, four paths: each turn of the permutation takes each of them once.
#[test]
fn a_source_uses_all_paths_of_three_tiers_equally() {
    let network = Trial::of(&ENTRY, &[], "fat-tree:4", Span::from_us(1));
    let record = network.carry(vec![flow(0, 0, 15, 400 * MSS, Time::ZERO)]);
    assert!(record.complete);
    for core in 0..4 {
        let core = incast_fabric::NodeId(16 + 16 + core);
        let down = network.fabric.routes().next(core, 15)[0];
        let sent = &record.ports[down.0 as usize].total;
        assert_eq!(sent.sent_packets, 100, "{}", network.fabric.node_name(core));
    }
}

#[test]
fn every_flow_completes_despite_faults() {
    for seed in 1..6 {
        Trial::of(&ENTRY, &[], "leaf-spine:3x2x3", Span::from_us(1)).survives_impairments(seed);
    }
}
