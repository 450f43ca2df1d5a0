//! The worlds in which a network can run: one interface to both.

use crate::Fault;
use incast_transport::RunRecord;
use incast_world::{Captured, Monitor, Setup};

/// What runs a network. Records and captures do not depend on it, apart from
/// [`RunRecord::events`], which are events of the simulator and frames of the data plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum World {
    /// The event simulator.
    #[default]
    Sim,
    /// The data plane: hosts and software switches that exchange encoded frames, in memory and
    /// under a virtual clock, in one thread.
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

    /// Refuses unsupported settings with key, value and reason.
    pub fn check(self, threads: Option<usize>) -> Result<(), Fault> {
        match threads {
            Some(requested) if requested > self.most_threads() => Err(Fault::value(
                "run.threads",
                requested,
                "the data plane runs in one thread (run.world = `dataplane`): expected 1 or `auto`",
            )),
            _ => Ok(()),
        }
    }

    /// Runs a setup to its end and returns the record and the captured packets. `monitor`
    /// receives the progress of the run and can stop it.
    pub fn run(
        self,
        setup: Setup,
        threads: usize,
        monitor: &Monitor,
    ) -> (RunRecord, Vec<Captured>) {
        match self {
            World::Sim => incast_sim::run(setup, threads, monitor),
            World::DataPlane => incast_dataplane::run(setup, monitor),
        }
    }
}
