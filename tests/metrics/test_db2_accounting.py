"""Db2 accounting metrics against values worked by hand."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import evaluate, facts
from tests.metrics.raw import START, inputs, row, rows_of

ACCOUNTING = GRAINS["db2_accounting"]
CORRELATION = GRAINS["db2_accounting_correlation"]
USER = GRAINS["db2_accounting_user"]
POOL_USE = GRAINS["db2_accounting_pool"]
PACKAGE = GRAINS["db2_package"]

#: Class 1 begins five minutes after the start of a quarter of an hour.
BEGIN = START + timedelta(minutes=5)


def db2(
    record_no: int, section_no: int = 1, *, ended: timedelta = timedelta(minutes=6), **fields: Any
) -> dict[str, Any]:
    """A raw row of Db2 DB2A whose record was written so long after the start."""
    common = {"subsystem": "DB2A", "interval_start": None, "interval_end": START + ended}
    return row(record_no, section_no, **(common | fields))


def correlation(record_no: int, **fields: Any) -> dict[str, Any]:
    named = {
        "qwhcaid": "USER1",
        "qwhccv": "ENTRPAY10001",
        "qwhccn": "CICSA",
        "qwhcplan": "PLANA",
        "qwhcatyp": 4,
        "qwhceuid": "",
        "qwhceutx": "",
        "qwhceuwn": "",
    }
    return db2(record_no, **(named | fields))


#: One second in class 1, 0.8 in Db2, of it 0.2 CPU (0.15 on CPs, 0.05 on zIIPs) and 0.5 suspended.
THREAD = {
    "qwacbsc": BEGIN,
    "qwacesc": BEGIN + timedelta(seconds=1),
    "qwacbjst": 10.0,
    "qwacejst": 10.2,
    "qwaccls1_ziip": 0.1,
    "qwacziip_eligible": 0.02,
    "qwacasc": 0.8,
    "qwacajst": 0.15,
    "qwaccls2_ziip": 0.05,
    "qwaccomm": 4,
    "qwacabrt": 1,
    "qwacarna": 40,
    "qwacawti": 0.3,
    "qwacarne": 60,
    "qwacawtl": 0.05,
    "qwacarnl": 2,
    "qwacawlg": 0.1,
    "qwacarlg": 5,
    "qwacawtr": 0.05,
    "qwacarnr": 1,
}


def one(tables: Any, grain: Grain = ACCOUNTING, **how: Any) -> dict[str, Any]:
    (found,) = rows_of(evaluate(tables, grain, **how))
    return found


def test_times_of_a_thread() -> None:
    found = one(inputs(smf101_ifcid3_qwac=[db2(1, **THREAD)], smf101_qwhc=[correlation(1)]))
    assert (found["subsystem"], found["connection_type"], found["connection"], found["plan"]) == (
        "DB2A",
        "CICS",
        "CICSA",
        "PLANA",
    )
    expected = {
        "class1_elapsed_time": 1.0,
        "class1_cp_time": 0.2,  # 10.2 - 10.0
        "class1_se_time": 0.1,
        "cpu_seconds": 0.3,
        "secp_time": 0.02,
        "class2_elapsed_time": 0.8,
        "class2_cp_time": 0.15,
        "class2_se_time": 0.05,
        "application_time": 0.2,
        "suspended_time": 0.5,  # 0.3 + 0.05 + 0.1 + 0.05
        "not_accounted_time": 0.1,  # 0.8 - 0.15 - 0.05 - 0.5
        "class2_cpu_fraction": 0.25,
        "suspended_fraction": 0.625,
        "not_accounted_fraction": 0.125,
        "io_wait_fraction": 0.45,  # (0.3 + 0.1 + 0.05) / 1
        "ziip_share": 1 / 3,
        "ziip_eligible_fraction": 0.4,  # (0.1 + 0.02) / 0.3
        "ziip_overflow_fraction": 1 / 6,  # 0.02 / 0.12
        "sync_io_time": 0.4,
        "sync_io_event_time": 0.4 / 65,
        "database_io_event_time": 0.005,
        "log_write_io_fraction": 0.125,
        "lock_latch_time": 0.05,
        "cpu_per_commit": 0.075,
        "commit_interval": 0.16,  # 0.8 / 5
        "rollback_fraction": 0.2,
        "inconsistent_fraction": 0.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_nested_work_counts() -> None:
    """Stored procedures and functions run on their own tasks, triggers beside the thread's time in Db2."""
    nested = {
        "qwacspcp": 0.5,
        "qwacudcp": 0.25,
        "qwacspeb": 2.0,
        "qwacudeb": 1.0,
        "qwacsptt": 0.3,
        "qwacudtt": 0.1,
        "qwactrtt": 0.01,
        "qwactret": 0.04,
        "qwactrte": 0.02,
        "qwactree": 0.06,
    }
    found = one(inputs(smf101_ifcid3_qwac=[db2(1, **(THREAD | nested))]))
    assert found["class1_cp_cpu_seconds"] == pytest.approx(0.95)  # 0.2 + 0.5 + 0.25
    assert found["class2_elapsed_seconds"] == pytest.approx(3.9)  # 0.8 + 2 + 1 + 0.04 + 0.06
    assert found["class2_cp_cpu_seconds"] == pytest.approx(0.58)  # 0.15 + 0.3 + 0.1 + 0.01 + 0.02


