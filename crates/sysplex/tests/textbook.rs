//! Worked examples of the textbooks: the answers that they print, to the digits that they print.
//!
//! - Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984.
//! - Bolch, Greiner, de Meer and Trivedi, "Queueing Networks and Markov Chains", 1998.
//! - Jain, "The Art of Computer Systems Performance Analysis", 1991.
//! - Schwetman, "Implementing the Mean Value Algorithm for the Solution of Queueing Network Models", Purdue University
//!   CSD-TR-355, 1982, and "Testing Network-of-Queues Software", CSD-TR-330, 1980.
//!
//! Numbers and pages as public test suites and course notes quote them.

use plexlens_sysplex::queueing::{
    Class, Load, Method, Network, Solution, Station, StationKind, solve, solve_approximately,
};

const ONE: StationKind = StationKind::Queue { servers: 1 };

fn closed(population: u32, think: f64) -> Class {
    Class { name: "closed".into(), load: Load::Closed { population, think }, priority: 0, visits: 1.0 }
}

fn open(rate: f64) -> Class {
    Class { name: "open".into(), load: Load::Open { rate }, priority: 0, visits: 1.0 }
}

fn network(stations: &[(StationKind, &[f64])], classes: Vec<Class>) -> Network {
    let stations =
        stations.iter().map(|&(kind, demands)| Station { name: "centre".into(), kind, demands: demands.to_vec() });
    Network { stations: stations.collect(), classes }
}

fn exactly(network: &Network) -> Solution {
    let found = solve(network).unwrap();
    assert_eq!(found.method, Method::Exact);
    found
}

/// Whether a number is the printed one, which is off by half of its last digit at most.
#[track_caller]
fn prints(found: f64, printed: &str) {
    let digits = printed.split_once('.').map_or(0, |(_, rest)| rest.len());
    let expected: f64 = printed.parse().unwrap();
    // Tables round the numbers that they go on from, too: one unit of the last digit.
    assert!((found - expected).abs() <= 1.05 * 10f64.powi(-(digits as i32)), "{found} is not {printed}");
}

#[track_caller]
fn all_print(found: &[f64], printed: &[&str]) {
    assert_eq!(found.len(), printed.len());
    found.iter().zip(printed).for_each(|(&found, printed)| prints(found, printed));
}

fn queues(found: &Solution, class: usize) -> Vec<f64> {
    found.queue.iter().map(|queue| queue[class]).collect()
}

fn times(found: &Solution, class: usize) -> Vec<f64> {
    found.residence.iter().map(|times| times[class]).collect()
}

/// Chapter 6: a processor (121 visits of 0.005 s) and two disks (70 of 0.030 s, 50 of 0.027 s).
const DEMANDS: [f64; 3] = [0.605, 2.1, 1.35];

fn three_centres(class: Class) -> Network {
    network(&DEMANDS.each_ref().map(|demand| (ONE, std::slice::from_ref(demand))), vec![class])
}

#[test]
fn lazowska_chapter_6_open_model() {
    // Page 113: 0.3 jobs a second keep the processor busy 18.2 %, with a queue of 0.222.
    let found = exactly(&three_centres(open(0.3)));
    prints(found.utilisation[0], "0.182");
    prints(found.queue[0][0], "0.222");
}

#[test]
fn lazowska_chapter_6_three_users() {
    // Page 117: 3 users who think 15 s.
    let found = exactly(&three_centres(closed(3, 15.0)));
    all_print(&queues(&found, 0), &["0.0976", "0.3947", "0.2350"]);
    prints(found.throughput[0], "0.152");
}

#[test]
fn lazowska_chapter_6_three_users_approximately() {
    // The same model by the approximation.
    let found = solve_approximately(&three_centres(closed(3, 15.0))).unwrap();
    assert_eq!(found.method, Method::Approximate);
    all_print(&queues(&found, 0), &["0.0973", "0.4021", "0.2359"]);
    prints(found.throughput[0], "0.1510");
    prints(found.response[0], "4.87");
}

/// Chapter 7: processor and disk, classes A and B.
fn two_classes(classes: [Class; 2]) -> Network {
    network(&[(ONE, &[1.0, 2.0]), (ONE, &[3.0, 4.0])], classes.to_vec())
}

