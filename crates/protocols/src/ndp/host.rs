//! One host: its senders take turns at the NIC, its receivers share one pacer.

use super::headers::{Ack, CONTROL, Complete, DATA, Data, ID, Nack, Pull};
use super::receiver::{Receivers, Reply};
use super::sender::{HostPlan, Sender, Sent};
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::queue::Queue;
use incast_endpoint::receiver_driven::FlowTimers;
use incast_endpoint::unordered::Permutation;
use incast_transport::{
    Classes, Env, Flow, FlowId, Header, Host, Observed, Packet, PacketRef, Random, Reason, Time,
    flag,
};

/// NDP on one host.
pub struct NdpHost {
    plan: HostPlan,
    senders: FlowTable<Sender>,
    /// Flows that may send, in round-robin order. May name flows that have finished.
    ready: Queue<FlowId>,
    timers: FlowTimers,
    receivers: Receivers,
    /// Paths of replies.
    paths: Permutation,
}

impl NdpHost {
    /// A host without flows.
    pub fn new(plan: HostPlan) -> NdpHost {
        NdpHost {
            plan,
            senders: FlowTable::new(),
            ready: Queue::new(),
            timers: FlowTimers::default(),
            receivers: Receivers::new(plan.spacing),
            paths: Permutation::new(plan.paths),
        }
    }

    /// Something was heard about a flow that this host sends.
    fn on_feedback(&mut self, env: &mut Env<'_>, id: FlowId, packet: PacketRef) {
        let Some(sender) = self.senders.get_mut(id) else { return };
        let now = env.now;
        let header = env.packets[packet].header;
        if let Some(Ack { packet, cumulative, pull, pulls }) = Ack::read(&header) {
            let number = sender.widen(pull);
            sender.on_ack(packet, cumulative, pulls.then_some(number), now);
        } else if let Some(Complete { packet, .. }) = Complete::read(&header) {
            sender.on_ack(packet, sender.total, None, now);
            sender.finish();
        } else if let Some(Nack { packet, cumulative, pull, pulls }) = Nack::read(&header) {
            let number = sender.widen(pull);
            sender.on_nack(packet, cumulative, pulls.then_some(number), now);
        } else if let Some(Pull { cumulative, number }) = Pull::read(&header) {
            sender.advance(cumulative);
            sender.on_pull(number, now);
        } else {
            return;
        }
        env.probe.decision(id, Time(env.packets.stamps(packet).informed));
        self.settle(env, id);
    }

    /// A header of a flow that this host sends came back.
    fn on_bounce(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { flow, header, .. } = env.packets[packet];
        let (Some(data), Some(sender)) = (Data::read(&header), self.senders.get_mut(flow)) else {
            return;
        };
        sender.on_bounce(data.packet, env.now);
        self.settle(env, flow);
    }

    /// After a change: ends the flow, or gives it its turn, or records that it waits for a pull.
    fn settle(&mut self, env: &mut Env<'_>, id: FlowId) {
        let Some(sender) = self.senders.get_mut(id) else { return };
        if sender.finished() {
            env.probe.blocked(id, Reason::Ready);
            env.probe.acknowledged(id);
            self.senders.remove(id);
            return;
        }
        let ready = sender.sendable();
        if ready && !sender.queued {
            sender.queued = true;
            self.ready.push_back(id);
        }
        let waits = !ready && sender.has_work();
        if sender.waits != waits {
            sender.waits = waits;
            env.probe.blocked(id, if waits { Reason::Grant } else { Reason::Ready });
        }
    }

    fn send_reply(&mut self, env: &mut Env<'_>, reply: Reply) -> PacketRef {
        let Reply { flow, to, header, .. } = reply;
        let packet = Packet::header_only(ID, flow, env.host, to, CONTROL, header);
        let path = self.paths.take(env.random);
        let packet = env.packets.create(Packet { path, ..packet });
        env.packets.stamps_mut(packet).informed = reply.informed.0;
        packet
    }

    fn send_data(&mut self, env: &mut Env<'_>) -> Option<PacketRef> {
        while let Some(id) = self.ready.pop_front() {
            let Some(sender) = self.senders.get_mut(id) else { continue };
            sender.queued = false;
            let Some(sent) = sender.take(env.now) else { continue };
            let packet = data_packet(sender, sent, env.random);
            let packet = env.packets.create(packet);
            env.packets.stamps_mut(packet).informed = env.now.0;
            self.settle(env, id);
            return Some(packet);
        }
        None
    }
}

fn data_packet(sender: &mut Sender, sent: Sent, random: &mut Random) -> Packet {
    let flow = &sender.flow;
    let Sent { seq, again, unscheduled } = sent;
    let (offset, last) = (flow.offset(seq) as u32, seq + 1 == sender.total);
    Packet {
        header: Data { packet: seq, offset, last, unscheduled }.into(),
        src: flow.src,
        dst: flow.dst,
        flow: flow.id,
        payload: flow.payload(seq),
        path: sender.paths.take(random),
        mark: 0,
        class: DATA,
        transport: ID,
        flags: if again { flag::RETRANSMIT } else { 0 },
        extension: 0,
    }
}

impl Host for NdpHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        let mut sender = Sender::new(flow.clone(), &self.plan, env.now);
        let deadline = sender.first_deadline(env.now);
        self.timers.arm(flow.id, &mut sender.armed, deadline);
        self.senders.insert(flow.id, sender);
        self.settle(env, flow.id);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = &env.packets[packet];
        match content.header {
            Header::Data { .. } if content.has(flag::BOUNCED) => self.on_bounce(env, packet),
            Header::Data { .. } => self.receivers.on_data(env, packet),
            _ => {
                let flow = content.flow;
                self.on_feedback(env, flow, packet);
            }
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(CONTROL)
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
        self.receivers.on_timer(env.now);
        while let Some((id, slot)) =
            self.timers.expired(env.now, &mut self.senders, |sender| &mut sender.armed)
        {
            let sender = self.senders.at_mut(slot);
            let timeouts = sender.timeouts;
            let next = sender.on_timer(env.now);
            if sender.timeouts > timeouts {
                env.probe.timeout(id);
            }
            assert!(next > env.now, "the next timeout of flow {} is not later", id.0);
            self.timers.arm(id, &mut sender.armed, next);
            self.settle(env, id);
        }
    }

    fn abandon(&mut self, _env: &mut Env<'_>, flow: FlowId) {
        self.senders.remove(flow);
        self.receivers.abandon(flow);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        self.senders.get(flow).map_or(Observed::default(), Sender::observe)
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.open_flows()
    }
}
