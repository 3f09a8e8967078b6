"""Counters of Db2's pools during a trace: the statistics of SMF 100 in the sources of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs

#: What is compared, and the counters of SMF 100 IFCID 2 (QBST) that add up to it.
COUNTERS = {
    "sync_reads": ("sync_reads",),
    "prefetch_ios": ("sequential_prefetch_reads", "list_prefetch_reads", "dynamic_prefetch_reads"),
    "prefetch_pages": ("sequential_prefetch_pages", "list_prefetch_pages", "dynamic_prefetch_pages"),
    "write_ios": ("sync_writes", "async_writes"),
    "pages_written": ("pages_written",),
}


@dataclass(frozen=True)
class PoolInterval:
    """Counts of a pool in a statistics interval.

    Attributes
    ----------
    subsystem, pool
        Which.
    start, end
        Microseconds since 1970, UTC.
    counts
        By the names of `COUNTERS`.
    """

    subsystem: str
    pool: str
    start: int
    end: int
    counts: dict[str, float]


def intervals_of(inputs: Inputs) -> list[PoolInterval]:
    """The statistics intervals of all pools in SMF 100; intervals without a beginning are left out."""
    query = facts(inputs, GRAINS["db2_pool"])
    if query is None:
        return []
    counters = [name for names in COUNTERS.values() for name in names]
    columns = ("subsystem", "pool", "interval_start", "interval_end", *counters)
    intervals = []
    for row in query.select(*columns).ordered("interval_end", "subsystem", "pool").to_pylist():
        counted = [row[name] is not None for name in counters]
        if row["interval_start"] is None or row["interval_end"] is None or not row["pool"] or not all(counted):
            continue
        counts = {what: sum(float(row[name]) for name in names) for what, names in COUNTERS.items()}
        start, end = _micros(row["interval_start"]), _micros(row["interval_end"])
        if start < end:
            intervals.append(PoolInterval(row["subsystem"] or "", row["pool"], start, end, counts))
    return intervals


def _micros(time: datetime) -> int:
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    since: Any = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return int(since.total_seconds() * 1e6)


@dataclass(frozen=True)
class Counted:
    """Counts of a pool during a trace.

    Attributes
    ----------
    counts
        By the names of `COUNTERS`.
    share
        Share of the trace that the intervals cover.
    """

    counts: dict[str, float]
    share: float


def counted_during(
    intervals: Sequence[PoolInterval], subsystem: str, pool: str, first: int, last: int
) -> Counted | None:
    """Counts of a pool from ``first`` to ``last`` (microseconds): an interval that lies partly outside counts in part.

    Parameters
    ----------
    intervals
        All that there are.
    subsystem
        The Db2; empty for the only one.
    pool
        Its pool.
    first, last
        The trace.

    Returns
    -------
    Counted or None
        None where no interval overlaps the trace.
    """
    own = [
        interval
        for interval in intervals
        if interval.pool == pool and (not subsystem or interval.subsystem == subsystem)
    ]
    if last <= first or len({pool_interval.subsystem for pool_interval in own}) > 1:
        return None
    counts = dict.fromkeys(COUNTERS, 0.0)
    covered = 0
    for pool_interval in own:
        overlap = min(pool_interval.end, last) - max(pool_interval.start, first)
        if overlap <= 0:
            continue
        covered += overlap
        for what, count in pool_interval.counts.items():
            counts[what] += count * overlap / (pool_interval.end - pool_interval.start)
    return Counted(counts, covered / (last - first)) if covered else None
