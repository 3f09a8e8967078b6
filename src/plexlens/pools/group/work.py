"""What the references of several members are: split by member, and what they share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import TraceNames, pool_name
from plexlens.pools.curves import PoolCurve, add_to, check_sizes, curve_of, new_curves
from plexlens.pools.outcome import Work, work_of
from plexlens.pools.page_sample import Batches, Sampler
from plexlens.pools.placed import Placed
from plexlens.pools.settings import Placement
from plexlens.pools.simulation import refused
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: Data sets (object and partition) that are kept coherent, by pool id.
Dependents = Mapping[int, Sequence[tuple[int, int]]]


def by_member(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """References of each member in a batch, each in its order."""
    members = batch.column("member").to_numpy()
    there = np.flatnonzero(np.bincount(members)).tolist()
    if len(there) == 1:
        yield there[0], batch
        return
    for member in there:
        yield member, batch.filter(pa.array(members == member))


@dataclass(frozen=True)
class GroupWork:
    """What is known of a trace of several members after a pass over it.

    Attributes
    ----------
    numbers
        Names of the members by their numbers in the trace.
    members
        What each of them does.
    whole
        What all of them do together.
    dependent
        Data sets that several members use and one at least changes, with the objects where the trace has them.
    commits
        Whether the trace records commits.
    """

    numbers: Mapping[int, str]
    members: Mapping[str, Work]
    whole: Work
    dependent: Dependents
    commits: bool

    @property
    def updates_a_commit(self) -> int | None:
        """Updates after which a member commits, as a simulation is told."""
        return None if self.commits else 1

    @property
    def used(self) -> dict[str, list[str]]:
        """Pools that each member refers to."""
        return {name: work.pools for name, work in self.members.items()}

    @property
    def names(self) -> TraceNames:
        """Names of the trace."""
        return self.whole.names


def look_at_group(trace: Trace, *, progress: Progress | None = None) -> GroupWork:
    """What the members of a trace do; it is read once.

    Raises
    ------
    UsageError
        The trace has one member.
    """
    whole, samplers, interest = Sampler(), dict[int, Sampler](), _core.GroupInterest()
    for batch in trace.batches(progress):
        whole.add(batch)
        _add(interest, batch)
        for member, own in by_member(batch):
            samplers.setdefault(member, Sampler()).add(own)
    check_several(samplers)
    seconds = trace.facts.seconds
    names = named_in_order(samplers, trace.names)
    return GroupWork(
        numbers=names,
        members={name: work_of(samplers[number].sample(), trace.names, seconds) for number, name in names.items()},
        whole=work_of(whole.sample(), trace.names, seconds),
        dependent={pool: data_sets for pool, data_sets in interest.dependent().items() if data_sets},
        commits=trace.facts.references["commit"] > 0,
    )


def named_in_order(members: Iterable[int], names: TraceNames) -> dict[int, str]:
    """Names of members by number, in the order of the names."""
    return dict(sorted(((number, names.member(number)) for number in members), key=lambda pair: pair[1]))


def check_several(members: Collection[object]) -> None:
    """Refuse a trace of one member.

    Raises
    ------
    UsageError
        It has one.
    """
    if len(members) < 2:
        raise UsageError(
            file="",
            what="the trace has one member: there is nothing to keep coherent",
            remedy="simulate its pools alone, or give the traces of several members",
        )


def _add(interest: _core.GroupInterest, batch: pa.RecordBatch) -> None:
    try:
        interest.add(batch)
    except _core.PoolError as error:
        raise refused(error) from error


def dependents(
    trace: Batches, names: TraceNames, placements: Sequence[Placement], *, progress: Progress | None = None
) -> list[Dependents]:
    """Data sets that are kept coherent with the objects in other pools than the trace has them; one pass.

    Raises
    ------
    UsageError
        A data set that the trace does not have.
    """
    placed = [(Placed(placement, names), _core.GroupInterest()) for placement in placements]
    for batch in trace.batches(progress):
        for one, interest in placed:
            for moved in one.batches([batch]):
                _add(interest, moved)
    for one, _ in placed:
        one.check_all_met()
    return [
        {pool: data_sets for pool, data_sets in interest.dependent().items() if data_sets} for _, interest in placed
    ]


def member_curves(
    trace: Trace,
    *,
    sizes: Sequence[int] = (),
    sample: float | None = None,
    progress: Progress | None = None,
) -> dict[str, list[PoolCurve]]:
    """Curves of the pools of every member, by its name; one pass.

    A page that another member changes stays where it is on the curve: these are the misses of capacity alone. What is
    read again because of a change is in the simulation.

    Parameters
    ----------
    trace
        The trace; of one member there is one entry.
    sizes, sample, progress
        As `plexlens.pools.curves.curves_of` has them.

    Raises
    ------
    UsageError
        An impossible size or share.
    UnreadableInputError
        A file that is no trace.
    """
    check_sizes(sizes)
    new_curves(sample)
    source = ", ".join(path.name for path in trace.sources[:3])
    found: dict[int, _core.PoolCurves] = {}
    for batch in trace.batches(progress):
        for member, own in by_member(batch):
            if member not in found:
                found[member] = new_curves(sample)
            add_to(found[member], own, source=source)
    return {
        name: [curve_of(found[number], pool, trace.names, sizes) for pool in found[number].pools()]
        for number, name in named_in_order(found, trace.names).items()
    }


def dependent_names(found: Dependents, names: TraceNames) -> dict[str, tuple[str, ...]]:
    """Names of dependent data sets by the name of their pool."""
    return {
        pool_name(pool): tuple(sorted(names.data_set(*data_set) for data_set in data_sets))
        for pool, data_sets in found.items()
    }
