//! The worlds in which a network can run: one interface to all.

use crate::fault::wrong;
use crate::scenario::{DataPlane, Job, Scenario, Traffic, World};
use crate::testbed::{self, Ran};
use crate::{Fault, Plan, flow_level};
use incast_world::{Monitor, Setup};

impl World {
    /// Most threads that it runs in.
    fn most_threads(self) -> usize {
        match self {
            World::Sim => usize::MAX,
            World::DataPlane | World::Flow => 1,
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
            World::Flow => "the world of flows, without packets".into(),
        }
    }

    /// Refuses unsupported settings with key, value and reason.
    pub fn check(self, scenario: &Scenario) -> Result<(), Fault> {
        match (self, &scenario.dataplane) {
            (World::DataPlane, Some(settings)) => testbed::check(settings)?,
            (World::Flow, _) => flow_level::check(scenario)?,
            _ => {}
        }
        let program = |entry: &Traffic| matches!(entry, Traffic::Program(_));
        let programs =
            scenario.traffic.iter().any(program) || scenario.job.iter().any(Job::executes);
        if let (World::DataPlane | World::Flow, true) = (self, programs) {
            let problem = wrong(
                "programs (traffic of kind `program`, jobs with `program` or `server`) run in the simulator only",
            )
            .expected("`sim`");
            return Err(Fault::value("run.world", self.name(), problem));
        }
        if let (World::Sim | World::DataPlane, Some(flows)) = (self, scenario.run.against_packets) {
            let problem =
                wrong("this world runs packets").expected("run.world = `flow`, or no such key");
            return Err(Fault::value("run.against_packets", flows, problem));
        }
        let one = if self == World::Flow { "flow level" } else { "the data plane" };
        match scenario.run.threads.0 {
            Some(requested) if requested > self.most_threads() => Err(Fault::value(
                "run.threads",
                requested,
                wrong(format!("{one} runs in one thread (run.world = `{}`)", self.name()))
                    .expected("1 or `auto`"),
            )),
            _ => Ok(()),
        }
    }

    /// Runs a setup of packets to its end. `monitor` receives the progress of the run and can stop
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
            World::Flow => unreachable!("no setup of packets is made for it"),
        }
    }
}
