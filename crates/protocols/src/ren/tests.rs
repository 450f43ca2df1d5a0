//! Known results of the slot model (one packet a microsecond, every RTT exact) and of the
//! paper's figures. Queues may differ by one packet, because a port samples only when it sends.

use super::*;
use incast_testkit::{
    MSS, SLOT, SlotNetwork, Trial, flow, impaired_flows, key_values, slot_fabric, star,
};
use incast_transport::{FlowId, Time, Transport};

const UNLIMITED: Limit = Limit::Unlimited;

/// Flows that start together with a burst of one round each.
fn together(flows: u32, round: u32, settings: &[(&str, &str)]) -> (Vec<usize>, Vec<usize>) {
    let mut net = SlotNetwork::new(&ENTRY, settings, flows, round, UNLIMITED);
    let start = Time::ZERO + net.round * 4;
    (0..flows).for_each(|pair| net.flow(pair, 100_000, start - SLOT));
    net.prime(start);
    net.rounds(start, 8)
}

/// Throughput by round of flows that start with one packet each, at these slots of a round.
fn ramp(slots: &[u64], round: u32, settings: &[(&str, &str)]) -> (Vec<usize>, Vec<usize>) {
    let settings = [&[("burst", "1")], settings].concat();
    let mut net = SlotNetwork::new(&ENTRY, &settings, slots.len() as u32, round, UNLIMITED);
    let start = Time::ZERO + net.round * 4;
    for (pair, slot) in slots.iter().enumerate() {
        net.flow(pair as u32, 100_000, start + SLOT * *slot - SLOT);
    }
    net.prime(start);
    net.rounds(start, 12)
}

#[track_caller]
fn near(found: &[usize], expected: &[usize], tolerance: usize) {
    let apart = found.iter().zip(expected).any(|(a, b)| a.abs_diff(*b) > tolerance);
    assert!(!apart, "found {found:?}, expected {expected:?}");
}

#[test]
fn flows_that_start_together_drain_one_round_later() {
    // REN Eq. 1 and 3, with one round of feedback delay.
    let expected: [(u32, u32, &[usize]); 3] = [
        (2, 10, &[10, 10, 0, 0, 0, 0, 0, 0]),
        (3, 10, &[20, 20, 10, 0, 0, 0, 0, 0]),
        (4, 33, &[99, 99, 66, 33, 0, 0, 0, 0]),
    ];
    for spread in ["head", "even"] {
        for (flows, round, queue) in expected {
            let (sent, found) = together(flows, round, &[("spread", spread)]);
            near(&found, queue, 1);
            assert_eq!(found[6..], [0, 0], "at most two more rounds");
            assert_eq!(sent, [round as usize; 8], "the bottleneck never idles");
        }
    }
}

#[test]
fn figure_5_two_packets_a_round() {
    let (sent, queue) = together(2, 2, &[]);
    near(&queue, &[2, 2, 0, 0, 0, 0, 0, 0], 1);
    assert_eq!(sent, [2; 8]);
}

#[test]
fn throughput_doubles_each_round() {
    // Eq. 6 with C = 16 and R = 2: three rounds of growth.
    let (sent, queue) = ramp(&[0, 8], 16, &[]);
    assert_eq!(sent, [2, 2, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16]);
    assert!(queue.iter().all(|&q| q <= 8) && queue[10..] == [0, 0], "{queue:?}");
    let (sent, _) = ramp(&[0, 1], 16, &[]);
    assert_eq!(sent[..7], [2, 2, 2, 4, 8, 16, 16], "back to back: one round more to sample");
}

#[test]
fn half_a_link_is_filled_in_one_round() {
    assert_eq!(ramp(&[0, 2, 4, 5, 6, 9], 10, &[]).0[..5], [6, 6, 10, 10, 10]);
    assert_eq!(ramp(&[0, 2, 4], 5, &[]).0[..5], [3, 3, 5, 5, 5], "figure 6");
}

#[test]
fn one_packet_a_round_grows_too() {
    // The gap before the first packet is not known, so the second round samples.
    assert_eq!(ramp(&[0], 10, &[]).0[1..8], [1, 1, 2, 4, 8, 10, 10]);
}

