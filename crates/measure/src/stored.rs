//! Stored tables read back: for pages, to find flows, and to hold a repeated run against them.

use crate::Run;
use crate::columns::{FLOWS, Row};
use crate::texts::{Gathered, Texts};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BooleanArray, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Rows that are decoded at a time.
const BATCH: usize = 1 << 16;

/// Columns that a repeated run may have otherwise: in a comparison the warm-up is common to all runs.
const NOT_COMPARED: [&str; 1] = ["warmup"];

/// A stored table, of which columns are read one by one.
pub struct StoredTable {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
}

/// What a column of a stored table is, as the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// `uint64`, `float64`, `string` or `bool`.
    pub kind: &'static str,
    /// Its unit; empty for names and counts.
    pub unit: String,
    /// Meaning, and when it is null.
    pub doc: String,
}

fn broken(error: impl fmt::Display) -> String {
    format!("damaged or truncated, not a whole Parquet file: {error}")
}

impl StoredTable {
    /// Reads the head of a Parquet file.
    ///
    /// # Errors
    /// It is not a whole Parquet file.
    pub fn new(bytes: Bytes) -> Result<StoredTable, String> {
        let stored = ArrowReaderMetadata::load(&bytes, Default::default()).map_err(broken)?;
        // Texts as the file has them, each once: a text per row takes four times as long.
        let coded = |field: &Arc<Field>| match field.data_type() {
            DataType::Utf8 => {
                let coded = DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into());
                Arc::new(field.as_ref().clone().with_data_type(coded))
            }
            _ => field.clone(),
        };
        let fields: Vec<Arc<Field>> = stored.schema().fields().iter().map(coded).collect();
        let schema = Schema::new_with_metadata(fields, stored.schema().metadata().clone());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(stored.metadata().clone(), options);
        Ok(StoredTable { bytes, metadata: metadata.map_err(broken)? })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.metadata.metadata().file_metadata().num_rows().max(0) as usize
    }

    /// Its columns, in order.
    pub fn columns(&self) -> Vec<StoredColumn> {
        let one = |field: &Arc<Field>| {
            let note =
                |key: &str| field.metadata().get(key).map_or(String::new(), |v| v.to_string());
            let kind = match field.data_type() {
                DataType::UInt64 => "uint64",
                DataType::Float64 => "float64",
                DataType::Boolean => "bool",
                _ => "string",
            };
            let (unit, doc) = (note("unit"), note("description"));
            StoredColumn { name: field.name().clone(), kind, unit, doc }
        };
        self.metadata.schema().fields().iter().map(one).collect()
    }

    /// The batches of one column. The decoder panics on some damaged files.
    fn column(
        &self,
        name: &str,
        take: impl FnMut(&dyn Array) -> Result<(), String>,
    ) -> Result<(), String> {
        catch_unwind(AssertUnwindSafe(|| self.read_column(name, take))).unwrap_or_else(|_| {
            Err(format!("the file is damaged: column `{name}` cannot be decoded"))
        })
    }

    fn read_column(
        &self,
        name: &str,
        mut take: impl FnMut(&dyn Array) -> Result<(), String>,
    ) -> Result<(), String> {
        let schema = self.metadata.schema();
        let at = schema.index_of(name).map_err(|_| {
            let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            format!("no column `{name}`: expected one of {}", names.join(", "))
        })?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.bytes.clone(),
            self.metadata.clone(),
        );
        let mask = ProjectionMask::roots(reader.parquet_schema(), [at]);
        let reader = reader.with_projection(mask).with_batch_size(BATCH).build().map_err(broken)?;
        for batch in reader {
            take(batch.map_err(broken)?.column(0).as_ref())?;
        }
        Ok(())
    }

    /// A column of numbers; a null is not a number, yes is 1 and no is 0.
    ///
    /// # Errors
    /// There is no such column, it is of texts, or the file is damaged.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let mut all = Vec::with_capacity(self.rows().min(BATCH));
        self.column(name, |array| {
            let any = array.as_any();
            let valid = |row: usize, value: f64| if array.is_valid(row) { value } else { f64::NAN };
            let rows = 0..array.len();
            if let Some(own) = any.downcast_ref::<UInt64Array>() {
                all.extend(rows.map(|row| valid(row, own.value(row) as f64)));
            } else if let Some(own) = any.downcast_ref::<Float64Array>() {
                all.extend(rows.map(|row| valid(row, own.value(row))));
            } else if let Some(own) = any.downcast_ref::<BooleanArray>() {
                all.extend(rows.map(|row| valid(row, own.value(row) as u8 as f64)));
            } else {
                return Err(format!("`{name}` is a column of texts, not of numbers"));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// A column of texts; a null is an empty text.
    ///
    /// # Errors
    /// There is no such column, it is of numbers, or the file is damaged.
    pub fn texts(&self, name: &str) -> Result<Texts, String> {
        let mut all = Gathered::default();
        self.column(name, |array| {
            let own = array.as_any().downcast_ref::<DictionaryArray<Int32Type>>();
            let Some(own) = own.and_then(|own| own.downcast_dict::<StringArray>()) else {
                return Err(format!("`{name}` is a column of numbers, not of texts"));
            };
            let (keys, texts) = (own.keys(), own.values());
            let mut known = vec![None; texts.len()];
            for row in 0..keys.len() {
                if keys.is_null(row) {
                    all.add("");
                    continue;
                }
                let key = keys.value(row) as usize;
                match known[key] {
                    Some(code) => all.texts.codes.push(code),
                    None => known[key] = Some(all.add(texts.value(key))),
                }
            }
            Ok(())
        })?;
        Ok(all.texts)
    }
}

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
        let bytes = std::fs::read(path).map_err(|error| format!("could not read: {error}"))?;
        StoredFlows::of(bytes.into())
    }

    /// Reads the bytes of the file.
    ///
    /// # Errors
    /// They are not a whole Parquet file.
    pub fn of(bytes: Bytes) -> Result<StoredFlows, String> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)
            .and_then(|builder| builder.build())
            .map_err(broken)?;
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(broken)?;
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

    /// A column of whole numbers, with one entry for each flow; no entry is known if there is no such column.
    pub fn integers(&self, name: &str) -> Vec<Option<u64>> {
        let of = |batch: &RecordBatch| -> Vec<Option<u64>> {
            let column = batch.column_by_name(name);
            match column.and_then(|own| own.as_any().downcast_ref::<UInt64Array>()) {
                Some(own) => own.iter().collect(),
                None => vec![None; batch.num_rows()],
            }
        };
        self.batches.iter().flat_map(of).collect()
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
        let own = FLOWS.rows_of(run, &[Row::of(flow, 0)]);
        let differs = |name: &&'static str| {
            let (stored, own) = (batch.column_by_name(name), own.column_by_name(name));
            let (Some(stored), Some(own)) = (stored, own) else { return false };
            stored.slice(row, 1).as_ref() != own.as_ref()
        };
        let names = FLOWS.columns.iter().map(|column| column.name);
        names.filter(|name| !NOT_COMPARED.contains(name)).filter(differs).collect()
    }
}
