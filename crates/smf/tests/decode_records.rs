//! Whole records: identity worked by hand, triplets that lie, sections of other releases, chains, arrays.

mod records;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampMicrosecondType, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder, NoteKind, Reason, decode_section};
use plexlens_smf::layout::{Catalogue, Section};
use plexlens_smf::stream::{FrameBatch, FrameKind};
use proptest::prelude::*;
use records::Random;

fn decode(catalogue: &Catalogue, records: &[Vec<u8>]) -> DecodedBatch {
    let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("all tables");
    decoder.decode(&records::batch(records), None, "source").expect("decodes")
}

fn table<'a>(decoded: &'a DecodedBatch, name: &str) -> &'a RecordBatch {
    let names: Vec<&str> = decoded.tables.iter().map(|(name, _)| name.as_str()).collect();
    &decoded.tables.iter().find(|(table, _)| table == name).unwrap_or_else(|| panic!("{name} in {names:?}")).1
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(column).expect("the column").as_string::<i32>();
    column.iter().map(|text| text.map(str::to_owned)).collect()
}

fn times(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).expect("the column").as_primitive::<TimestampMicrosecondType>().iter().collect()
}

/// A field of two bytes, and one of four behind it.
fn two_fields() -> String {
    records::section_text(&["A,0,4,u32,", "B,4,2,u16,"])
}

fn reasons(decoded: &DecodedBatch) -> Vec<Reason> {
    decoded.damage.iter().map(|damage| damage.reason).collect()
}

/// An RMF header of type 74.4 with `triplets` after the product section's, and what follows.
fn rmf_record(triplets: &[(u32, u16, u16)], body: &[u8]) -> Vec<u8> {
    let mut record = vec![0; 28];
    record[4] = 0xDE;
    record[5] = 74;
    // 10:15:00.25 on 2024-03-01, day 061.
    record[6..10].copy_from_slice(&3_690_025_u32.to_be_bytes());
    record[10..14].copy_from_slice(&[0x01, 0x24, 0x06, 0x1F]);
    record[14..18].copy_from_slice(&[0xE2, 0xE8, 0xE2, 0xF1]);
    record[18..22].copy_from_slice(&[0xD9, 0xD4, 0xC6, 0x40]);
    record[22..24].copy_from_slice(&4_u16.to_be_bytes());
    record[24..26].copy_from_slice(&(triplets.len() as u16).to_be_bytes());
    for &(offset, length, count) in triplets {
        record.extend(offset.to_be_bytes());
        record.extend(length.to_be_bytes());
        record.extend(count.to_be_bytes());
    }
    record.extend(body);
    let length = record.len() as u16;
    record[..2].copy_from_slice(&length.to_be_bytes());
    record
}

/// A product section: 10:00:00 local on 2024-03-01, 14 minutes 59.998 seconds, two hours ahead of UTC, PLEX1.
fn rmf_product() -> Vec<u8> {
    let mut product = vec![0; 104];
    product[10..14].copy_from_slice(&[0x01, 0x00, 0x00, 0x0F]);
    product[14..18].copy_from_slice(&[0x01, 0x24, 0x06, 0x1F]);
    product[18..22].copy_from_slice(&[0x14, 0x59, 0x99, 0x8F]);
    // 7200 seconds of 4,096,000,000 clock units.
    product[60..68].copy_from_slice(&29_491_200_000_000_i64.to_be_bytes());
    product[88..96].copy_from_slice(&[0xD7, 0xD3, 0xC5, 0xE7, 0xF1, 0x40, 0x40, 0x40]);
    product
}

/// 2024-03-01 is 19,783 days after 1970-01-01: 54 years of 365 days, 13 leap days, and 60 days of 2024.
const MARCH_FIRST: i64 = 19_783 * 86_400_000_000;

