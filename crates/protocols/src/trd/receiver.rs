//! The receiver: one grant per packet, and recovery by timeout.

use super::headers::ID;
use super::sender::PACKETS;
use incast_endpoint::receiver_driven::{Order, OwnGrants, ReceiverTerms, StallTimeout, Tells};

pub(super) fn terms(burst: u32, tells: Tells, order: Order, stall: StallTimeout) -> ReceiverTerms {
    ReceiverTerms {
        transport: ID,
        reply: [0; 4],
        duplicate_reply: [0; 4],
        recovery: 0,
        packets: PACKETS,
        marked: false,
        tells,
        order,
        hole_behind: burst,
        hole_patience: stall.first,
        own_grants: OwnGrants::None,
    }
}
