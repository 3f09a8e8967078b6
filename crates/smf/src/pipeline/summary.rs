//! What a whole file was found to hold.

use std::collections::BTreeMap;

use crate::decode::{DecodedBatch, Note, Reason, RecordView, SectionDamage, add_notes};
use crate::stream::{DamageReason, FrameBatch, StreamSummary};

/// Section damage kept in full; all of it is counted.
const DAMAGE_ENTRIES: usize = 10_000;

/// Counts over a file, complete once the pipeline has come to its end.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// What the stream found; `None` until the end of the file.
    pub stream: Option<StreamSummary>,
    /// Records by type and subtype, duplicates included.
    pub records: BTreeMap<(u8, Option<u16>), u64>,
    /// First and last local time stamp in record headers, dump headers and trailers left out: microseconds since
    /// 1970.
    pub span: Option<(i64, i64)>,
    /// Records dropped because they are held already.
    pub duplicates: u64,
    /// Bytes of the file in those records.
    pub duplicate_bytes: u64,
    /// Bytes of the file in records that a layout describes.
    pub decoded_bytes: u64,
    /// Bytes of the file in records that no layout describes.
    pub counted_bytes: u64,
    /// Bytes of the file in spanned records of which segments are missing.
    pub incomplete_bytes: u64,
    /// Bytes of the file in parts of records that RMF split: those that waited where the part of the file began, and those
    /// that wait where it ends.
    pub waiting_bytes: (u64, u64),
    /// Days that were put away while looking for duplicates, and came back.
    pub forgotten_days: u64,
    /// Sections that could not be decoded: the first in full.
    pub damage: Vec<SectionDamage>,
    /// All of them, by reason.
    pub damage_counts: BTreeMap<Reason, u64>,
    /// Things counted.
    pub notes: Vec<Note>,
}

impl Summary {
    pub(super) fn add_frames(&mut self, batch: &FrameBatch) {
        for frame in &batch.frames {
            let view = RecordView(batch.record(frame));
            *self.records.entry((view.record_type(), view.subtype())).or_default() += 1;
            if let Some(at) = view.written_at().filter(|_| !view.is_dump_marker()) {
                self.span = Some(self.span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
            }
        }
    }

    pub(super) fn add_decoded(&mut self, decoded: &DecodedBatch) {
        self.decoded_bytes += decoded.decoded_bytes;
        self.counted_bytes += decoded.counted_bytes;
        self.incomplete_bytes += decoded.incomplete_bytes;
        add_notes(&mut self.notes, &decoded.notes);
        self.add_damage(&decoded.damage);
    }

    /// At the end of the file the bytes that the stream handed on in records have all to be decoded, counted, or left
    /// out as held already.
    pub(super) fn check_account(&mut self) {
        let arrived = self.decoded_bytes + self.counted_bytes + self.incomplete_bytes + self.duplicate_bytes;
        let Some(stream) = &mut self.stream else { return };
        let (before, after) = self.waiting_bytes;
        if arrived + after == stream.record_bytes + before {
            return;
        }
        let detail = format!(
            "{} bytes of records were read; {} were decoded, {} counted, {} in records without some of their segments, {} left out as held already",
            stream.record_bytes, self.decoded_bytes, self.counted_bytes, self.incomplete_bytes, self.duplicate_bytes
        );
        stream.damage.add(DamageReason::UnaccountedBytes, (stream.records + 1, stream.bytes), 0, || detail);
    }

    pub(super) fn add_damage(&mut self, damage: &[SectionDamage]) {
        for damage in damage {
            *self.damage_counts.entry(damage.reason).or_default() += 1 + damage.repeats;
            if self.damage.len() < DAMAGE_ENTRIES {
                self.damage.push(damage.clone());
            }
        }
    }
}
