//! Connections that carry one flow after the other: each is a message, its bytes behind those of the message before.
//!
//! One [`Outgoing`] sends them all, so window, rate, RTT and what is known of losses are the connection's. A message
//! has packets of its own, with its number and bytes counted from its start: its receiver does not know of connections,
//! and neither do the records of flows. Nothing here is reached by flows without a connection: it is what happens where
//! a packet, turn or alarm is of no such flow.

use super::cuts::Stream;
use super::outgoing::{Alarm, DecodedAck, Gate, Outgoing, Timer, cut};
use super::{
    Control, ControlFactory, Message, Reliability, SenderDriven, Turn, data_packet, decoded,
};
use crate::flow_table::FlowTable;
use incast_transport::{Bytes, Connection, Env, Flow, FlowId, Observed, PacketRef, Reason, Time};

/// The connections on which a host sends.
pub(super) struct Connected<C> {
    /// By what stands for them in queues.
    all: FlowTable<Own<C>>,
    /// The connection of each message that has not arrived, as far as is known.
    messages: FlowTable<FlowId>,
}

/// A connection.
struct Own<C> {
    out: Outgoing<C, Stream>,
    /// Why it does not send, as its messages have been told.
    told: Reason,
}

/// What stands for a connection in queues: no flow has such a number, and tables have room for it.
fn key(connection: Connection) -> FlowId {
    FlowId(u32::MAX - 1 - connection.place())
}

impl<C> Connected<C> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many of their messages have not arrived, as far as is known.
    pub fn open_flows(&self) -> usize {
        self.all.values().map(|own| own.out.flow.open()).sum()
    }

    /// The connection of a message, and what stands for it.
    fn of(&mut self, message: FlowId) -> Option<(FlowId, &mut Own<C>)> {
        let key = *self.messages.get(message)?;
        Some((key, self.all.get_mut(key)?))
    }
}

impl<L: ControlFactory> SenderDriven<L> {
    /// A message opens.
    #[cold]
    pub(super) fn open_on(&mut self, env: &mut Env<'_>, flow: &Flow, connection: Connection) {
        let (key, message) = (key(connection), cut(flow, &self.options));
        let known = self.connections.as_mut().and_then(|all| all.all.get_mut(key));
        let told = match known {
            Some(own) => {
                own.out.flow.append(message);
                own.out.grow();
                own.told
            }
            None => {
                // Its end is not known.
                let whole = Flow { size: Bytes::ENDLESS.0, ..flow.clone() };
                let out = self.outgoing(env, &whole, Stream::new(message), connection.place());
                let own = Own { out, told: Reason::Ready };
                let fresh = || Connected { all: FlowTable::new(), messages: FlowTable::new() };
                self.connections.get_or_insert_with(|| Box::new(fresh())).all.insert(key, own);
                Reason::Ready
            }
        };
        env.probe.blocked(flow.id, told);
        self.connections.as_mut().expect("made above").messages.insert(flow.id, key);
        self.refresh_on(env, key);
    }

    /// As [`SenderDriven::refresh`].
    fn refresh_on(&mut self, env: &mut Env<'_>, key: FlowId) {
        let SenderDriven { connections, queues, ready, alarms, timers, options, .. } = self;
        let Some(own) = connections.as_mut().and_then(|all| all.all.get_mut(key)) else { return };
        let turn = Turn { queues, ready, alarms, timers, options };
        let reason = turn.give(env.now, key, &mut own.out);
        if reason != own.told {
            own.told = reason;
            let next = own.out.next();
            own.out.flow.unsent(next).for_each(|flow| env.probe.blocked(flow, reason));
        }
    }

