"""The cost worked out from a simulated group's records is what the group really spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.example import studies_path
from plexlens.example.printed import Study
from plexlens.sharing.kinds import Part
from plexlens.simulate import read_scenario, run_scenario
from tools.against_truth import Beside, Compared, compare, stated_of
from tools.case_1996 import run_b1
from tools.case_1996.comparisons import LESS_MANAGEMENT
from tools.case_1996.comparisons import compared as compared_runs
from tools.case_1996.measured import runs
from tools.case_1996.variants import without_sysplex

TWO_MEMBERS = Path(__file__).parents[1] / "simulate" / "two-members.toml"


@pytest.fixture(scope="module")
def compared() -> Compared:
    return compare(read_scenario(TWO_MEMBERS))


def test_the_whole_on_threads(compared: Compared) -> None:
    """Spinning and path of all transactions: counted by the simulator task by task, by the records in structures."""
    real, found = (sum(getattr(one, name) for one in compared.classes) for name in ("real", "found"))
    # Tasks under way at either end of the minute, castouts that are told by requests alone, and one mean service time
    # of a structure for requests that take longer and shorter.
    assert found == pytest.approx(real, rel=0.1)


def test_classes_by_their_own_counts(compared: Compared) -> None:
    """What a class asks for is dearer or cheaper than the mean of its structure by so much."""
    assert {one.name for one in compared.classes} == {"UPDA", "LATE", "SCAN"}
    for one in compared.classes:
        # Requests of the scan register many pages at a time, which takes longer than the mean.
        if one.name != "SCAN":
            assert one.found == pytest.approx(one.real, rel=0.15)


def test_classes_by_keys_are_less_right(compared: Compared) -> None:
    def misplaced(rows: tuple[Beside, ...]) -> float:
        return sum(abs(one.found - one.real) for one in rows)

    assert misplaced(compared.classes) < misplaced(compared.spread)
    assert sum(one.found for one in compared.spread) == pytest.approx(sum(one.real for one in compared.spread), rel=0.1)


def test_contention_is_what_the_lock_managers_met(compared: Compared) -> None:
    """30 µs each, as the scenario has it by default; the simulator's own counts of a second run of the same seed."""
    results = run_scenario(read_scenario(TWO_MEMBERS)).results
    names = ("false_contentions", "xes_contentions", "real_contentions")
    met = sum(
        member["locking"][name] for interval in results["intervals"] for member in interval["members"] for name in names
    )
    assert met > 100
    kinds = {"contention_real", "contention_xes", "contention_false"}
    found = sum(one.cpu_seconds for one in compared.cost.lines if one.kind.name in kinds)
    assert found == pytest.approx(met * 30e-6, rel=1e-9)


def test_parts_add_up_to_what_was_measured(compared: Compared) -> None:
    cost = compared.cost
    busy = sum(one.busy_seconds or 0.0 for one in cost.systems)
    base = sum(one.base_seconds or 0.0 for one in cost.systems)
    parts = sum(one.cpu_seconds for rows in cost.by_part().values() for one in rows)
    assert base + parts == pytest.approx(busy, rel=1e-12)


def test_reads_and_writes_are_those_of_the_group(compared: Compared) -> None:
    """Requests by kind add up to what the coupling facility served; work that is not a request is counted beside."""
    lines = [one for one in compared.cost.lines if one.kind.is_request]
    sent = sum(one.sync_requests + one.async_requests for one in compared.cost.measured.structures)
    assert sum(one.count for one in lines) == pytest.approx(sent, rel=1e-9)
    assert {Part.LOCKING, Part.INVALIDATION, Part.ABSENT, Part.WRITES, Part.CASTOUT} <= {one.kind.part for one in lines}


def test_stated_paths_are_the_scenarios() -> None:
    scenario = read_scenario(TWO_MEMBERS)
    scenario.values["coupling"] = {"sync_host_us": 3.0}
    scenario.values["cec"][0]["speed"] = 2.0
    stated = stated_of(scenario)
    assert stated.seconds("sync_path", "SYS1") == pytest.approx(1.5e-6)
    assert stated.seconds("sync_path", "SYS2") == pytest.approx(3e-6)


def test_run_b1_costs_what_leaving_data_sharing_out_saves() -> None:
    """The cost from the records of run B1 alone, beside a second run on one image without data sharing.

    Two ways to one number that share no code: the simulator runs the group without its coupling facility, the records
    are priced. The runs differ in chance, and in who writes pages to disk (castout, or deferred writes of DBM1).
    """
    root = Path(__file__).parents[2]
    b1 = run_b1(read_scenario(root / "scenarios" / "sysplex-1996.toml"), Study(studies_path() / "sysplex-1996"))
    (with_sharing,), (without,) = runs(b1, [1]), runs(without_sysplex(b1), [1])
    truth = compared_runs(with_sharing, without, LESS_MANAGEMENT)
    cost = compare(b1).cost
    # The records cover the same run of the same seed; the study's factor 0.9 is 1 / 1.1111.
    assert (cost.total.efficiency or 0.0) * 100 == pytest.approx(truth["efficiency"], abs=1.0)
    for name, class_name in (("INQ2", "db2 INQ2"), ("UPDA", "db2 UPDA")):
        own = [one for one in cost.classes if one.name == name]
        in_db2 = sum(float(one.use.facts.get("class2_cpu_seconds") or 0.0) for one in own)
        threads = sum(one.thread_seconds for one in own)
        assert threads / (in_db2 - threads) * 100 == pytest.approx(truth[class_name], abs=2.0), name
