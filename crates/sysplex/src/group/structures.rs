//! Structures that lose their coupling facility or their connection to it: switch to the second instance, rebuild
//! elsewhere, or loss.
//!
//! - A structure with two instances goes on with the one that is left, at once; the second is made anew when both
//!   coupling facilities can be used again.
//! - A lock structure is rebuilt from the locks that the members hold. Requests wait meanwhile; each member brings its
//!   locks in, one request and some processor time each, after the members have agreed to. Where there is no place for
//!   it all members fail, and restart when there is.
//! - A group buffer pool that is lost comes back empty; what was changed in it and not cast out is recovered from the
//!   logs by the castout owners, and until then its page sets are not available. Where only the connection is lost it
//!   is rebuilt with its changed pages.
//! - Members that are not connected to where a structure is at last: without their lock structure they fail, without
//!   a group buffer pool they cannot use page sets that depend on it.
//!
//! Requests under way when something breaks end as if it had not. Reading the former instance of a group buffer pool
//! for a rebuild costs nothing.

use super::account::Wait;
use super::data_sets::volume_of;
use super::plex::{PageRecovery, Presence, Standing};
use super::simulation::Simulation;
use super::steps::micro;
use super::task::{Action, Extent, Request, Space, Stage};
use crate::kernel::{Time, nanoseconds};

