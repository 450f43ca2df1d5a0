//! The generic egress port: what the [`Policy`] of one or several transports needs, as one
//! [`Port`].
//!
//! A port has at most eight queues, each an intrusive [`Fifo`] through the packets themselves, and
//! decides three things with three small parts: `discipline` whether a packet may wait, `schedule`
//! and `shaper` which leaves next, `transmitter` what its markers see and when the link is free
//! again. A single transport with at most two strict drop-tail classes gets [`StrictPort`], one whose
//! headers and data share the link by weight gets [`Pair`]: they do the same with less to look at,
//! and tests hold them against it.

mod classed;
mod conflict;
mod fifo;
mod join;
mod pair;
mod plan;
mod remaining;
mod schedule;
mod shaper;
mod split;
mod strict;
#[cfg(test)]
mod tests;
mod transmitter;

pub use classed::Classed;
pub use conflict::{PolicyConflict, Remedy};
pub use fifo::Fifo;
pub use join::Join;
pub use pair::Pair;
pub use schedule::Scheduler;
pub use shaper::TokenBucket;
pub use split::{check_queues, splits};
pub use strict::StrictPort;

use incast_transport::{ClassPolicy, Policy, Port, PortSite, Schedule, TransportId, TransportSet};
use plan::Rules;
use std::sync::Arc;
use transmitter::{PlacedMarker, Transmitter};

/// One transport's rule for the ECN-capable packets (RFC 3168) of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marking {
    /// Whose markers judge; markers of other transports that set CE are left out.
    pub rule: TransportId,
    /// Whose packets they judge beside its own.
    pub over: TransportSet,
}

/// A port for all `policies`, joined as [`Join::Shared`]. Without any policy it is
/// one drop-tail queue of the site's buffer.
///
/// # Errors
/// When no port can satisfy all of them, or one of them is impossible.
pub fn build(policies: Vec<Policy>, site: &PortSite) -> Result<Box<dyn Port>, PolicyConflict> {
    build_joined(policies, Join::Shared, site)
}

/// A port for all `policies`, joined as `join` says.
///
/// # Errors
/// When no port can satisfy all of them, or one of them is impossible.
pub fn build_joined(
    policies: Vec<Policy>,
    join: Join,
    site: &PortSite,
) -> Result<Box<dyn Port>, PolicyConflict> {
    Builder::new(join).build(policies, site)
}

/// Makes the ports of a fabric: those with the same rules share them.
pub struct Builder {
    join: Join,
    marking: Option<Marking>,
    queues: Arc<[Schedule]>,
    known: Vec<Arc<Rules>>,
}

/// Kinds of ports that are remembered.
const KINDS: usize = 16;

impl Builder {
    /// For ports joined as `join` says, in which each transport's packets are marked by its own
    /// rule.
    pub fn new(join: Join) -> Builder {
        Builder { join, marking: None, queues: Arc::new([]), known: vec![] }
    }

    /// The same, but at switches CE is set by one rule, if there is any.
    pub fn marking(self, marking: Option<Marking>) -> Builder {
        Builder { marking, ..self }
    }

    /// The same, but at switches the data of each transport is in these queues, if there are any: class
    /// 1 in the first.
    pub fn queues(self, queues: Arc<[Schedule]>) -> Builder {
        Builder { queues, ..self }
    }

    /// The next port, see [`build_joined`].
    ///
    /// # Errors
    /// When no port can satisfy all of them, or one of them is impossible.
    pub fn build(
        &mut self,
        mut policies: Vec<Policy>,
        site: &PortSite,
    ) -> Result<Box<dyn Port>, PolicyConflict> {
        if policies.is_empty() {
            policies.push(Policy {
                transport: TransportId(0),
                classes: vec![ClassPolicy::fifo(site.buffer)],
                markers: vec![],
            });
        }
        let split = !site.nic && !self.queues.is_empty();
        if split {
            policies.iter_mut().try_for_each(|policy| split::split(policy, &self.queues))?;
        }
        let mut plan = join::plan(&policies, self.join)?;
        match self.known.iter().find(|rules| **rules == plan.rules) {
            Some(known) => plan.rules = known.clone(),
            None if self.known.len() < KINDS => self.known.push(plan.rules.clone()),
            None => {}
        }
        if let [only] = &policies[..]
            && Pair::suits(only)
        {
            return Ok(Box::new(Pair::new(only)));
        }
        let marking = self.marking.filter(|_| !site.nic);
        let markers = policies.iter_mut().flat_map(|policy| markers_of(policy, marking));
        let transmitter = Transmitter::new(markers, site);
        if let [only] = &policies[..]
            && StrictPort::suits(&only.classes)
        {
            return Ok(Box::new(StrictPort::new(&only.classes, transmitter)));
        }
        if split {
            return Ok(Box::new(Classed::<true>::new(plan, transmitter)));
        }
        Ok(Box::new(Classed::<false>::new(plan, transmitter)))
    }
}

/// The markers of a policy, each with those whose packets it may rewrite.
fn markers_of(
    policy: &mut Policy,
    marking: Option<Marking>,
) -> impl Iterator<Item = PlacedMarker> + '_ {
    let transport = policy.transport;
    policy.markers.drain(..).filter_map(move |marker| match marking {
        Some(Marking { rule, over }) if marker.sets_ce() => {
            (transport == rule).then(|| PlacedMarker::new(marker, transport, Some(over)))
        }
        _ => Some(PlacedMarker::new(marker, transport, None)),
    })
}
