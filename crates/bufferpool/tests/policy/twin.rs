//! The rules of a pool once more, on plain vectors and without regard to speed.

use std::collections::BTreeMap;

use plexlens_bufferpool::policy::{Counters, DataSetCounters, PoolConfig, Steal};
use plexlens_bufferpool::trace::{Access, Function, Status};

/// One event of a test's trace.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub time: i64,
    pub set: u32,
    pub page: u64,
    pub function: Function,
    pub access: Access,
    pub agent: u32,
    pub status: Status,
}

#[derive(Clone, Debug)]
struct Page {
    set: u32,
    page: u64,
    age: u64,
    loaded: i64,
    changed: Option<u64>,
    uses: u32,
    sequential: bool,
    unasked: bool,
    kept: bool,
}

impl Page {
    fn available(&self) -> bool {
        self.changed.is_none() && self.uses == 0
    }
}

#[derive(Default)]
struct Set {
    counters: DataSetCounters,
    turn: u64,
    opened: bool,
    /// When it was last updated, and when its pseudo close is looked for next.
    updated: i64,
    close: Option<i64>,
    /// Pages referenced, and whether one was made anew behind all others.
    met: Vec<u64>,
    grows: bool,
}

/// What a thread does in a data set.
#[derive(Default)]
struct Thread {
    /// Of each reference to another page: one after the other, upwards or downwards.
    history: Vec<(bool, bool)>,
    last: Option<u64>,
    /// Downwards, and its runs.
    scanning: Option<(bool, [i64; 3])>,
    /// Planned scans, and those recorded as dynamic, upwards and downwards: the one used last first.
    planned: Vec<[i64; 3]>,
    recorded: [Vec<[i64; 3]>; 2],
    last_recorded: Option<u64>,
    list: Vec<u64>,
    list_read: bool,
    list_refused: bool,
}

/// Pages asked for: the first, and whether downwards.
type Asked = (i64, bool);

pub struct Twin {
    config: PoolConfig,
    pages: Vec<Page>,
    sizes: BTreeMap<u32, u64>,
    sets: BTreeMap<u32, Set>,
    threads: BTreeMap<(u32, u32), Thread>,
    clock: u64,
    changes: u64,
    turns: u64,
    above_dmth: bool,
    checkpoint: Option<i64>,
    pub counters: Counters,
}

impl Twin {
    pub fn new(config: &PoolConfig, sizes: &BTreeMap<u32, u64>) -> Self {
        Self {
            config: config.clone(),
            pages: Vec::new(),
            sizes: sizes.clone(),
            sets: BTreeMap::new(),
            threads: BTreeMap::new(),
            clock: 0,
            changes: 0,
            turns: 0,
            above_dmth: false,
            checkpoint: None,
            counters: Counters::default(),
        }
    }

    pub fn set(&self, set: u32) -> DataSetCounters {
        self.sets.get(&set).map(|known| known.counters).unwrap_or_default()
    }

    pub fn run(&mut self, event: &Event) {
        if let Some(every) = self.config.checkpoint {
            let due = self.checkpoint.get_or_insert(event.time + every);
            let mut passed = 0;
            while event.time >= *due {
                *due += every;
                passed += 1;
            }
            if passed > 0 {
                self.counters.checkpoints += passed;
                while let Some(set) = self.next_turn() {
                    self.sets.get_mut(&set).unwrap().turn = 0;
                    self.write_first_changed(set, usize::MAX);
                }
            }
        }
        if let Some(after) = self.config.pseudo_close {
            // Sooner ones first.
            while let Some((due, set)) = self.next_close().filter(|&(due, _)| due <= event.time) {
                let known = self.sets.get_mut(&set).unwrap();
                if known.updated + after > event.time {
                    known.close = Some(known.updated + after);
                    continue;
                }
                known.close = None;
                assert!(due <= event.time);
                if self.pages.iter().any(|page| page.set == set && page.changed.is_some()) {
                    self.counters.pseudo_closes += 1;
                    self.write_first_changed(set, usize::MAX);
                }
            }
        }
        match event.function {
            Function::Getpage => self.getpage(event),
            Function::SetWrite => self.set_write(event),
            Function::Release => {
                if let Some(at) = self.find(event.set, event.page) {
                    self.pages[at].uses = self.pages[at].uses.saturating_sub(1);
                }
            }
            Function::Read | Function::Prefetch => self.counters.recorded_reads += 1,
            Function::Commit => {}
        }
        self.watch();
    }

