"""A load test as numbers: response and rate by transaction in its steady part, and the course over the whole test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.load_test import ALL, LoadTest
from plexlens.load.steady import Drift, Floats, drift, means, rates, slices, warm_up
from plexlens.metrics.page_numbers import page_numbers

#: Percentiles of response times that pages show.
PERCENTILES = (50.0, 90.0, 95.0, 99.0)
_NUMBERS = page_numbers("run").numbers
#: Points of a course.
POINTS = 120
#: Columns of which a line tells.
_MEASURED = ("response_seconds", "is_error", "connect_seconds", "first_byte_seconds")


class CourseSlice(NamedTuple):
    """A slice of the course of a test; None if it holds no request, or the tool does not say."""

    start: datetime
    end: datetime
    rate: float
    errors: float
    mean: float | None
    percentile_95: float | None


@dataclass(frozen=True)
class Line:
    """A transaction in the steady part; seconds.

    Attributes
    ----------
    percentiles
        Response time from the begin of the request, by percentile, interpolated between ranks.
    from_schedule
        The same from the time that the test plan wanted the request to begin; empty where the file does not say.
    """

    transaction: str
    requests: int
    errors: int
    seconds: float
    mean: float | None
    deviation: float | None = None
    longest: float | None = None
    percentiles: dict[float, float] = field(default_factory=dict)
    from_schedule: dict[float, float] = field(default_factory=dict)
    connect: float | None = None
    first_byte: float | None = None

    @property
    def rate(self) -> float | None:
        """Requests per second; None if the length is not known."""
        return _NUMBERS["rate"](requests=self.requests, seconds=self.seconds)

    @property
    def error_share(self) -> float:
        """Failed requests of all, as a fraction."""
        return _NUMBERS["error_share"](failed=self.errors, requests=self.requests) or 0.0


@dataclass(frozen=True)
class Run:
    """A load test.

    Attributes
    ----------
    start, end
        First begin and last end of a request; None if the tool does not say.
    steady_from, steady_to
        The steady part; requests that began in it are those of `lines`.
    warm_up_found
        Whether the begin of the steady part was found by the rule, and not stated.
    lines
        A line per transaction, and all together last.
    course
        Rate, errors and response in slices of equal length of the whole test.
    drifts
        Comparisons of the first with the second half of the steady part.
    """

    test: LoadTest
    start: datetime | None
    end: datetime | None
    steady_from: datetime | None
    steady_to: datetime | None
    warm_up_found: bool
    lines: tuple[Line, ...]
    course: tuple[CourseSlice, ...] = ()
    drifts: tuple[Drift, ...] = ()
    clock_seconds: float = 0.0

    def between(self, start: datetime, end: datetime) -> dict[str, tuple[int, float]]:
        """Requests that began in a length of time of z/OS: by transaction, their number and mean response time."""
        chosen = self.begun_between(start, end)
        chosen = chosen.set_column(
            chosen.column_names.index("transaction"), "transaction", chosen["transaction"].cast(pa.string())
        )
        grouped = chosen.group_by("transaction").aggregate(
            [("response_seconds", "count"), ("response_seconds", "mean")]
        )
        return {
            row["transaction"]: (row["response_seconds_count"], row["response_seconds_mean"])
            for row in grouped.to_pylist()
        }

    def late_between(self, start: datetime, end: datetime) -> float | None:
        """Mean seconds by which requests of a length of time of z/OS began later than the test plan wanted.

        None without a request, and where the file does not say when they were due.
        """
        rows = self.begun_between(start, end)
        return float(late_seconds(rows).mean()) if self.test.scheduled and rows.num_rows else None

    def begun_between(self, start: datetime, end: datetime) -> pa.Table:
        """Requests that began in a length of time of z/OS."""
        assert self.test.requests is not None
        rows = self.test.requests
        began = pc.subtract(rows["started"].cast(pa.int64()), round(self.clock_seconds * 1e6)).to_numpy() / 1e6
        return rows.filter(pa.array((began >= start.timestamp()) & (began < end.timestamp())))

    @property
    def whole(self) -> Line:
        """All transactions together."""
        return self.lines[-1]


def late_seconds(requests: pa.Table) -> Floats:
    """Seconds by which each request began later than the test plan wanted; none for a request that began early."""
    late = pc.subtract(requests["started"].cast(pa.int64()), requests["scheduled"].cast(pa.int64())).to_numpy() / 1e6
    result: Floats = np.maximum(late, 0.0)
    return result


def run_of(
    test: LoadTest,
    *,
    warm_up_seconds: float | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    clock_seconds: float = 0.0,
) -> Run:
    """The numbers of a load test.

    Parameters
    ----------
    test
        What was read.
    warm_up_seconds
        Length of the warm-up; found by `plexlens.load.steady.warm_up` where it is None.
    since, until
        Bounds of the steady part; they replace what is found.
    clock_seconds
        Seconds by which the driver's clock is ahead of the clock of z/OS.

    Raises
    ------
    UsageError
        A bound is given for a tool that does not say when its requests began.
    NothingUsableError
        No request began in the bounds.
    """
    if test.requests is None:
        return _of_totals(test, stated=bool(warm_up_seconds or since or until))
    shifted = pc.subtract(test.requests["started"].cast(pa.int64()), round(clock_seconds * 1e6))
    started = shifted.to_numpy() / 1e6
    response = test.requests["response_seconds"].to_numpy()
    begin, end = float(started[0]), float((started + response).max())
    length = max(end - begin, 1e-6)
    if since is not None or warm_up_seconds is not None:
        steady = since.timestamp() if since is not None else begin + (warm_up_seconds or 0.0)
    else:
        count = slices(started, length)
        of_response = warm_up(means(started, response, begin, end, count))
        of_rate = warm_up(rates(started, begin, end, count), count / length)
        steady = begin + max(of_response, of_rate) * length / count
        # No request begins in slices in which only responses are awaited: they cannot be the steady part.
        steady = steady if steady <= started[-1] else begin
    # Clients that have ended send nothing more: the last request's begin ends the steady part.
    last = until.timestamp() if until is not None else _last_full(started, steady, end)
    inside = (started >= steady) & (started < last)
    if not inside.any():
        raise NothingUsableError(
            file=test.file,
            what=f"no request began between {_time(steady):%Y-%m-%d %H:%M:%S} and {_time(last):%H:%M:%S} UTC",
            remedy=f"the requests are from {_time(begin):%Y-%m-%d %H:%M:%S} to {_time(end):%H:%M:%S} UTC: "
            "give another --from, --to, --warm-up or --clock",
        )
    lines = _lines(test, inside, last - steady)
    count = slices(started[inside], last - steady)
    drifts = (
        drift("Response", means(started[inside], response[inside], steady, last, count)),
        drift("Rate", rates(started[inside], steady, last, count), count / (last - steady)),
    )
    return Run(
        test,
        _time(begin),
        _time(end),
        _time(steady),
        _time(last),
        since is None and warm_up_seconds is None,
        lines,
        _course(test, started, response, begin, end),
        tuple(comparison for comparison in drifts if comparison is not None),
        clock_seconds,
    )


def _last_full(started: Floats, steady: float, end: float) -> float:
    """End of the steady part: where the rate falls for good, found as a warm-up is, from behind."""
    last = float(started[-1])
    inside = started[started >= steady]
    if last <= steady or len(inside) < 2:
        return max(end, steady + 1e-6)
    count = slices(inside, last - steady)
    left_out = warm_up(rates(inside, steady, last, count)[::-1], count / (last - steady))
    return last + 1e-6 if not left_out else last - left_out * (last - steady) / count


def _time(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(seconds * 1e6))


def _lines(test: LoadTest, chosen: npt.NDArray[np.bool_], seconds: float) -> tuple[Line, ...]:
    """Each transaction of the requests that are chosen, in the order of their names, and all together."""
    assert test.requests is not None
    times = ("started", "scheduled") if test.scheduled else ()
    rows = test.requests.select([*times, *_MEASURED]).filter(pa.array(chosen))
    names = test.requests["transaction"].combine_chunks()
    codes = names.indices.to_numpy()[chosen]
    # One sort for all: a look at each request for every name takes minutes where URLs hold numbers.
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names.dictionary) + 1))
    by_name = rows.take(pa.array(order))
    lines = [
        _line(str(name), by_name.slice(ends[code], ends[code + 1] - ends[code]), seconds)
        for code, name in sorted(enumerate(names.dictionary.to_pylist()), key=lambda pair: str(pair[1]))
        if ends[code] < ends[code + 1]
    ]
    return (*lines, _line(ALL, rows, seconds))


def _line(name: str, rows: pa.Table, seconds: float) -> Line:
    response = rows["response_seconds"].to_numpy()
    scheduled: dict[float, float] = {}
    if "scheduled" in rows.column_names:
        scheduled = _percentiles(response + late_seconds(rows))
    return Line(
        name,
        rows.num_rows,
        int(pc.sum(rows["is_error"].cast(pa.int64())).as_py() or 0),
        seconds,
        float(response.mean()),
        float(response.std()),
        float(response.max()),
        _percentiles(response),
        scheduled,
        pc.mean(rows["connect_seconds"]).as_py(),
        pc.mean(rows["first_byte_seconds"]).as_py(),
    )


def _percentiles(values: Floats) -> dict[float, float]:
    values_at = np.percentile(values, PERCENTILES)
    return dict(zip(PERCENTILES, (float(value) for value in values_at), strict=True))


def _course(test: LoadTest, started: Floats, response: Floats, begin: float, end: float) -> tuple[CourseSlice, ...]:
    assert test.requests is not None
    count = min(POINTS, slices(started, end - begin))
    width = (end - begin) / count
    place = np.clip(((started - begin) / width).astype(np.int16), 0, count - 1)
    failed = test.requests["is_error"].to_numpy(zero_copy_only=False)
    # Requests are in the order of their begin, so that those of a slice stand together.
    ends = np.searchsorted(place, np.arange(count + 1))
    course = []
    for number in range(count):
        rows = slice(ends[number], ends[number + 1])
        responses, errors = response[rows], float(failed[rows].sum())
        mean = float(responses.mean()) if len(responses) else None
        high = float(np.percentile(responses, 95)) if len(responses) else None
        start, stop = _time(begin + number * width), _time(begin + (number + 1) * width)
        course.append(CourseSlice(start, stop, len(responses) / width, errors / width, mean, high))
    return tuple(course)


def _of_totals(test: LoadTest, *, stated: bool) -> Run:
    if stated:
        raise UsageError(
            file=test.file,
            what=f"{test.tool} keeps no line per request, so no part of the test can be selected",
            remedy="leave --from, --to and --warm-up out",
        )
    lines = [
        Line(
            total.transaction,
            total.requests,
            total.errors,
            total.seconds or 0.0,
            total.mean,
            None,
            total.longest,
            {} if test.scheduled else total.percentiles,
            total.percentiles if test.scheduled else {},
        )
        for total in test.totals
    ]
    lines.sort(key=lambda total: total.transaction == ALL)
    if len(lines) != 1 and lines[-1].transaction != ALL:
        known = [total for total in lines if total.mean is not None]
        count = sum(total.requests for total in known)
        mean = sum(total.mean * total.requests for total in known if total.mean is not None) / count if count else None
        longest = max((total.longest for total in lines if total.longest is not None), default=None)
        length = max(total.seconds for total in lines)
        requests, errors = sum(total.requests for total in lines), sum(total.errors for total in lines)
        lines.append(Line(ALL, requests, errors, length, mean, None, longest))
    times = sorted({point.time for point in test.course})
    course = []
    for before, time in pairwise(times):
        points = [point for point in test.course if point.time == time]
        width = (time - before).total_seconds()
        number, failed = sum(point.requests for point in points), sum(point.errors for point in points)
        course.append(CourseSlice(before, time, number / width, failed / width, None, None))
    start, end = (times[0], times[-1]) if times else (None, None)
    return Run(test, start, end, start, end, False, tuple(lines), tuple(course))
