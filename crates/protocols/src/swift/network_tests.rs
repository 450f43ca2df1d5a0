//! Known results in whole networks.

use super::*;
use incast_testkit::*;
use incast_transport::{Bytes, Limit, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(100);
/// With it a round trip over two links is 8 us and a little.
const LINK: Span = Span::from_us(2);

#[test]
fn a_lone_flow_takes_the_time_of_its_own_packets() {
    for spec in ["star:2", "leaf-spine:2x2x2", "fat-tree:4"] {
        for size in [1, 1_452, 1_453, 100_000, 3_000_000] {
            let fabric = fabric(spec, RATE, LINK);
            let dst = fabric.hosts() - 1;
            let (full, rest) = (size / 1_452, size % 1_452);
            let last = (rest > 0).then_some(rest as u32 + 48);
            let packets: Vec<u32> = (0..full).map(|_| 1_500).chain(last).collect();
            let ideal = ideal(&fabric, 0, dst, &packets);
            let run = Trial::new(&ENTRY, fabric, vec![flow(0, 0, dst, size, Time::ZERO)]).run();
            assert_eq!(run.fct(0), ideal, "{spec}, {size}");
        }
    }
}

/// `count` hosts that send to one for 4 ms; the last half of it counts.
struct Shared {
    used: f64,
    /// Mean delay of the queue, in microseconds.
    queue: f64,
    fairness: f64,
    run: Outcome,
}

fn shared(count: u32, settings: &[(&'static str, &'static str)], end: Span) -> Shared {
    // A packet time apart: paced flows stay where they began.
    let start = |id: u32| Time::ZERO + Span::from_ns(123 * id as u64);
    let flows = (0..count).map(|id| flow(id, id, count, FOREVER, start(id))).collect();
    let mut trial = Trial::new(&ENTRY, star(count + 1, RATE, LINK), flows).until(end, us(20));
    trial.buffer = Limit::Bytes(32_000_000);
    trial.settings = settings.to_vec();
    let run = trial.run();
    let from = end / 2;
    Shared {
        used: run.utilisation(RATE, from, end),
        queue: run.mean_queue(from, end) * RATE.tx_time(Bytes(1_538)).0 as f64 / 1e6,
        fairness: run.fairness(from, end),
        run,
    }
}

/// The queueing delay at which `count` equal flows meet their target.
fn expected(count: u32, settings: &[(&'static str, &'static str)]) -> f64 {
    let trial = Trial::new(&ENTRY, star(count + 1, RATE, LINK), vec![]);
    let site = trial.site();
    let rule = Rule::new(&Params::read(&key_values(settings)).unwrap(), RATE, &site);
    let packet = RATE.tx_time(Bytes(1_538)).0 as f64;
    let excess = |w: f64| count as f64 * w * packet - rule.target(w);
    let (mut low, mut high) = (0.001, 1_000.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    (rule.target(low) - site.base_rtt_with(8).0 as f64) / 1e6
}

const TARGETS: [(&str, &str); 3] =
    [("base_target", "15us"), ("hop_target", "0us"), ("flow_range", "75us")];

#[test]
fn equal_flows_keep_the_queue_of_their_target() {
    // Small steps come close to where all flows meet their target. Whole packets are in flight: of
    // windows of two and a third, two.
    let small = [&TARGETS[..], &[("increase", "0.02")]].concat();
    for (count, within) in [(2, 0.02), (10, 0.03), (100, 0.16)] {
        for settings in [&small[..], &TARGETS[..]] {
            let outcome = shared(count, settings, ms(8));
            let (queue, expected) = (outcome.queue, expected(count, settings));
            let Shared { used, fairness, .. } = outcome;
            println!("{count}: {used} {queue} of {expected}, {fairness}");
            assert!((queue / expected - 1.0).abs() < within, "{count}: {queue} of {expected}");
            assert!(used > 0.999, "{count}: {used}");
            assert!(fairness > 0.99, "{count}: {fairness}");
            assert_eq!(outcome.run.drops(), 0);
        }
    }
}

/// A packet per RTT and flow would be 123 us of queue; windows of 0.42 packets are 42 us. Each packet
/// leaves on its own clock, and clocks that are close together stay so for long: the delays of packets
/// differ, and with small steps the link is idle now and then.
#[test]
fn a_thousand_flows_send_less_than_a_packet_per_rtt() {
    let first = [&TARGETS[..], &[("initial_window", "0.5")]].concat();
    let small = [&first[..], &[("increase", "0.02")]].concat();
    for (settings, used, fair) in [(&first, 0.99, 0.97), (&small, 0.95, 0.93)] {
        let outcome = shared(1_000, settings, ms(20));
        let (queue, expected) = (outcome.queue, expected(1_000, settings));
        println!("1000: {} {queue} of {expected}, {}", outcome.used, outcome.fairness);
        assert!(outcome.used > used, "{}", outcome.used);
        assert!((queue / expected - 1.0).abs() < 0.3, "{queue} of {expected}");
        assert!(outcome.fairness > fair, "{}", outcome.fairness);
        assert_eq!(outcome.run.drops(), 0);
    }
}

#[test]
fn every_flow_survives_faulty_hosts() {
    for (seed, settings) in
        [vec![], vec![("initial_window", "0.01")], vec![("set", "htsim")]].into_iter().enumerate()
    {
        let mut trial = Trial::new(&ENTRY, star(6, RATE, LINK), ladder(at(3)));
        trial.buffer = Limit::Bytes(300_000);
        trial.settings = settings;
        trial.impaired(seed as u64).delivers();
    }
}
