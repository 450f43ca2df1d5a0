//! Finds links that are paused and wait for each other for ever.

use crate::Pfc;
use incast_fabric::{Fabric, NodeId, PortId};
use std::collections::{BTreeMap, BTreeSet};

/// Who holds what for whom, in a fabric whose routes have a cycle.
#[derive(Clone, Debug, Default)]
pub struct Standstill {
    /// Charged bytes, by the port back along the link they came by, the port they wait at, and
    /// class.
    held: BTreeMap<(u32, u32, u8), u64>,
    /// Ports and classes that are paused.
    closed: BTreeSet<(u32, u8)>,
    /// Since the last look a port was paused, or something came to wait at one that is: nothing
    /// else can make a standstill.
    suspect: bool,
}

impl Standstill {
    /// Bytes of a class wait at `egress` that came by the link whose way back is `ingress`.
    pub fn wait(&mut self, ingress: u32, egress: u32, (class, charged): (u8, u32)) {
        *self.held.entry((ingress, egress, class)).or_default() += charged as u64;
        self.suspect |= self.closed.contains(&(egress, class));
    }

    /// They have left.
    pub fn leave(&mut self, ingress: u32, egress: u32, (class, charged): (u8, u32)) {
        let key = (ingress, egress, class);
        let held = self.held.get_mut(&key).expect("what leaves has waited");
        *held -= charged as u64;
        if *held == 0 {
            self.held.remove(&key);
        }
    }

    /// The open classes of a port are these.
    pub fn open(&mut self, port: u32, open: u8) {
        for class in 0..8 {
            if open >> class & 1 == 1 {
                self.closed.remove(&(port, class));
            } else {
                self.suspect |= self.closed.insert((port, class));
            }
        }
    }

    /// A circle of ports none of which can ever send again, if there is one since the last look: a
    /// proof, not a guess. Each is paused by a switch where so much waits at others of the set
    /// that it is not released even when all else there has left. To be asked at the end of an
    /// instant. `below` is what a link holds of a class up to its threshold.
    pub fn find(
        &mut self,
        fabric: &Fabric,
        pfc: &Pfc,
        below: impl Fn(u32, u8) -> u64,
    ) -> Option<Vec<(u32, u8)>> {
        if !std::mem::take(&mut self.suspect) {
            return None;
        }
        let back = |port: u32| fabric.port(PortId(port)).reverse.0;
        let mut stuck = self.closed.clone();
        loop {
            let fixed = self.at(&stuck);
            let mut used: BTreeMap<NodeId, u64> = BTreeMap::new();
            for (&(ingress, class), &bytes) in &fixed {
                let switch = fabric.port(PortId(ingress)).node;
                *used.entry(switch).or_default() += bytes.min(below(ingress, class));
            }
            let before = stuck.len();
            stuck.retain(|&(port, class)| {
                let ingress = back(port);
                let bytes = fixed.get(&(ingress, class)).copied().unwrap_or(0);
                let least = used.get(&fabric.port(PortId(ingress)).node).copied().unwrap_or(0);
                !(bytes <= below(ingress, class) && pfc.is_low(bytes, least))
            });
            if stuck.len() == before {
                break;
            }
        }
        let mut way = vec![*stuck.first()?];
        loop {
            let (port, class) = way[way.len() - 1];
            let range = (back(port), 0, 0)..=(back(port), u32::MAX, u8::MAX);
            let mut waits = self.held.range(range).map(|((_, egress, of), _)| (*egress, *of));
            let next = waits.find(|next| next.1 == class && stuck.contains(next));
            let next = next.expect("what keeps it paused waits at one of them");
            if let Some(from) = way.iter().position(|one| *one == next) {
                return Some(way.split_off(from));
            }
            way.push(next);
        }
    }

    /// Bytes that wait at ports of the set, by the way back along the link they came by and class.
    fn at(&self, stuck: &BTreeSet<(u32, u8)>) -> BTreeMap<(u32, u8), u64> {
        let mut fixed = BTreeMap::new();
        for (&(ingress, egress, class), bytes) in &self.held {
            if stuck.contains(&(egress, class)) {
                *fixed.entry((ingress, class)).or_default() += bytes;
            }
        }
        fixed
    }
}
