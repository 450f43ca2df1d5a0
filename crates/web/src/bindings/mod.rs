//! The module as JavaScript sees it. `explorer/src/incast-web.d.ts` declares it: shapes of JSON, units,
//! errors.

mod convert;
mod lab;
mod panics;
mod results;

pub use lab::JsLab;
pub use panics::{provoke, start};
pub use results::{Explained, JsResults};

use crate::scenario;
use convert::{Refused, alive, refused, texts_of_files};
use wasm_bindgen::prelude::*;

/// Version of the program.
#[wasm_bindgen]
pub fn version() -> String {
    incast_experiment::VERSION.into()
}

/// What the program declares, as JSON.
#[wasm_bindgen]
pub fn declarations() -> String {
    scenario::declarations().to_string()
}

/// What a scenario would run, or what is wrong with it, as JSON.
#[wasm_bindgen]
pub fn check(toml: &str, files: JsValue) -> Result<String, Refused> {
    alive()?;
    Ok(scenario::check(toml, &texts_of_files(&files)?).to_string())
}

/// A scenario's text as a table, as JSON.
#[wasm_bindgen(js_name = toTable)]
pub fn to_table(toml: &str) -> Result<String, Refused> {
    alive()?;
    scenario::to_table(toml).map(|table| table.to_string()).map_err(refused)
}

/// A table, as JSON, as a scenario's text.
#[wasm_bindgen(js_name = toToml)]
pub fn to_toml(table: &str) -> Result<String, Refused> {
    alive()?;
    let table = serde_json::from_str(table).map_err(incast_experiment::Fault::new);
    let table: serde_json::Value = table.map_err(|fault| refused(fault.into()))?;
    scenario::to_toml(&table).map_err(refused)
}

/// A scenario with every default written out.
#[wasm_bindgen]
pub fn resolved(toml: &str, files: JsValue) -> Result<String, Refused> {
    alive()?;
    scenario::resolved(toml, &texts_of_files(&files)?).map_err(refused)
}
