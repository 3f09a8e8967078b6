//! Column builders: one for each field, filled a block of rows at a time.
//!
//! Advice to whoever edits this: the loops over rows are the decoder's hot path. Each builder is called once for a
//! block of rows (a virtual call), and inside a block nothing but the field's own conversion should happen for each
//! row. `whole` says that every row of the block holds the field, so that null handling can stay out of the loop.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BinaryArray, PrimitiveArray, StringArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use crate::forms::ebcdic::{self, CodePage};
use crate::forms::packed_decimal::{self, Packed};
use crate::forms::smf_date::{self, SmfDate};
use crate::forms::tod_clock::LeapSeconds;
use crate::forms::{hexfloat, rmf_time};
use crate::layout::{Conversion, Field, Format, Scale, data_type};

/// One entry of a section: a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// Where the entry begins in the batch's data.
    pub start: usize,
    /// Bytes of the entry.
    pub len: u32,
    /// Number of the entry in its record, from 1.
    pub section_no: u32,
    /// Index of the record among those decoded.
    pub record: u32,
    /// Layout of the entry: 0 is the table's own, others are variants of it.
    pub variant: u16,
}

impl Row {
    /// Whether the entry reaches to `end` bytes.
    #[inline]
    fn holds(&self, end: usize) -> bool {
        self.len as usize >= end
    }
}

/// Builds one Arrow column.
pub(crate) trait ColumnBuilder {
    /// Reads the field of each row; rows too short get null. `whole` promises that none is.
    fn append(&mut self, data: &[u8], rows: &[Row], whole: bool);

    /// The finished array, and how many values could not be read.
    fn finish(self: Box<Self>) -> Result<(ArrayRef, u64), ArrowError>;
}

/// A value, a null, or something unreadable that becomes a null and is counted.
pub(crate) enum Cell<T> {
    Value(T),
    Null,
    Unreadable,
}

