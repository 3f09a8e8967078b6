//! How pools are filled before a run, against bounds by hand.

use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::Scenario;
use serde_json::json;

#[test]
fn a_pool_of_scans_is_filled_by_scans() {
    // Each scan begins anywhere, so 5,000 of 22,000 pages are there, in pieces of 416: 13 requests of 32 pages. A request
    // needs no I/O if all its pages are there: in less than 5,000 of 22,000, but more than if the 416 pages of the scan
    // itself did not count and each piece lost one request at its ends. Filled at random, 90 % of the pool would hold
    // single pages that scans do not steal (VPSEQT 10), and 500 of 22,000 would be the most.
    let scenario = json!({
        "run": {"seed": 2, "warm_up": 0.0, "seconds": 400.0, "interval": 400.0},
        "cec": [{"name": "C1", "engines": 4}],
        "system": [{"name": "SYS1", "cec": "C1"}],
        "db2": [{
            "group": "DSNG", "member": [{"name": "DB1", "system": "SYS1"}],
            "pool": [{"number": 3, "size": 5000, "vpseqt": 10}], "page_set": [{"name": "SCAN.TS", "pool": 3, "pages": 22_000}],
        }],
        "region": [{"name": "AOR1", "system": "SYS1", "db2": "DSNG"}],
        "class": [{
            "name": "SCANS", "rate": 5.0, "regions": ["AOR1"], "cpu": 0.0001,
            "references": [{"page_set": "SCAN.TS", "getpages": 400.0, "access": "sequential"}],
        }],
    });
    let results = Simulation::new(&Scenario::from_json(&scenario.to_string()).unwrap()).run();
    let pool = &results.intervals[0].members[0].pools[0].local;
    let (requests, reads) = (pool["sequential_requests"], pool["sequential_reads"]);
    assert!(requests > 25_000, "{requests}");
    let spared = 1.0 - reads as f64 / requests as f64;
    let least = (5000.0 - 416.0) / 22_000.0 * 12.0 / 13.0;
    assert!((least..5000.0 / 22_000.0).contains(&spared), "{spared}");
}
