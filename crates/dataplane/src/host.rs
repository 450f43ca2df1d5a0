//! A host: what `incast_world` makes of it, and the frames that come and go.

mod still;

use crate::arrival::{Arrived, Here, sort, take_burst};
use crate::frames::Packets;
use crate::line::Line;
use crate::medium::Medium;
use crate::payload::fill;
use crate::run_time::Live;
use crate::{PacketIo, Payload};
use incast_fabric::{PortId, order};
use incast_transport::{Classes, FlowId, PacketPool, PacketRef, Time};
use incast_world::{
    Drops, EndHost, Faults, FlowSetup, HostIo, Impaired, NEVER, NicParts, PortSeries, Records,
    Still,
};

pub(crate) struct HostNode<I: PacketIo> {
    pub end: EndHost,
    pub line: Line,
    pub packets: Packets<I::Frame>,
    /// Its flows that are opened at run time, if it takes part in such.
    pub live: Option<Live>,
    /// Packets that impairments made late.
    pub late: Vec<Arrived>,
    pub arrived: Vec<Arrived>,
    /// The flow that something came of last.
    pub last: FlowId,
}

/// What a host needs of this world.
struct Attached<'a, I: PacketIo, P> {
    line: &'a mut Line,
    packets: &'a mut Packets<I::Frame>,
    medium: &'a mut Medium<I>,
    payload: &'a mut P,
    live: &'a mut Option<Live>,
}

impl<I: PacketIo, P> Drops for Attached<'_, I, P> {
    fn packets_and_series(&mut self, _port: u32) -> (&mut PacketPool, &mut PortSeries) {
        (&mut self.packets.pool, &mut self.line.series)
    }

    fn give_back(&mut self, _port: u32, _packet: PacketRef) {}

    fn note_loss(&mut self, packet: PacketRef, at: u64) {
        self.medium.note_loss(self.packets, packet, at);
    }

    fn free(&mut self, _port: u32, packet: PacketRef) {
        self.packets.free(&mut self.medium.io, packet);
    }
}

impl<I: PacketIo, P: Payload> HostIo for Attached<'_, I, P> {
    fn records(&mut self) -> Records<'_> {
        let Medium { probe, tally, .. } = &mut *self.medium;
        Records { probe, packets: &mut self.packets.pool, deliveries: &mut tally.deliveries }
    }

    fn nic(&mut self, _port: u32) -> NicParts<'_> {
        let Line { random, series, .. } = &mut *self.line;
        NicParts { packets: &mut self.packets.pool, random, series }
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
        let Attached { line, packets, medium, payload, live } = self;
        let content = packets.pool[packet];
        let begins = content.is_data() && !packets.has_frame(packet);
        let offset = if let Some(live) = live.as_mut().filter(|live| live.has(content.flow)) {
            // What is queued of a flow that was given up does not leave.
            let wire = live.names.wire(content.flow);
            let place = live.departing(content.flow, &content.header, begins);
            let (Some(wire), Some(place)) = (wire, place) else {
                return packets.free(&mut medium.io, packet);
            };
            packets.pool[packet].flow = wire;
            place
        } else if begins {
            medium.departing(content.flow, &content.header)
        } else {
            0
        };
        line.send(medium, packets, packet, start, backlog, |_, out| {
            fill(*payload, content.flow, offset, out);
        });
    }

    fn stand_still(&mut self, still: Still) {
        match self.medium.troubles.live {
            true => self.medium.troubles.still = Some(still),
            false => panic!("{still}"),
        }
    }

    /// Payload that a transport has reported as delivered is that of the packet it received.
    fn received(&mut self, _port: u32, packet: PacketRef) {
        let Attached { packets, medium, payload, .. } = self;
        if let Some((flow, reported, _)) = medium.probe.take_delivery() {
            let header = &packets.pool[packet].header;
            let offset = medium.arriving(flow, header, reported);
            payload.deliver(flow, offset, packets.payload(packet));
        }
        packets.free(&mut medium.io, packet);
    }
}

