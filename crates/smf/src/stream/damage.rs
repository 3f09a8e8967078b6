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
    /// A sound record header stands within a record whose end is sound, too; the record was kept.
    HeaderWithinRecord, "header_within_record", Error,
        "if the data of this record do not hold a copy of another one, its length is wrong and hides a record: transfer the dump again in binary";
    /// The block descriptor word disagrees with the records in the block; the records were kept.
    BlockMismatch, "block_length_mismatch", Error,
        "no record was lost here; transfer the dump again to be sure of its contents";
    /// The compressed file ends early or is damaged; nothing after this point could be expanded.
    DamagedCompression, "damaged_compression", DataLoss,
        "transfer the compressed file again in binary, and test it with gzip -t or zstd -t";
    /// The compressed file expands to more than a dump does; nothing after this point was expanded.
    ExpansionLimit, "expansion_limit", DataLoss,
        "if the file is genuine, raise --max-expansion or --max-expanded, or expand it with gzip -d or zstd -d and give the expanded file";
    /// The file has no descriptor words and a record does not tell its length; the next header was taken for its end.
    InferredBoundary, "inferred_boundary", Error,
        "transfer the dump again in binary with its record descriptor words (FTP: binary, quote site rdw)";
    /// The bytes of the file do not add up to records and damage: a defect of this reader.
    UnaccountedBytes, "unaccounted_bytes", Error,
        "this is a defect of Plexlens: report it with the dump; compare the number of records with that of IFASMFDP";
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
    /// Places of the same reason in the records that follow directly; `skipped` includes theirs.
    pub repeats: Repeats,
}

/// Further places of a run of damage, which have no entry of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeats {
    /// How many.
    pub count: u64,
    /// Record number and byte offset of the last of them.
    pub last: (u64, u64),
}

impl Damage {
    /// What was found, and how often in the records that follow.
    #[must_use]
    pub fn text(&self) -> String {
        let Repeats { count, last: (record_no, offset) } = self.repeats;
        if count == 0 {
            return self.detail.clone();
        }
        format!("{}; the same in the next {count} records, up to record {record_no} at byte {offset}", self.detail)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "record {}, byte {}: {}: {}; {}",
            self.record_no,
            self.offset,
            self.reason,
            self.text(),
            self.reason.remedy()
        )
    }
}

/// How many places of a run of damage have an entry each; the rest is counted in the last of these entries.
const RUN_IN_FULL: u64 = 8;

/// The damage of one file: the first entries in full, all of them counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DamageLog {
    entries: Vec<Damage>,
    counts: [u64; DamageReason::ALL.len()],
    skipped: [u64; DamageReason::ALL.len()],
    limit: usize,
    /// Record and reason of the last place, and how many places of its run came before it.
    run: Option<(u64, DamageReason, u64)>,
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

    /// How many places the entries stand for: one each, and their repeats.
    #[must_use]
    pub fn places_in_entries(&self) -> u64 {
        self.entries.iter().map(|entry| 1 + entry.repeats.count).sum()
    }

    /// How many places were damaged in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Bytes that were not handed on in any record.
    #[must_use]
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped.iter().sum()
    }

    /// Bytes that pad the file behind its last record: nothing is missing there.
    #[must_use]
    pub fn padding_bytes(&self) -> u64 {
        self.skipped[DamageReason::ZeroPadding as usize]
    }

    /// Bytes that were not handed on in any record and may have been part of one.
    #[must_use]
    pub fn damaged_bytes(&self) -> u64 {
        self.skipped_bytes() - self.padding_bytes()
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

    /// The record of the place that was counted last.
    pub(crate) fn last_record(&self) -> Option<u64> {
        self.run.map(|(record_no, ..)| record_no)
    }

    /// Counts one place, composing its text only when the entry is kept.
    pub(crate) fn add(
        &mut self,
        reason: DamageReason,
        (record_no, offset): (u64, u64),
        skipped: u64,
        detail: impl FnOnce() -> String,
    ) {
        self.counts[reason as usize] += 1;
        self.skipped[reason as usize] += skipped;
        let before = match self.run {
            Some((last, kind, length)) if kind == reason && last + 1 == record_no => length + 1,
            _ => 0,
        };
        self.run = Some((record_no, reason, before));
        if before >= RUN_IN_FULL {
            // Past the limit the last entry is of an earlier place, unless its run is the one that goes on.
            if let Some(entry) = self.entries.last_mut()
                && entry.reason == reason
                && entry.record_no + entry.repeats.count + 1 == record_no
            {
                entry.repeats = Repeats { count: entry.repeats.count + 1, last: (record_no, offset) };
                entry.skipped += skipped;
            }
        } else if self.entries.len() < self.limit {
            let repeats = Repeats::default();
            self.entries.push(Damage { record_no, offset, skipped, reason, detail: detail(), repeats });
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

    #[test]
    fn a_run_of_damage_is_a_few_entries_with_a_count() {
        let mut log = DamageLog::new(100);
        for number in 1..=1000 {
            log.add(DamageReason::UnfinishedSpannedRecord, (number, number * 5), 5, || "5 bytes".to_owned());
        }
        log.add(DamageReason::UnfinishedSpannedRecord, (2000, 9000), 5, || "apart".to_owned());
        assert_eq!((log.entries().len(), log.total(), log.skipped_bytes()), (9, 1001, 5005));
        let last = &log.entries()[7];
        assert_eq!(last.repeats, Repeats { count: 992, last: (1000, 5000) });
        assert_eq!((last.record_no, last.skipped, log.places_in_entries()), (8, 993 * 5, 1001));
        assert!(last.to_string().contains("the same in the next 992 records, up to record 1000 at byte 5000"));
    }

    #[test]
    fn a_run_beyond_the_limit_is_counted_alone() {
        let mut log = DamageLog::new(2);
        for number in 1..=100 {
            log.add(DamageReason::CutRecord, (number, number), 1, || "cut".to_owned());
        }
        assert_eq!((log.entries().len(), log.total(), log.places_in_entries()), (2, 100, 2));
    }
}
