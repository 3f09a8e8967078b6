"""Inputs of a search: samples of the getpages, rests of the data sets, and a stretch of the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from plexlens import _core
from plexlens.pools.members import ALONE, by_member
from plexlens.pools.page_sample import PageSample, Sampler
from plexlens.pools.search.policy_curves import Middle, middle
from plexlens.pools.trace import Trace
from plexlens.pools.trace_copy import TraceCopy
from plexlens.pools.work import Work
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


def looked_at(
    trace: Trace | TraceCopy, work: Work | None, most: int, most_rows: int, progress: Progress | None
) -> tuple[dict[str, PageSample], dict[str, _core.DataSetAges], pa.RecordBatch]:
    """Samples and rests as `samples_of` has them, and the references from the middle of the trace.

    Parameters
    ----------
    trace
        The trace; it is read once where a pass has read it before.
    work
        What that pass found; None for a Db2 alone.
    most
        Sampled getpages of a member at most.
    most_rows
        References of the middle at most.
    progress
        Told how far the reading is.
    """
    known = {} if work is None else {member: part.sample for member, part in work.parts.items()}
    numbers = {} if work is None else work.numbers
    # After a pass over the trace its length is known.
    stretch = Middle(trace.facts.rows, most_rows) if trace.facts.complete else None
    samples, rests = samples_of(trace, numbers, most, progress, known=known, stretch=stretch)
    if stretch is not None:
        return samples, rests, stretch.rows()
    return samples, rests, middle(trace, trace.facts.rows, most=most_rows, progress=progress)


def samples_of(
    trace: Trace | TraceCopy,
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
