//! CICS monitoring: dictionaries by region, records before and after them, and what does not fit.

mod dump;
mod records;

use std::io::Cursor;
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use plexlens_smf::cics::HELD_BYTES;
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder, EXPANDED_BYTES, Note, NoteKind, Reason, add_notes};
use plexlens_smf::stream::{FrameBatch, ReadOptions, SmfReader};
use proptest::prelude::*;
use records::Random;
use records::cics::{DATA, Field, PRODUCT, clock, compressed, dictionary, ebcdic, monitoring};

const TRAN: Field = ("DFHTASK", "C001", 4, "TRAN");
const TRANNUM: Field = ("DFHTASK", "P031", 4, "TRANNUM");
const STOP: Field = ("DFHCICS", "T006", 8, "STOP");
const DISPATCH: Field = ("DFHTASK", "S007", 12, "USRDISPT");
const GETS: Field = ("DFHFILE", "A036", 4, "FCGETCT");
const OWN: Field = ("MYGROUP", "A001", 4, "MYCOUNT");

/// A row of the performance table: record, section, transaction, dispatch seconds and count, file reads.
type Task = (u64, u32, Option<String>, Option<f64>, Option<u32>, Option<u32>);

/// What a dump gave.
#[derive(Debug, Default)]
struct Found {
    tasks: Vec<Task>,
    inventory: Vec<u64>,
    damage: Vec<(u64, Reason, String)>,
    notes: Vec<Note>,
    batches: Vec<RecordBatch>,
}

impl Found {
    fn add(&mut self, decoded: DecodedBatch) {
        add_notes(&mut self.notes, &decoded.notes);
        self.damage.extend(decoded.damage.into_iter().map(|one| (one.record_no, one.reason, one.detail)));
        for (name, batch) in decoded.tables {
            let numbers = batch.column_by_name("record_no").expect("key").as_primitive::<UInt64Type>().clone();
            if name == "smf_record" {
                self.inventory.extend(numbers.values());
            } else if name == "smf110_1_performance" {
                let column = |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("{name}"));
                let section = column("section_no").as_primitive::<UInt32Type>();
                let tran = column("tran").as_string::<i32>();
                let seconds = column("usrdispt_seconds").as_primitive::<Float64Type>();
                let count = column("usrdispt_count").as_primitive::<UInt32Type>();
                let gets = column("fcgetct").as_primitive::<UInt32Type>();
                self.tasks.extend((0..batch.num_rows()).map(|row| {
                    (
                        numbers.value(row),
                        section.value(row),
                        tran.is_valid(row).then(|| tran.value(row).to_owned()),
                        seconds.is_valid(row).then(|| seconds.value(row)),
                        count.is_valid(row).then(|| count.value(row)),
                        gets.is_valid(row).then(|| gets.value(row)),
                    )
                }));
                self.batches.push(batch);
            }
        }
    }

    fn reasons(&self) -> Vec<(u64, Reason)> {
        self.damage.iter().map(|(number, reason, _)| (*number, *reason)).collect()
    }

    fn notes(&self, kind: NoteKind) -> Vec<(&str, u64)> {
        let named = self.notes.iter().filter(|note| note.kind == kind);
        named.map(|note| (note.field.as_deref().unwrap_or(&note.section), note.count)).collect()
    }
}

fn decoder() -> &'static Decoder {
    static DECODER: LazyLock<Decoder> =
        LazyLock::new(|| Decoder::new(records::catalogue(), DecodeOptions::default()).expect("all tables"));
    &DECODER
}

/// Decodes batches as the pipeline does; `limit` bytes may wait.
fn decode_batches(decoder: &Decoder, batches: Vec<FrameBatch>, limit: usize) -> Found {
    let mut regions = decoder.regions(limit);
    let mut found = Found::default();
    for batch in batches {
        let mut rest = Some(batch);
        while let Some(mut batch) = rest.take() {
            let (expanded, later) = decoder.expand(&mut batch, EXPANDED_BYTES);
            rest = later;
            let (connections, released) = regions.resolve(&batch, expanded, None);
            for (batch, connections) in released {
                found.add(decoder.decode_connected(&batch, None, "s", &connections).expect("decodes"));
            }
            found.add(decoder.decode_connected(&batch, None, "s", &connections).expect("decodes"));
        }
    }
    found.damage.extend(regions.finish().into_iter().map(|one| (one.record_no, one.reason, one.detail)));
    found
}

