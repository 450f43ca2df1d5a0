//! Known results in whole networks, without PFC.

use super::*;
use incast_fabric::{Fabric, LinkDefaults, parse};
use incast_testkit::*;
use incast_transport::telemetry::written;
use incast_transport::{Bytes, Rate, Span, Time};
use incast_world::Captured;

const RATE: Rate = Rate::from_gbps(10);

fn fabric(spec: &str, propagation: Span) -> Fabric {
    parse(spec, LinkDefaults { rate: RATE, propagation, loss: 0.0 }).unwrap()
}

/// The time of packets of these payloads over links of which the first carries an empty stack and
/// each further one a record more; with `fixed` records all carry as many.
pub(crate) fn own_time(fabric: &Fabric, dst: u32, payloads: &[u32], fixed: Option<u32>) -> Span {
    let links = fabric.links(&fabric.path(&fabric.routes(), 0, dst, |_| 0));
    let mut free = vec![Span::ZERO; links.len()];
    let mut done = Span::ZERO;
    for payload in payloads {
        let mut at = Span::ZERO;
        for (hop, (rate, propagation)) in links.iter().enumerate() {
            let records = fixed.unwrap_or(hop as u32);
            let charged = (payload + 40 + 2 + 8 * records + 38).max(84);
            free[hop] = at.max(free[hop]) + rate.tx_time(Bytes(charged as u64));
            at = free[hop] + *propagation;
        }
        done = at;
    }
    done
}

#[test]
fn a_short_lone_flow_takes_the_time_of_its_own_packets() {
    for (spec, dst, switches) in [
        ("star:2", 1, 1),
        ("dumbbell:1x1", 1, 2),
        ("leaf-spine:2x2x2", 3, 3),
        ("fat-tree:4", 15, 5),
    ] {
        let payload = 1_460 - 2 - 8 * switches;
        for fixed in [false, true] {
            for size in [1, payload, payload + 1, 10 * payload + 7] {
                let fabric = fabric(spec, us(2));
                let (full, rest) = (size / payload, size % payload);
                let mut payloads = vec![payload; full as usize];
                payloads.extend((rest > 0).then_some(rest));
                let own = own_time(&fabric, dst, &payloads, fixed.then_some(switches));
                let flows = vec![flow(0, 0, dst, size as u64, Time::ZERO)];
                let trial = Trial::new(&ENTRY, fabric, flows);
                let run = trial.set("int_fixed", if fixed { "true" } else { "false" }).run();
                assert_eq!(run.fct(0), own, "{spec}, {size} B, fixed {fixed}");
            }
        }
    }
}

/// What data carries at its last port and what ACKs carry as they leave, `dst` being the last
/// host.
fn captured(spec: &str, settings: &[(&'static str, &'static str)]) -> (Vec<Captured>, u32) {
    let fabric = fabric(spec, us(2));
    let dst = fabric.hosts() - 1;
    let path = fabric.path(&fabric.routes(), 0, dst, |_| 0);
    let last = path.last().unwrap().0;
    let flows = vec![flow(0, 0, dst, 300_000, Time::ZERO)];
    let mut trial = Trial::new(&ENTRY, fabric, flows);
    trial.settings = settings.to_vec();
    trial.options.capture = vec![dst, last];
    (trial.run().packets, dst)
}

#[test]
fn each_switch_adds_a_record_nearest_the_sender_first() {
    for (spec, switches) in
        [("star:2", 1), ("dumbbell:1x1", 2), ("leaf-spine:2x2x2", 3), ("fat-tree:4", 5)]
    {
        for settings in [&[][..], &[("int_fixed", "true"), ("int_hops", "6")]] {
            let fixed = settings.len() as u32 > 0;
            let (packets, dst) = captured(spec, settings);
            assert!(packets.len() > 400, "{spec}");
            for one in &packets {
                let records = written(&one.extension);
                assert_eq!(records.len(), switches, "{spec}");
                let later = |pair: &[incast_transport::IntRecord]| {
                    // At least a link's propagation between two hops.
                    pair[1].timestamp.wrapping_sub(pair[0].timestamp) & 0xff_ffff >= 2_000
                };
                assert!(records.windows(2).all(later), "{spec}");
                let room = if fixed { 6 } else { switches };
                assert_eq!(one.packet.extension as usize, 2 + 8 * room);
                if one.packet.is_data() {
                    assert!(one.packet.ip_bytes() <= 1_500);
                } else {
                    assert_eq!((one.port, one.packet.ip_bytes()), (dst, 42 + 8 * room as u32));
                }
            }
            let full = packets.iter().map(|one| one.packet.ip_bytes()).max();
            assert_eq!(full, Some(1_500), "a full packet is full at its last hop");
        }
    }
}

/// Two flows over one link, the second 400 us later.
fn joining(settings: &[(&'static str, &'static str)]) -> Outcome {
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, Time::ZERO + us(400))];
    let mut trial = Trial::new(&ENTRY, star(3, RATE, us(2)), flows).until(us(20_000), us(20));
    trial.settings = settings.to_vec();
    trial.run()
}

