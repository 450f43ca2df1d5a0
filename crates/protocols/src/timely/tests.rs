//! Known results of the congestion control.

use super::*;
use incast_endpoint::sender::{Ack, AckFields, Control, Feedback, Loss, Recovery};
use incast_testkit::{ControlDriver, arriving, plain_ack, segment};
use incast_transport::{Bytes, Explicit, Extension, Framing, Packet, Random, Rate, Span, Time};

const LINE: f64 = 10e9;
const MBPS: f64 = 1e6;
const US: f64 = 1e6;
const FULL: u16 = 1_452;

fn rule(params: &Params) -> Rule {
    Rule::new(params, Rate::from_gbps(10), 20, FULL, Span::from_us(25))
}

fn timely(params: &Params, others: usize) -> Timely {
    Timely::new(rule(params), Framing::ETHERNET, others)
}

/// Half of the line, at the first RTT given.
fn half(params: &Params, rtt: f64) -> Timely {
    let mut control = timely(params, 1);
    control.react(rtt * US);
    assert_eq!(control.rate(), LINE / 2.0, "the first one is only kept");
    control
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn a_constant_delay_between_the_thresholds_raises_ever_faster() {
    let mut control = half(&Params::default(), 60.0);
    for n in 1..=12 {
        let before = control.rate();
        control.react(60.0 * US);
        assert_eq!(control.gradient(), 0.0);
        near(control.rate() - before, if n < 5 { 10.0 * MBPS } else { 50.0 * MBPS });
    }
}

#[test]
fn a_rising_delay_lowers_by_its_gradient() {
    let mut control = half(&Params::default(), 60.0);
    let mut rtt = 60.0;
    for _ in 0..30 {
        rtt += 2.0;
        control.react(rtt * US);
    }
    // Differences of 2 us over 20 us: factor 1 - 0.8 x 0.1.
    near(control.gradient(), 0.1);
    let before = control.rate();
    control.react((rtt + 2.0) * US);
    near(control.rate() / before, 0.92);
}

#[test]
fn below_the_lower_threshold_it_always_rises() {
    let mut control = half(&Params::default(), 20.0);
    for n in 1..=9 {
        let before = control.rate();
        control.react((20.0 + 3.0 * n as f64) * US);
        assert!(control.gradient() > 0.0);
        near(control.rate() - before, 10.0 * MBPS);
    }
}

#[test]
fn above_the_upper_threshold_it_always_falls() {
    let mut control = half(&Params::default(), 800.0);
    control.react(501.0 * US);
    assert!(control.gradient() < 0.0);
    near(control.rate(), LINE / 2.0 * (1.0 - 0.8 * (1.0 - 500.0 / 501.0)));
    // 1000 us: 1 - 0.8 x 0.5.
    let mut control = half(&Params::default(), 1_000.0);
    control.react(1_000.0 * US);
    near(control.rate(), 0.6 * LINE / 2.0);
    // However late, by less than beta.
    control.react(1e9 * US);
    assert!(control.rate() > 0.2 * 0.6 * LINE / 2.0);
}

#[test]
fn a_steep_rise_ends_at_the_least_rate() {
    // With the whole weight on the new difference, gradient = difference / 20 us.
    let params = Params { weight: 1.0, ..Params::default() };
    let mut control = half(&params, 60.0);
    control.react(70.0 * US);
    near(control.rate(), 0.6 * LINE / 2.0); // gradient 0.5
    control.react(95.0 * US);
    near(control.rate(), 10.0 * MBPS); // gradient 1.25: nothing is left
    control.react(400.0 * US);
    near(control.rate(), 10.0 * MBPS);
}

#[test]
fn a_fall_ends_a_row_of_rises() {
    let params = Params { weight: 1.0, ..Params::default() };
    for (rtt, label) in [(65.0, "gradient"), (600.0, "upper threshold")] {
        let mut control = half(&params, 60.0);
        (0..4).for_each(|_| control.react(60.0 * US));
        control.react(rtt * US);
        (0..2).for_each(|_| control.react(60.0 * US));
        let before = control.rate();
        control.react(60.0 * US);
        near(control.rate() - before, 10.0 * MBPS);
        assert!(before < LINE / 2.0, "{label}");
    }
}

#[test]
fn rises_below_the_lower_threshold_count_if_configured() {
    // Empty network: +10 Mb/s per RTT; 5 Gb/s need 500. HPCC's simulator counts them: 50 Mb/s.
    for (hyper_below_low, after) in [(false, 100.0), (true, 4.0 * 10.0 + 6.0 * 50.0)] {
        let mut control = half(&Params { hyper_below_low, ..Params::default() }, 20.0);
        (0..10).for_each(|_| control.react(20.0 * US));
        near(control.rate(), LINE / 2.0 + after * MBPS);
    }
    let mut control = half(&Params::default(), 20.0);
    (0..499).for_each(|_| control.react(20.0 * US));
    assert!(control.rate() < LINE && control.pacing().is_some());
    control.react(20.0 * US);
    assert_eq!((control.rate(), control.pacing()), (LINE, None));
}

#[test]
fn the_patched_control_weighs_gradient_and_distance() {
    let params = Params { variant: Variant::Patched, weight: 1.0, ..Params::default() };
    // No gradient at 100 us: weight 1/2, error (100 - 50) / 50 = 1.
    let mut control = half(&params, 100.0);
    control.react(100.0 * US);
    near(control.rate(), 5.0 * MBPS + LINE / 2.0 * (1.0 - 0.004));
    // A gradient of 1/4 and more: only the error counts.
    let mut control = half(&params, 70.0);
    control.react(75.0 * US);
    near(control.rate(), LINE / 2.0 * (1.0 - 0.008 * 0.5));
    // -1/4 and less: only the step.
    let mut control = half(&params, 80.0);
    control.react(75.0 * US);
    near(control.rate(), LINE / 2.0 + 10.0 * MBPS);
    // It has a fixed point: step / 2 = rate x 0.008 x error / 2, here error = 0.25.
    let mut control = half(&params, 62.5);
    control.react(62.5 * US);
    near(control.rate(), LINE / 2.0);
    // Outside the thresholds nothing differs.
    let mut control = half(&params, 600.0);
    control.react(1_000.0 * US);
    near(control.rate(), 0.6 * LINE / 2.0);
}

#[test]
fn rates_stay_within_their_bounds() {
    for seed in 0..20 {
        let mut random = Random::new(seed, 0, 0);
        let variant = if seed % 2 == 0 { Variant::Paper } else { Variant::Patched };
        let mut control = timely(&Params { variant, ..Params::default() }, 0);
        for _ in 0..5_000 {
            let most = 1 << (1 + random.below(31));
            let (before, rtt) = (control.rate(), random.below(most) as f64);
            control.react(rtt);
            assert!((10.0 * MBPS..=LINE).contains(&control.rate()));
            assert!(rtt >= 50.0 * US || control.rate() >= before, "no fall below T_low");
        }
    }
}

/// A control, and what its packets carry until they are acknowledged.
struct Driver {
    inner: ControlDriver<Timely>,
    on_the_way: std::collections::VecDeque<(Time, u64, Extension)>,
}

impl Driver {
    fn new(params: &Params) -> Driver {
        let mut inner = ControlDriver::new(timely(params, 0));
        // The clock's field wraps in the middle of the test.
        inner.now = Time(Explicit::STAMP_MAX - 100_000_000);
        (inner.pipe, inner.mss) = (Some(0), FULL as u64);
        Driver { inner, on_the_way: Default::default() }
    }

    /// A full packet leaves; whether its burst goes on.
    fn send(&mut self) -> bool {
        let sent = self.inner.progress().sent;
        let packet = self.inner.send(sent, FULL);
        assert_eq!(packet.extension.bytes(), 8);
        self.on_the_way.push_back((self.inner.now, packet.offset, packet.extension.rounded()));
        self.inner.pipe = self.inner.pipe.map(|pipe| pipe + FULL as u64);
        packet.more
    }

    /// The ACK of the oldest packet comes, `rtt` after it began to leave.
    fn acknowledge(&mut self, rtt: Span) -> bool {
        let (left, echo, extension) = self.on_the_way.pop_front().unwrap();
        self.inner.now = left + rtt;
        self.inner.acknowledged += FULL as u64;
        self.inner.pipe = self.inner.pipe.map(|pipe| pipe - FULL as u64);
        self.inner.ack_with(Ack { echo, ..acknowledged(&extension) });
        self.inner.control.decided()
    }
}

/// The ACK of a full packet.
fn acknowledged(extension: &Extension) -> Ack<'_> {
    Ack { bytes: FULL as u64, ..plain_ack(extension) }
}

