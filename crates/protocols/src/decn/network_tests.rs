//! Known results in whole networks.

use super::*;
use incast_testkit::*;
use incast_transport::{Bytes, Header, Limit, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(10);

/// `count` long flows from as many hosts to one; buffer 128 packets.
fn long_flows(
    rate: Rate,
    rtt: Span,
    count: u32,
    settings: &[(&'static str, &'static str)],
) -> Trial<'static> {
    let flows = (0..count).map(|id| flow(id, id, count, FOREVER, Time::ZERO)).collect();
    let mut trial = Trial::new(&ENTRY, star(count + 1, rate, rtt / 4), flows);
    trial.buffer = Limit::Packets(128);
    trial.settings = settings.to_vec();
    trial
}

#[test]
fn long_flows_share_a_link_without_a_queue() {
    // Utilisation, Jain's index and mean queue: 0.98 to 0.99, 1.00 and 2 to 9 packets in the
    // packet model of the specification (400 flows: 0.97, 0.99, 58).
    for (count, from, used, queue) in [
        (2, 10, 0.99, 4.0),
        (8, 10, 0.98, 8.0),
        (20, 10, 0.97, 15.0),
        (40, 30, 0.96, 15.0),
        (100, 30, 0.95, 15.0),
        (400, 80, 0.92, 60.0),
    ] {
        let to = from + 20;
        let run = long_flows(RATE, us(100), count, &[]).until(ms(to), us(100)).run();
        let measured = run.utilisation(RATE, ms(from), ms(to));
        let fair = run.fairness(ms(from), ms(to));
        let mean = run.mean_queue(ms(from), ms(to));
        assert!(measured > used, "{count} flows use {measured}");
        assert!(fair > if count < 400 { 0.99 } else { 0.98 }, "{count} flows: {fair}");
        assert!(mean < queue, "{count} flows: {mean} packets wait");
    }
}

#[test]
fn a_gigabit_is_used_to_about_95_percent() {
    // DECN Fig. 8(a); a period holds eight packets, so that a measurement is right to an eighth.
    let rate = Rate::from_gbps(1);
    for count in [1, 2, 4] {
        let mut trial = long_flows(rate, us(200), count, &[]).until(ms(60), us(500));
        trial.buffer = Limit::Packets(64);
        let run = trial.run();
        let used = run.utilisation(rate, ms(10), ms(60));
        let mean = run.mean_queue(ms(10), ms(60));
        assert!((0.93..0.995).contains(&used), "{count}: {used}");
        assert!(mean < 4.0, "{count}: {mean}");
    }
}

/// What `active = 200us` costs, which the mean completion time of decn/fig10 gains from: flows whose
/// packets are further apart than that are not counted, so the rest is told more than there is.
#[test]
fn with_two_periods_of_activity_long_flows_starve() {
    let share = |active| {
        let run = long_flows(RATE, us(100), 100, &[("active", active)]);
        let run = run.until(ms(60), us(1_000)).run();
        let (packets, resent) = run.flows.iter().fold((0, 0), |(packets, resent), flow| {
            (packets + flow.packets as u64, resent + flow.retransmits as u64)
        });
        (run.fairness(ms(40), ms(60)), resent as f64 / packets as f64)
    };
    let (short, long) = (share("200us"), share("2ms"));
    println!("Jain and part resent: 2 periods {short:?}, 20 periods {long:?}");
    assert!(long.0 > 0.9 && long.1 < 0.04, "{long:?}");
    assert!(short.0 < 0.8 && short.1 > 0.15, "{short:?}");
}

/// A second flow joins after 20 ms; the first one has the link then.
fn joining(rate: Rate, rtt: Span, settings: &[(&'static str, &'static str)]) -> Outcome {
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, Time::ZERO + ms(20))];
    let mut trial = Trial::new(&ENTRY, star(3, rate, rtt / 4), flows).until(ms(45), us(200));
    trial.buffer = Limit::Packets(if rate == RATE { 128 } else { 64 });
    trial.settings = settings.to_vec();
    trial.run()
}

#[test]
fn a_joining_flow_has_its_share_in_a_millisecond() {
    // Milliseconds to 10 % in the packet model of the specification: 0.7, 1.1, 4.1 and 2.5.
    for (rtt, unit, most) in
        [(100, "scaled", 2), (100, "paper", 2), (400, "scaled", 4), (400, "paper", 4)]
    {
        let run = joining(RATE, us(rtt), &[("unit", unit)]);
        let fair = run.fair_after(ms(20), us(200), 0.1).expect("it becomes fair");
        assert!(fair < ms(most), "{rtt} us, {unit}: {fair}");
        assert!(run.fairness(ms(30), ms(45)) > 0.999);
        assert!(run.utilisation(RATE, ms(30), ms(45)) > 0.98);
        assert!(run.mean_queue(ms(30), ms(45)) < 4.0);
        assert_eq!(run.drops(), 0);
    }
    let rate = Rate::from_gbps(1);
    let fair = joining(rate, us(200), &[]).fair_after(ms(20), ms(1), 0.2).expect("fair");
    assert!(fair < ms(4), "{fair}");
}

#[test]
fn with_the_papers_cadence_rates_oscillate() {
    // Every unit in flight repeats the same error, and all of it is applied each time.
    for (rtt, cadence, stable) in [
        (100, "paper", false),
        (200, "paper", false),
        (400, "paper", false),
        (100, "gain", true),
        (400, "gain", false),
        (400, "guard", true),
    ] {
        let run = joining(RATE, us(rtt), &[("cadence", cadence)]);
        let used = run.utilisation(RATE, ms(30), ms(45));
        assert_eq!(used > 0.95, stable, "{cadence}, {rtt} us: {used}");
        assert_eq!(run.drops() == 0, stable, "{cadence}, {rtt} us");
    }
}

