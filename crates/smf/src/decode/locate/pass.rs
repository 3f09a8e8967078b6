//! The work on one record: entries found and checked, by the rules of the record map.

use crate::layout::{ArrayRule, Rule};

use super::super::column::Row;
use super::super::header::RecordView;
use super::super::report::{Reason, SectionDamage};
use super::{Described, Located, Looks, MapPlan, RecordPlace, Use, When};

/// Most entries of one-byte lengths: they may be empty, so the record's length does not bound them.
const MOST_COUNTED: usize = 256;

/// A triplet's three numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub offset: usize,
    pub length: usize,
    pub count: usize,
}

impl Span {
    /// The triplet at a place of the record; `None` where the record ends before it does.
    pub fn read(view: RecordView<'_>, at: usize) -> Option<Self> {
        let (offset, length, count) = (view.u32(at)?, view.u16(at + 4)?, view.u16(at + 6)?);
        Some(Self { offset: offset as usize, length: length.into(), count: count.into() })
    }

    /// Bytes of all entries: at most 65535 * 65535.
    pub fn bytes(self) -> usize {
        self.length * self.count
    }

    pub fn outside(self, view: RecordView<'_>) -> String {
        let Self { offset, length, count } = self;
        format!("offset {offset}, length {length}, count {count} in a record of {} bytes", view.0.len())
    }
}

/// An entry that points at others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pointing {
    /// Its row in the record map.
    pub index: usize,
    pub start: usize,
    pub len: usize,
    /// Entries of its kind before it in the record.
    pub number: usize,
    /// The entry that pointed at it, in [`Pass::pointing`].
    pub from: Option<usize>,
}

/// The work on one record.
pub(super) struct Pass<'a, 'b> {
    pub plan: &'a MapPlan,
    pub found: &'a mut Located,
    pub record: &'a RecordPlace<'b>,
    /// Bytes that sections may still take before some must overlap.
    left: usize,
    /// Damage that was found before this record.
    before: usize,
    /// Entry that identifies the record: start and length.
    pub identified: Option<(usize, usize)>,
    pub pointing: Vec<Pointing>,
    /// Where sections of triplets are: start and bytes. Kept where a map has entries of which it is open from where
    /// their offsets count.
    pub spans: Vec<(usize, usize)>,
    /// As in [`LocatedRecord`](super::LocatedRecord).
    pub connected: Option<(usize, u64, usize)>,
}

impl<'a, 'b> Pass<'a, 'b> {
    pub fn new(plan: &'a MapPlan, found: &'a mut Located, record: &'a RecordPlace<'b>) -> Self {
        let left = record.view.0.len();
        let before = found.damage.len();
        Self {
            plan,
            found,
            record,
            left,
            before,
            identified: None,
            pointing: Vec::new(),
            spans: Vec::new(),
            connected: None,
        }
    }

    pub fn damage_one(&mut self, section: &str, reason: Reason, detail: String) {
        let mut told = self.found.damage[self.before..].iter_mut();
        if let Some(other) = told.find(|other| other.reason == reason && other.section == section) {
            other.repeats += 1;
            return;
        }
        self.found.damage.push(SectionDamage {
            record_no: self.record.record_no,
            offset: self.record.offset,
            section: section.into(),
            reason,
            detail,
            repeats: 0,
        });
    }

