"""Replay: simulated against recorded, on runs of the simulator with threads, and on counts worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.replay import MIXED, SEEN, UNSEEN, Workload, quantities, replayed, scenario
from plexlens.cli.every import app
from plexlens.errors import NothingUsableError
from plexlens.pools.recorded import COUNTERS, PoolInterval, counted_during
from plexlens.pools.replay import BUSIEST, LEAST, OBJECT_BOUND, POOL_BOUND, REFUSED, Check, Replay
from plexlens.simulate import parse_scenario, simulate_to_smf

_SECOND = 1_000_000


def interval(start: float, end: float, count: float, subsystem: str = "DB1", pool: str = "BP2") -> PoolInterval:
    """Every counter of a pool with this count."""
    return PoolInterval(subsystem, pool, round(start * _SECOND), round(end * _SECOND), dict.fromkeys(COUNTERS, count))


def during(intervals: list[PoolInterval], first: float, last: float, subsystem: str = "") -> tuple[float, float] | None:
    """Synchronous reads, and the share of the trace that is covered."""
    found = counted_during(intervals, subsystem, "BP2", round(first * _SECOND), round(last * _SECOND))
    return None if found is None else (found.counts["sync_reads"], found.share)


def test_intervals_that_lie_partly_outside_the_trace_count_in_part() -> None:
    # A trace from 30 to 90: half of the first minute, half of the second.
    minutes = [interval(0, 60, 600), interval(60, 120, 1200), interval(120, 180, 50)]
    assert during(minutes, 30, 90) == (300 + 600, 1.0)
    assert during(minutes, 60, 120) == (1200, 1.0)
    # Ten of forty seconds lie behind the last.
    assert during(minutes, 150, 190) == (25, 0.75)
    assert during(minutes, 200, 260) is None
    assert during([interval(0, 60, 1, pool="BP3")], 0, 60) is None


def test_pools_of_several_db2s_are_told_apart_or_not_taken() -> None:
    both = [interval(0, 60, 6), interval(0, 60, 9, subsystem="DB2")]
    assert during(both, 0, 60) is None
    assert during(both, 0, 60, "DB2") == (9, 1.0)


@pytest.mark.parametrize(
    ("name", "getpages", "simulated", "recorded", "unsure", "agrees"),
    [
        ("", 10_000, 1020, 1000, 0, True),
        ("", 10_000, 1021, 1000, 0, False),
        ("", 21_000, 1021, 1000, 0, True),
        ("DB.TS", 10_000, 950, 1000, 0, True),
        ("DB.TS", 10_000, 949, 1000, 0, False),
        ("", 10_000, 0, 0, 0, True),
        ("", 10_000, 11, 0, 0, False),
        ("", 10_000, 700, 1000, 300, False),
    ],
)
def test_bounds(  # noqa: PLR0917
    name: str, getpages: float, simulated: float, recorded: float, unsure: float, agrees: bool
) -> None:
    assert (POOL_BOUND, OBJECT_BOUND, LEAST) == (0.02, 0.05, 1000)
    check = Check("BP2", name, "sync_reads", getpages, simulated, recorded, "IFCID 198", unsure)
    assert check.agrees == agrees
    assert check.is_contradicted == (not agrees and not unsure)
    assert check.error == (None if recorded == 0 else pytest.approx((simulated - recorded) / recorded))


def test_prefetch_may_read_more_than_was_recorded_by_what_was_in_the_pool_not_less() -> None:
    # 100 more than 1,000, and 300 pages may have been there; 100 less have no such reason.
    more, less = (Check("BP3", "", "prefetch_pages", 9_000, n, 1000, "SMF 100", surplus=300) for n in (1100, 900))
    assert (more.agrees, more.is_contradicted, more.beyond) == (False, False, 0)
    assert (less.agrees, less.is_contradicted, less.beyond) == (False, True, 100)
    assert Check("BP3", "", "prefetch_pages", 9_000, 1400, 1000, "SMF 100", unsure=50, surplus=300).beyond == 50


def test_a_trace_shorter_than_a_pool_takes_to_fill_is_not_refused_for_its_prefetch(tmp_path: Path) -> None:
    """Of 5,000 buffers and 22,000 pages 22.7 % of what is asked for ahead is there, and a trace does not say so."""
    found = replayed(4, tmp_path, seconds=3.0, workload=UNSEEN)
    pages = next(check for check in found.pools if (check.pool, check.what) == ("BP3", "prefetch_pages"))
    assert pages.recorded > 1000
    assert pages.difference == pytest.approx(5_000 / 22_000 * min(5_000, pages.simulated), rel=0.25)
    assert pages.error is not None
    assert pages.error > 0.1
    assert pages.surplus == min(5_000, pages.simulated)
    assert not found.contradictions
    assert found.unexplained == 0


def two_pools(first: float, second: float) -> Replay:
    """1,000 synchronous reads recorded of each of two pools."""
    counts = {"BP1": first, "BP2": second}
    return Replay(
        tuple(Check(pool, "", "sync_reads", 9_000, count, 1000, "IFCID 198") for pool, count in counts.items())
    )


def test_errors_of_pools_do_not_cancel_and_advice_is_widened_or_refused() -> None:
    assert two_pools(1010, 990).error == pytest.approx(0.01)
    assert two_pools(1010, 990).advice == ""
    # 10 % more in one and 10 % less in the other are 10 %, not none.
    wide = two_pools(1100, 900)
    assert wide.error == pytest.approx(0.1)
    assert "± 10.0%" in wide.advice
    wide.check_advice(force=False)
    wrong = two_pools(1000, 1400 + REFUSED)
    with pytest.raises(NothingUsableError, match=r"most in BP2 \(sync reads: 1,400 simulated, 1,000 recorded"):
        wrong.check_advice(force=False)
    wrong.check_advice(force=True)
    assert Replay().error is None
    assert "nothing" in Replay().text


@pytest.mark.parametrize(
    ("workload", "threads", "seconds"),
    [(SEEN, 1, 20.0), (SEEN, 4, 20.0), (SEEN, 40, 20.0), (UNSEEN, 4, 60.0), (MIXED, 4, 60.0)],
    ids=["1", "4", "40", "unseen", "one pool for tables and scans"],
)
def test_the_replay_of_threads_agrees_with_what_their_pools_counted(
    tmp_path: Path, workload: Workload, threads: int, seconds: float
) -> None:
    """Pools that were full before, threads, scans, inserts: 2 % of each pool, 5 % of the busiest objects."""
    found = replayed(threads, tmp_path, seconds=seconds, workload=workload)
    assert not found.contradictions
    assert found.error is not None
    assert found.error < 0.005
    reads = {check.pool: check for check in found.pools if check.what == "read_ios"}
    assert reads.keys() == {"BP2", f"BP{workload.scan_pool}"}
    for check in reads.values():
        assert check.recorded > 900
        assert abs(check.difference) <= POOL_BOUND * check.recorded
    # The tables, one of scans, one of inserts.
    assert len(found.objects) == workload.tables + 2 <= BUSIEST
    assert {check.source for check in found.pools} == {"IFCID 198", "SMF 100", "IFCID 198 and SMF 100"}
    # Nothing is read ahead behind the inserts.
    inserts = next(check for check in found.objects if check.name == "PAY.LOG")
    assert (inserts.simulated, inserts.recorded) == (0, 0)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight seconds of four threads."""
    path = tmp_path_factory.mktemp("replay") / "t.smf"
    simulate_to_smf(parse_scenario(scenario(4, 8.0)), path, page_trace=True)
    return path


