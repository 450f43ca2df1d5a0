//! Priority-based flow control: a lossless configuration drops nothing.

use incast_fabric::{Fabric, PortId};
use incast_protocols::find;
use incast_testkit::{Outcome, Trial, flow, us};
use incast_transport::*;
use incast_world::{Captured, Pfc, SharedBuffer, sufficient_headroom};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn fabric() -> Fabric {
    incast_testkit::fabric("leaf-spine:2x2x8", Rate::from_gbps(40), us(1))
}

fn rules(fabric: &Fabric, shared: Option<SharedBuffer>) -> Pfc {
    Pfc {
        lossless: Classes::ALL,
        xoff: 20_000,
        xoff_by_port: vec![],
        release: 2 * 1538,
        headroom: sufficient_headroom(fabric, Framing::ETHERNET),
        lossy: 128 << 10,
        shared,
        alpha: vec![],
        reserve: 0,
        reserve_by_port: vec![],
        set_aside: vec![],
        cyclic: false,
        watchdog: None,
    }
}

/// Two incasts and a permutation at once.
fn flows(hosts: u32) -> Vec<Flow> {
    let toward =
        |receiver: u32| (0..hosts).filter(move |h| *h != receiver).map(move |h| (h, receiver));
    let around = (0..hosts).map(|h| (h, (h + hosts / 2 + 1) % hosts));
    let pairs = toward(0).chain(toward(hosts - 1)).chain(around);
    (0..).zip(pairs).map(|(id, (src, dst))| flow(id, src, dst, 100_000, Time::ZERO)).collect()
}

/// A transport in a fabric without drops, for 200 ms.
fn trial(name: &str, fabric: Fabric, pfc: Pfc, flows: Vec<Flow>) -> Trial<'static> {
    let mut trial = Trial::new(find(name).expect("in the catalogue"), fabric, flows);
    (trial.buffer, trial.shared) = (Limit::Unlimited, pfc.shared);
    trial.options.until = Time(200_000_000_000);
    trial.options.pfc = Some(Arc::new(pfc));
    trial
}

fn hammer(name: &str, pfc: Pfc, seed: u64, threads: usize) -> Outcome {
    let fabric = fabric();
    let flows = flows(fabric.hosts());
    let mut trial = trial(name, fabric, pfc, flows);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    (trial.options.seed, trial.threads) = (seed, threads);
    trial.run()
}

fn sum(record: &RunRecord, of: fn(&Bin) -> u64) -> u64 {
    record.ports.iter().map(|port| of(&port.total)).sum()
}

/// Checks that a later frame releases every paused class and that all classes end open.
fn check_pairs(frames: &[Captured]) -> usize {
    let mut paused: BTreeMap<u32, u8> = BTreeMap::new();
    let mut count = 0;
    let mut frames: Vec<&Captured> = frames.iter().collect();
    frames.sort_by_key(|frame| (frame.at, frame.port));
    for frame in frames {
        let Header::Pause { classes, paused: stopped, .. } = frame.packet.header else { continue };
        let state = paused.entry(frame.port).or_default();
        assert_eq!(*state & classes, classes & !stopped, "frames change the state of a class");
        *state = *state & !classes | stopped;
        count += 1;
    }
    assert!(paused.values().all(|state| *state == 0), "{paused:?}");
    count
}

#[test]
fn nothing_is_dropped_under_overload() {
    let pool = Some(SharedBuffer { pool: 300_000, alpha: 0.125 });
    for name in ["dctcp", "cubic", "trd", "ren"] {
        for (shared, seed) in [(None, 1), (None, 2), (pool, 3), (pool, 4)] {
            let mut pfc = rules(&fabric(), shared);
            // Pauses that end are no deadlock.
            pfc.cyclic = true;
            let record = hammer(name, pfc, seed, 1);
            assert!(record.deadlock.is_empty(), "{name}, seed {seed}");
            let drops = sum(&record, |bin| bin.drops as u64);
            assert_eq!(drops, 0, "{name}, seed {seed}");
            assert!(record.flows.iter().all(|flow| flow.completed.is_some()), "{name} {seed}");
            assert!(sum(&record, |bin| bin.paused) > 1_000_000, "{name} was paused");
            assert!(check_pairs(&record.packets) > 10, "{name}");
        }
    }
}

#[test]
fn too_little_headroom_drops() {
    let mut pfc = rules(&fabric(), None);
    pfc.headroom.iter_mut().for_each(|bytes| *bytes = 3_000);
    let record = hammer("trd", pfc, 1, 1);
    assert!(sum(&record, |bin| bin.drops as u64) > 0);
}

#[test]
fn pauses_are_the_same_with_any_number_of_threads() {
    let pool = Some(SharedBuffer { pool: 300_000, alpha: 0.125 });
    for shared in [None, pool] {
        let pfc = rules(&fabric(), shared);
        let one = hammer("dctcp", pfc.clone(), 5, 1);
        for threads in [2, 3] {
            let other = hammer("dctcp", pfc.clone(), 5, threads);
            assert_eq!(one.flows, other.flows, "{threads} threads");
            assert_eq!(one.ports, other.ports, "{threads} threads");
        }
    }
}

