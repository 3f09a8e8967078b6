//! What each unit of work writes, where its pages go, and which regions it is sent to, against counts worked by hand.

use plexlens_sysplex::group::measured::Results;
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(value: &Value) -> Results {
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    Simulation::new(&scenario).run()
}

/// Two members on two machines, a region on each system, one pool with a group buffer pool, and one table space.
fn pair(classes: Value) -> Value {
    json!({
        "run": {"seed": 5, "warm_up": 20.0, "seconds": 200.0, "interval": 200.0},
        "cec": [{"name": "C1", "engines": 4}, {"name": "C2", "engines": 4}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "coupling_facility": [{"name": "CF1", "engines": 2}],
        "db2": [{
            "group": "DSNG",
            "member": [{"name": "DB1", "system": "SYS1"}, {"name": "DB2", "system": "SYS2"}],
            "lock": {"coupling_facility": "CF1", "entries": 1_048_576u64},
            "pool": [{
                "number": 1, "size": 40_000,
                "group": {"coupling_facility": "CF1", "data_entries": 20_000, "directory_entries": 1_000_000},
            }],
            "page_set": [{"name": "TS", "pool": 1, "pages": 1_000_000}],
            "lock_avoidance": 1.0,
        }],
        "region": [
            {"name": "AOR1", "system": "SYS1", "db2": "DSNG"}, {"name": "AOR2", "system": "SYS2", "db2": "DSNG"},
        ],
        "class": classes,
        "dasd": {"volumes": 256},
    })
}

/// Synchronous writes to the group buffer pool for each transaction of a class.
fn written(results: &Results, class: &str) -> f64 {
    let about = results.intervals[0].classes.iter().find(|one| one.name == class).unwrap();
    let ended: u64 = about.systems.iter().map(|one| one.response.count).sum();
    let writes: u64 = about.systems.iter().flat_map(|one| &one.pools).map(|pool| pool.sync_writes).sum();
    writes as f64 / ended as f64
}

#[test]
fn a_commit_writes_the_pages_of_its_own_unit_of_work() {
    // One update beside a batch of 500: one page is written for each of the first, 500 for each of the second. Of a
    // million pages no two of a unit are the same more than once in eight batches, and the pool holds them all below
    // its deferred write thresholds.
    let references = |getpages: f64| json!([{"page_set": "TS", "getpages": getpages, "update": 1.0}]);
    let results = run(&pair(json!([
        {"name": "OLTP", "rate": 40.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002, "references": references(1.0)},
        {"name": "BATCH", "users": 2, "think": 1.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002,
         "references": references(500.0)},
    ])));
    let (online, batch) = (written(&results, "OLTP"), written(&results, "BATCH"));
    assert!((online - 1.0).abs() < 0.01, "{online}");
    assert!((batch - 500.0).abs() < 5.0, "{batch}");
}

#[test]
fn what_was_changed_before_a_page_set_is_shared_is_written_when_it_becomes_shared() {
    // One member changes 20 pages a second and deferred writes are far off; a reader of the other comes after some
    // 50 seconds on the average. Whatever the first had changed by then is written at once, not by its next commits.
    let mut value = pair(json!([
        {"name": "UPDA", "rate": 20.0, "regions": ["AOR1"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 1.0, "update": 1.0}]},
        {"name": "READ", "rate": 0.02, "regions": ["AOR2"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 1.0}]},
    ]));
    value["run"]["preload"] = json!(false);
    value["run"]["warm_up"] = json!(0.0);
    let results = run(&value);
    let changed = &results.intervals[0].members[0].pools[0];
    let (early, at_commit) = (changed.member["async_writes"], changed.member["sync_writes"]);
    // Each change is written once, before or at its commit: 4,000 of them, all but a few of different pages.
    let updates = changed.local["updates"];
    assert!(early > 50, "{early}");
    assert!(updates.abs_diff(early + at_commit) < 20, "{updates} {early} {at_commit}");
    assert!((written(&results, "UPDA") - at_commit as f64 / updates as f64).abs() < 0.01);
}

