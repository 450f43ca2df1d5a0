//! Known results in whole networks, without PFC.

use super::*;
use incast_fabric::{Fabric, LinkDefaults, PortId, parse};
use incast_testkit::*;
use incast_transport::telemetry::written;
use incast_transport::{Header, Span, Time, Transport};
use std::collections::BTreeSet;

const RATE: Rate = Rate::from_gbps(10);

fn fabric(spec: &str, propagation: Span) -> Fabric {
    parse(spec, LinkDefaults { rate: RATE, propagation, loss: 0.0 }).unwrap()
}

#[test]
fn acks_carry_a_record_per_switch_farthest_first() {
    for (spec, switches) in
        [("star:2", 1), ("dumbbell:1x1", 2), ("leaf-spine:2x2x2", 3), ("fat-tree:4", 5)]
    {
        let fabric = fabric(spec, us(2));
        let dst = fabric.hosts() - 1;
        // The last link of ACKs, and the last link of data.
        let home = fabric.port(fabric.host_port(0)).reverse.0;
        let last = fabric.port(fabric.host_port(dst)).reverse.0;
        let mut trial = Trial::new(&ENTRY, fabric, vec![flow(0, 0, dst, 300_000, Time::ZERO)]);
        trial.options.capture = vec![home, last];
        let (mut own, mut hosts) = (vec![0; switches + 1], 0);
        for one in trial.run().packets {
            if one.packet.is_data() {
                assert_eq!(one.packet.extension, 0, "data carries no telemetry");
                continue;
            }
            let records = written(&one.extension);
            assert_eq!(
                (one.packet.class, one.packet.ip_bytes()),
                (0, 42 + 8 * records.len() as u32)
            );
            let later = |pair: &[incast_transport::IntRecord]| {
                pair[1].timestamp.wrapping_sub(pair[0].timestamp) & 0xff_ffff >= 2_000
            };
            assert!(records.windows(2).all(later), "{spec}");
            match one.packet.header {
                Header::Segment { flags: 0, .. } => own[records.len()] += 1,
                _ => {
                    hosts += 1;
                    assert_eq!(records.len(), switches, "{spec}");
                }
            }
        }
        assert_eq!(hosts, 300_000usize.div_ceil(1_460));
        // An RTT to the next switch: 2 x 2 us, a packet and an ACK, in packet times of
        // 1.23 us; behind the last one two packets in full and an ACK of the host.
        assert!(
            own[0] == 0 && own[1..].iter().all(|count| (3..=6).contains(count)),
            "{spec}: {own:?}"
        );
    }
}

#[test]
fn data_and_acks_take_the_same_links() {
    let fabric = fabric("leaf-spine:4x4x2", us(2));
    let ports = fabric.ports().len() as u32;
    let reverse: Vec<u32> = (0..ports).map(|port| fabric.port(PortId(port)).reverse.0).collect();
    let flows: Vec<_> = (0..8).map(|id| flow(id, id, (id + 3) % 8, 40_000, Time::ZERO)).collect();
    let count = flows.len();
    let mut trial = Trial::new(&ENTRY, fabric, flows);
    trial.options.capture = (0..ports).collect();
    let packets = trial.run().packets;
    let mut used = BTreeSet::new();
    for id in 0..count as u32 {
        let of = |data: bool| -> BTreeSet<u32> {
            let own = packets.iter().filter(|one| one.packet.flow.0 == id);
            own.filter(|one| one.packet.is_data() == data).map(|one| one.port).collect()
        };
        let there = of(true);
        assert_eq!(
            there.iter().map(|port| reverse[*port as usize]).collect::<BTreeSet<_>>(),
            of(false)
        );
        used.extend(there);
    }
    assert!(used.len() > 24, "several spines are used");
}

