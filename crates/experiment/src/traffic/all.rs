//! All flows of a scenario.

use super::{Context, Entry, Flows};
use crate::fault::wrong;
use crate::inputs::Inputs;
use crate::placement::check_hosts;
use crate::plan::Job;
use crate::scenario::Scenario;
use crate::{Fault, connections, queues};
use incast_fabric::{Fabric, Imported};
use incast_transport::Framing;
use incast_workload::{Failure, Shape, Traffic};

/// The flows of a scenario, link failures listed in flow files, and programs.
#[derive(Default)]
pub struct AllFlows {
    /// The flows.
    pub traffic: Traffic,
    /// Links that fail at the start, with the file that lists them.
    pub failures: Vec<(String, Failure)>,
    /// Programs, in the order of [`Traffic::programs`].
    pub jobs: Vec<Job>,
    /// The job of each collective, by its number; empty of traffic of kind `collective`.
    pub collective_jobs: Vec<String>,
    entries: usize,
}

/// Refuses two jobs of one name.
fn check_names(jobs: &[crate::scenario::Job]) -> Result<(), Fault> {
    let given = |at: &usize| !jobs[*at].name.is_empty();
    let same = |at: &usize| jobs[..*at].iter().any(|other| other.name == jobs[*at].name);
    match (0..jobs.len()).filter(given).find(same) {
        Some(at) => {
            let problem = wrong("another job is called so").expected("a name of its own");
            Err(Fault::value(format!("job.{at}.name"), &jobs[at].name, problem))
        }
        None => Ok(()),
    }
}

impl AllFlows {
    /// Adds those of an entry, which is a job of this name or of the traffic.
    fn add(&mut self, part: Flows, job: &str) {
        let collectives = part.traffic.collectives.last().map_or(0, |group| group.number + 1);
        self.collective_jobs.extend((0..collectives).map(|_| job.to_string()));
        self.failures.extend(part.failures);
        self.jobs.extend(part.job);
        self.traffic = match self.entries {
            0 => part.traffic,
            _ => std::mem::take(&mut self.traffic).merge(part.traffic),
        };
        self.entries += 1;
    }
}

/// All flows of a scenario, between servers.
pub fn flows(
    scenario: &Scenario,
    framing: &Framing,
    shape: &Shape,
    imported: Option<&Imported>,
    inputs: &mut Inputs,
    fabric: &Fabric,
) -> Result<AllFlows, Fault> {
    queues::check_section(scenario)?;
    let mut all = AllFlows::default();
    let mut placed = vec![];
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let context = Context { scenario, framing, section: "traffic", index, shape, fabric };
        let part = context.read(entry, imported, inputs);
        let mut part = part.map_err(|wrong| context.place(entry, wrong))?;
        part.traffic = part.traffic.jittered(entry.jitter(), context.seed());
        part.traffic.flows.iter_mut().for_each(|flow| flow.burst = entry.burst());
        let file = if let Entry::FlowFile(own) = entry { Some(own.file.as_str()) } else { None };
        queues::of_entry(scenario, index, file, &mut part.traffic)?;
        connections::put(&mut part.traffic, entry.connection(), index);
        placed.extend(part.placed.take());
        all.add(part, "");
    }
    for (index, own) in scenario.job.iter().enumerate() {
        let context = Context { scenario, framing, section: "job", index, shape, fabric };
        let part = context.job(own, inputs);
        let mut part = part.map_err(|wrong| context.placed_in_job(wrong))?;
        for flow in &mut part.traffic.flows {
            (flow.burst, flow.priority) = (own.burst, own.priority);
        }
        connections::put(&mut part.traffic, own.connection, scenario.traffic.len() + index);
        placed.extend(part.placed.take());
        all.add(part, &context.job_name(own));
    }
    if all.entries == 0 {
        let problem = wrong("there is none, and no `job`");
        return Err(Fault::at("traffic", problem.expected("a section [[traffic]] or [[job]]")));
    }
    check_names(&scenario.job)?;
    all.traffic.validate(shape.hosts)?;
    check_hosts(&placed)?;
    Ok(all)
}
