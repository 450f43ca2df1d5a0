//! Parameters of DECN.

use super::code::{self, Unit};
use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_transport::{FabricSite, Notice, Rate, Span};

incast_transport::warnings! {
    /// Kinds of warnings about parameters that suit a fabric badly.
    pub static WARNINGS;
    DECN_UNIT_SATURATES = "decn_unit_saturates" {
        says: "decn.unit = {unit}: differences above {most} saturate, but links have {rate}; `scaled` \
               has a larger unit",
        means: "DECN's switches tell a sender in twelve bits how far its rate is from its share. With \
                this unit the largest difference they can tell is less than the rate of a link, so a \
                flow needs several periods where the paper's needs one.",
        remedy: "`decn.unit = \"scaled\"`; `paper` is meant for the paper's 1 Gb/s links.",
    }
    DECN_UNIT_COARSE = "decn_unit_coarse" {
        says: "decn.unit = {unit}: a step is {step}, too much for links of {rate}; differences are \
               rounded to it",
        means: "The smallest difference that DECN's switches can tell is a large part of the slowest \
                link's rate, so flows do not settle on equal shares.",
        remedy: "A smaller unit, or links that differ less in rate.",
    }
    DECN_CADENCE_OSCILLATES = "decn_cadence_oscillates" {
        says: "decn.cadence = gain: oscillates where an RTT ({rtt}) is longer than two periods \
               ({period}); `guard` does not",
        means: "Senders get a correction several times before its effect can be measured, and add it up.",
        remedy: "`decn.cadence = \"guard\"`, or a longer `decn.period`.",
    }
}

