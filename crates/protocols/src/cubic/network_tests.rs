//! Known results in whole networks.

use super::*;
use incast_fabric::{Dumbbell, Fabric};
use incast_testkit::*;
use incast_transport::{Bytes, Flow, Limit, Rate, Span, Time};

fn cubic<'a>(fabric: Fabric, settings: &Settings<'a>, buffer: u32, flows: Vec<Flow>) -> Trial<'a> {
    let mut trial = Trial::new(&ENTRY, fabric, flows);
    (trial.settings, trial.buffer) = (settings.to_vec(), Limit::Packets(buffer));
    trial
}

fn hosts(count: u32) -> Fabric {
    star(count, Rate::from_gbps(10), us(5))
}

/// Two hosts of 40 Gb/s at either end of 1 Gb/s: an RTT of 1 ms is 81 packets.
fn long_link() -> Fabric {
    let dumbbell = Dumbbell {
        left: 1,
        right: 1,
        host_rate: Rate::from_gbps(40),
        bottleneck_rate: Rate::from_gbps(1),
        host_propagation: us(10),
        bottleneck_propagation: us(480),
        loss: 0.0,
    };
    dumbbell.build().unwrap()
}

/// Share of the bottleneck in use from 1 s to 4 s, and the losses there.
fn utilisation(settings: &[(&str, &str)], buffer: u32) -> (f64, u32) {
    let endless = vec![flow(0, 0, 1, FOREVER, Time::ZERO)];
    let trial = cubic(long_link(), settings, buffer, endless).until(Span::from_secs(4), ms(10));
    let run = trial.run();
    let used = run.utilisation(Rate::from_gbps(1), Span::from_secs(1), Span::from_secs(4));
    let drops = run.ports.iter().flat_map(|port| port.bins.iter().skip(100));
    (used, drops.map(|bin| bin.drops).sum())
}

#[test]
fn reno_needs_a_buffer_of_one_bdp() {
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
fn hystart_avoids_the_losses_of_slow_start() {
    let drops = |settings: &[(&str, &str)]| {
        let endless = vec![flow(0, 0, 1, FOREVER, Time::ZERO)];
        cubic(long_link(), settings, 100, endless).until(ms(40), us(10)).run().drops()
    };
    assert!(drops(&[]) > 50, "{}", drops(&[]));
    assert_eq!(drops(&[("hystart", "true")]), 0);
}

#[test]
fn a_handshake_costs_one_rtt_of_headers() {
    let of = |settings| {
        cubic(hosts(2), settings, 100, vec![flow(0, 0, 1, 5_000, Time::ZERO)]).run().fct(0)
    };
    let header = Rate::from_gbps(10).tx_time(Bytes(84));
    // Two links of 5 us each way, store and forward.
    let round_trip = (header + us(5)) * 4;
    assert_eq!(of(&[("handshake", "true")]), of(&[]) + round_trip);
}

#[test]
fn every_flow_completes_with_impaired_hosts() {
    let settings = [
        vec![("recovery", "newreno"), ("handshake", "true")],
        vec![("delayed_ack", "2"), ("delayed_ack_timeout", "1ms"), ("hystart", "true")],
        vec![("growth", "reno"), ("recovery", "newreno")],
    ];
    for (seed, settings) in settings.iter().enumerate() {
        let trial = cubic(hosts(6), settings, 200, ladder(Time::ZERO));
        trial.impaired(seed as u64).delivers();
    }
}
