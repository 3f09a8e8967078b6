//! Locks of a data-sharing group: who holds and who waits, and the lock structure's table, which knows only that some
//! member has a shared or an exclusive interest in one of its entries.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use crate::kernel::Time;

/// A task that stands for a lost member: its update locks are retained.
pub const RETAINED: u32 = u32::MAX;

/// How a page is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Share: readers.
    S,
    /// Update: a reader that will change the page.
    U,
    /// Exclusive.
    X,
}

impl Mode {
    /// Whether two tasks can have the lock in these modes.
    pub fn is_compatible(self, other: Self) -> bool {
        matches!((self, other), (Self::S, Self::S | Self::U) | (Self::U, Self::S))
    }

    /// Whether the lock structure, which knows two modes, takes it for exclusive.
    pub fn is_exclusive(self) -> bool {
        self != Self::S
    }
}

/// A hash of resource numbers: the multiplication spreads them, no one chooses them to collide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread(u64);

impl std::hash::Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mixed(self.0 ^ value);
    }
}

/// A map from resource numbers.
pub(super) type ByNumber<V> = HashMap<u64, V, BuildHasherDefault<Spread>>;

/// SplitMix64's mixing: every bit of the result depends on every bit given.
fn mixed(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    task: u32,
    mode: Mode,
}

#[derive(Clone, Debug, Default)]
struct Resource {
    holders: Vec<Claim>,
    waiters: VecDeque<Claim>,
}

impl Resource {
    fn admits(&self, claim: Claim) -> bool {
        self.holders.iter().all(|holder| holder.task == claim.task || holder.mode.is_compatible(claim.mode))
    }
}

/// Who holds and who waits, over all members.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    resources: ByNumber<Resource>,
    /// What each waiting task waits for.
    waiting: BTreeMap<u32, u64>,
    held: u64,
}

impl Locks {
    /// Asks for a lock; whether the task has it now, else it waits behind those who wait already. A task that has it in a
    /// weaker mode asks for the stronger one first in the queue.
    pub fn request(&mut self, resource: u64, task: u32, mode: Mode) -> bool {
        let about = self.resources.entry(resource).or_default();
        let claim = Claim { task, mode };
        if let Some(at) = about.holders.iter().position(|holder| holder.task == task) {
            if about.holders[at].mode >= mode {
                return true;
            }
            if about.admits(claim) {
                about.holders[at].mode = mode;
                return true;
            }
            about.waiters.push_front(claim);
        } else if about.waiters.is_empty() && about.admits(claim) {
            about.holders.push(claim);
            self.held += 1;
            return true;
        } else {
            about.waiters.push_back(claim);
        }
        self.waiting.insert(task, resource);
        false
    }

    /// Gives a lock back; the tasks that have it now.
    pub fn release(&mut self, resource: u64, task: u32, granted: &mut Vec<u32>) {
        let Some(about) = self.resources.get_mut(&resource) else { return };
        let before = about.holders.len();
        about.holders.retain(|holder| holder.task != task);
        self.held -= (before - about.holders.len()) as u64;
        self.grant(resource, granted);
    }

    /// A task waits no more; the tasks that have the lock now because of it.
    pub fn give_up(&mut self, task: u32, granted: &mut Vec<u32>) -> Option<u64> {
        let resource = self.waiting.remove(&task)?;
        if let Some(about) = self.resources.get_mut(&resource) {
            about.waiters.retain(|waiter| waiter.task != task);
        }
        self.grant(resource, granted);
        Some(resource)
    }

    fn grant(&mut self, resource: u64, granted: &mut Vec<u32>) {
        let Some(about) = self.resources.get_mut(&resource) else { return };
        while let Some(&next) = about.waiters.front() {
            if !about.admits(next) {
                break;
            }
            about.waiters.pop_front();
            self.waiting.remove(&next.task);
            match about.holders.iter_mut().find(|holder| holder.task == next.task) {
                Some(holder) => holder.mode = next.mode,
                None => {
                    about.holders.push(next);
                    self.held += 1;
                }
            }
            granted.push(next.task);
        }
        if about.holders.is_empty() && about.waiters.is_empty() {
            self.resources.remove(&resource);
        }
    }

