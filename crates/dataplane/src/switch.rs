//! A software switch: what `incast_world` makes of it, and the frames that come and go.

mod crossing;
mod stages;
mod watch;

pub use crossing::{Crossing, one_core_only};

use crate::PacketIo;
use crate::arrival::{Arrived, Here, sort, take_burst};
use crate::frames::Packets;
use crate::line::Line;
use crate::medium::Medium;
use incast_fabric::{PortId, order};
use incast_transport::{
    Classes, Fate, Packet, PacketPool, PacketRef, Port, PortView, Span, Time, Verdict,
};
use incast_world::{
    Ask, Choice, Drops, MOST_CALLS, NEVER, PortParts, PortSeries, Switch, SwitchBuffer,
    Transmitter, Views, Watchdog, drop_or_trim, drop_packet, lose, turn_back, with_displaced,
};
use std::collections::VecDeque;

/// A port of a switch.
pub(crate) struct Egress {
    pub line: Line,
    pub handler: Box<dyn Port>,
    /// What ends pauses that last too long, if ports have it.
    pub watchdog: Option<Box<Watchdog>>,
}

pub(crate) struct SwitchNode<I: PacketIo> {
    pub switch: Switch,
    /// The number of the first port.
    pub first: u32,
    pub egress: Vec<Egress>,
    pub packets: Packets<I::Frame>,
    pub buffer: SwitchBuffer,
    pub arrived: Vec<Arrived>,
    /// Packets of which only the first bytes are here and which are stored until the last is.
    pub stored: Vec<Arrived>,
    /// Ports that may begin a transmission at this instant, in this order, where ports share a buffer
    /// or pause links: there the order matters.
    pub ready: VecDeque<u32>,
    /// Its other cores, if its ports are spread over several.
    pub crossing: Option<Crossing<I::Frame>>,
}

impl Egress {
    /// Bytes that wait or are still to be transmitted of the packet before them.
    fn queue(&self, now: u64) -> u64 {
        let under_way = self.line.transmitter.busy_until.saturating_sub(now);
        self.handler.backlog().bytes + self.line.rate.bytes_in(Span(under_way)).0
    }

    /// When the next packet begins transmission.
    fn start(&self) -> u64 {
        if self.line.held { NEVER } else { self.line.transmitter.next_start() }
    }

    /// The next deadline of its markers, or of its watchdog; only few have any.
    #[inline]
    fn deadline(&self) -> u64 {
        let markers = if self.line.transmitter.timed { self.handler.deadline().0 } else { NEVER };
        self.watchdog.as_ref().map_or(markers, |watchdog| watchdog.deadline().min(markers))
    }

    fn due(&self) -> u64 {
        self.start().min(self.deadline())
    }

    fn view(&self) -> PortView {
        PortView {
            port: self.line.port,
            rate: self.line.rate,
            data: self.handler.data_backlog(),
            all: self.handler.backlog(),
            sent: self.line.sent,
        }
    }

    /// The port in its parts.
    fn split<'a>(
        &'a mut self,
        packets: &'a mut PacketPool,
    ) -> (&'a mut Transmitter, PortParts<'a>) {
        let Line { transmitter, random, series, .. } = &mut self.line;
        (transmitter, PortParts { handler: &mut *self.handler, random, series, packets })
    }
}

/// A switch and what it shares with others.
struct Place<'a, I: PacketIo> {
    node: &'a mut SwitchNode<I>,
    medium: &'a mut Medium<I>,
}

impl<I: PacketIo> Drops for Place<'_, I> {
    fn packets_and_series(&mut self, port: u32) -> (&mut PacketPool, &mut PortSeries) {
        let index = (port - self.node.first) as usize;
        (&mut self.node.packets.pool, &mut self.node.egress[index].line.series)
    }

    #[inline]
    fn give_back(&mut self, port: u32, packet: PacketRef) {
        self.node.give_back(self.medium, port, packet);
    }

    fn note_loss(&mut self, packet: PacketRef, at: u64) {
        self.medium.note_loss(&mut self.node.packets, packet, at);
    }

    fn free(&mut self, _port: u32, packet: PacketRef) {
        self.node.packets.free(&mut self.medium.io, packet);
    }
}

impl<I: PacketIo> SwitchNode<I> {
    /// When it must be visited next.
    pub fn due(&self, medium: &mut Medium<I>) -> u64 {
        let of = |egress: &Egress| {
            let port = egress.line.port;
            if self.is_foreign(port) { NEVER } else { egress.due().min(medium.io.due(port).0) }
        };
        let stored = self.stored.iter().map(|one| one.at);
        self.egress.iter().map(of).chain(stored).min().unwrap_or(NEVER)
    }

