//! Service times as distributed, rates over the day, and processor time that no transaction asks for, each against its
//! closed form.

use plexlens_sysplex::group::measured::Results;
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(value: &Value) -> Results {
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    Simulation::new(&scenario).run()
}

/// Distributions with their squared coefficients of variation: 0, 1, 1/k, what is asked for, and for one of 1 and three
/// of 5 (mean 4, variance 3) 3/16.
fn distributions() -> [(Value, f64); 5] {
    [
        (json!({"kind": "constant"}), 0.0),
        (json!({"kind": "exponential"}), 1.0),
        (json!({"kind": "erlang", "stages": 4}), 0.25),
        (json!({"kind": "hyperexponential", "variation": 2.0}), 4.0),
        (json!({"kind": "empirical", "values": [1.0, 5.0], "shares": [1.0, 3.0]}), 3.0 / 16.0),
    ]
}

/// Mean wait of M/G/1 by Pollaczek and Khinchine.
fn pollaczek_khinchine(rate: f64, mean: f64, square: f64) -> f64 {
    rate * mean * mean * (1.0 + square) / 2.0 / (1.0 - rate * mean)
}

/// One region on one machine of four engines, no Db2: a queue for the QR TCB.
fn region_alone(rate: f64, cpu: f64) -> Value {
    json!({
        "run": {"seed": 3, "warm_up": 100.0, "seconds": 20_000.0, "interval": 20_000.0},
        "cec": [{"name": "C1", "engines": 4}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "region": [{"name": "AOR1", "system": "SYS1"}],
        "class": [{"name": "TRAN", "rate": rate, "regions": ["AOR1"], "cpu": cpu}],
    })
}

/// One member alone, whose transactions use next to no processor time.
fn member_alone(class: Value) -> Value {
    let mut value = json!({
        "run": {"seed": 3, "warm_up": 10.0, "seconds": 2000.0, "interval": 2000.0, "preload": false},
        "cec": [{"name": "C1", "engines": 16}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1", "threads": 2000}],
            "pool": [{"number": 1, "size": 1000}],
            "page_set": [{"name": "TS", "pool": 1, "pages": 100_000_000u64}],
            "lock_avoidance": 1.0,
            "path": {"getpage_us": 0.0, "lock_us": 0.0, "read_us": 0.0, "update_us": 0.0, "commit_us": 0.0, "write_us": 0.0},
        }],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1", "threads": 2000}],
    });
    value["class"] = json!([class]);
    value
}

#[test]
fn waits_for_a_region_are_those_of_pollaczek_and_khinchine() {
    let (rate, cpu) = (70.0, 0.01);
    for (distribution, square) in distributions() {
        let mut value = region_alone(rate, cpu);
        value["class"][0]["cpu_distribution"] = distribution.clone();
        let results = run(&value);
        let found = &results.responses[0];
        let expected = pollaczek_khinchine(rate, cpu, square) + cpu;
        // Three half-widths are six standard errors; and these are small enough to tell the distributions apart.
        let (mean, half) = (found.mean.unwrap(), found.half_width.unwrap());
        assert!((mean - expected).abs() < 3.0 * half, "{distribution}: {mean} {half} {expected}");
        assert!(half < 0.04 * expected, "{distribution}: {half} of {expected}");
    }
}

#[test]
fn waits_for_a_volume_are_those_of_pollaczek_and_khinchine() {
    let (rate, service) = (70.0, 0.01);
    let references = json!([{"page_set": "TS", "getpages": 1.0}]);
    let class = json!({"name": "READ", "rate": rate, "regions": ["AOR1"], "cpu": 0.000_001, "references": references});
    for (distribution, square) in distributions() {
        let mut value = member_alone(class.clone());
        value["dasd"] = json!({
            "volumes": 1, "parallel": 1, "cache_hits": 1.0, "hit_time": service, "miss_time": service,
            "distribution": distribution,
        });
        let results = run(&value);
        let used = &results.intervals[0].systems[0].volumes[0];
        let (wait, mean) = (used.queued / used.requests as f64, used.service / used.requests as f64);
        // 140,000 requests; at 70 % busy the relaxation time of the queue is some 60 services for the most variable one.
        let expected = pollaczek_khinchine(rate, service, square);
        assert!((mean / service - 1.0).abs() < 5.0 * (square / 140_000.0).sqrt() + 1e-6, "{distribution}: {mean}");
        assert!((wait / expected - 1.0).abs() < 0.03 + 0.04 * square, "{distribution}: {wait} {expected}");
    }
}