def test_waits_of_the_overflow_section() -> None:
    overflow = {
        "qwaxalog": 0.01,
        "qwaxalct": 1,
        "qwaxocse": 0.02,
        "qwaxocne": 2,
        "qwaxdsse": 0.03,
        "qwaxdsne": 1,
        "qwaxawdr": 0.04,
        "qwaxarnd": 4,
    }
    thread = THREAD | {"qwacawte": 0.05, "qwacarns": 3, "qwacalog": 9.0, "qwacalct": 9, "qwacawtk": 0.02, "qwacarnk": 7}
    found = one(
        inputs(
            smf101_ifcid3_qwac=[db2(1, **thread), db2(2, **thread)],
            smf101_ifcid3_qwax=[db2(1, **overflow)],
        )
    )
    assert found["class3_service_task_seconds"] == pytest.approx(0.15)  # twice 0.05, 0.02 + 0.03 once
    assert found["class3_service_task_events"] == 9
    assert found["class3_open_close_seconds"] == pytest.approx(0.02)
    assert found["class3_drain_lock_seconds"] == pytest.approx(0.04)
    # Record 1 has the overflow section, record 2 has only the older field.
    assert found["class3_archive_log_quiesce_seconds"] == pytest.approx(9.01)
    assert found["class3_archive_log_quiesce_events"] == 10
    assert found["class3_global_contention_seconds"] == pytest.approx(0.04)
    # 2 x 0.5 of the thread, 2 x 0.02 global, 0.15 service tasks, 0.04 drain, 9.01 archive.
    assert found["class3_total_seconds"] == pytest.approx(10.24)


def test_a_record_without_begin_holds_its_elapsed_time() -> None:
    """Parallel tasks and rolled up threads: the end is a clock that began in 1900."""
    rolled = THREAD | {"qwacbsc": None, "qwacesc": datetime(1900, 1, 1, 0, 0, 7, tzinfo=UTC), "qwacbjst": 0.0}
    found = one(inputs(smf101_ifcid3_qwac=[db2(1, **rolled)]))
    assert found["class1_elapsed_seconds"] == pytest.approx(7.0)
    assert found["class1_cp_cpu_seconds"] == pytest.approx(10.2)


def test_a_clock_that_cannot_be_is_no_elapsed_time() -> None:
    found = one(inputs(smf101_ifcid3_qwac=[db2(1, **(THREAD | {"qwacbsc": None}))]))
    assert found["class1_elapsed_seconds"] is None
    assert found["class2_elapsed_seconds"] == pytest.approx(0.8)


def test_threads_are_added_up_by_quarter_of_an_hour() -> None:
    """Two threads within the first quarter, one in the second; averages follow from the sums."""
    long = THREAD | {"qwacbsc": START - timedelta(seconds=5)}
    tables = inputs(
        smf101_ifcid3_qwac=[
            db2(1, **THREAD),
            db2(2, ended=timedelta(minutes=14, seconds=59), **(THREAD | {"qwacesc": BEGIN + timedelta(seconds=3)})),
            db2(3, ended=timedelta(minutes=15), **long),
        ],
        smf101_qwhc=[correlation(1), correlation(2, qwhccv="POOLPAY10002"), correlation(3)],
    )
    first, second = sorted(rows_of(evaluate(tables, ACCOUNTING)), key=lambda found: found["time"])
    assert (first["time"], second["time"]) == (START, START + timedelta(minutes=15))
    assert (first["occurrences"], second["occurrences"]) == (2, 1)
    assert first["class1_elapsed_time"] == pytest.approx(2.0)  # (1 + 3) / 2
    assert first["class1_longest_seconds"] == pytest.approx(3.0)
    assert second["class1_elapsed_time"] == pytest.approx(306.0)
    both = one(tables, time="all")
    assert both["occurrences"] == 3
    assert both["class1_longest_seconds"] == pytest.approx(306.0)
    assert both["class1_elapsed_time"] == pytest.approx((1 + 3 + 306) / 3)


