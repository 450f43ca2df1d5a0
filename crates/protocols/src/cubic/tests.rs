//! Known results of CUBIC's congestion control.

use super::hystart::HyStart;
use super::*;
use incast_endpoint::sender::{Ack, Control, Loss, Progress};
use incast_testkit::{ControlDriver, MSS, plain_ack, segment};
use incast_transport::{Extension, Header, HostId, Packet, Span, Time, tcp_flag};

type Driver = ControlDriver<Cubic>;

fn begin(params: Params) -> Driver {
    let rtt = Some(Span::from_us(100));
    ControlDriver { rtt, ..ControlDriver::new(Cubic::new(&params, MSS)) }
}

trait Rounds {
    /// One window of ACKs, spread over an RTT.
    fn round(&mut self);

    fn segments(&self) -> f64;
}

impl Rounds for Driver {
    fn round(&mut self) {
        let count = self.segments().max(1.0) as u64;
        for _ in 0..count {
            self.now += self.rtt.expect("measured") / count;
            self.ack(false);
        }
    }

    fn segments(&self) -> f64 {
        self.control.segments()
    }
}

fn starting_at(initial_window: u32) -> Params {
    Params { initial_window, ..Params::default() }
}

fn near(a: f64, b: f64, by: f64) {
    assert!((a - b).abs() <= by, "{a} is not {b}");
}

#[test]
fn a_loss_at_a_hundred_segments() {
    // 100 x 0.7 = 70, K = cbrt(30 / 0.4) = 4.217 s, W(K) = 100.
    let mut driver = begin(Params { reno_friendly: false, ..starting_at(100) });
    driver.lose(Loss::Fast);
    near(driver.segments(), 70.0, 1e-9);
    assert_eq!(driver.control.window(), 70 * MSS);
    assert_eq!(driver.control.peak(), 100.0);
    driver.ack(false);
    near(driver.control.climb().unwrap(), 4.217, 0.0005);
    driver.rtt = Some(Span::from_ms(20));
    let start = driver.now;
    let mut last = driver.segments();
    while driver.now.since(start) < Span::from_secs_f64(4.2172).unwrap() {
        driver.round();
        assert!(driver.segments() >= last, "never falls");
        last = driver.segments();
    }
    near(last, 100.0, 0.01);
    // Convex from there: symmetric to the curve before the plateau.
    while driver.now.since(start) < Span::from_secs_f64(2.0 * 4.2172).unwrap() {
        driver.round();
    }
    near(driver.segments(), 130.0, 0.7);
}

#[test]
fn the_slope_beside_reno() {
    // a = 3 (1 - 0.7) / (1 + 0.7) = 0.5294 of a segment per RTT, and 1 above the peak.
    let mut driver = begin(starting_at(1_000));
    driver.lose(Loss::Fast);
    assert_eq!(driver.segments(), 700.0);
    driver.round();
    let mut last = driver.segments();
    for _ in 0..50 {
        driver.round();
        near(driver.segments() - last, 0.5294, 0.005);
        last = driver.segments();
    }
    let mut rounds = 0;
    while driver.segments() < 1_000.0 {
        driver.round();
        rounds += 1;
    }
    near(rounds as f64, (1_000.0 - last) / 0.5294, 6.0);
    last = driver.segments();
    driver.round();
    near(driver.segments() - last, 1.0, 0.01);
}

#[test]
fn without_the_friendly_region_it_hardly_grows_in_a_data_center() {
    // C t^3 counts seconds: from 70 segments to 100 takes 42 170 RTTs of 100 us.
    let mut driver = begin(Params { reno_friendly: false, ..starting_at(100) });
    driver.lose(Loss::Fast);
    (0..100).for_each(|_| driver.round());
    // 10 ms into the curve: 70 + 3 x 30 x 0.01 / 4.217.
    near(driver.segments(), 70.213, 0.01);
    let mut friendly = begin(starting_at(100));
    friendly.lose(Loss::Fast);
    (0..100).for_each(|_| friendly.round());
    assert!(friendly.segments() > 110.0, "{}", friendly.segments());
}

#[test]
fn fast_convergence_leaves_room() {
    let at = |fast_convergence| {
        let mut driver = begin(Params { fast_convergence, ..starting_at(100) });
        driver.lose(Loss::Fast);
        driver.acknowledged += 100 * MSS;
        while driver.segments() < 80.0 {
            driver.round();
        }
        // A second loss at 80 < 100.
        let before = driver.segments();
        driver.lose(Loss::Fast);
        near(driver.segments(), before * 0.7, 1e-9);
        (driver.control.peak(), before)
    };
    let (peak, before) = at(true);
    near(peak, before * 0.85, 1e-9);
    near(peak, 68.0, 0.5);
    let (peak, before) = at(false);
    assert_eq!(peak, before);
}

