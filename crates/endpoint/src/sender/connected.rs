//! Connections that carry one flow after the other: each is a message, its bytes behind those of the message before.
//!
//! One [`Outgoing`] sends them all, so window, rate, RTT and what is known of losses are the connection's. A message
//! has packets of its own, with its number and bytes counted from its start: its receiver does not know of connections,
//! and neither do the records of flows. Nothing here is reached by flows without a connection: it is what happens where
//! a packet, turn or alarm is of no such flow.

use super::control::{Control, Message, Reliability};
use super::cuts::Stream;
use super::outgoing::{Alarm, DecodedAck, Gate, Outgoing, Timer};
use super::turn::{Turn, data_packet, decoded};
use crate::flow_table::FlowTable;
use incast_transport::{Connection, Env, Flow, FlowId, Observed, PacketRef, Reason, Time, Timers};

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

impl<C> Default for Connected<C> {
    fn default() -> Connected<C> {
        Connected { all: FlowTable::new(), messages: FlowTable::new() }
    }
}

impl<C: Control> Own<C> {
    /// After each event: asks whether the connection may send, and tells its messages why not.
    fn refresh(&mut self, env: &mut Env<'_>, mut turn: Turn<'_>, key: FlowId) {
        let reason = turn.give(env.now, key, &mut self.out);
        if reason != self.told {
            self.told = reason;
            let next = self.out.next();
            self.out.flow.unsent(next).for_each(|flow| env.probe.blocked(flow, reason));
        }
    }
}

impl<C: Control> Connected<C> {
    /// How many have something to send, or sent something that has not arrived as far as is known.
    pub fn busy(&self) -> usize {
        self.all.values().filter(|own| own.out.flow.open() > 0).count()
    }

    /// Whether this one is there.
    pub fn has(&self, connection: Connection) -> bool {
        self.all.contains(key(connection))
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

    /// A message opens on a connection: on `fresh`, if that was not there.
    pub fn open(
        &mut self,
        env: &mut Env<'_>,
        turn: Turn<'_>,
        message: Flow,
        connection: Connection,
        fresh: Option<Outgoing<C, Stream>>,
    ) {
        let (key, flow) = (key(connection), message.id);
        if let Some(out) = fresh {
            self.all.insert(key, Own { out, told: Reason::Ready });
        }
        let own = self.all.get_mut(key).expect("it is there or fresh");
        own.out.flow.append(message);
        own.out.grow();
        env.probe.blocked(flow, own.told);
        own.refresh(env, turn, key);
        self.messages.insert(flow, key);
    }

    /// An ACK of a message.
    pub fn acknowledged(&mut self, env: &mut Env<'_>, turn: Turn<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some((key, own)) = self.of(packet.flow) else { return };
        let Some((ack, nack)) = decoded(&packet.header) else { return };
        let (out, extension) = (&mut own.out, env.packets.extension(handle));
        let next = out.next();
        let Some(heard) = out.flow.hear(packet.flow, &ack, extension, next) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        // A receiver that keeps only what is in order would ask for what was sent before this message.
        let goes_back = matches!(turn.options.reliability, Reliability::GoBackN { .. });
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
        let sensible = out.acknowledge(env.now, &acknowledged, turn.options);
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
        }
        own.refresh(env, turn, key);
        if heard.complete {
            self.messages.remove(packet.flow);
        }
    }

    /// A packet that acknowledges nothing, for the connection of a message.
    pub fn message(&mut self, env: &mut Env<'_>, turn: Turn<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some((key, own)) = self.of(packet.flow) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        let extension = env.packets.extension(handle);
        let progress = own.out.progress(env.now);
        own.out.control.on_message(&Message { packet: &packet, extension, informed }, &progress);
        if informed > Time::ZERO && own.out.control.decided() {
            env.probe.decision(packet.flow, informed);
        }
        own.refresh(env, turn, key);
    }

    /// The next data packet of a connection whose turn it is.
    pub fn segment(&mut self, env: &mut Env<'_>, turn: Turn<'_>, key: FlowId) -> Option<PacketRef> {
        let own = self.all.get_mut(key)?;
        let (out, options) = (&mut own.out, turn.options);
        out.queued = false;
        if out.gate != Gate::Open && out.gate(env.now, options.admission) != Gate::Open {
            own.refresh(env, turn, key);
            return None;
        }
        let packet = out.take(env.now, options.data_mark);
        let path = out.keeper.as_ref().map_or(0, |keeper| keeper.path);
        let (part, last) = out.flow.sends(packet.offset, packet.payload);
        let byte = part.within(packet.offset);
        let handle = data_packet(env, options, (&part.flow, byte, last), &packet, path);
        if last {
            env.probe.blocked(part.flow.id, Reason::Ready);
        }
        out.paced(env.now, env.packets.charged(handle), packet.more);
        own.refresh(env, turn, key);
        Some(handle)
    }

    /// An alarm of a connection.
    pub fn alarm(
        &mut self,
        env: &mut Env<'_>,
        turn: Turn<'_>,
        at: Time,
        key: FlowId,
        timer: Timer,
    ) {
        let Some(own) = self.all.get_mut(key) else { return };
        match own.out.alarm(env.now, at, timer, turn.timers) {
            Alarm::Stale => return,
            Alarm::Timeout => env.probe.timeout(own.out.flow.oldest(own.out.first())),
            Alarm::Other => {}
        }
        own.refresh(env, turn, key);
    }

    /// A message is given up.
    pub fn abandon(&mut self, env: &mut Env<'_>, turn: Turn<'_>, flow: FlowId) {
        let Some((key, own)) = self.of(flow) else { return };
        let next = own.out.next();
        own.out.flow.give_up(flow, next);
        let arrived = own.out.flow.arrived();
        own.out.give_up(arrived);
        own.refresh(env, turn, key);
        self.messages.remove(flow);
    }

    /// What is to be seen of the connection of a message.
    pub fn observe(&self, flow: FlowId, now: Time, timers: &Timers) -> Observed {
        let own = self.messages.get(flow).and_then(|key| self.all.get(*key));
        own.map_or(Observed::default(), |own| own.out.observe(now, timers))
    }
}
