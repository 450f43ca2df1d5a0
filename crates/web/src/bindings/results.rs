//! `Results` and `Explained`.

use super::convert::{
    Refused, alive, bytes_of_files, files_to_js, refused, texts_to_js, time, with_progress,
};
use super::lab::JsLab;
use crate::{Folder, Trouble};
use incast_experiment::Fault;
use incast_experiment::fault::wrong;
use incast_explain::{Repeated, console, page};
use incast_measure::columns::TRACE;
use js_sys::Function;
use serde::Serialize;
use wasm_bindgen::prelude::*;

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON")
}

/// A results folder.
#[wasm_bindgen(js_name = Results)]
pub struct JsResults(Folder);

#[wasm_bindgen(js_class = Lab)]
impl JsLab {
    /// Ends the run and opens what it leaves.
    pub fn results(&mut self) -> Result<JsResults, Refused> {
        self.end().map(JsResults)
    }
}

#[wasm_bindgen(js_class = Results)]
impl JsResults {
    /// Opens the files of a folder.
    #[wasm_bindgen(constructor)]
    pub fn new(files: JsValue) -> Result<JsResults, Refused> {
        alive()?;
        Folder::new(bytes_of_files(&files)?).map(JsResults).map_err(refused)
    }

    /// What is in it, as JSON.
    pub fn info(&self) -> Result<String, Refused> {
        alive()?;
        Ok(self.0.info().to_string())
    }

    /// The numbers of a run, as JSON.
    pub fn outcome(&self, run: usize) -> Result<String, Refused> {
        Ok(self.0.outcome(run).map_err(refused)?.to_string())
    }

    /// The scenario of all runs, as TOML.
    pub fn scenario(&self) -> Result<String, Refused> {
        alive()?;
        Ok(self.0.scenario_toml())
    }

    /// The tables of a run, as JSON.
    pub fn tables(&self, run: usize) -> Result<String, Refused> {
        Ok(self.0.run(run).map_err(refused)?.describe().to_string())
    }

    /// Rows of a table.
    pub fn rows(&self, run: usize, table: &str) -> Result<u32, Refused> {
        let run = self.0.run(run).map_err(refused)?;
        Ok(run.table(table).map_err(refused)?.rows() as u32)
    }

    /// A column of numbers.
    pub fn numbers(&self, run: usize, table: &str, column: &str) -> Result<Vec<f64>, Refused> {
        alive()?;
        self.0.run(run).and_then(|run| run.numbers(table, column)).map_err(refused)
    }

    /// A column of texts.
    pub fn texts(&self, run: usize, table: &str, column: &str) -> Result<JsValue, Refused> {
        alive()?;
        let texts = self.0.run(run).and_then(|run| run.texts(table, column));
        texts.map(|texts| texts_to_js(&texts)).map_err(refused)
    }

    /// The network of a run, as JSON.
    pub fn fabric(&self, run: usize) -> Result<String, Refused> {
        alive()?;
        self.0.fabric(run).map(|fabric| fabric.to_string()).map_err(refused)
    }

    /// The ports on the way of a flow.
    pub fn path(&self, run: usize, flow: usize) -> Result<Vec<u32>, Refused> {
        alive()?;
        self.0.path(run, flow).map_err(refused)
    }

    /// Gives an input file.
    #[wasm_bindgen(js_name = addInput)]
    pub fn add_input(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Refused> {
        alive()?;
        self.0.add_input(name, bytes).map_err(refused)
    }

    /// Explains some flows of a run.
    pub fn explain(
        &self,
        run: usize,
        flows: Vec<u32>,
        progress: Option<Function>,
    ) -> Result<Explained, Refused> {
        with_progress(progress, |progress| self.0.explain(run, &flows, progress)).map(Explained)
    }

    /// One flow in two runs, as JSON.
    pub fn difference(
        &self,
        a: usize,
        b: usize,
        flow: u32,
        progress: Option<Function>,
    ) -> Result<String, Refused> {
        let found = with_progress(progress, |progress| self.0.difference(a, b, flow, progress));
        Ok(json(&found?))
    }

    /// Who filled the queue of a port, as JSON.
    pub fn filling(
        &self,
        run: usize,
        port: u32,
        from_ps: f64,
        until_ps: f64,
        progress: Option<Function>,
    ) -> Result<String, Refused> {
        let (from, until) = (time(from_ps), time(until_ps));
        let found = with_progress(progress, |told| self.0.filling(run, port, from, until, told));
        Ok(json(&found?))
    }

    /// The run again, step by step.
    pub fn lab(&self, run: usize) -> Result<JsLab, Refused> {
        alive()?;
        self.0.lab(run).map(JsLab::of).map_err(refused)
    }

    /// Its files.
    pub fn files(&self) -> Result<JsValue, Refused> {
        alive()?;
        Ok(files_to_js(self.0.files().iter()))
    }
}

/// A repeated run with explanations.
#[wasm_bindgen]
pub struct Explained(Repeated);

#[wasm_bindgen]
impl Explained {
    /// The explanations, as `incast explain --json` prints them.
    pub fn json(&self) -> String {
        json(&self.0.explanations)
    }

    /// The explanations in words, as `incast explain` prints them.
    pub fn text(&self) -> String {
        let texts: Vec<String> = self.0.explanations.iter().map(console::text).collect();
        texts.join("\n").trim_end().to_string()
    }

    /// The explanations as the page of `incast explain --html`.
    pub fn html(&self) -> String {
        page::html(&self.0.explanations)
    }

    /// Rows of the trace.
    pub fn rows(&self) -> u32 {
        self.0.run.record.trace.as_ref().map_or(0, |trace| trace.events.len() as u32)
    }

    /// Whether the trace is cut off.
    pub fn cut(&self) -> bool {
        self.0.run.record.trace.as_ref().is_some_and(|trace| trace.cut_at.is_some())
    }

    /// A column of numbers of the trace.
    pub fn numbers(&self, column: &str) -> Result<Vec<f64>, Refused> {
        TRACE.numbers(&self.0.run, column).ok_or_else(|| no_column(column))
    }

    /// A column of texts of the trace.
    pub fn texts(&self, column: &str) -> Result<JsValue, Refused> {
        let texts = TRACE.texts(&self.0.run, column).ok_or_else(|| no_column(column))?;
        Ok(texts_to_js(&texts))
    }
}

fn no_column(name: &str) -> Refused {
    let names: Vec<&str> = TRACE.columns.iter().map(|column| column.name).collect();
    let problem =
        wrong("no such column of this type").expected(format!("one of {}", names.join(", ")));
    refused(Trouble::from(Fault::value("column", name, problem)))
}