#[test]
fn rmf_identity_comes_from_the_product_section() {
    let catalogue = records::catalogue();
    let mut body = rmf_product();
    body.extend([0xC3, 0xC6, 0xF0, 0xF1, 0x40, 0x40, 0x40, 0x40]);
    body.extend([0xC3, 0xC6, 0xF0, 0xF2, 0x40, 0x40, 0x40, 0x40]);
    // Product at 44, two connectivity entries of eight bytes behind it; nothing of the local facility.
    let record = rmf_record(&[(52, 104, 1), (0, 0, 0), (156, 8, 2)], &body);
    let decoded = decode(catalogue, &[record]);
    assert_eq!(decoded.damage, []);
    let systems = table(&decoded, "smf74_4_connectivity");
    assert_eq!(texts(systems, "r744xsys"), [Some("CF01".into()), Some("CF02".into())]);
    assert_eq!(texts(systems, "system"), [Some("SYS1".into()), Some("SYS1".into())]);
    assert_eq!(texts(systems, "sysplex"), [Some("PLEX1".into()), Some("PLEX1".into())]);
    assert_eq!(texts(systems, "subsystem"), [None, None]);
    assert_eq!(texts(systems, "source_id"), [Some("source".into()), Some("source".into())]);
    let eight = MARCH_FIRST + 8 * 3_600_000_000;
    assert_eq!(times(systems, "interval_start"), [Some(eight); 2]);
    assert_eq!(times(systems, "interval_end"), [Some(eight + 899_998_000); 2]);
    let offset = systems.column_by_name("utc_offset").expect("key").as_primitive::<Float64Type>();
    assert_eq!(offset.value(0), 7200.0);
    let section_no = systems.column_by_name("section_no").expect("key").as_primitive::<UInt32Type>();
    assert_eq!(section_no.values()[..], [1, 2]);
    let inventory = table(&decoded, "smf_record");
    assert_eq!(times(inventory, "written_at"), [Some(MARCH_FIRST + 36_900_250_000)]);
    let subtype = inventory.column_by_name("subtype").expect("column").as_primitive::<UInt16Type>();
    assert_eq!(subtype.value(0), 4);
    let hash = inventory.column_by_name("hash").expect("column").as_primitive::<UInt64Type>();
    let second = decode(catalogue, &[rmf_record(&[(52, 104, 1), (0, 0, 0), (156, 8, 2)], &body)]);
    let again = table(&second, "smf_record").column_by_name("hash").expect("column").as_primitive::<UInt64Type>();
    assert_eq!(hash.value(0), again.value(0));
}

/// A Db2 record of IFCID 1, whose first section is a Q3ST; the product section is the last.
#[test]
fn db2_records_are_told_by_ifcid() {
    let header = records::section_text(&["SM100STF,22,2,u16,", "QWS00PSO,28,4,u32,", "QWS00R1O,36,4,u32,"]);
    let qwhs = records::section_text(&["QWHSIID,4,2,u16,", "QWHSSSID,12,4,ebcdic,", "QWHSSTCK,16,8,stck,"]);
    let qwhc = records::section_text(&["QWHCAID,4,8,ebcdic,"]);
    let map = "# identity: db2\nlayout,triplet,rule,description,source,confidence\nh,,header,,,high\n\
        qwhs,QWS00PSO,product,,,high\nqwhc,QWS00PSO,chain:2,,,high\nq,QWS00R1O,varying,,,high\n";
    let catalogue = Catalogue::from_texts(
        &[("h", &header), ("qwhs", &qwhs), ("qwhc", &qwhc), ("q", &two_fields())],
        &[("smf100_ifcid1", map)],
    )
    .expect("sound");
    let mut product = vec![0, 24, 1, 0, 0, 1, 2, 0xC1, 0, 0, 0, 0, 0xC4, 0xC2, 0xF1, 0xC1];
    // The clock of 1970-01-01, plus 2^40 microseconds.
    product.extend((0x7D91_048B_CA00_0000_u64 + (1 << 52)).to_be_bytes());
    product.extend([0, 12, 2, 0, 0xE4, 0xE2, 0xC5, 0xD9, 0x40, 0x40, 0x40, 0x40]);
    let mut record = rmf_record(&[(64, 36, 1), (44, 0, 3)], &[]);
    record[5] = 100;
    record[22..26].fill(0);
    // Three members of six, eight and four bytes, each after its length.
    record.extend([0, 6, 0, 0, 0, 1, 0, 2]);
    record.extend([0, 8, 0, 0, 0, 3, 0, 4, 9, 9]);
    record.resize(64, 0);
    record[62..64].copy_from_slice(&[0, 0]);
    record.extend(&product);
    let decoded = decode(&catalogue, &[record.clone()]);
    // The third member has length zero: it is there, and too short for a row.
    assert_eq!(reasons(&decoded), [Reason::SectionTooShort]);
    let entries = table(&decoded, "q");
    assert_eq!(entries.column_by_name("a").expect("a").as_primitive::<UInt32Type>().values()[..], [1, 3]);
    assert_eq!(texts(entries, "subsystem"), [Some("DB1A".into()), Some("DB1A".into())]);
    assert_eq!(times(entries, "interval_end"), [Some(1 << 40); 2]);
    assert_eq!(times(entries, "interval_start"), [None; 2]);
    assert_eq!(texts(table(&decoded, "qwhc"), "qwhcaid"), [Some("USER".into())]);
    // Another IFCID has no map.
    record[64 + 5] = 2;
    let other = decode(&catalogue, &[record]);
    assert_eq!(other.tables.len(), 1);
    assert!(!table(&other, "smf_record").column_by_name("decoded").expect("column").as_boolean().value(0));
}

