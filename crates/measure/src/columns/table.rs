//! A table of a results folder: its columns and its rows.

use super::column::{Cell, Column, Row};
use crate::{Run, Texts};

/// A table: `<name>.parquet`, and `<name>.csv` on request.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row is, and how rows are ordered.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// Its rows, in order.
    pub(super) rows: for<'a> fn(&'a Run) -> Rows<'a>,
}

/// Rows of a table, made one by one: there may be too many to hold.
pub(crate) type Rows<'a> = Box<dyn Iterator<Item = Row> + 'a>;

impl Table {
    /// A column of a run as numbers; nothing is not a number, yes is 1 and no is 0. `None` if there is no
    /// such column of numbers.
    pub fn numbers(&self, run: &Run, name: &str) -> Option<Vec<f64>> {
        let cell = self.columns.iter().find(|column| column.name == name)?.cell;
        let value = |row: Row| match cell {
            Cell::Integer(get) => get(run, row).map_or(f64::NAN, |value| value as f64),
            Cell::Float(get) => get(run, row).unwrap_or(f64::NAN),
            Cell::Flag(get) => get(run, row) as u8 as f64,
            Cell::Text(_) => f64::NAN,
        };
        (!matches!(cell, Cell::Text(_))).then(|| self.rows(run).map(value).collect())
    }

    /// A column of a run as texts; `None` if there is no such column of texts.
    pub fn texts(&self, run: &Run, name: &str) -> Option<Texts> {
        let cell = self.columns.iter().find(|column| column.name == name)?.cell;
        let Cell::Text(get) = cell else { return None };
        Some(self.rows(run).map(|row| get(run, row)).collect())
    }

    /// All rows, in order.
    pub(crate) fn rows<'a>(&self, run: &'a Run) -> Rows<'a> {
        (self.rows)(run)
    }
}

/// A row per item.
pub(super) fn each(items: usize) -> Rows<'static> {
    Box::new((0..items).map(|item| Row::of(item, 0)))
}
