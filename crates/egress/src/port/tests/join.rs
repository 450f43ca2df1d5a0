//! Several transports at one port.

use super::super::*;
use super::numbered::*;
use incast_transport::*;

fn error(policies: Vec<Policy>, join: Join) -> PolicyConflict {
    build_joined(policies, join, &site()).err().expect("a conflict")
}

/// One order for all, but each transport's own limit and discipline for its own packets.
#[test]
fn shared_classes_keep_one_order_and_each_its_own_discipline() {
    let policies = vec![policy(1, &[fifo(9), fifo(10)]), policy(4, &trimming(0.0, 9))];
    let mut harness = Harness::new();
    let mut port = build(policies, &site()).unwrap();
    let mut put = |transport, seq| {
        let packet = harness.packet(transport, 1, seq, 1460);
        harness.enqueue(&mut *port, Time::ZERO, packet).arriving
    };
    for seq in 0..8 {
        assert_eq!(put(if seq % 2 == 0 { 1 } else { 4 }, seq), Fate::Queued);
    }
    assert_eq!(put(4, 8), Fate::Trimmed);
    assert_eq!([put(1, 9), put(1, 10)], [Fate::Queued; 2]);
    assert_eq!(put(1, 11), Fate::Dropped);
    assert_eq!(port.data_backlog().packets, 10);
    assert_eq!(harness.numbers(&mut *port, Time::ZERO), [8, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10]);
}

/// The tail is another's: the arriving packet is trimmed, whatever the coin says.
#[test]
fn no_transport_trims_or_pushes_out_packets_of_another() {
    let policies = vec![policy(1, &[fifo(9), fifo(10)]), policy(4, &trimming(1.0, 9))];
    let mut harness = Harness::new();
    let mut port = build(policies, &site()).unwrap();
    for seq in 0..8 {
        let packet = harness.packet(1, 1, seq, 1460);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    let packet = harness.packet(4, 1, 8, 1460);
    assert_eq!(harness.enqueue(&mut *port, Time::ZERO, packet), Verdict::only(Fate::Trimmed));

    let pushing = [ClassPolicy { discipline: Discipline::PushOut, ..fifo(2) }; 3];
    let policies = vec![policy(1, &[fifo(9), fifo(9), fifo(9)]), policy(3, &pushing)];
    let mut port = build(policies, &site()).unwrap();
    for (seq, transport, class) in [(0, 3, 1), (1, 1, 2)] {
        let packet = harness.packet(transport, class, seq, 1460);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    let packet = harness.packet(3, 0, 2, 0);
    let verdict = harness.enqueue(&mut *port, Time::ZERO, packet);
    assert_eq!(harness.seq(verdict.displaced.unwrap().0), 0);
}

/// Shares of the link while both wait: equal in bytes, whatever the packets' sizes.
#[test]
fn separate_transports_share_the_link_equally() {
    let classes = [fifo(9), ClassPolicy::fifo(Limit::Unlimited)];
    let policies = vec![policy(1, &classes), policy(2, &classes)];
    let mut harness = Harness::new();
    let mut port = build_joined(policies, Join::Separate, &site()).unwrap();
    for seq in 0..2000 {
        let small = harness.packet(2, 1, seq, 300);
        harness.enqueue(&mut *port, Time::ZERO, small);
        if seq < 300 {
            let full = harness.packet(1, 1, seq, 1460);
            harness.enqueue(&mut *port, Time::ZERO, full);
        }
    }
    let control = harness.packet(2, 0, 7777, 0);
    harness.enqueue(&mut *port, Time::ZERO, control);
    assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes::ALL), Dequeue::Packet(control));
    let mut bytes = [0u64; 3];
    for _ in 0..1000 {
        let Dequeue::Packet(packet) = harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) else {
            panic!()
        };
        bytes[harness.packets[packet].transport.0 as usize] +=
            harness.packets.charged(packet) as u64;
        assert!(bytes[1].abs_diff(bytes[2]) <= 1538 + 378, "{bytes:?}");
    }
}

