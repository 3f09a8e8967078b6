"""Db2 statistics records of several intervals, from the counts of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from tests.metrics.db2_made import START, record

#: Pool id to counts of one interval: getpages, synchronous reads, sequential getpages, updates, pages written.
Interval = Mapping[int, Sequence[int]]

_FIELDS = ("qbstget", "qbstrio", "qbstsgt", "qbstsws", "qbstpws")


def write_series(
    path: Path, intervals: Sequence[Interval], *, minutes: int = 1, hours: int = 0, size: int = 1000
) -> Path:
    """A dump of one more record than intervals: Db2 counts from its start, and the first record has counted something.

    ``hours`` shifts all times.
    """
    pools = sorted({pool for interval in intervals for pool in interval})
    held = {pool: [1_000_000] * len(_FIELDS) for pool in pools}
    data = b""
    for number in range(len(intervals) + 1):
        if number:
            for pool, counts in intervals[number - 1].items():
                held[pool] = [old + more for old, more in zip(held[pool], counts, strict=True)]
        rows = [{"qbstpid": pool, "qbstvpl": size, **dict(zip(_FIELDS, held[pool], strict=True))} for pool in pools]
        data += record(
            2,
            {"smf100_ifcid2_qbst": rows},
            at=START + timedelta(hours=hours, minutes=minutes * number),
            sequence=41 + number,
        )
    path.write_bytes(data)
    return path
