//! Local pools of the members and the group buffer pools between them. What happens to a page is decided at once; what
//! it takes in requests and I/O is told, so that the simulation lets time pass for it.

use std::cell::RefCell;
use std::rc::Rc;

use plexlens_bufferpool::group::{Castout, GroupBufferPool, GroupConfig, GroupCounters, MemberGroupCounters};
use plexlens_bufferpool::policy::{BufferPool, Counters, Coupling, PoolConfig, Reference, WriteIo};
use plexlens_bufferpool::trace::{Access, Status};

use super::interest::Interests;
use super::page_locks::{Asked, PageLocks};
use crate::kernel::Time;
use crate::scenario::Db2;

const PAGE_BITS: u32 = 40;

/// Key of a page of a page set.
pub fn page_key(page_set: u32, page: u64) -> u64 {
    u64::from(page_set) << PAGE_BITS | page
}

/// Page set of a page's key.
pub fn page_set_of(key: u64) -> u32 {
    (key >> PAGE_BITS) as u32
}

/// Page of a page's key.
pub fn page_of(key: u64) -> u64 {
    key & ((1 << PAGE_BITS) - 1)
}

const ROW_BITS: u32 = 7;

/// Number of what is locked for a row of a page.
pub fn row_key(page_set: u32, page: u64, row: u64) -> u64 {
    1 << 63 | page_key(page_set, page) << ROW_BITS | row & ((1 << ROW_BITS) - 1)
}

/// Number of what is locked for the physical lock of a page, of the page's key.
pub fn page_lock_key(key: u64) -> u64 {
    1 << 62 | key
}

/// Requests to group buffer pools that a reference or a commit made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Reads that returned no page, and reads that returned one.
    pub reads_without_data: u32,
    /// Reads that returned a page.
    pub reads_with_data: u32,
    /// Pages written.
    pub writes: u32,
    /// Of the reads those of a page that another member had changed: without and with data.
    pub invalid_without_data: u32,
    /// With data.
    pub invalid_with_data: u32,
    /// Lists of pages registered for a prefetch.
    pub lists: u32,
    /// Pages of these.
    pub list_pages: u32,
    /// Those of them that were read from the group buffer pool.
    pub prefetched: u32,
    /// Pages unregistered by a request of their own.
    pub unregistered: u32,
}

impl Requests {
    /// Requests of all kinds.
    pub fn all(&self) -> u32 {
        self.without_data() + self.with_data() + self.writes + self.lists
    }

    /// Requests of one page each that do not move it.
    pub fn without_data(&self) -> u32 {
        self.reads_without_data + self.unregistered
    }

    /// Reads that return a page.
    pub fn with_data(&self) -> u32 {
        self.reads_with_data + self.prefetched
    }
}

struct Shared {
    /// The group buffer pool, if the pool has one.
    structure: Option<GroupBufferPool>,
    interests: Rc<RefCell<Interests>>,
    made: Requests,
    page_locks: PageLocks,
    /// Pages whose physical locks their members gave back with the buffer.
    unlocked: Vec<u64>,
    /// Write I/Os of members.
    written: Vec<WriteIo>,
}

/// A member's way to the group buffer pool of one pool.
struct Link {
    shared: Rc<RefCell<Shared>>,
    member: u8,
}

impl Link {
    fn ask(&self, key: u64, data_set: u32, invalid: bool) -> bool {
        let shared = &mut *self.shared.borrow_mut();
        let Some(structure) = &mut shared.structure else { return false };
        let with_data = structure.read(self.member, key, data_set, invalid);
        let made = &mut shared.made;
        let (reads, rereads) = if with_data {
            (&mut made.reads_with_data, &mut made.invalid_with_data)
        } else {
            (&mut made.reads_without_data, &mut made.invalid_without_data)
        };
        *reads += 1;
        *rereads += u32::from(invalid);
        with_data
    }
}

impl Coupling for Link {
    fn is_dependent(&self, data_set: u32) -> bool {
        let shared = self.shared.borrow();
        shared.structure.is_some() && shared.interests.borrow().is_dependent(data_set)
    }

    fn read(&mut self, key: u64, data_set: u32) -> bool {
        self.ask(key, data_set, false)
    }

    fn read_ahead(&mut self, key: u64, data_set: u32, first: bool) -> bool {
        let shared = &mut *self.shared.borrow_mut();
        let Some(structure) = &mut shared.structure else { return false };
        let with_data = structure.read_ahead(self.member, key, data_set, first);
        shared.made.lists += u32::from(first);
        shared.made.list_pages += 1;
        shared.made.prefetched += u32::from(with_data);
        with_data
    }

    fn is_valid(&self, key: u64) -> bool {
        self.shared.borrow().structure.as_ref().is_none_or(|structure| structure.is_registered(self.member, key))
    }

