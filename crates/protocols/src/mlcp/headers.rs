//! The packets of MLCP: those of the common sender, with the level of load in four bits of their
//! headers; the class of the RTT goes behind the header.

use incast_transport::{HeaderView, header_view, tcp_flag};

/// The packets that MLCP sends.
pub const HEADERS: &[HeaderView] = &[Data::VIEW, Ack::VIEW];

header_view! {
    /// Bytes of a flow.
    pub struct Data over Segment {
        /// The first byte of the payload, modulo 2^32.
        sequence: u32 = seq, "bytes";
        /// The highest level of load on the path so far, 0 to 15.
        level: u8 = nibble, "level";
    }
    bits {
        /// The payload ends the flow.
        last = tcp_flag::FIN;
    }
    clear tcp_flag::ACK | tcp_flag::SYN;
    payload true;
    unused ack, window;
    edit level_mut = nibble: u8;

    /// Acknowledges a data packet, and with it all bytes before a number.
    pub struct Ack over Segment {
        /// The first byte of the data packet that is acknowledged, modulo 2^32.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32: all before it have arrived.
        cumulative: u32 = ack, "bytes";
        /// The level that the data packet brought, 0 to 15.
        level: u8 = nibble, "level";
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
