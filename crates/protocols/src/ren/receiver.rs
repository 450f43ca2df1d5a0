//! The receiver: one grant with the data packet's code for each data packet (REN §3.1).

use super::headers::ID;
use super::{Code, sender::PACKETS};
use incast_endpoint::receiver_driven::{Order, OwnGrants, ReceiverTerms, StallTimeout, Tells};

pub(super) fn terms(burst: u32, stall: StallTimeout) -> ReceiverTerms {
    let echo = [Code::Under as u8, Code::Full as u8, Code::Over as u8, Code::Over as u8];
    ReceiverTerms {
        transport: ID,
        reply: echo,
        duplicate_reply: echo,
        recovery: Code::Full as u8,
        packets: PACKETS,
        marked: true,
        tells: Tells::Nothing,
        order: Order::Own,
        hole_behind: burst,
        hole_patience: stall.first,
        own_grants: OwnGrants::None,
    }
}
