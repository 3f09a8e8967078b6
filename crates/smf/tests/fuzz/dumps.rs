//! The dumps that are damaged: some records each, of every record map, in every form.

use std::path::PathBuf;

use plexlens_smf::forms::csrcesrv;
use plexlens_smf::layout::{Catalogue, RecordMap, Rule};
use plexlens_smf::stream::{Form, FrameKind, ReadOptions, SmfReader};
use std::collections::BTreeMap;
use std::io::Cursor;

use super::dump;
use super::records::{self, Random};

/// Most bytes of a dump.
const MOST_BYTES: usize = 24_000;

/// A record that lies in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub start: usize,
    pub end: usize,
}

/// A dump before it is damaged.
pub struct Original {
    pub bytes: Vec<u8>,
    pub form: Form,
    /// Records that lie in one piece and belong to no other.
    pub units: Vec<Unit>,
    /// What each of them holds.
    pub contents: Vec<Vec<u8>>,
}

impl Original {
    /// The dump, read as its form has it.
    pub fn new(bytes: Vec<u8>, form: Form) -> Self {
        let options = ReadOptions { form: Some(form), join_broken_records: false, ..ReadOptions::default() };
        let (found, _) = dump::read_bytes(&bytes, &options);
        let mut original = Self { bytes, form, units: Vec::new(), contents: Vec::new() };
        for record in found {
            let start = usize::try_from(record.offset).expect("a small dump");
            let words = match record.kind {
                FrameKind::Whole if form == Form::NoDescriptors => 0,
                FrameKind::Whole => 4,
                FrameKind::Spanned(segments) if form == Form::Rdw => 4 * usize::from(segments),
                // Block descriptor words lie between the segments.
                FrameKind::Spanned(_) | FrameKind::Joined(_) => continue,
            };
            original.units.push(Unit { start, end: start + words + record.contents.len() });
            original.contents.push(record.contents);
        }
        assert!(original.units.len() > 1, "a dump of {form} without records");
        original
    }
}

/// A record of a map with random section contents and triplets that say where they lie.
fn record_of(catalogue: &Catalogue, map: &RecordMap, random: &mut Random) -> Vec<u8> {
    let mut data = random.bytes(300);
    data[..14].copy_from_slice(&dump::logical(map.record_type, &dump::SYS1, 4_000_000, &[]));
    for entry in map.entries.iter().filter(|entry| matches!(entry.rule, Rule::Product | Rule::Entries)) {
        let (Some(triplet), Some(section)) = (catalogue.triplet(map, entry), catalogue.section(&entry.layout)) else {
            continue;
        };
        let length = section.fields.iter().map(|field| field.offset + field.length).max().unwrap_or(4);
        let count = 1 + random.below(3) as usize;
        // Positions count from the descriptor word, which comes in front later.
        let (start, at) = (data.len() + 4, triplet.offset - 4);
        if at + 8 > 300 {
            continue;
        }
        data.extend(random.bytes(length * count));
        data[at..at + 4].copy_from_slice(&u32::try_from(start).unwrap_or(0).to_be_bytes());
        data[at + 4..at + 6].copy_from_slice(&u16::try_from(length).unwrap_or(0).to_be_bytes());
        data[at + 6..at + 8].copy_from_slice(&u16::try_from(count).unwrap_or(0).to_be_bytes());
    }
    data
}

/// A record of a map as it is written: all sections, dictionaries before what they describe or after, and half of what
/// CICS and Db2 write compressed. Without descriptor words.
fn written(catalogue: &Catalogue, map: &RecordMap, random: &mut Random) -> Vec<Vec<u8>> {
    let made = records::made::make(catalogue, map, random.next());
    let mut written = records::made::encode(catalogue, map, &made).expect("its own layouts");
    if random.below(2) == 0 {
        written.reverse();
    }
    let packed = |record: Vec<u8>| {
        let header = match (record[5], random.below(2)) {
            (100..=102, 0) => Some(28),
            (110, 0) if record[23] == 1 => Some(number_at(&record, 36) as usize),
            _ => None,
        };
        let record = header.map_or_else(|| record.clone(), |header| compressed(&record, header));
        record[4..].to_vec()
    };
    written.into_iter().map(packed).collect()
}

