//! Parameters of NDP.

use incast_transport::{Span, parameters};

parameters! {
    /// Parameters of NDP.
    pub struct Params for "ndp" {
        /// Data packets that may wait at a port; the payload of any further one is cut off.
        data_queue: u32 = 8, "1 to 100000 packets" => |v| (1..=100_000).contains(v),
            "NDP §6: eight packets; also REN §6, AMRT §6";
        /// Headers sent for each data packet while both wait at a port.
        header_share: u32 = 10, "1 to 100000" => |v| (1..=100_000).contains(v),
            "NDP §3.1: 10:1";
        /// Probability that the last packet of a full queue is trimmed, not the arriving one.
        trim_tail: f64 = 0.5, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "NDP §3.1: breaks phase effects";
        /// Whether a header that finds no room goes back to its source, once.
        return_to_sender: bool = true, "true or false" => |_| true,
            "NDP §3.2.4; off in the authors' simulator";
        /// Packets of the first window; auto: the RTT's, at least 15.
        first_window: Option<u32> = None, "1 to 1000000 packets, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000).contains(&v)),
            "authors' simulator: 15 to 23; auto is our choice";
        /// Share of the host's link rate that its pulls request.
        pull_rate: f64 = 1.0, "0.01 to 1" => |v| (0.01..=1.0).contains(v),
            "authors' simulator: one pull in the time of a full packet";
        /// Minimum retransmission timeout.
        rto_min: Span = Span::from_ms(1), "1us to 10s"
            => |v| (Span::from_us(1)..=Span::from_secs(10)).contains(v),
            "1 ms class, as the paper's last resort";
        /// Paths a source permutes, where it chooses (routing source-path); auto: the fabric's.
        paths: Option<u32> = None, "1 to 4096, or auto"
            => |v| v.is_none_or(|v| (1..=4096).contains(&v)),
            "NDP §3.1.1: sources permute paths";
    }
}
