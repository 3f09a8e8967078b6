//! Mean value analysis against the sum over all states of a product-form network, and against its own approximation.

use plexlens_sysplex::queueing::closed_form::{interactive_throughput, mmc_response, preemptive_mm1_response};
use plexlens_sysplex::queueing::{Class, Load, Method, Network, NetworkError, Station, StationKind, solve};
use proptest::prelude::*;

fn closed(population: u32, think: f64) -> Class {
    Class { name: "closed".into(), load: Load::Closed { population, think }, priority: 0, visits: 1.0 }
}

fn open(rate: f64) -> Class {
    Class { name: "open".into(), load: Load::Open { rate }, priority: 0, visits: 1.0 }
}

fn station(kind: StationKind, demands: &[f64]) -> Station {
    Station { name: "station".into(), kind, demands: demands.to_vec() }
}

/// Weight of a state of one station with the product form (Baskett, Chandy, Muntz and Palacios, 1975).
fn weight(kind: StationKind, demands: &[f64], counts: &[u32]) -> f64 {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let classes: f64 = demands.iter().zip(counts).map(|(demand, &n)| demand.powi(n as i32) / factorial(n)).product();
    let all: u32 = counts.iter().sum();
    match kind {
        StationKind::Delay => classes,
        StationKind::Queue { servers } | StationKind::Priority { servers } => {
            let rates: f64 = (1..=all).map(|n| f64::from(n.min(servers))).product();
            classes * factorial(all) / rates
        }
    }
}

/// Sum of the weights of all ways in which the populations can be spread over the stations.
fn constant(stations: &[(StationKind, Vec<f64>)], population: &[u32]) -> f64 {
    let Some(((kind, demands), others)) = stations.split_first() else {
        return if population.iter().all(|&n| n == 0) { 1.0 } else { 0.0 };
    };
    let mut sum = 0.0;
    let mut here = vec![0u32; population.len()];
    loop {
        let rest: Vec<u32> = population.iter().zip(&here).map(|(all, here)| all - here).collect();
        sum += weight(*kind, demands, &here) * constant(others, &rest);
        let Some(class) = (0..here.len()).find(|&class| here[class] < population[class]) else { return sum };
        here[..class].fill(0);
        here[class] += 1;
    }
}

/// Throughput of a class: the sum with one transaction less over the sum with all.
fn throughput(network: &Network, class: usize) -> f64 {
    let (mut population, mut thinking) = (Vec::new(), Vec::new());
    for class in &network.classes {
        if let Load::Closed { population: count, think } = class.load {
            population.push(count);
            thinking.push(think);
        }
    }
    let mut stations: Vec<_> = network.stations.iter().map(|one| (one.kind, one.demands.clone())).collect();
    stations.push((StationKind::Delay, thinking));
    let whole = constant(&stations, &population);
    population[class] -= 1;
    constant(&stations, &population) / whole
}

