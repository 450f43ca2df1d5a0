//! Parameters.

use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_transport::Span;

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn automatic(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

fn share(value: &f64) -> bool {
    *value > 0.0 && *value <= 1.0
}

incast_transport::parameters! {
    /// Parameters of RCP.
    pub struct Params for "rcp" {
        /// Share of the spare bandwidth that is given away per RTT.
        alpha: f64 = 0.4, "0 < alpha <= 1" => share, "ns-2 scripts: 0.4; the papers: 0.226 to 1";
        /// Share of the queue that is drained per RTT.
        beta: f64 = 1.0, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "ns-2 scripts: 1; the papers: 0.226 to 1";
        /// Target utilisation gamma.
        target: f64 = 1.0, "0 < target <= 1" => share, "ns-2: 1; 0.95 in later papers";
        /// A port's first rate, as a part of its link's.
        initial_rate: f64 = 0.5, "0 < initial_rate <= 1" => share, "our own; ns-2: 0.05";
        /// Least rate of a port, in packets per RTT.
        rate_min: f64 = 0.01, "0 < rate_min <= 1" => share, "ns-2, min_pprtt: 0.01";
        /// Longest control interval; auto: the average RTT.
        slot: Option<Span> = None, "auto, or more than 0" => automatic, "ns-2: 10 ms";
        /// Average RTT before a port has seen one; auto: the fabric's base RTT.
        rtt_initial: Option<Span> = None, "auto, or more than 0" => automatic,
            "our own; ns-2: 200 ms";
        /// RTTs without an ACK after which a source halves its rate.
        patience: u32 = 4, "1 to 1000" => |v| (1..=1_000).contains(v), "RCP's ns-2 code: 4";
        /// Whether a flow starts at the last rate its host received, without a request.
        first_rtt_rate: bool = false, "true or false" => |_| true, "our own";
        /// Minimum retransmission timeout, also of the first request.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "as DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto,
            "own choice; RFC 6298: 1 s";
    }
}
