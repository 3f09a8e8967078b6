"""The false discovery rate by hand."""

from __future__ import annotations

import numpy as np

from plexlens.changes.detected import Detected, Event
from plexlens.changes.judged import judged

NONE = np.zeros(0)


def _event(kind: str, p: float | None, start: int = 0, end: int = 96) -> Event:
    return Event(kind, start, end, None, p, 1.0, 2.0)


def _series(chances: dict[str, float], *events: Event) -> Detected:
    return Detected(chances, events, (), 0, 0, 0, NONE)


def test_the_bound_of_all_series_together() -> None:
    # Four tests: 1 + 1/2 + 1/3 + 1/4 = 2.0833. The smallest may be 0.05 / 4 / 2.0833 = 0.006, the second 0.012, the
    # third 0.018, the fourth 0.024.
    series = [_series({"level": p}, _event("level shift", p)) for p in (0.0121, 0.0059, 0.0181, 0.9)]
    assert set(judged(series).reported) == {1}
    series[0] = _series({"level": 0.0119}, _event("level shift", 0.0119))
    assert set(judged(series).reported) == {0, 1}
    result = judged(series, rate=0.051)
    assert (result.tests, result.passed, set(result.reported)) == (4, 3, {0, 1, 2})


def test_further_changes_pass_at_the_share_of_the_tests_that_passed() -> None:
    # One of two tests passes: further changes have to stay below 0.05 x 1 / 2.
    events = (_event("level shift", 1e-6), _event("level shift", 0.02), _event("trend", 0.03), _event("trend", 0.001))
    reported = judged([_series({"level": 1e-6, "hours": 0.5}, *events, _event("odd hours", 0.001))]).reported
    # What was tested beside a change that is not told is not told either.
    assert reported == {0: events[:2]}


def test_steps_without_noise_need_no_test() -> None:
    held = _event("level shift", None)
    assert judged([_series({}, held)]).reported == {0: (held,)}


def test_an_odd_day_and_its_hours_are_told_once() -> None:
    chances = {"hours": 1e-9, "days": 1e-9}
    day = _event("odd day", 1e-9, 96, 192)
    short, long = _event("odd hours", 1e-9, 110, 118), _event("odd hours", 1e-9, 96, 160)
    assert judged([_series(chances, day, short)]).reported == {0: (short,)}
    assert judged([_series(chances, day, long)]).reported == {0: (day,)}
    other = _event("odd hours", 1e-9, 200, 205)
    assert judged([_series(chances, day, other)]).reported == {0: (day, other)}
