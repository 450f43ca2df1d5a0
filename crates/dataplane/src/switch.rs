//! A software switch: routes, hooks, ports, a shared buffer.

use crate::PacketIo;
use crate::line::Line;
use crate::node::{
    Arrived, MOST_CALLS, Medium, earliest, note_open, routing_of, sort, start_if, take_burst,
};
use incast_fabric::{NodeId, PortId};
use incast_transport::{
    Classes, Decision, Dequeue, Fate, PacketPool, PacketRef, Port, PortEnv, PortView, Random,
    Stamps, SwitchEnv, SwitchHook, Time, Verdict, flag,
};
use incast_world::{Books, Buffers, Choice, Ingress, OWN, Standstill, Turns, choose, heading};

/// Most hooks that one transport may have at a switch.
const MOST_HOOKS: usize = 4;

/// A port of a switch.
pub(crate) struct Egress {
    pub line: Line,
    pub handler: Box<dyn Port>,
    /// Packets wait.
    pub waiting: bool,
    /// Earliest start of the next transmission for other reasons than the line.
    pub resume: u64,
    /// Bytes booked in the shared buffer.
    pub booked: u64,
    /// A pause frame may have to leave.
    pub pausing: bool,
    /// Its link has failed.
    pub dead: bool,
}

pub(crate) struct SwitchNode {
    pub node: NodeId,
    /// The number of the first port.
    pub first: u32,
    pub egress: Vec<Egress>,
    pub pool: PacketPool,
    pub hooks: Vec<Box<dyn SwitchHook>>,
    pub random: Random,
    pub turns: Turns,
    /// Bytes of the shared buffer in use.
    pub used: u64,
    pub arrived: Vec<Arrived>,
}

impl Egress {
    fn start(&self) -> u64 {
        start_if(self.waiting, self.line.busy_until.max(self.resume))
    }

    fn due(&self) -> u64 {
        earliest(self.start(), self.line.held, self.handler.deadline().0)
    }

    fn view(&self) -> PortView {
        PortView {
            port: self.line.port,
            rate: self.line.rate,
            data: self.handler.data_backlog(),
            sent: self.line.sent,
        }
    }

    /// The interval of the series may end at `now`: the marks so far belong to it.
    fn note_marks(&mut self, now: u64) {
        if self.line.series.over(now) {
            self.line.series.set_marks(self.handler.marks());
        }
    }

    /// A pause frame has to leave before anything else.
    fn announce(&mut self, now: u64) {
        self.pausing = true;
        if !self.waiting || self.resume > now {
            self.resume = now;
        }
        self.waiting = true;
    }

    fn wake(&mut self, pool: &mut PacketPool, at: u64) {
        let (now, random) = (Time(at), &mut self.line.random);
        self.handler.wake(&mut PortEnv { now, random, packets: pool });
        let next = self.handler.deadline().0;
        assert!(next > at, "port {}: deadline {next} ps after wake at {at}", self.line.port);
    }

    fn dequeue(&mut self, pool: &mut PacketPool, at: u64) -> Dequeue {
        let open = if self.dead { Classes::ALL } else { self.line.open() };
        let (now, random) = (Time(at), &mut self.line.random);
        self.handler.dequeue(&mut PortEnv { now, random, packets: pool }, open)
    }
}

impl SwitchNode {
    /// When it must be visited next.
    pub fn due<I: PacketIo>(&self, medium: &Medium<I>) -> u64 {
        let of = |egress: &Egress| egress.due().min(medium.io.due(egress.line.port).0);
        self.egress.iter().map(of).min().unwrap_or(u64::MAX)
    }

    pub fn is_held(&self) -> bool {
        self.egress.iter().any(|egress| egress.line.held)
    }

    fn port(&mut self, port: u32) -> &mut Egress {
        &mut self.egress[(port - self.first) as usize]
    }

