//! Which flows wait for others, how far a run is, and when it is over.

use crate::{FlowSetup, Gate, Setup, last_repair};
use incast_transport::{FlowId, Outcome, Span, Time};
use std::iter::Sum;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared with the observer of a run: its progress, and a request to stop it.
#[derive(Default)]
pub struct Monitor {
    /// Set when the network is built and its run begins: from then on `stop` takes effect soon.
    pub begun: AtomicBool,
    /// Set to end the run early; what is done is kept.
    pub stop: AtomicBool,
    /// Set by a transport that cannot go on: ends the run as `stop` does.
    pub halt: Arc<AtomicBool>,
    /// Simulated picoseconds.
    pub now: AtomicU64,
    /// Flows completed.
    pub completed: AtomicU64,
    /// Packets that began transmission.
    pub hops: AtomicU64,
}

impl Monitor {
    /// Tells how far the run is.
    pub fn report(&self, now: u64, completed: usize, hops: u64) {
        self.now.store(now, Ordering::Relaxed);
        self.completed.store(completed as u64, Ordering::Relaxed);
        self.hops.store(hops, Ordering::Relaxed);
    }

    /// Whether the run is to end early.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed)
    }
}

/// Flows that wait for flows, and flows that are complete.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What waits for a flow or gate, by that: flows by number, then gates. Empty if nothing waits.
    dependents: Vec<Vec<u32>>,
    /// For how many flows and gates each flow, then each gate, still waits.
    missing: Vec<u32>,
    /// When each of them opens at the earliest, as far as that is known; empty without gates.
    earliest: Vec<u64>,
    /// Delay of each gate.
    delays: Vec<u64>,
    /// Flows completed.
    pub completed: usize,
    /// The same, and executions that are over.
    pub done: usize,
    /// When the last of them was, picoseconds.
    pub last_completion: u64,
    /// When the last flow opens of those that nothing but time keeps, picoseconds.
    pub opens: u64,
    /// Flows that were released by others less flows completed, of those whose ends stay together.
    pub whole: i64,
}

impl Progress {
    /// Before the start of a run. Panics if a flow waits for the time alone: it has a start instead.
    pub fn new(flows: &[FlowSetup], gates: &[Gate]) -> Progress {
        Progress::opening(flows, gates, |_, flow| panic!("flow {flow} waits for the time alone"))
    }

    /// The same; `open` is called with each flow that waits for the time alone, and when it opens.
    pub fn opening(
        flows: &[FlowSetup],
        gates: &[Gate],
        mut open: impl FnMut(u64, u32),
    ) -> Progress {
        let count = flows.len();
        let mut dependents = vec![];
        if !gates.is_empty() || flows.iter().any(FlowSetup::waits) {
            dependents = vec![vec![]; count + gates.len()];
            let waits = flows.iter().map(|one| (&one.after, one.gate));
            let waits = waits.chain(gates.iter().map(|gate| (&gate.after, gate.gate)));
            for ((after, gate), index) in waits.zip(0u32..) {
                after.iter().for_each(|f| dependents[f.0 as usize].push(index));
                gate.iter().for_each(|gate| dependents[count + gate.place()].push(index));
            }
        }
        let missing = |after: &[_], gate: bool| after.len() as u32 + u32::from(gate);
        let of_flows = flows.iter().map(|one| missing(&one.after, one.gate.is_some()));
        let of_gates = gates.iter().map(|gate| missing(&gate.after, gate.gate.is_some()));
        let earliest = match gates {
            [] => vec![],
            _ => [vec![0; count], gates.iter().map(|gate| gate.from.0).collect()].concat(),
        };
        let mut progress = Progress {
            dependents,
            missing: of_flows.chain(of_gates).collect(),
            earliest,
            delays: gates.iter().map(|gate| gate.delay.0).collect(),
            completed: 0,
            done: 0,
            last_completion: 0,
            opens: 0,
            whole: 0,
        };
        let by_time = |gate: &usize| gates[*gate].after.is_empty() && gates[*gate].gate.is_none();
        for gate in (0..gates.len()).filter(by_time) {
            progress.open_gate(gate, flows, &mut open);
        }
        progress
    }

