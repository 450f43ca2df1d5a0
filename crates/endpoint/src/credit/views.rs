//! The packets of credit-clocked transports. Time stamps are nanoseconds modulo 2^32.

pub use crate::receiver_driven::views::Finish;
use incast_transport::{data_flag, header_view};

header_view! {
    /// Asks for credits, or for no more of them.
    pub struct Request over Request {
        /// Packets that credits are needed for. With `stop`, those for which credits are on their
        /// way; 0: all were sent, and what is missing is lost.
        packets: u32 = packets, "packets";
        /// When it was sent.
        sent: u32 = stamp, "ns";
        /// Payload of each packet but the last, if the destination keeps packets that come out of
        /// order; else 0.
        segment: u24 = segment, "bytes";
    }
    bits {
        /// No more credits are wanted.
        stop = data_flag::LAST;
    }

    /// Lets one packet go; ports limit the rate of credits.
    pub struct Credit over Credit {
        /// The credit's number in the flow.
        number: u32 = number, "credits";
        /// When it was sent.
        sent: u32 = stamp, "ns";
    }
    unused spare;

    /// The packet that a credit let go.
    pub struct Data over Credited {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// When its credit was sent.
        credit_sent: u32 = stamp, "ns";
        /// The number of its credit, modulo 2^24.
        credit: u24 = number, "credits";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }

    /// A packet that was sent before the first credit.
    pub struct Unscheduled over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// Packets of the flow, modulo 2^24.
        packets: u24 = tag, "packets";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }
    set data_flag::UNSCHEDULED;

    /// Asks for packets that are missing.
    pub struct Missing over Nack {
        /// The packet behind the missing range; 0 if all from `first` on are missing, since none
        /// behind it is kept.
        end: u32 = seq, "packets";
        /// The first packet of the range. All packets below the first range have arrived.
        first: u32 = cumulative, "packets";
    }
    unused number;
}
