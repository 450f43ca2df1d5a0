//! Known results of ExpressPass in whole networks.

use super::ENTRY;
use incast_testkit::*;
use incast_transport::{
    Bytes, Flow, FlowId, Framing, Header, Limit, PortRecord, Random, Span, Time, Transport,
};
use incast_world::Faults;

fn network(settings: &[(&'static str, &'static str)], spec: &str) -> Trial<'static> {
    let mut network = Trial::of(&ENTRY, settings, spec, Span::from_us(4));
    network.options.until = Time::ZERO + Span::from_ms(50);
    network.buffer = Limit::Bytes(250 * 1_538); // fat-tree script
    network
}

/// Charged bytes per second that leave by a port from 3 ms to 12 ms.
fn steady(run: &Outcome, port: &PortRecord) -> f64 {
    run.throughput(port, ms(3), ms(12))
}

fn no_data_was_lost(record: &Outcome) {
    for flow in &record.flows {
        assert_eq!(flow.retransmits, 0, "flow {:?}", flow.flow);
    }
}

#[test]
fn one_flow_uses_all_that_credits_leave() {
    for (settings, share) in [
        (&[][..], 84.0 / 1622.0),
        (&[("fb", "paper")], 84.0 / 1622.0),
        // With 5 % for credits, data has 5 % x 1538 / 84 = 91.5 %.
        (&[("credit_share", "0.05")], 0.05),
    ] {
        let network = network(settings, "star:2");
        let record = network.carry(vec![flow(0, 0, 1, 10_000 * MSS, Time::ZERO)]);
        assert!(record.complete);
        no_data_was_lost(&record);
        let data = steady(&record, record.last_hop(1)) / 1.25e9;
        let credits = steady(&record, record.nic(1)) / 84.0;
        let expected = share * 1538.0 / 84.0;
        assert!((data / expected - 1.0).abs() < 0.005, "{settings:?}: {data}");
        let rate = share * 1.25e9 / 84.0;
        assert!((credits / rate - 1.0).abs() < 0.005, "{settings:?}: {credits} credits/s");
    }
}

#[test]
fn a_packet_takes_a_request_and_a_credit_and_itself() {
    for (spec, dst, hops) in [("star:2", 1, 2), ("leaf-spine:2x2x2", 3, 4)] {
        let network = network(&[], spec);
        let record = network.carry(vec![flow(0, 0, dst, MSS, Time(777))]);
        let small = (network.rate().tx_time(Bytes(84)) + Span::from_us(4)) * hops;
        assert_eq!(record.fct(0), small * 2 + network.ideal(0, dst, 1), "{spec}");
        assert_eq!((record.flows[0].packets, record.flows[0].retransmits), (1, 0));
    }
}

fn incast(senders: u32, packets: u64) -> Vec<Flow> {
    (0..senders).map(|id| flow(id, id + 1, 0, packets * MSS, Time::ZERO)).collect()
}

#[test]
fn an_incast_loses_nothing_and_its_queue_does_not_grow_with_it() {
    let mut queues = vec![];
    for (spec, senders) in [("star:9", 8), ("star:33", 32), ("star:129", 128), ("star:513", 512)] {
        let settings = [("size_jitter", "true"), ("retransmit_timeout", "20ms")];
        let mut network = network(&settings, spec);
        network.options.until = Time::ZERO + Span::from_secs(1);
        let packets = 4_096 / senders as u64;
        let record = network.carry(incast(senders, packets));
        assert!(record.complete);
        no_data_was_lost(&record);
        // At first the requests arrive all at once.
        let port = record.last_hop(0);
        let from = (Span::from_us(500).0 / record.interval.0) as usize;
        queues.push(port.bins[from..].iter().map(|bin| bin.backlog_max).max().unwrap());
    }
    let least = *queues.iter().min().unwrap();
    assert!(queues.iter().all(|&queue| queue <= 3 * least), "{queues:?}");
}

/// Random flows between all hosts.
pub(super) fn mixed(hosts: u32, count: u32, seed: u64) -> Vec<Flow> {
    random_flows(&mut Random::new(seed, 0, 0), hosts, count, ms(2), |random, _| {
        let scale = 8 + random.below(11);
        1 + random.below(1 << scale)
    })
}