/// A class without PFC is dropped at its limit and pauses no link.
#[test]
fn other_classes_are_dropped_as_without_pfc() {
    let mut pfc = rules(&fabric(), None);
    pfc.lossless = Classes::CONTROL;
    pfc.lossy = 30_000;
    let record = hammer("trd", pfc, 1, 1);
    assert!(sum(&record, |bin| bin.drops as u64) > 0);
    assert!(record.flows.iter().all(|flow| flow.completed.is_some()));
}

/// Five switches in a ring; every host sends to the one two hops away.
fn ring(shared: Option<SharedBuffer>) -> (Trial<'static>, Vec<PortId>) {
    let (rate, delay) = (Rate::from_gbps(40), Span::from_us(1));
    let mut graph = incast_fabric::Graph::new();
    let hosts: Vec<_> = (0..5).map(|_| graph.add_host()).collect();
    let switches: Vec<_> = (0..5).map(|_| graph.add_switch()).collect();
    for i in 0..5 {
        graph.link(hosts[i], switches[i], rate, delay, 0.0).unwrap();
        graph.link(switches[i], switches[(i + 1) % 5], rate, delay, 0.0).unwrap();
    }
    let fabric = graph.build().unwrap();
    let cycle = fabric.buffer_cycle(&fabric.routes()).expect("a ring has one");
    let mut pfc = rules(&fabric, shared);
    pfc.cyclic = true;
    if shared.is_some() {
        pfc.xoff = u64::MAX / 4;
    }
    let flows = (0..5).map(|i| flow(i, i, (i + 2) % 5, 100_000_000, Time::ZERO)).collect();
    (trial("cubic", fabric, pfc, flows), cycle)
}

/// If only three of the five send, the ring is paused repeatedly, but the cycle never closes: all
/// flows complete.
#[test]
fn transient_pauses_around_a_ring_are_no_deadlock() {
    for shared in [None, Some(SharedBuffer { pool: 100_000, alpha: 1.0 })] {
        let (mut trial, _) = ring(shared);
        trial.flows.truncate(3);
        trial.flows.iter_mut().for_each(|flow| flow.flow.size = 3_000_000);
        let record = trial.run();
        assert!(record.complete && record.deadlock.is_empty(), "{shared:?}: {:?}", record.deadlock);
        assert!(sum(&record, |bin| bin.paused) > 1_000_000, "{shared:?} was never paused");
        assert_eq!(sum(&record, |bin| bin.drops as u64), 0, "{shared:?}");
    }
}

/// All buffers of the ring fill and no port can send. The run ends with a report of the cycle, both
/// with static thresholds per link and with the dynamic thresholds of a shared pool.
#[test]
fn a_deadlocked_ring_is_reported() {
    for shared in [None, Some(SharedBuffer { pool: 100_000, alpha: 1.0 })] {
        let (mut trial, cycle) = ring(shared);
        trial.threads = 2;
        let until = trial.options.until;
        let record = trial.run();
        assert!(!record.complete && record.ended < until, "{shared:?}: {:?}", record.ended);
        let ports: BTreeSet<u32> = record.deadlock.iter().map(|(port, _)| *port).collect();
        assert_eq!(ports, cycle.iter().map(|port| port.0).collect(), "{shared:?}");
    }
}

/// Where the time of flows goes that wait for pauses: a paused NIC is not busy and its flow ready, a
/// paused port between switches is a queue. Nothing is recovery.
#[test]
fn pauses_are_idle_nics_and_queues() {
    // Three hosts fill the port of host 4; a fourth one sends to host 5 through the paused links.
    let fabric = incast_testkit::fabric("leaf-spine:2x1x4", Rate::from_gbps(10), us(1));
    let pfc = rules(&fabric, None);
    let mut flows: Vec<Flow> = (0..3).map(|id| flow(id, id, 4, 2_000_000, Time::ZERO)).collect();
    flows.push(flow(3, 3, 5, 100_000, Time::ZERO + us(300)));
    let mut trial = trial("dctcp", fabric, pfc, flows);
    // No mark and no loss: only pauses slow the flows.
    trial = trial.set("mark_threshold", "100MB").set("initial_window", "1000");
    let outcome = trial.run();
    for host in 0..4 {
        let parts = outcome.flows[host as usize].parts.expect("complete");
        let (paused, idle) =
            (outcome.nic(host).total.paused, parts.blocked[Reason::Ready as usize]);
        assert!(idle <= paused && idle * 10 >= paused * 9, "{host}: {parts:?}, paused {paused} ps");
        let queues: u64 = parts.queueing.iter().sum();
        let sending = parts.nic_own + parts.serialisation + parts.propagation;
        assert_eq!(parts.total(), idle + queues + sending, "{host}: nothing else: {parts:?}");
        assert!(queues > 40_000_000, "the port behind which it stands is paused: {parts:?}");
    }
}
