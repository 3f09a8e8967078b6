//! One pool, event by event. The rules are in the module's documentation ([`crate::policy`]).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use prefetch_index::prefetch_index;

use super::chain::Chain;
use super::config::{Limits, PoolConfig};
use super::counters::{Counters, DataSetCounters};
use super::coupling::{Alone, Coupling};
use super::data_set::DataSet;
use super::frames::{Frames, IN_USE, KEPT, PASSED, Place, SEQUENTIAL, State, UNASKED};
use super::page_steal::Steal;
use super::steal::OnChain;
use super::threads::{Thread, Threads};
use crate::page_table::PageTable;
use crate::trace::{Access, PAGE_BITS, PAGE_MASK, Status};

/// A page of a trace as a pool needs it.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Microseconds. How long pages stay is exact within four years of the first.
    pub time: i64,
    /// Key of the page ([`crate::trace::DataSets::key`]).
    pub key: u64,
    /// Number of its data set.
    pub data_set: u32,
    /// The thread; 0 where it is not known.
    pub agent: u32,
    /// How it came about.
    pub access: Access,
    /// What became of it, as the trace records it.
    pub status: Status,
}

/// A buffer pool; of a member of a data-sharing group, if coupled.
pub struct BufferPool<C: Coupling = Alone> {
    pub(super) coupling: C,
    /// Coupled data sets that got changed pages since the last commit; some of them may have none any more.
    pub(super) uncommitted: Vec<u32>,
    pub(super) steal: Steal,
    /// Prefetch is simulated and VPSEQT is not 0.
    pub(super) prefetch: bool,
    /// VPSEQT is not 0: sequential pages have their own chain.
    two_chains: bool,
    releases: bool,
    pub(super) checkpoint: Option<i64>,
    pub(super) next_checkpoint: Option<i64>,
    pub(super) pseudo_close: Option<i64>,
    /// When data sets with updates are to be looked at for their pseudo close.
    pub(super) closes: BinaryHeap<Reverse<(i64, u32)>>,
    /// When time has to be looked at: the next checkpoint or pseudo close.
    pub(super) due: i64,
    /// See [`PoolConfig::warm`].
    warm: bool,
    size: u32,
    pub(super) limits: Limits,
    pub(super) frames: Frames,
    pub(super) chains: [Chain<u64>; 2],
    clock: u64,
    /// Time of the first page read.
    origin: Option<i64>,
    /// Requesters that hold each page in use.
    uses: PageTable,
    /// Changed pages written out of order: how many entries of each are still in its data set's order.
    pub(super) written_early: PageTable,
    pub(super) on_sequential: u32,
    pub(super) unavailable: u32,
    above_dmth: bool,
    pub(super) data_sets: Vec<DataSet>,
    pub(super) threads: Threads,
    /// Data set of the pages of each extent, the upper bits of a key.
    owners: Vec<u32>,
    /// Data sets with changed pages and their tickets, in the order in which they got the first of them or were last
    /// written for DWQT; tickets no longer held are passed over.
    pub(super) to_write: VecDeque<(u64, u32)>,
    pub(super) last_ticket: u64,
    pub(super) counters: Counters,
}

impl BufferPool {
    /// An empty pool. The settings are checked by [`PoolConfig::check`] beforehand.
    pub fn new(config: &PoolConfig) -> Self {
        Self::coupled(config, Alone)
    }
}

impl<C: Coupling> BufferPool<C> {
    /// An empty pool of a member.
    pub fn coupled(config: &PoolConfig, coupling: C) -> Self {
        Self {
            coupling,
            uncommitted: Vec::new(),
            steal: config.steal,
            prefetch: config.prefetch && config.vpseqt > 0,
            two_chains: config.vpseqt > 0 && !config.steal.keeps(),
            releases: config.releases,
            checkpoint: config.checkpoint,
            next_checkpoint: None,
            pseudo_close: config.pseudo_close,
            closes: BinaryHeap::new(),
            due: if config.checkpoint.is_some() { i64::MIN } else { i64::MAX },
            warm: config.warm,
            size: config.size,
            limits: config.limits(),
            frames: Frames::new(config.size as usize),
            chains: Default::default(),
            clock: 0,
            origin: None,
            uses: PageTable::new(),
            written_early: PageTable::new(),
            on_sequential: 0,
            unavailable: 0,
            above_dmth: false,
            data_sets: Vec::new(),
            threads: Threads::default(),
            owners: Vec::new(),
            to_write: VecDeque::new(),
            last_ticket: 0,
            counters: Counters::default(),
        }
    }