#[test]
fn cics_classes_and_smf30_intervals() {
    let header = records::section_text(&["SMFSTY,22,2,u16,", "SMFAPS,28,4,u32,", "SMFASS,36,4,u32,"]);
    let product = records::section_text(&["SMFMNSPN,10,8,ebcdic,", "SMFMNCL,22,2,u16,"]);
    let cics = "# identity: cics\nlayout,triplet,rule,description,source,confidence\nh,,header,,,high\n\
        p,SMFAPS,product,,,high\nq,SMFASS,entries,,,high\n";
    let header30 = records::section_text(&["SMF30STP,22,2,u16,", "SMF30IOF,24,4,u32,"]);
    let identification = records::section_text(&["SMF30ISS,0,8,stck,", "SMF30IET,8,8,stck,"]);
    let smf30 = "# identity: smf30\nlayout,triplet,rule,description,source,confidence\nh30,,header,,,high\n\
        id,SMF30IOF,entries,,,high\n";
    let catalogue = Catalogue::from_texts(
        &[("h", &header), ("p", &product), ("q", &two_fields()), ("h30", &header30), ("id", &identification)],
        &[("smf110_1_class3", cics), ("smf30", smf30)],
    )
    .expect("sound");
    let mut section = vec![0; 24];
    section[10..18].copy_from_slice(&[0xC3, 0xC9, 0xC3, 0xE2, 0xF1, 0x40, 0x40, 0x40]);
    section[23] = 3;
    section.extend([0, 0, 0, 7, 0, 8]);
    let mut record = rmf_record(&[(44, 24, 1), (68, 6, 1)], &section);
    record[5] = 110;
    record[23] = 1;
    let decoded = decode(&catalogue, &[record.clone()]);
    assert_eq!(decoded.damage, []);
    assert_eq!(texts(table(&decoded, "q"), "subsystem"), [Some("CICS1".into())]);
    record[44 + 23] = 1; // a dictionary record
    assert_eq!(decode(&catalogue, &[record]).tables.len(), 1);

    let clock = |micros: u64| (0x7D91_048B_CA00_0000_u64 + (micros << 12)).to_be_bytes();
    let end = (MARCH_FIRST + 33_300_000_000) as u64; // 09:15 UTC; the header says 10:15:00.25
    let mut record = rmf_record(&[], &[]);
    record[5] = 30;
    record.truncate(24);
    record.extend([0, 0, 0, 32, 0, 16, 0, 1]);
    record.extend(clock(end - 900_000_000));
    record.extend(clock(end));
    let decoded = decode(&catalogue, &[record]);
    let rows = table(&decoded, "id");
    assert_eq!(times(rows, "interval_start"), [Some(end as i64 - 900_000_000)]);
    assert_eq!(times(rows, "interval_end"), [Some(end as i64)]);
    let offset = rows.column_by_name("utc_offset").expect("key").as_primitive::<Float64Type>();
    assert_eq!(offset.value(0), 3600.0);
}

