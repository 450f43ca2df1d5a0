//! Why an iteration of a program took as long as it did: from the steps of its ranks as they are stored.

use super::common::{COMPUTE, ports, range};
use super::facts::Stored;
use super::found::{Iteration, Leg};
use super::steps::{Step, Steps};
use super::timeline::{RankFacts, Sending};
use super::words;
use crate::explanation::{PART_NAMES, PartFacts};
use crate::repeat::Results;
use crate::words::size;
use incast_experiment::{Fault, Plan};
use incast_transport::Span;

/// Name and meaning of computations, and of what programs have beside the parts of messages.
const COMPUTED: (&str, &str) = (COMPUTE.0, "its ranks computed");
const KNOWN: (&str, &str) = ("known", "a rank did not know yet that its message had arrived");
const LOCAL: (&str, &str) = ("local", "messages within servers");

/// A critical path as it is followed back.
struct Followed {
    /// The last one first.
    legs: Vec<Leg>,
    /// Of the messages among these that took the network, the flows.
    flows: Vec<u32>,
    compute: u64,
    known: u64,
    local: u64,
    start: u64,
}

/// An iteration of a program of stored results.
///
/// # Errors
/// There is no such iteration, or it is not complete.
pub(super) fn explained(
    results: &Results,
    plan: &Plan,
    program: u32,
    iteration: u32,
) -> Result<Iteration, Fault> {
    let alone = plan.alone(program);
    let most = alone.len() as u32 - 1;
    if iteration > most {
        return Err(Fault::value("--iteration", iteration, range(most)));
    }
    let steps = Steps::read(results, program)?;
    let stored = Stored::of(results, plan.traffic.flows.len())?;
    let (at, hosts) = plan.place_of(program);
    let left = |iteration| steps.of(iteration).filter(|(_, step)| step.end.is_none()).count();
    if left(iteration) > 0 {
        let problem = format!("not complete: {} of its steps are not done", left(iteration));
        return Err(Fault::value("--iteration", iteration, problem));
    }
    let ended = |iteration| steps.of(iteration).filter_map(|(_, step)| step.end).max();
    let before = iteration.checked_sub(1);
    let begin = before.map_or(Some(at.0), ended).unwrap_or(at.0);
    let end = ended(iteration).unwrap_or(begin);
    let took = end - begin;
    let path = follow(&steps, &stored, iteration, end);
    let longest =
        alone[iteration as usize].0 - before.map_or(Span::ZERO, |before| alone[before as usize]).0;
    let (job, file) = plan.programs().nth(program as usize).unwrap_or_default();
    let starts = steps.of(iteration).filter(|(_, step)| step.kind == "send");
    let bytes = starts.clone().filter_map(|(_, step)| step.bytes).sum();
    let (ranks, run) = (hosts.len(), results.label().to_string());
    let name = if job.is_empty() { format!("program {program}") } else { format!("job {job}") };
    let legs: Vec<Leg> = path.legs.iter().rev().cloned().collect();
    let mut all = Iteration {
        what: format!("{name} ({file}, {ranks} ranks, {}, {run})", size(bytes)),
        run,
        job: job.to_string(),
        program: Some(program),
        collective: 0,
        iteration,
        kind: file.to_string(),
        algorithm: String::new(),
        ranks: ranks as u32,
        size_bytes: bytes,
        begin_ps: begin,
        start_ps: starts.filter_map(|(_, step)| step.begin).min().unwrap_or(begin),
        end_ps: end,
        compute_ps: longest,
        ideal_ps: None,
        ahead_ps: begin.saturating_sub(path.start),
        verdict: vec![],
        parts: parts(&stored, &path, took),
        ports: ports(&legs, took),
        path: legs,
        by_rank: (0..)
            .zip(hosts)
            .map(|(rank, host)| facts(&steps, &stored, (rank, *host), iteration, (begin, end)))
            .collect(),
        notes: results.notes.clone(),
    };
    all.verdict = words::verdict(&all);
    Ok(all)
}

/// From the step that ended last back over what each waited for, to where a rank began the iteration.
fn follow(steps: &Steps, stored: &Stored, iteration: u32, end: u64) -> Followed {
    let last = steps.of(iteration).find(|(_, step)| step.end == Some(end));
    let mut all =
        Followed { legs: vec![], flows: vec![], compute: 0, known: 0, local: 0, start: end };
    let mut next = last.map(|(place, _)| place);
    // Where the path is: what waits for the start of a step passes over its duration.
    let mut now = end;
    while let Some(place) = next.filter(|place| steps.step(*place).iteration == iteration) {
        let (step, rank) = (steps.step(place), place.0);
        let (Some(begin), Some(done)) = (step.begin, step.end) else { break };
        let mut before = (rank, step);
        if done <= now {
            match step.kind {
                "calc" => all.compute += done - begin,
                "send" => message(&mut all, stored, (rank, step), (rank, done)),
                _ if done > begin => {
                    let Some(from) = step.from else { break };
                    before = (from.0, steps.step(from));
                    message(&mut all, stored, before, (rank, done));
                }
                _ => {}
            }
        }
        now = before.1.begin.unwrap_or(now);
        all.start = now;
        next = before.1.after.map(|after| (before.0, after));
    }
    all
}