#[test]
fn a_rollback_leaves_no_changed_page_behind() {
    // Two classes change the same two pages in opposite order and meet again and again: victims of deadlocks try again,
    // and some give up. What they changed and changed back was written too: nobody waits for a page that only one has.
    let references = |first: &str, second: &str| json!([{"page_set": first, "getpages": 1.0, "update": 1.0}, {"page_set": second, "getpages": 1.0, "update": 1.0}]);
    let class = |name: &str, region: &str, references: Value| {
        json!({"name": name, "users": 3, "think": 0.01, "regions": [region], "cpu": 0.0002, "db2_cpu": 0.002, "calls": 2,
               "references": references})
    };
    let mut value =
        pair(json!([class("AB", "AOR1", references("A", "B")), class("BA", "AOR2", references("B", "A")),]));
    value["db2"][0]["page_set"] = json!([{"name": "A", "pool": 1, "pages": 1}, {"name": "B", "pool": 1, "pages": 1}]);
    let results = run(&value);
    let members = &results.intervals[0].members;
    let deadlocks: u64 = members.iter().map(|one| one.locking.deadlocks).sum();
    assert!(deadlocks > 10, "{deadlocks}");
    for member in members {
        let pool = &member.pools[0];
        // A change is written at the end of its unit of work, whichever that is: at commit two pages for each, at a
        // rollback the first alone.
        let expected = 2 * member.commits + member.rollbacks;
        assert!(pool.member["sync_writes"].abs_diff(expected) <= 4, "{} {expected}", pool.member["sync_writes"]);
    }
}

/// I/Os by volume, all systems together.
fn by_volume(results: &Results) -> Vec<u64> {
    let mut all = vec![0; 256];
    for system in &results.intervals[0].systems {
        all.iter_mut().zip(&system.volumes).for_each(|(sum, volume)| *sum += volume.requests);
    }
    all
}

#[test]
fn castout_and_deferred_writes_go_to_the_volumes_of_their_pages() {
    // Changes all over a page set of 256 runs of 180 pages, one run to a volume: castout writes each volume as often as
    // any other. The pool holds all pages, so that nothing is read.
    let mut value = pair(json!([
        {"name": "UPDA", "rate": 100.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 4.0, "update": 1.0}]},
    ]));
    value["db2"][0]["page_set"][0]["pages"] = json!(256 * 180);
    value["db2"][0]["pool"][0]["size"] = json!(60_000);
    for shared in [true, false] {
        if !shared {
            value["class"][0]["regions"] = json!(["AOR1"]);
        }
        let counts = by_volume(&run(&value));
        let mean = counts.iter().sum::<u64>() as f64 / 256.0;
        // Eighty I/Os and more each; five standard deviations of a Poisson count.
        let least = *counts.iter().min().unwrap() as f64;
        let most = *counts.iter().max().unwrap() as f64;
        assert!(mean > 50.0, "{mean}");
        assert!(least > mean - 5.0 * mean.sqrt() && most < mean + 5.0 * mean.sqrt(), "{shared}: {least} {mean} {most}");
    }
}

#[test]
fn writes_for_a_page_lock_go_to_the_volume_of_the_page() {
    // Members take leaves from each other; none of it may gather on volume 0. 256 runs of 180 leaves.
    let mut value = pair(json!([
        {"name": "UPDA", "rate": 200.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 2.0, "update": 1.0}]},
    ]));
    value["db2"][0]["page_set"][0]["pages"] = json!(256 * 180);
    value["db2"][0]["page_set"][0]["index"] = json!(true);
    value["db2"][0]["page_set"][0]["skew"] = json!(0.5);
    let counts = by_volume(&run(&value));
    let mean = counts.iter().sum::<u64>() as f64 / 256.0;
    assert!(mean > 50.0 && (counts[0] as f64) < 2.0 * mean, "{} {mean}", counts[0]);
}

#[test]
fn castout_follows_the_member_that_changes_a_page_set() {
    // DB1 changes the page set first and stops; after PCLOSET it is DB2, which goes on, that casts it out.
    let change = json!([{"page_set": "TS", "getpages": 5.0, "update": 1.0}]);
    let mut value = pair(json!([
        {"name": "FIRST", "users": 8, "think": {"short": 0.01, "long": 1e7, "short_share": 0.95}, "regions": ["AOR1"],
         "cpu": 0.0002, "references": change},
        {"name": "LATER", "rate": 50.0, "regions": ["AOR2"], "cpu": 0.0002, "references": change},
        {"name": "READ", "rate": 5.0, "regions": ["AOR1"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 1.0}]},
    ]));
    value["run"] = json!({"seed": 5, "warm_up": 100.0, "seconds": 200.0, "interval": 200.0, "preload": false});
    value["db2"][0]["pseudo_close"] = json!(30.0);
    let results = run(&value);
    let of = |member: usize, name: &str| results.intervals[0].members[member].pools[0].member[name];
    assert!(of(1, "castout_pages") > 10_000, "{}", of(1, "castout_pages"));
    assert_eq!(of(0, "castout_pages"), 0);
}

