//! Why an iteration of a collective or a program took as long as it did: its critical path, message by message, and what
//! each rank did meanwhile. All of it follows from what is stored; nothing is run again.

mod common;
mod facts;
mod found;
mod program;
mod steps;
mod timeline;
pub(crate) mod view;
mod words;

use crate::explanation::{PART_NAMES, PartFacts};
use crate::repeat::Results;
use crate::words::size;
use common::{COMPUTE, ports, range};
use facts::Stored;
pub use found::{Iteration, Leg, PortCost};
use incast_experiment::collectives::{Chain, chain};
use incast_experiment::fault::{one_of, wrong};
use incast_experiment::{Fault, Plan};
use incast_transport::Time;
use incast_workload::CollectiveGroup;
pub use timeline::{RankFacts, Sending};

impl Leg {
    /// What it took longer than alone.
    pub fn excess(&self) -> u64 {
        (self.end_ps - self.start_ps).saturating_sub(self.ideal_ps)
    }
}

impl Iteration {
    /// From the end of the one before.
    pub fn time(&self) -> u64 {
        self.end_ps - self.begin_ps
    }

    /// What of this time is more than the longest computation.
    pub fn exposed(&self) -> u64 {
        self.time().saturating_sub(self.compute_ps)
    }

    /// From its first message to its last arrival.
    pub fn completion(&self) -> u64 {
        self.end_ps - self.start_ps
    }

    /// An iteration of stored results.
    ///
    /// # Errors
    /// There is nothing of the kind, no such iteration, it is not complete, or the scenario is refused.
    pub fn of(results: &Results, which: &Which, iteration: u32) -> Result<Iteration, Fault> {
        let plan = results.plan()?;
        match which.found(&plan)? {
            Found::Program(program) => program::explained(results, &plan, program, iteration),
            Found::Collective(number) => {
                Iteration::of_collective(results, &plan, number, iteration)
            }
        }
    }

    fn of_collective(
        results: &Results,
        plan: &Plan,
        collective: u32,
        iteration: u32,
    ) -> Result<Iteration, Fault> {
        let traffic = &plan.traffic;
        let group = chosen(&traffic.collectives, collective, iteration)?;
        let stored = Stored::of(results, traffic.flows.len())?;
        let chain =
            chain(traffic, group, &stored.times).ok_or_else(|| incomplete(group, &stored))?;
        let before = traffic.collectives.iter().find(|one| {
            one.number == collective && Some(one.iteration) == iteration.checked_sub(1)
        });
        let begin = before.map_or(Some(group.at), |before| stored.times.last(before));
        let (begin, start, end) = match (begin, stored.times.first(group), stored.times.last(group))
        {
            (Some(begin), Some(start), Some(end)) => (begin.0, start.0, end.0),
            _ => return Err(incomplete(group, &stored)),
        };
        let path = stored.legs(group, &chain);
        let took = end - begin;
        let by_rank = timeline::ranks(traffic, group, &stored.times, (begin, end));
        let (job, run) = (plan.job_of(collective).to_string(), results.label().to_string());
        let mut all = Iteration {
            what: of_collective(group, &job, &run),
            run,
            job,
            program: None,
            collective,
            iteration,
            kind: group.kind.name().into(),
            algorithm: group.algorithm.name().into(),
            ranks: group.ranks,
            size_bytes: group.bytes,
            begin_ps: begin,
            start_ps: start,
            end_ps: end,
            compute_ps: group.compute.0,
            ideal_ps: results.ideal_of_collective(collective, iteration),
            ahead_ps: Time(begin).since(chain.start).0,
            verdict: vec![],
            parts: parts(&stored, &chain, took),
            ports: ports(&path, took),
            path,
            by_rank,
            notes: results.notes.clone(),
        };
        all.verdict = words::verdict(&all);
        Ok(all)
    }
}

