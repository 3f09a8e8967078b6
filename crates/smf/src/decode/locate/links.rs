//! Entries that an entry of another section points at.

use crate::layout::{Catalogue, Place, RecordMap};

use super::super::report::Reason;
use super::Use;
use super::pass::{Pass, Pointing, Span};

/// A row of a record map whose entries another row's entries point at.
#[derive(Debug, Clone)]
pub(super) struct LinkPlan {
    pub one: Use,
    pub place: Place,
}

impl LinkPlan {
    /// Whether entries of a row of the map lead to others, or hold their lengths.
    pub fn points(catalogue: &Catalogue, map: &RecordMap, index: usize) -> bool {
        map.entries.iter().any(|entry| match catalogue.place(map, entry) {
            Some(Place::Entry { parent, length, .. }) => parent == index || length.0 == index,
            _ => false,
        })
    }

    /// Takes the entries that those found so far point at. Lists go forward only, so that they end.
    pub fn follow(&self, pass: &mut Pass<'_, '_>) {
        let Place::Entry { parent, offset, length, next } = self.place else { return };
        let mut number = 0;
        for at in 0..pass.pointing.len() {
            let from = pass.pointing[at];
            if from.index != parent {
                continue;
            }
            let view = pass.record.view;
            let holder = holder(&pass.pointing, at, length.0);
            let size = holder.filter(|holder| length.1 + 2 <= holder.len).and_then(|h| view.u16(h.start + length.1));
            let place = view.u32(from.start + offset).filter(|_| offset + 4 <= from.len);
            let (Some(size), Some(mut place)) = (size.map(usize::from), place) else { continue };
            while place != 0 {
                let span = Span { offset: place as usize, length: size, count: 1 };
                if span.offset < 28 || span.offset + size > view.0.len() {
                    pass.damage_one(&self.one.section, Reason::SectionOutsideRecord, span.outside(view));
                    break;
                }
                if size < self.one.min_len {
                    let detail = format!("an entry of {size} bytes, at least {} expected", self.one.min_len);
                    pass.damage_one(&self.one.section, Reason::SectionTooShort, detail);
                    break;
                }
                if !pass.afford(&[&self.one], span, size) {
                    break;
                }
                let of = if next.is_some() { number } else { from.number };
                pass.take(&self.one, span.offset, size, of, Some(at));
                number += 1;
                let Some(next) = next.filter(|next| next + 4 <= size) else { break };
                let following = view.u32(span.offset + next).unwrap_or(0);
                if following != 0 && following <= place {
                    let detail = format!("the entry at {place} leads back to {following}");
                    pass.damage_one(&self.one.section, Reason::ChainBroken, detail);
                    break;
                }
                place = following;
            }
        }
    }
}

/// The entry that holds the length: the pointing one itself, or one that led to it.
fn holder(pointing: &[Pointing], at: usize, index: usize) -> Option<Pointing> {
    let mut at = Some(at);
    while let Some(one) = at.and_then(|at| pointing.get(at)) {
        if one.index == index {
            return Some(*one);
        }
        at = one.from;
    }
    None
}
