//! Finding the next record after damage.
//!
//! A record start is believed when its descriptor word and header are plausible: time, date and system identifier of
//! a sound header come together by chance once in 2^40 bytes. Each byte is looked at once, by a test of four of its
//! neighbours: the time is linear in the length of the damage.

use super::header::{DATE, DESCRIPTOR, HEADER, SYSTEM, TIME};
use super::options::Form;
use super::site::{Evidence, MOST_FOLLOWED, Segment, Site, Verdict, View};

/// System identifiers of the records read so far.
#[derive(Debug, Default)]
pub(super) struct KnownSystems {
    ids: Vec<[u8; 4]>,
    last: Option<[u8; 4]>,
}

impl KnownSystems {
    /// A sysplex has at most 32 systems; a file of several years can hold some more names.
    const MOST: usize = 256;

    pub(super) fn learn(&mut self, record: &[u8]) {
        let id = id_of(record);
        if self.last != Some(id) {
            self.last = Some(id);
            if !self.ids.contains(&id) && self.ids.len() < Self::MOST {
                self.ids.push(id);
            }
        }
    }

    /// Whether a record without descriptor word is of a system seen before.
    pub(super) fn knows_body(&self, body: &[u8]) -> bool {
        let at = SYSTEM - DESCRIPTOR;
        self.ids.contains(&[body[at], body[at + 1], body[at + 2], body[at + 3]])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

fn id_of(record: &[u8]) -> [u8; 4] {
    [record[SYSTEM], record[SYSTEM + 1], record[SYSTEM + 2], record[SYSTEM + 3]]
}

/// The outcome of a search.
#[derive(Debug)]
pub(super) enum Search {
    /// The next record begins with this segment; the position is that of its block descriptor word if one was found.
    Found(usize, Segment),
    /// Nothing up to this position, where more data are needed to go on.
    Short(usize),
    /// Nothing.
    Nothing,
}

/// Whether the bytes at `at` can begin a record: the cheap test that nearly all positions fail.
fn may_begin(data: &[u8], at: usize) -> bool {
    data[at + 2] <= 1 && data[at + 3] == 0 && data[at + TIME] == 0 && data[at + DATE] <= 1
}

/// How many zero bytes `data` begins with.
pub(super) fn zeros(data: &[u8]) -> usize {
    const STEP: usize = 64;
    let is_zero = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all | byte) == 0;
    let whole = data.chunks_exact(STEP).take_while(|bytes| is_zero(bytes)).count() * STEP;
    whole + data[whole..].iter().take_while(|&&byte| byte == 0).count()
}

/// Searches `from..until` for the start of a record (or of the block that begins with one).
///
/// `block_end` is the end of the block around `from`, where known.
pub(super) fn find_record(view: &View<'_>, from: usize, until: usize, block_end: Option<u64>) -> Search {
    let data = view.data;
    let blocked = view.form == Form::Bdw;
    let reach = if blocked { DESCRIPTOR + HEADER } else { HEADER };
    let mut next = from;
    while next < until {
        let at = next;
        next = at + 1;
        if at + reach > data.len() {
            if !view.eof {
                return Search::Short(at);
            }
            if at + HEADER > data.len() {
                return Search::Nothing;
            }
        }
        // The length in a descriptor word is not zero: in a range of zeros nothing begins but at its last byte.
        if data[at] == 0 && data[at + 1] == 0 {
            next = (at + 1 + zeros(&data[at + 2..])).min(until);
            continue;
        }
        let block = blocked && at + reach <= data.len() && may_begin(data, at + DESCRIPTOR);
        if !block && !may_begin(data, at) {
            continue;
        }
        // Within a block still in force, records keep its end; elsewhere it is unknown.
        let due = block_end.filter(|&end| view.base + (at as u64) < end);
        let readings = [block.then(|| view.block(at)), Some(view.segment(at, due))];
        for site in readings.into_iter().flatten() {
            match site {
                Site::Short => return Search::Short(at),
                Site::Segment(segment) if segment.evidence == Evidence::Sound && segment.start < until => {
                    return Search::Found(at, segment);
                }
                _ => {}
            }
        }
    }
    Search::Nothing
}

/// A record that lies hidden in `segment`, behind which `next` stands: one with a sound header that ends exactly where
/// `segment` does, or where another sound header stands. A length that covers the following records too looks like this.
/// Where there is none, a place at which a sound header stands nevertheless comes back: it can be data.
pub(super) fn hidden_record(view: &View<'_>, segment: &Segment, next: &Site) -> (Search, Option<usize>) {
    let until = segment.end.min(view.data.len());
    let is_sure = matches!(next, Site::End | Site::Segment(Segment { evidence: Evidence::Sound, .. }));
    let mut from = segment.start + DESCRIPTOR;
    let mut doubtful = None;
    while let Some(at) = likely_header(view.data, from, until) {
        from = at + 1;
        let Site::Segment(inner) = view.segment(at, None) else { continue };
        if inner.evidence != Evidence::Sound {
            continue;
        }
        match if is_sure { tiles(view, inner, segment.end) } else { view.is_followed(&inner) } {
            Verdict::Yes => return (Search::Found(at, inner), None),
            Verdict::Short => return (Search::Short(at), None),
            Verdict::No if inner.end < segment.end => doubtful = doubtful.or(Some(at)),
            Verdict::No => {}
        }
    }
    (Search::Nothing, doubtful)
}

/// The first position before `until` where the bytes of a header that hardly vary are such as a header has.
fn likely_header(data: &[u8], from: usize, until: usize) -> Option<usize> {
    /// Positions judged at once, so that the compiler can use wide instructions.
    const STEP: usize = 32;
    let looks = |at: usize, window: &[u8]| {
        (window[at + 2] <= 1)
            & (window[at + 3] == 0)
            & (window[at + TIME] == 0)
            & (window[at + DATE] <= 1)
            & (window[at + DATE + 3] & 15 == 15)
    };
    let last = until.checked_sub(HEADER)?;
    let mut at = from;
    while at + STEP <= last {
        let window: &[u8; STEP + HEADER] = data[at..at + STEP + HEADER].try_into().ok()?;
        if (0..STEP).fold(false, |any, offset| any | looks(offset, window)) {
            break;
        }
        at += STEP;
    }
    let found = (at..(at + STEP).min(last + 1)).find(|&at| looks(at, data));
    if found.is_some() || at + STEP > last { found } else { likely_header(data, at + STEP, until) }
}

/// Whether the record that begins with `segment` ends where another one begins: at `end`, or before it.
fn tiles(view: &View<'_>, segment: Segment, end: usize) -> Verdict {
    let mut segment = segment;
    for _ in 0..MOST_FOLLOWED {
        if segment.end >= end {
            break;
        }
        match view.after(&segment) {
            Site::Short => return Verdict::Short,
            Site::Segment(next) if next.evidence == Evidence::Sound && next.start < end => return Verdict::Yes,
            Site::Segment(next) if next.evidence == Evidence::Headless && !next.code.begins() => segment = next,
            _ => return Verdict::No,
        }
    }
    if segment.end == end { Verdict::Yes } else { Verdict::No }
}

#[cfg(test)]
mod tests {
    use super::{likely_header, zeros};

    #[test]
    fn a_header_is_found_wherever_it_stands() {
        let header = [0, 40, 0, 0, 0x1e, 70, 0, 1, 2, 3, 1, 0x24, 0x06, 0x1f, 0xe2, 0xe8, 0xe2, 0xf1];
        for length in 18..150 {
            for at in 0..=length - 18 {
                let mut data = vec![0; length];
                data[at..at + 18].copy_from_slice(&header);
                assert_eq!(likely_header(&data, 0, length), Some(at), "{length} bytes");
                assert_eq!(likely_header(&data, at + 1, length), None, "{length} bytes, behind {at}");
            }
        }
    }

    #[test]
    fn zeros_are_counted_up_to_the_first_other_byte() {
        assert_eq!(zeros(&[]), 0);
        for length in [1, 2, 63, 64, 65, 127, 128, 129, 1000] {
            for other in 0..=length {
                let mut data = vec![0; length];
                if let Some(byte) = data.get_mut(other) {
                    *byte = 1;
                }
                assert_eq!(zeros(&data), other, "{length} bytes");
            }
        }
    }
}