#[test]
fn log_writes_vary_as_they_are_told_to() {
    // One update every two seconds: each commit has a log write of its own, and waits for nothing else.
    let references = json!([{"page_set": "TS", "getpages": 1.0, "update": 1.0}]);
    let class = json!({"name": "UPDA", "rate": 0.5, "regions": ["AOR1"], "cpu": 0.000_001, "references": references});
    for (distribution, square) in distributions() {
        let mut value = member_alone(class.clone());
        value["run"] = json!({"seed": 3, "warm_up": 0.0, "seconds": 40_000.0, "interval": 40_000.0, "preload": false});
        value["db2"][0]["log_write"] = json!(0.01);
        value["db2"][0]["log_distribution"] = distribution.clone();
        value["dasd"] = json!({"hit_time": 0.0, "miss_time": 0.0});
        let results = run(&value);
        let response = results.intervals[0].classes[0].systems[0].response;
        let count = response.count as f64;
        let mean = response.seconds / count;
        let variance = response.squares / count - mean * mean;
        // 20,000 commits; the fourth moments of the most variable distribution give its variance within 5 %.
        assert!((mean / 0.01 - 1.0).abs() < 5.0 * (square / count).sqrt() + 0.002, "{distribution}: {mean}");
        assert!((variance / 1e-4 - square).abs() < 0.2 * square + 0.002, "{distribution}: {variance}");
    }
}

