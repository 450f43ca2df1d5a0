//! Known results of the port's controller and of the congestion control.

use super::*;
use incast_egress::interval::Measure as _;
use incast_endpoint::sender::{
    Ack, AckFields, Arriving, Control, Feedback, Loss, Message, Progress,
};
use incast_testkit::{
    MarkerDriver, at, key_values, outbound, plain_ack, progress, segment, switch_port,
};
use incast_transport::{Header, Limit, Packet, PacketRef, Random, Rate, Time, tcp_flag};

const C: f64 = 1.25e9;
const RTT: Span = Span::from_us(400);
const RATE: Rate = Rate::from_gbps(10);

fn params(settings: &[(&str, &str)]) -> Params {
    let settings = key_values(settings);
    Params::read(&settings).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * b.abs()
}

// -- the port ----------------------------------------------------------------------------------

/// A port of 10 Gb/s and 400 us whose first interval is a whole one.
fn controller(settings: &[(&str, &str)]) -> Controller {
    let gains = Gains::new(&params(settings), &switch_port(RATE, RTT));
    Controller::new(gains, Time::ZERO + RTT)
}

/// How R changes in an interval with this input and queue, both as a part of what fits.
fn factor(input: f64, queue: f64) -> f64 {
    let mut port = controller(&[]);
    let bytes = C * RTT.as_secs_f64();
    port.arrives((input * bytes) as u32);
    port.advance(at(400), (queue * bytes) as u64);
    port.state().0 / (0.5 * C)
}

#[test]
fn control_vectors() {
    assert!(near(factor(0.5, 0.0), 1.2), "{}", factor(0.5, 0.0));
    assert!(near(factor(1.0, 0.25), 0.75), "{}", factor(1.0, 0.25));
    assert!(near(factor(0.0, 0.0), 1.4), "{}", factor(0.0, 0.0));
    let least = 0.01 * 1_538.0 / 400e-6;
    assert!(near(factor(1.0, 1.0) * 0.5 * C, least), "clamped to a hundredth of a packet");
    assert!(near(factor(1.0, 7.0) * 0.5 * C, least));
}

#[test]
fn an_empty_link_doubles_its_rate_in_two_rtts_up_to_the_link_rate() {
    let mut port = controller(&[("initial_rate", "0.05")]);
    let mut rates = vec![];
    for round in 1..=20 {
        port.advance(at(400 * round), 0);
        rates.push(port.state().0 / C);
    }
    assert!(near(rates[1], 0.05 * 1.4 * 1.4), "{}", rates[1]);
    assert!(near(rates[7], 0.05 * incast_transport::math::pow(1.4, 8.0)), "{}", rates[7]);
    assert_eq!(rates[19], 1.0);
    let mut bounded = controller(&[("target", "0.95")]);
    bounded.advance(at(100_000), 0);
    assert_eq!(bounded.state().0, 0.95 * C);
}

#[test]
fn the_average_rtt_rises_quickly_and_falls_slowly() {
    let after = |us: u64| {
        let mut port = controller(&[]);
        for _ in 0..10 {
            port.arrives(1_538);
            port.measures(1_538, Span::from_us(us));
        }
        port.arrives(250_000);
        port.advance(at(400), 0);
        port.state().1 * 1e6
    };
    assert!(near(after(800), 800.0), "{}", after(800));
    // R/C = 0.5, sample/d0 = 0.5: a quarter of the way.
    assert!(near(after(200), 350.0), "{}", after(200));
    assert!(near(after(400), 400.0), "{}", after(400));
}

