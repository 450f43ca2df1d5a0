//! Which warnings the record of a run gives reason for.

use crate::balance::Balance;
use crate::run::Run;
use crate::warning::Warning;
use incast_transport::{FlowRecord, Span};

impl Run {
    /// What a user should know before trusting the results.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all = self.notes.clone();
        all.extend(warnings_of(self));
        all
    }
}

/// Warnings of several runs, in their order: an equal one of several is given once, with the labels of all of them. So is one
/// that all runs of the same flows have in common, with the numbers of the run that it is truest of.
pub fn grouped(runs: &[Run], of: impl Fn(&Run) -> Vec<Warning>) -> Vec<(String, Warning)> {
    struct Group<'a> {
        labels: Vec<&'a str>,
        worst: (&'a str, Warning),
        equal: bool,
    }
    let mut all: Vec<Group<'_>> = vec![];
    for run in runs {
        let label = run.label.as_str();
        for warning in of(run) {
            let known = all.iter_mut().find(|group| {
                let known = &group.worst.1;
                *known == warning
                    || how_much(known).is_some_and(|(kind, _)| {
                        how_much(&warning).is_some_and(|one| one.0 == kind)
                    })
            });
            let Some(group) = known else {
                all.push(Group { labels: vec![label], worst: (label, warning), equal: true });
                continue;
            };
            group.labels.push(label);
            group.equal &= group.worst.1 == warning;
            if how_much(&warning) > how_much(&group.worst.1) {
                group.worst = (label, warning);
            }
        }
    }
    let shown = |group: Group<'_>| {
        let (label, warning) = group.worst;
        let labels = group.labels.join(", ");
        (if group.equal { labels } else { format!("{labels} (numbers of {label})") }, warning)
    };
    all.into_iter().map(shown).collect()
}

/// Kind and extent of a warning whose numbers differ from run to run of the same flows.
fn how_much(warning: &Warning) -> Option<(u8, u64)> {
    match warning {
        Warning::NeverBalanced { arrivals, departures } => {
            Some((0, arrivals.abs_diff(*departures) as u64))
        }
        Warning::LockStep { percent, .. } => Some((1, *percent)),
        _ => None,
    }
}

/// What the records of a run give reason for.
pub fn warnings_of(run: &Run) -> Vec<Warning> {
    // What never started is not slow, nor what has no end.
    let started =
        |at: &usize| run.record.flows[*at].started.is_some() && !run.flows[*at].is_endless();
    let measured = || (0..run.flows.len()).filter(|at| !run.flows[*at].warmup).filter(started);
    let open = measured().filter(|at| run.fct(*at).is_none()).count();
    let mut all = vec![];
    if run.record.interrupted {
        all.push(Warning::Interrupted);
    }
    let reasons = run.fidelity.as_ref().map_or(vec![], |fidelity| fidelity.refused.clone());
    if !reasons.is_empty() {
        all.push(Warning::Refused { reasons });
    }
    if run.nothing_completed() {
        all.push(Warning::NothingCompleted { flows: run.flows.len() });
    } else if open > 0 {
        all.push(Warning::Incomplete { open, flows: measured().count() });
    }
    let balance = Balance::of(run);
    if let (Balance::Never, Some(numbers)) = (balance, balance.summary(run)) {
        let (arrivals, departures) = (numbers.arrivals, numbers.departures);
        all.push(Warning::NeverBalanced { arrivals, departures });
    }
    all.extend(lock_step(run));
    all.extend((0..run.transports.len()).filter_map(|transport| timeout_tail(run, transport)));
    all.extend(run.stuck().map(|stuck| Warning::ProgramStuck { stuck }));
    if let Some(cut) = run.record.captures_cut {
        let until_ns = cut.until.0 / 1_000;
        all.push(Warning::CapturesCut { packets: cut.packets, until_ns });
    }
    if let Some(trace) = &run.record.trace
        && let Some(events) = trace.cut_at
    {
        let until_ns = trace.events.last().map_or(0, |event| event.at.0 / 1_000);
        all.push(Warning::TraceCut { events, until_ns });
    }
    all
}

/// Fewest flows that are in step.
const IN_STEP: usize = 8;

/// Flows in a row that start at one instant, where they are many and their recovery is most of all
/// flows' time.
fn lock_step(run: &Run) -> Option<Warning> {
    let same = |a: &FlowRecord, b: &FlowRecord| a.started == b.started;
    let (mut flows, mut recovery, mut time) = (0, 0u128, 0u128);
    for together in run.record.flows.chunk_by(same) {
        let of = |one: &FlowRecord| Some((one.parts?, one.completed?.since(one.started?)));
        let done = || together.iter().filter_map(of);
        time += done().map(|(_, fct)| fct.0 as u128).sum::<u128>();
        if done().count() >= IN_STEP {
            flows += done().count();
            recovery += done().map(|(parts, _)| parts.recovery as u128).sum::<u128>();
        }
    }
    let percent = (100 * recovery).checked_div(time)? as u64;
    (percent > 50).then_some(Warning::LockStep { flows, percent })
}

/// Base RTTs from which on a least timeout is not that of the fabric.
const FAR: u64 = 200;

/// Flows of a transport that wait longest for a timeout, where it is far above the RTT and they are most of the slowest hundredth.
fn timeout_tail(run: &Run, transport: usize) -> Option<Warning> {
    let name = &run.transports[transport];
    let timeout = run.manifest.parameters.get(name)?.get("rto_min")?;
    let least = timeout.parse::<Span>().ok()?;
    let rtts = least.0.checked_div(run.base_rtt.0).filter(|rtts| *rtts >= FAR)?;
    let waits = |at: usize| {
        let record = &run.record.flows[at];
        let parts = record.parts?;
        Some(parts.recovery >= least.0 && 2 * parts.recovery > run.fct(at)?.0)
    };
    let own = (0..run.flows.len()).filter(|at| {
        let flow = &run.flows[*at];
        !flow.warmup && usize::from(flow.transport) == transport
    });
    let mut all: Vec<(f64, bool)> =
        own.filter_map(|at| Some((run.slowdown(at)?, waits(at)?))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let tail = &all[..all.len().div_ceil(100)];
    let waiting = |some: &[(f64, bool)]| some.iter().filter(|(_, waits)| *waits).count();
    (2 * waiting(tail) > tail.len()).then(|| Warning::TimeoutTail {
        flows: waiting(&all),
        all: all.len(),
        key: format!("transport.parameters.{name}.rto_min"),
        timeout: timeout.clone(),
        rtts,
    })
}