/// Decodes records, so many to a batch, with their numbers in the whole.
fn decode(all: &[Vec<u8>], per_batch: usize) -> Found {
    let whole = records::batch(all);
    let batches = whole.frames.chunks(per_batch).map(|frames| {
        let mut batch = FrameBatch::default();
        for frame in frames {
            let start = batch.data.len();
            batch.data.extend_from_slice(whole.record(frame));
            batch.frames.push(plexlens_smf::stream::Frame { start, ..*frame });
        }
        batch
    });
    decode_batches(decoder(), batches.collect(), HELD_BYTES)
}

/// A task of the fields TRAN, USRDISPT, FCGETCT.
fn task(tran: &str, milliseconds: u64, periods: u32, gets: u32) -> Vec<u8> {
    let mut data = ebcdic(tran, 4);
    data.extend(clock(milliseconds * 4_096_000, periods));
    data.extend(gets.to_be_bytes());
    data
}

/// The row that [`task`] becomes.
fn row(record: u64, section: u32, tran: &str, milliseconds: u64, periods: u32, gets: u32) -> Task {
    (record, section, Some(tran.into()), Some(milliseconds as f64 / 1000.0), Some(periods), Some(gets))
}

const THREE: [Field; 3] = [TRAN, DISPATCH, GETS];

#[test]
fn connectors_say_which_fields_a_record_has_and_in_which_order() {
    let data = [task("ABCD", 1500, 7, 9), task("EFGH", 2, 1, 0)].concat();
    let reversed = [4_u32.to_be_bytes().to_vec(), ebcdic("WXYZ", 4)].concat();
    let found = decode(
        &[
            dictionary("SYS1", "CICSA", 11, &THREE),
            monitoring("SYS1", "CICSA", 3, &[11, 12, 13], 20, &data),
            monitoring("SYS1", "CICSA", 3, &[13, 11], 8, &reversed),
        ],
        9,
    );
    let last = (3, 1, Some("WXYZ".to_owned()), None, None, Some(4));
    assert_eq!(found.tasks, [row(2, 1, "ABCD", 1500, 7, 9), row(2, 2, "EFGH", 2, 1, 0), last]);
    assert_eq!(found.reasons(), []);
    assert_eq!(found.inventory, [1, 2, 3]);
}

#[test]
fn a_task_is_of_its_region_and_stops_on_the_utc_clock() {
    // 09:00:00.5 UTC, half a second before the record: 56 years from 1970, 14 leap days and 59 days; 70 years before.
    let utc: u64 = 20_513 * 86_400_000_000 + 32_399_500_000;
    let stck = (utc + 25_567 * 86_400_000_000) << 12;
    let data = [stck.to_be_bytes().to_vec(), vec![0x01, 0x23, 0x45, 0x6C]].concat();
    let found = decode(
        &[dictionary("SYS1", "CICSA", 1, &[STOP, TRANNUM]), monitoring("SYS1", "CICSA", 3, &[1, 2], 12, &data)],
        9,
    );
    let batch = &found.batches[0];
    let column = |name: &str| batch.column_by_name(name).expect("a column");
    assert_eq!(column("subsystem").as_string::<i32>().value(0), "CICSA");
    assert_eq!(column("stop").as_primitive::<TimestampMicrosecondType>().value(0), utc as i64);
    assert_eq!(column("interval_end").as_primitive::<TimestampMicrosecondType>().value(0), utc as i64);
    assert_eq!(column("utc_offset").as_primitive::<Float64Type>().value(0), 3600.0, "written at 10:00 local");
    assert_eq!(column("trannum").as_primitive::<Int64Type>().value(0), 123_456);
}

