//! What members ask of group buffer pools and of each other to keep pages the same, against counts worked by hand.

use plexlens_sysplex::group::measured::{MemberUse, Results, StructureUse};
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

/// Two members on two machines, no locks but of changes; `page_sets` in pool 1 of `size` buffers, classes with these
/// references at these rates, in both systems alike.
fn pair(size: u32, page_sets: Value, classes: &[(&str, f64, Value)]) -> Value {
    let classes: Vec<Value> = classes
        .iter()
        .map(|(name, rate, references)| {
            json!({
                "name": name, "rate": rate, "regions": ["AOR1", "AOR2"], "cpu": 0.0001, "db2_cpu": 0.0001,
                "references": references,
            })
        })
        .collect();
    json!({
        "run": {"seed": 11, "warm_up": 30.0, "seconds": 300.0, "interval": 300.0},
        "cec": [{"name": "C1", "engines": 2}, {"name": "C2", "engines": 2}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "coupling_facility": [{"name": "CF1", "link": 0.0}],
        "db2": [{
            "group": "DSNG",
            "member": [{"name": "DB1", "system": "SYS1"}, {"name": "DB2", "system": "SYS2"}],
            "lock": {"coupling_facility": "CF1", "entries": 1_048_576u64},
            "pool": [{
                "number": 1, "size": size,
                "group": {"coupling_facility": "CF1", "data_entries": 20_000, "directory_entries": 1_000_000,
                          "class_threshold": 1, "pool_threshold": 90},
            }],
            "page_set": page_sets,
            "lock_avoidance": 1.0,
        }],
        "region": [
            {"name": "AOR1", "system": "SYS1", "db2": "DSNG"}, {"name": "AOR2", "system": "SYS2", "db2": "DSNG"},
        ],
        "cics": {"routing": "round_robin"},
        "class": classes,
        "dasd": {"volumes": 512},
    })
}

fn run(value: &Value) -> Results {
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    Simulation::new(&scenario).run()
}

fn members(results: &Results) -> &[MemberUse] {
    &results.intervals[0].members
}

/// A counter of the group buffer pool, of both members together.
fn counted(results: &Results, name: &str) -> u64 {
    members(results).iter().map(|one| one.pools[0].member[name]).sum()
}

fn local(results: &Results, name: &str) -> u64 {
    members(results).iter().map(|one| one.pools[0].local[name]).sum()
}

fn structure<'a>(results: &'a Results, name: &'a str) -> impl Iterator<Item = &'a StructureUse> {
    results.intervals[0].structures.iter().filter(move |one| one.name == name)
}

fn near(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected
}

#[test]
fn a_prefetch_registers_its_pages_by_one_request() {
    // 20 scans a second of one page each, over a million pages: each prefetch reads 32 pages that nobody has. One
    // changed page a second makes the page set dependent.
    let page_sets = json!([{"name": "TS", "pool": 1, "pages": 1_000_000}]);
    let scan = json!([{"page_set": "TS", "getpages": 1.0, "access": "sequential"}]);
    let change = json!([{"page_set": "TS", "getpages": 1.0, "update": 1.0}]);
    let mut value = pair(5000, page_sets, &[("SCAN", 20.0, scan), ("UPDA", 1.0, change)]);
    value["coupling"] = json!({"list_us": 10.0, "list_page_us": 0.5, "read_us": 3.0, "page_us": 5.0});
    let results = run(&value);
    let scans: u64 = results.intervals[0].classes[0].systems.iter().map(|one| one.response.count).sum();
    let (lists, reads) = (counted(&results, "register_lists"), counted(&results, "misses_without_data"));
    // Rarely a scan begins among the pages of a former one.
    assert!(lists <= scans && near(lists as f64, scans as f64, 0.002), "{lists} {scans}");
    assert!(near(local(&results, "sequential_pages") as f64, 32.0 * lists as f64, 0.01));
    // Only the pages that are changed are read one by one: the others came with a list.
    assert!(near(reads as f64, 300.0, 0.3) && local(&results, "sync_reads_random") < reads + 5, "{reads}");
    // Of the time of requests, lists of 32 pages take 10 + 16 microseconds, reads 3, writes and castouts 5.
    let (count, seconds) = structure(&results, "DSNG_GBP1")
        .fold((0, 0.0), |(count, seconds), one| (count + one.synchronous.count, seconds + one.synchronous.seconds));
    let pages = counted(&results, "sync_writes")
        + counted(&results, "castout_pages")
        + counted(&results, "misses_with_data")
        + counted(&results, "prefetched_pages");
    let others = count - lists - pages;
    let expected = lists as f64 * 26e-6 + pages as f64 * 5e-6 + others as f64 * 3e-6;
    assert!(near(seconds, expected, 0.01), "{seconds} {expected}");
}

#[test]
fn a_stolen_page_is_unregistered_with_its_successor_or_by_itself() {
    // A pool of 500 buffers, always full. Pages of TS depend on the group buffer pool, those of RO do not.
    let page_sets = json!([
        {"name": "TS", "pool": 1, "pages": 1_000_000}, {"name": "RO", "pool": 1, "pages": 1_000_000},
    ]);
    let of = |name: &str| json!([{"page_set": name, "getpages": 1.0}]);
    let change = json!([{"page_set": "TS", "getpages": 1.0, "update": 1.0}]);
    let with = |shared: f64, read_only: f64| {
        let classes = [("TS", shared, of("TS")), ("RO", read_only, of("RO")), ("UPDA", 1.0, change.clone())];
        let results = run(&pair(500, page_sets.clone(), &classes));
        let registered = counted(&results, "misses_without_data") + counted(&results, "misses_with_data");
        (counted(&results, "unregistered") as f64, registered as f64)
    };
    // All who come are registered: nobody is unregistered alone.
    let (alone, registered) = with(40.0, 0.0);
    assert!(alone == 0.0 && registered > 10_000.0, "{alone} {registered}");
    // Half of those who come are not: every second registered page that goes is followed by one of them.
    let (alone, registered) = with(40.0, 41.0);
    assert!(near(alone, registered / 2.0, 0.03), "{alone} {registered}");
}

#[test]
fn inserts_at_the_end_make_pages_and_read_none() {
    // 20 inserts a second of each member at one end, four rows to a page. A page is made by one of them, which finds
    // nothing in the group buffer pool; each of the other three rows comes from the other member half of the time, which
    // then reads the page with data.
    let page_sets = json!([{"name": "TS", "pool": 1, "pages": 10_000_000, "rows": 4.0, "index": true}]);
    let insert = json!([{"page_set": "TS", "getpages": 1.0, "update": 1.0, "access": "append"}]);
    let mut value = pair(5000, page_sets, &[("INS1", 20.0, insert.clone()), ("INS2", 20.0, insert)]);
    value["class"][0]["regions"] = json!(["AOR1"]);
    value["class"][1]["regions"] = json!(["AOR2"]);
    let results = run(&value);
    let inserts = local(&results, "getpages") as f64;
    assert_eq!(local(&results, "sync_reads_random"), 0);
    assert!(near(inserts, 12_000.0, 0.05), "{inserts}");
    let made = counted(&results, "misses_without_data") as f64;
    assert!(near(made, inserts / 4.0, 0.06), "{made} of {inserts}");
    let again = counted(&results, "misses_with_data") + counted(&results, "invalid_with_data");
    assert!(near(again as f64, (inserts - made) / 2.0, 0.06), "{again} of {inserts}");
    // Each page leaves the group buffer pool once, perhaps a second time where it was the last of a castout.
    assert!(near(counted(&results, "castout_pages") as f64, made, 0.15));
}

#[test]
fn members_that_change_a_page_in_turn_negotiate_its_physical_lock() {
    // One leaf page, changed 20 times a second by two members in turn: every request finds the lock with the other.
    let page_sets = json!([{"name": "IX", "pool": 1, "pages": 1, "index": true}]);
    let change = json!([{"page_set": "IX", "getpages": 1.0, "update": 1.0}]);
    let value = pair(100, page_sets.clone(), &[("UPDA", 20.0, change.clone())]);
    let results = run(&value);
    let changes = local(&results, "updates");
    for member in members(&results) {
        let locks = member.pools[0].page_locks;
        assert!(near(locks.requests as f64, changes as f64 / 2.0, 0.02), "{locks:?} of {changes}");
        assert_eq!(locks.suspensions, locks.requests);
        assert!(locks.negotiations.abs_diff(locks.requests) <= 1 && locks.unlocks == 0);
        // No transaction locks anything of an index.
        assert_eq!(member.locking.locks, 0);
    }
    let (asked, met) = structure(&results, "DSNG_LOCK1")
        .fold((0, 0), |(asked, met), one| (asked + one.synchronous.count, met + one.contentions));
    assert!(asked.abs_diff(changes) <= 2 && met.abs_diff(asked) <= 2, "{asked} {met} {changes}");
    // One member alone keeps the lock.
    let mut alone = pair(100, page_sets, &[("UPDA", 20.0, change)]);
    alone["class"][0]["regions"] = json!(["AOR1"]);
    let results = run(&alone);
    assert!(members(&results).iter().all(|member| member.pools[0].page_locks.requests <= 1));
}

#[test]
fn physical_locks_go_with_the_pages() {
    // 100 buffers for a million leaf pages: each changed page leaves before it is wanted again, and its lock with it.
    let page_sets = json!([{"name": "IX", "pool": 1, "pages": 1_000_000, "index": true}]);
    let change = json!([{"page_set": "IX", "getpages": 1.0, "update": 1.0}]);
    let results = run(&pair(100, page_sets, &[("UPDA", 40.0, change)]));
    for member in members(&results) {
        let locks = member.pools[0].page_locks;
        assert!(near(locks.requests as f64, 6_000.0, 0.1), "{locks:?}");
        assert!(near(locks.unlocks as f64, locks.requests as f64, 0.02), "{locks:?}");
        assert_eq!(locks.negotiations, 0);
    }
}

#[test]
fn rows_lock_without_keeping_each_other_out() {
    // One page whose rows ten transactions a second change, each for a tenth of a second: with page locks they queue,
    // with row locks (of 100) hardly.
    let with = |lock_size: &str| {
        let page_sets = json!([{"name": "TS", "pool": 1, "pages": 1, "rows": 100.0, "lock_size": lock_size}]);
        let change = json!([{"page_set": "TS", "getpages": 1.0, "update": 1.0}]);
        let mut value = pair(100, page_sets, &[("UPDA", 8.0, change)]);
        value["db2"][0]["log_write"] = json!(0.1);
        let results = run(&value);
        let waits: u64 = members(&results).iter().map(|one| one.locking.suspensions.count).sum();
        (waits, members(&results)[0].pools[0].page_locks.requests)
    };
    let ((by_page, no_locks), (by_row, locks)) = (with("page"), with("row"));
    // 2,400 changes; of M/D/1 with a load of 0.8 four of five wait.
    assert!(by_page > 1_500 && no_locks == 0, "{by_page} {no_locks}");
    // A hundredth of the load on each row.
    assert!(by_row < 100 && locks > 300, "{by_row} {locks}");
}

#[test]
fn the_owner_casts_out() {
    // Two page sets changed by both members alike; one is said to be DB2's.
    let page_sets = json!([
        {"name": "A", "pool": 1, "pages": 100_000, "castout_owner": "DB1"},
        {"name": "B", "pool": 1, "pages": 100_000, "castout_owner": "DB2"},
    ]);
    let change = json!([
        {"page_set": "A", "getpages": 3.0, "update": 1.0}, {"page_set": "B", "getpages": 1.0, "update": 1.0},
    ]);
    let results = run(&pair(2000, page_sets, &[("UPDA", 20.0, change)]));
    let of = |member: usize, name: &str| members(&results)[member].pools[0].member[name];
    // 60 and 20 changed pages a second, in classes of 201 (one more than 1 % of 20,000); pages that are cast out lie
    // apart from each other in their page set, so an I/O takes few of them.
    for (member, pages) in [(0, 18_000.0), (1, 6_000.0)] {
        assert!(near(of(member, "castout_pages") as f64, pages, 0.05), "{}", of(member, "castout_pages"));
        assert_eq!(of(member, "castout_pages"), 201 * of(member, "castout_classes"));
        assert_eq!(of(member, "class_threshold"), of(member, "castout_classes"));
        assert!(of(member, "castout_unlocks") <= of(member, "castout_pages"));
    }
    // The owner of the larger part asks more of the structure, by what its castouts are more.
    let asked: Vec<f64> = structure(&results, "DSNG_GBP1").map(|one| one.synchronous.count as f64).collect();
    let castout =
        |member| (of(member, "castout_pages") + of(member, "castout_classes") + of(member, "castout_unlocks")) as f64;
    assert!(near(asked[0] - asked[1], castout(0) - castout(1), 0.1), "{asked:?}");
}

#[test]
fn a_page_set_that_nobody_changes_any_more_is_deleted() {
    // One class changes pages at first; its users stop with a long thought. After PCLOSET the page set is not dependent.
    let page_sets = json!([{"name": "TS", "pool": 1, "pages": 1000}]);
    let read = json!([{"page_set": "TS", "getpages": 5.0}]);
    let change = json!([{"page_set": "TS", "getpages": 1.0, "update": 1.0}]);
    let mut value = pair(2000, page_sets, &[("READ", 20.0, read), ("UPDA", 0.0, change)]);
    value["db2"][0]["pseudo_close"] = json!(60.0);
    value["class"][1]["rate"] = Value::Null;
    value["class"][1]["users"] = json!(8);
    value["class"][1]["think"] = json!({"short": 0.01, "long": 1e7, "short_share": 0.95});
    let results = run(&value);
    assert_eq!(counted(&results, "deleted_names"), 1);
    // Whatever had been changed was cast out with it, and nothing is asked for after that: 100 getpages a second for
    // the 240 seconds that remain would have asked for much more had its pages still been registered.
    assert!(counted(&results, "misses_without_data") + counted(&results, "invalid_without_data") < 2_500);
}

#[test]
fn services_of_address_spaces_are_charged_for_each_unit_of_work() {
    let page_sets = json!([{"name": "TS", "pool": 1, "pages": 100}]);
    let read = json!([{"page_set": "TS", "getpages": 1.0}]);
    let mut value = pair(200, page_sets, &[("READ", 20.0, read)]);
    value["db2"][0]["services"] = json!({"dbm1_us": 300.0, "mstr_us": 200.0, "irlm_us": 100.0});
    let results = run(&value);
    for (member, system) in members(&results).iter().zip(&results.intervals[0].systems) {
        for (space, each) in [("DBM1", 300e-6), ("MSTR", 200e-6), ("IRLM", 100e-6)] {
            let used = system.spaces.iter().find(|one| one.name == format!("{}{space}", member.name)).unwrap();
            assert!(near(used.cpu, each * member.commits as f64, 0.01), "{used:?}");
        }
    }
}
