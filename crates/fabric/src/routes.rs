//! Shortest-path routes with all equal-cost ports: tables, or closed forms where the fabric has one.

use crate::clos::{Clos, Closed};
use crate::fabric::{Fabric, NodeId, PortId, Tier};
use std::collections::BTreeMap;
use std::collections::VecDeque;

/// Where the ports of a group lie in the pool.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    len: u16,
    /// 1 at the edge switch of the destination, where each host has a port of its own; else 0.
    own: u16,
}

/// Which column a host's routes stand in, and its number under its edge switch.
#[derive(Clone, Copy, Debug)]
struct Column {
    column: u32,
    local: u32,
}

/// For every switch and destination host, the equal-cost ports of all shortest paths.
#[derive(Clone, Debug)]
pub struct Routes {
    hosts: u32,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Tables(Tables),
    /// Of a fabric in which no link has failed.
    Closed(Closed),
}

/// Hosts under one edge switch share a column, so the table of a fabric of a thousand hosts fits
/// a first-level cache; at their own edge switch the host's number selects its port.
#[derive(Clone, Debug, Default)]
struct Tables {
    columns: u32,
    table: Vec<Group>,
    column: Vec<Column>,
    pool: Vec<PortId>,
}

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
    pub(crate) fn empty() -> Routes {
        Routes { hosts: 0, form: Form::Tables(Tables::default()) }
    }

    pub(crate) fn closed(fabric: &Fabric, clos: Clos) -> Routes {
        Routes { hosts: fabric.hosts, form: Form::Closed(Closed::new(fabric, clos)) }
    }

    pub(crate) fn compute(fabric: &Fabric, gone: &[bool]) -> Routes {
        Routes { hosts: fabric.hosts, form: Form::Tables(Tables::compute(fabric, gone)) }
    }

    /// The counts from which the routes follow, if they have a closed form.
    pub(crate) fn clos(&self) -> Option<&Clos> {
        match &self.form {
            Form::Closed(closed) => Some(closed.clos()),
            Form::Tables(_) => None,
        }
    }

    /// The equal-cost egress ports of `switch` towards host `dst`, in an order that depends only on
    /// the topology; empty when `dst` cannot be reached. Panics when `switch` is not a switch or
    /// `dst` not a host.
    #[inline]
    pub fn next(&self, switch: NodeId, dst: u32) -> &[PortId] {
        let switch = switch.0 - self.hosts;
        let ((start, len), pool) = match &self.form {
            Form::Closed(closed) => (closed.find(switch, dst), &closed.pool),
            Form::Tables(tables) => (tables.find(switch, dst), &tables.pool),
        };
        &pool[start as usize..start as usize + len as usize]
    }

    /// A number of the group `next(switch, dst)`, below [`Routes::group_bound`]: equal for two
    /// destinations exactly when they share the switch and all its ports towards them. Index for
    /// state per switch and destination group. Of no meaning when the group is empty.
    #[inline]
    pub fn group(&self, switch: NodeId, dst: u32) -> u32 {
        let switch = switch.0 - self.hosts;
        match &self.form {
            Form::Closed(closed) => closed.clos().group(switch, dst),
            Form::Tables(tables) => tables.find(switch, dst).0,
        }
    }

    /// All group numbers are below this.
    pub fn group_bound(&self) -> u32 {
        match &self.form {
            Form::Closed(closed) => closed.pool.len() as u32,
            Form::Tables(tables) => tables.pool.len() as u32,
        }
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

    #[inline]
    fn find(&self, switch: u32, dst: u32) -> (u32, u16) {
        let Column { column, local } = self.column[dst as usize];
        let group = self.table[switch as usize * self.columns as usize + column as usize];
        (group.start + local * group.own as u32, group.len)
    }
}
