//! Parameters of NDP.

use incast_transport::{Limit, Span, choice, parameters};

choice! {
    /// The service of headers and control beside data.
    pub enum HeaderPriority {
        /// `header_share` headers for each data packet while both wait.
        Weighted = "weighted",
        /// Data only while no header waits.
        Strict = "strict",
    }
}

/// Whether a queue is at least one packet of `bytes`, and not absurd.
fn holds(limit: &Limit, bytes: u64) -> bool {
    match limit {
        Limit::Packets(packets) => (1..=100_000).contains(packets),
        Limit::Bytes(most) => (bytes..=1_000_000_000).contains(most),
        Limit::Unlimited => false,
    }
}

parameters! {
    /// Parameters of NDP.
    pub struct Params for "ndp" {
        /// Data that may wait at a port, in packets or charged bytes; the payload of any further packet is cut off.
        data_queue: Limit = Limit::Packets(8), "1 to 100000 packets, or a full packet to 1GB"
            => |v| holds(v, 1),
            "NDP §6: eight packets; also REN §6, AMRT §6";
        /// Headers and control that may wait at a port, in packets or charged bytes. Does not depend on `data_queue`.
        header_queue: Option<Limit> = None, "auto, 1 to 100000 packets, or a header to 1GB"
            => |v| v.as_ref().is_none_or(|limit| holds(limit, 1)),
            "authors' simulator: twice the data queue of eight packets, here of 1,500 B: 24KB; auto is that, or 16 headers if they are longer";
        /// Service of headers and control beside data: by `header_share`, or strictly first.
        header_priority: HeaderPriority = HeaderPriority::Weighted, "weighted or strict"
            => |_| true,
            "NDP §3.1; the authors' simulator of today is almost strict (100000:1)";
        /// Headers sent for each data packet while both wait at a port, if `header_priority` is `weighted`.
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
