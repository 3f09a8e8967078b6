"""Processor time of `plexlens changes` for a year of quarter-hours of many series, with the answer checked.

``python -m benchmarks.changes`` makes series as the trial does (`tools.changes_trial`), judges them as the command does
once it has read them, and prints time per series. The series come from fewer drawn ones: each is such a series, turned
by whole weeks. Every twentieth has a level shift of 30 %, which has to be reported within a day of its place; of the
reported changes at most a twentieth may be of series without a shift. Reading a database is not part of it.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from benchmarks.measure import machine
from plexlens.changes.detected import Detected
from plexlens.changes.judged import judged
from plexlens.changes.many import detected
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
    parser.add_argument("--processes", type=int, default=2, help="processes that judge (default: %(default)s)")
    words = parser.parse_args()
    places: list[int | None] = []
    drawing = 0.0

    def drawn() -> Iterator[tuple[int, int, Values]]:
        """The series in the order of reading; what it takes to draw them is not part of the measured time."""
        nonlocal drawing
        each = series(words.series)
        while True:
            began = time.process_time()
            found = next(each, None)
            drawing += time.process_time() - began
            if found is None:
                return
            places.append(found[1])
            yield len(places), 0, found[0]

    began, clock = time.process_time(), time.perf_counter()
    results = [result for _, result in detected(drawn(), words.processes)]
    planted, hits, false = check(results, places)
    wall = time.perf_counter() - clock
    here = time.process_time() - began - drawing
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = here + others.ru_utime + others.ru_stime
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}; load average {os.getloadavg()[0]:.1f}")
    print(f"{words.series:,} series of {WEEKS} weeks of quarter-hours, {words.processes} processes")
    print(
        f"processor time {cpu:.1f} s ({here:.1f} s of the process that reads), {1000 * cpu / words.series:.1f} ms per"
        f" series; elapsed {wall:.1f} s, of which {drawing:.1f} s of processor time draw the series; peak {peak:.0f}"
        f" MiB and {others.ru_maxrss / 1024:.0f} MiB of each other process"
    )
    print(f"{hits} of {planted} planted shifts reported; {false} changes of series without one")


if __name__ == "__main__":
    main()
