//! What stands at a position of a buffer: the judgement on which framing and resynchronisation rest.

use super::header::{DESCRIPTOR, HEADER, SegmentCode, block_descriptor, header_is_sound, segment_descriptor};
use super::options::Form;

/// Segments of a record that are followed to see whether it ends well.
pub(super) const MOST_FOLLOWED: usize = 8;

/// How far the standard header at the start of a segment can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Time, date and system identifier are such as SMF writes.
    Sound,
    /// The segment has no header (middle, last, or a first segment shorter than one).
    Headless,
    /// Time, date or system identifier is none.
    Odd,
}

/// One segment, by buffer positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub start: usize,
    pub end: usize,
    pub code: SegmentCode,
    pub evidence: Evidence,
    /// Where the block that holds the segment ends, as a file offset; `None` when that is not known.
    pub block_end: Option<u64>,
    /// The segment contradicts the block descriptor word it stands under.
    pub against_block: bool,
}

/// What stands at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    Segment(Segment),
    /// The end of the file.
    End,
    /// The buffer ends before this can be told, and the file goes on.
    Short,
    /// Neither.
    Bad,
}

/// Part of a file, with what is needed to judge it.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub data: &'a [u8],
    /// File offset of the first byte of `data`.
    pub base: u64,
    /// Whether the file ends where `data` ends.
    pub eof: bool,
    pub form: Form,
}

impl View<'_> {
    fn offset(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// The segment whose descriptor word stands at `at`. Its end can lie beyond the data.
    pub(super) fn segment(&self, at: usize, block_end: Option<u64>) -> Site {
        let Some(rest) = self.data.get(at..).filter(|rest| rest.len() >= DESCRIPTOR) else {
            return if self.eof { Site::Bad } else { Site::Short };
        };
        let Some((length, code)) = segment_descriptor(rest) else {
            return Site::Bad;
        };
        let evidence = if !code.begins() || length < HEADER {
            Evidence::Headless
        } else if rest.len() < HEADER {
            if !self.eof {
                return Site::Short;
            }
            // The file ends inside the header: the length alone speaks for a record that was cut.
            Evidence::Headless
        } else if header_is_sound(rest) {
            Evidence::Sound
        } else {
            Evidence::Odd
        };
        let end = at + length;
        let outside = block_end.is_some_and(|limit| self.offset(end) > limit);
        Site::Segment(Segment {
            start: at,
            end,
            code,
            evidence,
            block_end: if outside { None } else { block_end },
            against_block: outside,
        })
    }

    /// The first segment of the block whose descriptor word stands at `at`.
    pub(super) fn block(&self, at: usize) -> Site {
        let Some(rest) = self.data.get(at..).filter(|rest| rest.len() >= DESCRIPTOR) else {
            return if self.eof { Site::Bad } else { Site::Short };
        };
        match block_descriptor(rest) {
            Some(length) => self.segment(at + DESCRIPTOR, Some(self.offset(at) + length as u64)),
            None => Site::Bad,
        }
    }

    /// What stands at `at`, when the block before it (or around it) ends at `block_end`.
    ///
    /// Where a block descriptor word is due but the bytes rather are a record (or the other way round), the reading
    /// with a sound header wins.
    pub(super) fn site(&self, at: usize, block_end: Option<u64>) -> Site {
        if at == self.data.len() {
            return if self.eof { Site::End } else { Site::Short };
        }
        if self.form == Form::Rdw {
            return self.segment(at, None);
        }
        let block_due = block_end == Some(self.offset(at));
        let (expected, other) =
            if block_due { (self.block(at), Reading::Segment) } else { (self.segment(at, block_end), Reading::Block) };
        match expected {
            Site::Segment(Segment { evidence: Evidence::Sound, .. }) | Site::Short | Site::End => return expected,
            Site::Segment(Segment { evidence: Evidence::Headless, against_block: false, .. }) => return expected,
            Site::Segment(_) | Site::Bad => {}
        }
        let alternative = match other {
            Reading::Segment => self.segment(at, None),
            Reading::Block => self.block(at),
        };
        match alternative {
            Site::Segment(segment) if segment.evidence == Evidence::Sound => {
                // Within a block of unknown extent the next block may begin anywhere: no contradiction.
                let against_block = block_due || block_end.is_some();
                Site::Segment(Segment { against_block, ..segment })
            }
            // Where a segment is due, a block descriptor word and behind it a middle or last segment that fits: two
            // words that agree. Where a block is due, but none begins: what follows goes on in the former block.
            Site::Segment(segment)
                if segment.evidence == Evidence::Headless
                    && !segment.against_block
                    && (!block_due || expected == Site::Bad) =>
            {
                Site::Segment(Segment { against_block: block_due, ..segment })
            }
            Site::Short => Site::Short,
            _ => expected,
        }
    }

    /// Whether `site`, found where `before` ends, bears out that `before` ends there.
    pub(super) fn bears_out(&self, before: &Segment, site: &Site) -> Verdict {
        match site {
            Site::End => Verdict::Yes,
            Site::Short => Verdict::Short,
            Site::Bad => Verdict::No,
            Site::Segment(next) => match next.evidence {
                Evidence::Sound => Verdict::Yes,
                Evidence::Headless if before.code.continues() && !next.code.begins() => Verdict::Yes,
                // What the end of the file cuts has no successor to bear it out.
                Evidence::Headless if self.eof && next.end > self.data.len() => Verdict::Yes,
                // A weak witness needs one of its own.
                Evidence::Headless | Evidence::Odd => match self.after(next) {
                    Site::End => Verdict::Yes,
                    Site::Short => Verdict::Short,
                    Site::Segment(third) if third.evidence == Evidence::Odd => Verdict::No,
                    Site::Segment(_) => Verdict::Yes,
                    Site::Bad => Verdict::No,
                },
            },
        }
    }

    /// Whether a sound header or the end of the file stands where the record that begins with `segment` ends. A record
    /// of very many segments is not followed to its end: that could take any number of bytes.
    pub(super) fn is_followed(&self, segment: &Segment) -> Verdict {
        let mut segment = *segment;
        for _ in 0..MOST_FOLLOWED {
            match self.after(&segment) {
                Site::End => return Verdict::Yes,
                Site::Short => return Verdict::Short,
                Site::Segment(next) if next.evidence == Evidence::Sound => return Verdict::Yes,
                Site::Segment(next) if next.evidence == Evidence::Headless && !next.code.begins() => segment = next,
                _ => return Verdict::No,
            }
        }
        Verdict::No
    }

    /// What stands where `segment` ends.
    pub(super) fn after(&self, segment: &Segment) -> Site {
        if segment.end > self.data.len() {
            return if self.eof { Site::Bad } else { Site::Short };
        }
        self.site(segment.end, segment.block_end)
    }
}

enum Reading {
    Segment,
    Block,
}

/// An answer that may need more data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    Short,
}
