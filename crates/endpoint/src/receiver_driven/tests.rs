use super::*;
use crate::flow_table::FlowTable;
use incast_transport::{FlowId, Random, Span};
use std::collections::BTreeSet;

#[test]
fn arrivals_behave_like_a_set() {
    for seed in 0..30 {
        let mut random = Random::new(seed, 0, 0);
        let packets = 1 + random.below(400) as u32;
        let (mut arrivals, mut model) = (Arrivals::new(), BTreeSet::new());
        let mut steps = 0;
        while !arrivals.complete() {
            let near = arrivals.lowest_missing() + random.below(100) as u32;
            let seq = if random.chance(0.1) { random.below(packets as u64) as u32 } else { near };
            let seq = seq.min(packets - 1);
            let expected = if model.insert(seq) { Arrival::New } else { Arrival::Duplicate };
            assert_eq!(arrivals.insert(seq, seq + 1 == packets), expected);
            assert_eq!(arrivals.end(), model.last().unwrap() + 1);
            let missing = |from: u32| (from..packets + 1).find(|seq| !model.contains(seq));
            assert_eq!(Some(arrivals.lowest_missing()), missing(0));
            let from = random.below(packets as u64) as u32;
            let hole = missing(from).filter(|&hole| hole < arrivals.end());
            assert_eq!(arrivals.hole_from(from), hole, "from {from}");
            assert_eq!(arrivals.has(from), model.contains(&from));
            let present = model.range(from..).next().copied().unwrap_or(u32::MAX);
            assert_eq!(arrivals.missing_until(from), present, "from {from}");
            steps += 1;
            assert!(steps < 100_000);
        }
        assert_eq!(model.len() as u32, packets);
        assert_eq!(arrivals.insert(packets, false), Arrival::Outside);
    }
}

#[test]
fn of_a_first_burst_the_least_that_was_told_counts() {
    let mut arrivals = Arrivals::new();
    for (told, expected) in [(4096, 4096), (12, 12), (8_500_000, 12)] {
        arrivals.first_burst(told);
        assert_eq!(arrivals.burst_end(), expected);
    }
}

#[test]
fn a_packet_too_far_ahead_is_as_good_as_lost() {
    let mut arrivals = Arrivals::new();
    assert_eq!(arrivals.insert(u32::MAX, false), Arrival::Outside);
    assert_eq!(arrivals.insert(5, false), Arrival::New);
    assert_eq!(arrivals.insert(3, true), Arrival::Outside, "the last packet is not below others");
    assert_eq!((arrivals.lowest_missing(), arrivals.end(), arrivals.packets()), (0, 6, None));
}

#[test]
fn each_hole_is_requested_once_and_again_later() {
    let patience = Span::from_us(10);
    let at = |us: u64| Time::ZERO + Span::from_us(us);
    let mut arrivals = Arrivals::new();
    let mut holes = Holes::default();
    for seq in (0..40).filter(|seq| ![3, 4, 20].contains(seq)) {
        arrivals.insert(seq, false);
        let expected = match seq {
            14 => Some(3), // 3 is more than ten behind 14 ...
            15 => Some(4),
            31 => Some(20),
            _ => None,
        };
        assert_eq!(holes.pick(&arrivals, at(1), patience, 10), expected, "at {seq}");
    }
    arrivals.insert(3, false);
    assert_eq!(holes.pick(&arrivals, at(2), patience, 10), None);
    assert_eq!(holes.pick(&arrivals, at(11), patience, 10), Some(4));
    assert_eq!(holes.pick(&arrivals, at(12), patience, 10), Some(20));
    assert_eq!(holes.pick(&arrivals, at(13), patience, 10), None);
    // Without the distance rule a hole must have been there for `patience`.
    let mut holes = Holes::default();
    holes.pick(&arrivals, at(20), patience, u32::MAX);
    assert_eq!(holes.pick(&arrivals, at(29), patience, u32::MAX), None);
    assert_eq!(holes.pick(&arrivals, at(41), patience, u32::MAX), Some(4));
}

fn arrivals_without(missing: &[u32], end: u32) -> Arrivals {
    let mut arrivals = Arrivals::new();
    for seq in (0..end).filter(|seq| !missing.contains(seq)) {
        arrivals.insert(seq, false);
    }
    arrivals
}

#[test]
fn a_hole_is_requested_again_at_growing_intervals() {
    let patience = Span::from_us(10);
    let arrivals = arrivals_without(&[3], 20);
    let mut holes = Holes::default();
    let requests = (0..1_000).filter(|us| {
        let now = Time::ZERO + Span::from_us(*us);
        holes.next(&arrivals, now, patience, 20).is_some()
    });
    assert_eq!(requests.collect::<Vec<u64>>()[..7], [0, 10, 30, 70, 150, 310, 470]);
}

#[test]
fn a_hole_is_requested_again_after_twice_the_longest_reply() {
    let patience = Span::from_us(10);
    let at = |us: u64| Time::ZERO + Span::from_us(us);
    let mut arrivals = arrivals_without(&[3, 4], 20);
    let mut holes = Holes::default();
    assert_eq!(holes.next(&arrivals, at(0), patience, 20), Some(3));
    arrivals.insert(3, false);
    holes.arrived(3, at(9));
    assert_eq!(holes.next(&arrivals, at(9), patience, 20), Some(4));
    assert_eq!(holes.next(&arrivals, at(26), patience, 20), None);
    assert_eq!(holes.next(&arrivals, at(27), patience, 20), Some(4));
}

#[test]
fn a_hole_requested_by_other_means_counts_as_requested() {
    let patience = Span::from_us(10);
    let at = |us: u64| Time::ZERO + Span::from_us(us);
    let arrivals = arrivals_without(&[3, 4], 20);
    let mut holes = Holes::default();
    holes.requested_lowest(&arrivals, at(0), patience);
    assert_eq!(holes.next(&arrivals, at(1), patience, 20), Some(4));
    assert_eq!(holes.next(&arrivals, at(9), patience, 20), None);
    holes.requested_lowest(&arrivals, at(9), patience);
    assert_eq!(holes.next(&arrivals, at(11), patience, 20), Some(4));
    assert_eq!(holes.next(&arrivals, at(28), patience, 20), None);
    assert_eq!(holes.next(&arrivals, at(29), patience, 20), Some(3));
}

#[test]
fn a_timer_moves_later_for_free_and_earlier_at_once() {
    let mut timers = FlowTimers::default();
    let (flow, gone) = (FlowId(4), FlowId(5));
    let mut flows = FlowTable::new();
    let slot = flows.insert(flow, Time::NEVER);
    timers.arm(flow, flows.at_mut(slot), Time(100));
    timers.arm(flow, flows.at_mut(slot), Time(200));
    assert_eq!((timers.next(), timers.entries()), (Time(100), 1));
    timers.arm(flow, flows.at_mut(slot), Time(50));
    assert_eq!((timers.next(), *flows.at(slot)), (Time(50), Time(50)));
    timers.arm(gone, &mut Time(u64::MAX), Time(60));
    let mut expired = |now, flows: &mut _| timers.expired(Time(now), flows, |armed| armed);
    assert_eq!(expired(49, &mut flows), None);
    assert_eq!(expired(120, &mut flows), Some((flow, slot)));
    assert_eq!(*flows.at(slot), Time::NEVER, "it is disarmed");
    assert_eq!(
        expired(120, &mut flows),
        None,
        "a flow that is gone, and an instant no longer armed"
    );
    assert_eq!(timers.entries(), 0);
}