#[test]
fn reno_adds_a_segment_per_rtt_and_halves() {
    let mut driver = begin(Params { growth: Growth::Reno, ..starting_at(100) });
    driver.lose(Loss::Fast);
    assert_eq!(driver.segments(), 50.0);
    for n in 1..=10 {
        driver.round();
        near(driver.segments(), 50.0 + n as f64, 0.03 * n as f64);
    }
}

#[test]
fn slow_start_doubles_until_a_loss() {
    let mut driver = begin(Params::default());
    for n in 1..=6 {
        driver.round();
        assert_eq!(driver.segments(), 10.0 * (1 << n) as f64);
    }
    assert!(driver.control.in_slow_start());
    driver.lose(Loss::Fast);
    assert!(!driver.control.in_slow_start());
    assert_eq!(driver.segments(), 448.0);
}

#[test]
fn an_ack_that_closes_a_hole_adds_one_segment() {
    // RFC 5681 §3.1: at most a segment per ACK in slow start.
    let mut driver = begin(starting_at(40));
    driver.lose(Loss::Timeout);
    driver.acknowledged += 39 * MSS;
    let progress = driver.progress();
    let ack = Ack { bytes: 40 * MSS, ..plain_ack(&Extension::None) };
    driver.control.on_ack(&ack, &progress);
    assert_eq!(driver.segments(), 2.0);
}

#[test]
fn a_timeout_restarts_slow_start_and_resets_the_peak() {
    let mut driver = begin(starting_at(40));
    driver.lose(Loss::Fast);
    driver.lose(Loss::Timeout);
    assert_eq!((driver.segments(), driver.control.peak()), (1.0, 0.0));
    assert!(driver.control.in_slow_start());
    while driver.control.in_slow_start() {
        driver.ack(false);
    }
    near(driver.segments(), 20.0, 0.5); // 40 x 0.7 x 0.7 = 19.6
    driver.ack(false);
    assert_eq!(driver.control.climb(), Some(0.0), "no peak to climb to");
}

#[test]
fn the_window_stays_above_its_least() {
    let mut driver = begin(starting_at(10));
    (0..20).for_each(|_| driver.lose(Loss::Fast));
    assert_eq!(driver.segments(), 2.0);
    let mut driver = begin(Params { min_window: 5, ..starting_at(10) });
    (0..20).for_each(|_| driver.lose(Loss::Fast));
    assert_eq!(driver.segments(), 5.0);
}

#[test]
fn nothing_grows_in_recovery_or_below_the_window() {
    for losses in [0, 1] {
        let mut driver = begin(Params::default());
        (0..losses).for_each(|_| driver.lose(Loss::Fast));
        let before = driver.segments();
        driver.recovering = true;
        driver.round();
        assert_eq!(driver.segments(), before);
        driver.recovering = false;
        driver.limited = false;
        driver.round();
        assert_eq!(driver.segments(), before);
    }
}

#[test]
fn time_in_which_the_window_was_not_the_limit_does_not_count() {
    // RFC 9438 §5.8: the curve stops while the application has nothing to send.
    let run = |pause: u64| {
        let mut driver = begin(Params { reno_friendly: false, ..starting_at(100) });
        driver.lose(Loss::Fast);
        driver.rtt = Some(Span::from_ms(20));
        (0..40).for_each(|_| driver.round());
        driver.limited = false;
        (0..pause).for_each(|_| driver.round());
        driver.limited = true;
        (0..40).for_each(|_| driver.round());
        driver.segments()
    };
    near(run(200), run(0), 0.01);
}

#[test]
fn growth_is_at_most_half_a_segment_per_acknowledged_one() {
    // Far above an old peak the curve would jump; the window may not.
    let mut driver = begin(Params { scale: 1e6, ..starting_at(10) });
    driver.lose(Loss::Fast);
    driver.rtt = Some(Span::from_ms(10));
    for _ in 0..200 {
        let before = driver.segments();
        driver.now += Span::from_ms(1);
        driver.ack(false);
        assert!(driver.segments() - before <= 0.5 + 1e-9);
    }
    assert!(driver.segments() > 50.0);
}

