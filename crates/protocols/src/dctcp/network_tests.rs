//! Known answers in whole networks.

use super::*;
use incast_egress::port::Join;
use incast_fabric::{Dumbbell, Fabric, Star, ideal_fct};
use incast_sim::{Monitor, run};
use incast_transport::{
    Bin, Bytes, Flow, FlowId, Framing, HostId, Limit, PortRecord, Rate, RunRecord, Segments, Time,
    Transport,
};
use incast_world::{Faults, FlowSetup, Lane, Options as RunOptions, assemble, fabric_site};
use std::sync::Arc;

const PACKET: f64 = 1_538.0;

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

/// Runs DCTCP with K = 65 packets, the paper's at 10 Gb/s, unless `settings` say otherwise.
fn dctcp(
    fabric: Fabric,
    settings: &[(&str, &str)],
    buffer: u32,
    flows: Vec<FlowSetup>,
    options: RunOptions,
) -> RunRecord {
    let fabric = Arc::new(fabric);
    let site = fabric_site(&fabric, Framing::ETHERNET, Limit::Packets(buffer), None, None);
    let settings = [&[("mark_threshold", "65 packets")], settings].concat();
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let configured = ENTRY.configure(&settings, site.clone()).unwrap();
    let lane = Lane { info: ENTRY.info(), configured, routing: Routing::Ecmp };
    let setup = assemble(fabric, site, &[lane], Join::Shared, flows, None, options).unwrap();
    run(setup, 1, &Monitor::default()).0
}

/// One switch with links of 10 Gb/s and 100 us: a round trip of 400 us (DECN Fig. 1).
fn star(hosts: u32) -> Fabric {
    let rate = Rate::from_gbps(10);
    Star { hosts, rate, propagation: Span::from_us(100), loss: 0.0 }.build().unwrap()
}

/// Hosts of 40 Gb/s around a link of 10 Gb/s: a round trip of 400 us, none of it limited by NICs.
fn dumbbell(pairs: u32) -> Fabric {
    let dumbbell = Dumbbell {
        left: pairs,
        right: pairs,
        host_rate: Rate::from_gbps(40),
        bottleneck_rate: Rate::from_gbps(10),
        host_propagation: Span::from_us(50),
        bottleneck_propagation: Span::from_us(100),
        loss: 0.0,
    };
    dumbbell.build().unwrap()
}

/// The busiest port of a switch.
fn bottleneck(record: &RunRecord, hosts: u32) -> &PortRecord {
    let switches = record.ports.iter().filter(|port| port.port >= hosts);
    switches.max_by_key(|port| port.total.backlog_area).unwrap()
}

fn until(ms: u64, flows: u32) -> RunOptions {
    RunOptions {
        until: Time::ZERO + Span::from_ms(ms),
        interval: Span::from_us(100),
        watch: (0..flows).map(FlowId).collect(),
        ..RunOptions::default()
    }
}

/// More than a run can carry.
const FOREVER: u64 = 1 << 40;

fn bins_from(record: &RunRecord, at: Span) -> usize {
    at.0.div_ceil(record.interval.0) as usize
}

#[test]
fn a_short_lone_flow_takes_the_ideal_time() {
    for packets in 1..=10 {
        let fabric = star(2);
        let links = fabric.links(&fabric.path(&fabric.routes(), 0, 1, |_| 0));
        let ideal = ideal_fct(&links, (0..packets).map(|_| Bytes(1_538)));
        let flows = vec![flow(0, 0, 1, packets * 1_460, Span::ZERO)];
        let record = dctcp(fabric, &[], 200, flows, RunOptions::default());
        let flow = &record.flows[0];
        assert_eq!(flow.completed.unwrap() - flow.started.unwrap(), ideal, "{packets}");
    }
}

#[test]
fn one_flow_fills_the_link_and_loses_nothing_after_slow_start() {
    let flows = vec![flow(0, 0, 1, FOREVER, Span::ZERO)];
    let record = dctcp(dumbbell(1), &[], 200, flows, until(300, 1));
    let port = bottleneck(&record, 2);
    // Bursts of slow start are marked early; the rest is gained at a packet a round trip.
    let from = bins_from(&record, Span::from_ms(150));
    let bins = &port.bins[from..port.bins.len() - 1];
    assert!(bins.len() > 100);
    let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
    let could = 1.25e9 * record.interval.as_secs_f64() * bins.len() as f64;
    assert!(sent as f64 / could >= 0.999, "utilisation {}", sent as f64 / could);
    assert_eq!(bins.iter().map(|bin| bin.drops).sum::<u32>(), 0);
    // It oscillates about the threshold: neither empty nor far beyond it.
    let most = bins.iter().map(|bin| bin.backlog_max).max().unwrap();
    assert!((65 * 1_538..=70 * 1_538).contains(&most), "{}", most / 1_538);
}

