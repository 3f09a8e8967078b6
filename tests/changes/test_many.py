"""Series judged on several processes, against one process that judges them one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from plexlens.changes import many
from plexlens.changes.detected import Detected, Detector
from plexlens.forecast.daily import Values


def _series(count: int) -> Iterator[tuple[str, int, Values]]:
    for number in range(count):
        generator = np.random.default_rng((31, number))
        values = 100 * np.exp(generator.normal(0, 0.1, (42, 24)))
        values[20:] *= 1 + number % 3
        yield f"S{number}", number % 7, values


def _same(one: Detected, other: Detected) -> bool:
    return (
        one.chances == other.chances
        and one.events == other.events
        and one.notes == other.notes
        and np.array_equal(one.usual, other.usual, equal_nan=True)
        and np.array_equal(one.daily, other.daily, equal_nan=True)
    )


def test_processes_give_the_same_results_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "ALONE", 5_000)
    monkeypatch.setattr(many, "LOT", 3)
    expected = [(name, Detector(weekday).detect(values)) for name, weekday, values in _series(25)]
    results = list(many.detected(_series(25), 2))
    assert [name for name, _ in results] == [name for name, _ in expected]
    assert all(_same(one, other) for (_, one), (_, other) in zip(results, expected, strict=True))


class _Ends:
    """Judges in the process that made it, and ends any other."""

    def __init__(self) -> None:
        self.process = os.getpid()

    def __call__(self, lot: list[many.Series]) -> list[Detected]:
        if os.getpid() != self.process:
            os._exit(1)
        return [Detector(weekday).detect(values) for weekday, values in lot]


def test_the_rest_is_judged_here_where_processes_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "ALONE", 0)
    monkeypatch.setattr(many, "LOT", 2)
    monkeypatch.setattr(many, "_of_lot", _Ends())
    expected = [(name, Detector(weekday).detect(values)) for name, weekday, values in _series(6)]
    results = list(many.detected(_series(6), 2))
    assert [name for name, _ in results] == [name for name, _ in expected]
    assert all(_same(one, other) for (_, one), (_, other) in zip(results, expected, strict=True))


def test_no_series_gives_nothing() -> None:
    assert list(many.detected(iter(()), 2)) == []
