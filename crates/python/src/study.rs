//! Studies: read here, run by the cores of this machine or by an executor of Python.

use crate::driver::{StudyDriver, outcome_json, tell};
use crate::session::watched;
use crate::{error, value};
use incast_cli::prepare;
use incast_experiment::scenario::{Draft, Node, Value};
use incast_experiment::{Fault, Monitor, World};
use incast_study::{
    Driver, DriverOptions, MOST_POINTS, Points, Progress, Search, Store, Study as Inner,
};
use incast_study::{estimate, run_local};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario with what is varied, expanded into points.
#[pyclass(frozen, module = "incast._incast")]
pub struct Study(Arc<Inner>);

/// Reads a study: a path, TOML (`text`), a dictionary; or none of these: the flags of `incast compare`.
/// `section` are keys of its `[study]`, in addition to those it has; with `yes` it may have any number of
/// points.
#[pyfunction]
pub fn study(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    text: bool,
    flags: &Bound<'_, PyDict>,
    sets: Vec<String>,
    section: &Bound<'_, PyDict>,
    yes: bool,
) -> PyResult<Study> {
    let most = if yes { usize::MAX } else { MOST_POINTS };
    let given = value::flags(flags)?;
    let section = match value::node(section, "study")? {
        Some(Node { value: Value::Table(entries), .. }) => entries,
        _ => vec![],
    };
    let path = match scenario.is_none() || text {
        false => scenario.extract::<PathBuf>().ok(),
        true => None,
    };
    let made = match path {
        Some(path) => py.detach(|| Inner::load_with(&path, &sets, section, most)),
        None => {
            let draft = match scenario.is_none() {
                true => {
                    // `compare` leaves out the throughput of flows from its reports; a study's numbers
                    // are those of a file with the same keys.
                    let sets = [vec!["run.watch=auto".into()], sets].concat();
                    prepare::compare_draft(&given, &sets)
                }
                false if text => Draft::parse(&scenario.extract::<String>()?, "the study")
                    .and_then(|draft| draft.sets(&sets)),
                false => {
                    let node = value::node(scenario, "")?.unwrap_or_else(Node::table);
                    Draft::of_node(node, "").sets(&sets)
                }
            };
            draft.and_then(|draft| Inner::of_draft(draft, section, most))
        }
    };
    Ok(Study(Arc::new(made.map_err(|fault| error::scenario(py, &fault))?)))
}

/// The study in a study's folder.
#[pyfunction]
pub fn study_in(py: Python<'_>, folder: PathBuf) -> PyResult<Study> {
    let read = py.detach(|| Store::read(&folder).and_then(|store| store.study()));
    Ok(Study(Arc::new(read.map_err(|fault| error::run(py, &fault))?)))
}