fn kind() -> impl Strategy<Value = StationKind> {
    prop_oneof![
        3 => Just(StationKind::Queue { servers: 1 }),
        3 => (2u32..5).prop_map(|servers| StationKind::Queue { servers }),
        1 => Just(StationKind::Delay),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn throughput_is_that_of_the_sum_over_all_states(
        kinds in prop::collection::vec(kind(), 1..4),
        demands in prop::collection::vec(0.01..2.0, 6),
        loads in prop::collection::vec((1u32..5, 0.0..5.0), 1..3),
    ) {
        let classes: Vec<Class> = loads.iter().map(|&(population, think)| closed(population, think)).collect();
        let count = classes.len();
        let stations = kinds.iter().enumerate().map(|(number, &kind)| station(kind, &demands[number * 2..][..count]));
        let network = Network { stations: stations.collect(), classes };
        let solution = solve(&network).unwrap();
        prop_assert_eq!(solution.method, Method::Exact);
        for class in 0..count {
            let expected = throughput(&network, class);
            prop_assert!((solution.throughput[class] / expected - 1.0).abs() < 1e-9, "{solution:?} {expected}");
            // Little's law over the whole network.
            let inside: f64 = solution.queue.iter().map(|queue| queue[class]).sum();
            let (population, think) = loads[class];
            prop_assert!((inside + solution.throughput[class] * think - f64::from(population)).abs() < 1e-9);
        }
        let mut stations = network.stations.iter().zip(&solution.utilisation);
        let possible = stations.all(|(station, &busy)| station.kind == StationKind::Delay || busy <= 1.0 + 1e-9);
        prop_assert!(possible);
    }
}

#[test]
fn the_machine_repair_model_is_exact() {
    for (users, servers) in [(3, 1), (40, 4), (90, 10)] {
        let network = Network {
            stations: vec![station(StationKind::Queue { servers }, &[0.7])],
            classes: vec![closed(users, 5.0)],
        };
        let expected = interactive_throughput(users, 5.0, 0.7, servers);
        let found = solve(&network).unwrap().throughput[0];
        assert!((found / expected - 1.0).abs() < 1e-9, "{users} users, {servers} servers: {found}, {expected}");
    }
}

#[test]
fn users_who_never_think_keep_the_servers_busy() {
    let stations = vec![
        station(StationKind::Queue { servers: 3 }, &[0.6, 0.0]),
        station(StationKind::Queue { servers: 2 }, &[0.0, 0.5]),
    ];
    let solution = solve(&Network { stations, classes: vec![closed(5, 0.0), closed(1, 0.0)] }).unwrap();
    assert!((solution.throughput[0] - 5.0).abs() < 1e-9, "{solution:?}");
    assert!((solution.throughput[1] - 2.0).abs() < 1e-9, "{solution:?}");
    assert!((solution.utilisation[0] - 1.0).abs() < 1e-9 && (solution.utilisation[1] - 0.5).abs() < 1e-9);
}

#[test]
fn a_balanced_network_by_hand() {
    // Three stations of one second, two users, no thought: an arrival sees 1/3 of the other user at each station, so a
    // station takes 4/3 s, a round 4 s, and throughput is 1/2.
    let stations = vec![station(StationKind::Queue { servers: 1 }, &[1.0]); 3];
    let solution = solve(&Network { stations, classes: vec![closed(2, 0.0)] }).unwrap();
    assert!((solution.response[0] - 4.0).abs() < 1e-12);
    assert!((solution.throughput[0] - 0.5).abs() < 1e-12);
    assert!((solution.utilisation[0] - 0.5).abs() < 1e-12);
}

#[test]
fn open_work_of_one_class_is_a_row_of_queues() {
    let stations = vec![
        station(StationKind::Queue { servers: 1 }, &[0.02]),
        station(StationKind::Queue { servers: 2 }, &[0.05]),
        station(StationKind::Delay, &[0.3]),
    ];
    let solution = solve(&Network { stations, classes: vec![open(30.0)] }).unwrap();
    // 0.02 / (1 - 0.6) + 0.05 / (1 - 0.75^2) + 0.3
    assert!((solution.response[0] - (0.05 + 0.05 / 0.4375 + 0.3)).abs() < 1e-12);
    assert_eq!(solution.utilisation, vec![0.6, 0.75, 9.0]);
}

#[test]
fn the_approximation_is_near_where_both_can_be_had() {
    // Two classes of 700 have 491,401 states, twice for the station with several servers; those of 1500 are too many.
    let network = |population| Network {
        stations: vec![
            station(StationKind::Queue { servers: 1 }, &[0.010, 0.020]),
            station(StationKind::Queue { servers: 4 }, &[0.050, 0.030]),
        ],
        classes: vec![closed(population, 10.0), closed(population, 30.0)],
    };
    let (exact, near) = (solve(&network(700)).unwrap(), solve(&network(1500)).unwrap());
    assert_eq!((exact.method, near.method), (Method::Exact, Method::Approximate));
    // Both are beyond what the first station can do: it is busy all the time, and the rest of the time is thought.
    assert!((near.utilisation[0] - 1.0).abs() < 0.01, "{near:?}");
    for class in 0..2 {
        let think = [10.0, 30.0][class];
        let cycle = 1500.0 / near.throughput[class];
        assert!((near.response[class] + think - cycle).abs() < 1e-6);
    }
    assert!(exact.utilisation[0] > 0.9);
}

#[test]
fn priority_shields_the_first_class() {
    let kind = StationKind::Priority { servers: 1 };
    let mut first = closed(5, 4.0);
    let mut last = closed(5, 4.0);
    (first.priority, last.priority) = (0, 3);
    let alone = solve(&Network { stations: vec![station(kind, &[0.5])], classes: vec![first.clone()] }).unwrap();
    let both = solve(&Network { stations: vec![station(kind, &[0.5, 0.5])], classes: vec![first, last] }).unwrap();
    assert_eq!(both.method, Method::Approximate);
    assert!((both.response[0] / alone.response[0] - 1.0).abs() < 0.08, "{both:?} {alone:?}");
    assert!(both.response[1] > 1.5 * both.response[0]);
}

/// Response times of two closed classes that think and come to servers where the first interrupts the second, by the
/// balance of all states: the probability flow into each is that out of it.
fn balanced(users: [u32; 2], think: f64, services: [f64; 2], servers: u32) -> [f64; 2] {
    let states: Vec<[u32; 2]> = (0..=users[0]).flat_map(|n| (0..=users[1]).map(move |m| [n, m])).collect();
    let at = |state: [u32; 2]| (state[0] * (users[1] + 1) + state[1]) as usize;
    let rates = |state: [u32; 2]| {
        let served = [state[0].min(servers), state[1].min(servers - state[0].min(servers))];
        let mut made = Vec::new();
        for class in 0..2 {
            let (mut more, mut fewer) = (state, state);
            if state[class] < users[class] {
                more[class] += 1;
                made.push((more, f64::from(users[class] - state[class]) / think));
            }
            if served[class] > 0 {
                fewer[class] -= 1;
                made.push((fewer, f64::from(served[class]) / services[class]));
            }
        }
        made
    };
    let mut chance = vec![1.0 / states.len() as f64; states.len()];
    // Steps short against every rate; long enough a walk settles.
    let step = 0.2 / states.iter().map(|&one| rates(one).iter().map(|(_, rate)| rate).sum::<f64>()).fold(0.0, f64::max);
    for _ in 0..20_000 {
        let mut next = chance.clone();
        for &state in &states {
            for (to, rate) in rates(state) {
                let flow = chance[at(state)] * rate * step;
                next[at(state)] -= flow;
                next[at(to)] += flow;
            }
        }
        chance = next;
    }
    [0, 1].map(|class| {
        let inside: f64 = states.iter().map(|&state| chance[at(state)] * f64::from(state[class])).sum();
        // Little's law over the whole round.
        inside * think / (f64::from(users[class]) - inside)
    })
}

#[test]
fn priorities_of_closed_classes_are_near_the_balance_of_all_states() {
    // Where nobody has priority the walk has to give what the exact analysis gives.
    let kind = StationKind::Queue { servers: 2 };
    let plain = Network { stations: vec![station(kind, &[0.5, 0.0])], classes: vec![closed(6, 4.0), closed(1, 1.0)] };
    let alone = balanced([6, 0], 4.0, [0.5, 1.0], 2)[0];
    assert!((solve(&plain).unwrap().response[0] / alone - 1.0).abs() < 1e-6, "{alone}");
    for (users, think, services, servers) in [
        ([3, 3], 4.0, [1.0, 1.0], 1),
        ([5, 5], 4.0, [0.2, 0.5], 1),
        ([5, 5], 4.0, [0.5, 0.2], 1),
        ([8, 4], 5.0, [0.5, 1.0], 1),
        ([8, 8], 4.0, [0.6, 0.6], 3),
        ([10, 6], 4.0, [0.5, 1.0], 4),
    ] {
        let (mut first, mut last) = (closed(users[0], think), closed(users[1], think));
        (first.priority, last.priority) = (0, 3);
        let stations = vec![station(StationKind::Priority { servers }, &services)];
        let found = solve(&Network { stations, classes: vec![first, last] }).unwrap();
        assert_eq!(found.method, Method::Approximate);
        let expected = balanced(users, think, services, servers);
        for (class, (found, expected)) in found.response.iter().zip(expected).enumerate() {
            let error = found / expected - 1.0;
            assert!(
                error.abs() < if servers == 1 { 0.17 } else { 0.27 },
                "{users:?} {services:?} {servers}: class {class} {error:+.3}"
            );
        }
    }
}

#[test]
fn priorities_of_open_classes_are_the_closed_forms() {
    let by_priority = |servers, demands: &[f64], rates: &[f64]| {
        let classes = rates.iter().enumerate().map(|(priority, &rate)| {
            let mut class = open(rate);
            class.priority = priority as u32;
            class
        });
        let stations = vec![station(StationKind::Priority { servers }, demands)];
        solve(&Network { stations, classes: classes.collect() }).unwrap().response
    };
    // One server: whatever the services.
    let found = by_priority(1, &[0.5, 0.4, 1.0], &[0.6, 0.5, 0.3]);
    for (found, expected) in found.iter().zip(preemptive_mm1_response(&[(0.6, 0.5), (0.5, 0.4), (0.3, 1.0)])) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
    }
    // Three servers, services alike: numbers inside are differences of M/M/3.
    let found = by_priority(3, &[1.0, 1.0], &[1.2, 1.5]);
    let both = 2.7 * mmc_response(2.7, 1.0, 3);
    let first = 1.2 * mmc_response(1.2, 1.0, 3);
    assert!((found[0] - first / 1.2).abs() < 1e-9 && (found[1] - (both - first) / 1.5).abs() < 1e-9, "{found:?}");
    // A class that is next to nothing meets what one more would.
    let more = 1.2001 * mmc_response(1.2001, 1.0, 3);
    let found = by_priority(3, &[1.0, 1.0], &[1.2, 1e-9]);
    assert!((found[1] / ((more - first) / 1e-4) - 1.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn visits_say_how_long_a_class_keeps_the_server() {
    // Ten services of 0.05 s below two of 0.2 s: ten times the response of a single one, interrupted and delayed by 0.2 s.
    let (mut first, mut last) = (open(1.0), open(0.6));
    (first.priority, first.visits, last.priority, last.visits) = (0, 2.0, 1, 10.0);
    let stations = vec![station(StationKind::Priority { servers: 1 }, &[0.4, 0.5])];
    let found = solve(&Network { stations, classes: vec![first, last] }).unwrap().response;
    let expected = preemptive_mm1_response(&[(2.0, 0.2), (6.0, 0.05)]);
    assert!((found[0] - 2.0 * expected[0]).abs() < 1e-9 && (found[1] - 10.0 * expected[1]).abs() < 1e-9, "{found:?}");
}

#[test]
fn open_work_below_closed_work_waits_for_it() {
    // Two users who hardly think keep a third of the server; the rest is for what comes from outside.
    let mut last = open(0.5);
    last.priority = 1;
    let stations = vec![station(StationKind::Priority { servers: 1 }, &[0.5, 0.6])];
    let found = solve(&Network { stations, classes: vec![closed(2, 2.5), last] }).unwrap();
    let shield = interactive_throughput(2, 2.5, 0.5, 1);
    assert!((found.throughput[0] / shield - 1.0).abs() < 0.02, "{found:?}");
    // Between what it would be without them, and what it would be if they came at random.
    let random = preemptive_mm1_response(&[(shield, 0.5), (0.5, 0.6)])[1];
    assert!(found.response[1] > 0.6 / (1.0 - 0.3) && found.response[1] < 1.02 * random, "{found:?} {random}");
}

#[test]
fn what_cannot_be_is_said_with_its_place() {
    let one = |demand, class: Class| Network {
        stations: vec![Station { name: "CPU".into(), kind: StationKind::Queue { servers: 2 }, demands: vec![demand] }],
        classes: vec![class],
    };
    assert_eq!(
        solve(&one(0.5, open(4.4))).unwrap_err().to_string(),
        "open work keeps station CPU busy 110.0 % of its servers; lower the rate or add servers"
    );
    assert_eq!(
        solve(&one(-1.0, open(1.0))).unwrap_err().to_string(),
        "service demand of CPU is -1; give seconds, 0 or more"
    );
    assert_eq!(
        solve(&one(1.0, open(f64::NAN))).unwrap_err().to_string(),
        "arrival rate of open is NaN; give transactions a second, 0 or more"
    );
    assert!(matches!(
        solve(&Network { stations: vec![station(StationKind::Delay, &[])], classes: vec![open(1.0)] }),
        Err(NetworkError::Demands { found: 0, expected: 1, .. })
    ));
    assert_eq!(
        solve(&one(0.0, closed(1, 0.0))).unwrap_err().to_string(),
        "service demand with think time of closed is 0; give more than 0 seconds of either"
    );
    // Nothing to do is no error.
    assert!(solve(&Network::default()).unwrap().response.is_empty());
    assert_eq!(solve(&one(0.5, closed(0, 1.0))).unwrap().throughput, vec![0.0]);
}
