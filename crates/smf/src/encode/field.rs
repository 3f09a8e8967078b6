//! One value into the bytes of one field.
//!
//! The inverse of the decoder's columns: base units back to recorded ones. A number between two that the field can
//! hold is written as the nearest; a number outside what it can hold is an error, never cut.

use crate::forms::ebcdic::{CodePage, TextUnfit};
use crate::forms::tod_clock::LeapSeconds;
use crate::forms::{Unfit, hexfloat, packed_decimal, rmf_time, smf_date};
use crate::layout::{Conversion, Field, Format, Scale};

use super::error::Misfit;
use super::values::Value;

/// What writing depends on besides the field.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Forms {
    pub code_page: CodePage,
    pub leap_seconds: LeapSeconds,
}

impl Forms {
    /// Writes a value over the whole of `out`, which has the field's length.
    pub fn put(self, field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
        match field.format {
            Format::Ebcdic => self.text(field, value, out),
            Format::Bytes => bytes(field, value, out),
            Format::Stck => self.clock(field, value, out),
            Format::SmfDate => date(field, value, out),
            Format::CpuStck => integer(field, scaled(Scale::STCK, field, value)?, out),
            Format::TodHundredths => integer(field, scaled(Scale::HUNDREDTHS, field, value)?, out),
            Format::F32Hex | Format::F64Hex | Format::F64Bfp => float(field, value, out),
            Format::Packed => packed(field, value, out),
            Format::Bits
            | Format::U8
            | Format::U16
            | Format::U24
            | Format::U32
            | Format::U64
            | Format::I16
            | Format::I32
            | Format::I64 => match field.unit.conversion {
                Conversion::Scale(scale) => integer(field, scaled(scale, field, value)?, out),
                Conversion::Size(factor) => integer(field, sized(factor, field, value)?, out),
                _ => integer(field, whole(field, value)?, out),
            },
        }
    }

    fn text(self, field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
        let Value::Text(text) = value else {
            return Err(wrong_kind(field, value, "text"));
        };
        let page = self.code_page.name();
        self.code_page.encode(text, out).map_err(|unfit| match unfit {
            TextUnfit::Character(character) => Misfit::new(
                format!("`{text}` holds the character `{character}`, which code page {page} lacks"),
                "use characters of Latin 1",
            ),
            TextUnfit::Length(length) => {
                Misfit::new(format!("`{text}` has {length} characters"), format!("the field takes {}", field.length))
            }
        })
    }

    fn clock(self, field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
        let Value::Time(micros) = value else {
            return Err(wrong_kind(field, value, "a timestamp"));
        };
        let clock = self.leap_seconds.from_utc(micros).map_err(|_| {
            Misfit::new(
                format!("{micros} microseconds since 1970 is no time of the TOD clock"),
                "it runs from after 1900-01-01 to 2042-09-17",
            )
        })?;
        out.copy_from_slice(&clock.to_be_bytes());
        Ok(())
    }
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => format!("`{text}`"),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Time(micros) => format!("the time {micros} us"),
        Value::Day(days) => format!("day {days} since 1970"),
    }
}

fn wrong_kind(field: &Field, value: Value<'_>, wanted: &str) -> Misfit {
    let format = field.format.name();
    Misfit::new(format!("{} in a field of format {format}", shown(value)), format!("give {wanted}"))
}

fn bytes(field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
    let Value::Bytes(bytes) = value else {
        return Err(wrong_kind(field, value, "bytes"));
    };
    out.fill(0);
    let Some(place) = out.get_mut(..bytes.len()) else {
        return Err(Misfit::new(format!("{} bytes", bytes.len()), format!("the field takes {}", field.length)));
    };
    place.copy_from_slice(bytes);
    Ok(())
}

fn date(field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
    let Value::Day(days) = value else {
        return Err(wrong_kind(field, value, "a date"));
    };
    let bytes = smf_date::encode(days)
        .map_err(|_| Misfit::new(format!("day {days} since 1970"), "SMF dates run from 1900 to 2899"))?;
    out.copy_from_slice(&bytes);
    Ok(())
}

/// A number as it is.
fn number(field: &Field, value: Value<'_>) -> Result<f64, Misfit> {
    match value {
        Value::Int(number) => Ok(number as f64),
        Value::Float(number) => Ok(number),
        _ => Err(wrong_kind(field, value, "a number")),
    }
}

