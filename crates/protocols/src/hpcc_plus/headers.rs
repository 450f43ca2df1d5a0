//! The packets of the variant: those of the common sender; telemetry goes behind the header.

use incast_endpoint::sender::views::{ACK, DATA, GO_BACK};
use incast_transport::HeaderView;

/// The packets that HPCC+ sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK, GO_BACK];
