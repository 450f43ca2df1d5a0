//! The packets of grant-clocked transports. A transport whose grants have no numbers lists the
//! views without them; what the ECN bits say is the transport's.

use incast_transport::{data_flag, header_view};

header_view! {
    /// One packet of a flow.
    pub struct Data over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// The number of the grant that let it go, if `numbered`; otherwise how many packets of the
        /// first burst follow it.
        grant_or_rest: u24 = tag, "packets";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
        /// Sent without a grant, in the burst at the flow's start.
        unscheduled = data_flag::UNSCHEDULED;
        /// `grant_or_rest` is the number of a grant.
        numbered = data_flag::TAGGED;
    }

    /// Lets packets of a flow go.
    pub struct Grant over Grant {
        /// The packet that it acknowledges; of a grant that no packet caused, the lowest one missing.
        acked: u32 = seq, "packets";
        /// The packet that is requested, if a bit says that there is one.
        request: u32 = request, "packets";
        /// The grant's number, if `numbered`.
        number: u24 = tag, "grants";
    }
    bits {
        /// `request` is to be sent before other packets.
        first = data_flag::REQUEST;
        /// `request` is to be sent if nothing else is left to send.
        last_resort = data_flag::LAST;
        /// The grant counts only if nothing of the flow waits at the sender.
        if_idle = data_flag::UNSCHEDULED;
        /// `number` is valid.
        numbered = data_flag::TAGGED;
    }

    /// Every packet of the flow has arrived.
    pub struct Finish over Finish {}
    unused packets, spare, spare_high;
}
