//! How a field is written in a record.

/// The closed set of data forms that a layout can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Unsigned binary, one byte.
    U8,
    /// Unsigned binary, two bytes.
    U16,
    /// Unsigned binary, three bytes.
    U24,
    /// Unsigned binary, four bytes.
    U32,
    /// Unsigned binary, eight bytes.
    U64,
    /// Two's complement, two bytes.
    I16,
    /// Two's complement, four bytes.
    I32,
    /// Two's complement, eight bytes.
    I64,
    /// IBM hexadecimal floating point, four bytes.
    F32Hex,
    /// IBM hexadecimal floating point, eight bytes.
    F64Hex,
    /// IEEE binary floating point, eight bytes.
    F64Bfp,
    /// Packed decimal: two digits a byte, the sign in the last half byte.
    Packed,
    /// EBCDIC text, padded with blanks or nulls.
    Ebcdic,
    /// Flags.
    Bits,
    /// A TOD clock value as a point in time.
    Stck,
    /// A TOD clock value as a duration.
    CpuStck,
    /// Hundredths of a second since local midnight, binary.
    TodHundredths,
    /// A date as packed decimal `0cyydddF`.
    SmfDate,
    /// Uninterpreted bytes.
    Bytes,
}

/// Names in layout files, in the order in which the documentation lists them.
const NAMES: [(&str, Format); 19] = [
    ("u8", Format::U8),
    ("u16", Format::U16),
    ("u24", Format::U24),
    ("u32", Format::U32),
    ("u64", Format::U64),
    ("i16", Format::I16),
    ("i32", Format::I32),
    ("i64", Format::I64),
    ("f32_hex", Format::F32Hex),
    ("f64_hex", Format::F64Hex),
    ("f64_bfp", Format::F64Bfp),
    ("packed", Format::Packed),
    ("ebcdic", Format::Ebcdic),
    ("bits", Format::Bits),
    ("stck", Format::Stck),
    ("cpu_stck", Format::CpuStck),
    ("tod_hundredths", Format::TodHundredths),
    ("smf_date", Format::SmfDate),
    ("bytes", Format::Bytes),
];

impl Format {
    /// The format of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, format)| format)
    }

    /// The name in layout files.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        NAMES.map(|(name, _)| name).join(", ")
    }

    /// Whether a field of this format can have that length in bytes.
    #[must_use]
    pub fn allows_length(self, length: usize) -> bool {
        match self {
            Self::U8 => length == 1,
            Self::U16 | Self::I16 => length == 2,
            Self::U24 => length == 3,
            Self::U32 | Self::I32 | Self::F32Hex | Self::TodHundredths | Self::SmfDate => length == 4,
            Self::U64 | Self::I64 | Self::F64Hex | Self::F64Bfp | Self::Stck | Self::CpuStck => length == 8,
            Self::Bits => matches!(length, 1 | 2 | 4 | 8),
            // Nine bytes hold 17 digits; ten would hold 19, more than 64 bits can.
            Self::Packed => (1..=9).contains(&length),
            Self::Ebcdic | Self::Bytes => (1..=32_756).contains(&length),
        }
    }

    /// The lengths that [`Format::allows_length`] accepts, for messages.
    #[must_use]
    pub fn lengths(self) -> &'static str {
        match self {
            Self::U8 => "1",
            Self::U16 | Self::I16 => "2",
            Self::U24 => "3",
            Self::U32 | Self::I32 | Self::F32Hex | Self::TodHundredths | Self::SmfDate => "4",
            Self::U64 | Self::I64 | Self::F64Hex | Self::F64Bfp | Self::Stck | Self::CpuStck => "8",
            Self::Bits => "1, 2, 4 or 8",
            Self::Packed => "1 to 9",
            Self::Ebcdic | Self::Bytes => "1 to 32756",
        }
    }

    /// Whether the format holds an unsigned integer.
    #[must_use]
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U24 | Self::U32 | Self::U64)
    }

    /// Whether the format holds a signed integer.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I16 | Self::I32 | Self::I64)
    }

    /// Whether the format holds a floating point number.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32Hex | Self::F64Hex | Self::F64Bfp)
    }
}
