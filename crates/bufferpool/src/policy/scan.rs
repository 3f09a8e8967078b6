//! When a reference starts a prefetch.
//!
//! A scan keeps three runs of pages. The first two were asked for when the scan was noticed, at the page then referenced:
//! half a quantity each. A reference into the second run asks for the third, a whole quantity, and the runs move on.
//!
//! Dynamic prefetch is noticed from the references themselves: a page is *page-sequential* when it lies at most half a
//! quantity after the one before; when five of the last eight are, the object is being scanned, until fewer are. The same
//! holds downwards, for a scan that goes backward (since DB2 9).
//!
//! Source: "DB2 10 for z/OS Managing Performance" (SC19-2978), "Sequential detection at execution time" (runs, the five of
//! eight, half the prefetch quantity); "DB2 9 for z/OS Performance Topics" (SG24-7473), "Dynamic prefetch" (backward).

use crate::trace::PAGE_MASK;

/// Planned scans of a thread in a data set followed at once, and of all threads together where the trace does not tell
/// them apart; of more, the one longest without a reference is forgotten. A page that several hold belongs to the one
/// referenced last.
const SCANS: usize = 4;
const SCANS_OF_ALL: usize = 64;

/// How many scans are followed at once for an agent; 0: it is not known.
#[inline(always)]
pub(crate) fn scans_of(agent: u32) -> usize {
    if agent == 0 { SCANS_OF_ALL } else { SCANS }
}

/// Page-sequential references of the last eight that make a scan.
const NOTICED: u32 = 5;

/// No page.
const NONE: u64 = u64::MAX;

/// Which way a scan goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    #[default]
    Forward,
    Backward,
}

impl Way {
    /// Distance of a page from where scans of this way begin; the page of a distance.
    #[inline(always)]
    pub fn turned(self, page: u64) -> u64 {
        match self {
            Self::Forward => page,
            Self::Backward => PAGE_MASK - page,
        }
    }
}

/// Pages that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Where it begins, as [`Way::turned`] has it.
    pub first: u64,
    pub pages: u64,
    pub way: Way,
}

#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    first: u64,
    second: u64,
    third: u64,
}

impl Runs {
    fn begin(page: u64, quantity: u64, way: Way) -> (Self, Request) {
        let runs = Self { first: page, second: page + quantity / 2, third: page + quantity };
        (runs, Request { first: page, pages: quantity, way })
    }

    fn holds(&self, page: u64) -> bool {
        (self.first..self.third).contains(&page)
    }

    /// A reference to a page of the first two runs.
    fn advance(&mut self, page: u64, quantity: u64, way: Way) -> Option<Request> {
        if page < self.second {
            return None;
        }
        let request = Request { first: self.third, pages: quantity, way };
        *self = Self { first: self.second, second: self.third, third: self.third + quantity };
        Some(request)
    }
}

/// Scans that are known as such, the one referenced last first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planned {
    scans: Vec<Runs>,
}

impl Planned {
    fn holding(&self, page: u64) -> Option<usize> {
        self.scans.iter().position(|runs| runs.holds(page))
    }

    fn advance(&mut self, holding: usize, page: u64, quantity: u64, way: Way) -> Option<Request> {
        self.scans[..=holding].rotate_right(1);
        self.scans[0].advance(page, quantity, way)
    }

    #[cold]
    fn begin(&mut self, page: u64, quantity: u64, way: Way, most: usize) -> Option<Request> {
        let (runs, request) = Runs::begin(page, quantity, way);
        self.scans.truncate(most - 1);
        self.scans.insert(0, runs);
        Some(request)
    }

    /// A reference of a planned scan, of which there are so many at `most`.
    #[inline]
    pub fn reference(&mut self, page: u64, quantity: u64, most: usize) -> Option<Request> {
        match self.holding(page) {
            Some(holding) => self.advance(holding, page, quantity, Way::Forward),
            None => self.begin(page, quantity, Way::Forward, most),
        }
    }
}

/// Scans that the trace says were noticed at run time; which way they go it does not say.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    last: u64,
    forward: Planned,
    backward: Planned,
}

impl Default for Recorded {
    fn default() -> Self {
        Self { last: NONE, forward: Planned::default(), backward: Planned::default() }
    }
}

impl Recorded {
    /// A reference: of a scan that holds its page, else the beginning of one, backward if it lies just before the last.
    pub fn reference(&mut self, page: u64, quantity: u64, most: usize) -> Option<Request> {
        let last = std::mem::replace(&mut self.last, page);
        let turned = Way::Backward.turned(page);
        if let Some(holding) = self.backward.holding(turned) {
            self.backward.advance(holding, turned, quantity, Way::Backward)
        } else if let Some(holding) = self.forward.holding(page) {
            self.forward.advance(holding, page, quantity, Way::Forward)
        } else if last != NONE && page < last && last - page <= quantity / 2 {
            self.backward.begin(turned, quantity, Way::Backward, most)
        } else {
            self.forward.begin(page, quantity, Way::Forward, most)
        }
    }
}

/// Detection of scans among references that nobody planned as such.
#[derive(Clone, Debug)]
pub(crate) struct Detection {
    last: u64,
    runs: Runs,
    forward: u8,
    backward: u8,
    active: Option<Way>,
}

impl Default for Detection {
    fn default() -> Self {
        Self { last: NONE, runs: Runs::default(), forward: 0, backward: 0, active: None }
    }
}

