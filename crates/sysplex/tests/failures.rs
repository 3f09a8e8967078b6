//! Members, coupling facilities and links that are lost: nothing is left over, and what happens is what should.

use plexlens_sysplex::group::measured::Results;
use plexlens_sysplex::group::simulation::{Left, Simulation};
use plexlens_sysplex::kernel::nanoseconds;
use plexlens_sysplex::kernel::random::Stream;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(value: &Value) -> Results {
    Simulation::new(&scenario(value)).run()
}

fn scenario(value: &Value) -> Scenario {
    Scenario::from_json(&value.to_string()).unwrap()
}

/// Three members that share an index and two tables; each system has two regions.
fn three_members() -> Value {
    let systems = ["SYS1", "SYS2", "SYS3"];
    let named = |prefix: &str, at: usize| format!("{prefix}{}", at + 1);
    json!({
        "run": {"seed": 1, "warm_up": 2.0, "seconds": 20.0, "interval": 5.0},
        "cec": [{"name": "C1", "engines": 4, "ziips": 1}],
        "system": systems.map(|name| json!({"name": name, "cec": "C1", "engines": 2})),
        "coupling_facility": [{"name": "CF1"}, {"name": "CF2"}],
        "coupling": {"rebuild_delay": 0.2},
        "db2": [{
            "group": "DSNG",
            "member": systems.iter().enumerate().map(|(at, system)| json!({"name": named("DB", at), "system": system}))
                .collect::<Value>(),
            "lock": {"coupling_facility": "CF1", "entries": 65_536},
            "pool": [
                {"number": 1, "size": 1000, "group": {"coupling_facility": "CF2", "data_entries": 2000}},
                {"number": 2, "size": 1000, "group": {"coupling_facility": "CF1", "data_entries": 2000}},
            ],
            "page_set": [
                {"name": "IX", "pool": 1, "pages": 500, "index": true, "skew": 0.8},
                {"name": "TS1", "pool": 1, "pages": 5000, "skew": 0.6},
                {"name": "TS2", "pool": 2, "pages": 5000, "skew": 0.6},
            ],
            "lock_avoidance": 0.5,
            "lock_timeout": 2.0,
            "log_scan": 0.5,
        }],
        "region": systems.iter().enumerate()
            .map(|(at, system)| json!({"name": named("AOR", at), "system": system, "db2": "DSNG", "threads": 10}))
            .collect::<Value>(),
        "class": [
            {
                "name": "UPDA", "rate": 60.0, "regions": ["AOR1", "AOR2", "AOR3"], "cpu": 0.002, "db2_cpu": 0.001,
                "calls": 3, "ziip_share": 0.5,
                "references": [
                    {"page_set": "IX", "getpages": 3.0, "update": 0.1},
                    {"page_set": "TS1", "getpages": 3.0, "update": 0.3},
                    {"page_set": "TS2", "getpages": 2.0, "update": 0.3},
                ],
                "starts": [{"class": "LATE", "number": 0.5}],
            },
            {
                "name": "LATE", "regions": ["AOR1", "AOR2", "AOR3"], "cpu": 0.001,
                "references": [{"page_set": "TS2", "getpages": 2.0, "update": 1.0, "access": "append"}],
            },
            {
                "name": "SCAN", "users": 4, "think": 1.0, "regions": ["AOR1", "AOR3"], "db2_cpu": 0.005,
                "references": [{"page_set": "TS1", "getpages": 100.0, "access": "sequential"}],
            },
        ],
    })
}

/// Everything ended, with success or without, and nothing is held any more.
fn check_left(left: Left, of: &Value) {
    let expected = Left { begun: left.begun, ended: left.ended, failed: left.begun - left.ended, ..Left::default() };
    assert_eq!(left, expected, "{of}");
    assert!(left.begun > 100, "{of}");
}

fn lawful(results: &Results, of: &Value) {
    for law in &results.laws {
        let allowed = if law.name.starts_with("Little") { 1e-9 } else { 5e-3 };
        assert!((law.by_level - law.by_time).abs() <= allowed * law.by_level.max(1.0), "{law:?} {of}");
    }
}

fn failed(results: &Results, reason: &str) -> u64 {
    results.failures.iter().filter(|one| one.reason == reason).map(|one| one.count).sum()
}

fn course(results: &Results) -> Vec<String> {
    results.course.iter().map(|one| format!("{:.1} {}", one.at, one.what)).collect()
}

