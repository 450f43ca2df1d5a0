//! Programs of jobs: how long they took, what their ranks did meanwhile, and why one cannot go on.

use crate::Run;
use crate::jobs::{ProgramMeta, RankMeta};
use crate::statistics::mean;
use crate::stuck::Stuck;
use incast_transport::ExecutionRecord;
use incast_units::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The iteration of its program that a step of a rank is of.
pub(crate) fn iteration_of(run: &Run, place: usize, step: usize) -> u32 {
    let rank = &run.ranks[place];
    let each = rank.what.len() / run.programs[rank.program as usize].iterations.max(1) as usize;
    (step / each.max(1)) as u32
}

/// One program of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramSummary {
    /// Which program of the scenario, from 0.
    pub program: u32,
    /// Its file.
    pub file: String,
    /// Its job; empty of traffic of kind `program`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub job: String,
    /// How many ranks.
    pub ranks: usize,
    /// Of these done with everything; the others are left out of what follows.
    pub completed: usize,
    /// Messages between ranks.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From its beginning to the end of its last rank; null if one is not done.
    pub completion_ns: Option<f64>,
    /// The rank that was done last, the first of several.
    pub slowest_rank: Option<u32>,
    /// How long a rank computes, mean.
    pub compute_mean_ns: Option<f64>,
    /// The largest of these times.
    pub compute_max_ns: Option<f64>,
    /// For how long a rank computes nothing until it is done, mean.
    pub waiting_mean_ns: Option<f64>,
    /// How often it is done; only iterations that are complete count in what follows.
    #[serde(default)]
    pub iterations: u32,
    /// From the end of the iteration before to the end of the last rank, mean.
    #[serde(default)]
    pub iteration_mean_ns: Option<f64>,
    /// What of it is more than its computations would take if messages took no time, mean.
    #[serde(default)]
    pub exposed_mean_ns: Option<f64>,
    /// For how long a rank computes no layer because it waits for collectives or messages of a kind of group, mean, by the
    /// names of these; of a file that names groups. Together they are what of a rank's time is no computation of layers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waiting_by_group_ns: BTreeMap<String, f64>,
}

/// When the iterations of a program were over that all of its ranks have done.
pub fn iteration_ends(run: &Run, program: u32) -> Vec<Time> {
    let iterations = run.programs[program as usize].iterations.max(1) as usize;
    let mut ends = vec![Some(Time::ZERO); iterations];
    let own = (0..).zip(&run.ranks).filter(|(_, rank)| rank.program == program);
    for (place, _) in own {
        let steps = &record(run, place).steps;
        let parts = steps.chunks((steps.len() / iterations).max(1));
        for (end, part) in ends.iter_mut().zip(parts) {
            let last = part
                .iter()
                .map(|step| step.ended)
                .try_fold(Time::ZERO, |last, ended| Some(last.max(ended?)));
            *end = end.zip(last).map(|(end, last)| end.max(last));
        }
    }
    ends.into_iter().map_while(|end| end).collect()
}

/// The iterations of a program that are complete: how long each took, and how much of that its communication adds
/// to its computations.
fn iterations(run: &Run, program: u32) -> Vec<[f64; 2]> {
    let meta = &run.programs[program as usize];
    let (mut before, mut alone) = (meta.at, Span::ZERO);
    let iteration = |(end, own): (Time, &Span)| {
        let took = end.since(std::mem::replace(&mut before, end));
        let compute = own.0.saturating_sub(std::mem::replace(&mut alone, *own).0);
        [took.as_ns_f64(), Span(took.0.saturating_sub(compute)).as_ns_f64()]
    };
    iteration_ends(run, program).into_iter().zip(&meta.alone).map(iteration).collect()
}

/// A rank's record, with its metadata.
pub(crate) fn record(run: &Run, place: usize) -> &ExecutionRecord {
    &run.record.executions[place]
}

/// From a rank's beginning to its end.
pub(crate) fn time(record: &ExecutionRecord) -> Option<Span> {
    Some(record.ended?.since(record.begun?))
}

/// What of it is not computation.
pub(crate) fn waiting(record: &ExecutionRecord) -> Option<Span> {
    Some(Span(time(record)?.0.saturating_sub(record.computing.0)))
}

/// The programs of a run.
pub fn programs(run: &Run) -> Vec<ProgramSummary> {
    (0u32..).zip(&run.programs).map(|(number, program)| summary(run, number, program)).collect()
}

