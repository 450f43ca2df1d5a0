//! One case of a plan, run step by step in the simulator.

use crate::described::describe;
use crate::setup::{begin, ended};
use crate::{Fault, Plan};
use incast_measure::Run;
use incast_world::{Monitor, TraceLog};
use std::sync::Arc;

/// A case that is run in one thread, step by step, and can be looked at in between. Its record is that
/// of [`execute`](crate::execute).
pub struct Steps {
    plan: Arc<Plan>,
    case: usize,
    engine: incast_sim::Steps,
    log: Option<Arc<TraceLog>>,
    monitor: Monitor,
}

impl Steps {
    /// At the start of the run of a case of the plan.
    ///
    /// # Errors
    /// The world cannot be made, or what is to be traced does not exist.
    pub fn new(plan: Arc<Plan>, case: usize) -> Result<Steps, Fault> {
        let monitor = Monitor::default();
        let (setup, log) = begin(&plan, &plan.cases[case], vec![], &monitor)?;
        Ok(Steps { engine: incast_sim::Steps::new(setup), plan, case, log, monitor })
    }

    /// Runs at most `most` events before `until` picoseconds. Returns whether the run is over.
    pub fn step(&mut self, until: u64, most: u64) -> bool {
        self.monitor.stopped() || self.engine.step(until, most) || self.monitor.stopped()
    }

    /// The plan that it is of.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of the case.
    pub fn case(&self) -> usize {
        self.case
    }

    /// The run as it is now.
    pub fn engine(&mut self) -> &mut incast_sim::Steps {
        &mut self.engine
    }

    /// Ends the run, where it is if it is not over.
    ///
    /// # Errors
    /// A transport that could not go on.
    pub fn finish(self) -> Result<Run, Fault> {
        let (record, _) = self.engine.finish(self.monitor.stopped());
        let case = &self.plan.cases[self.case];
        let record = ended(case, record, self.log)?;
        Ok(describe(&self.plan, case, record, None, 1, None))
    }
}
