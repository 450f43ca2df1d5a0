//! What each rank did during an iteration.

use incast_experiment::collectives::{Times, awaited, opened};
use incast_workload::{CollectiveGroup, Traffic};
use serde::Serialize;

/// A message of a rank. Times in picoseconds, from the beginning of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sending {
    /// Its flow; none within a server.
    pub flow: Option<u32>,
    /// The rank that got it.
    pub to: u32,
    /// From its start.
    pub from_ps: u64,
    /// To its arrival.
    pub until_ps: u64,
    /// The rank whose message let it start; none if that was its own computation.
    pub after: Option<u32>,
}

/// What a rank did. Times in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankFacts {
    /// The rank.
    pub rank: u32,
    /// Its host.
    pub host: u32,
    /// From when it computed, and until when, in order; before the iteration began if it was done with the last one earlier.
    pub computing: Vec<(u64, u64)>,
    /// How long all of that is.
    pub computing_ps: u64,
    /// Its messages, in order of their start.
    pub sending: Vec<Sending>,
    /// How long at least one of its messages was on its way.
    pub sending_ps: u64,
    /// How long it waited for what the next message needs.
    pub waiting_ps: u64,
    /// The rank for which it waited longest, and how long.
    pub waited_for: Option<(u32, u64)>,
    /// When everything that was sent to it had arrived.
    pub done_ps: Option<u64>,
}

impl RankFacts {
    /// A rank that did nothing.
    pub(super) fn idle(rank: u32, host: u32) -> RankFacts {
        RankFacts {
            rank,
            host,
            computing: vec![],
            computing_ps: 0,
            sending: vec![],
            sending_ps: 0,
            waiting_ps: 0,
            waited_for: None,
            done_ps: None,
        }
    }
}

/// All ranks of an iteration that lasted from `begin` to `end`.
pub(super) fn ranks(
    traffic: &Traffic,
    group: &CollectiveGroup,
    times: &Times,
    (begin, end): (u64, u64),
) -> Vec<RankFacts> {
    let open = opened(&traffic.gates, times);
    let mut all: Vec<RankFacts> = (0..group.ranks)
        .map(|rank| {
            let gate = (group.ready.start + rank) as usize;
            let computed = open[gate].map(|at| at.0);
            let delay = traffic.gates[gate].delay.0;
            let computing = computed.filter(|_| delay > 0).map(|at| (at.saturating_sub(delay), at));
            RankFacts {
                computing: computing.into_iter().collect(),
                computing_ps: computing.map_or(0, |(from, until)| until - from),
                ..RankFacts::idle(rank, 0)
            }
        })
        .collect();
    let mut rank_of_flow = std::collections::BTreeMap::new();
    for message in &group.messages {
        rank_of_flow.insert(message.flow, message.from);
        let at = message.flow as usize;
        let flow = &traffic.flows[at];
        all[message.from as usize].host = flow.src;
        all[message.to as usize].host = flow.dst;
        let (Some(from), Some(until)) = (times.started[at], times.ended[at]) else { continue };
        let done = &mut all[message.to as usize].done_ps;
        *done = (*done).max(Some(until.0));
        let (flow, to) = (message.flow, message.to);
        let sending =
            Sending { flow: Some(flow), to, from_ps: from.0, until_ps: until.0, after: None };
        all[message.from as usize].sending.push(sending);
    }
    for one in &mut all {
        one.sending.sort_by_key(|own| (own.from_ps, own.flow));
        for own in &mut one.sending {
            let before = own.flow.and_then(|flow| awaited(traffic, group, times, flow));
            own.after = before.and_then(|flow| rank_of_flow.get(&flow).copied());
        }
        account(one, group.ranks, (begin, end));
    }
    all
}

/// Adds up what a rank did.
fn account(one: &mut RankFacts, ranks: u32, (begin, end): (u64, u64)) {
    let mut busy = one.computing.last().map_or(begin, |(_, until)| (*until).clamp(begin, end));
    let mut waited = vec![0u64; ranks as usize];
    for own in &one.sending {
        let gap = own.from_ps.saturating_sub(busy);
        one.waiting_ps += gap;
        // After a message of its own it waited for nobody else.
        if let Some(after) = own.after.filter(|after| *after != one.rank) {
            waited[after as usize] += gap;
        }
        one.sending_ps += own.until_ps.saturating_sub(own.from_ps.max(busy));
        busy = busy.max(own.until_ps);
    }
    let most = (0..ranks).rev().max_by_key(|rank| waited[*rank as usize]);
    one.waited_for = most.map(|rank| (rank, waited[rank as usize])).filter(|(_, ps)| *ps > 0);
}
