//! The host of sender-driven transports: the common sender, and its receiver.
//!
//! A transport writes a [`ControlFactory`] - a [`Control`] for each flow it sends, a [`Feedback`]
//! for each it receives - and gets a [`Host`], [`SenderDriven`]: sequence numbers, ACKs, loss
//! detection, timers, pacing, and a NIC shared round robin. So a comparison compares congestion
//! controls, not retransmitters.
//!
//! On the wire there are the packets of [`views`]; sequence numbers count bytes modulo 2^32 and are
//! unwrapped to 64 bits next to what is expected. An ACK says which data packet it acknowledges, so
//! the sender measures RTTs with the send times it keeps, never of bytes sent twice (Karn), without
//! charging a timestamp option. The ACK of the packet that completes a flow says so, and so do the
//! ACKs of all later copies: it ends the flow at the sender whatever else it acknowledges. Other
//! packets without payload are messages to the sending half. There is no handshake unless a
//! congestion control requests one.

mod connected;
mod control;
mod cuts;
mod feedback;
mod headers;
mod incoming;
mod outgoing;
mod plb;
#[cfg(test)]
mod tests;
mod turn;
pub mod views;

pub use control::{
    Ack, AckFields, Admission, Arriving, Control, ControlFactory, DelayedAck, Feedback, FnFactory,
    Loss, Message, Notification, Options, Outbound, Progress, Recovery, Reliability, Request,
    WindowUnit, congestion_control,
};
pub use feedback::{EchoMark, ReturnStack, ReturnStamp, STAMP_BYTES, Silent, stamp, stamp_age};

use crate::flow_table::{FlowSet, FlowTable};
use crate::queue::{Agenda, Queue};
use connected::Connected;
use cuts::{Cuts, Stream, cut};
use headers::{Urgency, Waiting, close};
use incast_transport::{
    Acks, Bytes, Classes, Connection, Env, Extension, Flow, FlowId, Header, Host, HostId, Observed,
    PacketRef, Reason, Time, Timers,
};
use incoming::{Form, Incoming, Received, Reply};
use outgoing::{Alarm, DecodedAck, Gate, Outgoing, Timer};
use plb::PathKeeper;
use turn::{Turn, data_packet, decoded};
use views::{Data, Open};

/// The transport of one host: all flows that it sends and receives, under one congestion control.
pub struct SenderDriven<L: ControlFactory> {
    factory: L,
    options: Options,
    timers: Timers,
    outgoing: FlowTable<Outgoing<L::Control>>,
    /// Connections on which several flows follow each other, if some do.
    connections: Option<Box<Connected<L::Control>>>,
    incoming: FlowTable<Incoming<L::Feedback>>,
    /// Flows received completely: a few bytes each, so that each byte is delivered once however
    /// late a copy comes.
    finished: FlowSet,
    /// Flows that may send, in turn.
    ready: Queue<FlowId>,
    /// Packets of class 0, then the others.
    queues: [Urgency; 2],
    /// Alarms. Each timer of a flow has at least one no later than it is due; an alarm that comes
    /// early is set again, so restarting a timer costs nothing.
    alarms: Agenda<(Time, FlowId, Timer)>,
}

impl<L: ControlFactory> SenderDriven<L> {
    /// A host without flows.
    pub fn new(factory: L, options: Options) -> SenderDriven<L> {
        assert!(options.data_class > 0 && options.data_class < 8 && options.ack_class < 8);
        SenderDriven {
            factory,
            options,
            timers: Timers::default(),
            outgoing: FlowTable::new(),
            connections: None,
            incoming: FlowTable::new(),
            finished: FlowSet::new(),
            ready: Queue::new(),
            queues: Default::default(),
            alarms: Agenda::default(),
        }
    }

    /// The control of a flow that is being sent.
    pub fn control(&self, flow: FlowId) -> Option<&L::Control> {
        self.outgoing.get(flow).map(|out| &out.control)
    }

    /// Where a flow stands that is being sent.
    pub fn progress(&self, flow: FlowId, now: Time) -> Option<Progress> {
        self.outgoing.get(flow).map(|out| out.progress(now))
    }

