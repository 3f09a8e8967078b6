//! Stations that serve by priority, interrupting lower work.
//!
//! A class takes its demand in so many services, one for each of its visits; of one priority they are served in the order
//! of arrival. Classes up to a priority do not feel those below it: with services of the same mean they are M/M/c by
//! themselves, so the number of those up to a priority, less the number of those before it, is that of the priority
//! itself. That is exact for exponential services of one mean. Where means differ, what a class waits for is divided as
//! at one server (Cobham 1954; Kleinrock, "Queueing Systems", volume 2, 1976): what interrupts it grows with its own
//! service, what it finds there with the services of the others. Ratios of several servers to one are taken to be those
//! without priorities (Bondi and Buzen, "The response times of priority classes under preemptive resume in M/G/m queues",
//! 1984).
//!
//! With closed classes an arrival sees the queues of the classes that go before it, and is slowed down by what comes later
//! and goes before it, too. Users whom it has seen in the queue do not come again meanwhile: the others do (Bryant,
//! Krzesinski, Lakshmi and Chandy, "The MVA priority approximation", 1984, with the utilisation of fewer users taken to be
//! in proportion).

use super::closed_form::erlang_c;
use super::network::{Network, Solution, Station};

/// Share of the servers that work before a class takes at most: what is closed ends, thinks and comes back.
const MOST_TAKEN: f64 = 0.999;
/// Least share of the servers over which the growth of a queue is taken.
const STEP: f64 = 1e-6;

/// What a class meets at a station.
struct Met {
    /// Servers kept busy by classes that go before it, and by those and its equals.
    before: f64,
    with_equals: f64,
    /// Mean service of those and its equals by the work they bring, over its own.
    ratio: f64,
}

fn met(network: &Network, station: &Station, class: usize, throughput: &[f64]) -> Met {
    let priority = network.classes[class].priority;
    let own = service(network, station, class);
    let (mut before, mut with_equals, mut services) = (0.0, 0.0, 0.0);
    for (other, about) in network.classes.iter().enumerate().filter(|(_, about)| about.priority <= priority) {
        let work = throughput[other] * station.demands[other];
        with_equals += work;
        services += work * service(network, station, other);
        if about.priority < priority {
            before += work;
        }
    }
    Met { before, with_equals, ratio: if with_equals > 0.0 && own > 0.0 { services / with_equals / own } else { 1.0 } }
}

fn service(network: &Network, station: &Station, class: usize) -> f64 {
    station.demands[class] / network.classes[class].visits
}

/// Seconds of a class in a station where all that goes before it arrives at random.
pub(super) fn open_residence(network: &Network, station: &Station, class: usize, throughput: &[f64]) -> f64 {
    let (demand, servers) = (station.demands[class], station.servers());
    let Met { before, with_equals, ratio } = met(network, station, class, throughput);
    let (taken, full) = (before / servers, with_equals / servers);
    if with_equals == 0.0 {
        return demand;
    }
    let step = (with_equals - before).max(STEP * servers).min((servers - before) / 2.0);
    let inside = |busy: f64| busy + erlang_c(servers as u32, busy) * busy / (servers - busy);
    let above = (before + step).max(with_equals);
    let alike = (inside(above) - inside(before)) / (above - before) - 1.0;
    let interrupted = taken / (1.0 - taken);
    let found = full / ((1.0 - taken) * (1.0 - full));
    demand * (1.0 + alike * (interrupted + found * ratio) / (interrupted + found))
}

/// Seconds of a class in a station, and those of them that it waits or is served as by one server that is as fast as
/// all together (Seidmann, Schweitzer and Shalev-Oren, 1987); `made` has the queues as they stand.
pub(super) fn residence(
    network: &Network,
    station: &Station,
    number: usize,
    class: usize,
    made: &Solution,
) -> (f64, f64) {
    let about = &network.classes[class];
    let (demand, servers) = (station.demands[class], station.servers());
    if demand == 0.0 {
        return (0.0, 0.0);
    }
    let later = |other: usize| {
        let users = f64::from(network.population(other));
        let absent = if users > 0.0 { 1.0 - made.queued[number][other] / users } else { 1.0 };
        made.throughput[other] * station.demands[other] * absent
    };
    let before = (0..network.classes.len()).filter(|&other| network.classes[other].priority < about.priority);
    let taken = (before.map(later).sum::<f64>() / servers).min(MOST_TAKEN);
    let population = f64::from(network.population(class));
    let own = service(network, station, class);
    let ahead = network.classes.iter().enumerate().filter(|(_, other)| other.priority <= about.priority);
    let found: f64 = ahead
        .map(|(other, _)| {
            // A class that is closed does not meet itself.
            let seen = if other == class && population > 0.0 { 1.0 - 1.0 / population } else { 1.0 };
            seen * made.queued[number][other] * service(network, station, other) / own
        })
        .sum();
    let queued = demand / servers * (1.0 + found) / (1.0 - taken);
    (queued + demand * (servers - 1.0) / servers, queued)
}
