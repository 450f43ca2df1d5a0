//! The sending side: a burst at line rate, then what grants allow; flows of a host in turn.

use super::views::{Data, Grant};
use super::{DATA, FlowTimers};
use crate::flow_table::FlowTable;
use incast_transport::{
    Env, Flow, FlowId, Observed, Packet, PacketRef, Reason, Span, Time, TransportId, flag,
};
use std::collections::VecDeque;

/// Most requested packets remembered for a flow, if ordinary grants ask for them, one at a time; more
/// are requested again.
const REQUESTS: usize = 64;

/// The largest number that data can tell ([`Tells`]); it stands for larger ones, too.
const TOLD_MOST: u32 = (1 << 24) - 1;

/// What data says in place of a grant's number, if it has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tells {
    /// Nothing: 0.
    Nothing,
    /// How many packets of its flow need a grant.
    Beyond,
    /// How many packets of the first burst follow it.
    Burst,
}

/// What a sender needs to know of its transport.
#[derive(Clone, Copy, Debug)]
pub struct SenderTerms {
    /// Whose packets.
    pub transport: TransportId,
    /// Mark with which data leaves.
    pub fresh: u8,
    /// Packets let go by a grant, by its mark.
    pub packets: [u8; 4],
    /// Most packets sent without a grant, unless the flow says otherwise.
    pub burst: u32,
    /// What data says without a grant's number.
    pub tells: Tells,
    /// How long a full packet occupies the NIC.
    pub packet_time: Span,
    /// Nothing received for so long after the burst: packet 0 is sent again, and again after twice
    /// as long each time.
    pub start_guard: Span,
    /// Nothing received for so long since the last grant: the packet sent last is sent again, which
    /// brings back a lost finish. Longer than the receiver's longest timer.
    pub end_guard: Span,
}

/// Packets that one grant lets go.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// The grant's number, if it has one.
    number: Option<u32>,
    packets: u8,
}

/// A flow that starts here.
struct Outgoing {
    flow: Flow,
    packets: u32,
    next_new: u32,
    /// Packets of the first burst not yet sent.
    burst: u32,
    /// Packets of the first burst, sent or not.
    first_burst: u32,
    turns: VecDeque<Turn>,
    /// Sum over `turns`.
    owed: u32,
    /// Packets to send again, first those requested last.
    requests: VecDeque<u32>,
    /// Whether the flow is in the round of flows with something to send.
    queued: bool,
    has_reply: bool,
    /// The last grant, or the end of the burst.
    quiet_since: Time,
    doublings: u8,
    armed: Time,
}

impl Outgoing {
    fn may_send(&self) -> bool {
        self.burst > 0 || self.owed > 0
    }

    /// Packets that could be sent beyond those already allowed.
    fn unallowed(&self) -> u32 {
        let new = self.packets - self.next_new - self.burst;
        (new + self.requests.len() as u32).saturating_sub(self.owed)
    }

    fn deadline(&self, terms: &SenderTerms) -> Time {
        let wait = if self.has_reply { terms.end_guard } else { terms.start_guard };
        self.quiet_since.saturating_add(wait.saturating_mul(1 << self.doublings))
    }

    /// Puts a packet that was sent before in front of all others.
    fn request(&mut self, seq: u32, tells: Tells) {
        // A receiver that knows the first burst asks for a lost one at once.
        let burst = if tells == Tells::Burst { self.first_burst as usize } else { 0 };
        let most = REQUESTS.max(burst);
        let known = self.requests.contains(&seq);
        if seq < self.next_new && !known && self.requests.len() < most {
            self.requests.push_front(seq);
        }
    }

    /// What packet `seq` says without a grant's number.
    fn told(&self, tells: Tells, seq: u32) -> u32 {
        let told = match tells {
            Tells::Nothing => 0,
            Tells::Beyond => self.packets - self.first_burst,
            Tells::Burst => self.first_burst.saturating_sub(seq + 1),
        };
        told.min(TOLD_MOST)
    }

    fn allow(&mut self, number: Option<u32>, packets: u32) {
        let packets = packets.min(self.unallowed());
        if packets > 0 {
            self.turns.push_back(Turn { number, packets: packets as u8 });
            self.owed += packets;
        }
    }
}

/// All flows that start at one host.
pub struct Senders {
    terms: SenderTerms,
    flows: FlowTable<Outgoing>,
    /// Flows with something to send, each once; finished ones are skipped.
    round: VecDeque<FlowId>,
    timers: FlowTimers,
}

impl Senders {
    /// No flows yet.
    pub fn new(terms: SenderTerms) -> Senders {
        let timers = FlowTimers::default();
        Senders { terms, flows: FlowTable::new(), round: VecDeque::new(), timers }
    }

    /// Flows that have not finished.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// What a trace shows of a flow: packets that it may send, and its guard.
    pub fn observe(&self, flow: FlowId) -> Observed {
        let Some(outgoing) = self.flows.get(flow) else { return Observed::default() };
        Observed {
            credits: Some((outgoing.burst + outgoing.owed) as u64),
            timer: Some(outgoing.deadline(&self.terms)),
            ..Observed::default()
        }
    }

    /// A flow starts: its burst is ready for the NIC.
    pub fn open(&mut self, flow: &Flow) {
        let packets = flow.packets();
        let burst = packets.min(flow.burst.unwrap_or(self.terms.burst));
        let outgoing = Outgoing {
            flow: flow.clone(),
            packets,
            next_new: 0,
            burst,
            first_burst: burst,
            turns: VecDeque::new(),
            owed: 0,
            requests: VecDeque::new(),
            queued: true,
            has_reply: false,
            quiet_since: Time::NEVER,
            doublings: 0,
            armed: Time::NEVER,
        };
        self.flows.insert(flow.id, outgoing);
        self.round.push_back(flow.id);
    }

