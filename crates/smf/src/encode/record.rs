//! Sections into records: header, product section, triplets, entries.
//!
//! What a record needs to be readable is computed and not taken from columns: lengths, triplets, the number of
//! triplets, and length and type of each header in a Db2 or MQ product section.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};

use crate::layout::{Catalogue, INVENTORY, Identity, KEY_COLUMNS, RecordMap, Rule, Section};

use super::assemble::{Assembly, Filled};
use super::error::EncodeError;
use super::field::Forms;
use super::identity::{KeyColumns, RecordIdentity};
use super::options::{EncodeOptions, EncodedRecords};
use super::section::{Entries, RECORD_COLUMNS, blank_entry, entries, overlay};
use super::table::{Table, groups};

/// One section of a record map, as the encoder needs it.
pub(crate) struct Part {
    pub section: Arc<Section>,
    pub rule: Rule,
    /// Offset of its triplet in the header; 0 for header sections.
    pub at: usize,
}

/// Writes records of one kind.
pub struct RecordEncoder {
    pub(crate) map: Arc<RecordMap>,
    pub(crate) parts: Vec<Part>,
    /// Bytes of the header with its triplets.
    pub(crate) header: usize,
    pub(crate) forms: Forms,
    pub(crate) options: EncodeOptions,
}

impl RecordEncoder {
    /// An encoder for the records of one map.
    ///
    /// # Errors
    /// An unknown map, or a length that cannot be.
    pub fn new(catalogue: &Catalogue, record: &str, options: EncodeOptions) -> Result<Self, EncodeError> {
        let map = catalogue.map(record).ok_or_else(|| {
            let known: Vec<&str> = catalogue.maps().map(|map| map.name.as_str()).collect();
            EncodeError::table(record, "no such record map", format!("there are {}", known.join(", ")))
        })?;
        let mut parts = Vec::new();
        let mut header = 18;
        for entry in &map.entries {
            let Some(section) = catalogue.section(&entry.layout) else {
                continue;
            };
            let at = catalogue.triplet(map, entry).map_or(0, |field| field.offset);
            header = header.max(if entry.rule == Rule::Header { section.length() } else { at + 8 });
            parts.push(Part { section: Arc::clone(section), rule: entry.rule, at });
        }
        for (table, &length) in &options.lengths {
            let part = parts.iter().find(|part| part.section.name == *table);
            if part.is_none_or(|part| part.rule == Rule::Header) {
                return Err(Self::unknown_table(map, table));
            }
            if !(4..=32_000).contains(&length) {
                return Err(EncodeError::table(table, format!("length {length}"), "use 4 to 32000 bytes"));
            }
        }
        let forms = Forms { code_page: options.code_page, leap_seconds: options.leap_seconds };
        Ok(Self { map: Arc::clone(map), parts, header, forms, options })
    }

    /// One record from the rows of its sections. `record_no` columns are not looked at.
    ///
    /// # Errors
    /// A table or column that the record has not, a value that does not fit its field, or a record too long.
    pub fn encode(
        &self,
        identity: &RecordIdentity,
        sections: &[(String, RecordBatch)],
    ) -> Result<EncodedRecords, EncodeError> {
        self.encode_groups(identity, sections, false)
    }

    /// Records from tables with a `record_no` column: rows of one number make one record. The numbers must not go
    /// back within a table.
    ///
    /// # Errors
    /// As [`RecordEncoder::encode`], and a table without or with unordered `record_no`.
    pub fn encode_all(
        &self,
        identity: &RecordIdentity,
        sections: &[(String, RecordBatch)],
    ) -> Result<EncodedRecords, EncodeError> {
        self.encode_groups(identity, sections, true)
    }

