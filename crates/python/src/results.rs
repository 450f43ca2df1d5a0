//! What runs have given: in memory, or in a results folder.

use crate::error;
use crate::table::Table;
use incast_experiment::output::{self, Ran};
use incast_experiment::{Fault, Plan, StoredResults, StoredRun};
use incast_measure::columns::{all_tables, tables_of};
use incast_measure::folder::{MANIFEST, REPORT, table_file};
use incast_measure::frame::{Frame, Values};
use incast_measure::{
    Comparison, Manifest, Number, ResultsFolder, Run, Summary, report_text, summarise,
};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows of a table.
#[derive(IntoPyObject)]
enum Rows {
    Memory(Table),
    /// A Parquet file.
    File(PathBuf),
}

/// The runs of a plan.
struct Live {
    plan: Arc<Plan>,
    ran: Vec<Ran>,
    stopped: bool,
    place: Option<PathBuf>,
}

/// The runs of a results folder that were written.
struct Stored {
    folder: PathBuf,
    results: StoredResults,
    /// Numbers of the runs, with their manifests.
    runs: Vec<(usize, Manifest)>,
}

enum Source {
    Memory(Live),
    Folder(Box<Stored>),
}
use Source::{Folder, Memory};

impl Live {
    /// The runs, measured by the flows that all have in common.
    fn judged(&self) -> Vec<Run> {
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

impl Stored {
    fn open(folder: &Path) -> Result<Stored, Fault> {
        let results = StoredResults::open(folder)?;
        let written = results.runs.iter().enumerate().filter(|(_, run)| run.has_results());
        let runs = written.map(|(at, run)| Ok((at, run.manifest()?)));
        let runs = runs.collect::<Result<Vec<_>, Fault>>()?;
        if runs.is_empty() {
            return Err(Fault::new(results.notes().join("; ")).placed(results.name()));
        }
        Ok(Stored { folder: folder.into(), results, runs })
    }

    fn run(&self, at: usize) -> &StoredRun {
        &self.results.runs[self.runs[at].0]
    }
}

/// Opens a results folder.
#[pyfunction]
pub fn stored(py: Python<'_>, folder: PathBuf) -> PyResult<Results> {
    let opened = py.detach(|| Stored::open(&folder)).map_err(|fault| error::run(py, &fault))?;
    Ok(Results(Folder(Box::new(opened))))
}

/// Runs, in the order of the cases of their plan.
#[pyclass(frozen, module = "incast._incast")]
pub struct Results(Source);

impl Results {
    /// The runs of a plan, whether they were stopped, and the folder that has them.
    pub fn new(plan: Arc<Plan>, ran: Vec<Ran>, stopped: bool, place: Option<PathBuf>) -> Results {
        Results(Memory(Live { plan, ran, stopped, place }))
    }

    /// Their manifests.
    fn manifests(&self) -> Vec<&Manifest> {
        match &self.0 {
            Memory(own) => own.ran.iter().map(|ran| &ran.run.manifest).collect(),
            Folder(own) => own.runs.iter().map(|(_, manifest)| manifest).collect(),
        }
    }

    fn manifest_of(&self, at: usize) -> PyResult<&Manifest> {
        let all = self.manifests();
        let fault = || PyIndexError::new_err(format!("there are {} runs", all.len()));
        all.get(at).copied().ok_or_else(fault)
    }

    fn summary_of(&self, py: Python<'_>, at: usize) -> PyResult<Summary> {
        self.manifest_of(at)?;
        match &self.0 {
            Memory(own) => Ok(summarise(&own.ran[at].run)),
            Folder(own) => own.run(at).summary().map_err(|unread| error::run(py, &unread.fault)),
        }
    }
}

#[pymethods]
impl Results {
    /// What the runs are called.
    #[getter]
    fn labels(&self) -> Vec<&str> {
        self.manifests().iter().map(|manifest| manifest.label.as_str()).collect()
    }

    /// Whether all cases ran to their ends.
    #[getter]
    fn complete(&self) -> bool {
        match &self.0 {
            Memory(Live { plan, ran, stopped, .. }) => {
                let whole = ran.len() == plan.cases.len() && !stopped;
                whole && ran.iter().all(|ran| ran.run.complete())
            }
            Folder(own) => own.results.recorded.outline.complete,
        }
    }

    /// The results folder, if there is one.
    #[getter]
    fn place(&self) -> Option<PathBuf> {
        match &self.0 {
            Memory(own) => own.place.clone(),
            Folder(own) => Some(own.folder.clone()),
        }
    }

    /// What to know of a folder: runs that are missing, or did not come to their ends.
    #[getter]
    fn notes(&self) -> Vec<String> {
        match &self.0 {
            Memory(_) => vec![],
            Folder(own) => own.results.notes(),
        }
    }

    /// A table of a run, such as `flows`, or the file that has it.
    fn table(&self, py: Python<'_>, at: usize, name: &str) -> PyResult<Rows> {
        self.manifest_of(at)?;
        let unknown = || PyValueError::new_err(format!("no table `{name}`"));
        match &self.0 {
            Memory(own) => {
                let run = &own.ran[at].run;
                let table = tables_of(run).find(|table| table.name == name);
                let table = table.ok_or_else(unknown)?;
                Ok(Rows::Memory(Table(py.detach(|| table.batch(run)))))
            }
            Folder(own) => {
                all_tables().find(|table| table.name == name).ok_or_else(unknown)?;
                let path = own.run(at).path(&table_file(name));
                Ok(Rows::File(path.map_err(|unread| error::run(py, &unread.fault))?.into()))
            }
        }
    }

    /// Throughput over time of the flows of `run.watch`; a folder has none.
    fn series(&self, at: usize) -> PyResult<Option<Table>> {
        self.manifest_of(at)?;
        Ok(match &self.0 {
            Memory(own) => Some(Table(series(&own.ran[at].run).batch())),
            Folder(_) => None,
        })
    }

    /// The summary of a run, as `summary.json`.
    fn summary(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        Ok(json!(self.summary_of(py, at)?).to_string())
    }

    /// The numbers of a run by name, in order; null where there is none.
    fn numbers(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        let summary = self.summary_of(py, at)?;
        let of = |number: &Number| json!([number.name, number.of(&summary)]);
        Ok(incast_measure::numbers().iter().map(of).collect::<Value>().to_string())
    }

    /// The manifest of a run, as `manifest.json`.
    fn run_manifest(&self, at: usize) -> PyResult<String> {
        Ok(json!(self.manifest_of(at)?).to_string())
    }

    /// The manifest of all runs together, as `manifest.json`.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        match &self.0 {
            Memory(own) => {
                Ok(output::manifest_of(&own.plan, &own.judged(), own.stopped).to_string())
            }
            Folder(own) => {
                own.results.text(MANIFEST).map_err(|unread| error::run(py, &unread.fault))
            }
        }
    }

