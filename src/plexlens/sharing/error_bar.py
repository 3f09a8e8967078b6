"""Effect of a change on a measured number, with its error bar.

The twin says how a number moves; the measured one moves as it does. The bar is 95 % of what is known to be uncertain:

- the runs of the twin, and the fits that they are made with, differ;
- what was measured is one sample: as long a run of the twin scatters by as much;
- an answer has three digits, so that it is known to half a unit of the third at best;
- before the change the twin is off by something, and a change by a factor of e or more may make as much of it again;
- of events that are rare, Poisson's interval of their number is wider than all of that;
- thresholds of conversion that the measurement allows besides give other answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import gammaincinv

from plexlens.sharing.twin_numbers import Key, Numbers, events
from plexlens.simulate.estimates import estimate

#: Shares that can be anything from none to all: changes of them are added, not multiplied.
_ADDED = frozenset({"hit", "async"})

#: Shares of requests that find an entry of the lock table in use.
_OF_LOCKS = frozenset({"contention", "false_contention"})

#: Shares from 0 to 1.
_SHARES = frozenset({*_ADDED, *_OF_LOCKS})

#: Events below which Poisson's interval is stated: 10 % of standard deviation.
_RARE = 100.0

#: Digits that an answer is printed with.
_DIGITS = 3

#: A share of the requests for locks that is all of them.
_ALL = 0.9999

#: Numbers below which no ratio to them is taken.
_LEAST = 1e-12


@dataclass(frozen=True)
class Answer:
    """A number after a change, with the 95 % interval of its error.

    Attributes
    ----------
    events
        Events that it rests on, where they are so few that Poisson's interval is part of it; else None.
    why
        What makes the interval wide; empty where it is the runs alone.
    """

    value: float
    low: float
    high: float
    events: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Moves:
    """Inputs of an answer: measured numbers, and runs before and after the change with their seconds."""

    measured: Numbers
    measured_seconds: float
    before: Sequence[Numbers]
    before_seconds: float
    after: Sequence[Numbers]
    after_seconds: float
    others: Sequence[Numbers] = ()

    def base(self, key: Key) -> float:
        """The number before the change: measured if available, else from the twin."""
        mean = sum(run.get(key, 0.0) for run in self.before) / len(self.before)
        return self.measured.get(key, mean)


def poisson_interval(count: float) -> tuple[float, float]:
    """The exact 95 % interval of the mean for a count of events (Garwood, 1936)."""
    low = float(gammaincinv(count, 0.025)) if count > 0 else 0.0
    return low, float(gammaincinv(count + 1.0, 0.975))


def moved(key: Key, measured: Numbers, before: Numbers, after: Numbers) -> float:
    """A measured number adjusted by a change: proportionally; shares of reads by difference, contention by locks."""
    base, old, new = measured.get(key, before.get(key, 0.0)), before.get(key, 0.0), after.get(key, 0.0)
    if key.what in _OF_LOCKS:
        return _moved_contention(key, measured, before, after)
    if key.what in _ADDED:
        return min(max(base + new - old, 0.0), 1.0)
    if old > _LEAST and base > _LEAST:
        return base * new / old
    return max(base + new - old, 0.0)


def _asking(numbers: Numbers, lock: str, default: float) -> float:
    """Share of the requests to a lock structure that request a lock; only these can meet contention."""
    requests = numbers.get(Key("lock_requests", lock), 0.0)
    asks = numbers.get(Key("lock_asks", lock), 0.0)
    return min(asks / requests, 1.0) if requests and asks else default


def _moved_contention(key: Key, measured: Numbers, before: Numbers, after: Numbers) -> float:
    """Contention adjusted by locks held per entry: false contention of lock requests is 1 - e^-(held / entries)."""
    false, every = Key("false_contention", key.of), Key("contention", key.of)
    asking = _asking(measured, key.of, _asking(before, key.of, 1.0))
    old, new = (_asking(numbers, key.of, asking) for numbers in (before, after))
    base = measured.get(false, before.get(false, 0.0))

    def content(share: float, whole: float) -> float:
        return -math.log1p(-min(share / whole, _ALL)) if whole > 0 else 0.0

    left, right = content(before.get(false, 0.0), old), content(after.get(false, 0.0), new)
    ceiling = min(asking * new / old, 1.0) if old else asking
    if left > _LEAST and base > 0:
        share = -ceiling * math.expm1(-content(base, asking) * right / left)
    else:
        share = max(base + after.get(false, 0.0) - before.get(false, 0.0), 0.0)
    if key == false:
        return share
    reals = [max(numbers.get(every, 0.0) - numbers.get(false, 0.0), 0.0) for numbers in (measured, before, after)]
    real = (
        reals[0] * reals[2] / reals[1] if min(reals[0], reals[1]) > _LEAST else max(reals[0] + reals[2] - reals[1], 0.0)
    )
    return min(share + real, 1.0)


def answer_of(key: Key, moves: Moves) -> Answer:
    """A measured number after a change, with its error bar."""
    pairs = zip(moves.before, moves.after, strict=True)
    by_run = estimate([moved(key, moves.measured, old, new) for old, new in pairs])
    value = by_run.mean
    parts = [0.0 if math.isnan(by_run.half_width) else by_run.half_width, _sampled(key, moves, value)]
    fit = _misfit(key, moves, value)
    digit = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1) if value > _LEAST else 0.0
    half = max(math.hypot(*parts, fit), digit / 2.0)
    low, high, why, few = value - half, value + half, "", None
    if fit > math.hypot(*parts):
        why = "the twin differs from the measurement"
    count = _fewest(key, moves)
    if count is not None and count < _RARE:
        below, above = _rare(key, moves, value, count)
        few, why = count, f"rare: {count:.0f} events"
        low, high = min(low, below), max(high, above)
    low, high, crossed = _with_thresholds(key, moves, Answer(value, low, high))
    if crossed:
        why = "the conversion threshold is not known"
    least, most = (0.0, 1.0) if key.what in _SHARES else (0.0, math.inf)
    return Answer(value, min(max(low, least), most), max(min(high, most), least), few, why)


def _sampled(key: Key, moves: Moves, value: float) -> float:
    """Half-width of the measured number's interval as a single sample, carried over to the answer."""
    base = moves.base(key)
    if key not in moves.measured or len(moves.before) < 2:
        return 0.0
    result = estimate([run[key] for run in moves.before])
    # The half width is of the mean of all runs; one sample of the measured length scatters more, or less.
    whole = result.half_width * math.sqrt(moves.before_seconds / max(moves.measured_seconds, 1e-9))
    carried = 1.0 if key.what in _ADDED or base <= _LEAST else value / base
    if key.what in _OF_LOCKS:
        carried = min(carried, 1.0)
    return whole * carried


