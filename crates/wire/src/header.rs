//! Transport-specific headers of twelve bytes, one variant per layout.
//!
//! A variant is a layout, not a protocol. Several transports share a layout, and each declares the
//! meaning of its fields with views ([`header_view!`](crate::header_view)). A transport whose
//! fields fit no layout adds a variant here.

use crate::Layout;

/// Bits of the `flags` byte of all layouts except [`Header::Segment`] and [`Header::Pause`]. The
/// views of each transport declare their meaning. Only [`UNSCHEDULED`](data_flag::UNSCHEDULED) in
/// [`Header::Data`] has one meaning for all transports, because ports that drop selectively read
/// it.
pub mod data_flag {
    /// The last packet of the flow.
    pub const LAST: u8 = 1;
    /// Sent without a grant, credit or pull.
    pub const UNSCHEDULED: u8 = 2;
    /// The ACK or NACK also counts as a pull (NDP).
    pub const PULL: u8 = 4;
    /// `request` names a packet to send first.
    pub const REQUEST: u8 = 8;
    /// `tag` is valid.
    pub const TAGGED: u8 = 16;
    /// The last packet of a first burst whose length is the flow's own.
    pub const BURST_END: u8 = 32;
    /// A packet of such a burst.
    pub const OWN_BURST: u8 = 64;
}

/// Bits of the `flags` byte of [`Header::Segment`]; views declare which of them a transport uses.
pub mod tcp_flag {
    /// `ack` is valid.
    pub const ACK: u8 = 1;
    /// ECN echo.
    pub const ECE: u8 = 2;
    /// Congestion window reduced.
    pub const CWR: u8 = 4;
    /// Opens a connection.
    pub const SYN: u8 = 8;
    /// The last segment of the flow.
    pub const FIN: u8 = 16;
}

/// Largest value of a 24-bit field; wider values are truncated to 24 bits when written.
pub const U24_MAX: u32 = (1 << 24) - 1;

/// Any header, to be overwritten.
pub(crate) const BLANK: Header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags: 0 };

