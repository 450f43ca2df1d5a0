//! Known results of the port's controllers and of the congestion control.

use super::*;
use incast_egress::interval::Measure as _;
use incast_endpoint::sender::{AckFields, Control, Feedback, Loss};
use incast_testkit::{
    MarkerDriver, at, key_values, outbound, plain_ack, progress, segment, switch_port,
};
use incast_transport::{Framing, Marker, PacketRef, Random, Rate, Time};

const C: f64 = 1.25e9;
const RTT: Span = Span::from_us(400);

fn gains(settings: &[(&str, &str)]) -> Gains {
    let settings = key_values(settings);
    Gains::new(&Params::read(&settings).unwrap(), &switch_port(Rate::from_gbps(10), RTT))
}

/// A port of 10 Gb/s and 400 us whose first interval is a whole one.
fn controller() -> Controller {
    Controller::new(gains(&[]), Time::ZERO + RTT)
}

/// One interval's arrivals: `rate` bytes a second in packets of 1500 of one flow.
fn feed(controller: &mut Controller, rate: f64) {
    let packets = (rate * RTT.as_secs_f64() / 1_500.0).round() as u32;
    for _ in 0..packets {
        controller.arrives(1_500);
        controller.measures(RTT, RTT.as_secs_f64() / packets as f64);
    }
}

fn near(a: f64, b: f64, part: f64) -> bool {
    (a - b).abs() <= part * b.abs()
}

#[test]
fn half_a_link_is_given_two_fifths_of_what_is_free() {
    let mut port = controller();
    feed(&mut port, 0.5 * C); // 166.7 packets
    port.advance(at(400), 0);
    let (give, take) = port.residues();
    assert!(near(give, 2.5e8, 0.005), "P = {give}");
    assert_eq!(take, 0.0);
    let spacing = RTT.as_secs_f64() / 167.0;
    let one = port.grants(1_500, spacing, f64::INFINITY).unwrap();
    assert!(near(one, 1.5e6, 0.005), "{one}");
    let rest: f64 = (1..167).map(|_| port.grants(1_500, spacing, f64::INFINITY).unwrap()).sum();
    assert!(near(one + rest, 2.5e8, 0.005), "{}", one + rest);
    // An RTT's ACKs widen the window by 100 KB.
    assert!(near((one + rest) * RTT.as_secs_f64(), 100e3, 0.005));
    // Nothing is left to give.
    assert!(port.residues().0 < 1.0);
    assert!(port.grants(1_500, spacing, f64::INFINITY).unwrap() < 1.0);
}

#[test]
fn a_full_link_is_only_shuffled() {
    let mut port = controller();
    feed(&mut port, C);
    port.advance(at(400), 0);
    let (give, take) = port.residues();
    assert!(near(give, 1.25e8, 0.01) && near(take, 1.25e8, 0.01), "{give} {take}");
}

#[test]
fn shuffling_takes_a_twentieth_from_one_and_gives_it_to_the_other() {
    // Flows with rates (C, 0): the second's few packets stand for as much time as the first's many.
    let mut port = controller();
    let (many, few) = (333, 1);
    let spacing = |packets: u32| RTT.as_secs_f64() / packets as f64;
    for packets in [many, few] {
        for _ in 0..packets {
            port.arrives(1_500);
            port.measures(RTT, spacing(packets));
        }
    }
    port.advance(at(400), 0);
    let mut change = |packets: u32| -> f64 {
        (0..packets).map(|_| port.grants(1_500, spacing(packets), f64::INFINITY).unwrap()).sum()
    };
    let (rich, poor) = (change(many), change(few));
    assert!(near(rich, -0.05 * C, 0.03), "{rich}");
    assert!(near(poor, 0.05 * C, 0.03), "{poor}");
}

#[test]
fn a_standing_queue_is_drained() {
    // Q = C d / 10 for as long as it takes to be persistent: two renewals of 180 us.
    let mut port = controller();
    port.departs(50_000);
    port.advance(at(400), 50_000);
    feed(&mut port, C);
    port.departs(50_000);
    port.advance(at(800), 50_000);
    assert_eq!(port.state().2, 50_000);
    let (give, take) = port.residues();
    let (spare, shuffled) = (0.226 * 1.25e8, 1.25e8 - 0.226 * 1.25e8);
    assert!(near(give, shuffled, 0.01), "{give}"); // 9.7e7
    assert!(near(take, spare + shuffled, 0.01), "{take}");
}

