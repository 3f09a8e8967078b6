//! What is read before it is asked for.

use super::coupling::Coupling;
use super::data_set::DataSet;
use super::frames::UNASKED;
use super::pool::{BufferPool, Reference};
use super::scan::{Request, Way, scans_of};
use super::threads::List;
use crate::trace::{Access, PAGE_MASK};

/// How a page came to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefetch {
    Sequential,
    Dynamic,
}

impl<C: Coupling> BufferPool<C> {
    /// What a getpage starts before its page is looked for; whether it counts as sequential.
    #[inline]
    pub(super) fn before_lookup(&mut self, reference: &Reference) -> bool {
        let page = reference.key & PAGE_MASK;
        let (prefetch, most) = (self.prefetch, scans_of(reference.agent));
        let (quantity, other) = (self.limits.sequential_quantity, self.limits.other_quantity);
        let (kind, request) = match reference.access {
            Access::Random if !prefetch => return false,
            Access::Random => {
                let (scanned, request) = self.thread(reference).detection.reference(page, other);
                if !scanned {
                    return false;
                }
                self.counters.getpages_sequential += 1;
                (Prefetch::Dynamic, request)
            }
            Access::Sequential => {
                self.counters.getpages_sequential += 1;
                let request = prefetch.then(|| self.thread(reference).sequential.reference(page, quantity, most));
                (Prefetch::Sequential, request.flatten())
            }
            Access::Dynamic => {
                self.counters.getpages_sequential += 1;
                let request = prefetch.then(|| self.thread(reference).dynamic.reference(page, other, most));
                (Prefetch::Dynamic, request.flatten())
            }
            Access::List => {
                self.counters.getpages_list += 1;
                if prefetch {
                    self.list(reference, page);
                }
                return true;
            }
        };
        if let Some(request) = request {
            self.request(kind, reference, request);
        }
        true
    }

    /// A getpage of a list: a new request when the former is used up or a new list begins.
    fn list(&mut self, reference: &Reference, page: u64) {
        let refused = self.unavailable >= self.limits.spth;
        let quantity = self.limits.other_quantity;
        let list = &mut self.thread(reference).list;
        let begins = list.left == 0 || page < list.last;
        if begins {
            *list = List { left: quantity, last: page, read: false, registered: false, refused };
        }
        list.last = page;
        list.left -= 1;
        self.counters.prefetch_disabled += u64::from(begins && refused);
        self.counters.list_requests += u64::from(begins && !refused);
    }

    /// A prefetch request: all pages that are not in the pool are read in one I/O.
    fn request(&mut self, kind: Prefetch, reference: &Reference, request: Request) {
        if self.unavailable >= self.limits.spth {
            self.counters.prefetch_disabled += 1;
            return;
        }
        let data_set = &self.data_sets[reference.data_set as usize];
        let end = if data_set.grows { data_set.met } else { data_set.pages.unwrap_or(u64::MAX) }.min(PAGE_MASK + 1);
        let extent = reference.key & !PAGE_MASK;
        let (mut read, mut early, mut registered) = (0, 0, false);
        // Forward to the end of the data set, backward to its beginning.
        let bound = if request.way == Way::Forward { end } else { PAGE_MASK + 1 };
        let last = request.first.saturating_add(request.pages).min(bound);
        for page in request.first..last {
            self.fetch(extent | request.way.turned(page));
        }
        for page in request.first..last {
            let key = extent | request.way.turned(page);
            if self.frames.find(key).is_some() {
                continue;
            }
            let coupled = self.coupling.is_dependent(reference.data_set);
            let in_group = coupled && self.coupling.read_ahead(key, reference.data_set, !registered);
            registered |= coupled;
            early += u64::from(self.has_unknown());
            if !self.load(key, reference.data_set, reference.time, true, UNASKED) {
                break;
            }
            read += u64::from(!in_group);
        }
        let counters = &mut self.counters;
        let (requests, reads, pages) = match kind {
            Prefetch::Sequential => {
                (&mut counters.sequential_requests, &mut counters.sequential_reads, &mut counters.sequential_pages)
            }
            Prefetch::Dynamic => {
                (&mut counters.dynamic_requests, &mut counters.dynamic_reads, &mut counters.dynamic_pages)
            }
        };
        counters.prefetched_early += early;
        *requests += 1;
        *reads += u64::from(read > 0);
        *pages += read;
        let counters = &mut self.data_sets[reference.data_set as usize].counters;
        counters.prefetch_reads += u64::from(read > 0);
        counters.prefetch_pages += read;
    }

    /// PGSTEAL(NONE): the first reference to a data set loads its pages as far as there is room.
    pub(super) fn open(&mut self, reference: &Reference) {
        let known = &mut self.data_sets[reference.data_set as usize];
        if std::mem::replace(&mut known.opened, true) || !self.prefetch {
            return;
        }
        let quantity = self.limits.sequential_quantity;
        let mut first = 0;
        while first < known_pages(&self.data_sets, reference.data_set) {
            let room = self.limits.kept.saturating_sub(self.frames.len() as u32);
            if room == 0 {
                return;
            }
            let request = Request { first, pages: quantity.min(room.into()), way: Way::Forward };
            self.request(Prefetch::Sequential, reference, request);
            first += request.pages;
        }
    }
}

fn known_pages(data_sets: &[DataSet], number: u32) -> u64 {
    data_sets[number as usize].pages.unwrap_or(0)
}