/// Processor seconds of each region.
fn by_region(results: &Results, names: &[&str]) -> Vec<f64> {
    let spaces: Vec<_> = results.intervals[0].systems.iter().flat_map(|system| &system.spaces).collect();
    names.iter().map(|name| spaces.iter().find(|one| one.name == *name).unwrap().cpu).collect()
}

#[test]
fn no_region_starves_where_terminal_regions_and_regions_take_turns() {
    // Two terminal regions in turn, two regions near each: where all are idle each gets a quarter.
    let mut value = pair(json!([
        {"name": "TRAN", "rate": 20.0, "terminal_regions": ["TOR1", "TOR2"], "terminal_cpu": 0.0001,
         "regions": ["AOR1", "AOR3", "AOR2", "AOR4"], "cpu": 0.001},
    ]));
    let region = |name: &str, system: &str| json!({"name": name, "system": system, "db2": "DSNG"});
    value["region"] = json!([
        region("TOR1", "SYS1"),
        region("AOR1", "SYS1"),
        region("AOR3", "SYS1"),
        region("TOR2", "SYS2"),
        region("AOR2", "SYS2"),
        region("AOR4", "SYS2"),
    ]);
    for routing in ["join_shortest_queue", "goal_oriented", "round_robin"] {
        value["cics"] = json!({"routing": routing});
        let used = by_region(&run(&value), &["AOR1", "AOR2", "AOR3", "AOR4"]);
        let all: f64 = used.iter().sum();
        // 4,000 transactions, 1,000 each.
        assert!(used.iter().all(|one| (one / all - 0.25).abs() < 0.03), "{routing}: {used:?}");
    }
}

#[test]
fn a_sysplex_has_thirty_two_systems_at_most() {
    let mut value = pair(json!([{"name": "TRAN", "rate": 1.0, "regions": ["AOR1"], "cpu": 0.001}]));
    value["system"] = (1..=32).map(|at| json!({"name": format!("SYS{at}"), "cec": "C1"})).collect();
    assert!(Scenario::from_json(&value.to_string()).is_ok());
    value["system"] = (1..=33).map(|at| json!({"name": format!("SYS{at}"), "cec": "C1"})).collect();
    let refused = Scenario::from_json(&value.to_string()).unwrap_err();
    assert_eq!(refused.path, "system[32]");
    assert!(refused.what.contains("32 at most"), "{refused}");
}

#[test]
fn physical_locks_of_pages_are_retained_for_a_lost_member() {
    // A hundred leaves that DB1 changes 200 times and DB2 20 times a second, so that DB1 has the locks of ten of eleven.
    // When it is lost nobody can change these until it has restarted.
    let mut value = pair(json!([
        {"name": "UPDA", "rate": 100.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 1.0, "update": 1.0}]},
        {"name": "READ", "rate": 20.0, "regions": ["AOR2"], "cpu": 0.0002,
         "references": [{"page_set": "TS", "getpages": 1.0}]},
    ]));
    value["db2"][0]["page_set"] = json!([{"name": "TS", "pool": 1, "pages": 100, "index": true}]);
    value["db2"][0]["log_scan"] = json!(1.0);
    value["db2"][0]["member"][1]["threads"] = json!(1000);
    value["region"][1]["threads"] = json!(1000);
    value["class"][0]["regions"] = json!(["AOR1"]);
    value["class"][0]["rate"] = json!(200.0);
    value["class"].as_array_mut().unwrap().push(json!({
        "name": "LATE", "rate": 20.0, "regions": ["AOR2"], "cpu": 0.0002,
        "references": [{"page_set": "TS", "getpages": 1.0, "update": 1.0}],
    }));
    value["run"] = json!({"seed": 5, "warm_up": 5.0, "seconds": 60.0, "interval": 60.0});
    value["failure"] = json!([{"at": 20.0, "member": "DB1", "recovery": 10.0}]);
    let failed = |results: &Results, class: &str, reason: &str| -> u64 {
        let all = results.failures.iter().filter(|one| one.class == class && one.reason == reason);
        all.map(|one| one.count).sum()
    };
    let results = run(&value);
    // 20 a second, ten of eleven of them, for the 11 seconds until it has read its log: 200.
    let refused = failed(&results, "LATE", "retained_lock");
    assert!((160..240).contains(&refused), "{refused} {:?}", results.course);
    assert_eq!(failed(&results, "READ", "retained_lock"), 0);
    // Those who may wait get it when the member has restarted: nobody fails.
    value["db2"][0]["retained_lock_wait"] = json!(30.0);
    let results = run(&value);
    assert_eq!(failed(&results, "LATE", "retained_lock"), 0, "{:?}", results.course);
    let waited: f64 = results.intervals[0].members[1].locking.suspensions.seconds;
    // 200 of them, half of the 11 seconds each.
    assert!((900.0..1300.0).contains(&waited), "{waited}");
}

