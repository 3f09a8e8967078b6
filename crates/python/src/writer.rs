//! `_core.encode_record`, `_core.encode_records` and `_core.DumpWriter`: columns to records to dumps.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use plexlens_smf::encode::{
    self, DumpError, DumpForm, EncodeError, EncodeOptions, LONGEST_BLOCK, Oversize, RecordEncoder, RecordIdentity,
};
use plexlens_smf::forms::tod_clock::LeapSeconds;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_arrow::{PyRecordBatch, PyTable};

use crate::catalogue::Catalogue;
use crate::errors::{Place, layout_error, smf_error};
use crate::reader::code_page;

fn encode_error(py: Python<'_>, error: &EncodeError) -> PyErr {
    let place = Place {
        reason: "encode",
        file: Some(&error.table),
        field: error.column.as_deref(),
        remedy: Some(&error.remedy),
        ..Place::default()
    };
    smf_error(py, error.to_string(), &place)
}

pub(crate) fn dump_error(py: Python<'_>, error: DumpError) -> PyErr {
    match error {
        DumpError::Io(error) => error.into(),
        DumpError::Encode(error) => encode_error(py, &error),
    }
}

fn wrong(py: Python<'_>, field: &str, what: &str, remedy: &str) -> PyErr {
    let place = Place { reason: "encode", field: Some(field), remedy: Some(remedy), ..Place::default() };
    smf_error(py, format!("{field}: {what}; {remedy}"), &place)
}

/// Microseconds since 1970 of a `datetime`, aware where it stands for UTC and naive where it is local.
fn micros(field: &str, value: &Bound<'_, PyAny>, aware: bool) -> PyResult<i64> {
    let py = value.py();
    let datetime = py.import("datetime")?;
    if !value.is_instance(&datetime.getattr("datetime")?)? {
        return Err(wrong(py, field, "not a datetime", "give a datetime.datetime"));
    }
    if value.getattr("tzinfo")?.is_none() == aware {
        let remedy = if aware { "give a datetime with a time zone" } else { "give a local datetime without one" };
        return Err(wrong(py, field, "wrong kind of datetime", remedy));
    }
    let zone = if aware { Some(datetime.getattr("timezone")?.getattr("utc")?) } else { None };
    let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
    let unit = datetime.getattr("timedelta")?.call1((0, 0, 1))?;
    value.sub(epoch)?.floor_div(unit)?.extract()
}

fn identity(dict: Option<&Bound<'_, PyDict>>) -> PyResult<RecordIdentity> {
    let mut identity = RecordIdentity::default();
    for (key, value) in dict.into_iter().flatten() {
        let py = value.py();
        let name: String = key.extract()?;
        if value.is_none() {
            continue;
        }
        match name.as_str() {
            "system" => identity.system = Some(value.extract()?),
            "ssid" => identity.ssid = Some(value.extract()?),
            "subtype" => identity.subtype = Some(value.extract()?),
            "sysplex" => identity.sysplex = Some(value.extract()?),
            "subsystem" => identity.subsystem = Some(value.extract()?),
            "written_at" => identity.written_at = Some(micros(&name, &value, false)?),
            "interval_start" => identity.interval_start = Some(micros(&name, &value, true)?),
            "interval_end" => identity.interval_end = Some(micros(&name, &value, true)?),
            "utc_offset" => {
                let seconds =
                    if value.hasattr("total_seconds")? { value.call_method0("total_seconds")? } else { value };
                identity.utc_offset = Some(seconds.extract()?);
            }
            _ => {
                let remedy = "use system, ssid, subtype, sysplex, subsystem, written_at, interval_start, interval_end, \
                              utc_offset";
                return Err(wrong(py, &name, "identity has no such key", remedy));
            }
        }
    }
    Ok(identity)
}

/// Sections as record batches: each value is a record batch or a table.
fn sections(dict: &Bound<'_, PyDict>) -> PyResult<Vec<(String, RecordBatch)>> {
    let mut sections = Vec::new();
    for (name, value) in dict {
        let name: String = name.extract()?;
        let rows = batch(&name, &value)?;
        sections.push((name, rows));
    }
    Ok(sections)
}

