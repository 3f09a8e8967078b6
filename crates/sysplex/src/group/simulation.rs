//! The run: events, and the steps of tasks that they lead to.

use std::collections::BTreeMap;

use crate::kernel::calendar::Calendar;
use crate::kernel::measure::{BatchMeans, Level};
use crate::kernel::random::{Shape, Stream};
use crate::kernel::{Time, nanoseconds, seconds};
use crate::scenario::{Distribution, Scenario};

use super::account::{Account, Wait};
use super::data_sets::DataSets;
use super::intervals::Before;
use super::logs::Logs;
use super::measured::{ClassOnSystem, Results, VolumeUse};
use super::plex::Plex;
use super::processors::Ticket;
use super::task::{Action, Reason, Stage, Task};
use super::watch::{MOST_TASKS, Stopped, Watch};

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A transaction of a class arrives.
    Arrive(u16),
    /// A user of a class has thought.
    Thought(u16),
    /// A burst comes to its end.
    Burst { machine: u16, ziip: bool, ticket: Ticket },
    /// A task goes on.
    Done { task: u32, turn: u32 },
    /// A task has waited long enough for a lock.
    Timeout { task: u32, turn: u32 },
    /// A task has waited long enough for a zIIP.
    Help { task: u32, turn: u32 },
    /// A group looks for deadlocks.
    Deadlocks(u16),
    /// A group looks for page sets that nobody changes any more.
    PseudoClose(u16),
    /// Something breaks.
    Fail(u16),
    /// A lost member restarts elsewhere to give its locks back.
    RestartLight(u16),
    /// It is there again.
    Recover(u16),
}

/// A class as it is measured.
pub(super) struct Measured {
    /// What ended in the interval, by system.
    pub on_system: Vec<(ClassOnSystem, Account)>,
    /// Response over the whole run.
    pub response: BatchMeans,
    /// Transactions on their way.
    pub inside: Level,
    /// Sum of what each that ended spent inside since measuring began, nanoseconds.
    pub stayed: u128,
    /// Transactions that began, that ended with success, and of the others why, all since the beginning.
    pub begun: u64,
    /// With success.
    pub ended: u64,
    /// Without, by reason.
    pub failed: BTreeMap<Reason, u64>,
}

/// A simulated sysplex.
pub struct Simulation<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) calendar: Calendar<Event>,
    pub(super) plex: Plex,
    pub(super) tasks: Vec<Task>,
    pub(super) free: Vec<u32>,
    pub(super) chance: Stream,
    pub(super) services: Services,
    pub(super) measured: Vec<Measured>,
    pub(super) begun: Time,
    pub(super) results: Results,
    pub(super) granted: Vec<u32>,
    pub(super) before: Before,
    /// By system and volume.
    pub(super) volumes: Vec<Vec<VolumeUse>>,
    /// Data sets whose volumes are given.
    pub(super) data_sets: DataSets,
    pub(super) logs: Option<Box<Logs<'a>>>,
    pub(super) watch: Watch,
    ready: Vec<u32>,
    open: bool,
}

/// How long services take around their means.
pub(super) struct Services {
    /// Chance of their own.
    pub stream: Stream,
    /// Coupling facility engines.
    pub coupling: Shape,
    /// Disks.
    pub dasd: Shape,
    /// Log writes, by group.
    pub logs: Vec<Shape>,
}

impl Services {
    fn new(scenario: &Scenario) -> Self {
        let shape = Distribution::shape;
        Self {
            stream: Stream::new(scenario.run.seed, "service times"),
            coupling: shape(scenario.coupling.distribution.as_ref()),
            dasd: shape(scenario.dasd.distribution.as_ref()),
            logs: scenario.db2.iter().map(|group| shape(group.log_distribution.as_ref())).collect(),
        }
    }
}

/// Events between two looks at the watch: less than a millisecond.
const PATIENCE: u32 = 1 << 12;