#[test]
fn lazowska_chapter_7_open_model() {
    // Page 138: 3/19 and 2/19 a second. A's utilisation of the processor is 0.158 and its queue there 0.25,
    // its times 1.58 and 28.5 s.
    let found = exactly(&two_classes([open(3.0 / 19.0), open(2.0 / 19.0)]));
    prints(found.throughput[0], "0.158");
    prints(found.queue[0][0], "0.25");
    all_print(&times(&found, 0), &["1.58", "28.5"]);
}

#[test]
fn lazowska_chapter_7_exact_and_approximate() {
    // Page 142: one customer of each class. Queues of A 4/19 and 15/19, of B 5/19 and 14/19; times of A 4/3
    // and 5, of B 5/2 and 7; throughputs 3/19 and 2/19.
    let found = exactly(&two_classes([closed(1, 0.0), closed(1, 0.0)]));
    let expected = [
        (queues(&found, 0), [4.0 / 19.0, 15.0 / 19.0]),
        (queues(&found, 1), [5.0 / 19.0, 14.0 / 19.0]),
        (times(&found, 0), [4.0 / 3.0, 5.0]),
        (times(&found, 1), [2.5, 7.0]),
        (found.throughput.clone(), [3.0 / 19.0, 2.0 / 19.0]),
    ];
    for (found, expected) in expected {
        assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{found:?}");
    }
    // The same by the approximation.
    let near = solve_approximately(&two_classes([closed(1, 0.0), closed(1, 0.0)])).unwrap();
    all_print(&queues(&near, 0), &["0.192", "0.808"]);
    all_print(&queues(&near, 1), &["0.248", "0.752"]);
    all_print(&near.throughput, &["0.154", "0.104"]);
}

#[test]
fn lazowska_chapter_7_mixed_model() {
    // Page 148: open classes take half of each centre, so the closed ones see the model before.
    let stations: [(StationKind, &[f64]); 2] =
        [(ONE, &[0.25, 0.5, 0.5, 1.0]), (ONE, &[1.0 / 6.0, 1.0, 1.0, 4.0 / 3.0])];
    let found = exactly(&network(&stations, vec![open(1.0), open(0.5), closed(1, 0.0), closed(1, 0.0)]));
    let expected = [[4.0 / 19.0, 15.0 / 19.0], [5.0 / 19.0, 14.0 / 19.0]];
    for (class, expected) in [2, 3].into_iter().zip(expected) {
        for (found, expected) in queues(&found, class).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }
}

#[test]
fn bolch_central_server() {
    // Example 8.3, page 331: six jobs, a processor and three others.
    let demands = [0.02, 0.08, 0.08, 0.06];
    let stations = demands.each_ref().map(|demand| (ONE, std::slice::from_ref(demand)));
    let found = exactly(&network(&stations, vec![closed(6, 0.0)]));
    all_print(&queues(&found, 0), &["0.244", "2.261", "2.261", "1.234"]);
    all_print(&found.utilisation, &["0.198", "0.794", "0.794", "0.595"]);
    prints(found.throughput[0], "9.920");
}

#[test]
fn bolch_several_servers_and_terminals() {
    // Example 8.4, page 333: two servers, two single ones, terminals; three jobs.
    let two = StationKind::Queue { servers: 2 };
    let stations: [(StationKind, &[f64]); 4] =
        [(two, &[0.5]), (ONE, &[0.3]), (ONE, &[0.4]), (StationKind::Delay, &[1.0])];
    let found = exactly(&network(&stations, vec![closed(3, 0.0)]));
    all_print(&queues(&found, 0), &["0.624", "0.473", "0.686", "1.217"]);
    prints(found.throughput[0], "1.218");
}

#[test]
fn bolch_two_classes_and_two_servers() {
    // Page 337: two jobs of the first class and one of the second.
    let two = StationKind::Queue { servers: 2 };
    let stations: [(StationKind, &[f64]); 3] =
        [(two, &[0.2, 0.2]), (ONE, &[0.24, 0.18]), (StationKind::Delay, &[0.4, 1.4])];
    let found = exactly(&network(&stations, vec![closed(2, 0.0), closed(1, 0.0)]));
    all_print(&queues(&found, 0), &["0.428", "0.726", "0.845"]);
    all_print(&queues(&found, 1), &["0.108", "0.158", "0.734"]);
    all_print(&found.throughput, &["2.113", "0.524"]);
}

