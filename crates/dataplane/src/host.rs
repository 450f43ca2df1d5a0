//! A host: its transports, its NIC and its timers.

use crate::PacketIo;
use crate::line::Line;
use crate::node::{Arrived, MOST_CALLS, Medium, earliest, note_open, sort, take_burst};
use crate::schedule::NEVER;
use incast_fabric::{PortId, order};
use incast_transport::{
    Classes, Dequeue, Env, Fate, FlowId, Host, HostClock, HostId, Meta, Packet, PacketPool,
    PacketRef, Port, PortEnv, Random, Stamps, Time, TransportId, Verdict, flag,
};
use incast_world::{Faults, pull};

pub(crate) struct HostNode {
    pub host: HostId,
    pub line: Line,
    pub pool: PacketPool,
    pub transports: Vec<(TransportId, Box<dyn Host>)>,
    /// A port of the NIC's own, if something shapes or marks there.
    pub nic: Option<Box<dyn Port>>,
    pub random: Random,
    pub fault_random: Random,
    /// The NIC falls silent here.
    pub silent_from: u64,
    pub clock: HostClock,
    /// Since when the NIC should ask for a packet; never if it has been told there is none.
    pub wanted: u64,
    /// Earliest deadline of the transports.
    pub deadline: u64,
    /// The transport that is asked first.
    pub turn: u32,
    /// Packets that injected faults made late.
    pub late: Vec<Arrived>,
    pub arrived: Vec<Arrived>,
}

/// Lends a host to its transports.
macro_rules! env {
    ($node:ident, $medium:ident, $now:expr) => {
        Env {
            now: Time($now),
            host: $node.host,
            random: &mut $node.random,
            probe: &mut $medium.probe,
            packets: &mut $node.pool,
        }
    };
}

impl HostNode {
    /// When it must be visited next.
    pub fn due<I: PacketIo>(&self, medium: &Medium<I>) -> u64 {
        let late = self.late.iter().map(|one| one.at).min().unwrap_or(NEVER);
        let own = earliest(self.start(), self.line.held, self.deadline);
        own.min(late).min(medium.io.due(self.line.port).0)
    }

    /// When the NIC asks next.
    fn start(&self) -> u64 {
        match self.wanted {
            NEVER => NEVER,
            wanted => wanted.max(self.line.busy_until),
        }
    }

    /// A flow opens.
    pub fn open<I: PacketIo>(&mut self, medium: &mut Medium<I>, id: FlowId) {
        let now = medium.now;
        medium.probe.enter(Time(now), self.clock);
        medium.probe.opened(id);
        let setup = &medium.flows[id.0 as usize];
        let mut flow = setup.flow.clone();
        flow.start = Time(now);
        let handler = self.transports.iter_mut().find(|(id, _)| *id == setup.transport);
        let (_, handler) = handler.expect("the flow's transport is on its source");
        handler.open(&mut env!(self, medium, now), &flow);
        self.after_call(now);
    }

