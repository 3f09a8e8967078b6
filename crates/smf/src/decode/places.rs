//! Where the sections of records are, without their values: for whoever changes records in place.

use std::sync::Arc;

use crate::cics::{Connection, Connections};
use crate::layout::Section;
use crate::stream::FrameBatch;

use super::compressed::is_compressed_db2;
use super::locate::{Described, Located, RecordPlace};
use super::report::{Reason, SectionDamage};
use super::{Decoder, RecordView};

/// One entry of a section.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where it begins, in the batch's data.
    pub start: usize,
    /// Its bytes.
    pub len: usize,
    /// Its layout.
    pub section: Arc<Section>,
    /// Whether the last field is as long as the entry lets it be.
    pub open: bool,
}

/// Where the parts of a record are.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Index of the record in its batch.
    pub index: usize,
    /// Start and length of the record in plain form, in the batch's data.
    pub record: (usize, usize),
    /// The record map; `None` for a record without one.
    pub map: Option<String>,
    /// Length of the header: up to where the first section begins.
    pub header: usize,
    /// The entries of its sections.
    pub entries: Vec<Entry>,
    /// Start and length of the bytes that lead from entry to entry, in the batch's data.
    pub structure: Vec<(usize, usize)>,
    /// What could not be found.
    pub damage: Vec<SectionDamage>,
    /// Whether the record waits for its dictionary, and comes with a later batch.
    pub held: bool,
    /// Whether it is compressed and cannot be expanded.
    pub compressed: bool,
}

impl Decoder {
    /// Finds the sections of each record of a batch, with what [`Regions`](crate::cics::Regions) found for it.
    ///
    /// Records of the decoder's wanted tables only: it should be made for all.
    pub fn places(&self, batch: &FrameBatch, connections: &Connections, mut each: impl FnMut(&Places)) {
        let mut found = Located {
            rows: self.tables.iter().map(|_| Vec::new()).collect(),
            structure: Some(Vec::new()),
            ..Located::default()
        };
        for (index, frame) in batch.frames.iter().enumerate() {
            let (base, plain) = connections.expanded.record(batch, index, frame);
            let view = RecordView(plain);
            let mut places = Places { index, record: (base, plain.len()), ..Places::default() };
            let refused = connections.expanded.refused(index);
            if !connections.expanded.contains(index) && is_compressed_db2(view) {
                places.compressed = true;
                each(&places);
                continue;
            }
            let Some(map) = self.map(view) else {
                each(&places);
                continue;
            };
            places.map = Some(map.name().to_owned());
            let described = match connections.of.get(&index) {
                Some(Connection::Layout(number)) => Described::As(*number),
                Some(Connection::Held) => Described::Held,
                Some(Connection::Lost(reason, detail)) => Described::Lost(*reason, detail),
                None => Described::Lost(Reason::DictionaryMissing, "the record was read without its dictionary"),
            };
            places.held = matches!(described, Described::Held);
            let (record_no, offset) = (frame.record_no, frame.offset);
            let record = RecordPlace { view, base, record: 0, record_no, offset, described, refused };
            places.header = map.locate(&mut found, &record).first_section.min(plain.len());
            for (table, rows) in self.tables.iter().zip(&mut found.rows) {
                for row in rows.drain(..) {
                    let own = table.layout(row.variant);
                    let late = usize::from(row.variant).checked_sub(table.layouts());
                    let more = || late.and_then(|at| connections.layouts.get(at)).map(|one| &one.section);
                    let Some(section) = own.or_else(more) else { continue };
                    let section = Arc::clone(section);
                    places.entries.push(Entry { start: row.start, len: row.len as usize, section, open: table.open() });
                }
            }
            places.damage = std::mem::take(&mut found.damage);
            places.structure = found.structure.replace(Vec::new()).unwrap_or_default();
            if matches!(record.described, Described::As(_)) {
                let connectors = self.expander.connectors(view).map(|(start, len)| (base + start, len));
                places.structure.extend(connectors);
            }
            each(&places);
        }
    }
}
