//! Dictionaries by region while a dump is read, and records that wait for theirs.

use std::collections::HashMap;
use std::sync::Arc;

use crate::decode::{Expanded, Reason, RecordView, SectionDamage, header_offset};
use crate::forms::ebcdic::CodePage;
use crate::forms::tod_clock::{LeapSeconds, units_to_micros};
use crate::layout::Catalogue;
use crate::stream::{Frame, FrameBatch};

use super::connected::Connected;
use super::dictionary::Dictionary;
use super::places::{CICS, DICTIONARY, MONITORING, PERFORMANCE, Places, STATISTICS};

/// Bytes of records that may wait for their dictionary.
pub const HELD_BYTES: usize = 128 << 20;
/// Bytes of a batch of records that waited.
const RELEASED_BYTES: usize = 4 << 20;
/// Regions, systems and layouts remembered; a damaged dump could name any number of them.
const REMEMBERED: usize = 1000;
/// Dictionaries of its region that a record is tried with, so that many of both take no more than linear time.
const MOST_TRIED: u8 = 16;
/// Bytes that may follow the fields of a data record: CICS aligns, it does not pad.
const PADDING: usize = 8;

/// A region: system id and specific APPLID, as recorded.
type Region = ([u8; 4], Vec<u8>);

/// Which dictionary describes a record's data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Connection {
    /// The layout of that number in [`Connections::layouts`].
    Layout(usize),
    /// The record was kept until its dictionary comes.
    Held,
    /// There is none, or not the right one.
    Lost(Reason, String),
}

/// What [`Regions`] found for the records of one batch.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    pub(crate) layouts: Vec<Arc<Connected>>,
    /// By index of the record in its batch.
    pub(crate) of: HashMap<usize, Connection>,
    /// Local minus UTC, in microseconds, for records that do not tell it themselves.
    pub(crate) zones: HashMap<usize, i64>,
    /// Plain forms of the batch's compressed records.
    pub(crate) expanded: Expanded,
    /// Whether the batch holds records that waited: the inventory has them already.
    pub(crate) released: bool,
}

impl Connections {
    fn connect(&mut self, index: usize, layout: &Arc<Connected>) {
        let known = self.layouts.iter().position(|other| Arc::ptr_eq(other, layout));
        let number = known.unwrap_or_else(|| {
            self.layouts.push(Arc::clone(layout));
            self.layouts.len() - 1
        });
        self.of.insert(index, Connection::Layout(number));
    }
}

/// What [`Regions`] remember at a place in a dump: for a reader that goes on from there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The dictionary record that each region wrote last.
    pub dictionaries: Vec<Vec<u8>>,
    /// Local minus UTC of each system, in microseconds.
    pub zones: Vec<([u8; 4], i64)>,
}

/// A record that waits.
#[derive(Debug)]
struct Held {
    /// Dictionaries that were not its own.
    tried: u8,
    frame: Frame,
    data: Vec<u8>,
    reason: Reason,
    detail: String,
}

/// The dictionary that a region wrote last.
#[derive(Debug)]
struct Current {
    serial: u64,
    dictionary: Dictionary,
    /// The record that it was read from.
    record: Vec<u8>,
}

/// Dictionaries by region, in the order of the dump.
///
/// Batches have to come in file order, every one once. Memory is bounded: only so many bytes of records wait, and those
/// beyond are given up at once.
#[derive(Debug, Default)]
pub struct Regions {
    places: Option<Places>,
    page: CodePage,
    limit: usize,
    dictionaries: HashMap<Region, Current>,
    serial: u64,
    layouts: HashMap<(u64, Vec<u16>), Result<Arc<Connected>, String>>,
    zones: HashMap<[u8; 4], i64>,
    held: HashMap<Region, Vec<Held>>,
    held_bytes: usize,
    /// Records that waited and were given up.
    lost: Vec<SectionDamage>,
}

impl Regions {
    /// By the layouts of a catalogue; nothing remembered yet, and nothing kept.
    pub(crate) fn new(catalogue: &Catalogue, page: CodePage) -> Self {
        Self { places: Places::compile(catalogue), page, ..Self::default() }
    }

    /// The same with nothing remembered. `limit` bounds the bytes of records that wait.
    pub(crate) fn fresh(&self, limit: usize) -> Self {
        Self { places: self.places.clone(), page: self.page, limit, ..Self::default() }
    }

    /// Whether anything is remembered at all: whether CICS records are wanted.
    pub(crate) fn is_active(&self) -> bool {
        self.places.is_some()
    }

    /// Whether records wait for their dictionary.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// What is remembered; records that wait are not part of it.
    pub(crate) fn remembered(&self) -> Remembered {
        let mut dictionaries: Vec<_> = self.dictionaries.values().map(|current| current.record.clone()).collect();
        let mut zones: Vec<_> = self.zones.iter().map(|(&system, &zone)| (system, zone)).collect();
        dictionaries.sort_unstable();
        zones.sort_unstable();
        Remembered { dictionaries, zones }
    }

