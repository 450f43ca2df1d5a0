//! The data's source: requests credits, sends one packet per credit, and stops them.

use super::outbox::Outbox;
use super::views::{Credit, Data, Missing, Request, Unscheduled};
use super::{DATA, Terms, stamp};
use crate::first_round::FirstRound;
use crate::first_round::views::{Ack, Probe, ProbeAck};
use crate::flow_table::FlowTable;
use crate::receiver_driven::FlowTimers;
use incast_transport::{
    Env, Flow, FlowId, Header, Observed, Packet, PacketRef, Reason, Segments, Span, Time, flag,
};
use std::collections::VecDeque;

/// Repetitions come at intervals that double at most this often, and are a second at most.
const DOUBLINGS_MOST: u32 = 6;
const AGAIN_MOST: Span = Span::from_secs(1);
/// Time without credits after which a source repeats its request, in repetition times of
/// a request. A destination that sends credits ignores it.
const CREDIT_TIMEOUT: u64 = 4;

/// What a source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It has requested credits.
    Requested,
    /// Credits come.
    Receiving,
    /// It has stopped them; those in flight still arrive.
    Stopped,
    /// Everything is sent and no credits are expected; the destination has not confirmed it.
    Closing,
}

/// The sending side of one flow.
struct Outgoing {
    flow: Flow,
    packets: u32,
    /// The packet that the next credit lets go.
    next: u32,
    /// Packets below were sent at least once.
    sent: u32,
    /// Packets that were sent without credits, if any may be.
    round: Option<FirstRound>,
    /// Missing packets to send again, the lowest last. Not used by flows that go back.
    again: Vec<u32>,
    /// Data that has not left yet.
    queued: u32,
    state: State,
    /// The last request, credit or stop, whichever waits for a reply in this state.
    since: Time,
    /// The first request that no credit has replied to.
    requested: Time,
    /// From a request to the first credit.
    rtt: Span,
    /// Credits that came since `credits_since`.
    credits: u32,
    credits_since: Time,
    doublings: u32,
    armed: Time,
}

/// All flows that start at one host.
pub struct Senders {
    terms: Terms,
    flows: FlowTable<Outgoing>,
    timers: FlowTimers,
    /// Flows that may send without credits, in turn.
    bursts: VecDeque<FlowId>,
}

impl Senders {
    /// No flows yet.
    pub fn new(terms: Terms) -> Senders {
        let (flows, timers) = (FlowTable::new(), FlowTimers::default());
        Senders { terms, flows, timers, bursts: VecDeque::new() }
    }

    /// Flows of which it is not known that everything has arrived.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether a flow starts here that is not known to have arrived.
    pub(super) fn has(&self, flow: FlowId) -> bool {
        self.flows.contains(flow)
    }

    /// Forgets a flow. What is queued of it and its timers find nothing.
    pub(super) fn abandon(&mut self, flow: FlowId) {
        self.flows.remove(flow);
    }

