//! What a port does, worked out from policies once: which queue a packet joins, by which rule.

use super::schedule::Scheduler;
use incast_transport::{Discipline, Limit, Shaper};
use std::sync::Arc;

/// Most queues of a port.
pub(crate) const QUEUES: usize = 8;

/// What one transport wants for one of its classes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rule {
    pub queue: u8,
    /// What may wait in the queues of `counted` for a packet of this class to be admitted.
    pub limit: Limit,
    pub counted: u8,
    pub discipline: Discipline,
    /// Headers of trimmed packets that find no room go back to their source.
    pub returns: bool,
}

/// The rules for all packets. Most ports of a fabric have the same, and share them: so they stay
/// near.
#[derive(PartialEq, Debug)]
pub(crate) struct Rules {
    /// One a transport, indexed by packet class.
    pub policies: Vec<[Rule; QUEUES]>,
    /// Which of `policies` a transport has; the first one for transports without a policy.
    pub of_transport: [u8; 256],
}

/// A whole port.
pub(crate) struct Plan {
    pub rules: Arc<Rules>,
    /// Queues that are control.
    pub control: u8,
    /// Queues that send by what flows have left.
    pub ranked: u8,
    /// Token buckets of the queues.
    pub shapers: [Option<Shaper>; QUEUES],
    pub scheduler: Scheduler,
}
