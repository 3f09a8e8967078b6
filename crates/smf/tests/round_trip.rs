//! decode(encode(x)) = x, for every layout of the repository, with random values, short and long sections.
//!
//! Integers, text, times and dates come back exactly. A floating point field with a unit is divided on the way out
//! and multiplied on the way in; both round, so it may come back two units in the last place away.

mod records;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Date32Array, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field as ArrowField, Schema};
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder};
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity};
use plexlens_smf::forms::ebcdic::CodePage;
use plexlens_smf::forms::tod_clock::LeapSeconds;
use plexlens_smf::layout::{Catalogue, Conversion, Field, Format, RecordMap, Rule, Section, data_type};
use proptest::prelude::*;
use records::Random;

/// A value that a field of that format can hold, with small and extreme ones often.
fn unsigned(random: &mut Random, bytes: usize) -> u64 {
    let limit = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
    match random.below(8) {
        0 => 0,
        1 => limit,
        2 => random.below(100),
        _ => random.next() & limit,
    }
}

/// Recorded units to base units, by the table of units in the layouts' README.
fn base(unit: &str) -> (f64, f64) {
    match unit {
        "s" => (1.0, 1.0),
        "0.1s" => (1.0, 10.0),
        "0.01s" | "0.01" | "/100" => (1.0, 100.0),
        "ms" | "0.001" | "/1000" => (1.0, 1000.0),
        "1024us" | "page_1024us" => (1024.0, 1e6),
        "128us" => (128.0, 1e6),
        "us" => (1.0, 1e6),
        "0.5us" => (1.0, 2e6),
        "stck_units" => (1.0, 4096e6),
        "us^2" => (1.0, 1e12),
        "(1024us)^2" => (1024.0 * 1024.0, 1e12),
        "/256" => (1.0, 256.0),
        "/1024" => (1.0, 1024.0),
        "/4096" => (1.0, 4096.0),
        "/10000" => (1.0, 10_000.0),
        "256B" => (256.0, 1.0),
        "KiB" => (1024.0, 1.0),
        "4KiB" => (4096.0, 1.0),
        "MiB" => (1_048_576.0, 1.0),
        "GiB" => (1_073_741_824.0, 1.0),
        _ => (1.0, 1.0),
    }
}

fn number(random: &mut Random, field: &Field) -> f64 {
    let (multiply, divide) = base(field.unit.recorded);
    let recorded = match field.format {
        Format::CpuStck => return (random.next() >> random.below(60)) as f64 / 4096e6,
        Format::TodHundredths => return random.below(8_640_000) as f64 / 100.0,
        Format::Packed => match field.unit.conversion {
            Conversion::PackedHms => return random.below(86_400) as f64,
            Conversion::PackedMst => return random.below(6_000_000) as f64 / 1000.0,
            _ => random.below(10_u64.pow(2 * field.length as u32 - 1)) as f64,
        },
        // 21 bits are what every short hexadecimal float has.
        Format::F32Hex => (random.next() >> 43) as f64 * 2f64.powi(random.below(100) as i32 - 50),
        Format::F64Hex | Format::F64Bfp => (random.next() as i64) as f64 * 2f64.powi(random.below(100) as i32 - 50),
        _ if field.format.is_signed() => (random.next() as i64 >> (64 - 8 * field.length)) as f64,
        _ => unsigned(random, field.length) as f64,
    };
    recorded * multiply / divide
}

fn text(random: &mut Random, length: usize) -> String {
    let characters = random.below(length as u64 + 1);
    let text: String = (0..characters).map(|_| char::from(random.next() as u8)).collect();
    text.trim_end_matches([' ', '\0']).to_owned()
}

