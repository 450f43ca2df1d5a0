//! Sources: which of their flows spends a token next.

use super::headers::{self, Announce, FreeData, ID, OwnAnnounce, SMALL, TokenData};
use super::terms::Terms;
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::ranking::{Rank, Ranking};
use incast_endpoint::receiver_driven::{Arrival, Arrivals, FlowTimers};
use incast_transport::{Env, Flow, FlowId, Observed, Packet, PacketRef, Reason, Time, flag};
use std::collections::VecDeque;

/// Announcements are repeated at intervals that double at most this often.
const DOUBLINGS_MOST: u32 = 6;

/// The right to send one packet.
#[derive(Clone, Copy, Debug)]
struct Token {
    expires: Time,
    number: u32,
    seq: u32,
}

/// The sending side of one flow.
struct Outgoing {
    flow: Flow,
    packets: u32,
    /// Preference; `ranked`: whether it is in the ranking.
    rank: Rank,
    ranked: bool,
    /// Packets that were sent at least once.
    sent: Arrivals,
    sent_count: u32,
    /// Free tokens: packets `free_next..free_end` until they expire.
    free_next: u32,
    free_end: u32,
    free_expires: Time,
    /// Tokens in order of their expiry.
    tokens: VecDeque<Token>,
    announced: bool,
    heard: Time,
    doublings: u32,
    armed: Time,
}

/// All flows that start at one host.
pub struct Senders {
    terms: Terms,
    flows: FlowTable<Outgoing>,
    /// Flows that own a token, valid or expired.
    ranking: Ranking,
    timers: FlowTimers,
    opened: u32,
    /// Announcements of flows whose data has left completely.
    behind: Outbox,
}

impl Senders {
    /// No flows yet.
    pub fn new(terms: Terms) -> Senders {
        Senders {
            terms,
            flows: FlowTable::new(),
            ranking: Ranking::default(),
            timers: FlowTimers::default(),
            opened: 0,
            behind: Outbox::new(ID),
        }
    }

    /// Flows that have not finished.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A flow starts. A flow with a free token for each of its packets announces itself behind
    /// them, so that nothing delays them; the others announce themselves at once, and so does one
    /// whose number of free tokens is its own, which only the announcement tells.
    pub fn open(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, flow: &Flow) {
        let packets = flow.packets();
        let free = flow.burst.map_or_else(|| self.terms.free(packets), |own| own.min(packets));
        let rank = Rank { remaining: packets as u64, order: self.opened, flow: flow.id };
        self.opened = self.opened.wrapping_add(1);
        let mut outgoing = Outgoing {
            flow: flow.clone(),
            packets,
            rank,
            ranked: free > 0,
            sent: Arrivals::new(),
            sent_count: 0,
            free_next: 0,
            free_end: free,
            free_expires: env.now + self.terms.slot * free as u64 + self.terms.token_life,
            tokens: VecDeque::new(),
            announced: false,
            // A destination that grants nothing is silent until a burst of its own has left.
            heard: env.now + self.terms.slot * flow.burst.map_or(0, |_| free as u64),
            doublings: 0,
            armed: Time::NEVER,
        };
        if free < packets || flow.burst.is_some() {
            outgoing.announce(env.now, outbox);
        }
        if free > 0 {
            self.ranking.insert(rank);
        } else {
            env.probe.blocked(flow.id, Reason::Grant);
        }
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(flow.id, &mut outgoing.armed, deadline);
        self.flows.insert(flow.id, outgoing);
    }

    /// A token arrived.
    pub fn token(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { header, flow, .. } = env.packets[packet];
        let Some(token) = headers::Token::read(&header) else { return };
        let headers::Token { packet: seq, remaining, number } = token;
        let Some(outgoing) = self.flows.get_mut(flow) else { return };
        if seq >= outgoing.packets {
            return;
        }
        env.probe.decision(flow, Time(env.packets.stamps(packet).informed));
        outgoing.heard = env.now;
        outgoing.doublings = 0;
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(flow, &mut outgoing.armed, deadline);
        outgoing.drop_expired(env.now);
        let expires = env.now + self.terms.token_life;
        outgoing.tokens.push_back(Token { expires, number, seq });
        let remaining = remaining as u64;
        if outgoing.ranked {
            self.ranking.change(outgoing.rank, remaining);
        }
        outgoing.rank.remaining = remaining;
        if !outgoing.ranked {
            outgoing.ranked = true;
            self.ranking.insert(outgoing.rank);
            env.probe.blocked(flow, Reason::Ready);
        }
    }

    /// The destination has everything.
    pub fn finish(&mut self, env: &mut Env<'_>, flow: FlowId) {
        if self.remove(flow) {
            env.probe.acknowledged(flow);
            env.probe.blocked(flow, Reason::Ready);
        }
    }

    /// Takes a flow out; returns whether it was there.
    pub fn remove(&mut self, flow: FlowId) -> bool {
        let Some(outgoing) = self.flows.remove(flow) else { return false };
        if outgoing.ranked {
            self.ranking.remove(outgoing.rank);
        }
        true
    }

