//! The dictionary of a region: what a class 1 record says of each field.

use std::collections::HashMap;

use crate::forms::ebcdic::CodePage;
use crate::layout::{Field, Section};

/// What a dictionary says of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryEntry {
    /// Group that owns the field: `DFHTASK`.
    pub owner: String,
    /// `S` clock, `A` count, `C` text or bytes, `T` time stamp, `P` packed decimal.
    pub kind: char,
    /// Number of the field in its group: `007`.
    pub ident: String,
    /// Bytes of the field in a performance record.
    pub length: u16,
    /// The connector that stands for it.
    pub connector: u16,
    /// Offset in a record that holds every field.
    pub offset: u16,
    /// Short name: `USRDISPT`.
    pub nickname: String,
}

impl DictionaryEntry {
    /// Type and number in the group: `S007`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}{}", self.kind, self.ident)
    }
}

/// The fields of a region, by connector.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dictionary {
    entries: HashMap<u16, DictionaryEntry>,
}

impl Dictionary {
    /// A dictionary of these entries; of two with one connector the later.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = DictionaryEntry>) -> Self {
        Self { entries: entries.into_iter().map(|entry| (entry.connector, entry)).collect() }
    }

    /// Reads entries of `length` bytes. `layout` says where in an entry its fields are; entries too short for them are
    /// left out.
    pub(crate) fn read(layout: &EntryLayout, data: &[u8], length: usize, page: CodePage) -> Self {
        Self::new(data.chunks_exact(length.max(1)).filter_map(|entry| layout.read(entry, page)))
    }

    /// The entry of a connector.
    #[must_use]
    pub fn get(&self, connector: u16) -> Option<&DictionaryEntry> {
        self.entries.get(&connector)
    }

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Where in a dictionary entry its fields are, by the layout file.
#[derive(Debug, Clone)]
pub(crate) struct EntryLayout {
    owner: (usize, usize),
    kind: (usize, usize),
    ident: (usize, usize),
    length: usize,
    connector: usize,
    offset: usize,
    nickname: (usize, usize),
}

impl EntryLayout {
    /// From the section of dictionary entries; `None` when it lacks a field.
    pub fn compile(section: &Section) -> Option<Self> {
        let text = |name: &str| section.field(name).map(|field: &Field| (field.offset, field.length));
        let number = |name: &str| section.field(name).filter(|field| field.length == 2).map(|field| field.offset);
        Some(Self {
            owner: text("CMODNAME")?,
            kind: text("CMODTYPE")?,
            ident: text("CMODIDNT")?,
            length: number("CMODLENG")?,
            connector: number("CMODCONN")?,
            offset: number("CMODOFST")?,
            nickname: text("CMODHEAD")?,
        })
    }

    fn read(&self, entry: &[u8], page: CodePage) -> Option<DictionaryEntry> {
        let text = |(at, length): (usize, usize)| entry.get(at..at + length).map(|bytes| page.decode(bytes));
        let number = |at: usize| entry.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
        Some(DictionaryEntry {
            owner: text(self.owner)?.trim().to_owned(),
            kind: text(self.kind)?.chars().next().unwrap_or(' '),
            ident: text(self.ident)?.trim().to_owned(),
            length: number(self.length)?,
            connector: number(self.connector)?,
            offset: number(self.offset)?,
            nickname: text(self.nickname)?.trim().to_owned(),
        })
    }
}
