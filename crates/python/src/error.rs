//! Errors as exceptions of `incast._errors`.

use incast_experiment::Fault;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;

/// An exception class of the package.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("incast._errors")?.getattr(name)
}

/// What a user wrote wrongly, as `incast.ScenarioError`.
pub fn scenario(py: Python<'_>, fault: &Fault) -> PyErr {
    raised(py, "ScenarioError", fault)
}

/// A run that failed, or results that could not be written, as `incast.RunError`.
pub fn run(py: Python<'_>, fault: &Fault) -> PyErr {
    raised(py, "RunError", fault)
}

fn raised(py: Python<'_>, name: &str, fault: &Fault) -> PyErr {
    let made = || {
        let named = PyDict::new(py);
        named.set_item("file", Some(fault.file()).filter(|file| !file.is_empty()))?;
        named.set_item("line", fault.line())?;
        // A keyword of Python is the flag without dashes.
        let key = fault.key().map(|key| match key.strip_prefix("--") {
            Some(flag) => flag.replace('-', "_"),
            None => key.to_string(),
        });
        named.set_item("key", key)?;
        named.set_item("value", fault.written())?;
        named.set_item("problem", fault.problem())?;
        named.set_item("accepted", fault.accepted())?;
        named.set_item("suggestion", fault.suggestion())?;
        class(py, name)?.call((), Some(&named))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// A defect of the program: its panic as `incast.EngineError`.
pub fn panicked(py: Python<'_>, payload: &(dyn Any + Send)) -> PyErr {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "no message",
    };
    let made = class(py, "EngineError").and_then(|class| class.call1((text,)));
    made.map_or_else(|error| error, PyErr::from_value)
}