def run(*words: object) -> tuple[int, str]:
    """Exit code and output of ``plexlens pools``."""
    done = CliRunner().invoke(app, ["pools", *map(str, words)])
    return done.exit_code, done.output


def test_the_check_comes_first_on_the_page_and_in_json(dump: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.txt"
    code, _ = run(dump, "--pool", "BP2=8000", "-o", page)
    assert code == 0
    text = page.read_text()
    assert text.index("R E P L A Y") < text.index("S U M M A R Y")
    assert "recorded counts agree with the simulation of the present pools" in text
    done = CliRunner().invoke(app, ["pools", str(dump), "--pool", "BP2=8000", "--json"])
    held = json.loads(done.stdout)
    assert next(iter(held)) == "replay"
    assert {row["pool"] for row in held["replay"]["pools"]} == {"BP2", "BP3"}
    assert held["prediction"]["engine"]["error"] == held["replay"]["error"]


def test_advice_on_pools_that_contradict_the_trace_is_refused(dump: Path, tmp_path: Path) -> None:
    # The pools had 4,000 and 2,000 buffers.
    settings = tmp_path / "pools.toml"
    settings.write_text("[BP2]\nsize = 300\n[BP3]\nsize = 2000\n")
    done = CliRunner().invoke(app, ["pools", str(dump), "--settings", str(settings), "--budget", "64MiB"])
    error = done.exception
    assert isinstance(error, NothingUsableError)
    assert "contradicts the trace" in error.what
    assert "most in BP2" in error.what
    assert "--force" in error.remedy


def test_prefetch_quantities_hold_what_a_study_prints() -> None:
    assert quantities("BP20", 90_000, 80) == (64, 32)
    assert quantities("BP0", 15_000, 25) == (32, 32)
    assert quantities("BP32K", 62_000, 40) == (8, 4)
