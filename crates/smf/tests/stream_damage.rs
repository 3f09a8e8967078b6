//! Damage loses what it hits, names it, and nothing else.

mod dump;

use dump::{PRD2, Read1, SYS1, blocked, logical, read_all, read_bytes, record, segments};
use plexlens_smf::stream::{
    Compression, DamageReason, Form, FrameKind, ReadOptions, SmfReader, StreamError, StreamSummary,
};
use proptest::prelude::*;
use std::io::{Cursor, Read, Write};

fn options() -> ReadOptions {
    ReadOptions { batch_bytes: 700, ..ReadOptions::default() }
}

/// Twenty records of types 30 and 101 of 58 bytes each: record n (from 1) begins at 58 * (n - 1).
fn plain() -> Vec<Vec<u8>> {
    (0..20_u8).map(|number| record(if number % 2 == 0 { 30 } else { 101 }, &SYS1, 100, &[number; 40])).collect()
}

fn numbers(records: &[Read1]) -> Vec<u64> {
    records.iter().map(|record| record.record_no).collect()
}

/// The one damage that is expected: reason, record, offset, bytes.
fn only(summary: &StreamSummary) -> (DamageReason, u64, u64, u64) {
    let [damage] = summary.damage.entries() else { panic!("{:#?}", summary.damage) };
    assert!(!damage.detail.is_empty() && !damage.reason.remedy().is_empty());
    (damage.reason, damage.record_no, damage.offset, damage.skipped)
}

#[test]
fn a_descriptor_word_overwritten_loses_one_record() {
    let mut file = plain().concat();
    file[58 * 4..58 * 4 + 4].copy_from_slice(&[0xff; 4]);
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(numbers(&records), (1..=20).filter(|&number| number != 5).collect::<Vec<_>>());
    assert_eq!(only(&summary), (DamageReason::UnreadableRange, 5, 232, 58));
}

/// Record 5 says 116 bytes instead of 58, and so swallows record 6: its end is the start of record 7, which bears it
/// out. Nothing contradicts it, so record 6 is within record 5: the stream cannot know better.
/// With 100 bytes it ends in the middle of record 6, which begins inside it: that is a wrong length.
#[test]
fn a_length_too_long_loses_one_record() {
    let mut file = plain().concat();
    file[58 * 4 + 1] = 100;
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(numbers(&records), (1..=20).filter(|&number| number != 5).collect::<Vec<_>>());
    assert_eq!(only(&summary), (DamageReason::WrongLength, 5, 232, 58));
}

/// A length too short leaves the rest of the record as an unreadable range, which the damage names.
#[test]
fn a_length_too_short_is_named() {
    let mut file = plain().concat();
    file[58 * 4 + 1] = 30;
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(records.len(), 20);
    assert_eq!(only(&summary), (DamageReason::UnreadableRange, 6, 262, 28));
}

#[test]
fn bytes_missing_and_bytes_too_many() {
    let mut file = plain().concat();
    file.drain(58 * 4 + 20..58 * 4 + 30);
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(records.len(), 19);
    assert_eq!(only(&summary), (DamageReason::WrongLength, 5, 232, 48));
    let mut file = plain().concat();
    file.splice(58 * 5..58 * 5, [0xaa; 7]);
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(records.len(), 20);
    assert_eq!(only(&summary), (DamageReason::UnreadableRange, 6, 290, 7));
}

#[test]
fn zeros_between_and_behind() {
    let mut file = plain().concat();
    file.splice(58 * 5..58 * 5, [0; 4096]);
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(records.len(), 20);
    assert_eq!(only(&summary), (DamageReason::ZeroFilledRange, 6, 290, 4096));
    let mut file = plain().concat();
    file.extend([0; 5000]);
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(records.len(), 20);
    assert_eq!(only(&summary), (DamageReason::ZeroPadding, 21, 1160, 5000));
    assert_eq!(summary.damage.worst().map(|severity| severity.name()), Some("info"));
}

#[test]
fn a_header_that_is_none_is_kept_and_named() {
    let mut file = plain().concat();
    file[58 * 4 + 10..58 * 4 + 14].fill(0);
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(records.len(), 20);
    assert_eq!(only(&summary), (DamageReason::ImplausibleHeader, 5, 232, 0));
}

/// A spanned record of three segments between two plain ones: 58 bytes, then segments of 104, 154 and 68 bytes (100,
/// 150 and 64 of data), then 58 bytes. The bounds are at 58, 162, 316, 384 and 442.
fn spanned() -> (Vec<Vec<u8>>, Vec<u8>) {
    let body = logical(116, &PRD2, 5, &[9; 300]);
    let mut pieces = vec![plain()[0].clone()];
    pieces.extend(segments(&body, &[100, 250]));
    pieces.push(plain()[1].clone());
    (pieces, body)
}

