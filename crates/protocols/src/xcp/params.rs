//! Parameters.

use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_transport::Span;

incast_transport::choice! {
    /// From what the control intervals of ports follow.
    pub enum Timers {
        /// From the fabric: no floor that an RTT of a data center would meet.
        Scaled = "scaled",
        /// From ns-2.35's constants: 1 ms, 2 ms and 50 ms.
        Ns2 = "ns2",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn automatic(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

/// The longest RTT that fits the header, rounded down to milliseconds.
const LONGEST: Span = Span::from_ms(1_073);

incast_transport::parameters! {
    /// Parameters of XCP.
    pub struct Params for "xcp" {
        /// Share of the spare bandwidth that is given away per RTT.
        alpha: f64 = 0.4, "0 < alpha < 0.555" => |v| *v > 0.0 && *v < 0.555,
            "XCP §3.5: 0.4, stable below pi / (4 sqrt 2)";
        /// Share of the persistent queue that is drained per RTT.
        beta: f64 = 0.226, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "XCP §3.5: alpha^2 sqrt 2";
        /// Share of the traffic that is shuffled between flows in an interval.
        gamma: f64 = 0.1, "0 to 1" => |v| (0.0..=1.0).contains(v), "XCP §3.5.2: 0.1";
        /// Whether intervals follow the RTT down to packets, or ns-2's floors.
        timers: Timers = Timers::Scaled, "scaled or ns2" => |_| true,
            "scaled is our own; ns2: ns-2.35, xcpq.cc";
        /// Least control interval; auto: two packets' time, or 1 ms with `timers = ns2`.
        interval_min: Option<Span> = None, "auto, or more than 0" => automatic,
            "our own; ns-2.35 Te_min: 1 ms";
        /// Least interval of the queue's estimate; auto: two packets' time, or 2 ms.
        queue_interval_min: Option<Span> = None, "auto, or more than 0" => automatic,
            "our own; ns-2.35 Tq_min: 2 ms";
        /// First control interval; auto: the fabric's base RTT, or 50 ms.
        interval_initial: Option<Span> = None, "auto, or more than 0" => automatic,
            "our own; ns-2.35: 50 ms";
        /// Longest RTT that counts in a port's average.
        rtt_cap: Span = Span::from_secs(1), "more than 0, at most 1073ms" =>
            |v| positive(v) && *v <= LONGEST, "ns-2.35, xcpq.cc: 1 s";
        /// Bytes of the congestion header on data and ACKs.
        header: u32 = 16, "16 or 20" => |v| *v == 16 || *v == 20,
            "DECN Table I: 128 bits; the draft has a word more";
        /// Whether NIC ports measure too.
        at_nics: bool = true, "true or false" => |_| true,
            "ns-2: every link has one";
        /// Whether packets are paced over the RTT.
        pacing: bool = true, "true or false" => |_| true, "our own; XCP is not paced";
        /// First window, in full segments.
        initial_window: u32 = 2, "1 to 1000" => |v| (1..=1_000).contains(v), "ns-2: 1 or 2";
        /// Minimum retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "as DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto,
            "own choice; RFC 6298: 1 s";
        /// Data packets acknowledged together; 1 acknowledges each at once.
        delayed_ack: u32 = 1, "1 to 255" => |v| (1..=255).contains(v),
            "the papers' simulators: 1";
        /// Maximum delay of a delayed ACK.
        delayed_ack_timeout: Span = Span::from_ms(1), "more than 0" => positive,
            "own choice, below `rto_min`";
    }
}
