//! `_core.Catalogue`: layouts as Python sees them.

use std::path::PathBuf;
use std::sync::Arc;

use plexlens_smf::decode::{DecodeOptions, decode_section};
use plexlens_smf::forms::tod_clock::LeapSeconds;
use plexlens_smf::layout::{self, INVENTORY, Rule, Section, Selector, column_unit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3_arrow::{PyRecordBatch, PySchema};

use crate::errors::layout_error;
use crate::reader::code_page;
use crate::summary::note_row;

/// Section layouts and record maps of one or more folders.
#[pyclass(frozen, module = "plexlens._core")]
pub struct Catalogue {
    pub inner: Arc<layout::Catalogue>,
}

#[pymethods]
impl Catalogue {
    #[new]
    fn new(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<Self> {
        let inner = layout::Catalogue::from_folders(&folders).map_err(|error| layout_error(py, &error))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Names of the tables that decoding can fill, the inventory among them.
    fn tables(&self) -> Vec<String> {
        self.inner.tables()
    }

    /// Names of all section layouts.
    fn sections(&self) -> Vec<String> {
        self.inner.sections().map(|section| section.name.clone()).collect()
    }

    /// A section's fields as the layout file has them.
    fn describe<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        if table == INVENTORY {
            for field in layout::inventory_schema().fields() {
                let row = PyDict::new(py);
                row.set_item("field", field.name())?;
                row.set_item("column", field.name())?;
                row.set_item("arrow_type", field.data_type().to_string())?;
                for key in ["unit", "description"] {
                    row.set_item(key, field.metadata().get(key))?;
                }
                rows.append(row)?;
            }
            return Ok(rows);
        }
        let section = self.section(py, table)?;
        for field in &section.fields {
            let row = PyDict::new(py);
            row.set_item("field", &field.name)?;
            row.set_item("column", &field.column)?;
            row.set_item("offset", section.placed.then_some(field.offset))?;
            row.set_item("length", field.length)?;
            row.set_item("format", field.format.name())?;
            row.set_item("recorded_unit", field.unit.recorded)?;
            row.set_item("unit", column_unit(field))?;
            row.set_item("arrow_type", layout::data_type(field).to_string())?;
            row.set_item("description", &field.description)?;
            row.set_item("since", &field.since)?;
            row.set_item("source", &field.source)?;
            row.set_item("confidence", &field.confidence)?;
            rows.append(row)?;
        }
        Ok(rows)
    }

    /// The record maps, each with its sections.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let maps = PyList::empty(py);
        for map in self.inner.maps() {
            let row = PyDict::new(py);
            row.set_item("record", &map.name)?;
            row.set_item("record_type", map.record_type)?;
            let (subtype, ifcid, class) = match map.selector {
                Selector::Any => (None, None, None),
                Selector::Subtype(subtype) => (Some(subtype), None, None),
                Selector::Ifcid(ifcid) => (None, Some(ifcid), None),
                Selector::Class(subtype, class) => (Some(subtype), None, Some(class)),
            };
            row.set_item("subtype", subtype)?;
            row.set_item("ifcid", ifcid)?;
            row.set_item("class", class)?;
            row.set_item("identity", map.identity.name())?;
            let sections = PyList::empty(py);
            for entry in &map.entries {
                let section = PyDict::new(py);
                section.set_item("layout", &entry.layout)?;
                section.set_item("triplet", (!entry.triplet.is_empty()).then_some(&entry.triplet))?;
                section.set_item("rule", entry.rule_text())?;
                section.set_item("when", entry.when.as_ref().map(ToString::to_string))?;
                section.set_item("table", (entry.rule != Rule::Header).then_some(&entry.table))?;
                section.set_item("description", &entry.description)?;
                section.set_item("source", &entry.source)?;
                section.set_item("confidence", &entry.confidence)?;
                sections.append(section)?;
            }
            row.set_item("sections", sections)?;
            maps.append(row)?;
        }
        Ok(maps)
    }

    /// The Arrow schema of a table.
    fn schema<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyAny>> {
        let schema = self.inner.schema_or_error(table).map_err(|error| layout_error(py, &error))?;
        PySchema::new(schema).into_pyarrow(py)
    }

    /// Records that are one section each, back to back in `data`: their columns, and notes on them.
    #[pyo3(signature = (section, data, lengths, *, codepage="1047", leap_seconds=false))]
    fn decode_records<'py>(
        &self,
        py: Python<'py>,
        section: &str,
        data: &[u8],
        lengths: Vec<u32>,
        codepage: &str,
        leap_seconds: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
        let section = self.section(py, section)?;
        let options = DecodeOptions {
            code_page: code_page(py, codepage)?,
            leap_seconds: if leap_seconds { LeapSeconds::Included } else { LeapSeconds::Absent },
            ..DecodeOptions::default()
        };
        let decoded = decode_section(section, data, &lengths, &options);
        let (batch, found) = decoded.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let notes = PyList::empty(py);
        for note in &found {
            notes.append(note_row(py, note)?)?;
        }
        Ok((PyRecordBatch::new(batch).into_pyarrow(py)?, notes))
    }

    fn __repr__(&self) -> String {
        format!("Catalogue({} sections, {} record maps)", self.inner.sections().count(), self.inner.maps().count())
    }
}

impl Catalogue {
    fn section(&self, py: Python<'_>, name: &str) -> PyResult<&Arc<Section>> {
        self.inner.section(name).ok_or_else(|| layout_error(py, &self.inner.unknown_section(name)))
    }
}
