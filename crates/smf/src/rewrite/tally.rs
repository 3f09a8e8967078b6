//! What a dump holds, and what was done with it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::fields::Treatment;

/// Counts of a dump.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Records that were, or would be, written.
    pub records: u64,
    /// Records that cannot be rewritten, by reason.
    pub unknown: BTreeMap<String, u64>,
    /// Records that the reader could not connect with their dictionary, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Values that are not empty, by field (its number) and what was done.
    pub(super) fields: HashMap<(usize, Treatment), u64>,
    /// Bytes that are not zero and that no field covers, by record map: they become zero.
    pub uncovered: BTreeMap<String, u64>,
    /// Sections that could not be found, by layout and reason: they become zero.
    pub sections: BTreeMap<String, u64>,
    /// Bytes of the file that are in no record: they are not written.
    pub lost_bytes: u64,
    /// Names without a replacement: they become zero.
    pub unnamed: u64,
    /// Clocks and dates that cannot be moved: they become zero.
    pub unmoved: u64,
    /// The texts of names, where they are wanted.
    pub names: HashSet<String>,
    pub(super) wants_names: bool,
}
