//! What claims and figures need of a run, and what a run gave.

use super::Finished;
use super::kept::Table;
use super::kind::Kind;
use super::measure::Measure;
use super::spread::Form;
use incast_experiment::scenario::Clock;
use incast_measure::Balance;
use incast_transport::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something to be read from a finished run.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// A number.
    Number(Measure),
    /// So many whole numbers: packets by interval, or the marks of a packet by port.
    Trace(Measure, usize),
    /// A number in consecutive windows of this length, from `from` to `to` of the measure.
    Series(Measure, Span),
    /// The values that a number summarises, in ascending order: one per flow, or one per interval.
    Each(Measure),
    /// How a number is spread over the run's flows or ports.
    Spread(Measure, Form),
    /// Whether arrivals and departures balance: 1 or 0, and the window in nanoseconds.
    Balance,
}

/// Name of [`Wanted::Balance`].
const BALANCE: &str = "balance";

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
            Wanted::Number(measure) => measure.id(),
            Wanted::Trace(measure, places) => format!("{} trace={places}", measure.id()),
            Wanted::Series(measure, step) => format!("{} step={step}", measure.id()),
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
    pub fn read(&self, finished: &Finished) -> Seen {
        let run = &finished.run;
        match self {
            Wanted::Number(measure) => Seen {
                value: measure.of(run),
                flows: measure.fingerprint(run),
                list: measure.batches(run).unwrap_or_default(),
            },
            Wanted::Trace(measure, places) => {
                let found = match measure.kind {
                    Kind::Marks => measure.marks(run, &finished.captured),
                    _ => measure.packets(run, *places),
                };
                let list = found.unwrap_or_default().into_iter().map(f64::from).collect();
                Seen { list, ..Seen::default() }
            }
            Wanted::Series(measure, step) => {
                let (from, to) = measure.window(run);
                let count = to.since(from).0 / step.0.max(1);
                let at = |i: u64| {
                    let start = Time(from.0 + i * step.0);
                    measure.between(start, Time(start.0 + step.0)).of(run).unwrap_or(f64::NAN)
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
pub type Row = BTreeMap<String, Seen>;

/// What the runs of one set gave: by run and transport, then by seed.
#[derive(Clone, Debug, Default)]
pub struct Results {
    rows: BTreeMap<(String, String), BTreeMap<u64, Row>>,
    default_run: String,
    /// The same runs in the data plane, if the experiment is judged there, too.
    pub dataplane: Option<Box<Results>>,
    /// The same runs in real time, by clock.
    pub real_time: Vec<(Clock, Results)>,
    /// Runs in real time that are refused, and why.
    pub refused: BTreeMap<(String, String), String>,
    /// How faithful runs in real time were, by seed.
    pub fidelity: BTreeMap<(String, String), BTreeMap<u64, Row>>,
    /// Tables that another manifest made.
    pub stale: Vec<String>,
    /// Seeds that a run is to have.
    pub seeds: usize,
    /// Runs that are to have fewer.
    pub fewer: BTreeMap<String, usize>,
    /// Whether runs are smaller than the experiment's.
    pub smoke: bool,
}

impl Results {
    /// No runs yet.
    pub fn new(default_run: String, seeds: usize, smoke: bool) -> Results {
        Results { default_run, seeds, smoke, ..Results::default() }
    }

    /// Seeds that the least of some runs is to have.
    pub fn seeds_of<'a>(&self, runs: impl Iterator<Item = &'a String>) -> usize {
        let own = runs.filter_map(|run| self.fewer.get(run).copied());
        own.chain([self.seeds]).min().unwrap_or(self.seeds)
    }

    /// Adds what a run gave.
    pub fn add(&mut self, run: &str, transport: &str, seed: u64, row: Row) {
        let key = (run.to_string(), transport.to_string());
        self.rows.entry(key).or_default().insert(seed, row);
    }

    /// Adds the table of a run. What failed or is refused is not judged.
    pub fn add_table(&mut self, run: &str, transport: &str, seed: u64, table: &Table) {
        let key = (run.to_string(), transport.to_string());
        if table.error.is_some() {
            return;
        }
        if !table.fidelity.is_empty() {
            let of = self.fidelity.entry(key.clone()).or_default();
            of.insert(seed, table.fidelity.clone());
        }
        match &table.refused {
            Some(why) => {
                self.refused.insert(key, why.clone());
            }
            None => self.add(run, transport, seed, table.row.clone()),
        }
    }

    /// Whether nothing was run.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.refused.is_empty()
    }

    /// Whether what both were asked for is equal in some runs that both have, to the last bit.
    pub fn equals_in(&self, other: &Results, runs: &[(String, String)]) -> bool {
        let equal = |run| match (self.rows.get(run), other.rows.get(run)) {
            (Some(own), Some(other)) => agree_in_all(own, other),
            _ => false,
        };
        runs.iter().all(equal)
    }

    /// Whether there are the same runs and what both were asked for is equal, to the last bit.
    pub fn equals(&self, other: &Results) -> bool {
        self.rows.keys().eq(other.rows.keys())
            && self.rows.values().zip(other.rows.values()).all(|(a, b)| agree_in_all(a, b))
    }

    /// Whether there is a run.
    pub fn has(&self, run: &str, transport: &str) -> bool {
        self.rows.contains_key(&(run.to_string(), transport.to_string()))
    }

    /// The run of claims that name none.
    pub fn default_run(&self) -> &str {
        &self.default_run
    }

    /// Transports of a run.
    pub fn transports(&self, run: &str) -> Vec<&str> {
        let of = self.rows.keys().filter(|(own, _)| own == run);
        of.map(|(_, transport)| transport.as_str()).collect()
    }

    /// The transports of all runs, those of several runs several times.
    pub fn all_transports(&self) -> impl Iterator<Item = &str> {
        self.rows.keys().map(|(_, transport)| transport.as_str())
    }

    /// What a run gave for one name, by seed.
    pub fn of(&self, run: &str, transport: &str, id: &str) -> BTreeMap<u64, &Seen> {
        let rows = self.rows.get(&(run.to_string(), transport.to_string())).into_iter().flatten();
        rows.filter_map(|(seed, row)| Some((*seed, row.get(id)?))).collect()
    }

    /// Whether arrivals and departures never balance in a run of one name, with any seed.
    pub fn never_balances(&self, run: &str, transport: &str) -> bool {
        self.of(run, transport, BALANCE).values().any(|seen| seen.value == Some(0.0))
    }
}

/// Whether two runs have the same seeds, and what both were asked for is equal in each.
fn agree_in_all(a: &BTreeMap<u64, Row>, b: &BTreeMap<u64, Row>) -> bool {
    // What is no number is equal here.
    let same = |a: &Seen, b: &Seen| format!("{a:?}") == format!("{b:?}");
    let agree = |a: &Row, b: &Row| a.iter().all(|(id, a)| b.get(id).is_none_or(|b| same(a, b)));
    a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| agree(a, b))
}