fn number_at(record: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

/// The record compressed behind its header, and marked so.
fn compressed(record: &[u8], header: usize) -> Vec<u8> {
    let data = csrcesrv::compress(&record[header..]);
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes();
    let mut out = record[..header].to_vec();
    if record[5] == 110 {
        let mark = number_at(record, 28) as usize + 58;
        out[mark..mark + 2].copy_from_slice(&length);
    } else {
        out[24..28].copy_from_slice(&[0x80, 0, length[0], length[1]]);
    }
    out.extend(data);
    let total = u16::try_from(out.len()).unwrap_or(u16::MAX).to_be_bytes();
    out[..2].copy_from_slice(&total);
    out
}

/// Where a record is cut into segments: long ones, and a quarter of the others. The header is in the first segment.
fn cuts(length: usize, random: &mut Random) -> Vec<usize> {
    if length <= 32_000 && random.below(4) != 0 {
        return Vec::new();
    }
    let within = |random: &mut Random| 14 + random.below((length - 14) as u64) as usize;
    (0..2).map(|_| within(random)).chain((1..).map(|n| n * 30_000).take(4)).collect()
}

/// Whether a record without descriptor word is read by itself.
fn tells_length(record: &[u8]) -> bool {
    let twice = [record, record].concat();
    let reader = SmfReader::from_reader("bare", Cursor::new(twice), &ReadOptions::default());
    reader.is_ok_and(|reader| reader.summary().form == Form::NoDescriptors)
}

/// Dumps that together have records of every map, by the form of each.
pub fn all(catalogue: &Catalogue, random: &mut Random) -> Vec<Original> {
    let mut out = made(catalogue, random);
    out.extend(real().into_iter().map(|bytes| Original::new(bytes, Form::Bdw)));
    out
}

/// Dumps of records of every map, in every form, without anything of a real one.
pub fn made(catalogue: &Catalogue, random: &mut Random) -> Vec<Original> {
    let mut logical: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut maps: BTreeMap<u64, &RecordMap> = catalogue.maps().map(|map| (random.next(), &**map)).collect();
    while let Some((_, map)) = maps.pop_first() {
        let mut made = written(catalogue, map, random);
        made.push(record_of(catalogue, map, random));
        // A type without layouts.
        made.push(dump::logical(200, &dump::PRD2, 5_000_000, &random.bytes(40)));
        let size = |records: &[Vec<u8>]| records.iter().map(|record| record.len() + 4).sum::<usize>();
        match logical.last_mut().filter(|last| size(last) + size(&made) < MOST_BYTES) {
            Some(last) => last.extend(made),
            None => logical.push(made),
        }
    }
    let mut out = Vec::new();
    for (number, records) in logical.iter().enumerate() {
        let segments: Vec<Vec<u8>> =
            records.iter().flat_map(|record| dump::segments(record, &cuts(record.len(), random))).collect();
        out.push(match number % 4 {
            0 | 1 => Original::new(segments.concat(), Form::Rdw),
            2 => Original::new(dump::blocked(&segments, 32_760, false), Form::Bdw),
            _ => Original::new(dump::blocked(&segments, 60_000, true), Form::Bdw),
        });
    }
    // Records whose triplets tell the length, without descriptor words.
    let told = |record: &&Vec<u8>| tells_length(record);
    let bare: Vec<&Vec<u8>> = logical.iter().flatten().filter(told).collect();
    for part in bare.chunks(6).take(8).filter(|part| part.len() > 1) {
        out.push(Original::new(part.iter().flat_map(|record| record.iter().copied()).collect(), Form::NoDescriptors));
    }
    out
}

/// The real dumps beside the checkout, where there are any, cut to a size that many copies can be made of.
fn real() -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("PLEXLENS_SHARED_DATA").map_or(root, PathBuf::from);
    ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"]
        .iter()
        .filter_map(|name| std::fs::read(folder.join("mq").join(name)).ok())
        .map(|mut bytes| {
            bytes.truncate(MOST_BYTES);
            bytes
        })
        .collect()
}
