//! What a host goes by.

use super::Law;
use incast_transport::Span;

/// What hosts need to know.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub law: Law,
    pub rto: Span,
    /// Timeouts in a row after which only probes are sent; 0: never.
    pub probe_after: u32,
}
