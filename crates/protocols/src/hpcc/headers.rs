//! The packets of HPCC: those of the common sender; telemetry goes behind the header.

use incast_endpoint::sender::views::{ACK, DATA, GO_BACK};
use incast_endpoint::unordered::{SPRAYED_ACK, SPRAYED_COMPLETE, SPRAYED_DATA};
use incast_transport::HeaderView;

/// The packets that HPCC sends.
pub const HEADERS: &[HeaderView] = &[
    DATA,
    ACK,
    GO_BACK,
    SPRAYED_DATA,
    SPRAYED_ACK.without("marked"),
    SPRAYED_COMPLETE.without("marked"),
];