    /// What a trace shows of a flow: packets that credits have let go, and its timer.
    pub(super) fn observe(&self, flow: FlowId) -> Observed {
        let Some(outgoing) = self.flows.get(flow) else { return Observed::default() };
        Observed {
            credits: Some(outgoing.queued as u64),
            timer: Some(outgoing.deadline(&self.terms)),
            ..Observed::default()
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// A flow starts.
    pub(super) fn open(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, flow: &Flow) {
        let packets = flow.packets();
        // Destinations must know where packets belong that come out of order.
        let burst = self.terms.burst.filter(|_| matches!(flow.segments, Segments::Uniform(_)));
        let round = burst.map(|burst| FirstRound::new(packets.min(burst.packets)));
        let starts = round.is_some();
        let mut outgoing = Outgoing {
            flow: flow.clone(),
            packets,
            next: 0,
            sent: 0,
            round,
            again: vec![],
            queued: 0,
            state: State::Requested,
            since: env.now,
            requested: env.now,
            rtt: Span::ZERO,
            credits: 0,
            credits_since: env.now,
            doublings: 0,
            armed: Time::NEVER,
        };
        outgoing.send_request(env, outbox, &self.terms);
        if starts {
            self.bursts.push_back(flow.id);
        } else {
            env.probe.blocked(flow.id, Reason::Credit);
        }
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(flow.id, &mut outgoing.armed, deadline);
        self.flows.insert(flow.id, outgoing);
    }

    /// The next packet that needs no credit, of each flow in turn.
    pub(super) fn burst(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) -> Option<PacketRef> {
        loop {
            let id = self.bursts.pop_front()?;
            let Some(outgoing) = self.flows.get_mut(id) else { continue };
            let Some(packet) = outgoing.unscheduled(env, outbox, &self.terms) else { continue };
            if outgoing.starts() {
                self.bursts.push_back(id);
            } else if outgoing.next < outgoing.packets {
                env.probe.blocked(id, Reason::Credit);
            }
            let deadline = outgoing.deadline(&self.terms);
            self.timers.arm(id, &mut outgoing.armed, deadline);
            let made = env.packets.create(packet);
            env.packets.stamps_mut(made).informed = env.now.0;
            return Some(made);
        }
    }

    /// A packet that needed no credit was acknowledged, or the probe behind them.
    pub(super) fn acked(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { header, flow, .. } = env.packets[packet];
        let Some(outgoing) = self.flows.get_mut(flow) else { return };
        let (Some(round), Some(burst)) = (&mut outgoing.round, &self.terms.burst) else { return };
        if let Some(ProbeAck { cumulative, .. }) = ProbeAck::read(&header) {
            round.probe_acked(env.now, cumulative, &burst.round);
        } else if let Some(Ack { packet, cumulative }) = Ack::read(&header) {
            round.acked(packet, cumulative);
        }
    }

    /// A credit arrived.
    #[inline]
    pub(super) fn credit(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, flow: id, .. } = env.packets[packet];
        let Some(credit) = Credit::read(&header) else { return };
        let Some(outgoing) = self.flows.get_mut(id) else { return env.probe.wasted(id) };
        outgoing.receives(env.now, &self.terms);
        let starting = outgoing.starts();
        outgoing.end_round(env, outbox, &self.terms);
        if let Some(seq) = outgoing.take(env.now, &self.terms) {
            let data = outgoing.data(&self.terms, seq, credit);
            outbox.push(env, data);
            if outgoing.queued == 1 && !starting {
                env.probe.blocked(id, Reason::Ready);
            }
        } else {
            env.probe.wasted(id);
        }
        if outgoing.state == State::Receiving && outgoing.may_stop(env.now, self.terms.early_stop) {
            outgoing.stop(env, outbox, &self.terms);
            outgoing.state = State::Stopped;
        }
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(id, &mut outgoing.armed, deadline);
    }

    /// A data packet of the flow leaves.
    #[inline]
    pub(super) fn left(&mut self, env: &mut Env<'_>, id: FlowId) {
        if let Some(outgoing) = self.flows.get_mut(id) {
            outgoing.queued -= 1;
            if outgoing.queued == 0 && outgoing.left() > 0 {
                env.probe.blocked(id, Reason::Credit);
            }
        }
    }

    /// The destination misses a packet and, for all it will keep, those behind it; if it keeps
    /// them, those up to an end.
    pub(super) fn missing(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, flow: id, .. } = env.packets[packet];
        let Some(Missing { first, end }) = Missing::read(&header) else { return };
        let Some(outgoing) = self.flows.get_mut(id) else { return };
        if first >= outgoing.next {
            return; // Known by now.
        }
        if outgoing.round.is_some() {
            outgoing.repeat(first, end);
        } else {
            outgoing.next = first;
        }
        if outgoing.queued == 0 {
            env.probe.blocked(id, Reason::Credit);
        }
        if matches!(outgoing.state, State::Stopped | State::Closing) {
            outgoing.request_anew(env, outbox, &self.terms);
        }
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(id, &mut outgoing.armed, deadline);
    }

