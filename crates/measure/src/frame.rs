//! A table in memory: columns of values with name, unit and meaning.

use crate::folder::FolderError;
use crate::write::write_parquet;
use arrow_array::builder::{Float64Builder, ListBuilder, UInt64Builder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{Field, Metadata, Schema};
use std::path::Path;
use std::sync::Arc;

/// The values of a column, one per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Integer(Vec<Option<u64>>),
    /// Floats.
    Float(Vec<Option<f64>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
    /// Texts.
    Text(Vec<Option<String>>),
    /// Lists of whole numbers.
    Integers(Vec<Vec<u64>>),
    /// Lists of floats.
    Floats(Vec<Vec<f64>>),
}

impl Values {
    /// Type of the values in words, as Arrow calls it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Values::Integer(_) => "uint64",
            Values::Float(_) => "float64",
            Values::Flag(_) => "bool",
            Values::Text(_) => "string",
            Values::Integers(_) => "list of uint64",
            Values::Floats(_) => "list of float64",
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Values::Integer(values) => Arc::new(UInt64Array::from(values.clone())),
            Values::Float(values) => Arc::new(Float64Array::from(values.clone())),
            Values::Flag(values) => Arc::new(BooleanArray::from(values.clone())),
            Values::Text(values) => Arc::new(StringArray::from(values.clone())),
            Values::Integers(lists) => {
                let mut all = ListBuilder::new(UInt64Builder::new());
                for list in lists {
                    all.values().append_slice(list);
                    all.append(true);
                }
                Arc::new(all.finish())
            }
            Values::Floats(lists) => {
                let mut all = ListBuilder::new(Float64Builder::new());
                for list in lists {
                    all.values().append_slice(list);
                    all.append(true);
                }
                Arc::new(all.finish())
            }
        }
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its unit; empty for names, counts and ratios.
    pub unit: String,
    /// Meaning, and when it is null.
    pub doc: String,
    /// Its values.
    pub values: Values,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// In order.
    pub columns: Vec<Series>,
}

impl Frame {
    /// Adds a column.
    pub fn push(&mut self, name: &str, unit: &str, doc: &str, values: Values) {
        let [name, unit, doc] = [name, unit, doc].map(str::to_string);
        self.columns.push(Series { name, unit, doc, values });
    }

    /// All rows as one Arrow batch; units and meanings are in the metadata of its fields.
    pub fn batch(&self) -> RecordBatch {
        let arrays: Vec<ArrayRef> = self.columns.iter().map(|one| one.values.array()).collect();
        let field = |(column, array): (&Series, &ArrayRef)| {
            let notes = [("description", column.doc.as_str()), ("unit", column.unit.as_str())];
            Field::new(&column.name, array.data_type().clone(), true)
                .with_metadata(Metadata::from(notes))
        };
        let fields: Vec<Field> = self.columns.iter().zip(&arrays).map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new(schema, arrays).expect("columns have equal length")
    }

    /// Writes all rows as Parquet, atomically. Equal frames make equal bytes.
    ///
    /// # Errors
    /// An I/O error.
    pub fn write_parquet(&self, path: &Path) -> Result<(), FolderError> {
        let batch = self.batch();
        write_parquet(path, batch.schema(), std::iter::once(batch))
    }
}
