//! What packets carry: bytes that an application lends and is given.

use incast_transport::{Flow, FlowId, Header, Packet, flag};

/// The application of a process' hosts: its bytes are what packets carry.
///
/// Checksums cover the headers only, as UDP-Lite's may, so that a switch can trim a packet without
/// reading what it cuts off: what protects payload is the frame check sequence of each link and, end
/// to end, the application.
pub trait Payload {
    /// Lends `length` bytes from `offset` on of what a flow sends. Asked for each packet when it
    /// leaves, so for every retransmission again: what its destination has not acknowledged must
    /// stay. If it lends fewer, the rest of the packet is zeros; more are not looked at.
    fn lend(&mut self, flow: FlowId, offset: u64, length: usize) -> &[u8];

    /// Bytes of a flow have arrived at its destination. Each byte comes once, in whatever order
    /// packets arrive.
    fn deliver(&mut self, flow: FlowId, offset: u64, bytes: &[u8]);
}

impl<P: Payload + ?Sized> Payload for &mut P {
    fn lend(&mut self, flow: FlowId, offset: u64, length: usize) -> &[u8] {
        (**self).lend(flow, offset, length)
    }

    fn deliver(&mut self, flow: FlowId, offset: u64, bytes: &[u8]) {
        (**self).deliver(flow, offset, bytes);
    }
}

/// No application: packets carry zeros, and nobody looks at what arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zeros;

impl Payload for Zeros {
    fn lend(&mut self, _flow: FlowId, _offset: u64, _length: usize) -> &[u8] {
        &[]
    }

    fn deliver(&mut self, _flow: FlowId, _offset: u64, _bytes: &[u8]) {}
}

/// Writes what a packet carries from `offset` on.
pub(crate) fn fill(payload: &mut impl Payload, flow: FlowId, offset: u64, out: &mut [u8]) {
    let lent = payload.lend(flow, offset, out.len());
    let (bytes, rest) = out.split_at_mut(lent.len().min(out.len()));
    bytes.copy_from_slice(&lent[..bytes.len()]);
    rest.fill(0);
}

/// Where a packet's payload begins in its flow: what its header says or, if it has only a number,
/// where the flow's packet of that number begins. Headers carry 32 bits of an offset; `near` is one
/// that is less than 2 GiB away. `None` if the flow has no such packet.
pub(crate) fn offset_of(flow: &Flow, header: &Header, near: u64) -> Option<u64> {
    match *header {
        Header::Segment { seq, .. } => {
            let ahead = seq.wrapping_sub(near as u32) as i32;
            near.checked_add_signed(ahead as i64)
        }
        Header::Data { seq, .. } | Header::Credited { seq, .. } => {
            flow.place(seq).map(|(from, _)| from)
        }
        _ => None,
    }
}

/// Whether a packet is one that switches send back to its source: the header of trimmed data.
pub(crate) fn bounces(packet: &Packet) -> bool {
    let data = matches!(
        packet.header,
        Header::Segment { .. } | Header::Data { .. } | Header::Credited { .. }
    );
    data && packet.has(flag::TRIMMED)
}

/// Whether what a packet claims to carry is a part of its flow: a segment lies within it, and a
/// packet with a number is the flow's packet of that number. What is sent back is the header of
/// trimmed data.
pub(crate) fn fits(flow: &Flow, packet: &Packet) -> bool {
    let payload = packet.payload;
    if packet.has(flag::BOUNCED) {
        return bounces(packet);
    }
    if payload == 0 {
        return true;
    }
    match packet.header {
        // Of a flow of 4 GiB or more, each value is the lower half of some offset.
        Header::Segment { seq, .. } => {
            flow.size > u32::MAX as u64 || seq as u64 + payload as u64 <= flow.size
        }
        Header::Data { seq, offset, .. } => {
            flow.place(seq).is_some_and(|(from, bytes)| (from as u32, bytes) == (offset, payload))
        }
        Header::Credited { seq, .. } => flow.place(seq).is_some_and(|(_, bytes)| bytes == payload),
        _ => false,
    }
}
