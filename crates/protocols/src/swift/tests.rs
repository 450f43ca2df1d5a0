//! Known results of the congestion control.

use super::*;
use incast_endpoint::sender::{Ack, Control, Loss, stamp};
use incast_testkit::{ControlDriver, fabric_site, key_values, plain_ack};
use incast_transport::{FabricSite, Fault, Rate, Span, Time, Transport};

const LINE: Rate = Rate::from_gbps(100);
const FULL: u64 = 1_452;
const US: f64 = 1e6;

fn site() -> Arc<FabricSite> {
    fabric_site(2, LINE, Span::from_us(12))
}

/// A base target of 20 us, and up to 100 us more.
fn params() -> Params {
    Params {
        base_target: Some(Span::from_us(20)),
        hop_target: Some(Span::ZERO),
        flow_range: Some(Span::from_us(100)),
        ..Params::default()
    }
}

fn rule(params: &Params) -> Rule {
    Rule::new(params, LINE, &site())
}

/// A flow with a window of so many packets, a while after the beginning.
fn swift(params: &Params, window: f64) -> ControlDriver<Swift> {
    let params = Params { initial_window: Some(window), ..params.clone() };
    let mut driver = ControlDriver::new(Swift::new(Arc::new(rule(&params))));
    (driver.now, driver.mss) = (Time(1_000_000_000_000), FULL);
    driver
}

