//! Parameters.

use incast_endpoint::rto::accepted;
use incast_transport::{Rate, Span};

incast_transport::parameters! {
    /// Parameters of flows without congestion control.
    pub struct Params for "none" {
        /// Rate of each flow, of bytes that links charge; auto, or above the NIC's: the NIC's.
        rate: Option<Rate> = None, "auto, or more than 0" => |v| v.is_none_or(|rate| rate.0 > 0),
            "own choice";
        /// Minimum retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "own choice, as DCTCP";
    }
}
