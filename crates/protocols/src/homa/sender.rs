//! Sources: fewest remaining bytes first, unscheduled up to RTTbytes and then granted.

use super::headers::{Busy, Data, Grant, Resend, Unknown};
use super::terms::Terms;
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::ranking::{Rank, Ranking};
use incast_endpoint::receiver_driven::FlowTimers;
use incast_transport::{
    Classes, Env, Flow, FlowId, Header, HostId, Observed, Packet, PacketRef, Reason, Span, Time,
    TransportId, flag,
};
use std::collections::VecDeque;

/// Maximum number of doublings of the sender's timeout.
const DOUBLINGS_MOST: u32 = 6;
/// The sender's timeout in RESEND intervals.
const GUARD_INTERVALS: u64 = 3;
/// Largest length that fits the data header.
pub const LENGTH_MOST: u32 = (1 << 24) - 1;

/// The sending side of one message.
struct Outgoing {
    flow: Flow,
    packets: u32,
    /// Next packet that was never sent.
    next: u32,
    /// Packets below this number are unscheduled.
    blind: u32,
    /// Packets below may be sent.
    granted: u32,
    /// Granted packets not sent yet: up to which one, in which class.
    runs: VecDeque<(u32, u8)>,
    /// Packets to send again and their classes, the lowest last.
    again: Vec<(u32, u8)>,
    /// `remaining` counts the bytes that are left to send.
    rank: Rank,
    ranked: bool,
    /// Last time that something was sent, or heard of the receiver.
    quiet_since: Time,
    doublings: u32,
    armed: Time,
}

/// All messages that start at one host.
pub struct Senders {
    transport: TransportId,
    terms: Terms,
    guard: Span,
    flows: FlowTable<Outgoing>,
    /// Messages with packets ready.
    ranking: Ranking,
    timers: FlowTimers,
    opened: u32,
}

impl Senders {
    /// No messages yet.
    pub fn new(transport: TransportId, terms: Terms) -> Senders {
        Senders {
            transport,
            terms,
            guard: terms.resend_interval.saturating_mul(GUARD_INTERVALS),
            flows: FlowTable::new(),
            ranking: Ranking::default(),
            timers: FlowTimers::default(),
            opened: 0,
        }
    }

    /// RTTbytes in packets.
    pub fn blind(&self) -> u32 {
        self.terms.blind
    }

    /// Messages that have not finished.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A message starts: its first `blind` packets are ready.
    pub fn open(&mut self, env: &mut Env<'_>, flow: &Flow, blind: u32) {
        let packets = flow.packets();
        let blind = packets.min(blind);
        let rank = Rank { remaining: flow.size, order: self.opened, flow: flow.id };
        self.opened = self.opened.wrapping_add(1);
        let mut outgoing = Outgoing {
            flow: flow.clone(),
            packets,
            next: 0,
            blind,
            granted: blind,
            runs: VecDeque::new(),
            again: vec![],
            rank,
            ranked: blind > 0,
            quiet_since: env.now,
            doublings: 0,
            armed: Time::NEVER,
        };
        if blind > 0 {
            self.ranking.insert(rank);
        } else {
            env.probe.blocked(flow.id, Reason::Grant);
        }
        self.timers.arm(flow.id, &mut outgoing.armed, env.now.saturating_add(self.guard));
        self.flows.insert(flow.id, outgoing);
    }

    /// A grant arrived: packets up to an offset may be sent in a class, or one packet again.
    pub fn grant(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { header, flow, .. } = env.packets[packet];
        let Some(Grant { granted, lost, class, again }) = Grant::read(&header) else { return };
        let Some(slot) = self.flows.slot_of(flow) else { return };
        env.probe.decision(flow, Time(env.packets.stamps(packet).informed));
        self.heard(slot, env.now);
        let outgoing = self.flows.at_mut(slot);
        let class = self.terms.levels.valid(class);
        outgoing.grant(granted, class);
        if again {
            outgoing.repeat(lost, class);
        }
        self.rerank(env, slot);
    }

