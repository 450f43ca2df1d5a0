//! Answers worked out by hand.

use super::super::*;
use super::numbered::*;
use incast_transport::*;

#[test]
fn without_policies_a_port_is_one_queue_of_its_buffer() {
    let (mut harness, mut port) = (Harness::new(), build(vec![], &site()).unwrap());
    for seq in 0..256 {
        let packet = harness.packet(9, (seq % 8) as u8, seq, 1460);
        assert_eq!(harness.enqueue(&mut *port, Time::ZERO, packet), Verdict::only(Fate::Queued));
    }
    let packet = harness.packet(9, 0, 256, 0);
    assert_eq!(harness.enqueue(&mut *port, Time::ZERO, packet), Verdict::only(Fate::Dropped));
    assert_eq!(port.backlog(), Backlog { bytes: 256 * 1538, packets: 256 });
    assert_eq!(port.data_backlog(), port.backlog());
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), (0..256).collect::<Vec<_>>());
    assert_eq!(port.backlog(), Backlog::default());
}

#[test]
fn control_leaves_first_and_is_not_data_backlog() {
    let policies = vec![policy(1, &[fifo(4), fifo(4)])];
    let (mut harness, mut port) = (Harness::new(), build(policies, &site()).unwrap());
    for (seq, class) in [(0, 1), (1, 0), (2, 7), (3, 0)] {
        let packet = harness.packet(1, class, seq, if class == 0 { 0 } else { 1460 });
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    assert_eq!(port.data_backlog(), Backlog { bytes: 2 * 1538, packets: 2 });
    assert_eq!(port.backlog(), Backlog { bytes: 2 * 1538 + 2 * 84, packets: 4 });
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [1, 3, 0, 2]);
}

#[test]
fn a_closed_class_waits_and_lets_the_others_pass() {
    let policies = vec![policy(1, &[fifo(4), fifo(4)])];
    let (mut harness, mut port) = (Harness::new(), build(policies, &site()).unwrap());
    for (seq, class) in [(0, 1), (1, 0)] {
        let packet = harness.packet(1, class, seq, 0);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes(0)), Dequeue::Empty);
    let Dequeue::Packet(first) = harness.dequeue(&mut *port, Time::ZERO, Classes(0b10)) else {
        panic!()
    };
    assert_eq!(harness.seq(first), 0);
    assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes(0b10)), Dequeue::Empty);
    let Dequeue::Packet(second) = harness.dequeue(&mut *port, Time::ZERO, Classes::CONTROL) else {
        panic!()
    };
    assert_eq!(harness.seq(second), 1);
}

