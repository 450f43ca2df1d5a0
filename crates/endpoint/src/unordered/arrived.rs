//! The receiving side of a host: what has arrived of each flow, and the answers.

use super::PADDING;
use super::core_pace::{Arrived, CorePace};
use super::credit::{Demand, Puller};
use super::plan::HostPlan;
use super::views::{Ack, Complete, Data, Nack, Probe, Pull};
use crate::flow_table::{FlowSet, FlowTable};
use crate::queue::Queue;
use crate::receiver_driven::{Arrival, Arrivals};
use incast_transport::{
    Ecn, Env, Extension, FlowId, Header, HostId, Packet, PacketRef, Random, Time, flag,
};

/// A question about a packet that is taken for lost.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The packet.
    pub packet: u32,
    /// The class of the probe that asks it.
    pub class: u8,
    /// The credit that it asks for.
    pub target: u32,
}

/// A packet without payload that waits for the NIC.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// Its flow.
    pub flow: FlowId,
    /// Where it goes.
    pub to: HostId,
    /// The path of the packet that it answers.
    pub path: u16,
    /// Its class.
    pub class: u8,
    /// What it says.
    pub header: Header,
    /// What stands behind its header.
    behind: Behind,
    /// When its information was current.
    pub informed: Time,
}

/// What stands behind a header.
#[derive(Clone, Copy, Debug)]
enum Behind {
    /// What has arrived.
    AckContent(AckContent),
    /// Zeros: it is as long as an ACK.
    Padding,
    /// What stood there in the packet that is answered, which waits with others of its kind.
    Echo,
    /// Nothing.
    Nothing,
}

/// What an ACK says beside its header.
#[derive(Clone, Copy, Default, Debug)]
pub struct AckContent {
    /// The first packet of `bits`.
    pub base: u32,
    /// Those that have arrived of it and the 63 behind it.
    pub bits: u64,
    /// Bytes that have arrived.
    pub received: u64,
    /// Packets that have arrived beyond the lowest missing one.
    pub beyond: u16,
}

impl Reply {
    /// A probe of a flow.
    pub fn probe(flow: FlowId, to: HostId, path: u16, asks: Question, now: Time) -> Reply {
        let header = Probe { packet: asks.packet, target: asks.target }.into();
        Reply { flow, to, path, class: asks.class, header, behind: Behind::Padding, informed: now }
    }
}

/// The receiving side of one flow.
struct Inbound {
    arrivals: Arrivals,
    /// Offset of the newest packet, by which 32-bit offsets are widened.
    offset: u64,
    /// Packets and bytes that have arrived, each packet once.
    packets: u32,
    received: u64,
    /// Bytes since the last ACK.
    accepted: u64,
    /// An ACK is asked for, and packets are missing.
    owes: bool,
    /// What it asks for and was given, where receivers give credits.
    demand: Demand,
    /// Its source.
    from: HostId,
}

impl Inbound {
    fn new(from: HostId) -> Inbound {
        Inbound {
            arrivals: Arrivals::default(),
            offset: 0,
            packets: 0,
            received: 0,
            accepted: 0,
            owes: false,
            demand: Demand::default(),
            from,
        }
    }

    /// Packets beyond the lowest missing one.
    #[inline]
    fn beyond(&self) -> u32 {
        self.packets - self.arrivals.lowest_missing()
    }

