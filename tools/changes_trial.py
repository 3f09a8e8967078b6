"""Judge `plexlens changes` on simulated weeks with planted changes, and write the tables of ``docs/changes.md``.

``python -m tools.changes_trial`` prints the tables. A series has a load by hour of day and day of week, noise from
quarter-hour to quarter-hour and from day to day, and the planted change of its kind, whose size and time are known.
Constants were chosen by ``--development``, which has other seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from plexlens.changes.detected import TEST_OF, Detected, Detector, Event
from plexlens.changes.judged import judged

Values = NDArray[np.float64]

SLOTS = 96
WEEK = 7

#: Seeds of the published tables begin here; those of development begin at 0.
PUBLISHED = 40_000

#: Weeks of a series with a planted change, series of a database, and the share of them with a change.
WEEKS, SERIES, SHARE = 12, 100, 0.25

#: Databases of a row: with planted changes, with noise alone, and cut some days after a change.
PLANTED_IN, NOISE_IN, CUT_IN = 6, 50, 3

#: Days after a change on which the data ends.
CUTS = (1, 2, 3, 4, 5, 7, 10, 14)

_HOURS = np.array(
    [0.3, 0.25, 0.25, 0.3, 0.35, 0.3, 0.35, 0.5, 0.8, 1, 1, 0.95,
     0.85, 0.95, 1, 0.95, 0.8, 0.6, 0.5, 0.45, 0.45, 0.5, 0.45, 0.35]
)  # fmt: skip
_WEEKDAYS = np.array([1.0, 1.05, 1.02, 1.03, 1.1, 0.5, 0.4])


@dataclass(frozen=True)
class Noise:
    """Noise of a series: deviations as shares of the load, and the share carried over.

    Attributes
    ----------
    slot, slot_carried
        From quarter-hour to quarter-hour.
    day, day_carried
        From day to day.
    degrees
        Degrees of freedom of the noise of a quarter-hour (Student's t); 0 for normal noise.
    """

    slot: float = 0.08
    slot_carried: float = 0.7
    day: float = 0.03
    day_carried: float = 0.3
    degrees: float = 0.0


def _carried(generator: np.random.Generator, count: int, deviation: float, carried: float, degrees: float) -> Values:
    steps = generator.standard_t(degrees, count + 200) if degrees else generator.normal(size=count + 200)
    if carried == 1.0:
        # A random walk, by this much per step.
        return np.cumsum(steps[200:]) * deviation
    if degrees:
        steps /= np.sqrt(degrees / (degrees - 2))
    result: Values = lfilter([1.0], [1.0, -carried], steps * deviation * np.sqrt(1 - carried**2))[200:]
    return result


def load(generator: np.random.Generator, weeks: int, noise: Noise) -> Values:
    """A series without a change, a row per day from Monday."""
    days = weeks * WEEK
    hours = _HOURS * np.exp(generator.normal(0.0, 0.1, 24))
    weekdays = _WEEKDAYS * np.exp(generator.normal(0.0, 0.05, WEEK))
    profile = np.repeat(hours, SLOTS // 24)[None, :] * weekdays[np.arange(days) % WEEK][:, None]
    slots = _carried(generator, days * SLOTS, noise.slot, noise.slot_carried, noise.degrees).reshape(days, SLOTS)
    of_days = _carried(generator, days, noise.day, noise.day_carried, 0.0)
    result: Values = generator.uniform(20, 2000) * profile * np.exp(slots + of_days[:, None])
    return result


@dataclass(frozen=True)
class Planted:
    """A planted change: kind as it is to be reported, first interval and the first after it."""

    kind: str
    start: int
    end: int


Plant = Callable[[np.random.Generator, Values, float], Planted]


def _place(generator: np.random.Generator, values: Values, last: int) -> int:
    """An interval between the end of the first week and some days before the end."""
    return int(generator.integers(WEEK * SLOTS, values.size - last * SLOTS))


def shift(generator: np.random.Generator, values: Values, size: float) -> Planted:
    """A level that rises or falls by a share."""
    place = _place(generator, values, WEEK)
    values.ravel()[place:] *= (1 + size) ** generator.choice([-1, 1])
    return Planted("level shift", place, values.size)


def temporary(generator: np.random.Generator, values: Values, size: float) -> Planted:
    """A level that rises or falls by a share for four to ten days."""
    place = _place(generator, values, 15)
    end = place + int(generator.integers(4 * SLOTS, 10 * SLOTS))
    values.ravel()[place:end] *= (1 + size) ** generator.choice([-1, 1])
    return Planted("temporary shift", place, end)


def trend(generator: np.random.Generator, values: Values, size: float) -> Planted:
    """A level that rises or falls evenly by a share over the whole time."""
    values *= ((1 + size) ** (generator.choice([-1, 1]) * np.linspace(0, 1, len(values))))[:, None]
    return Planted("trend", 0, values.size)


def hours(generator: np.random.Generator, values: Values, size: float) -> Planted:
    """An hour to three hours that are higher or lower by a share."""
    place = _place(generator, values, 1)
    end = min(values.size, place + int(generator.integers(4, 13)))
    values.ravel()[place:end] *= (1 + size) ** generator.choice([-1, 1])
    return Planted("odd hours", place, end)


def day(generator: np.random.Generator, values: Values, size: float) -> Planted:
    """A day that is higher or lower by a share."""
    number = int(generator.integers(WEEK, len(values)))
    values[number] *= (1 + size) ** generator.choice([-1, 1])
    return Planted("odd day", number * SLOTS, (number + 1) * SLOTS)


#: Kinds with the sizes that are planted, as shares of the level.
PLANTS: tuple[tuple[Plant, tuple[float, ...]], ...] = (
    (shift, (0.05, 0.1, 0.2, 0.5)),
    (temporary, (0.1, 0.2, 0.5)),
    (trend, (0.1, 0.2, 0.5)),
    (hours, (0.5, 1.0, 2.0)),
    (day, (0.15, 0.3, 0.6)),
)


#: Noise of the rows with nothing planted, by what it is, with the weeks of its series.
NOISES: tuple[tuple[str, Noise, int], ...] = (
    ("two weeks", Noise(), 2),
    ("three weeks", Noise(), 3),
    ("four weeks", Noise(), 4),
    ("twelve weeks", Noise(), 12),
    ("independent quarter-hours and days", Noise(slot_carried=0.0, day_carried=0.0), 12),
    ("0.98 carried to the next quarter-hour", Noise(slot=0.15, slot_carried=0.98), 12),
    ("0.6 carried to the next day, four weeks", Noise(day=0.05, day_carried=0.6), 4),
    ("0.6 carried to the next day", Noise(day=0.05, day_carried=0.6), 12),
    ("0.8 carried to the next day", Noise(day=0.05, day_carried=0.8), 12),
    ("random walk, 2 % per day", Noise(day=0.02, day_carried=1.0), 12),
    ("Student's t with 3 degrees of freedom, four weeks", Noise(slot_carried=0.0, degrees=3.0), 4),
    ("Student's t with 3 degrees of freedom", Noise(slot_carried=0.0, degrees=3.0), 12),
    ("random walk, 2 % per day, four weeks", Noise(day=0.02, day_carried=1.0), 4),
    ("Student's t with 8 degrees of freedom, four weeks", Noise(slot_carried=0.0, degrees=8.0), 4),
    ("Student's t with 8 degrees of freedom", Noise(slot_carried=0.0, degrees=8.0), 12),
)


@dataclass
class Count:
    """Number of planted changes that were reported, and of false alarms.

    Attributes
    ----------
    planted, hit
        Planted changes, and those reported as their kind and within a day of their time.
    other
        Planted changes that are reported as another kind, or farther away.
    late
        Hours between the planted and the reported beginning of each hit.
    reported, false
        Changes reported, and those of them that have no planted one.
    share
        Sum over databases of the share of the reported changes that is false.
    databases, with_false
        Databases, and those with a false alarm.
    """

    planted: int = 0
    hit: int = 0
    other: int = 0
    late: list[float] = field(default_factory=list)
    reported: int = 0
    false: int = 0
    share: float = 0.0
    databases: int = 0
    with_false: int = 0
    series: int = 0


def agrees(event: Event, planted: Planted) -> bool:
    """Whether a reported change is the planted change: the kind, and the time to a day."""
    if event.kind != planted.kind:
        return False
    if event.kind == "trend":
        return True
    if event.kind in ("odd hours", "odd day"):
        return event.start < planted.end and planted.start < event.end
    return abs(event.start - planted.start) <= SLOTS and abs(event.end - planted.end) <= SLOTS


def has_reason(event: Event, planted: Planted) -> bool:
    """Whether a reported change is of the planted change, of any kind: it begins or ends within a day of it."""
    if planted.kind == "trend":
        return event.kind in ("trend", "level shift", "temporary shift")
    if event.kind == "trend":
        return planted.kind == "level shift"
    edges = [planted.start, *([] if planted.kind == "level shift" else [planted.end])]
    near = any(abs(place - edge) <= SLOTS for place in (event.start, event.end) for edge in edges)
    return near or (planted.kind != "level shift" and planted.start <= event.start < planted.end)


def judge(seeds: Iterable[int], weeks: int, noise: Noise, plant: Plant | None = None, size: float = 0.0) -> Count:
    """Plant changes in a share of the series of each database, and count what is reported."""
    count = Count()
    detector = Detector(0)
    for seed in seeds:
        results: list[Detected] = []
        plants: list[Planted | None] = []
        for number in range(SERIES if plant is not None else SERIES // 2):
            generator = np.random.default_rng((seed, number))
            values = load(generator, weeks, noise)
            plants.append(plant(generator, values, size) if plant is not None and number < SHARE * SERIES else None)
            results.append(detector.detect(values))
        count.series += len(results)
        _add(count, judged(results).reported, plants)
    return count


def _add(count: Count, reported: Mapping[int, Sequence[Event]], plants: Sequence[Planted | None]) -> None:
    false = 0
    for place, planted in enumerate(plants):
        of_series = reported.get(place, ())
        if planted is None:
            false += len(of_series)
            continue
        hits = [event for event in of_series if agrees(event, planted)]
        away = [event for event in of_series if not has_reason(event, planted)]
        # A change that is found some days from its place is misplaced; any further one is false.
        misplaced = [event for event in away if TEST_OF[event.kind] == TEST_OF[planted.kind]]
        is_misplaced = len(away) == len(of_series) and bool(misplaced)
        count.planted += 1
        count.hit += bool(hits)
        count.other += not hits and (len(away) < len(of_series) or is_misplaced)
        if hits:
            count.late.append(abs(hits[0].start - planted.start) * 24 / SLOTS)
        false += len(away) - is_misplaced
    total = sum(len(of_series) for of_series in reported.values())
    count.reported += total
    count.false += false
    count.share += false / total if total else 0.0
    count.databases += 1
    count.with_false += false > 0


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def hits(first: int, scale: float) -> Iterator[str]:
    """The table of planted changes."""
    yield "| planted | size | reported | as another kind or day | median error of the time | false of all reported |"
    yield "|---|---:|---:|---:|---:|---:|"
    for plant, sizes in PLANTS:
        for size in sizes:
            count = judge(range(first, first + max(1, round(PLANTED_IN * scale))), WEEKS, Noise(), plant, size)
            late = "" if plant is trend or not count.late else f"{np.median(count.late):.2f} h"
            cells = [_percent(size), _percent(count.hit / count.planted), _percent(count.other / count.planted), late,
                     _percent(count.share / count.databases, 1)]  # fmt: skip
            yield f"| {plant.__name__} | {' | '.join(cells)} |"


def alarms(first: int, scale: float) -> Iterator[str]:
    """The table of noise with nothing planted."""
    yield "| noise | series | databases | with a false alarm | false alarms per 1,000 series |"
    yield "|---|---:|---:|---:|---:|"
    for name, noise, weeks in NOISES:
        count = judge(range(first, first + max(1, round(NOISE_IN * scale))), weeks, noise)
        share, per_thousand = count.with_false / count.databases, 1000 * count.reported / count.series
        yield f"| {name} | {count.series:,} | {count.databases} | {_percent(share)} | {per_thousand:.2f} |"


def delays(first: int, scale: float) -> Iterator[str]:
    """The table of level shifts in data that ends some days later: reported as any kind."""
    yield f"| size | {' | '.join(f'{days} d' for days in CUTS)} |"
    yield f"|---:|{'---:|' * len(CUTS)}"
    for size in (0.2, 0.5, 1.0):
        cells = []
        for days in CUTS:

            def at_end(generator: np.random.Generator, values: Values, size: float, days: int = days) -> Planted:
                place = values.size - days * SLOTS
                values.ravel()[place:] *= (1 + size) ** generator.choice([-1, 1])
                return Planted("level shift", place, values.size)

            count = judge(range(first, first + max(1, round(CUT_IN * scale))), WEEKS, Noise(), at_end, size)
            cells.append(_percent((count.hit + count.other) / count.planted))
        yield f"| {_percent(size)} | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--development", action="store_true", help="the seeds of development")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the databases of each row")
    parser.add_argument("tables", nargs="*", default=["hits", "alarms", "delays"], help="hits, alarms, delays")
    words = parser.parse_args()
    first = 0 if words.development else PUBLISHED
    for name in words.tables:
        for line in {"hits": hits, "alarms": alarms, "delays": delays}[name](first, words.scale):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
