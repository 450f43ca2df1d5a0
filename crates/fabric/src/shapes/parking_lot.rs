//! `parking-lot`: a chain of bottlenecks.

use super::parts::{Size, checked, hosts, switches};
use super::shape::{Count, Shape};
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `parking-lot:3`.
pub(super) static SHAPE: Shape = Shape {
    name: "parking-lot",
    counts: &[Count { symbol: "K", what: "bottlenecks", least: 1 }],
    doc: "a chain of K bottlenecks",
    example: "parking-lot:3",
    uplinks: true,
    size: |counts| Size { nodes: 3 * counts[0] + 3, links: 3 * counts[0] + 2 },
    build: |spec| {
        let [bottlenecks] = spec.counts();
        ParkingLot {
            bottlenecks,
            host_rate: spec.links.rate,
            // Two hosts at most send over one bottleneck: the long path's and its own.
            bottleneck_rate: spec.uplink_rate(2, 1),
            host_propagation: spec.links.propagation,
            bottleneck_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

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
    /// Propagation of the host links, one-way.
    pub host_propagation: Span,
    /// Propagation of the links between switches, one-way.
    pub bottleneck_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl ParkingLot {
    /// The fabric `parking-lot:K`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let count = self.bottlenecks;
        checked("parking-lot", &[("bottlenecks", count)], (SHAPE.size)(&[count as u64]))?;
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
