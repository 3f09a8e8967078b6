//! One pool, event by event. The rules are in the module's documentation ([`crate::policy`]).

use std::collections::VecDeque;
use std::hint::black_box;

use super::chain::{Buffers, Chain};
use super::config::{Limits, PoolConfig, Steal, WRITE_BATCH};
use super::counters::{Counters, DataSetCounters};
use super::coupling::{Alone, Coupling};
use super::scan::{Detection, Planned, Request};
use super::writes::{Changed, write_ios};
use crate::page_table::PageTable;
use crate::trace::{Access, PAGE_MASK};

/// On the sequential chain.
const SEQUENTIAL: u8 = 1;
/// Changed and not written.
const CHANGED: u8 = 2;
/// Its entry left its chain's queue because it could not be stolen.
const PASSED: u8 = 4;
/// Prefetched and not yet asked for.
const UNASKED: u8 = 8;
/// Held by a requester.
const IN_USE: u8 = 16;

/// What every getpage looks at, in one word: many of these fit into the processor's cache.
#[derive(Clone, Copy)]
struct State(u64);

impl State {
    fn new(age: u64, flags: u8) -> Self {
        Self(age << 8 | u64::from(flags))
    }

    fn age(self) -> u64 {
        self.0 >> 8
    }

    fn is(self, flag: u8) -> bool {
        self.0 as u8 & flag != 0
    }

    fn chain(self) -> usize {
        usize::from(self.is(SEQUENTIAL))
    }

    fn is_available(self) -> bool {
        !self.is(CHANGED | IN_USE)
    }

    fn add(&mut self, flag: u8) {
        self.0 |= u64::from(flag);
    }

    fn drop(&mut self, flag: u8) {
        self.0 &= !u64::from(flag);
    }
}

/// The page in a buffer: looked at when it comes and goes.
#[derive(Clone, Copy)]
struct Held {
    key: u64,
    loaded: i64,
    data_set: u32,
}

/// The buffers as a chain sees them. Ages are given once, so an age also tells the chain.
struct OnChain<'a> {
    states: &'a mut [State],
    held: &'a [Held],
    table: &'a PageTable,
}

impl Buffers for OnChain<'_> {
    #[inline(always)]
    fn is_current(&self, buffer: u32, age: u64) -> bool {
        self.states[buffer as usize].age() == age
    }

    #[inline(always)]
    fn is_available(&self, buffer: u32) -> bool {
        self.states[buffer as usize].is_available()
    }

    #[inline(always)]
    fn touch(&self, buffer: u32) -> u64 {
        self.states[buffer as usize].0
    }

    #[inline(always)]
    fn touch_page(&self, buffer: u32) -> u64 {
        self.held[buffer as usize].key
    }

    #[inline(always)]
    fn touch_place(&self, buffer: u32) -> u32 {
        self.table.touch(self.held[buffer as usize].key)
    }

    fn pass(&mut self, buffer: u32) {
        self.states[buffer as usize].add(PASSED);
    }
}

#[derive(Default)]
struct DataSet {
    counters: DataSetCounters,
    detection: Detection,
    sequential: Planned,
    dynamic: Planned,
    list: List,
    changed: Changed,
    /// Pages that it has, where that is known; preloading and the ends of prefetch need it.
    pages: Option<u64>,
    opened: bool,
}

/// The list prefetch request that getpages of a list are grouped into.
#[derive(Default)]
struct List {
    left: u64,
    last: u64,
    read: bool,
    refused: bool,
}

/// How a page came to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefetch {
    Sequential,
    Dynamic,
}

/// A page of a trace as a pool needs it.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Microseconds.
    pub time: i64,
    /// Key of the page ([`crate::trace::DataSets::key`]).
    pub key: u64,
    /// Number of its data set.
    pub data_set: u32,
    /// How it came about.
    pub access: Access,
}

