//! Known results and invariants of Aeolus: scripts of packets in and out, and its port.

use super::{Both, ENTRY, ID};
use crate::homa::tests::{Messages, RATE, driver, eight, slots};
use incast_egress::port::build;
use incast_testkit::{
    Driver, FULL, Harness, MSS, Network, Probabilities, configured, fabric_site, flow, packet,
    port_site,
};
use incast_transport::{
    Classes, Dequeue, Discipline, Fate, Header, Limit, Packet, Parameters, Port, PortSite, Random,
    Span, Time, Transport, data_flag, flag,
};

const U: u8 = data_flag::UNSCHEDULED;
/// A base RTT.
const GRACE: Span = Span(FULL.0 * 8);

fn bench(settings: &[(&str, &str)]) -> Driver {
    driver(&ENTRY, settings)
}

fn unscheduled(packet: &Packet) -> bool {
    matches!(packet.header, Header::Data { flags, .. } if flags & U != 0)
}

fn probe(packet: &Packet) -> Option<(u32, u32)> {
    match packet.header {
        Header::Probe { packets, sent, .. } => Some((packets, sent)),
        _ => None,
    }
}

/// A probe of host 2 arrives.
fn probed(b: &mut Driver, now: Time, flow: u32, packets: u32, sent: u32) {
    b.from(now, 2, flow, Header::Probe { packets, sent, spare: 0, flags: 0 }, 0);
}

fn acks(b: &mut Driver, now: Time, flow: u32, seq: u32, cumulative: u32, flags: u8) {
    b.from(now, 2, flow, Header::Ack { seq, cumulative, number: 0, flags }, 0);
}

/// Grants and the lost packets that they request.
fn requests(sent: &[(Time, Packet)]) -> Vec<(Time, u32, Option<u32>)> {
    let grant = |&(at, packet): &(Time, Packet)| match packet.header {
        Header::Grant { seq, request, flags, .. } => {
            Some((at, seq, (flags & data_flag::REQUEST != 0).then_some(request)))
        }
        _ => None,
    };
    sent.iter().filter_map(grant).collect()
}

// -- sources --------------------------------------------------------------------------------------

#[test]
fn one_probe_follows_the_last_unscheduled_packet() {
    for packets in [1, 5, 8, 20] {
        let mut b = bench(&[]);
        b.open(slots(0), &flow(0, 1, 2, packets * MSS, slots(0)));
        let sent = b.drain(slots(0));
        let burst = packets.min(8) as usize;
        assert_eq!(sent.len(), burst + 1);
        assert!(sent[..burst].iter().all(unscheduled));
        assert_eq!(probe(&sent[burst]), Some((packets as u32, burst as u32)));
        // In the lowest of their priorities, so that it arrives last.
        assert_eq!(sent[burst].class, sent.iter().map(|packet| packet.class).max().unwrap());
        assert!(sent.iter().all(|packet| packet.transport == ID));
    }
}

#[test]
fn nothing_is_unscheduled_after_the_first_grant() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    (0..3).for_each(|seq| assert_eq!(b.sends(slots(seq)).unwrap().1, seq as u32));
    b.grant(slots(3), 0, 9, 6);
    let sent = b.drain(slots(3));
    assert_eq!(probe(&sent[0]), Some((20, 3)));
    // The rest of the burst may leave now, as scheduled data.
    let rest: Vec<_> = sent[1..].iter().map(|p| (p.header.data_key(), p.class)).collect();
    assert_eq!(rest, [(3, 6), (4, 6), (5, 6), (6, 6), (7, 6), (8, 6)]);
    assert!(sent.iter().all(|packet| !unscheduled(packet) && !packet.has(flag::RETRANSMIT)));
    b.grant(slots(4), 0, 10, 5);
    assert_eq!(b.sends(slots(4)), Some((0, 9, 5)));
    // A RESEND ends it as well.
    b.open(slots(5), &flow(1, 1, 2, 20 * MSS, slots(5)));
    assert!(unscheduled(&b.transmit(slots(5)).unwrap()));
    b.resend(slots(5), 1, 0, 1, 2);
    let sent = b.drain(slots(5));
    assert_eq!(probe(&sent[0]), Some((20, 1)));
    assert!(sent[1].has(flag::RETRANSMIT) && sent.iter().all(|packet| !unscheduled(packet)));
}

