//! A queue ordered by what flows have left.

use super::super::*;
use super::numbered::*;
use incast_transport::*;
use proptest::prelude::*;

const OWN: TransportId = TransportId(1);

fn ranked(limit: Limit) -> ClassPolicy {
    ClassPolicy { discipline: Discipline::Remaining, ..ClassPolicy::fifo(limit) }
}

/// A packet of `payload` bytes of a flow that had `left` packets left.
fn packet(harness: &mut Harness, flow: u32, class: u8, payload: u16, left: u32) -> PacketRef {
    let packet = harness.packet(OWN.0, class, 0, payload);
    harness.packets[packet].flow = FlowId(flow);
    harness.packets[packet].header = Header::Data { seq: 0, offset: 0, tag: left, flags: 0 };
    packet
}

fn put(harness: &mut Harness, port: &mut dyn Port, packet: PacketRef) -> Verdict {
    harness.enqueue(port, Time::ZERO, packet)
}

fn dropped(victim: PacketRef) -> Verdict {
    Verdict { arriving: Fate::Queued, displaced: Some((victim, Fate::Dropped)) }
}

#[test]
fn the_flow_with_the_least_left_sends_its_earliest_packet() {
    let mut port = build(vec![policy(1, &[ranked(Limit::Packets(8)); 2])], &site()).unwrap();
    let mut harness = Harness::new();
    let queued: Vec<_> = [(1, 50), (2, 40), (1, 30), (2, 30), (3, 45)]
        .map(|(flow, left)| packet(&mut harness, flow, 1, 1460, left))
        .to_vec();
    for &packet in &queued {
        assert_eq!(put(&mut harness, &mut *port, packet), Verdict::only(Fate::Queued));
    }
    // Flow 1 has a packet with 30, which came before that of flow 2; its first one leaves first.
    let out = harness.drain(&mut *port, Time::ZERO);
    assert_eq!(out, [0, 2, 1, 3, 4].map(|place| queued[place]));
}

#[test]
fn the_packet_with_the_most_left_is_dropped_and_acks_never_while_data_waits() {
    let mut port = build(vec![policy(1, &[ranked(Limit::Packets(3)); 2])], &site()).unwrap();
    let mut harness = Harness::new();
    let [a, b, c, d, e] = [9, 12, 12, 12, 4].map(|left| packet(&mut harness, left, 1, 1460, left));
    for packet in [a, b, c] {
        put(&mut harness, &mut *port, packet);
    }
    // Of equals the one that came last: itself.
    assert_eq!(put(&mut harness, &mut *port, d), Verdict::only(Fate::Dropped));
    assert_eq!(put(&mut harness, &mut *port, e), dropped(c));
    let acks: Vec<_> = (0..4).map(|_| packet(&mut harness, 9, 0, 0, 0)).collect();
    assert_eq!(put(&mut harness, &mut *port, acks[0]), dropped(b));
    assert_eq!(put(&mut harness, &mut *port, acks[1]), dropped(a));
    assert_eq!(put(&mut harness, &mut *port, acks[2]), dropped(e));
    // Only ACKs wait: the fourth finds no room.
    assert_eq!(put(&mut harness, &mut *port, acks[3]), Verdict::only(Fate::Dropped));
    assert_eq!(harness.drain(&mut *port, Time::ZERO), acks[..3]);
}

/// A short packet with the most left makes too little room for a full one.
#[test]
fn the_victim_makes_room() {
    let limit = Limit::Bytes(2 * 1538 + 100);
    let mut port = build(vec![policy(1, &[ranked(limit); 2])], &site()).unwrap();
    let mut harness = Harness::new();
    let [first, second, urgent, last] =
        [7, 8, 2, 3].map(|left| packet(&mut harness, left, 1, 1460, left));
    let short = packet(&mut harness, 9, 1, 0, 99);
    for packet in [first, second, short] {
        put(&mut harness, &mut *port, packet);
    }
    assert_eq!(put(&mut harness, &mut *port, urgent), dropped(second));
    assert_eq!(put(&mut harness, &mut *port, last), dropped(first));
    assert_eq!(harness.drain(&mut *port, Time::ZERO), [urgent, last, short]);
}

