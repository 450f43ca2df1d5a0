//! Sources: the flow with the least left sends first, as far as its window goes.

use super::Window;
use super::headers::{DATA, ID};
use super::headers::{Data, Probe};
use super::terms::Terms;
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::ranking::{Rank, Ranking};
use incast_endpoint::receiver_driven::{Arrival, Arrivals, FlowTimers};
use incast_transport::{
    Env, Flow, FlowId, Observed, Packet, PacketRef, Reason, Time, Timers, flag,
};

/// The largest number of packets that fits a header.
const MOST_TOLD: u64 = (1 << 24) - 1;

/// Whether a flow that hears nothing has stopped sending data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asking {
    /// No: it sends data.
    No,
    /// A probe waits for the NIC.
    Due,
    /// A probe is under way.
    Sent,
}

/// The sending side of one flow.
struct Outgoing {
    flow: Flow,
    packets: u32,
    /// Preference; `ranked`: whether it is in the ranking, because it may send.
    rank: Rank,
    ranked: bool,
    /// Packets that are known to have arrived, and their number.
    known: Arrivals,
    known_count: u32,
    /// All packets below were ACKed (`una`).
    acked: u32,
    /// The packet to send next, if it is not known to have arrived.
    next: u32,
    /// Packets below were sent at least once.
    sent: u32,
    /// Packets below may be sent: fixed by the last ACK that moved `acked`, or the last timeout.
    allowed: u32,
    window: Window,
    /// Timeouts in a row.
    timeouts: u32,
    asking: Asking,
    /// When the packet at `acked` is taken for lost; never if it waits for the NIC.
    timer: Time,
    armed: Time,
}

/// All flows that start at one host.
pub struct Senders {
    terms: Terms,
    timers: Timers,
    flows: FlowTable<Outgoing>,
    /// Flows that may send.
    ranking: Ranking,
    expiries: FlowTimers,
    opened: u32,
}

impl Senders {
    /// No flows yet.
    pub fn new(terms: Terms) -> Senders {
        Senders {
            terms,
            timers: Timers::default(),
            flows: FlowTable::new(),
            ranking: Ranking::default(),
            expiries: FlowTimers::default(),
            opened: 0,
        }
    }

    /// How exact timers are.
    pub fn set_timers(&mut self, timers: Timers) {
        self.timers = timers;
    }

    /// Flows that have not finished.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A flow starts, at line rate.
    pub fn open(&mut self, flow: &Flow) {
        let packets = flow.packets();
        let first = flow.burst.unwrap_or(self.terms.law.first);
        let rank = Rank { remaining: packets as u64, order: self.opened, flow: flow.id };
        self.opened = self.opened.wrapping_add(1);
        self.ranking.insert(rank);
        let outgoing = Outgoing {
            flow: flow.clone(),
            packets,
            rank,
            ranked: true,
            known: Arrivals::new(),
            known_count: 0,
            acked: 0,
            next: 0,
            sent: 0,
            allowed: first,
            window: Window::new(self.terms.law, first),
            timeouts: 0,
            asking: Asking::No,
            timer: Time::NEVER,
            armed: Time::NEVER,
        };
        self.flows.insert(flow.id, outgoing);
    }

    /// Takes a flow out; returns whether it was there.
    pub fn remove(&mut self, flow: FlowId) -> bool {
        let Some(outgoing) = self.flows.remove(flow) else { return false };
        if outgoing.ranked {
            self.ranking.remove(outgoing.rank);
        }
        true
    }

    /// The destination has everything.
    pub fn completed(&mut self, env: &mut Env<'_>, id: FlowId, informed: Time) {
        let whole = |flow: &Outgoing| flow.sent == flow.packets;
        if self.flows.get(id).is_some_and(whole) {
            env.probe.decision(id, informed);
            self.remove(id);
            env.probe.acknowledged(id);
            env.probe.blocked(id, Reason::Ready);
        }
    }

    /// An ACK arrived: of packet `seq`, or of a probe, and of everything below `cumulative`.
    pub fn acked(
        &mut self,
        env: &mut Env<'_>,
        id: FlowId,
        seq: Option<u32>,
        cumulative: u32,
        informed: Time,
    ) {
        let Some(slot) = self.flows.slot_of(id) else { return };
        let flow = self.flows.at_mut(slot);
        // What was never sent cannot have arrived.
        if cumulative > flow.sent || seq.is_some_and(|seq| seq >= flow.sent) {
            return;
        }
        env.probe.decision(id, informed);
        for packet in (flow.acked..cumulative).chain(seq) {
            let new = flow.known.insert(packet, packet + 1 == flow.packets) == Arrival::New;
            flow.known_count += new as u32;
        }
        flow.next = flow.next.max(cumulative);
        let answered = flow.asking != Asking::No;
        let advanced = cumulative > flow.acked;
        if advanced {
            flow.acked = cumulative;
            flow.window.advanced();
        }
        if advanced || answered {
            flow.go_on(answered);
            let waits = flow.next > flow.acked;
            let timer = self.timers.due(env.now, self.terms.rto, id.0 as u64);
            flow.timer = if waits { timer } else { Time::NEVER };
        }
        self.renew(env, slot);
    }

