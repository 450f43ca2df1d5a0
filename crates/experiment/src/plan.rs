//! A resolved scenario: fabric, traffic, and transports with their configuration.

use crate::Fault;
use crate::custom::{self, Entry};
use crate::fault::one_of;
use crate::inputs::Inputs;
use crate::scenario::{DataPlane, Scenario};
use incast_egress::port::Join;
use incast_fabric::{Fabric, FixedPaths};
use incast_measure::Warning;
use incast_program::{Issue, Local, Program, compute_alone};
use incast_protocols::CATALOGUE;
use incast_transport::{FabricSite, Span, Time, Transport, TransportId};
use incast_workload::{Algorithm, CollectiveKind, Traffic};
use incast_world::{HostModel, Pfc, RunTransport, SharedBuffer};
use std::sync::Arc;

/// One run of a scenario: which transport carries what is not assigned otherwise.
#[derive(Clone)]
pub struct Case {
    /// What it is called: the transport's name.
    pub label: String,
    /// Every transport that occurs, the main one first.
    pub transports: Vec<RunTransport>,
    /// Index of each flow's transport.
    pub transport_of: Vec<u16>,
    /// Whose rule marks all ECN-capable packets.
    pub marking: Option<TransportId>,
}

impl Case {
    /// Its label in tables and reports: a run in which several transports carry flows is labelled so.
    pub fn title(&self) -> String {
        let carries = |at: &usize| self.transport_of.contains(&(*at as u16));
        let all = (0..self.transports.len()).filter(carries);
        let names: Vec<&str> = all.map(|at| self.transports[at].info.name).collect();
        match names.as_slice() {
            [] | [_] => self.label.clone(),
            several => format!("{} (mixed)", several.join(" + ")),
        }
    }

    /// Default number of flows whose throughput is recorded.
    pub fn watched(&self) -> u32 {
        if self.transports.len() > 1 { 128 } else { 8 }
    }
}

/// The shortest interval of time series.
pub const SHORTEST_INTERVAL: Span = Span::from_us(1);

/// A scenario resolved.
pub struct Plan {
    /// The scenario.
    pub scenario: Scenario,
    /// The network.
    pub fabric: Arc<Fabric>,
    /// Configuration that transports receive.
    pub site: Arc<FabricSite>,
    /// The flows, the same for every case.
    pub traffic: Traffic,
    /// Programs that ranks at hosts run, in the order of [`Traffic::programs`].
    pub(crate) jobs: Vec<Job>,
    /// The job of each collective of the traffic, by its number; empty of traffic of kind `collective`.
    pub(crate) collective_jobs: Vec<String>,
    /// The runs.
    pub cases: Vec<Case>,
    /// How transports share ports.
    pub join: Join,
    /// The files that were read.
    pub inputs: Inputs,
    /// One buffer per switch.
    pub shared: Option<SharedBuffer>,
    /// Priority-based flow control.
    pub pfc: Option<Arc<Pfc>>,
    /// What hosts take, if they are not ideal.
    pub(crate) hosts: Option<Arc<HostModel>>,
    /// Fixed paths of flows.
    pub paths: Option<Arc<FixedPaths>>,
    /// Warnings that affect how results may be interpreted.
    pub warnings: Vec<Warning>,
}

/// A transport of the catalogue by name, or the nearest name.
pub fn transport(name: &str, key: &str) -> Result<&'static dyn Transport, Fault> {
    incast_protocols::find(name).ok_or_else(|| {
        let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.info().name).collect();
        unknown(name, key, &names)
    })
}

/// A transport of the catalogue or a [registered](crate::custom) control by name, or the nearest
/// name.
pub fn entry(name: &str, key: &str) -> Result<Entry, Fault> {
    custom::find(name).ok_or_else(|| {
        let names = CATALOGUE.iter().map(|entry| entry.info().name);
        unknown(name, key, &names.chain(custom::names()).collect::<Vec<&str>>())
    })
}

fn unknown(name: &str, key: &str, known: &[&str]) -> Fault {
    Fault::value(key, name, one_of(name, known.iter().copied()))
}

impl Plan {
    /// How the data plane runs, if that is the plan's world.
    pub fn dataplane(&self) -> DataPlane {
        self.scenario.dataplane.clone().unwrap_or_default()
    }

    /// The number of the collective that a job is, if its ranks run no program.
    pub fn collective_of(&self, job: &str) -> Option<u32> {
        let found = self.collective_jobs.iter().position(|own| own == job && !own.is_empty());
        found.map(|number| number as u32)
    }

    /// The name of a collective's job; empty of traffic.
    pub fn job_of(&self, collective: u32) -> &str {
        self.collective_jobs.get(collective as usize).map_or("", String::as_str)
    }

    /// Programs: the name of the job, which is empty of traffic, and the file.
    pub fn programs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.jobs.iter().map(|job| (job.name.as_str(), job.program.file()))
    }

    /// When each iteration of a program would be over if messages took no time, from its beginning.
    pub fn alone(&self, program: u32) -> Vec<Span> {
        compute_alone(&self.jobs[program as usize].program)
    }

    /// When a program begins, and the hosts of its ranks.
    pub fn place_of(&self, program: u32) -> (Time, &[u32]) {
        let job = &self.jobs[program as usize];
        (job.at, &job.hosts)
    }

    /// Threads to run in.
    pub fn threads(&self) -> usize {
        self.scenario.run.world.threads(self.scenario.run.threads.0)
    }
}

/// A collective whose ranks run a program.
#[derive(Clone, Copy)]
pub struct JobCollective {
    /// What the ranks want.
    pub kind: CollectiveKind,
    /// How they get it.
    pub algorithm: Algorithm,
    /// Its size.
    pub bytes: u64,
}

/// A program and where it runs.
pub struct Job {
    /// What results call it; empty of traffic of kind `program`.
    pub name: String,
    /// Of a collective, what it is.
    pub collective: Option<JobCollective>,
    /// How messages within a server travel.
    pub local: Local,
    /// The longest computation of a rank before each iteration.
    pub compute: Span,
    /// What its ranks do.
    pub program: Arc<Program>,
    /// The host of each rank, a server where those have several NICs.
    pub hosts: Vec<u32>,
    /// When the ranks begin.
    pub at: Time,
    /// When sends start.
    pub issue: Issue,
}