    /// Takes in what has arrived.
    pub fn receive<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        let mut arrived = std::mem::take(&mut self.arrived);
        let (host, port) = (self.host, self.line.port);
        let here = |packet: &Packet| incast_world::heading(packet) == host;
        take_burst(medium, &mut self.pool, port, &mut arrived, here);
        let now = medium.now;
        arrived.extend(self.late.extract_if(.., |one| one.at <= now));
        sort(&mut arrived);
        for one in arrived.drain(..) {
            if !one.faulted && medium.dead[self.line.reverse as usize] {
                medium.tally.link_losses += 1;
                self.pool.free(one.packet);
            } else if let Some(opened) = self.line.heed(now, &self.pool[one.packet].header) {
                self.pool.free(one.packet);
                note_open(medium, &self.line);
                if opened {
                    self.wanted = self.wanted.min(now);
                }
            } else if medium.faults == Faults::default()
                || one.faulted
                || !self.inject_fault(medium, one.packet)
            {
                self.deliver(medium, one.packet);
            }
        }
        self.arrived = arrived;
    }

    fn deliver<I: PacketIo>(&mut self, medium: &mut Medium<I>, packet: PacketRef) {
        let now = medium.now;
        let content = self.pool[packet];
        let flow = content.flow;
        medium.probe.enter(Time(now), self.clock);
        medium.probe.received(&content, self.pool.charged(packet));
        if content.is_data() {
            let (stamps, meta) = self.unknown_way(medium, packet);
            medium.probe.arriving(&stamps, &meta);
        }
        let before = medium.probe.bytes_delivered(flow);
        let handler = self.transports.iter_mut().find(|(id, _)| *id == content.transport);
        let (_, handler) = handler.expect("the transport of a flow that ends here");
        handler.receive(&mut env!(self, medium, now), packet);
        self.pool.free(packet);
        let delta = medium.probe.bytes_delivered(flow) - before;
        if let Some(Some(series)) = medium.tally.watch.get_mut(flow.0 as usize)
            && delta > 0
        {
            series.add(now, delta);
        }
        self.after_call(now);
    }

    /// The stamps of a packet of which only bytes came: all of the flow's time is its way.
    fn unknown_way<I>(&self, medium: &Medium<I>, packet: PacketRef) -> (Stamps, Meta) {
        let flow = self.pool[packet].flow;
        let started = medium.probe.senders()[flow.0 as usize].started;
        let stamps = Stamps { started, departed: started, ..Stamps::default() };
        (stamps, *self.pool.meta(packet))
    }

    /// Loses, delays or doubles the packet; true if it does not arrive now.
    #[cold]
    fn inject_fault<I: PacketIo>(&mut self, medium: &mut Medium<I>, packet: PacketRef) -> bool {
        let (now, faults) = (medium.now, medium.faults);
        let random = &mut self.fault_random;
        let (loss, reorder) = (random.chance(faults.loss), random.chance(faults.reorder));
        let duplicate = random.chance(faults.duplicate);
        let late = 1 + random.below(faults.late.0.max(1));
        let again = 1 + random.below(faults.late.0.max(1));
        if loss {
            medium.tally.link_losses += 1;
            self.pool.free(packet);
            return true;
        }
        let port = self.line.port;
        let arrival = |at: u64, packet: PacketRef| {
            let key = order::arrival_key(medium.seed, Time(at), PortId(port));
            Arrived { at, key, port, packet, faulted: true }
        };
        if duplicate {
            let (content, meta) = (self.pool[packet], *self.pool.meta(packet));
            let (extension, stamps) = (*self.pool.extension(packet), *self.pool.stamps(packet));
            let copy = self.pool.put(content, meta, extension, stamps);
            self.late.push(arrival(now + again, copy));
        }
        if reorder {
            self.late.push(arrival(now + late, packet));
        }
        reorder
    }

    /// After `open` or `receive`: the deadline may have moved, and there may be something to send.
    fn after_call(&mut self, now: u64) {
        self.refresh_deadline();
        self.wanted = self.wanted.min(now);
    }

    fn refresh_deadline(&mut self) {
        let deadlines = self.transports.iter().map(|(_, host)| host.deadline().0);
        let nic = self.nic.as_ref().map_or(NEVER, |nic| nic.deadline().0);
        self.deadline = deadlines.min().unwrap_or(NEVER).min(nic);
    }

    /// Does what is due before `until`.
    pub fn advance<I: PacketIo>(&mut self, medium: &mut Medium<I>, until: u64) {
        if self.line.is_released(medium) {
            self.wanted = self.wanted.max(medium.now);
        }
        for _ in 0..MOST_CALLS {
            let start = self.start();
            if earliest(start, self.line.held, self.deadline) >= until {
                return;
            }
            if self.deadline <= start || self.line.held {
                self.wake(medium, self.deadline);
            } else if self.line.has_room(medium) {
                self.transmit(medium, start);
            }
        }
        panic!("host {} does not let time pass at {} ps", self.host.0, medium.now);
    }

    /// Runs the timers of this instant.
    pub fn run_timers<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        if self.deadline <= medium.now {
            self.wake(medium, medium.now);
        }
    }

    fn wake<I: PacketIo>(&mut self, medium: &mut Medium<I>, at: u64) {
        medium.probe.enter(Time(at), self.clock);
        for (_, handler) in &mut self.transports {
            if handler.deadline().0 <= at {
                handler.wake(&mut env!(self, medium, at));
                let next = handler.deadline().0;
                assert!(next > at, "host {}: deadline {next} ps after wake at {at}", self.host.0);
            }
        }
        if let Some(nic) = &mut self.nic
            && nic.deadline().0 <= at
        {
            let packets = &mut self.pool;
            nic.wake(&mut PortEnv { now: Time(at), random: &mut self.line.random, packets });
            let next = nic.deadline().0;
            assert!(
                next > at,
                "NIC of host {}: deadline {next} ps after wake at {at}",
                self.host.0
            );
        }
        self.refresh_deadline();
        self.wanted = self.wanted.min(at);
    }

    /// The NIC is free at `start`: asks for a packet and sends it.
    fn transmit<I: PacketIo>(&mut self, medium: &mut Medium<I>, start: u64) {
        if start >= self.silent_from {
            self.wanted = NEVER;
            return;
        }
        let open = self.line.open();
        let packet = match self.nic {
            None => self.pull(medium, start, open).ok_or(NEVER),
            Some(_) => self.pull_shaped(medium, start),
        };
        self.refresh_deadline();
        let packet = match packet {
            Ok(packet) => packet,
            Err(again) => {
                self.wanted = again;
                return;
            }
        };
        let tx = self.line.tx(self.pool.charged(packet));
        let backlog = self.nic.as_ref().map(|nic| nic.backlog().bytes);
        if backlog.is_none() {
            self.depart(medium, packet, start, tx);
        } else if self.pool[packet].is_data() {
            medium.probe.occupies(self.pool[packet].flow, tx);
        }
        self.clock.busy += tx;
        self.clock.busy_until = start + tx;
        self.line.send(medium, &mut self.pool, packet, start, backlog.unwrap_or(0));
    }

    /// Notes that a data packet leaves its transport.
    fn depart<I>(&mut self, medium: &mut Medium<I>, packet: PacketRef, start: u64, tx: u64) {
        self.pool.meta_mut(packet).arrived = Time(start);
        let content = self.pool[packet];
        if content.is_data() {
            medium.probe.enter(Time(start), self.clock);
            let again = content.has(flag::RETRANSMIT);
            medium.probe.departs(content.flow, tx, again, self.pool.stamps_mut(packet));
        }
    }

    fn pull<I>(&mut self, medium: &mut Medium<I>, start: u64, among: Classes) -> Option<PacketRef> {
        medium.probe.enter(Time(start), self.clock);
        let mut env = env!(self, medium, start);
        let nic = &self.nic;
        let wanted = |transport| nic.as_ref().map_or(Classes::ALL, |nic| nic.wants(transport));
        let open = |transport| Classes(among.0 & wanted(transport).0);
        pull(&mut self.transports, &mut self.turn, &mut env, open)
    }

    /// A NIC with a port of its own: packets go through it, and it may hold some classes back. The
    /// error is when to ask again.
    fn pull_shaped<I>(&mut self, medium: &mut Medium<I>, start: u64) -> Result<PacketRef, u64> {
        if let Some(nic) = &self.nic
            && self.line.series.over(start)
        {
            self.line.series.set_marks(nic.marks());
        }
        let open = self.line.open();
        let control = Classes(open.0 & Classes::CONTROL.0);
        for _ in 0..MOST_CALLS {
            // What control there is by now waits in the port before the port chooses.
            let packet = match self.pull(medium, start, control) {
                Some(packet) => packet,
                None => match self.nic_chooses(start) {
                    Dequeue::Packet(packet) => return Ok(packet),
                    Dequeue::NotBefore(Time(again)) => {
                        self.pull(medium, start, open).ok_or(again)?
                    }
                    Dequeue::Empty => self.pull(medium, start, open).ok_or(NEVER)?,
                },
            };
            self.depart(medium, packet, start, 0);
            let nic = self.nic.as_mut().expect("a NIC with a port");
            let (now, random) = (Time(start), &mut self.line.random);
            let mut env = PortEnv { now, random, packets: &mut self.pool };
            let verdict = nic.enqueue(&mut env, packet);
            self.line.series.set_backlog(start, nic.backlog().bytes);
            self.settle(start, packet, verdict);
        }
        panic!("host {} fills its NIC without end", self.host.0);
    }

    fn nic_chooses(&mut self, start: u64) -> Dequeue {
        let open = self.line.open();
        let (now, random) = (Time(start), &mut self.line.random);
        let mut env = PortEnv { now, random, packets: &mut self.pool };
        self.nic.as_mut().expect("a NIC with a port").dequeue(&mut env, open)
    }

    /// What became of packets at the NIC's own port.
    fn settle(&mut self, at: u64, packet: PacketRef, verdict: Verdict) {
        let fates = [Some((packet, verdict.arriving)), verdict.displaced];
        for (packet, fate) in fates.into_iter().flatten() {
            match fate {
                Fate::Queued => {}
                Fate::Trimmed => self.line.series.rare(at).trims += 1,
                // It is still at its source: there is no way back.
                Fate::Dropped | Fate::Bounced => {
                    self.line.series.rare(at).drops += 1;
                    self.pool.free(packet);
                }
            }
        }
    }
}
