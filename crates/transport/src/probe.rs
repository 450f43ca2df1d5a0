//! Breakdown of flow completion times, and the age of the information behind decisions.
//!
//! The sender accumulates NIC time and waiting time per flow. Each data packet carries a snapshot
//! from its departure and accumulates its queueing delays on the path; worlds report losses. When
//! the last packet arrives, the [breakdown](crate::breakdown) of the completion time follows from
//! these: the parts of an [`Outcome`] add up to it to the picosecond.
//!
//! The flows of a run are numbered from 0 and have their entries for the whole run. Flows opened
//! while it goes on have larger numbers; they are admitted and dismissed one by one, and leave
//! only word that they have ended.

use crate::breakdown::Lost;
use crate::flow_losses::{self, FlowLosses, Scratch, of};
use crate::losses::Spread;
use crate::paths::PathTrace;
use crate::pool::HAS_GAP;
use crate::recoveries::{COPY, Limits};
use crate::spent::Gap;
use crate::trace::{
    Ended, HostClock, Known, KnownFlows, Outcome, ReceiverTrace, Reordering, SenderTrace,
};
use crate::{Histogram, Loss, Meta, Reason, Stamps, TIERS};
use incast_units::Time;
use incast_wire::{FlowId, Packet, flag};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Collects flow statistics. There is one per partition of a world; flow numbers are those of the
/// run. What is said of a flow that is neither of the run nor [admitted](Probe::admit) is not kept.
pub struct Probe {
    /// The flows of the run, then a spare entry for flows that are not known, then admitted ones.
    senders: Vec<SenderTrace>,
    /// The same.
    receivers: Vec<ReceiverTrace>,
    /// Number of flows of the run.
    run: usize,
    /// Entries of admitted flows.
    admitted: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    /// Entries that are not in use.
    free: Vec<u32>,
    /// Packets sent, and sent again, of flows that were dismissed.
    gone: (u64, u64),
    /// Ends of admitted flows that nobody has taken yet.
    ended: Vec<Ended>,
    /// What flows have lost, by [`ReceiverTrace::entry`].
    lossy: Vec<FlowLosses>,
    /// Entries of `lossy` that are not in use.
    unused: Vec<u32>,
    limits: Limits,
    scratch: Scratch,
    /// Shortest wait that the loss of a control packet may explain.
    patience: u64,
    outcomes: Vec<Outcome>,
    /// Flows of the run whose sources know that they have arrived, and when; only if somebody wants to know.
    known: Option<Vec<(FlowId, u64)>>,
    /// Entries of `outcomes` and `known`.
    news: usize,
    deliveries: Option<Vec<(FlowId, u64, u32)>>,
    clock: HostClock,
    now: u64,
    /// When new payload last arrived.
    last_delivery: u64,
    /// How often timers of hosts ran.
    pub wakes: u64,
    /// What the last call of `delivered` reported, until somebody takes it.
    delivery: Option<(FlowId, u64, u32)>,
    /// The packet that is being received: stamps, state, and path.
    arriving: Option<(Stamps, Meta, u16)>,
    /// Ages of information, by transport.
    ages: Vec<Histogram>,
    /// The paths of the flows of the run, if they are recorded.
    paths: Option<Vec<PathTrace>>,
}

impl Default for Probe {
    fn default() -> Probe {
        Probe::new(0, false)
    }
}

impl Probe {
    /// A probe for `flows` flows. With `log_deliveries` it keeps every delivered range, for tests.
    pub fn new(flows: usize, log_deliveries: bool) -> Probe {
        Probe {
            senders: vec![SenderTrace::default(); flows + 1],
            receivers: vec![ReceiverTrace::default(); flows + 1],
            run: flows,
            admitted: HashMap::default(),
            free: vec![],
            gone: (0, 0),
            ended: vec![],
            lossy: vec![],
            unused: vec![],
            limits: Limits::default(),
            scratch: Scratch::default(),
            patience: 0,
            outcomes: vec![],
            known: None,
            news: 0,
            deliveries: log_deliveries.then(Vec::new),
            clock: HostClock::default(),
            now: 0,
            last_delivery: 0,
            wakes: 0,
            delivery: None,
            arriving: None,
            ages: vec![Histogram::new()],
            paths: None,
        }
    }