/// What is left of a run when all should have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Transactions and background work on their way.
    pub tasks: usize,
    /// Locks held, retained or waited for.
    pub locks: u64,
    /// Interests of members that the lock tables know of, besides physical locks of pages.
    pub interests: usize,
    /// Threads in use.
    pub threads: u64,
    /// QR TCBs in use, and transactions in regions.
    pub regions: u64,
    /// Engines in use.
    pub engines: u64,
    /// Tasks that wait for a rebuild.
    pub parked: usize,
    /// Transactions that began, ended with success, and ended without, since the beginning.
    pub begun: u64,
    /// With success.
    pub ended: u64,
    /// Without.
    pub failed: u64,
}

/// Class of background work.
pub(super) const BACKGROUND: u16 = u16::MAX;

impl<'a> Simulation<'a> {
    /// A checked scenario, nothing done yet.
    pub fn new(scenario: &'a Scenario) -> Self {
        let systems = scenario.system.len();
        let plex = Plex::new(scenario);
        let measured = scenario.class.iter().map(|_| Measured {
            on_system: vec![(ClassOnSystem::default(), Account::default()); systems],
            response: BatchMeans::new(),
            inside: Level::default(),
            stayed: 0,
            begun: 0,
            ended: 0,
            failed: BTreeMap::new(),
        });
        Self {
            scenario,
            calendar: Calendar::new(),
            measured: measured.collect(),
            plex,
            tasks: Vec::new(),
            free: Vec::new(),
            chance: Stream::new(scenario.run.seed, "chance"),
            services: Services::new(scenario),
            begun: 0,
            results: Results::default(),
            granted: Vec::new(),
            before: Before::default(),
            volumes: vec![vec![VolumeUse::default(); scenario.dasd.volumes as usize]; systems],
            data_sets: DataSets::default(),
            logs: None,
            watch: Watch::default(),
            ready: Vec::new(),
            open: true,
        }
    }

    /// Writes down what the logs want.
    #[must_use]
    pub fn with_logs(self, logs: Logs<'a>) -> Self {
        Self { logs: Some(Box::new(logs)), ..self }
    }

    /// Lets somebody watch the run and end it.
    #[must_use]
    pub fn with_watch(self, watch: Watch) -> Self {
        Self { watch, ..self }
    }

    /// Runs it all.
    ///
    /// # Panics
    /// Where [`Self::run_watched`] has no results.
    pub fn run(self) -> Results {
        self.run_watched().unwrap_or_else(|stopped| panic!("{stopped}"))
    }

    /// Runs it all, unless it is ended before.
    ///
    /// # Errors
    /// It was ended, or more transactions are on their way than memory is for.
    pub fn run_watched(mut self) -> Result<Results, Stopped> {
        self.start();
        let warm = nanoseconds(self.scenario.run.warm_up);
        self.until(warm);
        self.check_watch()?;
        self.begin_measuring(warm);
        let pace = self.scenario.run.pace();
        let (length, whole) = (self.scenario.run.interval * pace, self.scenario.run.seconds * pace);
        let mut from = 0.0;
        while from < whole && self.logs.as_ref().is_none_or(|logs| logs.is_heard()) {
            let to = (from + length).min(whole);
            self.until(warm + nanoseconds(to));
            self.check_watch()?;
            self.end_interval(from, to);
            from = to;
        }
        self.finish_measuring();
        Ok(self.results)
    }

    fn check_watch(&self) -> Result<(), Stopped> {
        if self.watch.is_ended() {
            return Err(Stopped::Interrupted);
        }
        if !self.is_crowded() {
            return Ok(());
        }
        let (number, about) = (0..).zip(&self.measured).max_by_key(|(_, one)| one.inside.value()).unzip();
        let number: usize = about.and(number).unwrap_or(0);
        let (class, seconds) = (self.scenario.class[number].name.clone(), self.calendar.now() / 1_000_000_000);
        Err(Stopped::TooMany { class, number, seconds })
    }

    fn is_crowded(&self) -> bool {
        self.tasks.len() - self.free.len() > MOST_TASKS
    }

