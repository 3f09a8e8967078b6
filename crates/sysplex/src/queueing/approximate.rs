//! Approximate mean value analysis for populations whose states are too many, and for stations that serve by priority: an
//! arrival is taken to see the queue with its own class one short in proportion (Schweitzer, "Approximate analysis of
//! multiclass closed networks of queues", 1979; Bard). A station with several servers counts as one that is as fast as all
//! together, and a delay for the rest of the service (Seidmann, Schweitzer and Shalev-Oren, 1987).

use super::network::{Method, Network, Solution, StationKind};
use super::priority;

/// Largest change of a queue, in transactions of all, at which the iteration ends.
const CLOSE: f64 = 1e-10;
const MOST_ROUNDS: usize = 100_000;

/// Solves the closed classes; `seen` are their demands by station and class as open work leaves them.
pub(super) fn solve(network: &Network, closed: &[usize], seen: &[Vec<f64>]) -> Solution {
    let mut made = Solution::empty(network, Method::Approximate);
    let stations = network.stations.len();
    let by_priority = network.has_priorities();
    for class in 0..network.classes.len() {
        if closed.contains(&class) {
            for number in 0..stations {
                made.queued[number][class] = f64::from(network.population(class)) / stations as f64;
            }
        } else {
            made.throughput[class] = network.rate(class);
        }
    }
    for _ in 0..MOST_ROUNDS {
        let mut moved: f64 = 0.0;
        for &class in closed {
            moved = moved.max(step(network, closed, seen, class, &mut made));
        }
        if by_priority {
            moved = moved.max(step_open(network, closed, &mut made));
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
    let mut queued = vec![0.0; network.stations.len()];
    for (number, station) in network.stations.iter().enumerate() {
        let demand = seen[number][class];
        let (time, waited) = match station.kind {
            StationKind::Delay => (demand, 0.0),
            StationKind::Priority { .. } if network.has_priorities() => {
                priority::residence(network, station, number, class, made)
            }
            StationKind::Queue { .. } | StationKind::Priority { .. } => {
                let servers = station.servers();
                let all: f64 = closed.iter().map(|&other| made.queued[number][other]).sum();
                let others = all - made.queued[number][class] / population;
                let waited = demand / servers * (1.0 + others);
                (waited + demand * (servers - 1.0) / servers, waited)
            }
        };
        made.residence[number][class] = time;
        queued[number] = waited;
        response += time;
    }
    let throughput = population / (response + network.think(class));
    made.response[class] = response;
    made.throughput[class] = throughput;
    let mut moved: f64 = 0.0;
    for (number, waited) in queued.into_iter().enumerate() {
        let queue = throughput * waited;
        moved = moved.max((queue - made.queued[number][class]).abs() / population);
        made.queued[number][class] = queue;
        made.queue[number][class] = throughput * made.residence[number][class];
    }
    moved
}

/// The open classes at stations that serve by priority, which closed ones of lower priority wait for.
fn step_open(network: &Network, closed: &[usize], made: &mut Solution) -> f64 {
    let mut moved: f64 = 0.0;
    for (number, station) in network.stations.iter().enumerate() {
        if !matches!(station.kind, StationKind::Priority { .. }) {
            continue;
        }
        for class in (0..network.classes.len()).filter(|class| !closed.contains(class)) {
            let waited = priority::residence(network, station, number, class, made).1;
            let queue = made.throughput[class] * waited;
            moved = moved.max((queue - made.queued[number][class]).abs() / queue.max(1.0));
            made.queued[number][class] = queue;
        }
    }
    moved
}
