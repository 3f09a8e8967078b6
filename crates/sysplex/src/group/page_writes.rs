//! How changed pages leave the pools of members and the group buffer pools: at the end of units of work, by deferred
//! writes, by castout, and where a page set begins or ends to depend on its group buffer pool.

use plexlens_bufferpool::policy::WriteIo;

use super::account::Wait;
use super::data_sets::volume_of;
use super::in_pool::of_pool;
use super::pools::{Outcome, page_of, page_set_of};
use super::simulation::Simulation;
use super::steps::micro;
use super::task::{Action, Extent, Request, Space};
use crate::kernel::Time;

impl Simulation<'_> {
    /// What database services do because of a reference or a commit: deferred writes, castout.
    pub(super) fn afterwards(&mut self, group: u16, member: u8, pool: usize, outcome: &Outcome) {
        let space = Space::DatabaseServices(member.into());
        let each = micro(self.scenario.db2[usize::from(group)].path.write_us);
        if outcome.writes > 0 {
            let work = each * Time::from(outcome.written_pages);
            let mut steps = vec![Action::Cpu { work, space, eligible: true }];
            let written = self.plex.groups[usize::from(group)].pools.take_written(pool);
            steps.extend(written.into_iter().map(|io| self.write_to_disk(group, io)));
            self.background(group, member, &steps);
        }
        if outcome.unlocked {
            self.unlock_pages(group, member, pool);
        }
        if outcome.castouts {
            self.cast_out(group, pool);
        }
    }

    /// A write I/O goes to the volume of its first page.
    fn write_to_disk(&self, group: u16, io: WriteIo) -> Action {
        let page_set = page_set_of(io.first);
        let volumes = &self.plex.groups[usize::from(group)].page_sets[page_set as usize].volumes;
        let volume = volume_of(volumes, page_set, page_of(io.first), self.scenario.dasd.volumes);
        Action::Disk { volume, pages: io.pages, of: Extent::PageSet(page_set), wait: Some(Wait::Unseen) }
    }

    /// Castout owners ask for the names of changed pages; for each I/O they read its pages, write them to disk and unlock
    /// them.
    fn cast_out(&mut self, group: u16, pool: usize) {
        let about = &mut self.plex.groups[usize::from(group)];
        let Some(structure) = about.structures[pool] else { return };
        let each = micro(self.scenario.db2[usize::from(group)].path.castout_us);
        for castout in about.pools.take_castouts(pool) {
            let space = Space::DatabaseServices(castout.member.into());
            let ask = |request, count| Action::Ask { structure, request, count, space };
            let work = each * Time::from(castout.pages);
            let mut steps = vec![ask(Request::Read, 1), Action::Cpu { work, space, eligible: true }];
            for io in castout.ios {
                steps.extend([ask(Request::Page, io.pages), self.write_to_disk(group, io), ask(Request::Read, 1)]);
            }
            self.background(group, castout.member, &steps);
        }
    }

    /// A page set comes to depend on its group buffer pool: each member writes there what it has changed of it so far.
    pub(super) fn begin_dependence(&mut self, group: u16, pool: usize, page_set: u32) {
        let path = &self.scenario.db2[usize::from(group)].path;
        for member in 0..self.plex.groups[usize::from(group)].members.len() as u8 {
            let about = &mut self.plex.groups[usize::from(group)];
            let outcome = about.pools.begin_dependence(pool, member, page_set);
            let (Some(structure), count @ 1..) = (about.structures[pool], outcome.requests.writes) else { continue };
            let space = Space::DatabaseServices(member.into());
            let work = micro(path.write_us) * Time::from(count);
            let steps = [
                Action::Cpu { work, space, eligible: true },
                Action::Ask { structure, request: Request::Write, count, space },
            ];
            self.background(group, member, &steps);
            self.afterwards(group, member, pool, &outcome);
        }
    }

    /// Page sets that no longer depend on their group buffer pool are deleted from it.
    pub(super) fn end_dependence(&mut self, group: u16) {
        let about = &mut self.plex.groups[usize::from(group)];
        let ended = about.pools.interests().take_ended();
        for (page_set, member) in ended {
            let about = &mut self.plex.groups[usize::from(group)];
            let pool = about.page_sets[page_set as usize].pool;
            let Some(structure) = about.structures[pool] else { continue };
            about.pools.end_dependence(pool, member, page_set);
            self.cast_out(group, pool);
            let space = Space::DatabaseServices(member.into());
            self.background(group, member, &[Action::Ask { structure, request: Request::Read, count: 1, space }]);
        }
    }

    /// The pages that the unit of work changed are written, those of each pool together: system services do it, and the
    /// transaction waits ("Db2 13 for z/OS: Major contributors to CPU time", MSTR, SRB: update commit with writes to
    /// group buffer pools).
    pub(super) fn write_changed(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let (group, member) = (usize::from(task.group), task.member);
        let mut pools = std::mem::take(&mut task.changed_pools);
        let mut changed = std::mem::take(&mut task.changed_pages);
        let mut of_one = Vec::new();
        while pools != 0 {
            let pool = pools.trailing_zeros() as usize;
            pools &= pools - 1;
            let about = &mut self.plex.groups[group];
            let outcome = if pools == 0 {
                about.pools.commit(pool, member, &changed)
            } else {
                let page_sets = &about.page_sets;
                of_one.clear();
                of_one.extend(changed.extract_if(.., |key| page_sets[page_set_of(*key) as usize].pool == pool));
                about.pools.commit(pool, member, &of_one)
            };
            let task = &mut self.tasks[number as usize];
            task.account.coupling_pages += u64::from(outcome.requests.all());
            of_pool(&mut task.in_pools, self.scenario.db2[group].pool[pool].number).commit(&outcome);
            if let (Some(structure), true) = (about.structures[pool], outcome.requests.writes > 0) {
                let space = Space::SystemServices(member.into());
                let count = outcome.requests.writes;
                task.account.wait_counts[Wait::Commit as usize] += 1;
                task.steps.push_front(Action::Ask { structure, request: Request::Write, count, space });
            }
            self.afterwards(group as u16, member, pool, &outcome);
        }
        changed.clear();
        self.tasks[number as usize].changed_pages = changed;
    }
}