    /// Takes note of flows that were completed since the last call, in order; `outcomes` are all of
    /// the run. `open` is called with each flow that waited for nothing else, and when it opens.
    #[inline]
    pub fn note(
        &mut self,
        outcomes: &[Outcome],
        flows: &[FlowSetup],
        mut open: impl FnMut(u64, u32),
    ) {
        for outcome in &outcomes[self.completed..] {
            self.completed += 1;
            self.done += 1;
            // Batches of a partition complete their flows of a window one batch after the other.
            self.last_completion = self.last_completion.max(outcome.completed);
            self.whole -= i64::from(flows[outcome.flow.0 as usize].cut == Time::NEVER);
            self.complete(outcome.flow, Time(outcome.completed), flows, &mut open);
        }
    }

    /// An execution is over.
    pub fn over(&mut self, now: u64) {
        self.done += 1;
        self.last_completion = self.last_completion.max(now);
    }

    /// A flow is complete: `open` is called as in [`note`](Progress::note).
    #[inline]
    pub fn complete(
        &mut self,
        flow: FlowId,
        at: Time,
        flows: &[FlowSetup],
        open: &mut impl FnMut(u64, u32),
    ) {
        if !self.dependents.is_empty() {
            self.reach(flow.0 as usize, at.0, flows, open);
        }
    }

    /// A flow is complete, or a gate opens, at this time: counts it for what waits for it.
    fn reach(
        &mut self,
        what: usize,
        time: u64,
        flows: &[FlowSetup],
        open: &mut impl FnMut(u64, u32),
    ) {
        for place in 0..self.dependents[what].len() {
            let next = self.dependents[what][place] as usize;
            let earliest = self.earliest.get_mut(next).map_or(time, |earliest| {
                *earliest = time.max(*earliest);
                *earliest
            });
            self.missing[next] -= 1;
            match (self.missing[next], flows.get(next)) {
                (0, Some(setup)) => {
                    self.whole += i64::from(setup.cut == Time::NEVER);
                    let time = earliest.saturating_add(setup.delay.0);
                    self.opens = self.opens.max(time);
                    open(time, next as u32);
                }
                (0, None) => self.open_gate(next - flows.len(), flows, open),
                _ => {}
            }
        }
    }

    /// A gate waits for nothing more: it opens when it may.
    fn open_gate(&mut self, gate: usize, flows: &[FlowSetup], open: &mut impl FnMut(u64, u32)) {
        let place = flows.len() + gate;
        let time = self.earliest[place].saturating_add(self.delays[gate]);
        self.reach(place, time, flows, open);
    }
}

/// A run that delivers nothing for an hour, and for many RTTs, is given up: timers back off
/// to a minute at most (RFC 6298 section 2.5).
const SILENCE: Span = Span::from_secs(3_600);
/// So many times the drain, which is a few RTTs, for links that take hours for a packet; and where the
/// ends of all open flows are apart for good, so that only what is on its way can still arrive.
const SILENT_DRAINS: u64 = 1_000;
/// A silence is looked at when it has lasted for so many drains, and then whenever it has doubled.
const FIRST_DRAINS: u64 = 16;
/// Transmissions between two such looks for which a run that delivers nothing is given up: a few
/// seconds of work.
const FRUITLESS: u64 = 2_000_000;
/// The same of runs of hosts' timers, which are cheaper and may send nothing.
const FRUITLESS_WAKES: u64 = 4_000_000;

/// What a run has done, whether it was of use or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Packets that began transmission.
    pub hops: u64,
    /// Runs of hosts' timers.
    pub wakes: u64,
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Work>>(parts: I) -> Work {
        let add =
            |all: Work, own: Work| Work { hops: all.hops + own.hops, wakes: all.wakes + own.wakes };
        parts.fold(Work::default(), add)
    }
}

