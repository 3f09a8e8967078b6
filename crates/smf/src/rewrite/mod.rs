//! A dump written anew with other names and times, for handing it on.
//!
//! What is written is made of parts that are known, and of nothing else: the fields of the layouts, each treated as its
//! rules say, and the lengths that lead from section to section. Every other byte of a record becomes zero. Numbers keep
//! their bytes, so that whatever is computed of them stays the same.

mod fields;
mod record;
mod tally;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::cics::HELD_BYTES;
use crate::decode::{DecodeOptions, Decoder, EXPANDED_BYTES, Places, RecordView};
use crate::encode::{DumpError, DumpForm, DumpWriter, LONGEST_BLOCK};
use crate::forms::ebcdic::CodePage;
use crate::layout::{Catalogue, LayoutError, RecordMap, Rule};
use crate::stream::{Form, FrameBatch, ReadOptions, SmfReader, StreamError};

pub use fields::{FieldRule, Treatment};
pub use tally::Tally;

use fields::Plans;

/// Layout of the records that open and close a dump.
const MARKER: &str = "smf2_3_dump_header_trailer";

/// Other names and times.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// By the text of a field, without the padding: another text of the same length.
    pub names: HashMap<String, String>,
    /// Days that every date and time is moved by.
    pub days: i32,
    /// Whether records that cannot be rewritten are left out; otherwise they stop the writing.
    pub drop_unknown: bool,
}

/// Why a dump was not written.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// The dump cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The copy cannot be written.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// A record that has no layout, and was not to be left out.
    #[error("record {record_no} at byte {offset}: {what}")]
    Unknown {
        /// Number of the record in its file.
        record_no: u64,
        /// Byte offset of the record.
        offset: u64,
        /// What is not known of it.
        what: String,
    },
}

/// Writes dumps anew by the layouts of a catalogue.
#[derive(Debug)]
pub struct Rewriter {
    decoder: Decoder,
    plans: Plans,
    /// By record map: its header layouts.
    headers: BTreeMap<String, Vec<String>>,
    page: CodePage,
}

impl Rewriter {
    /// By the layouts of a catalogue, and rules of what its character fields hold.
    ///
    /// # Errors
    /// A rule that names a layout or field that does not exist, or a part outside its field.
    pub fn new(catalogue: &Catalogue, rules: &[FieldRule], page: CodePage) -> Result<Self, LayoutError> {
        let decoder = Decoder::new(catalogue, DecodeOptions { code_page: page, ..DecodeOptions::default() })?;
        let names = |map: &RecordMap| map.headers().map(|entry| entry.layout.clone()).collect();
        let headers = catalogue.maps().map(|map| (map.name.clone(), names(map))).collect();
        Ok(Self { decoder, plans: Plans::new(catalogue, rules)?, headers, page })
    }

    /// Character fields that no rule is for: layout and field. Their bytes become zero.
    #[must_use]
    pub fn unruled(catalogue: &Catalogue, rules: &[FieldRule]) -> Vec<(String, String)> {
        let used =
            catalogue.maps().flat_map(|map| map.entries.iter()).filter_map(|entry| catalogue.section(&entry.layout));
        let mut found: Vec<(String, String)> = used
            .flat_map(|section| section.fields.iter().map(move |field| (section, field)))
            .filter(|(section, field)| {
                field.format.is_characters()
                    && !rules.iter().any(|rule| rule.layout == section.name && rule.field == field.name)
            })
            .map(|(section, field)| (section.name.clone(), field.name.clone()))
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// What a dump holds: the texts of its names, what would be replaced, and what is not known.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn survey(&self, path: &Path, options: &ReadOptions) -> Result<Tally, RewriteError> {
        let mut tally = Tally { wants_names: true, ..Tally::default() };
        self.walk(path, options, &mut tally, |_, _, _, _| Ok(()))?;
        Ok(tally)
    }

