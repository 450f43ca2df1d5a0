//! What runs have given, in memory.

use crate::error;
use crate::table::Table;
use incast_experiment::output::{self, Ran};
use incast_experiment::{Fault, Plan};
use incast_measure::columns::tables_of;
use incast_measure::frame::{Frame, Values};
use incast_measure::{Comparison, ResultsFolder, Run, Summary, report_text, summarise};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The runs of a plan, in the order of its cases.
#[pyclass(frozen, module = "incast._incast")]
pub struct Results {
    plan: Arc<Plan>,
    ran: Vec<Ran>,
    stopped: bool,
    place: Option<PathBuf>,
}

impl Results {
    /// The runs of a plan, whether they were stopped, and the folder that has them.
    pub fn new(plan: Arc<Plan>, ran: Vec<Ran>, stopped: bool, place: Option<PathBuf>) -> Results {
        Results { plan, ran, stopped, place }
    }

    fn run(&self, at: usize) -> PyResult<&Run> {
        let found = self.ran.get(at).map(|ran| &ran.run);
        found.ok_or_else(|| PyIndexError::new_err(format!("there are {} runs", self.ran.len())))
    }

    /// The runs, measured by the flows that all have in common.
    fn together(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = self.ran.iter().map(|ran| ran.run.clone()).collect();
        output::judge_together(&self.plan, &mut runs);
        runs
    }

    fn write(&self, out: &Path, force: bool) -> Result<PathBuf, Fault> {
        let folder = ResultsFolder::create(Some(out), force, Path::new("results"), "")?;
        output::begin(&folder, &self.plan)?;
        for (case, ran) in self.plan.cases.iter().zip(&self.ran) {
            output::keep(&folder, &self.plan, case, ran)?;
        }
        let mut runs: Vec<Run> = self.ran.iter().map(|ran| ran.run.clone()).collect();
        output::close(&folder, &self.plan, &mut runs, self.stopped)?;
        Ok(folder.finish()?)
    }
}

#[pymethods]
impl Results {
    /// What the runs are called.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.ran.iter().map(|ran| ran.run.label.clone()).collect()
    }

    /// Whether all cases ran to their ends.
    #[getter]
    fn complete(&self) -> bool {
        let whole = self.ran.len() == self.plan.cases.len() && !self.stopped;
        whole && self.ran.iter().all(|ran| ran.run.complete())
    }

    /// The results folder, if they were written.
    #[getter]
    fn place(&self) -> Option<PathBuf> {
        self.place.clone()
    }

    /// A table of a run, such as `flows`, as in the results folder.
    fn table(&self, py: Python<'_>, at: usize, name: &str) -> PyResult<Table> {
        let run = self.run(at)?;
        let table = tables_of(run).find(|table| table.name == name);
        let table = table.ok_or_else(|| PyValueError::new_err(format!("no table `{name}`")))?;
        Ok(Table(py.detach(|| table.batch(run))))
    }

    /// Throughput over time of the flows of `run.watch`.
    fn series(&self, at: usize) -> PyResult<Table> {
        Ok(Table(series(self.run(at)?).batch()))
    }

    /// The summary of a run, as `summary.json`.
    fn summary(&self, at: usize) -> PyResult<String> {
        Ok(json!(summarise(self.run(at)?)).to_string())
    }

    /// The manifest of a run, as `manifest.json`.
    fn run_manifest(&self, at: usize) -> PyResult<String> {
        Ok(self.run(at)?.manifest.to_string())
    }

    /// The manifest of all runs together, as `manifest.json`.
    fn manifest(&self) -> String {
        output::manifest_of(&self.plan, &self.together(), self.stopped).to_string()
    }

    /// What a user should know before trusting a run.
    fn warnings(&self, at: usize) -> PyResult<Vec<String>> {
        Ok(self.run(at)?.warnings().iter().map(ToString::to_string).collect())
    }

    /// Whether a run ended by itself and some flow is complete.
    fn ended(&self, at: usize) -> PyResult<bool> {
        Ok(self.run(at)?.complete())
    }

    /// The runs side by side: text of this width, or HTML.
    fn comparison(&self, py: Python<'_>, width: Option<usize>) -> String {
        py.detach(|| {
            let table = Comparison::of_runs(&self.together());
            width.map_or_else(|| table.html(), |width| table.text(width))
        })
    }

    /// The report, one page that needs neither files nor network.
    fn report(&self, py: Python<'_>) -> String {
        py.detach(|| report_text(&output::title(&self.plan), &self.together()))
    }

    /// Writes the results folder that the command would write. Returns its path.
    fn save(&self, py: Python<'_>, out: PathBuf, force: bool) -> PyResult<PathBuf> {
        py.detach(|| self.write(&out, force)).map_err(|fault| error::run(py, &fault))
    }
}

/// Runs side by side, from their summaries: text of this width, or HTML.
#[pyfunction]
pub fn comparison(summaries: Vec<String>, width: Option<usize>) -> PyResult<String> {
    let read = |text: &String| serde_json::from_str::<Summary>(text);
    let all: Result<Vec<Summary>, _> = summaries.iter().map(read).collect();
    let table = Comparison::of(&all.map_err(|error| PyValueError::new_err(error.to_string()))?);
    Ok(width.map_or_else(|| table.html(), |width| table.text(width)))
}

/// Bytes that each recorded flow delivered in each interval.
fn series(run: &Run) -> Frame {
    let rows = run.record.series.iter().flat_map(|flow| {
        let delivered = flow.delivered.iter().enumerate();
        delivered.map(move |(at, bytes)| (u64::from(flow.flow.0), run.interval(at), *bytes))
    });
    let (mut flows, mut starts, mut lengths, mut bytes) = (vec![], vec![], vec![], vec![]);
    for (flow, (start, length), delivered) in rows {
        flows.push(Some(flow));
        starts.push(Some(start.as_ns_f64()));
        lengths.push(Some(length.as_ns_f64()));
        bytes.push(Some(delivered));
    }
    let mut frame = Frame::default();
    frame.push("flow_id", "", "Number of the flow.", Values::Integer(flows));
    frame.push("time_ns", "ns", "Start of the interval.", Values::Float(starts));
    frame.push("interval_ns", "ns", "Length of the interval.", Values::Float(lengths));
    frame.push("delivered_bytes", "bytes", "Payload delivered in it.", Values::Integer(bytes));
    frame
}
