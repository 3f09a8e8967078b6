"""Transactions one by one: SMF 101 of each thread and SMF 110-1 of each task agree with what really happened.

The oracle is the simulator's own account of classes and members, which `test_truth` holds against the other records.
Resolutions: times of tasks and threads 1 microsecond each, QWAC 2**-12 microseconds, CICS clocks 1 microsecond; counts
exact.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plexlens import _core
from plexlens.layouts_path import layout_folders
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of
from plexlens.simulate import parse_scenario, read_scenario, simulate_to_smf, write_smf
from tests.simulate.conftest import TWO_MEMBERS, Measured, read_back

#: Of one time in a record, rounded up for the floating point of sums.
MICROSECOND = 1.01e-6

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """The two members with everything written down."""
    folder = tmp_path_factory.mktemp("transactions")
    run, records = simulate_to_smf(read_scenario(TWO_MEMBERS), folder / "two.smf", transactions=True, page_trace=True)
    assert records > 9_000
    return Measured(run, folder / "two.smf", read_back(folder / "two.smf", folder / "pdb"))


def rows(measured: Measured, grain: str, *keys: str) -> dict[tuple[str, ...], Row]:
    """Rows of a grain over the whole run, by the values of keys."""
    table = evaluate(measured.inputs, GRAINS[grain], by=keys, time="all")
    assert table is not None, f"nothing for {grain}"
    return {tuple(str(row[key]) for key in keys): row for row in table.rows()}


def of_class(measured: Measured, name: str, system: str = "") -> tuple[float, float, dict[str, float]]:
    """Transactions of a class that ended (on a system), their response time in all, and what they used."""
    count, seconds, used = 0.0, 0.0, defaultdict[str, float](float)
    for interval in measured.run.results["intervals"]:
        (about,) = (one for one in interval["classes"] if one["name"] == name)
        for one in about["systems"]:
            if not system or one["system"] == system:
                count += one["response"]["count"]
                seconds += one["response"]["seconds"]
                for key, value in one["used"].items():
                    used[key] += value
    return count, seconds, dict(used)


def near(found: float, expected: float, within: float) -> bool:
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=within)


def test_the_run_is_the_same_whatever_is_written(logged: Measured, measured: Measured) -> None:
    assert logged.run.results == measured.run.results


def test_same_bytes(logged: Measured, tmp_path: Path) -> None:
    simulate_to_smf(read_scenario(TWO_MEMBERS), tmp_path / "again.smf", transactions=True, page_trace=True)
    assert (tmp_path / "again.smf").read_bytes() == logged.dump.read_bytes()


def test_what_is_not_asked_for_changes_nothing(measured: Measured, tmp_path: Path) -> None:
    """Nothing asked for: the bytes of a run that was written when it was over."""
    run, records = simulate_to_smf(read_scenario(TWO_MEMBERS), tmp_path / "plain.smf")
    assert records == write_smf(run, tmp_path / "after.smf")
    assert (tmp_path / "plain.smf").read_bytes() == (tmp_path / "after.smf").read_bytes()
    assert (tmp_path / "plain.smf").read_bytes() == measured.dump.read_bytes()


def _rows(inputs: Inputs, table: str, *columns: str) -> list[dict[str, Any]]:
    """Rows of a raw table: identity columns and those named."""
    return rows_of(inputs.connection, inputs.raw(table, columns))


def _number(row: dict[str, Any]) -> int:
    return int(row["record_no"])


def test_records_stand_in_the_order_of_time(logged: Measured) -> None:
    found = sorted(_rows(logged.inputs, "smf_record", "written_at", "record_type", "subtype"), key=_number)
    times = [row["written_at"] for row in found if row["record_type"] > 3]
    assert times == sorted(times)
    kinds = Counter((row["record_type"], row["subtype"]) for row in found)
    # Three classes of three intervals and two systems, SCAN on one, would be 15 records if they were rolled up.
    # UPDA's 6,000 arrivals start half as many others: 9,000, with a standard deviation of 1.5 x 6,000^0.5 = 116.
    assert kinds[101, 0] > 9_000 - 5 * 116
    assert kinds[110, 1] > 4 + (9_000 - 5 * 116) / 50
    assert kinds[102, 0] > 70_000 / 100


def test_numbers_of_transactions(logged: Measured) -> None:
    """Poisson arrivals of 100 per second for 60 s, half as many started; and the law of three users who think for 2 s.

    Bounds are five standard deviations. Those under way at either end are three users at most, and few others.
    """
    update, late = of_class(logged, "UPDA", "")[0], of_class(logged, "LATE", "")[0]
    assert abs(update - 6000) < 5 * math.sqrt(6000) + 20
    assert abs(late - update / 2) < 5 * math.sqrt(update / 4) + 20
    scans, seconds, _ = of_class(logged, "SCAN", "")
    # Each scan takes its response and a thought: 3 users for 60 s.
    assert abs(seconds + 2.0 * scans - 3 * 60) < 5 * 2.0 * math.sqrt(scans) + 3 * 2.0


@pytest.mark.parametrize(("member", "system"), [("DB1", "SYS1"), ("DB2", "SYS2")])
@pytest.mark.parametrize("name", ["UPDA", "LATE", "SCAN"])
def test_threads(logged: Measured, name: str, member: str, system: str) -> None:
    found = rows(logged, "db2_accounting", "subsystem", "plan")
    ended, _, used = of_class(logged, name, system)
    if (name, member) == ("SCAN", "DB2"):
        assert (member, name) not in found
        assert ended == 0
        return
    row = found[member, name]
    assert row["occurrences"] == ended > 0
    assert row["commits"] == used["commits"]
    assert row["rollbacks"] == used["rollbacks"]
    assert near(row["class1_elapsed_seconds"], used["thread_elapsed"], 2 * ended * MICROSECOND)
    assert near(row["class1_elapsed_time"], used["thread_elapsed"] / ended, 2 * MICROSECOND)
    for fact, key in {
        "class2_elapsed_seconds": "db2_elapsed",
        "class2_se_cpu_seconds": "db2_ziip",
        "class1_secp_cpu_seconds": "db2_ziip_on_cp",
        "class3_database_io_seconds": "wait_sync_read",
        "class3_other_read_io_seconds": "wait_other_read",
        "class3_log_write_io_seconds": "wait_log",
        "class3_irlm_lock_latch_seconds": "wait_lock",
    }.items():
        assert near(row[fact], used[key], ended * 2**-12 * 1e-6), fact
    contention = used["wait_contention"] + used["wait_page_lock"]
    assert near(row["class3_global_contention_seconds"], contention, 2 * ended * 2**-12 * 1e-6)
    cpu = used["db2_cpu"] - used["db2_ziip"]
    assert near(row["class2_cp_cpu_seconds"], cpu, ended * 2**-12 * 1e-6)
    assert near(row["cpu_per_commit"], used["db2_cpu"] / used["commits"], 1e-9)
    for fact, key in {
        "class3_log_write_io_events": "waits_log",
        "class3_irlm_lock_latch_events": "waits_lock",
        "lock_requests": "locks",
        "unlock_requests": "unlocks",
        "getpages": "getpages",
        "sync_reads": "sync_reads",
        "buffer_updates": "updates",
    }.items():
        assert row[fact] == used[key], fact
    # No thread contradicts itself, by the rules of the report: class 2 within class 1, class 3 within class 2.
    assert row["inconsistent"] == 0


def test_threads_tell_what_rolled_up_records_tell(logged: Measured, measured: Measured) -> None:
    one_by_one, rolled_up = (rows(one, "db2_accounting", "subsystem", "plan") for one in (logged, measured))
    assert one_by_one.keys() == rolled_up.keys()
    summed = [name for name in next(iter(rolled_up.values())) if name.endswith(("_seconds", "_events", "_requests"))]
    for key, row in rolled_up.items():
        for name in summed:
            found, expected = one_by_one[key][name], row[name]
            if "longest" in name or name.startswith("class3_total"):
                continue
            assert (found is None) == (expected is None), name
            assert expected is None or near(found, expected, one_by_one[key]["occurrences"] * 2 * MICROSECOND), name
    pools = [rows(one, "db2_accounting_pool", "subsystem", "plan", "pool") for one in (logged, measured)]
    assert pools[0].keys() == pools[1].keys()
    for key, row in pools[1].items():
        assert all(pools[0][key][name] == row[name] for name in ("getpages", "sync_reads", "async_pages_read"))
    assert pools[1]["DB1", "SCAN", "BP1"]["async_pages_read"] > 1_000


@pytest.mark.parametrize(("region", "system"), [("AOR1", "SYS1"), ("AOR2", "SYS2")])
@pytest.mark.parametrize("name", ["UPDA", "LATE", "SCAN"])
def test_tasks_where_they_ran(logged: Measured, name: str, region: str, system: str) -> None:
    found = rows(logged, "cics_transaction", "applid", "transaction")
    ended, response, used = of_class(logged, name, system)
    if (name, region) == ("SCAN", "AOR2"):
        assert (region, name) not in found
        return
    row = found[region, name]
    clock = ended * MICROSECOND
    assert row["transactions"] == ended
    # A zIIP is as fast as another engine here.
    assert near(row["cpu_seconds"], used["region_cpu"] + used["db2_cpu"], clock)
    assert near(row["cp_cpu_seconds"], used["region_cpu"] + used["db2_cpu"] - used["db2_ziip"], clock)
    assert near(row["eligible_cpu_seconds"], used["db2_ziip_on_cp"], clock)
    assert near(row["qr_cpu_seconds"], used["region_cpu"], clock)
    assert near(row["key8_cpu_seconds"], used["db2_cpu"], clock)
    assert near(row["l8_cpu_seconds"], used["db2_cpu"], clock)
    assert near(row["key8_dispatch_seconds"], used["db2_elapsed"], clock)
    assert near(row["db2_seconds"], used["db2_elapsed"], clock)
    calls = {"UPDA": 4, "LATE": 1, "SCAN": 1}[name]
    assert row["db2_requests"] >= calls * ended
    assert row["sync_points"] == ended
    # What a task is not dispatched it is suspended; what it waits for is known.
    assert near(row["dispatch_seconds"] + row["suspend_seconds"], row["response_seconds"], 3 * clock)
    assert row["unknown_wait_time"] * ended <= 0.02 * row["response_seconds"]
    if name == "UPDA":
        # It came in in a terminal region before.
        assert row["response_seconds"] < response
    else:
        assert near(row["response_seconds"], response, 2 * clock)


def test_tasks_where_they_came_in(logged: Measured) -> None:
    found = rows(logged, "cics_transaction", "applid", "transaction")
    ended, response, used = of_class(logged, "UPDA")
    both = [found["TOR1", "UPDA"], found["TOR2", "UPDA"]]
    assert not any(key[0].startswith("TOR") and key[1] != "UPDA" for key in found)

    def summed(name: str) -> float:
        return float(sum(row[name] for row in both))

    assert summed("transactions") == ended
    assert near(summed("response_seconds"), response, 2 * ended * MICROSECOND)
    assert near(summed("cpu_seconds"), used["terminal_cpu"], ended * MICROSECOND)
    assert near(summed("dispatch_seconds") + summed("suspend_seconds"), response, 3 * ended * MICROSECOND)
    # It waits for the region where it is run, from when it was sent on.
    there = [found["AOR1", "UPDA"], found["AOR2", "UPDA"]]
    inside = sum(row["response_seconds"] for row in there)
    assert inside <= summed("mro_seconds") + 2 * ended * MICROSECOND <= response


def test_responses_are_those_of_service_classes(logged: Measured) -> None:
    """SMF 72-3 of the same dump: a transaction is measured where it came in."""
    classes = rows(logged, "workload_period", "class_kind", "class_name")
    tasks = rows(logged, "cics_transaction", "applid", "transaction")
    for name, regions in {"UPDA": ("TOR1", "TOR2"), "LATE": ("AOR1", "AOR2"), "SCAN": ("AOR1",)}.items():
        period = classes["service class", name]
        held = [tasks[region, name] for region in regions]
        ended = sum(row["transactions"] for row in held)
        assert ended == period["transactions"]
        mean = sum(row["response_seconds"] for row in held) / ended
        assert near(mean, period["response_time"], 2 * MICROSECOND)


def test_records_of_one_transaction_are_linked(logged: Measured) -> None:
    tasks = _rows(logged.inputs, "smf110_1_performance", "netuowsx", "start", "stop", "netuowpx", "tran")
    threads = _rows(logged.inputs, "smf101_qwhs", "qwhsluuv", "qwhslunm", "qwhsnid")
    by_unit = defaultdict(list)
    for row in tasks:
        by_unit[row["netuowpx"], row["netuowsx"][:6]].append(row)
    assert Counter((rows[0]["tran"], len(rows)) for rows in by_unit.values()).keys() == {
        ("UPDA", 2),
        ("LATE", 1),
        ("SCAN", 1),
    }
    for pair in by_unit.values():
        outer, inner = min(pair, key=lambda row: row["start"]), max(pair, key=lambda row: row["start"])
        assert outer["start"] <= inner["start"] <= inner["stop"] == outer["stop"]
    units = {(f"{row['qwhsnid']}.{row['qwhslunm']}", row["qwhsluuv"]) for row in threads}
    # Every class uses Db2: each unit of work has one thread.
    assert len(units) == len(threads)
    assert units == set(by_unit)


_QUIET = """
run = {seed = 3, warm_up = 0.0, seconds = 40.0, interval = 10.0, preload = false}
cec = [{name = "C1", engines = 2}, {name = "C2", engines = 2}]
system = [{name = "SYS1", cec = "C1"}, {name = "SYS2", cec = "C2"}]
coupling_facility = [{name = "CF1"}]
region = [{name = "AOR1", system = "SYS1", db2 = "DSNG"}, {name = "AOR2", system = "SYS2", db2 = "DSNG"}]

