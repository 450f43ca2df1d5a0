//! One run, live.

use crate::scenario::{Files, fits, planned};
use crate::{Trouble, TroubleKind, shape, warning};
use incast_experiment::fault::one_of;
use incast_experiment::{Fault, Plan, Steps};
use incast_measure::Run;
use incast_sim::PortState;
use incast_transport::{Limit, Time};
use incast_workload::Start;
use serde_json::{Value, json};
use std::sync::Arc;

/// Events between two looks at the clock of whoever waits.
const BETWEEN_LOOKS: u64 = 100_000;

/// A run of the simulator that is advanced step by step.
pub struct Lab {
    steps: Steps,
    /// The ports as they were at an instant and number of events, for readers of several columns.
    ports: Option<(u64, u64, Vec<PortState>)>,
}

/// How far a run is: picoseconds, flows completed, flows, packets sent. The answer is whether to go
/// on.
pub type Progress<'a> = &'a mut dyn FnMut(u64, usize, usize, u64) -> bool;

impl Lab {
    /// Of a scenario's text and one of its transports, or the first.
    ///
    /// # Errors
    /// The scenario is wrong or too large, or has no such transport.
    pub fn new(toml: &str, transport: Option<&str>, files: &Files) -> Result<Lab, Trouble> {
        let plan = planned(toml, files)?;
        let labels: Vec<&str> = plan.cases.iter().map(|case| case.label.as_str()).collect();
        let case = match transport {
            None => 0,
            Some(name) => labels.iter().position(|label| *label == name).ok_or_else(|| {
                let problem = one_of(name, labels.iter().copied());
                Fault::value("transport.names", name, problem)
            })?,
        };
        Lab::of(Arc::new(plan), case)
    }

    /// Of a case of a plan.
    ///
    /// # Errors
    /// It is too large.
    pub fn of(plan: Arc<Plan>, case: usize) -> Result<Lab, Trouble> {
        fits(&plan)?;
        Ok(Lab { steps: Steps::new(plan, case)?, ports: None })
    }

    /// The plan that it runs.
    pub fn plan(&self) -> &Plan {
        self.steps.plan()
    }

    /// What it runs: `LabInfo` in `incast-web.d.ts`.
    pub fn info(&self) -> Value {
        let (plan, case) = (self.plan(), &self.plan().cases[self.steps.case()]);
        let site = &plan.site;
        let mtu = site.framing.charged_mtu();
        let buffer = match site.buffer {
            Limit::Bytes(bytes) => Some(bytes),
            Limit::Packets(packets) => Some(packets as u64 * mtu as u64),
            Limit::Unlimited => None,
        };
        json!({
            "label": case.title(),
            "title": incast_experiment::output::title(plan),
            "transports": case.transports.iter().map(|one| one.info.name).collect::<Vec<_>>(),
            "flows": plan.traffic.flows.len(),
            "hosts": plan.fabric.hosts(),
            "base_rtt_ps": site.base_rtt.0,
            "bdp_bytes": site.bdp_packets(site.host_rate) as u64 * mtu as u64,
            "mtu_bytes": mtu,
            "host_rate_bps": site.host_rate.0,
            "buffer_bytes": buffer,
            "until_ps": plan.scenario.run.until.map(|until| until.0),
            "warnings": warning::planned(&plan.warnings),
        })
    }

    /// Its network.
    pub fn fabric(&self) -> Value {
        shape::fabric(&self.plan().fabric, self.plan().site.base_rtt)
    }

    /// The index of each flow's transport among those of [`info`](Lab::info).
    pub fn flow_transports(&self) -> &[u16] {
        &self.plan().cases[self.steps.case()].transport_of
    }

    /// When each flow is to start; `None` if it waits for another.
    pub fn planned_starts(&self) -> impl Iterator<Item = Option<Time>> {
        self.plan().traffic.flows.iter().map(|flow| match flow.start {
            Start::At(at) => Some(at),
            Start::After { .. } | Start::Told => None,
        })
    }

    /// Runs at most `most` events before `until` picoseconds. Returns whether the run is over.
    pub fn step(&mut self, until: u64, most: u64) -> bool {
        self.steps.step(until, most)
    }

    /// Runs until `until` picoseconds or the end, and tells how far it is.
    ///
    /// # Errors
    /// `progress` says to stop.
    pub fn run_until(&mut self, until: u64, progress: Progress<'_>) -> Result<(), Trouble> {
        let flows = self.plan().traffic.flows.len();
        loop {
            let over = self.step(until, BETWEEN_LOOKS);
            let engine = self.engine();
            let on = progress(engine.now(), engine.completed(), flows, engine.hops());
            if over || engine.now() >= until {
                return Ok(());
            }
            if !on {
                return Err(Fault::new("stopped").into());
            }
        }
    }

    /// The run as it is now.
    pub fn engine(&mut self) -> &mut incast_sim::Steps {
        self.steps.engine()
    }

    /// Every port now, in order.
    pub fn ports(&mut self) -> &[PortState] {
        let engine = self.steps.engine();
        let at = (engine.now(), engine.events());
        if self.ports.as_ref().is_none_or(|known| (known.0, known.1) != at) {
            self.ports = Some((at.0, at.1, engine.ports()));
        }
        &self.ports.as_ref().expect("set above").2
    }

    /// Ends the run, where it is if it is not over.
    ///
    /// # Errors
    /// A transport that could not go on.
    pub fn finish(self) -> Result<Run, Trouble> {
        Ok(self.steps.finish()?)
    }
}

/// A run from its beginning to its end.
///
/// # Errors
/// It is too large, or `progress` says to stop.
pub(crate) fn run(plan: &Arc<Plan>, case: usize, progress: Progress<'_>) -> Result<Run, Trouble> {
    let mut lab = Lab::of(plan.clone(), case)?;
    lab.run_until(u64::MAX, progress)?;
    lab.finish()
}

impl Trouble {
    /// About a run of a folder that cannot be repeated.
    pub(crate) fn not_repeatable(fault: Fault) -> Trouble {
        Trouble { kind: TroubleKind::NotRepeatable, fault }
    }
}
