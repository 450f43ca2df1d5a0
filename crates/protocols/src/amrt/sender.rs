//! The sender: a burst at line rate, then two packets for a marked grant and one for another.

use super::{Code, Expectations, ID};
use incast_endpoint::receiver_driven::{SenderTerms, Tells};
use incast_transport::Span;

/// Packets released by a grant of each code (AMRT §4.3).
pub const PACKETS: [u8; 4] = {
    let mut packets = [1; 4];
    packets[Code::Room as usize] = 2;
    packets
};

pub(super) fn terms(burst: u32, packet_time: Span, expectations: &Expectations) -> SenderTerms {
    SenderTerms {
        transport: ID,
        fresh: Code::Room as u8, // AMRT §4.1
        packets: PACKETS,
        burst,
        tells: Tells::Burst,
        packet_time,
        start_guard: expectations.timeout,
        end_guard: expectations.longest() * 2,
    }
}
