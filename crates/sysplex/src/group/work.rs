//! What a transaction does next: its way through regions, threads, calls and references.

use super::account::Wait;
use super::in_pool::of_pool;
use super::locks::Mode;
use super::measured::GOAL_PERCENTS;
use super::plex::Presence;
use super::pools::{Place, page_key, row_key};
use super::simulation::Simulation;
use super::steps::micro;
use super::task::{Action, Extent, Reason, Space, Stage};
use crate::kernel::{Time, nanoseconds, seconds};
use crate::scenario::{Access, MOST_STARTS, Routing};

/// Times that a unit of work is tried again after a rollback before its transaction ends without success.
const MOST_ROLLBACKS: u32 = 5;

impl Simulation<'_> {
    /// Puts down the next steps; whether there are any, or the task has ended.
    pub(super) fn next_steps(&mut self, number: u32) -> bool {
        match self.tasks[number as usize].stage {
            Stage::Arrived => self.arrive(number),
            Stage::Terminal => self.route(number),
            Stage::Shipped(region) => self.enter(number, region),
            Stage::Region(call) => self.in_region(number, call),
            Stage::Db2(call) => self.in_db2(number, call),
            Stage::Ending => self.end_of_work(number),
            Stage::Done => {
                self.finish(number);
                return false;
            }
            Stage::Background | Stage::Rebuild => {
                self.release_engine(number);
                self.free.push(number);
                return false;
            }
        }
        true
    }

    fn arrive(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        task.stage = Stage::Terminal;
        let kind = &mut self.plex.kinds[usize::from(task.class)];
        if kind.terminals.is_empty() {
            if let Some(logs) = &mut self.logs {
                logs.arrived(number, None);
            }
            return;
        }
        let region = kind.terminals[kind.turn % kind.terminals.len()];
        kind.turn += 1;
        let about = &mut self.plex.regions[usize::from(region)];
        about.used.attached += 1;
        about.fronting += 1;
        about.used.most_inside = about.used.most_inside.max(about.inside + about.fronting);
        task.terminal = Some(region);
        (task.region, task.system, task.priority) = (region, about.system, about.priority);
        if let Some(logs) = &mut self.logs {
            logs.arrived(number, Some(region));
        }
        let work = kind.burst.time(&mut kind.stream, kind.class.terminal_cpu);
        let space = Space::Region(region);
        task.steps.extend([Action::EnterRegion, Action::Cpu { work, space, eligible: false }, Action::LeaveRegion]);
    }

    /// A region is chosen; from a terminal region the transaction is shipped there.
    fn route(&mut self, number: u32) {
        let region = self.choose(number);
        let task = &mut self.tasks[number as usize];
        task.stage = Stage::Shipped(region);
        let about = &mut self.plex.regions[usize::from(region)];
        about.inside += 1;
        about.used.attached += 1;
        about.used.most_inside = about.used.most_inside.max(about.inside + about.fronting);
        if !self.plex.kinds[usize::from(task.class)].terminals.is_empty() {
            let costs = &self.scenario.cics;
            let far = about.system != task.system;
            let work = micro(if far { costs.xcf_us } else { costs.mro_us });
            let space = Space::Region(task.region);
            task.steps.push_back(Action::Cpu { work, space, eligible: false });
            if far {
                self.plex.regions[usize::from(task.region)].used.shipped += 1;
                task.steps.push_back(Action::Pass { time: nanoseconds(costs.xcf_delay), wait: Wait::Shipping });
            }
        }
    }

    fn choose(&mut self, number: u32) -> u16 {
        let (class, system, started) = {
            let task = &self.tasks[number as usize];
            (usize::from(task.class), task.system, task.started)
        };
        let kind = &self.plex.kinds[class];
        let regions = &self.plex.regions;
        let groups = &self.plex.groups;
        // Seldom is a member lost; whoever looks for a region for each transaction need not ask all of them each time.
        let up: Vec<u16> = if self.plex.all_members_are_up() {
            Vec::new()
        } else {
            let is_up = |region: u16| {
                let db2 = regions[usize::from(region)].db2;
                let member = db2.map(|(group, member)| &groups[usize::from(group)].members[usize::from(member)]);
                member.is_none_or(|member| member.presence == Presence::Up)
            };
            kind.regions.iter().copied().filter(|&region| is_up(region)).collect()
        };
        // With all members up any will do; with all of them lost it fails in one of the regions.
        let choice = if up.is_empty() { &kind.regions } else { &up };
        let from_outside = kind.terminals.is_empty() && !started;
        let inside = |region: u16| regions[usize::from(region)].inside;
        let far = |region: u16| !from_outside && regions[usize::from(region)].system != system;
        // Of equal regions the one that the class has not been sent to for longest: a turn of its own would fall into step
        // with that of the terminal regions, and always meet the same of those that are near.
        let last = |region: u16| kind.last_sent[usize::from(region)];
        let places = || choice.iter().copied();
        let best = match self.scenario.cics.routing {
            Routing::RoundRobin => places().min_by_key(|&region| last(region)),
            Routing::JoinShortestQueue => places().min_by_key(|&region| (inside(region), far(region), last(region))),
            Routing::GoalOriented => {
                let load = |region: u16| {
                    let image = &self.plex.systems[usize::from(regions[usize::from(region)].system)];
                    let general = &self.plex.machines[usize::from(image.machine)].general;
                    general.inside(image.partition) * 1000 / u64::from(general.logical(image.partition))
                };
                places().min_by_key(|&region| (load(region), inside(region), far(region), last(region)))
            }
        };
        let best = best.unwrap_or(choice[0]);
        let kind = &mut self.plex.kinds[class];
        kind.sent += 1;
        kind.last_sent[usize::from(best)] = kind.sent;
        best
    }

    fn enter(&mut self, number: u32, region: u16) {
        self.release_engine(number);
        let shipped = !self.plex.kinds[usize::from(self.tasks[number as usize].class)].terminals.is_empty();
        let about = &mut self.plex.regions[usize::from(region)];
        let task = &mut self.tasks[number as usize];
        let far = shipped && about.system != task.system;
        about.used.received += u64::from(far);
        if let Some(logs) = &mut self.logs {
            let on_the_way = if far { nanoseconds(self.scenario.cics.xcf_delay) } else { 0 };
            logs.attached(number, self.calendar.now(), on_the_way);
        }
        (task.region, task.system, task.priority) = (region, about.system, about.priority);
        if let Some((group, member)) = about.db2 {
            (task.group, task.member) = (group, member);
        }
        task.stage = Stage::Region(0);
        if shipped {
            let costs = &self.scenario.cics;
            let work = micro(if far { costs.xcf_us } else { costs.mro_us });
            let space = Space::Region(region);
            task.steps.extend([Action::EnterRegion, Action::Cpu { work, space, eligible: false }, Action::LeaveRegion]);
        }
        self.begin_unit(number);
    }

    /// What the unit of work will refer to.
    fn begin_unit(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let kind = &mut self.plex.kinds[usize::from(task.class)];
        task.references.clear();
        task.ahead.clear();
        let mut all = 0;
        for (at, refers) in kind.references.iter().enumerate() {
            let whole = refers.getpages.floor();
            let count = whole as u32 + u32::from(kind.stream.unit() < refers.getpages - whole);
            if count > 0 {
                task.references.push((at as u16, count));
                all += count;
            }
        }
        // The first is taken from the end.
        task.references.reverse();
        task.call_size = all.div_ceil(kind.class.calls.max(1));
        task.scan = None;
    }

    fn in_region(&mut self, number: u32, call: u32) {
        let task = &mut self.tasks[number as usize];
        let kind = &mut self.plex.kinds[usize::from(task.class)];
        let class = &kind.class;
        let uses_db2 = task.group != u16::MAX && (!class.references.is_empty() || class.db2_cpu > 0.0);
        let parts = if uses_db2 { class.calls + 1 } else { 1 };
        // From the open TCB of the call before to the QR TCB, and on to that of the next call or of the commit.
        let is_open = class.threadsafe && call > 0;
        let switches = match (uses_db2, class.threadsafe) {
            (false, _) => 0,
            (true, false) => 1 + u64::from(call > 0),
            (true, true) => u64::from(call == 0) + u64::from(call == class.calls),
        };
        let burst = kind.burst.time(&mut kind.stream, class.cpu / f64::from(parts));
        let work = burst + micro(self.scenario.cics.switch_us) * switches;
        let space = Space::Region(task.region);
        let calls = class.calls;
        let ios = kind.files_between(parts, self.scenario);
        // The work lies around the I/Os, in pieces of the same length.
        let piece = work / (ios.len() as Time + 1);
        let run = |work| Action::Cpu { work, space, eligible: false };
        for (volume, file) in ios.iter().copied() {
            let read = Action::Disk { volume, pages: 1, of: Extent::File(file), wait: Some(Wait::File) };
            if is_open {
                task.steps.extend([Action::EnterOpenTcb, run(piece), Action::LeaveOpenTcb, read]);
            } else {
                task.steps.extend([Action::EnterRegion, run(piece), Action::LeaveRegion, read]);
            }
        }
        let last = run(work - piece * ios.len() as Time);
        if is_open {
            task.steps.extend([Action::EnterOpenTcb, last, Action::LeaveOpenTcb]);
        } else {
            task.steps.extend([Action::EnterRegion, last, Action::LeaveRegion]);
        }
        if uses_db2 && call < calls {
            task.stage = Stage::Db2(call);
            task.call_left = task.call_size;
            if !task.has_thread {
                task.steps.extend([Action::GetOpenTcb, Action::GetThread]);
            }
        } else {
            task.stage = if uses_db2 { Stage::Ending } else { Stage::Done };
        }
    }

    fn in_db2(&mut self, number: u32, call: u32) {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        if task.entered_db2 == 0 {
            let kind = &mut self.plex.kinds[usize::from(task.class)];
            task.entered_db2 = now.max(1);
            self.plex.regions[usize::from(task.region)].enter_open_tcb(task, now);
            let mean = kind.class.db2_cpu / f64::from(kind.class.calls);
            task.pending += kind.burst.time(&mut kind.stream, mean);
            self.look_ahead(number);
        }
        let task = &mut self.tasks[number as usize];
        let next = (task.call_left > 0).then(|| task.references.last_mut()).flatten();
        let Some((at, count)) = next else {
            task.stage = Stage::Region(call + 1);
            task.steps.push_back(Action::LeaveDb2);
            return;
        };
        let at = usize::from(*at);
        *count -= 1;
        let is_last = *count == 0;
        task.call_left -= 1;
        self.refer(number, at);
        if is_last {
            let task = &mut self.tasks[number as usize];
            task.references.pop();
            task.scan = None;
        }
    }

    /// Chooses the pages of a call at its beginning. What the pools know of them lies far apart in memory: it is loaded
    /// for all of them at once, not for one after the other.
    fn look_ahead(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let kind = &mut self.plex.kinds[usize::from(task.class)];
        let about = &self.plex.groups[usize::from(task.group)];
        let mut left = task.call_left;
        for &(at, count) in task.references.iter().rev() {
            let (refers, here) = (kind.references[usize::from(at)], count.min(left));
            if refers.access == Access::Random {
                let page_set = &about.page_sets[refers.page_set as usize];
                let pages = (0..here).map(|_| (refers.page_set, page_set.random_page(&mut kind.stream)));
                task.ahead.extend(pages);
            }
            left -= here;
            if left == 0 {
                break;
            }
        }
        let pool = |page_set: u32| about.page_sets[page_set as usize].pool;
        for &(page_set, page) in &task.ahead {
            about.pools.fetch(pool(page_set), task.member, page_set, page);
        }
        for &(page_set, page) in task.ahead.iter().filter(|&&(page_set, _)| about.structures[pool(page_set)].is_some())
        {
            about.pools.fetch_entry(pool(page_set), page_set, page);
        }
    }

    /// One getpage of a reference of the class, with its locks.
    fn refer(&mut self, number: u32, at: usize) {
        let task = &mut self.tasks[number as usize];
        let group = usize::from(task.group);
        let kind = &mut self.plex.kinds[usize::from(task.class)];
        let refers = kind.references[at];
        let about = &mut self.plex.groups[group];
        let page_set = &mut about.page_sets[refers.page_set as usize];
        let mut place = Place::Within;
        let page = match refers.access {
            Access::Random => {
                let ahead = task.ahead.pop_front();
                ahead.map_or_else(|| page_set.random_page(&mut kind.stream), |(_, page)| page)
            }
            Access::Sequential => {
                let next = task.scan.map_or_else(|| kind.stream.below(page_set.pages), |page| page + 1);
                next % page_set.pages
            }
            Access::Append => {
                // An insert does not wait for a page that others have locked, it takes the next.
                let by_page = about.table.is_some() && !page_set.has_page_locks();
                let taken = |page: u64| {
                    by_page && about.locks.is_taken(page_key(refers.page_set, page % page_set.pages), number)
                };
                let page = (page_set.end..page_set.end + MOST_ENDS).find(|&page| !taken(page)).unwrap_or(page_set.end);
                let is_new = refers.update > 0.0 && page >= page_set.made;
                place = if is_new { Place::New } else { Place::End };
                page_set.made = page_set.made.max(page + 1);
                page % page_set.pages
            }
        };
        let first_of_scan = task.scan.is_none();
        if refers.access == Access::Sequential {
            task.scan = Some(page);
        }
        let update = refers.update > 0.0 && kind.stream.unit() < refers.update;
        // A page takes some rows before the next begins: the update that fills it moves the end on.
        if update && refers.access == Access::Append && kind.stream.unit() * page_set.rows < 1.0 {
            page_set.end += 1;
        }
        let sequential = refers.access == Access::Sequential;
        let read = Action::Page { page_set: refers.page_set, page, sequential, update, place };
        let avoided = !update && kind.stream.unit() < self.scenario.db2[group].lock_avoidance;
        // Indexes have no locks on their pages; a scan that begins locks as any reader.
        let needs_lock = !page_set.index && !avoided && (update || first_of_scan || !sequential);
        if !needs_lock {
            task.steps.push_back(read);
            return;
        }
        let resource = if page_set.by_row {
            row_key(refers.page_set, page, kind.stream.below((page_set.rows as u64).max(1)))
        } else {
            page_key(refers.page_set, page)
        };
        let shared = about.table.is_some() && about.pools.interests().is_dependent(refers.page_set);
        let mode = if update { Mode::X } else { Mode::S };
        let holds = task.held.iter().any(|held| held.resource == resource && held.mode >= mode);
        if holds {
            task.steps.push_back(read);
            return;
        }
        task.steps.push_back(Action::Lock { resource, mode, shared });
        task.steps.push_back(read);
        if mode == Mode::S && !task.held.iter().any(|held| held.resource == resource) {
            task.steps.push_back(Action::Unlock { resource, mode, shared });
        }
    }

    fn end_of_work(&mut self, number: u32) {
        let now = self.calendar.now();
        let (group, member) = (self.tasks[number as usize].group, self.tasks[number as usize].member);
        self.serve_unit(group, member);
        let task = &mut self.tasks[number as usize];
        let path = &self.scenario.db2[usize::from(group)].path;
        task.stage = Stage::Done;
        task.entered_db2 = now.max(1);
        self.plex.regions[usize::from(task.region)].enter_open_tcb(task, now);
        task.pending += micro(path.commit_us);
        if !std::mem::take(&mut task.has_changes) {
            task.steps.extend([Action::EndUnit, Action::LeaveDb2]);
            task.account.commits += 1;
            self.plex.groups[usize::from(group)].members[usize::from(member)].commits += 1;
            return;
        }
        task.steps.extend([Action::Log, Action::Commit, Action::EndUnit, Action::LeaveDb2]);
        // System services write the log; their path length is that of a write.
        let (work, space) = (micro(path.write_us), Space::SystemServices(member.into()));
        self.background(group, member, &[Action::Cpu { work, space, eligible: false }]);
    }

    /// What address spaces of Db2 do for each unit of work, whatever it is.
    fn serve_unit(&mut self, group: u16, member: u8) {
        let services = &self.scenario.db2[usize::from(group)].services;
        let of = |us: f64, space: fn(u16) -> Space| {
            (us > 0.0).then(|| Action::Cpu { work: micro(us), space: space(member.into()), eligible: false })
        };
        let steps = [
            of(services.dbm1_us, Space::DatabaseServices),
            of(services.mstr_us, Space::SystemServices),
            of(services.irlm_us, Space::LockManager),
        ];
        if steps.iter().any(Option::is_some) {
            let steps: Vec<Action> = steps.into_iter().flatten().collect();
            self.background(group, member, &steps);
        }
    }

    /// The transaction has ended: it is counted, and starts what it starts.
    pub(super) fn finish(&mut self, number: u32) {
        self.release_engine(number);
        self.give_open_tcb_back(number);
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        // A task that was lost with its member is still in Db2.
        if let Some(region) = self.plex.regions.get_mut(usize::from(task.region)) {
            region.leave_open_tcb(task, now);
        }
        let task = &self.tasks[number as usize];
        let (class, system, begun) = (usize::from(task.class), usize::from(task.system), task.begun);
        let failed = task.failed;
        if let Some(terminal) = task.terminal {
            self.plex.regions[usize::from(terminal)].fronting -= 1;
        }
        let region = &mut self.plex.regions[usize::from(task.region)];
        region.inside = region.inside.saturating_sub(1);
        region.used.ended += 1;
        let response = seconds(now - begun);
        let measured = &mut self.measured[class];
        measured.inside.set(now, measured.inside.value() - 1);
        measured.stayed += u128::from(now - begun.max(self.begun));
        let (counts, account) = &mut measured.on_system[system];
        if let Some(reason) = failed {
            *measured.failed.entry(reason).or_default() += 1;
            *counts.failed.entry(reason.name()).or_default() += 1;
            self.free.push(number);
            if self.plex.kinds[class].class.users.is_some() {
                self.think(class as u16);
            }
            return;
        }
        measured.ended += 1;
        measured.response.add(response);
        counts.response.add(response);
        let kind = &mut self.plex.kinds[class];
        counts.met_goal += u64::from(kind.class.goal.is_none_or(|goal| response <= goal));
        if let Some(goal) = kind.class.goal {
            let percent = response / goal * 100.0;
            counts.by_goal[GOAL_PERCENTS.partition_point(|&bound| f64::from(bound) < percent)] += 1;
        }
        account.add(&task.account);
        for part in &task.in_pools {
            of_pool(&mut counts.pools, part.number).add(part);
        }
        if let Some(logs) = &mut self.logs {
            logs.ended(number, task, now);
        }
        let mut started = [(0, 0); MOST_STARTS];
        for (to, &(other, mean)) in started.iter_mut().zip(&kind.starts) {
            *to = (other, mean.floor() as u32 + u32::from(kind.stream.unit() < mean.fract()));
        }
        let is_user = kind.class.users.is_some();
        self.free.push(number);
        for (other, count) in started {
            for _ in 0..count {
                let task = self.new_task(other);
                let about = &mut self.tasks[task as usize];
                (about.started, about.system) = (true, system as u16);
                let measured = &mut self.measured[usize::from(other)];
                measured.begun += 1;
                measured.inside.set(now, measured.inside.value() + 1);
                self.wake(task);
            }
        }
        if is_user {
            self.think(class as u16);
        }
    }

    // --- rollback ------------------------------------------------------------------------------------------------

    /// A waiting task gives up its unit of work and begins it again.
    pub(super) fn roll_back(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let (group, member) = (usize::from(task.group), task.member);
        task.awaits_lock = false;
        task.rollbacks += 1;
        task.account.rollbacks += 1;
        task.steps.clear();
        // The call ends without success. Db2 undoes it before the program goes on.
        self.plex.regions[usize::from(task.region)].used.db2_calls += 1;
        let again = task.rollbacks <= MOST_ROLLBACKS;
        // Undoing the changes takes what making them took.
        let undo: Time = micro(self.scenario.db2[group].path.update_us) * task.account.updates.min(1000);
        task.pending += undo;
        task.stage = if again { Stage::Region(0) } else { Stage::Done };
        task.failed = (!again).then_some(Reason::DeadlockOrTimeout);
        let about = &mut self.plex.groups[group];
        about.members[usize::from(member)].rollbacks += 1;
        about.locks.give_up(number, &mut self.granted);
        // What was changed and is now changed back is written as at a commit.
        let task = &mut self.tasks[number as usize];
        task.has_changes = false;
        task.steps.extend([Action::WriteChanged, Action::EndUnit, Action::LeaveDb2]);
        self.begin_unit(number);
        self.wake_granted();
        self.wake(number);
    }
}

/// Pages at the end of a page set that inserts look at for one that nobody has locked.
const MOST_ENDS: u64 = 8;