[[db2]]
group = "DSNG"
member = [{name = "DB1", system = "SYS1"}, {name = "DB2", system = "SYS2"}]
lock = {coupling_facility = "CF1", entries = 512}
pool = [
    {number = 1, size = 400, group = {coupling_facility = "CF1", data_entries = 300}},
    {number = 32, size = 100},
]
page_set = [
    {name = "DB.TS", pool = 1, pages = 1500, skew = 0.6},
    {name = "DB.CODES", pool = 32, pages = 300},
]

[[class]]
name = "WORK"
rate = 10.0
regions = ["AOR1", "AOR2"]
cpu = 0.001
references = [
    {page_set = "DB.TS", getpages = 6.5, update = 0.4},
    {page_set = "DB.CODES", getpages = 2.0},
]
"""


def test_threads_add_up_to_the_statistics(tmp_path: Path) -> None:
    """Nobody is on the way at either end: what threads did in pools and with locks is what members count."""
    scenario = parse_scenario(_QUIET)
    run, _ = simulate_to_smf(scenario, tmp_path / "quiet.smf", transactions=True)
    inputs = read_back(tmp_path / "quiet.smf", tmp_path / "pdb")

    def summed(table: str, keys: tuple[str, ...], fields: tuple[str, ...]) -> dict[tuple[Any, ...], tuple[int, ...]]:
        found = _rows(inputs, table, *keys, *fields)
        sums: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        for row in found:
            sums[row["subsystem"], *(row[key] for key in keys)].update({name: row[name] for name in fields})
        return {key: tuple(counts[name] for name in fields) for key, counts in sums.items()}

    members: dict[str, Any] = {}
    for interval in run.results["intervals"]:
        for member in interval["members"]:
            counts = members.setdefault(member["name"], Counter())
            counts.update(
                {"commits": member["commits"], **{k: v for k, v in member["locking"].items() if k != "suspensions"}}
            )
            for pool in member["pools"]:
                for kind in ("local", "member"):
                    counts.update({(pool["number"], name): value for name, value in pool[kind].items()})
    commits = summed("smf101_ifcid3_qwac", (), ("qwaccomm",))
    assert {name: (counts["commits"],) for name, counts in members.items()} == {
        name: found for (name,), found in commits.items()
    }
    assert min(found for (found,) in commits.values()) > 150
    pools = summed("smf101_ifcid3_qbac", ("qbacpid",), ("qbacget", "qbacrio", "qbacsws"))
    assert len(pools) == 4
    for (name, pool), found in pools.items():
        counts = members[name]
        reads = counts[pool, "sync_reads_random"] + counts[pool, "sync_reads_sequential"]
        assert found == (counts[pool, "getpages"], reads, counts[pool, "updates"])
    shared = summed("smf101_ifcid3_qbga", ("qbgagn",), ("qbgaxd", "qbgaxr", "qbgamd", "qbgamr", "qbgasw"))
    assert shared.keys() == {("DB1", 1), ("DB2", 1)}
    for (name, pool), found in shared.items():
        counts = members[name]
        kinds = ("invalid_with_data", "invalid_without_data", "misses_with_data", "misses_without_data", "sync_writes")
        assert found == tuple(counts[pool, kind] for kind in kinds)
        assert found[0] > 0
        assert found[2] > 0
        assert found[4] > 0
    locks = summed("smf101_ifcid3_qtxa", (), ("qtxalock", "qtxaunlk"))
    global_locks = summed("smf101_ifcid3_qtga", (), ("qtgalslm", "qtgauslm", "qtgaflse", "qtgasglo", "qtgaiglo"))
    for name, counts in members.items():
        assert locks[name,] == (counts["locks"], counts["unlocks"])
        expected = ("global_locks", "global_unlocks", "false_contentions", "xes_contentions", "real_contentions")
        assert global_locks[name,] == tuple(counts[kind] for kind in expected)


def test_a_dictionary_before_its_rows(logged: Measured) -> None:
    """Every region writes its dictionary before its first row; nothing is damaged."""
    reader = _core.SmfReader(logged.dump, _core.Catalogue(layout_folders()), source_id="t")
    first: dict[tuple[str, str], int] = {}
    for batch in reader:
        for table in ("smf110_1_dictionary", "smf110_1_performance"):
            if table in batch.tables:
                for region, number in zip(
                    batch.tables[table]["subsystem"].to_pylist(),
                    batch.tables[table]["record_no"].to_pylist(),
                    strict=True,
                ):
                    first.setdefault((region, table), number)
    regions = ("TOR1", "TOR2", "AOR1", "AOR2")
    assert all(first[one, "smf110_1_dictionary"] < first[one, "smf110_1_performance"] for one in regions)
    assert not reader.summary()["damage"]