    /// Lets no more transactions in and runs until all have ended; what is left.
    pub fn drain(&mut self) -> Left {
        self.open = false;
        let limit = self.calendar.now() + nanoseconds(10_000.0);
        while (self.free.len() < self.tasks.len() || !self.plex.all_members_are_up()) && self.calendar.now() < limit {
            self.until(self.calendar.now() + nanoseconds(1.0));
        }
        let plex = &self.plex;
        let members = || plex.groups.iter().flat_map(|group| &group.members);
        let threads = members().map(|one| one.used_threads.value());
        Left {
            tasks: self.tasks.len() - self.free.len(),
            locks: plex.groups.iter().map(|group| group.locks.held() + group.locks.waiting() as u64).sum(),
            interests: plex
                .groups
                .iter()
                .map(|group| {
                    // Physical locks of pages stay with the buffers.
                    let all = group.table.as_ref().map_or(0, |(table, _)| table.interests());
                    all - group.pools.page_locks().min(all)
                })
                .sum(),
            threads: threads.chain(plex.regions.iter().map(|one| one.used_threads.value())).sum(),
            regions: plex.regions.iter().map(|one| one.qr.value() + u64::from(one.inside)).sum(),
            engines: self.busy_engines(),
            parked: plex.structures.iter().map(|one| one.parked.len()).sum(),
            begun: self.measured.iter().map(|one| one.begun).sum(),
            ended: self.measured.iter().map(|one| one.ended).sum(),
            failed: self.measured.iter().map(|one| one.failed.values().sum::<u64>()).sum(),
        }
    }

    fn busy_engines(&self) -> u64 {
        let all = self.plex.machines.iter().flat_map(|one| one.ziip.iter().chain([&one.general]));
        all.map(|one| one.using()).sum()
    }

    /// Begins: fills pools, and lets the first transactions come.
    pub fn start(&mut self) {
        if self.scenario.run.preload {
            self.preload();
        }
        for number in 0..self.plex.kinds.len() as u16 {
            let (rate, users) = {
                let class = &self.plex.kinds[usize::from(number)].class;
                (class.rate.unwrap_or(0.0), class.users.unwrap_or(0))
            };
            if rate > 0.0 {
                self.next_arrival(number);
            }
            for _ in 0..users {
                self.think(number);
            }
        }
        for number in 0..self.plex.groups.len() as u16 {
            self.calendar.after(self.deadlock_cycle(number), Event::Deadlocks(number));
            self.calendar.after(self.pseudo_close_cycle(number), Event::PseudoClose(number));
        }
        let (warm, pace) = (nanoseconds(self.scenario.run.warm_up), self.scenario.run.pace());
        for (number, failure) in self.scenario.failure.iter().enumerate() {
            self.calendar.at(warm + nanoseconds(failure.at * pace), Event::Fail(number as u16));
        }
    }

    pub(super) fn deadlock_cycle(&self, group: u16) -> Time {
        nanoseconds(self.scenario.db2[usize::from(group)].deadlock_cycle)
    }

    pub(super) fn pseudo_close_cycle(&self, group: u16) -> Time {
        nanoseconds(self.scenario.db2[usize::from(group)].pseudo_close / 10.0).max(1)
    }

    fn next_arrival(&mut self, class: u16) {
        let kind = &mut self.plex.kinds[usize::from(class)];
        if let Some(rate) = kind.class.rate.filter(|&rate| rate > 0.0) {
            let delay = match &kind.profile {
                None => kind.stream.exponential(1.0 / rate),
                Some(profile) => profile.next_arrival(&mut kind.stream, self.calendar.now(), rate),
            };
            self.calendar.after(delay, Event::Arrive(class));
        }
    }

    pub(super) fn think(&mut self, class: u16) {
        let kind = &mut self.plex.kinds[usize::from(class)];
        let delay = kind.think.map_or(0, |think| kind.stream.time(&think));
        self.calendar.after(delay, Event::Thought(class));
    }