def test_correlation_names() -> None:
    """The transaction of CICS and the PSB of IMS, whatever the number of the thread; a job as it is."""
    tables = inputs(
        smf101_ifcid3_qwac=[db2(number, **THREAD) for number in range(1, 6)],
        smf101_qwhc=[
            correlation(1),
            correlation(2, qwhccv="POOLPAY10002"),
            correlation(3, qwhcatyp=6, qwhccn="IMSA", qwhccv="0001PSBORDER"),
            correlation(4, qwhcatyp=2, qwhccn="BATCH", qwhccv="JOBNIGHT"),
            correlation(5, qwhcatyp=99, qwhccn="NEW", qwhccv="X"),
        ],
    )
    found = {(r["connection_type"], r["correlation"]): r["occurrences"] for r in rows_of(evaluate(tables, CORRELATION))}
    assert found == {
        ("CICS", "PAY1"): 2,
        ("IMS MPP", "PSBORDER"): 1,
        ("DB2CALL", "JOBNIGHT"): 1,
        ("99", "X"): 1,
    }


def test_users() -> None:
    tables = inputs(
        smf101_ifcid3_qwac=[db2(1, **THREAD), db2(2, **THREAD)],
        smf101_qwhc=[
            correlation(1),
            correlation(2, qwhcatyp=8, qwhceuid="anna", qwhceutx="orders.exe", qwhceuwn="ws-17"),
        ],
    )
    found = {
        (r["connection_type"], r["auth"], r["end_user"], r["transaction_name"], r["workstation"])
        for r in rows_of(evaluate(tables, USER))
    }
    assert found == {("CICS", "USER1", None, None, None), ("DRDA", "USER1", "anna", "orders.exe", "ws-17")}


