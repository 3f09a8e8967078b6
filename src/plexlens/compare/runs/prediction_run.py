"""A saved prediction compared with its outcome: whether the work was the same, the change was made, the result was
right.

The prediction (`plexlens.pools.prediction`) holds the work that it was made from, the pools that it was made for, and
the I/O it expects. The measurement is a performance database with Db2 statistics, or a page-reference trace of the time
after the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plexlens.compare.runs.comparability import Bounds, Comparability, comparability
from plexlens.compare.runs.database_run import BETWEEN, database_run
from plexlens.compare.runs.environment import Environments, SettingDifference
from plexlens.compare.runs.prediction_check import RateCheck, check_rate
from plexlens.compare.runs.run import Activity, Better, Estimate, Group, Measure, Reading, Run
from plexlens.compare.runs.subjects import SUBJECTS
from plexlens.errors import NothingUsableError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import PER_SECOND
from plexlens.pools.observation import Observation, ObservedObject, observe
from plexlens.pools.prediction import Activity as PoolActivity
from plexlens.pools.prediction import Prediction, State
from plexlens.pools.settings import Configuration
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: Read I/Os per second from which Db2 writes per record of a data set (IFCID 199).
LEAST_REPORTED = 1.0

READS = "db2_pool.read_ios_per_second"
WRITES = "db2_pool.write_ios_per_second"
_GETPAGES = "db2_pool.getpages"
_ACCESS = "db2_pool.getpages by access"
_UPDATES = "db2_pool.buffer updates"
_DATA_SETS = "data sets"

_COLUMNS = ("getpages_per_second", "read_ios_per_second", "write_ios_per_second")


@dataclass(frozen=True)
class _Rate:
    """A predicted rate: its measure, its value in a prediction, and the work that causes it."""

    measure: str
    amount: str
    work: str
    activity: str


_READ = _Rate(READS, "read_ios", "getpages", _GETPAGES)
_WRITE = _Rate(WRITES, "write_ios", "updates", _UPDATES)


@dataclass(frozen=True)
class Came:
    """Measurement after the change.

    Attributes
    ----------
    run
        Its work by pool, and its I/Os.
    how
        Where the I/Os come from, as a sentence.
    sizes
        Buffers of each pool, where they are recorded.
    data_sets
        Getpages and read I/Os per second of each data set; None where only pools are known.
    """

    run: Run
    how: str
    sizes: Mapping[str, float]
    data_sets: Mapping[str, tuple[float, float]] | None = None


@dataclass(frozen=True)
class PredictionComparison:
    """A prediction and its outcome.

    Attributes
    ----------
    environments
        Pools whose size is not that of the prediction.
    reads, writes
        Read and write I/Os per second of each pool: predicted, come, and what the load explains.
    data_sets
        The same of read I/Os by data set, the largest difference first; empty where only pools are known.
    estimates
        Spread of the measured read I/Os by pool, if there are intervals.
    """

    prediction: Prediction
    name: str
    came: Came
    environments: Environments
    comparability: Comparability
    reads: tuple[RateCheck, ...]
    writes: tuple[RateCheck, ...]
    data_sets: tuple[RateCheck, ...]
    estimates: Mapping[str, Estimate]

    @property
    def made(self) -> bool:
        """Whether all known pool sizes are those predicted for."""
        return not self.environments.differences


def came_in_database(inputs: Inputs, name: str) -> Came:
    """Db2's records of its pools after the change.

    Parameters
    ----------
    inputs
        The raw tables of the database, with the selection that counts.
    name
        What the user called it.

    Raises
    ------
    NothingUsableError
        It holds no statistics of buffer pools, or none of them are selected.
    """
    pools = next(subject for subject in SUBJECTS if subject.grain == "db2_pool")
    columns = tuple(column for column in pools.columns if column.column in _COLUMNS)
    # Members of a group are taken together: a prediction knows pools by their name alone.
    subjects = [replace(pools, by=("pool",), columns=columns, settings=("buffers",), together=False)]
    subjects += [
        replace(subject, by=("database", "page_set"), settings=())
        for subject in SUBJECTS
        if subject.grain == "db2_data_set"
    ]
    run = database_run(inputs, name, subjects=subjects)
    if not any(activity.id == _GETPAGES for activity in run.activities):
        raise NothingUsableError(
            file=name,
            what="it contains no statistics of buffer pools",
            remedy="name a database with SMF 100 of the time after the change, or a page-reference trace",
        )
    sizes = {}
    for setting in run.settings:
        kind, _, pool = setting.subject.partition(": ")
        if kind == "Db2 buffer pools" and pool:
            sizes[pool] = float(setting.value.split()[0].replace(",", ""))
    objects = next(
        (activity for activity in run.activities if activity.id == "db2_data_set.I/Os to Db2 data sets"), None
    )
    activities = [activity for activity in run.activities if activity.id in (_GETPAGES, _ACCESS, _UPDATES)]
    if objects is not None:
        amounts = {object_name.replace(BETWEEN, "."): amount for object_name, amount in objects.amounts.items()}
        activities.append(_named(amounts))
    return Came(
        replace(run, activities=tuple(activities)), "The measured I/Os are those recorded by Db2 (SMF 100).", sizes
    )


def came_in_trace(trace: Trace, name: str, prediction: Prediction, *, progress: Progress | None = None) -> Came:
    """Measurements from a trace of the time after the change.

    Read I/Os are those it records. Where it records none, the pools as predicted for are simulated, and so are writes.

    Parameters
    ----------
    trace
        The trace.
    name
        What the user called it.
    prediction
        What was predicted, with the pools it was predicted for.
    progress
        Told how far the reading is.

    Raises
    ------
    NothingUsableError
        It has no times, so that it has no rates.
    PlexlensError
        It cannot be read or simulated.
    """
    seen = observe(trace, Configuration(prediction.after.configuration.pools), progress=progress)
    if seen.seconds <= 0 or not seen.timed:
        raise NothingUsableError(
            file=name, what="the trace has no times, and rates need them", remedy="give a trace with a column time"
        )
    pools: dict[str, PoolActivity] = {}
    data_sets: dict[str, tuple[float, float]] = {}
    for data_set in seen.data_sets:
        mine = _observed(data_set, recorded=seen.recorded)
        pools[data_set.pool] = pools.get(data_set.pool, PoolActivity()) + mine
        title = trace.names.data_set(data_set.object, data_set.partition)
        before = data_sets.get(title, (0.0, 0.0))
        data_sets[title] = (before[0] + mine.getpages / seen.seconds, before[1] + mine.read_ios / seen.seconds)
    how = (
        "The measured read I/Os are those recorded in the trace (IFCID 6)."
        if seen.recorded
        else "The trace records no I/O: instead of a measurement, the predicted pools are simulated."
    )
    notes = _left_out(seen)
    run = _run(name, f"page-reference trace of {seen.seconds:,.0f} s", pools, seen.seconds, notes)
    named = _named({title: getpages for title, (getpages, _) in data_sets.items()}, title="getpages")
    return Came(replace(run, activities=(*run.activities, named)), how, {}, data_sets)


def compare_prediction(
    prediction: Prediction, name: str, came: Came, *, bounds: Bounds | None = None
) -> PredictionComparison:
    """Compare a prediction with its outcome.

    Parameters
    ----------
    prediction
        What was predicted.
    name
        What the user called it.
    came
        The measurement, from `came_in_database` or `came_in_trace`.
    bounds
        How far the work may differ and still count as alike.

    Raises
    ------
    NothingUsableError
        The prediction has no rates, or no pool is in both.
    """
    seconds = prediction.seconds
    if seconds <= 0:
        raise NothingUsableError(
            file=name,
            what="the trace of the prediction had no times, so it predicts no rates",
            remedy="predict from a trace with times (plexlens pools TRACE --save)",
        )
    run = _predicted(prediction, name, came)
    pools = [pool for pool in prediction.after.pools if came.run.value(READS, pool) is not None]
    if not pools:
        there = ", ".join(came.run.objects(READS)) or "none"
        raise NothingUsableError(
            file=came.run.name,
            what=f"it contains no pool of the prediction ({', '.join(prediction.after.pools) or 'none'})",
            remedy=f"name a run of the same Db2; its pools are {there}",
        )
    reads = [_check(prediction, came.run, _READ, pool) for pool in pools]
    writes = [_check(prediction, came.run, _WRITE, pool) for pool in pools if came.run.value(WRITES, pool) is not None]
    estimates = {
        pool: reading.estimate
        for pool in pools
        if (reading := came.run.readings.get((READS, pool))) is not None and reading.estimate is not None
    }
    return PredictionComparison(
        prediction,
        name,
        came,
        _sizes(prediction, came),
        comparability(run, came.run, bounds),
        tuple(reads),
        tuple(writes),
        tuple(_data_set_checks(prediction, came)),
        estimates,
    )


def _check(prediction: Prediction, run: Run, rate: _Rate, pool: str) -> RateCheck:
    after, before = prediction.after.pools.get(pool, PoolActivity()), prediction.before.pools.get(pool)
    return check_rate(
        pool,
        base=None if before is None else float(getattr(before, rate.amount)) / prediction.seconds,
        predicted=float(getattr(after, rate.amount)) / prediction.seconds,
        actual=run.value(rate.measure, pool) or 0.0,
        work_base=float(getattr(after, rate.work)) / prediction.seconds,
        work_new=_amounts(run, rate.activity).get(pool, 0.0),
    )


def _data_set_checks(prediction: Prediction, came: Came) -> list[RateCheck]:
    if came.data_sets is None:
        return []
    before, after = _by_data_set(prediction.before), _by_data_set(prediction.after)
    seconds = prediction.seconds
    checks = [
        check_rate(
            title,
            base=before[title].read_ios / seconds if title in before else None,
            predicted=mine.read_ios / seconds,
            actual=came.data_sets[title][1],
            work_base=mine.getpages / seconds,
            work_new=came.data_sets[title][0],
        )
        for title, mine in after.items()
        if title in came.data_sets
    ]
    return sorted(checks, key=lambda check: -abs(check.difference))


def _by_data_set(state: State) -> dict[str, PoolActivity]:
    activities: dict[str, PoolActivity] = {}
    for (_, title), mine in state.data_sets.items():
        activities[title] = activities.get(title, PoolActivity()) + mine
    return activities


def _predicted(prediction: Prediction, name: str, came: Came) -> Run:
    """The work that the prediction was made from, as a run to compare with the outcome."""
    run = _run(
        name,
        f"prediction from {', '.join(prediction.sources) or 'a trace'}, {prediction.seconds:,.0f} s",
        prediction.after.pools,
        prediction.seconds,
        prediction.notes,
    )
    activities = _by_data_set(prediction.after)
    if came.data_sets is not None:
        amounts = {title: mine.getpages / prediction.seconds for title, mine in activities.items()}
        return replace(run, activities=(*run.activities, _named(amounts, title="getpages")))
    # Db2 reports data sets without their partitions' getpages, and only those with I/O.
    amounts = {}
    for title, mine in activities.items():
        whole = ".".join(title.split(".")[:2])
        amounts[whole] = amounts.get(whole, 0.0) + mine.read_ios / prediction.seconds
    kept = {title: amount for title, amount in amounts.items() if amount >= LEAST_REPORTED}
    return replace(run, activities=(*run.activities, _named(kept))) if kept else run


def _named(amounts: Mapping[str, float], title: str = "I/Os") -> Activity:
    return Activity(
        _DATA_SETS,
        title,
        "Db2 data sets",
        {object_name: amount for object_name, amount in amounts.items() if amount > 0},
        only_objects=True,
    )


def _run(name: str, description: str, pools: Mapping[str, PoolActivity], seconds: float, notes: tuple[str, ...]) -> Run:
    def rates(amount: str) -> dict[str, float]:
        values = {pool: float(getattr(mine, amount)) / seconds for pool, mine in pools.items()}
        return {pool: rate for pool, rate in values.items() if rate > 0}

    random = sum(mine.random_getpages for mine in pools.values()) / seconds
    every = sum(mine.getpages for mine in pools.values()) / seconds
    activities = (
        Activity(_GETPAGES, "getpages", "Db2 buffer pools", rates("getpages")),
        Activity(
            _ACCESS, "getpages by access", "kinds of access", {"random": random, "sequential": every - random}, True
        ),
        Activity(_UPDATES, "buffer updates", "Db2 buffer pools", rates("updates")),
    )
    measures = {
        READS: Measure(READS, "Read I/Os", PER_SECOND, Group.IO, Better.LOWER, "Db2 buffer pools", "one pool"),
        WRITES: Measure(WRITES, "Write I/Os", PER_SECOND, Group.IO, Better.LOWER, "Db2 buffer pools", "one pool"),
    }
    readings = {(READS, pool): Reading(mine.read_ios / seconds) for pool, mine in pools.items()}
    readings |= {(WRITES, pool): Reading(mine.write_ios / seconds) for pool, mine in pools.items()}
    return Run(name, description, "database", (), activities, measures, readings, {}, "", notes)


def _observed(observed: ObservedObject, *, recorded: bool) -> PoolActivity:
    sync = observed.recorded_sync_reads if recorded else observed.counters.get("sync_reads", 0)
    prefetch = observed.recorded_prefetches if recorded else observed.counters.get("prefetch_reads", 0)
    return PoolActivity(
        getpages=observed.getpages,
        random_getpages=observed.getpages_of("random"),
        updates=observed.updates,
        sync_reads=sync,
        prefetch_reads=prefetch,
        write_ios=observed.counters.get("writes", 0),
    )


def _left_out(seen: Observation) -> tuple[str, ...]:
    return tuple(
        f"{count:,} references of the trace are left out: they are to {pool}, which the prediction does not cover."
        for pool, count in seen.left_out.items()
    )


def _amounts(run: Run, name: str) -> Mapping[str, float]:
    return next((activity.amounts for activity in run.activities if activity.id == name), {})


def _sizes(prediction: Prediction, came: Came) -> Environments:
    """Pools whose size differs from the size predicted for; a size that is not recorded does not count."""
    differences = []
    alike = 0
    for pool, settings in prediction.after.configuration.pools.items():
        if pool not in came.sizes:
            continue
        if round(came.sizes[pool]) == settings.size:
            alike += 1
            continue
        differences.append(
            SettingDifference(pool, "Pool size", f"{settings.size:,} pages", f"{came.sizes[pool]:,.0f} pages")
        )
    return Environments(tuple(differences), alike)
