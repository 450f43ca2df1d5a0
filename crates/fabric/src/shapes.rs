//! The usual fabrics as typed builders.

use crate::graph::MAX_NODES;
use crate::{Fabric, Graph, Problem, TopologyError, Vertex};
use incast_units::{Rate, Span};

/// One switch with hosts around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Star {
    /// Number of hosts, at least 2.
    pub hosts: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation of every link, one way.
    pub propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

/// Two switches joined by a bottleneck: hosts `0..left` at the first, the others at the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dumbbell {
    /// Hosts at the first switch, at least 1.
    pub left: u32,
    /// Hosts at the second switch, at least 1.
    pub right: u32,
    /// Rate of the host links.
    pub host_rate: Rate,
    /// Rate of the link between the switches.
    pub bottleneck_rate: Rate,
    /// Propagation of the host links, one way.
    pub host_propagation: Span,
    /// Propagation of the link between the switches, one way.
    pub bottleneck_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

/// A chain of switches. Host 0 is at the first and host 1 at the last: the long path over every
/// bottleneck. Bottleneck `i` joins switches `i` and `i + 1` and has a pair of hosts of its own,
/// `2 + 2i` at switch `i` and `3 + 2i` at switch `i + 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParkingLot {
    /// Number of bottleneck links, at least 1.
    pub bottlenecks: u32,
    /// Rate of the host links.
    pub host_rate: Rate,
    /// Rate of the links between switches.
    pub bottleneck_rate: Rate,
    /// Propagation of the host links, one way.
    pub host_propagation: Span,
    /// Propagation of the links between switches, one way.
    pub bottleneck_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

/// Two tiers: every leaf linked to every spine. Hosts are numbered leaf by leaf; leaves are the
/// first switches, spines follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafSpine {
    /// Number of leaves, at least 1.
    pub leaves: u32,
    /// Number of spines, at least 1.
    pub spines: u32,
    /// Hosts per leaf, at least 1.
    pub hosts_per_leaf: u32,
    /// Parallel links between a leaf and a spine, usually 1.
    pub bundle: u16,
    /// Rate of the host links.
    pub host_rate: Rate,
    /// Rate of each link between a leaf and a spine.
    pub uplink_rate: Rate,
    /// Propagation of the host links, one way.
    pub host_propagation: Span,
    /// Propagation of the links between leaves and spines, one way.
    pub uplink_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

/// The three-tier fat-tree of k-port switches: k pods of k/2 edge and k/2 aggregation switches,
/// (k/2)^2 core switches, k^3/4 hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatTree {
    /// Ports per switch, even, at least 2.
    pub k: u32,
    /// Rate of the host links.
    pub host_rate: Rate,
    /// Rate of the links between edge and aggregation switches.
    pub uplink_rate: Rate,
    /// Rate of the links between aggregation and core switches.
    pub core_rate: Rate,
    /// Propagation of the host links, one way.
    pub host_propagation: Span,
    /// Propagation of the links above the edge switches, one way.
    pub uplink_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

/// Three tiers with any counts. Within a pod every edge switch is linked to every aggregation
/// switch; aggregation switch j of every pod is linked to core switches `j x cores_per_aggregation`
/// and following. Switches are numbered edge, aggregation, core, each pod by pod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreeTier {
    /// Number of pods.
    pub pods: u32,
    /// Edge switches per pod.
    pub edges_per_pod: u32,
    /// Hosts per edge switch.
    pub hosts_per_edge: u32,
    /// Aggregation switches per pod.
    pub aggregations_per_pod: u32,
    /// Core switches each aggregation switch is linked to.
    pub cores_per_aggregation: u32,
    /// Parallel links between an edge and an aggregation switch.
    pub edge_bundle: u16,
    /// Parallel links between an aggregation and a core switch.
    pub core_bundle: u16,
    /// Rates of the host, edge-aggregation and aggregation-core links.
    pub rates: [Rate; 3],
    /// Propagation of the same, one way.
    pub propagations: [Span; 3],
    /// Latency of edge, aggregation and core switches.
    pub latencies: [Span; 3],
    /// Loss probability of every link.
    pub loss: f64,
}

