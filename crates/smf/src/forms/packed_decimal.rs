//! Packed decimal: two decimal digits a byte, the sign in the last half byte.
//!
//! Signs A, C, E and F are plus, B and D minus; C is written for plus unless the caller asks for F. A field of
//! binary zeros is no packed number (zero has no sign code); it is how a field that was never filled looks.

use super::Unfit;

/// What a packed field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packed {
    /// A number.
    Number(i64),
    /// Binary zeros: never filled.
    Empty,
    /// A half byte that is no digit, no sign code, or more digits than 64 bits hold.
    Unreadable,
}

/// Reads a packed field.
#[inline]
#[must_use]
pub fn decode(bytes: &[u8]) -> Packed {
    let Some((&last, head)) = bytes.split_last() else {
        return Packed::Empty;
    };
    let mut number: i64 = 0;
    let mut fits = true;
    let mut digits = true;
    let mut push = |digit: u8| {
        digits &= digit <= 9;
        match number.checked_mul(10).and_then(|number| number.checked_add(i64::from(digit))) {
            Some(next) => number = next,
            None => fits = false,
        }
    };
    for &byte in head {
        push(byte >> 4);
        push(byte & 0xF);
    }
    push(last >> 4);
    match last & 0xF {
        _ if !digits || !fits => Packed::Unreadable,
        0xA | 0xC | 0xE | 0xF => Packed::Number(number),
        0xB | 0xD => Packed::Number(-number),
        0 if bytes.iter().all(|&byte| byte == 0) => Packed::Empty,
        _ => Packed::Unreadable,
    }
}

/// Writes a number over the whole of `bytes`, with sign `plus` or D.
///
/// # Errors
/// [`Unfit`] when it has more digits than the field.
pub fn encode(number: i64, plus: u8, bytes: &mut [u8]) -> Result<(), Unfit> {
    let mut rest = number.unsigned_abs();
    let mut half = if number < 0 { 0xD } else { plus };
    for byte in bytes.iter_mut().rev() {
        let low = half;
        let high = (rest % 10) as u8;
        rest /= 10;
        half = (rest % 10) as u8;
        rest /= 10;
        *byte = high << 4 | low;
    }
    // The half byte taken last has no place left; it and what remains must be zero.
    match (rest == 0 && half == 0) || bytes.is_empty() {
        true => Ok(()),
        false if number < 0 => Err(Unfit::TooSmall),
        false => Err(Unfit::TooLarge),
    }
}
