//! What locks make a task do: asking, waiting, settling contention, giving back.

use super::account::Wait;
use super::locks::{Found, Mode};
use super::page_locks::Asked;
use super::pools::{Outcome, page_lock_key};
use super::simulation::{Event, Simulation};
use super::steps::micro;
use super::task::{Action, Held, Reason, Request, Space};
use crate::kernel::{Time, nanoseconds, seconds};

impl Simulation<'_> {
    pub(super) fn lock(&mut self, number: u32, resource: u64, mode: Mode, shared: bool) {
        let task = &mut self.tasks[number as usize];
        let (group, member, region) = (usize::from(task.group), task.member, task.region);
        let path = &self.scenario.db2[group].path;
        task.pending += micro(path.lock_us);
        task.account.locks += 1;
        let about = &mut self.plex.groups[group];
        let granted = about.locks.request(resource, number, mode);
        let found = match &mut about.table {
            Some((table, _)) if shared => table.obtain(resource, member, mode),
            _ => Found::Free,
        };
        let locking = &mut about.members[usize::from(member)].locking;
        locking.locks += 1;
        locking.global_locks += u64::from(shared);
        let met = match (found, granted) {
            (Found::OtherResource, _) => Some((0, &mut locking.false_contentions)),
            (Found::SameResource, true) => Some((1, &mut locking.xes_contentions)),
            (Found::SameResource, false) => Some((2, &mut locking.real_contentions)),
            (Found::Free, _) => None,
        };
        if let Some((kind, count)) = met {
            *count += 1;
            task.account.contentions[kind] += 1;
        }
        match task.held.iter_mut().find(|held| held.resource == resource) {
            // The table keeps both interests until both are given back; one record of each is enough.
            Some(held) if held.mode == mode && held.shared == shared => {
                if let (Some((table, _)), true) = (&mut about.table, shared) {
                    table.release(resource, member, mode);
                }
            }
            _ => task.held.push(Held { resource, mode, shared }),
        }
        if !granted {
            let wait = self.scenario.db2[group].retained_lock_wait;
            if wait == 0.0 && !about.retained.is_empty() && about.locks.is_retained(resource) {
                about.locks.give_up(number, &mut self.granted);
                self.wake_granted();
                self.abandon(number, Reason::RetainedLock);
                return;
            }
            task.steps.push_front(Action::AwaitLock);
        }
        let Some((_, structure)) = about.table.as_ref().filter(|_| shared) else { return };
        let structure = *structure;
        task.account.coupling_locks += 1;
        if found != Found::Free {
            let used = &mut self.plex.structures[usize::from(structure)].uses[usize::from(task.system)];
            used.contentions += 1;
            used.false_contentions += u64::from(found == Found::OtherResource);
            let costs = &self.scenario.coupling;
            let work = micro(costs.contention_host_us);
            let time = nanoseconds(costs.contention_delay);
            task.steps.push_front(Action::Pass { time, wait: Wait::Contention });
            // The lock managers of both systems work on it.
            task.steps.push_front(Action::Cpu { work, space: Space::LockManager(member.into()), eligible: false });
        }
        let space = Space::Region(region);
        task.steps.push_front(Action::Ask { structure, request: Request::Lock, count: 1, space });
    }

    pub(super) fn await_lock(&mut self, number: u32) -> bool {
        let group = self.tasks[number as usize].group;
        if !self.plex.groups[usize::from(group)].locks.is_waiting(number) {
            return false;
        }
        self.release_engine(number);
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        task.waiting = Some((now, None));
        task.awaits_lock = true;
        let turn = task.turn;
        let about = &self.scenario.db2[usize::from(group)];
        let locks = &self.plex.groups[usize::from(group)].locks;
        let retained = locks.waits_for(number).is_some_and(|resource| locks.is_retained(resource));
        let limit = nanoseconds(if retained { about.retained_lock_wait } else { about.lock_timeout });
        self.calendar.after(limit, Event::Timeout { task: number, turn });
        true
    }

    /// Tasks that have got their locks go on, if they stood still for them.
    pub(super) fn wake_granted(&mut self) {
        let now = self.calendar.now();
        for number in std::mem::take(&mut self.granted) {
            let task = &mut self.tasks[number as usize];
            if std::mem::take(&mut task.awaits_lock) {
                if let Some((since, None)) = task.waiting {
                    let about = &mut self.plex.groups[usize::from(task.group)];
                    let member = &mut about.members[usize::from(task.member)];
                    member.locking.suspensions.add(seconds(now - since));
                }
                self.wake(number);
            }
        }
    }

    pub(super) fn unlock(&mut self, number: u32, resource: u64, mode: Mode, shared: bool) {
        let task = &mut self.tasks[number as usize];
        let (group, member, region) = (usize::from(task.group), task.member, task.region);
        task.pending += micro(self.scenario.db2[group].path.lock_us);
        task.held.retain(|held| held.resource != resource || held.mode != mode);
        let about = &mut self.plex.groups[group];
        about.locks.release(resource, number, &mut self.granted);
        let locking = &mut about.members[usize::from(member)].locking;
        locking.unlocks += 1;
        task.account.unlocks += 1;
        if let (Some((table, structure)), true) = (&mut about.table, shared) {
            table.release(resource, member, mode);
            locking.global_unlocks += 1;
            task.account.coupling_locks += 1;
            task.account.coupling_unlocks += 1;
            let (structure, space) = (*structure, Space::Region(region));
            task.steps.push_front(Action::Ask { structure, request: Request::Lock, count: 1, space });
        }
        self.wake_granted();
    }

    /// The member's physical lock on a page that a task will change; what the task does for it before.
    pub(super) fn lock_page(&mut self, number: u32, pool: usize, key: u64) -> [Option<Action>; 3] {
        let task = &mut self.tasks[number as usize];
        let (group, member, region) = (task.group, task.member, task.region);
        let about = &mut self.plex.groups[usize::from(group)];
        let (asked, outcome) = about.pools.lock_page(pool, member, key);
        let resource = page_lock_key(key);
        let Some((table, structure)) = about.table.as_mut().filter(|_| asked != Asked::Held) else { return [None; 3] };
        let structure = *structure;
        task.pending += micro(self.scenario.db2[usize::from(group)].path.page_lock_us);
        task.account.coupling_locks += 1;
        let found = table.obtain(resource, member, Mode::X);
        if let Asked::Negotiated(other) = asked {
            table.release(resource, other, Mode::X);
            about.members[usize::from(other)].page_locks[pool].negotiations += 1;
        }
        let used = &mut about.members[usize::from(member)];
        used.page_locks[pool].requests += 1;
        used.page_locks[pool].suspensions += u64::from(matches!(asked, Asked::Negotiated(_)));
        used.locking.false_contentions += u64::from(found == Found::OtherResource);
        task.account.contentions[0] += u64::from(found == Found::OtherResource);
        let space = Space::Region(region);
        let ask = Some(Action::Ask { structure, request: Request::Lock, count: 1, space });
        if found == Found::Free {
            return [ask, None, None];
        }
        let uses = &mut self.plex.structures[usize::from(structure)].uses[usize::from(task.system)];
        uses.contentions += 1;
        uses.false_contentions += u64::from(found == Found::OtherResource);
        let costs = &self.scenario.coupling;
        let work = micro(costs.contention_host_us);
        let (mut delay, mut wait) = (nanoseconds(costs.contention_delay), Wait::Contention);
        if let Asked::Negotiated(other) = asked {
            // The other's lock manager works on it too, and its Db2 writes the page before it gives the lock up.
            let manager = Action::Cpu { work, space: Space::LockManager(other.into()), eligible: false };
            wait = Wait::PageLock;
            let writes = outcome.requests.writes;
            let space = Space::DatabaseServices(other.into());
            let write = self.plex.groups[usize::from(group)].structures[pool].filter(|_| writes > 0);
            let write = write.map(|structure| Action::Ask { structure, request: Request::Write, count: writes, space });
            delay += micro(costs.page_us) * Time::from(writes);
            let steps: Vec<Action> = [Some(manager), write].into_iter().flatten().collect();
            self.background(group, other, &steps);
            self.afterwards(group, other, pool, &Outcome { requests: Default::default(), ..outcome });
        }
        let settle = Action::Cpu { work, space: Space::LockManager(member.into()), eligible: false };
        [ask, Some(settle), Some(Action::Pass { time: delay, wait })]
    }

    /// Physical locks of pages that left a pool go back to the lock structure.
    pub(super) fn unlock_pages(&mut self, group: u16, member: u8, pool: usize) {
        let about = &mut self.plex.groups[usize::from(group)];
        let keys = about.pools.take_unlocked(pool);
        let Some((table, structure)) = about.table.as_mut() else { return };
        for &key in &keys {
            table.release(page_lock_key(key), member, Mode::X);
        }
        let count = keys.len() as u32;
        about.members[usize::from(member)].page_locks[pool].unlocks += u64::from(count);
        let space = Space::DatabaseServices(member.into());
        let work = micro(self.scenario.db2[usize::from(group)].path.page_lock_us) * Time::from(count);
        let ask = Action::Ask { structure: *structure, request: Request::Lock, count, space };
        self.background(group, member, &[Action::Cpu { work, space, eligible: true }, ask]);
    }

    /// All locks are given back, then the thread.
    pub(super) fn end_unit(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let (group, member, region) = (usize::from(task.group), task.member, task.region);
        let held = std::mem::take(&mut task.held);
        let about = &mut self.plex.groups[group];
        let mut shared = 0;
        for one in &held {
            about.locks.release(one.resource, number, &mut self.granted);
            if let (Some((table, _)), true) = (&mut about.table, one.shared) {
                table.release(one.resource, member, one.mode);
                shared += 1;
            }
        }
        let locking = &mut about.members[usize::from(member)].locking;
        locking.unlocks += held.len() as u64;
        locking.global_unlocks += u64::from(shared);
        task.account.unlocks += held.len() as u64;
        task.pending += micro(self.scenario.db2[group].path.lock_us) * held.len() as u64;
        if let (Some((_, structure)), true) = (&about.table, shared > 0) {
            task.account.coupling_locks += u64::from(shared);
            task.account.coupling_unlocks += u64::from(shared);
            let (structure, space) = (*structure, Space::Region(region));
            task.steps.push_front(Action::Ask { structure, request: Request::Lock, count: shared, space });
        }
        task.held = held;
        task.held.clear();
        self.wake_granted();
        self.give_thread_back(number);
    }
}
