//! What a port does, worked out from policies once: which queue a packet joins, by which rule.

use super::schedule::Scheduler;
use incast_transport::{Discipline, Limit, Shaper};

/// Most queues of a port.
pub(crate) const QUEUES: usize = 8;

/// What one transport wants for one of its classes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub queue: u8,
    /// What may wait in the queue for a packet of this class to be admitted.
    pub limit: Limit,
    pub discipline: Discipline,
    /// Headers of trimmed packets that find no room go back to their source.
    pub returns: bool,
}

/// What one transport wants.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Indexed by packet class.
    pub rules: [Rule; QUEUES],
    /// Queues of this transport's push-out classes.
    pub push_out: u8,
}

/// A whole port.
pub(crate) struct Plan {
    /// One a transport.
    pub policies: Vec<Rules>,
    /// Which of `policies` a transport has; the first one for strangers.
    pub of_transport: Box<[u8; 256]>,
    /// Queues that are control.
    pub control: u8,
    /// Token buckets of the queues.
    pub shapers: [Option<Shaper>; QUEUES],
    pub scheduler: Scheduler,
}
