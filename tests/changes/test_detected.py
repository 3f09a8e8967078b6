"""One series: what cannot be tested is told, and changes stand at their quarter-hour."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plexlens.changes.detected import Detector, Why
from tools.changes_trial import SLOTS, Noise, load


def _load(weeks: int = 8) -> np.ndarray:
    return load(np.random.default_rng(12), weeks, Noise(day_carried=0.0))


def test_what_cannot_be_tested_is_told() -> None:
    detector = Detector(0)
    empty = detector.detect(np.full((21, SLOTS), np.nan))
    assert (empty.notes, empty.chances, empty.known) == ((Why.EMPTY,), {}, 0)
    short = detector.detect(_load(2)[:13])
    assert (short.notes, short.chances, short.whole) == ((Why.SHORT,), {}, 13)
    constant = detector.detect(np.full((21, SLOTS), 7.0))
    assert (constant.notes, constant.chances, constant.events) == ((Why.CONSTANT,), {}, ())


def test_heavy_tails_are_counted_and_give_no_odd_hours() -> None:
    """Noise of Student's t with 3 degrees of freedom: without the rule most such series have odd hours."""
    noise = Noise(slot_carried=0.0, degrees=3.0)
    results = [Detector(0).detect(load(np.random.default_rng(seed), 12, noise)) for seed in range(5)]
    assert all(Why.HEAVY in result.notes and Why.FEW not in result.notes for result in results)
    assert not any(event.kind == "odd hours" for result in results for event in result.events)
    assert Why.HEAVY not in Detector(0).detect(_load(12)).notes


def test_days_with_too_few_intervals_are_not_whole() -> None:
    values = _load(3)
    # 76 of 96 are less than 80 %, 77 are more.
    values[4, 76:] = math.nan
    values[5, 77:] = math.nan
    result = Detector(0).detect(values)
    assert result.whole == 20
    assert result.missing == 20 + 19


def test_steps_of_a_value_that_is_constant_otherwise_need_no_test() -> None:
    values = np.full((21, SLOTS), 4.0)
    values.ravel()[500:] = 6.0
    values.ravel()[1500:] = 5.0
    values[10, 3] = math.nan
    result = Detector(0).detect(values)
    assert result.notes == (Why.HELD,)
    assert [(event.start, event.end, event.p, event.before, event.after) for event in result.events] == [
        (500, 1500, None, 4.0, 6.0),
        (1500, 21 * SLOTS, None, 6.0, 5.0),
    ]


@pytest.mark.parametrize("place", [30 * SLOTS, 30 * SLOTS + 40, 30 * SLOTS + 95])
def test_a_shift_stands_at_its_quarter_hour(place: int) -> None:
    values = _load()
    before = values[:30].mean()
    values.ravel()[place:] *= 2.0
    (event,) = [event for event in Detector(0).detect(values).events if event.kind == "level shift"]
    assert abs(event.start - place) <= 2
    assert event.end == values.size
    assert event.before == pytest.approx(before, rel=0.05)
    assert event.after == pytest.approx(2 * event.before, rel=0.05)


def test_a_series_that_is_mostly_zero_is_tested() -> None:
    generator = np.random.default_rng(3)
    values = np.where(generator.random((42, SLOTS)) < 0.1, 5.0, 0.0)
    result = Detector(0).detect(values)
    assert set(result.chances) == {"level", "days"}
    assert result.notes == (Why.FEW,)
    assert all(event.p is not None and event.p > 1e-4 for event in result.events)