/// Rows of one section: a record batch or a table.
fn batch(name: &str, value: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    if let Ok(batch) = value.extract::<PyRecordBatch>() {
        return Ok(batch.into_inner());
    }
    let one = value.call_method0("combine_chunks")?;
    let (batches, schema) = one.extract::<PyTable>()?.into_inner();
    match <[RecordBatch; 1]>::try_from(batches) {
        Ok([batch]) => Ok(batch),
        Err(batches) if batches.is_empty() => Ok(RecordBatch::new_empty(schema)),
        Err(_) => Err(wrong(value.py(), name, "a table in several chunks", "give a pyarrow.RecordBatch")),
    }
}

/// The choices that `encode_record` and `encode_records` share.
struct Choices<'a, 'py> {
    codepage: &'a str,
    leap_seconds: bool,
    lengths: Option<&'a Bound<'py, PyDict>>,
    dictionary: Option<&'a Bound<'py, PyAny>>,
    connectors: Option<Vec<u16>>,
    oversize: Oversize,
}

impl Choices<'_, '_> {
    fn encoder(self, py: Python<'_>, catalogue: &Catalogue, record: &str) -> PyResult<RecordEncoder> {
        let mut lengths = BTreeMap::new();
        for (name, length) in self.lengths.into_iter().flatten() {
            lengths.insert(name.extract()?, length.extract()?);
        }
        let options = EncodeOptions {
            code_page: code_page(py, self.codepage)?,
            leap_seconds: if self.leap_seconds { LeapSeconds::Included } else { LeapSeconds::Absent },
            lengths,
            oversize: self.oversize,
            dictionary: self.dictionary.map(|rows| batch("dictionary", rows)).transpose()?,
            connectors: self.connectors,
        };
        RecordEncoder::new(&catalogue.inner, record, options).map_err(|error| encode_error(py, &error))
    }
}

/// The dictionary by which CICS performance records are written when none is given.
#[pyfunction]
#[pyo3(signature = (catalogue, table="smf110_1_performance"))]
pub fn standard_dictionary<'py>(py: Python<'py>, catalogue: &Catalogue, table: &str) -> PyResult<Bound<'py, PyAny>> {
    let section = catalogue.inner.section(table);
    let section = section.ok_or_else(|| layout_error(py, &catalogue.inner.unknown_section(table)))?;
    let rows = encode::dictionary_rows(&encode::standard_dictionary(section));
    let rows = rows.map_err(|error| wrong(py, table, &error.to_string(), "give a section that a dictionary places"))?;
    PyRecordBatch::new(rows).into_pyarrow(py)
}

/// One record, with its descriptor word.
#[pyfunction]
#[pyo3(signature = (catalogue, record, identity, sections, *, codepage="1047", leap_seconds=false, lengths=None,
                    dictionary=None, connectors=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python signature")]
pub fn encode_record<'py>(
    py: Python<'py>,
    catalogue: &Catalogue,
    record: &str,
    identity: Option<&Bound<'py, PyDict>>,
    sections: &Bound<'py, PyDict>,
    codepage: &str,
    leap_seconds: bool,
    lengths: Option<&Bound<'py, PyDict>>,
    dictionary: Option<&Bound<'py, PyAny>>,
    connectors: Option<Vec<u16>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let choices = Choices { codepage, leap_seconds, lengths, dictionary, connectors, oversize: Oversize::Refuse };
    let encoder = choices.encoder(py, catalogue, record)?;
    let (identity, sections) = (self::identity(identity)?, self::sections(sections)?);
    let records = py.detach(|| encoder.encode(&identity, &sections)).map_err(|error| encode_error(py, &error))?;
    Ok(PyBytes::new(py, records.get(0).unwrap_or(&[])))
}

/// Records, in order.
#[pyclass(frozen, module = "plexlens._core")]
pub struct EncodedRecords {
    inner: encode::EncodedRecords,
}

#[pymethods]
impl EncodedRecords {
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, number: isize) -> PyResult<Bound<'py, PyBytes>> {
        let at = if number < 0 { number.checked_add_unsigned(self.inner.len()) } else { Some(number) };
        let record = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| self.inner.get(at));
        record
            .map(|record| PyBytes::new(py, record))
            .ok_or_else(|| pyo3::exceptions::PyIndexError::new_err(format!("record {number} of {}", self.inner.len())))
    }

    fn __repr__(&self) -> String {
        format!("EncodedRecords({} records)", self.inner.len())
    }
}

