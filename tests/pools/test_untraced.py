"""Pools without a page trace: ranges by hand, against slow LRU pools, and the command on statistics alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import PlexlensError
from plexlens.pools.cost import default_cost
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.untraced.advice import effect, placement_steps, sizes_within
from plexlens.pools.untraced.bounds import Point, Range, likely, possible, size_for
from plexlens.pools.untraced.seen import Seen, SeenObject, Statistics, statistics_of
from tests.ingest.test_text_db2_display import DETAILED, POOL
from tests.metrics.raw import inputs, row
from tests.oracle.slow_lru import lru_misses

BP2 = Configuration({"BP2": PoolSettings.of("BP2", 1000)})


def seen(name: str = "BP2", size: int = 10_000, *, getpages: float = 1e6, reads: float = 1e4) -> Seen:
    """A pool over 100 seconds; all its reads are synchronous."""
    point = Point(size, reads / getpages, now=True)
    return Seen(PoolSettings.of(name, size), 100.0, 1, getpages, 0.0, reads, 0.0, 0.0, 0.0, (point,))


def test_ranges_by_hand() -> None:
    now = [Point(1000, 0.2, now=True)]
    assert possible(now, 2000) == Range(0.0, 0.2)
    assert likely(now, 2000) == Range(pytest.approx(0.1), 0.2)
    assert possible(now, 500) == Range(0.2, 1.0)
    assert likely(now, 500) == Range(0.2, pytest.approx(0.4))
    assert likely(now, 100) == Range(0.2, 1.0), "a getpage reads at most once"
    # Between two measured sizes nothing but these is needed; an error of a size at another time widens it.
    two = [*now, Point(4000, 0.05, error=0.01)]
    assert possible(two, 2000) == likely(two, 2000) == Range(pytest.approx(0.03), 0.2)
    assert possible(two, 8000) == Range(0.0, pytest.approx(0.07))
    # A pool that hardly reads says nothing about smaller sizes.
    assert likely([Point(1000, 0.0005, now=True)], 500) is None
    # Pages seen that do not fit together were read.
    assert possible(now, 2000, touched=0.15).least == 0.15


def test_size_for_a_time_by_hand() -> None:
    # 100 pages per second pass through 10,000 buffers: 100 s. Five minutes: 30,000 pages, or 10,000 x sqrt(3).
    assert size_for(10_000, 100.0, 300.0) == Range(pytest.approx(17_320.5, abs=0.1), 30_000.0)
    assert size_for(10_000, 10.0, 300.0) == Range(3000.0, pytest.approx(5477.2, abs=0.1))


@pytest.mark.parametrize("seed", range(6))
def test_possible_ranges_hold_for_every_order_of_references(seed: int) -> None:
    random = np.random.default_rng(seed)
    loop = [page % 60 for page in range(1500)]
    skewed = (random.zipf(1.3, 1500) % 200 + 1000).tolist()
    pages = [page for pair in zip(loop, skewed, strict=True) for page in pair]
    measured = [50, 120] if seed % 2 else [80]
    points = [Point(size, lru_misses(pages, size) / len(pages), now=True) for size in measured]
    for size in (10, 30, 55, 65, 90, 150, 250):
        truth = lru_misses(pages, size) / len(pages)
        assert possible(points, size).holds(truth, tolerance=1e-9), size


def raw(record_no: int, interval: int, **fields: Any) -> dict[str, Any]:
    """A row of QBST of DB2A, BP2: running counters."""
    held = {"subsystem": "DB2A", "qbstpid": 2, "qbstvpl": 1000, "sequence": record_no}
    zero = (
        "qbstget",
        "qbstsgt",
        "qbstrio",
        "qbstsio",
        "qbstpio",
        "qbstspp",
        "qbstlio",
        "qbstlpp",
        "qbstdio",
        "qbstdpp",
    )
    held |= dict.fromkeys((*zero, "qbstwio", "qbstimw", "qbstpws"), 0)
    return row(record_no, interval=interval, **(held | fields))


def test_points_by_size_from_running_counters() -> None:
    rows = [
        raw(1, 0),
        raw(2, 1, qbstget=1000, qbstrio=300, qbstpio=10, qbstspp=320),
        raw(3, 2, qbstget=3000, qbstrio=700, qbstpio=20, qbstspp=640),
        raw(4, 3, qbstget=4000, qbstrio=800, qbstpio=30, qbstspp=960, qbstvpl=2000),
    ]
    found = statistics_of(inputs(smf100_ifcid2_qbst=rows), Configuration({"BP2": PoolSettings.of("BP2", 2000)}), "DB2A")
    (pool,) = found.pools
    # At 1,000 buffers 310 of 1,000 and 410 of 2,000 getpages: 0.24, the ratio's error by two intervals
    # sqrt(2 x (70^2 + 70^2) / 1) / 3,000.
    first, last = pool.points
    assert (first.size, first.share, first.now) == (1000, pytest.approx(720 / 3000), False)
    assert first.error == pytest.approx((2 * (70**2 + 70**2)) ** 0.5 / 3000)
    assert last == Point(2000, pytest.approx(0.11), 0.0, now=True)
    assert (pool.seconds, pool.intervals, pool.getpages) == (900.0, 1, 1000.0)
    assert pool.pages_per_second == pytest.approx((100 + 320) / 900)


def test_growth_goes_where_reads_are_and_never_adds_any() -> None:
    busy, idle = seen(reads=1e5), seen("BP3", reads=100)
    sizes = sizes_within([busy, idle], 2 * 10_000 * 4096 + 5_000 * 4096, default_cost(), 0.0, pinned={})
    assert sizes["BP3"] == 10_000
    assert 14_500 < sizes["BP2"] <= 15_000
    made = effect(busy, sizes["BP2"])
    assert made.saved.least == pytest.approx(0.0)
    assert made.saved.most == pytest.approx(1000 * (1 - 10_000 / sizes["BP2"]))
    # A decided size is left, and counts.
    assert sizes_within([busy, idle], 25_000 * 4096, default_cost(), 0.0, pinned={"BP2": 12_000})["BP2"] == 12_000


def test_a_smaller_budget_takes_where_reads_are_few_but_never_from_a_pool_that_hardly_reads() -> None:
    busy, calm, still = seen(reads=1e5), seen("BP3", reads=5e3), seen("BP4", reads=10)
    sizes = sizes_within([busy, calm, still], 27_000 * 4096, default_cost(), 0.0, pinned={})
    assert sizes["BP4"] == 10_000
    assert sizes["BP3"] < sizes["BP2"]
    assert sum(sizes.values()) <= 27_000 + 256


def held(name: str, *, cached: float, sync: float, ahead: float, pages: float) -> SeenObject:
    """An object of BP2 over 100 seconds."""
    return SeenObject("BP2", "DB", name, "table space", sync, ahead, pages, 0.0, 100.0, cached, 0.0, cached)


def test_scans_that_leave_their_pool_by_hand() -> None:
    pool = seen(getpages=1e6, reads=2e4)
    objects = (
        held("SCAN", cached=4000, sync=10, ahead=5000, pages=160_000),
        held("TABLE", cached=5000, sync=15_000, ahead=0, pages=0),
    )
    found = Statistics("DB2A", (pool,), objects, Configuration({"BP2": pool.settings}))
    (step,) = placement_steps(found)
    assert step.objects == ("DB.SCAN",)
    assert {name: one.size for name, one in step.after.pools.items()} == {"BP2": 8000, "BP1": 2000}
    # The others read 149.9 per second with 6,000 buffers and get 2,000 more; the scans' 50.1 may double.
    assert step.saved.most == pytest.approx(149.9 * 2000 / 8000)
    assert step.saved.least == pytest.approx(-50.1)
    assert "ALTER TABLESPACE DB.SCAN BUFFERPOOL BP1;" in step.script.change
    assert "ALTER TABLESPACE DB.SCAN BUFFERPOOL BP2;" in step.script.reverse
    # With many changed pages its I/Os may be writes: then it stays.
    written = SeenObject(**(vars(objects[0]) | {"changed": 2000.0}))
    assert placement_steps(Statistics("DB2A", (pool,), (written, objects[1]), found.configuration)) == []


def run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["pools", *arguments])
    if isinstance(found.exception, PlexlensError):
        return found.exception.exit_code, str(found.exception)
    return found.exit_code, found.stdout


def test_display_output_gives_ranges(tmp_path: Path) -> None:
    path = tmp_path / "display.txt"
    path.write_text(POOL)
    code, text = run(str(path))
    assert code == 4
    assert "--minutes" in text
    code, text = run(str(path), "--minutes", "15", "--sizes", "80000", "--json")
    assert code == 0, text
    found = json.loads(text)
    # 18,205 synchronous and 16,878 prefetch I/Os in 900 s.
    assert found["pools"][0]["read_ios_per_second"] == pytest.approx((18193 + 12 + 14473 + 2263 + 142) / 900)
    assert found["sizes"][0]["read_ios_per_second_likely"]["least"] == pytest.approx(35083 / 900 / 2)
    assert found["trace"] is False
    # Two displays: the first reaches to the second, whose own length is not known.
    later = tmp_path / "later.txt"
    later.write_text(POOL.replace("14:57:55", "15:07:55"))
    code, text = run(str(path), str(later), "--json")
    assert code == 0, text
    found = json.loads(text)
    assert found["pools"][0]["seconds"] == 600
    assert any("1 of 2 intervals" in note for note in found["notes"])


def test_lstats_gives_objects(tmp_path: Path) -> None:
    """Two displays an hour apart, of which the second counts for 30 minutes; by hand."""
    path = tmp_path / "displays.txt"
    later = (
        DETAILED.replace("14:57:55", "15:57:55").replace("=      400", "=      800").replace("=       30", "=     6200")
    )
    # The index has no I/O before the second display, so no row.
    later = later.replace("TOTAL PAGES     =       51", "TOTAL PAGES     =        9")
    first = DETAILED.split("DSNB467I  -DB2A STATISTICS FOR INDEX", 1)[0]
    path.write_text(first + later)
    code, text = run(str(path), "--minutes", "30", "--json")
    assert code == 0, text
    objects = {entry["name"]: entry for entry in json.loads(text)["objects"]}
    space, index = objects["DSN8D13A.DSN8S13E"], objects["DSN8D13A.XEMP1"]
    assert (space["sync_ios"], space["async_ios"], space["async_pages"]) == (400 + 800, 30 + 6200, 960 + 960)
    assert (space["seconds"], space["missing"], space["cached"]) == (3600 + 1800, 0, 120)
    assert (index["sync_ios"], index["seconds"], index["missing"]) == (9, 3600 + 1800, 0)
    # Without the length of the last one, only the first counts.
    code, text = run(str(path), "--json")
    assert code == 0, text
    found = json.loads(text)
    (space,) = found["objects"]
    assert (space["sync_ios"], space["seconds"]) == (400, 3600)
    assert any(note.startswith("2 of 3 rows of data sets have no length") for note in found["notes"])


def test_displays_of_lstats_alone_do_not_say_since_when(tmp_path: Path) -> None:
    undated = re.sub(r"DSNB409I.*\n", "", DETAILED)
    path = tmp_path / "display.txt"
    path.write_text(undated)
    code, text = run(str(path), "--minutes", "10", "--json")
    assert code == 0, text
    assert {entry["seconds"] for entry in json.loads(text)["objects"]} == {600}
    # Which of two comes first cannot be told, nor how long they are together.
    path.write_text(undated + undated.replace("=       51", "=       52"))
    code, text = run(str(path), "--minutes", "10", "--json")
    assert code == 0, text
    found = json.loads(text)
    assert found["objects"] == []
    assert any(note.startswith("4 of 4 rows of data sets have no length") for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--sample", "0.1"), "--sample needs a page trace"),
        (("--move", "A.B=BP3"), "--move needs a page trace"),
        (("--pool", "BP9=5000"), "no statistics of BP9"),
        (("--pool", "BP2=50000,vpseqt=40"), "thresholds needs a page trace"),
        (("--save", "p.json"), "--save needs a page trace"),
    ],
)
def test_what_needs_a_trace_is_refused(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    path = tmp_path / "display.txt"
    path.write_text(POOL)
    code, text = run(str(path), "--minutes", "15", *arguments)
    assert code == 2
    assert told in " ".join(text.split())
    assert not (tmp_path / "p.json").exists()
