//! The engine against arithmetic, and against itself with other numbers of threads.

mod common;

use common::{Plain, fabric, flow, setup};
use incast_fabric::{NodeId, ideal_fct};
use incast_sim::{Monitor, run};
use incast_transport::*;
use incast_world::{FlowSetup, Options, SharedBuffer};

fn records(
    spec: &str,
    plain: Plain,
    buffer: Limit,
    flows: &[FlowSetup],
    shared: Option<SharedBuffer>,
    options: &Options,
    threads: usize,
) -> RunRecord {
    let fabric = fabric(spec, 40, Span::from_us(1));
    let setup = setup(&fabric, plain, buffer, flows.to_vec(), shared, options.clone());
    run(setup, threads, &Monitor::default()).0
}

#[test]
fn a_lone_flow_takes_the_ideal_time_on_every_kind_of_path() {
    for (spec, pairs) in [
        ("star:4", vec![(0, 1), (3, 2)]),
        ("dumbbell:3x2", vec![(0, 1), (0, 3), (4, 2)]),
        ("leaf-spine:4x2x3", vec![(0, 1), (0, 11), (5, 8)]),
        ("fat-tree:4", vec![(0, 1), (0, 2), (0, 15)]),
    ] {
        for (src, dst) in pairs {
            for size in [1, 1460, 1461, 14_600, 100_001] {
                let fabric = fabric(spec, 40, Span::from_us(1));
                let flows = vec![flow(0, src, dst, size, Time(12_345))];
                let buffer = Limit::Unlimited;
                let setup =
                    setup(&fabric, Plain::default(), buffer, flows, None, Options::default());
                let record = run(setup, 1, &Monitor::default()).0;
                let routes = fabric.routes();
                let links = fabric.links(&fabric.path(&routes, src, dst, |_| 0));
                let charged = |seq: u64| {
                    let payload = (size - seq * 1460).min(1460) as u32;
                    Bytes(Framing::ETHERNET.charged(payload + 40) as u64)
                };
                let ideal = ideal_fct(&links, (0..size.div_ceil(1460)).map(charged));
                let got = record.flows[0].completed.unwrap() - record.flows[0].started.unwrap();
                assert_eq!(got, ideal, "{spec} {src}->{dst} {size} B");
                assert_eq!(record.flows[0].parts.unwrap().total(), ideal.0);
                // A short last packet catches up with the full one before it, and waits.
                if size <= 1460 || size % 1460 == 0 {
                    assert_eq!(record.flows[0].parts.unwrap().queueing, [0; TIERS]);
                }
            }
        }
    }
}

fn mixed_flows(hosts: u32, count: u32) -> Vec<FlowSetup> {
    let mut random = Random::new(42, 0, 0);
    (0..count)
        .map(|id| {
            let src = random.below(hosts as u64) as u32;
            let dst = (src + 1 + random.below(hosts as u64 - 1) as u32) % hosts;
            let scale = 8 + random.below(10);
            let size = 1 + random.below(1 << scale);
            flow(id, src, dst, size, Time(random.below(100_000_000)))
        })
        .collect()
}

#[test]
fn the_record_does_not_depend_on_the_number_of_threads() {
    let flows = mixed_flows(64, 600);
    for (plain, buffer, shared) in [
        (Plain { window: Some(20), ..Plain::default() }, Limit::Unlimited, None),
        (Plain::default(), Limit::Unlimited, None),
        (
            Plain { window: Some(9), ..Plain::default() },
            Limit::Unlimited,
            Some(SharedBuffer { pool: 4_000_000, alpha: 8.0 }),
        ),
    ] {
        let of = |threads| {
            let options = Options { watch: vec![FlowId(3)], ..Options::default() };
            let spec = "leaf-spine:8x4x8";
            let mut record = records(spec, plain, buffer, &flows, shared, &options, threads);
            record.events = 0;
            record
        };
        let alone = of(1);
        assert!(alone.complete);
        assert!(alone.packet_hops > 10_000);
        assert!(alone.flows.iter().any(|f| f.parts.unwrap().queueing.iter().any(|q| *q > 0)));
        for threads in [2, 3, 8] {
            assert!(of(threads) == alone, "{threads} threads differ");
        }
    }
}

