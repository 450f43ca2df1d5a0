//! Writes columns as Parquet and CSV, and the small JSON files.

use crate::columns::{Cell, Column, Row, Table, tables_of};
use crate::folder::{FolderError, MANIFEST, SUMMARY, table_file, write_atomic, write_through};
use crate::{Run, Summary, summarise};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Metadata, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

/// Rows per row group, and the most that are held in memory as columns at a time.
const ROW_GROUP: usize = 1 << 16;

impl Table {
    fn schema(&self) -> SchemaRef {
        let field = |column: &Column| {
            let (kind, nullable) = match column.cell {
                Cell::Integer(_) => (DataType::UInt64, true),
                Cell::Float(_) => (DataType::Float64, true),
                Cell::Text(_) => (DataType::Utf8, false),
                Cell::Flag(_) => (DataType::Boolean, false),
            };
            let notes = [("description", column.doc), ("unit", column.unit)];
            Field::new(column.name, kind, nullable).with_metadata(Metadata::from(notes))
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    fn part(&self, run: &Run, schema: SchemaRef, rows: &[Row]) -> RecordBatch {
        let array = |column: &Column| -> ArrayRef {
            let at = rows.iter().copied();
            match column.cell {
                Cell::Integer(get) => Arc::new(UInt64Array::from_iter(at.map(|row| get(run, row)))),
                Cell::Float(get) => Arc::new(Float64Array::from_iter(at.map(|row| get(run, row)))),
                Cell::Text(get) => {
                    Arc::new(StringArray::from_iter_values(at.map(|row| get(run, row))))
                }
                Cell::Flag(get) => {
                    Arc::new(BooleanArray::from(at.map(|row| get(run, row)).collect::<Vec<_>>()))
                }
            }
        };
        let arrays = self.columns.iter().map(array).collect();
        RecordBatch::try_new(schema, arrays).expect("columns are of the schema's types")
    }

    /// Some rows as one Arrow batch.
    pub fn rows_of(&self, run: &Run, rows: &[Row]) -> RecordBatch {
        self.part(run, self.schema(), rows)
    }

    /// All rows as one Arrow batch.
    pub fn batch(&self, run: &Run) -> RecordBatch {
        self.part(run, self.schema(), &self.rows(run).collect::<Vec<Row>>())
    }

    /// Writes all rows as Parquet. Equal runs make equal bytes.
    ///
    /// # Errors
    /// An I/O error.
    pub fn write_parquet(&self, path: &Path, run: &Run) -> Result<(), FolderError> {
        write_parquet(path, self.schema(), self.groups(run))
    }

    /// The bytes of the same file.
    fn parquet(&self, run: &Run) -> Vec<u8> {
        let mut bytes = vec![];
        let done = encode_parquet(&mut bytes, self.schema(), self.groups(run));
        done.expect("memory takes everything");
        bytes
    }

    /// All rows as batches, a row group each.
    fn groups<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = RecordBatch> + 'a {
        let schema = self.schema();
        let mut rows = self.rows(run);
        std::iter::from_fn(move || {
            let group: Vec<Row> = rows.by_ref().take(ROW_GROUP).collect();
            (!group.is_empty()).then(|| self.part(run, schema.clone(), &group))
        })
    }

    /// Writes all rows as CSV; null is an empty cell.
    ///
    /// # Errors
    /// An I/O error.
    pub fn write_csv(&self, path: &Path, run: &Run) -> Result<(), FolderError> {
        write_through(path, |file| {
            let mut out = BufWriter::new(file);
            let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
            writeln!(out, "{}", names.join(","))?;
            let mut line = String::new();
            for row in self.rows(run) {
                line.clear();
                for (at, column) in self.columns.iter().enumerate() {
                    line.push_str(if at > 0 { "," } else { "" });
                    push_csv(&mut line, run, row, column);
                }
                writeln!(out, "{line}")?;
            }
            out.flush()
        })
    }
}

/// Writes batches of a schema as Parquet, atomically. Equal batches make equal bytes: the file depends
/// on nothing else.
pub(crate) fn write_parquet(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
) -> Result<(), FolderError> {
    write_through(path, |file| encode_parquet(file, schema, batches))
}

fn encode_parquet(
    to: impl io::Write + Send,
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
) -> io::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_created_by(format!("incast {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut writer = ArrowWriter::try_new(to, schema, Some(properties))?;
    for batch in batches {
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(())
}

/// A cell in the format of RFC 4180; null is an empty cell.
fn push_csv(line: &mut String, run: &Run, row: Row, column: &Column) {
    let done = match column.cell {
        Cell::Integer(get) => get(run, row).map(|value| write!(line, "{value}")),
        Cell::Float(get) => get(run, row).map(|value| write!(line, "{value}")),
        Cell::Flag(get) => Some(write!(line, "{}", get(run, row))),
        Cell::Text(get) => {
            let text = get(run, row);
            let quoted = text.contains([',', '"', '\n', '\r']);
            Some(match quoted {
                true => write!(line, "\"{}\"", text.replace('"', "\"\"")),
                false => write!(line, "{text}"),
            })
        }
    };
    done.transpose().expect("writing to a string");
}

/// Writes the `manifest.json` of a folder with `"complete"` set as given. Write one with `false` before a run
/// starts, so that it is correct if the run is aborted. Panics if `manifest` is no object.
pub fn write_manifest(
    folder: &Path,
    manifest: &impl Serialize,
    complete: bool,
) -> Result<(), FolderError> {
    write_atomic(&folder.join(MANIFEST), &manifest_bytes(manifest, complete))
}

/// Keys in alphabetical order.
fn manifest_bytes(manifest: &impl Serialize, complete: bool) -> Vec<u8> {
    let mut object = serde_json::to_value(manifest).expect("plain data becomes JSON");
    object["complete"] = complete.into();
    json_bytes(&object)
}

fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("plain data becomes JSON");
    text.push(b'\n');
    text
}

/// Writes the tables of one run (`flows.parquet` and others), `summary.json` and last
/// `manifest.json` into an existing folder, with the CSV files too on request. The
/// manifest says `"complete": false` if the run did not end by itself, or no flow is [complete](Run::complete).
/// Returns the summary.
pub fn write_run(folder: &Path, run: &Run, csv: bool) -> Result<Summary, FolderError> {
    let summary = write_tables(folder, run, csv)?;
    write_manifest(folder, &run.manifest, run.complete())?;
    Ok(summary)
}

/// The files that [`write_run`] writes, by name, without CSV: for programs without a file system.
pub fn files_of(run: &Run) -> Vec<(String, Vec<u8>)> {
    run.check();
    let mut files: Vec<(String, Vec<u8>)> =
        tables_of(run).map(|table| (table_file(table.name), table.parquet(run))).collect();
    files.push((SUMMARY.into(), json_bytes(&summarise(run))));
    files.push((MANIFEST.into(), manifest_bytes(&run.manifest, run.complete())));
    files
}

/// The same without the manifest, for a folder with more files: its manifest is written last.
pub fn write_tables(folder: &Path, run: &Run, csv: bool) -> Result<Summary, FolderError> {
    run.check();
    for table in tables_of(run) {
        table.write_parquet(&folder.join(table_file(table.name)), run)?;
        if csv {
            table.write_csv(&folder.join(format!("{}.csv", table.name)), run)?;
        }
    }
    let summary = summarise(run);
    write_atomic(&folder.join(SUMMARY), &json_bytes(&summary))?;
    Ok(summary)
}