    /// An ACK of a message.
    #[cold]
    pub(super) fn acknowledged_on(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some(all) = &mut self.connections else { return };
        let Some((key, own)) = all.of(packet.flow) else { return };
        let Some((ack, nack)) = decoded(&packet.header) else { return };
        let (out, extension) = (&mut own.out, env.packets.extension(handle));
        let next = out.next();
        let Some(heard) = out.flow.hear(packet.flow, &ack, extension, next) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        // A receiver that keeps only what is in order would ask for what was sent before this message.
        let goes_back = matches!(self.options.reliability, Reliability::GoBackN { .. });
        let acknowledged = DecodedAck {
            seq: heard.seq,
            cumulative: heard.cumulative,
            nack: nack || goes_back && heard.overtakes,
            ece: ack.marked,
            mark: packet.mark,
            nibble: ack.nibble,
            window: ack.window,
            extension: &heard.extension,
            informed,
        };
        let sensible = out.acknowledge(env.now, &acknowledged, &self.options);
        if sensible && informed > Time::ZERO && out.control.decided() {
            env.probe.decision(packet.flow, informed);
        }
        if sensible {
            out.keep_path(env.now, ack.marked, env.random);
        }
        let first = out.first();
        out.flow.forget(first);
        if heard.complete {
            env.probe.blocked(packet.flow, Reason::Ready);
            env.probe.acknowledged(packet.flow);
            all.messages.remove(packet.flow);
        }
        self.refresh_on(env, key);
    }

    /// A packet that acknowledges nothing, for the connection of a message.
    #[cold]
    pub(super) fn message_on(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some(all) = &mut self.connections else { return };
        let Some((key, Own { out, .. })) = all.of(packet.flow) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        let extension = env.packets.extension(handle);
        let progress = out.progress(env.now);
        out.control.on_message(&Message { packet: &packet, extension, informed }, &progress);
        if informed > Time::ZERO && out.control.decided() {
            env.probe.decision(packet.flow, informed);
        }
        self.refresh_on(env, key);
    }

    /// The next data packet of a connection whose turn it is.
    #[cold]
    pub(super) fn segment_on(&mut self, env: &mut Env<'_>, key: FlowId) -> Option<PacketRef> {
        let Own { out, .. } = self.connections.as_mut()?.all.get_mut(key)?;
        out.queued = false;
        if out.gate != Gate::Open && out.gate(env.now, self.options.admission) != Gate::Open {
            self.refresh_on(env, key);
            return None;
        }
        let packet = out.take(env.now, self.options.data_mark);
        let path = out.keeper.as_ref().map_or(0, |keeper| keeper.path);
        let (part, last) = out.flow.sends(packet.offset, packet.payload);
        let (flow, byte) = (&part.flow, part.within(packet.offset));
        let handle = data_packet(env, &self.options, (flow, byte, last), &packet, path);
        if last {
            env.probe.blocked(flow.id, Reason::Ready);
        }
        out.paced(env.now, env.packets.charged(handle), packet.more);
        self.refresh_on(env, key);
        Some(handle)
    }

    /// An alarm of a connection.
    #[cold]
    pub(super) fn alarm_on(&mut self, env: &mut Env<'_>, at: Time, key: FlowId, timer: Timer) {
        let Some(all) = &mut self.connections else { return };
        let Some(Own { out, .. }) = all.all.get_mut(key) else { return };
        match out.alarm(env.now, at, timer, &self.timers) {
            Alarm::Stale => return,
            Alarm::Timeout => env.probe.timeout(out.flow.oldest(out.first())),
            Alarm::Other => {}
        }
        self.refresh_on(env, key);
    }

    /// A message is given up.
    pub(super) fn abandon_on(&mut self, env: &mut Env<'_>, flow: FlowId) {
        let Some(all) = &mut self.connections else { return };
        if let Some((key, own)) = all.of(flow) {
            let next = own.out.next();
            own.out.flow.give_up(flow, next);
            let arrived = own.out.flow.arrived();
            own.out.give_up(arrived);
            all.messages.remove(flow);
            self.refresh_on(env, key);
        }
    }

    /// What is to be seen of the connection of a message.
    pub(super) fn observe_on(&self, flow: FlowId, now: Time) -> Observed {
        let all = self.connections.as_ref();
        let own = all.and_then(|all| all.all.get(*all.messages.get(flow)?));
        own.map_or(Observed::default(), |own| own.out.observe(now, &self.timers))
    }
}
