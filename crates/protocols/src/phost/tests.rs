//! Known results of pHost: scripts of packets in and out, and flows through an impaired network.

use super::{CONTROL, ENTRY, ID, LARGE, SMALL};
use incast_testkit::{
    Driver, FULL, MSS, Network, Probabilities, configured, fabric_site, flow, host_site, packet,
    port_site,
};
use incast_transport::{
    Bytes, Discipline, FabricSite, Flow, FlowId, Header, HostId, Limit, Packet, Random, Rate,
    Ready, Span, Time, Transport, data_flag, flag,
};
use std::sync::Arc;

const RATE: Rate = Rate::from_gbps(10);

fn slots(n: u64) -> Time {
    Time::ZERO + FULL * n
}

/// A fabric whose RTT is eight packets, as in the authors' runs.
fn eight() -> Arc<FabricSite> {
    let fabric = fabric_site(4, RATE, FULL * 8);
    assert_eq!(fabric.bdp_packets(RATE), 8);
    fabric
}

fn bench(settings: &[(&str, &str)]) -> Driver {
    Driver::of(&ENTRY, settings, &eight(), 1)
}

/// pHost's messages of host 2.
trait Messages {
    fn from(&mut self, now: Time, flow: u32, header: Header, payload: u16, flags: u8);

    fn announce(&mut self, now: Time, flow: u32, packets: u32, flags: u8) {
        let header = Header::Announce { packets, bytes_low: 0, bytes_high: 0, flags: 0 };
        self.from(now, flow, header, 0, flags);
    }

    /// Data of token `tag`, or free data of a flow of `tag` packets.
    fn data(&mut self, now: Time, flow: u32, seq: u32, tag: u32, flags: u8) {
        let header = Header::Data { seq, offset: seq * MSS as u32, tag, flags };
        self.from(now, flow, header, MSS as u16, 0);
    }

    fn token(&mut self, now: Time, flow: u32, seq: u32, remaining: u32, number: u32) {
        self.from(now, flow, Header::Token { seq, remaining, number, flags: 0 }, 0, 0);
    }

    /// The next packet as (flow, packet number), if it is data.
    fn sequence(&mut self, now: Time) -> Option<(u32, u32)>;

    /// The tokens that leave until `until`: when, flow, packet.
    fn tokens(&mut self, until: Time) -> Vec<(Time, u32, u32)>;
}

impl Messages for Driver {
    fn from(&mut self, now: Time, flow: u32, header: Header, payload: u16, flags: u8) {
        let (src, dst, flow) = (HostId(2), HostId(1), FlowId(flow));
        self.receive(now, Packet { src, dst, flow, payload, flags, ..packet(ID, header) });
    }

    fn sequence(&mut self, now: Time) -> Option<(u32, u32)> {
        let packet = self.transmit(now).filter(|packet| packet.is_data())?;
        Some((packet.flow.0, packet.header.data_key()))
    }

    fn tokens(&mut self, until: Time) -> Vec<(Time, u32, u32)> {
        let sent = self.run(until).into_iter();
        sent.filter_map(|(at, packet)| match packet.header {
            Header::Token { seq, .. } => Some((at, packet.flow.0, seq)),
            _ => None,
        })
        .collect()
    }
}

// -- destinations ------------------------------------------------------------------------------

#[test]
fn an_unresponsive_source_gets_its_window_and_then_one_token_per_downgrade() {
    let mut b = bench(&[]);
    b.announce(slots(10), 0, 100, 0);
    let expected: Vec<_> = (0..8).map(|n| (slots(10 + n), 0, n as u32)).collect();
    assert_eq!(b.tokens(slots(41)), expected);
    // The last token was issued in slot 17: one more after 25 packet times, and so on.
    assert_eq!(b.tokens(slots(100)), [(slots(42), 0, 8), (slots(67), 0, 9), (slots(92), 0, 10)]);
}

#[test]
fn competitors_of_an_unresponsive_source_get_every_slot() {
    let mut b = bench(&[]);
    b.announce(slots(0), 0, 20, 0);
    b.announce(slots(0), 1, 200, 0);
    let mut used = 0;
    let mut tokens = vec![];
    for slot in 0..40 {
        for (at, flow, seq) in b.tokens(slots(slot)) {
            tokens.push((at, flow));
            if flow == 1 {
                b.data(at, 1, seq, used, data_flag::TAGGED);
                used += 1;
            }
        }
    }
    let of = |slot: u64| if slot < 8 || slot == 32 { 0 } else { 1 };
    let expected: Vec<_> = (0..40).map(|slot| (slots(slot), of(slot))).collect();
    assert_eq!(tokens, expected);
}

