//! A pipeline's summary as a dictionary of JSON types.

use plexlens_smf::decode::Note;
use plexlens_smf::pipeline::Summary;
use plexlens_smf::stream::Severity;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::borrow::Cow;

/// Microseconds since 1970 on a local clock as `YYYY-MM-DDThh:mm:ss.ff`: headers hold hundredths of a second.
fn local_time(py: Python<'_>, micros: i64) -> PyResult<String> {
    let datetime = py.import("datetime")?;
    let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1))?;
    let time = epoch.add(datetime.getattr("timedelta")?.call1((0, 0, micros))?)?;
    let mut text: String = time.call_method1("isoformat", ("T", "microseconds"))?.extract()?;
    text.truncate(text.len() - 4);
    Ok(text)
}

/// One line of damage, of the stream or of a section.
struct DamageRow<'a> {
    record_no: u64,
    offset: u64,
    reason: &'a str,
    severity: Severity,
    section: Option<&'a str>,
    skipped_bytes: u64,
    /// Places in the records that follow directly, which this line stands for too.
    repeats: u64,
    detail: Cow<'a, str>,
    remedy: &'a str,
}

impl DamageRow<'_> {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("record_no", self.record_no)?;
        row.set_item("offset", self.offset)?;
        row.set_item("reason", self.reason)?;
        row.set_item("severity", self.severity.name())?;
        row.set_item("section", self.section)?;
        row.set_item("skipped_bytes", self.skipped_bytes)?;
        row.set_item("repeats", self.repeats)?;
        row.set_item("detail", self.detail.as_ref())?;
        row.set_item("remedy", self.remedy)?;
        Ok(row)
    }
}

/// Damage of the stream and of sections, in the order of the file.
fn damage(summary: &Summary) -> Vec<DamageRow<'_>> {
    let stream = summary.stream.iter().flat_map(|stream| stream.damage.entries()).map(|item| DamageRow {
        record_no: item.record_no,
        offset: item.offset,
        reason: item.reason.name(),
        severity: item.reason.severity(),
        section: None,
        skipped_bytes: item.skipped,
        repeats: item.repeats.count,
        detail: item.text().into(),
        remedy: item.reason.remedy(),
    });
    let sections = summary.damage.iter().map(|item| DamageRow {
        record_no: item.record_no,
        offset: item.offset,
        reason: item.reason.name(),
        severity: item.reason.severity(),
        section: Some(&item.section),
        skipped_bytes: 0,
        repeats: item.repeats,
        detail: item.text().into(),
        remedy: item.reason.remedy(),
    });
    let mut rows: Vec<DamageRow<'_>> = stream.chain(sections).collect();
    rows.sort_by_key(|row| (row.offset, row.record_no));
    rows
}

/// The dictionary.
pub fn to_dict<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("complete", summary.stream.is_some())?;
    let counts = PyDict::new(py);
    if let Some(stream) = &summary.stream {
        dict.set_item("file", &stream.name)?;
        dict.set_item("form", stream.form.name())?;
        dict.set_item("compression", stream.compression.name())?;
        dict.set_item("file_bytes", stream.file_bytes)?;
        dict.set_item("bytes", stream.bytes)?;
        dict.set_item("segments", stream.segments)?;
        dict.set_item("spanned_records", stream.spanned_records)?;
        dict.set_item("joined_records", stream.joined_records)?;
        dict.set_item("joined_parts", stream.joined_parts)?;
        dict.set_item("dump_headers", stream.dump_headers)?;
        dict.set_item("dump_trailers", stream.dump_trailers)?;
        dict.set_item("record_bytes", stream.record_bytes)?;
        dict.set_item("block_bytes", stream.block_bytes)?;
        dict.set_item("skipped_bytes", stream.damage.skipped_bytes())?;
        dict.set_item("padding_bytes", stream.damage.padding_bytes())?;
        dict.set_item("damaged_bytes", stream.damage.damaged_bytes())?;
        dict.set_item("damaged_at_end", stream.damaged_at_end)?;
        for (reason, count) in stream.damage.counts() {
            counts.set_item(reason.name(), count)?;
        }
    }
    for (reason, count) in &summary.damage_counts {
        counts.set_item(reason.name(), count)?;
    }
    let records = PyDict::new(py);
    for ((record_type, subtype), count) in &summary.records {
        let name = subtype.map_or_else(|| record_type.to_string(), |subtype| format!("{record_type}.{subtype}"));
        records.set_item(name, count)?;
    }
    dict.set_item("records", records)?;
    let span = summary.span.map(|(first, last)| -> PyResult<_> { Ok([local_time(py, first)?, local_time(py, last)?]) });
    dict.set_item("span", span.transpose()?)?;
    dict.set_item("duplicates", summary.duplicates)?;
    dict.set_item("duplicate_bytes", summary.duplicate_bytes)?;
    dict.set_item("decoded_bytes", summary.decoded_bytes)?;
    dict.set_item("counted_bytes", summary.counted_bytes)?;
    dict.set_item("incomplete_bytes", summary.incomplete_bytes)?;
    dict.set_item("forgotten_days", summary.forgotten_days)?;
    let rows = damage(summary).iter().map(|row| row.to_dict(py)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("damage", PyList::new(py, rows)?)?;
    dict.set_item("damage_counts", counts)?;
    let notes = PyList::empty(py);
    for note in &summary.notes {
        notes.append(note_row(py, note)?)?;
    }
    dict.set_item("notes", notes)?;
    Ok(dict)
}

/// A note as Python has it.
pub(crate) fn note_row<'py>(py: Python<'py>, note: &Note) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("kind", note.kind.name())?;
    row.set_item("severity", note.kind.severity().name())?;
    row.set_item("section", &note.section)?;
    row.set_item("field", &note.field)?;
    row.set_item("count", note.count)?;
    row.set_item("max_bytes", note.max_bytes)?;
    Ok(row)
}
