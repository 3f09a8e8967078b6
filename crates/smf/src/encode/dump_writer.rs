//! Records into a dump file, in any of the forms that transfers leave behind.

use std::io::{self, Write};

use crate::forms::ebcdic::CodePage;
use crate::forms::smf_date;

use super::error::EncodeError;

/// How records lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DumpForm {
    /// Each after its record descriptor word.
    #[default]
    Rdw,
    /// Blocks of so many bytes at most, each after a block descriptor word, of records after theirs.
    Bdw {
        /// Longest block, its descriptor word included.
        block: usize,
    },
    /// Records without descriptor words, as a transfer leaves them that drops these.
    NoDescriptors,
}

/// Longest block of a data set, its descriptor word included.
pub const LONGEST_BLOCK: usize = 32_760;

/// Writes a dump.
///
/// ```
/// use plexlens_smf::encode::{DumpForm, DumpWriter};
/// let mut dump = DumpWriter::new(Vec::new(), DumpForm::Rdw, None)?;
/// dump.dump_marker(2, "SYS1", 0)?;
/// dump.dump_marker(3, "SYS1", 0)?;
/// assert_eq!(dump.finish()?.len(), 36);
/// # Ok::<(), plexlens_smf::encode::DumpError>(())
/// ```
#[derive(Debug)]
pub struct DumpWriter<W: Write> {
    out: W,
    form: DumpForm,
    /// Longest segment, its descriptor word included: longer records are spanned.
    segment: usize,
    block: Vec<u8>,
    records: u64,
    bytes: u64,
}

/// Why a dump cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The operating system refused.
    #[error("writing the dump failed: {0}; check space and permissions")]
    Io(#[from] io::Error),
    /// A record or choice that has no form in a dump.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

fn refused(what: impl Into<String>, remedy: impl Into<String>) -> DumpError {
    EncodeError::table("dump", what, remedy).into()
}

impl<W: Write> DumpWriter<W> {
    /// A writer onto `out`. Records longer than `segment` bytes are written as spanned segments of at most that
    /// length; `None` spans only what does not fit its form otherwise.
    ///
    /// # Errors
    /// Lengths that no data set has.
    pub fn new(out: W, form: DumpForm, segment: Option<usize>) -> Result<Self, DumpError> {
        let longest = match form {
            DumpForm::Rdw => usize::from(u16::MAX),
            DumpForm::Bdw { block } if (28..=LONGEST_BLOCK).contains(&block) => block - 4,
            DumpForm::Bdw { block } => {
                return Err(refused(format!("blocks of {block} bytes"), format!("use 28 to {LONGEST_BLOCK}")));
            }
            DumpForm::NoDescriptors => usize::MAX,
        };
        let segment = segment.unwrap_or(longest);
        if segment > longest || segment < 24 {
            return Err(refused(format!("segments of {segment} bytes"), format!("use 24 to {longest}")));
        }
        if form == DumpForm::NoDescriptors && segment != longest {
            return Err(refused(
                "segments without descriptor words",
                "segments are told by their descriptor words: use another form",
            ));
        }
        Ok(Self { out, form, segment, block: Vec::new(), records: 0, bytes: 0 })
    }

    /// Records written so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes handed on so far; a block that is not full yet is not among them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes one record, which begins with its descriptor word. Its length is that of `record`, whatever the word
    /// says.
    ///
    /// # Errors
    /// When the record is shorter than the standard header, or cannot be written.
    pub fn write(&mut self, record: &[u8]) -> Result<(), DumpError> {
        if record.len() < 18 {
            return Err(refused(
                format!("a record of {} bytes", record.len()),
                "a record has a descriptor word and a header, 18 bytes",
            ));
        }
        self.records += 1;
        if self.form == DumpForm::NoDescriptors {
            return self.put(&record[4..]);
        }
        if record.len() <= self.segment {
            return self.segment(0, &record[4..]);
        }
        let mut pieces = record[4..].chunks(self.segment - 4).peekable();
        let mut first = true;
        while let Some(piece) = pieces.next() {
            let code = match (first, pieces.peek()) {
                (true, _) => 1,
                (false, Some(_)) => 3,
                (false, None) => 2,
            };
            self.segment(code, piece)?;
            first = false;
        }
        Ok(())
    }

    /// Writes the record that opens (type 2) or closes (type 3) a dump. `written_at` is local, microseconds since
    /// 1970.
    ///
    /// # Errors
    /// When the system id or time has no form in a header, or cannot be written.
    pub fn dump_marker(&mut self, record_type: u8, system: &str, written_at: i64) -> Result<(), DumpError> {
        let mut record = [0; 18];
        record[1] = 18;
        record[4] = 0x1E;
        record[5] = record_type;
        let hundredths = written_at.rem_euclid(86_400_000_000) / 10_000;
        record[6..10].copy_from_slice(&(hundredths as u32).to_be_bytes());
        let day = i32::try_from(written_at.div_euclid(86_400_000_000)).unwrap_or(i32::MAX);
        let date = smf_date::encode(day).map_err(|_| refused("a time outside 1900 to 2899", "check written_at"))?;
        record[10..14].copy_from_slice(&date);
        CodePage::default()
            .encode(system, &mut record[14..])
            .map_err(|_| refused(format!("system id `{system}`"), "use at most four characters of Latin 1"))?;
        self.write(&record)
    }

    /// Writes what is left and gives the output back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<W, DumpError> {
        self.flush_block()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn segment(&mut self, code: u8, data: &[u8]) -> Result<(), DumpError> {
        let length = u16::try_from(data.len() + 4).unwrap_or(u16::MAX).to_be_bytes();
        let word = [length[0], length[1], code, 0];
        if let DumpForm::Bdw { block } = self.form {
            if !self.block.is_empty() && self.block.len() + 4 + data.len() > block {
                self.flush_block()?;
            }
            if self.block.is_empty() {
                self.block.extend([0; 4]);
            }
            self.block.extend(word);
            self.block.extend_from_slice(data);
            return Ok(());
        }
        self.put(&word)?;
        self.put(data)
    }

    fn flush_block(&mut self) -> Result<(), DumpError> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut block = std::mem::take(&mut self.block);
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX).to_be_bytes();
        block[..2].copy_from_slice(&length);
        self.put(&block)?;
        block.clear();
        self.block = block;
        Ok(())
    }

    fn put(&mut self, data: &[u8]) -> Result<(), DumpError> {
        self.out.write_all(data)?;
        self.bytes += data.len() as u64;
        Ok(())
    }
}