    /// The destination has everything.
    pub(super) fn finish(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let id = env.packets[packet].flow;
        if self.flows.remove(id).is_some() {
            env.probe.acknowledged(id);
            env.probe.blocked(id, Reason::Ready);
        }
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Does what is due.
    pub(super) fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        while let Some((id, slot)) =
            self.timers.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let outgoing = self.flows.at_mut(slot);
            if outgoing.probe_deadline(&self.terms) <= env.now {
                env.probe.timeout(id);
                outgoing.repeat_probe(env, outbox, &self.terms);
            }
            if outgoing.state_deadline(&self.terms) <= env.now {
                if outgoing.left() > 0 {
                    env.probe.timeout(id);
                }
                outgoing.expired(env, outbox, &self.terms);
            }
            let deadline = outgoing.deadline(&self.terms);
            self.timers.arm(id, &mut outgoing.armed, deadline);
        }
    }
}

impl Outgoing {
    /// Notes a credit: a request has its reply, and the source does not repeat it.
    fn receives(&mut self, now: Time, terms: &Terms) {
        match self.state {
            State::Requested => {
                self.state = State::Receiving;
                // A credit that was under way when credits were requested anew may be no reply to that.
                let again = self.rtt > Span::ZERO;
                let least = if again { terms.base_rtt / 8 } else { Span::ZERO };
                self.rtt = (now - self.requested).max(least);
                (self.credits, self.credits_since) = (0, now);
            }
            State::Receiving => {}
            State::Stopped | State::Closing => return,
        }
        self.since = now;
        self.doublings = 0;
        self.credits += 1;
    }

    /// Packets that credits are needed for: not sent yet, missing, and those sent without credits
    /// whose fate is not known.
    fn left(&self) -> u32 {
        self.packets - self.next + self.again.len() as u32 + self.unsettled()
    }

    fn unsettled(&self) -> u32 {
        self.round.as_ref().map_or(0, FirstRound::unsettled)
    }

    /// Whether no more credits are needed: all is sent or, looking once per RTT, the credits
    /// of one RTT suffice for what is left. Not before the fate of packets that were sent
    /// without credits is known (Aeolus).
    fn may_stop(&mut self, now: Time, early: bool) -> bool {
        let left = self.left();
        if left == 0 || self.unsettled() > 0 {
            return left == 0;
        }
        if now - self.credits_since < self.rtt {
            return false;
        }
        if early && self.credits >= left {
            return true;
        }
        (self.credits, self.credits_since) = (0, now);
        false
    }

    // -- the first round, if packets are sent without credits -------------------------------------

    /// Whether a packet may be sent without a credit.
    fn starts(&self) -> bool {
        self.round.as_ref().is_some_and(|round| round.next().is_some())
    }

    fn unscheduled(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) -> Option<Packet> {
        let round = self.round.as_mut()?;
        let seq = round.next()?;
        let probe = round.send(env.now);
        self.next = seq + 1;
        self.sent = self.next;
        let (packets, last) = (self.packets, seq + 1 == self.packets);
        let offset = self.flow.offset(seq) as u32;
        let header = Unscheduled { packet: seq, offset, packets, last }.into();
        let payload = self.flow.payload(seq);
        let packet = Packet { payload, mark: terms.mark, ..self.packet(terms, header) };
        if let Some(sent) = probe {
            self.probe(env, outbox, terms, sent);
        }
        Some(packet)
    }

    fn probe(&self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, sent: u32) {
        let header = Probe { packets: self.packets, sent }.into();
        outbox.push(env, self.packet(terms, header));
    }

    fn repeat_probe(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        if let Some(sent) = self.round.as_mut().and_then(|round| round.expired(env.now)) {
            self.probe(env, outbox, terms, sent);
        }
    }

    /// A credit came: all that follows is sent for credits.
    fn end_round(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        if let Some(sent) = self.round.as_mut().and_then(|round| round.end(env.now)) {
            self.probe(env, outbox, terms, sent);
        }
    }

    /// Packets from `first` on are missing, below `end`.
    fn repeat(&mut self, first: u32, end: u32) {
        for seq in first..end.min(self.next) {
            if let Err(place) = self.again.binary_search_by(|other| seq.cmp(other)) {
                self.again.insert(place, seq);
            }
            if let Some(round) = &mut self.round {
                round.sent_again(seq);
            }
        }
    }