    pub fn is_held(&self) -> bool {
        self.egress.iter().any(|egress| egress.line.waits())
    }

    /// Hands what was staged to the links.
    pub fn flush(&mut self, medium: &mut Medium<I>) {
        self.egress.iter_mut().for_each(|egress| egress.line.flush(medium));
    }

    fn port(&mut self, port: u32) -> &mut Egress {
        &mut self.egress[(port - self.first) as usize]
    }

    /// Does what was due before now and takes in what has arrived, in order of time: a pass that comes
    /// late finds frames from before its transmissions.
    pub fn receive(&mut self, medium: &mut Medium<I>) {
        let now = medium.now;
        let pauses = medium.buffers.pfc.is_some();
        let mut arrived = std::mem::take(&mut self.arrived);
        for index in 0..self.egress.len() {
            let port = self.first + index as u32;
            if !self.is_foreign(port) {
                take_burst(medium, &mut self.packets, port, &mut arrived, Here::Switch);
            }
        }
        if self.crossing.is_some() {
            self.take_crossed(medium, &mut arrived);
        }
        arrived.extend(self.stored.extract_if(.., |one| one.at <= now));
        sort(&mut arrived);
        let mut reached = NEVER;
        for one in arrived.drain(..) {
            let now = one.at.clamp(medium.since, now);
            if now != reached {
                (medium.now, reached) = (now, now);
                self.advance(medium, now);
            }
            let charged = self.packets.pool.charged(one.packet);
            let link = self.port(one.port).line.reverse;
            if medium.is_cut_off(link, one.complete, charged) {
                medium.lose_on_link(&mut self.packets, one.packet, now);
            } else if pauses && self.takes_pause(medium, &one) {
                self.make_ready(one.port, now);
                self.packets.free(&mut medium.io, one.packet);
            } else {
                self.packets.pool.stamps_mut(one.packet).ingress = one.port;
                self.take(medium, one);
            }
        }
        self.arrived = arrived;
        medium.now = now;
        if reached != now {
            self.advance(medium, now);
        }
    }

    /// Forwards a packet of which all is here, or which can leave at once; stores another one.
    fn take(&mut self, medium: &mut Medium<I>, one: Arrived) {
        let Arrived { port: back, packet, complete, .. } = one;
        let egress = one.egress.or_else(|| self.choose(medium, back, packet));
        let Some(PortId(port)) = egress else {
            return medium.lose_on_link(&mut self.packets, packet, medium.now);
        };
        if complete > medium.now {
            if !self.begins_at_once(medium, back, port, packet) {
                let key = order::arrival_key(medium.seed, Time(complete), PortId(back));
                self.stored.push(Arrived { at: complete, key, egress, ..one });
                return;
            }
            // The links transmit it at the same time.
            let meta = self.packets.pool.meta_mut(packet);
            meta.serialised = meta.serialised.saturating_sub((complete - medium.now) as u32);
        }
        self.forward(medium, back, port, packet);
    }

    /// Whether a packet of which only the first bytes are here begins transmission at `port` now:
    /// the port is idle, may send its class, and is no faster than the packet arrives.
    fn begins_at_once(
        &mut self,
        medium: &Medium<I>,
        back: u32,
        port: u32,
        packet: PacketRef,
    ) -> bool {
        let fabric = &medium.fabric;
        let arriving = fabric.port(fabric.port(PortId(back)).reverse).rate;
        let class = self.packets.pool[packet].class;
        let line = &self.port(port).line;
        line.rate <= arriving && line.transmitter.is_free(medium.now, class)
    }

    /// The egress of a packet that came through the link whose reverse path is `back`.
    #[inline]
    fn choose(&mut self, medium: &Medium<I>, back: u32, packet: PacketRef) -> Option<PortId> {
        let SwitchNode { switch, packets, egress, first, .. } = self;
        let content = &packets.pool[packet];
        match medium.choose(switch.node(), back, content) {
            Choice::Ask(Ask::Conga) => {
                let (routes, now) = (&medium.routes, Time(medium.now));
                switch.tag(routes, medium.seed, &mut packets.pool, packet, now)
            }
            Choice::Ask(ask) => {
                let now = medium.now;
                let mut queue = |port: PortId| egress[(port.0 - *first) as usize].queue(now);
                switch.ask(ask, &medium.routes, medium.seed, content, Time(now), &mut queue)
            }
            choice => switch.egress(choice, &medium.routes, medium.seed, content),
        }
    }

