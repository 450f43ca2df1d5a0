//! The packets of DCTCP: those of the common sender, whose ACKs echo marks.

use incast_endpoint::sender::views::{Ack, DATA};
use incast_endpoint::unordered::{SPRAYED_ACK, SPRAYED_COMPLETE, SPRAYED_DATA};
use incast_transport::HeaderView;

/// The packets that DCTCP sends.
pub const HEADERS: &[HeaderView] = &[
    DATA,
    Ack::VIEW.without("window").without("nibble"),
    SPRAYED_DATA,
    SPRAYED_ACK,
    SPRAYED_COMPLETE,
];
