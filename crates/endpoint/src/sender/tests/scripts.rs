//! Packets in, packets out, at times.

use super::controls::*;
use crate::sender::{Loss, Options, Reliability, SenderDriven};
use incast_transport::*;

fn tcp() -> Options {
    Options::tcp(ID, Span::from_ms(10))
}

fn newreno() -> Options {
    Options { reliability: Reliability::NewReno, ..tcp() }
}

fn never() -> Script {
    Box::new(|_, _| Impairment::NONE)
}

/// Loses the first copies of these segments, and for each repetition in the list one more copy.
fn lose(segments: &[u64]) -> Script {
    let mut left: Vec<u32> = segments.iter().map(|s| (s * MSS) as u32).collect();
    Box::new(move |packet, _| {
        let Header::Segment { seq, .. } = packet.header else { return Impairment::NONE };
        let hit = left.iter().position(|&s| packet.is_data() && s == seq);
        hit.map_or(Impairment::NONE, |at| {
            left.swap_remove(at);
            Impairment::LOST
        })
    })
}

/// Segments sent again, in order.
fn repeats<L: crate::sender::ControlFactory>(network: &Network<SenderDriven<L>>) -> Vec<u64> {
    let again = network.sent.iter().filter(|s| s.packet.has(flag::RETRANSMIT));
    again.map(|s| s.packet.header.data_key() as u64 / MSS).collect()
}

fn losses(events: &[Event]) -> Vec<Loss> {
    events
        .iter()
        .filter_map(|t| if let Event::Loss(loss) = t { Some(*loss) } else { None })
        .collect()
}

const END: Time = Time(100_000_000_000_000);

fn packet_time() -> Span {
    Rate::from_gbps(10).tx_time(Bytes(1_538))
}

/// An ACK of 84 B.
fn answer_time() -> Span {
    Rate::from_gbps(10).tx_time(Bytes(84))
}

fn round_trip() -> Span {
    packet_time() + answer_time() + Span::from_us(10)
}

/// When copies left, for the segments in `repeats`.
fn repeat_times<L: crate::sender::ControlFactory>(network: &Network<SenderDriven<L>>) -> Vec<Time> {
    network.sent.iter().filter(|s| s.packet.has(flag::RETRANSMIT)).map(|s| s.at).collect()
}

fn ends_well(network: &mut Network<SenderDriven<Plainly>>, flow: &Flow) {
    network.open(flow);
    network.settle(END);
    network.assert_delivered_once(flow);
    assert_eq!(network.hosts[0].open_flows() + network.hosts[1].open_flows(), 0);
}

#[test]
fn a_lone_window_takes_the_ideal_time() {
    let (mut network, events) = pair(10 * MSS, tcp(), never());
    let flow = flow(0, 0, 1, 10 * MSS, Time::ZERO);
    ends_well(&mut network, &flow);
    assert_eq!(network.completed(0), Some(Time::ZERO + packet_time() * 10 + Span::from_us(5)));
    let events = events.lock().unwrap();
    assert_eq!(events.len(), 10);
    let first = Event::Ack {
        bytes: MSS,
        sacked: 0,
        ece: false,
        rtt: Some(round_trip()),
        limited: false,
        recovering: false,
    };
    assert_eq!(events[0], first);
    assert!(network.sent.iter().all(|s| s.extension == Extension::None), "SACK without holes");
    let fins = network.sent.iter().filter(
        |s| matches!(s.packet.header, Header::Segment { flags, .. } if flags & tcp_flag::FIN != 0),
    );
    assert_eq!(fins.count(), 2, "the last segment and its ACK");
}

#[test]
fn one_loss_costs_one_copy_and_no_timeout() {
    for (lost, segments) in [(0, 10), (4, 10), (6, 10), (0, 4)] {
        for options in [tcp(), newreno()] {
            let (mut network, events) = pair(segments * MSS, options, lose(&[lost]));
            ends_well(&mut network, &flow(0, 0, 1, segments * MSS, Time::ZERO));
            assert_eq!(repeats(&network), [lost]);
            assert_eq!(losses(&events.lock().unwrap()), [Loss::Fast]);
            // The third later segment's ACK tells, while the NIC is idle or as soon as it is.
            let told_at = Time::ZERO + packet_time() * (lost + 3) + round_trip();
            let at = repeat_times(&network)[0];
            assert!(at >= told_at && at < told_at + packet_time(), "{at} {told_at}");
        }
    }
}

#[test]
fn a_lost_tail_costs_one_timeout() {
    for options in [tcp(), newreno()] {
        let (mut network, events) = pair(10 * MSS, options, lose(&[9]));
        ends_well(&mut network, &flow(0, 0, 1, 10 * MSS, Time::ZERO));
        assert_eq!(repeats(&network), [9]);
        assert_eq!(losses(&events.lock().unwrap()), [Loss::Timeout]);
        // RFC 6298 §5.3: the timer runs from the last ACK that acknowledged something new.
        let last_progress = Time::ZERO + packet_time() * 8 + round_trip();
        assert_eq!(repeat_times(&network), [last_progress + Span::from_ms(10)]);
    }
}

