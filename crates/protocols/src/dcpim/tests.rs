//! Known results of the calendar, of matchings, and of tokens.

use super::clock::{Clock, Step};
use super::headers::{Accept, Grant, Request, Return, Scheduled, Token, Unscheduled};
use super::incoming::Incoming;
use super::matching::{Offer, Promised, share};
use super::*;
use incast_endpoint::receiver_driven::Arrival;
use incast_testkit::{Driver, MSS, fabric_site, flow, us};
use incast_transport::{Bytes, FabricSite, Header, HostId, Random, Rate, Span, Time, Transport};
use std::sync::Arc;

const RATE: Rate = Rate::from_gbps(100);

const AUTHORS: &[(&str, &str)] = &[("token_initial", "49"), ("token_window", "49")];

/// The authors' fabric: four links of 0.65 us each way, two of them at 400 Gb/s.
fn authors() -> Arc<FabricSite> {
    let site = fabric_site(144, RATE, Span::from_ns(5_508));
    let framing = incast_transport::Framing { control: 40, ..incast_transport::Framing::NONE };
    let (max_rate, hops) = (Rate::from_gbps(400), 4);
    let longer = Bytes((framing.charged_mtu() - framing.charged_header()) as u64);
    let data_delay = RATE.tx_time(longer) * 2 + max_rate.tx_time(longer) * 2;
    Arc::new(FabricSite { framing, data_delay, max_rate, hops, ..(*site).clone() })
}

fn host_site(fabric: &Arc<FabricSite>) -> HostSite {
    HostSite {
        host: HostId(3),
        rate: RATE,
        bdp_packets: 49,
        routing: Routing::SourceRoundRobin,
        fabric: fabric.clone(),
    }
}

fn params(settings: &[(&str, &str)]) -> Params {
    Params::read(&incast_testkit::key_values(settings)).unwrap()
}

fn near(span: Span, us: f64) {
    assert!((span.0 as f64 / 1e6 - us).abs() < 0.006, "{span} is not {us}us");
}

#[test]
fn the_authors_times() {
    let terms = Terms::new(&params(AUTHORS), &host_site(&authors()));
    let Clock { round, epoch, ahead, .. } = terms.clock;
    near(round, 6.781);
    near(epoch, 27.12);
    assert_eq!((ahead, terms.per_channel), (Span::ZERO, 56));
    near(terms.window_timeout, 6.468);
    near(terms.resend_timeout, 5.88);
    assert_eq!((terms.token_initial, terms.token_window), (49, 49));
    // A packet takes 0.12 us; one channel has every fourth.
    assert_eq!((terms.gap(4), terms.gap(1)), (Span::from_ns(120), Span::from_ns(480)));
    for (packets, class) in
        [(1, 1), (7, 1), (8, 2), (49, 2), (50, 3), (2_401, 4), (16_807, 5), (16_808, 6)]
    {
        assert_eq!(Terms::class(packets), class);
    }
}

#[test]
fn an_epoch_begins_with_rounds_and_a_data_phase_with_the_end_of_the_last() {
    let (ahead, round, epoch) = (Span::ZERO, Span(10), Span(50));
    let clock = Clock { ahead, round, rounds: 4, epoch };
    let step = |epoch, round| Step { epoch, round };
    for (now, is, next) in [
        (0, step(0, 0), step(0, 0)),
        (1, step(0, 0), step(0, 1)),
        (10, step(0, 1), step(0, 1)),
        (31, step(0, 3), step(1, 0)),
        (40, step(0, 4), step(1, 0)),
        (49, step(0, 4), step(1, 0)),
        (50, step(1, 0), step(1, 0)),
        (75, step(1, 2), step(1, 3)),
    ] {
        assert_eq!((clock.now(Time(now)), clock.next_round(Time(now))), (is, next), "{now}");
    }
    let mut at = step(0, 0);
    let mut all = vec![];
    for _ in 0..7 {
        all.push(clock.at(at).0);
        at = clock.after(at);
    }
    assert_eq!(all, [0, 10, 20, 30, 40, 50, 60]);
    assert_eq!((clock.middle(step(1, 2)), clock.data_ends(1)), (Time(75), Time(140)));
    // A clock that is ahead has all of it earlier.
    let fast = Clock { ahead: Span(3), ..clock };
    assert_eq!((fast.now(Time(47)), fast.at(step(1, 0))), (step(1, 0), Time(47)));
}