    /// A lock of a task of a lost member is kept for it; whether the task had it.
    pub fn retain(&mut self, resource: u64, task: u32) -> bool {
        let holders = self.resources.get_mut(&resource).into_iter().flat_map(|about| &mut about.holders);
        let mut own = holders.filter(|holder| holder.task == task);
        own.next().map(|holder| holder.task = RETAINED).is_some()
    }

    /// A lock that no task has is kept for a lost member.
    pub fn keep(&mut self, resource: u64) {
        self.resources.entry(resource).or_default().holders.push(Claim { task: RETAINED, mode: Mode::X });
        self.held += 1;
    }

    /// Whether a lock is kept for a lost member.
    pub fn is_retained(&self, resource: u64) -> bool {
        self.resources.get(&resource).is_some_and(|about| about.holders.iter().any(|holder| holder.task == RETAINED))
    }

    /// One task of each circle of tasks that wait for each other: the one that began last.
    pub fn deadlocked(&self, begun: impl Fn(u32) -> Time) -> Vec<u32> {
        let mut victims: Vec<u32> = Vec::new();
        let mut done = BTreeSet::new();
        for &start in self.waiting.keys() {
            let mut path: Vec<u32> = Vec::new();
            let victim = self.follow(start, &victims, &mut done, &mut path, &begun);
            victims.extend(victim);
        }
        victims
    }

    /// Walks from a waiting task to those it waits for; the victim of the first circle met.
    fn follow(
        &self,
        task: u32,
        victims: &[u32],
        done: &mut BTreeSet<u32>,
        path: &mut Vec<u32>,
        begun: &impl Fn(u32) -> Time,
    ) -> Option<u32> {
        if let Some(at) = path.iter().position(|&one| one == task) {
            return path[at..].iter().copied().max_by_key(|&one| (begun(one), one));
        }
        if done.contains(&task) || victims.contains(&task) {
            return None;
        }
        let about = self.resources.get(self.waiting.get(&task)?)?;
        let wanted = about.waiters.iter().find(|waiter| waiter.task == task)?.mode;
        path.push(task);
        let ahead = about.waiters.iter().take_while(|waiter| waiter.task != task);
        let others = about.holders.iter().chain(ahead);
        let blocking = others.filter(|other| other.task != task && !other.mode.is_compatible(wanted));
        for other in blocking.filter(|other| other.task != RETAINED) {
            if let Some(victim) = self.follow(other.task, victims, done, path, begun) {
                return Some(victim);
            }
        }
        path.pop();
        done.insert(task);
        None
    }

    /// Locks held by tasks and lost members.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// What a task waits for.
    pub fn waits_for(&self, task: u32) -> Option<u64> {
        self.waiting.get(&task).copied()
    }

    /// Whether a task waits.
    pub fn is_waiting(&self, task: u32) -> bool {
        self.waiting.contains_key(&task)
    }

    /// Whether another task holds or wants it exclusively.
    pub fn is_taken(&self, resource: u64, task: u32) -> bool {
        self.resources.get(&resource).is_some_and(|about| !about.admits(Claim { task, mode: Mode::X }))
    }

    /// Tasks that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// What the lock structure found in the entry that a request hashes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No interest of other members that does not go with the request.
    Free,
    /// Such interest in other resources of the entry alone.
    OtherResource,
    /// Such interest in the same resource.
    SameResource,
}

#[derive(Clone, Copy, Debug)]
struct Interest {
    resource: u64,
    member: u8,
    shared: u32,
    exclusive: u32,
}

/// The lock table of a lock structure.
#[derive(Clone, Debug)]
pub struct LockTable {
    entries: u64,
    interests: ByNumber<Vec<Interest>>,
}

impl LockTable {
    /// A table of so many entries.
    pub fn new(entries: u64) -> Self {
        Self { entries: entries.max(1), interests: ByNumber::default() }
    }