    /// Says how many pages a data set has. Prefetch ends there; PGSTEAL(NONE) loads so many at the first reference.
    pub fn set_pages(&mut self, data_set: u32, pages: u64) {
        self.know(data_set).pages = Some(pages);
    }

    #[inline(always)]
    pub(super) fn know(&mut self, data_set: u32) -> &mut DataSet {
        let at = data_set as usize;
        if at >= self.data_sets.len() {
            self.data_sets.resize_with(at + 1, DataSet::default);
        }
        &mut self.data_sets[at]
    }

    /// The thread of a reference in its data set, which is known.
    #[inline(always)]
    pub(super) fn thread(&mut self, reference: &Reference) -> &mut Thread {
        let last = &mut self.data_sets[reference.data_set as usize].thread;
        self.threads.of(reference.data_set, reference.agent, last)
    }

    /// Whether buffers are left whose pages nobody has referred to.
    #[inline(always)]
    pub(super) fn has_unknown(&self) -> bool {
        (self.frames.len() as u32) < self.size
    }

    /// Counters since the beginning.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counters of a data set.
    pub fn data_set_counters(&self, data_set: u32) -> DataSetCounters {
        self.data_sets.get(data_set as usize).map(|known| known.counters).unwrap_or_default()
    }

    /// Buffers on the sequential chain now.
    pub fn on_sequential(&self) -> u32 {
        self.on_sequential
    }

    /// Buffers changed or in use now.
    pub fn unavailable(&self) -> u32 {
        self.unavailable
    }

    /// Begins to load what a reference to this page will need.
    #[inline(always)]
    pub fn fetch(&self, key: u64) {
        self.frames.fetch(key);
    }

    /// Begins to load what a later reference will need, except its thread.
    #[inline(always)]
    pub fn foresee(&self, reference: &Reference) {
        self.frames.fetch(reference.key);
        prefetch_index(&self.data_sets, reference.data_set as usize);
    }

    /// Begins to load the thread of a later reference that was foreseen some time ago.
    #[inline(always)]
    pub fn foresee_thread(&self, reference: &Reference) {
        if let Some(known) = self.data_sets.get(reference.data_set as usize) {
            self.threads.fetch(&known.thread);
        }
    }

    /// A request for a page.
    #[inline]
    pub fn getpage(&mut self, reference: &Reference) {
        if reference.status == Status::NoRead {
            self.grow(reference);
            return self.getpage_at_end(reference, true);
        }
        self.pass_time(reference.time);
        let data_set = self.know(reference.data_set);
        data_set.counters.getpages += 1;
        data_set.met = data_set.met.max((reference.key & PAGE_MASK) + 1);
        self.counters.getpages += 1;
        if self.steal.keeps() {
            self.open(reference);
        }
        let sequential = self.before_lookup(reference);
        let found = match self.frames.find(reference.key) {
            Some(place) => {
                self.validate(reference, sequential);
                self.hit(reference.key, place, sequential);
                true
            }
            None => self.miss(reference, sequential),
        };
        if self.releases && found {
            self.hold(reference.key);
        }
    }

    /// A page that is made anew behind all others is the last of its data set: nothing lies ahead of it to prefetch.
    fn grow(&mut self, reference: &Reference) {
        let data_set = self.know(reference.data_set);
        let end = (reference.key & PAGE_MASK) + 1;
        if end > data_set.met {
            data_set.met = end;
            data_set.grows |= data_set.pages.is_none();
        }
    }

