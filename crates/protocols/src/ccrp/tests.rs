//! Known results of CCRP: Algorithm 1 by hand.

use super::{MarkLoop, Pace, Params};
use crate::expresspass;
use incast_endpoint::credit::{Arrived, CreditControl, CreditCount, CreditRequest};
use incast_testkit::key_values;
use incast_transport::{ParameterSet, Random, Span, Time};

/// 10 Gb/s x 84 / 1622 in bytes per second.
const MAX: f64 = 1.25e9 * 84.0 / 1622.0;
const RTT: Span = Span::from_us(50);

fn params(settings: &[(&str, &str)]) -> Params {
    let settings = key_values(settings);
    Params::read(&settings).unwrap()
}

fn marks(settings: &[(&str, &str)]) -> MarkLoop {
    MarkLoop::new(&params(settings), 84, 1538, MAX)
}

fn begin(control: &MarkLoop) -> Pace {
    control.begin(&CreditRequest { now: Time::ZERO, packets: 1_000_000, one_way: RTT / 2 })
}

fn at(n: u64) -> Time {
    Time::ZERO + RTT * n
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * b.abs().max(1e-9), "{a}, {b}");
}

#[test]
fn one_update_of_each_kind_by_hand() {
    let control = marks(&[]);
    let mut pace = begin(&control);
    near(pace.rate, MAX);
    assert_eq!((pace.omega, pace.alpha, pace.rtt), (0.0, 1.0, RTT));
    control.update(&mut pace, at(1), 0.5, 0.0);
    near(pace.alpha, 0.96875);
    near(pace.omega, 0.03);
    near(pace.rate, 0.53015625 * MAX);
    // Without marks it grows, and the average of marks stays; omega nears 0.06.
    let before = pace.rate;
    control.update(&mut pace, at(2), 0.0, 0.0);
    near(pace.alpha, 0.96875);
    near(pace.omega, 0.045);
    near(pace.rate, 0.955 * before + 0.045 * MAX);
    // One lost credit is a loss.
    let before = pace.rate;
    control.update(&mut pace, at(3), 0.0, 0.01);
    near(pace.rate, 0.99 * before);
    near(pace.omega, 0.0225);
    // Both at once: first the cut, then the loss.
    let before = pace.rate;
    control.update(&mut pace, at(4), 1.0, 0.25);
    let alpha = 0.9375 * 0.96875 + 0.0625;
    near(pace.alpha, alpha);
    near(pace.rate, before * (1.0 - alpha / 2.0) * 0.75);
    near(pace.omega, 0.01125);
    control.update(&mut pace, at(5), 0.0, 1.0);
    near(pace.omega, 0.01);
    near(pace.rate, 84.0 / 50e-6);
}

#[test]
fn a_target_share_of_marks_is_tolerated_and_deepens_the_cut() {
    let control = marks(&[("target_ecn_ratio", "0.2"), ("gain", "0.5")]);
    let mut pace = begin(&control);
    control.update(&mut pace, at(1), 0.2, 0.0);
    near(pace.rate, MAX);
    control.update(&mut pace, at(2), 0.4, 0.0);
    near(pace.alpha, 0.7);
    near(pace.rate, (1.0 - 0.045) * MAX * (1.0 - 0.45) + 0.045 * MAX);
    let control = marks(&[("target_loss", "0.1")]);
    let mut pace = begin(&control);
    control.update(&mut pace, at(1), 0.0, 0.1);
    near(pace.omega, 0.03);
    control.update(&mut pace, at(2), 0.0, 0.11);
    near(pace.rate, 0.89 * MAX);
}

#[test]
fn growth_closes_six_percent_of_the_gap_per_rtt() {
    let control = marks(&[("initial_rate", "0.1")]);
    let mut pace = begin(&control);
    (1..12).for_each(|n| control.update(&mut pace, at(n), 0.0, 0.0));
    let mut half = 0;
    let lacks = MAX - pace.rate;
    while MAX - pace.rate > lacks / 2.0 {
        let before = MAX - pace.rate;
        control.update(&mut pace, at(12 + half), 0.0, 0.0);
        assert!(((MAX - pace.rate) / before - 0.94).abs() < 1e-4);
        half += 1;
    }
    assert_eq!(half, 12, "half-life 11.2 round trips");
    assert!(pace.omega <= 0.06 && pace.omega > 0.05999);
}

