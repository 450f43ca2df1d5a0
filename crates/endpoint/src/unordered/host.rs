//! One host: its senders take turns at the NIC.

use super::arrived::{AckContent, Receivers, Reply};
use super::law::{Law, Laws};
use super::plan::HostPlan;
use super::sender::{Answer, Outbound};
use super::views::{Ack, Complete, Data, Nack, Pull};
use super::{CONTROL, DATA, PADDING};
use crate::flow_table::FlowTable;
use crate::queue::Queue;
use crate::receiver_driven::FlowTimers;
use incast_transport::{
    Acks, Classes, Env, Extension, Flow, FlowId, Header, Host, Observed, Packet, PacketRef, Reason,
    Time, Timers, flag,
};

/// Everything of one transport on one host.
pub struct UnorderedHost<L: Laws> {
    plan: HostPlan,
    laws: L,
    senders: FlowTable<Outbound<L::Law>>,
    /// Flows that may send, in round-robin order. May name flows that have finished.
    ready: Queue<FlowId>,
    timers: FlowTimers,
    receivers: Receivers,
}

impl<L: Laws> UnorderedHost<L> {
    /// A host without flows.
    pub fn new(plan: HostPlan, laws: L) -> UnorderedHost<L> {
        UnorderedHost {
            plan,
            laws,
            senders: FlowTable::new(),
            ready: Queue::new(),
            timers: FlowTimers::default(),
            receivers: Receivers::new(&plan),
        }
    }

    /// Something was heard about a flow that this host sends.
    fn on_feedback(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let Packet { flow: id, header, path, .. } = env.packets[handle];
        let Some(sender) = self.senders.get_mut(id) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        let mut decided = true;
        if let Some(ack) = Ack::read(&header) {
            let extension = env.packets.extension(handle);
            let seen = match *extension {
                Extension::Arrivals { base, bits, received, beyond } => {
                    AckContent { base, bits, received, beyond }
                }
                // Of others nothing is known.
                _ if self.plan.echoes => AckContent {
                    base: ack.packet,
                    bits: !ack.probe as u64,
                    ..AckContent::default()
                },
                _ => AckContent::default(),
            };
            sender.on_ack(&Answer { ack, path, seen, extension, informed }, env.now);
            decided = sender.law.decided();
            let ask = match L::Law::STEERED {
                true => sender.expires(self.plan.timeout).max(env.now),
                false => sender.asks_at(),
            };
            self.timers.arm(id, &mut sender.armed, ask);
        } else if Complete::read(&header).is_some() {
            Self::decision(env, id, informed);
            return self.finish(env, id);
        } else if let Some(nack) = Nack::read(&header) {
            sender.on_nack(&nack, path, env.now);
        } else if let Some(pull) = Pull::read(&header)
            && let Some(credit) = &mut sender.credit
        {
            credit.pull(pull.number);
        } else {
            return;
        }
        let finished = sender.finished();
        if decided {
            Self::decision(env, id, informed);
        }
        if finished { self.finish(env, id) } else { self.settle(env, id) }
    }

    #[inline]
    fn decision(env: &mut Env<'_>, id: FlowId, informed: Time) {
        if !L::Law::STEERED || informed > Time::ZERO {
            env.probe.decision(id, informed);
        }
    }

    /// Everything has arrived.
    fn finish(&mut self, env: &mut Env<'_>, id: FlowId) {
        env.probe.blocked(id, Reason::Ready);
        env.probe.acknowledged(id);
        self.senders.remove(id);
    }

    /// After a change: gives a flow its turn, or records what it waits for.
    fn settle(&mut self, env: &mut Env<'_>, id: FlowId) {
        let Some(sender) = self.senders.get_mut(id) else { return };
        let waits = sender.waits_for(env.now);
        if waits == Some(Reason::Ready) && !sender.queued {
            sender.queued = true;
            self.ready.push_back(id);
        }
        let waits = waits.unwrap_or(Reason::Ready);
        if waits == Reason::Pacing {
            let opens = sender.law.opens();
            self.timers.arm(id, &mut sender.armed, opens);
        }
        if sender.waits != waits {
            sender.waits = waits;
            env.probe.blocked(id, waits);
        }
    }

