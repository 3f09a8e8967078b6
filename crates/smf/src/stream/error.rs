//! Why a file cannot be read at all.

use super::foreign::Foreign;
use thiserror::Error;

/// A file that gives no records. Damage within a file that does is no error: see [`Damage`](super::Damage).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The operating system refused.
    #[error("{name}: byte {offset}: {source}; check that the file exists, can be read, and that its medium is sound")]
    Io {
        /// Name of the file.
        name: String,
        /// Bytes read before.
        offset: u64,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The file holds nothing.
    #[error("{name}: the file is empty; transfer the dump again")]
    Empty {
        /// Name of the file.
        name: String,
    },
    /// The file is something else, which has a name.
    #[error("{name}: {} ({detail}); {}", what.description(), what.remedy())]
    Foreign {
        /// Name of the file.
        name: String,
        /// What it is.
        what: Foreign,
        /// By what it was recognised.
        detail: String,
    },
    /// Records stand one after the other without descriptor words, and do not tell their lengths.
    #[error(
        "{name}: the record descriptor words are lost: records follow each other directly, and record {record_no} at \
         byte {offset} (type {record_type}) does not tell its own length; transfer the dump again in binary with its \
         record descriptor words (FTP: binary, quote site rdw)"
    )]
    DescriptorsLost {
        /// Name of the file.
        name: String,
        /// The first record whose length cannot be told.
        record_no: u64,
        /// Where it begins.
        offset: u64,
        /// Its type.
        record_type: u8,
    },
    /// No record was found, and the file is nothing known.
    #[error(
        "{name}: no SMF record in the first {searched} bytes, which begin {head}; \
         the file is no SMF dump, or its descriptor words are lost: transfer a dump written by IFASMFDP or IFASMFDL \
         in binary with its record descriptor words (FTP: binary, quote site rdw)"
    )]
    NoRecords {
        /// Name of the file.
        name: String,
        /// How far was looked.
        searched: u64,
        /// The first bytes, in hexadecimal.
        head: String,
    },
    /// The compressed file gives no data.
    #[error("{name}: {compression} data that cannot be expanded: {source}; transfer the file again in binary")]
    Compressed {
        /// Name of the file.
        name: String,
        /// The kind of compression.
        compression: super::options::Compression,
        /// What the decompressor says.
        source: std::io::Error,
    },
}
