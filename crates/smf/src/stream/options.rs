//! What a caller can set, and what a file was found to be.

use std::fmt;

/// How records lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Each record (or segment) after its record descriptor word.
    Rdw,
    /// Blocks, each after a block descriptor word, of records after record descriptor words.
    Bdw,
    /// Records without descriptor words, one directly after the other.
    NoDescriptors,
}

impl Form {
    /// The stable name used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rdw => "rdw",
            Self::Bdw => "bdw",
            Self::NoDescriptors => "no_descriptors",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a file was compressed, told from its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip, one member or several.
    Gzip,
    /// Zstandard, one frame or several.
    Zstd,
}

impl Compression {
    /// The stable name used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bytes that any compressed file may expand to.
pub const EXPANSION_FREE: u64 = 256 << 20;

/// How to read a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The form of the file; `None` tells it from the first records.
    ///
    /// [`Form::NoDescriptors`] given here reads on where a record does not tell its own length, by looking for the
    /// next header; left to itself, the reader refuses such a file.
    pub form: Option<Form>,
    /// About how many bytes a batch holds. A batch is longer when a single record is.
    pub batch_bytes: usize,
    /// The longest record, in bytes, that may arise from spanned segments or from the parts of a broken record.
    pub max_record_bytes: usize,
    /// Whether records that RMF split are joined.
    pub join_broken_records: bool,
    /// How many bytes of parts of broken records may wait for the missing ones.
    pub max_pending_bytes: usize,
    /// How many times its own size a compressed file may expand to, once that is more than [`EXPANSION_FREE`] bytes.
    ///
    /// A file of some KB can expand to any size; SMF records shrink to a tenth or a fiftieth of theirs.
    pub max_expansion: u64,
    /// How many bytes a compressed file may expand to.
    pub max_expanded_bytes: u64,
    /// How many damage entries are kept in full; all are counted.
    pub max_damage_entries: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            form: None,
            batch_bytes: 8 << 20,
            max_record_bytes: 2 << 20,
            join_broken_records: true,
            max_pending_bytes: 32 << 20,
            max_expansion: 1000,
            max_expanded_bytes: 1 << 40,
            max_damage_entries: 10_000,
        }
    }
}
