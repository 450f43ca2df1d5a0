//! The Python module `incast._incast`: what python/incast is built on. Functions take and give plain
//! values; classes, frames and charts are Python.

use pyo3::prelude::*;

/// The engine of the package `incast`.
#[pymodule]
mod _incast {
    use super::*;

    /// The version of the program.
    #[pyfunction]
    fn version() -> &'static str {
        incast_experiment::VERSION
    }

    /// Transports, workloads, topologies and experiments; or one transport with all details.
    #[pyfunction]
    #[pyo3(signature = (name = None))]
    fn catalogue(name: Option<&str>) -> PyResult<String> {
        let found = incast_cli::catalogue(name);
        let found =
            found.map_err(|fault| pyo3::exceptions::PyValueError::new_err(fault.to_string()));
        Ok(found?.to_string())
    }

    /// Runs the command `incast`; the first argument is the program's name. Returns the exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| incast_cli::run(arguments))
    }
}
