//! Reading an Arrow column value by value, whatever its exact type.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

/// One value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Microseconds since 1970.
    Time(i64),
    /// Days since 1970.
    Day(i32),
}

/// Reads one row; the row is known not to be null.
type Getter<'a> = Box<dyn Fn(usize) -> Value<'a> + 'a>;

/// A column ready to be read.
pub(crate) struct Values<'a> {
    array: &'a ArrayRef,
    get: Getter<'a>,
}

impl<'a> Values<'a> {
    /// A reader for the column; `None` when its type holds nothing that a field can.
    pub fn new(array: &'a ArrayRef) -> Option<Self> {
        macro_rules! int {
            ($type:ty) => {{
                let values = array.as_primitive::<$type>().values();
                Box::new(move |row: usize| Value::Int(values[row].into())) as Getter<'a>
            }};
        }
        macro_rules! time {
            ($type:ty, $convert:expr) => {{
                let values = array.as_primitive::<$type>().values();
                let convert: fn(i64) -> i64 = $convert;
                Box::new(move |row: usize| Value::Time(convert(values[row]))) as Getter<'a>
            }};
        }
        let get: Getter<'a> = match array.data_type() {
            DataType::Int8 => int!(Int8Type),
            DataType::Int16 => int!(Int16Type),
            DataType::Int32 => int!(Int32Type),
            DataType::Int64 => int!(Int64Type),
            DataType::UInt8 => int!(UInt8Type),
            DataType::UInt16 => int!(UInt16Type),
            DataType::UInt32 => int!(UInt32Type),
            DataType::UInt64 => int!(UInt64Type),
            DataType::Boolean => {
                let values = array.as_boolean();
                Box::new(move |row| Value::Int(values.value(row).into()))
            }
            DataType::Float32 => {
                let values = array.as_primitive::<Float32Type>().values();
                Box::new(move |row| Value::Float(values[row].into()))
            }
            DataType::Float64 => {
                let values = array.as_primitive::<Float64Type>().values();
                Box::new(move |row| Value::Float(values[row]))
            }
            DataType::Utf8 => {
                let values = array.as_string::<i32>();
                Box::new(move |row| Value::Text(values.value(row)))
            }
            DataType::LargeUtf8 => {
                let values = array.as_string::<i64>();
                Box::new(move |row| Value::Text(values.value(row)))
            }
            DataType::Utf8View => {
                let values = array.as_string_view();
                Box::new(move |row| Value::Text(values.value(row)))
            }
            DataType::Binary => {
                let values = array.as_binary::<i32>();
                Box::new(move |row| Value::Bytes(values.value(row)))
            }
            DataType::LargeBinary => {
                let values = array.as_binary::<i64>();
                Box::new(move |row| Value::Bytes(values.value(row)))
            }
            DataType::FixedSizeBinary(_) => {
                let values = array.as_fixed_size_binary();
                Box::new(move |row| Value::Bytes(values.value(row)))
            }
            DataType::Timestamp(TimeUnit::Second, _) => {
                time!(TimestampSecondType, |value| value.saturating_mul(1_000_000))
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                time!(TimestampMillisecondType, |value| value.saturating_mul(1000))
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                time!(TimestampMicrosecondType, |value| value)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                time!(TimestampNanosecondType, |value| value.div_euclid(1000))
            }
            DataType::Date32 => {
                let values = array.as_primitive::<Date32Type>().values();
                Box::new(move |row| Value::Day(values[row]))
            }
            DataType::Date64 => {
                let values = array.as_primitive::<Date64Type>().values();
                Box::new(move |row| {
                    let days = values[row].div_euclid(86_400_000);
                    Value::Day(i32::try_from(days).unwrap_or(i32::MAX))
                })
            }
            DataType::Null => Box::new(|_| Value::Int(0)),
            _ => return None,
        };
        Some(Self { array, get })
    }

    /// The value of a row; `None` for null.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Value<'a>> {
        if *self.array.data_type() == DataType::Null || self.array.is_null(row) { None } else { Some((self.get)(row)) }
    }
}
