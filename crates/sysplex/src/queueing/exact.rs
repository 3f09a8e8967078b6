//! Mean value analysis, exact for closed networks with a product form (Reiser and Lavenberg, "Mean-value analysis of
//! closed multichain queuing networks", 1980), several servers by the probabilities of how many of them are busy.
//!
//! The probability that none is busy would follow from the others by subtraction, which leaves nothing but rounding near
//! saturation. It is taken instead from the throughput of the network without the station (Reiser, "Mean-value analysis
//! and convolution method for queue-dependent servers in closed queueing networks", 1981): the network is solved for
//! every subset of its stations with several servers.

use super::network::{Method, Network, Solution};

/// Stations with several servers above which there would be too many subsets of them.
pub(super) const MOST_SHARED: usize = 6;

/// Numbers of the stations with several servers.
pub(super) fn shared_stations(network: &Network) -> Vec<usize> {
    let shared = |number: &usize| {
        let station = &network.stations[*number];
        station.is_queue() && station.servers() > 1.0
    };
    (0..network.stations.len()).filter(shared).collect()
}

/// Solves the closed classes; `seen` are their demands by station and class as open work leaves them.
pub(super) fn solve(network: &Network, closed: &[usize], seen: &[Vec<f64>]) -> Solution {
    let shared = shared_stations(network);
    let subsets = 1usize << shared.len();
    let mut throughputs: Vec<Vec<f64>> = vec![Vec::new(); subsets];
    // A subset comes after all those that leave out more.
    for left_out in (1..subsets).rev() {
        let recursion = Recursion::new(network, closed, seen, &shared, left_out);
        throughputs[left_out] = recursion.run(&throughputs).1;
    }
    Recursion::new(network, closed, seen, &shared, 0).run(&throughputs).0
}

struct Recursion<'a> {
    network: &'a Network,
    closed: &'a [usize],
    seen: &'a [Vec<f64>],
    /// Stations with several servers, and those of them that are left out, as bits.
    shared: &'a [usize],
    left_out: usize,
    /// Steps between populations that differ by one of a class.
    strides: Vec<usize>,
    /// Queue of each station at each population.
    queues: Vec<f64>,
    /// Where the probabilities of each station begin within those of a population, and how many it has.
    slots: Vec<(usize, usize)>,
    slot_count: usize,
    /// Probability of 0, 1, ... busy servers of the stations with several, at each population.
    busy: Vec<f64>,
}

impl<'a> Recursion<'a> {
    fn new(
        network: &'a Network,
        closed: &'a [usize],
        seen: &'a [Vec<f64>],
        shared: &'a [usize],
        left_out: usize,
    ) -> Self {
        let mut strides = Vec::new();
        let mut states = 1;
        for &class in closed {
            strides.push(states);
            states *= network.population(class) as usize + 1;
        }
        let mut slots = vec![(0, 0); network.stations.len()];
        let mut slot_count = 0;
        for (bit, &station) in shared.iter().enumerate() {
            if left_out >> bit & 1 == 0 {
                let count = network.stations[station].servers() as usize;
                slots[station] = (slot_count, count);
                slot_count += count;
            }
        }
        let queues = vec![0.0; states * network.stations.len()];
        let mut busy = vec![0.0; states * slot_count];
        for &(from, count) in &slots {
            if count > 0 {
                busy[from] = 1.0;
            }
        }
        Self { network, closed, seen, shared, left_out, strides, queues, slots, slot_count, busy }
    }

