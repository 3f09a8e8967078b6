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

    /// Takes the entries that those found so far point at, their offsets counted from `base` where the record map leaves
    /// open from where. Lists go forward only, so that they end.
    pub fn follow(&self, pass: &mut Pass<'_, '_>, base: Option<Base>) {
        let Place::Entry { parent, offset, length, next, count, relative } = self.place else { return };
        let Some(base) = (if relative { base } else { Some(Base::Record) }) else {
            let detail = "neither from the record's start nor from the pointing entry's do its offsets lead to places \
                          that no other section has";
            return pass.damage_one(&self.one.section, Reason::SectionsOverlap, detail.into());
        };
        let mut number = 0;
        for at in 0..pass.pointing.len() {
            let from = pass.pointing[at];
            if from.index != parent {
                continue;
            }
            let view = pass.record.view;
            let holder = holder(&pass.pointing, at, length.0);
            let size = holder.filter(|holder| length.1 + 2 <= holder.len).and_then(|h| view.u16(h.start + length.1));
            if count.is_some() {
                let Some(span) = self.span(pass, at, base) else { continue };
                self.several(pass, span, at, number);
                number += span.count;
                continue;
            }
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

/// From where offsets of entries count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Record,
    /// The entry that points.
    Entry,
}

impl Base {
    /// From where the offsets count in a record. Documents leave it open for some kinds of record; the offsets of all
    /// entries of a record together tell, since entries are in the record and share no byte with another section.
    /// Where they fit both, it is the entry that points.
    pub fn of(links: &[LinkPlan], pass: &Pass<'_, '_>) -> Option<Self> {
        [Self::Entry, Self::Record].into_iter().find(|&base| {
            let relative = links.iter().filter(|link| matches!(link.place, Place::Entry { relative: true, .. }));
            let led = relative.flat_map(|link| link.led(pass, base));
            let mut places: Vec<(usize, usize)> = led.chain(pass.spans.iter().copied()).collect();
            places.retain(|place| place.1 != 0);
            places.sort_unstable();
            let apart = places.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0);
            apart && places.iter().all(|&(start, len)| start >= 28 && start + len <= pass.record.view.0.len())
        })
    }
}

impl LinkPlan {
    /// The entries that an entry's count, length and offset lead to; `None` where it ends before them.
    fn span(&self, pass: &Pass<'_, '_>, at: usize, base: Base) -> Option<Span> {
        let Place::Entry { offset, length, count: Some(count), .. } = self.place else { return None };
        let from = pass.pointing[at];
        let view = pass.record.view;
        let holder = holder(&pass.pointing, at, length.0).filter(|holder| length.1 + 2 <= holder.len)?;
        let length = usize::from(view.u16(holder.start + length.1)?);
        let place = view.u32(from.start + offset).filter(|_| offset + 4 <= from.len)? as usize;
        let count = view.u16(from.start + count).filter(|_| count + 2 <= from.len).map_or(0, usize::from);
        let start = if base == Base::Entry && place != 0 { from.start } else { 0 };
        Some(Span { offset: start + place, length, count })
    }

    /// Start and bytes of all that entries of the record lead to.
    fn led(&self, pass: &Pass<'_, '_>, base: Base) -> Vec<(usize, usize)> {
        let Place::Entry { parent, .. } = self.place else { return Vec::new() };
        let pointing = (0..pass.pointing.len()).filter(|&at| pass.pointing[at].index == parent);
        let led = pointing.filter_map(|at| self.span(pass, at, base)).filter(|span| span.offset != 0);
        led.map(|span| (span.offset, span.bytes())).collect()
    }

    /// Takes the entries that follow each other where the entry `at` of those that point leads. `before` counts those
    /// that entries before it lead to, whichever layout is for them: so that layouts number their rows alike.
    fn several(&self, pass: &mut Pass<'_, '_>, span: Span, at: usize, before: usize) {
        let one = &self.one;
        let view = pass.record.view;
        let other = one.when.as_ref().is_some_and(|when| !when.allows_length(span.length));
        if span.offset == 0 || span.count == 0 || other {
            return;
        }
        if span.offset < 28 || span.offset > view.0.len() || span.bytes() > view.0.len() - span.offset {
            return pass.damage_one(&one.section, Reason::SectionOutsideRecord, span.outside(view));
        }
        if !pass.applies(one, span.offset, span.length) {
            return;
        }
        if span.length < one.min_len {
            let detail = format!("entries of {} bytes, at least {} expected", span.length, one.min_len);
            return pass.damage_one(&one.section, Reason::SectionTooShort, detail);
        }
        if pass.afford(&[one], span, span.bytes()) {
            for number in 0..span.count {
                pass.take(one, span.offset + number * span.length, span.length, before + number, Some(at));
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