    /// A request for a page at the end of its data set, where nothing lies ahead that might be prefetched; `new`: it is
    /// made, not read.
    pub fn getpage_at_end(&mut self, reference: &Reference, new: bool) {
        self.pass_time(reference.time);
        self.know(reference.data_set).counters.getpages += 1;
        self.counters.getpages += 1;
        let found = match self.frames.find(reference.key) {
            Some(place) => {
                self.validate(reference, false);
                self.hit(reference.key, place, false);
                true
            }
            None if new => {
                self.counters.not_read += 1;
                self.is_in_group(reference.key, reference.data_set);
                self.load(reference.key, reference.data_set, reference.time, false, 0)
            }
            None => self.miss(reference, false),
        };
        if self.releases && found {
            self.hold(reference.key);
        }
    }

    /// A page in the pool that another member changed meanwhile is read again into its buffer.
    #[inline(always)]
    pub(super) fn validate(&mut self, reference: &Reference, sequential: bool) {
        if self.coupling.is_dependent(reference.data_set)
            && !self.coupling.is_valid(reference.key)
            && !self.coupling.reread(reference.key, reference.data_set)
        {
            self.count_sync_read(reference.data_set, sequential);
        }
    }

    /// Registers a coupled page that is about to be read; whether the group buffer pool has it, so that no I/O is needed.
    #[inline(always)]
    pub(super) fn is_in_group(&mut self, key: u64, data_set: u32) -> bool {
        self.coupling.is_dependent(data_set) && self.coupling.read(key, data_set)
    }

    pub(super) fn count_sync_read(&mut self, data_set: u32, sequential: bool) {
        self.data_sets[data_set as usize].counters.sync_reads += 1;
        if sequential {
            self.counters.sync_reads_sequential += 1;
        } else {
            self.counters.sync_reads_random += 1;
        }
    }

    /// The page was in the pool.
    #[inline(always)]
    fn hit(&mut self, key: u64, place: Place, sequential: bool) {
        let state = self.frames.state_mut(place);
        state.drop(UNASKED);
        if !self.steal.renews() {
            return;
        }
        if !sequential && state.is(SEQUENTIAL) {
            state.drop(SEQUENTIAL);
            self.on_sequential -= 1;
            self.counters.random_hits_sequential += 1;
        }
        self.clock += 1;
        state.drop(PASSED);
        state.set_age(self.clock);
        let chain = state.chain();
        self.enter(key, chain);
    }

    /// Puts a buffer at the young end of a chain.
    #[inline(always)]
    fn enter(&mut self, key: u64, chain: usize) {
        self.chains[chain].touch(key, self.clock);
        if self.chains[chain].entries() > 4 * self.size as usize + 1024 {
            self.chains[chain].sweep(&mut OnChain::new(&mut self.frames));
        }
    }

    /// The page was not in the pool; whether it is now.
    fn miss(&mut self, reference: &Reference, sequential: bool) -> bool {
        if self.warm && reference.status == Status::Hit && self.has_unknown() {
            self.counters.warm += 1;
            self.is_in_group(reference.key, reference.data_set);
            return self.load(reference.key, reference.data_set, reference.time, sequential, 0);
        }
        let of_list = reference.access == Access::List && self.prefetch && !self.thread(reference).list.refused;
        let in_group = if of_list && self.coupling.is_dependent(reference.data_set) {
            let first = !std::mem::replace(&mut self.thread(reference).list.registered, true);
            self.coupling.read_ahead(reference.key, reference.data_set, first)
        } else {
            self.is_in_group(reference.key, reference.data_set)
        };
        if !in_group {
            if of_list {
                let begun = !std::mem::replace(&mut self.thread(reference).list.read, true);
                let known = &mut self.data_sets[reference.data_set as usize];
                known.counters.prefetch_reads += u64::from(begun);
                known.counters.prefetch_pages += 1;
                self.counters.list_reads += u64::from(begun);
                self.counters.list_pages += 1;
            } else {
                self.count_sync_read(reference.data_set, sequential);
            }
        }
        self.load(reference.key, reference.data_set, reference.time, sequential, 0)
    }

