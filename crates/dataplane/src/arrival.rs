//! How frames become packets.

use crate::frames::Packets;
use crate::medium::Medium;
use crate::names::RUN_TIME;
use crate::payload::fits;
use crate::{Arrival, PacketIo};
use incast_fabric::{PortId, order};
use incast_transport::{Header, HostId, Packet, PacketRef, Time, flag};
use incast_world::{FlowSetup, heading};

/// Most frames taken off a port in one pass.
const BURST: usize = 32;

/// A packet that has arrived and waits to be looked at.
pub(crate) struct Arrived {
    pub at: u64,
    /// Its place among the arrivals of its instant.
    pub key: u32,
    /// The port it came in by.
    pub port: u32,
    pub packet: PacketRef,
    /// It has been impaired.
    pub impaired: bool,
    /// When its last bit is here: later than `at` if these are its first bytes.
    pub complete: u64,
    /// The egress that was chosen when its first bytes were here.
    pub egress: Option<PortId>,
}

/// Where a packet has arrived.
#[derive(Clone, Copy)]
pub(crate) enum Here {
    /// At a switch, which knows addresses and transports, but no flows.
    Switch,
    /// At a host, which knows its flows, and takes those that are opened at run time if it is `live`.
    Host { host: HostId, live: bool },
}

/// Whether hosts, flow and transport of a packet exist and belong together, and its payload is a
/// part of the flow. What came from a wire is checked before anything is looked up by its numbers.
fn known(flows: &[FlowSetup], packet: &Packet) -> bool {
    let Some(setup) = flows.get(packet.flow.0 as usize) else { return false };
    let ends = (setup.flow.src, setup.flow.dst);
    let forth = ends == (packet.src, packet.dst);
    let back = ends == (packet.dst, packet.src);
    let answers = back && !packet.is_data() && !packet.has(flag::BOUNCED);
    let fits = forth && fits(&setup.flow, packet) || answers;
    setup.transport == packet.transport && fits
}

/// Takes a burst off a port and reads the frames into the pool.
pub(crate) fn take_burst<I: PacketIo>(
    medium: &mut Medium<I>,
    packets: &mut Packets<I::Frame>,
    port: u32,
    arrived: &mut Vec<Arrived>,
    here: Here,
) {
    let mut incoming = std::mem::take(&mut medium.incoming);
    medium.io.rx_burst(port, Time(medium.now), BURST, &mut incoming);
    read_burst(medium, packets, port, &mut incoming, arrived, here);
    medium.incoming = incoming;
}

/// Reads frames that have come by a port into the pool.
#[inline]
pub(crate) fn read_burst<I: PacketIo>(
    medium: &mut Medium<I>,
    packets: &mut Packets<I::Frame>,
    port: u32,
    incoming: &mut Vec<Arrival<I::Frame>>,
    arrived: &mut Vec<Arrived>,
    here: Here,
) {
    let Medium { io, tally, seed, flows, fabric, routing, buffers, probe, now, .. } = medium;
    let now = *now;
    let pauses = buffers.pfc.is_some();
    let hosts = fabric.hosts();
    let exist = |packet: &Packet| {
        let (src, dst) = (packet.src.0, packet.dst.0);
        src < hosts && dst < hosts && src != dst && routing[packet.transport.0 as usize].is_some()
    };
    let belongs = |packet: &Packet| match (packet.header, here) {
        (Header::Pause { .. }, _) => pauses,
        (_, Here::Switch) => exist(packet),
        (_, Here::Host { host, .. }) if heading(packet) != host => false,
        (_, Here::Host { live, .. }) if packet.flow.0 & RUN_TIME != 0 => live && exist(packet),
        _ => known(flows, packet),
    };
    tally.frames += incoming.len() as u64;
    // The frames of a burst mostly come at one instant.
    let mut keyed = (Time::NEVER, 0);
    for Arrival { at, complete, frame } in incoming.drain(..) {
        if at.0 < now {
            tally.lateness.add(now - at.0);
        }
        match packets.receive(frame, belongs, |flow| probe.started(flow)) {
            Ok(packet) => {
                if keyed.0 != at {
                    keyed = (at, order::arrival_key(*seed, at, PortId(port)));
                }
                let key = keyed.1;
                arrived.push(Arrived {
                    at: at.0,
                    key,
                    port,
                    packet,
                    impaired: false,
                    complete: complete.0,
                    egress: None,
                });
            }
            Err(frame) => {
                tally.malformed += 1;
                io.free(frame);
            }
        }
    }
}

/// Puts arrivals into the order in which they happen.
pub(crate) fn sort(arrived: &mut [Arrived]) {
    // Mostly they are in it: the burst of one port.
    if !arrived.is_sorted_by_key(|one| (one.at, one.key)) {
        arrived.sort_by_key(|one| (one.at, one.key));
    }
}
