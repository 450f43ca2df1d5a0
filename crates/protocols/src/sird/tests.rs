//! Known results of loops, sources and destinations.

use super::headers::{SCHEDULED, UNSCHEDULED};
use super::headers::{Scheduled, Unscheduled};
use super::*;
use incast_testkit::{Driver, MSS, fabric_site, flow, us};
use incast_transport::{HostId, data_flag};
use incast_transport::{Rate, Span};

const RTT: Span = Span::from_us(20);
/// Of a full packet, at 10 Gb/s: 17 are a BDP.
const SLOT: Span = Span(1_230_400);
const FULL: u64 = 1_538;

fn driver(settings: &[(&str, &str)], id: u32) -> Driver {
    Driver::of(&ENTRY, settings, &fabric_site(40, Rate::from_gbps(10), RTT), id)
}

fn law(grows_on_marks: bool) -> Law {
    Law {
        bdp: 100_000.0,
        packet: 1_538.0,
        gain: 0.08,
        host_least: 0.1,
        net_least: 0.03,
        grows_on_marks,
    }
}

fn near(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within, "{a} is not {b}");
}

#[test]
fn the_first_cut_is_four_percent_and_a_window_adds_a_packet() {
    let law = law(false);
    let mut share = Share::new(&law);
    // The first window is one packet; a cut needs 65.02 packets.
    (0..65).for_each(|_| share.arrived(&law, true, false));
    assert_eq!((share.most(), share.ratios()), (100_000.0, (0.08, 0.0)));
    share.arrived(&law, true, false);
    near(share.most(), 96_000.0, 1e-6);
    let before = share.most();
    let window = before / law.packet;
    (0..window as u32).for_each(|_| share.arrived(&law, false, false));
    near(share.most() - before, law.packet * window.floor() / window, 30.0);
    // The two loops are alike, but for their least bound.
    for (net, least) in [(true, 3_000.0), (false, 10_000.0)] {
        let mut share = Share::new(&law);
        (0..20_000).for_each(|_| share.arrived(&law, net, !net));
        near(share.most(), least, 1e-6);
        let ratios = share.ratios();
        near(if net { ratios.0 } else { ratios.1 }, 1.0, 1e-3);
        assert!(!share.is_new(&law));
    }
}

/// With growth on marked packets too, an increase of 1.5 packets per cut is a cut of `bound ratio / 2`: a bound of
/// three packets over the ratio. Everything marked leaves three packets or the least bound.
#[test]
fn marked_packets_raise_the_bound_as_in_the_authors_code() {
    let grown = |grows: bool| {
        let law = law(grows);
        let mut share = Share::new(&law);
        (0..65).for_each(|_| share.arrived(&law, true, false));
        share.arrived(&law, true, false);
        share.most()
    };
    near(grown(true) - grown(false), 0.96 * 1_538.0 * 1_538.0 / 100_000.0, 1e-6);
    let law = law(true);
    let mut share = Share::new(&law);
    let mut sum = 0.0;
    for packet in 0..40_000 {
        // One packet of ten.
        share.arrived(&law, packet % 10 == 0, false);
        sum += if packet >= 20_000 { share.most() / 20_000.0 } else { 0.0 };
    }
    // A cut comes with a mark, so up to nine packets later than it may.
    let equilibrium = 3.0 * 1_538.0 / 0.1;
    assert!((1.0..1.15).contains(&(sum / equilibrium)), "{sum}, {equilibrium}");
}

#[test]
fn a_short_message_leaves_at_once_and_a_long_one_asks() {
    let mut host = driver(&[], 0);
    host.open(Time::ZERO, &flow(3, 0, 1, 16 * MSS + 1, Time::ZERO));
    let sent = host.drain(Time::ZERO);
    assert_eq!(sent.len(), 17);
    for (seq, packet) in sent.iter().enumerate() {
        let read = Unscheduled::read(&packet.header).expect("unscheduled");
        assert_eq!((read.packet, read.lengths), (seq as u32, 17 << 12 | 17));
        assert!(packet.class == UNSCHEDULED && !read.congested && read.last == (seq == 16));
    }
    // Another one to the same host: the credit is there already, but for one packet.
    host.open(Time::ZERO, &flow(4, 0, 1, 17 * MSS, Time::ZERO));
    assert_eq!(host.drain(Time::ZERO).len(), 17, "what was sent is no credit in hand");
    host.open(Time::ZERO, &flow(5, 0, 1, 18 * MSS, Time::ZERO));
    let asked = host.drain(Time::ZERO);
    let request = Request { packets: 18, bytes_low: 18 * MSS as u32, bytes_high: 0 };
    assert_eq!(asked.iter().map(|p| Request::read(&p.header)).collect::<Vec<_>>(), [Some(request)]);
    let credit = Credit { number: 1, worth: FULL as u32 };
    let credit = Packet::header_only(ID, FlowId(5), HostId(1), HostId(0), CONTROL, credit);
    host.receive(Time(1), credit);
    let sent = host.drain(Time(1));
    let data = Scheduled { packet: 0, offset: 0, last: false, congested: false };
    assert_eq!(sent.iter().map(|p| Scheduled::read(&p.header)).collect::<Vec<_>>(), [Some(data)]);
    assert_eq!(sent[0].class, SCHEDULED);
}