#[test]
fn every_region_of_every_system_has_its_own_dictionary() {
    let data = task("ABCD", 1, 2, 3);
    let found = decode(
        &[
            dictionary("SYS1", "CICSA", 1, &THREE),
            dictionary("SYS1", "CICSB", 1, &[GETS, TRAN]),
            dictionary("SYS2", "CICSA", 1, &[TRAN, GETS]),
            monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &data),
            monitoring("SYS1", "CICSB", 3, &[1, 2], 8, &[5_u32.to_be_bytes().to_vec(), ebcdic("B", 4)].concat()),
            monitoring("SYS2", "CICSA", 3, &[1, 2], 8, &[ebcdic("C", 4), 6_u32.to_be_bytes().to_vec()].concat()),
        ],
        2,
    );
    let plain = |record, tran: &str, gets| (record, 1, Some(tran.to_owned()), None, None, Some(gets));
    assert_eq!(found.tasks, [row(4, 1, "ABCD", 1, 2, 3), plain(5, "B", 5), plain(6, "C", 6)]);
    assert_eq!(found.reasons(), []);
}

#[test]
fn records_before_their_dictionary_wait_for_it() {
    let record = |tran, region| monitoring("SYS1", region, 3, &[1, 2, 3], 20, &task(tran, 1, 2, 3));
    let all = [
        record("A", "CICSA"),
        record("X", "CICSX"),
        record("B", "CICSA"),
        dictionary("SYS1", "CICSA", 1, &THREE),
        record("C", "CICSA"),
    ];
    for per_batch in 1..=5 {
        let mut found = decode(&all, per_batch);
        found.tasks.sort_by_key(|task| task.0);
        assert_eq!(found.tasks, [row(1, 1, "A", 1, 2, 3), row(3, 1, "B", 1, 2, 3), row(5, 1, "C", 1, 2, 3)]);
        assert_eq!(found.inventory, [1, 2, 3, 4, 5], "each record once, {per_batch} to a batch");
        assert_eq!(found.reasons(), [(2, Reason::DictionaryMissing)]);
        assert!(found.damage[0].2.contains("CICSX"), "{}", found.damage[0].2);
    }
    assert_eq!(Reason::DictionaryMissing.name(), "cics_dictionary_missing");
    assert!(Reason::DictionaryMissing.remedy().contains("DFHMNDUP"));
}

#[test]
fn a_later_dictionary_is_for_later_records() {
    let first = monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &task("A", 1, 2, 3));
    let second = monitoring(
        "SYS1",
        "CICSA",
        3,
        &[1, 2, 3],
        20,
        &[7_u32.to_be_bytes().to_vec(), ebcdic("B", 4), clock(4096, 1)].concat(),
    );
    let all = [
        dictionary("SYS1", "CICSA", 1, &THREE),
        first.clone(),
        dictionary("SYS1", "CICSA", 1, &[GETS, TRAN, DISPATCH]),
        second,
        dictionary("SYS1", "CICSA", 1, &THREE),
        first,
    ];
    for per_batch in [1, 2, 3, 6] {
        let found = decode(&all, per_batch);
        let changed = (4, 1, Some("B".to_owned()), Some(0.000_001), Some(1), Some(7));
        assert_eq!(found.tasks, [row(2, 1, "A", 1, 2, 3), changed, row(6, 1, "A", 1, 2, 3)]);
        assert_eq!(found.reasons(), []);
    }
}

#[test]
fn a_dictionary_that_is_not_theirs_is_told() {
    let data = task("A", 1, 2, 3);
    let found = decode(
        &[
            dictionary("SYS1", "CICSA", 1, &THREE),
            monitoring("SYS1", "CICSA", 3, &[1, 2, 9], 20, &data),
            monitoring("SYS1", "CICSA", 3, &[1, 2], 20, &data[..20]),
            monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 19, &data[..19]),
            // Up to seven bytes more are alignment.
            monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 24, &[data.clone(), vec![0; 4]].concat()),
            monitoring("SYS1", "CICSA", 3, &[], 20, &data),
        ],
        9,
    );
    let mismatch = |number| (number, Reason::DictionaryMismatch);
    let mut reasons = found.reasons();
    reasons.sort_by_key(|&(number, _)| number);
    // 16 bytes of fields in data of 20 pass as aligned: the connectors decide what they are.
    assert_eq!(reasons, [mismatch(2), mismatch(4), mismatch(6)]);
    let without = (3, 1, Some("A".to_owned()), Some(0.001), Some(2), None);
    assert_eq!(found.tasks, [without, row(5, 1, "A", 1, 2, 3)]);
    let details: Vec<&str> = found.damage.iter().map(|(.., detail)| detail.as_str()).collect();
    assert!(details.iter().any(|detail| detail.contains("connector 9")), "{details:?}");
    assert!(details.iter().any(|detail| detail.contains("20 bytes, the data records 19")), "{details:?}");
}