    /// The sending half of a flow, or of a connection that begins with it, cut as `cuts` are.
    fn outgoing<F: Cuts>(
        &mut self,
        env: &mut Env<'_>,
        flow: &Flow,
        cuts: F,
        number: u32,
    ) -> Outgoing<L::Control, F> {
        let connections = self.connections.as_ref().map_or(0, |all| all.busy());
        let others = self.outgoing.len() + connections;
        let mut control = self.factory.control(env.now, flow, others);
        if let Some(packets) = flow.burst {
            control.start_with(packets);
        }
        let mut out = Outgoing::new(cuts, number, control, &self.options);
        out.keeper = self.options.plb.map(|rule| Box::new(PathKeeper::new(rule, env.random)));
        out
    }

    /// A message opens on a connection.
    #[cold]
    fn open_on(&mut self, env: &mut Env<'_>, flow: &Flow, connection: Connection) {
        let message = cut(flow, &self.options);
        let known = self.connections.as_ref().is_some_and(|all| all.has(connection));
        let fresh = (!known).then(|| {
            // Its end is not known.
            let whole = Flow { size: Bytes::ENDLESS.0, ..flow.clone() };
            self.outgoing(env, &whole, Stream::default(), connection.place())
        });
        self.connections.get_or_insert_default();
        self.on_connections(|all, turn| all.open(env, turn, message, connection, fresh));
    }

