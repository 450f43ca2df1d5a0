//! A results folder whose run is repeated with a trace.

use crate::explanation::Explanation;
use crate::pauses::pausing_nodes;
use incast_experiment::fault::{expected, wrong};
use incast_experiment::scenario::{Hosts, Trace};
use incast_experiment::{
    Fault, Inputs, Monitor, Plan, Scenario, StoredResults, StoredRun, UnreadFile, World, execute,
};
use incast_fabric::{Fabric, NodeId, Routes};
use incast_measure::{Outline, Run, StoredFlows, StoredTable};
use incast_transport::{Span, Time};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Most events of the trace of an explanation.
const EVENTS_MOST: u64 = 4_000_000;
/// Columns that count what a flow does after its end, too: a spurious retransmission, late ACKs.
const COUNTED_ON: [&str; 9] = [
    "packets",
    "retransmits",
    "decisions",
    "decision_age_mean_ns",
    "decision_age_max_ns",
    "decisions_per_rtt",
    "control_packets",
    "control_bytes",
    "extension_bytes",
];
/// A pause is looked into if the flow waited for it this share of its completion time.
const PAUSED_LEAST: f64 = 0.05;

/// Which flows to explain.
#[derive(Clone, Debug)]
pub struct Selection {
    /// These.
    pub flows: Vec<u32>,
    /// Without these, so many of the slowest ones by slowdown; 1 or more.
    pub slowest: usize,
    /// Only of this transport, in a run of several.
    pub transport: Option<String>,
    /// Only of these sizes, in bytes: from the first to the second.
    pub sizes: Option<(u64, u64)>,
}

impl Default for Selection {
    /// The slowest flow.
    fn default() -> Selection {
        Selection { flows: vec![], slowest: 1, transport: None, sizes: None }
    }
}

/// The stored results of one run, and its scenario.
pub struct Results {
    run: StoredRun,
    scenario: Scenario,
    /// The flows as stored.
    pub stored: StoredFlows,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Written by this version.
    version: String,
    /// Its input files.
    inputs: Inputs,
}

/// A repeated run with its explanations.
pub struct Repeated {
    /// The run, with the trace of the selected flows.
    pub run: Run,
    /// One per flow.
    pub explanations: Vec<Explanation>,
}

/// Why the run of a manifest cannot be repeated packet by packet, if that is known from the manifest alone.
pub fn not_repeatable(outline: &Outline) -> Option<&'static str> {
    let processes = "made by several processes in real time: such a run cannot be repeated, and so not \
                     be explained; run its scenario with `run.world = \"sim\"`";
    let flows = "a run at flow level has no packets, and so nothing to explain: run its scenario with \
                 `run.world = \"sim\"`";
    match outline.scenario["run"]["world"] == World::Flow.name() {
        true => Some(flows),
        false => outline.processes.map(|_| processes),
    }
}

impl Results {
    /// Opens a results folder. In one of several transports `transport` says which run.
    ///
    /// # Errors
    /// There is no manifest, it is incomplete, the run cannot be repeated, an input file has changed,
    /// or the stored flows cannot be read.
    pub fn open(folder: &Path, transport: Option<&str>) -> Result<Results, Fault> {
        let place = folder.display().to_string();
        let results = StoredResults::open(folder)?;
        let recorded = &results.recorded;
        if let Some(problem) = not_repeatable(&recorded.outline) {
            return Err(Fault::new(problem).placed(place));
        }
        if let Some(changed) = recorded.changed_files().into_iter().next() {
            let problem = format!(
                "{changed}; the run cannot be repeated without the file as it was: restore it, or, to \
                 explain a run with what the file holds now, run `incast run {place} \
                 --allow-changed-files` first"
            );
            return Err(Fault::new(problem));
        }
        // In a run of several transports it selects flows.
        let transport = transport.filter(|_| results.runs.len() > 1);
        let run = results.run(transport).map_err(|fault| match transport {
            Some(_) => fault,
            None => fault.noted("or explain the difference of two with --between"),
        })?;
        let warning = recorded.warning().map(|notice| notice.text);
        let notes = warning.into_iter().chain(run.note()).collect();
        Ok(Results { notes, ..Results::of(&results, run, recorded.inputs())? })
    }

    /// One run of a results folder that has been opened, with its input files.
    ///
    /// # Errors
    /// The stored flows cannot be read.
    pub fn of(
        results: &StoredResults,
        run: &StoredRun,
        inputs: Inputs,
    ) -> Result<Results, UnreadFile> {
        let mut scenario = results.scenario.clone();
        scenario.transport.names = vec![run.transport.clone()];
        let version = results.recorded.outline.version.clone();
        let (run, stored) = (run.clone(), run.flows()?);
        Ok(Results { run, scenario, stored, notes: vec![], version, inputs })
    }

    /// The transport of the run.
    pub fn label(&self) -> &str {
        &self.run.transport
    }