#[test]
fn data_moves_the_window_and_the_clock_notices_when_it_wakes() {
    // The window is full from slot 7 on; the clock sleeps until 25 packet times after that, unless
    // data wakes it.
    for (wake, first) in [("timer", 32), ("data", 13)] {
        let mut b = bench(&[("wake", wake)]);
        b.announce(slots(0), 0, 100, 0);
        assert_eq!(b.tokens(slots(12)).len(), 8);
        // Token 2 is used: three more, one a slot.
        b.data(slots(13), 0, 2, 2, data_flag::TAGGED);
        let expected: Vec<_> = (0..3).map(|n| (slots(first + n), 0, 8 + n as u32)).collect();
        assert_eq!(b.tokens(slots(first + 17)), expected, "{wake}");
    }
}

#[test]
fn data_that_comes_before_the_clock_sleeps_costs_no_slot() {
    for wake in ["timer", "data"] {
        let mut b = bench(&[("wake", wake)]);
        b.announce(slots(0), 0, 100, 0);
        assert_eq!(b.tokens(slots(7)).len(), 8);
        b.data(slots(8), 0, 0, 0, data_flag::TAGGED);
        assert_eq!(b.tokens(slots(20)), [(slots(8), 0, 8)], "{wake}");
    }
}

#[test]
fn a_new_flow_wakes_the_clock_for_all() {
    let mut b = bench(&[]);
    b.announce(slots(0), 0, 100, 0);
    b.tokens(slots(12));
    b.data(slots(13), 0, 2, 2, data_flag::TAGGED);
    assert_eq!(b.tokens(slots(15)), []);
    // A flow of 200 packets comes: the shorter one has had room since slot 13, and is preferred.
    b.announce(slots(16), 1, 200, 0);
    let expected = [(16, 0, 8), (17, 0, 9), (18, 0, 10), (19, 1, 0)];
    assert_eq!(b.tokens(slots(19)), expected.map(|(at, flow, seq)| (slots(at), flow, seq)));
}

#[test]
fn the_clock_sleeps_until_the_retry_of_a_flow_that_has_ended_since() {
    let mut b = bench(&[]);
    // Flow 0 of nine packets fills its window until slot 7, flow 1 its own until slot 15.
    b.announce(slots(0), 0, 9, 0);
    b.announce(slots(0), 1, 100, 0);
    assert_eq!(b.tokens(slots(17)).len(), 16);
    b.data(slots(18), 1, 0, 0, data_flag::TAGGED);
    for seq in 0..9 {
        let last = if seq == 8 { data_flag::LAST } else { 0 };
        b.data(slots(18), 0, seq, seq.min(7), data_flag::TAGGED | last);
    }
    assert_eq!(b.tokens(slots(39)), [(slots(32), 1, 8)]);
}

#[test]
fn the_flow_with_fewest_remaining_packets_is_preferred() {
    let mut b = bench(&[("window", "100")]);
    b.announce(slots(0), 0, 30, 0);
    b.announce(slots(0), 1, 20, 0);
    b.announce(slots(0), 2, 20, 0);
    let flows = |tokens: Vec<(Time, u32, u32)>| tokens.into_iter().map(|t| t.1).collect::<Vec<_>>();
    // Of equals the one announced first.
    assert_eq!(flows(b.tokens(slots(3))), [1, 1, 1, 1]);
    b.data(slots(3), 2, 0, 0, data_flag::TAGGED);
    assert_eq!(flows(b.tokens(slots(5))), [2, 2]);
    b.announce(slots(5), 3, 10, 0);
    assert_eq!(flows(b.tokens(slots(7))), [3, 3]);
}

#[test]
fn a_lost_packet_is_requested_after_the_pause() {
    let mut b = bench(&[]);
    b.announce(slots(0), 0, 10, 0);
    let mut requested = vec![];
    for slot in 0..40 {
        for (at, _, seq) in b.tokens(slots(slot)) {
            let number = requested.len() as u32;
            requested.push((at, seq));
            if seq != 4 || number > 9 {
                let last = if seq == 9 { data_flag::LAST } else { 0 };
                b.data(at, 0, seq, number, data_flag::TAGGED | last);
            }
        }
    }
    // Ten tokens in slots 0 to 9, nine packet times of pause, then the missing one.
    assert_eq!(requested.len(), 11);
    assert_eq!(requested[9], (slots(9), 9));
    assert_eq!(requested[10], (slots(18), 4));
    assert_eq!(b.host.open_flows(), 0);
}

