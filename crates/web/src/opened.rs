//! The files of one run of a results folder.

use crate::{FILE_BYTES_MOST, TRACE_ROWS_MOST, Trouble, TroubleKind};
use incast_experiment::StoredRun;
use incast_experiment::fault::wrong;
use incast_measure::folder::table_file;
use incast_measure::{Manifest, StoredTable, Texts};
use serde_json::{Value, json};
use std::cell::OnceCell;

/// The tables that a run may have, the ones that every run has first.
const TABLES: [&str; 4] = ["flows", "ports", "fairness", "trace"];

/// One run: its manifest, and its tables as far as they are there.
pub struct Opened {
    /// Its files.
    pub run: StoredRun,
    /// Its manifest.
    pub manifest: Manifest,
    tables: Vec<(&'static str, Result<StoredTable, Trouble>)>,
    /// The column `path` of its flows, once it has been asked for.
    paths: OnceCell<Texts>,
}

impl Opened {
    /// Opens what is there of a run.
    ///
    /// # Errors
    /// A file is not whole. A trace that is too large is refused only when it is read.
    pub fn new(run: &StoredRun) -> Result<Opened, Trouble> {
        let there = TABLES.into_iter().filter(|name| run.has(&table_file(name)));
        let tables: Vec<_> = there.map(|name| (name, opened(run, name))).collect();
        let broken = tables.iter().filter_map(|(_, table)| table.as_ref().err());
        if let Some(trouble) =
            broken.into_iter().find(|trouble| trouble.kind != TroubleKind::TooLarge)
        {
            return Err(trouble.clone());
        }
        Ok(Opened { run: run.clone(), manifest: run.manifest()?, tables, paths: OnceCell::new() })
    }

    /// The names of its tables.
    pub fn names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(name, _)| *name).collect()
    }

    /// A table.
    ///
    /// # Errors
    /// It is not there, or is too large.
    pub fn table(&self, name: &str) -> Result<&StoredTable, Trouble> {
        match self.tables.iter().find(|(own, _)| *own == name) {
            Some((_, table)) => table.as_ref().map_err(Trouble::clone),
            None if name == "trace" => {
                let advice = "there is none: run the scenario with [output.trace]";
                Err(Trouble::of(
                    TroubleKind::Incomplete,
                    &self.run.place(&table_file(name)),
                    advice,
                ))
            }
            None => Ok(Err(self.run.path(&table_file(name)).expect_err("it is not listed"))?),
        }
    }

    /// A trouble with a column of a table.
    fn column_trouble(&self, table: &str, problem: String) -> Trouble {
        let path = self.run.place(&table_file(table));
        let damaged = problem.starts_with("damaged");
        Trouble::of(
            if damaged { TroubleKind::Truncated } else { TroubleKind::Input },
            &path,
            problem,
        )
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
}

fn opened(run: &StoredRun, name: &str) -> Result<StoredTable, Trouble> {
    let (file, bytes) = (table_file(name), run.read(&table_file(name))?.len());
    let path = run.place(&file);
    if bytes > FILE_BYTES_MOST {
        let problem = wrong(format!("{} MB are too large for a page", bytes >> 20)).expected(
            format!("at most {} MB; read it with polars or pandas", FILE_BYTES_MOST >> 20),
        );
        return Err(Trouble::of(TroubleKind::TooLarge, &path, problem));
    }
    let table = run.table(name)?;
    if name == "trace" && table.rows() > TRACE_ROWS_MOST {
        let problem =
            wrong(format!("{} events are too many for a page", table.rows())).expected(format!(
                "at most {TRACE_ROWS_MOST}; trace fewer flows or \
             a shorter time (output.trace.flows, from, until), or read it with polars or pandas"
            ));
        return Err(Trouble::of(TroubleKind::TooLarge, &path, problem));
    }
    Ok(table)
}