/// Failures of all kinds at random moments, one upon another.
fn random_failures(stream: &mut Stream) -> Value {
    let pick = |stream: &mut Stream, names: &[&str]| names[stream.below(names.len() as u64) as usize].to_owned();
    let count = 1 + stream.below(5);
    (0..count)
        .map(|_| {
            let (at, recovery) = (stream.unit() * 8.0, 0.05 + stream.unit() * 5.0);
            let mut made = json!({"at": at, "recovery": recovery});
            match stream.below(4) {
                0 => made["coupling_facility"] = json!(pick(stream, &["CF1", "CF2"])),
                1 => {
                    let system = pick(stream, &["SYS1", "SYS2", "SYS3"]);
                    made["link"] = json!({"system": system, "coupling_facility": pick(stream, &["CF1", "CF2"])});
                    if stream.below(2) == 0 {
                        made["link"]["subchannels"] = json!(1 + stream.below(7));
                    }
                }
                _ => {
                    let member = 1 + stream.below(3);
                    made["member"] = json!(format!("DB{member}"));
                    if stream.below(2) == 0 {
                        let system = format!("SYS{}", member % 3 + 1);
                        made["restart_light"] = json!({"system": system, "after": stream.unit() * 3.0});
                    }
                }
            }
            made
        })
        .collect()
}

#[test]
fn whatever_fails_nothing_is_left_over() {
    let mut stream = Stream::new(17, "failures");
    let mut lost = 0;
    for seed in 0..60 {
        let mut value = three_members();
        value["run"]["seed"] = json!(seed);
        value["failure"] = random_failures(&mut stream);
        match stream.below(4) {
            0 => value["db2"][0]["lock"]["duplex"] = json!("CF2"),
            1 => value["db2"][0]["pool"][0]["group"]["duplex"] = json!("CF1"),
            2 => value["db2"][0]["lock"]["preference"] = json!(["CF1"]),
            _ => value["db2"][0]["pool"][1]["group"]["preference"] = json!(["CF1"]),
        }
        if stream.below(3) == 0 {
            value["db2"][0]["retained_lock_wait"] = json!(1.0);
        }
        if stream.below(3) == 0 {
            value["db2"][0]["lock"]["rebuild_percent"] = json!(50.0);
            value["db2"][0]["pool"][0]["group"]["rebuild_percent"] = json!(50.0);
        }
        let scenario = scenario(&value);
        let mut simulation = Simulation::new(&scenario);
        simulation.start();
        simulation.until(nanoseconds(11.0));
        let left = simulation.drain();
        check_left(left, &value);
        lost += left.failed;
    }
    assert!(lost > 1000, "{lost}");
}

#[test]
fn the_laws_hold_under_failures() {
    let mut stream = Stream::new(23, "failures");
    for seed in 0..10 {
        let mut value = three_members();
        value["run"]["seed"] = json!(seed);
        value["failure"] = random_failures(&mut stream);
        lawful(&run(&value), &value);
    }
}

#[test]
fn a_lost_member_keeps_its_locks_until_it_has_restarted() {
    let with = |light: Value| {
        let mut value = three_members();
        // Few pages that all change, and a slow log: some 20 transactions a second of each member hold two for 0.1 s.
        value["db2"][0]["page_set"][2]["pages"] = json!(20);
        value["db2"][0]["log_write"] = json!(0.1);
        value["class"][0]["references"][2]["update"] = json!(1.0);
        value["failure"] = json!([{"at": 5.0, "member": "DB1", "recovery": 8.0}]);
        if !light.is_null() {
            value["failure"][0]["restart_light"] = light;
        }
        run(&value)
    };
    let (alone, peer) = (with(Value::Null), with(json!({"system": "SYS2", "after": 1.0})));
    // 8 s and half a second of log, or 1 s and half a second of log.
    let end = |results: &Results, what: &str| results.course.iter().find(|one| one.what.contains(what)).unwrap().at;
    assert!((end(&alone, "DB1 is up again") - 13.5).abs() < 0.1, "{:?}", course(&alone));
    assert!((end(&peer, "DB1 has given back") - 6.5).abs() < 0.1, "{:?}", course(&peer));
    assert!((end(&peer, "DB1 is up again") - 13.0).abs() < 0.1, "{:?}", course(&peer));
    let (longer, shorter) = (failed(&alone, "retained_lock"), failed(&peer, "retained_lock"));
    assert!(longer > 3 * shorter && shorter > 0, "{longer} {shorter}");
    assert!(failed(&alone, "member_lost") > 0);
    // Its work is done elsewhere: nothing ends on its system in the interval from 5 to 10 s but what was in its last steps.
    let ended = |results: &Results, interval: usize, system: usize| {
        results.intervals[interval].classes.iter().map(|one| one.systems[system].response.count).sum::<u64>()
    };
    let on_its_system = [0, 1, 3].map(|interval| ended(&alone, interval, 0));
    assert!(on_its_system[0] > 10 && on_its_system[1] < 3 && on_its_system[2] > 10, "{on_its_system:?}");
    // The processor time of the restart in light mode is that of the member, on the other system.
    let guest = |results: &Results| {
        let spaces = results.intervals.iter().flat_map(|one| &one.systems[1].spaces);
        spaces.filter(|one| one.name == "DB1DBM1").map(|one| one.cpu).sum::<f64>()
    };
    assert!(guest(&peer) > 0.0 && guest(&alone) == 0.0);
    lawful(&peer, &Value::Null);
}

