//! How much memory there is, and how much a run takes.

use crate::fault::wrong;
use crate::{Fault, Plan};
use incast_fabric::size_of;

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

/// Bytes of a port that no packet comes to: its properties, its record, its name.
const IDLE_PORT: u64 = 350;
/// Bytes of a flow at least: what is planned and recorded of it.
const LEAST_FLOW: u64 = 500;

/// Refuses a topology in a line, such as `fat-tree:8`, that is larger than the memory that is free;
/// one that is wrong is for others to refuse.
pub(crate) fn check_topology(spec: &str) -> Result<(), Fault> {
    let links = size_of(spec).map_or(0, |size| size.links);
    refuse_topology(spec, links.saturating_mul(2), available())
}

fn refuse_topology(spec: &str, ports: u64, free: Option<u64>) -> Result<(), Fault> {
    let least = ports.saturating_mul(IDLE_PORT);
    let Some(free) = free.filter(|free| least > *free) else { return Ok(()) };
    let (least, free) = (shown(least), shown(free));
    let problem = wrong(format!(
        "its {ports} ports take {least} of memory before the first packet, and {free} are free"
    ))
    .expected("fewer hosts");
    Err(Fault::value("fabric.topology", spec, problem))
}

/// Refuses a run whose flows alone take more than the memory that is free.
pub(crate) fn check_flows(plan: &Plan) -> Result<(), Fault> {
    let ports = plan.fabric.ports().len() as u64;
    refuse_flows(plan.traffic.flows.len() as u64, ports, available())
}

fn refuse_flows(flows: u64, ports: u64, free: Option<u64>) -> Result<(), Fault> {
    let least = FIXED + flows * LEAST_FLOW + ports * IDLE_PORT;
    let Some(free) = free.filter(|free| least > *free) else { return Ok(()) };
    let (least, free) = (shown(least), shown(free));
    let problem = wrong(format!(
        "{flows} flows and {ports} ports take {least} of memory at least, and {free} are free"
    ))
    .expected("fewer flows");
    Err(Fault::at("traffic", problem))
}

fn shown(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_fits_is_refused_with_the_key_that_lowers_it() {
        let text = |refused: Result<(), Fault>| refused.expect_err("it is refused").to_string();
        refuse_topology("star:4", 8, Some(8 * IDLE_PORT)).expect("it fits");
        refuse_topology("star:4", 8, None).expect("nobody knows");
        let refused = text(refuse_topology("fat-tree:160", 6_144_000, Some(1_500_000_000)));
        assert!(
            refused.contains("fabric.topology = `fat-tree:160`: its 6144000 ports"),
            "{refused}"
        );
        assert!(refused.contains("take 2.2 GB of memory"), "{refused}");
        assert!(refused.contains("1.5 GB are free: expected fewer hosts"), "{refused}");
        refuse_flows(1_000, 8, Some(1 << 30)).expect("it fits");
        let refused = text(refuse_flows(1 << 22, 8, Some(1 << 30)));
        assert!(refused.contains("traffic: 4194304 flows and 8 ports take"), "{refused}");
    }
}
