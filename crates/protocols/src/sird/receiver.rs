//! Destinations: a credit per packet time of their link, to the shortest message whose source may hold more.

use super::Share;
use super::headers::{Credit, Finish, Request, Resend, Scheduled, Unscheduled};
use super::incoming::Incoming;
use super::terms::Terms;
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::ranking::{Rank, Ranking};
use incast_endpoint::receiver_driven::{Arrival, FlowTimers};
use incast_transport::{Bytes, Ecn, Env, FlowId, HostId, Packet, Time};

/// A data packet.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    flow: FlowId,
    src: HostId,
    packet: u32,
    offset: u32,
    payload: u16,
    last: bool,
    /// Packets of an unscheduled message, and how many of them are.
    lengths: Option<(u32, u32)>,
    /// Marked by its source, and by a switch.
    congested: bool,
    marked: bool,
}

impl Arriving {
    /// `None` if it is none, or only its header is left.
    pub fn read(content: &Packet) -> Option<Arriving> {
        let Packet { header, flow, src, payload, mark, .. } = *content;
        let marked = mark == Ecn::Ce as u8;
        if payload == 0 {
            return None;
        }
        if let Some(data) = Unscheduled::read(&header) {
            let Unscheduled { packet, offset, lengths, last, congested } = data;
            let lengths = Some((lengths >> 12, lengths & 0xfff));
            return Some(Arriving {
                flow,
                src,
                packet,
                offset,
                payload,
                last,
                lengths,
                congested,
                marked,
            });
        }
        let Scheduled { packet, offset, last, congested } = Scheduled::read(&header)?;
        Some(Arriving {
            flow,
            src,
            packet,
            offset,
            payload,
            last,
            lengths: None,
            congested,
            marked,
        })
    }
}

/// One source.
struct Peer {
    /// Charged bytes that it holds as credit or has sent for it.
    held: u64,
    /// When data last came from it, or a credit was given to it.
    quiet_since: Time,
    share: Share,
    /// Messages of which something is missing.
    missing: u32,
    /// Messages that are complete while credit is still to be given for them.
    complete: Vec<FlowId>,
    /// Messages to which credit is to be given.
    ranking: Ranking,
}

impl Peer {
    /// Whether it may hold so many bytes more.
    fn takes(&self, bdp: u64, worth: u64) -> bool {
        self.held + worth <= bdp && self.held as f64 <= self.share.most()
    }
}

/// All messages that arrive at one host.
pub struct Receivers {
    terms: Terms,
    messages: FlowTable<Incoming>,
    finished: FlowSet,
    /// By number of host.
    peers: FlowTable<Peer>,
    /// What all sources hold: the budget less this is left.
    held: u64,
    /// Of each source the message that comes first of those to which credit is to be given.
    firsts: Ranking,
    timers: FlowTimers,
    /// When a credit is to be given; never if none can be.
    tick: Time,
    /// When the next credit may be given, at the earliest.
    next_slot: Time,
    seen: u32,
}

impl Receivers {
    /// No messages yet.
    pub fn new(terms: Terms) -> Receivers {
        Receivers {
            terms,
            messages: FlowTable::new(),
            finished: FlowSet::new(),
            peers: FlowTable::new(),
            held: 0,
            firsts: Ranking::default(),
            timers: FlowTimers::default(),
            tick: Time::NEVER,
            next_slot: Time::ZERO,
            seen: 0,
        }
    }

