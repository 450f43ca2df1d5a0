//! The packet pool. Packets are passed around as 32-bit handles: no allocation and no reference
//! counts in steady state. The data needed per hop fits one cache line.

use crate::spent::{Gap, Spent, TIERS};
use incast_units::Time;
use incast_wire::{Extension, FlowId, Framing, Header, HostId, IntRecord, Packet, TransportId};
use std::ops::{Index, IndexMut};

/// A handle of a packet in the pool. Its holder owns the packet; each packet is freed exactly once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct PacketRef(pub u32);

impl PacketRef {
    /// No packet: the end of a list.
    pub const NONE: PacketRef = PacketRef(u32::MAX);
}

/// The flag of [`Meta::mark`] that the pool sets when a packet's extension may have changed: a world
/// that has the packet's bytes then encodes the extension again.
pub const EDITED: u8 = 1 << 7;

/// The same for what else a packet says, but for its ECN bits.
pub const WRITTEN: u8 = 1 << 6;

/// Per-packet state of a world that is not on the wire.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Meta {
    /// Arrival time at the current node.
    pub arrived: Time,
    /// Picoseconds of serialisation so far, saturating.
    pub serialised: u32,
    /// The next packet in its queue.
    pub next: PacketRef,
    /// In a queue: the previous packet. In flight: the egress port of the last hop.
    pub link: u32,
    /// Bytes that each link charges for it.
    pub charged: u16,
    /// Flags private to the world, but for [`EDITED`] and [`WRITTEN`].
    pub mark: u8,
    /// Tier of the port at which it is queued, 0..4.
    pub tier: u8,
}

/// The state of a packet that has just come.
pub(crate) const NEW: Meta = Meta {
    arrived: Time::ZERO,
    serialised: 0,
    next: PacketRef::NONE,
    link: u32::MAX,
    charged: 0,
    mark: 0,
    tier: 0,
};

/// Timestamps and delays of a packet, for the breakdown of flow completion times. All in
/// picoseconds. Forwarding touches the first cache line only; the third is written by few packets.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Stamps {
    /// Queueing delay so far, by tier.
    pub waited: [u64; TIERS],
    /// When the information it carries was current. Markers set it; receivers copy it into ACKs and
    /// grants.
    pub informed: u64,
    /// Ingress port at the current switch.
    pub ingress: u32,
    /// Bytes charged for it to the shared buffer.
    pub admitted: u32,
    /// The longest wait at one port so far.
    pub worst: u64,
    /// That port, if `worst` is not 0.
    pub worst_port: u32,
    /// Its number among the data packets that its flow has sent, from 1; 0 once it is lost, or if it is
    /// not known. The top bit is set if its [`gap`](Stamps::gap) may be its own.
    pub(crate) number: u32,
    /// When its flow was opened.
    pub started: u64,
    /// When its transmission at the source host started.
    pub departed: u64,
    /// At departure: what its flow's sender has done so far.
    pub spent: Spent,
    /// Since when its flow had sent nothing new; of this packet only if `gap.until` is `departed`.
    pub gap: Gap,
}

/// The bit of [`Stamps::number`] that is set if the gap may be the packet's own.
pub(crate) const HAS_GAP: u32 = 1 << 31;

impl Stamps {
    /// What it carries is lost.
    #[inline]
    pub fn lose(&mut self) {
        self.number &= HAS_GAP;
    }

    /// Its number among the data packets that its flow has sent; 0 if it has none.
    #[inline]
    pub(crate) fn ordinal(&self) -> u32 {
        self.number & !HAS_GAP
    }

    /// The wait that the packet ended, if it carries one.
    #[inline]
    pub(crate) fn own_gap(&self) -> Option<&Gap> {
        (self.number & HAS_GAP != 0 && self.gap.until == self.departed).then_some(&self.gap)
    }

    /// The packet waited for so long at a port.
    #[inline]
    pub fn wait(&mut self, port: u32, tier: u8, waited: u64) {
        self.waited[tier as usize] += waited;
        if waited > self.worst {
            (self.worst, self.worst_port) = (waited, port);
        }
    }
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
    /// Of packets whose paths are recorded: the paths so far.
    taken: Vec<u32>,
    free: Vec<u32>,
    framing: Framing,
}

/// Bytes that a link charges for a packet.
#[inline]
fn charged(framing: &Framing, packet: &Packet) -> u16 {
    framing.charged_packet(packet.payload, packet.extension) as u16
}

impl PacketPool {
    /// An empty pool; `framing` determines the bytes that links charge.
    pub fn new(framing: Framing) -> PacketPool {
        PacketPool {
            slots: vec![],
            extensions: vec![],
            stamps: vec![],
            taken: vec![],
            free: vec![],
            framing,
        }
    }

    /// Reserves addresses for so many packets: memory that no packet has used is the system's. Where it
    /// is not given, the pool grows as it would.
    pub fn reserve(&mut self, packets: usize) {
        if self.slots.try_reserve(packets).is_ok() {
            // Where the second fails it costs a few copies.
            let _ = self.stamps.try_reserve(packets);
        }
    }

