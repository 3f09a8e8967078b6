"""Groups of objects simulated on a sample, and guessed from what each object does alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.pools.page_sample import GroupCurves, Use, take
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.looked_at import samples_of
from plexlens.pools.search.policy_curves import Middle
from tests.pools.made_trace import MadeTrace, lru_misses, mixed, rests_of, zipf


def three_objects(seed: int = 1) -> tuple[list[int], list[int], MadeTrace]:
    random = np.random.default_rng(seed)
    objects, pages = mixed(
        seed,
        {
            1: zipf(random, 300, 0.9, 6000).tolist(),
            2: zipf(random, 900, 0.5, 5000).tolist(),
            3: list(range(200)) * 15,
        },
    )
    return objects, pages, MadeTrace(object=objects, page=pages, pool=np.array(objects) % 2)


def test_what_a_trace_does_with_an_object() -> None:
    trace = MadeTrace(
        object=[7, 7, 7, 7, 9, 7],
        page=[1, 1, 2, 3, 1, 3],
        pool=[2, 2, 3, 2, 2, 2],
        partition=[0, 0, 5, 0, 0, 0],
        function=[0, 1, 0, 0, 0, 4],
        access=[0, 0, 1, 0, 3, 0],
        rows=2,
    )
    sample = take(trace)
    assert (sample.rate, sample.getpages, len(sample)) == (1.0, 4, 4)
    seven, nine = sample.objects[7], sample.objects[9]
    assert (seven.getpages, seven.home, seven.total, seven.updates) == ({2: 2, 3: 1}, 2, 3, 1)
    assert seven.accesses.tolist() == [2, 1, 0, 0]
    assert sample.data_sets[7, 5].getpages == {3: 1}
    assert nine.accesses.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("group", [{1}, {3}, {1, 2}, {1, 3}, {1, 2, 3}])
def test_a_group_costs_what_a_slow_pool_of_it_reads(group: set[int]) -> None:
    objects, pages, trace = three_objects()
    weights = {1: 1.0, 2: 2.0, 3: 0.25}
    curve = GroupCurves(take(trace), weights).of(frozenset(group), 4096)
    of_group = [(number, page) for number, page in zip(objects, pages, strict=True) if number in group]
    for size in (1, 7, 64, 200, 500):
        slow = 0.0
        for number in group:
            # Misses of one object in the pool of all: misses of all less those of a pool that forgives this object's.
            slow += weights[number] * misses_of(of_group, number, size)
        assert float(curve.at(size)) == pytest.approx(slow), size


def misses_of(references: list[tuple[int, int]], number: int, size: int) -> int:
    """Misses of one object in an LRU pool that others use too."""
    held: list[tuple[int, int]] = []
    misses = 0
    for reference in references:
        if reference in held:
            held.remove(reference)
        else:
            misses += reference[0] == number
            if len(held) == size:
                held.pop(0)
        held.append(reference)
    return misses


def test_a_group_is_simulated_once() -> None:
    curves = GroupCurves(take(three_objects()[2]), {1: 1.0, 2: 1.0, 3: 1.0})
    first = curves.of(frozenset({1, 2}), 4096)
    assert curves.of(frozenset({2, 1}), 4096) is first
    assert curves.simulated == 1


def test_a_sample_holds_whole_pages_and_tells_the_curve() -> None:
    random = np.random.default_rng(5)
    pages = zipf(random, 20_000, 0.8, 200_000)
    trace = MadeTrace(page=pages, rows=10_000)
    sample = take(trace, most=60_000)
    assert 0 < len(sample) <= 60_000
    assert sample.rate in (0.5, 0.25, 0.125)
    assert sample.getpages == 200_000
    numbers, counts = np.unique(sample.pages(), return_counts=True)
    whole = np.bincount(pages)
    chosen = pages[sample.position]
    assert sorted(counts.tolist()) == sorted(whole[np.unique(chosen)].tolist()), "all references to a page or none"
    assert abs(len(numbers) - sample.rate * np.count_nonzero(whole)) < 6 * np.sqrt(len(numbers))
    curve = GroupCurves(sample, {0: 1.0}).of(frozenset({0}), 4096)
    for size in (1000, 4000, 10_000):
        slow = lru_misses(pages.tolist(), size)
        assert float(curve.at(size)) == pytest.approx(slow, abs=0.015 * len(pages)), size


def test_composition_is_near_the_simulation_of_independent_objects() -> None:
    trace = three_objects()[2]
    sample = take(trace)
    weights = {1: 1.0, 2: 1.0, 3: 1.0}
    guess, simulated = Composition(rests_of(trace), weights), GroupCurves(sample, weights)
    for group in ({1, 2}, {1, 2, 3}):
        for size in (50, 200, 600):
            composed, slow = guess.curve(group, 4096), float(simulated.of(frozenset(group), 4096).at(size))
            # Exact at the ages that are kept; between two of them the cost is that of the shorter.
            following = composed.costs[np.searchsorted(composed.sizes, size, side="right")]
            assert 0.98 * float(following) <= slow <= 1.02 * float(composed.at(size))
    alone = guess.curve({3}, 4096)
    assert float(alone.at(150)) == 3000, "a ring of 200 pages finds nothing in 150 buffers"
    assert float(alone.at(210)) == 200


def test_a_trace_without_getpages_makes_an_empty_sample() -> None:
    sample = take(MadeTrace(page=[1], function=[4]))
    assert (len(sample), sample.getpages, sample.objects) == (0, 0, {})


def test_a_pass_with_a_known_sample_finds_what_one_without_does() -> None:
    _, pages, trace = three_objects()
    known = take(trace, most=3000)
    for most in (3000, 2000):
        # A sample of another size is of no use.
        middle = Middle(len(pages), 500)
        samples, rests = samples_of(trace, {}, most, None, known={"": known}, stretch=middle)
        slow, slow_rests = samples_of(trace, {}, most, None)
        assert (samples[""] is known) == (most == 3000)
        assert samples[""].rate == slow[""].rate
        assert samples[""].position.tolist() == slow[""].position.tolist()
        assert samples[""].pages().tolist() == slow[""].pages().tolist()
        assert samples[""].distinct_pages() == slow[""].distinct_pages()
        assert {key: use.total for key, use in samples[""].data_sets.items()} == {
            key: use.total for key, use in slow[""].data_sets.items()
        }
        assert rests[""].rests().equals(slow_rests[""].rests())
        first = (len(pages) - 500) // 2
        assert middle.rows()["page"].to_pylist() == pages[first : first + 500]


def slow_uses(batches: Iterable[pa.RecordBatch]) -> dict[tuple[int, int], Use]:
    """Use of data sets, a row at a time within each part and kind of access; data sets in the order of these."""
    functions, accesses = _core.TRACE_FUNCTIONS, len(_core.TRACE_ACCESSES)
    uses: dict[tuple[int, int], Use] = {}
    for batch in batches:
        rows = batch.to_pylist()
        for access in range(accesses):
            chosen = [row for row in rows if functions[row["function"]] == "getpage" and row["access"] == access]
            for row in sorted(chosen, key=lambda row: (row["object"], row["partition"], row["pool"])):
                use = uses.setdefault((row["object"], row["partition"]), Use())
                use.getpages[row["pool"]] = use.getpages.get(row["pool"], 0) + 1
                use.accesses[access] += 1
                use.statuses[row["status"]] += row["status"] > 0
        for row in rows:
            if functions[row["function"]] == "set_write" and (row["object"], row["partition"]) in uses:
                uses[row["object"], row["partition"]].updates += 1
    return uses


def test_uses_are_those_of_the_rows_in_the_same_order() -> None:
    random = np.random.default_rng(17)
    rows = 4000
    trace = MadeTrace(
        rows=130,
        page=random.integers(0, 50, rows),
        object=random.integers(0, 60, rows) ** 2,
        partition=random.integers(0, 3, rows),
        pool=random.integers(0, 4, rows),
        function=random.choice([0, 0, 0, 1, 2], rows),
        access=random.choice([0, 0, 1, 2, 3], rows),
        status=random.choice([0, 0, 1, 2, 3], rows),
    )
    found, slow = take(trace).data_sets, slow_uses(trace.batches())
    assert list(found) == list(slow)
    for key, use in slow.items():
        assert list(found[key].getpages.items()) == list(use.getpages.items())
        assert (found[key].accesses.tolist(), found[key].updates) == (use.accesses.tolist(), use.updates)
        assert found[key].statuses.tolist() == use.statuses.tolist()
    assert take(MadeTrace(page=[])).data_sets == {}