/// 1538 charged bytes at 10 Gb/s.
const PACKET: Span = Span(1_230_400);

#[test]
fn one_decision_per_rtt() {
    let mut driver = Driver::new(&Params::default());
    let rtt = PACKET + Span::from_us(60);
    (0..10).for_each(|_| {
        driver.send();
        driver.inner.now += PACKET;
    });
    let mut decided = vec![];
    for _ in 0..40 {
        decided.push(driver.acknowledge(rtt));
        driver.send();
    }
    // The first ACK; then the ACK to what was sent after it; and so on.
    let at: Vec<usize> = (0..40).filter(|&n| decided[n]).collect();
    assert_eq!(at, [0, 10, 20, 30]);
    // 60 us without the packet's own time, so no gradient and a rise with each but the first.
    assert_eq!(driver.inner.control.gradient(), 0.0);
}

#[test]
fn each_completion_decides_if_configured() {
    let params = Params { update: Update::Segment, ..Params::default() };
    let mut driver = Driver::new(&params);
    (0..10).for_each(|_| assert!(!driver.send(), "packets have gaps of their own"));
    assert!((0..10).all(|_| driver.acknowledge(PACKET + Span::from_us(60))));
}

#[test]
fn segments_are_timed_as_one() {
    // 16 KiB are 11 full packets.
    let params = Params { pace: Pace::Segment, update: Update::Segment, ..Params::default() };
    let mut driver = Driver::new(&params);
    let more: Vec<bool> = (0..22)
        .map(|_| {
            let more = driver.send();
            driver.inner.now += PACKET;
            more
        })
        .collect();
    assert!((0..22).all(|n| more[n] == (n % 11 < 10)));
    let mut decisions = vec![];
    for n in 0..22 {
        // The last packet of each segment comes back 60 us after it has left.
        if driver.acknowledge(PACKET + Span::from_us(60)) {
            decisions.push(n);
        }
    }
    assert_eq!(decisions, [10, 21]);
    assert_eq!(driver.inner.control.gradient(), 0.0);
    assert_eq!(driver.inner.control.rate(), LINE);
}

