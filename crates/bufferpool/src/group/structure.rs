//! The group buffer pool itself: directory, data, castout.

use std::collections::BTreeSet;

use prefetch_index::prefetch_index;

use super::config::GroupConfig;
use super::counters::{GroupCounters, MemberGroupCounters};
use crate::page_table::PageTable;
use crate::policy::chain::{Buffers, Chain, Standing};
use crate::policy::writes::{WriteIo, write_ios};

/// How many reclaims before its own an entry's place in the table is asked for.
const RECLAIMED_AHEAD: usize = 8;

/// A cache line each, none of them in two.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Entry {
    key: u64,
    data_set: u32,
    /// Ages in the directory's chain and in that of the data; 0: no data.
    age: u64,
    data_age: u64,
    registered: [u64; 4],
    changed: bool,
    passed: bool,
    data_passed: bool,
}

/// Directory entries by age.
struct Directory<'a>(&'a mut [Entry]);

impl Buffers<u32> for Directory<'_> {
    fn standing(&mut self, entry: u32, age: u64) -> Standing {
        let entry = &self.0[entry as usize];
        match (entry.age == age, entry.changed) {
            (false, _) => Standing::Stale,
            (true, false) => Standing::Available,
            (true, true) => Standing::Unavailable,
        }
    }

    fn fetch(&self, entry: u32) {
        prefetch_index(&*self.0, entry as usize);
    }

    fn pass(&mut self, entry: u32) {
        self.0[entry as usize].passed = true;
    }
}

/// Entries with data by age of the data.
struct Data<'a>(&'a mut [Entry]);

impl Buffers<u32> for Data<'_> {
    fn standing(&mut self, entry: u32, age: u64) -> Standing {
        let entry = &self.0[entry as usize];
        match (entry.data_age == age, entry.changed) {
            (false, _) => Standing::Stale,
            (true, false) => Standing::Available,
            (true, true) => Standing::Unavailable,
        }
    }

    fn fetch(&self, entry: u32) {
        prefetch_index(&*self.0, entry as usize);
    }

    fn pass(&mut self, entry: u32) {
        self.0[entry as usize].data_passed = true;
    }
}

/// A group buffer pool.
pub struct GroupBufferPool {
    config: GroupConfig,
    table: PageTable,
    entries: Vec<Entry>,
    directory: Chain<u32>,
    data: Chain<u32>,
    data_used: u32,
    clock: u64,
    /// Changed pages of each data set, and the data sets by how many they have.
    classes: Vec<BTreeSet<(u64, u32)>>,
    sizes: BTreeSet<(usize, u32)>,
    changed: u32,
    counters: GroupCounters,
    members: Vec<MemberGroupCounters>,
    /// First member that changed a page of each data set: its castout owner.
    owners: Vec<Option<u8>>,
    castouts: Vec<Castout>,
}

/// A castout: who did it, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Castout {
    /// The member.
    pub member: u8,
    /// The data set.
    pub data_set: u32,
    /// Pages.
    pub pages: u32,
    /// I/Os.
    pub ios: Vec<WriteIo>,
}

impl GroupBufferPool {
    /// An empty one. The settings are checked by [`GroupConfig::check`] beforehand.
    pub fn new(config: &GroupConfig) -> Self {
        Self {
            config: config.clone(),
            table: PageTable::new(),
            entries: Vec::new(),
            directory: Chain::default(),
            data: Chain::default(),
            data_used: 0,
            clock: 0,
            classes: Vec::new(),
            sizes: BTreeSet::new(),
            changed: 0,
            counters: GroupCounters::default(),
            members: vec![MemberGroupCounters::default(); 256],
            owners: Vec::new(),
            castouts: Vec::new(),
        }
    }

    /// Counters of the whole.
    pub fn counters(&self) -> &GroupCounters {
        &self.counters
    }

    /// Counters of a member.
    pub fn member_counters(&self, member: u8) -> &MemberGroupCounters {
        &self.members[usize::from(member)]
    }

    /// Begins to load what a request for a page will need first: where its entry is.
    #[inline(always)]
    pub fn fetch(&self, key: u64) {
        self.table.fetch(key);
    }

    /// Begins to load the entry of a page; where it is should have been loaded by [`Self::fetch`].
    #[inline(always)]
    pub fn fetch_entry(&self, key: u64) {
        if let Some(at) = self.table.get(key) {
            prefetch_index(&self.entries, at as usize);
        }
    }