/// FastTune's i-th of N switches: i / (2 (N + 1)) RTT; on average a quarter.
#[test]
fn feedback_is_a_quarter_of_an_rtt_old() {
    for (spec, dst, links) in [("star:2", 1, 2), ("leaf-spine:2x2x2", 3, 4), ("fat-tree:4", 15, 6)]
    {
        let flows = vec![flow(0, 0, dst, 20_000_000, Time::ZERO)];
        let run = Trial::new(&ENTRY, fabric(spec, us(50)), flows).run();
        let seen = &run.record.flows[0];
        let age = seen.decision_age as f64 / seen.decisions as f64 / 1e6;
        let round_trip = (links * 2 * 50) as f64;
        assert!((0.235..0.26).contains(&(age / round_trip)), "{spec}: {age} of {round_trip} us");
        assert!(seen.decisions as f64 > 0.98 * seen.packets as f64, "{}", seen.decisions);
    }
}

/// FastTune Fig. 7: one flow at its rate, and three more at line rate 200 us later.
fn three_join(entry: &'static dyn Transport) -> Outcome {
    let mut flows = vec![flow(0, 0, 4, FOREVER, Time::ZERO)];
    flows.extend((1..4).map(|id| flow(id, id, 4, FOREVER, Time::ZERO + us(200))));
    Trial::new(entry, star(5, RATE, us(2)), flows).until(us(1_000), us(2)).run()
}

/// Mean rate of the three flows, in Gb/s, between two times in microseconds after they joined.
fn joiners(run: &Outcome, from: u64, to: u64) -> f64 {
    let within = |host: usize| {
        let index = |at: u64| 100 + at as usize / 2;
        &run.record.ports[host].bins[index(from)..index(to)]
    };
    let sent: u64 = (1..4).flat_map(within).map(|bin| bin.sent_bytes).sum();
    sent as f64 * 8.0 / 3.0 / (to - from) as f64 / 1e3
}

#[test]
fn three_joining_flows_slow_down_within_an_rtt() {
    let (own, hpcc) = (three_join(&ENTRY), three_join(&crate::hpcc::ENTRY));
    // The switch's ACK: 2 x 2 us and a packet later, 5.3 us; then the window is below what is in
    // flight until the queue is gone. HPCC's senders fill their first window.
    assert!(joiners(&own, 0, 4) > 9.0 && joiners(&hpcc, 0, 12) > 9.0);
    assert!(joiners(&own, 8, 12) < 2.5, "{}", joiners(&own, 8, 12));
    assert_eq!((joiners(&own, 12, 28), joiners(&hpcc, 16, 40)), (0.0, 0.0));
    assert!(joiners(&own, 28, 40) > 1.5, "it is back before HPCC is");
    // Their share of 95 % is 2.38 Gb/s.
    assert!((1.9..2.6).contains(&joiners(&own, 40, 100)), "{}", joiners(&own, 40, 100));
    // An independent model: 32 KB and 43 KB.
    let peak = |run: &Outcome| run.peak_queue(us(200), us(400)) * 1_538.0;
    assert!((30_000.0..35_000.0).contains(&peak(&own)), "{}", peak(&own));
    assert!(peak(&own) < 0.75 * peak(&hpcc), "{}", peak(&hpcc));
}

/// Two flows over one link, the second 400 us later.
#[test]
fn flows_leave_five_percent_and_no_queue() {
    for settings in [&[][..], &[("quantise_int", "false")], &[("recovery", "go-back-n")]] {
        let flows =
            vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, Time::ZERO + us(400))];
        let mut trial = Trial::new(&ENTRY, star(3, RATE, us(2)), flows).until(us(20_000), us(20));
        trial.settings = settings.to_vec();
        let run = trial.run();
        let alone = run.utilisation(RATE, us(100), us(400));
        let both = run.utilisation(RATE, us(2_000), us(20_000));
        // Sent bytes count in complete packets: U of one flow varies, W is limited to the BDP.
        assert!((0.9..0.97).contains(&alone), "{settings:?}: {alone}");
        assert!((0.93..0.97).contains(&both), "{settings:?}: {both}");
        assert!(run.mean_queue(us(2_000), us(20_000)) < 0.5, "{settings:?}");
        assert!(run.fairness(us(15_000), us(20_000)) > 0.95, "{settings:?}");
        assert_eq!(run.drops(), 0);
    }
}