    /// Does something with the connections, if there are some.
    #[cold]
    fn on_connections<T: Default>(
        &mut self,
        what: impl FnOnce(&mut Connected<L::Control>, Turn<'_>) -> T,
    ) -> T {
        let SenderDriven { connections, queues, ready, alarms, timers, options, .. } = self;
        match connections {
            Some(all) => what(all, Turn { queues, ready, alarms, timers, options }),
            None => T::default(),
        }
    }

    // -- after each event of a flow ------------------------------------------------------------

    /// Takes the requests of the congestion control, and finds out whether the flow may send, why
    /// not, and when its timers are due.
    #[inline]
    fn refresh(&mut self, env: &mut Env<'_>, flow: FlowId) {
        let Some(out) = self.outgoing.get_mut(flow) else { return };
        let SenderDriven { queues, ready, alarms, timers, options, .. } = self;
        let mut turn = Turn { queues, ready, alarms, timers, options };
        let reason = turn.give(env.now, flow, out);
        env.probe.blocked(flow, reason);
    }

    /// The flow was received completely, as its source knows now.
    fn close(&mut self, env: &mut Env<'_>, flow: FlowId) {
        env.probe.blocked(flow, Reason::Ready);
        // Its entry in `ready` and its alarms find nothing when their turn comes.
        let Some(mut out) = self.outgoing.remove(flow) else { return };
        env.probe.acknowledged(flow);
        let progress = out.progress(env.now);
        if let Some(request) = out.control.close(&progress) {
            let packet = close(&out.flow, &progress, &request);
            self.queues[(request.class != 0) as usize].push(packet, &request.extension);
        }
    }

    // -- arrivals ------------------------------------------------------------------------------

    fn data(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some(Data { sequence: seq, last, .. }) = Data::read(&packet.header) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        let flow = packet.flow;
        if self.finished.contains(flow) {
            let (form, fields) = (Form::LastAck, AckFields::default());
            let cumulative = seq.wrapping_add(packet.payload as u32);
            let reply = Reply { form, fields, seq, cumulative, informed };
            return self.reply(flow, packet.src, &reply);
        }
        let inc = match self.incoming.slot_of(flow) {
            Some(slot) => self.incoming.at_mut(slot),
            None => {
                let slot =
                    self.incoming.insert(flow, Incoming::new(packet.src, self.factory.feedback()));
                self.incoming.at_mut(slot)
            }
        };
        let offset = inc.offset_of(seq);
        let arriving = Arriving {
            now: env.now,
            offset,
            packet: &packet,
            extension: env.packets.extension(handle),
            informed,
            new: false,
        };
        let Received { new, complete, flushed, reply, notification } =
            inc.receive(arriving, seq, last, &self.options);
        let (armed, until) = (inc.armed, inc.delayed_until);
        if until < armed {
            inc.armed = until;
            self.alarms.push((until, flow, Timer::Delay));
        }
        if new {
            env.probe.delivered(flow, packet.header.data_key(), offset, packet.payload as u32);
        }
        if complete {
            env.probe.completed(flow);
            self.incoming.remove(flow);
            self.finished.insert(flow, env.now);
        }
        for reply in [&flushed, &reply].into_iter().flatten() {
            self.reply(flow, packet.src, reply);
        }
        if let Some(Notification { header, class, mark }) = notification {
            let (to, extended) = (packet.src, false);
            let waiting = Waiting { header, flow, to, class, mark, extended, informed };
            self.queues[(class != 0) as usize].push(waiting, &Extension::None);
        }
    }

    /// Queues a reply.
    #[inline(always)]
    fn reply(&mut self, flow: FlowId, to: HostId, reply: &Reply) {
        let Reply { fields, informed, .. } = reply;
        let waiting = Waiting {
            header: reply.header(),
            flow,
            to,
            class: self.options.ack_class,
            mark: fields.mark,
            extended: fields.extension != Extension::None,
            informed: *informed,
        };
        self.queues[(waiting.class != 0) as usize].push(waiting, &fields.extension);
    }

    /// An ACK of a flow that is sent here.
    fn acknowledged(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some(out) = self.outgoing.get_mut(packet.flow) else {
            return self.on_connections(|all, turn| all.acknowledged(env, turn, handle));
        };
        let Some((ack, nack)) = decoded(&packet.header) else { return };
        let informed = Time(env.packets.stamps(handle).informed);
        let decoded = DecodedAck {
            seq: ack.acked,
            cumulative: ack.cumulative,
            nack,
            ece: ack.marked,
            mark: packet.mark,
            nibble: ack.nibble,
            window: ack.window,
            extension: env.packets.extension(handle),
            informed,
        };
        let sensible = out.acknowledge(env.now, &decoded, &self.options);
        if sensible && informed > Time::ZERO && out.control.decided() {
            env.probe.decision(packet.flow, informed);
        }
        if sensible {
            out.keep_path(env.now, ack.marked, env.random);
        }
        if out.done() || ack.complete {
            return self.close(env, packet.flow);
        }
        self.refresh(env, packet.flow);
    }

    /// A packet that acknowledges nothing, for the sending half.
    fn message(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let packet = env.packets[handle];
        let Some(out) = self.outgoing.get_mut(packet.flow) else {
            return self.on_connections(|all, turn| all.message(env, turn, handle));
        };
        let informed = Time(env.packets.stamps(handle).informed);
        let message =
            Message { packet: &packet, extension: env.packets.extension(handle), informed };
        let progress = out.progress(env.now);
        out.control.on_message(&message, &progress);
        if informed > Time::ZERO && out.control.decided() {
            env.probe.decision(packet.flow, informed);
        }
        self.refresh(env, packet.flow);
    }

    /// A request of the sending half of another host.
    fn request(&mut self, env: &mut Env<'_>, handle: PacketRef, seq: u32) {
        let packet = env.packets[handle];
        if self.finished.contains(packet.flow) {
            return;
        }
        let slot = match self.incoming.slot_of(packet.flow) {
            Some(slot) => slot,
            None => {
                let inc = Incoming::new(packet.src, self.factory.feedback());
                self.incoming.insert(packet.flow, inc)
            }
        };
        let inc = self.incoming.at_mut(slot);
        let arriving = Arriving {
            now: env.now,
            offset: inc.offset_of(seq),
            packet: &packet,
            extension: env.packets.extension(handle),
            informed: Time(env.packets.stamps(handle).informed),
            new: false,
        };
        let reply = inc.request(&arriving, seq);
        self.reply(packet.flow, packet.src, &reply);
    }

    // -- departures ----------------------------------------------------------------------------

    /// The first header-only packet whose class is open.
    #[inline]
    fn header_only(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let queue = self.queues.iter_mut().find(|queue| queue.opens(open))?;
        queue.send(env, self.options.transport)
    }

    /// The next data packet of this flow, which may send.
    #[inline]
    fn segment(&mut self, env: &mut Env<'_>, flow: FlowId) -> PacketRef {
        let out = self.outgoing.get_mut(flow).expect("the flow is being sent");
        let packet = out.take(env.now, self.options.data_mark);
        let last = packet.offset + packet.payload as u64 == out.flow.size;
        let path = out.keeper.as_ref().map_or(0, |keeper| keeper.path);
        let handle =
            data_packet(env, &self.options, (&out.flow, packet.offset, last), &packet, path);
        out.paced(env.now, env.packets.charged(handle), packet.more);
        handle
    }

    /// An alarm of one timer of one flow.
    fn alarm(&mut self, env: &mut Env<'_>, at: Time, flow: FlowId, timer: Timer) {
        if timer == Timer::Delay {
            return self.delay_alarm(env.now, at, flow);
        }
        let Some(out) = self.outgoing.get_mut(flow) else {
            return self.on_connections(|all, turn| all.alarm(env, turn, at, flow, timer));
        };
        match out.alarm(env.now, at, timer, &self.timers) {
            Alarm::Stale => return, // an earlier one took its place
            Alarm::Timeout => env.probe.timeout(flow),
            Alarm::Other => {}
        }
        self.refresh(env, flow);
    }

    fn delay_alarm(&mut self, now: Time, at: Time, flow: FlowId) {
        let Some(inc) = self.incoming.get_mut(flow) else { return };
        if inc.armed != at {
            return;
        }
        inc.armed = Time::NEVER;
        if inc.delayed_until <= now {
            let source = inc.source;
            if let Some(reply) = inc.delay_over() {
                self.reply(flow, source, &reply);
            }
        } else if inc.delayed_until < Time::NEVER {
            inc.armed = inc.delayed_until;
            self.alarms.push((inc.armed, flow, Timer::Delay));
        }
    }
}

impl<L: ControlFactory> Host for SenderDriven<L> {
    fn set_acks(&mut self, acks: Acks) {
        self.options.ack_class = match acks {
            Acks::Data => self.options.data_class,
            Acks::Control => 0,
        };
    }

