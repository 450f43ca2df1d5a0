//! Figures of the papers, run again and judged.

use crate::error;
use crate::session::left;
use incast_experiment::{Monitor, World};
use incast_reproduce::{Options, Verdict, Watch};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// What ends a reproduction that nobody waits for any more.
struct Stopped;

/// Stops a reproduction at its next word once it is asked to.
struct Listener(Arc<Monitor>);

impl Listener {
    fn heed(&self) {
        if self.0.stopped() {
            std::panic::resume_unwind(Box::new(Stopped));
        }
    }
}

impl Watch for Listener {
    fn verdict(&mut self, _: &Verdict) {
        self.heed();
    }

    fn note(&mut self, _: &str) {
        self.heed();
    }
}

/// Runs an experiment, a paper's experiments or `all`, and judges them. `kept` is a folder of tables, and
/// whether nothing is run. Returns the verdicts as JSON.
/// Ctrl-C raises at once; tables that are kept stay.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    name: String,
    quick: bool,
    seed: Option<u64>,
    threads: Option<usize>,
    assuming: Vec<String>,
    kept: (Option<PathBuf>, bool),
) -> PyResult<String> {
    let (keep, from_kept) = kept;
    let threads = World::Sim.threads(threads);
    let options = Options { quick, seed, threads, assuming, keep, from_kept };
    let monitor = Arc::new(Monitor::default());
    let mut listener = Listener(monitor.clone());
    let work = move || incast_reproduce::reproduce(&name, &options, &mut listener, None);
    let verdicts = left(py, &monitor, work)?.map_err(|fault| error::scenario(py, &fault))?;
    Ok(json!(verdicts).to_string())
}
