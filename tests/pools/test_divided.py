"""Curves in pieces: by pool they are those of one pass, and shards of a pool estimate it within their error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.executors import Argument, Result, Tell
from plexlens.pools import divided
from plexlens.pools.curves import PoolCurve, curves_of, to_json
from plexlens.pools.divided import divided_curves, together
from plexlens.pools.opening import Opening
from tests.in_any_order import in_any_order
from tests.pools.made_trace import zipf

Rows = Sequence[tuple[Any, ...]]


def written(path: Path, heads: str, rows: Rows) -> Path:
    path.write_text("\n".join([heads, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def three_pools(seed: int, count: int) -> Rows:
    """References to objects in three pools at random, with updates; a pool has many more than the others."""
    random = np.random.default_rng(seed)
    pools = random.choice([1, 2, 7], size=count, p=[0.7, 0.2, 0.1])
    pages = zipf(random, 900, 0.9, count)
    functions = random.choice(["getpage", "set_write"], size=count, p=[0.9, 0.1])
    rows = zip(pools.tolist(), random.integers(1, 4, count).tolist(), pages.tolist(), functions.tolist(), strict=True)
    return [
        (at * 10, f"BP{pool}", pool * 10 + number, page, word) for at, (pool, number, page, word) in enumerate(rows)
    ]


HEADS = "time,pool,object,page,function"


def by_executors(paths: Sequence[Path], **more: Any) -> list[PoolCurve]:
    opening = Opening(tuple(paths))
    return divided_curves(opening, opening.open(), in_any_order, **more)


@pytest.mark.parametrize("sizes", [(), (5, 64, 333)])
def test_by_pool_they_are_those_of_a_pass(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Points, shares of data sets, getpages: all that a curve says."""
    path = written(tmp_path / "t.csv", HEADS, three_pools(1, 6000))
    found = by_executors([path], sizes=sizes)
    assert found == curves_of([path], sizes=sizes)
    assert [curve.pool for curve in found] == ["BP1", "BP2", "BP7"]
    assert found[0].shares


def test_a_trace_in_pieces_and_one_of_a_pool(tmp_path: Path) -> None:
    rows = three_pools(2, 3000)
    parts = [written(tmp_path / f"{at}.csv", HEADS, rows[at : at + 1000]) for at in range(0, 3000, 1000)]
    assert by_executors(parts) == curves_of(parts)
    alone = written(tmp_path / "alone.csv", HEADS, [row for row in rows if row[1] == "BP2"])
    assert by_executors([alone]) == curves_of([alone])


@pytest.mark.parametrize("group", [None, True, False])
def test_members_have_pools_of_their_own(tmp_path: Path, group: bool | None) -> None:
    rows = [(f"DB{at % 2}A", *row) for at, row in enumerate(three_pools(3, 4000))]
    path = written(tmp_path / "t.csv", f"member,{HEADS}", rows)
    found = by_executors([path], group=group)
    assert found == curves_of([path], group=group)
    assert [curve.pool for curve in found][:2] == (["BP1", "BP2"] if group is False else ["DB0A.BP1", "DB0A.BP2"])


def test_a_group_of_a_single_member_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", HEADS, three_pools(4, 500))
    for curves in (by_executors, curves_of):
        with pytest.raises(UsageError, match="the trace has one member, and a group needs several"):
            curves([path], group=True)


def test_pools_with_few_getpages_share_a_piece() -> None:
    """By hand: 100 alone; 60, 30 and 10 fill another; 50 the last."""
    getpages = {(0, 1): 100, (0, 2): 60, (0, 3): 50, (0, 4): 30, (1, 1): 10}
    assert together(getpages) == [{(0, 1)}, {(0, 2), (0, 4), (1, 1)}, {(0, 3)}]
    assert together({}) == []


def traces(seed: int) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    """Kinds of reference: popular pages, pages in turn, both, and a working set that moves."""
    random = np.random.default_rng(seed)
    mixed = np.where(random.random(60_000) < 0.5, zipf(random, 20_000, 0.8, 60_000), 30_000 + np.arange(60_000) % 9000)
    return {
        "skewed": zipf(random, 30_000, 0.7, 60_000),
        "very skewed": zipf(random, 30_000, 1.1, 60_000),
        "ring": np.arange(60_000) % 12_000,
        "mixed": mixed,
        "moving": np.arange(60_000) // 4 + random.integers(0, 6000, 60_000),
    }


@pytest.mark.parametrize("shards", [2, 4, 8])
@pytest.mark.parametrize("kind", list(traces(0)))
def test_shards_are_within_their_error_of_the_exact_curve(tmp_path: Path, kind: str, shards: int) -> None:
    """95 % of 60 points within 1.96 errors and all within four; in fact most are much nearer than the error says."""
    off, relative = [], []
    for seed in range(3):
        rows = [("BP1", 7, page) for page in traces(seed)[kind].tolist()]
        path = written(tmp_path / f"{seed}.csv", "pool,object,page", rows)
        (found,) = by_executors([path], shards=shards)
        (exact,) = curves_of([path], sizes=[size for size, _, _ in found.points])
        assert (found.getpages, found.distinct_pages) == (exact.getpages, exact.distinct_pages)
        assert found.points[-1][1] == exact.distinct_pages
        for (size, misses, error), (same, true, _) in zip(found.points, exact.points, strict=True):
            assert size == same
            off.append(abs(misses - true) / error if error else float(misses != true))
            relative.append(abs(misses - true) / true)
    assert max(off) < 4, sorted(off)[-5:]
    assert np.mean(np.array(off) < 1.96) >= 0.95, sorted(off)[-9:]
    assert np.median(relative) < 0.005


