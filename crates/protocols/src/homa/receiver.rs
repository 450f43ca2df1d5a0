//! Destinations: grants for the messages with the fewest remaining packets, several at a time.

use super::agenda::Agenda;
use super::headers::{Data, Finish, Grant, Resend};
use super::sender::{TOLD_MOST, control};
use super::terms::Terms;
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::outbox::Outbox;
use incast_endpoint::ranking::Rank;
use incast_endpoint::receiver_driven::{Arrival, Arrivals, FlowTimers};
use incast_transport::{Env, FlowId, Header, HostId, Packet, PacketRef, Time};

/// The receiving side of one message.
struct Incoming {
    src: HostId,
    arrivals: Arrivals,
    arrived: u32,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
    packets: u32,
    /// Packets below may be sent.
    granted: u32,
    /// Unscheduled packets still under way, for all that is known.
    blind: u32,
    /// It is known how many were sent.
    blind_over: bool,
    /// Packets known to be lost, which are granted again; the lowest last.
    lost: Vec<u32>,
    /// `remaining` counts packets that have not arrived.
    rank: Rank,
    place: Place,
    /// When the next grant may be issued.
    next_grant: Time,
    /// Since when nothing was heard that was to be expected.
    silent_since: Time,
    /// Requests for missing packets since something was heard.
    unanswered: u32,
    armed: Time,
}

/// Whether a message wants grants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// It has all it needs.
    Granted,
    /// On the agenda.
    Waiting,
    /// Set aside: its sender does not answer.
    Aside,
}

/// All messages that arrive at one host.
pub struct Receivers {
    terms: Terms,
    flows: FlowTable<Incoming>,
    finished: FlowSet,
    agenda: Agenda,
    timers: FlowTimers,
    seen: u32,
    /// Scheduled packets under way to this host.
    incoming: u32,
    /// Messages granted beyond the degree of overcommitment.
    extra: usize,
    /// When the next grant that only waits for its time may be issued.
    next_grant: Time,
    /// Since when no data arrived, or one more message was granted for that.
    idle_since: Time,
}

impl Receivers {
    /// No messages yet.
    pub fn new(terms: Terms) -> Receivers {
        Receivers {
            terms,
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            agenda: Agenda::new(terms.one_per_sender),
            timers: FlowTimers::default(),
            seen: 0,
            incoming: 0,
            extra: 0,
            next_grant: Time::NEVER,
            idle_since: Time::ZERO,
        }
    }

