//! The Python module `incast._incast`: what python/incast is built on. Functions take and give plain
//! values; classes, frames and charts are Python.

mod charts;
mod control;
mod declared;
mod driver;
mod error;
mod explain;
mod prepared;
mod reproduce;
mod results;
mod session;
mod study;
mod table;
mod value;

use pyo3::prelude::*;

/// The engine of the package `incast`.
#[pymodule]
mod _incast {
    use super::*;

    #[pymodule_export]
    use super::charts::{
        breakdown, by_size, by_size_of_rows, display_unit, fullest, looks, over_time, parts,
        percentiles, ticks,
    };
    #[pymodule_export]
    use super::control::{Ack, Registration, register_control};
    #[pymodule_export]
    use super::declared::{catalogue, columns, keys};
    #[pymodule_export]
    use super::driver::{StudyDriver, run_bytes};
    #[pymodule_export]
    use super::explain::{explain, sizes};
    #[pymodule_export]
    use super::prepared::{Prepared, compare, demo, run};
    #[pymodule_export]
    use super::reproduce::{Reproduction, reproduction};
    #[pymodule_export]
    use super::results::{Results, stored};
    #[pymodule_export]
    use super::study::{Study, difference, interval, shown, study, study_in};
    #[pymodule_export]
    use super::table::Table;

    /// The version of the program.
    #[pyfunction]
    fn version() -> &'static str {
        incast_experiment::VERSION
    }

    /// Runs the command `incast`; the first argument is the program's name. Returns the exit code.
    /// `program` starts this program again, without arguments.
    #[pyfunction]
    fn command(
        py: Python<'_>,
        arguments: Vec<std::ffi::OsString>,
        program: Vec<std::ffi::OsString>,
    ) -> u8 {
        py.detach(|| incast_cli::run(program, arguments))
    }
}
