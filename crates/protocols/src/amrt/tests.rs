//! Known results of AMRT §4 and §5 (one packet per microsecond, every RTT exact), and the
//! list of amrt's corner cases.

use super::switch::{Code, GapMarker};
use super::*;
use incast_endpoint::receiver_driven::{Arrivals, Holes, Recovery as _, Reissue, Request};
use incast_testkit::{
    Harness, Impairments, MSS, Received, SLOT, SlotNetwork, Trial, at, configured, data, fabric,
    fabric_site, flow, host_site, impaired_flows, key_values, port_site, slot_fabric, view,
};
use incast_transport::{
    Flow, Framing, Header, Marker, Packet, Rate, Span, Time, View, data_flag, flag,
};

const UNLIMITED: Limit = Limit::Unlimited;

/// Throughput by round of flows that start with one packet each, at these slots of a round.
fn ramp(slots: &[u64], round: u32) -> Vec<usize> {
    let mut net = SlotNetwork::new(&ENTRY, &[("burst", "1")], slots.len() as u32, round, UNLIMITED);
    let start = Time::ZERO + net.round * 4;
    for (pair, slot) in slots.iter().enumerate() {
        net.flow(pair as u32, 100_000, start + SLOT * *slot - SLOT);
    }
    net.rounds(start, 14).0
}

#[test]
fn evenly_spread_vacancies_fill_in_two_rounds() {
    // n = 6, k = 4, vacancies spread evenly: t_min = ceil(k / (n - k)) = 2 (Eq. 4).
    assert_eq!(ramp(&[0, 3], 6)[..4], [2, 4, 6, 6]);
    // n = 16, k = 14: 7 rounds.
    assert_eq!(ramp(&[0, 8], 16)[..9], [2, 4, 6, 8, 10, 12, 14, 16, 16]);
}