    fn send_reply(&mut self, env: &mut Env<'_>, reply: Reply) -> PacketRef {
        let Reply { flow, to, path, class, header, .. } = reply;
        let packet = Packet::header_only(self.plan.transport, flow, env.host, to, class, header);
        let packet = env.packets.create(Packet { path, ..packet });
        let extension = self.receivers.extension(&reply);
        if extension != Extension::None {
            env.packets.extend(packet, extension);
        }
        env.packets.stamps_mut(packet).informed = reply.informed.0;
        packet
    }

    fn send_data(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        while let Some(id) = self.ready.pop_front() {
            let Some(sender) = self.senders.get_mut(id) else { continue };
            sender.queued = false;
            let shares = (self.plan.mtu(), 1 + self.ready.len());
            let Some(leaving) = sender.take(env.now, env.random, shares) else {
                self.settle(env, id);
                continue;
            };
            let due = sender.law.due(env.now, self.plan.timeout);
            self.timers.arm(id, &mut sender.armed, due);
            let (flow, packet) = (&sender.flow, leaving.packet);
            let (offset, last) = (flow.offset(packet) as u32, packet + 1 == sender.total);
            let handle = env.packets.create(Packet {
                header: Data {
                    packet,
                    offset,
                    last,
                    asks: leaving.asks,
                    early: false,
                    target: leaving.target,
                }
                .into(),
                src: flow.src,
                dst: flow.dst,
                flow: id,
                payload: flow.payload(packet),
                path: leaving.path,
                mark: self.plan.data_mark,
                class: DATA,
                transport: self.plan.transport,
                flags: if leaving.again { flag::RETRANSMIT } else { 0 },
                extension: 0,
            });
            match leaving.extension {
                None => env.packets.extend(handle, Extension::Padding { count: PADDING }),
                Some(Extension::None) => {}
                Some(own) => env.packets.extend(handle, own),
            }
            let informed = if L::Law::STEERED { 0 } else { env.now.0 };
            env.packets.stamps_mut(handle).informed = informed;
            if L::Law::STEERED {
                sender.law.paced(env.now, env.packets.charged(handle));
            }
            self.settle(env, id);
            return Some(handle);
        }
        None
    }
}

impl<L: Laws> Host for UnorderedHost<L> {
    fn set_acks(&mut self, acks: Acks) {
        // Only where ACKs wait among data by themselves.
        if self.plan.reply_class != CONTROL && acks == Acks::Control {
            self.plan.reply_class = CONTROL;
            self.receivers.class = CONTROL;
        }
    }

    fn set_timers(&mut self, timers: Timers) {
        self.laws.set_timers(timers);
    }

    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        let segments = flow.segments.at_most(self.plan.max_payload, flow.size);
        let flow = Flow { segments, ..flow.clone() };
        let id = flow.id;
        let law = self.laws.begin(env.now, &flow, self.senders.len());
        self.senders.insert(id, Outbound::new(flow, &self.plan, law));
        self.settle(env, id);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        match env.packets[packet].header {
            Header::Data { .. } => self.receivers.on_data(env, packet),
            _ => self.on_feedback(env, packet),
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(self.plan.reply_class)
            && let Some(reply) = self.receivers.take()
        {
            return Some(self.send_reply(env, reply));
        }
        if open.has(DATA) { self.send_data(env) } else { None }
    }

    fn idle(&self) -> bool {
        self.ready.is_empty() && !self.receivers.replies()
    }

    fn deadline(&self) -> Time {
        self.timers.next().min(self.receivers.deadline())
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        self.receivers.on_timer(env.now, env.random);
        while let Some((id, slot)) =
            self.timers.expired(env.now, &mut self.senders, |sender| &mut sender.armed)
        {
            let sender = self.senders.at_mut(slot);
            let shares = 1 + self.ready.len();
            let (next, expired, probe) = sender.on_timer(env.now, &self.plan, shares);
            if expired {
                env.probe.timeout(id);
            }
            let question = sender.question(env.now, (self.plan.mtu(), shares));
            for question in question.into_iter().chain(probe) {
                let path = sender.paths.take(env.random);
                self.receivers.push(Reply::probe(id, sender.flow.dst, path, question, env.now));
            }
            let next = next.min(sender.asks_at());
            self.timers.arm(id, &mut sender.armed, next);
            self.settle(env, id);
        }
    }

    fn abandon(&mut self, _env: &mut Env<'_>, flow: FlowId) {
        self.senders.remove(flow);
        self.receivers.abandon(flow);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        self.senders.get(flow).map_or(Observed::default(), Outbound::observe)
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.open_flows()
    }
}
