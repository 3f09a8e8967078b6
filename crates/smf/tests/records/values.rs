//! Random values for every form of field.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Date32Array, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field as ArrowField, Schema};
use plexlens_smf::layout::{Conversion, Field, Format, Section, data_type};

use super::Random;

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
pub fn base(unit: &str) -> (f64, f64) {
    match unit {
        "s" => (1.0, 1.0),
        "0.1s" => (1.0, 10.0),
        "0.01s" | "0.01" | "/100" => (1.0, 100.0),
        "ms" | "0.001" | "/1000" => (1.0, 1000.0),
        "1024us" | "page_1024us" => (1024.0, 1e6),
        "128us" => (128.0, 1e6),
        "16us" => (16.0, 1e6),
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
        DataType::UInt32 => {
            Arc::new(UInt32Array::from_iter_values((0..rows).map(|_| unsigned(random, length.min(4)) as u32)))
        }
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

/// Random rows for a section, one column for each of its fields.
pub fn values(seed: u64, section: &Section, rows: usize) -> RecordBatch {
    let mut random = Random(seed);
    let columns: Vec<ArrayRef> = section.fields.iter().map(|field| column(&mut random, field, rows)).collect();
    let fields: Vec<ArrowField> =
        section.fields.iter().map(|field| ArrowField::new(&field.column, data_type(field), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}
