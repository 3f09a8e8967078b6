//! A table's rows into the entries of a section: the inverse of decoding it.

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use crate::forms::ebcdic::BLANK;
use crate::layout::{Format, KEY_COLUMNS, Section};

use super::error::EncodeError;
use super::field::Forms;
use super::values::Values;

/// Entries of one section, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    /// Bytes of each entry.
    pub length: usize,
    /// All entries.
    pub data: Vec<u8>,
}

impl Entries {
    /// Entries `from` to `to`, the last not included.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> &[u8] {
        &self.data[from * self.length..to * self.length]
    }
}

/// An entry in which nothing is set: text is blank, everything else zero.
pub(crate) fn blank_entry(section: &Section, length: usize) -> Vec<u8> {
    let mut entry = vec![0; length];
    for field in section.fields.iter().filter(|field| field.format == Format::Ebcdic) {
        if let Some(text) = entry.get_mut(field.offset..field.end()) {
            text.fill(BLANK);
        }
    }
    entry
}

/// Bytes of entries that one pass over all columns should touch: they stay in the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// Columns of a batch that say which record a row belongs to, besides [`KEY_COLUMNS`].
pub(crate) const RECORD_COLUMNS: [&str; 5] = ["written_at", "ssid", "record_type", "subtype", "system"];

/// Writes the rows as entries of `length` bytes. Fields that end beyond the length are left out, and so are columns of
/// the table that this layout of it lacks; bytes beyond the layout are zero. Missing columns and nulls leave text blank
/// and other fields zero.
pub(crate) fn entries(
    section: &Section,
    table: &Section,
    batch: &RecordBatch,
    length: usize,
    forms: Forms,
) -> Result<Entries, EncodeError> {
    let mut data = blank_entry(section, length).repeat(batch.num_rows());
    let mut columns = Vec::new();
    for (column, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let name = column.name();
        let Some(field) = section.fields.iter().find(|field| field.column == *name) else {
            let others = KEY_COLUMNS.contains(&name.as_str()) || RECORD_COLUMNS.contains(&name.as_str());
            if others || table.fields.iter().any(|field| field.column == *name) {
                continue;
            }
            return Err(unknown_column(table, name));
        };
        if field.end() <= length {
            let values = Values::new(array).ok_or_else(|| unwritable(&section.name, name, column.data_type()))?;
            columns.push((field, values));
        }
    }
    let block_rows = (BLOCK_BYTES / length).max(1);
    for (number, block) in data.chunks_mut(block_rows * length).enumerate() {
        for (field, values) in &columns {
            for (row, entry) in block.chunks_exact_mut(length).enumerate() {
                let row = number * block_rows + row;
                if let Some(value) = values.get(row) {
                    forms
                        .put(field, value, &mut entry[field.offset..field.end()])
                        .map_err(|unfit| EncodeError::value(&section.name, &field.column, row, unfit))?;
                }
            }
        }
    }
    Ok(Entries { length, data })
}

/// Writes the columns that one row has values for over `out`, and leaves the rest of it.
pub(crate) fn overlay(
    section: &Section,
    batch: &RecordBatch,
    row: usize,
    forms: Forms,
    out: &mut [u8],
) -> Result<(), EncodeError> {
    let one = entries(section, section, &batch.slice(row, 1), section.length(), forms)?;
    for field in &section.fields {
        let given = batch.column_by_name(&field.column).is_some_and(|column| column.is_valid(row));
        if let Some(place) = out.get_mut(field.offset..field.end()).filter(|_| given) {
            place.copy_from_slice(&one.data[field.offset..field.end()]);
        }
    }
    Ok(())
}

fn unknown_column(section: &Section, name: &str) -> EncodeError {
    let known: Vec<&str> = section.fields.iter().map(|field| field.column.as_str()).collect();
    EncodeError::column(&section.name, name, "the section has no such column", format!("it has {}", known.join(", ")))
}

pub(crate) fn unwritable(table: &str, name: &str, data_type: &DataType) -> EncodeError {
    EncodeError::column(
        table,
        name,
        format!("columns of type {data_type} cannot be written"),
        "cast it to an integer, float, string, binary, timestamp or date type",
    )
}
