//! What decoding found wrong or worth knowing. Nothing is dropped without a row here.

use crate::stream::Severity;

/// A section, or part of one, that could not be decoded. The rest of its record was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionDamage {
    /// Number of the record in its file, from 1.
    pub record_no: u64,
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// Layout name of the section that is missing.
    pub section: String,
    /// Fixed name by which damage is counted.
    pub reason: Reason,
    /// The numbers that do not fit together.
    pub detail: String,
    /// Further entries of the section in the same record with the same reason.
    pub repeats: u64,
}

impl SectionDamage {
    /// What was found, and of how many further entries the same is true.
    #[must_use]
    pub fn text(&self) -> String {
        match self.repeats {
            0 => self.detail.clone(),
            1 => format!("{}; the same for another entry of the record", self.detail),
            count => format!("{}; the same for {count} further entries of the record", self.detail),
        }
    }
}

/// Why a section was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Offset, length and count lead outside the record, or back into its header.
    SectionOutsideRecord,
    /// Entries have no length, or too few bytes for what the section should hold.
    SectionTooShort,
    /// The sections of the record together are longer than the record: some overlap.
    SectionsOverlap,
    /// A chained header or a varying entry has a length that leads nowhere.
    ChainBroken,
    /// The triplet that should lead to the product section is empty or cut off.
    ProductSectionMissing,
    /// Sections of a spanned record reach beyond its end: segments in its middle are missing, and none of it is read.
    SegmentsMissing,
    /// CICS compressed the data (SMFMNCRL is not zero), and it cannot be expanded.
    CicsCompressed,
    /// Db2 compressed the record (SMFCOMP=ON), and it cannot be expanded.
    Db2Compressed,
    /// No dictionary record of the region came before the end of the file.
    DictionaryMissing,
    /// The dictionary of the region does not describe this record.
    DictionaryMismatch,
}

impl Reason {
    /// The name in damage tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SectionOutsideRecord => "section_outside_record",
            Self::SectionTooShort => "section_too_short",
            Self::SectionsOverlap => "sections_overlap",
            Self::ChainBroken => "header_chain_broken",
            Self::ProductSectionMissing => "product_section_missing",
            Self::SegmentsMissing => "segments_missing",
            Self::CicsCompressed => "cics_compressed",
            Self::Db2Compressed => "db2_compressed",
            Self::DictionaryMissing => "cics_dictionary_missing",
            Self::DictionaryMismatch => "cics_dictionary_mismatch",
        }
    }

    /// How much it matters.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::ProductSectionMissing => Severity::Error,
            Self::SectionOutsideRecord
            | Self::SectionTooShort
            | Self::SectionsOverlap
            | Self::ChainBroken
            | Self::SegmentsMissing
            | Self::CicsCompressed
            | Self::Db2Compressed
            | Self::DictionaryMissing
            | Self::DictionaryMismatch => Severity::DataLoss,
        }
    }

    /// What a user can do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::SectionOutsideRecord | Self::SectionsOverlap | Self::ChainBroken => {
                "the record was damaged on its way: transfer the dump again, in binary and with RDW"
            }
            Self::SectionTooShort => {
                "check the record's release against the layout; if it is not older, transfer the dump again"
            }
            Self::ProductSectionMissing => "interval and sysplex of this record are unknown; transfer the dump again",
            Self::SegmentsMissing => {
                "segments are missing: copy the dump with its format VBS kept, and transfer it again"
            }
            Self::CicsCompressed => {
                "expand the records on z/OS with CICS utility DFH$MOLS (UNLOAD EXPAND), or set COMPRESS=NO in the MCT"
            }
            Self::Db2Compressed => {
                "expand the records on z/OS with the Db2 sample program DSNTSMFD, or set subsystem parameter SMFCOMP=OFF"
            }
            Self::DictionaryMissing => {
                "put the region's dictionary records (SMF 110-1 class 1) in front: they are written when monitoring \
                 starts, and CICS utility DFHMNDUP makes one at any time"
            }
            Self::DictionaryMismatch => {
                "the dictionary before these records is not theirs: put the one the region wrote, or one that CICS \
                 utility DFHMNDUP made from its MCT, in front of them"
            }
        }
    }
}

/// Something counted by section: no values were lost, or the field's value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteKind {
    /// Entries longer than the layout knows: a newer release. The known fields were read.
    SectionLonger,
    /// Entries shorter than the layout: an older release. The fields beyond are null.
    SectionShorter,
    /// A field that is no packed number, no date, or beyond 64 bits; its value is null.
    ValueUnreadable,
    /// Rows with fields whose place is not confirmed by a public source (confidence `low` in the layout).
    LowConfidence,
    /// A field that a CICS dictionary describes and no layout names; it was left out.
    UnknownField,
    /// Statistics entries whose identifier no layout has; they were left out.
    SectionUnmapped,
    /// The interval of an MQ product section does not end when the record was written; its start is null.
    IntervalInconsistent,
    /// Records of a type with layouts that gave no row: no section that a layout describes has an entry in them.
    RecordWithoutRows,
    /// Records that were compressed, and read after expanding them.
    Expanded,
}

impl NoteKind {
    /// How much it matters.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::SectionLonger
            | Self::SectionShorter
            | Self::LowConfidence
            | Self::UnknownField
            | Self::SectionUnmapped
            | Self::RecordWithoutRows
            | Self::Expanded => Severity::Info,
            Self::ValueUnreadable | Self::IntervalInconsistent => Severity::Error,
        }
    }

    /// The name in summaries.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SectionLonger => "section_longer",
            Self::SectionShorter => "section_shorter",
            Self::ValueUnreadable => "value_unreadable",
            Self::IntervalInconsistent => "interval_inconsistent",
            Self::LowConfidence => "low_confidence",
            Self::UnknownField => "unknown_field",
            Self::SectionUnmapped => "section_unmapped",
            Self::RecordWithoutRows => "record_without_rows",
            Self::Expanded => "compressed_expanded",
        }
    }
}

/// A count of one kind for one section or field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What was counted.
    pub kind: NoteKind,
    /// Layout name of the section.
    pub section: String,
    /// The field's column, where a single field is meant; what names a field or entry that no layout has.
    pub field: Option<String>,
    /// How many entries.
    pub count: u64,
    /// The most bytes by which an entry was longer or shorter; 0 where that says nothing.
    pub max_bytes: u64,
}

/// Adds notes of a batch to those so far, one line for each kind, section and field.
pub fn add_notes(total: &mut Vec<Note>, notes: &[Note]) {
    for note in notes {
        let same =
            |other: &&mut Note| other.kind == note.kind && other.section == note.section && other.field == note.field;
        match total.iter_mut().find(same) {
            Some(other) => {
                other.count += note.count;
                other.max_bytes = other.max_bytes.max(note.max_bytes);
            }
            None => total.push(note.clone()),
        }
    }
}