/// A limit on captured packets keeps the first ones of the run, with any number of threads.
#[test]
fn the_same_packets_are_captured_with_any_number_of_threads() {
    let fabric = fabric("leaf-spine:8x4x8", 40, Span::from_us(1));
    let captured = |limit: usize, threads: usize| {
        let options = Options {
            capture: (0..fabric.ports().len() as u32).collect(),
            capture_limit: limit,
            ..Options::default()
        };
        let flows = mixed_flows(64, 300);
        let setup = setup(&fabric, Plain::default(), Limit::Packets(9), flows, None, options);
        run(setup, threads, &Monitor::default()).1
    };
    let all = captured(usize::MAX, 1);
    assert!(all.len() > 10_000, "{}", all.len());
    for limit in [0, 100, 5_000] {
        for threads in [1, 2, 3] {
            assert!(captured(limit, threads) == all[..limit], "{limit}, {threads} threads");
        }
    }
}

#[test]
fn lost_packets_are_counted_once_and_the_run_ends_when_nothing_is_left() {
    let flows: Vec<_> = (0..3).map(|id| flow(id, id, 3, 300_000, Time::ZERO)).collect();
    let buffer = Limit::Packets(10);
    let record = records("star:4", Plain::default(), buffer, &flows, None, &Options::default(), 1);
    assert!(!record.complete);
    let sent: u32 = record.flows.iter().map(|flow| flow.packets).sum();
    let drops: u32 = record.ports.iter().map(|port| port.total.drops).sum();
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered).sum();
    assert_eq!(sent, 3 * 300_000u32.div_ceil(1460));
    assert!(drops > 100, "{drops}");
    assert!(delivered < 900_000 && delivered > 300_000);
    assert!(record.ended < Time(1_000_000_000));
}

/// The longest simulated time ends a run whose last flow would start after it.
#[test]
fn no_run_goes_on_beyond_the_longest_simulated_time() {
    let late = Time::HORIZON + Span(1);
    let flows = vec![flow(0, 0, 1, 5_000, Time::ZERO), flow(1, 2, 3, 5_000, late)];
    for threads in [1, 2] {
        let (spec, options) = ("leaf-spine:2x2x2", Options::default());
        let buffer = Limit::Unlimited;
        let record = records(spec, Plain::default(), buffer, &flows, None, &options, threads);
        assert_eq!(record.ended, Time::HORIZON);
        assert!(record.flows[0].completed.is_some() && record.flows[1].started.is_none());
        assert!(!record.whole() && record.silent_since.is_none());
    }
}

/// Identical picoseconds must not starve anybody: two senders at line rate into one port lose
/// equally.
#[test]
fn symmetric_senders_split_losses_evenly() {
    let size = 1460 * 1_100_000;
    let flows = vec![flow(0, 0, 2, size, Time::ZERO), flow(1, 1, 2, size, Time::ZERO)];
    let buffer = Limit::Packets(20);
    let record = records("star:3", Plain::default(), buffer, &flows, None, &Options::default(), 1);
    let lost: Vec<f64> =
        record.flows.iter().map(|flow| 1_100_000.0 - flow.delivered as f64 / 1460.0).collect();
    let total = lost[0] + lost[1];
    assert!(total >= 1_000_000.0, "{total} losses");
    assert!((lost[0] / total - 0.5).abs() < 0.005, "{lost:?}");
}

#[test]
fn a_failed_link_loses_what_is_on_it_and_routes_around() {
    let mut fabric = (*fabric("leaf-spine:2x2x1", 40, Span::from_us(1))).clone();
    let (leaf, spine) = (NodeId(2), NodeId(4));
    fabric.fail_link(Time(50_000_000), leaf, spine, 0).unwrap();
    let fabric = std::sync::Arc::new(fabric);
    let flows: Vec<_> = (0..8).map(|id| flow(id, 0, 1, 146_000, Time::ZERO)).collect();
    let options = Options::default();
    let setup = setup(&fabric, Plain::default(), Limit::Unlimited, flows, None, options);
    let record = run(setup, 1, &Monitor::default()).0;
    assert!(record.link_losses > 0);
    let sent: u32 = record.flows.iter().map(|flow| flow.packets).sum();
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered).sum();
    let drops: u32 = record.ports.iter().map(|port| port.total.drops).sum();
    assert_eq!(delivered / 1460 + record.link_losses + drops as u64, sent as u64);
    assert!(delivered > 8 * 146_000 / 2);
}
