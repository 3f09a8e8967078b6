//! Servers with queues by priority: processors, coupling facility engines, disks.
//!
//! The owner keeps the calendar: whatever begins service gives a [`Start`], which says when it would end. The owner lets
//! the ticket come back at that time and asks [`Servers::end`] whose service it was; a ticket of a service that was
//! interrupted meanwhile is void.

use std::collections::VecDeque;

use super::measure::Level;
use super::{Time, seconds};

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// By priority, then in the order of arrival; a service that has begun goes on to its end.
    Patient,
    /// By priority, then in the order of arrival; a job of higher priority interrupts one of lower, which later goes on
    /// where it stopped, before others of its priority.
    Preemptive,
}

/// A service as it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    server: u32,
    generation: u32,
}

/// A service that begins: let the ticket come back at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When it will end.
    pub end: Time,
    /// What to give to [`Servers::end`] then.
    pub ticket: Ticket,
}

/// A service that ended, and the one that began in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<J> {
    /// The job.
    pub job: J,
    /// When it arrived.
    pub arrived: Time,
    /// Service that it was given.
    pub service: Time,
    /// The next service of this server.
    pub next: Option<Start>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<J> {
    job: J,
    arrived: Time,
    /// Service in all, and what of it is left.
    service: Time,
    left: Time,
}

#[derive(Clone, Copy, Debug)]
struct Serving<J> {
    what: Waiting<J>,
    priority: u8,
    since: Time,
}

#[derive(Clone, Debug)]
struct Server<J> {
    serving: Option<Serving<J>>,
    generation: u32,
}

/// Servers that share queues, one for each priority; 0 goes first.
#[derive(Clone, Debug)]
pub struct Servers<J> {
    discipline: Discipline,
    servers: Vec<Server<J>>,
    idle: Vec<u32>,
    queues: Vec<VecDeque<Waiting<J>>>,
    waiting: usize,
    inside: Level,
    busy: Level,
    arrived: u64,
    ended: u64,
    /// Nanoseconds since the beginning, of jobs that have left, and of those inside by their arrival.
    stayed: u128,
    arrivals_inside: u128,
    served: u128,
    begun: Time,
}

/// What the laws of queueing say of a stretch of a run, and what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laws {
    /// Jobs inside, from the course of their number, and from the time that each spent there.
    pub inside: (f64, f64),
    /// Busy servers, from the course of their number, and from the service that each job was given.
    pub busy: (f64, f64),
}

impl Laws {
    /// Whether Little's law and the utilisation law hold, but for rounding.
    pub fn hold(&self) -> bool {
        let same = |(one, other): (f64, f64)| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
        same(self.inside) && same(self.busy)
    }
}

impl<J: Copy> Servers<J> {
    /// So many servers and priorities, all idle.
    pub fn new(servers: u32, priorities: u8, discipline: Discipline) -> Self {
        Self {
            discipline,
            servers: vec![Server { serving: None, generation: 0 }; servers as usize],
            idle: (0..servers).rev().collect(),
            queues: vec![VecDeque::new(); usize::from(priorities.max(1))],
            waiting: 0,
            inside: Level::default(),
            busy: Level::default(),
            arrived: 0,
            ended: 0,
            stayed: 0,
            arrivals_inside: 0,
            served: 0,
            begun: 0,
        }
    }

    /// A job asks for service; the start if it begins at once. Whoever it interrupts loses its ticket.
    #[inline]
    pub fn arrive(&mut self, now: Time, job: J, service: Time, priority: u8) -> Option<Start> {
        self.arrived += 1;
        self.arrivals_inside += u128::from(now);
        self.inside.set(now, self.inside.value() + 1);
        let what = Waiting { job, arrived: now, service, left: service };
        if let Some(server) = self.idle.pop() {
            self.busy.set(now, self.busy.value() + 1);
            return Some(self.begin(now, server, what, priority));
        }
        if self.discipline == Discipline::Preemptive
            && let Some(server) = self.lowest(priority)
        {
            self.interrupt(now, server);
            return Some(self.begin(now, server, what, priority));
        }
        self.queues[usize::from(priority)].push_back(what);
        self.waiting += 1;
        None
    }