    /// Writes a dump anew, in the form that it has.
    ///
    /// # Errors
    /// When it cannot be read or the copy not be written, or at the first record that is not known.
    pub fn rewrite(
        &self,
        path: &Path,
        to: &Path,
        options: &ReadOptions,
        changes: &Changes,
    ) -> Result<Tally, RewriteError> {
        let form = match SmfReader::open(path, options)?.summary().form {
            Form::Bdw => DumpForm::Bdw { block: LONGEST_BLOCK },
            Form::NoDescriptors => DumpForm::NoDescriptors,
            Form::Rdw => DumpForm::Rdw,
        };
        let file = File::create(to).map_err(DumpError::Io)?;
        let mut writer = DumpWriter::new(BufWriter::with_capacity(1 << 20, file), form, None)?;
        let mut tally = Tally::default();
        let mut out = Vec::new();
        self.walk(path, options, &mut tally, |batch, places, why, tally| {
            if let Some(what) = why {
                if changes.drop_unknown {
                    return Ok(());
                }
                let frame = batch.frames[places.index];
                return Err(RewriteError::Unknown { record_no: frame.record_no, offset: frame.offset, what });
            }
            self.write(batch, places, changes, &mut out, tally);
            Ok(writer.write(&out)?)
        })?;
        writer.finish()?;
        Ok(tally)
    }

    /// Layout, field, what was done with it, and with how many values that are not empty.
    #[must_use]
    pub fn treated(&self, tally: &Tally) -> Vec<(&str, &str, Treatment, u64)> {
        let mut found: Vec<_> = tally.fields.iter().collect();
        found.sort();
        let named = |(&(number, treatment), &count): (&(usize, Treatment), &u64)| {
            let (layout, field) = &self.plans.names[number];
            (layout.as_str(), field.as_str(), treatment, count)
        };
        found.into_iter().map(named).collect()
    }

    /// Goes through a dump; `each` gets the places of each record and, where it cannot be rewritten, why not.
    fn walk(
        &self,
        path: &Path,
        options: &ReadOptions,
        tally: &mut Tally,
        mut each: impl FnMut(&FrameBatch, &Places, Option<String>, &mut Tally) -> Result<(), RewriteError>,
    ) -> Result<(), RewriteError> {
        let mut reader = SmfReader::open(path, options)?;
        let mut regions = self.decoder.regions(HELD_BYTES);
        while let Some(batch) = reader.next_batch()? {
            let mut rest = Some(batch);
            while let Some(mut batch) = rest.take() {
                let (expanded, later) = self.decoder.expand(&mut batch, EXPANDED_BYTES);
                rest = later;
                let (connections, released) = regions.resolve(&batch, expanded, None);
                for (batch, connections) in released.iter().chain([&(batch, connections)]) {
                    let mut failed = Ok(());
                    self.decoder.places(batch, connections, |places| {
                        if failed.is_ok() && !places.held {
                            let why = self.unknown(batch, places);
                            self.count(batch, places, why.as_deref(), tally);
                            failed = each(batch, places, why, tally);
                        }
                    });
                    failed?;
                }
            }
        }
        for held in regions.finish() {
            *tally.dropped.entry(format!("{}: {}", held.section, held.reason.name())).or_default() += 1;
        }
        let damage = &reader.summary().damage;
        tally.lost_bytes = damage.skipped_bytes();
        Ok(())
    }

    /// What of a record is not known, so that it cannot be rewritten.
    fn unknown(&self, batch: &FrameBatch, places: &Places) -> Option<String> {
        let (start, len) = places.record;
        let view = RecordView(&batch.data[start..start + len]);
        let record_type = view.record_type();
        if places.compressed {
            return Some(format!("type {record_type}: compressed, and cannot be expanded"));
        }
        if places.map.is_some() || (view.is_dump_marker() && self.plans.of(MARKER).is_some()) {
            return None;
        }
        Some(match view.subtype() {
            Some(subtype) => format!("type {record_type}, subtype {subtype}: no layout"),
            None => format!("type {record_type}: no layout"),
        })
    }
}

/// Names of the layouts that rules can be for: those of the sections of record maps.
#[must_use]
pub fn ruled_layouts(catalogue: &Catalogue) -> Vec<String> {
    let entries = catalogue.maps().flat_map(|map| map.entries.iter());
    let mut names: Vec<String> = entries.map(|entry| entry.layout.clone()).collect();
    let connected = catalogue.maps().flat_map(|map| map.entries.iter()).filter(|entry| entry.rule == Rule::Connected);
    names.extend(connected.map(|entry| entry.table.clone()));
    names.push(MARKER.to_owned());
    names.sort();
    names.dedup();
    names
}
