"""What is read of a database: partial data gives partial answers, with reasons; nothing gives a clear error."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plexlens.errors import NothingUsableError
from plexlens.metrics.inputs import Inputs
from plexlens.sharing import cost_of, measure
from plexlens.sharing.measured import Role, role_of
from tests.metrics.raw import START, inputs, row


def facility(system: str = "SYS1", interval: int = 0, **requests: Any) -> dict[str, list[dict[str, Any]]]:
    """SMF 74-4 of one system: a lock structure with 1,000 requests of 10 µs in 900 s, or what is given."""
    fields = {"r744snam": "DSNG_LOCK1", "r744styp": 3, "r744ssrc": 1000.0, "r744sstm": 0.01} | requests
    number = interval * 10 + int(system[-1])
    return {
        "smf74_4_request": [row(number, interval=interval, system=system, **fields)],
        "smf74_4_local_cf": [row(number, interval=interval, system=system, r744fnam="CF1")],
    }


def tables(*parts: dict[str, list[dict[str, Any]]]) -> Inputs:
    made: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        for name, rows in part.items():
            made.setdefault(name, []).extend(rows)
    return inputs(**made)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DSNG_LOCK1", (Role.LOCK, "DSNG", "")),
        ("DSNDB2U1_GBP32K1", (Role.POOL, "DSNDB2U1", "GBP32K1")),
        ("DSN_A_GBP8K0", (Role.POOL, "DSN_A", "GBP8K0")),
        ("DSNG_SCA", (Role.SCA, "DSNG", "")),
        ("IXCPATH1", (Role.SIGNALLING, "", "")),
        ("ISGLOCK", (Role.OTHER, "", "")),
        ("DSNG_LOCK2", (Role.OTHER, "", "")),
    ],
)
def test_structures_by_name(name: str, expected: tuple[Role, str, str]) -> None:
    assert role_of(name) == expected


def test_facilities_alone() -> None:
    """SMF 74-4 and nothing else: the cost by structure and system, and what else cannot be said."""
    found = measure(tables(facility(), facility(interval=1), facility("SYS2", r744ssrc=500.0, r744sstm=0.02)))
    assert found.seconds == {"SYS1": 1800.0, "SYS2": 900.0}
    cost = cost_of(found)
    assert [(one.kind.name, one.member, one.synchronous) for one in cost.lines] == [
        ("lock_other", "", 2000.0), ("lock_other", "", 500.0),
    ]  # fmt: skip
    # 2,000 x (10 + 2) µs and 500 x (40 + 2) µs.
    assert [one.cpu_seconds for one in cost.systems] == pytest.approx([0.024, 0.021])
    assert cost.total.overhead is None
    said = " ".join(found.missing)
    for what in ("No Db2 statistics (SMF 100)", "No Db2 accounting (SMF 101)", "No processor data", "(SMF 72-3)"):
        assert what in said


def test_both_instances_of_a_duplexed_structure_are_one() -> None:
    one, other = facility(r744snam="DSNG_GBP1"), facility(r744snam="DSNG_GBP1")
    other["smf74_4_request"][0]["record_no"] = other["smf74_4_local_cf"][0]["record_no"] = 2
    other["smf74_4_local_cf"][0]["r744fnam"] = "CF2"
    (use,) = measure(tables(one, other)).structures
    assert (use.facilities, use.sync_requests, use.pool) == (("CF1", "CF2"), 2000.0, "GBP1")


def test_facilities_alone_tell_kinds_of_pools() -> None:
    """The coupling facility's counters are of all systems: each has the part of its requests."""
    counters = {"r744crhc": 100.0, "r744crmn": 500.0, "r744cwh1": 300.0, "r744ccoc": 200.0}
    parts = []
    for system, requests in (("SYS1", 900.0), ("SYS2", 300.0)):
        part = facility(system, r744snam="DSNG_GBP1", r744styp=4, r744ssrc=requests, r744cdsi=1, r744cdne=1)
        number = part["smf74_4_request"][0]["record_no"]
        part["smf74_4_cache"] = [row(number, system=system, **counters)]
        parts.append(part)
    found = {(one.system, one.kind.name): one.count for one in cost_of(measure(tables(*parts))).lines}
    # 1,100 of 1,200 requests have a kind; SYS1 sent three of four.
    assert found == pytest.approx(
        {
            ("SYS1", "read_data"): 75.0, ("SYS1", "read_no_data"): 375.0, ("SYS1", "write_sync"): 225.0,
            ("SYS1", "castout"): 150.0, ("SYS1", "pool_other"): 75.0,
            ("SYS2", "read_data"): 25.0, ("SYS2", "read_no_data"): 125.0, ("SYS2", "write_sync"): 75.0,
            ("SYS2", "castout"): 50.0, ("SYS2", "pool_other"): 25.0,
        }
    )  # fmt: skip