/// Line 5 as written, "at least" with a target of 0, cuts the rate without any mark. Therefore the
/// default is "above".
#[test]
fn algorithm_one_as_written_starves_its_flow() {
    let run = |test| {
        let control = marks(&[("ratio_test", test), ("dcqcn", "off")]);
        let mut pace = begin(&control);
        let mut rates = vec![pace.rate / MAX];
        for n in 1..=120 {
            control.update(&mut pace, at(n), 0.0, 0.0);
            rates.push(pace.rate / MAX);
        }
        rates
    };
    assert!(run("above").iter().all(|rate| (rate - 1.0).abs() < 1e-12));
    let rates = run("at_least");
    for (update, expected) in [(7, 0.167), (21, 0.28), (51, 0.64)] {
        assert!((rates[update] - expected).abs() < 0.005, "{update}: {}", rates[update]);
    }
    assert!(rates[7..].is_sorted() && rates[..=7].iter().rev().is_sorted());
    let passes = rates[7..].iter().position(|rate| *rate > 0.95).unwrap() + 7;
    assert!((95..105).contains(&passes), "{passes}");
}

/// Without marks CCRP is ExpressPass's published loop with CCRP's parameters.
#[test]
fn without_marks_it_is_expresspass_with_other_parameters() {
    let settings =
        [("fb", "paper"), ("target_loss", "0"), ("w_max", "0.06"), ("w_init", "0"), ("alpha", "1")];
    let settings = key_values(&settings);
    let other = expresspass::Params::read(&settings).unwrap();
    let other = expresspass::FeedbackLoop::new(&other, 84, MAX);
    let control = marks(&[("omega_guard", "true")]);
    for seed in 0..10 {
        let mut random = Random::new(seed, 0, 0);
        let asked = CreditRequest { now: Time::ZERO, packets: 100, one_way: RTT / 2 };
        let (mut a, mut b) = (control.begin(&asked), other.begin(&asked));
        b.rtt = RTT;
        for n in 1..500 {
            let loss = if random.chance(0.3) { random.unit() } else { 0.0 };
            control.update(&mut a, at(n), 0.0, loss);
            other.update(&mut b, at(n), 10, loss);
            assert_eq!((a.rate, a.omega), (b.rate, b.w), "update {n} of seed {seed}");
        }
    }
}

#[test]
fn bounds_hold_under_any_marks_and_losses() {
    for dcqcn in ["recovery", "strict_text", "listing", "off"] {
        for seed in 0..20 {
            let control = marks(&[("dcqcn", dcqcn), ("byte_counter", "100KB")]);
            let mut random = Random::new(seed, 0, 0);
            let mut pace = begin(&control);
            for n in 1..1_000 {
                let ratio = if random.chance(0.3) { random.unit() } else { 0.0 };
                let loss = if random.chance(0.3) { random.unit() } else { 0.0 };
                let before = pace;
                control.update(&mut pace, at(n), ratio, loss);
                if ratio > 0.0 && loss == 0.0 {
                    // Invariant 3.
                    let cut = before.rate * (1.0 - pace.alpha / 2.0);
                    let most = (1.0 - pace.omega) * cut + pace.omega * MAX;
                    assert!(pace.rate <= most.max(84.0 / 50e-6) * (1.0 + 1e-12));
                }
                if pace.stages.next < at(n + 1) {
                    let now = pace.stages.next;
                    control.wake(&mut pace, now);
                    assert!(pace.stages.next > now);
                }
                assert!((84.0 / 50e-6..=MAX).contains(&pace.rate), "{}", pace.rate);
                assert!((0.0..=0.06).contains(&pace.omega) && (0.0..=1.0).contains(&pace.alpha));
                assert!(pace.stages.target <= MAX);
            }
        }
    }
}

/// Wakes `count` times, each when it is due; returns the rates after each, in credit bytes.
fn wakes(control: &MarkLoop, pace: &mut Pace, count: usize) -> Vec<f64> {
    let mut rates = vec![];
    for _ in 0..count {
        let now = pace.stages.next;
        control.wake(pace, now);
        assert_eq!(pace.stages.next, now + Span::from_us(55));
        rates.push(pace.rate);
    }
    rates
}

