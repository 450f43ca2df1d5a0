//! Three tiers with any counts, for importers and the fat-tree.

use super::parts::{Size, checked, hosts, product, sum, switches};
use crate::clos::Clos;
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

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
    /// Propagation of the same, one-way.
    pub propagations: [Span; 3],
    /// Latency of edge, aggregation and core switches.
    pub latencies: [Span; 3],
    /// Loss probability of every link.
    pub loss: f64,
}

impl ThreeTier {
    /// How large it is.
    pub(crate) fn size(&self) -> Size {
        let [pods, edges, hosts, aggregations, cores] = [
            self.pods,
            self.edges_per_pod,
            self.hosts_per_edge,
            self.aggregations_per_pod,
            self.cores_per_aggregation,
        ]
        .map(u64::from);
        let [edge_bundle, core_bundle] = [self.edge_bundle, self.core_bundle].map(u64::from);
        let all = product(&[pods, edges, hosts]);
        let switches = [&[pods, edges], &[pods, aggregations], &[aggregations, cores]];
        let low = product(&[pods, edges, aggregations, edge_bundle]);
        let high = product(&[pods, aggregations, cores, core_bundle]);
        Size {
            nodes: sum(&[all, sum(&switches.map(|counts| product(counts)))]),
            links: sum(&[all, low, high]),
        }
    }

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
        checked("three-tier", &counts, self.size())?;
        let (edges, aggregations) =
            (self.pods * self.edges_per_pod, self.pods * self.aggregations_per_pod);
        let cores = self.aggregations_per_pod * self.cores_per_aggregation;
        let mut graph = Graph::new();
        let edges = switches(&mut graph, edges, self.latencies[0]);
        let aggregations = switches(&mut graph, aggregations, self.latencies[1]);
        let cores = switches(&mut graph, cores, self.latencies[2]);
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
        let hosts_in_all = self.pods * self.edges_per_pod * self.hosts_per_edge;
        let clos = Clos {
            pods: self.pods,
            edges: self.edges_per_pod,
            hosts: self.hosts_per_edge,
            aggregations: self.aggregations_per_pod,
            cores: self.cores_per_aggregation,
            edge_bundle: self.edge_bundle as u32,
            core_bundle: self.core_bundle as u32,
        };
        Ok(graph.build_as(Some(clos))?.named(format!("three-tier:{hosts_in_all}")))
    }
}
