//! Ports whose data is in several queues.

use super::super::*;
use super::numbered::*;
use crate::threshold::{Threshold, ThresholdMarker};
use incast_transport::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const STRICT: Schedule = Schedule::Strict;

fn queued(queues: &[Schedule], policy: Policy) -> Box<dyn Port> {
    Builder::new(Join::Shared).queues(queues.into()).build(vec![policy], &site()).unwrap()
}

fn two() -> Policy {
    policy(1, &[fifo(1_000), fifo(1_000)])
}

fn queues() -> impl Strategy<Value = Vec<Schedule>> {
    (0..3usize, prop::collection::vec(1..9u32, 0..4)).prop_map(|(strict, weights)| {
        let weights = weights.into_iter().map(Schedule::Weighted);
        let all: Vec<Schedule> = std::iter::repeat_n(STRICT, strict).chain(weights).collect();
        if all.is_empty() { vec![STRICT, STRICT] } else { all }
    })
}

/// A port in the plainest terms: a list per queue, and what each has sent while two both waited.
struct Model {
    queues: Vec<Schedule>,
    control: VecDeque<u32>,
    data: Vec<VecDeque<u32>>,
    /// For each two queues what both have sent since one of them was last empty.
    both: Vec<Vec<[u64; 2]>>,
}

impl Model {
    fn new(queues: &[Schedule]) -> Model {
        let count = queues.len();
        let (control, data) = (VecDeque::new(), vec![VecDeque::new(); count]);
        Model { queues: queues.to_vec(), control, data, both: vec![vec![[0; 2]; count]; count] }
    }

    fn put(&mut self, class: usize, seq: u32) {
        match class {
            0 => self.control.push_back(seq),
            class => self.data[(class - 1).min(self.queues.len() - 1)].push_back(seq),
        }
    }

    /// Checks what left the port.
    fn took(&mut self, seq: u32, charged: u64, largest: u64) -> Result<(), TestCaseError> {
        if !self.control.is_empty() {
            prop_assert_eq!(self.control.pop_front(), Some(seq));
            return Ok(());
        }
        let from = self.data.iter().position(|queue| queue.front() == Some(&seq));
        let from = from.expect("it is the head of a queue");
        let first = self.data.iter().position(|queue| !queue.is_empty()).expect("something waits");
        if self.queues[first] == STRICT {
            prop_assert_eq!(from, first, "strict priority");
        }
        self.data[from].pop_front();
        for other in 0..self.queues.len() {
            let (Schedule::Weighted(own), Schedule::Weighted(others)) =
                (self.queues[from], self.queues[other])
            else {
                continue;
            };
            if other == from {
                continue;
            }
            let emptied = self.data[from].is_empty() || self.data[other].is_empty();
            let (low, high) = (from.min(other), from.max(other));
            let sent = &mut self.both[low][high];
            sent[(from == high) as usize] += charged;
            let mine = sent[(from == high) as usize] as f64 / own as f64;
            let theirs = sent[(from != high) as usize] as f64 / others as f64;
            let most = largest as f64 / own as f64 + largest as f64 / others as f64;
            prop_assert!(mine - theirs <= 2.0 * most, "{from} and {other}: {mine} {theirs}");
            if emptied {
                *sent = [0; 2];
            }
        }
        Ok(())
    }
}

proptest! {
    /// Control first, then strict queues in order, then the others: two that both wait get service by their weights
    /// but for a packet of each; each queue keeps its order, and nothing idles.
    #[test]
    fn queues_are_served_as_declared(
        queues in queues(),
        steps in prop::collection::vec((0..8u8, 1..1460u16, any::<bool>()), 1..400),
    ) {
        let (mut harness, mut port) = (Harness::new(), queued(&queues, two()));
        let mut model = Model::new(&queues);
        for (seq, (class, payload, take)) in (0..).zip(steps) {
            let packet = harness.packet(1, class, seq, payload);
            harness.enqueue(&mut *port, Time::ZERO, packet);
            model.put(class as usize, seq);
            if take {
                let Dequeue::Packet(packet) = harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) else {
                    return Err(TestCaseError::fail("something waits"));
                };
                model.took(harness.seq(packet), harness.packets.charged(packet) as u64, 1538)?;
            }
        }
        while let Dequeue::Packet(packet) = harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) {
            model.took(harness.seq(packet), harness.packets.charged(packet) as u64, 1538)?;
        }
        prop_assert!(model.data.iter().all(|queue| queue.is_empty()));
    }
}

/// Weights 3 and 1 for equal packets: of four, three of the first.
#[test]
fn weights_divide_the_link() {
    let weights = [Schedule::Weighted(3), Schedule::Weighted(1)];
    let (mut harness, mut port) = (Harness::new(), queued(&weights, two()));
    for seq in 0..800 {
        let packet = harness.packet(1, 1 + (seq % 2) as u8, seq, 1460);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    let left = harness.numbers(&mut *port, Time::ZERO);
    for share in left[..400].chunks(4) {
        assert_eq!(share.iter().filter(|seq| *seq % 2 == 0).count(), 3, "{share:?}");
    }
}

/// A rule that sets CE sees the queue that a packet joins, and each queue has the limit of the policy.
#[test]
fn marks_and_limits_are_of_each_queue() {
    let marker = ThresholdMarker::new(Threshold::Packets(2), &site());
    let marked = Policy { markers: vec![Box::new(marker)], ..policy(1, &[fifo(4), fifo(4)]) };
    let (mut harness, mut port) = (Harness::new(), queued(&[STRICT, STRICT], marked));
    let mut put = |class: u8, seq: u32| {
        let packet = harness.packet(1, class, seq, 1460);
        harness.packets[packet].mark = Ecn::Ect0 as u8;
        let fate = harness.enqueue(&mut *port, Time::ZERO, packet).arriving;
        (fate, port.marks())
    };
    let fates: Vec<_> = (0..5).map(|seq| put(1, seq)).collect();
    assert_eq!(fates.iter().map(|(_, marks)| *marks).collect::<Vec<_>>(), [0, 0, 1, 2, 2]);
    assert_eq!((fates[3].0, fates[4].0), (Fate::Queued, Fate::Dropped));
    assert_eq!([put(2, 5), put(2, 6), put(2, 7)].map(|(_, marks)| marks), [2, 2, 3]);
}

#[test]
fn what_no_port_has_is_refused() {
    let weight = Schedule::Weighted;
    for (queues, at) in [
        (vec![STRICT; 8], 7),
        (vec![weight(1), STRICT], 1),
        (vec![STRICT, weight(0)], 1),
        (vec![weight(1_000_003), weight(999_983)], 1),
    ] {
        assert_eq!(check_queues(&queues).unwrap_err().0, at, "{queues:?}");
    }
    assert_eq!(check_queues(&[STRICT, weight(3), weight(1)]), Ok(()));
    let trimmed = policy(4, &trimming(0.0, 100));
    assert!(!splits(&trimmed));
    let refused =
        Builder::new(Join::Shared).queues([STRICT; 2].into()).build(vec![trimmed], &site());
    assert!(refused.is_err_and(|conflict| conflict.problem.contains("its data needs queues")));
}