#[test]
fn a_request_may_wait_for_a_retained_lock() {
    let mut value = three_members();
    value["db2"][0]["page_set"][2]["pages"] = json!(20);
    value["db2"][0]["log_write"] = json!(0.1);
    value["class"][0]["references"][2]["update"] = json!(1.0);
    value["db2"][0]["retained_lock_wait"] = json!(20.0);
    value["db2"][0]["lock_timeout"] = json!(20.0);
    value["failure"] = json!([{"at": 5.0, "member": "DB1", "recovery": 1.0}]);
    let results = run(&value);
    // 1.5 s without the lock are shorter than the 20 s that a request waits.
    assert_eq!((failed(&results, "retained_lock"), failed(&results, "deadlock_or_timeout")), (0, 0));
}

#[test]
fn a_lock_structure_is_rebuilt_from_the_locks_that_are_held() {
    let mut value = three_members();
    value["coupling"]["rebuild_us"] = json!(10_000.0);
    value["db2"][0]["pool"][1]["group"]["coupling_facility"] = json!("CF2");
    value["failure"] = json!([{"at": 5.0, "coupling_facility": "CF1", "recovery": 6.0}]);
    let results = run(&value);
    let [first, second] = ["is rebuilt", "can be used again"]
        .map(|what| results.course.iter().find(|one| one.what.contains("LOCK1 in CF2") && one.what.contains(what)));
    // 0.2 s to agree; three page sets that each member has open, physical locks of index pages, and few locks of
    // transactions, 10 ms each. A member changes some 20 x 0.3 index pages a second: fewer than 60 in 10 s.
    let took = second.unwrap().at - first.unwrap().at;
    assert!((0.23..1.0).contains(&took), "{took}");
    // Nobody fails: requests wait. Later ones go to the other coupling facility.
    assert!(results.failures.is_empty(), "{:?}", results.failures);
    let at = |interval: usize| {
        let of = |name: &str| results.intervals[interval].facilities.iter().find(|one| one.name == name).unwrap().busy;
        (of("CF1"), of("CF2"))
    };
    assert!(at(0).0 > 0.0 && at(2).0 == 0.0 && at(2).1 > at(0).1, "{:?}", course(&results));
    assert!(results.intervals[3].structures.iter().all(|one| one.facility == "CF2"));
    let waited: f64 = results
        .intervals
        .iter()
        .flat_map(|one| &one.classes)
        .flat_map(|one| &one.systems)
        .map(|one| one.used["wait_rebuild"])
        .sum();
    // Some 60 transactions a second ask for locks, and wait half of the time on the average; those behind them do not.
    assert!(waited > 0.5 * took, "{waited}");
}

#[test]
fn duplexed_structures_go_on_at_once() {
    let mut value = three_members();
    value["db2"][0]["lock"]["duplex"] = json!("CF2");
    value["db2"][0]["pool"][0]["group"]["duplex"] = json!("CF1");
    value["db2"][0]["pool"][1]["group"]["duplex"] = json!("CF2");
    value["failure"] = json!([{"at": 5.0, "coupling_facility": "CF1", "recovery": 5.0}]);
    let results = run(&value);
    let course = course(&results);
    assert!(results.failures.is_empty(), "{:?}", results.failures);
    assert!(course.contains(&"5.0 structure DSNG_LOCK1 in CF2 goes on with its second instance".into()), "{course:?}");
    assert!(
        course.contains(&"5.0 structure DSNG_GBP1 in CF2 goes on without its second instance".into()),
        "{course:?}"
    );
    assert_eq!(course.iter().filter(|one| one.contains("has a second instance again")).count(), 3, "{course:?}");
    assert!(results.intervals[3].facilities.iter().all(|one| one.busy > 0.0));
    assert_eq!(results.intervals[1].facilities[0].busy, 0.0);
}

