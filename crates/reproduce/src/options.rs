//! How figures are reproduced.

use incast_experiment::scenario::Clock;
use std::path::PathBuf;

/// How to reproduce.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A smoke test: fewer flows and shorter runs, as defined by the experiment, one seed, and the
    /// first assumption set.
    pub quick: bool,
    /// Another seed than the experiment's.
    pub seed: Option<u64>,
    /// Threads.
    pub threads: usize,
    /// Assumption sets; all if empty.
    pub assuming: Vec<String>,
    /// Runs that are made, by their names or by those without the value of the axis; all if empty.
    /// What others gave is read from tables, if there are.
    pub runs: Vec<String>,
    /// Folder of kept tables: what is there is not run again.
    pub keep: Option<PathBuf>,
    /// Nothing is run: claims are judged by kept tables, of the clone that the current folder is in if no
    /// folder is named.
    pub from_kept: bool,
    /// Run again what has failed before, or was refused in real time.
    pub retry_failed: bool,
    /// The clock under which testbeds are run in real time, too; then one run is made at a time.
    pub clock: Option<Clock>,
}
