//! Known answers of the control law.

use super::hystart::HyStart;
use super::*;
use incast_endpoint::sender::{Ack, Control, Loss, Message, Progress};
use incast_transport::{Extension, FlowId, Header, HostId, Packet, Time, tcp_flag};

const MSS: u64 = 1_460;

fn plain_ack() -> Ack<'static> {
    Ack {
        bytes: MSS,
        sacked: 0,
        echo: 0,
        ece: false,
        nack: false,
        mark: 0,
        nibble: 0,
        window: 0,
        rtt: None,
        limited: true,
        extension: &Extension::None,
        informed: Time::ZERO,
    }
}

/// Calls a law as the sender would, one answer a segment, with a window always full.
struct Driver {
    law: Cubic,
    now: Time,
    acknowledged: u64,
    recovering: bool,
    limited: bool,
    rtt: Span,
}

impl Driver {
    fn new(params: Params) -> Driver {
        Driver {
            law: Cubic::new(&params, MSS),
            now: Time::ZERO,
            acknowledged: 0,
            recovering: false,
            limited: true,
            rtt: Span::from_us(100),
        }
    }

    fn progress(&self) -> Progress {
        let pipe = self.law.window() / MSS * MSS;
        Progress {
            now: self.now,
            acknowledged: self.acknowledged,
            sent: self.acknowledged + pipe,
            size: u64::MAX,
            pipe,
            smoothed_rtt: None,
            recovering: self.recovering,
        }
    }

    fn ack(&mut self) {
        self.acknowledged += MSS;
        let (echo, rtt) = (self.acknowledged - MSS, Some(self.rtt));
        let ack = Ack { echo, rtt, limited: self.limited, ..plain_ack() };
        let progress = self.progress();
        self.law.on_ack(&ack, &progress);
    }

    /// One window of answers, spread over a round trip.
    fn round(&mut self) {
        let count = self.law.segments().max(1.0) as u64;
        for _ in 0..count {
            self.now += self.rtt / count;
            self.ack();
        }
    }

    fn lose(&mut self, loss: Loss) {
        let progress = self.progress();
        self.law.on_loss(loss, &progress);
    }

