//! How routes are found: walks over the links between switches, from each edge switch.

use crate::clos::{Clos, Closed};
use crate::fabric::Fabric;
use crate::parts::{NodeId, PortId, Tier};
use crate::routes::{Column, Form, Group, Routes, Tables};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The links between switches, for walks over the entire fabric.
pub(crate) struct Switches {
    first: Vec<u32>,
    /// (switch number of the peer, port), per switch in the order of the groups.
    edges: Vec<(u32, PortId)>,
}

pub(crate) const UNREACHED: u32 = u32::MAX;

impl Switches {
    pub(crate) fn new(fabric: &Fabric, gone: &[bool]) -> Switches {
        let mut first = vec![0];
        let mut edges: Vec<(u32, PortId)> = Vec::new();
        for switch in fabric.hosts..fabric.nodes() {
            let start = edges.len();
            for port in fabric.ports_of(NodeId(switch)) {
                let peer = fabric.ports[port as usize].peer.0;
                if peer >= fabric.hosts && !gone[port as usize] {
                    edges.push((peer - fabric.hosts, PortId(port)));
                }
            }
            // Parallel number first: with index = hash * n >> 32 both ends of a bundle then pick
            // the same link for the same hash, which symmetric ECMP needs.
            edges[start..].sort_by_key(|(peer, port)| (fabric.parallel[port.0 as usize], *peer));
            first.push(edges.len() as u32);
        }
        Switches { first, edges }
    }

    pub(crate) fn count(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn edges(&self, switch: u32) -> &[(u32, PortId)] {
        &self.edges[self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize]
    }

    /// Fills `distance` with the hops to switch `target` and returns the switches that reach it,
    /// nearest first.
    pub(crate) fn walk(&self, target: u32, distance: &mut [u32]) -> Vec<u32> {
        distance.fill(UNREACHED);
        distance[target as usize] = 0;
        let mut queue = VecDeque::from([target]);
        let mut order = Vec::with_capacity(self.count());
        while let Some(switch) = queue.pop_front() {
            order.push(switch);
            for (peer, _) in self.edges(switch) {
                if distance[*peer as usize] == UNREACHED {
                    distance[*peer as usize] = distance[switch as usize] + 1;
                    queue.push_back(*peer);
                }
            }
        }
        order
    }
}

impl Routes {
    pub(crate) fn closed(fabric: &Fabric, clos: Clos) -> Routes {
        assert_eq!(fabric.hosts, clos.racks() * clos.hosts, "as many hosts as the counts say");
        Routes {
            hosts: fabric.hosts,
            form: Form::Closed(Closed::new(clos, fabric.ports.len() as u32)),
        }
    }

    pub(crate) fn compute(fabric: &Fabric, gone: &[bool]) -> Routes {
        Routes { hosts: fabric.hosts, form: Form::Tables(Tables::compute(fabric, gone)) }
    }
}

impl Tables {
    fn compute(fabric: &Fabric, gone: &[bool]) -> Tables {
        let switches = Switches::new(fabric, gone);
        let racks: Vec<u32> = (0..switches.count() as u32)
            .filter(|switch| fabric.tiers[(fabric.hosts + switch) as usize] == Tier::Edge)
            .collect();
        // The last column is of the hosts whose own link failed.
        let columns = racks.len() as u32 + 1;
        let nowhere = Group { start: 0, len: 0, own: 0 };
        let mut routes = Tables {
            columns,
            table: vec![nowhere; switches.count() * columns as usize],
            column: vec![Column { column: columns - 1, local: 0 }; fabric.hosts as usize],
            pool: Vec::new(),
        };
        let mut known: Vec<BTreeMap<Box<[PortId]>, u32>> = vec![BTreeMap::new(); switches.count()];
        let mut distance = vec![UNREACHED; switches.count()];
        let mut group = Vec::new();
        for (column, rack) in racks.iter().enumerate() {
            routes.add_rack(fabric, gone, column as u32, *rack);
            for switch in &switches.walk(*rack, &mut distance)[1..] {
                let nearer = distance[*switch as usize] - 1;
                group.clear();
                let towards = switches.edges(*switch).iter();
                let towards = towards.filter(|(peer, _)| distance[*peer as usize] == nearer);
                group.extend(towards.map(|(_, port)| *port));
                let known = &mut known[*switch as usize];
                let start = match known.get(group.as_slice()) {
                    Some(start) => *start,
                    None => {
                        let start = routes.pool.len() as u32;
                        routes.pool.extend_from_slice(&group);
                        known.insert(group.as_slice().into(), start);
                        start
                    }
                };
                let entry = *switch as usize * columns as usize + column;
                routes.table[entry] = Group { start, len: group.len() as u16, own: 0 };
            }
        }
        routes
    }

    /// The hosts under one edge switch: their column, and the switch's ports to them.
    fn add_rack(&mut self, fabric: &Fabric, gone: &[bool], column: u32, rack: u32) {
        let start = self.pool.len() as u32;
        let node = NodeId(fabric.hosts + rack);
        for port in fabric.ports_of(node) {
            let peer = fabric.ports[port as usize].peer.0;
            if peer < fabric.hosts && !gone[port as usize] {
                let local = self.pool.len() as u32 - start;
                self.column[peer as usize] = Column { column, local };
                self.pool.push(PortId(port));
            }
        }
        let entry = rack as usize * self.columns as usize + column as usize;
        let any = (self.pool.len() as u32 > start) as u16;
        self.table[entry] = Group { start, len: any, own: 1 };
    }
}

impl Fabric {
    /// Shortest paths with the links of the `dead` ports gone, in both directions whichever end is
    /// named. A destination that cannot be reached has an empty group.
    pub fn routes_without(&self, dead: &[PortId]) -> Arc<Routes> {
        if dead.is_empty() {
            return self.routes();
        }
        let mut gone = vec![false; self.ports.len()];
        for port in dead {
            gone[port.0 as usize] = true;
            gone[self.port(*port).reverse.0 as usize] = true;
        }
        Arc::new(Routes::compute(self, &gone))
    }
}
