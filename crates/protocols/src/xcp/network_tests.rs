//! Known results in whole networks.

use super::*;
use incast_testkit::*;
use incast_transport::{Limit, Rate, Time};

const RATE: Rate = Rate::from_gbps(10);

/// DECN Fig. 1: links of 10 Gb/s and 100 us, buffer 200 packets, a second flow after 100 ms.
fn joining(settings: &[(&'static str, &'static str)]) -> Outcome {
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, Time::ZERO + ms(100))];
    let mut trial = Trial::new(&ENTRY, star(3, RATE, Span::from_us(100)), flows)
        .until(ms(200), Span::from_us(200));
    trial.settings = settings.to_vec();
    trial.run()
}

#[test]
fn a_joining_flow_has_its_share_in_milliseconds() {
    // DECN Fig. 1(c): 6.2 ms. Here: rates within 20 % of their sum, over 1 ms.
    let run = joining(&[]);
    let fair = run.fair_after(ms(100), ms(1), 0.2).expect("it becomes fair");
    assert!(ms(4) < fair && fair < ms(10), "{fair}");
    assert!(run.fairness(ms(150), ms(200)) > 0.999);
    assert!(run.utilisation(RATE, ms(120), ms(200)) > 0.999);
    assert_eq!(run.drops(), 0);
    assert!(run.peak_queue(ms(100), ms(200)) < 40.0, "the newcomer hardly queues");
    assert!(run.mean_queue(ms(110), ms(200)) < 2.0);
}

#[test]
fn the_floors_of_ns2_make_it_slow() {
    // The spec's runs of ns-2.35: 16 ms (20 %) and 23 ms (10 %), ports at the bottleneck only.
    let run = joining(&[("timers", "ns2"), ("at_nics", "false")]);
    let (fifth, tenth) = (run.fair_after(ms(100), ms(1), 0.2), run.fair_after(ms(100), ms(1), 0.1));
    let (fifth, tenth) = (fifth.unwrap(), tenth.unwrap());
    assert!(ms(13) < fifth && fifth < ms(20), "{fifth}");
    assert!(ms(18) < tenth && tenth < ms(28), "{tenth}");
    // With ports at idle access links too, whose first interval is 50 ms: 73 ms.
    let run = joining(&[("timers", "ns2")]);
    let tenth = run.fair_after(ms(100), ms(1), 0.1).unwrap();
    assert!(ms(60) < tenth && tenth < ms(85), "{tenth}");
}

#[test]
fn one_flow_fills_the_link_without_a_queue() {
    for at_nics in ["true", "false"] {
        let flows = vec![flow(0, 0, 1, FOREVER, Time::ZERO)];
        let fabric = dumbbell(1, RATE, Span::from_us(400));
        let run = Trial::new(&ENTRY, fabric, flows)
            .until(ms(100), Span::from_us(100))
            .set("at_nics", at_nics)
            .run();
        let used = run.utilisation(RATE, ms(20), ms(100));
        assert!(used >= 0.99, "{used}");
        let queue = run.mean_queue(ms(20), ms(100));
        assert!(queue < 2.0, "{queue}");
        assert_eq!(run.drops(), 0);
    }
}

#[test]
fn a_thousand_flows_keep_a_packet_each() {
    // 41 packets fill the RTT of 50 us: the others stand in the queue.
    let count = 1_000;
    let flows = (0..count).map(|id| flow(id, id, count, FOREVER, Time::ZERO)).collect();
    let fabric = star(count + 1, RATE, Span::from_us(12));
    let mut trial = Trial::new(&ENTRY, fabric, flows).until(ms(12), Span::from_us(100));
    trial.buffer = Limit::Packets(2_500);
    let run = trial.run();
    assert_eq!(run.drops(), 0);
    assert!(run.utilisation(RATE, ms(1), ms(12)) > 0.999);
    let least = run.record.flows.iter().map(|flow| flow.delivered).min().unwrap();
    assert!(least >= 3 * 1_444, "{least}");
    let queue = run.mean_queue(ms(8), ms(12));
    assert!((850.0..1_100.0).contains(&queue), "{queue}");
}

#[test]
fn flows_that_share_a_nic_only_do_not_inflate_their_windows() {
    // Two flows of one host to two others: each gets half of the NIC. When one ends, the other has
    // the link within milliseconds and without a queue anywhere.
    let flows = vec![flow(0, 0, 1, 20_000_000, Time::ZERO), flow(1, 0, 2, FOREVER, Time::ZERO)];
    let run = Trial::new(&ENTRY, star(3, RATE, Span::from_us(25)), flows)
        .until(ms(80), Span::from_us(100))
        .run();
    let half = run.received(1, ms(10), ms(20)) as f64 / run.received(0, ms(10), ms(20)) as f64;
    assert!((0.9..1.1).contains(&half), "{half}");
    assert!(run.utilisation(RATE, ms(45), ms(80)) > 0.99);
    assert!(run.peak_queue(ms(5), ms(80)) < 20.0, "{}", run.peak_queue(ms(5), ms(80)));
}

#[test]
fn every_packet_is_charged_for_its_header() {
    for (header, bytes) in [("16", 16), ("20", 20)] {
        let flows = vec![flow(0, 0, 1, 100_000, Time::ZERO)];
        let mut trial =
            Trial::new(&ENTRY, star(2, RATE, Span::from_us(5)), flows).set("header", header);
        trial.options.capture = vec![0, 1];
        let run = trial.run();
        assert!(run.record.complete);
        let mut acks = 0;
        for captured in &run.packets {
            let packet = &captured.packet;
            assert_eq!(packet.extension, bytes);
            match packet.is_data() {
                true => assert!(packet.ip_bytes() <= 1_500),
                false => {
                    assert_eq!(packet.ip_bytes(), 40 + bytes as u32);
                    acks += 1;
                }
            }
        }
        let full = 1_460 - bytes as u64;
        assert_eq!(run.record.flows[0].packets as u64, 100_000u64.div_ceil(full));
        assert_eq!(acks, run.record.flows[0].packets);
    }
}

#[test]
fn a_lone_flow_within_its_first_window_takes_the_time_of_its_longer_packets() {
    for size in [1u32, 1_444, 2_888] {
        let fabric = star(2, RATE, Span::from_us(5));
        let lengths: Vec<u32> =
            [size.min(1_444), size.saturating_sub(1_444)].into_iter().filter(|&p| p > 0).collect();
        let ip: Vec<u32> = lengths.iter().map(|payload| payload + 56).collect();
        let expected = ideal(&fabric, 0, 1, &ip);
        let run = Trial::new(&ENTRY, fabric, vec![flow(0, 0, 1, size as u64, Time::ZERO)]).run();
        assert_eq!(run.fct(0), expected, "{size}");
    }
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let variants: [&[(&str, &str)]; 4] = [
        &[],
        &[("pacing", "false"), ("delayed_ack", "2")],
        &[("timers", "ns2"), ("header", "20")],
        &[("at_nics", "false"), ("initial_window", "10")],
    ];
    for (seed, settings) in variants.into_iter().enumerate() {
        let fabric = star(6, RATE, Span::from_us(5));
        let mut trial = Trial::new(&ENTRY, fabric, ladder(Time::ZERO)).impaired(seed as u64);
        trial.settings = settings.to_vec();
        trial.delivers();
    }
}
