//! Where records say what they hold: places in the product section, by the layout files.

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
pub(super) struct Places {
    pub entries: EntryLayout,
    /// The known fields of performance records.
    pub known: std::sync::Arc<Section>,
    /// In the header: the triplet of the product section.
    pub product: usize,
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
            applid: product.field("SMFMNSPN").map(|field| (field.offset, field.length))?,
            connectors: at("SMFMNDCA")?,
            data: at("SMFMNDRA")?,
            compressed: at("SMFMNCRL")?,
        })
    }
}
