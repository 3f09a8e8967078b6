//! Bursts of processor time: on which engine they run, how long, and whose time they are.

use super::account::Wait;
use super::processors::{Processors, Start, Ticket};
use super::simulation::{Event, Simulation};
use super::task::{Action, Burst, Space, Stage};
use crate::kernel::{Time, seconds};

impl Simulation<'_> {
    pub(super) fn burst_ended(&mut self, machine: u16, ziip: bool, ticket: Ticket) {
        let now = self.calendar.now();
        let Some(number) = self.processors(machine, ziip).and_then(|one| one.ended(now, ticket)) else { return };
        let task = &mut self.tasks[number as usize];
        task.engine = Some((ziip, ticket.engine));
        task.turn = task.turn.wrapping_add(1);
        if let Some(burst) = task.burst.take() {
            self.charge(number, &burst, ziip);
        }
        self.advance(number);
    }

    /// An interval ends: it has what was done of the bursts and spins under way.
    pub(super) fn charge_under_way(&mut self) {
        let now = self.calendar.now();
        let machines = self.plex.machines.iter();
        let kinds = machines.flat_map(|one| [Some((&one.general, false)), one.ziip.as_ref().map(|ziip| (ziip, true))]);
        let left: Vec<(u32, Time, bool)> = kinds
            .flatten()
            .flat_map(|(processors, ziip)| processors.left(now).map(move |(number, left)| (number, left, ziip)))
            .collect();
        for (number, left, ziip) in left {
            self.charge_done(number, left, ziip);
        }
        for number in 0..self.tasks.len() {
            let task = &mut self.tasks[number];
            if let (Some(burst), Some(_)) = (&mut task.burst, task.engine) {
                let end = burst.since + burst.length;
                let done = Burst { length: now - burst.since, charged: now - burst.since, ..*burst };
                (burst.since, burst.length, burst.charged) = (now, end - now, end - now);
                self.charge_spin(number as u32, &done);
            }
        }
    }

    /// Charges what a burst has done when so much of it is left.
    fn charge_done(&mut self, number: u32, left: Time, ziip: bool) {
        let now = self.calendar.now();
        let Some(burst) = &mut self.tasks[number as usize].burst else { return };
        let length = burst.length.saturating_sub(left);
        if length == 0 {
            return;
        }
        let charged = (u128::from(burst.charged) * u128::from(length) / u128::from(burst.length)) as Time;
        // What it waited for an engine is counted at its end.
        let done = Burst { since: now - length, length, charged, ..*burst };
        burst.since += length;
        burst.length -= length;
        burst.charged -= charged;
        self.charge(number, &done, ziip);
    }

    /// A task spun on its engine.
    pub(super) fn charge_spin(&mut self, number: u32, burst: &Burst) {
        let task = &mut self.tasks[number as usize];
        if matches!(burst.space, Space::Region(_)) {
            task.account.spin += seconds(burst.length);
        }
        let ziip = task.engine.is_some_and(|(ziip, _)| ziip);
        self.charge(number, &Burst { eligible: ziip, ..*burst }, ziip);
    }

    fn processors(&mut self, machine: u16, ziip: bool) -> Option<&mut Processors> {
        let machine = &mut self.plex.machines[usize::from(machine)];
        if ziip { machine.ziip.as_mut() } else { Some(&mut machine.general) }
    }

    /// Processor time of a task. What a service of Db2 does for a transaction is no CPU time of the thread: the thread
    /// waits for it.
    fn charge(&mut self, number: u32, burst: &Burst, ziip: bool) {
        let &Burst { since, length, charged, space, eligible } = burst;
        let system = usize::from(self.tasks[number as usize].system);
        self.plex.systems[system].count_uncaptured(length, charged, ziip);
        let time = seconds(charged);
        // What was not work was a wait for an engine; of a spin there is none.
        let delay = seconds((self.calendar.now() - since).saturating_sub(length));
        let task = &mut self.tasks[number as usize];
        let account = &mut task.account;
        let served = match space {
            Space::Region(_) | Space::Guest(_) => None,
            Space::DatabaseServices(_) => Some(Wait::OtherRead),
            Space::SystemServices(_) => Some(Wait::Commit),
            // It settles what the task then waits for.
            Space::LockManager(_) => match task.steps.front() {
                Some(&Action::Pass { wait, .. }) => Some(wait),
                _ => Some(Wait::Contention),
            },
        };
        match served {
            Some(wait) => account.waits[wait as usize] += time + delay,
            None => account.cpu_delay += delay,
        }
        if let Space::Region(region) = space {
            let used = &mut self.plex.regions[usize::from(region)].used;
            if task.has_region {
                used.qr_cpu += time;
            } else if task.on_open_tcb.is_some() {
                used.open_cpu += time;
            }
        }
        if served.is_some() {
            // The address space of the service has it, below.
        } else if task.entered_db2 > 0 {
            account.db2_cpu += time;
            account.ziip += if ziip { time } else { 0.0 };
            account.ziip_on_cp += if eligible && !ziip { time } else { 0.0 };
        } else if task.stage == Stage::Terminal || matches!(task.stage, Stage::Shipped(_)) {
            account.terminal_cpu += time;
        } else {
            account.region_cpu += time;
            account.open_cpu += if task.on_open_tcb.is_some() { time } else { 0.0 };
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
            used.ziip_delay += delay;
        } else {
            used.cpu_delay += delay;
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
        let system = &mut self.plex.systems[usize::from(task.system)];
        let slowness = if ziip { system.ziip_slowness } else { system.slowness };
        // Caches hold nothing of a task that comes to an engine anew.
        let keeps_engine = engine.is_some_and(|(held, _)| held == ziip);
        let work = if keeps_engine { work } else { work + system.dispatch_refill };
        let work = system.with_refill(work);
        let charged = (work as f64 * slowness + 0.5) as Time;
        let length = if system.gross == 1.0 { charged } else { (charged as f64 * system.gross + 0.5) as Time };
        self.tasks[number as usize].burst = Some(Burst { since: now, length, charged, space, eligible });
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
    pub(super) fn help(&mut self, number: u32, turn: u32) {
        let task = &self.tasks[number as usize];
        if task.turn != turn {
            return;
        }
        let system = &self.plex.systems[usize::from(task.system)];
        let (machine, partition, now) = (system.machine, system.partition, self.calendar.now());
        let faster = system.slowness / system.ziip_slowness;
        let priority = task.priority;
        let left = self.processors(machine, true).and_then(|one| one.withdraw(now, partition, number));
        if let Some(left) = left {
            // What an interruption left of it: the zIIP has done the rest.
            self.charge_done(number, left, true);
            let Some(burst) = self.tasks[number as usize].burst else { return };
            let length = (left as f64 * faster + 0.5) as Time;
            let charged = (burst.charged as f64 * faster + 0.5) as Time;
            self.tasks[number as usize].burst = Some(Burst { length, charged, eligible: true, ..burst });
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
}