    fn entry(&self, resource: u64) -> u64 {
        ((u128::from(mixed(resource)) * u128::from(self.entries)) >> 64) as u64
    }

    /// Notes a member's interest, and says what stands against it.
    pub fn obtain(&mut self, resource: u64, member: u8, mode: Mode) -> Found {
        let entry = self.entry(resource);
        let interests = self.interests.entry(entry).or_default();
        let against = |other: &&Interest| {
            other.member != member && (other.exclusive > 0 || (mode.is_exclusive() && other.shared > 0))
        };
        let found = interests.iter().filter(against).fold(Found::Free, |found, other| {
            if other.resource == resource || found == Found::SameResource {
                Found::SameResource
            } else {
                Found::OtherResource
            }
        });
        let own = |one: &&mut Interest| one.resource == resource && one.member == member;
        let (shared, exclusive) = if mode.is_exclusive() { (0, 1) } else { (1, 0) };
        match interests.iter_mut().find(own) {
            Some(known) => {
                known.shared += shared;
                known.exclusive += exclusive;
            }
            None => interests.push(Interest { resource, member, shared, exclusive }),
        }
        found
    }

    /// Ends an interest.
    pub fn release(&mut self, resource: u64, member: u8, mode: Mode) {
        let entry = self.entry(resource);
        let Some(interests) = self.interests.get_mut(&entry) else { return };
        let Some(at) = interests.iter().position(|one| one.resource == resource && one.member == member) else {
            return;
        };
        let known = &mut interests[at];
        let count = if mode.is_exclusive() { &mut known.exclusive } else { &mut known.shared };
        *count = count.saturating_sub(1);
        if known.shared == 0 && known.exclusive == 0 {
            interests.swap_remove(at);
        }
        if interests.is_empty() {
            self.interests.remove(&entry);
        }
    }

    /// Resources that a member has interest in.
    pub fn held_by(&self, member: u8) -> u64 {
        self.interests.values().flatten().filter(|one| one.member == member).count() as u64
    }

    /// Resources and members that have interest in them.
    pub fn interests(&self) -> usize {
        self.interests.values().map(Vec::len).sum()
    }