    /// After a change: the flow's place among those that may send, and its timer.
    fn renew(&mut self, env: &mut Env<'_>, slot: u32) {
        let flow = self.flows.at_mut(slot);
        let (old, remaining) = (flow.rank, flow.remaining());
        let (was, may) = (flow.ranked, flow.may_send());
        flow.rank.remaining = remaining;
        flow.ranked = may;
        match (was, may) {
            (true, true) if old.remaining != remaining => self.ranking.change(old, remaining),
            (true, false) => self.ranking.remove(old),
            (false, true) => self.ranking.insert(flow.rank),
            _ => {}
        }
        if was != may {
            let reason =
                if may || flow.sent == flow.packets { Reason::Ready } else { Reason::Window };
            env.probe.blocked(flow.flow.id, reason);
        }
        self.expiries.arm(flow.flow.id, &mut flow.armed, flow.timer);
    }

    /// Whether no flow may send.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.ranking.is_empty()
    }

    /// The next packet of the flow with the least left among those that may send.
    pub fn transmit(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        let best = self.ranking.best()?;
        let slot = self.flows.slot_of(best.flow).expect("a ranked flow is open");
        let flow = self.flows.at_mut(slot);
        let packet = flow.packet(env);
        if flow.timer == Time::NEVER {
            flow.timer = self.timers.due(env.now, self.terms.rto, best.flow.0 as u64);
        }
        self.renew(env, slot);
        Some(packet)
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.expiries.next()
    }

    /// Timers that have expired.
    pub fn wake(&mut self, env: &mut Env<'_>) {
        while let Some((id, slot)) =
            self.expiries.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            if flow.timer <= env.now {
                env.probe.timeout(id);
                flow.timed_out(&self.terms);
            }
            self.renew(env, slot);
        }
    }

    /// What a trace shows of a flow.
    pub fn observe(&self, flow: FlowId) -> Observed {
        let Some(flow) = self.flows.get(flow) else { return Observed::default() };
        let window = Some(flow.window.packets() as u64 * flow.flow.payload(0) as u64);
        let timer = Some(flow.timer).filter(|timer| *timer != Time::NEVER);
        Observed { window, timer, ..Observed::default() }
    }
}

impl Outgoing {
    /// Packets that are not known to have arrived.
    fn remaining(&self) -> u64 {
        (self.packets - self.known_count) as u64
    }

    /// The packet to send next: what is known to have arrived is left out.
    fn following(&self) -> u32 {
        self.known.hole_from(self.next).unwrap_or(self.next.max(self.known.end()))
    }

    fn may_send(&self) -> bool {
        match self.asking {
            Asking::No => self.following() < self.allowed.min(self.packets),
            Asking::Due => true,
            Asking::Sent => false,
        }
    }

    /// What was ACKed above the lowest missing packet widens the window.
    fn allow(&mut self) {
        let beyond = self.known_count - self.acked;
        self.allowed = self.acked.saturating_add(self.window.packets()).saturating_add(beyond);
    }

    /// News have come: data goes on; after probes from the lowest missing packet.
    fn go_on(&mut self, answered: bool) {
        self.timeouts = 0;
        if answered {
            self.asking = Asking::No;
            self.next = self.acked;
        }
        self.allow();
    }

    fn timed_out(&mut self, terms: &Terms) {
        self.timeouts += 1;
        self.window.timed_out();
        self.next = self.acked;
        self.timer = Time::NEVER;
        self.allow();
        if terms.probe_after > 0 && self.timeouts >= terms.probe_after {
            self.asking = Asking::Due;
        }
    }

    /// The packet that leaves next.
    fn packet(&mut self, env: &mut Env<'_>) -> PacketRef {
        let remaining = self.remaining().min(MOST_TOLD) as u32;
        let Flow { id, src, dst, .. } = self.flow;
        if self.asking == Asking::Due {
            self.asking = Asking::Sent;
            let header = Probe { packet: self.acked, remaining };
            let probe = Packet::header_only(ID, id, src, dst, DATA, header);
            return env.packets.create(probe);
        }
        let seq = self.following();
        let again = seq < self.sent;
        self.next = seq + 1;
        self.sent = self.sent.max(self.next);
        let (offset, last) = (self.flow.offset(seq) as u32, self.next == self.packets);
        let data = Packet::header_only(
            ID,
            id,
            src,
            dst,
            DATA,
            Data { packet: seq, offset, remaining, last },
        );
        let flags = if again { flag::RETRANSMIT } else { 0 };
        env.packets.create(Packet { payload: self.flow.payload(seq), flags, ..data })
    }
}
