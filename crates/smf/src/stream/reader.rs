//! The reader: batches of whole records from a file.

use super::batch::{Frame, FrameBatch};
use super::damage::{DamageLog, DamageReason};
use super::detect::detect;
use super::error::StreamError;
use super::foreign;
use super::options::{Compression, Form, ReadOptions};
use super::scan::{Progress, Scanner};
use super::source::{Failure, Source};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How much of a file is looked at to tell its form.
const PROBE_BYTES: usize = 1 << 20;
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
    /// What could not be read as it stands.
    pub damage: DamageLog,
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
    scanner: Scanner,
    options: ReadOptions,
    summary: StreamSummary,
    data: Vec<u8>,
    frames: Vec<Frame>,
    spare: Option<FrameBatch>,
    target: usize,
    eof: bool,
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
            Err(source) => Err(StreamError::Io {
                name,
                offset: 0,
                source,
            }),
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
        let source = Source::new(input).map_err(|source| StreamError::Io {
            name: name.clone(),
            offset: 0,
            source,
        })?;
        let form = options.form.unwrap_or(Form::Rdw);
        let mut reader = Self {
            scanner: Scanner::new(form, options.max_record_bytes),
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
                damage: DamageLog::new(options.max_damage_entries),
            },
            source,
            options: options.clone(),
            data: Vec::new(),
            frames: Vec::new(),
            spare: None,
            target: options.batch_bytes.max(1),
            eof: false,
            done: false,
        };
        reader.tell_form()?;
        Ok(reader)
    }

    fn tell_form(&mut self) -> Result<(), StreamError> {
        let mut probe = PROBE_BYTES;
        loop {
            self.fill(probe)?;
            let head = &self.data[..self.data.len().min(probe)];
            let whole = self.eof && head.len() == self.data.len();
            if head.is_empty() {
                return Err(StreamError::Empty {
                    name: self.summary.name.clone(),
                });
            }
            if self.options.form.is_some() {
                return Ok(());
            }
            if let Some(form) = detect(head, whole, self.options.max_record_bytes) {
                self.summary.form = form;
                self.scanner = Scanner::new(form, self.options.max_record_bytes);
                return Ok(());
            }
            if let Some((what, detail)) = foreign::recognise(head, whole) {
                return Err(StreamError::Foreign {
                    name: self.summary.name.clone(),
                    what,
                    detail,
                });
            }
            if self.eof || probe >= SEARCH_BYTES {
                let head = head
                    .iter()
                    .take(16)
                    .map(|byte| format!("{byte:02X}"))
                    .collect();
                let searched = self.data.len() as u64;
                return Err(StreamError::NoRecords {
                    name: self.summary.name.clone(),
                    searched,
                    head,
                });
            }
            probe *= 4;
        }
    }

    /// Fills the buffer to `target` bytes; a file that cannot be expanded any further ends there.
    fn fill(&mut self, target: usize) -> Result<(), StreamError> {
        if self.eof {
            return Ok(());
        }
        let result = self.source.fill(&mut self.data, target);
        self.summary.bytes = self.source.bytes;
        self.summary.file_bytes = self.source.file_bytes();
        match result {
            Ok(eof) => self.eof = eof,
            Err(Failure::Read(source)) => {
                let offset = self.summary.bytes;
                return Err(StreamError::Io {
                    name: self.summary.name.clone(),
                    offset,
                    source,
                });
            }
            Err(Failure::Expand(source)) if self.summary.bytes == 0 => {
                return Err(StreamError::Compressed {
                    name: self.summary.name.clone(),
                    compression: self.summary.compression,
                    source,
                });
            }
            Err(Failure::Expand(error)) => {
                self.eof = true;
                let place = (self.summary.records + 1, self.summary.bytes);
                let (compression, at) = (self.summary.compression, self.summary.file_bytes);
                self.summary
                    .damage
                    .add(DamageReason::DamagedCompression, place, 0, || {
                        format!(
                            "{compression} data end or break near byte {at} of the file: {error}"
                        )
                    });
            }
        }
        Ok(())
    }

    /// The next records, or nothing at the end of the file.
    ///
    /// # Errors
    /// [`StreamError::Io`] if the file cannot be read any further. Damage is no error: see [`summary`](Self::summary).
    pub fn next_batch(&mut self) -> Result<Option<FrameBatch>, StreamError> {
        while !self.done {
            self.fill(self.target)?;
            let progress = self.scanner.run(
                &mut self.data,
                self.eof,
                &mut self.frames,
                &mut self.summary.damage,
            );
            let tally = self.scanner.tally;
            self.summary.segments = tally.segments;
            self.summary.records = tally.records;
            self.summary.spanned_records = tally.spanned;
            self.summary.dump_headers = tally.dump_headers;
            self.summary.dump_trailers = tally.dump_trailers;
            self.done = progress == Progress::End;
            if self.frames.is_empty() {
                if self.done {
                    break;
                }
                let before = self.data.len();
                self.scanner.carry_down(&mut self.data);
                // Half a buffer freed is enough to read on; a record longer than that needs a longer buffer.
                self.target = if self.data.len() * 2 > before {
                    before * 2
                } else {
                    self.target.max(before)
                };
            } else {
                return Ok(Some(self.hand_on()));
            }
        }
        Ok(None)
    }

    fn hand_on(&mut self) -> FrameBatch {
        self.target = self.options.batch_bytes.max(1);
        let (mut next, mut frames) = self
            .spare
            .take()
            .map_or_else(Default::default, |batch| (batch.data, batch.frames));
        next.clear();
        frames.clear();
        next.reserve_exact(self.target);
        let consumed = self.scanner.consumed();
        self.scanner.carry(&self.data, &mut next);
        std::mem::swap(&mut self.data, &mut next);
        std::mem::swap(&mut self.frames, &mut frames);
        next.truncate(consumed);
        FrameBatch { data: next, frames }
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
