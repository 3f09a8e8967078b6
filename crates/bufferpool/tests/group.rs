//! Several members and a group buffer pool: against a slow twin, and against cases worked by hand.

use std::collections::{BTreeMap, BTreeSet};

use plexlens_bufferpool::group::{
    GroupBufferPool, GroupConfig, GroupCounters, GroupSimulation, Interest, MemberGroupCounters,
};
use plexlens_bufferpool::policy::PoolConfig;
use plexlens_bufferpool::trace::{Access, Function, References};
use proptest::prelude::*;

/// Data sets 0 and 1 are shared and changed, 2 is read only.
const READ_ONLY: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Event {
    member: u8,
    set: u32,
    page: u64,
    function: Function,
    access: Access,
}

struct Columns {
    time: Vec<i64>,
    member: Vec<u8>,
    zero: Vec<u16>,
    object: Vec<u32>,
    page: Vec<u64>,
    function: Vec<u8>,
    access: Vec<u8>,
}

impl Columns {
    fn of(events: &[Event]) -> Self {
        Self {
            time: (0..events.len() as i64).collect(),
            member: events.iter().map(|event| event.member).collect(),
            zero: vec![0; events.len()],
            object: events.iter().map(|event| event.set).collect(),
            page: events.iter().map(|event| event.page).collect(),
            function: events.iter().map(|event| event.function as u8).collect(),
            access: events.iter().map(|event| event.access as u8).collect(),
        }
    }

    fn references(&self) -> References<'_> {
        References {
            time: &self.time,
            member: &self.member,
            pool: &self.zero,
            object: &self.object,
            partition: &self.zero,
            page: &self.page,
            function: &self.function,
            access: &self.access,
            ..References::default()
        }
    }
}

fn simulate(events: &[Event], pool: &PoolConfig, group: &GroupConfig) -> GroupSimulation {
    let members = (0..3).map(|member| (member, pool.clone())).collect();
    let dependent = BTreeSet::from([(0, 0), (1, 0)]);
    let mut simulation = GroupSimulation::new(0, &members, group, dependent).unwrap();
    simulation.add(&Columns::of(events).references()).unwrap();
    simulation
}

#[derive(Debug)]
struct Entry {
    set: u32,
    page: u64,
    members: BTreeSet<u8>,
    used: u64,
    data: Option<u64>,
    changed: bool,
}

/// The rules once more, on vectors: local pools are plain LRU lists.
struct Twin {
    size: usize,
    config: GroupConfig,
    pools: BTreeMap<u8, Vec<(u32, u64, bool)>>,
    entries: Vec<Entry>,
    /// Data sets in the order of their first reference: of equally large classes the later goes first.
    seen: Vec<u32>,
    clock: u64,
    updates: BTreeMap<u8, u32>,
    touched: BTreeMap<u8, Vec<u32>>,
    reads: BTreeMap<u8, u64>,
    /// Member that wrote a page of each data set first.
    owners: BTreeMap<u32, u8>,
    counters: GroupCounters,
    members: BTreeMap<u8, MemberGroupCounters>,
}

impl Twin {
    fn new(size: u32, config: &GroupConfig) -> Self {
        Self {
            size: size as usize,
            config: config.clone(),
            pools: BTreeMap::new(),
            entries: Vec::new(),
            seen: Vec::new(),
            clock: 0,
            updates: BTreeMap::new(),
            touched: BTreeMap::new(),
            reads: BTreeMap::new(),
            owners: BTreeMap::new(),
            counters: GroupCounters::default(),
            members: BTreeMap::new(),
        }
    }

    fn find(&self, set: u32, page: u64) -> Option<usize> {
        self.entries.iter().position(|entry| entry.set == set && entry.page == page)
    }

    /// The page's entry, made if need be.
    fn entry(&mut self, set: u32, page: u64) -> usize {
        if self.find(set, page).is_none() {
            if self.entries.len() == self.config.directory_entries as usize {
                if self.entries.iter().all(|entry| entry.changed) {
                    self.cast_out_to(0);
                }
                let unchanged = self.entries.iter().enumerate().filter(|(_, entry)| !entry.changed);
                let oldest = unchanged.min_by_key(|(_, entry)| entry.used).unwrap().0;
                let gone = self.entries.remove(oldest);
                self.counters.directory_reclaims += 1;
                self.counters.invalidated_by_reclaim += gone.members.len() as u64;
            }
            let members = BTreeSet::new();
            self.entries.push(Entry { set, page, members, used: 0, data: None, changed: false });
        }
        let at = self.find(set, page).unwrap();
        self.clock += 1;
        self.entries[at].used = self.clock;
        at
    }