#[test]
fn the_gap_between_two_flows_shrinks_by_a_tenth_an_interval() {
    let mut port = controller();
    let mut rates = [0.99 * C, 0.01 * C];
    let gap = |rates: [f64; 2]| (rates[0] - rates[1]) / (rates[0] + rates[1]);
    let mut gaps = vec![];
    for interval in 1..=22 {
        let spacing = rates.map(|rate| 1_500.0 / rate);
        let packets = rates.map(|rate| (rate * RTT.as_secs_f64() / 1_500.0).round() as u32);
        for (spacing, packets) in spacing.iter().zip(packets) {
            (0..packets).for_each(|_| port.arrives(1_500));
            (0..packets).for_each(|_| port.measures(RTT, *spacing));
        }
        port.advance(at(400 * interval), 0);
        for flow in [1, 0] {
            for _ in 0..packets[flow] {
                rates[flow] += port.grants(1_500, spacing[flow], f64::INFINITY).unwrap();
            }
        }
        gaps.push(gap(rates) / 0.98);
    }
    assert!((0.15..=0.23).contains(&gaps[15]), "16 intervals: {}", gaps[15]);
    assert!((0.07..=0.13).contains(&gaps[21]), "22 intervals: {}", gaps[21]);
}

#[test]
fn residues_bound_what_is_given_and_are_never_negative() {
    let mut random = Random::new(3, 1, 4);
    let mut port = controller();
    let mut now = Time::ZERO;
    for _ in 0..300 {
        for _ in 0..random.below(400) {
            port.arrives(60 + random.below(1_479) as u32);
            port.measures(RTT, random.unit() * 1e-4);
        }
        now += RTT * 2;
        let backlog = random.below(300_000);
        port.departs(backlog / 3);
        port.advance(now, backlog);
        let (give, take) = port.residues();
        let (mut given, mut taken) = (0.0, 0.0);
        for _ in 0..600 {
            let granted = (random.unit() - 0.3) * 4e6;
            let feedback = port.grants(1_500, random.unit() * 1e-4, granted);
            if let Some(feedback) = feedback {
                assert!(feedback <= granted, "it never grows along the path");
                given += feedback.max(0.0);
                taken += (-feedback).max(0.0);
            }
            let (give, take) = port.residues();
            assert!(give >= 0.0 && take >= 0.0 && give.is_finite() && take.is_finite());
        }
        assert!(given <= give * 1.000_001 && taken <= take * 1.000_001);
    }
}

#[test]
fn the_least_of_two_hops_counts_and_only_the_later_one_knows() {
    let busy = || {
        let mut port = controller();
        feed(&mut port, 0.9 * C);
        port.advance(at(400), 0);
        port
    };
    let free = || {
        let mut port = controller();
        feed(&mut port, 0.5 * C);
        port.advance(at(400), 0);
        port
    };
    let spacing = RTT.as_secs_f64() / 167.0;
    // Free before busy: the second lowers, and the first has spent what no flow uses.
    let (mut first, mut second) = (free(), busy());
    let before = first.residues().0;
    let granted = first.grants(1_500, spacing, f64::INFINITY).unwrap();
    let lower = second.grants(1_500, spacing, granted).unwrap();
    assert!(lower < granted);
    assert!(near(before - first.residues().0, granted, 1e-6), "known inefficiency of XCP");
    // Busy before free: the second leaves it and charges only what is used.
    let (mut first, mut second) = (busy(), free());
    let granted = first.grants(1_500, spacing, f64::INFINITY).unwrap();
    let before = second.residues().0;
    assert_eq!(second.grants(1_500, spacing, granted), None);
    let charged = before - second.residues().0;
    assert!(near(charged, granted.max(0.0), 1e-6) || granted < 0.0, "{charged} of {granted}");
}

#[test]
fn idle_intervals_are_like_one_another() {
    // However long nothing comes, the state is that of a port read at every interval.
    for backlog in [0, 9_000] {
        let (mut patient, mut advanced) = (controller(), controller());
        for port in [&mut patient, &mut advanced] {
            feed(port, 0.7 * C);
            port.advance(at(400), backlog);
        }
        (5..=2_000).for_each(|k| advanced.advance(at(100 * k), backlog));
        patient.advance(at(200_000), backlog);
        assert_eq!(patient.residues(), advanced.residues());
        assert_eq!(patient.state(), advanced.state());
        assert_eq!(patient.measured(), advanced.measured());
        feed(&mut patient, C);
        feed(&mut advanced, C);
        for port in [&mut patient, &mut advanced] {
            port.advance(at(201_000), backlog);
        }
        assert_eq!(patient.residues(), advanced.residues(), "and so is what follows");
    }
}