    /// The flows that a selection is of, the slowest first.
    ///
    /// # Errors
    /// There is no such flow.
    pub fn select(&self, selection: &Selection) -> Result<Vec<u32>, Fault> {
        if selection.flows.is_empty() && selection.slowest == 0 {
            return Err(Fault::value("--slowest", 0, expected("1 or more")));
        }
        let count = self.stored.len();
        for flow in &selection.flows {
            if *flow as usize >= count {
                let problem = match count {
                    0 => wrong("the run has no flows"),
                    1 => expected("0, the only flow of the run"),
                    _ => expected(format!("0 to {}; the nearest is {}", count - 1, count - 1)),
                };
                return Err(Fault::value("--flow", flow, problem));
            }
        }
        if !selection.flows.is_empty() {
            return Ok(selection.flows.clone());
        }
        let of_transport = |flow: &usize| {
            selection.transport.as_ref().is_none_or(|wanted| {
                *wanted == self.run.transport
                    || self.stored.text("transport", *flow) == Some(wanted)
            })
        };
        let of_size = |flow: &usize| {
            let size = self.stored.integer("size_bytes", *flow).unwrap_or(0);
            selection.sizes.is_none_or(|(least, most)| (least..=most).contains(&size))
        };
        let mut found: Vec<(f64, u32)> = (0..count)
            .filter(|flow| of_transport(flow) && of_size(flow))
            .filter_map(|flow| Some((self.stored.float("slowdown", flow)?, flow as u32)))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        if found.is_empty() {
            let sizes: Vec<u64> =
                (0..count).filter_map(|flow| self.stored.integer("size_bytes", flow)).collect();
            let (least, most) = (sizes.iter().min(), sizes.iter().max());
            let problem = match (least, most) {
                (Some(least), Some(most)) => format!(
                    "no completed flow of {} is of that transport and size; its flows have {least} to \
                     {most} bytes",
                    self.run.name()
                ),
                _ => "the run has no flows".to_string(),
            };
            return Err(Fault::new(problem));
        }
        Ok(found.into_iter().take(selection.slowest).map(|(_, flow)| flow).collect())
    }

    /// Repeats the run with a trace of these flows and explains them. If a flow was held by pauses,
    /// the run is repeated once more, to see who held the links.
    ///
    /// # Errors
    /// The run is in real time, or the scenario is refused.
    pub fn explain(
        &self,
        flows: &[u32],
        threads: Option<usize>,
        monitor: &Monitor,
    ) -> Result<Repeated, Fault> {
        self.explain_by(flows, |plan| {
            let threads = threads.unwrap_or(plan.threads());
            Ok(execute(plan, &plan.cases[0], vec![], threads, monitor)?.0)
        })
    }

    /// The same; `run` runs the only case of a plan and keeps no hold of the plan.
    ///
    /// # Errors
    /// The run is in real time, the scenario is refused, or `run` fails.
    pub fn explain_by(
        &self,
        flows: &[u32],
        mut run: impl FnMut(&Arc<Plan>) -> Result<Run, Fault>,
    ) -> Result<Repeated, Fault> {
        let mut plan = self.plan()?;
        plan.scenario.output.trace = Some(on_paths(&plan, flows));
        let whole = plan.scenario.run.until;
        plan.scenario.run.until = self.known_at(flows, plan.site.base_rtt).or(whole);
        let cut = plan.scenario.run.until != whole;
        let mut plan = Arc::new(plan);
        let first = run(&plan)?;
        let mut explanations: Vec<Explanation> =
            flows.iter().map(|flow| Explanation::of(&first, *flow)).collect();
        for (explanation, flow) in explanations.iter_mut().zip(flows) {
            self.compare(&first, *flow, cut, explanation);
            if let Some(trace) = pausing_ports(&first, explanation) {
                let held = Arc::get_mut(&mut plan).expect("no run holds it");
                held.scenario.run.until = trace.until.or(whole);
                held.scenario.output.trace = Some(trace);
                explanation.add_holders(&run(&plan)?);
            }
        }
        Ok(Repeated { run: first, explanations })
    }

    /// The ideal completion time of an iteration of a collective, if it is stored.
    pub fn ideal_of_collective(&self, collective: u32, iteration: u32) -> Option<u64> {
        let table = self.run.table("collectives").ok()?;
        let column = |name| table.numbers(name).ok();
        let (number, own) = (column("collective")?, column("iteration")?);
        let wanted = (f64::from(collective), f64::from(iteration));
        let row = number.into_iter().zip(own).position(|found| found == wanted)?;
        let ns = *column("ideal_ns")?.get(row)?;
        ns.is_finite().then(|| (ns * 1e3).round() as u64)
    }

    /// A table of the run.
    pub(crate) fn table(&self, name: &str) -> Result<StoredTable, Fault> {
        Ok(self.run.table(name)?)
    }

    /// The plan that repeats the run.
    ///
    /// # Errors
    /// The run was in real time, or the scenario is refused.
    pub fn plan(&self) -> Result<Plan, Fault> {
        let plan = Plan::read(self.scenario.clone(), self.inputs.clone())?;
        if plan.scenario.run.world == World::DataPlane && plan.dataplane().clock.varies() {
            let problem = format!(
                "ran under the {} clock, in real time: no two such runs are equal, so it cannot be \
                 repeated and explained; run its scenario under the virtual clock",
                plan.dataplane().clock.name()
            );
            return Err(Fault::new(problem).placed(self.run.name()));
        }
        Ok(plan)
    }

