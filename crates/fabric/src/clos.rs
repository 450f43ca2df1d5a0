//! Routes of leaf-spine fabrics and fat trees in closed form: which ports lead to a host follows from
//! the numbers of its pod and rack, so that memory grows with ports, not with switches times racks.

use crate::parts::PortId;
use std::ops::Range;

/// The counts of a fabric whose tiers are each of one kind: pods of edge and aggregation switches, all
/// linked within a pod, and core switches, each linked to one aggregation switch of every pod. Nodes
/// are numbered hosts, edge, aggregation, core, each pod by pod. A leaf-spine is one pod without
/// cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clos {
    pub pods: u32,
    /// Edge switches of a pod.
    pub edges: u32,
    /// Hosts of an edge switch.
    pub hosts: u32,
    /// Aggregation switches of a pod, or spines.
    pub aggregations: u32,
    /// Core switches that each aggregation switch is linked to.
    pub cores: u32,
    /// Parallel links between an edge and an aggregation switch.
    pub edge_bundle: u32,
    /// Parallel links between an aggregation and a core switch.
    pub core_bundle: u32,
}

impl Clos {
    pub fn racks(&self) -> u32 {
        self.pods * self.edges
    }

    /// Ports of an edge switch to other switches.
    fn edge_up(&self) -> u32 {
        self.aggregations * self.edge_bundle
    }

    /// Ports of an aggregation switch to core switches.
    fn aggregation_up(&self) -> u32 {
        self.cores * self.core_bundle
    }

    /// Links on the longest of all shortest paths between two hosts.
    pub fn longest_path(&self) -> u32 {
        match (self.pods, self.edges) {
            (1, 1) => 2,
            (1, _) => 4,
            _ => 6,
        }
    }

    /// The most equal-cost paths between two hosts.
    pub fn most_paths(&self) -> u64 {
        let product = |all: &[u32]| all.iter().fold(1u64, |so, one| so.saturating_mul(*one as u64));
        let within = product(&[self.aggregations, self.edge_bundle, self.edge_bundle]);
        match (self.pods, self.edges) {
            (1, 1) => 1,
            (1, _) => within,
            _ => within.saturating_mul(product(&[self.cores, self.core_bundle, self.core_bundle])),
        }
    }

    /// Where the group of `switch` (counted from the first edge switch) towards host `dst` stands in
    /// the pool that [`Routes::compute`](crate::Routes) fills: rack by rack, each group where it is
    /// met first on a walk from the rack. Random streams of turns are keyed by it.
    pub fn group(&self, switch: u32, dst: u32) -> u32 {
        let (racks, edge_up, above) = (self.racks(), self.edge_up(), self.aggregation_up());
        let own = self.hosts + edge_up;
        let pod_up = self.aggregations * above;
        let all_up = (racks - 1) * edge_up + (self.pods - 1) * pod_up;
        // What the walks from earlier racks have added: for each rack its hosts' ports and those
        // down to it, for each pod those of the cores down to it, and all groups that lead upward.
        let start = |rack: u32| match rack {
            0 => 0,
            _ => {
                let first_rack = edge_up * (rack > 1) as u32 + pod_up * (rack > self.edges) as u32;
                rack * own + rack.div_ceil(self.edges) * pod_up + all_up + first_rack
            }
        };
        let rack = dst / self.hosts;
        let pod = rack / self.edges;
        if switch == rack {
            return start(rack) + dst % self.hosts;
        }
        let first_edges = own + (self.edges - 1) * edge_up;
        match switch {
            0 => start(1) + own + if self.edges == 1 { 2 * pod_up } else { 0 },
            edge if edge < self.edges => own + (edge - 1) * edge_up,
            edge if edge < racks => {
                first_edges + self.pods * pod_up + (edge - self.edges) * edge_up
            }
            high if high < racks + self.pods * self.aggregations => {
                let (of, number) =
                    ((high - racks) / self.aggregations, (high - racks) % self.aggregations);
                match of {
                    own_pod if own_pod == pod => {
                        start(rack) + self.hosts + number * self.edge_bundle
                    }
                    0 => start(self.edges) + own + pod_up + number * above,
                    _ => first_edges + pod_up + (number * (self.pods - 1) + of - 1) * above,
                }
            }
            core => {
                let number = core - racks - self.pods * self.aggregations;
                let before = if pod == 0 { first_edges } else { start(pod * self.edges) + own };
                before + number * self.core_bundle
            }
        }
    }
}

/// The routes of one switch: hosts lie below it branch by branch, all others upward.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// 2^63 over the number of hosts of a branch, rounded up: multiplied by any 32-bit number and
    /// shifted down by 63, it divides exactly.
    reciprocal: u64,
    /// The first branch below, among all branches of this size.
    low: u32,
    branches: u32,
    /// Where the ports down begin in the pool, and how many lead to each branch.
    down: u32,
    each: u16,
    /// The ports upward.
    up_len: u16,
    up: u32,
}