    /// The server with the lowest priority below this one; of several, the one that began last.
    fn lowest(&self, priority: u8) -> Option<u32> {
        let serving = self.servers.iter().enumerate().filter_map(|(number, server)| {
            let serving = server.serving.as_ref()?;
            (serving.priority > priority).then_some((serving.priority, serving.since, number as u32))
        });
        serving.max().map(|(_, _, number)| number)
    }

    fn interrupt(&mut self, now: Time, number: u32) {
        let server = &mut self.servers[number as usize];
        if let Some(Serving { mut what, priority, since }) = server.serving.take() {
            server.generation = server.generation.wrapping_add(1);
            what.left -= now - since;
            self.served += u128::from(now - since.max(self.begun));
            self.queues[usize::from(priority)].push_front(what);
            self.waiting += 1;
        }
    }

    fn begin(&mut self, now: Time, number: u32, what: Waiting<J>, priority: u8) -> Start {
        let server = &mut self.servers[number as usize];
        server.serving = Some(Serving { what, priority, since: now });
        Start { end: now + what.left, ticket: Ticket { server: number, generation: server.generation } }
    }

    /// A ticket has come back: the job whose service ends; none when it was interrupted.
    #[inline]
    pub fn end(&mut self, now: Time, ticket: Ticket) -> Option<Ended<J>> {
        let server = &mut self.servers[ticket.server as usize];
        if server.generation != ticket.generation {
            return None;
        }
        let serving = server.serving.take()?;
        server.generation = server.generation.wrapping_add(1);
        self.ended += 1;
        self.served += u128::from(now - serving.since.max(self.begun));
        self.stayed += u128::from(now - serving.what.arrived.max(self.begun));
        self.arrivals_inside -= u128::from(serving.what.arrived.max(self.begun));
        self.inside.set(now, self.inside.value() - 1);
        let next = self.next(now, ticket.server);
        Some(Ended { job: serving.what.job, arrived: serving.what.arrived, service: serving.what.service, next })
    }

    fn next(&mut self, now: Time, server: u32) -> Option<Start> {
        if self.waiting > 0 {
            for priority in 0..self.queues.len() {
                if let Some(what) = self.queues[priority].pop_front() {
                    self.waiting -= 1;
                    return Some(self.begin(now, server, what, priority as u8));
                }
            }
        }
        self.idle.push(server);
        self.busy.set(now, self.busy.value() - 1);
        None
    }

    /// Jobs waiting or being served.
    #[inline]
    pub fn inside(&self) -> u64 {
        self.inside.value()
    }

    /// Jobs waiting.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Number of servers.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Jobs that came and jobs that left since measuring began.
    pub fn counts(&self) -> (u64, u64) {
        (self.arrived, self.ended)
    }

    /// Forgets what was, and measures from now on.
    pub fn measure(&mut self, now: Time) {
        self.inside.begin(now);
        self.busy.begin(now);
        (self.arrived, self.ended, self.stayed, self.served) = (0, 0, 0, 0);
        // Those inside count as if they came now.
        self.arrivals_inside = u128::from(self.inside.value()) * u128::from(now);
        self.begun = now;
    }

    /// Average number inside, and average number of busy servers, since measuring began.
    pub fn averages(&self, now: Time) -> (Option<f64>, Option<f64>) {
        (self.inside.average(now), self.busy.average(now))
    }

    /// Busy seconds of all servers since measuring began.
    pub fn busy_seconds(&self, now: Time) -> f64 {
        self.busy.integral(now)
    }

    /// Little's law and the utilisation law over the time since measuring began; none before any time has passed.
    pub fn laws(&self, now: Time) -> Option<Laws> {
        if now <= self.begun {
            return None;
        }
        let length = seconds(now - self.begun);
        let present = u128::from(self.inside.value()) * u128::from(now) - self.arrivals_inside;
        let serving = self.servers.iter().filter_map(|server| server.serving.as_ref());
        let partly: u128 = serving.map(|serving| u128::from(now - serving.since.max(self.begun))).sum();
        let average = |nanoseconds: u128| nanoseconds as f64 / 1e9 / length;
        Some(Laws {
            inside: (average(self.inside.nanosecond_integral(now)), average(self.stayed + present)),
            busy: (average(self.busy.nanosecond_integral(now)), average(self.served + partly)),
        })
    }
}