incast_transport::choice! {
    /// When a sender requests a difference, and how much of it is applied.
    pub enum Cadence {
        /// One unit at a time; the next one after switches have measured the new rate.
        Guard = "guard",
        /// A unit per period, the complete difference, as in the paper. Oscillates.
        Paper = "paper",
        /// A unit per period, part of the difference: period / (RTT + 2 periods).
        Gain = "gain",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn automatic(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

/// Default of `active`: periods without packets after which a flow is inactive.
const ACTIVE_PERIODS: u64 = 20;
/// Default of `guard`: periods between a change of the rate and the next unit.
const GUARD_PERIODS: u64 = 3;
/// Least number of steps in the slowest link's rate; below it a warning is issued.
const STEPS_LEAST: u64 = 16;
/// Default of `decrease_floor` with `guard`: least part of its rate that a sender keeps.
const KEPT: f64 = 0.5;

incast_transport::parameters! {
    /// Parameters of DECN.
    pub struct Params for "decn" {
        /// Sampling period t_p of switches, and least time between two units of a flow.
        period: Span = Span::from_us(100), "more than 0" => positive, "DECN §III-B: 0.1 ms";
        /// Step of the difference: 1 Mb/s, or scaled to the fabric's fastest link.
        unit: Unit = Unit::Scaled, "paper or scaled" => |_| true,
            "DECN §III-C: 1 Mb/s; scaled is our own";
        /// When differences are requested, and how much of them is applied.
        cadence: Cadence = Cadence::Guard, "guard, paper or gain" => |_| true,
            "guard and gain are our own; DECN §III-C as written: paper";
        /// With `guard`: least time from a change of the rate to the next unit; auto: 3 periods.
        guard: Option<Span> = None, "auto, or more than 0" => automatic, "our own";
        /// Whether differences are added to the rate that a flow used, not to its permitted rate.
        from_sent: bool = true, "true or false" => |_| true,
            "DECN §III-A: to its current rate";
        /// Least part of its rate that a sender keeps; auto: 0.5 with `guard`, else 0.
        decrease_floor: Option<f64> = None, "auto, or 0 to 1" =>
            |v| v.is_none_or(|part| (0.0..=1.0).contains(&part)), "our own; the paper: none";
        /// Least packets of a flow in a measurement of its rate; 0: one measurement per period.
        epoch_packets: u32 = 3, "0 to 1000" => |v| *v <= 1_000, "our own; DECN Eq. 1: 0";
        /// Most periods in a measurement.
        epoch_periods: u32 = 20, "1 to 1000" => |v| (1..=1_000).contains(v), "our own";
        /// Time without packets after which a flow is inactive; auto: 20 periods.
        active: Option<Span> = None, "auto, or more than 0" => automatic,
            "our own; the paper counts in each period; 2 of them gain decn/fig10 and starve long flows";
        /// Time without packets after which a switch removes a flow; at least `active`.
        forget: Span = Span::from_ms(10), "more than 0" => positive, "our own";
        /// Whether ports count a new flow's grant until a measurement can show it, not only in this period.
        hold_grants: bool = false, "true or false" => |_| true, "our own; the paper does not say";
        /// Initial rate of a flow, in packets per period.
        initial_packets: u32 = 3, "1 to 1000" => |v| (1..=1_000).contains(v),
            "our own: a unit per period";
        /// Longest time between full packets of a flow, which sets its least rate.
        gap_max: Span = Span::from_ms(1), "more than 0" => positive,
            "our own: a starved flow recovers";
        /// Whether a loss halves the rate, and a timeout lowers it to that of a new flow.
        halve_on_loss: bool = true, "true or false" => |_| true,
            "our own: a loss takes feedback away";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "as DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto,
            "own choice; RFC 6298: 1 s";
    }
}

/// Effective settings of a host. Rates are in bits per second of charged bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// When differences are requested.
    pub cadence: Cadence,
    /// Sampling period (t_p).
    pub period: Span,
    /// Time from a change of the rate to the next unit (G).
    pub guard: Span,
    /// Whether a decision starts from the rate that was used, if it is below the permitted one.
    pub from_sent: bool,
    /// Least factor of the rate in one decision.
    pub floor: f64,
    /// Step of the difference (U), in bits per second.
    pub step: i64,
    /// Rate of a new flow (R0).
    pub initial: u64,
    /// Least rate.
    pub least: u64,
    /// Rate of the host's link.
    pub line: u64,
    /// Whether losses lower the rate.
    pub halve_on_loss: bool,
    /// Payload bytes of a full packet.
    pub segment: u64,
    /// Charged bytes of a full packet.
    pub charged: u64,
    /// Used as the RTT before the first sample.
    pub base_rtt: Span,
}

impl Rule {
    /// The settings of a host with a link of rate `line`.
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
    /// Time without packets after which a flow is inactive (T_act).
    pub fn active_span(&self) -> Span {
        self.active.unwrap_or(self.period * ACTIVE_PERIODS)
    }

    /// Warnings about parameters that suit this fabric badly.
    pub fn warnings(&self, fabric: &FabricSite) -> Vec<Notice> {
        let unit = incast_transport::parameter::Value::show(&self.unit);
        let mut warnings = vec![];
        let most = Rate(code::decode(code::LARGEST, code::step(self.unit, fabric.max_rate)) as u64);
        if most < fabric.max_rate {
            let values =
                &[("unit", &unit as _), ("most", &most as _), ("rate", &fabric.max_rate as _)];
            warnings.push(DECN_UNIT_SATURATES.notice(values));
        }
        let step = Rate(code::step(self.unit, fabric.max_rate) as u64);
        let slowest = fabric.rates.first().copied().unwrap_or(fabric.max_rate);
        if slowest.0 / STEPS_LEAST < step.0 {
            let values = &[("unit", &unit as _), ("step", &step as _), ("rate", &slowest as _)];
            warnings.push(DECN_UNIT_COARSE.notice(values));
        }
        if self.cadence == Cadence::Gain && fabric.base_rtt > self.period * 2 {
            let values = &[("rtt", &fabric.base_rtt as _), ("period", &self.period as _)];
            warnings.push(DECN_CADENCE_OSCILLATES.notice(values));
        }
        warnings
    }
}
