//! `_core.SmfReader` and `_core.scan`: a dump as an iterator of decoded batches, and as an inventory.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use plexlens_smf::decode::{self, DecodeOptions, Decoder};
use plexlens_smf::forms::ebcdic::CodePage;
use plexlens_smf::forms::tod_clock::LeapSeconds;
use plexlens_smf::layout;
use plexlens_smf::pipeline::{Pipeline, PipelineOptions, Scan};
use plexlens_smf::stream::{Form, ReadOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::{PyArray, PyRecordBatch};

use crate::catalogue::Catalogue;
use crate::errors::{Place, layout_error, pipeline_error, smf_error, stream_error};
use crate::splits::SplitItems;
use crate::summary;

/// The columns of one batch of records.
#[pyclass(frozen, module = "plexlens._core")]
pub struct DecodedBatch {
    /// Record batches by table name.
    #[pyo3(get)]
    tables: Py<PyDict>,
    /// Records in the batch, duplicates left out.
    #[pyo3(get)]
    records: u64,
    /// Bytes read from the file when the batch was complete.
    #[pyo3(get)]
    bytes_read: u64,
}

#[pymethods]
impl DecodedBatch {
    fn __repr__(&self, py: Python<'_>) -> String {
        format!("DecodedBatch({} records, {} tables)", self.records, self.tables.bind(py).len())
    }
}

/// Reads and decodes one dump: an iterator of `DecodedBatch`.
#[pyclass(frozen, module = "plexlens._core")]
pub struct SmfReader {
    pipeline: Mutex<Pipeline>,
    seen: Option<Py<PyAny>>,
}

/// The choices that `SmfReader` and `scan` share.
pub(crate) struct Choices {
    pub source_id: String,
    pub codepage: String,
    pub leap_seconds: bool,
    pub tables: Option<Vec<String>>,
    pub columns: Option<Vec<String>>,
    pub once: bool,
    pub threads: usize,
    pub batch_bytes: usize,
    pub form: Option<String>,
    /// Limits of expansion, where the caller sets them: times its own size, and bytes.
    pub expansion: (Option<u64>, Option<u64>),
    /// The part of the file to read.
    pub split: Option<SplitItems>,
}

/// A code page by name.
pub(crate) fn code_page(py: Python<'_>, name: &str) -> PyResult<CodePage> {
    CodePage::parse(name).ok_or_else(|| {
        let place = Place { reason: "code_page", remedy: Some("use 037 or 1047"), ..Place::default() };
        smf_error(py, format!("unknown code page `{name}`; use 037 or 1047"), &place)
    })
}

pub(crate) fn form(py: Python<'_>, name: &str) -> PyResult<Form> {
    [Form::Rdw, Form::Bdw, Form::NoDescriptors].into_iter().find(|form| form.name() == name).ok_or_else(|| {
        let remedy = "use rdw, bdw or no_descriptors, or None to tell it from the file";
        let place = Place { reason: "form", remedy: Some(remedy), ..Place::default() };
        smf_error(py, format!("unknown form `{name}`; {remedy}"), &place)
    })
}

impl Choices {
    fn open(self, py: Python<'_>, path: PathBuf, catalogue: &layout::Catalogue) -> PyResult<Pipeline> {
        let decode = DecodeOptions {
            code_page: code_page(py, &self.codepage)?,
            leap_seconds: if self.leap_seconds { LeapSeconds::Included } else { LeapSeconds::Absent },
            tables: self.tables.map(BTreeSet::from_iter),
            columns: self.columns.map(BTreeSet::from_iter),
        };
        let form = self.form.map(|name| form(py, &name)).transpose()?;
        let split = self.split.map(|items| items.split(py)).transpose()?.unwrap_or_default();
        let usual = ReadOptions::default();
        let (times, bytes) = self.expansion;
        let options = PipelineOptions {
            source_id: self.source_id,
            threads: self.threads,
            once: self.once,
            split,
            read: ReadOptions {
                form,
                batch_bytes: self.batch_bytes,
                max_expansion: times.unwrap_or(usual.max_expansion),
                max_expanded_bytes: bytes.unwrap_or(usual.max_expanded_bytes),
                ..usual
            },
            ..PipelineOptions::default()
        };
        let decoder = Decoder::new(catalogue, decode).map_err(|error| layout_error(py, &error))?;
        py.detach(|| Pipeline::open(path, Arc::new(decoder), &options)).map_err(|error| stream_error(py, &error))
    }
}

#[pymethods]
impl SmfReader {
    #[new]
    #[pyo3(signature = (path, catalogue, *, source_id, codepage="1047".to_owned(), leap_seconds=false, tables=None,
                        columns=None, threads=0, batch_bytes=8 << 20, form=None, seen=None, once=true,
                        max_expansion=None, max_expanded_bytes=None, split=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python signature")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        catalogue: &Catalogue,
        source_id: String,
        codepage: String,
        leap_seconds: bool,
        tables: Option<Vec<String>>,
        columns: Option<Vec<String>>,
        threads: usize,
        batch_bytes: usize,
        form: Option<String>,
        seen: Option<Py<PyAny>>,
        once: bool,
        max_expansion: Option<u64>,
        max_expanded_bytes: Option<u64>,
        split: Option<SplitItems>,
    ) -> PyResult<Self> {
        let expansion = (max_expansion, max_expanded_bytes);
        let choices = Choices {
            source_id,
            codepage,
            leap_seconds,
            tables,
            columns,
            once,
            threads,
            batch_bytes,
            form,
            expansion,
            split,
        };
        Ok(Self { pipeline: Mutex::new(choices.open(py, path, &catalogue.inner)?), seen })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<DecodedBatch>> {
        let step = py.detach(|| {
            let mut ask = |day: i32| match &self.seen {
                Some(seen) => Python::attach(|py| held_hashes(seen.bind(py), day)),
                None => Ok(Vec::new()),
            };
            self.pipeline.lock().unwrap_or_else(PoisonError::into_inner).next_batch(&mut ask)
        });
        let Some(step) = step.map_err(|error| pipeline_error(py, error))? else {
            return Ok(None);
        };
        let tables = PyDict::new(py);
        let decode::DecodedBatch { tables: decoded, records, .. } = step.decoded;
        for (name, batch) in decoded {
            tables.set_item(name, PyRecordBatch::new(batch).into_pyarrow(py)?)?;
        }
        Ok(Some(DecodedBatch { tables: tables.unbind(), records, bytes_read: step.bytes_read }))
    }

    /// Counts, damage and notes so far; complete after the last batch.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // The lock is waited for without the interpreter: a thread that has it may be asking `seen`.
        let summary = py.detach(|| self.pipeline.lock().unwrap_or_else(PoisonError::into_inner).summary().clone());
        summary::to_dict(py, &summary)
    }
}

