//! Series of ports and flows: known answers.

use super::*;

const RATE: Rate = Rate::from_gbps(40);

#[test]
fn area_and_maximum_survive_doubling() {
    let mut series = PortSeries::new(Span(10), RATE);
    let mut area = 0u128;
    let mut backlog = 0u64;
    for step in 0..20_000u64 {
        let now = step * 7;
        backlog = step % 13;
        series.set_backlog(now, backlog);
        series.sent(now, 1, backlog);
        area += backlog as u128 * 7;
    }
    let end = 20_000 * 7;
    let width = series.width();
    let PortRecord { bins, total, .. } = series.finish(3, end, width * 4);
    assert_eq!((total.backlog_area, total.sent_packets), (area, 20_000));
    let _ = backlog;
    assert_eq!(bins.iter().map(|b| b.backlog_area).sum::<u128>(), area);
    assert_eq!(bins.iter().map(|b| b.sent_packets as u64).sum::<u64>(), 20_000);
    assert!(bins.iter().all(|b| b.backlog_max == 12));
    assert!(bins.len() <= MOST / 4 + 1);
}

/// Class 2 is closed from 100 to 40,000, class 5 from 30,000 on; frames at 50 and 39,000.
#[test]
fn each_class_has_its_pauses_and_doubling_keeps_them() {
    let mut series = PortSeries::new(Span(10), RATE);
    let frame =
        |classes, paused| Header::Pause { classes, paused, quanta: 0, spare_low: 0, spare: 0 };
    series.pause_frame(50, &frame(0b1, 0b1));
    series.set_open(100, !0b100);
    series.set_open(30_000, !0b10_0100);
    series.pause_frame(39_000, &frame(0b11, 0b10));
    series.set_open(40_000, !0b10_0000);
    let width = series.width();
    let PortRecord { bins, total, total_pauses, pauses, .. } = series.finish(0, 60_000, width * 2);
    assert_eq!(total_pauses.paused, [0, 0, 39_900, 0, 0, 30_000, 0, 0]);
    assert_eq!((total_pauses.pause_frames, total_pauses.resume_frames), (2, 1));
    assert_eq!(total.paused, 59_900, "some class");
    assert_eq!(pauses.len(), bins.len());
    let mut some = bins.iter().zip(&pauses).skip(1).map(|(bin, one)| (bin.paused, one.paused));
    assert!(some.clone().all(|(any, own)| any <= width * 2 && any >= own[2].max(own[5])));
    assert_eq!(
        some.next_back(),
        Some((60_000 % (width * 2), { [0, 0, 0, 0, 0, 60_000 % (width * 2), 0, 0] }))
    );
    let quiet = PortSeries::new(Span(10), RATE).finish(0, 60_000, 640);
    assert!(quiet.pauses.is_empty());
}

/// The end of an interval may lie beyond the last instant there is.
#[test]
fn intervals_reach_to_the_end_of_time() {
    let last = u64::MAX - 1;
    let mut series = PortSeries::new(Span(1_000_000), RATE);
    series.set_backlog(1_000, 7);
    series.set_backlog(last, 0);
    let width = series.width();
    let record = series.finish(0, last, width);
    assert_eq!(record.total.backlog_area, 7 * (last - 1_000) as u128);
    assert!(record.bins.len() <= MOST);
}

#[test]
fn a_port_without_traffic_takes_no_memory_for_it() {
    let idle = PortSeries::new(Span(10), RATE).finish(0, 60_000, 640);
    assert_eq!((idle.bins.capacity(), idle.total), (0, Bin::default()));
    let mut early = PortSeries::new(Span(10), RATE);
    early.set_backlog(25, 100);
    early.sent(34, 100, 0);
    let record = early.finish(0, 60_000, 10);
    assert_eq!(record.bins.len(), 4);
    assert_eq!((record.total.sent_bytes, record.total.backlog_area), (100, 900));
}

/// However the changes fall, a queue that never changes has it at every instant, and time
/// without one counts as none. A quarter of the time there are 30,000 bytes.
#[test]
fn percentiles_of_the_backlog_are_over_time() {
    let (constant, end) = (30_000, 4_000_000_000u64);
    let mut series = PortSeries::new(Span(10_000_000), RATE);
    series.set_backlog(0, constant);
    let width = series.width();
    let backlogs = series.finish(0, end, width).backlogs;
    // 16 packets of 1538 B take 4,921.6 ns.
    assert_eq!(backlogs.count(), end / 4_921_600 + 1);
    for thousandths in [1, 500, 990, 1000] {
        let seen = backlogs.percentile(thousandths).unwrap();
        assert!(seen <= constant && seen + seen / 16 >= constant, "{seen}");
    }
    let mut series = PortSeries::new(Span(10_000_000), RATE);
    series.set_backlog(end / 2, constant);
    series.sent(end / 4 * 3, 1538, 0);
    let width = series.width();
    let backlogs = series.finish(0, end, width).backlogs;
    assert_eq!(backlogs.percentile(500), Some(0));
    assert_eq!(backlogs.percentile(740), Some(0));
    assert!(backlogs.percentile(760).unwrap() > constant / 17 * 16);
    let idle = PortSeries::new(Span(10), RATE).finish(0, end, 10);
    assert_eq!(idle.backlogs, Histogram::new());
}