fn request(id: u32, from: u32, packets: u32) -> Packet {
    let header = Request { packets, bytes_low: packets * MSS as u32, bytes_high: 0 };
    Packet::header_only(ID, FlowId(id), HostId(from), HostId(0), CONTROL, header)
}

/// Whom credits went to, and when.
fn credits(sent: &[(Time, Packet)]) -> Vec<(u64, u32)> {
    let credit =
        |(at, packet): &(Time, Packet)| Credit::read(&packet.header).map(|_| (at.0, packet.flow.0));
    sent.iter().filter_map(credit).collect()
}

#[test]
fn a_destination_gives_a_bdp_to_one_source_and_one_and_a_half_to_all() {
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 100));
    let sent = credits(&host.run(Time::ZERO + us(59)));
    // A credit a packet time.
    assert_eq!(sent, (0..17).map(|slot| (slot * SLOT.0, 0)).collect::<Vec<_>>());
    host.receive(Time::ZERO + us(59), request(1, 2, 50));
    let sent = credits(&host.run(Time::ZERO + us(59) + SLOT * 12));
    assert_eq!(sent.len(), 8, "25.5 packets in all: {sent:?}");
    // The shorter one is served first where both may be.
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 100));
    host.receive(Time::ZERO, request(1, 2, 50));
    let sent = credits(&host.run(Time::ZERO + us(50)));
    let order: Vec<u32> = sent.iter().map(|(_, flow)| *flow).collect();
    assert_eq!(order, [[1; 17].as_slice(), &[0; 8]].concat());
}

fn data(id: u32, from: u32, seq: u32, lengths: Option<(u32, u32)>) -> Packet {
    let offset = seq * MSS as u32;
    let header: incast_transport::Header = match lengths {
        Some((packets, own)) => {
            let (lengths, last) = (packets << 12 | own, seq + 1 == packets);
            Unscheduled { packet: seq, offset, lengths, last, congested: false }.into()
        }
        None => Scheduled { packet: seq, offset, last: false, congested: false }.into(),
    };
    let packet = Packet::header_only(ID, FlowId(id), HostId(from), HostId(0), SCHEDULED, header);
    Packet { payload: MSS as u16, ..packet }
}

#[test]
fn unscheduled_messages_overdraw_the_budget() {
    let mut host = driver(&[], 0);
    for from in 1..4 {
        host.receive(Time::ZERO, data(from, from, 0, Some((17, 17))));
    }
    host.receive(Time::ZERO, request(9, 9, 100));
    // 51 packets were taken, 3 have come; the budget is 25.5.
    let still = |host: &mut Driver, now: u64| credits(&host.run(Time(now))).len();
    assert_eq!(still(&mut host, 1_000_000), 0);
    let mut now = 2_000_000;
    for seq in 1..9 {
        for from in 1..4 {
            host.receive(Time(now), data(from, from, seq, Some((17, 17))));
            now += SLOT.0;
        }
    }
    // 24 are under way: one more may be.
    assert_eq!(still(&mut host, now + 3 * SLOT.0), 1);
}

#[test]
fn each_packet_brings_a_credit() {
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 100));
    assert_eq!(credits(&host.run(Time::ZERO + us(40))).len(), 17);
    let mut now = Time::ZERO + us(40);
    for seq in 0..40 {
        now += SLOT;
        host.receive(now, data(0, 1, seq, None));
        let sent = credits(&host.run(now));
        assert_eq!(sent, [(now.0, 0)]);
    }
}

#[test]
fn credit_that_brings_nothing_is_given_again_for_what_is_missing() {
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 20));
    host.run(Time::ZERO + us(25));
    let now = Time::ZERO + us(26);
    for seq in [0, 1, 3, 4] {
        host.receive(now, data(0, 1, seq, None));
    }
    // The last three are credited in the next slots; then nothing comes for three round trips.
    assert_eq!(credits(&host.run(now + us(10))).len(), 3);
    let last = now + SLOT * 2;
    let sent = host.run(last + us(90));
    let asked: Vec<(u32, u32)> = sent
        .iter()
        .filter_map(|(_, packet)| Resend::read(&packet.header))
        .map(|resend| (resend.packet, resend.worth))
        .collect();
    assert_eq!(asked[..2], [(2, FULL as u32), (5, FULL as u32)]);
    assert_eq!(asked.len(), 16);
    let first = sent[0].0;
    assert!((last + us(60)..=last + us(61)).contains(&first), "{first}, {last}");
    // One that was late and not lost is not charged twice.
    host.receive(last + us(91), data(0, 1, 2, None));
    host.receive(last + us(91), data(0, 1, 2, None));
}

