//! Files that lost their descriptor words.

mod dump;

use dump::{PRD2, SYS1, read_bytes, real_dump, record};
use plexlens_smf::stream::{DamageReason, Form, FrameKind, ReadOptions};

/// A record of type 116 with two triplets, at 28 and 36: `first` and `second` bytes of sections behind them.
fn with_triplets(number: u8, first: u16, second: u16) -> Vec<u8> {
    let mut body = vec![number; 26]; // up to byte 44, the end of the second triplet
    let mut triplet = |at: usize, offset: u32, length: u16| {
        body[at - 18..at - 14].copy_from_slice(&offset.to_be_bytes());
        body[at - 14..at - 12].copy_from_slice(&length.to_be_bytes());
        body[at - 12..at - 10].copy_from_slice(&[0, 1]);
    };
    triplet(28, 44, first);
    triplet(36, 44 + u32::from(first), second);
    body.resize(26 + usize::from(first + second), number);
    record(116, if number.is_multiple_of(2) { &SYS1 } else { &PRD2 }, 100, &body)
}

fn stripped(records: &[Vec<u8>]) -> Vec<u8> {
    records.iter().flat_map(|record| record[4..].to_vec()).collect()
}

#[test]
fn records_that_tell_their_length_are_read() {
    let mut records = vec![record(2, &SYS1, 1, b"")];
    records.extend((0..50).map(|number| with_triplets(number, 10 + u16::from(number), 500)));
    records.push(record(3, &SYS1, 1, b""));
    for batch_bytes in [1, 700, 8 << 20] {
        let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
        let (read, summary) = read_bytes(&stripped(&records), &options);
        assert_eq!(summary.form, Form::NoDescriptors);
        assert!(summary.damage.is_empty(), "{:?}", summary.damage);
        assert_eq!((summary.dump_headers, summary.dump_trailers), (1, 1));
        assert_eq!(read.len(), records.len());
        let mut offset = 0;
        for (index, (read, record)) in read.iter().zip(&records).enumerate() {
            assert_eq!(read.contents, record[4..]);
            assert_eq!((read.record_no, read.offset, read.kind), (index as u64 + 1, offset, FrameKind::Whole));
            offset += record.len() as u64 - 4;
        }
    }
}

#[test]
fn a_cut_record_is_named() {
    let records: Vec<_> = (0..3).map(|number| with_triplets(number, 100, 100)).collect();
    let file = stripped(&records);
    let (read, summary) = read_bytes(&file[..file.len() - 7], &ReadOptions::default());
    assert_eq!(read.len(), 2);
    let [damage] = summary.damage.entries() else { panic!("{:?}", summary.damage) };
    // Each record takes 44 + 200 - 4 = 240 bytes.
    assert_eq!((damage.reason, damage.record_no, damage.offset), (DamageReason::CutRecord, 3, 480));
    assert_eq!(damage.skipped, 233);
}

#[test]
fn with_the_form_given_boundaries_are_inferred_and_said_to_be() {
    let records: Vec<_> =
        (0..20_u8).map(|number| record(30, &SYS1, 50, &vec![number; 60 + usize::from(number)])).collect();
    let options = ReadOptions { form: Some(Form::NoDescriptors), batch_bytes: 300, ..ReadOptions::default() };
    let (read, summary) = read_bytes(&stripped(&records), &options);
    assert_eq!(read.len(), 20);
    for (read, record) in read.iter().zip(&records) {
        assert_eq!(read.contents, record[4..]);
    }
    assert_eq!(summary.damage.count(DamageReason::InferredBoundary), 20);
}

#[test]
fn what_no_header_follows_counts_to_the_record_before() {
    let records: Vec<_> = (0..6).map(|number| with_triplets(number, 100, 100)).collect();
    let file = [stripped(&records[..3]), vec![0xee; 1000], stripped(&records[3..])].concat();
    let options = ReadOptions { form: Some(Form::NoDescriptors), batch_bytes: 100, ..ReadOptions::default() };
    let (read, summary) = read_bytes(&file, &options);
    // The third record ends where noise begins: its own triplets end there, but no header bears them out.
    let contents: Vec<_> = read.iter().map(|record| record.contents.len()).collect();
    assert_eq!(contents, [240, 240, 1240, 240, 240, 240]);
    let [damage] = summary.damage.entries() else { panic!("{:?}", summary.damage) };
    assert_eq!((damage.reason, damage.record_no, damage.offset), (DamageReason::InferredBoundary, 3, 480));
}

/// The second record would take more than the limit allows: from its start to the third, 60 - 4 + 5000 bytes.
#[test]
fn a_record_without_end_is_lost_and_named() {
    let of = |number: u8| record(30, &SYS1, 50, &[number; 42])[4..].to_vec();
    let file = [of(1), of(2), vec![0; 5000], of(3)].concat();
    let options = ReadOptions {
        form: Some(Form::NoDescriptors),
        batch_bytes: 100,
        max_record_bytes: 1000,
        ..ReadOptions::default()
    };
    let (read, summary) = read_bytes(&file, &options);
    let contents: Vec<_> = read.iter().map(|record| (record.record_no, record.contents.clone())).collect();
    assert_eq!(contents, [(1, of(1)), (3, of(3))]);
    let lost = summary.damage.entries().iter().find(|damage| damage.reason == DamageReason::UnreadableRange);
    let lost = lost.expect("the second record is named");
    assert_eq!((lost.record_no, lost.offset, lost.skipped), (2, 56, 5056));
}

#[test]
fn real_dumps_without_their_descriptor_words_are_read() {
    for name in ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"] {
        let Some(path) = real_dump(name) else { return };
        let whole = std::fs::read(&path).expect("readable");
        let (expected, _) = read_bytes(&whole, &ReadOptions::default());
        let bare: Vec<u8> = expected.iter().flat_map(|record| record.contents.clone()).collect();
        let (read, summary) = read_bytes(&bare, &ReadOptions::default());
        assert_eq!(summary.form, Form::NoDescriptors, "{name}");
        assert!(summary.damage.is_empty(), "{name}: {:?}", summary.damage);
        assert!(read.iter().map(|record| &record.contents).eq(expected.iter().map(|record| &record.contents)));
    }
}