/// Two members that share a table, all of it changed by both.
fn pair() -> Value {
    json!({
        "run": {"seed": 5, "warm_up": 5.0, "seconds": 100.0, "interval": 100.0},
        "cec": [{"name": "C1", "engines": 8}, {"name": "C2", "engines": 8}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "coupling_facility": [{"name": "CF1", "engines": 8, "link": 0.0}],
        "coupling": {"lock_us": 40.0, "read_us": 40.0, "page_us": 40.0},
        "db2": [{
            "group": "DSNG",
            "member": [{"name": "DB1", "system": "SYS1"}, {"name": "DB2", "system": "SYS2"}],
            "lock": {"coupling_facility": "CF1", "entries": 1_048_576u64},
            "pool": [{"number": 1, "size": 2000, "group": {"coupling_facility": "CF1", "data_entries": 20_000}}],
            "page_set": [{"name": "TS", "pool": 1, "pages": 100_000}],
        }],
        "region": [
            {"name": "AOR1", "system": "SYS1", "db2": "DSNG"}, {"name": "AOR2", "system": "SYS2", "db2": "DSNG"},
        ],
        "class": [{"name": "UPDA", "rate": 100.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002,
            "references": [{"page_set": "TS", "getpages": 4.0, "update": 0.5}]}],
    })
}

#[test]
fn requests_to_a_coupling_facility_vary_as_they_are_told_to() {
    // Eight engines and no link: a request takes what its engine takes, 40 microseconds on the average.
    for (distribution, square) in distributions() {
        let mut value = pair();
        value["coupling"]["distribution"] = distribution.clone();
        let results = run(&value);
        let locks = results.intervals[0].structures.iter().filter(|one| one.lock);
        let (count, seconds, squares) = locks.fold((0.0, 0.0, 0.0), |(count, seconds, squares), one| {
            let timing = one.synchronous;
            (count + timing.count as f64, seconds + timing.seconds, squares + timing.squares)
        });
        let mean = seconds / count;
        let variance = squares / count - mean * mean;
        assert!(count > 20_000.0, "{count}");
        assert!((mean / 40e-6 - 1.0).abs() < 5.0 * (square / count).sqrt() + 0.003, "{distribution}: {mean}");
        assert!((variance / 1.6e-9 - square).abs() < 0.2 * square + 0.003, "{distribution}: {variance}");
    }
}

#[test]
fn rates_follow_their_profile() {
    let mut value = region_alone(40.0, 0.0001);
    value["run"] = json!({"seed": 9, "warm_up": 50.0, "seconds": 3000.0, "interval": 500.0});
    value["class"][0]["profile"] =
        json!([{"from": 0.0, "factor": 0.5}, {"from": 1000.0, "factor": 2.0}, {"from": 2000.0, "factor": 0.0}]);
    let results = run(&value);
    let ended: Vec<f64> = results.intervals.iter().map(|one| one.classes[0].systems[0].response.count as f64).collect();
    // Poisson counts of 500 s at 20, 80 and 0 a second.
    for (count, mean) in ended.iter().zip([10_000.0, 10_000.0, 40_000.0, 40_000.0, 0.0, 0.0f64]) {
        assert!((count - mean).abs() <= 5.0 * mean.sqrt() + 1.0, "{ended:?}");
    }
}

/// Charged, uncaptured, management and busy seconds of general engines of a system.
fn processor_time(results: &Results) -> [f64; 4] {
    let used = &results.intervals[0].systems[0];
    [used.spaces.iter().map(|space| space.cpu).sum(), used.uncaptured[0], used.management[0], used.busy]
}

#[test]
fn uncaptured_time_and_management_come_on_top() {
    let mut value = region_alone(50.0, 0.004);
    value["run"] = json!({"seed": 9, "warm_up": 10.0, "seconds": 1000.0, "interval": 1000.0});
    value["system"][0]["uncaptured"] = json!(0.25);
    value["system"][0]["lpar_management"] = json!(0.1);
    let results = run(&value);
    let [charged, uncaptured, management, busy] = processor_time(&results);
    let ended = results.responses[0].count as f64;
    assert!((charged - 0.004 * ended).abs() < 0.01, "{charged} {ended}");
    // A quarter of what is charged, and a tenth of both together.
    assert!((uncaptured - 0.25 * charged).abs() < 1e-3 * charged, "{uncaptured} {charged}");
    assert!((management - 0.1 * (charged + uncaptured)).abs() < 1e-3 * charged, "{management}");
    assert!((busy - charged - uncaptured - management).abs() < 0.02, "{busy}");
    // What the transaction itself needs of the engine is longer by as much: M/D/1 of 5.5 ms.
    let service = 0.004 * 1.25 * 1.1;
    let expected = pollaczek_khinchine(50.0, service, 0.0) + service;
    let response = results.responses[0].mean.unwrap();
    assert!((response / expected - 1.0).abs() < 0.02, "{response} {expected}");
}

#[test]
fn each_dispatch_refills_caches() {
    // Of a transaction without Db2 the one burst is dispatched once; one that reads a page is dispatched again after it.
    let mut value = region_alone(50.0, 0.001);
    value["run"] = json!({"seed": 9, "warm_up": 10.0, "seconds": 1000.0, "interval": 1000.0});
    value["system"][0]["dispatch_refill_us"] = json!(30.0);
    let results = run(&value);
    let ended = results.responses[0].count as f64;
    let each = processor_time(&results)[0] / ended;
    assert!((each - 0.00103).abs() < 1e-6, "{each}");

    let references = json!([{"page_set": "TS", "getpages": 1.0}]);
    let class = json!({"name": "READ", "rate": 50.0, "regions": ["AOR1"], "cpu": 0.001, "references": references});
    let mut value = member_alone(class);
    value["system"][0]["dispatch_refill_us"] = json!(30.0);
    value["db2"][0]["path"]["commit_us"] = json!(1.0);
    let results = run(&value);
    // The QR TCB is left and entered by a task that keeps its engine: nothing but the read makes it give it up.
    let ended = results.responses[0].count as f64;
    let each = processor_time(&results)[0] / ended;
    let waits = results.intervals[0].classes[0].systems[0].used["waits_sync_read"] / ended;
    assert!((waits - 1.0).abs() < 0.001, "{waits}");
    // Two dispatches, and now and then one more after a wait for the QR TCB (50 a second of a millisecond, in two parts).
    assert!((0.001_061 - 1e-6..0.001_064).contains(&each), "{each}");
}

#[test]
fn requests_make_other_work_of_the_image_longer() {
    // One class asks coupling facilities, another never does: what refills caches is paid by both, and most of it by the
    // longer bursts of the other. That it is paid once and in full, the test below says.
    let run_with = |refill: f64| {
        let mut value = pair();
        let other = json!({"name": "OTHER", "rate": 100.0, "regions": ["AOR1"], "cpu": 0.005});
        value["class"].as_array_mut().unwrap().push(other);
        value["system"][0]["request_refill_us"] = json!(refill);
        let results = run(&value);
        let about = &results.intervals[0].classes[1].systems[0];
        let count = about.response.count as f64;
        let structures = results.intervals[0].structures.iter().filter(|one| one.system == "SYS1");
        let requests: f64 = structures.map(|one| one.synchronous.count as f64).sum();
        (about.used["region_cpu"] - 0.005 * count, requests)
    };
    let (alone, _) = run_with(0.0);
    assert!(alone.abs() < 1e-3, "{alone}");
    let (paid, requests) = run_with(20.0);
    assert!(paid > 0.5 * requests * 20e-6 && paid < requests * 20e-6, "{paid} {requests}");
}

#[test]
fn each_request_has_the_path_lengths_of_its_kind() {
    let total = |change: &dyn Fn(&mut Value)| {
        let mut value = pair();
        change(&mut value);
        let results = run(&value);
        let interval = &results.intervals[0];
        let requests = |lock: bool| -> f64 {
            let of_kind = interval.structures.iter().filter(|one| one.lock == lock);
            of_kind.map(|one| one.synchronous.count as f64).sum()
        };
        let cpu: f64 = interval.systems.iter().flat_map(|one| &one.spaces).map(|space| space.cpu).sum();
        let spin: f64 = interval.structures.iter().map(|one| one.synchronous.seconds).sum();
        let ended = results.responses[0].count as f64;
        // Without the waits for answers, which differ with what else is asked at the time.
        ((cpu - spin) / ended, requests(true) / ended, requests(false) / ended)
    };
    let (base, _, _) = total(&|_| ());
    for (key, of_lock, of_pool) in
        [("global_lock_us", 50.0, 0.0), ("group_request_us", 0.0, 50.0), ("request_refill_us", 50.0, 50.0)]
    {
        let (more, locks, pools) = total(&|value| {
            if key == "request_refill_us" {
                value["system"][0][key] = json!(50.0);
                value["system"][1][key] = json!(50.0);
            } else {
                value["db2"][0]["path"] = json!({key: 50.0});
            }
        });
        let expected = (locks * of_lock + pools * of_pool) * 1e-6;
        assert!(locks > 3.0 && pools > 3.0, "{locks} {pools}");
        // What the last requests of the run left cold is not paid yet.
        assert!((more - base - expected).abs() < 0.02 * expected, "{key}: {more} {base} {expected}");
    }
}

/// Share of arrivals that go to the first of two images with so many engines each, of exponential services, if the image
/// with fewer transactions for its engines gets each: the Markov chain of their numbers, by repeated multiplication.
/// `tie` is the share of ties that go to the first.
fn routed_to_first(rate: f64, services: f64, engines: [usize; 2], tie: f64) -> f64 {
    const MOST: usize = 48;
    let all = rate + services * (engines[0] + engines[1]) as f64;
    let to_first = |first: usize, second: usize| match (first * engines[1]).cmp(&(second * engines[0])) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => tie,
        std::cmp::Ordering::Greater => 0.0,
    };
    let mut now = vec![0.0; MOST * MOST];
    now[0] = 1.0;
    for _ in 0..4000 {
        let mut next = vec![0.0; MOST * MOST];
        for first in 0..MOST - 1 {
            for second in 0..MOST - 1 {
                let here = now[first * MOST + second];
                let share = to_first(first, second);
                let ends = [first.min(engines[0]), second.min(engines[1])].map(|busy| busy as f64 * services / all);
                next[(first + 1) * MOST + second] += here * share * rate / all;
                next[first * MOST + second + 1] += here * (1.0 - share) * rate / all;
                if first > 0 {
                    next[(first - 1) * MOST + second] += here * ends[0];
                }
                if second > 0 {
                    next[first * MOST + second - 1] += here * ends[1];
                }
                next[first * MOST + second] += here * (1.0 - rate / all - ends[0] - ends[1]);
            }
        }
        now = next;
    }
    let whole: f64 = now.iter().sum();
    (0..MOST * MOST).map(|at| now[at] * to_first(at / MOST, at % MOST)).sum::<f64>() / whole
}