/// A whole number, as it is.
fn whole(field: &Field, value: Value<'_>) -> Result<i128, Misfit> {
    match value {
        Value::Int(number) => Ok(number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(64) => Ok(number as i128),
        Value::Float(number) => {
            Err(Misfit::new(format!("{number} is no whole number"), "the field counts in whole numbers"))
        }
        _ => Err(wrong_kind(field, value, "a number")),
    }
}

/// Base unit to the nearest whole number of recorded units.
fn scaled(scale: Scale, field: &Field, value: Value<'_>) -> Result<i128, Misfit> {
    let number = number(field, value)?;
    let recorded = scale.invert(number).round();
    // Beyond 2^64 no field holds it; the bound keeps the conversion exact. Not-a-number fails it too.
    if recorded.abs() <= 2f64.powi(64) {
        Ok(recorded as i128)
    } else {
        Err(Misfit::new(
            format!("{number}, or {recorded} {} as recorded, is too large", field.unit.recorded),
            "no field holds more than 64 bits",
        ))
    }
}

/// Bytes to the nearest whole number of recorded units.
fn sized(factor: u64, field: &Field, value: Value<'_>) -> Result<i128, Misfit> {
    let factor = i128::from(factor);
    match value {
        Value::Int(bytes) => Ok((bytes + factor / 2).div_euclid(factor)),
        _ => scaled(Scale { num: factor as f64, den: 1.0 }, field, value),
    }
}

/// Writes a whole number in binary.
fn integer(field: &Field, number: i128, out: &mut [u8]) -> Result<(), Misfit> {
    let bits = 8 * out.len();
    let (low, high) = if field.format.is_signed() {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    // A double cannot tell 2^64 - 1 from 2^64: what decoding such a field gave is its limit.
    let number = if bits == 64 && number == high + 1 { high } else { number };
    if !(low..=high).contains(&number) {
        return Err(Misfit::new(
            format!("{number} does not fit a field of format {}", field.format.name()),
            format!("it takes {low} to {high}, in units `{}`", field.unit.recorded),
        ));
    }
    let bytes = number.to_be_bytes();
    out.copy_from_slice(&bytes[bytes.len() - out.len()..]);
    Ok(())
}

fn float(field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
    let scale = match field.unit.conversion {
        Conversion::Scale(scale) => scale,
        Conversion::Size(factor) => Scale { num: factor as f64, den: 1.0 },
        _ => Scale::ONE,
    };
    let number = scale.invert(number(field, value)?);
    let unfit = |_: Unfit| {
        Misfit::new(format!("{number} has no hexadecimal floating point form"), "it must be finite and below 7.2e75")
    };
    match field.format {
        Format::F32Hex => out.copy_from_slice(&hexfloat::encode_short(number).map_err(unfit)?),
        Format::F64Hex => out.copy_from_slice(&hexfloat::encode_long(number).map_err(unfit)?),
        _ => out.copy_from_slice(&number.to_be_bytes()),
    }
    Ok(())
}

fn packed(field: &Field, value: Value<'_>, out: &mut [u8]) -> Result<(), Misfit> {
    let (digits, plus) = match field.unit.conversion {
        Conversion::PackedHms => (day_time(scaled(Scale::ONE, field, value)?)?, 0xF),
        Conversion::PackedMst => {
            let milliseconds = Scale { num: 1.0, den: 1000.0 };
            (duration(scaled(milliseconds, field, value)?)?, 0xF)
        }
        Conversion::Scale(scale) => (scaled(scale, field, value)?, 0xF),
        Conversion::Size(factor) => (sized(factor, field, value)?, 0xF),
        Conversion::Keep | Conversion::LocalClock => (whole(field, value)?, 0xC),
    };
    let unfit = || {
        Misfit::new(
            format!("{digits} does not fit a packed field of {} bytes", field.length),
            format!("it takes {} digits", 2 * field.length - 1),
        )
    };
    let digits = i64::try_from(digits).map_err(|_| unfit())?;
    packed_decimal::encode(digits, plus, out).map_err(|_| unfit())
}

/// Whole seconds to digits `hhmmss`.
fn day_time(seconds: i128) -> Result<i128, Misfit> {
    let fits = i64::try_from(seconds).ok().filter(|seconds| (0..=359_999).contains(seconds));
    fits.map(|seconds| rmf_time::seconds_to_hms(seconds).into()).ok_or_else(|| {
        Misfit::new(
            format!("{seconds} seconds is no time of day"),
            "give 0 to 359999 seconds, the most that 0hhmmssF holds",
        )
    })
}

/// Milliseconds to digits `mmssttt`.
fn duration(milliseconds: i128) -> Result<i128, Misfit> {
    let fits = i64::try_from(milliseconds).ok().filter(|ms| (0..6_000_000).contains(ms));
    fits.map(|ms| rmf_time::milliseconds_to_mst(ms).into()).ok_or_else(|| {
        Misfit::new(
            format!("{milliseconds} ms is too long or negative"),
            "give 0 to 5999.999 seconds, the most that mmsstttF holds",
        )
    })
}
