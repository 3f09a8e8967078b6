"""The closed form of a whole scenario, for a group small enough to work out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.sharing.twin_numbers import Key
from plexlens.sharing.what_if_changes import Kind, apply_changes, parse_change
from tests.sharing.closed_numbers import Basis, closed_numbers, dependent_sets

#: A tenth of a second in Db2; so a lock that stays to commit is held for a twentieth.
BASIS = Basis({"A": 0.1, "B": 0.1}, {"A": "WORK", "B": "WORK"}, {"DSNG_GBP1": 0.5}, {})


@pytest.fixture
def values() -> dict[str, Any]:
    references = [{"page_set": "TS", "getpages": 4.0, "update": 0.5}]
    return {
        "cec": [{"name": "C1", "engines": 2}, {"name": "C2", "engines": 2}],
        "system": [{"name": "SYS1", "cec": "C1"}, {"name": "SYS2", "cec": "C2"}],
        "coupling_facility": [{"name": "CF1", "link": 3e-6}],
        "coupling": {"lock_us": 2.0, "read_us": 3.0, "page_us": 5.0, "sync_host_us": 2.0, "convert_above_us": 50.0},
        "db2": [
            {
                "group": "DSNG",
                "lock_avoidance": 1.0,
                "lock": {"coupling_facility": "CF1", "entries": 100},
                "member": [{"name": "DB1", "system": "SYS1"}, {"name": "DB2", "system": "SYS2"}],
                "pool": [{"number": 1, "size": 1000, "group": {"coupling_facility": "CF1", "data_entries": 500}}],
                "page_set": [{"name": "TS", "pool": 1, "pages": 500}],
            }
        ],
        "region": [
            {"name": "R1", "system": "SYS1", "db2": "DSNG"},
            {"name": "R2", "system": "SYS2", "db2": "DSNG"},
        ],
        "class": [
            {"name": "A", "rate": 10.0, "regions": ["R1"], "references": references},
            {"name": "B", "rate": 10.0, "regions": ["R2"], "references": [dict(references[0])]},
        ],
    }


def test_by_hand(values: dict[str, Any]) -> None:
    found = closed_numbers(values, BASIS)
    assert dependent_sets(values, values["db2"][0]) == {"TS"}
    # 20 transactions with two exclusive locks each, asked for and given back.
    assert found[Key("lock_requests", "DSNG_LOCK1")] == pytest.approx(80.0)
    # Two microseconds in the facility, three of link each way; waits of a load of 0.0007 are a nanosecond or two.
    assert found[Key("service", "DSNG_LOCK1")] == pytest.approx(8e-6, abs=5e-9)
    # The other member holds 10 x 2 x 0.05 = 1 lock: 1/100 of the lock requests, half that of all.
    assert found[Key("false_contention", "DSNG_LOCK1")] == pytest.approx(0.005)
    # On the same of 500 pages alike: 40 requests a second x 1/500 of the one lock held.
    contention = found[Key("contention", "DSNG_LOCK1")] - found[Key("false_contention", "DSNG_LOCK1")]
    assert contention == pytest.approx(40.0 / 500 / 80)
    # All pages fit everywhere: a page is invalid if the other wrote it since; at equal rates of 4 uses and 2 writes
    # that is 2/(4 + 2) of the getpages. It is in the group buffer pool, since it was written.
    name = "DSNG_GBP1"
    assert found[Key("absent", name)] == pytest.approx(0.0, abs=1e-6)
    assert found[Key("invalid", name)] == pytest.approx(80.0 / 3.0)
    assert found[Key("hit", name)] == pytest.approx(1.0)
    assert found[Key("writes", name)] == pytest.approx(40.0)
    # Reads and writes of pages, half as many castouts, and for every third of these one more request.
    assert found[Key("pool_requests", name)] == pytest.approx(80 / 3 + 40 + 20 + 20 / 3)
    cpu = 80 * 10e-6 + (80 / 3 + 60) * (2 + 6 + 5) * 1e-6 + 20 / 3 * (2 + 6 + 3) * 1e-6
    settled = (0.005 * 80 + 40.0 / 500) * 30e-6
    assert found[Key("coupling_cpu")] == pytest.approx(cpu + settled, rel=0.002)


def test_changes_by_hand(values: dict[str, Any]) -> None:
    def after(kind: Kind, text: str) -> dict[Key, float]:
        return closed_numbers(apply_changes(values, [parse_change(kind, text)]).values, BASIS)

    lock = "DSNG_LOCK1"
    assert after(Kind.LOCK_ENTRIES, "2x")[Key("false_contention", lock)] == pytest.approx(0.0025, rel=0.01)
    assert after(Kind.SPEED, "2")[Key("service", lock)] == pytest.approx(7e-6, abs=5e-9)
    assert after(Kind.LINK, "0.5x")[Key("service", lock)] == pytest.approx(5e-6, abs=5e-9)
    # Ten kilometres: 8 + 100 µs are above the threshold of 50.
    far = after(Kind.DISTANCE, "10km")
    assert far[Key("service", lock)] == pytest.approx(108e-6, abs=5e-9)
    assert far[Key("async", lock)] == 1.0
    apart = after(Kind.SEPARATE, "BP1")
    assert apart[Key("coupling_cpu")] == 0.0
    assert Key("lock_requests", lock) not in apart
