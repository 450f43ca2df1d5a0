//! The sender: a burst at line rate, then two, one or no packet for each grant.

use super::Code;
use super::headers::ID;
use incast_endpoint::receiver_driven::{SenderTerms, StallTimeout, Tells};
use incast_transport::Span;

/// Packets let go by a grant of each code (REN §3.1).
pub const PACKETS: [u8; 4] = {
    let mut packets = [0; 4];
    packets[Code::Under as usize] = 2;
    packets[Code::Full as usize] = 1;
    packets
};

pub(super) fn terms(burst: u32, packet_time: Span, stall: StallTimeout) -> SenderTerms {
    SenderTerms {
        transport: ID,
        fresh: Code::Under as u8, // REN §3.2.3
        packets: PACKETS,
        burst,
        tells: Tells::Nothing,
        packet_time,
        start_guard: stall.first,
        end_guard: stall.most * 2,
    }
}