    /// Pages changed and not cast out.
    pub fn changed(&self) -> u32 {
        self.changed
    }

    /// Whether a member is registered for a page.
    pub fn is_registered(&self, member: u8, key: u64) -> bool {
        self.table
            .get(key)
            .is_some_and(|at| self.entries[at as usize].registered[usize::from(member / 64)] & bit(member) != 0)
    }

    /// Registers a member that reads a page; whether data comes with it. `invalid`: the member has a former version.
    pub fn read(&mut self, member: u8, key: u64, data_set: u32, invalid: bool) -> bool {
        let at = self.entry(key, data_set);
        let entry = &mut self.entries[at as usize];
        entry.registered[usize::from(member / 64)] |= bit(member);
        let with_data = entry.data_age != 0;
        if with_data {
            self.touch_data(at);
        }
        let counters = &mut self.members[usize::from(member)];
        *match (invalid, with_data) {
            (false, true) => &mut counters.misses_with_data,
            (false, false) => &mut counters.misses_without_data,
            (true, true) => &mut counters.invalid_with_data,
            (true, false) => &mut counters.invalid_without_data,
        } += 1;
        with_data
    }

    /// The same for a page of a prefetch, whose pages are registered by one request, before its `first`.
    pub fn read_ahead(&mut self, member: u8, key: u64, data_set: u32, first: bool) -> bool {
        let at = self.entry(key, data_set);
        let entry = &mut self.entries[at as usize];
        entry.registered[usize::from(member / 64)] |= bit(member);
        let with_data = entry.data_age != 0;
        if with_data {
            self.touch_data(at);
        }
        let counters = &mut self.members[usize::from(member)];
        counters.register_lists += u64::from(first);
        counters.prefetched_pages += u64::from(with_data);
        with_data
    }

    /// Ends a member's registration, with a request of its own or (`renamed`) with one that registers another page.
    /// Whether there was one.
    pub fn forget(&mut self, member: u8, key: u64, renamed: bool) -> bool {
        let Some(at) = self.table.get(key) else { return false };
        let registered = &mut self.entries[at as usize].registered[usize::from(member / 64)];
        let was = *registered & bit(member) != 0;
        *registered &= !bit(member);
        self.members[usize::from(member)].unregistered += u64::from(was && !renamed);
        was
    }