/// NDP §3.1: with a full data queue, one packet too many is trimmed; its header overtakes.
#[test]
fn the_ninth_packet_loses_its_payload_and_overtakes() {
    let policies = vec![policy(4, &trimming(0.0, 100))];
    let (mut harness, mut port) = (Harness::new(), build(policies, &site()).unwrap());
    for seq in 0..9 {
        let packet = harness.packet(4, 1, seq, 1460);
        let fate = if seq < 8 { Fate::Queued } else { Fate::Trimmed };
        assert_eq!(harness.enqueue(&mut *port, Time::ZERO, packet), Verdict::only(fate));
        if seq == 8 {
            let content = harness.packets[packet];
            assert!(content.has(flag::TRIMMED) && content.payload == 0 && content.class == 0);
        }
    }
    assert_eq!(port.data_backlog(), Backlog { bytes: 8 * 1538, packets: 8 });
    assert_eq!(port.backlog(), Backlog { bytes: 8 * 1538 + 84, packets: 9 });
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [8, 0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn the_tail_is_trimmed_instead_and_order_is_kept() {
    let policies = vec![policy(4, &trimming(1.0, 100))];
    let (mut harness, mut port) = (Harness::new(), build(policies, &site()).unwrap());
    let packets: Vec<_> = (0..9).map(|seq| harness.packet(4, 1, seq, 1460)).collect();
    for &packet in &packets[..8] {
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    let verdict = harness.enqueue(&mut *port, Time::ZERO, packets[8]);
    let displaced = Some((packets[7], Fate::Trimmed));
    assert_eq!(verdict, Verdict { arriving: Fate::Queued, displaced });
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [7, 0, 1, 2, 3, 4, 5, 6, 8]);
}

#[test]
fn a_fair_coin_trims_tail_and_arriving_alike() {
    let policies = vec![policy(4, &trimming(0.5, 10_000))];
    let (mut harness, mut port) = (Harness::new(), build(policies, &site()).unwrap());
    let mut tails = 0;
    for seq in 0..2008 {
        let packet = harness.packet(4, 1, seq, 1460);
        tails += harness.enqueue(&mut *port, Time::ZERO, packet).displaced.is_some() as u32;
    }
    assert!((900..1100).contains(&tails), "{tails}");
}

/// A header without room goes back once; bounced or not, a second overflow is the end.
#[test]
fn headers_without_room_are_bounced_once() {
    for tail in [0.0, 1.0] {
        let policies = vec![policy(4, &trimming(tail, 1))];
        let (mut harness, mut port) = (Harness::new(), build(policies, &site()).unwrap());
        let packets: Vec<_> = (0..10).map(|seq| harness.packet(4, 1, seq, 1460)).collect();
        for &packet in &packets[..9] {
            harness.enqueue(&mut *port, Time::ZERO, packet);
        }
        let verdict = harness.enqueue(&mut *port, Time::ZERO, packets[9]);
        if tail == 0.0 {
            assert_eq!(verdict, Verdict::only(Fate::Bounced));
        } else {
            let displaced = Some((packets[8], Fate::Bounced));
            assert_eq!(verdict, Verdict { arriving: Fate::Queued, displaced });
        }
        // Back in flight to the source, at another full port.
        let back = if tail == 0.0 { packets[9] } else { packets[8] };
        harness.packets[back].flags |= flag::BOUNCED;
        assert_eq!(harness.enqueue(&mut *port, Time::ZERO, back), Verdict::only(Fate::Dropped));
        // A header trimmed upstream bounces here; an ACK is dropped.
        let header = harness.packet(4, 0, 20, 0);
        harness.packets[header].flags |= flag::TRIMMED;
        assert_eq!(harness.enqueue(&mut *port, Time::ZERO, header), Verdict::only(Fate::Bounced));
        let ack = harness.packet(4, 0, 21, 0);
        assert_eq!(harness.enqueue(&mut *port, Time::ZERO, ack), Verdict::only(Fate::Dropped));
        assert_eq!(port.backlog().packets, 9);
    }
}

/// NDP §3.1 and its known results: ten header bytes for each data byte while both wait.
#[test]
fn headers_and_data_share_ten_to_one_in_bytes() {
    let classes = [weighted(10, Limit::Unlimited), weighted(1, Limit::Unlimited)];
    let mut harness = Harness::new();
    let mut port = build(vec![policy(4, &classes)], &site()).unwrap();
    for seq in 0..200 {
        let packet = harness.packet(4, 1, seq, 1460);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    for seq in 200..20_200 {
        let packet = harness.packet(4, 0, seq, 0);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    let (mut headers, mut data) = (0u64, 0u64);
    for _ in 0..10_000 {
        match harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) {
            Dequeue::Packet(p) if harness.packets[p].payload == 0 => headers += 84,
            Dequeue::Packet(_) => data += 1538,
            other => panic!("{other:?}"),
        }
        // Within one packet of each: |headers / 10 - data| <= 84 / 10 + 1538.
        assert!(headers.abs_diff(10 * data) <= 84 + 15_380, "{headers} {data}");
    }
    assert!(data >= 50 * 1538);
}

/// pHost: the last packet of the least important class is displaced by a more important one.
#[test]
fn push_out_displaces_the_last_of_the_least_important() {
    let class = ClassPolicy { discipline: Discipline::PushOut, ..fifo(3) };
    let mut harness = Harness::new();
    let mut port = build(vec![policy(3, &[class; 4])], &site()).unwrap();
    let mut put = |harness: &mut Harness, class, seq| {
        let packet = harness.packet(3, class, seq, 1460);
        (packet, harness.enqueue(&mut *port, Time::ZERO, packet))
    };
    put(&mut harness, 2, 0);
    put(&mut harness, 3, 1);
    let (last, _) = put(&mut harness, 3, 2);
    // Equal importance does not displace.
    assert_eq!(put(&mut harness, 3, 3).1, Verdict::only(Fate::Dropped));
    let queued =
        |packet| Verdict { arriving: Fate::Queued, displaced: Some((packet, Fate::Dropped)) };
    assert_eq!(put(&mut harness, 0, 4).1, queued(last));
    let displaced = put(&mut harness, 1, 5).1.displaced.unwrap().0;
    assert_eq!(harness.seq(displaced), 1);
    assert_eq!(put(&mut harness, 2, 6).1, Verdict::only(Fate::Dropped));
    let displaced = put(&mut harness, 0, 7).1.displaced.unwrap().0;
    assert_eq!(harness.seq(displaced), 0);
    assert_eq!(port.backlog().packets, 3);
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [4, 7, 5]);
}

/// Aeolus §3: four packets is the most that unscheduled packets see; scheduled ones use the buffer,
/// and on Homa the queues of all priorities count together.
#[test]
fn unscheduled_packets_are_dropped_beyond_the_threshold() {
    let threshold = Limit::Packets(4);
    let discipline = Discipline::Selective { threshold, alone: false };
    let class = ClassPolicy { discipline, ..fifo(6) };
    let mut harness = Harness::new();
    let mut port = build(vec![policy(5, &[fifo(9), class, class])], &site()).unwrap();
    let mut put = |class, seq, flags| {
        let packet = harness.packet(5, class, seq, 1460);
        let Header::Data { flags: bits, .. } = &mut harness.packets[packet].header else {
            panic!()
        };
        *bits = flags;
        harness.enqueue(&mut *port, Time::ZERO, packet).arriving
    };
    let unscheduled = data_flag::UNSCHEDULED;
    for seq in 0..4 {
        assert_eq!(put(1 + seq as u8 % 2, seq, unscheduled), Fate::Queued);
    }
    assert_eq!(put(1, 4, unscheduled), Fate::Dropped);
    assert_eq!(put(2, 5, unscheduled), Fate::Dropped);
    assert_eq!(put(2, 6, 0), Fate::Queued);
    assert_eq!(put(1, 7, 0), Fate::Queued);
    assert_eq!(put(1, 8, 0), Fate::Dropped);
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [0, 2, 7, 1, 3, 6]);
}

/// The limit is common, the threshold each class's own.
#[test]
fn a_threshold_may_be_that_of_a_class_alone() {
    let threshold = Limit::Packets(2);
    let discipline = Discipline::Selective { threshold, alone: true };
    let class = ClassPolicy { discipline, ..fifo(6) };
    let mut harness = Harness::new();
    let mut port = build(vec![policy(5, &[fifo(9), class, class])], &site()).unwrap();
    let mut put = |class, seq, flags| {
        let packet = harness.packet(5, class, seq, 1460);
        let Header::Data { flags: bits, .. } = &mut harness.packets[packet].header else {
            panic!()
        };
        *bits = flags;
        harness.enqueue(&mut *port, Time::ZERO, packet).arriving
    };
    let unscheduled = data_flag::UNSCHEDULED;
    (0..3).for_each(|seq| assert_eq!(put(2, seq, 0), Fate::Queued));
    assert_eq!(put(2, 3, unscheduled), Fate::Dropped);
    (4..6).for_each(|seq| assert_eq!(put(1, seq, unscheduled), Fate::Queued));
    assert_eq!(put(1, 6, unscheduled), Fate::Dropped);
    assert_eq!(put(1, 7, 0), Fate::Queued);
    assert_eq!(put(1, 8, 0), Fate::Dropped);
}

/// Homa: one buffer behind all priorities.
#[test]
fn a_shared_tail_limit_counts_all_its_classes() {
    let class = ClassPolicy { discipline: Discipline::SharedTail, ..fifo(3) };
    let mut harness = Harness::new();
    let mut port = build(vec![policy(6, &[fifo(9), class, class, class])], &site()).unwrap();
    let mut put = |class, seq| {
        let packet = harness.packet(6, class, seq, 1460);
        harness.enqueue(&mut *port, Time::ZERO, packet).arriving
    };
    assert_eq!([put(3, 0), put(2, 1), put(1, 2)], [Fate::Queued; 3]);
    assert_eq!([put(3, 3), put(2, 4), put(1, 5)], [Fate::Dropped; 3]);
    assert_eq!(put(0, 6), Fate::Queued);
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [6, 2, 1, 0]);
}