#[test]
fn recovery_halves_the_gap_and_then_increases_further() {
    let control = marks(&[]);
    let mut pace = begin(&control);
    assert_eq!(control.deadline(&pace), Time::NEVER, "no cut yet");
    pace.rate = MAX / 2.0;
    control.update(&mut pace, at(1), 1.0, 1e-9);
    assert_eq!(control.deadline(&pace), at(1) + Span::from_us(55));
    near(pace.rate, MAX / 4.0 * (1.0 - 1e-9));
    let (cut, goal) = (pace.rate, MAX / 2.0);
    let rates = wakes(&control, &mut pace, 4);
    for (step, rate) in rates.iter().enumerate() {
        near(*rate, goal - (goal - cut) / 2f64.powi(step as i32 + 1));
    }
    near(pace.alpha, 0.9375f64.powi(4));
    // From the fifth on additive: 40 Mb/s of data are 2.18 Mb/s of credits.
    let additive: f64 = 40e6 / 8.0 * 84.0 / 1538.0;
    assert!((additive * 8.0 / 1e6 - 2.18).abs() < 0.005);
    let before = pace.rate;
    wakes(&control, &mut pace, 1);
    near(pace.stages.target, goal + additive);
    near(pace.rate, (before + goal + additive) / 2.0);
    // Hyper once more than five increases by time and more than five by bytes have come.
    wakes(&control, &mut pace, 1);
    pace.stages.by_bytes = 5;
    let before = pace.stages.target;
    let count = &mut CreditCount::from(0);
    count.comes(0, 1);
    let arrived = Arrived { now: at(1), rtt: RTT * 9, marked: false, payload: 10_000 };
    for _ in 0..999 {
        control.on_data(&mut pace, &arrived, count);
    }
    assert_eq!((pace.stages.by_bytes, pace.stages.hyper), (5, 0));
    control.on_data(&mut pace, &arrived, count);
    assert_eq!((pace.stages.by_bytes, pace.stages.hyper), (6, 1));
    near(pace.stages.target, before + 10.0 * additive);
    // Another cut restarts the recovery.
    let before = pace.rate;
    control.update(&mut pace, at(9), 0.01, 0.0);
    assert_eq!((pace.stages.by_time, pace.stages.by_bytes, pace.stages.hyper), (0, 0, 0));
    near(pace.stages.target, before);
}

/// Steps of the recovery of each set, in Mb/s of credits: DCQCN's x 84 / 1538.
#[test]
fn the_steps_are_those_of_dcqcn_in_credits() {
    for (set, additive, hyper) in [
        ("paper", 2.18, 21.8),
        ("group_40_100", 2.18, 5.46),
        ("group_200_500", 10.92, 27.31),
        ("steps_5_50", 0.273, 2.73),
    ] {
        let sets = super::ENTRY.optional.sets;
        let find = |sets: &[ParameterSet]| *sets.iter().find(|one| one.name == set).expect(set);
        let chosen = find(sets).below(&key_values(&[("omega_max", "0.03")]));
        let params = Params::read(&chosen).unwrap();
        assert_eq!(params.omega_max, 0.03);
        let control = MarkLoop::new(&params, 84, 1538, MAX);
        let steps = control.steps();
        for (step, expected) in [(steps.0, additive), (steps.1, hyper)] {
            let mbps = step * 8.0 / 1e6;
            assert!((mbps / expected - 1.0).abs() < 0.005, "{set}: {mbps}");
        }
        // The same names and data rates as DCQCN's.
        let (own, dcqcn) = (find(sets), find(crate::dcqcn::ENTRY.optional.sets));
        for value in own.values {
            assert!(dcqcn.values.contains(value), "{set}: {value:?}");
        }
    }
}

/// Nine flows whose data is all marked keep a tenth of the largest rate each: alone they fill a link.
#[test]
fn with_every_packet_marked_a_ninth_remains() {
    // One update is cur -> (1 - w) cur / 2 + w max at alpha = 1: the fixed point is 2 w / (1 + w).
    for dcqcn in ["off", "recovery"] {
        let control = marks(&[("dcqcn", dcqcn)]);
        let mut pace = begin(&control);
        (1..400).for_each(|n| control.update(&mut pace, at(n), 1.0, 0.0));
        near(pace.rate, 2.0 * pace.omega / (1.0 + pace.omega) * MAX);
        assert!((pace.rate / MAX - 0.113).abs() < 5e-4, "{}", pace.rate / MAX);
        assert!(9.0 * pace.rate > MAX);
    }
}

/// A few marks cut less than omega adds, so that the rate soon exceeds the one before the cut. The
/// recovery then halves the excess, or continues from there.
#[test]
fn the_recovery_target_is_below_the_rate_or_follows_it() {
    for follows in ["false", "true"] {
        let control = marks(&[("initial_rate", "0.5"), ("target_follows", follows)]);
        let mut pace = begin(&control);
        pace.alpha = 0.01;
        for n in 1..10 {
            control.update(&mut pace, at(n), 0.0, 0.0);
        }
        let before = pace.rate;
        control.update(&mut pace, at(10), 0.02, 0.0);
        control.update(&mut pace, at(11), 0.0, 0.0);
        near(pace.stages.target, before);
        let reached = pace.rate;
        assert!(reached > before, "omega has passed it");
        let rates = wakes(&control, &mut pace, 8);
        if follows == "false" {
            near(rates[0], (reached + before) / 2.0);
            assert!(rates[..4].iter().rev().is_sorted());
            continue;
        }
        // Fast recovery changes nothing; four additive steps of 40 Mb/s of data follow.
        near(rates[3], reached);
        assert!(rates.is_sorted() && rates[7] > reached && rates[7] < reached + 4.0 * 273_084.0);
        assert!(pace.stages.target >= pace.rate);
    }
}

