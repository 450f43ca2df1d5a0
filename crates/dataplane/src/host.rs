//! A host: what `incast_world` makes of it, and the frames that come and go.

use crate::PacketIo;
use crate::arrival::{Arrived, sort, take_burst};
use crate::line::Line;
use crate::medium::Medium;
use incast_fabric::{PortId, order};
use incast_transport::{Classes, FlowId, Packet, PacketPool, PacketRef, Time};
use incast_world::{
    Drops, EndHost, Faults, HostIo, Impaired, NEVER, NicParts, PortSeries, Records, copied, heading,
};

pub(crate) struct HostNode {
    pub end: EndHost,
    pub line: Line,
    pub pool: PacketPool,
    /// Packets that impairments made late.
    pub late: Vec<Arrived>,
    pub arrived: Vec<Arrived>,
}

/// What a host needs of this world.
struct Attached<'a, I> {
    line: &'a mut Line,
    pool: &'a mut PacketPool,
    medium: &'a mut Medium<I>,
}

impl<I> Drops for Attached<'_, I> {
    fn packets_and_series(&mut self, _port: u32) -> (&mut PacketPool, &mut PortSeries) {
        (self.pool, &mut self.line.series)
    }

    fn give_back(&mut self, _port: u32, _packet: PacketRef) {}

    fn note_loss(&mut self, packet: PacketRef, at: u64) {
        self.medium.note_loss(self.pool, packet, at);
    }
}

impl<I: PacketIo> HostIo for Attached<'_, I> {
    fn records(&mut self) -> Records<'_> {
        let Medium { probe, tally, .. } = &mut *self.medium;
        Records { probe, packets: self.pool, deliveries: &mut tally.deliveries }
    }

    fn nic(&mut self, _port: u32) -> NicParts<'_> {
        let Line { random, series, .. } = &mut *self.line;
        NicParts { packets: self.pool, random, series }
    }

    fn open(&self, _port: u32) -> Classes {
        Classes(self.line.transmitter.open)
    }

    fn is_held(&self, _port: u32) -> bool {
        self.line.held
    }

    fn has_room(&mut self, _port: u32) -> bool {
        self.line.has_room(self.medium)
    }

    fn tx(&self, _port: u32, charged: u32) -> u64 {
        self.line.tx(charged)
    }

    fn send(&mut self, _port: u32, packet: PacketRef, start: u64, backlog: u64) {
        self.line.send(self.medium, self.pool, packet, start, backlog);
    }
}

impl HostNode {
    /// The host, and what it needs of this world.
    fn attach<'a, I>(
        &'a mut self,
        medium: &'a mut Medium<I>,
    ) -> (&'a mut EndHost, Attached<'a, I>) {
        let HostNode { end, line, pool, .. } = self;
        (end, Attached { line, pool, medium })
    }

    /// When it must be visited next.
    pub fn due<I: PacketIo>(&self, medium: &Medium<I>) -> u64 {
        let late = self.late.iter().map(|one| one.at).min().unwrap_or(NEVER);
        let start = if self.line.held { NEVER } else { self.end.next_start() };
        start.min(self.end.deadline()).min(late).min(medium.io.due(self.line.port).0)
    }

    /// A flow opens.
    pub fn open<I: PacketIo>(&mut self, medium: &mut Medium<I>, id: FlowId) {
        let (now, setup) = (medium.now, medium.flows[id.0 as usize].clone());
        let (end, mut world) = self.attach(medium);
        end.open(&mut world, now, &setup);
    }

    /// Takes in what has arrived.
    pub fn receive<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        let mut arrived = std::mem::take(&mut self.arrived);
        let (host, port) = (self.end.id(), self.line.port);
        let here = |packet: &Packet| heading(packet) == host;
        take_burst(medium, &mut self.pool, port, &mut arrived, here);
        let now = medium.now;
        arrived.extend(self.late.extract_if(.., |one| one.at <= now));
        sort(&mut arrived);
        for one in arrived.drain(..) {
            self.take(medium, one);
        }
        self.arrived = arrived;
    }

    fn take<I: PacketIo>(&mut self, medium: &mut Medium<I>, one: Arrived) {
        let now = medium.now;
        let Arrived { packet, impaired, .. } = one;
        if !impaired && medium.dead[self.line.reverse as usize] {
            medium.lose_on_link(&mut self.pool, packet, now);
        } else if let Some(opened) = self.line.apply_pause(medium, &self.pool[packet].header) {
            self.pool.free(packet);
            if opened {
                self.end.want(now);
            }
        } else if medium.faults == Faults::default() || impaired || !self.impair(medium, packet) {
            let (end, mut world) = self.attach(medium);
            end.receive(&mut world, now, packet);
        }
    }

    /// Loses, delays or doubles the packet; true if it does not arrive now.
    #[cold]
    fn impair<I: PacketIo>(&mut self, medium: &mut Medium<I>, packet: PacketRef) -> bool {
        let now = medium.now;
        let Impaired { lost, late, again } = self.end.impair(&medium.faults);
        if lost {
            medium.lose_on_link(&mut self.pool, packet, now);
            return true;
        }
        let port = self.line.port;
        let arrival = |after: u64, packet: PacketRef| {
            let key = order::arrival_key(medium.seed, Time(now + after), PortId(port));
            let at = now + after;
            Arrived { at, key, port, packet, impaired: true, complete: at, egress: None }
        };
        if let Some(after) = again {
            let copy = copied(&mut self.pool, packet);
            self.late.push(arrival(after, copy));
        }
        if let Some(after) = late {
            self.late.push(arrival(after, packet));
        }
        late.is_some()
    }

    /// Does what is due before `until`.
    pub fn advance<I: PacketIo>(&mut self, medium: &mut Medium<I>, until: u64) {
        if self.line.is_released(medium) {
            self.end.want_no_earlier(medium.now);
        }
        let (end, mut world) = self.attach(medium);
        end.advance(&mut world, until);
    }

    /// Runs the timers of this instant.
    pub fn run_timers<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        let now = medium.now;
        let (end, mut world) = self.attach(medium);
        end.run_timers(&mut world, now);
    }
}