    /// Chooses the egress of a packet that came through the link whose reverse path is `back`, and
    /// forwards it.
    fn route(&mut self, medium: &mut Medium<I>, back: u32, packet: PacketRef) {
        match self.choose(medium, back, packet) {
            Some(port) => self.forward(medium, back, port.0, packet),
            None => medium.lose_on_link(&mut self.packets, packet, medium.now),
        }
    }

    #[inline]
    fn forward(&mut self, medium: &mut Medium<I>, back: u32, port: u32, packet: PacketRef) {
        if self.is_foreign(port) {
            return self.hand_over(medium, back, port, packet);
        }
        match self.switch.has_hooks() {
            true => self.call_hooks(medium, back, port, packet),
            false => self.enqueue(medium, port, packet),
        }
    }

    /// Lets the hooks of the packet's transport see it, and sends what they emit.
    fn call_hooks(&mut self, medium: &mut Medium<I>, back: u32, port: u32, packet: PacketRef) {
        let now = medium.now;
        let views = Views { back: self.port(back).view(), egress: self.port(port).view() };
        let decisions =
            self.switch.decide(now, &mut medium.probe, &mut self.packets.pool, views, packet);
        for reply in decisions.replies() {
            self.enqueue(medium, back, reply);
        }
        if decisions.drop() {
            lose(&mut Place { node: self, medium }, port, packet, now);
        } else {
            self.enqueue(medium, port, packet);
        }
        for follow in decisions.follows() {
            self.enqueue(medium, port, follow);
        }
    }

