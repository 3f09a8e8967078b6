//! Framing: the walk from segment to segment, through damage.
//!
//! A segment is accepted when what stands at its end bears it out. If nothing does, either its own length is wrong
//! (then another record begins inside it) or what follows is damaged (then it is accepted, and the walk resumes at
//! the next plausible record).

use super::batch::{Frame, FrameKind};
use super::damage::{DamageLog, DamageReason};
use super::gap::Gap;
use super::header::{DESCRIPTOR, DUMP_HEADER, DUMP_TRAILER, HEADER, SegmentCode, TYPE};
use super::options::Form;
use super::part::Place;
use super::resync::{Search, find_record, hidden_record};
use super::rmf_record::{RMF_TYPES, is_broken};
use super::site::{Evidence, Segment, Site, Verdict, View};
use super::span::Span;

/// What the walk has counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub segments: u64,
    pub records: u64,
    pub spanned: u64,
    pub dump_headers: u64,
    pub dump_trailers: u64,
    /// Records that say of themselves that RMF split them.
    pub broken: u64,
    /// Bytes of records whose header is sound: the measure by which forms are compared.
    pub sound_bytes: u64,
    /// Bytes of the file that records were made of, their descriptor words included.
    pub record_bytes: u64,
    /// Bytes of block descriptor words.
    pub block_bytes: u64,
    /// File offset at which the last record ends, and [`block_bytes`](Self::block_bytes) up to there.
    pub last_end: (u64, u64),
}

impl Tally {
    /// Counts a finished record.
    pub(super) fn count(&mut self, record: &[u8]) {
        self.records += 1;
        match record[TYPE] {
            DUMP_HEADER => self.dump_headers += 1,
            DUMP_TRAILER => self.dump_trailers += 1,
            kind if RMF_TYPES.contains(&kind) && is_broken(record) => self.broken += 1,
            _ => {}
        }
    }
}

/// A run of middle and last segments without the first.
#[derive(Debug)]
struct Orphans {
    record_no: u64,
    offset: u64,
    segments: u64,
    raw: u64,
}

/// Whether the walk can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More data are needed.
    Short,
    /// The file has been read to its end.
    End,
}

/// The state of the walk between two buffers.
#[derive(Debug)]
pub(super) struct Scanner {
    form: Form,
    max_record: usize,
    /// File offset of the first byte of the buffer.
    base: u64,
    /// Where the walk stands in the buffer.
    pos: usize,
    block_end: Option<u64>,
    pub(super) next_no: u64,
    span: Option<Span>,
    orphans: Option<Orphans>,
    gap: Option<Gap>,
    /// File offset at which the walk ends, between two records.
    stop: Option<u64>,
    /// The last place at which no record was open; `None` if damage lies beside it: what follows may share its entry.
    pub(super) clean: Option<Place>,
    pub(super) tally: Tally,
}

impl Scanner {
    pub(super) fn new(form: Form, max_record: usize) -> Self {
        Self {
            form,
            max_record,
            base: 0,
            pos: 0,
            block_end: (form == Form::Bdw).then_some(0),
            next_no: 1,
            span: None,
            orphans: None,
            gap: None,
            stop: None,
            clean: None,
            tally: Tally::default(),
        }
    }

    /// A walk of part of a file: from a place of the walk of the whole up to the offset of another one.
    pub(super) fn of_part(form: Form, max_record: usize, from: Place, stop: Option<u64>) -> Self {
        let Place { offset, record_no, block_end } = from;
        Self { base: offset, next_no: record_no, block_end, stop, ..Self::new(form, max_record) }
    }

