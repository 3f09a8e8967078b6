//! The reader over SMF dumps that z/OS wrote.

mod dump;

use dump::{Read1, read_bytes, real_dump};
use plexlens_smf::stream::{Compression, Form, FrameKind, ReadOptions, SmfReader};

/// The obvious reading: everything in memory, one segment after the other, nothing damaged.
fn slow_read(bytes: &[u8]) -> Vec<Read1> {
    let mut out: Vec<Read1> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = usize::from(bytes[at]) * 256 + usize::from(bytes[at + 1]);
        let body = &bytes[at + 4..at + length];
        if bytes[at + 2] == 0 || bytes[at + 2] == 1 {
            let kind = if bytes[at + 2] == 0 { FrameKind::Whole } else { FrameKind::Spanned(1) };
            out.push(Read1 { record_no: out.len() as u64 + 1, offset: at as u64, contents: body.to_vec(), kind });
        } else {
            let last = out.last_mut().expect("a first segment came before");
            last.contents.extend_from_slice(body);
            if let FrameKind::Spanned(segments) = &mut last.kind {
                *segments += 1;
            }
        }
        at += length;
    }
    out
}

#[test]
fn real_dumps_read_as_the_slow_twin_reads_them() {
    for name in ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"] {
        let Some(path) = real_dump(name) else { return };
        let bytes = std::fs::read(&path).expect("readable");
        let expected = slow_read(&bytes);
        for batch_bytes in [1, 4096, 8 << 20] {
            let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
            let (records, summary) = read_bytes(&bytes, &options);
            assert_eq!(records, expected, "{name} in batches of {batch_bytes}");
            assert!(summary.damage.is_empty(), "{name}: {:?}", summary.damage);
            assert_eq!(summary.form, Form::Rdw);
            assert_eq!(summary.bytes, bytes.len() as u64);
        }
    }
}

/// TESTCHL.dat holds 347 segments (its published count). Counting the descriptor words by their third byte gives 291
/// whole, 28 first, 28 last and no middle: 291 + 28 = 319 records, 28 of them spanned.
#[test]
fn the_channel_dump_holds_319_records() {
    let Some(path) = real_dump("TESTCHL.dat") else {
        return;
    };
    let mut reader = SmfReader::open(&path, &ReadOptions::default()).expect("opens");
    while let Some(batch) = reader.next_batch().expect("reads") {
        reader.recycle(batch);
    }
    let summary = reader.summary();
    assert_eq!(summary.compression, Compression::None);
    assert_eq!((summary.segments, summary.records, summary.spanned_records), (347, 319, 28));
    assert_eq!((summary.dump_headers, summary.dump_trailers), (1, 1));
    assert!(summary.damage.is_empty());
}
