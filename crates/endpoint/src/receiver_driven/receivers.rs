//! The receiving side: one grant for each data packet, and grants re-issued by timers.

mod shortest;

use super::views::{Data, Finish, Grant};
use super::{Arrival, Arrivals, CONTROL, FlowTimers, Holes, Tells};
use crate::flow_table::{FlowSet, FlowTable};
use crate::queue::Queue;
use crate::ranking::{Rank, Ranking};
use incast_transport::{Env, FlowId, Header, HostId, Packet, PacketRef, Span, Time, TransportId};

/// Which flow gets the grant that a data packet makes room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The packet's.
    Own,
    /// Of all that arrive at the host, the one with the fewest packets that still need a grant, then
    /// the earliest (SRPT). Data must say how many those are ([`Tells::Beyond`]).
    Shortest {
        /// A packet whose own flow needs no more grants makes room for a flow with fewer packets than
        /// this under way by grants; if none of those that wait has so few, no grant is sent. Otherwise
        /// the grants of flows that ended would pile up. (If no flow waits, the packet's own has the
        /// grant, to ask for holes.)
        most: u32,
    },
}

/// What a receiver needs to know of its transport.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverTerms {
    /// Whose packets.
    pub transport: TransportId,
    /// Mark of the grant that replies to a data packet, by the data packet's mark.
    pub reply: [u8; 4],
    /// The same for data that had arrived before.
    pub duplicate_reply: [u8; 4],
    /// Mark of a grant re-issued by a timer.
    pub recovery: u8,
    /// Packets let go by a grant, by its mark.
    pub packets: [u8; 4],
    /// Whether switches signal by marks: then the information in a grant is as old as the
    /// mark, otherwise it is the arrival itself.
    pub marked: bool,
    /// What data says without a grant's number.
    pub tells: Tells,
    /// Which flow gets a grant.
    pub order: Order,
    /// A hole so many packets below the highest arrival is requested in the next ordinary grant.
    pub hole_behind: u32,
    /// A hole passed so long ago is, too; and again after as long.
    pub hole_patience: Span,
    /// Which holes get a grant of their own.
    pub own_grants: OwnGrants,
}

/// Holes that get a grant of their own, at once and beside the ordinary one, that asks for nothing
/// else; if the packet is still missing later, [`Recovery::expired`] asks for it again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnGrants {
    /// None: the next ordinary grant asks for a hole.
    None,
    /// Those that a grant had let go; the next ordinary grant asks for one of the first burst.
    Granted,
    /// All.
    All,
}

/// What a grant requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Whatever comes next.
    Nothing,
    /// This packet before others.
    First(u32),
    /// This packet if nothing else is left to send.
    LastResort(u32),
}

/// A grant that no data packet caused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reissue {
    /// What it requests.
    pub request: Request,
    /// Whether it counts only if the sender has nothing of the flow to send, for then what the
    /// receiver misses is not merely late at its source.
    pub if_idle: bool,
    /// The number it carries, if what it lets go shall be recognised.
    pub number: Option<u32>,
}

impl Reissue {
    /// In place of a packet or grant that is known to be lost.
    pub fn replacement(request: Request) -> Reissue {
        Reissue { request, if_idle: false, number: None }
    }

    /// After a time without data, which has many causes.
    pub fn probe(request: Request) -> Reissue {
        Reissue { request, if_idle: true, number: None }
    }

    /// The same with a number.
    pub fn numbered(self, number: Option<u32>) -> Reissue {
        Reissue { number, ..self }
    }
}

/// When a receiver re-issues a grant.
pub trait Recovery: Send {
    /// What it keeps for each flow.
    type Flow: Send;

    /// The first packet of a flow arrived.
    fn opened(&self, now: Time) -> Self::Flow;

    /// A data packet arrived, new or not; `number` is that of the grant that let it go.
    fn arrived(&self, flow: &mut Self::Flow, now: Time, number: Option<u32>);