/// A buffer pool; of a member of a data-sharing group, if coupled.
pub struct BufferPool<C: Coupling = Alone> {
    coupling: C,
    /// Coupled data sets that got changed pages since the last commit; some of them may have none any more.
    uncommitted: Vec<u32>,
    steal: Steal,
    /// Prefetch is simulated and VPSEQT is not 0.
    prefetch: bool,
    /// VPSEQT is not 0: sequential pages have their own chain.
    two_chains: bool,
    releases: bool,
    checkpoint: Option<i64>,
    next_checkpoint: Option<i64>,
    size: u32,
    limits: Limits,
    table: PageTable,
    states: Vec<State>,
    held: Vec<Held>,
    /// Requesters that hold each buffer; empty unless the trace records releases.
    uses: Vec<u16>,
    changed_at: Vec<u64>,
    chains: [Chain; 2],
    clock: u64,
    change_clock: u64,
    on_sequential: u32,
    unavailable: u32,
    above_dmth: bool,
    data_sets: Vec<DataSet>,
    /// Data sets with changed pages and their tickets, in the order in which they got the first of them or were last
    /// written for DWQT; tickets no longer held are passed over.
    to_write: VecDeque<(u64, u32)>,
    last_ticket: u64,
    counters: Counters,
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
            two_chains: config.vpseqt > 0 && config.steal != Steal::None,
            releases: config.releases,
            checkpoint: config.checkpoint,
            next_checkpoint: None,
            size: config.size,
            limits: config.limits(),
            table: PageTable::new(),
            states: Vec::new(),
            held: Vec::new(),
            uses: Vec::new(),
            changed_at: Vec::new(),
            chains: Default::default(),
            clock: 0,
            change_clock: 0,
            on_sequential: 0,
            unavailable: 0,
            above_dmth: false,
            data_sets: Vec::new(),
            to_write: VecDeque::new(),
            last_ticket: 0,
            counters: Counters::default(),
        }
    }

    /// Says how many pages a data set has. Prefetch ends there; PGSTEAL(NONE) loads so many at the first reference.
    pub fn set_pages(&mut self, data_set: u32, pages: u64) {
        self.know(data_set).pages = Some(pages);
    }

    fn know(&mut self, data_set: u32) -> &mut DataSet {
        let at = data_set as usize;
        if at >= self.data_sets.len() {
            self.data_sets.resize_with(at + 1, DataSet::default);
        }
        &mut self.data_sets[at]
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

    /// Loads what a reference to this page will need first.
    #[inline(always)]
    pub(crate) fn touch_table(&self, key: u64) -> u32 {
        self.table.touch(key)
    }

    /// Loads what it will need next.
    #[inline(always)]
    pub(crate) fn touch_buffer(&self, key: u64) -> u64 {
        self.table.get(key).map_or(0, |at| self.states[at as usize].0)
    }

    /// The buffer that holds a page.
    #[inline(always)]
    fn find(&self, key: u64) -> Option<u32> {
        self.table.get(key)
    }

    /// A request for a page.
    #[inline]
    pub fn getpage(&mut self, reference: &Reference) {
        self.pass_time(reference.time);
        self.know(reference.data_set).counters.getpages += 1;
        self.counters.getpages += 1;
        if self.steal == Steal::None {
            self.open(reference);
        }
        let sequential = self.before_lookup(reference);
        let at = match self.find(reference.key) {
            Some(at) => {
                self.validate(reference, sequential);
                self.hit(at, sequential);
                Some(at)
            }
            None => self.miss(reference, sequential),
        };
        if let (true, Some(at)) = (self.releases, at) {
            self.hold(at);
        }
    }

    /// What a getpage starts before its page is looked for; whether it counts as sequential.
    #[inline]
    fn before_lookup(&mut self, reference: &Reference) -> bool {
        let page = reference.key & PAGE_MASK;
        let data_set = &mut self.data_sets[reference.data_set as usize];
        let (quantity, other) = (self.limits.sequential_quantity, self.limits.other_quantity);
        let (kind, request) = match reference.access {
            Access::Random if !self.prefetch => return false,
            Access::Random => {
                let (scanned, request) = data_set.detection.reference(page, other);
                if !scanned {
                    return false;
                }
                self.counters.getpages_sequential += 1;
                (Prefetch::Dynamic, request)
            }
            Access::Sequential => {
                self.counters.getpages_sequential += 1;
                let request = self.prefetch.then(|| data_set.sequential.reference(page, quantity));
                (Prefetch::Sequential, request.flatten())
            }
            Access::Dynamic => {
                self.counters.getpages_sequential += 1;
                let request = self.prefetch.then(|| data_set.dynamic.reference(page, other));
                (Prefetch::Dynamic, request.flatten())
            }
            Access::List => {
                self.counters.getpages_list += 1;
                if self.prefetch {
                    self.list(reference.data_set, page);
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
    fn list(&mut self, data_set: u32, page: u64) {
        let refused = self.unavailable >= self.limits.spth;
        let list = &mut self.data_sets[data_set as usize].list;
        if list.left == 0 || page < list.last {
            *list = List { left: self.limits.other_quantity, last: page, read: false, refused };
            if refused {
                self.counters.prefetch_disabled += 1;
            } else {
                self.counters.list_requests += 1;
            }
        }
        list.last = page;
        list.left -= 1;
    }

    /// A prefetch request: all pages that are not in the pool are read in one I/O.
    fn request(&mut self, kind: Prefetch, reference: &Reference, request: Request) {
        if self.unavailable >= self.limits.spth {
            self.counters.prefetch_disabled += 1;
            return;
        }
        let end = self.data_sets[reference.data_set as usize].pages.unwrap_or(u64::MAX).min(PAGE_MASK + 1);
        let extent = reference.key & !PAGE_MASK;
        let mut read = 0;
        let last = request.first.saturating_add(request.pages).min(end);
        let mut touched = 0;
        for page in request.first..last {
            touched ^= self.table.touch(extent | page);
        }
        black_box(touched);
        for page in request.first..last {
            let key = extent | page;
            if self.find(key).is_some() {
                continue;
            }
            let in_group = self.is_in_group(key, reference.data_set);
            if self.load(key, reference.data_set, reference.time, true, UNASKED).is_none() {
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
        *requests += 1;
        *reads += u64::from(read > 0);
        *pages += read;
        let counters = &mut self.data_sets[reference.data_set as usize].counters;
        counters.prefetch_reads += u64::from(read > 0);
        counters.prefetch_pages += read;
    }

    /// A page in the pool that another member changed meanwhile is read again into its buffer.
    #[inline(always)]
    fn validate(&mut self, reference: &Reference, sequential: bool) {
        if self.coupling.is_dependent(reference.data_set)
            && !self.coupling.is_valid(reference.key)
            && !self.coupling.reread(reference.key, reference.data_set)
        {
            self.count_sync_read(reference.data_set, sequential);
        }
    }

    /// Registers a coupled page that is about to be read; whether the group buffer pool has it, so that no I/O is needed.
    #[inline(always)]
    fn is_in_group(&mut self, key: u64, data_set: u32) -> bool {
        self.coupling.is_dependent(data_set) && self.coupling.read(key, data_set)
    }

    fn count_sync_read(&mut self, data_set: u32, sequential: bool) {
        self.data_sets[data_set as usize].counters.sync_reads += 1;
        if sequential {
            self.counters.sync_reads_sequential += 1;
        } else {
            self.counters.sync_reads_random += 1;
        }
    }

    /// The page was in the pool.
    #[inline(always)]
    fn hit(&mut self, at: u32, sequential: bool) {
        let state = &mut self.states[at as usize];
        state.drop(UNASKED);
        if self.steal != Steal::Lru {
            return;
        }
        if !sequential && state.is(SEQUENTIAL) {
            state.drop(SEQUENTIAL);
            self.on_sequential -= 1;
            self.counters.random_hits_sequential += 1;
        }
        self.clock += 1;
        *state = State::new(self.clock, state.0 as u8 & !PASSED);
        let chain = state.chain();
        self.enter(at, chain);
    }

    /// Puts a buffer at the young end of a chain.
    #[inline(always)]
    fn enter(&mut self, at: u32, chain: usize) {
        self.chains[chain].touch(at, self.clock);
        if self.chains[chain].entries() > 4 * self.size as usize + 1024 {
            self.chains[chain].sweep(&OnChain { states: &mut self.states, held: &self.held, table: &self.table });
        }
    }

    /// The page was not in the pool.
    fn miss(&mut self, reference: &Reference, sequential: bool) -> Option<u32> {
        if !self.is_in_group(reference.key, reference.data_set) {
            let known = &mut self.data_sets[reference.data_set as usize];
            if reference.access == Access::List && self.prefetch && !known.list.refused {
                let begun = !std::mem::replace(&mut known.list.read, true);
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

    /// Puts a page into a buffer; none when all are in use.
    fn load(&mut self, key: u64, data_set: u32, time: i64, sequential: bool, flags: u8) -> Option<u32> {
        let sequential = sequential && self.two_chains;
        let at = if self.states.len() < self.size as usize {
            self.states.push(State(0));
            self.held.push(Held { key, loaded: time, data_set });
            self.changed_at.push(0);
            if self.releases {
                self.uses.push(0);
            }
            self.states.len() as u32 - 1
        } else {
            match self.steal(time, sequential) {
                Some(at) => at,
                None => {
                    if self.coupling.is_dependent(data_set) {
                        self.coupling.forget(key);
                    }
                    return None;
                }
            }
        };
        self.clock += 1;
        self.states[at as usize] = State::new(self.clock, flags | if sequential { SEQUENTIAL } else { 0 });
        self.held[at as usize] = Held { key, loaded: time, data_set };
        self.table.replace(key, at);
        self.data_sets[data_set as usize].counters.loaded += 1;
        self.on_sequential += u32::from(sequential);
        if self.steal != Steal::None || at >= self.limits.kept {
            self.enter(at, usize::from(sequential));
        }
        Some(at)
    }

    /// Frees a buffer for a page that is read sequentially or not.
    fn steal(&mut self, time: i64, sequential: bool) -> Option<u32> {
        let full = self.on_sequential >= self.limits.sequential + u32::from(!sequential);
        let from_sequential = self.oldest(1);
        let chosen = match from_sequential {
            Some(found) if full => {
                self.counters.sequential_threshold += 1;
                Some(found)
            }
            _ => match (self.oldest(0), from_sequential) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
        };
        let at = match chosen {
            Some((_, at)) => at,
            None => {
                self.counters.no_buffer += 1;
                self.free_one()?
            }
        };
        let (state, held) = (self.states[at as usize], self.held[at as usize]);
        let stayed = u64::try_from(time.saturating_sub(held.loaded)).unwrap_or(0);
        self.counters.stolen += 1;
        self.counters.residency += stayed;
        self.counters.prefetched_unused += u64::from(state.is(UNASKED));
        let counters = &mut self.data_sets[held.data_set as usize].counters;
        counters.stolen += 1;
        counters.residency += stayed;
        if state.is(SEQUENTIAL) {
            counters.stolen_sequential += 1;
            counters.residency_sequential += stayed;
            self.counters.stolen_sequential += 1;
            self.counters.residency_sequential += stayed;
        }
        self.on_sequential -= u32::from(state.is(SEQUENTIAL));
        self.table.remove(held.key);
        if self.coupling.is_dependent(held.data_set) {
            self.coupling.forget(held.key);
        }
        Some(at)
    }

    fn oldest(&mut self, chain: usize) -> Option<(u64, u32)> {
        self.chains[chain].oldest(&mut OnChain { states: &mut self.states, held: &self.held, table: &self.table })
    }

    /// Writes the oldest changed page that is not in use, synchronously, and gives its buffer.
    #[cold]
    fn free_one(&mut self) -> Option<u32> {
        let first = if self.steal == Steal::None { self.limits.kept } else { 0 };
        let changed = (first..self.size).filter(|&at| {
            let state = self.states[at as usize];
            !state.is(IN_USE) && state.is(CHANGED)
        });
        let at = changed.min_by_key(|&at| self.states[at as usize].age())?;
        self.write_synchronously(at);
        // Stolen at once: whatever the chains still know of it carries an age that will not return.
        Some(at)
    }

    /// A page is about to be changed.
    pub fn set_write(&mut self, reference: &Reference) {
        self.pass_time(reference.time);
        self.know(reference.data_set).counters.updates += 1;
        self.counters.updates += 1;
        let at = match self.find(reference.key) {
            Some(at) => {
                self.validate(reference, false);
                at
            }
            None => {
                self.counters.updates_reread += 1;
                if !self.is_in_group(reference.key, reference.data_set) {
                    self.count_sync_read(reference.data_set, false);
                }
                match self.load(reference.key, reference.data_set, reference.time, false, 0) {
                    Some(at) => at,
                    None => {
                        // No buffer for it: changed in a buffer of no pool and written at once.
                        self.write_out(reference.data_set, &[reference.key], true);
                        return;
                    }
                }
            }
        };
        self.change(at);
        if self.unavailable >= self.limits.iwth {
            self.write_synchronously(at);
            return;
        }
        if self.data_sets[reference.data_set as usize].changed.count > self.limits.vertical {
            self.counters.vertical_threshold += 1;
            self.write_oldest(reference.data_set, self.limits.vertical_batch, false);
        }
        if self.unavailable > self.limits.horizontal {
            self.counters.horizontal_threshold += 1;
            self.write_down();
        }
    }

    fn change(&mut self, at: u32) {
        let state = &mut self.states[at as usize];
        if state.is(CHANGED) {
            return;
        }
        let was_available = state.is_available();
        state.add(CHANGED);
        let number = self.held[at as usize].data_set;
        self.change_clock += 1;
        self.changed_at[at as usize] = self.change_clock;
        let changed = &mut self.data_sets[number as usize].changed;
        changed.order.push_back((self.change_clock, at));
        changed.count += 1;
        if changed.order.len() > 2 * changed.count as usize + 64 {
            let (states, changed_at) = (&self.states, &self.changed_at);
            changed.order.retain(|&(when, at)| states[at as usize].is(CHANGED) && changed_at[at as usize] == when);
        }
        if changed.count == 1 && self.coupling.is_dependent(number) {
            self.uncommitted.push(number);
        }
        if changed.ticket == 0 {
            self.take_ticket(number);
        }
        self.now_unavailable(was_available);
    }

    /// Puts a data set at the end of the queue of those with changed pages.
    fn take_ticket(&mut self, number: u32) {
        self.last_ticket += 1;
        self.data_sets[number as usize].changed.ticket = self.last_ticket;
        self.to_write.push_back((self.last_ticket, number));
        if self.to_write.len() > 2 * self.data_sets.len() + 64 {
            let data_sets = &self.data_sets;
            self.to_write.retain(|&(ticket, number)| data_sets[number as usize].changed.ticket == ticket);
        }
    }

    /// The data set whose turn it is to be written.
    fn next_to_write(&mut self) -> Option<u32> {
        while let Some((ticket, number)) = self.to_write.pop_front() {
            let changed = &mut self.data_sets[number as usize].changed;
            if changed.ticket == ticket {
                changed.ticket = 0;
                return Some(number);
            }
        }
        None
    }

    fn hold(&mut self, at: u32) {
        let state = &mut self.states[at as usize];
        let was_available = state.is_available();
        state.add(IN_USE);
        let uses = &mut self.uses[at as usize];
        *uses = uses.saturating_add(1);
        self.now_unavailable(was_available);
    }

    fn now_unavailable(&mut self, was_available: bool) {
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
    fn now_available(&mut self, at: u32) {
        self.unavailable -= 1;
        self.above_dmth &= self.unavailable >= self.limits.dmth;
        let state = &mut self.states[at as usize];
        if state.is(PASSED) {
            state.drop(PASSED);
            let (chain, age) = (state.chain(), state.age());
            self.chains[chain].wake(at, age);
        }
    }

    /// The requester is done with a page.
    pub fn release(&mut self, reference: &Reference) {
        self.pass_time(reference.time);
        if !self.releases {
            return;
        }
        let Some(at) = self.find(reference.key) else { return };
        let uses = &mut self.uses[at as usize];
        if *uses == 0 {
            return;
        }
        *uses -= 1;
        if *uses == 0 {
            self.states[at as usize].drop(IN_USE);
            if self.states[at as usize].is_available() {
                self.now_available(at);
            }
        }
    }

    /// A read or prefetch that the trace records.
    pub fn recorded(&mut self, time: i64) {
        self.pass_time(time);
        self.counters.recorded_reads += 1;
    }

    /// Marks a changed page as written.
    fn clean(&mut self, at: u32) {
        let state = &mut self.states[at as usize];
        state.drop(CHANGED);
        let (number, available) = (self.held[at as usize].data_set, state.is_available());
        let changed = &mut self.data_sets[number as usize].changed;
        changed.count -= 1;
        if changed.count == 0 {
            changed.ticket = 0;
        }
        if available {
            self.now_available(at);
        }
    }

    /// Pages of a data set, no longer changed here, go to disk, or to the group buffer pool if it is coupled.
    fn write_out(&mut self, data_set: u32, keys: &[u64], synchronous: bool) {
        if self.coupling.is_dependent(data_set) {
            for &key in keys {
                self.coupling.write(key, data_set, synchronous);
            }
            return;
        }
        let ios = write_ios(keys, self.limits.write_quantity);
        self.counters.pages_written += keys.len() as u64;
        if synchronous {
            self.counters.sync_writes += ios;
        } else {
            self.counters.async_writes += ios;
        }
        let counters = &mut self.data_sets[data_set as usize].counters;
        counters.pages_written += keys.len() as u64;
        counters.writes += ios;
    }

    fn write_synchronously(&mut self, at: u32) {
        let held = self.held[at as usize];
        self.clean(at);
        self.write_out(held.data_set, &[held.key], true);
    }

    /// Writes the pages of a data set that were changed first, so many at most.
    fn write_oldest(&mut self, data_set: u32, most: usize, synchronous: bool) {
        let mut keys = Vec::new();
        while keys.len() < most {
            let Some((when, at)) = self.data_sets[data_set as usize].changed.order.pop_front() else { break };
            if self.states[at as usize].is(CHANGED) && self.changed_at[at as usize] == when {
                keys.push(self.held[at as usize].key);
                self.clean(at);
            }
        }
        keys.sort_unstable();
        self.write_out(data_set, &keys, synchronous);
    }

    /// A commit: changed pages of coupled data sets go to the group buffer pool.
    pub fn commit(&mut self) {
        for number in std::mem::take(&mut self.uncommitted) {
            self.write_oldest(number, usize::MAX, true);
        }
    }

    /// Another member wants the page: if it is changed here it goes to the group buffer pool first.
    pub fn give_up(&mut self, key: u64) {
        if let Some(at) = self.find(key)
            && self.states[at as usize].is(CHANGED)
        {
            self.write_synchronously(at);
        }
    }

    /// Writes data set by data set, a batch each in turn, until few enough buffers are unavailable.
    fn write_down(&mut self) {
        while self.unavailable > self.limits.horizontal_floor {
            let Some(number) = self.next_to_write() else { break };
            self.write_oldest(number, WRITE_BATCH, false);
            if self.data_sets[number as usize].changed.count > 0 {
                self.take_ticket(number);
            }
        }
    }

    /// Checkpoints that are due.
    #[inline(always)]
    fn pass_time(&mut self, now: i64) {
        let Some(every) = self.checkpoint else { return };
        let next = *self.next_checkpoint.get_or_insert(now.saturating_add(every));
        if now >= next {
            // Between two events nothing changes: of several checkpoints that are due only the first writes.
            let passed = (now - next) / every + 1;
            self.next_checkpoint = Some(next.saturating_add(passed.saturating_mul(every)));
            self.counters.checkpoints += passed as u64;
            while let Some(number) = self.next_to_write() {
                self.write_oldest(number, usize::MAX, false);
            }
        }
    }

    /// PGSTEAL(NONE): the first reference to a data set loads its pages as far as there is room.
    fn open(&mut self, reference: &Reference) {
        let known = &mut self.data_sets[reference.data_set as usize];
        if std::mem::replace(&mut known.opened, true) || !self.prefetch {
            return;
        }
        let quantity = self.limits.sequential_quantity;
        let mut first = 0;
        while first < known_pages(&self.data_sets, reference.data_set) {
            let room = self.limits.kept.saturating_sub(self.states.len() as u32);
            if room == 0 {
                return;
            }
            let request = Request { first, pages: quantity.min(room.into()) };
            self.request(Prefetch::Sequential, reference, request);
            first += request.pages;
        }
    }
}

fn known_pages(data_sets: &[DataSet], number: u32) -> u64 {
    data_sets[number as usize].pages.unwrap_or(0)
}