/// A message of the path: sent by a step of a rank, and over for rank `to` at `done`.
fn message(
    all: &mut Followed,
    stored: &Stored,
    (from, send): (u32, &Step),
    (to, done): (u32, u64),
) {
    let (Some(begin), Some(peer)) = (send.begin, send.peer) else { return };
    let mut leg = Leg {
        flow: send.flow,
        from,
        to: peer,
        size_bytes: send.bytes.unwrap_or(0),
        start_ps: begin,
        end_ps: done,
        ideal_ps: done - begin,
        port: String::new(),
        part: LOCAL.0,
    };
    match send.flow {
        None => all.local += done - begin,
        Some(flow) => {
            let arrived = stored.times.ended[flow as usize].map_or(done, |at| at.0.min(done));
            // The receiver has it when it arrives; its sender learns of that later.
            if to == from {
                all.known += done - arrived;
            }
            leg.end_ps = arrived;
            stored.describe(flow, &mut leg);
            all.flows.push(flow);
        }
    }
    all.legs.push(leg);
}

fn parts(stored: &Stored, path: &Followed, took: u64) -> Vec<PartFacts> {
    let share = |ps: u64| if took > 0 { ps as f64 / took as f64 } else { 0.0 };
    let part = |(name, meaning), ps| PartFacts { name, meaning, ps, share: share(ps) };
    let sum = |name| path.flows.iter().map(|flow| stored.part(name, *flow)).sum();
    let of_messages = PART_NAMES.iter().map(|(name, meaning)| part((*name, *meaning), sum(*name)));
    let more = [part(KNOWN, path.known), part(LOCAL, path.local)];
    std::iter::once(part(COMPUTED, path.compute)).chain(of_messages).chain(more).collect()
}

/// What a rank did during an iteration that lasted from `begin` to `end`.
fn facts(
    steps: &Steps,
    stored: &Stored,
    (rank, host): (u32, u32),
    iteration: u32,
    (begin, end): (u64, u64),
) -> RankFacts {
    let mut all = RankFacts { done_ps: Some(begin), ..RankFacts::idle(rank, host) };
    let mut calcs: Vec<(u64, u64)> = vec![];
    let mut ends: Vec<(u64, u32)> = vec![];
    for step in steps.rank(rank).iter().filter(|step| step.iteration == iteration) {
        let (Some(from), Some(until)) = (step.begin, step.end) else { continue };
        all.done_ps = all.done_ps.max(Some(until));
        match (step.kind, step.peer) {
            ("calc", _) if until > from => calcs.push((from, until)),
            ("send", Some(to)) => {
                let arrived = step.flow.and_then(|flow| stored.times.ended[flow as usize]);
                let until_ps = arrived.map_or(until, |at| at.0.min(until));
                let after = after(steps, rank, step);
                all.sending.push(Sending { flow: step.flow, to, from_ps: from, until_ps, after });
            }
            ("recv", _) => ends.extend(step.from.map(|(source, _)| (until, source))),
            _ => {}
        }
    }
    all.computing = joined(calcs);
    all.computing_ps = all.computing.iter().map(|(from, until)| until - from).sum();
    all.sending.sort_by_key(|own| (own.from_ps, own.flow));
    let sent = joined(all.sending.iter().map(|own| (own.from_ps, own.until_ps)).collect());
    all.sending_ps = sent.iter().map(|(from, until)| until - from).sum();
    let done = all.done_ps.unwrap_or(end);
    let busy = joined([all.computing.clone(), sent].concat());
    let mut waited = std::collections::BTreeMap::new();
    let mut at = begin;
    for (from, until) in busy.into_iter().chain([(done, done)]) {
        let gap = from.saturating_sub(at);
        all.waiting_ps += gap;
        // What arrived last before it went on is what it waited for.
        let whom = ends.iter().filter(|one| one.0 <= from && one.0 > at).max();
        if let Some((_, whom)) = whom.filter(|one| gap > 0 && one.1 != rank) {
            *waited.entry(*whom).or_insert(0) += gap;
        }
        at = at.max(until);
    }
    all.waited_for = waited.into_iter().max_by_key(|one| (one.1, std::cmp::Reverse(one.0)));
    all
}

/// The rank whose message let a send start; none if that was a computation of its own.
fn after(steps: &Steps, rank: u32, send: &Step) -> Option<u32> {
    let step = steps.step((rank, send.after?));
    match step.kind {
        "recv" => step.from.map(|(source, _)| source),
        "send" => Some(rank),
        _ => None,
    }
}

/// Intervals of which some overlap or touch, as those that do not.
fn joined(mut all: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    all.sort_unstable();
    let mut joined: Vec<(u64, u64)> = vec![];
    for (from, until) in all {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            _ => joined.push((from, until)),
        }
    }
    joined
}