/// All control leaves before all data, in the order it came, and costs its transport no share.
#[test]
fn separate_transports_have_one_control_queue_before_everything() {
    let classes = [ClassPolicy::fifo(Limit::Unlimited); 2];
    let policies = vec![policy(1, &classes), policy(2, &classes)];
    let mut harness = Harness::new();
    let mut port = build_joined(policies, Join::Separate, &site()).unwrap();
    for seq in 0..40 {
        for transport in [1, 2] {
            let data = harness.packet(transport, 1, 1000 + seq, 1460);
            harness.enqueue(&mut *port, Time::ZERO, data);
        }
        let control = harness.packet(1 + (seq % 2) as u8, 0, seq, 0);
        harness.enqueue(&mut *port, Time::ZERO, control);
    }
    let extra = harness.packet(2, 0, 40, 1460);
    harness.enqueue(&mut *port, Time::ZERO, extra);
    let out: Vec<_> = (0..121)
        .map(|_| match harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) {
            Dequeue::Packet(p) => (harness.packets[p].transport.0, harness.seq(p)),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        out[..41].iter().map(|&(_, seq)| seq).collect::<Vec<_>>(),
        (0..41).collect::<Vec<_>>()
    );
    assert!(out[41..].chunks(2).all(|pair| pair[0].0 != pair[1].0), "{out:?}");
}

/// Inside its half, a trimming transport still serves its headers ten to one.
#[test]
fn a_separate_transport_keeps_its_own_schedule() {
    let mut unlimited = trimming(0.0, 0);
    unlimited.iter_mut().for_each(|class| class.limit = Limit::Unlimited);
    let classes = [fifo(9), ClassPolicy::fifo(Limit::Unlimited), fifo(9)];
    let policies = vec![policy(1, &classes), policy(4, &unlimited)];
    let mut harness = Harness::new();
    let mut port = build_joined(policies, Join::Separate, &site()).unwrap();
    for seq in 0..6000 {
        let header = harness.packet(4, 0, seq, 0);
        harness.enqueue(&mut *port, Time::ZERO, header);
        if seq < 500 {
            for transport in [1, 4] {
                let full = harness.packet(transport, 1, seq, 1460);
                harness.enqueue(&mut *port, Time::ZERO, full);
            }
        }
    }
    let mut bytes = [0u64; 3];
    while bytes[0] < 200 * 1538 {
        let Dequeue::Packet(packet) = harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) else {
            panic!()
        };
        let content = harness.packets[packet];
        let kind = if content.transport.0 == 1 { 0 } else { 1 + content.class as usize };
        bytes[kind] += harness.packets.charged(packet) as u64;
    }
    assert!(bytes[0].abs_diff(bytes[1] + bytes[2]) <= 2 * 1538, "{bytes:?}");
    assert!(bytes[1].abs_diff(10 * bytes[2]) <= 84 + 15_380, "{bytes:?}");
}

/// Credits pass their own bucket; another transport's control does not.
#[test]
fn a_shaper_holds_only_its_own_transport() {
    let shaper = Some(Shaper { rate: Rate(84 * 8), depth: Bytes(84) });
    for join in [Join::Shared, Join::Separate] {
        let credits = ClassPolicy { shaper, ..fifo(8) };
        let policies = vec![policy(7, &[credits, fifo(9)]), policy(1, &[fifo(9), fifo(9)])];
        let mut harness = Harness::new();
        let mut port = build_joined(policies, join, &site()).unwrap();
        for (seq, transport) in [(0, 7), (1, 7), (2, 1)] {
            let packet = harness.packet(transport, 0, seq, 0);
            harness.enqueue(&mut *port, Time::ZERO, packet);
        }
        assert_eq!(port.data_backlog(), Backlog::default());
        assert_eq!(harness.numbers(&mut *port, Time::ZERO), [0, 2]);
        let at = Dequeue::NotBefore(Time(1_000_000_000_000));
        assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes::ALL), at);
    }
}

