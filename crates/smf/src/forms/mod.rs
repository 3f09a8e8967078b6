//! The data forms of z/OS records, both ways.
//!
//! Each module holds one form: how its bytes become a value, and how a value becomes bytes. None of them knows
//! about layouts or Arrow.

pub mod csrcesrv;
pub mod ebcdic;
pub mod hexfloat;
pub mod packed_decimal;
pub mod rmf_time;
pub mod smf_date;
pub mod tod_clock;

/// Why a value has no form in the bytes it is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It is larger than the form can hold.
    TooLarge,
    /// It is smaller (more negative, or earlier) than the form can hold.
    TooSmall,
    /// It is not a finite number.
    NotFinite,
}
