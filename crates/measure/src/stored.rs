//! A `flows.parquet` read back: to find flows in it, and to hold a repeated run against it.

use crate::Run;
use crate::columns::{FLOWS, Row};
use arrow_array::{Array, Float64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::Path;

/// Columns that a repeated run may have otherwise: in a comparison the warm-up is common to all runs.
const NOT_COMPARED: [&str; 1] = ["warmup"];

/// The flows of a stored run; row `n` is flow `n`.
pub struct StoredFlows {
    batches: Vec<RecordBatch>,
}

impl StoredFlows {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or is not whole. The text says which.
    pub fn read(path: &Path) -> Result<StoredFlows, String> {
        let file = std::fs::File::open(path).map_err(|error| format!("could not read: {error}"))?;
        let broken = |error: &dyn std::fmt::Display| {
            format!("damaged or truncated, not a whole Parquet file: {error}")
        };
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(|builder| builder.build())
            .map_err(|error| broken(&error))?;
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| broken(&error))?;
        Ok(StoredFlows { batches })
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part that a flow is in, and its row there.
    fn place(&self, flow: usize) -> Option<(&RecordBatch, usize)> {
        let mut row = flow;
        for batch in &self.batches {
            if row < batch.num_rows() {
                return Some((batch, row));
            }
            row -= batch.num_rows();
        }
        None
    }

    /// A whole number of a flow; `None` if it is null or there is no such column.
    pub fn integer(&self, name: &str, flow: usize) -> Option<u64> {
        let (batch, row) = self.place(flow)?;
        let column = batch.column_by_name(name)?.as_any().downcast_ref::<UInt64Array>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    /// A float of a flow.
    pub fn float(&self, name: &str, flow: usize) -> Option<f64> {
        let (batch, row) = self.place(flow)?;
        let column = batch.column_by_name(name)?.as_any().downcast_ref::<Float64Array>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    /// A text of a flow.
    pub fn text(&self, name: &str, flow: usize) -> Option<&str> {
        let (batch, row) = self.place(flow)?;
        let column = batch.column_by_name(name)?.as_any().downcast_ref::<StringArray>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    /// The columns in which a flow of a repeated run differs from what is stored. Columns that only
    /// one of the two has are left out: another version wrote the file.
    pub fn differences(&self, run: &Run, flow: usize) -> Vec<&'static str> {
        let Some((batch, row)) = self.place(flow) else { return vec!["flow_id"] };
        let own = FLOWS.rows_of(run, &[Row { item: flow, interval: 0 }]);
        let differs = |name: &&'static str| {
            let (stored, own) = (batch.column_by_name(name), own.column_by_name(name));
            let (Some(stored), Some(own)) = (stored, own) else { return false };
            stored.slice(row, 1).as_ref() != own.as_ref()
        };
        let names = FLOWS.columns.iter().map(|column| column.name);
        names.filter(|name| !NOT_COMPARED.contains(name)).filter(differs).collect()
    }
}