    /// Sizes of packets, and the bytes that links charge.
    #[inline]
    pub fn framing(&self) -> &Framing {
        &self.framing
    }

    /// Adds a packet to the pool. Header values are truncated to their fields' widths.
    #[inline]
    pub fn create(&mut self, mut packet: Packet) -> PacketRef {
        packet.header = packet.header.rounded();
        self.adopt(packet)
    }

    /// The same for a packet whose header values fit their fields, as those of a decoded packet do.
    #[inline]
    pub fn adopt(&mut self, packet: Packet) -> PacketRef {
        debug_assert_eq!(packet.extension, 0, "extensions are added with `extend`");
        debug_assert_eq!(packet.header, packet.header.rounded());
        let meta = Meta { charged: charged(&self.framing, &packet), ..NEW };
        let slot = Slot { packet, meta };
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                PacketRef(index)
            }
            None => self.grow(slot),
        }
    }

    /// Adds a packet whose header values fit their fields, as those of a decoded packet do: `write`
    /// fills in all of it, with the length of its extension, and returns whether it is one. The
    /// extension is then set with [`extend`](PacketPool::extend).
    ///
    /// The packet is written where it stays: one that is put together elsewhere is copied by wide
    /// loads, which have to wait for its many narrow stores.
    #[inline]
    pub fn adopt_with(&mut self, write: impl FnOnce(&mut Packet) -> bool) -> Option<PacketRef> {
        if self.free.is_empty() {
            self.grow_free();
        }
        let index = *self.free.last()?;
        let Slot { packet, meta } = &mut self.slots[index as usize];
        if !write(packet) {
            return None;
        }
        debug_assert_eq!(packet.header, packet.header.rounded());
        *meta = Meta { charged: charged(&self.framing, packet), ..NEW };
        self.free.pop();
        Some(PacketRef(index))
    }

    /// One more slot, free.
    #[cold]
    fn grow_free(&mut self) {
        let none = HostId(0);
        let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags: 0 };
        let packet = Packet::header_only(TransportId(0), FlowId(0), none, none, 0, header);
        let slot = self.grow(Slot { packet, meta: NEW });
        self.free.push(slot.0);
    }

    #[cold]
    fn grow(&mut self, slot: Slot) -> PacketRef {
        self.slots.push(slot);
        self.stamps.push(Stamps::default());
        PacketRef(u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 packets"))
    }

    /// Sets or replaces a packet's extension and updates its charged bytes.
    pub fn extend(&mut self, packet: PacketRef, extension: Extension) {
        let slot = &mut self.slots[packet.0 as usize];
        slot.packet.extension = extension.bytes();
        slot.meta.charged = charged(&self.framing, &slot.packet);
        slot.meta.mark |= EDITED;
        self.set_extension(packet, extension);
    }

    /// Packets of a run without extensions have no memory for them.
    #[inline]
    fn set_extension(&mut self, packet: PacketRef, extension: Extension) {
        if packet.0 as usize >= self.extensions.len() {
            self.extensions.resize(self.slots.len(), Extension::None);
        }
        self.extensions[packet.0 as usize] = extension;
    }

    /// Appends a telemetry record: in the first unwritten slot, else at the end, which makes the
    /// packet longer. Returns the number of written records; `None` if the stack is full or the
    /// packet carries no telemetry.
    #[inline]
    pub fn add_record(&mut self, packet: PacketRef, record: IntRecord) -> Option<u8> {
        let slot = &mut self.slots[packet.0 as usize];
        if slot.packet.extension == 0 {
            return None;
        }
        let Extension::Int { count, records } = &mut self.extensions[packet.0 as usize] else {
            return None;
        };
        // A stack of fixed depth starts with unwritten records.
        let reserved = &records[..*count as usize];
        let index = reserved.iter().position(|r| r.rate_code == 0).unwrap_or(reserved.len());
        *records.get_mut(index)? = record;
        slot.meta.mark |= EDITED;
        if index == *count as usize {
            *count += 1;
            slot.packet.extension = 2 + 8 * *count;
            slot.meta.charged = charged(&self.framing, &slot.packet);
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

    /// The packet's extension, for edits that keep its length. `None` if it has none.
    #[inline]
    pub fn extension_mut(&mut self, packet: PacketRef) -> Option<&mut Extension> {
        let slot = &mut self.slots[packet.0 as usize];
        if slot.packet.extension == 0 {
            return None;
        }
        slot.meta.mark |= EDITED;
        Some(&mut self.extensions[packet.0 as usize])
    }

    /// Trims the payload (NDP §3.1): only the header remains, flagged as trimmed.
    pub fn trim(&mut self, packet: PacketRef) {
        let slot = &mut self.slots[packet.0 as usize];
        slot.packet.payload = 0;
        slot.packet.flags |= incast_wire::flag::TRIMMED;
        slot.meta.mark |= WRITTEN;
        slot.meta.charged = charged(&self.framing, &slot.packet);
    }

    /// Frees a packet.
    #[inline]
    pub fn free(&mut self, packet: PacketRef) {
        debug_assert!(self.free.len() > 64 || !self.free.contains(&packet.0), "freed twice");
        self.free.push(packet.0);
    }

    /// The world's state of a packet.
    #[inline]
    pub fn meta(&self, packet: PacketRef) -> &Meta {
        &self.slots[packet.0 as usize].meta
    }

    /// The world's state of a packet.
    #[inline]
    pub fn meta_mut(&mut self, packet: PacketRef) -> &mut Meta {
        &mut self.slots[packet.0 as usize].meta
    }

    /// The packet's ECN bits, which most markers write, and nothing else of a packet.
    #[inline]
    pub fn mark_mut(&mut self, packet: PacketRef) -> &mut u8 {
        &mut self.slots[packet.0 as usize].packet.mark
    }

    /// The packet and its state, which share one cache line.
    #[inline]
    pub fn both(&self, packet: PacketRef) -> (&Packet, &Meta) {
        let slot = &self.slots[packet.0 as usize];
        (&slot.packet, &slot.meta)
    }

    /// The same, to change the state.
    #[inline]
    pub fn both_mut(&mut self, packet: PacketRef) -> (&Packet, &mut Meta) {
        let slot = &mut self.slots[packet.0 as usize];
        (&slot.packet, &mut slot.meta)
    }

    /// The packet's timestamps.
    #[inline]
    pub fn stamps(&self, packet: PacketRef) -> &Stamps {
        &self.stamps[packet.0 as usize]
    }

    /// The packet's timestamps.
    #[inline]
    pub fn stamps_mut(&mut self, packet: PacketRef) -> &mut Stamps {
        &mut self.stamps[packet.0 as usize]
    }

    /// The number of the path that the packet has taken so far; 0 if paths are not recorded.
    #[inline]
    pub fn path_taken(&self, packet: PacketRef) -> u32 {
        self.taken.get(packet.0 as usize).copied().unwrap_or(0)
    }

    /// Sets it.
    pub fn set_path_taken(&mut self, packet: PacketRef, path: u32) {
        let index = packet.0 as usize;
        if self.taken.len() <= index {
            self.taken.resize(self.slots.len(), 0);
        }
        self.taken[index] = path;
    }

    /// The packet has come from nowhere: it has not waited, and nobody has informed it. The rest of
    /// its timestamps, which is then of another packet, stays.
    #[inline]
    pub fn forget_waits(&mut self, packet: PacketRef) {
        let stamps = &mut self.stamps[packet.0 as usize];
        // Field by field: a whole value would be built elsewhere and copied.
        stamps.waited = [0; TIERS];
        (stamps.informed, stamps.ingress, stamps.admitted) = (0, 0, 0);
        (stamps.worst, stamps.worst_port) = (0, 0);
    }

    /// What the packet's source did is not known: all its time since its flow was opened at `started`
    /// counts as transit. Its [`gap`](Stamps::gap), which is then of another packet, stays.
    #[inline]
    pub fn forget_source(&mut self, packet: PacketRef, started: u64) {
        let stamps = &mut self.stamps[packet.0 as usize];
        (stamps.started, stamps.departed) = (started, started);
        stamps.spent = Spent::default();
        stamps.number = HAS_GAP;
    }

    /// Bytes that each link charges for a packet.
    #[inline]
    pub fn charged(&self, packet: PacketRef) -> u32 {
        self.slots[packet.0 as usize].meta.charged as u32
    }

    /// The numbers of the packets that were freed and not used again.
    pub fn freed(&self) -> &[u32] {
        &self.free
    }

    /// Number of packets in the pool.
    pub fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Prefetches the per-hop data of a packet. Any handle is allowed.
    #[inline]
    pub fn prefetch(&self, packet: PacketRef) {
        let index = packet.0 as usize;
        prefetch_line(self.slots.as_ptr().wrapping_add(index) as *const u8);
        prefetch_line(self.stamps.as_ptr().wrapping_add(index) as *const u8);
    }

    /// Prefetches what a packet's source wrote into its timestamps. Any handle is allowed.
    #[inline]
    pub fn prefetch_source(&self, packet: PacketRef) {
        let stamps = self.stamps.as_ptr().wrapping_add(packet.0 as usize) as *const u8;
        (1..3).for_each(|line| prefetch_line(stamps.wrapping_add(64 * line)));
    }

    /// Removes a packet, to move it to another pool.
    pub fn take(&mut self, packet: PacketRef) -> (Packet, Meta, Extension, Stamps) {
        let index = packet.0 as usize;
        let Slot { packet: content, meta } = self.slots[index];
        let extension = *self.extension(packet);
        let stamps = self.stamps[index];
        self.free(packet);
        (content, meta, extension, stamps)
    }

    /// Adds a packet that was removed from another pool with [`take`](PacketPool::take).
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

/// Prefetches the first `lines` cache lines of a value.
#[inline]
pub fn prefetch<T: ?Sized>(what: &T, lines: usize) {
    let first = what as *const T as *const u8;
    (0..lines).for_each(|line| prefetch_line(first.wrapping_add(64 * line)));
}

/// Prefetches the cache line of an address. Any address is allowed.
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
        let slot = &mut self.slots[packet.0 as usize];
        slot.meta.mark |= WRITTEN;
        &mut slot.packet
    }
}
