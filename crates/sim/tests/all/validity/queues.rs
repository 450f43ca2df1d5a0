//! A port under Poisson arrivals against queueing theory: M/D/1, M/M/1 and M/M/1/K.
//!
//! Every packet is a flow, so that the record contains its queueing delay. The packets come from 64
//! hosts in turn, over links four times as fast as the port, so no packet is queued at its source.
//! The transmission at the source shifts an arrival by a time that depends only on the packet's
//! size, so arrivals remain Poisson.

use super::batches::Interval;
use crate::common::Plain;
use incast_fabric::{Fabric, LinkDefaults, LinkOverride, NodeId, parse_with};
use incast_testkit::{Trial, check_part, flow};
use incast_transport::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// Where the measured means stand beside the formulas.
const PAGE: &str = "docs/validation.md";
const HEAD: &str = "| packets | load | packets of the run | ours | 99.9 % interval | formula |\n\
                    |---|---|---|---|---|---|\n";

/// One line of a table under [`HEAD`].
fn row(packets: &str, load: f64, count: usize, ours: Interval, theory: f64) -> String {
    let Interval { mean, half } = ours;
    let (low, high) = (mean - half, mean + half);
    format!("| {packets} | {load} | {count} | {mean:.4} | {low:.4} to {high:.4} | {theory:.4} |\n")
}

const SOURCES: u32 = 64;
/// Its link is so fast that the largest packet leaves before the smallest one can arrive.
const SINK: u32 = SOURCES;
const PORT_RATE: Rate = Rate::from_gbps(10);

/// One packet: its arrival at the port, queueing delay and transmission time. Lost packets have no
/// queueing delay.
struct Passage {
    arrived: u64,
    waited: Option<u64>,
    service: u64,
}

struct Measured {
    passages: Vec<Passage>,
    port: Bin,
    ended: Time,
}

fn fabric() -> Arc<Fabric> {
    let rate = Rate::from_gbps(40);
    let defaults = LinkDefaults { rate, propagation: Span::from_us(1), loss: 0.0 };
    let (a, b) = (format!("host{SINK}"), "edge1".into());
    let rate = Some(Rate::from_gbps(40_000));
    let last = LinkOverride { a, b, rate, propagation: None, loss: None };
    let (uplink_rate, links) = (Some(PORT_RATE), vec![last]);
    let options = incast_fabric::Options { uplink_rate, links, ..Default::default() };
    Arc::new(parse_with(&format!("dumbbell:{SOURCES}x1"), defaults, &options).unwrap())
}

/// Runs packets with the given start times and payloads through the bottleneck.
fn trial(packets: &[(u64, u16)], framing: Framing, buffer: Limit) -> Measured {
    let segments = Segments::Uniform(u16::MAX);
    let one = |(id, (start, payload)): (u32, &(u64, u16))| {
        let flow = flow(id, id % SOURCES, SINK, *payload as u64, Time(*start));
        Flow { segments: segments.clone(), ..flow }
    };
    let plain = Plain::default();
    let mut trial = Trial::new(&plain, fabric(), (0..).zip(packets).map(one).collect());
    (trial.framing, trial.buffer) = (framing, buffer);
    let record = trial.run();
    let fabric = &trial.fabric;
    let (left, right) = (NodeId(SOURCES + 1), NodeId(SOURCES + 2));
    let port = fabric.ports_between(left, right)[0];
    let spec = *fabric.port(port);
    let nic = *fabric.port(fabric.host_port(0));
    let mut passages = vec![];
    for (seen, (start, payload)) in record.flows.iter().zip(packets) {
        let charged = Bytes(framing.charged_packet(*payload, 0) as u64);
        let parts = seen.parts;
        let waited = parts.map(|parts| {
            assert_eq!(parts.nic_other, 0, "a packet waited at its source");
            assert_eq!(parts.queueing.iter().sum::<u64>(), parts.queueing[spec.tier as usize]);
            parts.queueing[spec.tier as usize]
        });
        let arrived = start + nic.rate.tx_time(charged).0 + nic.propagation.0;
        passages.push(Passage { arrived, waited, service: spec.rate.tx_time(charged).0 });
    }
    passages.sort_by_key(|passage| passage.arrived);
    let seen = record.ports.iter().find(|seen| seen.port == port.0).unwrap();
    Measured { passages, port: seen.total, ended: record.ended }
}

impl Measured {
    /// Number of packets in the system (queued or in transmission) at each arrival.
    fn found(&self) -> Vec<usize> {
        let mut inside: VecDeque<u64> = VecDeque::new();
        let mut found = vec![];
        for passage in &self.passages {
            while inside.front().is_some_and(|leaves| *leaves <= passage.arrived) {
                inside.pop_front();
            }
            found.push(inside.len());
            if let Some(waited) = passage.waited {
                inside.push_back(passage.arrived + waited + passage.service);
            }
        }
        found
    }

