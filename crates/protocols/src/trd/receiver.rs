//! The receiver: one grant per packet, and recovery by timeout.

use super::{ID, sender::PACKETS};
use incast_endpoint::receiver_driven::{ReceiverTerms, Silence};

pub(super) fn terms(burst: u32, silence: Silence) -> ReceiverTerms {
    ReceiverTerms {
        transport: ID,
        reply: [0; 4],
        duplicate_reply: [0; 4],
        recovery: 0,
        packets: PACKETS,
        marked: false,
        hole_behind: burst,
        hole_patience: silence.first,
    }
}
