//! The packets of flows without congestion control: those of the common sender.

use incast_endpoint::sender::views::{ACK, DATA};
use incast_transport::HeaderView;

/// The packets that are sent.
pub const HEADERS: &[HeaderView] = &[DATA, ACK];
