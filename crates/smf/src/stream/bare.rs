//! Dumps that lost their descriptor words: headers and bodies, one directly after the other.
//!
//! FTP in binary without `quote site rdw` drops the descriptor words, and with them the lengths of the records. Many
//! records still tell their length by themselves: their triplets say where each section ends, and the last one ends
//! where the record does. A boundary is *told* when a sound header (or the end of the file) stands exactly there;
//! otherwise it is *inferred* from where the next header of a known system stands, and reported, since a header-like
//! sequence inside the record could be mistaken for it.
//!
//! Where triplets begin is taken from `layouts/rmf_header_triplets.csv` and the `*_triplets.csv` of MQ; Db2 uses the
//! same place. A test holds the positions to those files.

use super::batch::{Frame, FrameKind};
use super::damage::{DamageLog, DamageReason};
use super::gap::Gap;
use super::header::{DATE, DESCRIPTOR, DUMP_HEADER, DUMP_TRAILER, HEADER, TIME, TYPE, be16, be32, body_is_sound};
use super::resync::{KnownSystems, zeros};
use super::rmf_record::{RMF_TYPES, TRIPLET, TRIPLETS};
use super::scan::{Progress, Tally};

/// Bytes of the standard header without descriptor word.
const BODY: usize = HEADER - DESCRIPTOR;
/// Record types of Db2 and MQ, whose triplets begin where those of RMF do.
const DB2_AND_MQ_TYPES: [u8; 5] = [100, 101, 102, 115, 116];

/// More triplets than any record of these types has.
const MOST_TRIPLETS: usize = 64;

/// Where a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// At this position, as its own triplets say.
    Told(usize),
    /// At this position, since the next header stands there.
    Inferred(usize),
    /// The file ends before the record does; so many bytes are needed.
    Cut(usize),
    /// No header follows within the length that a record may have.
    Nowhere,
    /// More data are needed to tell.
    Short,
}

/// The walk over a file without descriptor words.
#[derive(Debug)]
pub(super) struct BareScanner {
    max_record: usize,
    base: u64,
    pos: usize,
    pub(super) next_no: u64,
    /// The unreadable range that is open.
    gap: Option<Gap>,
    systems: KnownSystems,
    /// Records whose end was inferred.
    pub(super) inferred: u64,
    pub(super) tally: Tally,
}

impl BareScanner {
    pub(super) fn new(max_record: usize) -> Self {
        Self {
            max_record,
            base: 0,
            pos: 0,
            next_no: 1,
            gap: None,
            systems: KnownSystems::default(),
            inferred: 0,
            tally: Tally::default(),
        }
    }

    /// Walks as far as `data` allows. Each record is copied to `out`, behind a descriptor word made for it.
    pub(super) fn run(
        &mut self,
        data: &[u8],
        eof: bool,
        frames: &mut Vec<Frame>,
        out: &mut Vec<u8>,
        log: &mut DamageLog,
    ) -> Progress {
        while self.pos < data.len() {
            let begins = if self.gap.is_some() {
                self.continues_after_gap(data, self.pos)
            } else {
                begins_record(data, self.pos)
            };
            if !begins {
                if data.len() - self.pos < BODY && !eof {
                    return Progress::Short;
                }
                if !self.skip(data, eof) && !eof {
                    return Progress::Short;
                }
                continue;
            }
            self.close_gap(false, log);
            match self.ending(data, eof) {
                Ending::Short => return Progress::Short,
                Ending::Nowhere => {
                    if !self.skip(data, eof) && !eof {
                        return Progress::Short;
                    }
                }
                Ending::Told(end) => self.accept(data, end, frames, out),
                Ending::Inferred(end) => {
                    self.inferred += 1;
                    let place = (self.next_no, self.base + self.pos as u64);
                    let (length, kind) = (end - self.pos, data[self.pos + TYPE - DESCRIPTOR]);
                    log.add(DamageReason::InferredBoundary, place, 0, || {
                        format!("a record of type {kind} is taken to have {length} bytes, up to the next header")
                    });
                    self.accept(data, end, frames, out);
                }
                Ending::Cut(needed) => {
                    let left = data.len() - self.pos;
                    let place = (self.next_no, self.base + self.pos as u64);
                    log.add(DamageReason::CutRecord, place, left as u64, || {
                        format!("{needed} bytes needed, {left} left")
                    });
                    self.next_no += 1;
                    self.pos = data.len();
                }
            }
        }
        if !eof {
            return Progress::Short;
        }
        self.close_gap(true, log);
        Progress::End
    }

    /// Drops what has been walked over.
    pub(super) fn carry(&mut self, data: &[u8], into: &mut Vec<u8>) {
        into.extend_from_slice(&data[self.pos..]);
        self.base += self.pos as u64;
        self.pos = 0;
    }

    /// As [`carry`](Self::carry), within one buffer.
    pub(super) fn carry_down(&mut self, data: &mut Vec<u8>) {
        data.drain(..self.pos);
        self.base += self.pos as u64;
        self.pos = 0;
    }