    fn read(&mut self, member: u8, set: u32, page: u64, invalid: bool) {
        let at = self.entry(set, page);
        self.entries[at].members.insert(member);
        let with_data = self.entries[at].data.is_some();
        if with_data {
            self.clock += 1;
            self.entries[at].data = Some(self.clock);
        } else {
            *self.reads.entry(member).or_default() += 1;
        }
        let counters = self.members.entry(member).or_default();
        counters.misses_with_data += u64::from(!invalid && with_data);
        counters.misses_without_data += u64::from(!invalid && !with_data);
        counters.invalid_with_data += u64::from(invalid && with_data);
        counters.invalid_without_data += u64::from(invalid && !with_data);
    }

    fn write(&mut self, member: u8, set: u32, page: u64) {
        let at = self.entry(set, page);
        let before = self.entries[at].members.len();
        self.entries[at].members.retain(|&known| known == member);
        self.counters.invalidated_by_write += (before - self.entries[at].members.len()) as u64;
        if self.entries[at].data.is_none() && self.with_data() == self.config.data_entries as usize {
            if !self.entries.iter().any(|entry| entry.data.is_some() && !entry.changed) {
                self.members.entry(member).or_default().failed_writes += 1;
                self.cast_out_to(0);
            }
            let oldest = self.entries.iter_mut().filter(|entry| entry.data.is_some() && !entry.changed);
            oldest.min_by_key(|entry| entry.data).unwrap().data = None;
            self.counters.data_reclaims += 1;
        }
        self.clock += 1;
        self.entries[at].data = Some(self.clock);
        self.entries[at].changed = true;
        self.members.entry(member).or_default().sync_writes += 1;
        let owner = *self.owners.entry(set).or_insert(member);
        let percent = |of: u32| (self.config.data_entries * of / 100) as usize;
        let class = match self.config.class_threshold {
            0 => self.config.class_pages as usize,
            threshold => percent(threshold),
        };
        let pool = percent(self.config.pool_threshold);
        if self.changed(set).len() > class {
            self.counters.class_threshold += 1;
            self.members.entry(owner).or_default().class_threshold += 1;
            self.cast_out(set);
        }
        if self.entries.iter().filter(|entry| entry.changed).count() > pool {
            self.counters.pool_threshold += 1;
            let largest = self.seen.iter().max_by_key(|&&set| self.changed(set).len()).unwrap();
            let owner = self.members.entry(self.owners[largest]).or_default();
            owner.pool_threshold += 1;
            owner.castout_statistics += 1;
            self.cast_out_to(pool);
        }
    }

    fn with_data(&self) -> usize {
        self.entries.iter().filter(|entry| entry.data.is_some()).count()
    }

    fn changed(&self, set: u32) -> Vec<u64> {
        self.entries.iter().filter(|entry| entry.set == set && entry.changed).map(|entry| entry.page).collect()
    }

    fn cast_out_to(&mut self, most: usize) {
        while self.entries.iter().filter(|entry| entry.changed).count() > most {
            let largest = self.seen.iter().max_by_key(|&&set| self.changed(set).len()).unwrap();
            self.cast_out(*largest);
        }
    }

    fn cast_out(&mut self, set: u32) {
        let mut pages = self.changed(set);
        pages.sort();
        let (mut first, mut ios) = (None, 0);
        for (at, page) in pages.iter().enumerate() {
            let full = first.is_none_or(|begin: usize| at - begin == 32 || page - pages[begin] >= 180);
            if full {
                first = Some(at);
                ios += 1;
            }
        }
        self.counters.castout_ios += ios;
        let owner = self.members.entry(self.owners[&set]).or_default();
        owner.castout_classes += 1;
        owner.castout_pages += pages.len() as u64;
        owner.castout_unlocks += ios;
        self.counters.castout_pages += pages.len() as u64;
        self.entries.iter_mut().filter(|entry| entry.set == set).for_each(|entry| entry.changed = false);
    }

