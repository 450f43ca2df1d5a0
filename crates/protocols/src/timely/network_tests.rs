//! Known results in whole networks, without PFC.

use super::*;
use crate::dcqcn::network_tests::an_incast_repeats_what_is_missing;
use incast_fabric::Fabric;
use incast_testkit::*;
use incast_transport::{Bytes, Flow, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(10);
/// CCRP §2.2: 5 us per link.
const LINK: Span = Span::from_us(5);

fn timely(fabric: Fabric, buffer: u64, flows: Vec<Flow>) -> Trial<'static> {
    let mut trial = Trial::new(&ENTRY, fabric, flows);
    trial.buffer = Limit::Bytes(buffer);
    trial
}

#[test]
fn a_lone_flow_takes_the_time_of_its_own_packets() {
    for size in [1, 1_452, 1_453, 100_000, 3_000_000] {
        let fabric = star(2, RATE, LINK);
        // Full packets of 1452 B and 8 B of time stamp; the last one is shorter.
        let (full, rest) = (size / 1_452, size % 1_452);
        let last = (rest > 0).then_some(rest as u32 + 48);
        let packets: Vec<u32> = (0..full).map(|_| 1_500).chain(last).collect();
        let ideal = ideal(&fabric, 0, 1, &packets);
        let run = timely(fabric, 200_000, vec![flow(0, 0, 1, size, Time::ZERO)]).run();
        assert_eq!(run.fct(0), ideal, "{size}");
    }
}

/// The last 200 of 400 ms of two flows over one link.
struct Shared {
    used: f64,
    /// Mean backlog in bytes.
    queue: f64,
    /// The second flow's share of what was delivered.
    share: f64,
    run: Outcome,
}

fn two_flows(settings: &[(&'static str, &'static str)], second: Span) -> Shared {
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 3, FOREVER, Time::ZERO + second)];
    let (from, to) = (Span::from_ms(200), Span::from_ms(400));
    let mut trial =
        timely(equal_dumbbell(2, RATE, LINK), 1_000_000, flows).until(to, Span::from_ms(1));
    trial.settings = settings.to_vec();
    let run = trial.run();
    let sum = |of: usize| run.received(of, from, to) as f64;
    Shared {
        used: run.utilisation(RATE, from, to),
        queue: run.mean_queue(from, to) * 1_538.0,
        share: sum(1) / (sum(0) + sum(1)),
        run,
    }
}

#[test]
fn two_flows_share_a_link_with_a_short_queue() {
    for second in [Span::ZERO, Span::from_ms(100)] {
        let outcome = two_flows(&[], second);
        assert!(outcome.used > 0.95, "{}", outcome.used);
        assert!(outcome.queue < 20_000.0, "{}", outcome.queue);
        // No unique fixed point: equality cannot be asked for.
        assert!((0.3..0.7).contains(&outcome.share), "{}", outcome.share);
        for flow in &outcome.run.record.flows {
            assert_eq!(flow.retransmits, 0);
            // The reverse path of an ACK of 86 B: three links.
            let age = (RATE.tx_time(Bytes(86)) + Span::from_us(5)) * 3;
            assert_eq!(flow.decision_age, age.0 * flow.decisions as u64);
        }
    }
}

#[test]
fn the_patched_control_has_the_fixed_point_of_its_paper() {
    let outcome = two_flows(&[("variant", "patched")], Span::ZERO);
    assert!(outcome.used > 0.999, "{}", outcome.used);
    assert!((outcome.share - 0.5).abs() < 0.02, "{}", outcome.share);
    // Step = rate x 0.008 x error: 10 Mb/s at 5 Gb/s is an error of 0.25, a delay of 62.5 us. Links,
    // two switches and the ACK take 32.67 us of it; the rest is queue.
    let packet = RATE.tx_time(Bytes(1_538));
    let ack = RATE.tx_time(Bytes(86));
    let base = Span::from_us(30) + packet * 2 + ack * 3;
    let queue = (62.5 - base.0 as f64 / 1e6) * 1_250.0;
    assert!((outcome.queue / queue - 1.0).abs() < 0.03, "{} {queue}", outcome.queue);
}

#[test]
fn segments_and_completions_work_in_a_network() {
    for settings in [
        &[("pace", "segment")][..],
        &[("pace", "segment"), ("update", "segment")],
        &[("update", "segment")],
        &[("start", "line"), ("hyper_below_low", "true")],
    ] {
        let outcome = two_flows(settings, Span::ZERO);
        assert!(outcome.used > 0.9, "{settings:?}: {}", outcome.used);
        assert!((0.3..0.7).contains(&outcome.share), "{settings:?}: {}", outcome.share);
    }
}

#[test]
fn an_incast_completes_through_losses_by_going_back_or_by_what_is_missing() {
    an_incast_repeats_what_is_missing(|flows| timely(star(21, RATE, LINK), 100_000, flows));
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let settings = [
        vec![],
        vec![("pace", "segment"), ("update", "segment"), ("segment", "5KB")],
        vec![("variant", "patched"), ("window_limit", "true")],
        vec![("recovery", "sack")],
    ];
    for (seed, settings) in settings.iter().enumerate() {
        let mut trial = timely(star(6, RATE, LINK), 300_000, ladder(at(3))).impaired(seed as u64);
        trial.settings = settings.clone();
        trial.delivers();
    }
}