#[pymethods]
impl Study {
    /// What its folder is called.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        self.0.title()
    }

    /// Transports and variants, in order.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.0.series().iter().map(|series| series.label.clone()).collect()
    }

    /// The varied keys, in order.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.0.keys().to_vec()
    }

    /// The titles of the varied keys, in their order.
    #[getter]
    fn key_titles(&self) -> Vec<String> {
        self.0.key_titles()
    }

    /// The units that the varied keys have in tables, in their order.
    #[getter]
    fn key_units(&self) -> Vec<&'static str> {
        self.0.key_units()
    }

    /// The seeds; with `repeat_until` the first ones.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.0.seeds().to_vec()
    }

    /// The label of the transport or variant with which others are compared.
    #[getter]
    fn baseline(&self) -> String {
        self.0.series()[self.0.baseline()].label.clone()
    }

    /// Number of points; with `repeat_until` the least.
    fn __len__(&self) -> usize {
        self.0.points().len()
    }

    /// What it will cost, from a short probe, as JSON.
    fn estimate(&self, py: Python<'_>, out: PathBuf, threads: Option<usize>) -> PyResult<String> {
        let study = self.0.clone();
        let monitor = Arc::new(Monitor::default());
        let work = move || {
            let store = Store::existing(&out, &study)?;
            estimate(&study, store.as_ref(), World::Sim.threads(threads))
        };
        let (found, raised) = watched(py, &monitor, work, |_| Ok(()))?;
        if let Some(raised) = raised {
            return Err(raised);
        }
        let found = found.map_err(|fault| error::scenario(py, &fault))?;
        Ok(json!({
            "points": found.points,
            "to_run": found.to_run,
            "cpu_seconds": found.cpu_seconds,
            "wall_seconds": found.wall_seconds,
            "memory_bytes": found.memory,
            "disk_bytes": found.disk,
        })
        .to_string())
    }

    /// Runs what is missing in the folder `out` on this machine's cores. `told` is called with progress
    /// as JSON. Returns how it ended as JSON, and what `told` or Ctrl-C raised.
    fn run(
        &self,
        py: Python<'_>,
        out: PathBuf,
        threads: Option<usize>,
        retry_failed: bool,
        told: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<PyErr>)> {
        let monitor = Arc::new(Monitor::default());
        let now = Arc::new(Mutex::new(Progress::default()));
        let (study, stop, seen) = (self.0.clone(), monitor.clone(), now.clone());
        let work = move || {
            let mut driver = driver(&study, &out, retry_failed)?;
            let ran = run_local(&mut driver, World::Sim.threads(threads), &stop, &mut |progress| {
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
            });
            // What is done is kept, whatever stopped the rest.
            let outcome = driver.finish();
            ran?;
            outcome
        };
        let (outcome, raised) = watched(py, &monitor, work, |_| tell(told.as_ref(), &now))?;
        let outcome = outcome.map_err(|fault| error::run(py, &fault))?;
        Ok((outcome_json(&outcome), raised))
    }

    /// Searches the highest value of a key up to which a condition holds, on this machine's cores; what is
    /// tried is kept in the folder `out`. Returns the answers as JSON, null if it was interrupted, and
    /// what `told` or Ctrl-C raised.
    fn search(
        &self,
        py: Python<'_>,
        ask: (String, String, String, String, Option<String>),
        out: PathBuf,
        threads: Option<usize>,
        told: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<PyErr>)> {
        let (key, from, to, until, tolerance) = ask;
        let made = Search::new(&self.0, &key, &from, &to, &until, tolerance.as_deref());
        let search = made.map_err(|fault| error::scenario(py, &fault))?;
        let monitor = Arc::new(Monitor::default());
        let now = Arc::new(Mutex::new(Progress::default()));
        let (study, stop, seen) = (self.0.clone(), monitor.clone(), now.clone());
        let work = move || {
            let store = Arc::new(Store::open(&out, &study)?);
            search.answer(&study, &store, &mut |mut driver| {
                run_local(&mut driver, World::Sim.threads(threads), &stop, &mut |progress| {
                    *seen.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
                })?;
                Ok(driver.outcome())
            })
        };
        let (answers, raised) = watched(py, &monitor, work, |_| tell(told.as_ref(), &now))?;
        let answers = answers.map_err(|fault| error::run(py, &fault))?;
        Ok((json!(answers).to_string(), raised))
    }

    /// Drives the study: an executor is a loop around it.
    #[pyo3(name = "driver")]
    fn python_driver(
        &self,
        py: Python<'_>,
        out: PathBuf,
        retry_failed: bool,
    ) -> PyResult<StudyDriver> {
        let made = py.detach(|| driver(&self.0, &out, retry_failed));
        let made = made.map_err(|fault| error::run(py, &fault))?;
        Ok(StudyDriver::of(made))
    }
}

/// The driver of a study whose rows are in a folder. A study with points to run is checked first.
fn driver(study: &Arc<Inner>, dir: &Path, retry_failed: bool) -> Result<Driver<Points>, Fault> {
    let before = Store::existing(dir, study)?.map(|store| store.hashes()).transpose()?;
    let before = before.unwrap_or_default();
    if !study.points().iter().all(|point| before.contains(&point.hash)) {
        study.check()?;
    }
    let store = Arc::new(Store::open(dir, study)?);
    Driver::new(study.clone(), store, DriverOptions { retry_failed })
}

/// The title of a number of runs for an axis, the unit in which values up to `largest` are shown, and
/// what they are divided by; `None` for another column.
#[pyfunction]
pub fn shown(number: &str, largest: f64) -> Option<(String, &'static str, f64)> {
    let shown = incast_measure::Shown::of(incast_measure::number(number).ok()?, largest);
    Some((shown.title, shown.unit, shown.scale))
}

/// A mean and the ends of its 95 % confidence interval.
type Within = (Option<f64>, Option<f64>, Option<f64>);

fn within(found: Option<(f64, Option<(f64, f64)>)>) -> Within {
    let (mean, between) = found.unzip();
    let (low, high) = between.flatten().unzip();
    (mean, low, high)
}

/// Mean of a value per seed and the ends of its 95 % confidence interval (Student's t); no interval of one value.
#[pyfunction]
pub fn interval(values: Vec<f64>) -> Within {
    within(incast_measure::mean_within(&values))
}

/// The same of the relative difference of values to those of a baseline with the same seeds, in percent.
#[pyfunction]
pub fn difference(pairs: Vec<(f64, f64)>) -> Within {
    within(incast_measure::difference_within(pairs))
}
