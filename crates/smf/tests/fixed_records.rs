//! Records without triplets: their fixed part, and entries that fields of it place. Records by hand, values by hand.

mod records;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array};
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder, Reason};
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity};
use plexlens_smf::layout::Catalogue;

/// Type 201: devices of one length behind 26 bytes and as many as D says; records of type, length and data where AT says.
const FIXED: [&str; 8] = [
    "A,18,2,u16,",
    "D,20,1,u8,",
    "SIZE,21,1,u8,",
    "MANY,22,1,u8,",
    "AT,24,2,u16,",
    "COUNT,26,2,u16,",
    "B,28,4,u32,",
    "C,32,4,u32,",
];

const ROWS: [&str; 4] = [
    "part,,fixed,,",
    "device,D,placed:26:SIZE:MANY,,",
    "kind,AT,placed:4:1:COUNT,,",
    "name,AT,placed:4:1:COUNT,KIND=7,",
];

fn build(rows: &[&str]) -> Result<Catalogue, String> {
    let texts = [
        ("part", records::section_text(&FIXED)),
        ("device", records::section_text(&["V,0,4,u32,"])),
        ("kind", records::section_text(&["KIND,0,1,u8,", "LEN,1,1,u8,"])),
        ("name", records::section_text(&["KIND,0,1,u8,", "NAME,2,8,ebcdic,"])),
        ("head", records::section_text(&["X201LEN,0,2,u16,"])),
    ];
    let sections: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let mut map = "# identity: standard\nlayout,triplet,rule,when,table,description,source,confidence\n".to_owned();
    map += "head,,header,,,,,high\n";
    rows.iter().for_each(|row| map += &format!("{row},,,high\n"));
    Catalogue::from_texts(&sections, &[("smf201", &map)]).map_err(|error| error.to_string())
}

fn catalogue() -> Catalogue {
    build(&ROWS).expect("sound")
}

/// Bytes from 18 on behind a standard header.
fn record(behind: &[u8]) -> Vec<u8> {
    let mut record = records::record(0, 0, &[]);
    record.truncate(18);
    record[4..6].copy_from_slice(&[0x1E, 201]);
    record.extend_from_slice(behind);
    let length = (record.len() as u16).to_be_bytes();
    record[..2].copy_from_slice(&length);
    record
}

/// A of 300, 10 bytes of D: devices at 36; then the typed records at 44.
fn fixed(size: u8, many: u8, at: u16, count: u16) -> Vec<u8> {
    let mut bytes = vec![1, 44, 10, size, many, 0];
    bytes.extend(at.to_be_bytes());
    bytes.extend(count.to_be_bytes());
    bytes.extend([0, 0, 0, 5, 0, 0, 0, 6]);
    bytes
}

const DEVICES: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 2];
const TYPED: [u8; 9] = [7, 2, 0xC1, 0xC2, 3, 1, 0xFF, 7, 0];

fn decode(records: &[Vec<u8>]) -> DecodedBatch {
    let decoder = Decoder::new(&catalogue(), DecodeOptions::default()).expect("all tables");
    decoder.decode(&records::batch(records), None, "s").expect("decodes")
}

fn table<'a>(decoded: &'a DecodedBatch, name: &str) -> Option<&'a RecordBatch> {
    decoded.tables.iter().find(|(table, _)| table == name).map(|(_, table)| table)
}

fn numbers(decoded: &DecodedBatch, name: &str, column: &str) -> Vec<Option<u32>> {
    let Some(table) = table(decoded, name) else { return Vec::new() };
    let column = table.column_by_name(column).expect("the column");
    match (column.as_primitive_opt::<UInt8Type>(), column.as_primitive_opt::<UInt16Type>()) {
        (Some(values), _) => values.iter().map(|value| value.map(u32::from)).collect(),
        (_, Some(values)) => values.iter().map(|value| value.map(u32::from)).collect(),
        _ => column.as_primitive::<UInt32Type>().iter().collect(),
    }
}

#[test]
fn a_record_has_a_row_and_its_fields_place_entries() {
    let whole = [fixed(4, 2, 40, 3), DEVICES.to_vec(), TYPED.to_vec()].concat();
    let decoded = decode(&[record(&whole)]);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    for (column, expected) in [("a", 300), ("b", 5), ("c", 6), ("many", 2), ("count", 3)] {
        assert_eq!(numbers(&decoded, "part", column), [Some(expected)], "{column}");
    }
    assert_eq!(numbers(&decoded, "device", "v"), [Some(1), Some(2)]);
    assert_eq!(numbers(&decoded, "kind", "kind"), [Some(7), Some(3), Some(7)]);
    assert_eq!(numbers(&decoded, "kind", "len"), [Some(2), Some(1), Some(0)]);
    let names = table(&decoded, "name").expect("names");
    assert_eq!(
        names.column_by_name("name").expect("name").as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("AB"), Some("")]
    );
    assert_eq!(numbers(&decoded, "name", "section_no"), [Some(1), Some(3)]);
}

