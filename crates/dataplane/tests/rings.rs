//! The same packets over rings of DPDK as in the simulator, and all mbufs back in their pool.
//!
//! A process of its own: DPDK starts once per process, here with its embedded settings.

#[path = "all/common.rs"]
mod common;

use common::{BothWorlds, assert_same, of, trial};
use incast_dataplane::dpdk::{EMBEDDED, Environment, Rings};
use incast_dataplane::{Frame, PacketIo, Testbed, Virtual};
use incast_testkit::{Trial, at, flow};
use incast_transport::*;
use incast_world::Faults;
use std::sync::{Arc, Mutex, MutexGuard};

/// DPDK has 32 ports for all: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn start() -> (Environment, MutexGuard<'static, ()>) {
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    (Environment::start(EMBEDDED).expect("DPDK starts without privilege"), alone)
}

/// Runs a trial over rings and compares everything with simulator and memory; over ports if `ports`.
fn same_over_rings(environment: Environment, scenario: &Trial<'static>, ports: bool) -> RunRecord {
    let what = scenario.names();
    let (in_memory, packets) = scenario.same_in_both_worlds();
    let io = Rings::new(environment, &scenario.fabric, scenario.framing).unwrap();
    assert_eq!(io.has_ports(), ports, "{what:?}");
    let pool = io.pool().clone();
    let (record, received, io) = Testbed::with(scenario.setup(), io, Virtual::new()).run();
    assert_eq!(io.held(), 0, "{what:?}: nodes hold frames");
    assert_same(&what, (in_memory, &packets), (&record, &received));
    drop(io);
    assert_eq!(pool.available(), pool.count(), "{what:?}: mbufs leaked");
    record
}

fn names() -> impl Iterator<Item = &'static str> {
    incast_protocols::CATALOGUE.iter().map(|transport| transport.info().name)
}

fn dumbbell(name: &'static str) -> Trial<'static> {
    let mut scenario = trial(&[name], "dumbbell:3x2", Span::from_us(8), Limit::Bytes(64 << 10));
    scenario.flows = vec![
        of(name, flow(0, 0, 3, 1_000_000, Time::ZERO)),
        of(name, flow(1, 1, 4, 100_000, at(300))),
        of(name, flow(2, 2, 4, 100_000, at(300))),
    ];
    scenario.options.until = Time::ZERO + Span::from_ms(200);
    scenario
}

/// Senders that start at once into 32 packets of buffer, on links that lose, delay and double.
fn incast(name: &'static str, spec: &str, senders: u32) -> Trial<'static> {
    let mut scenario = trial(&[name], spec, Span::from_us(2), Limit::Packets(32));
    let size = |src: u32| 80_000 + 1_111 * u64::from(src);
    scenario.flows =
        (1..=senders).map(|src| of(name, flow(src - 1, src, 0, size(src), Time::ZERO))).collect();
    scenario.options.faults =
        Faults { loss: 0.01, reorder: 0.01, duplicate: 0.01, late: Span::from_us(20) };
    scenario.options.until = Time::ZERO + Span::from_ms(200);
    scenario
}

#[test]
fn every_transport_sends_the_same_packets_over_ports() {
    let (environment, _alone) = start();
    for name in names() {
        let record = same_over_rings(environment, &dumbbell(name), true);
        assert!(record.complete, "{name} does not finish");
    }
}

#[test]
fn every_transport_loses_the_same_packets_over_ports() {
    let (environment, _alone) = start();
    for name in names() {
        let record = same_over_rings(environment, &incast(name, "star:9", 8), true);
        assert!(record.complete && record.link_losses > 0, "{name}");
    }
}

/// 18 links have 36 ports, more than DPDK.
#[test]
fn a_larger_fabric_has_bare_rings() {
    let (environment, _alone) = start();
    for name in names() {
        let record = same_over_rings(environment, &incast(name, "leaf-spine:3x2x4", 11), false);
        assert!(record.complete && record.link_losses > 0, "{name}");
    }
}

#[test]
fn jumbo_frames_fit() {
    let (environment, _alone) = start();
    let mut scenario = dumbbell("ndp");
    scenario.framing = Framing { mtu: 9_000, ..Framing::ETHERNET };
    for setup in &mut scenario.flows {
        setup.flow.segments = Segments::Uniform(scenario.framing.mss());
    }
    assert!(same_over_rings(environment, &scenario, true).complete);
}

/// Packets for which there is no mbuf are lost as on a link, and the flows recover.
#[test]
fn an_exhausted_pool_loses_packets_and_nothing_else() {
    let (environment, _alone) = start();
    let mut lost = 0;
    for name in ["dctcp", "ndp", "ren"] {
        let scenario = dumbbell(name);
        let io = Rings::with_frames(environment, &scenario.fabric, scenario.framing, 40).unwrap();
        let pool = io.pool().clone();
        let (record, _, io) = Testbed::with(scenario.setup(), io, Virtual::new()).run();
        assert!(record.complete, "{name} does not finish");
        lost += record.link_losses;
        assert_eq!(io.held(), 0);
        drop(io);
        assert_eq!(pool.available(), pool.count(), "{name}: mbufs leaked");
    }
    assert!(lost > 0, "the pool was large enough");
}

#[test]
fn a_frame_that_is_too_long_is_refused() {
    let (environment, _alone) = start();
    let scenario = dumbbell("dctcp");
    let mut io = Rings::new(environment, &scenario.fabric, Framing::ETHERNET).unwrap();
    assert!(io.alloc(60_000).is_none());
    let frame = io.alloc(1_500).unwrap();
    assert_eq!((frame.bytes().len(), io.held()), (1_500, 1));
    io.free(frame);
    assert_eq!(io.held(), 0);
}

/// A link takes as many frames as it can hold, and hands each over when it is due.
#[test]
fn a_link_holds_what_is_on_it() {
    use incast_dataplane::Departure;
    let (environment, _alone) = start();
    let scenario = dumbbell("dctcp");
    let fabric = Arc::clone(&scenario.fabric);
    let mut io = Rings::new(environment, &fabric, Framing::ETHERNET).unwrap();
    let port = fabric.host_port(0).0;
    let other = fabric.ports()[port as usize].reverse.0;
    let room = io.room(port);
    assert!(room > 32 && io.due(other) == Time::NEVER);
    for index in 0..room as u64 {
        let frame = io.alloc(60).unwrap();
        let (start, release) = (Time(index), Time(1_000 + index));
        let departure = Departure { start, release, complete: release };
        assert!(io.stage(port, frame, departure).is_ok());
    }
    // The first ones are in the ring, the last ones staged; both count.
    assert_eq!((io.room(port), io.due(other)), (0, Time(1_000)));
    let frame = io.alloc(60).unwrap();
    let departure = Departure { start: Time(9), release: Time(9), complete: Time(9) };
    let frame = io.stage(port, frame, departure).unwrap_err();
    io.free(frame);
    assert_eq!(io.flush(port), 0);
    let mut arrived = vec![];
    assert_eq!(io.rx_burst(other, Time(999), 32, &mut arrived), 0);
    assert_eq!(io.rx_burst(other, Time(1_004), 32, &mut arrived), 5);
    assert_eq!(io.rx_burst(other, Time(9_999), 32, &mut arrived), 32);
    assert_eq!(io.due(other), Time(1_037));
    assert!(arrived.iter().enumerate().all(|(index, one)| one.at == Time(1_000 + index as u64)));
    assert_eq!((io.held(), io.room(port)), (37, 37));
    arrived.drain(..).for_each(|one| io.free(one.frame));
    assert_eq!(io.held(), 0);
}