/// A round trip longer than full buffers at all hops make it is made up.
#[test]
fn a_round_trip_that_cannot_be_is_not_believed() {
    let after = |buffer: Limit, us: u64| {
        let site = switch_port(RATE, RTT);
        let mut fabric = (*site.fabric).clone();
        (fabric.buffer, fabric.hops) = (buffer, 2);
        let site = PortSite { buffer, fabric: fabric.into(), ..site };
        let mut port = Controller::new(Gains::new(&params(&[]), &site), Time::ZERO + RTT);
        port.arrives(250_000);
        port.measures(1_538, RTT);
        port.measures(1_538, Span::from_us(us));
        port.advance(at(400), 0);
        port.state().1 * 1e6
    };
    // 100 packets of 1.23 us in each of four queues: 892 us at most.
    let packets = Limit::Packets(100);
    assert!(near(after(packets, 892), 646.0), "{}", after(packets, 892));
    assert!(near(after(packets, 893), 400.0), "{}", after(packets, 893));
    assert!(near(after(packets, 1_000_000), 400.0));
    assert!(near(after(Limit::Unlimited, 1_000_000), 500_200.0));
}

#[test]
fn intervals_are_rtts_or_slots() {
    assert_eq!(controller(&[]).state().2, RTT);
    assert_eq!(controller(&[("slot", "100us")]).state().2, Span::from_us(100));
    assert_eq!(controller(&[("slot", "10ms")]).state().2, RTT);
    // A quarter of an interval's change in a quarter of the time.
    let mut port = controller(&[("slot", "100us")]);
    port.advance(at(400), 0);
    assert!(near(port.state().0, 0.5 * C * 1.1), "{}", port.state().0 / C);
}

#[test]
fn results_do_not_depend_on_when_it_is_read() {
    let mut random = Random::new(4, 5, 6);
    let (mut patient, mut advanced) = (controller(&[]), controller(&[]));
    let (mut now, mut backlog) = (Time::ZERO, 0);
    for _ in 0..300 {
        let scale = [1_000_000, 500_000_000, 40_000_000_000][random.below(3) as usize];
        let next = now + Span(random.below(scale));
        while now < next {
            now = next.min(now + Span(random.below(90_000_000)));
            advanced.advance(now, backlog);
        }
        patient.advance(now, backlog);
        assert_eq!(format!("{:?}", patient.state()), format!("{:?}", advanced.state()));
        let bytes = random.below(200_000) as u32;
        for port in [&mut patient, &mut advanced] {
            port.arrives(bytes);
            port.measures(1_538, RTT);
        }
        backlog = random.below(2) * random.below(200_000);
    }
}

fn rate_request(rtt: u32, forward: u32, flags: u8, payload: u16) -> (Packet, Extension) {
    let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags };
    let extension = Extension::explicit(super::header(rtt, forward, 0));
    (Packet { header, ..segment(ID, 7, 0, payload) }, extension)
}

/// A port whose first interval begins then.
fn port(settings: &[(&str, &str)], from: Time) -> MarkerDriver<RcpMarker> {
    let site = switch_port(RATE, RTT);
    let marker = marker(&params(settings), &site, from);
    MarkerDriver::new(marker, site.fabric.framing, RATE).of(ID)
}

fn pass(port: &mut MarkerDriver<RcpMarker>, what: (Packet, Extension)) -> PacketRef {
    let packet = port.create(what.0);
    port.packets.extend(packet, what.1);
    port.pass(at(450), packet);
    packet
}

#[test]
fn the_least_rate_of_a_path_arrives() {
    let lowest = |hops: [&str; 3]| {
        let mut what = rate_request(0, UNLIMITED, 0, 1_448);
        for initial in hops {
            let mut port = port(&[("initial_rate", initial)], at(5_000));
            let packet = pass(&mut port, what);
            what.1 = *port.packets.extension(packet);
        }
        forward_of(&what.1)
    };
    let units = |part: f64| (part * C / 64.0) as u32;
    assert_eq!(lowest(["0.5", "0.1", "0.25"]), units(0.1));
    assert_eq!(lowest(["0.1", "0.5", "0.25"]), units(0.1));
    assert_eq!(lowest(["0.25", "0.5", "0.1"]), units(0.1));
}

