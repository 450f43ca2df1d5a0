//! Parameters.

use incast_egress::threshold::Threshold;
use incast_endpoint::rto::accepted;
use incast_transport::{Bytes, Span};

incast_transport::parameters! {
    /// Parameters of Template.
    pub struct Params for "template" {
        /// First window, in full segments.
        initial_window: u32 = 10, "1 to 1000" => |v| (1..=1_000).contains(v), "RFC 6928";
        /// What a mark leaves of the window.
        decrease: f64 = 0.5, "0 < decrease < 1" => |v| *v > 0.0 && *v < 1.0,
            "RFC 3168 §6.1.2: as a loss";
        /// Queue that marks; auto: max(30 KB, rate x base RTT / 7), at most 70 % of the buffer.
        mark_threshold: Threshold = Threshold::Auto, "auto, 1B or more, or 1 to 4294967295 packets" =>
            |v| !matches!(v, Threshold::Packets(0) | Threshold::Bytes(Bytes(0))),
            "own choice, as DCTCP";
        /// Minimum retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "own choice, as DCTCP";
    }
}
