//! What the runs of one set gave.

use super::table::KeptTable;
use incast_experiment::scenario::Clock;
use incast_measure::measured::{BALANCE, BySeed, Measured, MeasuredValue};
use std::collections::BTreeMap;

/// What the runs of one set gave: by run and transport, then by seed.
#[derive(Clone, Debug, Default)]
pub struct Results {
    rows: BTreeMap<(String, String), BTreeMap<u64, Measured>>,
    default_run: String,
    /// The same runs in the data plane, if the experiment is judged there, too.
    pub dataplane: Option<Box<Results>>,
    /// The same runs in real time, by clock.
    pub real_time: Vec<(Clock, Results)>,
    /// Runs in real time that are refused, and why.
    pub refused: BTreeMap<(String, String), String>,
    /// How faithful runs in real time were, by seed.
    pub fidelity: BTreeMap<(String, String), BTreeMap<u64, Measured>>,
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
    pub fn add(&mut self, run: &str, transport: &str, seed: u64, row: Measured) {
        let key = (run.to_string(), transport.to_string());
        self.rows.entry(key).or_default().insert(seed, row);
    }

    /// Adds the table of a run. What failed or is refused is not judged.
    pub fn add_table(&mut self, run: &str, transport: &str, seed: u64, table: &KeptTable) {
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
    pub fn of(&self, run: &str, transport: &str, id: &str) -> BySeed<'_> {
        let rows = self.rows.get(&(run.to_string(), transport.to_string())).into_iter().flatten();
        rows.filter_map(|(seed, row)| Some((*seed, row.get(id)?))).collect()
    }

    /// Whether arrivals and departures never balance in a run of one name, with any seed.
    pub fn never_balances(&self, run: &str, transport: &str) -> bool {
        self.of(run, transport, BALANCE).values().any(|seen| seen.value == Some(0.0))
    }
}

/// Whether two runs have the same seeds, and what both were asked for is equal in each.
fn agree_in_all(a: &BTreeMap<u64, Measured>, b: &BTreeMap<u64, Measured>) -> bool {
    // What is no number is equal here.
    let same = |a: &MeasuredValue, b: &MeasuredValue| format!("{a:?}") == format!("{b:?}");
    let agree =
        |a: &Measured, b: &Measured| a.iter().all(|(id, a)| b.get(id).is_none_or(|b| same(a, b)));
    a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| agree(a, b))
}
