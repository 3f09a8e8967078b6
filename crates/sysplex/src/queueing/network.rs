//! What a network is, and what solving it gives.

use thiserror::Error;

/// How a station serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StationKind {
    /// A queue before servers that share the work; all classes alike.
    Queue {
        /// Number of servers.
        servers: u32,
    },
    /// As [`StationKind::Queue`], but classes of a lower priority number go first and interrupt the others.
    Priority {
        /// Number of servers.
        servers: u32,
    },
    /// Time passes without waiting for anyone else.
    Delay,
}

/// A place where transactions spend time.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Name.
    pub name: String,
    /// How it serves.
    pub kind: StationKind,
    /// Seconds of service that a transaction of each class asks for in all its visits.
    pub demands: Vec<f64>,
}

impl Station {
    /// Servers; one for a delay, where it does not matter.
    pub fn servers(&self) -> f64 {
        match self.kind {
            StationKind::Queue { servers } | StationKind::Priority { servers } => f64::from(servers),
            StationKind::Delay => 1.0,
        }
    }

    pub(super) fn is_queue(&self) -> bool {
        self.kind != StationKind::Delay
    }
}

/// Where the transactions of a class come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// So many users, each of whom thinks so many seconds between transactions.
    Closed {
        /// Users.
        population: u32,
        /// Seconds of thought.
        think: f64,
    },
    /// Arrivals at random.
    Open {
        /// Transactions a second.
        rate: f64,
    },
}

/// A class of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name.
    pub name: String,
    /// Load.
    pub load: Load,
    /// Lower numbers are served first at stations with priorities.
    pub priority: u32,
    /// Mean visits to each station, among which its demands are divided; 1 or more. It matters where stations serve by
    /// priority: what takes an engine for long keeps others from it for long.
    pub visits: f64,
}

/// Stations and classes; demands of a station are in the order of the classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Stations.
    pub stations: Vec<Station>,
    /// Classes.
    pub classes: Vec<Class>,
}

/// A network that cannot be solved.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NetworkError {
    /// A station whose demands are not those of the classes.
    #[error("station {station} has {found} demands for {expected} classes; give one for each class")]
    Demands {
        /// The station.
        station: String,
        /// Its demands.
        found: usize,
        /// Classes.
        expected: usize,
    },
    /// A number that means nothing.
    #[error("{what} of {name} is {found}; give {allowed}")]
    Value {
        /// Station or class.
        name: String,
        /// Which number.
        what: &'static str,
        /// What was given.
        found: f64,
        /// What may be.
        allowed: &'static str,
    },
    /// Open work beyond what a station can do.
    #[error("open work keeps station {station} busy {percent:.1} % of its servers; lower the rate or add servers")]
    Saturated {
        /// The station.
        station: String,
        /// Utilisation asked for, in per cent of all servers.
        percent: f64,
    },
}

impl Network {
    /// Checks that every number has a meaning.
    pub fn check(&self) -> Result<(), NetworkError> {
        let wrong =
            |name: &str, what, found, allowed| Err(NetworkError::Value { name: name.to_owned(), what, found, allowed });
        for (number, class) in self.classes.iter().enumerate() {
            let demand: f64 = self.stations.iter().filter_map(|station| station.demands.get(number)).sum();
            match class.load {
                Load::Closed { think, .. } if !(think >= 0.0 && think.is_finite()) => {
                    return wrong(&class.name, "think time", think, "seconds, 0 or more");
                }
                Load::Closed { think: 0.0, population } if population > 0 && demand == 0.0 => {
                    return wrong(&class.name, "service demand with think time", 0.0, "more than 0 seconds of either");
                }
                Load::Open { rate } if !(rate >= 0.0 && rate.is_finite()) => {
                    return wrong(&class.name, "arrival rate", rate, "transactions a second, 0 or more");
                }
                _ => {}
            }
            if !(class.visits >= 1.0 && class.visits.is_finite()) {
                return wrong(&class.name, "number of visits", class.visits, "1 or more");
            }
        }
        for station in &self.stations {
            let (found, expected) = (station.demands.len(), self.classes.len());
            if found != expected {
                return Err(NetworkError::Demands { station: station.name.clone(), found, expected });
            }
            if station.servers() < 1.0 {
                return wrong(&station.name, "number of servers", station.servers(), "1 or more");
            }
            if let Some(&demand) = station.demands.iter().find(|demand| !(**demand >= 0.0 && demand.is_finite())) {
                return wrong(&station.name, "service demand", demand, "seconds, 0 or more");
            }
        }
        Ok(())
    }