#[test]
fn bolch_mixed_network() {
    // Example 8.6, page 345: two open classes at 0.5 and 0.25 a second, two closed ones of one job each.
    let stations: [(StationKind, &[f64]); 2] = [(ONE, &[0.8, 2.0, 0.3, 0.5]), (ONE, &[0.6, 2.4, 0.25, 0.32])];
    let found = exactly(&network(&stations, vec![open(0.5), open(0.25), closed(1, 0.0), closed(1, 0.0)]));
    all_print(&queues(&found, 2), &["0.582", "0.418"]);
    all_print(&queues(&found, 3), &["0.624", "0.376"]);
    all_print(&[found.throughput[2], found.throughput[3]], &["0.120", "0.081"]);
    // Times at a visit: 2 and 1 visits of the first class, 2.5 and 1.5 of the second.
    all_print(&[found.residence[0][0] / 2.0, found.residence[1][0]], &["8.822", "10.766"]);
    all_print(&[found.residence[0][1] / 2.5, found.residence[1][1] / 1.5], &["17.645", "28.710"]);
}

#[test]
fn jain_timesharing_system() {
    // Page 577: 20 users who think 4 s; a processor (16 visits of 0.125 s) and disks A (10 of 0.3 s) and B
    // (5 of 0.2 s). Times at a visit, and queues.
    let demands = [2.0, 3.0, 1.0];
    let stations = demands.each_ref().map(|demand| (ONE, std::slice::from_ref(demand)));
    let found = exactly(&network(&stations, vec![closed(20, 4.0)]));
    let visits: Vec<f64> = times(&found, 0).iter().zip([16.0, 10.0, 5.0]).map(|(time, visits)| time / visits).collect();
    all_print(&visits, &["0.373", "4.854", "0.300"]);
    all_print(&queues(&found, 0), &["1.991", "16.177", "0.500"]);
}

#[test]
fn jain_convolution_example() {
    // Chapter 35, the example of convolution: 3 users who think 4.68 s, demands 0.78, 2.34 and 1.56 s; throughput 0.264, response 6.694,
    // utilisations 0.206, 0.618 and 0.412.
    let demands = [0.78, 2.34, 1.56];
    let stations = demands.each_ref().map(|demand| (ONE, std::slice::from_ref(demand)));
    let found = exactly(&network(&stations, vec![closed(3, 4.68)]));
    prints(found.throughput[0], "0.264");
    prints(found.response[0], "6.694");
    all_print(&found.utilisation, &["0.206", "0.618", "0.412"]);
}

#[test]
fn schwetman_terminals_of_two_kinds() {
    // CSD-TR-355, Table 3, page 22: 2 users who think 1 s and ask for 0.025 s, 1 who thinks 15 s and asks for 0.5 s.
    let model = |first, second| network(&[(ONE, &[0.025, 0.5])], vec![closed(first, 1.0), closed(second, 15.0)]);
    let found = exactly(&model(2, 1));
    all_print(&found.response, &["0.027", "0.525"]);
    all_print(&found.throughput, &["1.949", "0.064"]);
    // Table 5, page 23, and CSD-TR-330, example 5(b), page 7: 15 and 5 users.
    let found = exactly(&model(15, 5));
    all_print(&found.response, &["0.047", "0.934"]);
    all_print(&found.throughput, &["14.3", "0.314"]);
    all_print(&found.queue[0], &["0.677", "0.293"]);
}

#[test]
fn schwetman_mixed_network() {
    // CSD-TR-355, figure 10, page 26: one open request a second beside three in a loop.
    let found = exactly(&network(&[(ONE, &[0.25, 0.25]), (ONE, &[0.0, 0.10])], vec![open(1.0), closed(3, 0.0)]));
    all_print(&[found.residence[0][0], found.residence[0][1], found.residence[1][1]], &["1.201", "0.885", "0.135"]);
}