/// Records from tables with a `record_no` column.
#[pyfunction]
#[pyo3(signature = (catalogue, record, sections, *, identity=None, codepage="1047", leap_seconds=false, lengths=None,
                    dictionary=None, connectors=None, oversize="refuse"))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python signature")]
pub fn encode_records<'py>(
    py: Python<'py>,
    catalogue: &Catalogue,
    record: &str,
    sections: &Bound<'py, PyDict>,
    identity: Option<&Bound<'py, PyDict>>,
    codepage: &str,
    leap_seconds: bool,
    lengths: Option<&Bound<'py, PyDict>>,
    dictionary: Option<&Bound<'py, PyAny>>,
    connectors: Option<Vec<u16>>,
    oversize: &str,
) -> PyResult<EncodedRecords> {
    let oversize = match oversize {
        "refuse" => Oversize::Refuse,
        "spread" => Oversize::Spread,
        "rmf_parts" => Oversize::RmfParts,
        _ => {
            return Err(wrong(py, "oversize", oversize, "use refuse, spread or rmf_parts"));
        }
    };
    let choices = Choices { codepage, leap_seconds, lengths, dictionary, connectors, oversize };
    let encoder = choices.encoder(py, catalogue, record)?;
    let (identity, sections) = (self::identity(identity)?, self::sections(sections)?);
    let inner = py.detach(|| encoder.encode_all(&identity, &sections)).map_err(|error| encode_error(py, &error))?;
    Ok(EncodedRecords { inner })
}

/// Writes records to a dump file.
#[pyclass(frozen, module = "plexlens._core")]
pub struct DumpWriter {
    /// `None` once closed.
    writer: Mutex<Option<encode::DumpWriter<BufWriter<File>>>>,
}

impl DumpWriter {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&mut encode::DumpWriter<BufWriter<File>>) -> Result<T, DumpError>,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.as_mut().map(work)
        });
        match done {
            Some(done) => done.map_err(|error| dump_error(py, error)),
            None => Err(wrong(py, "dump", "it is closed", "write before close()")),
        }
    }
}

#[pymethods]
impl DumpWriter {
    #[new]
    #[pyo3(signature = (path, *, form="rdw", block=LONGEST_BLOCK, segment=None))]
    fn new(py: Python<'_>, path: PathBuf, form: &str, block: usize, segment: Option<usize>) -> PyResult<Self> {
        let form = match form {
            "rdw" => DumpForm::Rdw,
            "bdw" => DumpForm::Bdw { block },
            "no_descriptors" => DumpForm::NoDescriptors,
            _ => return Err(wrong(py, "form", form, "use rdw, bdw or no_descriptors")),
        };
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let writer = encode::DumpWriter::new(out, form, segment).map_err(|error| dump_error(py, error))?;
        Ok(Self { writer: Mutex::new(Some(writer)) })
    }

    /// Writes one record, with its descriptor word.
    fn write(&self, py: Python<'_>, record: &[u8]) -> PyResult<()> {
        self.with(py, |writer| writer.write(record))
    }

    /// Writes records in order.
    fn write_all(&self, py: Python<'_>, records: &EncodedRecords) -> PyResult<()> {
        self.with(py, |writer| records.inner.iter().try_for_each(|record| writer.write(record)))
    }

    /// Writes the record that opens a dump.
    fn dump_header(&self, py: Python<'_>, system: &str, written_at: &Bound<'_, PyAny>) -> PyResult<()> {
        let micros = micros("written_at", written_at, false)?;
        self.with(py, |writer| writer.dump_marker(2, system, micros))
    }

    /// Writes the record that closes a dump.
    fn dump_trailer(&self, py: Python<'_>, system: &str, written_at: &Bound<'_, PyAny>) -> PyResult<()> {
        let micros = micros("written_at", written_at, false)?;
        self.with(py, |writer| writer.dump_marker(3, system, micros))
    }

    /// Records written so far.
    #[getter]
    fn records(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |writer| Ok(writer.records()))
    }

    /// Writes what is left and closes the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| {
            let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
            writer.map_or(Ok(()), |writer| writer.finish().map(drop))
        });
        done.map_err(|error| dump_error(py, error))
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}