#[test]
fn slots_are_left_to_free_packets() {
    let mut b = bench(&[]);
    b.announce(slots(0), 0, 100, 0);
    assert_eq!(b.tokens(slots(1)).len(), 2);
    // A flow of three packets, all of them free: three slots stay empty.
    b.data(slots(1) + Span(1), 1, 0, 3, data_flag::UNSCHEDULED);
    let tokens = b.tokens(slots(6));
    assert_eq!(tokens, [(slots(5), 0, 2), (slots(6), 0, 3)]);
}

#[test]
fn a_short_flow_that_stays_incomplete_gets_tokens() {
    let mut b = bench(&[]);
    b.data(slots(0), 0, 0, 3, data_flag::UNSCHEDULED);
    b.data(slots(1), 0, 1, 3, data_flag::UNSCHEDULED);
    // Twice its three packet times after its first sign; one remains.
    assert_eq!(b.tokens(slots(14)), [(slots(6), 0, 2)]);
    let last = data_flag::TAGGED | data_flag::LAST;
    b.data(slots(14) + Span(1), 0, 2, 3, last);
    assert!(matches!(b.transmit(slots(15)).unwrap().header, Header::Finish { .. }));
    assert_eq!(b.harness.probe.outcomes().len(), 1);
}

#[test]
fn no_tokens_after_the_finish_and_late_packets_get_a_finish() {
    let mut b = bench(&[]);
    b.announce(slots(0), 0, 9, 0);
    for seq in 0..9 {
        let last = if seq == 8 { data_flag::LAST } else { 0 };
        b.data(slots(0), 0, seq, 0, data_flag::TAGGED | last);
    }
    assert!(matches!(b.transmit(slots(0)).unwrap().header, Header::Finish { .. }));
    assert!(b.tokens(slots(1_000)).is_empty());
    assert_eq!((b.host.open_flows(), b.host.deadline()), (0, Time::NEVER));
    // The announcement behind the data needs no reply; a repeated one, and data, do.
    b.announce(slots(1_000), 0, 9, 0);
    assert!(b.transmit(slots(1_000)).is_none());
    b.announce(slots(1_001), 0, 9, flag::RETRANSMIT);
    assert!(matches!(b.transmit(slots(1_001)).unwrap().header, Header::Finish { .. }));
    b.data(slots(1_002), 0, 3, 3, data_flag::TAGGED);
    assert!(matches!(b.transmit(slots(1_002)).unwrap().header, Header::Finish { .. }));
    assert_eq!(b.host.open_flows(), 0);
}

#[test]
fn at_most_one_token_per_packet_time() {
    let mut b = bench(&[]);
    let mut random = Random::new(4, 0, 0);
    let (mut now, mut times) = (slots(0), vec![]);
    for round in 0..3_000 {
        now += Span(random.below(FULL.0));
        for (at, flow, seq) in b.tokens(now) {
            times.push(at);
            if random.chance(0.7) {
                b.data(now, flow, seq, seq, data_flag::TAGGED);
            }
        }
        if round % 200 == 0 && round < 1_600 {
            let free = if round % 400 == 0 { data_flag::UNSCHEDULED } else { 0 };
            match free {
                0 => b.announce(now, round / 200, 400 + round, 0),
                free => b.data(now, round / 200, 0, 5, free),
            }
        }
    }
    assert!(times.len() > 500, "{}", times.len());
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= FULL));
}

// -- sources -----------------------------------------------------------------------------------

#[test]
fn a_short_flow_sends_everything_and_then_announces_itself() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 8 * MSS, slots(0)));
    for seq in 0..8 {
        let packet = b.transmit(slots(seq)).unwrap();
        let last = if seq == 7 { data_flag::LAST } else { 0 };
        let flags = data_flag::UNSCHEDULED | last;
        let offset = seq as u32 * MSS as u32;
        assert_eq!(packet.header, Header::Data { seq: seq as u32, offset, tag: 8, flags });
        assert_eq!(packet.class, SMALL);
    }
    let announcement = b.transmit(slots(8)).unwrap();
    assert!(matches!(announcement.header, Header::Announce { packets: 8, .. }));
    assert!(b.transmit(slots(8)).is_none());
}