    /// Takes in what has arrived.
    pub fn receive<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        let now = medium.now;
        let mut arrived = std::mem::take(&mut self.arrived);
        for egress in &self.egress {
            take_burst(medium, &mut self.pool, egress.line.port, &mut arrived, |_| true);
        }
        sort(&mut arrived);
        for one in arrived.drain(..) {
            if medium.dead[self.port(one.port).line.reverse as usize] {
                medium.tally.link_losses += 1;
                self.pool.free(one.packet);
            } else if let Some(opened) = self.egress[(one.port - self.first) as usize]
                .line
                .heed(now, &self.pool[one.packet].header)
            {
                self.pool.free(one.packet);
                note_open(medium, &self.port(one.port).line);
                let egress = self.port(one.port);
                if opened && egress.waiting {
                    egress.resume = now;
                }
            } else {
                self.pool.stamps_mut(one.packet).ingress = one.port;
                self.route(medium, one.port, one.packet);
            }
        }
        self.arrived = arrived;
    }

    /// Chooses the egress of a packet that came through the link whose way back is `back`, and
    /// forwards it.
    fn route<I: PacketIo>(&mut self, medium: &mut Medium<I>, back: u32, packet: PacketRef) {
        let content = &self.pool[packet];
        let routing = routing_of(medium, content.transport);
        let place = (self.node, PortId(back));
        let (routes, seed, now) = (&medium.routes, medium.seed, Time(medium.now));
        let chosen = match choose(&medium.fabric, routes, routing, seed, place, content, now) {
            Choice::Port(port) => Some(port),
            Choice::Turn => self.turns.next(routes, seed, self.node, heading(content)),
            Choice::Nowhere => None,
        };
        match chosen {
            Some(port) if self.hooks.is_empty() => self.enqueue(medium, port.0, packet),
            Some(port) => self.call_hooks(medium, back, port.0, packet),
            None => {
                medium.tally.link_losses += 1;
                self.pool.free(packet);
            }
        }
    }

    /// Lets the hooks of the packet's transport see it, and sends what they emit.
    fn call_hooks<I: PacketIo>(
        &mut self,
        medium: &mut Medium<I>,
        back: u32,
        port: u32,
        packet: PacketRef,
    ) {
        let (back_view, egress_view) = (self.port(back).view(), self.port(port).view());
        let transport = self.pool[packet].transport;
        let mut decisions = [Decision::default(); MOST_HOOKS];
        let own = self.hooks.iter_mut().filter(|hook| hook.transport() == transport);
        for (decision, hook) in decisions.iter_mut().zip(own) {
            let mut env = SwitchEnv {
                now: Time(medium.now),
                random: &mut self.random,
                packets: &mut self.pool,
                probe: &mut medium.probe,
                back: back_view,
                egress: egress_view,
            };
            *decision = hook.forward(&mut env, packet);
        }
        for reply in decisions.iter().filter_map(|decision| decision.reply) {
            self.pool.stamps_mut(reply).ingress = OWN;
            self.enqueue(medium, back, reply);
        }
        if decisions.iter().any(|decision| decision.drop) {
            self.pool.free(packet);
        } else {
            self.enqueue(medium, port, packet);
        }
        for follow in decisions.iter().filter_map(|decision| decision.follow) {
            self.pool.stamps_mut(follow).ingress = OWN;
            self.enqueue(medium, port, follow);
        }
    }

    /// A packet wants to leave by `port`, now.
    fn enqueue<I: PacketIo>(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef) {
        let now = medium.now;
        let dead = self.port(port).dead;
        if dead || !self.admit(medium, port, packet) {
            self.drop_packet(port, packet, now);
            return;
        }
        let egress = &mut self.egress[(port - self.first) as usize];
        let tier = medium.fabric.ports()[port as usize].tier as u8;
        let meta = self.pool.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(now), tier);
        egress.note_marks(now);
        let random = &mut egress.line.random;
        let mut env = PortEnv { now: Time(now), random, packets: &mut self.pool };
        let verdict = egress.handler.enqueue(&mut env, packet);
        let backlog = egress.handler.backlog();
        egress.line.series.set_backlog(now, backlog.bytes);
        if !egress.waiting || egress.resume > now {
            egress.resume = now;
        }
        egress.waiting = backlog.packets > 0 || egress.pausing;
        self.settle(medium, port, packet, verdict);
    }

    fn drop_packet(&mut self, port: u32, packet: PacketRef, now: u64) {
        let header = self.pool[packet].header;
        self.port(port).line.series.dropped(now, &header);
        self.pool.free(packet);
    }

    /// What becomes of packets that did not simply join the queue.
    fn settle<I: PacketIo>(
        &mut self,
        medium: &mut Medium<I>,
        port: u32,
        packet: PacketRef,
        verdict: Verdict,
    ) {
        let fates = [Some((packet, verdict.arriving)), verdict.displaced];
        for (packet, fate) in fates.into_iter().flatten() {
            let now = medium.now;
            match fate {
                Fate::Queued => {}
                Fate::Trimmed => self.port(port).line.series.rare(now).trims += 1,
                Fate::Dropped => {
                    self.give_back(medium, port, packet);
                    self.drop_packet(port, packet, now);
                }
                Fate::Bounced => {
                    self.give_back(medium, port, packet);
                    if self.pool[packet].is_data() {
                        self.pool.trim(packet);
                    }
                    assert!(!self.pool[packet].has(flag::BOUNCED), "a packet is bounced once");
                    self.pool[packet].flags |= flag::BOUNCED;
                    // It goes back where packets come from: no link may be paused for it.
                    self.pool.stamps_mut(packet).ingress = OWN;
                    self.route(medium, port, packet);
                }
            }
        }
    }

    /// Whether the buffers take the packet; books it if so.
    fn admit<I>(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef) -> bool {
        let of = (self.pool[packet].class, self.pool.charged(packet));
        let book =
            |buffers: &Buffers, books: Books<'_>, stamps: &mut _| buffers.book(books, stamps, of);
        let fits = self.account(medium, port, packet, book);
        if fits {
            self.note_wait(medium, port, packet, Standstill::wait);
        }
        fits
    }

    /// Gives a packet's share of the buffers back.
    fn give_back<I>(&mut self, medium: &mut Medium<I>, port: u32, packet: PacketRef) {
        self.note_wait(medium, port, packet, Standstill::leave);
        self.account(medium, port, packet, |buffers, books, stamps| buffers.release(books, stamps));
    }

    /// Keeps the books on who waits for whom.
    fn note_wait<I>(
        &self,
        medium: &mut Medium<I>,
        port: u32,
        packet: PacketRef,
        note: impl FnOnce(&mut Standstill, u32, u32, (u8, u32)),
    ) {
        let stamps = self.pool.stamps(packet);
        if let Some(standstill) = &mut medium.standstill
            && let Some(of) = medium.buffers.guarded(stamps)
        {
            note(standstill, stamps.ingress, port, of);
        }
    }

    /// What the link into a port of this switch holds of a class up to its threshold.
    pub fn below(&self, port: u32, class: u8) -> u64 {
        self.egress[(port - self.first) as usize].line.link.below(class)
    }

    /// Does something with the books that concern a packet at `port`; what changes for the link it
    /// came by is announced there, before anything else leaves.
    fn account<I, T>(
        &mut self,
        medium: &Medium<I>,
        port: u32,
        packet: PacketRef,
        what: impl FnOnce(&Buffers, Books<'_>, &mut Stamps) -> T,
    ) -> T {
        let stamps = self.pool.stamps_mut(packet);
        let ingress = stamps.ingress.wrapping_sub(self.first) as usize;
        let with_link = medium.buffers.pfc.is_some() && ingress < self.egress.len();
        let mut link = if with_link { self.egress[ingress].line.link } else { Ingress::default() };
        let before = link.paused;
        let mut queued = self.egress[(port - self.first) as usize].booked;
        let books = Books {
            used: &mut self.used,
            queued: &mut queued,
            link: with_link.then_some(&mut link),
        };
        let result = what(&medium.buffers, books, stamps);
        self.egress[(port - self.first) as usize].booked = queued;
        if with_link {
            let egress = &mut self.egress[ingress];
            egress.line.link = link;
            if link.paused != before {
                egress.announce(medium.now);
            }
        }
        result
    }

    /// Does what is due before `until`.
    pub fn advance<I: PacketIo>(&mut self, medium: &mut Medium<I>, until: u64) {
        for index in 0..self.egress.len() {
            let egress = &mut self.egress[index];
            if egress.line.is_released(medium) {
                egress.resume = egress.resume.max(medium.now);
            }
            let mut calls = 0;
            while self.egress[index].due() < until {
                calls += 1;
                assert!(calls < MOST_CALLS, "port {} lets no time pass", self.first + index as u32);
                let egress = &mut self.egress[index];
                let (start, deadline) = (egress.start(), egress.handler.deadline().0);
                if deadline <= start || egress.line.held {
                    egress.wake(&mut self.pool, deadline);
                } else if egress.line.has_room(medium) {
                    self.transmit(medium, index, start);
                }
            }
        }
    }

    /// The line is free at `start`, and something waits.
    fn transmit<I: PacketIo>(&mut self, medium: &mut Medium<I>, index: usize, start: u64) {
        let egress = &mut self.egress[index];
        if egress.pausing {
            egress.pausing = false;
            let backlog = egress.handler.backlog();
            egress.waiting = backlog.packets > 0;
            if let Some(frame) = egress.line.link.frame() {
                egress.line.series.told(start, &frame.header);
                let packet = self.pool.create(frame);
                egress.line.send(medium, &mut self.pool, packet, start, backlog.bytes);
                return;
            }
            if !egress.waiting {
                return;
            }
        }
        egress.note_marks(start);
        match egress.dequeue(&mut self.pool, start) {
            Dequeue::Packet(packet) => {
                let backlog = egress.handler.backlog();
                egress.waiting = backlog.packets > 0;
                self.give_back(medium, self.first + index as u32, packet);
                let line = &mut self.egress[index].line;
                line.send(medium, &mut self.pool, packet, start, backlog.bytes);
            }
            Dequeue::NotBefore(at) => {
                assert!(at.0 > start, "a shaper may not name the present");
                egress.resume = at.0;
            }
            // Something waits, but in a closed class.
            Dequeue::Empty => egress.resume = u64::MAX,
        }
    }

    /// Runs the timers of this instant.
    pub fn run_timers<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        for egress in &mut self.egress {
            if egress.handler.deadline().0 <= medium.now {
                egress.wake(&mut self.pool, medium.now);
            }
        }
    }

    /// Whatever waits at a port whose link has just failed is lost.
    pub fn fail<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        let now = medium.now;
        for index in 0..self.egress.len() {
            let port = self.first + index as u32;
            let egress = &mut self.egress[index];
            if egress.dead || !medium.dead[port as usize] {
                continue;
            }
            egress.dead = true;
            while let Dequeue::Packet(packet) = self.egress[index].dequeue(&mut self.pool, now) {
                self.give_back(medium, port, packet);
                self.drop_packet(port, packet, now);
            }
            let egress = &mut self.egress[index];
            egress.waiting = false;
            egress.line.series.set_backlog(now, 0);
        }
    }
}
