//! What a run writes down event by event: the same run with and without, all of it, and in the order of time.

use std::cell::RefCell;
use std::collections::BTreeMap;

use plexlens_bufferpool::trace::Status;
use plexlens_sysplex::group::logs::{Logged, Logs, Piece, Wanted};
use plexlens_sysplex::group::measured::{Interval, Results};
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::{Value, json};

/// A member on one machine, with a terminal region, two pools, threads that are too few, locks that are waited for.
fn one_member(warm_up: f64) -> Scenario {
    let value: Value = json!({
        "run": {"seed": 11, "warm_up": warm_up, "seconds": 40.0, "interval": 10.0},
        "cec": [{"name": "C1", "engines": 2}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "db2": [{
            "group": "DSNG",
            "member": [{"name": "DB1", "system": "SYS1"}],
            "pool": [{"number": 1, "size": 500}, {"number": 7, "size": 300}],
            "page_set": [
                {"name": "DB.TS", "pool": 1, "pages": 3000, "skew": 0.8},
                {"name": "DB.HOT", "pool": 7, "pages": 20},
            ],
        }],
        "region": [
            {"name": "TOR1", "system": "SYS1"},
            {"name": "AOR1", "system": "SYS1", "db2": "DSNG", "threads": 2},
        ],
        "class": [
            {
                "name": "PAY", "rate": 150.0, "terminal_regions": ["TOR1"], "regions": ["AOR1"],
                "terminal_cpu": 0.0004, "cpu": 0.003, "db2_cpu": 0.001, "calls": 3,
                "references": [
                    {"page_set": "DB.TS", "getpages": 5.5, "update": 0.2},
                    {"page_set": "DB.HOT", "getpages": 1.0, "update": 1.0},
                ],
            },
            {
                "name": "SCAN", "users": 1, "think": 1.0, "regions": ["AOR1"], "cpu": 0.001,
                "references": [{"page_set": "DB.TS", "getpages": 100.0, "access": "sequential"}],
            },
        ],
    });
    Scenario::from_json(&value.to_string()).unwrap()
}

const BOTH: Wanted = Wanted { transactions: true, references: true };

/// A run, its intervals and all that was logged in each.
fn logged(scenario: &Scenario, wanted: Wanted) -> (Results, Vec<(Interval, Logged)>) {
    let made = RefCell::new(Vec::<(Interval, Logged)>::new());
    let under_way = RefCell::new(Logged::default());
    let hand = Box::new(|piece| {
        match piece {
            Piece::Begun(empty) => {
                assert_eq!((empty.start, empty.end), (0.0, 0.0));
                assert!(empty.classes.iter().flat_map(|one| &one.systems).all(|one| one.response.count == 0));
                assert!(empty.members.iter().flat_map(|one| &one.pools).all(|one| one.local["getpages"] == 0));
            }
            Piece::Logged(more) => {
                let mut all = under_way.borrow_mut();
                let before = all.transactions.len() as u32;
                all.transactions.extend(more.transactions);
                all.pools.extend(more.pools.into_iter().map(|(at, part)| (before + at, part)));
                all.references.extend(more.references);
            }
            Piece::Over(interval) => made.borrow_mut().push((interval, under_way.take())),
        }
        true
    });
    let results = Simulation::new(scenario).with_logs(Logs::new(wanted, hand)).run();
    (results, made.into_inner())
}

#[test]
fn a_run_is_the_same_with_and_without() {
    let scenario = one_member(5.0);
    let (with, _) = logged(&scenario, BOTH);
    let without = Simulation::new(&scenario).run();
    assert_eq!(serde_json::to_string(&with).unwrap(), serde_json::to_string(&without).unwrap());
}

#[test]
fn transactions_add_up_to_what_their_class_used() {
    let scenario = one_member(5.0);
    let (results, intervals) = logged(&scenario, Wanted { references: false, ..BOTH });
    assert_eq!(intervals.len(), results.intervals.len());
    let mut number = 0;
    for (interval, logged) in &intervals {
        assert!(logged.references.is_empty());
        assert!(logged.transactions.is_sorted_by_key(|one| one.ended));
        let (from, to) = ((interval.start * 1e9) as i64, (interval.end * 1e9) as i64);
        for (class, about) in interval.classes.iter().enumerate() {
            let of_it: Vec<_> =
                logged.transactions.iter().enumerate().filter(|(_, one)| usize::from(one.class) == class).collect();
            let counts = &about.systems[0];
            assert_eq!(of_it.len() as u64, counts.response.count);
            assert!(counts.response.count > 3);
            let response: f64 = of_it.iter().map(|(_, one)| (one.ended - one.arrived) as f64 / 1e9).sum();
            assert!((response - counts.response.seconds).abs() < 1e-9 * response);
            let mut sums = BTreeMap::new();
            let mut pools = BTreeMap::new();
            for &(at, one) in &of_it {
                assert!(from <= one.ended && one.ended <= to);
                for (name, value) in one.account.named() {
                    *sums.entry(name).or_insert(0.0) += value;
                }
                for (_, part) in logged.pools.iter().filter(|&&(of, _)| of as usize == at) {
                    *pools.entry(part.number).or_insert((0, 0, 0)) =
                        pools.get(&part.number).map_or((part.getpages, part.updates, part.sync_reads), |sum| {
                            (sum.0 + part.getpages, sum.1 + part.updates, sum.2 + part.sync_reads)
                        });
                }
            }
            for (name, sum) in &counts.used {
                assert!((sums[name] - sum).abs() <= 1e-9 * sum.abs(), "{name} {} {sum}", sums[name]);
            }
            let of_class: BTreeMap<_, _> =
                counts.pools.iter().map(|one| (one.number, (one.getpages, one.updates, one.sync_reads))).collect();
            assert_eq!(pools, of_class);
            let getpages: u64 = of_class.values().map(|counts| counts.0).sum();
            assert_eq!(getpages as f64, counts.used["getpages"]);
        }
        for one in &logged.transactions {
            number += 1;
            assert_eq!(one.number, number);
        }
    }
}

#[test]
fn the_times_of_a_transaction_fit_into_one_another() {
    let scenario = one_member(0.0);
    let (_, intervals) = logged(&scenario, BOTH);
    let (mut redispatched, mut waited, mut ended) = (0, 0, 0);
    for one in intervals.iter().flat_map(|(_, logged)| &logged.transactions) {
        ended += 1;
        assert!(one.arrived <= one.sent && one.sent <= one.attached && one.attached <= one.ended);
        assert!(one.attached <= one.thread_begin && one.thread_begin < one.thread_end && one.thread_end <= one.ended);
        let db2 = (one.account.db2_elapsed * 1e9).round() as i64;
        let stay = one.ended - one.attached;
        // First dispatch, QR, waits for it, threads and Db2 follow one another; a rollback adds what is between.
        let known = one.stay.first_dispatch + one.stay.dispatched + one.stay.redispatch + one.thread_wait;
        let rest = stay - db2 - known as i64;
        assert!(if one.account.rollbacks == 0 { rest.abs() <= 10 } else { rest >= -10 }, "{one:?}");
        assert!(db2 <= one.thread_end - one.thread_begin + 10);
        assert!((one.account.region_cpu * 1e9).round() as u64 <= one.stay.dispatched + 10);
        let in_terminal = one.terminal.first_dispatch + one.terminal.dispatched + one.terminal.redispatch;
        assert_eq!(in_terminal as i64, one.sent - one.arrived);
        assert!((one.account.terminal_cpu * 1e9).round() as u64 <= one.terminal.dispatched + 10);
        let is_pay = one.class == 0;
        assert_eq!((one.terminal_region, one.db2_calls), if is_pay { (Some(0), 3) } else { (None, 1) });
        assert_eq!(one.region, 1);
        redispatched += u64::from(one.stay.redispatch > 0);
        waited += u64::from(one.thread_waits);
    }
    assert!(ended > 4_000 && redispatched > 100 && waited > 100, "{ended} {redispatched} {waited}");
}

#[test]
fn references_are_what_the_pools_count() {
    let scenario = one_member(5.0);
    let (_, intervals) = logged(&scenario, BOTH);
    for (interval, logged) in &intervals {
        assert!(logged.references.is_sorted_by_key(|one| one.time));
        for pool in &interval.members[0].pools {
            let of_it = || logged.references.iter().filter(|one| one.pool == pool.number);
            let local = &pool.local;
            assert_eq!(of_it().count() as u64, local["getpages"]);
            assert_eq!(of_it().filter(|one| one.update).count() as u64, local["updates"]);
            let misses = of_it().filter(|one| one.status == Status::Miss).count() as u64;
            assert_eq!(misses, local["sync_reads_random"] + local["sync_reads_sequential"]);
            assert!(of_it().all(|one| one.page < if pool.number == 1 { 3000 } else { 20 }));
        }
        assert!(logged.references.iter().any(|one| one.sequential));
    }
}

#[test]
fn a_run_that_nobody_listens_to_stops() {
    let scenario = one_member(5.0);
    let pieces = RefCell::new(0);
    let hand = Box::new(|_| {
        *pieces.borrow_mut() += 1;
        *pieces.borrow() < 3
    });
    let results = Simulation::new(&scenario).with_logs(Logs::new(BOTH, hand)).run();
    // The empty interval, what the first logged, and the first itself, after which nobody was there.
    assert_eq!((results.intervals.len(), pieces.into_inner()), (1, 3));
}