    /// The solution, and the throughput of every class at each population.
    fn run(mut self, throughputs: &[Vec<f64>]) -> (Solution, Vec<f64>) {
        let classes = self.closed.len();
        let mut population = vec![0u32; classes];
        let mut throughput = vec![0.0; classes];
        let mut residence = vec![vec![0.0; classes]; self.network.stations.len()];
        let states = self.network.states(self.closed);
        let mut all = vec![0.0; states * classes];
        for state in 1..states {
            let mut rest = state;
            for (index, &class) in self.closed.iter().enumerate() {
                let size = self.network.population(class) as usize + 1;
                population[index] = (rest % size) as u32;
                rest /= size;
            }
            self.step(state, &population, &mut throughput, &mut residence);
            all[state * classes..][..classes].copy_from_slice(&throughput);
            for (bit, &station) in self.shared.iter().enumerate() {
                if self.left_out >> bit & 1 == 0 {
                    let without = &throughputs[self.left_out | 1 << bit][state * classes..][..classes];
                    self.spread(station, state, &population, &throughput, without);
                }
            }
        }
        (self.solution(&throughput, &residence), all)
    }

    /// One population, from those with one transaction less.
    fn step(&mut self, state: usize, population: &[u32], throughput: &mut [f64], residence: &mut [Vec<f64>]) {
        let stations = self.network.stations.len();
        for (index, &class) in self.closed.iter().enumerate() {
            throughput[index] = 0.0;
            residence.iter_mut().for_each(|times| times[index] = 0.0);
            if population[index] == 0 {
                continue;
            }
            let before = state - self.strides[index];
            let mut total = self.network.think(class);
            for (number, station) in self.network.stations.iter().enumerate() {
                let demand = self.seen[number][class];
                let time = if self.is_left_out(number) {
                    0.0
                } else if station.is_queue() {
                    let idle = self.idle_weight(number, before);
                    demand / station.servers() * (1.0 + self.queues[before * stations + number] + idle)
                } else {
                    demand
                };
                residence[number][index] = time;
                total += time;
            }
            throughput[index] = f64::from(population[index]) / total;
        }
        for (number, times) in residence.iter().enumerate() {
            // A class that has nothing to do in what is left of the network goes round it infinitely often.
            let present = times.iter().zip(throughput.iter()).filter(|&(&time, _)| time > 0.0);
            self.queues[state * stations + number] = present.map(|(time, rate)| time * rate).sum();
        }
    }

    fn is_left_out(&self, station: usize) -> bool {
        self.shared.iter().position(|&one| one == station).is_some_and(|bit| self.left_out >> bit & 1 == 1)
    }

    /// What idle servers take off the wait: the sum of (servers - 1 - busy) x probability.
    fn idle_weight(&self, station: usize, state: usize) -> f64 {
        let (from, count) = self.slots[station];
        let at = state * self.slot_count + from;
        (0..count.saturating_sub(1)).map(|busy| (count - 1 - busy) as f64 * self.busy[at + busy]).sum()
    }

    /// Probabilities of busy servers at a population; `without` is the throughput without the station.
    fn spread(&mut self, station: usize, state: usize, population: &[u32], throughput: &[f64], without: &[f64]) {
        let (from, count) = self.slots[station];
        let at = state * self.slot_count + from;
        self.busy[at] = 1.0;
        for (index, &class) in self.closed.iter().enumerate() {
            let demand = self.seen[station][class];
            if population[index] == 0 || demand == 0.0 {
                continue;
            }
            let rate = demand * throughput[index];
            let before = (state - self.strides[index]) * self.slot_count + from;
            for busy in 1..count {
                self.busy[at + busy] += rate * self.busy[before + busy - 1] / busy as f64;
            }
            // Whichever class comes here says the same.
            self.busy[at] = self.busy[before] * throughput[index] / without[index];
        }
    }

    fn solution(&self, throughput: &[f64], residence: &[Vec<f64>]) -> Solution {
        let mut made = Solution::empty(self.network, Method::Exact);
        for (index, &class) in self.closed.iter().enumerate() {
            if self.network.population(class) == 0 {
                continue;
            }
            made.throughput[class] = throughput[index];
            for (number, times) in residence.iter().enumerate() {
                made.residence[number][class] = times[index];
                made.queue[number][class] = throughput[index] * times[index];
                made.response[class] += times[index];
            }
        }
        made
    }
}
