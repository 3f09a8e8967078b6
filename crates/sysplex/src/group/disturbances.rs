//! What disturbs the course of things: deadlocks, timeouts, pseudo-close, failures and their end.

use super::plex::position;
use super::simulation::{Event, Simulation};
use crate::kernel::nanoseconds;
use crate::scenario::failures::LostLink;

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
        self.plex.groups[usize::from(group)].pools.settle_owners();
        self.end_dependence(group);
        self.calendar.after(self.pseudo_close_cycle(group), Event::PseudoClose(group));
    }

    /// Something breaks.
    pub(super) fn fail(&mut self, number: u16) {
        let failure = &self.scenario.failure[usize::from(number)];
        self.calendar.after(nanoseconds(failure.recovery), Event::Recover(number));
        if let Some(name) = &failure.coupling_facility {
            let facility = position(self.scenario.coupling_facility.iter().map(|one| one.name.as_str()), name);
            self.tell(format!("coupling facility {name} is lost"));
            self.lose_facility(facility);
        }
        if let Some(link) = &failure.link {
            self.lose_links(link, true);
        }
        if let Some((group, member)) = self.lost_by(number) {
            self.lose_member(group, member, false);
            if let Some(light) = &failure.restart_light {
                self.calendar.after(nanoseconds(light.after), Event::RestartLight(number));
            }
        }
    }

    /// It can be used, or restarted, again.
    pub(super) fn recover(&mut self, number: u16) {
        let failure = &self.scenario.failure[usize::from(number)];
        if let Some(name) = &failure.coupling_facility {
            let facility = position(self.scenario.coupling_facility.iter().map(|one| one.name.as_str()), name);
            self.plex.facilities[usize::from(facility)].is_up = true;
            self.tell(format!("coupling facility {name} can be used again"));
        }
        if let Some(link) = &failure.link {
            self.lose_links(link, false);
        }
        if let Some((group, member)) = self.lost_by(number) {
            self.plex.groups[usize::from(group)].members[usize::from(member)].is_due = true;
        }
        self.use_what_is_back();
    }

    /// Links are lost, or there again. Of several failures of the same links each takes its own part.
    fn lose_links(&mut self, link: &LostLink, are_lost: bool) {
        let system = position(self.scenario.system.iter().map(|one| one.name.as_str()), &link.system);
        let names = self.scenario.coupling_facility.iter().map(|one| one.name.as_str());
        let facility = position(names, &link.coupling_facility);
        let all = self.scenario.coupling_facility[usize::from(facility)].subchannels;
        let part = link.subchannels.unwrap_or(all);
        let image = &mut self.plex.systems[usize::from(system)];
        let lost = &mut image.lost[usize::from(facility)];
        *lost = if are_lost { *lost + part } else { *lost - part };
        let left = all.saturating_sub(*lost);
        let (to, from) = (&link.coupling_facility, &link.system);
        self.tell(match (are_lost, left) {
            (true, 0) => format!("system {from} loses its connection to {to}"),
            (true, _) => format!("system {from} loses links to {to}: {left} of {all} subchannels are left"),
            (false, _) => format!("system {from} has {left} of {all} subchannels to {to} again"),
        });
        self.change_links(system, facility, left);
    }
}
