//! What charts show: bins, percentiles, ranks, units and colours are the engine's, the drawing is Python's.

use crate::table::Table;
use incast_measure::chart;
use incast_measure::figures::{self, by_size_frame};
use incast_measure::statistics::{ascending, percentile};
use incast_measure::{PartMeans, SlowdownCell, SlowdownHistogram};
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

/// What a line over time shows of a table's rows, given by the beginnings of their intervals in nanoseconds and their
/// values: middles and values of its points. `span`: beginning, length of an interval and end of the run, in nanoseconds.
#[pyfunction]
pub fn over_time(
    begins: Vec<f64>,
    values: Vec<f64>,
    span: (f64, f64, f64),
    largest: bool,
) -> PyResult<(Vec<f64>, Vec<f64>)> {
    if begins.len() != values.len() {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    if !(span.1 > 0.0 && span.0.is_finite() && span.2.is_finite()) {
        return Err(PyValueError::new_err("the length of an interval is above 0"));
    }
    Ok(figures::over_time(begins.into_iter().zip(values), span, largest).into_iter().unzip())
}

/// Numbers of the ports with the largest backlogs, switches before NICs, of rows of a table.
#[pyfunction]
pub fn fullest(
    ports: Vec<usize>,
    nics: Vec<bool>,
    backlogs: Vec<u64>,
    count: usize,
) -> PyResult<Vec<usize>> {
    if ports.len() != nics.len() || ports.len() != backlogs.len() {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    let rows = ports.into_iter().zip(nics).zip(backlogs);
    Ok(figures::fullest_of(rows.map(|((port, nic), backlog)| (port, nic, backlog)), count))
}

/// Mean completion times in their parts, of long flows or of short ones: title, label of the axis, and the points (part,
/// value, number of the bar). Each bar has a name and its flows' parts in picoseconds, a list per part in order.
#[pyfunction]
pub fn breakdown(
    bars: Vec<(String, Vec<Vec<u64>>)>,
    long: bool,
) -> PyResult<Option<(String, String, Table)>> {
    let mut means = vec![];
    for (name, columns) in bars {
        let columns: [Vec<u64>; 14] = columns
            .try_into()
            .map_err(|_| PyValueError::new_err("a list for each part of a completion time"))?;
        let flows = columns.iter().map(Vec::len).min().unwrap_or(0);
        let rows = (0..flows).map(|flow| columns.each_ref().map(|column| column[flow]));
        means.extend(PartMeans::of_rows(rows).map(|own| (name, own)));
    }
    let chart = figures::breakdown_of(&means, long);
    Ok(chart.map(|chart| (chart.title.clone(), chart.x.label(), Table(chart.frame().batch()))))
}

/// The parts of a completion time: column of flows without `_ps`, what it is, colour.
#[pyfunction]
pub fn parts() -> Vec<(&'static str, &'static str, &'static str)> {
    figures::parts().collect()
}

/// The colours of lines, and of lines of these names the number of each.
#[pyfunction]
pub fn looks(names: Vec<String>) -> (Vec<&'static str>, Vec<usize>) {
    (chart::COLOURS.to_vec(), chart::looks(names.iter().map(String::as_str)))
}

/// Ticks of a logarithmic axis of these values.
#[pyfunction]
pub fn ticks(values: Vec<f64>) -> Vec<f64> {
    chart::ratio_ticks(&values).into_iter().map(|(at, _)| at).collect()
}

/// The unit in which values of a column up to `largest` are read best, and what they are divided by.
#[pyfunction]
pub fn display_unit(unit: &str, largest: f64) -> (&str, f64) {
    incast_measure::display_unit(unit, largest)
}