    /// Walks as far as `data` allows and appends the records found to `frames`.
    pub(super) fn run(&mut self, data: &mut [u8], eof: bool, frames: &mut Vec<Frame>, log: &mut DamageLog) -> Progress {
        let mut ahead = None;
        loop {
            let view = View { data, base: self.base, eof, form: self.form };
            if self.gap.is_some() {
                match find_record(&view, self.pos, data.len(), self.block_end) {
                    Search::Found(at, segment) => {
                        // Where the buffer ends before the segment is judged, the same is read at `at` once more.
                        let block_word = segment.start > at;
                        let in_force = self.block_end.filter(|&end| self.offset(at) < end);
                        self.close_gap(data, at, false, log);
                        self.block_end = if block_word { Some(self.offset(at)) } else { in_force };
                        ahead = Some(Site::Segment(segment));
                    }
                    Search::Short(at) => {
                        self.pass_over_gap(data, at);
                        return Progress::Short;
                    }
                    Search::Nothing if eof => {
                        self.close_gap(data, data.len(), true, log);
                        return self.end(log);
                    }
                    Search::Nothing => {
                        self.pass_over_gap(data, data.len());
                        return Progress::Short;
                    }
                }
            }
            // A walk that meets this place with another buffer judges the same.
            if self.span.is_none() && self.orphans.is_none() {
                let offset = self.offset(self.pos);
                let place = Place { offset, record_no: self.next_no, block_end: self.block_end };
                let is_apart = |record_no: u64| record_no + 1 < place.record_no;
                self.clean = log.last_record().is_none_or(is_apart).then_some(place);
                if self.stop.is_some_and(|stop| offset >= stop) {
                    return Progress::End;
                }
            }
            let site = ahead.take().unwrap_or_else(|| view.site(self.pos, self.block_end));
            let segment = match site {
                Site::Short => return Progress::Short,
                Site::End => return self.end(log),
                Site::Bad if eof && data.len() - self.pos < DESCRIPTOR => {
                    self.cut_word(data, log);
                    return self.end(log);
                }
                Site::Bad => {
                    self.open_gap(data, log);
                    continue;
                }
                Site::Segment(segment) => segment,
            };
            let next = view.after(&segment);
            if eof && segment.end > data.len() && segment.evidence != Evidence::Odd {
                match self.longer_than_it_is(&view, &segment) {
                    Search::Found(at, _) => self.wrong_length(&segment, at, log),
                    Search::Short(_) | Search::Nothing => {
                        self.cut(&segment, data.len(), log);
                        return self.end(log);
                    }
                }
                continue;
            }
            match view.bears_out(&segment, &next) {
                Verdict::Short => return Progress::Short,
                Verdict::Yes if self.is_out_of_place(&segment, &next) => {
                    // Segments are missing. Perhaps they are not, but inside this one, whose length is wrong.
                    match self.longer_than_it_is(&view, &segment) {
                        Search::Short(_) => return Progress::Short,
                        Search::Found(at, _) => self.wrong_length(&segment, at, log),
                        Search::Nothing => self.accept(data, &segment, frames, log),
                    }
                }
                Verdict::Yes => match hidden_record(&view, &segment, &next) {
                    (Search::Short(_), _) => return Progress::Short,
                    (Search::Found(at, _), _) => self.wrong_length(&segment, at, log),
                    (Search::Nothing, doubtful) => {
                        ahead = Some(next);
                        self.tell_header_within(&segment, doubtful, log);
                        self.accept(data, &segment, frames, log);
                    }
                },
                Verdict::No if segment.evidence == Evidence::Odd => self.open_gap(data, log),
                Verdict::No => match self.longer_than_it_is(&view, &segment) {
                    Search::Short(_) => return Progress::Short,
                    Search::Found(at, _) => self.wrong_length(&segment, at, log),
                    Search::Nothing => self.accept(data, &segment, frames, log),
                },
            }
        }
    }

    /// Moves what the walk still needs of `data` to the front of `into`, which is empty.
    pub(super) fn carry(&mut self, data: &[u8], into: &mut Vec<u8>) {
        let joined = self.joined_part();
        into.extend_from_slice(&data[joined.clone()]);
        into.extend_from_slice(&data[self.pos..]);
        self.rebase(joined.len());
    }

    /// As [`carry`](Self::carry), within one buffer.
    pub(super) fn carry_down(&mut self, data: &mut Vec<u8>) {
        let joined = self.joined_part();
        let (length, pos, end) = (joined.len(), self.pos, data.len());
        data.copy_within(joined, 0);
        data.copy_within(pos..end, length);
        data.truncate(length + (end - pos));
        self.rebase(length);
    }

    /// Up to where the buffer holds what has been handed on or is to be dropped.
    pub(super) fn consumed(&self) -> usize {
        self.span.as_ref().and_then(|span| span.joined).map_or(self.pos, |(start, _)| start)
    }

    fn joined_part(&self) -> std::ops::Range<usize> {
        self.span.as_ref().and_then(|span| span.joined).map_or(0..0, |(start, end)| start..end)
    }

    fn rebase(&mut self, joined: usize) {
        // A joined part is shorter than its segments, which lie before `pos`: this cannot go below zero.
        self.base = self.base + self.pos as u64 - joined as u64;
        self.pos = joined;
        if let Some(span) = &mut self.span {
            span.joined = span.joined.map(|_| (0, joined));
        }
    }