    /// Messages with state.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    fn slot(&mut self, id: FlowId, src: HostId, now: Time) -> u32 {
        if let Some(slot) = self.messages.slot_of(id) {
            return slot;
        }
        let rank = Rank { remaining: 0, order: self.seen, flow: id };
        self.seen = self.seen.wrapping_add(1);
        let new = || Peer {
            held: 0,
            quiet_since: now,
            share: Share::new(&self.terms.law),
            missing: 0,
            complete: vec![],
            ranking: Ranking::default(),
        };
        let peer = self.peers.slot_of(FlowId(src.0));
        let peer = peer.unwrap_or_else(|| self.peers.insert(FlowId(src.0), new()));
        self.peers.at_mut(peer).missing += 1;
        self.messages.insert(id, Incoming::new(src, rank, now))
    }

    fn peer(&mut self, src: HostId) -> &mut Peer {
        self.peers.get_mut(FlowId(src.0)).expect("it has messages")
    }

    /// A source holds less credit.
    fn give_back(&mut self, src: HostId, bytes: u64) {
        let peer = self.peer(src);
        let bytes = bytes.min(peer.held);
        peer.held -= bytes;
        self.held -= bytes;
    }

    fn charge(&mut self, src: HostId, bytes: u64) {
        self.peer(src).held += bytes;
        self.held += bytes;
    }

    /// A request arrived.
    pub fn requested(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        (id, src): (FlowId, HostId),
        request: Request,
    ) {
        if self.finished.contains(id) {
            return finish(now, outbox, (id, src));
        }
        let Request { packets, bytes_low, bytes_high } = request;
        let slot = self.slot(id, src, now);
        if self.messages.at(slot).src != src {
            return;
        }
        self.forgive(now, slot);
        let bytes = bytes_low as u64 | (bytes_high as u64) << 32;
        self.begin(now, slot, packets, Some(bytes), 0);
    }

    /// A source asks for credit, none of which is awaited from it for this message, after a silence that says
    /// that it has none for others: what it is charged for was lost or used without being told, so it holds
    /// nothing. Credit is taken back by message and used by whichever message comes first, so the two can differ.
    fn forgive(&mut self, now: Time, slot: u32) {
        let (message, retry) = (self.messages.at(slot), self.terms.retry);
        let awaits_none = message.ranked && message.deadline(retry) == Time::NEVER;
        let src = message.src;
        let peer = self.peer(src);
        if awaits_none && now >= peer.quiet_since.saturating_add(retry) {
            let held = peer.held;
            self.give_back(src, held);
            self.start_clock(now);
        }
    }

    /// The length of a message is known, of which its source has given itself credit for `own` packets.
    fn begin(&mut self, now: Time, slot: u32, packets: u32, bytes: Option<u64>, own: u32) {
        let message = self.messages.at_mut(slot);
        if message.packets > 0 || packets == 0 || packets < message.arrivals.end() {
            return;
        }
        (message.packets, message.bytes) = (packets, bytes);
        message.credited = own.min(packets);
        message.quiet_since = now;
        let (src, own) = (message.src, message.credited as u64);
        self.charge(src, own * self.terms.full);
        self.renew(now, slot);
    }

    /// A data packet arrived.
    pub fn data(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, data: Arriving) {
        let Arriving { flow: id, src, packet: seq, last, .. } = data;
        if self.finished.contains(id) {
            return finish(env.now, outbox, (id, src));
        }
        let slot = self.slot(id, src, env.now);
        if self.messages.at(slot).src != src {
            return;
        }
        if let Some((packets, own)) = data.lengths {
            self.begin(env.now, slot, packets, None, own);
        }
        let (terms, message) = (self.terms, self.messages.at_mut(slot));
        if message.complete || message.packets > 0 && seq >= message.packets {
            return;
        }
        (message.quiet_since, message.doublings) = (env.now, 0);
        let new = message.arrivals.insert(seq, last) == Arrival::New;
        let used = if new { message.used(&terms, seq) } else { 0 };
        if new {
            message.arrived += 1;
            let offset = message.widen(data.offset);
            env.probe.delivered(id, seq, offset, data.payload as u32);
        }
        let complete = message.arrivals.complete();
        self.give_back(src, used);
        let peer = self.peer(src);
        peer.quiet_since = env.now;
        peer.share.arrived(&terms.law, data.marked, data.congested);
        if complete {
            env.probe.completed(id);
            finish(env.now, outbox, (id, src));
            self.finished.insert(id, env.now);
            return self.complete(env.now, slot, id);
        }
        self.renew(env.now, slot);
    }

    /// All of a message has arrived. Its source may have sent it with credit that was meant for others of its
    /// messages: then they are given what was not given for it.
    fn complete(&mut self, now: Time, slot: u32, id: FlowId) {
        let message = self.messages.at_mut(slot);
        message.complete = true;
        message.lost.clear();
        let (src, owes) = (message.src, message.credited < message.packets);
        let peer = self.peer(src);
        peer.missing -= 1;
        let others = peer.missing > 0;
        if owes && others {
            peer.complete.push(id);
            return self.renew(now, slot);
        }
        self.drop_message(id);
        if !others {
            self.rest(src);
        }
        self.start_clock(now);
    }

    /// Nothing is missing from a source: it holds no credit, and what is not known of it need not be kept.
    fn rest(&mut self, src: HostId) {
        let peer = self.peer(src);
        let (held, complete) = (peer.held, std::mem::take(&mut peer.complete));
        complete.into_iter().for_each(|id| self.drop_message(id));
        self.give_back(src, held);
        let law = self.terms.law;
        if self.peer(src).share.is_new(&law) {
            self.peers.remove(FlowId(src.0));
        }
    }

    fn drop_message(&mut self, id: FlowId) {
        if let Some(message) = self.messages.remove(id)
            && message.ranked
        {
            self.rank(message.src, |ranking| ranking.remove(message.rank));
        }
    }

    /// Changes the order of a source's messages.
    fn rank(&mut self, src: HostId, change: impl FnOnce(&mut Ranking)) {
        let peer = self.peers.get_mut(FlowId(src.0)).expect("it has messages");
        let before = peer.ranking.best();
        change(&mut peer.ranking);
        let after = peer.ranking.best();
        if before != after {
            before.into_iter().for_each(|rank| self.firsts.remove(rank));
            after.into_iter().for_each(|rank| self.firsts.insert(rank));
        }
    }

    /// Forgets a message.
    pub fn remove(&mut self, now: Time, id: FlowId) {
        let Some(message) = self.messages.get(id) else { return };
        let (src, complete) = (message.src, message.complete);
        let under_way = message.credited.saturating_sub(message.arrived) as u64;
        self.drop_message(id);
        self.give_back(src, under_way * self.terms.full);
        let peer = self.peer(src);
        peer.complete.retain(|other| *other != id);
        peer.missing -= !complete as u32;
        if peer.missing == 0 {
            self.rest(src);
        }
        self.start_clock(now);
    }

    /// After a change: the message's place among those that are to be given credit, its timer, and the clock.
    fn renew(&mut self, now: Time, slot: u32) {
        let message = self.messages.at_mut(slot);
        let (old, was) = (message.rank, message.ranked);
        message.rank.remaining = message.packets.saturating_sub(message.arrived) as u64;
        message.ranked = message.due(&self.terms).is_some();
        let (src, new, is) = (message.src, message.rank, message.ranked);
        match (was, is) {
            (true, true) if old.remaining != new.remaining => {
                self.rank(src, |ranking| ranking.change(old, new.remaining));
            }
            (true, false) => self.rank(src, |ranking| ranking.remove(old)),
            (false, true) => self.rank(src, |ranking| ranking.insert(new)),
            _ => {}
        }
        let message = self.messages.at_mut(slot);
        let deadline = message.deadline(self.terms.retry);
        self.timers.arm(message.rank.flow, &mut message.armed, deadline);
        self.start_clock(now);
    }

    /// Something may be credited: in the next slot.
    fn start_clock(&mut self, now: Time) {
        if !self.firsts.is_empty() {
            self.tick = self.tick.min(self.next_slot.max(now));
        }
    }

    /// The next timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tick.min(self.timers.next())
    }

    /// Takes back credit that was not used, and gives one if it is time.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let (now, terms) = (env.now, self.terms);
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.messages, |message| &mut message.armed)
        {
            let message = self.messages.at_mut(slot);
            if message.deadline(terms.retry) <= now {
                env.probe.timeout(id);
                let (src, back) = (message.src, message.take_back(&terms));
                message.backed_off();
                self.give_back(src, back);
            }
            self.renew(now, slot);
        }
        if now >= self.tick {
            let due = self.tick;
            let given = self.give(now, outbox);
            self.tick = Time::NEVER;
            if let Some(worth) = given {
                let gap = terms.rate.tx_time(Bytes(worth));
                // A world that calls late gets its rate back, but never a burst.
                self.next_slot = self.next_slot.max(due) + gap;
                if self.next_slot <= now {
                    self.next_slot = now + gap;
                }
                self.start_clock(now);
            }
        }
    }

    /// One credit, to the shortest message whose source may hold more; returns what it is worth. None is given
    /// if a message that comes before it is worth more than the budget has left.
    fn give(&mut self, now: Time, outbox: &mut Outbox) -> Option<u64> {
        let found = self.next_credit();
        #[cfg(test)]
        assert_eq!(found, self.next_credit_by_all(), "as by a look at every message");
        let (rank, worth) = found?;
        if self.held + worth > self.terms.budget {
            return None;
        }
        let slot = self.messages.slot_of(rank.flow).expect("a ranked message is open");
        let (_, missing) = self.messages.at(slot).due(&self.terms).expect("credit is to be given");
        self.issue(now, outbox, slot, worth, missing);
        Some(worth)
    }

    /// The first message that is given credit or for which too little is left, and what its next packet is worth.
    /// Of a source that holds all that it may no message is looked at, unless little is left.
    fn next_credit(&self) -> Option<(Rank, u64)> {
        let Terms { full, bdp, budget, least, .. } = self.terms;
        let enough = self.held + full <= budget;
        let mut found: Option<(Rank, u64)> = None;
        for first in self.firsts.iter() {
            if found.is_some_and(|(rank, _)| rank < first) {
                break;
            }
            let src = self.messages.get(first.flow).expect("a ranked message is open").src;
            let peer = self.peers.get(FlowId(src.0)).expect("it has messages");
            if enough && !peer.takes(bdp, least) {
                continue;
            }
            let own = peer.ranking.iter().take_while(|rank| found.is_none_or(|one| *rank < one.0));
            let own = own.map(|rank| (rank, self.worth(rank)));
            let mut own =
                own.filter(|(_, worth)| self.held + worth > budget || peer.takes(bdp, *worth));
            found = own.next().or(found);
        }
        found
    }

    /// What the next packet of a ranked message is worth.
    fn worth(&self, rank: Rank) -> u64 {
        let message = self.messages.get(rank.flow).expect("a ranked message is open");
        message.due(&self.terms).expect("credit is to be given").0
    }

    /// The same as [`next_credit`](Receivers::next_credit), the plain way.
    #[cfg(test)]
    fn next_credit_by_all(&self) -> Option<(Rank, u64)> {
        let mut all: Vec<Rank> = vec![];
        for first in self.firsts.iter() {
            let src = self.messages.get(first.flow).expect("it is open").src;
            all.extend(self.peers.get(FlowId(src.0)).expect("it is there").ranking.iter());
        }
        all.sort();
        all.into_iter().map(|rank| (rank, self.worth(rank))).find(|(rank, worth)| {
            let src = self.messages.get(rank.flow).expect("it is open").src;
            let peer = self.peers.get(FlowId(src.0)).expect("it is there");
            self.held + worth > self.terms.budget || peer.takes(self.terms.bdp, *worth)
        })
    }

    fn issue(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        slot: u32,
        worth: u64,
        missing: Option<u32>,
    ) {
        let message = self.messages.at_mut(slot);
        message.give(now);
        let (flow, to, number) = (message.rank.flow, message.src, message.credited);
        let worth_told = worth as u32;
        let header = match missing {
            Some(packet) => Resend { packet, worth: worth_told }.into(),
            None => Credit { number, worth: worth_told }.into(),
        };
        let done = message.complete && message.credited == message.packets;
        outbox.push(Control { flow, to, header, again: missing.is_some(), informed: now });
        self.charge(to, worth);
        debug_assert!(self.held <= self.terms.budget, "more credit than the budget");
        self.peer(to).quiet_since = now;
        if done {
            self.peer(to).complete.retain(|other| *other != flow);
            return self.drop_message(flow);
        }
        self.renew(now, slot);
    }
}

/// Sends the Finish packet of a message.
fn finish(now: Time, outbox: &mut Outbox, (flow, to): (FlowId, HostId)) {
    outbox.push(Control { flow, to, header: Finish {}.into(), again: false, informed: now });
}