#[test]
fn a_grant_retransmits_a_lost_packet_first_as_scheduled_data() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    b.drain(slots(0));
    b.grant(slots(9), 0, 9, 7);
    let again = Header::Grant { seq: 9, request: 4, tag: 2, flags: data_flag::REQUEST };
    b.from(slots(9), 2, 0, again, 0);
    let packet = b.transmit(slots(9)).unwrap();
    assert_eq!((packet.header.data_key(), packet.class), (4, 2));
    assert!(packet.has(flag::RETRANSMIT) && !unscheduled(&packet));
    assert_eq!(b.sends(slots(9)), Some((0, 8, 7)));
    assert_eq!(b.sends(slots(9)), None);
}

#[test]
fn a_lost_probe_is_repeated() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 3 * MSS, slots(0)));
    b.drain(slots(0));
    // An RTT and 128 packets of buffer.
    let wait = FULL * (8 + 128);
    let sent = b.run(slots(0) + Span::from_ms(2));
    let times: Vec<_> = sent.iter().map(|&(at, packet)| (at, probe(&packet))).collect();
    assert_eq!(times, [1, 2].map(|n| (slots(0) + wait * n, Some((3, 3)))));
    // A reply ends it.
    let mut b = bench(&[("probe_timeout", "20us")]);
    b.open(slots(0), &flow(0, 1, 2, 3 * MSS, slots(0)));
    b.drain(slots(0));
    assert_eq!(b.run(slots(0) + Span::from_us(20)).len(), 1);
    acks(&mut b, slots(20), 0, 3, 1, data_flag::LAST);
    assert!(b.run(slots(1_000)).is_empty());
    b.finish(slots(1_000), 0);
    assert_eq!(b.host.open_flows(), 0);
}

#[test]
fn a_host_may_limit_the_unscheduled_packets_of_all_its_flows() {
    let mut b = bench(&[("host_burst", "10")]);
    for id in 0..3 {
        b.open(slots(0), &flow(id, 1, 2, (6 + id as u64) * MSS, slots(0)));
    }
    let sent = b.drain(slots(0));
    let of = |id: u32| sent.iter().filter(|p| p.flow.0 == id && unscheduled(p)).count();
    assert_eq!([of(0), of(1), of(2)], [6, 4, 0]);
    let probes: Vec<_> = sent.iter().filter_map(probe).collect();
    assert_eq!(probes.len(), 3);
    assert!(probes.contains(&(7, 4)) && probes.contains(&(8, 0)), "{probes:?}");
    assert_eq!(b.sends(slots(1)), None);
    b.grant(slots(9), 2, 1, 7);
    assert_eq!(b.sends(slots(9)), Some((2, 0, 7)));
    // Replies and finishes make room.
    acks(&mut b, slots(10), 1, 4, 4, data_flag::LAST);
    b.open(slots(10), &flow(3, 1, 2, 8 * MSS, slots(10)));
    assert_eq!(b.drain(slots(10)).iter().filter(|p| unscheduled(p)).count(), 4);
    b.finish(slots(11), 0);
    b.open(slots(11), &flow(4, 1, 2, 8 * MSS, slots(11)));
    assert_eq!(b.drain(slots(11)).iter().filter(|p| unscheduled(p)).count(), 6);
}

// -- destinations ---------------------------------------------------------------------------------

#[test]
fn every_unscheduled_packet_is_acknowledged() {
    let mut b = bench(&[]);
    for (seq, cumulative) in [(0, 1), (2, 1), (1, 3), (1, 3)] {
        b.data(slots(seq as u64), 2, 0, seq, 6, U);
        let sent = b.drain(slots(9));
        let flags = U;
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].header, Header::Ack { seq, cumulative, number: 0, flags });
        assert_eq!(sent[0].class, 0);
    }
    b.data(slots(10), 2, 0, 3, 6, 0);
    assert!(b.drain(slots(10)).is_empty(), "scheduled ones are not");
    b.data(slots(11), 2, 0, 4, 6, U);
    b.drain(slots(11));
    b.data(slots(12), 2, 0, 5, 6, U);
    assert!(matches!(b.drain(slots(12))[..],
        [packet] if matches!(packet.header, Header::Finish { .. })));
    probed(&mut b, slots(12), 0, 6, 6);
    assert!(matches!(b.drain(slots(12))[..],
        [packet] if matches!(packet.header, Header::Finish { .. })));
}

