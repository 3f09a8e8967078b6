//! What each step of a task does.

use plexlens_bufferpool::trace::{Access as PageAccess, Status};

use super::account::Wait;
use super::data_sets::volume_of;
use super::in_pool::of_pool;
use super::locks::Mode;
use super::logs::Referred;
use super::plex::Standing;
use super::pools::{PageUse, page_key, page_lock_key};
use super::simulation::Simulation;
use super::task::{Action, Extent, Reason, Request, Space, Stage};
use crate::kernel::{Time, nanoseconds, seconds};

/// Nanoseconds of microseconds.
pub(super) fn micro(value: f64) -> Time {
    nanoseconds(value * 1e-6)
}

impl Simulation<'_> {
    /// Takes a step; whether the task now waits for something.
    pub(super) fn take(&mut self, number: u32, step: Action) -> bool {
        let is_work = matches!(step, Action::Page { .. } | Action::Lock { .. });
        let task = &mut self.tasks[number as usize];
        if !is_work && task.pending > 0 {
            // Processor time of what was done so far comes before whatever makes it wait.
            task.steps.push_front(step);
            let (work, region) = (std::mem::take(&mut task.pending), task.region);
            let eligible = self.is_eligible(number);
            self.run_on(number, work, Space::Region(region), eligible);
            return true;
        }
        match step {
            Action::Cpu { work, space, eligible } => {
                if work == 0 {
                    return false;
                }
                self.run_on(number, work, space, eligible);
                true
            }
            Action::Ask { structure, request, count, space } => self.ask_for(number, structure, request, count, space),
            Action::Send { structure, request, space } => {
                if self.plex.structures[usize::from(structure)].standing != Standing::Up
                    && let Some(waits) = self.hold(number, structure, request, space)
                {
                    return waits;
                }
                self.send(number, structure, request, space);
                true
            }
            Action::Disk { volume, pages, of, wait } => {
                let end = self.disk(number, volume, pages, of);
                wait.is_some_and(|wait| {
                    self.wait_until(number, end, wait);
                    true
                })
            }
            Action::Pass { time, wait } => {
                let end = self.calendar.now() + time;
                self.wait_until(number, end, wait);
                true
            }
            Action::Log => {
                let task = &self.tasks[number as usize];
                let member = &mut self.plex.groups[usize::from(task.group)].members[usize::from(task.member)];
                let (services, mean) = (&mut self.services, self.scenario.db2[usize::from(task.group)].log_write);
                let shape = &services.logs[usize::from(task.group)];
                let end = member.log.force(self.calendar.now(), || shape.time(&mut services.stream, mean));
                self.wait_until(number, end, Wait::Log);
                true
            }
            Action::Lock { resource, mode, shared } => {
                self.lock(number, resource, mode, shared);
                false
            }
            Action::AwaitLock => self.await_lock(number),
            Action::Page { page_set, page, sequential, update, place } => {
                let access = if sequential { PageAccess::Sequential } else { PageAccess::Random };
                self.page(number, &PageUse { page_set, page, agent: number + 1, access, update, place });
                false
            }
            Action::Unlock { resource, mode, shared } => {
                self.unlock(number, resource, mode, shared);
                false
            }
            Action::EnterRegion => self.enter_region(number),
            Action::LeaveRegion => {
                self.leave_region(number);
                false
            }
            Action::EnterOpenTcb => {
                let task = &mut self.tasks[number as usize];
                self.plex.regions[usize::from(task.region)].enter_open_tcb(task, self.calendar.now());
                false
            }
            Action::LeaveOpenTcb => {
                let (task, now) = (&mut self.tasks[number as usize], self.calendar.now());
                let spent = self.plex.regions[usize::from(task.region)].leave_open_tcb(task, now);
                task.account.open_elapsed += seconds(spent);
                false
            }
            Action::GetOpenTcb => self.get_open_tcb(number),
            Action::GetThread => self.get_thread(number),
            Action::Commit => {
                let task = &mut self.tasks[number as usize];
                task.account.commits += 1;
                self.plex.groups[usize::from(task.group)].members[usize::from(task.member)].commits += 1;
                self.write_changed(number);
                false
            }
            Action::WriteChanged => {
                self.write_changed(number);
                false
            }
            Action::EndUnit => {
                self.end_unit(number);
                false
            }
            Action::Rebuilt { structure, rebuild } => {
                self.rebuilt_by_one(structure, rebuild);
                false
            }
            Action::PagesRecovered { page_set } => {
                self.pages_recovered(self.tasks[number as usize].group, page_set);
                false
            }
            Action::Restarted => {
                self.restarted(number);
                false
            }
            Action::LeaveDb2 => {
                let now = self.calendar.now();
                let task = &mut self.tasks[number as usize];
                let spent = task.leave_db2(now);
                if let Some(region) = self.plex.regions.get_mut(usize::from(task.region)) {
                    region.used.db2_calls += 1;
                    region.leave_open_tcb(task, now);
                }
                if let Some(logs) = &mut self.logs {
                    logs.leaves_db2(number, now, spent, task.stage == Stage::Done);
                }
                false
            }
        }
    }

    fn is_eligible(&mut self, number: u32) -> bool {
        let task = &self.tasks[number as usize];
        let Some(kind) = self.plex.kinds.get(usize::from(task.class)) else { return false };
        let share = kind.class.ziip_share;
        task.entered_db2 > 0 && share > 0.0 && self.chance.unit() < share
    }

    /// The path length of the host comes first, then the request, from the same engine.
    fn ask_for(&mut self, number: u32, structure: u16, request: Request, count: u32, space: Space) -> bool {
        let costs = &self.scenario.coupling;
        let system = usize::from(self.tasks[number as usize].system);
        let converted = self.is_converted(structure, system);
        let path = &self.scenario.db2[usize::from(self.plex.structures[usize::from(structure)].group)].path;
        let more = if request == Request::Lock { path.global_lock_us } else { path.group_request_us };
        let image = &mut self.plex.systems[system];
        image.cold += image.request_refill;
        let host = if converted { costs.async_host_us } else { costs.sync_host_us };
        let work = micro(host + more).max(1);
        let task = &mut self.tasks[number as usize];
        task.account.own_requests += u64::from(matches!(space, Space::Region(_)));
        let steps = &mut task.steps;
        // One after the other: what others ask meanwhile need not wait for a whole series.
        if count > 1 {
            steps.push_front(Action::Ask { structure, request, count: count - 1, space });
        }
        steps.push_front(Action::Send { structure, request, space });
        self.run_on(number, work, space, false);
        true
    }

    fn page(&mut self, number: u32, used: &PageUse) {
        let &PageUse { page_set, page, access, update, .. } = used;
        let sequential = access == PageAccess::Sequential;
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        let (group, member, region) = (usize::from(task.group), task.member, task.region);
        if update && !self.plex.groups[group].retained.is_empty() && self.awaits_retained(number, used) {
            return;
        }
        let task = &mut self.tasks[number as usize];
        let path = &self.scenario.db2[group].path;
        task.pending += micro(path.getpage_us) + if update { micro(path.update_us) } else { 0 };
        task.account.getpages += 1;
        task.account.updates += u64::from(update);
        let about = &mut self.plex.groups[group];
        let pool = about.page_sets[page_set as usize].pool;
        if about.is_impaired && self.is_unavailable(group, member, pool, page_set) {
            self.abandon(number, Reason::ResourceUnavailable);
            return;
        }
        let task = &mut self.tasks[number as usize];
        let about = &mut self.plex.groups[group];
        let has_group = about.structures[pool].is_some();
        if update {
            task.has_changes = true;
            if has_group {
                task.changed_pools |= 1 << pool;
                task.changed_pages.push(page_key(page_set, page));
            }
        }
        let (locked, depends, begins) = {
            let mut interests = about.pools.interests();
            let depended = interests.is_dependent(page_set);
            let locked = interests.note(member, page_set, now, update);
            let depends = has_group && interests.is_dependent(page_set);
            (locked, depends, depends && !depended)
        };
        if locked {
            about.pools.settle_owner(pool, page_set);
        }
        if begins {
            self.begin_dependence(group as u16, pool, page_set);
        }
        let task = &mut self.tasks[number as usize];
        let about = &mut self.plex.groups[group];
        if depends {
            task.pending += micro(path.dependent_us);
            about.members[usize::from(member)].page_locks[pool].dependent_getpages += 1;
        }
        let physical = (depends && update && about.page_sets[page_set as usize].has_page_locks())
            .then(|| self.lock_page(number, pool, page_key(page_set, page)));
        let about = &mut self.plex.groups[group];
        let outcome = about.pools.refer(pool, member, now, used);
        let task = &mut self.tasks[number as usize];
        task.account.sync_reads += u64::from(outcome.sync_reads);
        task.account.prefetches += u64::from(outcome.prefetches);
        task.account.coupling_pages += u64::from(outcome.requests.all());
        let pool_number = self.scenario.db2[group].pool[pool].number;
        of_pool(&mut task.in_pools, pool_number).refer(sequential, update, depends, &outcome);
        if let Some(logs) = &mut self.logs {
            logs.referred(Referred {
                time: now as i64,
                group: group as u16,
                member,
                task: number,
                pool: pool_number,
                page_set,
                page,
                sequential,
                update,
                status: if outcome.not_read > 0 {
                    Status::NoRead
                } else if outcome.sync_reads > 0 || outcome.requests.reads_with_data > 0 {
                    Status::Miss
                } else {
                    Status::Hit
                },
            });
        }
        let space = Space::Region(region);
        let volume = volume_of(&about.page_sets[page_set as usize].volumes, page_set, page, self.scenario.dasd.volumes);
        let of = Extent::PageSet(page_set);
        let mut steps: [Option<Action>; 8] = [None; 8];
        if locked {
            about.members[usize::from(member)].locking.page_set_locks += 1;
            steps[0] = about.table.as_ref().map(|&(_, structure)| Action::Ask {
                structure,
                request: Request::Lock,
                count: 1,
                space,
            });
        }
        if let Some(structure) = about.structures[pool] {
            let ask_by =
                |space, request, count| (count > 0).then_some(Action::Ask { structure, request, count, space });
            let ask = |request, count| ask_by(space, request, count);
            steps[1] = ask(Request::Read, outcome.requests.without_data());
            steps[2] = ask(Request::Page, outcome.requests.with_data());
            steps[3] = ask(Request::Write, outcome.requests.writes);
            let each = outcome.requests.list_pages.div_ceil(outcome.requests.lists.max(1));
            // Prefetch runs in the address space of the database services.
            let services = Space::DatabaseServices(member.into());
            steps[4] = ask_by(services, Request::List(each as u16), outcome.requests.lists);
        }
        if outcome.sync_reads > 0 {
            steps[5] = Some(Action::Cpu { work: micro(path.read_us), space, eligible: false });
            steps[6] = Some(Action::Disk { volume, pages: outcome.sync_reads, of, wait: Some(Wait::SyncRead) });
        }
        if outcome.prefetches > 0 {
            // A scan waits for its first pages; later ones are read while it works on the former.
            let wait = task.scan.is_none_or(|start| start == page).then_some(Wait::OtherRead);
            steps[7] = Some(Action::Disk { volume, pages: outcome.prefetch_pages, of, wait });
        }
        let before = physical.into_iter().flatten();
        for step in before.chain(steps).rev().flatten() {
            task.steps.push_front(step);
        }
        self.afterwards(group as u16, member, pool, &outcome);
    }

    /// A page whose physical lock is retained for a lost member cannot be changed: the task asks for the lock as for any
    /// that is retained, and for the page when it has got it. Whether that is so.
    fn awaits_retained(&mut self, number: u32, used: &PageUse) -> bool {
        let &PageUse { page_set, page, access, update, place, .. } = used;
        let resource = page_lock_key(page_key(page_set, page));
        let task = &mut self.tasks[number as usize];
        let about = &self.plex.groups[usize::from(task.group)];
        if !about.page_sets[page_set as usize].has_page_locks() || !about.locks.is_retained(resource) {
            return false;
        }
        let (sequential, shared, mode) = (access == PageAccess::Sequential, about.table.is_some(), Mode::X);
        let again = Action::Page { page_set, page, sequential, update, place };
        for step in [again, Action::Unlock { resource, mode, shared }, Action::Lock { resource, mode, shared }] {
            task.steps.push_front(step);
        }
        true
    }
}
