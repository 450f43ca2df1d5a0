//! Long-run rates of DCTCP compared with max-min fairness.

use super::network::{Network, network};
use super::oracle::{Demand, max_min};
use incast_fabric::Options as Shape;
use incast_testkit::flow;
use incast_transport::*;

/// Measured and fair rates of long flows, as shares of the goodput of a host's link with full
/// packets.
struct Shares {
    got: Vec<f64>,
    fair: Vec<f64>,
    capacity: Vec<f64>,
    demands: Vec<Demand>,
}

/// Runs endless flows and counts their delivered bytes after the first third of the time.
fn long_run(network: &mut Network, name: &str, pairs: &[(u32, u32)], span: Span) -> Shares {
    let entry = incast_protocols::find(name).expect("in the catalogue");
    let start = |id: usize| Time(id as u64 * 7_000_000);
    let flows: Vec<Flow> = pairs
        .iter()
        .enumerate()
        .map(|(id, (src, dst))| flow(id as u32, *src, *dst, 1 << 40, start(id)))
        .collect();
    network.options.watch = flows.iter().map(|flow| flow.id).collect();
    network.options.until = Time::ZERO + span;
    network.options.interval = span / 300;
    let record = network.trial(entry, &[]).carry(flows.clone());
    let unit = network.site.host_rate.0 as f64 / 8.0 * 1460.0 / network.charged(1460).0 as f64;
    let got = |series: &FlowSeries| {
        let late = &series.delivered[series.delivered.len() / 3..];
        let seconds = late.len() as f64 * record.interval.as_secs_f64();
        late.iter().sum::<u64>() as f64 / seconds / unit
    };
    let rate =
        |port: &incast_fabric::PortSpec| port.rate.0 as f64 / network.site.host_rate.0 as f64;
    let capacity: Vec<f64> = network.fabric.ports().iter().map(rate).collect();
    let demand = |flow: &Flow| {
        let ack = network.charged(0).0 as f64 / network.charged(1460).0 as f64;
        let there = network.path(entry, flow, false);
        let back = network.path(entry, flow, true);
        let mut links: Vec<_> = there.iter().map(|port| (port.0 as usize, 1.0, true)).collect();
        links.extend(back.iter().map(|port| (port.0 as usize, ack, false)));
        Demand { links }
    };
    let demands: Vec<Demand> = flows.iter().map(demand).collect();
    let fair = max_min(&capacity, &demands);
    Shares { got: record.series.iter().map(got).collect(), fair, capacity, demands }
}

impl Shares {
    /// Per flow the links that can limit it and are loaded to more than `share` by some of these
    /// rates, and whether its ACKs cross such a link. Of links with the same flows only the first
    /// counts.
    fn crowded(&self, rates: &[&[f64]], share: f64) -> Vec<(Vec<usize>, bool)> {
        let mut users = vec![vec![]; self.capacity.len()];
        for (flow, demand) in self.demands.iter().enumerate() {
            for (link, weight, holds) in &demand.links {
                users[*link].push((flow, *weight, *holds));
            }
        }
        let used = |link: usize, rates: &[f64]| -> f64 {
            users[link].iter().map(|(flow, weight, _)| weight * rates[*flow]).sum()
        };
        let is_full =
            |link: usize| rates.iter().any(|rates| used(link, rates) > share * self.capacity[link]);
        let held_by = |link: usize| -> Vec<usize> {
            users[link].iter().filter(|(_, _, holds)| *holds).map(|(flow, ..)| *flow).collect()
        };
        let of_flow = |demand: &Demand| {
            let full = |wanted: bool| {
                let links = demand.links.iter().filter(move |(_, _, holds)| *holds == wanted);
                links.map(|(link, ..)| *link).filter(|link| is_full(*link))
            };
            let mut held: Vec<usize> = full(true).collect();
            held.dedup_by_key(|link| held_by(*link));
            (held, full(false).next().is_some())
        };
        self.demands.iter().map(of_flow).collect()
    }
}

/// Permitted relative deviation from the fair rate of a flow with one bottleneck. DCTCP's windows
/// oscillate slowly (tens of RTTs), and 30 ms are only some hundred RTTs.
const TOLERANCE: f64 = 0.25;

