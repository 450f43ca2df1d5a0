//! The data's destination: paces credits, counts which come back, and requests what is missing.

use super::outbox::Outbox;
use super::views::{Credit, Data, Finish, Missing, Request, Unscheduled};
use super::{
    Arrived, CREDIT, CreditControl, CreditCount, CreditRequest, DATA, Terms, since, stamp,
};
use crate::first_round::views::{Ack, Probe, ProbeAck};
use crate::flow_table::{FlowSet, FlowTable};
use crate::receiver_driven::{Arrival, Arrivals, FlowTimers};
use incast_transport::{Ecn, Env, FlowId, Header, HostId, Packet, PacketRef, Span, Time};

/// A request or stop is out of date if one with a later stamp came within this time; stamps alone
/// say nothing about longer times, since they begin again every 4.3 s.
const MEMORY: Span = Span::from_secs(1);

/// A source that has let so many credits in a row go unanswered, and has said nothing for so many
/// repetition times of a request, is sent no more until it requests them again. One that lives does
/// so after four of these times without credits.
const UNANSWERED_MOST: u32 = 4_096;
const UNANSWERED_TIMES: u64 = 16;

/// Most ranges in one request.
const RANGES_MOST: u32 = 16;

/// The receiving side of one flow.
struct Incoming<F> {
    src: HostId,
    control: F,
    count: CreditCount,
    /// Credits sent so far: the number of the next.
    sent: u32,
    /// When the next credit is due; never while the source wants none.
    next_credit: Time,
    /// What has arrived. Of flows that go back nothing beyond the first packet missing is kept.
    arrivals: Arrivals,
    /// Offset of the first packet missing, of flows that go back.
    offset: u64,
    /// Payload of each packet but the last, if the source has sent it: then what is beyond the
    /// first packet missing is kept too.
    segment: u64,
    /// When it is requested again; never if it may still arrive.
    missing: Time,
    /// Stamp of the last request or stop, and when it came.
    requested: (u32, Time),
    /// When the source last sent data, a request or a stop, and the credits sent by then.
    heard: (Time, u32),
    /// When the information of the last data was current, in picoseconds.
    informed: u64,
    armed: Time,
}

/// All flows that end at one host.
pub struct Receivers<L: CreditControl> {
    terms: Terms,
    control: L,
    flows: FlowTable<Incoming<L::Flow>>,
    finished: FlowSet,
    timers: FlowTimers,
}

impl<L: CreditControl> Receivers<L> {
    /// No flows yet.
    pub fn new(terms: Terms, control: L) -> Receivers<L> {
        Receivers {
            terms,
            control,
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            timers: FlowTimers::default(),
        }
    }

    /// Flows that are incomplete.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Charged bytes of credits per second that a flow is sent, if it ends here.
    pub(super) fn credit_rate(&self, flow: FlowId) -> Option<f64> {
        Some(self.control.rate(&self.flows.get(flow)?.control))
    }

    /// Forgets a flow. What is queued of it and its timers find nothing.
    pub(super) fn abandon(&mut self, flow: FlowId) {
        self.flows.remove(flow);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The state of a flow that is incomplete, for tests and reports.
    pub fn state(&self, id: FlowId) -> Option<&L::Flow> {
        self.flows.get(id).map(|flow| &flow.control)
    }

    /// A source requests credits, or stops them.
    pub(super) fn requested(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let content = env.packets[packet];
        let Packet { flow: id, src, .. } = content;
        let Some(request) = Request::read(&content.header) else { return };
        let Request { packets, sent: stamp, segment, stop } = request;
        if self.finished.contains(id) {
            return finish(env, outbox, &self.terms, id, src);
        }
        let slot = match self.flows.slot_of(id) {
            Some(slot) => slot,
            None if stop => return,
            None => {
                let wanted =
                    CreditRequest { now: env.now, packets, one_way: since(stamp, env.now) };
                let control = self.control.begin(&wanted);
                self.flows.insert(id, Incoming::new(src, control, stamp, segment as u64, env.now))
            }
        };
        let flow = self.flows.at_mut(slot);
        if flow.is_outdated(stamp, env.now) {
            return;
        }
        flow.requested = (stamp, env.now);
        flow.heard = (env.now, flow.sent);
        if stop {
            flow.next_credit = Time::NEVER;
            if packets == 0 {
                // All was sent before: what is missing is lost.
                flow.request_missing(env, outbox, &self.terms, id);
            }
        } else if flow.next_credit == Time::NEVER {
            let wanted = CreditRequest { now: env.now, packets, one_way: since(stamp, env.now) };
            flow.control = self.control.begin(&wanted);
            flow.count = CreditCount::from(flow.sent);
            flow.missing = Time::NEVER;
            flow.next_credit = env.now;
            flow.pace(env, outbox, &self.terms, &self.control, id);
        }
        let deadline = flow.deadline(&self.control);
        self.timers.arm(id, &mut flow.armed, deadline);
    }

    /// Data arrived.
    #[inline]
    pub(super) fn data(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, flow: id, payload, mark, .. } = env.packets[packet];
        let Some(data) = Data::read(&header) else { return };
        let Some(slot) = self.flows.slot_of(id) else { return };
        let flow = self.flows.at_mut(slot);
        flow.informed = env.packets.stamps(packet).informed;
        flow.heard = (env.now, flow.sent);
        if flow.count.comes(data.credit, flow.sent) {
            let (rtt, marked) = (since(data.credit_sent, env.now), mark == Ecn::Ce as u8);
            let arrived = Arrived { now: env.now, rtt, marked, payload };
            if self.control.on_data(&mut flow.control, &arrived, &flow.count) {
                flow.count.begin_again();
                env.probe.decision(id, Time(flow.informed));
            }
        }
        if flow.keep(env, id, data.packet, data.last, payload) {
            return self.complete(env, outbox, id);
        }
        let ahead = data.packet > flow.arrivals.lowest_missing();
        if flow.segment == 0 && ahead && flow.missing == Time::NEVER {
            flow.request_missing(env, outbox, &self.terms, id);
        }
        let deadline = flow.deadline(&self.control);
        self.timers.arm(id, &mut flow.armed, deadline);
    }