#[test]
fn a_completely_lost_burst_is_recovered_by_the_probe_alone() {
    let mut b = bench(&[]);
    probed(&mut b, slots(8), 0, 5, 5);
    let flags = data_flag::LAST;
    assert_eq!(
        b.drain(slots(8))[0].header,
        Header::Ack { seq: 5, cumulative: 0, number: 0, flags }
    );
    let sent = b.run(slots(40));
    // An RTT of grace, then a grant per packet time, one per lost packet.
    let expected = (0..5).map(|n| (slots(8 + n as u64) + GRACE, 5, Some(n)));
    assert_eq!(requests(&sent), expected.collect::<Vec<_>>());
    // In the best class of the message's unscheduled packets.
    assert!(sent.iter().all(|(_, p)| matches!(p.header, Header::Grant { tag: 1, .. })));
    for seq in 0..5 {
        b.data(slots(40), 2, 0, seq, 5, 0);
    }
    assert_eq!((b.harness.probe.outcomes().len(), b.host.open_flows()), (1, 0));
}

#[test]
fn one_lost_packet_is_found_by_the_probe_and_not_by_a_timer() {
    let mut b = bench(&[]);
    for seq in 0..7 {
        b.data(slots(seq), 2, 0, seq as u32, 8, U);
    }
    b.drain(slots(7));
    probed(&mut b, slots(8), 0, 8, 8);
    let sent = b.run(slots(60));
    assert_eq!(requests(&sent), [(slots(8) + GRACE, 8, Some(7))]);
    // Without reordering the losses are certain at once.
    let mut b = bench(&[("grace", "0ns")]);
    for seq in 0..7 {
        b.data(slots(seq), 2, 0, seq as u32, 8, U);
    }
    b.drain(slots(7));
    probed(&mut b, slots(8), 0, 8, 8);
    let sent: Vec<_> = b.drain(slots(8)).into_iter().map(|packet| (slots(8), packet)).collect();
    assert_eq!(requests(&sent), [(slots(8), 8, Some(7))]);
}

#[test]
fn lost_packets_are_granted_before_new_ones() {
    let mut b = bench(&[("grace", "0ns"), ("boost_tail", "false")]);
    for seq in [0, 1, 2, 5] {
        b.data(slots(seq as u64), 2, 0, seq, 100, U);
    }
    b.drain(slots(5));
    probed(&mut b, slots(8), 0, 100, 8);
    let mut sent: Vec<_> = b.drain(slots(8)).into_iter().map(|p| (slots(8), p)).collect();
    sent.extend(b.run(slots(30)));
    // Four have arrived and four grants have left, so that four lost ones may be in flight too.
    let order: Vec<_> = requests(&sent).into_iter().map(|(_, to, lost)| (to, lost)).collect();
    assert_eq!(order, [(12, Some(3)), (12, Some(4)), (12, Some(6)), (12, Some(7))]);
    // One of them arrives: RTTbytes are in flight again with one new packet.
    b.data(slots(30), 2, 0, 3, 100, 0);
    let sent: Vec<_> = b.drain(slots(30)).into_iter().map(|p| (slots(30), p)).collect();
    assert_eq!(requests(&sent), [(slots(30), 13, None)]);
}

#[test]
fn a_late_packet_is_not_granted_again_and_probes_count_once() {
    let mut b = bench(&[]);
    b.data(slots(8), 2, 0, 0, 8, U);
    b.drain(slots(8));
    probed(&mut b, slots(8), 0, 8, 8);
    let mut sent = b.run(slots(17));
    // 1 and 2 are in flight again; 5 was only late.
    b.data(slots(17), 2, 0, 5, 8, U);
    probed(&mut b, slots(17), 0, 8, 8);
    sent.extend(b.run(slots(60)));
    let lost: Vec<_> = requests(&sent).into_iter().filter_map(|grant| grant.2).collect();
    assert_eq!(lost, [1, 2, 3, 4, 6, 7]);
}

#[test]
fn a_burst_that_was_cut_short_needs_grants_for_the_rest() {
    // The host's limit released two of eight packets; the receiver expected eight.
    let mut b = bench(&[("grace", "0ns")]);
    b.data(slots(0), 2, 0, 0, 8, U);
    b.data(slots(1), 2, 0, 1, 8, U);
    b.drain(slots(1));
    probed(&mut b, slots(2), 0, 8, 2);
    let mut sent: Vec<_> = b.drain(slots(2)).into_iter().map(|p| (slots(2), p)).collect();
    sent.extend(b.run(slots(30)));
    let order: Vec<_> = requests(&sent).into_iter().map(|(_, to, lost)| (to, lost)).collect();
    assert_eq!(order, (3..=8).map(|to| (to, None)).collect::<Vec<_>>());
}

// -- ports ----------------------------------------------------------------------------------------

struct Rig {
    port: Box<dyn Port>,
    harness: Harness,
}