    /// Puts a page into a buffer; not when all are in use.
    pub(super) fn load(&mut self, key: u64, data_set: u32, time: i64, sequential: bool, flags: u8) -> bool {
        let mut flags = flags;
        if sequential && self.two_chains {
            flags |= SEQUENTIAL;
        }
        let now = self.moment(time);
        let held = self.frames.len() as u32;
        if held < self.size {
            if self.steal.keeps() && held < self.limits.kept {
                flags |= KEPT;
            }
        } else {
            let coupled = self.coupling.is_dependent(data_set);
            if !self.steal(now, flags & SEQUENTIAL != 0, coupled) {
                if coupled {
                    self.coupling.forget(key, false);
                }
                return false;
            }
        }
        self.clock += 1;
        self.frames.insert(key, State::new(self.clock, flags), now);
        self.own(key, data_set);
        self.data_sets[data_set as usize].counters.loaded += 1;
        self.on_sequential += u32::from(flags & SEQUENTIAL != 0);
        if flags & KEPT == 0 {
            self.enter(key, usize::from(flags & SEQUENTIAL != 0));
        }
        true
    }

    /// A time in the 48 bits that a buffer has for it: microseconds since 2^47 before the first page was read.
    #[inline(always)]
    fn moment(&mut self, time: i64) -> u64 {
        const HALF: i64 = 1 << 47;
        let since = time.saturating_sub(*self.origin.get_or_insert(time));
        (since.clamp(-HALF, HALF - 1) + HALF) as u64
    }

    #[inline(always)]
    fn own(&mut self, key: u64, data_set: u32) {
        let extent = (key >> PAGE_BITS) as usize;
        if extent >= self.owners.len() {
            self.owners.resize(extent + 1, 0);
        }
        self.owners[extent] = data_set;
    }

    /// Data set of a page that has been in the pool.
    #[inline(always)]
    pub(super) fn owner(&self, key: u64) -> u32 {
        self.owners[(key >> PAGE_BITS) as usize]
    }

    fn hold(&mut self, key: u64) {
        let Some(place) = self.frames.find(key) else { return };
        let state = self.frames.state_mut(place);
        let was_available = state.is_available();
        state.add(IN_USE);
        *self.uses.slot(key, 0).0 += 1;
        self.now_unavailable(was_available);
    }

    pub(super) fn now_unavailable(&mut self, was_available: bool) {
        if !was_available {
            return;
        }
        self.unavailable += 1;
        if self.unavailable >= self.limits.dmth && !self.above_dmth {
            self.above_dmth = true;
            self.counters.data_management_threshold += 1;
        }
    }

    /// To be called when a buffer has lost its last reason to be unavailable.
    pub(super) fn now_available(&mut self, key: u64, place: Place) {
        self.unavailable -= 1;
        self.above_dmth &= self.unavailable >= self.limits.dmth;
        let state = self.frames.state_mut(place);
        if state.is(PASSED) {
            state.drop(PASSED);
            let (chain, age) = (state.chain(), state.age());
            self.chains[chain].wake(key, age);
        }
    }

    /// The requester is done with a page.
    pub fn release(&mut self, reference: &Reference) {
        self.pass_time(reference.time);
        if !self.releases {
            return;
        }
        // Pages in use are in the pool: they cannot be stolen.
        let Some(uses) = self.uses.get(reference.key) else { return };
        if uses > 1 {
            self.uses.replace(reference.key, uses - 1);
            return;
        }
        self.uses.remove(reference.key);
        let Some(place) = self.frames.find(reference.key) else { return };
        let state = self.frames.state_mut(place);
        state.drop(IN_USE);
        if state.is_available() {
            self.now_available(reference.key, place);
        }
    }

    /// A read or prefetch that the trace records.
    pub fn recorded(&mut self, time: i64) {
        self.pass_time(time);
        self.counters.recorded_reads += 1;
    }
}
