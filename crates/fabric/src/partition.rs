//! Cutting a fabric for several threads.

use crate::fabric::Fabric;
use crate::parts::{NodeId, PortId, Tier};

impl Fabric {
    /// A part in `0..parts` for every node. A host is always with its edge switch; racks are dealt
    /// out in runs of neighbours of nearly equal `work`, which has a number per host, in any unit
    /// (at least 1 is assumed); a higher switch whose lower
    /// neighbours all lie in one part joins it (a pod's aggregation switches), the others are
    /// dealt out in turn. There are fewer parts than `n` when there are fewer edge switches;
    /// `n = 0` counts as 1.
    ///
    /// # Panics
    /// If `work` is not as long as there are hosts.
    pub fn partitions(&self, n: usize, work: &[u64]) -> Vec<u32> {
        assert_eq!(work.len(), self.hosts as usize, "a number per host");
        let mut size = vec![0u128; self.tiers.len()];
        for (host, work) in work.iter().enumerate() {
            size[self.rack_of(host as u32).0 as usize] += (*work).max(1) as u128;
        }
        let total: u128 = size.iter().sum();
        let racks: Vec<usize> = (0..size.len()).filter(|node| size[*node] > 0).collect();
        let parts = n.clamp(1, racks.len());
        let mut part = vec![0u32; self.tiers.len()];
        let (mut current, mut dealt) = (0, 0);
        for (position, rack) in racks.iter().enumerate() {
            let later_racks = racks.len() - position;
            let later_parts = parts - current - 1;
            // Start the next part when this one has reached its share (to the nearest half
            // rack), or when every remaining part needs one of the remaining racks.
            let middle = (dealt + size[*rack] / 2) * parts as u128;
            let full = middle >= (current as u128 + 1) * total;
            let began = position > 0 && part[racks[position - 1]] == current as u32;
            if later_parts > 0 && began && (full || later_racks == later_parts) {
                current += 1;
            }
            part[*rack] = current as u32;
            dealt += size[*rack];
        }
        for host in 0..self.hosts {
            part[host as usize] = part[self.rack_of(host).0 as usize];
        }
        self.place_higher_switches(parts as u32, &mut part);
        part
    }

    fn place_higher_switches(&self, parts: u32, part: &mut [u32]) {
        let mut turn = 0;
        for tier in [Tier::Aggregation, Tier::Core] {
            for node in (self.hosts..self.nodes()).filter(|n| self.tiers[*n as usize] == tier) {
                let below = |port: &u32| {
                    let peer = self.port(PortId(*port)).peer;
                    (self.tier(peer) < tier).then(|| part[peer.0 as usize])
                };
                let mut lower = self.ports_of(NodeId(node)).filter_map(|port| below(&port));
                let first = lower.next();
                part[node as usize] = match first {
                    Some(first) if lower.all(|other| other == first) => first,
                    _ => {
                        turn += 1;
                        (turn - 1) % parts
                    }
                };
            }
        }
    }
}
