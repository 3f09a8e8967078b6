//! Rows into what stands behind each triplet of one record.

use arrow_array::Array;

use crate::layout::{Identity, Rule};

use super::assemble::{Content, Filled, Slot};
use super::error::EncodeError;
use super::identity::RecordIdentity;
use super::linked::Linked;
use super::record::{Part, RecordEncoder};
use super::section::blank_entry;
use super::table::Table;

/// The rows of a table that one record has: the first and the one after the last.
pub(crate) type Rows<'a, 'b> = (&'a Table<'b>, usize, usize);

impl RecordEncoder {
    pub(crate) fn single(&self, table: &str, rows: usize) -> EncodeError {
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

    /// Fills what stands behind one triplet.
    pub(crate) fn fill(
        &self,
        slot: Slot,
        identity: &RecordIdentity,
        rows: &[Rows<'_, '_>],
        filled: &mut Filled,
    ) -> Result<(), EncodeError> {
        let here = |rule: &dyn Fn(Rule) -> bool| {
            self.parts.iter().enumerate().filter(move |(_, part)| part.slot == Some(slot)).find(|(_, p)| rule(p.rule))
        };
        if let Some((index, part)) = here(&|rule| rule == Rule::Product) {
            let mut bytes = self.product(index, part, identity, rows)?;
            if self.chained() {
                self.chain(slot, part, rows, &mut bytes)?;
            }
            if let Slot::Header(at) = slot {
                filled.product = Some((at, bytes));
            }
            return Ok(());
        }
        if here(&|rule| matches!(rule, Rule::Tagged(..))).is_some() {
            return self.tagged(slot, rows, filled);
        }
        let of_slot = |table: &Table<'_>| {
            let part = table.part.map(|index| (index, &self.parts[index]));
            part.filter(|(_, part)| part.slot == Some(slot))
        };
        let mut used: Option<&str> = None;
        for &(table, from, to) in rows {
            let Some((index, part)) = of_slot(table) else { continue };
            let content = match part.rule {
                Rule::Entries => Content::entries(slot, index, table, (from, to)),
                Rule::Varying if self.options.lengths.contains_key(&part.table) => {
                    Content::entries(slot, index, table, (from, to))
                }
                Rule::Varying => Content::varying(slot, index, table, (from, to)),
                Rule::Counted => Content::counted(slot, index, table, (from, to)),
                Rule::Connected => {
                    if let Some(data) = &self.connected {
                        filled.contents.push(Content::connectors(Slot::Product(data.at), &data.connectors));
                    }
                    Content::entries(slot, index, table, (from, to))
                }
                _ => continue,
            };
            if let Some(other) = used.replace(&part.section.name) {
                let what = format!("{other} and {} share a triplet", part.section.name);
                return Err(EncodeError::table(&self.map.name, what, "give rows of one of them"));
            }
            filled.contents.push(content);
            let interval = self.map.identity.interval().is_some_and(|(start, _)| part.section.field(start).is_some());
            if let Some(content) = filled.contents.last_mut().filter(|_| interval && part.rule == Rule::Entries) {
                for (row, entry) in (from..to).zip(content.bytes.chunks_exact_mut(table.entries.length)) {
                    let given = |column: &str| table.batch.column_by_name(column).is_some_and(|c| c.is_valid(row));
                    identity.write_product(&self.map, &part.section, &given, self.forms, entry)?;
                }
            }
        }
        for &(table, from, to) in rows {
            if let Some((_, part)) = of_slot(table)
                && let Rule::Array(array) = part.rule
            {
                let parent = here(&|rule| rule == Rule::Entries).map(|(index, _)| self.entry_length(index));
                filled.elements(slot, (&part.section.name, array), parent, (table, from, to))?;
            }
        }
        Ok(())
    }

    /// Statistics: entries of all kinds behind one triplet, each with its length and identifier.
    fn tagged(&self, slot: Slot, rows: &[Rows<'_, '_>], filled: &mut Filled) -> Result<(), EncodeError> {
        let mut bytes = Vec::new();
        let mut written = Vec::new();
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| part.slot == Some(slot)) {
            let Rule::Tagged(id, _) = part.rule else { continue };
            if written.contains(&id) {
                continue;
            }
            written.push(id);
            let mut of_kind = Filled::default();
            for &(table, from, to) in rows {
                let Some(part) = table.part.map(|index| &self.parts[index]) else { continue };
                if part.rule == Rule::Tagged(id, None) {
                    of_kind.contents.push(Content::entries(slot, index, table, (from, to)));
                }
            }
            for &(table, from, to) in rows {
                let Some(part) = table.part.map(|index| &self.parts[index]) else { continue };
                if let Rule::Tagged(other, Some(array)) = part.rule
                    && other == id
                {
                    of_kind.elements(slot, (&part.section.name, array), None, (table, from, to))?;
                }
            }
            for content in &of_kind.contents {
                for entry in content.bytes.chunks_exact(content.length.max(1)) {
                    let start = bytes.len();
                    bytes.extend_from_slice(entry);
                    let length = (entry.len() as u16).to_be_bytes();
                    let id = id.to_be_bytes();
                    bytes[start..start + 4].copy_from_slice(&[length[0], length[1], id[0], id[1]]);
                }
            }
        }
        if !bytes.is_empty() {
            filled.contents.push(Content::blob(slot, bytes));
        }
        Ok(())
    }

    /// Entries that others point at.
    pub(crate) fn fill_linked(&self, rows: &[Rows<'_, '_>], filled: &mut Filled) {
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| part.rule == Rule::Linked) {
            let given = rows.iter().find(|(table, ..)| table.part == Some(index));
            let Some((&(table, from, to), place)) = given.zip(part.place) else { continue };
            filled.linked.push(Linked {
                part: index,
                name: part.section.name.clone(),
                place,
                length: table.entries.length,
                bytes: table.entries.slice(from, to).to_vec(),
                numbers: (from..to).map(|row| table.section_no(row).unwrap_or(row - from + 1) - 1).collect(),
            });
        }
    }

    /// The product section's entry: the caller's row, and what identifies the record.
    fn product(
        &self,
        index: usize,
        part: &Part,
        identity: &RecordIdentity,
        rows: &[Rows<'_, '_>],
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
    fn chain(&self, slot: Slot, product: &Part, rows: &[Rows<'_, '_>], bytes: &mut Vec<u8>) -> Result<(), EncodeError> {
        for &(table, from, to) in rows {
            let Some(part) = table.part.map(|index| &self.parts[index]).filter(|part| part.slot == Some(slot)) else {
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
