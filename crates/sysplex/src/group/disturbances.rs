//! What disturbs the course of things: deadlocks, timeouts, pseudo-close, lost members and coupling facilities.

use super::locks::{Mode, RETAINED};
use super::pools::page_lock_key;
use super::simulation::{BACKGROUND, Event, Simulation};
use super::task::Stage;
use crate::kernel::nanoseconds;

impl Simulation<'_> {
    pub(super) fn break_deadlocks(&mut self, group: u16) {
        let tasks = &self.tasks;
        let about = &self.plex.groups[usize::from(group)];
        let victims = about.locks.deadlocked(|task| tasks[task as usize].begun);
        for victim in victims {
            let task = &self.tasks[victim as usize];
            if task.awaits_lock {
                let member = usize::from(task.member);
                self.plex.groups[usize::from(group)].members[member].locking.deadlocks += 1;
                self.roll_back(victim);
            }
        }
        self.calendar.after(self.deadlock_cycle(group), Event::Deadlocks(group));
    }

    pub(super) fn lock_timeout(&mut self, number: u32, turn: u32) {
        let task = &self.tasks[number as usize];
        if task.turn == turn && task.awaits_lock {
            let (group, member) = (usize::from(task.group), usize::from(task.member));
            self.plex.groups[group].members[member].locking.timeouts += 1;
            self.roll_back(number);
        }
    }

    pub(super) fn pseudo_close(&mut self, group: u16) {
        let after = nanoseconds(self.scenario.db2[usize::from(group)].pseudo_close);
        let now = self.calendar.now();
        self.plex.groups[usize::from(group)].pools.interests().pseudo_close(now, after);
        self.end_dependence(group);
        self.calendar.after(self.pseudo_close_cycle(group), Event::PseudoClose(group));
    }

    pub(super) fn fail(&mut self, number: u16) {
        let failure = &self.scenario.failure[usize::from(number)];
        let back = self.calendar.now() + nanoseconds(failure.recovery);
        self.calendar.at(back, Event::Recover(number));
        if let Some(name) = &failure.coupling_facility {
            let facilities = self.scenario.coupling_facility.iter().zip(&mut self.plex.facilities);
            for (_, facility) in facilities.filter(|(one, _)| one.name == *name) {
                // Its structures are rebuilt elsewhere meanwhile; requests wait for that.
                facility.back = back;
            }
        }
        if let Some(name) = &failure.member
            && let Some((group, member)) = self.member_named(name)
        {
            self.lose_member(group, member, back);
        }
    }

    fn member_named(&self, name: &str) -> Option<(u16, u8)> {
        self.scenario.db2.iter().enumerate().find_map(|(group, about)| {
            let member = about.member.iter().position(|member| member.name == name)?;
            Some((group as u16, member as u8))
        })
    }

    fn lose_member(&mut self, group: u16, member: u8, back: u64) {
        self.plex.away(group, member, back);
        let about = &mut self.plex.groups[usize::from(group)];
        for (_, keys) in about.pools.lose(member) {
            for key in keys {
                if let Some((table, _)) = &mut about.table {
                    table.release(page_lock_key(key), member, Mode::X);
                }
            }
        }
        for number in 0..self.tasks.len() as u32 {
            let task = &mut self.tasks[number as usize];
            let is_there = (task.group, task.member) == (group, member) && task.has_thread;
            if !is_there || task.class == BACKGROUND || task.stage == Stage::Done && task.held.is_empty() {
                continue;
            }
            task.lost = true;
            let held = std::mem::take(&mut task.held);
            let waits = std::mem::take(&mut task.awaits_lock);
            let about = &mut self.plex.groups[usize::from(group)];
            about.locks.give_up(number, &mut self.granted);
            for one in held {
                if one.mode.is_exclusive() {
                    about.locks.retain(one.resource, number);
                    about.retained.push((member, one.resource));
                } else {
                    about.locks.release(one.resource, number, &mut self.granted);
                }
                if let (Some((table, _)), true) = (&mut about.table, one.shared) {
                    table.release(one.resource, member, one.mode);
                }
            }
            if waits {
                self.wake(number);
            }
        }
        self.wake_granted();
    }

    pub(super) fn recover(&mut self, number: u16) {
        let Some(name) = &self.scenario.failure[usize::from(number)].member else { return };
        let Some((group, member)) = self.member_named(name) else { return };
        let about = &mut self.plex.groups[usize::from(group)];
        let retained = std::mem::take(&mut about.retained);
        let (of_it, others) = retained.into_iter().partition(|&(owner, _)| owner == member);
        about.retained = others;
        let of_it: Vec<(u8, u64)> = of_it;
        for (_, resource) in of_it {
            about.locks.release(resource, RETAINED, &mut self.granted);
        }
        self.wake_granted();
    }

    /// A transaction whose member was lost under it ends without success.
    pub(super) fn end_lost(&mut self, number: u32) {
        self.leave_region(number);
        self.give_thread_back(number);
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        task.steps.clear();
        let (group, member, class) = (usize::from(task.group), usize::from(task.member), usize::from(task.class));
        let (begun, region) = (task.begun, usize::from(task.region));
        self.plex.groups[group].members[member].rollbacks += 1;
        let inside = &mut self.plex.regions[region].inside;
        *inside = inside.saturating_sub(1);
        let measured = &mut self.measured[class];
        measured.inside.set(now, measured.inside.value() - 1);
        measured.stayed += u128::from(now - begun.max(self.begun));
        let is_user = self.plex.kinds[class].class.users.is_some();
        self.release_engine(number);
        self.free.push(number);
        if is_user {
            self.think(class as u16);
        }
    }
}