    /// An ordinary grant leaves that lets `packets` go. Returns the number it shall carry.
    fn granted(&self, flow: &mut Self::Flow, now: Time, packets: u8) -> Option<u32>;

    /// The next ordinary grant asks for a hole, so what its own grant let go is no longer awaited.
    fn named(&self, _flow: &mut Self::Flow) {}

    /// When a grant is to be re-issued if nothing arrives until then.
    fn deadline(&self, flow: &Self::Flow) -> Time;

    /// The deadline has come; afterwards it must be later than `now` after finitely many calls.
    /// Returns the re-issued grant, or `None` for none.
    fn expired(
        &self,
        flow: &mut Self::Flow,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue>;
}

/// A flow that arrives here.
struct Incoming<F> {
    peer: HostId,
    arrivals: Arrivals,
    holes: Holes,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
    armed: Time,
    /// Packets that are under way by grants, with [`Order::Shortest`].
    awaited: u32,
    /// Its place among the flows that want grants, while `remaining` is not 0.
    rank: Rank,
    recovery: F,
}

/// A control packet that waits for the NIC.
struct Reply {
    peer: HostId,
    flow: FlowId,
    header: Header,
    mark: u8,
    informed: u64,
}

/// The data packet that a grant replies to.
#[derive(Clone, Copy)]
struct Cause {
    arrival: Arrival,
    acked: u32,
    mark: u8,
    informed: u64,
}

/// All flows that arrive at one host.
pub struct Receivers<R: Recovery> {
    terms: ReceiverTerms,
    recovery: R,
    flows: FlowTable<Incoming<R::Flow>>,
    finished: FlowSet,
    /// Flows that want grants, with [`Order::Shortest`].
    waiting: Ranking,
    opened: u32,
    replies: Queue<Reply>,
    timers: FlowTimers,
}

impl<R: Recovery> Receivers<R> {
    /// No flows yet.
    pub fn new(terms: ReceiverTerms, recovery: R) -> Receivers<R> {
        Receivers {
            terms,
            recovery,
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            waiting: Ranking::default(),
            opened: 0,
            replies: Queue::new(),
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

    /// A data packet arrived: one grant back, or the finish if it is the last that was missing.
    pub fn data(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let now = env.now;
        let Packet { header, src, flow, payload, mark, .. } = env.packets[packet];
        let Some(data) = Data::read(&header) else { return };
        if payload == 0 {
            return; // Only a header is left of it: as good as lost.
        }
        let slot = match self.flows.slot_of(flow) {
            Some(slot) => slot,
            None if self.finished.contains(flow) => return self.finish(flow, src, now),
            None => self.opens(flow, src, &data, now),
        };
        let incoming = self.flows.at_mut(slot);
        match burst_end(&data, self.terms.tells) {
            Some(end) if self.terms.tells == Tells::Burst => incoming.arrivals.first_burst(end),
            Some(end) => incoming.arrivals.sent_unasked(end),
            None => {}
        }
        let arrival = incoming.arrivals.insert(data.packet, data.last);
        if arrival == Arrival::New {
            incoming.offset = nearest(incoming.offset, data.offset);
            incoming.holes.arrived(data.packet, now);
            env.probe.delivered(flow, data.packet, incoming.offset, payload as u32);
            if incoming.arrivals.complete() {
                env.probe.completed(flow);
                let rank = incoming.rank;
                self.flows.remove(flow);
                self.finished.insert(flow, now);
                self.finish(flow, src, now);
                if let Order::Shortest { most } = self.terms.order {
                    self.pass_on(rank, most, mark, now);
                }
                return;
            }
        }
        let number = data.numbered.then_some(data.grant_or_rest);
        self.recovery.arrived(&mut incoming.recovery, now, number);
        let informed = if self.terms.marked { env.packets.stamps(packet).informed } else { now.0 };
        let cause = Cause { arrival, acked: data.packet, mark, informed };
        match self.terms.order {
            Order::Own => self.reply(flow, slot, cause, now),
            Order::Shortest { most } => {
                let incoming = self.flows.at_mut(slot);
                let awaited = incoming.awaited > 0;
                if !data.unscheduled {
                    incoming.awaited = incoming.awaited.saturating_sub(1);
                }
                // A copy of a packet that nobody awaits makes no room.
                if cause.arrival == Arrival::New || awaited {
                    self.reply_to_shortest(flow, slot, cause, most, now);
                } else {
                    self.only_wait(flow, slot);
                }
            }
        }
    }

    /// A flow's first packet arrived: its slot.
    fn opens(&mut self, flow: FlowId, peer: HostId, data: &Data, now: Time) -> u32 {
        let beyond = self.terms.tells == Tells::Beyond && !data.numbered;
        let remaining = if beyond { data.grant_or_rest as u64 } else { 0 };
        let rank = Rank { remaining, order: self.opened, flow };
        self.opened = self.opened.wrapping_add(1);
        if remaining > 0 {
            self.waiting.insert(rank);
        }
        let incoming = Incoming {
            peer,
            arrivals: Arrivals::new(),
            holes: Holes::default(),
            offset: 0,
            armed: Time::NEVER,
            awaited: 0,
            rank,
            recovery: self.recovery.opened(now),
        };
        self.flows.insert(flow, incoming)
    }

    /// A packet came that its flow gets no grant for.
    fn only_wait(&mut self, flow: FlowId, slot: u32) {
        let incoming = self.flows.at_mut(slot);
        let deadline = self.recovery.deadline(&incoming.recovery);
        self.timers.arm(flow, &mut incoming.armed, deadline);
    }

    /// Queues the one grant that replies to a data packet.
    #[inline]
    fn reply(&mut self, flow: FlowId, slot: u32, cause: Cause, now: Time) {
        let Cause { arrival, acked, mark, informed } = cause;
        let terms = &self.terms;
        let incoming = self.flows.at_mut(slot);
        let marks = if arrival == Arrival::New { &terms.reply } else { &terms.duplicate_reply };
        let mark = marks[mark as usize & 3];
        let packets = terms.packets[mark as usize];
        let patience = terms.hole_patience;
        let Incoming { arrivals, holes, .. } = incoming;
        let hole = match terms.own_grants {
            OwnGrants::None => holes.pick(arrivals, now, patience, terms.hole_behind),
            OwnGrants::Granted => {
                holes.pick_new(arrivals, now, patience, terms.hole_behind, arrivals.burst_end())
            }
            OwnGrants::All => None,
        };
        if hole.is_some_and(|hole| hole >= arrivals.burst_end()) {
            self.recovery.named(&mut incoming.recovery);
            // What is asked for is under way no more.
            incoming.awaited = incoming.awaited.saturating_sub(1);
        }
        let request = hole.map_or(Request::Nothing, Request::First);
        let number = self.recovery.granted(&mut incoming.recovery, now, packets);
        let header = grant(acked, Reissue::replacement(request).numbered(number));
        self.replies.push_back(Reply { peer: incoming.peer, flow, header, mark, informed });
        if terms.own_grants != OwnGrants::None {
            self.grant_holes(slot, acked, now);
        }
        self.only_wait(flow, slot);
        if self.terms.order != Order::Own && hole.is_none() {
            self.needs_one_less(slot);
        }
    }

    /// A grant for each hole that has not been asked for and gets one of its own.
    #[cold]
    fn grant_holes(&mut self, slot: u32, acked: u32, now: Time) {
        let ReceiverTerms { hole_patience, hole_behind, recovery: mark, own_grants, .. } =
            self.terms;
        let incoming = self.flows.at_mut(slot);
        let Incoming { arrivals, holes, recovery, .. } = incoming;
        let burst = arrivals.burst_end();
        let in_burst = holes.next_unasked(arrivals).is_some_and(|hole| hole < burst);
        if own_grants == OwnGrants::Granted && in_burst {
            return; // Ordinary grants ask for these first.
        }
        while let Some(hole) = holes.pick_new(arrivals, now, hole_patience, hole_behind, u32::MAX) {
            if hole >= burst {
                self.recovery.named(recovery);
            }
            let number = self.recovery.granted(recovery, now, 1);
            let header = grant(acked, Reissue::replacement(Request::First(hole)).numbered(number));
            let (peer, flow) = (incoming.peer, incoming.rank.flow);
            self.replies.push_back(Reply { peer, flow, header, mark, informed: now.0 });
        }
    }

    /// Forgets a flow; with [`Order::Shortest`] others get what was under way of it.
    pub fn abandon(&mut self, flow: FlowId, now: Time) {
        let Some(incoming) = self.flows.remove(flow) else { return };
        if let Order::Shortest { most } = self.terms.order {
            self.pass_on(incoming.rank, most, 0, now);
        }
    }

    fn finish(&mut self, flow: FlowId, peer: HostId, now: Time) {
        let header = Finish {}.into();
        self.replies.push_back(Reply { peer, flow, header, mark: 0, informed: now.0 });
    }

    /// Whether no control packet waits.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.replies.is_empty()
    }

    /// The next control packet, in the order in which they were caused.
    #[inline]
    pub fn transmit(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        let reply = self.replies.pop_front()?;
        let hosts = (env.host, reply.peer);
        let transport = self.terms.transport;
        let packet =
            Packet::header_only(transport, reply.flow, hosts.0, hosts.1, CONTROL, reply.header);
        let packet = env.packets.create(Packet { mark: reply.mark, ..packet });
        env.packets.stamps_mut(packet).informed = reply.informed;
        Some(packet)
    }

    /// The earliest timer, at the latest.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Re-issues grants that are due.
    pub fn wake(&mut self, env: &mut Env<'_>) {
        while let Some((flow, slot)) =
            self.timers.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let passed_over = self.is_passed_over(slot);
            let incoming = self.flows.at_mut(slot);
            if passed_over {
                incoming.recovery = self.recovery.opened(env.now);
            }
            if self.recovery.deadline(&incoming.recovery) <= env.now {
                incoming.awaited = 0; // All that was under way is lost, or as good as.
            }
            while self.recovery.deadline(&incoming.recovery) <= env.now {
                let Incoming { recovery, arrivals, holes, .. } = incoming;
                let Some(reissue) = self.recovery.expired(recovery, env.now, arrivals, holes)
                else {
                    continue;
                };
                env.probe.timeout(flow);
                let (acked, mark) = (incoming.arrivals.lowest_missing(), self.terms.recovery);
                incoming.awaited = incoming.awaited.saturating_add(1);
                let header = grant(acked, reissue);
                let (peer, informed) = (incoming.peer, env.now.0);
                self.replies.push_back(Reply { peer, flow, header, mark, informed });
            }
            let deadline = self.recovery.deadline(&incoming.recovery);
            self.timers.arm(flow, &mut incoming.armed, deadline);
        }
    }
}

/// The packet behind the flow's first burst, as far as this data tells.
fn burst_end(data: &Data, tells: Tells) -> Option<u32> {
    let left = if tells == Tells::Burst && !data.numbered { data.grant_or_rest } else { 0 };
    let told = data.unscheduled || left > 0;
    told.then(|| data.packet.saturating_add(1).saturating_add(left))
}

fn grant(acked: u32, what: Reissue) -> Header {
    let request = match what.request {
        Request::Nothing => 0,
        Request::First(packet) | Request::LastResort(packet) => packet,
    };
    let grant = Grant {
        acked,
        request,
        number: what.number.unwrap_or(0),
        first: matches!(what.request, Request::First(_)),
        last_resort: matches!(what.request, Request::LastResort(_)),
        if_idle: what.if_idle,
        numbered: what.number.is_some(),
    };
    grant.into()
}

/// The offset nearest to `known` that is `low` modulo 2^32.
#[inline]
fn nearest(known: u64, low: u32) -> u64 {
    known.wrapping_add_signed(low.wrapping_sub(known as u32) as i32 as i64)
}