impl Detection {
    /// A reference: whether it is part of a scan, and what is asked for.
    #[inline]
    pub fn reference(&mut self, page: u64, quantity: u64) -> (bool, Option<Request>) {
        let before = std::mem::replace(&mut self.last, page);
        if before == page {
            return (self.active.is_some(), None);
        }
        // Of no page before the distance is larger than any step.
        let step = quantity / 2;
        let ahead = page.wrapping_sub(before) <= step && before != NONE;
        let behind = before.wrapping_sub(page) <= step && before != NONE;
        self.forward = self.forward << 1 | u8::from(ahead);
        self.backward = self.backward << 1 | u8::from(behind);
        let (way, sequential) = if self.forward.count_ones() >= NOTICED {
            (Way::Forward, ahead)
        } else if self.backward.count_ones() >= NOTICED {
            (Way::Backward, behind)
        } else {
            self.active = None;
            return (false, None);
        };
        if !sequential {
            return (false, None);
        }
        let turned = way.turned(page);
        if self.active == Some(way) && turned < self.runs.third {
            return (true, self.runs.advance(turned, quantity, way));
        }
        let (runs, request) = Runs::begin(turned, quantity, way);
        (self.active, self.runs) = (Some(way), runs);
        (true, Some(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(first: u64, pages: u64) -> Option<Request> {
        Some(Request { first, pages, way: Way::Forward })
    }

    /// Pages from `first` down.
    fn downward(first: u64, pages: u64) -> Option<Request> {
        Some(Request { first: Way::Backward.turned(first), pages, way: Way::Backward })
    }

    #[test]
    fn a_planned_scan_stays_a_quantity_ahead() {
        // Quantity 32 at page 100: runs 100-115, 116-131; the page that enters the second asks for 132-163, and so on.
        let mut planned = Planned::default();
        for page in 100..260 {
            let expected = match page {
                100 => request(100, 32),
                116 => request(132, 32),
                132 => request(164, 32),
                164 => request(196, 32),
                196 => request(228, 32),
                228 => request(260, 32),
                _ => None,
            };
            assert_eq!(planned.reference(page, 32, 1), expected, "page {page}");
        }
    }

    #[test]
    fn interleaved_scans_do_not_disturb_each_other_up_to_their_number() {
        assert_eq!((scans_of(0), scans_of(7)), (64, 4));
        for (scans, most) in [(1, 1), (4, 4), (5, 4), (5, 64), (40, 64), (64, 64), (65, 64)] {
            let mut planned = Planned::default();
            let mut requests = 0;
            for step in 0..64 {
                for scan in 0..scans {
                    requests += u32::from(planned.reference(scan * 100_000 + step, 32, most).is_some());
                }
            }
            // Each asks at steps 0, 16 and 32; of more than are followed each is forgotten before its next page.
            assert_eq!(requests, scans as u32 * if scans as usize > most { 64 } else { 3 });
        }
    }

    #[test]
    fn the_fifth_page_sequential_reference_of_eight_starts_dynamic_prefetch() {
        let mut detection = Detection::default();
        // Page 10 has no predecessor; 11 to 14 make four page-sequential references, 15 the fifth.
        for page in 10..15 {
            assert_eq!(detection.reference(page, 32), (false, None), "page {page}");
        }
        assert_eq!(detection.reference(15, 32), (true, request(15, 32)));
        assert_eq!(detection.reference(15, 32), (true, None));
        // Steps of up to 16 pages still are page-sequential; 31 lies in the second run.
        assert_eq!(detection.reference(31, 32), (true, request(47, 32)));
        assert_eq!(detection.reference(48, 32), (false, None), "17 pages further is no longer page-sequential");
        // One page far away does not end the scan; four in eight do.
        assert_eq!(detection.reference(9000, 32), (false, None));
        assert_eq!(detection.reference(60, 32), (false, None));
        assert!(detection.active.is_some());
        assert_eq!(detection.reference(9000, 32), (false, None));
        assert!(detection.active.is_none());
    }

    #[test]
    fn a_backward_scan_is_noticed_and_read_downwards() {
        let mut detection = Detection::default();
        for page in (996..=1000).rev() {
            assert_eq!(detection.reference(page, 32), (false, None), "page {page}");
        }
        // 995 is the fifth below its predecessor: 995 to 964. The second run begins at 979: 963 to 932.
        assert_eq!(detection.reference(995, 32), (true, downward(995, 32)));
        for page in (980..995).rev() {
            assert_eq!(detection.reference(page, 32), (true, None), "page {page}");
        }
        assert_eq!(detection.reference(979, 32), (true, downward(963, 32)));
        // Turned round, it takes five page-sequential references again.
        for page in 980..984 {
            assert!(detection.reference(page, 32).1.is_none(), "page {page}");
        }
        assert_eq!(detection.reference(984, 32), (true, request(984, 32)));
    }

    #[test]
    fn recorded_dynamic_prefetch_goes_the_way_of_its_pages() {
        let mut recorded = Recorded::default();
        assert_eq!(recorded.reference(1000, 32, 4), request(1000, 32));
        // Just before it: backward from there, and on where the second run begins, 16 pages further down.
        assert_eq!(recorded.reference(999, 32, 4), downward(999, 32));
        for page in (984..999).rev() {
            assert_eq!(recorded.reference(page, 32, 4), None, "page {page}");
        }
        assert_eq!(recorded.reference(983, 32, 4), downward(967, 32));
        // Far away: another, forward.
        assert_eq!(recorded.reference(5000, 32, 4), request(5000, 32));
    }
}
