//! `leaf-spine`: two tiers.

use super::parts::{Size, checked, hosts, product, sum, switches};
use super::shape::{Count, Shape};
use crate::clos::Clos;
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `leaf-spine:8x8x48`.
pub(super) static SHAPE: Shape = Shape {
    name: "leaf-spine",
    counts: &[
        Count { symbol: "LEAVES", what: "leaves", least: 1 },
        Count { symbol: "SPINES", what: "spines", least: 1 },
        Count { symbol: "HOSTS", what: "hosts per leaf", least: 1 },
    ],
    doc: "HOSTS per leaf",
    example: "leaf-spine:8x8x48",
    uplinks: true,
    size: |counts| size([counts[0], counts[1], counts[2], 1]),
    build: |spec| {
        let [leaves, spines, hosts_per_leaf] = spec.counts();
        LeafSpine {
            leaves,
            spines,
            hosts_per_leaf,
            bundle: 1,
            host_rate: spec.links.rate,
            uplink_rate: spec.uplink_rate(hosts_per_leaf, spines),
            host_propagation: spec.links.propagation,
            uplink_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

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
    /// Propagation of the host links, one-way.
    pub host_propagation: Span,
    /// Propagation of the links between leaves and spines, one-way.
    pub uplink_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

/// Of leaves, spines, hosts per leaf and parallel links.
fn size([leaves, spines, hosts, bundle]: [u64; 4]) -> Size {
    let all = product(&[leaves, hosts]);
    let nodes = sum(&[all, leaves, spines]);
    Size { nodes, links: sum(&[all, product(&[leaves, spines, bundle])]) }
}

impl LeafSpine {
    /// How large it is.
    pub(crate) fn size(&self) -> Size {
        size([self.leaves, self.spines, self.hosts_per_leaf, self.bundle as u32].map(u64::from))
    }

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
        checked("leaf-spine", &counts, self.size())?;
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
        let clos = Clos {
            pods: 1,
            edges: self.leaves,
            hosts: self.hosts_per_leaf,
            aggregations: self.spines,
            cores: 0,
            edge_bundle: self.bundle as u32,
            core_bundle: 1,
        };
        Ok(graph.build_as(Some(clos))?.named(name))
    }
}
