//! Packets live in one pool and are passed around as 32-bit handles: no allocation and no
//! reference counts in steady state. What every hop touches lies in one cache line.

use crate::probe::{REASONS, TIERS};
use incast_units::Time;
use incast_wire::{Extension, Framing, IntRecord, Packet};
use std::ops::{Index, IndexMut};

/// A packet's handle. Owned by whoever holds it; freed exactly once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct PacketRef(pub u32);

impl PacketRef {
    /// No packet: the end of a list.
    pub const NONE: PacketRef = PacketRef(u32::MAX);
}

/// What a world keeps with a packet that is not on the wire.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Meta {
    /// When it arrived at the node it is in.
    pub arrived: Time,
    /// Picoseconds spent in serialisation so far, stopping at the largest value.
    pub serialised: u32,
    /// The packet behind it in its queue.
    pub next: PacketRef,
    /// In a queue: the packet before it. In flight: the port it left by.
    pub link: u32,
    /// Bytes each link charges for it.
    pub charged: u16,
    /// For the world.
    pub mark: u8,
    /// Tier of the port it waits in, 0..4.
    pub tier: u8,
}

/// What a world records about a packet's path, for the breakdown of flow completion times.
/// All in picoseconds. Hops touch the first cache line only.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Stamps {
    /// Waiting in queues so far, by tier.
    pub waited: [u64; TIERS],
    /// When the information it carries was current (set by markers, copied into answers).
    pub informed: u64,
    /// The port by which it entered the switch it is in.
    pub ingress: u32,
    /// Bytes admitted to the shared buffer for it.
    pub admitted: u32,
    /// When its flow was opened.
    pub started: u64,
    /// When it began to leave its host.
    pub departed: u64,
    /// At departure: time the NIC had spent on its flow before.
    pub own: u64,
    /// At departure: time its flow had been blocked while the NIC was idle, by reason.
    pub blocked: [u64; REASONS],
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Slot {
    packet: Packet,
    meta: Meta,
}

const _: () = assert!(std::mem::size_of::<Slot>() == 64);

/// All packets of one partition.
pub struct PacketPool {
    slots: Vec<Slot>,
    extensions: Vec<Extension>,
    stamps: Vec<Stamps>,
    free: Vec<u32>,
    framing: Framing,
}

impl PacketPool {
    /// An empty pool; `framing` gives what links charge.
    pub fn new(framing: Framing) -> PacketPool {
        PacketPool { slots: vec![], extensions: vec![], stamps: vec![], free: vec![], framing }
    }

