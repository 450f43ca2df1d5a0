//! The packet: what travels, in the form the program works with.

use crate::Header;

/// A host's number, `0..hosts`. On the wire it is the low 24 bits of an address in 10.0.0.0/8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HostId(pub u32);

/// A flow's number in the run. On the wire it is the two 16-bit ports, high half first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

/// A transport's number in the catalogue, one byte of the common header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TransportId(pub u8);

/// The two bits of the IPv4 ECN field with the meaning of RFC 3168.
///
/// Only transports whose catalogue entry says so use the field this way; a transport with a code
/// of its own (REN, AMRT, DECN) gives the same two bits its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    NotEct = 0b00,
    /// ECT(1).
    Ect1 = 0b01,
    /// ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

/// Flags that any kind of packet may carry; three bits beside the kind.
pub mod flag {
    /// The payload was cut off by a switch (NDP §3.1).
    pub const TRIMMED: u8 = 1;
    /// A switch sent this packet back to its source.
    pub const BOUNCED: u8 = 2;
    /// Not the first transmission of these bytes.
    pub const RETRANSMIT: u8 = 4;
}

/// Everything of a packet that is on the wire, except its extension (kept apart because few
/// packets have one). `decode(encode(p)) == p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Packet {
    /// The transport's own header.
    pub header: Header,
    /// Sending host.
    pub src: HostId,
    /// Receiving host.
    pub dst: HostId,
    /// The flow it belongs to, the same in both directions.
    pub flow: FlowId,
    /// Payload bytes.
    pub payload: u16,
    /// Path entropy (IPv4 identification): what a source that chooses its path sets.
    pub path: u16,
    /// The two ECN bits; their meaning is the transport's.
    pub mark: u8,
    /// Service class, 0..8; 0 is control. On the wire: upper three bits of the DSCP.
    pub class: u8,
    /// Whose packet it is.
    pub transport: TransportId,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Bytes of extension behind the header (0 = none); the extension itself lies beside.
    pub extension: u8,
}

/// Bytes of an IPv4 header and the 20-byte transport header: the 40 bytes of the papers.
pub const HEADER_BYTES: u16 = 40;

impl Packet {
    /// The IP length: headers, extension and payload.
    #[inline]
    pub fn ip_bytes(&self) -> u32 {
        HEADER_BYTES as u32 + self.extension as u32 + self.payload as u32
    }

    /// Whether it carries bytes of a flow.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.payload > 0
    }

    /// Whether a flag of [`flag`] is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// What a link charges for a packet beyond its IP length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Bytes added to each packet: preamble, Ethernet header, FCS and gap are 38.
    pub overhead: u16,
    /// The least a packet is charged: 84 with Ethernet.
    pub minimum: u16,
    /// Largest IP packet.
    pub mtu: u16,
}

impl Framing {
    /// Ethernet with the usual 1500-byte MTU: 38 B overhead, at least 84 B.
    pub const ETHERNET: Framing = Framing { overhead: 38, minimum: 84, mtu: 1500 };
    /// No layer-2 overhead, as the ns-2 figures of the papers count.
    pub const NONE: Framing = Framing { overhead: 0, minimum: 0, mtu: 1500 };

    /// Bytes a link is occupied by a packet of `ip_bytes`.
    #[inline]
    pub fn charged(&self, ip_bytes: u32) -> u32 {
        (ip_bytes + self.overhead as u32).max(self.minimum as u32)
    }

    /// Charged bytes of a full packet.
    pub fn charged_mtu(&self) -> u32 {
        self.charged(self.mtu as u32)
    }

    /// Charged bytes of a packet that is header only.
    pub fn charged_header(&self) -> u32 {
        self.charged(HEADER_BYTES as u32)
    }

    /// Payload of a full packet without extension: 1460 at an MTU of 1500.
    pub fn mss(&self) -> u16 {
        self.mtu - HEADER_BYTES
    }
}
