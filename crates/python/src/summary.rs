//! A pipeline's summary as a dictionary of JSON types.

use plexlens_smf::pipeline::Summary;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Microseconds since 1970 on a local clock as `YYYY-MM-DDThh:mm:ss[.ff]`.
fn local_time(micros: i64) -> String {
    let (day, of_day) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    let (year, month, day) = civil(day);
    let seconds = of_day / 1_000_000;
    let hundredths = of_day % 1_000_000 / 10_000;
    let time = format!("{:02}:{:02}:{:02}.{hundredths:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{time}")
}

/// Year, month and day of days since 1970, by counting years and months.
fn civil(days: i64) -> (i64, usize, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut rest) = (1970, days);
    while rest < 0 {
        year -= 1;
        rest += if leap(year) { 366 } else { 365 };
    }
    while rest >= if leap(year) { 366 } else { 365 } {
        rest -= if leap(year) { 366 } else { 365 };
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

/// The dictionary.
pub fn to_dict<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("complete", summary.stream.is_some())?;
    let damage = PyList::empty(py);
    let counts = PyDict::new(py);
    let add = |damage: &Bound<'py, PyList>, row: &[(&str, Bound<'py, PyAny>)]| -> PyResult<()> {
        let dict = PyDict::new(py);
        for (key, value) in row {
            dict.set_item(key, value)?;
        }
        damage.append(dict)
    };
    macro_rules! row {
        ($($key:literal: $value:expr),* $(,)?) => {
            add(&damage, &[$(($key, $value.into_pyobject(py)?.into_any().to_owned())),*])?
        };
    }
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
        dict.set_item("skipped_bytes", stream.damage.skipped_bytes())?;
        for item in stream.damage.entries() {
            row! {
                "record_no": item.record_no, "offset": item.offset, "reason": item.reason.name(),
                "severity": item.reason.severity().name(), "section": None::<&str>, "skipped_bytes": item.skipped,
                "detail": &item.detail, "remedy": item.reason.remedy(),
            }
        }
        for (reason, count) in stream.damage.counts() {
            counts.set_item(reason.name(), count)?;
        }
    }
    for item in &summary.damage {
        row! {
            "record_no": item.record_no, "offset": item.offset, "reason": item.reason.name(),
            "severity": item.reason.severity().name(), "section": item.section.as_str(), "skipped_bytes": 0_u64,
            "detail": &item.detail, "remedy": item.reason.remedy(),
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
    dict.set_item("span", summary.span.map(|(first, last)| [local_time(first), local_time(last)]))?;
    dict.set_item("duplicates", summary.duplicates)?;
    dict.set_item("forgotten_days", summary.forgotten_days)?;
    dict.set_item("damage", damage)?;
    dict.set_item("damage_counts", counts)?;
    let notes = PyList::empty(py);
    for note in &summary.notes {
        let row = PyDict::new(py);
        row.set_item("kind", note.kind.name())?;
        row.set_item("severity", note.kind.severity().name())?;
        row.set_item("section", &note.section)?;
        row.set_item("field", &note.field)?;
        row.set_item("count", note.count)?;
        row.set_item("max_bytes", note.max_bytes)?;
        notes.append(row)?;
    }
    dict.set_item("notes", notes)?;
    Ok(dict)
}
