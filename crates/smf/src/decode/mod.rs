//! Records to Arrow columns, by the layouts of a catalogue.
//!
//! A batch of records is read in two passes. The first follows each record's triplets and notes where the entries
//! of each section lie ([`locate`](self)); the second fills the columns of each section from all its entries, in
//! blocks of rows that fit the cache. Both trust nothing in the data: what does not fit its record becomes a
//! [`SectionDamage`], and the rest of the record is kept.

mod column;
mod header;
mod identity;
mod inventory;
mod locate;
mod report;
mod table;

use std::collections::{BTreeSet, HashMap};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::forms::ebcdic::CodePage;
use crate::forms::tod_clock::LeapSeconds;
use crate::layout::{Catalogue, INVENTORY, LayoutError, Rule, Selector};
use crate::stream::FrameBatch;

pub use header::{EXTENDED, RecordView};
pub use inventory::record_hash;
pub use report::{Note, NoteKind, Reason, SectionDamage, add_notes};

use inventory::Inventory;
use locate::{Located, MapPlan, RecordPlace};
use table::{Source, TablePlan};

/// Choices for decoding.
#[derive(Debug, Clone, Default)]
pub struct DecodeOptions {
    /// Code page of text fields.
    pub code_page: CodePage,
    /// Whether TOD clock values run ahead of UTC by the leap seconds. Applies to every `stck` field; RMF interval
    /// times are local times of day, which have no leap seconds in them.
    pub leap_seconds: LeapSeconds,
    /// Tables to fill; `None` for all.
    pub tables: Option<BTreeSet<String>>,
}

/// Decodes batches of records. It can be shared between threads; batches are independent of each other.
#[derive(Debug)]
pub struct Decoder {
    tables: Vec<TablePlan>,
    maps: Vec<MapPlan>,
    /// Maps of each record type, the closest selector first.
    by_type: HashMap<u8, Vec<(Selector, usize)>>,
    options: DecodeOptions,
}

/// The columns of one batch.
#[derive(Debug, Clone, Default)]
pub struct DecodedBatch {
    /// Record batches by table name, in the order of names; tables without rows are left out.
    pub tables: Vec<(String, RecordBatch)>,
    /// Records decoded or inventoried.
    pub records: u64,
    /// Sections skipped.
    pub damage: Vec<SectionDamage>,
    /// Things counted.
    pub notes: Vec<Note>,
}

impl Decoder {
    /// Compiles the layouts of a catalogue.
    ///
    /// # Errors
    /// A wanted table that no record map fills.
    pub fn new(catalogue: &Catalogue, options: DecodeOptions) -> Result<Self, LayoutError> {
        let known = catalogue.tables();
        for table in options.tables.iter().flatten() {
            if !known.contains(table) {
                return Err(catalogue.unknown_table(table));
            }
        }
        let wanted = |name: &str| options.tables.as_ref().is_none_or(|tables| tables.contains(name));
        let names: BTreeSet<&str> = catalogue
            .maps()
            .flat_map(|map| map.entries.iter().filter(|entry| entry.rule != Rule::Header))
            .map(|entry| entry.layout.as_str())
            .filter(|name| wanted(name))
            .collect();
        let tables: Vec<TablePlan> =
            names.iter().filter_map(|name| catalogue.section(name)).cloned().map(TablePlan::compile).collect();
        let index = |name: &str| tables.iter().position(|table| table.section.name == name);
        let mut maps = Vec::new();
        let mut by_type: HashMap<u8, Vec<(Selector, usize)>> = HashMap::new();
        for map in catalogue.maps() {
            by_type.entry(map.record_type).or_default().push((map.selector, maps.len()));
            maps.push(MapPlan::compile(catalogue, map, index));
        }
        for selectors in by_type.values_mut() {
            selectors.sort_by_key(|&(selector, _)| std::cmp::Reverse(selector));
        }
        Ok(Self { tables, maps, by_type, options })
    }

    /// The map for a record: class before IFCID before subtype before type.
    fn map(&self, view: RecordView<'_>) -> Option<&MapPlan> {
        let maps = self.by_type.get(&view.record_type())?;
        maps.iter().find(|&&(selector, _)| view.matches(selector)).map(|&(_, index)| &self.maps[index])
    }

    /// Decodes a batch. Where `keep` is given, records whose flag is false are left out altogether.
    ///
    /// # Errors
    /// Only when a column of one batch outgrows what Arrow can address (2 GiB of text).
    pub fn decode(
        &self,
        batch: &FrameBatch,
        keep: Option<&[bool]>,
        source_id: &str,
    ) -> Result<DecodedBatch, ArrowError> {
        let source = Source { source_id, code_page: self.options.code_page, leap_seconds: self.options.leap_seconds };
        let mut decoded = DecodedBatch::default();
        let mut inventory =
            self.options.tables.as_ref().is_none_or(|tables| tables.contains(INVENTORY)).then(Inventory::default);
        let mut found = Located { rows: self.tables.iter().map(|_| Vec::new()).collect(), damage: Vec::new() };
        let mut keys = Vec::new();
        for (index, frame) in batch.frames.iter().enumerate() {
            if keep.is_some_and(|keep| keep.get(index) == Some(&false)) {
                continue;
            }
            decoded.records += 1;
            let view = RecordView(batch.record(frame));
            let map = self.map(view);
            if let Some(inventory) = &mut inventory {
                inventory.push(frame, view, source.code_page, map.is_some(), source_id);
            }
            let Some(map) = map.filter(|map| map.is_wanted()) else {
                continue;
            };
            let Ok(record) = u32::try_from(keys.len()) else {
                continue;
            };
            let place =
                RecordPlace { view, base: frame.start, record, record_no: frame.record_no, offset: frame.offset };
            let identified = map.locate(&mut found, &place);
            let section = identified.and_then(|(start, len)| batch.data.get(start..start + len));
            let (mut read, inconsistent) = map.keys.read(view, section, source.code_page, source.leap_seconds);
            read.record_no = frame.record_no;
            keys.push(read);
            if inconsistent {
                let section = map.product().unwrap_or("").to_owned();
                let note = Note { kind: NoteKind::IntervalInconsistent, section, field: None, count: 1, max_bytes: 0 };
                add_notes(&mut decoded.notes, &[note]);
            }
        }
        for (plan, rows) in self.tables.iter().zip(&found.rows) {
            if !rows.is_empty() {
                let table = plan.decode(&batch.data, rows, &keys, &source, &mut decoded.notes)?;
                decoded.tables.push((plan.section.name.clone(), table));
            }
        }
        if let Some(inventory) = inventory.filter(|_| decoded.records != 0) {
            let at = decoded.tables.partition_point(|(name, _)| name.as_str() < INVENTORY);
            decoded.tables.insert(at, (INVENTORY.into(), inventory.finish()?));
        }
        decoded.damage = found.damage;
        Ok(decoded)
    }
}