#[test]
fn a_cut_anywhere_is_named_with_record_and_offset() {
    let (pieces, body) = spanned();
    let file = pieces.concat();
    assert_eq!(file.len(), 442);
    for cut in 0..=file.len() {
        let result = SmfReader::from_reader("cut", Cursor::new(file[..cut].to_vec()), &options());
        match cut {
            0 => assert!(matches!(result, Err(StreamError::Empty { .. }))),
            // Less than a header: not even the kind of file can be told.
            1..18 => assert!(matches!(result, Err(StreamError::NoRecords { .. })), "{cut}: {result:?}"),
            _ => {
                let (records, summary) = read_bytes(&file[..cut], &options());
                let whole = [58, 384, 442].iter().filter(|&&end| end <= cut).count();
                assert_eq!(records.len(), whole, "cut at {cut}");
                if whole >= 2 {
                    assert_eq!(records[1].contents, body);
                    assert_eq!((records[1].offset, records[1].kind), (58, FrameKind::Spanned(3)));
                }
                match cut {
                    58 | 384 | 442 => assert!(summary.damage.is_empty(), "cut at {cut}: {:?}", summary.damage),
                    18..58 => {
                        assert_eq!(only(&summary), (DamageReason::CutRecord, 1, 0, cut as u64))
                    }
                    // Of a record of which less than the descriptor word is left it cannot be told that it is spanned.
                    59..62 => assert_eq!(only(&summary), (DamageReason::CutRecord, 2, 58, cut as u64 - 58)),
                    62..384 => {
                        let (reason, number, offset, _) = only(&summary);
                        assert_eq!((reason, number, offset), (DamageReason::CutSpannedRecord, 2, 58), "cut at {cut}");
                    }
                    _ => assert_eq!(only(&summary), (DamageReason::CutRecord, 3, 384, cut as u64 - 384)),
                }
                assert_eq!(accounted(&records, &summary), cut as u64, "cut at {cut}");
            }
        }
    }
}

#[test]
fn a_segment_missing_loses_its_record_alone() {
    let (pieces, _) = spanned();
    let without = |gone: &[usize]| -> Vec<u8> {
        pieces.iter().enumerate().filter(|(at, _)| !gone.contains(at)).flat_map(|(_, piece)| piece.clone()).collect()
    };
    let check = |gone: &[usize], expected| {
        let (records, summary) = read_bytes(&without(gone), &options());
        assert_eq!(numbers(&records), [1, 3], "{gone:?}");
        assert_eq!(only(&summary), expected, "{gone:?}");
    };
    // Without the first segment: middle and last stand alone.
    check(&[1], (DamageReason::SegmentWithoutFirst, 2, 58, 154 + 68));
    check(&[1, 2], (DamageReason::SegmentWithoutFirst, 2, 58, 68));
    check(&[1, 3], (DamageReason::SegmentWithoutFirst, 2, 58, 154));
    // Without the last one: another record follows.
    check(&[3], (DamageReason::UnfinishedSpannedRecord, 2, 58, 104 + 154));
    check(&[2, 3], (DamageReason::UnfinishedSpannedRecord, 2, 58, 104));
}

#[test]
fn a_first_segment_after_a_first_gives_up_the_former() {
    let (pieces, body) = spanned();
    let file = [&pieces[0], &pieces[1], &pieces[1], &pieces[2], &pieces[3]].map(Vec::clone).concat();
    let (records, summary) = read_bytes(&file, &options());
    assert_eq!(numbers(&records), [1, 3]);
    assert_eq!(records[1].contents, body);
    assert_eq!(only(&summary), (DamageReason::UnfinishedSpannedRecord, 2, 58, 104));
}