fn offer(peer: u32, remaining: u32, order: u32, channels: u32) -> Offer {
    let (peer, flow) = (HostId(peer), FlowId(peer));
    Offer { peer, flow, remaining, order, channels, prompt: channels, informed: Time::ZERO }
}

#[test]
fn channels_go_to_the_shortest_then_the_oldest() {
    let mut random = Random::new(7, 0, 0);
    let mut given = vec![];
    let mut offers =
        vec![offer(0, 90, 0, 4), offer(1, 50, 3, 1), offer(2, 50, 2, 2), offer(3, 99, 1, 4)];
    share(&mut offers, true, (4, 3), &mut random, |offer, channels, prompt| {
        given.push((offer.peer.0, channels, prompt));
    });
    assert_eq!(given, [(2, 2, 2), (1, 1, 1), (0, 1, 0)]);
    assert!(offers.is_empty());
    share(&mut vec![offer(0, 1, 0, 4)], true, (0, 0), &mut random, |_, _, _| {
        panic!("none is free")
    });
}

/// One channel each, every destination asks every source: a source grants one of n requests at random, so that
/// a destination has a grant with 1 - (1 - 1/n)^n.
#[test]
fn a_random_round_matches_63_percent() {
    let (mut random, n) = (Random::new(7, 0, 0), 50u32);
    let (mut with, rounds) = (0, 400);
    for _ in 0..rounds {
        let mut granted = vec![false; n as usize];
        for _ in 0..n {
            let mut offers: Vec<Offer> = (0..n).map(|peer| offer(peer, 10, peer, 1)).collect();
            share(&mut offers, false, (1, 0), &mut random, |offer, _, _| {
                granted[offer.peer.0 as usize] = true;
            });
        }
        with += granted.iter().filter(|one| **one).count();
    }
    let part = with as f64 / (n * rounds) as f64;
    let expected = 1.0 - (1.0 - 1.0 / n as f64).powi(n as i32);
    assert!((part - expected).abs() < 0.005, "{part} is not {expected}");
    // By length, with equal lengths and ages, all grant the same one.
    let mut first = vec![];
    for _ in 0..n {
        let mut offers: Vec<Offer> = (0..n).map(|peer| offer(peer, 10, peer, 1)).collect();
        share(&mut offers, true, (1, 0), &mut random, |offer, _, _| first.push(offer.peer.0));
    }
    assert!(first.iter().all(|peer| *peer == 0));
}

#[test]
fn no_source_promises_more_than_it_has() {
    let mut promised = Promised::default();
    assert_eq!((promised.take(5, 3, 4), promised.of(5)), (3, 3));
    assert_eq!((promised.take(5, 3, 4), promised.of(5)), (1, 4));
    // The last accepts of an epoch come when the next matching has begun.
    assert_eq!((promised.take(6, 2, 4), promised.take(5, 1, 4)), (2, 0));
    assert_eq!((promised.of(5), promised.of(6)), (4, 2));
    assert_eq!((promised.take(8, 1, 4), promised.of(5), promised.take(5, 1, 4)), (1, 0, 0));
    assert_eq!((promised.of(6), promised.of(8)), (2, 1));
}

#[test]
fn tokens_go_round_what_is_missing() {
    let terms =
        Terms::new(&Params { token_window: Some(8), ..params(AUTHORS) }, &host_site(&authors()));
    let mut flow = Incoming::new(FlowId(0), HostId(1), 0);
    (flow.packets, flow.long) = (12, true);
    // All four channels: nine tokens, one more than the window.
    let mut now = at_ns(1_000);
    let given: Vec<_> = (0..20).filter_map(|_| flow.token(now, &terms, 4)).collect();
    assert_eq!(given, (0..9).map(|seq| (seq, seq)).collect::<Vec<_>>());
    assert_eq!(flow.outstanding(), 9);
    // Three come back, of which the first tells of those before it.
    for (seq, number) in [(2, 2), (0, 0), (1, 1)] {
        assert_eq!(flow.arrivals.insert(seq, false), Arrival::New);
        flow.arrived += 1;
        flow.came_back(number);
    }
    assert_eq!(flow.outstanding(), 6);
    // A forged number is no token.
    flow.came_back(4_000);
    assert_eq!(flow.outstanding(), 6);
    let given: Vec<_> = (0..20).filter_map(|_| flow.token(now, &terms, 4)).collect();
    assert_eq!(given, [(9, 9), (10, 10), (11, 11)]);
    // All that is missing has a token: it waits for a BDP.
    assert!(!flow.wants(now) && !flow.wants(now + Span::from_ns(5_879)));
    now += Span::from_ns(5_881);
    assert!(flow.wants(now));
    // Nothing came back: with one channel it has two at a time, and each timeout allows one more.
    assert_eq!(flow.token(now, &terms, 1), None);
    now += terms.window_timeout;
    assert_eq!(flow.token(now, &terms, 1), Some((12, 3)));
    assert_eq!(flow.outstanding(), 3);
    assert_eq!(flow.token(now + Span::from_ns(6_000), &terms, 1), None);
    assert_eq!(flow.token(now + terms.window_timeout, &terms, 1), Some((13, 4)));
}

