"""Knees found by hand and in published data, goals met, and curves that have no knee."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.compare.numbers.knee import find_knee, least_that_meets

#: Real and expanded storage in megabytes, and seconds of external response: table 34 of the VM/ESA report.
STORAGE = ([768, 1024, 1216, 1344, 1408, 2560], [63.246, 9.767, 6.811, 0.804, 0.700, 0.502])


def test_storage_constrained_runs_turn_where_the_report_says() -> None:
    """The report calls the change from 1344 to 1216 megabytes abrupt, and 1344 the least that is acceptable."""
    knee = find_knee(*STORAGE)
    assert knee is not None and (knee.x, knee.logarithmic) == (1344, True)
    met = least_that_meets(*STORAGE, 1.0)
    assert (met.place, met.fails) == (3, 2)
    # ln(6.811 / 1) / ln(6.811 / 0.804) of the way from 1216 to 1344.
    assert met.crossing == pytest.approx(1216 + 128 * math.log(6.811) / math.log(6.811 / 0.804))


def test_distance_by_hand() -> None:
    """y = 0, 1, 4 over x = 0, 1, 2 scaled: 1/4 where the straight line has 1/2."""
    knee = find_knee([0, 1, 2], [0, 1, 4])
    assert knee is not None
    assert (knee.place, knee.distance, knee.logarithmic) == (1, pytest.approx(0.25), False)


def test_no_knee_in_a_straight_or_flat_or_concave_curve() -> None:
    assert find_knee([1, 2, 3, 4], [1, 2, 3, 4]) is None
    assert find_knee([1, 2, 3], [1.0, 1.1, 1.9]) is None
    assert find_knee([0, 1, 2, 3], [0, 3, 4, 4.5]) is None
    assert find_knee([1, 2], [1, 100]) is None
    assert find_knee([1, 2, 3], [0, 0, 0]) is None


def test_a_concave_curve_has_one_when_asked_for() -> None:
    knee = find_knee([0, 1, 2, 3], [0, 3, 4, 4.5], concave=True)
    assert knee is not None and knee.x == 1


@given(
    st.lists(st.floats(0.1, 100), min_size=3, max_size=12),
    st.floats(0.1, 50),
    st.floats(0.1, 50),
)
def test_units_do_not_move_the_knee(values: list[float], across: float, up: float) -> None:
    x = [float(number) for number in range(1, len(values) + 1)]
    one, other = find_knee(x, values), find_knee([across * a for a in x], [up * b for b in values])
    spans = max(values) / min(values)
    if min(abs(spans - 2), abs(spans - 10)) < 1e-6:
        return
    assert (one is None) == (other is None) or abs((one or other).distance - 0.1) < 1e-9  # type: ignore[union-attr]
    if one is not None and other is not None:
        assert one.distance == pytest.approx(other.distance, abs=1e-9)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=10), st.floats(0.01, 100))
def test_goal_against_a_plain_search(values: list[float], goal: float) -> None:
    x = [float(number) for number in range(len(values))]
    met = least_that_meets(x, values, goal)
    good = [at for at in range(len(values)) if all(one <= goal for one in values[at:])]
    assert met.place == (good[0] if good else None)
    if met.crossing is not None and met.fails is not None:
        assert x[met.fails] <= met.crossing <= x[met.fails + 1]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="has to rise"):
        find_knee([1, 1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="for 2 y"):
        find_knee([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="above zero"):
        least_that_meets([1, 2], [1, 2], 0)
