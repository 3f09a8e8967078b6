//! Compressed data: the published example, hand-made runs, round trip, and records of Db2.

mod records;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Float64Array, RecordBatch};
use plexlens_smf::decode::{DecodeOptions, Decoder, NoteKind, Reason, record_hash};
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity};
use plexlens_smf::forms::csrcesrv::{Malformed, compress, expand};
use proptest::prelude::*;

fn expanded(data: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    expand(data, 1000, &mut out).map(|()| out)
}

#[test]
fn runs_by_hand() {
    // The mark, two bytes as they are, five blanks, one byte.
    assert_eq!(
        expanded(&[0x80, 0x02, 0xC1, 0xC2, 0x85, 0x40, 0x01, 0xC3]).unwrap(),
        b"\xC1\xC2\x40\x40\x40\x40\x40\xC3"
    );
    assert_eq!(expanded(&[0x80]).unwrap(), b"");
    assert_eq!(expanded(&[0x80, 0xFF, 0x00]).unwrap(), [0; 127]);
    // As CICS writes it: the connectors 1, 2, 3 and so on in a run of 127 bytes.
    let mut shown = vec![0x80, 0x7F];
    shown.extend((1..64_u16).flat_map(u16::to_be_bytes).chain([0]));
    assert_eq!(expanded(&shown).unwrap()[..6], [0, 1, 0, 2, 0, 3]);
    assert_eq!(expanded(&[]), Err(Malformed::Unmarked));
    assert_eq!(expanded(&[0x02, 0xC1, 0xC2]), Err(Malformed::Unmarked));
    assert_eq!(expanded(&[0x80, 0x80, 0x40]), Err(Malformed::EmptyRun));
    assert_eq!(expanded(&[0x80, 0x03, 0x40]), Err(Malformed::CutOff));
    assert_eq!(expanded(&[0x80, 0x83]), Err(Malformed::CutOff));
    assert_eq!(expanded(&[[0x80].as_slice(), &[0xFF, 0x40].repeat(8)].concat()), Err(Malformed::TooLong));
}

proptest! {
    #[test]
    fn what_was_compressed_expands(data in proptest::collection::vec(prop_oneof![Just(0_u8), Just(0x40), any::<u8>()], 0..900)) {
        prop_assert_eq!(expanded(&compress(&data)).unwrap(), data);
    }

    #[test]
    fn any_bytes_expand_or_are_refused(data: Vec<u8>) {
        let mut out = vec![7; 10];
        let _ = expand(&data, 500, &mut out);
        prop_assert!(out.len() <= 500);
    }
}

/// An accounting record of Db2, as the encoder writes it.
fn accounting() -> Vec<u8> {
    let catalogue = records::catalogue();
    let encoder = RecordEncoder::new(catalogue, "smf101_ifcid3", EncodeOptions::default()).expect("known");
    let times = Arc::new(Float64Array::from(vec![2.5]));
    let rows = RecordBatch::try_from_iter([("qwacasc", times as _)]).expect("a column");
    let identity = RecordIdentity {
        system: Some("SYS1".into()),
        subsystem: Some("DB2A".into()),
        written_at: Some(1_772_356_500_000_000),
        ..RecordIdentity::default()
    };
    let encoded = encoder.encode(&identity, &[("smf101_ifcid3_qwac".into(), rows)]).expect("encodes");
    encoded.get(0).expect("one").to_vec()
}

/// The record compressed behind its header; bytes 24 to 27 say so in a way that is not documented.
fn compressed(record: &[u8]) -> Vec<u8> {
    let mut out = record[..28].to_vec();
    out[24..28].copy_from_slice(&[0x80, 0, (record.len() >> 8) as u8, record.len() as u8]);
    out.extend(compress(&record[28..]));
    let length = (out.len() as u16).to_be_bytes();
    out[..2].copy_from_slice(&length);
    out
}

#[test]
fn db2_records_are_expanded_or_damage() {
    let decoder = Decoder::new(records::catalogue(), DecodeOptions::default()).expect("all tables");
    let plain = accounting();
    let good = compressed(&plain);
    let mut bad = good.clone();
    bad[28] = 0x7F;
    // Expands, but to no product section.
    let mut lost = plain.clone();
    lost[28..32].copy_from_slice(&60_000_u32.to_be_bytes());
    let other = compressed(&lost);
    let mut batch = records::batch([plain, good.clone(), bad, other]);
    let (expanded, rest) = decoder.expand(&mut batch, 1 << 20);
    assert!(rest.is_none());
    let (connections, _) = decoder.regions(0).resolve(&batch, expanded, None);
    let decoded = decoder.decode_connected(&batch, None, "s", &connections).expect("decodes");
    let table = |name: &str| &decoded.tables.iter().find(|(table, _)| table == name).expect("a table").1;
    let rows = table("smf101_ifcid3_qwac");
    let column = |name: &str| rows.column_by_name(name).expect("a column");
    assert_eq!(column("record_no").as_primitive::<UInt64Type>().values().as_ref(), [1, 2]);
    assert_eq!(column("qwacasc").as_primitive::<Float64Type>().values().as_ref(), [2.5, 2.5]);
    assert_eq!(column("subsystem").as_string::<i32>().value(1), "DB2A");
    let damage: Vec<(u64, Reason)> = decoded.damage.iter().map(|one| (one.record_no, one.reason)).collect();
    assert_eq!(damage, [(3, Reason::Db2Compressed), (4, Reason::Db2Compressed)]);
    assert!(decoded.damage[0].detail.contains("X'80'"), "{}", decoded.damage[0].detail);
    assert!(decoded.damage[1].detail.contains("no product section"), "{}", decoded.damage[1].detail);
    assert!(decoded.damage[0].reason.remedy().contains("DSNTSMFD"));
    let notes: Vec<_> = decoded.notes.iter().filter(|note| note.kind == NoteKind::Expanded).collect();
    assert_eq!((notes.len(), notes[0].section.as_str(), notes[0].count), (1, "smf101", 1));
    // The inventory is of the record as it was written.
    let inventory = table("smf_record");
    let column = |name: &str| inventory.column_by_name(name).expect("a column");
    assert_eq!(column("length").as_primitive::<UInt32Type>().value(1) as usize, good.len());
    assert_eq!(column("hash").as_primitive::<UInt64Type>().value(1), record_hash(&good));
}

#[test]
fn a_batch_that_grows_too_long_is_divided() {
    let decoder = Decoder::new(records::catalogue(), DecodeOptions::default()).expect("all tables");
    let record = compressed(&accounting());
    let mut rest = Some(records::batch(vec![record; 10]));
    let mut numbers: Vec<u64> = Vec::new();
    let mut parts = 0;
    while let Some(mut batch) = rest.take() {
        let (expanded, later) = decoder.expand(&mut batch, 500);
        assert!(!batch.frames.is_empty());
        let (connections, _) = decoder.regions(0).resolve(&batch, expanded, None);
        let decoded = decoder.decode_connected(&batch, None, "s", &connections).expect("decodes");
        let rows = &decoded.tables.iter().find(|(table, _)| table == "smf101_ifcid3_qwac").expect("rows").1;
        numbers.extend(rows.column_by_name("record_no").expect("key").as_primitive::<UInt64Type>().values());
        (parts, rest) = (parts + 1, later);
    }
    assert_eq!(numbers, (1..=10).collect::<Vec<u64>>());
    assert!(parts > 1);
}
