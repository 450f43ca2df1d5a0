//! The backend in memory: a bounded ring of frames for each direction of each link.

use crate::{Arrival, Departure, PacketIo, Trail};
use incast_fabric::Fabric;
use incast_transport::{Bytes, Framing, Time};
use std::collections::VecDeque;

struct Frame {
    due: Time,
    /// When its last bit is there.
    complete: Time,
    bytes: Vec<u8>,
    /// What it left with; nothing if it was injected.
    trail: Option<Trail>,
}

/// Frames in flight to one port.
struct Ring {
    frames: VecDeque<Frame>,
    capacity: usize,
    /// Most frames there were at a time.
    most: usize,
}

impl Ring {
    /// A link never reorders, so this is the end, unless frames were injected.
    fn put(&mut self, frame: Frame) {
        match self.frames.back() {
            Some(last) if last.due > frame.due => {
                let place = self.frames.partition_point(|other| other.due <= frame.due);
                self.frames.insert(place, frame);
            }
            _ => self.frames.push_back(frame),
        }
    }
}

/// Rings between the ports of a fabric. A frame is copied once, when it is written; buffers are
/// used again.
pub struct Mem {
    /// By the port that receives.
    rings: Vec<Ring>,
    /// The port at the other end of each port's link.
    reverse: Vec<u32>,
    spare: Vec<Vec<u8>>,
}

impl Mem {
    /// Rings that hold what can be on each link at a time, so that they never hold a packet back.
    pub fn new(fabric: &Fabric, framing: Framing) -> Mem {
        let capacity = |port: u32| {
            let spec = &fabric.ports()[port as usize];
            let tx = |bytes: u32| spec.rate.tx_time(Bytes(bytes.max(1) as u64)).0;
            // A frame is on the ring from its start on; the next starts when it has been sent.
            let largest = framing.charged(u16::MAX as u32);
            let within = spec.propagation.0 + tx(largest);
            (within / tx(framing.charged_header()).max(1)) as usize + 2
        };
        Mem::with(fabric, capacity)
    }

    /// Rings of `capacity` frames, at least 1.
    pub fn with_capacity(fabric: &Fabric, capacity: usize) -> Mem {
        Mem::with(fabric, |_| capacity.max(1))
    }

    /// `capacity` of the ring that each port sends into.
    fn with(fabric: &Fabric, capacity: impl Fn(u32) -> usize) -> Mem {
        let reverse: Vec<u32> = fabric.ports().iter().map(|spec| spec.reverse.0).collect();
        let ring =
            |sender: &u32| Ring { frames: VecDeque::new(), capacity: capacity(*sender), most: 0 };
        Mem { rings: reverse.iter().map(ring).collect(), reverse, spare: vec![] }
    }

    /// The largest number of frames in flight to one port at a time.
    pub fn most_on_a_ring(&self) -> usize {
        self.rings.iter().map(|ring| ring.most).max().unwrap_or(0)
    }

    /// Puts a frame of anybody's making in flight to `port`, for tests. Returns whether there was
    /// room.
    pub fn inject(&mut self, port: u32, due: Time, bytes: &[u8]) -> bool {
        let ring = &mut self.rings[port as usize];
        if ring.frames.len() >= ring.capacity {
            return false;
        }
        ring.put(Frame { due, complete: due, bytes: bytes.to_vec(), trail: None });
        ring.most = ring.most.max(ring.frames.len());
        true
    }
}

impl PacketIo for Mem {
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        take: &mut dyn FnMut(Arrival<'_>),
    ) -> usize {
        let ring = &mut self.rings[port as usize];
        let mut count = 0;
        while count < most && ring.frames.front().is_some_and(|frame| frame.due <= now) {
            let frame = ring.frames.pop_front().expect("it was just seen");
            let (at, complete) = (frame.due, frame.complete);
            take(Arrival { at, complete, bytes: &frame.bytes, trail: frame.trail.as_ref() });
            self.spare.push(frame.bytes);
            count += 1;
        }
        count
    }

    fn tx_burst(
        &mut self,
        port: u32,
        frames: &[Departure],
        write: &mut dyn FnMut(usize, &mut [u8]),
    ) -> usize {
        let count = frames.len().min(self.room(port));
        let ring = &mut self.rings[self.reverse[port as usize] as usize];
        for (index, departure) in frames[..count].iter().enumerate() {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.resize(departure.length, 0);
            write(index, &mut bytes);
            let Departure { release, complete, trail, .. } = *departure;
            ring.put(Frame { due: release, complete, bytes, trail: Some(trail) });
        }
        ring.most = ring.most.max(ring.frames.len());
        count
    }

    fn keeps_trails(&self) -> bool {
        true
    }

    fn room(&self, port: u32) -> usize {
        let ring = &self.rings[self.reverse[port as usize] as usize];
        ring.capacity.saturating_sub(ring.frames.len())
    }

    fn due(&self, port: u32) -> Time {
        self.rings[port as usize].frames.front().map_or(Time::NEVER, |frame| frame.due)
    }
}
