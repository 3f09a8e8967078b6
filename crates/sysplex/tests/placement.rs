//! Limits of open TCBs, data sets on volumes of their own, and waits that take no time: against closed forms.

use plexlens_sysplex::group::measured::{Resource, Results};
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(scenario: &Value) -> Results {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    Simulation::new(&scenario).run()
}

fn refused(scenario: &Value) -> String {
    Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
}

/// A region with two open TCBs, whose tasks work in Db2 for 20 ms on the average, exponentially distributed.
fn with_open_tcbs(limit: Option<u32>, rate: f64) -> Value {
    let mut region = json!({"name": "AOR1", "system": "SYS1", "db2": "DB1", "threads": 500});
    if let Some(limit) = limit {
        region["open_tcbs"] = json!(limit);
    }
    json!({
        "run": {"seed": 5, "warm_up": 50.0, "seconds": 2000.0, "interval": 2000.0},
        "cec": [{"name": "C1", "engines": 64}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1", "threads": 500}],
            "pool": [{"number": 1, "size": 1000}], "page_set": [{"name": "TS", "pool": 1, "pages": 100}],
        }],
        "region": [region],
        "class": [{
            "name": "TRAN", "rate": rate, "regions": ["AOR1"], "cpu": 0.0, "db2_cpu": 0.02, "calls": 1,
            "threadsafe": true, "cpu_distribution": {"kind": "exponential"},
        }],
    })
}

#[test]
fn limited_open_tcbs_are_a_queue() {
    // M/M/2, 75 % busy: C = 9/14, the wait C s / (c - a) = 9/14 x 20 ms / 0.5 = 25.7 ms.
    let results = run(&with_open_tcbs(Some(2), 75.0));
    let used = &results.intervals[0].regions[0];
    let mean = results.responses[0].mean.unwrap();
    assert!((mean / 0.0457 - 1.0).abs() < 0.05, "{mean}");
    let waited = used.open_tcb_waits.seconds / used.open_tcbs as f64;
    assert!((waited / 0.0257 - 1.0).abs() < 0.08, "{waited}");
    // Who has to wait: C of all.
    let share = used.open_tcb_waits.count as f64 / used.open_tcbs as f64;
    assert!((share - 9.0 / 14.0).abs() < 0.02, "{share}");
    assert!((used.open_tcb_seconds / 2000.0 / 2.0 - 0.75).abs() < 0.02);
    assert_eq!(used.most_open_tcbs, 2);
    // Who finds one in use reaches the limit: p1 = a p0 = 1.5 / 7 of all.
    let reached = used.open_tcb_limits as f64 / used.open_tcbs as f64;
    assert!((reached - 1.5 / 7.0).abs() < 0.01, "{reached}");
    // More than n wait with probability C rho^n: of 150,000 some find 25.
    assert!((10..60).contains(&used.most_open_tcb_queue), "{}", used.most_open_tcb_queue);
    assert!(results.utilisations.iter().any(|one| one.resource == Resource::RegionOpenTcbs));
    // Threads were never short.
    assert_eq!(used.thread_waits.count, 0);
    // Without a limit nobody waits.
    let free = run(&with_open_tcbs(None, 75.0));
    assert!((free.responses[0].mean.unwrap() / 0.02 - 1.0).abs() < 0.03);
    assert!(free.utilisations.iter().all(|one| one.resource != Resource::RegionOpenTcbs));
    assert!(refused(&with_open_tcbs(Some(0), 75.0)).starts_with("region[0].open_tcbs"));
    // Twice what they can do.
    assert!(run(&with_open_tcbs(Some(2), 200.0)).saturated.iter().any(|one| one.resource == Resource::RegionOpenTcbs));
}

