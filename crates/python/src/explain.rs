//! Why a flow was slow.

use crate::error;
use crate::session::watched;
use incast_experiment::{Fault, Monitor};
use incast_explain::{Question, Selection, Which};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// An answer as text, as JSON and as a page.
type Words = (String, String, String);

/// Flows, or how many of the slowest, of which transport and sizes.
type Asked = (Vec<u32>, usize, Option<String>, Option<(u64, u64)>);

/// Explains flows of the results in a folder: the listed ones, or the slowest of a transport and size;
/// the difference of one flow between two transports or folders, or an iteration of a collective or program: a
/// collective by number, a job by name, or neither, and which iteration.
/// Returns text, JSON and a page.
#[pyfunction]
#[pyo3(signature = (folder, asked, between, threads, iteration = None))]
pub fn explain(
    py: Python<'_>,
    folder: Option<PathBuf>,
    asked: Asked,
    between: Option<(String, String)>,
    threads: Option<usize>,
    iteration: Option<(Option<u32>, Option<String>, u32)>,
) -> PyResult<Words> {
    let (flows, slowest, transport, sizes) = asked;
    let selection = Selection { flows, slowest, transport, sizes };
    let between = between.map(|(a, b)| [a, b]);
    let iteration = iteration.map(|(collective, job, number)| {
        let of_collective = collective.map_or(Which::First, Which::Collective);
        (job.map_or(of_collective, Which::Job), number)
    });
    let question = Question { folder, selection, between, iteration, threads };
    let monitor = Arc::new(Monitor::default());
    let work = {
        let monitor = monitor.clone();
        move || -> Result<Option<Words>, Fault> {
            let Some(answer) = question.answer(&monitor)? else { return Ok(None) };
            Ok(Some((answer.text(), answer.json()?, answer.html())))
        }
    };
    let (answer, raised) = watched(py, &monitor, work, |_| Ok(()))?;
    if let Some(raised) = raised {
        return Err(raised);
    }
    let words = answer.map_err(|fault| error::run(py, &fault))?;
    words.ok_or_else(|| PyKeyboardInterrupt::new_err("stopped"))
}

/// A range of sizes such as `10KB-100KB`, or one size, in bytes.
#[pyfunction]
pub fn sizes(py: Python<'_>, text: &str) -> PyResult<(u64, u64)> {
    let placed = |fault: Fault| Fault::value("size", text, fault.into_problem());
    incast_cli::sizes(text).map_err(|fault| error::scenario(py, &placed(fault)))
}