impl Rig {
    fn new(settings: &[(&str, &str)], buffer: Limit) -> Rig {
        let fabric = eight();
        let site = PortSite { buffer, ..port_site(&fabric) };
        let policy = configured(&ENTRY, settings, &fabric).policy(&site);
        let port = build(vec![policy], &site).unwrap_or_else(|conflict| panic!("{conflict}"));
        Rig { port, harness: Harness::new() }
    }

    fn data(&mut self, seq: u32, class: u8, flags: u8) -> Fate {
        self.enqueue(Header::Data { seq, offset: 0, tag: 0, flags }, class, MSS as u16)
    }

    fn enqueue(&mut self, header: Header, class: u8, payload: u16) -> Fate {
        let packet = Packet { class, payload, ..packet(ID, header) };
        let packet = self.harness.packets.create(packet);
        self.harness.enqueue(&mut *self.port, Time::ZERO, packet).arriving
    }

    fn dequeue(&mut self) -> Option<u32> {
        match self.harness.dequeue(&mut *self.port, Time::ZERO, Classes::ALL) {
            Dequeue::Packet(packet) => Some(self.harness.packets[packet].header.data_key()),
            _ => None,
        }
    }
}

#[test]
fn four_packets_wait_before_unscheduled_ones_are_dropped() {
    let mut rig = Rig::new(&[PORT], Limit::Packets(20));
    // Over all classes together.
    for seq in 0..4 {
        assert_eq!(rig.data(seq, 1 + seq as u8, U), Fate::Queued);
    }
    assert_eq!(rig.data(4, 1, U), Fate::Dropped);
    assert_eq!(rig.data(5, 7, 0), Fate::Queued);
    // Control and probes are protected.
    let ack = Header::Ack { seq: 0, cumulative: 0, number: 0, flags: U };
    assert_eq!(rig.enqueue(ack, 0, 0), Fate::Queued);
    let probe = Header::Probe { packets: 8, sent: 8, spare: 0, flags: 0 };
    assert_eq!(rig.enqueue(probe, 3, 0), Fate::Queued);
    // Scheduled data may use the complete buffer.
    for seq in 6..20 {
        assert_eq!(rig.data(seq, 7, 0), Fate::Queued);
    }
    assert_eq!(rig.data(20, 1, 0), Fate::Dropped);
}

/// One threshold for all data of a port.
const PORT: (&str, &str) = ("threshold_of", "port");

#[test]
fn the_threshold_applies_to_the_packets_class() {
    let mut rig = Rig::new(&[], Limit::Packets(20));
    (0..10).for_each(|seq| assert_eq!(rig.data(seq, 7, 0), Fate::Queued));
    (10..14).for_each(|seq| assert_eq!(rig.data(seq, 2, U), Fate::Queued));
    assert_eq!(rig.data(14, 2, U), Fate::Dropped);
    assert_eq!(rig.data(15, 7, U), Fate::Dropped);
}

#[test]
fn both_kinds_of_a_class_keep_their_order() {
    let mut rig = Rig::new(&[], Limit::Packets(20));
    for (seq, flags) in [(0, U), (1, 0), (2, U), (3, 0)] {
        assert_eq!(rig.data(seq, 3, flags), Fate::Queued);
    }
    let order: Vec<_> = std::iter::from_fn(|| rig.dequeue()).collect();
    assert_eq!(order, [0, 1, 2, 3]);
}

