//! The worlds in which a network can run: one interface to both.

use crate::scenario::{DataPlane, Scenario};
use crate::testbed::{self, Ran};
use crate::{Fault, Plan};
use incast_world::{Monitor, Setup};

/// What runs a network. Records and captures do not depend on it unless the data plane's clock is
/// real time, apart from [`RunRecord::events`](incast_transport::RunRecord::events), which are
/// events of the simulator and frames of the data plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum World {
    /// The event simulator.
    #[default]
    Sim,
    /// The data plane: hosts and software switches that exchange encoded frames, in one thread.
    DataPlane,
}

impl World {
    /// Every world by name.
    pub const NAMES: [(&'static str, World); 2] =
        [("sim", World::Sim), ("dataplane", World::DataPlane)];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = World::NAMES.iter().find(|(_, world)| *world == self);
        found.map(|(name, _)| *name).expect("every world has a name")
    }

    /// Most threads that it runs in.
    fn most_threads(self) -> usize {
        match self {
            World::Sim => usize::MAX,
            World::DataPlane => 1,
        }
    }

    /// Threads to run in: as many as requested, or as there are cores, but no more than it can use.
    pub fn threads(self, requested: Option<usize>) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        requested.unwrap_or_else(cores).min(self.most_threads())
    }

    /// In words, with how the data plane runs.
    pub fn words(self, dataplane: &DataPlane) -> String {
        match self {
            World::Sim => "the simulator".into(),
            World::DataPlane => {
                let (backend, clock) = (dataplane.backend.name(), dataplane.clock.name());
                format!("the data plane, {backend} backend, {clock} clock")
            }
        }
    }

    /// Refuses unsupported settings with key, value and reason.
    pub fn check(self, scenario: &Scenario) -> Result<(), Fault> {
        if let (World::DataPlane, Some(settings)) = (self, &scenario.dataplane) {
            testbed::check(settings)?;
        }
        match scenario.run.threads.0 {
            Some(requested) if requested > self.most_threads() => Err(Fault::value(
                "run.threads",
                requested,
                "the data plane runs in one thread (run.world = `dataplane`): expected 1 or `auto`",
            )),
            _ => Ok(()),
        }
    }

    /// Runs a setup of a plan to its end. `monitor` receives the progress of the run and can stop
    /// it.
    pub(crate) fn run(
        self,
        plan: &Plan,
        setup: Setup,
        threads: usize,
        monitor: &Monitor,
    ) -> Result<Ran, Fault> {
        match self {
            World::Sim => {
                let (record, captured) = incast_sim::run(setup, threads, monitor);
                Ok(Ran { record, captured, fidelity: None })
            }
            World::DataPlane => testbed::run(&plan.dataplane(), setup, monitor),
        }
    }
}
