//! Filling pools before the run, and writing down what each interval gave.

use std::collections::{BTreeMap, BTreeSet};

use plexlens_bufferpool::group::{GroupCounters, MemberGroupCounters};
use plexlens_bufferpool::policy::Counters;
use plexlens_bufferpool::trace::Access as PageAccess;

use super::measured::{
    ClassUse, FacilityUse, FailureCount, Interval, Law, MemberUse, PoolUse, RegionUse, ResponseEstimate, SpaceUse,
    StructureUse, SystemUse, VolumeUse,
};
use super::plex::{Kind, Refers, UsedBesides};
use super::pools::{PageUse, Place, page_key};
use super::profile::Profile;
use super::simulation::Simulation;
use super::utilisations::SATURATED;
use crate::kernel::measure::BatchMeans;
use crate::kernel::random::Stream;
use crate::kernel::{Time, seconds};
use crate::scenario::Access;

/// Getpages that fill a pool, as a multiple of its buffers; and of all pools of a member at most.
const FILLS: u64 = 4;
const MOST_GETPAGES: u64 = 4_000_000;
/// Getpages between commits meanwhile.
const UNIT: u64 = 32;

/// Counters of pools as they stood at the end of the interval before.
#[derive(Clone, Default)]
pub(super) struct Before {
    /// By group, member and pool.
    pools: Vec<Counted>,
}

/// A scan that fills a pool which only scans refer to.
#[derive(Clone, Copy, Default)]
struct Scan {
    page: u64,
    left: u64,
}

impl Scan {
    /// Its next page; a new scan begins anywhere when the last has ended. `getpages` is the mean of a scan.
    fn next(&mut self, pages: u64, getpages: f64, chance: &mut Stream) -> u64 {
        if self.left == 0 {
            let more = chance.unit() < getpages.fract();
            *self = Self { page: chance.below(pages), left: (getpages as u64 + u64::from(more)).max(1) };
        } else {
            self.page = (self.page + 1) % pages;
        }
        self.left -= 1;
        self.page
    }
}

