//! The backend in memory: a bounded ring of frames for each direction of each link.

use crate::{Arrival, Departure, Frame, HEADROOM, PacketIo, Trail};
use incast_fabric::Fabric;
use incast_transport::{Bytes, Framing, Time};
use std::collections::VecDeque;

/// Most bytes of a frame: the largest IPv4 packet.
const LONGEST: usize = u16::MAX as usize;

/// A frame in memory.
#[derive(Debug, Default)]
pub struct Buffer(Box<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The frame begins at `start` and goes on to the end.
    bytes: Vec<u8>,
    start: usize,
    /// What it left with; nothing if it was injected.
    trail: Option<Trail>,
}

impl Buffer {
    /// Makes it a frame of `length` bytes.
    pub(crate) fn begin(&mut self, length: usize) {
        self.0.bytes.resize(HEADROOM + length, 0);
        (self.0.start, self.0.trail) = (HEADROOM, None);
    }
}

impl Frame for Buffer {
    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.0.bytes[self.0.start..]
    }

    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0.bytes[self.0.start..]
    }

    fn grow_front(&mut self, by: usize) -> bool {
        let start = self.0.start.checked_sub(by);
        self.0.start = start.unwrap_or(self.0.start);
        start.is_some()
    }

    fn cut_front(&mut self, by: usize) {
        assert!(by <= self.bytes().len(), "{by} bytes are more than the frame has");
        self.0.start += by;
    }

    fn truncate(&mut self, length: usize) {
        self.0.bytes.truncate(self.0.start + length);
    }

    #[inline]
    fn trail(&self) -> Option<&Trail> {
        self.0.trail.as_ref()
    }

    #[inline]
    fn set_trail(&mut self, trail: &Trail) {
        self.0.trail = Some(*trail);
    }
}

/// A frame in flight.
struct Flying {
    due: Time,
    /// When its last bit is there.
    complete: Time,
    frame: Buffer,
}

/// Frames in flight to one port.
struct Ring {
    frames: VecDeque<Flying>,
    capacity: usize,
    /// Most frames there were at a time.
    most: usize,
}

impl Ring {
    /// A link never reorders, so this is the end, unless frames were injected.
    #[inline]
    fn put(&mut self, flying: Flying) {
        match self.frames.back() {
            Some(last) if last.due > flying.due => {
                let place = self.frames.partition_point(|other| other.due <= flying.due);
                self.frames.insert(place, flying);
            }
            _ => self.frames.push_back(flying),
        }
        self.most = self.most.max(self.frames.len());
    }

    #[inline]
    fn room(&self) -> usize {
        self.capacity.saturating_sub(self.frames.len())
    }
}

/// Rings between the ports of a fabric. Nodes hand frames on; buffers are used again.
pub struct Mem {
    /// By the port that receives.
    rings: Vec<Ring>,
    /// The port at the other end of each port's link.
    reverse: Vec<u32>,
    spare: Vec<Buffer>,
    /// Frames that nodes hold.
    held: usize,
    /// Most frames that may exist.
    limit: usize,
    /// Frames that exist.
    made: usize,
}

/// How many frames can be on the link that `port` sends into at a time.
pub(crate) fn capacity(fabric: &Fabric, framing: Framing, port: u32) -> usize {
    let spec = &fabric.ports()[port as usize];
    let tx = |bytes: u32| spec.rate.tx_time(Bytes(bytes.max(1) as u64)).0;
    // A frame is on the ring from its start on; the next starts when it has been sent.
    let largest = framing.charged(u16::MAX as u32);
    let within = spec.propagation.0 + tx(largest);
    (within / tx(framing.charged_header()).max(1)) as usize + 2
}

impl Mem {
    /// Rings that hold what can be on each link at a time, so that they never hold a packet back.
    pub fn new(fabric: &Fabric, framing: Framing) -> Mem {
        Mem::with(fabric, |port| capacity(fabric, framing, port))
    }

