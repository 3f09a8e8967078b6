"""Changes divided among objects: arithmetic by hand, and properties of it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.metrics import GRAINS
from plexlens.why.decomposition import amount, items_of, parts_of, shapley
from plexlens.why.measured import Replicated, ratio_of


def _sums(above: float, below: float | None) -> tuple[Replicated, Replicated | None]:
    return Replicated(above), None if below is None else Replicated(below)


def test_mix_and_intensity_by_hand() -> None:
    # A: 100 s over 100 requests, then 120 over 60. B: 300 over 100, then 420 over 140.
    # Whole: 400 / 200 = 2, then 540 / 200 = 2.7. R = 2.35.
    # A: s 0.5 -> 0.3, r 1 -> 2: intensity 1 x 0.4 = 0.4; mix -0.2 x (1.5 - 2.35) = 0.17.
    # B: s 0.5 -> 0.7, r 3 -> 3: intensity 0; mix 0.2 x (3 - 2.35) = 0.13. Together 0.7.
    base = {("A",): _sums(100, 100), ("B",): _sums(300, 100)}
    new = {("A",): _sums(120, 60), ("B",): _sums(420, 140)}
    items = {item.names[0]: item for item in items_of(base, new, is_sum=False)}
    assert (items["A"].mix, items["A"].intensity) == pytest.approx((0.17, 0.4))
    assert (items["B"].mix, items["B"].intensity) == pytest.approx((0.13, 0.0))
    assert sum(item.all.value for item in items.values()) == pytest.approx(0.7)


def test_an_object_changes_by_its_own_number() -> None:
    """A goes from 1 to 2 s, by 1 s, whatever its share of the work is; that its part is 0.4 s is another number."""
    base = {("A",): _sums(100, 100), ("B",): _sums(300, 100)}
    new = {("A",): _sums(120, 60), ("B",): _sums(420, 140), ("C",): _sums(7, 7)}
    items = {item.names[0]: item for item in items_of(base, new, is_sum=False)}
    change = items["A"].change
    assert change is not None
    assert change.value == pytest.approx(1.0)
    assert items["C"].change is None


def test_the_interval_is_that_of_the_own_number() -> None:
    # Four groups in each period. A's ratio without each: 1 +- 0.01 before, 2 +- 0.01 after; so an interval around 1.
    wiggle = (0.99, 1.01, 0.99, 1.01)
    above = [Replicated(100.0 * r, tuple(75.0 * r * w for w in wiggle)) for r in (1, 2)]
    below = Replicated(100.0, (75.0,) * 4)
    other = (Replicated(900.0, (675.0,) * 4), Replicated(900.0, (675.0,) * 4))
    base, new = ({("A",): (each, below), ("B",): other} for each in above)
    items = {item.names[0]: item for item in items_of(base, new, is_sum=False)}
    change = items["A"].change
    assert change is not None
    assert change.interval is not None
    assert change.value == pytest.approx(1.0)
    assert change.interval.low < 1.0 < change.interval.high
    # A tenth of the work: its part of the whole's change is a tenth of that.
    assert items["A"].own.value == pytest.approx(0.1)


def test_new_object_is_mix() -> None:
    # A alone: 100 / 100. B comes with 90 / 30 = 3: whole 190 / 130, R = (1 + 190 / 130) / 2.
    # B: s 0 -> 3/13, mix 3/13 x (3 - R); its ratio has not changed.
    base = {("A",): _sums(100, 100)}
    new = {("A",): _sums(100, 100), ("B",): _sums(90, 30)}
    items = {item.names[0]: item for item in items_of(base, new, is_sum=False)}
    middle = (1 + 190 / 130) / 2
    assert items["B"].is_new
    assert items["B"].intensity == 0
    assert items["B"].mix == pytest.approx(3 / 13 * (3 - middle))
    assert items["A"].mix == pytest.approx(-3 / 13 * (1 - middle))


def test_sum_without_work_is_volume() -> None:
    items = items_of({("A",): _sums(5, None)}, {("A",): _sums(7, None), ("B",): _sums(1, None)}, is_sum=True)
    assert [(item.names[0], item.volume, item.mix, item.intensity) for item in items] == [
        ("A", 2, 0, 0),
        ("B", 1, 0, 0),
    ]


_VALUES = st.floats(0.1, 100.0)
_PAIRS = st.tuples(_VALUES, _VALUES)


@given(_PAIRS, _PAIRS, _PAIRS)
def test_shapley_is_the_mean_over_all_orders(
    w: tuple[float, float], s: tuple[float, float], r: tuple[float, float]
) -> None:
    # The slow way: change the factors one after the other in each of the six orders.
    moved = np.zeros(3)
    for order in permutations(range(3)):
        now = [w[0], s[0], r[0]]
        for factor in order:
            before = now[0] * now[1] * now[2]
            now[factor] = (w, s, r)[factor][1]
            moved[factor] += (now[0] * now[1] * now[2] - before) / 6
    assert shapley(w, s, r, 0.0) == pytest.approx(tuple(moved), abs=1e-6)


@given(st.lists(st.tuples(_VALUES, _VALUES, _VALUES, _VALUES), min_size=1, max_size=6), st.booleans())
def test_parts_add_up(rows: list[tuple[float, float, float, float]], is_sum: bool) -> None:
    up_0, down_0, up_1, down_1 = (np.array(each) for each in zip(*rows, strict=True))
    total = sum(float(each.sum()) for each in parts_of((up_0, up_1), (down_0, down_1), is_sum=is_sum))
    whole = up_1.sum() - up_0.sum() if is_sum else up_1.sum() / down_1.sum() - up_0.sum() / down_0.sum()
    assert total == pytest.approx(float(whole), abs=1e-9, rel=1e-9)


def test_uncertainty_of_a_mean_is_welch() -> None:
    # Means of 1, 2, 3, 4 and of 5, 6, 7, 8: without one of n values a mean is (sum - x) / (n - 1), so that the
    # jackknife gives the variance of a mean, 5/3/4 each. t = 4 / sqrt(5/6) = 4.38 with 6 degrees: p = 0.0047.
    first, second = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]
    result = amount(4.0, ([6.5 - (10 - x) / 3 for x in first], [(26 - x) / 3 - 2.5 for x in second]))
    assert result.interval is not None
    assert result.interval.freedom == pytest.approx(6)
    assert result.p == pytest.approx(0.00466, abs=5e-5)
    # t of 6 at 97.5 % is 2.447.
    assert result.interval.high == pytest.approx(4 + 2.447 * (5 / 6) ** 0.5, abs=1e-3)


def test_too_few_intervals_have_no_uncertainty() -> None:
    assert amount(4.0, ([1.0, 2.0], [3.0, 4.0])).p is None


@pytest.mark.parametrize(
    ("metric", "form"),
    [
        ("db2_accounting.cpu_per_commit", "ratio"),
        ("coupling_structure.requests_per_second", "sum"),
        ("coupling_structure.sync_service_time", "ratio"),
        ("coupling_structure.sync_service_deviation", "none"),
        ("workload_period.performance_index", "none"),
    ],
)
def test_form_of_metrics(metric: str, form: str) -> None:
    grain, _, name = metric.partition(".")
    sums = ratio_of(GRAINS[grain], GRAINS[grain].metric(name))
    assert form == ("none" if sums is None else "sum" if sums[1] is None else "ratio")