#[test]
fn a_lone_packet_that_is_lost_comes_after_the_first_timeout() {
    let (mut network, _) = pair(10 * MSS, tcp(), lose(&[0, 0, 0]));
    ends_well(&mut network, &flow(0, 0, 1, 100, Time::ZERO));
    // Doubling: 10, then 20, then 40 ms later.
    let at: Vec<u64> = repeat_times(&network).iter().map(|t| t.0 / 1_000_000_000).collect();
    assert_eq!(at, [10, 30, 70]);
}

#[test]
fn a_burst_is_repaired_in_one_rtt_with_sack() {
    let (mut network, events) = pair(20 * MSS, tcp(), lose(&[2, 3, 4, 9]));
    ends_well(&mut network, &flow(0, 0, 1, 20 * MSS, Time::ZERO));
    assert_eq!(repeats(&network), [2, 3, 4, 9]);
    assert_eq!(losses(&events.lock().unwrap()), [Loss::Fast]);
    let at = repeat_times(&network);
    assert!(at[3] - at[0] < round_trip(), "{at:?}");
}

#[test]
fn newreno_repairs_one_loss_per_rtt() {
    let (mut network, events) = pair(20 * MSS, newreno(), lose(&[2, 5]));
    ends_well(&mut network, &flow(0, 0, 1, 20 * MSS, Time::ZERO));
    assert_eq!(repeats(&network), [2, 5]);
    assert_eq!(losses(&events.lock().unwrap()), [Loss::Fast]);
    let at = repeat_times(&network);
    assert!(at[1] - at[0] >= round_trip() && at[1] - at[0] < round_trip() * 2, "{at:?}");
}

#[test]
fn a_lost_copy_waits_for_the_timer() {
    for options in [tcp(), newreno()] {
        let (mut network, events) = pair(10 * MSS, options, lose(&[1, 1]));
        ends_well(&mut network, &flow(0, 0, 1, 10 * MSS, Time::ZERO));
        assert_eq!(losses(&events.lock().unwrap()), [Loss::Fast, Loss::Timeout]);
        assert_eq!(repeats(&network)[..2], [1, 1]);
        let at = repeat_times(&network);
        assert_eq!(at[1] - at[0], Span::from_ms(10), "the timer restarts with the copy");
    }
}

#[test]
fn lost_acks_cost_nothing() {
    let script: Script = Box::new(|packet, n| match packet.header {
        Header::Segment { flags, .. } if flags == tcp_flag::ACK && n % 3 != 0 => Impairment::LOST,
        _ => Impairment::NONE,
    });
    let (mut network, events) = pair(40 * MSS, tcp(), script);
    ends_well(&mut network, &flow(0, 0, 1, 40 * MSS, Time::ZERO));
    assert_eq!(repeats(&network), [0u64; 0]);
    assert_eq!(losses(&events.lock().unwrap()), []);
}

#[test]
fn a_lost_last_ack_is_sent_again() {
    let mut lost = false;
    let script: Script = Box::new(move |p, _| match p.header {
        Header::Segment { flags, .. } if !p.is_data() && flags & tcp_flag::FIN != 0 && !lost => {
            lost = true;
            Impairment::LOST
        }
        _ => Impairment::NONE,
    });
    let (mut network, events) = pair(10 * MSS, tcp(), script);
    ends_well(&mut network, &flow(0, 0, 1, 10 * MSS, Time::ZERO));
    assert_eq!(repeats(&network), [9]);
    assert_eq!(losses(&events.lock().unwrap()), [Loss::Timeout]);
}

/// Segment `which` arrives behind the `by` that follow it.
fn reorder(which: u64, by: u64) -> Script {
    Box::new(move |packet, _| match packet.header {
        Header::Segment { seq, .. }
            if packet.is_data() && seq as u64 == which * MSS && !packet.has(flag::RETRANSMIT) =>
        {
            Impairment::late(packet_time() * by + Span::from_ns(100))
        }
        _ => Impairment::NONE,
    })
}

#[test]
fn reordering_by_two_is_no_loss_by_five_is_one() {
    for options in [tcp(), newreno()] {
        let (mut network, events) = pair(20 * MSS, options, reorder(3, 2));
        ends_well(&mut network, &flow(0, 0, 1, 20 * MSS, Time::ZERO));
        assert_eq!(repeats(&network), [0u64; 0]);
        assert_eq!(losses(&events.lock().unwrap()), []);
        let (mut network, events) = pair(20 * MSS, options, reorder(3, 5));
        ends_well(&mut network, &flow(0, 0, 1, 20 * MSS, Time::ZERO));
        assert_eq!(repeats(&network), [3]);
        assert_eq!(losses(&events.lock().unwrap()), [Loss::Fast]);
    }
}

#[test]
fn duplicates_are_acknowledged_and_not_delivered() {
    let script: Script = Box::new(|_, _| Impairment::twice(Span::from_us(3)));
    let (mut network, events) = pair(20 * MSS, tcp(), script);
    ends_well(&mut network, &flow(0, 0, 1, 20 * MSS, Time::ZERO));
    assert_eq!(repeats(&network), [0u64; 0]);
    assert_eq!(losses(&events.lock().unwrap()), []);
}

