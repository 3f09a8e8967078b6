//! The reader: batches of whole records from a file.

use super::batch::{Frame, FrameBatch};
use super::broken::{Detached, Joiner};
use super::damage::{DamageLog, DamageReason};
use super::detect::{Detected, detect};
use super::error::StreamError;
use super::foreign;
use super::options::{Compression, Form, ReadOptions};
use super::part::{MOST_WAITING, Part};
use super::rmf_record::is_broken;
use super::scan::Progress;
use super::source::{Failure, Source};
use super::walk::Walk;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How much of a file is looked at to tell its form.
const PROBE_BYTES: usize = 1 << 20;
/// How much is read before it is walked over, so that it is still in the processor's cache then.
const STEP_BYTES: usize = 256 << 10;
/// How far into a file without any record the search goes.
const SEARCH_BYTES: usize = 16 << 20;

/// What a file was found to be and to hold, as far as it has been read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamSummary {
    /// Name of the file.
    pub name: String,
    /// How records lie in it.
    pub form: Form,
    /// How it was compressed.
    pub compression: Compression,
    /// Bytes read from the file itself.
    pub file_bytes: u64,
    /// Bytes read after decompression.
    pub bytes: u64,
    /// Segments found.
    pub segments: u64,
    /// Records found, before parts of broken records are joined.
    pub records: u64,
    /// Records put together from spanned segments.
    pub spanned_records: u64,
    /// Records put together from parts that RMF had split.
    pub joined_records: u64,
    /// Parts that went into those.
    pub joined_parts: u64,
    /// Records of type 2: as many dumps begin in the file.
    pub dump_headers: u64,
    /// Records of type 3: as many dumps end in the file.
    pub dump_trailers: u64,
    /// Bytes after decompression that records were made of, with their descriptor words.
    pub record_bytes: u64,
    /// Bytes after decompression in block descriptor words.
    pub block_bytes: u64,
    /// Bytes behind the last record, after decompression, that are neither padding nor a block descriptor word.
    pub damaged_at_end: u64,
    /// What could not be read as it stands.
    pub damage: DamageLog,
}

impl StreamSummary {
    /// Bytes that are in no record, block descriptor word, damage or padding; negative where some were counted twice.
    ///
    /// Zero once the file has been read to its end: anything else is a defect of the reader.
    #[must_use]
    pub fn unaccounted_bytes(&self) -> i64 {
        let accounted = self.record_bytes + self.block_bytes + self.damage.skipped_bytes();
        self.bytes.cast_signed() - accounted.cast_signed()
    }
}

/// Reads the records of one file, in batches.
///
/// ```no_run
/// use plexlens_smf::stream::{ReadOptions, SmfReader};
///
/// let mut reader = SmfReader::open("day1.smf", &ReadOptions::default())?;
/// while let Some(batch) = reader.next_batch()? {
///     for frame in &batch.frames {
///         let record = batch.record(frame);
///         println!("record {} at byte {}: type {}", frame.record_no, frame.offset, record[5]);
///     }
///     reader.recycle(batch);
/// }
/// for damage in reader.summary().damage.entries() {
///     eprintln!("{damage}");
/// }
/// # Ok::<(), plexlens_smf::stream::StreamError>(())
/// ```
pub struct SmfReader {
    source: Source,
    walk: Walk,
    joiner: Joiner,
    options: ReadOptions,
    summary: StreamSummary,
    data: Vec<u8>,
    frames: Vec<Frame>,
    /// Records that do not lie in `data`: they follow it in the batch.
    detached: Vec<u8>,
    spare: Option<FrameBatch>,
    target: usize,
    /// Where the part of the file begins and, if that is not the end of the file, ends.
    within: (u64, Option<u64>),
    eof: bool,
    /// Why no more bytes come, until it has been reported.
    failure: Option<Failure>,
    /// What broke the expansion, until the walk has come to its end.
    cut_short: Option<(DamageReason, String)>,
    done: bool,
}

impl fmt::Debug for SmfReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmfReader")
            .field("options", &self.options)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