#[test]
fn per_packet_rule_grows_linearly() {
    let (sent, _) = ramp(&[0, 8], 16, &[("rule", "gap")]);
    assert!(sent.windows(2).all(|pair| pair[1] <= pair[0] + 2), "{sent:?}");
    assert_eq!(sent[11], 16);
}

#[test]
fn literal_feedback_empties_the_network() {
    let (sent, _) = together(2, 10, &[("feedback", "literal")]);
    assert_eq!(sent[..3], [10, 10, 10]);
    assert!(sent[3..6].iter().all(|&packets| packets <= 1), "{sent:?}");
}

#[test]
fn two_bursts_join_a_steady_flow() {
    let mut net = SlotNetwork::new(&ENTRY, &[], 3, 40, UNLIMITED);
    let start = Time::ZERO + net.round * 4;
    let burst = start + net.round * 20;
    net.flow(0, 100_000, start - SLOT);
    net.flow(1, 100_000, burst - SLOT);
    net.flow(2, 100_000, burst - SLOT);
    let (sent, queue) = net.rounds(burst, 9);
    near(&queue, &[80, 80, 40, 0, 0, 0, 0, 0, 0], 2);
    assert_eq!(sent, [40; 9]);
    let mut shares = [[0; 3]; 9];
    for departure in net.network.sent_on(net.bottleneck) {
        if departure.at >= burst {
            let round = departure.at.since(burst).0 / net.round.0;
            shares[round as usize][departure.packet.flow.0 as usize] += 1;
        }
    }
    assert!(shares.iter().flatten().all(|share| (12..=14).contains(share)), "{shares:?}");
}

#[test]
fn the_testbed_buffer_drops_a_part_of_the_bursts_and_all_is_recovered() {
    let mut net = SlotNetwork::new(&ENTRY, &[], 3, 40, Limit::Bytes(64 << 10));
    let start = Time::ZERO + net.round * 4;
    let burst = start + net.round * 20;
    net.flow(0, 2_000, start - SLOT);
    net.flow(1, 300, burst - SLOT);
    net.flow(2, 300, burst - SLOT);
    net.network.run(burst + net.round * 3);
    let drops = net.network.dropped_at(net.bottleneck).count();
    assert!((36..=38).contains(&drops), "80 too many, 43 fit: {drops}");
    net.network.run(burst + net.round * 200);
    assert!((0..3).all(|flow| net.network.completed(flow).is_some()));
}

#[test]
fn released_bandwidth_is_taken_in_the_second_round() {
    // Eq. 2, 7 and 8, with one round of feedback delay: f of F flows leave.
    for (leave, flows, rounds) in [(1, 4, [30, 30, 40, 40]), (2, 4, [20, 20, 40, 40])] {
        let mut net = SlotNetwork::new(&ENTRY, &[], flows, 40, UNLIMITED);
        let start = Time::ZERO + net.round * 4;
        for pair in 0..flows {
            net.flow(pair, if pair < leave { 200 } else { 100_000 }, start - SLOT);
        }
        let (sent, _) = net.rounds(start, 30);
        let left = sent.iter().position(|&packets| packets < 40).expect("a round of less");
        near(&sent[left..left + 4], &rounds, 2);
    }
}

#[test]
fn a_lone_flow_takes_the_ideal_time() {
    for packets in [1, 2, 9, 40, 41, 500, 5_000] {
        let mut net = SlotNetwork::new(&ENTRY, &[], 1, 40, UNLIMITED);
        net.flow(0, packets, Time::ZERO);
        net.network.run(Time::ZERO + SLOT * 10_000);
        let ideal = Time::ZERO + SLOT * (packets as u64 + 1);
        assert_eq!(net.network.completed(0), Some(ideal), "{packets} packets");
    }
}

