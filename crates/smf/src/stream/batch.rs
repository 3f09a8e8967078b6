//! What the stream hands on: a block of whole records.

/// How a record came to be whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// It lay in the dump in one piece.
    Whole,
    /// It was put together from so many spanned (VBS) segments.
    Spanned(u16),
    /// It was put together from so many records that RMF had split (reassembly area).
    Joined(u16),
}

/// One record within a [`FrameBatch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Number of the record in its file, from 1, in the order in which records begin.
    pub record_no: u64,
    /// Byte offset of the record's first byte (its descriptor word, where it has one) in the file as read, that is after
    /// decompression.
    pub offset: u64,
    /// Where the record begins in [`FrameBatch::data`].
    pub start: usize,
    /// Length in bytes, with the four bytes of the record descriptor word.
    pub len: usize,
    /// Bytes of the file, after decompression, that the record was made of, descriptor words included.
    pub file_bytes: u64,
    /// How the record came to be whole.
    pub kind: FrameKind,
}

/// A block of whole records, each with a record descriptor word whose segment bytes are zero.
///
/// Records come in the order in which they became whole. That is file order, but for records that RMF had split: they
/// stand where their last part stood, under the number and offset of the part that came first; parts that were given
/// up stand where that was decided. A reassembled record can be longer than the descriptor word can say:
/// [`Frame::len`] rules. Every record is at least 18 bytes long.
#[derive(Debug, Clone, Default)]
pub struct FrameBatch {
    /// The bytes of all records of this batch.
    pub data: Vec<u8>,
    /// Where each record lies.
    pub frames: Vec<Frame>,
}

impl FrameBatch {
    /// The bytes of one record of this batch, descriptor word included.
    #[must_use]
    pub fn record(&self, frame: &Frame) -> &[u8] {
        &self.data[frame.start..frame.start + frame.len]
    }
}
