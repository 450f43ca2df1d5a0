//! The packets of Swift: those of the common sender; time stamps go behind the header.

use incast_endpoint::sender::views::{ACK, DATA};
use incast_endpoint::unordered::{SPRAYED_ACK, SPRAYED_COMPLETE, SPRAYED_DATA};
use incast_transport::HeaderView;

/// The packets that Swift sends.
pub const HEADERS: &[HeaderView] =
    &[DATA, ACK, SPRAYED_DATA, SPRAYED_ACK.without("marked"), SPRAYED_COMPLETE.without("marked")];
