//! Speed of the engine: fixed cases, each measured between two runs of a bare event kernel.

pub mod kernel;

use crate::fault::wrong;
use crate::{Fault, Plan, Scenario, prepare};
use cpu_time::ProcessTime;
use incast_protocols::CATALOGUE;
use incast_world::Monitor;
use serde::Serialize;

pub use kernel::run as kernel;

/// One measured case: the median of its runs.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// Name of the case.
    pub case: String,
    /// Transport.
    pub transport: String,
    /// Threads.
    pub threads: usize,
    /// Packets that began transmission at some port.
    pub packet_hops: u64,
    /// Events of the engine.
    pub events: u64,
    /// Simulated time.
    pub sim_time_ns: f64,
    /// Wall-clock seconds of the run itself.
    pub wall_s: f64,
    /// CPU seconds of the run itself, all threads.
    pub cpu_s: f64,
    /// Largest memory of the process so far in this case, if the system reports it; else 0.
    pub peak_rss_bytes: u64,
    /// Packet-hops per CPU second over those of the bare kernel before and after.
    pub share: f64,
}

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads of each case.
    pub threads: usize,
    /// Only cases whose name or transport contains this.
    pub case: Option<String>,
    /// Runs of each case.
    pub runs: usize,
}

/// Packet-hops of the kernel per measurement, about a quarter of a second.
const KERNEL_HOPS: u64 = 4_000_000;

/// One case.
struct Case {
    name: &'static str,
    transport: &'static str,
    traffic: &'static str,
    until: &'static str,
    /// More keys of the fabric.
    fabric: &'static str,
}

/// All cases: long flows and incast with those of the speed goals (UEC's is to be no slower than NDP), web search with every transport,
/// and with links that are paused around a shared buffer.
fn cases() -> Vec<Case> {
    let case = |name, traffic, until, fabric| {
        move |transport| Case { name, transport, traffic, until, fabric }
    };
    let three = ["dctcp", "ren", "ndp"];
    let every = || CATALOGUE.iter().map(|entry| entry.info().name);
    let spread = three.into_iter().chain(["uec"]);
    let mut all: Vec<Case> = spread.map(case("permutation", PERMUTATION, "3ms", "")).collect();
    all.extend(three.into_iter().map(case("incast", INCAST, "1s", "")));
    all.extend(every().map(case("web_search", WEB_SEARCH, "20ms", "")));
    all.extend(every().map(case("web_search_pfc", WEB_SEARCH, "20ms", LOSSLESS)));
    all
}
const PERMUTATION: &str = "kind = \"permutation\"\nsize = \"1GB\"";
const INCAST: &str = "kind = \"incast\"\nreceiver = 0\nsize = \"1MB\"";
const LOSSLESS: &str = "pfc = {}\nshared_buffer = { pool = \"9MB\", alpha = 0.125 }\n";
const WEB_SEARCH: &str = "kind = \"poisson\"\nworkload = \"web_search\"\nload = 0.5\nflows = 20000";

fn scenario(case: &Case) -> Result<Scenario, Fault> {
    let Case { transport, traffic, until, fabric, .. } = case;
    let text = format!(
        "[fabric]\ntopology = \"leaf-spine:8x8x48\"\nrate = \"40Gbps\"\npropagation = \"1us\"\n\
         {fabric}[transport]\nnames = [\"{transport}\"]\n[[traffic]]\n{traffic}\n\
         [run]\nuntil = \"{until}\"\nwatch = 0\n"
    );
    Scenario::parse(&text, "bench", &[])
}

/// Measures the cases; calls `report` with each result.
pub fn run(
    options: &Options,
    mut report: impl FnMut(&Measurement),
) -> Result<Vec<Measurement>, Fault> {
    let wanted = |name: &str, transport: &str| match &options.case {
        Some(text) => format!("{name}/{transport}").contains(text.as_str()),
        None => true,
    };
    let mut all = vec![];
    for case in cases().iter().filter(|case| wanted(case.name, case.transport)) {
        let plan = Plan::new(scenario(case)?)?;
        let mut runs = vec![];
        for _ in 0..options.runs.max(1) {
            runs.push(measure(case.name, case.transport, &plan, options.threads)?);
        }
        runs.sort_by(|a, b| a.share.total_cmp(&b.share));
        let median = runs.swap_remove(runs.len() / 2);
        report(&median);
        all.push(median);
    }
    if all.is_empty() {
        let names = cases()
            .iter()
            .map(|case| format!("{}/{}", case.name, case.transport))
            .collect::<Vec<_>>();
        let text = options.case.clone().unwrap_or_default();
        return Err(Fault::new(
            wrong(format!("--case {text}"))
                .expected(format!("part of one of {}", names.join(", "))),
        ));
    }
    Ok(all)
}

/// Packet-hops per CPU second of the bare kernel now.
fn kernel_speed() -> f64 {
    let begin = ProcessTime::now();
    std::hint::black_box(kernel(KERNEL_HOPS));
    KERNEL_HOPS as f64 / begin.elapsed().as_secs_f64()
}

fn measure(name: &str, transport: &str, plan: &Plan, threads: usize) -> Result<Measurement, Fault> {
    let before = kernel_speed();
    let setup = prepare(plan, &plan.cases[0], vec![])?;
    forget_peak();
    let (cpu, wall) = (ProcessTime::now(), std::time::Instant::now());
    let (record, _) = incast_sim::run(setup, threads, &Monitor::default());
    let (cpu_s, wall_s) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    let peak_rss_bytes = peak();
    let after = kernel_speed();
    let speed = record.packet_hops as f64 / cpu_s;
    Ok(Measurement {
        case: name.into(),
        transport: transport.into(),
        threads,
        packet_hops: record.packet_hops,
        events: record.events,
        sim_time_ns: record.ended.as_ns_f64(),
        wall_s,
        cpu_s,
        peak_rss_bytes,
        share: speed / ((before + after) / 2.0),
    })
}

/// Resets the system's peak memory counter, if supported.
fn forget_peak() {
    // Without permission the peak covers the entire process, which is an upper bound.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse().ok());
    kib.map_or(0, |kib: u64| kib * 1024)
}
