//! The data's source: asks for credits, answers each with a packet, and stops them.

use super::outbox::Outbox;
use super::{DATA, Terms, stamp};
use crate::flow_table::FlowTable;
use crate::receiver_driven::FlowTimers;
use incast_transport::{
    Env, Flow, FlowId, Header, Packet, PacketRef, Reason, Span, Time, data_flag, flag,
};

/// Repetitions come at intervals that double at most this often, and are a second at most.
const DOUBLINGS_MOST: u32 = 6;
const AGAIN_MOST: Span = Span::from_secs(1);
/// Silence after which a source with credits asks again, in repetition times of a request. A
/// destination that sends credits ignores it.
const SILENCE: u64 = 4;

/// What a source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It has asked for credits.
    Asking,
    /// Credits come.
    Receiving,
    /// It has asked for no more of them; those on their way still come.
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
    /// Data that has not left yet.
    queued: u32,
    state: State,
    /// The last request, credit or stop, whichever the state waits to be answered.
    since: Time,
    /// The first request that no credit has answered.
    asked: Time,
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
}

impl Senders {
    /// No flows yet.
    pub fn new(terms: Terms) -> Senders {
        Senders { terms, flows: FlowTable::new(), timers: FlowTimers::default() }
    }

    /// Flows of which it is not known that everything has arrived.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// A flow starts.
    pub(super) fn open(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, flow: &Flow) {
        let mut outgoing = Outgoing {
            flow: flow.clone(),
            packets: flow.packets(),
            next: 0,
            sent: 0,
            queued: 0,
            state: State::Asking,
            since: env.now,
            asked: env.now,
            rtt: Span::ZERO,
            credits: 0,
            credits_since: env.now,
            doublings: 0,
            armed: Time::NEVER,
        };
        outgoing.ask(env, outbox, &self.terms);
        env.probe.blocked(flow.id, Reason::Credit);
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(flow.id, &mut outgoing.armed, deadline);
        self.flows.insert(flow.id, outgoing);
    }

    /// A credit arrived.
    #[inline]
    pub(super) fn credit(
        &mut self,
        env: &mut Env<'_>,
        outbox: &mut Outbox,
        packet: PacketRef,
        number: u32,
        stamp: u32,
    ) {
        let id = env.packets[packet].flow;
        let Some(outgoing) = self.flows.get_mut(id) else { return env.probe.wasted(id) };
        outgoing.receives(env.now);
        if outgoing.next == outgoing.packets {
            return env.probe.wasted(id);
        }
        let data = outgoing.data(&self.terms, number, stamp);
        outbox.push(env, data);
        if outgoing.queued == 1 {
            env.probe.blocked(id, Reason::Ready);
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
            if outgoing.queued == 0 && outgoing.next < outgoing.packets {
                env.probe.blocked(id, Reason::Credit);
            }
        }
    }

    /// The destination misses packet `first` and, for all it will keep, those behind it.
    pub(super) fn missing(
        &mut self,
        env: &mut Env<'_>,
        outbox: &mut Outbox,
        packet: PacketRef,
        first: u32,
    ) {
        let id = env.packets[packet].flow;
        let Some(outgoing) = self.flows.get_mut(id) else { return };
        if first >= outgoing.next {
            return; // Known by now.
        }
        outgoing.next = first;
        if outgoing.queued == 0 {
            env.probe.blocked(id, Reason::Credit);
        }
        if matches!(outgoing.state, State::Stopped | State::Closing) {
            outgoing.ask_anew(env, outbox, &self.terms);
        }
        let deadline = outgoing.deadline(&self.terms);
        self.timers.arm(id, &mut outgoing.armed, deadline);
    }

    /// The destination has everything.
    pub(super) fn finish(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let id = env.packets[packet].flow;
        if self.flows.remove(id).is_some() {
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
        while let Some((at, id)) = self.timers.due(env.now) {
            let Some(outgoing) = self.flows.get_mut(id) else { continue };
            if outgoing.armed != at {
                continue;
            }
            outgoing.armed = Time::NEVER;
            if outgoing.deadline(&self.terms) <= env.now {
                outgoing.expired(env, outbox, &self.terms);
            }
            let deadline = outgoing.deadline(&self.terms);
            self.timers.arm(id, &mut outgoing.armed, deadline);
        }
    }
}

impl Outgoing {
    /// Notes a credit: a request was answered, and the source need not ask again.
    fn receives(&mut self, now: Time) {
        match self.state {
            State::Asking => {
                self.state = State::Receiving;
                self.rtt = now - self.asked;
                (self.credits, self.credits_since) = (0, now);
            }
            State::Receiving => {}
            State::Stopped | State::Closing => return,
        }
        self.since = now;
        self.doublings = 0;
        self.credits += 1;
    }

    /// Whether no more credits are needed: all is sent or, looking once a round trip, the credits
    /// of one round trip suffice for what is left.
    fn may_stop(&mut self, now: Time, early: bool) -> bool {
        let left = self.packets - self.next;
        if left == 0 {
            return true;
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

    fn data(&mut self, terms: &Terms, number: u32, stamp: u32) -> Packet {
        let seq = self.next;
        let flags = if seq < self.sent { flag::RETRANSMIT } else { 0 };
        let last = seq + 1 == self.packets;
        self.next += 1;
        self.sent = self.sent.max(self.next);
        self.queued += 1;
        let own = if last { data_flag::LAST } else { 0 };
        let header = Header::Credited { seq, stamp, number, flags: own };
        let payload = self.flow.payload(seq);
        Packet { payload, mark: terms.mark, flags, ..self.packet(terms, header) }
    }

    fn packet(&self, terms: &Terms, header: Header) -> Packet {
        Packet {
            header,
            src: self.flow.src,
            dst: self.flow.dst,
            flow: self.flow.id,
            payload: 0,
            path: 0,
            mark: 0,
            class: DATA,
            transport: terms.transport,
            flags: 0,
            extension: 0,
        }
    }

    fn request(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, flags: u8) {
        let packets = self.packets - self.next;
        let header = Header::Request { packets, stamp: stamp(env.now), spare: 0, flags };
        outbox.push(env, self.packet(terms, header));
        self.since = env.now;
    }

    fn ask(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        self.state = State::Asking;
        self.request(env, outbox, terms, 0);
    }

    fn ask_anew(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        (self.asked, self.doublings) = (env.now, 0);
        self.ask(env, outbox, terms);
    }

    fn stop(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        self.request(env, outbox, terms, data_flag::LAST);
    }

    /// When the state has lasted too long.
    fn deadline(&self, terms: &Terms) -> Time {
        let again = terms.request_again;
        let wait = match self.state {
            State::Asking => doubled(again, self.doublings),
            State::Receiving => doubled(again * SILENCE, self.doublings),
            State::Stopped => self.rtt * 2,
            State::Closing => doubled(self.rtt, self.doublings),
        };
        self.since.saturating_add(wait.max(Span(1)))
    }

    fn expired(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms) {
        let doublings = (self.doublings + 1).min(DOUBLINGS_MOST);
        match self.state {
            State::Asking => {
                self.ask(env, outbox, terms);
                self.doublings = doublings;
            }
            State::Receiving => {
                self.ask_anew(env, outbox, terms);
                self.doublings = doublings;
            }
            // The credits that were on their way did not suffice.
            State::Stopped if self.next < self.packets => self.ask_anew(env, outbox, terms),
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
