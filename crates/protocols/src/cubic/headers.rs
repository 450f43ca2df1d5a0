//! The packets of CUBIC: those of the common sender, and of the handshake if there is one.

use incast_endpoint::sender::views::{ACK, DATA, OPEN, OPEN_ACK};
use incast_transport::HeaderView;

/// The packets that CUBIC sends.
pub const HEADERS: &[HeaderView] = &[
    DATA,
    ACK,
    // A handshake precedes all data.
    OPEN.without("sequence"),
    OPEN_ACK.without("acked").without("cumulative"),
];
