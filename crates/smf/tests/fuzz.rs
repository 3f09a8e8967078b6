//! Damaged dumps, for a stated time: no panic, no hang, memory bounded, nothing outside the file reported.
//!
//! `PLEXLENS_FUZZ_SECONDS` and `PLEXLENS_FUZZ_COPIES` say when to stop (whichever comes first); without them a few
//! seconds. `PLEXLENS_FUZZ_SEED` repeats a run. A failing copy is written to the temporary folder and named.

mod dump;
mod records;

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use plexlens_smf::cics::HELD_BYTES;
use plexlens_smf::decode::{DecodeOptions, Decoder, EXPANDED_BYTES};
use plexlens_smf::forms::csrcesrv;
use plexlens_smf::layout::{Catalogue, RecordMap, Rule};
use plexlens_smf::stream::{DamageReason, FrameKind, ReadOptions, SmfReader};

/// Copies are small: one that takes longer than this hangs.
const HANG: Duration = Duration::from_secs(20);

/// Resident memory that decoding copies of at most a few hundred KiB has to stay below.
const MEMORY_KIB: u64 = 1 << 20;

/// xorshift64*: enough to choose where to hit, and repeatable.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { usize::try_from(self.next() % limit as u64).unwrap_or(0) }
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_be_bytes()[0]).collect()
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn catalogue() -> Catalogue {
    Catalogue::from_folders(&[root().join("layouts")]).expect("the layouts of the repository are valid")
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
        let count = 1 + random.below(3);
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

/// A dump with a record of every map, long ones in segments.
fn made_dump(catalogue: &Catalogue, random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for map in catalogue.maps() {
        let record = record_of(catalogue, map, random);
        let cuts: Vec<usize> = if record.len() > 2000 || random.below(4) == 0 {
            (0..3).map(|_| random.below(record.len())).chain((1..).map(|n| n * 30_000).take(4)).collect()
        } else {
            Vec::new()
        };
        out.extend(dump::segments(&record, &cuts).concat());
    }
    out
}

/// A dump with a record of every map as it is written: all sections, dictionaries before what they describe or after,
/// and half of what CICS and Db2 write compressed.
fn written_dump(catalogue: &Catalogue, random: &mut Random) -> Vec<u8> {
    let mut all = Vec::new();
    for map in catalogue.maps() {
        let made = records::made::make(catalogue, map, random.next());
        let mut written = records::made::encode(catalogue, map, &made).expect("its own layouts");
        if random.below(2) == 0 {
            written.reverse();
        }
        for record in written {
            let header = match (record[5], random.below(2)) {
                (100..=102, 0) => Some(28),
                (110, 0) if record[23] == 1 => Some(number_at(&record, 36) as usize),
                _ => None,
            };
            all.push(header.map_or_else(|| record.clone(), |header| compressed(&record, header)));
        }
    }
    let mut out = Vec::new();
    for record in all {
        let cuts = if random.below(4) == 0 { vec![random.below(record.len() - 4)] } else { Vec::new() };
        out.extend(dump::segments(&record[4..], &cuts).concat());
    }
    out
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

/// The real dumps beside the checkout, where there are any, cut to a size that many copies can be made of.
fn real_dumps() -> Vec<Vec<u8>> {
    let folder = std::env::var_os("PLEXLENS_SHARED_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from);
    ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"]
        .iter()
        .filter_map(|name| std::fs::read(folder.join("mq").join(name)).ok())
        .map(|mut bytes| {
            bytes.truncate(150_000);
            bytes
        })
        .collect()
}

/// Hits a copy in one to twenty places: flipped bits, wild lengths, cuts, insertions, repeats, zeroed ranges.
fn damage(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=random.below(20) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next().to_be_bytes()[0],
            2 => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                bytes[at..end].fill(if random.below(2) == 0 { 0 } else { 0xff });
            }
            3 => bytes.truncate(at),
            4 => {
                let length = random.below(40);
                let wild = random.bytes(length);
                bytes.splice(at..at, wild);
            }
            5 => {
                let end = (at + random.below(3000)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let end = (at + random.below(3000)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                // Where a length, count or offset is likely to stand: the first bytes of a record or its triplets.
                let at = at & !1;
                let wild = [0_u16, 1, 3, 4, 0x7fff, 0x8000, 0xffff][random.below(7)].to_be_bytes();
                for (offset, byte) in wild.into_iter().enumerate() {
                    if let Some(place) = bytes.get_mut(at + offset) {
                        *place = byte;
                    }
                }
            }
        }
    }
    bytes
}

/// What one copy gave: records, pieces of damage, rows by table.
type Found = (u64, u64, Vec<(String, usize)>);

/// Reads and decodes one copy; returns what it found, for comparison.
fn decode(decoder: &Decoder, bytes: &[u8], batch_bytes: usize) -> Result<Found, String> {
    let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
    let size = bytes.len() as u64;
    let mut reader = match SmfReader::from_reader("copy", Cursor::new(bytes.to_vec()), &options) {
        Ok(reader) => reader,
        // Refusing what no longer looks like a dump is an answer, too.
        Err(error) => {
            return if error.to_string().len() > 20 { Ok((0, 0, Vec::new())) } else { Err(error.to_string()) };
        }
    };
    let (mut records, mut rows) = (0, std::collections::BTreeMap::<String, usize>::new());
    let mut last = 0;
    let mut regions = decoder.regions(HELD_BYTES);
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => {
                for frame in &batch.frames {
                    if frame.offset >= size {
                        return Err(format!("record {} begins at {} of {size}", frame.record_no, frame.offset));
                    }
                    // Parts of a broken record are joined late; all others come in order, each once.
                    if matches!(frame.kind, FrameKind::Whole) && !is_rmf(batch.record(frame)) {
                        if frame.record_no <= last {
                            return Err(format!("record {} comes after record {last}", frame.record_no));
                        }
                        last = frame.record_no;
                    }
                }
                let mut waiting = Some(batch);
                while let Some(mut batch) = waiting.take() {
                    let (expanded, rest) = decoder.expand(&mut batch, EXPANDED_BYTES);
                    waiting = rest;
                    let (connections, mut parts) = regions.resolve(&batch, expanded, None);
                    parts.push((batch, connections));
                    for (batch, connections) in parts {
                        let decoded = decoder
                            .decode_connected(&batch, None, "copy", &connections)
                            .map_err(|error| error.to_string())?;
                        records += decoded.records;
                        for (name, table) in &decoded.tables {
                            *rows.entry(name.clone()).or_default() += table.num_rows();
                        }
                    }
                }
            }
            Ok(None) => {
                let left = reader.summary().unaccounted_bytes();
                let gap = reader.summary().damage.count(DamageReason::UnaccountedBytes);
                if left != 0 || gap != 0 {
                    return Err(format!("bytes do not add up: {:?}", reader.summary()));
                }
                if rows.get("smf_record").copied().unwrap_or(0) as u64 != records {
                    return Err(format!("{records} records, and {rows:?} in the inventory"));
                }
                break;
            }
            Err(_) => break,
        }
    }
    for item in reader.summary().damage.entries() {
        if item.offset > size {
            return Err(format!("damage at {} of {size}", item.offset));
        }
    }
    Ok((records, reader.summary().damage.total(), rows.into_iter().collect()))
}