    fn next_close(&self) -> Option<(i64, u32)> {
        self.sets.iter().filter_map(|(&set, known)| Some((known.close?, set))).min()
    }

    fn size(&self) -> usize {
        self.config.size as usize
    }

    fn unavailable(&self) -> usize {
        self.pages.iter().filter(|page| !page.available()).count()
    }

    fn reached(&self, part: usize, of: usize) -> bool {
        self.unavailable() * of >= part * self.size()
    }

    /// Notes DMTH; to be called whenever availability may have changed.
    fn watch(&mut self) {
        let above = self.reached(95, 100);
        self.counters.data_management_threshold += u64::from(above && !self.above_dmth);
        self.above_dmth = above;
    }

    fn find(&self, set: u32, page: u64) -> Option<usize> {
        self.pages.iter().position(|held| held.set == set && held.page == page)
    }

    fn prefetches(&self) -> bool {
        self.config.prefetch && self.config.vpseqt > 0
    }

    fn kept(&self) -> usize {
        self.size() - (self.size() / 10).clamp(50, 6400).min(self.size())
    }

    fn getpage(&mut self, event: &Event) {
        let (quantity, other) = self.config.quantities();
        self.counters.getpages += 1;
        let sized = self.sizes.contains_key(&event.set);
        let set = self.sets.entry(event.set).or_default();
        let behind = set.met.iter().all(|&page| page < event.page);
        set.met.push(event.page);
        if event.status == Status::NoRead {
            set.grows |= behind && !sized;
            set.counters.getpages += 1;
            let at = match self.find(event.set, event.page) {
                Some(at) => {
                    self.hit(at, false);
                    Some(at)
                }
                None => {
                    self.counters.not_read += 1;
                    self.load(event, event.page, false, false)
                }
            };
            if let Some(at) = at
                && self.config.releases
            {
                self.pages[at].uses += 1;
            }
            return;
        }
        let prefetches = self.prefetches();
        let size = self.sizes.get(&event.set).copied();
        let set = self.sets.entry(event.set).or_default();
        set.counters.getpages += 1;
        if self.config.steal == Steal::None && !std::mem::replace(&mut set.opened, true) && prefetches {
            let mut page = 0;
            while page < size.unwrap_or(0) && self.pages.len() < self.kept() {
                let pages = quantity.min((self.kept() - self.pages.len()) as u64);
                self.request(event, false, (page as i64, false), pages);
                page += pages;
            }
        }
        let thread = self.threads.entry((event.set, event.agent)).or_default();
        let mut sequential = event.access != Access::Random;
        match event.access {
            Access::Random if prefetches => {
                if let Some(asked) = detect(thread, event.page, other) {
                    sequential = true;
                    self.counters.getpages_sequential += 1;
                    if let Some(asked) = asked {
                        self.request(event, true, asked, other);
                    }
                }
            }
            Access::Random => {}
            Access::Sequential => {
                self.counters.getpages_sequential += 1;
                if prefetches
                    && let Some(first) = plan(&mut thread.planned, event.page as i64, quantity as i64, event.agent)
                {
                    self.request(event, false, (first, false), quantity);
                }
            }
            Access::Dynamic => {
                self.counters.getpages_sequential += 1;
                if prefetches && let Some(asked) = follow(thread, event.page, other as i64, event.agent) {
                    self.request(event, true, asked, other);
                }
            }
            Access::List => {
                self.counters.getpages_list += 1;
                if prefetches {
                    self.list(event, other);
                }
            }
        }
        let at = match self.find(event.set, event.page) {
            Some(at) => {
                self.hit(at, sequential);
                Some(at)
            }
            None if self.config.warm && event.status == Status::Hit && self.pages.len() < self.size() => {
                self.counters.warm += 1;
                self.load(event, event.page, sequential, false)
            }
            None => {
                let set = self.sets.get_mut(&event.set).unwrap();
                let thread = self.threads.get_mut(&(event.set, event.agent)).unwrap();
                if event.access == Access::List && prefetches && !thread.list_refused {
                    let first = !std::mem::replace(&mut thread.list_read, true);
                    self.counters.list_pages += 1;
                    self.counters.list_reads += u64::from(first);
                    set.counters.prefetch_pages += 1;
                    set.counters.prefetch_reads += u64::from(first);
                } else {
                    set.counters.sync_reads += 1;
                    let counter = match sequential {
                        true => &mut self.counters.sync_reads_sequential,
                        false => &mut self.counters.sync_reads_random,
                    };
                    *counter += 1;
                }
                self.load(event, event.page, sequential, false)
            }
        };
        if let Some(at) = at
            && self.config.releases
        {
            self.pages[at].uses += 1;
        }
    }