/// Packets that arrive out of order or without a token can fill what is missing behind the last token.
#[test]
fn tokens_begin_again_where_nothing_is_missing_behind() {
    let terms = Terms::new(&params(AUTHORS), &host_site(&authors()));
    let mut flow = Incoming::new(FlowId(0), HostId(1), 0);
    (flow.packets, flow.long) = (12, true);
    let now = at_ns(1_000);
    for seq in 0..6 {
        assert_eq!(flow.token(now, &terms, 4), Some((seq, seq)));
    }
    for seq in (0..12).filter(|seq| *seq != 3) {
        assert_eq!(flow.arrivals.insert(seq, seq == 11), Arrival::New);
        flow.arrived += 1;
    }
    // Its own token may still bring it: a BDP after the last one it is given another.
    assert_eq!(flow.token(now, &terms, 4), None);
    assert!(!flow.wants(now + Span::from_ns(5_879)));
    let now = now + Span::from_ns(5_881);
    assert!(flow.wants(now));
    assert_eq!(flow.token(now, &terms, 4), Some((6, 3)));
}

fn at_ns(ns: u64) -> Time {
    Time::ZERO + Span::from_ns(ns)
}

fn driver(settings: &[(&str, &str)]) -> Driver {
    Driver::of(&ENTRY, settings, &fabric_site(8, RATE, us(10)), 0)
}

fn packet(from: u32, flow: u32, header: impl Into<Header>) -> Packet {
    Packet::header_only(ID, FlowId(flow), HostId(from), HostId(0), 0, header)
}

fn read<T>(
    packets: &[(Time, Packet)],
    one: impl Fn(&Header) -> Option<T>,
) -> Vec<(Time, HostId, T)> {
    packets
        .iter()
        .filter_map(|(at, packet)| Some((*at, packet.dst, one(&packet.header)?)))
        .collect()
}

/// Terms of [`driver`]: rounds of 13 us but for what full packets take longer.
fn clock_of(settings: &[(&str, &str)]) -> Clock {
    let fabric = fabric_site(8, RATE, us(10));
    Terms::new(&params(settings), &HostSite { fabric: fabric.clone(), ..host_site(&fabric) }).clock
}