/// What one transport leaves free of a link, the others at its queue leave free, too.
#[test]
fn a_limit_on_a_data_class_holds_all_who_share_it() {
    let shaper = |rate: u64| Some(Shaper { rate: Rate(rate * 8), depth: Bytes(1_538) });
    let limited = |rate| ClassPolicy { shaper: shaper(rate), ..fifo(9) };
    let policies = || {
        vec![
            policy(1, &[fifo(9), fifo(9)]),
            policy(7, &[fifo(9), limited(1_538)]),
            policy(8, &[fifo(9), limited(3_076)]),
        ]
    };
    for (join, first) in [(Join::Shared, vec![0]), (Join::Separate, vec![0, 2])] {
        let mut harness = Harness::new();
        let mut port = build_joined(policies(), join, &site()).unwrap();
        for (seq, transport) in [(0, 7), (1, 7), (2, 1)] {
            let packet = harness.packet(transport, 1, seq, 1460);
            harness.enqueue(&mut *port, Time::ZERO, packet);
        }
        let mut out = harness.numbers(&mut *port, Time::ZERO);
        out.sort_unstable();
        assert_eq!(out, first, "{join:?}");
        let at = Dequeue::NotBefore(Time(1_000_000_000_000));
        assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes::ALL), at);
    }
}

#[test]
fn what_cannot_be_joined_names_both_transports_and_the_key() {
    let (a, b) = (weighted(10, Limit::Unlimited), weighted(5, Limit::Unlimited));
    let policies = || vec![policy(4, &[a, fifo(1)]), policy(9, &[b, fifo(1)])];
    let conflict = error(policies(), Join::Shared);
    assert_eq!((conflict.first.0, conflict.second.0), (4, 9));
    assert_eq!(conflict.key, "classes[0].schedule");
    assert!(build_joined(policies(), Join::Separate, &site()).is_ok());

    // Weighted 10:1 before Homa's lower classes would turn Homa's order around.
    let policies = || vec![policy(4, &trimming(0.0, 1)), policy(6, &[fifo(1); 8])];
    let conflict = error(policies(), Join::Shared);
    assert_eq!((conflict.first.0, conflict.second.0), (4, 6));
    assert_eq!(conflict.key, "classes[0].schedule");
    let conflict = error(policies(), Join::Separate);
    assert_eq!((conflict.first.0, conflict.second.0, &conflict.key[..]), (4, 6, "classes"));

    let conflict = error(vec![policy(1, &[fifo(1)]), policy(1, &[fifo(1)])], Join::Shared);
    assert_eq!((conflict.first.0, &conflict.key[..]), (1, "transport"));
    assert_eq!(
        conflict.to_string(),
        "port policy of transport 1: transport: appears twice at one port"
    );
}

#[test]
fn impossible_policies_are_refused() {
    let key = |classes: &[ClassPolicy]| error(vec![policy(1, classes)], Join::Shared).key;
    assert_eq!(key(&[]), "classes");
    assert_eq!(key(&[fifo(1); 9]), "classes");
    let trim = |headers, tail| Discipline::Trim { headers, tail, bounce: false };
    let bad = |discipline| [fifo(1), ClassPolicy { discipline, ..fifo(1) }];
    assert_eq!(key(&bad(trim(2, 0.0))), "classes[1].discipline");
    assert_eq!(key(&bad(trim(1, 0.0))), "classes[1].discipline");
    assert_eq!(key(&bad(trim(0, 1.5))), "classes[1].discipline");
    assert_eq!(key(&bad(trim(0, f64::NAN))), "classes[1].discipline");
    assert_eq!(key(&[weighted(0, Limit::Unlimited)]), "classes[0].schedule");
    let primes = [10_007, 10_009].map(|weight| weighted(weight, Limit::Unlimited));
    assert_eq!(key(&primes), "classes.schedule");
    let shaper = Some(Shaper { rate: Rate(0), depth: Bytes(84) });
    assert_eq!(key(&[ClassPolicy { shaper, ..fifo(1) }]), "classes[0].shaper");
}
