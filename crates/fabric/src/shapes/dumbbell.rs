//! `dumbbell`: two switches and a bottleneck.

use super::parts::{Size, checked, hosts, switches};
use super::shape::{Count, Shape};
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `dumbbell:3x2`.
pub(super) static SHAPE: Shape = Shape {
    name: "dumbbell",
    counts: &[
        Count { symbol: "LEFT", what: "hosts left", least: 1 },
        Count { symbol: "RIGHT", what: "hosts right", least: 1 },
    ],
    doc: "two switches and one link between them",
    example: "dumbbell:3x2",
    uplinks: true,
    size: |counts| {
        let hosts = counts[0] + counts[1];
        Size { nodes: hosts + 2, links: hosts + 1 }
    },
    build: |spec| {
        let [left, right] = spec.counts();
        Dumbbell {
            left,
            right,
            host_rate: spec.links.rate,
            bottleneck_rate: spec.uplink_rate(left.max(right), 1),
            host_propagation: spec.links.propagation,
            bottleneck_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

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
    /// Propagation of the host links, one-way.
    pub host_propagation: Span,
    /// Propagation of the link between the switches, one-way.
    pub bottleneck_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl Dumbbell {
    /// The fabric `dumbbell:LxR`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let sides = [("hosts on the left", self.left), ("hosts on the right", self.right)];
        checked("dumbbell", &sides, (SHAPE.size)(&[self.left as u64, self.right as u64]))?;
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