impl Simulation<'_> {
    /// References that take no time, in the proportion of the classes' rates, until pools are full.
    pub(super) fn preload(&mut self) {
        let rates = self.rates();
        let mut chance = Stream::new(self.scenario.run.seed, "filling pools");
        for group in 0..self.plex.groups.len() {
            for member in 0..self.plex.groups[group].members.len() {
                let sizes: u64 = self.scenario.db2[group].pool.iter().map(|pool| u64::from(pool.size)).sum();
                self.fill(group, member as u8, &rates, (sizes * FILLS).min(MOST_GETPAGES), &mut chance);
            }
            // It took no time and no requests.
            let pools = &mut self.plex.groups[group].pools;
            (0..pools.count()).for_each(|pool| {
                drop(pools.take_castouts(pool));
                drop(pools.take_written(pool));
            });
            pools.settle_owners();
        }
    }

    /// Transactions a second of each class, those that others start among them.
    fn rates(&self) -> Vec<f64> {
        let kinds = &self.plex.kinds;
        let own = |kind: &Kind| {
            let users = kind
                .class
                .users
                .map_or(0.0, |users| f64::from(users) / (kind.think.map_or(0.0, |think| think.mean()) + 1.0));
            kind.class.rate.unwrap_or(0.0) * kind.profile.as_ref().map_or(1.0, Profile::first) + users
        };
        let mut rates: Vec<f64> = kinds.iter().map(own).collect();
        // Chains of starts are short; a circle would grow without bound and is cut off.
        for _ in 0..4 {
            let mut next: Vec<f64> = kinds.iter().map(own).collect();
            for (kind, &rate) in kinds.iter().zip(&rates) {
                for &(other, mean) in &kind.starts {
                    next[usize::from(other)] += rate * mean;
                }
            }
            rates = next;
        }
        rates
    }

    /// References of all classes that come to a member, each with its getpages a second.
    fn coming(&self, group: usize, member: u8, rates: &[f64]) -> Vec<(Refers, f64)> {
        let comes = |kind: &&Kind| {
            let mut regions = kind.regions.iter().map(|&region| &self.plex.regions[usize::from(region)]);
            regions.any(|region| region.db2 == Some((group as u16, member)))
        };
        let kinds = self.plex.kinds.iter().zip(rates).filter(|(kind, _)| comes(kind));
        kinds.flat_map(|(kind, rate)| kind.references.iter().map(move |&one| (one, rate * one.getpages))).collect()
    }

    fn fill(&mut self, group: usize, member: u8, rates: &[f64], getpages: u64, chance: &mut Stream) {
        let all = self.coming(group, member, rates);
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return;
        }
        let mut unit = Vec::with_capacity(UNIT as usize);
        let mut scans = vec![Scan::default(); all.len()];
        // Scans do not steal random pages beyond VPSEQT: where nothing but scans comes, these would stay for ever.
        let page_sets = &self.plex.groups[group].page_sets;
        let pool_of = |refers: &Refers| page_sets[refers.page_set as usize].pool;
        let is_scan = |refers: &Refers| refers.access == Access::Sequential;
        let others: BTreeSet<usize> =
            all.iter().filter(|(refers, _)| !is_scan(refers)).map(|(refers, _)| pool_of(refers)).collect();
        let scanned: Vec<bool> = all.iter().map(|(refers, _)| !others.contains(&pool_of(refers))).collect();
        for done in (0..getpages).step_by(UNIT as usize) {
            if self.watch.is_ended() {
                return;
            }
            let about = &mut self.plex.groups[group];
            unit.clear();
            // First what all of it refers to, so that it is loaded together; then the references.
            for _ in done..getpages.min(done + UNIT) {
                let mut left = chance.unit() * total;
                let found = all.iter().position(|(_, weight)| {
                    left -= weight;
                    left < 0.0
                });
                let at = found.unwrap_or(all.len() - 1);
                let refers = all[at].0;
                let page_set = &mut about.page_sets[refers.page_set as usize];
                let (mut place, mut access) = (Place::Within, PageAccess::Random);
                let page = match refers.access {
                    Access::Append => {
                        place = Place::End;
                        page_set.made = page_set.made.max(page_set.end + 1);
                        page_set.end % page_set.pages
                    }
                    Access::Sequential if scanned[at] => {
                        access = PageAccess::Sequential;
                        scans[at].next(page_set.pages, refers.getpages, chance)
                    }
                    Access::Random | Access::Sequential => page_set.random_page(chance),
                };
                let update = chance.unit() < refers.update;
                let used = PageUse { page_set: refers.page_set, page, agent: 0, access, update, place };
                unit.push((page_set.pool, used));
            }
            unit.iter().for_each(|(pool, used)| about.pools.fetch(*pool, member, used.page_set, used.page));
            unit.iter().for_each(|(pool, used)| about.pools.fetch_entry(*pool, used.page_set, used.page));
            for (pool, used) in &unit {
                let (depended, depends) = {
                    let mut interests = about.pools.interests();
                    let depended = interests.is_dependent(used.page_set);
                    interests.note(member, used.page_set, 0, used.update);
                    (depended, interests.is_dependent(used.page_set))
                };
                if depends && !depended {
                    (0..about.members.len() as u8).for_each(|other| {
                        about.pools.begin_dependence(*pool, other, used.page_set);
                    });
                }
                about.pools.refer(*pool, member, 0, used);
            }
            for pool in 0..about.pools.count() {
                let changed = unit.iter().filter(|(of, used)| *of == pool && used.update);
                let changed: Vec<u64> = changed.map(|(_, used)| page_key(used.page_set, used.page)).collect();
                if !changed.is_empty() {
                    about.pools.commit(pool, member, &changed);
                }
            }
        }
    }

    /// The warm-up is over.
    pub(super) fn begin_measuring(&mut self, now: Time) {
        self.begun = now;
        self.take_interval();
        self.before = self.pool_counters();
        for measured in &mut self.measured {
            measured.inside.begin(now);
            measured.response = BatchMeans::new();
            measured.stayed = 0;
        }
        self.measure_utilisations(now);
        if self.logs.is_some() {
            let empty = self.measured_interval(0.0, 0.0);
            if let Some(logs) = &mut self.logs {
                logs.begin(now, empty);
            }
        }
    }

    fn pool_counters(&self) -> Before {
        let mut pools = Vec::new();
        for group in &self.plex.groups {
            for member in 0..group.members.len() as u8 {
                for pool in 0..group.pools.count() {
                    pools.push((group.pools.counters(pool, member), group.pools.group_counters(pool, member)));
                }
            }
        }
        Before { pools }
    }

    /// What was measured from and to these seconds, with what pools counted.
    fn measured_interval(&mut self, from: f64, to: f64) -> Interval {
        let mut made = self.take_interval();
        (made.start, made.end) = (from, to);
        let now = self.pool_counters();
        let mut changes = now.pools.iter().zip(&self.before.pools);
        for member in &mut made.members {
            let group = self.scenario.db2.iter().find(|one| one.group == member.group);
            let pools = group.into_iter().flat_map(|one| &one.pool);
            member.pools =
                pools.zip(&mut changes).map(|(pool, (after, before))| pool_use(pool.number, after, before)).collect();
            let found = self.scenario.db2.iter().position(|one| one.group == member.group);
            let about = found.map(|at| &self.plex.groups[at].pools);
            for (at, (pool, used)) in member.pools.iter_mut().zip(std::mem::take(&mut member.page_locks)).enumerate() {
                pool.page_locks = used;
                pool.changed_in_group = about.map_or(0, |pools| pools.changed_in_group(at));
            }
        }
        self.before = now;
        made
    }

    /// An interval is over.
    pub(super) fn end_interval(&mut self, from: f64, to: f64) {
        let made = self.measured_interval(from, to);
        if let Some(logs) = &mut self.logs {
            logs.interval_over(&made);
        }
        self.results.intervals.push(made);
    }

    /// What was measured since the last time, which then begins anew.
    fn take_interval(&mut self) -> Interval {
        let now = self.calendar.now();
        self.charge_under_way();
        let mut made = Interval::default();
        for (number, about) in self.scenario.system.iter().enumerate() {
            let image = &self.plex.systems[number];
            let machine = &self.plex.machines[usize::from(image.machine)];
            let (busy, dispatchable) = machine.general.measured(now, image.partition);
            let ziip_busy = machine.ziip.as_ref().map_or(0.0, |ziip| ziip.measured(now, image.partition).0);
            made.systems.push(SystemUse {
                name: about.name.clone(),
                busy,
                ziip_busy,
                uncaptured: image.used_besides.uncaptured,
                management: image.used_besides.management,
                dispatchable,
                spaces: Vec::new(),
                volumes: std::mem::take(&mut self.volumes[number]),
            });
        }
        for machine in &mut self.plex.machines {
            machine.general.measure(now);
            machine.ziip.iter_mut().for_each(|ziip| ziip.measure(now));
        }
        self.plex.systems.iter_mut().for_each(|image| image.used_besides = UsedBesides::default());
        for (about, region) in self.scenario.region.iter().zip(&mut self.plex.regions) {
            made.systems[usize::from(region.system)].spaces.push(taken(&mut region.space));
            let levels = [&region.qr, &region.used_threads, &region.used_open_tcbs, &region.working_open_tcbs];
            let reached = levels.map(|one| one.integral(now));
            let before = std::mem::replace(&mut region.integrals, reached);
            made.regions.push(RegionUse {
                name: about.name.clone(),
                system: about.system.clone(),
                qr_dispatched: reached[0] - before[0],
                open_dispatched: reached[3] - before[3],
                thread_seconds: reached[1] - before[1],
                open_tcb_seconds: reached[2] - before[2],
                ..std::mem::take(&mut region.used)
            });
            region.used.most_inside = region.inside + region.fronting;
            region.used.most_threads = region.used_threads.value();
            region.used.most_open_tcbs = region.used_open_tcbs.value();
            region.used.most_open_tcb_queue = region.open_tcb_queue.len() as u64;
        }
        for guest in &mut self.plex.guests {
            made.systems[usize::from(guest.system)].spaces.push(taken(&mut guest.space));
        }
        for (about, group) in self.scenario.db2.iter().zip(&mut self.plex.groups) {
            for (named, member) in about.member.iter().zip(&mut group.members) {
                made.systems[usize::from(member.system)].spaces.extend(member.spaces.iter_mut().map(taken));
                let writes = member.log.writes;
                made.members.push(MemberUse {
                    name: named.name.clone(),
                    group: about.group.clone(),
                    system: named.system.clone(),
                    pools: Vec::new(),
                    page_locks: member.page_locks.iter_mut().map(std::mem::take).collect(),
                    locking: std::mem::take(&mut member.locking),
                    log_writes: writes - std::mem::replace(&mut member.log_writes, writes),
                    commits: std::mem::take(&mut member.commits),
                    rollbacks: std::mem::take(&mut member.rollbacks),
                    threads: member.used_threads.value() as u32,
                });
            }
        }
        for (about, facility) in self.scenario.coupling_facility.iter().zip(&mut self.plex.facilities) {
            let busy = facility.line.take_busy() as f64 / 1e9;
            made.facilities.push(FacilityUse { name: about.name.clone(), engines: facility.line.servers(), busy });
        }
        for structure in &mut self.plex.structures {
            let second = structure.duplex.map(|at| self.scenario.coupling_facility[usize::from(at)].name.clone());
            made.structures.extend(structure.uses.iter_mut().map(|used| {
                let empty = StructureUse {
                    name: used.name.clone(),
                    facility: used.facility.clone(),
                    system: used.system.clone(),
                    lock: used.lock,
                    ..StructureUse::default()
                };
                StructureUse { second_facility: second.clone(), ..std::mem::replace(used, empty) }
            }));
        }
        for (about, measured) in self.scenario.class.iter().zip(&mut self.measured) {
            let systems =
                self.scenario.system.iter().zip(&mut measured.on_system).map(|(system, (counts, account))| {
                    let mut made = std::mem::take(counts);
                    made.system.clone_from(&system.name);
                    made.used = std::mem::take(account).named();
                    made
                });
            made.classes.push(ClassUse { name: about.name.clone(), systems: systems.collect() });
        }
        made.data_sets = self.take_data_sets();
        self.volumes.fill(vec![VolumeUse::default(); self.plex.volumes.len()]);
        made
    }

    /// The run is over: what holds for all of it.
    pub(super) fn finish_measuring(&mut self) {
        let now = self.calendar.now();
        let length = seconds(now - self.begun);
        self.results.events = self.calendar.entered();
        for (about, measured) in self.scenario.class.iter().zip(&self.measured) {
            self.results.responses.push(ResponseEstimate {
                class: about.name.clone(),
                count: measured.response.count(),
                mean: measured.response.mean(),
                half_width: measured.response.half_width(),
            });
        }
        // Little's law: the average number on the way is what all of them spent there, over the length of the run.
        for (number, (about, measured)) in self.scenario.class.iter().zip(&self.measured).enumerate() {
            let mut on_the_way = vec![true; self.tasks.len()];
            self.free.iter().for_each(|&task| on_the_way[task as usize] = false);
            let tasks = self.tasks.iter().zip(on_the_way).filter(|&(_, there)| there).map(|(task, _)| task);
            let present: u128 = tasks
                .filter(|task| usize::from(task.class) == number)
                .map(|task| u128::from(now - task.begun.max(self.begun)))
                .sum();
            self.results.laws.push(Law {
                name: format!("Little's law, {}", about.name),
                by_level: measured.inside.average(now).unwrap_or(0.0),
                by_time: (measured.stayed + present) as f64 / 1e9 / length,
            });
        }
        // The utilisation law: busy engines are the processor time of all address spaces, over the length of the run;
        // what is under way at either end counts for one side only.
        for (number, system) in self.scenario.system.iter().enumerate() {
            let systems = || self.results.intervals.iter().map(|one| &one.systems[number]);
            let besides: f64 = systems().map(|one| one.uncaptured[0] + one.management[0]).sum();
            let spaces = systems().flat_map(|one| &one.spaces);
            self.results.laws.push(Law {
                name: format!("utilisation law, {}", system.name),
                by_level: self.results.intervals.iter().map(|one| one.systems[number].busy).sum::<f64>() / length,
                by_time: (spaces.map(|space| space.cpu).sum::<f64>() + besides) / length,
            });
        }
        for (number, about) in self.scenario.class.iter().enumerate() {
            let mut counts = BTreeMap::new();
            let systems = self.results.intervals.iter().flat_map(|one| &one.classes[number].systems);
            systems
                .flat_map(|one| &one.failed)
                .for_each(|(&reason, count)| *counts.entry(reason).or_default() += count);
            let counts = counts.into_iter();
            let failed = counts.map(|(reason, count)| FailureCount { class: about.name.clone(), reason, count });
            self.results.failures.extend(failed);
        }
        self.results.utilisations = self.utilisations(length);
        let saturated = self.results.utilisations.iter().filter(|one| one.utilisation >= SATURATED);
        self.results.saturated = saturated.cloned().collect();
    }
}

fn taken(space: &mut SpaceUse) -> SpaceUse {
    let empty = SpaceUse { name: space.name.clone(), ..SpaceUse::default() };
    std::mem::replace(space, empty)
}

type Counted = (Counters, Option<(GroupCounters, MemberGroupCounters)>);

fn pool_use(number: u16, after: &Counted, before: &Counted) -> PoolUse {
    let local = Counters::FIELDS.iter().zip(after.0.values()).zip(before.0.values());
    let mut made = PoolUse {
        number,
        local: local.map(|((&(name, _, _), now), then)| (name, now - then)).collect(),
        ..PoolUse::default()
    };
    if let (Some((group, member)), Some((group_before, member_before))) = (&after.1, &before.1) {
        let fields = GroupCounters::FIELDS.iter().zip(group.values()).zip(group_before.values());
        made.group = fields.map(|((&(name, _, _), now), then)| (name, now - then)).collect();
        let fields = MemberGroupCounters::FIELDS.iter().zip(member.values()).zip(member_before.values());
        made.member = fields.map(|((&(name, _, _), now), then)| (name, now - then)).collect();
    }
    made
}
