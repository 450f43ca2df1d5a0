//! The marker by itself: packets in, codes out.

use super::*;
use crate::ren::ID;
use incast_testkit::{MarkerDriver, SLOT, data, key_values};
use incast_transport::{Framing, Packet, Random, Rate, TransportId};

type Bench = MarkerDriver<PortMarker>;

/// Packets of 1us, a base RTT of 10us, periods as long unless set.
fn bench(settings: &[(&str, &str)], nic: bool) -> Bench {
    let params = Params::read(&key_values(settings)).expect("valid settings");
    let clock =
        Clock { period: params.period.unwrap_or(SLOT * 10), horizon: SLOT * 10, packet_time: SLOT };
    let marker = PortMarker::new(Rules::new(&params, clock, nic).into());
    MarkerDriver::new(marker, Framing::NONE, Rate::from_gbps(12)).of(ID)
}

fn port(settings: &[(&str, &str)]) -> Bench {
    bench(settings, false)
}

/// Both readings of the last base RTT; they differ only after a gap in the traffic.
const WINDOWS: [(&str, &str); 2] = [("recent", "periods"), ("recent", "elapsed")];

trait Codes {
    /// A data packet with this code.
    fn packet(&mut self, mark: u8) -> PacketRef;

    /// Sends a packet with this code after `gap`, with `waiting` behind it, and returns the code
    /// with which it leaves.
    fn merged(&mut self, mark: Code, gap: Span, waiting: u32) -> Code;

    /// The same with a fresh packet.
    fn code(&mut self, gap: Span, waiting: u32) -> Code {
        self.merged(Code::Under, gap, waiting)
    }

    /// The codes of `count` packets in a row.
    fn codes(&mut self, count: u32, waiting: u32) -> Vec<Code> {
        (0..count).map(|_| self.code(Span::ZERO, waiting)).collect()
    }
}

fn count(codes: &[Code], code: Code) -> usize {
    codes.iter().filter(|found| **found == code).count()
}

impl Codes for Bench {
    fn packet(&mut self, mark: u8) -> PacketRef {
        self.create(Packet { mark, ..data(ID, 0, 0) })
    }

    fn merged(&mut self, mark: Code, gap: Span, waiting: u32) -> Code {
        let packet = self.packet(mark as u8);
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
    for recent in WINDOWS {
        sample_becomes_marks(recent);
    }
}

fn sample_becomes_marks(recent: (&str, &str)) {
    let mut bench = port(&[recent]);
    let codes = |bench: &mut Bench, waiting| bench.codes(10, waiting);
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
        let period = ["10us", "2500ns", "25us"][seed as usize % 3];
        let recent = WINDOWS[seed as usize / 2 % 2];
        let mut bench = port(&[("feedback", feedback), ("period", period), recent]);
        let pause = bench.marker.rules.pause;
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
                let silent = bench.marker.started.since(started) >= pause;
                let room =
                    if silent { 0 } else { idle.min(bench.marker.rules.clock.period).0 / SLOT.0 };
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
            let left = bench.marker.under.left as u64;
            assert!(under + left <= bound.1, "no mark is spent on a raised packet");
            assert!(feedback == "compensate" || under + left == bound.1);
            bench.packets.free(packet);
        }
    }
}

/// A port with ten packets of room in the period that begins now.
fn with_room(settings: &[(&str, &str)]) -> Bench {
    let mut bench = port(settings);
    bench.codes(1, 0);
    bench.code(SLOT * 18, 0);
    bench
}

/// A port with two packets of room in the period that begins with the next packet.
fn with_two_packets_of_room(settings: &[(&str, &str)]) -> Bench {
    let mut bench = port(settings);
    bench.codes(5, 0);
    bench.code(SLOT * 2, 0);
    bench.codes(2, 0);
    bench
}

#[test]
fn marks_of_under_utilisation_are_spent_on_packets_that_no_hop_raised() {
    // Fifteen packets, each second of them raised by an earlier hop; ten may stay marked.
    let marked = |bench: &mut Bench| {
        let first = bench.code(SLOT * 9, 0);
        let rest = (0..14).map(|packet| {
            let arrived = if packet % 2 == 0 { Code::Full } else { Code::Under };
            bench.merged(arrived, Span::ZERO, 0)
        });
        let codes: Vec<Code> = std::iter::once(first).chain(rest).collect();
        count(&codes[..10], Code::Under)
    };
    assert_eq!(marked(&mut with_room(&[])), 5, "every one that arrived unmarked");
    assert_eq!(marked(&mut with_room(&[("spend", "any")])), 5);
    // With two packets of room the old rule wastes them.
    let two = |spend| {
        let mut bench = with_two_packets_of_room(&[("spend", spend)]);
        let arrived = [Code::Full, Code::Over, Code::Full, Code::Under, Code::Under, Code::Under];
        arrived.map(|code| bench.merged(code, Span::ZERO, 0))
    };
    let (full, over, under) = (Code::Full, Code::Over, Code::Under);
    assert_eq!(two("unmarked"), [full, over, full, under, under, full]);
    assert_eq!(two("any"), [full, over, full, full, full, full]);
}