#[test]
fn a_long_flow_waits_for_tokens_unless_configured_otherwise() {
    for (setting, free) in [("false", 0), ("true", 8)] {
        let mut b = bench(&[("free_for_long", setting)]);
        b.open(slots(0), &flow(0, 1, 2, 9 * MSS, slots(0)));
        let first = b.transmit(slots(0)).unwrap();
        assert!(matches!(first.header, Header::Announce { packets: 9, bytes_low: 13_140, .. }));
        assert_eq!(first.class, CONTROL);
        let sent: Vec<_> = std::iter::from_fn(|| b.transmit(slots(0))).collect();
        assert_eq!(sent.len(), free);
        assert!(sent.iter().all(|packet| packet.class == LARGE));
    }
}

#[test]
fn free_tokens_of_its_own_are_announced_and_the_first_token_names_the_packet_behind_them() {
    // Shorter and longer than the eight of all flows; `free` counts packets at most.
    for (packets, own, free) in [(6, 3, 3), (20, 3, 3), (20, 12, 12), (6, 12, 6)] {
        let mut source = bench(&[]);
        let whole = flow(0, 1, 2, packets as u64 * MSS, slots(0));
        source.open(slots(0), &Flow { burst: Some(own), ..whole });
        let announcement = source.transmit(slots(0)).unwrap();
        let Header::Announce { packets: told, bytes_high, flags, .. } = announcement.header else {
            panic!("{announcement:?}");
        };
        assert_eq!((told, bytes_high, flags), (packets, own, data_flag::BURST_END));
        let sent: Vec<_> = std::iter::from_fn(|| source.transmit(slots(0))).collect();
        assert_eq!(sent.len(), free as usize);
        // Data does not tell the length: the destination would count on eight free tokens.
        assert!(sent.iter().all(|p| matches!(p.header, Header::Data { tag: 0, .. })));
        let mut destination = bench(&[]);
        destination.from(slots(0), 0, announcement.header, 0, 0);
        let first = destination.tokens(slots(40)).first().map(|&(_, _, packet)| packet);
        // All of it may be under way: only after a pause is the first packet asked for again.
        assert_eq!(first, Some(if free < packets { free } else { 0 }), "{packets} {own}");
    }
}

#[test]
fn a_lost_announcement_of_free_tokens_of_its_own_costs_no_more_than_its_repetition() {
    let mut b = bench(&[]);
    for seq in 0..12 {
        b.data(slots(seq as u64), 0, seq, 0, data_flag::UNSCHEDULED);
    }
    assert!(b.tokens(slots(30)).is_empty());
    let (packets, flags) = (20, data_flag::BURST_END);
    let header = Header::Announce { packets, bytes_low: 0, bytes_high: 12, flags };
    b.from(slots(31), 0, header, 0, flag::RETRANSMIT);
    // The twelve have been used: the window of eight is open.
    let expected: Vec<_> = (0..8).map(|n| (slots(31 + n), 0, 12 + n as u32)).collect();
    assert_eq!(b.tokens(slots(38)), expected);
}

#[test]
fn a_long_burst_of_its_own_is_announced_once() {
    // 40 packet times are more than three base RTTs; the destination sends no token.
    let mut b = bench(&[]);
    b.open(slots(0), &Flow { burst: Some(40), ..flow(0, 1, 2, 40 * MSS, slots(0)) });
    assert_eq!(b.drain(slots(0)).len(), 41);
    assert!(b.run(slots(40) + FULL * 23).is_empty());
    let again = b.run(slots(40) + FULL * 25);
    assert!(matches!(again[0].1.header, Header::Announce { .. }), "{again:?}");
    assert!(again[0].1.has(flag::RETRANSMIT));
}

#[test]
fn tokens_expire_after_one_and_a_half_packet_times() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    b.transmit(slots(0));
    b.token(slots(1), 0, 5, 20, 0);
    assert_eq!(b.sequence(slots(1) + FULL.scale(3, 2)), Some((0, 5)));
    b.token(slots(10), 0, 6, 19, 1);
    assert_eq!(b.sequence(slots(10) + FULL.scale(3, 2) + Span(1)), None);
}

#[test]
fn free_tokens_expire_too() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 4 * MSS, slots(0)));
    assert_eq!(b.sequence(slots(0)), Some((0, 0)));
    // 4 + 1.5 packet times; the flow then announces itself and waits.
    let packet = b.transmit(slots(6)).unwrap();
    assert!(matches!(packet.header, Header::Announce { .. }));
    assert!(b.transmit(slots(6)).is_none());
}

