//! Parameters.

use incast_endpoint::rto::accepted;
use incast_endpoint::sender::Recovery;
use incast_transport::{Bytes, Rate, Span};

incast_transport::choice! {
    /// What happens between the two thresholds of delay.
    pub enum Variant {
        /// The gradient's sign decides (TIMELY, Algorithm 1).
        Paper = "paper",
        /// Gradient and distance from a reference delay together ("ECN or Delay", Algorithm 2).
        Patched = "patched",
    }
}

incast_transport::choice! {
    /// What leaves at once.
    pub enum Pace {
        /// Each packet is spaced.
        Packet = "packet",
        /// A segment leaves at line rate, then a gap.
        Segment = "segment",
    }
}

incast_transport::choice! {
    /// When the rate changes.
    pub enum Update {
        /// Once per RTT.
        Round = "round",
        /// With each completed segment.
        Segment = "segment",
    }
}

incast_transport::choice! {
    /// The rate of a new flow.
    pub enum Start {
        /// Its share of the link among the flows of its host.
        Share = "share",
        /// The link's.
        Line = "line",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn auto_or_positive(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

fn share(value: &f64) -> bool {
    *value > 0.0 && *value <= 1.0
}

fn auto_or_rate(rate: &Option<Rate>) -> bool {
    rate.is_none_or(|rate| rate.0 > 0)
}

incast_transport::parameters! {
    /// Parameters of TIMELY.
    pub struct Params for "timely" {
        /// What happens between the two thresholds.
        variant: Variant = Variant::Paper, "paper or patched" => |_| true,
            "TIMELY Algorithm 1; Zhu et al., ECN or Delay, CoNEXT 2016, Algorithm 2";
        /// Weight of the new difference in the averaged one.
        weight: f64 = 0.875, "0 < weight <= 1" => share,
            "HPCC's simulator; TIMELY §4.3 names no value";
        /// Decrease factor beta.
        decrease: f64 = 0.8, "0 < decrease <= 1" => share, "TIMELY §4.4: 0.8";
        /// Delay below which the rate always rises (T_low).
        delay_low: Span = Span::from_us(50), "more than 0" => positive, "TIMELY §4.4: 50 us";
        /// Delay above which the rate always falls (T_high); auto: 500 us, at least 10 base RTTs.
        delay_high: Option<Span> = None, "auto, or more than 0" => auto_or_positive,
            "TIMELY §4.4: 500 us; more where no RTT is shorter is our own";
        /// RTT by which differences are divided (minRTT); auto: 20 us, at least half a base RTT.
        min_rtt: Option<Span> = None, "auto, or more than 0" => auto_or_positive,
            "TIMELY §4.3: 20 us; more in slower networks is our own";
        /// Largest share of the rate that a decision between the thresholds takes; 1: any.
        max_decrease: f64 = 1.0, "0 < max_decrease <= 1" => share,
            "TIMELY Algorithm 1 has no bound";
        /// Additive step delta; auto: 10 Mb/s for each 10 Gb/s of the link.
        additive_increase: Option<Rate> = None, "auto, or more than 0" => auto_or_rate,
            "TIMELY §4.4: 10 Mb/s at 10 Gb/s; HPCC's simulator scales it";
        /// Rises in a row from which steps are larger (N of hyperactive increase).
        hyper_after: u32 = 5, "1 to 1000" => |v| (1..=1_000).contains(v), "TIMELY §4.3: 5";
        /// How many times larger.
        hyper_factor: u32 = 5, "1 to 1000" => |v| (1..=1_000).contains(v), "TIMELY §4.3: 5";
        /// Whether rises below T_low count for it and are larger, too.
        hyper_below_low: bool = false, "true or false" => |_| true,
            "TIMELY Algorithm 1: no; HPCC's simulator: yes";
        /// Least rate; auto: a thousandth of the link.
        min_rate: Option<Rate> = None, "auto, or more than 0" => auto_or_rate,
            "10 Mb/s at 10 Gb/s is our own; HPCC's simulator: 100 Mb/s";
        /// The rate of a new flow: share, its part of the link; line, all of it.
        start: Start = Start::Share, "share or line" => |_| true,
            "TIMELY §4.1: C/(N+1); HPCC's simulator: line";
        /// What leaves at once.
        pace: Pace = Pace::Packet, "packet or segment" => |_| true,
            "TIMELY §4.2: segments; HPCC's simulator: packets";
        /// Payload of a segment in full packets; auto: one packet, with pace = segment 16 KiB.
        segment: Option<Bytes> = None, "auto, or 1B to 64KB" =>
            |v| v.is_none_or(|bytes| (1..=64_000).contains(&bytes.0)),
            "TIMELY §4.2: 16 to 64 KB";
        /// When the rate changes: once per RTT, or with each segment.
        update: Update = Update::Round, "round or segment" => |_| true,
            "HPCC's simulator: a round trip; TIMELY Algorithm 1: each completion";
        /// Factor of the error with `patched`.
        patched_decrease: f64 = 0.008, "0 < patched_decrease <= 1" => share,
            "ECN or Delay §4.3: 0.008";
        /// Reference delay with `patched`; auto: T_low.
        patched_delay: Option<Span> = None, "auto, or more than 0" =>
            auto_or_positive, "ECN or Delay §4.3: T_low";
        /// Whether a flow has at most a BDP in flight, less in proportion to its rate.
        window_limit: bool = false, "true or false" => |_| true,
            "the paper: none; HPCC's simulator: TIMELY+win";
        /// How lost packets are sent again; with `sack` a BDP may be in flight at most.
        recovery: Recovery = Recovery::GoBackN, "go-back-n or sack" => |_| true,
            "HPCC's simulator: go-back-n; sack: Mittal et al., IRN, SIGCOMM 2018";
        /// Least time between two requests to go back for the same byte; at least two base RTTs.
        nack_interval: Span = Span::from_us(500), "more than 0" => positive,
            "HPCC's simulator: 500 us";
        /// Minimum retransmission timeout.
        rto_min: Span = Span::from_ms(1), "more than 0, at most 60s" => accepted, "own choice";
        /// ACKs that may wait at a port.
        control_limit: Bytes = Bytes::from_kib(128), "a control packet and more" => |v| v.0 > 0,
            "own choice: as REN's";
    }
}

/// Effective settings at a host. Rates are in bits per second, times in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Between the thresholds.
    pub variant: Variant,
    /// The host's link.
    pub line: f64,
    /// Least rate.
    pub least: f64,
    /// Additive step.
    pub step: f64,
    /// Weight of a new difference.
    pub weight: f64,
    /// Decrease factor.
    pub decrease: f64,
    /// T_low.
    pub low: f64,
    /// T_high.
    pub high: f64,
    /// Divisor of differences.
    pub min_rtt: f64,
    /// Largest share that a decision between the thresholds takes.
    pub max_decrease: f64,
    /// Rises in a row from which steps are larger.
    pub hyper_after: u32,
    /// How many times larger.
    pub hyper_factor: f64,
    /// Below T_low, too.
    pub hyper_below_low: bool,
    /// What leaves at once.
    pub pace: Pace,
    /// When the rate changes.
    pub update: Update,
    /// Payload of a segment.
    pub segment: u64,
    /// Factor of the error (patched).
    pub patched_decrease: f64,
    /// Reference delay (patched).
    pub reference: f64,
    /// Payload bytes in flight at line rate; `None` for no limit.
    pub window: Option<u64>,
    /// Payload bytes that may be in flight at any rate.
    pub cap: u64,
}

impl Rule {
    /// The parameters at a host whose link has the rate `line` and holds `bdp` full packets of
    /// `payload` bytes, in a fabric with this base RTT.
    pub fn new(params: &Params, line: Rate, bdp: u64, payload: u16, base_rtt: Span) -> Rule {
        // The paper's delays are those of one network; with a longer RTT all would be above T_high.
        let own_high = Span::from_us(500).max(base_rtt * 10);
        let own_least = Span::from_us(20).max(base_rtt / 2);
        let of =
            |rate: Option<Rate>, share: u64| rate.unwrap_or(line.scale(1, share)).0.max(1) as f64;
        let packet = payload as u64;
        let segment = match (params.segment, params.pace) {
            (Some(bytes), _) => bytes.0,
            (None, Pace::Packet) => packet,
            (None, Pace::Segment) => Bytes::from_kib(16).0,
        };
        Rule {
            variant: params.variant,
            line: line.0 as f64,
            least: of(params.min_rate, 1_000).min(line.0 as f64),
            step: of(params.additive_increase, 1_000),
            weight: params.weight,
            decrease: params.decrease,
            low: params.delay_low.0 as f64,
            high: params.delay_high.unwrap_or(own_high).max(params.delay_low).0 as f64,
            min_rtt: params.min_rtt.unwrap_or(own_least).0 as f64,
            max_decrease: params.max_decrease,
            hyper_after: params.hyper_after,
            hyper_factor: params.hyper_factor as f64,
            hyper_below_low: params.hyper_below_low,
            pace: params.pace,
            update: params.update,
            segment: (segment / packet).max(1) * packet,
            patched_decrease: params.patched_decrease,
            reference: params.patched_delay.unwrap_or(params.delay_low).0 as f64,
            window: params.window_limit.then_some(bdp * packet),
            cap: if params.recovery == Recovery::Sack { bdp * packet } else { u64::MAX },
        }
    }
}
