//! What decides while a run goes on when flows open, such as the programs of a job's ranks.

use incast_transport::{ExecutionRecord, FlowId, Outcome, Time};
use std::sync::Arc;

/// Something at a host that opens flows there when other flows have arrived or are known to have, or when time has
/// passed. Its calls are in order of time; each adds the flows that open now to `open`.
pub trait Execution: Send {
    /// It begins.
    fn begin(&mut self, now: Time, open: &mut Vec<FlowId>);

    /// A flow to it has arrived.
    fn received(&mut self, now: Time, flow: FlowId, open: &mut Vec<FlowId>);

    /// It knows that a flow of it has arrived.
    fn acknowledged(&mut self, now: Time, flow: FlowId, open: &mut Vec<FlowId>);

    /// It is its deadline, or later than one that it had.
    fn wake(&mut self, now: Time, open: &mut Vec<FlowId>);

    /// When it does something by itself next; [`Time::NEVER`] if it does not.
    fn deadline(&self) -> Time;

    /// Whether it has nothing more to do.
    fn is_over(&self) -> bool;

    /// What it has done; of several that are at one place, each.
    fn records(&self) -> Vec<ExecutionRecord>;
}

/// An execution, where it is and when it begins.
pub struct Hosted {
    /// Its host: its flows start and end there.
    pub host: u32,
    /// When it begins.
    pub at: Time,
    /// What it does.
    pub execution: Box<dyn Execution>,
}

/// The executions of a run.
#[derive(Default)]
pub struct Executions {
    /// All, in the order of their numbers.
    pub all: Vec<Hosted>,
    /// Per flow of the run the execution that opens it and the one to which it goes, or [`Executions::NONE`]; empty
    /// without executions.
    pub ends: Vec<[u32; 2]>,
}

impl Executions {
    /// No execution.
    pub const NONE: u32 = u32::MAX;
}

/// What a world is to do for its executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// This flow opens now.
    Open(FlowId),
    /// This execution wakes at this time.
    Wake(u64, u32),
    /// An execution is over.
    Over,
}

struct Own {
    execution: Box<dyn Execution>,
    begun: bool,
    over: bool,
    /// For when it was last said to wake; never if that has been.
    armed: Time,
}

/// The executions of a part of a network as they go on.
pub struct Running {
    /// Those that are here, by number.
    all: Vec<Option<Own>>,
    ends: Arc<[[u32; 2]]>,
    /// Facts of the probe that they have been told.
    outcomes: usize,
    known: usize,
    open: Vec<FlowId>,
}

impl Running {
    /// Takes those out of `all` whose hosts are here.
    pub fn new(
        all: &mut [Option<Hosted>],
        ends: &Arc<[[u32; 2]]>,
        here: impl Fn(u32) -> bool,
    ) -> Running {
        let own = |one: &mut Option<Hosted>| {
            let Hosted { execution, .. } = one.take_if(|one| here(one.host))?;
            Some(Own { execution, begun: false, over: false, armed: Time::NEVER })
        };
        let all = all.iter_mut().map(own).collect();
        Running { all, ends: ends.clone(), outcomes: 0, known: 0, open: vec![] }
    }

    /// Whether the run has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Tells them of flows that have arrived (`outcomes` are all of the run) and of flows whose sources know it
    /// (`known`, also all).
    pub fn note(
        &mut self,
        outcomes: &[Outcome],
        known: &[(FlowId, u64)],
        mut due: impl FnMut(Due),
    ) {
        for outcome in &outcomes[self.outcomes..] {
            let (flow, now) = (outcome.flow, Time(outcome.completed));
            self.tell(self.ends[flow.0 as usize][1], now, &mut due, |execution, open| {
                execution.received(now, flow, open);
            });
        }
        for (flow, at) in &known[self.known..] {
            self.tell(self.ends[flow.0 as usize][0], Time(*at), &mut due, |execution, open| {
                execution.acknowledged(Time(*at), *flow, open);
            });
        }
        (self.outcomes, self.known) = (outcomes.len(), known.len());
    }

    /// It is the time at which this execution begins, or for which it was said to wake.
    pub fn wake(&mut self, number: u32, now: u64, mut due: impl FnMut(Due)) {
        let own = self.all[number as usize].as_mut().expect("an own execution");
        let begun = std::mem::replace(&mut own.begun, true);
        if own.armed.0 <= now {
            own.armed = Time::NEVER;
        }
        self.tell(number, Time(now), &mut due, |execution, open| match begun {
            true => execution.wake(Time(now), open),
            false => execution.begin(Time(now), open),
        });
    }

    fn tell(
        &mut self,
        number: u32,
        now: Time,
        due: &mut impl FnMut(Due),
        what: impl FnOnce(&mut dyn Execution, &mut Vec<FlowId>),
    ) {
        if number == Executions::NONE {
            return;
        }
        let own = self.all[number as usize].as_mut().expect("an own execution");
        what(&mut *own.execution, &mut self.open);
        self.open.drain(..).for_each(|flow| due(Due::Open(flow)));
        let deadline = own.execution.deadline();
        assert!(deadline > now, "execution {number}: deadline {deadline} after a call at {now}");
        if deadline < own.armed {
            own.armed = deadline;
            due(Due::Wake(deadline.0, number));
        }
        if !own.over && own.execution.is_over() {
            own.over = true;
            due(Due::Over);
        }
    }

    /// What those that are here have done, by number.
    pub fn records(&self) -> impl Iterator<Item = (u32, Vec<ExecutionRecord>)> + '_ {
        let all = self.all.iter().zip(0u32..);
        all.filter_map(|(own, number)| Some((number, own.as_ref()?.execution.records())))
    }
}