    pub fn damage<'u>(&mut self, uses: impl IntoIterator<Item = &'u &'u Use>, reason: Reason, detail: String) {
        for one in uses {
            self.damage_one(&one.section, reason, detail.clone());
        }
    }

    /// Entries of a use's table that the record gave so far.
    fn before(&self, one: &Use) -> usize {
        let last = one.table.and_then(|(table, _)| self.found.rows[table].last());
        last.filter(|row| row.record == self.record.record).map_or(0, |row| row.section_no as usize)
    }

    /// Takes an entry, whose place in the record has been checked, for a use. `number` counts those before it.
    pub fn take(&mut self, one: &Use, start: usize, len: usize, number: usize, from: Option<usize>) {
        if one.identifies && self.identified.is_none() {
            self.identified = Some((start, len));
        }
        if one.points {
            self.pointing.push(Pointing { index: one.index, start, len, number, from });
        }
        if let Some((table, variant)) = one.table {
            self.push(table, variant, start, len, number);
        }
    }

    fn push(&mut self, table: usize, variant: u16, start: usize, len: usize, number: usize) {
        let start = self.record.base + start;
        let section_no = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let record = self.record.record;
        self.found.row_count += 1;
        self.found.rows[table].push(Row { start, len: len as u32, section_no, record, variant });
    }

    /// Whether the record has that many bytes left for sections that do not overlap.
    pub fn afford(&mut self, uses: &[&Use], span: Span, bytes: usize) -> bool {
        let affordable = bytes <= self.left;
        if affordable {
            self.left -= bytes;
            if self.plan.keeps_spans() {
                self.spans.push((span.offset, bytes));
            }
        } else {
            self.damage(uses, Reason::SectionsOverlap, span.outside(self.record.view));
        }
        affordable
    }

    /// Notes bytes that lead from entry to entry.
    pub fn leads(&mut self, start: usize, len: usize) {
        let base = self.record.base;
        if let Some(structure) = &mut self.found.structure {
            structure.push((base + start, len));
        }
    }

    fn bytes(&self, start: usize, len: usize) -> &'b [u8] {
        self.record.view.0.get(start..start + len).unwrap_or(&[])
    }

    /// Whether a use is for an entry.
    pub fn applies(&self, one: &Use, start: usize, len: usize) -> bool {
        let Some(when) = &one.when else { return true };
        let product = self.identified.map_or(&[][..], |(start, len)| self.bytes(start, len));
        when.allows(self.bytes(start, len), product)
    }

    /// Entries one after the other, each of the triplet's length.
    pub fn entries(&mut self, uses: &[&Use], span: Span) {
        if span.bytes() > self.record.view.0.len() - span.offset {
            return self.damage(uses, Reason::SectionOutsideRecord, span.outside(self.record.view));
        }
        if !self.afford(uses, span, span.bytes()) {
            return;
        }
        // All entries are alike in length and product section.
        let by_field = |one: &Use| matches!(one.when, Some(When { what: Looks::Entry(..), .. }));
        let uses: Vec<&Use> =
            uses.iter().copied().filter(|one| by_field(one) || self.applies(one, span.offset, span.length)).collect();
        let mut plain = Vec::new();
        for one in uses {
            if let Some(array) = one.rule.array() {
                self.elements(one, array, span, 0);
            } else if span.length < one.min_len {
                let detail = format!("entries of {} bytes, at least {} expected", span.length, one.min_len);
                self.damage_one(&one.section, Reason::SectionTooShort, detail);
            } else {
                plain.push((one, self.before(one)));
            }
        }
        for number in 0..span.count {
            let start = span.offset + number * span.length;
            for &(one, before) in &plain {
                if !by_field(one) || self.applies(one, start, span.length) {
                    self.take(one, start, span.length, before + number, None);
                }
            }
        }
    }

    /// Elements of an array in each entry. Those of binary zeros are unused. `entries` are those before these.
    fn elements(&mut self, one: &Use, array: ArrayRule, span: Span, entries: usize) {
        let elements = array.elements(span.length);
        let length = usize::from(array.length);
        let Some((table, variant)) = one.table else { return };
        for entry in 0..span.count {
            let start = span.offset + entry * span.length;
            if !self.applies(one, start, span.length) {
                continue;
            }
            for element in 0..elements {
                let at = start + usize::from(array.offset) + element * length;
                if self.bytes(at, length).iter().any(|&byte| byte != 0) {
                    self.push(table, variant, at, length, (entries + entry) * elements + element);
                }
            }
        }
    }

    /// Entries each after its own length, of `prefix` bytes, which does not count itself.
    pub fn varying(&mut self, uses: &[&Use], span: Span, prefix: usize) {
        let view = self.record.view;
        if prefix == 1 && span.count > MOST_COUNTED {
            let detail = format!("{} entries, at most {MOST_COUNTED} expected", span.count);
            return self.damage(uses, Reason::ChainBroken, detail);
        }
        let before: Vec<usize> = uses.iter().map(|one| self.before(one)).collect();
        let mut at = span.offset;
        for number in 0..span.count {
            let len = match prefix {
                1 => view.0.get(at).map(|&len| usize::from(len)),
                _ => view.u16(at).map(usize::from),
            };
            let Some(len) = len.filter(|len| at + prefix + len <= view.0.len()) else {
                let detail = format!("entry {} of {} at {at} leads outside the record", number + 1, span.count);
                return self.damage(uses, Reason::ChainBroken, detail);
            };
            if !self.afford(uses, span, prefix + len) {
                return;
            }
            self.leads(at, prefix);
            let start = at + prefix;
            for (one, before) in uses.iter().zip(&before) {
                if !self.applies(one, start, len) {
                    continue;
                }
                if let Some(array) = one.rule.array() {
                    self.elements(one, array, Span { offset: start, length: len, count: 1 }, number);
                } else if len < one.min_len {
                    let detail = format!("entry {} has {len} bytes, at least {} expected", number + 1, one.min_len);
                    self.damage_one(&one.section, Reason::SectionTooShort, detail);
                } else {
                    self.take(one, start, len, before + number, None);
                }
            }
            at = start + len;
        }
    }

    /// Statistics: entries of many kinds, each beginning with its u16 length, which counts itself, and u16 identifier.
    pub fn tagged(&mut self, uses: &[&Use], map: &str, span: Span) {
        let view = self.record.view;
        let Some(region) = view.0.get(span.offset..).and_then(|rest| rest.get(..span.bytes())) else {
            return self.damage(uses, Reason::SectionOutsideRecord, span.outside(view));
        };
        if !self.afford(uses, span, span.bytes()) {
            return;
        }
        let region = RecordView(region);
        let mut of_kind = std::collections::BTreeMap::<u16, usize>::new();
        let mut at = 0;
        while at < region.0.len() {
            let length = region.u16(at).map(usize::from).filter(|len| *len >= 5 && at + len <= region.0.len());
            let (Some(length), Some(id)) = (length, region.u16(at + 2)) else {
                let detail = format!("the entry at {at} of the data section leads outside it");
                return self.damage(uses, Reason::ChainBroken, detail);
            };
            let number = of_kind.entry(id).or_default();
            let before = *number;
            *number += 1;
            let start = span.offset + at;
            self.leads(start, 4);
            let mut known = false;
            for one in uses.iter().filter(|one| matches!(one.rule, Rule::Tagged(wanted, _) if wanted == id)) {
                known = true;
                if !self.applies(one, start, length) {
                    continue;
                }
                if let Some(array) = one.rule.array() {
                    self.elements(one, array, Span { offset: start, length, count: 1 }, before);
                } else if length < one.min_len {
                    let detail = format!("an entry of {length} bytes, at least {} expected", one.min_len);
                    self.damage_one(&one.section, Reason::SectionTooShort, detail);
                } else {
                    self.take(one, start, length, before, None);
                }
            }
            if !known && !self.plan.uses().any(|one| matches!(one.rule, Rule::Tagged(other, _) if other == id)) {
                *self.found.unmapped.entry((map.to_owned(), id)).or_default() += 1;
            }
            at += length;
        }
    }

    /// Data that a dictionary describes: entries of the triplet's length.
    pub fn connected(&mut self, uses: &[&Use], span: Span) {
        let layout = match self.record.described {
            Described::As(layout) => layout,
            Described::Held => return,
            Described::Lost(reason, detail) => return self.damage(uses, reason, detail.to_owned()),
        };
        if span.bytes() > self.record.view.0.len() - span.offset {
            return self.damage(uses, Reason::SectionOutsideRecord, span.outside(self.record.view));
        }
        if !self.afford(uses, span, span.bytes()) {
            return;
        }
        for one in uses {
            let before = self.before(one);
            let Some((table, first)) = one.table else { continue };
            let variant = u16::try_from(usize::from(first) + layout).unwrap_or(u16::MAX);
            for number in 0..span.count {
                self.push(table, variant, span.offset + number * span.length, span.length, before + number);
            }
            let last = self.record.base + span.offset + (span.count - 1) * span.length;
            self.connected = Some((layout, span.count as u64, last));
        }
    }

    /// Headers of a Db2 or MQ product section: each begins with its u16 length and u8 type.
    pub fn chain(&mut self, uses: &[&Use], span: Span) {
        let view = self.record.view;
        let Some(region) = view.0.get(span.offset..).and_then(|rest| rest.get(..span.bytes())) else {
            return self.damage(uses, Reason::SectionOutsideRecord, span.outside(view));
        };
        if !self.afford(uses, span, span.bytes()) {
            return;
        }
        let region = RecordView(region);
        let mut at = 0;
        while region.0[at..].iter().any(|&byte| byte != 0) {
            let length = region.u16(at).map(usize::from).filter(|&length| length >= 4 && at + length <= region.0.len());
            let (Some(length), Some(&kind)) = (length, region.0.get(at + 2)) else {
                let detail = format!("the header at {at} of the product section leads outside it");
                return self.damage(uses, Reason::ChainBroken, detail);
            };
            self.leads(span.offset + at, 3);
            for one in uses {
                let wanted = match one.rule {
                    Rule::Chain(wanted) => wanted == kind,
                    _ => at == 0,
                };
                if wanted && length >= one.min_len {
                    let before = self.before(one);
                    self.take(one, span.offset + at, length, before, None);
                } else if wanted {
                    let detail = format!("a header of {length} bytes, at least {} expected", one.min_len);
                    self.damage_one(&one.section, Reason::SectionTooShort, detail);
                }
            }
            at += length;
        }
    }
}