/// 40 MB of middle segments: the record is given up at its limit of 2 MiB, and the next one is found.
#[test]
fn a_spanned_record_without_end_takes_no_memory() {
    let body = logical(116, &PRD2, 5, &[9; 196]);
    let mut file = [plain()[0].clone(), segments(&body, &[100])[0].clone()].concat();
    for _ in 0..40_000 {
        file.extend([1004_u16.to_be_bytes(), [3, 0]].concat());
        file.extend([8; 1000]);
    }
    file.extend([0, 10, 2, 0, 1, 2, 3, 4, 5, 6]);
    file.extend(&plain()[1]);
    let mut reader = SmfReader::from_reader("long", Cursor::new(file), &options()).expect("opens");
    let mut seen = Vec::new();
    while let Some(batch) = reader.next_batch().expect("reads") {
        assert!(batch.data.capacity() <= 8 << 20, "a batch of {} bytes", batch.data.capacity());
        seen.extend(batch.frames.iter().map(|frame| frame.record_no));
    }
    assert_eq!(seen, [1, 3]);
    // 58 bytes of the first record, then 104 + 40,000 * 1,004 + 10 bytes of segments.
    assert_eq!(only(reader.summary()), (DamageReason::SpannedRecordTooLong, 2, 58, 40_160_114));
}

/// The same records again and again, up to a length.
struct Endless {
    pattern: Vec<u8>,
    left: usize,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = into.len().min(self.left).min(self.pattern.len() - self.at);
        into[..count].copy_from_slice(&self.pattern[self.at..self.at + count]);
        self.at = (self.at + count) % self.pattern.len();
        self.left -= count;
        Ok(count)
    }
}

#[test]
fn memory_stays_flat_however_long_the_file() {
    let pattern = [plain().concat(), numbered(60).concat().concat()].concat();
    let rounds = (128 << 20) / pattern.len();
    let input = Endless { left: rounds * pattern.len(), pattern, at: 0 };
    let options = ReadOptions { batch_bytes: 1 << 20, ..ReadOptions::default() };
    let mut reader = SmfReader::from_reader("endless", input, &options).expect("opens");
    let mut records = 0;
    while let Some(batch) = reader.next_batch().expect("reads") {
        records += batch.frames.len();
        assert!(batch.data.capacity() <= 2 << 20, "a batch of {} bytes", batch.data.capacity());
        reader.recycle(batch);
    }
    assert_eq!(records, rounds * 80);
    assert!(reader.summary().damage.is_empty());
}

#[test]
fn a_block_descriptor_overwritten_loses_nothing() {
    let file = blocked(&plain(), 300, false);
    // Blocks of 4 + 5 * 58 = 294 bytes: descriptor words at 0, 294, 588 and 882.
    for (at, value) in [(294, 0x40), (295, 0x11), (588, 0xff), (0, 0x77), (883, 0)] {
        let mut file = file.clone();
        file[at] = value;
        let (records, summary) = read_bytes(&file, &options());
        assert_eq!(records.len(), 20, "byte {at}: {:?}", summary.damage);
        assert_eq!(summary.form, Form::Bdw);
        assert!(!summary.damage.is_empty(), "byte {at}");
        assert!(summary.damage.skipped_bytes() <= 4, "byte {at}: {:?}", summary.damage);
    }
}

#[test]
fn damaged_compression_keeps_what_came_before() {
    let file: Vec<u8> = (0..200).flat_map(|_| plain().concat()).collect();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&file).expect("writes");
    let gz = packer.finish().expect("ends");
    let zst = zstd::encode_all(&file[..], 1).expect("packs");
    for (packed, compression) in [(gz, Compression::Gzip), (zst, Compression::Zstd)] {
        let cut = packed.len() - 9;
        let (records, summary) = read_bytes(&packed[..cut], &options());
        assert_eq!(summary.compression, compression);
        assert_eq!(summary.damage.count(DamageReason::DamagedCompression), 1, "{compression}");
        for record in &records {
            let at = (record.record_no as usize - 1) * 58;
            assert_eq!(record.contents, file[at + 4..at + 58]);
        }
    }
    // The checksum alone is wrong: every record is there.
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&file).expect("writes");
    let mut gz = packer.finish().expect("ends");
    let at = gz.len() - 6;
    gz[at] ^= 1;
    let (records, summary) = read_bytes(&gz, &options());
    assert_eq!(records.len(), 4000);
    let (reason, number, offset, _) = only(&summary);
    assert_eq!((reason, number, offset), (DamageReason::DamagedCompression, 4001, file.len() as u64));
}

/// Fails after its bytes.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(std::io::Error::other("medium error")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_medium_that_fails_is_an_error_after_what_could_be_read() {
    let input = Failing(Cursor::new(plain().concat()));
    let mut reader = SmfReader::from_reader("tape", input, &options()).expect("opens");
    let mut records = 0;
    let error = loop {
        match reader.next_batch() {
            Ok(Some(batch)) => records += batch.frames.len(),
            Ok(None) => panic!("the failure was passed over"),
            Err(error) => break error,
        }
    };
    // The last record is not borne out by a successor, which might still have come.
    assert_eq!(records, 19);
    assert!(error.to_string().starts_with("tape: byte 1160: medium error"), "{error}");
    assert!(reader.next_batch().expect("the error is told once").is_none());
}

