//! `torus`: a grid that closes on itself in up to three dimensions.

use super::parts::{Size, checked, hosts, product, switches};
use super::shape::{Count, Shape};
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `torus:4x4x1`.
pub(super) static SHAPE: Shape = Shape {
    name: "torus",
    counts: &[
        Count { symbol: "X", what: "switches along x", least: 1 },
        Count { symbol: "Y", what: "switches along y", least: 1 },
        Count { symbol: "Z", what: "switches along z", least: 1 },
    ],
    doc: "a switch with a host at each place of a grid that closes on itself; shortest paths",
    example: "torus:4x4x1",
    uplinks: true,
    size: |counts| Size {
        nodes: product(&[2, counts[0], counts[1], counts[2]]),
        links: links([counts[0], counts[1], counts[2]]),
    },
    build: |spec| {
        let sides: [u32; 3] = spec.counts();
        let neighbours: u32 = sides.iter().map(|side| (side - 1).min(2)).sum();
        Torus {
            sides,
            host_rate: spec.links.rate,
            grid_rate: spec.uplink_rate(1, neighbours.max(1)),
            host_propagation: spec.links.propagation,
            grid_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

/// Links of the hosts and of the grid. Two switches of a side of two have one link.
fn links(sides: [u64; 3]) -> u64 {
    let all = product(&sides);
    let along = |side: &u64| match side {
        1 => 0,
        2 => all / 2,
        _ => all,
    };
    sides.iter().map(along).fold(all, u64::saturating_add)
}

/// Switches at the places of a grid whose sides close to rings, with a host each. Hosts and switches are
/// numbered along x first, then y, then z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    /// Switches along each side, at least 1; a side of 1 is none.
    pub sides: [u32; 3],
    /// Rate of the host links.
    pub host_rate: Rate,
    /// Rate of the links of the grid.
    pub grid_rate: Rate,
    /// Propagation of the host links, one-way.
    pub host_propagation: Span,
    /// Propagation of the links of the grid, one-way.
    pub grid_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl Torus {
    /// The fabric `torus:XxYxZ`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let [x, y, z] = self.sides;
        let counts = [("x", x), ("y", y), ("z", z)];
        checked("torus", &counts, (SHAPE.size)(&self.sides.map(u64::from)))?;
        let mut graph = Graph::new();
        let all = x * y * z;
        let hosts = hosts(&mut graph, all);
        let grid = switches(&mut graph, all, Span::ZERO);
        for (host, switch) in hosts.iter().zip(&grid) {
            graph.link(*host, *switch, self.host_rate, self.host_propagation, self.loss)?;
        }
        let place = |[a, b, c]: [u32; 3]| grid[((c * y + b) * x + a) as usize];
        for number in 0..all {
            let at = [number % x, number / x % y, number / (x * y)];
            for side in 0..3 {
                let length = self.sides[side];
                let mut next = at;
                next[side] = (at[side] + 1) % length;
                // Of two switches each is the other's next.
                if length == 1 || (length == 2 && at[side] == 1) {
                    continue;
                }
                let (rate, propagation) = (self.grid_rate, self.grid_propagation);
                graph.link(place(at), place(next), rate, propagation, self.loss)?;
            }
        }
        Ok(graph.build()?.named(format!("torus:{x}x{y}x{z}")))
    }
}
