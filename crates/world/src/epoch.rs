//! Links that fail during a run.

use incast_fabric::{Fabric, PortId, Routes};
use std::sync::Arc;

/// What holds from an instant on at which links fail.
pub struct Epoch {
    /// The instant, picoseconds.
    pub at: u64,
    /// Routes without all that has failed by then.
    pub routes: Arc<Routes>,
    /// Ports whose link has failed by then.
    pub dead: Vec<PortId>,
}

/// The failures of a fabric, in order of time.
pub fn epochs(fabric: &Fabric) -> Vec<Epoch> {
    let mut times: Vec<_> = fabric.failures().iter().map(|failure| failure.at).collect();
    times.dedup();
    let epoch = |at| {
        let dead = fabric.dead_at(at);
        Epoch { at: at.0, routes: Arc::new(fabric.routes_without(&dead)), dead }
    };
    times.into_iter().map(epoch).collect()
}
