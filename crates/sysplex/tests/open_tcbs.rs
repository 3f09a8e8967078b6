//! What open TCBs of a region were dispatched, and the processor time on them, against calculations by hand.

use plexlens_sysplex::group::measured::{RegionUse, Results};
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(value: &Value) -> Results {
    Simulation::new(&Scenario::from_json(&value.to_string()).unwrap()).run()
}

fn one_region(run: Value, class: Value) -> Value {
    json!({
        "run": run,
        "cec": [{"name": "C1", "engines": 4}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "cics": {"switch_us": 10.0},
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1"}], "deadlock_cycle": 0.1,
            "path": {
                "getpage_us": 0.0, "lock_us": 0.0, "read_us": 0.0, "update_us": 5000.0, "commit_us": 20.0,
                "write_us": 0.0, "dependent_us": 0.0, "page_lock_us": 0.0, "castout_us": 0.0
            },
            "pool": [{"number": 1, "size": 1000}],
            "page_set": [{"name": "ONE", "pool": 1, "pages": 1}, {"name": "TWO", "pool": 1, "pages": 1}],
        }],
        "data_set": [{"name": "FILE", "volumes": [0]}],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1"}],
        "class": class,
    })
}

fn regions(results: &Results) -> impl Iterator<Item = &RegionUse> {
    results.intervals.iter().flat_map(|one| &one.regions)
}

/// Processor time of the region's address space, and of this what its TCBs have.
fn times(results: &Results) -> (f64, f64) {
    let spaces = results.intervals.iter().flat_map(|one| &one.systems).flat_map(|one| &one.spaces);
    let space = spaces.filter(|one| one.name == "AOR1").map(|one| one.cpu).sum();
    (space, regions(results).map(|one| one.qr_cpu + one.open_cpu).sum())
}

/// No TCB works longer than it is dispatched, and all that the region used is on one of its TCBs. `most` is what may
/// still be left at the end of the run, seconds.
fn consistent(results: &Results, most: f64) {
    for one in regions(results) {
        assert!(one.open_cpu <= one.open_dispatched + 1e-9, "{one:?}");
        assert!(one.qr_cpu <= one.qr_dispatched + 1e-9, "{one:?}");
    }
    let (space, tcbs) = times(results);
    assert!((space - tcbs).abs() <= most, "{space} {tcbs}");
}

#[test]
fn a_threadsafe_program_works_on_its_open_tcb() {
    // Four parts of 5 ms around three calls of 1 ms and a commit of 20 us; a switch takes 10 us, a read of the file 1 ms
    // or less, in which no TCB works.
    // An open TCB waits before the first call and for each of two reads in three parts, or before each call and commit.
    for (threadsafe, qr, open, dispatches) in [(true, 0.00501, 0.01804, 7.0), (false, 0.02007, 0.00302, 4.0)] {
        let class = json!([{
            "name": "TRAN", "rate": 0.1, "regions": ["AOR1"], "cpu": 0.02, "db2_cpu": 0.003, "calls": 3,
            "threadsafe": threadsafe, "files": [{"data_set": "FILE", "ios": 8.0}],
        }]);
        let seconds = json!({"seed": 4, "warm_up": 0.0, "seconds": 2000.0, "interval": 2000.0});
        let results = run(&one_region(seconds, class));
        let (count, used) = (results.responses[0].count as f64, regions(&results).next().unwrap());
        assert!(count > 150.0);
        for (found, by_hand) in
            [(used.qr_cpu, qr), (used.qr_dispatched, qr), (used.open_cpu, open), (used.open_dispatched, open)]
        {
            assert!((found / count - by_hand).abs() < 2e-5, "{} {by_hand} {used:?}", found / count);
        }
        assert!((used.open_dispatches as f64 / count - dispatches).abs() < 0.05, "{used:?}");
        consistent(&results, 1e-9);
    }
}

#[test]
fn units_of_work_that_are_undone_are_undone_in_db2() {
    // Two classes change the same two pages in opposite order, 5 ms each, and deadlock. To undo takes as long again.
    let order = |first: &str, second: &str| json!([{"page_set": first, "getpages": 1.0, "update": 1.0}, {"page_set": second, "getpages": 1.0, "update": 1.0}]);
    let class = |name: &str, references: Value| {
        json!({
            "name": name, "rate": 12.0, "regions": ["AOR1"], "cpu": 0.001, "calls": 2, "threadsafe": true,
            "references": references,
        })
    };
    let classes = json!([class("ONE", order("ONE", "TWO")), class("TWO", order("TWO", "ONE"))]);
    let seconds = json!({"seed": 5, "warm_up": 0.0, "seconds": 100.0, "interval": 1.0});
    let results = run(&one_region(seconds, classes));
    let deadlocks: u64 = results.intervals.iter().flat_map(|one| &one.members).map(|one| one.locking.deadlocks).sum();
    assert!(deadlocks > 20, "{deadlocks}");
    consistent(&results, 0.01);
}

#[test]
fn bursts_longer_than_an_interval() {
    // Parts of 2.5 s, in intervals of a second.
    for threadsafe in [true, false] {
        let class = json!([{
            "name": "LONG", "rate": 0.05, "regions": ["AOR1"], "cpu": 5.0, "db2_cpu": 2.5, "threadsafe": threadsafe,
        }]);
        let seconds = json!({"seed": 6, "warm_up": 0.0, "seconds": 300.0, "interval": 1.0});
        let results = run(&one_region(seconds, class));
        assert!(results.responses[0].count > 5);
        consistent(&results, 2.6);
    }
}

#[test]
fn a_lost_member_leaves_no_open_tcb_at_work() {
    let class = json!([{
        "name": "TRAN", "rate": 20.0, "regions": ["AOR1"], "cpu": 0.002, "db2_cpu": 0.1, "threadsafe": true,
    }]);
    let seconds = json!({"seed": 7, "warm_up": 0.0, "seconds": 60.0, "interval": 10.0});
    let mut value = one_region(seconds, class);
    value["failure"] = json!([{"at": 15.0, "member": "DB1", "recovery": 1000.0}]);
    let results = run(&value);
    assert!(results.failures.iter().any(|one| one.reason == "member_lost"));
    consistent(&results, 0.2);
    // Nobody gets a thread afterwards.
    assert_eq!(regions(&results).last().unwrap().open_dispatched, 0.0);
    assert!(regions(&results).next().unwrap().open_dispatched > 10.0);
}