#[test]
fn sections_of_other_releases() {
    let catalogue = records::single("x200_1", &two_fields(), "entries");
    let short = records::record(4, 2, &[0, 0, 0, 1, 0, 0, 0, 2]);
    let long = records::record(9, 1, &[0, 0, 0, 3, 0, 4, 5, 6, 7]);
    let exact = records::record(6, 1, &[0, 0, 0, 5, 0, 6]);
    let decoded = decode(&catalogue, &[short, long, exact]);
    assert_eq!(decoded.damage, []);
    let rows = table(&decoded, "x200_1");
    assert_eq!(rows.column_by_name("a").expect("a").as_primitive::<UInt32Type>().values()[..], [1, 2, 3, 5]);
    let b: Vec<Option<u16>> = rows.column_by_name("b").expect("b").as_primitive::<UInt16Type>().iter().collect();
    assert_eq!(b, [None, None, Some(4), Some(6)]);
    let notes: Vec<_> = decoded.notes.iter().map(|note| (note.kind, note.count, note.max_bytes)).collect();
    assert_eq!(notes, [(NoteKind::SectionLonger, 1, 3), (NoteKind::SectionShorter, 2, 2)]);
}

#[test]
fn triplets_that_lie() {
    let catalogue = records::single("x200_1", &two_fields(), "entries");
    let with = |offset: u32, length: u16, count: u16, body: &[u8]| {
        let mut record = records::record(length, count, body);
        record[28..32].copy_from_slice(&offset.to_be_bytes());
        decode(&catalogue, &[record, records::record(6, 1, &[0, 0, 0, 1, 0, 2])])
    };
    let body = [0; 60];
    for (offset, length, count, reason) in [
        (36, 6, 11, Reason::SectionOutsideRecord),
        (36, u16::MAX, u16::MAX, Reason::SectionOutsideRecord),
        (u32::MAX, 6, 1, Reason::SectionOutsideRecord),
        (97, 6, 1, Reason::SectionOutsideRecord),
        (20, 6, 1, Reason::SectionOutsideRecord),
        (36, 0, 5, Reason::SectionTooShort),
        (36, 3, 5, Reason::SectionTooShort),
    ] {
        let decoded = with(offset, length, count, &body);
        assert_eq!(reasons(&decoded), [reason], "{offset} {length} {count}");
        assert_eq!(decoded.damage[0].record_no, 1);
        assert_eq!(decoded.damage[0].section, "x200_1");
        assert!(decoded.damage[0].detail.contains(&length.to_string()), "{}", decoded.damage[0].detail);
        assert_eq!(table(&decoded, "x200_1").num_rows(), 1, "the record after it is read");
        assert_eq!(table(&decoded, "smf_record").num_rows(), 2);
    }
    for (offset, count) in [(0, 5), (36, 0)] {
        let decoded = with(offset, 6, count, &body);
        assert_eq!(decoded.damage, [], "absent, not damaged");
        assert_eq!(table(&decoded, "x200_1").num_rows(), 1);
    }
}

#[test]
fn older_headers_have_fewer_triplets() {
    // A header of two triplets: the third of the map would lie in the product section.
    let catalogue = records::catalogue();
    let mut body = rmf_product();
    body.extend(vec![1; 16]);
    let record = rmf_record(&[(44, 104, 1), (0, 0, 0)], &body);
    let decoded = decode(catalogue, &[record]);
    assert_eq!(decoded.damage, []);
    let names: Vec<&str> = decoded.tables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["rmf_product_section", "smf_record"]);
}

#[test]
fn a_record_without_its_product_section_says_so() {
    let decoded = decode(records::catalogue(), &[rmf_record(&[(0, 0, 0), (0, 0, 0)], &[])]);
    assert_eq!(reasons(&decoded), [Reason::ProductSectionMissing]);
    assert_eq!(decoded.damage[0].section, "rmf_product_section");
}