    /// Messages that are incomplete.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A data packet arrived.
    pub fn data(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, src, flow: id, payload, .. } = env.packets[packet];
        let Some(Data { packet: seq, offset, packets, last, .. }) = Data::read(&header) else {
            return;
        };
        if payload == 0 {
            return; // Only a header is left of it: as good as lost.
        }
        if self.finished.contains(id) {
            return finish(outbox, id, src, env.now);
        }
        let known = self.flows.get(id).map_or(told(packets), |flow| flow.packets);
        if seq >= known || known != u32::MAX && last != (seq + 1 == known) {
            return; // No sender of this transport sends that.
        }
        self.idle_since = env.now;
        let slot = self.slot(id, src, env.now, told(packets));
        self.revive(slot, env.now);
        let flow = self.flows.at_mut(slot);
        self.incoming -= flow.scheduled();
        if flow.arrivals.insert(seq, last) == Arrival::New {
            flow.arrived(seq, &self.terms);
            let offset = flow.widen_offset(offset);
            env.probe.delivered(id, seq, offset, payload as u32);
            if flow.arrivals.complete() {
                env.probe.completed(id);
                self.remove(id);
                self.finished.insert(id, env.now);
                finish(outbox, id, src, env.now);
                return self.schedule(env.now, outbox);
            }
        }
        self.incoming += flow.scheduled();
        self.place(slot);
        self.arm(slot);
        self.schedule(env.now, outbox);
    }

    fn slot(&mut self, flow: FlowId, src: HostId, now: Time, packets: u32) -> u32 {
        if let Some(slot) = self.flows.slot_of(flow) {
            return slot;
        }
        let rank = Rank { remaining: packets as u64, order: self.seen, flow };
        self.seen = self.seen.wrapping_add(1);
        let blind = packets.min(self.terms.blind);
        self.flows.insert(
            flow,
            Incoming {
                src,
                arrivals: Arrivals::new(),
                arrived: 0,
                offset: 0,
                packets,
                granted: blind,
                blind,
                blind_over: false,
                lost: vec![],
                rank,
                place: Place::Granted,
                next_grant: now,
                silent_since: now,
                unanswered: 0,
                armed: Time::NEVER,
            },
        )
    }

    /// Something was heard of a message.
    fn revive(&mut self, slot: u32, now: Time) {
        let flow = self.flows.at_mut(slot);
        flow.silent_since = now;
        flow.unanswered = 0;
        if flow.place == Place::Aside {
            flow.place = Place::Granted;
            self.incoming += flow.scheduled();
        }
    }

    /// Puts a message on the agenda, takes it off, or moves it there.
    fn place(&mut self, slot: u32) {
        let flow = self.flows.at_mut(slot);
        let remaining = (flow.packets - flow.arrived) as u64;
        match (flow.place, flow.wants_grant()) {
            (Place::Waiting, true) if flow.rank.remaining != remaining => {
                self.agenda.change(flow.src, flow.rank, remaining);
            }
            (Place::Waiting, false) => {
                self.agenda.remove(flow.src, flow.rank);
                flow.place = Place::Granted;
            }
            (Place::Granted, true) => {
                self.agenda.insert(flow.src, Rank { remaining, ..flow.rank });
                flow.place = Place::Waiting;
            }
            _ => {}
        }
        flow.rank.remaining = remaining;
    }

    /// Looks at a message again when it has been silent for too long.
    fn arm(&mut self, slot: u32) {
        let flow = self.flows.at_mut(slot);
        let deadline = flow.deadline(&self.terms);
        self.timers.arm(flow.rank.flow, &mut flow.armed, deadline);
    }

    fn remove(&mut self, id: FlowId) {
        let flow = self.flows.remove(id).expect("it was here");
        if flow.place == Place::Waiting {
            self.agenda.remove(flow.src, flow.rank);
        }
        if flow.packets > self.terms.blind {
            self.extra = self.extra.saturating_sub(1);
        }
    }

    /// Messages that may be granted now.
    fn degree(&self) -> usize {
        self.terms.overcommitment + self.extra
    }

    /// Issues the grants that may be issued now (SIGCOMM 2018 §3.3 to §3.5): to the best messages,
    /// no more than RTTbytes in flight each, a packet time apart.
    fn schedule(&mut self, now: Time, outbox: &mut Outbox) {
        self.next_grant = Time::NEVER;
        let degree = self.degree();
        let most = self.terms.incoming.unwrap_or(self.terms.incoming_each * degree as u32);
        let mut place = 0;
        while place < degree && self.incoming < most {
            let Some(rank) = self.agenda.at(place) else { break };
            let slot = self.flows.slot_of(rank.flow).expect("it waits for grants");
            let flow = self.flows.at_mut(slot);
            if flow.in_flight() < self.terms.window {
                if flow.next_grant > now {
                    self.next_grant = self.next_grant.min(flow.next_grant);
                } else {
                    let active = degree.min(self.agenda.len());
                    let class = self.terms.levels.scheduled_class(place, active);
                    let header = flow.grant(now, class, &self.terms);
                    outbox.push(control(rank.flow, flow.src, header, now));
                    self.incoming += 1;
                    let wants = flow.wants_grant();
                    self.arm(slot);
                    if !wants {
                        // The next message takes its place.
                        self.place(slot);
                        continue;
                    }
                    let flow = self.flows.at(slot);
                    if flow.in_flight() < self.terms.window {
                        self.next_grant = self.next_grant.min(flow.next_grant);
                    }
                }
            }
            place += 1;
        }
    }

    /// The sender has other messages to send first.
    pub fn busy(&mut self, flow: FlowId, now: Time, outbox: &mut Outbox) {
        let Some(slot) = self.flows.slot_of(flow) else { return };
        self.revive(slot, now);
        self.place(slot);
        self.arm(slot);
        self.schedule(now, outbox);
    }

    /// The sender knows nothing of a message.
    pub fn unknown(&mut self, flow: FlowId, now: Time, outbox: &mut Outbox) {
        let Some(incoming) = self.flows.get(flow) else { return };
        self.incoming -= incoming.scheduled();
        self.remove(flow);
        self.schedule(now, outbox);
    }

    /// Makes a message known, of which no data need have arrived. Returns whether packets are
    /// missing; if not, its sender is told that it is complete.
    pub fn announced(
        &mut self,
        flow: FlowId,
        src: HostId,
        packets: u32,
        now: Time,
        outbox: &mut Outbox,
    ) -> bool {
        if self.finished.contains(flow) {
            finish(outbox, flow, src, now);
            return false;
        }
        if packets > 0 {
            let slot = self.slot(flow, src, now, packets);
            self.place(slot);
            self.arm(slot);
        }
        packets > 0
    }

    /// The lowest packet of an incomplete message that is missing.
    pub fn lowest_missing(&self, flow: FlowId) -> Option<u32> {
        self.flows.get(flow).map(|flow| flow.arrivals.lowest_missing())
    }

    /// Of a message's first packets `sent` were sent blindly, and what is missing of them is lost:
    /// it is no longer in flight and is granted again, before others. Counts once.
    pub fn blind_over(&mut self, flow: FlowId, sent: u32, now: Time, outbox: &mut Outbox) {
        let Some(slot) = self.flows.slot_of(flow) else { return };
        let incoming = self.flows.at_mut(slot);
        if incoming.blind_over {
            return;
        }
        self.revive(slot, now);
        let incoming = self.flows.at_mut(slot);
        self.incoming -= incoming.scheduled();
        incoming.end_blind(sent, &self.terms);
        self.incoming += incoming.scheduled();
        self.place(slot);
        self.arm(slot);
        self.schedule(now, outbox);
    }

    /// When one more message is granted because the downlink is idle while messages wait.
    #[inline]
    fn idle_until(&self) -> Time {
        match self.terms.idle_check {
            Some(check) if self.agenda.len() > self.degree() => {
                self.idle_since.saturating_add(check)
            }
            _ => Time::NEVER,
        }
    }

    /// The next timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next().min(self.next_grant).min(self.idle_until())
    }

    /// Asks for what is missing of silent messages, and issues grants that have waited for their
    /// time.
    pub fn wake(&mut self, now: Time, outbox: &mut Outbox) {
        let mut changed = self.next_grant <= now;
        while let Some((at, id)) = self.timers.due(now) {
            let Some(slot) = self.flows.slot_of(id) else { continue };
            let flow = self.flows.at_mut(slot);
            if flow.armed != at {
                continue;
            }
            flow.armed = Time::NEVER;
            if flow.deadline(&self.terms) <= now {
                if flow.unanswered == self.terms.give_up {
                    self.set_aside(slot);
                    changed = true;
                } else {
                    self.incoming -= flow.scheduled();
                    flow.ask(now, &self.terms, outbox);
                    self.incoming += flow.scheduled();
                    self.place(slot);
                }
            }
            self.arm(slot);
        }
        while self.idle_until() <= now {
            self.idle_since = now;
            self.extra += 1;
            changed = true;
        }
        if changed {
            self.schedule(now, outbox);
        }
    }

    /// A message's sender does not answer: others are granted in its place.
    fn set_aside(&mut self, slot: u32) {
        let flow = self.flows.at_mut(slot);
        self.incoming -= flow.scheduled();
        if flow.place == Place::Waiting {
            self.agenda.remove(flow.src, flow.rank);
        }
        flow.place = Place::Aside;
    }
}

