//! The packets of a node and the frames that they came in. A switch sends the frame on that it has
//! received: only what has changed is written.

use crate::{Frame, PacketIo};
use incast_transport::{EDITED, Extension, FlowId, Framing, Packet, PacketPool, PacketRef};
use incast_wire::{HEADER_BYTES, decode_extension, decode_headers_into, encode_headers, rewrite};

/// A frame, and how many bytes of it are the extension.
struct Framed<F> {
    frame: F,
    extension: u8,
}

impl<F: Frame> Framed<F> {
    /// Bytes of the payload: what is behind the headers.
    fn payload(&self) -> usize {
        self.frame.bytes().len() - self.headers()
    }

    fn headers(&self) -> usize {
        HEADER_BYTES as usize + self.extension as usize
    }
}

/// The packets of a node, each with its frame if it came in one.
pub(crate) struct Packets<F> {
    pub pool: PacketPool,
    /// By packet; shorter than the pool if the last ones have none.
    frames: Vec<Option<Framed<F>>>,
}

impl<F: Frame> Packets<F> {
    pub fn new(framing: Framing) -> Packets<F> {
        Packets { pool: PacketPool::new(framing), frames: vec![] }
    }

    /// Adds the packet of a frame, whose padding goes, with the path that came with the frame; if none
    /// did, with that of a packet whose flow was opened at `started`. Gives the frame back if its
    /// headers are malformed, or the packet does not belong here.
    #[inline]
    pub fn receive(
        &mut self,
        mut frame: F,
        belongs: impl FnOnce(&Packet) -> bool,
        started: impl FnOnce(FlowId) -> u64,
    ) -> Result<PacketRef, F> {
        let packet = self.pool.adopt_with(|packet| {
            decode_headers_into(frame.bytes(), packet).is_ok() && belongs(packet)
        });
        let Some(packet) = packet else { return Err(frame) };
        let (content, _) = self.pool.both_mut(packet);
        let (extension, flow) = (content.extension, content.flow);
        frame.truncate(content.ip_bytes() as usize);
        if extension > 0 {
            let read = decode_extension(frame.bytes(), content);
            self.pool.extend(packet, read);
            self.pool.meta_mut(packet).mark &= !EDITED;
        }
        match frame.trail() {
            Some(trail) => {
                *self.pool.stamps_mut(packet) = trail.stamps;
                self.pool.meta_mut(packet).serialised = trail.serialised;
            }
            None => self.pool.forget_path(packet, started(flow)),
        }
        self.keep(packet, Framed { frame, extension });
        Ok(packet)
    }

    #[inline]
    fn keep(&mut self, packet: PacketRef, framed: Framed<F>) {
        let index = packet.0 as usize;
        if self.frames.len() <= index {
            self.lengthen(index);
        }
        let place = &mut self.frames[index];
        assert!(place.is_none(), "a packet was freed and its frame was not");
        *place = Some(framed);
    }

    #[cold]
    fn lengthen(&mut self, index: usize) {
        self.frames.resize_with(index + 1, || None);
    }

    #[inline]
    fn take(&mut self, packet: PacketRef) -> Option<Framed<F>> {
        self.frames.get_mut(packet.0 as usize).and_then(Option::take)
    }

    /// Whether a packet came in a frame.
    pub fn has_frame(&self, packet: PacketRef) -> bool {
        matches!(self.frames.get(packet.0 as usize), Some(Some(_)))
    }

    /// The payload of a packet as it came; nothing of one that came in no frame.
    pub fn payload(&self, packet: PacketRef) -> &[u8] {
        match self.frames.get(packet.0 as usize) {
            Some(Some(framed)) => &framed.frame.bytes()[framed.headers()..],
            _ => &[],
        }
    }

    /// A packet's life ends.
    pub fn free(&mut self, io: &mut impl PacketIo<Frame = F>, packet: PacketRef) {
        if let Some(framed) = self.take(packet) {
            io.free(framed.frame);
        }
        self.pool.free(packet);
    }

    /// A packet just like this one, in a frame of its own; `None` if there is no frame for it.
    pub fn copy(
        &mut self,
        io: &mut impl PacketIo<Frame = F>,
        packet: PacketRef,
    ) -> Option<PacketRef> {
        let framed = match self.frames.get(packet.0 as usize) {
            Some(Some(Framed { frame, extension })) => {
                let mut copy = io.alloc(frame.bytes().len())?;
                copy.bytes_mut().copy_from_slice(frame.bytes());
                Some(Framed { frame: copy, extension: *extension })
            }
            _ => None,
        };
        let copy = incast_world::copied(&mut self.pool, packet);
        if let Some(framed) = framed {
            self.keep(copy, framed);
        }
        Some(copy)
    }

    /// Takes a packet's frame out to send it: the one that it came in, brought up to what the
    /// packet is now, or a new one, whose payload `fill` writes. `None` if there is no frame for it.
    pub fn depart<I: PacketIo<Frame = F>>(
        &mut self,
        io: &mut I,
        packet: PacketRef,
        fill: impl FnOnce(&Packet, &mut [u8]),
    ) -> Option<F> {
        let (content, extension) = (&self.pool[packet], self.pool.extension(packet));
        let framed = self.frames.get_mut(packet.0 as usize).and_then(Option::take);
        let Some(mut framed) = framed else {
            let mut frame = io.alloc(content.ip_bytes() as usize)?;
            let headers = encode_headers(content, extension, frame.bytes_mut());
            fill(content, &mut frame.bytes_mut()[headers..]);
            return Some(frame);
        };
        let same =
            framed.extension == content.extension && framed.payload() == content.payload as usize;
        let edited = self.pool.meta(packet).mark & EDITED != 0;
        if same && !(edited && content.extension > 0) {
            rewrite(framed.frame.bytes_mut(), content);
            return Some(framed.frame);
        }
        encode_again(io, framed, content, extension)
    }

    /// Gives all frames back: the run is over.
    pub fn clear(&mut self, io: &mut impl PacketIo<Frame = F>) {
        for freed in self.pool.freed() {
            let frame = self.frames.get(*freed as usize).and_then(Option::as_ref);
            assert!(frame.is_none(), "packet {freed} was freed and its frame was not");
        }
        self.frames.drain(..).flatten().for_each(|framed| io.free(framed.frame));
    }
}

/// Writes the headers of a packet whose length or extension has changed in front of its payload.
#[cold]
fn encode_again<I: PacketIo>(
    io: &mut I,
    framed: Framed<I::Frame>,
    is: &Packet,
    extension: &Extension,
) -> Option<I::Frame> {
    assert!(is.payload as usize <= framed.payload(), "a packet's payload grows");
    let Framed { mut frame, extension: old } = framed;
    let (old, new) = (old as usize, is.extension as usize);
    let headers = HEADER_BYTES as usize;
    frame.truncate(headers + old + is.payload as usize);
    if old > new {
        frame.cut_front(old - new);
    } else if !frame.grow_front(new - old) {
        let longer = io.alloc(is.ip_bytes() as usize);
        let longer = longer.map(|mut longer| {
            let payload = &frame.bytes()[headers + old..];
            longer.bytes_mut()[headers + new..].copy_from_slice(payload);
            longer
        });
        io.free(frame);
        frame = longer?;
    }
    encode_headers(is, extension, frame.bytes_mut());
    Some(frame)
}