#[test]
fn two_flows_oscillate_as_the_paper_computes() {
    let flows = vec![flow(0, 0, 2, FOREVER, Span::ZERO), flow(1, 1, 3, FOREVER, Span::ZERO)];
    let record = dctcp(dumbbell(2), &[], 200, flows, until(200, 2));
    let port = bottleneck(&record, 4);
    let bins = &port.bins[bins_from(&record, Span::from_ms(100))..port.bins.len() - 1];
    let mean = |bin: &Bin| bin.backlog_area as f64 / record.interval.0 as f64 / PACKET;
    let low = bins.iter().map(mean).fold(f64::MAX, f64::min);
    let high = bins.iter().map(|bin| bin.backlog_max as f64 / PACKET).fold(0.0, f64::max);
    // DCTCP §3.3: N = 2, C x RTT + K = 399 packets: q_max = K + N = 67, amplitude 20.
    assert!((high - 67.0).abs() <= 3.0, "q_max {high}");
    assert!((8.0..=30.0).contains(&(high - low)), "amplitude {}", high - low);
}

#[test]
fn a_joining_flow_gets_its_share_as_in_the_figure() {
    // DECN Fig. 1(a): the second flow starts at 100 ms and has its share after about 127 ms.
    // Criterion: the first 5 ms in which the rates differ by less than 20 % of their sum.
    let start = Span::from_ms(100);
    let flows = vec![flow(0, 0, 2, FOREVER, Span::ZERO), flow(1, 1, 2, FOREVER, start)];
    let record = dctcp(star(3), &[], 200, flows, until(400, 2));
    let [old, new] = [0, 1].map(|at| &record.series[at].delivered);
    let step = bins_from(&record, Span::from_ms(5));
    let rates = |from: usize| {
        let sum = |series: &[u64]| series[from..from + step].iter().sum::<u64>() as f64;
        (sum(old), sum(new))
    };
    let fair = |from: &usize| {
        let (old, new) = rates(*from);
        (old - new).abs() / (old + new) < 0.2
    };
    let end = old.len().min(new.len()) - step;
    let first = (bins_from(&record, start)..end).find(fair).expect("the flows become fair");
    let took = (first + step) as f64 * record.interval.as_secs_f64() - 0.1;
    assert!((0.08..=0.22).contains(&took), "{took} s");
}

#[test]
fn an_incast_of_many_flows_completes_through_losses() {
    // 40 flows of 100 packets into a buffer of 100: timeouts, but every byte once.
    let flows: Vec<FlowSetup> =
        (0..40).map(|id| flow(id, id, 40, 146_000, Span::from_us(id as u64))).collect();
    let options = RunOptions { log_deliveries: true, ..RunOptions::default() };
    let record = dctcp(star(41), &[], 100, flows, options);
    assert!(record.complete);
    assert!(record.flows.iter().all(|flow| flow.delivered == 146_000));
    assert!(record.flows.iter().any(|flow| flow.retransmits > 0));
}

#[test]
fn every_flow_survives_faulty_hosts() {
    for (seed, recovery) in [(1, "sack"), (2, "newreno"), (3, "sack"), (4, "newreno")] {
        for delayed in ["1", "2"] {
            let flows: Vec<FlowSetup> = (0..30)
                .map(|id| flow(id, id % 4, 4 + id % 2, 1 + 7_777 * id as u64, Span::from_us(3)))
                .collect();
            let faults =
                Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(50) };
            let options =
                RunOptions { seed, faults, log_deliveries: true, ..RunOptions::default() };
            let settings = [("recovery", recovery), ("delayed_ack", delayed)];
            let record = dctcp(star(6), &settings, 200, flows, options);
            assert!(record.complete, "seed {seed}, {recovery}");
            for (id, flow) in record.flows.iter().enumerate() {
                assert_eq!(flow.delivered, 1 + 7_777 * id as u64);
            }
        }
    }
}