/// Refuses a count of zero, and more than fits before anything is allocated.
fn checked(name: &str, factors: &[(&str, u32)], nodes: u64) -> Result<(), TopologyError> {
    if let Some((what, _)) = factors.iter().find(|(_, count)| *count == 0) {
        return Err(TopologyError::malformed(format!("{name}: {what} 0; expected at least 1")));
    }
    if nodes > MAX_NODES {
        let message = format!("{name} of {nodes} hosts and switches; at most {MAX_NODES}");
        return Err(TopologyError::new(Problem::TooLarge(message)));
    }
    Ok(())
}

/// `a * b + ...` of counts, stopping at the largest `u64`.
fn product(factors: &[u32]) -> u64 {
    factors.iter().fold(1u64, |sum, factor| sum.saturating_mul(*factor as u64))
}

fn hosts(graph: &mut Graph, count: u32) -> Vec<Vertex> {
    (0..count).map(|_| graph.add_host()).collect()
}

fn switches(graph: &mut Graph, count: u32, latency: Span) -> Vec<Vertex> {
    (0..count).map(|_| graph.add_slow_switch(latency)).collect()
}

impl Star {
    /// The fabric `star:N`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        checked("star", &[("hosts", self.hosts)], self.hosts as u64 + 1)?;
        let mut graph = Graph::new();
        let switch = graph.add_switch();
        for host in hosts(&mut graph, self.hosts) {
            graph.link(host, switch, self.rate, self.propagation, self.loss)?;
        }
        Ok(graph.build()?.named(format!("star:{}", self.hosts)))
    }
}

impl Dumbbell {
    /// The fabric `dumbbell:LxR`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let sides = [("hosts on the left", self.left), ("hosts on the right", self.right)];
        checked("dumbbell", &sides, self.left as u64 + self.right as u64 + 2)?;
        let mut graph = Graph::new();
        let ends = switches(&mut graph, 2, Span::ZERO);
        for (number, host) in hosts(&mut graph, self.left + self.right).into_iter().enumerate() {
            let end = ends[(number as u32 >= self.left) as usize];
            graph.link(host, end, self.host_rate, self.host_propagation, self.loss)?;
        }
        let (rate, propagation) = (self.bottleneck_rate, self.bottleneck_propagation);
        graph.link(ends[0], ends[1], rate, propagation, self.loss)?;
        Ok(graph.build()?.named(format!("dumbbell:{}x{}", self.left, self.right)))
    }
}

impl ParkingLot {
    /// The fabric `parking-lot:K`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let count = self.bottlenecks;
        checked("parking-lot", &[("bottlenecks", count)], 3 * count as u64 + 3)?;
        let mut graph = Graph::new();
        let chain = switches(&mut graph, count + 1, Span::ZERO);
        let hosts = hosts(&mut graph, 2 * count + 2);
        let places = [0, count].into_iter().chain((0..count).flat_map(|i| [i, i + 1]));
        for (host, place) in hosts.iter().zip(places) {
            let switch = chain[place as usize];
            graph.link(*host, switch, self.host_rate, self.host_propagation, self.loss)?;
        }
        for pair in chain.windows(2) {
            let (rate, propagation) = (self.bottleneck_rate, self.bottleneck_propagation);
            graph.link(pair[0], pair[1], rate, propagation, self.loss)?;
        }
        Ok(graph.build()?.named(format!("parking-lot:{count}")))
    }
}

