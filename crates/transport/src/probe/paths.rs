//! The paths that flows take, in runs that record them.

use super::Probe;
use crate::Stamps;
use crate::paths::PathTrace;
use crate::recoveries::COPY;
use incast_wire::FlowId;

impl Probe {
    /// From now on the [paths](Probe::takes_path) of the run's flows are recorded.
    pub fn record_paths(&mut self) {
        self.paths = Some(vec![PathTrace::default(); self.run]);
    }

    /// Whether paths are recorded.
    #[inline]
    pub fn records_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// A data packet that arrives has taken the path of this number. For each before
    /// [`arrives`](Probe::arrives), if paths are recorded.
    #[cold]
    pub fn takes_path(&mut self, flow: FlowId, stamps: &Stamps, path: u32) {
        let (place, number) = (self.place(flow), stamps.ordinal());
        let counts = !self.receivers[place].completed && number > 0 && number != COPY;
        if let Some(trace) =
            self.paths.as_mut().and_then(|all| all.get_mut(place)).filter(|_| counts)
        {
            trace.arrives(number, path);
        }
    }
}
