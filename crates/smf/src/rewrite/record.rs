//! One record: from its places to the bytes that take its place.

use crate::cics::CONNECTED;
use crate::decode::{Places, RecordView};
use crate::forms::ebcdic::{BLANK, trim};
use crate::forms::smf_date::{self, SmfDate};
use crate::layout::Section;
use crate::stream::FrameBatch;

use super::fields::{FieldPlan, Step, Treatment};
use super::tally::Tally;
use super::{Changes, MARKER, Rewriter};

/// EBCDIC question mark, in all code pages.
const QUESTION: u8 = 0x6F;
/// TOD clock units of a day.
const DAY: i128 = 86_400_000_000 << 12;

/// A part of a record with its treatment: where it is in the record.
struct Piece<'a> {
    plan: &'a FieldPlan,
    at: usize,
    length: usize,
    treatment: Treatment,
}

impl Rewriter {
    /// The parts of a record that are known. Those that stay come first, so that another layout of the same bytes
    /// has the last word.
    fn pieces<'a>(&'a self, batch: &FrameBatch, places: &'a Places) -> Vec<Piece<'a>> {
        let (start, len) = places.record;
        let record = &batch.data[start..start + len];
        let mut pieces = Vec::new();
        match &places.map {
            Some(map) => {
                for layout in self.headers.get(map).into_iter().flatten() {
                    self.fields(layout, None, &record[..places.header], (0, false), &mut pieces);
                }
            }
            None => {
                if RecordView(record).is_dump_marker() {
                    self.fields(MARKER, None, record, (0, false), &mut pieces);
                }
            }
        }
        for entry in &places.entries {
            let bytes = &batch.data[entry.start..entry.start + entry.len];
            self.fields(
                &entry.section.name,
                Some(&entry.section),
                bytes,
                (entry.start - start, entry.open),
                &mut pieces,
            );
        }
        pieces.sort_by_key(|piece| piece.treatment != Treatment::Keep);
        pieces
    }