macro_rules! headers {
    ($($(#[$doc:meta])* $name:ident = $kind:literal {
        $($(#[$fdoc:meta])* $field:ident : $ty:ident),* $(,)? }),* $(,)?) => {
        /// A transport header. Every world truncates values to their fields' widths.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Header { $($(#[$doc])* $name { $($(#[$fdoc])* $field: headers!(@mem $ty)),* }),* }

        impl Header {
            /// The five-bit kind on the wire.
            #[inline]
            pub fn kind(&self) -> u8 {
                match self { $(Header::$name { .. } => $kind),* }
            }

            /// The name of the kind, for captures and messages.
            pub fn kind_name(&self) -> &'static str {
                match self { $(Header::$name { .. } => stringify!($name)),* }
            }

            /// Writes the twelve bytes, network order.
            #[inline]
            pub fn write(&self, out: &mut [u8; 12]) {
                for (bytes, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(self.words()) {
                    *bytes = word.to_be_bytes();
                }
            }

            /// The twelve bytes as words. They are put together in registers: words that are read
            /// from bytes just written one by one have to wait for the memory.
            #[inline]
            pub fn words(&self) -> [u32; 3] {
                let mut all = 0u128;
                match *self { $(Header::$name { $($field),* } => {
                    $(all = all << (8 * headers!(@width $ty)) | u128::from(headers!(@cut $ty, $field));)*
                }),* }
                [(all >> 64) as u32, (all >> 32) as u32, all as u32]
            }

            /// Reads the twelve bytes of a header of this kind; `None` for an unknown kind.
            pub fn read(kind: u8, bytes: &[u8; 12]) -> Option<Header> {
                let mut header = BLANK;
                header.read_into(kind, bytes).then_some(header)
            }

            /// The same in place. Returns false for an unknown kind, and leaves the header as it is.
            #[inline]
            pub(crate) fn read_into(&mut self, kind: u8, bytes: &[u8; 12]) -> bool {
                let mut at = 0;
                // Each arm writes to the place itself: a value that is put together elsewhere is read
                // back by wider loads, which have to wait for the stores.
                match kind {
                    $($kind => {
                        *self = Header::$name { $($field: headers!(@get $ty, bytes, at)),* };
                    })*
                    _ => return false,
                }
                debug_assert_eq!(at, 12);
                true
            }

            /// The header as decoded: values truncated to their fields' widths.
            #[inline]
            pub fn rounded(self) -> Header {
                match self { $(Header::$name { $($field),* } => Header::$name {
                    $($field: headers!(@cut $ty, $field)),*
                }),* }
            }

            /// One header of each kind, for tests over all of them.
            pub fn samples(a: u32, b: u8) -> Vec<Header> {
                vec![$(Header::$name { $($field: headers!(@sample $ty, a, b)),* }.rounded()),*]
            }
        }
        $(const _: () = assert!(0 $(+ headers!(@width $ty))* == 12);)*

        /// Every layout, in the order of [`Header`]'s variants.
        pub const LAYOUTS: &[Layout] = &[$(Layout {
            kind: $kind,
            name: stringify!($name),
            fields: &[$((stringify!($field), headers!(@width $ty))),*],
        }),*];
    };
    (@mem u8) => { u8 }; (@mem u16) => { u16 }; (@mem u24) => { u32 }; (@mem u32) => { u32 };
    (@width u8) => { 1 }; (@width u16) => { 2 }; (@width u24) => { 3 }; (@width u32) => { 4 };
    (@cut u24, $v:ident) => { $v & U24_MAX }; (@cut $ty:ident, $v:ident) => { $v };
    (@sample u24, $a:ident, $b:ident) => { $a }; (@sample u32, $a:ident, $b:ident) => { $a };
    (@sample u16, $a:ident, $b:ident) => { $a as u16 }; (@sample u8, $a:ident, $b:ident) => { $b };
    (@get u8, $b:ident, $at:ident) => {{ $at += 1; $b[$at - 1] }};
    (@get u16, $b:ident, $at:ident) => {{ $at += 2; u16::from_be_bytes([$b[$at - 2], $b[$at - 1]]) }};
    (@get u24, $b:ident, $at:ident) => {{
        $at += 3; u32::from_be_bytes([0, $b[$at - 3], $b[$at - 2], $b[$at - 1]])
    }};
    (@get u32, $b:ident, $at:ident) => {{
        $at += 4; u32::from_be_bytes([$b[$at - 4], $b[$at - 3], $b[$at - 2], $b[$at - 1]])
    }};
}

headers! {
    /// A TCP-like segment or ACK. Sequence numbers count bytes modulo 2^32.
    Segment = 1 {
        /// First byte of the payload.
        seq: u32,
        /// Next byte expected (with [`tcp_flag::ACK`]).
        ack: u32,
        /// Receive window, or a congestion-control field.
        window: u16,
        /// Four bits of congestion-control feedback (DECN's nibble).
        nibble: u8,
        /// Bits of [`tcp_flag`].
        flags: u8,
    },
    /// Data of a message transport. Sequence numbers count packets.
    Data = 2 {
        /// Packet number in the flow.
        seq: u32,
        /// Offset of the first payload byte in the flow, modulo 2^32.
        offset: u32,
        /// Echoed number of a grant, token or pull.
        tag: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// A grant: permission to send.
    Grant = 3 {
        /// The packet that caused the grant.
        seq: u32,
        /// With [`data_flag::REQUEST`]: the packet to send first.
        request: u32,
        /// Grant number, echoed in data.
        tag: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// Acknowledges packets of a message transport.
    Ack = 4 {
        /// The acknowledged packet.
        seq: u32,
        /// All packets below this number have arrived.
        cumulative: u32,
        /// Pull number or similar.
        number: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// A NACK: a packet arrived without its payload.
    Nack = 5 {
        /// The packet without payload.
        seq: u32,
        /// All packets below this number have arrived.
        cumulative: u32,
        /// Pull number or similar.
        number: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// A paced pull: permission to send up to a cumulative count.
    Pull = 6 {
        /// All packets below this number have arrived.
        cumulative: u32,
        /// Cumulative pull count.
        number: u32,
        /// Spare.
        spare: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// Announces a flow (request to send).
    Announce = 7 {
        /// Packets of the flow.
        packets: u32,
        /// Low 32 bits of the flow's bytes.
        bytes_low: u32,
        /// Next 24 bits of the flow's bytes.
        bytes_high: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// A token for one packet (pHost).
    Token = 8 {
        /// The packet to send.
        seq: u32,
        /// Packets that the destination still lacks.
        remaining: u32,
        /// Token number, echoed in data.
        number: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// The receiver has all data.
    Finish = 9 {
        /// Packets of the flow.
        packets: u32,
        /// Spare.
        spare: u32,
        /// Spare.
        spare_high: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// A credit (ExpressPass family), rate-limited by ports.
    Credit = 10 {
        /// Credit number, echoed in data.
        number: u32,
        /// Send time, in units that the transport defines.
        stamp: u32,
        /// Spare.
        spare: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// Data sent on a credit. Sequence numbers count packets.
    Credited = 11 {
        /// Packet number in the flow.
        seq: u32,
        /// Echoed `stamp` of the credit.
        stamp: u32,
        /// Echoed number of the credit.
        number: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// Requests credits, or stops them with [`data_flag::LAST`].
    Request = 12 {
        /// Packets of the flow not sent yet.
        packets: u32,
        /// Send time, in units that the transport defines.
        stamp: u32,
        /// Payload bytes per packet except the last, if the destination needs it; else 0.
        segment: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// Requests the retransmission of overdue packets (Homa's RESEND).
    Resend = 13 {
        /// The first packet.
        first: u32,
        /// Number of packets.
        packets: u32,
        /// Service class to send them in.
        class: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// The source delays requested packets because it is busy with other flows (Homa's BUSY).
    Busy = 14 {
        /// The first requested packet.
        first: u32,
        /// Spare.
        spare: u32,
        /// Spare.
        spare_high: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// The host does not know the flow (Homa's UNKNOWN).
    Unknown = 15 {
        /// Spare.
        spare_low: u32,
        /// Spare.
        spare: u32,
        /// Spare.
        spare_high: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// Priority-based flow control (IEEE 802.1Qbb), for the next node only. A packet in memory, a
    /// MAC control frame in captures.
    Pause = 16 {
        /// Classes that the frame pauses or resumes, one bit per class.
        classes: u8,
        /// The paused ones of these classes; the others resume.
        paused: u8,
        /// Pause time in units of 512 bit times; ffff until resumed.
        quanta: u16,
        /// Spare.
        spare_low: u32,
        /// Spare.
        spare: u32,
    },
    /// Follows the unscheduled packets of a flow and carries their number (Aeolus).
    Probe = 17 {
        /// Packets of the flow.
        packets: u32,
        /// Number of unscheduled packets sent.
        sent: u32,
        /// Spare.
        spare: u24,
        /// Bits of [`data_flag`].
        flags: u8,
    },
    /// A request, grant or accept of a matching between hosts (dcPIM).
    Match = 18 {
        /// The epoch that it is for.
        epoch: u32,
        /// Packets left of the flow that it is for.
        remaining: u32,
        /// Channels, each a part of a host's link.
        channels: u8,
        /// Of these, how many may be used at once.
        prompt: u8,
        /// The round of the matching.
        round: u8,
        /// Bits that tell the packets of a matching apart.
        flags: u8,
    },
}

impl Header {
    /// The sequence number that identifies a data packet in its flow, in packets or bytes.
    #[inline]
    pub fn data_key(&self) -> u32 {
        match *self {
            Header::Segment { seq, .. }
            | Header::Data { seq, .. }
            | Header::Credited { seq, .. } => seq,
            _ => 0,
        }
    }
}