/// A long flow is announced to a destination: it asks for all channels in the next round, takes what is offered,
/// gives tokens for prompt channels at once and for all of them in the data phase.
#[test]
fn a_destination_asks_accepts_and_gives_tokens() {
    let mut host = driver(&[]);
    let clock = clock_of(&[]);
    let announce = Announce { packets: 10_000, bytes_low: 14_600_000, bytes_high: 0 };
    host.receive(us_after(1), packet(2, 5, announce));
    host.receive(us_after(1), packet(3, 6, Announce { packets: 20_000, ..announce }));
    // In round 1 (the second): of both sources all channels, of which all may be used at once.
    let ask = clock.at(Step { epoch: 0, round: 1 });
    let sent = host.run(ask);
    let asked = read(&sent, Request::read);
    let request = Request { epoch: 0, remaining: 10_000, channels: 4, prompt: 4, round: 2 };
    let other = Request { remaining: 20_000, ..request };
    assert_eq!(asked, [(ask, HostId(2), request), (ask, HostId(3), other)]);
    // Source 3 grants three channels, one at once; source 2 nothing.
    let grant = Grant { epoch: 0, remaining: 20_000, channels: 3, prompt: 1, round: 2 };
    host.receive(ask + us(5), packet(3, 6, Grant { epoch: 1, ..grant }));
    host.receive(ask + us(5), packet(3, 6, Grant { round: 1, ..grant }));
    host.receive(ask + us(5), packet(3, 6, grant));
    let next = clock.at(Step { epoch: 0, round: 2 });
    let sent = host.run(next);
    let taken = Accept { epoch: 0, channels: 3, prompt: 1, round: 2 };
    assert_eq!(read(&sent, Accept::read), [(next, HostId(3), taken)]);
    // The next request is for the one that is left; of the source that gave three, too.
    let channels: Vec<_> =
        read(&sent, Request::read).iter().map(|(_, dst, one)| (dst.0, one.channels)).collect();
    assert_eq!(channels, [(2, 1), (3, 1)]);
    // One token now, and one every fourth packet time.
    let gap = RATE.tx_time(Bytes(1_538)).0 * 4;
    let sent = host.run(Time(next.0 + 10 * gap));
    let tokens = read(&sent, Token::read);
    assert_eq!(tokens.len(), 10);
    assert!(tokens.iter().all(|(_, dst, token)| *dst == HostId(3) && token.turn == 7));
    assert_eq!(tokens[9].2, Token { packet: 10, turn: 7, token: 10 });
    // The source takes one back; the data phase has two: a token every two packet times.
    host.receive(Time(next.0 + 11 * gap), packet(3, 6, Return { epoch: 0, channels: 1 }));
    let data = clock.at(Step { epoch: 0, round: 4 });
    host.run(data);
    let sent = host.run(Time(data.0 + 10 * gap));
    let tokens = read(&sent, Token::read);
    assert!((19..=20).contains(&tokens.len()), "{}", tokens.len());
    assert!(tokens.iter().all(|(_, _, token)| token.turn == 2));
}

fn us_after(count: u64) -> Time {
    Time::ZERO + us(count)
}

/// A source offers what it has, in the middle of a round: to the shortest first in round 1.
#[test]
fn a_source_offers_channels_and_takes_back_what_it_does_not_have() {
    let mut host = driver(&[]);
    let clock = clock_of(&[]);
    for id in 1..4 {
        host.open(Time::ZERO, &flow(id, 0, id, 10_000 * MSS, Time::ZERO));
    }
    let sent = host.drain(us_after(1));
    assert_eq!(sent.iter().filter(|packet| Announce::read(&packet.header).is_some()).count(), 3);
    let begin = clock.at(Step { epoch: 1, round: 0 });
    let ask =
        |remaining, channels| Request { epoch: 1, remaining, channels, prompt: channels, round: 1 };
    let early = begin + us(2);
    host.receive(early, packet(1, 1, ask(9_000, 3)));
    host.receive(early, packet(2, 2, ask(8_000, 2)));
    host.receive(early, packet(3, 3, Request { round: 2, ..ask(1, 4) }));
    host.receive(early, packet(3, 3, Request { epoch: 0, ..ask(1, 4) }));
    let middle = clock.middle(Step { epoch: 1, round: 0 });
    let sent = host.run(middle);
    let grant =
        |remaining, channels| Grant { epoch: 1, remaining, channels, prompt: channels, round: 1 };
    assert_eq!(
        read(&sent, Grant::read),
        [(middle, HostId(2), grant(8_000, 2)), (middle, HostId(1), grant(9_000, 2))]
    );
    // Both accept, and one that was offered channels before: it is told what is not there.
    let accept = Accept { epoch: 1, channels: 2, prompt: 2, round: 1 };
    for peer in [1, 2, 3] {
        host.receive(middle + us(5), packet(peer, peer, accept));
    }
    let sent: Vec<_> =
        host.drain(middle + us(5)).into_iter().map(|one| (middle + us(5), one)).collect();
    let back = Return { epoch: 1, channels: 2 };
    assert_eq!(read(&sent, Return::read), [(middle + us(5), HostId(3), back)]);
    // Requests that come late are of no round.
    let late = clock.middle(Step { epoch: 1, round: 1 }) + us(1);
    host.receive(late, packet(1, 1, Request { round: 2, ..ask(9_000, 1) }));
    let sent = host.run(late + us(20));
    assert!(read(&sent, Grant::read).is_empty());
}

