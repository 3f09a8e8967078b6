//! Tables into records: rows by record, headers, and what identifies each record.
//!
//! What a record needs to be readable is computed and not taken from columns: lengths, triplets, the number of
//! triplets, and length and type of each header in a Db2 or MQ product section.

use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::layout::{Catalogue, Condition, INVENTORY, KEY_COLUMNS, Place, RecordMap, Rule, Section, Subject, Witness};

use super::assemble::{Assembly, Filled, Slot};
use super::connected::ConnectedData;
use super::error::EncodeError;
use super::field::Forms;
use super::identity::{DB2_RELEASE, KeyColumns, RecordIdentity};
use super::options::{EncodeOptions, EncodedRecords};
use super::section::{Entries, RECORD_COLUMNS, blank_entry, entries, overlay};
use super::table::{Table, groups};
use super::values::{Value, Values};

/// One section of a record map, as the encoder needs it.
pub(crate) struct Part {
    pub section: Arc<Section>,
    pub rule: Rule,
    /// Where its triplet stands; `None` for header sections and linked entries.
    pub slot: Option<Slot>,
    /// Where the fields stand that point at its entries.
    pub place: Option<Place>,
    /// The table whose rows it takes.
    pub table: String,
    /// Which entries it is for.
    pub when: Option<Condition>,
    /// The field that the condition looks at.
    witness: Option<Column>,
}

/// Whether a section is at the start of the record, its offsets counted from there.
fn is_start(rule: Rule) -> bool {
    matches!(rule, Rule::Header | Rule::Fixed)
}

/// A column whose value decides which layout rows are written by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    table: String,
    name: String,
    /// Whether it is of the product section, which says of which release a record is.
    product: bool,
}

/// What a table's rows hold in such a column; nothing where they differ or there are none.
type Witnesses = Vec<(Column, Option<u64>)>;

