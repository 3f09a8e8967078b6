"""Repeats of a load test: each judged on its own, and the valid repeats pooled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plexlens.errors import NothingUsableError, UsageError
from plexlens.load.run import PERCENTILES, Line, Run, late_seconds
from plexlens.load.steady import Floats

#: Share of failed requests above which response times are not those of the work.
MOST_FAILED = 0.01
#: Confidence of intervals, and that of the range in which a further repeat is expected.
LEVEL, EXPECTED = 0.95, 0.998


@dataclass(frozen=True)
class Judged:
    """A repeat with the reasons not to use it.

    Attributes
    ----------
    invalid
        Reasons for which it is left out; empty for a valid repeat.
    apart
        Differences from the other valid repeats, of which the cause is not known; it is pooled all the same.
    """

    run: Run
    invalid: tuple[str, ...]
    apart: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pooled:
    """A name of requests over the valid repeats; seconds.

    Attributes
    ----------
    repeats
        Valid repeats that have it.
    mean
        Mean of the means of the repeats: a repeat is one observation, however many requests it has.
    half_width
        Half of the interval of confidence of the mean, from the spread between repeats (Student's t); None for a
        single repeat.
    variation
        Coefficient of variation of the means; None for a single repeat.
    percentiles, from_schedule
        Over the requests of the steady parts of all valid repeats together.
    """

    transaction: str
    repeats: int
    requests: int
    errors: int
    rate: float | None
    mean: float
    half_width: float | None
    variation: float | None
    percentiles: dict[float, float]
    from_schedule: dict[float, float]


@dataclass(frozen=True)
class Repeats:
    """Repeats of a test, in the order given, and the names of requests; all together last."""

    judged: tuple[Judged, ...]
    lines: tuple[Pooled, ...]

    @property
    def valid(self) -> tuple[Run, ...]:
        """The repeats that are pooled."""
        return tuple(entry.run for entry in self.judged if not entry.invalid)


def reasons(run: Run) -> tuple[str, ...]:
    """Reasons not to use a run; none for a valid run.

    A run is valid if its response and rate stay as they are after the warm-up, which takes eight slices of the steady
    part to judge, and at most `MOST_FAILED` of its requests fail.
    """
    listed = [
        f"{drift.what.lower()} drifts: {abs(drift.errors):.1f} standard errors between the halves of the steady part"
        for drift in run.drifts
        if not drift.is_steady
    ]
    if not run.drifts:
        listed.append("too few requests or seconds to judge whether it is steady")
    if run.whole.error_share > MOST_FAILED:
        listed.append(f"{run.whole.error_share:.1%} of the requests failed")
    return tuple(listed)


def repeats_of(runs: Sequence[Run]) -> Repeats:
    """Judge the repeats of a test, and pool the valid repeats.

    Raises
    ------
    UsageError
        A tool keeps no line per request, or the same file is given twice.
    NothingUsableError
        No repeat is valid.
    """
    for number, run in enumerate(runs):
        if run.test.requests is None:
            raise UsageError(
                file=run.test.file,
                what=f"{run.test.tool} keeps no line per request, so repeats cannot be judged",
                remedy="have the tool write each request, or look at the files one by one",
            )
        if any(run.test.requests.equals(before.test.requests) for before in runs[:number]):
            raise UsageError(
                file=run.test.file,
                what="it holds the same requests as a file before it",
                remedy="give each repeat once",
            )
    invalid = [reasons(run) for run in runs]
    valid = [run for run, why in zip(runs, invalid, strict=True) if not why]
    if not valid:
        raise NothingUsableError(
            file=runs[0].test.file,
            what="no repeat is valid: "
            + "; ".join(f"{run.test.file}: {', '.join(why)}" for run, why in zip(runs, invalid, strict=True)),
            remedy="repeat the test for longer or with a longer warm-up (--warm-up)",
        )
    judged = tuple(
        Judged(run, why, () if why else _apart(run, [other for other in valid if other is not run]))
        for run, why in zip(runs, invalid, strict=True)
    )
    names = sorted({line.transaction for run in valid for line in run.lines[:-1]})
    return Repeats(judged, (*(_pooled(name, valid) for name in names), _pooled(None, valid)))


def _apart(run: Run, others: Sequence[Run]) -> tuple[str, ...]:
    """Numbers of a repeat outside the range in which the others leave one in 500 further repeats."""
    if len(others) < 2:
        return ()
    outside = []
    for what, unit, times, own, rest in (
        ("mean response", "ms", 1e3, run.whole.mean, [other.whole.mean for other in others]),
        ("rate", "per second", 1.0, run.whole.rate, [other.whole.rate for other in others]),
    ):
        values = np.array(rest, float)
        spread = float(values.std(ddof=1)) * math.sqrt(1 + 1 / len(values))
        if own is not None and abs(own - values.mean()) > _student(len(values) - 1, EXPECTED) * spread:
            outside.append(f"{what} {own * times:,.4g} {unit}; the others have {values.mean() * times:,.4g} {unit}")
    return tuple(outside)


def _student(freedom: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _pooled(name: str | None, runs: Sequence[Run]) -> Pooled:
    lines: list[Line] = []
    responses: list[Floats] = []
    waits: list[Floats] = []
    for run in runs:
        line = run.whole if name is None else next((line for line in run.lines[:-1] if line.transaction == name), None)
        if line is None:
            continue
        lines.append(line)
        response, late = _responses(run, name)
        responses.append(response)
        if run.test.scheduled:
            waits.append(response + late)
    means = np.array([line.mean for line in lines], float)
    rates = [line.rate for line in lines if line.rate is not None]
    count = len(lines)
    half = None if count < 2 else _student(count - 1, LEVEL) * float(means.std(ddof=1)) / math.sqrt(count)
    return Pooled(
        lines[0].transaction,
        count,
        sum(line.requests for line in lines),
        sum(line.errors for line in lines),
        float(np.mean(rates)) if rates else None,
        float(means.mean()),
        half,
        None if count < 2 or not means.mean() else float(means.std(ddof=1) / means.mean()),
        _percentiles(responses),
        _percentiles(waits) if len(waits) == count else {},
    )


def _responses(run: Run, name: str | None) -> tuple[Floats, Floats]:
    """Response times of the requests of the steady part, and the time from when each was due to its begin."""
    assert run.steady_from is not None
    assert run.steady_to is not None
    rows = run.begun_between(run.steady_from, run.steady_to)
    if name is not None:
        rows = rows.filter(pc.equal(rows["transaction"].cast(pa.string()), name))
    response = rows["response_seconds"].to_numpy()
    return response, late_seconds(rows) if run.test.scheduled else np.zeros(len(response))


def _percentiles(values: Sequence[Floats]) -> dict[float, float]:
    if not values:
        return {}
    at = np.percentile(np.concatenate(values), PERCENTILES)
    return dict(zip(PERCENTILES, (float(value) for value in at), strict=True))
