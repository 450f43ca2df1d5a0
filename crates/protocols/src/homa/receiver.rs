//! Destinations: grants for the messages with the fewest remaining packets, several at a time.

use super::agenda::Agenda;
use super::headers::{Data, Finish};
use super::incoming::Incoming;
use super::sender::{LENGTH_MOST, control};
use super::terms::Terms;
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::outbox::Outbox;
use incast_endpoint::ranking::Rank;
use incast_endpoint::receiver_driven::FlowTimers;
use incast_transport::{Env, FlowId, HostId, Packet, PacketRef, Time};

/// All messages that arrive at one host.
pub struct Receivers {
    terms: Terms,
    flows: FlowTable<Incoming>,
    finished: FlowSet,
    agenda: Agenda,
    timers: FlowTimers,
    seen: u32,
    /// Scheduled packets in flight to this host.
    incoming: u64,
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
        let Some(data) = Data::read(&header) else { return };
        let Data { packet: seq, offset, packets, last, own_burst, burst_end, .. } = data;
        if payload == 0 {
            return; // Only a header is left of it: as good as lost.
        }
        if self.finished.contains(id) {
            return finish(outbox, id, src, env.now);
        }
        let known = self.flows.get(id).map_or(full_length(packets), |flow| flow.packets);
        if seq >= known || known != u32::MAX && last != (seq + 1 == known) {
            return; // No sender of this transport sends that.
        }
        self.idle_since = env.now;
        let slot = self.slot(id, src, env.now, full_length(packets));
        let mut new = None;
        self.change(slot, |flow, _| {
            flow.heard(env.now);
            new = flow.data(seq, offset, last);
            match (own_burst, burst_end) {
                (true, true) => flow.end_burst(seq + 1),
                (true, false) => flow.begin_burst(),
                _ => {}
            }
        });
        if let Some(offset) = new {
            env.probe.delivered(id, seq, offset, payload as u32);
            if self.flows.at(slot).arrivals.complete() {
                env.probe.completed(id);
                self.remove(slot);
                self.finished.insert(id, env.now);
                finish(outbox, id, src, env.now);
            }
        }
        self.schedule(env.now, outbox);
    }

    fn slot(&mut self, flow: FlowId, src: HostId, now: Time, packets: u32) -> u32 {
        if let Some(slot) = self.flows.slot_of(flow) {
            return slot;
        }
        let rank = Rank { remaining: packets as u64, order: self.seen, flow };
        self.seen = self.seen.wrapping_add(1);
        let blind = packets.min(self.terms.blind);
        self.flows.insert(flow, Incoming::new(src, packets, blind, rank, now))
    }

    /// The one way to change a message: afterwards it counts among the packets under way to this
    /// host, stands on the agenda, and has its timer as it is then.
    #[inline]
    fn change(&mut self, slot: u32, change: impl FnOnce(&mut Incoming, &Terms)) {
        let flow = self.flows.at_mut(slot);
        let before = flow.scheduled();
        change(flow, &self.terms);
        self.incoming = self.incoming - u64::from(before) + u64::from(flow.scheduled());
        let rank = Rank { remaining: flow.remaining(), ..flow.rank };
        let wants = flow.wants_grant();
        match (flow.waiting, wants) {
            (true, true) if flow.rank != rank => {
                self.agenda.change(flow.src, flow.rank, rank.remaining);
            }
            (true, false) => self.agenda.remove(flow.src, flow.rank),
            (false, true) => self.agenda.insert(flow.src, rank),
            _ => {}
        }
        (flow.waiting, flow.rank) = (wants, rank);
        let deadline = flow.deadline(&self.terms);
        self.timers.arm(rank.flow, &mut flow.armed, deadline);
    }

    fn remove(&mut self, slot: u32) {
        self.change(slot, |flow, _| flow.aside = true);
        let flow = self.flows.remove(self.flows.at(slot).rank.flow).expect("it was here");
        if flow.packets > flow.unscheduled(&self.terms) {
            self.extra = self.extra.saturating_sub(1);
        }
    }

    /// Messages that may be granted now.
    fn degree(&self) -> usize {
        self.terms.overcommitment + self.extra
    }

    /// Issues the grants that may be issued now (Homa §3.3 to §3.5): to the best messages,
    /// no more than RTTbytes in flight each, a packet time apart.
    fn schedule(&mut self, now: Time, outbox: &mut Outbox) {
        self.next_grant = Time::NEVER;
        let degree = self.degree();
        let most = self.terms.incoming.unwrap_or(self.terms.incoming_each * degree as u32);
        let mut place = 0;
        while place < degree && self.incoming < u64::from(most) {
            let Some(rank) = self.agenda.at(place) else { break };
            let slot = self.flows.slot_of(rank.flow).expect("it waits for grants");
            let flow = self.flows.at(slot);
            if flow.in_flight() < self.terms.window && flow.next_grant <= now {
                let active = degree.min(self.agenda.len());
                let class = self.terms.levels.scheduled_class(place, active);
                self.change(slot, |flow, terms| {
                    let header = flow.grant(now, class, terms);
                    debug_assert!(flow.in_flight() <= terms.window, "granted beyond the window");
                    outbox.push(control(rank.flow, flow.src, header, now));
                });
            }
            let flow = self.flows.at(slot);
            if !flow.waiting {
                continue; // It has all it needs: the next message takes its place.
            }
            if flow.in_flight() < self.terms.window {
                self.next_grant = self.next_grant.min(flow.next_grant);
            }
            place += 1;
        }
    }

    /// The sender has other messages to send first.
    pub fn busy(&mut self, flow: FlowId, now: Time, outbox: &mut Outbox) {
        let Some(slot) = self.flows.slot_of(flow) else { return };
        self.change(slot, |flow, _| flow.heard(now));
        self.schedule(now, outbox);
    }

    /// The sender does not know a message, or it is given up here. Returns whether it was here.
    pub fn unknown(&mut self, flow: FlowId, now: Time, outbox: &mut Outbox) -> bool {
        let Some(slot) = self.flows.slot_of(flow) else { return false };
        self.remove(slot);
        self.schedule(now, outbox);
        true
    }

    /// Makes a message known, of which no data need have arrived. Returns whether packets are
    /// missing; if not, its sender gets a Finish.
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
            self.change(slot, |_, _| {});
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
        if self.flows.at(slot).blind_over {
            return;
        }
        self.change(slot, |flow, _| {
            flow.heard(now);
            flow.end_blind(sent);
        });
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

    /// Requests missing packets of stalled messages, and issues grants that have waited for their
    /// time.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let now = env.now;
        let mut changed = self.next_grant <= now;
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            let overdue = flow.deadline(&self.terms) <= now;
            let given_up = overdue && flow.unanswered == self.terms.give_up;
            changed |= given_up || overdue && flow.burst_is_open();
            if overdue && !given_up {
                env.probe.timeout(id);
            }
            self.change(slot, |flow, terms| match overdue {
                true if given_up => flow.aside = true, // Others are granted in its place.
                true => flow.request_missing(now, terms, outbox),
                false => {}
            });
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
}

/// The length that data carries; one that does not fit its field is carried by the last packet only.
#[inline]
fn full_length(packets: u32) -> u32 {
    if packets == LENGTH_MOST { u32::MAX } else { packets }
}

/// Sends the Finish packet of a message.
fn finish(outbox: &mut Outbox, flow: FlowId, to: HostId, now: Time) {
    outbox.push(control(flow, to, Finish {}, now));
}
