//! Known answers in whole networks, without PFC.

use super::*;
use incast_blocks::port::Join;
use incast_fabric::{Dumbbell, Fabric, Star, ideal_fct};
use incast_sim::{Monitor, run};
use incast_transport::{Bytes, FlowId, HostId, Rate, RunRecord, Segments, Span};
use incast_world::{Faults, FlowSetup, Lane, Options as RunOptions, assemble, fabric_site};

/// A flow of `size` bytes.
fn flow(id: u32, src: u32, dst: u32, size: u64, start: Span) -> FlowSetup {
    FlowSetup {
        flow: Flow {
            id: FlowId(id),
            src: HostId(src),
            dst: HostId(dst),
            size,
            start: Time::ZERO + start,
            segments: Segments::Uniform(1_460),
        },
        transport: ID,
        after: vec![],
        delay: Span::ZERO,
    }
}

fn timely(
    fabric: Fabric,
    settings: &[(&str, &str)],
    buffer: u64,
    flows: Vec<FlowSetup>,
    options: RunOptions,
) -> RunRecord {
    let fabric = Arc::new(fabric);
    let site = fabric_site(&fabric, Framing::ETHERNET, Limit::Bytes(buffer), None, None);
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let configured = ENTRY.configure(&settings, site.clone()).unwrap();
    let lane = Lane { info: ENTRY.info(), configured, routing: Routing::Ecmp };
    let setup = assemble(fabric, site, &[lane], Join::Shared, flows, None, options).unwrap();
    run(setup, 1, &Monitor::default()).0
}

/// CCRP §2.2: 10 Gb/s, 5 us a link.
fn dumbbell(pairs: u32) -> Fabric {
    let (rate, delay) = (Rate::from_gbps(10), Span::from_us(5));
    let dumbbell = Dumbbell {
        left: pairs,
        right: pairs,
        host_rate: rate,
        bottleneck_rate: rate,
        host_propagation: delay,
        bottleneck_propagation: delay,
        loss: 0.0,
    };
    dumbbell.build().unwrap()
}

fn star(hosts: u32) -> Fabric {
    let rate = Rate::from_gbps(10);
    Star { hosts, rate, propagation: Span::from_us(5), loss: 0.0 }.build().unwrap()
}

const FOREVER: u64 = 1 << 40;

#[test]
fn a_lone_flow_takes_the_time_of_its_own_packets() {
    for size in [1, 1_452, 1_453, 100_000, 3_000_000] {
        let fabric = star(2);
        let links = fabric.links(&fabric.path(&fabric.routes(), 0, 1, |_| 0));
        // Full packets of 1452 B and 8 B of time stamp; the last one is shorter.
        let (full, rest) = (size / 1_452, size % 1_452);
        let last = (rest > 0).then(|| Bytes((rest + 48 + 38).max(84)));
        let packets = (0..full).map(|_| Bytes(1_538)).chain(last);
        let ideal = ideal_fct(&links, packets);
        let flows = vec![flow(0, 0, 1, size, Span::ZERO)];
        let record = timely(fabric, &[], 200_000, flows, RunOptions::default());
        let seen = &record.flows[0];
        assert_eq!(seen.completed.unwrap() - seen.started.unwrap(), ideal, "{size}");
    }
}

/// The last 200 of 400 ms of two flows over one link.
struct Outcome {
    used: f64,
    /// Mean backlog in bytes.
    queue: f64,
    /// The second flow's share of what was delivered.
    share: f64,
    record: RunRecord,
}

fn two_flows(settings: &[(&str, &str)], second: Span) -> Outcome {
    let flows = vec![flow(0, 0, 2, FOREVER, Span::ZERO), flow(1, 1, 3, FOREVER, second)];
    let options = RunOptions {
        until: Time::ZERO + Span::from_ms(400),
        interval: Span::from_ms(1),
        watch: vec![FlowId(0), FlowId(1)],
        ..RunOptions::default()
    };
    let record = timely(dumbbell(2), settings, 1_000_000, flows, options);
    assert_eq!(record.interval, Span::from_ms(1), "intervals are a millisecond below");
    let switches = record.ports.iter().filter(|port| port.port >= 4);
    let port = switches.max_by_key(|port| port.total.backlog_area).unwrap();
    let bins = &port.bins[200..400];
    let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
    let area: u128 = bins.iter().map(|bin| bin.backlog_area).sum();
    let sum = |of: usize| record.series[of].delivered[200..].iter().sum::<u64>() as f64;
    Outcome {
        used: sent as f64 / (1.25e9 * 0.2),
        queue: area as f64 / Span::from_ms(200).0 as f64,
        share: sum(1) / (sum(0) + sum(1)),
        record,
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
        for flow in &outcome.record.flows {
            assert_eq!(flow.retransmits, 0);
            // The way back of an answer of 86 B: three links.
            let age = (Rate::from_gbps(10).tx_time(Bytes(86)) + Span::from_us(5)) * 3;
            assert_eq!(flow.decision_age, age.0 * flow.decisions as u64);
        }
    }
}

#[test]
fn the_patched_law_has_the_fixed_point_it_was_made_for() {
    let outcome = two_flows(&[("variant", "patched")], Span::ZERO);
    assert!(outcome.used > 0.999, "{}", outcome.used);
    assert!((outcome.share - 0.5).abs() < 0.02, "{}", outcome.share);
    // Step = rate x 0.008 x error: 10 Mb/s at 5 Gb/s is an error of 0.25, a delay of 62.5 us. Links,
    // two switches and the answer take 32.67 us of it; the rest is queue.
    let packet = Rate::from_gbps(10).tx_time(Bytes(1_538));
    let answer = Rate::from_gbps(10).tx_time(Bytes(86));
    let base = Span::from_us(30) + packet * 2 + answer * 3;
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
fn an_incast_completes_through_losses_by_going_back() {
    let flows: Vec<FlowSetup> =
        (0..20).map(|id| flow(id, id, 20, 146_000, Span::from_us(id as u64))).collect();
    let options = RunOptions { log_deliveries: true, ..RunOptions::default() };
    let record = timely(star(21), &[], 100_000, flows, options);
    assert!(record.complete);
    assert!(record.flows.iter().all(|flow| flow.delivered == 146_000));
    assert!(record.flows.iter().any(|flow| flow.retransmits > 0));
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let settings = [
        vec![],
        vec![("pace", "segment"), ("update", "segment"), ("segment", "5KB")],
        vec![("variant", "patched"), ("window_limit", "true")],
    ];
    for (seed, settings) in settings.iter().enumerate() {
        let flows: Vec<FlowSetup> = (0..30)
            .map(|id| flow(id, id % 4, 4 + id % 2, 1 + 7_777 * id as u64, Span::from_us(3)))
            .collect();
        let faults = Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(50) };
        let options =
            RunOptions { seed: seed as u64, faults, log_deliveries: true, ..RunOptions::default() };
        let record = timely(star(6), settings, 300_000, flows, options);
        assert!(record.complete, "{settings:?}");
        for (id, flow) in record.flows.iter().enumerate() {
            assert_eq!(flow.delivered, 1 + 7_777 * id as u64);
        }
    }
}
