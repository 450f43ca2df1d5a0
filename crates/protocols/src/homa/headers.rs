//! The packets of Homa, and what their headers say (Homa §3.1).

use incast_transport::{HeaderView, data_flag, header_view};

/// The packets that Homa sends.
pub const HEADERS: &[HeaderView] = &[
    Data::VIEW,
    // What is lost is requested with a RESEND; Aeolus grants it again.
    Grant::VIEW.without("lost").without("again"),
    Resend::VIEW,
    Busy::VIEW,
    Unknown::VIEW,
    Finish::VIEW,
];

header_view! {
    /// One packet of a message.
    pub struct Data over Data {
        /// The packet's number in the message.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the message, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// Packets of the message; 16777215 if there are so many or more.
        packets: u24 = tag, "packets";
    }
    bits {
        /// It is the message's last packet.
        last = data_flag::LAST;
        /// Sent blindly, without a grant, for the first time.
        unscheduled = data_flag::UNSCHEDULED;
        /// Sent blindly, of a message whose first burst has a length of its own, not RTTbytes.
        own_burst = data_flag::OWN_BURST;
        /// The last packet of such a burst.
        burst_end = data_flag::BURST_END;
    }

    /// Packets below a number may be sent (Homa §3.3).
    pub struct Grant over Grant {
        /// Packets of the message below this one may be sent.
        granted: u32 = seq, "packets";
        /// The packet that is to be sent again, if `again`.
        lost: u32 = request, "packets";
        /// Service class to send them in (Homa §3.4).
        class: u24 = tag, "class";
    }
    bits {
        /// `lost` is to be sent again, before others.
        again = data_flag::REQUEST;
    }

    /// Asks for packets that should have arrived (Homa §3.7).
    pub struct Resend over Resend {
        /// The first packet that is missing.
        first: u32 = first, "packets";
        /// How many are, in a row.
        packets: u32 = packets, "packets";
        /// Service class to send them in.
        class: u24 = class, "class";
    }

    /// The source will send what was requested, but has messages with fewer bytes left (Homa §3.7).
    pub struct Busy over Busy {
        /// The first packet that was requested.
        first: u32 = first, "packets";
    }
    unused spare, spare_high;

    /// The source does not know the message.
    pub struct Unknown over Unknown {}
    unused spare_low, spare, spare_high;

    /// Every packet of the message has arrived.
    pub struct Finish over Finish {}
    unused packets, spare, spare_high;
}
