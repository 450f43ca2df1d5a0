//! Batches of racks: parts of a partition that are advanced one after the other, each for a window,
//! so that what a window touches stays in the cache. A window is no longer than any propagation
//! between two batches, so none depends on what another does in it.

use crate::agenda::Agenda;
use incast_transport::{Loss, PacketRef, Stamps};

/// A packet on its way to another batch of the same partition.
pub(crate) struct Passing {
    pub at: u64,
    /// The port of the reverse path where it arrives.
    pub reverse: u32,
    pub packet: PacketRef,
}

/// The batches of a partition. A partition of one batch has none.
#[derive(Default)]
pub(crate) struct Batches {
    /// Their agendas but that of the current one.
    agendas: Vec<Agenda>,
    /// No event is before this instant.
    due: Vec<u64>,
    /// What others have sent to each in this window.
    arrivals: Vec<Vec<Passing>>,
    /// The number of the first one in the run.
    first: u32,
    /// The current one, in the partition.
    current: usize,
    /// Length of a window in picoseconds.
    pub window: u64,
    /// Losses of packets whose flows end in other batches.
    pub losses: Vec<(Loss, Stamps)>,
}

impl Batches {
    /// `count` batches from number `first` on, if there are several.
    pub fn new(first: u32, count: u32, window: u64, seed: u64) -> Batches {
        let count = if count > 1 { count as usize } else { 0 };
        Batches {
            agendas: (0..count).map(|_| Agenda::new(seed)).collect(),
            due: vec![0; count],
            arrivals: (0..count).map(|_| vec![]).collect(),
            first,
            window,
            ..Batches::default()
        }
    }

    /// Number of batches.
    pub fn count(&self) -> usize {
        self.due.len().max(1)
    }

    /// The current batch, in the partition.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Whether `batch` of the run is the current one.
    pub fn is_current(&self, batch: u32) -> bool {
        batch == self.first + self.current as u32
    }

    /// Sends a packet to `batch` of the run; false if that is not here.
    #[inline]
    pub fn post(&mut self, batch: u32, passing: Passing) -> bool {
        let to = self.arrivals.get_mut(batch.wrapping_sub(self.first) as usize);
        to.map(|to| to.push(passing)).is_some()
    }

    /// The agenda of `batch` of the run, if there are several; an event at `at` is added to it.
    pub fn agenda_for(&mut self, batch: u32, at: u64) -> Option<&mut Agenda> {
        let place = batch.wrapping_sub(self.first) as usize;
        let due = self.due.get_mut(place)?;
        *due = (*due).min(at);
        Some(&mut self.agendas[place])
    }

    /// The earliest instant at which an event may be.
    pub fn next(&self) -> u64 {
        self.due.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// The time of the earliest event.
    pub fn earliest(&self) -> u64 {
        let all = self.agendas.iter().map(|agenda| agenda.queue.earliest());
        all.min().unwrap_or(u64::MAX)
    }

    /// Whether no event is pending in any batch.
    pub fn is_empty(&self) -> bool {
        self.agendas.iter().all(|agenda| agenda.queue.is_empty())
    }

    /// Whether a batch may have an event before `limit`.
    pub fn is_due(&self, batch: usize, limit: u64) -> bool {
        self.due[batch] < limit
    }

    /// Makes a batch the current one; `agenda` is of none.
    pub fn enter(&mut self, batch: usize, agenda: &mut Agenda) {
        self.current = batch;
        std::mem::swap(&mut self.agendas[batch], agenda);
    }

    /// The current batch has no event before `due` any more.
    pub fn leave(&mut self, agenda: &mut Agenda, due: u64) {
        let own = &mut self.agendas[self.current];
        self.due[self.current] = due;
        std::mem::swap(own, agenda);
        agenda.now = agenda.now.max(own.now);
    }

    /// Schedules what was sent in a window.
    pub fn exchange(&mut self) {
        let all = self.arrivals.iter_mut().zip(&mut self.agendas).zip(&mut self.due);
        for ((arrivals, agenda), due) in all {
            for Passing { at, reverse, packet } in arrivals.drain(..) {
                *due = (*due).min(at);
                agenda.schedule_arrival(at, reverse, packet);
            }
        }
    }
}