    fn set_timers(&mut self, timers: Timers) {
        self.timers = timers;
    }

    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        if let Some(connection) = flow.connection {
            return self.open_on(env, flow, connection);
        }
        let out = self.outgoing(env, flow, cut(flow, &self.options), flow.id.0);
        self.outgoing.insert(flow.id, out);
        self.refresh(env, flow.id);
    }

    fn receive(&mut self, env: &mut Env<'_>, handle: PacketRef) {
        let packet = &env.packets[handle];
        if packet.payload > 0 {
            return self.data(env, handle);
        }
        let header = packet.header;
        if views::Ack::read(&header).is_some() || matches!(header, Header::Nack { .. }) {
            self.acknowledged(env, handle);
        } else if let Some(open) = Open::read(&header) {
            self.request(env, handle, open.sequence);
        } else {
            self.message(env, handle);
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if let Some(packet) = self.header_only(env, open) {
            return Some(packet);
        }
        if !open.has(self.options.data_class) {
            return None;
        }
        while let Some(flow) = self.ready.pop_front() {
            let Some(out) = self.outgoing.get_mut(flow) else {
                match self.on_connections(|all, turn| all.segment(env, turn, flow)) {
                    None => continue,
                    packet => return packet,
                }
            };
            out.queued = false;
            // Its window may have closed since it became ready.
            let (now, admission) = (env.now, self.options.admission);
            if out.gate != Gate::Open && out.gate(now, admission) != Gate::Open {
                self.refresh(env, flow);
                continue;
            }
            let packet = self.segment(env, flow);
            self.refresh(env, flow);
            return Some(packet);
        }
        None
    }

    fn idle(&self) -> bool {
        self.ready.is_empty() && self.queues.iter().all(|queue| queue.is_empty())
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.alarms.peek().map_or(Time::NEVER, |(at, ..)| *at)
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        while let Some(&(at, flow, timer)) = self.alarms.peek() {
            if at > env.now {
                break;
            }
            self.alarms.pop();
            self.alarm(env, at, flow, timer);
        }
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        // Its entry in `ready` and its alarms find nothing when their turn comes.
        self.outgoing.remove(flow);
        self.incoming.remove(flow);
        self.on_connections(|all, turn| all.abandon(env, turn, flow));
    }

    fn observe(&self, flow: FlowId, now: Time) -> Observed {
        match self.outgoing.get(flow) {
            Some(out) => out.observe(now, &self.timers),
            None => {
                let all = self.connections.as_ref();
                all.map_or(Observed::default(), |all| all.observe(flow, now, &self.timers))
            }
        }
    }

    fn open_flows(&self) -> usize {
        let messages = self.connections.as_ref().map_or(0, |all| all.open_flows());
        self.outgoing.len() + messages + self.incoming.len()
    }
}
