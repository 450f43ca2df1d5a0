//! Finds PFC deadlocks: cycles of paused links of which none can ever be released.

use crate::pfc::{Buffers, Charge, Pfc};
use incast_fabric::{Fabric, NodeId, PortId};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes that wait behind each paused port, in a fabric whose routes have a cycle.
#[derive(Clone, Debug, Default)]
pub struct DeadlockDetector {
    /// Queued charged bytes by ingress, egress and class. The ingress is the reverse port of the
    /// link on which they arrived.
    queued: BTreeMap<(u32, u32, u8), u64>,
    /// Ports and classes that are paused.
    closed: BTreeSet<(u32, u8)>,
    /// Since the last search a port was paused or a packet was queued at a paused port. Only
    /// these events can cause a deadlock.
    suspect: bool,
}

impl Buffers {
    /// A deadlock detector, if pauses can deadlock.
    pub fn deadlock_detector(&self) -> Option<DeadlockDetector> {
        self.pfc.as_ref().filter(|pfc| pfc.cyclic).map(|_| DeadlockDetector::default())
    }
}

impl DeadlockDetector {
    /// Records that `charged` bytes of `class` are queued at `egress`. They arrived on the link whose
    /// reverse port is `ingress`.
    pub fn enqueue(&mut self, ingress: u32, egress: u32, of: Charge) {
        let Charge { class, bytes: charged } = of;
        *self.queued.entry((ingress, egress, class)).or_default() += charged as u64;
        self.suspect |= self.closed.contains(&(egress, class));
    }

    /// Records that `charged` bytes of `class` have left `egress`.
    pub fn dequeue(&mut self, ingress: u32, egress: u32, of: Charge) {
        let Charge { class, bytes: charged } = of;
        let key = (ingress, egress, class);
        let queued = self.queued.get_mut(&key).expect("bytes are queued before they leave");
        *queued -= charged as u64;
        if *queued == 0 {
            self.queued.remove(&key);
        }
    }

    /// Sets the open classes of a port.
    pub fn set_open(&mut self, port: u32, open: u8) {
        for class in 0..8 {
            if open >> class & 1 == 1 {
                self.closed.remove(&(port, class));
            } else {
                self.suspect |= self.closed.insert((port, class));
            }
        }
    }

    /// Returns a cycle of paused ports and classes of which none can ever be released, if one has
    /// formed since the last search. The result is exact: each port of the cycle is paused by a
    /// switch that stays above its threshold even when all packets that can leave have left. Call
    /// it at the end of an instant. `below` returns the bytes that a link holds of a class up to
    /// its threshold.
    pub fn find(
        &mut self,
        fabric: &Fabric,
        pfc: &Pfc,
        below: impl Fn(u32, u8) -> u64,
    ) -> Option<Vec<(u32, u8)>> {
        if !std::mem::take(&mut self.suspect) {
            return None;
        }
        let reverse = |port: u32| fabric.port(PortId(port)).reverse.0;
        let mut stuck = self.closed.clone();
        loop {
            let fixed = self.queued_at(&stuck);
            let mut used: BTreeMap<NodeId, u64> = BTreeMap::new();
            for (&(ingress, class), &bytes) in &fixed {
                let switch = fabric.port(PortId(ingress)).node;
                let shared = pfc.beyond_reserve(ingress, bytes.min(below(ingress, class)));
                *used.entry(switch).or_default() += shared;
            }
            let before = stuck.len();
            stuck.retain(|&(port, class)| {
                let ingress = reverse(port);
                let bytes = fixed.get(&(ingress, class)).copied().unwrap_or(0);
                let least = used.get(&fabric.port(PortId(ingress)).node).copied().unwrap_or(0);
                let least = least + pfc.set_aside(ingress);
                !(bytes <= below(ingress, class) && pfc.is_low(ingress, bytes, least))
            });
            if stuck.len() == before {
                break;
            }
        }
        let mut cycle = vec![*stuck.first()?];
        loop {
            let (port, class) = cycle[cycle.len() - 1];
            let range = (reverse(port), 0, 0)..=(reverse(port), u32::MAX, u8::MAX);
            let mut waits = self.queued.range(range).map(|((_, egress, of), _)| (*egress, *of));
            let next = waits.find(|next| next.1 == class && stuck.contains(next));
            let next = next.expect("a stuck port is kept paused by another");
            if let Some(from) = cycle.iter().position(|one| *one == next) {
                return Some(cycle.split_off(from));
            }
            cycle.push(next);
        }
    }

    /// Bytes queued at the ports of `stuck`, by ingress and class.
    fn queued_at(&self, stuck: &BTreeSet<(u32, u8)>) -> BTreeMap<(u32, u8), u64> {
        let mut fixed = BTreeMap::new();
        for (&(ingress, egress, class), bytes) in &self.queued {
            if stuck.contains(&(egress, class)) {
                *fixed.entry((ingress, class)).or_default() += bytes;
            }
        }
        fixed
    }
}