#[test]
fn a_nic_withholds_under_and_does_not_alternate() {
    // Eight packets and two packet times of room in each period.
    let under = |nic: bool| {
        let mut bench = bench(&[], nic);
        let mut period = || {
            let first = bench.code(SLOT * 2, 0);
            let rest = bench.codes(7, 0);
            assert!(!rest.contains(&Code::Over));
            (first == Code::Under) as usize + count(&rest, Code::Under)
        };
        (0..8).map(|_| period()).collect::<Vec<_>>()
    };
    assert_eq!(under(true)[2..], [2; 6]);
    assert_eq!(under(false)[2..], [0, 2, 0, 2, 0, 2], "a switch waits for their effect");
}

#[test]
fn marks_of_one_rtt_count_whatever_the_period() {
    for recent in WINDOWS {
        marks_of_one_rtt(recent);
    }
}

fn marks_of_one_rtt(recent: (&str, &str)) {
    // A queue of four that stays: one RTT after its marks it is marked again, not before.
    for (period, packets) in [("10us", 10), ("5us", 5), ("2500ns", 2), ("1us", 1)] {
        let mut bench = port(&[("period", period), recent]);
        bench.codes(100, 0);
        let over = bench.codes(40, 4).iter().filter(|code| **code == Code::Over).count();
        assert!((8..=16).contains(&over), "{period}: {over} in four RTTs");
        let first: usize = count(&bench.codes(packets, 0), Code::Over);
        assert!(first <= 4);
    }
    // Periods of two RTTs: marks of the first half have had their effect.
    let mut long = port(&[("period", "20us"), recent]);
    long.codes(20, 4);
    assert_eq!(count(&long.codes(20, 4), Code::Over), 4, "all at its start");
    assert_eq!(count(&long.codes(20, 4), Code::Over), 4, "and the queue is as long as before");
    let mut even = port(&[("period", "20us"), ("spread", "even"), recent]);
    even.codes(20, 4);
    assert_eq!(count(&even.codes(20, 4), Code::Over), 4);
    assert_eq!(count(&even.codes(20, 4), Code::Over), 2, "two of them were in the second half");
}

#[test]
fn marks_before_a_gap_have_had_their_effect() {
    let after = |recent, gap| {
        let mut bench = port(&[("period", "10us"), recent]);
        bench.codes(10, 4);
        assert_eq!(count(&bench.codes(10, 4), Code::Over), 4);
        let first = bench.code(gap, 6);
        (first == Code::Over) as usize + count(&bench.codes(9, 6), Code::Over)
    };
    let [periods, elapsed] = WINDOWS;
    // The four marks left 10 to 7 packet times before: all of them count.
    assert_eq!((after(periods, Span::ZERO), after(elapsed, Span::ZERO)), (2, 2));
    // The first three left more than a base RTT and a packet before.
    assert_eq!((after(periods, SLOT * 3), after(elapsed, SLOT * 3)), (2, 5));
    assert_eq!((after(periods, SLOT * 100), after(elapsed, SLOT * 100)), (2, 6));
}

#[test]
fn what_is_kept_of_marks_counts_as_state() {
    let bytes = |period: u64| {
        let clock = Clock { period: SLOT * period, horizon: SLOT * 40, packet_time: SLOT };
        [Window::Periods, Window::Elapsed].map(|recent| state_bytes(recent, &clock))
    };
    assert_eq!([40, 80, 20, 10].map(|period| bytes(period)[0]), [32, 32, 48, 80]);
    assert_eq!([40, 10].map(|period| bytes(period)[1]), [352; 2], "8 B for each of 41 packets");
}

#[test]
fn with_short_periods_a_gap_below_two_rtts_is_room() {
    let mut bench = port(&[("period", "2500ns")]);
    bench.codes(4, 0);
    bench.code(SLOT * 9, 0);
    let (full, under) = (Code::Full, Code::Under);
    // The next period begins with the third packet, with as much room as the last was long.
    assert_eq!(bench.codes(5, 0), [full, full, under, under, full]);
    bench.codes(2, 0);
    bench.code(SLOT * 20, 0);
    assert_eq!(bench.codes(9, 0), [full; 9], "two RTTs are a pause");
}

#[test]
fn leave_all_leaves_every_packet_of_a_period_with_room() {
    let codes = |leave_all: &str| {
        let mut bench = with_two_packets_of_room(&[("leave_all", leave_all)]);
        let codes = bench.codes(9, 0);
        assert_eq!(
            bench.merged(Code::Full, Span::ZERO, 0),
            Code::Full,
            "a raised one stays raised"
        );
        count(&codes, Code::Under)
    };
    assert_eq!((codes("false"), codes("true")), (2, 9));
}

#[test]
fn the_least_queue_of_a_period_is_what_stands() {
    let over = |sample: &str| {
        let mut bench = port(&[("sample", sample)]);
        bench.codes(2, 0);
        bench.codes(4, 3);
        bench.codes(4, 7);
        let first = count(&bench.codes(10, 7), Code::Over);
        (first, count(&bench.codes(10, 7), Code::Over))
    };
    assert_eq!(over("last"), (7, 0));
    assert_eq!(over("least"), (0, 7), "nothing stood in the period before");
}
