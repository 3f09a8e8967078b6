//! The TOD clock (STCK): a 64-bit count whose bit 51 is a microsecond, from 1900-01-01.
//!
//! Whether a system's clock follows UTC or runs ahead of it depends on how it is set: with a leap second offset
//! in effect the clock holds UTC plus all leap seconds inserted since 1972 (27 from 2017 on), without one it
//! holds UTC. No record says which; [`LeapSeconds`] is the reader's choice.
//!
//! The count wraps in September 2042; records after that would read as 1900.

use super::Unfit;

/// Microseconds from 1900-01-01 to 1970-01-01.
pub const EPOCH_MICROS: i64 = 2_208_988_800_000_000;

/// Seconds since 1970 (UTC) from which each leap second since 1972 counts: the midnight after it.
const LEAPS: [i64; 27] = [
    78_796_800,    // 1972-07-01
    94_694_400,    // 1973-01-01
    126_230_400,   // 1974-01-01
    157_766_400,   // 1975-01-01
    189_302_400,   // 1976-01-01
    220_924_800,   // 1977-01-01
    252_460_800,   // 1978-01-01
    283_996_800,   // 1979-01-01
    315_532_800,   // 1980-01-01
    362_793_600,   // 1981-07-01
    394_329_600,   // 1982-07-01
    425_865_600,   // 1983-07-01
    489_024_000,   // 1985-07-01
    567_993_600,   // 1988-01-01
    631_152_000,   // 1990-01-01
    662_688_000,   // 1991-01-01
    709_948_800,   // 1992-07-01
    741_484_800,   // 1993-07-01
    773_020_800,   // 1994-07-01
    820_454_400,   // 1996-01-01
    867_715_200,   // 1997-07-01
    915_148_800,   // 1999-01-01
    1_136_073_600, // 2006-01-01
    1_230_768_000, // 2009-01-01
    1_341_100_800, // 2012-07-01
    1_435_708_800, // 2015-07-01
    1_483_228_800, // 2017-01-01
];

/// Whether clock values run ahead of UTC by the leap seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeapSeconds {
    /// The clock holds UTC.
    #[default]
    Absent,
    /// The clock holds UTC plus the leap seconds so far; reading takes them off.
    Included,
}

impl LeapSeconds {
    /// Clock value to microseconds since 1970, UTC. Zero, an unset clock, gives `None`.
    ///
    /// An inserted leap second reads as the first second of the next day, which then comes again.
    #[inline]
    #[must_use]
    pub fn to_utc(self, clock: u64) -> Option<i64> {
        if clock == 0 {
            return None;
        }
        let micros = (clock >> 12) as i64 - EPOCH_MICROS;
        Some(match self {
            Self::Absent => micros,
            Self::Included => {
                // The n-th leap second counts once the clock, itself n ahead, has passed its midnight.
                let passed = |(n, &second): (usize, &i64)| micros >= (second + n as i64 + 1) * 1_000_000;
                let leaps = LEAPS.iter().enumerate().rev().find(|&leap| passed(leap)).map_or(0, |(n, _)| n + 1);
                micros - leaps as i64 * 1_000_000
            }
        })
    }

    /// Microseconds since 1970, UTC, to a clock value.
    ///
    /// # Errors
    /// [`Unfit`] at or before 1900-01-01 (a zero clock means unset) and after the clock's end in 2042.
    pub fn from_utc(self, micros: i64) -> Result<u64, Unfit> {
        let leaps = match self {
            Self::Absent => 0,
            Self::Included => LEAPS.iter().filter(|&&second| micros >= second * 1_000_000).count() as i64,
        };
        let count = micros.checked_add(EPOCH_MICROS + leaps * 1_000_000).ok_or(Unfit::TooLarge)?;
        match u64::try_from(count) {
            Ok(0) | Err(_) => Err(Unfit::TooSmall),
            Ok(count) if count >> 52 != 0 => Err(Unfit::TooLarge),
            Ok(count) => Ok(count << 12),
        }
    }
}

/// TOD clock units (2^-12 us) to microseconds, towards minus infinity.
#[inline]
#[must_use]
pub fn units_to_micros(units: i64) -> i64 {
    units >> 12
}