    fn segments(&self) -> f64 {
        self.law.segments()
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
    let mut driver = Driver::new(Params { reno_friendly: false, ..starting_at(100) });
    driver.lose(Loss::Fast);
    near(driver.segments(), 70.0, 1e-9);
    assert_eq!(driver.law.window(), 70 * MSS);
    assert_eq!(driver.law.peak(), 100.0);
    driver.ack();
    near(driver.law.climb().unwrap(), 4.217, 0.0005);
    driver.rtt = Span::from_ms(20);
    let start = driver.now;
    let mut last = driver.segments();
    while driver.now.since(start) < Span::from_secs_f64(4.2172).unwrap() {
        driver.round();
        assert!(driver.segments() >= last, "never falls");
        last = driver.segments();
    }
    near(last, 100.0, 0.01);
    // Convex from there: as much again above the plateau after as long again.
    while driver.now.since(start) < Span::from_secs_f64(2.0 * 4.2172).unwrap() {
        driver.round();
    }
    near(driver.segments(), 130.0, 0.7);
}

#[test]
fn the_slope_beside_reno() {
    // a = 3 (1 - 0.7) / (1 + 0.7) = 0.5294 of a segment a round trip, and 1 above the peak.
    let mut driver = Driver::new(starting_at(1_000));
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
    // C t^3 counts seconds: from 70 segments to 100 takes 42 170 round trips of 100 us.
    let mut driver = Driver::new(Params { reno_friendly: false, ..starting_at(100) });
    driver.lose(Loss::Fast);
    (0..100).for_each(|_| driver.round());
    // 10 ms into the curve: 70 + 3 x 30 x 0.01 / 4.217.
    near(driver.segments(), 70.213, 0.01);
    let mut friendly = Driver::new(starting_at(100));
    friendly.lose(Loss::Fast);
    (0..100).for_each(|_| friendly.round());
    assert!(friendly.segments() > 110.0, "{}", friendly.segments());
}

#[test]
fn fast_convergence_leaves_room() {
    let at = |fast_convergence| {
        let mut driver = Driver::new(Params { fast_convergence, ..starting_at(100) });
        driver.lose(Loss::Fast);
        driver.acknowledged += 100 * MSS;
        while driver.segments() < 80.0 {
            driver.round();
        }
        // A second loss at 80 < 100.
        let before = driver.segments();
        driver.lose(Loss::Fast);
        near(driver.segments(), before * 0.7, 1e-9);
        (driver.law.peak(), before)
    };
    let (peak, before) = at(true);
    near(peak, before * 0.85, 1e-9);
    near(peak, 68.0, 0.5);
    let (peak, before) = at(false);
    assert_eq!(peak, before);
}

#[test]
fn reno_adds_a_segment_a_round_trip_and_halves() {
    let mut driver = Driver::new(Params { growth: Growth::Reno, ..starting_at(100) });
    driver.lose(Loss::Fast);
    assert_eq!(driver.segments(), 50.0);
    for n in 1..=10 {
        driver.round();
        near(driver.segments(), 50.0 + n as f64, 0.03 * n as f64);
    }
}

#[test]
fn slow_start_doubles_until_a_loss() {
    let mut driver = Driver::new(Params::default());
    for n in 1..=6 {
        driver.round();
        assert_eq!(driver.segments(), 10.0 * (1 << n) as f64);
    }
    assert!(driver.law.in_slow_start());
    driver.lose(Loss::Fast);
    assert!(!driver.law.in_slow_start());
    assert_eq!(driver.segments(), 448.0);
}

#[test]
fn an_answer_that_closes_a_hole_adds_one_segment() {
    // RFC 5681 §3.1: at most a segment for each answer in slow start.
    let mut driver = Driver::new(starting_at(40));
    driver.lose(Loss::Timeout);
    driver.acknowledged += 39 * MSS;
    let progress = driver.progress();
    let ack = Ack { bytes: 40 * MSS, ..plain_ack() };
    driver.law.on_ack(&ack, &progress);
    assert_eq!(driver.segments(), 2.0);
}

#[test]
fn a_timeout_begins_anew_and_forgets_the_peak() {
    let mut driver = Driver::new(starting_at(40));
    driver.lose(Loss::Fast);
    driver.lose(Loss::Timeout);
    assert_eq!((driver.segments(), driver.law.peak()), (1.0, 0.0));
    assert!(driver.law.in_slow_start());
    while driver.law.in_slow_start() {
        driver.ack();
    }
    near(driver.segments(), 20.0, 0.5); // 40 x 0.7 x 0.7 = 19.6
    driver.ack();
    assert_eq!(driver.law.climb(), Some(0.0), "no peak to climb to");
}

#[test]
fn the_window_stays_above_its_least() {
    let mut driver = Driver::new(starting_at(10));
    (0..20).for_each(|_| driver.lose(Loss::Fast));
    assert_eq!(driver.segments(), 2.0);
    let mut driver = Driver::new(Params { min_window: 5, ..starting_at(10) });
    (0..20).for_each(|_| driver.lose(Loss::Fast));
    assert_eq!(driver.segments(), 5.0);
}

#[test]
fn nothing_grows_in_recovery_or_below_the_window() {
    for losses in [0, 1] {
        let mut driver = Driver::new(Params::default());
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
    // RFC 9438 §5.8: the curve does not run on while the application has nothing to send.
    let run = |pause: u64| {
        let mut driver = Driver::new(Params { reno_friendly: false, ..starting_at(100) });
        driver.lose(Loss::Fast);
        driver.rtt = Span::from_ms(20);
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
fn growth_is_at_most_half_a_segment_for_each_acknowledged() {
    // Far above an old peak the curve would jump; the window may not.
    let mut driver = Driver::new(Params { scale: 1e6, ..starting_at(10) });
    driver.lose(Loss::Fast);
    driver.rtt = Span::from_ms(10);
    for _ in 0..200 {
        let before = driver.segments();
        driver.now += Span::from_ms(1);
        driver.ack();
        assert!(driver.segments() - before <= 0.5 + 1e-9);
    }
    assert!(driver.segments() > 50.0);
}

#[test]
fn hystart_ends_slow_start_when_answers_spread() {
    let mut driver = Driver::new(Params { hystart: true, ..Params::default() });
    // Below HyStart's 16 segments the spread of answers is not looked at.
    driver.rtt = Span::from_us(100);
    driver.ack();
    for _ in 0..5 {
        driver.now += Span::from_us(20);
        driver.ack();
        assert!(driver.law.in_slow_start());
    }
    assert_eq!(driver.segments(), 16.0);
    // A new round; its answers are a train, which ends it when longer than half of 100 us.
    driver.now += Span::from_us(100);
    driver.acknowledged += 20 * MSS;
    driver.ack();
    assert!(driver.law.in_slow_start());
    driver.now += Span::from_us(50);
    driver.ack();
    assert!(driver.law.in_slow_start());
    driver.now += Span(1);
    driver.ack();
    assert!(!driver.law.in_slow_start());
    assert_eq!(driver.segments(), 18.0);
    // Answers more than the gap apart are no train.
    let gap = Params { hystart_gap: Span::from_us(40), ..Params::default() };
    let mut driver = Driver::new(Params { hystart: true, initial_window: 20, ..gap });
    for _ in 0..20 {
        driver.ack();
        driver.now += Span::from_us(41);
    }
    assert!(driver.law.in_slow_start());
    // Without HyStart only a loss does.
    let mut plain = Driver::new(Params::default());
    (0..2).for_each(|_| plain.round());
    assert!(plain.law.in_slow_start());
}

#[test]
fn hystart_ends_slow_start_when_answers_come_late() {
    let params = Params { hystart_gap: Span::from_ps(1), ..Params::default() };
    let ms = Span::from_ms;
    let at = |n: u64| Time::ZERO + ms(n);
    // Least round trip 40 ms: its eighth, 5 ms, lies between 4 and 16 ms. Eight samples count.
    for (excess, ends) in [(ms(5), false), (ms(5) + Span(1), true)] {
        let mut hystart = HyStart::new(&params);
        let mut seen = vec![];
        for n in 1..=9 {
            let rtt = Some(ms(40) + excess);
            seen.push(hystart.ends(at(100 * n), (n, 100), 16.0, rtt, Some(ms(40))));
        }
        assert_eq!(seen[..7], [false; 7], "fewer than eight samples");
        assert_eq!(seen[7..], [ends; 2]);
    }
    // One early answer among the eight speaks for the round.
    let mut hystart = HyStart::new(&params);
    let late = |n: u64| Some(if n == 3 { ms(41) } else { ms(60) });
    assert!(!(1..=9).any(|n| hystart.ends(at(100 * n), (n, 100), 16.0, late(n), Some(ms(40)))));
    // Below 4 ms of round trip the floor of 4 ms hides any queue of a data center.
    let mut hystart = HyStart::new(&params);
    let late = Some(Span::from_us(3_900));
    let base = Some(Span::from_us(100));
    assert!(!(1..=9).any(|n| hystart.ends(at(100 * n), (n, 100), 16.0, late, base)));
}

fn answer_to_syn(flags: u8) -> Packet {
    Packet {
        header: Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags },
        src: HostId(1),
        dst: HostId(0),
        flow: FlowId(0),
        payload: 0,
        path: 0,
        mark: 0,
        class: 1,
        transport: ID,
        flags: 0,
        extension: 0,
    }
}

#[test]
fn a_handshake_asks_until_it_is_answered() {
    let mut driver = Driver::new(Params { handshake: true, ..Params::default() });
    assert_eq!(driver.law.window(), 0);
    for patience in [10, 20, 40] {
        let progress = driver.progress();
        assert!(driver.law.question(&progress).is_some());
        assert!(driver.law.question(&progress).is_none(), "once");
        assert_eq!(driver.law.deadline(), driver.now + Span::from_ms(patience));
        driver.law.on_deadline(&progress);
        assert!(driver.law.question(&progress).is_none(), "an early call does nothing");
        driver.now = driver.law.deadline();
        let progress = driver.progress();
        driver.law.on_deadline(&progress);
        assert_eq!(driver.law.deadline(), Time::NEVER);
    }
    let progress = driver.progress();
    driver.law.question(&progress);
    let packet = answer_to_syn(tcp_flag::SYN | tcp_flag::ACK);
    let message = Message { packet: &packet, extension: &Extension::None, informed: Time::ZERO };
    driver.law.on_message(&message, &progress);
    assert_eq!(driver.law.window(), 10 * MSS);
    assert_eq!(driver.law.deadline(), Time::NEVER);
    assert!(driver.law.question(&progress).is_none());
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
        assert_eq!((error.transport, error.key.as_str()), ("cubic", key));
    }
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
    assert_eq!(Params::default().beta(), 0.7);
    assert_eq!(Params { growth: Growth::Reno, ..Params::default() }.beta(), 0.5);
    assert_eq!(read("beta", "0.8").unwrap().beta(), 0.8);
}
