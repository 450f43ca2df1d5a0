//! What a point gave: an entry of a store.

use crate::point::Point;
use incast_experiment::Fault;
use incast_measure::measured::Measured;
use incast_measure::{Fidelity, SlowdownHistogram, Summary};
use serde::{Deserialize, Serialize};

/// What a point gave. All but `times` depends on the point's hash alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Hash of the point.
    pub hash: String,
    /// The transport.
    pub transport: String,
    /// The seed.
    pub seed: u64,
    /// Why the point failed; a row with an error has no numbers.
    pub error: Option<String>,
    /// The run in numbers.
    pub summary: Option<Summary>,
    /// Slowdown by size.
    pub slowdown: Option<SlowdownHistogram>,
    /// What a user should know before trusting the numbers.
    pub warnings: Vec<String>,
    /// What was to be read besides, by name.
    #[serde(default, skip_serializing_if = "Measured::is_empty")]
    pub measured: Measured,
    /// How faithful a run in real time was, from which something was to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// What it took.
    pub times: Times,
}

/// What a point took. Not part of what is equal from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Seconds of wall-clock time, planning and statistics included.
    pub wall_seconds: f64,
    /// Seconds of CPU time; none if the point ran in several threads.
    pub cpu_seconds: Option<f64>,
    /// Threads that it ran in.
    pub threads: usize,
}

impl Row {
    /// The row of a point that failed.
    pub(crate) fn failed(point: &Point, error: String) -> Row {
        Row::bare(point, Some(error))
    }

    /// A row without numbers: of a point that failed, or whose numbers are kept elsewhere.
    pub fn bare(point: &Point, error: Option<String>) -> Row {
        Row {
            hash: point.hash.clone(),
            transport: point.transport.clone(),
            seed: point.seed,
            error,
            summary: None,
            slowdown: None,
            warnings: vec![],
            measured: Measured::new(),
            fidelity: None,
            times: Times::default(),
        }
    }

    /// As JSON, a few KB.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data becomes JSON")
    }

    /// Reads what [`Row::to_bytes`] wrote; a part of it is no row.
    ///
    /// # Errors
    /// Bytes that are no row.
    pub fn from_bytes(bytes: &[u8]) -> Result<Row, Fault> {
        serde_json::from_slice(bytes)
            .map_err(|error| Fault::new(format!("not a row of a study: {error}")))
    }
}
