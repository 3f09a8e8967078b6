//! Records without triplets: their part at fixed places, and entries that single fields of it place.

use crate::layout::Computed;

use super::super::report::Reason;
use super::pass::{Pass, Span};
use super::{Use, wanted};

/// Bytes of a record before which no section can begin: the standard header.
const HEADER: usize = 18;

/// Entries that single fields place, with their uses.
#[derive(Debug, Clone)]
pub(super) struct PlacedPlan {
    place: Computed,
    pub uses: Vec<Use>,
}

impl PlacedPlan {
    pub fn add(plans: &mut Vec<Self>, place: Computed, one: Use) {
        match plans.iter_mut().find(|plan| plan.place == place) {
            Some(plan) => plan.uses.push(one),
            None => plans.push(Self { place, uses: vec![one] }),
        }
    }

    /// Takes the entries of a record. Gives where they begin; `None` where nothing says that they are in the record.
    pub fn follow(&self, pass: &mut Pass<'_, '_>) -> Option<usize> {
        let record = pass.record.view.0;
        let number = |(at, len): (usize, usize)| {
            let bytes = record.get(at..at + len)?;
            Some(bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
        };
        // An older release may end before these fields.
        let (offset, count) = (number(self.place.offset)?, number(self.place.count)?);
        let length = self.place.length.map_or(Some(0), number)?;
        if offset == 0 {
            return None;
        }
        let span = Span { offset: offset + usize::from(self.place.rule.base), length, count };
        let uses = wanted(&self.uses);
        if span.offset < self.place.end().max(HEADER) || span.offset > record.len() {
            if count != 0 {
                pass.damage(&uses, Reason::SectionOutsideRecord, span.outside(pass.record.view));
            }
            return None;
        }
        match self.place.rule.lead {
            _ if count == 0 || uses.is_empty() => {}
            0 => pass.entries(&uses, span),
            lead => pass.led(&uses, span, lead.into()),
        }
        Some(span.offset)
    }
}

impl Pass<'_, '_> {
    /// The part of the record before its first section.
    pub fn fixed(&mut self, one: &Use, end: usize) {
        if end < one.min_len.max(HEADER) {
            let detail = format!("a record of {end} bytes before its sections, at least {} expected", one.min_len);
            return self.damage_one(&one.section, Reason::SectionTooShort, detail);
        }
        self.take(one, 0, end, 0, None);
    }

    /// Entries that each begin with a type and the length of the data behind it, `lead` bytes each.
    fn led(&mut self, uses: &[&Use], span: Span, lead: usize) {
        let record = self.record.view.0;
        let mut at = span.offset;
        for number in 0..span.count {
            let data = record.get(at + lead..at + 2 * lead);
            let data = data.map(|bytes| bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)));
            let Some(len) = data.map(|data| 2 * lead + data).filter(|len| at + len <= record.len()) else {
                let detail = format!("entry {} of {} at {at} leads outside the record", number + 1, span.count);
                return self.damage(uses, Reason::ChainBroken, detail);
            };
            if !self.afford(uses, span, len) {
                return;
            }
            self.leads(at, 2 * lead);
            for one in uses {
                if self.applies(one, at, len) {
                    self.take(one, at, len, number, None);
                }
            }
            at += len;
        }
    }
}