    /// Puts a packet into the pool. Its header is cut to the fields' widths.
    #[inline]
    pub fn create(&mut self, mut packet: Packet) -> PacketRef {
        packet.header = packet.header.rounded();
        debug_assert_eq!(packet.extension, 0, "extensions are added with `extend`");
        let meta = Meta {
            arrived: Time::ZERO,
            serialised: 0,
            next: PacketRef::NONE,
            link: u32::MAX,
            charged: self.framing.charged(packet.ip_bytes()) as u16,
            mark: 0,
            tier: 0,
        };
        let slot = Slot { packet, meta };
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                PacketRef(index)
            }
            None => self.grow(slot),
        }
    }

    #[cold]
    fn grow(&mut self, slot: Slot) -> PacketRef {
        self.slots.push(slot);
        self.extensions.push(Extension::None);
        self.stamps.push(Stamps::default());
        PacketRef(u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 packets"))
    }

    /// Gives a packet its extension, or replaces it; links charge for it from here on.
    pub fn extend(&mut self, packet: PacketRef, extension: Extension) {
        let slot = &mut self.slots[packet.0 as usize];
        slot.packet.extension = extension.bytes();
        slot.meta.charged = self.framing.charged(slot.packet.ip_bytes()) as u16;
        self.extensions[packet.0 as usize] = extension;
    }

    /// Writes a telemetry record behind those that are there: into the first unwritten one, or the
    /// packet grows by it. Returns how many are written now; `None` if there is no room, or if the
    /// packet carries something else than telemetry.
    #[inline]
    pub fn add_record(&mut self, packet: PacketRef, record: IntRecord) -> Option<u8> {
        let slot = &mut self.slots[packet.0 as usize];
        if slot.packet.extension == 0 {
            return None;
        }
        let Extension::Int { count, records } = &mut self.extensions[packet.0 as usize] else {
            return None;
        };
        // A stack of fixed depth comes with unwritten records.
        let reserved = &records[..*count as usize];
        let index = reserved.iter().position(|r| r.rate_code == 0).unwrap_or(reserved.len());
        *records.get_mut(index)? = record;
        if index == *count as usize {
            *count += 1;
            slot.packet.extension = 2 + 8 * *count;
            slot.meta.charged = self.framing.charged(slot.packet.ip_bytes()) as u16;
        }
        Some(index as u8 + 1)
    }

    /// The packet's extension; [`Extension::None`] when it has none.
    #[inline]
    pub fn extension(&self, packet: PacketRef) -> &Extension {
        if self.slots[packet.0 as usize].packet.extension == 0 {
            return &Extension::None;
        }
        &self.extensions[packet.0 as usize]
    }

    /// The packet's extension, to change values in it but not its length. `None` if it has none.
    #[inline]
    pub fn extension_mut(&mut self, packet: PacketRef) -> Option<&mut Extension> {
        let present = self.slots[packet.0 as usize].packet.extension > 0;
        present.then(|| &mut self.extensions[packet.0 as usize])
    }

    /// Cuts the payload off (NDP §3.1): the packet becomes its header, flagged.
    pub fn trim(&mut self, packet: PacketRef) {
        let slot = &mut self.slots[packet.0 as usize];
        slot.packet.payload = 0;
        slot.packet.flags |= incast_wire::flag::TRIMMED;
        slot.meta.charged = self.framing.charged(slot.packet.ip_bytes()) as u16;
    }

    /// Ends a packet's life.
    #[inline]
    pub fn free(&mut self, packet: PacketRef) {
        debug_assert!(self.free.len() > 64 || !self.free.contains(&packet.0), "freed twice");
        self.free.push(packet.0);
    }

    /// What the world keeps with it.
    #[inline]
    pub fn meta(&self, packet: PacketRef) -> &Meta {
        &self.slots[packet.0 as usize].meta
    }

    /// What the world keeps with it.
    #[inline]
    pub fn meta_mut(&mut self, packet: PacketRef) -> &mut Meta {
        &mut self.slots[packet.0 as usize].meta
    }

    /// Packet and meta together: one cache line.
    #[inline]
    pub fn both_mut(&mut self, packet: PacketRef) -> (&mut Packet, &mut Meta) {
        let slot = &mut self.slots[packet.0 as usize];
        (&mut slot.packet, &mut slot.meta)
    }

    /// The record of its way.
    #[inline]
    pub fn stamps(&self, packet: PacketRef) -> &Stamps {
        &self.stamps[packet.0 as usize]
    }

    /// The record of its way.
    #[inline]
    pub fn stamps_mut(&mut self, packet: PacketRef) -> &mut Stamps {
        &mut self.stamps[packet.0 as usize]
    }

    /// Bytes each link charges for it.
    #[inline]
    pub fn charged(&self, packet: PacketRef) -> u32 {
        self.slots[packet.0 as usize].meta.charged as u32
    }

    /// Packets alive.
    pub fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Prefetches what every hop touches of a packet. Any handle is allowed.
    #[inline]
    pub fn prefetch(&self, packet: PacketRef) {
        let index = packet.0 as usize;
        prefetch_line(self.slots.as_ptr().wrapping_add(index) as *const u8);
        prefetch_line(self.stamps.as_ptr().wrapping_add(index) as *const u8);
    }

    /// Takes a packet out, to move it to another pool.
    pub fn take(&mut self, packet: PacketRef) -> (Packet, Meta, Extension, Stamps) {
        let index = packet.0 as usize;
        let Slot { packet: content, meta } = self.slots[index];
        let extension = *self.extension(packet);
        let stamps = self.stamps[index];
        self.free(packet);
        (content, meta, extension, stamps)
    }

    /// Puts a packet in that was taken from another pool.
    pub fn put(
        &mut self,
        content: Packet,
        meta: Meta,
        ext: Extension,
        stamps: Stamps,
    ) -> PacketRef {
        let plain = Packet { extension: 0, ..content };
        let packet = self.create(plain);
        if ext != Extension::None {
            self.extend(packet, ext);
        }
        *self.meta_mut(packet) = meta;
        self.stamps[packet.0 as usize] = stamps;
        packet
    }
}

/// Brings the first cache lines of something near that will be needed soon.
#[inline]
pub fn prefetch<T: ?Sized>(what: &T, lines: usize) {
    let first = what as *const T as *const u8;
    (0..lines).for_each(|line| prefetch_line(first.wrapping_add(64 * line)));
}

/// Brings the line of an address near. Any address is allowed.
#[inline]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect a program can observe, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(address as *const i8, _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

impl Index<PacketRef> for PacketPool {
    type Output = Packet;
    #[inline]
    fn index(&self, packet: PacketRef) -> &Packet {
        &self.slots[packet.0 as usize].packet
    }
}

impl IndexMut<PacketRef> for PacketPool {
    #[inline]
    fn index_mut(&mut self, packet: PacketRef) -> &mut Packet {
        &mut self.slots[packet.0 as usize].packet
    }
}
