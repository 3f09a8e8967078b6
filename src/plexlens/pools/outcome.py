"""What a configuration of pools does with the work of a trace: simulated event by event, priced.

Several configurations are simulated side by side in one pass over the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import TraceNames, pool_id
from plexlens.pools.alter import MovedObject
from plexlens.pools.cost import IoCost
from plexlens.pools.page_sample import Batches, PageSample, Use
from plexlens.pools.prediction import Activity, State
from plexlens.pools.settings import Configuration, Placement, page_bytes_of
from plexlens.progress import Progress

_RANDOM = _core.TRACE_ACCESSES.index("random")


@dataclass(frozen=True)
class Work:
    """What is known of a trace after a pass over it.

    Attributes
    ----------
    data_sets
        Use of each data set, by object and partition.
    names
        What they are called.
    distinct_pages
        Pages of each data set; estimated where a sample was looked at.
    seconds
        Time that the trace covers; 0 where it tells no times.
    """

    data_sets: Mapping[tuple[int, int], Use]
    names: TraceNames
    distinct_pages: Mapping[tuple[int, int], float]
    seconds: float

    def object_name(self, number: int) -> str:
        """Name of an object, all partitions together."""
        return self.names.data_set(number, 0)

    @property
    def objects(self) -> dict[int, Use]:
        """Use of each object."""
        found: dict[int, Use] = {}
        for (number, _), use in self.data_sets.items():
            found.setdefault(number, Use()).include(use)
        return found

    @property
    def home(self) -> dict[str, str]:
        """The pool of each object, by names."""
        return {self.object_name(number): self.names.pool(use.home) for number, use in self.objects.items()}

    @property
    def pools(self) -> list[str]:
        """Pools of the trace."""
        numbers = {pool for use in self.data_sets.values() for pool in use.getpages}
        return [self.names.pool(number) for number in sorted(numbers)]

    def numbers_of(self, placement: Placement) -> dict[tuple[int, int], int]:
        """The placement by numbers: object and partition to pool id.

        Raises
        ------
        UsageError
            An object that the trace does not have.
        """
        numbers = {self.object_name(number): number for number in self.objects}
        folded = {name.upper(): number for name, number in numbers.items()}
        found: dict[tuple[int, int], int] = {}
        for name, pool in placement.items():
            number = numbers.get(name, folded.get(name.upper()))
            if number is None:
                raise UsageError(
                    file="", what=f"the trace has no object {name!r}", remedy=f"give one of {_some(sorted(numbers))}"
                )
            target = pool_id(pool)
            assert target is not None, "settings have checked the names of pools"
            found |= {data_set: target for data_set in self.data_sets if data_set[0] == number}
        return found


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" ... ({len(names)} in all)" if len(names) > most else "")


def work_of(sample: PageSample, names: TraceNames, seconds: float) -> Work:
    """What a sample knows of a trace."""
    return Work(sample.data_sets, names, sample.distinct_pages(), seconds)


def moved_names(work: Work) -> dict[str, MovedObject]:
    """Names, kinds and SQL names of the objects of a trace."""
    found = {}
    for number in work.objects:
        name = work.object_name(number)
        statement = work.names.statement_name(number)
        kind = work.names.kind(number)
        known = kind == "index" and statement not in (name, work.names.number(number))
        found[name] = MovedObject(name, kind, statement if known else "")
    return found


def states_of(
    trace: Batches,
    configurations: Sequence[Configuration],
    *,
    work: Work,
    cost: IoCost,
    progress: Progress | None = None,
) -> list[State]:
    """Simulate configurations, all in one pass over the trace.

    Parameters
    ----------
    trace
        The trace.
    configurations
        Settings and placements. What is in a pool without settings is left out.
    work
        What a pass over the trace has found.
    cost
        Prices of I/O.
    progress
        Told how far the reading is.

    Raises
    ------
    UsageError
        Settings that cannot be simulated, an unknown object.
    """
    simulations = [_simulation(one, work) for one in configurations]
    for batch in trace.batches(progress):
        for simulation in simulations:
            simulation.add(batch)
    return [
        _state(simulation, configuration, work, cost)
        for simulation, configuration in zip(simulations, configurations, strict=True)
    ]


def _simulation(configuration: Configuration, work: Work) -> _core.PoolSimulation:
    settings: dict[int, dict[str, Any]] = {}
    for name, pool in configuration.pools.items():
        number = pool_id(name)
        assert number is not None, "settings have checked the names of pools"
        settings[number] = pool.engine()
    try:
        return _core.PoolSimulation(settings, placement=work.numbers_of(configuration.placement) or None)
    except _core.PoolError as error:
        what, _, remedy = str(error).partition("; ")
        raise UsageError(file="", what=what, remedy=remedy or "correct the settings") from error


def _state(simulation: _core.PoolSimulation, configuration: Configuration, work: Work, cost: IoCost) -> State:
    pools: dict[str, Activity] = {}
    data_sets: dict[tuple[str, str], Activity] = {}
    for name, settings in configuration.pools.items():
        number = pool_id(name)
        assert number is not None
        total = Activity()
        for entry, partition, counters in simulation.data_sets(number):
            activity = activity_of(counters, work, (entry, partition), cost, page_fixed=settings.pgfix)
            data_sets[name, work.names.data_set(entry, partition)] = activity
            total += activity
        pools[name] = total
    return State(configuration, pools, data_sets)


def activity_of(
    counters: Mapping[str, int], work: Work, data_set: tuple[int, int], cost: IoCost, *, page_fixed: bool
) -> Activity:
    """Counters of a data set in a pool (`plexlens._core.PoolSimulation.data_sets`), priced.

    Parameters
    ----------
    counters
        What was simulated.
    work
        What the trace is.
    data_set
        Object and partition.
    cost
        Prices of I/O.
    page_fixed
        Whether the pool is.
    """
    use = work.data_sets.get(data_set, Use())
    share = counters["getpages"] / use.total if use.total else 0.0
    random = share * float(use.accesses[_RANDOM])
    distinct = work.distinct_pages.get(data_set, 0.0)
    sync, prefetch, writes = counters["sync_reads"], counters["prefetch_reads"], counters["writes"]
    return Activity(
        getpages=counters["getpages"],
        random_getpages=random,
        updates=counters["updates"],
        distinct_pages=distinct,
        sync_reads=sync,
        prefetch_reads=prefetch,
        pages_read=sync + counters["prefetch_pages"],
        write_ios=writes,
        pages_written=counters["pages_written"],
        cpu_seconds=cost.cpu_seconds(sync, prefetch + writes, page_fixed=page_fixed),
        delay_seconds=sync * cost.sync_delay.value,
    )


#: Pages read at the price that the access of an object suggests, mixed into what was simulated of it: an object that
#: hardly reads now has a price all the same.
_PRIOR_PAGES = 50.0


def weights_of(states: Sequence[State], work: Work, cost: IoCost, *, delay_weight: float = 0.0) -> dict[int, float]:
    """What a page read of each object costs: CPU seconds, and delay at its weight.

    A page that a random getpage misses costs a synchronous read; one that prefetch brings costs its part of an I/O.
    How many are which is taken from simulations: of the present pools and of smaller ones, since an object that fits
    now is read in another way where it does not.

    Parameters
    ----------
    states
        Pools of several sizes, simulated.
    work
        What the trace is.
    cost
        Prices of I/O.
    delay_weight
        CPU seconds that a second of delay is worth.
    """
    sync_price = cost.sync_read.value + delay_weight * cost.sync_delay.value
    read: dict[str, Activity] = {}
    for state in states:
        for (_, name), activity in state.data_sets.items():
            read[name] = read.get(name, Activity()) + activity
    sums: dict[int, list[float]] = {}
    for (number, partition), use in work.data_sets.items():
        page_bytes = page_bytes_of(work.names.pool(use.home)) or 4096
        quantity = max(32 * 4096 // page_bytes, 1)
        random = float(use.accesses[_RANDOM]) / max(use.total, 1)
        prior = random * sync_price + (1 - random) * cost.async_io.value / quantity
        known = read.get(work.names.data_set(number, partition), Activity())
        spent = known.sync_reads * sync_price + known.prefetch_reads * cost.async_io.value
        both = sums.setdefault(number, [0.0, 0.0])
        both[0] += spent + prior * _PRIOR_PAGES
        both[1] += known.pages_read + _PRIOR_PAGES
    return {number: spent / pages for number, (spent, pages) in sums.items()}