def test_the_sizes_that_are_asked_for_are_those_of_the_answer(tmp_path: Path) -> None:
    rows = [("BP1", 7, page) for page in traces(1)["skewed"].tolist()]
    path = written(tmp_path / "t.csv", "pool,object,page", rows)
    sizes = (64, 100, 1001, 7777, 50_000)
    (found,), (exact,) = by_executors([path], shards=4, sizes=sizes), curves_of([path], sizes=sizes)
    for (size, misses, error), (same, true, _) in zip(found.points, exact.points, strict=True):
        assert size == same
        assert abs(misses - true) <= 1.96 * error
    made = to_json([found], shards=4)
    assert made["shards"] == 4
    assert made["pools"]["BP1"]["curve"][0]["standard_error"] == found.points[0][2]
    with pytest.raises(UsageError, match=r"a pool of 63 pages is 16 pages of a shard: too few; give sizes of 64 pages"):
        by_executors([path], shards=4, sizes=[63, 100])


def test_shards_by_hand() -> None:
    """Shards of three pages and a single page.

    A pool of 3 pages is 2 of each shard, with 6 and 1 misses. Each shard stands for half of the pages, so it estimates
    12 and 2 misses, whose mean is 7.
    """
    parts = [
        divided.Shard(20, 3, 3, np.array([1, 2, 3]), np.array([10.0, 6.0, 3.0])),
        divided.Shard(9, 1, 1, np.array([1]), np.array([1.0])),
    ]
    curve = divided.joined(parts, [3, 5], pool="BP1")
    assert (curve.getpages, curve.distinct_pages, curve.enough) == (29, 4.0, 5)
    assert [point[:2] for point in curve.points] == [(3, 7.0), (5, 4.0)]
    # The estimates 12 and 2 have the standard deviation 7.07, the mean of two 5; Student's 95 % for one degree of
    # freedom is 12.706. One page to each side of 3 are 1.96 * sqrt(3) = 3.39 pages: the curve falls from 11 to 4.
    spread = 5 * 12.706 / 1.959964
    assert curve.points[0][2] == pytest.approx(np.hypot(spread, (11 - 4) / 2 / 1.959964), rel=1e-4)


def test_small_pools_stay_whole(tmp_path: Path) -> None:
    """BP2 has few getpages, BP3 few pages: their curves are exact, and a note names the pool that is estimated."""
    random = np.random.default_rng(5)
    rows = [("BP1", 1, page) for page in zipf(random, 5000, 0.5, 20_000)]
    rows += [("BP2", 2, page) for page in zipf(random, 2000, 0.5, 3000)]
    rows += [("BP3", 3, page) for page in zipf(random, 300, 0.5, 20_000)]
    path = written(tmp_path / "t.csv", "pool,object,page", [rows[at] for at in random.permutation(len(rows))])
    opening = Opening((path,))
    trace = opening.open()
    first, *others = divided_curves(opening, trace, in_any_order, shards=4)
    exact = curves_of([path])
    assert others == exact[1:]
    assert any(error for _, _, error in first.points)
    (note,) = [note for note in trace.facts.notes if "shards" in note]
    assert note == "BP1: the curve is joined from 4 shards of its pages, and estimated."
    # A pool of three pages, of which a shard has none.
    few = written(tmp_path / "few.csv", "pool,object,page", [("BP1", 1, at % 3) for at in range(50)])
    assert by_executors([few], shards=4) == curves_of([few])


def test_executors_with_another_trace_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", HEADS, three_pools(6, 500))
    opening = Opening((path,))

    def elsewhere(work: Any, arguments: Sequence[Argument], tell: Tell | None = None) -> list[Result]:
        written(path, HEADS, three_pools(6, 400))
        return in_any_order(work, arguments, tell)

    with pytest.raises(UnreadableInputError, match=r"executors read \d+ getpages of BP1, and this machine \d+; see"):
        divided_curves(opening, opening.open(), elsewhere)

    def without_a_pool(work: Any, arguments: Sequence[Argument], tell: Tell | None = None) -> list[Result]:
        written(path, HEADS, [row for row in three_pools(6, 400) if row[1] != "BP2"])
        return in_any_order(work, arguments, tell)

    written(path, HEADS, [row for row in three_pools(6, 400) if row[1] == "BP2"])
    with pytest.raises(UnreadableInputError, match=r"executors read 0 getpages of BP2, and this machine \d+; see"):
        divided_curves(opening, opening.open(), without_a_pool)

    def without(work: Any, arguments: Sequence[Argument], tell: Tell | None = None) -> list[Result]:
        path.unlink()
        return in_any_order(work, arguments, tell)

    with pytest.raises(UnreadableInputError, match=r"t.csv: executor .* does not see it; put the trace where"):
        divided_curves(opening, opening.open(), without)