    // -- packets --------------------------------------------------------------------------------

    /// The packet that a credit lets go: one known to be lost, else the next one, else one whose
    /// fate is not known (Aeolus §3).
    #[inline]
    fn take(&mut self, now: Time, terms: &Terms) -> Option<u32> {
        if let Some(seq) = self.again.pop() {
            return Some(seq);
        }
        if let (Some(round), Some(burst)) = (&mut self.round, &terms.burst)
            && let Some(seq) = round.take_lost(now, &burst.round)
        {
            return Some(seq);
        }
        if self.next < self.packets {
            self.next += 1;
            return Some(self.next - 1);
        }
        self.round.as_mut()?.take_unacked()
    }

    fn data(&mut self, terms: &Terms, seq: u32, credit: Credit) -> Packet {
        let flags = if seq < self.sent { flag::RETRANSMIT } else { 0 };
        let last = seq + 1 == self.packets;
        self.sent = self.sent.max(seq + 1);
        self.queued += 1;
        let Credit { number: credit, sent: credit_sent } = credit;
        let header = Data { packet: seq, credit_sent, credit, last }.into();
        let payload = self.flow.payload(seq);
        Packet { payload, mark: terms.mark, flags, ..self.packet(terms, header) }
    }

    fn packet(&self, terms: &Terms, header: Header) -> Packet {
        let hosts = (self.flow.src, self.flow.dst);
        Packet::header_only(terms.transport, self.flow.id, hosts.0, hosts.1, DATA, header)
    }

    fn request(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, stop: bool) {
        let segment = match (&self.round, &self.flow.segments) {
            (Some(_), Segments::Uniform(mss)) => *mss as u32,
            _ => 0,
        };
        let request = Request { packets: self.left(), sent: stamp(env.now), segment, stop };
        outbox.push(env, self.packet(terms, request.into()));
        self.since = env.now;
    }

    fn send_request(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        self.state = State::Requested;
        self.request(env, outbox, terms, false);
    }

    fn request_anew(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        (self.requested, self.doublings) = (env.now, 0);
        self.send_request(env, outbox, terms);
    }

    fn stop(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        self.request(env, outbox, terms, true);
    }

    fn deadline(&self, terms: &Terms) -> Time {
        self.state_deadline(terms).min(self.probe_deadline(terms))
    }

    /// When the probe has waited too long for its reply.
    fn probe_deadline(&self, terms: &Terms) -> Time {
        match (&self.round, &terms.burst) {
            (Some(round), Some(burst)) => round.deadline(&burst.round),
            _ => Time::NEVER,
        }
    }

    /// When the state has lasted too long.
    fn state_deadline(&self, terms: &Terms) -> Time {
        let again = terms.request_again;
        let wait = match self.state {
            State::Requested => doubled(again, self.doublings),
            State::Receiving => doubled(again * CREDIT_TIMEOUT, self.doublings),
            State::Stopped => self.rtt * 2,
            State::Closing => doubled(self.rtt, self.doublings),
        };
        self.since.saturating_add(wait.max(Span(1)))
    }

    fn expired(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        let doublings = (self.doublings + 1).min(DOUBLINGS_MOST);
        match self.state {
            State::Requested => {
                self.send_request(env, outbox, terms);
                self.doublings = doublings;
            }
            State::Receiving => {
                self.request_anew(env, outbox, terms);
                self.doublings = doublings;
            }
            // The credits in flight did not suffice.
            State::Stopped if self.left() > 0 => self.request_anew(env, outbox, terms),
            State::Stopped => {
                self.state = State::Closing;
                (self.since, self.doublings) = (env.now, 0);
            }
            State::Closing => {
                self.stop(env, outbox, terms);
                self.doublings = doublings;
            }
        }
    }
}

fn doubled(span: Span, times: u32) -> Span {
    span.saturating_mul(1 << times).min(AGAIN_MOST.max(span))
}
