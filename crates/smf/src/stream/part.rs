//! A part of a file: between two places at which no record is open.

use super::batch::Frame;
use super::options::Form;

/// Bytes of parts of records that may wait at a place where a file is cut: they go along with the part behind it.
pub(super) const MOST_WAITING: usize = 1 << 20;

/// A place between two records, and what the walk knows there. A walk that begins with it finds what a walk of the
/// whole file finds from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Byte offset in the file.
    pub offset: u64,
    /// The number that the next record will bear.
    pub record_no: u64,
    /// Where the block ends that holds the place (or that ended there), as a file offset; `None` when that is not known.
    pub block_end: Option<u64>,
}

/// A part of a record that RMF split, which waits at a place for the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingPart {
    /// The same number for parts that belong together, in the order in which their first parts came.
    pub record: u64,
    /// Where it lay in the file; its `start` means nothing.
    pub frame: Frame,
    /// The part.
    pub bytes: Vec<u8>,
}

/// Part of a file that is not compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// How records lie in the file.
    pub form: Form,
    /// Where it begins.
    pub from: Place,
    /// Offset at which it ends; `None` for the end of the file.
    pub until: Option<u64>,
    /// What waits at its beginning.
    pub waiting: Vec<WaitingPart>,
}

impl Part {
    /// From the beginning of a file of this form.
    #[must_use]
    pub fn first(form: Form) -> Self {
        let from = Place { offset: 0, record_no: 1, block_end: (form == Form::Bdw).then_some(0) };
        Self { form, from, until: None, waiting: Vec::new() }
    }
}
