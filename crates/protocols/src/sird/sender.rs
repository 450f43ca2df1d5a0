//! Sources: credit in hand, by destination, and whose turn the link is.

use super::headers::{SCHEDULED, UNSCHEDULED};
use super::outgoing::Outgoing;
use super::params::Busy;
use super::terms::Terms;
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::outbox::Outbox;
use incast_endpoint::ranking::Ranking;
use incast_endpoint::receiver_driven::FlowTimers;
use incast_transport::{Classes, Env, Flow, FlowId, HostId, Observed, PacketRef, Reason, Time};

/// One destination.
struct Peer {
    host: HostId,
    /// Credit in hand, in charged bytes, for all messages to it.
    credit: u64,
    /// What it has been passed over, in packets.
    deficit: f64,
    /// Messages of which something is left to send.
    ranking: Ranking,
    /// Messages that are not finished.
    open: u32,
    /// Payload bytes that were never sent.
    unsent: u64,
}

/// All messages that start at one host.
pub struct Senders {
    terms: Terms,
    messages: FlowTable<Outgoing>,
    /// Destinations with messages, in the order in which they came.
    peers: Vec<Peer>,
    timers: FlowTimers,
    opened: u32,
}

impl Senders {
    /// No messages yet.
    pub fn new(terms: Terms) -> Senders {
        Senders {
            terms,
            messages: FlowTable::new(),
            peers: vec![],
            timers: FlowTimers::default(),
            opened: 0,
        }
    }