/// All captured packets in a fabric with several paths, with some settings.
fn captured(settings: &[(&'static str, &'static str)]) -> (Trial<'static>, Outcome) {
    let mut network = network(settings, "leaf-spine:4x4x4");
    network.options.capture = (0..network.fabric.ports().len() as u32).collect();
    let record = network.carry(mixed(16, 200, 5));
    assert!(record.complete);
    no_data_was_lost(&record);
    (network, record)
}

/// In any time t no more than depth + rate x t bytes of credits leave a port: a bucket that starts
/// full never runs dry.
#[test]
fn credits_keep_within_their_share_at_every_port() {
    let longer = [("bucket", "10"), ("size_jitter", "true")];
    for (settings, depth, share) in
        [(&[][..], 2.0, 84.0 / 1622.0), (&longer[..], 10.0, 92.0 / 1630.0)]
    {
        let (network, record) = captured(settings);
        let rate = 1.25e9 * share * 1e-12;
        let mut buckets = vec![(0u64, depth * 84.0); network.fabric.ports().len()];
        let (mut scarce, mut sizes) = (0, std::collections::BTreeSet::new());
        for seen in &record.packets {
            let Header::Credit { .. } = seen.packet.header else { continue };
            let size = Framing::ETHERNET.charged(seen.packet.ip_bytes());
            sizes.insert(size);
            let (last, tokens) = &mut buckets[seen.port as usize];
            *tokens = (*tokens + (seen.at.0 - *last) as f64 * rate).min(depth * 84.0) - size as f64;
            *last = seen.at.0;
            assert!(*tokens > -1e-3, "port {} at {}: {tokens}", seen.port, seen.at);
            scarce += (*tokens < 1.0) as u32;
        }
        assert!(scarce > 100, "the limit is met: {scarce}");
        let expected: Vec<u32> =
            if depth == 2.0 { vec![84] } else { (84..=100).step_by(2).collect() };
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), expected);
    }
}

