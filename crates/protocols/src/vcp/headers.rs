//! The packets of VCP: those of the common sender. Data carries the load of the path in its ECN
//! bits (VCP §3.1), and ACKs carry it back in a field, since their own ECN bits are of the path
//! back.

use incast_endpoint::sender::views::DATA;
use incast_transport::{HeaderView, MarkCode, TransportId, header_view, tcp_flag};

/// VCP's number on the wire; its code is in the ECN bits.
pub const ID: TransportId = TransportId(0x90);
/// Load below 80 %: what senders write, and windows multiply by.
pub const LOW: u8 = 1;
/// From 80 % on.
pub const HIGH: u8 = 2;
/// From 100 % on.
pub const OVERLOAD: u8 = 3;

/// The packets that VCP sends.
pub const HEADERS: &[HeaderView] = &[DATA.coded(CODES), Ack::VIEW];

const CODES: &[MarkCode] = &[
    MarkCode { mark: LOW, name: "low", doc: "load below 80 %" },
    MarkCode { mark: HIGH, name: "high", doc: "load from 80 % on" },
    MarkCode { mark: OVERLOAD, name: "overload", doc: "load from 100 % on" },
];

header_view! {
    /// Acknowledges a data packet, and with it all bytes before a number.
    pub struct Ack over Segment {
        /// The first byte of the data packet that is acknowledged, modulo 2^32.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32: all before it have arrived.
        cumulative: u32 = ack, "bytes";
        /// The code that the data packet brought: 1 low, 2 high, 3 overload.
        load: u8 = nibble, "code";
    }
    bits {
        /// Every byte of the flow has arrived.
        complete = tcp_flag::FIN;
    }
    set tcp_flag::ACK;
    clear tcp_flag::SYN;
    payload false;
    unused window;
}
