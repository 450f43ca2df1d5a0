//! Exceptions that controls raised, until somebody asks for them.

use pyo3::prelude::*;
use std::sync::Mutex;

/// Exceptions that are kept at the most: a run ends with the first.
const MOST: usize = 64;

/// Exceptions with the texts by which a failed run tells of them.
#[derive(Default)]
pub struct Raised(Mutex<Vec<(String, Py<PyAny>)>>);

impl Raised {
    /// Keeps an exception; returns its text, with the traceback.
    pub fn keep(&self, py: Python<'_>, error: PyErr) -> String {
        // Only what is made a value has its traceback.
        let error = error.into_value(py).into_any();
        let text = text(error.bind(py)).unwrap_or_else(|_| error.to_string());
        let mut kept = self.0.lock().expect("no panic");
        if kept.len() < MOST {
            kept.push((text.clone(), error));
        }
        text
    }

    /// The exception of which a message tells.
    pub fn find(&self, message: &str) -> Option<Py<PyAny>> {
        let kept = self.0.lock().expect("no panic");
        let found = kept.iter().find(|(text, _)| message.contains(text.as_str()));
        found.map(|(_, error)| Python::attach(|py| error.clone_ref(py)))
    }
}

/// `ValueError: why`, and below it the traceback.
fn text(error: &Bound<'_, PyAny>) -> PyResult<String> {
    let lines = error.py().import("traceback")?.call_method1("format_exception", (error,))?;
    let lines: Vec<String> = lines.extract()?;
    let (last, traceback) = lines.split_last().map_or(("", &[][..]), |(last, all)| (last, all));
    Ok(format!("{}\n{}{last}", last.trim_end(), traceback.concat()).trim_end().to_string())
}
