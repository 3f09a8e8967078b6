//! Records to Arrow columns, by the layouts of a catalogue.
//!
//! A batch of records is read in two passes. The first follows each record's triplets and notes where the entries
//! of each section lie ([`locate`](self)); the second fills the columns of each section from all its entries, in
//! blocks of rows that fit the cache. Both trust nothing in the data: what does not fit its record becomes a
//! [`SectionDamage`], and the rest of the record is kept.

mod column;
mod compressed;
mod header;
mod identity;
mod inventory;
mod locate;
mod places;
mod report;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::cics::{Connection, Connections, Regions};
use crate::forms::ebcdic::CodePage;
use crate::forms::tod_clock::LeapSeconds;
use crate::layout::{Catalogue, INVENTORY, LayoutError, MapEntry, Rule, Selector};
use crate::stream::{Frame, FrameBatch, FrameKind};

pub use compressed::{EXPANDED_BYTES, Expanded};
pub use header::{EXTENDED, RecordView};
pub(crate) use identity::header_offset;
pub use inventory::record_hash;
pub use places::{Entry, Places};
pub use report::{Note, NoteKind, Reason, SectionDamage, add_notes};
pub use table::decode_section;

use compressed::{Expander, is_compressed_db2};
use identity::Hints;
use inventory::Inventory;
use locate::{Described, Located, MapPlan, RecordPlace, beyond};
use table::{Layout, Source, TablePlan};

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
    /// Columns to fill, of whichever table has them; `None` for all.
    pub columns: Option<BTreeSet<String>>,
}

/// Decodes batches of records. It can be shared between threads; batches are independent of each other.
#[derive(Debug)]
pub struct Decoder {
    tables: Vec<TablePlan>,
    maps: Vec<MapPlan>,
    /// Maps of each record type, the closest selector first.
    by_type: HashMap<u8, Vec<(Selector, usize)>>,
    /// Whether records that need a dictionary, or the time zone of others, are decoded at all.
    regions: Regions,
    expander: Expander,
    options: DecodeOptions,
}

