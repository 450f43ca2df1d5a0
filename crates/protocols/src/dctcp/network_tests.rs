//! Known results in whole networks.

use super::*;
use incast_fabric::Fabric;
use incast_testkit::*;
use incast_transport::{Bin, Flow, Limit, PortRecord, Rate, Span, Time};

const PACKET: f64 = 1_538.0;
const RATE: Rate = Rate::from_gbps(10);
/// DECN Fig. 1.
const RTT: Span = Span::from_us(400);

/// DCTCP with K = 65 packets, the paper's at 10 Gb/s, unless `settings` say otherwise.
fn dctcp<'a>(fabric: Fabric, settings: &Settings<'a>, flows: Vec<Flow>) -> Trial<'a> {
    let mut trial = Trial::new(&ENTRY, fabric, flows).set("mark_threshold", "65 packets");
    trial.settings.extend(settings);
    trial
}

/// Links of 10 Gb/s and 100 us.
fn hosts(count: u32) -> Fabric {
    star(count, RATE, RTT / 4)
}

/// The switch port with the longest queue.
fn bottleneck(run: &Outcome) -> &PortRecord {
    let switches = run.ports.iter().filter(|port| port.port >= run.fabric.hosts());
    switches.max_by_key(|port| port.total.backlog_area).unwrap()
}

/// Its sent bytes in all intervals from `from` to the last but one.
fn bins(run: &Outcome, from: Span) -> &[Bin] {
    let port = bottleneck(run);
    let bins = run.bins_of(port, from, Span(u64::MAX));
    &bins[..bins.len() - 1]
}

#[test]
fn a_short_lone_flow_takes_the_ideal_time() {
    for packets in 1..=10 {
        let flows = vec![flow(0, 0, 1, packets * MSS, Time::ZERO)];
        let trial = dctcp(hosts(2), &[], flows);
        assert_eq!(trial.run().fct(0), trial.ideal(0, 1, packets), "{packets}");
    }
}

#[test]
fn one_flow_fills_the_link_and_loses_nothing_after_slow_start() {
    let flows = vec![flow(0, 0, 1, FOREVER, Time::ZERO)];
    let run = dctcp(dumbbell(1, RATE, RTT), &[], flows).until(ms(300), us(100)).run();
    // Bursts of slow start are marked early; the rest is gained at one packet per RTT.
    let bins = bins(&run, ms(150));
    assert!(bins.len() > 100);
    let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
    let could = 1.25e9 * run.interval.as_secs_f64() * bins.len() as f64;
    assert!(sent as f64 / could >= 0.999, "utilisation {}", sent as f64 / could);
    assert_eq!(bins.iter().map(|bin| bin.drops).sum::<u32>(), 0);
    // It oscillates about the threshold: neither empty nor far beyond it.
    let most = bins.iter().map(|bin| bin.backlog_max).max().unwrap();
    assert!((65 * 1_538..=70 * 1_538).contains(&most), "{}", most / 1_538);
}

#[test]
fn two_flows_oscillate_as_the_paper_computes() {
    let flows = vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 3, FOREVER, Time::ZERO)];
    let run = dctcp(dumbbell(2, RATE, RTT), &[], flows).until(ms(200), us(100)).run();
    let bins = bins(&run, ms(100));
    let mean = |bin: &Bin| bin.backlog_area as f64 / run.interval.0 as f64 / PACKET;
    let low = bins.iter().map(mean).fold(f64::MAX, f64::min);
    let high = bins.iter().map(|bin| bin.backlog_max as f64 / PACKET).fold(0.0, f64::max);
    // DCTCP §3.3: N = 2, C x RTT + K = 399 packets: q_max = K + N = 67, amplitude 20.
    assert!((high - 67.0).abs() <= 3.0, "q_max {high}");
    assert!((8.0..=30.0).contains(&(high - low)), "amplitude {}", high - low);
}

#[test]
fn a_joining_flow_gets_its_share_as_in_the_figure() {
    // DECN Fig. 1(a): the second flow starts at 100 ms and has its share after about 127 ms.
    // Criterion: the first 5 ms in which the rates differ by less than 20 % of their sum.
    let start = ms(100);
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, Time::ZERO + start)];
    let run = dctcp(hosts(3), &[], flows).until(ms(400), us(100)).run();
    let took = run.fair_after(start, ms(5), 0.2).expect("the flows become fair").as_secs_f64();
    assert!((0.08..=0.22).contains(&took), "{took} s");
}

#[test]
fn an_incast_of_many_flows_completes_through_losses() {
    // 40 flows of 100 packets into a buffer of 100: timeouts, but every byte once.
    let flows = (0..40).map(|id| flow(id, id, 40, 146_000, at(id as u64))).collect();
    let mut trial = dctcp(hosts(41), &[], flows);
    trial.buffer = Limit::Packets(100);
    trial.options.log_deliveries = true;
    assert!(trial.delivers().retransmits() > 0);
}

#[test]
fn every_flow_completes_with_impaired_hosts() {
    for (seed, recovery) in [(1, "sack"), (2, "newreno"), (3, "sack"), (4, "newreno")] {
        for delayed in ["1", "2"] {
            let settings = [("recovery", recovery), ("delayed_ack", delayed)];
            dctcp(hosts(6), &settings, ladder(at(3))).impaired(seed).delivers();
        }
    }
}

/// Two long flows of the rate-based variant, the second 10 ms later, share within 1 %.
#[test]
fn two_flows_of_the_rate_variant_share_within_one_percent() {
    for second in [Time::ZERO, Time::ZERO + ms(10)] {
        let flows = vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, second)];
        let trial = Trial::new(&ENTRY, star(3, RATE, us(5)), flows).set("control", "rate");
        let run = trial.set("mark_threshold", "30KB").until(ms(110), us(500)).run();
        let (from, to) = (ms(30), ms(110));
        let [one, two] = [0, 1].map(|flow| run.received(flow, from, to) as f64);
        let used = run.utilisation(RATE, from, to);
        println!("{second}: {:.5} of the sum, utilisation {used:.4}", one / (one + two));
        assert!((one / two - 1.0).abs() < 0.01, "{one} {two}");
        assert!(used > 0.95, "{used}");
        assert_eq!(run.flows.iter().map(|flow| flow.retransmits).sum::<u32>(), 0);
    }
}
