//! The packets of pFabric.

use incast_transport::{HeaderView, TransportId, data_flag, header_view};

/// pFabric's number on the wire.
pub const ID: TransportId = TransportId(27);
/// Class of data; ports order it by what flows have left.
pub const DATA: u8 = 1;

/// The packets that pFabric sends.
pub const HEADERS: &[HeaderView] = &[Data::VIEW, Probe::VIEW, Ack::VIEW, Complete::VIEW];

header_view! {
    /// One packet of a flow.
    pub struct Data over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// Packets of the flow that are not known to have arrived, when it was sent; 2^24 - 1 if more.
        remaining: u24 = tag, "packets";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }
    clear data_flag::PULL;

    /// Asks for an ACK, without a payload, after several timeouts.
    pub struct Probe over Data {
        /// The lowest packet that is not known to have arrived.
        packet: u32 = seq, "packets";
        /// As in data.
        remaining: u24 = tag, "packets";
    }
    set data_flag::PULL;
    unused offset;

    /// Answers a packet.
    pub struct Ack over Ack {
        /// The packet that is answered.
        packet: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
    }
    bits {
        /// It answers a probe, and `packet` says nothing.
        probe = data_flag::PULL;
    }
    clear data_flag::LAST;
    unused number;

    /// Answers any packet of a flow of which everything has arrived.
    pub struct Complete over Ack {}
    set data_flag::LAST;
    unused seq, cumulative, number;
}
