//! How far the sections of a record reach, by all of its triplets, whether or not their tables are wanted.
//!
//! A spanned record of which a segment in the middle is missing looks whole: only its sections lie further back than it
//! is long. Where they do, nothing behind the first segment is where the triplets say.

use super::super::header::RecordView;
use super::MapPlan;
use super::pass::Span;

/// Where the triplets of RMF, Db2 and MQ begin.
const TRIPLETS: usize = 28;
const TRIPLET: usize = 8;
/// More triplets than any record of these types has.
const MOST_TRIPLETS: usize = 64;

/// End of the section that reaches beyond the end of the record; `None` where all sections lie within it.
pub(crate) fn beyond(view: RecordView<'_>, map: Option<&MapPlan>) -> Option<usize> {
    match view.record_type() {
        70..=79 | 100..=102 | 115 | 116 => beyond_in_sequence(view),
        _ => beyond_in_map(view, map?),
    }
}

fn end_beyond(view: RecordView<'_>, span: Span) -> Option<usize> {
    let end = span.offset.saturating_add(span.bytes());
    (end > view.0.len()).then_some(end)
}

/// Triplets one after the other, up to where the first section begins.
fn beyond_in_sequence(view: RecordView<'_>) -> Option<usize> {
    let mut first = view.0.len();
    let mut at = TRIPLETS;
    while at + TRIPLET <= first.min(TRIPLETS + MOST_TRIPLETS * TRIPLET) {
        let span = Span::read(view, at)?;
        at += TRIPLET;
        if span.offset == 0 || span.count == 0 {
            continue;
        }
        if span.offset < at {
            return None;
        }
        if let Some(end) = end_beyond(view, span) {
            return Some(end);
        }
        first = first.min(span.offset);
    }
    None
}

/// The triplets of which the map knows: of the header, and of the product section.
fn beyond_in_map(view: RecordView<'_>, map: &MapPlan) -> Option<usize> {
    let mut first = view.0.len();
    let mut product = None;
    for triplet in &map.triplets {
        if triplet.at + TRIPLET > first {
            break;
        }
        let span = Span::read(view, triplet.at)?;
        if span.offset < triplet.at + TRIPLET || span.count == 0 {
            continue;
        }
        if let Some(end) = end_beyond(view, span) {
            return Some(end);
        }
        first = first.min(span.offset);
        if triplet.uses.iter().any(|one| one.identifies) {
            product = Some(span);
        }
    }
    let Span { offset: start, length, .. } = product?;
    let packed = map.compressed.and_then(|at| view.u16(start + at)).unwrap_or(0);
    let inner = map.inner.iter().filter(|triplet| packed == 0 && triplet.at + TRIPLET <= length);
    inner
        .filter_map(|triplet| Span::read(view, start + triplet.at))
        .filter(|span| span.offset >= TRIPLETS && span.count != 0)
        .find_map(|span| end_beyond(view, span))
}
