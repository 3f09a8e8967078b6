//! A queueing network event by event: what [`crate::queueing`] answers by formula, for networks beyond the formulas.
//!
//! A transaction visits the stations in their order, and begins again until it has made its visits: each round is the last
//! with the same probability. Users of a closed class think, then start the next.

use crate::kernel::calendar::Calendar;
use crate::kernel::measure::BatchMeans;
use crate::kernel::random::{Length, Stream};
use crate::kernel::servers::{Discipline, Servers, Start, Ticket};
use crate::kernel::watch::Watch;
use crate::kernel::{Time, nanoseconds, seconds};
use crate::queueing::{Load, Network, NetworkError, StationKind};

pub use crate::kernel::servers::Laws;

/// Longest time that a run, its warm-up or a slice may have, in seconds.
pub const LONGEST: f64 = 1e8;
/// Shortest run or slice, in seconds.
pub const SHORTEST: f64 = 1e-6;

/// Events between two looks at the watch: less than a millisecond.
const PATIENCE: u32 = 1 << 12;

/// How long to run, and how services are distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The same seed gives the same run.
    pub seed: u64,
    /// Seconds before anything is measured.
    pub warm_up: f64,
    /// Seconds measured.
    pub seconds: f64,
    /// Whether every service takes its mean; exponential otherwise.
    pub constant: bool,
}

/// A mean with half its 95 % confidence interval, where there are values enough for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// Half of the interval.
    pub half_width: Option<f64>,
}

impl Estimate {
    fn of(values: &BatchMeans) -> Option<Self> {
        Some(Self { mean: values.mean()?, half_width: values.half_width() })
    }
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Run {
    /// Events.
    pub events: u64,
    /// Transactions of each class that ended while it was measured.
    pub ended: Vec<u64>,
    /// Seconds measured.
    pub seconds: f64,
    /// Response time of each class; none where no transaction ended.
    pub response: Vec<Option<Estimate>>,
    /// Busy share of the servers of each station; busy servers of a delay.
    pub utilisation: Vec<f64>,
    /// The laws at each station that has queues.
    pub laws: Vec<Option<Laws>>,
}

#[derive(Clone, Copy)]
enum Event {
    /// A transaction arrives from outside.
    Arrive(u32),
    /// A user has thought.
    Begin(u32),
    /// A service of a station comes to its end.
    Served(u32, Ticket),
    /// A delay is over.
    Passed(u32),
}

#[derive(Clone, Copy)]
struct Transaction {
    class: u32,
    station: u32,
    begun: Time,
    /// Service still to be had at the station after the slice that it waits for or has.
    left: Time,
}

struct Simulation<'a> {
    network: &'a Network,
    constant: bool,
    slice: Time,
    calendar: Calendar<Event>,
    stations: Vec<Servers<u32>>,
    delayed: Vec<f64>,
    transactions: Vec<Transaction>,
    free: Vec<u32>,
    chance: Stream,
    arrivals: Vec<Stream>,
    response: Vec<BatchMeans>,
    ended: Vec<u64>,
}

/// Runs a network.
///
/// # Errors
/// A number that means nothing. Saturation is no error here: queues then grow as long as the run lasts.
pub fn run(network: &Network, settings: &Settings) -> Result<Run, NetworkError> {
    run_in_slices(network, settings, None)
}

/// As [`run`], but a service longer than a slice goes back to the end of its queue after each slice (round robin), so that
/// equals share the servers as the formulas have it. Slices are in seconds; none serves every job to its end.
///
/// # Errors
/// As for [`run`].
pub fn run_in_slices(network: &Network, settings: &Settings, slice: Option<f64>) -> Result<Run, NetworkError> {
    run_watched(network, settings, slice, &Watch::default())
}

/// As [`run_in_slices`], watched by somebody who may end it: what was measured until then is then given, and means
/// nothing.
///
/// # Errors
/// As for [`run`].
pub fn run_watched(
    network: &Network,
    settings: &Settings,
    slice: Option<f64>,
    watch: &Watch,
) -> Result<Run, NetworkError> {
    network.check()?;
    let mut simulation = Simulation::new(network, settings, slice.map_or(Time::MAX, nanoseconds).max(1));
    simulation.start();
    let warm = nanoseconds(settings.warm_up);
    let end = warm + nanoseconds(settings.seconds);
    simulation.until(warm, watch);
    simulation.measure(warm);
    simulation.until(end, watch);
    Ok(simulation.result(end, settings.seconds))
}

impl<'a> Simulation<'a> {
    fn new(network: &'a Network, settings: &Settings, slice: Time) -> Self {
        let classes = network.classes.len();
        let lowest = network.classes.iter().map(|class| class.priority).max().unwrap_or(0);
        let stations = network.stations.iter().map(|station| {
            let (priorities, discipline) = match station.kind {
                StationKind::Priority { .. } => (lowest as u8 + 1, Discipline::Preemptive),
                _ => (1, Discipline::Patient),
            };
            Servers::new(station.servers() as u32, priorities, discipline)
        });
        let streams = network.classes.iter().map(|class| Stream::new(settings.seed, &class.name));
        Self {
            network,
            constant: settings.constant,
            slice,
            calendar: Calendar::new(),
            stations: stations.collect(),
            delayed: vec![0.0; network.stations.len()],
            transactions: Vec::new(),
            free: Vec::new(),
            chance: Stream::new(settings.seed, "service times"),
            arrivals: streams.collect(),
            response: vec![BatchMeans::new(); classes],
            ended: vec![0; classes],
        }
    }

