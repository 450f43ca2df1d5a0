//! The packets of unordered transports. Data whose payload was cut off is told by a flag that any packet
//! may carry.

use incast_transport::{HeaderView, data_flag, header_view};

header_view! {
    /// One packet of a flow, or its header after a switch has cut the payload off.
    pub struct Data over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// The number of the credit that is asked for, modulo 2^24.
        target: u24 = tag, "256 bytes";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
        /// It is to be answered at once.
        asks = data_flag::REQUEST;
        /// Its payload was cut off before the last switch.
        early = data_flag::BURST_END;
    }
    clear data_flag::PULL;

    /// Asks for an ACK, without a payload.
    pub struct Probe over Data {
        /// The packet that is taken for lost.
        packet: u32 = seq, "packets";
        /// The number of the credit that is asked for, modulo 2^24.
        target: u24 = tag, "256 bytes";
    }
    set data_flag::PULL;
    unused offset;

    /// Answers a packet; the extension says which ones have arrived.
    pub struct Ack over Ack {
        /// The packet that is answered.
        packet: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
    }
    bits {
        /// The packet was marked.
        marked = data_flag::UNSCHEDULED;
        /// The packet was a retransmission.
        again = data_flag::TAGGED;
        /// It answers a probe.
        probe = data_flag::PULL;
    }
    clear data_flag::LAST;
    unused number;

    /// Answers a packet of a flow of which everything has arrived.
    pub struct Complete over Ack {
        /// The packet that is answered.
        packet: u32 = seq, "packets";
        /// The packet behind it.
        next: u32 = cumulative, "packets";
    }
    bits {
        /// The packet was marked.
        marked = data_flag::UNSCHEDULED;
        /// The packet was a retransmission.
        again = data_flag::TAGGED;
    }
    set data_flag::LAST;
    unused number;

    /// A packet has arrived without its payload, which is to be sent again.
    pub struct Nack over Nack {
        /// The packet whose payload is missing.
        packet: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
    }
    bits {
        /// The packet was marked before.
        marked = data_flag::UNSCHEDULED;
        /// It was cut off at the last switch.
        last_hop = data_flag::BURST_END;
    }
    unused number;

    /// Credit.
    pub struct Pull over Pull {
        /// Its number: what has been given in all, modulo 2^32.
        number: u32 = number, "256 bytes";
    }
    bits {
        /// It is more than was asked for.
        slow = data_flag::UNSCHEDULED;
    }
    unused cumulative, spare;
}

/// [`Data`] of a transport that also has packets in order.
pub const SPRAYED_DATA: HeaderView =
    Data::VIEW.named("SprayedData").without("target").without("early");
/// [`Ack`] of one.
pub const SPRAYED_ACK: HeaderView = Ack::VIEW.named("SprayedAck").without("probe");
/// [`Complete`] of one.
pub const SPRAYED_COMPLETE: HeaderView = Complete::VIEW.named("SprayedComplete");