def statistics(interval: int, locks: float, **fields: Any) -> dict[str, list[dict[str, Any]]]:
    """A statistics record of member DB1, which holds sums since the start, written at the end of an interval."""
    about = {"interval": interval, "subsystem": "DB1", "sysplex": None}
    start = row(1, interval=interval)["interval_end"]
    about |= {"interval_start": start, "interval_end": start}
    number = 100 + interval
    return {
        "smf100_qwhs": [row(number, **about, qwhsiseq=10 + interval, qwhsrn=0xC1)],
        "smf100_qwha": [row(number, **about, qwhadsgn="DSNG", qwhamemn="DB1")],
        "smf100_ifcid2_qtxa": [row(number, **about, qtxalock=locks, qtxaunlk=0, qtxachg=0, qtxaclno=0, qtxadrno=0)],
        "smf100_ifcid2_qtgs": [row(number, **about, qtgslslm=locks, qtgscslm=0, qtgsuslm=0, qtgsiglo=0, **fields)],
    }


def test_statistics_tell_kinds() -> None:
    found = measure(tables(facility(), statistics(-1, 5000.0), statistics(0, 5800.0)))
    (member,) = found.members
    assert (member.subsystem, member.group, member.locking["xes_lock_requests"]) == ("DB1", "DSNG", 800.0)
    kinds = {one.kind.name: one.count for one in cost_of(found).lines}
    assert kinds == pytest.approx({"lock": 800.0, "lock_other": 200.0})


def test_statistics_alone_count_and_cost_nothing() -> None:
    found = measure(tables(statistics(-1, 5000.0), statistics(0, 5800.0)))
    cost = cost_of(found)
    assert not cost.is_timed
    assert [(one.kind.name, one.count, one.cpu_seconds) for one in cost.lines] == [("lock", 800.0, 0.0)]
    assert "no data of coupling facility structures (SMF 74-4)" in found.missing[0]


def accounting(minute: float, commits: float, *, since: float = 1.0) -> dict[str, list[dict[str, Any]]]:
    """One accounting record of DB1 that was written so many minutes after the start of the data."""
    end = START + timedelta(minutes=minute)
    about = {"subsystem": "DB1", "interval_start": end, "interval_end": end}
    began = (end - timedelta(minutes=since)).isoformat()
    number = 500 + int(minute)
    return {
        "smf101_ifcid3_qwac": [row(number, **about, qwacbsc=began, qwacesc=end.isoformat(), qwaccomm=commits)],
    }


def test_accounting_counts_for_the_time_that_its_records_reach() -> None:
    # An hour of 74-4. Accounting from minute 5 to minute 35 tells 900 commits in 30 minutes: 1,800 in the hour.
    hour = [facility(interval=n) for n in range(4)]
    records = [accounting(minute, 150.0, since=5.0) for minute in (10, 14, 20, 25, 29, 35)]
    found = measure(tables(*hour, statistics(-1, 5000.0), statistics(0, 5800.0), *records))
    (work,) = found.classes
    assert work.facts["commits"] == pytest.approx(1800.0)


def test_accounting_of_a_short_time_is_that_of_the_quarter_it_lies_in() -> None:
    # Five minutes of 74-4, in the first quarter of an hour: a third of the 300 commits of that quarter.
    short = facility()
    for rows in short.values():
        rows[0]["interval_end"] = rows[0]["interval_start"] + timedelta(minutes=5)
    records = [accounting(minute, 100.0, since=5.0) for minute in (5, 10, 14.99)]
    found = measure(tables(short, statistics(-1, 5000.0), statistics(0, 5800.0), *records))
    assert [work.facts["commits"] for work in found.classes] == [pytest.approx(300 * 5 / 14.99)]


def test_statistics_of_another_day_are_not_mixed_in() -> None:
    found = measure(tables(facility(), statistics(200, 5000.0), statistics(201, 5800.0)))
    assert found.members == ()
    assert any("cover other times" in text for text in found.missing)


@pytest.mark.parametrize(
    ("tables_there", "what"),
    [
        ({}, "neither structures of a coupling facility nor data sharing of Db2,"),
        ({"smf115_1_qjst": [row(1, subsystem="MQ01", qjstlogw=1)]}, "neither structures"),
    ],
)
def test_nothing_to_go_by(tables_there: dict[str, list[dict[str, Any]]], what: str) -> None:
    with pytest.raises(NothingUsableError, match=what) as error:
        measure(inputs(**tables_there), "some.smf")
    assert error.value.exit_code == 4
    assert "some.smf" in str(error.value)
    assert "SMF 74-4" in str(error.value)
