"""Contents of a trace: its data sets and their use, the work of each member, and the shared objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import TraceNames, pool_id, pool_name
from plexlens.pools.engine import refused
from plexlens.pools.members import ALONE, by_member, check_several, full_name, named_in_order
from plexlens.pools.page_sample import Batches, PageSample, Sampler, Use
from plexlens.pools.placed import Placed
from plexlens.pools.settings import Placement
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: Data sets (object and partition) that are kept coherent, by pool id.
Dependents = Mapping[int, Sequence[tuple[int, int]]]

_RANDOM = _core.TRACE_ACCESSES.index("random")


@dataclass(frozen=True)
class DataSetTable:
    """Data sets of a trace in columns. The last row stands for all that the trace has no getpage of.

    Attributes
    ----------
    keys
        Object and partition in one number, rising; one less than there are rows.
    names
        What they are called.
    getpages, random
        All getpages, and random getpages.
    pages
        Distinct pages.
    """

    keys: npt.NDArray[np.int64]
    names: npt.NDArray[np.object_]
    getpages: npt.NDArray[np.float64]
    random: npt.NDArray[np.float64]
    pages: npt.NDArray[np.float64]

    @classmethod
    def of(cls, work: Work) -> DataSetTable:
        """The data sets of a trace, or of a member."""
        known = sorted(work.data_sets.keys() | work.distinct_pages.keys())
        uses = [work.data_sets.get(data_set, Use()) for data_set in known]
        return cls(
            np.array([number << 16 | partition for number, partition in known], np.int64),
            np.array([*(work.names.data_set(*data_set) for data_set in known), ""], np.object_),
            np.array([*(use.total for use in uses), 0], np.float64),
            np.array([*(use.accesses[_RANDOM] for use in uses), 0], np.float64),
            np.array([*(work.distinct_pages.get(data_set, 0.0) for data_set in known), 0.0], np.float64),
        )

    def rows(self, objects: npt.NDArray[np.int64], partitions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Row of each data set."""
        wanted = objects.astype(np.int64) << 16 | partitions
        rows = np.searchsorted(self.keys, wanted)
        there = self.keys[np.minimum(rows, len(self.keys) - 1)] == wanted if len(self.keys) else wanted < 0
        return np.where(there, rows, len(self.keys))


@dataclass(frozen=True)
class Work:
    """Facts about a trace after a pass over it.

    Attributes
    ----------
    data_sets
        Use of each data set, by object and partition; of all members together.
    names
        What they are called.
    distinct_pages
        Pages of each data set; estimated where a sample was looked at.
    seconds
        Time that the trace covers; 0 if it has no times.
    members
        What each member of a group does, by its name; empty for a Db2 alone.
    numbers
        Names of the members by their numbers in the trace.
    dependent
        Data sets that several members use and one at least changes, with the objects where the trace has them.
    commits
        Whether the trace records commits.
    sample
        The sample of the getpages that was looked at; None where it was not kept.
    """

    data_sets: Mapping[tuple[int, int], Use]
    names: TraceNames
    distinct_pages: Mapping[tuple[int, int], float]
    seconds: float
    members: Mapping[str, Work] = field(default_factory=dict)
    numbers: Mapping[int, str] = field(default_factory=dict)
    dependent: Dependents = field(default_factory=dict)
    commits: bool = False
    sample: PageSample | None = field(default=None, repr=False, compare=False)

    def object_name(self, number: int) -> str:
        """Name of an object, all partitions together."""
        return self.names.data_set(number, 0)

    @property
    def parts(self) -> Mapping[str, Work]:
        """Work of each member; a single Db2 is a group of one without a name."""
        return self.members or {ALONE: self}

    @cached_property
    def objects(self) -> dict[int, Use]:
        """Use of each object."""
        uses: dict[int, Use] = {}
        for (number, _), use in self.data_sets.items():
            uses.setdefault(number, Use()).include(use)
        return uses

    @cached_property
    def table(self) -> DataSetTable:
        """The data sets in columns; their names are complete when it is first looked at."""
        return DataSetTable.of(self)

    @cached_property
    def _named(self) -> tuple[dict[str, int], dict[str, int], dict[int, list[tuple[int, int]]]]:
        """Objects by name, by name in capitals, and the data sets of each."""
        numbers = {self.object_name(number): number for number in self.objects}
        parts: dict[int, list[tuple[int, int]]] = {}
        for data_set in self.data_sets:
            parts.setdefault(data_set[0], []).append(data_set)
        return numbers, {name.upper(): number for name, number in numbers.items()}, parts

    @property
    def home(self) -> dict[str, str]:
        """The pool of each object, by names."""
        return {self.object_name(number): self.names.pool(use.home) for number, use in self.objects.items()}

    @property
    def pools(self) -> list[str]:
        """Pools of the trace."""
        numbers = {pool for use in self.data_sets.values() for pool in use.getpages}
        return [self.names.pool(number) for number in sorted(numbers)]

    @property
    def used(self) -> dict[str, list[str]]:
        """Pools referenced by each member."""
        return {member: part.pools for member, part in self.parts.items()}

    @property
    def pool_names(self) -> list[str]:
        """Pools of the trace by full name."""
        return [full_name(member, pool) for member, pools in self.used.items() for pool in pools]

    @property
    def updates_a_commit(self) -> int | None:
        """Updates per commit of a member, as passed to a simulation."""
        return None if self.commits else 1

    def numbers_of(self, placement: Placement) -> dict[tuple[int, int], int]:
        """The placement by number: object and partition to pool id.

        Raises
        ------
        UsageError
            An object that the trace does not have.
        """
        if not placement:
            return {}
        numbers, folded, parts = self._named
        counts: dict[tuple[int, int], int] = {}
        for name, pool in placement.items():
            number = numbers.get(name, folded.get(name.upper()))
            if number is None:
                raise UsageError(
                    file="", what=f"the trace has no object {name!r}", remedy=f"give one of {_some(sorted(numbers))}"
                )
            target = pool_id(pool)
            assert target is not None, "settings have checked the names of pools"
            counts |= dict.fromkeys(parts[number], target)
        return counts


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" ... ({len(names)} in all)" if len(names) > most else "")


