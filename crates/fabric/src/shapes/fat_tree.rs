//! `fat-tree`: three tiers of equal switches.

use super::parts::{Size, product, sum};
use super::shape::{Count, Shape};
use super::three_tier::ThreeTier;
use crate::{Fabric, TopologyError};
use incast_units::fault::wrong;
use incast_units::{Rate, Span};

/// `fat-tree:8`.
pub(super) static SHAPE: Shape = Shape {
    name: "fat-tree",
    counts: &[Count { symbol: "K", what: "ports per switch", least: 2 }],
    doc: "three tiers of K-port switches, K^3/4 hosts",
    example: "fat-tree:8",
    uplinks: true,
    size: |counts| {
        let (k, half) = (counts[0], counts[0] / 2);
        let hosts = product(&[k, half, half]);
        // Edge and aggregation switches of the pods, and the cores.
        let switches = sum(&[product(&[2, k, half]), product(&[half, half])]);
        Size { nodes: sum(&[hosts, switches]), links: product(&[3, hosts]) }
    },
    build: |spec| {
        let [k] = spec.counts();
        if k % 2 == 1 {
            return Err(spec.refused(format!("{k} ports per switch is odd")));
        }
        FatTree {
            k,
            host_rate: spec.links.rate,
            uplink_rate: spec.uplink_rate(1, 1),
            core_rate: spec.uplink_rate(1, 1),
            host_propagation: spec.links.propagation,
            uplink_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

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
    /// Propagation of the host links, one-way.
    pub host_propagation: Span,
    /// Propagation of the links above the edge switches, one-way.
    pub uplink_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl FatTree {
    /// The fabric `fat-tree:K`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        if self.k < 2 || self.k % 2 == 1 {
            let message =
                wrong(format!("fat-tree: {} ports per switch", self.k)).expected("an even number");
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
