//! The packets of Bolt: those of the common sender with five bits of their own, and the packets that
//! switches send back to sources. Time stamps go behind the header.

use incast_endpoint::sender::views::GO_BACK;
use incast_transport::{HeaderView, header_view, tcp_flag};

/// The packets that Bolt sends.
pub const HEADERS: &[HeaderView] = &[Data::VIEW, Ack::VIEW, GO_BACK, Notice::VIEW];

/// Bits of data packets, which ACKs repeat.
pub mod bit {
    /// The source has heard nothing yet.
    pub const FIRST: u8 = 1;
    /// Its ACK releases no other packet.
    pub const LAST: u8 = 2;
    /// Asks for a packet more; stays set where all links had room.
    pub const MORE: u8 = 4;
    /// A switch was congested and has told the source.
    pub const CONGESTED: u8 = 8;
    /// The one packet of a round trip that raises the window in any case.
    pub const PROBE: u8 = 16;
}

header_view! {
    /// Bytes of a flow.
    pub struct Data over Segment {
        /// The first byte of the payload, modulo 2^32.
        sequence: u32 = seq, "bytes";
        /// 1: the source has heard nothing yet; 2: one of its last window; 4: asks for a packet more; 8:
        /// a switch was congested; 16: raises the window in any case.
        bits: u8 = nibble, "bits";
    }
    bits {
        /// The payload ends the flow.
        last = tcp_flag::FIN;
    }
    clear tcp_flag::ACK | tcp_flag::SYN;
    payload true;
    unused ack, window;
    edit bits_mut = nibble: u8;

    /// Acknowledges a data packet, and with it all bytes before a number.
    pub struct Ack over Segment {
        /// The first byte of the data packet that is acknowledged, modulo 2^32.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32: all before it have arrived.
        cumulative: u32 = ack, "bytes";
        /// The bits that the data packet brought.
        bits: u8 = nibble, "bits";
    }
    bits {
        /// Every byte of the flow has arrived.
        complete = tcp_flag::FIN;
    }
    set tcp_flag::ACK;
    clear tcp_flag::SYN;
    payload false;
    unused window;

    /// A switch tells the source of a data packet that it found a queue (SRC).
    pub struct Notice over Credit {
        /// How long the link needs for what waited.
        drain: u32 = number, "ns";
        /// The first byte of the data packet, modulo 2^32.
        about: u32 = stamp, "bytes";
        /// The rate of the link.
        rate: u24 = spare, "100 Mb/s";
    }
    clear u8::MAX;
    payload false;
}
