//! The packets of XCP: those of the common sender; the congestion header goes behind theirs.

use incast_endpoint::sender::views::{ACK, DATA};
use incast_transport::HeaderView;

/// The packets that XCP sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK];