/// ExpressPass: credits of 84 B at C x 84 / 1622 pass one per 1622 B times, two at once from a
/// full bucket, and the instants given are exact.
#[test]
fn a_shaped_class_leaves_exactly_when_its_tokens_are_there() {
    let rate = Rate::from_gbps(10).scale(84, 84 + 1538);
    let shaper = Some(Shaper { rate, depth: Bytes(2 * 84) });
    let credits = ClassPolicy { shaper, ..fifo(8) };
    let mut harness = Harness::new();
    let mut port = build(vec![policy(7, &[credits, fifo(9)])], &site()).unwrap();
    for seq in 0..9 {
        let packet = harness.packet(7, 0, seq, 0);
        let fate = if seq < 8 { Fate::Queued } else { Fate::Dropped };
        assert_eq!(harness.enqueue(&mut *port, Time::ZERO, packet).arriving, fate);
    }
    let mut now = 0;
    let mut left = vec![];
    while left.len() < 8 {
        match harness.dequeue(&mut *port, Time(now), Classes::ALL) {
            Dequeue::Packet(_) => left.push(now),
            Dequeue::NotBefore(at) => {
                assert!(at.0 > now);
                assert_eq!(
                    harness.dequeue(&mut *port, Time(at.0 - 1), Classes::ALL),
                    Dequeue::NotBefore(at)
                );
                now = at.0;
            }
            Dequeue::Empty => panic!(),
        }
    }
    // Credit n leaves when (n - 1) * 84 B of tokens have accrued: no drift.
    let due = |n: u64| (n as u128 * 84 * 8_000_000_000_000).div_ceil(rate.0 as u128) as u64;
    assert_eq!(left, [0, 0, due(1), due(2), due(3), due(4), due(5), due(6)]);
    // Data passes while credits wait.
    let (credit, data) = (harness.packet(7, 0, 10, 0), harness.packet(7, 1, 11, 1460));
    harness.enqueue(&mut *port, Time(now), credit);
    harness.enqueue(&mut *port, Time(now), data);
    assert_eq!(harness.dequeue(&mut *port, Time(now), Classes::ALL), Dequeue::Packet(data));
    assert_eq!(
        harness.dequeue(&mut *port, Time(now), Classes::ALL),
        Dequeue::NotBefore(Time(due(7)))
    );
    assert_eq!(harness.dequeue(&mut *port, Time(now), Classes(0b10)), Dequeue::Empty);
}

