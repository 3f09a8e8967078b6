//! Files that are often taken for SMF dumps, told by how they begin.

/// Something other than a readable SMF dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Foreign {
    /// An SMF dump translated from EBCDIC to ASCII on its way.
    TextModeTransfer,
    /// The output of AMATERSE or TRSMAIN.
    Tersed,
    /// The output of TSO TRANSMIT.
    Transmit,
    /// A ZIP archive.
    Zip,
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
            Self::Tersed => {
                "unpack it first: AMATERSE with PARM=UNPACK on z/OS, or the tersedecompress tool"
            }
            Self::Transmit => "unpack it first: TSO RECEIVE INDSNAME(...) on z/OS",
            Self::Zip => "unpack it first and name the dump inside",
            Self::Xml => "if it is RMF Postprocessor XML, read it as such",
            Self::Text => {
                "if it is a printed RMF or Db2 report, read it as such; a dump must be sent in binary"
            }
            Self::Zeros => "the file was allocated but never filled: transfer the dump again",
        }
    }
}

/// Names what `head`, the start of a file without a single SMF record, is.
pub(super) fn recognise(head: &[u8], whole: bool) -> Option<(Foreign, String)> {
    let found = |what: Foreign, detail: &str| Some((what, detail.to_owned()));
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return found(Foreign::Zip, "it begins with PK");
    }
    if head.get(2..8) == Some(&EBCDIC_INMR01[..]) {
        return found(Foreign::Transmit, "it begins with INMR01");
    }
    if begins_as_xml(head) {
        return found(Foreign::Xml, "it begins with <");
    }
    if whole && head.iter().all(|&byte| byte == 0) {
        return found(Foreign::Zeros, "every byte is zero");
    }
    None
}

/// INMR01, the first control record of a TRANSMIT file, behind its length and flag bytes.
const EBCDIC_INMR01: [u8; 6] = [0xc9, 0xd5, 0xd4, 0xd9, 0xf0, 0xf1];

fn begins_as_xml(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    text.starts_with(b"<?xml") || text.starts_with(b"<!DOCTYPE") || text.starts_with(b"<ddsml")
}