    fn reread(&mut self, key: u64, data_set: u32) -> bool {
        self.ask(key, data_set, true)
    }

    fn forget(&mut self, key: u64, renamed: bool) {
        let shared = &mut *self.shared.borrow_mut();
        let Some(structure) = &mut shared.structure else { return };
        if structure.forget(self.member, key, renamed) && !renamed {
            shared.made.unregistered += 1;
        }
        if shared.page_locks.release(key, self.member) {
            shared.unlocked.push(key);
        }
    }

    fn approach(&self, next: u64, later: u64) {
        if let Some(structure) = &self.shared.borrow().structure {
            structure.fetch(later);
            structure.fetch_entry(next);
        }
    }

    fn write(&mut self, key: u64, data_set: u32, synchronous: bool) {
        let shared = &mut *self.shared.borrow_mut();
        if let Some(structure) = &mut shared.structure {
            structure.write(self.member, key, data_set, synchronous);
            shared.made.writes += 1;
        }
    }

    fn wrote(&mut self, io: WriteIo) {
        self.shared.borrow_mut().written.push(io);
    }
}

/// A page that a transaction refers to.
#[derive(Clone, Copy, Debug)]
pub struct PageUse {
    /// Page set.
    pub page_set: u32,
    /// Page.
    pub page: u64,
    /// Number of the thread, by which scans are told apart.
    pub agent: u32,
    /// How it came about.
    pub access: Access,
    /// Whether it is changed.
    pub update: bool,
    /// Where it is.
    pub place: Place,
}

/// Where in its page set a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among others.
    Within,
    /// At the end, where rows are inserted.
    End,
    /// Behind the end: it is made, not read.
    New,
}

/// What a reference took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Requests to the group buffer pool.
    pub requests: Requests,
    /// Synchronous reads from disk.
    pub sync_reads: u32,
    /// Pages made anew.
    pub not_read: u32,
    /// Prefetch requests.
    pub prefetch_requests: u32,
    /// Prefetch I/Os, and their pages.
    pub prefetches: u32,
    /// Pages of the prefetch I/Os.
    pub prefetch_pages: u32,
    /// Write I/Os to disk ([`Pools::take_written`]), and their pages.
    pub writes: u32,
    /// Pages written.
    pub written_pages: u32,
    /// Whether pages were cast out ([`Pools::take_castouts`]).
    pub castouts: bool,
    /// Whether physical locks of pages were given back ([`Pools::take_unlocked`]).
    pub unlocked: bool,
}

struct OnePool {
    members: Vec<BufferPool<Link>>,
    shared: Rc<RefCell<Shared>>,
    /// What the pools of each member counted that were lost with it.
    former: Vec<Counters>,
    config: PoolConfig,
    /// Page sets in the pool, with their pages.
    page_sets: Vec<(u32, u64)>,
}

/// The pool of a member, empty.
fn new_pool(
    config: &PoolConfig,
    page_sets: &[(u32, u64)],
    shared: &Rc<RefCell<Shared>>,
    member: u8,
) -> BufferPool<Link> {
    let mut made = BufferPool::coupled(config, Link { shared: Rc::clone(shared), member });
    page_sets.iter().for_each(|&(number, pages)| made.set_pages(number, pages));
    made
}

/// All pools of a group.
pub struct Pools {
    pools: Vec<OnePool>,
    interests: Rc<RefCell<Interests>>,
}

impl Pools {
    /// Pools as the scenario describes them, empty.
    pub fn new(group: &Db2) -> Self {
        let (members, page_sets) = (group.member.len(), group.page_set.len());
        let interests = Rc::new(RefCell::new(Interests::new(members, page_sets)));
        let pools = group.pool.iter().map(|pool| {
            let structure = pool.group.as_ref().map(|shared| {
                GroupBufferPool::new(&GroupConfig {
                    data_entries: shared.data_entries,
                    directory_entries: shared.directory_entries.unwrap_or(shared.data_entries.saturating_mul(5)),
                    page_bytes: pool.page_bytes,
                    class_threshold: shared.class_threshold,
                    class_pages: 0,
                    pool_threshold: shared.pool_threshold,
                    updates_a_commit: None,
                })
            });
            let shared = Shared {
                structure,
                interests: Rc::clone(&interests),
                made: Requests::default(),
                page_locks: PageLocks::default(),
                unlocked: Vec::new(),
                written: Vec::new(),
            };
            let shared = Rc::new(RefCell::new(shared));
            let config = PoolConfig {
                size: pool.size,
                page_bytes: pool.page_bytes,
                vpseqt: pool.vpseqt,
                ..PoolConfig::default()
            };
            let page_sets = group.page_set.iter().enumerate().filter(|(_, one)| one.pool == pool.number);
            let page_sets: Vec<(u32, u64)> = page_sets.map(|(number, one)| (number as u32, one.pages)).collect();
            OnePool {
                members: (0..members).map(|member| new_pool(&config, &page_sets, &shared, member as u8)).collect(),
                shared: Rc::clone(&shared),
                former: vec![Counters::default(); members],
                config,
                page_sets,
            }
        });
        let mut made = Self { pools: pools.collect(), interests: Rc::clone(&interests) };
        for (number, page_set) in group.page_set.iter().enumerate() {
            if let Some(at) = group.pool.iter().position(|pool| pool.number == page_set.pool) {
                let owner = page_set.castout_owner.as_ref();
                if let Some(owner) = owner.and_then(|name| group.member.iter().position(|one| one.name == *name)) {
                    interests.borrow_mut().prefer_owner(number as u32, owner as u8);
                    made.settle_owner(at, number as u32);
                }
            }
        }
        made
    }

