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
pub struct Seen {
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

impl From<Seen> for Bits {
    fn from(Seen { value, flows, list }: Seen) -> Bits {
        let list = list.into_iter().map(f64::to_bits).collect();
        Bits { value: value.map(f64::to_bits), flows, list }
    }
}

impl From<Bits> for Seen {
    fn from(Bits { value, flows, list }: Bits) -> Seen {
        let list = list.into_iter().map(f64::from_bits).collect();
        Seen { value: value.map(f64::from_bits), flows, list }
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
    pub fn read(&self, run: &Run, sent: &[Sent<'_>]) -> Seen {
        match self {
            Wanted::Number(measure) => Seen {
                value: measure.of(run),
                flows: measure.fingerprint(run),
                list: measure.batches(run).unwrap_or_default(),
            },
            Wanted::Value(measure) => {
                Seen { value: measure.of(run), flows: measure.fingerprint(run), ..Seen::default() }
            }
            Wanted::Trace(measure, places) => {
                let found = match measure.kind.of() {
                    Of::Packet => measure.marks(run, sent),
                    _ => measure.packets(run, *places),
                };
                let list = found.unwrap_or_default().into_iter().map(f64::from).collect();
                Seen { list, ..Seen::default() }
            }
            Wanted::Series(measure, step) => {
                let (from, to) = measure.window(run);
                let count = to.since(from).0 / step.0.0.max(1);
                let at = |i: u64| {
                    let start = Time(from.0 + i * step.0.0);
                    measure.between(start, Time(start.0 + step.0.0)).of(run).unwrap_or(f64::NAN)
                };
                Seen { list: (0..count).map(at).collect(), ..Seen::default() }
            }
            Wanted::Each(measure) => Seen { list: measure.each(run), ..Seen::default() },
            Wanted::Spread(measure, form) => {
                Seen { list: form.read(measure, run), ..Seen::default() }
            }
            Wanted::Balance => match Balance::of(run) {
                Balance::Unknown => Seen::default(),
                Balance::Never => Seen { value: Some(0.0), ..Seen::default() },
                Balance::Reached(window) => {
                    let list = [window.from, window.to].map(|at| at.as_ns_f64()).to_vec();
                    Seen { value: Some(1.0), list, ..Seen::default() }
                }
            },
        }
    }
}

/// What one run gave, by name.
pub type Measured = BTreeMap<String, Seen>;