impl Work {
    /// Whether so much in vain since `before` is enough.
    fn is_fruitless(self, before: Work) -> bool {
        self.hops.saturating_sub(before.hops) >= FRUITLESS
            || self.wakes.saturating_sub(before.wakes) >= FRUITLESS_WAKES
    }
}

/// When a run is over: a while after the last flow is complete, at a given instant, or when nothing
/// has been delivered for long. All in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Flows and executions to wait for.
    goal: usize,
    /// When the last flow without an end is ended by its application.
    stopped: u64,
    until: u64,
    drain: u64,
    /// Before this instant flows are still to start, or links to work again or to fail for good.
    awaited: u64,
    /// Flows with a start whose ends stay together.
    whole: i64,
    /// Of all flows whose ends stay together, those that are open or about to be.
    open: i64,
    /// Whether the ends of some flow come apart for good.
    cuts: bool,
    /// Whether all of the fabric is here, so that a silence says something.
    all: bool,
    /// When payload was last delivered.
    pub delivered: u64,
    /// The instant, once it is known.
    pub at: u64,
    /// The silence that was looked at last: since when, for how long it may go on before the next look,
    /// and the work until then.
    silence: (u64, u64, Work),
    given_up: bool,
}

impl End {
    /// For a run that goes on for the drain of its options after the last completion.
    pub fn of(setup: &Setup) -> End {
        let (flows, options) = (&setup.flows, &setup.options);
        let cuts = flows.iter().map(|one| one.cut).filter(|cut| *cut != Time::NEVER).max();
        let whole = |one: &&FlowSetup| !one.waits() && one.cut == Time::NEVER;
        let whole = flows.iter().filter(whole).count() as i64;
        let repaired = last_repair(&setup.fabric).unwrap_or(0);
        // One that nothing ends goes on until the run ends: if that is given, the run goes on until then.
        let endless = flows.iter().filter(|one| one.is_endless()).count();
        let awaited_all = options.until != Time::NEVER && endless > options.stops.len();
        let ending = if awaited_all { flows.len() } else { flows.len() - endless };
        let stopped = options.stops.iter().map(|(_, at)| at.0).max().unwrap_or(0);
        let goal = ending + setup.executions.all.len();
        let at = if goal == 0 && endless > 0 {
            stopped.saturating_add(options.drain.0)
        } else {
            u64::MAX
        };
        End {
            goal,
            stopped,
            until: options.until.min(Time::HORIZON).0,
            drain: options.drain.0,
            awaited: awaited(setup).max(repaired).max(cuts.unwrap_or_default().0),
            whole,
            open: whole,
            cuts: cuts.is_some(),
            all: true,
            delivered: 0,
            at,
            silence: (u64::MAX, 0, Work::default()),
            given_up: false,
        }
    }

    /// For a part of a run, which ends with its options' `until`, whatever is complete.
    pub fn of_part(setup: &Setup) -> End {
        let (goal, at) = (usize::MAX, u64::MAX);
        End { goal, at, all: false, awaited: 0, drain: 0, ..End::of(setup) }
    }

    /// Flows and executions whose completion ends the run; more than there are once it is known when it ends.
    pub fn goal(&self) -> usize {
        if self.at == u64::MAX { self.goal } else { usize::MAX }
    }

    /// How long the run goes on after the last completion.
    pub fn drain(&self) -> u64 {
        self.drain
    }

    /// Payload was last delivered at `delivered`, or is awaited until then, as a flow [opens](Progress::opens);
    /// `whole` is [`Progress::whole`] of all. When all that there is to wait for is
    /// [done](Progress::done), the run ends `drain` after the last of it.
    pub fn note(&mut self, done: usize, last: u64, delivered: u64, whole: i64) {
        self.delivered = delivered;
        self.open = self.whole + whole;
        if done == self.goal && self.at == u64::MAX {
            self.at = last.max(self.stopped).saturating_add(self.drain);
        }
    }

