//! What a flow has lost, and how it recovered: rules 2 to 4 of the [breakdown](crate::breakdown).

use crate::breakdown::{Loss, Lost, Parts};
use crate::losses::{Detail, First, Losses};
use crate::recoveries::{Limits, Recoveries};
use crate::room::{excess, growth};
use crate::spent::{Gap, Spent};
use crate::trace::ReceiverTrace;
use crate::{LastPacket, Meta, Stamps};
use incast_wire::FlowId;
use std::collections::VecDeque;

/// The departure of a data packet, that arrived or was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure<'a> {
    pub at: u64,
    /// When the flow started.
    started: u64,
    /// What the sender had done by then.
    pub spent: &'a Spent,
    /// The wait that the packet ended, if it carries one.
    gap: Option<&'a Gap>,
}

impl Departure<'_> {
    fn of(stamps: &Stamps) -> Departure<'_> {
        let Stamps { departed: at, started, ref spent, .. } = *stamps;
        Departure { at, started, spent, gap: stamps.own_gap() }
    }
}

/// A lost data packet that ended a wait.
#[derive(Clone, Copy, Debug)]
struct Ended {
    key: u32,
    again: bool,
    /// When it was lost.
    lost: u64,
    /// When the flow started.
    started: u64,
    /// What the sender had done by the departure.
    spent: Spent,
    /// Since when the flow had sent nothing new, until the departure.
    gap: Gap,
}

impl Ended {
    fn departed(&self) -> u64 {
        self.gap.until
    }

    fn departure(&self) -> Departure<'_> {
        let Ended { started, ref spent, ref gap, .. } = *self;
        Departure { at: gap.until, started, spent, gap: Some(gap) }
    }
}

/// Lost control packets of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    /// When the first ACK was lost.
    ack: Option<u64>,
    /// When the first of the others was lost.
    other: Option<u64>,
    /// How many waits the others explain.
    waits: u32,
}

impl Missing {
    /// When the loss was that explains a wait from `since` to `until`, if one does.
    fn explains(&mut self, since: u64, until: u64, again: bool, patience: u64) -> Option<u64> {
        let long = |at: &u64| since.max(*at) + patience <= until;
        if let Some(at) = self.other.filter(long) {
            self.waits -= 1;
            self.other = (self.waits > 0).then_some(at);
            return Some(at);
        }
        self.ack.filter(|at| again && long(at))
    }
}

/// What a flow has lost, and how it recovered.
#[derive(Default)]
pub(crate) struct FlowLosses {
    /// Data packets.
    data: Losses,
    /// Control packets, if some were lost.
    control: Option<Missing>,
    recoveries: Recoveries,
    /// Lost data packets whose waits are in no recovery yet, in order of departure.
    ended: VecDeque<Ended>,
    /// When the first of them was lost, or before; never without one.
    first_ended: u64,
}

/// Memory that the flows share; nothing is in it between calls.
#[derive(Default)]
pub(crate) struct Scratch {
    ended: Vec<Ended>,
    places: Vec<usize>,
}

impl FlowLosses {
    pub fn new(limits: Limits) -> FlowLosses {
        let recoveries = Recoveries::new(limits);
        FlowLosses { recoveries, first_ended: u64::MAX, ..FlowLosses::default() }
    }

    /// Nothing is lost. Memory is kept for another flow.
    pub fn clear(&mut self) {
        self.data.clear();
        self.control = None;
        self.recoveries.clear();
        self.ended.clear();
        self.first_ended = u64::MAX;
    }

    /// Records a loss. Returns whether it is the only one so far of the packet, or of control packets.
    pub fn lose(&mut self, loss: &Loss, stamps: &Stamps) -> bool {
        let control = match loss.what {
            Lost::Data(key) => {
                self.end_wait(key, loss, stamps);
                return self.data.insert(key, loss, stamps);
            }
            Lost::Control => true,
            Lost::Ack => false,
        };
        let new = self.control.is_none();
        let missing = self.control.get_or_insert_default();
        missing.waits += control as u32;
        let first = if control { &mut missing.other } else { &mut missing.ack };
        *first = Some(first.map_or(loss.at, |at| at.min(loss.at)));
        new
    }

    /// Keeps the wait that a lost packet ended, until a later one arrives.
    fn end_wait(&mut self, key: u32, loss: &Loss, stamps: &Stamps) {
        let Stamps { departed, started, spent, .. } = *stamps;
        let Some(gap) = stamps.own_gap().filter(|_| departed >= started) else { return };
        // Most losses become known in the order of departure.
        let before = self.ended.iter().rposition(|one| one.departed() <= departed);
        let place = before.map_or(0, |before| before + 1);
        let (lost, again) = (loss.at, loss.again);
        if self.ended.len() == self.ended.capacity() {
            self.ended.reserve_exact(growth(self.ended.len()));
        }
        self.first_ended = self.first_ended.min(lost);
        let one = Ended { key, again, lost, started, spent, gap: *gap };
        if place == self.ended.len() {
            self.ended.push_back(one);
        } else {
            self.ended.insert(place, one);
        }
    }

