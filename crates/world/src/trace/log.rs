//! What is traced, and where it is kept: the first events of the run, however it is divided.

use incast_transport::{FlowId, Place, Time, Trace, TraceEvent};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Events that a place keeps before it hands them to the log.
const BATCH: usize = 256;

/// What is traced: events of one of the flows at one of the places, within the window. Pauses are
/// events of ports alone, and traced at all ports.
#[derive(Clone, Debug)]
pub struct TraceFilter {
    /// Which flows; all if this is empty.
    pub flows: BTreeSet<u32>,
    /// Which ports. If neither ports nor hosts are named, all are traced.
    pub ports: BTreeSet<u32>,
    /// Which hosts, by the port number of their NIC. With queues of its own, a NIC is a port too.
    pub hosts: BTreeSet<u32>,
    /// Start of the window.
    pub from: Time,
    /// End of the window, itself outside.
    pub until: Time,
    /// Most events: the first ones of the run.
    pub limit: usize,
}

impl TraceFilter {
    /// Whether events of a flow are traced.
    #[inline]
    pub fn selects(&self, flow: FlowId) -> bool {
        self.flows.is_empty() || self.flows.contains(&flow.0)
    }

    /// Whether events of a place are traced.
    pub fn selects_place(&self, place: Place) -> bool {
        let all = self.ports.is_empty() && self.hosts.is_empty();
        let among = if place.host { &self.hosts } else { &self.ports };
        all || among.contains(&place.port)
    }

    /// Whether events at `at` are traced.
    #[inline]
    fn covers(&self, at: Time) -> bool {
        self.from <= at && at < self.until
    }
}

/// Events of all places, in no order until [`finish`](TraceLog::finish).
#[derive(Debug)]
pub struct TraceLog {
    filter: TraceFilter,
    kept: Mutex<Kept>,
    /// Later events are beyond the limit.
    horizon: AtomicU64,
    /// Writers that are still there.
    writers: AtomicUsize,
}

#[derive(Debug, Default)]
struct Kept {
    events: Vec<TraceEvent>,
    beyond: bool,
}

impl Kept {
    fn cut(&mut self, limit: usize) {
        self.events.sort_unstable_by_key(|event| (event.at, event.place, event.serial));
        self.beyond |= self.events.len() > limit;
        self.events.truncate(limit);
    }
}

impl TraceLog {
    pub(super) fn new(filter: TraceFilter) -> TraceLog {
        let (horizon, writers) = (AtomicU64::new(u64::MAX), AtomicUsize::new(0));
        TraceLog { filter, kept: Mutex::default(), horizon, writers }
    }

    /// What is traced.
    pub fn filter(&self) -> &TraceFilter {
        &self.filter
    }

    fn add(&self, events: &mut Vec<TraceEvent>) {
        let mut kept = self.kept.lock().expect("no panic");
        kept.events.append(events);
        let limit = self.filter.limit;
        if kept.events.len() >= limit.saturating_mul(2).max(BATCH) {
            kept.cut(limit);
            let last = kept.events.last().map_or(0, |event| event.at.0);
            self.horizon.store(last, Ordering::Relaxed);
        }
    }

    /// Takes the trace of a run whose world is gone.
    pub fn finish(&self) -> Trace {
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "the world is still there");
        let mut kept = self.kept.lock().expect("no panic");
        kept.cut(self.filter.limit);
        let cut_at = kept.beyond.then_some(self.filter.limit as u64);
        Trace { events: std::mem::take(&mut kept.events), cut_at }
    }
}

/// The events of one place.
#[derive(Debug)]
pub(crate) struct Writer {
    log: Arc<TraceLog>,
    pub place: Place,
    serial: u32,
    /// An event beyond the limit was left out at once.
    beyond: bool,
    batch: Vec<TraceEvent>,
}

impl Writer {
    pub fn new(log: &Arc<TraceLog>, place: Place) -> Writer {
        log.writers.fetch_add(1, Ordering::Relaxed);
        Writer { log: log.clone(), place, serial: 0, beyond: false, batch: vec![] }
    }

    /// Whether events of a flow are traced.
    #[inline]
    pub fn selects(&self, flow: FlowId) -> bool {
        self.log.filter.selects(flow)
    }

    /// Adds an event of this place, if it is in the window.
    pub fn write(&mut self, event: TraceEvent) {
        if !self.log.filter.covers(event.at) {
            return;
        }
        if event.at.0 > self.log.horizon.load(Ordering::Relaxed) {
            self.beyond = true;
            return;
        }
        self.batch.push(TraceEvent { place: self.place, serial: self.serial, ..event });
        self.serial += 1;
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.log.add(&mut self.batch);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.flush();
        if self.beyond {
            self.log.kept.lock().expect("no panic").beyond = true;
        }
        self.log.writers.fetch_sub(1, Ordering::Relaxed);
    }
}