#[test]
fn without_another_coupling_facility_the_members_fail_and_restart() {
    let mut value = three_members();
    value["db2"][0]["lock"]["preference"] = json!(["CF1"]);
    value["failure"] = json!([{"at": 5.0, "coupling_facility": "CF1", "recovery": 3.0}]);
    let results = run(&value);
    let course = course(&results);
    assert!(course.iter().any(|one| one.contains("there is no coupling facility for it: all members")), "{course:?}");
    assert_eq!(course.iter().filter(|one| one.contains("is up again")).count(), 3, "{course:?}");
    // Some 90 transactions a second come meanwhile: 3 s, half a second of log, 0.2 s of the rebuild at most.
    let none = failed(&results, "no_member");
    assert!((200..420).contains(&none), "{none}");
}

#[test]
fn pages_of_a_lost_group_buffer_pool_are_recovered_from_the_logs() {
    let mut value = three_members();
    value["db2"][0]["lock"]["coupling_facility"] = json!("CF2");
    value["failure"] = json!([{"at": 5.0, "coupling_facility": "CF1", "recovery": 30.0}]);
    let results = run(&value);
    let course = course(&results);
    let recovered: Vec<_> = course.iter().filter(|one| one.contains("recovered from the logs")).collect();
    // All members change TS2, which is in this pool alone.
    assert!(recovered.len() == 1 && recovered[0].contains("page set TS2"), "{course:?}");
    assert!(failed(&results, "resource_unavailable") > 10);
    // In the last interval all is well again.
    assert!(results.intervals[3].classes.iter().flat_map(|one| &one.systems).all(|one| one.failed.is_empty()));
    assert!(results.intervals[3].structures.iter().all(|one| one.facility == "CF2"));
}

#[test]
fn lost_links_leave_fewer_subchannels_or_none() {
    // CF1 serves in half a millisecond, so that one subchannel is in use for much of the time.
    let with = |failure: Value, percent: f64| {
        let mut value = three_members();
        value["coupling"]["lock_us"] = json!(500.0);
        value["db2"][0]["lock"]["rebuild_percent"] = json!(percent);
        value["failure"] = failure;
        run(&value)
    };
    let waits = |results: &Results, interval: usize, system: &str| {
        let uses = results.intervals[interval].structures.iter().filter(|one| one.system == system);
        uses.map(|one| one.subchannel_waits.count).sum::<u64>()
    };
    let some = with(
        json!([{"at": 5.0, "link": {"system": "SYS1", "coupling_facility": "CF1", "subchannels": 6}, "recovery": 30.0}]),
        1.0,
    );
    assert_eq!(waits(&some, 0, "SYS1"), 0);
    assert!(waits(&some, 2, "SYS1") > 0 && waits(&some, 2, "SYS2") == 0);
    assert!(course(&some).contains(&"5.0 system SYS1 loses links to CF1: 1 of 7 subchannels are left".into()));
    let all = json!([{"at": 5.0, "link": {"system": "SYS1", "coupling_facility": "CF1"}, "recovery": 5.0}]);
    // A third of the systems lose it: enough for 1 %, not for 50 %.
    let rebuilt = with(all.clone(), 1.0);
    assert!(rebuilt.failures.is_empty(), "{:?}", rebuilt.failures);
    assert!(course(&rebuilt).contains(&"5.0 structure DSNG_LOCK1 in CF2 is rebuilt".into()));
    let not = with(all, 50.0);
    assert!(course(&not).iter().any(|one| one.contains("LOCK1 in CF1 is not rebuilt: too few systems lost it")));
    assert!(course(&not).iter().any(|one| one.contains("member DB1 is lost")));
    assert!(course(&not).iter().any(|one| one.contains("member DB1 is up again")));
}

#[test]
fn wrong_failures_name_the_key() {
    let wrong = |failure: Value| {
        let mut value = three_members();
        value["failure"] = json!([failure]);
        Scenario::from_json(&value.to_string()).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(json!({"at": 1.0})),
        "failure[0]: one thing fails at a time; name one of member, coupling_facility, link; more failures are more tables"
    );
    assert_eq!(
        wrong(json!({"at": 1.0, "link": {"system": "SYS1", "coupling_facility": "CF3"}})),
        "failure[0].link.coupling_facility: there is no coupling facility CF3; name one of CF1, CF2"
    );
    assert_eq!(
        wrong(json!({"at": 1.0, "link": {"system": "SYS1", "coupling_facility": "CF1", "subchannels": 8}})),
        "failure[0].link.subchannels: 8 is not possible, CF1 has 7 subchannels to each system; give 1 to 7"
    );
    assert_eq!(
        wrong(json!({"at": 1.0, "member": "DB1", "restart_light": {"system": "SYS1"}})),
        "failure[0].restart_light.system: SYS1 is the member's own system; name another, or leave restart_light out"
    );
}