#[test]
fn a_source_with_credit_of_two_destinations_says_that_it_is_congested() {
    let congested = |settings: &[(&str, &str)], destinations: u32| {
        let mut host = driver(settings, 0);
        for id in 0..2 {
            let dst = 1 + id % destinations;
            host.open(Time::ZERO, &flow(id, 0, dst, 100 * MSS, Time::ZERO));
        }
        host.drain(Time::ZERO);
        for id in [0, 1] {
            let from = HostId(1 + id % destinations);
            let header = Credit { number: 1, worth: FULL as u32 };
            let credit = Packet::header_only(ID, FlowId(id), from, HostId(0), CONTROL, header);
            (0..7).for_each(|_| host.receive(Time(1), credit));
        }
        let sent = host.drain(Time(1));
        assert_eq!(sent.len(), 14);
        let read = |packet: &Packet| Scheduled::read(&packet.header).unwrap().congested;
        sent.iter().filter(|packet| read(packet)).count()
    };
    // More than 8.5 packets of credit are left after each of the first five.
    assert_eq!(congested(&[], 2), 5);
    assert_eq!(congested(&[], 1), 0);
    assert_eq!(congested(&[("busy", "messages")], 1), 5);
    assert_eq!(congested(&[("sender_threshold", "0")], 2), 13);
}

/// Half of the link goes to the destination with the least to send, half is shared.
#[test]
fn half_of_the_link_is_for_the_shortest() {
    let mut host = driver(&[], 0);
    for (id, packets) in [(0, 1_000), (1, 900), (2, 800)] {
        host.open(Time::ZERO, &flow(id, 0, 1 + id, packets * MSS, Time::ZERO));
    }
    host.drain(Time::ZERO);
    for id in 0..3 {
        let header = Credit { number: 1, worth: FULL as u32 };
        let credit =
            Packet::header_only(ID, FlowId(id), HostId(1 + id), HostId(0), CONTROL, header);
        (0..300).for_each(|_| host.receive(Time(1), credit));
    }
    let mut counts = [0; 3];
    (0..300).for_each(|_| counts[host.transmit(Time(1)).unwrap().flow.0 as usize] += 1);
    assert_eq!(counts, [50, 50, 200]);
}

#[test]
fn a_message_of_which_nothing_is_heard_asks_again() {
    let mut host = driver(&[], 0);
    host.open(Time::ZERO, &flow(0, 0, 1, 3 * MSS, Time::ZERO));
    assert_eq!(host.drain(Time::ZERO).len(), 3);
    let sent = host.run(Time::ZERO + us(200));
    assert_eq!(sent.len(), 2, "after 60 and 180 us");
    let again = |(_, packet): &(Time, Packet)| Request::read(&packet.header).is_some();
    assert!(sent.iter().all(again));
    assert!(sent[1].1.has(incast_transport::flag::RETRANSMIT));
    // It is a requested one now, and begins with its first packet.
    let header = Credit { number: 1, worth: FULL as u32 };
    let credit = Packet::header_only(ID, FlowId(0), HostId(1), HostId(0), CONTROL, header);
    host.receive(Time::ZERO + us(201), credit);
    let packet = host.transmit(Time::ZERO + us(201)).expect("a credit came");
    assert_eq!(Scheduled::read(&packet.header).unwrap().packet, 0);
    assert!(packet.has(incast_transport::flag::RETRANSMIT));
    let finish = Packet::header_only(ID, FlowId(0), HostId(1), HostId(0), CONTROL, Finish {});
    host.receive(Time::ZERO + us(202), finish);
    assert_eq!(host.host.open_flows(), 0);
}

/// A shorter message takes the credit of a longer one, which then gets that of the shorter one.
#[test]
fn credit_follows_the_shorter_message_and_comes_back() {
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 30));
    assert_eq!(credits(&host.run(Time::ZERO + us(30))).len(), 17);
    host.receive(Time::ZERO + us(30), request(1, 1, 20));
    assert!(host.run(Time::ZERO + us(30)).is_empty(), "its source holds a BDP");
    let mut now = Time::ZERO + us(30);
    for seq in 0..17 {
        now += SLOT;
        host.receive(now, data(1, 1, seq, None));
        assert_eq!(credits(&host.run(now)), [(now.0, 1)]);
    }
    let mut last = data(1, 1, 19, None);
    for seq in [17, 18, 19] {
        now += SLOT;
        let packet = if seq == 19 {
            let header =
                Scheduled { packet: 19, offset: 19 * MSS as u32, last: true, congested: false };
            last.header = header.into();
            last
        } else {
            data(1, 1, seq, None)
        };
        host.receive(now, packet);
        let sent = host.run(now);
        let of: Vec<u32> = credits(&sent).iter().map(|(_, flow)| *flow).collect();
        assert_eq!(of, [1], "packet {seq}");
    }
    // All 20 were credited: only the longer one is left.
    assert_eq!(host.host.open_flows(), 1);
}