fn is_rmf(record: &[u8]) -> bool {
    (70..=79).contains(&record[5])
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find(|line| line.starts_with("VmHWM"))?.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn damaged_dumps_do_no_harm() {
    let seconds = Duration::from_secs(number("PLEXLENS_FUZZ_SECONDS", 3));
    let wanted = number("PLEXLENS_FUZZ_COPIES", u64::MAX);
    let seed = number("PLEXLENS_FUZZ_SEED", 0x9E37_79B9_7F4A_7C15);
    let catalogue = catalogue();
    let decoder = Decoder::new(&catalogue, DecodeOptions::default()).expect("all tables are known");
    let mut random = Random(seed);
    let mut originals = real_dumps();
    originals.extend((0..3).map(|_| made_dump(&catalogue, &mut random)));
    let written = originals.len();
    originals.extend((0..3).map(|_| written_dump(&catalogue, &mut random)));

    // The originals themselves are read, or the copies of them prove little.
    for original in &originals {
        let (records, _, rows) = decode(&decoder, original, 1 << 20).expect("an original decodes");
        assert!(records > 2 && rows.len() > 1, "an original gave {records} records and {} tables", rows.len());
    }
    for original in &originals[written..] {
        let (_, _, rows) = decode(&decoder, original, 1 << 20).expect("an original decodes");
        let tables: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        for table in ["smf110_1_performance", "smf110_1_dictionary", "smf101_ifcid3_qwac", "smf30_accounting"] {
            assert!(tables.contains(&table), "no {table} in {tables:?}");
        }
    }

    let (copies, harmed) = (AtomicU64::new(0), Mutex::new(Vec::<String>::new()));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            let (copies, harmed, originals, decoder) = (&copies, &harmed, &originals, &decoder);
            scope.spawn(move || {
                let mut random = Random(seed ^ (thread as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95));
                while started.elapsed() < seconds && copies.fetch_add(1, Ordering::Relaxed) < wanted {
                    let copy = damage(&originals[random.below(originals.len())], &mut random);
                    let begun = Instant::now();
                    let answer = std::panic::catch_unwind(|| {
                        let found = decode(decoder, &copy, 1 << 20)?;
                        // Where batches end must change nothing.
                        if found.0 % 64 == 1 && decode(decoder, &copy, 1 << 12)? != found {
                            return Err("smaller batches give another answer".to_owned());
                        }
                        Ok(found)
                    });
                    let wrong = match answer {
                        Ok(Ok(_)) if begun.elapsed() < HANG => continue,
                        Ok(Ok(_)) => format!("took {:?}", begun.elapsed()),
                        Ok(Err(wrong)) => wrong,
                        Err(_) => "panic".to_owned(),
                    };
                    let place = std::env::temp_dir().join(format!("plexlens-fuzz-{seed:x}-{}.smf", random.next()));
                    let _ = std::fs::write(&place, &copy);
                    harmed.lock().unwrap().push(format!("{}: {wrong}", place.display()));
                }
            });
        }
    });
    let made = copies.load(Ordering::Relaxed).min(wanted);
    println!("fuzz: {made} damaged copies of {} dumps in {:.0?}, seed {seed:#x}", originals.len(), started.elapsed());
    assert!(made > 100, "only {made} copies in {seconds:?}");
    let harmed = harmed.into_inner().unwrap();
    assert!(harmed.is_empty(), "{} of {made} copies did harm:\n{}", harmed.len(), harmed.join("\n"));
    if let Some(peak) = peak_kib() {
        assert!(peak < MEMORY_KIB, "memory rose to {peak} KiB");
    }
}
