"""Series judged on several processes: the same results in the same order as on one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context
from typing import TypeAlias, TypeVar

from plexlens.changes.detected import Detected, Detector
from plexlens.forecast.daily import Values

#: What a series is called by its caller.
Name = TypeVar("Name")

#: The weekday of a series' first day, Monday is 0, and its values: a row per day, a column per slot.
Series: TypeAlias = tuple[int, Values]

#: Series that are sent at a time, and such lots in flight per process: some ten megabytes each of a year of
#: quarter-hours.
LOT, IN_FLIGHT = 32, 2

#: Values that one process judges first: some seconds, as long as it takes to start others.
ALONE = 5_000_000

_detectors: dict[int, Detector] = {}


def _of_lot(lot: list[Series]) -> list[Detected]:
    return [_detectors.setdefault(weekday, Detector(weekday)).detect(values) for weekday, values in lot]


def detected(series: Iterable[tuple[Name, int, Values]], processes: int = 1) -> Iterator[tuple[Name, Detected]]:
    """Judge series, each by itself.

    Parameters
    ----------
    series
        Name, weekday of the first day, and values of each.
    processes
        Processes that judge while this one reads; 1 judges here. They start when there is much to judge. Where
        they end early, this process judges the rest.

    Yields
    ------
    Name, Detected
        In the order of the series.
    """
    rest = iter(series)
    seen = 0
    while processes <= 1 or seen < ALONE:
        each = next(rest, None)
        if each is None:
            return
        name, weekday, values = each
        seen += values.size
        yield name, _of_lot([(weekday, values)])[0]
    if (first := next(rest, None)) is not None:
        yield from _on(chain([first], rest), processes)


def _on(rest: Iterator[tuple[Name, int, Values]], processes: int) -> Iterator[tuple[Name, Detected]]:
    # A fork would copy the threads' locks of the database.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting: deque[tuple[list[Name], list[Series], Future[list[Detected]] | None]] = deque()
        is_broken = False
        while True:
            while len(waiting) < IN_FLIGHT * processes and (lot := list(islice(rest, LOT))):
                given = [(weekday, values) for _, weekday, values in lot]
                future = None
                try:
                    future = None if is_broken else pool.submit(_of_lot, given)
                except BrokenProcessPool:
                    is_broken = True
                waiting.append(([name for name, *_ in lot], given, future))
            if not waiting:
                return
            names, given, future = waiting.popleft()
            try:
                results = _of_lot(given) if future is None else future.result()
            except BrokenProcessPool:
                is_broken = True
                results = _of_lot(given)
            yield from zip(names, results, strict=True)
