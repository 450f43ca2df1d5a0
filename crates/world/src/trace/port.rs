//! A port whose events are recorded, and what each packet waited for there.

use super::log::{TraceLog, Writer};
use incast_transport::{
    Backlog, Bytes, Classes, Dequeue, EventKind, Fate, FlowId, Front, PacketPool, PacketRef, Place,
    Port, PortEnv, Rate, Time, TraceEvent, Traced, TransportId, Verdict, Why,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// The handler of a port, wrapped if it is traced.
pub(crate) fn traced_port(
    log: &Arc<TraceLog>,
    port: u32,
    rate: Rate,
    inner: Box<dyn Port>,
) -> Box<dyn Port> {
    let place = Place { port, host: false };
    match log.filter().selects_place(place) {
        true => Box::new(TracedPort::new(inner, rate, Writer::new(log, place))),
        false => inner,
    }
}

/// What a port did for a while.
#[derive(Clone, Copy)]
struct Spell {
    start: u64,
    end: u64,
    /// The packet that it transmitted; `None` while it transmitted none.
    sent: Option<Sent>,
    /// The classes that it could send.
    open: Classes,
    /// Why it sent nothing.
    why: Why,
}

/// A packet that was transmitted.
#[derive(Clone, Copy)]
struct Sent {
    flow: FlowId,
    bytes: u64,
    class: u8,
    arrived: u64,
}

/// A port behind a recorder.
pub(super) struct TracedPort {
    inner: Box<dyn Port>,
    rate: Rate,
    writer: Writer,
    /// What it did since the earliest arrival in `waiting`, or last.
    spells: VecDeque<Spell>,
    /// Arrivals of traced packets that wait, in order.
    waiting: VecDeque<u64>,
    /// Since when it sends nothing although something waits, the classes that it could send, and why.
    held: Option<(u64, Classes, Why)>,
}

impl TracedPort {
    pub fn new(inner: Box<dyn Port>, rate: Rate, writer: Writer) -> TracedPort {
        let (spells, waiting) = (VecDeque::new(), VecDeque::new());
        TracedPort { inner, rate, writer, spells, waiting, held: None }
    }

    fn event(&self, at: Time, kind: EventKind, packets: &PacketPool, of: PacketRef) -> TraceEvent {
        let departed = packets.stamps(of).departed;
        let packet = Some(Traced::of(&packets[of], packets.charged(of), departed));
        let event = TraceEvent::new(at, self.writer.place, kind, Some(packets[of].flow));
        TraceEvent { packet, ..event }
    }

    /// A packet waits no longer, whatever becomes of it.
    fn leaves(&mut self, arrived: u64) {
        if let Some(at) = self.waiting.iter().position(|waiting| *waiting == arrived) {
            self.waiting.remove(at);
        }
    }

    /// Forgets what no waiting packet has seen; the last spell may still go on.
    fn prune(&mut self) {
        let since = self.waiting.front().copied().unwrap_or(u64::MAX);
        while self.spells.len() > 1 && self.spells[0].end <= since {
            self.spells.pop_front();
        }
    }

    /// What became of a packet that arrived or was displaced.
    fn settled(&mut self, env: &PortEnv<'_>, packet: PacketRef, fate: Fate, queue: u64) {
        if !self.writer.selects(env.packets[packet].flow) {
            return;
        }
        // Drops are recorded where the world counts them, with those that no port sees.
        let kind = match fate {
            Fate::Queued => return,
            Fate::Trimmed => Some(EventKind::Trimmed),
            Fate::Bounced => Some(EventKind::Bounced),
            Fate::Dropped => None,
        };
        if let Some(kind) = kind {
            let event = self.event(env.now, kind, env.packets, packet);
            self.writer.write(TraceEvent { queue: Some(queue), ..event });
        }
    }

    fn marked(&mut self, env: &PortEnv<'_>, packet: PacketRef, why: Why, queue: u64) {
        let event = self.event(env.now, EventKind::Marked, env.packets, packet);
        self.writer.write(TraceEvent { queue: Some(queue), why: Some(why), ..event });
    }

    /// A packet begins transmission at `env.now`.
    fn started(&mut self, env: &PortEnv<'_>, packet: PacketRef, open: Classes, marked: bool) {
        let (content, now) = (&env.packets[packet], env.now.0);
        let bytes = env.packets.charged(packet) as u64;
        let arrived = env.packets.meta(packet).arrived.0;
        let (flow, class) = (content.flow, content.class);
        if let Some((since, open, why)) = self.held.take().filter(|(since, ..)| *since < now) {
            self.spells.push_back(Spell { start: since, end: now, sent: None, open, why });
        }
        if self.writer.selects(flow) {
            let queue = self.inner.backlog().bytes;
            let event = self.event(env.now, EventKind::Started, env.packets, packet);
            let waited = Some(now - arrived);
            self.writer.write(TraceEvent { queue: Some(queue), waited, ..event });
            self.explain(&event, arrived, class);
            self.leaves(arrived);
            if marked {
                self.marked(env, packet, Why::OnDeparture, queue);
            }
        }
        let end = now + self.rate.tx_time(Bytes(bytes)).0;
        let sent = Some(Sent { flow, bytes, class, arrived });
        self.spells.push_back(Spell { start: now, end, sent, open, why: Why::Other });
        self.prune();
    }

    /// Divides the wait of the packet of `event`, which arrived at `arrived`, by what the port did.
    fn explain(&mut self, event: &TraceEvent, arrived: u64, class: u8) {
        let now = event.at.0;
        let mut parts: Vec<(Why, Option<FlowId>, u8, u64, u64)> = vec![];
        let mut add = |why, flow, of, bytes, time| {
            let same = |part: &&mut (Why, Option<FlowId>, u8, u64, u64)| {
                (part.0, part.1, part.2) == (why, flow, of)
            };
            match parts.iter_mut().find(same) {
                Some(part) => (part.3, part.4) = (part.3 + bytes, part.4 + time),
                None => parts.push((why, flow, of, bytes, time)),
            }
        };
        let mut at = arrived;
        for spell in &self.spells {
            let (start, end) = (spell.start.max(at), spell.end.min(now));
            if end <= start {
                continue;
            }
            if start > at {
                add(Why::Other, None, class, 0, start - at);
            }
            match spell.sent {
                _ if !spell.open.has(class) => add(Why::Paused, None, class, 0, end - start),
                None => add(spell.why, None, class, 0, end - start),
                Some(sent) => {
                    let why = match () {
                        () if spell.start < arrived => Why::Transmitting,
                        () if sent.arrived > arrived => Why::Overtaken,
                        () => Why::Ahead,
                    };
                    add(why, Some(sent.flow), sent.class, sent.bytes, end - start);
                }
            }
            at = end;
        }
        if now > at {
            add(Why::Other, None, class, 0, now - at);
        }
        for (why, flow, class, bytes, time) in parts {
            let front = Some(Front { flow, bytes, class });
            let (kind, why, waited) = (EventKind::Waited, Some(why), Some(time));
            self.writer.write(TraceEvent { kind, why, waited, front, ..*event });
        }
    }

    /// Nothing can be sent from `now` on although something waits.
    fn hold(&mut self, now: u64, open: Classes, why: Why) {
        if self.inner.backlog().packets == 0 {
            return;
        }
        let since = match self.held {
            Some((since, known, before)) if (known, before) == (open, why) => since,
            Some((since, open, why)) => {
                self.spells.push_back(Spell { start: since, end: now, sent: None, open, why });
                now
            }
            None => now,
        };
        self.held = Some((since, open, why));
    }
}

impl Port for TracedPort {
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        let selected = self.writer.selects(env.packets[packet].flow);
        let found = self.inner.backlog().bytes;
        // A packet that is trimmed was queued with its payload.
        let event = selected.then(|| self.event(env.now, EventKind::Queued, env.packets, packet));
        let marks = self.inner.marks();
        let verdict = self.inner.enqueue(env, packet);
        if let Some(event) = event {
            if matches!(verdict.arriving, Fate::Queued | Fate::Trimmed) {
                self.writer.write(TraceEvent { queue: Some(found), ..event });
                self.waiting.push_back(env.now.0);
            }
            if self.inner.marks() > marks {
                self.marked(env, packet, Why::OnArrival, found);
            }
        }
        self.settled(env, packet, verdict.arriving, found);
        if let Some((displaced, fate)) = verdict.displaced {
            if fate != Fate::Trimmed && self.writer.selects(env.packets[displaced].flow) {
                self.leaves(env.packets.meta(displaced).arrived.0);
            }
            self.settled(env, displaced, fate, found);
        }
        verdict
    }

    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue {
        let marks = self.inner.marks();
        let result = self.inner.dequeue(env, open);
        match result {
            Dequeue::Packet(packet) => {
                let marked = self.inner.marks() > marks;
                self.started(env, packet, open, marked);
            }
            Dequeue::NotBefore(_) => self.hold(env.now.0, open, Why::Shaped),
            Dequeue::Empty => self.hold(env.now.0, open, Why::Paused),
        }
        result
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn data_backlog(&self) -> Backlog {
        self.inner.data_backlog()
    }

    fn marks(&self) -> u64 {
        self.inner.marks()
    }

    fn wants(&self, transport: TransportId) -> Classes {
        self.inner.wants(transport)
    }

    fn timed(&self) -> bool {
        self.inner.timed()
    }

    fn deadline(&self) -> Time {
        self.inner.deadline()
    }

    fn wake(&mut self, env: &mut PortEnv<'_>) {
        self.inner.wake(env);
    }
}
