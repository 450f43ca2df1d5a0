//! Running a setup: cut into partitions, advanced in windows, joined to one record.
//!
//! A window is as long as the shortest link between two partitions, so nothing that happens in
//! one partition during a window can matter in another before its end. Stretches in which nothing
//! happens are skipped. When windows hold little work, one thread does all of it and the others
//! sleep: waiting for each other would cost more.

use crate::build::build;
use crate::egress::Egress;
use crate::partition::{Outbox, Partition};
use incast_transport::{Ages, FlowId, FlowRecord, RunRecord, Span, Time};
use incast_world::{Captured, Captures, FlowSetup, Setup};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// Shared with whoever watches a run: progress, and the wish to stop it.
#[derive(Default)]
pub struct Monitor {
    /// Set when the network is built and its run begins: from then on `stop` is heeded soon.
    pub begun: AtomicBool,
    /// Set to end the run early; what is done is kept.
    pub stop: AtomicBool,
    /// Simulated picoseconds.
    pub now: AtomicU64,
    /// Flows completed.
    pub completed: AtomicU64,
    /// Packets that began transmission.
    pub hops: AtomicU64,
}

/// Events between two looks at the monitor, about a millisecond.
const EVENTS_PER_LOOK: u64 = 8_192;
/// Windows in a batch after which the way of working is chosen anew.
const BATCH: u64 = 64;
/// Fewer events than this a window and partition are not worth a barrier.
const WORTH: u64 = 150;
/// Pauses at a barrier, a few microseconds, before the core is lent to others. On a busy machine the thread
/// that is waited for may need it.
const SPINS: u32 = 200;
/// A run that delivers nothing for an hour, and for many round trips, is given up: timers back off
/// to a minute at most (RFC 6298 section 2.5).
const SILENCE: Span = Span::from_secs(3_600);
/// So many times the drain, which is some round trips, for links that take hours for a packet.
const SILENT_DRAINS: u64 = 1_000;

/// Runs a setup to its end in up to `threads` threads and returns the record and the captured
/// packets. The record does not depend on `threads`, apart from `events`.
pub fn run(setup: Setup, threads: usize, monitor: &Monitor) -> (RunRecord, Vec<Captured>) {
    let options = setup.options.clone();
    let flows = setup.flows.len();
    let mut end = End {
        flows,
        until: options.until.min(Time::HORIZON).0,
        drain: options.drain.0,
        awaited: awaited(&setup.flows),
        delivered: 0,
        at: u64::MAX,
    };
    let (mut partitions, window) = build(setup, threads);
    monitor.begun.store(true, Ordering::Relaxed);
    // The same drain for any number of threads: no partition may have passed the end when the
    // last completion becomes known.
    if partitions.len() == 1 {
        run_alone(&mut partitions[0], &mut end, monitor);
    } else {
        assert!(end.drain >= window, "the drain is shorter than a window of {window} ps");
        partitions = Team::new(partitions, window).run(&mut end, monitor);
    }
    let interrupted = monitor.stop.load(Ordering::Relaxed);
    let busy = partitions.iter_mut().any(|part| !part.queue.is_empty());
    let last = partitions.iter().map(|part| part.now).max().unwrap_or(0);
    let deadlock = std::mem::take(&mut partitions[0].deadlock);
    let ended = match () {
        _ if interrupted || !deadlock.is_empty() => last,
        _ if end.at != u64::MAX => end.limit(),
        _ if busy => end.limit(),
        _ => last,
    };
    if !interrupted {
        partitions.iter_mut().for_each(|part| part.settle_until(ended));
    }
    let (mut record, captured) = collect(partitions, ended, interrupted);
    record.deadlock = deadlock;
    let silent = busy && !record.complete && ended == end.silence() && ended < end.until;
    record.silent_since = (silent && !interrupted).then_some(Time(end.delivered));
    (record, captured)
}

/// By when every flow has started, as far as that is known, with the longest wait of one that
/// starts after others: until then silence is no sign.
fn awaited(flows: &[FlowSetup]) -> u64 {
    let starts = flows.iter().map(|setup| setup.flow.start).filter(|start| *start != Time::NEVER);
    let delay = flows.iter().map(|setup| setup.delay.0).max().unwrap_or(0);
    starts.max().unwrap_or(Time::ZERO).0.saturating_add(delay)
}

/// When a run is over.
#[derive(Clone)]
struct End {
    flows: usize,
    until: u64,
    drain: u64,
    /// Before this instant flows are still to start.
    awaited: u64,
    /// When payload was last delivered.
    delivered: u64,
    /// The instant, once it is known.
    at: u64,
}

