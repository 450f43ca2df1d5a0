//! What may be said of the links of a topology.

use crate::error::TopologyError;
use crate::fabric::Fabric;
use crate::parts::LossBursts;
use incast_units::{Rate, Span, Time};
use std::ops::Range;

/// What links are like unless something else is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkDefaults {
    /// Rate of a link.
    pub rate: Rate,
    /// Propagation of a link, one-way.
    pub propagation: Span,
    /// Probability that a packet is lost on a link, 0 to less than 1.
    pub loss: f64,
}

/// A change of the links between two nodes, named as [`Fabric::node_named`] takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOverride {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// The rate, if it differs.
    pub rate: Option<Rate>,
    /// The one-way propagation, if it differs.
    pub propagation: Option<Span>,
    /// The loss probability, if it differs.
    pub loss: Option<f64>,
}

/// What may be said of a topology besides its counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Rate of links between switches.
    pub uplink_rate: Option<Rate>,
    /// Rate of the links of core switches, if it differs, of a `clos`.
    pub core_rate: Option<Rate>,
    /// Propagation of links between switches, one-way.
    pub uplink_propagation: Option<Span>,
    /// Host capacity under an edge switch over its uplink capacity, from which the rate of the
    /// uplinks follows, rounded down to a bit per second: 6 for "6:1". In a dumbbell the larger
    /// side counts. Not together with `uplink_rate`.
    pub oversubscription: Option<f64>,
    /// Links that differ.
    pub links: Vec<LinkOverride>,
    /// Links that lose packets in bursts, by their ends; each direction by itself.
    pub bursts: Vec<(LossBursts, String, String)>,
    /// Links that fail: from when until when, and between which nodes (the first link of a bundle).
    pub failures: Vec<(Range<Time>, String, String)>,
}

impl Fabric {
    /// Applies the links that differ and those that fail. Errors name the node or link that does
    /// not exist.
    pub fn change_links(&mut self, options: &Options) -> Result<(), TopologyError> {
        for change in &options.links {
            let (a, b) = (self.node_named(&change.a)?, self.node_named(&change.b)?);
            self.change_link(a, b, change.rate, change.propagation, change.loss)?;
        }
        for (bursts, a, b) in &options.bursts {
            let (a, b) = (self.node_named(a)?, self.node_named(b)?);
            self.lose_in_bursts(a, b, *bursts)?;
        }
        for (down, a, b) in &options.failures {
            let (a, b) = (self.node_named(a)?, self.node_named(b)?);
            self.fail_link(down.clone(), a, b, 0)?;
        }
        Ok(())
    }
}