#[test]
fn one_grant_for_each_packet_and_two_one_or_no_packet_for_each_grant() {
    let mut net = SlotNetwork::new(&ENTRY, &[], 3, 10, UNLIMITED);
    (0..3).for_each(|pair| net.flow(pair, 400, Time::ZERO + SLOT * (pair as u64 * 150)));
    net.network.run(Time::ZERO + SLOT * 20_000);
    assert_eq!(net.network.open_flows(), 0);
    for pair in 0..3 {
        let received = |grants: bool| {
            let packets = net.network.received.iter().map(|r| r.packet);
            let of = packets.filter(|p| p.flow == FlowId(pair)).collect::<Vec<_>>();
            of.into_iter().filter(move |p| p.is_data() != grants)
        };
        assert_eq!(received(false).count(), 400, "nothing is sent twice");
        assert_eq!(received(true).count(), 400, "a grant for each packet but the last");
        let allowed: u32 =
            received(true).map(|p| [2, 1, 0][Code::of(p.mark) as usize]).sum::<u32>();
        assert!(allowed >= 400 - 10);
        let marks: Vec<u8> = received(false).map(|p| p.mark).collect();
        let grants: Vec<u8> = received(true).map(|p| p.mark).collect();
        assert_eq!(marks[..399], grants[..399], "codes come back as they were");
    }
}

#[test]
fn lost_duplicated_and_late_packets_do_no_harm() {
    for seed in 0..40 {
        impaired_flows(&ENTRY, seed, &[], 2);
    }
}

/// Data packets that two long flows get through in 400 rounds while, every ten rounds, four others
/// send a burst of ten packets each.
fn long_flows_among_bursts(settings: &[(&str, &str)]) -> usize {
    let mut net = SlotNetwork::new(&ENTRY, settings, 6, 40, UNLIMITED);
    let start = Time::ZERO + net.round * 4;
    (0..2).for_each(|pair| net.flow(pair, 100_000, start));
    for burst in 0..40 {
        for pair in 2..6 {
            let id = 2 + burst * 4 + (pair - 2);
            let at = start + net.round * (5 + 10 * burst as u64);
            net.network.add(flow(id, pair, 6 + pair, 10 * MSS, at));
        }
    }
    net.network.run(start + net.round * 405);
    let data = net.network.received.iter().filter(|r| r.packet.is_data());
    data.filter(|received| received.packet.flow.0 < 2).count()
}

#[test]
fn a_period_below_an_rtt_loses_no_utilisation() {
    // REN Fig. 22: 400 rounds of 40 packets, of which bursts take 1,600.
    let one = long_flows_among_bursts(&[("period", "40us")]);
    let quarter = long_flows_among_bursts(&[("period", "10us")]);
    assert!(one > 10_000 && quarter > one, "{one} with 40us, {quarter} with 10us");
    assert_eq!(one, long_flows_among_bursts(&[]), "auto is a base RTT");
}

#[test]
fn a_period_too_short_to_count_marks_is_refused() {
    let fabric = slot_fabric(40, UNLIMITED);
    let configure = |period| ENTRY.configure(&key_values(&[("period", period)]), fabric.clone());
    assert!(configure("40ns").is_ok());
    let error = configure("39ns").err().expect("1,026 periods in a base RTT");
    assert_eq!((error.key(), error.written()), (Some("period"), Some("39ns")));
    assert!(error.problem().contains("1/1024 of the base RTT of 40us"), "{error}");
}

#[test]
fn a_port_behind_a_busy_nic_asks_for_no_more() {
    // One host sends to two, each of whose links is half idle.
    let flows = [(0, 1), (1, 2)].map(|(id, to)| flow(id, 0, to, 2_000 * MSS, Time::ZERO));
    let fabric = star(3, Rate::from_gbps(10), Span::from_us(1));
    let under = |at_nics| {
        let trial = Trial::new(&ENTRY, fabric.clone(), flows.to_vec()).set("at_nics", at_nics);
        let outcome = trial.run();
        assert!(outcome.flows.iter().all(|flow| flow.completed.is_some()));
        outcome.last_hop(1).total.marks
    };
    assert!(under("false") > 500, "{}", under("false"));
    assert!(under("true") < 20, "{}", under("true"));
}