#[test]
fn goal_oriented_routing_is_the_markov_chain_of_two_images() {
    // Two images with two and six logical engines of one machine, so many regions that none is ever asked for twice at a
    // time: 80 % of all engines are busy. Ties go to the region that waited longest, on either image: the share of the
    // first image lies between those of the chains that send all ties to the second and to the first.
    let mut value = region_alone(640.0, 0.01);
    value["run"] = json!({"seed": 3, "warm_up": 20.0, "seconds": 600.0, "interval": 600.0});
    let names = |system: usize| (0..64).map(move |at| format!("A{system}{at:02}"));
    let all: Vec<String> = names(1).chain(names(2)).collect();
    value["cec"] = json!([{"name": "C1", "engines": 8}]);
    value["system"] = json!([{"name": "SYS1", "cec": "C1", "engines": 2}, {"name": "SYS2", "cec": "C1", "engines": 6}]);
    value["region"] = (1..=2)
        .flat_map(|system| names(system).map(move |name| json!({"name": name, "system": format!("SYS{system}")})))
        .collect();
    value["class"][0]["regions"] = json!(all);
    value["class"][0]["cpu_distribution"] = json!({"kind": "exponential"});
    value["cics"] = json!({"routing": "goal_oriented"});
    let results = run(&value);
    let ended: Vec<f64> = results.intervals[0].classes[0].systems.iter().map(|one| one.response.count as f64).collect();
    let share = ended[0] / (ended[0] + ended[1]);
    let (least, most) = (routed_to_first(640.0, 100.0, [2, 6], 0.0), routed_to_first(640.0, 100.0, [2, 6], 1.0));
    assert!(most - least < 0.04, "{least} {most}");
    // Of 384,000 transactions five standard errors of a share are 0.4 %, correlation apart.
    assert!((least - 0.004..most + 0.004).contains(&share), "{share} of {least} to {most}");
    let inside: Vec<f64> = ended.iter().map(|count| count / 600.0 / 100.0).collect();
    assert!(inside[0] < 2.0 && inside[1] < 6.0, "{inside:?}");
}