    /// A data packet of the flow has arrived or was lost: see [`Recoveries::count`].
    pub fn count(&mut self, stamps: &Stamps, again: bool, counted: u32) {
        self.recoveries.count(stamps, again, counted);
    }

    /// A packet that arrives at `now` is handled next: what no packet can ask for is forgotten.
    #[inline]
    pub fn forget_old(&mut self, now: u64, scratch: &mut Scratch) {
        self.forget_if_full(scratch);
        self.recoveries.follow(now, self.data.detailed());
    }

    /// If there is much to forget, what no packet can ask for is forgotten.
    #[inline]
    pub fn forget_if_full(&mut self, scratch: &mut Scratch) {
        let detailed = self.data.detailed();
        let full = self.recoveries.are_full(detailed + self.ended.len());
        if full || detailed >= self.recoveries.enough(self.data.full) {
            self.forget(scratch);
        }
    }

    #[cold]
    fn forget(&mut self, scratch: &mut Scratch) {
        let FlowLosses { data, recoveries, ended, .. } = self;
        // Something new was sent between these losses and whatever asks for them.
        let waits = ended.iter().map(|one| one.gap.since);
        data.forget(waits.fold(recoveries.new_since(), u64::min));
        if recoveries.are_full(data.detailed() + ended.len()) {
            let asked = |ask: &mut dyn FnMut(u64)| {
                data.departures().for_each(&mut *ask);
                ended.iter().for_each(|one| ask(one.departed()));
            };
            recoveries.forget(asked, &mut scratch.places);
        }
        recoveries.unfollow(data.detailed());
    }

    /// A packet of the flow is there twice from now on.
    pub fn double(&mut self, stamps: &Stamps) {
        self.recoveries.double(stamps);
    }

    /// Whether the stamps of all its packets are needed.
    pub fn is_followed(&self) -> bool {
        self.recoveries.is_followed()
    }

    /// How many recoveries are kept.
    #[cfg(test)]
    pub fn recovered(&self) -> usize {
        self.recoveries.len()
    }

    /// A data packet with this [`data_key`](Header::data_key) arrives, new or not. A wait shorter
    /// than `patience` is not explained by lost control packets. Returns whether a known loss is
    /// forgotten, which was that of a copy of what had arrived.
    pub fn arrive(
        &mut self,
        key: u32,
        stamps: &Stamps,
        again: bool,
        patience: u64,
        scratch: &mut Scratch,
    ) -> bool {
        // None is lost before it departs.
        if self.first_ended <= stamps.departed {
            self.book_lost(stamps.departed, patience, scratch);
        }
        if stamps.own_gap().is_none() {
            return false;
        }
        let known = if again { self.data.first(key) } else { None };
        let known = known.map(|first| first.again());
        if known == Some(false) {
            return false;
        }
        self.waited(&Departure::of(stamps), again, patience);
        known.is_some() && self.take(key).is_some()
    }

    /// Books the waits that ended with packets that were lost before `departed`. A packet that departed
    /// then arrives: all of these losses are known, in whatever partition they happened.
    fn book_lost(
        &mut self,
        departed: u64,
        patience: u64,
        Scratch { ended: known, .. }: &mut Scratch,
    ) {
        let gone = self.ended.iter().take_while(|one| one.departed() <= departed).count();
        let mut kept = 0;
        for place in 0..gone {
            if self.ended[place].lost <= departed {
                known.push(self.ended[place]);
                continue;
            }
            if kept < place {
                self.ended[kept] = self.ended[place];
            }
            kept += 1;
        }
        self.ended.drain(kept..gone);
        self.first_ended = self.ended.iter().map(|one| one.lost).min().unwrap_or(u64::MAX);
        if let Some(most) = excess(self.ended.len(), self.ended.capacity()) {
            self.ended.shrink_to(most);
        }
        for one in known.drain(..) {
            let departure = one.departure();
            let first = if one.again { self.data.first(one.key) } else { None };
            match first.filter(|first| first.at() <= departure.at) {
                Some(first) => self.repaired(&first, &departure),
                None => self.waited(&departure, one.again, patience),
            }
        }
    }

    /// A packet ended a wait. What it repairs is not known to be lost.
    fn waited(&mut self, departure: &Departure, again: bool, patience: u64) {
        let Departure { at, started, spent, gap: Some(gap) } = *departure else { return };
        if again && self.extend(departure) {
            return;
        }
        // Retransmissions since the last new packet have ended waits of their own.
        let last = self.recoveries.latest(at).filter(|last| last.at > gap.since);
        let (since, done) = last.map_or((gap.since, gap.spent), |last| (last.at, last.spent));
        let missing = self.control.as_mut();
        let lost = missing.and_then(|missing| missing.explains(since, at, again, patience));
        let Some(lost) = lost else { return };
        let mut parts = self.parts_at(since, &done, started);
        let (span, normal) = (at - since, lost.saturating_sub(since));
        parts.add_first(normal, span, &done, spent);
        parts.recovery += span - normal;
        self.resume(departure, parts);
    }