#[test]
fn one_flow_fills_an_empty_link_with_its_first_unit_or_the_fifth() {
    for (unit, most) in [("scaled", 500), ("paper", 3_300)] {
        let run = long_flows(RATE, us(100), 1, &[("unit", unit)]).until(ms(5), us(100)).run();
        let full = |k: &u64| run.utilisation(RATE, us(100 * k), us(100 * k + 100)) > 0.9;
        let first = (0..50).find(full).expect("it fills the link") * 100;
        assert!(first <= most, "{unit}: {first} us");
    }
}

#[test]
fn a_lone_flow_loses_two_gaps_and_an_rtt_minus_its_packets_in_that_time() {
    // The README's formula, for flows that end before a second unit counts.
    for (propagation, size) in [(5, 1), (5, 1_460), (5, 14_600), (25, 60 * 1_460), (25, 200_020)] {
        let fabric = star(2, RATE, us(propagation));
        let count = u64::div_ceil(size, 1_460);
        let ip: Vec<u32> = (0..count).map(|k| 40 + (size - k * 1_460).min(1_460) as u32).collect();
        let ideal = ideal(&fabric, 0, 1, &ip);
        let run = Trial::new(&ENTRY, fabric, vec![flow(0, 0, 1, size, Time::ZERO)]).run();
        let tx = |bytes| RATE.tx_time(Bytes(bytes)).0;
        let gap = Rate(3 * 1_538 * 8 * 10_000).tx_time(Bytes(1_538)).0;
        let round = 2 * (tx(1_538) + tx(84)) + 4 * us(propagation).0;
        let assigned = 2 * gap + round;
        let lost = match count {
            1 => 0,
            _ => assigned - assigned.div_ceil(gap) * tx(1_538),
        };
        assert_eq!(run.fct(0) - ideal, Span(lost), "{propagation} us, {size} B");
        assert_eq!(run.record.flows[0].retransmits, 0);
    }
}

#[test]
fn feedback_adds_no_bytes_and_units_are_complete() {
    let flows = vec![flow(0, 0, 1, 3_000_000, Time::ZERO)];
    let mut trial = Trial::new(&ENTRY, star(2, RATE, us(25)), flows);
    trial.options.capture = vec![0, 1];
    let run = trial.run();
    let (mut begun, mut carried, mut acks) = (0, 0, 0);
    for captured in &run.packets {
        let packet = &captured.packet;
        assert_eq!(packet.extension, 0);
        let Header::Segment { nibble, .. } = packet.header else { panic!("only segments") };
        assert!(nibble <= 0xF && packet.mark <= 1);
        if packet.is_data() {
            begun += (packet.mark == FIRST_OF_UNIT) as u32;
            carried += (nibble != 0) as u32;
        } else {
            acks += 1;
            assert_eq!(packet.ip_bytes(), 40);
        }
    }
    assert!(begun > 4);
    // What leaves the NIC is not marked yet: all three packets carry ones.
    assert_eq!(carried, 3 * begun);
    assert_eq!(acks, run.record.flows[0].packets);
}

#[test]
fn decisions_are_as_old_as_an_rtt_and_a_period() {
    let run = long_flows(RATE, us(100), 8, &[]).until(ms(30), us(100)).run();
    for seen in &run.record.flows {
        assert!(seen.decisions > 20, "{} decisions", seen.decisions);
        let age = seen.decision_age / seen.decisions as u64;
        // Measured up to a period before the unit's first packet passed; a full queue is 154 us.
        assert!((us(50).0..us(400).0).contains(&age), "{}", Span(age));
    }
}

#[test]
fn the_most_shared_link_of_a_path_decides_and_the_rest_stays_idle() {
    // Flow 0 crosses three links; one more flow on the first and the last, two on the second. Each
    // gets C/n, whether or not the others can use theirs: a sixth of the outer links is left.
    let link = incast_fabric::LinkDefaults { rate: RATE, propagation: us(5), loss: 0.0 };
    let fabric = incast_fabric::parse("parking-lot:3", link).unwrap();
    let pairs = [(0, 1), (2, 3), (4, 5), (4, 5), (6, 7)];
    let long = |(id, (src, dst))| flow(id, src, dst, FOREVER, Time::ZERO);
    let run = Trial::new(&ENTRY, fabric, (0..).zip(pairs).map(long).collect())
        .until(ms(30), us(200))
        .run();
    let parts = [3.0, 2.0, 3.0, 3.0, 2.0];
    for (id, part) in parts.into_iter().enumerate() {
        let gbps = run.received(id, ms(10), ms(30)) as f64 * 8.0 / 20e-3 / 1e9;
        let share = 10.0 * 1_460.0 / 1_538.0 / part;
        assert!((gbps / share - 1.0).abs() < 0.05, "flow {id}: {gbps} of {share}");
    }
}

#[test]
fn every_flow_completes_with_impaired_hosts() {
    let variants: [&[(&str, &str)]; 5] = [
        &[],
        &[("cadence", "paper"), ("epoch_packets", "0")],
        &[("cadence", "gain"), ("unit", "paper")],
        &[("initial_packets", "100"), ("halve_on_loss", "false")],
        &[("gap_max", "100us"), ("active", "1ms"), ("guard", "10us")],
    ];
    for (seed, settings) in variants.into_iter().enumerate() {
        let fabric = star(6, RATE, us(5));
        let mut trial = Trial::new(&ENTRY, fabric, ladder(Time::ZERO)).impaired(seed as u64);
        trial.settings = settings.to_vec();
        trial.delivers();
    }
}
