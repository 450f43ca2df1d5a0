//! The packets of pHost, and what their headers say (pHost §3).

pub use incast_endpoint::receiver_driven::views::Finish;
use incast_transport::{HeaderView, TransportId, data_flag, header_view};

/// pHost's number on the wire.
pub const ID: TransportId = TransportId(3);
/// Class of data of flows no larger than the free tokens.
pub const SMALL: u8 = 1;
/// Class of other data.
pub const LARGE: u8 = 2;

/// The packets that pHost sends.
pub const HEADERS: &[HeaderView] = &[
    FreeData::VIEW,
    TokenData::VIEW,
    Announce::VIEW,
    OwnAnnounce::VIEW,
    Token::VIEW,
    Finish::VIEW,
];

header_view! {
    /// One packet of a flow, sent with one of the free tokens that it has from the start.
    pub struct FreeData over Data {
        /// The packet's number in the flow, and its token's.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// Packets of the flow; 0 if they do not fit.
        packets: u24 = tag, "packets";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }
    set data_flag::UNSCHEDULED;
    clear data_flag::TAGGED;

    /// One packet of a flow, sent with a token of the destination.
    pub struct TokenData over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// The number of the token it used, modulo 2^24.
        token: u24 = tag, "tokens";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }
    set data_flag::TAGGED;
    clear data_flag::UNSCHEDULED;

    /// Announces a flow (RTS).
    pub struct Announce over Announce {
        /// Packets of the flow.
        packets: u32 = packets, "packets";
        /// Bytes of the flow, the lower 32 bits.
        bytes_low: u32 = bytes_low, "bytes";
        /// Bytes of the flow, the next 24 bits.
        bytes_high: u24 = bytes_high, "2^32 bytes";
    }
    clear data_flag::BURST_END;

    /// Announces a flow whose number of free tokens is its own (RTS).
    pub struct OwnAnnounce over Announce {
        /// Packets of the flow.
        packets: u32 = packets, "packets";
        /// Bytes of the flow, modulo 2^32.
        bytes: u32 = bytes_low, "bytes";
        /// Free tokens of the flow.
        free: u24 = bytes_high, "tokens";
    }
    set data_flag::BURST_END;

    /// The right to send one packet.
    pub struct Token over Token {
        /// The packet to send.
        packet: u32 = seq, "packets";
        /// Packets that the destination still misses, by which sources choose among flows.
        remaining: u32 = remaining, "packets";
        /// The token's number in the flow, modulo 2^24.
        number: u24 = number, "tokens";
    }
}
