//! EBCDIC code pages 037 and 1047.
//!
//! Both map their 256 codes one to one onto the first 256 characters of Unicode. They differ in six places: the
//! square brackets, caret, logical not, Y acute and diaeresis. X'15' is NEL (U+0085) and X'25' line feed.

/// A code page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodePage {
    /// CCSID 37: United States, Canada and others.
    Cp037,
    /// CCSID 1047: Latin 1 open systems, the usual one of z/OS.
    #[default]
    Cp1047,
}

#[rustfmt::skip]
const CP037: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x9C, 0x09, 0x86, 0x7F, 0x97, 0x8D, 0x8E, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F,
    0x10, 0x11, 0x12, 0x13, 0x9D, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8F, 0x1C, 0x1D, 0x1E, 0x1F,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0A, 0x17, 0x1B, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9A, 0x9B, 0x14, 0x15, 0x9E, 0x1A,
    0x20, 0xA0, 0xE2, 0xE4, 0xE0, 0xE1, 0xE3, 0xE5, 0xE7, 0xF1, 0xA2, 0x2E, 0x3C, 0x28, 0x2B, 0x7C,
    0x26, 0xE9, 0xEA, 0xEB, 0xE8, 0xED, 0xEE, 0xEF, 0xEC, 0xDF, 0x21, 0x24, 0x2A, 0x29, 0x3B, 0xAC,
    0x2D, 0x2F, 0xC2, 0xC4, 0xC0, 0xC1, 0xC3, 0xC5, 0xC7, 0xD1, 0xA6, 0x2C, 0x25, 0x5F, 0x3E, 0x3F,
    0xF8, 0xC9, 0xCA, 0xCB, 0xC8, 0xCD, 0xCE, 0xCF, 0xCC, 0x60, 0x3A, 0x23, 0x40, 0x27, 0x3D, 0x22,
    0xD8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xAB, 0xBB, 0xF0, 0xFD, 0xFE, 0xB1,
    0xB0, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0xAA, 0xBA, 0xE6, 0xB8, 0xC6, 0xA4,
    0xB5, 0x7E, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0xA1, 0xBF, 0xD0, 0xDD, 0xDE, 0xAE,
    0x5E, 0xA3, 0xA5, 0xB7, 0xA9, 0xA7, 0xB6, 0xBC, 0xBD, 0xBE, 0x5B, 0x5D, 0xAF, 0xA8, 0xB4, 0xD7,
    0x7B, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xAD, 0xF4, 0xF6, 0xF2, 0xF3, 0xF5,
    0x7D, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F, 0x50, 0x51, 0x52, 0xB9, 0xFB, 0xFC, 0xF9, 0xFA, 0xFF,
    0x5C, 0xF7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0xB2, 0xD4, 0xD6, 0xD2, 0xD3, 0xD5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xB3, 0xDB, 0xDC, 0xD9, 0xDA, 0x9F,
];

const CP1047: [u8; 256] = {
    let mut table = CP037;
    table[0x5F] = 0x5E; // ^
    table[0xAD] = 0x5B; // [
    table[0xB0] = 0xAC; // not sign
    table[0xBA] = 0xDD; // Y acute
    table[0xBB] = 0xA8; // diaeresis
    table[0xBD] = 0x5D; // ]
    table
};

const fn inverse(table: &[u8; 256]) -> [u8; 256] {
    let mut codes = [0; 256];
    let mut code = 0;
    while code < 256 {
        codes[table[code] as usize] = code as u8;
        code += 1;
    }
    codes
}

static TO_UNICODE: [[u8; 256]; 2] = [CP037, CP1047];
static FROM_UNICODE: [[u8; 256]; 2] = [inverse(&CP037), inverse(&CP1047)];

/// EBCDIC blank.
pub const BLANK: u8 = 0x40;

/// A field's text without the padding: blanks and nulls at the end.
#[inline]
#[must_use]
pub fn trim(field: &[u8]) -> &[u8] {
    let length = field
        .iter()
        .rposition(|&byte| byte != BLANK && byte != 0)
        .map_or(0, |last| last + 1);
    &field[..length]
}

impl CodePage {
    /// The code page of that name: `037` or `1047`, with or without a leading `cp` or `ibm-`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match name
            .trim_start_matches("ibm")
            .trim_start_matches("cp")
            .trim_start_matches('-')
        {
            "037" | "37" => Some(Self::Cp037),
            "1047" => Some(Self::Cp1047),
            _ => None,
        }
    }

    /// The name that [`CodePage::parse`] takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cp037 => "037",
            Self::Cp1047 => "1047",
        }
    }

    /// Appends text as UTF-8.
    #[inline]
    pub fn decode_into(self, text: &[u8], out: &mut Vec<u8>) {
        let table = &TO_UNICODE[self as usize];
        for &byte in text {
            let code = table[usize::from(byte)];
            if code < 0x80 {
                out.push(code);
            } else {
                out.extend([0xC0 | code >> 6, 0x80 | code & 0x3F]);
            }
        }
    }

    /// A field as text, its padding cut.
    #[must_use]
    pub fn decode(self, field: &[u8]) -> String {
        trim(field)
            .iter()
            .map(|&byte| char::from(TO_UNICODE[self as usize][usize::from(byte)]))
            .collect()
    }

    /// Writes text over the whole of `field`, padded with blanks.
    ///
    /// # Errors
    /// The first character outside the code page, or the number of characters when there are too many.
    pub fn encode(self, text: &str, field: &mut [u8]) -> Result<(), TextUnfit> {
        field.fill(BLANK);
        let mut places = field.iter_mut();
        for character in text.chars() {
            let code =
                u8::try_from(u32::from(character)).map_err(|_| TextUnfit::Character(character))?;
            let place = places
                .next()
                .ok_or_else(|| TextUnfit::Length(text.chars().count()))?;
            *place = FROM_UNICODE[self as usize][usize::from(code)];
        }
        Ok(())
    }
}

/// Why a text has no form in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextUnfit {
    /// This character is not in the code page.
    Character(char),
    /// It has this many characters, more than the field.
    Length(usize),
}
