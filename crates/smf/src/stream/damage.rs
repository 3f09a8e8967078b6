//! What was wrong with a dump: a closed set of reasons, each with its severity and what to do about it.

use std::fmt;

/// How much a reader of the numbers must worry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing that was recorded is missing.
    Info,
    /// The data are there, but something about them is not as it should be.
    Error,
    /// Records are missing.
    DataLoss,
}

impl Severity {
    /// The stable name used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Error => "error",
            Self::DataLoss => "data loss",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Defines the reasons once, so that name, severity and remedy cannot be forgotten for one.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:literal, $severity:ident, $remedy:literal;)+) => {
        /// Why part of a dump could not be read as it stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DamageReason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl DamageReason {
            /// Every reason, in declaration order.
            pub const ALL: &'static [DamageReason] = &[$(Self::$variant,)+];

            /// The stable name used in tables.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// How much it matters.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// What to do about it.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)+ }
            }
        }
    };
}

reasons! {
    /// No record begins where one should; reading went on at the next plausible record.
    UnreadableRange, "unreadable_range", DataLoss,
        "transfer the dump again in binary, keeping the record descriptor words (FTP: binary, quote site rdw), and compare sizes";
    /// The length of a record leads past the start of a record that can be read.
    WrongLength, "wrong_record_length", DataLoss,
        "transfer the dump again in binary; if the damage stays, dump the records again from SMF";
    /// The file ends inside a record.
    CutRecord, "cut_record", DataLoss,
        "the file is incomplete: transfer it again and compare its size with the data set";
    /// The file ends inside a spanned record.
    CutSpannedRecord, "cut_spanned_record", DataLoss,
        "the file is incomplete: transfer it again and compare its size with the data set";
    /// The first segment of a spanned record is followed by another record, not by the rest.
    UnfinishedSpannedRecord, "unfinished_spanned_record", DataLoss,
        "segments are missing: copy the dump with its format VBS kept, and transfer it again";
    /// A middle or last segment stands without the first one.
    SegmentWithoutFirst, "segment_without_first", DataLoss,
        "segments are missing: copy the dump with its format VBS kept, and transfer it again";
    /// The segments of a spanned record are together longer than a record may be.
    SpannedRecordTooLong, "spanned_record_too_long", DataLoss,
        "if the record is genuine, raise the limit for reassembled records in the read options";
    /// A range of zero bytes lies between records.
    ZeroFilledRange, "zero_filled_range", DataLoss,
        "part of the file was never written: transfer it again and compare its size with the data set";
    /// Zero bytes follow the last record.
    ZeroPadding, "zero_padding", Info,
        "nothing is missing: the file was padded to a multiple of some block";
    /// The time, date or system identifier of a record is none; its length leads to the next record, so it was kept.
    ImplausibleHeader, "implausible_header", Error,
        "check the program that wrote the record; its time stamp cannot be trusted";
    /// The block descriptor word disagrees with the records in the block; the records were kept.
    BlockMismatch, "block_length_mismatch", Error,
        "no record was lost here; transfer the dump again to be sure of its contents";
    /// The compressed file ends early or is damaged; nothing after this point could be expanded.
    DamagedCompression, "damaged_compression", DataLoss,
        "transfer the compressed file again in binary, and test it with gzip -t or zstd -t";
    /// The file has no descriptor words and a record does not tell its length; the next header was taken for its end.
    InferredBoundary, "inferred_boundary", Error,
        "transfer the dump again in binary with its record descriptor words (FTP: binary, quote site rdw)";
    /// Parts of a record that RMF split are missing; those that are there were handed on as they are.
    IncompleteBrokenRecord, "incomplete_broken_record", DataLoss,
        "select all records of the interval when dumping or filtering SMF; the figures of this record are partial";
    /// The parts of a record that RMF split cannot be joined; they were handed on as they are.
    UnjoinableBrokenRecord, "unjoinable_broken_record", Error,
        "the figures of this record stand in several records; add them up with care";
}

impl fmt::Display for DamageReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One place in a file that could not be read as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Number of the record concerned, from 1. A range in which no record can be found counts as one record.
    pub record_no: u64,
    /// Byte offset where the record (or range) begins, in the file as read (after decompression).
    pub offset: u64,
    /// How many bytes were not handed on in any record because of it.
    pub skipped: u64,
    /// Why.
    pub reason: DamageReason,
    /// What was found, with numbers.
    pub detail: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "record {}, byte {}: {}: {}; {}",
            self.record_no,
            self.offset,
            self.reason,
            self.detail,
            self.reason.remedy()
        )
    }
}

/// The damage of one file: the first entries in full, all of them counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DamageLog {
    entries: Vec<Damage>,
    counts: [u64; DamageReason::ALL.len()],
    skipped: u64,
    limit: usize,
}

impl DamageLog {
    /// A log that keeps at most `limit` entries in full.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The entries kept in full, in the order in which they were found.
    #[must_use]
    pub fn entries(&self) -> &[Damage] {
        &self.entries
    }

    /// How often a reason occurred, entries beyond the limit included.
    #[must_use]
    pub fn count(&self, reason: DamageReason) -> u64 {
        self.counts[reason as usize]
    }

    /// The reasons that occurred, with how often.
    pub fn counts(&self) -> impl Iterator<Item = (DamageReason, u64)> + '_ {
        DamageReason::ALL.iter().map(|&reason| (reason, self.count(reason))).filter(|&(_, count)| count > 0)
    }

    /// How many places were damaged in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Bytes that were not handed on in any record.
    #[must_use]
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped
    }

    /// Whether nothing was wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The gravest severity that occurred.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.counts().map(|(reason, _)| reason.severity()).max()
    }

    /// Counts one place, composing its text only when the entry is kept.
    pub(super) fn add(
        &mut self,
        reason: DamageReason,
        (record_no, offset): (u64, u64),
        skipped: u64,
        detail: impl FnOnce() -> String,
    ) {
        self.counts[reason as usize] += 1;
        self.skipped += skipped;
        if self.entries.len() < self.limit {
            self.entries.push(Damage { record_no, offset, skipped, reason, detail: detail() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_reason_has_its_own_name_and_a_remedy() {
        let names: HashSet<_> = DamageReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), DamageReason::ALL.len());
        for reason in DamageReason::ALL {
            assert!(reason.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{reason}");
            assert!(!reason.remedy().is_empty());
            assert_eq!(DamageReason::ALL[*reason as usize], *reason);
        }
    }

    #[test]
    fn damage_reads_as_what_where_and_what_to_do() {
        let mut log = DamageLog::new(1);
        log.add(DamageReason::CutRecord, (7, 1000), 12, || "40 bytes needed, 12 left".to_owned());
        log.add(DamageReason::CutRecord, (8, 2000), 3, || unreachable!("beyond the limit no text is composed"));
        let text = log.entries()[0].to_string();
        assert!(text.starts_with("record 7, byte 1000: cut_record: 40 bytes needed, 12 left; "), "{text}");
        assert_eq!((log.total(), log.skipped_bytes(), log.worst()), (2, 15, Some(Severity::DataLoss)));
    }
}
