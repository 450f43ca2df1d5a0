//! The packets of RCP: those of the common sender. A flow opens by asking for a rate, and says when
//! it ends; rates go behind the header.

use incast_endpoint::sender::views::{ACK, CLOSE, DATA, OPEN, OPEN_ACK};
use incast_transport::HeaderView;

/// The packets that RCP sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK, OPEN, OPEN_ACK, CLOSE];