    fn start(&mut self) {
        for (number, class) in self.network.classes.iter().enumerate() {
            match class.load {
                Load::Open { rate } if rate > 0.0 => self.next_arrival(number as u32),
                Load::Open { .. } => {}
                Load::Closed { population, think } => {
                    for _ in 0..population {
                        let delay = self.arrivals[number].exponential(think);
                        self.calendar.after(delay, Event::Begin(number as u32));
                    }
                }
            }
        }
    }

    fn next_arrival(&mut self, class: u32) {
        if let Load::Open { rate } = self.network.classes[class as usize].load {
            let delay = self.arrivals[class as usize].exponential(1.0 / rate);
            self.calendar.after(delay, Event::Arrive(class));
        }
    }

    fn until(&mut self, end: Time, watch: &Watch) {
        let mut left = PATIENCE;
        while let Some(event) = self.calendar.next_until(end) {
            left -= 1;
            if left == 0 {
                left = PATIENCE;
                watch.reach(self.calendar.now());
                if watch.is_ended() {
                    return;
                }
            }
            match event {
                Event::Arrive(class) => {
                    self.next_arrival(class);
                    self.begin(class);
                }
                Event::Begin(class) => self.begin(class),
                Event::Passed(transaction) => self.go_on(transaction),
                Event::Served(station, ticket) => {
                    let now = self.calendar.now();
                    if let Some(ended) = self.stations[station as usize].end(now, ticket) {
                        self.await_end(station, ended.next);
                        self.after_slice(ended.job);
                    }
                }
            }
        }
    }

    fn begin(&mut self, class: u32) {
        let made = Transaction { class, station: 0, begun: self.calendar.now(), left: 0 };
        let number = match self.free.pop() {
            Some(number) => {
                self.transactions[number as usize] = made;
                number
            }
            None => {
                self.transactions.push(made);
                self.transactions.len() as u32 - 1
            }
        };
        self.visit(number);
    }

    /// The station where the transaction stands now.
    fn visit(&mut self, number: u32) {
        let Transaction { class, station, begun, .. } = self.transactions[number as usize];
        let visits = self.network.classes[class as usize].visits;
        let Some(about) = self.network.stations.get(station as usize) else {
            // Rounds in which nothing takes time would never end.
            let works = || self.network.stations.iter().any(|about| about.demands[class as usize] > 0.0);
            if visits > 1.0 && works() && self.chance.unit() >= 1.0 / visits {
                self.transactions[number as usize].station = 0;
                self.visit(number);
            } else {
                self.finish(number, class, begun);
            }
            return;
        };
        let demand = about.demands[class as usize] / visits;
        if demand == 0.0 {
            self.go_on(number);
            return;
        }
        let length =
            if self.constant { Length::Constant { mean: demand } } else { Length::Exponential { mean: demand } };
        let service = self.chance.time(&length);
        match about.kind {
            StationKind::Delay => {
                self.delayed[station as usize] += seconds(service);
                self.calendar.after(service, Event::Passed(number));
            }
            _ => {
                self.transactions[number as usize].left = service;
                self.queue(number);
            }
        }
    }

    /// The next slice of the service at the station where the transaction stands.
    fn queue(&mut self, number: u32) {
        let Transaction { class, station, left, .. } = self.transactions[number as usize];
        let service = left.min(self.slice);
        self.transactions[number as usize].left = left - service;
        let priority = match self.network.stations[station as usize].kind {
            StationKind::Priority { .. } => self.network.classes[class as usize].priority as u8,
            _ => 0,
        };
        let start = self.stations[station as usize].arrive(self.calendar.now(), number, service, priority);
        self.await_end(station, start);
    }

    fn after_slice(&mut self, number: u32) {
        if self.transactions[number as usize].left > 0 {
            self.queue(number);
        } else {
            self.go_on(number);
        }
    }

    fn await_end(&mut self, station: u32, start: Option<Start>) {
        if let Some(Start { end, ticket }) = start {
            self.calendar.at(end, Event::Served(station, ticket));
        }
    }

    fn go_on(&mut self, number: u32) {
        self.transactions[number as usize].station += 1;
        self.visit(number);
    }

    fn finish(&mut self, number: u32, class: u32, begun: Time) {
        self.free.push(number);
        let at = class as usize;
        self.response[at].add(seconds(self.calendar.now() - begun));
        self.ended[at] += 1;
        if let Load::Closed { think, .. } = self.network.classes[at].load {
            let delay = self.arrivals[at].exponential(think);
            self.calendar.after(delay, Event::Begin(class));
        }
    }

    fn measure(&mut self, now: Time) {
        self.stations.iter_mut().for_each(|station| station.measure(now));
        self.delayed.fill(0.0);
        self.response.fill(BatchMeans::new());
        self.ended.fill(0);
    }

    fn result(self, end: Time, seconds: f64) -> Run {
        let stations = self.network.stations.iter().zip(&self.stations).zip(&self.delayed);
        let (utilisation, laws) = stations
            .map(|((about, servers), delayed)| match about.kind {
                StationKind::Delay => (delayed / seconds, None),
                _ => (servers.averages(end).1.unwrap_or(0.0) / servers.servers() as f64, servers.laws(end)),
            })
            .unzip();
        Run {
            events: self.calendar.entered(),
            ended: self.ended,
            seconds,
            response: self.response.iter().map(Estimate::of).collect(),
            utilisation,
            laws,
        }
    }
}
