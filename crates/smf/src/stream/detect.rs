//! The form of a file, told by trying each over its first records.

use super::bare::{BareScanner, begins_record};
use super::damage::{DamageLog, DamageReason};
use super::header::{DESCRIPTOR, TYPE};
use super::options::Form;
use super::scan::Scanner;
use std::cmp::Reverse;

/// What the start of a file shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detected {
    /// Records of this form.
    Form(Form),
    /// Records without descriptor words, of which this one does not tell its length.
    DescriptorsLost { record_no: u64, offset: u64, record_type: u8 },
    /// No record.
    Nothing,
}

/// The form that makes most of `head` into records with sound headers, if any does.
///
/// Forms that do equally well are told apart by what they find wrong, and then by how common they are.
pub(super) fn detect(head: &[u8], eof: bool, max_record: usize) -> Detected {
    // Header after header without descriptor words is not a coincidence; look for nothing else then, since such a
    // header can be preceded by bytes that pass for a descriptor word.
    if begins_record(head, 0) {
        let bare = without_descriptors(head, eof, max_record);
        // A dump that lost its beginning can begin with a header: its other records have their descriptor words.
        return match (bare, with_descriptors(head, eof, max_record)) {
            (Detected::DescriptorsLost { .. }, Some((form, sound))) if sound * 2 > head.len() as u64 => {
                Detected::Form(form)
            }
            _ => bare,
        };
    }
    with_descriptors(head, eof, max_record).map_or(Detected::Nothing, |(form, _)| Detected::Form(form))
}

/// The form with descriptor words that makes most of `head` into records, and of how many bytes.
fn with_descriptors(head: &[u8], eof: bool, max_record: usize) -> Option<(Form, u64)> {
    let described = [Form::Bdw, Form::Rdw]
        .into_iter()
        .map(|form| {
            let mut scanner = Scanner::new(form, max_record);
            let mut log = DamageLog::new(0);
            scanner.run(&mut head.to_vec(), eof, &mut Vec::new(), &mut log);
            ((scanner.tally.sound_bytes, Reverse(log.total())), form)
        })
        .filter(|((sound, _), _)| *sound > 0)
        .max_by_key(|&(score, _)| score);
    described.map(|((sound, _), form)| (form, sound))
}

fn without_descriptors(head: &[u8], eof: bool, max_record: usize) -> Detected {
    let mut scanner = BareScanner::new(max_record);
    let mut log = DamageLog::new(1);
    scanner.run(head, eof, &mut Vec::new(), &mut Vec::new(), &mut log);
    let doubtful = log.entries().first().filter(|damage| damage.reason == DamageReason::InferredBoundary);
    if let Some(damage) = doubtful {
        let at = usize::try_from(damage.offset).unwrap_or(0);
        return Detected::DescriptorsLost {
            record_no: damage.record_no,
            offset: damage.offset,
            record_type: head[at + TYPE - DESCRIPTOR],
        };
    }
    if scanner.tally.records == 0 && log.is_empty() {
        // A single record longer than the head; its type is all that can be said of it.
        return Detected::DescriptorsLost { record_no: 1, offset: 0, record_type: head[TYPE - DESCRIPTOR] };
    }
    Detected::Form(Form::NoDescriptors)
}
