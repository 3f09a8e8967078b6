//! Errors of the crate as Python exceptions.

use plexlens_smf::layout::LayoutError;
use plexlens_smf::pipeline::PipelineError;
use plexlens_smf::stream::StreamError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    plexlens._core,
    SmfError,
    PyValueError,
    "Input that cannot be used: its text says what is wrong, where, and what to do.\n\n\
     Attributes, None where they do not apply: reason (fixed name), file, record_no, offset, line, field, remedy."
);

/// What an [`SmfError`] says besides its text.
#[derive(Debug, Default)]
pub struct Place<'a> {
    /// Fixed name of the fault.
    pub reason: &'a str,
    /// File as it was named.
    pub file: Option<&'a str>,
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// Line of a layout file.
    pub line: Option<u64>,
    /// Field or column.
    pub field: Option<&'a str>,
    /// What to do.
    pub remedy: Option<&'a str>,
}

/// Builds the exception.
pub fn smf_error(py: Python<'_>, text: String, place: &Place<'_>) -> PyErr {
    let error = SmfError::new_err(text);
    let value = error.value(py);
    let none: Option<u64> = None;
    let set = || -> PyResult<()> {
        value.setattr("reason", place.reason)?;
        value.setattr("file", place.file)?;
        value.setattr("record_no", none)?;
        value.setattr("offset", place.offset)?;
        value.setattr("line", place.line)?;
        value.setattr("field", place.field)?;
        value.setattr("remedy", place.remedy)
    };
    match set() {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

/// A layout that cannot be used.
pub fn layout_error(py: Python<'_>, error: &LayoutError) -> PyErr {
    let place = Place {
        reason: "layout",
        file: Some(&error.file),
        line: error.line,
        field: error.field.as_deref(),
        remedy: Some(&error.remedy),
        ..Place::default()
    };
    smf_error(py, error.to_string(), &place)
}

/// A file that gives no records.
pub fn stream_error(py: Python<'_>, error: &StreamError) -> PyErr {
    let (reason, file, offset, remedy) = match error {
        StreamError::Io { name, offset, .. } => ("unreadable", name, Some(*offset), None),
        StreamError::Empty { name } => ("empty", name, None, None),
        StreamError::Foreign { name, what, .. } => (what.name(), name, None, Some(what.remedy())),
        StreamError::NoRecords { name, .. } => ("no_records", name, None, None),
        StreamError::DescriptorsLost { name, offset, .. } => ("descriptors_lost", name, Some(*offset), None),
        StreamError::Compressed { name, .. } => ("damaged_compression", name, None, None),
        _ => return smf_error(py, error.to_string(), &Place { reason: "stream", ..Place::default() }),
    };
    // The other messages end with what to do.
    let text = error.to_string();
    let remedy = remedy.or_else(|| text.rsplit_once("; ").map(|(_, remedy)| remedy));
    smf_error(py, text.clone(), &Place { reason, file: Some(file), offset, remedy, ..Place::default() })
}

/// A pipeline that stopped.
pub fn pipeline_error(py: Python<'_>, error: PipelineError<PyErr>) -> PyErr {
    match error {
        PipelineError::Stream(error) => stream_error(py, &error),
        PipelineError::Seen(error) => error,
        PipelineError::Arrow(_) => {
            smf_error(py, error.to_string(), &Place { reason: "batch_too_large", ..Place::default() })
        }
        PipelineError::Decoder => smf_error(py, error.to_string(), &Place { reason: "defect", ..Place::default() }),
    }
}