    /// Data arrived that had no credit. Before the flow's request it comes in vain.
    pub(super) fn unscheduled(
        &mut self,
        env: &mut Env<'_>,
        outbox: &mut Outbox,
        packet: PacketRef,
    ) {
        let Packet { header, flow: id, payload, src, .. } = env.packets[packet];
        let Some(data) = Unscheduled::read(&header) else { return };
        if self.finished.contains(id) {
            return finish(env, outbox, &self.terms, id, src);
        }
        let Some(flow) = self.flows.get_mut(id) else { return };
        if flow.segment == 0 || payload == 0 {
            return;
        }
        if flow.keep(env, id, data.packet, data.last, payload) {
            return self.complete(env, outbox, id);
        }
        let (packet, cumulative) = (data.packet, flow.arrivals.lowest_missing());
        let header = Ack { packet, cumulative }.into();
        outbox.push(env, reply(env, &self.terms, id, flow.src, header));
    }

    /// The probe behind such data arrived: `sent` packets had no credit.
    pub(super) fn probed(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, flow: id, src, .. } = env.packets[packet];
        let Some(Probe { sent, .. }) = Probe::read(&header) else { return };
        if self.finished.contains(id) {
            return finish(env, outbox, &self.terms, id, src);
        }
        if let Some(flow) = self.flows.get_mut(id) {
            let cumulative = flow.arrivals.lowest_missing();
            let header = ProbeAck { sent, cumulative }.into();
            outbox.push(env, reply(env, &self.terms, id, flow.src, header));
        }
    }

    fn complete(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, id: FlowId) {
        env.probe.completed(id);
        let flow = self.flows.remove(id).expect("it has just received");
        self.finished.insert(id, env.now);
        if flow.next_credit == Time::NEVER || self.terms.burst.is_some() {
            // The source has stopped the credits already, or never needed one, and will say no
            // more.
            finish(env, outbox, &self.terms, id, flow.src);
        }
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Does what is due: the control's timers, then credits and what is missing.
    pub(super) fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        while let Some((id, slot)) =
            self.timers.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            if self.control.deadline(&flow.control) <= env.now {
                self.control.wake(&mut flow.control, env.now);
            }
            if flow.missing <= env.now {
                match env.now - flow.heard.0 < MEMORY {
                    true => {
                        env.probe.timeout(id);
                        flow.request_missing(env, outbox, &self.terms, id);
                    }
                    // A source that lives and misses an answer says so.
                    false => flow.missing = Time::NEVER,
                }
            }
            if flow.next_credit <= env.now {
                match flow.is_unanswered(env.now, &self.terms) {
                    true => flow.next_credit = Time::NEVER,
                    false => flow.pace(env, outbox, &self.terms, &self.control, id),
                }
            }
            let deadline = flow.deadline(&self.control);
            self.timers.arm(id, &mut flow.armed, deadline);
        }
    }
}

/// Tells a source that everything has arrived.
fn finish(env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, flow: FlowId, to: HostId) {
    outbox.push(env, reply(env, terms, flow, to, Finish {}.into()));
}

