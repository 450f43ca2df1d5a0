//! Switch ports: enqueue, lazy dequeue, accounting.

use crate::egress::{Egress, PortBody, tx_time};
use crate::mark;
use crate::network::Network;
use crate::transit::Transit;
use incast_transport::{Classes, Fate, PacketRef, PortEnv, Span, Time, Verdict};
use incast_world::{LinkState, PortParts, Transmitter, drop_packet};

impl Network {
    /// Splits a port into its transmitter and the other parts.
    #[inline(always)]
    fn split(&mut self, port: u32) -> (&mut Transmitter, PortParts<'_>) {
        let index = port as usize;
        self.egress[index].split(&mut self.bodies[index], &mut self.transit.packets)
    }

    /// Enqueues a packet at `port`. The caller handles dropped, trimmed, bounced and displaced
    /// packets.
    #[inline]
    pub fn enqueue(&mut self, port: u32, packet: PacketRef) -> Verdict {
        let now = self.now();
        let index = port as usize;
        if self.egress[index].in_order {
            self.enqueue_in_order(port, packet);
            return Verdict::only(Fate::Queued);
        }
        self.advance_port(port, now);
        let transmitter = &self.egress[index].transmitter;
        let meta = self.transit.packets.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(now), transmitter.tier);
        if transmitter.dead || !self.admit(port, packet) {
            drop_packet(self, port, packet, now);
            return Verdict::only(Fate::Queued);
        }
        let (transmitter, parts) = self.split(port);
        let verdict = transmitter.enqueue(parts, packet, now);
        self.rearm_port(port);
        verdict
    }

    /// Bytes that wait at `port` now or are still to be transmitted of the packet before them.
    pub fn queue(&mut self, port: u32, now: u64) -> u64 {
        let index = port as usize;
        let (waiting, busy_until) = if self.egress[index].in_order {
            self.drain_fifo(port, now);
            let Egress { fifo, transmitter, .. } = &self.egress[index];
            (fifo.backlog().bytes, fifo.next().unwrap_or(transmitter.busy_until))
        } else {
            self.advance_port(port, now);
            let handler = self.bodies[index].handler.as_ref();
            let waiting = handler.map_or(0, |handler| handler.backlog().bytes);
            (waiting, self.egress[index].transmitter.busy_until)
        };
        let rate = self.transit.common.fabric.ports()[index].rate;
        waiting + rate.bytes_in(Span(busy_until.saturating_sub(now))).0
    }

    /// Whether a packet of which only the first bytes have arrived by `link` begins transmission
    /// at `port` now: the port is idle, may send the packet's class, and is no faster than `link`.
    pub fn begins_at_once(&mut self, link: u32, port: u32, packet: PacketRef) -> bool {
        let now = self.now();
        self.advance_port(port, now);
        let ports = self.transit.common.fabric.ports();
        let no_faster = ports[port as usize].rate <= ports[link as usize].rate;
        let class = self.transit.packets[packet].class;
        no_faster && self.egress[port as usize].transmitter.is_free(now, class)
    }

    /// Schedules the next update of a backlogged port.
    #[inline]
    pub fn rearm_port(&mut self, port: u32) {
        let transit = &mut self.transit;
        self.egress[port as usize].rearm(&mut transit.agenda, &mut transit.packets, port);
    }

    /// Performs every transmission that starts before `until`.
    #[inline(always)]
    pub fn advance_port(&mut self, port: u32, until: u64) {
        let transmitter = &self.egress[port as usize].transmitter;
        if transmitter.timed {
            self.advance_timed(port, until);
        } else if transmitter.waiting && transmitter.start() < until {
            self.advance_waiting(port, until);
        }
    }

    fn advance_waiting(&mut self, port: u32, until: u64) {
        loop {
            let transmitter = &self.egress[port as usize].transmitter;
            if !transmitter.waiting || transmitter.start() >= until {
                return;
            }
            self.dequeue(port, transmitter.start());
        }
    }

    /// Like [`advance_port`](Network::advance_port), for a port with deadlines, which are ordered
    /// with its transmissions. They need no events: a marker's state matters only when the port is
    /// accessed.
    fn advance_timed(&mut self, port: u32, until: u64) {
        loop {
            let (transmitter, mut parts) = self.split(port);
            let start = transmitter.next_start();
            let deadline = parts.handler.deadline().0;
            if start.min(deadline) >= until {
                return;
            }
            if start < deadline {
                self.dequeue(port, start);
            } else {
                parts.wake(port, deadline);
            }
        }
    }

    fn dequeue(&mut self, port: u32, start: u64) {
        if self.egress[port as usize].transmitter.pausing
            && (self.send_pause(port, start) || !self.egress[port as usize].transmitter.waiting)
        {
            return;
        }
        let (transmitter, parts) = self.split(port);
        if let Some((packet, backlog)) = transmitter.dequeue(parts, start) {
            self.release(port, packet);
            self.send_by(port, packet, start, backlog);
        }
    }

    /// Sends a pause frame with the changed classes; false if none has changed.
    #[cold]
    fn send_pause(&mut self, port: u32, start: u64) -> bool {
        let index = port as usize;
        let node = self.node_of(port);
        let link = self.buffers.of(node).0.link(port);
        let (transmitter, parts) =
            self.egress[index].split(&mut self.bodies[index], &mut self.transit.packets);
        let Some((packet, backlog)) = transmitter.pause_frame(parts, link, start) else {
            return false;
        };
        self.send_by(port, packet, start, backlog);
        true
    }

    /// Handles a port's timer: a shaper has tokens again, or an eager port is idle.
    pub fn port_timer(&mut self, port: u32) {
        let now = self.now();
        let egress = &mut self.egress[port as usize];
        if egress.timer == now {
            egress.timer = u64::MAX;
        }
        self.advance_port(port, now);
        if self.buffers.watching(port).is_some_and(|watchdog| watchdog.deadline() <= now) {
            self.watch(port);
        }
        self.rearm_port(port);
    }

    /// The deadline of a port's watchdog has come.
    #[cold]
    fn watch(&mut self, port: u32) {
        let now = self.now();
        let Some(watchdog) = self.buffers.watching(port) else { return };
        let stuck = watchdog.expire(now);
        let (open, drops) = (watchdog.open(), watchdog.drops());
        self.watch_on(port);
        let marks = self.split(port).1.handler.marks();
        let egress = &mut self.egress[port as usize];
        egress.series.stuck(now, stuck.count_ones());
        if open != egress.transmitter.open {
            egress.transmitter.set_open(&mut egress.series, marks, now, open);
            self.buffers.set_open(port, open);
        }
        while let Some(packet) = self.split(port).1.strand(now, Classes(stuck & drops)) {
            self.release(port, packet);
            drop_packet(self, port, packet, now);
        }
        let (transmitter, parts) = self.split(port);
        transmitter.stranded(parts, now);
    }

    /// Schedules the next deadline of a port's watchdog.
    pub fn watch_on(&mut self, port: u32) {
        let deadline = self.buffers.watching(port).map_or(u64::MAX, |watchdog| watchdog.deadline());
        if deadline != u64::MAX {
            self.transit.agenda.schedule_port(deadline, port);
        }
    }

    /// Drops all packets queued at a switch port whose link has failed.
    pub fn fail_port(&mut self, port: u32) {
        let now = self.now();
        self.advance_port(port, now);
        while let Some(packet) = self.split(port).1.strand(now, Classes::ALL) {
            self.release(port, packet);
            drop_packet(self, port, packet, now);
        }
        let egress = &mut self.egress[port as usize];
        egress.transmitter.waiting = false;
        egress.series.set_backlog(now, 0);
    }

    /// The link of a switch port works again: nothing waits there, and nothing is paused. The switch
    /// pauses again what it still cannot take.
    pub fn reconnect_port(&mut self, port: u32) {
        let (now, node) = (self.now(), self.node_of(port));
        self.advance_port(port, now);
        self.buffers.forget(port);
        let marks = self.split(port).1.handler.marks();
        let egress = &mut self.egress[port as usize];
        if egress.transmitter.reconnect(&mut egress.series, marks, now) {
            self.buffers.set_open(port, u8::MAX);
        }
        if self.buffers.pauses && self.buffers.of(node).0.link(port).reconnect() {
            self.announce(Some(port));
        }
    }

    /// Whether a packet that arrives over the link of `port` is lost, because the link was down at an
    /// instant since its transmission began. Impaired packets have left the link.
    #[cold]
    pub fn is_cut_off(&self, port: u32, packet: PacketRef, marks: u8) -> bool {
        let link = self.transit.links[port as usize];
        if link == LinkState::Whole || marks & mark::IMPAIRED != 0 {
            return false;
        }
        let (meta, egress) = (self.transit.packets.meta(packet), &self.egress[port as usize]);
        let last_bit = if marks & mark::HEAD != 0 { meta.arrived.0 } else { self.now() };
        let tx = tx_time(&self.transit.common.fabric, port, egress.byte_ps, meta.charged);
        link.loses(last_bit - tx - egress.propagation)
    }

    /// Enqueues a packet at `port`, which is in order.
    #[inline]
    pub fn enqueue_in_order(&mut self, port: u32, packet: PacketRef) {
        let (now, index) = (self.now(), port as usize);
        let transit = &mut self.transit;
        let egress = &mut self.egress[index];
        let (byte_ps, fabric) = (egress.byte_ps, &transit.common.fabric);
        let tx = |charged| tx_time(fabric, port, byte_ps, charged);
        let (fifo, series) = (&mut egress.fifo, &mut egress.series);
        let PortBody { handler, random, .. } = &mut self.bodies[index];
        let handler = handler.as_mut().expect("a switch port has a handler");
        transit.hops += fifo.drain(now, tx, &**handler, series);
        if series.over(now) {
            series.set_marks(handler.marks());
        }
        let mut env = PortEnv { now: Time(now), random, packets: &mut transit.packets };
        if !handler.accept(&mut env, packet, fifo.backlog(), fifo.sent) {
            let meta = transit.packets.meta_mut(packet);
            (meta.arrived, meta.tier) = (Time(now), egress.transmitter.tier);
            series.rare(now).drops += 1;
            return transit.lose(packet);
        }
        let charged = transit.packets.charged(packet) as u16;
        let start = egress.transmitter.busy_until.max(now);
        fifo.push(start, charged);
        series.set_backlog(now, fifo.backlog().bytes);
        let tx = tx(charged);
        egress.transmitter.busy_until = start + tx;
        let mut at = start + tx + egress.propagation;
        let tier = egress.transmitter.tier;
        // Only stamps of data packets are read, but a branch would cost more.
        transit.packets.stamps_mut(packet).wait(port, tier, start - now);
        if transit.notices {
            at = transit.notice(egress, port, packet, at, tx);
        }
        let next = transit.next_egress(egress.peer, egress.reverse, packet, at);
        let meta = transit.packets.meta_mut(packet);
        (meta.tier, meta.link, meta.next) = (tier, port, next);
        if meta.mark & mark::HEAD == 0 {
            meta.arrived = Time(now);
        }
        meta.serialised = meta.serialised.saturating_add(tx.min(u32::MAX as u64) as u32);
        transit.hand_over(egress, packet, at);
    }

    /// Accounts for the transmissions that start before `until`.
    #[inline]
    pub fn drain_fifo(&mut self, port: u32, until: u64) {
        let egress = &mut self.egress[port as usize];
        let (byte_ps, fabric) = (egress.byte_ps, &self.transit.common.fabric);
        let tx = |charged| tx_time(fabric, port, byte_ps, charged);
        if let Some(handler) = &self.bodies[port as usize].handler {
            self.transit.hops += egress.fifo.drain(until, tx, &**handler, &mut egress.series);
        }
    }

    /// Performs the transmissions towards other partitions before `end`, after all events before
    /// `end`. Returns the time of the next event or transmission.
    pub fn close_window(&mut self, end: u64) -> u64 {
        debug_assert!(self.transit.agenda.kicks.is_empty());
        let Transit { agenda, border, .. } = &self.transit;
        let mut next = agenda.queue.earliest().min(border.batches.earliest());
        for index in 0..self.transit.border.cut_ports.len() {
            let port = self.transit.border.cut_ports[index];
            if self.egress.get(port as usize).is_none() {
                continue;
            }
            self.advance_port(port, end);
            next = next.min(self.egress[port as usize].transmitter.next_start());
        }
        let crossings = self.transit.border.outboxes.iter().flat_map(|outbox| &outbox.packets);
        crossings.fold(next, |next, crossing| next.min(crossing.at))
    }

    /// Performs every transmission of a switch that starts before `end`.
    pub fn settle_until(&mut self, end: u64) {
        for port in self.egress.numbers() {
            if self.egress[port as usize].in_order {
                self.drain_fifo(port, end);
            }
            let body = &self.bodies[port as usize];
            if body.handler.is_some() && self.egress[port as usize].transmitter.waiting {
                self.advance_port(port, end);
            }
        }
    }
}
