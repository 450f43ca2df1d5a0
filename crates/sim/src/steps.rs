//! A run in one thread, step by step, that can be looked at between two steps.

use crate::build::build;
use crate::partition::Partition;
use crate::record::collect;
use incast_transport::{Bin, FlowId, Observed, Outcome, RunRecord, SenderTrace};
use incast_world::{Captured, End, Monitor, Setup};

/// Events between two progress reports, about a millisecond.
const EVENTS_PER_REPORT: u64 = 8_192;

/// A run in one thread. Its record does not depend on how it is cut into steps, nor on being looked
/// at.
pub struct Steps {
    part: Partition,
    end: End,
    reached: u64,
    over: bool,
}

/// What a port is like at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortState {
    /// Bytes that wait, as links charge them, without the packet in transmission.
    pub backlog: u64,
    /// Sums since the start of the run.
    pub total: Bin,
    /// Packets marked since the start of the run.
    pub marks: u64,
    /// The classes that PFC pauses now, one bit each.
    pub paused: u8,
}

impl Partition {
    /// When payload was last delivered here, or a flow will open that waits for nothing but that.
    pub fn last_delivery(&self) -> u64 {
        self.net.transit.probe.last_delivery().max(self.openings.progress.opens)
    }
}

impl Steps {
    /// At the start of a run.
    pub fn new(setup: Setup) -> Steps {
        let end = End::of(&setup);
        let (mut partitions, _) = build(setup, 1);
        Steps::of(partitions.remove(0), end)
    }

    pub(crate) fn of(part: Partition, end: End) -> Steps {
        Steps { part, end, reached: 0, over: false }
    }

    /// Runs to the end.
    pub(crate) fn run(mut self, monitor: &Monitor) -> (RunRecord, Vec<Captured>) {
        while !self.step(u64::MAX, EVENTS_PER_REPORT) && !monitor.stopped() {
            self.report(monitor);
        }
        self.report(monitor);
        self.finish(monitor.stopped())
    }

    fn report(&self, monitor: &Monitor) {
        monitor.report(self.part.net.now(), self.completed(), self.hops());
    }

    /// Runs at most `most` events before `until` picoseconds. Returns whether the run is over.
    pub fn step(&mut self, until: u64, most: u64) -> bool {
        let last = self.part.events.saturating_add(most);
        // What is completed or delivered moves the end, up to which there may be more to do.
        while self.advance(until, last) && !self.over && self.part.events < last {}
        self.over
    }

    /// Runs until `until`, the end as it is known now, or the `last` event. Returns whether the end has
    /// moved meanwhile.
    fn advance(&mut self, until: u64, last: u64) -> bool {
        let before = self.end.limit();
        let limit = before.min(until);
        let more = self.part.run_some(limit, last - self.part.events, self.end.goal());
        let transit = &mut self.part.net.transit;
        transit.captures.reach(transit.agenda.now);
        let progress = &self.part.openings.progress;
        let (last, whole) = (progress.last_completion, progress.whole);
        let (done, delivered) = (progress.done, self.part.last_delivery());
        self.end.note(done, last, delivered, whole);
        let mut moved = self.end.limit() != before;
        let deadlock = !self.part.net.buffers.deadlock.is_empty();
        if !deadlock && !more && limit == before && !moved {
            self.over = self.part.net.transit.is_idle() || self.ends_at(limit);
            moved = !self.over;
        }
        self.over |= deadlock;
        let idle = self.end.at == u64::MAX && self.part.net.transit.is_idle();
        self.reached = match more || deadlock || self.over && idle {
            true => self.reached.max(self.part.net.now()),
            false => self.reached.max(limit),
        };
        moved
    }

    /// Whether the run ends at `limit`, its end as it is known, before which every event has been handled.
    fn ends_at(&mut self, limit: u64) -> bool {
        if self.end.is_silence() {
            self.part.bring_to(limit);
        }
        self.end.is_over(self.part.net.transit.work())
    }

    /// The instant reached, picoseconds: every event before it has been handled.
    pub fn now(&self) -> u64 {
        self.reached
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Flows completed.
    pub fn completed(&self) -> usize {
        self.part.openings.progress.completed
    }

    /// Packets that began transmission.
    pub fn hops(&self) -> u64 {
        self.part.net.transit.hops
    }

    /// Events handled.
    pub fn events(&self) -> u64 {
        self.part.events
    }

    /// Every port of the fabric now, in order.
    pub fn ports(&mut self) -> Vec<PortState> {
        let now = self.reached;
        self.part.bring_to(now);
        let state = |port: usize| {
            let (egress, body) = (&self.part.net.egress[port], &self.part.net.bodies[port]);
            let of_nic = || {
                let host = self.part.hosts.get(self.part.net.node_of(port as u32) as usize)?;
                host.as_ref()?.end.marks()
            };
            let marks = body.handler.as_ref().map(|handler| handler.marks()).or_else(of_nic);
            PortState {
                backlog: egress.series.backlog(),
                total: egress.series.so_far(now),
                marks: marks.unwrap_or(0),
                paused: !egress.transmitter.open,
            }
        };
        (0..self.part.net.egress.len()).map(state).collect()
    }

    /// The sending sides of all flows, in order.
    pub fn senders(&self) -> &[SenderTrace] {
        self.part.net.transit.probe.senders()
    }

    /// Payload bytes of a flow that have arrived.
    pub fn delivered(&self, flow: u32) -> u64 {
        self.part.net.transit.probe.bytes_delivered(FlowId(flow))
    }

    /// The completed flows, in order of completion.
    pub fn outcomes(&self) -> &[Outcome] {
        self.part.net.transit.probe.outcomes()
    }

    /// What the source of a flow tells of it.
    pub fn observe(&self, flow: u32) -> Observed {
        let setup = &self.part.net.transit.common.flows[flow as usize];
        let source = self.part.hosts[setup.flow.src.0 as usize].as_ref();
        let end = &source.expect("there is one partition").end;
        end.observe(setup.transport, setup.flow.id, self.reached)
    }

    /// Ends the run; if it is not over it is cut off here, as `interrupted`.
    pub fn finish(self, interrupted: bool) -> (RunRecord, Vec<Captured>) {
        let (interrupted, mut part) = (interrupted || !self.over, self.part);
        if interrupted {
            let now = part.net.now().max(self.reached);
            part.net.transit.agenda.now = now;
        }
        finish(vec![part], &self.end, interrupted)
    }
}

/// The record of partitions that have run to `end`, or until somebody interrupted them.
pub(crate) fn finish(
    mut partitions: Vec<Partition>,
    end: &End,
    interrupted: bool,
) -> (RunRecord, Vec<Captured>) {
    let busy = partitions.iter().any(|part| !part.net.transit.is_idle());
    let last = partitions.iter().map(|part| part.net.now()).max().unwrap_or(0);
    let deadlock = std::mem::take(&mut partitions[0].net.buffers.deadlock);
    let ended = end.ended(last, busy, interrupted || !deadlock.is_empty());
    if !interrupted {
        partitions.iter_mut().for_each(|part| part.settle_until(ended));
    }
    let (mut record, captured) = collect(partitions, ended);
    record.interrupted = interrupted;
    record.deadlock = deadlock;
    if busy && !record.complete && !interrupted {
        record.stalled_since = end.stalled_since();
    }
    (record, captured)
}
