//! The two walks over a file, with descriptor words and without, behind one face.

use super::bare::BareScanner;
use super::batch::Frame;
use super::damage::DamageLog;
use super::options::Form;
use super::part::{Part, Place};
use super::scan::{Progress, Scanner, Tally};

#[derive(Debug)]
pub(super) enum Walk {
    Described(Scanner),
    Bare(BareScanner),
}

impl Walk {
    pub(super) fn new(form: Form, max_record: usize) -> Self {
        match form {
            Form::Rdw | Form::Bdw => Self::Described(Scanner::new(form, max_record)),
            Form::NoDescriptors => Self::Bare(BareScanner::new(max_record)),
        }
    }

    /// A walk of part of a file, which has descriptor words.
    pub(super) fn of_part(part: &Part, max_record: usize) -> Self {
        Self::Described(Scanner::of_part(part.form, max_record, part.from, part.until))
    }

    /// The last place at which no record was open, behind all records handed on; `None` if damage lies beside it, or
    /// there are no descriptor words.
    pub(super) fn clean(&self) -> Option<Place> {
        match self {
            Self::Described(scanner) => scanner.clean,
            Self::Bare(_) => None,
        }
    }

    /// Walks as far as `data` allows. Records lie in `data` up to [`kept`](Self::kept), and behind that in `out`.
    pub(super) fn run(
        &mut self,
        data: &mut [u8],
        eof: bool,
        frames: &mut Vec<Frame>,
        out: &mut Vec<u8>,
        log: &mut DamageLog,
    ) -> Progress {
        match self {
            Self::Described(scanner) => scanner.run(data, eof, frames, log),
            Self::Bare(scanner) => scanner.run(data, eof, frames, out, log),
        }
    }

    /// How many bytes at the front of the buffer a batch keeps.
    pub(super) fn kept(&self) -> usize {
        match self {
            Self::Described(scanner) => scanner.consumed(),
            Self::Bare(_) => 0,
        }
    }

    /// Moves what is still needed of `data` to `into`, which is empty.
    pub(super) fn carry(&mut self, data: &[u8], into: &mut Vec<u8>) {
        match self {
            Self::Described(scanner) => scanner.carry(data, into),
            Self::Bare(scanner) => scanner.carry(data, into),
        }
    }

    /// As [`carry`](Self::carry), within one buffer.
    pub(super) fn carry_down(&mut self, data: &mut Vec<u8>) {
        match self {
            Self::Described(scanner) => scanner.carry_down(data),
            Self::Bare(scanner) => scanner.carry_down(data),
        }
    }

    /// The number that the next record will bear.
    pub(super) fn next_no(&self) -> u64 {
        match self {
            Self::Described(scanner) => scanner.next_no,
            Self::Bare(scanner) => scanner.next_no,
        }
    }

    pub(super) fn tally(&self) -> Tally {
        match self {
            Self::Described(scanner) => scanner.tally,
            Self::Bare(scanner) => scanner.tally,
        }
    }
}
