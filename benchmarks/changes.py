"""Processor time of `plexlens changes` for a year of quarter-hours of many series, with the answer checked.

``python -m benchmarks.changes`` makes series as the trial does (`tools.changes_trial`), judges them as the command does
once it has read them, and prints time per series. The series come from fewer drawn ones: each is such a series, turned
by whole weeks. Every twentieth has a level shift of 30 %, which has to be reported within a day of its place; of the
reported changes at most a twentieth may be of series without a shift. Reading a database is not part of it.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from benchmarks.measure import machine
from plexlens.changes.detected import Detected, Detector
from plexlens.changes.judged import judged
from tools.changes_trial import SLOTS, WEEK, Noise, Values, load

#: Weeks of a series, series that are drawn, and the distance of those with a shift.
WEEKS, DRAWN, EVERY = 52, 200, 20

SEED = 21


def series(count: int) -> Iterator[tuple[Values, int | None]]:
    """Each series with the place of its shift; None where there is none."""
    generator = np.random.default_rng(SEED)
    drawn = [load(np.random.default_rng((SEED, number)), WEEKS, Noise()) for number in range(min(DRAWN, count))]
    for number in range(count):
        values = np.roll(drawn[number % len(drawn)], WEEK * int(generator.integers(WEEKS)), axis=0).copy()
        place = None
        if number % EVERY == 0:
            place = int(generator.integers(4 * WEEK * SLOTS, values.size - 4 * WEEK * SLOTS))
            values.ravel()[place:] *= 1.3
        yield values, place


def check(results: list[Detected], places: list[int | None]) -> tuple[int, int, int]:
    """Planted shifts, those reported, and reported changes of series without a shift.

    Raises
    ------
    SystemExit
        The answer is wrong.
    """
    reported = judged(results).reported
    planted = {number: place for number, place in enumerate(places) if place is not None}
    hits = sum(
        any(event.kind == "level shift" and abs(event.start - place) <= SLOTS for event in reported.get(number, ()))
        for number, place in planted.items()
    )
    total = sum(len(events) for events in reported.values())
    false = sum(len(events) for number, events in reported.items() if number not in planted)
    if hits < 0.99 * len(planted) or false > 0.05 * total:
        raise SystemExit(
            f"wrong answer: {hits} of {len(planted)} shifts reported, {false} of {total} changes are false"
        )
    return len(planted), hits, false


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes", description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=10_000, help="number of series (default: %(default)s)")
    count = parser.parse_args().series
    detector = Detector(0)
    results: list[Detected] = []
    places: list[int | None] = []
    cpu = wall = 0.0
    for values, place in series(count):
        began, clock = time.process_time(), time.perf_counter()
        results.append(detector.detect(values))
        cpu += time.process_time() - began
        wall += time.perf_counter() - clock
        places.append(place)
    began, clock = time.process_time(), time.perf_counter()
    planted, hits, false = check(results, places)
    cpu += time.process_time() - began
    wall += time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}")
    print(f"{count:,} series of {WEEKS} weeks of quarter-hours, one process")
    print(
        f"processor time {cpu:.1f} s, {1000 * cpu / count:.1f} ms per series; elapsed {wall:.1f} s; peak {peak:.0f} MiB"
    )
    print(f"{hits} of {planted} planted shifts reported; {false} changes of series without one")


if __name__ == "__main__":
    main()