#[test]
fn system_services_pay_for_writes_at_commit_and_database_services_for_prefetch() {
    // Both members change the same table space, 20 pages each; then they scan it. The thread's CPU time does not grow
    // with the time that the group buffer pool takes for a written page or for a registered list: MSTR and DBM1 pay.
    let with = |page_us: f64, list_us: f64| {
        let mut value = pair(json!([
            {"name": "UPDA", "rate": 20.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002, "db2_cpu": 0.001,
             "references": [{"page_set": "TS", "getpages": 20.0, "update": 1.0}]},
            {"name": "SCAN", "rate": 2.0, "regions": ["AOR1", "AOR2"], "cpu": 0.0002,
             "references": [{"page_set": "TS", "getpages": 320.0, "access": "sequential"}]},
        ]));
        value["coupling"] = json!({"page_us": page_us, "list_us": list_us, "list_page_us": 0.0, "sync_host_us": 5.0});
        // No page is cast out: castout too is work of DBM1.
        value["db2"][0]["pool"][0]["group"] = json!({
            "coupling_facility": "CF1", "data_entries": 400_000, "directory_entries": 1_000_000,
            "class_threshold": 90, "pool_threshold": 90,
        });
        run(&value)
    };
    let space = |results: &Results, kind: &str| -> f64 {
        let spaces = results.intervals[0].systems.iter().flat_map(|one| &one.spaces);
        spaces.filter(|one| one.name.ends_with(kind)).map(|one| one.cpu).sum()
    };
    let class = |results: &Results, name: &str, of: &str| -> f64 {
        let about = results.intervals[0].classes.iter().find(|one| one.name == name).unwrap();
        about.systems.iter().map(|one| one.used[of]).sum()
    };
    let pools = |results: &Results, of: &str| -> f64 {
        let pools = results.intervals[0].members.iter().flat_map(|one| &one.pools);
        pools.map(|one| one.member.get(of).copied().unwrap_or(0) as f64).sum()
    };
    let (base, slow) = (with(5.0, 4.0), with(55.0, 204.0));
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.03 * expected, "{found} {expected}");
    // 50 us more for each page written at commit; the same transactions and pages, but for those at either end.
    let writes = pools(&slow, "sync_writes");
    assert!(writes > 70_000.0, "{writes}");
    near(space(&slow, "MSTR") - space(&base, "MSTR"), writes * 50e-6);
    // The thread waits for them: class 3.
    near(class(&slow, "UPDA", "wait_commit") - class(&base, "UPDA", "wait_commit"), writes * 50e-6);
    // 200 us more for each list; how many lists there are differs by chance.
    let lists = |results: &Results| pools(results, "register_lists");
    assert!(lists(&slow) > 3_000.0 && pools(&slow, "castout_pages") + pools(&base, "castout_pages") == 0.0);
    let of_list = |results: &Results| space(results, "DBM1") / lists(results);
    near(of_list(&slow) - of_list(&base), 200e-6);
    // If the threads paid, a transaction of UPDA would take 1 ms more than its 2 ms, and one of SCAN 2 ms more than 0.4.
    for name in ["UPDA", "SCAN"] {
        // Of a transaction: how many there are differs by chance.
        let ended = |results: &Results| -> u64 {
            let about = results.intervals[0].classes.iter().find(|one| one.name == name).unwrap();
            about.systems.iter().map(|one| one.response.count).sum()
        };
        let each = |results: &Results| {
            (class(results, name, "db2_cpu") - class(results, name, "coupling_spin")) / ended(results) as f64
        };
        assert!((each(&slow) / each(&base) - 1.0).abs() < 0.1, "{name} {} {}", each(&slow), each(&base));
    }
}
