//! The links of a fabric over rings of DPDK.

use super::frame::{MbufFrame, Note};
use super::{BURST, Memory};
use crate::mem::capacity;
use crate::{Arrival, Departure, PacketIo};
use incast_dpdk_sys::{Environment, Error, Mbuf, Mempool, Port, Ring, most_ports};
use incast_fabric::Fabric;
use incast_transport::{Framing, Time};
use incast_wire::HEADER_BYTES;
use std::collections::VecDeque;
use std::sync::Arc;

/// Mbufs for what nodes hold at each port, beside what is on links.
const PER_PORT: usize = 512;
/// Bytes that headers may take beside a packet of the largest size.
const EXTENSION: usize = 128;
/// Most bytes for packet memory, within those of [`EMBEDDED`](super::EMBEDDED).
const MEMORY: usize = 800 << 20;
/// Bytes of an mbuf beside the frame.
const OVERHEAD: usize = 1_024;

/// What carries frames between ports.
enum Carrier {
    /// A port of DPDK at each port of the fabric: `net_ring` pairs.
    Ports(Vec<Port<Note>>),
    /// Bare rings, by the port that receives: where the fabric has more ports than DPDK.
    Bare(Vec<Ring<Note>>),
}

/// One port.
struct End {
    reverse: usize,
    /// Frames that its link may hold on the way to the other end.
    capacity: usize,
    /// Frames on the way to the other end.
    flying: usize,
    /// Those of them that are not sent yet.
    staged: Vec<Mbuf<Note>>,
    /// Frames that came out of the ring and are not due yet.
    read: VecDeque<Mbuf<Note>>,
}

/// Links emulated over rings of DPDK within the process: a frame is handed over no earlier than its release, as in
/// [`Mem`](crate::Mem), and brings its trail. No privilege is needed.
///
/// Up to 16 links (with Debian's limit of 32 ports) are `net_ring` pairs, which are ports as those of a NIC
/// are; a larger fabric has bare rings.
pub struct Rings {
    carrier: Carrier,
    ends: Vec<End>,
    scratch: Vec<Mbuf<Note>>,
    memory: Memory<Note>,
}

impl Rings {
    /// Rings that hold what can be on each link at a time, so that they never hold a packet back, and packet
    /// memory for them and for 512 frames at each port, or for as many as fit 800 MiB.
    pub fn new(
        environment: Environment,
        fabric: &Fabric,
        framing: Framing,
    ) -> Result<Rings, Error> {
        let ports = 0..fabric.ports().len() as u32;
        let on_links: usize = ports.map(|port| capacity(fabric, framing, port)).sum();
        let frames = on_links + PER_PORT * fabric.ports().len() + BURST;
        // An mbuf is as large as the largest frame, and most frames on a full link are.
        let most = MEMORY / (longest(framing) + OVERHEAD);
        Rings::with_frames(environment, fabric, framing, frames.min(most))
    }

    /// The same with packet memory for `frames` frames. A packet for which there is none is lost.
    pub fn with_frames(
        environment: Environment,
        fabric: &Fabric,
        framing: Framing,
        frames: usize,
    ) -> Result<Rings, Error> {
        let pool = Arc::new(Mempool::new(environment, frames, longest(framing))?);
        let end = |port: usize| End {
            reverse: fabric.ports()[port].reverse.0 as usize,
            capacity: capacity(fabric, framing, port as u32),
            flying: 0,
            staged: Vec::with_capacity(BURST),
            read: VecDeque::new(),
        };
        let ends: Vec<End> = (0..fabric.ports().len()).map(end).collect();
        let carrier = carrier(environment, &pool, &ends)?;
        let scratch = Vec::with_capacity(BURST);
        Ok(Rings { carrier, ends, scratch, memory: Memory::new(pool) })
    }

    /// The packet memory: all of it is free when the backend is gone.
    pub fn pool(&self) -> &Arc<Mempool<Note>> {
        &self.memory.pool
    }

    /// Whether links are `net_ring` pairs, and not bare rings.
    pub fn has_ports(&self) -> bool {
        matches!(self.carrier, Carrier::Ports(_))
    }

    /// Hands what is staged at a port to its ring, which has room for it.
    #[inline]
    fn send(&mut self, port: usize) -> usize {
        let end = &mut self.ends[port];
        match &mut self.carrier {
            Carrier::Ports(ports) => ports[port].send(&mut end.staged),
            Carrier::Bare(rings) => rings[end.reverse].put(&mut end.staged),
        };
        end.staged.len()
    }