#[inline]
fn bytes_at<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    // Rows were checked against the record when they were located, so the fallback is never taken.
    data.get(at..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

/// Fixed-length fields that always have a value.
struct Total<const N: usize, P: ArrowPrimitiveType, F> {
    offset: usize,
    read: F,
    values: Vec<P::Native>,
    nulls: NullBufferBuilder,
    data_type: DataType,
}

impl<const N: usize, P: ArrowPrimitiveType, F: Fn([u8; N]) -> P::Native> ColumnBuilder for Total<N, P, F> {
    fn append(&mut self, data: &[u8], rows: &[Row], whole: bool) {
        let (offset, end) = (self.offset, self.offset + N);
        if whole {
            self.values.extend(rows.iter().map(|row| (self.read)(bytes_at(data, row.start + offset))));
            self.nulls.append_n_non_nulls(rows.len());
            return;
        }
        for row in rows {
            let holds = row.holds(end);
            let value = if holds { (self.read)(bytes_at(data, row.start + offset)) } else { P::default_value() };
            self.values.push(value);
            self.nulls.append(holds);
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(ArrayRef, u64), ArrowError> {
        let values = ScalarBuffer::from(self.values);
        let array = PrimitiveArray::<P>::try_new(values, self.nulls.finish())?.with_data_type(self.data_type);
        Ok((Arc::new(array), 0))
    }
}

/// Fixed-length fields whose bytes can stand for no value.
struct Partial<const N: usize, P: ArrowPrimitiveType, F> {
    offset: usize,
    read: F,
    values: Vec<P::Native>,
    nulls: NullBufferBuilder,
    unreadable: u64,
    data_type: DataType,
}

impl<const N: usize, P: ArrowPrimitiveType, F: Fn([u8; N]) -> Cell<P::Native>> ColumnBuilder for Partial<N, P, F> {
    fn append(&mut self, data: &[u8], rows: &[Row], _whole: bool) {
        for row in rows {
            let cell = if row.holds(self.offset + N) {
                (self.read)(bytes_at(data, row.start + self.offset))
            } else {
                Cell::Null
            };
            self.unreadable += u64::from(matches!(cell, Cell::Unreadable));
            match cell {
                Cell::Value(value) => {
                    self.values.push(value);
                    self.nulls.append_non_null();
                }
                Cell::Null | Cell::Unreadable => {
                    self.values.push(P::default_value());
                    self.nulls.append_null();
                }
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(ArrayRef, u64), ArrowError> {
        let values = ScalarBuffer::from(self.values);
        let array = PrimitiveArray::<P>::try_new(values, self.nulls.finish())?.with_data_type(self.data_type);
        Ok((Arc::new(array), self.unreadable))
    }
}

/// Packed decimals, whose length varies by field.
struct PackedColumn<P: ArrowPrimitiveType, F> {
    offset: usize,
    length: usize,
    read: F,
    values: Vec<P::Native>,
    nulls: NullBufferBuilder,
    unreadable: u64,
}

impl<P: ArrowPrimitiveType, F: Fn(i64) -> Option<P::Native>> ColumnBuilder for PackedColumn<P, F> {
    fn append(&mut self, data: &[u8], rows: &[Row], _whole: bool) {
        for row in rows {
            let at = row.start + self.offset;
            let field = if row.holds(self.offset + self.length) { data.get(at..at + self.length) } else { None };
            let value = match field.map_or(Packed::Empty, packed_decimal::decode) {
                Packed::Number(number) => (self.read)(number),
                Packed::Empty => {
                    self.values.push(P::default_value());
                    self.nulls.append_null();
                    continue;
                }
                Packed::Unreadable => None,
            };
            self.unreadable += u64::from(value.is_none());
            self.values.push(value.unwrap_or_default());
            self.nulls.append(value.is_some());
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(ArrayRef, u64), ArrowError> {
        let values = ScalarBuffer::from(self.values);
        Ok((Arc::new(PrimitiveArray::<P>::try_new(values, self.nulls.finish())?), self.unreadable))
    }
}

/// Text and uninterpreted bytes.
struct Variable {
    offset: usize,
    length: usize,
    /// Whether the field is as long as its entry lets it be, at most `length`.
    open: bool,
    /// Code page of a text column; `None` keeps the bytes.
    text: Option<CodePage>,
    values: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl ColumnBuilder for Variable {
    fn append(&mut self, data: &[u8], rows: &[Row], _whole: bool) {
        for row in rows {
            let at = row.start + self.offset;
            let rest = (row.len as usize).checked_sub(self.offset);
            let length = rest.map(|rest| if self.open { rest.min(self.length) } else { self.length });
            let length = length.filter(|length| row.holds(self.offset + length));
            let field = length.and_then(|length| data.get(at..at + length));
            if let Some(field) = field {
                match self.text {
                    Some(page) => page.decode_into(ebcdic::trim(field), &mut self.values),
                    None => self.values.extend_from_slice(field),
                }
            }
            self.offsets.push(i32::try_from(self.values.len()).unwrap_or(i32::MAX));
            self.nulls.append(field.is_some());
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(ArrayRef, u64), ArrowError> {
        if i32::try_from(self.values.len()).is_err() {
            return Err(ArrowError::OffsetOverflowError(self.values.len()));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let nulls = self.nulls.finish();
        let array: ArrayRef = match self.text {
            Some(_) => Arc::new(StringArray::try_new(offsets, self.values.into(), nulls)?),
            None => Arc::new(BinaryArray::try_new(offsets, self.values.into(), nulls)?),
        };
        Ok((array, 0))
    }
}

type Built = Box<dyn ColumnBuilder>;

/// The builder for a field, with room for `rows`.
/// `open` says that the field, if it is text or bytes, is as long as its entry lets it be.
pub(crate) fn builder(field: &Field, open: bool, page: CodePage, leap: LeapSeconds, rows: usize) -> Built {
    let make = Make { field, open, rows };
    match (field.format, field.unit.conversion) {
        (Format::Ebcdic, _) => make.variable(Some(page)),
        (Format::Bytes, _) => make.variable(None),
        (Format::Stck, _) => make.partial::<8, TimestampMicrosecondType>(move |bytes| {
            leap.to_utc(u64::from_be_bytes(bytes)).map_or(Cell::Null, Cell::Value)
        }),
        (Format::SmfDate, _) => make.partial::<4, Date32Type>(|bytes| match smf_date::decode(bytes) {
            SmfDate::Days(days) => Cell::Value(days),
            SmfDate::Empty => Cell::Null,
            SmfDate::Unreadable => Cell::Unreadable,
        }),
        (Format::CpuStck, _) => make.scaled(Scale::STCK, |bytes| u64::from_be_bytes(bytes) as f64),
        (Format::TodHundredths, _) => make.scaled(Scale::HUNDREDTHS, |bytes| f64::from(u32::from_be_bytes(bytes))),
        (Format::Packed, conversion) => make.packed(conversion),
        (Format::F32Hex, conversion) => make.scaled(float_scale(conversion), hexfloat::decode_short),
        (Format::F64Hex, conversion) => make.scaled(float_scale(conversion), hexfloat::decode_long),
        (Format::F64Bfp, conversion) => make.scaled(float_scale(conversion), f64::from_be_bytes),
        (Format::Bits, _) => make.unsigned(),
        (_, Conversion::Keep) if field.format.is_signed() => make.signed(),
        (_, Conversion::Keep) => make.unsigned(),
        (Format::U64, Conversion::Size(factor)) => make.partial::<8, UInt64Type>(move |bytes| {
            u64::from_be_bytes(bytes).checked_mul(factor).map_or(Cell::Unreadable, Cell::Value)
        }),
        (Format::U32, Conversion::Size(factor)) => {
            make.total::<4, UInt64Type>(move |bytes| u64::from(u32::from_be_bytes(bytes)) * factor)
        }
        (Format::U24, Conversion::Size(factor)) => {
            make.total::<3, UInt64Type>(move |bytes| u64::from(u24(bytes)) * factor)
        }
        (Format::U16, Conversion::Size(factor)) => {
            make.total::<2, UInt64Type>(move |bytes| u64::from(u16::from_be_bytes(bytes)) * factor)
        }
        (Format::U8, Conversion::Size(factor)) => make.total::<1, UInt64Type>(move |[byte]| u64::from(byte) * factor),
        (Format::U8, conversion) => make.scaled(float_scale(conversion), |[byte]| f64::from(byte)),
        (Format::U16, conversion) => make.scaled(float_scale(conversion), |b| f64::from(u16::from_be_bytes(b))),
        (Format::U24, conversion) => make.scaled(float_scale(conversion), |bytes| f64::from(u24(bytes))),
        (Format::U32, conversion) => make.scaled(float_scale(conversion), |b| f64::from(u32::from_be_bytes(b))),
        (Format::U64, conversion) => make.scaled(float_scale(conversion), |b| u64::from_be_bytes(b) as f64),
        (Format::I16, conversion) => make.scaled(float_scale(conversion), |b| f64::from(i16::from_be_bytes(b))),
        (Format::I32, conversion) => make.scaled(float_scale(conversion), |b| f64::from(i32::from_be_bytes(b))),
        (Format::I64, conversion) => make.scaled(float_scale(conversion), |b| i64::from_be_bytes(b) as f64),
    }
}

fn u24([high, middle, low]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, high, middle, low])
}

/// The factor of a conversion whose result is a float.
pub(crate) fn float_scale(conversion: Conversion) -> Scale {
    match conversion {
        Conversion::Scale(scale) => scale,
        Conversion::Size(factor) => Scale { num: factor as f64, den: 1.0 },
        Conversion::Keep | Conversion::PackedHms | Conversion::PackedMst | Conversion::LocalClock => Scale::ONE,
    }
}

/// What the builders of one field share.
struct Make<'a> {
    field: &'a Field,
    open: bool,
    rows: usize,
}

impl Make<'_> {
    fn total<const N: usize, P: ArrowPrimitiveType>(&self, read: impl Fn([u8; N]) -> P::Native + 'static) -> Built {
        Box::new(Total::<N, P, _> {
            offset: self.field.offset,
            read,
            values: Vec::with_capacity(self.rows),
            nulls: NullBufferBuilder::new(self.rows),
            data_type: data_type(self.field),
        })
    }

    fn partial<const N: usize, P: ArrowPrimitiveType>(
        &self,
        read: impl Fn([u8; N]) -> Cell<P::Native> + 'static,
    ) -> Built {
        Box::new(Partial::<N, P, _> {
            offset: self.field.offset,
            read,
            values: Vec::with_capacity(self.rows),
            nulls: NullBufferBuilder::new(self.rows),
            unreadable: 0,
            data_type: data_type(self.field),
        })
    }

    fn scaled<const N: usize>(&self, scale: Scale, read: impl Fn([u8; N]) -> f64 + 'static) -> Built {
        if scale.is_one() {
            self.total::<N, Float64Type>(read)
        } else {
            self.total::<N, Float64Type>(move |bytes| scale.apply(read(bytes)))
        }
    }

    fn unsigned(&self) -> Built {
        match self.field.length {
            1 => self.total::<1, UInt8Type>(|[byte]| byte),
            2 => self.total::<2, UInt16Type>(u16::from_be_bytes),
            3 => self.total::<3, UInt32Type>(u24),
            4 => self.total::<4, UInt32Type>(u32::from_be_bytes),
            _ => self.total::<8, UInt64Type>(u64::from_be_bytes),
        }
    }

    fn signed(&self) -> Built {
        match self.field.length {
            2 => self.total::<2, Int16Type>(i16::from_be_bytes),
            4 => self.total::<4, Int32Type>(i32::from_be_bytes),
            _ => self.total::<8, Int64Type>(i64::from_be_bytes),
        }
    }

    fn packed(&self, conversion: Conversion) -> Built {
        match conversion {
            Conversion::Keep | Conversion::LocalClock => self.packed_as::<Int64Type>(Some),
            Conversion::PackedHms => self.packed_as::<Float64Type>(rmf_time::hms_to_seconds),
            Conversion::PackedMst => {
                self.packed_as::<Float64Type>(|digits| rmf_time::mst_to_milliseconds(digits).map(|ms| ms as f64 / 1e3))
            }
            Conversion::Scale(_) | Conversion::Size(_) => {
                let scale = float_scale(conversion);
                self.packed_as::<Float64Type>(move |number| Some(scale.apply(number as f64)))
            }
        }
    }

    fn packed_as<P: ArrowPrimitiveType>(&self, read: impl Fn(i64) -> Option<P::Native> + 'static) -> Built {
        Box::new(PackedColumn::<P, _> {
            offset: self.field.offset,
            length: self.field.length,
            read,
            values: Vec::with_capacity(self.rows),
            nulls: NullBufferBuilder::new(self.rows),
            unreadable: 0,
        })
    }

    fn variable(&self, text: Option<CodePage>) -> Built {
        let mut offsets = Vec::with_capacity(self.rows + 1);
        offsets.push(0);
        Box::new(Variable {
            offset: self.field.offset,
            length: self.field.length,
            open: self.open,
            text,
            values: Vec::with_capacity(self.rows * self.field.length.min(8)),
            offsets,
            nulls: NullBufferBuilder::new(self.rows),
        })
    }
}
