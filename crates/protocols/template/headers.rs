//! The packets of Template: those of the common sender, whose ACKs echo marks.

use incast_endpoint::sender::views::{Ack, DATA};
use incast_transport::HeaderView;

/// The packets that Template sends.
pub const HEADERS: &[HeaderView] = &[DATA, Ack::VIEW.without("window").without("nibble")];