    fn seen(&self, base: u32) -> AckContent {
        let beyond = self.beyond().min(u16::MAX as u32) as u16;
        AckContent { base, bits: self.arrivals.bits(base), received: self.received, beyond }
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    #[inline]
    fn widen(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}

/// The receiving side of a host.
pub struct Receivers {
    flows: FlowTable<Inbound>,
    finished: FlowSet,
    replies: Queue<Reply>,
    /// What goes behind the headers of replies that return something.
    echoes: Queue<Extension>,
    /// Gives credits, if receivers do.
    puller: Option<Puller>,
    /// Slows it behind an oversubscribed core, if it is to.
    core: Option<Box<CorePace>>,
    /// Bytes that need an ACK, and whether each packet that was the lowest missing one does.
    ack_every: u64,
    acks_advance: bool,
    /// Bytes of the headers of a packet.
    header: u64,
    /// Class of replies.
    pub class: u8,
    padded: bool,
    returns: bool,
}

impl Receivers {
    /// No flows yet.
    pub fn new(plan: &HostPlan) -> Receivers {
        Receivers {
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            replies: Queue::new(),
            echoes: Queue::new(),
            puller: plan.credits.map(Puller::new),
            core: plan.core.map(|core| Box::new(CorePace::new(core))),
            ack_every: plan.ack_every,
            acks_advance: plan.acks_advance,
            header: plan.header as u64,
            class: plan.reply_class,
            padded: plan.padded,
            returns: plan.echoes,
        }
    }

    /// What goes behind the header of a reply that was [taken](Receivers::take).
    #[inline]
    pub fn extension(&mut self, reply: &Reply) -> Extension {
        match reply.behind {
            Behind::AckContent(AckContent { base, bits, received, beyond }) => {
                Extension::Arrivals { base, bits, received, beyond }
            }
            Behind::Padding => Extension::Padding { count: PADDING },
            Behind::Echo => self.echoes.pop_front().unwrap_or_default(),
            Behind::Nothing => Extension::None,
        }
    }

    /// When to call [`on_timer`](Receivers::on_timer).
    #[inline]
    pub fn deadline(&self) -> Time {
        self.puller.as_ref().map_or(Time::NEVER, Puller::deadline)
    }

    /// Gives the credit that is due.
    pub fn on_timer(&mut self, now: Time, random: &mut Random) {
        let (Some(puller), flows) = (&mut self.puller, &mut self.flows) else { return };
        if let Some(core) = &mut self.core
            && puller.deadline() <= now
        {
            puller.set_pace(core.pace(now, random));
        }
        let Some(grant) = puller.turn(now, flows, |flow| &mut flow.demand) else { return };
        let Some(to) = self.flows.get(grant.flow).map(|flow| flow.from) else { return };
        let header = Pull { number: grant.number, slow: grant.slow }.into();
        let (flow, path, class, behind) = (grant.flow, grant.path, self.class, Behind::Padding);
        self.replies.push_back(Reply { flow, to, path, class, header, behind, informed: now });
    }

    /// Flows that are being received.
    pub fn open_flows(&self) -> usize {
        self.flows.len()
    }

    /// The next packet to send.
    #[inline]
    pub fn take(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// Whether one waits.
    #[inline]
    pub fn replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// A packet of this host's senders, in turn with those of its receivers.
    pub fn push(&mut self, reply: Reply) {
        self.replies.push_back(reply);
    }

    /// Forgets a flow.
    pub fn abandon(&mut self, id: FlowId) {
        self.flows.remove(id);
    }

    /// A data packet, its header, or a probe arrived.
    pub fn on_data(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let content = env.packets[handle];
        let informed = Time(env.packets.stamps(handle).informed);
        let probe = Probe::read(&content.header);
        let data = Data::read(&content.header);
        let Some(packet) = probe.map(|one| one.packet).or(data.map(|one| one.packet)) else {
            return;
        };
        if let (Some(core), Some(data)) = (&mut self.core, data) {
            let arrived = match content.is_data() {
                true => Arrived::Whole { marked: is_marked(&content) },
                false => Arrived::Cut { last_hop: !data.early },
            };
            core.arrived(arrived, env.now, env.random);
        }
        if self.finished.contains(content.flow) {
            return self.complete(&content, packet, informed);
        }
        let slot = match self.flows.slot_of(content.flow) {
            Some(slot) => slot,
            None => self.flows.insert(content.flow, Inbound::new(content.src)),
        };
        if let Some(puller) = &mut self.puller {
            let target = probe.map(|one| one.target).or(data.map(|one| one.target)).unwrap_or(0);
            let demand = &mut self.flows.at_mut(slot).demand;
            puller.ask(content.flow, demand, target, !content.is_data(), env.now);
        }
        match data {
            Some(data) if content.is_data() => self.on_payload(env, slot, handle, data),
            Some(data) if !self.flows.at(slot).arrivals.has(packet) => {
                let cumulative = self.flows.at(slot).arrivals.lowest_missing();
                let (marked, last_hop) = (is_marked(&content), !data.early);
                let header = Nack { packet, cumulative, marked, last_hop }.into();
                self.reply(&content, header, None, informed);
            }
            _ => self.ack(env, handle, slot, (packet, probe.is_some(), true)),
        }
    }

    fn on_payload(&mut self, env: &mut Env<'_>, slot: u32, handle: PacketRef, data: Data) {
        let content = env.packets[handle];
        let informed = Time(env.packets.stamps(handle).informed);
        let (id, Data { packet, asks, .. }) = (content.flow, data);
        let flow = self.flows.at_mut(slot);
        let lowest = flow.arrivals.lowest_missing();
        let (first, gap) = (flow.packets == 0, flow.packets > lowest);
        let advances = self.acks_advance && packet == lowest;
        let arrival = flow.arrivals.insert(packet, data.last);
        if arrival == Arrival::Outside {
            return;
        }
        if arrival == Arrival::New {
            let bytes = content.payload as u64 + self.header;
            flow.packets += 1;
            flow.received += bytes;
            flow.accepted += bytes;
            let offset = flow.widen(data.offset);
            env.probe.delivered(id, packet, offset, content.payload as u32);
            if flow.arrivals.complete() {
                env.probe.completed(id);
                self.flows.remove(id);
                self.finished.insert(id, env.now);
                return self.complete(&content, packet, informed);
            }
        }
        let closed = gap && flow.beyond() == 0 && flow.owes;
        let at_once = asks || is_marked(&content);
        flow.owes = (flow.owes || asks) && flow.beyond() > 0;
        let enough = flow.accepted >= self.ack_every;
        if first || at_once || closed || enough || advances || arrival == Arrival::Duplicate {
            self.ack(env, handle, slot, (packet, false, at_once));
        }
    }

    /// Answers a packet by its number; `probe` if it was one. What is said begins at the packet itself or,
    /// if not `at_once`, below it.
    fn ack(
        &mut self,
        env: &mut Env<'_>,
        handle: PacketRef,
        slot: u32,
        (packet, probe, at_once): (u32, bool, bool),
    ) {
        let content = env.packets[handle];
        let mut informed = Time(env.packets.stamps(handle).informed);
        let flow = self.flows.at_mut(slot);
        flow.accepted = 0;
        let cumulative = flow.arrivals.lowest_missing();
        let (marked, again) = (is_marked(&content), content.has(flag::RETRANSMIT));
        let header = Ack { packet, cumulative, marked, again, probe }.into();
        let behind = match *env.packets.extension(handle) {
            extension @ (Extension::Explicit { .. } | Extension::Int { .. }) if self.returns => {
                if let Extension::Explicit { .. } = extension {
                    // The RTT reflects queues up to the arrival of the packet.
                    informed = env.now;
                }
                self.echoes.push_back(extension);
                Behind::Echo
            }
            // Its header says all.
            _ if self.returns && flow.beyond() == 0 => Behind::Nothing,
            _ => {
                let below = packet.saturating_sub(63).max(cumulative.saturating_add(1));
                Behind::AckContent(flow.seen(if at_once { packet } else { below }))
            }
        };
        self.reply(&content, header, Some(behind), informed);
    }

    /// Says that all has arrived.
    fn complete(&mut self, content: &Packet, packet: u32, informed: Time) {
        let (marked, again) = (is_marked(content), content.has(flag::RETRANSMIT));
        let header = Complete { packet, next: packet.saturating_add(1), marked, again }.into();
        self.reply(content, header, None, informed);
    }

    fn reply(&mut self, content: &Packet, header: Header, behind: Option<Behind>, informed: Time) {
        let Packet { flow, src: to, path, .. } = *content;
        let blank = if self.padded { Behind::Padding } else { Behind::Nothing };
        let (class, behind) = (self.class, behind.unwrap_or(blank));
        self.replies.push_back(Reply { flow, to, path, class, header, behind, informed });
    }
}

#[inline]
fn is_marked(packet: &Packet) -> bool {
    packet.mark == Ecn::Ce as u8
}