    /// The parts of one entry. `own` is the layout as this record has it: a dictionary places fields anew.
    fn fields<'a>(
        &'a self,
        layout: &'a str,
        own: Option<&'a Section>,
        entry: &[u8],
        (base, open): (usize, bool),
        pieces: &mut Vec<Piece<'a>>,
    ) {
        let Some(plans) = self.plans.of(layout) else { return };
        let mut add = |plan: &'a FieldPlan, offset: usize, length: usize, last: bool| {
            let held = entry.len().saturating_sub(offset).min(length);
            if held == 0 || (held < length && !(open && last)) {
                return;
            }
            let steps = plan.steps(entry);
            // A dictionary may give the field another length: a rule for all of it is for that.
            let whole = matches!(steps, [Step { at: 0, length, .. }] if *length == plan.field.length);
            for step in steps {
                let length = if whole { held } else { step.length.min(held.saturating_sub(step.at)) };
                if length != 0 {
                    pieces.push(Piece { plan, at: base + offset + step.at, length, treatment: step.treatment });
                }
            }
        };
        if let Some(section) = own.filter(|section| section.file == CONNECTED) {
            for field in &section.fields {
                if let Some(plan) = plans.of(&field.name) {
                    add(plan, field.offset, field.length, false);
                }
            }
        } else {
            let last = plans.fields.len().saturating_sub(1);
            for (number, plan) in plans.fields.iter().enumerate() {
                add(plan, plan.field.offset, plan.field.length, number == last);
            }
        }
    }

    /// Counts what a record holds.
    pub(super) fn count(&self, batch: &FrameBatch, places: &Places, why: Option<&str>, tally: &mut Tally) {
        if let Some(why) = why {
            *tally.unknown.entry(why.to_owned()).or_default() += 1;
            return;
        }
        tally.records += 1;
        for damage in &places.damage {
            *tally.sections.entry(format!("{}: {}", damage.section, damage.reason.name())).or_default() += 1;
        }
        let (start, len) = places.record;
        let record = &batch.data[start..start + len];
        let mut covered = vec![false; len];
        for &(at, length) in &places.structure {
            covered[at - start..at - start + length].fill(true);
        }
        for piece in self.pieces(batch, places) {
            covered[piece.at..piece.at + piece.length].fill(true);
            let bytes = &record[piece.at..piece.at + piece.length];
            let text = trim(bytes);
            if text.is_empty() {
                continue;
            }
            if piece.treatment != Treatment::Keep || piece.plan.field.format.is_characters() {
                *tally.fields.entry((piece.plan.number, piece.treatment)).or_default() += 1;
            }
            if piece.treatment == Treatment::Name && tally.wants_names {
                let text = self.page.decode(bytes);
                if !tally.names.contains(&text) {
                    tally.names.insert(text);
                }
            }
        }
        let bare = record.iter().zip(&covered).skip(4).filter(|&(&byte, &covered)| byte != 0 && !covered).count();
        if bare != 0 {
            let map = places.map.as_deref().unwrap_or(MARKER);
            *tally.uncovered.entry(map.to_owned()).or_default() += bare as u64;
        }
    }

    /// Writes a record anew into `out`.
    pub(super) fn write(
        &self,
        batch: &FrameBatch,
        places: &Places,
        changes: &Changes,
        out: &mut Vec<u8>,
        tally: &mut Tally,
    ) {
        let (start, len) = places.record;
        let record = &batch.data[start..start + len];
        out.clear();
        out.resize(len, 0);
        out[..4].copy_from_slice(&record[..4]);
        for &(at, length) in &places.structure {
            out[at - start..at - start + length].copy_from_slice(&batch.data[at..at + length]);
        }
        for piece in self.pieces(batch, places) {
            let from = &record[piece.at..piece.at + piece.length];
            let to = &mut out[piece.at..piece.at + piece.length];
            let done = match piece.treatment {
                Treatment::Keep => {
                    to.copy_from_slice(from);
                    true
                }
                Treatment::Blank => {
                    // Blanks stay blanks: an empty field is told from one that is not there.
                    to.fill(0);
                    to.iter_mut().zip(from).filter(|(_, from)| **from == BLANK).for_each(|(to, _)| *to = BLANK);
                    true
                }
                Treatment::Name => self.name(from, to, changes),
                Treatment::Dictionary => {
                    to.copy_from_slice(from);
                    if !self.plans.dictionary.contains(self.page.decode(from).trim()) {
                        to.fill(BLANK);
                        to[0] = QUESTION;
                    }
                    true
                }
                Treatment::Clock => clock(from, to, changes.days),
                Treatment::Day => day(from, to, changes.days),
                Treatment::PrintedDate => self.printed_date(from, to, changes.days),
            };
            if !done && piece.treatment == Treatment::Name {
                tally.unnamed += 1;
            } else if !done {
                tally.unmoved += 1;
            }
        }
    }

    /// Writes a name anew, its padding kept.
    fn name(&self, from: &[u8], to: &mut [u8], changes: &Changes) -> bool {
        to.copy_from_slice(from);
        let length = trim(from).len();
        if length == 0 {
            return true;
        }
        let new = changes.names.get(&self.page.decode(from)).filter(|new| new.chars().count() == length);
        let done = new.is_some_and(|new| self.page.encode(new, &mut to[..length]).is_ok());
        if !done {
            to[..length].fill(0);
        }
        done
    }

    fn printed_date(&self, from: &[u8], to: &mut [u8], days: i32) -> bool {
        to.fill(0);
        if trim(from).is_empty() {
            to.copy_from_slice(from);
            return true;
        }
        let text = self.page.decode(from);
        let number = |at: std::ops::Range<usize>| text.get(at).and_then(|digits| digits.parse::<u32>().ok());
        let moved = (|| {
            let (month, day, year) = (number(0..2)?, number(2..4)?, number(4..8)?);
            let there = smf_date::days_of(i32::try_from(year).ok()?, month, day)? + i64::from(days);
            let (year, month, day) = smf_date::date_of(there)?;
            self.page.encode(&format!("{month:02}{day:02}{year:04}"), to).ok()
        })();
        moved.is_some()
    }
}

/// Moves a TOD clock. An unset one stays unset, and one of the first year a duration: the end of a thread without a begin.
fn clock(from: &[u8], to: &mut [u8], days: i32) -> bool {
    to.fill(0);
    let Some(&bytes) = from.first_chunk::<8>() else { return false };
    let value = u64::from_be_bytes(bytes);
    if i128::from(value) < 366 * DAY {
        to.copy_from_slice(from);
        return true;
    }
    let Ok(moved) = u64::try_from(i128::from(value) + i128::from(days) * DAY) else { return false };
    to[..8].copy_from_slice(&moved.to_be_bytes());
    true
}

/// Moves a date; an unset one stays unset.
fn day(from: &[u8], to: &mut [u8], days: i32) -> bool {
    to.fill(0);
    let Some(&bytes) = from.first_chunk::<4>() else { return false };
    match smf_date::decode(bytes) {
        SmfDate::Empty => true,
        SmfDate::Unreadable => false,
        SmfDate::Days(there) => {
            there.checked_add(days).and_then(|there| smf_date::encode(there).ok()).is_some_and(|bytes| {
                to.copy_from_slice(&bytes);
                true
            })
        }
    }
}
