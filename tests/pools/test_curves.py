"""Curves of traces, as a library and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import UsageError
from plexlens.pools.curves import curves_of, to_json
from plexlens.pools.trace import open_trace


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Four rounds through 50 pages in BP2, and one page of BP8K0."""
    path = tmp_path / "ring.csv"
    rows = [f"BP2,{page}" for _ in range(4) for page in range(50)] + ["BP8K0,1"]
    path.write_text("pool,page\n" + "\n".join(rows) + "\n")
    return path


def test_a_ring_misses_always_until_it_fits(ring: Path) -> None:
    small, eight = curves_of([ring], sizes=[100, 49, 50])
    assert (small.pool, small.getpages, small.distinct_pages) == ("BP2", 200, 50)
    assert small.points == ((49, 200, 0), (50, 50, 0), (100, 50, 0))
    assert (eight.pool, eight.points) == ("BP8K0", ((49, 1, 0), (50, 1, 0), (100, 1, 0)))


def test_without_sizes_the_curve_ends_where_nothing_more_is_gained(ring: Path) -> None:
    points = curves_of([ring])[0].points
    assert (points[-1][:2], points[0][0] >= 1) == ((50, 50), True)


def test_a_trace_in_pieces_is_one_trace(ring: Path) -> None:
    whole = curves_of([ring, ring], sizes=[50])[0]
    assert whole.points == ((50, 50, 0),)
    assert whole.getpages == 400


def test_a_sample_says_so(ring: Path) -> None:
    made = to_json(curves_of([ring], sizes=[50], sample=1.0), sample=1.0)
    assert made["sample"] == 1.0
    assert made["pools"]["BP2"]["curve"] == [{"pages": 50, "read_misses": 50, "standard_error": 0.0}]


@pytest.mark.parametrize(
    ("choice", "expected"), [({"sizes": [0]}, "a pool of 0 pages"), ({"sample": 2.0}, "sampling rate of 2")]
)
def test_impossible_wishes(ring: Path, choice: dict[str, object], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        curves_of([ring], **choice)  # type: ignore[arg-type]


def test_the_command(ring: Path) -> None:
    done = CliRunner().invoke(app, ["pools", str(ring), "--sizes", "49,50", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["pools"]["BP2"] == {
        "getpages": 200,
        "distinct_pages": 50,
        "curve": [{"pages": 49, "read_misses": 200}, {"pages": 50, "read_misses": 50}],
    }
    text = CliRunner().invoke(app, ["pools", str(ring), "--sizes", "49,50"]).stdout
    assert "BP2" in text and "200" in text


@pytest.fixture
def two_objects(tmp_path: Path) -> Path:
    """Object 7 goes three times through 10 pages, object 9 four times to one page, in turn, all in BP1."""
    path = tmp_path / "two.csv"
    rows = []
    for step in range(30):
        rows.append(f"BP1,7,{step % 10}")
        if step % 8 == 0:
            rows.append("BP1,9,0")
    path.write_text("pool,object,page\n" + "\n".join(rows) + "\n")
    return path


def test_shares_add_up_to_the_curve(two_objects: Path) -> None:
    (curve,) = curves_of([two_objects], sizes=[1, 9, 10, 11])
    totals = [misses for _, misses, _ in curve.points]
    assert [sum(share.misses[i] for share in curve.shares) for i in range(4)] == totals
    by_object = {share.object: share for share in curve.shares}
    # Between two references to the page of object 9 lie 8 pages of the other; between those to one of these, all 10.
    assert by_object[7].misses == (30, 30, 30, 10)
    assert by_object[9].misses == (4, 1, 1, 1)
    assert (curve.enough, by_object[7].distinct_pages, by_object[9].getpages) == (11, 10, 4)


def test_a_placement_moves_objects_before_the_curves(two_objects: Path) -> None:
    first, second = curves_of([two_objects], sizes=[1, 10], placement={(9, 0): 2})
    assert (first.pool, first.points) == ("BP1", ((1, 30, 0), (10, 10, 0)))
    assert (second.pool, second.points) == ("BP2", ((1, 1, 0), (10, 1, 0)))


def zipf_trace(path: Path, pages: int, rows: int, *, pool: str = "BP1") -> list[int]:
    """A trace of one object with pages of falling popularity; its pages in order."""
    random = np.random.default_rng(5)
    weights = np.cumsum(np.arange(1, pages + 1, dtype=float) ** -0.8)
    found = random.permutation(pages)[np.searchsorted(weights, random.random(rows) * weights[-1])].tolist()
    path.write_text("\n".join(["time,pool,object,page", *(f"{at},{pool},7,{page}" for at, page in enumerate(found))]))
    return found


def test_a_sample_of_few_pages_has_no_curve(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    zipf_trace(path, 4000, 20_000)
    with pytest.raises(UsageError, match=r"too few pages for a curve: BP1 \(\d+ pages\); give --sample 0.0\d+ or more"):
        curves_of([path], sample=0.01)
    with pytest.raises(
        UsageError, match=r"a pool of 100 pages is 20 pages|a pool of 50 pages is 10 pages of the sample"
    ):
        curves_of([path], sample=0.2, sizes=[50])
    (curve,) = curves_of([path], sample=0.2)
    # Sixteen pages of the sample are 80 of all.
    assert curve.points[0][0] >= 80


def test_a_small_pool_is_left_out_of_a_sample_with_a_note(tmp_path: Path) -> None:
    large, small, both = (tmp_path / name for name in ("l.csv", "s.csv", "b.csv"))
    zipf_trace(large, 6000, 20_000)
    zipf_trace(small, 40, 500, pool="BP2")
    both.write_text(large.read_text() + "\n" + "\n".join(small.read_text().splitlines()[1:]).replace(",7,", ",8,"))
    trace = open_trace([both], force=True)
    found = curves_of(trace, sample=0.25)
    assert [curve.pool for curve in found] == ["BP1"]
    assert any("No curve" in note and "BP2" in note for note in trace.facts.notes)


@pytest.mark.parametrize("sizes", [(), (37, 100, 151, 1000)])
def test_shares_are_those_of_a_slow_pool_at_every_size_shown(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    path = tmp_path / "two.csv"
    random = np.random.default_rng(9)
    pages = (random.zipf(1.3, 3000) % 700).tolist()
    rows = list(zip(random.integers(1, 3, 3000).tolist(), pages, strict=True))
    path.write_text("\n".join(["pool,object,page", *(f"BP1,{which},{page}" for which, page in rows)]))
    (curve,) = curves_of([path], sizes=sizes)
    by_object = {share.object: share.misses for share in curve.shares}
    for at, (size, misses, _) in enumerate(curve.points):
        held: list[tuple[int, int]] = []
        missed = {1: 0, 2: 0}
        for row in rows:
            if row in held:
                held.remove(row)
            else:
                missed[row[0]] += 1
            held = [row, *held][:size]
        assert {number: found[at] for number, found in by_object.items()} == missed, size
        assert sum(missed.values()) == misses
