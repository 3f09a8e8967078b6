"""Inputs of a search: samples of the getpages, rests of the data sets, and a stretch of the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from plexlens import _core
from plexlens.pools.members import ALONE, by_member
from plexlens.pools.page_sample import PageSample, Sampler
from plexlens.pools.search.policy_curves import Middle
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
    trace: Trace,
    members: Mapping[int, str],
    most: int,
    progress: Progress | None,
    *,
    known: Mapping[str, PageSample | None] | None = None,
    stretch: Middle | None = None,
) -> tuple[dict[str, PageSample], dict[str, _core.DataSetAges]]:
    """A sample of the getpages of each member, and the rests of its data sets; a single Db2 has an empty name.

    Parameters
    ----------
    trace
        The trace; it is read once.
    members
        Names of the members by their numbers in the trace.
    most
        Sampled getpages of a member at most.
    progress
        Told how far the reading is.
    known
        Samples from an earlier pass over the same trace, by member; those of another size do not count.
    stretch
        Given the references too.
    """
    names = members.values() or [ALONE]
    samples = {member: sample for member, sample in (known or {}).items() if sample and sample.most == most}
    samplers = {member: Sampler(most) for member in names if member not in samples}
    rests = {member: _core.DataSetAges() for member in names}
    for batch in trace.batches(progress):
        if stretch is not None:
            stretch.add(batch)
        for number, own in by_member(batch) if members else [(0, batch)]:
            member = members.get(number, ALONE)
            if member in samplers:
                samplers[member].add(own)
            rests[member].add(own)
    return samples | {member: sampler.sample() for member, sampler in samplers.items()}, rests
