//! The packet in its decoded form.

use crate::Header;

/// A host number, `0..hosts`. On the wire: the low 24 bits of an address in 10.0.0.0/8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HostId(pub u32);

/// A flow number of the run. On the wire: the two 16-bit ports, high half first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

/// A transport number of the catalogue. On the wire: one byte of the common header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TransportId(pub u8);

/// The two bits of the IPv4 ECN field with the meaning of RFC 3168.
///
/// The catalogue entry of a transport states whether it uses the field this way. Transports with
/// their own code (REN, AMRT, DECN) define their own type for these bits.
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

/// Flags of all packet types, three bits next to the kind.
pub mod flag {
    /// A switch trimmed the payload (NDP §3.1).
    pub const TRIMMED: u8 = 1;
    /// A switch returned the packet to its source.
    pub const BOUNCED: u8 = 2;
    /// A retransmission.
    pub const RETRANSMIT: u8 = 4;
}

/// A packet without its extension, which is stored apart because few packets have one.
/// `decode(encode(p)) == p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Packet {
    /// The transport-specific header.
    pub header: Header,
    /// Sending host.
    pub src: HostId,
    /// Receiving host.
    pub dst: HostId,
    /// The flow, the same in both directions.
    pub flow: FlowId,
    /// Payload bytes.
    pub payload: u16,
    /// Path number (IPv4 identification), set by sources that choose their paths.
    pub path: u16,
    /// The two ECN bits. The transport defines their meaning.
    pub mark: u8,
    /// Service class, 0..8; 0 is control. On the wire: upper three bits of the DSCP.
    pub class: u8,
    /// The transport.
    pub transport: TransportId,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Bytes of the extension after the header, 0 for none.
    pub extension: u8,
}

/// Bytes of the IPv4 and transport headers, 20 each.
pub const HEADER_BYTES: u16 = 40;

impl Packet {
    /// A packet without payload and extension, not ECN-capable, without flags, that leaves the
    /// choice of its path to the fabric.
    #[inline]
    pub fn header_only(
        transport: TransportId,
        flow: FlowId,
        src: HostId,
        dst: HostId,
        class: u8,
        header: impl Into<Header>,
    ) -> Packet {
        Packet {
            header: header.into(),
            src,
            dst,
            flow,
            payload: 0,
            path: 0,
            mark: 0,
            class,
            transport,
            flags: 0,
            extension: 0,
        }
    }

    /// The IP length: headers, extension and payload.
    #[inline]
    pub fn ip_bytes(&self) -> u32 {
        HEADER_BYTES as u32 + self.extension as u32 + self.payload as u32
    }

    /// Whether the packet has a payload.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.payload > 0
    }

    /// Whether the given bit of [`flag`] is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Sizes of packets, and the bytes that a link charges for each.
///
/// Headers on the wire take [`HEADER_BYTES`]. A link can charge other sizes, those of other
/// simulators for instance: `header` for a packet with payload and `control` for one without. The
/// extension of a packet is charged in addition to both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Bytes per packet beyond its network-layer length: 38 with Ethernet (preamble, header, FCS,
    /// gap).
    pub overhead: u16,
    /// Smallest charge per packet: 84 B with Ethernet.
    pub minimum: u16,
    /// Largest packet at the network layer, in bytes.
    pub mtu: u16,
    /// Headers of a packet with payload, in bytes at the network layer.
    pub header: u16,
    /// A packet without payload - ACK, grant, credit, pull, trimmed header - in bytes at the
    /// network layer.
    pub control: u16,
    /// Whether every packet with payload is charged as a full one, so also the last of a flow.
    pub pad_last: bool,
}

impl Framing {
    /// Ethernet with an MTU of 1500 B: 38 B of overhead, at least 84 B per packet.
    pub const ETHERNET: Framing = Framing {
        overhead: 38,
        minimum: 84,
        mtu: 1500,
        header: HEADER_BYTES,
        control: HEADER_BYTES,
        pad_last: false,
    };
    /// No layer-2 overhead, as in the papers' ns-2 figures.
    pub const NONE: Framing = Framing { overhead: 0, minimum: 0, ..Framing::ETHERNET };

    /// Bytes that a link charges for `network_bytes` at the network layer.
    #[inline]
    pub fn charged(&self, network_bytes: u32) -> u32 {
        (network_bytes + self.overhead as u32).max(self.minimum as u32)
    }

    /// Bytes that a link charges for a packet of so many bytes of payload and extension.
    #[inline]
    pub fn charged_packet(&self, payload: u16, extension: u8) -> u32 {
        let (payload, extension) = (payload as u32, extension as u32);
        if payload == 0 {
            return self.charged(self.control as u32 + extension);
        }
        let length = self.header as u32 + extension + payload;
        self.charged(if self.pad_last { length.max(self.mtu as u32) } else { length })
    }

    /// Charged bytes of a full packet.
    pub fn charged_mtu(&self) -> u32 {
        self.charged(self.mtu as u32)
    }

    /// Charged bytes of a packet without payload and extension.
    pub fn charged_header(&self) -> u32 {
        self.charged(self.control as u32)
    }

    /// Bytes by which the smallest charge exceeds a packet without payload and extension.
    pub fn control_fill(&self) -> u32 {
        self.charged_header() - self.overhead as u32 - self.control as u32
    }

    /// Payload of a full packet without extension: 1460 B at an MTU of 1500 B.
    pub fn mss(&self) -> u16 {
        self.mtu - self.header
    }
}
