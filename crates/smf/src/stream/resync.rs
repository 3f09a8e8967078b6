//! Finding the next record after damage.
//!
//! A record start is believed when its descriptor word and header are plausible and what stands at its end bears it
//! out, or when its system identifier is one already seen in this file. Each byte is looked at once, by a test of
//! four of its neighbours: the time is linear in the length of the damage.

use super::header::{DATE, DESCRIPTOR, HEADER, SYSTEM, TIME};
use super::options::Form;
use super::site::{Evidence, Segment, Site, Verdict, View};

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

    pub(super) fn knows(&self, record: &[u8]) -> bool {
        self.ids.contains(&id_of(record))
    }

    /// As [`knows`](Self::knows), for a record without descriptor word.
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
/// `block_end` is the end of the block around `from`, where known. With `known`, a system identifier seen before is
/// enough; without, what stands behind the record must bear it out.
pub(super) fn find_record(
    view: &View<'_>,
    from: usize,
    until: usize,
    block_end: Option<u64>,
    known: Option<&KnownSystems>,
) -> Search {
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
                    match view.stands(&segment) {
                        Verdict::Yes => return Search::Found(at, segment),
                        Verdict::Short => return Search::Short(at),
                        Verdict::No if known.is_some_and(|ids| ids.knows(&data[segment.start..])) => {
                            return Search::Found(at, segment);
                        }
                        Verdict::No => {}
                    }
                }
                _ => {}
            }
        }
    }
    Search::Nothing
}

#[cfg(test)]
mod tests {
    use super::zeros;

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