    /// Numbers of the closed classes.
    pub(super) fn closed_classes(&self) -> Vec<usize> {
        let closed = |class: &Class| matches!(class.load, Load::Closed { .. });
        (0..self.classes.len()).filter(|&number| closed(&self.classes[number])).collect()
    }

    /// Population vectors up to the full one: states of the exact recursion.
    pub(super) fn states(&self, closed: &[usize]) -> usize {
        let sizes = closed.iter().map(|&class| self.population(class) as usize + 1);
        sizes.fold(1, |product, size| product.saturating_mul(size))
    }

    pub(super) fn population(&self, class: usize) -> u32 {
        match self.classes[class].load {
            Load::Closed { population, .. } => population,
            Load::Open { .. } => 0,
        }
    }

    pub(super) fn think(&self, class: usize) -> f64 {
        match self.classes[class].load {
            Load::Closed { think, .. } => think,
            Load::Open { .. } => 0.0,
        }
    }

    /// Arrivals of a class a second; zero for closed ones.
    pub(super) fn rate(&self, class: usize) -> f64 {
        match self.classes[class].load {
            Load::Open { rate } => rate,
            Load::Closed { .. } => 0.0,
        }
    }

    pub(super) fn is_mixed(&self) -> bool {
        let closed = self.closed_classes().len();
        closed > 0 && closed < self.classes.len()
    }

    pub(super) fn has_several_servers(&self) -> bool {
        self.stations.iter().any(|station| station.is_queue() && station.servers() > 1.0)
    }

    /// Whether it matters at some station that it serves by priority: priorities or services differ.
    pub(super) fn has_priorities(&self) -> bool {
        let classes = || self.classes.iter().enumerate();
        let different = self.classes.windows(2).any(|pair| pair[0].priority != pair[1].priority);
        let uneven = |station: &Station| {
            let mut services = classes()
                .filter(|&(number, _)| station.demands[number] > 0.0)
                .map(|(number, class)| station.demands[number] / class.visits);
            let first = services.next();
            services.any(|one| first.is_some_and(|first| (one / first - 1.0).abs() > 1e-9))
        };
        let by_priority = |station: &&Station| matches!(station.kind, StationKind::Priority { .. });
        self.stations.iter().filter(by_priority).any(|station| different || uneven(station))
    }
}

/// How a solution was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By formulas that hold exactly for networks with a product form.
    Exact,
    /// By an approximation.
    Approximate,
}

/// Throughputs, times and queues of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// How it was found.
    pub method: Method,
    /// Transactions a second of each class.
    pub throughput: Vec<f64>,
    /// Seconds in the stations of each class, think time left out.
    pub response: Vec<f64>,
    /// Seconds in each station, waiting and being served, by station and class.
    pub residence: Vec<Vec<f64>>,
    /// Transactions in each station, by station and class.
    pub queue: Vec<Vec<f64>>,
    /// Those of them that wait or are served as by one server that is as fast as all of the station; what approximations
    /// go on from.
    pub(super) queued: Vec<Vec<f64>>,
    /// Busy share of the servers of each station; busy servers of a delay.
    pub utilisation: Vec<f64>,
}

impl Solution {
    pub(super) fn empty(network: &Network, method: Method) -> Self {
        let (stations, classes) = (network.stations.len(), network.classes.len());
        Self {
            method,
            throughput: vec![0.0; classes],
            response: vec![0.0; classes],
            residence: vec![vec![0.0; classes]; stations],
            queue: vec![vec![0.0; classes]; stations],
            queued: vec![vec![0.0; classes]; stations],
            utilisation: vec![0.0; stations],
        }
    }
}