    /// A packet wants to leave by `port`, now.
    #[inline]
    fn enqueue(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef) {
        let now = medium.now;
        let Transmitter { tier, dead, .. } = self.port(port).line.transmitter;
        let meta = self.packets.pool.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(now), tier);
        if dead || self.is_stuck(port, packet) || !self.admit(medium, port, packet) {
            return drop_packet(&mut Place { node: self, medium }, port, packet, now);
        }
        let egress = &mut self.egress[(port - self.first) as usize];
        let (transmitter, parts) = egress.split(&mut self.packets.pool);
        let verdict = transmitter.enqueue(parts, packet, now);
        if medium.buffers.any() {
            self.make_ready(port, now);
        }
        if verdict != Verdict::only(Fate::Queued) {
            self.settle(medium, port, packet, verdict);
        }
    }

    /// Notes a port that may begin a transmission now, after those that were noted before.
    fn make_ready(&mut self, port: u32, now: u64) {
        if self.port(port).due() <= now && !self.ready.contains(&port) {
            self.ready.push_back(port);
        }
    }

    /// What becomes of packets that did not simply join the queue.
    fn settle(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef, verdict: Verdict) {
        let now = medium.now;
        let mut place = Place { node: self, medium };
        with_displaced(&mut place, port, packet, verdict, now, |place, packet, fate| {
            if fate == Fate::Bounced {
                turn_back(place, port, packet, now);
                place.node.route(place.medium, port, packet);
            } else {
                drop_or_trim(place, port, packet, fate, now);
            }
        });
    }

    /// Whether the buffers take the packet; admits it if so.
    #[inline]
    fn admit(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef) -> bool {
        if !medium.buffers.any() {
            return true;
        }
        let (rules, detector) = (&medium.buffers, medium.detector.as_mut());
        let (fits, announces) =
            self.buffer.admit(rules, detector, port, &mut self.packets.pool, packet);
        self.announce(announces, medium.now);
        fits
    }

    /// Gives a packet's share of the buffers back.
    fn give_back(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef) {
        if medium.buffers.any() {
            let (rules, detector) = (&medium.buffers, medium.detector.as_mut());
            let stamps = self.packets.pool.stamps_mut(packet);
            let announces = self.buffer.release(rules, detector, port, stamps);
            self.announce(announces, medium.now);
        }
    }

    fn announce(&mut self, port: Option<u32>, now: u64) {
        if let Some(port) = port {
            self.port(port).line.transmitter.announce(now);
            self.make_ready(port, now);
        }
    }

    /// Does what is due before `until`.
    pub fn advance(&mut self, medium: &mut Medium<I>, until: u64) {
        if medium.buffers.any() && until > medium.now {
            self.advance_in_order(medium, until);
        }
        for index in 0..self.egress.len() {
            self.advance_port(medium, index, until);
        }
    }

    /// The ports that were noted at this instant, then those that have just become idle, as in the
    /// simulator. What one of them gives back lets another pause or resume its link.
    fn advance_in_order(&mut self, medium: &mut Medium<I>, until: u64) {
        let first = self.first;
        (first..first + self.egress.len() as u32)
            .for_each(|port| self.make_ready(port, medium.now));
        while let Some(port) = self.ready.pop_front() {
            self.advance_port(medium, (port - first) as usize, until);
        }
    }

    /// What is due before `until` at one port.
    fn advance_port(&mut self, medium: &mut Medium<I>, index: usize, until: u64) {
        let line = &mut self.egress[index].line;
        if line.is_released(medium) {
            line.transmitter.resume = line.transmitter.resume.max(medium.now);
        }
        let (mut calls, mut last) = (0, NEVER);
        loop {
            let egress = &mut self.egress[index];
            let (start, deadline) = (egress.start(), egress.deadline());
            let next = start.min(deadline);
            if next >= until {
                break;
            }
            calls = if next == last { calls + 1 } else { 0 };
            last = next;
            if calls >= MOST_CALLS {
                return self.stand_still(medium, index);
            }
            if deadline <= start {
                self.wake(medium, index, deadline);
            } else if egress.line.has_room(medium) {
                self.transmit(medium, index, start);
            }
        }
    }

    /// The line is free at `start`, and something waits.
    #[inline]
    fn transmit(&mut self, medium: &mut Medium<I>, index: usize, start: u64) {
        let port = self.first + index as u32;
        let (transmitter, parts) = self.egress[index].split(&mut self.packets.pool);
        if transmitter.pausing {
            let frame = transmitter.pause_frame(parts, self.buffer.link(port), start);
            let waiting = transmitter.waiting;
            if let Some((packet, backlog)) = frame {
                return self.send(medium, index, packet, start, backlog);
            } else if !waiting {
                return;
            }
        }
        let (transmitter, parts) = self.egress[index].split(&mut self.packets.pool);
        let next = transmitter.dequeue(parts, start);
        if let Some((packet, backlog)) = next {
            self.give_back(medium, port, packet);
            self.send(medium, index, packet, start, backlog);
        }
    }

    #[inline]
    fn send(
        &mut self,
        medium: &mut Medium<I>,
        index: usize,
        packet: PacketRef,
        start: u64,
        backlog: u64,
    ) {
        // Packets that a switch makes have no payload.
        let fill = |_: &Packet, out: &mut [u8]| out.fill(0);
        let line = &mut self.egress[index].line;
        line.send(medium, &mut self.packets, packet, start, backlog, fill);
    }

    /// Runs the timers of this instant.
    pub fn run_timers(&mut self, medium: &mut Medium<I>) {
        for index in 0..self.egress.len() {
            if self.egress[index].deadline() <= medium.now {
                self.wake(medium, index, medium.now);
            }
        }
    }

    /// Links may have failed, or work again.
    pub fn change_links(&mut self, medium: &mut Medium<I>) {
        for index in 0..self.egress.len() {
            let down = medium.is_down(self.first + index as u32);
            match (self.egress[index].line.transmitter.dead, down) {
                (false, true) => self.fail(medium, index),
                (true, false) => self.reconnect(medium, index),
                _ => {}
            }
        }
    }

    /// Whatever waits at a port whose link has just failed is lost.
    fn fail(&mut self, medium: &mut Medium<I>, index: usize) {
        let now = medium.now;
        self.egress[index].line.transmitter.dead = true;
        self.strand(medium, index, Classes::ALL);
        let line = &mut self.egress[index].line;
        line.transmitter.waiting = false;
        line.series.set_backlog(now, 0);
    }

    /// The link of a port works again: nothing waits there, and nothing is paused. The switch pauses
    /// again what it still cannot take.
    fn reconnect(&mut self, medium: &mut Medium<I>, index: usize) {
        let port = self.first + index as u32;
        let Egress { line, handler, watchdog } = &mut self.egress[index];
        *watchdog = Watchdog::of(&medium.buffers).map(Box::new);
        line.reconnect(medium, handler.marks());
        if medium.buffers.pfc.is_some() && self.buffer.link(port).reconnect() {
            self.announce(Some(port), medium.now);
        }
    }
}