    /// Rings of `capacity` frames, at least 1.
    pub fn with_capacity(fabric: &Fabric, capacity: usize) -> Mem {
        Mem::with(fabric, |_| capacity.max(1))
    }

    /// The same with at most `frames` frames at a time, as a memory pool of that size has.
    pub fn limited_to(self, frames: usize) -> Mem {
        Mem { limit: frames, ..self }
    }

    /// `capacity` of the ring that each port sends into.
    fn with(fabric: &Fabric, capacity: impl Fn(u32) -> usize) -> Mem {
        let reverse: Vec<u32> = fabric.ports().iter().map(|spec| spec.reverse.0).collect();
        let ring =
            |sender: &u32| Ring { frames: VecDeque::new(), capacity: capacity(*sender), most: 0 };
        let rings = reverse.iter().map(ring).collect();
        Mem { rings, reverse, spare: vec![], held: 0, limit: usize::MAX, made: 0 }
    }

    /// The largest number of frames in flight to one port at a time.
    pub fn most_on_a_ring(&self) -> usize {
        self.rings.iter().map(|ring| ring.most).max().unwrap_or(0)
    }

    /// Most frames there were at a time.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Frames that were dropped instead of given back.
    pub fn lost(&self) -> usize {
        let flying: usize = self.rings.iter().map(|ring| ring.frames.len()).sum();
        self.made - self.spare.len() - flying - self.held
    }

    /// Puts a frame of anybody's making in flight to `port`, for tests. Returns whether there was
    /// room.
    pub fn inject(&mut self, port: u32, due: Time, bytes: &[u8]) -> bool {
        if self.rings[port as usize].room() == 0 {
            return false;
        }
        let Some(mut frame) = self.take(bytes.len()) else { return false };
        frame.bytes_mut().copy_from_slice(bytes);
        self.rings[port as usize].put(Flying { due, complete: due, frame });
        true
    }

    /// A free buffer, for `length` bytes.
    fn take(&mut self, length: usize) -> Option<Buffer> {
        let mut frame = match self.spare.pop() {
            Some(frame) => frame,
            None if self.made == self.limit => return None,
            None => {
                self.made += 1;
                Buffer::default()
            }
        };
        frame.begin(length);
        Some(frame)
    }
}

impl PacketIo for Mem {
    type Frame = Buffer;

    #[inline]
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        let ring = &mut self.rings[port as usize];
        let mut count = 0;
        while count < most && ring.frames.front().is_some_and(|flying| flying.due <= now) {
            let Flying { due, complete, frame } =
                ring.frames.pop_front().expect("it was just seen");
            into.push(Arrival { at: due, complete, frame });
            count += 1;
        }
        self.held += count;
        count
    }

    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        let frame = (length <= LONGEST).then(|| self.take(length)).flatten();
        self.held += frame.is_some() as usize;
        frame
    }

    #[inline]
    fn free(&mut self, frame: Buffer) {
        self.held -= 1;
        self.spare.push(frame);
    }

    #[inline]
    fn stage(&mut self, port: u32, frame: Buffer, departure: Departure) -> Result<(), Buffer> {
        let ring = &mut self.rings[self.reverse[port as usize] as usize];
        if ring.room() == 0 {
            return Err(frame);
        }
        let Departure { release, complete, .. } = departure;
        ring.put(Flying { due: release, complete, frame });
        self.held -= 1;
        Ok(())
    }

    #[inline]
    fn flush(&mut self, _port: u32) -> usize {
        0
    }

    fn keeps_trails(&self) -> bool {
        true
    }

    #[inline]
    fn room(&mut self, port: u32) -> usize {
        self.rings[self.reverse[port as usize] as usize].room()
    }

    #[inline]
    fn due(&mut self, port: u32) -> Time {
        self.rings[port as usize].frames.front().map_or(Time::NEVER, |flying| flying.due)
    }

    fn held(&self) -> usize {
        self.held
    }
}