#[test]
fn flows_leave_five_percent_and_no_queue() {
    for settings in [
        &[][..],
        &[("quantise_int", "false")],
        &[("int_fixed", "true")],
        &[("recovery", "sack")],
        &[("max_stage", "0")],
    ] {
        let run = joining(settings);
        // U = eta + n W_AI / (B T): 0.9505 for one flow, 0.951 for two.
        let alone = run.utilisation(RATE, us(100), us(400));
        assert!((0.94..0.96).contains(&alone), "{settings:?}: {alone}");
        let both = run.utilisation(RATE, us(2_000), us(20_000));
        assert!((0.93..0.96).contains(&both), "{settings:?}: {both}");
        assert!(run.mean_queue(us(2_000), us(20_000)) < 0.5, "{settings:?}");
        assert!(run.fairness(us(15_000), us(20_000)) > 0.95, "{settings:?}");
        // Both at line rate for an RTT: half of what arrives waits.
        let peak = run.peak_queue(us(400), us(600)) * 1_538.0;
        assert!((5_000.0..25_000.0).contains(&peak), "{settings:?}: {peak}");
        assert_eq!(run.drops(), 0);
    }
}

/// FastTune Fig. 7: one flow at its rate, and three more at line rate 200 us later.
#[test]
fn three_joining_flows_get_no_feedback_for_one_rtt() {
    let mut flows = vec![flow(0, 0, 4, FOREVER, Time::ZERO)];
    flows.extend((1..4).map(|id| flow(id, id, 4, FOREVER, Time::ZERO + us(200))));
    let run = Trial::new(&ENTRY, star(5, RATE, us(2)), flows).until(us(600), us(2)).run();
    // What the three send, in Gb/s each, from so many to so many microseconds after they joined.
    let rate = |from: u64, to: u64| {
        let (first, count) = (100 + from as usize / 2, (to - from) as usize / 2);
        let bins = |host: usize| run.record.ports[host].bins.iter().skip(first).take(count);
        let sent: u64 = (1..4).flat_map(bins).map(|bin| bin.sent_bytes).sum();
        sent as f64 * 8.0 / 3.0 / (to - from) as f64 / 1e3
    };
    // An RTT at line rate; a window of 13 kB is full before the first news comes, and the
    // news is a queue of three windows: no flow sends until that is gone.
    assert!(rate(0, 10) > 9.0, "{}", rate(0, 10));
    assert_eq!(rate(14, 40), 0.0);
    let peak = run.peak_queue(us(200), us(600)) * 1_538.0;
    assert!((40_000.0..50_000.0).contains(&peak), "the throw-away model: 43 KB; {peak}");
    // Then half as much again as their share of 2.4 Gb/s, and about their share from 60 us on.
    assert!(rate(46, 60) > 3.0, "{}", rate(46, 60));
    assert!((2.0..3.0).contains(&rate(60, 200)), "{}", rate(60, 200));
    assert!((2.2..2.8).contains(&rate(200, 400)), "{}", rate(200, 400));
}

/// HPCC's i-th of N switches: (1 - i / (2 (N + 1))) RTT; on average three quarters.
#[test]
fn feedback_is_three_quarters_of_an_rtt_old() {
    for (spec, dst, links) in [("star:2", 1, 2), ("leaf-spine:2x2x2", 3, 4), ("fat-tree:4", 15, 6)]
    {
        let flows = vec![flow(0, 0, dst, 20_000_000, Time::ZERO)];
        let run = Trial::new(&ENTRY, fabric(spec, us(50)), flows).run();
        let seen = &run.record.flows[0];
        let age = seen.decision_age as f64 / seen.decisions as f64 / 1e6;
        let round_trip = (links * 2 * 50) as f64;
        assert!((0.75..0.77).contains(&(age / round_trip)), "{spec}: {age} of {round_trip} us");
        // Each ACK decides, but for the first one and those that come after the run.
        assert!(seen.decisions as f64 > 0.98 * seen.packets as f64, "{}", seen.decisions);
    }
}

#[test]
fn more_flows_than_packets_per_rtt_are_paced() {
    // An RTT holds 9 packets: windows of 80 flows are below a packet each.
    let count = 80;
    let flows = (0..count).map(|id| flow(id, id, count, FOREVER, Time::ZERO)).collect();
    let mut trial =
        Trial::new(&ENTRY, star(count + 1, RATE, us(2)), flows).until(us(40_000), us(100));
    trial.buffer = incast_transport::Limit::Unlimited;
    let run = trial.run();
    // At the least rate, 100 Mb/s, they use 80 % of the link; additive steps lift them above it.
    let used = run.utilisation(RATE, us(20_000), us(40_000));
    assert!((0.79..0.96).contains(&used), "{used}");
    assert!(run.mean_queue(us(20_000), us(40_000)) < 40.0);
    assert!(run.fairness(us(20_000), us(40_000)) > 0.99);
}