#[test]
fn data_and_requests_get_the_rate_and_acks_do_not() {
    let mut port = port(&[], at(400));
    for (flags, payload, rated) in
        [(0, 1_448, true), (tcp_flag::SYN, 0, true), (tcp_flag::ACK, 0, false)]
    {
        let packet = pass(&mut port, rate_request(6_250, UNLIMITED, flags, payload));
        assert_eq!(forward_of(port.packets.extension(packet)) < UNLIMITED, rated, "{flags}");
        let informed = if rated { at(400).0 } else { 0 };
        assert_eq!(port.packets.stamps(packet).informed, informed);
    }
}

// -- the congestion control --------------------------------------------------------------------

fn control(settings: &[(&str, &str)]) -> Rcp {
    let site = switch_port(RATE, RTT);
    Rcp::new(Rule::new(&params(settings), RATE, &site.fabric), Time::ZERO)
}

fn moment(us: u64) -> Progress {
    progress(at(us), Some(RTT))
}

fn before(us: u64) -> Progress {
    progress(at(us), None)
}

fn reply(control: &mut Rcp, us: u64, reverse: u32) {
    let (packet, _) = rate_request(0, 0, tcp_flag::SYN | tcp_flag::ACK, 0);
    let extension = Extension::explicit(header(0, 0, reverse));
    let message = Message { packet: &packet, extension: &extension, informed: Time::ZERO };
    control.on_message(&message, &before(us));
}

fn acknowledge(control: &mut Rcp, us: u64, reverse: u32) {
    let extension = Extension::explicit(header(0, 0, reverse));
    control.on_ack(&Ack { ..plain_ack(&extension) }, &moment(us));
}

/// In the header's units.
fn gbps(gbps: f64) -> u32 {
    (gbps * 1e9 / 8.0 / 64.0) as u32
}

#[test]
fn no_data_leaves_before_the_first_ack() {
    let mut control = control(&[]);
    assert_eq!((Control::window(&control), control.pacing()), (0, None));
    let request = control.request(&before(0)).expect("a request");
    assert_eq!(request.extension, Extension::explicit(header(0, UNLIMITED, 0)));
    assert_eq!(request.extension.bytes(), 12);
    assert!(control.request(&before(0)).is_none(), "once");
    reply(&mut control, 400, gbps(5.0));
    assert!(control.decided());
    assert_eq!(control.pacing(), Some(Rate(5_000_000_000)));
    assert!(Control::window(&control) > 1 << 40);
    let mut packet = outbound(0, 1_448);
    control.on_send(&mut packet, &before(400));
    assert_eq!(packet.extension, Extension::explicit(header(6_250, UNLIMITED, 0)));
}

#[test]
fn acks_set_the_rate_and_losses_do_not() {
    let mut control = control(&[]);
    reply(&mut control, 400, gbps(5.0));
    acknowledge(&mut control, 800, gbps(2.5));
    assert_eq!(control.rate(), 2_499_999_744, "in units of 64 B/s, rounded down");
    control.on_loss(Loss::Fast, &moment(900));
    control.on_loss(Loss::Timeout, &moment(900));
    assert_eq!(control.rate(), 2_499_999_744);
    acknowledge(&mut control, 1_000, UNLIMITED);
    assert_eq!(control.rate(), RATE.0, "no port gave less");
    control.on_ack(&plain_ack(&Extension::None), &moment(1_100));
    assert_eq!((control.rate(), control.decided()), (RATE.0, false));
}