#[test]
fn what_waits_is_bounded() {
    let records: Vec<Vec<u8>> =
        (0..10).map(|_| monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &task("A", 1, 2, 3))).collect();
    let limit = 4 * records[0].len();
    let mut all = records;
    all.push(dictionary("SYS1", "CICSA", 1, &THREE));
    let found = decode_batches(decoder(), vec![records::batch(&all)], limit);
    assert_eq!(found.tasks.len(), 4);
    assert_eq!(found.reasons(), (5..=10).map(|number| (number, Reason::DictionaryMissing)).collect::<Vec<_>>());
    assert!(found.damage[0].2.contains("wait already"), "{}", found.damage[0].2);
}

#[test]
fn fields_that_no_layout_names_are_counted_by_name() {
    let data = [task("A", 1, 2, 3), 99_u32.to_be_bytes().to_vec()].concat();
    let found = decode(
        &[
            dictionary("SYS1", "CICSA", 1, &[TRAN, DISPATCH, GETS, OWN]),
            monitoring("SYS1", "CICSA", 3, &[1, 2, 3, 4], 24, &data.repeat(3)),
            monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &task("A", 1, 2, 3)),
        ],
        9,
    );
    assert_eq!(found.tasks.len(), 4);
    assert_eq!(found.notes(NoteKind::UnknownField), [("MYGROUP.A001 MYCOUNT", 3)]);
}

#[test]
fn clocks_of_old_releases_count_sixteen_microseconds() {
    let old: Field = ("DFHTASK", "S007", 8, "USRDISPT");
    // 62,500 units of 16 microseconds are a second; then flags and a count of three bytes.
    let data = [62_500_u32.to_be_bytes(), [0x80, 0x00, 0x01, 0x02]].concat();
    let found = decode(&[dictionary("SYS1", "CICSA", 1, &[old]), monitoring("SYS1", "CICSA", 3, &[1], 8, &data)], 9);
    assert_eq!(found.tasks, [(2, 1, None, Some(1.0), Some(258), None)]);
}

#[test]
fn a_field_whose_number_is_not_published_is_found_by_its_short_name() {
    let fields: [Field; 3] =
        [("DFHTASK", "A902", 4, "MAXTASKS"), ("DFHCICS", "C903", 4, "OTRAN"), ("DFHCICS", "A902", 4, "MAXTASKS")];
    let data = [120_u32.to_be_bytes().to_vec(), ebcdic("ORIG", 4), vec![0; 4]].concat();
    let found =
        decode(&[dictionary("SYS1", "CICSA", 1, &fields), monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 12, &data)], 9);
    let column = |name: &str| found.batches[0].column_by_name(name).expect("a column");
    assert_eq!(column("maxtasks").as_primitive::<UInt32Type>().value(0), 120);
    assert_eq!(column("otran").as_string::<i32>().value(0), "ORIG");
    assert!(column("otranflg").is_null(0), "a name that begins alike is another field");
    assert_eq!(found.notes(NoteKind::UnknownField), [("DFHCICS.A902 MAXTASKS", 1)], "of another owner");
}

#[test]
fn compressed_records_read_as_plain_ones() {
    let data = [task("ABCD", 1500, 7, 9), task("EFGH", 0, 0, 0)].concat();
    let plain = [dictionary("SYS1", "CICSA", 1, &THREE), monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &data)];
    let packed = plain.clone().map(compressed);
    assert!(packed[1].len() < plain[1].len(), "zeros are runs");
    for per_batch in [1, 2] {
        let (one, other) = (decode(&plain, per_batch), decode(&packed, per_batch));
        assert_eq!(one.tasks, other.tasks);
        assert_eq!(other.reasons(), []);
        assert_eq!(other.notes(NoteKind::Expanded), [("smf110", 2)]);
        assert_eq!(one.notes(NoteKind::Expanded), []);
    }
    // The dictionary after them: what waits is the plain record.
    let [first, last] = packed;
    let found = decode(&[last, first], 1);
    assert_eq!(found.tasks, [row(1, 1, "ABCD", 1500, 7, 9), row(1, 2, "EFGH", 0, 0, 0)]);
    assert_eq!(found.notes(NoteKind::Expanded), [("smf110", 2)]);
}