    /// The members' interest in page sets.
    pub fn interests(&self) -> std::cell::RefMut<'_, Interests> {
        self.interests.borrow_mut()
    }

    /// Begins to load what a reference to a page will need: where the pools of many members keep it is never near.
    #[inline]
    pub fn fetch(&self, pool: usize, member: u8, page_set: u32, page: u64) {
        let (one, key) = (&self.pools[pool], page_key(page_set, page));
        one.members[usize::from(member)].fetch(key);
        if let Some(structure) = &one.shared.borrow().structure {
            structure.fetch(key);
        }
    }

    /// The second part of [`Self::fetch`], for when the first has come: the page's entry in the group buffer pool.
    #[inline]
    pub fn fetch_entry(&self, pool: usize, page_set: u32, page: u64) {
        if let Some(structure) = &self.pools[pool].shared.borrow().structure {
            structure.fetch_entry(page_key(page_set, page));
        }
    }

    /// A getpage, followed by an update of the page where it is changed.
    pub fn refer(&mut self, pool: usize, member: u8, now: Time, used: &PageUse) -> Outcome {
        let &PageUse { page_set, page, agent, access, update, place } = used;
        let (time, key, status) = ((now / 1000) as i64, page_key(page_set, page), Status::Unknown);
        let reference = Reference { time, key, data_set: page_set, agent, access, status };
        self.watch(pool, member, |pool| {
            match place {
                Place::Within => pool.getpage(&reference),
                Place::End | Place::New => pool.getpage_at_end(&reference, place == Place::New),
            }
            if update {
                pool.set_write(&reference);
            }
        })
    }

    /// The end of a unit of work: the pages of dependent page sets that it changed go to the group buffer pool, unless
    /// they were written since.
    pub fn commit(&mut self, pool: usize, member: u8, changed: &[u64]) -> Outcome {
        self.watch(pool, member, |pool| pool.commit_pages(changed))
    }

    /// A page set has come to depend on its group buffer pool: a member writes there what it has changed so far.
    pub fn begin_dependence(&mut self, pool: usize, member: u8, page_set: u32) -> Outcome {
        self.watch(pool, member, |pool| pool.begin_coupling(page_set))
    }

    /// A member that will change a page asks for its physical lock; another that has it writes the page first, if it
    /// changed it. What that took of the other.
    pub fn lock_page(&mut self, pool: usize, member: u8, key: u64) -> (Asked, Outcome) {
        let asked = self.pools[pool].shared.borrow_mut().page_locks.ask(key, member);
        let outcome = match asked {
            Asked::Negotiated(other) => self.watch(pool, other, |pool| pool.give_up(key)),
            Asked::Held | Asked::Granted => Outcome::default(),
        };
        (asked, outcome)
    }

    /// Physical locks of pages given back since the last time of asking.
    pub fn take_unlocked(&mut self, pool: usize) -> Vec<u64> {
        std::mem::take(&mut self.pools[pool].shared.borrow_mut().unlocked)
    }

    /// Write I/Os to disk of the members of a pool since the last time of asking.
    pub fn take_written(&mut self, pool: usize) -> Vec<WriteIo> {
        std::mem::take(&mut self.pools[pool].shared.borrow_mut().written)
    }

    /// The member that casts out a page set follows from who changes it ([`Interests::castout_owner`]).
    pub fn settle_owner(&mut self, pool: usize, page_set: u32) {
        let Some(member) = self.interests.borrow().castout_owner(page_set) else { return };
        if let Some(structure) = &mut self.pools[pool].shared.borrow_mut().structure {
            structure.set_owner(page_set, member);
        }
    }

    /// The same for all page sets.
    pub fn settle_owners(&mut self) {
        for pool in 0..self.pools.len() {
            for at in 0..self.pools[pool].page_sets.len() {
                self.settle_owner(pool, self.pools[pool].page_sets[at].0);
            }
        }
    }

    /// The member that casts out a page set.
    pub fn castout_owner(&self, pool: usize, page_set: u32) -> Option<u8> {
        self.pools[pool].shared.borrow().structure.as_ref()?.castout_owner(page_set)
    }

    /// Physical locks of pages that are held.
    pub fn page_locks(&self) -> usize {
        self.pools.iter().map(|one| one.shared.borrow().page_locks.held()).sum()
    }

    /// Castouts of a pool since the last time of asking.
    pub fn take_castouts(&mut self, pool: usize) -> Vec<Castout> {
        self.pools[pool].shared.borrow_mut().structure.as_mut().map_or_else(Vec::new, GroupBufferPool::take_castouts)
    }

    /// A page set does not depend on its group buffer pool any more: a member casts out what is changed and deletes it.
    pub fn end_dependence(&mut self, pool: usize, member: u8, page_set: u32) {
        if let Some(structure) = &mut self.pools[pool].shared.borrow_mut().structure {
            structure.delete(member, page_set);
        }
    }

    /// A member is lost with its local pools: others become castout owners of its page sets. Pages on which it had
    /// physical locks, and how many pages were changed in its pools and nowhere else.
    pub fn lose(&mut self, member: u8) -> (Vec<u64>, u64) {
        let (mut locks, mut changed) = (Vec::new(), 0);
        for one in &mut self.pools {
            let local = &mut one.members[usize::from(member)];
            changed += u64::from(local.unavailable());
            let counted = one.former[usize::from(member)].added(local.counters());
            one.former[usize::from(member)] = counted;
            *local = new_pool(&one.config, &one.page_sets, &one.shared, member);
            let shared = &mut *one.shared.borrow_mut();
            if let Some(structure) = &mut shared.structure {
                structure.disown(member);
                structure.disconnect(member);
            }
            locks.extend(shared.page_locks.lose(member));
        }
        self.interests.borrow_mut().lose(member);
        self.settle_owners();
        (locks, changed)
    }

    /// The group buffer pool of a pool is lost; changed pages of each page set that were in it.
    pub fn lose_group(&mut self, pool: usize) -> Vec<(u32, u32)> {
        self.pools[pool].shared.borrow_mut().structure.as_mut().map_or_else(Vec::new, GroupBufferPool::lose)
    }

    /// The group buffer pool of a pool is built anew, with the changed pages of the former; how many.
    pub fn move_group(&mut self, pool: usize) -> u32 {
        self.pools[pool].shared.borrow_mut().structure.as_mut().map_or(0, GroupBufferPool::move_changed)
    }

    /// Changed pages in the group buffer pool of a pool.
    pub fn changed_in_group(&self, pool: usize) -> u32 {
        self.pools[pool].shared.borrow().structure.as_ref().map_or(0, GroupBufferPool::changed)
    }

    fn watch(&mut self, pool: usize, member: u8, work: impl FnOnce(&mut BufferPool<Link>)) -> Outcome {
        let one = &mut self.pools[pool];
        let local = &mut one.members[usize::from(member)];
        let before = *local.counters();
        work(local);
        let after = *local.counters();
        let since = |of: fn(&Counters) -> u64| (of(&after) - of(&before)) as u32;
        let shared = &mut *one.shared.borrow_mut();
        Outcome {
            requests: std::mem::take(&mut shared.made),
            sync_reads: since(Counters::sync_reads),
            not_read: since(|one| one.not_read),
            prefetch_requests: since(|one| one.sequential_requests + one.list_requests + one.dynamic_requests),
            prefetches: since(|one| one.sequential_reads + one.list_reads + one.dynamic_reads),
            prefetch_pages: since(|one| one.sequential_pages + one.list_pages + one.dynamic_pages),
            writes: since(|one| one.async_writes + one.sync_writes),
            written_pages: since(|one| one.pages_written),
            castouts: shared.structure.as_ref().is_some_and(GroupBufferPool::has_castouts),
            unlocked: !shared.unlocked.is_empty(),
        }
    }

    /// Number of pools.
    pub fn count(&self) -> usize {
        self.pools.len()
    }

    /// A member's counters of a pool since the beginning.
    pub fn counters(&self, pool: usize, member: u8) -> Counters {
        let one = &self.pools[pool];
        one.former[usize::from(member)].added(one.members[usize::from(member)].counters())
    }

    /// Counters of a group buffer pool since the beginning, and those of a member.
    pub fn group_counters(&self, pool: usize, member: u8) -> Option<(GroupCounters, MemberGroupCounters)> {
        let shared = self.pools[pool].shared.borrow();
        shared.structure.as_ref().map(|structure| (*structure.counters(), *structure.member_counters(member)))
    }
}
