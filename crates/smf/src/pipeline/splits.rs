//! Large dumps cut into parts that can be decoded side by side, with the same rows as the whole.
//!
//! One walk over the dump finds the places, by the same framing that reads it: so damage at a cut is met once, and a record
//! of several segments lies in one part. What reaches from record to record is handed to each part: numbers of records and
//! blocks, parts of records that RMF split, hashes of records that came before, dictionaries and time zones of CICS
//! regions. Where much of it waits, the dump is not cut.

use std::path::Path;

use crate::cics::{HELD_BYTES, Regions, Remembered};
use crate::decode::{Decoder, EXPANDED_BYTES, RecordView, record_hash};
use crate::stream::{Form, FrameBatch, Part, ReadOptions, SmfReader, StreamError};

use super::duplicates::Hashes;

/// A dump or part of it, and what has to be known before it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Where it lies; `None` for the whole file.
    pub part: Option<Part>,
    /// Hashes of its records that came before it, in ascending order.
    pub came_before: Vec<u64>,
    /// What CICS regions wrote before it.
    pub remembered: Remembered,
}

/// Plans how files are read in parts, file after file: a record in several of them belongs to the first.
#[derive(Debug, Default)]
pub struct Splitter {
    known: Hashes,
}

/// What of a file belongs to the part that is being planned.
#[derive(Default)]
struct Open {
    split: Split,
    /// Hashes that come for the first time in it.
    own: Hashes,
    came_before: Hashes,
}

impl Open {
    fn close(self, until: Option<u64>) -> Split {
        let mut came_before: Vec<u64> = self.came_before.into_iter().collect();
        came_before.sort_unstable();
        let part = self.split.part.map(|part| Part { until, ..part });
        Split { part, came_before, ..self.split }
    }
}

impl Splitter {
    /// The parts of a file, of about `split_bytes` each: the first place at or behind that many bytes.
    ///
    /// # Errors
    /// [`StreamError`] if the file cannot be read or is no SMF dump.
    pub fn plan(
        &mut self,
        path: impl AsRef<Path>,
        decoder: &Decoder,
        read: &ReadOptions,
        split_bytes: u64,
    ) -> Result<Vec<Split>, StreamError> {
        let batch_bytes = read.batch_bytes.min(usize::try_from(split_bytes).unwrap_or(usize::MAX));
        let mut reader = SmfReader::open(path, &ReadOptions { batch_bytes, ..read.clone() })?;
        let mut regions = decoder.regions(HELD_BYTES);
        // Records without a date are known within their file only.
        let mut undated = Hashes::default();
        let (mut open, mut splits, mut start) = (Open::default(), Vec::new(), 0);
        while let Some(batch) = reader.next_batch()? {
            let keep = self.keep(&batch, &mut undated, &mut open);
            let batch = follow(decoder, &mut regions, batch, keep);
            reader.recycle(batch);
            let is_due = |part: &Part| part.from.offset >= start + split_bytes;
            if let Some(part) = reader.boundary().filter(|part| is_due(part) && !regions.has_waiting()) {
                start = part.from.offset;
                let split = Split { part: Some(part), remembered: regions.remembered(), ..Split::default() };
                let before = std::mem::replace(&mut open, Open { split, ..Open::default() });
                splits.push(before);
            }
        }
        splits.push(open);
        Ok(whole_or_parts(splits, reader.summary().form))
    }

    /// A flag for each record: whether it comes for the first time.
    fn keep(&mut self, batch: &FrameBatch, undated: &mut Hashes, open: &mut Open) -> Vec<bool> {
        let mut keep = Vec::with_capacity(batch.frames.len());
        for frame in &batch.frames {
            let record = batch.record(frame);
            let view = RecordView(record);
            let hash = record_hash(record);
            if view.is_dump_marker() {
                keep.push(true);
                continue;
            }
            let known = if view.day().is_some() { &mut self.known } else { &mut *undated };
            let is_new = known.insert(hash);
            if is_new {
                open.own.insert(hash);
            } else if !open.own.contains(&hash) {
                open.came_before.insert(hash);
            }
            keep.push(is_new);
        }
        keep
    }
}

/// Remembers what the CICS regions of a batch wrote, as when it is decoded. Gives the batch back, for its memory.
fn follow(decoder: &Decoder, regions: &mut Regions, batch: FrameBatch, mut keep: Vec<bool>) -> FrameBatch {
    if !regions.is_active() {
        return batch;
    }
    let mut next = Some(batch);
    let mut done = FrameBatch::default();
    while let Some(mut batch) = next {
        let (expanded, rest) = decoder.expand(&mut batch, EXPANDED_BYTES);
        let later = keep.split_off(batch.frames.len());
        regions.resolve(&batch, expanded, Some(&keep));
        regions.lost();
        (done, next, keep) = (batch, rest, later);
    }
    done
}

/// Gives each part its end and its form; a single one is the whole file.
fn whole_or_parts(mut open: Vec<Open>, form: Form) -> Vec<Split> {
    let ends: Vec<Option<u64>> =
        open.iter().skip(1).map(|next| next.split.part.as_ref().map(|part| part.from.offset)).chain([None]).collect();
    if open.len() > 1 {
        open[0].split.part = Some(Part::first(form));
    }
    open.into_iter().zip(ends).map(|(open, until)| open.close(until)).collect()
}