impl LeafSpine {
    /// The fabric `leaf-spine:LxSxH`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        self.with_latencies(Span::ZERO, Span::ZERO)
    }

    /// The same with switches that delay every packet: leaves by `leaf`, spines by `spine`.
    pub fn with_latencies(self, leaf: Span, spine: Span) -> Result<Fabric, TopologyError> {
        let counts = [
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("hosts per leaf", self.hosts_per_leaf),
            ("links in a bundle", self.bundle as u32),
        ];
        let nodes = product(&[self.leaves, self.hosts_per_leaf]);
        let nodes = nodes.saturating_add(self.leaves as u64 + self.spines as u64);
        checked("leaf-spine", &counts, nodes)?;
        let mut graph = Graph::new();
        let leaves = switches(&mut graph, self.leaves, leaf);
        let spines = switches(&mut graph, self.spines, spine);
        for leaf in &leaves {
            for host in hosts(&mut graph, self.hosts_per_leaf) {
                graph.link(host, *leaf, self.host_rate, self.host_propagation, self.loss)?;
            }
        }
        for leaf in &leaves {
            for spine in &spines {
                let (rate, propagation) = (self.uplink_rate, self.uplink_propagation);
                graph.bundle(*leaf, *spine, self.bundle, rate, propagation, self.loss)?;
            }
        }
        let name = format!("leaf-spine:{}x{}x{}", self.leaves, self.spines, self.hosts_per_leaf);
        Ok(graph.build()?.named(name))
    }
}

impl FatTree {
    /// The fabric `fat-tree:K`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        if self.k < 2 || self.k % 2 == 1 {
            let message = format!("fat-tree: {} ports per switch; expected an even number", self.k);
            return Err(TopologyError::malformed(message));
        }
        let half = self.k / 2;
        let three_tier = ThreeTier {
            pods: self.k,
            edges_per_pod: half,
            hosts_per_edge: half,
            aggregations_per_pod: half,
            cores_per_aggregation: half,
            edge_bundle: 1,
            core_bundle: 1,
            rates: [self.host_rate, self.uplink_rate, self.core_rate],
            propagations: [self.host_propagation, self.uplink_propagation, self.uplink_propagation],
            latencies: [Span::ZERO; 3],
            loss: self.loss,
        };
        Ok(three_tier.build()?.named(format!("fat-tree:{}", self.k)))
    }
}

impl ThreeTier {
    /// The fabric, named by its number of hosts.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let counts = [
            ("pods", self.pods),
            ("edge switches per pod", self.edges_per_pod),
            ("hosts per edge switch", self.hosts_per_edge),
            ("aggregation switches per pod", self.aggregations_per_pod),
            ("core switches per aggregation switch", self.cores_per_aggregation),
            ("links in an edge bundle", self.edge_bundle as u32),
            ("links in a core bundle", self.core_bundle as u32),
        ];
        let edges = product(&[self.pods, self.edges_per_pod]);
        let aggregations = product(&[self.pods, self.aggregations_per_pod]);
        let cores = product(&[self.aggregations_per_pod, self.cores_per_aggregation]);
        let hosts_in_all = edges.saturating_mul(self.hosts_per_edge as u64);
        let parts = [edges, aggregations, cores];
        let nodes = parts.into_iter().fold(hosts_in_all, u64::saturating_add);
        checked("three-tier", &counts, nodes)?;
        let mut graph = Graph::new();
        let edges = switches(&mut graph, edges as u32, self.latencies[0]);
        let aggregations = switches(&mut graph, aggregations as u32, self.latencies[1]);
        let cores = switches(&mut graph, cores as u32, self.latencies[2]);
        let [host_rate, edge_rate, core_rate] = self.rates;
        let [host_delay, edge_delay, core_delay] = self.propagations;
        for edge in &edges {
            for host in hosts(&mut graph, self.hosts_per_edge) {
                graph.link(host, *edge, host_rate, host_delay, self.loss)?;
            }
        }
        let pod_edges = edges.chunks(self.edges_per_pod as usize);
        let pods = pod_edges.zip(aggregations.chunks(self.aggregations_per_pod as usize));
        for (edges, aggregations) in pods {
            for edge in edges {
                for above in aggregations {
                    let bundle = self.edge_bundle;
                    graph.bundle(*edge, *above, bundle, edge_rate, edge_delay, self.loss)?;
                }
            }
            let core_groups = cores.chunks(self.cores_per_aggregation as usize);
            for (aggregation, cores) in aggregations.iter().zip(core_groups) {
                for core in cores {
                    let bundle = self.core_bundle;
                    graph.bundle(*aggregation, *core, bundle, core_rate, core_delay, self.loss)?;
                }
            }
        }
        Ok(graph.build()?.named(format!("three-tier:{hosts_in_all}")))
    }
}