    /// Entries with any interest.
    pub fn used(&self) -> usize {
        self.interests.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn modes_go_together_as_the_manual_says() {
        let table = [(Mode::S, "yyn"), (Mode::U, "ynn"), (Mode::X, "nnn")];
        for (one, row) in table {
            for (other, cell) in [Mode::S, Mode::U, Mode::X].into_iter().zip(row.chars()) {
                assert_eq!(one.is_compatible(other), cell == 'y', "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn waiters_are_served_in_turn() {
        let (mut locks, mut granted) = (Locks::default(), Vec::new());
        assert!(locks.request(1, 10, Mode::S) && locks.request(1, 11, Mode::S));
        assert!(!locks.request(1, 12, Mode::X));
        // A reader does not overtake the writer.
        assert!(!locks.request(1, 13, Mode::S) && !locks.request(1, 14, Mode::S));
        locks.release(1, 10, &mut granted);
        assert!(granted.is_empty());
        locks.release(1, 11, &mut granted);
        assert_eq!(granted, [12]);
        locks.release(1, 12, &mut granted);
        assert_eq!(granted, [12, 13, 14]);
        locks.release(1, 13, &mut granted);
        locks.release(1, 14, &mut granted);
        assert_eq!((locks.held(), locks.waiting(), locks.resources.len()), (0, 0, 0));
    }

    #[test]
    fn two_who_want_more_of_what_both_have_are_deadlocked() {
        let (mut locks, mut granted) = (Locks::default(), Vec::new());
        assert!(locks.request(1, 10, Mode::S) && locks.request(1, 11, Mode::S));
        assert!(!locks.request(1, 10, Mode::X));
        assert!(locks.deadlocked(|task| task.into()).is_empty());
        assert!(!locks.request(1, 11, Mode::X));
        assert_eq!(locks.deadlocked(|task| task.into()), [11]);
        locks.give_up(11, &mut granted);
        locks.release(1, 11, &mut granted);
        assert_eq!(granted, [10]);
    }

    #[test]
    fn a_circle_of_three_has_one_victim() {
        let mut locks = Locks::default();
        for task in 0..3 {
            assert!(locks.request(task.into(), task, Mode::X));
        }
        for task in 0..3u32 {
            assert!(!locks.request(((task + 1) % 3).into(), task, Mode::X));
        }
        assert_eq!(locks.deadlocked(|task| Time::from(10 - task)), [0]);
    }

    #[test]
    fn locks_of_a_lost_member_keep_others_out() {
        let (mut locks, mut granted) = (Locks::default(), Vec::new());
        assert!(locks.request(1, 10, Mode::X));
        assert!(locks.retain(1, 10) && !locks.retain(1, 10) && locks.is_retained(1) && !locks.is_retained(2));
        assert!(!locks.request(1, 20, Mode::S));
        assert!(locks.deadlocked(|_| 0).is_empty());
        locks.release(1, RETAINED, &mut granted);
        assert_eq!(granted, [20]);
    }

    #[test]
    fn the_table_tells_the_three_kinds_of_contention_apart() {
        let mut table = LockTable::new(1);
        assert_eq!(table.obtain(1, 0, Mode::S), Found::Free);
        assert_eq!(table.obtain(1, 1, Mode::S), Found::Free);
        // An update lock goes with share for the IRLM, not for the structure.
        assert_eq!(table.obtain(1, 1, Mode::U), Found::SameResource);
        assert_eq!(table.obtain(2, 2, Mode::X), Found::OtherResource);
        table.release(1, 0, Mode::S);
        table.release(1, 1, Mode::S);
        table.release(1, 1, Mode::U);
        assert_eq!(table.obtain(3, 2, Mode::S), Found::Free);
        assert_eq!(table.obtain(3, 0, Mode::S), Found::OtherResource);
        assert_eq!(table.used(), 1);
    }

    #[test]
    fn false_contention_is_as_frequent_as_the_table_is_full() {
        // One member holds 500 exclusive locks over 10,000 entries: an arbitrary request of another meets one with
        // 1 - (1 - 1/10000)^500 = 4.88 %.
        let mut table = LockTable::new(10_000);
        for resource in 0..500 {
            table.obtain(resource, 0, Mode::X);
        }
        let mut met = 0;
        for resource in 1_000..101_000 {
            met += u32::from(table.obtain(resource, 1, Mode::S) == Found::OtherResource);
            table.release(resource, 1, Mode::S);
        }
        // The 500 hash to some 488 entries, give or take five standard deviations of some 3.4.
        assert!((4_700..5_060).contains(&met), "{met}");
    }

    proptest! {
        /// Everyone asks in one order of resources, so nobody is deadlocked, and in the end nothing is left.
        #[test]
        fn every_lock_is_given_back(wishes in prop::collection::vec((0u64..5, 0u32..12, 0..3usize), 0..120)) {
            let mut locks = Locks::default();
            let mut held: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            let mut blocked: Vec<u32> = Vec::new();
            for (resource, task, mode) in wishes {
                if blocked.contains(&task) || held.get(&task).is_some_and(|own| own.iter().any(|&one| one >= resource)) {
                    continue;
                }
                held.entry(task).or_default().push(resource);
                if !locks.request(resource, task, [Mode::S, Mode::U, Mode::X][mode]) {
                    blocked.push(task);
                }
            }
            prop_assert!(locks.deadlocked(|task| task.into()).is_empty());
            let mut ready: Vec<u32> = held.keys().copied().filter(|task| !blocked.contains(task)).collect();
            let mut ended = 0;
            while let Some(task) = ready.pop() {
                for &resource in &held[&task] {
                    locks.release(resource, task, &mut ready);
                }
                ended += 1;
            }
            prop_assert_eq!((ended, locks.held(), locks.waiting()), (held.len(), 0, 0));
        }
    }
}