    /// Since when nothing is delivered although something could be.
    fn silent_since(&self) -> u64 {
        self.awaited.max(self.delivered)
    }

    /// How long a silence lasts before it is looked at next.
    fn patience(&self) -> u64 {
        match self.silence {
            (since, patience, _) if since == self.silent_since() => patience,
            _ if self.all => self.drains(FIRST_DRAINS),
            _ => self.longest(),
        }
    }

    /// So many drains; of a run without one, microseconds.
    fn drains(&self, many: u64) -> u64 {
        self.drain.max(Span::from_us(1).0).saturating_mul(many)
    }

    /// The longest silence.
    fn longest(&self) -> u64 {
        SILENCE.0.max(self.drains(SILENT_DRAINS))
    }

    /// Nothing at or after this instant is done before it is asked whether the run is
    /// [over](End::is_over) then.
    pub fn limit(&self) -> u64 {
        self.until.min(self.at).min(self.silent_since().saturating_add(self.patience()))
    }

    /// Whether the run reaches its limit because nothing has been delivered for long.
    pub fn is_silence(&self) -> bool {
        self.limit() < self.until.min(self.at)
    }

    /// Whether the run is over at its [limit](End::limit), by which this work has been done. If it is not,
    /// the limit has moved.
    pub fn is_over(&mut self, work: Work) -> bool {
        if !self.is_silence() {
            return true;
        }
        let (since, patience) = (self.silent_since(), self.patience());
        let known = self.silence.0 == since;
        let fruitless = known && work.is_fruitless(self.silence.2);
        let apart = self.cuts && self.open == 0;
        self.given_up = fruitless
            || patience >= self.longest()
            || apart && patience >= self.drains(SILENT_DRAINS);
        if !self.given_up {
            self.silence = (since, patience.saturating_mul(2).min(self.longest()), work);
        }
        self.given_up
    }

    /// When a run ended of which `last` was the last instant; `busy` if there was more to do, `cut`
    /// if somebody or something cut it off.
    pub fn ended(&self, last: u64, busy: bool, cut: bool) -> u64 {
        if !cut && (self.at != u64::MAX || busy) { self.limit() } else { last }
    }

    /// Since when nothing had been delivered, if the run was given up for that reason.
    pub fn stalled_since(&self) -> Option<Time> {
        self.given_up.then_some(Time(self.delivered))
    }
}

/// By when every flow has started, as far as that is known, with the longest wait of one that
/// starts after others: until then a time without progress is no sign.
fn awaited(setup: &Setup) -> u64 {
    let starts = setup.flows.iter().map(|one| one.flow.start).filter(|start| *start != Time::NEVER);
    let starts = starts.chain(setup.gates.iter().map(|gate| gate.from));
    let starts = starts.chain(setup.executions.all.iter().map(|one| one.at));
    let delays = setup.flows.iter().map(|one| one.delay);
    let delay = delays.chain(setup.gates.iter().map(|gate| gate.delay)).max().unwrap_or(Span::ZERO);
    starts.max().unwrap_or(Time::ZERO).0.saturating_add(delay.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_and_timers_alone_are_work_in_vain() {
        let before = Work { hops: 7, wakes: 9 };
        let after = |hops, wakes| Work { hops: 7 + hops, wakes: 9 + wakes }.is_fruitless(before);
        assert!(!after(FRUITLESS - 1, FRUITLESS_WAKES - 1));
        assert!(after(FRUITLESS, 0) && after(0, FRUITLESS_WAKES));
        let parts = [before, Work { hops: 1, wakes: 2 }];
        let all: Work = parts.into_iter().sum();
        assert_eq!((all.hops, all.wakes), (8, 11));
    }
}
