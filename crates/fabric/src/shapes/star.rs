//! `star`: one switch.

use super::parts::{Size, checked, hosts};
use super::shape::{Count, Shape};
use crate::options::LinkDefaults;
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `star:16`.
pub(super) static SHAPE: Shape = Shape {
    name: "star",
    counts: &[Count { symbol: "HOSTS", what: "hosts", least: 2 }],
    doc: "hosts around one switch",
    example: "star:16",
    uplinks: false,
    size: |counts| Size { nodes: counts[0] + 1, links: counts[0] },
    build: |spec| {
        let [hosts] = spec.counts();
        let LinkDefaults { rate, propagation, loss } = spec.links;
        Star { hosts, rate, propagation, loss }.build()
    },
};

/// One switch with hosts around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Star {
    /// Number of hosts, at least 2.
    pub hosts: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation of every link, one-way.
    pub propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl Star {
    /// The fabric `star:N`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let size = (SHAPE.size)(&[self.hosts as u64]);
        checked("star", &[("hosts", self.hosts)], size)?;
        let mut graph = Graph::new();
        let switch = graph.add_switch();
        for host in hosts(&mut graph, self.hosts) {
            graph.link(host, switch, self.rate, self.propagation, self.loss)?;
        }
        Ok(graph.build()?.named(format!("star:{}", self.hosts)))
    }
}
