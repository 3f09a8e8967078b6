//! Spanned records: segments put together where they lie.
//!
//! The joined record is never longer than its segments (each later one loses its descriptor word), so each segment
//! is moved down behind the part already joined, within the same buffer. Only spanned records are copied, once.

use super::batch::{Frame, FrameKind};
use super::header::DESCRIPTOR;
use super::site::Segment;

/// A spanned record of which the last segment has not been seen.
#[derive(Debug)]
pub(super) struct Span {
    pub record_no: u64,
    /// File offset of the first segment.
    pub offset: u64,
    /// Bytes in the file taken by the segments so far, descriptor words included.
    pub raw: u64,
    pub segments: u16,
    /// The part joined so far, in the buffer; nothing once the record is longer than allowed.
    pub joined: Option<(usize, usize)>,
}

impl Span {
    pub(super) fn open(segment: &Segment, record_no: u64, offset: u64) -> Self {
        Self {
            record_no,
            offset,
            raw: (segment.end - segment.start) as u64,
            segments: 1,
            joined: Some((segment.start, segment.end)),
        }
    }

    /// Appends a middle or last segment, unless the record then exceeds `limit`.
    pub(super) fn append(&mut self, data: &mut [u8], segment: &Segment, limit: usize) {
        self.raw += (segment.end - segment.start) as u64;
        self.segments = self.segments.saturating_add(1);
        if let Some((start, end)) = self.joined {
            let body = segment.start + DESCRIPTOR..segment.end;
            let joined_end = end + body.len();
            self.joined = (joined_end - start <= limit).then_some((start, joined_end));
            if self.joined.is_some() {
                data.copy_within(body, end);
            }
        }
    }

    /// The finished record, with its descriptor word made that of a whole record; nothing if it was too long.
    pub(super) fn finish(&self, data: &mut [u8]) -> Option<Frame> {
        let (start, end) = self.joined?;
        let len = end - start;
        let word = u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes();
        data[start..start + DESCRIPTOR].copy_from_slice(&[word[0], word[1], 0, 0]);
        Some(Frame {
            record_no: self.record_no,
            offset: self.offset,
            start,
            len,
            file_bytes: self.raw,
            kind: FrameKind::Spanned(self.segments),
        })
    }
}