def _misfit(key: Key, moves: Moves, value: float) -> float:
    """Possible effect of the twin's initial error on the answer: the full error if the change is by a factor of e."""
    if key not in moves.measured:
        return 0.0
    base = moves.measured[key]
    old, new = (sum(run.get(key, 0.0) for run in runs) / len(runs) for runs in (moves.before, moves.after))
    if key.what in _ADDED:
        return abs(old - base) * min(abs(new - old) / max(old, 1.0 - old), 1.0)
    if base <= _LEAST or old <= _LEAST:
        return 0.0
    size = min(abs(math.log(new / old)), 1.0) if new > _LEAST else 1.0
    return abs(old / base - 1.0) * size * value


def _fewest(key: Key, moves: Moves) -> float | None:
    """Smallest number of events behind the answer, measured or simulated; None if it does not count events."""
    both = ((moves.before, moves.before_seconds), (moves.after, moves.after_seconds))
    counts = [sum(events(key, run, seconds) for run in runs) / len(runs) for runs, seconds in both]
    if key in moves.measured:
        counts.append(events(key, moves.measured, moves.measured_seconds))
    return min(counts) if all(math.isfinite(count) for count in counts) else None


def _rare(key: Key, moves: Moves, value: float, count: float) -> tuple[float, float]:
    """Poisson interval of an answer based on few events."""
    low, high = poisson_interval(count)
    if value > 0 and count > 0:
        return value * low / count, value * high / count
    # Nothing was counted before or after: what the time allows that was watched.
    seconds = min(moves.before_seconds, moves.after_seconds)
    if key.what in _SHARES:
        return 0.0, value + high / max(events(key, {**moves.after[0], key: 1.0}, seconds), 1.0)
    return 0.0, value + high / seconds


def _with_thresholds(key: Key, moves: Moves, answer: Answer) -> tuple[float, float, bool]:
    """The interval widened by the results for other thresholds, and whether these differ."""
    low, high, crossed = answer.low, answer.high, False
    for run in moves.others:
        if key not in run and key.what in ("hit", "service", "db2_time"):
            continue
        other = moved(key, moves.measured, moves.before[0], run)
        if low <= other <= high or abs(other - answer.value) <= 0.02 * max(abs(answer.value), abs(other)):
            continue
        # The other answer is as uncertain as this one.
        scale = other / answer.value if answer.value > _LEAST else 1.0
        below, above = (answer.value - answer.low) * scale, (answer.high - answer.value) * scale
        low, high, crossed = min(low, other - below), max(high, other + above), True
    return low, high, crossed