    /// The flow's entry.
    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        let number = flow.0 as usize;
        if number < self.run { number } else { self.beyond(flow) }
    }

    /// The entry of a flow that is not of the run.
    #[cold]
    fn beyond(&self, flow: FlowId) -> usize {
        self.admitted.get(&(flow.0 as u64)).map_or(self.run, |place| *place as usize)
    }

    #[inline]
    fn sender(&mut self, flow: FlowId) -> &mut SenderTrace {
        let place = self.place(flow);
        &mut self.senders[place]
    }

    #[inline]
    fn receiver(&mut self, flow: FlowId) -> &mut ReceiverTrace {
        let place = self.place(flow);
        &mut self.receivers[place]
    }

    // -- called by transports ------------------------------------------------------------------

    /// Sets the reason for which the flow does not send; [`Reason::Ready`] clears it.
    #[inline]
    pub fn blocked(&mut self, flow: FlowId, reason: Reason) {
        let (now, idle) = (self.now, self.clock.idle(self.now));
        let trace = self.sender(flow);
        if trace.reason != reason {
            trace.book(now, idle);
            trace.reason = reason;
        }
    }

    /// Records a decision of the flow's sender or receiver on information from time `informed`.
    #[inline]
    pub fn decision(&mut self, flow: FlowId, informed: Time) {
        let age = self.now.saturating_sub(informed.0);
        let place = self.place(flow);
        let trace = &mut self.senders[place];
        trace.decisions += 1;
        trace.decision_age += age;
        trace.decision_age_max = trace.decision_age_max.max(age);
        self.ages[trace.transport as usize].add(age);
    }

    /// Records that a timer of the flow's sender or receiver has expired, and that something is sent
    /// or asked for again for it.
    pub fn timeout(&mut self, flow: FlowId) {
        self.sender(flow).timeouts += 1;
    }

    /// Counts a credit, grant or token that arrived when no data was left to send.
    #[inline]
    pub fn wasted(&mut self, flow: FlowId) {
        self.sender(flow).wasted += 1;
    }

    /// Records that the flow's sender learns that everything has been delivered: by the last ACK, or
    /// by the packet with which a receiver ends a flow. What it learns again is ignored.
    pub fn acknowledged(&mut self, flow: FlowId) {
        let (at, place) = (Time(self.now), self.place(flow));
        let known = self.senders[place].acknowledged.replace(at);
        match known {
            Some(first) => self.senders[place].acknowledged = Some(first),
            None if place > self.run => self.ended.push(Ended { flow, at, received: false }),
            None if place < self.run => {
                if let Some(known) = &mut self.known {
                    known.push((flow, at.0));
                    self.news += 1;
                }
            }
            None => {}
        }
    }

    /// Records the first arrival of `payload` bytes at `offset`. `key` is the packet's
    /// [`data_key`](incast_wire::Header::data_key).
    #[inline]
    pub fn delivered(&mut self, flow: FlowId, key: u32, offset: u64, payload: u32) {
        let trace = self.receiver(flow);
        trace.delivered += payload as u64;
        let missing = trace.losses > 0;
        self.last_delivery = self.last_delivery.max(self.now);
        self.delivery = Some((flow, offset, payload));
        if let Some(log) = &mut self.deliveries {
            log.push((flow, offset, payload));
        }
        if missing {
            self.recover(flow, key);
        }
    }

    /// Records that a receiver gives up what had arrived of a flow: if more of it comes, it begins
    /// anew.
    pub fn forgot(&mut self, flow: FlowId) {
        self.receiver(flow).delivered = 0;
    }

    fn recover(&mut self, flow: FlowId, key: u32) {
        let place = self.place(flow);
        let trace = &mut self.receivers[place];
        let Some(losses) = of(&mut self.lossy, trace) else { return };
        let stamps = self.arriving.as_ref().map(|(stamps, ..)| stamps);
        trace.losses -= losses.deliver(key, stamps) as u32;
        trace.followed = losses.is_followed();
    }

    /// Records that the flow is complete. Called once, while the last packet is received, after its
    /// [`delivered`](Probe::delivered).
    pub fn completed(&mut self, flow: FlowId) {
        let place = self.place(flow);
        if place == self.run {
            return;
        }
        let trace = &mut self.receivers[place];
        assert!(!trace.completed, "flow {} completed twice", flow.0);
        trace.completed = true;
        if place > self.run {
            self.forget_losses(place);
            return self.ended.push(Ended { flow, at: Time(self.now), received: true });
        }
        // Without stamps it was not the flow's last byte that came: a packet said so that is not
        // the flow's. To the record the flow is not complete.
        if let Some((stamps, meta, path)) = &self.arriving {
            let losses = of(&mut self.lossy, trace).map(|losses| &*losses);
            let (parts, last, started) =
                flow_losses::whole(flow, losses, stamps, meta, *path, self.now);
            self.outcomes.push(Outcome { flow, started, completed: self.now, parts, last });
            self.news += 1;
        }
        self.forget_losses(place);
    }

    /// A flow is complete or given up.
    fn forget_losses(&mut self, place: usize) {
        let trace = &mut self.receivers[place];
        let entry = std::mem::take(&mut trace.entry);
        if let Some(losses) = self.lossy.get_mut((entry as usize).wrapping_sub(1)) {
            losses.clear();
            self.unused.push(entry);
        }
        (trace.losses, trace.followed) = (0, false);
    }

    // -- called by worlds ----------------------------------------------------------------------

    /// Sets the time and the NIC clock of the host whose transport is called next.
    #[inline]
    pub fn enter(&mut self, now: Time, clock: HostClock) {
        self.now = now.0;
        self.clock = clock;
    }

    /// Sets the size of each flow in bytes, from which [`arrives`](Probe::arrives) knows the last packet.
    pub fn expect(&mut self, sizes: impl Iterator<Item = u64>) {
        self.receivers[..self.run]
            .iter_mut()
            .zip(sizes)
            .for_each(|(trace, size)| trace.size = size);
    }

    /// Sets the transport index of each flow, so that ages of information are counted per
    /// transport. By default all are counted together.
    pub fn group(&mut self, transports: impl Iterator<Item = u8>) {
        let mut most = 0;
        for (trace, transport) in self.senders[..self.run].iter_mut().zip(transports) {
            trace.transport = transport;
            most = most.max(transport);
        }
        self.ages.resize(self.ages.len().max(most as usize + 1), Histogram::new());
    }

    /// Counts the overhead of a received packet of `charged` bytes: all bytes of packets without
    /// payload, and the header extension of data packets.
    #[inline]
    pub fn received(&mut self, packet: &Packet, charged: u32) {
        if !packet.is_data() {
            let trace = self.sender(packet.flow);
            trace.control_packets += 1;
            trace.control_bytes += charged as u64;
        } else if packet.extension > 0 {
            let trace = self.receiver(packet.flow);
            trace.extension_bytes += packet.extension as u64;
        }
    }

    /// Sets the shortest wait that the loss of a control packet may explain: what is detected and
    /// repaired takes a round trip. Not less than any propagation, or it is not known in time.
    pub fn set_patience(&mut self, patience: u64) {
        self.patience = patience;
    }

    /// Counts a data packet that arrives. Returns whether its stamps are needed: it may complete its flow
    /// or end a recovery. If so, call [`arriving`](Probe::arriving), else [`passing`](Probe::passing).
    #[inline]
    pub fn arrives(&mut self, packet: &Packet, stamps: &Stamps) -> bool {
        self.receiver(packet.flow).arrives(packet, stamps)
    }

    /// Whether some flow has lost something, so that stamps are needed of many packets.
    #[inline]
    pub fn has_losses(&self) -> bool {
        !self.lossy.is_empty()
    }

    /// Announces a data packet whose stamps are not needed.
    #[inline]
    pub fn passing(&mut self) {
        self.arriving = None;
    }

    /// Announces a data packet with its stamps.
    pub fn arriving(&mut self, packet: &Packet, stamps: &Stamps, meta: &Meta) {
        self.arriving = Some((*stamps, *meta, packet.path));
        let (place, again) = (self.place(packet.flow), packet.has(flag::RETRANSMIT));
        let trace = &mut self.receivers[place];
        if trace.completed {
            return;
        }
        let Some(losses) = of(&mut self.lossy, trace) else { return };
        losses.forget_old(self.now, &mut self.scratch);
        trace.counted = trace.counted.wrapping_sub((stamps.ordinal() == COPY) as u32);
        losses.count(stamps, again, trace.counted);
        if trace.losses > 0 || again {
            let key = packet.header.data_key();
            let (patience, scratch) = (self.patience, &mut self.scratch);
            trace.losses -= losses.arrive(key, stamps, again, patience, scratch) as u32;
        }
        trace.followed = losses.is_followed();
    }

    /// A packet is there twice from now on. These are the stamps of its copy.
    pub fn doubles(&mut self, packet: &Packet, stamps: &mut Stamps) {
        let place = self.place(packet.flow);
        if packet.is_data() && stamps.ordinal() > 0 && place != self.run {
            stamps.number |= COPY;
            self.losses_of(place).0.double(stamps);
            self.receivers[place].followed = true;
        }
    }

    /// Records the start of a flow in this partition.
    pub fn opened(&mut self, flow: FlowId) {
        let (now, idle) = (self.now, self.clock.idle(self.now));
        let trace = self.sender(flow);
        trace.opened = true;
        trace.started = now;
        (trace.booked, trace.idle, trace.fresh.0) = (now, idle, now);
    }

    /// Records the departure of a data packet that occupies the NIC for `tx` picoseconds (0 if it
    /// is queued in the NIC first, see [`occupies`](Probe::occupies)). Writes the flow's snapshot
    /// into its stamps.
    #[inline]
    pub fn departs(&mut self, flow: FlowId, tx: u64, retransmit: bool, stamps: &mut Stamps) {
        let (now, idle, patience) = (self.now, self.clock.idle(self.now), self.patience);
        let trace = self.sender(flow);
        trace.book(now, idle);
        stamps.started = trace.started;
        stamps.departed = now;
        (stamps.waited, stamps.worst) = ([0; TIERS], 0);
        stamps.spent = trace.spent;
        let (since, spent) = trace.fresh;
        let gap = retransmit || now.saturating_sub(since) >= patience;
        if gap {
            stamps.gap = Gap { until: now, since, spent };
        }
        trace.occupy(now, tx, retransmit);
        trace.packets += 1;
        stamps.number = trace.packets & !HAS_GAP | if gap { HAS_GAP } else { 0 };
        trace.retransmits += retransmit as u32;
    }

    /// Records that a data packet queued in the NIC starts transmission and occupies the NIC for
    /// `tx` picoseconds.
    pub fn occupies(&mut self, flow: FlowId, tx: u64, retransmit: bool) {
        let (now, idle) = (self.now, self.clock.idle(self.now));
        let trace = self.sender(flow);
        trace.book(now, idle);
        trace.occupy(now, tx, retransmit);
    }

    /// Records the loss of a packet with these stamps, in the partition of the flow's receiver. A packet
    /// may be lost after its payload: its stamps have no number then.
    pub fn record_loss(&mut self, loss: &Loss, stamps: &Stamps) {
        let place = self.place(loss.flow);
        let trace = &mut self.receivers[place];
        if place == self.run || trace.completed {
            return;
        }
        let counts = matches!(loss.what, Lost::Data(_)) && stamps.ordinal() > 0;
        trace.counted = trace.counted.wrapping_add((counts && stamps.ordinal() != COPY) as u32);
        let counted = trace.counted;
        let (losses, scratch) = self.losses_of(place);
        losses.forget_if_full(scratch);
        let new = losses.lose(loss, stamps);
        if counts {
            losses.count(stamps, loss.again, counted);
        }
        self.receivers[place].losses += new as u32;
    }

    /// What a flow has lost, and shared memory. Its entry is made if it has none.
    fn losses_of(&mut self, place: usize) -> (&mut FlowLosses, &mut Scratch) {
        let entry = &mut self.receivers[place].entry;
        if *entry == 0 {
            *entry = self.unused.pop().unwrap_or_else(|| {
                self.lossy.push(FlowLosses::new(self.limits));
                self.lossy.len() as u32
            });
        }
        (&mut self.lossy[*entry as usize - 1], &mut self.scratch)
    }

    // -- what is known ---------------------------------------------------------------------------

    /// All that is known when the run is over.
    pub fn finish(self) -> Known {
        let Probe { mut senders, mut receivers, outcomes, ages, run, paths, .. } = self;
        senders.truncate(run);
        receivers.truncate(run);
        let paths = paths.unwrap_or_default();
        Known { ages, flows: KnownFlows { senders, receivers, paths }, outcomes }
    }

    /// Sender records of the flows of the run, indexed by flow.
    pub fn senders(&self) -> &[SenderTrace] {
        &self.senders[..self.run]
    }

    /// When a flow was opened here, in picoseconds; 0 if it was not.
    pub fn started(&self, flow: FlowId) -> u64 {
        self.senders[self.place(flow)].started
    }

    /// When new payload last arrived, in picoseconds; 0 before the first.
    pub fn last_delivery(&self) -> u64 {
        self.last_delivery
    }

    /// The range `(flow, offset, bytes)` that was delivered last, once: a world that carries real
    /// payload takes it after every packet that a transport receives.
    #[inline]
    pub fn take_delivery(&mut self) -> Option<(FlowId, u64, u32)> {
        self.delivery.take()
    }

    /// Bytes delivered so far of a flow.
    pub fn bytes_delivered(&self, flow: FlowId) -> u64 {
        self.receivers[self.place(flow)].delivered
    }

    /// How data packets of a flow overtook each other on their way to this partition.
    pub fn reordering(&self, flow: FlowId) -> Option<Reordering> {
        self.receivers[self.place(flow)].reordering()
    }

    /// Bytes of the header extensions of a flow's data packets received in this partition.
    pub fn extension_bytes(&self, flow: FlowId) -> u64 {
        self.receivers[self.place(flow)].extension_bytes
    }

    /// Ages of information, by transport in the order of the run.
    pub fn ages(&self) -> &[Histogram] {
        &self.ages
    }

    /// Flows completed so far, in order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Delivered ranges `(flow, offset, bytes)`, if they are logged.
    pub fn deliveries(&self) -> &[(FlowId, u64, u32)] {
        self.deliveries.as_deref().unwrap_or(&[])
    }
}

mod opened;
mod paths;
#[cfg(test)]
mod tests;