    /// Before a member gets a page, another one that has changed it must have written it.
    fn negotiate(&mut self, member: u8, set: u32, page: u64) {
        for other in (0..3).filter(|&other| other != member) {
            let pool = self.pools.entry(other).or_default();
            if let Some(held) = pool.iter_mut().find(|held| **held == (set, page, true)) {
                held.2 = false;
                self.write(other, set, page);
            }
        }
    }

    fn getpage(&mut self, member: u8, set: u32, page: u64) {
        if !self.seen.contains(&set) {
            self.seen.push(set);
        }
        let dependent = set != READ_ONLY;
        if dependent {
            self.negotiate(member, set, page);
        }
        let pool = self.pools.entry(member).or_default();
        if let Some(at) = pool.iter().position(|held| (held.0, held.1) == (set, page)) {
            let held = pool.remove(at);
            pool.insert(0, held);
            let entry = self.find(set, page);
            if dependent && !entry.is_some_and(|at| self.entries[at].members.contains(&member)) {
                self.read(member, set, page, true);
            }
            return;
        }
        if dependent {
            self.read(member, set, page, false);
        } else {
            *self.reads.entry(member).or_default() += 1;
        }
        let pool = self.pools.get_mut(&member).unwrap();
        if pool.len() == self.size {
            let at = pool.iter().rposition(|held| !held.2).unwrap();
            let gone = pool.remove(at);
            if let Some(at) = self.find(gone.0, gone.1) {
                let was = self.entries[at].members.remove(&member);
                // A page that is registered itself brings the end of the former one's registration with it.
                self.members.entry(member).or_default().unregistered += u64::from(was && !dependent);
            }
        }
        self.pools.get_mut(&member).unwrap().insert(0, (set, page, false));
    }

    fn set_write(&mut self, member: u8, set: u32, page: u64) {
        self.negotiate(member, set, page);
        let pool = self.pools.get_mut(&member).unwrap();
        pool.iter_mut().find(|held| (held.0, held.1) == (set, page)).unwrap().2 = true;
        self.touched.entry(member).or_default().push(set);
        let updates = self.updates.entry(member).or_default();
        *updates += 1;
        if *updates == self.config.updates_a_commit.unwrap() {
            *updates = 0;
            for set in self.touched.remove(&member).unwrap() {
                let pool = self.pools.get_mut(&member).unwrap();
                let mut pages = Vec::new();
                for held in pool.iter_mut().filter(|held| held.0 == set && held.2) {
                    held.2 = false;
                    pages.push(held.1);
                }
                pages.sort();
                pages.iter().for_each(|&page| self.write(member, set, page));
            }
        }
    }
}

