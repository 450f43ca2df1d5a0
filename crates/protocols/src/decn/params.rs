//! Parameters.

use super::code::{self, Unit};
use incast_transport::{FabricSite, Rate, Span};

incast_transport::choice! {
    /// When a sender asks for a difference, and how much of it it takes.
    pub enum Cadence {
        /// One unit at a time, the next one once switches have measured the rate it led to.
        Guard = "guard",
        /// A unit each period, all of each difference, as the paper says. Oscillates.
        Paper = "paper",
        /// A unit each period, a part of each difference: period / (RTT + 2 periods).
        Gain = "gain",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn automatic(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

/// Periods of silence after which a flow no longer counts, if nothing else is asked.
const ACTIVE_PERIODS: u64 = 20;
/// Periods between a change of the rate and the next unit, if nothing else is asked.
const GUARD_PERIODS: u64 = 3;
/// Steps that a link's rate has at least if its shares are to be told.
const STEPS_LEAST: u64 = 16;
/// Least part of its rate that a sender keeps in one decision, if nothing else is asked.
const KEPT: f64 = 0.5;

incast_transport::parameters! {
    /// Parameters of DECN.
    pub struct Params for "decn" {
        /// Sampling period t_p of switches, and least time between two units of a flow.
        period: Span = Span::from_us(100), "more than 0" => positive, "DECN §III-B: 0.1 ms";
        /// What a step of the difference stands for: 1 Mb/s, or enough for the fabric's links.
        unit: Unit = Unit::Scaled, "paper or scaled" => |_| true,
            "DECN §III-C: 1 Mb/s; scaled is our own";
        /// When differences are asked for, and how much of them is taken.
        cadence: Cadence = Cadence::Guard, "guard, paper or gain" => |_| true,
            "guard and gain are our own; DECN §III-C as written: paper";
        /// With `guard`: least time from a change of the rate to the next unit; auto: 3 periods.
        guard: Option<Span> = None, "auto, or more than 0" => automatic, "our own";
        /// Whether differences are added to what a flow sends, and not to what it was allowed.
        from_sent: bool = true, "true or false" => |_| true,
            "DECN §III-A: to its current rate";
        /// Least part of its rate that a sender keeps; auto: 0.5 with `guard`, else 0.
        decrease_floor: Option<f64> = None, "auto, or 0 to 1" =>
            |v| v.is_none_or(|part| (0.0..=1.0).contains(&part)), "our own; the paper: none";
        /// Packets of a flow that a measurement of its rate spans at least; 0: each period anew.
        epoch_packets: u32 = 3, "0 to 1000" => |v| *v <= 1_000, "our own; DECN Eq. 1: 0";
        /// Periods that a measurement spans at most.
        epoch_periods: u32 = 20, "1 to 1000" => |v| (1..=1_000).contains(v), "our own";
        /// Silence after which a flow no longer counts among the active ones; auto: 20 periods.
        active: Option<Span> = None, "auto, or more than 0" => automatic,
            "our own; the paper does not say";
        /// Silence after which a switch forgets a flow; at least `active`.
        forget: Span = Span::from_ms(10), "more than 0" => positive, "our own";
        /// Whether ports count what they gave a new flow until it can show, not for this period only.
        hold_grants: bool = false, "true or false" => |_| true, "our own; the paper does not say";
        /// Packets a period of a new flow.
        initial_packets: u32 = 3, "1 to 1000" => |v| (1..=1_000).contains(v),
            "our own: a unit a period";
        /// Longest time between full packets of a flow: its least rate.
        gap_max: Span = Span::from_ms(1), "more than 0" => positive,
            "our own: a starved flow recovers";
        /// Whether a loss halves the rate, and a timeout brings it down to that of a new flow.
        halve_on_loss: bool = true, "true or false" => |_| true,
            "our own: a loss takes feedback away";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0" => positive,
            "as DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0" => automatic,
            "own choice; RFC 6298: 1 s";
    }
}

/// What is in force at a host. Rates are in bits per second of charged bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// When differences are asked for.
    pub cadence: Cadence,
    /// t_p.
    pub period: Span,
    /// From a change to the next unit (G).
    pub guard: Span,
    /// Whether a decision begins with the rate that was used, if that is less than the one in force.
    pub from_sent: bool,
    /// Least part of the rate that a decision leaves.
    pub floor: f64,
    /// What a step of the difference stands for (U).
    pub step: i64,
    /// A new flow's (R0), the least and the host's own.
    pub initial: u64,
    /// The least rate.
    pub least: u64,
    /// The host's link.
    pub line: u64,
    /// Whether losses lower the rate.
    pub halve_on_loss: bool,
    /// Payload and charged bytes of a full packet.
    pub segment: u64,
    /// Charged bytes of a full packet.
    pub charged: u64,
    /// Stands for the RTT until there is one.
    pub base_rtt: Span,
}

impl Rule {
    /// The parameters at a host with a link of `line`.
    pub fn new(params: &Params, line: Rate, fabric: &FabricSite) -> Rule {
        let charged = fabric.framing.charged_mtu() as u64;
        let rate = |packets: u64, span: Span| {
            let bits = packets as u128 * charged as u128 * 8_000_000_000_000;
            ((bits / span.0 as u128) as u64).clamp(1, line.0)
        };
        let kept = if params.cadence == Cadence::Guard { KEPT } else { 0.0 };
        Rule {
            cadence: params.cadence,
            period: params.period,
            guard: params.guard.unwrap_or(params.period * GUARD_PERIODS),
            from_sent: params.from_sent,
            floor: params.decrease_floor.unwrap_or(kept),
            step: code::step(params.unit, fabric.max_rate),
            initial: rate(params.initial_packets as u64, params.period),
            least: rate(1, params.gap_max),
            line: line.0,
            halve_on_loss: params.halve_on_loss,
            segment: fabric.framing.mss() as u64,
            charged,
            base_rtt: fabric.base_rtt,
        }
    }
}

impl Params {
    /// T_act.
    pub fn active_span(&self) -> Span {
        self.active.unwrap_or(self.period * ACTIVE_PERIODS)
    }

    /// What the user should look at before trusting a run on this fabric.
    pub fn warnings(&self, fabric: &FabricSite) -> Vec<String> {
        let mut warnings = vec![];
        let most = Rate(code::decode(code::LARGEST, code::step(self.unit, fabric.max_rate)) as u64);
        if most < fabric.max_rate {
            warnings.push(format!(
                "decn.unit = {}: differences above {most} saturate, but links have {}; `scaled` \
                 has a larger unit",
                incast_transport::parameter::Value::show(&self.unit),
                fabric.max_rate
            ));
        }
        let step = Rate(code::step(self.unit, fabric.max_rate) as u64);
        let slowest = fabric.rates.first().copied().unwrap_or(fabric.max_rate);
        if slowest.0 / STEPS_LEAST < step.0 {
            warnings.push(format!(
                "decn.unit = {}: a step is {step}, too much for links of {slowest}; differences are \
                 rounded to it",
                incast_transport::parameter::Value::show(&self.unit),
            ));
        }
        if self.cadence == Cadence::Gain && fabric.base_rtt > self.period * 2 {
            warnings.push(format!(
                "decn.cadence = gain: oscillates where a round trip ({}) is longer than two \
                 periods ({}); `guard` does not",
                fabric.base_rtt, self.period
            ));
        }
        warnings
    }
}
