//! Parallel execution: partitions advance in windows, and their records are merged.
//!
//! A window is as long as the shortest propagation delay between two partitions, so an event in one
//! partition cannot affect another within the same window. Idle times are skipped. Where threads
//! gain nothing ([`Turns`]), thread 0 runs all partitions and the others sleep.

use crate::barrier::Barrier;
use crate::build::build_batched;
use crate::partition::Partition;
use crate::steps::{Steps, finish};
use crate::transit::Outbox;
use crate::turns::{Measured, Turns};
use incast_transport::RunRecord;
use incast_world::{Captured, End, Monitor, Setup};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

/// Runs a setup to its end in up to `threads` threads and returns the record and the captured
/// packets. The record does not depend on `threads`, apart from `events`. More threads than one
/// work for as long as they are faster than one.
pub fn run(setup: Setup, threads: usize, monitor: &Monitor) -> (RunRecord, Vec<Captured>) {
    run_with(setup, threads, None, monitor, |partitions| Box::new(Measured::new(partitions)))
}

/// The same, each thread's part in batches of about `hosts` hosts, that are advanced one after the
/// other: the record does not depend on it. Without a number, as many as suits a fabric of its size.
pub fn run_in_batches(
    setup: Setup,
    threads: usize,
    hosts: Option<u32>,
    monitor: &Monitor,
) -> (RunRecord, Vec<Captured>) {
    run_with(setup, threads, hosts, monitor, |partitions| Box::new(Measured::new(partitions)))
}

/// The same; `turns` decides when one of the threads works alone.
pub fn run_in_turns(
    setup: Setup,
    threads: usize,
    monitor: &Monitor,
    turns: Box<dyn Turns>,
) -> (RunRecord, Vec<Captured>) {
    run_with(setup, threads, None, monitor, |_| turns)
}

fn run_with(
    setup: Setup,
    threads: usize,
    hosts: Option<u32>,
    monitor: &Monitor,
    turns: impl FnOnce(usize) -> Box<dyn Turns>,
) -> (RunRecord, Vec<Captured>) {
    let mut end = End::of(&setup);
    let (mut partitions, window) = build_batched(setup, threads, hosts);
    monitor.begun.store(true, Ordering::Relaxed);
    if partitions.len() == 1 {
        return Steps::of(partitions.remove(0), end).run(monitor);
    }
    // The drain is the same for any number of threads: no partition may run past the end before the
    // last completion is known.
    assert!(end.drain() >= window, "the drain is shorter than a window of {window} ps");
    let leader = Leader { monitor, turns: turns(partitions.len()) };
    let partitions = Team::new(partitions, window, end).run(&mut end, leader);
    finish(partitions, &end, monitor.stopped())
}

/// What thread 0 has beyond the others.
struct Leader<'a> {
    monitor: &'a Monitor,
    turns: Box<dyn Turns>,
}

/// The state that a partition publishes at the end of a window.
#[derive(Default)]
#[repr(align(128))]
struct Published {
    next: AtomicU64,
    events: AtomicU64,
    completed: AtomicUsize,
    done: AtomicUsize,
    last: AtomicU64,
    delivered: AtomicU64,
    whole: AtomicI64,
    hops: AtomicU64,
    /// Of thread 0: it does the next window alone.
    alone: AtomicBool,
}

/// The shared state between two windows. Each thread has its own copy; all copies are equal.
#[derive(Clone, Copy)]
struct State {
    /// Start of the next window.
    start: u64,
    /// End of the run, as far as it is known.
    end: End,
    over: bool,
    /// Thread 0 runs all partitions.
    solo: bool,
    /// Windows so far, parallel and sequential.
    windows: u64,
    /// Events in them.
    events: u64,
}

impl State {
    /// Before the first window.
    fn first(end: End) -> State {
        State { start: 0, end, over: false, solo: true, windows: 0, events: 0 }
    }

    /// Determines the next window, which begins at `next`.
    fn advance(&mut self, end: &End, next: u64, events: u64, stopped: bool) {
        self.end = *end;
        self.over = stopped || next == u64::MAX;
        // Whether the end has come is found with all partitions at hand.
        self.solo |= next >= end.limit();
        self.start = next;
        self.windows += 1;
        self.events = events;
    }
}

