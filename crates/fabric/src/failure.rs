//! Links that fail during a run, and work again.

use crate::error::{Problem, TopologyError};
use crate::fabric::Fabric;
use crate::parts::{Failure, NodeId, PortId, Tier};
use incast_units::Time;
use std::ops::Range;

impl Fabric {
    /// The failures of this run, in the order of their times.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The instants at which links fail or work again, ascending, each once.
    pub fn link_changes(&self) -> Vec<Time> {
        let ends = self.failures.iter().flat_map(|failure| [failure.at, failure.until]);
        let mut times: Vec<Time> = ends.filter(|time| *time != Time::NEVER).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// Every port, both directions, whose link is down at `at`, ascending. A link is down from the
    /// instant of its failure until just before that of its repair.
    pub fn dead_at(&self, at: Time) -> Vec<PortId> {
        let down = |failure: &&Failure| failure.at <= at && at < failure.until;
        let failed = self.failures.iter().filter(down);
        let mut dead: Vec<PortId> = failed.flat_map(|one| [one.port, one.reverse]).collect();
        dead.sort_unstable();
        dead.dedup();
        dead
    }

    /// Lets link number `parallel` of the bundle between `a` and `b` (0 for a single link) fail at
    /// the start of `down` and work again at its end. Errors when there is no such link.
    pub fn fail_link(
        &mut self,
        down: Range<Time>,
        a: NodeId,
        b: NodeId,
        parallel: u32,
    ) -> Result<(), TopologyError> {
        let Some(port) = self.ports_between(a, b).get(parallel as usize).copied() else {
            let (a, mut b) = (self.node_name(a), self.node_name(b));
            if parallel > 0 {
                b = format!("{b} (number {parallel} of a bundle, counted from 0)");
            }
            return Err(TopologyError::new(Problem::NoSuchLink(a, b)));
        };
        self.fail_port(down, port)
    }

    /// Lets the link behind `port` fail at the start of `down` and work again at its end. Errors when
    /// the fabric is too large for routing tables. Panics when there is no such port.
    pub fn fail_port(&mut self, down: Range<Time>, port: PortId) -> Result<(), TopologyError> {
        self.check_tables()?;
        let (at, until) = (down.start, down.end);
        let failure = Failure { at, until, port, reverse: self.port(port).reverse };
        let place = self.failures.partition_point(|other| other.at <= at);
        self.failures.insert(place, failure);
        Ok(())
    }

    /// The `link`-th upward port of the `index`-th switch of a tier, or of a core switch its
    /// `link`-th port. This is how htsim's connection matrices name a failed link. Errors name
    /// the accepted range.
    pub fn switch_link(&self, tier: Tier, index: u32, link: u32) -> Result<PortId, TopologyError> {
        let of_tier = |node: &u32| self.tiers[*node as usize] == tier;
        let switches: Vec<u32> = (self.hosts..self.nodes()).filter(of_tier).collect();
        let Some(node) = switches.get(index as usize) else {
            let message = match switches.len() {
                0 => format!("`{}` has no {tier:?} switches", self.name),
                n => format!("switch_id {index}: {tier:?} switches are 0 to {}", n - 1),
            };
            return Err(TopologyError::malformed(message));
        };
        let mut ports: Vec<PortId> = self
            .ports_of(NodeId(*node))
            .map(PortId)
            .filter(|port| self.port(*port).upward || tier == Tier::Core)
            .collect();
        ports.sort_by_key(|port| (self.parallel[port.0 as usize], self.port(*port).peer, *port));
        ports.get(link as usize).copied().ok_or_else(|| {
            TopologyError::malformed(match ports.len() {
                0 => format!("{} has no upward links", self.node_name(NodeId(*node))),
                n => format!("link_id {link}: this switch has links 0 to {}", n - 1),
            })
        })
    }
}
