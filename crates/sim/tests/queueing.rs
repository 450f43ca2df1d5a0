//! Queueing theory through the real port and the real engine: Poisson arrivals from forty fast
//! links at one slow one. Waiting times and losses must lie within confidence intervals (batch
//! means, 99.9 %) of what the formulas say.

mod common;

use common::{INFO, Plain, flow};
use incast_blocks::port::Join;
use incast_fabric::{Fabric, LinkDefaults};
use incast_sim::{Monitor, run};
use incast_transport::*;
use incast_world::{FlowSetup, Lane, Options, assemble, fabric_site};
use std::sync::Arc;

const HOSTS: u32 = 40;
const BATCHES: usize = 30;
/// Quantile of Student's distribution with 29 degrees of freedom, 99.9 % two-sided.
const QUANTILE: f64 = 3.66;

fn bottleneck() -> Arc<Fabric> {
    let rate = Rate::from_gbps(400);
    let defaults = LinkDefaults { rate, propagation: Span::from_us(1), loss: 0.0 };
    let slow = incast_fabric::Options {
        uplink_rate: Some(Rate::from_gbps(10)),
        ..incast_fabric::Options::default()
    };
    let spec = format!("dumbbell:{HOSTS}x1");
    Arc::new(incast_fabric::parse_with(&spec, defaults, &slow).expect("a valid topology"))
}

/// An exponentially distributed number.
fn exponential(random: &mut Random, mean: f64) -> f64 {
    let unit: f64 = random.unit();
    -mean * (1.0 - unit).ln()
}

/// Single packets at Poisson instants, `mean` picoseconds apart; `size` draws each one's payload.
fn arrivals(count: u32, mean: f64, size: impl Fn(&mut Random) -> u64) -> Vec<FlowSetup> {
    let mut random = Random::new(11, 22, 33);
    let mut at = 0.0;
    let mut make = |id| {
        at += exponential(&mut random, mean);
        let src = random.below(HOSTS as u64) as u32;
        let mut setup = flow(id, src, HOSTS, size(&mut random), Time(at as u64));
        setup.flow.segments = Segments::Uniform(u16::MAX - 40);
        setup
    };
    (0..count).map(&mut make).collect()
}

fn simulate(framing: Framing, buffer: Limit, flows: Vec<FlowSetup>) -> RunRecord {
    let fabric = bottleneck();
    let site = fabric_site(&fabric, framing, buffer, None, None);
    let lane = Lane { info: &INFO, configured: Arc::new(Plain::default()), routing: Routing::Ecmp };
    let last = flows.last().expect("some flows").flow.start;
    let options = Options { until: last + Span::from_ms(10), ..Options::default() };
    let setup = assemble(fabric, site, &[lane], Join::Shared, flows, None, options).unwrap();
    run(setup, 1, &Monitor::default()).0
}

/// Whether `theory` is within the confidence interval of the mean of `values`, by batch means.
fn agrees(what: &str, values: &[f64], theory: f64) {
    let size = values.len() / BATCHES;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = values.chunks_exact(size).take(BATCHES).map(mean).collect();
    let all = mean(&means);
    let spread = means.iter().map(|m| (m - all) * (m - all)).sum::<f64>();
    let half = QUANTILE * (spread / (BATCHES * (BATCHES - 1)) as f64).sqrt();
    assert!((all - theory).abs() < half, "{what}: {all} +- {half}, theory {theory}");
    assert!(half < 0.1 * theory, "{what}: {all} +- {half} says too little");
}

/// M/D/1 (Pollaczek and Khinchine): the mean wait is rho S / (2 (1 - rho)), and one in 1 - rho
/// does not wait.
#[test]
fn md1_waits_as_long_as_theory_says() {
    let service = 1538.0 * 8.0 / 10.0 * 1e3;
    for load in [0.5, 0.8] {
        let flows = arrivals(200_000, service / load, |_| 1460);
        let record = simulate(Framing::ETHERNET, Limit::Unlimited, flows);
        let took = |flow: &FlowRecord| {
            flow.completed.expect("nothing is lost").0 - flow.started.expect("it began").0
        };
        let times: Vec<u64> = record.flows.iter().map(took).collect();
        let alone = *times.iter().min().unwrap();
        let waits: Vec<f64> = times.iter().map(|time| (time - alone) as f64).collect();
        agrees("wait", &waits, load * service / (2.0 * (1.0 - load)));
        let idle: Vec<f64> = waits.iter().map(|wait| (*wait == 0.0) as u8 as f64).collect();
        agrees("no wait", &idle, 1.0 - load);
    }
}

/// M/M/1/K: with packets of exponential size and room for K, one packet in transmission included,
/// (1 - rho) rho^K / (1 - rho^(K+1)) of them are lost, and the others wait (L - busy) / throughput.
#[test]
fn mm1k_loses_and_waits_as_theory_says() {
    let framing = Framing { overhead: 0, minimum: 0, mtu: u16::MAX };
    // Below 41 bytes, 0.7 % of the draws, a packet has no payload: it gets one byte.
    let mean_bytes = 6_000.0;
    let draw = |random: &mut Random| {
        (exponential(random, mean_bytes).round() as u64).clamp(41, 65_000) - 40
    };
    let service = mean_bytes * 8.0 / 10.0 * 1e3;
    for (load, room) in [(0.9, 8), (1.3, 5)] {
        let flows = arrivals(150_000, service / load, draw);
        let sizes: Vec<u64> = flows.iter().map(|setup| setup.flow.size + 40).collect();
        let record = simulate(framing, Limit::Packets(room - 1), flows);
        let lost: Vec<f64> =
            record.flows.iter().map(|flow| flow.completed.is_none() as u8 as f64).collect();
        let weight = |n: i32| f64::powi(load, n);
        let total: f64 = (0..=room as i32).map(weight).sum();
        let loss = weight(room as i32) / total;
        agrees("loss", &lost, loss);
        let waiting: f64 =
            (1..=room as i32).map(|n| (n - 1) as f64 * weight(n)).sum::<f64>() / total;
        let rate = load / service * (1.0 - loss);
        // What is not wait: three links, of which two are fast, and propagation.
        let alone = |bytes: u64| bytes * 800 + 2 * bytes * 20 + 3_000_000;
        let waits: Vec<f64> = record
            .flows
            .iter()
            .zip(&sizes)
            .filter_map(|(flow, bytes)| {
                let took = flow.completed?.0 - flow.started?.0;
                Some((took - alone(*bytes)) as f64)
            })
            .collect();
        agrees("wait", &waits, waiting / rate);
    }
}