fn with_file(ios: f64, volumes: &Value) -> Value {
    json!({
        "run": {"seed": 6, "warm_up": 50.0, "seconds": 2000.0, "interval": 1000.0},
        "cec": [{"name": "C1", "engines": 8}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "dasd": {"volumes": 5, "parallel": 1, "cache_hits": 1.0, "hit_time": 0.005,
                 "distribution": {"kind": "exponential"}},
        "data_set": [{"name": "STOCK.KSDS", "volumes": volumes}],
        "region": [{"name": "AOR1", "system": "SYS1"}],
        "class": [{
            "name": "TRAN", "rate": 120.0, "regions": ["AOR1"], "cpu": 0.00001,
            "files": [{"data_set": "STOCK.KSDS", "ios": ios}],
        }],
    })
}

#[test]
fn a_file_is_read_from_its_volumes() {
    // M/M/1, 60 % busy: 5 ms / 0.4.
    let results = run(&with_file(1.0, &json!([3])));
    let mean = results.responses[0].mean.unwrap();
    assert!((mean / 0.0125 - 1.0).abs() < 0.05, "{mean}");
    for interval in &results.intervals {
        let [file] = &interval.data_sets[..] else { panic!("{:?}", interval.data_sets) };
        assert_eq!((file.job.as_str(), file.name.as_str(), file.volume), ("AOR1", "STOCK.KSDS", 3));
        let volumes = &interval.systems[0].volumes;
        assert_eq!(volumes[3].requests, file.used.requests);
        assert!(volumes.iter().enumerate().all(|(at, one)| at == 3 || one.requests == 0));
        let used = &interval.classes[0].systems[0].used;
        // Every I/O is a wait of its task, as long as the volume took for it.
        assert!((used["waits_file"] / file.used.requests as f64 - 1.0).abs() < 0.001);
        assert!((used["wait_file"] / (file.used.service + file.used.queued) - 1.0).abs() < 0.01);
    }
    // Half an I/O on the average, on two volumes alike.
    let results = run(&with_file(0.5, &json!([1, 4])));
    let requests: Vec<u64> = results.intervals[0].data_sets.iter().map(|one| one.used.requests).collect();
    assert!(requests.iter().all(|&count| (count as f64 / 30_000.0 - 1.0).abs() < 0.03), "{requests:?}");
    assert!(refused(&with_file(1.0, &json!([5]))).contains("there is no volume 5; give 0 to 4"));
    assert!(refused(&with_file(1.0, &json!([]))).starts_with("data_set[0].volumes"));
    assert!(refused(&with_file(1.0, &json!([1, 1]))).contains("volume 1 is there twice"));
}

fn with_page_set(log_write: f64) -> Value {
    json!({
        "run": {"seed": 7, "warm_up": 5.0, "seconds": 100.0, "interval": 100.0},
        "cec": [{"name": "C1", "engines": 8}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "dasd": {"volumes": 6},
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1"}], "log_write": log_write,
            "pool": [{"number": 1, "size": 100}],
            "page_set": [{"name": "A", "pool": 1, "pages": 50000, "volumes": [2, 5]},
                         {"name": "B", "pool": 1, "pages": 50000}],
        }],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1"}],
        "class": [{
            "name": "TRAN", "rate": 20.0, "regions": ["AOR1"], "cpu": 0.001, "db2_cpu": 0.001,
            "references": [{"page_set": "A", "getpages": 3.0, "update": 1.0}],
        }],
    })
}

#[test]
fn a_page_set_stays_on_its_volumes() {
    let results = run(&with_page_set(0.001));
    let interval = &results.intervals[0];
    let used: Vec<bool> = interval.systems[0].volumes.iter().map(|one| one.requests > 0).collect();
    assert_eq!(used, [false, false, true, false, false, true]);
    let all: u64 = interval.data_sets.iter().map(|one| one.used.requests).sum();
    let of_volumes: u64 = interval.systems[0].volumes.iter().map(|one| one.requests).sum();
    assert_eq!(all, of_volumes);
    assert!(interval.data_sets.iter().all(|one| one.job == "DB1DBM1" && one.name == "A"));
}

#[test]
fn what_takes_no_time_suspends_nobody() {
    let used = |write: f64| {
        let results = run(&with_page_set(write));
        let used = &results.intervals[0].classes[0].systems[0].used;
        (used["waits_log"], used["wait_log"], used["commits"])
    };
    let (waits, seconds, commits) = used(0.001);
    assert!((waits / commits - 1.0).abs() < 0.01 && seconds > 0.0, "{waits} {commits}");
    let (waits, seconds, commits) = used(0.0);
    assert!(waits == 0.0 && seconds == 0.0 && commits > 1000.0, "{waits} {seconds} {commits}");
}