    fn accept(&mut self, data: &[u8], end: usize, frames: &mut Vec<Frame>, out: &mut Vec<u8>) {
        let body = &data[self.pos..end];
        let start = out.len();
        let len = body.len() + DESCRIPTOR;
        let word = u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes();
        out.extend_from_slice(&[word[0], word[1], 0, 0]);
        out.extend_from_slice(body);
        self.systems.learn(&out[start..]);
        let frame = Frame {
            record_no: self.next_no,
            offset: self.base + self.pos as u64,
            start,
            len,
            file_bytes: (end - self.pos) as u64,
            kind: FrameKind::Whole,
        };
        self.tally.segments += 1;
        self.tally.sound_bytes += body.len() as u64;
        self.tally.record_bytes += body.len() as u64;
        self.tally.count(&out[start..]);
        frames.push(frame);
        self.next_no += 1;
        self.pos = end;
        self.tally.last_end = (self.base + self.pos as u64, 0);
    }

    /// Passes over bytes up to the next header. `false` when that was not found in this buffer.
    fn skip(&mut self, data: &[u8], eof: bool) -> bool {
        if self.gap.is_none() {
            self.gap = Some(Gap::open(self.next_no, self.base + self.pos as u64));
            self.next_no += 1;
        }
        let found = (self.pos + 1..data.len()).find(|&at| self.continues_after_gap(data, at));
        // A header can begin in the last bytes of the buffer.
        let stop = if eof { data.len() } else { data.len().saturating_sub(BODY - 1).max(self.pos) };
        let at = found.unwrap_or(stop);
        if let Some(gap) = &mut self.gap {
            gap.pass(&data[self.pos..at]);
        }
        self.pos = at;
        found.is_some()
    }

    fn close_gap(&mut self, at_end: bool, log: &mut DamageLog) {
        if let Some(gap) = self.gap.take() {
            let length = self.base + self.pos as u64 - gap.offset;
            if gap.close(length, at_end, log) {
                self.next_no += 1;
            }
        }
    }

    /// Whether a header of a system seen before (of any, if none was) stands at `at`.
    fn continues_after_gap(&self, data: &[u8], at: usize) -> bool {
        begins_record(data, at) && (self.systems.is_empty() || self.systems.knows_body(&data[at..]))
    }

    fn ending(&self, data: &[u8], eof: bool) -> Ending {
        let least = match least_length(&data[self.pos..], self.max_record) {
            Length::AtLeast(least) => Some(least),
            Length::Unknown => None,
            Length::Short if eof => None,
            Length::Short => return Ending::Short,
        };
        if let Some(least) = least {
            let end = self.pos + least;
            if end > data.len() {
                return if eof { Ending::Cut(least) } else { Ending::Short };
            }
            if end + BODY > data.len() && !eof {
                return Ending::Short;
            }
            // Behind the last record zeros may pad the file.
            let rest = &data[end..];
            if begins_record(data, end) || (eof && zeros(rest) == rest.len()) {
                return Ending::Told(end);
            }
        }
        let from = self.pos + least.unwrap_or(BODY);
        let limit = self.pos + self.max_record;
        let next = (from..data.len().min(limit)).find(|&at| self.continues_after_gap(data, at));
        if let Some(end) = next {
            return Ending::Inferred(end);
        }
        if !eof && data.len() <= limit {
            return Ending::Short;
        }
        if data.len() > limit { Ending::Nowhere } else { Ending::Inferred(data.len()) }
    }
}

/// Whether a sound header without descriptor word stands at `at`.
pub(super) fn begins_record(data: &[u8], at: usize) -> bool {
    data.len() >= at + BODY
        && data[at + TIME - DESCRIPTOR] == 0
        && data[at + DATE - DESCRIPTOR] <= 1
        && body_is_sound(&data[at..])
}

enum Length {
    AtLeast(usize),
    Unknown,
    Short,
}

/// How many bytes the record that `body` begins with has at least, by its own triplets.
fn least_length(body: &[u8], max_record: usize) -> Length {
    // Positions count from the start of the record with descriptor word, `body` begins behind it.
    let kind = body[TYPE - DESCRIPTOR];
    if kind == DUMP_HEADER || kind == DUMP_TRAILER {
        return Length::AtLeast(BODY);
    }
    if !RMF_TYPES.contains(&kind) && !DB2_AND_MQ_TYPES.contains(&kind) {
        return Length::Unknown;
    }
    let mut at = TRIPLETS - DESCRIPTOR;
    let mut table_end = usize::MAX;
    let mut end = 0;
    while at + TRIPLET <= table_end {
        if at + TRIPLET > body.len() {
            return Length::Short;
        }
        let offset = be32(body, at) as usize;
        let length = usize::from(be16(body, at + 4));
        let count = usize::from(be16(body, at + 6));
        if offset != 0 && count != 0 {
            if offset < TRIPLETS + TRIPLET || offset > max_record || length == 0 {
                return Length::Unknown;
            }
            table_end = table_end.min(offset - DESCRIPTOR);
            end = end.max(offset - DESCRIPTOR + length * count);
        }
        at += TRIPLET;
        if at > MOST_TRIPLETS * TRIPLET {
            return Length::Unknown;
        }
    }
    if end <= max_record { Length::AtLeast(end) } else { Length::Unknown }
}
