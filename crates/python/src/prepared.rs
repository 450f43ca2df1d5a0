//! Commands that build a scenario, up to the point at which it runs.

use crate::results::Results;
use crate::session::{self, Ended};
use crate::{error, value};
use incast_cli::prepare::{self, Source};
use incast_experiment::scenario::Draft;
use incast_experiment::{Fault, Plan};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario that has been read and resolved.
#[pyclass(frozen, module = "incast._incast")]
pub struct Prepared {
    plan: Arc<Plan>,
    label: String,
}

impl Prepared {
    fn made(py: Python<'_>, made: Result<prepare::Prepared, Fault>) -> PyResult<Prepared> {
        let prepare::Prepared { plan, label } =
            made.map_err(|fault| error::scenario(py, &fault))?;
        Ok(Prepared { plan: Arc::new(plan), label })
    }
}

/// The scenario of `incast demo`.
#[pyfunction]
pub fn demo(py: Python<'_>, flags: &Bound<'_, PyDict>) -> PyResult<Prepared> {
    let given = value::flags(flags)?;
    Prepared::made(py, py.detach(|| prepare::demo(&given)))
}

/// The scenario of `incast compare`.
#[pyfunction]
pub fn compare(py: Python<'_>, flags: &Bound<'_, PyDict>, sets: Vec<String>) -> PyResult<Prepared> {
    let given = value::flags(flags)?;
    Prepared::made(py, py.detach(|| prepare::compare(&given, &sets)))
}

/// The scenario of `incast run`: a path, TOML (`text`), a dictionary, or nothing but flags.
#[pyfunction]
#[pyo3(signature = (scenario, text, flags, sets, allow_changed_files))]
pub fn run(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    text: bool,
    flags: &Bound<'_, PyDict>,
    sets: Vec<String>,
    allow_changed_files: bool,
) -> PyResult<Prepared> {
    let given = value::flags(flags)?;
    let source = if scenario.is_none() {
        Source::Flags
    } else if text {
        let draft = Draft::parse(&scenario.extract::<String>()?, "the scenario");
        Source::Draft(Box::new(draft.map_err(|fault| error::scenario(py, &fault))?))
    } else if scenario.hasattr("__fspath__")? || scenario.extract::<String>().is_ok() {
        Source::File(scenario.extract::<PathBuf>()?)
    } else {
        let node = value::node(scenario, "")?.expect("it is not None");
        Source::Draft(Box::new(Draft::of_node(node, "")))
    };
    let made = py.detach(|| prepare::run(source, &given, &sets, allow_changed_files));
    Prepared::made(py, made)
}

#[pymethods]
impl Prepared {
    /// The scenario with every default, as TOML.
    fn resolved(&self) -> String {
        self.plan.resolved(&self.plan.cases).to_toml()
    }

    /// What is known before the run that may mislead.
    fn warnings(&self) -> Vec<String> {
        self.plan.warnings.iter().map(ToString::to_string).collect()
    }

    /// Runs every case; with `out`, into that folder, or with `numbered` into the next numbered one of
    /// `results`. `told` is called with (label, number of the run, simulated picoseconds, flows completed,
    /// flows, packet-hops) about ten times per second. Returns the results, and what `told` or Ctrl-C
    /// raised: the results then end there.
    fn run<'py>(
        &self,
        py: Python<'py>,
        out: Option<PathBuf>,
        numbered: bool,
        force: bool,
        told: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Results, Option<PyErr>)> {
        let folder = match (out, numbered) {
            (None, false) => None,
            (out, _) => {
                let base = Path::new("results");
                let made =
                    incast_measure::ResultsFolder::create(out.as_deref(), force, base, &self.label);
                Some(made.map_err(|fault| error::run(py, &fault.into()))?)
            }
        };
        let Ended { ran, stopped, place, raised } = session::run(py, &self.plan, folder, told)?;
        Ok((Results::new(self.plan.clone(), ran, stopped, place), raised))
    }
}