#[test]
fn damage_beyond_the_limit_is_counted() {
    let mut file = plain().concat();
    for number in [2, 5, 8, 11] {
        file[58 * number..58 * number + 4].fill(0xff);
    }
    let (records, summary) = read_bytes(&file, &ReadOptions { max_damage_entries: 3, ..options() });
    assert_eq!(records.len(), 16);
    assert_eq!(summary.damage.entries().len(), 3);
    assert_eq!(summary.damage.count(DamageReason::UnreadableRange), 4);
    assert_eq!(summary.damage.skipped_bytes(), 4 * 58);
}

/// Bytes that records or damage account for, in a file without block descriptor words.
fn accounted(records: &[Read1], summary: &StreamSummary) -> u64 {
    taken(records) + summary.damage.skipped_bytes()
}

/// Bytes that records take in the file.
fn taken(records: &[Read1]) -> u64 {
    let taken = records.iter().map(|record| {
        let segments = match record.kind {
            FrameKind::Spanned(count) => u64::from(count),
            FrameKind::Whole | FrameKind::Joined(_) => 1,
        };
        record.contents.len() as u64 + 4 * segments
    });
    taken.sum()
}

/// After an unreadable range, the block that was in force is still known where the buffer ends in the next record.
#[test]
fn a_block_in_force_is_remembered_across_buffers() {
    let file = blocked(&numbered(40).concat(), 500, true);
    for hits in [
        [(0.854_580_137_788_168, 1), (0.882_615_194_725_962, 1)],
        [(0.606_825_046_931_612, 0), (0.590_021_188_319_419, 1)],
    ] {
        let mut damaged = file.clone();
        for (place, byte) in hits {
            damaged[(place * file.len() as f64) as usize] = byte;
        }
        let options = ReadOptions { form: Some(Form::Bdw), ..ReadOptions::default() };
        let (records, summary) = read_bytes(&damaged, &options);
        assert_eq!(summary.damage.count(DamageReason::UnreadableRange), 1, "{:#?}", summary.damage);
        for batch_bytes in 1..1500 {
            let (parts, part_summary) = read_bytes(&damaged, &ReadOptions { batch_bytes, ..options.clone() });
            assert_eq!(parts, records, "batches of {batch_bytes} bytes");
            assert_eq!(part_summary.damage, summary.damage, "batches of {batch_bytes} bytes");
        }
    }
}

#[derive(Debug, Clone)]
enum Change {
    Overwrite(Vec<u8>),
    Fill(usize, u8),
    Remove(usize),
    Insert(Vec<u8>),
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 1..80).prop_map(Change::Overwrite),
        (1..400_usize, prop_oneof![Just(0_u8), Just(0x40), Just(0xff)])
            .prop_map(|(count, byte)| Change::Fill(count, byte)),
        (1..400_usize).prop_map(Change::Remove),
        prop::collection::vec(any::<u8>(), 1..400).prop_map(Change::Insert),
    ]
}

