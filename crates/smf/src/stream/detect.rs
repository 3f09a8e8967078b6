//! The form of a file, told by trying each over its first records.

use super::damage::DamageLog;
use super::options::Form;
use super::scan::Scanner;

/// The form that makes most of `head` into records with sound headers, if any does.
///
/// Forms that do equally well are told apart by what they find wrong, and then by how common they are.
pub(super) fn detect(head: &[u8], eof: bool, max_record: usize) -> Option<Form> {
    [Form::Rdw, Form::Bdw]
        .into_iter()
        .rev()
        .map(|form| {
            let mut scanner = Scanner::new(form, max_record);
            let mut log = DamageLog::new(0);
            scanner.run(&mut head.to_vec(), eof, &mut Vec::new(), &mut log);
            (
                scanner.tally.sound_bytes,
                std::cmp::Reverse(log.total()),
                form,
            )
        })
        .filter(|&(sound, _, _)| sound > 0)
        .max_by_key(|&(sound, damage, _)| (sound, damage))
        .map(|(_, _, form)| form)
}