/// Writes records of one kind.
pub struct RecordEncoder {
    pub(crate) map: Arc<RecordMap>,
    pub(crate) parts: Vec<Part>,
    /// Bytes of the header with its triplets.
    pub(crate) header: usize,
    pub(crate) connected: Option<ConnectedData>,
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
            let place = catalogue.place(map, entry);
            let slot = match place {
                Some(Place::Header(at)) => Some(Slot::Header(at)),
                Some(Place::Product(at)) => Some(Slot::Product(at)),
                _ => None,
            };
            header = header.max(match slot {
                Some(Slot::Header(at)) => at + 8,
                _ if is_start(entry.rule) => section.length(),
                _ => 0,
            });
            let (table, when) = (entry.table.clone(), entry.when.clone());
            let witness = catalogue.witness(map, entry).and_then(|witness| {
                let (holder, field, product) = match witness {
                    Witness::Product(field) => (map.product()?, field, true),
                    Witness::Entry(field) => {
                        (map.entries.iter().find(|other| other.shares_entries(entry))?, field, false)
                    }
                };
                Some(Column { table: holder.table.clone(), name: field.column.clone(), product })
            });
            parts.push(Part { section: Arc::clone(section), rule: entry.rule, slot, place, table, when, witness });
        }
        for (table, &length) in &options.lengths {
            let part = parts.iter().find(|part| part.table == *table);
            if part.is_none_or(|part| is_start(part.rule)) {
                return Err(Self::unknown_table(map, table));
            }
            if !(4..=32_000).contains(&length) {
                return Err(EncodeError::table(table, format!("length {length}"), "use 4 to 32000 bytes"));
            }
        }
        let forms = Forms { code_page: options.code_page, leap_seconds: options.leap_seconds };
        let connected = ConnectedData::new(catalogue, map, &options)?;
        Ok(Self { map: Arc::clone(map), parts, header, connected, forms, options })
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
        let witnesses = self.witnesses(sections)?;
        let table = |(name, batch)| self.table(name, batch, grouped, &witnesses);
        let tables: Vec<Table<'_>> =
            sections.iter().map(|(name, batch)| table((name, batch))).collect::<Result<_, _>>()?;
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
        let known: Vec<&str> = map.entries.iter().map(|entry| entry.table.as_str()).collect();
        EncodeError::table(
            name,
            format!("record {} has no such section", map.name),
            format!("it has {}", known.join(", ")),
        )
    }

    /// Bytes of an entry: as asked, else what layout and arrays need.
    pub(crate) fn entry_length(&self, index: usize) -> usize {
        let part = &self.parts[index];
        if let Some(array) = part.rule.array() {
            return array.length.into();
        }
        if let Some(&length) = self.options.lengths.get(&part.table) {
            return length;
        }
        let arrays = self.parts.iter().filter(|other| match (part.rule, other.rule) {
            (Rule::Entries, Rule::Array(_)) => other.slot == part.slot,
            (Rule::Tagged(id, None), Rule::Tagged(other, Some(_))) => other == id,
            _ => false,
        });
        let ends = arrays
            .filter_map(|other| other.rule.array())
            .map(|array| usize::from(array.offset) + usize::from(array.length) * usize::from(array.count.unwrap_or(0)));
        ends.chain([part.section.length()]).max().unwrap_or(0)
    }

    /// What the rows hold in the fields that conditions look at. Layouts are chosen for all records of a call at once, so
    /// product sections must agree.
    fn witnesses(&self, sections: &[(String, RecordBatch)]) -> Result<Witnesses, EncodeError> {
        let mut witnesses = Witnesses::new();
        for column in self.parts.iter().filter_map(|part| part.witness.as_ref()) {
            if witnesses.iter().any(|(known, _)| known == column) {
                continue;
            }
            let usual = if column.name == "qwhsrn" { u64::from(DB2_RELEASE) } else { 0 };
            let rows = sections.iter().find(|(name, _)| *name == column.table).map(|(_, rows)| rows);
            let values = rows.and_then(|rows| rows.column_by_name(&column.name)).and_then(Values::new);
            let number = |row| match values.as_ref().and_then(|values| values.get(row)) {
                Some(Value::Int(number)) => u64::try_from(number).unwrap_or(usual),
                _ => usual,
            };
            let count = rows.map_or(0, RecordBatch::num_rows);
            let found = number(0);
            let other = (0..count).find(|&row| number(row) != found);
            if let Some(row) = other.filter(|_| column.product) {
                return Err(EncodeError {
                    row: Some(row),
                    ..EncodeError::column(
                        &column.table,
                        &column.name,
                        format!("{} after {found}: sections of these releases differ", number(row)),
                        "write the records of each release in a call of their own",
                    )
                });
            }
            let told = column.product || (count != 0 && other.is_none());
            witnesses.push((column.clone(), told.then_some(found)));
        }
        Ok(witnesses)
    }

    /// The layout that a table's rows are written by: the first whose condition holds for the length asked for, and for
    /// what the rows hold of which it speaks.
    fn part(&self, table: &str, witnesses: &Witnesses) -> Option<usize> {
        let length = self.options.lengths.get(table);
        let fits = |part: &&Part| match (&part.when, &part.witness) {
            (Some(when), Some(column)) => {
                let held = witnesses.iter().find(|(known, _)| known == column).and_then(|&(_, value)| value);
                match held {
                    Some(value) => when.comparison.holds(value, when.value),
                    None => part.section.name == table,
                }
            }
            (Some(when), None) if when.subject == Subject::Length => match length {
                Some(&length) => when.allows_length(length),
                None => part.section.name == table,
            },
            _ => part.section.name == table,
        };
        let of_table = || self.parts.iter().enumerate().filter(|(_, part)| part.table == table);
        of_table().find(|(_, part)| fits(part)).or_else(|| of_table().next()).map(|(index, _)| index)
    }

    fn table<'a>(
        &self,
        name: &str,
        batch: &'a RecordBatch,
        grouped: bool,
        witnesses: &Witnesses,
    ) -> Result<Table<'a>, EncodeError> {
        let part = self.part(name, witnesses);
        if part.is_none() && name != INVENTORY {
            return Err(Self::unknown_table(&self.map, name));
        }
        let known = self.parts.iter().find(|part| part.section.name == name);
        let entries = match (part.map(|index| (index, &self.parts[index])), known, &self.connected) {
            (Some((_, part)), _, Some(data)) if part.rule == Rule::Connected => {
                entries(&data.layout.section, &part.section, batch, data.layout.length, self.forms)?
            }
            (Some((index, part)), Some(known), _) if !is_start(part.rule) => {
                entries(&part.section, &known.section, batch, self.entry_length(index), self.forms)?
            }
            _ => Entries { length: 0, data: Vec::new() },
        };
        let names: Vec<&'static str> = KEY_COLUMNS.into_iter().chain(RECORD_COLUMNS).collect();
        let own = |name: &str| known.is_some_and(|known| known.section.field(name).is_some());
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
        for part in self.parts.iter().filter(|part| is_start(part.rule)) {
            let blank = blank_entry(&part.section, part.section.length());
            for field in &part.section.fields {
                header[field.offset..field.end()].copy_from_slice(&blank[field.offset..field.end()]);
            }
        }
        for &(table, from, to) in rows {
            let Some(part) = table.part.map(|index| &self.parts[index]) else {
                continue;
            };
            if is_start(part.rule) {
                if to - from != 1 {
                    return Err(self.single(&part.section.name, to - from));
                }
                overlay(&part.section, table.batch, from, self.forms, &mut header)?;
            }
        }
        identity.write_header(&self.map, self.forms, &mut header)?;
        let mut filled = Filled::default();
        let mut slots: Vec<Slot> = self.parts.iter().filter_map(|part| part.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        for &slot in &slots {
            self.fill(slot, identity, rows, &mut filled)?;
        }
        self.fill_linked(rows, &mut filled);
        self.fill_placed(rows, &mut filled);
        let triplets: Vec<usize> = slots
            .iter()
            .filter_map(|slot| match slot {
                Slot::Header(at) => Some(*at),
                Slot::Product(_) => None,
            })
            .collect();
        Assembly { encoder: self, header, filled: &filled, triplets: &triplets }.write(out)
    }
}
