//! Known results of the rate control and of the CNPs.

use super::*;
use incast_endpoint::sender::{AckFields, Arriving, Control, Feedback, Loss};
use incast_testkit::{ControlDriver, arriving, key_values, segment, switch_port};
use incast_transport::{Bytes, Ecn, Extension, Framing, HostId, Packet, Random, Rate, Span, Time};

const LINE: f64 = 40e9;
const MBPS: f64 = 1e6;
const US: Span = Span::from_us(1);

fn rule(params: &Params) -> Rule {
    Rule::new(params, Rate::from_gbps(40), 100 * 1_460)
}

/// A CNP, or with a mark the data that causes it.
fn packet(mark: Ecn) -> Packet {
    let (src, dst) = (HostId(1), HostId(0));
    Packet { src, dst, class: 0, mark: mark as u8, ..segment(ID, 0, 0, 0) }
}

type Driver = ControlDriver<Dcqcn>;

fn begin(params: &Params) -> Driver {
    let (now, pipe) = (Time::ZERO + Span::from_ms(1), Some(1_460));
    ControlDriver { now, pipe, ..ControlDriver::new(Dcqcn::new(rule(params), Framing::ETHERNET)) }
}

trait Notified {
    fn notify(&mut self);

    /// Sends full packets of this many charged bytes together, at once.
    fn burst(&mut self, charged: u64);

    fn rates(&self) -> (f64, f64);
}

impl Notified for Driver {
    fn notify(&mut self) {
        self.message(&packet(Ecn::NotEct));
    }

    fn burst(&mut self, charged: u64) {
        for _ in 0..charged / 1_538 {
            self.send(0, 1_460);
        }
    }