    /// Queueing delays of the packets that were not lost, in units of `unit` picoseconds.
    fn waits(&self, unit: f64) -> Vec<f64> {
        let waited = self.passages.iter().filter_map(|passage| passage.waited);
        waited.map(|waited| waited as f64 / unit).collect()
    }

    /// Checks the port's counters against the packets' stamps. Both are exact integers: the sum of
    /// all queueing delays, weighted by bytes, is the integral of the backlog.
    fn check_counters(&self) {
        let byte = PORT_RATE.tx_time(Bytes(1)).0;
        let kept = self.passages.iter().filter_map(|passage| Some((passage, passage.waited?)));
        let area: u128 = kept
            .clone()
            .map(|(passage, waited)| (passage.service / byte) as u128 * waited as u128)
            .sum();
        assert_eq!(self.port.backlog_area, area);
        assert_eq!(self.port.sent_packets as usize, kept.clone().count());
        assert_eq!(self.port.drops as usize, self.passages.len() - kept.clone().count());
        let bytes: u64 = kept.map(|(passage, _)| passage.service / byte).sum();
        assert_eq!(self.port.sent_bytes, bytes);
    }
}

/// An exponential variate of this mean.
fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * math::log(1.0 - random.unit())
}

/// Poisson arrival times with a mean interval of `mean` picoseconds.
fn poisson(seed: u64, count: usize, mean: f64) -> Vec<u64> {
    let mut random = Random::new(seed, 0, 0);
    let mut now = 0.0;
    let next = |_| {
        now += exponential(&mut random, mean);
        now as u64
    };
    (0..count).map(next).collect()
}

/// Stationary probability of `n` packets in an M/D/1 system (Erlang's formula).
fn md1(load: f64, n: u32) -> f64 {
    let idle = 1.0 - load;
    match n {
        0 => idle,
        1 => idle * (math::exp(load) - 1.0),
        _ => {
            let mut sum = math::exp(n as f64 * load);
            for k in 1..n {
                let a = k as f64 * load;
                let power =
                    |exponent: u32| (1..=exponent).fold(1.0, |product, i| product * a / i as f64);
                let term = math::exp(a) * (power(n - k) + power(n - k - 1));
                sum += if (n - k).is_multiple_of(2) { term } else { -term };
            }
            idle * sum
        }
    }
}

#[test]
fn waits_and_queue_lengths_of_equal_packets_are_those_of_m_d_1() {
    let jumbo = Framing { mtu: 9_000, header: 64, ..Framing::NONE };
    let small = Framing { mtu: 576, overhead: 24, ..Framing::ETHERNET };
    let mut table = HEAD.to_string();
    for (framing, load, count, seed) in [
        (Framing::ETHERNET, 0.5, 150_000, 11),
        (Framing::ETHERNET, 0.8, 240_000, 12),
        (jumbo, 0.5, 150_000, 101),
        (small, 0.5, 150_000, 102),
    ] {
        let service = PORT_RATE.tx_time(Bytes(framing.charged_mtu() as u64)).0 as f64;
        let starts = poisson(seed, count, service / load);
        let packets: Vec<(u64, u16)> = starts.iter().map(|start| (*start, framing.mss())).collect();
        let trial = trial(&packets, framing, Limit::Unlimited);
        trial.check_counters();
        assert_eq!(trial.port.drops, 0);

        // Pollaczek and Khinchine: mean and second moment of the delay, in service times.
        let mean = load / (2.0 * (1.0 - load));
        let second = 2.0 * mean * mean + load / (3.0 * (1.0 - load));
        let waits = trial.waits(service);
        let squares: Vec<f64> = waits.iter().map(|wait| wait * wait).collect();
        let of_mean = Interval::of(&waits);
        of_mean.check(&format!("mean wait at load {load}"), mean, 0.06);
        let bytes = format!("{} B each", framing.charged_mtu());
        table += &row(&bytes, load, waits.len(), of_mean, mean);
        Interval::of(&squares).check(&format!("square of the wait at {load}"), second, 0.15);
        assert!(!of_mean.contains(2.0 * mean), "M/M/1 would fit as well");

        // Poisson arrivals see time averages.
        let found = trial.found();
        for n in (0..20).filter(|n| md1(load, *n) > 0.01) {
            let is: Vec<f64> = found.iter().map(|f| (*f == n as usize) as u8 as f64).collect();
            let what = format!("{n} packets found at load {load}");
            Interval::of(&is).check(&what, md1(load, n), 0.35);
        }
        // Time average instead of packet average: the port's mean backlog (Little).
        let backlog = trial.port.backlog_area as f64 / trial.ended.0 as f64;
        let packets = backlog / framing.charged_mtu() as f64;
        let share = packets / (load * mean);
        assert!((share - 1.0).abs() < 0.06, "mean backlog at {load}: {packets} packets");
    }
    check_part(PAGE, "M/D/1", &table);
}