#[test]
fn a_product_section_that_ends_before_the_interval_says_so() {
    // The offset of local time is in bytes 60 to 67, the begin of the interval and its length are before it.
    for (length, damaged) in [(6, true), (67, true), (68, false)] {
        let record = rmf_record(&[(44, length, 1), (0, 0, 0)], &rmf_product()[..usize::from(length)]);
        let decoded = decode(records::catalogue(), &[record]);
        let expected: &[Reason] = if damaged { &[Reason::SectionTooShort] } else { &[] };
        assert_eq!(reasons(&decoded), expected, "{length} bytes");
    }
}

#[test]
fn overlapping_sections_cannot_outgrow_their_record() {
    let header = records::section_text(&["O1,28,4,u32,", "O2,36,4,u32,", "O3,44,4,u32,"]);
    let map = "# identity: standard\nlayout,triplet,rule,description,source,confidence\nh,,header,,,high\n\
        x,O1,entries,,,high\ny,O2,entries,,,high\nz,O3,entries,,,high\n";
    let text = two_fields();
    let catalogue =
        Catalogue::from_texts(&[("h", &header), ("x", &text), ("y", &text), ("z", &text)], &[("smf200", map)])
            .expect("sound");
    let mut record = rmf_record(&[(52, 6, 5000), (52, 6, 5000), (52, 6, 5000)], &vec![1; 30_000]);
    record[5] = 200;
    let decoded = decode(&catalogue, &[record]);
    assert_eq!(reasons(&decoded), [Reason::SectionsOverlap, Reason::SectionsOverlap]);
    assert_eq!(table(&decoded, "x").num_rows(), 5000);
}

#[test]
fn arrays_number_their_elements_and_leave_out_unused_ones() {
    let catalogue = records::single("x200_1", &two_fields(), "array:2:6:3");
    // Two entries of 21 bytes: two bytes, three elements of six, one byte of something else.
    let mut body = vec![9, 9];
    body.extend([0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 3, 8]);
    body.extend([9, 9]);
    body.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 8]);
    let decoded = decode(&catalogue, &[records::record(21, 2, &body)]);
    let rows = table(&decoded, "x200_1");
    let section_no = rows.column_by_name("section_no").expect("key").as_primitive::<UInt32Type>();
    assert_eq!(section_no.values()[..], [1, 3, 5, 6]);
    assert_eq!(rows.column_by_name("a").expect("a").as_primitive::<UInt32Type>().values()[..], [1, 3, 0, 6]);
    // Without a number of elements: as many whole ones as fit.
    let open = records::single("x200_1", &two_fields(), "array:2:6");
    assert_eq!(table(&decode(&open, &[records::record(21, 2, &body)]), "x200_1").num_rows(), 4);
}

#[test]
fn only_wanted_tables_are_filled() {
    let catalogue = records::catalogue();
    let record = rmf_record(&[(44, 104, 1), (0, 0, 0)], &rmf_product());
    let decoder = |tables: &[&str]| {
        let tables = Some(tables.iter().map(|&table| table.to_owned()).collect());
        Decoder::new(catalogue, DecodeOptions { tables, ..DecodeOptions::default() })
    };
    let names = |tables: &[&str]| {
        let decoded = decoder(tables).expect("known").decode(&records::batch([&record]), None, "s").expect("decodes");
        decoded.tables.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["smf_record"]), ["smf_record"]);
    assert_eq!(names(&["rmf_product_section"]), ["rmf_product_section"]);
    assert_eq!(names(&["smf74_4_request"]), [""; 0]);
    let error = decoder(&["smf74_4_requests"]).expect_err("unknown").to_string();
    assert!(error.contains("smf74_4_requests") && error.contains("smf74_4_request,"), "{error}");
}

