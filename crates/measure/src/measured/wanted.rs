//! What claims and figures need of a run, and what a run gave.

use super::{Form, Measure, Of, Quantity, Sent};
use crate::{Balance, Run};
use incast_units::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something to be read from a finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// A number, with that of each batch of flows.
    Number(Measure),
    /// A number alone.
    Value(Measure),
    /// So many whole numbers: packets by interval, or the marks of a packet by port.
    Trace(Measure, usize),
    /// A number in consecutive windows of this length, from `from` to `to` of the measure.
    Series(Measure, Quantity<Span>),
    /// The values that a number summarises, in ascending order: one per flow, or one per interval.
    Each(Measure),
    /// How a number is spread over the run's flows or ports.
    Spread(Measure, Form),
    /// Whether arrivals and departures balance: 1 or 0, and the window in nanoseconds.
    Balance,
}

/// Name of [`Wanted::Balance`].
pub const BALANCE: &str = "balance";

/// What a run gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Bits", into = "Bits")]
pub struct MeasuredValue {
    /// The number; `None` if the run has none.
    pub value: Option<f64>,
    /// Which flows the number is of; 0 if it is not a statistic of flows.
    pub flows: u64,
    /// The number of each batch of flows, or the points of a trace or series.
    pub list: Vec<f64>,
}

/// The same with the bits of its numbers: JSON has none for what is infinite or no number.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bits {
    value: Option<u64>,
    flows: u64,
    list: Vec<u64>,
}

impl From<MeasuredValue> for Bits {
    fn from(MeasuredValue { value, flows, list }: MeasuredValue) -> Bits {
        let list = list.into_iter().map(f64::to_bits).collect();
        Bits { value: value.map(f64::to_bits), flows, list }
    }
}

impl From<Bits> for MeasuredValue {
    fn from(Bits { value, flows, list }: Bits) -> MeasuredValue {
        let list = list.into_iter().map(f64::from_bits).collect();
        MeasuredValue { value: value.map(f64::from_bits), flows, list }
    }
}

impl Wanted {
    /// Its name in tables.
    pub fn id(&self) -> String {
        match self {
            Wanted::Number(measure) | Wanted::Value(measure) => measure.id(),
            Wanted::Trace(measure, places) => format!("{} trace={places}", measure.id()),
            Wanted::Series(measure, step) => format!("{} step={}", measure.id(), step.0),
            Wanted::Each(measure) => format!("{} each", measure.id()),
            Wanted::Spread(measure, form) => format!("{} {}", measure.id(), form.name()),
            Wanted::Balance => BALANCE.into(),
        }
    }

    /// Ports whose packets must be captured.
    pub fn captures(&self) -> Vec<String> {
        match self {
            Wanted::Trace(measure, _) => measure.captures(),
            _ => vec![],
        }
    }

    /// Reads it from a run.
    pub fn read(&self, run: &Run, sent: &[Sent<'_>]) -> MeasuredValue {
        match self {
            Wanted::Number(measure) => MeasuredValue {
                value: measure.of(run),
                flows: measure.fingerprint(run),
                list: measure.batches(run).unwrap_or_default(),
            },
            Wanted::Value(measure) => MeasuredValue {
                value: measure.of(run),
                flows: measure.fingerprint(run),
                ..MeasuredValue::default()
            },
            Wanted::Trace(measure, places) => {
                let found = match measure.kind.of() {
                    Of::Packet => measure.marks(run, sent),
                    _ => measure.packets(run, *places),
                };
                let list = found.unwrap_or_default().into_iter().map(f64::from).collect();
                MeasuredValue { list, ..MeasuredValue::default() }
            }
            Wanted::Series(measure, step) => {
                let (from, to) = measure.window(run);
                let count = to.since(from).0 / step.0.0.max(1);
                let at = |i: u64| {
                    let start = Time(from.0 + i * step.0.0);
                    measure.between(start, Time(start.0 + step.0.0)).of(run).unwrap_or(f64::NAN)
                };
                MeasuredValue { list: (0..count).map(at).collect(), ..MeasuredValue::default() }
            }
            Wanted::Each(measure) => {
                MeasuredValue { list: measure.each(run), ..MeasuredValue::default() }
            }
            Wanted::Spread(measure, form) => {
                MeasuredValue { list: form.read(measure, run), ..MeasuredValue::default() }
            }
            Wanted::Balance => match Balance::of(run) {
                Balance::Unknown => MeasuredValue::default(),
                Balance::Never => MeasuredValue { value: Some(0.0), ..MeasuredValue::default() },
                Balance::Reached(window) => {
                    let list = [window.from, window.to].map(|at| at.as_ns_f64()).to_vec();
                    MeasuredValue { value: Some(1.0), list, ..MeasuredValue::default() }
                }
            },
        }
    }
}

/// What one run gave, by name.
pub type Measured = BTreeMap<String, MeasuredValue>;