/// Samples that are left for later are the same samples: whether a queue stands for none, some or many of
/// them, and whether changes come at the instant of one.
#[test]
fn every_stretch_has_its_sample() {
    let samples = Samples::new(RATE);
    for scale in [1u64, 30, 1_000] {
        let (mut random, mut at) = (scale, 0);
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % limit
        };
        // When the queue has changed, and to what.
        let mut changes = vec![];
        for _ in 0..3_000 {
            let instant = samples.instant(at / samples.spacing);
            let now = match below(4) {
                0 if instant > at => instant,
                1 => at,
                _ => at + below(samples.spacing * scale / 50 + 1),
            };
            changes.push((now, if below(2) == 0 { 0 } else { below(50_000) }));
            at = now;
        }
        let end = at + samples.spacing * below(3);
        let mut series = PortSeries::new(Span(10_000_000), RATE);
        for &(now, backlog) in &changes {
            match below(2) {
                0 => series.set_backlog(now, backlog),
                _ => series.sent(now, 1538, backlog),
            }
        }
        let width = series.width();
        let seen = series.finish(0, end, width).backlogs;
        let mut expected = Histogram::new();
        for instant in (0..).map(|stretch| samples.instant(stretch)).take_while(|at| *at <= end) {
            let before = changes.iter().rev().find(|(now, _)| *now < instant);
            expected.add(before.map_or(0, |(_, backlog)| *backlog));
        }
        assert_eq!(seen, expected, "changes {scale} times as far apart");
    }
}

/// Packets waiting in M/D/1 with utilisation `rho`: P(at most `most`), by Crommelin's formula
/// for the number in the system, of which one is in service.
fn md1(rho: f64, most: u32) -> f64 {
    let in_system = |n: u32| -> f64 {
        let term = |k: u32| {
            let (x, j) = (k as f64 * rho, n - k);
            let power = |j: u32| (1..=j).fold(1.0, |all, i| all * x / i as f64);
            let sign = if j.is_multiple_of(2) { 1.0 } else { -1.0 };
            let less = if j == 0 || k == n { 0.0 } else { power(j - 1) };
            sign * x.exp() * (power(j) + less)
        };
        match n {
            0 => 1.0 - rho,
            1 => (1.0 - rho) * (rho.exp() - 1.0),
            _ => (1.0 - rho) * (1..=n).map(term).sum::<f64>(),
        }
    };
    (0..=most + 1).map(in_system).sum()
}

/// Packets of 1000 B arrive as a Poisson process and take 200 ns each: between P(fewer) and
/// P(at most) what a percentile reads there is the percentile, up to the error of the samples.
#[test]
fn percentiles_of_the_backlog_are_those_of_an_md1_queue() {
    // Farther out the terms of the formula cancel beyond what a float holds.
    assert!((0.999..1.0).contains(&md1(0.8, 20)) && md1(0.5, 12) > 0.9999, "probabilities");
    for rho in [0.5, 0.8] {
        let mut series = PortSeries::new(Span(10_000_000), RATE);
        let (service, mut random) = (200_000u64, 7u64);
        let mut exponential = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = ((random >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
            (-unit.ln() * service as f64 / rho) as u64
        };
        let (mut arrival, mut free, mut waiting, mut now) = (exponential(), 0u64, 0u64, 0u64);
        for _ in 0..1_500_000 {
            // The next departure from the queue, or an arrival.
            let start = if waiting > 0 { free } else { u64::MAX };
            if start <= arrival {
                waiting -= 1;
                (now, free) = (start, start + service);
                series.sent(now, 1000, waiting * 1000);
            } else {
                now = arrival;
                arrival += exponential();
                if free > now {
                    waiting += 1;
                    series.set_backlog(now, waiting * 1000);
                } else {
                    free = now + service;
                }
            }
        }
        let width = series.width();
        let backlogs = series.finish(0, now, width).backlogs;
        for (thousandths, error) in [(500, 0.02), (900, 0.015), (990, 0.005)] {
            let seen = backlogs.percentile(thousandths).unwrap().div_ceil(1000) as u32;
            let share = thousandths as f64 / 1e3;
            let fewer = if seen > 0 { md1(rho, seen - 1) } else { 0.0 };
            let most = md1(rho, seen);
            assert!(
                fewer <= share + error && most >= share - error,
                "{rho} p{thousandths}: {seen} packets, {fewer} to {most}"
            );
        }
    }
}

#[test]
fn flow_bytes_are_conserved() {
    let mut flow = FlowBytes::new(Time::ZERO, Span(3));
    (0..10_000u64).for_each(|i| flow.add(i * 5, i));
    let width = flow.width() * 2;
    assert_eq!(flow.finish(width).iter().sum::<u64>(), (0..10_000).sum());
}