    fn hit(&mut self, at: usize, sequential: bool) {
        let page = &mut self.pages[at];
        page.unasked = false;
        if self.config.steal == Steal::Lru {
            self.clock += 1;
            page.age = self.clock;
            if page.sequential && !sequential {
                page.sequential = false;
                self.counters.random_hits_sequential += 1;
            }
        }
    }

    fn list(&mut self, event: &Event, quantity: u64) {
        let refused = self.reached(90, 100);
        let set = self.threads.get_mut(&(event.set, event.agent)).unwrap();
        let new = set.list.len() as u64 == quantity || set.list.last().is_none_or(|&last| event.page < last);
        if new {
            set.list.clear();
            set.list_read = false;
            set.list_refused = refused;
            self.counters.prefetch_disabled += u64::from(refused);
            self.counters.list_requests += u64::from(!refused);
        }
        set.list.push(event.page);
    }

    fn request(&mut self, event: &Event, dynamic: bool, (first, down): Asked, pages: u64) {
        if self.reached(90, 100) {
            self.counters.prefetch_disabled += 1;
            return;
        }
        let mut end = self.sizes.get(&event.set).copied().unwrap_or(u64::MAX);
        let set = &self.sets[&event.set];
        if set.grows {
            end = set.met.iter().max().unwrap() + 1;
        }
        let mut read = 0;
        for step in 0..pages as i64 {
            let page = if down { first - step } else { first + step };
            if page < 0 || !down && page as u64 >= end {
                continue;
            }
            let page = page as u64;
            if self.find(event.set, page).is_none() {
                self.counters.prefetched_early += u64::from(self.pages.len() < self.size());
                if self.load(event, page, true, true).is_none() {
                    break;
                }
                read += 1;
            }
        }
        let io = u64::from(read > 0);
        if dynamic {
            self.counters.dynamic_requests += 1;
            self.counters.dynamic_reads += io;
            self.counters.dynamic_pages += read;
        } else {
            self.counters.sequential_requests += 1;
            self.counters.sequential_reads += io;
            self.counters.sequential_pages += read;
        }
        let counters = &mut self.sets.get_mut(&event.set).unwrap().counters;
        counters.prefetch_reads += io;
        counters.prefetch_pages += read;
    }

    fn load(&mut self, event: &Event, page: u64, sequential: bool, unasked: bool) -> Option<usize> {
        let sequential = sequential && self.config.vpseqt > 0 && self.config.steal != Steal::None;
        let mut kept = self.config.steal == Steal::None && self.pages.len() < self.kept();
        let at = if self.pages.len() < self.size() {
            None
        } else {
            let at = self.victim(sequential)?;
            kept = false;
            let old = &self.pages[at];
            let stayed = (event.time - old.loaded).max(0) as u64;
            self.counters.stolen += 1;
            self.counters.residency += stayed;
            self.counters.prefetched_unused += u64::from(old.unasked);
            let counters = &mut self.sets.get_mut(&old.set).unwrap().counters;
            counters.stolen += 1;
            counters.residency += stayed;
            if old.sequential {
                counters.stolen_sequential += 1;
                counters.residency_sequential += stayed;
                self.counters.stolen_sequential += 1;
                self.counters.residency_sequential += stayed;
            }
            Some(at)
        };
        self.clock += 1;
        let new = Page {
            set: event.set,
            page,
            age: self.clock,
            loaded: event.time,
            changed: None,
            uses: 0,
            sequential,
            unasked,
            kept,
        };
        self.sets.get_mut(&event.set).unwrap().counters.loaded += 1;
        match at {
            Some(at) => self.pages[at] = new,
            None => self.pages.push(new),
        }
        Some(at.unwrap_or(self.pages.len() - 1))
    }

