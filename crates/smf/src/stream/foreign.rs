//! Files that are often taken for SMF dumps, told by how they begin.
//!
//! Consulted only when no record was found. The header of a tersed file is that which the public TerseDecompress
//! project checks; the other signatures are those of the formats' own documentation.

use super::header::{DATE, DESCRIPTOR, HEADER, SYSTEM, TIME, be16, be32, is_printable_ebcdic};

/// Something other than a readable SMF dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Foreign {
    /// An SMF dump translated from EBCDIC to ASCII, Latin-1 or UTF-8 on its way.
    TextModeTransfer,
    /// The output of AMATERSE or TRSMAIN.
    Tersed,
    /// The output of TSO TRANSMIT.
    Transmit,
    /// A ZIP archive.
    Zip,
    /// A file compressed by something other than gzip or zstd.
    OtherCompression,
    /// An XML document.
    Xml,
    /// Printable text.
    Text,
    /// Nothing but zero bytes.
    Zeros,
}

impl Foreign {
    /// The stable name used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TextModeTransfer => "text_mode_transfer",
            Self::Tersed => "tersed",
            Self::Transmit => "transmit",
            Self::Zip => "zip",
            Self::OtherCompression => "other_compression",
            Self::Xml => "xml",
            Self::Text => "text",
            Self::Zeros => "zeros",
        }
    }

    /// What the file is, in a few words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::TextModeTransfer => "an SMF dump that was transferred in text mode and is lost",
            Self::Tersed => "a file packed by AMATERSE (TRSMAIN)",
            Self::Transmit => "a file in TSO TRANSMIT (XMIT) format",
            Self::Zip => "a ZIP archive",
            Self::OtherCompression => "a compressed file of another kind than gzip or zstd",
            Self::Xml => "an XML document, no SMF dump",
            Self::Text => "text, no SMF dump",
            Self::Zeros => "nothing but zero bytes",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::TextModeTransfer => {
                "the translation cannot be undone: send the data set again in binary with its record descriptor \
                 words (FTP: binary, quote site rdw)"
            }
            Self::Tersed => "unpack it first: AMATERSE with PARM=UNPACK on z/OS, or the TerseDecompress tool",
            Self::Transmit => "unpack it first: TSO RECEIVE INDSNAME(...) on z/OS",
            Self::Zip => "unpack it first and name the dump inside",
            Self::OtherCompression => "expand it first, or compress the dump with gzip or zstd",
            Self::Xml => "if it is RMF Postprocessor XML, read it as such",
            Self::Text => "if it is a printed RMF or Db2 report, read it as such; a dump must be sent in binary",
            Self::Zeros => "the file was allocated but never filled: transfer the dump again",
        }
    }
}

/// How much of a file is looked at; enough for some records.
const LOOKED_AT: usize = 64 << 10;