#[test]
fn the_source_prefers_the_flow_with_fewest_remaining_packets() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 50 * MSS, slots(0)));
    b.open(slots(0), &flow(1, 1, 2, 40 * MSS, slots(0)));
    while b.transmit(slots(0)).is_some() {}
    b.token(slots(1), 0, 3, 50, 0);
    b.token(slots(1), 1, 4, 40, 0);
    assert_eq!(b.sequence(slots(1)), Some((1, 4)));
    assert_eq!(b.sequence(slots(1)), Some((0, 3)));
    // A token tells how much remains.
    b.token(slots(5), 1, 6, 30, 1);
    b.token(slots(5), 0, 7, 2, 1);
    assert_eq!(b.sequence(slots(5)), Some((0, 7)));
    // The same packet again is a retransmission.
    b.token(slots(6), 0, 7, 2, 2);
    assert!(b.transmit(slots(6)).unwrap().has(flag::RETRANSMIT));
    assert_eq!(b.sequence(slots(6)), Some((1, 6)));
    assert_eq!(b.sequence(slots(6)), None);
}

#[test]
fn announcements_are_repeated_until_a_reply_arrives() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    b.transmit(slots(0));
    let times: Vec<_> = b
        .run(slots(200))
        .into_iter()
        .map(|(at, packet)| {
            assert!(packet.has(flag::RETRANSMIT));
            at
        })
        .collect();
    // Three RTTs of eight packets, doubling.
    assert_eq!(times, [slots(24), slots(24 + 48), slots(24 + 48 + 96)]);
    b.token(slots(200), 0, 0, 20, 0);
    assert_eq!(b.run(slots(230)).iter().map(|sent| sent.0).collect::<Vec<_>>(), [slots(224)]);
    b.from(slots(231), 0, Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 }, 0, 0);
    assert_eq!(b.host.open_flows(), 0);
    assert!(b.run(slots(10_000)).is_empty());
}

// -- policy and settings -----------------------------------------------------------------------

#[test]
fn its_policy_for_ports() {
    let fabric = eight();
    let site = port_site(&fabric);
    let policy = |settings: &[(&str, &str)]| configured(&ENTRY, settings, &fabric).policy(&site);
    let own = policy(&[]);
    assert_eq!(own.classes.len(), 3);
    assert!(own.classes.iter().all(|class| class.discipline == Discipline::PushOut));
    assert!(own.classes.iter().all(|class| class.limit == Limit::Bytes(36_864)));
    let other = policy(&[("buffer", "auto"), ("push_out", "false")]);
    assert!(other.classes.iter().all(|class| class.discipline == Discipline::DropTail));
    assert!(other.classes.iter().all(|class| class.limit == Limit::Packets(128)));
}

#[test]
fn timeouts_are_the_authors_at_eight_packets_and_rtts_elsewhere() {
    let waits = |rtt: Span| {
        let fabric = fabric_site(2, RATE, rtt);
        let params = super::Params::default();
        let ready = Ready { params, derived: (), fabric: fabric.clone() };
        super::terms(&ready, &host_site(0, &fabric))
    };
    let small = waits(FULL * 8);
    assert_eq!((small.pause, small.downgrade), (FULL * 9, FULL * 25));
    assert_eq!((small.free_tokens, small.window), (8, 8));
    let large = waits(Span::from_us(100));
    assert_eq!((large.pause, large.downgrade), (Span::from_us(110), Span::from_us(300)));
    assert_eq!((large.free_tokens, large.window), (82, 82));
}

#[test]
fn wrong_settings_are_refused() {
    let set =
        |key: &str, value: &str| ENTRY.configure(&[(key.to_string(), value.into())], eight()).err();
    assert!(set("window", "0").unwrap().problem().contains("1 to"));
    assert!(set("free", "3").unwrap().problem().contains("free_tokens"));
    assert!(set("buffer", "64KiB").is_none());
}

// -- networks ----------------------------------------------------------------------------------

fn network(probabilities: Probabilities, seed: u64) -> Network {
    let fabric = eight();
    Network::of(&*configured(&ENTRY, &[], &fabric), &fabric, probabilities, seed)
}

fn count(network: &Network, kind: impl Fn(&Header) -> bool) -> usize {
    network.sent.iter().filter(|sent| kind(&sent.packet.header)).count()
}

#[test]
fn a_short_flow_takes_the_ideal_time_and_no_token() {
    for packets in [1, 5, 8] {
        let mut network = network(Probabilities::default(), 1);
        network.add(flow(0, 0, 1, packets * MSS, Time::ZERO));
        network.complete(Span::from_ms(1));
        assert_eq!(network.completed(0), Some(slots(packets) + network.delay()));
        assert_eq!(count(&network, |header| matches!(header, Header::Token { .. })), 0);
    }
}