    fn offset(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    fn take_number(&mut self) -> u64 {
        self.next_no += 1;
        self.next_no - 1
    }

    /// Whether `segment` and the `next` do not fit each other, as parts of spanned records.
    fn is_out_of_place(&self, segment: &Segment, next: &Site) -> bool {
        let alone = !segment.code.begins() && self.span.is_none();
        let Site::Segment(next) = next else {
            return alone;
        };
        alone || segment.code.continues() == next.code.begins()
    }

    /// Another record that begins within `segment`, which would therefore be shorter than its length says.
    fn longer_than_it_is(&self, view: &View<'_>, segment: &Segment) -> Search {
        let until = segment.end.min(view.data.len());
        match find_record(view, segment.start + 1, until, segment.block_end) {
            // A header across its end may be made of its last bytes and the first of what follows.
            Search::Found(at, inner) if at + HEADER > segment.end => match view.is_followed(&inner) {
                Verdict::Yes => Search::Found(at, inner),
                Verdict::Short => Search::Short(at),
                Verdict::No => Search::Nothing,
            },
            found => found,
        }
    }

    /// Tells that a record header stands in `segment`, which is kept: it may be data, or a record that is hidden there.
    fn tell_header_within(&self, segment: &Segment, at: Option<usize>, log: &mut DamageLog) {
        let Some(at) = at else { return };
        let open = self.span.as_ref().filter(|_| !segment.code.begins());
        let number = open.map_or(self.next_no, |span| span.record_no);
        log.add(DamageReason::HeaderWithinRecord, (number, self.offset(segment.start)), 0, || {
            format!("a record header stands {} bytes further on, within the record", at - segment.start)
        });
    }

    fn accept(&mut self, data: &mut [u8], segment: &Segment, frames: &mut Vec<Frame>, log: &mut DamageLog) {
        let offset = self.offset(segment.start);
        let length = segment.end - segment.start;
        self.pass_block_word(segment);
        self.pos = segment.end;
        self.block_end = segment.block_end;
        self.tally.segments += 1;
        if segment.code.begins() {
            self.finish_orphans(log);
            self.abandon_span(log);
        }
        let number = self.span.as_ref().map_or(self.next_no, |span| span.record_no);
        if segment.against_block {
            log.add(DamageReason::BlockMismatch, (number, offset), 0, || {
                format!("the segment of {length} bytes does not lie in the block that was announced")
            });
        }
        match segment.evidence {
            Evidence::Sound => self.tally.sound_bytes += length as u64,
            Evidence::Odd => log.add(DamageReason::ImplausibleHeader, (number, offset), 0, || {
                format!("header {}", hex(&data[segment.start..segment.start + HEADER]))
            }),
            Evidence::Headless => {}
        }
        match segment.code {
            SegmentCode::Whole => {
                let record_no = self.take_number();
                let (start, file_bytes) = (segment.start, length as u64);
                let frame = Frame { record_no, offset, start, len: length, file_bytes, kind: FrameKind::Whole };
                self.tally.count(&data[frame.start..frame.start + frame.len]);
                self.tally.record_bytes += length as u64;
                self.end_of_record();
                frames.push(frame);
            }
            SegmentCode::First => {
                let record_no = self.take_number();
                self.span = Some(Span::open(segment, record_no, offset));
            }
            SegmentCode::Middle | SegmentCode::Last => {
                if let Some(span) = &mut self.span {
                    span.append(data, segment, self.max_record);
                    self.tally.sound_bytes += length as u64;
                    if segment.code == SegmentCode::Last {
                        self.finish_span(data, frames, log);
                    }
                } else {
                    self.orphan(offset, length as u64);
                }
            }
        }
    }

    /// Counts the block descriptor word before `segment`, if one stands there. Call it before the walk moves on.
    fn pass_block_word(&mut self, segment: &Segment) {
        self.tally.block_bytes += (segment.start - self.pos) as u64;
    }

    fn finish_span(&mut self, data: &mut [u8], frames: &mut Vec<Frame>, log: &mut DamageLog) {
        let Some(span) = self.span.take() else { return };
        match span.finish(data) {
            Some(frame) if frame.len >= HEADER => {
                self.tally.spanned += 1;
                self.tally.record_bytes += span.raw;
                self.end_of_record();
                self.tally.count(&data[frame.start..frame.start + frame.len]);
                frames.push(frame);
            }
            Some(frame) => log.add(DamageReason::WrongLength, (span.record_no, span.offset), span.raw, || {
                format!("{} segments make a record of {} bytes; a header takes {HEADER}", span.segments, frame.len)
            }),
            None => log.add(DamageReason::SpannedRecordTooLong, (span.record_no, span.offset), span.raw, || {
                format!("{} segments take {} bytes; the limit is {}", span.segments, span.raw, self.max_record)
            }),
        }
    }

    /// Gives up the spanned record that waits for its last segment.
    fn abandon_span(&mut self, log: &mut DamageLog) {
        if let Some(span) = self.span.take() {
            log.add(DamageReason::UnfinishedSpannedRecord, (span.record_no, span.offset), span.raw, || {
                format!("{} segments of {} bytes, then no further segment", span.segments, span.raw)
            });
        }
    }

    fn orphan(&mut self, offset: u64, length: u64) {
        if let Some(run) = &mut self.orphans {
            run.segments += 1;
            run.raw += length;
        } else {
            let record_no = self.take_number();
            self.orphans = Some(Orphans { record_no, offset, segments: 1, raw: length });
        }
    }

    fn finish_orphans(&mut self, log: &mut DamageLog) {
        if let Some(run) = self.orphans.take() {
            log.add(DamageReason::SegmentWithoutFirst, (run.record_no, run.offset), run.raw, || {
                format!(
                    "{} segments of {} bytes belong to a record whose first segment is missing",
                    run.segments, run.raw
                )
            });
        }
    }

    fn wrong_length(&mut self, segment: &Segment, at: usize, log: &mut DamageLog) {
        self.finish_orphans(log);
        if segment.code.begins() {
            self.abandon_span(log);
        }
        self.pass_block_word(segment);
        let (length, inside) = (segment.end - segment.start, at - segment.start);
        let offset = self.offset(segment.start);
        let (place, skipped) = match self.span.take() {
            Some(span) => ((span.record_no, span.offset), span.raw + inside as u64),
            None => ((self.take_number(), offset), inside as u64),
        };
        log.add(DamageReason::WrongLength, place, skipped, || {
            format!(
                "the descriptor word at byte {offset} says {length} bytes, but another record begins {inside} \
                bytes further on"
            )
        });
        self.pos = at;
        self.block_end = segment.block_end;
    }

    /// The file ends inside `segment`.
    fn cut(&mut self, segment: &Segment, data_end: usize, log: &mut DamageLog) {
        self.finish_orphans(log);
        if segment.code.begins() {
            self.abandon_span(log);
        }
        self.pass_block_word(segment);
        let (length, left) = (segment.end - segment.start, data_end - segment.start);
        let offset = self.offset(segment.start);
        self.pos = data_end;
        if segment.evidence == Evidence::Sound {
            self.tally.sound_bytes += left as u64;
        }
        if let Some(span) = self.span.take() {
            log.add(DamageReason::CutSpannedRecord, (span.record_no, span.offset), span.raw + left as u64, || {
                format!("segment {} at byte {offset} needs {length} bytes, {left} left", span.segments + 1)
            });
            return;
        }
        let reason = match segment.code {
            SegmentCode::Whole => DamageReason::CutRecord,
            SegmentCode::First => DamageReason::CutSpannedRecord,
            SegmentCode::Middle | SegmentCode::Last => DamageReason::SegmentWithoutFirst,
        };
        let place = (self.take_number(), offset);
        log.add(reason, place, left as u64, || format!("{length} bytes needed, {left} left"));
    }

    /// The file ends inside a descriptor word.
    fn cut_word(&mut self, data: &[u8], log: &mut DamageLog) {
        self.finish_orphans(log);
        let rest = &data[self.pos..];
        let offset = self.offset(self.pos);
        let (reason, place, raw) = match self.span.take() {
            Some(span) => (DamageReason::CutSpannedRecord, (span.record_no, span.offset), span.raw),
            None => (DamageReason::CutRecord, (self.take_number(), offset), 0),
        };
        log.add(reason, place, raw + rest.len() as u64, || {
            format!("{} bytes left at byte {offset}, too few for a descriptor word: {}", rest.len(), hex(rest))
        });
        self.pos = data.len();
    }

    fn end(&mut self, log: &mut DamageLog) -> Progress {
        self.finish_orphans(log);
        if let Some(span) = self.span.take() {
            log.add(DamageReason::CutSpannedRecord, (span.record_no, span.offset), span.raw, || {
                format!("the file ends after {} segments of {} bytes; the last one is missing", span.segments, span.raw)
            });
        }
        Progress::End
    }

    fn open_gap(&mut self, data: &[u8], log: &mut DamageLog) {
        self.finish_orphans(log);
        self.abandon_span(log);
        let (record_no, offset) = (self.take_number(), self.offset(self.pos));
        self.gap = Some(Gap::open(record_no, offset));
        // The position itself has been judged: the search begins behind it.
        let at = (self.pos + 1).min(data.len());
        self.pass_over_gap(data, at);
    }

    fn pass_over_gap(&mut self, data: &[u8], at: usize) {
        if let Some(gap) = &mut self.gap {
            gap.pass(&data[self.pos..at]);
        }
        self.pos = at;
    }

    fn close_gap(&mut self, data: &[u8], at: usize, at_end: bool, log: &mut DamageLog) {
        self.pass_over_gap(data, at);
        self.block_end = None;
        let Some(gap) = self.gap.take() else { return };
        if gap.close(self.offset(at) - gap.offset, at_end, log) {
            self.next_no += 1;
        }
    }

    /// Notes that a record has just ended.
    fn end_of_record(&mut self) {
        self.tally.last_end = (self.offset(self.pos), self.tally.block_bytes);
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
