//! What nodes have in common: what they are lent, and how frames become packets.

use crate::host::HostNode;
use crate::line::Line;
use crate::schedule::NEVER;
use crate::switch::SwitchNode;
use crate::{Arrival, PacketIo};
use incast_fabric::{Fabric, PortId, Routes, order};
use incast_transport::{
    FlowId, Header, Packet, PacketPool, PacketRef, Probe, Routing, Stamps, Time, TransportId,
};
use incast_wire::decode;
use incast_world::{Buffers, Captures, Deliveries, Faults, FlowSetup, Standstill};
use std::sync::Arc;

/// Most frames taken off a port in one pass.
const BURST: usize = 32;
/// More calls than this in one pass mean that a transport or marker does not let time pass.
pub(crate) const MOST_CALLS: u32 = 1_000_000;

/// What nodes of one process share and are lent for the length of a pass.
pub(crate) struct Medium<I> {
    /// The instant of the pass.
    pub now: u64,
    pub fabric: Arc<Fabric>,
    pub seed: u64,
    /// Load balancing of each transport there is.
    pub routing: [Option<Routing>; 256],
    pub flows: Vec<FlowSetup>,
    pub buffers: Buffers,
    /// Where links may come to wait for each other: who waits for whom.
    pub standstill: Option<Standstill>,
    pub faults: Faults,
    /// Routes with what has failed gone.
    pub routes: Arc<Routes>,
    /// Ports whose link has failed.
    pub dead: Vec<bool>,
    pub probe: Probe,
    pub tally: Tally,
    pub io: I,
}

/// What nodes count.
#[derive(Default)]
pub(crate) struct Tally {
    pub hops: u64,
    /// Frames received.
    pub frames: u64,
    pub malformed: u64,
    pub link_losses: u64,
    pub captures: Captures,
    /// Releases of frames since the last look: when, and to which node.
    pub released: Vec<(u64, u32)>,
    /// Payload delivered over time.
    pub deliveries: Deliveries,
}

/// Whether hosts, flow and transport of a packet exist and belong together. What came from a wire
/// is checked before anything is looked up by its numbers.
fn known(flows: &[FlowSetup], packet: &Packet) -> bool {
    let Some(setup) = flows.get(packet.flow.0 as usize) else { return false };
    let ends = (setup.flow.src, setup.flow.dst);
    let forth = ends == (packet.src, packet.dst);
    let back = ends == (packet.dst, packet.src);
    setup.transport == packet.transport && (forth || back)
}

/// A packet that has arrived and waits to be looked at.
pub(crate) struct Arrived {
    pub at: u64,
    /// Its place among the arrivals of its instant.
    pub key: u32,
    /// The port it came in by.
    pub port: u32,
    pub packet: PacketRef,
    /// Faults have been injected.
    pub faulted: bool,
}

/// Takes a burst off a port and reads the frames into the pool. `expected` says whether a packet
/// that can be read belongs here.
pub(crate) fn take_burst<I: PacketIo>(
    medium: &mut Medium<I>,
    pool: &mut PacketPool,
    port: u32,
    arrived: &mut Vec<Arrived>,
    expected: impl Fn(&Packet) -> bool,
) {
    let Medium { io, tally, seed, flows, buffers, .. } = medium;
    let pauses = buffers.pfc.is_some();
    let belongs = |packet: &Packet| match packet.header {
        Header::Pause { .. } => pauses,
        _ => known(flows, packet) && expected(packet),
    };
    let mut take = |frame: Arrival<'_>| {
        tally.frames += 1;
        match decode(frame.bytes) {
            Ok((packet, extension)) if belongs(&packet) => {
                let handle = pool.create(Packet { extension: 0, ..packet });
                *pool.stamps_mut(handle) = Stamps::default();
                if packet.extension > 0 {
                    pool.extend(handle, extension);
                }
                let key = order::arrival_key(*seed, frame.at, PortId(port));
                let at = frame.at.0;
                arrived.push(Arrived { at, key, port, packet: handle, faulted: false });
            }
            _ => tally.malformed += 1,
        }
    };
    io.rx_burst(port, Time(medium.now), BURST, &mut take);
}

/// Puts arrivals into the order in which they happen.
pub(crate) fn sort(arrived: &mut [Arrived]) {
    arrived.sort_by_key(|one| (one.at, one.key));
}

/// A host or a switch.
#[expect(clippy::large_enum_variant, reason = "few, and each in its place for the whole run")]
pub(crate) enum Node {
    Host(HostNode),
    Switch(SwitchNode),
}

impl Node {
    /// Does what was due before `until`, in order of time; at one instant timers before
    /// transmissions.
    pub fn advance<I: PacketIo>(&mut self, medium: &mut Medium<I>, until: u64) {
        match self {
            Node::Host(host) => host.advance(medium, until),
            Node::Switch(switch) => switch.advance(medium, until),
        }
    }

    /// Takes in what has arrived.
    pub fn receive<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(host) => host.receive(medium),
            Node::Switch(switch) => switch.receive(medium),
        }
    }

    /// Opens a flow that starts here.
    pub fn open<I: PacketIo>(&mut self, medium: &mut Medium<I>, flow: FlowId) {
        match self {
            Node::Host(host) => host.open(medium, flow),
            Node::Switch(_) => unreachable!("flows start at hosts"),
        }
    }

    /// Runs the timers of this instant.
    pub fn run_timers<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(host) => host.run_timers(medium),
            Node::Switch(switch) => switch.run_timers(medium),
        }
    }

    /// Some links have failed.
    pub fn fail<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        match self {
            Node::Host(_) => {}
            Node::Switch(switch) => switch.fail(medium),
        }
    }

    /// When it must be visited next, frames on their way included.
    pub fn due<I: PacketIo>(&self, medium: &Medium<I>) -> u64 {
        match self {
            Node::Host(host) => host.due(medium),
            Node::Switch(switch) => switch.due(medium),
        }
    }

    /// Whether a full ring keeps it from sending.
    pub fn is_held(&self) -> bool {
        match self {
            Node::Host(host) => host.line.held,
            Node::Switch(switch) => switch.is_held(),
        }
    }
}

/// A line has heeded a pause frame.
pub(crate) fn note_open<I>(medium: &mut Medium<I>, line: &Line) {
    if let Some(standstill) = &mut medium.standstill {
        standstill.open(line.port, line.open);
    }
}

/// The routing of a transport that exists.
pub(crate) fn routing_of<I>(medium: &Medium<I>, transport: TransportId) -> Routing {
    medium.routing[transport.0 as usize].expect("the transport of a known flow")
}

/// The earlier of two instants, of which the first may be held up.
pub(crate) fn earliest(start: u64, held: bool, deadline: u64) -> u64 {
    if held { deadline } else { start.min(deadline) }
}

/// A start, unless nothing waits.
pub(crate) fn start_if(waiting: bool, start: u64) -> u64 {
    if waiting { start } else { NEVER }
}
