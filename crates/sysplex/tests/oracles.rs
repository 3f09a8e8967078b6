//! Parts of a sysplex in isolation, against calculations by hand and closed forms.

use plexlens_sysplex::group::measured::{Resource, Results};
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::kernel::random::{Length, Stream};
use plexlens_sysplex::kernel::seconds;
use plexlens_sysplex::queueing::closed_form::mg1_response;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

fn run(value: &Value) -> Results {
    Simulation::new(&Scenario::from_json(&value.to_string()).unwrap()).run()
}

/// Transactions that come one by one, so seldom that none waits for another.
fn quiet(regions: Value, class: Value) -> Value {
    let mut value = json!({
        "run": {"seed": 4, "warm_up": 0.0, "seconds": 2000.0, "interval": 2000.0, "preload": false},
        "cec": [{"name": "C1", "engines": 2}, {"name": "C2", "engines": 2}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "region": regions,
        "class": [{"name": "TRAN", "rate": 0.1, "cpu": 0.010}],
    });
    for (key, one) in class.as_object().unwrap() {
        value["class"][0][key] = one.clone();
    }
    value
}

fn response(results: &Results, class: usize) -> f64 {
    results.responses[class].mean.unwrap()
}

fn cpu(results: &Results, space: &str) -> f64 {
    let spaces = results.intervals.iter().flat_map(|one| &one.systems).flat_map(|one| &one.spaces);
    spaces.filter(|one| one.name == space).map(|one| one.cpu).sum()
}

#[test]
fn shipping_costs_both_ends() {
    let regions = |of: &str| json!([{"name": "TOR1", "system": "SYS1"}, {"name": "AOR1", "system": of}]);
    let class = json!({"terminal_regions": ["TOR1"], "regions": ["AOR1"], "terminal_cpu": 0.002});
    let near = run(&quiet(regions("SYS1"), class.clone()));
    // 2 ms and 15 us here, 15 us and 10 ms there.
    assert!((response(&near, 0) - 0.012_030).abs() < 1e-7, "{}", response(&near, 0));
    let far = run(&quiet(regions("SYS2"), class));
    // 60 us at both ends and 100 us between.
    assert!((response(&far, 0) - 0.012_220).abs() < 1e-7, "{}", response(&far, 0));
    let count = far.responses[0].count as f64;
    assert!((cpu(&far, "TOR1") / count - 0.002_060).abs() < 1e-9);
    assert!((cpu(&far, "AOR1") / count - 0.010_060).abs() < 1e-9);
}

#[test]
fn partitions_take_longer_by_their_overhead_and_engines_by_their_speed() {
    let mut value = quiet(json!([{"name": "AOR1", "system": "SYS1"}]), json!({"regions": ["AOR1"]}));
    value["cec"][0]["speed"] = json!(0.8);
    value["system"][0]["lpar_overhead"] = json!(0.04);
    // 10 ms x 1.04 / 0.8.
    assert!((response(&run(&value), 0) - 0.013).abs() < 1e-8);
}

/// Two partitions of a machine of two engines that both want more than it has.
fn contending(weights: [f64; 2], engines: [u32; 2]) -> Value {
    let regions = (1..=8).map(|at| json!({"name": format!("AOR{at}"), "system": format!("SYS{}", 1 + at % 2)}));
    let names = |odd: u32| (1..=8).filter(|at| at % 2 == odd).map(|at| format!("AOR{at}")).collect::<Vec<_>>();
    json!({
        "run": {"seed": 4, "warm_up": 10.0, "seconds": 100.0, "interval": 100.0},
        "cec": [{"name": "C1", "engines": 2}],
        "system": [
            {"name": "SYS1", "cec": "C1", "weight": weights[0], "engines": engines[0]},
            {"name": "SYS2", "cec": "C1", "weight": weights[1], "engines": engines[1]},
        ],
        "region": regions.collect::<Value>(),
        "class": [
            {"name": "ONE", "users": 40, "regions": names(0), "cpu": 0.01},
            {"name": "TWO", "users": 40, "regions": names(1), "cpu": 0.01},
        ],
    })
}

#[test]
fn weights_share_out_a_full_machine_and_logical_engines_cap_it() {
    let busy =
        |value: &Value| -> Vec<f64> { run(value).intervals[0].systems.iter().map(|one| one.busy / 100.0).collect() };
    let shared = busy(&contending([300.0, 100.0], [2, 2]));
    assert!((shared[0] - 1.5).abs() < 0.01 && (shared[1] - 0.5).abs() < 0.01, "{shared:?}");
    // One logical engine is all that the heavier may have: the other gets the rest.
    let capped = busy(&contending([300.0, 100.0], [1, 2]));
    assert!((capped[0] - 1.0).abs() < 0.01 && (capped[1] - 1.0).abs() < 0.01, "{capped:?}");
    let full = run(&contending([300.0, 100.0], [2, 2]));
    assert!(full.saturated.iter().any(|one| one.resource == Resource::Machine && one.name == "C1"));
}

#[test]
fn priorities_interrupt_as_in_the_formula() {
    // M/G/1 with preemption, constant service s of rate l: the class of rank k waits
    // s_k / (1 - r_1..k-1) + sum l s^2 / 2 of 1..k / ((1 - r_1..k-1)(1 - r_1..k)).
    let value = json!({
        "run": {"seed": 8, "warm_up": 500.0, "seconds": 60000.0, "interval": 60000.0},
        "cec": [{"name": "C1", "engines": 1}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "region": [
            {"name": "AOR1", "system": "SYS1", "priority": 1},
            {"name": "AOR2", "system": "SYS1", "priority": 2},
        ],
        "class": [
            {"name": "FIRST", "rate": 4.0, "regions": ["AOR1"], "cpu": 0.1},
            {"name": "LAST", "rate": 2.0, "regions": ["AOR2"], "cpu": 0.2},
        ],
    });
    let results = run(&value);
    let residual = 4.0 * 0.01 / 2.0 + 2.0 * 0.04 / 2.0;
    let expected = [mg1_response(4.0, 0.1, 0.0), 0.2 / 0.6 + residual / (0.6 * 0.2)];
    for (found, expected) in results.responses.iter().zip(expected) {
        let (mean, width) = (found.mean.unwrap(), found.half_width.unwrap());
        assert!((mean - expected).abs() < 1.5 * width && width < 0.05 * expected, "{found:?} is not {expected}");
    }
}

fn with_ziip(rate: f64, honor: bool) -> Results {
    run(&json!({
        "run": {"seed": 8, "warm_up": 20.0, "seconds": 400.0, "interval": 400.0},
        "cec": [{"name": "C1", "engines": 4, "ziips": 1, "speed": 0.5, "ziip_speed": 2.0}],
        "system": [{"name": "SYS1", "cec": "C1", "honor_priority": honor, "ziip_wait": 0.001}],
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1"}],
            "pool": [{"number": 1, "size": 1000}], "page_set": [{"name": "TS", "pool": 1, "pages": 100}],
        }],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1"}],
        "class": [{"name": "TRAN", "rate": rate, "regions": ["AOR1"], "db2_cpu": 0.01, "ziip_share": 1.0}],
    }))
}