fn of_collective(group: &CollectiveGroup, job: &str, run: &str) -> String {
    let name =
        if job.is_empty() { format!("collective {}", group.number) } else { format!("job {job}") };
    let (kind, algorithm) = (group.kind.name(), group.algorithm.name());
    format!("{name} ({kind}, {algorithm}, {} ranks, {}, {run})", group.ranks, size(group.bytes))
}

/// What an iteration is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The first collective, or without collectives the first program.
    #[default]
    First,
    /// A collective by its number, from 0.
    Collective(u32),
    /// A job by its name, or a program by its file.
    Job(String),
}

/// What that is in a scenario.
enum Found {
    Collective(u32),
    Program(u32),
}

impl Which {
    fn found(&self, plan: &Plan) -> Result<Found, Fault> {
        let programs = || (0u32..).zip(plan.programs());
        match self {
            Which::First if plan.traffic.collectives.is_empty() && programs().next().is_some() => {
                Ok(Found::Program(0))
            }
            Which::First => Ok(Found::Collective(0)),
            Which::Collective(number) => Ok(Found::Collective(*number)),
            Which::Job(name) => {
                if let Some(number) = plan.collective_of(name) {
                    return Ok(Found::Collective(number));
                }
                let own = |one: &(u32, (&str, &str))| one.1.0 == name || one.1.1 == name;
                if let Some((number, _)) = programs().find(own) {
                    return Ok(Found::Program(number));
                }
                let last = plan.traffic.collectives.last().map_or(0, |group| group.number + 1);
                let jobs = (0..last).map(|number| plan.job_of(number));
                let named =
                    programs().map(|(_, (job, file))| if job.is_empty() { file } else { job });
                let known: Vec<&str> = jobs.chain(named).filter(|name| !name.is_empty()).collect();
                let problem = match known.as_slice() {
                    [] => wrong("the run has no jobs").expected("a scenario with `[[job]]`"),
                    known => one_of(name, known.iter().copied()),
                };
                Err(Fault::value("--job", name, problem))
            }
        }
    }
}

/// The iteration that is asked for.
fn chosen(
    groups: &[CollectiveGroup],
    collective: u32,
    iteration: u32,
) -> Result<&CollectiveGroup, Fault> {
    let Some(last) = groups.iter().map(|group| group.number).max() else {
        let problem = wrong("the run has no collectives")
            .expected("traffic of kind `collective` or `program`, or a job");
        return Err(Fault::value("--iteration", iteration, problem));
    };
    let of = groups.iter().filter(|group| group.number == collective);
    let Some(most) = of.clone().map(|group| group.iteration).max() else {
        return Err(Fault::value("--collective", collective, range(last)));
    };
    let found = of.clone().find(|group| group.iteration == iteration);
    found.ok_or_else(|| Fault::value("--iteration", iteration, range(most)))
}

fn incomplete(group: &CollectiveGroup, stored: &Stored) -> Fault {
    let ended = |one: &&incast_workload::Message| stored.times.ended[one.flow as usize].is_some();
    let arrived = group.messages.iter().filter(ended).count();
    let (all, mut problem) = (group.messages.len(), String::new());
    if arrived < all {
        problem = format!("not complete: {arrived} of its {all} messages have arrived");
    } else {
        problem += "the run before it is not complete, or its times do not fit the scenario";
    }
    Fault::value("--iteration", group.iteration, problem)
}

/// The parts of the critical path, the computation first.
fn parts(stored: &Stored, chain: &Chain, took: u64) -> Vec<PartFacts> {
    let share = |ps: u64| if took > 0 { ps as f64 / took as f64 } else { 0.0 };
    let part = |(name, meaning), ps| PartFacts { name, meaning, ps, share: share(ps) };
    let sum = |name| chain.flows.iter().map(|flow| stored.part(name, *flow)).sum();
    let of_messages = PART_NAMES.iter().map(|(name, meaning)| part((*name, *meaning), sum(*name)));
    std::iter::once(part(COMPUTE, chain.compute.0)).chain(of_messages).collect()
}
