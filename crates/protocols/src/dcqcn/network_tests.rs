//! Known answers in whole networks, without PFC.

use super::*;
use incast_blocks::port::Join;
use incast_fabric::{Dumbbell, Fabric, Star};
use incast_sim::{Monitor, run};
use incast_transport::{FlowId, HostId, PortRecord, Rate, RunRecord, Segments};
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

fn dcqcn(
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

/// CCRP's network: what it does not state of DCQCN is scaled to 10 Gb/s.
const CCRP: [(&str, &str); 2] = [("additive_increase", "5Mbps"), ("hyper_increase", "50Mbps")];

/// The busiest port of a switch.
fn bottleneck(record: &RunRecord, hosts: u32) -> &PortRecord {
    let switches = record.ports.iter().filter(|port| port.port >= hosts);
    switches.max_by_key(|port| port.total.backlog_area).unwrap()
}

const FOREVER: u64 = 1 << 40;

fn two_flows(until: Span, second: Span) -> RunRecord {
    let flows = vec![flow(0, 0, 2, FOREVER, Span::ZERO), flow(1, 1, 3, FOREVER, second)];
    let options = RunOptions {
        until: Time::ZERO + until,
        interval: Span::from_ms(1),
        watch: vec![FlowId(0), FlowId(1)],
        ..RunOptions::default()
    };
    let record = dcqcn(dumbbell(2), &CCRP, 1_000_000, flows, options);
    assert_eq!(record.interval, Span::from_ms(1), "intervals are a millisecond below");
    record
}

#[test]
fn two_flows_fill_the_link_and_keep_the_queue_between_the_thresholds() {
    let record = two_flows(Span::from_ms(400), Span::ZERO);
    let port = bottleneck(&record, 4);
    let bins = &port.bins[200..400];
    let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
    let utilisation = sent as f64 / (1.25e9 * 0.2);
    assert!(utilisation > 0.97, "{utilisation}");
    let area: u128 = bins.iter().map(|bin| bin.backlog_area).sum();
    let mean = area as f64 / Span::from_ms(200).0 as f64;
    // CCRP Fig. 5(g): below 170 KB.
    assert!((5e3..170e3).contains(&mean), "{mean} B wait");
    assert_eq!(port.bins[1..].iter().map(|bin| bin.drops).sum::<u32>(), 0);
    // Fair over 200 ms, and marks lead to at most one notification each 50 us.
    let share = |of: usize| record.series[of].delivered[200..].iter().sum::<u64>() as f64;
    let difference = (share(0) - share(1)).abs() / (share(0) + share(1));
    assert!(difference < 0.1, "{difference}");
    for flow in &record.flows {
        assert!(flow.decisions > 50 && flow.decisions <= 400_000 / 50 + 1, "{}", flow.decisions);
    }
}

#[test]
fn information_is_half_a_round_trip_old() {
    let record = two_flows(Span::from_ms(20), Span::ZERO);
    for flow in &record.flows {
        let mean = Span(flow.decision_age / flow.decisions as u64);
        // From the port on: two links there, three back, and a packet on each.
        let (least, most) = (Span::from_us(25), Span::from_us(33));
        assert!((least..most).contains(&mean), "{mean}");
    }
}

#[test]
fn a_joining_flow_gets_a_share() {
    let record = two_flows(Span::from_ms(300), Span::from_ms(100));
    let sum = |of: usize| record.series[of].delivered[250..300].iter().sum::<u64>() as f64;
    let share = sum(1) / (sum(0) + sum(1));
    assert!((0.35..0.65).contains(&share), "{share}");
}

#[test]
fn an_incast_completes_through_losses_by_going_back() {
    // 20 flows of 100 packets at line rate into 100 KB without PFC.
    let flows: Vec<FlowSetup> =
        (0..20).map(|id| flow(id, id, 20, 146_000, Span::from_us(id as u64))).collect();
    let options = RunOptions { log_deliveries: true, ..RunOptions::default() };
    let record = dcqcn(star(21), &[], 100_000, flows, options);
    assert!(record.complete);
    assert!(record.flows.iter().all(|flow| flow.delivered == 146_000));
    assert!(record.flows.iter().any(|flow| flow.retransmits > 0));
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let settings =
        [vec![], vec![("variant", "mlx")], vec![("window_limit", "true"), ("mark_min", "0B")]];
    for (seed, settings) in settings.iter().enumerate() {
        let flows: Vec<FlowSetup> = (0..30)
            .map(|id| flow(id, id % 4, 4 + id % 2, 1 + 7_777 * id as u64, Span::from_us(3)))
            .collect();
        let faults = Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(50) };
        let options =
            RunOptions { seed: seed as u64, faults, log_deliveries: true, ..RunOptions::default() };
        let record = dcqcn(star(6), settings, 300_000, flows, options);
        assert!(record.complete, "{settings:?}");
        for (id, flow) in record.flows.iter().enumerate() {
            assert_eq!(flow.delivered, 1 + 7_777 * id as u64);
        }
    }
}
