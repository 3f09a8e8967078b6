//! Descriptor words and the standard SMF header: what a record looks like from outside.
//!
//! Positions are those of `layouts/smf_rdw.csv` and `layouts/smf_header_no_subtype.csv`; a test holds them to
//! those files.

/// Bytes of a record (or segment) descriptor word, and of a block descriptor word.
pub(super) const DESCRIPTOR: usize = 4;
/// Bytes of the standard header without subtype, descriptor word included: the shortest SMF record.
pub(super) const HEADER: usize = 18;
/// Position of the record type.
pub(super) const TYPE: usize = 5;
/// Position of the time of day (hundredths of a second since midnight).
pub(super) const TIME: usize = 6;
/// Position of the date (packed, 0cyydddF).
pub(super) const DATE: usize = 10;
/// Position of the system identifier.
pub(super) const SYSTEM: usize = 14;
/// The longest block that is believed. The large block interface ends at 256 KiB for tape; a limit keeps the top bit
/// alone from making a block descriptor word of any four bytes.
const MAX_BLOCK: usize = 16 << 20;
/// Record type of the header that the dump program writes first.
pub(super) const DUMP_HEADER: u8 = 2;
/// Record type of the trailer that the dump program writes last.
pub(super) const DUMP_TRAILER: u8 = 3;

const HUNDREDTHS_PER_DAY: u32 = 8_640_000;

/// What the segment descriptor says about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentCode {
    Whole,
    First,
    Last,
    Middle,
}

impl SegmentCode {
    /// Whether a record begins with this segment, so that the standard header follows the descriptor word.
    pub(super) fn begins(self) -> bool {
        matches!(self, Self::Whole | Self::First)
    }

    /// Whether another segment of the same record must follow.
    pub(super) fn continues(self) -> bool {
        matches!(self, Self::First | Self::Middle)
    }
}

/// Big-endian u16 at `at`; the caller has checked that it lies inside.
pub(super) fn be16(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

/// Big-endian u32 at `at`; the caller has checked that it lies inside.
pub(super) fn be32(data: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
}

/// Length and segment code of the descriptor word that `word` begins with, if it can be one.
pub(super) fn segment_descriptor(word: &[u8]) -> Option<(usize, SegmentCode)> {
    let code = match (word[2], word[3]) {
        (0, 0) => SegmentCode::Whole,
        (1, 0) => SegmentCode::First,
        (2, 0) => SegmentCode::Last,
        (3, 0) => SegmentCode::Middle,
        _ => return None,
    };
    let length = usize::from(be16(word, 0));
    // A segment of a spanned record can be as short as one byte of data; a whole record holds a header.
    let shortest = if code == SegmentCode::Whole { HEADER } else { DESCRIPTOR + 1 };
    (length >= shortest).then_some((length, code))
}

/// Length of the block that `word` announces, if it can be a block descriptor word.
pub(super) fn block_descriptor(word: &[u8]) -> Option<usize> {
    let length = if word[0] & 0x80 != 0 {
        usize::try_from(be32(word, 0) & 0x7fff_ffff).ok()?
    } else if word[2] == 0 && word[3] == 0 {
        usize::from(be16(word, 0))
    } else {
        return None;
    };
    (length > 2 * DESCRIPTOR && length <= MAX_BLOCK).then_some(length)
}

/// Whether time, date and system identifier of the header in `record` (18 bytes or more, descriptor word included)
/// are such as SMF writes.
pub(super) fn header_is_sound(record: &[u8]) -> bool {
    body_is_sound(&record[DESCRIPTOR..])
}

/// As [`header_is_sound`], for a header without descriptor word.
pub(super) fn body_is_sound(body: &[u8]) -> bool {
    let at = |position: usize| position - DESCRIPTOR;
    be32(body, at(TIME)) < HUNDREDTHS_PER_DAY
        && date_is_valid(&body[at(DATE)..at(DATE) + 4])
        && body[at(SYSTEM)..at(SYSTEM) + 4].iter().all(|&byte| is_printable_ebcdic(byte))
}

/// Whether four bytes are a packed date 0cyydddF with a day of the year that exists.
pub(super) fn date_is_valid(date: &[u8]) -> bool {
    let digits = [date[1] >> 4, date[1] & 15, date[2] >> 4, date[2] & 15, date[3] >> 4];
    if date[0] > 1 || date[3] & 15 != 15 || digits.iter().any(|&digit| digit > 9) {
        return false;
    }
    let day = u16::from(digits[2]) * 100 + u16::from(digits[3]) * 10 + u16::from(digits[4]);
    (1..=366).contains(&day)
}

/// Whether a byte is a character that EBCDIC code pages 037 and 1047 print (or the blank).
pub(super) fn is_printable_ebcdic(byte: u8) -> bool {
    matches!(byte,
        0x40 | 0x4a..=0x50 | 0x5a..=0x61 | 0x6a..=0x6f | 0x79..=0x7f | 0x81..=0x89 | 0x91..=0x99
        | 0xa1..=0xa9 | 0xad | 0xba..=0xbb | 0xbd | 0xc0..=0xc9 | 0xd0..=0xd9 | 0xe0 | 0xe2..=0xe9 | 0xf0..=0xf9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptor_words_are_told_apart() {
        assert_eq!(segment_descriptor(&[0, 18, 0, 0]), Some((18, SegmentCode::Whole)));
        assert_eq!(segment_descriptor(&[0, 17, 0, 0]), None);
        assert_eq!(segment_descriptor(&[0, 5, 2, 0]), Some((5, SegmentCode::Last)));
        assert_eq!(segment_descriptor(&[0, 40, 3, 0]), Some((40, SegmentCode::Middle)));
        assert_eq!(segment_descriptor(&[0, 40, 4, 0]), None);
        assert_eq!(segment_descriptor(&[0, 40, 0, 1]), None);
        assert_eq!(block_descriptor(&[0x7f, 0xf8, 0, 0]), Some(32_760));
        assert_eq!(block_descriptor(&[0x80, 0x01, 0x00, 0x04]), Some(65_540));
        assert_eq!(block_descriptor(&[0, 8, 0, 0]), None);
        assert_eq!(block_descriptor(&[0, 40, 1, 0]), None);
        assert_eq!(block_descriptor(&[0x90, 0x01, 0x00, 0x04]), None);
    }

    #[test]
    fn dates_have_a_day_that_exists() {
        // 0115343F is 9 December 2015: the date of a dump header that z/OS wrote.
        assert!(date_is_valid(&[0x01, 0x15, 0x34, 0x3f]));
        assert!(date_is_valid(&[0x00, 0x99, 0x36, 0x6f]));
        assert!(!date_is_valid(&[0x01, 0x15, 0x36, 0x7f]));
        assert!(!date_is_valid(&[0x01, 0x15, 0x00, 0x0f]));
        assert!(!date_is_valid(&[0x02, 0x15, 0x34, 0x3f]));
        assert!(!date_is_valid(&[0x01, 0x1a, 0x34, 0x3f]));
        assert!(!date_is_valid(&[0x01, 0x15, 0x34, 0x3c]));
    }
}