    /// When all is known of these flows: the run that is repeated ends then. Nothing if one of them did not
    /// complete.
    fn known_at(&self, flows: &[u32], base_rtt: Span) -> Option<Span> {
        let end = |flow: &u32| {
            let stored = |column| self.stored.integer(column, *flow as usize);
            let took = stored("fct_ps")?.max(stored("sender_fct_ps").unwrap_or(0));
            stored("start_ps")?.checked_add(took)
        };
        let ends: Option<Vec<u64>> = flows.iter().map(end).collect();
        let last = ends?.into_iter().max()?;
        // The last ACKs are still on their way, as at the end of a run.
        Some(Span(last.saturating_add(4 * base_rtt.0).min(Time::HORIZON.0)))
    }

    /// Holds a repeated flow against what is stored; of a run that was `cut` at its end, what is counted on
    /// after it is left out.
    fn compare(&self, run: &Run, flow: u32, cut: bool, explanation: &mut Explanation) {
        explanation.notes.extend(self.notes.iter().cloned());
        let mut differs = self.stored.differences(run, flow as usize);
        differs.retain(|column| !(cut && COUNTED_ON.contains(column)));
        if differs.is_empty() {
            return;
        }
        let why = match self.version == incast_experiment::VERSION {
            true => "the program has changed without a new version number, or the file was edited",
            false => "another version of the program wrote it",
        };
        explanation.notes.push(format!(
            "the repeated flow is not the stored one: {} differ; {why}. The explanation is of the \
             repeated run",
            differs.join(", ")
        ));
    }
}

/// A trace of some flows at their hosts and at every port that their packets can take.
fn on_paths(plan: &Plan, flows: &[u32]) -> Trace {
    let fabric = &plan.fabric;
    let mut ports = BTreeSet::new();
    let mut hosts = BTreeSet::new();
    let whole = fabric.routes();
    // With failed links or fixed paths packets take other ports than the shortest paths.
    let all = !fabric.failures().is_empty() || plan.paths.is_some();
    for flow in flows {
        let spec = &plan.traffic.flows[*flow as usize];
        hosts.extend([spec.src, spec.dst]);
        for (from, to) in [(spec.src, spec.dst), (spec.dst, spec.src)] {
            reachable(fabric, &whole, from, to, &mut ports);
        }
    }
    if all {
        ports.extend(0..fabric.ports().len() as u32);
    }
    Trace {
        flows: flows.to_vec(),
        ports: ports.into_iter().map(|port| port.to_string()).collect(),
        hosts: Some(Hosts::listed(hosts)),
        from: Span::ZERO,
        until: None,
        limit: EVENTS_MOST,
    }
}

/// Adds the ports of all shortest paths from one host to another.
fn reachable(fabric: &Fabric, routes: &Routes, from: u32, to: u32, ports: &mut BTreeSet<u32>) {
    let first = fabric.host_port(from);
    let mut own = BTreeSet::from([first.0]);
    let mut front = vec![fabric.port(first).peer];
    while let Some(node) = front.pop() {
        if node == NodeId(to) {
            continue;
        }
        for port in routes.next(node, to) {
            if own.insert(port.0) {
                front.push(fabric.port(*port).peer);
            }
        }
    }
    ports.append(&mut own);
}

/// A trace of all packets in the switches that paused a link for which the flow waited, while it did.
fn pausing_ports(run: &Run, explanation: &Explanation) -> Option<Trace> {
    let fct = explanation.flow.fct_ps? as f64;
    let matters = |ps: u64| ps as f64 >= PAUSED_LEAST * fct;
    let long = explanation.pauses.iter().filter(|one| matters(one.paused_ps.max(one.waited_ps)));
    let pauses: Vec<_> = long.collect();
    let from = pauses.iter().map(|pause| pause.longest_at_ps).min()?;
    let until = pauses.iter().map(|pause| pause.longest_at_ps + 2 * pause.longest_ps).max()?;
    let nodes: BTreeSet<String> = pauses
        .iter()
        .flat_map(|pause| pausing_nodes(run, &pause.port, pause.longest_at_ps))
        .collect();
    let of_them = |name: &str| name.split("->").next().is_some_and(|node| nodes.contains(node));
    let ports = run.ports.iter().enumerate().filter(|(_, port)| of_them(&port.name));
    let ports: Vec<String> = ports
        .filter(|(_, port)| port.tier != "nic")
        .map(|(number, _)| number.to_string())
        .collect();
    // What waits at the beginning may leave only after the end of the pause.
    let until = until + run.base_rtt.0 + run.ports.len() as u64;
    (!ports.is_empty()).then(|| Trace {
        flows: vec![],
        ports,
        hosts: None,
        from: Span(from.saturating_sub(1)),
        until: Some(Span(until.min(Time::HORIZON.0))),
        limit: EVENTS_MOST,
    })
}
