//! decode(encode(x)) = x, for every layout of the repository, with random values, short and long sections.
//!
//! Integers, text, times and dates come back exactly. A floating point field with a unit is divided on the way out
//! and multiplied on the way in; both round, so it may come back two units in the last place away.

mod records;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field as ArrowField, Schema};
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder};
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity};
use plexlens_smf::forms::ebcdic::CodePage;
use plexlens_smf::forms::tod_clock::LeapSeconds;
use plexlens_smf::layout::{Catalogue, Format, Section};
use proptest::prelude::*;
use records::Random;
use records::same::same;
use records::values::values;

fn identity() -> RecordIdentity {
    RecordIdentity { system: Some("SYS1".into()), written_at: Some(1_772_356_500_000_000), ..Default::default() }
}

fn decode(catalogue: &Catalogue, records: &[&[u8]], leap_seconds: LeapSeconds, page: CodePage) -> DecodedBatch {
    let options = DecodeOptions { code_page: page, leap_seconds, ..DecodeOptions::default() };
    let decoder = Decoder::new(catalogue, options).expect("known tables");
    decoder.decode(&records::batch(records), None, "test").expect("decodes")
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