impl End {
    /// Payload was last delivered at `delivered`. When all flows are complete, the run ends `drain`
    /// after the last.
    fn note(&mut self, completed: usize, last: u64, delivered: u64) {
        self.delivered = delivered;
        if completed == self.flows && self.at == u64::MAX {
            self.at = last.saturating_add(self.drain);
        }
    }

    /// When nothing has been delivered for so long that the run is given up.
    fn silence(&self) -> u64 {
        self.awaited
            .max(self.delivered)
            .saturating_add(SILENCE.0.max(self.drain.saturating_mul(SILENT_DRAINS)))
    }

    /// Nothing at or after this instant is done.
    fn limit(&self) -> u64 {
        self.until.min(self.at).min(self.silence())
    }
}

fn run_alone(part: &mut Partition, end: &mut End, monitor: &Monitor) {
    loop {
        let goal = if end.at == u64::MAX { end.flows } else { usize::MAX };
        let more = part.run_some(end.limit(), EVENTS_PER_LOOK, goal);
        let before = end.limit();
        end.note(part.completed, part.last_completion, part.probe.last_delivery());
        report(monitor, part.now, part.completed, part.hops);
        let stopped = monitor.stop.load(Ordering::Relaxed);
        if stopped || !part.deadlock.is_empty() || (!more && end.limit() == before) {
            return;
        }
    }
}

fn report(monitor: &Monitor, now: u64, completed: usize, hops: u64) {
    monitor.now.store(now, Ordering::Relaxed);
    monitor.completed.store(completed as u64, Ordering::Relaxed);
    monitor.hops.store(hops, Ordering::Relaxed);
}

/// What a partition tells the others at the end of a window.
#[derive(Default)]
#[repr(align(128))]
struct Published {
    next: AtomicU64,
    events: AtomicU64,
    completed: AtomicUsize,
    last: AtomicU64,
    delivered: AtomicU64,
    hops: AtomicU64,
}

/// What every thread knows between two windows; each keeps its own copy, all are equal.
#[derive(Clone, Copy)]
struct State {
    /// Start of the next window.
    start: u64,
    /// End of the run, once known.
    end: u64,
    /// When payload was last delivered.
    delivered: u64,
    over: bool,
    /// Thread 0 does everything.
    solo: bool,
    /// Windows so far, in step and alone.
    windows: u64,
    /// Events at the last choice of the way of working.
    events: u64,
}

/// Partitions that advance together.
struct Team {
    partitions: Vec<Mutex<Partition>>,
    /// `mail[parity of the round][from][to]`.
    mail: [Vec<Vec<Mutex<Outbox>>>; 2],
    published: [Vec<Published>; 2],
    arrived: [AtomicU64; 2],
    window: u64,
    /// The round in which everybody stops because a person wished it.
    stop_round: AtomicU64,
    /// The state after thread 0 has worked alone, and how often it has.
    after_solo: Mutex<(u64, Option<State>)>,
    wake: Condvar,
}