fn reply(env: &Env<'_>, terms: &Terms, flow: FlowId, to: HostId, header: Header) -> Packet {
    Packet::header_only(terms.transport, flow, env.host, to, DATA, header)
}

impl<F> Incoming<F> {
    fn new(src: HostId, control: F, stamp: u32, segment: u64, now: Time) -> Incoming<F> {
        Incoming {
            src,
            control,
            count: CreditCount::default(),
            sent: 0,
            next_credit: Time::NEVER,
            arrivals: Arrivals::new(),
            offset: 0,
            segment,
            missing: Time::NEVER,
            requested: (stamp.wrapping_sub(1), now),
            heard: (now, 0),
            informed: now.0,
            armed: Time::NEVER,
        }
    }

    /// Whether a request or stop was sent before one that has come already.
    fn is_outdated(&self, stamp: u32, now: Time) -> bool {
        let (last, came) = self.requested;
        now - came < MEMORY && stamp.wrapping_sub(last) as i32 <= 0
    }

    /// Whether the source seems to be gone.
    #[inline]
    fn is_unanswered(&self, now: Time, terms: &Terms) -> bool {
        let (last, sent) = self.heard;
        self.sent.wrapping_sub(sent) >= UNANSWERED_MOST
            && now - last >= terms.request_again * UNANSWERED_TIMES
    }

    /// Takes a data packet in. Returns whether it was the last one missing.
    #[inline]
    fn keep(&mut self, env: &mut Env<'_>, id: FlowId, seq: u32, last: bool, payload: u16) -> bool {
        if payload == 0 || self.segment == 0 && seq != self.arrivals.lowest_missing() {
            return false;
        }
        if self.arrivals.insert(seq, last) != Arrival::New {
            return false;
        }
        let offset = if self.segment > 0 { seq as u64 * self.segment } else { self.offset };
        self.offset = offset + payload as u64;
        self.missing = Time::NEVER;
        env.probe.delivered(id, seq, offset, payload as u32);
        self.arrivals.complete()
    }

    /// Asks for the first packet missing, or for all that are if what is behind it is kept.
    fn request_missing(&mut self, env: &Env<'_>, outbox: &mut Outbox, terms: &Terms, id: FlowId) {
        let arrivals = &self.arrivals;
        let mut first = arrivals.lowest_missing();
        for _ in 0..RANGES_MOST {
            // Behind the last one that has arrived there may be any number.
            let end = match self.segment {
                0 => 0,
                _ => arrivals.missing_until(first).min(arrivals.packets().unwrap_or(u32::MAX)),
            };
            let header = Missing { end, first }.into();
            outbox.push(env, reply(env, terms, id, self.src, header));
            let behind = arrivals.packets().map_or(Some(arrivals.end()), |_| None);
            match arrivals.hole_from(end).or(behind) {
                Some(next) if self.segment > 0 && next >= end => first = next,
                _ => break,
            }
        }
        self.missing = env.now + terms.missing_again;
    }

    /// Sends a credit and chooses when the next is due.
    fn pace<L: CreditControl<Flow = F>>(
        &mut self,
        env: &mut Env<'_>,
        outbox: &mut Outbox,
        terms: &Terms,
        control: &L,
        id: FlowId,
    ) {
        if control.on_credit(&mut self.control, env.now, &self.count) {
            self.count.begin_again();
            env.probe.decision(id, Time(self.informed));
        }
        let header = Credit { number: self.sent, sent: stamp(env.now) }.into();
        self.sent = self.sent.wrapping_add(1);
        let credit = Packet { class: CREDIT, ..reply(env, terms, id, self.src, header) };
        let longer = match terms.longer {
            0 => 0,
            most => env.random.below(most as u64 + 1) as u8,
        };
        outbox.push_credit(credit, self.informed, longer);
        let factor = match terms.jitter {
            0.0 => 1.0,
            jitter => 1.0 + (2.0 * env.random.unit() - 1.0) * jitter,
        };
        let gap =
            Span((terms.mean_credit() as f64 * 1e12 / control.rate(&self.control) * factor) as u64);
        // A world that calls late by up to a gap gets its rate back, but never a burst.
        let late = env.now.since(self.next_credit);
        let due = if late <= gap { self.next_credit } else { env.now };
        self.next_credit = due.saturating_add(gap).max(env.now + Span(1));
    }

    #[inline]
    fn deadline<L: CreditControl<Flow = F>>(&self, control: &L) -> Time {
        self.next_credit.min(self.missing).min(control.deadline(&self.control))
    }
}
