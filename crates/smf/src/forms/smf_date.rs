//! SMF dates: packed decimal `0cyydddF`, year = 1900 + 100 c + yy, ddd the day of the year.

use super::Unfit;
use super::packed_decimal::{self, Packed};

/// What a date field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmfDate {
    /// Days since 1970-01-01.
    Days(i32),
    /// Binary zeros: never filled.
    Empty,
    /// No packed number, or no day of its year.
    Unreadable,
}

/// Days from 1970-01-01 to January 1st of a year of the Gregorian calendar.
fn january_first(year: i32) -> i32 {
    let before = year - 1;
    (year - 1970) * 365 + (before / 4 - before / 100 + before / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
}

/// The year in which a day, counted from 1970-01-01, is.
fn year_of(days: i32) -> i32 {
    // An estimate that is never late.
    let mut year = 1970 + days.div_euclid(if days < 0 { 365 } else { 366 });
    while january_first(year + 1) <= days {
        year += 1;
    }
    year
}

/// Days of each month of a year.
fn months_of(year: i32) -> [u32; 12] {
    let leap = january_first(year + 1) - january_first(year) == 366;
    [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

/// Year, month and day of days since 1970-01-01; `None` outside the years 1900 to 2899.
#[must_use]
pub fn date_of(days: i64) -> Option<(i32, u32, u32)> {
    let days = i32::try_from(days).ok().filter(|&days| (january_first(1900)..january_first(2900)).contains(&days))?;
    let year = year_of(days);
    let mut rest = (days - january_first(year)) as u32;
    for (month, length) in (1..).zip(months_of(year)) {
        if rest < length {
            return Some((year, month, rest + 1));
        }
        rest -= length;
    }
    None
}

/// Days since 1970-01-01 of a day of the Gregorian calendar, 1900 to 2899; `None` for no such day.
#[must_use]
pub fn days_of(year: i32, month: u32, day: u32) -> Option<i64> {
    if !(1900..2900).contains(&year) {
        return None;
    }
    let months = months_of(year);
    let length = *months.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    let before: u32 = months[..month as usize - 1].iter().sum();
    (1..=length).contains(&day).then(|| i64::from(january_first(year)) + i64::from(before + day - 1))
}

/// Reads a date field.
#[inline]
#[must_use]
pub fn decode(bytes: [u8; 4]) -> SmfDate {
    let number = match packed_decimal::decode(&bytes) {
        Packed::Number(number) => number,
        Packed::Empty => return SmfDate::Empty,
        Packed::Unreadable => return SmfDate::Unreadable,
    };
    let Ok(number) = u32::try_from(number) else {
        return SmfDate::Unreadable;
    };
    let (year, day) = (1900 + (number / 1000) as i32, (number % 1000) as i32);
    let first = january_first(year);
    if number >= 1_000_000 || day < 1 || first + day > january_first(year + 1) {
        return SmfDate::Unreadable;
    }
    SmfDate::Days(first + day - 1)
}

/// Writes days since 1970-01-01.
///
/// # Errors
/// [`Unfit`] outside the years 1900 to 2899.
pub fn encode(days: i32) -> Result<[u8; 4], Unfit> {
    if days < january_first(1900) {
        return Err(Unfit::TooSmall);
    }
    if days >= january_first(2900) {
        return Err(Unfit::TooLarge);
    }
    let year = year_of(days);
    let number = i64::from(year - 1900) * 1000 + i64::from(days - january_first(year) + 1);
    let mut bytes = [0; 4];
    packed_decimal::encode(number, 0xF, &mut bytes)?;
    Ok(bytes)
}
