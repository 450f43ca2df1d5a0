//! The files of one run of a results folder.

use crate::{FILE_BYTES_MOST, Kind, TRACE_ROWS_MOST, Trouble};
use bytes::Bytes;
use incast_measure::{StoredTable, Texts};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The files of a folder by path.
pub type Files = BTreeMap<String, Bytes>;

/// The tables that a run may have, the ones that every run has first.
const TABLES: [&str; 4] = ["flows", "ports", "fairness", "trace"];

/// One run: its manifest, and its tables as far as they are there.
pub struct Opened {
    /// Its transport.
    pub label: String,
    /// Its folder within the results, empty if it is the only run.
    pub folder: String,
    /// Its manifest.
    pub manifest: Value,
    tables: Vec<(&'static str, Result<StoredTable, Trouble>)>,
    /// The column `path` of its flows, once it has been asked for.
    paths: OnceCell<Texts>,
}

/// A path within the results.
pub fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") }
}

/// The content of a JSON file.
///
/// # Errors
/// It is not whole.
pub fn json_of(files: &Files, path: &str) -> Result<Option<Value>, Trouble> {
    let Some(bytes) = files.get(path) else { return Ok(None) };
    serde_json::from_slice(bytes).map(Some).map_err(|error| {
        let problem =
            format!("not a whole JSON file ({error}): copy the folder again, or repeat the run");
        Trouble::of(Kind::Truncated, path, problem)
    })
}

impl Opened {
    /// Opens what is there of a run.
    ///
    /// # Errors
    /// A file is not whole. A trace that is too large is refused only when it is read.
    pub fn new(files: &Files, folder: &str, label: &str) -> Result<Opened, Trouble> {
        let manifest = json_of(files, &within(folder, "manifest.json"))?.unwrap_or(Value::Null);
        let mut tables = vec![];
        for name in TABLES {
            let path = within(folder, &format!("{name}.parquet"));
            let Some(bytes) = files.get(&path) else { continue };
            tables.push((name, opened(bytes, &path, name)));
        }
        let broken = tables.iter().filter_map(|(_, table)| table.as_ref().err());
        if let Some(trouble) = broken.into_iter().find(|trouble| trouble.kind != Kind::TooLarge) {
            return Err(trouble.clone());
        }
        let (label, folder) = (label.to_string(), folder.to_string());
        Ok(Opened { label, folder, manifest, tables, paths: OnceCell::new() })
    }

    /// The names of its tables.
    pub fn names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(name, _)| *name).collect()
    }

    /// Whether it has any table.
    pub fn has_results(&self) -> bool {
        self.tables.iter().any(|(name, _)| *name == "flows")
    }

    /// A table.
    ///
    /// # Errors
    /// It is not there, or is too large.
    pub fn table(&self, name: &str) -> Result<&StoredTable, Trouble> {
        match self.tables.iter().find(|(own, _)| *own == name) {
            Some((_, table)) => table.as_ref().map_err(Trouble::clone),
            None => {
                let advice = match name {
                    "trace" => "there is none: run the scenario with [output.trace]",
                    _ => "it is not in the folder: choose the whole folder, or repeat the run",
                };
                let path = within(&self.folder, &format!("{name}.parquet"));
                Err(Trouble::of(Kind::Incomplete, &path, advice))
            }
        }
    }

    /// A trouble with a column of a table.
    fn column_trouble(&self, table: &str, problem: String) -> Trouble {
        let path = within(&self.folder, &format!("{table}.parquet"));
        let damaged = problem.starts_with("damaged");
        Trouble::of(if damaged { Kind::Truncated } else { Kind::Input }, &path, problem)
    }

    /// A column of numbers.
    ///
    /// # Errors
    /// There is no such column, or its file is damaged.
    pub fn numbers(&self, table: &str, column: &str) -> Result<Vec<f64>, Trouble> {
        let found = self.table(table)?.numbers(column);
        found.map_err(|problem| self.column_trouble(table, problem))
    }

    /// A column of texts.
    ///
    /// # Errors
    /// There is no such column, or its file is damaged.
    pub fn texts(&self, table: &str, column: &str) -> Result<Texts, Trouble> {
        let found = self.table(table)?.texts(column);
        found.map_err(|problem| self.column_trouble(table, problem))
    }

    /// The nodes on the way of a flow's last packet, with `>` between them; `None` if there is no such
    /// flow.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn path(&self, flow: usize) -> Result<Option<&str>, Trouble> {
        if self.paths.get().is_none() {
            let texts = self.texts("flows", "path")?;
            let _ = self.paths.set(texts);
        }
        let Texts { names, codes } = self.paths.get().expect("set above");
        Ok(codes.get(flow).map(|code| names[*code as usize].as_str()))
    }

    /// Its tables with their columns, as `TableInfo` in `incast-web.d.ts`.
    pub fn describe(&self) -> Value {
        let one = |(name, table): &(&str, Result<StoredTable, Trouble>)| {
            let table = table.as_ref().ok()?;
            let mut declared = incast_measure::columns::all_tables();
            let doc = declared.find(|one| one.name == *name).map_or("", |one| one.doc);
            let columns: Vec<Value> = table
                .columns()
                .iter()
                .map(|column| {
                    json!({
                        "name": column.name, "type": column.kind,
                        "unit": column.unit, "doc": column.doc,
                    })
                })
                .collect();
            Some(json!({ "name": name, "doc": doc, "rows": table.rows(), "columns": columns }))
        };
        self.tables.iter().filter_map(one).collect()
    }

    /// A number of its manifest.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.manifest[key].as_f64()
    }
}

fn opened(bytes: &Bytes, path: &str, name: &str) -> Result<StoredTable, Trouble> {
    if bytes.len() > FILE_BYTES_MOST {
        let problem = format!(
            "{} MB are too large for a page: expected at most {} MB; read it with polars or pandas",
            bytes.len() >> 20,
            FILE_BYTES_MOST >> 20
        );
        return Err(Trouble::of(Kind::TooLarge, path, problem));
    }
    let table = StoredTable::new(bytes.clone()).map_err(|problem| {
        let advice =
            format!("{problem}; copy the folder again, or repeat the run with `incast run FOLDER`");
        Trouble::of(Kind::Truncated, path, advice)
    })?;
    if name == "trace" && table.rows() > TRACE_ROWS_MOST {
        let problem = format!(
            "{} events are too many for a page: expected at most {TRACE_ROWS_MOST}; trace fewer flows or \
             a shorter time (output.trace.flows, from, until), or read it with polars or pandas",
            table.rows()
        );
        return Err(Trouble::of(Kind::TooLarge, path, problem));
    }
    Ok(table)
}