#[test]
fn intervals_follow_the_rtt_or_the_floors_of_ns2() {
    // Two packets of 1538 B at 10 Gb/s.
    let mut port = controller();
    assert_eq!(port.state().1, RTT);
    port.arrives(1_500);
    port.measures(Span::from_us(1), 1e-6);
    port.advance(at(400), 0);
    assert_eq!(port.state().1, Span::from_ns(2 * 1_538 * 8 / 10) + Span::from_ps(800));
    // Without traffic it keeps its RTT.
    port.measures(Span::from_us(300), 1e-6);
    port.advance(at(410), 0);
    port.advance(at(90_000), 0);
    assert_eq!(port.state().1, Span::from_us(300));

    let mut port = Controller::new(gains(&[("timers", "ns2")]), Time::ZERO + Span::from_ms(50));
    assert_eq!(port.state().1, Span::from_ms(50));
    feed(&mut port, C);
    port.advance(Time::ZERO + Span::from_ms(50), 0);
    assert_eq!(port.state().1, Span::from_ms(1), "400 us are below the floor");
    port.advance(Time::ZERO + Span::from_ms(51), 0);
    assert_eq!(port.state().1, Span::from_ms(50), "an idle port forgets");

    let own = gains(&[("interval_min", "9us"), ("interval_initial", "77us")]);
    let mut port = Controller::new(own, at(77));
    assert_eq!(port.state().1, Span::from_us(77));
    port.measures(Span::from_us(1), 1e-6);
    port.advance(at(77), 0);
    assert_eq!(port.state().1, Span::from_us(9));
}

#[test]
fn long_rtts_are_capped() {
    let mut port = Controller::new(gains(&[("rtt_cap", "500us")]), Time::ZERO + RTT);
    port.measures(Span::from_ms(40), 1e-6);
    port.advance(at(400), 0);
    assert_eq!(port.state().1, Span::from_us(500));
}

type Port = MarkerDriver<XcpMarker>;

fn port() -> Port {
    let rate = Rate::from_gbps(10);
    let mut marker = marker(&Params::default(), &switch_port(rate, RTT));
    marker.begin(&mut Random::new(1, 2, 3));
    MarkerDriver::new(marker, Framing::ETHERNET, rate).of(ID)
}

fn data(port: &mut Port, rtt: u32, spacing: u32, feedback: i32) -> PacketRef {
    let packet = port.create(segment(ID, 0, 0, 1_444));
    let fields = header_of(false, rtt, spacing, feedback, 0);
    port.packets.extend(packet, Extension::explicit(fields));
    packet
}

#[test]
fn the_marker_reads_and_rewrites_headers_of_its_own() {
    let mut port = port();
    // 250 packets of 1538 B in every 400 us, 1.6 us apart: 77 % of the link.
    let (rtt, spacing) = (400_000 / 64, 1_600_000 / 64);
    let mut sum = 0;
    for k in 0..2_000 {
        let now = Time::ZERO + Span::from_ns(1_600 * k);
        let packet = data(&mut port, rtt, spacing, UNLIMITED);
        assert!(!port.enqueue(now, packet, 0));
        port.dequeue(now, packet, 0);
        let (feedback, _) = feedback_of(port.packets.extension(packet));
        assert!(feedback != UNLIMITED);
        if k >= 1_000 {
            sum += feedback as i64;
            assert!(port.packets.stamps(packet).informed > now.0 - 2 * RTT.0);
        }
        assert_eq!(port.packets.charged(packet), 1_538);
        port.packets.free(packet);
    }
    // 1000 packets are four intervals; each gives 0.4 of what is free.
    let expected = 4.0 * 0.4 * (C - 1_538.0 / 1.6e-6);
    assert!(near(sum as f64 * FEEDBACK_UNIT, expected, 0.02), "{sum} {expected}");

    // Without an RTT, ACKs, and other transports: counted, but left alone.
    let now = Time::ZERO + Span::from_ms(4);
    for packet in [
        data(&mut port, 0, 0, 0),
        port.create(segment(ID, 0, 0, 0)),
        port.create(segment(TransportId(1), 0, 0, 1_460)),
    ] {
        let (before, extension) = (port.packets[packet], *port.packets.extension(packet));
        assert!(!port.pass(now, packet));
        assert_eq!((port.packets[packet], *port.packets.extension(packet)), (before, extension));
    }
}

#[test]
fn refused_packets_are_offered_load() {
    let take = |refused: bool| {
        let mut port = port();
        let mut last = 0;
        for k in 0..2_000 {
            let now = Time::ZERO + Span::from_ns(1_230 * k);
            let packet = data(&mut port, 6_250, 20_000, UNLIMITED);
            port.pass(now, packet);
            last = feedback_of(port.packets.extension(packet)).0;
            if refused {
                let packet = data(&mut port, 6_250, 20_000, UNLIMITED);
                port.refuse(now, packet, 0);
            }
        }
        last
    };
    assert!(take(false) > take(true));
    assert!(take(true) < 0, "twice the link is offered");
}