/// The ACK of `bytes`, whose packet took so many targets.
fn ack_after(driver: &mut ControlDriver<Swift>, targets: f64, bytes: u64) {
    let target = driver.control.rule().target(driver.control.packets());
    let sent = stamp(Time(driver.now.0 - (target * targets) as u64));
    driver.ack_with(Ack { bytes, ..plain_ack(&sent) });
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn small_windows_have_a_larger_target() {
    let rule = rule(&params());
    near(rule.slope / rule.range, 0.32655);
    near(rule.offset / rule.range, -0.032655);
    // 32.655 us over the root of the window, less 3.2655.
    for (window, added) in [(0.1, 100.0), (1.0, 29.39), (4.0, 13.062), (25.0, 3.2655), (100.0, 0.0)]
    {
        near((rule.target(window) - rule.base) / US, added);
    }
    for window in [0.001, 0.01, 0.05] {
        assert_eq!(rule.target(window), rule.base + rule.range);
    }
    for window in [101.0, 256.0] {
        assert_eq!(rule.target(window), rule.base);
    }
    let falls = |pair: &[f64]| rule.target(pair[0]) > rule.target(pair[1]);
    assert!([0.1, 0.2, 1.0, 3.0, 10.0, 99.0, 100.0].windows(2).all(falls));
}

#[test]
fn decreases_follow_the_distance_from_the_target_up_to_a_half() {
    for (targets, factor) in [(1.1, 0.927_273), (2.0, 0.6), (4.0, 0.5), (100.0, 0.5)] {
        let mut driver = swift(&params(), 40.0);
        ack_after(&mut driver, targets, FULL);
        near(driver.control.packets() / 40.0, factor);
        assert!(driver.control.decided());
    }
}

#[test]
fn below_the_target_a_window_grows_by_a_packet_per_rtt() {
    let mut driver = swift(&params(), 10.0);
    ack_after(&mut driver, 0.5, FULL);
    near(driver.control.packets(), 10.1);
    (1..10).for_each(|_| ack_after(&mut driver, 0.5, FULL));
    near(driver.control.packets(), 10.9586);
    // One ACK of many counts with the window before it.
    let mut driver = swift(&params(), 10.0);
    ack_after(&mut driver, 0.5, 5 * FULL);
    near(driver.control.packets(), 10.5);
    // One that acknowledges nothing new changes nothing below the target, and lowers above it.
    ack_after(&mut driver, 0.5, 0);
    near(driver.control.packets(), 10.5);
    ack_after(&mut driver, 2.0, 0);
    near(driver.control.packets(), 6.3);
}

#[test]
fn a_window_below_a_packet_spaces_packets() {
    let mut driver = swift(&params(), 0.5);
    // A delay of 20 us: one packet every 40 us.
    let sent = stamp(Time(driver.now.0 - 20_000_000));
    driver.ack_with(Ack { bytes: 0, ..plain_ack(&sent) });
    let rate = driver.control.pacing().unwrap();
    let gap = rate.tx_time(incast_transport::Bytes(1_538));
    assert!(gap.0.abs_diff(40_000_000) < 1_000, "{gap}");
    assert_eq!(driver.control.window(), FULL, "one may be in flight");
    ack_after(&mut driver, 0.5, FULL);
    near(driver.control.packets(), 1.5);
    assert_eq!(driver.control.pacing(), None);
}

#[test]
fn a_window_falls_once_per_rtt_whatever_the_reason() {
    let mut driver = swift(&params(), 40.0);
    ack_after(&mut driver, 4.0, FULL);
    near(driver.control.packets(), 20.0);
    for _ in 0..5 {
        driver.pass(Span::from_us(10));
        ack_after(&mut driver, 4.0, FULL);
        driver.lose(Loss::Fast);
        driver.lose(Loss::Timeout);
        near(driver.control.packets(), 20.0);
    }
    // The delay is that of the last ACK: four targets of about 24 us.
    driver.pass(Span::from_us(60));
    driver.lose(Loss::Fast);
    near(driver.control.packets(), 10.0);
    // An ACK that comes with the news of a loss finds the decrease made.
    ack_after(&mut driver, 4.0, FULL);
    near(driver.control.packets(), 10.0);
}

#[test]
fn at_the_largest_window_acks_do_not_postpone_a_decrease() {
    let mut driver = swift(&params(), 256.0);
    (0..10).for_each(|_| ack_after(&mut driver, 0.5, FULL));
    assert_eq!(driver.control.packets(), 256.0);
    ack_after(&mut driver, 2.0, FULL);
    near(driver.control.packets(), 0.6 * 256.0);
}

#[test]
fn timeouts_in_a_row_end_at_the_least_window() {
    let mut driver = swift(&params(), 40.0);
    for halvings in 1..5 {
        driver.lose(Loss::Timeout);
        near(driver.control.packets(), 40.0 / f64::from(1 << halvings));
        driver.pass(Span::from_ms(1));
    }
    driver.lose(Loss::Timeout);
    assert_eq!(driver.control.packets(), 0.001);
    // An ACK ends the row.
    let mut driver = swift(&params(), 40.0);
    for _ in 0..9 {
        driver.lose(Loss::Timeout);
        ack_after(&mut driver, 0.5, 0);
        driver.pass(Span::from_ms(1));
    }
    assert!(driver.control.packets() > 0.05);
}

#[test]
fn windows_stay_within_their_bounds() {
    let mut random = incast_transport::Random::new(5, 0, 0);
    let mut driver = swift(&params(), 8.0);
    for _ in 0..10_000 {
        driver.pass(Span::from_us(random.below(100)));
        let targets = random.below(400) as f64 / 100.0;
        let before = driver.control.packets();
        ack_after(&mut driver, targets, FULL * random.below(3));
        if random.below(50) == 0 {
            driver.lose(Loss::Fast);
        }
        let after = driver.control.packets();
        assert!((0.001..=256.0).contains(&after));
        assert!(after >= before * 0.5 * (1.0 - 1e-12), "{before} {after}");
    }
}

#[test]
fn an_ack_without_a_stamp_decides_nothing() {
    let mut driver = swift(&params(), 8.0);
    driver.ack(false);
    assert_eq!((driver.control.packets(), driver.control.decided()), (8.0, false));
}

#[test]
fn equal_flows_have_the_window_at_which_they_meet_their_target() {
    // n w packets of 1500 B are in flight for T at 100 Gb/s, T being the target of w.
    let params = Params {
        base_target: Some(Span::from_us(15)),
        flow_range: Some(Span::from_us(75)),
        ..params()
    };
    let rule = rule(&params);
    for (flows, window, delay) in [(100.0, 2.3713, 28.455), (1_000.0, 0.41965, 50.358)] {
        let per_us = 100e9 / 8.0 / 1_500.0 / US;
        let excess = |w: f64| flows * w - per_us * rule.target(w) / US;
        let (mut low, mut high) = (0.001, 100.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        near(low, window);
        near(rule.target(low) / US, delay);
    }
}

// -- parameters ---------------------------------------------------------------------------------

#[test]
fn auto_follows_the_fabric() {
    let site = site();
    let rtt = site.base_rtt_with(8).0;
    let auto = Rule::new(&Params::default(), LINE, &site);
    assert_eq!(auto.base, (rtt + rtt / 4 + 2_000_000) as f64);
    assert_eq!(auto.range, 5.0 * auto.base);
    // 100 Gb/s for 12 us and a little: 98 packets of 1538 B.
    assert_eq!(auto.first, 98.0);
    // A base that is given has a part per hop: the longest path of this site has two links.
    let given = Params { base_target: Some(Span::from_us(15)), ..Params::default() };
    let given = Rule::new(&given, LINE, &site);
    assert_eq!((given.base, given.range), (17e6, 75e6));
}

fn configure(settings: &[(&str, &str)]) -> Result<Vec<String>, Fault> {
    let configured = ENTRY.configure(&key_values(settings), site())?;
    Ok(configured.warnings().into_iter().map(|notice| notice.text).collect())
}

#[test]
fn wrong_settings_are_refused_and_short_targets_warned_of() {
    for (key, value) in [
        ("flow_min", "100"),
        ("flow_max", "0.1"),
        ("min_window", "257"),
        ("max_decrease", "1"),
        ("base_target", "0us"),
        ("initial_window", "0"),
        ("set", "googles"),
    ] {
        let error = configure(&[(key, value)]).unwrap_err().to_string();
        assert!(error.contains("expected"), "{error}");
    }
    let error = configure(&[("flow_min", "200")]).unwrap_err().to_string();
    assert!(error.contains("flow_min = `200`: expected less than flow_max = 100"), "{error}");
    for set in params::SETS {
        let warnings = configure(&[("set", set.name)]).unwrap();
        assert!(warnings.is_empty(), "{}: {warnings:?}", set.name);
    }
    let warnings = configure(&[("base_target", "5us")]).unwrap();
    assert!(
        warnings[0].contains("swift.base_target: 7us with its part per hop, but the longest path"),
        "{warnings:?}"
    );
}
