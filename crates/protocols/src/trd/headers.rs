//! The packets of the scheme: those of the grant-clocked half, whose grants have no numbers here.

use incast_endpoint::receiver_driven::views::{Finish, Grant};
use incast_transport::{HeaderView, TransportId, data_flag, header_view};

/// Number on the wire.
pub const ID: TransportId = TransportId(2);

/// The packets that the scheme sends.
pub const HEADERS: &[HeaderView] = &[
    Data::VIEW,
    Grant::VIEW.without("number").without("numbered").without("last_resort"),
    Finish::VIEW,
];

header_view! {
    /// One packet of a flow.
    pub struct Data over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// Packets of the flow that need a grant, 2^24 - 1 if they are more; 0 where nothing depends
        /// on it.
        granted_packets: u24 = tag, "packets";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
        /// Sent without a grant, in the burst at the flow's start.
        unscheduled = data_flag::UNSCHEDULED;
    }
    clear data_flag::TAGGED;
}
