//! The run: events, and the steps of tasks that they lead to.

use std::collections::BTreeMap;

use crate::kernel::calendar::Calendar;
use crate::kernel::measure::{BatchMeans, Level};
use crate::kernel::random::Stream;
use crate::kernel::{Time, nanoseconds, seconds};
use crate::scenario::Scenario;

use super::intervals::Before;
use super::logs::Logs;
use super::measured::{ClassOnSystem, Results, VolumeUse};
use super::plex::Plex;
use super::processors::{Start, Ticket};
use super::task::{Account, Action, Reason, Request, Space, Stage, Task, Wait};
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
    pub(super) measured: Vec<Measured>,
    pub(super) begun: Time,
    pub(super) results: Results,
    pub(super) granted: Vec<u32>,
    pub(super) before: Before,
    /// By system and volume.
    pub(super) volumes: Vec<Vec<VolumeUse>>,
    pub(super) logs: Option<Box<Logs<'a>>>,
    pub(super) watch: Watch,
    ready: Vec<u32>,
    open: bool,
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
            begun: 0,
            results: Results::default(),
            granted: Vec::new(),
            before: Before::default(),
            volumes: vec![vec![VolumeUse::default(); scenario.dasd.volumes as usize]; systems],
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
        let (length, whole) = (self.scenario.run.interval, self.scenario.run.seconds);
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
        let warm = nanoseconds(self.scenario.run.warm_up);
        for (number, failure) in self.scenario.failure.iter().enumerate() {
            self.calendar.at(warm + nanoseconds(failure.at), Event::Fail(number as u16));
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
            let delay = kind.stream.exponential(1.0 / rate);
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
                    task.account.wait_counts[kind as usize] += 1;
                }
                None => {
                    task.account.lock_wait += seconds(now - since);
                    task.account.lock_waits += 1;
                }
            }
        }
        if let Some((length, space, _)) = task.burst.take() {
            // It spun on its engine.
            task.account.spin += seconds(length);
            let ziip = task.engine.is_some_and(|(ziip, _)| ziip);
            self.charge(number, length, space, ziip, ziip);
        }
        self.advance(number);
    }

    fn burst_ended(&mut self, machine: u16, ziip: bool, ticket: Ticket) {
        let now = self.calendar.now();
        let Some(number) = self.processors(machine, ziip).and_then(|one| one.ended(now, ticket)) else { return };
        let task = &mut self.tasks[number as usize];
        task.engine = Some((ziip, ticket.engine));
        task.turn = task.turn.wrapping_add(1);
        if let Some((length, space, eligible)) = task.burst.take() {
            self.charge(number, length, space, ziip, eligible);
        }
        self.advance(number);
    }

    fn processors(&mut self, machine: u16, ziip: bool) -> Option<&mut super::processors::Processors> {
        let machine = &mut self.plex.machines[usize::from(machine)];
        if ziip { machine.ziip.as_mut() } else { Some(&mut machine.general) }
    }

    /// Processor time of a task.
    fn charge(&mut self, number: u32, length: Time, space: Space, ziip: bool, eligible: bool) {
        let time = seconds(length);
        let task = &mut self.tasks[number as usize];
        let account = &mut task.account;
        if task.entered_db2 > 0 {
            account.db2_cpu += time;
            account.ziip += if ziip { time } else { 0.0 };
            account.ziip_on_cp += if eligible && !ziip { time } else { 0.0 };
        } else if task.stage == Stage::Terminal || matches!(task.stage, Stage::Shipped(_)) {
            account.terminal_cpu += time;
        } else {
            account.region_cpu += time;
        }
        let group = usize::from(task.group);
        let used = match space {
            Space::Region(region) => &mut self.plex.regions[usize::from(region)].space,
            Space::DatabaseServices(member) => &mut self.plex.groups[group].members[usize::from(member)].spaces[0],
            Space::SystemServices(member) => &mut self.plex.groups[group].members[usize::from(member)].spaces[1],
            Space::LockManager(member) => &mut self.plex.groups[group].members[usize::from(member)].spaces[2],
            Space::Guest(number) => &mut self.plex.guests[usize::from(number)].space,
        };
        if ziip {
            used.ziip += time;
        } else {
            used.cpu += time;
            used.ziip_on_cp += if eligible { time } else { 0.0 };
        }
    }

    /// The task runs so long on an engine of its system.
    pub(super) fn run_on(&mut self, number: u32, work: Time, space: Space, eligible: bool) {
        let now = self.calendar.now();
        let task = &self.tasks[number as usize];
        let (priority, engine, system) = (task.priority, task.engine, &self.plex.systems[usize::from(task.system)]);
        let (machine, partition, helps) = (system.machine, system.partition, system.helps);
        let ziip = eligible && self.plex.machines[usize::from(machine)].ziip.is_some();
        let system = &self.plex.systems[usize::from(task.system)];
        let slowness = if ziip { system.ziip_slowness } else { system.slowness };
        let length = (work as f64 * slowness + 0.5) as Time;
        self.tasks[number as usize].burst = Some((length, space, eligible));
        let start = match engine {
            Some((held, engine)) if held == ziip => {
                self.processors(machine, ziip).and_then(|one| one.go_on(now, engine, length, priority))
            }
            _ => {
                self.release_engine(number);
                self.processors(machine, ziip).and_then(|one| one.run(now, partition, number, length, priority))
            }
        };
        self.tasks[number as usize].engine = None;
        match start {
            Some(start) => self.expect(machine, ziip, start),
            None if ziip => {
                if let Some(wait) = helps {
                    let turn = self.tasks[number as usize].turn;
                    self.calendar.after(wait, Event::Help { task: number, turn });
                }
            }
            None => {}
        }
    }

    fn expect(&mut self, machine: u16, ziip: bool, start: Start) {
        self.calendar.at(start.end, Event::Burst { machine, ziip, ticket: start.ticket });
    }

    /// A general engine does what a zIIP has not begun in time.
    fn help(&mut self, number: u32, turn: u32) {
        let task = &self.tasks[number as usize];
        if task.turn != turn {
            return;
        }
        let Some((_, space, _)) = task.burst else { return };
        let system = &self.plex.systems[usize::from(task.system)];
        let (machine, partition, now) = (system.machine, system.partition, self.calendar.now());
        let faster = system.slowness / system.ziip_slowness;
        let priority = task.priority;
        let left = self.processors(machine, true).and_then(|one| one.withdraw(now, partition, number));
        if let Some(left) = left {
            let length = (left as f64 * faster + 0.5) as Time;
            self.tasks[number as usize].burst = Some((length, space, true));
            let start =
                self.processors(machine, false).and_then(|one| one.run(now, partition, number, length, priority));
            if let Some(start) = start {
                self.expect(machine, false, start);
            }
        }
    }

    /// The task leaves its engine to others.
    pub(super) fn release_engine(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let Some((ziip, engine)) = task.engine.take() else { return };
        let machine = self.plex.systems[usize::from(task.system)].machine;
        let now = self.calendar.now();
        if let Some((_, start)) = self.processors(machine, ziip).and_then(|one| one.release(now, engine)) {
            self.expect(machine, ziip, start);
        }
    }

    /// The task waits without an engine until a moment.
    pub(super) fn wait_until(&mut self, number: u32, moment: Time, wait: Wait) {
        self.release_engine(number);
        let task = &mut self.tasks[number as usize];
        task.waiting = Some((self.calendar.now(), Some(wait)));
        let turn = task.turn;
        self.calendar.at(moment, Event::Done { task: number, turn });
    }

    /// A request to a structure goes out; the task waits for the answer.
    pub(super) fn send(&mut self, number: u32, structure: u16, request: Request, space: Space) {
        let now = self.calendar.now();
        let system = usize::from(self.tasks[number as usize].system);
        let costs = &self.scenario.coupling;
        let about = &self.plex.structures[usize::from(structure)];
        let service = about.service_us.unwrap_or(match request {
            Request::Lock => costs.lock_us,
            Request::Read => costs.read_us,
            Request::List(pages) => costs.list_us + costs.list_page_us * f64::from(pages),
            Request::Page | Request::Write => costs.page_us,
        });
        let limit = costs.convert_above_us / 1e6;
        let converted = limit > 0.0 && about.expected[system] > limit;
        let (first, second) =
            (about.facility, about.duplex.filter(|_| matches!(request, Request::Lock | Request::Write)));
        let (begin, mut end) = self.ask(system, first, now, service);
        if let Some(second) = second.filter(|&second| self.plex.systems[system].reaches(second)) {
            // Both instances work. Those of a lock structure tell each other before they answer (duplexing by the system);
            // Db2 writes into both group buffer pools itself.
            let (_, other) = self.ask(system, second, now, service);
            end = end.max(other);
            if request == Request::Lock {
                end += self.plex.facilities[usize::from(second)].latency;
            }
        }
        let about = &mut self.plex.structures[usize::from(structure)];
        let (waited, taken) = (seconds(begin - now), seconds(end - now));
        let used = &mut about.uses[system];
        if waited > 0.0 {
            used.subchannel_waits.add(waited);
        }
        if converted {
            used.asynchronous.add(taken);
            used.converted += 1;
        } else {
            used.synchronous.add(taken);
        }
        about.expected[system] += (taken - about.expected[system]) / 64.0;
        if converted {
            self.wait_until(number, end + nanoseconds(costs.async_delay), Wait::Coupling);
            return;
        }
        let task = &mut self.tasks[number as usize];
        task.burst = Some((end - now, space, false));
        let turn = task.turn;
        self.calendar.at(end, Event::Done { task: number, turn });
    }

    /// One request: when its subchannel takes it, and when the answer is there.
    fn ask(&mut self, system: usize, facility: u16, at: Time, service_us: f64) -> (Time, Time) {
        let about = &mut self.plex.facilities[usize::from(facility)];
        let subchannel = &mut self.plex.systems[system].subchannels[usize::from(facility)];
        let (free_one, free) = subchannel.first_free();
        let begin = free.max(at);
        let length = nanoseconds(service_us * 1e-6 * about.slowness);
        let (_, served) = about.line.serve(begin + about.latency, length);
        let end = served + about.latency;
        subchannel.occupy(free_one, begin, end);
        (begin, end)
    }

    /// A read or write of pages: when it is done.
    pub(super) fn disk(&mut self, system: u16, volume: u32, pages: u32) -> Time {
        let dasd = &self.scenario.dasd;
        let first = if self.chance.unit() < dasd.cache_hits { dasd.hit_time } else { dasd.miss_time };
        let service = nanoseconds(first + dasd.page_time * f64::from(pages.saturating_sub(1)));
        let now = self.calendar.now();
        let (begin, end) = self.plex.volumes[volume as usize].serve(now, service);
        self.count_disk(system, volume, seconds(begin - now), seconds(service));
        end
    }

    /// Takes steps until the task has to wait for something.
    fn advance(&mut self, number: u32) {
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
