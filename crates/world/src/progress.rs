//! Which flows wait for others, how far a run is, and when it is over.

use crate::FlowSetup;
use incast_transport::{Outcome, Span, Time};
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
    /// Flows that wait for a flow, by that flow; empty if there are none.
    dependents: Vec<Vec<u32>>,
    /// Flows that each flow still waits for.
    missing: Vec<u32>,
    /// Flows completed.
    pub completed: usize,
    /// When the last of them was, picoseconds.
    pub last_completion: u64,
}

impl Progress {
    /// Before the start of a run.
    pub fn new(flows: &[FlowSetup]) -> Progress {
        let mut dependents = vec![];
        if flows.iter().any(|setup| !setup.after.is_empty()) {
            dependents = vec![vec![]; flows.len()];
            for (index, setup) in flows.iter().enumerate() {
                setup.after.iter().for_each(|f| dependents[f.0 as usize].push(index as u32));
            }
        }
        Progress {
            dependents,
            missing: flows.iter().map(|setup| setup.after.len() as u32).collect(),
            completed: 0,
            last_completion: 0,
        }
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
            // Batches of a partition complete their flows of a window one batch after the other.
            self.last_completion = self.last_completion.max(outcome.completed);
            let Some(waiting) = self.dependents.get(outcome.flow.0 as usize) else { continue };
            for &flow in waiting {
                self.missing[flow as usize] -= 1;
                if self.missing[flow as usize] == 0 {
                    open(outcome.completed + flows[flow as usize].delay.0, flow);
                }
            }
        }
    }
}

/// A run that delivers nothing for an hour, and for many RTTs, is given up: timers back off
/// to a minute at most (RFC 6298 section 2.5).
const SILENCE: Span = Span::from_secs(3_600);
/// So many times the drain, which is a few RTTs, for links that take hours for a packet.
const SILENT_DRAINS: u64 = 1_000;

/// When a run is over: a while after the last flow is complete, at a given instant, or when nothing
/// has been delivered for long. All in picoseconds.
#[derive(Clone, Debug)]
pub struct End {
    flows: usize,
    until: u64,
    drain: u64,
    /// Before this instant flows are still to start.
    awaited: u64,
    /// When payload was last delivered.
    pub delivered: u64,
    /// The instant, once it is known.
    pub at: u64,
}

impl End {
    /// For a run of these flows that goes on for `drain` after the last completion, and ends at
    /// `until` in any case.
    pub fn new(flows: &[FlowSetup], until: Time, drain: Span) -> End {
        End {
            flows: flows.len(),
            until: until.min(Time::HORIZON).0,
            drain: drain.0,
            awaited: awaited(flows),
            delivered: 0,
            at: u64::MAX,
        }
    }

    /// For a run in which a link works again at `repaired`, picoseconds: until then a time without
    /// progress is no sign.
    pub fn awaiting(mut self, repaired: Option<u64>) -> End {
        self.awaited = self.awaited.max(repaired.unwrap_or(0));
        self
    }

    /// For a run that ends at `until`, whatever is complete.
    pub fn at_last(until: Time) -> End {
        End { flows: usize::MAX, ..End::new(&[], until, Span::ZERO) }
    }

    /// Flows whose completion ends the run; more than there are once it is known when it ends.
    pub fn goal(&self) -> usize {
        if self.at == u64::MAX { self.flows } else { usize::MAX }
    }

    /// How long the run goes on after the last completion.
    pub fn drain(&self) -> u64 {
        self.drain
    }

    /// Payload was last delivered at `delivered`. When all flows are complete, the run ends `drain`
    /// after the last.
    pub fn note(&mut self, completed: usize, last: u64, delivered: u64) {
        self.delivered = delivered;
        if completed == self.flows && self.at == u64::MAX {
            self.at = last.saturating_add(self.drain);
        }
    }

    /// When nothing has been delivered for so long that the run is given up.
    fn stall(&self) -> u64 {
        self.awaited
            .max(self.delivered)
            .saturating_add(SILENCE.0.max(self.drain.saturating_mul(SILENT_DRAINS)))
    }

    /// Nothing at or after this instant is done.
    pub fn limit(&self) -> u64 {
        self.until.min(self.at).min(self.stall())
    }

    /// When a run ended of which `last` was the last instant; `busy` if there was more to do, `cut`
    /// if somebody or something cut it off.
    pub fn ended(&self, last: u64, busy: bool, cut: bool) -> u64 {
        if !cut && (self.at != u64::MAX || busy) { self.limit() } else { last }
    }

    /// Since when nothing had been delivered, if a run that ended at `ended` with more to do was
    /// given up for that reason.
    pub fn stalled_since(&self, ended: u64) -> Option<Time> {
        let stalled = ended == self.stall() && ended < self.until;
        stalled.then_some(Time(self.delivered))
    }
}

/// By when every flow has started, as far as that is known, with the longest wait of one that
/// starts after others: until then a time without progress is no sign.
fn awaited(flows: &[FlowSetup]) -> u64 {
    let starts = flows.iter().map(|setup| setup.flow.start).filter(|start| *start != Time::NEVER);
    let delay = flows.iter().map(|setup| setup.delay.0).max().unwrap_or(0);
    starts.max().unwrap_or(Time::ZERO).0.saturating_add(delay)
}