#[test]
fn waits_and_queue_lengths_of_exponential_packets_are_those_of_m_m_1() {
    // Without overhead per packet, sizes are exponential except 1 in 75 (1 in 200) below the header's
    // 40 B and 3 in 10,000 of the larger ones above 65 KB. Smaller ones could queue at the sink.
    let framing = Framing::NONE;
    let mut table = HEAD.to_string();
    for (mean_bytes, load, seed) in [(3_000.0, 0.5, 31), (3_000.0, 0.8, 32), (8_000.0, 0.7, 33)] {
        let service = mean_bytes * PORT_RATE.tx_time(Bytes(1)).0 as f64;
        let mut random = Random::new(seed, 1, 1);
        let starts = poisson(seed, 240_000, service / load);
        let size = |start: &u64| {
            let bytes = exponential(&mut random, mean_bytes).round();
            (*start, (bytes - framing.header as f64).clamp(1.0, 65_000.0) as u16)
        };
        let packets: Vec<(u64, u16)> = starts.iter().map(size).collect();
        let trial = trial(&packets, framing, Limit::Unlimited);
        trial.check_counters();
        let mean = load / (1.0 - load);
        let waits = Interval::of(&trial.waits(service));
        waits.check(&format!("mean wait of {mean_bytes} B at load {load}"), mean, 0.12);
        table += &row(&format!("{mean_bytes} B on average"), load, packets.len(), waits, mean);
        assert!(!waits.contains(0.5 * mean), "M/D/1 would fit as well");
        let found = trial.found();
        let theory = |n: u32| (0..n).fold(1.0 - load, |product, _| product * load);
        for n in (0..20).filter(|n| theory(*n) > 0.01) {
            let is: Vec<f64> = found.iter().map(|f| (*f == n as usize) as u8 as f64).collect();
            Interval::of(&is).check(&format!("{n} packets found at load {load}"), theory(n), 0.35);
        }
    }
    check_part(PAGE, "M/M/1", &table);
}

#[test]
fn losses_and_queue_lengths_of_exponential_packets_are_those_of_m_m_1_k() {
    // Without overhead per packet, sizes are exponential except 1 in 120 below 41 B, which could
    // queue before the sink. These raise the mean by 7 in 100,000.
    let whole = Framing { mtu: 9_000, header: 0, ..Framing::NONE };
    let mean_bytes = 5_000.0;
    let mut table = HEAD.to_string();
    let service = mean_bytes * PORT_RATE.tx_time(Bytes(1)).0 as f64;
    for (framing, load, waiting, seed) in [
        (Framing::NONE, 0.7, 4u32, 21),
        (Framing::NONE, 0.95, 9, 22),
        (whole, 1.3, 6, 23),
        (whole, 0.7, 4, 24),
    ] {
        let mut random = Random::new(seed, 1, 1);
        let starts = poisson(seed, 200_000, service / load);
        let size = |start: &u64| {
            let bytes = exponential(&mut random, mean_bytes).round();
            (*start, (bytes.max(41.0) - framing.header as f64).min(65_000.0) as u16)
        };
        let packets: Vec<(u64, u16)> = starts.iter().map(size).collect();
        let trial = trial(&packets, framing, Limit::Packets(waiting));
        trial.check_counters();

        // The buffer does not include the packet in transmission.
        let most = waiting + 1;
        let theory = |n: u32, most: u32| {
            let weight = |n: u32| (0..n).fold(1.0, |product: f64, _| product * load);
            weight(n) / (0..=most).map(weight).sum::<f64>()
        };
        let lost = trial.passages.iter().map(|passage| passage.waited.is_none() as u8 as f64);
        let losses = Interval::of(&lost.collect::<Vec<f64>>());
        losses.check(&format!("loss at load {load}"), theory(most, most), 0.08);
        let room = format!("{mean_bytes} B on average, room for {waiting}");
        table += &row(&room, load, packets.len(), losses, theory(most, most));
        for other in [most - 1, most + 1] {
            assert!(
                !losses.contains(theory(other, other)),
                "a buffer of {other} would fit as well"
            );
        }
        let found = trial.found();
        assert!(found.iter().all(|found| *found <= most as usize));
        for n in 0..=most {
            let is: Vec<f64> = found.iter().map(|f| (*f == n as usize) as u8 as f64).collect();
            let what = format!("{n} packets found at load {load}");
            Interval::of(&is).check(&what, theory(n, most), 0.1);
        }
        // An accepted packet that finds n packets waits n service times on average.
        let accepted = 1.0 - theory(most, most);
        let mean: f64 = (0..most).map(|n| n as f64 * theory(n, most)).sum::<f64>() / accepted;
        let waits = Interval::of(&trial.waits(service));
        waits.check(&format!("mean wait at load {load}"), mean, 0.06);
    }
    check_part(PAGE, "M/M/1/K", &table);
}