/// Credit is taken back by message and used by whichever message comes first: here the longer one's credit is
/// taken back while the shorter one uses it, so that the source is charged for a BDP that it does not have.
#[test]
fn a_source_that_asks_after_a_silence_holds_nothing() {
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 30));
    let last = credits(&host.run(Time::ZERO + us(30))).last().expect("a BDP").0;
    host.receive(Time::ZERO + us(30), request(1, 1, 18));
    // Nothing came for three round trips: the BDP is taken back, and the shorter message has the first slot.
    let now = Time(last) + us(60);
    assert_eq!(credits(&host.run(now)), [(now.0, 1)]);
    // It arrives in this slot, sent with the other's credit; then it is given what it owes.
    for seq in 0..18 {
        let mut packet = data(1, 1, seq, None);
        let header =
            Scheduled { packet: seq, offset: seq * MSS as u32, last: seq == 17, congested: false };
        packet.header = header.into();
        host.receive(now + Span(1), packet);
    }
    let owed = host.run(now + SLOT * 17);
    assert_eq!(credits(&owed).iter().filter(|(_, flow)| *flow == 1).count(), 17);
    // With that its source sends what the longer message was credited.
    let mut at = now + SLOT * 17;
    for seq in 0..17 {
        host.receive(at, data(0, 1, seq, None));
    }
    assert!(host.run(at + us(50)).is_empty(), "charged for a BDP");
    at += us(50);
    host.receive(at, request(0, 1, 30));
    assert!(host.run(at + us(10)).is_empty(), "it may have credit still");
    at += us(10);
    host.receive(at, request(0, 1, 30));
    assert_eq!(credits(&host.run(at + us(30))).len(), 13);
}

#[test]
fn forged_packets_change_nothing_of_others() {
    let mut host = driver(&[], 0);
    host.receive(Time::ZERO, request(0, 1, 100));
    host.run(Time::ZERO + us(40));
    let mut forged = data(0, 2, 5, None);
    host.receive(Time::ZERO + us(41), forged);
    forged.header =
        incast_transport::Header::Data { seq: 5, offset: 0, tag: 0, flags: data_flag::UNSCHEDULED };
    host.receive(Time::ZERO + us(41), forged);
    assert!(credits(&host.run(Time::ZERO + us(45))).is_empty());
}

#[test]
fn values_that_do_not_fit_are_refused() {
    use incast_transport::Transport;
    let fabric = fabric_site(4, Rate::from_gbps(10), RTT);
    let refused = |key: &str, value: &str| {
        let pairs = incast_testkit::key_values(&[(key, value)]);
        let error = ENTRY.configure(&pairs, fabric.clone()).err().expect("refused");
        assert_eq!(error.key(), Some(key));
        error.to_string()
    };
    assert!(refused("bdp", "1000B").contains("a full packet as links charge it"));
    assert!(refused("budget", "0.5").contains("1 to 1000 BDPs"));
    assert!(refused("gain", "0").contains("more than 0, at most 1"));
    assert!(refused("busy", "hosts").contains("destinations, messages"));
}

/// A packet that is sent again takes the credit that another message gave itself: that one asks.
#[test]
fn a_message_whose_credit_another_one_used_asks() {
    let mut host = driver(&[], 0);
    host.open(Time::ZERO, &flow(0, 0, 1, 2 * MSS, Time::ZERO));
    host.drain(Time::ZERO);
    // No credit comes with it.
    let resend = Resend { packet: 0, worth: 0 };
    let resend = Packet::header_only(ID, FlowId(0), HostId(1), HostId(0), CONTROL, resend);
    host.receive(Time(1), resend);
    host.open(Time(2), &flow(1, 0, 1, MSS, Time(2)));
    let sent: Vec<u32> = host.drain(Time(2)).iter().map(|packet| packet.flow.0).collect();
    assert_eq!(sent, [0]);
    let asked = host.run(Time(2) + us(60));
    let flows: Vec<u32> = asked.iter().map(|(_, packet)| packet.flow.0).collect();
    assert!(flows.contains(&1) && Request::read(&asked[0].1.header).is_some(), "{asked:?}");
}
