//! Units as recorded, and what they become.
//!
//! The decoder converts once, to base units: seconds, bytes, plain numbers. A factor is kept as a fraction of
//! two whole numbers so that a count of microseconds becomes the double nearest to its decimal value (one
//! rounding, in the division), which a multiplication by 0.000001 would not give.

use super::format::Format;

/// A conversion factor: recorded value times `num`, divided by `den`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Multiplier, a whole number.
    pub num: f64,
    /// Divisor, a whole number.
    pub den: f64,
}

impl Scale {
    /// The factor one.
    pub const ONE: Self = Self { num: 1.0, den: 1.0 };
    /// Units of a TOD clock (2^-12 us) to seconds.
    pub const STCK: Self = Self { num: 1.0, den: 4_096_000_000.0 };
    /// Hundredths to whole.
    pub const HUNDREDTHS: Self = Self { num: 1.0, den: 100.0 };

    /// Recorded value to base unit.
    #[inline]
    #[must_use]
    pub fn apply(self, recorded: f64) -> f64 {
        recorded * self.num / self.den
    }

    /// Base unit to recorded value.
    #[inline]
    #[must_use]
    pub fn invert(self, value: f64) -> f64 {
        value * self.den / self.num
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_one(self) -> bool {
        self == Self::ONE
    }
}

/// What a unit asks of the decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Conversion {
    /// The number stays as it is: counts, samples, frames, percent.
    Keep,
    /// A factor; the result is a Float64 in seconds, or a ratio.
    Scale(Scale),
    /// A whole factor; the result is a UInt64 of bytes.
    Size(u64),
    /// Packed digits `0hhmmss` to seconds.
    PackedHms,
    /// Packed digits `mmssttt` to seconds.
    PackedMst,
    /// A TOD clock that runs on local time; the result is a time stamp without zone.
    LocalClock,
}

/// A unit of the closed set that a layout can name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// As the layout file has it.
    pub recorded: &'static str,
    /// After conversion.
    pub base: &'static str,
    /// How to convert.
    pub conversion: Conversion,
}

const fn keep(name: &'static str) -> Unit {
    Unit { recorded: name, base: name, conversion: Conversion::Keep }
}

const fn scaled(recorded: &'static str, base: &'static str, num: f64, den: f64) -> Unit {
    Unit { recorded, base, conversion: Conversion::Scale(Scale { num, den }) }
}

const fn size(recorded: &'static str, factor: u64) -> Unit {
    Unit { recorded, base: "bytes", conversion: Conversion::Size(factor) }
}

const UNITS: [Unit; 41] = [
    keep(""),
    keep("samples"),
    keep("frames"),
    keep("pages"),
    keep("slots"),
    keep("blocks"),
    keep("cylinders"),
    keep("MSU"),
    keep("SU"),
    keep("%"),
    scaled("s", "seconds", 1.0, 1.0),
    scaled("0.1s", "seconds", 1.0, 10.0),
    scaled("0.01s", "seconds", 1.0, 100.0),
    scaled("ms", "seconds", 1.0, 1e3),
    scaled("1024us", "seconds", 1024.0, 1e6),
    scaled("128us", "seconds", 128.0, 1e6),
    scaled("16us", "seconds", 16.0, 1e6),
    scaled("us", "seconds", 1.0, 1e6),
    scaled("0.5us", "seconds", 1.0, 2e6),
    scaled("stck_units", "seconds", 1.0, 4_096_000_000.0),
    scaled("us^2", "seconds^2", 1.0, 1e12),
    scaled("(1024us)^2", "seconds^2", 1_048_576.0, 1e12),
    scaled("page_1024us", "page seconds", 1024.0, 1e6),
    scaled("0.01", "", 1.0, 100.0),
    scaled("0.001", "", 1.0, 1000.0),
    scaled("/100", "", 1.0, 100.0),
    scaled("/256", "", 1.0, 256.0),
    scaled("/1000", "", 1.0, 1000.0),
    scaled("/1024", "", 1.0, 1024.0),
    scaled("/4096", "", 1.0, 4096.0),
    scaled("/10000", "", 1.0, 10_000.0),
    size("B", 1),
    size("256B", 256),
    size("KiB", 1 << 10),
    size("4KiB", 4 << 10),
    size("MiB", 1 << 20),
    size("GiB", 1 << 30),
    Unit { recorded: "0hhmmssF", base: "seconds", conversion: Conversion::PackedHms },
    Unit { recorded: "mmsstttF", base: "seconds", conversion: Conversion::PackedMst },
    Unit { recorded: "local", base: "", conversion: Conversion::LocalClock },
    // A CICS clock, time and count together; a section that a dictionary places has two columns for it.
    keep("clock"),
];

impl Unit {
    /// No unit.
    pub const NONE: Self = keep("");

    /// The unit of that name; the empty name is "no unit".
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        UNITS.iter().find(|unit| unit.recorded == name).copied()
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        UNITS[1..].iter().map(|unit| unit.recorded).collect::<Vec<_>>().join(", ")
    }

    /// Why a field of that format cannot have this unit; `None` when it can.
    #[must_use]
    pub fn mismatch(&self, format: Format) -> Option<&'static str> {
        if self.recorded.is_empty() || format == Format::Bytes {
            return None;
        }
        match (format, self.conversion) {
            (Format::Stck, Conversion::LocalClock) => None,
            (_, Conversion::LocalClock) => Some("a local clock is `stck`"),
            _ if self.recorded == "clock" => Some("a clock is `bytes`"),
            (Format::Packed, _) => None,
            (_, Conversion::PackedHms | Conversion::PackedMst) => Some("packed time needs format `packed`"),
            (Format::TodHundredths, _) => (self.recorded != "0.01s").then_some("tod_hundredths is always 0.01s"),
            _ if format.is_unsigned() || format.is_signed() || format.is_float() => None,
            _ => Some("this format has no unit: leave the column empty"),
        }
    }
}