    fn victim(&mut self, sequential: bool) -> Option<usize> {
        let held = self.pages.iter().filter(|page| page.sequential).count();
        let limit = self.size() * self.config.vpseqt as usize / 100;
        let oldest = |of: &dyn Fn(&Page) -> bool| {
            let fit = self.pages.iter().enumerate().filter(|(_, page)| !page.kept && of(page));
            fit.min_by_key(|(_, page)| page.age).map(|(at, _)| at)
        };
        if if sequential { held >= limit } else { held > limit }
            && let Some(at) = oldest(&|page| page.available() && page.sequential)
        {
            self.counters.sequential_threshold += 1;
            return Some(at);
        }
        if let Some(at) = oldest(&Page::available) {
            return Some(at);
        }
        self.counters.no_buffer += 1;
        let at = oldest(&|page| page.uses == 0)?;
        self.write_now(at);
        Some(at)
    }

    fn set_write(&mut self, event: &Event) {
        self.counters.updates += 1;
        let set = self.sets.entry(event.set).or_default();
        set.counters.updates += 1;
        set.updated = event.time;
        if let Some(after) = self.config.pseudo_close {
            set.close.get_or_insert(event.time + after);
        }
        let at = match self.find(event.set, event.page) {
            Some(at) => at,
            None => {
                self.counters.updates_reread += 1;
                self.counters.sync_reads_random += 1;
                self.sets.get_mut(&event.set).unwrap().counters.sync_reads += 1;
                let Some(at) = self.load(event, event.page, false, false) else {
                    self.wrote(event.set, &[event.page], true);
                    return;
                };
                at
            }
        };
        self.watch();
        if self.pages[at].changed.is_none() {
            self.changes += 1;
            self.pages[at].changed = Some(self.changes);
            if self.sets[&event.set].turn == 0 {
                self.turns += 1;
                self.sets.get_mut(&event.set).unwrap().turn = self.turns;
            }
        }
        self.watch();
        if self.reached(975, 1000) {
            self.write_now(at);
            return;
        }
        let full_io = 32 * 4096 / self.config.page_bytes as usize;
        let size = self.size();
        let little = |pages: usize| pages > full_io + 8 || pages * 100 > size && pages > size / 100;
        let changed = self.pages.iter().filter(|page| page.set == event.set && page.changed.is_some()).count();
        let (over, batch) = match (self.config.vdwqt as usize, self.config.vdwqt_pages as usize) {
            (0, 0) => (little(changed), full_io),
            (0, pages) => (changed > pages, 128),
            (percent, _) => (changed * 100 > percent * size, 128),
        };
        if over {
            self.counters.vertical_threshold += 1;
            self.write_first_changed(event.set, batch);
        }
        let dwqt = self.config.dwqt as usize;
        let over = match dwqt {
            0 => little(self.unavailable()),
            _ => self.unavailable() * 100 > dwqt * size,
        };
        if over {
            self.counters.horizontal_threshold += 1;
            while self.unavailable() * 100 > dwqt.saturating_sub(10) * size {
                let Some(set) = self.next_turn() else { break };
                self.write_first_changed(set, 128);
                if self.sets[&set].turn > 0 {
                    self.turns += 1;
                    self.sets.get_mut(&set).unwrap().turn = self.turns;
                }
            }
        }
    }

    /// The data set with changed pages that has waited longest.
    fn next_turn(&self) -> Option<u32> {
        self.sets.iter().filter(|(_, set)| set.turn > 0).min_by_key(|(_, set)| set.turn).map(|(&number, _)| number)
    }

    fn forget_turn(&mut self, set: u32) {
        if !self.pages.iter().any(|page| page.set == set && page.changed.is_some()) {
            self.sets.get_mut(&set).unwrap().turn = 0;
        }
    }

    fn write_now(&mut self, at: usize) {
        let (set, page) = (self.pages[at].set, self.pages[at].page);
        self.pages[at].changed = None;
        self.forget_turn(set);
        self.wrote(set, &[page], true);
        self.watch();
    }

