//! Whether columns came back as they were.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use plexlens_smf::layout::{Conversion, Field, Format};
use proptest::prelude::*;

use super::values::base;

/// Distance in units of the last place.
fn ulps(one: f64, other: f64) -> u64 {
    let order = |value: f64| {
        let bits = value.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    order(one).abs_diff(order(other))
}

/// Whether a column came back: exactly, or to the last places where floating point is scaled.
pub fn same(field: &Field, expected: &ArrayRef, found: &ArrayRef) -> Result<(), TestCaseError> {
    prop_assert_eq!(expected.data_type(), found.data_type(), "{}", &field.name);
    let scaled_float = field.format.is_float() && !matches!(field.unit.conversion, Conversion::Keep);
    let tolerance = if scaled_float { 2 } else { 0 };
    if let Some(found) = found.as_primitive_opt::<Float64Type>() {
        for (row, expected) in expected.as_primitive::<Float64Type>().iter().enumerate() {
            let (expected, found) = (expected.expect("a value"), found.value(row));
            // 53 bits of a 64-bit count: beyond, the scaled integer is the nearest of those that read alike.
            let wide = matches!(field.format, Format::U64 | Format::I64 | Format::CpuStck) && {
                let (multiply, divide) = base(field.unit.recorded);
                let divide = if field.format == Format::CpuStck { 4096e6 } else { divide };
                (expected * divide / multiply).abs() > 2f64.powi(50)
            };
            let tolerance = if wide { 2 } else { tolerance };
            prop_assert!(ulps(expected, found) <= tolerance, "{} row {row}: {expected:e} became {found:e}", field.name);
        }
        return Ok(());
    }
    prop_assert_eq!(expected, found, "{}", &field.name);
    Ok(())
}
