//! The packets of SIRD.

use incast_transport::{HeaderView, TransportId, data_flag, header_view};

/// SIRD's number on the wire.
pub const ID: TransportId = TransportId(28);
/// Class of data sent without a credit of the destination.
pub const UNSCHEDULED: u8 = 1;
/// Class of data sent with one.
pub const SCHEDULED: u8 = 2;
/// Largest number of packets of an unscheduled message: it fits twelve bits.
pub const UNSCHEDULED_MOST: u32 = (1 << 12) - 1;

/// The packets that SIRD sends.
pub const HEADERS: &[HeaderView] =
    &[Unscheduled::VIEW, Scheduled::VIEW, Request::VIEW, Credit::VIEW, Resend::VIEW, Finish::VIEW];

header_view! {
    /// One packet of a message, sent without a credit of the destination.
    pub struct Unscheduled over Data {
        /// The packet's number in the message.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the message, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// Packets of the message times 4096, and how many of them are unscheduled.
        lengths: u24 = tag, "packets";
    }
    bits {
        /// It is the message's last packet.
        last = data_flag::LAST;
        /// Its source is congested: it holds unused credit of several destinations (csn).
        congested = data_flag::TAGGED;
    }
    set data_flag::UNSCHEDULED;

    /// One packet of a message, sent with a credit.
    pub struct Scheduled over Data {
        /// The packet's number in the message.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the message, modulo 2^32.
        offset: u32 = offset, "bytes";
    }
    bits {
        /// It is the message's last packet.
        last = data_flag::LAST;
        /// Its source is congested: it holds unused credit of several destinations (csn).
        congested = data_flag::TAGGED;
    }
    clear data_flag::UNSCHEDULED;
    unused tag;

    /// Announces a message.
    pub struct Request over Announce {
        /// Packets of the message.
        packets: u32 = packets, "packets";
        /// Bytes of the message, the lower 32 bits.
        bytes_low: u32 = bytes_low, "bytes";
        /// Bytes of the message, the next 24 bits.
        bytes_high: u24 = bytes_high, "2^32 bytes";
    }

    /// The right to send one packet to this destination.
    pub struct Credit over Credit {
        /// Packets of the message that have been credited, this one included.
        number: u32 = number, "packets";
        /// What it is worth, as links charge it.
        worth: u32 = stamp, "bytes";
    }
    unused spare;

    /// The same, for a packet that is missing.
    pub struct Resend over Resend {
        /// The packet.
        packet: u32 = first, "packets";
        /// What it is worth, as links charge it.
        worth: u24 = class, "bytes";
    }
    unused packets;

    /// Every packet of the message has arrived.
    pub struct Finish over Finish {}
    unused packets, spare, spare_high;
}
