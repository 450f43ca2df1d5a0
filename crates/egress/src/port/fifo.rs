//! A queue of packets linked through the packets themselves.

use incast_transport::{Backlog, PacketPool, PacketRef};

/// First in, first out. All operations take constant time and none allocates: the links are the
/// `next` and `link` fields of the packets' [`Meta`](incast_transport::Meta), so a packet is in at
/// most one queue. In 20 bytes, so that the two queues of most ports leave room in their cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Fifo {
    head: PacketRef,
    tail: PacketRef,
    packets: u32,
    bytes: u64,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo { head: PacketRef::NONE, tail: PacketRef::NONE, packets: 0, bytes: 0 }
    }
}

impl Fifo {
    /// Packets and charged bytes waiting.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: self.packets }
    }

    /// The packet that has waited longest.
    #[inline]
    pub fn head(&self) -> Option<PacketRef> {
        (self.head != PacketRef::NONE).then_some(self.head)
    }

    /// The packet that came last.
    #[inline]
    pub fn tail(&self) -> Option<PacketRef> {
        (self.tail != PacketRef::NONE).then_some(self.tail)
    }

    /// All of them, the packet that has waited longest first.
    pub fn iter<'a>(&self, packets: &'a PacketPool) -> impl Iterator<Item = PacketRef> + 'a {
        let after = |packet: &PacketRef| {
            Some(packets.meta(*packet).next).filter(|next| *next != PacketRef::NONE)
        };
        std::iter::successors(self.head(), after)
    }

    /// Appends a packet and returns its charged bytes, which must not change while it waits.
    #[inline]
    pub fn push(&mut self, packets: &mut PacketPool, packet: PacketRef) -> u32 {
        let meta = packets.meta_mut(packet);
        meta.next = PacketRef::NONE;
        meta.link = self.tail.0;
        let charged = meta.charged as u32;
        if self.tail == PacketRef::NONE {
            self.head = packet;
        } else {
            packets.meta_mut(self.tail).next = packet;
        }
        self.tail = packet;
        self.packets += 1;
        self.bytes += charged as u64;
        charged
    }

    /// Takes the packet out that has waited longest.
    #[inline]
    pub fn pop(&mut self, packets: &PacketPool) -> Option<PacketRef> {
        let packet = self.head()?;
        let meta = packets.meta(packet);
        self.head = meta.next;
        packets.prefetch(self.head);
        if self.head == PacketRef::NONE {
            self.tail = PacketRef::NONE;
        }
        self.forget(meta.charged);
        Some(packet)
    }

    /// Takes the packet out that came last.
    pub fn pop_tail(&mut self, packets: &mut PacketPool) -> Option<PacketRef> {
        let packet = self.tail()?;
        self.unlink(packets, packet);
        Some(packet)
    }

    /// Takes out a packet of this queue, wherever it is.
    pub fn unlink(&mut self, packets: &mut PacketPool, packet: PacketRef) {
        let meta = *packets.meta(packet);
        // The head's backward link is stale: `pop` does not touch the packet behind it.
        if packet == self.head {
            self.head = meta.next;
        } else {
            packets.meta_mut(PacketRef(meta.link)).next = meta.next;
        }
        if packet == self.tail {
            let before = if self.head == PacketRef::NONE { PacketRef::NONE.0 } else { meta.link };
            self.tail = PacketRef(before);
        } else {
            packets.meta_mut(meta.next).link = meta.link;
        }
        self.forget(meta.charged);
    }

    #[inline]
    fn forget(&mut self, charged: u16) {
        self.packets -= 1;
        self.bytes -= charged as u64;
        debug_assert!(self.packets > 0 || self.bytes == 0, "bytes of an empty queue");
    }
}
