"""Db2 statistics: what the printed reports do not show, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, evaluate, facts
from tests.metrics.raw import inputs, row, rows_of

SUBSYSTEM_GRAIN = GRAINS["db2_subsystem"]
POOL = GRAINS["db2_pool"]
SIMULATION = GRAINS["db2_pool_simulation"]
GROUP_POOL = GRAINS["db2_group_pool"]
LOCKING = GRAINS["db2_locking"]
LOG = GRAINS["db2_log"]
ADDRESS_SPACE = GRAINS["db2_address_space"]
STORAGE = GRAINS["db2_storage"]
STATISTICS = (SUBSYSTEM_GRAIN, POOL, SIMULATION, GROUP_POOL, LOCKING, LOG, ADDRESS_SPACE, STORAGE)

HEADER = "smf100_qwhs"
SHARING = "smf100_qwha"


def two(table: str, first: dict[str, Any], second: dict[str, Any], *, seconds: float = 60, release: int = 0xC1) -> Any:
    """A section in two successive records of one Db2, so many seconds apart."""
    made = [
        row(number, interval=number, seconds=seconds, subsystem="DB1A", interval_start=None) | values
        for number, values in enumerate((first, second), start=1)
    ]
    headers = [
        row(number, interval=number, seconds=seconds, subsystem="DB1A", qwhsiseq=number + 6, qwhsrn=release)
        for number in (1, 2)
    ]
    sharing = [row(number, subsystem="DB1A", qwhamemn="DB1A", qwhadsgn="DBGRP") for number in (1, 2)]
    return inputs(**{table: made, HEADER: headers, SHARING: sharing})


def only(table: Any) -> dict[str, Any]:
    (found,) = rows_of(table)
    return dict(found)


#: The statistics of a Db2, of which only created threads are asked for.
THREADS = replace(
    SUBSYSTEM_GRAIN,
    facts=tuple(fact for fact in SUBSYSTEM_GRAIN.facts if fact.name in ("interval_seconds", "threads_created")),
    metrics=(),
)


def test_only_counters_that_are_asked_for_are_differenced() -> None:
    # 70 - 10 threads in 60 s. Prepares of commits are not asked for and tell no restart: nothing reads them.
    source = two("smf100_ifcid1_q3st", {"q3stcthd": 10, "q3stprep": 5}, {"q3stcthd": 70, "q3stprep": 9})
    whole, few = facts(source, SUBSYSTEM_GRAIN), facts(source, THREADS)
    assert whole is not None
    assert few is not None
    intervals = [found for found in few.rows() if found["interval_seconds"] is not None]
    assert [(found["threads_created"], found["interval_seconds"]) for found in intervals] == [(60.0, 60.0)]
    assert ("q3stprep" in whole.sql, "q3stprep" in few.sql) == (True, False)


def test_a_counter_that_is_not_asked_for_still_tells_a_restart() -> None:
    # Commits fell from 500 to 3 while threads rose: the Db2 started between the records, which make no interval.
    source = two("smf100_ifcid1_q3st", {"q3stcthd": 10, "q3stcomm": 500}, {"q3stcthd": 70, "q3stcomm": 3})
    few = facts(source, THREADS)
    assert few is not None
    assert [found["threads_created"] for found in few.rows() if found["interval_seconds"] is not None] == []


def test_address_spaces_tell_cp_from_ziip() -> None:
    # In 60 s DBM1 ran 3 s in TCBs, 9 s in SRBs on CPs (6 s of them preemptable) and 12 s on zIIPs.
    source = two(
        "smf100_ifcid1_qwsa",
        {"qwsaproc": "DBM1", "qwsaejst": 100.0, "qwsasrbt": 50.0, "qwsapsrb": 20.0, "qwsapsrb_ziip": 7.0},
        {"qwsaproc": "DBM1", "qwsaejst": 103.0, "qwsasrbt": 59.0, "qwsapsrb": 26.0, "qwsapsrb_ziip": 19.0},
    )
    found = only(evaluate(source, ADDRESS_SPACE))
    assert (found["address_space"], found["group_name"], found["db2_version"]) == ("DBM1", "DBGRP", "12")
    assert (found["cp_seconds"], found["nonpreemptable_srb_seconds"]) == (12.0, 3.0)
    assert found["cp_processors"] == pytest.approx(0.2)
    assert found["iip_processors"] == pytest.approx(0.2)
    assert found["iip_fraction"] == pytest.approx(0.5)
    assert found["tcb_fraction"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("number", "name", "page"),
    [
        (0, "BP0", 4096),
        (49, "BP49", 4096),
        (80, "BP32K", 32768),
        (89, "BP32K9", 32768),
        (100, "BP8K0", 8192),
        (129, "BP16K9", 16384),
        (77, "BP#77", 4096),
    ],
)
def test_pools_have_their_names_and_page_sizes(number: int, name: str, page: int) -> None:
    pool = {"qbstpid": number, "qbstget": 10, "qbstvpl": 1000}
    found = only(evaluate(two("smf100_ifcid2_qbst", pool, pool | {"qbstget": 70}), POOL))
    assert (found["pool"], found["pool_bytes"], found["getpages_per_second"]) == (name, 1000 * page, 1.0)


def test_a_counter_of_db2_9_wraps_and_one_of_db2_12_does_not() -> None:
    before, after = ({"qbstpid": 0, "qbstget": 2**32 - 40}, {"qbstpid": 0, "qbstget": 20})
    old = two("smf100_ifcid2_qbst", before, after, release=0x91)
    assert only(evaluate(old, POOL))["getpages"] == 60.0
    assert only(evaluate(old, POOL))["db2_version"] == "9"
    assert rows_of(evaluate(two("smf100_ifcid2_qbst", before, after), POOL)) == []


def test_a_level_where_a_counter_was_thought_to_be_makes_no_restart() -> None:
    # The place of QBSTDWT is inferred; what falls from 900 to 30 there is no count.
    source = two(
        "smf100_ifcid2_qbst",
        {"qbstpid": 0, "qbstget": 100, "qbstdwt": 900},
        {"qbstpid": 0, "qbstget": 160, "qbstdwt": 30},
    )
    found = only(evaluate(source, POOL))
    assert (found["getpages"], found["deferred_write_threshold"]) == (60.0, None)


def test_a_pool_without_activity_has_null_ratios() -> None:
    pool = {"qbstpid": 0, "qbstget": 10, "qbstrio": 5, "qbstvpl": 1000, "qbstpws": 4, "qbstwio": 1, "qbstimw": 0}
    found = only(evaluate(two("smf100_ifcid2_qbst", pool, pool), POOL))
    assert found["read_ios_per_second"] == 0.0
    for name in ("hit_fraction", "system_hit_fraction", "residency", "pages_per_write", "page_in_fraction"):
        assert found[name] is None, name


def test_pools_roll_up_before_their_ratios() -> None:
    # 60 s: BP1 1000 getpages and 100 reads, BP2 200 getpages and 200 reads: (1200 - 300) / 1200.
    made = []
    for number, counts in ((1, (0, 0, 0, 0)), (2, (1000, 100, 200, 200))):
        for pool, (gets, reads) in enumerate((counts[:2], counts[2:]), start=1):
            made.append(
                row(number, pool, interval=number, seconds=60, subsystem="DB1A", interval_start=None)
                | {"qbstpid": pool, "qbstget": gets, "qbstrio": reads, "qbstvpl": 1000 * pool}
            )
    found = only(evaluate(inputs(smf100_ifcid2_qbst=made), POOL, by=["subsystem"], time="all"))
    assert found["hit_fraction"] == 0.75
    assert (found["read_ios_per_second"], found["interval_seconds"], found["buffers"]) == (5.0, 60.0, 3000.0)


def test_locking_without_data_sharing_has_no_global_part() -> None:
    source = two("smf100_ifcid2_qtxa", {"qtxalock": 5, "qtxasloc": 0}, {"qtxalock": 605, "qtxasloc": 6})
    found = only(evaluate(source, LOCKING))
    assert (found["lock_requests_per_second"], found["suspension_fraction"]) == (10.0, 0.01)
    assert (found["global_contention_fraction"], found["suspends_irlm"], found["xes_fraction"]) == (None, None, None)


def test_sections_of_one_record_become_one_row_of_the_subsystem() -> None:
    """IFCID 1 and 2 are written within moments: 3 seconds apart here, 60 seconds to the next."""

    def at(number: int, late: float, **values: Any) -> dict[str, Any]:
        made = row(number, interval=number % 10, seconds=60, subsystem="DB1A", interval_start=None)
        return made | {"interval_end": made["interval_end"] + timedelta(seconds=late)} | values

    source = inputs(
        smf100_ifcid1_q3st=[at(1, 0, q3stcthd=10), at(2, 0, q3stcthd=70)],
        smf100_ifcid2_qxst=[at(11, 3, qxselect=100), at(12, 3, qxselect=700)],
        smf100_ifcid2_qbst=[at(11, 3, qbstpid=0, qbstget=0), at(11, 3, qbstpid=1, qbstget=0, section_no=2),
                            at(12, 3, qbstpid=0, qbstget=1000), at(12, 3, qbstpid=1, qbstget=200, section_no=2)],
    )  # fmt: skip
    (found,) = (row for row in rows_of(facts(source, SUBSYSTEM_GRAIN)) if not row["unused_records"])
    assert (found["threads_created"], found["selects"], found["getpages"]) == (60.0, 600.0, 1200.0)
    rolled = only(evaluate(source, SUBSYSTEM_GRAIN, time="all"))
    assert (rolled["getpages_per_sql"], rolled["sql_per_second"], rolled["records"]) == (2.0, 10.0, 2.0)


def test_a_simulated_pool_tells_what_it_would_save() -> None:
    # 60 s: 120 random and 60 sequential reads avoidable, 0.36 s of delay, by 5000 pages.
    first = {"qbsppid": 7, "qbspius": 4000, "qbspdrr": 10, "qbspdrs": 5, "qbspdtm": 1.0}
    second = {"qbsppid": 7, "qbspius": 5000, "qbspdrr": 130, "qbspdrs": 65, "qbspdtm": 1.36}
    found = only(evaluate(two("smf100_ifcid2_qbsp", first, second), SIMULATION))
    assert (found["pool"], found["simulated_pages"], found["avoided_sync_reads_per_second"]) == ("BP7", 5000.0, 3.0)
    assert found["avoided_delay"] == pytest.approx(0.002)
    assert found["random_share"] == pytest.approx(2 / 3)
    assert found["avoided_sync_reads_per_page"] == pytest.approx(3 / 5000)


def test_storage_adds_the_address_spaces_up() -> None:
    def record(number: int) -> dict[str, list[dict[str, Any]]]:
        def at(section_no: int = 1, **values: Any) -> dict[str, Any]:
            return row(number, section_no, interval=number, seconds=60, subsystem="DB1A", interval_start=None) | values

        return {
            "smf100_ifcid225_threads": [at(qw0225at=30, qw0225db=12)],
            "smf100_ifcid225_space": [
                at(1, qw0225an="DBM1", qw0225rg=1000, qw0225av=250, qw0225rl=70_000, qw0225ax=5,
                   qw0225hvpagesinreal=60_000, qw0225pristg_real=10_000),
                at(2, qw0225an="DIST", qw0225rg=900, qw0225av=800, qw0225rl=2000, qw0225ax=1),
            ],
            "smf100_ifcid225_common": [
                at(qw0225shrstg_real=3000, qw0225shrstkstg_real=1000, qw0225comstg_real=500, qw0225_lmwrite_real=400,
                   qw0225_lmctrl_real=100, qw0225comstg_aux=2, qw0225_realavail=9000)
            ],
        }  # fmt: skip

    first, second = record(1), record(2)
    source = inputs(**{name: first[name] + second[name] for name in first})
    found = only(evaluate(source, STORAGE))
    # 72,000 private, 4000 shared, 500 common and 500 log frames; 50,000 of them pools.
    assert found["real_bytes"] == 77_000 * 4096
    assert found["aux_bytes"] == 8 * 4096
    assert found["pool_fraction"] == pytest.approx(50_000 / 77_000)
    assert (found["dbm1_free_fraction"], found["threads"]) == (0.25, 42.0)
    assert found["available_bytes"] == 9000 * 4096


def test_a_member_of_no_group_has_none() -> None:
    pool = {"qbglgn": 0, "qbglxd": 1}
    made = [row(n, interval=n, seconds=60, subsystem="DB1A", interval_start=None) | pool for n in (1, 2)]
    found = only(evaluate(inputs(smf100_ifcid2_qbgl=made), GROUP_POOL))
    assert (found["group_pool"], found["group_name"], found["member"], found["db2_version"]) == (
        "GBP0",
        None,
        None,
        None,
    )


def test_without_records_there_is_nothing() -> None:
    source = inputs(smf100_qwhs=[row(1, qwhsiseq=1)])
    assert [grain.name for grain in STATISTICS if available(source, grain)] == []
