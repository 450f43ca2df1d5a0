//! The data's destination: paces credits, counts which come back, and asks for what is missing.

use super::outbox::Outbox;
use super::{Arrived, Asked, CREDIT, CreditCount, CreditLaw, DATA, Terms, since, stamp};
use crate::flow_table::{FlowSet, FlowTable};
use crate::receiver_driven::FlowTimers;
use incast_transport::{
    Ecn, Env, FlowId, Header, HostId, Packet, PacketRef, Span, Time, data_flag,
};

/// A request or stop is out of date if one with a later stamp came within this time; stamps alone
/// say nothing about longer times, since they begin again every 4.3 s.
const MEMORY: Span = Span::from_secs(1);

/// The receiving side of one flow.
struct Incoming<F> {
    src: HostId,
    law: F,
    count: CreditCount,
    /// Credits sent so far: the number of the next.
    sent: u32,
    /// When the next credit is due; never while the source wants none.
    next_credit: Time,
    /// The first packet missing.
    expected: u32,
    /// Its offset.
    offset: u64,
    /// When it is asked for again; never if it may still come by itself.
    missing: Time,
    /// Stamp of the last request or stop, and when it came.
    asked: (u32, Time),
    /// When what the last data told was current, in picoseconds.
    informed: u64,
    armed: Time,
}

/// All flows that end at one host.
pub struct Receivers<L: CreditLaw> {
    terms: Terms,
    law: L,
    flows: FlowTable<Incoming<L::Flow>>,
    finished: FlowSet,
    timers: FlowTimers,
}

impl<L: CreditLaw> Receivers<L> {
    /// No flows yet.
    pub fn new(terms: Terms, law: L) -> Receivers<L> {
        Receivers {
            terms,
            law,
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            timers: FlowTimers::default(),
        }
    }

    /// Flows that are incomplete.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The state of a flow that is incomplete, for tests and reports.
    pub fn state(&self, id: FlowId) -> Option<&L::Flow> {
        self.flows.get(id).map(|flow| &flow.law)
    }

    /// A source asks for credits, or for no more of them.
    pub(super) fn asked(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let content = env.packets[packet];
        let Packet { flow: id, src, .. } = content;
        let Header::Request { packets, stamp, flags, .. } = content.header else { return };
        let stops = flags & data_flag::LAST != 0;
        if self.finished.contains(id) {
            return finish(env, outbox, &self.terms, id, src);
        }
        let slot = match self.flows.slot_of(id) {
            Some(slot) => slot,
            None if stops => return,
            None => {
                let asked = Asked { now: env.now, packets, one_way: since(stamp, env.now) };
                let law = self.law.begin(&asked);
                self.flows.insert(id, Incoming::new(src, law, stamp, env.now))
            }
        };
        let flow = self.flows.at_mut(slot);
        if flow.is_outdated(stamp, env.now) {
            return;
        }
        flow.asked = (stamp, env.now);
        if stops {
            flow.next_credit = Time::NEVER;
            if packets == 0 {
                // All was sent before: what is missing is lost.
                flow.ask_for_missing(env, outbox, &self.terms, id);
            }
        } else if flow.next_credit == Time::NEVER {
            let asked = Asked { now: env.now, packets, one_way: since(stamp, env.now) };
            flow.law = self.law.begin(&asked);
            flow.count = CreditCount::from(flow.sent);
            flow.missing = Time::NEVER;
            flow.next_credit = env.now;
            flow.pace(env, outbox, &self.terms, &self.law, id);
        }
        let deadline = flow.deadline(&self.law);
        self.timers.arm(id, &mut flow.armed, deadline);
    }

