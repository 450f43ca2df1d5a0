//! What an executor of Python is a loop around: points of a study, or runs of figures, as bytes.

use crate::error;
use crate::session::watched;
use incast_experiment::{Fault, Monitor};
use incast_study::{Driver, Job, NotRun, Outcome, Progress, Task as _};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

/// A point: ticket, bytes, name, and whether it is the last one.
type Next = (u64, Vec<u8>, String, bool);

/// A driver of any job.
trait Drive: Send {
    fn next(&mut self) -> Result<Option<Next>, Fault>;
    fn take(&mut self, ticket: u64, answer: &[u8]) -> Result<(), Fault>;
    fn lost(&mut self, ticket: u64, why: &str);
    fn done(&self) -> bool;
    fn set_width(&mut self, places: usize);
    fn progress(&self) -> Progress;
    fn finish(self: Box<Self>) -> Result<Outcome, Fault>;
}

impl<J: Job> Drive for Driver<J> {
    fn next(&mut self) -> Result<Option<Next>, Fault> {
        let work = self.next_work()?;
        Ok(work.map(|work| (work.ticket, work.point.to_bytes(), work.point.name(), work.last)))
    }

    fn take(&mut self, ticket: u64, answer: &[u8]) -> Result<(), Fault> {
        Driver::take(self, ticket, answer)
    }

    fn lost(&mut self, ticket: u64, why: &str) {
        Driver::lost(self, ticket, why);
    }

    fn done(&self) -> bool {
        Driver::done(self)
    }

    fn set_width(&mut self, places: usize) {
        Driver::set_width(self, places);
    }

    fn progress(&self) -> Progress {
        Driver::progress(self)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, Fault> {
        Driver::finish(*self)
    }
}

/// Says what to run next and keeps what comes back. Only its process writes what is kept.
#[pyclass(frozen, module = "incast._incast")]
pub struct StudyDriver(Mutex<Option<Box<dyn Drive>>>);

impl StudyDriver {
    pub fn of<J: Job + 'static>(driver: Driver<J>) -> StudyDriver {
        StudyDriver(Mutex::new(Some(Box::new(driver))))
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut dyn Drive) -> T + Send) -> PyResult<T>
    where
        T: Send,
    {
        let done = py.detach(|| {
            let mut driver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            driver.as_mut().map(|driver| work(driver.as_mut()))
        });
        done.ok_or_else(|| PyRuntimeError::new_err("this driver has finished"))
    }
}

/// Ticket, point as bytes, its name, and whether it is the last one.
type HandedOut<'py> = (u64, Bound<'py, PyBytes>, String, bool);

#[pymethods]
impl StudyDriver {
    /// A point to be run: (ticket, point as bytes, its name, whether it is the last one); None if there
    /// is nothing to hand out now.
    fn next_work<'py>(&self, py: Python<'py>) -> PyResult<Option<HandedOut<'py>>> {
        let next = self.with(py, |driver| driver.next())?;
        let next = next.map_err(|fault| error::run(py, &fault))?;
        Ok(next.map(|(ticket, bytes, name, last)| (ticket, PyBytes::new(py, &bytes), name, last)))
    }

    /// Keeps what a worker answered (`run_bytes`).
    fn take(&self, py: Python<'_>, ticket: u64, answer: &[u8]) -> PyResult<()> {
        let taken = self.with(py, |driver| driver.take(ticket, answer))?;
        taken.map_err(|fault| error::run(py, &fault))
    }

    /// A worker died, or its answer never came.
    fn lost(&self, py: Python<'_>, ticket: u64, why: &str) -> PyResult<()> {
        self.with(py, |driver| driver.lost(ticket, why))
    }

    /// Whether every point has a row or was given up.
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |driver| driver.done())
    }

    /// Says how many points run at a time, for the forecast.
    fn set_width(&self, py: Python<'_>, places: usize) -> PyResult<()> {
        self.with(py, |driver| driver.set_width(places))
    }

    /// How far it is, as JSON.
    fn progress(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |driver| progress_json(&driver.progress()))
    }

    /// Ends it: what is done is gathered. Returns how it ended as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let driver = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let driver =
            driver.ok_or_else(|| PyRuntimeError::new_err("this driver has finished already"))?;
        let outcome = py.detach(|| driver.finish()).map_err(|fault| error::run(py, &fault))?;
        Ok(outcome_json(&outcome))
    }
}

/// Tells Python how far it is.
pub fn tell(told: Option<&Bound<'_, PyAny>>, now: &Mutex<Progress>) -> PyResult<()> {
    let Some(told) = told else { return Ok(()) };
    let progress = *now.lock().unwrap_or_else(PoisonError::into_inner);
    told.call1((progress_json(&progress),)).map(drop)
}

fn progress_json(progress: &Progress) -> String {
    json!({
        "points": progress.points,
        "done": progress.done,
        "kept": progress.kept,
        "failed": progress.failed,
        "not_run": progress.not_run,
        "running": progress.running,
        "flows": progress.flows,
        "left_seconds": progress.left.map(|left| left.as_secs_f64()),
    })
    .to_string()
}

pub fn outcome_json(outcome: &Outcome) -> String {
    let one = |point: &NotRun| json!({ "point": point.point, "why": point.why });
    json!({
        "points": outcome.progress.points,
        "done": outcome.progress.done,
        "kept": outcome.progress.kept,
        "failed": outcome.failed.iter().map(one).collect::<Vec<_>>(),
        "not_run": outcome.not_run.iter().map(one).collect::<Vec<_>>(),
    })
    .to_string()
}

/// Runs a point of a study, or a run of a figure, in a worker, both as bytes. Ctrl-C raises.
#[pyfunction]
#[pyo3(signature = (point, threads = 1))]
pub fn run_bytes<'py>(
    py: Python<'py>,
    point: Vec<u8>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let monitor = Arc::new(Monitor::default());
    let shared = monitor.clone();
    let work = move || incast_study::run_bytes(&point, threads, &shared);
    match watched(py, &monitor, work, |_| Ok(()))? {
        (answer, None) => Ok(PyBytes::new(py, &answer)),
        (_, Some(raised)) => Err(raised),
    }
}
