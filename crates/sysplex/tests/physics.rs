//! Stations with a known answer, simulated: the answer lies within the confidence interval, and the laws of queueing hold.

use plexlens_sysplex::network_run::{Estimate, Run, Settings, run, run_in_slices};
use plexlens_sysplex::queueing::closed_form::{
    interactive_throughput, mg1_response, mmc_response, preemptive_mm1_response,
};
use plexlens_sysplex::queueing::{Class, Load, Network, Station, StationKind, solve};

const LONG: Settings = Settings { seed: 11, warm_up: 2_000.0, seconds: 500_000.0, constant: false };

fn open(name: &str, rate: f64, priority: u32) -> Class {
    Class { name: name.into(), load: Load::Open { rate }, priority, visits: 1.0 }
}

fn closed(name: &str, population: u32, think: f64) -> Class {
    Class { name: name.into(), load: Load::Closed { population, think }, priority: 0, visits: 1.0 }
}

fn station(kind: StationKind, demands: &[f64]) -> Station {
    Station { name: format!("{kind:?}"), kind, demands: demands.to_vec() }
}

fn queue(servers: u32, demands: &[f64]) -> Station {
    station(StationKind::Queue { servers }, demands)
}

/// Half as much again as the 95 % interval: of true statements one in three hundred would fail, and the seeds are fixed.
fn agrees(found: Option<Estimate>, expected: f64) {
    let found = found.unwrap();
    let width = found.half_width.unwrap();
    assert!((found.mean - expected).abs() < 1.5 * width, "{found:?} is not {expected}");
    // An interval that holds everything would show nothing.
    assert!(width < 0.05 * expected, "{found:?} is too wide");
}

fn lawful(run: &Run) {
    for laws in run.laws.iter().flatten() {
        assert!(laws.hold(), "{laws:?}");
    }
}

#[test]
fn one_server_and_exponential_service() {
    let network = Network { stations: vec![queue(1, &[0.8])], classes: vec![open("all", 1.0, 0)] };
    let run = run(&network, &LONG).unwrap();
    agrees(run.response[0], mmc_response(1.0, 0.8, 1));
    assert!((run.utilisation[0] - 0.8).abs() < 0.01);
    lawful(&run);
}

#[test]
fn several_servers() {
    for servers in [2, 5, 10] {
        let service = 0.8 * f64::from(servers);
        let network = Network { stations: vec![queue(servers, &[service])], classes: vec![open("all", 1.0, 0)] };
        let run = run(&network, &LONG).unwrap();
        agrees(run.response[0], mmc_response(1.0, service, servers));
        lawful(&run);
    }
}

#[test]
fn constant_service() {
    let network = Network { stations: vec![queue(1, &[0.8])], classes: vec![open("all", 1.0, 0)] };
    let run = run(&network, &Settings { constant: true, ..LONG }).unwrap();
    agrees(run.response[0], mg1_response(1.0, 0.8, 0.0));
    lawful(&run);
}

#[test]
fn work_of_higher_priority_interrupts() {
    let station = station(StationKind::Priority { servers: 1 }, &[0.5, 0.4, 1.0]);
    let classes = vec![open("first", 0.6, 0), open("second", 0.5, 1), open("third", 0.3, 2)];
    let run = run(&Network { stations: vec![station], classes }, &LONG).unwrap();
    let expected = preemptive_mm1_response(&[(0.6, 0.5), (0.5, 0.4), (0.3, 1.0)]);
    for (found, expected) in run.response.iter().zip(expected) {
        agrees(*found, expected);
    }
    lawful(&run);
}

#[test]
fn priorities_at_several_servers() {
    // Services of one mean: exact. Visits that come back at random keep it so; the class below is far from what a
    // slower station for it alone would give (2.03 s).
    for visits in [1.0, 5.0] {
        let stations =
            vec![station(StationKind::Priority { servers: 3 }, &[1.0, 1.0]), station(StationKind::Delay, &[2.0, 2.0])];
        let mut classes = vec![open("first", 1.4, 0), open("second", 1.2, 1)];
        classes.iter_mut().for_each(|class| class.visits = visits);
        let network = Network { stations, classes };
        let run = run(&network, &Settings { seconds: 100_000.0, ..LONG }).unwrap();
        for (found, expected) in run.response.iter().zip(solve(&network).unwrap().response) {
            let found = found.unwrap();
            // What comes back is not quite at random.
            assert!((found.mean / expected - 1.0).abs() < 0.05, "{visits}: {found:?} is not {expected}");
        }
        lawful(&run);
    }
}

