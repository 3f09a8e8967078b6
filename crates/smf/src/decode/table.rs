//! One section's table: its rows into a record batch.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, TimestampMicrosecondBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
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
        let mut columns = key_columns(rows, keys, source.source_id);
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

/// The columns before a section's own.
fn key_columns(rows: &[Row], keys: &[RecordKeys], source_id: &str) -> Vec<ArrayRef> {
    let count = rows.len();
    let unknown = RecordKeys::default();
    let of = |row: &Row| keys.get(row.record as usize).unwrap_or(&unknown);
    let text = |value: &dyn Fn(&RecordKeys) -> Option<&str>| -> ArrayRef {
        let mut column = StringBuilder::with_capacity(count, count * 8);
        rows.iter().for_each(|row| column.append_option(value(of(row))));
        Arc::new(column.finish())
    };
    let time = |value: &dyn Fn(&RecordKeys) -> Option<i64>| -> ArrayRef {
        let mut column = TimestampMicrosecondBuilder::with_capacity(count);
        rows.iter().for_each(|row| column.append_option(value(of(row))));
        Arc::new(column.finish().with_timezone("UTC"))
    };
    let mut utc_offset = Float64Builder::with_capacity(count);
    let mut source = StringBuilder::with_capacity(count, count * source_id.len());
    let mut record_no = UInt64Builder::with_capacity(count);
    let mut section_no = UInt32Builder::with_capacity(count);
    for row in rows {
        utc_offset.append_option(of(row).utc_offset);
        source.append_value(source_id);
        record_no.append_value(of(row).record_no);
        section_no.append_value(row.section_no);
    }
    vec![
        text(&|keys| keys.system.as_deref()),
        text(&|keys| keys.sysplex.as_deref()),
        text(&|keys| keys.subsystem.as_deref()),
        time(&|keys| keys.interval_start),
        time(&|keys| keys.interval_end),
        Arc::new(utc_offset.finish()),
        Arc::new(source.finish()),
        Arc::new(record_no.finish()),
        Arc::new(section_no.finish()),
    ]
}
