//! What a pool knows of each thread's references to each data set.
//!
//! Sequential detection and prefetch go by thread ("Sequential detection at execution time" in "DB2 10 for z/OS Managing
//! Performance", SC19-2978: what a statement of a thread refers to), so two threads that scan a data set do not disturb
//! each other. A trace that does not tell threads apart has one.

use prefetch_index::prefetch_index;

use super::scan::{Detection, Planned, Recorded};
use crate::page_table::PageTable;

/// Threads in data sets that are remembered. When there are more, the half referenced longest ago is forgotten.
const MOST: usize = 1 << 16;

/// A thread in a data set.
#[derive(Default)]
#[repr(C, align(64))]
pub(super) struct Thread {
    pub detection: Detection,
    pub sequential: Planned,
    pub dynamic: Recorded,
    pub list: List,
    /// When it was looked up last.
    used: u64,
    key: u64,
}

/// The list prefetch request that getpages of a list are grouped into.
#[derive(Default)]
pub(super) struct List {
    pub left: u64,
    pub last: u64,
    pub read: bool,
    /// Whether a page of it was registered with a group buffer pool.
    pub registered: bool,
    pub refused: bool,
}

/// Where a data set's thread that was referenced last is.
#[derive(Clone, Copy, Default)]
pub(super) struct Last {
    agent: u32,
    /// Place, and how often threads had been forgotten when it was found; a place of another time means nothing.
    place: u32,
    sweeps: u32,
}

/// Threads by data set.
pub(super) struct Threads {
    places: PageTable,
    known: Vec<Thread>,
    clock: u64,
    sweeps: u32,
    most: usize,
}

impl Default for Threads {
    fn default() -> Self {
        Self { places: PageTable::new(), known: Vec::new(), clock: 0, sweeps: 1, most: MOST }
    }
}

impl Threads {
    /// A thread in a data set; `last` is the one that was looked up last there.
    #[inline(always)]
    pub fn of(&mut self, data_set: u32, agent: u32, last: &mut Last) -> &mut Thread {
        if last.agent != agent || last.sweeps != self.sweeps {
            self.look_up(data_set, agent, last);
        }
        &mut self.known[last.place as usize]
    }

    /// Begins to load the thread that was looked up last in a data set.
    #[inline(always)]
    pub fn fetch(&self, last: &Last) {
        prefetch_index(&self.known, last.place as usize);
    }

    fn look_up(&mut self, data_set: u32, agent: u32, last: &mut Last) {
        let key = u64::from(data_set) << 32 | u64::from(agent);
        self.clock += 1;
        let place = match self.places.get(key) {
            Some(place) => place,
            None => {
                if self.known.len() == self.most {
                    self.forget_half();
                }
                let place = self.known.len() as u32;
                self.places.replace(key, place);
                self.known.push(Thread { key, ..Thread::default() });
                place
            }
        };
        self.known[place as usize].used = self.clock;
        *last = Last { agent, place, sweeps: self.sweeps };
    }

    #[cold]
    fn forget_half(&mut self) {
        self.known.sort_unstable_by_key(|thread| std::cmp::Reverse(thread.used));
        self.known.truncate(self.most / 2);
        self.places = PageTable::new();
        for (place, thread) in self.known.iter().enumerate() {
            self.places.replace(thread.key, place as u32);
        }
        self.sweeps += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_apart_and_the_half_referenced_last_is_kept() {
        let mut threads = Threads { most: 4, ..Threads::default() };
        let mut last = [Last::default(); 8];
        for data_set in 0..4 {
            threads.of(data_set, 7, &mut last[data_set as usize]).list.left = u64::from(data_set) + 1;
        }
        threads.of(0, 8, &mut Last::default());
        // Data sets 2 and 3 were referenced last before the fifth came.
        let left = |threads: &mut Threads, data_set: u32| threads.of(data_set, 7, &mut Last::default()).list.left;
        assert_eq!([2, 3].map(|data_set| left(&mut threads, data_set)), [3, 4]);
        assert_eq!(threads.known.len(), 3);
        // A place from before means nothing now.
        assert_eq!(threads.of(3, 7, &mut last[3]).list.left, 4);
        assert_eq!(threads.of(0, 7, &mut last[0]).list.left, 0);
    }
}