#[test]
fn compressed_data_that_does_not_fit_is_damage() {
    let good = compressed(monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &task("ABCD", 1500, 7, 9)));
    let spoil = |at: usize, byte: u8| {
        let mut record = good.clone();
        record[at] = byte;
        record
    };
    let records = [
        dictionary("SYS1", "CICSA", 1, &THREE),
        spoil(DATA, 0x81),         // no compressed data
        spoil(DATA + 1, 0),        // a run of none
        spoil(DATA + 1, 0x7F),     // a run beyond the end
        spoil(PRODUCT + 39, 2),    // two data records announced, one there
        spoil(PRODUCT + 59, 0xFF), // more data announced than the record has
        good.clone(),
    ];
    let found = decode(&records, 9);
    assert_eq!(found.reasons(), (2..=6).map(|number| (number, Reason::CicsCompressed)).collect::<Vec<_>>());
    assert_eq!(found.tasks, [row(7, 1, "ABCD", 1500, 7, 9)]);
    let wanted = ["X'80'", "empty run", "within a run", "its sections end at 170", "outside the record"];
    for ((_, _, detail), wanted) in found.damage.iter().zip(wanted) {
        assert!(detail.contains(wanted), "{detail}");
    }
    assert!(Reason::CicsCompressed.remedy().contains("DFH$MOLS"));
}

#[test]
fn spanned_records_are_whole_ones() {
    let many: Vec<u8> = (0..600).flat_map(|number| task("SPAN", number, 1, number as u32)).collect();
    let all = [dictionary("SYS1", "CICSA", 1, &THREE), monitoring("SYS1", "CICSA", 3, &[1, 2, 3], 20, &many)];
    let mut stream = Vec::new();
    for (record, cuts) in all.iter().zip([vec![30, 70], vec![100, 130, 5000, 9001]]) {
        stream.extend(dump::segments(&record[4..], &cuts).concat());
    }
    let mut reader = SmfReader::from_reader("spanned", Cursor::new(stream), &ReadOptions::default()).expect("a dump");
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().expect("readable") {
        batches.push(batch);
    }
    let found = decode_batches(decoder(), batches, HELD_BYTES);
    let expected: Vec<Task> = (0..600).map(|n| row(2, n + 1, "SPAN", n.into(), 1, n)).collect();
    assert_eq!(found.tasks, expected);
    assert_eq!(found.reasons(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged records of all kinds: no panic; rows and damage do not depend on where batches end.
    #[test]
    fn damage_does_no_harm(seed: u64) {
        let mut random = Random(seed);
        let data = [task("ABCD", 1500, 7, 9), task("EFGH", 0, 0, 0)].concat();
        let mut all = Vec::new();
        for _ in 0..3 {
            let region = ["CICSA", "CICSB"][random.below(2) as usize];
            let made = [
                dictionary("SYS1", region, 1, &[THREE, [GETS, TRAN, OWN]][random.below(2) as usize]),
                monitoring("SYS1", region, 3, &[1, 2, 3], 20, &data),
                monitoring("SYS1", region, 3, &[3, 1], 8, &data),
            ];
            for mut record in made {
                if random.below(2) == 0 {
                    record = compressed(record);
                }
                for _ in 0..random.below(4) {
                    let at = 14 + random.below(record.len() as u64 - 14) as usize;
                    record[at] = [0, 0xFF, random.next() as u8][random.below(3) as usize];
                }
                if random.below(8) == 0 {
                    record.truncate(18 + random.below(record.len() as u64 - 18) as usize);
                }
                all.push(record);
            }
        }
        let sorted = |per_batch: usize| {
            let mut found = decode(&all, per_batch);
            found.tasks.sort_by_key(|task| (task.0, task.1));
            found.damage.sort();
            let text = format!("{:?} {:?}", found.tasks, found.damage);
            (text, found.inventory)
        };
        prop_assert_eq!(sorted(1), sorted(9));
    }
}
