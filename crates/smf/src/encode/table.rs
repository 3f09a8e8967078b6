//! One table's rows as entries, and which records they belong to.

use arrow_array::RecordBatch;

use super::error::EncodeError;
use super::identity::KeyColumns;
use super::section::Entries;
use super::values::Value;

/// A table's rows as entries, and which records they belong to.
pub(crate) struct Table<'a> {
    /// Index of the part; `None` for the inventory, which gives identity alone.
    pub part: Option<usize>,
    pub batch: &'a RecordBatch,
    pub entries: Entries,
    pub keys: KeyColumns<'a>,
    /// Record number, first row and the row after the last, in order.
    pub groups: Vec<(u64, usize, usize)>,
}

impl Table<'_> {
    /// Rows of one record: the first and the one after the last.
    pub fn rows(&self, record: u64) -> Option<(usize, usize)> {
        let at = self.groups.binary_search_by_key(&record, |&(number, ..)| number).ok()?;
        Some((self.groups[at].1, self.groups[at].2))
    }

    /// Number of an entry in its record, from 1, as the row's `section_no` has it.
    pub fn section_no(&self, row: usize) -> Option<usize> {
        match self.keys.get("section_no", row)? {
            Value::Int(number) => usize::try_from(number).ok().filter(|&number| number != 0),
            _ => None,
        }
    }
}

/// Runs of rows with the same record number.
pub(crate) fn groups(table: &str, rows: usize, keys: &KeyColumns<'_>) -> Result<Vec<(u64, usize, usize)>, EncodeError> {
    let mut groups: Vec<(u64, usize, usize)> = Vec::new();
    for row in 0..rows {
        let number = match keys.get("record_no", row) {
            Some(Value::Int(number)) => u64::try_from(number).ok(),
            _ => None,
        };
        let wrong = |what: &str, remedy: &str| EncodeError {
            row: Some(row),
            ..EncodeError::column(table, "record_no", what, remedy)
        };
        let number = number
            .ok_or_else(|| wrong("no record number", "give every row the number of its record, a whole number"))?;
        match groups.last_mut() {
            Some((last, _, end)) if *last == number => *end = row + 1,
            Some((last, ..)) if *last > number => {
                return Err(wrong(&format!("{number} comes after {last}"), "sort the table by record_no"));
            }
            _ => groups.push((number, row, row + 1)),
        }
    }
    Ok(groups)
}