/// Partitions that advance together.
struct Team {
    partitions: Vec<Mutex<Partition>>,
    /// `mail[parity of the round][from][to]`.
    mail: [Vec<Vec<Mutex<Outbox>>>; 2],
    published: [Vec<Published>; 2],
    barrier: Barrier,
    window: u64,
    /// The round in which all threads stop on the user's request.
    stop_round: AtomicU64,
    /// The number of sequential phases of thread 0, and the state after the last one.
    solos: AtomicU64,
    after_solo: Mutex<State>,
    /// With what the first thread panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Team {
    fn new(partitions: Vec<Partition>, window: u64, end: End) -> Team {
        let count = partitions.len();
        let mail = || {
            let row = || (0..count).map(|_| Mutex::new(Outbox::default())).collect();
            (0..count).map(|_| row()).collect()
        };
        let published = || (0..count).map(|_| Published::default()).collect();
        Team {
            partitions: partitions.into_iter().map(Mutex::new).collect(),
            mail: [mail(), mail()],
            published: [published(), published()],
            barrier: Barrier::default(),
            window,
            stop_round: AtomicU64::new(u64::MAX),
            solos: AtomicU64::new(0),
            after_solo: Mutex::new(State::first(end)),
            panic: Mutex::new(None),
        }
    }

    fn run(self, end: &mut End, mut leader: Leader) -> Vec<Partition> {
        let count = self.partitions.len();
        let team = &self;
        let at_first = *end;
        std::thread::scope(|scope| {
            for index in 1..count {
                let mut end = at_first;
                scope.spawn(move || team.guarded(index, &mut end, None));
            }
            team.guarded(0, end, Some(&mut leader));
        });
        if let Some(panic) = self.panic.into_inner().expect("only stored to") {
            resume_unwind(panic);
        }
        self.partitions.into_iter().map(|part| part.into_inner().expect("no panic")).collect()
    }

    /// [`work`](Team::work), such that a panic in one thread ends all of them: the others would wait
    /// for it at the barrier for ever.
    fn guarded(&self, index: usize, end: &mut End, leader: Option<&mut Leader>) {
        let work = AssertUnwindSafe(|| self.work(index, end, leader));
        if let Err(panic) = catch_unwind(work) {
            self.panic.lock().expect("only stored to").get_or_insert(panic);
            self.barrier.break_off();
        }
    }

    /// The main loop of a thread. Each thread computes all decisions (next window, end) from the
    /// same numbers; whether threads work together is thread 0's decision, which it publishes.
    fn work(&self, index: usize, end: &mut End, mut leader: Option<&mut Leader>) {
        let mut state = State::first(*end);
        let (mut round, mut solos) = (0, 0);
        while !state.over {
            if state.solo {
                solos += 1;
                match &mut leader {
                    Some(leader) => self.lead(&mut state, end, leader, solos),
                    None => state = self.follow(solos, *end),
                }
                *end = state.end;
            } else {
                self.together(index, round, &mut state, end, leader.as_deref_mut());
                round += 1;
            }
        }
    }

    /// Runs one window in parallel with the other threads.
    fn together(
        &self,
        index: usize,
        round: u64,
        state: &mut State,
        end: &mut End,
        leader: Option<&mut Leader>,
    ) {
        let count = self.partitions.len();
        let limit = state.start.saturating_add(self.window).min(end.limit());
        let parity = (round & 1) as usize;
        let part = &mut *self.partitions[index].lock().expect("no panic");
        part.run_some(limit, u64::MAX, usize::MAX);
        let next = part.net.close_window(limit);
        part.net.transit.captures.reach(limit);
        for to in (0..count).filter(|to| *to != index) {
            let mut slot = self.mail[parity][index][to].lock().expect("no panic");
            std::mem::swap(&mut *slot, &mut part.net.transit.border.outboxes[to]);
        }
        let all = &self.published[parity];
        all[index].fill(part, next);
        let monitor = leader.map(|leader| {
            // What the others have done in this window is not known yet.
            let alone = leader.turns.alone(state.windows, state.events);
            all[0].alone.store(alone, Ordering::Relaxed);
            if leader.monitor.stopped() {
                self.stop_round.fetch_min(round, Ordering::Relaxed);
            }
            leader.monitor
        });
        if !self.barrier.meet(count, round) {
            state.over = true;
            return;
        }
        state.solo = all[0].alone.load(Ordering::Relaxed);
        let sum = |of: fn(&Published) -> u64| all.iter().map(of).sum::<u64>();
        let next = all.iter().map(|p| p.next.load(Ordering::Relaxed)).min().unwrap_or(0);
        let completed = sum(|p| p.completed.load(Ordering::Relaxed) as u64) as usize;
        let latest = |of: fn(&Published) -> u64| all.iter().map(of).max().unwrap_or(0);
        let last = latest(|p| p.last.load(Ordering::Relaxed));
        let delivered = latest(|p| p.delivered.load(Ordering::Relaxed));
        let events = sum(|p| p.events.load(Ordering::Relaxed));
        if let Some(monitor) = monitor {
            monitor.report(limit, completed, sum(|p| p.hops.load(Ordering::Relaxed)));
        }
        let whole = all.iter().map(|p| p.whole.load(Ordering::Relaxed)).sum();
        let done = sum(|p| p.done.load(Ordering::Relaxed) as u64) as usize;
        end.note(done, last, delivered, whole);
        for from in (0..count).filter(|from| *from != index) {
            part.net.receive(&mut self.mail[parity][from][index].lock().expect("no panic"));
        }
        let stopped = self.stop_round.load(Ordering::Relaxed) <= round;
        state.advance(end, next, events, stopped);
    }

