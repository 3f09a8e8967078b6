//! Choices for encoding, and what comes of it.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use crate::forms::ebcdic::CodePage;
use crate::forms::tod_clock::LeapSeconds;

/// What to do with a record longer than SMF takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Oversize {
    /// Refuse it.
    #[default]
    Refuse,
    /// Write several records, each entry in one of them.
    Spread,
    /// Write it as RMF splits a record: parts with a reassembly area, by which a reader joins them.
    RmfParts,
}

/// Choices for encoding.
#[derive(Debug, Clone, Default)]
pub struct EncodeOptions {
    /// Code page and clock.
    pub code_page: CodePage,
    /// Whether the clock that is written runs ahead of UTC by the leap seconds.
    pub leap_seconds: LeapSeconds,
    /// Length of a section's entries, by table: shorter than the layout leaves out fields as an older release
    /// does, longer appends zeros.
    pub lengths: BTreeMap<String, usize>,
    /// What to do with a record longer than SMF takes.
    pub oversize: Oversize,
    /// Rows of `smf110_1_dictionary` by which CICS performance records are written; without, all fields that the layout
    /// knows, in its order.
    pub dictionary: Option<RecordBatch>,
    /// The connectors of CICS performance records in the order of their fields; without, all of the dictionary.
    pub connectors: Option<Vec<u16>>,
}

/// Records, one after the other, each after its descriptor word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncodedRecords {
    pub(crate) data: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl EncodedRecords {
    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// One record, from 0.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.data.get(start..end)
    }

    /// All records in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}
