//! Known results of the congestion control; in networks they stand beside PowerTCP's.

use super::*;
use crate::powertcp::Average;
use crate::powertcp::tests::RULE;
use incast_endpoint::sender::{Ack, Control, Progress, stamp};
use incast_testkit::{fabric_site, key_values, plain_ack, progress};
use incast_transport::{Rate, Span, Time, Transport};

const RTT: Span = RULE.base_rtt;
const BDP: f64 = RULE.most;

fn theta(gain: f64, tolerance: f64, update: Update) -> Theta {
    let average = if update == Update::Ack { Average::Reference } else { Average::Window };
    let rule = crate::powertcp::Rule { gain, average, ..RULE };
    Theta::new(Arc::new(Measure { rule, tolerance, update }))
}

/// The ACK of a packet that took `delay`.
fn acknowledge(control: &mut Theta, now: Time, delay: Span, acknowledged: u64, sent: u64) {
    let stamp = stamp(Time(now.0 - delay.0));
    let progress = Progress { acknowledged, sent, ..progress(now, None) };
    control.on_ack(&Ack { bytes: 1_000, ..plain_ack(&stamp) }, &progress);
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a}, not {b}");
}

/// After an RTT in which the delay went from one value to another, in RTTs.
fn after(gain: f64, tolerance: f64, before: f64, behind: f64) -> Theta {
    let mut control = theta(gain, tolerance, Update::Round);
    let (now, of) = (Time::ZERO + RTT * 100, |share: f64| Span((RTT.0 as f64 * share) as u64));
    acknowledge(&mut control, now, of(before), 1_000, 20_000);
    assert!(!control.decided(), "the first ACK has no predecessor");
    acknowledge(&mut control, now + RTT, of(behind), 21_000, 40_000);
    assert!(control.decided());
    control
}

#[test]
fn power_is_the_delay_times_its_growth() {
    for (before, behind, power) in [
        (1.0, 1.0, 1.0),
        (1.0, 2.0, 2.0 * 2.0),
        (2.0, 2.0, 2.0),
        (1.5, 1.0, 0.5),
        (3.0, 2.0, 0.5 * 2.0),
        (3.0, 1.0, 0.5),
    ] {
        near(after(0.7, 1.0, before, behind).state().2, power);
    }
    near(after(0.7, 1.05, 1.05, 1.05).state().2, 1.0);
}

#[test]
fn the_first_window_for_twice_the_power() {
    let (window, reference, _) = after(0.7, 1.0, 2.0, 2.0).state();
    near(window, 0.65 * BDP);
    assert_eq!(window, reference);
}

#[test]
fn the_window_changes_once_per_rtt_and_with_each_ack_in_the_simulator() {
    for update in [Update::Round, Update::Ack] {
        let mut control = theta(0.7, 1.0, update);
        let (mut changes, mut renewals) = (0, 0);
        for packet in 0..60u64 {
            let now = Time::ZERO + RTT * 10 + RTT / 14 * packet;
            let (window, reference, _) = control.state();
            acknowledge(
                &mut control,
                now,
                RTT + Span::from_ns(packet * 100),
                1_000 + packet * 1_000,
                20_000 + packet * 1_000,
            );
            changes += (control.state().0 != window) as u32;
            renewals += (control.state().1 != reference) as u32;
            assert_eq!(control.decided(), control.state().0 != window);
        }
        assert_eq!(renewals, 2);
        assert_eq!(changes, if update == Update::Ack { 59 } else { 2 });
    }
}

#[test]
fn acks_of_one_instant_or_without_a_stamp_tell_nothing() {
    let mut control = theta(0.7, 1.0, Update::Ack);
    let now = Time::ZERO + RTT * 100;
    for delay in [1, 2, 3] {
        acknowledge(&mut control, now, RTT * delay, 21_000, 40_000);
        assert!(!control.decided() && control.state() == (BDP, BDP, 1.0));
    }
    control.on_ack(&plain_ack(&Default::default()), &progress(now + RTT, None));
    assert!(!control.decided());
}

#[test]
fn settings_follow_link_and_fabric() {
    let site = fabric_site(4, Rate::from_gbps(25), Span::from_us(20));
    let set = params::SETS.iter().find(|set| set.name == "code").unwrap();
    let code = Params::read(&key_values(set.values)).unwrap().measure(Rate::from_gbps(25), &site);
    // 150 Mb/s of 25 Gb/s.
    near(code.rule.additive / code.rule.most, 0.006);
    assert_eq!((code.tolerance, code.update), (1.05, Update::Ack));
    for (key, value) in [("tolerance", "0.9"), ("gain", "0"), ("update", "always")] {
        let error = ENTRY.configure(&key_values(&[(key, value)]), site.clone()).map(|_| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("{key} = `{value}`")), "{error}");
    }
}
