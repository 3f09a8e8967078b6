//! Ranges in which no record can be found, and where in them the padding of the file begins.

use super::damage::{DamageLog, DamageReason};
use super::header::HEADER;
use super::resync::zeros;
use super::scan::hex;

/// How many bytes of an unreadable range a message shows.
const GAP_HEAD: usize = 8;

/// Zeros at the end of a file that are padding although other bytes without a record come before them: fewer may be
/// the end of a record.
const LEAST_PADDING: u64 = HEADER as u64;

/// A range in which no record could be found, still open at its end.
#[derive(Debug)]
pub(super) struct Gap {
    pub record_no: u64,
    pub offset: u64,
    /// The first bytes, for the message.
    head: Vec<u8>,
    /// Whether it has had other bytes than zeros.
    other: bool,
    /// Zeros since the last other byte.
    zeros: u64,
}

impl Gap {
    pub(super) fn open(record_no: u64, offset: u64) -> Self {
        Self { record_no, offset, head: Vec::new(), other: false, zeros: 0 }
    }

    /// Takes the bytes that follow.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.head.extend(bytes.iter().take(GAP_HEAD - self.head.len()));
        if zeros(bytes) == bytes.len() {
            self.zeros += bytes.len() as u64;
        } else {
            self.other = true;
            self.zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count() as u64;
        }
    }

    /// Counts the range, which has `length` bytes. At the end of the file its zeros are padding; whether they are an
    /// entry beside one of damage is returned.
    pub(super) fn close(&self, length: u64, at_end: bool, log: &mut DamageLog) -> bool {
        let padding = if at_end && self.other && self.zeros >= LEAST_PADDING { self.zeros } else { 0 };
        let length = length - padding;
        let reason = if at_end && self.other && length < HEADER as u64 {
            DamageReason::CutRecord
        } else if !self.other && at_end {
            DamageReason::ZeroPadding
        } else if !self.other {
            DamageReason::ZeroFilledRange
        } else {
            DamageReason::UnreadableRange
        };
        log.add(reason, (self.record_no, self.offset), length, || match reason {
            DamageReason::CutRecord => format!("{length} bytes left, too few for a record: {}", hex(&self.head)),
            DamageReason::UnreadableRange => {
                format!("{length} bytes hold no plausible record; they begin {}", hex(&self.head))
            }
            _ => format!("{length} bytes of zero"),
        });
        if padding != 0 {
            let place = (self.record_no + 1, self.offset + length);
            log.add(DamageReason::ZeroPadding, place, padding, || format!("{padding} bytes of zero"));
        }
        padding != 0
    }
}