#[test]
fn consecutive_vacancies_fill_one_by_one() {
    // n = 6, k = 4 in one hole: t_max = k = 4 (Eq. 5).
    assert_eq!(ramp(&[0, 1], 6)[..6], [2, 3, 4, 5, 6, 6]);
    assert_eq!(ramp(&[0], 10)[..11], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
}

#[test]
fn the_data_queue_never_holds_more_than_eight() {
    let mut net = SlotNetwork::new(&ENTRY, &[], 2, 40, UNLIMITED);
    let start = Time::ZERO + net.round * 4;
    (0..2).for_each(|pair| net.flow(pair, 500, start - SLOT));
    net.rounds(start, 60);
    let most = net.network.most_waiting[net.bottleneck];
    assert!((7..=8).contains(&most), "{most}");
    let drops: Vec<_> = net.network.dropped_at(net.bottleneck).collect();
    assert!(drops.len() >= 30, "a BDP less the queue is lost: {}", drops.len());
    assert!(drops.iter().all(|dropped| dropped.packet.is_data()));
    assert!((0..2).all(|flow| net.network.completed(flow).is_some()), "all is recovered");
}

fn lone_flow_losing(what: impl FnMut(&Packet) -> bool + 'static, data: bool) -> SlotNetwork {
    let mut net = SlotNetwork::new(&ENTRY, &[], 1, 20, UNLIMITED);
    let link = if data { net.bottleneck } else { net.back };
    net.network.impair(link, Impairments::losing(what));
    net.flow(0, 200, Time::ZERO + SLOT);
    net.network.run(Time::ZERO + Span::from_ms(20));
    assert!(net.network.completed(0).is_some());
    net
}

/// A lone flow of 200 packets that loses packet `seq` once, and the grants that ask for a packet.
fn losing_packet(seq: u32) -> (SlotNetwork, Vec<Received>) {
    let mut once = true;
    let lose = move |packet: &Packet| {
        let hit = packet.is_data() && packet.header.data_key() == seq;
        hit && std::mem::take(&mut once)
    };
    let net = lone_flow_losing(lose, true);
    let again = net.network.sent_on(0).filter(|sent| sent.packet.has(flag::RETRANSMIT));
    assert_eq!(again.count(), 1, "it is sent again once");
    let asks = net.network.received.iter().filter(|received| {
        let ask = data_flag::REQUEST | data_flag::LAST;
        matches!(received.packet.header, Header::Grant { flags, .. } if flags & ask != 0)
    });
    let asks = asks.copied().collect();
    (net, asks)
}

fn grants(net: &SlotNetwork) -> usize {
    let grant = |received: &&Received| matches!(received.packet.header, Header::Grant { .. });
    net.network.received.iter().filter(grant).count()
}

#[test]
fn a_lost_packet_is_named_in_the_next_grant_and_nothing_else_asks_for_it() {
    // In the first burst, and after it.
    for lost in [5, 50] {
        let (net, asks) = losing_packet(lost);
        let [ask] = asks[..] else { panic!("{} grants ask for a packet", asks.len()) };
        let Header::Grant { seq, request, .. } = ask.packet.header else { unreachable!() };
        assert_eq!((seq, request), (lost + 1, lost), "the one after it tells");
        assert_eq!(grants(&net), 199, "one for each packet that came but the last");
    }
}

#[test]
fn the_last_packet_is_asked_for_once_after_the_timeout() {
    let (net, asks) = losing_packet(199);
    assert_eq!(asks.len(), 1);
    assert_eq!(grants(&net), 200, "one more than packets but the last");
    let data = net.network.received.iter().filter(|received| received.packet.is_data());
    let last = data.map(|received| received.at).rev().nth(1).expect("packet 198");
    let sent = net.network.sent.iter().find(|sent| {
        matches!(sent.packet.header, Header::Grant { flags, .. } if flags & data_flag::LAST != 0)
    });
    assert_eq!(sent.expect("the probe").at, last + TIMEOUT);
}

/// A lone flow that fills the link, of which each of these packets is lost once.
fn losing_of(losses: &str, packets: u32, lost: std::ops::Range<u32>) -> SlotNetwork {
    let settings = [("losses", losses), ("burst", "20")];
    let mut net = SlotNetwork::new(&ENTRY, &settings, 1, 20, UNLIMITED);
    let mut left: Vec<u32> = lost.collect();
    let lose = move |packet: &Packet| {
        let key = packet.is_data().then(|| packet.header.data_key());
        let place = left.iter().position(|lost| Some(*lost) == key);
        place.map(|place| left.remove(place)).is_some()
    };
    net.network.impair(net.bottleneck, Impairments::losing(lose));
    net.flow(0, packets, start(&net) - SLOT);
    net
}

/// When the first packet of a flow reaches the bottleneck.
fn start(net: &SlotNetwork) -> Time {
    Time::ZERO + net.round * 4
}

#[test]
fn a_grant_of_its_own_for_each_loss_keeps_what_is_under_way() {
    // Three of twenty are lost, whose slots are empty a round later; the mark of the first packet lets
    // one more go, and that of the packet behind the gap does later.
    let (named, reissued) = ([20, 18, 18, 19], [20, 18, 20, 20]);
    let cases = [
        ("named", 5, 0, named),
        ("granted_reissued", 5, 0, named),
        ("reissued", 5, 0, reissued),
        ("named", 25, 1, named),
        ("granted_reissued", 25, 1, reissued),
        ("reissued", 25, 1, reissued),
    ];
    for (losses, first, after, rounds) in cases {
        let mut net = losing_of(losses, 400, first..first + 3);
        let from = start(&net) + net.round * after;
        let (sent, _) = net.rounds(from, 4);
        assert_eq!(sent, rounds, "{losses}");
        net.network.run(Time::ZERO + Span::from_ms(20));
        assert!(net.network.completed(0).is_some());
        let again = net.network.sent_on(0).filter(|sent| sent.packet.has(flag::RETRANSMIT));
        assert_eq!(again.count(), 3, "{losses}: each is sent again once");
    }
}

#[test]
fn a_lost_tail_is_asked_for_all_at_once_if_losses_are_reissued() {
    let time = |losses: &str| {
        let mut net = losing_of(losses, 20, 8..20);
        net.network.run(Time::ZERO + Span::from_ms(20));
        let again = net.network.sent_on(0).filter(|sent| sent.packet.has(flag::RETRANSMIT));
        assert_eq!(again.count(), 12, "{losses}: each is sent again once");
        let completed = net.network.completed(0).expect("all is recovered");
        (completed.since(start(&net)), net.round)
    };
    let (one_by_one, round) = time("named");
    assert!(one_by_one > (TIMEOUT + round) * 11, "one packet per timeout: {one_by_one}");
    // The packets that came, a timeout, a round for the first of the tail and one for the others.
    for losses in ["tail_reissued", "granted_reissued", "reissued"] {
        let (together, _) = time(losses);
        assert!(together <= TIMEOUT + round * 4, "{losses}: {together}");
    }
}

#[test]
fn no_packet_behind_the_first_burst_is_asked_for() {
    // All of a flow but its first packets is lost, the last one, too: data has said how many there are.
    let mut net = losing_of("tail_reissued", 14, 3..14);
    net.network.run(Time::ZERO + Span::from_ms(20));
    assert!(net.network.completed(0).is_some());
    assert_eq!(grants(&net), 13 + 1 + 10, "a reply each but the last, the probe, and the others");
    let asked = net.network.received.iter().filter_map(|received| match received.packet.header {
        Header::Grant { flags, request, .. } if flags & data_flag::LAST != 0 => Some(request),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), (3..14).collect::<Vec<_>>());
}

#[test]
fn a_source_remembers_a_whole_burst_of_requests() {
    let round = 100;
    let mut net = SlotNetwork::new(&ENTRY, &[("data_packets", "200")], 1, round, UNLIMITED);
    let mut left: Vec<u32> = (5..95).collect();
    let lose = move |packet: &Packet| {
        let key = packet.is_data().then(|| packet.header.data_key());
        let place = left.iter().position(|lost| Some(*lost) == key);
        place.map(|place| left.remove(place)).is_some()
    };
    net.network.impair(net.bottleneck, Impairments::losing(lose));
    net.flow(0, 95, start(&net) - SLOT);
    net.network.run(Time::ZERO + Span::from_ms(20));
    assert!(net.network.completed(0).is_some());
    let again = net.network.sent_on(0).filter(|sent| sent.packet.has(flag::RETRANSMIT));
    let again: Vec<Time> = again.map(|sent| sent.at).collect();
    assert_eq!((again.len(), grants(&net)), (90, 94 + 1 + 89));
    assert!(again[89].since(again[1]) < net.round, "in one round");
}

#[test]
fn naming_a_hole_cancels_one_expectation() {
    let rules = passed(None);
    let opened = |packets: &[u8]| {
        let mut flow = rules.opened(at(0));
        let numbers = packets.iter().map(|&count| rules.granted(&mut flow, at(0), count));
        let numbers: Vec<_> = numbers.collect();
        (flow, numbers)
    };
    // Two grants overtaken, one of them named: one is replaced.
    let (mut flow, numbers) = opened(&[1, 1, 1, 1]);
    rules.arrived(&mut flow, at(40), numbers[2]);
    rules.named(&mut flow);
    let (arrivals, mut holes) = (Arrivals::new(), Holes::default());
    assert_eq!(rules.deadline(&flow), at(40) + TIMEOUT);
    assert!(rules.expired(&mut flow, at(40) + TIMEOUT, &arrivals, &mut holes).is_some());
    assert!(rules.deadline(&flow) > at(40) + TIMEOUT, "the fourth is not overtaken");
    // The first packet of a pair is lost, the second tells.
    let (mut flow, numbers) = opened(&[2, 1]);
    rules.arrived(&mut flow, at(40), numbers[0]);
    rules.named(&mut flow);
    rules.arrived(&mut flow, at(41), numbers[1]);
    assert_eq!(rules.deadline(&flow), at(41 + 80), "nothing is awaited: twice the longest gap");
    // A grant whose data has not come yet is no other's.
    let (mut flow, numbers) = opened(&[1, 1]);
    rules.arrived(&mut flow, at(40), numbers[0]);
    rules.named(&mut flow);
    rules.named(&mut flow);
    rules.granted(&mut flow, at(41), 1);
    rules.arrived(&mut flow, at(42), Some(2));
    assert!(rules.expired(&mut flow, at(42) + TIMEOUT, &arrivals, &mut holes).is_some());
}

#[test]
fn where_packets_keep_their_order_a_hole_is_a_loss_at_once() {
    let fabric = fabric_site(4, Rate::from_gbps(10), Span::from_us(20));
    for (name, routing) in Routing::NAMES {
        let site = HostSite { routing, ..host_site(0, &fabric) };
        let at_once = ["ecmp", "symmetric-ecmp", "paths"].contains(&name);
        assert_eq!(hole_behind(&Params::default(), &site) == 0, at_once, "{name}");
    }
}

#[test]
fn where_packets_take_several_paths_a_hole_is_no_loss_at_once() {
    let flows = (0..8).map(|id| flow(id, id, (id + 4) % 8, 300 * MSS, Time::ZERO)).collect();
    let fabric = fabric("leaf-spine:2x4x4", Rate::from_gbps(10), Span::from_us(1));
    let mut trial = Trial::new(&ENTRY, fabric, flows).set("data_packets", "100");
    for routing in [Routing::Spray, Routing::Ecmp] {
        trial.routing = Some(routing);
        let outcome = trial.run();
        assert!(outcome.flows.iter().all(|flow| flow.completed.is_some()));
        let again: u32 = outcome.flows.iter().map(|flow| flow.retransmits).sum();
        let drops: u32 = outcome.ports.iter().map(|port| port.total.drops).sum();
        assert_eq!((again, drops), (0, 0), "{}", routing.name());
    }
}

#[test]
fn a_flow_takes_what_another_loses_at_a_second_bottleneck() {
    // AMRT Fig. 11: two flows that fill the first link, half a BDP each; a third one meets the first
    // of them at the second link from 10 ms on.
    let burst = |burst, flow| Flow { burst: Some(burst), ..flow };
    let flows = vec![
        burst(5, flow(0, 0, 1, 1 << 30, Time::ZERO)),
        burst(4, flow(1, 2, 3, 1 << 30, Time::ZERO)),
        flow(2, 4, 1, 1 << 30, Time::ZERO + Span::from_ms(10)),
    ];
    let rate = Rate::from_gbps(1);
    let fabric = fabric("parking-lot:2", rate, Span::from_us(10));
    let trial = Trial::new(&ENTRY, fabric, flows).until(Span::from_ms(40), Span::from_us(100));
    let outcome = trial.run();
    let share = |from, until| {
        let sent = outcome.throughput(outcome.nic(2), Span::from_ms(from), Span::from_ms(until));
        sent / (rate.0 as f64 / 8.0)
    };
    let (before, beside) = (share(5, 10), share(20, 40));
    assert!((0.44..0.56).contains(&before), "about a half before: {before}");
    assert!((before + 0.08..0.72).contains(&beside), "more beside the third: {beside}");
}

#[test]
fn the_papers_timer_runs_from_the_grant() {
    let rules = Paper(expectations(&[]));
    let mut flow = rules.opened(at(0));
    let numbers: Vec<u32> = (0..3).map(|_| rules.granted(&mut flow, at(0), 1).unwrap()).collect();
    rules.arrived(&mut flow, at(40), Some(numbers[2]));
    assert_eq!(rules.deadline(&flow), at(0) + TIMEOUT, "AMRT §6: data of a later one is nothing");
}

#[test]
fn a_nic_has_the_marker_and_no_limit() {
    let fabric = slot_fabric(10, UNLIMITED);
    let policy = |nic, settings| {
        let plan = configured(&ENTRY, settings, &fabric);
        let site = PortSite { nic, ..port_site(&fabric) };
        (plan.shapes_nic(), plan.policy(&site))
    };
    let (shapes, at_nic) = policy(true, &[]);
    assert!(shapes && at_nic.markers.len() == 1);
    assert!(at_nic.classes.iter().all(|class| class.limit == Limit::Unlimited));
    assert_eq!(policy(false, &[]).1.classes[1].limit, Limit::Packets(8));
    assert!(!policy(true, &[("at_nics", "false")]).0);
}

#[test]
fn a_lost_grant_is_replaced() {
    let mut left = 1;
    let lose = move |packet: &Packet| {
        let hit = left > 0 && matches!(packet.header, Header::Grant { seq: 30, .. });
        left -= hit as i32;
        hit
    };
    let net = lone_flow_losing(lose, false);
    assert!(net.network.sent_on(0).all(|s| !s.packet.has(flag::RETRANSMIT)));
}

/// Retransmissions of a host whose flows to ten others wait in its NIC; queues are
/// unlimited and nothing is lost.
fn sent_again_by_a_busy_host(settings: &[(&str, &str)]) -> usize {
    let settings = [settings, &[("data_packets", "1000000"), ("timeout", "30us")]].concat();
    let mut net = SlotNetwork::new(&ENTRY, &settings, 10, 10, UNLIMITED);
    for id in 0..40 {
        let to = 10 + id % 10;
        net.join(0, to);
        net.network.add(flow(id, 0, to, 300 * MSS, Time::ZERO + SLOT * (20 * id as u64)));
    }
    net.network.run(Time::ZERO + Span::from_secs(1));
    assert!((0..40).all(|flow| net.network.completed(flow).is_some()));
    net.network.sent_on(0).filter(|s| s.packet.has(flag::RETRANSMIT)).count()
}

#[test]
fn packets_queued_in_the_senders_nic_are_not_lost() {
    assert_eq!(sent_again_by_a_busy_host(&[]), 0);
    let by_the_paper = sent_again_by_a_busy_host(&[("recovery", "paper")]);
    assert!(by_the_paper > 100, "{by_the_paper}");
}

/// With a base RTT of 20 us and three hops: 20 + 48 + 1 us.
const TIMEOUT: Span = Span::from_us(69);

fn passed(tail: Option<u32>) -> Passed {
    Passed { expected: expectations(&[]), tail }
}

fn expectations(settings: &[(&str, &str)]) -> Expectations {
    let settings = key_values(settings);
    let params = Params::read(&settings).expect("valid settings");
    Expectations::of(&slot_fabric(20, UNLIMITED), &params)
}

#[test]
fn the_timeout_covers_the_queues_up_to_sixteen_rtts() {
    assert_eq!(expectations(&[]).timeout, TIMEOUT);
    assert_eq!(expectations(&[("data_packets", "16")]).timeout, TIMEOUT + Span::from_us(48));
    assert_eq!(expectations(&[("data_packets", "1000000")]).timeout, Span::from_us(20 + 320 + 1));
    assert_eq!(expectations(&[("strict_1rtt", "true")]).timeout, Span::from_us(20));
}

#[test]
fn a_grant_is_replaced_one_timeout_after_data_of_a_later_one() {
    let rules = passed(None);
    let (arrivals, mut holes) = (Arrivals::new(), Holes::default());
    let mut flow = rules.opened(at(0));
    let numbers: Vec<u32> = (0..3).map(|_| rules.granted(&mut flow, at(0), 1).unwrap()).collect();
    rules.arrived(&mut flow, at(40), Some(numbers[2]));
    assert_eq!(rules.deadline(&flow), at(40) + TIMEOUT, "however long ago the grant was");
    for _ in 0..2 {
        assert_eq!(rules.deadline(&flow), at(109));
        let again = rules.expired(&mut flow, at(109), &arrivals, &mut holes);
        assert_eq!(again, Some(Reissue::replacement(Request::Nothing)), "one for each, no more");
    }
    assert!(rules.deadline(&flow) > at(109));
}

#[test]
fn without_arrivals_probes_back_off_exponentially() {
    let rules = passed(None);
    let (arrivals, mut holes) = (Arrivals::new(), Holes::default());
    let mut flow = rules.opened(at(0));
    for _ in 0..20 {
        rules.granted(&mut flow, at(0), 2);
    }
    let (mut last, mut number) = (at(0), None);
    for times in [1, 2, 4, 8, 16, 16] {
        let now = rules.deadline(&flow);
        assert_eq!(now, last + TIMEOUT * times);
        let probe = rules.expired(&mut flow, now, &arrivals, &mut holes);
        let probe = probe.expect("a probe");
        assert_eq!((probe.request, probe.if_idle), (Request::LastResort(0), true));
        number = probe.number;
        last = now;
    }
    // Its reply came past an idle sender: all twenty grants are replaced now.
    let now = last + TIMEOUT;
    rules.arrived(&mut flow, now, number);
    for _ in 0..20 {
        assert_eq!(rules.deadline(&flow), now);
        let again = rules.expired(&mut flow, now, &arrivals, &mut holes);
        assert_eq!(again, Some(Reissue::replacement(Request::Nothing)));
    }
    assert_eq!(rules.deadline(&flow), now + TIMEOUT, "and a loss makes nothing more patient");
}

#[test]
fn the_probe_timeout_follows_the_packet_interval() {
    let rules = passed(None);
    let mut flow = rules.opened(at(0));
    let numbers: Vec<u32> = (0..3).map(|_| rules.granted(&mut flow, at(0), 1).unwrap()).collect();
    rules.arrived(&mut flow, at(50), Some(numbers[0]));
    rules.arrived(&mut flow, at(51), Some(numbers[1]));
    assert_eq!(rules.deadline(&flow), at(51) + Span::from_us(100), "twice 50 us");
    // Data sent before the probe arrives after it: the probe was early, and the gap counts.
    let (arrivals, mut holes) = (Arrivals::new(), Holes::default());
    let now = rules.deadline(&flow);
    let probe = rules.expired(&mut flow, now, &arrivals, &mut holes);
    assert!(probe.is_some_and(|probe| probe.if_idle));
    rules.arrived(&mut flow, at(351), Some(numbers[2]));
    assert_eq!(rules.deadline(&flow), at(351) + Span::from_us(600));
    // Two rounds later the gap no longer counts.
    for us in [351, 356] {
        let number = rules.granted(&mut flow, at(us), 1).unwrap();
        rules.arrived(&mut flow, at(us + 5), Some(number));
    }
    assert_eq!(rules.deadline(&flow), at(361) + TIMEOUT);
}

/// The mark of a packet after a gap at a port of 12 Gb/s.
fn marked(payload: u16, mark: Code, idle: Option<Span>) -> Code {
    let mut harness = Harness::framed(Framing::NONE);
    let packet = Packet { payload, mark: mark as u8, ..data(ID, 1, 0) };
    let packet = harness.packets.create(packet);
    let view = View { idle, ..view(Time(1), 0, Rate::from_gbps(12)) };
    GapMarker::new(SLOT, Gap::Any).on_dequeue(&mut harness.packets, packet, &view);
    Code::of(harness.packets[packet].mark)
}

#[test]
fn a_gap_counts_from_one_full_packet_on() {
    assert_eq!(marked(1460, Code::Room, Some(SLOT)), Code::Room, "exactly one packet is enough");
    assert_eq!(marked(1460, Code::Room, Some(SLOT - Span(1))), Code::Saturated);
    // A gap of 300 B has no room for a full packet, regardless of the packet after it.
    assert_eq!(marked(260, Code::Room, Some(SLOT / 5)), Code::Saturated);
    assert_eq!(marked(1460, Code::Room, None), Code::Room, "the first packet of a port");
}

#[test]
fn a_gap_between_data_packets_is_not_ended_by_a_grant() {
    let rate = Rate::from_gbps(12);
    let mut harness = Harness::framed(Framing::NONE);
    let mut mark = |marker: &mut GapMarker, packet: Packet, now: Time, idle| {
        let packet = harness.packets.create(packet);
        let view = View { idle, ..view(now, 0, rate) };
        marker.on_dequeue(&mut harness.packets, packet, &view);
        Code::of(harness.packets[packet].mark)
    };
    let full = Packet { payload: 1460, mark: Code::Room as u8, ..data(ID, 1, 0) };
    let grant = Packet {
        payload: 0,
        header: Header::Grant { seq: 0, request: 0, tag: 0, flags: 0 },
        ..full
    };
    for (after, expected) in [(Gap::Any, Code::Saturated), (Gap::Data, Code::Room)] {
        let mut marker = GapMarker::new(SLOT, after);
        let start = Time(1);
        assert_eq!(mark(&mut marker, full, start, None), Code::Room, "the first one");
        // It ends a slot after its start; a grant leaves half a slot later, data another half.
        mark(&mut marker, grant, start + SLOT + SLOT / 2, Some(SLOT / 2));
        assert_eq!(
            mark(&mut marker, full, start + SLOT * 2, Some(SLOT / 4)),
            expected,
            "{after:?}"
        );
        let early = mark(&mut marker, full, start + SLOT * 4 - Span(1), Some(SLOT - Span(1)));
        assert_eq!(early, Code::Saturated, "{after:?}: less than a packet");
    }
}

/// A link fails in the middle of a packet: what waits behind it leaves the queue at that instant.
#[test]
fn a_link_that_fails_in_the_middle_of_a_packet_leaves_no_gap() {
    let mut harness = Harness::framed(Framing::NONE);
    let mut marker = GapMarker::new(SLOT, Gap::Data);
    let full = Packet { payload: 1460, mark: Code::Room as u8, ..data(ID, 1, 0) };
    let mut room = |now: Time| {
        let packet = harness.packets.create(full);
        let view = view(now, 0, Rate::from_gbps(12));
        marker.on_dequeue(&mut harness.packets, packet, &view)
    };
    assert!(room(Time(1)), "the first one");
    assert!(!room(Time(1) + SLOT / 2), "the first is still being sent");
}

#[test]
fn two_opposite_flows_at_half_rate_fill_their_links_only_if_grants_are_room() {
    // Each link carries the data of one flow and the grants of the other.
    let rate = Rate::from_gbps(10);
    let half = |id, src, dst| Flow { burst: Some(10), ..flow(id, src, dst, 1 << 30, Time::ZERO) };
    let used = |after| {
        let fabric = fabric("star:2", rate, Span::from_us(6));
        let trial = Trial::new(&ENTRY, fabric, vec![half(0, 0, 1), half(1, 1, 0)])
            .set("gap_after", after)
            .until(Span::from_ms(20), Span::from_us(100));
        let outcome = trial.run();
        let sent = outcome.throughput(outcome.nic(0), Span::from_ms(10), Span::from_ms(20));
        sent / (rate.0 as f64 / 8.0)
    };
    let (any, data) = (used("any"), used("data"));
    assert!(any < 0.75, "no gap holds a packet beside the grants: {any}");
    assert!(data > 0.9, "the vacant half is found: {data}");
}

#[test]
fn one_saturated_hop_is_enough_in_either_order() {
    let idle = Some(SLOT * 5);
    assert_eq!(marked(1460, marked(1460, Code::Room, idle), Some(Span::ZERO)), Code::Saturated);
    assert_eq!(marked(1460, marked(1460, Code::Room, Some(Span::ZERO)), idle), Code::Saturated);
    assert_eq!(marked(1460, marked(1460, Code::Room, idle), idle), Code::Room);
}

#[test]
fn lost_duplicated_and_late_packets_are_tolerated() {
    for seed in 0..30 {
        impaired_flows(&ENTRY, seed, &[], 2);
    }
    for seed in 0..5 {
        impaired_flows(&ENTRY, seed, &[("strict_1rtt", "true")], 2);
        impaired_flows(&ENTRY, seed, &[("recovery", "paper")], 2);
        impaired_flows(&ENTRY, seed, &[("losses", "reissued")], 2);
        impaired_flows(&ENTRY, seed, &[("losses", "tail_reissued")], 2);
        impaired_flows(&ENTRY, seed, &[("losses", "granted_reissued")], 2);
    }
}