#[test]
fn no_other_transport_joins_such_a_queue() {
    let policies =
        || vec![policy(1, &[ranked(Limit::Packets(3)); 2]), policy(2, &[fifo(4), fifo(4)])];
    let conflict = build(policies(), &site()).err().expect("a conflict");
    assert_eq!(conflict.remedy, Remedy::Separate);
    assert!(build_joined(policies(), Join::Separate, &site()).is_ok());
    let shaper = Some(Shaper { rate: Rate::from_gbps(1), depth: Bytes(2_000) });
    let shaped = ClassPolicy { shaper, ..ranked(Limit::Packets(3)) };
    assert!(build(vec![policy(1, &[shaped])], &site()).is_err());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Put { flow: u32, class: u8, payload: u16, left: u32 },
    Take { open: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let payload = prop_oneof![2 => Just(1460u16), 1 => 0..1460u16];
    let put = (0..5u32, 0..4u8, payload, 0..6u32)
        .prop_map(|(flow, class, payload, left)| Step::Put { flow, class, payload, left });
    let take = prop_oneof![3 => Just(0xFF), 1 => any::<u8>()].prop_map(|open| Step::Take { open });
    prop::collection::vec(prop_oneof![3 => put, 2 => take], 1..300)
}

/// What waits, in the order of arrival.
#[derive(Clone, Copy)]
struct Waiting {
    packet: PacketRef,
    flow: u32,
    class: u8,
    charged: u64,
    left: u32,
}

/// The specification, written down without any regard to cost.
struct Naive {
    limit: Limit,
    waiting: Vec<Waiting>,
}

impl Naive {
    fn fits(&self, without: Option<usize>, charged: u64) -> bool {
        let rest = self.waiting.iter().enumerate().filter(|(place, _)| Some(*place) != without);
        let (packets, bytes) =
            rest.fold((0, 0), |(packets, bytes), (_, one)| (packets + 1, bytes + one.charged));
        self.limit.admits(packets, bytes, charged as u32)
    }

    fn put(&mut self, new: Waiting) -> Verdict {
        let mut verdict = Verdict::only(Fate::Queued);
        if !self.fits(None, new.charged) {
            let may = |place: &usize| {
                self.waiting[*place].left > new.left && self.fits(Some(*place), new.charged)
            };
            let places = (0..self.waiting.len()).filter(may);
            let rank = |place: &usize| {
                let Waiting { left, class, .. } = self.waiting[*place];
                (left, class > 0, *place)
            };
            let Some(victim) = places.max_by_key(rank) else {
                return Verdict::only(Fate::Dropped);
            };
            verdict.displaced = Some((self.waiting.remove(victim).packet, Fate::Dropped));
        }
        self.waiting.push(new);
        verdict
    }

    fn take(&mut self, open: Classes) -> Option<PacketRef> {
        let control = |one: &Waiting| one.class == 0;
        let first = self.waiting.iter().position(control).filter(|_| open.has(0));
        let data = || {
            let may = |place: &usize| {
                !control(&self.waiting[*place]) && open.has(self.waiting[*place].class)
            };
            let places = || (0..self.waiting.len()).filter(may);
            let best = places().min_by_key(|place| (self.waiting[*place].left, *place))?;
            places().find(|place| self.waiting[*place].flow == self.waiting[best].flow)
        };
        let place = first.or_else(data)?;
        Some(self.waiting.remove(place).packet)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_ranked_port_is_the_naive_one(
        limit in prop_oneof![
            (0..12u32).prop_map(Limit::Packets),
            (0..12_000u64).prop_map(Limit::Bytes),
        ],
        steps in steps(),
    ) {
        let mut port = build(vec![policy(1, &[ranked(limit); 2])], &site()).unwrap();
        let (mut harness, mut naive) = (Harness::new(), Naive { limit, waiting: vec![] });
        for step in steps {
            match step {
                Step::Put { flow, class, payload, left } => {
                    let packet = packet(&mut harness, flow, class, payload, left);
                    let charged = harness.packets.charged(packet) as u64;
                    let expected = naive.put(Waiting { packet, flow, class, charged, left });
                    prop_assert_eq!(put(&mut harness, &mut *port, packet), expected);
                }
                Step::Take { open } => {
                    let expected = naive.take(Classes(open));
                    let expected = expected.map_or(Dequeue::Empty, Dequeue::Packet);
                    let got = harness.dequeue(&mut *port, Time::ZERO, Classes(open));
                    prop_assert_eq!(got, expected);
                }
            }
            prop_assert_eq!(port.backlog().packets as usize, naive.waiting.len());
        }
    }
}
