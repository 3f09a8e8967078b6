//! A file through the pipeline: order, threads, duplicates, errors.

mod records;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use plexlens_smf::decode::{DecodeOptions, Decoder, record_hash};
use plexlens_smf::encode::{DumpForm, DumpWriter};
use plexlens_smf::layout::Catalogue;
use plexlens_smf::pipeline::{Pipeline, PipelineError, PipelineOptions};
use plexlens_smf::stream::ReadOptions;

/// A file in the test folder of the build, removed afterwards.
struct Dump(PathBuf);

impl Dump {
    fn new(name: &str, records: &[Vec<u8>]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("pipeline_{name}.smf"));
        let mut dump = DumpWriter::new(Vec::new(), DumpForm::Rdw, None).expect("writer");
        // 2026-03-01, the day that `records::record` writes.
        dump.dump_marker(2, "SYS1", DAY * 86_400_000_000).expect("written");
        records.iter().for_each(|record| dump.write(record).expect("written"));
        dump.dump_marker(3, "SYS1", DAY * 86_400_000_000).expect("written");
        std::fs::write(&path, dump.finish().expect("finished")).expect("a file");
        Self(path)
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// 2026-03-01 in days since 1970: 56 years, 14 leap days, and 59 days.
const DAY: i64 = 20_513;

fn catalogue() -> Catalogue {
    records::single("x200_1", &records::section_text(&["A,0,4,u32,", "B,4,2,u16,"]), "entries")
}

/// Record 200.1 with one entry, whose first field is `number`.
fn record(number: u32) -> Vec<u8> {
    let mut entry = number.to_be_bytes().to_vec();
    entry.extend([0; 2]);
    records::record(6, 1, &entry)
}

/// The same, written on another day: 2026-03-02 is day 061.
fn next_day(number: u32) -> Vec<u8> {
    let mut record = record(number);
    record[10..14].copy_from_slice(&[0x01, 0x26, 0x06, 0x1F]);
    record
}

fn open(dump: &Dump, options: PipelineOptions) -> Pipeline {
    let decoder = Decoder::new(&catalogue(), DecodeOptions::default()).expect("all tables");
    Pipeline::open(&dump.0, Arc::new(decoder), &options).expect("a dump")
}

fn options(threads: usize, batch_bytes: usize) -> PipelineOptions {
    let read = ReadOptions { batch_bytes, ..ReadOptions::default() };
    PipelineOptions { source_id: "s".into(), threads, read, ..PipelineOptions::default() }
}

/// First fields and record numbers of all rows, in the order in which they come; and the number of batches.
fn run(pipeline: &mut Pipeline, held: &BTreeMap<i32, Vec<u64>>, asked: &mut Vec<i32>) -> (Vec<u32>, Vec<u64>, usize) {
    let (mut values, mut numbers, mut batches) = (Vec::new(), Vec::new(), 0);
    let mut seen = |day: i32| -> Result<Vec<u64>, ()> {
        asked.push(day);
        Ok(held.get(&day).cloned().unwrap_or_default())
    };
    while let Some(step) = pipeline.next_batch(&mut seen).expect("decodes") {
        batches += 1;
        for (name, batch) in &step.decoded.tables {
            if name == "x200_1" {
                values.extend(batch.column_by_name("a").expect("a").as_primitive::<UInt32Type>().values());
                let number = batch.column_by_name("record_no").expect("key");
                numbers.extend(number.as_primitive::<UInt64Type>().values());
            }
        }
    }
    (values, numbers, batches)
}

#[test]
fn order_is_kept_whatever_the_threads_and_batches() {
    let records: Vec<Vec<u8>> = (0..5000).map(record).collect();
    let dump = Dump::new("order", &records);
    for (threads, batch_bytes) in [(1, 1 << 20), (1, 1000), (4, 1000), (0, 50_000)] {
        let mut pipeline = open(&dump, options(threads, batch_bytes));
        let (values, numbers, batches) = run(&mut pipeline, &BTreeMap::new(), &mut Vec::new());
        assert_eq!(values, (0..5000).collect::<Vec<u32>>(), "{threads} threads, {batch_bytes} bytes");
        assert_eq!(numbers, (2..5002).collect::<Vec<u64>>());
        assert!(batches >= 5000 * 42 / batch_bytes / 2, "{batches}");
        let summary = pipeline.summary();
        let expected = BTreeMap::from([((2, None), 1), ((3, None), 1), ((200, Some(1)), 5000)]);
        assert_eq!(summary.records, expected);
        assert_eq!(summary.stream.as_ref().expect("complete").records, 5002);
        assert_eq!(summary.duplicates, 0);
        let at = DAY * 86_400_000_000 + 33_300_000_000;
        assert_eq!(summary.span, Some((at, at)), "dump headers do not count");
    }
}

#[test]
fn records_are_kept_once() {
    let records = [record(1), record(2), record(1), next_day(1), record(3), next_day(1), next_day(4)];
    let dump = Dump::new("once", &records);
    let held = BTreeMap::from([(DAY as i32, vec![record_hash(&record(3))])]);
    for batch_bytes in [60, 1 << 20] {
        let mut asked = Vec::new();
        let mut pipeline = open(&dump, options(2, batch_bytes));
        let (values, numbers, _) = run(&mut pipeline, &held, &mut asked);
        assert_eq!(values, [1, 2, 1, 4]);
        assert_eq!(numbers, [2, 3, 5, 8], "numbers are those of the file");
        assert_eq!(pipeline.summary().duplicates, 3);
        assert_eq!(pipeline.summary().records[&(200, Some(1))], 7, "counted all the same");
        assert_eq!(asked, [DAY as i32, DAY as i32 + 1], "asked once for each day");
    }
}

#[test]
fn records_may_be_kept_as_often_as_they_are_there() {
    let dump = Dump::new("often", &[record(1), record(2), record(1)]);
    let mut asked = Vec::new();
    let mut pipeline = open(&dump, PipelineOptions { once: false, ..options(2, 60) });
    let (values, ..) = run(&mut pipeline, &BTreeMap::new(), &mut asked);
    assert_eq!(values, [1, 2, 1]);
    assert_eq!(pipeline.summary().duplicates, 0);
    assert!(asked.is_empty(), "nobody is asked what is held");
}

#[test]
fn a_day_put_away_is_asked_for_again() {
    let records = [record(1), next_day(1), record(1), record(2)];
    let dump = Dump::new("put_away", &records);
    let mut asked = Vec::new();
    let mut pipeline = open(&dump, PipelineOptions { days_resident: 1, ..options(1, 1 << 20) });
    let (values, ..) = run(&mut pipeline, &BTreeMap::new(), &mut asked);
    assert_eq!(values, [1, 1, 1, 2], "the duplicate was forgotten with its day");
    assert_eq!(asked, [DAY as i32, DAY as i32 + 1, DAY as i32]);
    assert_eq!(pipeline.summary().forgotten_days, 1);
    assert_eq!(pipeline.summary().duplicates, 0);
}

#[test]
fn damage_and_notes_add_up() {
    let mut records: Vec<Vec<u8>> = (0..100).map(record).collect();
    for (number, record) in records.iter_mut().enumerate().filter(|(number, _)| number % 10 == 0) {
        record[35] = 200; // so many entries do not fit
        record[36] = number as u8 + 1; // and all differ
    }
    records.push(records::record(4, 1, &[0, 0, 0, 9]));
    let dump = Dump::new("damage", &records);
    let mut pipeline = open(&dump, options(3, 200));
    let (values, ..) = run(&mut pipeline, &BTreeMap::new(), &mut Vec::new());
    assert_eq!(values.len(), 91);
    let summary = pipeline.summary();
    assert_eq!(summary.damage.len(), 10);
    assert_eq!(summary.damage_counts.values().sum::<u64>(), 10);
    assert!(summary.damage.is_sorted_by_key(|damage| damage.record_no));
    assert_eq!((summary.notes[0].count, summary.notes[0].max_bytes), (1, 2));
}

#[test]
fn what_seen_fails_with_comes_back() {
    let dump = Dump::new("seen", &[record(1)]);
    let mut pipeline = open(&dump, options(1, 1 << 20));
    let failed = pipeline.next_batch(&mut |_| Err("no hashes"));
    assert!(matches!(failed, Err(PipelineError::Seen("no hashes"))), "{failed:?}");
}

#[test]
fn a_pipeline_can_be_left_at_any_time() {
    let records: Vec<Vec<u8>> = (0..20_000).map(record).collect();
    let dump = Dump::new("left", &records);
    for steps in 0..4 {
        let mut pipeline = open(&dump, options(2, 1000));
        for _ in 0..steps {
            let step = pipeline.next_batch::<()>(&mut |_| Ok(Vec::new())).expect("decodes").expect("more");
            assert!(step.decoded.records != 0 && step.bytes_read != 0);
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    let decoder = Decoder::new(&catalogue(), DecodeOptions::default()).expect("all tables");
    let error =
        Pipeline::open("no/such/dump.smf", Arc::new(decoder), &PipelineOptions::default()).expect_err("missing");
    assert!(error.to_string().contains("no/such/dump.smf"), "{error}");
}