#[test]
fn services_of_unequal_length_by_priority() {
    // Bondi and Buzen's ratio is an approximation.
    for (demands, rates) in [([0.5, 2.0], [3.0, 0.6]), ([2.0, 0.5], [0.8, 2.6])] {
        let stations = vec![station(StationKind::Priority { servers: 4 }, &demands)];
        let network = Network { stations, classes: vec![open("first", rates[0], 0), open("second", rates[1], 1)] };
        let run = run(&network, &LONG).unwrap();
        for (found, expected) in run.response.iter().zip(solve(&network).unwrap().response) {
            assert!((expected / found.unwrap().mean - 1.0).abs() < 0.10, "{demands:?}: {found:?} is not {expected}");
        }
    }
}

#[test]
fn users_who_think_between_transactions() {
    for (users, servers) in [(5, 1), (20, 1), (30, 4)] {
        let network = Network { stations: vec![queue(servers, &[1.0])], classes: vec![closed("users", users, 12.0)] };
        let run = run(&network, &LONG).unwrap();
        let throughput = interactive_throughput(users, 12.0, 1.0, servers);
        let found = run.ended[0] as f64 / run.seconds;
        // The number of ends varies about as that of random arrivals.
        assert!((found - throughput).abs() < 4.0 * (throughput / run.seconds).sqrt(), "{found} is not {throughput}");
        agrees(run.response[0], f64::from(users) / throughput - 12.0);
        lawful(&run);
    }
}

#[test]
fn a_mixed_network_is_what_mean_value_analysis_says() {
    // One server each and the same service for all classes: a product form, so the analysis is exact.
    let stations = vec![
        queue(1, &[0.03, 0.03, 0.03]),
        queue(1, &[0.05, 0.05, 0.05]),
        station(StationKind::Delay, &[0.4, 0.0, 0.2]),
    ];
    let classes = vec![closed("terminals", 12, 1.0), closed("batch", 2, 0.1), open("web", 3.0, 0)];
    let network = Network { stations, classes };
    let solution = solve(&network).unwrap();
    let run = run(&network, &LONG).unwrap();
    for class in 0..3 {
        agrees(run.response[class], solution.response[class]);
        let found = run.ended[class] as f64 / run.seconds;
        assert!((found / solution.throughput[class] - 1.0).abs() < 0.01, "class {class}: {found}");
    }
    for station in 0..2 {
        assert!((run.utilisation[station] - solution.utilisation[station]).abs() < 0.005);
    }
    lawful(&run);
}

#[test]
fn a_seed_is_a_run() {
    let network = Network { stations: vec![queue(2, &[1.5])], classes: vec![open("all", 1.0, 0)] };
    let short = Settings { seconds: 2_000.0, ..LONG };
    let first = run(&network, &short).unwrap();
    assert_eq!(first.response, run(&network, &short).unwrap().response);
    assert_ne!(first.response, run(&network, &Settings { seed: 12, ..short }).unwrap().response);
}

#[test]
fn slices_share_a_server_among_unequal_classes() {
    // Processor sharing: every class waits in proportion to its own service, s / (1 - rho), whatever the others ask for.
    // Without slices the short ones would wait as long as the long ones: here (0.2 x 0.5^2 + 0.02 x 20^2) / 0.5 = 16 s.
    let classes = vec![open("short", 0.2, 0), open("long", 0.02, 0)];
    let network = Network { stations: vec![queue(1, &[0.5, 20.0])], classes };
    let run = run_in_slices(&network, &LONG, Some(0.05)).unwrap();
    agrees(run.response[0], 0.5 / 0.5);
    agrees(run.response[1], 20.0 / 0.5);
    lawful(&run);
}
