//! Finds links that are paused and wait for each other for ever.

use crate::Pfc;
use incast_fabric::{Fabric, PortId};
use std::collections::{BTreeMap, BTreeSet};

/// Who holds what for whom, in a fabric whose routes have a cycle.
#[derive(Clone, Debug, Default)]
pub struct Standstill {
    /// Charged bytes, by the port back along the link they came by, the port they wait at, and
    /// class.
    held: BTreeMap<(u32, u32, u8), u64>,
    /// Ports and classes that are paused.
    closed: BTreeSet<(u32, u8)>,
}

impl Standstill {
    /// Bytes of a class wait at `egress` that came by the link whose way back is `ingress`.
    pub fn wait(&mut self, ingress: u32, egress: u32, (class, charged): (u8, u32)) {
        *self.held.entry((ingress, egress, class)).or_default() += charged as u64;
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
                self.closed.insert((port, class));
            }
        }
    }

    /// A circle of ports none of which can ever send again: each is paused by a switch where more
    /// than it may keep waits at the next. Nothing that other ports do can open one of them.
    pub fn find(&self, fabric: &Fabric, pfc: &Pfc) -> Option<Vec<(u32, u8)>> {
        let mut stuck = self.closed.clone();
        loop {
            let free: Vec<(u32, u8)> = stuck
                .iter()
                .filter(|(port, class)| self.ahead(fabric, *port, *class, &stuck) <= pfc.rest())
                .copied()
                .collect();
            if free.is_empty() {
                break;
            }
            free.iter().for_each(|one| {
                stuck.remove(one);
            });
        }
        let mut way = vec![*stuck.first()?];
        loop {
            let (port, class) = way[way.len() - 1];
            let ingress = fabric.port(PortId(port)).reverse.0;
            let next = self.waits(ingress, class).find(|(q, _)| stuck.contains(&(*q, class)));
            let next = (next.expect("it waits for one of them").0, class);
            if let Some(from) = way.iter().position(|one| *one == next) {
                return Some(way.split_off(from));
            }
            way.push(next);
        }
    }

    /// Where, beyond the port, what came by it waits.
    fn waits(&self, ingress: u32, class: u8) -> impl Iterator<Item = (u32, u64)> + '_ {
        let range = (ingress, 0, 0)..=(ingress, u32::MAX, u8::MAX);
        let own = self.held.range(range).filter(move |((_, _, of), _)| *of == class);
        own.map(|((_, egress, _), bytes)| (*egress, *bytes))
    }

    /// Bytes beyond the port that wait at ports of the set.
    fn ahead(&self, fabric: &Fabric, port: u32, class: u8, stuck: &BTreeSet<(u32, u8)>) -> u64 {
        let ingress = fabric.port(PortId(port)).reverse.0;
        let waits = self.waits(ingress, class).filter(|(q, _)| stuck.contains(&(*q, class)));
        waits.map(|(_, bytes)| bytes).sum()
    }
}
