//! Known results of the port and of the congestion control.

use super::*;
use incast_endpoint::sender::{Ack, AckFields, Arriving, Control, Feedback, Loss, Progress};
use incast_testkit::{
    MarkerDriver, at, key_values, outbound, plain_ack, progress, segment, switch_port,
};
use incast_transport::TransportId;
use incast_transport::{Extension, Packet, PacketRef, Rate, Span};

const RTT: Span = Span::from_us(100);
const RATE: Rate = Rate::from_gbps(10);

fn params(settings: &[(&str, &str)]) -> Params {
    let settings = key_values(settings);
    Params::read(&settings).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

// -- the port ----------------------------------------------------------------------------------

#[test]
fn codes_of_loads() {
    for (load, expected) in
        [(0.0, LOW), (0.799, LOW), (0.8, HIGH), (0.918, HIGH), (1.0, OVERLOAD), (7.0, OVERLOAD)]
    {
        assert_eq!(code(load, 0.8), expected, "{load}");
    }
}

/// A port of 10 Gb/s that offers `bytes` in its first interval of 100 us.
fn loaded(bytes: u32) -> MarkerDriver<VcpMarker> {
    let site = switch_port(RATE, RTT);
    let marker = marker(&params(&[]), &site, Time::ZERO + RTT);
    let mut port = MarkerDriver::new(marker, site.fabric.framing, RATE).of(ID);
    let packet = port.create(segment(ID, 0, 0, 1_422)); // charged 1500
    for _ in 0..bytes / 1_500 {
        port.enqueue(at(1), packet, 0);
    }
    port.packets.free(packet);
    port
}

/// What leaves with this mark at the end of the interval.
fn pass(port: &mut MarkerDriver<VcpMarker>, mark: u8) -> (u8, PacketRef) {
    let packet = port.create(Packet { mark, ..segment(ID, 0, 0, 1_460) });
    port.dequeue(at(100), packet, 0);
    (port.packets[packet].mark, packet)
}

#[test]
fn the_load_is_what_arrives_by_what_the_link_should_carry() {
    // 0.9 of the link without a queue is 0.918 of 98 % of it; all of it is 1.02.
    let mut port = loaded(112_500);
    assert_eq!(pass(&mut port, LOW).0, HIGH);
    assert!(
        (port.marker.measure().load() - 0.9 / 0.98).abs() < 0.005,
        "{}",
        port.marker.measure().load()
    );
    let mut port = loaded(126_000);
    assert_eq!(pass(&mut port, LOW).0, OVERLOAD);
    assert!(
        (port.marker.measure().load() - 1.02).abs() < 0.015,
        "{}",
        port.marker.measure().load()
    );
}

#[test]
fn a_code_never_falls_along_the_path() {
    for (bytes, own) in [(0, LOW), (112_500, HIGH), (126_000, OVERLOAD)] {
        for brought in [LOW, HIGH, OVERLOAD] {
            let mut port = loaded(bytes);
            let (mark, packet) = pass(&mut port, brought);
            assert_eq!(mark, own.max(brought));
            let informed = Time(port.packets.stamps(packet).informed);
            assert_eq!(informed > Time::ZERO, own >= brought, "{own} after {brought}");
        }
    }
}

#[test]
fn refused_packets_and_others_packets_are_load_and_stay_as_they_are() {
    let mut port = loaded(112_500);
    let foreign = port.create(segment(TransportId(1), 1, 0, 1_422));
    let ack = port.create(segment(ID, 1, 0, 0));
    for _ in 0..8 {
        port.refuse(at(2), foreign, 0);
    }
    for packet in [foreign, ack] {
        assert!(!port.dequeue(at(100), packet, 0));
        assert_eq!(port.packets[packet].mark, 0);
    }
    let load = port.marker.measure().load();
    assert!((load - 124_500.0 / 122_500.0).abs() < 0.005, "{load}");
}

// -- the congestion control --------------------------------------------------------------------

fn control(settings: &[(&str, &str)]) -> Vcp {
    Vcp::new(&params(settings), &switch_port(RATE, RTT).fabric, incast_testkit::MSS)
}

fn moment(us: u64, rtt: Span) -> Progress {
    progress(at(us), Some(rtt))
}

fn acknowledge(control: &mut Vcp, us: u64, code: u8) {
    control.on_ack(&Ack { nibble: code, ..plain_ack(&Extension::None) }, &moment(us, RTT));
}

/// A window's ACKs with this code.
fn round(control: &mut Vcp, us: u64, code: u8) {
    (0..control.packets().round() as u32).for_each(|_| acknowledge(control, us, code));
}

#[test]
fn one_rtt_multiplies_adds_or_cuts() {
    let mut control = control(&[("initial_window", "160")]);
    round(&mut control, 1, LOW);
    assert!(near(control.packets(), 170.0), "6.25 %: {}", control.packets());
    round(&mut control, 2, HIGH);
    assert!((control.packets() - 171.0).abs() < 0.01, "{}", control.packets());
    let before = control.packets();
    acknowledge(&mut control, 3, OVERLOAD);
    assert!(near(control.packets(), before * 0.875));
}

/// With packets of 312 B as the unit a round adds 312 B, and pacing spaces packets of 390 B.
#[test]
fn a_window_in_packets_grows_by_one_of_them() {
    let fabric = &switch_port(RATE, RTT).fabric;
    let mut control = Vcp::new(&params(&[("initial_window", "40")]), fabric, 312);
    let before = control.window();
    assert_eq!(before, 40 * 312);
    round(&mut control, 1, HIGH);
    let grown = control.window() - before;
    assert!((308..=312).contains(&grown), "{grown}");
    let bits = control.packets() * (312.0 + 40.0 + 38.0) * 8.0;
    let rate = control.pacing().expect("paced").0 as f64;
    assert!((rate * RTT.as_secs_f64() / bits - 1.0).abs() < 1e-6, "{rate}");
}

#[test]
fn windows_double_in_a_dozen_rtts() {
    // 1.0625 to the 11.4th is 2; in whole packets a little more or less.
    let mut control = control(&[("initial_window", "100")]);
    (0..11).for_each(|_| round(&mut control, 1, LOW));
    assert!((control.packets() / 100.0 - 1.948).abs() < 0.01, "{}", control.packets());
}

#[test]
fn a_cut_is_followed_by_a_frozen_interval_and_one_rtt_of_slow_growth() {
    let mut control = control(&[("initial_window", "100")]);
    acknowledge(&mut control, 1_000, OVERLOAD);
    assert_eq!(control.packets(), 87.5);
    acknowledge(&mut control, 1_099, OVERLOAD);
    assert_eq!(control.packets(), 87.5, "frozen");
    acknowledge(&mut control, 1_100, OVERLOAD);
    assert!(near(control.packets(), 87.5 + 1.0 / 87.5), "additive");
    let held = control.packets();
    acknowledge(&mut control, 1_200, OVERLOAD);
    assert!(near(control.packets(), held * 0.875), "once in t_rho and a round trip");
    (0..10_000).for_each(|k| acknowledge(&mut control, 2_000 + 200 * k, OVERLOAD));
    assert_eq!(control.packets(), 1.0, "never below a packet");
}

#[test]
fn steps_scale_with_longer_rtts() {
    // Twice the interval: (1 + xi)^2 and four packets; ten times: 2.5 and 5 at most.
    let grown = |rtt_us: u64, code| {
        let mut control = control(&[("initial_window", "100")]);
        let ack = Ack { nibble: code, ..plain_ack(&Extension::None) };
        control.on_ack(&ack, &moment(1, Span::from_us(rtt_us)));
        control.packets() - 100.0
    };
    let off = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(off(grown(200, LOW), 1.0625 * 1.0625 - 1.0));
    assert!(off(grown(1_000, LOW), incast_transport::math::pow(1.0625, 2.5) - 1.0));
    assert!(off(grown(50, LOW), incast_transport::math::pow(1.0625, 0.5) - 1.0));
    assert!(off(grown(200, HIGH), 4.0 / 100.0));
    assert!(off(grown(1_000, HIGH), 25.0 / 100.0));
    assert!(off(grown(10, HIGH), 0.04 / 100.0));
}

#[test]
fn only_new_acks_outside_of_recovery_count() {
    let mut control = control(&[("initial_window", "100")]);
    let acknowledge = |control: &mut Vcp, bytes, recovering| {
        let ack = Ack { nibble: OVERLOAD, bytes, ..plain_ack(&Extension::None) };
        control.on_ack(&ack, &Progress { recovering, ..moment(1, RTT) });
        (control.packets(), control.decided())
    };
    assert_eq!(acknowledge(&mut control, 0, false), (100.0, false));
    assert_eq!(acknowledge(&mut control, 1_460, true), (100.0, false));
    assert_eq!(acknowledge(&mut control, 1_460, false), (87.5, true));
}

#[test]
fn losses_halve_and_timeouts_begin_with_a_packet() {
    let mut control = control(&[("initial_window", "64")]);
    control.on_loss(Loss::Fast, &moment(1, RTT));
    assert_eq!(Control::window(&control), 32 * 1_460);
    control.on_loss(Loss::Timeout, &moment(1, RTT));
    assert_eq!(Control::window(&control), 1_460);
    control.on_loss(Loss::Fast, &moment(1, RTT));
    assert_eq!(Control::window(&control), 1_460);
}

#[test]
fn an_unlimited_window_stays_finite() {
    let mut control = control(&[("initial_window", "1000"), ("increase", "1")]);
    (0..1_100_000).for_each(|_| acknowledge(&mut control, 1, LOW));
    assert_eq!(control.packets(), 1_048_576.0);
}

#[test]
fn packets_are_paced_over_the_rtt() {
    let mut spread = control(&[("initial_window", "100")]);
    assert_eq!(spread.pacing(), None, "the first window leaves at once");
    let mut packet = outbound(0, 1_460);
    spread.on_send(&mut packet, &progress(at(1), None));
    acknowledge(&mut spread, 1, 0);
    assert_eq!(spread.pacing(), Some(Rate(12_304_000_000)));
    let mut bursts = control(&[("pacing", "false")]);
    acknowledge(&mut bursts, 1, 0);
    assert_eq!(bursts.pacing(), None);
}

#[test]
fn acks_carry_the_code_in_their_header() {
    let packet = Packet { mark: OVERLOAD, ..segment(ID, 7, 0, 1_460) };
    let mut ack = AckFields::default();
    let arriving = Arriving {
        now: at(1),
        offset: 0,
        packet: &packet,
        extension: &Extension::None,
        informed: Time::ZERO,
        new: true,
    };
    assert!(Copying.on_data(&arriving, &mut ack).is_none());
    assert_eq!((ack.nibble, ack.mark), (OVERLOAD, 0));
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("interval", "0s"),
        ("interval_min", "0us"),
        ("sample", "0ps"),
        ("rto_min", "0s"),
        ("rto_initial", "0s"),
        ("increase", "0"),
        ("decrease", "1.5"),
        ("target", "2"),
        ("t_rho", "1ms"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    assert!(read("interval", "0s").unwrap_err().problem().contains("more than 0"));
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
    let interval = |us| params(&[]).interval_on(&switch_port(RATE, Span::from_us(us)).fabric);
    assert_eq!((interval(20), interval(400)), (RTT, Span::from_us(400)));
}
