//! A file's inventory without decoding: as fast as framing goes.

use std::path::Path;

use crate::stream::{ReadOptions, SmfReader, StreamError};

use super::summary::Summary;

/// Counts what a file holds. Duplicates are not looked for.
#[derive(Debug)]
pub struct Scan {
    reader: SmfReader,
    summary: Summary,
}

impl Scan {
    /// Opens a file and tells its form.
    ///
    /// # Errors
    /// [`StreamError`] if the file cannot be read or is no SMF dump.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, StreamError> {
        Ok(Self { reader: SmfReader::open(path, options)?, summary: Summary::default() })
    }

    /// Counts the next batch of records; the answer is false at the end of the file.
    ///
    /// # Errors
    /// [`StreamError`] if the file cannot be read any further.
    pub fn step(&mut self) -> Result<bool, StreamError> {
        let Some(batch) = self.reader.next_batch()? else { return Ok(false) };
        self.summary.add_frames(&batch);
        self.reader.recycle(batch);
        Ok(true)
    }

    /// What was found.
    #[must_use]
    pub fn finish(mut self) -> Summary {
        self.summary.stream = Some(self.reader.summary().clone());
        self.summary
    }
}