    /// The receiver misses packets: those that were sent are sent again, the others are granted.
    pub fn resend(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, flow, src, .. } = env.packets[packet];
        let Some(Resend { first, packets, class }) = Resend::read(&header) else { return };
        let Some(slot) = self.flows.slot_of(flow) else {
            return outbox.push(control(flow, src, Unknown {}, env.now));
        };
        self.heard(slot, env.now);
        let outgoing = self.flows.at_mut(slot);
        let class = self.terms.levels.valid(class);
        let end = first.saturating_add(packets).min(outgoing.packets);
        outgoing.grant(end, class);
        let sent = first..end.min(outgoing.next);
        let repeats = !sent.is_empty();
        sent.for_each(|seq| outgoing.repeat(seq, class));
        self.rerank(env, slot);
        // What was not sent yet waits for messages with fewer bytes left.
        if !repeats && self.ranking.best().is_some_and(|best| best.flow != flow) {
            outbox.push(control(flow, src, Busy { first }, env.now));
        }
    }

    /// The message has no more unscheduled packets; its granted ones are of `class`.
    pub fn stop_blind(&mut self, flow: FlowId, class: u8) {
        let Some(outgoing) = self.flows.get_mut(flow) else { return };
        if outgoing.next < outgoing.blind {
            outgoing.runs.push_front((outgoing.blind, class));
            outgoing.blind = outgoing.next;
        }
    }

    /// The receiver knows the message.
    pub fn known(&mut self, flow: FlowId, now: Time) {
        if let Some(slot) = self.flows.slot_of(flow) {
            self.heard(slot, now);
        }
    }

    /// A packet of the receiver restarts the sender's timeout.
    fn heard(&mut self, slot: u32, now: Time) {
        let outgoing = self.flows.at_mut(slot);
        outgoing.quiet_since = now;
        outgoing.doublings = 0;
        let ends = outgoing.guard_ends(self.guard);
        self.timers.arm(outgoing.flow.id, &mut outgoing.armed, ends);
    }

    /// The receiver has everything.
    pub fn finish(&mut self, env: &mut Env<'_>, flow: FlowId) {
        if self.remove(flow) {
            env.probe.acknowledged(flow);
            env.probe.blocked(flow, Reason::Ready);
        }
    }

    /// Takes a message out; returns whether it was there.
    pub fn remove(&mut self, flow: FlowId) -> bool {
        let Some(outgoing) = self.flows.remove(flow) else { return false };
        if outgoing.ranked {
            self.ranking.remove(outgoing.rank);
        }
        true
    }

    /// Whether no message has a packet ready.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.ranking.is_empty()
    }

    /// The next packet of the message with the fewest bytes left among those that have one ready
    /// in an open class.
    #[inline]
    pub fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let mut place = 0;
        // All classes are open but for a pause of the link: the first message it is.
        while let Some(rank) = self.ranking.at(place) {
            let slot = self.flows.slot_of(rank.flow).expect("a ranked message is open");
            let outgoing = self.flows.at(slot);
            let (seq, class) = outgoing.ready(&self.terms).expect("a ranked message has a packet");
            if open.has(class) {
                return Some(self.send(env, slot, seq, class));
            }
            place += 1;
        }
        None
    }

    fn send(&mut self, env: &mut Env<'_>, slot: u32, seq: u32, class: u8) -> PacketRef {
        let outgoing = self.flows.at_mut(slot);
        let packet = env.packets.create(outgoing.packet(seq, class, self.transport));
        env.packets.stamps_mut(packet).informed = env.now.0;
        outgoing.take(seq);
        outgoing.quiet_since = env.now;
        self.rerank(env, slot);
        packet
    }

    /// Puts a message where it belongs after packets became ready or were taken.
    fn rerank(&mut self, env: &mut Env<'_>, slot: u32) {
        let outgoing = self.flows.at_mut(slot);
        let left = outgoing.left();
        match (outgoing.ranked, outgoing.has_ready()) {
            (true, true) if outgoing.rank.remaining != left => {
                self.ranking.change(outgoing.rank, left);
            }
            (true, false) => {
                self.ranking.remove(outgoing.rank);
                if outgoing.next < outgoing.packets {
                    env.probe.blocked(outgoing.flow.id, Reason::Grant);
                }
            }
            (false, true) => {
                self.ranking.insert(Rank { remaining: left, ..outgoing.rank });
                env.probe.blocked(outgoing.flow.id, Reason::Ready);
            }
            _ => {}
        }
        outgoing.rank.remaining = left;
        outgoing.ranked = outgoing.has_ready();
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// What a trace shows of a message: packets that may be sent, and its guard.
    pub fn observe(&self, flow: FlowId) -> Observed {
        let Some(own) = self.flows.get(flow) else { return Observed::default() };
        let granted = own.granted.saturating_sub(own.next) as u64 + own.again.len() as u64;
        let timer = Some(own.guard_ends(self.guard));
        Observed { credits: Some(granted), timer, ..Observed::default() }
    }

    /// Sends the first packet again of messages whose receiver timed out: all that
    /// was sent may be lost, or the word that it has arrived.
    pub fn wake(&mut self, env: &mut Env<'_>) {
        while let Some((id, slot)) =
            self.timers.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let outgoing = self.flows.at_mut(slot);
            if outgoing.ranked {
                outgoing.quiet_since = env.now; // It waits for the NIC.
            } else if outgoing.guard_ends(self.guard) <= env.now {
                let class = self.terms.unscheduled_class(outgoing.flow.size, outgoing.flow.size);
                env.probe.timeout(id);
                outgoing.grant(1, class);
                outgoing.repeat(0, class);
                outgoing.quiet_since = env.now;
                outgoing.doublings = (outgoing.doublings + 1).min(DOUBLINGS_MOST);
            }
            let ends = outgoing.guard_ends(self.guard);
            self.timers.arm(id, &mut outgoing.armed, ends);
            self.rerank(env, slot);
        }
    }
}

