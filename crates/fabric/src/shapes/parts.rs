//! What builders of shapes share.

use crate::graph::{MAX_LINKS, MAX_NODES};
use crate::{Graph, Problem, TopologyError, Vertex};
use incast_units::Span;
use incast_units::fault::wrong;

/// Refuses a count of zero, and more than fits before anything is allocated.
pub(super) fn checked(
    name: &str,
    factors: &[(&str, u32)],
    size: Size,
) -> Result<(), TopologyError> {
    if let Some((what, _)) = factors.iter().find(|(_, count)| *count == 0) {
        return Err(TopologyError::malformed(
            wrong(format!("{name}: {what} 0")).expected("at least 1"),
        ));
    }
    let too_large = |message: String| Err(TopologyError::new(Problem::TooLarge(message)));
    let Size { nodes, links } = size;
    if nodes > MAX_NODES {
        return too_large(format!("{name} of {nodes} hosts and switches; at most {MAX_NODES}"));
    }
    if links > MAX_LINKS {
        return too_large(format!("{name} of {links} links; at most {MAX_LINKS}"));
    }
    Ok(())
}

/// How large a fabric is; at most the largest `u64` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts and switches.
    pub nodes: u64,
    /// Links, each of two ports.
    pub links: u64,
}

/// A product of counts, stopping at the largest `u64`.
pub(super) fn product(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |product, factor| product.saturating_mul(*factor))
}

/// Adds so many hosts.
pub(super) fn hosts(graph: &mut Graph, count: u32) -> Vec<Vertex> {
    (0..count).map(|_| graph.add_host()).collect()
}

/// Adds so many switches of this latency.
pub(super) fn switches(graph: &mut Graph, count: u32, latency: Span) -> Vec<Vertex> {
    (0..count).map(|_| graph.add_slow_switch(latency)).collect()
}

/// A sum, stopping at the largest `u64`.
pub(super) fn sum(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(*part))
}
