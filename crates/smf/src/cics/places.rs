//! Where records say what they hold: places in the product section, by the layout files.

use crate::decode::RecordView;
use crate::layout::{Catalogue, RecordMap, Rule, Section, Selector};

use super::dictionary::EntryLayout;

/// Record type of CICS, and the subtypes that matter here.
pub(super) const CICS: u8 = 110;
pub(super) const MONITORING: u16 = 1;
pub(super) const STATISTICS: u16 = 2;
/// Classes of monitoring records.
pub(super) const DICTIONARY: u16 = 1;
pub(super) const PERFORMANCE: u16 = 3;

/// What of the record maps is needed to connect records with dictionaries.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(super) entries: EntryLayout,
    /// The known fields of performance records.
    pub known: std::sync::Arc<Section>,
    /// In the header: the triplets of the product section, and of the data section.
    pub product: usize,
    pub data_section: usize,
    /// In the product section: the region's name.
    pub applid: (usize, usize),
    /// In the product section: the triplets of connectors and of data records.
    pub connectors: usize,
    pub data: usize,
    /// In the product section: length of compressed data.
    pub compressed: usize,
}

impl Places {
    /// From the maps of classes 1 and 3; `None` where the catalogue lacks them.
    pub fn compile(catalogue: &Catalogue) -> Option<Self> {
        let map = |class| {
            let wanted = Selector::Class(MONITORING, class);
            catalogue.maps().find(|map| map.record_type == CICS && map.selector == wanted)
        };
        let (dictionary, performance) = (map(DICTIONARY)?, map(PERFORMANCE)?);
        let section = |map: &RecordMap, rule: Rule| {
            map.entries.iter().find(|entry| entry.rule == rule).and_then(|entry| catalogue.section(&entry.layout))
        };
        let product = section(performance, Rule::Product)?;
        let at = |name: &str| product.field(name).map(|field| field.offset);
        Some(Self {
            entries: EntryLayout::compile(section(dictionary, Rule::Entries)?)?,
            known: std::sync::Arc::clone(section(performance, Rule::Connected)?),
            product: performance.product().and_then(|entry| catalogue.triplet(performance, entry))?.offset,
            data_section: section(performance, Rule::Header)?.field("SMFASS").map(|field| field.offset)?,
            applid: product.field("SMFMNSPN").map(|field| (field.offset, field.length))?,
            connectors: at("SMFMNDCA")?,
            data: at("SMFMNDRA")?,
            compressed: at("SMFMNCRL")?,
        })
    }

    /// Start and length of the product section.
    pub fn product(&self, view: RecordView<'_>) -> Option<(usize, usize)> {
        let start = view.u32(self.product)? as usize;
        let len = usize::from(view.u16(self.product + 4)?).min(view.0.len().checked_sub(start)?);
        Some((start, len))
    }

    /// Start and length of the connectors of a performance record.
    pub fn connectors(&self, view: RecordView<'_>) -> Option<(usize, usize)> {
        let (start, len) = self.product(view).filter(|&(_, len)| self.connectors + 8 <= len)?;
        let at = start + self.connectors;
        let offset = view.u32(at)? as usize;
        let length = usize::from(view.u16(at + 4)?) * usize::from(view.u16(at + 6)?);
        (offset != 0 && offset + length <= view.0.len() && len != 0).then_some((offset, length))
    }

    /// The product section of a record whose data is compressed, and how long the data is.
    pub fn compressed_data(&self, view: RecordView<'_>) -> Option<((usize, usize), usize)> {
        let wanted = matches!(view.class(), Some(DICTIONARY | PERFORMANCE)) && view.subtype() == Some(MONITORING);
        let (start, len) = self.product(view).filter(|_| wanted)?;
        let packed = view.u16(start + self.compressed).filter(|_| self.compressed + 2 <= len)?;
        (packed != 0).then_some(((start, len), packed.into()))
    }
}