#[test]
fn the_fixed_part_ends_where_entries_begin_or_the_record_does() {
    // Devices at 32, so that C is not there; no typed records.
    let mut older = fixed(4, 1, 0, 0)[..14].to_vec();
    older[2] = 6;
    let decoded = decode(&[record(&[older.clone(), DEVICES[..4].to_vec()].concat()), record(&fixed(4, 0, 0, 0)[..6])]);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    assert_eq!(numbers(&decoded, "part", "b"), [Some(5), None]);
    assert_eq!(numbers(&decoded, "part", "c"), [None, None]);
    assert_eq!(numbers(&decoded, "device", "v"), [Some(1)]);
}

#[test]
fn entries_outside_the_record_are_damage_and_the_row_stays() {
    let with = |size, many, at, count, typed: &[u8]| {
        decode(&[record(&[fixed(size, many, at, count), DEVICES.to_vec(), typed.to_vec()].concat())])
    };
    for (decoded, reason) in [
        // More devices than the record has room for, a place beyond the record, in the header, and lengths that lead outside.
        (with(4, 200, 40, 3, &TYPED), Reason::SectionOutsideRecord),
        (with(4, 2, 900, 3, &TYPED), Reason::SectionOutsideRecord),
        (with(4, 2, 6, 3, &TYPED), Reason::SectionOutsideRecord),
        (with(4, 2, 40, 4, &TYPED), Reason::ChainBroken),
        (with(4, 2, 40, 1, &[7, 200, 0xC1]), Reason::ChainBroken),
        (with(0, 2, 40, 3, &TYPED), Reason::SectionTooShort),
    ] {
        assert_eq!(decoded.damage.first().map(|damage| damage.reason), Some(reason));
        assert_eq!(numbers(&decoded, "part", "a"), [Some(300)], "{reason:?}");
    }
}

#[test]
fn records_are_written_with_the_places_of_their_entries() {
    let catalogue = catalogue();
    let encoder = RecordEncoder::new(&catalogue, "smf201", EncodeOptions::default()).expect("known");
    // A subtype of the identity has no place in such a record.
    let identity = RecordIdentity {
        system: Some("SYS1".into()),
        written_at: Some(1_772_356_500_000_000),
        subtype: Some(9),
        ..RecordIdentity::default()
    };
    let rows = |columns: Vec<(&str, ArrayRef)>| RecordBatch::try_from_iter(columns).expect("columns");
    let sections = [
        (
            "part".to_owned(),
            rows(vec![
                ("a", Arc::new(UInt16Array::from(vec![300]))),
                ("b", Arc::new(UInt32Array::from(vec![5]))),
                ("c", Arc::new(UInt32Array::from(vec![6]))),
            ]),
        ),
        ("device".to_owned(), rows(vec![("v", Arc::new(UInt32Array::from(vec![1, 2])))])),
        (
            "kind".to_owned(),
            rows(vec![
                ("kind", Arc::new(UInt8Array::from(vec![7, 3, 7]))),
                ("len", Arc::new(UInt8Array::from(vec![2, 1, 0]))),
            ]),
        ),
        (
            "name".to_owned(),
            rows(vec![
                ("section_no", Arc::new(UInt32Array::from(vec![1, 3]))),
                ("kind", Arc::new(UInt8Array::from(vec![7, 7]))),
                ("name", Arc::new(StringArray::from(vec!["AB", ""]))),
            ]),
        ),
    ];
    let encoded = encoder.encode(&identity, &sections).expect("encodes");
    // The data of the second typed record is in no table: a zero stands for it.
    let mut typed = TYPED;
    typed[6] = 0;
    let expected = record(&[fixed(4, 2, 40, 3), DEVICES.to_vec(), typed.to_vec()].concat());
    assert_eq!(encoded.get(0).expect("one")[18..], expected[18..]);
    assert_eq!(encoded.get(0).expect("one")[4..6], [0x1E, 201]);
}

#[test]
fn rules_name_numbers_at_fixed_places() {
    let fault = |row: &str| build(&["part,,fixed,,", row]).map_or_else(|error| error, |_| "fits".into());
    assert_eq!(fault("device,D,placed:26:SIZE:MANY,,"), "fits");
    assert!(fault("device,D,placed:26:GONE:MANY,,").contains("`GONE` is no unsigned field of the record's header"));
    assert!(fault("device,V,placed:26:SIZE:MANY,,").contains("`V` is no unsigned field"));
    assert!(fault("device,D,placed:26:3:MANY,,").contains("`3` is no unsigned field"));
    assert!(fault("kind,A,fixed,,").contains("header sections and a fixed part have no triplet"));
}