impl Team {
    fn new(partitions: Vec<Partition>, window: u64) -> Team {
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
            arrived: [AtomicU64::new(0), AtomicU64::new(0)],
            window,
            stop_round: AtomicU64::new(u64::MAX),
            after_solo: Mutex::new((0, None)),
            wake: Condvar::new(),
        }
    }

    fn run(self, end: &mut End, monitor: &Monitor) -> Vec<Partition> {
        let count = self.partitions.len();
        let team = &self;
        let at_first = end.clone();
        std::thread::scope(|scope| {
            for index in 1..count {
                let mut end = at_first.clone();
                scope.spawn(move || {
                    team.work(index, &mut end, None);
                });
            }
            team.work(0, end, Some(monitor));
        });
        self.partitions.into_iter().map(|part| part.into_inner().expect("no panic")).collect()
    }

    /// One thread's life. Everything that is decided - the next window, the end, the way of
    /// working - is computed by each thread from the same numbers.
    fn work(&self, index: usize, end: &mut End, monitor: Option<&Monitor>) {
        let mut state = State {
            start: 0,
            end: u64::MAX,
            delivered: 0,
            over: false,
            solo: true,
            windows: 0,
            events: 0,
        };
        let (mut round, mut solos) = (0, 0);
        while !state.over {
            if state.solo {
                solos += 1;
                match monitor {
                    Some(monitor) => self.lead(&mut state, end, monitor, solos),
                    None => state = self.follow(solos),
                }
                (end.at, end.delivered) = (state.end, state.delivered);
            } else {
                self.together(index, round, &mut state, end, monitor);
                round += 1;
            }
        }
    }

    /// One window in step with the others.
    fn together(
        &self,
        index: usize,
        round: u64,
        state: &mut State,
        end: &mut End,
        monitor: Option<&Monitor>,
    ) {
        let count = self.partitions.len();
        let limit = state.start.saturating_add(self.window).min(end.limit());
        let parity = (round & 1) as usize;
        let part = &mut *self.partitions[index].lock().expect("no panic");
        part.run_some(limit, u64::MAX, usize::MAX);
        let next = part.close_window(limit);
        for to in (0..count).filter(|to| *to != index) {
            let mut slot = self.mail[parity][index][to].lock().expect("no panic");
            std::mem::swap(&mut *slot, &mut part.outboxes[to]);
        }
        self.published[parity][index].fill(part, next);
        if monitor.is_some_and(|monitor| monitor.stop.load(Ordering::Relaxed)) {
            self.stop_round.fetch_min(round, Ordering::Relaxed);
        }
        self.barrier(parity, round);
        let all = &self.published[parity];
        let sum = |of: fn(&Published) -> u64| all.iter().map(of).sum::<u64>();
        let next = all.iter().map(|p| p.next.load(Ordering::Relaxed)).min().unwrap_or(0);
        let completed = sum(|p| p.completed.load(Ordering::Relaxed) as u64) as usize;
        let latest = |of: fn(&Published) -> u64| all.iter().map(of).max().unwrap_or(0);
        let last = latest(|p| p.last.load(Ordering::Relaxed));
        let delivered = latest(|p| p.delivered.load(Ordering::Relaxed));
        let events = sum(|p| p.events.load(Ordering::Relaxed));
        if let Some(monitor) = monitor {
            report(monitor, limit, completed, sum(|p| p.hops.load(Ordering::Relaxed)));
        }
        end.note(completed, last, delivered);
        for from in (0..count).filter(|from| *from != index) {
            part.receive(&mut self.mail[parity][from][index].lock().expect("no panic"));
        }
        let stopped = self.stop_round.load(Ordering::Relaxed) <= round;
        self.advance(state, end, next, events, stopped);
    }

    /// After a window: where the next begins and who works.
    fn advance(&self, state: &mut State, end: &End, next: u64, events: u64, stopped: bool) {
        (state.end, state.delivered) = (end.at, end.delivered);
        state.over = stopped || next >= end.limit() || next == u64::MAX;
        state.start = next;
        state.windows += 1;
        if state.windows.is_multiple_of(BATCH) {
            let share = (events - state.events) / (BATCH * self.partitions.len() as u64);
            state.solo = share < WORTH;
            state.events = events;
        }
    }

    /// Thread 0 runs windows of all partitions until there is enough to do for everybody.
    fn lead(&self, state: &mut State, end: &mut End, monitor: &Monitor, solos: u64) {
        let mut parts: Vec<_> =
            self.partitions.iter().map(|part| part.lock().expect("no panic")).collect();
        while state.solo && !state.over {
            let limit = state.start.saturating_add(self.window).min(end.limit());
            let mut next = u64::MAX;
            for part in &mut parts {
                part.run_some(limit, u64::MAX, usize::MAX);
                next = next.min(part.close_window(limit));
            }
            for from in 0..parts.len() {
                for to in (0..parts.len()).filter(|to| *to != from) {
                    let mut outbox = std::mem::take(&mut parts[from].outboxes[to]);
                    parts[to].receive(&mut outbox);
                    parts[from].outboxes[to] = outbox;
                }
            }
            let completed = parts.iter().map(|part| part.completed).sum();
            let last = parts.iter().map(|part| part.last_completion).max().unwrap_or(0);
            let delivered = parts.iter().map(|part| part.probe.last_delivery()).max().unwrap_or(0);
            end.note(completed, last, delivered);
            report(monitor, limit, completed, parts.iter().map(|part| part.hops).sum());
            let events = parts.iter().map(|part| part.events).sum();
            let stopped = monitor.stop.load(Ordering::Relaxed);
            self.advance(state, end, next, events, stopped);
        }
        drop(parts);
        *self.after_solo.lock().expect("no panic") = (solos, Some(*state));
        self.wake.notify_all();
    }

    /// The others sleep until thread 0 has worked alone for the `solos`-th time.
    fn follow(&self, solos: u64) -> State {
        let mut slot = self.after_solo.lock().expect("no panic");
        while slot.0 < solos {
            slot = self.wake.wait(slot).expect("no panic");
        }
        slot.1.expect("set together with the count")
    }

    fn barrier(&self, parity: usize, round: u64) {
        let count = self.partitions.len() as u64;
        self.arrived[parity].fetch_add(1, Ordering::AcqRel);
        let want = count * (round / 2 + 1);
        let mut spins = 0u32;
        while self.arrived[parity].load(Ordering::Acquire) < want {
            spins += 1;
            if spins > SPINS {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl Published {
    fn fill(&self, part: &Partition, next: u64) {
        self.next.store(next, Ordering::Relaxed);
        self.events.store(part.events, Ordering::Relaxed);
        self.completed.store(part.completed, Ordering::Relaxed);
        self.last.store(part.last_completion, Ordering::Relaxed);
        self.delivered.store(part.probe.last_delivery(), Ordering::Relaxed);
        self.hops.store(part.hops, Ordering::Relaxed);
    }
}

/// Joins the partitions' records.
fn collect(parts: Vec<Partition>, ended: u64, interrupted: bool) -> (RunRecord, Vec<Captured>) {
    let mut record = RunRecord { ended: Time(ended), interrupted, ..RunRecord::default() };
    let flows = parts[0].common.flows.len();
    record.flows = (0..flows)
        .map(|index| FlowRecord {
            flow: FlowId(index as u32),
            started: None,
            completed: None,
            parts: None,
            delivered: 0,
            packets: 0,
            retransmits: 0,
            wasted: 0,
            decisions: 0,
            decision_age: 0,
            decision_age_max: 0,
            control_packets: 0,
            control_bytes: 0,
            extension_bytes: 0,
        })
        .collect();
    let mut captures: Option<Captures> = None;
    let widths = parts.iter().flat_map(|part| {
        let ports = part.egress.iter().map(|egress| egress.series.width());
        ports.chain([part.deliveries.width()])
    });
    let width = widths.max().unwrap_or(1);
    record.interval = Span(width);
    for part in parts {
        record.packet_hops += part.hops;
        record.events += part.events;
        record.link_losses += part.link_losses;
        collect_flows(&part, &mut record);
        for (port, Egress { mut series, .. }) in part.egress.into_iter().enumerate() {
            let node = part.common.fabric.ports()[port].node.0 as usize;
            if part.common.part_of[node] != part.index {
                continue;
            }
            let nic = part.hosts.get(node).and_then(|host| host.as_ref()?.nic.as_ref());
            if let Some(handler) = part.ports[port].as_ref().or(nic) {
                series.set_marks(handler.marks());
            }
            record.ports.push(series.finish(port as u32, ended, width));
        }
        part.deliveries.finish(width, &mut record);
        match &mut captures {
            Some(all) => all.join(part.captures),
            None => captures = Some(part.captures),
        }
    }
    record.ports.sort_by_key(|port| port.port);
    record.series.sort_by_key(|series| series.flow);
    record.complete = record.flows.iter().all(|flow| flow.completed.is_some());
    (record, captures.map_or(vec![], Captures::finish))
}

fn collect_flows(part: &Partition, record: &mut RunRecord) {
    let ages = part.probe.ages();
    record.decision_ages.resize(ages.len(), Ages::new());
    record.decision_ages.iter_mut().zip(ages).for_each(|(all, part)| all.join(part));
    for (index, trace) in part.probe.senders().iter().enumerate() {
        let setup = &part.common.flows[index].flow;
        let flow = &mut record.flows[index];
        flow.delivered += part.probe.bytes_delivered(FlowId(index as u32));
        flow.decisions += trace.decisions;
        flow.decision_age += trace.decision_age;
        flow.decision_age_max = flow.decision_age_max.max(trace.decision_age_max);
        flow.control_packets += trace.control_packets;
        flow.control_bytes += trace.control_bytes;
        flow.extension_bytes += part.probe.extension_bytes(FlowId(index as u32));
        if part.common.part_of[setup.src.0 as usize] == part.index && trace.opened {
            flow.started = Some(Time(trace.started));
            flow.packets = trace.packets;
            flow.retransmits = trace.retransmits;
            flow.wasted = trace.wasted;
        }
    }
    for outcome in part.probe.outcomes() {
        let flow = &mut record.flows[outcome.flow.0 as usize];
        flow.completed = Some(Time(outcome.completed));
        flow.parts = Some(outcome.parts);
    }
}