fn control(settings: &[(&str, &str)]) -> Xcp {
    let settings = key_values(settings);
    Xcp::new(&Params::read(&settings).unwrap(), Framing::ETHERNET)
}

fn acknowledge(control: &mut Xcp, reverse: i32) {
    let extension = Extension::explicit(header_of(false, 0, 0, 0, reverse));
    control.on_ack(&plain_ack(&extension), &progress(at(9), Some(RTT)));
}

#[test]
fn the_window_follows_feedback_times_the_rtt() {
    let mut control = control(&[]);
    assert_eq!(control.charged_window(), 2.0 * 1_538.0);
    assert_eq!(Control::window(&control), 2 * 1_444);
    acknowledge(&mut control, 1_000_000); // 16 MB/s x 400 us = 6400 B
    assert!(near(control.charged_window(), 2.0 * 1_538.0 + 6_400.0, 1e-12));
    acknowledge(&mut control, -500_000);
    assert!(near(control.charged_window(), 2.0 * 1_538.0 + 3_200.0, 1e-12));
    (0..1_000).for_each(|_| acknowledge(&mut control, i32::MIN));
    assert_eq!(control.charged_window(), 1_538.0, "never below a packet");
    assert_eq!(Control::window(&control), 1_444);
}

#[test]
fn losses_halve_and_timeouts_begin_with_a_packet() {
    let mut control = control(&[("initial_window", "64")]);
    control.on_loss(Loss::Fast, &progress(at(9), Some(RTT)));
    assert_eq!(Control::window(&control), 32 * 1_444);
    control.on_loss(Loss::Timeout, &progress(at(9), Some(RTT)));
    assert_eq!(Control::window(&control), 1_444);
    control.on_loss(Loss::Fast, &progress(at(9), Some(RTT)));
    assert_eq!(Control::window(&control), 1_444);
}

#[test]
fn headers_say_how_far_apart_packets_are() {
    let mut control = control(&[("initial_window", "100")]);
    let mut send = |payload, rtt| {
        let mut packet = outbound(0, payload);
        control.on_send(&mut packet, &progress(at(9), rtt));
        packet.extension
    };
    let window =
        |rtt, spacing, feedback| Extension::explicit(header_of(false, rtt, spacing, feedback, 0));
    assert_eq!(send(1_444, None), window(0, 0, 0), "nothing is requested without an RTT");
    assert_eq!(send(1_444, Some(RTT)), window(6_250, 4_000_000 / 64, UNLIMITED));
    // A packet of 138 charged bytes of a window of 100 x 1538.
    let part = 400e6 * 138.0 / 153_800.0 / 64.0;
    assert_eq!(send(44, Some(RTT)), window(6_250, part as u32, UNLIMITED));
    assert_eq!(send(1_444, Some(Span(1))), window(1, 1, UNLIMITED), "zero means unknown");
}

#[test]
fn packets_are_paced_over_the_rtt_by_default() {
    let mut paced = control(&[("initial_window", "100")]);
    assert_eq!(paced.pacing(), None, "the first window leaves at once");
    acknowledge(&mut paced, 0);
    let rate = (153_800.0f64 * 8.0 / 400e-6) as u64;
    assert_eq!(paced.pacing(), Some(Rate(rate)));
    let mut bursts = control(&[("pacing", "false")]);
    acknowledge(&mut bursts, 0);
    assert_eq!(bursts.pacing(), None);
}

#[test]
fn delayed_acks_return_sums() {
    let mut returning = Returning { long: false };
    let of = |reverse| AckFields {
        extension: Extension::explicit(header_of(false, 0, 0, 0, reverse)),
        ..AckFields::default()
    };
    let mut last = of(-30);
    returning.join(&of(100), &mut last);
    assert_eq!(feedback_of(&last.extension), (0, 70));
    returning.join(&of(i32::MAX), &mut last);
    assert_eq!(feedback_of(&last.extension), (0, i32::MAX));
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("interval_min", "0s"),
        ("queue_interval_min", "0us"),
        ("interval_initial", "0ps"),
        ("rto_min", "0s"),
        ("rtt_cap", "2s"),
        ("header", "18"),
        ("alpha", "0.6"),
        ("timers", "ns3"),
        ("Te_min", "1ms"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    assert!(read("interval_min", "0s").unwrap_err().problem().contains("more than 0"));
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
}