    /// A grant arrived: it lets packets go by its mark, a requested one first; a probe does so only
    /// where nothing waits.
    pub fn grant(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { header, flow, mark, .. } = env.packets[packet];
        let Some(grant) = Grant::read(&header) else { return };
        let Some(outgoing) = self.flows.get_mut(flow) else { return };
        env.probe.decision(flow, Time(env.packets.stamps(packet).informed));
        outgoing.has_reply = true;
        outgoing.doublings = 0;
        if outgoing.burst == 0 {
            outgoing.quiet_since = env.now;
        }
        if grant.if_idle && outgoing.may_send() {
            return;
        }
        let last_resort = grant.last_resort && outgoing.unallowed() == 0;
        if grant.first || last_resort {
            outgoing.request(grant.request, self.terms.tells);
        }
        let number = grant.numbered.then_some(grant.number);
        outgoing.allow(number, self.terms.packets[mark as usize & 3] as u32);
        if outgoing.owed > 0 && !outgoing.queued {
            outgoing.queued = true;
            self.round.push_back(flow);
            env.probe.blocked(flow, Reason::Ready);
        }
    }

    /// The receiver has everything.
    pub fn finish(&mut self, env: &mut Env<'_>, flow: FlowId) {
        if self.flows.remove(flow).is_some() {
            env.probe.acknowledged(flow);
        }
    }

    /// Forgets a flow. Its turn in the round and its timers find nothing.
    pub fn abandon(&mut self, flow: FlowId) {
        self.flows.remove(flow);
    }

    /// Whether no flow may send.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.round.is_empty()
    }

    /// The next data packet: flows take turns, a packet of the burst or all packets of one grant
    /// each.
    pub fn transmit(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        loop {
            let flow = *self.round.front()?;
            let Some(slot) = self.flows.slot_of(flow) else {
                self.round.pop_front();
                continue;
            };
            let outgoing = self.flows.at_mut(slot);
            let (number, unscheduled, ends) = take_turn(outgoing);
            let packet = data(&self.terms, env, outgoing, number, unscheduled);
            if unscheduled && outgoing.burst == 0 {
                outgoing.quiet_since = env.now + self.terms.packet_time;
                let deadline = outgoing.deadline(&self.terms);
                self.timers.arm(flow, &mut outgoing.armed, deadline);
            }
            if !outgoing.may_send() {
                outgoing.queued = false;
                self.round.pop_front();
                if outgoing.next_new < outgoing.packets {
                    env.probe.blocked(flow, Reason::Grant);
                }
            } else if ends && self.round.len() > 1 {
                self.round.rotate_left(1);
            }
            return Some(packet);
        }
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Sends again where nothing has been received for too long.
    pub fn wake(&mut self, env: &mut Env<'_>) {
        while let Some((flow, slot)) =
            self.timers.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let outgoing = self.flows.at_mut(slot);
            if outgoing.deadline(&self.terms) <= env.now {
                outgoing.quiet_since = env.now;
                if !outgoing.queued {
                    env.probe.timeout(flow);
                    outgoing.doublings = (outgoing.doublings + 1).min(4);
                    let again = if outgoing.has_reply { outgoing.next_new - 1 } else { 0 };
                    outgoing.request(again, self.terms.tells);
                    outgoing.allow(None, 1);
                    outgoing.queued = true;
                    self.round.push_back(flow);
                    env.probe.blocked(flow, Reason::Ready);
                }
            }
            let deadline = outgoing.deadline(&self.terms);
            self.timers.arm(flow, &mut outgoing.armed, deadline);
        }
    }
}

/// Takes one packet from the burst or the first turn: the grant's number, whether it is of the
/// burst, and whether the turn ends with it.
#[inline]
fn take_turn(outgoing: &mut Outgoing) -> (Option<u32>, bool, bool) {
    if outgoing.burst > 0 {
        outgoing.burst -= 1;
        return (None, true, true);
    }
    let turn = outgoing.turns.front_mut().expect("a queued flow has a turn");
    let number = turn.number;
    turn.packets -= 1;
    let ends = turn.packets == 0;
    if ends {
        outgoing.turns.pop_front();
    }
    outgoing.owed -= 1;
    (number, false, ends)
}

/// Makes the next data packet of a flow: a requested one, or the next new one.
#[inline]
fn data(
    terms: &SenderTerms,
    env: &mut Env<'_>,
    outgoing: &mut Outgoing,
    number: Option<u32>,
    unscheduled: bool,
) -> PacketRef {
    let again = if unscheduled { None } else { outgoing.requests.pop_front() };
    let seq = again.unwrap_or(outgoing.next_new);
    outgoing.next_new += again.is_none() as u32;
    let flow = &outgoing.flow;
    let own = Data {
        packet: seq,
        offset: flow.offset(seq) as u32,
        grant_or_rest: number.unwrap_or_else(|| outgoing.told(terms.tells, seq)),
        last: seq + 1 == outgoing.packets,
        unscheduled,
        numbered: number.is_some(),
    };
    let packet = env.packets.create(Packet {
        header: own.into(),
        src: flow.src,
        dst: flow.dst,
        flow: flow.id,
        payload: flow.payload(seq),
        path: 0,
        mark: terms.fresh,
        class: DATA,
        transport: terms.transport,
        flags: if again.is_some() { flag::RETRANSMIT } else { 0 },
        extension: 0,
    });
    env.packets.stamps_mut(packet).informed = env.now.0;
    packet
}
