//! The inventory: a row for every record, decoded or not.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, StringBuilder, TimestampMicrosecondBuilder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use xxhash_rust::xxh3::xxh3_64;

use crate::forms::ebcdic::CodePage;
use crate::layout::inventory_schema;
use crate::stream::{Frame, FrameKind};

use super::header::RecordView;

/// Hash of a record's contents: what follows the descriptor word.
#[must_use]
pub fn record_hash(record: &[u8]) -> u64 {
    xxh3_64(record.get(4..).unwrap_or(&[]))
}

/// Builds the rows of one batch.
#[derive(Default)]
pub(crate) struct Inventory {
    record_type: UInt16Builder,
    subtype: UInt16Builder,
    system: StringBuilder,
    ssid: StringBuilder,
    written_at: TimestampMicrosecondBuilder,
    offset: UInt64Builder,
    length: UInt32Builder,
    spanned_segments: UInt16Builder,
    joined_parts: UInt16Builder,
    decoded: BooleanBuilder,
    hash: UInt64Builder,
    source_id: StringBuilder,
    record_no: UInt64Builder,
}

impl Inventory {
    /// Adds a record.
    pub fn push(&mut self, frame: &Frame, record: RecordView<'_>, page: CodePage, decoded: bool, source_id: &str) {
        let (spanned, joined) = match frame.kind {
            FrameKind::Whole => (0, 0),
            FrameKind::Spanned(segments) => (segments, 0),
            FrameKind::Joined(parts) => (0, parts),
        };
        self.record_type.append_value(u16::from(record.record_type()));
        self.subtype.append_option(record.subtype());
        self.system.append_option(record.system().map(|id| page.decode(id)));
        self.ssid.append_option(record.ssid().map(|id| page.decode(id)));
        self.written_at.append_option(record.written_at());
        self.offset.append_value(frame.offset);
        self.length.append_value(u32::try_from(record.0.len()).unwrap_or(u32::MAX));
        self.spanned_segments.append_value(spanned);
        self.joined_parts.append_value(joined);
        self.decoded.append_value(decoded);
        self.hash.append_value(record_hash(record.0));
        self.source_id.append_value(source_id);
        self.record_no.append_value(frame.record_no);
    }

    /// The rows as a batch.
    pub fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.record_type.finish()),
            Arc::new(self.subtype.finish()),
            Arc::new(self.system.finish()),
            Arc::new(self.ssid.finish()),
            Arc::new(self.written_at.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.length.finish()),
            Arc::new(self.spanned_segments.finish()),
            Arc::new(self.joined_parts.finish()),
            Arc::new(self.decoded.finish()),
            Arc::new(self.hash.finish()),
            Arc::new(self.source_id.finish()),
            Arc::new(self.record_no.finish()),
        ];
        RecordBatch::try_new(inventory_schema(), columns)
    }
}
