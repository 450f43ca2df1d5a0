//! The packets of DECN: those of the common sender, with four bits of feedback in reserved bits of
//! their headers; the ECN bits mark the start of a feedback unit (DECN §III-C). ACKs repeat both.

use incast_transport::{HeaderView, MarkCode, TransportId, header_view, tcp_flag};

/// DECN's number on the wire; its code is in the ECN bits.
pub const ID: TransportId = TransportId(0x92);
/// The mark of the first packet of a feedback unit, and of all others (DECN §III-C).
pub const FIRST_OF_UNIT: u8 = 0b01;
pub(super) const OTHERS: u8 = 0b00;

/// The packets that DECN sends.
pub const HEADERS: &[HeaderView] = &[Data::VIEW.coded(CODES), Ack::VIEW.coded(CODES)];

const CODES: &[MarkCode] = &[
    MarkCode { mark: OTHERS, name: "other", doc: "not the first packet of a feedback unit" },
    MarkCode { mark: FIRST_OF_UNIT, name: "first", doc: "the first packet of a feedback unit" },
];

header_view! {
    /// Bytes of a flow.
    pub struct Data over Segment {
        /// The first byte of the payload, modulo 2^32.
        sequence: u32 = seq, "bytes";
        /// Four of the twelve bits of the difference between the flow's fair share and its rate;
        /// the first packet of a unit carries the highest.
        difference: u8 = nibble, "4 bits";
    }
    bits {
        /// The payload ends the flow.
        last = tcp_flag::FIN;
    }
    clear tcp_flag::ACK | tcp_flag::SYN;
    payload true;
    unused ack, window;
    edit difference_mut = nibble: u8;

    /// Acknowledges a data packet, and with it all bytes before a number.
    pub struct Ack over Segment {
        /// The first byte of the data packet that is acknowledged, modulo 2^32.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32: all before it have arrived.
        cumulative: u32 = ack, "bytes";
        /// The four bits that the data packet brought.
        difference: u8 = nibble, "4 bits";
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
