//! A table of a run, lent to other libraries by the Arrow C data interface.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table in memory. Libraries that know Arrow read it without copying its numbers
/// (`__arrow_c_stream__`); units and descriptions are metadata of its fields.
#[pyclass(frozen, module = "incast._incast")]
pub struct Table(pub RecordBatch);

#[pymethods]
impl Table {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The schema (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref());
        let schema = schema.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows (Arrow PyCapsule interface). Another schema than the table's own is not made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let schema = self.0.schema();
        let rows = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