#[test]
fn hystart_ends_slow_start_when_acks_spread() {
    let mut driver = begin(Params { hystart: true, ..Params::default() });
    // Below HyStart's 16 segments the spread of ACKs is ignored.
    driver.rtt = Some(Span::from_us(100));
    driver.ack(false);
    for _ in 0..5 {
        driver.now += Span::from_us(20);
        driver.ack(false);
        assert!(driver.control.in_slow_start());
    }
    assert_eq!(driver.segments(), 16.0);
    // A new round; its ACKs are a train, which ends it when longer than half of 100 us.
    driver.now += Span::from_us(100);
    driver.acknowledged += 20 * MSS;
    driver.ack(false);
    assert!(driver.control.in_slow_start());
    driver.now += Span::from_us(50);
    driver.ack(false);
    assert!(driver.control.in_slow_start());
    driver.now += Span(1);
    driver.ack(false);
    assert!(!driver.control.in_slow_start());
    assert_eq!(driver.segments(), 18.0);
    // ACKs more than the gap apart are no train.
    let gap = Params { hystart_gap: Span::from_us(40), ..Params::default() };
    let mut driver = begin(Params { hystart: true, initial_window: 20, ..gap });
    for _ in 0..20 {
        driver.ack(false);
        driver.now += Span::from_us(41);
    }
    assert!(driver.control.in_slow_start());
    // Without HyStart only a loss does.
    let mut plain = begin(Params::default());
    (0..2).for_each(|_| plain.round());
    assert!(plain.control.in_slow_start());
}

#[test]
fn hystart_ends_slow_start_when_acks_are_late() {
    let params = Params { hystart_gap: Span::from_ps(1), ..Params::default() };
    let ms = Span::from_ms;
    let at = |n: u64| Progress {
        now: Time::ZERO + ms(100 * n),
        acknowledged: n,
        sent: 100,
        size: 1_000,
        pipe: 0,
        smoothed_rtt: None,
        recovering: false,
    };
    // Least RTT 40 ms: its eighth, 5 ms, lies between 4 and 16 ms. Eight samples count.
    for (excess, ends) in [(ms(5), false), (ms(5) + Span(1), true)] {
        let mut hystart = HyStart::new(&params);
        let mut seen = vec![];
        for n in 1..=9 {
            let rtt = Some(ms(40) + excess);
            seen.push(hystart.ends(&at(n), 16.0, rtt, Some(ms(40))));
        }
        assert_eq!(seen[..7], [false; 7], "fewer than eight samples");
        assert_eq!(seen[7..], [ends; 2]);
    }
    // One early ACK among the eight decides for the round.
    let mut hystart = HyStart::new(&params);
    let late = |n: u64| Some(if n == 3 { ms(41) } else { ms(60) });
    assert!(!(1..=9).any(|n| hystart.ends(&at(n), 16.0, late(n), Some(ms(40)))));
    // Below an RTT of 4 ms the floor of 4 ms hides any queue of a data center.
    let mut hystart = HyStart::new(&params);
    let late = Some(Span::from_us(3_900));
    let base = Some(Span::from_us(100));
    assert!(!(1..=9).any(|n| hystart.ends(&at(n), 16.0, late, base)));
}

fn answer_to_syn(flags: u8) -> Packet {
    let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags };
    let (src, dst) = (HostId(1), HostId(0));
    Packet { header, src, dst, ..segment(ID, 0, 0, 0) }
}

#[test]
fn a_syn_is_repeated_until_its_ack_arrives() {
    let mut driver = begin(Params { handshake: true, ..Params::default() });
    assert_eq!(driver.control.window(), 0);
    for patience in [10, 20, 40] {
        let progress = driver.progress();
        assert!(driver.control.request(&progress).is_some());
        assert!(driver.control.request(&progress).is_none(), "once");
        assert_eq!(driver.control.deadline(), driver.now + Span::from_ms(patience));
        driver.control.on_deadline(&progress);
        assert!(driver.control.request(&progress).is_none(), "an early call does nothing");
        driver.now = driver.control.deadline();
        let progress = driver.progress();
        driver.control.on_deadline(&progress);
        assert_eq!(driver.control.deadline(), Time::NEVER);
    }
    let progress = driver.progress();
    driver.control.request(&progress);
    let packet = answer_to_syn(tcp_flag::SYN | tcp_flag::ACK);
    driver.message(&packet);
    assert_eq!(driver.control.window(), 10 * MSS);
    assert_eq!(driver.control.deadline(), Time::NEVER);
    assert!(driver.control.request(&progress).is_none());
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("beta", "1"),
        ("scale", "0"),
        ("growth", "bic"),
        ("hystart_gap", "0s"),
        ("delayed_ack", "0"),
        ("C", "0.4"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
    assert_eq!(Params::default().beta(), 0.7);
    assert_eq!(Params { growth: Growth::Reno, ..Params::default() }.beta(), 0.5);
    assert_eq!(read("beta", "0.8").unwrap().beta(), 0.8);
}