#[test]
fn two_duplicate_acks_let_new_data_out() {
    // Limited transmit (RFC 3042): one new segment for each of the first two.
    let (mut network, _) = pair(8 * MSS, tcp(), lose(&[0]));
    ends_well(&mut network, &flow(0, 0, 1, 30 * MSS, Time::ZERO));
    let data: Vec<u64> = network
        .sent
        .iter()
        .filter(|s| s.packet.is_data())
        .map(|s| s.packet.header.data_key() as u64 / MSS)
        .collect();
    assert_eq!(data[..11], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
}

#[test]
fn no_packet_leaves_beyond_the_window() {
    let (mut network, events) = pair(4 * MSS, tcp(), lose(&[9, 14]));
    network.open(&flow(0, 0, 1, 60 * MSS, Time::ZERO));
    loop {
        let next = network.sent.len();
        network.run(network.now + Span::from_ns(50));
        let Some(progress) = network.hosts[0].progress(FlowId(0), network.now) else { break };
        let window = network.hosts[0].control(FlowId(0)).unwrap().window;
        let new = network.sent[next..].iter().any(|s| s.packet.is_data() && s.packet.flags == 0);
        assert!(!new || progress.pipe <= window);
        assert!(progress.acknowledged <= progress.sent);
    }
    assert_eq!(losses(&events.lock().unwrap()).len(), 1);
}

#[test]
fn rtts_of_copies_are_not_measured() {
    let (mut network, events) = pair(10 * MSS, tcp(), lose(&[0]));
    ends_well(&mut network, &flow(0, 0, 1, 10 * MSS, Time::ZERO));
    let events = events.lock().unwrap();
    let of_copy = events.iter().find(|t| matches!(t, Event::Ack { bytes, .. } if *bytes > MSS));
    assert!(matches!(of_copy, Some(Event::Ack { rtt: None, .. })), "{of_copy:?}");
    let known = events.iter().filter(|t| matches!(t, Event::Ack { rtt: Some(_), .. }));
    assert_eq!(known.count(), 9, "segments beyond the hole are measured");
}

#[test]
fn the_window_grows_only_if_it_held_the_flow_back() {
    let (mut network, events) = pair(30 * MSS, tcp(), never());
    ends_well(&mut network, &flow(0, 0, 1, 200 * MSS, Time::ZERO));
    // 10 us at 10 Gb/s are 8.1 packets: the NIC is the limit, 30 segments are never in flight.
    let events = events.lock().unwrap();
    assert!(events.iter().all(|t| matches!(t, Event::Ack { limited: false, .. })));
    drop(events);
    let (mut network, events) = pair(2 * MSS, tcp(), never());
    ends_well(&mut network, &flow(0, 0, 1, 40 * MSS, Time::ZERO));
    let events = events.lock().unwrap();
    assert!(events[..6].iter().all(|t| matches!(t, Event::Ack { limited: true, .. })));
    assert!(matches!(events[30], Event::Ack { limited: false, .. }), "the NIC is the limit now");
}

#[test]
fn sequence_numbers_wrap() {
    for options in [
        tcp(),
        Options { reliability: Reliability::GoBackN { again: Span::from_us(500) }, ..tcp() },
    ] {
        let (mut network, events) = pair(10 * MSS, options, lose(&[]));
        let first = (u32::MAX as u64 / MSS) as u32 - 20;
        let flow = flow(0, 0, 1, (first as u64 + 60) * MSS + 7, Time::ZERO);
        let mut number = 0;
        network.impair_all(Impairments::scripted(move |packet, _| {
            number += packet.is_data() as u32;
            if packet.is_data() && [15, 21, 22, 30].contains(&number) {
                Impairment::LOST
            } else {
                Impairment::NONE
            }
        }));
        let incoming = network.hosts[1]
            .incoming
            .insert(FlowId(0), super::super::Incoming::new(HostId(0), crate::sender::EchoMark));
        network.hosts[1].incoming.at_mut(incoming).skip_to(first as u64 * MSS);
        let told_flow = flow.clone();
        network.call(0, |host, env| {
            host.open(env, &told_flow);
            host.outgoing.get_mut(FlowId(0)).unwrap().skip_to(first);
        });
        // The NIC asks when something happens: a late timer will do.
        network.call(0, |host, env| host.wake(env));
        network.poll(0);
        network.settle(END);
        assert!(network.completed(0).is_some());
        let delivered: u64 = network.probe.deliveries().iter().map(|d| d.2 as u64).sum();
        assert_eq!(delivered, 60 * MSS + 7);
        let offsets = network.probe.deliveries().iter().map(|d| d.1);
        assert!(offsets.clone().min() == Some(first as u64 * MSS));
        assert!(offsets.max().unwrap() > u32::MAX as u64);
        assert!(!losses(&events.lock().unwrap()).is_empty());
    }
}