#[test]
fn a_day_is_shorter_where_a_part_of_each_interval_is_simulated() {
    // 100 s of each 1,000 s: the second part of the day begins after 200 simulated seconds, and after a tenth of a day it
    // is midnight again.
    let mut value = region_alone(10.0, 0.0001);
    value["run"] = json!({"warm_up": 10.0, "seconds": 90_400.0, "interval": 1000.0, "sample": 100.0});
    value["class"][0]["profile"] = json!([{"from": 0.0, "factor": 1.0}, {"from": 2000.0, "factor": 0.0}]);
    let results = run(&value);
    assert_eq!(results.intervals.len(), 91);
    let ended = |at: usize| results.intervals[at].classes[0].systems[0].response.count;
    for (at, interval) in results.intervals.iter().enumerate() {
        // Only the last is shorter: 400 s of the day.
        let length = if at == 90 { 40.0 } else { 100.0 };
        assert!((interval.end - interval.start - length).abs() < 1e-6);
        // Two of a day have arrivals: Poisson with mean 1,000, so within five standard deviations. Midnight comes 40 s
        // into the 87th interval, so that it has 600 of the second day's arrivals, and the two after it 1,000 and 400.
        let mean = match at {
            0 | 1 | 87 => 1000.0,
            86 => 600.0,
            88 => 400.0,
            _ => 0.0,
        };
        let count = ended(at) as f64;
        assert!((count - mean).abs() <= 5.0 * f64::sqrt(mean) + 2.0, "{at}: {count}");
    }
}

#[test]
fn distributions_and_profiles_that_cannot_be_are_refused() {
    let refused = |key: &str, value: Value| {
        let mut scenario = region_alone(10.0, 0.01);
        scenario["class"][0][key] = value;
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    let of = |value| refused("cpu_distribution", value);
    assert_eq!(
        of(json!({"kind": "erlang"})),
        "class[0].cpu_distribution.stages: the kind erlang needs them; give them"
    );
    assert!(of(json!({"kind": "exponential", "stages": 2})).contains("stages are of the kind erlang alone"));
    assert!(of(json!({"kind": "hyperexponential", "variation": 0.5})).contains("variation: 0.5 is not possible"));
    assert!(of(json!({"kind": "empirical", "values": [0.0]})).contains("their mean is zero"));
    assert!(of(json!({"kind": "empirical", "values": [1.0, 2.0], "shares": [1.0]})).contains("1 shares are not those"));
    assert!(of(json!({"kind": "normal"})).contains("unknown variant"));
    let of = |value| refused("profile", value);
    assert!(of(json!([{"from": 5.0, "factor": 1.0}])).contains("profile[0].from: the first part begins after 5 s"));
    assert!(of(json!([{"from": 0.0, "factor": 1.0}, {"from": 0.0, "factor": 2.0}])).contains("profile[1].from"));
    assert!(of(json!([{"from": 0.0, "factor": 0.0}])).contains("all factors are 0"));
    assert!(of(json!([{"from": 0.0, "factor": -1.0}])).contains("profile[0].factor: -1 is not possible"));
    let of = |key: &str, value: Value| {
        let mut scenario = region_alone(10.0, 0.01);
        scenario["run"]["interval"] = json!(600.0);
        scenario["run"][key] = value;
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    let fitting = "give 60, or another whole part of the interval";
    assert_eq!(
        of("sample", json!(7.0)),
        format!("run.sample: an interval of 600 s is no whole multiple of 7 s; {fitting}")
    );
    assert!(of("sample", json!(1200.0)).contains("no whole multiple of 1200 s"));
    assert!(of("sample", json!(0.0)).contains("run.sample: 0 is not possible"));
    assert!(of("begin", json!(86_400.0)).contains("run.begin: 86400 is not possible; give 0 to 86399"));
}
