"""Work and cost of a trace under a configuration of pools: simulated event by event, then priced.

Several configurations are simulated side by side in one pass over the trace, up to `TOGETHER`: more take another pass,
since reading takes less time than pools take memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.ingest.page_trace import pool_name
from plexlens.pools.activities import Activities
from plexlens.pools.alter import MovedObject
from plexlens.pools.cost import IoCost
from plexlens.pools.engine import in_columns, new_simulation, new_together, refused
from plexlens.pools.known_pools import Contents, KnownPools, contents_of
from plexlens.pools.members import ALONE, member_and_pool
from plexlens.pools.page_sample import Batches
from plexlens.pools.placed import Placed
from plexlens.pools.prediction import Activity, State, use_of
from plexlens.pools.settings import Configuration, page_bytes_of
from plexlens.pools.structures import id_of
from plexlens.pools.work import Dependents, Work, dependent_names, dependents
from plexlens.progress import Progress

#: Configurations that are simulated side by side.
TOGETHER = 4

_RANDOM = _core.TRACE_ACCESSES.index("random")


def moved_names(work: Work) -> dict[str, MovedObject]:
    """Names, kinds and SQL names of the objects of a trace."""
    results = {}
    for number in work.objects:
        name = work.object_name(number)
        statement = work.names.statement_name(number)
        kind = work.names.kind(number)
        known = kind == "index" and statement not in (name, work.names.number(number))
        results[name] = MovedObject(name, kind, statement if known else "")
    return results


def states_of(
    trace: Batches,
    configurations: Sequence[Configuration],
    *,
    work: Work,
    cost: IoCost,
    dependent: Dependents | None = None,
    known: KnownPools | None = None,
    progress: Progress | None = None,
) -> list[State]:
    """Simulate several configurations.

    Parameters
    ----------
    trace
        The trace, or a part of it.
    configurations
        Settings and placements. What is in a pool without settings is left out, and counted.
    work
        What a pass over the whole trace has found.
    cost
        Prices of I/O and of requests to group buffer pools.
    dependent
        Data sets that are kept coherent in all of them, where that is known; else a pass of its own finds it where
        objects are moved in a group.
    known
        Pools of a Db2 alone that were simulated on the same trace at the same prices; it grows. A pool that it has is
        not simulated again.
    progress
        Told how far the reading is.

    Raises
    ------
    UsageError
        Settings that cannot be simulated, an unknown object, a shared pool without a group buffer pool.
    """
    shared = _dependents(trace, configurations, work, dependent, progress)
    known = KnownPools() if known is None else known
    passes = math.ceil(len(configurations) / TOGETHER)
    states: list[State] = []
    for number in range(passes):
        cut = slice(number * len(configurations) // passes, (number + 1) * len(configurations) // passes)
        if work.members:
            states += _in_one_pass(trace, configurations[cut], shared[cut], work=work, cost=cost, progress=progress)
        else:
            states += _alone_in_one_pass(
                trace, configurations[cut], work=work, cost=cost, known=known, progress=progress
            )
    return states


def _in_one_pass(
    trace: Batches,
    configurations: Sequence[Configuration],
    shared: Sequence[Dependents],
    *,
    work: Work,
    cost: IoCost,
    progress: Progress | None,
) -> list[State]:
    runs = [_Run(configuration, work, own) for configuration, own in zip(configurations, shared, strict=True)]
    # Configurations of one placement share the moving.
    alike: dict[tuple[tuple[str, str], ...], list[_Run]] = {}
    for configuration, run in zip(configurations, runs, strict=True):
        alike.setdefault(tuple(sorted(configuration.placement.items())), []).append(run)
    moved = [(Placed(dict(placement), work.names), own) for placement, own in alike.items()]
    for batch in trace.batches(progress):
        for placed, own in moved:
            for rows in placed.batches([batch]):
                for run in own:
                    run.add(rows)
    return [run.state(cost) for run in runs]


def _alone_in_one_pass(
    trace: Batches,
    configurations: Sequence[Configuration],
    *,
    work: Work,
    cost: IoCost,
    known: KnownPools,
    progress: Progress | None,
) -> list[State]:
    """States of a Db2 alone, whose engine moves objects itself and reads each row once for all configurations."""
    placements = [work.numbers_of(configuration.placement) for configuration in configurations]
    contents = [
        contents_of(configuration, placement, work)
        for configuration, placement in zip(configurations, placements, strict=True)
    ]
    met: set[Contents] = set()
    simulated: list[Configuration] = []
    for configuration, own in zip(configurations, contents, strict=True):
        new = {
            name: pool
            for name, pool in configuration.pools.items()
            if name not in own or (own[name] not in known and own[name] not in met)
        }
        met.update(own.values())
        simulated.append(replace(configuration, pools=new))
    engine = new_together(simulated, placements)
    for batch in trace.batches(progress):
        try:
            engine.add(batch)
        except _core.PoolError as error:
            raise refused(error) from error
    states: list[State] = []
    for run, configuration in enumerate(configurations):
        pools: dict[str, Activity] = {}
        data_sets = Activities()
        for name, settings in configuration.pools.items():
            content = contents[run].get(name)
            if content is None or name in simulated[run].pools:
                counted = engine.data_sets(run, id_of(name))
                columns = {column: counted[column].to_numpy().astype(np.int64) for column in counted.schema.names}
                pools[name] = data_sets.add(name, columns, work, cost, page_fixed=settings.pgfix)
                if content is not None:
                    known.keep(content, data_sets, name)
            else:
                pools[name] = data_sets.share(name, *known.of(content))
        left_out = {
            pool_name(pool): rows
            for pool, rows in engine.without_configuration(run).items()
            if pool_name(pool) not in configuration.pools
        }
        states.append(State(configuration, pools, data_sets, {}, {}, left_out))
    return states


def _dependents(
    trace: Batches,
    configurations: Sequence[Configuration],
    work: Work,
    known: Dependents | None,
    progress: Progress | None,
) -> list[Dependents]:
    """Data sets that must be kept coherent in each configuration."""
    if known is not None or not work.members:
        return [known or {}] * len(configurations)
    moved = {
        tuple(sorted(configuration.placement.items())): configuration.placement
        for configuration in configurations
        if configuration.placement
    }
    results = dependents(trace, work.names, list(moved.values()), progress=progress) if moved else []
    by_placement = dict(zip(moved, results, strict=True))
    return [
        by_placement.get(tuple(sorted(configuration.placement.items())), work.dependent)
        for configuration in configurations
    ]


class _Run:
    """A configuration being simulated."""

    def __init__(self, configuration: Configuration, work: Work, shared: Dependents) -> None:
        self._configuration = configuration
        self._work = work
        self._names = dependent_names(shared, work.names)
        placement = work.numbers_of(configuration.placement)
        pools = configuration.pool_names
        # A group buffer pool may be there before the pool that is to use it.
        there = {name: structure for name, structure in configuration.structures.items() if name in pools}
        self._simulation = new_simulation(replace(configuration, structures=there), work.numbers, shared, placement)

    def add(self, batch: pa.RecordBatch) -> None:
        self._simulation.add(batch)

    def state(self, cost: IoCost) -> State:
        """The counters with their cost."""
        pools: dict[str, Activity] = {}
        data_sets = Activities()
        for name, settings in self._configuration.pools.items():
            part = self._work.parts[member_and_pool(name)[0]]
            counted = in_columns(self._simulation.data_sets(name))
            pools[name] = data_sets.add(name, counted, part, cost, page_fixed=settings.pgfix)
        uses = {}
        counted_twice = {name for name, _, _ in _core.GroupSimulation.member_fields()}
        for name, counters in self._simulation.uses(self._names).items():
            left = counted_twice if name.startswith("GBP") else ()
            use = use_of({key: count for key, count in counters.items() if key not in left})
            request = 0.0 if cost.request is None else cost.request.value
            uses[name] = replace(use, cpu_seconds=use.requests * request + cost.cpu_seconds(0, use.castout_ios))
        return State(self._configuration, pools, data_sets, uses, self._names, self._simulation.without_configuration())


#: Pages read at the price that the access of an object suggests, mixed into what was simulated of it: an object that
#: hardly reads now has a price all the same.
PRIOR_PAGES = 50.0


def weights_of(
    states: Sequence[State], work: Work, cost: IoCost, *, member: str = ALONE, delay_weight: float = 0.0
) -> dict[int, float]:
    """Cost of reading a page of each object: CPU seconds, plus delay at its weight.

    A page that a random getpage misses costs a synchronous read; one that prefetch brings costs its part of an I/O.
    How many are which is taken from simulations: of the present pools and of smaller ones, since an object that fits
    now is read in another way where it does not.

    Parameters
    ----------
    states
        Pools of several sizes, simulated.
    work
        What the trace is.
    member
        Whose reads count.
    cost
        Prices of I/O.
    delay_weight
        CPU seconds that a second of delay is worth.
    """
    sync_price = cost.sync_read.value + delay_weight * cost.sync_delay.value
    read: dict[str, Activity] = {}
    for state in states:
        for (pool, name), activity in state.data_sets.items():
            if member_and_pool(pool)[0] != member:
                continue
            read[name] = read.get(name, Activity()) + activity
    priors = prior_prices(work.parts[member], cost, delay_weight)
    sums: dict[int, list[float]] = {}
    for number, partition in work.parts[member].data_sets:
        known = read.get(work.names.data_set(number, partition), Activity())
        spent = known.sync_reads * sync_price + known.prefetch_reads * cost.async_io.value
        both = sums.setdefault(number, [priors[number] * PRIOR_PAGES, PRIOR_PAGES])
        both[0] += spent
        both[1] += known.pages_read
    return {number: spent / pages for number, (spent, pages) in sums.items()}


def prior_prices(work: Work, cost: IoCost, delay_weight: float = 0.0) -> dict[int, float]:
    """Cost of reading a page of each object as its access suggests: a random getpage reads alone, others by prefetch.

    Parameters
    ----------
    work
        What the trace, or a member, is.
    cost
        Prices of I/O.
    delay_weight
        CPU seconds that a second of delay is worth.
    """
    sync_price = cost.sync_read.value + delay_weight * cost.sync_delay.value
    results = {}
    for number, use in work.objects.items():
        page_bytes = page_bytes_of(work.names.pool(use.home)) or 4096
        quantity = max(32 * 4096 // page_bytes, 1)
        random = float(use.accesses[_RANDOM]) / max(use.total, 1)
        results[number] = random * sync_price + (1 - random) * cost.async_io.value / quantity
    return results