#[test]
fn strict_text_waits_for_unmarked_rtts_and_off_never_recovers() {
    let control = marks(&[("dcqcn", "strict_text"), ("initial_rate", "0.5")]);
    let mut pace = begin(&control);
    control.update(&mut pace, at(1), 1.0, 1e-9);
    let cut = pace.rate;
    assert!(wakes(&control, &mut pace, 3).iter().all(|rate| *rate == cut), "not yet");
    near(pace.alpha, 0.9375f64.powi(3));
    for n in 2..6 {
        control.update(&mut pace, at(n), 0.0, 1e-9);
        assert!(!pace.clean);
    }
    control.update(&mut pace, at(6), 0.0, 1e-9);
    assert!(pace.clean);
    let before = pace.rate;
    assert!(wakes(&control, &mut pace, 1)[0] > before);
    control.update(&mut pace, at(7), 0.5, 0.0);
    assert!(!pace.clean && pace.clean_rtts == 0);
    // Without any cut it starts after RTTs without marks.
    let mut pace = begin(&control);
    for n in 1..5 {
        control.update(&mut pace, at(n), 0.0, 0.0);
        assert_eq!(control.deadline(&pace), Time::NEVER);
    }
    control.update(&mut pace, at(5), 0.0, 0.0);
    assert_eq!(control.deadline(&pace), at(5) + Span::from_us(55));
    let control = marks(&[("dcqcn", "off")]);
    let mut pace = begin(&control);
    control.update(&mut pace, at(1), 1.0, 0.0);
    assert_eq!(control.deadline(&pace), Time::NEVER);
}

/// With "at least" and a target of 0, every RTT reaches lines 8 to 10, and those without a mark for
/// several RTTs recover there; with "above" none does.
#[test]
fn the_listing_recovers_where_its_lines_stand() {
    let rates = |test, dcqcn| {
        let control = marks(&[("ratio_test", test), ("dcqcn", dcqcn)]);
        let mut pace = begin(&control);
        let mut rates = vec![];
        for n in 1..=40 {
            // A mark in the 21st RTT ends those without.
            control.update(&mut pace, at(n), if n == 21 { 0.5 } else { 0.0 }, 0.0);
            assert_eq!(control.deadline(&pace), Time::NEVER);
            rates.push(pace.rate / MAX);
        }
        rates
    };
    assert_eq!(rates("above", "listing"), rates("above", "off"));
    let (written, off) = (rates("at_least", "listing"), rates("at_least", "off"));
    assert_eq!(written[..4], off[..4]);
    // The fifth: alpha and omega by hand; half of the way to the target, the whole rate.
    let alpha = 0.9375f64.powi(5);
    let omega = 0.06 * (1.0 - 0.5f64.powi(5));
    let half = (written[3] * (1.0 - alpha / 2.0) + 1.0) / 2.0;
    near(written[4], (1.0 - omega) * half + omega);
    assert!(written[4..20].is_sorted(), "{written:?}");
    let [fourth, tenth] = [written[3], written[9]].map(|rate| (100.0 * rate).round());
    assert_eq!((fourth, tenth), (20.0, 81.0), "{written:?}");
    // After the mark four RTTs only cut, and the target is the rate before it.
    assert!(written[20..25].iter().rev().is_sorted() && written[25] > written[24]);
    assert!(written[25..].iter().all(|rate| *rate > written[24]));
}

/// One update per RTT, from the data that arrived in it.
#[test]
fn the_rate_is_updated_once_per_rtt() {
    let control = marks(&[("initial_rate", "0.5")]);
    let mut pace = begin(&control);
    let mut count = CreditCount::from(0);
    let mut updates = vec![];
    for number in 0..100u32 {
        // Every fifth credit is lost, every fourth packet marked, one per microsecond.
        if number % 5 == 4 {
            continue;
        }
        count.comes(number, 100);
        let now = Time::ZERO + RTT + Span::from_us(number as u64);
        let arrived = Arrived { now, rtt: RTT, marked: number % 4 == 0, payload: 1460 };
        if control.on_data(&mut pace, &arrived, &count) {
            updates.push((now - Time::ZERO, count.used(), count.dropped()));
            count.begin_again();
            assert_eq!(pace.marked, 0);
        }
    }
    let us = Span::from_us;
    assert_eq!(updates, [(us(50), 1, 0), (us(100), 40, 10)]);
    let mut by_hand = begin(&control);
    control.update(&mut by_hand, at(1), 1.0, 0.0);
    control.update(&mut by_hand, at(2), 9.0 / 40.0, 0.2);
    assert_eq!((pace.rate, pace.alpha, pace.omega), (by_hand.rate, by_hand.alpha, by_hand.omega));
}