/// The routes of all switches of a fabric in which no link has failed.
#[derive(Clone, Debug)]
pub(crate) struct Closed {
    clos: Clos,
    hosts: u32,
    rows: Vec<Row>,
    /// The ports of the switches, each switch's together: those down in the order of the hosts, those
    /// upward by parallel number first, as `Switches` orders them.
    pub pool: Vec<PortId>,
}

impl Closed {
    /// Of a fabric with these counts and so many ports.
    pub fn new(clos: Clos, ports: u32) -> Closed {
        let hosts = clos.racks() * clos.hosts;
        let pool = (hosts..ports).map(PortId).collect();
        let mut closed = Closed { clos, hosts, rows: vec![], pool };
        let (above, aggregations) = (clos.aggregation_up(), clos.aggregations);
        for rack in 0..clos.racks() {
            closed.add(1, rack * clos.hosts..(rack + 1) * clos.hosts, 1, clos.edge_up());
            closed.interleave(aggregations, clos.edge_bundle);
        }
        for pod in 0..clos.pods {
            let branches = pod * clos.edges..(pod + 1) * clos.edges;
            for _ in 0..aggregations {
                closed.add(clos.hosts, branches.clone(), clos.edge_bundle, above);
                closed.interleave(clos.cores, clos.core_bundle);
            }
        }
        for _ in 0..aggregations * clos.cores {
            closed.add(clos.hosts * clos.edges, 0..clos.pods, clos.core_bundle, 0);
        }
        closed
    }

    /// The next switch: below it are `branches` of `size` hosts each.
    fn add(&mut self, size: u32, branches: Range<u32>, each: u32, up_len: u32) {
        let down = self.rows.last().map_or(0, |last| last.up + last.up_len as u32);
        let up = down + branches.len() as u32 * each;
        self.rows.push(Row {
            reciprocal: (1u64 << 63).div_ceil(size as u64),
            low: branches.start,
            branches: branches.len() as u32,
            down,
            each: each as u16,
            up_len: up_len as u16,
            up,
        });
    }

    /// Orders the ports upward of the last switch, to `peers` with `bundle` links each, by their number
    /// in the bundle.
    fn interleave(&mut self, peers: u32, bundle: u32) {
        let up = self.rows.last().expect("a switch was added").up as usize;
        let first = self.pool.get(up).map_or(0, |port| port.0);
        let sorted = (0..bundle).flat_map(|link| (0..peers).map(move |peer| peer * bundle + link));
        let sorted = sorted.map(|port| PortId(first + port));
        self.pool[up..].iter_mut().zip(sorted).for_each(|(place, port)| *place = port);
    }

    /// Start and length of a group in the pool.
    #[inline]
    pub fn find(&self, switch: u32, dst: u32) -> (u32, u16) {
        assert!(dst < self.hosts, "host {dst} of {}", self.hosts);
        let row = &self.rows[switch as usize];
        let branch = ((dst as u128 * row.reciprocal as u128) >> 63) as u32;
        let branch = branch.wrapping_sub(row.low);
        match branch < row.branches {
            true => (row.down + branch * row.each as u32, row.each),
            false => (row.up, row.up_len),
        }
    }

    pub fn clos(&self) -> &Clos {
        &self.clos
    }
}

#[cfg(test)]
mod tests {
    use crate::{Fabric, FatTree, Forwarding, LeafSpine, NodeId, PortId, Routes, ThreeTier};
    use incast_units::{Bytes, Rate, Span};
    use proptest::prelude::*;
    use std::sync::Arc;

    const RATE: Rate = Rate::from_gbps(10);

    fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, bundle: u16) -> Fabric {
        let (host_rate, uplink_rate, host_propagation) = (RATE, RATE, Span::from_us(1));
        let uplink_propagation = host_propagation;
        let shape = LeafSpine {
            leaves,
            spines,
            hosts_per_leaf,
            bundle,
            host_rate,
            uplink_rate,
            host_propagation,
            uplink_propagation,
            loss: 0.0,
        };
        shape.build().expect("a valid fabric")
    }

    fn three_tier(counts: [u32; 5], bundles: [u16; 2]) -> Fabric {
        let [pods, edges_per_pod, hosts_per_edge, aggregations_per_pod, cores_per_aggregation] =
            counts;
        let [edge_bundle, core_bundle] = bundles;
        let shape = ThreeTier {
            pods,
            edges_per_pod,
            hosts_per_edge,
            aggregations_per_pod,
            cores_per_aggregation,
            edge_bundle,
            core_bundle,
            rates: [RATE; 3],
            propagations: [Span::from_us(1); 3],
            latencies: [Span::ZERO; 3],
            loss: 0.0,
        };
        shape.build().expect("a valid fabric")
    }

    fn fat_tree(k: u32) -> Fabric {
        let (host_rate, uplink_rate, core_rate) = (RATE, RATE, RATE);
        let (host_propagation, uplink_propagation) = (Span::from_us(1), Span::from_us(1));
        let shape = FatTree {
            k,
            host_rate,
            uplink_rate,
            core_rate,
            host_propagation,
            uplink_propagation,
            loss: 0.0,
        };
        shape.build().expect("a valid fabric")
    }

    /// The same ports in the same order and the same numbers of groups as in tables.
    fn agrees(fabric: &Fabric) {
        let tables = Routes::compute(fabric, &vec![false; fabric.ports().len()]);
        let closed = fabric.routes();
        assert!(closed.clos().is_some() && tables.clos().is_none());
        for switch in (fabric.hosts()..fabric.nodes()).map(NodeId) {
            for dst in 0..fabric.hosts() {
                let place = (fabric.name(), switch, dst);
                assert_eq!(closed.next(switch, dst), tables.next(switch, dst), "{place:?}");
                assert_eq!(closed.group(switch, dst), tables.group(switch, dst), "{place:?}");
                assert!(closed.group(switch, dst) < closed.group_bound(), "{place:?}");
            }
        }
    }

    /// What is derived from some racks alone is what all of them give, with links that differ.
    fn derives(mut fabric: Fabric, changes: &[(u32, u8)]) {
        for (place, kind) in changes {
            let port = *fabric.port(PortId(place % fabric.ports().len() as u32));
            let rate = (kind & 1 > 0).then_some(Rate::from_gbps(3 + *kind as u64));
            let propagation = (kind & 2 > 0).then_some(Span::from_ns(100 + *kind as u64 * 100));
            fabric.change_link(port.node, port.peer, rate, propagation, None).expect("a link");
        }
        let mut tables = fabric.clone();
        let routes = Routes::compute(&fabric, &vec![false; fabric.ports().len()]);
        tables.routes = Arc::new(routes);
        assert_eq!(fabric.longest_path(), tables.longest_path(), "{}", fabric.name());
        assert_eq!(fabric.most_paths(), tables.most_paths(), "{}", fabric.name());
        for forwarding in [Forwarding::StoreAndForward, Forwarding::CutThrough(Bytes(64))] {
            let rtt = |fabric: &Fabric| {
                fabric.clone().with_forwarding(forwarding).base_rtt(Bytes(1538), Bytes(84))
            };
            assert_eq!(rtt(&fabric), rtt(&tables), "{} {changes:?}", fabric.name());
        }
    }

    fn changes() -> impl Strategy<Value = Vec<(u32, u8)>> {
        proptest::collection::vec((any::<u32>(), 0u8..20), 0..4)
    }

    proptest! {
        #[test]
        fn some_racks_stand_for_all_of_a_leaf_spine(
            leaves in 1u32..7, spines in 1u32..5, hosts in 1u32..4, bundle in 1u16..3,
            changes in changes(),
        ) {
            prop_assume!(leaves * hosts > 1);
            derives(leaf_spine(leaves, spines, hosts, bundle), &changes);
        }

        #[test]
        fn some_racks_stand_for_all_of_three_tiers(
            pods in 1u32..5, edges in 1u32..4, hosts in 1u32..3, aggregations in 1u32..4,
            cores in 1u32..3, core_bundle in 1u16..3, changes in changes(),
        ) {
            prop_assume!(pods * edges * hosts > 1);
            let counts = [pods, edges, hosts, aggregations, cores];
            derives(three_tier(counts, [1, core_bundle]), &changes);
        }

        #[test]
        fn leaf_spines_agree_with_tables(
            leaves in 1u32..7, spines in 1u32..6, hosts in 1u32..6, bundle in 1u16..4,
        ) {
            prop_assume!(leaves * hosts > 1);
            agrees(&leaf_spine(leaves, spines, hosts, bundle));
        }

        #[test]
        fn three_tiers_agree_with_tables(
            pods in 1u32..5, edges in 1u32..5, hosts in 1u32..4, aggregations in 1u32..4,
            cores in 1u32..4, edge_bundle in 1u16..4, core_bundle in 1u16..4,
        ) {
            prop_assume!(pods * edges * hosts > 1);
            let counts = [pods, edges, hosts, aggregations, cores];
            agrees(&three_tier(counts, [edge_bundle, core_bundle]));
        }
    }

    #[test]
    fn fat_trees_agree_with_tables() {
        [2, 4, 6, 8].into_iter().for_each(|k| agrees(&fat_tree(k)));
    }
}
