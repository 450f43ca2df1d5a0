//! A table of a results folder: its columns and its rows.

use super::column::Column;
use crate::Run;

/// A table: `<name>.parquet`, and `<name>.csv` on request.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row is, and how rows are ordered.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// Number of flows, ports or transports that have rows.
    pub(super) items: fn(&Run) -> usize,
    /// Whether each of them has a row per interval, and not one in all.
    pub(super) per_interval: bool,
}

impl Table {
    /// Rows of one item.
    pub(crate) fn each(&self, run: &Run) -> usize {
        if self.per_interval { run.intervals() } else { 1 }
    }

    /// All rows.
    pub(crate) fn rows(&self, run: &Run) -> usize {
        (self.items)(run) * self.each(run)
    }
}
