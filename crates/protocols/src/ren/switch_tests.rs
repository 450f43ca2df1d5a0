//! The marker by itself: packets in, codes out.

use super::*;
use crate::ren::ID;
use incast_testkit::{MarkerDriver, SLOT, data, key_values};
use incast_transport::{Framing, Packet, Random, Rate, TransportId};

type Bench = MarkerDriver<PortMarker>;

/// Packets of 1us, periods of 10us.
fn port(settings: &[(&str, &str)]) -> Bench {
    let params = Params::read(&key_values(settings)).expect("valid settings");
    let marker = PortMarker::new(&params, SLOT * 10, SLOT);
    MarkerDriver::new(marker, Framing::NONE, Rate::from_gbps(12)).of(ID)
}

trait Codes {
    /// A data packet with this code.
    fn packet(&mut self, mark: u8) -> PacketRef;

    /// Sends a fresh packet after `gap`, with `waiting` behind it, and returns its code.
    fn code(&mut self, gap: Span, waiting: u32) -> Code;
}

impl Codes for Bench {
    fn packet(&mut self, mark: u8) -> PacketRef {
        self.create(Packet { mark, ..data(ID, 0, 0) })
    }

    fn code(&mut self, gap: Span, waiting: u32) -> Code {
        let packet = self.packet(0);
        self.send(packet, gap, waiting);
        let code = Code::of(self.packets[packet].mark);
        self.packets.free(packet);
        code
    }
}

#[test]
fn figure_7_each_hop_may_only_raise_the_code() {
    let mut hops: Vec<Bench> = (0..3).map(|_| port(&[("rule", "gap")])).collect();
    // A hop's gaps in front of P1..P4 and what waits behind each; S2 is at the end of a period.
    let (wide, none) = (SLOT * 2, Span::ZERO);
    let gaps = [[none, wide, wide, wide], [none, none, none, wide], [none, none, none, none]];
    let waiting = [[0; 4], [0; 4], [0, 1, 0, 0]];
    hops[2].now = Time::ZERO + SLOT * 9;
    let mut marks = [0; 4];
    let mut seen = vec![];
    for (hop, bench) in hops.iter_mut().enumerate() {
        for (packet, mark) in marks.iter_mut().enumerate() {
            let handle = bench.packet(*mark);
            bench.send(handle, gaps[hop][packet], waiting[hop][packet]);
            let merged = bench.packets[handle].mark;
            assert!(merged >= *mark);
            *mark = merged;
        }
        seen.push(marks);
    }
    assert_eq!(seen, [[1, 0, 0, 0], [1, 1, 1, 0], [1, 2, 1, 1]]);
    let next: u8 = marks.iter().map(|mark| [2, 1, 0][*mark as usize]).sum();
    assert_eq!(next, 3, "one packet less in the next round");
}

#[test]
fn a_sample_becomes_that_many_marks() {
    let mut bench = port(&[]);
    let codes = |bench: &mut Bench, waiting| {
        (0..10).map(|_| bench.code(Span::ZERO, waiting)).collect::<Vec<_>>()
    };
    let count = |codes: &[Code], code| codes.iter().filter(|c| **c == code).count();
    let first = codes(&mut bench, 4);
    assert_eq!(count(&first, Code::Full), 10, "nothing is known in the first period");
    let second = codes(&mut bench, 4);
    assert_eq!(second[..5], [Code::Over, Code::Over, Code::Over, Code::Over, Code::Full]);
    assert_eq!(count(&second, Code::Over), 4);
    let third = codes(&mut bench, 6);
    assert_eq!(count(&third, Code::Over), 2, "four of the six have not shown their effect");
    let mut literal = port(&[("feedback", "literal")]);
    codes(&mut literal, 4);
    codes(&mut literal, 4);
    assert_eq!(count(&codes(&mut literal, 6), Code::Over), 6);
    let mut even = port(&[("spread", "even")]);
    codes(&mut even, 3);
    let spread = codes(&mut even, 3);
    let over: Vec<usize> = (0..10).filter(|&i| spread[i] == Code::Over).collect();
    assert_eq!(over, [0, 3, 6]);
}

#[test]
fn an_idle_period_is_not_room() {
    let mut bench = port(&[]);
    bench.code(SLOT * 50, 0);
    assert_eq!(bench.code(SLOT * 30, 0), Code::Full, "a pause of more than two periods");
    assert_eq!(bench.code(SLOT * 18, 0), Code::Full, "its gap belongs to the next period");
    assert_eq!(bench.code(SLOT * 9, 0), Code::Under, "which had 10 packets of room");
}

#[test]
fn only_data_of_its_own_transport_is_rewritten_but_all_packets_fill_gaps() {
    let mut bench = port(&[]);
    let own = bench.packet(3);
    bench.send(own, Span::ZERO, 0);
    assert_eq!(bench.packets[own].mark, Code::Over as u8, "the unused code counts as over");
    for (transport, payload) in [(TransportId(9), 1_460), (ID, 0)] {
        let other = bench.packet(0);
        bench.packets[other].transport = transport;
        bench.packets[other].payload = payload;
        assert!(!bench.send(other, Span::ZERO, 0));
        assert_eq!(bench.packets[other].mark, 0);
    }
    // Ten others fill the period: no room is seen.
    for _ in 0..10 {
        let other = bench.packet(0);
        bench.packets[other].transport = TransportId(9);
        bench.send(other, Span::ZERO, 0);
    }
    assert_eq!(bench.code(Span::ZERO, 0), Code::Full);
}

#[test]
fn marks_stay_within_the_sample_under_random_traffic() {
    for seed in 0..50 {
        let mut random = Random::new(seed, 0, 0);
        let feedback = if seed % 2 == 0 { "compensate" } else { "literal" };
        let mut bench = port(&[("feedback", feedback)]);
        let (mut over, mut under, mut bound) = (0, 0, (0, 0));
        for _ in 0..2_000 {
            let gap = if random.chance(0.5) { Span::ZERO } else { Span(random.below(4_000_000)) };
            let waiting = random.below(12) as u32;
            let started = bench.marker.started;
            let idle = bench.marker.idle;
            let before = random.below(4) as u8;
            let packet = bench.packet(before);
            let marked = bench.send(packet, gap, waiting);
            if bench.marker.started != started {
                let room = if bench.marker.started.since(started) >= SLOT * 20 {
                    0
                } else {
                    idle.0 / SLOT.0
                };
                let room = room.min(10);
                let waiting = waiting as u64;
                bound = (waiting.saturating_sub(room), room.saturating_sub(waiting));
                (over, under) = (0, 0);
                assert!(bound.0 == 0 || bound.1 == 0);
            }
            let after = bench.packets[packet].mark;
            assert!(Code::of(after) >= Code::of(before));
            over += (marked && after == 2) as u64;
            under += (marked && after == 0) as u64;
            assert!(over <= bound.0 && under <= bound.1, "{over} {under} {bound:?}");
            bench.packets.free(packet);
        }
    }
}