    fn encode_groups(
        &self,
        identity: &RecordIdentity,
        sections: &[(String, RecordBatch)],
        grouped: bool,
    ) -> Result<EncodedRecords, EncodeError> {
        let tables: Vec<Table<'_>> =
            sections.iter().map(|(name, batch)| self.table(name, batch, grouped)).collect::<Result<_, _>>()?;
        let mut numbers: Vec<u64> =
            tables.iter().flat_map(|table| table.groups.iter().map(|&(number, ..)| number)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() && !grouped {
            numbers.push(0);
        }
        let mut records = EncodedRecords::default();
        for number in numbers {
            let rows: Vec<(&Table<'_>, usize, usize)> =
                tables.iter().filter_map(|table| table.rows(number).map(|(from, to)| (table, from, to))).collect();
            let mut identity = identity.clone();
            for &(table, from, _) in &rows {
                identity.fill(&table.keys, from);
            }
            self.record(&identity, &rows, &mut records)?;
        }
        Ok(records)
    }

    fn unknown_table(map: &RecordMap, name: &str) -> EncodeError {
        let known: Vec<&str> = map.entries.iter().map(|entry| entry.layout.as_str()).collect();
        EncodeError::table(
            name,
            format!("record {} has no such section", map.name),
            format!("it has {}", known.join(", ")),
        )
    }

    /// Bytes of an entry: as asked, else what layout and arrays need.
    fn entry_length(&self, index: usize) -> usize {
        let part = &self.parts[index];
        if let Some(&length) = self.options.lengths.get(&part.section.name) {
            return length;
        }
        let arrays = self.parts.iter().filter(|other| other.at == part.at && part.rule == Rule::Entries);
        let ends = arrays.filter_map(|other| match other.rule {
            Rule::Array(array) => {
                Some(usize::from(array.offset) + usize::from(array.length) * usize::from(array.count.unwrap_or(0)))
            }
            _ => None,
        });
        match part.rule {
            Rule::Array(array) => array.length.into(),
            _ => ends.chain([part.section.length()]).max().unwrap_or(0),
        }
    }

    fn table<'a>(&self, name: &str, batch: &'a RecordBatch, grouped: bool) -> Result<Table<'a>, EncodeError> {
        let part = self.parts.iter().position(|part| part.section.name == name);
        if part.is_none() && name != INVENTORY {
            return Err(Self::unknown_table(&self.map, name));
        }
        let entries = match part {
            Some(index) if self.parts[index].rule != Rule::Header => {
                entries(&self.parts[index].section, batch, self.entry_length(index), self.forms)?
            }
            _ => Entries { length: 0, data: Vec::new() },
        };
        let names: Vec<&'static str> = KEY_COLUMNS.into_iter().chain(RECORD_COLUMNS).collect();
        let own = |name: &str| part.is_some_and(|index| self.parts[index].section.field(name).is_some());
        let keys = KeyColumns::find(name, batch, &names, &own)?;
        let groups = match grouped {
            true => groups(name, batch.num_rows(), &keys)?,
            false if batch.num_rows() == 0 => Vec::new(),
            false => vec![(0, 0, batch.num_rows())],
        };
        Ok(Table { part, batch, entries, keys, groups })
    }