impl Simulation<'_> {
    /// A request cannot be sent now: whether its task waits (it does not where the request is pointless); none where it
    /// can be sent after all.
    pub(super) fn hold(&mut self, number: u32, structure: u16, request: Request, space: Space) -> Option<bool> {
        let about = &mut self.plex.structures[usize::from(structure)];
        let task = &mut self.tasks[number as usize];
        let reaches = self.plex.systems[usize::from(task.system)].reaches(about.facility);
        match about.standing {
            Standing::Lost => Some(false),
            Standing::Up | Standing::Partly => (!reaches).then_some(false),
            Standing::Rebuilt if task.stage == Stage::Rebuild => (!reaches).then_some(false),
            Standing::Rebuilt => {
                about.parked.push(number);
                task.steps.push_front(Action::Ask { structure, request, count: 1, space });
                task.waiting = Some((self.calendar.now(), Some(Wait::Rebuild)));
                self.release_engine(number);
                Some(true)
            }
        }
    }

    /// A coupling facility is lost.
    pub(super) fn lose_facility(&mut self, facility: u16) {
        self.plex.facilities[usize::from(facility)].is_up = false;
        for number in 0..self.plex.structures.len() as u16 {
            let about = &mut self.plex.structures[usize::from(number)];
            match about.duplex {
                Some(other) if about.facility == facility => {
                    about.duplex = None;
                    self.move_to(number, other);
                    self.tell_of(number, "goes on with its second instance");
                }
                Some(other) if other == facility => {
                    about.duplex = None;
                    self.tell_of(number, "goes on without its second instance");
                }
                _ if about.facility == facility && about.standing != Standing::Lost => self.lose_structure(number),
                _ => {}
            }
        }
        self.settle_connections();
    }

    /// Links of a system to a coupling facility are lost, or there again: so many subchannels more or fewer.
    pub(super) fn change_links(&mut self, system: u16, facility: u16, subchannels: u32) {
        let now = self.calendar.now();
        let line = &mut self.plex.systems[usize::from(system)].subchannels[usize::from(facility)];
        line.set_servers(now, subchannels);
        if subchannels > 0 {
            self.settle_connections();
            return;
        }
        for number in 0..self.plex.structures.len() as u16 {
            let about = &self.plex.structures[usize::from(number)];
            let users = self.users(number);
            if !users.contains(&system) || about.standing == Standing::Lost {
                continue;
            }
            match about.duplex {
                Some(other) if about.facility == facility => {
                    self.plex.structures[usize::from(number)].duplex = None;
                    self.move_to(number, other);
                    self.tell_of(number, "goes on with its second instance");
                }
                Some(other) if other == facility => {
                    self.plex.structures[usize::from(number)].duplex = None;
                    self.tell_of(number, "goes on without its second instance");
                }
                _ if about.facility == facility => self.rebuild_for_connection(number, &users),
                _ => {}
            }
        }
        self.settle_connections();
    }

    /// Systems of a structure's members that are up.
    fn users(&self, structure: u16) -> Vec<u16> {
        let group = &self.plex.groups[usize::from(self.plex.structures[usize::from(structure)].group)];
        group.members.iter().filter(|one| one.presence == Presence::Up).map(|one| one.system).collect()
    }

    fn reached(&self, facility: u16, systems: &[u16]) -> usize {
        systems.iter().filter(|&&system| self.plex.systems[usize::from(system)].reaches(facility)).count()
    }

    /// The coupling facility that most of the systems are connected to, the first of those in the preference list.
    fn place_for(&self, structure: u16, systems: &[u16]) -> Option<u16> {
        let about = &self.plex.structures[usize::from(structure)];
        let places = about.preference.iter().copied().filter(|&one| self.plex.facilities[usize::from(one)].is_up);
        let ranked = places.enumerate().map(|(rank, one)| (self.reached(one, systems), std::cmp::Reverse(rank), one));
        let best = ranked.max()?;
        (systems.is_empty() || best.0 > 0).then_some(best.2)
    }

    /// Some systems are not connected any more: the structure is rebuilt where more are, if there are enough of them.
    fn rebuild_for_connection(&mut self, structure: u16, users: &[u16]) {
        let about = &self.plex.structures[usize::from(structure)];
        let now = self.reached(about.facility, users);
        let without = 100.0 * (users.len() - now) as f64 / users.len() as f64;
        let place = self.place_for(structure, users).filter(|&place| self.reached(place, users) > now);
        let Some(place) = place.filter(|_| without >= about.rebuild_percent) else {
            let why = if without < about.rebuild_percent { "too few systems lost it" } else { "no place is better" };
            self.tell_of(structure, &format!("is not rebuilt: {why}"));
            return;
        };
        let pool = about.pool;
        let group = usize::from(about.group);
        let changed = pool.map_or(0, |pool| self.plex.groups[group].pools.move_group(pool));
        self.rebuild(structure, place, changed);
    }

    /// Both the structure and what was in it are lost.
    fn lose_structure(&mut self, structure: u16) {
        let about = &self.plex.structures[usize::from(structure)];
        let (group, pool) = (about.group, about.pool);
        if let Some(pool) = pool {
            self.lose_pages(group, pool);
        }
        match self.place_for(structure, &self.users(structure)) {
            Some(place) => self.rebuild(structure, place, 0),
            None => self.lose_for_good(structure),
        }
    }

    /// There is no place for a structure.
    fn lose_for_good(&mut self, structure: u16) {
        let about = &mut self.plex.structures[usize::from(structure)];
        about.standing = Standing::Lost;
        about.rebuild += 1;
        let (group, is_lock) = (about.group, about.pool.is_none());
        if !is_lock {
            self.tell_of(
                structure,
                "is lost, and there is no coupling facility for it: its page sets are not available",
            );
            self.settle_impairment(group);
        } else {
            self.tell_of(structure, "is lost, and there is no coupling facility for it: all members of the group fail");
            for member in 0..self.plex.groups[usize::from(group)].members.len() as u8 {
                self.lose_member(group, member, true);
            }
        }
        self.wake_parked(structure);
    }

    /// Changed pages that were in a group buffer pool are lost with it: page sets that depend on it are not available
    /// until these are recovered.
    fn lose_pages(&mut self, group: u16, pool: usize) {
        let about = &mut self.plex.groups[usize::from(group)];
        let lost = about.pools.lose_group(pool);
        let of_pool = (0..).zip(&about.page_sets).filter(|(_, one)| one.pool == pool).map(|(number, _)| number);
        let dependent: Vec<u32> = of_pool.filter(|&one| about.pools.interests().is_dependent(one)).collect();
        for (page_set, pages) in dependent.into_iter().map(|page_set| (page_set, 0)).chain(lost) {
            let entry = &mut about.recovery[page_set as usize];
            let before = entry.map_or(0, |one| one.pages);
            *entry =
                Some(PageRecovery { pages: before + pages, is_under_way: entry.is_some_and(|one| one.is_under_way) });
        }
        about.is_impaired = true;
    }

    /// The structure is built anew in a coupling facility; of a group buffer pool so many changed pages go with it.
    fn rebuild(&mut self, structure: u16, place: u16, changed: u32) {
        self.move_to(structure, place);
        let about = &mut self.plex.structures[usize::from(structure)];
        about.standing = Standing::Rebuilt;
        about.rebuild += 1;
        about.rebuilders = 0;
        let (rebuild, group, pool) = (about.rebuild, about.group, about.pool);
        self.tell_of(structure, "is rebuilt");
        let members: Vec<u8> = (0..self.plex.groups[usize::from(group)].members.len() as u8)
            .filter(|&one| self.plex.groups[usize::from(group)].members[usize::from(one)].presence == Presence::Up)
            .collect();
        let costs = &self.scenario.coupling;
        let (each, delay) = (micro(costs.rebuild_us), nanoseconds(costs.rebuild_delay));
        let writers = members.len().max(1) as u32;
        for (at, &member) in members.iter().enumerate() {
            let own = &self.plex.groups[usize::from(group)];
            let (request, count, space) = match pool {
                // Pages are dealt out among the members.
                Some(_) => {
                    let count = changed / writers + u32::from((at as u32) < changed % writers);
                    (Request::Write, count, Space::DatabaseServices(member.into()))
                }
                None => {
                    let held = own.table.as_ref().map_or(0, |(table, _)| table.held_by(member));
                    let count = held + own.pools.interests().open(member);
                    (Request::Lock, count.min(u64::from(u32::MAX)) as u32, Space::LockManager(member.into()))
                }
            };
            let mut steps = vec![Action::Pass { time: delay, wait: Wait::Unseen }];
            if count > 0 {
                steps.push(Action::Cpu { work: each * Time::from(count), space, eligible: false });
                steps.push(Action::Ask { structure, request, count, space });
            }
            steps.push(Action::Rebuilt { structure, rebuild });
            let task = self.background(group, member, &steps);
            self.tasks[task as usize].stage = Stage::Rebuild;
            self.plex.structures[usize::from(structure)].rebuilders += 1;
        }
        if members.is_empty() {
            self.rebuilt(structure);
        }
    }

    /// A member has done its part of a rebuild.
    pub(super) fn rebuilt_by_one(&mut self, structure: u16, rebuild: u32) {
        let about = &mut self.plex.structures[usize::from(structure)];
        // The place of the rebuild may have been lost meanwhile, and another begun.
        if about.rebuild == rebuild && about.standing == Standing::Rebuilt {
            about.rebuilders -= 1;
            if about.rebuilders == 0 {
                self.rebuilt(structure);
            }
        }
    }

    fn rebuilt(&mut self, structure: u16) {
        self.plex.structures[usize::from(structure)].standing = Standing::Up;
        self.tell_of(structure, "can be used again");
        self.wake_parked(structure);
        self.settle_connections();
        let group = self.plex.structures[usize::from(structure)].group;
        self.recover_pages(group);
    }

    fn wake_parked(&mut self, structure: u16) {
        for task in std::mem::take(&mut self.plex.structures[usize::from(structure)].parked) {
            self.wake(task);
        }
    }

    fn move_to(&mut self, structure: u16, facility: u16) {
        let about = &mut self.plex.structures[usize::from(structure)];
        about.facility = facility;
        let name = &self.scenario.coupling_facility[usize::from(facility)].name;
        about.uses.iter_mut().for_each(|one| one.facility.clone_from(name));
    }

    /// Second instances are made anew, lost structures are allocated, members that waited for it restart.
    pub(super) fn use_what_is_back(&mut self) {
        for number in 0..self.plex.structures.len() as u16 {
            let about = &self.plex.structures[usize::from(number)];
            if about.standing == Standing::Lost {
                let systems: Vec<u16> =
                    self.plex.groups[usize::from(about.group)].members.iter().map(|one| one.system).collect();
                if let Some(place) = self.place_for(number, &systems) {
                    self.rebuild(number, place, 0);
                }
            } else if about.standing == Standing::Up {
                self.duplex_again(number);
            }
        }
        self.settle_connections();
        for group in 0..self.plex.groups.len() as u16 {
            for member in 0..self.plex.groups[usize::from(group)].members.len() as u8 {
                self.restart_if_due(group, member);
            }
            self.recover_pages(group);
        }
    }

    fn duplex_again(&mut self, structure: u16) {
        let about = &self.plex.structures[usize::from(structure)];
        let (None, Some(pair)) = (about.duplex, about.pair) else { return };
        let Some(other) = pair.into_iter().find(|&one| one != about.facility) else { return };
        let users = self.users(structure);
        let is_there = self.plex.facilities[usize::from(other)].is_up && self.reached(other, &users) == users.len();
        if !pair.contains(&about.facility) || !is_there {
            return;
        }
        let (group, pool) = (about.group, about.pool);
        self.plex.structures[usize::from(structure)].duplex = Some(other);
        self.tell_of(structure, "has a second instance again");
        // The first member that is up brings in what there is.
        let own = &self.plex.groups[usize::from(group)];
        let up = |one: &super::plex::Member| one.presence == Presence::Up;
        let Some(member) = own.members.iter().position(up).map(|at| at as u8) else { return };
        let (request, count, space) = match pool {
            Some(pool) => (Request::Write, own.pools.changed_in_group(pool), Space::DatabaseServices(member.into())),
            None => {
                let held = own.table.as_ref().map_or(0, |(table, _)| table.held_by(member));
                (Request::Lock, held as u32, Space::LockManager(member.into()))
            }
        };
        if count > 0 {
            let work = micro(self.scenario.coupling.rebuild_us) * Time::from(count);
            let steps =
                [Action::Cpu { work, space, eligible: false }, Action::Ask { structure, request, count, space }];
            self.background(group, member, &steps);
        }
    }

    /// Who can use each structure, after connections or places have changed.
    pub(super) fn settle_connections(&mut self) {
        for number in 0..self.plex.structures.len() as u16 {
            let about = &self.plex.structures[usize::from(number)];
            let (group, pool, facility) = (about.group, about.pool, about.facility);
            if !matches!(about.standing, Standing::Up | Standing::Partly) {
                continue;
            }
            let users = self.users(number);
            if about.duplex.is_some_and(|other| self.reached(other, &users) < users.len()) {
                self.plex.structures[usize::from(number)].duplex = None;
                self.tell_of(number, "goes on without its second instance");
            }
            let mut all = true;
            for member in 0..self.plex.groups[usize::from(group)].members.len() as u8 {
                let own = &mut self.plex.groups[usize::from(group)].members[usize::from(member)];
                let reaches = self.plex.systems[usize::from(own.system)].reaches(facility);
                all &= reaches;
                match pool {
                    Some(pool) if reaches => own.cut_off &= !(1 << pool.min(63)),
                    Some(pool) => own.cut_off |= 1 << pool.min(63),
                    None if !reaches && own.presence == Presence::Up => {
                        self.tell_of(number, "is out of reach of a member, which fails");
                        self.lose_member(group, member, true);
                    }
                    None => {}
                }
            }
            // Castout or a restart may work on systems without members, too.
            all &= (0..self.plex.systems.len()).all(|system| self.plex.systems[system].reaches(facility));
            self.plex.structures[usize::from(number)].standing = if all { Standing::Up } else { Standing::Partly };
            self.settle_impairment(group);
        }
    }

    /// Whether page sets of a group may not be available.
    pub(super) fn settle_impairment(&mut self, group: u16) {
        let structures = &self.plex.structures;
        let about = &mut self.plex.groups[usize::from(group)];
        let lost =
            about.structures.iter().flatten().any(|&one| structures[usize::from(one)].standing == Standing::Lost);
        about.is_impaired = lost
            || about.recovery.iter().any(Option::is_some)
            || about.members.iter().any(|one| one.cut_off != 0)
            || about.pools.interests().has_closed();
    }

    /// Whether a member cannot use a page set.
    pub(super) fn is_unavailable(&self, group: usize, member: u8, pool: usize, page_set: u32) -> bool {
        let about = &self.plex.groups[group];
        if about.recovery[page_set as usize].is_some() {
            return true;
        }
        let interests = about.pools.interests();
        if interests.is_closed(page_set) {
            return true;
        }
        let Some(structure) = about.structures[pool].filter(|_| interests.is_dependent(page_set)) else { return false };
        about.members[usize::from(member)].cut_off >> pool.min(63) & 1 == 1
            || self.plex.structures[usize::from(structure)].standing == Standing::Lost
    }

    /// Castout owners begin to recover pages from the logs, where a group buffer pool is there again.
    pub(super) fn recover_pages(&mut self, group: u16) {
        let about = &self.scenario.db2[usize::from(group)];
        let (scan, each) = (nanoseconds(about.log_scan), micro(about.path.update_us + about.path.write_us));
        for at in 0..self.plex.groups[usize::from(group)].page_sets.len() {
            let own = &mut self.plex.groups[usize::from(group)];
            let pool = own.page_sets[at].pool;
            let usable = |one: u16| self.plex.structures[usize::from(one)].standing != Standing::Lost;
            if !own.structures[pool].is_none_or(usable) {
                continue;
            }
            let page_set = at as u32;
            let up = |one: &u8| own.members[usize::from(*one)].presence == Presence::Up;
            let owner = own.pools.castout_owner(pool, page_set);
            let Some(member) = owner.filter(up).or_else(|| (0..own.members.len() as u8).find(up)) else { return };
            let Some(entry) = own.recovery[at].as_mut().filter(|one| !one.is_under_way) else { continue };
            entry.is_under_way = true;
            let pages = entry.pages;
            let space = Space::DatabaseServices(member.into());
            let volume = volume_of(&own.page_sets[at].volumes, page_set, 0, self.scenario.dasd.volumes);
            let of = Extent::PageSet(page_set);
            let (wait, eligible) = (Wait::Unseen, false);
            let mut steps = vec![Action::Pass { time: scan, wait }];
            if pages > 0 {
                steps.extend([
                    Action::Disk { volume, pages, of, wait: Some(wait) },
                    Action::Cpu { work: each * Time::from(pages), space, eligible },
                    Action::Disk { volume, pages, of, wait: Some(wait) },
                ]);
            }
            steps.push(Action::PagesRecovered { page_set });
            self.background(group, member, &steps);
        }
    }

    /// Pages of a page set have been recovered.
    pub(super) fn pages_recovered(&mut self, group: u16, page_set: u32) {
        let about = &mut self.plex.groups[usize::from(group)];
        let pages = about.recovery[page_set as usize].take().map_or(0, |one| one.pages);
        let name = &self.scenario.db2[usize::from(group)].page_set[page_set as usize].name;
        self.tell(format!("page set {name} is available again, {pages} pages recovered from the logs"));
        self.settle_impairment(group);
    }

    /// Notes what happens to a structure.
    fn tell_of(&mut self, structure: u16, what: &str) {
        let about = &self.plex.structures[usize::from(structure)];
        let place = &self.scenario.coupling_facility[usize::from(about.facility)].name;
        let name = about.uses.first().map_or("", |one| one.name.as_str());
        self.tell(format!("structure {name} in {place} {what}"));
    }
}
