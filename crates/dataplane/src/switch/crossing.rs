//! A switch whose ports are spread over cores, each with a thread that has the switch for itself.
//!
//! A core polls its own ports, reads the headers, and chooses the egress. A frame that leaves by a
//! port of another core goes there by a ring with one producer and one consumer; that core reads the
//! headers again and does the rest. So queues, markers and records of a port belong to one core, and
//! nothing is shared.

use super::SwitchNode;
use crate::arrival::{Arrived, Here, read_burst};
use crate::medium::Medium;
use crate::{Arrival, Frame, PacketIo, Trail};
use incast_fabric::{Forwarding, NodeId, PortId};
use incast_transport::{Packet, PacketRef, Routing, Time};
use incast_world::Setup;
use rtrb::{Consumer, Producer, RingBuffer};

/// A frame on its way to the core of its egress.
struct Crossed<F> {
    frame: F,
    /// The port it came in by.
    from: u32,
    egress: u32,
}

/// What one core of a switch has in common with the others: rings.
pub struct Crossing<F> {
    /// Ports of this core.
    own: Vec<u32>,
    /// The other cores, each with its ports.
    others: Vec<Other<F>>,
    sent: u64,
    received: u64,
}

/// Another core of the switch.
struct Other<F> {
    ports: Vec<u32>,
    to: Producer<Crossed<F>>,
    from: Consumer<Crossed<F>>,
}

impl<F> Crossing<F> {
    /// The cores of a switch, of which each has a group of its ports, with rings for `frames` frames
    /// from each to each.
    pub fn of(groups: &[Vec<u32>], frames: usize) -> Vec<Crossing<F>> {
        let new =
            |own: &Vec<u32>| Crossing { own: own.clone(), others: vec![], sent: 0, received: 0 };
        let mut all: Vec<Crossing<F>> = groups.iter().map(new).collect();
        for second in 1..all.len() {
            let (before, rest) = all.split_at_mut(second);
            for first in before {
                let (to, from) = RingBuffer::new(frames);
                let (back, returned) = RingBuffer::new(frames);
                let ports = rest[0].own.clone();
                first.others.push(Other { ports, to, from: returned });
                rest[0].others.push(Other { ports: first.own.clone(), to: back, from });
            }
        }
        all
    }

    /// Whether a port is one of this core.
    #[inline]
    pub(crate) fn owns(&self, port: u32) -> bool {
        self.own.contains(&port)
    }

    /// Frames that went to other cores, and that came from them.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.sent, self.received)
    }

    /// Takes in what is still on its way to this core, and gives it back. Returns how many frames
    /// that were.
    pub(crate) fn drain(&mut self, io: &mut impl PacketIo<Frame = F>) -> u64 {
        let mut left = 0;
        for other in &mut self.others {
            while let Ok(Crossed { frame, .. }) = other.from.pop() {
                io.note_crossing(1);
                io.free(frame);
                left += 1;
            }
        }
        left
    }
}

/// Why the ports of switch `node` cannot be spread over cores: something is common to them. `None`
/// if nothing is.
pub fn one_core_only(setup: &Setup, node: u32) -> Option<&'static str> {
    let fabric = &setup.fabric;
    let buffers = setup.buffers();
    let routes = fabric.routes();
    let common = |routing: &Routing| {
        matches!(routing, Routing::RoundRobin | Routing::SourceRoundRobin)
            || matches!(routing, Routing::LeastQueue | Routing::Drill)
            || matches!(routing, Routing::Flowlet | Routing::Conga)
    };
    let turns = |routing: &Routing| {
        common(routing) && (0..fabric.hosts()).any(|host| routes.next(NodeId(node), host).len() > 1)
    };
    if buffers.pfc.is_some() {
        Some("with PFC a link is paused for what its packets hold at all ports")
    } else if buffers.any() {
        Some("its ports share one buffer")
    } else if !setup.hooks[node as usize].is_empty() {
        Some("a transport's hook looks at the ingress and the egress of each packet")
    } else if matches!(fabric.forwarding(), Forwarding::CutThrough(_)) {
        Some("it cuts through: a packet leaves by one port while it comes in by another")
    } else if setup.routing.iter().any(|(_, routing)| turns(routing)) {
        Some("packets of all ports take turns among equal paths, or look at their queues")
    } else {
        None
    }
}

impl<I: PacketIo> SwitchNode<I> {
    /// Whether a port is polled and served by another core.
    #[inline]
    pub fn is_foreign(&self, port: u32) -> bool {
        self.crossing.as_ref().is_some_and(|crossing| !crossing.owns(port))
    }

    /// Takes in what other cores have received for ports of this one.
    pub fn take_crossed(&mut self, medium: &mut Medium<I>, arrived: &mut Vec<Arrived>) {
        let Some(mut crossing) = self.crossing.take() else { return };
        let mut incoming = std::mem::take(&mut medium.incoming);
        for other in &mut crossing.others {
            while let Ok(Crossed { frame, from, egress }) = other.from.pop() {
                crossing.received += 1;
                medium.io.note_crossing(1);
                let (at, before) = (Time(medium.now), arrived.len());
                incoming.push(Arrival { at, complete: at, frame });
                let here = Here::Switch;
                read_burst(medium, &mut self.packets, from, &mut incoming, arrived, here);
                arrived[before..].iter_mut().for_each(|one| one.egress = Some(PortId(egress)));
            }
        }
        medium.incoming = incoming;
        self.crossing = Some(crossing);
    }

    /// Hands a packet over to the core of its egress `port`; it is lost if that does not keep up.
    #[cold]
    pub fn hand_over(&mut self, medium: &mut Medium<I>, back: u32, port: u32, packet: PacketRef) {
        let now = medium.now;
        let mut crossing = self.crossing.take().expect("the port is another core's");
        let other = crossing.others.iter_mut().find(|other| other.ports.contains(&port));
        let other = other.expect("every port is one of some core");
        let fill = |_: &Packet, out: &mut [u8]| out.fill(0);
        let frame = match other.to.is_full() {
            true => None,
            false => self.packets.depart(&mut medium.io, packet, fill),
        };
        match frame {
            None => medium.lose_on_link(&mut self.packets, packet, now),
            Some(mut frame) => {
                if medium.trails {
                    let serialised = self.packets.pool.meta(packet).serialised;
                    let stamps = *self.packets.pool.stamps(packet);
                    let taken = self.packets.pool.path_taken(packet);
                    frame.set_trail(&Trail { stamps, serialised, taken });
                }
                self.packets.pool.free(packet);
                let crossed = Crossed { frame, from: back, egress: port };
                assert!(other.to.push(crossed).is_ok(), "there was room");
                medium.io.note_crossing(-1);
                crossing.sent += 1;
            }
        }
        self.crossing = Some(crossing);
    }
}