/// Names what `head`, the start of a file without a single SMF record, is; and by what it was recognised.
///
/// `last` says that no longer part of the file will be looked at: a file may well begin with zeros.
pub(super) fn recognise(head: &[u8], last: bool) -> Option<(Foreign, String)> {
    if last && head.len() >= HEADER && head.iter().all(|&byte| byte == 0) {
        return Some((Foreign::Zeros, format!("{} bytes, all zero", head.len())));
    }
    let head = &head[..head.len().min(LOOKED_AT)];
    let known = [
        (head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"), Foreign::Zip, "it begins with PK"),
        (is_other_compression(head), Foreign::OtherCompression, "told by its first bytes"),
        (is_transmit(head), Foreign::Transmit, "its first control record is INMR01"),
        (is_xml(head), Foreign::Xml, "it begins with a tag"),
        (is_tersed(head), Foreign::Tersed, "its first twelve bytes are a terse header"),
    ];
    if let Some((_, what, detail)) = known.into_iter().find(|&(applies, _, _)| applies) {
        return Some((what, detail.to_owned()));
    }
    // Text before translation: a short text with line ends would pass for a translated dump, never the other way.
    if let Some(detail) = text(head) {
        return Some((Foreign::Text, detail));
    }
    translated(head).map(|detail| (Foreign::TextModeTransfer, detail))
}

fn is_other_compression(head: &[u8]) -> bool {
    const MAGIC: [&[u8]; 5] = [b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"\x1f\x9d", b"\x04\x22\x4d\x18"];
    MAGIC.iter().any(|magic| head.starts_with(magic))
}

/// INMR01 in EBCDIC, behind the length and flag byte of the first control record.
fn is_transmit(head: &[u8]) -> bool {
    head.get(2..8) == Some(&[0xc9, 0xd5, 0xd4, 0xd9, 0xf0, 0xf1])
}

fn is_xml(head: &[u8]) -> bool {
    let ascii = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let tag = ascii.len() > 1 && ascii[0] == b'<' && (ascii[1].is_ascii_alphabetic() || b"?!".contains(&ascii[1]));
    // "<?xml" in EBCDIC, and "<?" in both orders of UTF-16.
    tag || [&b"\x4c\x6f\xa7\x94\x93"[..], b"\xff\xfe<\0?\0", b"\xfe\xff\0<\0?"]
        .iter()
        .any(|magic| head.starts_with(magic))
}

/// A terse header: version, form of records, record length twice (once may be zero), flags, ratio, block size.
fn is_tersed(head: &[u8]) -> bool {
    if head.len() < 12 {
        return false;
    }
    match head[0] {
        1 | 7 if head[1..4] == [0x89, 0x69, 0xa5] => true,
        2 | 5 | 7 | 9 if head[1] <= 1 => {
            let (short, long) = (u32::from(be16(head, 2)), be32(head, 8));
            long <= 0xffff && (short != 0 || long != 0) && (short == 0 || long == 0 || short == long)
        }
        _ => false,
    }
}

fn text(head: &[u8]) -> Option<String> {
    if head.is_empty() {
        return None;
    }
    let share = |count: usize| count * 100 / head.len();
    let ascii = head.iter().filter(|&&byte| matches!(byte, 9..=13 | 32..=126)).count();
    if share(ascii) >= 98 {
        return Some(format!("{} % of its bytes are printable ASCII", share(ascii)));
    }
    // EBCDIC lines end with NL, LF or CR, or are padded with blanks.
    let ebcdic = head.iter().filter(|&&byte| is_printable_ebcdic(byte) || matches!(byte, 0x05 | 0x0d | 0x15 | 0x25));
    let ebcdic = ebcdic.count();
    (share(ebcdic) >= 98).then(|| format!("{} % of its bytes are printable EBCDIC", share(ebcdic)))
}

/// By what `head` betrays a binary EBCDIC file that was translated.
fn translated(head: &[u8]) -> Option<String> {
    const REPLACEMENT: &[u8] = b"\xef\xbf\xbd";
    let replaced = head.windows(3).filter(|&window| window == REPLACEMENT).count();
    if replaced >= 4 && replaced * 100 >= head.len() {
        return Some(format!("{replaced} UTF-8 replacement characters in its first {} bytes", head.len()));
    }
    if let Some(detail) = is_utf8_of_binary(head) {
        return Some(detail);
    }
    // The first record, with its descriptor word and without; elsewhere a header must be seen twice.
    let first = [DESCRIPTOR, 0].into_iter().find(|&at| is_translated_header(&head[at.min(head.len())..]));
    let first = first.or_else(|| {
        let mut found = (0..head.len()).filter(|&at| is_translated_header(&head[at..]));
        let first = found.next()?;
        let system = SYSTEM - DESCRIPTOR;
        let id = |at: usize| &head[at + system..at + system + 4];
        found.any(|at| id(at) == id(first)).then_some(first)
    });
    first.map(|at| {
        let system = &head[at + SYSTEM - DESCRIPTOR..at + SYSTEM - DESCRIPTOR + 4];
        format!("a record header at byte {at} names the system in ASCII: {}", String::from_utf8_lossy(system))
    })
}

/// Binary data that pass for UTF-8 with control characters and accented letters in numbers were converted from
/// EBCDIC: bytes as they are on z/OS would not be valid UTF-8.
fn is_utf8_of_binary(head: &[u8]) -> Option<String> {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    let total = valid.chars().count();
    let controls = valid.chars().filter(|&letter| letter.is_control() && !"\t\r\n".contains(letter)).count();
    let latin = valid.chars().filter(|letter| ('\u{80}'..='\u{ff}').contains(letter)).count();
    (latin >= 4 && controls * 20 >= total && latin * 50 >= total).then(|| {
        format!("it is valid UTF-8, with {controls} control and {latin} Latin-1 characters among the first {total}")
    })
}

/// Whether `body` begins with a standard header (without descriptor word) whose bytes were translated from EBCDIC.
///
/// The high bytes of time and date stay as they are; the sign of the date becomes one of ten characters, and the
/// system identifier becomes readable.
fn is_translated_header(body: &[u8]) -> bool {
    // 0F, 1F, ... 9F in ISO 8859-1, by code pages 1047 and 037.
    const SIGNS: [u8; 12] = [0x0f, 0x1f, 0x07, 0x1a, 0x7c, 0x5e, 0xac, 0x3f, 0x22, 0xb1, 0xa4, 0x80];
    let (time, date, system) = (TIME - DESCRIPTOR, DATE - DESCRIPTOR, SYSTEM - DESCRIPTOR);
    body.len() >= HEADER - DESCRIPTOR
        && body[time] == 0
        && body[date] <= 1
        && SIGNS.contains(&body[date + 3])
        && body[system..system + 4]
            .iter()
            .all(|&byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'$' | b'#' | b'@' | b' '))
        && body[system] != b' '
}