def test_sql_locks_and_pages() -> None:
    tables = inputs(
        smf101_ifcid3_qwac=[db2(1, **THREAD)],
        smf101_ifcid3_qxst=[db2(1, qxselect=3, qxfetch=30, qxopen=2, qxprep=5, qxstfnd=9, qxstnfnd=1)],
        smf101_ifcid3_qtxa=[db2(1, qtxadea=1, qtxatim=2, qtxalock=80, qtxanpl=12)],
        smf101_ifcid3_qbac=[
            db2(1, 1, qbacpid=0, qbacget=100, qbacrio=10, qbacsws=8),
            db2(1, 2, qbacpid=81, qbacget=300, qbacrio=30, qbacsws=0),
        ],
        smf101_qwhc=[correlation(1)],
    )
    found = one(tables)
    expected = {
        "sql_statements": 40,  # 3 + 30 + 2 + 5
        "sql_per_commit": 10,
        "statement_cache_hit_fraction": 0.9,
        "deadlocks": 1,
        "timeouts": 2,
        "lock_requests_per_commit": 20,
        "most_locks_held": 12,
        "getpages": 400,
        "getpages_per_commit": 100,
        "getpages_per_sql": 10,
        "getpages_per_sync_read": 10,
        "sync_reads_per_commit": 10,
        "updates_per_commit": 2,
        "cpu_per_getpage": 0.2 / 400,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    pools = {r["pool"]: r for r in rows_of(evaluate(tables, POOL_USE))}
    assert set(pools) == {"BP0", "BP32K1"}
    assert pools["BP32K1"]["getpages"] == 300
    assert pools["BP0"]["hit_ratio"] == pytest.approx(0.9)
    assert pools["BP0"]["plan"] == "PLANA"


def test_records_that_contradict_themselves_are_counted() -> None:
    """More waits than time in Db2; more time in Db2 than in class 1. Parallel work may: its times overlap."""
    tables = inputs(
        smf101_ifcid3_qwac=[
            db2(1, **THREAD),
            db2(2, **(THREAD | {"qwacawti": 3.0})),
            db2(3, **(THREAD | {"qwacasc": 1.5})),
            db2(
                4, **(THREAD | {"qwacawti": 3.0, "qwacbsc": None, "qwacesc": datetime(1900, 1, 1, 0, 0, 1, tzinfo=UTC)})
            ),
        ],
    )
    found = one(tables)
    assert found["inconsistent"] == 2
    assert found["inconsistent_fraction"] == 0.5


def test_the_group_comes_from_the_statistics() -> None:
    tables = inputs(
        smf101_ifcid3_qwac=[db2(1, **THREAD)],
        smf100_qwha=[db2(90, qwhadsgn="DSNPLEX", qwhamemn="DB2A"), db2(91, qwhadsgn="DSNPLEX", qwhamemn="DB2A")],
    )
    found = one(tables)
    assert (found["group_name"], found["member"], found["occurrences"]) == ("DSNPLEX", "DB2A", 1)


def test_without_class_2_and_3() -> None:
    """Ratios over times that were not collected are null, not zero."""
    bare = {name: value for name, value in THREAD.items() if name in {"qwacbsc", "qwacesc", "qwacbjst", "qwacejst"}}
    found = one(inputs(smf101_ifcid3_qwac=[db2(1, **bare, qwacasc=0.0)]))
    assert found["class1_elapsed_time"] == pytest.approx(1.0)
    for name in ("suspended_fraction", "ziip_share", "cpu_per_commit", "sync_io_event_time"):
        assert found[name] is None, name


def test_packages() -> None:
    entry = {
        "qpaccoln": "COLL",
        "qpacpkid": "PKG1",
        "qpacsqlc": 20,
        "qpacsct": 0.5,
        "qpactjst": 0.1,
        "qpaczitm": 0.05,
        "qpacawti": 0.2,
        "qpacarne": 40,
        "qpacawtl": 0.03,
        "qpacarnl": 1,
        "qpacawlh": 0.02,
        "qpacarlh": 4,
    }
    tables = inputs(
        smf101_ifcid239_qpac=[db2(1, 1, **entry), db2(1, 2, **(entry | {"qpacpkid": "PKG2"})), db2(2, 1, **entry)],
        smf101_qwhc=[correlation(1), correlation(2)],
    )
    found = {r["package"]: r for r in rows_of(evaluate(tables, PACKAGE))}
    assert {name: r["occurrences"] for name, r in found.items()} == {"PKG1": 2, "PKG2": 1}
    expected = {
        "cpu_seconds": 0.3,
        "elapsed_time": 0.5,
        "cp_time": 0.1,
        "se_time": 0.05,
        "suspended_time": 0.25,
        "not_accounted_time": 0.1,
        "suspended_fraction": 0.5,
        "ziip_share": 1 / 3,
        "sql_per_occurrence": 20,
        "cpu_per_sql": 0.15 / 20,
        "sync_io_event_time": 0.005,
        "lock_latch_time": 0.05,
        "lock_latch_event_time": 0.01,
    }
    assert {name: found["PKG1"][name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("of", ["seconds", "events"])
@pytest.mark.parametrize("grain", [ACCOUNTING, PACKAGE], ids=["class 3", "class 8"])
def test_every_cause_is_counted_once(grain: Grain, of: str) -> None:
    """With a power of two in each field, a sum tells which fields it is made of: those that the fact names."""
    named = {
        fact.name: re.findall(r"(?<!or )\bQ[A-Z_]+", fact.source.replace("(or ", "or "))
        for fact in grain.facts
        if re.fullmatch(rf"class3_\w+_{of}", fact.name) and fact.name != f"class3_total_{of}"
    }
    fields = {field: 2.0**place for place, field in enumerate(sorted({f for each in named.values() for f in each}))}
    sections = {
        prefix: db2(1, **{field.lower(): value for field, value in fields.items() if field.startswith(prefix)})
        for prefix in ("QWAC", "QWAX", "QPAC")
    }
    assert len(fields) >= 14
    raw = inputs(
        smf101_ifcid3_qwac=[sections["QWAC"]],
        smf101_ifcid3_qwax=[sections["QWAX"]],
        smf101_ifcid239_qpac=[sections["QPAC"]],
        smf101_qwhc=[correlation(1)],
    )
    (found,) = rows_of(facts(raw, grain))
    assert {name: found[name] for name in named} == {
        name: sum(fields[field] for field in each) for name, each in named.items()
    }
    assert found[f"class3_total_{of}"] == sum(fields.values())


def test_half_an_hour_of_records_covers_half_an_hour() -> None:
    # Threads from 08:05 to 08:06, to 08:20 and to 08:35: three quarters of an hour are begun, 30 minutes covered.
    threads = [
        db2(number, ended=timedelta(minutes=minute), **(THREAD | {"qwacbsc": begin, "qwacesc": None}))
        for number, (minute, begin) in enumerate(
            [(6, BEGIN), (20, BEGIN + timedelta(minutes=10)), (35, BEGIN + timedelta(minutes=20))], 1
        )
    ]
    raw = inputs(smf101_ifcid3_qwac=threads, smf101_qwhc=[correlation(number) for number in (1, 2, 3)])
    rows = sorted(rows_of(facts(raw, ACCOUNTING)), key=lambda each: each["interval"])
    minutes = [
        tuple(int((each[n] - START).total_seconds() / 60) for n in ("interval_start", "interval_end")) for each in rows
    ]
    assert minutes == [(5, 15), (15, 30), (30, 35)]
    assert [int((each["interval"] - START).total_seconds() / 60) for each in rows] == [0, 15, 30]