/// Asks for the hashes already held of a day: any array of unsigned 64-bit integers.
fn held_hashes(seen: &Bound<'_, PyAny>, day: i32) -> PyResult<Vec<u64>> {
    let py = seen.py();
    let mut held = seen.call1((day,))?;
    if held.hasattr("combine_chunks")? {
        held = held.call_method0("combine_chunks")?;
    }
    let pyarrow = py.import("pyarrow")?;
    let array = pyarrow.call_method1("array", (held, pyarrow.call_method0("uint64")?))?;
    let array: PyArray = array.extract()?;
    Ok(array.array().as_primitive::<UInt64Type>().iter().flatten().collect())
}

/// Inventory of a dump: what it holds and what is damaged, nothing decoded.
#[pyfunction]
#[pyo3(signature = (path, *, form=None, batch_bytes=8 << 20))]
pub fn scan<'py>(
    py: Python<'py>,
    path: PathBuf,
    form: Option<&str>,
    batch_bytes: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let form = form.map(|name| self::form(py, name)).transpose()?;
    let options = ReadOptions { form, batch_bytes, ..ReadOptions::default() };
    let mut scan = py.detach(|| Scan::open(path, &options)).map_err(|error| stream_error(py, &error))?;
    while py.detach(|| scan.step()).map_err(|error| stream_error(py, &error))? {
        py.check_signals()?;
    }
    summary::to_dict(py, &scan.finish())
}