fn summary(run: &Run, program: u32, meta: &ProgramMeta) -> ProgramSummary {
    let own = || (0..).zip(&run.ranks).filter(|(_, rank)| rank.program == program);
    let done = || own().filter(|(place, _)| record(run, *place).ended.is_some());
    let ns = |of: fn(&ExecutionRecord) -> Option<Span>| -> Vec<f64> {
        done().filter_map(|(place, _)| Some(of(record(run, place))?.as_ns_f64())).collect()
    };
    let (ranks, completed) = (own().count(), done().count());
    let end =
        |(place, rank): &(usize, &RankMeta)| (record(run, *place).ended, u32::MAX - rank.rank);
    let last = done().max_by_key(end).filter(|_| ranks == completed);
    let compute = ns(|record| Some(record.computing));
    let each = iterations(run, program);
    let of = |place: usize| mean(&each.iter().map(|one| one[place]).collect::<Vec<f64>>());
    ProgramSummary {
        program,
        file: meta.file.clone(),
        job: meta.job.clone(),
        ranks,
        completed,
        messages: own().map(|(_, rank)| rank.messages).sum(),
        bytes: own().map(|(_, rank)| rank.bytes).sum(),
        completion_ns: last
            .and_then(|(place, _)| Some(record(run, place).ended?.since(meta.at).as_ns_f64())),
        slowest_rank: last.map(|(_, rank)| rank.rank),
        compute_mean_ns: mean(&compute),
        compute_max_ns: compute.into_iter().reduce(f64::max),
        waiting_mean_ns: mean(&ns(waiting)),
        iterations: meta.iterations,
        iteration_mean_ns: of(0),
        exposed_mean_ns: of(1),
        waiting_by_group_ns: waiting_by_group(run, meta, done().map(|(place, _)| place)),
    }
}

/// What these ranks, which are done, wait for by kind of group, mean.
fn waiting_by_group(
    run: &Run,
    meta: &ProgramMeta,
    done: impl Iterator<Item = usize>,
) -> BTreeMap<String, f64> {
    let (mut waits, mut ranks) = (vec![Span::ZERO; meta.groups.len()], 0u32);
    for place in done {
        ranks += 1;
        waits_of(run, place, &mut waits);
    }
    let named = meta.groups.iter().zip(waits).filter(|(_, wait)| *wait > Span::ZERO);
    named.map(|(name, wait)| (name.to_string(), wait.as_ns_f64() / f64::from(ranks))).collect()
}

/// Adds, by group, the times between a rank's computations of layers: they are of the group of the step for which the next one
/// waited last, and behind the last one of that which ended last.
fn waits_of(run: &Run, place: usize, waits: &mut [Span]) {
    let (what, record) = (&run.ranks[place].what, record(run, place));
    let mut add = |step: Option<usize>, wait: Span| {
        if let Some(group) = step.and_then(|step| what[step].group) {
            waits[usize::from(group)].0 += wait.0;
        }
    };
    let mut until = record.begun;
    for (step, own) in what.iter().zip(&record.steps) {
        if step.kind == "calc" && step.group.is_none() {
            let wait = own.begun.zip(until).map(|(begun, until)| begun.since(until));
            add(own.after.map(|after| after as usize), wait.unwrap_or(Span::ZERO));
            until = own.ended;
        }
    }
    let last = (0..what.len()).max_by_key(|step| record.steps[*step].ended);
    let wait = record.ended.zip(until).map(|(ended, until)| ended.since(until));
    add(last, wait.unwrap_or(Span::ZERO));
}

impl fmt::Display for ProgramSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProgramSummary { job, file, ranks, completed, .. } = self;
        if !job.is_empty() {
            write!(f, "{job}: ")?;
        }
        let ms = |ns: Option<f64>| crate::significant(ns.unwrap_or(0.0) / 1e6);
        let (compute, most, waiting) =
            (ms(self.compute_mean_ns), ms(self.compute_max_ns), ms(self.waiting_mean_ns));
        match (self.completion_ns, self.slowest_rank) {
            (Some(_), Some(last)) => {
                write!(
                    f,
                    "{file}: {ranks} ranks are done after {} ms, rank {last} last; a rank computes {compute} ms \
                     (at most {most}) and waits {waiting} ms, mean",
                    ms(self.completion_ns)
                )?;
                let mut before = "; of that for";
                for (group, ns) in &self.waiting_by_group_ns {
                    write!(f, "{before} {group} {} ms", ms(Some(*ns)))?;
                    before = ",";
                }
                Ok(())
            }
            _ => write!(f, "{file}: {completed} of {ranks} ranks are done"),
        }
    }
}

/// As many of these are said.
const SAID: usize = 8;

impl Run {
    /// The first of its programs that cannot go on, if that is so.
    pub fn stuck(&self) -> Option<Stuck> {
        let flows = self.record.flows.iter().zip(&self.flows);
        let under_way = flows.into_iter().any(|(record, meta)| {
            meta.class == "program" && record.started.is_some() && record.acknowledged.is_none()
        });
        let busy = self.record.executions.iter().any(|own| own.busy);
        if under_way || busy {
            return None;
        }
        let open = |place: &usize| record(self, *place).ended.is_none();
        let first = (0..self.ranks.len()).find(open)?;
        let program = self.ranks[first].program;
        let own = || {
            let all = 0..self.ranks.len();
            all.filter(open).filter(|place| self.ranks[*place].program == program)
        };
        let mut waits: Vec<String> =
            own().flat_map(|place| record(self, place).waits.clone()).collect();
        let more = waits.len().saturating_sub(SAID);
        waits.truncate(SAID);
        if more > 0 {
            waits.push(format!("and {more} more"));
        }
        let ProgramMeta { file, job, .. } = &self.programs[program as usize];
        let file = if job.is_empty() { file.clone() } else { format!("{file} of {job}") };
        Some(Stuck { file, ranks: own().count(), waits })
    }
}
