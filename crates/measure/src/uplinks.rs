//! How evenly the switches use their uplinks.

use crate::Run;
use std::collections::BTreeMap;

/// The uplinks of one switch, several, and what they carried.
struct Group {
    tier: &'static str,
    ports: Vec<usize>,
    /// Charged bytes on the wire by interval: of all of them, and of the one that carried most.
    bytes: Vec<(u64, u64)>,
}

/// The switches with several uplinks: ports that lead away from the receiving hosts. A switch chooses among them for each packet
/// or flow, whatever their rates.
pub(crate) struct Uplinks {
    groups: Vec<Group>,
    /// By port: its group.
    of_port: Vec<Option<u32>>,
}

impl Uplinks {
    /// Those of a run.
    pub fn of(run: &Run) -> Uplinks {
        let mut switches: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, port) in run.ports.iter().enumerate() {
            if port.upward && port.tier != "nic" {
                switches.entry(port.node).or_default().push(at);
            }
        }
        switches.retain(|_, ports| ports.len() > 1);
        let intervals = if switches.is_empty() { 0 } else { run.intervals() };
        let mut of_port = vec![None; run.ports.len()];
        let groups = switches.into_values().enumerate().map(|(number, ports)| {
            let mut bytes = vec![(0, 0); intervals];
            for port in &ports {
                of_port[*port] = Some(number as u32);
                for (sum, sent) in bytes.iter_mut().zip(run.wire_bytes(*port, intervals)) {
                    *sum = (sum.0 + sent, sum.1.max(sent));
                }
            }
            Group { tier: run.ports[ports[0]].tier, ports, bytes }
        });
        Uplinks { groups: groups.collect(), of_port }
    }

    /// Bytes of a port in an interval over the mean of the uplinks of its switch; `None` if it is no uplink, or the only one, or
    /// all of them were idle.
    pub fn ratio(&self, port: usize, interval: usize, bytes: u64) -> Option<f64> {
        let group = &self.groups[self.of_port[port]? as usize];
        let all = group.bytes.get(interval)?.0;
        (all > 0).then(|| bytes as f64 * group.ports.len() as f64 / all as f64)
    }

    /// The imbalance in some intervals: what the uplink that carried most carried over the mean of the uplinks of its switch, interval
    /// by interval; the mean over the switches of a tier, or all, weighted by their bytes. `None` if they carried nothing.
    pub fn imbalance(&self, tier: Option<&str>, intervals: std::ops::Range<usize>) -> Option<f64> {
        let (mut most, mut all) = (0.0, 0.0);
        for group in self.groups.iter().filter(|group| tier.is_none_or(|tier| tier == group.tier)) {
            for (sum, largest) in group.bytes.get(intervals.clone())? {
                most += *largest as f64 * group.ports.len() as f64;
                all += *sum as f64;
            }
        }
        (all > 0.0).then(|| most / all)
    }

    /// The same over the whole run as one interval.
    pub fn over_run(&self, run: &Run, tier: &str) -> Option<f64> {
        let (mut most, mut all) = (0, 0);
        for group in self.groups.iter().filter(|group| group.tier == tier) {
            let sent = group.ports.iter().map(|port| run.record.ports[*port].total.sent_bytes);
            most += sent.clone().max().unwrap_or(0) * group.ports.len() as u64;
            all += sent.sum::<u64>();
        }
        (all > 0).then(|| most as f64 / all as f64)
    }
}