    /// Whether no flow has a token, and no announcement waits behind data.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.behind.is_empty() && self.ranking.is_empty()
    }

    /// The packet of the earliest-expiring token of the preferred flow that owns a valid one; before
    /// it the announcement of a flow whose data has just left.
    pub fn transmit(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) -> Option<PacketRef> {
        // Only a flow that has a free token for each packet announces itself behind its data.
        if let Some(packet) = self.behind.send_in(env, SMALL) {
            return Some(packet);
        }
        while let Some(best) = self.ranking.best() {
            let slot = self.flows.slot_of(best.flow).expect("a ranked flow is open");
            let outgoing = self.flows.at_mut(slot);
            outgoing.drop_expired(env.now);
            let token = outgoing.take();
            let packet = token.map(|(token, free)| outgoing.data(env, &self.terms, token, free));
            if !outgoing.has_token() {
                outgoing.ranked = false;
                self.ranking.remove(best);
                if !outgoing.announced {
                    let all = outgoing.sent_count == outgoing.packets;
                    outgoing.announce(env.now, if all { &mut self.behind } else { outbox });
                }
                if outgoing.sent_count < outgoing.packets {
                    env.probe.blocked(best.flow, Reason::Grant);
                }
            }
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// What a trace shows of a flow: its tokens, free ones too, expired or not.
    pub fn observe(&self, flow: FlowId) -> Observed {
        let Some(own) = self.flows.get(flow) else { return Observed::default() };
        let tokens = (own.free_end.saturating_sub(own.free_next)) as u64 + own.tokens.len() as u64;
        Observed { credits: Some(tokens), ..Observed::default() }
    }

    /// Repeats announcements whose timeout has expired.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let now = env.now;
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.flows, |flow| &mut flow.armed)
        {
            let outgoing = self.flows.at_mut(slot);
            if outgoing.deadline(&self.terms) <= now {
                env.probe.timeout(id);
                outgoing.announce(now, outbox);
                outgoing.heard = now;
                outgoing.doublings = (outgoing.doublings + 1).min(DOUBLINGS_MOST);
            }
            let deadline = outgoing.deadline(&self.terms);
            self.timers.arm(id, &mut outgoing.armed, deadline);
        }
    }
}

impl Outgoing {
    fn announce(&mut self, now: Time, outbox: &mut Outbox) {
        let (packets, size) = (self.packets, self.flow.size);
        let (bytes_low, bytes_high) = (size as u32, (size >> 32) as u32);
        let header = match self.flow.burst {
            None => Announce { packets, bytes_low, bytes_high }.into(),
            Some(free) => OwnAnnounce { packets, bytes: bytes_low, free }.into(),
        };
        let (flow, to, again) = (self.flow.id, self.flow.dst, self.announced);
        outbox.push(Control { flow, to, header, again, informed: now });
        self.announced = true;
    }

    fn deadline(&self, terms: &Terms) -> Time {
        self.heard.saturating_add(terms.announce_again.saturating_mul(1 << self.doublings))
    }

    fn has_token(&self) -> bool {
        self.free_next < self.free_end || !self.tokens.is_empty()
    }

    fn drop_expired(&mut self, now: Time) {
        if self.free_expires < now {
            self.free_next = self.free_end;
        }
        while self.tokens.front().is_some_and(|token| token.expires < now) {
            self.tokens.pop_front();
        }
    }

    /// Takes the token that expires first; `true` if it is a free one.
    fn take(&mut self) -> Option<(Token, bool)> {
        let next = self.tokens.front().map_or(Time::NEVER, |token| token.expires);
        if self.free_next < self.free_end && self.free_expires <= next {
            let seq = self.free_next;
            self.free_next += 1;
            return Some((Token { expires: self.free_expires, number: seq, seq }, true));
        }
        self.tokens.pop_front().map(|token| (token, false))
    }

    fn data(&mut self, env: &mut Env<'_>, terms: &Terms, token: Token, free: bool) -> PacketRef {
        let Token { seq, number, .. } = token;
        let again = self.sent.insert(seq, false) == Arrival::Duplicate;
        self.sent_count += !again as u32;
        let flow = &self.flow;
        let (offset, last) = (flow.offset(seq) as u32, seq + 1 == self.packets);
        // The number of a free token is that of its packet: the field holds the flow's length
        // instead, so that the first data announces the flow too.
        let header = match free {
            true => {
                let packets =
                    if flow.burst.is_none() { terms.told_length(self.packets) } else { 0 };
                FreeData { packet: seq, offset, packets, last }.into()
            }
            false => TokenData { packet: seq, offset, token: number, last }.into(),
        };
        let packet = env.packets.create(Packet {
            header,
            src: flow.src,
            dst: flow.dst,
            flow: flow.id,
            payload: flow.payload(seq),
            path: 0,
            mark: 0,
            class: terms.class(self.packets),
            transport: ID,
            flags: if again { flag::RETRANSMIT } else { 0 },
            extension: 0,
        });
        env.packets.stamps_mut(packet).informed = env.now.0;
        packet
    }
}