#[test]
fn a_long_flow_alone_starts_after_one_rtt_and_fills_the_link() {
    let mut network = network(Probabilities::default(), 1);
    network.add(flow(0, 0, 1, 1_000 * MSS, Time::ZERO));
    network.complete(Span::from_ms(10));
    // Announcement and first token are header-sized packets; then a packet a packet time.
    let header = RATE.tx_time(Bytes(84));
    let begin = Time::ZERO + (header + network.delay()) * 2;
    let data = network.sent.iter().filter(|sent| sent.packet.is_data());
    let times: Vec<_> = data.map(|sent| sent.at).collect();
    assert_eq!(times[0], begin);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == FULL));
    assert_eq!(network.completed(0), Some(begin + FULL * 1_000 + network.delay()));
}

/// The authors' clock sleeps through the data that would have made room in the window.
#[test]
fn a_window_one_packet_short_of_the_round_trip_stops_for_25_packet_times() {
    let starts = |wake: &'static str| {
        let fabric = eight();
        let settings = [("window", "7"), ("wake", wake)];
        let plan = configured(&ENTRY, &settings, &fabric);
        let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
        network.add(flow(0, 0, 1, 70 * MSS, Time::ZERO));
        network.complete(Span::from_ms(10));
        let data = network.sent.iter().filter(|sent| sent.packet.is_data());
        let times: Vec<_> = data.map(|sent| sent.at).collect();
        assert_eq!(times.len(), 70);
        times
    };
    let timer = starts("timer");
    for (number, at) in timer.iter().enumerate() {
        // Seven packets, the last token plus 25 packet times, seven packets, and so on.
        let (round, within) = (number as u64 / 7, number as u64 % 7);
        assert_eq!(*at, timer[0] + FULL * (31 * round + within), "packet {number}");
    }
    // Woken by data, each round waits for its first packet only: about eight packet times.
    let data = starts("data");
    let rounds = data[69].since(data[0]).0 as f64 / FULL.0 as f64;
    assert!((75.0..85.0).contains(&rounds), "{rounds} packet times");
}

#[test]
fn of_two_long_flows_the_shorter_gets_the_link() {
    // Flow 0's Finish delays one token by the time of a header: its data misses the slot in which
    // the window has room again, and a clock that data does not wake sleeps until the retry.
    for (wake, idle) in [("data", 10), ("timer", 10 + 25)] {
        let fabric = eight();
        let plan = configured(&ENTRY, &[("wake", wake)], &fabric);
        let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
        network.add(flow(0, 0, 1, 300 * MSS, Time::ZERO));
        network.add(flow(1, 2, 1, 600 * MSS, Time::ZERO));
        network.complete(Span::from_ms(10));
        let begin = Time::ZERO + (RATE.tx_time(Bytes(84)) + network.delay()) * 2;
        assert_eq!(network.completed(0), Some(begin + FULL * 300 + network.delay()));
        // Otherwise the destination's link was never idle.
        let all = begin + FULL * 900 + network.delay();
        let late = network.completed(1).expect("complete").since(all);
        assert!(late <= FULL * idle, "{wake}: {late}");
    }
}

#[test]
fn scheduled_data_has_tokens_and_every_token_is_spent_once() {
    let mut network = network(Probabilities { loss: 0.02, ..Probabilities::default() }, 3);
    network.add(flow(0, 0, 1, 500 * MSS, Time::ZERO));
    network.add(flow(1, 0, 1, 6 * MSS, Time::ZERO));
    network.complete(Span::from_ms(100));
    let tokens = count(&network, |header| matches!(header, Header::Token { .. }));
    let data = count(&network, |header| matches!(header, Header::Data { .. }));
    assert!(data <= tokens + 6);
}

#[test]
fn every_flow_completes_in_an_impaired_network() {
    for seed in 0..60 {
        let long = if seed % 2 == 0 { "true" } else { "false" };
        let fabric = fabric_site(4, RATE, Span::from_us(10 + 90 * (seed % 3)));
        let plan = configured(&ENTRY, &[("free_for_long", long)], &fabric);
        let some = Probabilities::each(0.01 * (1 + seed % 5) as f64, fabric.base_rtt * 4);
        Network::of(&*plan, &fabric, some, seed).survives();
    }
}