/// A column of random values of the type that the field's column has.
fn column(random: &mut Random, field: &Field, rows: usize) -> ArrayRef {
    let length = field.length;
    let size = match field.unit.conversion {
        Conversion::Size(factor) => factor,
        _ => 1,
    };
    match data_type(field) {
        DataType::UInt8 => Arc::new(UInt8Array::from_iter_values((0..rows).map(|_| unsigned(random, 1) as u8))),
        DataType::UInt16 => Arc::new(UInt16Array::from_iter_values((0..rows).map(|_| unsigned(random, 2) as u16))),
        DataType::UInt32 => Arc::new(UInt32Array::from_iter_values((0..rows).map(|_| unsigned(random, 4) as u32))),
        DataType::UInt64 => Arc::new(UInt64Array::from_iter_values((0..rows).map(|_| {
            let recorded = unsigned(random, length);
            recorded.min(u64::MAX / size) * size
        }))),
        DataType::Int16 => Arc::new(Int16Array::from_iter_values((0..rows).map(|_| random.next() as i16))),
        DataType::Int32 => Arc::new(Int32Array::from_iter_values((0..rows).map(|_| random.next() as i32))),
        DataType::Int64 if field.format == Format::Packed => {
            let limit = 10_u64.pow(2 * length as u32 - 1);
            let sign = |random: &mut Random| if random.below(2) == 0 { 1 } else { -1 };
            Arc::new(Int64Array::from_iter_values((0..rows).map(|_| random.below(limit) as i64 * sign(random))))
        }
        DataType::Int64 => Arc::new(Int64Array::from_iter_values((0..rows).map(|_| random.next() as i64))),
        DataType::Float64 => Arc::new(Float64Array::from_iter_values((0..rows).map(|_| number(random, field)))),
        DataType::Utf8 => Arc::new(StringArray::from_iter_values((0..rows).map(|_| text(random, length)))),
        DataType::Binary => Arc::new(BinaryArray::from_iter_values((0..rows).map(|_| random.bytes(length)))),
        DataType::Date32 => {
            Arc::new(Date32Array::from_iter_values((0..rows).map(|_| random.below(365_000) as i32 - 25_567)))
        }
        DataType::Timestamp(_, zone) => Arc::new(
            // 1900 (not its first microsecond) to 2042.
            TimestampMicrosecondArray::from_iter_values(
                (0..rows).map(|_| random.below(4_503_599_600_000_000) as i64 - 2_208_988_799_999_999),
            )
            .with_timezone_opt(zone),
        ),
        other => panic!("no values for {other}"),
    }
}