    /// Runs windows of all partitions in thread 0 until all threads are to work.
    fn lead(&self, state: &mut State, end: &mut End, leader: &mut Leader, solos: u64) {
        let monitor = leader.monitor;
        let mut parts: Vec<_> =
            self.partitions.iter().map(|part| part.lock().expect("no panic")).collect();
        while state.solo && !state.over {
            if state.start >= end.limit() {
                if end.is_silence() {
                    let limit = end.limit();
                    parts.iter_mut().for_each(|part| part.bring_to(limit));
                }
                state.over = end.is_over(parts.iter().map(|part| part.net.transit.work()).sum());
                state.end = *end;
                continue;
            }
            let limit = state.start.saturating_add(self.window).min(end.limit());
            let mut next = u64::MAX;
            for part in &mut parts {
                part.run_some(limit, u64::MAX, usize::MAX);
                next = next.min(part.net.close_window(limit));
                part.net.transit.captures.reach(limit);
            }
            for from in 0..parts.len() {
                for to in (0..parts.len()).filter(|to| *to != from) {
                    let mut outbox =
                        std::mem::take(&mut parts[from].net.transit.border.outboxes[to]);
                    parts[to].net.receive(&mut outbox);
                    parts[from].net.transit.border.outboxes[to] = outbox;
                }
            }
            let progress = parts.iter().map(|part| &part.openings.progress);
            let completed = progress.clone().map(|progress| progress.completed).sum();
            let done = progress.clone().map(|progress| progress.done).sum();
            let whole = progress.clone().map(|progress| progress.whole).sum();
            let last = progress.map(|progress| progress.last_completion).max().unwrap_or(0);
            let transits = parts.iter().map(|part| &part.net.transit);
            let delivered = parts.iter().map(|part| part.last_delivery()).max();
            end.note(done, last, delivered.unwrap_or(0), whole);
            monitor.report(limit, completed, transits.map(|transit| transit.hops).sum());
            let events = parts.iter().map(|part| part.events).sum();
            let stopped = monitor.stopped();
            state.solo = leader.turns.alone(state.windows + 1, events);
            state.advance(end, next, events, stopped);
        }
        drop(parts);
        *self.after_solo.lock().expect("no panic") = *state;
        self.solos.store(solos, Ordering::SeqCst);
        self.barrier.tell();
    }

    /// Sleeps until thread 0 has completed its `solos`-th sequential phase.
    fn follow(&self, solos: u64, end: End) -> State {
        match self.barrier.until(|| self.solos.load(Ordering::SeqCst) >= solos) {
            true => *self.after_solo.lock().expect("no panic"),
            false => State { over: true, ..State::first(end) },
        }
    }
}

impl Published {
    fn fill(&self, part: &Partition, next: u64) {
        self.next.store(next, Ordering::Relaxed);
        let (progress, transit) = (&part.openings.progress, &part.net.transit);
        self.events.store(part.events, Ordering::Relaxed);
        self.completed.store(progress.completed, Ordering::Relaxed);
        self.done.store(progress.done, Ordering::Relaxed);
        self.last.store(progress.last_completion, Ordering::Relaxed);
        self.delivered.store(part.last_delivery(), Ordering::Relaxed);
        self.whole.store(progress.whole, Ordering::Relaxed);
        self.hops.store(transit.hops, Ordering::Relaxed);
    }
}
