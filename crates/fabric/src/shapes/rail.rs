//! `rail`: servers whose NICs each have a switch of their own.

use super::parts::{Size, checked, product, sum, switches};
use super::shape::{Count, Shape};
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `rail:2x8x4x4`.
pub(super) static SHAPE: Shape = Shape {
    name: "rail",
    counts: &[
        Count { symbol: "PODS", what: "pods", least: 1 },
        Count { symbol: "SERVERS", what: "servers per pod", least: 1 },
        Count { symbol: "RAILS", what: "NICs per server", least: 1 },
        Count { symbol: "SPINES", what: "spines", least: 1 },
    ],
    doc: "PODS of SERVERS with RAILS NICs, the n-th of each server at the n-th switch of its pod; SPINES above",
    example: "rail:2x8x4x4",
    uplinks: true,
    size: |counts| {
        let [pods, servers, rails, spines] = [counts[0], counts[1], counts[2], counts[3]];
        let (nics, leaves) = (product(&[pods, servers, rails]), product(&[pods, rails]));
        Size {
            nodes: sum(&[nics, leaves, spines]),
            links: sum(&[nics, product(&[leaves, spines])]),
        }
    },
    build: |spec| {
        let [pods, servers, rails, spines] = spec.counts();
        Rail {
            pods,
            servers,
            rails,
            spines,
            host_rate: spec.links.rate,
            uplink_rate: spec.uplink_rate(servers, spines),
            host_propagation: spec.links.propagation,
            uplink_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

/// Servers with several NICs, each of which is a host. The n-th NIC of every server of a pod is at the pod's
/// n-th switch, and each of these at every spine. Hosts are numbered server by server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rail {
    /// Number of pods, at least 1.
    pub pods: u32,
    /// Servers per pod, at least 1.
    pub servers: u32,
    /// NICs per server, and switches per pod, at least 1.
    pub rails: u32,
    /// Number of spines, at least 1.
    pub spines: u32,
    /// Rate of the links of NICs.
    pub host_rate: Rate,
    /// Rate of the links between switches.
    pub uplink_rate: Rate,
    /// Propagation of the links of NICs, one-way.
    pub host_propagation: Span,
    /// Propagation of the links between switches, one-way.
    pub uplink_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl Rail {
    /// The fabric `rail:PxSxRxN`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let Rail { pods, servers, rails, spines, .. } = self;
        let counts = [
            ("pods", pods),
            ("servers per pod", servers),
            ("NICs per server", rails),
            ("spines", spines),
        ];
        let size = (SHAPE.size)(&[pods, servers, rails, spines].map(u64::from));
        checked("rail", &counts, size)?;
        let mut graph = Graph::new();
        let leaves = switches(&mut graph, pods * rails, Span::ZERO);
        let top = switches(&mut graph, spines, Span::ZERO);
        for pod in leaves.chunks(rails as usize) {
            for _ in 0..servers {
                for (number, leaf) in pod.iter().enumerate() {
                    let nic = if number == 0 { graph.add_host() } else { graph.add_nic() };
                    graph.link(nic, *leaf, self.host_rate, self.host_propagation, self.loss)?;
                }
            }
        }
        for leaf in &leaves {
            for spine in &top {
                let (rate, propagation) = (self.uplink_rate, self.uplink_propagation);
                graph.link(*leaf, *spine, rate, propagation, self.loss)?;
            }
        }
        Ok(graph.build()?.named(format!("rail:{pods}x{servers}x{rails}x{spines}")))
    }
}