/// Data leaves by tokens in order of their priorities, short flows first; a token is used once, and none after its
/// epoch.
#[test]
fn tokens_are_used_once_in_order_and_not_too_late() {
    let mut host = driver(&[]);
    let clock = clock_of(&[]);
    host.open(Time::ZERO, &flow(1, 0, 1, 10_000 * MSS, Time::ZERO));
    host.open(Time::ZERO, &flow(2, 0, 2, 3 * MSS, Time::ZERO));
    let token = |packet, priority: u32, number| Token { packet, turn: priority, token: number };
    host.receive(Time::ZERO, packet(1, 1, token(0, 3, 0)));
    host.receive(Time::ZERO, packet(1, 1, token(1, 3, 1)));
    host.open(Time::ZERO, &flow(3, 0, 3, 9_000 * MSS, Time::ZERO));
    host.receive(Time::ZERO, packet(3, 3, token(7, 2, 5)));
    // Of another host, and beyond the flow.
    host.receive(Time::ZERO, packet(2, 3, token(8, 2, 6)));
    host.receive(Time::ZERO, packet(3, 3, token(9_000, 2, 6)));
    let sent = host.drain(Time::ZERO);
    let data: Vec<_> = sent.iter().filter(|packet| packet.is_data()).collect();
    let flows: Vec<_> = data.iter().map(|packet| (packet.flow.0, packet.class)).collect();
    assert_eq!(flows, [(2, 1), (2, 1), (2, 1), (3, 5), (1, 5), (1, 5)]);
    let short = Unscheduled::read(&data[2].header).unwrap();
    assert!((short.packet, short.last) == (2, true));
    let long = Scheduled::read(&data[3].header).unwrap();
    assert_eq!((long.packet, long.token, long.offset), (7, 5, 7 * MSS as u32));
    // The data phase of epoch 0 is over, and so is what may be late.
    let late = clock.data_ends(0) + us(20);
    host.receive(late, packet(1, 1, token(2, 3, 2)));
    assert!(host.drain(late).iter().all(|packet| !packet.is_data()));
    host.receive(late, packet(1, 1, Token { turn: 2 << 8 | 3, ..token(2, 3, 2) }));
    assert_eq!(host.drain(late).iter().filter(|packet| packet.is_data()).count(), 1);
}

#[test]
fn a_host_without_long_flows_sleeps() {
    let mut host = driver(&[]);
    // A short flow comes and goes.
    host.receive(us_after(1), packet(2, 5, Announce { packets: 1, bytes_low: 100, bytes_high: 0 }));
    let header = Unscheduled { packet: 0, offset: 0, last: true };
    host.receive(us_after(2), Packet { payload: 100, ..packet(2, 5, header) });
    assert_eq!(host.drain(us_after(3)).len(), 1, "FINISH");
    assert_eq!(host.call(us_after(3), |host, _| host.open_flows()), 0);
    let left = host.run(us_after(100_000));
    assert!(left.is_empty(), "{left:?}");
    let deadline = host.call(us_after(100_001), |host, _| host.deadline());
    assert_eq!(deadline, Time::NEVER);
}

#[test]
fn what_does_not_fit_is_told_with_key_value_and_range() {
    let told = |settings: &[(&str, &str)], rtt: Span| {
        let settings = incast_testkit::key_values(settings);
        let site = fabric_site(8, RATE, rtt);
        ENTRY.configure(&settings, site).map(|_| ()).map_err(|fault| fault.to_string())
    };
    assert_eq!(told(&[], us(10)), Ok(()));
    let fault = told(&[("control_rtt", "10ns")], us(10)).unwrap_err();
    assert!(fault.contains("control_rtt") && fault.contains("expected at least 9."), "{fault}");
    let fault = told(&[("channels", "255"), ("rounds", "1")], us(10)).unwrap_err();
    assert!(fault.contains("channels") && fault.contains("an epoch of"), "{fault}");
    for (key, value) in [
        ("channels", "0"),
        ("rounds", "33"),
        ("round", "0.5"),
        ("data_phase", "0.5"),
        ("clock_offset", "0.2"),
        ("buffer", "100B"),
    ] {
        assert!(told(&[(key, value)], us(10)).unwrap_err().contains(key), "{key}");
    }
}