    /// What a user should know before trusting a run.
    fn warnings(&self, at: usize) -> PyResult<Vec<String>> {
        let stated = &self.manifest_of(at)?.warnings;
        Ok(stated.iter().map(|warning| warning.text.clone()).collect())
    }

    /// Whether a run ended by itself and some flow is complete.
    fn ended(&self, at: usize) -> PyResult<bool> {
        Ok(self.manifest_of(at)?.outline.complete)
    }

    /// The runs side by side: text of this width, or HTML.
    fn comparison(&self, py: Python<'_>, width: Option<usize>) -> PyResult<String> {
        let table = match &self.0 {
            Memory(own) => py.detach(|| Comparison::of_runs(&own.judged())),
            Folder(own) => {
                let all = (0..own.runs.len()).map(|at| self.summary_of(py, at));
                Comparison::of(&all.collect::<PyResult<Vec<_>>>()?)
            }
        };
        let all = table.lines();
        Ok(width.map_or_else(|| table.html(&all), |width| table.text(width, &all)))
    }

    /// The report, one page that needs neither files nor network.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        match &self.0 {
            Memory(own) => Ok(py.detach(|| report_text(&output::title(&own.plan), &own.judged()))),
            Folder(own) => own.results.text(REPORT).map_err(|unread| error::run(py, &unread.fault)),
        }
    }

    /// Writes the results folder that the command would write. Returns its path.
    fn save(&self, py: Python<'_>, out: PathBuf, force: bool) -> PyResult<PathBuf> {
        let saved = match &self.0 {
            Memory(own) => py.detach(|| own.write(&out, force)),
            Folder(own) => {
                let place = own.results.name();
                Err(Fault::new(format!("these results are already in {place}: copy the folder")))
            }
        };
        saved.map_err(|fault| error::run(py, &fault))
    }
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