    /// A retransmission goes on with the recovery in which its flow sent nothing new, if there is
    /// one. Whether there is.
    fn extend(&mut self, departure: &Departure) -> bool {
        let since = departure.gap.map(|gap| gap.since);
        let last = self.recoveries.latest(departure.at);
        let Some(last) = last.filter(|last| since.is_some_and(|since| last.at >= since)) else {
            return false;
        };
        let last = *last;
        self.recoveries.extend(&last, departure.at, *departure.spent);
        true
    }

    /// Takes the loss of a packet.
    #[inline]
    fn take(&mut self, key: u32) -> Option<First> {
        let loss = self.data.remove(key);
        if self.data.is_empty() {
            self.recoveries.unfollow(0);
        }
        loss
    }

    /// A packet has arrived for the first time. Returns whether a loss of it was known, which is
    /// then forgotten.
    pub fn deliver(&mut self, key: u32, stamps: Option<&Stamps>) -> bool {
        let Some(loss) = self.take(key) else { return false };
        // A copy that departed before the loss is not its retransmission. What was lost before the
        // flow began was not the flow's.
        let departed = self.data.detail(&loss).map_or(loss.at(), |detail| detail.departed);
        let repairs = |stamps: &&Stamps| loss.at() <= stamps.departed && stamps.started <= departed;
        if let Some(stamps) = stamps.filter(repairs) {
            self.repaired(&loss, &Departure::of(stamps));
        }
        true
    }

    /// A packet that was lost departs again.
    fn repaired(&mut self, loss: &First, departure: &Departure) {
        if self.extend(departure) {
            return;
        }
        let Departure { at, started, gap, .. } = *departure;
        let parts = match gap.filter(|gap| gap.since > loss.at()) {
            Some(gap) => {
                let mut parts = self.parts_at(gap.since, &gap.spent, started);
                parts.recovery += at - gap.since;
                parts
            }
            None => {
                // They are forgotten of a loss after which something new was sent.
                let Some(detail) = self.data.detail(loss) else { return };
                let Detail { departed, ref spent, ref waited, serialised, .. } = *detail;
                let mut parts = self.parts_at(departed, spent, started);
                parts.add_path(departed, waited, serialised, loss.at());
                parts.recovery += at - loss.at();
                parts
            }
        };
        self.resume(departure, parts);
    }

    /// Where the time went until `at`, when the sender had done `spent`.
    fn parts_at(&self, at: u64, spent: &Spent, started: u64) -> Parts {
        let mut parts = Parts::default();
        match self.recoveries.latest(at) {
            Some(last) => {
                parts = self.recoveries.parts(last);
                parts.add_sender(at - last.at, &last.spent, spent);
            }
            None => parts.add_sender(at - started, &Spent::default(), spent),
        }
        parts
    }

    /// A recovery was over with the departure of this packet.
    fn resume(&mut self, departure: &Departure, parts: Parts) {
        self.recoveries.insert(departure.at, *departure.spent, parts);
    }
}

/// What a flow has lost, if anything.
#[inline]
pub(crate) fn of<'a>(
    lossy: &'a mut [FlowLosses],
    trace: &ReceiverTrace,
) -> Option<&'a mut FlowLosses> {
    lossy.get_mut((trace.entry as usize).wrapping_sub(1))
}

/// Where the time went until the departure of a packet of a flow with these losses.
pub(crate) fn before(losses: Option<&FlowLosses>, stamps: &Stamps) -> Parts {
    let Stamps { departed, started, ref spent, .. } = *stamps;
    match losses {
        Some(losses) => losses.parts_at(departed, spent, started),
        None => {
            let mut parts = Parts::default();
            parts.add_sender(departed - started, &Spent::default(), spent);
            parts
        }
    }
}

/// Where the whole time of `flow` went that is complete with this packet, and when the flow began.
pub(crate) fn whole(
    flow: FlowId,
    losses: Option<&FlowLosses>,
    stamps: &Stamps,
    meta: &Meta,
    path: u16,
    now: u64,
) -> (Parts, LastPacket, u64) {
    let mut parts = before(losses, stamps);
    let Stamps { started, worst, worst_port, departed, ref waited, .. } = *stamps;
    parts.add_path(departed, waited, meta.serialised, now);
    assert_eq!(parts.total(), now - started, "parts of flow {} do not add up", flow.0);
    let worst_port = if worst > 0 { worst_port } else { 0 };
    (parts, LastPacket { path, worst_port, worst_wait: worst }, started)
}
