//! Known answers in whole networks.

use super::*;
use incast_egress::port::Join;
use incast_fabric::{Dumbbell, Fabric, Star};
use incast_sim::{Monitor, run};
use incast_transport::{
    Bytes, Flow, FlowId, Framing, HostId, Limit, Rate, RunRecord, Segments, Time, Transport,
};
use incast_world::{Faults, FlowSetup, Lane, Options as RunOptions, assemble, fabric_site};
use std::sync::Arc;

/// A flow of `size` bytes.
fn flow(id: u32, src: u32, dst: u32, size: u64) -> FlowSetup {
    FlowSetup {
        flow: Flow {
            id: FlowId(id),
            src: HostId(src),
            dst: HostId(dst),
            size,
            start: Time::ZERO,
            segments: Segments::Uniform(1_460),
        },
        transport: ID,
        after: vec![],
        delay: Span::ZERO,
    }
}

fn cubic(
    fabric: Fabric,
    settings: &[(&str, &str)],
    buffer: u32,
    flows: Vec<FlowSetup>,
    options: RunOptions,
) -> RunRecord {
    let fabric = Arc::new(fabric);
    let site = fabric_site(&fabric, Framing::ETHERNET, Limit::Packets(buffer), None, None);
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let configured = ENTRY.configure(&settings, site.clone()).unwrap();
    let lane = Lane { info: ENTRY.info(), configured, routing: Routing::Ecmp };
    let setup = assemble(fabric, site, &[lane], Join::Shared, flows, None, options).unwrap();
    run(setup, 1, &Monitor::default()).0
}

fn star(hosts: u32) -> Fabric {
    let rate = Rate::from_gbps(10);
    Star { hosts, rate, propagation: Span::from_us(5), loss: 0.0 }.build().unwrap()
}

/// Two hosts of 40 Gb/s at either end of 1 Gb/s: a round trip of 1 ms is 81 packets.
fn dumbbell() -> Fabric {
    let dumbbell = Dumbbell {
        left: 1,
        right: 1,
        host_rate: Rate::from_gbps(40),
        bottleneck_rate: Rate::from_gbps(1),
        host_propagation: Span::from_us(10),
        bottleneck_propagation: Span::from_us(480),
        loss: 0.0,
    };
    dumbbell.build().unwrap()
}

/// Share of the bottleneck in use from 1 s to 4 s, and the losses there.
fn utilisation(settings: &[(&str, &str)], buffer: u32) -> (f64, u32) {
    let options = RunOptions {
        until: Time::ZERO + Span::from_secs(4),
        interval: Span::from_ms(10),
        ..RunOptions::default()
    };
    let record = cubic(dumbbell(), settings, buffer, vec![flow(0, 0, 1, 1 << 40)], options);
    let switches = record.ports.iter().filter(|port| port.port >= 2);
    let busiest = switches.max_by_key(|port| port.total.sent_bytes).unwrap();
    let bins = &busiest.bins[100..400];
    let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
    let drops = record.ports.iter().flat_map(|port| port.bins.iter().skip(100));
    (sent as f64 / (0.125e9 * 3.0), drops.map(|bin| bin.drops).sum())
}

#[test]
fn reno_needs_a_buffer_as_large_as_the_round_trip() {
    let reno = [("growth", "reno")];
    let (full, losses) = utilisation(&reno, 100);
    assert!(full >= 0.999, "{full}");
    assert!(losses > 5, "it lives by losses, {losses}");
    // With next to no buffer (3 packets of 81) it swings between a half and all of what the link
    // holds: 75 %.
    let (bare, _) = utilisation(&reno, 3);
    assert!((0.75..0.80).contains(&bare), "{bare}");
}

#[test]
fn cubic_uses_more_of_a_link_without_a_buffer() {
    // From 0.7 upwards in a line: 85 %.
    let (bare, _) = utilisation(&[], 3);
    assert!((0.85..0.89).contains(&bare), "{bare}");
    assert!(utilisation(&[], 100).0 >= 0.999);
}

#[test]
fn hystart_spares_the_losses_of_slow_start() {
    let drops = |settings: &[(&str, &str)]| {
        let options = RunOptions { until: Time::ZERO + Span::from_ms(40), ..RunOptions::default() };
        let record = cubic(dumbbell(), settings, 100, vec![flow(0, 0, 1, 1 << 40)], options);
        record.ports.iter().map(|port| port.total.drops).sum::<u32>()
    };
    assert!(drops(&[]) > 50, "{}", drops(&[]));
    assert_eq!(drops(&[("hystart", "true")]), 0);
}

#[test]
fn a_handshake_costs_one_round_trip_of_headers() {
    let of = |settings| {
        let record = cubic(star(2), settings, 100, vec![flow(0, 0, 1, 5_000)], Default::default());
        record.flows[0].completed.unwrap() - record.flows[0].started.unwrap()
    };
    let header = Rate::from_gbps(10).tx_time(Bytes(84));
    // Two links of 5 us each way, store and forward.
    let round_trip = (header + Span::from_us(5)) * 4;
    assert_eq!(of(&[("handshake", "true")]), of(&[]) + round_trip);
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let settings = [
        vec![("recovery", "newreno"), ("handshake", "true")],
        vec![("delayed_ack", "2"), ("delayed_ack_timeout", "1ms"), ("hystart", "true")],
        vec![("growth", "reno"), ("recovery", "newreno")],
    ];
    for (seed, settings) in settings.iter().enumerate() {
        let flows: Vec<FlowSetup> =
            (0..30).map(|id| flow(id, id % 4, 4 + id % 2, 1 + 7_777 * id as u64)).collect();
        let faults = Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(50) };
        let options =
            RunOptions { seed: seed as u64, faults, log_deliveries: true, ..RunOptions::default() };
        let record = cubic(star(6), settings, 200, flows, options);
        assert!(record.complete, "{settings:?}");
        for (id, flow) in record.flows.iter().enumerate() {
            assert_eq!(flow.delivered, 1 + 7_777 * id as u64);
        }
    }
}