impl Incoming {
    /// Packets that were let go and have not arrived, for all that is known.
    #[inline]
    fn in_flight(&self) -> u32 {
        self.granted - self.arrived - self.lost.len() as u32
    }

    /// Those of them that were granted. None of a message that was set aside.
    #[inline]
    fn scheduled(&self) -> u32 {
        if self.place == Place::Aside { 0 } else { self.in_flight() - self.blind }
    }

    #[inline]
    fn wants_grant(&self) -> bool {
        self.granted < self.packets || !self.lost.is_empty()
    }

    /// A packet arrived for the first time.
    #[inline]
    fn arrived(&mut self, seq: u32, terms: &Terms) {
        self.arrived += 1;
        if let Some(packets) = self.arrivals.packets() {
            self.packets = packets;
        }
        self.granted = self.granted.max(seq + 1).min(self.packets);
        if let Ok(known) = self.lost.binary_search_by(|other| seq.cmp(other)) {
            self.lost.remove(known);
        } else if self.blind > 0 && seq < terms.blind {
            self.blind -= 1;
        }
    }

    /// The next grant: for a lost packet, or one packet more.
    fn grant(&mut self, now: Time, class: u8, terms: &Terms) -> Header {
        if self.in_flight() == 0 {
            self.silent_since = now;
        }
        self.next_grant = now + terms.slot;
        if let Some(lost) = self.lost.pop() {
            let class = terms.recovery_class(self.packets) as u32;
            return Grant { granted: self.granted, lost, class, again: true }.into();
        }
        let left = self.packets - self.granted;
        self.granted += 1;
        let class = if terms.boost_tail && left <= terms.blind {
            let (size, left) = (self.packets as u64 * terms.mss, left as u64 * terms.mss);
            class.min(terms.unscheduled_class(size, left))
        } else {
            class
        };
        Grant { granted: self.granted, lost: 0, class: class as u32, again: false }.into()
    }

