//! Known results in whole networks, without PFC; also of theta-PowerTCP, whose answers are the same.

use super::*;
use crate::hpcc::network_tests::own_time;
use crate::theta_powertcp;
use incast_testkit::*;
use incast_transport::{Bytes, Limit, Rate, Span, Time, Transport};

const RATE: Rate = Rate::from_gbps(100);
/// With it a round trip over two links is 16 us and a little, and a BDP 137 packets.
const LINK: Span = Span::from_us(4);

#[test]
fn a_lone_flow_takes_the_time_of_its_own_packets() {
    for (spec, switches) in [("star:2", 1), ("leaf-spine:2x2x2", 3), ("fat-tree:4", 5)] {
        let payload = 1_460 - 2 - 8 * switches;
        for size in [1, payload, payload + 1, 1_000 * payload + 7] {
            let fabric = fabric(spec, RATE, us(2));
            let dst = fabric.hosts() - 1;
            let mut payloads = vec![payload; (size / payload) as usize];
            payloads.extend((size % payload > 0).then_some(size % payload));
            let own = own_time(&fabric, dst, &payloads, None);
            let flows = vec![flow(0, 0, dst, size as u64, Time::ZERO)];
            assert_eq!(Trial::new(&ENTRY, fabric, flows).run().fct(0), own, "{spec}, {size}");
        }
    }
    for size in [1u64, 1_452, 1_453, 1_452_007] {
        let fabric = fabric("fat-tree:4", RATE, us(2));
        let last = (size % 1_452 > 0).then_some((size % 1_452) as u32 + 48);
        let packets: Vec<u32> = (0..size / 1_452).map(|_| 1_500).chain(last).collect();
        let own = ideal(&fabric, 0, 15, &packets);
        let flows = vec![flow(0, 0, 15, size, Time::ZERO)];
        let run = Trial::new(&theta_powertcp::ENTRY, fabric, flows).run();
        assert_eq!(run.fct(0), own, "{size}");
    }
}

/// Utilisation, mean queue in BDP and fairness of `count` hosts that send to one, long after they began.
fn shared(entry: &dyn Transport, count: u32, settings: &Settings<'static>) -> (f64, f64, f64) {
    let start = |id: u32| Time::ZERO + Span::from_ns(1_700 * id as u64);
    let flows = (0..count).map(|id| flow(id, id, count, FOREVER, start(id))).collect();
    let mut trial = Trial::new(entry, star(count + 1, RATE, LINK), flows).until(ms(4), us(20));
    trial.buffer = Limit::Unlimited;
    trial.settings = settings.to_vec();
    let bdp = RATE.bytes_in(trial.base_rtt()).0 as f64;
    let run = trial.run();
    let (from, to) = (ms(2), ms(4));
    let queue = run.mean_queue(from, to) * 1_538.0 / bdp;
    (run.utilisation(RATE, from, to), queue, run.fairness(from, to))
}

/// Bytes that links charge per byte of window.
const CHARGED: f64 = 1_538.0 / 1_450.0;

#[test]
fn the_queue_is_the_sum_of_the_additive_steps() {
    let entries: [&dyn Transport; 2] = [&ENTRY, &theta_powertcp::ENTRY];
    for entry in entries {
        for (count, sum) in [(10, 1.0), (2, 0.2)] {
            let (used, queue, fair) = shared(entry, count, &[]);
            let name = entry.info().name;
            println!("{name} {count}: {used} {queue} {fair}");
            assert!(used > 0.995, "{name}, {count}: {used}");
            assert!((queue / (sum * CHARGED) - 1.0).abs() < 0.06, "{name}, {count}: {queue}");
            assert!(fair > 0.99, "{name}, {count}: {fair}");
        }
    }
}

#[test]
fn the_simulators_values_leave_room() {
    // eta + the sum of steps of 0.15 % of a BDP: 0.965 for ten flows, and no queue.
    let (used, queue, _) = shared(&ENTRY, 10, &[("set", "code")]);
    println!("code: {used} {queue}");
    assert!((used / (0.95 + 0.015 * CHARGED) - 1.0).abs() < 0.01, "{used}");
    assert!(queue < 0.02, "{queue}");
    // A delay of 1.05 base RTTs counts as none: 5 % of a BDP waits, and the steps.
    let (used, queue, _) = shared(&theta_powertcp::ENTRY, 10, &[("set", "code")]);
    println!("theta code: {used} {queue}");
    assert!(used > 0.995, "{used}");
    assert!((queue - 0.065).abs() < 0.02, "{queue}");
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let entries: [&dyn Transport; 2] = [&ENTRY, &theta_powertcp::ENTRY];
    for entry in entries {
        for (seed, settings) in
            [("set", "paper"), ("set", "code"), ("recovery", "sack")].into_iter().enumerate()
        {
            let mut trial = Trial::new(entry, star(6, RATE, LINK), ladder(at(3)));
            trial.buffer = Limit::Bytes(300_000);
            trial.settings = vec![settings];
            trial.impaired(seed as u64).delivers();
        }
    }
}

#[test]
fn two_that_start_together_are_told_within_an_rtt() {
    // The second begins when the first has the link: its packets queue, and the first ACKs say so.
    let flows = vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, at(200))];
    let mut trial = Trial::new(&ENTRY, star(3, RATE, LINK), flows).until(us(600), us(2));
    trial.buffer = Limit::Unlimited;
    let run = trial.run();
    let bdp = RATE.bytes_in(us(16)).0 as f64;
    let peak = run.peak_queue(us(200), us(300)) * 1_538.0 / bdp;
    println!("peak {peak}");
    // Each stops at its window: two BDP in all, of which one is on the way.
    assert!((0.9..1.2).contains(&peak), "{peak}");
    let packet = Bytes(1_538);
    let idle = 1.0 - run.utilisation(RATE, us(300), us(600));
    assert!(idle < 0.02, "{idle} {}", RATE.tx_time(packet));
}