fn quiet(size: u32) -> PoolConfig {
    PoolConfig { size, vpseqt: 100, dwqt: 90, vdwqt: 90, prefetch: false, ..PoolConfig::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_counter_equals_the_twins(
        steps in prop::collection::vec((0u8..3, 0u32..3, 0u64..40, any::<bool>()), 1..500),
        spread in prop::sample::select(vec![1u64, 7, 100]),
        size in 10u32..30,
        (data, more) in (1u32..30, 0u32..60),
        (class, class_pages, pool) in (prop_oneof![Just(0u32), 0u32..=90], 0u32..10, 0u32..=90),
        commit in 1u32..4,
    ) {
        let group = GroupConfig {
            data_entries: data,
            directory_entries: data + more,
            class_threshold: class,
            class_pages,
            pool_threshold: pool,
            updates_a_commit: Some(commit),
            ..GroupConfig::default()
        };
        let mut twin = Twin::new(size, &group);
        let mut events = Vec::new();
        for (member, set, page, change) in steps {
            let page = page * spread;
            let event = Event { member, set, page, function: Function::Getpage, access: Access::Random };
            events.push(event);
            twin.getpage(member, set, page);
            if change && set != READ_ONLY {
                events.push(Event { function: Function::SetWrite, ..event });
                twin.set_write(member, set, page);
            }
        }
        let simulation = simulate(&events, &quiet(size), &group);
        prop_assert_eq!(simulation.group_counters(), twin.counters);
        for member in 0..3 {
            prop_assert_eq!(simulation.member_counters(member), twin.members.get(&member).copied().unwrap_or_default());
            let reads = simulation.pool_counters(member).unwrap().sync_reads();
            prop_assert_eq!(reads, twin.reads.get(&member).copied().unwrap_or_default(), "member {}", member);
        }
    }
}

fn event(member: u8, page: u64, function: Function) -> Event {
    Event { member, set: 0, page, function, access: Access::Random }
}

#[test]
fn a_change_invalidates_the_other_members_page_which_then_comes_from_the_group() {
    use Function::{Getpage, SetWrite};
    let steps =
        [event(0, 7, Getpage), event(1, 7, Getpage), event(0, 7, SetWrite), event(1, 7, Getpage), event(1, 7, Getpage)];
    let simulation = simulate(&steps, &quiet(10), &GroupConfig::default());
    let (first, second) = (simulation.member_counters(0), simulation.member_counters(1));
    assert_eq!((first.misses_without_data, first.sync_writes), (1, 1));
    assert_eq!((second.misses_without_data, second.invalid_with_data, second.invalid_without_data), (1, 1, 0));
    assert_eq!(simulation.group_counters().invalidated_by_write, 1);
    // Each member read the page from disk once; the second reading came from the group buffer pool.
    assert_eq!(simulation.pool_counters(1).unwrap().sync_reads(), 1);
    // Nothing was written to disk: the page is changed in the group buffer pool until it is cast out.
    assert_eq!(simulation.pool_counters(0).unwrap().pages_written, 0);
}

#[test]
fn a_page_under_change_elsewhere_is_written_before_another_member_gets_it() {
    use Function::{Commit, Getpage, SetWrite};
    let group = GroupConfig { updates_a_commit: None, ..GroupConfig::default() };
    let steps = [event(0, 7, Getpage), event(0, 7, SetWrite), event(1, 7, Getpage), event(0, 0, Commit)];
    let simulation = simulate(&steps, &quiet(10), &group);
    assert_eq!(simulation.member_counters(0).sync_writes, 1, "for the other member, and not again at commit");
    assert_eq!(simulation.member_counters(1).misses_with_data, 1);
    let late = simulate(&steps[..2], &quiet(10), &group);
    assert_eq!(late.member_counters(0).sync_writes, 0, "no commit, no write");
}

#[test]
fn a_small_directory_costs_valid_pages() {
    // Two members read 100 pages each, 60 of them the same, through a directory of 100 entries: 140 entries are needed,
    // so reclaims take registrations, and pages that are still in the pools must be read from disk again.
    let pages = |member: u8| (0..100).map(move |page| event(member, page + 40 * u64::from(member), Function::Getpage));
    let steps: Vec<Event> = (0..2).flat_map(|_| pages(0).chain(pages(1))).collect();
    let small = GroupConfig { data_entries: 100, directory_entries: 100, ..GroupConfig::default() };
    let large = GroupConfig { directory_entries: 140, ..small };
    let enough = simulate(&steps, &quiet(100), &large);
    assert_eq!(enough.group_counters().directory_reclaims, 0);
    assert_eq!(enough.pool_counters(0).unwrap().sync_reads(), 100);
    let reclaiming = simulate(&steps, &quiet(100), &small);
    assert!(reclaiming.group_counters().invalidated_by_reclaim > 0);
    assert!(reclaiming.member_counters(0).invalid_without_data > 0);
    assert!(reclaiming.pool_counters(0).unwrap().sync_reads() > 100);
}

#[test]
fn castout_follows_its_thresholds() {
    use Function::{Getpage, SetWrite};
    // 1,000 data entries, CLASST 5: the 51st changed page of a data set casts out 51 in two I/Os of 32 and 19.
    let group = GroupConfig { data_entries: 1000, directory_entries: 5000, ..GroupConfig::default() };
    let changes = |count: u64| (0..count).flat_map(|page| [event(0, page, Getpage), event(0, page, SetWrite)]);
    let counters = |count| simulate(&changes(count).collect::<Vec<_>>(), &quiet(500), &group).group_counters();
    assert_eq!((counters(50).castout_pages, counters(50).class_threshold), (0, 0));
    let after = counters(51);
    assert_eq!((after.castout_pages, after.castout_ios, after.class_threshold, after.pool_threshold), (51, 2, 1, 0));
}

#[test]
fn interest_finds_what_is_shared_and_changed() {
    use Function::{Getpage, SetWrite};
    let of = |member, set, function| Event { set, ..event(member, 1, function) };
    let events = [
        of(0, 0, Getpage),
        of(1, 0, SetWrite),
        of(0, 1, Getpage),
        of(1, 1, Getpage),
        of(2, 2, Getpage),
        of(2, 2, SetWrite),
    ];
    let mut interest = Interest::new();
    interest.add(&Columns::of(&events[..3]).references()).unwrap();
    interest.add(&Columns::of(&events[3..]).references()).unwrap();
    assert_eq!(interest.dependent(0), BTreeSet::from([(0, 0)]));
    assert_eq!((interest.pools(), interest.dependent(1)), (BTreeSet::from([0]), BTreeSet::new()));
}

#[test]
fn impossible_groups_are_refused_by_name() {
    let refused = |config: GroupConfig| config.check().unwrap_err().to_string();
    let usual = GroupConfig::default();
    assert_eq!(
        refused(GroupConfig { directory_entries: 5, ..usual.clone() }),
        "directory entries 5 is not possible; give at least as many as data entries"
    );
    assert!(refused(GroupConfig { data_entries: 0, ..usual.clone() }).starts_with("data entries 0"));
    assert!(refused(GroupConfig { class_threshold: 91, ..usual.clone() }).starts_with("CLASST 91"));
    assert!(refused(GroupConfig { pool_threshold: 91, ..usual.clone() }).starts_with("GBPOOLT 91"));
    assert!(refused(GroupConfig { updates_a_commit: Some(0), ..usual }).starts_with("updates a commit 0"));
}

#[test]
fn pages_of_a_prefetch_are_registered_by_one_request() {
    // Members 0 and 1 change pages 2 and 5; member 2 scans the pages from 0 on. Prefetch is 8 pages in a pool of 200
    // buffers: one request registers them, and the two changed ones come from the group buffer pool.
    let pool = PoolConfig { prefetch: true, vpseqt: 80, ..quiet(200) };
    let event = |member, page, function, access| Event { member, set: 0, page, function, access };
    let mut events = Vec::new();
    for (member, page) in [(0, 2), (1, 5)] {
        events.push(event(member, page, Function::Getpage, Access::Random));
        events.push(event(member, page, Function::SetWrite, Access::Random));
    }
    events.push(event(2, 0, Function::Getpage, Access::Sequential));
    let found = simulate(&events, &pool, &GroupConfig::default());
    let scanned = found.member_counters(2);
    assert_eq!((scanned.register_lists, scanned.prefetched_pages), (1, 2));
    assert_eq!((scanned.misses_with_data, scanned.misses_without_data, scanned.unregistered), (0, 0, 0));
    let local = found.pool_counters(2).unwrap();
    assert_eq!((local.sequential_requests, local.sequential_pages, local.sync_reads()), (1, 6, 0));
}

#[test]
fn a_lost_structure_is_empty_and_a_moved_one_keeps_changed_pages() {
    let config = GroupConfig { data_entries: 100, directory_entries: 100, ..GroupConfig::default() };
    let mut structure = GroupBufferPool::new(&config);
    // Pages 1 to 4 of two data sets are changed, page 9 is only read.
    for key in 1..=4 {
        structure.read(0, key, (key % 2) as u32, false);
        structure.write(0, key, (key % 2) as u32, true);
    }
    structure.read(1, 9, 0, false);
    assert_eq!((structure.move_changed(), structure.changed()), (4, 4));
    assert!(!structure.is_registered(1, 9) && !structure.is_registered(0, 1));
    assert!(structure.read(1, 3, 1, true) && !structure.read(1, 9, 0, true));
    structure.disconnect(1);
    assert!(!structure.is_registered(1, 3));
    let counted = *structure.counters();
    assert_eq!((structure.lose(), structure.changed()), (vec![(0, 2), (1, 2)], 0));
    assert!(!structure.read(1, 3, 1, true));
    // What was counted stays.
    assert_eq!((*structure.counters(), structure.member_counters(0).sync_writes), (counted, 4));
}
