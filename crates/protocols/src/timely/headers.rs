//! The packets of TIMELY: those of the common sender; time stamps go behind the header.

use incast_endpoint::sender::views::{ACK, DATA, GO_BACK};
use incast_transport::HeaderView;

/// The packets that TIMELY sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK, GO_BACK];
