//! What the program declares, as JSON: keys of scenarios, columns of tables, the catalogue.

use crate::error;
use incast_experiment::Scenario;
use incast_experiment::scenario::Key;
use incast_measure::columns::{Column, all_tables};
use incast_measure::{StudyResults, study_frame};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Transports, workloads, topologies and experiments; or one transport with all details.
#[pyfunction]
#[pyo3(signature = (name = None))]
pub fn catalogue(py: Python<'_>, name: Option<&str>) -> PyResult<String> {
    let found = incast_cli::catalogue(name).map_err(|fault| error::scenario(py, &fault))?;
    Ok(found.to_string())
}

/// Every key of a scenario, in order.
#[pyfunction]
pub fn keys() -> String {
    let all: Vec<Value> = Scenario::all_keys().iter().map(Key::to_json).collect();
    json!(all).to_string()
}

/// Every column of every table: name, type, unit and meaning.
#[pyfunction]
pub fn columns() -> String {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "type": column.type_name(),
            "unit": column.unit,
            "meaning": column.doc,
        })
    };
    let tables = all_tables().map(|table| {
        let columns: Vec<Value> = table.columns.iter().map(column).collect();
        (table.name.to_string(), json!(columns))
    });
    let mut all: serde_json::Map<String, Value> = tables.collect();
    let study = study_frame(&StudyResults::default()).columns.into_iter().map(|column| {
        json!({
            "name": column.name,
            "type": column.values.type_name(),
            "unit": column.unit,
            "meaning": column.doc,
        })
    });
    all.insert("study".into(), study.collect());
    Value::Object(all).to_string()
}
