//! Writes small dumps, byte by byte from the rules of the descriptor words, for the tests of the reader.

#![allow(dead_code, reason = "each test program uses its own part")]

use plexlens_smf::stream::{FrameKind, ReadOptions, SmfReader, StreamSummary};
use std::io::{Cursor, Read};
use std::path::PathBuf;

/// A whole record: descriptor word, standard header, and `body` bytes behind it.
pub fn record(record_type: u8, system: &[u8; 4], hundredths: u32, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(18 + body.len()).expect("a record without spanning fits its length field");
    let mut out = length.to_be_bytes().to_vec();
    out.extend([0, 0, 0x1e, record_type]);
    out.extend(hundredths.to_be_bytes());
    out.extend([0x01, 0x24, 0x06, 0x1f]); // day 61 of 2024
    out.extend(system);
    out.extend(body);
    out
}

/// SYS1 in EBCDIC.
pub const SYS1: [u8; 4] = [0xe2, 0xe8, 0xe2, 0xf1];
/// PRD2 in EBCDIC.
pub const PRD2: [u8; 4] = [0xd7, 0xd9, 0xc4, 0xf2];

/// A logical record of any length: header and body, without a descriptor word.
pub fn logical(record_type: u8, system: &[u8; 4], hundredths: u32, body: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1e, record_type];
    out.extend(hundredths.to_be_bytes());
    out.extend([0x01, 0x24, 0x06, 0x1f]);
    out.extend(system);
    out.extend(body);
    out
}

/// Cuts a logical record into segments at the given positions, each segment with its descriptor word.
pub fn segments(logical: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut bounds = vec![0];
    bounds.extend(cuts.iter().copied().filter(|&cut| cut > 0 && cut < logical.len()));
    bounds.push(logical.len());
    bounds.sort_unstable();
    bounds.dedup();
    let pieces = bounds.len() - 1;
    (0..pieces)
        .map(|piece| {
            let body = &logical[bounds[piece]..bounds[piece + 1]];
            let code = match (piece == 0, piece + 1 == pieces) {
                (true, true) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => 3,
            };
            let mut out = u16::try_from(body.len() + 4).expect("segment length").to_be_bytes().to_vec();
            out.extend([code, 0]);
            out.extend(body);
            out
        })
        .collect()
}

/// Puts segments into blocks of at most `limit` bytes; extended descriptor words have the top bit set.
pub fn blocked(segments: &[Vec<u8>], limit: usize, extended: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut block: Vec<u8> = Vec::new();
    let close = |block: &mut Vec<u8>, out: &mut Vec<u8>| {
        if !block.is_empty() {
            let length = u32::try_from(block.len() + 4).expect("block length");
            if extended {
                out.extend((length | 0x8000_0000).to_be_bytes());
            } else {
                out.extend(u16::try_from(length).expect("block length").to_be_bytes());
                out.extend([0, 0]);
            }
            out.append(block);
        }
    };
    for segment in segments {
        if block.len() + segment.len() + 4 > limit {
            close(&mut block, &mut out);
        }
        block.extend(segment);
    }
    close(&mut block, &mut out);
    out
}

/// What a reader gave: the contents of each record (without descriptor word), where it began, and how it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read1 {
    pub record_no: u64,
    pub offset: u64,
    pub contents: Vec<u8>,
    pub kind: FrameKind,
}

/// Reads everything, checking of each frame what the contract promises.
pub fn read_all(input: impl Read + Send + 'static, options: &ReadOptions) -> (Vec<Read1>, StreamSummary) {
    let mut reader = SmfReader::from_reader("test.smf", input, options).expect("the stream opens");
    let mut out = Vec::new();
    while let Some(batch) = reader.next_batch().expect("the stream can be read") {
        assert!(!batch.frames.is_empty(), "a batch without records");
        for frame in &batch.frames {
            let bytes = batch.record(frame);
            assert!(bytes.len() >= 18, "record {} is shorter than a header", frame.record_no);
            assert_eq!(bytes[2..4], [0, 0], "segment bytes of record {}", frame.record_no);
            let word = usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
            assert_eq!(word, bytes.len().min(65_535), "descriptor word of record {}", frame.record_no);
            out.push(Read1 {
                record_no: frame.record_no,
                offset: frame.offset,
                contents: bytes[4..].to_vec(),
                kind: frame.kind,
            });
        }
        reader.recycle(batch);
    }
    assert!(reader.next_batch().expect("the end stays the end").is_none());
    (out, reader.summary().clone())
}

pub fn read_bytes(bytes: &[u8], options: &ReadOptions) -> (Vec<Read1>, StreamSummary) {
    read_all(Cursor::new(bytes.to_vec()), options)
}

/// The real dumps, which lie beside the repository and are not part of it; says so when they are absent.
pub fn real_dump(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PLEXLENS_SHARED_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = root.join("mq").join(name);
    if path.is_file() {
        Some(path)
    } else {
        println!("skipped: {} is absent (set PLEXLENS_SHARED_DATA to the folder of real data)", path.display());
        None
    }
}
