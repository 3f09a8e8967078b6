//! One section's table: its rows into a record batch.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float64Type, TimestampMicrosecondType, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray, UInt32Array};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, SchemaRef};

use crate::forms::ebcdic::CodePage;
use crate::forms::tod_clock::LeapSeconds;
use crate::layout::{Section, table_schema};

use super::column::{Row, builder};
use super::identity::RecordKeys;
use super::report::{Note, NoteKind};

/// Bytes of entries that one pass over all columns should touch: they stay in the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// A section compiled for decoding.
#[derive(Debug)]
pub(crate) struct TablePlan {
    pub section: Arc<Section>,
    pub schema: SchemaRef,
    length: usize,
}

impl TablePlan {
    pub fn compile(section: Arc<Section>) -> Self {
        let schema = Arc::new(table_schema(&section));
        let length = section.length();
        Self { section, schema, length }
    }

    /// Reads the rows. `keys` has an element for each record that rows refer to.
    pub fn decode(
        &self,
        data: &[u8],
        rows: &[Row],
        keys: &[RecordKeys],
        source: &Source<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<RecordBatch, ArrowError> {
        let mut columns = key_columns(rows, keys, source.source_id)?;
        let mut builders: Vec<_> = self
            .section
            .fields
            .iter()
            .map(|field| builder(field, source.code_page, source.leap_seconds, rows.len()))
            .collect();
        let longest = rows.iter().map(|row| row.len as usize).max().unwrap_or(1).max(1);
        for block in rows.chunks((BLOCK_BYTES / longest).max(64)) {
            let shortest = block.iter().map(|row| row.len as usize).min().unwrap_or(0);
            for (column, field) in builders.iter_mut().zip(&self.section.fields) {
                column.append(data, block, shortest >= field.end());
            }
        }
        for (column, field) in builders.into_iter().zip(&self.section.fields) {
            let (array, unreadable) = column.finish()?;
            columns.push(array);
            if unreadable != 0 {
                notes.push(self.note(NoteKind::ValueUnreadable, Some(field.column.clone()), unreadable, 0));
            }
        }
        self.note_lengths(rows, notes);
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }

    fn note(&self, kind: NoteKind, field: Option<String>, count: u64, max_bytes: u64) -> Note {
        Note { kind, section: self.section.name.clone(), field, count, max_bytes }
    }

    fn note_lengths(&self, rows: &[Row], notes: &mut Vec<Note>) {
        let excess = |row: &Row| (row.len as usize).saturating_sub(self.length) as u64;
        let missing = |row: &Row| self.length.saturating_sub(row.len as usize) as u64;
        let mut count = |kind, bytes: &dyn Fn(&Row) -> u64| {
            let (count, most) = rows
                .iter()
                .map(bytes)
                .filter(|&bytes| bytes != 0)
                .fold((0, 0), |(count, most), bytes| (count + 1, bytes.max(most)));
            if count != 0 {
                notes.push(self.note(kind, None, count, most));
            }
        };
        count(NoteKind::SectionLonger, &excess);
        count(NoteKind::SectionShorter, &missing);
    }
}

/// What is the same for all rows of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub source_id: &'a str,
    pub code_page: CodePage,
    pub leap_seconds: LeapSeconds,
}

/// The columns before a section's own. Rows of one record follow each other, so each value is written as a run.
fn key_columns(rows: &[Row], keys: &[RecordKeys], source_id: &str) -> Result<Vec<ArrayRef>, ArrowError> {
    let unknown = RecordKeys::default();
    let runs: Vec<(&RecordKeys, usize)> = rows
        .chunk_by(|one, other| one.record == other.record)
        .map(|run| (keys.get(run[0].record as usize).unwrap_or(&unknown), run.len()))
        .collect();
    let text = |value: fn(&RecordKeys) -> Option<&str>| texts(rows.len(), runs.iter().map(|&(k, n)| (value(k), n)));
    let time = |value: fn(&RecordKeys) -> Option<i64>| -> ArrayRef {
        let runs = runs.iter().map(|&(keys, count)| (value(keys), count));
        Arc::new(numbers::<TimestampMicrosecondType>(rows.len(), runs).with_timezone("UTC"))
    };
    let utc_offset = runs.iter().map(|&(keys, count)| (keys.utc_offset, count));
    let record_no = runs.iter().map(|&(keys, count)| (Some(keys.record_no), count));
    let section_no = UInt32Array::from_iter_values(rows.iter().map(|row| row.section_no));
    Ok(vec![
        text(|keys| keys.system.as_deref())?,
        text(|keys| keys.sysplex.as_deref())?,
        text(|keys| keys.subsystem.as_deref())?,
        time(|keys| keys.interval_start),
        time(|keys| keys.interval_end),
        Arc::new(numbers::<Float64Type>(rows.len(), utc_offset)),
        texts(rows.len(), [(Some(source_id), rows.len())].into_iter())?,
        Arc::new(numbers::<UInt64Type>(rows.len(), record_no)),
        Arc::new(section_no),
    ])
}

/// A column of texts from runs of the same value.
fn texts<'a>(rows: usize, runs: impl Iterator<Item = (Option<&'a str>, usize)>) -> Result<ArrayRef, ArrowError> {
    let mut values = Vec::new();
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let mut nulls = NullBufferBuilder::new(rows);
    for (value, count) in runs {
        let text = value.unwrap_or("");
        let start = values.len();
        if i32::try_from(start + text.len() * count).is_err() {
            return Err(ArrowError::OffsetOverflowError(start + text.len() * count));
        }
        for _ in 0..count {
            values.extend_from_slice(text.as_bytes());
        }
        offsets.extend((1..=count).map(|number| (start + number * text.len()) as i32));
        if value.is_some() {
            nulls.append_n_non_nulls(count);
        } else {
            nulls.append_n_nulls(count);
        }
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(StringArray::try_new(offsets, values.into(), nulls.finish())?))
}

/// A column of numbers from runs of the same value.
fn numbers<P: ArrowPrimitiveType>(
    rows: usize,
    runs: impl Iterator<Item = (Option<P::Native>, usize)>,
) -> PrimitiveArray<P> {
    let mut values = Vec::with_capacity(rows);
    let mut nulls = NullBufferBuilder::new(rows);
    for (value, count) in runs {
        values.extend(std::iter::repeat_n(value.unwrap_or_default(), count));
        if value.is_some() {
            nulls.append_n_non_nulls(count);
        } else {
            nulls.append_n_nulls(count);
        }
    }
    PrimitiveArray::new(ScalarBuffer::from(values), nulls.finish())
}
