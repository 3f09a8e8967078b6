//! The Arrow schema of a raw table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Schema, TimeUnit};

use super::format::Format;
use super::section::{Field, Section};
use super::unit::Conversion;

/// Microseconds since 1970, UTC.
#[must_use]
pub fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Microseconds since 1970 on the local clock, without zone.
#[must_use]
pub fn local_timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

/// The Arrow type of a field after conversion to base units.
#[must_use]
pub fn data_type(field: &Field) -> DataType {
    match (field.format, field.unit.conversion) {
        (Format::Ebcdic, _) => DataType::Utf8,
        (Format::Bytes, _) => DataType::Binary,
        (Format::Stck, Conversion::LocalClock) => local_timestamp(),
        (Format::Stck, _) => timestamp(),
        (Format::SmfDate, _) => DataType::Date32,
        (Format::CpuStck | Format::TodHundredths, _) => DataType::Float64,
        (Format::F32Hex | Format::F64Hex | Format::F64Bfp, _) => DataType::Float64,
        (Format::Bits, _) => match field.length {
            1 => DataType::UInt8,
            2 => DataType::UInt16,
            4 => DataType::UInt32,
            _ => DataType::UInt64,
        },
        (Format::Packed, Conversion::Keep) => DataType::Int64,
        (Format::Packed, _) => DataType::Float64,
        (Format::U8, Conversion::Keep) => DataType::UInt8,
        (Format::U16, Conversion::Keep) => DataType::UInt16,
        (Format::U24 | Format::U32, Conversion::Keep) => DataType::UInt32,
        (Format::U64, Conversion::Keep) => DataType::UInt64,
        (Format::U8 | Format::U16 | Format::U24 | Format::U32 | Format::U64, Conversion::Size(_)) => DataType::UInt64,
        (Format::I16, Conversion::Keep) => DataType::Int16,
        (Format::I32, Conversion::Keep) => DataType::Int32,
        (Format::I64, Conversion::Keep) => DataType::Int64,
        (
            Format::U8
            | Format::U16
            | Format::U24
            | Format::U32
            | Format::U64
            | Format::I16
            | Format::I32
            | Format::I64,
            _,
        ) => DataType::Float64,
    }
}

/// The unit of a field's column.
#[must_use]
pub fn column_unit(field: &Field) -> &'static str {
    match field.format {
        Format::CpuStck | Format::TodHundredths => "seconds",
        Format::Bytes => "",
        _ => field.unit.base,
    }
}

fn key(name: &str, data_type: DataType, nullable: bool, unit: &str, description: &str) -> ArrowField {
    let metadata =
        HashMap::from([("unit".to_owned(), unit.to_owned()), ("description".to_owned(), description.to_owned())]);
    ArrowField::new(name, data_type, nullable).with_metadata(metadata)
}

/// The columns before a section's own.
#[must_use]
pub fn key_fields() -> Vec<ArrowField> {
    vec![
        key("system", DataType::Utf8, true, "", "system (SMF) id from the record's header"),
        key("sysplex", DataType::Utf8, true, "", "sysplex name; null where the record has none"),
        key("subsystem", DataType::Utf8, true, "", "queue manager, Db2 subsystem, CICS applid; null otherwise"),
        key("interval_start", timestamp(), true, "", "start of the interval, UTC"),
        key("interval_end", timestamp(), true, "", "end of the interval, UTC"),
        key("utc_offset", DataType::Float64, true, "seconds", "local time minus UTC"),
        key("source_id", DataType::Utf8, true, "", "the ingest that brought the record"),
        key("record_no", DataType::UInt64, true, "", "number of the record in its source, from 1"),
        key("section_no", DataType::UInt32, true, "", "number of the entry in its record, from 1"),
    ]
}

/// The schema of a section's table: key columns, then the section's own.
#[must_use]
pub fn table_schema(section: &Section) -> Schema {
    let mut fields = key_fields();
    fields.extend(section.fields.iter().map(|field| {
        let metadata = [
            ("unit", column_unit(field)),
            ("recorded_unit", field.unit.recorded),
            ("description", &field.description),
            ("source", &field.source),
            ("confidence", &field.confidence),
            ("since", &field.since),
        ];
        let metadata: HashMap<String, String> =
            metadata.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        ArrowField::new(&field.column, data_type(field), true).with_metadata(metadata)
    }));
    Schema::new(fields)
}

/// Name of the inventory table.
pub const INVENTORY: &str = "smf_record";

/// The schema of the inventory: a row for each record of every type.
#[must_use]
pub fn inventory_schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        key("record_type", DataType::UInt16, true, "", "SMF record type; 126 stands for an extended header"),
        key("subtype", DataType::UInt16, true, "", "subtype; null where the record type has none"),
        key("system", DataType::Utf8, true, "", "system (SMF) id"),
        key("ssid", DataType::Utf8, true, "", "subsystem or work type in the header"),
        key("written_at", local_timestamp(), true, "", "when the record was buffered, local time"),
        key("offset", DataType::UInt64, true, "bytes", "where the record begins in the file, after decompression"),
        key("length", DataType::UInt32, true, "bytes", "length with its descriptor word, after reassembly"),
        key("spanned_segments", DataType::UInt16, true, "", "segments it was put together from; 0 when whole"),
        key("joined_parts", DataType::UInt16, true, "", "records RMF had split it into; 0 when whole"),
        key("decoded", DataType::Boolean, true, "", "whether a record map names its sections"),
        key("hash", DataType::UInt64, true, "", "XXH3 of the record after its descriptor word"),
        key("source_id", DataType::Utf8, true, "", "the ingest that brought the record"),
        key("record_no", DataType::UInt64, true, "", "number of the record in its source, from 1"),
    ]))
}