    /// Messages that have not finished.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    fn peer(&self, host: HostId) -> Option<usize> {
        self.peers.iter().position(|peer| peer.host == host)
    }

    /// A message starts: a short one gives itself credit, a long one asks for it.
    pub fn open(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, flow: &Flow) {
        let place = self.peer(flow.dst).unwrap_or_else(|| {
            let (host, ranking) = (flow.dst, Ranking::default());
            self.peers.push(Peer { host, credit: 0, deficit: 0.0, ranking, open: 0, unsent: 0 });
            self.peers.len() - 1
        });
        let (terms, peer) = (&self.terms, &mut self.peers[place]);
        let mut message = Outgoing::new(flow, self.opened, env.now);
        self.opened = self.opened.wrapping_add(1);
        let room = terms.bdp.saturating_sub(peer.credit).max(terms.full);
        message.unscheduled = message.unasked(terms, room);
        peer.credit += message.unscheduled as u64 * terms.full;
        if message.unscheduled == 0 {
            message.request(env.now, outbox);
        }
        message.ranked = true;
        peer.ranking.insert(message.rank);
        peer.open += 1;
        peer.unsent += flow.size;
        let deadline = message.deadline(terms.retry);
        self.timers.arm(flow.id, &mut message.armed, deadline);
        self.messages.insert(flow.id, message);
        self.explain(env, place);
    }

    /// Credit arrived, with a packet that is to be sent again, if any.
    pub fn credited(
        &mut self,
        env: &mut Env<'_>,
        (id, from): (FlowId, HostId),
        again: Option<u32>,
        worth: u64,
        informed: Time,
    ) {
        let Some(place) = self.peer(from) else { return env.probe.wasted(id) };
        // The credit of a message that is finished serves the others.
        self.peers[place].credit += worth.min(self.terms.full);
        let Some(slot) = self.messages.slot_of(id) else { return self.explain(env, place) };
        env.probe.decision(id, informed);
        let message = self.messages.at_mut(slot);
        if message.flow.dst != from {
            return;
        }
        message.answered = true;
        (message.quiet_since, message.doublings) = (env.now, 0);
        let deadline = message.deadline(self.terms.retry);
        self.timers.arm(id, &mut message.armed, deadline);
        if let Some(seq) = again {
            message.resend(seq);
            self.rank(place, slot);
        }
        self.explain(env, place);
    }

    /// Puts a message among those that have something left to send, or takes it out.
    fn rank(&mut self, place: usize, slot: u32) {
        let message = self.messages.at_mut(slot);
        let left = message.cost(&self.terms).is_some();
        let ranking = &mut self.peers[place].ranking;
        match (message.ranked, left) {
            (false, true) => ranking.insert(message.rank),
            (true, false) => ranking.remove(message.rank),
            _ => {}
        }
        message.ranked = left;
    }

    /// Says of each message to a destination what it waits for.
    fn explain(&mut self, env: &mut Env<'_>, place: usize) {
        let peer = &self.peers[place];
        for rank in peer.ranking.iter() {
            let message = self.messages.get(rank.flow).expect("a ranked message is open");
            let cost = message.cost(&self.terms).expect("something is left to send");
            let waits = if cost > peer.credit { Reason::Credit } else { Reason::Ready };
            env.probe.blocked(rank.flow, waits);
        }
    }

    /// The destination has everything.
    pub fn finished(&mut self, env: &mut Env<'_>, id: FlowId) {
        let Some(message) = self.messages.get(id) else { return };
        // What was never sent cannot have arrived.
        if message.sent == message.packets && self.remove(env, id) {
            env.probe.acknowledged(id);
            env.probe.blocked(id, Reason::Ready);
        }
    }

    /// Takes a message out; returns whether it was there. With the last one to a destination its credit
    /// is gone.
    pub fn remove(&mut self, env: &mut Env<'_>, id: FlowId) -> bool {
        let Some(message) = self.messages.remove(id) else { return false };
        let place = self.peer(message.flow.dst).expect("it has a message");
        let peer = &mut self.peers[place];
        if message.ranked {
            peer.ranking.remove(message.rank);
        }
        peer.open -= 1;
        peer.unsent -= message.rank.remaining;
        if peer.open == 0 {
            self.peers.remove(place);
        } else {
            self.explain(env, place);
        }
        true
    }

    /// Whether nothing may be sent.
    pub fn is_idle(&self) -> bool {
        !(0..self.peers.len()).any(|place| self.candidate(place, Classes::ALL).is_some())
    }

    /// The message to a destination that would send next: the shortest whose next packet is of an open
    /// class and costs no more than the credit in hand.
    fn candidate(&self, place: usize, open: Classes) -> Option<u32> {
        let peer = &self.peers[place];
        if peer.credit == 0 {
            return None;
        }
        peer.ranking.iter().find_map(|rank| {
            let slot = self.messages.slot_of(rank.flow).expect("a ranked message is open");
            let message = self.messages.at(slot);
            let cost = message.cost(&self.terms)?;
            (cost <= peer.credit && open.has(message.class())).then_some(slot)
        })
    }

    /// The next packet: half of the link is shared equally by all destinations that can be sent to, half
    /// goes to the one with the least to send.
    pub fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if !open.has(UNSCHEDULED) && !open.has(SCHEDULED) {
            return None;
        }
        let place = self.turn(open)?;
        let slot = self.candidate(place, open)?;
        let congested = self.is_busy() && self.credit_after(place, slot) > self.terms.congested;
        let (peer, message) = (&mut self.peers[place], self.messages.at_mut(slot));
        peer.credit -= message.cost(&self.terms).expect("something is left to send");
        let (packet, new) = message.packet(env, congested);
        peer.unsent -= new;
        let old = message.rank;
        message.rank.remaining -= new;
        peer.ranking.change(old, message.rank.remaining);
        self.rank(place, slot);
        let message = self.messages.at_mut(slot);
        if !message.ranked {
            env.probe.blocked(message.flow.id, Reason::Ready);
        }
        self.explain(env, place);
        Some(packet)
    }

    /// Whose turn it is, among the destinations that can be sent to.
    fn turn(&mut self, open: Classes) -> Option<usize> {
        let able = |place: &usize| self.candidate(*place, open).is_some();
        let able: smallvec::SmallVec<[usize; 8]> = (0..self.peers.len()).filter(able).collect();
        if able.len() <= 1 {
            return able.first().copied();
        }
        let least = able.iter().copied().min_by_key(|place| self.peers[*place].unsent)?;
        let equal = (1.0 - self.terms.shortest) / able.len() as f64;
        for &place in &able {
            self.peers[place].deficit += equal;
        }
        self.peers[least].deficit += self.terms.shortest;
        let most = |a: usize, b: usize| {
            if self.peers[b].deficit > self.peers[a].deficit { b } else { a }
        };
        let place = able.into_iter().reduce(most)?;
        self.peers[place].deficit -= 1.0;
        Some(place)
    }

    /// Whether the link has several users.
    fn is_busy(&self) -> bool {
        let with = |peer: &&Peer| !peer.ranking.is_empty();
        match self.terms.busy {
            Busy::Destinations => self.peers.iter().filter(with).count() >= 2,
            Busy::Messages => self.peers.iter().map(|peer| peer.ranking.len()).sum::<usize>() >= 2,
        }
    }

    /// All unused credit, once a message has sent its next packet.
    fn credit_after(&self, place: usize, slot: u32) -> u64 {
        let all: u64 = self.peers.iter().map(|peer| peer.credit).sum();
        let cost = self.messages.at(slot).cost(&self.terms).unwrap_or(0);
        debug_assert!(self.peers[place].credit >= cost);
        all - cost
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Asks again for messages of which nothing is heard.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let (now, retry) = (env.now, self.terms.retry);
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.messages, |message| &mut message.armed)
        {
            let message = self.messages.at_mut(slot);
            if message.deadline(retry) <= now {
                let place = self.peers.iter().position(|peer| peer.host == message.flow.dst);
                let place = place.expect("it has a message");
                // Others may have used the credit that it gave itself; then nobody knows of it.
                let credit = self.peers[place].credit;
                let stuck = message.cost(&self.terms).is_some_and(|cost| cost > credit);
                if message.has_begun() || stuck {
                    env.probe.timeout(id);
                    message.request(now, outbox);
                    if !message.answered && message.unscheduled > 0 {
                        message.start_again();
                    }
                }
                message.backed_off(now);
                self.rank(place, slot);
                self.explain(env, place);
            }
            let message = self.messages.at_mut(slot);
            let deadline = message.deadline(retry);
            self.timers.arm(id, &mut message.armed, deadline);
        }
    }

    /// What a trace shows of a message: the credit to its destination.
    pub fn observe(&self, flow: FlowId) -> Observed {
        let Some(message) = self.messages.get(flow) else { return Observed::default() };
        let place = self.peer(message.flow.dst).expect("it has a message");
        let credits = Some(self.peers[place].credit / self.terms.full);
        Observed { credits, ..Observed::default() }
    }
}
