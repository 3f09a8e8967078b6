//! Members that are lost and restart: retained locks, what a restart has to do, transactions that fail meanwhile.
//!
//! Locks on what a member was changing are retained until it has restarted, in place or, to give them back sooner, on
//! another system in light mode. A restart reads the log, brings pages up to date that were changed only in the lost
//! pools, and undoes what was not committed.

use super::account::Wait;
use super::data_sets::volume_of;
use super::locks::{Mode, RETAINED};
use super::plex::{Presence, Standing};
use super::pools::page_lock_key;
use super::simulation::{BACKGROUND, Simulation};
use super::steps::micro;
use super::task::{Action, Extent, Reason, Space, Stage};
use crate::kernel::{Time, nanoseconds, seconds};

impl Simulation<'_> {
    /// A member is lost with all that it was doing; `is_due`: it restarts as soon as it can.
    pub(super) fn lose_member(&mut self, group: u16, member: u8, is_due: bool) {
        let name = self.scenario.db2[usize::from(group)].member[usize::from(member)].name.clone();
        let own = &mut self.plex.groups[usize::from(group)].members[usize::from(member)];
        if own.presence != Presence::Up {
            own.is_due |= is_due;
            self.tell(format!("member {name} is not up, so it cannot be lost"));
            return;
        }
        own.is_due = is_due;
        self.plex.set_presence(group, member, Presence::Lost);
        let about = &mut self.plex.groups[usize::from(group)];
        let (page_locks, redo) = about.pools.lose(member);
        // Physical locks of pages are retained as locks of transactions are; the lock structure goes on to know of them.
        for key in page_locks {
            let resource = page_lock_key(key);
            about.locks.keep(resource);
            about.retained.push((member, resource, about.table.is_some()));
        }
        let (mut undo, mut failed) = (0, 0);
        for number in 0..self.tasks.len() as u32 {
            let task = &self.tasks[number as usize];
            let is_there = (task.group, task.member) == (group, member) && task.has_thread;
            if is_there && task.class != BACKGROUND && !task.lost {
                undo += task.account.updates;
                failed += 1;
                self.lose_task(number);
            }
        }
        let about = &mut self.plex.groups[usize::from(group)];
        let own = &mut about.members[usize::from(member)];
        (own.undo, own.redo, own.retains) = (undo, redo, true);
        // Whoever waits for a thread to the member waits in vain.
        let mut waiting: Vec<u32> = own.thread_queue.drain(..).collect();
        for region in self.plex.regions.iter_mut().filter(|one| one.db2 == Some((group, member))) {
            waiting.extend(region.thread_queue.drain(..));
        }
        waiting.into_iter().for_each(|task| self.wake(task));
        self.wake_granted();
        self.settle_impairment(group);
        let retained = self.plex.groups[usize::from(group)].retained.iter().filter(|one| one.0 == member).count();
        self.tell(format!("member {name} is lost with {failed} transactions, {retained} locks are retained"));
    }

    /// A transaction of a lost member: locks on what it changed are retained, the others given back.
    fn lose_task(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        task.lost = true;
        let (group, member) = (usize::from(task.group), task.member);
        let held = std::mem::take(&mut task.held);
        let waits = std::mem::take(&mut task.awaits_lock);
        let about = &mut self.plex.groups[group];
        about.locks.give_up(number, &mut self.granted);
        for one in held {
            if one.mode.is_exclusive() && about.locks.retain(one.resource, number) {
                // The lock structure knows of it until it is given back.
                about.retained.push((member, one.resource, one.shared));
                continue;
            }
            about.locks.release(one.resource, number, &mut self.granted);
            if let (Some((table, _)), true) = (&mut about.table, one.shared) {
                table.release(one.resource, member, one.mode);
            }
        }
        if waits {
            self.wake(number);
        }
    }

    /// A transaction whose member was lost under it ends.
    pub(super) fn end_lost(&mut self, number: u32) {
        self.leave_region(number);
        self.give_thread_back(number);
        let task = &mut self.tasks[number as usize];
        task.steps.clear();
        task.failed = Some(Reason::MemberLost);
        let (group, member) = (usize::from(task.group), usize::from(task.member));
        self.plex.groups[group].members[member].rollbacks += 1;
        self.finish(number);
    }

    /// A transaction fails: it undoes its changes, gives its locks and its thread back, and ends.
    pub(super) fn abandon(&mut self, number: u32, reason: Reason) {
        let task = &mut self.tasks[number as usize];
        task.failed = Some(reason);
        task.stage = Stage::Done;
        task.steps.clear();
        task.references.clear();
        task.ahead.clear();
        if task.has_thread {
            let group = usize::from(task.group);
            task.pending += micro(self.scenario.db2[group].path.update_us) * task.account.updates.min(1000);
            // What was changed and is now changed back is written as at a commit.
            task.steps.extend([Action::WriteChanged, Action::EndUnit, Action::LeaveDb2]);
            self.plex.groups[group].members[usize::from(task.member)].rollbacks += 1;
        }
    }

    /// A lost member restarts on another system, unless it is there or starting already.
    pub(super) fn begin_restart_light(&mut self, failure: u16) {
        let Some((group, member)) = self.lost_by(failure) else { return };
        let Some(light) = &self.scenario.failure[usize::from(failure)].restart_light else { return };
        let own = &self.plex.groups[usize::from(group)].members[usize::from(member)];
        if own.presence != Presence::Lost || !own.retains {
            return;
        }
        let system = &light.system;
        let is_guest = |guest: &super::plex::Guest| {
            let name = &self.scenario.system[usize::from(guest.system)].name;
            (guest.group, guest.member) == (group, member) && name == system
        };
        let Some(guest) = self.plex.guests.iter().position(is_guest) else { return };
        let place = self.plex.guests[guest].system;
        self.plex.set_presence(group, member, Presence::Light);
        self.restart(group, member, place, Space::Guest(guest as u16));
    }

    /// A lost member whose time has come restarts on its own system, if its lock structure can be used there.
    pub(super) fn restart_if_due(&mut self, group: u16, member: u8) {
        let about = &self.plex.groups[usize::from(group)];
        let own = &about.members[usize::from(member)];
        let system = own.system;
        if own.presence != Presence::Lost || !own.is_due {
            return;
        }
        let structure = about.table.as_ref().map(|&(_, structure)| &self.plex.structures[usize::from(structure)]);
        let reaches = structure.is_none_or(|one| self.plex.systems[usize::from(system)].reaches(one.facility));
        if self.is_without_locks(group) || !reaches {
            return;
        }
        self.plex.set_presence(group, member, Presence::Starting);
        self.restart(group, member, system, Space::DatabaseServices(member.into()));
    }

    fn is_without_locks(&self, group: u16) -> bool {
        let table = self.plex.groups[usize::from(group)].table.as_ref();
        table.is_some_and(|&(_, one)| self.plex.structures[usize::from(one)].standing == Standing::Lost)
    }

    fn restart(&mut self, group: u16, member: u8, system: u16, space: Space) {
        let about = &self.scenario.db2[usize::from(group)];
        let own = &self.plex.groups[usize::from(group)].members[usize::from(member)];
        let mut steps = Vec::new();
        if own.retains {
            steps.push(Action::Pass { time: nanoseconds(about.log_scan), wait: Wait::Unseen });
        }
        let changes = own.redo + own.undo;
        if changes > 0 {
            let work = micro(about.path.update_us) * changes as Time;
            let pages = changes.min(u64::from(u32::MAX)) as u32;
            let (volume, of) = (volume_of(&[], 0, 0, self.scenario.dasd.volumes), Extent::Log);
            steps.extend([
                Action::Disk { volume, pages, of, wait: Some(Wait::Unseen) },
                Action::Cpu { work, space, eligible: false },
                Action::Disk { volume, pages, of, wait: Some(Wait::Unseen) },
            ]);
        }
        steps.push(Action::Restarted);
        let task = self.background(group, member, &steps);
        self.tasks[task as usize].system = system;
        let mode = if space == Space::DatabaseServices(member.into()) { "on" } else { "in light mode on" };
        let (name, place) = (&about.member[usize::from(member)].name, &self.scenario.system[usize::from(system)].name);
        self.tell(format!("member {name} restarts {mode} {place}"));
    }

    /// A restart is over: nothing is retained any more.
    pub(super) fn restarted(&mut self, number: u32) {
        let task = &self.tasks[number as usize];
        let (group, member) = (task.group, task.member);
        let about = &mut self.plex.groups[usize::from(group)];
        about.pools.interests().recover(member);
        about.pools.settle_owners();
        let of_it: Vec<(u8, u64, bool)> = about.retained.extract_if(.., |one| one.0 == member).collect();
        for (_, resource, shared) in &of_it {
            about.locks.release(*resource, RETAINED, &mut self.granted);
            if let (Some((table, _)), true) = (&mut about.table, *shared) {
                table.release(*resource, member, Mode::X);
            }
        }
        let own = &mut about.members[usize::from(member)];
        (own.undo, own.redo, own.retains) = (0, 0, false);
        let was_light = own.presence == Presence::Light;
        self.wake_granted();
        self.settle_impairment(group);
        let name = self.scenario.db2[usize::from(group)].member[usize::from(member)].name.clone();
        if was_light {
            self.plex.set_presence(group, member, Presence::Lost);
            self.tell(format!("member {name} has given back {} retained locks", of_it.len()));
            self.restart_if_due(group, member);
        } else if self.is_without_locks(group) {
            self.plex.set_presence(group, member, Presence::Lost);
            self.tell(format!("member {name} fails again: its lock structure is lost"));
        } else {
            self.plex.set_presence(group, member, Presence::Up);
            self.plex.groups[usize::from(group)].members[usize::from(member)].is_due = false;
            self.tell(format!("member {name} is up again, {} retained locks given back", of_it.len()));
            self.recover_pages(group);
            self.settle_connections();
        }
    }

    /// The member that a failure of the scenario is of.
    pub(super) fn lost_by(&self, failure: u16) -> Option<(u16, u8)> {
        let name = self.scenario.failure[usize::from(failure)].member.as_ref()?;
        super::plex::member_named(self.scenario, name)
    }

    /// Notes what happens.
    pub(super) fn tell(&mut self, what: String) {
        let at = seconds(self.calendar.now()) - self.scenario.run.warm_up;
        self.results.course.push(super::measured::Occurrence { at, what });
    }
}
