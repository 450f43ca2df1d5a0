//! Hosts that are not ideal: what they take is in completion times and in their breakdown, to the picosecond.

use incast_protocols::{CATALOGUE, find};
use incast_testkit::{Trial, fabric, flow, random_flows, us};
use incast_transport::*;
use incast_world::{Coalescing, Delay, Faults, HostModel, StampAt};
use std::sync::Arc;

fn trial(name: &str, spec: &str, flows: Vec<Flow>, hosts: Option<HostModel>) -> Trial<'static> {
    let entry = find(name).expect("in the catalogue");
    let mut trial = Trial::new(entry, fabric(spec, Rate::from_gbps(10), us(2)), flows);
    trial.options.hosts = hosts.map(Arc::new);
    trial.options.until = Time::ZERO + Span::from_secs(1);
    trial
}

fn lone(size: u64) -> Vec<Flow> {
    vec![flow(0, 0, 3, size, Time::ZERO)]
}

/// DCTCP sends ten packets at once: they take what they take, and once what both hosts take.
#[test]
fn fixed_delays_add_up() {
    for spec in ["star:4", "leaf-spine:2x2x2", "fat-tree:4"] {
        for packets in [1, 2, 10] {
            let ideal = trial("dctcp", spec, lone(1_460 * packets), None).run();
            let (send, receive) = (Delay::Fixed(Span(1_234_567)), Delay::Fixed(Span(7_654_321)));
            let hosts = HostModel { send, receive, ..HostModel::default() };
            let run = trial("dctcp", spec, lone(1_460 * packets), Some(hosts)).run();
            let extra = 1_234_567 + 7_654_321;
            assert_eq!(run.fct(0), ideal.fct(0) + Span(extra), "{spec}, {packets}");
            let parts = run.flows[0].parts.expect("complete");
            assert_eq!(parts.queueing, [extra, 0, 0, 0], "{spec}, {packets}");
            assert_eq!(parts.total(), run.fct(0).0);
            let before = ideal.flows[0].parts.expect("complete");
            assert_eq!(
                (parts.propagation, parts.serialisation, parts.nic_own),
                (before.propagation, before.serialisation, before.nic_own)
            );
        }
    }
}

/// Whatever goes to and fro before a packet, each way is longer by what both hosts take.
#[test]
fn a_lone_packet_of_every_transport_takes_its_ways() {
    for entry in CATALOGUE {
        let name = entry.info().name;
        // Epochs of dcPIM are a grid in time.
        if name == "dcpim" {
            continue;
        }
        let hosts = || {
            let both = || Delay::Fixed(us(3));
            HostModel { send: both(), receive: both(), ..HostModel::default() }
        };
        let of = |hosts| trial(name, "star:4", lone(1_000), hosts).run().fct(0);
        let extra = of(Some(hosts())) - of(None);
        println!("{name}: {extra}");
        assert!(extra >= us(6) && extra.0.is_multiple_of(us(6).0), "{name}: {extra}");
    }
}

/// Interrupts for four packets, or 100 us after the first that waits.
#[test]
fn coalesced_packets_wait_for_the_fourth_or_the_timer() {
    let coalescing = Some(Coalescing { packets: 4, time: us(100) });
    let of = |packets: u64, hosts| trial("dctcp", "star:4", lone(1_460 * packets), hosts).run();
    // The time of a full packet on a link of 10 Gb/s.
    let tx = Span(1_538 * 800);
    for packets in 1..=10 {
        let (ideal, run) = (
            of(packets, None),
            of(packets, Some(HostModel { coalescing, ..HostModel::default() })),
        );
        let left = packets % 4;
        // The first of those that are left came so many packet times before the last.
        let waits = if left == 0 { Span::ZERO } else { us(100) - tx * (left - 1) };
        assert_eq!(run.fct(0), ideal.fct(0) + waits, "{packets}");
        assert_eq!(run.flows[0].parts.expect("complete").queueing[0], waits.0, "{packets}");
        let timed = Some(Coalescing { packets: 0, time: us(100) });
        let run = of(packets, Some(HostModel { coalescing: timed, ..HostModel::default() }));
        assert_eq!(run.fct(0), ideal.fct(0) + us(100) - tx * (packets - 1), "{packets}");
    }
}

/// Swift measures what its stamps say: those of hosts count the sender's host, those of its NIC do not.
#[test]
fn stamps_of_the_nic_leave_the_senders_host_out() {
    let target = [("base_target", "80us"), ("hop_target", "0us"), ("initial_window", "4")];
    let of = |stamp_at, resolution, settings: &[(&'static str, &'static str)]| {
        let both = || Delay::Fixed(us(25));
        let hosts = HostModel {
            send: both(),
            receive: both(),
            stamp_at,
            resolution,
            ..HostModel::default()
        };
        let mut trial = trial("swift", "star:4", lone(2_000_000), Some(hosts));
        trial.settings = settings.to_vec();
        trial.run().fct(0)
    };
    // The round trip takes 10 us and 100 us in hosts, 50 of them at the sender: above and below the
    // target of 80 us.
    let narrow = [&target[..], &[("flow_range", "1ns"), ("min_window", "1")]].concat();
    let (host, nic) =
        (of(StampAt::Host, Span::ZERO, &narrow), of(StampAt::Nic, Span::ZERO, &narrow));
    assert!(host > nic * 2, "{host} {nic}");
    // A clock in steps of 1 ms says that no time has passed, mostly.
    let coarse = of(StampAt::Host, Span::from_ms(1), &narrow);
    assert!(coarse < host, "{coarse} {host}");
}

#[test]
fn records_are_the_same_with_any_threads_and_add_up() {
    for entry in CATALOGUE {
        let name = entry.info().name;
        let mut random = Random::new(3, 0, 0);
        let size = |random: &mut Random, _| 1 + random.below(100_000);
        let flows = random_flows(&mut random, 16, 60, us(100), size);
        let hosts = HostModel {
            send: Delay::Exponential(us(1)),
            receive: Delay::Uniform(us(1), us(4)),
            coalescing: Some(Coalescing { packets: 8, time: us(5) }),
            resolution: Span::from_ns(100),
            stamp_at: StampAt::Nic,
        };
        let mut trial = trial(name, "leaf-spine:4x2x4", flows, Some(hosts));
        trial.options.faults = Faults { loss: 0.004, reorder: 0.01, duplicate: 0.01, late: us(20) };
        if name == "dcpim" {
            // Rounds of matching have to hold what hosts take.
            trial.told_rtt = Some(trial.base_rtt() + us(40));
        }
        let mut of = |threads, batch| {
            (trial.threads, trial.batch) = (threads, batch);
            RunRecord { events: 0, ..trial.run().record }
        };
        let whole = of(1, None);
        for (threads, batch) in [(3, None), (1, Some(4)), (2, Some(4))] {
            assert!(of(threads, batch) == whole, "{name}: {threads} threads, {batch:?}");
        }
        for flow in &whole.flows {
            let (start, end) = (flow.started.expect("open"), flow.completed);
            let end = end.unwrap_or_else(|| panic!("{name}: {:?}", flow.flow));
            let parts = flow.parts.expect("complete");
            assert_eq!(parts.total(), (end - start).0, "{name}");
            assert!(parts.queueing[0] + parts.recovery > 0, "{name}");
        }
    }
}
