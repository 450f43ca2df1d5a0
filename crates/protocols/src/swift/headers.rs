//! The packets of Swift: those of the common sender; time stamps go behind the header.

use incast_endpoint::sender::views::{ACK, DATA};
use incast_transport::HeaderView;

/// The packets that Swift sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK];
