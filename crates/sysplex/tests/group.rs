//! Whole runs: laws that hold in every run, closed forms where there are some, nothing lost under failures.

use plexlens_sysplex::group::measured::{Resource, Results};
use plexlens_sysplex::group::simulation::{Left, Simulation};
use plexlens_sysplex::kernel::nanoseconds;
use plexlens_sysplex::queueing::closed_form::mg1_response;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(value: &Value) -> Results {
    Simulation::new(&scenario(value)).run()
}

fn scenario(value: &Value) -> Scenario {
    Scenario::from_json(&value.to_string()).unwrap()
}

/// One region on one machine, no Db2.
fn region_alone(engines: u32, rate: f64, cpu: f64) -> Value {
    json!({
        "run": {"seed": 3, "warm_up": 500.0, "seconds": 60000.0, "interval": 20000.0},
        "cec": [{"name": "C1", "engines": engines}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "region": [{"name": "AOR1", "system": "SYS1"}],
        "class": [{"name": "TRAN", "rate": rate, "regions": ["AOR1"], "cpu": cpu}],
    })
}

/// Two members on two machines that share two page sets, one of them changed.
fn two_members() -> Value {
    json!({
        "run": {"seed": 5, "warm_up": 5.0, "seconds": 60.0, "interval": 20.0},
        "cec": [{"name": "C1", "engines": 2, "ziips": 1}, {"name": "C2", "engines": 2, "ziips": 1}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "coupling_facility": [{"name": "CF1", "engines": 1}, {"name": "CF2", "engines": 1}],
        "db2": [{
            "group": "DSNG",
            "member": [{"name": "DB1", "system": "SYS1"}, {"name": "DB2", "system": "SYS2"}],
            "lock": {"coupling_facility": "CF1", "entries": 1_048_576u64},
            "pool": [{"number": 1, "size": 2000, "group": {"coupling_facility": "CF2", "data_entries": 3000}}],
            "page_set": [
                {"name": "DB.TS", "pool": 1, "pages": 10000, "skew": 0.8},
                {"name": "DB.IX", "pool": 1, "pages": 500, "index": true, "skew": 0.8},
            ],
            "lock_avoidance": 0.5,
        }],
        "region": [
            {"name": "TOR1", "system": "SYS1"}, {"name": "TOR2", "system": "SYS2"},
            {"name": "AOR1", "system": "SYS1", "db2": "DSNG"}, {"name": "AOR2", "system": "SYS2", "db2": "DSNG"},
        ],
        "class": [
            {
                "name": "UPDA", "rate": 100.0, "terminal_regions": ["TOR1", "TOR2"], "regions": ["AOR1", "AOR2"],
                "terminal_cpu": 0.0003, "cpu": 0.002, "db2_cpu": 0.001, "ziip_share": 0.3, "calls": 4, "goal": 0.05,
                "references": [
                    {"page_set": "DB.IX", "getpages": 3.0},
                    {"page_set": "DB.TS", "getpages": 5.5, "update": 0.3},
                ],
                "starts": [{"class": "LATE", "number": 0.5}],
            },
            {
                "name": "LATE", "regions": ["AOR1", "AOR2"], "cpu": 0.001, "db2_cpu": 0.0005,
                "references": [{"page_set": "DB.TS", "getpages": 2.0, "update": 1.0, "access": "append"}],
            },
            {
                "name": "SCAN", "users": 3, "think": 2.0, "regions": ["AOR1"], "cpu": 0.001, "db2_cpu": 0.01,
                "references": [{"page_set": "DB.TS", "getpages": 200.0, "access": "sequential"}],
            },
        ],
    })
}

fn lawful(results: &Results, tolerance: f64) {
    assert!(!results.laws.is_empty());
    for law in &results.laws {
        let allowed = if law.name.starts_with("Little") { 1e-9 } else { tolerance };
        assert!((law.by_level - law.by_time).abs() <= allowed * law.by_level.max(1.0), "{law:?}");
    }
}

#[test]
fn a_region_is_one_server_with_constant_service() {
    // The QR TCB is one server whatever the engines: M/D/1.
    for engines in [1, 4] {
        let results = run(&region_alone(engines, 7.0, 0.1));
        let found = &results.responses[0];
        let (mean, width) = (found.mean.unwrap(), found.half_width.unwrap());
        let expected = mg1_response(7.0, 0.1, 0.0);
        assert!((mean - expected).abs() < 1.5 * width && width < 0.03 * expected, "{found:?} is not {expected}");
        lawful(&results, 1e-4);
    }
}

#[test]
fn interval_numbers_add_up_to_those_of_the_run() {
    let results = run(&region_alone(1, 7.0, 0.1));
    let ended: u64 = results.intervals.iter().map(|one| one.classes[0].systems[0].response.count).sum();
    assert_eq!((results.intervals.len(), ended), (3, results.responses[0].count));
    let cpu: f64 = results.intervals.iter().map(|one| one.systems[0].spaces[0].cpu).sum();
    assert!((cpu - 0.1 * ended as f64).abs() <= 0.2, "{cpu} for {ended}");
}

#[test]
fn a_group_of_two_members_at_work() {
    let results = run(&two_members());
    lawful(&results, 1e-3);
    let last = &results.intervals[2];
    // Arrivals of 100/s for 20 s: 2000, give or take five standard deviations.
    let ended: u64 = last.classes[0].systems.iter().map(|one| one.response.count).sum();
    assert!((1776..2224).contains(&ended), "{ended}");
    // Half as many are started; whatever ends in an interval may have been started in the one before.
    let late: u64 = last.classes[1].systems.iter().map(|one| one.response.count).sum();
    assert!((ended as f64 / 2.0 - late as f64).abs() < 160.0, "{late} of {ended}");
    for member in &last.members {
        let pool = &member.pools[0];
        // Every page that was not found locally was asked for at the group buffer pool.
        assert!(pool.local["getpages"] > 0 && pool.member["sync_writes"] > 0, "{pool:?}");
        assert!(member.locking.global_locks > 0 && member.locking.global_locks <= member.locking.locks);
        assert!(member.commits > 0 && member.log_writes > 0);
    }
    let getpages: f64 = last.classes.iter().flat_map(|one| &one.systems).map(|one| one.used["getpages"]).sum();
    let counted: u64 = last.members.iter().map(|one| one.pools[0].local["getpages"]).sum();
    // What is under way at either end counts in one of them only: three scans of 200 at most, and some small ones.
    assert!((getpages - counted as f64).abs() < 700.0, "{getpages} {counted}");
    assert!(last.systems.iter().all(|one| one.ziip_busy > 0.0));
}

#[test]
fn the_same_seed_is_the_same_run_and_another_is_not() {
    let text = |seed: u64| {
        let mut value = two_members();
        value["run"]["seed"] = json!(seed);
        serde_json::to_string(&run(&value)).unwrap()
    };
    assert_eq!(text(5), text(5));
    assert_ne!(text(5), text(6));
}

#[test]
fn nothing_is_left_when_no_more_comes() {
    let value = two_members();
    let scenario = scenario(&value);
    let mut simulation = Simulation::new(&scenario);
    simulation.start();
    simulation.until(nanoseconds(10.0));
    let left = simulation.drain();
    assert_eq!(left, Left { begun: left.begun, ended: left.begun, ..Left::default() });
}

#[test]
fn contention_in_a_small_table_is_false_and_in_a_large_one_rare() {
    let with = |entries: u64| {
        let mut value = two_members();
        value["db2"][0]["lock"]["entries"] = json!(entries);
        let results = run(&value);
        let members = results.intervals.iter().flat_map(|one| &one.members);
        members.fold((0, 0), |(locks, contentions), one| {
            (locks + one.locking.global_locks, contentions + one.locking.false_contentions)
        })
    };
    let (small, large) = (with(64), with(1 << 24));
    // Some tenths of a lock are held by the other member on the average: over 64 entries that is some tenths of a
    // per cent, over 16 million one in a hundred million.
    assert!(small.1 * 1_000 > small.0, "{small:?}");
    assert!(large.1 <= 1, "{large:?}");
}

#[test]
fn distance_makes_requests_take_longer() {
    let with = |kilometres: f64| {
        let mut value = two_members();
        value["coupling_facility"][0]["distance_km"] = json!(kilometres);
        let results = run(&value);
        let lock = results.intervals[0].structures.iter().find(|one| one.lock && one.system == "SYS1").unwrap();
        lock.synchronous.seconds / lock.synchronous.count as f64
    };
    // 10 microseconds a kilometre, there and back.
    let (near, far) = (with(0.0), with(20.0));
    assert!((far - near - 200e-6).abs() < 20e-6, "{near} {far}");
}

#[test]
fn wrong_scenarios_name_the_key() {
    let wrong = |path: &[&str], value: Value| {
        let mut scenario = two_members();
        let mut at = &mut scenario;
        for key in path {
            at = match key.parse::<usize>() {
                Ok(number) => &mut at[number],
                Err(_) => &mut at[*key],
            };
        }
        *at = value;
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(&["class", "0", "references", "1", "page_set"], json!("DB.TX")),
        "class[0].references[1].page_set: there is no page set DB.TX; name one of DB.TS, DB.IX"
    );
    assert_eq!(wrong(&["class", "0", "rate"], json!(-1.0)), "class[0].rate: -1 is not possible; give 0 or more");
    assert_eq!(
        wrong(&["db2", "0", "page_set", "0", "pool"], json!(9)),
        "db2[0].page_set[0].pool: there is no pool 9 in group DSNG; give one of 1"
    );
    assert!(wrong(&["class", "0", "speed"], json!(1)).starts_with("class[0].speed: unknown field `speed`"));
    assert_eq!(
        wrong(&["class", "0", "starts"], json!(vec![json!({"class": "LATE"}); 5])),
        "class[0].starts[4]: a class starts 4 others at most; let one of those start the rest"
    );
    assert!(wrong(&["region", "2", "db2"], json!("NONE")).contains("there is no Db2 group NONE; name one of DSNG"));
}

fn utilisation(results: &Results, resource: Resource, name: &str) -> f64 {
    results.utilisations.iter().find(|one| one.resource == resource && one.name == name).unwrap().utilisation
}

#[test]
fn whatever_is_busy_all_the_time_is_named() {
    let saturated = |value: &Value| -> Vec<(Resource, String)> {
        run(value).saturated.into_iter().map(|one| (one.resource, one.name)).collect()
    };
    // One QR TCB takes 10 a second of 0.1 s; the four engines hardly have to do.
    let mut value = region_alone(4, 20.0, 0.1);
    value["run"] = json!({"seed": 3, "warm_up": 50.0, "seconds": 200.0, "interval": 100.0});
    assert_eq!(saturated(&value), [(Resource::QrTcb, "AOR1".to_owned())]);
    value["class"][0]["rate"] = json!(9.0);
    let quiet = run(&value);
    assert!(quiet.saturated.is_empty(), "{:?}", quiet.saturated);
    // The utilisation law: 9 a second of 0.1 s.
    assert!((utilisation(&quiet, Resource::QrTcb, "AOR1") - 0.9).abs() < 0.06);
    assert!((utilisation(&quiet, Resource::System, "SYS1") - 0.225).abs() < 0.015);
    // A coupling facility: some 800 lock requests a second of 4 ms are asked for.
    let mut value = two_members();
    value["coupling"] = json!({"lock_us": 4000.0});
    let named = saturated(&value);
    assert!(named.contains(&(Resource::CouplingFacility, "CF1".into())), "{named:?}");
    assert!(!named.iter().any(|(_, name)| name.contains("CF2")), "{named:?}");
    // One thread for a hundred transactions a second that hold it for 20 ms and more.
    let mut value = two_members();
    value["region"][2]["threads"] = json!(1);
    value["region"][3]["threads"] = json!(1);
    value["class"][0]["db2_cpu"] = json!(0.02);
    let named = saturated(&value);
    assert!(named.contains(&(Resource::RegionThreads, "AOR1".into())), "{named:?}");
    // One volume with one request at a time.
    let mut value = two_members();
    value["dasd"] = json!({"volumes": 1, "parallel": 1, "hit_time": 0.01, "miss_time": 0.01});
    assert!(saturated(&value).contains(&(Resource::Volume, "SIM000".into())));
    // A log that takes 50 ms to write is always writing.
    let mut value = two_members();
    value["db2"][0]["log_write"] = json!(0.05);
    value["db2"][0]["page_set"][0] = json!({"name": "DB.TS", "pool": 1, "pages": 100_000});
    value["class"][0]["starts"] = json!([]);
    let named = saturated(&value);
    assert!(
        named.contains(&(Resource::Log, "DB1".into())) && named.contains(&(Resource::Log, "DB2".into())),
        "{named:?}"
    );
}

#[test]
fn ios_are_counted_by_the_system_that_asks() {
    let results = run(&two_members());
    let mut all = [(0, 0), (0, 0)];
    for interval in &results.intervals {
        for ((system, member), (asked_before, counted_before)) in
            interval.systems.iter().zip(&interval.members).zip(&mut all)
        {
            let asked: u64 = system.volumes.iter().map(|one| one.requests).sum();
            // Synchronous reads, prefetches and deferred writes of the member, and castouts that it owns.
            let counted = |names: &[&str]| names.iter().map(|name| member.pools[0].local[name]).sum::<u64>();
            let reads = counted(&["sync_reads_random", "sync_reads_sequential"]);
            let prefetches = counted(&["sequential_reads", "list_reads", "dynamic_reads"]);
            let others = counted(&["async_writes", "sync_writes"]) + member.pools[0].member["castout_unlocks"];
            // A castout that was counted in the warm-up may be written later: of one class, 5 % of 3,000 pages and the
            // page that reached the threshold, once in the run.
            *asked_before += asked;
            *counted_before += reads + prefetches + others;
            assert!(reads > 0 && asked >= reads / 2, "{asked} {reads}");
            assert!(*asked_before <= *counted_before + 151, "{asked_before} {counted_before}");
        }
    }
}

#[test]
fn castouts_are_those_of_the_owners() {
    let results = run(&two_members());
    let mut by_owner = [0, 0];
    for interval in &results.intervals {
        let pools: Vec<_> = interval.members.iter().map(|member| &member.pools[0]).collect();
        for (name, all) in [
            ("castout_pages", "castout_pages"),
            ("castout_unlocks", "castout_ios"),
            ("class_threshold", "class_threshold"),
        ] {
            assert_eq!(pools.iter().map(|pool| pool.member[name]).sum::<u64>(), pools[0].group[all]);
        }
        pools.iter().zip(&mut by_owner).for_each(|(pool, sum)| *sum += pool.member["castout_pages"]);
    }
    // One page set is changed, and the first to change it was one of the two.
    assert!(by_owner.contains(&0) && by_owner.iter().sum::<u64>() > 0, "{by_owner:?}");
}

#[test]
fn responses_are_counted_by_what_they_are_of_the_goal() {
    let results = run(&two_members());
    let counted = results.intervals.iter().flat_map(|one| &one.classes).flat_map(|one| {
        let has_goal = one.name == "UPDA";
        one.systems.iter().map(move |system| (has_goal, system))
    });
    let mut seen = 0;
    for (has_goal, system) in counted {
        let of_all: u64 = system.by_goal.iter().sum();
        assert_eq!(of_all, if has_goal { system.response.count } else { 0 });
        // The sixth bound is the goal itself.
        let met: u64 = system.by_goal[..6].iter().sum();
        assert!(!has_goal || met == system.met_goal);
        seen += of_all;
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn exponential_responses_fill_the_buckets_as_their_distribution_says() {
    // One engine, one class without Db2: M/M/1 with 50 a second of 10 ms, so responses are exponential with mean 20 ms.
    let mut value = region_alone(1, 50.0, 0.01);
    value["run"] = json!({"seed": 11, "warm_up": 20.0, "seconds": 2000.0, "interval": 2000.0});
    value["class"][0]["cpu_distribution"] = json!({"kind": "exponential"});
    value["class"][0]["goal"] = json!(0.02);
    let results = run(&value);
    let system = &results.intervals[0].classes[0].systems[0];
    let count = system.response.count as f64;
    let mut below = 0.0;
    for (at, percent) in
        [50.0_f64, 60.0, 70.0, 80.0, 90.0, 100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 200.0, 400.0].iter().enumerate()
    {
        below += system.by_goal[at] as f64 / count;
        let expected = 1.0 - f64::exp(-percent / 100.0);
        assert!((below - expected).abs() < 0.02, "{percent}: {below} {expected}");
    }
}

#[test]
fn what_is_sent_to_another_system_arrives_there() {
    let results = run(&two_members());
    let sum = |of: fn(&plexlens_sysplex::group::measured::RegionUse) -> u64| -> u64 {
        results.intervals.iter().flat_map(|one| &one.regions).map(of).sum()
    };
    let (sent, received) = (sum(|one| one.shipped), sum(|one| one.received));
    assert!(sent > 0 && sent.abs_diff(received) <= 2, "{sent} {received}");
    // Terminal regions send, the others receive; whoever came in is inside.
    for region in results.intervals.iter().flat_map(|one| &one.regions) {
        assert!(region.attached == 0 || region.most_inside > 0, "{}", region.name);
    }
}
