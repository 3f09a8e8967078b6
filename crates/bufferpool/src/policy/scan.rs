//! When a reference starts a prefetch.
//!
//! A scan keeps three runs of pages. The first two were asked for when the scan was noticed, at the page then referenced:
//! half a quantity each. A reference into the second run asks for the third, a whole quantity, and the runs move on.
//!
//! Dynamic prefetch is noticed from the references themselves: a page is *page-sequential* when it lies at most half a
//! quantity after the one before; when five of the last eight are, the object is being scanned, until fewer are.
//! The trace does not tell threads apart, so the window is that of a data set at a member.

/// Planned scans of a data set followed at once; of more, the one longest without a reference is forgotten. A page that
/// several hold belongs to the one referenced last.
const SCANS: usize = 4;

/// Page-sequential references of the last eight that make a scan.
const NOTICED: u32 = 5;

/// Pages that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub first: u64,
    pub pages: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    first: u64,
    second: u64,
    third: u64,
}

impl Runs {
    fn begin(page: u64, quantity: u64) -> (Self, Request) {
        let runs = Self { first: page, second: page + quantity / 2, third: page + quantity };
        (runs, Request { first: page, pages: quantity })
    }

    fn holds(&self, page: u64) -> bool {
        (self.first..self.third).contains(&page)
    }

    /// A reference to a page of the first two runs.
    fn advance(&mut self, page: u64, quantity: u64) -> Option<Request> {
        if page < self.second {
            return None;
        }
        let request = Request { first: self.third, pages: quantity };
        *self = Self { first: self.second, second: self.third, third: self.third + quantity };
        Some(request)
    }
}

/// Planned scans of a data set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planned {
    scans: [(u64, Runs); SCANS],
    tick: u64,
}

impl Planned {
    /// A reference of a planned scan.
    pub fn reference(&mut self, page: u64, quantity: u64) -> Option<Request> {
        self.tick += 1;
        let holding = self.scans.iter_mut().filter(|(_, runs)| runs.holds(page));
        if let Some((used, runs)) = holding.max_by_key(|(used, _)| *used) {
            *used = self.tick;
            return runs.advance(page, quantity);
        }
        let (runs, request) = Runs::begin(page, quantity);
        if let Some(longest) = self.scans.iter_mut().min_by_key(|(used, _)| *used) {
            *longest = (self.tick, runs);
        }
        Some(request)
    }
}

/// Detection of scans among references that nobody planned as such.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detection {
    last: Option<u64>,
    window: u8,
    active: bool,
    runs: Runs,
}

impl Detection {
    /// A reference: whether it is part of a scan, and what is asked for.
    #[inline]
    pub fn reference(&mut self, page: u64, quantity: u64) -> (bool, Option<Request>) {
        let before = self.last.replace(page);
        if before == Some(page) {
            return (self.active, None);
        }
        let sequential = before.is_some_and(|before| before < page && page - before <= quantity / 2);
        self.window = self.window << 1 | u8::from(sequential);
        if self.window.count_ones() < NOTICED {
            self.active = false;
            return (false, None);
        }
        if !sequential {
            return (false, None);
        }
        if self.active && page < self.runs.third {
            return (true, self.runs.advance(page, quantity));
        }
        let (runs, request) = Runs::begin(page, quantity);
        (self.active, self.runs) = (true, runs);
        (true, Some(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(first: u64, pages: u64) -> Option<Request> {
        Some(Request { first, pages })
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
            assert_eq!(planned.reference(page, 32), expected, "page {page}");
        }
    }

    #[test]
    fn interleaved_scans_do_not_disturb_each_other_up_to_four() {
        let mut planned = Planned::default();
        let mut requests = 0;
        for step in 0..64 {
            for scan in 0..4 {
                requests += u32::from(planned.reference(scan * 100_000 + step, 32).is_some());
            }
        }
        // Each asks at steps 0, 16 and 32.
        assert_eq!(requests, 12);
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
        assert!(detection.active);
        assert_eq!(detection.reference(9000, 32), (false, None));
        assert!(!detection.active);
    }
}