#[test]
fn requests_to_go_back_and_losses_change_nothing() {
    let mut driver = Driver::new(&Params::default());
    driver.inner.control = half(&Params::default(), 60.0);
    (driver.inner.pipe, driver.inner.acknowledged) = (Some(1_452), 1_452);
    let stamp = Extension::explicit(Explicit::Stamp { sent: 0 });
    driver.inner.ack_with(Ack { nack: true, ..acknowledged(&stamp) });
    assert!(!driver.inner.control.decided());
    driver.inner.ack_with(Ack { bytes: 0, ..acknowledged(&stamp) });
    assert!(!driver.inner.control.decided());
    for loss in [Loss::Fast, Loss::Timeout] {
        driver.inner.lose(loss);
    }
    assert_eq!(driver.inner.control.rate(), LINE / 2.0);
}

#[test]
fn a_flow_starts_with_its_share() {
    assert_eq!(timely(&Params::default(), 0).rate(), LINE);
    assert_eq!(timely(&Params::default(), 0).pacing(), None);
    assert_eq!(timely(&Params::default(), 3).rate(), LINE / 4.0);
    assert_eq!(timely(&Params::default(), 5_000).rate(), 10.0 * MBPS);
    let limited = timely(&Params { window_limit: true, ..Params::default() }, 1);
    assert_eq!(limited.window(), 20 * 1_452 / 2);
    assert_eq!(timely(&Params::default(), 1).window(), u64::MAX);
    // IRN: a BDP at any rate.
    let capped = timely(&Params { recovery: Recovery::Sack, ..Params::default() }, 1);
    assert_eq!(capped.window(), 20 * 1_452);
}

#[test]
fn the_receiver_returns_the_stamp() {
    let stamp = Extension::explicit(Explicit::Stamp { sent: 123 });
    let packet = Packet { extension: 8, ..segment(ID, 0, 0, FULL) };
    let arriving = arriving(Time(77), &packet, &stamp);
    let mut ack = AckFields::default();
    assert!(ReturnStamp.on_data(&arriving, &mut ack).is_none());
    assert_eq!((ack.extension, ack.informed), (stamp, Some(Time(77))));
}

/// In a network whose RTTs are longer than the paper's.
#[test]
fn delays_follow_a_long_base_rtt() {
    let of = |params: &Params, rtt| {
        let rule = Rule::new(params, Rate::from_gbps(10), 20, FULL, Span::from_us(rtt));
        (rule.low / US, rule.high / US, rule.min_rtt / US)
    };
    let auto = Params::default();
    assert_eq!(of(&auto, 40), (50.0, 500.0, 20.0));
    assert_eq!(of(&auto, 200), (50.0, 2_000.0, 100.0));
    let (delay_high, min_rtt) = (Some(Span::from_us(500)), Some(Span::from_us(20)));
    assert_eq!(of(&Params { delay_high, min_rtt, ..auto }, 200), (50.0, 500.0, 20.0));
}

#[test]
fn a_bound_on_the_decrease_holds_whatever_the_gradient() {
    let mut control = half(&Params { max_decrease: 0.5, ..Params::default() }, 60.0);
    control.react(260.0 * US);
    assert_eq!(control.rate(), LINE / 4.0);
    let mut control = half(&Params::default(), 60.0);
    control.react(260.0 * US);
    assert_eq!(control.rate(), LINE / 1_000.0);
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("variant", "swift"),
        ("weight", "0"),
        ("decrease", "1.1"),
        ("delay_low", "0us"),
        ("delay_high", "0us"),
        ("max_decrease", "0"),
        ("segment", "0B"),
        ("segment", "1MB"),
        ("min_rate", "0bps"),
        ("T_low", "50us"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
    let auto = Rule::new(&Params::default(), Rate::from_gbps(100), 20, FULL, Span::from_us(25));
    assert_eq!((auto.step, auto.least), (100.0 * MBPS, 100.0 * MBPS));
    assert_eq!(auto.segment, 1_452);
    let segment = Some(Bytes(64_000));
    let long = Params { segment, pace: Pace::Segment, ..Params::default() };
    assert_eq!(rule(&long).segment, 44 * 1_452);
}
