//! `bcube`: servers that forward, joined by levels of switches (Guo et al., "BCube", SIGCOMM 2009).

use super::parts::{Size, checked, hosts, product, switches};
use super::shape::{Count, Shape};
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `bcube:4x2`.
pub(super) static SHAPE: Shape = Shape {
    name: "bcube",
    counts: &[
        Count { symbol: "PORTS", what: "ports of a switch", least: 2 },
        Count { symbol: "LEVELS", what: "levels of switches", least: 1 },
    ],
    doc: "servers that forward, each with a port at a switch of every level; shortest paths",
    example: "bcube:4x2",
    uplinks: false,
    size: |counts| size(counts[0], counts[1]),
    build: |spec| {
        let [ports, levels] = spec.counts();
        BCube {
            ports,
            levels,
            rate: spec.links.rate,
            propagation: spec.links.propagation,
            loss: spec.links.loss,
        }
        .build()
    },
};

fn power(base: u64, exponent: u64) -> u64 {
    base.saturating_pow(exponent.min(64) as u32)
}

fn size(ports: u64, levels: u64) -> Size {
    let (servers, of_level) = (power(ports, levels), power(ports, levels.saturating_sub(1)));
    let board = 2;
    Size {
        nodes: product(&[board, servers]).saturating_add(product(&[levels, of_level])),
        links: product(&[servers, levels.saturating_add(1)]),
    }
}

/// BCube: PORTS to the power of LEVELS servers, each with a port at one switch of each level and a switch on its
/// board. Two servers whose numbers, written to the base PORTS, differ in one digit are at the same switch of that
/// level. The link of a server to its board is as fast as its ports together, and has no propagation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BCube {
    /// Ports of a switch, at least 2.
    pub ports: u32,
    /// Levels of switches, ports of a server, at least 1.
    pub levels: u32,
    /// Rate of the links.
    pub rate: Rate,
    /// Propagation of the links, one-way.
    pub propagation: Span,
    /// Loss probability of every link but those on boards.
    pub loss: f64,
}

impl BCube {
    /// The fabric `bcube:PORTSxLEVELS`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let BCube { ports, levels, rate, propagation, loss } = self;
        let counts = [("ports", ports), ("levels", levels)];
        checked("bcube", &counts, size(ports.into(), levels.into()))?;
        let mut graph = Graph::new();
        let (all, of_level) = (ports.pow(levels), ports.pow(levels - 1));
        let servers = hosts(&mut graph, all);
        let boards = switches(&mut graph, all, Span::ZERO);
        let together = Rate(rate.0.saturating_mul(levels.into()));
        for (server, board) in servers.iter().zip(&boards) {
            graph.link(*server, *board, together, Span::ZERO, 0.0)?;
        }
        for level in 0..levels {
            let own = switches(&mut graph, of_level, Span::ZERO);
            let step = ports.pow(level);
            for (number, board) in (0..all).zip(&boards) {
                // The number without its digit of this level.
                let switch = number / (step * ports) * step + number % step;
                graph.link(*board, own[switch as usize], rate, propagation, loss)?;
            }
        }
        Ok(graph.build()?.named(format!("bcube:{ports}x{levels}")))
    }
}
