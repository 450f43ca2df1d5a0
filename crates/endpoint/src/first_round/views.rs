//! The packets of an unscheduled first round, beside the data itself (Aeolus §3).

use incast_transport::{data_flag, header_view};

header_view! {
    /// Comes behind a flow's unscheduled packets and says how many they are.
    pub struct Probe over Probe {
        /// Packets of the flow.
        packets: u32 = packets, "packets";
        /// Unscheduled packets sent: the flow's packets below this one.
        sent: u32 = sent, "packets";
    }
    unused spare;

    /// Acknowledges an unscheduled packet.
    pub struct Ack over Ack {
        /// The packet that is acknowledged.
        packet: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
    }
    set data_flag::UNSCHEDULED;
    clear data_flag::LAST;
    unused number;

    /// Acknowledges a probe.
    pub struct ProbeAck over Ack {
        /// Unscheduled packets sent, as the probe said.
        sent: u32 = seq, "packets";
        /// All packets below have arrived.
        cumulative: u32 = cumulative, "packets";
    }
    set data_flag::LAST;
    clear data_flag::UNSCHEDULED;
    unused number;
}
