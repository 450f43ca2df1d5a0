//! A table of a results folder: its columns and its rows.

use super::column::{Column, Row};
use crate::Run;

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
    /// All rows, in order.
    pub(crate) fn rows<'a>(&self, run: &'a Run) -> Rows<'a> {
        (self.rows)(run)
    }
}

/// A row per item.
pub(super) fn each(items: usize) -> Rows<'static> {
    Box::new((0..items).map(|item| Row { item, interval: 0 }))
}
