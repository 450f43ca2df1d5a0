//! The packets of NDP, and what their headers say (NDP §3). Trimmed and bounced data is
//! told by flags that any packet may carry.

use incast_transport::{HeaderView, TransportId, data_flag, header_view};

/// NDP's number on the wire.
pub const ID: TransportId = TransportId(4);
/// Class of headers, ACKs, NACKs and pulls.
pub const CONTROL: u8 = 0;
/// Class of data.
pub const DATA: u8 = 1;

/// The packets that NDP sends.
pub const HEADERS: &[HeaderView] = &[Data::VIEW, Ack::VIEW, Complete::VIEW, Nack::VIEW, Pull::VIEW];

header_view! {
    /// One packet of a flow, or its header after a switch has cut the payload off.
    pub struct Data over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
        /// It is of the first window, which needs no pull.
        unscheduled = data_flag::UNSCHEDULED;
    }
    unused tag;

    /// A packet has arrived with its payload.
    pub struct Ack over Ack {
        /// The packet that arrived.
        packet: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
        /// The flow's last pull so far, modulo 2^24.
        pull: u24 = number, "pulls";
    }
    bits {
        /// It is itself a pull: the pacer was free.
        pulls = data_flag::PULL;
    }
    clear data_flag::LAST;

    /// A packet has arrived, and with it the whole flow.
    pub struct Complete over Ack {
        /// The packet that arrived.
        packet: u32 = seq, "packets";
        /// The packet behind it.
        next: u32 = cumulative, "packets";
    }
    set data_flag::LAST;
    clear data_flag::PULL;
    unused number;

    /// A packet has arrived without its payload, which is to be sent again when a pull allows.
    pub struct Nack over Nack {
        /// The packet whose payload is missing.
        packet: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
        /// The flow's last pull so far, modulo 2^24.
        pull: u24 = number, "pulls";
    }
    bits {
        /// It is itself a pull: the pacer was free.
        pulls = data_flag::PULL;
    }

    /// One more packet may be sent.
    pub struct Pull over Pull {
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
        /// The pull's number in the flow: so many packets may have been sent behind the first
        /// window.
        number: u32 = number, "pulls";
    }
    unused spare;
}