#[test]
fn only_wanted_columns_are_filled() {
    let catalogue = records::single("x200_1", &two_fields(), "entries");
    let batch = records::batch((1..=3).map(|n| records::record(6, 1, &[0, 0, 0, n, 0, 7])));
    let decode = |columns: Option<&[&str]>| {
        let columns = columns.map(|columns| columns.iter().map(|&name| name.to_owned()).collect());
        let decoder = Decoder::new(&catalogue, DecodeOptions { columns, ..DecodeOptions::default() }).expect("all");
        table(&decoder.decode(&batch, None, "s").expect("decodes"), "x200_1").clone()
    };
    let whole = decode(None);
    // In the order of the table, whatever the order they are named in; what it does not have is not there.
    let some = decode(Some(&["b", "record_no", "elsewhere"]));
    let names: Vec<_> = some.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["record_no", "b"]);
    for name in names {
        assert_eq!(some.column_by_name(&name), whole.column_by_name(&name));
        assert_eq!(some.schema_ref().field_with_name(&name).ok(), whole.schema_ref().field_with_name(&name).ok());
    }
    let none = decode(Some(&["elsewhere"]));
    assert_eq!((none.num_columns(), none.num_rows()), (0, 3));
}

#[test]
fn dropped_records_leave_no_trace() {
    let catalogue = records::single("x200_1", &two_fields(), "entries");
    let decoder = Decoder::new(&catalogue, DecodeOptions::default()).expect("all");
    let batch = records::batch((1..=3).map(|n| records::record(6, 1, &[0, 0, 0, n, 0, 0])));
    let decoded = decoder.decode(&batch, Some(&[true, false, true]), "s").expect("decodes");
    assert_eq!(decoded.records, 2);
    let rows = table(&decoded, "x200_1");
    assert_eq!(rows.column_by_name("a").expect("a").as_primitive::<UInt32Type>().values()[..], [1, 3]);
    let record_no = rows.column_by_name("record_no").expect("key").as_primitive::<UInt64Type>();
    assert_eq!(record_no.values()[..], [1, 3]);
    assert_eq!(table(&decoded, "smf_record").num_rows(), 2);
}

#[test]
fn unreadable_values_are_null_and_counted() {
    let text = records::section_text(&["P,0,2,packed,", "D,2,4,smf_date,", "S,6,8,u64,GiB", "H,14,4,packed,0hhmmssF"]);
    let catalogue = records::single("x200_1", &text, "entries");
    let mut body = vec![0x1A, 0x2C, 0x01, 0x24, 0x40, 0x0F];
    body.extend([0xFF; 8]);
    body.extend([0x00, 0x96, 0x00, 0x0F]);
    let decoded = decode(&catalogue, &[records::record(18, 1, &body)]);
    let rows = table(&decoded, "x200_1");
    let mut counted: Vec<_> = decoded.notes.iter().map(|note| (note.kind, note.field.clone(), note.count)).collect();
    counted.sort();
    let expected = ["d", "h", "p", "s"].map(|field| (NoteKind::ValueUnreadable, Some(field.to_owned()), 1));
    assert_eq!(counted, expected);
    assert!(["p", "d", "s", "h"].iter().all(|column| rows.column_by_name(column).expect("column").is_null(0)));
}

