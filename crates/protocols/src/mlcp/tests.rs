//! Known results of the levels, the port and the congestion control.

use super::level::{HIGHEST, Levels};
use super::*;
use incast_endpoint::sender::{Ack, AckFields, Arriving, Control, Feedback, Loss, Progress};
use incast_testkit::{
    MarkerDriver, at, key_values, outbound, plain_ack, progress, segment, switch_port,
};
use incast_transport::{Explicit, Extension, Header, Packet, Random, Rate, Span};

const RTT: Span = Span::from_us(100);
const RATE: Rate = Rate::from_gbps(10);

fn params(settings: &[(&str, &str)]) -> Params {
    let settings = key_values(settings);
    Params::read(&settings).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

// -- levels ------------------------------------------------------------------------------------

#[test]
fn levels_of_loads() {
    let levels = Levels::new(&params(&[]));
    for (load, level) in [
        (0.0, 0),
        (0.099, 0),
        (0.101, 1),
        (0.35, 3),
        (0.799, 7),
        (0.8, 8),
        (0.899, 8),
        (0.918, 9),
        (0.999, 9),
        (1.0, 10),
        (1.04, 11),
        (1.05, 11),
        (1.08, 12),
        (1.12, 13),
        (1.16, 14),
        (1.199, 14),
        (1.2, 15),
        (1.5, 15),
        (1e9, 15),
    ] {
        assert_eq!(levels.level(load), level, "{load}");
    }
    let mut random = Random::new(1, 1, 1);
    for _ in 0..10_000 {
        let load = random.unit() * 1.4;
        let more = load + random.unit() * 0.1;
        assert!(levels.level(load) <= levels.level(more), "{load} and {more}");
        assert!(levels.level(more) <= HIGHEST);
    }
}

#[test]
fn steps_and_factors_fall_with_the_load() {
    let steps = control(&[]).steps();
    assert_eq!(steps[0], 1.0, "3.15 at a load of 0.1, but never more than doubling");
    assert!(near(steps[7], 0.0875), "{}", steps[7]);
    assert!(steps.windows(2).all(|pair| pair[1] <= pair[0]), "{steps:?}");
    // 1.0875 to the 8.3rd is 2.
    assert!((incast_transport::math::pow(1.0 + steps[7], 8.3) - 2.0).abs() < 0.01);
    let factors = Params::default().decrease.0;
    assert_eq!(factors, [0.99, 0.96, 0.93, 0.9, 0.875, 0.85]);
}

#[test]
fn classes_double() {
    for (us, expected) in
        [(0, 0), (25, 0), (26, 1), (50, 1), (51, 2), (100, 2), (1_600, 6), (1_601, 7), (90_000, 7)]
    {
        assert_eq!(class(Span::from_us(us)), expected, "{us} us");
    }
}

// -- the port ----------------------------------------------------------------------------------

/// A port of 10 Gb/s that offers `bytes` in its first interval of 100 us.
fn loaded(bytes: u32) -> MarkerDriver<MlcpMarker> {
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

/// The level with which a packet leaves at the end of the interval, and what it says of when.
fn pass(port: &mut MarkerDriver<MlcpMarker>, packet: Packet) -> (u8, u64) {
    let packet = port.create(packet);
    port.dequeue(at(100), packet, 0);
    let Header::Segment { nibble, .. } = port.packets[packet].header else { unreachable!() };
    (nibble, port.packets.stamps(packet).informed)
}

#[test]
fn ninety_percent_is_level_nine() {
    let mut port = loaded(112_500);
    assert_eq!(pass(&mut port, segment(ID, 0, 0, 1_459)).0, 9);
    assert!(
        (port.marker.measure().load() - 0.9 / 0.98).abs() < 0.005,
        "{}",
        port.marker.measure().load()
    );
}

#[test]
fn the_highest_level_of_three_hops_arrives() {
    let loads = [60_000, 112_500, 0, 126_000];
    let levels = [4, 9, 0, 10];
    for order in [[0, 1, 2], [1, 0, 2], [2, 3, 1], [3, 2, 0], [2, 2, 2]] {
        let (mut carried, mut informed) = (0, 0);
        for hop in order {
            let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: carried, flags: 0 };
            let packet = Packet { header, ..segment(ID, 0, 0, 1_459) };
            let (level, read) = pass(&mut loaded(loads[hop]), packet);
            (carried, informed) = (level, informed.max(read));
        }
        assert_eq!(carried, order.map(|hop| levels[hop]).into_iter().max().unwrap(), "{order:?}");
        assert_eq!(informed, at(100).0);
    }
}

#[test]
fn only_mlcp_data_is_written_into() {
    let mut port = loaded(126_000);
    for packet in [segment(TransportId(1), 1, 0, 1_459), segment(ID, 1, 0, 0)] {
        assert_eq!(pass(&mut port, packet).0, 0);
    }
}

// -- the congestion control --------------------------------------------------------------------

fn control(settings: &[(&str, &str)]) -> Mlcp {
    Mlcp::new(&params(settings), &switch_port(RATE, RTT).fabric, incast_testkit::MSS - 1)
}

fn moment(us: u64, rtt: Span) -> Progress {
    progress(at(us), Some(rtt))
}

fn acknowledge(control: &mut Mlcp, us: u64, level: u8) {
    control.on_ack(&Ack { nibble: level, ..plain_ack(&Extension::None) }, &moment(us, RTT));
}

fn round(control: &mut Mlcp, us: u64, level: u8) {
    (0..control.packets().round() as u32).for_each(|_| acknowledge(control, us, level));
}

#[test]
fn each_level_has_its_step_or_factor() {
    for level in 0..=HIGHEST {
        let mut control = control(&[("initial_window", "100")]);
        let steps = control.steps();
        if level < 10 {
            round(&mut control, 1, level);
        } else {
            acknowledge(&mut control, 1, level);
        }
        let expected = match level {
            0..8 => 100.0 * (1.0 + steps[level as usize]),
            8..10 => 101.0,
            _ => 100.0 * Params::default().decrease.0[level as usize - 10],
        };
        assert!((control.packets() - expected).abs() < 0.01, "{level}: {}", control.packets());
    }
}

#[test]
fn one_cut_per_interval_and_rtt() {
    let mut control = control(&[("initial_window", "100")]);
    acknowledge(&mut control, 1_000, 15);
    acknowledge(&mut control, 1_099, 15);
    assert_eq!(control.packets(), 85.0);
    acknowledge(&mut control, 1_100, 15);
    assert!(near(control.packets(), 85.0 + 1.0 / 85.0), "additive for a round trip");
    let held = control.packets();
    acknowledge(&mut control, 1_200, 12);
    assert!(near(control.packets(), held * 0.93));
}

#[test]
fn steps_do_not_scale_with_rtts_longer_than_the_interval() {
    let grown = |rtt_us: u64, level, settings: &[(&str, &str)]| {
        let mut control = control(&[&[("initial_window", "100")], settings].concat());
        let ack = Ack { nibble: level, ..plain_ack(&Extension::None) };
        control.on_ack(&ack, &moment(1, Span::from_us(rtt_us)));
        control.packets() - 100.0
    };
    let off = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(off(grown(400, 7, &[]), 0.0875));
    assert!(off(grown(400, 8, &[]), 0.01));
    assert!(off(grown(50, 7, &[]), 1.0875f64.sqrt() - 1.0));
    assert!(off(grown(50, 8, &[]), 0.25 * 0.01));
    assert!(off(grown(400, 8, &[("scale_max", "2.5")]), 6.25 * 0.01));
}

#[test]
fn losses_halve_and_timeouts_begin_with_a_packet() {
    let mut control = control(&[("initial_window", "64")]);
    control.on_loss(Loss::Fast, &moment(1, RTT));
    assert_eq!(Control::window(&control), 32 * 1_459);
    control.on_loss(Loss::Timeout, &moment(1, RTT));
    assert_eq!(Control::window(&control), 1_459);
    let ack = Ack { nibble: 0, ..plain_ack(&Extension::None) };
    control.on_ack(&ack, &Progress { recovering: true, ..moment(1, RTT) });
    assert_eq!(control.packets(), 1.0, "not while a loss is repaired");
}

#[test]
fn data_carries_the_class_of_its_rtt() {
    let mut control = control(&[]);
    let mut packet = outbound(0, 1_459);
    control.on_send(&mut packet, &moment(1, Span::from_us(60)));
    assert_eq!(packet.extension, Extension::explicit(Explicit::Class { class: 2 }));
    assert_eq!(packet.extension.bytes(), 1);
    let mut control = self::control(&[("header", "0")]);
    let mut packet = outbound(0, 1_460);
    control.on_send(&mut packet, &moment(1, RTT));
    assert_eq!(packet.extension, Extension::None);
}

#[test]
fn acks_copy_the_level() {
    let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 13, flags: 0 };
    let packet = Packet { header, ..segment(ID, 7, 0, 1_459) };
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
    assert_eq!((ack.nibble, ack.extension), (13, Extension::None));
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("period", "0s"),
        ("sample", "0us"),
        ("rto_min", "0s"),
        ("rto_initial", "0s"),
        ("decrease", "0.9"),
        ("decrease", "0.9/0.8/0.7/0.6/0.5/0.55"),
        ("decrease", "0.9/0.8/0.7/0.6/0.5/x"),
        ("high_load", "1"),
        ("overload_step", "0"),
        ("header", "2"),
        ("t_p", "1ms"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    assert!(read("period", "0s").unwrap_err().problem().contains("more than 0"));
    assert!(read("decrease", "1/1/0.5/0.5/0.5/0.1").is_ok());
    // Everything reconstructed is in the manifest.
    let resolved = Params::default().resolved();
    for key in ["increase", "additive", "decrease", "queue_weight", "target", "overload_step"] {
        assert!(resolved.iter().any(|(name, _)| *name == key), "{key}");
    }
    for (name, value) in resolved {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
}