#[test]
fn eligible_work_runs_on_ziips_and_overflows() {
    let of = |results: &Results| {
        let system = &results.intervals[0].systems[0];
        let region = system.spaces.iter().find(|one| one.name == "AOR1").unwrap();
        (region.cpu, region.ziip, region.ziip_on_cp, results.responses[0].count as f64)
    };
    // 10 ms (and 20 us of commit) of speed 1 are half on a zIIP of speed 2, twice on a general engine of speed 0.5.
    let (cpu, ziip, on_cp, count) = of(&with_ziip(20.0, false));
    assert!((ziip / count - 0.010_02 / 2.0).abs() < 2e-5, "{}", ziip / count);
    assert_eq!((cpu, on_cp), (0.0, 0.0));
    // 300 a second want 1.5 zIIPs. Without help they wait for the one there is; with help all is done.
    let (cpu, ziip, _, count) = of(&with_ziip(300.0, false));
    assert!(cpu == 0.0 && (ziip - 400.0).abs() < 1.0 && count < 300.0 * 400.0 * 0.7);
    let (cpu, ziip, on_cp, count) = of(&with_ziip(300.0, true));
    assert!(cpu > 0.0 && (cpu - on_cp).abs() < 1e-9 && count > 300.0 * 400.0 * 0.97);
    // Work of speed 1 is conserved, whoever does it.
    assert!((ziip * 2.0 + cpu * 0.5 - count * 0.010_02).abs() < 0.005 * count * 0.010_02);
}