    /// When the first frame on the way to `port` is due, if there is one.
    #[inline]
    fn first(&mut self, port: usize) -> Option<Time> {
        let sender = &self.ends[self.ends[port].reverse];
        if sender.flying == sender.staged.len() {
            return None;
        }
        let end = &mut self.ends[port];
        if end.read.is_empty() {
            match &mut self.carrier {
                Carrier::Ports(ports) => ports[port].receive(BURST, &mut self.scratch),
                Carrier::Bare(rings) => rings[port].take(BURST, &mut self.scratch),
            };
            self.scratch.iter().for_each(Mbuf::prefetch);
            end.read.extend(self.scratch.drain(..));
        }
        end.read.front().map(|mbuf| mbuf.private().release)
    }
}

/// The longest frame.
fn longest(framing: Framing) -> usize {
    (framing.mtu as usize + HEADER_BYTES as usize + EXTENSION).min(60_000)
}

/// Ports for all links if there are as many, else bare rings.
fn carrier(
    environment: Environment,
    pool: &Arc<Mempool<Note>>,
    ends: &[End],
) -> Result<Carrier, Error> {
    if ends.len() <= most_ports() {
        match pairs(pool, ends) {
            // Others in this process use some.
            Err(Error::Ports { .. }) => {}
            result => return result.map(Carrier::Ports),
        }
    }
    let ring = |end: &End| Ring::new(environment, ends[end.reverse].capacity);
    ends.iter().map(ring).collect::<Result<_, _>>().map(Carrier::Bare)
}

fn pairs(pool: &Arc<Mempool<Note>>, ends: &[End]) -> Result<Vec<Port<Note>>, Error> {
    let mut ports: Vec<Option<Port<Note>>> = ends.iter().map(|_| None).collect();
    for (index, end) in ends.iter().enumerate() {
        if ports[index].is_none() {
            let [here, there] = Port::pair(pool, end.capacity.max(ends[end.reverse].capacity))?;
            (ports[index], ports[end.reverse]) = (Some(here), Some(there));
        }
    }
    Ok(ports.into_iter().map(|port| port.expect("a link has two ends")).collect())
}

impl PacketIo for Rings {
    type Frame = MbufFrame<Note>;

    #[inline]
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<MbufFrame<Note>>>,
    ) -> usize {
        let port = port as usize;
        let mut count = 0;
        while count < most && self.first(port).is_some_and(|release| release <= now) {
            let mbuf = self.ends[port].read.pop_front().expect("it was just seen");
            let Note { release, complete, .. } = *mbuf.private();
            into.push(Arrival { at: release, complete, frame: MbufFrame(mbuf) });
            count += 1;
        }
        let reverse = self.ends[port].reverse;
        self.ends[reverse].flying -= count;
        self.memory.held += count;
        count
    }

    #[inline]
    fn alloc(&mut self, length: usize) -> Option<MbufFrame<Note>> {
        self.memory.alloc(length)
    }

    #[inline]
    fn free(&mut self, frame: MbufFrame<Note>) {
        self.memory.free(frame);
    }

    #[inline]
    fn stage(
        &mut self,
        port: u32,
        mut frame: MbufFrame<Note>,
        departure: Departure,
    ) -> Result<(), MbufFrame<Note>> {
        let end = &mut self.ends[port as usize];
        if end.flying >= end.capacity {
            return Err(frame);
        }
        let note = frame.0.private_mut();
        (note.release, note.complete) = (departure.release, departure.complete);
        end.flying += 1;
        end.staged.push(frame.0);
        self.memory.held -= 1;
        if end.staged.len() >= BURST {
            self.send(port as usize);
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self, port: u32) -> usize {
        self.send(port as usize)
    }

    #[inline]
    fn room(&mut self, port: u32) -> usize {
        let end = &self.ends[port as usize];
        end.capacity - end.flying
    }

    #[inline]
    fn due(&mut self, port: u32) -> Time {
        match self.first(port as usize) {
            Some(release) => release,
            None => {
                let sender = &self.ends[self.ends[port as usize].reverse];
                sender.staged.first().map_or(Time::NEVER, |mbuf| mbuf.private().release)
            }
        }
    }

    fn keeps_trails(&self) -> bool {
        true
    }

    fn held(&self) -> usize {
        self.memory.held
    }
}