def work_of(sample: PageSample, names: TraceNames, seconds: float) -> Work:
    """The work of a trace according to a sample."""
    return Work(sample.data_sets, names, sample.distinct_pages(), seconds, sample=sample)


def look_at(trace: Trace, *, group: bool | None = None, progress: Progress | None = None) -> Work:
    """Survey a trace: its objects, their use, its names, its members.

    Parameters
    ----------
    trace
        The trace; it is read once.
    group
        Whether its members are members of a group; None: if there are several.
    progress
        Told how far the reading is.

    Raises
    ------
    UsageError
        A group is asked for, and the trace has one member.
    """
    whole, samplers, interest = Sampler(), dict[int, Sampler](), _core.GroupInterest()
    for batch in trace.batches(progress):
        if group is False:
            whole.add(batch)
            continue
        _add(interest, batch)
        parts = list(by_member(batch))
        if len(samplers) == 1 and any(member not in samplers for member, _ in parts):
            # What the first member did so far is what all have done.
            whole = deepcopy(next(iter(samplers.values())))
        for member, own in parts:
            samplers.setdefault(member, Sampler()).add(own)
        if len(samplers) > 1:
            whole.add(batch)
    if group:
        check_several(samplers)
    seconds = trace.facts.seconds
    if len(samplers) < 2:
        (use,) = samplers.values() if samplers else (whole,)
        return work_of(use.sample(), trace.names, seconds)
    names = named_in_order(samplers, trace.names)
    return replace(
        work_of(whole.sample(), trace.names, seconds),
        members={name: work_of(samplers[number].sample(), trace.names, seconds) for number, name in names.items()},
        numbers=names,
        dependent=_dependent(interest),
        commits=trace.facts.references["commit"] > 0,
        sample=None,
    )


def _add(interest: _core.GroupInterest, batch: pa.RecordBatch) -> None:
    try:
        interest.add(batch)
    except _core.PoolError as error:
        raise refused(error) from error


def _dependent(interest: _core.GroupInterest) -> Dependents:
    return {pool: data_sets for pool, data_sets in interest.dependent().items() if data_sets}


def dependents(
    trace: Batches, names: TraceNames, placements: Sequence[Placement], *, progress: Progress | None = None
) -> list[Dependents]:
    """Data sets that must be kept coherent when objects are in other pools than in the trace; takes a single pass.

    Raises
    ------
    UsageError
        A data set that the trace does not have.
    """
    placed = [(Placed(placement, names), _core.GroupInterest()) for placement in placements]
    for batch in trace.batches(progress):
        for use, interest in placed:
            for moved in use.batches([batch]):
                _add(interest, moved)
    for use, _ in placed:
        use.check_all_met()
    return [_dependent(interest) for _, interest in placed]


def dependent_names(dependents: Dependents, names: TraceNames) -> dict[str, tuple[str, ...]]:
    """Names of dependent data sets by the name of their pool."""
    return {
        pool_name(pool): tuple(sorted(names.data_set(*data_set) for data_set in data_sets))
        for pool, data_sets in dependents.items()
    }
