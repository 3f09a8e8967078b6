//! The packed times of RMF product sections: `0hhmmssF` and `mmsstttF`.

/// Digits `hhmmss` to seconds since midnight; `None` when minutes or seconds exceed 59 or the number is negative.
#[inline]
#[must_use]
pub fn hms_to_seconds(digits: i64) -> Option<f64> {
    let (hours, minutes, seconds) = (digits / 10_000, digits / 100 % 100, digits % 100);
    (digits >= 0 && minutes < 60 && seconds < 60).then(|| (hours * 3600 + minutes * 60 + seconds) as f64)
}

/// Digits `mmssttt` to milliseconds; `None` when seconds exceed 59 or the number is negative.
#[inline]
#[must_use]
pub fn mst_to_milliseconds(digits: i64) -> Option<i64> {
    let (minutes, seconds, thousandths) = (digits / 100_000, digits / 1000 % 100, digits % 1000);
    (digits >= 0 && seconds < 60).then_some((minutes * 60 + seconds) * 1000 + thousandths)
}

/// Whole seconds since midnight to digits `hhmmss`.
#[must_use]
pub fn seconds_to_hms(seconds: i64) -> i64 {
    seconds / 3600 * 10_000 + seconds / 60 % 60 * 100 + seconds % 60
}

/// Milliseconds to digits `mmssttt`.
#[must_use]
pub fn milliseconds_to_mst(milliseconds: i64) -> i64 {
    milliseconds / 60_000 * 100_000 + milliseconds / 1000 % 60 * 1000 + milliseconds % 1000
}