#[test]
fn a_lost_request_is_repeated_with_backoff() {
    let mut control = control(&[]);
    let mut times = vec![];
    for _ in 0..9 {
        let at = control.deadline();
        assert!(control.request(&progress(at, None)).is_some());
        control.on_deadline(&progress(at, None));
        assert!(control.deadline() > at);
        times.push(at.0 / 1_000_000_000);
    }
    assert_eq!(times[..5], [10, 30, 70, 150, 310]);
    assert_eq!(times[8] - times[7], 640, "at most 64 times as slowly");
    reply(&mut control, 9_000_000, gbps(1.0));
    assert_eq!(control.rate(), 1_000_000_000);
    let mut packet = outbound(0, 1_448);
    control.on_send(&mut packet, &before(9_000_000));
    assert_eq!(packet.extension, Extension::explicit(header(0, UNLIMITED, 0)), "which one it was");
}

#[test]
fn below_one_packet_per_rtt_it_sends_one_request_per_rtt() {
    let mut control = control(&[]);
    control.request(&before(0));
    reply(&mut control, 400, gbps(5.0));
    acknowledge(&mut control, 800, gbps(0.02)); // a packet lasts 615 us
    let mut requests = 0;
    for round in 0..10 {
        let at = control.deadline();
        control.on_deadline(&progress(at, Some(RTT)));
        requests += control.request(&progress(at, Some(RTT))).is_some() as u32;
        reply(
            &mut control,
            (at.0 / 1_000_000) + 10,
            if round == 9 { gbps(4.0) } else { gbps(0.02) },
        );
    }
    assert_eq!(requests, 10);
    assert_eq!(control.rate(), 4_000_000_000, "it recovers with the ACK");
    let at = control.deadline();
    control.on_deadline(&progress(at, Some(RTT)));
    assert!(control.request(&progress(at, Some(RTT))).is_none());
}

#[test]
fn the_rate_halves_every_four_rtts_without_an_ack() {
    let mut control = control(&[]);
    control.request(&before(0));
    reply(&mut control, 400, gbps(8.0));
    assert_eq!(control.deadline(), at(400 + 1_600));
    control.on_deadline(&moment(2_000));
    assert_eq!(control.rate(), 4_000_000_000);
    assert_eq!(control.deadline(), at(3_600));
    for _ in 0..200 {
        let at = control.deadline();
        control.on_deadline(&progress(at, Some(RTT)));
        assert!(control.deadline() > at);
    }
    assert_eq!(control.rate(), 307_600, "a hundredth of a packet a round trip");
}

#[test]
fn a_host_may_begin_at_the_rate_it_learned_last() {
    let site = switch_port(RATE, RTT);
    let rule = Rule::new(&params(&[("first_rtt_rate", "true")]), RATE, &site.fabric);
    let mut first = Rcp::new(rule.clone(), Time::ZERO);
    assert!(first.request(&before(0)).is_some(), "nothing is known yet");
    reply(&mut first, 400, gbps(5.0));
    let mut second = Rcp::new(rule, at(500));
    assert!(second.request(&before(500)).is_none());
    assert_eq!(second.pacing(), Some(Rate(5_000_000_000)));
}

#[test]
fn acks_return_the_rate_of_the_switches() {
    let (packet, extension) = rate_request(6_250, 123_456, 0, 1_448);
    let arriving = Arriving {
        now: at(1),
        offset: 0,
        packet: &packet,
        extension: &extension,
        informed: Time::ZERO,
        new: true,
    };
    let expected = Extension::explicit(header(0, 0, 123_456));
    let mut ack = AckFields::default();
    assert!(Returning.on_data(&arriving, &mut ack).is_none());
    assert_eq!(ack.extension, expected);
    let mut ack = AckFields::default();
    Returning.on_request(&arriving, &mut ack);
    assert_eq!(ack.extension, expected);
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("slot", "0s"),
        ("rtt_initial", "0us"),
        ("rto_min", "0s"),
        ("rto_initial", "0s"),
        ("patience", "0"),
        ("alpha", "0"),
        ("target", "1.1"),
        ("initial_rate", "0"),
        ("init_rate_fact", "0.05"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    assert!(read("slot", "0s").unwrap_err().problem().contains("more than 0"));
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
}
