//! Records and dumps written from columns: read back the same, refused with a reason, split so that they join again.

mod dump;
mod records;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampMicrosecondType, UInt32Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{Field, Schema};
use dump::real_dump;
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder};
use plexlens_smf::encode::{
    DumpForm, DumpWriter, EncodeOptions, EncodedRecords, Oversize, RecordEncoder, RecordIdentity,
};
use plexlens_smf::layout::Catalogue;
use plexlens_smf::stream::{FrameKind, ReadOptions, SmfReader};

/// 2024-03-01 08:00 UTC.
const EIGHT: i64 = (19_783 * 24 + 8) * 3_600_000_000;

fn identity() -> RecordIdentity {
    RecordIdentity {
        system: Some("SYS1".into()),
        sysplex: Some("PLEX1".into()),
        interval_start: Some(EIGHT),
        interval_end: Some(EIGHT + 899_998_000),
        utc_offset: Some(7200.0),
        ..RecordIdentity::default()
    }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect())
        .expect("columns of one length")
}

fn texts(values: impl IntoIterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn encoder(catalogue: &Catalogue, record: &str, options: EncodeOptions) -> RecordEncoder {
    RecordEncoder::new(catalogue, record, options).expect("a known record")
}

fn decode<'a>(catalogue: &Catalogue, records: impl IntoIterator<Item = &'a [u8]>) -> DecodedBatch {
    let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("all tables");
    decoder.decode(&records::batch(records), None, "source").expect("decodes")
}

