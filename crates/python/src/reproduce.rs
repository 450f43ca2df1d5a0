//! Figures of the papers, run again and judged.

use crate::driver::{StudyDriver, tell};
use crate::error;
use crate::session::watched;
use incast_experiment::scenario::Clock;
use incast_experiment::{Fault, Monitor, World};
use incast_reproduce::{Options, Reproduction as Inner, Verdict, Watch};
use incast_study::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Figures with the runs that they need.
#[pyclass(frozen, module = "incast._incast")]
pub struct Reproduction(Mutex<Option<Inner>>);

/// An experiment, a paper's experiments or `all`; of them the sets and runs `chosen`. `kept` is a
/// folder of tables, whether nothing is run, and whether what has failed is run again; `on` is the
/// number of threads, and the clock of runs in real time.
#[pyfunction]
pub fn reproduction(
    py: Python<'_>,
    name: String,
    quick: bool,
    seed: Option<u64>,
    on: (Option<usize>, Option<String>),
    chosen: (Vec<String>, Vec<String>),
    kept: (Option<PathBuf>, bool, bool),
) -> PyResult<Reproduction> {
    let ((assuming, runs), (threads, clock)) = (chosen, on);
    let real = |text: String| Clock::real(&text).map_err(|why| Fault::value("--clock", text, why));
    let clock = clock.map(real).transpose().map_err(|fault| error::scenario(py, &fault))?;
    let (keep, from_kept, retry_failed) = kept;
    let threads = World::Sim.threads(threads);
    let options =
        Options { quick, seed, threads, assuming, runs, keep, from_kept, retry_failed, clock };
    let made = py.detach(|| Inner::of(&name, &options, None));
    let made = made.map_err(|fault| error::scenario(py, &fault))?;
    Ok(Reproduction(Mutex::new(Some(made))))
}

/// Keeps the last progress for who looks at it, and what is worth a line.
struct Listener {
    now: Arc<Mutex<Progress>>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Watch for Listener {
    fn verdict(&mut self, _: &Verdict) {}

    fn note(&mut self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }

    fn progress(&mut self, progress: &Progress) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
    }
}

/// Verdicts as JSON, what is worth a line, and what Ctrl-C or a callback raised.
type Judged = (String, Vec<String>, Option<PyErr>);

impl Reproduction {
    fn taken(&self) -> PyResult<Inner> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        inner.ok_or_else(|| PyRuntimeError::new_err("it has been judged already"))
    }
}

#[pymethods]
impl Reproduction {
    /// Runs what is missing on this machine's cores, and judges. `told` is called with progress as JSON.
    fn run(&self, py: Python<'_>, told: Option<Bound<'_, PyAny>>) -> PyResult<Judged> {
        let inner = self.taken()?;
        let (monitor, now) = (Arc::new(Monitor::default()), Arc::<Mutex<Progress>>::default());
        let notes = Arc::<Mutex<Vec<String>>>::default();
        let mut listener = Listener { now: now.clone(), notes: notes.clone() };
        let stop = monitor.clone();
        let work = move || inner.run(&stop, &mut listener);
        let (verdicts, raised) = watched(py, &monitor, work, |_| tell(told.as_ref(), &now))?;
        let verdicts = verdicts.map_err(|fault| error::run(py, &fault))?;
        let notes = std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((json!(verdicts).to_string(), notes, raised))
    }

    /// Drives what is missing: an executor is a loop around it.
    fn driver(&self, py: Python<'_>) -> PyResult<StudyDriver> {
        let driver = py.detach(|| {
            let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            inner.as_ref().map(Inner::driver)
        });
        let driver = driver.ok_or_else(|| PyRuntimeError::new_err("it has been judged already"))?;
        Ok(StudyDriver::of(driver.map_err(|fault| error::run(py, &fault))?))
    }

    /// Judges by what has been run, and returns what is worth a line, too.
    fn judge(&self, py: Python<'_>) -> PyResult<(String, Vec<String>)> {
        let mut inner = self.taken()?;
        let verdicts = py.detach(|| inner.judge(true)).map_err(|fault| error::run(py, &fault))?;
        Ok((json!(verdicts).to_string(), inner.news()))
    }
}
