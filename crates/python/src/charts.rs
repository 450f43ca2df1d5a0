//! What charts show of flows: bins and percentiles are the engine's, the drawing is Python's.

use crate::table::Table;
use incast_measure::figures::by_size_frame;
use incast_measure::statistics::{ascending, percentile};
use incast_measure::{SlowdownCell, SlowdownHistogram};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Completed flows, a column each, in the bins of the report's charts by size.
#[pyfunction]
pub fn by_size(
    py: Python<'_>,
    sizes: Vec<u64>,
    fct_ns: Vec<f64>,
    slowdowns: Vec<f64>,
) -> PyResult<Table> {
    if sizes.len() != fct_ns.len() || sizes.len() != slowdowns.len() {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    let flows =
        || sizes.iter().zip(&fct_ns).zip(&slowdowns).map(|((size, fct), of)| (*size, *fct, *of));
    Ok(Table(py.detach(|| by_size_frame(flows()).batch())))
}

/// The same of rows of a study's table: the lists of their bins of sizes (beginning, flows, payload) and of the cells of
/// their histograms (size, slowdown, flows), all rows together. Percentiles are in thousandths.
#[pyfunction]
pub fn by_size_of_rows(
    bins: Vec<[u64; 3]>,
    cells: Vec<(u64, f64, u64)>,
    thousandths: Vec<u32>,
) -> PyResult<Table> {
    if let Some(wrong) = thousandths.iter().find(|share| **share > 1000) {
        return Err(PyValueError::new_err(format!("a percentile of {wrong} thousandths")));
    }
    let mut all = SlowdownHistogram::default();
    let cell = |(size_bytes, slowdown, flows)| SlowdownCell { size_bytes, slowdown, flows };
    all.add_rows(bins, cells.into_iter().map(cell))
        .map_err(|from| PyValueError::new_err(format!("no bin of sizes begins at {from} bytes")))?;
    Ok(Table(all.by_size_frame(&thousandths).batch()))
}

/// Percentiles, in thousandths, of values in any order, by nearest rank.
#[pyfunction]
pub fn percentiles(values: Vec<f64>, thousandths: Vec<u32>) -> PyResult<Vec<Option<f64>>> {
    if let Some(wrong) = thousandths.iter().find(|share| **share > 1000) {
        return Err(PyValueError::new_err(format!("a percentile of {wrong} thousandths")));
    }
    let sorted = ascending(&values);
    Ok(thousandths.into_iter().map(|share| percentile(&sorted, share)).collect())
}
