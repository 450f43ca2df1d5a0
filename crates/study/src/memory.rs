//! How much memory there is, and how much a point takes.

use incast_experiment::Plan;

/// Bytes of memory that are free for runs, of the machine and of the control group that the process
/// is in; none if the system does not say.
pub fn available() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    let free = kib * 1024;
    let group = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    let within =
        group("memory.max").map(|most| most.saturating_sub(group("memory.current").unwrap_or(0)));
    Some(within.map_or(free, |within| within.min(free)))
}

/// Bytes of a run apart from flows and ports.
const FIXED: u64 = 8 << 20;
/// Bytes of a flow: its record, its state at both ends, its metadata; measured were 1,600 with
/// 20,000 flows, files of results included.
const FLOW: u64 = 2_000;
/// Bytes of a port: 512 intervals of 80 B, its queue, and a histogram of its backlog.
const PORT: u64 = 50_000;

/// Bytes that a run takes at most, about.
pub fn of_plan(plan: &Plan) -> u64 {
    FIXED + plan.traffic.flows.len() as u64 * FLOW + plan.fabric.ports().len() as u64 * PORT
}