/// Credits that are longer on average have a larger share: they let as many packets go.
#[test]
fn a_lone_flow_is_as_fast_with_credits_of_many_lengths() {
    let time = |settings: &[(&'static str, &'static str)]| {
        let record =
            network(settings, "star:2").carry(vec![flow(0, 0, 1, 4_000 * MSS, Time::ZERO)]);
        record.fct(0).0 as f64
    };
    let ratio = time(&[("size_jitter", "true")]) / time(&[]);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn data_takes_the_reverse_path_of_its_credits_and_a_credit_releases_one_packet() {
    let (network, record) = captured(&[]);
    let ports = network.fabric.ports();
    let mut links = vec![std::collections::BTreeSet::new(); 2 * record.flows.len()];
    let mut credits = vec![0; record.flows.len()];
    let (mut requested, mut first_credit) = (vec![0; credits.len()], vec![0; credits.len()]);
    for seen in &record.packets {
        let (flow, spec) = (seen.packet.flow.0 as usize, &ports[seen.port as usize]);
        match seen.packet.header {
            Header::Credited { .. } => {
                links[2 * flow].insert(seen.port);
                let first = &mut first_credit[flow];
                *first = if *first == 0 { seen.at.0 } else { *first };
            }
            Header::Credit { .. } => {
                links[2 * flow + 1].insert(spec.reverse.0);
                credits[flow] += (spec.peer.0 == seen.packet.dst.0) as u32;
            }
            Header::Request { .. } if requested[flow] == 0 => requested[flow] = seen.at.0,
            _ => {}
        }
    }
    for (index, flow) in record.flows.iter().enumerate() {
        assert_eq!(links[2 * index], links[2 * index + 1], "flow {index}");
        assert_eq!(credits[index], flow.packets + flow.wasted, "flow {index}");
        // One RTT for the request and the first credit.
        let hops = links[2 * index].len() as u64;
        let base = (network.rate().tx_time(Bytes(84)) + Span::from_us(4)) * (2 * hops);
        assert!(first_credit[index] - requested[index] >= base.0, "flow {index}");
    }
}

#[test]
fn the_credit_queue_has_the_configured_length() {
    for (queue, packets) in [("8", 8), ("20", 20)] {
        let network = network(&[("credit_queue", queue)], "star:17");
        let record = network.carry(incast(16, 200));
        let nic = record.nic(0);
        assert!(nic.total.credit_drops > 100, "{}", nic.total.credit_drops);
        assert_eq!(nic.total.drops, 0);
        // Its other small packets pass.
        let most = nic.total.backlog_max;
        assert!((packets * 84..=(packets + 1) * 84).contains(&most), "{most}");
    }
}

/// Bytes that each of two flows delivers in intervals of 20 us; the second starts at 2 ms.
fn joining(settings: &[(&'static str, &'static str)]) -> Vec<[u64; 2]> {
    let mut network = network(settings, "star:3");
    network.options.watch = vec![FlowId(0), FlowId(1)];
    network.options.interval = Span::from_us(20);
    network.options.until = Time::ZERO + Span::from_ms(6);
    let long = 10_000 * MSS;
    let record = network.carry(vec![
        flow(0, 1, 0, long, Time::ZERO),
        flow(1, 2, 0, long, Time::ZERO + Span::from_ms(2)),
    ]);
    let of = |flow: usize| &record.series[flow].delivered;
    assert_eq!(record.interval, Span::from_us(20));
    of(0).iter().zip(of(1)).map(|(a, b)| [*a, *b]).collect()
}

/// Intervals from the second flow's first byte until it has two fifths of the link for a while.
fn until_fair(series: &[[u64; 2]]) -> usize {
    let begin = series.iter().position(|[_, second]| *second > 0).expect("it starts");
    let fair = |window: &[[u64; 2]]| {
        let second: u64 = window.iter().map(|[_, b]| b).sum();
        let both: u64 = window.iter().map(|[a, b]| a + b).sum();
        second * 5 >= both * 2
    };
    series[begin..].windows(10).position(fair).expect("it gets its share")
}

/// A base RTT is 18.6 us, just less than an interval.
#[test]
fn a_joining_flow_gets_its_share_in_few_or_tens_of_rtts() {
    let series = joining(&[("alpha", "0.5"), ("w_init", "0.5")]);
    let fast = until_fair(&series);
    let slow = until_fair(&joining(&[("alpha", "0.0625")]));
    assert!(fast <= 6, "{fast} round trips");
    assert!((8..50).contains(&slow), "{slow} round trips");
    // From then on both have their share.
    let of = |flow: usize| series[115..].iter().map(|both| both[flow]).sum::<u64>() as f64;
    let share = of(1) / (of(0) + of(1));
    assert!((0.35..0.65).contains(&share), "{share}");
}

/// The same over an RTT of many credits, with both loops: the link is used, nothing lost.
#[test]
fn two_flows_share_what_credits_allow() {
    for (fb, least, most) in [("code", 0.97, 0.1), ("paper", 0.85, 0.25)] {
        let mut network = Trial::of(&ENTRY, &[("fb", fb)], "star:3", Span::from_us(25));
        network.options.until = Time::ZERO + Span::from_ms(20);
        let flows = (0..2).map(|id| flow(id, id + 1, 0, 50_000 * MSS, Time::ZERO)).collect();
        let record = network.carry(flows);
        no_data_was_lost(&record);
        let data = steady(&record, record.last_hop(0)) / 1.25e9;
        assert!((least..1.001).contains(&(data * 1622.0 / 1538.0)), "{fb}: {data}");
        let of = |flow: usize| record.flows[flow].delivered as f64;
        let share = of(0) / (of(0) + of(1));
        assert!((0.42..0.58).contains(&share), "{fb}: {share}");
        // Each credit was either used or dropped at the destination's NIC.
        let nic = record.nic(0);
        let loss = nic.total.drops as f64 / (nic.total.drops + nic.total.sent_packets) as f64;
        assert!(loss < most, "{fb}: {loss}");
    }
}

/// Credits wasted by twenty flows of so many packets, one after the other.
fn wasted(settings: &[(&'static str, &'static str)], packets: u64) -> u32 {
    let network = network(settings, "leaf-spine:2x2x2");
    let one = |id| flow(id, 0, 3, packets * MSS, Time(id as u64 * 1_000_000_000));
    let record = network.carry((0..20).map(one).collect());
    assert!(record.complete);
    no_data_was_lost(&record);
    record.flows.iter().map(|flow| flow.wasted).sum()
}

#[test]
fn the_authors_remedies_against_waste_work() {
    let eager = [("short_flow", "0"), ("early_stop", "false")];
    let without = wasted(&eager, 1);
    // one RTT of credits at half the rate, and one that gets a reply.
    let rate = 1.25e9 / 1622.0 / 2.0;
    let most = 36.7e-6 * rate * 20.0;
    assert!((0.9 * most..1.1 * most).contains(&(without as f64)), "{without} of {most}");
    assert_eq!(wasted(&[("early_stop", "false")], 1), 0, "1/40 of half the rate");
    let slow = wasted(&[eager[0], eager[1], ("alpha", "0.0625")], 1);
    assert!(slow <= without / 8 + 20, "{slow} of {without}");
    let (late, early) = (wasted(&[("early_stop", "false")], 400), wasted(&[], 400));
    assert!(early < 2 * late / 3, "{early}, {late}");
}

#[test]
fn a_source_retransmits_lost_data() {
    let mut network = network(&[], "star:3");
    network.options.faults.loss = 0.01;
    network.options.until = Time::ZERO + Span::from_secs(1);
    let record =
        network.carry((0..2).map(|id| flow(id, id + 1, 0, 2_000 * MSS, Time::ZERO)).collect());
    assert!(record.complete);
    let retransmits = record.retransmits();
    // About 40 losses; each costs what was sent in one RTT.
    assert!((20..40 * 30).contains(&retransmits), "{retransmits}");
    let parts = record.flows[0].parts.unwrap();
    assert!(parts.blocked[incast_transport::Reason::Credit as usize] + parts.recovery > 0);
}

/// The README's formula: the rate costs about three RTTs until it is back to full.
#[test]
fn a_long_lone_flow_takes_the_time_of_its_formula() {
    for (spec, dst, hops) in [("star:2", 1, 2), ("leaf-spine:2x2x2", 3, 4)] {
        let network = network(&[], spec);
        for packets in [1_000u64, 5_000] {
            let record = network.carry(vec![flow(0, 0, dst, packets * MSS, Time::ZERO)]);
            let small = (network.rate().tx_time(Bytes(84)) + Span::from_us(4)) * hops;
            let slot = network.rate().tx_time(Bytes(1_622));
            let least = small * 2 + slot * (packets - 1) + network.ideal(0, dst, 1);
            let rtt = small + network.ideal(0, dst, 1);
            let late = (record.fct(0) - least).0 as f64 / rtt.0 as f64;
            assert!((2.0..4.0).contains(&late), "{spec}, {packets}: {late} round trips");
        }
    }
}

#[test]
fn every_flow_completes_under_impairments() {
    for (seed, settings) in [
        (1, &[][..]),
        (2, &[("fb", "paper"), ("size_jitter", "true")]),
        (3, &[("early_stop", "false"), ("alpha", "0.0625")]),
        (4, &[("short_flow", "0"), ("bucket", "10"), ("credit_queue", "10")]),
    ] {
        for transport in [&ENTRY as &'static dyn Transport, &crate::ccrp::ENTRY] {
            let settings = if transport.info().name == "ccrp" { &[] } else { settings };
            let mut network = Trial::of(transport, settings, "leaf-spine:4x2x4", Span::from_us(4));
            let late = Span::from_us(100);
            network.options.faults = Faults { loss: 0.1, reorder: 0.1, duplicate: 0.1, late };
            network.options.seed = seed;
            network.options.until = Time::ZERO + Span::from_secs(20);
            network.set_flows(mixed(16, 200, seed));
            network.delivers();
        }
    }
}