/// Checks one set of flows:
/// * A flow whose only bottleneck carries only such flows, and whose ACKs meet no queue, gets its
///   fair rate within `TOLERANCE`. Links that bursts can fill temporarily count as bottlenecks.
/// * DCTCP's rate is a window of about 2/alpha over the RTT. A flow over several bottlenecks
///   gets the marks of all of them and waits in all their queues, and one whose ACKs wait behind
///   others' data has a longer RTT: it gets less than its fair rate, down to its least window, and
///   the others on its links get more. The check is only that it does not starve.
/// * Every flow has a full link on its path.
fn check(network: &mut Network, pairs: &[(u32, u32)]) -> (usize, usize) {
    let shares = long_run(network, "dctcp", pairs, Span::from_ms(45));
    let crowded = shares.crowded(&[&shares.fair, &shares.got], 0.7);
    let name = network.fabric.name();
    let text = format!("{name} {pairs:?}\nfair {:.3?}\ngot {:.3?}", shares.fair, shares.got);
    let alone = |flow: usize| {
        let shared = |held: &[usize]| held.iter().any(|link| crowded[flow].0.contains(link));
        let mut there = crowded.iter().filter(|(held, _)| shared(held));
        there.all(|(held, acks)| held.len() == 1 && !acks)
    };
    let mut counts = (0, 0);
    for (flow, (got, fair)) in shares.got.iter().zip(&shares.fair).enumerate() {
        let ratio = got / fair;
        if alone(flow) {
            counts.0 += 1;
            assert!((ratio - 1.0).abs() < TOLERANCE, "flow {flow}: {ratio:.3} of fair; {text}");
        } else {
            counts.1 += 1;
            assert!((0.05..2.0).contains(&ratio), "flow {flow}: {ratio:.3} of fair; {text}");
        }
    }
    let full = shares.crowded(&[&shares.got], 0.95);
    for (flow, (full, _)) in full.iter().enumerate() {
        assert!(!full.is_empty(), "flow {flow} could have more; {text}");
    }
    counts
}

fn dctcp_network(spec: &str, uplink: u64) -> Network {
    let uplink_rate = Some(Rate::from_gbps(uplink)).filter(|_| !spec.starts_with("star"));
    let shape = Shape { uplink_rate, ..Shape::default() };
    let buffer = Limit::Bytes(512 << 10);
    network(spec, Rate::from_gbps(10), Span::from_us(2), &shape, buffer)
}

/// Hand-made sets in which every flow has one bottleneck and the same RTT as the others there.
#[test]
fn dctcp_shares_single_bottlenecks_fairly() {
    let cases: [(&str, &[(u32, u32)]); 4] = [
        ("dumbbell:4x4", &[(0, 4), (1, 5), (2, 6), (3, 7)]),
        ("star:6", &[(0, 5), (1, 5), (2, 5), (3, 4)]),
        ("star:8", &[(0, 7), (1, 7), (2, 6), (3, 6), (4, 6), (5, 7)]),
        ("leaf-spine:2x1x4", &[(0, 4), (1, 4), (5, 2), (6, 2), (7, 2)]),
    ];
    for (spec, pairs) in cases {
        let shares = long_run(&mut dctcp_network(spec, 10), "dctcp", pairs, Span::from_ms(45));
        for (got, fair) in shares.got.iter().zip(&shares.fair) {
            let (fairs, gots) = (&shares.fair, &shares.got);
            let off = (got / fair - 1.0).abs();
            assert!(off < TOLERANCE, "{spec}: fair {fairs:.3?}, got {gots:.3?}");
        }
    }
}

/// Random sets. Where all flows have the same direction each has a NIC of its own: if three share a
/// NIC and a fourth has another, the fourth gets two thirds of its fair share, because at equal
/// rates the queue grows only while both NICs send, so that its packets meet the queue.
#[test]
fn dctcp_in_the_long_run_against_max_min_fairness() {
    let cases = [
        ("dumbbell:8x8", 10, 6, true),
        ("dumbbell:8x8", 20, 8, true),
        ("parking-lot:3", 10, 6, true),
        ("leaf-spine:4x2x4", 40, 8, true),
        ("leaf-spine:4x2x4", 4, 8, true),
        ("leaf-spine:4x2x4", 20, 12, false),
    ];
    let (mut alone, mut others) = (0, 0);
    for (spec, uplink, count, one_way) in cases {
        for seed in 1..3 {
            let mut network = dctcp_network(spec, uplink);
            network.options.seed = seed;
            let hosts = network.fabric.hosts() as u64;
            let mut random = Random::new(seed, 5, 5);
            let pair = |index: u32| -> (u32, u32) {
                let mut below = |bound: u64| random.below(bound) as u32;
                match spec.split(':').next() {
                    Some("dumbbell") => (index, hosts as u32 / 2 + below(hosts / 2)),
                    // A long flow over all, then one per bottleneck, then more of them.
                    Some("parking-lot") if index == 0 => (0, 1),
                    Some("parking-lot") => {
                        let hop = if index <= 3 { index - 1 } else { below(3) };
                        (2 + 2 * hop, 3 + 2 * hop)
                    }
                    // From two racks to the two others, or from all to all.
                    _ if one_way => (index, 8 + below(8)),
                    _ => {
                        let (src, rack) = (below(16), 1 + below(3));
                        (src, (src / 4 + rack) % 4 * 4 + below(4))
                    }
                }
            };
            let pairs: Vec<(u32, u32)> = (0..count).map(pair).collect();
            let of_set = check(&mut network, &pairs);
            println!(
                "{spec}, uplinks {uplink}, {seed}: {of_set:?} of one and of several bottlenecks"
            );
            (alone, others) = (alone + of_set.0, others + of_set.1);
        }
    }
    assert!(
        alone >= 25 && others >= 25,
        "{alone} flows with one bottleneck, {others} with several"
    );
}
