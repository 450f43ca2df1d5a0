//! What builders of shapes share.

use crate::graph::MAX_NODES;
use crate::{Graph, Problem, TopologyError, Vertex};
use incast_units::Span;

/// Refuses a count of zero, and more than fits before anything is allocated.
pub(super) fn checked(
    name: &str,
    factors: &[(&str, u32)],
    nodes: u64,
) -> Result<(), TopologyError> {
    if let Some((what, _)) = factors.iter().find(|(_, count)| *count == 0) {
        return Err(TopologyError::malformed(format!("{name}: {what} 0; expected at least 1")));
    }
    if nodes > MAX_NODES {
        let message = format!("{name} of {nodes} hosts and switches; at most {MAX_NODES}");
        return Err(TopologyError::new(Problem::TooLarge(message)));
    }
    Ok(())
}

/// `a * b + ...` of counts, stopping at the largest `u64`.
pub(super) fn product(factors: &[u32]) -> u64 {
    factors.iter().fold(1u64, |sum, factor| sum.saturating_mul(*factor as u64))
}

/// Adds so many hosts.
pub(super) fn hosts(graph: &mut Graph, count: u32) -> Vec<Vertex> {
    (0..count).map(|_| graph.add_host()).collect()
}

/// Adds so many switches of this latency.
pub(super) fn switches(graph: &mut Graph, count: u32, latency: Span) -> Vec<Vertex> {
    (0..count).map(|_| graph.add_slow_switch(latency)).collect()
}