    /// A data set is not coupled any more: its changed pages are cast out, then `member` deletes all of its pages.
    pub fn delete(&mut self, member: u8, data_set: u32) {
        if self.classes.get(data_set as usize).is_some_and(|class| !class.is_empty()) {
            self.cast_out(data_set);
        }
        self.members[usize::from(member)].deleted_names += 1;
        if let Some(owner) = self.owners.get_mut(data_set as usize) {
            *owner = None;
        }
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            if entry.data_set == data_set && self.table.get(entry.key) == Some(at as u32) {
                // Oldest of all: its place is the next to be taken.
                let entry = &mut self.entries[at];
                entry.registered = [0; 4];
                self.data_used -= u32::from(std::mem::take(&mut entry.data_age) != 0);
            }
        }
    }

    /// The structure is lost with all that was in it; changed pages of each data set that had any. Counters and castout
    /// owners stay.
    pub fn lose(&mut self) -> Vec<(u32, u32)> {
        let lost = self.classes.iter().enumerate().filter(|(_, class)| !class.is_empty());
        let lost = lost.map(|(data_set, class)| (data_set as u32, class.len() as u32)).collect();
        let empty = Self::new(&self.config);
        let former = std::mem::replace(self, empty);
        (self.counters, self.members) = (former.counters, former.members);
        (self.owners, self.castouts) = (former.owners, former.castouts);
        lost
    }

    /// The structure is built anew elsewhere: changed pages are taken along, data of others and registrations are not.
    /// Pages taken along.
    pub fn move_changed(&mut self) -> u32 {
        let changed: Vec<(u64, u32)> =
            self.entries.iter().filter(|entry| entry.changed).map(|entry| (entry.key, entry.data_set)).collect();
        self.lose();
        for &(key, data_set) in &changed {
            let at = self.entry(key, data_set);
            self.take_data_entry(at);
            self.touch_data(at);
            self.mark(at);
        }
        changed.len() as u32
    }

    /// A member is gone: it is registered for nothing.
    pub fn disconnect(&mut self, member: u8) {
        for entry in &mut self.entries {
            entry.registered[usize::from(member / 64)] &= !bit(member);
        }
    }

    /// A member is gone: another that changes a page of its data sets casts them out from then on.
    pub fn disown(&mut self, member: u8) {
        self.owners.iter_mut().filter(|owner| **owner == Some(member)).for_each(|owner| *owner = None);
    }

    /// The member that casts out a data set, if any has changed it.
    pub fn castout_owner(&self, data_set: u32) -> Option<u8> {
        self.owners.get(data_set as usize).copied().flatten()
    }

    /// Whether anything was cast out since the last time of asking.
    pub fn has_castouts(&self) -> bool {
        !self.castouts.is_empty()
    }

    /// Castouts since the last time of asking.
    pub fn take_castouts(&mut self) -> Vec<Castout> {
        std::mem::take(&mut self.castouts)
    }

    /// Takes a changed page; other members' versions become invalid.
    pub fn write(&mut self, member: u8, key: u64, data_set: u32, synchronous: bool) {
        let at = self.entry(key, data_set);
        let entry = &mut self.entries[at as usize];
        let own = entry.registered[usize::from(member / 64)] & bit(member);
        let all: u32 = entry.registered.iter().map(|bits| bits.count_ones()).sum();
        self.counters.invalidated_by_write += u64::from(all - own.count_ones());
        entry.registered = [0; 4];
        entry.registered[usize::from(member / 64)] = own;
        if entry.data_age == 0 && !self.take_data_entry(at) {
            self.members[usize::from(member)].failed_writes += 1;
            self.cast_out_down_to(0);
            self.take_data_entry(at);
        }
        self.touch_data(at);
        let counters = &mut self.members[usize::from(member)];
        *if synchronous { &mut counters.sync_writes } else { &mut counters.async_writes } += 1;
        self.mark(at);
        self.own(data_set, member);
        self.castout_class(data_set);
        self.castout_pool();
    }

    /// The entry of a page, touched; a new one if it has none.
    fn entry(&mut self, key: u64, data_set: u32) -> u32 {
        let at = match self.table.get(key) {
            Some(at) => at,
            None => {
                let at = self.new_entry();
                self.entries[at as usize] = Entry { key, data_set, ..Entry::default() };
                self.table.replace(key, at);
                at
            }
        };
        self.clock += 1;
        let entry = &mut self.entries[at as usize];
        (entry.age, entry.passed) = (self.clock, false);
        self.directory.touch(at, self.clock);
        if self.directory.entries() > 4 * self.config.directory_entries as usize + 1024 {
            self.directory.sweep(&mut Directory(&mut self.entries));
        }
        at
    }

    fn new_entry(&mut self) -> u32 {
        if self.entries.len() < self.config.directory_entries as usize {
            self.entries.push(Entry::default());
            return self.entries.len() as u32 - 1;
        }
        let at = match self.directory.oldest(&mut Directory(&mut self.entries)) {
            Some(at) => at,
            None => {
                self.cast_out_down_to(0);
                self.directory.oldest(&mut Directory(&mut self.entries)).unwrap_or(0)
            }
        };
        let entry = self.entries[at as usize];
        self.counters.directory_reclaims += 1;
        let registered: u32 = entry.registered.iter().map(|bits| bits.count_ones()).sum();
        self.counters.invalidated_by_reclaim += u64::from(registered);
        self.data_used -= u32::from(entry.data_age != 0);
        self.table.remove(entry.key);
        // The next ones leave the table too. Their entries are on their way, asked for by the chain.
        if let Some(next) = self.directory.upcoming(RECLAIMED_AHEAD) {
            self.table.fetch(self.entries[next as usize].key);
        }
        at
    }

    /// Finds room for a page's data.
    fn take_data_entry(&mut self, at: u32) -> bool {
        if self.data_used < self.config.data_entries {
            self.data_used += 1;
            return true;
        }
        let Some(from) = self.data.oldest(&mut Data(&mut self.entries)) else { return false };
        debug_assert_ne!(from, at, "an entry without data has none to give");
        self.entries[from as usize].data_age = 0;
        self.counters.data_reclaims += 1;
        true
    }

    fn touch_data(&mut self, at: u32) {
        self.clock += 1;
        let entry = &mut self.entries[at as usize];
        (entry.data_age, entry.data_passed) = (self.clock, false);
        self.data.touch(at, self.clock);
        if self.data.entries() > 4 * self.config.data_entries as usize + 1024 {
            self.data.sweep(&mut Data(&mut self.entries));
        }
    }

    /// Marks an entry's page as changed.
    fn mark(&mut self, at: u32) {
        let entry = &mut self.entries[at as usize];
        if std::mem::replace(&mut entry.changed, true) {
            return;
        }
        let (key, number) = (entry.key, entry.data_set);
        if number as usize >= self.classes.len() {
            self.classes.resize_with(number as usize + 1, BTreeSet::new);
        }
        let class = &mut self.classes[number as usize];
        self.sizes.remove(&(class.len(), number));
        class.insert((key, at));
        self.sizes.insert((class.len(), number));
        self.changed += 1;
    }

    /// A member changes a page of a data set; the first one is its castout owner.
    pub fn own(&mut self, data_set: u32, member: u8) {
        if data_set as usize >= self.owners.len() {
            self.owners.resize(data_set as usize + 1, None);
        }
        self.owners[data_set as usize].get_or_insert(member);
    }

    /// From now on a member casts out a data set, whoever did so before.
    pub fn set_owner(&mut self, data_set: u32, member: u8) {
        self.own(data_set, member);
        self.owners[data_set as usize] = Some(member);
    }

    fn owner(&self, data_set: u32) -> u8 {
        self.owners.get(data_set as usize).copied().flatten().unwrap_or(0)
    }

    fn castout_pool(&mut self) {
        let limit = u64::from(self.config.data_entries) * u64::from(self.config.pool_threshold) / 100;
        if u64::from(self.changed) > limit {
            self.counters.pool_threshold += 1;
            if let Some(&(_, largest)) = self.sizes.last() {
                let owner = usize::from(self.owner(largest));
                self.members[owner].pool_threshold += 1;
                self.members[owner].castout_statistics += 1;
            }
            self.cast_out_down_to(limit as u32);
        }
    }

    fn castout_class(&mut self, data_set: u32) {
        let limit = match self.config.class_threshold {
            0 => u64::from(self.config.class_pages),
            percent => u64::from(self.config.data_entries) * u64::from(percent) / 100,
        };
        if self.classes[data_set as usize].len() as u64 > limit {
            self.counters.class_threshold += 1;
            let owner = usize::from(self.owner(data_set));
            self.members[owner].class_threshold += 1;
            self.cast_out(data_set);
        }
    }

    /// Casts out the largest classes until no more than so many pages are changed.
    fn cast_out_down_to(&mut self, most: u32) {
        while self.changed > most {
            let Some(&(_, number)) = self.sizes.last() else { return };
            self.cast_out(number);
        }
    }

    /// Casts out all changed pages of a class.
    fn cast_out(&mut self, data_set: u32) {
        let class = std::mem::take(&mut self.classes[data_set as usize]);
        self.sizes.remove(&(class.len(), data_set));
        self.changed -= class.len() as u32;
        let keys: Vec<u64> = class.iter().map(|&(key, _)| key).collect();
        let of_ios: Vec<WriteIo> = write_ios(&keys, (32 * 4096 / self.config.page_bytes) as usize).collect();
        let (pages, ios) = (keys.len() as u64, of_ios.len() as u64);
        self.counters.castout_pages += pages;
        self.counters.castout_ios += ios;
        let member = self.owner(data_set);
        let counters = &mut self.members[usize::from(member)];
        counters.castout_classes += 1;
        counters.castout_pages += pages;
        counters.castout_unlocks += ios;
        self.castouts.push(Castout { member, data_set, pages: pages as u32, ios: of_ios });
        for (_, at) in class {
            let entry = &mut self.entries[at as usize];
            entry.changed = false;
            if std::mem::take(&mut entry.passed) {
                self.directory.wake(at, entry.age);
            }
            if std::mem::take(&mut entry.data_passed) {
                self.data.wake(at, entry.data_age);
            }
        }
    }
}

fn bit(member: u8) -> u64 {
    1 << (member % 64)
}