impl<I: PacketIo> HostNode<I> {
    /// The host, and what it needs of this world.
    fn attach<'a, P: Payload>(
        &'a mut self,
        medium: &'a mut Medium<I>,
        payload: &'a mut P,
    ) -> (&'a mut EndHost, Attached<'a, I, P>) {
        let HostNode { end, line, packets, live, .. } = self;
        (end, Attached { line, packets, medium, payload, live })
    }

    /// When it must be visited next.
    pub fn due(&self, medium: &mut Medium<I>) -> u64 {
        let late = self.late.iter().map(|one| one.at).min().unwrap_or(NEVER);
        let start = if self.line.held { NEVER } else { self.end.next_start() };
        let lapse = self.live.as_ref().map_or(NEVER, Live::deadline);
        let due = start.min(self.end.deadline()).min(late).min(lapse);
        due.min(medium.io.due(self.line.port).0)
    }

    /// Its link may have failed, or work again.
    pub fn change_link(&mut self, medium: &mut Medium<I>) {
        let down = medium.is_down(self.line.port);
        if self.line.transmitter.dead && !down {
            let marks = self.end.marks().unwrap_or(0);
            if self.line.reconnect(medium, marks) {
                self.end.want(medium.now);
            }
        }
        self.line.transmitter.dead = down;
    }

    /// A flow opens.
    pub fn open(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, id: FlowId) {
        let setup = medium.flows[id.0 as usize].clone();
        self.start(medium, payload, &setup);
    }

    /// The same for any flow.
    pub fn start(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, setup: &FlowSetup) {
        let now = medium.now;
        self.last = setup.flow.id;
        let (end, mut world) = self.attach(medium, payload);
        end.open(&mut world, now, setup);
    }

    /// A flow is given up.
    pub fn abandon(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, id: FlowId) {
        let now = medium.now;
        let (end, mut world) = self.attach(medium, payload);
        end.abandon(&mut world, now, id);
    }

    /// Does what was due before now and takes in what has arrived, in order of time: a pass that comes
    /// late finds frames from before its timers.
    pub fn receive(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) {
        let mut arrived = std::mem::take(&mut self.arrived);
        let here = Here::Host { host: self.end.id(), live: self.live.is_some() };
        let port = self.line.port;
        take_burst(medium, &mut self.packets, port, &mut arrived, here);
        let now = medium.now;
        arrived.extend(self.late.extract_if(.., |one| one.at <= now));
        sort(&mut arrived);
        let mut reached = NEVER;
        for one in arrived.drain(..) {
            let at = one.at.clamp(medium.since, now);
            if at != reached {
                (medium.now, reached) = (at, at);
                self.advance(medium, payload, at);
            }
            self.take(medium, payload, one);
        }
        self.arrived = arrived;
        medium.now = now;
        if reached != now {
            self.advance(medium, payload, now);
        }
    }

    fn take(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, one: Arrived) {
        let now = medium.now;
        let Arrived { packet, impaired, complete, .. } = one;
        let charged = self.packets.pool.charged(packet);
        if !impaired && medium.is_cut_off(self.line.reverse, complete, charged) {
            medium.lose_on_link(&mut self.packets, packet, now);
        } else if let Some(opened) = {
            let (header, end) = (self.packets.pool[packet].header, &self.end);
            self.line.apply_pause(medium, &header, || end.marks().unwrap_or(0))
        } {
            self.packets.free(&mut medium.io, packet);
            if opened {
                self.end.want(now);
            }
        } else if !medium.ended.is_empty()
            && medium.ended.contains(&(self.end.id().0, self.packets.pool[packet].flow))
        {
            self.packets.free(&mut medium.io, packet);
        } else if (medium.faults == Faults::default() || impaired || !self.impair(medium, packet))
            && self.recognise(medium, packet)
        {
            self.last = self.packets.pool[packet].flow;
            let (end, mut world) = self.attach(medium, payload);
            end.receive(&mut world, now, packet);
        }
    }

    /// Loses, delays or doubles the packet; true if it does not arrive now.
    #[cold]
    fn impair(&mut self, medium: &mut Medium<I>, packet: PacketRef) -> bool {
        let now = medium.now;
        let Impaired { lost, late, again } = self.end.impair(&medium.faults);
        if lost {
            medium.lose_on_link(&mut self.packets, packet, now);
            return true;
        }
        let port = self.line.port;
        let arrival = |after: u64, packet: PacketRef| {
            let key = order::arrival_key(medium.seed, Time(now + after), PortId(port));
            let at = now + after;
            Arrived { at, key, port, packet, impaired: true, complete: at, egress: None }
        };
        if let Some(after) = again {
            match self.packets.copy(&mut medium.io, &mut medium.probe, packet) {
                Some(copy) => self.late.push(arrival(after, copy)),
                None => medium.tally.exhausted += 1,
            }
        }
        if let Some(after) = late {
            self.late.push(arrival(after, packet));
        }
        late.is_some()
    }

    /// Does what is due before `until`.
    pub fn advance(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload, until: u64) {
        if self.line.is_released(medium) {
            self.end.want_no_earlier(medium.now);
        }
        let (end, mut world) = self.attach(medium, payload);
        end.advance(&mut world, until);
        if medium.troubles.still.is_some() {
            self.give_up_still(medium, payload);
        }
    }

    /// Runs the timers of this instant.
    pub fn run_timers(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) {
        let now = medium.now;
        let (end, mut world) = self.attach(medium, payload);
        end.run_timers(&mut world, now);
        if medium.troubles.still.is_some() {
            self.give_up_still(medium, payload);
        }
    }
}