impl Outgoing {
    fn guard_ends(&self, guard: Span) -> Time {
        self.quiet_since.saturating_add(guard.saturating_mul(1 << self.doublings))
    }

    /// Packets below `granted` may be sent, those that could not before in `class`.
    fn grant(&mut self, granted: u32, class: u8) {
        let granted = granted.min(self.packets);
        if granted <= self.granted {
            return;
        }
        self.granted = granted;
        match self.runs.back_mut() {
            Some((end, last)) if *last == class => *end = granted,
            _ => self.runs.push_back((granted, class)),
        }
    }

    /// A packet that was sent is to be sent again.
    fn repeat(&mut self, seq: u32, class: u8) {
        if seq >= self.next {
            return;
        }
        match self.again.binary_search_by(|(other, _)| seq.cmp(other)) {
            Ok(known) => self.again[known].1 = self.again[known].1.min(class),
            Err(place) => self.again.insert(place, (seq, class)),
        }
    }

    #[inline]
    fn has_ready(&self) -> bool {
        self.next < self.granted || !self.again.is_empty()
    }

    /// The packet to send next and its class: by its first byte, as all were made ready.
    #[inline]
    fn ready(&self, terms: &Terms) -> Option<(u32, u8)> {
        if let Some(&repeat) = self.again.last() {
            return Some(repeat);
        }
        if self.next < self.blind {
            let (size, from) = (self.flow.size, self.flow.offset(self.next));
            return Some((self.next, terms.unscheduled_class(size, size - from)));
        }
        self.runs.front().map(|&(_, class)| (self.next, class))
    }

    /// Notes that a ready packet is sent.
    #[inline]
    fn take(&mut self, seq: u32) {
        if seq < self.next {
            self.again.pop();
            return;
        }
        self.next += 1;
        if self.runs.front().is_some_and(|&(end, _)| end <= self.next) {
            self.runs.pop_front();
        }
    }

    /// Bytes left to send.
    #[inline]
    fn left(&self) -> u64 {
        let unsent =
            if self.next < self.packets { self.flow.size - self.flow.offset(self.next) } else { 0 };
        let again = self.again.iter().map(|&(seq, _)| self.flow.payload(seq) as u64);
        unsent + again.sum::<u64>()
    }

    #[inline]
    fn packet(&self, seq: u32, class: u8, transport: TransportId) -> Packet {
        let first_time = seq == self.next;
        let unscheduled = first_time && seq < self.blind;
        let own_burst = unscheduled && self.flow.burst.is_some();
        let own = Data {
            packet: seq,
            offset: self.flow.offset(seq) as u32,
            packets: self.packets.min(LENGTH_MOST),
            last: seq + 1 == self.packets,
            unscheduled,
            own_burst,
            burst_end: own_burst && seq + 1 == self.blind,
        };
        Packet {
            header: own.into(),
            src: self.flow.src,
            dst: self.flow.dst,
            flow: self.flow.id,
            payload: self.flow.payload(seq),
            path: 0,
            mark: 0,
            class,
            transport,
            flags: if first_time { 0 } else { flag::RETRANSMIT },
            extension: 0,
        }
    }
}

/// A control packet that is not a repetition.
pub fn control(flow: FlowId, to: HostId, header: impl Into<Header>, now: Time) -> Control {
    Control { flow, to, header: header.into(), again: false, informed: now }
}