/// Records of which each tells its number in its body; every third is spanned.
fn numbered(count: usize) -> Vec<Vec<Vec<u8>>> {
    (0..count)
        .map(|number| {
            let mut body = (number as u32).to_be_bytes().to_vec();
            body.resize(30 + number * 37 % 200, (number * 11) as u8);
            let system = if number % 5 == 0 { PRD2 } else { SYS1 };
            let contents = logical(100 + (number % 20) as u8, &system, 1000 * number as u32, &body);
            let cuts = if number % 3 == 0 { vec![20, 40] } else { vec![] };
            segments(&contents, &cuts)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_damage_does_not_hit_survives(
        change in changes(),
        place in 0.0..1.0_f64,
        in_blocks in any::<bool>(),
        batch_bytes in 1..3000_usize,
    ) {
        let records = numbered(60);
        let file = if in_blocks { blocked(&records.concat(), 500, false) } else { records.concat().concat() };
        // Where each segment lies: found by its bytes, in order.
        let mut at = 0;
        let lies: Vec<Vec<(usize, usize)>> = records
            .iter()
            .map(|pieces| {
                pieces
                    .iter()
                    .map(|piece| {
                        let start = at + file[at..].windows(piece.len()).position(|bytes| bytes == piece).expect("there");
                        at = start + piece.len();
                        (start, at)
                    })
                    .collect()
            })
            .collect();
        let from = (place * file.len() as f64) as usize;
        let mut damaged = file.clone();
        let to = match &change {
            Change::Overwrite(bytes) => {
                let to = (from + bytes.len()).min(file.len());
                damaged[from..to].copy_from_slice(&bytes[..to - from]);
                to
            }
            Change::Fill(count, byte) => {
                let to = (from + count).min(file.len());
                damaged[from..to].fill(*byte);
                to
            }
            Change::Remove(count) => {
                let to = (from + count).min(file.len());
                damaged.drain(from..to);
                to
            }
            Change::Insert(bytes) => {
                damaged.splice(from..from, bytes.iter().copied());
                from
            }
        };
        let form = Some(if in_blocks { Form::Bdw } else { Form::Rdw });
        let (read, summary) = read_bytes(&damaged, &ReadOptions { batch_bytes, form, ..ReadOptions::default() });
        // A record that was hit can have come to end exactly where a later one ends: by a change of its length, or
        // because bytes of it are missing. Nothing then shows that it swallowed what lies between.
        let grown = damaged.len() as i64 - file.len() as i64;
        let moved = |at: usize| if at >= to { (at as i64 + grown) as u64 } else { at as u64 };
        let ends: Vec<u64> = lies.concat().iter().map(|&(_, end)| moved(end)).collect();
        let swallowed = |start: u64| {
            read.iter().any(|record| {
                let last = record.offset + taken(std::slice::from_ref(record));
                // A block descriptor word can stand before each segment, and behind the last one.
                let words = if let FrameKind::Spanned(count) = record.kind { u64::from(count) } else { 1 };
                let lands = ends.iter().any(|end| end.abs_diff(last) <= 4 * words);
                record.offset < moved(to) && start < last + 4 * words && lands
            })
        };
        for (pieces, lies) in records.iter().zip(&lies) {
            let (start, end) = (lies[0].0, lies[lies.len() - 1].1);
            if end <= from || start >= to {
                let contents: Vec<u8> = pieces.iter().flat_map(|piece| piece[4..].to_vec()).collect();
                let survives = read.iter().any(|record| record.contents == contents);
                prop_assert!(
                    survives || (start >= to && swallowed(moved(start))),
                    "record at {start}..{end}, damage at {from}..{to}: {:#?}",
                    summary.damage
                );
            }
        }
        if in_blocks {
            prop_assert!(accounted(&read, &summary) <= damaged.len() as u64);
        } else {
            prop_assert_eq!(accounted(&read, &summary), damaged.len() as u64, "{:#?}", summary.damage);
        }
        prop_assert!(read.is_sorted_by_key(|record| record.record_no));
        prop_assert!(read.is_sorted_by_key(|record| record.offset));
    }

    #[test]
    fn no_bytes_make_it_panic_or_loop(
        bytes in prop::collection::vec(prop_oneof![4 => Just(0_u8), 2 => 0..4_u8, 1 => any::<u8>()], 0..3000),
        form in prop_oneof![Just(None), Just(Some(Form::Rdw)), Just(Some(Form::Bdw)), Just(Some(Form::NoDescriptors))],
        batch_bytes in 1..200_usize,
    ) {
        let options = ReadOptions { form, batch_bytes, max_record_bytes: 500, ..ReadOptions::default() };
        if let Ok(mut reader) = SmfReader::from_reader("noise", Cursor::new(bytes), &options) {
            let mut batches = 0;
            while reader.next_batch().expect("no error from memory").is_some() {
                batches += 1;
                prop_assert!(batches < 10_000);
            }
        }
    }

    #[test]
    fn damage_does_not_depend_on_chunks(
        hits in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 1..12),
        form in prop_oneof![Just(Form::Rdw), Just(Form::Bdw), Just(Form::NoDescriptors)],
        batch_bytes in 1..3000_usize,
    ) {
        let records = numbered(40);
        let mut file = match form {
            Form::Rdw => records.concat().concat(),
            Form::Bdw => blocked(&records.concat(), 500, true),
            // Each segment loses its descriptor word: what its record consists of is left.
            Form::NoDescriptors => records.concat().iter().flat_map(|segment| segment[4..].to_vec()).collect(),
        };
        for (place, byte) in hits {
            let at = (place * file.len() as f64) as usize;
            file[at] = byte;
        }
        let form = Some(form);
        let whole = read_bytes(&file, &ReadOptions { form, ..ReadOptions::default() });
        let parts = read_all(Cursor::new(file), &ReadOptions { form, batch_bytes, ..ReadOptions::default() });
        prop_assert_eq!(whole.0, parts.0);
        prop_assert_eq!(whole.1.damage, parts.1.damage);
    }
}