#[test]
fn a_packet_larger_than_the_bucket_leaves_when_it_is_full() {
    let shaper = Shaper { rate: Rate(8_000_000_000), depth: Bytes(1000) };
    let mut bucket = TokenBucket::new(shaper);
    assert_eq!(bucket.ready(Time::ZERO, 1538), Time::ZERO);
    bucket.take(1538);
    // A byte a nanosecond: it owes 538 B and needs 1000 B.
    assert_eq!(bucket.ready(Time::ZERO, 1538), Time(1_538_000));
    assert_eq!(bucket.ready(Time(1_000_000), 84), Time(1_000_000));
}

/// There is no payload to cut off an ACK that waits among data.
#[test]
fn a_packet_without_payload_is_not_trimmed() {
    let mut harness = Harness::new();
    let mut port = build(vec![policy(4, &trimming(1.0, 100))], &site()).unwrap();
    for seq in 0..8 {
        let packet = harness.packet(4, 1, seq, if seq == 7 { 0 } else { 1460 });
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    let ack = harness.packet(4, 1, 8, 0);
    assert_eq!(harness.enqueue(&mut *port, Time::ZERO, ack), Verdict::only(Fate::Dropped));
    assert!(!harness.packets[ack].has(flag::TRIMMED));
    // The tail has none either, so the arriving packet is trimmed in spite of the coin.
    let full = harness.packet(4, 1, 9, 1460);
    assert_eq!(harness.enqueue(&mut *port, Time::ZERO, full), Verdict::only(Fate::Trimmed));
}

/// Whichever bucket fills first; a byte takes 1 ns in one class and 2 ns in the other.
#[test]
fn the_first_of_several_shaped_classes_is_waited_for() {
    for rates in [[8_000_000_000, 4_000_000_000], [4_000_000_000, 8_000_000_000]] {
        let shaped = rates.map(|rate| {
            let shaper = Some(Shaper { rate: Rate(rate), depth: Bytes(84) });
            ClassPolicy { shaper, ..fifo(9) }
        });
        let mut harness = Harness::new();
        let mut port = build(vec![policy(7, &shaped)], &site()).unwrap();
        for seq in 0..4 {
            let packet = harness.packet(7, (seq % 2) as u8, seq, 0);
            harness.enqueue(&mut *port, Time::ZERO, packet);
        }
        assert_eq!(harness.numbers(&mut *port, Time::ZERO), [0, 1]);
        let at = Dequeue::NotBefore(Time(84_000));
        assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes::ALL), at);
    }
}