/// One member that updates pages alone with another reader, seldom: requests never wait for each other.
fn one_by_one(change: impl Fn(&mut Value)) -> Results {
    let mut value = json!({
        "run": {"seed": 4, "warm_up": 10.0, "seconds": 1000.0, "interval": 1000.0},
        "cec": [{"name": "C1", "engines": 2}, {"name": "C2", "engines": 2}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "coupling_facility": [{"name": "CF1", "link": 4e-6}, {"name": "CF2", "link": 4e-6}],
        "coupling": {"lock_us": 3.0, "page_us": 7.0, "sync_host_us": 5.0, "async_host_us": 50.0, "async_delay": 1e-4},
        "db2": [{
            "group": "DSNG",
            "member": [{"name": "DB1", "system": "SYS1"}, {"name": "DB2", "system": "SYS2"}],
            "lock": {"coupling_facility": "CF1", "entries": 1_048_576},
            "pool": [{"number": 1, "size": 2000, "group": {"coupling_facility": "CF1", "data_entries": 3000}}],
            "page_set": [{"name": "TS", "pool": 1, "pages": 1000}],
            "lock_avoidance": 0.0,
        }],
        "region": [
            {"name": "AOR1", "system": "SYS1", "db2": "DSNG"}, {"name": "AOR2", "system": "SYS2", "db2": "DSNG"},
        ],
        "class": [{
            "name": "TRAN", "rate": 1.0, "regions": ["AOR1", "AOR2"],
            "references": [{"page_set": "TS", "getpages": 1.0, "update": 1.0}],
        }],
    });
    change(&mut value);
    run(&value)
}

/// Mean service time of the lock structure's synchronous and asynchronous requests.
fn lock_service(results: &Results) -> (Option<f64>, Option<f64>) {
    let uses = || results.intervals[0].structures.iter().filter(|one| one.lock);
    let mean = |of: fn(&plexlens_sysplex::group::measured::StructureUse) -> (u64, f64)| {
        let (count, seconds) = uses().map(of).fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (count > 0).then(|| seconds / count as f64)
    };
    let synchronous = mean(|one| (one.synchronous.count, one.synchronous.seconds));
    (synchronous, mean(|one| (one.asynchronous.count, one.asynchronous.seconds)))
}

#[test]
fn a_request_is_link_engine_and_link() {
    // 4 us, 3 us, 4 us; a coupling facility of half the speed takes 6 us; 10 km are 50 us each way.
    let near = lock_service(&one_by_one(|_| {}));
    assert!((near.0.unwrap() - 11e-6).abs() < 1e-7 && near.1.is_none(), "{near:?}");
    let slow = lock_service(&one_by_one(|value| value["coupling_facility"][0]["speed"] = json!(0.5)));
    assert!((slow.0.unwrap() - 14e-6).abs() < 1e-7, "{slow:?}");
    let far = lock_service(&one_by_one(|value| value["coupling_facility"][0]["distance_km"] = json!(10.0)));
    assert!((far.0.unwrap() - 111e-6).abs() < 1e-7, "{far:?}");
}

#[test]
fn a_duplexed_request_ends_when_both_have_answered_and_told_each_other() {
    // The other instance is 5 km away: 4 + 25 us to it, 3 us there, 29 us back, 29 us between the two.
    let found = lock_service(&one_by_one(|value| {
        value["db2"][0]["lock"]["duplex"] = json!("CF2");
        value["coupling_facility"][1]["distance_km"] = json!(5.0);
    }));
    assert!((found.0.unwrap() - 90e-6).abs() < 2e-7, "{found:?}");
}

#[test]
fn writes_go_into_both_group_buffer_pools_and_reads_to_one() {
    let with = |duplex: bool| {
        one_by_one(|value| {
            if duplex {
                value["db2"][0]["pool"][0]["group"]["duplex"] = json!("CF2");
            }
            value["coupling_facility"][1]["distance_km"] = json!(5.0);
        })
    };
    let requests = |results: &Results| -> (u64, f64) {
        let uses = results.intervals[0].structures.iter().filter(|one| !one.lock);
        uses.map(|one| (one.synchronous.count, one.synchronous.seconds)).fold((0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let (one, both) = (with(false), with(true));
    let ((count, alone), (same, twice)) = (requests(&one), requests(&both));
    // A transaction changes one page of a page set that depends on its group buffer pool: one write, at its commit. The
    // instances do not talk to each other: both are asked at once, and the far one answers 2 x 25 us later.
    let writes = both.responses[0].count as f64;
    assert_eq!(count, same);
    assert!((twice - alone - writes * 50e-6).abs() < 0.01 * writes * 50e-6, "{} {writes}", twice - alone);
}

#[test]
fn requests_above_the_threshold_are_sent_asynchronously() {
    let with = |threshold: f64| {
        one_by_one(|value| {
            value["coupling"]["convert_above_us"] = json!(threshold);
            value["coupling_facility"][0]["distance_km"] = json!(10.0);
        })
    };
    // Pages take 115 us, locks 111.
    let below = with(116.0);
    assert!(lock_service(&below).1.is_none());
    let above = with(110.0);
    let (synchronous, asynchronous) = lock_service(&above);
    // The smoothed service time comes near the true one from below only; preload sends nothing.
    assert!((asynchronous.unwrap() - 111e-6).abs() < 1e-7, "{synchronous:?} {asynchronous:?}");
    let counts = |results: &Results| {
        let uses = results.intervals[0].structures.iter().filter(|one| one.lock);
        uses.fold((0, 0), |sum, one| (sum.0 + one.synchronous.count, sum.1 + one.converted))
    };
    assert!(counts(&above).1 > counts(&above).0);
    // The answer takes as long either way; the sender spends 50 us instead of 5, and notices the end 100 us later.
    let all_sync = response(&below, 0);
    let quick = with(1.0);
    let all_async = response(&quick, 0);
    let spin = |results: &Results| -> f64 {
        results.intervals[0].classes[0].systems.iter().map(|one| one.used["coupling_spin"]).sum()
    };
    let requests = |results: &Results| -> f64 {
        let uses = results.intervals[0].classes[0].systems.iter().map(|one| &one.used);
        uses.map(|used| used["coupling_locks"] + used["coupling_pages"]).sum()
    };
    assert!(spin(&quick) < 0.02 * spin(&below));
    let each = requests(&below) / below.responses[0].count as f64;
    let expected = each * (50e-6 - 5e-6 + 100e-6);
    assert!((all_async - all_sync - expected).abs() < 0.03 * expected, "{} {expected}", all_async - all_sync);
}

#[test]
fn faster_engines_convert_earlier() {
    let converted = |threshold: f64, speed: f64| {
        let results = one_by_one(|value| {
            value["coupling"]["convert_above_us"] = json!(threshold);
            value["coupling_facility"][0]["distance_km"] = json!(10.0);
            value["cec"].as_array_mut().unwrap().iter_mut().for_each(|cec| cec["speed"] = json!(speed));
        });
        results.intervals[0].structures.iter().filter(|one| one.lock).map(|one| one.converted).sum::<u64>() > 0
    };
    // A lock takes 111 us at any speed of the engines, since distance, link and facility are not theirs: 10 km are
    // 100 us. The threshold is a path length: 224 us at speed 1 are 112 at speed 2, and 220 are 110.
    assert!(!converted(224.0, 1.0));
    assert!(!converted(224.0, 2.0));
    assert!(!converted(220.0, 1.0));
    assert!(converted(220.0, 2.0));
}

#[test]
fn threadsafe_programs_leave_the_qr_tcb_to_others() {
    // 100 a second of 4 x 5 ms on one QR TCB are twice what it can; threadsafe only the first part is on it.
    let with = |threadsafe: bool, rate: f64| {
        run(&json!({
            "run": {"seed": 8, "warm_up": 20.0, "seconds": 200.0, "interval": 200.0},
            "cec": [{"name": "C1", "engines": 8}],
            "system": [{"name": "SYS1", "cec": "C1"}],
            "cics": {"switch_us": 10.0},
            "db2": [{
                "group": "DB1", "member": [{"name": "DB1", "system": "SYS1"}],
                "pool": [{"number": 1, "size": 1000}], "page_set": [{"name": "TS", "pool": 1, "pages": 100}],
            }],
            "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1"}],
            "class": [{
                "name": "TRAN", "rate": rate, "regions": ["AOR1"], "cpu": 0.02, "db2_cpu": 0.001, "calls": 3,
                "threadsafe": threadsafe,
            }],
        }))
    };
    let qr = |results: &Results| {
        results.utilisations.iter().find(|one| one.resource == Resource::QrTcb).unwrap().utilisation
    };
    let (bound, free) = (with(false, 100.0), with(true, 100.0));
    assert!(qr(&bound) > 0.999 && bound.responses[0].count < 100 * 200 * 6 / 10);
    // 100 a second of 5 ms and a switch.
    assert!((qr(&free) - 0.501).abs() < 0.02, "{}", qr(&free));
    // Switches: to the first call and, at the end, back; or to each of three calls and the commit, and back thrice.
    let each = |results: &Results| cpu(results, "AOR1") / results.responses[0].count as f64;
    let (bound, free) = (with(false, 10.0), with(true, 10.0));
    assert!((each(&free) - (0.021 + 20e-6 + 20e-6)).abs() < 3e-5, "{}", each(&free));
    assert!((each(&bound) - each(&free) - 50e-6).abs() < 3e-5, "{} {}", each(&bound), each(&free));
}

#[test]
fn thought_has_two_humps() {
    // A gamma of shape 4 around each: P(t < x) = 1 - e^-y (1 + y + y^2/2 + y^3/6) with y = 4 x / mean.
    let (short, long, share) = (2.0, 30.0, 0.6);
    let length = Length::Humps { short, long, short_share: share };
    let mut stream = Stream::new(3, "thought");
    let values: Vec<f64> = (0..100_000).map(|_| seconds(stream.time(&length))).collect();
    let below = |mean: f64, x: f64| {
        let y = 4.0 * x / mean;
        1.0 - (-y).exp() * (1.0 + y + y * y / 2.0 + y * y * y / 6.0)
    };
    let distribution = |x: f64| share * below(short, x) + (1.0 - share) * below(long, x);
    let found = |x: f64| values.iter().filter(|&&value| value < x).count() as f64 / values.len() as f64;
    for x in [0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 15.0, 30.0, 45.0, 70.0] {
        // Five standard deviations of a share of 100,000 are 0.008 at most.
        assert!((found(x) - distribution(x)).abs() < 0.008, "{x}: {} {}", found(x), distribution(x));
    }
    // Two humps: between them hardly anybody.
    let density = |from: f64, to: f64| (found(to) - found(from)) / (to - from);
    assert!(density(1.0, 2.0) > 10.0 * density(5.5, 6.5) && density(20.0, 25.0) > 2.0 * density(5.5, 6.5));
}

#[test]
fn transactions_that_lock_in_opposite_order_deadlock_and_all_end() {
    let class = |name: &str, order: [&str; 2]| {
        json!({
            "name": name, "rate": 2.0, "regions": ["AOR1"], "db2_cpu": 0.04, "calls": 2,
            "references": order.map(|page_set| json!({"page_set": page_set, "getpages": 1.0, "update": 1.0})),
        })
    };
    let results = run(&json!({
        "run": {"seed": 8, "warm_up": 10.0, "seconds": 300.0, "interval": 300.0},
        "cec": [{"name": "C1", "engines": 8}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1"}], "deadlock_cycle": 0.1,
            "pool": [{"number": 1, "size": 1000}],
            "page_set": [{"name": "A", "pool": 1, "pages": 1}, {"name": "B", "pool": 1, "pages": 1}],
        }],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1"}],
        "class": [class("AB", ["A", "B"]), class("BA", ["B", "A"])],
    }));
    let locking = &results.intervals[0].members[0].locking;
    assert!(locking.deadlocks > 50 && locking.timeouts == 0, "{locking:?}");
    let ended: u64 = results.responses.iter().map(|one| one.count).sum();
    let failed: u64 = results.failures.iter().map(|one| one.count).sum();
    assert!(results.failures.iter().all(|one| one.reason == "deadlock_or_timeout"));
    // 4 a second for 300 s, five standard deviations to either side.
    assert!((1026..1374).contains(&(ended + failed)), "{ended} {failed}");
}

/// One subsystem whose transactions read and change what is said; 10 a second unless the class says otherwise.
fn alone(change: impl Fn(&mut Value)) -> Results {
    let mut value = json!({
        "run": {"seed": 8, "warm_up": 20.0, "seconds": 2000.0, "interval": 2000.0, "preload": false},
        "cec": [{"name": "C1", "engines": 8}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "dasd": {"volumes": 1000, "cache_hits": 0.75, "hit_time": 0.001, "miss_time": 0.005},
        "db2": [{
            "group": "DB1", "member": [{"name": "DB1", "system": "SYS1"}],
            "pool": [{"number": 1, "size": 1000}], "page_set": [{"name": "TS", "pool": 1, "pages": 100_000_000}],
            "lock_avoidance": 0.7,
        }],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DB1"}],
        "class": [{
            "name": "TRAN", "rate": 10.0, "regions": ["AOR1"], "cpu": 0.001,
            "references": [{"page_set": "TS", "getpages": 3.0}],
        }],
    });
    change(&mut value);
    run(&value)
}

#[test]
fn reads_are_answered_by_the_cache_as_often_as_said_and_locks_avoided() {
    let results = alone(|_| {});
    let volumes = &results.intervals[0].systems[0].volumes;
    let (requests, service) = volumes.iter().fold((0, 0.0), |sum, one| (sum.0 + one.requests, sum.1 + one.service));
    let transactions = results.responses[0].count as f64;
    // Hardly a page is read twice.
    assert!((requests as f64 - 3.0 * transactions).abs() < 20.0, "{requests} {transactions}");
    // 0.75 x 1 ms + 0.25 x 5 ms, of a deviation of 4 ms x sqrt(0.75 x 0.25).
    let deviation = 0.004 * (0.75f64 * 0.25).sqrt() / (requests as f64).sqrt();
    let mean = service / requests as f64;
    assert!((mean - 0.002).abs() < 5.0 * deviation, "{mean}");
    // Three of ten pages are locked, each of three once a transaction.
    let locks = results.intervals[0].members[0].locking.locks as f64 / transactions;
    let deviation = (3.0 * 0.7f64 * 0.3 / transactions).sqrt();
    assert!((locks - 0.9).abs() < 5.0 * deviation, "{locks}");
}

#[test]
fn who_waits_longer_than_the_timeout_is_rolled_back_and_tries_again() {
    // A user changes a page, reads another from a disk that takes 2 s, commits, and thinks 2 s: the page is locked half
    // of the time. Who comes at random and wants it waits for what is left of the 2 s, uniformly: 1 s on the average,
    // of which each whole half second ends in a timeout, 0 to 3 of them, 1.5 on the average.
    let results = alone(|value| {
        value["run"]["seconds"] = json!(60_000.0);
        value["run"]["interval"] = json!(60_000.0);
        value["dasd"] = json!({"cache_hits": 0.0, "miss_time": 2.0});
        value["db2"][0]["lock_timeout"] = json!(0.5);
        value["db2"][0]["pool"] = json!([{"number": 1, "size": 1000}, {"number": 2, "size": 1000}]);
        value["db2"][0]["page_set"] =
            json!([{"name": "HOT", "pool": 2, "pages": 1}, {"name": "TS", "pool": 1, "pages": 100_000_000}]);
        value["class"] = json!([
            {"name": "HOLD", "users": 1, "think": 2.0, "regions": ["AOR1"], "references": [
                {"page_set": "HOT", "getpages": 1.0, "update": 1.0}, {"page_set": "TS", "getpages": 1.0},
            ]},
            {"name": "WANT", "rate": 0.05, "regions": ["AOR1"],
             "references": [{"page_set": "HOT", "getpages": 1.0, "update": 1.0}]},
        ]);
    });
    let (wants, locking) = (&results.responses[1], &results.intervals[0].members[0].locking);
    let all = wants.count as f64;
    let (timeouts, deviation) = (locking.timeouts as f64 / all, ((14.0 / 8.0 - 0.75f64.powi(2)) / all).sqrt());
    assert!((timeouts - 0.75).abs() < 5.0 * deviation, "{timeouts} of {all}");
    let (mean, deviation) = (wants.mean.unwrap(), ((4.0 / 6.0 - 0.5f64.powi(2)) / all).sqrt());
    assert!((mean - 0.5).abs() < 5.0 * deviation, "{mean}");
    assert_eq!((results.failures.len(), locking.deadlocks), (0, 0));
}

#[test]
fn goal_oriented_routing_keeps_off_a_loaded_system() {
    // The terminal region's own system is busy with other work in other regions; queues of the two regions are as empty.
    let shipped = |routing: &str| {
        let results = run(&json!({
            "run": {"seed": 8, "warm_up": 20.0, "seconds": 500.0, "interval": 500.0},
            "cec": [{"name": "C1", "engines": 1}, {"name": "C2", "engines": 1}],
            "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
            "cics": {"routing": routing},
            "region": [
                {"name": "TOR1", "system": "SYS1", "priority": 1}, {"name": "OTHER", "system": "SYS1", "priority": 4},
                {"name": "AOR1", "system": "SYS1", "priority": 2}, {"name": "AOR2", "system": "SYS2", "priority": 2},
            ],
            "class": [
                {"name": "TRAN", "rate": 2.0, "terminal_regions": ["TOR1"], "regions": ["AOR1", "AOR2"], "cpu": 0.005},
                {"name": "LOAD", "users": 5, "regions": ["OTHER"], "cpu": 0.1},
            ],
        }));
        let there = results.intervals[0].classes[0].systems.iter().find(|one| one.system == "SYS2");
        there.map_or(0.0, |one| one.response.count as f64) / results.responses[0].count as f64
    };
    assert!(shipped("goal_oriented") > 0.98, "{}", shipped("goal_oriented"));
    // The shortest queue of two empty ones is the near one.
    assert!(shipped("join_shortest_queue") < 0.02, "{}", shipped("join_shortest_queue"));
    let turns = shipped("round_robin");
    assert!((turns - 0.5).abs() < 0.01, "{turns}");
}