#[test]
fn unscheduled_packets_cannot_harm_a_port_that_is_full_of_scheduled_ones() {
    let mut random = Random::new(2, 0, 0);
    let mut run = |disturb: bool| {
        let mut rig = Rig::new(&[PORT], Limit::Packets(30));
        (0..10).for_each(|seq| assert_eq!(rig.data(seq, 7, 0), Fate::Queued));
        let (mut left, mut most) = (vec![], 0);
        for seq in 10..500 {
            if disturb && random.chance(0.7) {
                assert_eq!(rig.data(1_000 + seq, 1, U), Fate::Dropped);
            }
            assert_eq!(rig.data(seq, 7, 0), Fate::Queued);
            most = most.max(rig.port.backlog().packets);
            left.extend(rig.dequeue());
        }
        (left, most)
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn unscheduled_packets_never_lift_the_queue_above_the_threshold() {
    let mut random = Random::new(3, 0, 0);
    for threshold in [0u32, 1, 4, 9] {
        let text = threshold.to_string();
        let settings = [("threshold", text.as_str()), PORT];
        let mut rig = Rig::new(&settings, Limit::Packets(30));
        for seq in 0..2_000 {
            let before = rig.port.data_backlog().packets;
            match random.below(3) {
                0 => {
                    let fate = rig.data(seq, 1 + random.below(7) as u8, U);
                    assert_eq!(fate == Fate::Queued, before < threshold);
                    assert!(rig.port.data_backlog().packets <= before.max(threshold));
                }
                1 => {
                    let fate = rig.data(seq, 1 + random.below(7) as u8, 0);
                    assert_eq!(fate == Fate::Queued, before < 30);
                }
                _ => drop(rig.dequeue()),
            }
        }
    }
}

// -- settings -------------------------------------------------------------------------------------

#[test]
fn settings_of_aeolus_and_homa_are_accepted() {
    let set = |key: &str, value: &str| Both::read(&[(key.to_string(), value.into())]);
    assert_eq!(set("threshold", "9").unwrap().own.threshold, 9);
    assert_eq!(set("overcommitment", "3").unwrap().homa.overcommitment, Some(3));
    let error = set("overcommitment", "0").unwrap_err();
    assert_eq!(error.key(), Some("overcommitment"));
    let error = ENTRY.configure(&[("theta".into(), "1".into())], eight()).err().unwrap();
    assert!(error.problem().contains("threshold") && error.problem().contains("rtt_bytes"));
    let wrong = [("priorities".to_string(), "3".into()), ("scheduled".into(), "6".into())];
    assert_eq!(ENTRY.configure(&wrong, eight()).err().unwrap().key(), Some("scheduled"));
    let names: Vec<_> = ENTRY.parameters().iter().map(|doc| doc.name).collect();
    let resolved = configured(&ENTRY, &[], &eight()).resolved();
    assert_eq!(names, resolved.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let policy = |settings: &[(&str, &str)]| {
        let fabric = eight();
        let site = PortSite { buffer: Limit::Bytes(64 << 10), ..port_site(&fabric) };
        configured(&ENTRY, settings, &fabric).policy(&site).classes
    };
    let classes = policy(&[("priorities", "4"), ("threshold", "6"), PORT]);
    assert_eq!((classes.len(), classes[0].discipline), (4, Discipline::DropTail));
    let threshold = Limit::Packets(6);
    let of = |alone| Discipline::Selective { threshold, alone };
    assert!(classes[1..].iter().all(|class| class.discipline == of(false)));
    let each = policy(&[("threshold", "6")]);
    assert!(each[1..].iter().all(|class| class.discipline == of(true)));
    assert!(classes.iter().all(|class| class.limit == Limit::Bytes(64 << 10)));
}

// -- small networks -------------------------------------------------------------------------------

#[test]
fn without_loss_it_is_homa_and_one_probe() {
    for packets in [1u64, 8, 9, 300] {
        let fabric = eight();
        let plan = configured(&ENTRY, &[], &fabric);
        let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
        network.add(flow(0, 0, 1, packets * MSS, Time::ZERO));
        network.complete(Span::from_ms(10));
        let extra =
            if packets > 8 { RATE.tx_time(incast_transport::Bytes(84)) } else { Span::ZERO };
        let end = slots(packets) + extra + network.delay();
        assert_eq!(network.completed(0), Some(end));
        let count = |kind: fn(&Packet) -> bool| {
            network.sent.iter().filter(|sent| kind(&sent.packet)).count() as u64
        };
        assert_eq!(count(|packet| probe(packet).is_some()), 1);
        assert_eq!(count(unscheduled), packets.min(8));
        assert_eq!(count(Packet::is_data), packets);
        assert_eq!(count(|p| matches!(p.header, Header::Grant { .. })), packets.saturating_sub(8));
    }
}

#[test]
fn every_flow_completes_under_impairments() {
    for seed in 0..60 {
        let fabric = fabric_site(4, RATE, Span::from_us(10 + 90 * (seed % 3)));
        let settings: &[(&str, &str)] = match seed % 4 {
            0 => &[],
            1 => &[("overcommitment", "1"), ("resend", "first"), ("grace", "0ns")],
            2 => &[("host_burst", "12"), ("link_check", "20KB"), ("unscheduled", "size")],
            _ => &[("host_burst", "0"), ("give_up", "1"), ("probe_timeout", "15us")],
        };
        let plan = configured(&ENTRY, settings, &fabric);
        let some = Probabilities::each(0.01 * (1 + seed % 5) as f64, fabric.base_rtt * 4);
        Network::of(&*plan, &fabric, some, seed).survives();
    }
}