    /// Writes one record, or the several it is split into.
    fn record(
        &self,
        identity: &RecordIdentity,
        rows: &[(&Table<'_>, usize, usize)],
        out: &mut EncodedRecords,
    ) -> Result<(), EncodeError> {
        let mut header = vec![0; self.header];
        for part in self.parts.iter().filter(|part| part.rule == Rule::Header) {
            let blank = blank_entry(&part.section, part.section.length());
            for field in &part.section.fields {
                header[field.offset..field.end()].copy_from_slice(&blank[field.offset..field.end()]);
            }
        }
        for &(table, from, to) in rows {
            let Some(part) = table.part.map(|index| &self.parts[index]) else {
                continue;
            };
            if part.rule == Rule::Header {
                if to - from != 1 {
                    return Err(self.single(&part.section.name, to - from));
                }
                overlay(&part.section, table.batch, from, self.forms, &mut header)?;
            }
        }
        identity.write_header(&self.map, self.forms, &mut header)?;
        let mut filled = Filled::default();
        let mut uses: Vec<usize> = self.parts.iter().map(|part| part.at).filter(|&at| at != 0).collect();
        uses.sort_unstable();
        uses.dedup();
        for &at in &uses {
            self.fill_triplet(at, identity, rows, &mut filled)?;
        }
        Assembly { encoder: self, header, filled: &filled, triplets: &uses }.write(out)
    }

    fn single(&self, table: &str, rows: usize) -> EncodeError {
        EncodeError::table(
            table,
            format!("{rows} rows for one record {}", self.map.name),
            "a record has this section once: give one row",
        )
    }

    /// Whether the map's product sections are chains of headers with their own lengths.
    fn chained(&self) -> bool {
        matches!(self.map.identity, Identity::Mq | Identity::Db2)
    }

    fn fill_triplet(
        &self,
        at: usize,
        identity: &RecordIdentity,
        rows: &[(&Table<'_>, usize, usize)],
        filled: &mut Filled,
    ) -> Result<(), EncodeError> {
        let here = |rule: &dyn Fn(Rule) -> bool| {
            self.parts.iter().enumerate().filter(move |(_, part)| part.at == at).find(|(_, part)| rule(part.rule))
        };
        if let Some((index, part)) = here(&|rule| rule == Rule::Product) {
            let mut bytes = self.product(index, part, identity, rows)?;
            if self.chained() {
                self.chain(at, part, rows, &mut bytes)?;
            }
            filled.product = Some((at, bytes));
            return Ok(());
        }
        let mut used: Option<&str> = None;
        for &(table, from, to) in rows {
            let Some(part) = table.part.map(|index| &self.parts[index]).filter(|part| part.at == at) else {
                continue;
            };
            if !matches!(part.rule, Rule::Entries | Rule::Varying) {
                continue;
            }
            if let Some(other) = used.replace(&part.section.name) {
                let what = format!("{other} and {} share a triplet", part.section.name);
                return Err(EncodeError::table(&self.map.name, what, "give rows of one of them"));
            }
            let length = table.entries.length;
            let mut bytes = Vec::with_capacity((length + 2) * (to - from));
            let varying = part.rule == Rule::Varying && !self.options.lengths.contains_key(&part.section.name);
            if varying {
                for row in from..to {
                    bytes.extend((length as u16).to_be_bytes());
                    bytes.extend(table.entries.slice(row, row + 1));
                }
            } else {
                bytes.extend(table.entries.slice(from, to));
            }
            let smf30 = self.map.identity == Identity::Smf30 && part.section.field("SMF30ISS").is_some();
            if smf30 && !varying {
                for (row, entry) in (from..to).zip(bytes.chunks_exact_mut(length)) {
                    let given = |column: &str| table.batch.column_by_name(column).is_some_and(|c| c.is_valid(row));
                    identity.write_product(&self.map, &part.section, &given, self.forms, entry)?;
                }
            }
            filled.push(at, length, to - from, varying, bytes);
        }
        for &(table, from, to) in rows {
            let Some(part) = table.part.map(|index| &self.parts[index]).filter(|part| part.at == at) else {
                continue;
            };
            if let Rule::Array(array) = part.rule {
                let parent = here(&|rule| rule == Rule::Entries).map(|(index, _)| self.entry_length(index));
                filled.elements(at, (&part.section.name, array), parent, (table, from, to))?;
            }
        }
        Ok(())
    }

    /// The product section's entry: the caller's row, and what identifies the record.
    fn product(
        &self,
        index: usize,
        part: &Part,
        identity: &RecordIdentity,
        rows: &[(&Table<'_>, usize, usize)],
    ) -> Result<Vec<u8>, EncodeError> {
        let row = rows.iter().find(|(table, ..)| table.part == Some(index));
        let mut bytes = match row {
            Some(&(table, from, to)) if to - from == 1 => table.entries.slice(from, to).to_vec(),
            Some(&(_, from, to)) => return Err(self.single(&part.section.name, to - from)),
            None => blank_entry(&part.section, self.entry_length(index)),
        };
        let given = |column: &str| {
            row.is_some_and(|&(table, from, _)| table.batch.column_by_name(column).is_some_and(|c| c.is_valid(from)))
        };
        identity.write_product(&self.map, &part.section, &given, self.forms, &mut bytes)?;
        if self.chained() {
            let triplets = (self.header - 28) / 8;
            head(&mut bytes, 1);
            if let Some(count) = bytes.get_mut(6) {
                *count = triplets as u8;
            }
        }
        Ok(bytes)
    }

    /// The headers that follow the first in a Db2 or MQ product section.
    fn chain(
        &self,
        at: usize,
        product: &Part,
        rows: &[(&Table<'_>, usize, usize)],
        bytes: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        for &(table, from, to) in rows {
            let Some(part) = table.part.map(|index| &self.parts[index]).filter(|part| part.at == at) else {
                continue;
            };
            if let Rule::Chain(kind) = part.rule {
                if to - from != 1 {
                    return Err(self.single(&part.section.name, to - from));
                }
                let start = bytes.len();
                bytes.extend(table.entries.slice(from, to));
                head(&mut bytes[start..], kind);
            }
        }
        if u16::try_from(bytes.len()).is_err() {
            return Err(EncodeError::table(&product.section.name, "longer than 65535 bytes", "give shorter lengths"));
        }
        Ok(())
    }
}

/// Writes length and type of a chained header.
fn head(bytes: &mut [u8], kind: u8) {
    let length = (bytes.len() as u16).to_be_bytes();
    if let [first, second, third, ..] = bytes {
        [*first, *second, *third] = [length[0], length[1], kind];
    }
}