    fn write_first_changed(&mut self, set: u32, most: usize) {
        let mut changed: Vec<(u64, usize)> = (self.pages.iter().enumerate())
            .filter(|(_, page)| page.set == set)
            .filter_map(|(at, page)| Some((page.changed?, at)))
            .collect();
        changed.sort();
        changed.truncate(most);
        let mut pages: Vec<u64> = changed.iter().map(|&(_, at)| self.pages[at].page).collect();
        for (_, at) in changed {
            self.pages[at].changed = None;
        }
        self.forget_turn(set);
        pages.sort();
        self.wrote(set, &pages, false);
        self.watch();
    }

    fn wrote(&mut self, set: u32, pages: &[u64], synchronous: bool) {
        let quantity = 32 * 4096 / self.config.page_bytes as usize;
        let mut ios: Vec<Vec<u64>> = Vec::new();
        for &page in pages {
            match ios.last_mut() {
                Some(io) if io.len() < quantity && page - io[0] < 180 => io.push(page),
                _ => ios.push(vec![page]),
            }
        }
        let count = ios.len() as u64;
        self.counters.pages_written += pages.len() as u64;
        *(if synchronous { &mut self.counters.sync_writes } else { &mut self.counters.async_writes }) += count;
        let counters = &mut self.sets.get_mut(&set).unwrap().counters;
        counters.pages_written += pages.len() as u64;
        counters.writes += count;
    }
}

/// A reference into the second run of a scan: where its third begins, and the scan moves on.
fn advance(runs: &mut [i64; 3], page: i64, quantity: i64) -> Option<i64> {
    (page >= runs[1]).then(|| {
        let third = runs[2];
        *runs = [runs[1], third, third + quantity];
        third
    })
}

/// None: not part of a scan. Otherwise what is asked for, if anything is. Downwards pages count below zero.
fn detect(thread: &mut Thread, page: u64, quantity: u64) -> Option<Option<Asked>> {
    if thread.last == Some(page) {
        return thread.scanning.map(|_| None);
    }
    let (up, down) = match thread.last {
        Some(last) => (page > last && page - last <= quantity / 2, last > page && last - page <= quantity / 2),
        None => (false, false),
    };
    thread.last = Some(page);
    thread.history.push((up, down));
    let seen = &thread.history[thread.history.len().saturating_sub(8)..];
    let ups = seen.iter().filter(|&&(up, _)| up).count();
    let downs = seen.iter().filter(|&&(_, down)| down).count();
    let downwards = match (ups > 4, downs > 4) {
        (true, _) => false,
        (_, true) => true,
        _ => {
            thread.scanning = None;
            return None;
        }
    };
    if !(if downwards { down } else { up }) {
        return None;
    }
    let at = if downwards { -(page as i64) } else { page as i64 };
    let asked = |first: i64| (if downwards { -first } else { first }, downwards);
    match &mut thread.scanning {
        Some((way, runs)) if *way == downwards && at < runs[2] => Some(advance(runs, at, quantity as i64).map(asked)),
        other => {
            *other = Some((downwards, [at, at + quantity as i64 / 2, at + quantity as i64]));
            Some(Some(asked(at)))
        }
    }
}

/// The first page asked for, if any is.
fn plan(scans: &mut Vec<[i64; 3]>, page: i64, quantity: i64, agent: u32) -> Option<i64> {
    if let Some(at) = scans.iter().position(|runs| runs[0] <= page && page < runs[2]) {
        let mut runs = scans.remove(at);
        let asked = advance(&mut runs, page, quantity);
        scans.insert(0, runs);
        return asked;
    }
    scans.insert(0, [page, page + quantity / 2, page + quantity]);
    scans.truncate(if agent == 0 { 64 } else { 4 });
    Some(page)
}

/// A page recorded as dynamic prefetch's: of a scan downwards, of one upwards, or of a new one.
fn follow(thread: &mut Thread, page: u64, quantity: i64, agent: u32) -> Option<Asked> {
    let last = thread.last_recorded.replace(page);
    let [up, down] = &mut thread.recorded;
    let page = page as i64;
    let holds = |scans: &[[i64; 3]], at: i64| scans.iter().any(|runs| runs[0] <= at && at < runs[2]);
    let just_below = last.is_some_and(|last| (1..=quantity / 2).contains(&(last as i64 - page)));
    if holds(down, -page) || !holds(up, page) && just_below {
        return plan(down, -page, quantity, agent).map(|first| (-first, true));
    }
    plan(up, page, quantity, agent).map(|first| (first, false))
}
