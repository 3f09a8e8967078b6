//! Entries that single fields of the record's start place: written behind all sections, these fields filled in.

use std::collections::BTreeMap;

use crate::forms::ebcdic;
use crate::layout::{Computed, Place};

use super::assemble::Filled;
use super::error::EncodeError;
use super::fill::Rows;
use super::record::RecordEncoder;

/// Rows that go to one place.
#[derive(Debug)]
pub(crate) struct Placed {
    place: Computed,
    /// Bytes of an entry, where all have the same.
    length: usize,
    count: usize,
    pub bytes: Vec<u8>,
}

impl RecordEncoder {
    /// Puts the rows of tables with the same place together: rows of one `section_no` are one entry, of which each table
    /// has a part.
    pub(crate) fn fill_placed(&self, rows: &[Rows<'_, '_>], filled: &mut Filled) {
        let mut places: Vec<Computed> = Vec::new();
        for part in &self.parts {
            if let Some(Place::Computed(place)) = part.place
                && !places.contains(&place)
            {
                places.push(place);
            }
        }
        for place in places {
            let mut entries: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
            for &(table, from, to) in rows {
                let part = table.part.map(|index| &self.parts[index]);
                if part.is_none_or(|part| part.place != Some(Place::Computed(place))) {
                    continue;
                }
                for row in from..to {
                    let number = table.section_no(row).unwrap_or(row - from + 1);
                    overlay(table.entries.slice(row, row + 1), place, entries.entry(number).or_default());
                }
            }
            let length = entries.values().next().map_or(0, Vec::len);
            let count = entries.len();
            filled.placed.push(Placed { place, length, count, bytes: entries.into_values().flatten().collect() });
        }
    }
}

/// Puts what one table knows of an entry into it. Text at its end is as long as it is, and so is the entry, unless the
/// row says that there is more.
fn overlay(row: &[u8], place: Computed, entry: &mut Vec<u8>) {
    let lead = usize::from(place.rule.lead);
    let number = |bytes: Option<&[u8]>| bytes.map_or(0, |b| b.iter().fold(0, |n, &byte| n << 8 | usize::from(byte)));
    let kept = if lead == 0 { row } else { &row[..ebcdic::trim(row).len().max((2 * lead).min(row.len()))] };
    let said = if lead == 0 { 0 } else { 2 * lead + number(row.get(lead..2 * lead)) };
    if entry.len() < kept.len().max(said) {
        entry.resize(kept.len().max(said), 0);
    }
    for (to, from) in entry.iter_mut().zip(kept).filter(|(_, from)| **from != 0) {
        *to = *from;
    }
    if lead != 0 {
        let data = entry.len().saturating_sub(2 * lead).to_be_bytes();
        entry[lead..2 * lead].copy_from_slice(&data[data.len() - lead..]);
    }
}

/// Appends placed entries to the record that begins at `start` of `data`.
pub(crate) fn append(placed: &[Placed], record: &str, start: usize, data: &mut Vec<u8>) -> Result<(), EncodeError> {
    for one in placed {
        let base = usize::from(one.place.rule.base);
        // Without entries, too, the offset says where the fixed part ends.
        let at = data.len() - start;
        let mut put = |(place, width): (usize, usize), value: usize| {
            let bytes = value.to_be_bytes();
            let (over, kept) = bytes.split_at(bytes.len() - width);
            if over.iter().any(|&byte| byte != 0) {
                let what = format!("{value} in a field of {width} bytes");
                return Err(EncodeError::table(record, what, "give fewer or shorter entries"));
            }
            data[start + place..start + place + width].copy_from_slice(kept);
            Ok(())
        };
        put(one.place.offset, at.saturating_sub(base))?;
        put(one.place.count, one.count)?;
        if let Some(length) = one.place.length {
            put(length, one.length)?;
        }
        data.extend_from_slice(&one.bytes);
    }
    Ok(())
}
