//! Where the offset of a section's entries stands.

use super::catalogue::Catalogue;
use super::record_map::{MapEntry, RecordMap};
use super::rule::{PlacedRule, Rule};
use super::section::Field;

/// Where the offset of a section's entries stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a header, so many bytes from the start of the record; u16 length and u16 count follow.
    Header(usize),
    /// In the product section, so many bytes from its start; u16 length and u16 count follow.
    Product(usize),
    /// In an entry of another section. Entries are those of the record map, by their index.
    Entry {
        /// The section that points: its row in the record map.
        parent: usize,
        /// Where in the parent's entry the u32 offset is.
        offset: usize,
        /// The section whose entry holds the length: its row in the record map, and where in it the u16 is.
        length: (usize, usize),
        /// Where in the entry itself the u32 offset of the next one is.
        next: Option<usize>,
        /// Where in the parent's entry the u16 number of entries is; one entry without it.
        count: Option<usize>,
        /// Whether the offset counts from the start of the parent's entry.
        relative: bool,
    },
    /// The record itself.
    Fixed,
    /// Where fields of the header or of the fixed part say.
    Computed(Computed),
}

/// Entries placed by single fields: each field by its offset from the start of the record and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Computed {
    /// How the numbers are used.
    pub rule: PlacedRule,
    /// Where the entries begin, counted from the rule's base; zero where there are none.
    pub offset: (usize, usize),
    /// Bytes of an entry, where all have the same.
    pub length: Option<(usize, usize)>,
    /// Number of entries.
    pub count: (usize, usize),
}

impl Computed {
    /// Where the last of the fields ends: entries begin behind it.
    #[must_use]
    pub fn end(&self) -> usize {
        [Some(self.offset), self.length, Some(self.count)]
            .into_iter()
            .flatten()
            .map(|(at, len)| at + len)
            .max()
            .unwrap_or(0)
    }
}

impl Catalogue {
    /// Where the entries of a record map's row are found; `None` for header sections, and for a row that names fields
    /// which do not exist (the catalogue refuses such maps).
    #[must_use]
    pub fn place(&self, map: &RecordMap, entry: &MapEntry) -> Option<Place> {
        match entry.rule {
            Rule::Linked => return self.link(map, entry),
            Rule::Fixed => return Some(Place::Fixed),
            Rule::Placed(rule) => return self.computed(map, entry, rule).map(Place::Computed),
            _ => {}
        }
        if let Some(field) = self.triplet(map, entry) {
            return Some(Place::Header(field.offset));
        }
        let product = map.product().and_then(|product| self.section(&product.layout))?;
        product.field(&entry.triplet).map(|field| Place::Product(field.offset))
    }

    fn link(&self, map: &RecordMap, entry: &MapEntry) -> Option<Place> {
        let link = entry.link.as_ref()?;
        let (parent, offset) = self.field_of_section(map, &entry.triplet)?;
        let (holder, length) = self.field_of_section(map, &link.length)?;
        let own = self.section(&entry.layout)?;
        let next = match &link.next {
            Some(name) => Some(own.field(name)?.offset),
            None => None,
        };
        let count = match &link.count {
            Some(name) => Some(self.field_of_section(map, name).filter(|(index, _)| *index == parent)?.1.offset),
            None => None,
        };
        let (length, relative) = ((holder, length.offset), link.relative);
        Some(Place::Entry { parent, offset: offset.offset, length, next, count, relative })
    }

    fn computed(&self, map: &RecordMap, entry: &MapEntry, rule: PlacedRule) -> Option<Computed> {
        let link = entry.link.as_ref()?;
        let place = |name: &str| self.field_of_start(map, name).map(|field| (field.offset, field.length));
        let length = if rule.lead == 0 { Some(place(&link.length)?) } else { None };
        Some(Computed { rule, offset: place(&entry.triplet)?, length, count: place(link.count.as_ref()?)? })
    }

    /// A field at a fixed place of the record: of a header or of the fixed part.
    pub(super) fn field_of_start(&self, map: &RecordMap, name: &str) -> Option<&Field> {
        let rows = map.entries.iter().filter(|row| matches!(row.rule, Rule::Header | Rule::Fixed));
        rows.filter_map(|row| self.section(&row.layout)).find_map(|section| section.field(name))
    }

    /// A field of a section that has rows, with the index of that section in the map.
    pub(super) fn field_of_section(&self, map: &RecordMap, name: &str) -> Option<(usize, &Field)> {
        let rows = map.entries.iter().enumerate().filter(|(_, row)| row.rule != Rule::Header);
        rows.filter_map(|(index, row)| Some((index, self.section(&row.layout)?)))
            .find_map(|(index, section)| section.field(name).map(|field| (index, field)))
    }
}
