//! Approximate mean value analysis for populations whose states are too many: an arrival is taken to see the queue with
//! its own class one short in proportion (Schweitzer, "Approximate analysis of multiclass closed networks of queues",
//! 1979; Bard). A station with several servers counts as one that is as fast as all together, and a delay for the rest
//! of the service (Seidmann, Schweitzer and Shalev-Oren, 1987). A class sees a station with priorities slowed down by what
//! goes before it, and only its own equals in the queue (shadow server, Sevcik 1977).

use super::network::{Method, Network, Solution, Station, StationKind};

/// Largest change of a queue, in transactions of all, at which the iteration ends.
const CLOSE: f64 = 1e-10;
const MOST_ROUNDS: usize = 100_000;
const MOST_TAKEN: f64 = 0.999;

/// Solves the closed classes; `seen` are their demands by station and class as open work leaves them.
pub(super) fn solve(network: &Network, closed: &[usize], seen: &[Vec<f64>]) -> Solution {
    let mut made = Solution::empty(network, Method::Approximate);
    let stations = network.stations.len();
    for &class in closed {
        for number in 0..stations {
            made.queue[number][class] = f64::from(network.population(class)) / stations as f64;
        }
    }
    for _ in 0..MOST_ROUNDS {
        let mut moved: f64 = 0.0;
        for &class in closed {
            moved = moved.max(step(network, closed, seen, class, &mut made));
        }
        if moved < CLOSE {
            break;
        }
    }
    made
}

/// One class against the queues as they stand; the largest change of its queues.
fn step(network: &Network, closed: &[usize], seen: &[Vec<f64>], class: usize, made: &mut Solution) -> f64 {
    let population = f64::from(network.population(class));
    if population == 0.0 {
        return 0.0;
    }
    let mut response = 0.0;
    for (number, station) in network.stations.iter().enumerate() {
        let demand = seen[number][class];
        let time = if station.is_queue() {
            let servers = station.servers();
            let demand = demand / (1.0 - before(network, closed, station, class, made));
            let equals = closed.iter().filter(|&&other| is_equal(network, station, class, other));
            let all: f64 = equals.map(|&other| made.queue[number][other]).sum();
            let others = all - made.queue[number][class] / population;
            demand / servers * (1.0 + others) + demand * (servers - 1.0) / servers
        } else {
            demand
        };
        made.residence[number][class] = time;
        response += time;
    }
    let total = response + network.think(class);
    made.response[class] = response;
    made.throughput[class] = population / total;
    let mut moved: f64 = 0.0;
    for number in 0..network.stations.len() {
        let queue = made.throughput[class] * made.residence[number][class];
        moved = moved.max((queue - made.queue[number][class]).abs() / population);
        made.queue[number][class] = queue;
    }
    moved
}

/// Share of the servers that closed classes of a lower number keep busy at a station with priorities.
fn before(network: &Network, closed: &[usize], station: &Station, class: usize, made: &Solution) -> f64 {
    if !matches!(station.kind, StationKind::Priority { .. }) {
        return 0.0;
    }
    let priority = network.classes[class].priority;
    let first = closed.iter().filter(|&&other| network.classes[other].priority < priority);
    let work: f64 = first.map(|&other| made.throughput[other] * station.demands[other]).sum();
    // Where those before it leave nothing, a class does not stop for good: they finish, think, and come back.
    (work / station.servers()).min(MOST_TAKEN)
}

fn is_equal(network: &Network, station: &Station, class: usize, other: usize) -> bool {
    !matches!(station.kind, StationKind::Priority { .. })
        || network.classes[class].priority == network.classes[other].priority
}
