//! Runs made by hand and by formula.

use incast_measure::{FlowMeta, PortMeta, Request, Run, RunRecord};
use incast_transport::{Bin, FlowId, FlowRecord, FlowSeries, Parts, PortRecord};
use incast_units::{Rate, Span, Time};

/// A completed flow from host 0 to 1 whose time is cut into parts.
pub fn flow(
    id: u32,
    size_bytes: u64,
    start: u64,
    ideal: u64,
    parts: Parts,
) -> (FlowRecord, FlowMeta) {
    let record = FlowRecord {
        flow: FlowId(id),
        started: Some(Time(start)),
        completed: Some(Time(start + parts.total())),
        acknowledged: Some(Time(start + parts.total() + 1_000)),
        parts: Some(parts),
        delivered: size_bytes,
        packets: size_bytes.div_ceil(1460) as u32,
        retransmits: 0,
        wasted: 0,
        decisions: 0,
        decision_age: 0,
        decision_age_max: 0,
        control_packets: 0,
        control_bytes: 0,
        extension_bytes: 0,
        reordering: None,
        paths: None,
        last: None,
    };
    let meta = FlowMeta {
        src: 0,
        dst: 1,
        size_bytes,
        transport: 0,
        class: "background",
        path: "host0>leaf0>host1".into(),
        ideal_fct: Span(ideal),
        arrival: true,
        warmup: false,
        stop: None,
        priority: None,
    };
    (record, meta)
}

/// A run of these flows and no ports.
pub fn run_of(label: &str, flows: Vec<(FlowRecord, FlowMeta)>) -> Run {
    let (records, flows): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
    let ended = records.iter().filter_map(|flow| flow.completed).max().unwrap_or(Time(1_000_000));
    Run {
        label: label.into(),
        transports: vec![label.into()],
        record: RunRecord { flows: records, ended, complete: true, ..RunRecord::default() },
        flows,
        ..Run::default()
    }
}

/// Numbers that look random and are the same everywhere (splitmix64).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A large made-up run: heavy-tailed sizes, queues that grow with `pressure`, ports over time.
#[allow(dead_code, reason = "each test program uses a part of it")]
pub fn made_up(label: &str, seed: u64, flows: u32, pressure: f64) -> Run {
    let mut noise = Noise(seed);
    let made = (0..flows).map(|id| {
        let size = (200.0 * 10f64.powf(noise.next() * noise.next() * 5.2)) as u64;
        let serialise = size * 200;
        let ideal = serialise + 8_000_000;
        let wait = |noise: &mut Noise, scale: f64| {
            (-(1.0 - noise.next()).ln() * scale * pressure * 1e6) as u64
        };
        let grants = if pressure < 1.0 { 6.0 } else { 0.2 };
        let lost = noise.next() < 0.01 * pressure;
        let parts = Parts {
            nic_own: serialise,
            nic_other: wait(&mut noise, 2.0),
            blocked: [
                0,
                wait(&mut noise, grants),
                0,
                wait(&mut noise, 2.0 + size as f64 / 1e5),
                wait(&mut noise, 0.5),
            ],
            recovery: if lost { wait(&mut noise, 90.0) } else { 0 },
            serialisation: 1_200_000,
            propagation: 6_800_000,
            queueing: [wait(&mut noise, 1.0), wait(&mut noise, 7.0), 0, wait(&mut noise, 2.0)],
        };
        let start = id as u64 * 4_000_000;
        let (mut record, mut meta) = flow(id, size, start, ideal, parts);
        record.retransmits = lost as u32 * 3;
        record.decisions = 10;
        record.decision_age = 10 * 9_000_000;
        (meta.src, meta.dst) = (id % 8, (id * 5 + 3) % 8);
        meta.warmup = id < flows / 50;
        (record, meta)
    });
    let mut run = run_of(label, made.collect());
    add_ports(&mut run, &mut noise, pressure);
    let of_time = |at: u64| Time(at * 40_000_000);
    run.requests = (0..40)
        .map(|at| Request {
            start: of_time(at),
            end: Some(of_time(at) + Span::from_us(30 + at % 7)),
            flows: 8,
            warmup: false,
        })
        .collect();
    run.wall_seconds = Some(1.25);
    run.manifest.outline.version = "0.1.0".into();
    run.manifest.outline.scenario =
        serde_json::json!({ "topology": "leaf_spine", "seed": seed, "workload": "web_search" });
    run
}

fn add_ports(run: &mut Run, noise: &mut Noise, pressure: f64) {
    let rate = Rate::from_gbps(40);
    run.record.interval = Span::from_us(100);
    let count = run.record.ended.0.div_ceil(run.record.interval.0);
    let kinds = [("nic", true), ("edge", true), ("edge", false), ("core", false)];
    for (kind, (tier, upward)) in kinds.into_iter().enumerate() {
        for at in 0..4 {
            let name = match (tier, upward) {
                ("nic", _) => format!("host{at}->leaf0"),
                ("edge", true) => format!("leaf0->spine{at}"),
                ("edge", false) => format!("leaf0->host{at}"),
                _ => format!("spine{at}->leaf0"),
            };
            run.ports.push(PortMeta { name, tier, rate, upward, node: kind as u32 });
            let mut port = PortRecord { port: run.ports.len() as u32 - 1, ..Default::default() };
            for interval in 0..count {
                let wave = 0.5 + 0.3 * (interval as f64 / 9.0 + at as f64).sin();
                let used = (wave + 0.2 * noise.next()).min(1.0);
                let backlog = (used * used * pressure * 60_000.0 * (at + 1) as f64 / 4.0) as u64;
                let bin = Bin {
                    sent_bytes: (used * 500_000.0) as u64,
                    sent_packets: (used * 325.0) as u32,
                    marks: (used * 10.0 * pressure) as u32,
                    drops: (used > 0.97) as u32,
                    credit_drops: 0,
                    trims: 0,
                    backlog_max: backlog,
                    backlog_area: backlog as u128 / 3 * 100_000_000,
                    paused: 0,
                };
                port.total.join(&bin);
                port.bins.push(bin);
            }
            run.record.packet_hops += port.total.sent_packets as u64;
            run.record.ports.push(port);
        }
    }
}

/// Adds throughput over time of four flows that join one after another and share equally.
#[allow(dead_code, reason = "each test program uses a part of it")]
pub fn add_series(run: &mut Run) {
    let count = run.intervals();
    run.record.series = (0..4)
        .map(|at| {
            let rate = |interval: usize| {
                let active = 1 + (interval * 4 / count).min(3);
                if at < active { 480_000 / active as u64 } else { 0 }
            };
            FlowSeries { flow: FlowId(at as u32), delivered: (0..count).map(rate).collect() }
        })
        .collect();
}
