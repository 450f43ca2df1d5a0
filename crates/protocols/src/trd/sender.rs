//! The sender: a burst at line rate, then one packet for each grant.

use super::headers::ID;
use incast_endpoint::receiver_driven::{SenderTerms, StallTimeout, Tells};
use incast_transport::Span;

/// Every grant lets one packet go.
pub const PACKETS: [u8; 4] = [1; 4];

pub(super) fn terms(
    burst: u32,
    tells: Tells,
    packet_time: Span,
    stall: StallTimeout,
) -> SenderTerms {
    SenderTerms {
        transport: ID,
        fresh: 0,
        packets: PACKETS,
        burst,
        tells,
        packet_time,
        start_guard: stall.first,
        end_guard: stall.most * 2,
    }
}