    fn rates(&self) -> (f64, f64) {
        (self.control.current(), self.control.target())
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn a_flow_starts_at_line_rate_without_timers() {
    let mut driver = begin(&Params::default());
    assert_eq!(driver.control.deadline(), Time::NEVER);
    assert_eq!(driver.control.pacing(), None, "as fast as the NIC");
    assert_eq!(driver.control.window(), u64::MAX);
    driver.burst(50_000_000);
    driver.pass(Span::from_ms(100));
    assert_eq!(driver.rates(), (LINE, LINE));
    assert_eq!(driver.control.alpha(driver.now), 1.0);
}

#[test]
fn the_first_cnp_halves_the_rate() {
    let mut driver = begin(&Params::default());
    driver.notify();
    assert_eq!(driver.rates(), (LINE / 2.0, LINE));
    assert_eq!(driver.control.alpha(driver.now), 1.0);
    assert_eq!(driver.control.pacing(), Some(Rate::from_gbps(20)));
    // And the second, 50 us later, halves again: no period without a CNP has passed.
    driver.pass(US * 50);
    driver.notify();
    assert_eq!(driver.rates(), (LINE / 4.0, LINE / 2.0));
}

#[test]
fn alpha_halves_in_177_periods() {
    // (255 / 256)^177 = 0.5001, 9.7 ms.
    let mut driver = begin(&Params::default());
    driver.notify();
    let mut expected = 1.0;
    for _ in 0..177 {
        driver.pass(US * 55);
        expected *= 255.0 / 256.0;
        near(driver.control.alpha(driver.now), expected);
    }
    assert!((expected - 0.5).abs() < 0.0005, "{expected}");
    // The cut uses that alpha, then it rises.
    let before = driver.control.current();
    driver.notify();
    near(driver.control.current(), before * (1.0 - expected / 2.0));
    near(driver.control.alpha(driver.now), expected * 255.0 / 256.0 + 1.0 / 256.0);
    // However long it falls, it stays above zero.
    driver.pass(Span::from_secs(20));
    assert!(driver.control.alpha(driver.now) > 0.0);
}

#[test]
fn a_cnp_restarts_the_period_of_alpha() {
    let mut driver = begin(&Params::default());
    for _ in 0..20 {
        driver.notify();
        assert_eq!(driver.control.alpha(driver.now), 1.0);
        driver.pass(US * 54);
    }
}

#[test]
fn the_timer_alone_recovers_fast_four_times() {
    let mut driver = begin(&Params::default());
    driver.notify();
    driver.pass(US * 50);
    driver.notify();
    let (start, target) = driver.rates();
    let gap = target - start;
    for step in 1..=4 {
        driver.pass(US * 55 - Span(1));
        near(driver.control.current(), target - gap / (1u64 << (step - 1)) as f64);
        driver.pass(Span(1));
        near(driver.control.current(), target - gap / (1u64 << step) as f64);
        assert_eq!(driver.control.target(), target);
    }
    // 220 us: 93.75 % of the gap. The fifth step is additive.
    near(driver.control.current(), start + 0.9375 * gap);
    driver.pass(US * 55);
    near(driver.control.current(), target - gap / 32.0 + 20.0 * MBPS);
    near(driver.control.target(), target + 40.0 * MBPS);
    driver.pass(US * 55);
    near(driver.control.target(), target + 80.0 * MBPS);
}

#[test]
fn the_byte_counter_raises_the_rate_like_the_timer() {
    // 10 MB are 6502 packets of 1538 B, the last reaching beyond.
    let mut driver = begin(&Params::default());
    driver.notify();
    let (start, target) = driver.rates();
    driver.burst(6_501 * 1_538);
    assert_eq!(driver.control.current(), start);
    driver.burst(1_538);
    near(driver.control.current(), target - (target - start) / 2.0);
    // A CNP resets the byte counter.
    driver.burst(6_000 * 1_538);
    driver.notify();
    let (start, _) = driver.rates();
    driver.burst(6_000 * 1_538);
    assert_eq!(driver.control.current(), start);
}

#[test]
fn both_counters_beyond_five_lead_to_hyper_increase() {
    let mut driver = begin(&Params::default());
    // Far below the line, so that nothing is cut off.
    for _ in 0..12 {
        driver.notify();
    }
    let steps = |driver: &mut Driver, timer: u32, bytes: u32| {
        (0..timer).for_each(|_| driver.pass(US * 55));
        (0..bytes).for_each(|_| driver.burst(6_503 * 1_538));
        driver.control.target()
    };
    let start = driver.control.target();
    assert_eq!(steps(&mut driver, 4, 4), start, "eight steps of fast recovery");
    near(steps(&mut driver, 2, 0), start + 80.0 * MBPS);
    near(steps(&mut driver, 0, 1), start + 120.0 * MBPS);
    // T = B = 6: i = 1, ten times as much; T = B = 7: twice that.
    near(steps(&mut driver, 0, 1), start + 520.0 * MBPS);
    near(steps(&mut driver, 1, 0), start + 920.0 * MBPS);
    near(steps(&mut driver, 0, 1), start + 1_720.0 * MBPS);
    // A CNP restarts fast recovery.
    driver.notify();
    let target = driver.control.target();
    assert_eq!(steps(&mut driver, 4, 4), target);
}

#[test]
fn timers_stop_at_line_rate() {
    let mut driver = begin(&Params::default());
    driver.notify();
    driver.pass(Span::from_ms(10));
    assert_eq!(driver.rates(), (LINE, LINE));
    assert_eq!(driver.control.deadline(), Time::NEVER);
    assert_eq!(driver.control.pacing(), None);
    driver.notify();
    assert_eq!(driver.control.deadline(), driver.now + US * 55);
}

#[test]
fn rates_keep_their_order_under_any_events() {
    for seed in 0..20 {
        let mut random = Random::new(seed, 0, 0);
        let variant = if seed % 2 == 0 { Variant::Paper } else { Variant::Mlx };
        let params = Params { variant, ..Params::default() };
        let (mut driver, rule) = (begin(&params), rule(&params));
        for _ in 0..2_000 {
            match random.below(3) {
                0 => driver.notify(),
                1 => driver.pass(Span(random.below(300_000_000))),
                _ => driver.burst(random.below(4_000_000)),
            }
            let (current, target) = driver.rates();
            let alpha = driver.control.alpha(driver.now);
            assert!(rule.least <= current && current <= target && target <= LINE);
            assert!(alpha > 0.0 && alpha <= 1.0, "{alpha}");
        }
    }
}

#[test]
fn losses_do_not_change_the_rate() {
    let mut driver = begin(&Params::default());
    driver.notify();
    let rates = driver.rates();
    for loss in [Loss::Fast, Loss::Timeout] {
        driver.lose(loss);
        assert_eq!(driver.rates(), rates);
    }
}

#[test]
fn the_mlx_variant_works_on_timers() {
    // HPCC's simulator at 40 Gb/s: alpha every 1 us, a possible cut every 4 us, an increase of
    // 5 Mb/s x 40 / 25 = 8 Mb/s every 300 us.
    let params = Params { variant: Variant::Mlx, ..Params::default() };
    let mut driver = begin(&params);
    driver.notify();
    assert_eq!(driver.rates(), (LINE, LINE), "nothing at once");
    driver.pass(US * 4 - Span(1));
    assert_eq!(driver.rates(), (LINE, LINE));
    driver.pass(Span(1));
    // Four periods without a CNP: alpha first, then the cut.
    let keep = 255.0f64 / 256.0;
    let alpha = keep * keep * keep * keep;
    near(driver.control.alpha(driver.now), alpha);
    let first = LINE * (1.0 - alpha / 2.0);
    near(driver.control.current(), first);
    assert_eq!(driver.control.target(), LINE);
    // Cuts are possible every 4 us since the first CNP. Before an increase the target stays.
    driver.pass(US * 2 + US / 2);
    driver.notify();
    driver.pass(US * 3 / 2);
    let alpha = ((alpha * keep * keep) * keep + 1.0 / 256.0) * keep;
    near(driver.control.alpha(driver.now), alpha);
    let second = first * (1.0 - alpha / 2.0);
    near(driver.control.current(), second);
    assert_eq!(driver.control.target(), LINE);
    // Increases: one of fast recovery, one additive, then hyper increases of 80 Mb/s.
    let mut slow = begin(&params);
    for _ in 0..12 {
        slow.notify();
        slow.pass(US * 4);
    }
    slow.pass(US * 300);
    let start = slow.control.target();
    slow.notify();
    slow.pass(US * 4);
    let target = slow.control.target();
    assert!(target < start, "raised since the cut: the target follows");
    slow.pass(US * 300);
    assert_eq!(slow.control.target(), target);
    slow.pass(US * 300);
    near(slow.control.target(), target + 8.0 * MBPS);
    slow.pass(US * 300);
    near(slow.control.target(), target + 88.0 * MBPS);
    slow.pass(US * 300);
    near(slow.control.target(), target + 168.0 * MBPS);
    let before = slow.rates();
    slow.burst(50_000_000);
    assert_eq!(slow.rates(), before, "no byte counter");
}

#[test]
fn a_window_shrinks_with_the_rate() {
    let mut driver = begin(&Params { window_limit: true, ..Params::default() });
    assert_eq!(driver.control.window(), 146_000);
    driver.notify();
    assert_eq!(driver.control.window(), 73_000);
}

#[test]
fn at_most_one_cnp_per_interval() {
    let mut notifier = Notifier::new(US * 50, CnpForm::Packet);
    let mut at = |us: u64, mark: Ecn, new: bool| {
        let packet = Packet { payload: 1_460, ..packet(mark) };
        let now = Time::ZERO + US * us;
        let arriving = Arriving { new, ..arriving(now, &packet, &Extension::None) };
        let mut ack = AckFields::default();
        let notification = notifier.on_data(&arriving, &mut ack);
        assert!(!ack.ece, "ACKs carry no echo");
        assert!(notification.is_none_or(|notification| notification.class == 0));
        notification.is_some()
    };
    assert!(!at(1, Ecn::Ect0, true));
    assert!(at(2, Ecn::Ce, true), "the first mark at once");
    assert!(!at(3, Ecn::Ce, true));
    assert!(!at(51, Ecn::Ce, true));
    assert!(!at(60, Ecn::Ect0, true));
    assert!(at(61, Ecn::Ce, false), "also for what is thrown away");
    assert!(!at(110, Ecn::Ce, true));
    assert!(at(111, Ecn::Ce, true));
}

/// The same notifications as flags of ACKs: no packet, and the sender reacts alike.
#[test]
fn a_cnp_may_be_a_flag_of_the_ack() {
    let mut notifier = Notifier::new(US * 50, CnpForm::AckFlag);
    let mut flagged = |us: u64, mark: Ecn| {
        let packet = Packet { payload: 1_460, ..packet(mark) };
        let mut ack = AckFields::default();
        let arriving = arriving(Time::ZERO + US * us, &packet, &Extension::None);
        assert!(notifier.on_data(&arriving, &mut ack).is_none());
        ack.ece
    };
    let marks = [(1, Ecn::Ect0), (2, Ecn::Ce), (3, Ecn::Ce), (52, Ecn::Ce), (53, Ecn::Ect0)];
    assert_eq!(marks.map(|(us, mark)| flagged(us, mark)), [false, true, false, true, false]);
    let (mut by_flag, mut by_packet) = (begin(&Params::default()), begin(&Params::default()));
    for ece in [true, false, true] {
        by_flag.ack(ece);
        assert_eq!(by_flag.control.decided(), ece);
        if ece {
            by_packet.notify();
        }
        by_flag.pass(US * 60);
        by_packet.pass(US * 60);
        assert_eq!(by_flag.rates(), by_packet.rates());
    }
}

#[test]
fn thresholds_of_the_tables() {
    let site =
        |gbps, buffer| PortSite { buffer, ..switch_port(Rate::from_gbps(gbps), Span::from_us(20)) };
    let paper = Params::default();
    for gbps in [10, 40, 100] {
        let red = paper.red(&site(gbps, Limit::Bytes(1_000_000)));
        assert_eq!((red.min.0, red.max.0, red.probability), (5_000, 200_000, 0.01));
    }
    let settings = [
        ("mark_min", "100KB"),
        ("mark_max", "400KB"),
        ("mark_probability", "0.2"),
        ("mark_rate", "25Gbps"),
    ];
    let red =
        Params::read(&key_values(&settings)).unwrap().red(&site(100, Limit::Bytes(1_000_000)));
    assert_eq!((red.min.0, red.max.0, red.probability), (400_000, 1_600_000, 0.2));
    let red = Params::read(&key_values(&[("mark_by_rate", "100Gbps=40KB/80KB/0.5")])).unwrap();
    let [given, other] = [100, 40].map(|gbps| red.red(&site(gbps, Limit::Bytes(1_000_000))));
    assert_eq!((given.min.0, given.max.0, given.probability), (40_000, 80_000, 0.5));
    assert_eq!(other, paper.red(&site(40, Limit::Bytes(1_000_000))));
    // A smaller buffer would be full before everything is marked.
    assert_eq!(paper.red(&site(10, Limit::Unlimited)).max.0, 200_000);
    assert_eq!(paper.red(&site(10, Limit::Bytes(131_072))).max.0, 91_750);
    assert_eq!(paper.red(&site(10, Limit::Packets(20))).max.0, 21_532);
    let given = Params { mark_max: Some(Bytes(200_000)), ..Params::default() };
    assert_eq!(given.red(&site(10, Limit::Bytes(131_072))).max.0, 200_000);
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("variant", "nvidia"),
        ("gain", "0"),
        ("mark_probability", "1.1"),
        ("cnp_interval", "0s"),
        ("min_rate", "0bps"),
        ("increase_interval", "0us"),
        ("kmin", "5KB"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
    let mlx = Params { variant: Variant::Mlx, ..Params::default() };
    let (paper, mlx) = (rule(&Params::default()), rule(&mlx));
    assert_eq!((paper.fast_recovery, mlx.fast_recovery), (5, 1));
    assert_eq!((paper.least, mlx.least), (40.0 * MBPS, 100.0 * MBPS));
    assert_eq!((paper.additive, mlx.additive), (40.0 * MBPS, 8.0 * MBPS));
    assert_eq!((paper.hyper, mlx.hyper), (400.0 * MBPS, 80.0 * MBPS));
}