    /// When to ask for what is missing, if nothing is heard until then. Not for packets that were
    /// not granted.
    #[inline]
    fn deadline(&self, terms: &Terms) -> Time {
        if self.place == Place::Aside || self.in_flight() == 0 {
            return Time::NEVER;
        }
        self.silent_since.saturating_add(terms.resend_interval)
    }

    /// Asks for the ranges that are missing.
    fn ask(&mut self, now: Time, terms: &Terms, outbox: &mut Outbox) {
        self.silent_since = now;
        self.unanswered += 1;
        let class = terms.recovery_class(self.packets) as u32;
        let mut from = self.arrivals.lowest_missing();
        while from < self.granted {
            let to = self.arrivals.missing_until(from).min(self.granted);
            let header = Resend { first: from, packets: to - from, class };
            outbox.push(control(self.rank.flow, self.src, header, now));
            if !terms.ask_all {
                break;
            }
            from = self.arrivals.hole_from(to).unwrap_or(to.max(self.arrivals.end()));
        }
        if terms.ask_all {
            self.lost.clear(); // Asked for with the others.
        }
    }

    /// Nothing of the message is under way blindly any more.
    fn end_blind(&mut self, sent: u32, terms: &Terms) {
        (self.blind_over, self.blind) = (true, 0);
        if self.granted == self.packets.min(terms.blind) {
            // No grant has left: what was not sent blindly needs one.
            self.granted = self.granted.min(sent.max(self.arrivals.end()));
        }
        let below = sent.min(self.granted);
        let missing = |&seq: &u32| !self.arrivals.has(seq);
        self.lost.extend((self.arrivals.lowest_missing()..below).rev().filter(missing));
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    fn widen_offset(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}

/// The length that data tells; one that does not fit its field is told by the last packet only.
#[inline]
fn told(packets: u32) -> u32 {
    if packets == TOLD_MOST { u32::MAX } else { packets }
}

/// Tells a sender that everything has arrived.
fn finish(outbox: &mut Outbox, flow: FlowId, to: HostId, now: Time) {
    outbox.push(control(flow, to, Finish {}, now));
}