    /// Data arrived.
    #[inline]
    pub(super) fn data(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, flow: id, payload, mark, .. } = env.packets[packet];
        let Header::Credited { seq, stamp, number, flags } = header else { return };
        let Some(slot) = self.flows.slot_of(id) else { return };
        let flow = self.flows.at_mut(slot);
        flow.informed = env.packets.stamps(packet).informed;
        if flow.count.comes(number, flow.sent) {
            let (rtt, marked) = (since(stamp, env.now), mark == Ecn::Ce as u8);
            let arrived = Arrived { now: env.now, rtt, marked, payload };
            if self.law.on_data(&mut flow.law, &arrived, &flow.count) {
                flow.count.begin_again();
                env.probe.decision(id, Time(flow.informed));
            }
        }
        if seq == flow.expected && payload > 0 {
            env.probe.delivered(id, seq, flow.offset, payload as u32);
            flow.expected += 1;
            flow.offset += payload as u64;
            flow.missing = Time::NEVER;
            if flags & data_flag::LAST != 0 {
                return self.complete(env, outbox, id);
            }
        } else if seq > flow.expected && flow.missing == Time::NEVER {
            flow.ask_for_missing(env, outbox, &self.terms, id);
        }
        let deadline = flow.deadline(&self.law);
        self.timers.arm(id, &mut flow.armed, deadline);
    }

    fn complete(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, id: FlowId) {
        env.probe.completed(id);
        let flow = self.flows.remove(id).expect("it has just received");
        self.finished.insert(id);
        if flow.next_credit == Time::NEVER {
            // The source has stopped the credits already and will say no more.
            finish(env, outbox, &self.terms, id, flow.src);
        }
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Does what is due: the law's timers, then credits and what is missing.
    pub(super) fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        while let Some((at, id)) = self.timers.due(env.now) {
            let Some(flow) = self.flows.get_mut(id) else { continue };
            if flow.armed != at {
                continue;
            }
            flow.armed = Time::NEVER;
            if self.law.deadline(&flow.law) <= env.now {
                self.law.wake(&mut flow.law, env.now);
            }
            if flow.missing <= env.now {
                flow.ask_for_missing(env, outbox, &self.terms, id);
            }
            if flow.next_credit <= env.now {
                flow.pace(env, outbox, &self.terms, &self.law, id);
            }
            let deadline = flow.deadline(&self.law);
            self.timers.arm(id, &mut flow.armed, deadline);
        }
    }
}

/// Tells a source that everything has arrived.
fn finish(env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, flow: FlowId, to: HostId) {
    let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
    outbox.push(env, answer(env, terms, flow, to, header));
}

fn answer(env: &Env<'_>, terms: &Terms, flow: FlowId, to: HostId, header: Header) -> Packet {
    Packet {
        header,
        src: env.host,
        dst: to,
        flow,
        payload: 0,
        path: 0,
        mark: 0,
        class: DATA,
        transport: terms.transport,
        flags: 0,
        extension: 0,
    }
}

impl<F> Incoming<F> {
    fn new(src: HostId, law: F, stamp: u32, now: Time) -> Incoming<F> {
        Incoming {
            src,
            law,
            count: CreditCount::default(),
            sent: 0,
            next_credit: Time::NEVER,
            expected: 0,
            offset: 0,
            missing: Time::NEVER,
            asked: (stamp.wrapping_sub(1), now),
            informed: now.0,
            armed: Time::NEVER,
        }
    }

    /// Whether a request or stop was sent before one that has come already.
    fn is_outdated(&self, stamp: u32, now: Time) -> bool {
        let (last, came) = self.asked;
        now - came < MEMORY && stamp.wrapping_sub(last) as i32 <= 0
    }

    fn ask_for_missing(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, id: FlowId) {
        let header = Header::Nack { seq: 0, cumulative: self.expected, number: 0, flags: 0 };
        outbox.push(env, answer(env, terms, id, self.src, header));
        self.missing = env.now + terms.missing_again;
    }

    /// Sends a credit and chooses when the next is due.
    fn pace<L: CreditLaw<Flow = F>>(
        &mut self,
        env: &mut Env<'_>,
        outbox: &mut Outbox,
        terms: &Terms,
        law: &L,
        id: FlowId,
    ) {
        if law.on_credit(&mut self.law, env.now, &self.count) {
            self.count.begin_again();
            env.probe.decision(id, Time(self.informed));
        }
        let header =
            Header::Credit { number: self.sent, stamp: stamp(env.now), spare: 0, flags: 0 };
        self.sent = self.sent.wrapping_add(1);
        let credit = Packet { class: CREDIT, ..answer(env, terms, id, self.src, header) };
        let longer = match terms.longer {
            0 => 0,
            most => env.random.below(most as u64 + 1) as u8,
        };
        outbox.push_credit(credit, self.informed, longer);
        let factor = match terms.jitter {
            0.0 => 1.0,
            jitter => 1.0 + (2.0 * env.random.unit() - 1.0) * jitter,
        };
        let gap = Span((terms.credit as f64 * 1e12 / law.rate(&self.law) * factor) as u64);
        // A world that calls late by up to a gap gets its rate back, but never a burst.
        let late = env.now.since(self.next_credit);
        let due = if late <= gap { self.next_credit } else { env.now };
        self.next_credit = due.saturating_add(gap).max(env.now + Span(1));
    }

    #[inline]
    fn deadline<L: CreditLaw<Flow = F>>(&self, law: &L) -> Time {
        self.next_credit.min(self.missing).min(law.deadline(&self.law))
    }
}
