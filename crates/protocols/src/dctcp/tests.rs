//! Known results of DCTCP's congestion control.

use super::*;
use incast_egress::threshold::Threshold;
use incast_endpoint::sender::{Ack, Control, Loss, WindowUnit};
use incast_testkit::{
    ControlDriver, MSS, fabric_site, flow, host_site, key_values, plain_ack, switch_port,
};
use incast_transport::{Bytes, Extension, Rate, Span, Time};

type Driver = ControlDriver<Dctcp>;

fn begin(params: Params) -> Driver {
    ControlDriver::new(Dctcp::new(&params, MSS))
}

trait Windows {
    /// One window of data, of which the first `marked` segments were marked.
    fn window(&mut self, marked: u64);

    fn segments(&self) -> f64;
}

impl Windows for Driver {
    fn window(&mut self, marked: u64) {
        let until = self.progress().sent;
        let mut count = 0;
        while self.acknowledged < until {
            self.ack(count < marked);
            count += 1;
        }
    }

    fn segments(&self) -> f64 {
        self.control.window() as f64 / MSS as f64
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn without_marks_alpha_decays_and_slow_start_doubles() {
    let mut driver = begin(Params::default());
    // The first ACK ends the empty window before the flow.
    driver.ack(false);
    assert!(close(driver.control.alpha(), 15.0 / 16.0));
    let mut expected = 15.0 / 16.0;
    for _ in 0..6 {
        let (before, alpha) = (driver.segments(), driver.control.alpha());
        while driver.control.alpha() == alpha {
            driver.ack(false);
        }
        expected *= 15.0 / 16.0;
        assert!(close(driver.control.alpha(), expected));
        assert!(driver.segments() >= before * 1.9, "{} {before}", driver.segments());
    }
    assert!(driver.control.in_slow_start());
}

/// A round without marks in congestion avoidance adds one unit: 1460 B, or 312 B if that is what the
/// flow's packets carry.
#[test]
fn windows_grow_by_one_unit_per_round() {
    for (unit, bytes) in [(WindowUnit::Segment, 1_460.0), (WindowUnit::Packet, 312.0)] {
        let segments = incast_transport::Segments::Table((1..=1_000).map(|n| n * 312).collect());
        let flow =
            incast_transport::Flow { size: 312_000, segments, ..flow(0, 0, 1, 1, Time::ZERO) };
        assert_eq!(unit.payload(&flow, MSS) as f64, bytes);
        let params = Params { initial_window: 40, ..Params::default() };
        let mut driver = Driver { mss: 312, ..begin(params.clone()) };
        driver.control = Dctcp::new(&params, unit.payload(&flow, MSS));
        let step = |driver: &mut Driver| {
            driver.acknowledged += 312;
            driver.ack_with(Ack { bytes: 312, ..plain_ack(&Extension::None) });
        };
        let marked = Ack { bytes: 312, ece: true, ..plain_ack(&Extension::None) };
        driver.acknowledged += 312;
        driver.ack_with(marked);
        while driver.acknowledged <= 40 * 1_460 {
            step(&mut driver);
        }
        let (before, until) = (driver.control.window() as f64, driver.progress().sent);
        while driver.acknowledged < until {
            step(&mut driver);
        }
        let grown = driver.control.window() as f64 - before;
        assert!((grown / bytes - 1.0).abs() < 0.05, "{unit:?}: {grown}");
    }
    // Uniform packets, and a flow shorter than one.
    assert_eq!(WindowUnit::Packet.payload(&flow(0, 0, 1, 100_000, Time::ZERO), MSS), MSS);
    assert_eq!(WindowUnit::Packet.payload(&flow(0, 0, 1, 500, Time::ZERO), MSS), 500);
}

fn rule() -> RateRule {
    let site = host_site(0, &fabric_site(4, Rate::from_gbps(10), Span::from_us(20)));
    RateRule::new(&Params::default(), &site)
}

/// By hand, at 10 Gb/s and 20 us: halved by the first mark, one packet per RTT (615 Mb/s) more in
/// each round without one.
#[test]
fn a_rate_is_cut_by_half_of_alpha_and_grows_by_a_packet_per_round() {
    let rule = rule();
    assert!(close(rule.step / 1e6, 1_538.0 * 8.0 / 20.0));
    assert_eq!((rule.bdp, rule.line), (17 * MSS, 10e9));
    let mut driver = ControlDriver::new(RateDctcp::new(rule));
    assert_eq!((driver.control.window(), driver.control.pacing()), (17 * MSS, None));
    driver.control.start_with(4);
    assert_eq!(driver.control.window(), 4 * MSS, "until the first ACK");
    driver.pipe = Some(17 * MSS);
    driver.ack(true);
    driver.pipe = None;
    assert_eq!(driver.control.current(), 5e9);
    assert_eq!(driver.control.pacing(), Some(Rate::from_gbps(5)));
    assert_eq!(driver.control.window(), 17 * MSS / 2);
    // What was in flight at the cut neither cuts again nor raises the rate.
    while driver.acknowledged < 18 * MSS {
        driver.ack(true);
        assert_eq!(driver.control.current(), 5e9);
    }
    // The round ends: 18 of 19 packets were marked.
    driver.ack(false);
    assert!(close(driver.control.alpha(), 1.0 - 1.0 / 16.0 / 19.0));
    assert_eq!(driver.control.current(), 5e9 + rule.step);
    let mut rounds = 0;
    for _ in 0..200 {
        let was = driver.control.current();
        driver.ack(false);
        rounds += (driver.control.current() > was) as u32;
        assert!(driver.control.current() <= rule.line);
        assert!(driver.control.current() <= was + rule.step);
    }
    assert!(rounds >= 7, "{rounds}");
    // Losses do not matter, and the least rate holds.
    let was = driver.control.current();
    driver.lose(Loss::Timeout);
    assert_eq!(driver.control.current(), was);
    for _ in 0..1_000 {
        driver.ack(true);
    }
    assert!(driver.control.current() >= rule.least && driver.control.alpha() <= 1.0);
}

#[test]
fn thresholds_follow_the_rate_of_the_port() {
    let params = |settings: &[(&str, &str)]| Params::read(&key_values(settings)).unwrap();
    let at = |params: &Params, gbps| {
        params.threshold(&switch_port(Rate::from_gbps(gbps), Span::from_us(20)))
    };
    let kb = |bytes| Threshold::Bytes(Bytes(bytes));
    let scaled = params(&[("mark_threshold", "30KB"), ("mark_rate", "10Gbps")]);
    assert_eq!((at(&scaled, 10), at(&scaled, 100)), (kb(30_000), kb(300_000)));
    let table = params(&[("mark_threshold_by_rate", "10Gbps=97500B,40Gbps=390KB")]);
    assert_eq!((at(&table, 10), at(&table, 40)), (kb(97_500), kb(390_000)));
    assert_eq!(at(&table, 25), Threshold::Auto);
    // A rate that no port has, and nothing to scale.
    let fabric = fabric_site(4, Rate::from_gbps(10), Span::from_us(20));
    let error = table.check(&fabric).unwrap_err();
    assert!(error.problem().contains("no port has 40Gbps: expected rates of 10Gbps"), "{error}");
    let error = params(&[("mark_rate", "10Gbps")]).check(&fabric).unwrap_err();
    assert_eq!(error.key(), Some("mark_rate"));
    for wrong in ["10Gbps=auto", "10Gbps=0B", "10Gbps"] {
        let settings = key_values(&[("mark_threshold_by_rate", wrong)]);
        assert!(Params::read(&settings).is_err(), "{wrong}");
    }
}

#[test]
fn the_first_mark_halves_and_ends_slow_start() {
    // Alpha is 1 before the first observation; a marked first ACK keeps it there.
    let mut driver = begin(Params { initial_window: 20, ..Params::default() });
    driver.ack(true);
    assert_eq!(driver.control.alpha(), 1.0);
    assert_eq!(driver.control.window(), 10 * MSS);
    assert!(!driver.control.in_slow_start());
}

#[test]
fn one_cut_per_window_of_data() {
    let mut driver = begin(Params { initial_window: 64, ..Params::default() });
    driver.ack(true);
    let after_first = driver.control.window();
    assert_eq!(after_first, 32 * MSS);
    // What was in flight at the cut neither cuts again nor grows the window.
    let end = driver.acknowledged + 64 * MSS;
    let until = driver.control;
    assert_eq!(until.window(), after_first);
    while driver.acknowledged + MSS <= end - MSS {
        driver.ack(driver.acknowledged.is_multiple_of(2));
        assert_eq!(driver.control.window(), after_first);
        driver.acknowledged = driver.acknowledged.min(end);
    }
    driver.acknowledged = end;
    driver.ack(true);
    assert!(driver.control.window() < after_first);
}

#[test]
fn alpha_follows_the_marked_share() {
    // DCTCP §3.3, Eq. 1, by hand: F = 1/4 per window from alpha = 1.
    let mut driver = begin(Params { initial_window: 400, ..Params::default() });
    driver.lose(Loss::Fast); // 200 segments, congestion avoidance
    driver.acknowledged += 400 * MSS;
    driver.ack(false);
    let mut alpha = 15.0 / 16.0;
    assert!(close(driver.control.alpha(), alpha));
    for _ in 0..40 {
        let (start, before) = (driver.control.alpha(), driver.acknowledged);
        let window = driver.progress().pipe / MSS;
        let (mut marked, mut total) = (0, 0);
        while driver.control.alpha() == start {
            let mark = total % 4 == 0;
            marked += mark as u64;
            total += 1;
            driver.ack(mark);
            assert!(total <= 2 * window);
        }
        assert_eq!((driver.acknowledged - before) / MSS, total);
        alpha = alpha * 15.0 / 16.0 + marked as f64 / total as f64 / 16.0;
        assert!(close(driver.control.alpha(), alpha), "{} {alpha}", driver.control.alpha());
        assert!((0.0..=1.0).contains(&driver.control.alpha()));
    }
}

#[test]
fn congestion_avoidance_adds_a_segment_per_window() {
    let mut driver = begin(Params { initial_window: 100, ..Params::default() });
    driver.lose(Loss::Fast);
    assert_eq!(driver.control.window(), 50 * MSS);
    driver.acknowledged += 100 * MSS;
    for n in 1..=10 {
        driver.window(0);
        // A little less, since the window grows while it is being acknowledged.
        let (grown, most) = (driver.segments() - 50.0, n as f64);
        assert!(grown <= most && grown > 0.97 * most, "{grown}");
    }
}

#[test]
fn nothing_grows_in_recovery_or_below_the_window() {
    let mut driver = begin(Params::default());
    driver.recovering = true;
    driver.ack(false);
    assert_eq!(driver.control.window(), 10 * MSS);
    driver.recovering = false;
    driver.limited = false;
    driver.ack(false);
    assert_eq!(driver.control.window(), 10 * MSS);
}

#[test]
fn losses_halve_the_window_and_timeouts_restart_slow_start() {
    let mut driver = begin(Params { initial_window: 40, ..Params::default() });
    let alpha = driver.control.alpha();
    driver.lose(Loss::Fast);
    assert_eq!((driver.control.window(), driver.control.alpha()), (20 * MSS, alpha));
    driver.acknowledged += 40 * MSS;
    driver.lose(Loss::Timeout);
    assert_eq!((driver.control.window(), driver.control.alpha()), (MSS, alpha));
    assert!(driver.control.in_slow_start());
    for _ in 0..9 {
        driver.ack(false);
    }
    assert_eq!(driver.control.window(), 10 * MSS, "slow start up to half of 20");
    driver.ack(false);
    assert!(driver.control.window() < 11 * MSS, "then congestion avoidance");
}

#[test]
fn a_loss_deepens_a_cut_of_the_same_window_to_a_half() {
    let params = Params { initial_alpha: 0.1, initial_window: 64, ..Params::default() };
    let mut driver = begin(params);
    driver.ack(true);
    let cut = driver.control.window();
    // The marked ACK alone is the first observation: alpha = 15/16 x 0.1 + 1/16.
    assert_eq!(cut, (64.0 * MSS as f64 * (1.0 - 0.15625 / 2.0)) as u64);
    driver.lose(Loss::Fast);
    assert_eq!(driver.control.window(), 32 * MSS);
    driver.lose(Loss::Fast);
    assert_eq!(driver.control.window(), 32 * MSS, "not twice");
}

#[test]
fn the_window_stays_above_its_least() {
    let mut driver = begin(Params { min_window: 2, ..Params::default() });
    for _ in 0..200 {
        driver.ack(true);
        driver.acknowledged = driver.progress().sent;
    }
    assert_eq!(driver.control.window(), 2 * MSS);
    driver.lose(Loss::Timeout);
    assert_eq!(driver.control.window(), MSS);
    driver.acknowledged += 4 * MSS;
    driver.ack(true);
    assert!(driver.control.window() <= 2 * MSS, "a mark never widens the window");
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    let threshold = |value| read("mark_threshold", value).map(|params| params.mark_threshold);
    assert_eq!(threshold("65 packets"), Ok(Threshold::Packets(65)));
    assert_eq!(threshold("1packet"), Ok(Threshold::Packets(1)));
    assert_eq!(threshold("30KB"), Ok(Threshold::Bytes(Bytes(30_000))));
    assert_eq!(threshold("auto"), Ok(Threshold::Auto));
    for refused in ["0 packets", "0B", "many", "-3 packets", ""] {
        assert!(threshold(refused).is_err(), "{refused}");
    }
    for (key, value) in [("gain", "0"), ("initial_alpha", "1.1"), ("rto_min", "0s"), ("K", "65")] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
}
