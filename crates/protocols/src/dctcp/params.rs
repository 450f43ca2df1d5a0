//! Parameters of DCTCP.

use incast_egress::threshold::Threshold;
use incast_transport::{Bytes, Span};

incast_transport::choice! {
    /// Loss detection.
    pub enum Recovery {
        /// Selective acknowledgement (RFC 6675).
        Sack = "sack",
        /// Duplicate and partial ACKs only (RFC 6582).
        NewReno = "newreno",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

incast_transport::parameters! {
    /// Parameters of DCTCP.
    pub struct Params for "dctcp" {
        /// Weight g of a new sample in the estimate of the marked share.
        gain: f64 = 0.0625, "0 < gain <= 1" => |v| *v > 0.0 && *v <= 1.0,
            "DCTCP §3.3, §4: 1/16";
        /// The estimate alpha before the first window.
        initial_alpha: f64 = 1.0, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "RFC 8257 §4.2: 1; the simulator of 2010 used 0";
        /// Marking threshold K of the queue; auto: max(30 KB, rate x base RTT / 7), at most 70 % of the buffer.
        mark_threshold: Threshold = Threshold::Auto, "auto, a size, or a count of packets" =>
            |v| !matches!(v, Threshold::Packets(0) | Threshold::Bytes(Bytes(0))),
            "DCTCP §3.4: 20 packets at 1 Gb/s, 65 at 10 Gb/s; auto is our own";
        /// First window, in full segments.
        initial_window: u32 = 10, "1 to 1000" => |v| (1..=1_000).contains(v),
            "RFC 6928; 2 in the paper of 2010";
        /// Least window after a cut due to marks, in full segments.
        min_window: u32 = 2, "1 to 1000" => |v| (1..=1_000).contains(v),
            "RFC 8257 §3.3, which refers to RFC 5681; 1 in the incast test";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0" => positive,
            "DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0" =>
            |v| v.as_ref().is_none_or(positive),
            "own choice; RFC 6298: 1 s";
        /// Loss detection: SACK, or NewReno's duplicate ACKs.
        recovery: Recovery = Recovery::Sack, "sack or newreno" => |_| true,
            "DCTCP §4: TCP NewReno with SACK";
        /// Data packets per ACK; 1 acknowledges each packet at once.
        delayed_ack: u32 = 1, "1 to 255" => |v| (1..=255).contains(v),
            "the papers' simulators: 1; DCTCP §3.1 allows 2";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Span = Span::from_ms(1), "more than 0" => positive,
            "own choice, below `rto_min`; stock kernels wait 40 ms";
    }
}
