//! The packets of theta-PowerTCP: those of the common sender; time stamps go behind the header.

use incast_endpoint::sender::views::{ACK, DATA, GO_BACK};
use incast_transport::HeaderView;

/// The packets that theta-PowerTCP sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK, GO_BACK];
