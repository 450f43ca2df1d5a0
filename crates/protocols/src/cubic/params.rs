//! Parameters of CUBIC.

use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_endpoint::sender::WindowUnit;
use incast_transport::Span;

incast_transport::choice! {
    /// Growth of the window in congestion avoidance and its cut after a loss.
    pub enum Growth {
        /// RFC 9438.
        Cubic = "cubic",
        /// RFC 5681: one segment per RTT, halved by a loss.
        Reno = "reno",
    }
}

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
    /// Parameters of CUBIC and of the TCP below it.
    pub struct Params for "cubic" {
        /// Growth of the window: the cubic curve, or TCP (New)Reno's linear growth.
        growth: Growth = Growth::Cubic, "cubic or reno" => |_| true,
            "RFC 9438; reno: RFC 5681";
        /// Factor of the window after a loss; auto: 0.7 for cubic, 0.5 for reno.
        beta: Option<f64> = None, "auto, or 0 < beta < 1" =>
            |v| v.is_none_or(|beta| beta > 0.0 && beta < 1.0),
            "RFC 9438 §4.6; RFC 5681 §3.1";
        /// The curve's scale C, in segments per cubic second.
        scale: f64 = 0.4, "more than 0, at most 1000000" => |v| *v > 0.0 && *v <= 1e6,
            "RFC 9438 §5: 0.4";
        /// Whether a loss below the former peak lowers the peak further (fast convergence).
        fast_convergence: bool = true, "true or false" => |_| true, "RFC 9438 §4.7";
        /// Whether the window is at least Reno's.
        reno_friendly: bool = true, "true or false" => |_| true, "RFC 9438 §4.3";
        /// What windows count and grow by: full segments, or packets of the flow's own size.
        window_unit: WindowUnit = WindowUnit::Segment, "segment or packet" => |_| true,
            "RFC 5681 §3.1; ns-2 counts packets of any size";
        /// First window, in units of `window_unit`.
        initial_window: u32 = 10, "1 to 1000" => |v| (1..=1_000).contains(v),
            "RFC 6928; ns-2: 2";
        /// Least window after a loss, in units of `window_unit`.
        min_window: u32 = 2, "1 to 1000" => |v| (1..=1_000).contains(v),
            "RFC 9438 §4.6: 2";
        /// Whether slow start may end before a loss (HyStart).
        hystart: bool = false, "true or false" => |_| true,
            "off for reproducibility, own choice; Linux and ns-3: on";
        /// Least window at which HyStart may end slow start, in units of `window_unit`.
        hystart_window: u32 = 16, "1 to 100000" => |v| (1..=100_000).contains(v),
            "Linux, ns-3: 16";
        /// RTT samples at the start of a round whose minimum is compared.
        hystart_samples: u32 = 8, "1 to 1000" => |v| (1..=1_000).contains(v), "Linux, ns-3: 8";
        /// Largest gap between two ACKs of one train.
        hystart_gap: Span = Span::from_ms(2), "more than 0" => positive, "Linux, ns-3: 2 ms";
        /// Length of a train of ACKs that ends slow start, as a share of the least RTT.
        hystart_train: f64 = 0.5, "more than 0, at most 10" => |v| *v > 0.0 && *v <= 10.0,
            "HyStart: 1/2; ns-3: 1";
        /// Least excess over the least RTT that ends slow start.
        hystart_delay_min: Span = Span::from_ms(4), "any time" => |_| true, "Linux: 4 ms";
        /// Most excess over the least RTT that slow start tolerates.
        hystart_delay_max: Span = Span::from_ms(16), "more than 0" => positive, "Linux: 16 ms";
        /// Whether a flow waits for the SYN-ACK before it sends.
        handshake: bool = false, "true or false" => |_| true,
            "the papers' simulators: none; a testbed has one";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "as DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto,
            "own choice; RFC 6298: 1 s";
        /// Loss detection: SACK, or NewReno's duplicate ACKs.
        recovery: Recovery = Recovery::Sack, "sack or newreno" => |_| true,
            "RFC 6675; RFC 6582";
        /// Data packets per ACK; 1 acknowledges each packet at once.
        delayed_ack: u32 = 1, "1 to 255" => |v| (1..=255).contains(v),
            "the papers' simulators: 1; RFC 5681 §4.2 allows 2";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Span = Span::from_ms(40), "more than 0" => positive,
            "stock kernels: 40 ms";
    }
}

impl Params {
    /// Factor of the window after a loss.
    pub fn beta(&self) -> f64 {
        self.beta.unwrap_or(match self.growth {
            Growth::Cubic => 0.7,
            Growth::Reno => 0.5,
        })
    }

    /// Retransmission timeout before the first sample.
    pub fn rto_initial(&self) -> Span {
        self.rto_initial.unwrap_or(self.rto_min)
    }
}