/// The columns of one batch.
#[derive(Debug, Clone, Default)]
pub struct DecodedBatch {
    /// Record batches by table name, in the order of names; tables without rows are left out.
    pub tables: Vec<(String, RecordBatch)>,
    /// Records decoded or inventoried.
    pub records: u64,
    /// Bytes of the file in records that a layout describes.
    pub decoded_bytes: u64,
    /// Bytes of the file in records that no layout describes: they are counted and have no other row.
    pub counted_bytes: u64,
    /// Bytes of the file in spanned records of which segments are missing.
    pub incomplete_bytes: u64,
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
        let rows = || catalogue.maps().flat_map(|map| map.entries.iter().filter(|entry| entry.rule != Rule::Header));
        let names: BTreeSet<&str> = rows().map(|entry| entry.table.as_str()).filter(|name| wanted(name)).collect();
        let open = |name: &str| rows().any(|entry| entry.table == name && entry.rule.is_open());
        let mut tables: Vec<TablePlan> = names
            .iter()
            .filter_map(|name| catalogue.section(name))
            .map(|section| TablePlan::compile(Arc::clone(section), open(&section.name), options.columns.as_ref()))
            .collect();
        // Layouts are numbered within their tables before any map refers to them.
        for entry in rows().filter(|entry| entry.is_variant()) {
            let table = tables.iter_mut().find(|table| table.section.name == entry.table);
            if let (Some(table), Some(section)) = (table, catalogue.section(&entry.layout)) {
                table.variant(section);
            }
        }
        let index = |entry: &MapEntry| {
            let table = tables.iter().position(|table| table.section.name == entry.table)?;
            Some((table, tables[table].number(entry)?))
        };
        let mut maps = Vec::new();
        let mut by_type: HashMap<u8, Vec<(Selector, usize)>> = HashMap::new();
        for map in catalogue.maps() {
            by_type.entry(map.record_type).or_default().push((map.selector, maps.len()));
            maps.push(MapPlan::compile(catalogue, map, index));
        }
        for selectors in by_type.values_mut() {
            selectors.sort_by_key(|&(selector, _)| std::cmp::Reverse(selector));
        }
        let regions = if names.iter().any(|name| name.starts_with("smf110")) {
            Regions::new(catalogue, options.code_page)
        } else {
            Regions::default()
        };
        let expander = Expander::compile(catalogue);
        Ok(Self { tables, maps, by_type, regions, expander, options })
    }

    /// What has to be remembered of CICS regions while the batches of one dump are decoded: see
    /// [`Decoder::decode_connected`]. At most `limit` bytes of records wait for a dictionary.
    #[must_use]
    pub fn regions(&self, limit: usize) -> Regions {
        self.regions.fresh(limit)
    }

    /// Expands the compressed records of a batch, behind its other bytes; what comes back goes to
    /// [`Regions::resolve`](crate::cics::Regions::resolve). Where more than `limit` bytes came of it, the records not
    /// looked at yet are taken out of the batch and returned.
    pub fn expand(&self, batch: &mut FrameBatch, limit: usize) -> (Expanded, Option<FrameBatch>) {
        self.expander.expand(batch, limit)
    }

    /// The map for a record: class before IFCID before subtype before type.
    fn map(&self, view: RecordView<'_>) -> Option<&MapPlan> {
        let maps = self.by_type.get(&view.record_type())?;
        maps.iter().find(|&&(selector, _)| view.matches(selector)).map(|&(_, index)| &self.maps[index])
    }

    /// Decodes a batch by itself. Where `keep` is given, records whose flag is false are left out altogether. CICS
    /// performance records need their dictionaries: see [`Decoder::decode_connected`].
    ///
    /// # Errors
    /// Only when a column of one batch outgrows what Arrow can address (2 GiB of text).
    pub fn decode(
        &self,
        batch: &FrameBatch,
        keep: Option<&[bool]>,
        source_id: &str,
    ) -> Result<DecodedBatch, ArrowError> {
        self.decode_connected(batch, keep, source_id, &Connections::default())
    }

    /// Decodes a batch, with what [`Regions`](crate::cics::Regions) found for it.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_connected(
        &self,
        batch: &FrameBatch,
        keep: Option<&[bool]>,
        source_id: &str,
        connections: &Connections,
    ) -> Result<DecodedBatch, ArrowError> {
        let source = Source { source_id, code_page: self.options.code_page, leap_seconds: self.options.leap_seconds };
        let mut decoded = DecodedBatch::default();
        let mut inventory = self
            .options
            .tables
            .as_ref()
            .is_none_or(|tables| tables.contains(INVENTORY))
            .then(Inventory::default)
            .filter(|_| !connections.released);
        let mut found = Located { rows: self.tables.iter().map(|_| Vec::new()).collect(), ..Located::default() };
        let more: Vec<Layout> =
            connections.layouts.iter().map(|layout| Layout::new(Arc::clone(&layout.section))).collect();
        let mut rows_of = vec![0_u64; more.len()];
        let mut keys = Vec::new();
        let mut expanded = BTreeMap::<u8, u64>::new();
        // A table that nobody asked for gets no rows, and that is no news.
        let all_tables = self.options.tables.is_none();
        let mut rowless = BTreeMap::<&str, u64>::new();
        for (index, frame) in batch.frames.iter().enumerate() {
            if keep.is_some_and(|keep| keep.get(index) == Some(&false)) {
                continue;
            }
            decoded.records += u64::from(!connections.released);
            let (base, plain) = connections.expanded.record(batch, index, frame);
            let view = RecordView(plain);
            let map = self.map(view);
            let end = match frame.kind {
                FrameKind::Spanned(segments) if connections.expanded.contains(index) || !is_compressed_db2(view) => {
                    beyond(view, map).map(|end| (end, segments))
                }
                _ => None,
            };
            if !connections.released {
                let bytes = match (end, map) {
                    (Some(_), _) => &mut decoded.incomplete_bytes,
                    (None, Some(_)) => &mut decoded.decoded_bytes,
                    (None, None) => &mut decoded.counted_bytes,
                };
                *bytes += frame.file_bytes;
            }
            if let Some(inventory) = &mut inventory {
                let written = RecordView(batch.record(frame));
                inventory.push(frame, written, source.code_page, map.is_some() && end.is_none(), source_id);
            }
            if let Some((end, segments)) = end {
                // A record that waited for its dictionary comes here twice.
                if !connections.released {
                    found.damage.push(segments_missing(frame, view, segments, end));
                }
                continue;
            }
            if connections.expanded.contains(index) {
                *expanded.entry(view.record_type()).or_default() += 1;
            } else if is_compressed_db2(view) {
                let why = connections.expanded.refused(index).unwrap_or("not expanded");
                found.damage.push(SectionDamage {
                    record_no: frame.record_no,
                    offset: frame.offset,
                    section: format!("smf{}", view.record_type()),
                    reason: Reason::Db2Compressed,
                    detail: format!("{} bytes of compressed data: {why}", plain.len().saturating_sub(28)),
                    repeats: 0,
                });
                continue;
            }
            let Some(map) = map.filter(|map| map.is_wanted()) else {
                continue;
            };
            let Ok(record) = u32::try_from(keys.len()) else {
                continue;
            };
            let connection = connections.of.get(&index);
            let described = match connection {
                Some(Connection::Layout(number)) => Described::As(*number),
                Some(Connection::Held) => Described::Held,
                Some(Connection::Lost(reason, detail)) => Described::Lost(*reason, detail),
                None => Described::Lost(Reason::DictionaryMissing, "the record was read without its dictionary"),
            };
            let place = RecordPlace {
                view,
                base,
                record,
                record_no: frame.record_no,
                offset: frame.offset,
                described,
                refused: connections.expanded.refused(index),
            };
            let before = (found.row_count, found.damage.len());
            let located = map.locate(&mut found, &place);
            let waits = matches!(place.described, Described::Held);
            if all_tables && !waits && before == (found.row_count, found.damage.len()) {
                *rowless.entry(map.name()).or_default() += 1;
            }
            let section = located.identified.and_then(|(start, len)| batch.data.get(start..start + len));
            let stop = located.connected.and_then(|(number, rows, last)| {
                rows_of[number] += rows;
                let at = last + connections.layouts.get(number)?.stop?;
                let clock = batch.data.get(at..at + 8)?.try_into().ok()?;
                source.leap_seconds.to_utc(u64::from_be_bytes(clock))
            });
            let hints = Hints { zone: connections.zones.get(&index).copied(), stop };
            let (mut read, inconsistent) = map.keys.read(view, section, hints, source.code_page, source.leap_seconds);
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
                let table = plan.decode(&batch.data, rows, &keys, &source, &more, &mut decoded.notes)?;
                decoded.tables.push((plan.section.name.clone(), table));
            }
        }
        if let Some(inventory) = inventory.filter(|_| decoded.records != 0) {
            let at = decoded.tables.partition_point(|(name, _)| name.as_str() < INVENTORY);
            decoded.tables.insert(at, (INVENTORY.into(), inventory.finish()?));
        }
        let unknown = connections.layouts.iter().zip(&rows_of).filter(|(_, rows)| **rows != 0);
        for (layout, &count) in unknown {
            let note = |field: &String| Note {
                kind: NoteKind::UnknownField,
                section: layout.section.name.clone(),
                field: Some(field.clone()),
                count,
                max_bytes: 0,
            };
            add_notes(&mut decoded.notes, &layout.unknown.iter().map(note).collect::<Vec<_>>());
        }
        let unmapped = found.unmapped.into_iter().map(|((section, id), count)| Note {
            kind: NoteKind::SectionUnmapped,
            section,
            field: Some(id.to_string()),
            count,
            max_bytes: 0,
        });
        add_notes(&mut decoded.notes, &unmapped.collect::<Vec<_>>());
        let rowless = rowless.into_iter().map(|(name, count)| Note {
            kind: NoteKind::RecordWithoutRows,
            section: name.into(),
            field: None,
            count,
            max_bytes: 0,
        });
        add_notes(&mut decoded.notes, &rowless.collect::<Vec<_>>());
        let expanded = expanded.into_iter().map(|(record_type, count)| Note {
            kind: NoteKind::Expanded,
            section: format!("smf{record_type}"),
            field: None,
            count,
            max_bytes: 0,
        });
        add_notes(&mut decoded.notes, &expanded.collect::<Vec<_>>());
        decoded.damage = found.damage;
        Ok(decoded)
    }
}

fn segments_missing(frame: &Frame, view: RecordView<'_>, segments: u16, end: usize) -> SectionDamage {
    SectionDamage {
        record_no: frame.record_no,
        offset: frame.offset,
        section: format!("smf{}", view.record_type()),
        reason: Reason::SegmentsMissing,
        detail: format!("{segments} segments make a record of {} bytes, whose sections reach to {end}", view.0.len()),
        repeats: 0,
    }
}