fn values(seed: u64, section: &Section, rows: usize) -> RecordBatch {
    let mut random = Random(seed);
    let columns: Vec<ArrayRef> = section.fields.iter().map(|field| column(&mut random, field, rows)).collect();
    let fields: Vec<ArrowField> =
        section.fields.iter().map(|field| ArrowField::new(&field.column, data_type(field), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}

fn identity() -> RecordIdentity {
    RecordIdentity { system: Some("SYS1".into()), written_at: Some(1_772_356_500_000_000), ..Default::default() }
}

fn decode(catalogue: &Catalogue, records: &[&[u8]], leap_seconds: LeapSeconds, page: CodePage) -> DecodedBatch {
    let options = DecodeOptions { code_page: page, leap_seconds, tables: None };
    let decoder = Decoder::new(catalogue, options).expect("known tables");
    decoder.decode(&records::batch(records), None, "test").expect("decodes")
}

/// Distance in units of the last place.
fn ulps(one: f64, other: f64) -> u64 {
    let order = |value: f64| {
        let bits = value.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    order(one).abs_diff(order(other))
}

fn same(field: &Field, expected: &ArrayRef, found: &ArrayRef) -> Result<(), TestCaseError> {
    prop_assert_eq!(expected.data_type(), found.data_type(), "{}", &field.name);
    let scaled_float = field.format.is_float() && !matches!(field.unit.conversion, Conversion::Keep);
    let tolerance = if scaled_float { 2 } else { 0 };
    if let Some(found) = found.as_primitive_opt::<Float64Type>() {
        for (row, expected) in expected.as_primitive::<Float64Type>().iter().enumerate() {
            let (expected, found) = (expected.expect("a value"), found.value(row));
            // 53 bits of a 64-bit count: beyond, the scaled integer is the nearest of those that read alike.
            let wide = matches!(field.format, Format::U64 | Format::I64 | Format::CpuStck) && {
                let (multiply, divide) = base(field.unit.recorded);
                let divide = if field.format == Format::CpuStck { 4096e6 } else { divide };
                (expected * divide / multiply).abs() > 2f64.powi(50)
            };
            let tolerance = if wide { 2 } else { tolerance };
            prop_assert!(ulps(expected, found) <= tolerance, "{} row {row}: {expected:e} became {found:e}", field.name);
        }
        return Ok(());
    }
    prop_assert_eq!(expected, found, "{}", &field.name);
    Ok(())
}

/// Encodes and decodes random rows with entries of `length` bytes; fields beyond must be null.
fn round_trip(name: &str, text: &str, seed: u64, rows: usize, length: usize) -> Result<(), TestCaseError> {
    let catalogue = records::single(name, text, "entries");
    let section = catalogue.section(name).expect("the section");
    let batch = values(seed, section, rows);
    let leap_seconds = if seed.is_multiple_of(2) { LeapSeconds::Absent } else { LeapSeconds::Included };
    let page = if seed.is_multiple_of(3) { CodePage::Cp037 } else { CodePage::Cp1047 };
    let options = EncodeOptions {
        code_page: page,
        leap_seconds,
        lengths: [(name.to_owned(), length)].into(),
        ..EncodeOptions::default()
    };
    let encoder = RecordEncoder::new(&catalogue, "smf200_1", options).expect("known record");
    let encoded = encoder.encode(&identity(), &[(name.to_owned(), batch.clone())]);
    let encoded = encoded.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let record = encoded.get(0).expect("one record");
    prop_assert_eq!(usize::from(u16::from_be_bytes([record[0], record[1]])), record.len());
    prop_assert_eq!(record.len(), 36 + rows * length);
    let decoded = decode(&catalogue, &[record], leap_seconds, page);
    prop_assert!(decoded.damage.is_empty(), "{name}: {:?}", decoded.damage);
    let (_, table) = decoded.tables.iter().find(|(table, _)| table == name).expect("the table");
    prop_assert_eq!(table.num_rows(), rows);
    for field in &section.fields {
        let found = table.column_by_name(&field.column).expect("the column");
        if field.end() > length {
            prop_assert_eq!(found.null_count(), rows, "{} of {} lies beyond {}", &field.name, name, length);
        } else {
            same(field, batch.column_by_name(&field.column).expect("the column"), found)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_layout_survives(seed: u64, rows in 1_usize..4, cut in 0.3_f64..1.0, pad in 1_usize..200) {
        for (name, text) in records::section_texts() {
            let whole = Section::parse(&name, &name, &text).expect("sound").length().max(4);
            let short = ((whole as f64 * cut) as usize).max(whole.min(64));
            for length in [whole, short, whole + pad] {
                round_trip(&name, &text, seed, rows, length)?;
            }
        }
    }
}

/// Columns that the encoder computes, since the record could not be read without them.
const COMPUTED: [&str; 6] = ["qwhslen", "qwhstyp", "qwhsnsda", "qwhclen", "qwhctyp", "qwhsiid"];

/// Random rows for every section of a record map but its headers: one of what a record has once, else up to three.
fn sections(catalogue: &Catalogue, map: &RecordMap, seed: u64) -> Vec<(String, RecordBatch)> {
    let mut random = Random(seed);
    let mut sections: Vec<(String, RecordBatch)> = Vec::new();
    for entry in map.entries.iter().filter(|entry| entry.rule != Rule::Header) {
        if sections.iter().any(|(name, _)| *name == entry.layout) {
            continue;
        }
        let section = catalogue.section(&entry.layout).expect("a layout");
        // An array up to the end of its entry has as many elements as the one entry needs.
        let open = map.entries.iter().any(|other| {
            other.triplet == entry.triplet && matches!(other.rule, Rule::Array(array) if array.count.is_none())
        });
        let once = matches!(entry.rule, Rule::Product | Rule::Chain(_)) || (open && entry.rule == Rule::Entries);
        let rows = if once { 1 } else { 1 + random.below(3) as usize };
        let batch = values(random.next(), section, rows);
        let mut kept: Vec<usize> = (0..section.fields.len()).collect();
        kept.retain(|&at| !COMPUTED.contains(&section.fields[at].column.as_str()));
        // Lengths of other headers stand first in them, as those of QWHS and QWHC do.
        kept.retain(|&at| !matches!(entry.rule, Rule::Chain(_)) || section.fields[at].offset > 2);
        let mut batch = batch.project(&kept).expect("its own columns");
        if matches!(entry.rule, Rule::Array(_)) {
            // An element of zeros is unused: no zeros in one column.
            let at = batch.columns().iter().position(|column| *column.data_type() == DataType::UInt32);
            let mut columns = batch.columns().to_vec();
            columns[at.expect("a count")] = Arc::new(UInt32Array::from(vec![7; rows]));
            batch = RecordBatch::try_new(batch.schema(), columns).expect("the same types");
        }
        sections.push((entry.layout.clone(), batch));
    }
    sections
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every record map: all its sections at once, found again by their triplets.
    #[test]
    fn every_record_survives(seed: u64) {
        let catalogue = records::catalogue();
        for map in catalogue.maps() {
            let sections = sections(catalogue, map, seed);
            let identity = RecordIdentity { subtype: Some(5), ..identity() };
            let encoder = RecordEncoder::new(catalogue, &map.name, EncodeOptions::default()).expect("known record");
            let encoded = encoder.encode(&identity, &sections);
            let encoded = encoded.map_err(|error| TestCaseError::fail(format!("{}: {error}", map.name)))?;
            let decoded = decode(catalogue, &[encoded.get(0).expect("one")], LeapSeconds::Absent, CodePage::Cp1047);
            prop_assert!(decoded.damage.is_empty(), "{}: {:?}", &map.name, decoded.damage);
            for (name, expected) in &sections {
                let found = decoded.tables.iter().find(|(table, _)| table == name);
                let (_, found) = found.ok_or_else(|| TestCaseError::fail(format!("{}: no {name}", map.name)))?;
                prop_assert_eq!(found.num_rows(), expected.num_rows(), "{} {}", &map.name, name);
                let section = catalogue.section(name).expect("a layout");
                for (column, expected) in expected.schema().fields().iter().zip(expected.columns()) {
                    let field = section.field(column.name()).expect("the field");
                    same(field, expected, found.column_by_name(column.name()).expect("the column"))?;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever bytes an entry holds, writing what was read and reading it again gives the same columns.
    #[test]
    fn what_was_read_can_be_written(seed: u64, length in 64_usize..2000) {
        let texts = records::section_texts();
        let (name, text) = &texts[(seed % texts.len() as u64) as usize];
        let catalogue = records::single(name, text, "entries");
        let bytes = Random(seed).bytes(length);
        let record = records::record(length as u16, 1, &bytes);
        let first = decode(&catalogue, &[&record], LeapSeconds::Absent, CodePage::Cp1047);
        let Some((_, table)) = first.tables.iter().find(|(table, _)| table == name) else {
            prop_assert!(!first.damage.is_empty());
            return Ok(());
        };
        let options = EncodeOptions { lengths: [(name.clone(), length)].into(), ..EncodeOptions::default() };
        let encoder = RecordEncoder::new(&catalogue, "smf200_1", options).expect("known record");
        let section = catalogue.section(name).expect("the section");
        // Not-a-number has no form in hexadecimal, and as IEEE equals nothing; such a draw says nothing.
        let nan = |column: &ArrayRef| {
            column.as_primitive_opt::<Float64Type>().is_some_and(|values| values.values().iter().any(|v| v.is_nan()))
        };
        prop_assume!(!table.columns().iter().any(nan));
        let encoded = encoder.encode(&identity(), &[(name.clone(), table.clone())]);
        let encoded = encoded.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let second = decode(&catalogue, &[encoded.get(0).expect("one")], LeapSeconds::Absent, CodePage::Cp1047);
        let (_, again) = second.tables.iter().find(|(table, _)| table == name).expect("the table");
        for field in &section.fields {
            let (one, other) = (table.column_by_name(&field.column), again.column_by_name(&field.column));
            let (one, other) = (one.expect("column"), other.expect("column"));
            if one.is_valid(0) {
                same(field, one, other)?;
            } else if field.end() > length || !matches!(field.format, Format::U64) {
                prop_assert!(other.is_null(0), "{} was null", field.name);
            }
        }
    }
}

#[test]
fn missing_columns_and_nulls_are_blank_or_zero() {
    let text =
        records::section_text(&["T,0,4,ebcdic,", "N,4,4,u32,", "D,8,4,smf_date,", "C,12,8,stck,", "P,20,4,packed,"]);
    let catalogue = records::single("x200_1", &text, "entries");
    let encoder = RecordEncoder::new(&catalogue, "smf200_1", EncodeOptions::default()).expect("known record");
    let schema =
        Schema::new(vec![ArrowField::new("n", DataType::UInt32, true), ArrowField::new("t", DataType::Utf8, true)]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(UInt32Array::from(vec![None, Some(7)])), Arc::new(StringArray::from(vec![Some("AB"), None]))];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).expect("sound");
    let records = encoder.encode(&identity(), &[("x200_1".into(), batch)]).expect("encodes");
    let record = records.get(0).expect("one");
    assert_eq!(record[36..44], [0xC1, 0xC2, 0x40, 0x40, 0, 0, 0, 0]);
    assert_eq!(record[44..60], [0; 16]);
    assert_eq!(record[60..68], [0x40, 0x40, 0x40, 0x40, 0, 0, 0, 7]);
    let decoded = decode(&catalogue, &[record], LeapSeconds::Absent, CodePage::Cp1047);
    let table = &decoded.tables.iter().find(|(name, _)| name == "x200_1").expect("the table").1;
    assert_eq!(table.column_by_name("t").expect("t").as_string::<i32>().value(1), "");
    assert_eq!(table.column_by_name("d").expect("d").as_primitive::<Date32Type>().null_count(), 2);
    assert_eq!(table.column_by_name("c").expect("c").as_primitive::<TimestampMicrosecondType>().null_count(), 2);
    assert_eq!(table.column_by_name("p").expect("p").null_count(), 2, "binary zeros are no packed number");
    assert!(decoded.notes.is_empty(), "{:?}", decoded.notes);
}
