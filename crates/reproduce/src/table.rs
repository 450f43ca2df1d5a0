//! What a run gave, as it is kept.

use incast_experiment::VERSION;
use incast_measure::Fidelity;
use incast_measure::measured::{Measured, MeasuredValue};
use incast_study::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Which run a table is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// `ren/fig16`.
    pub experiment: String,
    /// `as_published`.
    pub set: String,
    /// Name of the run in `claims.toml`.
    pub run: String,
    /// The transport.
    pub transport: String,
    /// The seed.
    pub seed: u64,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { experiment, set, run, transport, seed } = self;
        write!(f, "{experiment}, {set}, {run}, {transport}, seed {seed}")
    }
}

/// A table: what a run gave, and what made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptTable {
    /// What decides the results of the run: see [`incast_experiment::identity`].
    pub identity: String,
    /// Version of the program.
    pub version: String,
    /// Flows of the scenario.
    pub flows: usize,
    /// Why the run failed; then it gave nothing.
    pub error: Option<String>,
    /// Why the run, in real time, is not judged.
    pub refused: Option<String>,
    /// How faithful it was, if it was in real time.
    pub fidelity: Measured,
    /// What the run gave.
    pub row: Measured,
}

impl KeptTable {
    /// The table of a run of this program.
    pub fn of(identity: String, flows: usize, row: Measured) -> KeptTable {
        let (error, refused, fidelity) = (None, None, Measured::new());
        KeptTable { identity, version: VERSION.into(), flows, error, refused, fidelity, row }
    }

    /// The same of a run in real time.
    pub(crate) fn in_real_time(self, fidelity: &Fidelity) -> KeptTable {
        let refused = (!fidelity.refused.is_empty()).then(|| fidelity.refused.join("; "));
        KeptTable { refused, fidelity: numbers(fidelity), ..self }
    }

    /// What a run gave that has this identity.
    pub(crate) fn of_row(identity: &str, row: &Row) -> KeptTable {
        let flows = row.summary.as_ref().map_or(0, |summary| summary.flows.total);
        let error = row.error.as_ref().map(|error| error.lines().collect::<Vec<_>>().join("; "));
        let table =
            KeptTable { error, ..KeptTable::of(identity.into(), flows, row.measured.clone()) };
        match &row.fidelity {
            Some(fidelity) => table.in_real_time(fidelity),
            None => table,
        }
    }
}

/// Tables by their runs.
pub type Tables = BTreeMap<Address, KeptTable>;

/// How faithful a run was, as a table keeps it.
fn numbers(fidelity: &Fidelity) -> Measured {
    let all = [
        (WALL, fidelity.wall_ns),
        (RUN, fidelity.run_ns),
        ("wall_lag_ns", fidelity.wall_lag_ns),
        ("wall_lag_max_ns", fidelity.wall_lag_max_ns),
        (STALLED, fidelity.stalled_share),
        ("stalls", fidelity.stalls as f64),
        ("longest_stall_ns", fidelity.longest_stall_ns),
        ("lateness_p50_rtts", fidelity.lateness_p50_rtts),
        ("lateness_p99_rtts", fidelity.lateness_p99_rtts),
        (LATENESS, fidelity.lateness_p999_rtts),
        (PACKETS, fidelity.packets as f64),
    ];
    let exact = fidelity.virtual_packets.map(|packets| (EXACT, packets as f64));
    let seen = |value: f64| MeasuredValue { value: Some(value), ..MeasuredValue::default() };
    all.into_iter().chain(exact).map(|(name, value)| (id(name), seen(value))).collect()
}

pub(super) const WALL: &str = "wall_ns";
pub(super) const RUN: &str = "run_ns";
pub(super) const STALLED: &str = "stalled_share";
pub(super) const LATENESS: &str = "lateness_p999_rtts";
pub(super) const PACKETS: &str = "packets";
pub(super) const EXACT: &str = "virtual_packets";

/// The name of a number of fidelity in tables.
pub(super) fn id(name: &str) -> String {
    format!("fidelity {name}")
}

/// Whether this is the name of such a number.
pub(super) fn is_number(id: &str) -> bool {
    id.starts_with("fidelity ")
}
