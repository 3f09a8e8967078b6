"""A load test second by second: requests, failures and response time of each transaction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens.errors import NothingUsableError
from plexlens.ingest.load_test import LoadTest
from plexlens.load.run import Run, late_seconds
from plexlens.load.steady import Floats

_Whole = npt.NDArray[np.int64]
_SECOND = 1_000_000
_HIGH = 95.0


def by_second(run: Run) -> pa.Table:
    """Each transaction in each second in which a request of it began, over the whole test, warm-up included.

    Parameters
    ----------
    run
        The load test.

    Returns
    -------
    pyarrow.Table
        ``second`` (UTC, on the clock of the servers), ``transaction``, ``requests``, ``failed``, and response times in
        seconds: ``mean``, ``p95`` and ``longest`` from the begin of the request, and ``from_schedule_p95``, the 95th
        percentile from the time at which it was due. A response time that the file does not have is null. Where a tool
        keeps counts for an interval and no line per request, ``second`` is the end of the interval.

    Raises
    ------
    NothingUsableError
        The tool keeps totals of the whole test only.
    """
    if run.test.requests is not None:
        return _of_requests(run.test, round(run.clock_seconds * 1e6))
    if not run.test.course:
        raise NothingUsableError(
            file=run.test.file,
            what=f"{run.test.tool} keeps totals of the whole test only, so there is nothing by second",
            remedy="have the tool write each request, or leave --by-second out",
        )
    return _of_course(run.test, round(run.clock_seconds * 1e6))


def _of_requests(test: LoadTest, ahead: int) -> pa.Table:
    rows = test.requests
    assert rows is not None
    began = rows["started"].cast(pa.int64()).to_numpy() - ahead
    response = rows["response_seconds"].to_numpy()
    names = rows["transaction"].combine_chunks()
    # Names are numbered as they occur; rows stand in the order of the names.
    texts = names.dictionary.to_pylist()
    rank = np.empty(max(len(texts), 1), np.int64)
    rank[sorted(range(len(texts)), key=lambda place: str(texts[place]))] = np.arange(len(texts))
    codes = names.indices.to_numpy()
    group = np.floor_divide(began, _SECOND) * len(rank) + rank[codes]
    order = np.lexsort((response, group))
    ordered = group[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    count = np.diff(np.r_[first, len(ordered)])
    sorted_response = response[order]
    failed = rows["is_error"].to_numpy(zero_copy_only=False).astype(np.int64)[order]
    due = pa.nulls(len(first), pa.float64())
    if test.scheduled:
        from_due = response + late_seconds(rows)
        due = pa.array(_high(from_due[np.lexsort((from_due, group))], first, count))
    return pa.table(
        {
            "second": pa.array(ordered[first] // len(rank) * _SECOND, pa.timestamp("us", "UTC")),
            "transaction": pa.array([texts[code] for code in codes[order[first]]], pa.string()),
            "requests": count,
            "failed": np.add.reduceat(failed, first),
            "mean": np.add.reduceat(sorted_response, first) / count,
            "p95": _high(sorted_response, first, count),
            "longest": sorted_response[first + count - 1],
            "from_schedule_p95": due,
        }
    )


def _high(values: Floats, first: _Whole, count: _Whole) -> Floats:
    """The 95th percentile of each group of sorted values, interpolated between ranks."""
    rank = (count - 1) * (_HIGH / 100)
    low = np.floor(rank).astype(np.int64)
    below, above = values[first + low], values[first + np.minimum(low + 1, count - 1)]
    result: Floats = below + (above - below) * (rank - low)
    return result


def _of_course(test: LoadTest, ahead: int) -> pa.Table:
    points = [point for point in test.course if point.requests or point.errors]
    times = [round(point.time.timestamp() * 1e6) - ahead for point in points]
    nothing = pa.nulls(len(points), pa.float64())
    return pa.table(
        {
            "second": pa.array(times, pa.timestamp("us", "UTC")),
            "transaction": pa.array([point.transaction for point in points], pa.string()),
            "requests": pa.array([point.requests for point in points], pa.int64()),
            "failed": pa.array([point.errors for point in points], pa.int64()),
            "mean": nothing,
            "p95": nothing,
            "longest": nothing,
            "from_schedule_p95": nothing,
        }
    )
