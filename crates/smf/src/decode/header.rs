//! The standard record header, which every record but those of extended types begins with.

use crate::forms::smf_date::{self, SmfDate};
use crate::layout::Selector;

/// Record type whose header is extended (types above 255); only its length is known here.
pub const EXTENDED: u8 = 126;

/// One record's bytes, descriptor word included, with checked access to header fields.
#[derive(Debug, Clone, Copy)]
pub struct RecordView<'a>(pub &'a [u8]);

impl<'a> RecordView<'a> {
    /// Bytes at an offset; `None` when the record ends before.
    #[inline]
    #[must_use]
    pub fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..)?.first_chunk().copied()
    }

    /// Big-endian u16 at an offset.
    #[inline]
    #[must_use]
    pub fn u16(self, at: usize) -> Option<u16> {
        self.bytes(at).map(u16::from_be_bytes)
    }

    /// Big-endian u32 at an offset.
    #[inline]
    #[must_use]
    pub fn u32(self, at: usize) -> Option<u32> {
        self.bytes(at).map(u32::from_be_bytes)
    }

    /// Record type; 0 for a record too short to have one.
    #[inline]
    #[must_use]
    pub fn record_type(self) -> u8 {
        self.0.get(5).copied().unwrap_or(0)
    }

    /// Whether this is the first or last record of a dump, which the dump program wrote.
    #[must_use]
    pub fn is_dump_marker(self) -> bool {
        matches!(self.record_type(), 2 | 3)
    }

    /// Whether the header has a subsystem id and subtype: its flag says so, or its type always has them.
    fn has_subtype(self) -> bool {
        let flagged = self.0.get(4).is_some_and(|flag| flag & 0x40 != 0);
        let known = matches!(self.record_type(), 30 | 70..=79 | 99..=102 | 110 | 113 | 115 | 116);
        self.record_type() != EXTENDED && (flagged || known)
    }

    /// Subtype; `None` where the record has none.
    #[inline]
    #[must_use]
    pub fn subtype(self) -> Option<u16> {
        if self.has_subtype() { self.u16(22) } else { None }
    }

    /// Subsystem or work type, in EBCDIC; `None` where the record has none.
    #[must_use]
    pub fn ssid(self) -> Option<&'a [u8]> {
        if self.has_subtype() { self.0.get(18..22) } else { None }
    }

    /// System id, in EBCDIC.
    #[must_use]
    pub fn system(self) -> Option<&'a [u8]> {
        if self.record_type() == EXTENDED { None } else { self.0.get(14..18) }
    }

    /// Date in the header, as days since 1970.
    #[must_use]
    pub fn day(self) -> Option<i32> {
        if self.record_type() == EXTENDED {
            return None;
        }
        match smf_date::decode(self.bytes(10)?) {
            SmfDate::Days(days) => Some(days),
            SmfDate::Empty | SmfDate::Unreadable => None,
        }
    }

    /// When the record was buffered: microseconds since 1970 on the local clock.
    #[must_use]
    pub fn written_at(self) -> Option<i64> {
        Some(i64::from(self.day()?) * 86_400_000_000 + i64::from(self.u32(6)?) * 10_000)
    }

    /// IFCID of a Db2 record, from its product section, else from the subtype where that says it.
    #[must_use]
    pub fn ifcid(self) -> Option<u16> {
        let product = self.u32(28).filter(|&offset| offset != 0).and_then(|offset| usize::try_from(offset).ok());
        // Where the triplet gives no length, the entry begins with its own.
        let own = if self.u16(32) == Some(0) { 2 } else { 0 };
        product.and_then(|offset| self.u16(offset.checked_add(4 + own)?)).or(
            match (self.record_type(), self.subtype()) {
                (101, Some(0)) => Some(3),
                (101, Some(1)) => Some(239),
                _ => None,
            },
        )
    }

    /// Monitoring class of a CICS record, from its product section.
    #[must_use]
    pub fn class(self) -> Option<u16> {
        let product = usize::try_from(self.u32(28)?).ok().filter(|&offset| offset != 0)?;
        self.u16(product.checked_add(22)?)
    }

    /// Whether a record map is for this record.
    #[must_use]
    pub fn matches(self, selector: Selector) -> bool {
        match selector {
            Selector::Any => true,
            Selector::Subtype(subtype) => self.subtype() == Some(subtype),
            Selector::Ifcid(ifcid) => self.ifcid() == Some(ifcid),
            Selector::Class(subtype, class) => self.subtype() == Some(subtype) && self.class() == Some(class),
        }
    }
}
