//! Parameters.

use incast_egress::load::SAMPLES;
use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_endpoint::sender::WindowUnit;
use incast_transport::{FabricSite, Span};

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
    /// Parameters of VCP.
    pub struct Params for "vcp" {
        /// Interval t_rho of the load; auto: the base RTT, at least `interval_min`.
        interval: Option<Span> = None, "auto, or more than 0" => automatic,
            "VCP §3.1: 200 ms, above most round trips; scaled to a data center";
        /// Least interval with `interval = auto`.
        interval_min: Span = Span::from_us(100), "more than 0" => positive,
            "DECN §II-A: 0.1 ms for MLCP";
        /// Time between samples of the queue t_q; auto: a twentieth of the interval.
        sample: Option<Span> = None, "auto, or more than 0" => automatic,
            "VCP §3.1: 10 ms of 200 ms";
        /// Step xi of multiplicative increase.
        increase: f64 = 0.0625, "0 < increase <= 1" => share, "VCP §3.2: 0.0625";
        /// Packets alpha that additive increase adds per RTT.
        additive: f64 = 1.0, "0 < additive <= 1000" => |v| *v > 0.0 && *v <= 1_000.0,
            "VCP §3.2: 1";
        /// Factor beta of multiplicative decrease.
        decrease: f64 = 0.875, "0 < decrease <= 1" => share, "VCP §3.2: 0.875";
        /// Part kappa of the average queue that counts as load.
        queue_weight: f64 = 0.5, "0 to 10" => |v| (0.0..=10.0).contains(v), "VCP §3.1: 0.5";
        /// Weight of an interval's queue in its average.
        average_weight: f64 = 0.25, "0 < average_weight <= 1" => share, "the authors' ns-2 code";
        /// Target utilisation gamma.
        target: f64 = 0.98, "0 < target <= 1" => share, "VCP §3.1: 0.98";
        /// Load from which increase is additive.
        high_load: f64 = 0.8, "0 < high_load <= 1" => share, "VCP §3: 80 %";
        /// Maximum number of intervals per RTT by which multiplicative increase is scaled.
        scale_max: f64 = 2.5, "1 to 100" => |v| (1.0..=100.0).contains(v),
            "the authors' ns-2 code";
        /// Least and most of them for additive increase: 1/n and n.
        additive_scale_max: f64 = 5.0, "1 to 100" => |v| (1.0..=100.0).contains(v),
            "the authors' ns-2 code: 20 and 500 of 100 ms";
        /// Whether NIC ports measure too.
        at_nics: bool = true, "true or false" => |_| true, "ns-2: every link has one";
        /// Whether packets are paced over the RTT.
        pacing: bool = true, "true or false" => |_| true,
            "the authors' ns-2 code for windows below 64";
        /// What windows count and grow by: full segments, or packets of the flow's own size.
        window_unit: WindowUnit = WindowUnit::Segment, "segment or packet" => |_| true,
            "own choice, as TCP; ns-2 counts packets of any size";
        /// First window, in units of `window_unit`.
        initial_window: u32 = 2, "1 to 1000" => |v| (1..=1_000).contains(v), "ns-2: 1 or 2";
        /// Minimum retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "as DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto,
            "own choice; RFC 6298: 1 s";
    }
}

impl Params {
    /// t_rho on a fabric.
    pub fn interval_on(&self, fabric: &FabricSite) -> Span {
        self.interval.unwrap_or(fabric.base_rtt.max(self.interval_min))
    }

    /// t_q on a fabric, at least a picosecond.
    pub fn sample_on(&self, fabric: &FabricSite) -> Span {
        self.sample.unwrap_or(self.interval_on(fabric) / SAMPLES).max(Span(1))
    }
}
