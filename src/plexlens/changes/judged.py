"""Changes of all series that are reported: the false discovery rate over every test of every series.

The smallest probability of each test of each series enters the procedure of Benjamini and Yekutieli (Annals of
Statistics 29, 2001), which holds for tests that depend on each other in any way, as those of one system's metrics do.
Of a test that passes, further changes have to pass at the share of the tests that passed (Benjamini and Bogomolov,
Journal of the Royal Statistical Society B 76, 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from plexlens.changes.detected import TEST_OF, Detected, Event

#: Share of the reported changes that may be false, on average.
RATE = 0.05


@dataclass(frozen=True)
class Judged:
    """Changes that are reported, and the tests behind them.

    Attributes
    ----------
    reported
        Changes by place of their series; only series with changes.
    tests
        Number of tests made.
    passed
        Number of them that passed.
    bound
        Probability that further changes of a test that passed have to stay below; 0 where none passed.
    """

    reported: dict[int, tuple[Event, ...]]
    tests: int
    passed: int
    bound: float


def judged(series: Sequence[Detected], rate: float = RATE) -> Judged:
    """Decide which changes of all series are reported.

    Parameters
    ----------
    series
        Each series as judged by itself.
    rate
        False discovery rate.
    """
    tests = [(place, test, p) for place, detected in enumerate(series) for test, p in detected.chances.items()]
    passed: set[tuple[int, str]] = set()
    if tests:
        adjusted = stats.false_discovery_control(np.clip([p for *_, p in tests], 0.0, 1.0), method="by")
        passed = {(place, test) for (place, test, _), p in zip(tests, adjusted, strict=True) if p <= rate}
    bound = rate * len(passed) / len(tests) if tests else 0.0
    of_series: dict[int, set[str]] = {}
    for place, test in passed:
        of_series.setdefault(place, set()).add(test)
    reported: dict[int, tuple[Event, ...]] = {}
    for place, detected in enumerate(series):
        kept = _once(_kept(detected, of_series.get(place, set()), bound), detected.slots)
        if kept:
            reported[place] = kept
    return Judged(reported, len(tests), len(passed), bound)


def _kept(series: Detected, passed: set[str], bound: float) -> tuple[Event, ...]:
    """The changes that are reported: those without noise, and of each test that passed those up to the bound."""
    results: list[Event] = []
    ended: set[str] = set()
    first: set[str] = set()
    for change in series.events:
        test = TEST_OF[change.kind]
        if change.p is None:
            results.append(change)
        elif test in passed and test not in ended:
            # The first of a test is the one that passed.
            if test not in first or change.p <= bound:
                results.append(change)
                first.add(test)
            elif test == "level":
                # Later changes were tested with this one in the model.
                ended.add(test)
    return tuple(results)


def _once(changes: tuple[Event, ...], slots: int) -> tuple[Event, ...]:
    """The changes without those that say the same: of a day that is odd for half of it or more the hours are left out,
    of a day that is odd for hours of it the day.
    """
    odd_days = {change.start // slots for change in changes if change.kind == "odd day"}
    episodes = [change for change in changes if change.kind == "odd hours"]
    long = [change for change in episodes if change.end - change.start >= slots // 2]
    inside = {change.start // slots for change in episodes if change not in long}
    return tuple(
        change
        for change in changes
        if not (change.kind == "odd day" and change.start // slots in inside)
        and not (change in long and odd_days & set(range(change.start // slots, (change.end - 1) // slots + 1)))
    )