    /// Lets events happen up to a time, or until whoever watches the run ends it.
    pub fn until(&mut self, end: Time) {
        let mut left = PATIENCE;
        while let Some(event) = self.calendar.next_until(end) {
            left -= 1;
            if left == 0 {
                left = PATIENCE;
                self.watch.reach(self.calendar.now());
                if self.watch.is_ended() || self.is_crowded() {
                    return;
                }
            }
            match event {
                Event::Arrive(class) if self.open => {
                    self.next_arrival(class);
                    self.begin(class);
                }
                Event::Thought(class) if self.open => self.begin(class),
                Event::Arrive(_) | Event::Thought(_) => {}
                Event::Burst { machine, ziip, ticket } => self.burst_ended(machine, ziip, ticket),
                Event::Done { task, turn } => {
                    if self.tasks[task as usize].turn == turn {
                        self.resume(task);
                    }
                }
                Event::Timeout { task, turn } => self.lock_timeout(task, turn),
                Event::Help { task, turn } => self.help(task, turn),
                Event::Deadlocks(group) => self.break_deadlocks(group),
                Event::PseudoClose(group) => self.pseudo_close(group),
                Event::Fail(number) => self.fail(number),
                Event::RestartLight(number) => self.begin_restart_light(number),
                Event::Recover(number) => self.recover(number),
            }
            while let Some(task) = self.ready.pop() {
                self.resume(task);
            }
        }
    }

    /// A task of a class, with the memory of one that has ended where there is one.
    pub(super) fn new_task(&mut self, class: u16) -> u32 {
        let now = self.calendar.now();
        match self.free.pop() {
            Some(number) => {
                self.tasks[number as usize].reuse(class, now);
                number
            }
            None => {
                self.tasks.push(Task::new(class, now));
                self.tasks.len() as u32 - 1
            }
        }
    }

    /// A transaction arrives.
    pub(super) fn begin(&mut self, class: u16) {
        let task = self.new_task(class);
        let measured = &mut self.measured[usize::from(class)];
        measured.begun += 1;
        measured.inside.set(self.calendar.now(), measured.inside.value() + 1);
        self.ready.push(task);
        if self.ready.len() == 1 {
            while let Some(task) = self.ready.pop() {
                self.resume(task);
            }
        }
    }

    /// Background work of a member, by its steps.
    pub(super) fn background(&mut self, group: u16, member: u8, steps: &[Action]) -> u32 {
        let task = self.new_task(BACKGROUND);
        let system = self.plex.groups[usize::from(group)].members[usize::from(member)].system;
        let about = &mut self.tasks[task as usize];
        (about.stage, about.system, about.group, about.member) = (Stage::Background, system, group, member);
        about.steps.extend(steps);
        self.ready.push(task);
        task
    }

    /// Lets a task go on after this event.
    pub(super) fn wake(&mut self, task: u32) {
        self.ready.push(task);
    }

    /// A task goes on: whatever it waited for is over.
    fn resume(&mut self, number: u32) {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        task.turn = task.turn.wrapping_add(1);
        if let Some((since, wait)) = task.waiting.take() {
            match wait {
                Some(kind) => {
                    task.account.waits[kind as usize] += seconds(now - since);
                    // What takes no time suspends nobody.
                    task.account.wait_counts[kind as usize] += u64::from(now > since);
                }
                None => {
                    task.account.lock_wait += seconds(now - since);
                    task.account.lock_waits += 1;
                }
            }
        }
        if let Some(burst) = task.burst.take() {
            self.charge_spin(number, &burst);
        }
        self.advance(number);
    }

    /// The task waits without an engine until a moment.
    pub(super) fn wait_until(&mut self, number: u32, moment: Time, wait: Wait) {
        self.release_engine(number);
        let task = &mut self.tasks[number as usize];
        task.waiting = Some((self.calendar.now(), Some(wait)));
        let turn = task.turn;
        self.calendar.at(moment, Event::Done { task: number, turn });
    }

    /// Takes steps until the task has to wait for something.
    pub(super) fn advance(&mut self, number: u32) {
        loop {
            if self.tasks[number as usize].lost {
                self.end_lost(number);
                return;
            }
            let Some(step) = self.tasks[number as usize].steps.pop_front() else {
                if self.next_steps(number) {
                    continue;
                }
                return;
            };
            if self.take(number, step) {
                return;
            }
        }
    }
}