/// Bytes a decoded batch holds.
fn memory(decoded: &DecodedBatch) -> usize {
    decoded.tables.iter().map(|(_, batch)| batch.get_array_memory_size()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// No bytes make the decoder panic, and what it gives is at most a fixed multiple of what it got.
    #[test]
    fn any_bytes_are_survived(seed: u64, length in 0_usize..6000, known: bool) {
        let catalogue = records::catalogue();
        let mut random = Random(seed);
        let mut bytes = random.bytes(length);
        if known && length > 24 {
            let maps: Vec<_> = catalogue.maps().collect();
            let map = &maps[random.below(maps.len() as u64) as usize];
            bytes[4] = 0x5E;
            bytes[5] = map.record_type;
            if let plexlens_smf::layout::Selector::Subtype(subtype) = map.selector {
                bytes[22..24].copy_from_slice(&subtype.to_be_bytes());
            }
            // Triplets with small numbers, which lead somewhere.
            for at in (24..length.min(140)).step_by(2) {
                bytes[at] = if random.below(8) == 0 { bytes[at] } else { 0 };
            }
        }
        let decoded = decode(catalogue, &[bytes]);
        prop_assert!(memory(&decoded) < 64 * length + 2_000_000, "{} from {length}", memory(&decoded));
    }
}

#[test]
fn the_worst_record_stays_bounded() {
    // As many entries as the shortest allowed length gives, in every table that a record can fill.
    let catalogue = records::catalogue();
    let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("all tables");
    for map in catalogue.maps() {
        for entry in &map.entries {
            let Some(field) = catalogue.triplet(map, entry) else { continue };
            let mut record = vec![0xFF; 32_756];
            record[..300].fill(0);
            record[4..6].copy_from_slice(&[0x5E, map.record_type]);
            if let plexlens_smf::layout::Selector::Subtype(subtype) = map.selector {
                record[22..24].copy_from_slice(&subtype.to_be_bytes());
            }
            let mut most = 0;
            for length in [4_u16, 8, 16, 24, 32, 48] {
                let start = 300_u32;
                record[field.offset..field.offset + 4].copy_from_slice(&start.to_be_bytes());
                record[field.offset + 4..field.offset + 6].copy_from_slice(&length.to_be_bytes());
                let count = (32_756 - 300) / length;
                record[field.offset + 6..field.offset + 8].copy_from_slice(&count.to_be_bytes());
                let decoded = decoder.decode(&records::batch([&record]), None, "source").expect("decodes");
                most = most.max(memory(&decoded));
            }
            assert!(most < 64 * 32_756, "{} {}: {most} bytes", map.name, entry.layout);
        }
    }
}

#[test]
fn frames_tell_how_they_came_to_be() {
    let catalogue = Catalogue::default();
    let decoder = Decoder::new(&catalogue, DecodeOptions::default()).expect("inventory");
    let mut batch: FrameBatch = records::batch((1..=4).map(|n| records::record(0, 0, &[n])));
    batch.frames[1].kind = FrameKind::Spanned(3);
    batch.frames[2].kind = FrameKind::Joined(2);
    batch.data[batch.frames[3].start + 5] = 126;
    let decoded = decoder.decode(&batch, None, "s").expect("decodes");
    let rows = table(&decoded, "smf_record");
    let column = |name: &str| rows.column_by_name(name).expect("column").as_primitive::<UInt16Type>().values().to_vec();
    assert_eq!(column("spanned_segments"), [0, 3, 0, 0]);
    assert_eq!(column("joined_parts"), [0, 0, 2, 0]);
    assert_eq!(column("record_type"), [200, 200, 200, 126]);
    assert_eq!(texts(rows, "system")[3], None, "the place of the system id in an extended header is not known");
    let offset = rows.column_by_name("offset").expect("column").as_primitive::<UInt64Type>();
    assert_eq!(offset.values()[..], [0, 37, 74, 111]);
}

#[test]
fn records_of_one_section_are_decoded_one_behind_the_other() {
    let section = Arc::new(Section::parse("vm_x", "vm_x", &two_fields()).expect("sound"));
    let data = [0, 0, 0, 7, 1, 2, 0, 0, 0, 8];
    let (batch, notes) = decode_section(&section, &data, &[6, 4], &DecodeOptions::default()).expect("decodes");
    let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["a", "b"]);
    let a: Vec<_> = batch.column(0).as_primitive::<UInt32Type>().iter().collect();
    let b: Vec<_> = batch.column(1).as_primitive::<UInt16Type>().iter().collect();
    // 7 and 8; X'0102' is 258, and the second record ends before it.
    assert_eq!((a, b), (vec![Some(7), Some(8)], vec![Some(258), None]));
    let shorter: Vec<_> = notes.iter().filter(|note| note.kind == NoteKind::SectionShorter).collect();
    assert_eq!(shorter.iter().map(|note| (note.count, note.max_bytes)).collect::<Vec<_>>(), [(1, 2)]);
    let refused = decode_section(&section, &data, &[6, 5], &DecodeOptions::default()).expect_err("11 bytes");
    assert!(refused.to_string().contains("11 bytes by their lengths, 10 in all"), "{refused}");
}