    /// Takes over what others remember.
    pub(crate) fn resume(&mut self, remembered: &Remembered) {
        let Some(places) = self.places.clone() else { return };
        for record in &remembered.dictionaries {
            let view = RecordView(record);
            if let Some((region, product)) = region(&places, view) {
                self.remember(&places, view, &region, product);
            }
        }
        self.zones.extend(remembered.zones.iter().copied());
    }

    /// Goes through a batch: dictionaries are remembered, data records connected or kept. Records whose flag in `keep`
    /// is false are not kept, but their dictionaries count. `expanded` are the plain forms of its compressed records, as
    /// [`Decoder::expand`](crate::decode::Decoder::expand) gave them. Returns what was found, and batches of records that
    /// had waited, if their dictionary is in this batch.
    pub fn resolve(
        &mut self,
        batch: &FrameBatch,
        expanded: Expanded,
        keep: Option<&[bool]>,
    ) -> (Connections, Vec<(FrameBatch, Connections)>) {
        let (mut found, mut released) = (Connections { expanded, ..Connections::default() }, Vec::new());
        let Some(places) = self.places.clone() else { return (found, released) };
        for (index, frame) in batch.frames.iter().enumerate() {
            let view = RecordView(found.expanded.record(batch, index, frame).1);
            match (view.record_type(), view.subtype()) {
                (70..=78, _) => self.learn_zone(view, rmf_zone(view)),
                (CICS, Some(STATISTICS)) => {
                    let zone = view.bytes(14).and_then(|system| self.zones.get(&system));
                    found.zones.extend(zone.map(|&zone| (index, zone)));
                }
                (CICS, Some(MONITORING)) => {
                    let Some((region, product)) = region(&places, view) else { continue };
                    match view.class() {
                        Some(DICTIONARY) if self.remember(&places, view, &region, product) => {
                            self.release(&places, &region, &mut released);
                        }
                        Some(PERFORMANCE) if keep.is_none_or(|keep| keep.get(index) != Some(&false)) => {
                            self.performance(&places, view, *frame, (region, product), index, &mut found);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        (found, released)
    }

    /// The records that still wait, as damage: no dictionary of theirs came.
    pub fn finish(&mut self) -> Vec<SectionDamage> {
        self.held_bytes = 0;
        let waiting: Vec<Held> = self.held.drain().flat_map(|(_, waiting)| waiting).collect();
        self.lost.extend(waiting.into_iter().map(|held| damage(self.places.as_ref(), held)));
        self.lost.sort_by_key(|damage| damage.record_no);
        self.lost()
    }

    /// Records that waited and were given up since the question was put last.
    pub fn lost(&mut self) -> Vec<SectionDamage> {
        std::mem::take(&mut self.lost)
    }

    /// Takes a dictionary record; says whether the region's dictionary is a new one.
    fn remember(&mut self, places: &Places, view: RecordView<'_>, region: &Region, product: (usize, usize)) -> bool {
        let Some((data, length)) = triplet(view, product, places.data) else { return false };
        let dictionary = Dictionary::read(&places.entries, data, length, self.page);
        let known = self.dictionaries.get(region);
        if dictionary.is_empty() || known.is_some_and(|known| known.dictionary == dictionary) {
            return false;
        }
        if self.dictionaries.len() >= REMEMBERED && known.is_none() {
            self.dictionaries.clear();
        }
        self.serial += 1;
        self.dictionaries.insert(region.clone(), Current { serial: self.serial, dictionary, record: view.0.to_vec() });
        true
    }

    /// Connects the records of a region that waited.
    fn release(&mut self, places: &Places, region: &Region, released: &mut Vec<(FrameBatch, Connections)>) {
        let mut waiting = Vec::new();
        for mut held in self.held.remove(region).unwrap_or_default() {
            let view = RecordView(&held.data);
            let product = self::region(places, view);
            let layout = product.and_then(|(_, product)| self.layout(places, view, region, product).ok());
            let Some(layout) = layout else {
                held.tried += 1;
                if held.tried < MOST_TRIED {
                    waiting.push(held);
                } else {
                    self.held_bytes -= held.data.len();
                    held.detail = format!("{}; nor do the next {MOST_TRIED} dictionaries describe it", held.detail);
                    self.lost.push(damage(Some(places), held));
                }
                continue;
            };
            self.held_bytes -= held.data.len();
            if released.last().is_none_or(|(batch, _)| batch.data.len() > RELEASED_BYTES) {
                released.push((FrameBatch::default(), Connections { released: true, ..Connections::default() }));
            }
            if let Some((batch, connections)) = released.last_mut() {
                connections.connect(batch.frames.len(), &layout);
                batch.frames.push(Frame { start: batch.data.len(), len: held.data.len(), ..held.frame });
                batch.data.extend_from_slice(&held.data);
            }
        }
        if !waiting.is_empty() {
            self.held.insert(region.clone(), waiting);
        }
    }

    fn performance(
        &mut self,
        places: &Places,
        view: RecordView<'_>,
        frame: Frame,
        (region, product): (Region, (usize, usize)),
        index: usize,
        found: &mut Connections,
    ) {
        if places.compressed_data(view).is_some() {
            return; // could not be expanded; decoding says so
        }
        match self.layout(places, view, &region, product) {
            Ok(layout) => {
                found.connect(index, &layout);
                self.learn_zone(view, stop_zone(places, view, product, &layout));
            }
            Err((reason, detail)) if self.held_bytes + view.0.len() > self.limit => {
                let detail = format!("{detail}; {} bytes of such records wait already", self.held_bytes);
                found.of.insert(index, Connection::Lost(reason, detail));
            }
            Err((reason, detail)) => {
                self.held_bytes += view.0.len();
                let held = Held { tried: 0, frame, data: view.0.to_vec(), reason, detail };
                self.held.entry(region).or_default().push(held);
                found.of.insert(index, Connection::Held);
            }
        }
    }

    /// The layout of a record's data by the dictionary that its region wrote last.
    fn layout(
        &mut self,
        places: &Places,
        view: RecordView<'_>,
        region: &Region,
        product: (usize, usize),
    ) -> Result<Arc<Connected>, (Reason, String)> {
        let name = || self.page.decode(&region.1);
        let Some(current) = self.dictionaries.get(region) else {
            return Err((Reason::DictionaryMissing, format!("no dictionary of region {} came before", name())));
        };
        let mismatch = |what: String| (Reason::DictionaryMismatch, format!("region {}: {what}", name()));
        let Some((connectors, 2)) = triplet(view, product, places.connectors) else {
            return Err(mismatch("no field connectors of two bytes".into()));
        };
        let connectors: Vec<u16> = connectors.chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]])).collect();
        let Some((_, length)) = triplet(view, product, places.data) else {
            return Err(mismatch("the data lies outside the record".into()));
        };
        if self.layouts.len() >= REMEMBERED {
            self.layouts.clear();
        }
        let key = (current.serial, connectors);
        let layout = match self.layouts.get(&key) {
            Some(layout) => layout.clone(),
            None => {
                let layout = Connected::new(&places.known, &current.dictionary, &key.1).map(Arc::new);
                self.layouts.insert(key, layout.clone());
                layout
            }
        };
        let layout = layout.map_err(mismatch)?;
        if layout.length > length || length - layout.length >= PADDING {
            return Err(mismatch(format!("its fields take {} bytes, the data records {length}", layout.length)));
        }
        Ok(layout)
    }

    fn learn_zone(&mut self, view: RecordView<'_>, zone: Option<i64>) {
        if let (Some(system), Some(zone)) = (view.bytes::<4>(14), zone) {
            if self.zones.len() >= REMEMBERED {
                self.zones.clear();
            }
            self.zones.insert(system, zone);
        }
    }
}

/// A record that waited in vain.
fn damage(places: Option<&Places>, held: Held) -> SectionDamage {
    SectionDamage {
        record_no: held.frame.record_no,
        offset: held.frame.offset,
        section: places.map_or(String::new(), |places| places.known.name.clone()),
        reason: held.reason,
        detail: held.detail,
        repeats: 0,
    }
}

/// The region that wrote a record, and start and length of its product section.
fn region(places: &Places, view: RecordView<'_>) -> Option<(Region, (usize, usize))> {
    let (start, len) = places.product(view)?;
    let (at, length) = places.applid;
    let applid = view.0.get(start..start + len)?.get(at..at + length)?;
    Some(((view.bytes(14)?, applid.to_vec()), (start, len)))
}

/// The bytes behind a triplet of the product section, and the length of one entry.
fn triplet(view: RecordView<'_>, (start, len): (usize, usize), at: usize) -> Option<(&[u8], usize)> {
    if at + 8 > len {
        return None;
    }
    let offset = view.u32(start + at)? as usize;
    let (length, count) = (usize::from(view.u16(start + at + 4)?), usize::from(view.u16(start + at + 6)?));
    let bytes = view.0.get(offset..)?.get(..length * count)?;
    (length != 0 && count != 0).then_some((bytes, length))
}

/// Local minus UTC as an RMF record has it.
fn rmf_zone(view: RecordView<'_>) -> Option<i64> {
    let product = view.u32(28).filter(|&offset| offset != 0)? as usize;
    let zone = units_to_micros(i64::from_be_bytes(view.bytes(product.checked_add(60)?)?));
    (zone % 900_000_000 == 0 && zone.abs() <= 50_400_000_000).then_some(zone)
}

/// Local minus UTC from the header's local time and the end of the last task, shortly before.
fn stop_zone(places: &Places, view: RecordView<'_>, product: (usize, usize), layout: &Connected) -> Option<i64> {
    let (data, length) = triplet(view, product, places.data)?;
    let last = data.len().checked_sub(length)? + layout.stop?;
    let clock = u64::from_be_bytes(data.get(last..last + 8)?.try_into().ok()?);
    // Leap seconds are too few to change a quarter of an hour.
    header_offset(view, LeapSeconds::Absent.to_utc(clock))
}
