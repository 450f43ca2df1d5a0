//! Known results of ExpressPass: the feedback loop by hand.

use super::{ENTRY, FeedbackLoop, Pace, Params};
use incast_endpoint::credit::{CreditControl, CreditRequest};
use incast_testkit::{fabric_site, key_values};
use incast_transport::{Random, Span, Time, Transport};

/// 10 Gb/s x 84 / 1622 in bytes per second.
const MAX: f64 = 1.25e9 * 84.0 / 1622.0;
const RTT: Span = Span::from_us(50);

fn params(settings: &[(&str, &str)]) -> Params {
    let settings = key_values(settings);
    Params::read(&settings).unwrap()
}

fn feedback(settings: &[(&str, &str)]) -> FeedbackLoop {
    FeedbackLoop::new(&params(settings), 84, MAX)
}

fn begin(control: &FeedbackLoop, packets: u32) -> Pace {
    let mut pace = control.begin(&CreditRequest { now: Time::ZERO, packets, one_way: RTT / 2 });
    pace.rtt = RTT;
    pace
}

/// The update at the end of the `n`-th RTT.
fn step(control: &FeedbackLoop, pace: &mut Pace, n: u64, used: u32, loss: f64) {
    control.update(pace, Time::ZERO + RTT * n, used, loss);
}

#[test]
fn updates_without_loss_reach_nearly_the_full_rate() {
    for (alpha, w_init, code, paper) in
        [("0.5", "0.5", 4, 2), ("0.5", "0.0625", 9, 4), ("0.0625", "0.0625", 10, 5)]
    {
        for (fb, expected) in [("code", code), ("paper", paper)] {
            let control = feedback(&[("fb", fb), ("alpha", alpha), ("w_init", w_init)]);
            let mut pace = begin(&control, 1_000_000);
            let mut updates = 0;
            while pace.rate < 0.95 * MAX {
                updates += 1;
                step(&control, &mut pace, updates, 1, 0.0);
            }
            assert_eq!(updates, expected, "fb={fb}, alpha {alpha}, w {w_init}");
        }
    }
}

#[test]
fn one_step_of_each_kind_by_hand() {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs(), "{a}, {b}");
    // The code aims at (1 - 1/2) / 8 = 6.25 % here; 10 % is too much. 20 credits came back in
    // 50 us: 33.6 MB/s, more than the rate; 15 are less.
    let control = feedback(&[]);
    let mut pace = begin(&control, 100);
    near(pace.rate, MAX / 2.0);
    step(&control, &mut pace, 1, 20, 0.1);
    near(pace.rate, MAX / 2.0);
    near(pace.w, 0.03125);
    step(&control, &mut pace, 2, 15, 0.1);
    near(pace.rate, 84.0 * 15.0 / 50e-6 * 1.0625);
    near(pace.w, 0.015625);
    // Loss within the target is an increase: the first one keeps w, the next raises it.
    let before = pace.rate;
    step(&control, &mut pace, 3, 15, 0.05);
    near(pace.rate, 0.015625 * MAX + 0.984375 * before);
    let before = pace.rate;
    step(&control, &mut pace, 4, 15, 0.0);
    near(pace.rate, 0.065625 * MAX + 0.934375 * before);
    // Everything lost: one credit per RTT.
    step(&control, &mut pace, 5, 0, 1.0);
    near(pace.rate, 84.0 / 50e-6);

    let control = feedback(&[("fb", "paper")]);
    let mut pace = begin(&control, 100);
    step(&control, &mut pace, 1, 1, 0.1);
    near(pace.rate, 0.9375 * MAX / 2.0 + 0.0625 * MAX * 1.1);
    let before = pace.rate;
    step(&control, &mut pace, 2, 1, 0.0);
    near(pace.w, 0.28125);
    near(pace.rate, 0.71875 * before + 0.28125 * MAX * 1.1);
    let before = pace.rate;
    step(&control, &mut pace, 3, 1, 0.5);
    near(pace.rate, before * 0.5 * 1.1);
    near(pace.w, 0.140625);
}

#[test]
fn bounds_hold_under_any_loss() {
    for fb in ["code", "paper"] {
        for seed in 0..20 {
            let control = feedback(&[("fb", fb)]);
            let mut random = Random::new(seed, 0, 0);
            let mut pace = begin(&control, random.below(100) as u32);
            for n in 1..1_000 {
                let (total, before) = (1 + random.below(60) as u32, pace);
                let lost = if random.chance(0.5) { random.below(total as u64) as u32 } else { 0 };
                let loss = lost as f64 / total as f64;
                step(&control, &mut pace, n, total - lost, loss);
                assert!((0.01..=0.5).contains(&pace.w));
                assert!((84.0 / 50e-6..=MAX).contains(&pace.rate), "{}", pace.rate);
                let decreased = !pace.increased;
                assert!(!decreased || pace.rate <= before.rate || before.rate < 84.0 / 50e-6);
            }
        }
    }
}

#[test]
fn short_flows_start_in_proportion_in_the_code() {
    for (settings, packets, share) in [
        (&[][..], 10, 0.125),
        (&[], 39, 0.5 * 39.0 / 40.0),
        (&[], 40, 0.5),
        (&[("fb", "paper")], 10, 0.5),
        (&[("fb", "paper"), ("short_flow", "20")], 10, 0.25),
        (&[("short_flow", "0"), ("alpha", "0.25")], 10, 0.25),
    ] {
        let pace = begin(&feedback(settings), packets);
        assert!((pace.rate / MAX - share).abs() < 1e-12, "{settings:?}, {packets} packets");
    }
}

#[test]
fn invalid_parameters_are_refused() {
    let fabric = fabric_site(2, incast_transport::Rate::from_gbps(10), Span::from_us(10));
    for (key, value) in [
        ("fb", "both"),
        ("alpha", "0"),
        ("jitter", "1"),
        ("credit_share", "0.055"),
        ("credit_share", "0"),
        ("credit_queue", "0"),
        ("retransmit_timeout", "2s"),
        ("bucket", "-1"),
    ] {
        let setting = (key.to_string(), value.into());
        let error = ENTRY.configure(&[setting], fabric.clone()).err().expect(key);
        assert_eq!((error.key(), error.written()), (Some(key), Some(value)));
    }
}