fn table<'a>(decoded: &'a DecodedBatch, name: &str) -> &'a RecordBatch {
    &decoded.tables.iter().find(|(table, _)| table == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// Structures named STR0, STR1 and so on, with their number as a count.
fn requests(numbers: std::ops::Range<u32>) -> RecordBatch {
    batch(vec![
        ("r744snam", texts(numbers.clone().map(|number| format!("STR{number}")))),
        ("r744strc", Arc::new(Int64Array::from_iter_values(numbers.clone().map(i64::from)))),
        ("r744ssta", Arc::new(UInt32Array::from_iter_values(numbers))),
    ])
}

#[test]
fn an_rmf_record_reads_back() {
    let catalogue = records::catalogue();
    let sections = [
        ("smf74_4_request".to_owned(), requests(0..5)),
        ("smf74_4_local_cf".to_owned(), batch(vec![("r744fnam", texts(["CF01".to_owned()]))])),
    ];
    let encoded = encoder(catalogue, "smf74_4", EncodeOptions::default()).encode(&identity(), &sections);
    let encoded = encoded.expect("encodes");
    let record = encoded.get(0).expect("one");
    // Header: length, flag, type, 10:14:59.99 local on day 61 of 2024, SYS1, RMF, subtype 4, twelve triplets.
    assert_eq!(usize::from(u16::from_be_bytes([record[0], record[1]])), record.len());
    assert_eq!(record[2..6], [0, 0, 0x5E, 74]);
    assert_eq!(record[6..10], 3_689_999_u32.to_be_bytes());
    assert_eq!(record[10..18], [0x01, 0x24, 0x06, 0x1F, 0xE2, 0xE8, 0xE2, 0xF1]);
    assert_eq!(record[18..26], [0xD9, 0xD4, 0xC6, 0x40, 0, 4, 0, 12]);
    let decoded = decode(catalogue, [record]);
    assert_eq!(decoded.damage, []);
    let rows = table(&decoded, "smf74_4_request");
    let names: Vec<_> = rows.column_by_name("r744snam").expect("column").as_string::<i32>().iter().collect();
    assert_eq!(names, [Some("STR0"), Some("STR1"), Some("STR2"), Some("STR3"), Some("STR4")]);
    let counts = rows.column_by_name("r744strc").expect("column").as_primitive::<Float64Type>();
    assert_eq!(counts.values()[..], [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(rows.column_by_name("sysplex").expect("key").as_string::<i32>().value(4), "PLEX1");
    let time = |name: &str| rows.column_by_name(name).expect("key").as_primitive::<TimestampMicrosecondType>().value(0);
    assert_eq!((time("interval_start"), time("interval_end")), (EIGHT, EIGHT + 899_998_000));
    assert_eq!(rows.column_by_name("utc_offset").expect("key").as_primitive::<Float64Type>().value(0), 7200.0);
    assert_eq!(table(&decoded, "smf74_4_local_cf").num_rows(), 1);
}

#[test]
fn a_value_of_the_product_section_wins_over_identity() {
    let catalogue = records::catalogue();
    let product = batch(vec![("smf7xxnm", texts(["OTHER".to_owned()]))]);
    let encoded = encoder(catalogue, "smf71_1", EncodeOptions::default())
        .encode(&identity(), &[("rmf_product_section".into(), product)])
        .expect("encodes");
    let decoded = decode(catalogue, encoded.iter());
    let rows = table(&decoded, "rmf_product_section");
    assert_eq!(rows.column_by_name("sysplex").expect("key").as_string::<i32>().value(0), "OTHER");
}

#[test]
fn an_mq_record_has_its_chain_and_its_interval() {
    let catalogue = records::catalogue();
    let who = RecordIdentity { subsystem: Some("QM01".into()), sysplex: None, ..identity() };
    let sections = [
        ("smf116_qwhc".to_owned(), batch(vec![("qwhcaid", texts(["USER1".to_owned()]))])),
        ("smf116_1_wq".to_owned(), batch(vec![("objname", texts(["Q.ONE".to_owned(), "Q.TWO".to_owned()]))])),
        (
            "smf116_1_wq_cf".to_owned(),
            batch(vec![
                ("section_no", Arc::new(UInt32Array::from(vec![2, 100, 101])) as ArrayRef),
                first_count(catalogue, "smf116_1_wq_cf", &[5, 6, 7]),
            ]),
        ),
    ];
    let encoded = encoder(catalogue, "smf116_1", EncodeOptions::default()).encode(&who, &sections).expect("encodes");
    let decoded = decode(catalogue, encoded.iter());
    assert_eq!(decoded.damage, []);
    let chained = table(&decoded, "smf116_qwhc");
    assert_eq!(chained.column_by_name("qwhcaid").expect("column").as_string::<i32>().value(0), "USER1");
    let rows = table(&decoded, "smf116_1_wq");
    assert_eq!(rows.column_by_name("objname").expect("column").as_string::<i32>().value(1), "Q.TWO");
    assert_eq!(rows.column_by_name("subsystem").expect("key").as_string::<i32>().value(1), "QM01");
    let time = |name: &str| rows.column_by_name(name).expect("key").as_primitive::<TimestampMicrosecondType>().value(0);
    assert_eq!((time("interval_start"), time("interval_end")), (EIGHT, EIGHT + 899_998_000));
    let elements = table(&decoded, "smf116_1_wq_cf");
    let section_no = elements.column_by_name("section_no").expect("key").as_primitive::<UInt32Type>();
    assert_eq!(section_no.values()[..], [2, 100, 101]);
}

/// The first u32 column of a section without unit, with these values.
fn first_count<'a>(catalogue: &'a Catalogue, table: &str, values: &[u32]) -> (&'a str, ArrayRef) {
    let section = catalogue.section(table).expect("a section");
    let plain = |field: &&plexlens_smf::layout::Field| {
        field.format == plexlens_smf::layout::Format::U32 && field.unit.recorded.is_empty()
    };
    let field = section.fields.iter().find(plain).expect("a count");
    (&field.column, Arc::new(UInt32Array::from(values.to_vec())))
}

#[test]
fn varying_entries_follow_their_lengths() {
    let text = records::section_text(&["A,0,4,u32,", "B,4,2,u16,"]);
    let catalogue = records::single("x200_1", &text, "varying");
    let rows = batch(vec![("a", Arc::new(UInt32Array::from(vec![1, 2])))]);
    let encoded = encoder(&catalogue, "smf200_1", EncodeOptions::default())
        .encode(&identity(), &[("x200_1".into(), rows)])
        .expect("encodes");
    let record = encoded.get(0).expect("one");
    assert_eq!(record[28..36], [0, 0, 0, 36, 0, 0, 0, 2]);
    assert_eq!(record[36..], [0, 6, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0]);
    let decoded = decode(&catalogue, [record]);
    assert_eq!(table(&decoded, "x200_1").num_rows(), 2);
}

#[test]
fn values_that_do_not_fit_are_named() {
    let text = records::section_text(&[
        "N,0,2,u16,",
        "T,2,4,ebcdic,",
        "S,6,4,u32,us",
        "P,10,2,packed,",
        "D,12,4,smf_date,",
        "C,16,8,stck,",
        "H,24,8,f64_hex,",
        "I,32,4,packed,mmsstttF",
        "B,36,2,bytes,",
        "G,38,2,i16,",
    ]);
    let catalogue = records::single("x200_1", &text, "entries");
    let encoder = encoder(&catalogue, "smf200_1", EncodeOptions::default());
    let error = |column: &str, array: ArrayRef| {
        let rows = batch(vec![(column, array)]);
        encoder.encode(&identity(), &[("x200_1".into(), rows)]).expect_err("does not fit").to_string()
    };
    let ints = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    let floats = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    let cases = [
        ("n", ints(vec![1, 70_000]), "row 1: 70000 does not fit a field of format u16; it takes 0 to 65535"),
        ("n", ints(vec![-1]), "row 0: -1 does not fit"),
        ("n", floats(vec![1.5]), "1.5 is no whole number"),
        ("t", texts(["ABCDE".into()]), "`ABCDE` has 5 characters; the field takes 4"),
        ("t", texts(["A€".into()]), "holds the character `€`, which code page 1047 lacks"),
        ("t", ints(vec![1]), "1 in a field of format ebcdic; give text"),
        ("s", floats(vec![-0.001]), "-1000 does not fit a field of format u32"),
        ("s", floats(vec![5000.0]), "5000000000 does not fit"),
        ("s", floats(vec![f64::NAN]), "is too large"),
        ("p", ints(vec![1000]), "1000 does not fit a packed field of 2 bytes; it takes 3 digits"),
        ("d", ints(vec![0]), "give a date"),
        ("c", floats(vec![0.0]), "give a timestamp"),
        ("h", floats(vec![1e76]), "has no hexadecimal floating point form; it must be finite and below 7.2e75"),
        ("i", floats(vec![6000.0]), "6000000 ms is too long or negative; give 0 to 5999.999 seconds"),
        ("b", texts(["x".into()]), "give bytes"),
        ("g", ints(vec![40_000]), "it takes -32768 to 32767"),
        ("x", ints(vec![1]), "column x: the section has no such column; it has n, t, s"),
    ];
    for (column, array, expected) in cases {
        let text = error(column, array);
        assert!(text.starts_with(&format!("x200_1, column {column}")), "{text}");
        assert!(text.contains(expected), "{text}\nlacks: {expected}");
    }
    let duration = arrow_array::DurationSecondArray::from(vec![1]);
    assert!(error("s", Arc::new(duration)).contains("columns of type Duration(s) cannot be written"));
}

#[test]
fn records_that_cannot_be_are_refused() {
    let catalogue = records::catalogue();
    let refused = |record: &str, identity: &RecordIdentity, sections: &[(String, RecordBatch)]| {
        let encoder = RecordEncoder::new(catalogue, record, EncodeOptions::default());
        encoder.and_then(|encoder| encoder.encode(identity, sections)).expect_err("refused").to_string()
    };
    let text = refused("smf74_44", &identity(), &[]);
    assert!(text.contains("no such record map") && text.contains("smf74_4,"), "{text}");
    let other = [("smf72_3_period".to_owned(), requests(0..1))];
    assert!(refused("smf74_4", &identity(), &other).contains("record smf74_4 has no such section; it has smf74_4_h"));
    let nobody = RecordIdentity { system: None, ..identity() };
    assert!(refused("smf74_4", &nobody, &[]).contains("no system id; give system"));
    let never = RecordIdentity { interval_start: None, interval_end: None, ..identity() };
    assert!(refused("smf74_4", &never, &[]).contains("no time for the header; give written_at"));
    let long = RecordIdentity { system: Some("SYSTEM1".into()), ..identity() };
    assert!(refused("smf74_4", &long, &[]).contains("column system: `SYSTEM1` does not fit the header"));
    let fraction = RecordIdentity { interval_start: Some(EIGHT + 500_000), ..identity() };
    assert!(refused("smf74_4", &fraction, &[]).contains("is no whole multiple of 1000000 us"));
    let two = [("rmf_product_section".to_owned(), batch(vec![("smf7xptn", Arc::new(UInt32Array::from(vec![1, 2])))]))];
    assert!(refused("smf74_4", &identity(), &two).contains("2 rows for one record smf74_4; a record has this section"));
    let lengths = |table: &str, length: usize| {
        let options = EncodeOptions { lengths: [(table.to_owned(), length)].into(), ..EncodeOptions::default() };
        RecordEncoder::new(catalogue, "smf74_4", options).err().expect("refused").to_string()
    };
    assert!(lengths("smf74_4_header", 100).contains("has no such section"));
    assert!(lengths("smf74_4_request", 0).contains("use 4 to 32000 bytes"));
}

/// Rows of a table in order of appearance, as text.
fn names(decoded: &DecodedBatch) -> Vec<String> {
    let rows = table(decoded, "smf74_4_request");
    rows.column_by_name("r744snam").expect("column").as_string::<i32>().iter().flatten().map(str::to_owned).collect()
}

fn oversize(oversize: Oversize, rows: u32) -> Result<EncodedRecords, String> {
    let catalogue = records::catalogue();
    let options = EncodeOptions { oversize, ..EncodeOptions::default() };
    let sections = [
        ("smf74_4_request".to_owned(), requests(0..rows)),
        ("smf74_4_local_cf".to_owned(), batch(vec![("r744fnam", texts(["CF01".to_owned()]))])),
        (
            "smf74_4_connectivity".to_owned(),
            batch(vec![("r744xsys", texts((0..40).map(|number| format!("SYS{number}"))))]),
        ),
    ];
    encoder(catalogue, "smf74_4", options).encode(&identity(), &sections).map_err(|error| error.to_string())
}

#[test]
fn long_records_are_refused_spread_or_split() {
    let catalogue = records::catalogue();
    let refused = oversize(Oversize::Refuse, 200).expect_err("too long");
    assert!(refused.contains("SMF takes 32756"), "{refused}");
    let expected: Vec<String> = (0..200).map(|number| format!("STR{number}")).collect();

    let spread = oversize(Oversize::Spread, 200).expect("spread");
    assert!(spread.len() > 1);
    assert!(spread.iter().all(|record| record.len() <= 32_756));
    let decoded = decode(catalogue, spread.iter());
    assert_eq!(decoded.damage, []);
    assert_eq!(names(&decoded), expected);
    assert_eq!(table(&decoded, "smf74_4_local_cf").num_rows(), 1, "each entry stands in one record");
    assert_eq!(table(&decoded, "smf74_4_connectivity").num_rows(), 40);
    assert_eq!(table(&decoded, "rmf_product_section").num_rows(), spread.len());

    let parts = oversize(Oversize::RmfParts, 200).expect("split");
    assert!(parts.len() > 1);
    assert!(parts.iter().all(|record| record.len() <= 32_756));
    let mut dump = DumpWriter::new(Vec::new(), DumpForm::Rdw, None).expect("writer");
    parts.iter().for_each(|record| dump.write(record).expect("written"));
    let (frames, summary) = read(dump.finish().expect("finished"));
    assert_eq!(frames.len(), 1, "the reader joins the parts: {:?}", summary.damage.entries());
    assert_eq!(frames[0].1, FrameKind::Joined(parts.len() as u16));
    assert!(summary.damage.is_empty(), "{:?}", summary.damage.entries());
    let decoded = decode(catalogue, [frames[0].0.as_slice()]);
    assert_eq!(decoded.damage, []);
    assert_eq!(names(&decoded), expected);
    assert_eq!(table(&decoded, "smf74_4_local_cf").num_rows(), 1);
    assert_eq!(table(&decoded, "smf74_4_connectivity").num_rows(), 40);
    // A part is readable by itself.
    let alone = decode(catalogue, parts.get(1));
    assert_eq!(alone.damage, []);
    assert_eq!(table(&alone, "smf74_4_local_cf").num_rows(), 1);
}

type Read = (Vec<(Vec<u8>, FrameKind)>, plexlens_smf::stream::StreamSummary);

fn read(dump: Vec<u8>) -> Read {
    let mut reader =
        SmfReader::from_reader("dump", Cursor::new(dump), &ReadOptions::default()).expect("recognised as a dump");
    let mut frames = Vec::new();
    while let Some(batch) = reader.next_batch().expect("readable") {
        frames.extend(batch.frames.iter().map(|frame| (batch.record(frame).to_vec(), frame.kind)));
    }
    (frames, reader.summary().clone())
}

#[test]
fn dumps_of_every_form_read_back() {
    let catalogue = records::catalogue();
    let encoder = encoder(catalogue, "smf74_4", EncodeOptions::default());
    let mut written = Vec::new();
    for number in 1..20 {
        let sections = [("smf74_4_request".to_owned(), requests(0..number))];
        written.push(encoder.encode(&identity(), &sections).expect("encodes").get(0).expect("one").to_vec());
    }
    let forms = [
        (DumpForm::Rdw, None),
        (DumpForm::Rdw, Some(700)),
        (DumpForm::Rdw, Some(4096)),
        (DumpForm::Bdw { block: 32_760 }, None),
        (DumpForm::Bdw { block: 4000 }, None),
        (DumpForm::Bdw { block: 27_998 }, Some(3000)),
        (DumpForm::NoDescriptors, None),
    ];
    for (form, segment) in forms {
        let mut dump = DumpWriter::new(Vec::new(), form, segment).expect("writer");
        dump.dump_marker(2, "SYS1", EIGHT).expect("written");
        written.iter().for_each(|record| dump.write(record).expect("written"));
        dump.dump_marker(3, "SYS1", EIGHT).expect("written");
        assert_eq!(dump.records(), 21);
        let (frames, summary) = read(dump.finish().expect("finished"));
        assert!(summary.damage.is_empty(), "{form:?} {segment:?}: {:?}", summary.damage.entries());
        assert_eq!((summary.dump_headers, summary.dump_trailers), (1, 1));
        assert_eq!(frames.len(), 21, "{form:?} {segment:?}");
        for (record, (frame, kind)) in written.iter().zip(&frames[1..]) {
            assert_eq!(record, frame, "{form:?} {segment:?}");
            let longest = segment.unwrap_or(match form {
                DumpForm::Bdw { block } => block - 4,
                _ => 65_535,
            });
            assert_eq!(*kind == FrameKind::Whole, record.len() <= longest, "{form:?} {segment:?}");
        }
    }
}

#[test]
fn impossible_dumps_are_refused() {
    let refused = |form, segment| DumpWriter::new(Vec::new(), form, segment).expect_err("refused").to_string();
    assert!(refused(DumpForm::Bdw { block: 40_000 }, None).contains("blocks of 40000 bytes; use 28 to 32760"));
    assert!(refused(DumpForm::Rdw, Some(10)).contains("segments of 10 bytes; use 24 to 65535"));
    assert!(refused(DumpForm::NoDescriptors, Some(1000)).contains("segments without descriptor words"));
    let mut dump = DumpWriter::new(Vec::new(), DumpForm::Rdw, None).expect("writer");
    assert!(dump.write(&[0; 17]).expect_err("short").to_string().contains("a record of 17 bytes"));
    assert!(dump.dump_marker(2, "SYSTEM", 0).expect_err("long").to_string().contains("at most four characters"));
}

#[test]
fn rows_are_grouped_by_record() {
    let catalogue = records::catalogue();
    let encoder = encoder(catalogue, "smf74_4", EncodeOptions::default());
    let numbers = |numbers: &[u64]| -> ArrayRef { Arc::new(UInt64Array::from(numbers.to_vec())) };
    let systems = batch(vec![
        ("record_no", numbers(&[3, 5, 9])),
        ("system", texts(["SYSA".into(), "SYSB".into(), "SYSC".into()])),
        ("r744fnam", texts(["CF01".into(), "CF01".into(), "CF02".into()])),
    ]);
    let requests = batch(vec![
        ("record_no", numbers(&[3, 3, 9])),
        ("r744snam", texts(["ONE".into(), "TWO".into(), "THREE".into()])),
    ]);
    let who = RecordIdentity { system: None, ..identity() };
    let sections = [("smf74_4_local_cf".to_owned(), systems), ("smf74_4_request".to_owned(), requests)];
    let encoded = encoder.encode_all(&who, &sections).expect("encodes");
    assert_eq!(encoded.len(), 3);
    let decoded = decode(catalogue, encoded.iter());
    let rows = table(&decoded, "smf74_4_request");
    let column = |name: &str| -> Vec<String> {
        rows.column_by_name(name).expect("column").as_string::<i32>().iter().flatten().map(str::to_owned).collect()
    };
    assert_eq!(column("system"), ["SYSA", "SYSA", "SYSC"]);
    assert_eq!(column("r744snam"), ["ONE", "TWO", "THREE"]);
    let record_no = rows.column_by_name("record_no").expect("key");
    assert_eq!(record_no.as_primitive::<arrow_array::types::UInt64Type>().values()[..], [1, 1, 3]);

    let unordered = batch(vec![("record_no", numbers(&[3, 2]))]);
    let error = encoder.encode_all(&identity(), &[("smf74_4_request".into(), unordered)]).expect_err("unordered");
    assert_eq!(
        error.to_string(),
        "smf74_4_request, column record_no, row 1: 2 comes after 3; sort the table by record_no"
    );
    let none = batch(vec![("r744snam", texts(["ONE".into()]))]);
    let error = encoder.encode_all(&identity(), &[("smf74_4_request".into(), none)]).expect_err("no number");
    assert!(error.to_string().contains("row 0: no record number"));
}

/// The real MQ dumps, record by record: what was decoded encodes to a record that decodes to the same.
#[test]
fn real_records_can_be_written_again() {
    let catalogue = records::catalogue();
    let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("all tables");
    let mut records = 0;
    for name in ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"] {
        let Some(path) = real_dump(name) else { return };
        let mut reader = SmfReader::open(path, &ReadOptions::default()).expect("a dump");
        while let Some(frames) = reader.next_batch().expect("readable") {
            for frame in &frames.frames {
                let record = frames.record(frame);
                let name =
                    format!("smf{}_{}", record[5], record.get(22..24).map_or(0, |b| u16::from_be_bytes([b[0], b[1]])));
                if catalogue.map(&name).is_none() {
                    continue;
                }
                records += 1;
                let first = decoder.decode(&records::batch([record]), None, "x").expect("decodes");
                let encoded = encoder(catalogue, &name, EncodeOptions::default())
                    .encode(&RecordIdentity::default(), &first.tables)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let second = decode(catalogue, encoded.iter());
                assert_eq!(second.damage, []);
                let again: BTreeMap<&str, &RecordBatch> =
                    second.tables.iter().map(|(name, batch)| (name.as_str(), batch)).collect();
                for (table, batch) in first.tables.iter().filter(|(table, _)| table != "smf_record") {
                    same_values(table, batch, again[table.as_str()]);
                }
            }
        }
    }
    assert!(records > 300, "{records}");
}

/// Values are the same; what was null (beyond a short section) may be zero; lengths and counts of the header chain
/// and the source are written anew.
fn same_values(table: &str, one: &RecordBatch, other: &RecordBatch) {
    assert_eq!(one.num_rows(), other.num_rows(), "{table}");
    let written_anew = ["qwhslen", "qwhsnsda", "qwhclen", "qwhxlen", "source_id"];
    for (field, column) in one.schema().fields().iter().zip(one.columns()) {
        let other = other.column_by_name(field.name()).expect("the same columns");
        if written_anew.contains(&field.name().as_str()) {
            continue;
        }
        for row in (0..one.num_rows()).filter(|&row| column.is_valid(row)) {
            assert_eq!(&column.slice(row, 1), &other.slice(row, 1), "{table}, {}, row {row}", field.name());
        }
    }
}
