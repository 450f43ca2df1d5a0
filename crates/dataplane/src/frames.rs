//! The packets of a node and the frames that they came in. A switch sends the frame on that it has
//! received: only what has changed is written.

use crate::{Frame, PacketIo};
use incast_transport::{
    EDITED, Extension, FlowId, Framing, Packet, PacketPool, PacketRef, Probe, WRITTEN,
};
use incast_wire::{
    HEADER_BYTES, decode_extension, decode_headers_into, encode_headers, rewrite, rewrite_mark,
};

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
    /// Whether all packets have their timestamps. Where they come without a path, a switch needs
    /// few of them.
    pub stamped: bool,
}

impl<F: Frame> Packets<F> {
    pub fn new(framing: Framing, stamped: bool) -> Packets<F> {
        Packets { pool: PacketPool::new(framing), frames: vec![], stamped }
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
        let content = &self.pool[packet];
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
                if trail.taken != self.pool.path_taken(packet) {
                    self.pool.set_path_taken(packet, trail.taken);
                }
            }
            None => {
                self.pool.forget_waits(packet);
                if self.stamped {
                    self.pool.forget_source(packet, started(flow));
                }
            }
        }
        self.keep(packet, Framed { frame, extension });
        Ok(packet)
    }

    /// Sets the timestamps that the packet does not have: it is lost, and what is recorded of that has
    /// all of them.
    #[cold]
    pub fn complete_stamps(&mut self, packet: PacketRef, started: impl FnOnce(FlowId) -> u64) {
        if !self.stamped {
            let flow = self.pool[packet].flow;
            self.pool.forget_source(packet, started(flow));
        }
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
        probe: &mut Probe,
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
        let copy = incast_world::copied(probe, &mut self.pool, packet);
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
        let (content, meta) = self.pool.both(packet);
        let framed = self.frames.get_mut(packet.0 as usize).and_then(Option::take);
        let Some(mut framed) = framed else {
            let extension = self.pool.extension(packet);
            let mut frame = io.alloc(content.ip_bytes() as usize)?;
            let headers = encode_headers(content, extension, frame.bytes_mut());
            fill(content, &mut frame.bytes_mut()[headers..]);
            return Some(frame);
        };
        let same =
            framed.extension == content.extension && framed.payload() == content.payload as usize;
        let edited = meta.mark & EDITED != 0;
        if same && !(edited && content.extension > 0) {
            match meta.mark & WRITTEN != 0 {
                true => rewrite(framed.frame.bytes_mut(), content),
                false => rewrite_mark(framed.frame.bytes_mut(), content.mark),
            }
            return Some(framed.frame);
        }
        encode_again(io, framed, content, self.pool.extension(packet))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mem;
    use incast_fabric::{LinkDefaults, parse};
    use incast_transport::{Header, HostId, Rate, Span, TransportId};
    use incast_wire::{decode, encode};

    fn memory() -> Mem {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        let fabric = parse("star:2", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap();
        Mem::new(&fabric, Framing::ETHERNET)
    }

    /// Takes in a frame of a packet with a payload of 100 B.
    fn arrive<F: Frame>(packets: &mut Packets<F>, io: &mut impl PacketIo<Frame = F>) -> PacketRef {
        let header = Header::Data { seq: 7, offset: 700, tag: 3, flags: 0 };
        let (src, dst) = (HostId(0), HostId(1));
        let sent = Packet::header_only(TransportId(1), FlowId(5), src, dst, 1, header);
        let mut bytes = vec![];
        encode(&Packet { payload: 100, ..sent }, &Extension::None, &mut bytes);
        let mut frame = io.alloc(bytes.len()).unwrap();
        frame.bytes_mut().copy_from_slice(&bytes);
        packets.receive(frame, |_| true, |_| 900).ok().unwrap()
    }

    /// Whatever was written, in whichever way, is in the frame that leaves, and its checksums are right.
    #[test]
    fn what_was_written_leaves() {
        let writes: [fn(&mut PacketPool, PacketRef); 6] = [
            |_, _| {},
            |pool, packet| *pool.mark_mut(packet) = 2,
            |pool, packet| pool[packet].class = 3,
            |pool, packet| pool[packet].flags |= incast_wire::flag::RETRANSMIT,
            |pool, packet| pool.trim(packet),
            |pool, packet| {
                *pool.mark_mut(packet) = 3;
                pool[packet].header = Header::Data { seq: 7, offset: 700, tag: 4, flags: 1 };
            },
        ];
        let (mut io, mut packets) = (memory(), Packets::new(Framing::ETHERNET, true));
        for write in writes {
            let packet = arrive(&mut packets, &mut io);
            let before = packets.pool[packet];
            write(&mut packets.pool, packet);
            let is = packets.pool[packet];
            let frame = packets.depart(&mut io, packet, |_, _| {}).unwrap();
            assert_eq!(decode(frame.bytes()).unwrap().0, is, "it was {before:?}");
            packets.pool.free(packet);
            io.free(frame);
        }
    }

    /// A packet in the place of another one has nothing of that one's life where a loss is recorded.
    #[test]
    fn a_loss_has_no_timestamps_of_another_packet() {
        let (mut io, mut packets) = (memory(), Packets::new(Framing::ETHERNET, false));
        let first = arrive(&mut packets, &mut io);
        let stamps = packets.pool.stamps_mut(first);
        (stamps.started, stamps.departed, stamps.informed, stamps.ingress) = (1, 2, 3, 4);
        stamps.wait(6, 1, 50);
        packets.free(&mut io, first);
        let second = arrive(&mut packets, &mut io);
        assert_eq!(first, second);
        packets.pool.stamps_mut(second).wait(8, 2, 10);
        packets.complete_stamps(second, |flow| 100 + u64::from(flow.0));
        let stamps = packets.pool.stamps(second);
        assert_eq!((stamps.started, stamps.departed), (105, 105));
        assert_eq!((stamps.informed, stamps.ingress, stamps.worst_port), (0, 0, 8));
        assert_eq!(stamps.waited.iter().sum::<u64>(), 10);
    }
}
