//! Scale invariance: a network that is faster by one factor in every rate, delay and timer gives
//! the same results.

use super::network::{Network, network};
use incast_fabric::Options as Shape;
use incast_protocols::CATALOGUE;
use incast_testkit::flow;
use incast_transport::*;

/// Speed factor. At 10 Gb/s a byte lasts 800 ps, at 100 Gb/s 80 ps: no rounding.
const FACTOR: u64 = 10;

/// The network at its own speed (1) or `FACTOR` times faster.
fn at(speed: u64, spec: &str) -> Network {
    let rate = Rate::from_gbps(10 * speed);
    let length = Span(Span::from_us(2).0 / speed);
    let mut network = network(spec, rate, length, &Shape::default(), Limit::Bytes(100 << 10));
    network.options.drain = Span(network.options.drain.0 / speed);
    network
}

/// Every parameter that is an absolute time, divided by the speed.
fn timers(entry: &dyn Transport, speed: u64) -> Vec<(String, String)> {
    let own = |doc: ParameterDoc| {
        let time = doc.default.parse::<Span>().ok().filter(|time| *time > Span::ZERO)?;
        Some((doc.name.to_string(), Span(time.0 / speed).to_string()))
    };
    entry.parameters().into_iter().filter_map(own).collect()
}

/// Completion times of the flows, scaled to the slow speed, at which start times are given.
fn times(entry: &dyn Transport, network: &Network, speed: u64, flows: &[Flow]) -> Vec<u64> {
    let mut flows = flows.to_vec();
    for flow in &mut flows {
        flow.start = Time(flow.start.0 / speed);
    }
    let timers = timers(entry, speed);
    let timers: Vec<_> = timers.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    let record = network.trial(entry, &timers).carry(flows);
    let took = |flow: &FlowRecord| {
        let (start, end) = (flow.started.expect("opened"), flow.completed.expect("complete"));
        (end - start).0 * speed
    };
    record.flows.iter().map(took).collect()
}

/// Random flows, on average `gap` apart.
fn mixed(hosts: u32, count: u32, gap: Span, seed: u64) -> Vec<Flow> {
    let mut random = Random::new(seed, 3, 3);
    let mut now = 0;
    let one = |id| {
        let src = random.below(hosts as u64) as u32;
        let dst = (src + 1 + random.below(hosts as u64 - 1) as u32) % hosts;
        now += FACTOR * random.below(gap.0 * 2 / FACTOR);
        let scale = 8 + random.below(9);
        flow(id, src, dst, 1 + random.below(1 << scale), Time(now))
    };
    (0..count).map(one).collect()
}

/// Transports without rounding at these rates: equal to the picosecond.
const EXACT: [&str; 6] = ["amrt", "dctcp", "ndp", "phost", "ren", "trd"];

/// Transports whose switches quantise rates in powers of two: equal to this fraction of the time.
const STEPS: [(&str, u64); 1] = [("decn", 20)];

/// At low load few events share a picosecond, so the order within a picosecond does not matter.
#[test]
fn a_faster_network_is_the_same_network() {
    for entry in CATALOGUE {
        let name = entry.info().name;
        for spec in ["dumbbell:4x4", "leaf-spine:3x2x4"] {
            let (slow, fast) = (at(1, spec), at(FACTOR, spec));
            let flows = mixed(slow.fabric.hosts(), 40, Span::from_us(30), 1);
            let before = times(*entry, &slow, 1, &flows);
            let after = times(*entry, &fast, FACTOR, &flows);
            if EXACT.contains(&name) {
                assert_eq!(before, after, "{name} on {spec}");
                continue;
            }
            // Credit shapers round to a picosecond, which occasionally changes the order of random
            // delays.
            let part = STEPS.iter().find(|(coarse, _)| *coarse == name).map(|(_, part)| *part);
            let off = |(a, b): &(&u64, &u64)| {
                a.abs_diff(**b) > part.map_or(1_000, |part| (**a).max(**b) / part)
            };
            let many = before.iter().zip(&after).filter(off).count();
            assert!(many * 5 <= before.len(), "{name} on {spec}: {many} flows differ");
        }
    }
}

/// At high load the order within a picosecond matters and changes, so flows agree only on average.
/// Paired differences of twenty sets of flows. AMRT's timeout contains a constant microsecond, a
/// fortieth of it.
#[test]
fn a_faster_network_is_the_same_on_average() {
    for name in EXACT {
        let entry = incast_protocols::find(name).expect("in the catalogue");
        let (mut slow, mut fast) = (at(1, "leaf-spine:3x2x4"), at(FACTOR, "leaf-spine:3x2x4"));
        (slow.single_path, fast.single_path) = (false, false);
        let mut differences = vec![];
        let mut moved = 0;
        for seed in 0..20 {
            let flows = mixed(12, 80, Span::from_us(3), 100 + seed);
            (slow.options.seed, fast.options.seed) = (seed, seed);
            let before = times(entry, &slow, 1, &flows);
            let after = times(entry, &fast, FACTOR, &flows);
            moved += before.iter().zip(&after).filter(|(a, b)| a != b).count();
            let mean = |times: &[u64]| {
                let slowdown =
                    |(took, flow): (&u64, &Flow)| *took as f64 / slow.ideal(entry, flow).0 as f64;
                times.iter().zip(&flows).map(slowdown).sum::<f64>() / times.len() as f64
            };
            differences.push(math::log(mean(&before) / mean(&after)));
        }
        let count = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|one| (one - mean) * (one - mean)).sum();
        // Student's t, 99.9 %, 19 degrees of freedom.
        let half = 3.883 * (squares / (count - 1.0) / count).sqrt();
        println!(
            "{name}: {moved} of 1600 flows moved; {:.2} +- {:.2} %",
            100.0 * mean,
            100.0 * half
        );
        assert!(mean.abs() <= half, "{name}: slowdowns differ by {mean} +- {half}");
        assert!(half < 0.05, "{name}: +- {half} is too wide");
    }
}
