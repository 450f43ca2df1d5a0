//! Parameters.

use incast_egress::load::SAMPLES;
use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_endpoint::sender::WindowUnit;
use incast_transport::parameter::{Setting, Value, read};
use incast_transport::{FabricSite, Span, fault};

/// Levels that mean overload.
pub const OVERLOADS: usize = 6;

/// Six factors, written `0.99/0.96/...`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Factors(pub [f64; OVERLOADS]);

impl Value for Factors {
    fn read(setting: &Setting) -> Result<Factors, fault::Problem> {
        let text = setting.to_string();
        let numbers: Result<Vec<f64>, _> = text.split('/').map(read).collect();
        let six: Result<[f64; OVERLOADS], _> = numbers?.try_into();
        six.map(Factors).map_err(|_| fault::expected("six numbers with / between them"))
    }
    fn show(&self) -> String {
        self.0.map(|factor| factor.to_string()).join("/")
    }
}

impl Factors {
    /// Each a part that is kept, none larger than the one before.
    fn fall(&self) -> bool {
        self.0.iter().all(share) && self.0.windows(2).all(|pair| pair[1] <= pair[0])
    }
}

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
    /// Parameters of MLCP.
    pub struct Params for "mlcp" {
        /// Interval t_p of the load.
        period: Span = Span::from_us(100), "more than 0" => positive, "DECN §II-A: 0.1 ms";
        /// Time between samples of the queue; auto: a twentieth of the interval.
        sample: Option<Span> = None, "auto, or more than 0" => automatic,
            "reconstructed from VCP §3.1";
        /// Scale kappa of multiplicative increase: xi = kappa (1 - load) / load, at most 1.
        increase: f64 = 0.35, "0 < increase <= 10" => |v| *v > 0.0 && *v <= 10.0,
            "reconstructed: VCP has 0.25 at a load of 0.8";
        /// Packets alpha that additive increase adds per RTT.
        additive: f64 = 1.0, "0 < additive <= 1000" => |v| *v > 0.0 && *v <= 1_000.0,
            "reconstructed: VCP §3.2: 1";
        /// Factors beta of the six levels of overload.
        decrease: Factors = Factors([0.99, 0.96, 0.93, 0.9, 0.875, 0.85]),
            "six falling factors above 0, at most 1" => Factors::fall, "reconstructed";
        /// Part kappa_q of the average queue that counts as load.
        queue_weight: f64 = 0.75, "0 to 10" => |v| (0.0..=10.0).contains(v), "reconstructed";
        /// Weight of an interval's queue in its average.
        average_weight: f64 = 0.25, "0 < average_weight <= 1" => share,
            "reconstructed from VCP's ns-2 code";
        /// Target utilisation gamma.
        target: f64 = 0.98, "0 < target <= 1" => share, "reconstructed: VCP §3.1: 0.98";
        /// Load from which increase is additive; below are eight levels of equal width.
        high_load: f64 = 0.8, "0 < high_load < 1" => |v| *v > 0.0 && *v < 1.0,
            "reconstructed: VCP §3: 80 %";
        /// Width of a level of overload.
        overload_step: f64 = 0.04, "0 < overload_step <= 1" => share, "reconstructed";
        /// Maximum number of intervals per RTT by which increase is scaled.
        scale_max: f64 = 1.0, "0.01 to 100" => |v| (0.01..=100.0).contains(v),
            "our own: 2.5 as VCP's would be five times as fast as DECN Fig. 1(b)";
        /// Bytes that the class of the RTT takes in data; 0: reserved bits.
        header: u32 = 1, "0 or 1" => |v| *v <= 1, "DECN §VI: 4 bits and 3 bits";
        /// Whether NIC ports measure too.
        at_nics: bool = true, "true or false" => |_| true, "ns-2: every link has one";
        /// Whether packets are paced over the RTT.
        pacing: bool = true, "true or false" => |_| true, "our own, as VCP";
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
    /// Between samples of the queue, at least a picosecond.
    pub fn sample_span(&self) -> Span {
        self.sample.unwrap_or(self.period / SAMPLES).max(Span(1))
    }

    /// Payload of a full packet beside its own bytes.
    pub fn segment(&self, fabric: &FabricSite) -> u16 {
        fabric.framing.mss() - self.header as u16
    }
}
