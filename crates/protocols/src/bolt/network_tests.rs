//! Known results in whole networks.

use super::headers::Notice;
use super::*;
use incast_testkit::*;
use incast_transport::{Bytes, Limit, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(100);
/// With it a round trip over two links is 8 us and a little.
const LINK: Span = Span::from_us(2);

#[test]
fn a_lone_flow_takes_the_time_of_its_own_packets() {
    for spec in ["star:2", "leaf-spine:2x2x2", "fat-tree:4"] {
        for size in [1, 1_452, 1_453, 100_000, 3_000_000] {
            let fabric = fabric(spec, RATE, LINK);
            let dst = fabric.hosts() - 1;
            let (full, rest) = (size / 1_452, size % 1_452);
            let last = (rest > 0).then_some(rest as u32 + 48);
            let packets: Vec<u32> = (0..full).map(|_| 1_500).chain(last).collect();
            let ideal = ideal(&fabric, 0, dst, &packets);
            let mut trial = Trial::new(&ENTRY, fabric, vec![flow(0, 0, dst, size, Time::ZERO)]);
            trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
            let run = trial.run();
            assert_eq!(run.fct(0), ideal, "{spec}, {size}");
            let told = run.packets.iter().filter(|one| Notice::read(&one.packet.header).is_some());
            assert_eq!(told.count(), 0, "{spec}, {size}: nothing waits");
        }
    }
}

/// Four hosts send at line rate to one: three of four packets wait, so that the first notice leaves when two
/// packets wait, which is after the second round of arrivals.
#[test]
fn notices_leave_as_soon_as_two_packets_wait() {
    let flows = (0..4).map(|id| flow(id, id, 4, 200_000, Time::ZERO)).collect();
    let mut trial = Trial::new(&ENTRY, star(5, RATE, LINK), flows);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    let run = trial.run();
    let told: Vec<_> =
        run.packets.iter().filter(|one| Notice::read(&one.packet.header).is_some()).collect();
    let packet = RATE.tx_time(Bytes(1_538));
    let first = told.iter().map(|one| one.at).min().expect("there is a queue");
    // The first packets are here after a packet time and the link's delay: one leaves, and the third of
    // the others finds two.
    assert_eq!(first, Time::ZERO + packet + LINK);
    let data = run.packets.iter().filter(|one| one.packet.is_data() && one.port < 5).count();
    assert!(told.len() < data, "{} of {data}", told.len());
}

/// `count` hosts that send to one for 4 ms; the last half of it counts.
fn shared(count: u32, settings: &[(&'static str, &'static str)]) -> (f64, f64, f64, u32) {
    let start = |id: u32| Time::ZERO + Span::from_ns(1_700 * id as u64);
    let flows = (0..count).map(|id| flow(id, id, count, FOREVER, start(id))).collect();
    let mut trial = Trial::new(&ENTRY, star(count + 1, RATE, LINK), flows).until(ms(4), us(20));
    trial.buffer = Limit::Bytes(4_000_000);
    trial.settings = settings.to_vec();
    let run = trial.run();
    let (from, to) = (ms(2), ms(4));
    (run.utilisation(RATE, from, to), run.mean_queue(from, to), run.fairness(from, to), run.drops())
}

/// Two flows keep the queue of the threshold. Of more, each sends its window in one go, and its notices come in
/// one go, W packet times long: a second decrement falls into it only once r / (q share) is shorter than that, and
/// one decrement a round trip makes good for the one packet that raises the window. So with W = (BDP + q) / n
/// and a share of 1 / n, q (BDP + q) = n^2 r / packet time.
#[test]
fn a_full_link_has_the_queue_that_bursts_of_notices_leave() {
    let packet = RATE.tx_time(Bytes(1_538)).0 as f64;
    let (round, bdp) = ((us(4).0 as f64 + packet) / packet, 8.2e6 / packet);
    for (count, within) in [(2, 2.0), (10, 0.3), (40, 0.2)] {
        let (used, queue, fair, drops) = shared(count, &[]);
        let flows = count as f64;
        let expected = (bdp * bdp / 4.0 + flows * flows * round).sqrt() - bdp / 2.0;
        println!("{count}: {used} {queue} of {expected}, {fair}");
        assert!(used > 0.999, "{count}: {used}");
        assert!((queue / expected - 1.0).abs() < within, "{count}: {queue} of {expected}");
        assert!(fair > 0.92, "{count}: {fair}");
        assert_eq!(drops, 0);
    }
}

/// Without notices the queue grows until something is lost. When a flow ends, what it leaves and unused
/// capacity let the other one take over; each alone does less.
#[test]
fn each_part_does_what_it_is_for() {
    let (_, with, ..) = shared(10, &[]);
    let (_, without, _, drops) = shared(10, &[("notices", "false")]);
    assert!(without > 5.0 * with || drops > 0, "{without} {with} {drops}");
    // Flow 1 ends after a millisecond; flow 0 takes over what it leaves.
    let used = |settings: &[(&'static str, &'static str)]| {
        let flows = vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, 6_000_000, Time::ZERO)];
        let mut trial = Trial::new(&ENTRY, star(3, RATE, LINK), flows).until(ms(2), us(10));
        trial.settings = settings.to_vec();
        let run = trial.run();
        let end = run.fct(1);
        run.utilisation(RATE, end, end + us(100))
    };
    let (all, none) = (used(&[]), used(&[("spare", "false"), ("endings", "false")]));
    let (spare, endings) = (used(&[("endings", "false")]), used(&[("spare", "false")]));
    println!("{all} {spare} {endings} {none}");
    // Alone, the window grows by a packet a round trip, of which there are twelve.
    assert!(none < 0.65, "{none}");
    assert!(spare > none + 0.15 && endings > none + 0.15, "{spare} {endings} {none}");
    assert!(all > spare.max(endings) + 0.08, "{all} {spare} {endings}");
}

/// Without notices as well, which is as if all of them were lost.
#[test]
fn every_flow_survives_faulty_hosts() {
    for (seed, settings) in [
        vec![],
        vec![("window", "1452B")],
        vec![("set", "authors")],
        vec![("probe", "false")],
        vec![("notices", "false")],
    ]
    .into_iter()
    .enumerate()
    {
        let mut trial = Trial::new(&ENTRY, star(6, RATE, LINK), ladder(at(3)));
        trial.buffer = Limit::Bytes(300_000);
        trial.settings = settings;
        trial.impaired(seed as u64).delivers();
    }
}
