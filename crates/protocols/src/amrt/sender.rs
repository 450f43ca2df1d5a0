//! The sender: a burst at line rate, then two packets for a marked grant and one for another.

use super::Code;
use super::Expectations;
use super::headers::ID;
use super::switch::PACKETS;
use incast_endpoint::receiver_driven::{SenderTerms, Tells};
use incast_transport::Span;

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
