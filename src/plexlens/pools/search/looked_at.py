"""Inputs of a search: samples of the getpages, rests of the data sets, and a stretch of the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from plexlens import _core
from plexlens.pools.members import ALONE, by_member
from plexlens.pools.page_sample import PageSample, Sampler
from plexlens.pools.trace import Trace
from plexlens.progress import Progress


class StretchTrace:
    """A stretch of a trace as a trace.

    Parameters
    ----------
    rows
        Its references.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self._held = rows

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The references."""
        yield self._held


def samples_of(
    trace: Trace, members: Mapping[int, str], most: int, progress: Progress | None
) -> tuple[dict[str, PageSample], dict[str, _core.DataSetAges]]:
    """A sample of the getpages of each member, and the rests of its data sets; a single Db2 has an empty name."""
    samplers = {member: Sampler(most) for member in members.values() or [ALONE]}
    rests = {member: _core.DataSetAges() for member in samplers}
    for batch in trace.batches(progress):
        for number, own in by_member(batch) if members else [(0, batch)]:
            member = members.get(number, ALONE)
            samplers[member].add(own)
            rests[member].add(own)
    return {member: sampler.sample() for member, sampler in samplers.items()}, rests