impl SmfReader {
    /// Opens a file and tells its compression and form.
    ///
    /// # Errors
    /// [`StreamError`] if it cannot be read, or is no SMF dump.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, StreamError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::from_reader(name, file, options),
            Err(source) => Err(StreamError::Io { name, offset: 0, source }),
        }
    }

    /// Reads from anything that gives bytes; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`StreamError`] if it cannot be read, or is no SMF dump.
    pub fn from_reader(
        name: impl Into<String>,
        input: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Self, StreamError> {
        let name = name.into();
        let source = Source::new(input, options.max_expansion, options.max_expanded_bytes)
            .map_err(|source| StreamError::Io { name: name.clone(), offset: 0, source })?;
        let mut reader = Self::over(name, source, options.form.unwrap_or(Form::Rdw), options);
        reader.tell_form()?;
        Ok(reader)
    }

    /// Opens part of a file that another reader has found: see [`boundary`](Self::boundary).
    ///
    /// # Errors
    /// [`StreamError::Io`] if it cannot be read.
    pub fn open_part(path: impl AsRef<Path>, part: &Part, options: &ReadOptions) -> Result<Self, StreamError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let offset = part.from.offset;
        let refused = |source| StreamError::Io { name: name.clone(), offset, source };
        let mut file = File::open(path).map_err(refused)?;
        file.seek(SeekFrom::Start(offset)).map_err(refused)?;
        let mut reader = Self::over(name.clone(), Source::plain(file), part.form, options);
        reader.walk = Walk::of_part(part, options.max_record_bytes);
        reader.within = (offset, part.until);
        let resumed = reader.joiner.resume(part.waiting.clone());
        resumed.map_err(|why| refused(io::Error::new(io::ErrorKind::InvalidData, why)))?;
        Ok(reader)
    }

    fn over(name: String, source: Source, form: Form, options: &ReadOptions) -> Self {
        Self {
            walk: Walk::new(form, options.max_record_bytes),
            joiner: Joiner::new(options.max_pending_bytes, options.max_record_bytes),
            summary: StreamSummary {
                name,
                form,
                compression: source.compression,
                file_bytes: 0,
                bytes: 0,
                segments: 0,
                records: 0,
                spanned_records: 0,
                joined_records: 0,
                joined_parts: 0,
                dump_headers: 0,
                dump_trailers: 0,
                record_bytes: 0,
                block_bytes: 0,
                damaged_at_end: 0,
                damage: DamageLog::new(options.max_damage_entries),
            },
            source,
            options: options.clone(),
            data: Vec::new(),
            frames: Vec::new(),
            detached: Vec::new(),
            spare: None,
            target: options.batch_bytes.max(1),
            within: (0, None),
            eof: false,
            failure: None,
            cut_short: None,
            done: false,
        }
    }

    /// The last place between two records, behind all that has been handed on, and what waits there: from it another
    /// reader can go on. `None` where a file cannot be cut: it is compressed or has no descriptor words, the place lies
    /// beside damage (which a single entry tells with that of its neighbours), or much waits.
    #[must_use]
    pub fn boundary(&self) -> Option<Part> {
        let from = self.walk.clean().filter(|_| self.can_be_cut() && !self.done)?;
        let waiting = (self.joiner.pending() <= MOST_WAITING).then(|| self.joiner.waiting())?;
        Some(Part { form: self.summary.form, from, until: None, waiting })
    }

    /// Whether the file can be read in parts at all.
    #[must_use]
    pub fn can_be_cut(&self) -> bool {
        self.summary.compression == Compression::None && self.summary.form != Form::NoDescriptors
    }

    /// Bytes of the file in parts of records that RMF split, which wait for the others.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.joiner.file_bytes()
    }

    fn tell_form(&mut self) -> Result<(), StreamError> {
        let mut probe = PROBE_BYTES;
        loop {
            self.fill(probe);
            if self.data.is_empty()
                && let Some(error) = self.take_failure()
            {
                return Err(error);
            }
            let name = || self.summary.name.clone();
            if self.data.is_empty() {
                return Err(StreamError::Empty { name: name() });
            }
            if self.options.form.is_some() {
                break;
            }
            match detect(&self.data, self.eof || self.failure.is_some(), self.options.max_record_bytes) {
                Detected::Form(form) => {
                    self.summary.form = form;
                    self.walk = Walk::new(form, self.options.max_record_bytes);
                    break;
                }
                Detected::DescriptorsLost { record_no, offset, record_type } => {
                    return Err(StreamError::DescriptorsLost { name: name(), record_no, offset, record_type });
                }
                Detected::Nothing => {}
            }
            let last = self.eof || self.failure.is_some() || probe >= SEARCH_BYTES;
            if let Some((what, detail)) = foreign::recognise(&self.data, last) {
                return Err(StreamError::Foreign { name: name(), what, detail });
            }
            if last {
                let head = self.data.iter().take(16).map(|byte| format!("{byte:02X}")).collect();
                return Err(StreamError::NoRecords { name: name(), searched: self.data.len() as u64, head });
            }
            probe *= 4;
        }
        self.source.put_back(std::mem::take(&mut self.data));
        self.eof = false;
        Ok(())
    }

    /// Fills the buffer to `target` bytes. What stops that is kept until the bytes before it have been handed on.
    fn fill(&mut self, target: usize) {
        if self.eof || (self.failure.is_some() && self.source.is_spent()) {
            return;
        }
        let result = self.source.fill(&mut self.data, target);
        let (begin, end) = self.within;
        let most = end.map_or(u64::MAX, |end| end - begin);
        self.summary.bytes = self.source.bytes.min(most);
        self.summary.file_bytes = self.source.file_bytes().min(most);
        match result {
            Ok(eof) => self.eof = eof && self.failure.is_none(),
            Err(failure) => self.failure = Some(failure),
        }
    }

    /// The error that stopped the reading, if any: of the file itself, or of its expansion before the first byte.
    fn take_failure(&mut self) -> Option<StreamError> {
        let name = self.summary.name.clone();
        match self.failure.take()? {
            Failure::Read(source) => {
                Some(StreamError::Io { name, offset: self.within.0 + self.source.file_bytes(), source })
            }
            Failure::Expand(source) if self.summary.bytes == 0 => {
                Some(StreamError::Compressed { name, compression: self.summary.compression, source })
            }
            // The file ends here, as far as it can be read: the walk tells what that cuts.
            Failure::Expand(error) => {
                self.eof = true;
                let (compression, at) = (self.summary.compression, self.summary.file_bytes);
                let detail = format!("{compression} data end or break near byte {at} of the file: {error}");
                self.cut_short = Some((DamageReason::DamagedCompression, detail));
                None
            }
            Failure::Limit(detail) => {
                self.eof = true;
                self.cut_short = Some((DamageReason::ExpansionLimit, detail));
                None
            }
        }
    }

    /// The next records, or nothing at the end of the file.
    ///
    /// # Errors
    /// [`StreamError::Io`] if the file cannot be read any further. Damage is no error: see [`summary`](Self::summary).
    pub fn next_batch(&mut self) -> Result<Option<FrameBatch>, StreamError> {
        while !self.done {
            let broken_before = self.walk.tally().broken;
            self.detached.clear();
            self.done = self.walk_on() == Progress::End;
            if self.done
                && let Some((reason, detail)) = self.cut_short.take()
            {
                let place = (self.walk.next_no(), self.summary.bytes);
                self.summary.damage.add(reason, place, 0, || detail);
            }
            if self.options.join_broken_records {
                if self.walk.tally().broken > broken_before {
                    self.join_broken();
                }
                // What waits at the end of a part goes along with the next one.
                if self.done && self.within.1.is_none() {
                    let rest = self.joiner.finish_all(&mut self.summary.damage);
                    self.append(rest);
                }
            }
            self.count();
            if self.done {
                self.check_account();
            }
            if !self.frames.is_empty() {
                return Ok(Some(self.hand_on()));
            }
            if self.source.is_spent()
                && let Some(error) = self.take_failure()
            {
                self.done = true;
                return Err(error);
            }
            let before = self.data.len();
            self.walk.carry_down(&mut self.data);
            // Half a buffer freed is enough to read on; a record longer than that needs a longer buffer.
            self.target = if self.data.len() * 2 > before { before * 2 } else { self.target.max(before) };
        }
        Ok(None)
    }

    /// Reads and walks until the buffer holds as much as a batch should, or nothing more comes.
    fn walk_on(&mut self) -> Progress {
        loop {
            let before = self.data.len();
            self.fill(self.target.min(before + STEP_BYTES));
            let progress =
                self.walk.run(&mut self.data, self.eof, &mut self.frames, &mut self.detached, &mut self.summary.damage);
            let length = self.data.len();
            if progress == Progress::End || length >= self.target || length == before {
                return progress;
            }
        }
    }

    fn count(&mut self) {
        let tally = self.walk.tally();
        let summary = &mut self.summary;
        summary.segments = tally.segments;
        summary.records = tally.records;
        summary.spanned_records = tally.spanned;
        summary.dump_headers = tally.dump_headers;
        summary.dump_trailers = tally.dump_trailers;
        summary.record_bytes = tally.record_bytes;
        summary.block_bytes = tally.block_bytes;
        let (end, block_bytes) = tally.last_end;
        let end = end.saturating_sub(self.within.0);
        let no_damage = summary.damage.padding_bytes() + tally.block_bytes - block_bytes;
        summary.damaged_at_end = summary.bytes.saturating_sub(end + no_damage);
        summary.joined_records = self.joiner.tally.records;
        summary.joined_parts = self.joiner.tally.parts;
    }

    /// At the end of the file every byte has to be in a record, a block descriptor word or a piece of damage.
    fn check_account(&mut self) {
        let left = self.summary.unaccounted_bytes();
        if left == 0 {
            return;
        }
        let place = (self.walk.next_no(), self.summary.bytes);
        let summary = &self.summary;
        let detail = format!(
            "of {} bytes {} are in records, {} in block descriptor words, {} in damage and padding: {left} remain",
            summary.bytes,
            summary.record_bytes,
            summary.block_bytes,
            summary.damage.skipped_bytes()
        );
        // What is left over counts as skipped, so that the sum is right from here on.
        self.summary.damage.add(DamageReason::UnaccountedBytes, place, left.unsigned_abs(), || detail);
    }

    /// Hands the parts of broken records to the joiner, and takes from it what is complete.
    fn join_broken(&mut self) {
        let kept = self.walk.kept();
        for frame in std::mem::take(&mut self.frames) {
            let record = if frame.start < kept {
                &self.data[frame.start..frame.start + frame.len]
            } else {
                &self.detached[frame.start - kept..frame.start - kept + frame.len]
            };
            if is_broken(record) {
                let complete = self.joiner.add(record, frame, &mut self.summary.damage);
                self.append(complete);
            } else {
                self.frames.push(frame);
            }
        }
    }

    fn append(&mut self, records: Vec<Detached>) {
        let kept = self.walk.kept();
        for Detached { frame, bytes } in records {
            let start = kept + self.detached.len();
            self.detached.extend_from_slice(&bytes);
            self.frames.push(Frame { start, ..frame });
        }
    }

    fn hand_on(&mut self) -> FrameBatch {
        self.target = self.options.batch_bytes.max(1);
        let FrameBatch { mut data, mut frames } = self.spare.take().unwrap_or_default();
        data.clear();
        frames.clear();
        data.reserve_exact(self.target);
        let kept = self.walk.kept();
        self.walk.carry(&self.data, &mut data);
        std::mem::swap(&mut self.data, &mut data);
        std::mem::swap(&mut self.frames, &mut frames);
        data.truncate(kept);
        data.extend_from_slice(&self.detached);
        FrameBatch { data, frames }
    }

    /// Gives a batch back, so that its memory serves the next one.
    pub fn recycle(&mut self, batch: FrameBatch) {
        self.spare = Some(batch);
    }

    /// What has been read so far; complete once [`next_batch`](Self::next_batch) has returned nothing.
    #[must_use]
    pub fn summary(&self) -> &StreamSummary {
        &self.summary
    }
}
