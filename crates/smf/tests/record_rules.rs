//! Record maps with conditions, variants, tagged, counted and linked sections: records by hand, values by hand.

mod records;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder, NoteKind, Reason};
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity};
use plexlens_smf::layout::Catalogue;
use std::sync::Arc;

/// A catalogue of record 200.1; map rows are `layout,triplet,rule,when,table`.
fn catalogue(identity: &str, sections: &[(&str, &[&str])], rows: &[&str]) -> Result<Catalogue, String> {
    let texts: Vec<(&str, String)> =
        sections.iter().map(|(name, fields)| (*name, records::section_text(fields))).collect();
    let mut all: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all.push(("x200_header", records::HEADER));
    let mut map = format!("# identity: {identity}\nlayout,triplet,rule,when,table,description,source,confidence\n");
    map += "x200_header,,header,,,,,high\n";
    rows.iter().for_each(|row| map += &format!("{row},,,high\n"));
    Catalogue::from_texts(&all, &[("smf200_1", &map)]).map_err(|error| error.to_string())
}

fn decode(catalogue: &Catalogue, records: &[Vec<u8>]) -> DecodedBatch {
    let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("all tables");
    decoder.decode(&records::batch(records), None, "s").expect("decodes")
}

fn table<'a>(decoded: &'a DecodedBatch, name: &str) -> &'a RecordBatch {
    &decoded.tables.iter().find(|(table, _)| table == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// A column of unsigned 32-bit numbers, nulls and all.
fn numbers(batch: &RecordBatch, column: &str) -> Vec<Option<u32>> {
    batch.column_by_name(column).expect("the column").as_primitive::<UInt32Type>().iter().collect()
}

fn places(batch: &RecordBatch) -> Vec<(u64, u32)> {
    let record = batch.column_by_name("record_no").expect("key").as_primitive::<UInt64Type>();
    let section = batch.column_by_name("section_no").expect("key").as_primitive::<UInt32Type>();
    record.values().iter().copied().zip(section.values().iter().copied()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// Two releases of one section: the older has two fields in other places, and lacks the third.
fn releases() -> Catalogue {
    catalogue(
        "standard",
        &[("new", &["A,0,4,u32,", "B,4,4,u32,", "C,8,4,u32,"]), ("old", &["B,0,4,u32,", "A,4,4,u32,"])],
        &["new,X200O,entries,length>=12,", "old,X200O,entries,length<12,new"],
    )
    .expect("sound")
}

#[test]
fn the_length_of_an_entry_chooses_its_layout() {
    let decoded = decode(
        &releases(),
        &[
            records::record(12, 2, &words(&[1, 2, 3, 4, 5, 6])),
            records::record(8, 1, &words(&[20, 10])),
            records::record(16, 1, &words(&[7, 8, 9, 0])),
            records::record(8, 1, &words(&[40, 30])),
        ],
    );
    let new = table(&decoded, "new");
    assert_eq!(places(new), [(1, 1), (1, 2), (2, 1), (3, 1), (4, 1)], "in the order of the dump");
    assert_eq!(numbers(new, "a"), [Some(1), Some(4), Some(10), Some(7), Some(30)]);
    assert_eq!(numbers(new, "b"), [Some(2), Some(5), Some(20), Some(8), Some(40)]);
    assert_eq!(numbers(new, "c"), [Some(3), Some(6), None, Some(9), None]);
    assert!(decoded.tables.iter().all(|(name, _)| name != "old"), "a variant has no table of its own");
    assert!(decoded.damage.is_empty());
}

#[test]
fn values_of_a_variant_become_those_of_the_table() {
    let catalogue = catalogue(
        "standard",
        &[("new", &["N,0,8,u64,", "S,8,4,u32,KiB"]), ("old", &["N,0,2,u16,", "S,2,2,u16,B"])],
        &["new,X200O,entries,length>=12,", "old,X200O,entries,length=4,new"],
    )
    .expect("bytes and numbers of any width");
    let decoded = decode(
        &catalogue,
        &[records::record(12, 1, &words(&[1, 2, 3])), records::record(4, 1, &[0x01, 0x02, 0x10, 0x00])],
    );
    let column = |name: &str| table(&decoded, "new").column_by_name(name).expect("a column").clone();
    assert_eq!(column("n").as_primitive::<UInt64Type>().values().as_ref(), [(1 << 32) + 2, 0x0102]);
    assert_eq!(column("s").as_primitive::<UInt64Type>().values().as_ref(), [3 * 1024, 0x1000]);
}

#[test]
fn a_field_of_the_entry_chooses_what_follows_it() {
    let catalogue = catalogue(
        "standard",
        &[
            ("base", &["KIND,0,1,u8,", "ID,1,1,u8,"]),
            ("two", &["T,0,4,u32,"]),
            ("three", &["H,0,2,u16,", "J,2,2,u16,"]),
        ],
        &["base,X200O,entries,,", "two,X200O,array:4:4:1,KIND=2,", "three,X200O,array:4:4:1,KIND>=3,"],
    )
    .expect("sound");
    let entries =
        [[2, 1, 0, 0, 0, 0, 0, 9], [3, 2, 0, 0, 0, 7, 0, 8], [1, 3, 0, 0, 5, 5, 5, 5], [2, 4, 0, 0, 0, 0, 0, 6]];
    let decoded = decode(&catalogue, &[records::record(8, 4, &entries.concat())]);
    assert_eq!(table(&decoded, "base").num_rows(), 4);
    assert_eq!(places(table(&decoded, "two")), [(1, 1), (1, 4)], "joined to the entry by section_no");
    assert_eq!(numbers(table(&decoded, "two"), "t"), [Some(9), Some(6)]);
    assert_eq!(places(table(&decoded, "three")), [(1, 2)]);
}

/// A Db2-like catalogue: QWHS of 52 bytes with a release, and a section whose order changed with it.
fn by_release() -> Catalogue {
    let qwhs = ["QWHSSSID,12,4,ebcdic,", "QWHSSTCK,16,8,stck,", "QWHSRN,24,1,u8,", "QWHSIID,4,2,u16,"];
    let header = "field,offset,length,format,unit,description,source,confidence\n\
         PSO,28,4,u32,,,,high\nPSL,32,2,u16,,,,high\nPSN,34,2,u16,,,,high\n\
         R1O,36,4,u32,,,,high\nR1L,40,2,u16,,,,high\nR1N,42,2,u16,,,,high\n";
    let section = |fields: &[&str]| records::section_text(fields);
    let (qwhs, new, old) =
        (section(&qwhs), section(&["A,0,4,u32,", "B,4,4,u32,"]), section(&["B,0,4,u32,", "A,4,4,u32,"]));
    let map = "# identity: db2\nlayout,triplet,rule,when,table,description,source,confidence\nh,,header,,,,,high\n\
         qwhs,PSO,product,,,,,high\nnew,R1O,entries,QWHSRN>=193,,,,high\nold,R1O,entries,QWHSRN<193,new,,,high\n";
    let all = [("h", header), ("qwhs", &qwhs), ("new", &new), ("old", &old)];
    Catalogue::from_texts(&all, &[("smf200_1", map)]).expect("sound")
}

/// A record of it: the section first, the product section last, as Db2 writes them.
fn released(release: u8, first: u32, second: u32) -> Vec<u8> {
    let mut record = records::record(0, 0, &[]);
    record.truncate(28);
    let mut qwhs = vec![0; 52];
    (qwhs[1], qwhs[2], qwhs[6], qwhs[24]) = (52, 1, 2, release);
    record.extend([52_u32.to_be_bytes(), [0, 52, 0, 1], 44_u32.to_be_bytes(), [0, 8, 0, 1]].concat());
    record.extend(words(&[first, second]));
    record.extend(qwhs);
    let length = (record.len() as u16).to_be_bytes();
    record[..2].copy_from_slice(&length);
    record
}

#[test]
fn the_product_section_says_of_which_release_a_record_is() {
    let catalogue = by_release();
    let decoded =
        decode(&catalogue, &[released(193, 1, 2), released(192, 20, 10), released(0xD1, 3, 4), released(0, 6, 5)]);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    let new = table(&decoded, "new");
    assert_eq!(numbers(new, "a"), [Some(1), Some(10), Some(3), Some(5)]);
    assert_eq!(numbers(new, "b"), [Some(2), Some(20), Some(4), Some(6)]);
}

#[test]
fn the_encoder_writes_the_release_that_the_product_section_names() {
    let catalogue = by_release();
    let encoder = RecordEncoder::new(&catalogue, "smf200_1", EncodeOptions::default()).expect("known");
    let identity = RecordIdentity { system: Some("SYS1".into()), written_at: Some(0), ..RecordIdentity::default() };
    let rows = |a: u32, b: u32| {
        let (a, b) = (Arc::new(UInt32Array::from(vec![a])) as _, Arc::new(UInt32Array::from(vec![b])) as _);
        ("new".to_owned(), RecordBatch::try_from_iter([("a", a), ("b", b)]).expect("columns"))
    };
    let product = |releases: Vec<u8>| {
        let numbers = Arc::new(UInt64Array::from_iter_values(1..=releases.len() as u64)) as _;
        let releases = Arc::new(UInt8Array::from(releases)) as _;
        let batch = RecordBatch::try_from_iter([("record_no", numbers), ("qwhsrn", releases)]).expect("columns");
        ("qwhs".to_owned(), batch)
    };
    let section = |sections: &[(String, RecordBatch)]| {
        let encoded = encoder.encode(&identity, sections).expect("encodes");
        encoded.get(0).expect("one")[44..52].to_vec()
    };
    assert_eq!(section(&[rows(1, 2)]), words(&[1, 2]), "without a word, release 12");
    assert_eq!(section(&[rows(1, 2), product(vec![0xB1])]), words(&[2, 1]));
    let mixed = encoder.encode_all(&identity, &[product(vec![0xB1, 0xC1])]).expect_err("two releases");
    assert!(mixed.to_string().contains("193 after 177"), "{mixed}");
}

#[test]
fn a_condition_without_a_product_section_is_refused() {
    let sections: &[(&str, &[&str])] = &[("p", &["REL,0,1,u8,"]), ("s", &["A,0,4,u32,"])];
    let rows = ["p,X200O,product,,", "s,X200O,entries,REL=1,"];
    // The two share a triplet here; with another one the field is sought in the product section.
    assert!(catalogue("standard", sections, &rows).is_ok());
    let header =
        records::HEADER.to_owned() + "Y200O,36,4,u32,,,,high\nY200L,40,2,u16,,,,high\nY200N,42,2,u16,,,,high\n";
    let (p, s) = (records::section_text(&["REL,0,1,u8,"]), records::section_text(&["A,0,4,u32,"]));
    let map = "# identity: standard\nlayout,triplet,rule,when,table,description,source,confidence\n\
        h,,header,,,,,high\np,X200O,product,,,,,high\ns,Y200O,entries,REL=1,,,,high\n";
    let error = Catalogue::from_texts(&[("h", &header), ("p", &p), ("s", &s)], &[("smf200_1", map)]);
    assert!(error.expect_err("no identity").to_string().contains("`REL` is no unsigned field"));
}

/// Statistics entries: length, identifier, contents.
fn tagged(entries: &[(u16, &[u8])]) -> Vec<u8> {
    let entry = |&(id, contents): &(u16, &[u8])| {
        let length = contents.len() as u16 + 4;
        [&length.to_be_bytes()[..], &id.to_be_bytes(), contents].concat()
    };
    entries.iter().flat_map(entry).collect()
}

fn statistics() -> Catalogue {
    catalogue(
        "standard",
        &[
            ("pool", &["LEN,0,2,u16,", "ID,2,2,u16,", "A,4,4,u32,"]),
            ("mode", &["M,0,4,u32,"]),
            ("tcb", &["T,0,4,u32,"]),
        ],
        &["pool,X200O,tagged:21,,", "mode,X200O,tagged:60:4:4,,", "tcb,X200O,tagged:21:8:4:2,,"],
    )
    .expect("sound")
}

#[test]
fn statistics_entries_go_by_their_identifiers() {
    let data = tagged(&[
        (21, &words(&[1, 100, 0])),
        (99, &[1, 2, 3]),
        (60, &words(&[7, 0, 9])),
        (21, &words(&[2, 0, 200])),
        (99, &[0]),
    ]);
    let decoded = decode(&statistics(), &[records::record(data.len() as u16, 1, &data)]);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    assert_eq!(places(table(&decoded, "pool")), [(1, 1), (1, 2)]);
    assert_eq!(numbers(table(&decoded, "pool"), "a"), [Some(1), Some(2)]);
    assert_eq!(
        (numbers(table(&decoded, "mode"), "m"), places(table(&decoded, "mode"))),
        (vec![Some(7), Some(9)], vec![(1, 1), (1, 3)])
    );
    // Two elements in each entry: the fourth is the second of the second.
    assert_eq!(
        (numbers(table(&decoded, "tcb"), "t"), places(table(&decoded, "tcb"))),
        (vec![Some(100), Some(200)], vec![(1, 1), (1, 4)])
    );
    let unmapped: Vec<_> = decoded.notes.iter().filter(|note| note.kind == NoteKind::SectionUnmapped).collect();
    assert_eq!((unmapped.len(), unmapped[0].field.as_deref(), unmapped[0].count), (1, Some("99"), 2));
}

#[test]
fn statistics_entries_that_lead_nowhere_are_damage() {
    for spoiled in [0_u16, 3, 4, 60] {
        let mut data = tagged(&[(21, &words(&[1, 0, 0])), (21, &words(&[2, 0, 0]))]);
        data[16..18].copy_from_slice(&spoiled.to_be_bytes());
        let decoded = decode(&statistics(), &[records::record(data.len() as u16, 1, &data)]);
        assert_eq!(numbers(table(&decoded, "pool"), "a"), [Some(1)]);
        assert!(decoded.damage.iter().all(|one| one.reason == Reason::ChainBroken), "{:?}", decoded.damage);
        assert!(!decoded.damage.is_empty());
    }
}

#[test]
fn counted_texts_are_as_long_as_their_first_byte_says() {
    let catalogue = catalogue("standard", &[("text", &["T,0,20,ebcdic,"])], &["text,X200O,counted,,"]).expect("sound");
    let data = [&[3, 0xC1, 0xC2, 0xC3][..], &[0], &[1, 0xC4]].concat();
    let decoded = decode(&catalogue, &[records::record(data.len() as u16, 3, &data)]);
    let text = table(&decoded, "text").column_by_name("t").expect("t").as_string::<i32>();
    assert_eq!((text.value(0), text.is_valid(1), text.value(2)), ("ABC", true, "D"));
    assert_eq!(text.value(1), "");
    assert!(decoded.notes.is_empty(), "texts have no length to miss: {:?}", decoded.notes);
    let broken = decode(&catalogue, &[records::record(5, 2, &[3, 0xC1, 0xC2, 0xC3, 9])]);
    assert_eq!(broken.damage[0].reason, Reason::ChainBroken);
    assert_eq!(table(&broken, "text").num_rows(), 1);
    let many = decode(&catalogue, &[records::record(1, 60_000, &[0])]);
    assert_eq!((many.damage.len(), many.tables.len()), (1, 1), "the inventory alone");
}

fn linked() -> Catalogue {
    catalogue(
        "standard",
        &[("parent", &["FIRST,0,4,u32,", "SIZE,4,2,u16,", "P,6,2,u16,"]), ("child", &["NEXT,0,4,u32,", "V,4,4,u32,"])],
        &["parent,X200O,entries,,", "child,FIRST,linked:SIZE:NEXT,,"],
    )
    .expect("sound")
}

#[test]
fn lists_are_followed_from_entry_to_entry() {
    // Two parents of eight bytes at 36 and 44, children of eight from 52 on: one list of two, one of one.
    let mut data = [words(&[52, 0x0008_0001, 68, 0x0008_0002]), words(&[60, 7, 0, 8]), words(&[0, 9])].concat();
    let decoded = decode(&linked(), &[records::record(8, 2, &data)]);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    assert_eq!(numbers(table(&decoded, "child"), "v"), [Some(7), Some(8), Some(9)]);
    assert_eq!(places(table(&decoded, "child")), [(1, 1), (1, 2), (1, 3)]);
    // The second child leads back to the first.
    data[24..28].copy_from_slice(&52_u32.to_be_bytes());
    let decoded = decode(&linked(), &[records::record(8, 2, &data)]);
    assert_eq!(decoded.damage[0].reason, Reason::ChainBroken);
    assert_eq!(numbers(table(&decoded, "child"), "v"), [Some(7), Some(8), Some(9)]);
    // The first parent leads outside.
    data[..4].copy_from_slice(&4000_u32.to_be_bytes());
    let decoded = decode(&linked(), &[records::record(8, 2, &data)]);
    assert_eq!(decoded.damage[0].reason, Reason::SectionOutsideRecord);
    assert_eq!(numbers(table(&decoded, "child"), "v"), [Some(9)]);
}

/// Parents that lead to children of eight or of four bytes, which follow each other.
fn counted_links() -> Catalogue {
    catalogue(
        "standard",
        &[
            ("parent", &["FIRST,0,4,u32,", "SIZE,4,2,u16,", "MANY,6,2,u16,"]),
            ("child", &["V,0,8,u64,"]),
            ("child_4", &["V,0,4,u32,"]),
        ],
        &[
            "parent,X200O,entries,,",
            "child,FIRST,linked:SIZE::MANY,length>=8,",
            "child_4,FIRST,linked:SIZE::MANY,length<8,child",
        ],
    )
    .expect("sound")
}

#[test]
fn offsets_count_from_the_entry_that_points_or_from_the_record() {
    let catalogue = catalogue(
        "standard",
        &[("parent", &["FIRST,0,4,u32,", "SIZE,4,2,u16,", "MANY,6,2,u16,"]), ("child", &["V,0,4,u32,"])],
        &["parent,X200O,entries,,", "child,FIRST,linked:SIZE::MANY:entry,,"],
    )
    .expect("sound");
    // Two parents at 36 and 44, children of four bytes at 52: one of the first, two of the second.
    let with = |first: u32, second: u32| {
        let data = [words(&[first, 0x0004_0001, second, 0x0004_0002]), words(&[7, 8, 9])].concat();
        decode(&catalogue, &[records::record(8, 2, &data)])
    };
    for (first, second) in [(52, 56), (52 - 36, 56 - 44)] {
        let decoded = with(first, second);
        assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
        assert_eq!(numbers(table(&decoded, "child"), "v"), [Some(7), Some(8), Some(9)]);
    }
    // Outside the record, over a parent, and over each other, by either reading.
    for (first, second) in [(52, 9000), (40, 56), (52, 52)] {
        let decoded = with(first, second);
        assert_eq!(decoded.damage[0].reason, Reason::SectionsOverlap, "{first} {second}");
        assert!(decoded.tables.iter().all(|(name, _)| name != "child"));
    }
}

#[test]
fn entries_that_follow_each_other_are_counted_by_the_entry_that_points() {
    // Three parents at 36, 44 and 52: two children of four bytes at 60, none, two of eight at 68.
    let parents = words(&[60, 0x0004_0002, 0, 0x0004_0000, 68, 0x0008_0002]);
    let mut data = [parents, words(&[7, 8]), words(&[0, 9, 1, 0])].concat();
    let decode_it = |data: &[u8]| decode(&counted_links(), &[records::record(8, 3, data)]);
    let decoded = decode_it(&data);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    let rows = |decoded: &DecodedBatch| -> Vec<(u32, u64)> {
        let child = table(decoded, "child");
        let values = child.column_by_name("v").expect("v").as_primitive::<UInt64Type>().clone();
        let mut rows: Vec<_> = places(child).iter().map(|one| one.1).zip(values.values().iter().copied()).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(rows(&decoded), [(1, 7), (2, 8), (3, 9), (4, 1 << 32)]);
    // One more than the record has room for: those of the other parent keep their numbers.
    data[23] = 3;
    let decoded = decode_it(&data);
    assert_eq!(decoded.damage[0].reason, Reason::SectionOutsideRecord);
    assert_eq!(rows(&decoded), [(1, 7), (2, 8)]);
    // A parent that leads nowhere, and one with entries shorter than any layout.
    data[..4].copy_from_slice(&9000_u32.to_be_bytes());
    data[21] = 3;
    let decoded = decode_it(&data);
    let reasons: Vec<Reason> = decoded.damage.iter().map(|damage| damage.reason).collect();
    assert_eq!(reasons, [Reason::SectionOutsideRecord, Reason::SectionTooShort]);
    assert_eq!(decoded.tables.iter().map(|(_, table)| table.num_rows()).sum::<usize>(), 3 + 1, "parents, inventory");
}

#[test]
fn entries_are_dealt_to_those_that_point_by_their_counts() {
    let catalogue = counted_links();
    let encoder = RecordEncoder::new(&catalogue, "smf200_1", EncodeOptions::default()).expect("known");
    let identity = RecordIdentity {
        system: Some("SYS1".into()),
        written_at: Some(1_772_356_500_000_000),
        ..RecordIdentity::default()
    };
    let batch =
        |column: &str, array: Arc<dyn Array>| RecordBatch::try_from_iter([(column, array)]).expect("one column");
    let children = batch("v", Arc::new(UInt64Array::from(vec![5, 6, 7])));
    let encode = |many: Vec<u16>| {
        let parents = batch("many", Arc::new(UInt16Array::from(many)));
        encoder.encode(&identity, &[("parent".into(), parents), ("child".into(), children.clone())])
    };
    // Triplet at 28, parents at 36 (offset 60, length 8, count 1), 44 (none) and 52 (offset 68, length 8, count 2).
    let encoded = encode(vec![1, 0, 2]).expect("fits");
    let record = encoded.get(0).expect("one");
    assert_eq!(record[36..60], words(&[60, 0x0008_0001, 0, 0x0008_0000, 68, 0x0008_0002]));
    assert_eq!(record[60..84], words(&[0, 5, 0, 6, 0, 7]));
    // Without counts all belong to the first.
    let encoded = encode(vec![0, 0]).expect("fits");
    assert_eq!(encoded.get(0).expect("one")[36..52], words(&[52, 0x0008_0003, 0, 0x0008_0000]));
    let error = encode(vec![1, 1]).expect_err("a row too many").to_string();
    assert!(error.contains("3 rows, and 2 in the counts"), "{error}");
}

#[test]
fn fields_of_low_confidence_are_told_once_for_a_table() {
    let section =
        "field,offset,length,format,unit,description,source,confidence\nA,0,4,u32,,,,high\nB,4,4,u32,,,,low\n";
    let catalogue = records::single("guess", section, "entries");
    let records: Vec<Vec<u8>> = (0..5).map(|n| records::record(8, 2, &words(&[n, 0, n, 0]))).collect();
    let decoder = Decoder::new(&catalogue, DecodeOptions::default()).expect("all tables");
    let mut notes = Vec::new();
    for record in &records {
        let decoded = decoder.decode(&records::batch([record]), None, "s").expect("decodes");
        plexlens_smf::decode::add_notes(&mut notes, &decoded.notes);
    }
    assert_eq!(notes.len(), 1);
    assert_eq!((notes[0].kind, notes[0].section.as_str(), notes[0].count), (NoteKind::LowConfidence, "guess", 10));
}

#[test]
fn conditions_of_statistics_entries_look_at_their_own_kind() {
    let catalogue = catalogue(
        "standard",
        &[
            ("pool", &["LEN,0,2,u16,", "ID,2,2,u16,", "KIND,4,1,u8,"]),
            ("file", &["LEN,0,2,u16,", "ID,2,2,u16,", "OTHER,4,1,u8,", "SORT,5,1,u8,"]),
            ("tcb", &["T,0,4,u32,"]),
            ("part", &["P,0,4,u32,"]),
        ],
        &[
            "pool,X200O,tagged:21,,",
            "tcb,X200O,tagged:21:8:4:1,KIND=2,",
            "tcb,X200O,tagged:21:12:4:1,KIND=3,",
            "file,X200O,tagged:60,,",
            "part,X200O,tagged:60:8:4,SORT=1,",
        ],
    )
    .expect("SORT is a field of the entries 60");
    let entry = |kind: u8, sort: u8, values: &[u32]| [vec![kind, sort, 0, 0], words(values)].concat();
    let data = tagged(&[
        (21, &entry(2, 0, &[10, 20])),
        (60, &entry(0, 1, &[30])),
        (21, &entry(3, 0, &[40, 50])),
        (60, &entry(1, 0, &[60])),
    ]);
    let decoded = decode(&catalogue, &[records::record(data.len() as u16, 1, &data)]);
    assert!(decoded.damage.is_empty(), "{:?}", decoded.damage);
    assert_eq!(numbers(table(&decoded, "tcb"), "t"), [Some(10), Some(50)]);
    assert_eq!(numbers(table(&decoded, "part"), "p"), [Some(30)]);

    // The encoder puts the element where the entry's kind has it.
    let encoder = RecordEncoder::new(&catalogue, "smf200_1", EncodeOptions::default()).expect("known");
    let identity = RecordIdentity { system: Some("SYS1".into()), written_at: Some(0), ..RecordIdentity::default() };
    for (kind, at) in [(2, 8), (3, 12)] {
        let kinds = Arc::new(UInt8Array::from(vec![kind])) as _;
        let values = Arc::new(UInt32Array::from(vec![77])) as _;
        let rows = [
            ("pool".to_owned(), RecordBatch::try_from_iter([("kind", kinds)]).expect("columns")),
            ("tcb".to_owned(), RecordBatch::try_from_iter([("t", values)]).expect("columns")),
        ];
        let encoded = encoder.encode(&identity, &rows).expect("encodes");
        let record = encoded.get(0).expect("one");
        assert_eq!(record[36 + 4], kind);
        assert_eq!(record[36 + at..36 + at + 4], 77_u32.to_be_bytes());
        let again = decode(&catalogue, &[record.to_vec()]);
        assert_eq!(numbers(table(&again, "tcb"), "t"), [Some(77)]);
    }
}
