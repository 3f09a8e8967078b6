//! IBM hexadecimal floating point.
//!
//! One sign bit, seven bits of exponent (a power of 16, excess 64), and a fraction of 56 bits (long) or 24 bits
//! (short): value = fraction / 2^56 * 16^(exponent - 64).
//!
//! A long number has up to 56 significant bits, a double 53: reading rounds to nearest, ties to even. The other
//! way every double between 16^-65 and 16^63 is exact, since normalising loses at most three of the 56 bits. A
//! short number has 21 to 24 significant bits; writing one rounds to nearest, ties to even. Below 16^-65 the
//! fraction is written unnormalised, rounded the same way, at last to zero. Not a number, infinity, and values
//! above 16^63 have no form; 16^63 itself, as which the largest long number reads, is written as that number.

use super::Unfit;

/// Long hexadecimal float to double.
#[inline]
#[must_use]
pub fn decode_long(bytes: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(bytes);
    let fraction = bits & 0x00FF_FFFF_FFFF_FFFF;
    // 2^(4 (e - 64) - 56), as the bits of a double: never outside its exponent range.
    let exponent = (bits >> 56) & 0x7F;
    let power = f64::from_bits((4 * exponent + 1023 - 256 - 56) << 52);
    let sign = bits & (1 << 63);
    f64::from_bits((fraction as f64 * power).to_bits() | sign)
}

/// Short hexadecimal float to double; always exact.
#[inline]
#[must_use]
pub fn decode_short(bytes: [u8; 4]) -> f64 {
    let [a, b, c, d] = bytes;
    decode_long([a, b, c, d, 0, 0, 0, 0])
}

/// Double to long hexadecimal float.
///
/// # Errors
/// [`Unfit`] for values above 16^63, infinities and not-a-number.
pub fn encode_long(value: f64) -> Result<[u8; 8], Unfit> {
    encode(value, 56).map(u64::to_be_bytes)
}

/// Double to short hexadecimal float, rounded to nearest.
///
/// # Errors
/// [`Unfit`] for values that round to 16^63 or more, infinities and not-a-number.
pub fn encode_short(value: f64) -> Result<[u8; 4], Unfit> {
    let [a, b, c, d, ..] = encode(value, 24)?.to_be_bytes();
    Ok([a, b, c, d])
}

/// The long form with its fraction rounded to the first `width` bits.
fn encode(value: f64, width: u32) -> Result<u64, Unfit> {
    if !value.is_finite() {
        return Err(Unfit::NotFinite);
    }
    let bits = value.to_bits();
    let sign = bits & (1 << 63);
    let raw_exponent = ((bits >> 52) & 0x7FF) as i32;
    let (mantissa, power) = match raw_exponent {
        0 => return Ok(sign), // zero, or subnormal: far below the smallest hexadecimal number
        _ => ((bits & ((1 << 52) - 1)) | (1 << 52), raw_exponent - 1075),
    };
    // value = mantissa * 2^power; shift the fraction so that the power becomes a multiple of four.
    let shift = (power + 56).rem_euclid(4);
    let mut exponent = (power + 56).div_euclid(4) + 64;
    let mut fraction = mantissa << shift;
    if exponent < 0 {
        let drop = 4 * exponent.unsigned_abs();
        fraction = if drop < 64 { round_off(fraction, drop) } else { 0 };
        exponent = 0;
    }
    fraction = round_off(fraction, 56 - width) << (56 - width);
    if fraction >> 56 != 0 {
        fraction >>= 4;
        exponent += 1;
    }
    if (exponent, fraction, width) == (128, 1 << 52, 56) {
        return Ok(sign | !(1 << 63));
    }
    if exponent > 127 {
        return Err(if sign == 0 { Unfit::TooLarge } else { Unfit::TooSmall });
    }
    Ok(sign | (exponent as u64) << 56 | fraction)
}

/// Drops the low bits, to nearest, ties to even.
fn round_off(fraction: u64, drop: u32) -> u64 {
    if drop == 0 {
        return fraction;
    }
    let kept = fraction >> drop;
    let rest = fraction & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    kept + u64::from(rest > half || (rest == half && kept & 1 == 1))
}
