"""Prediction for a stated change of pools: the present and the changed pools, simulated on the same trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plexlens.errors import UsageError
from plexlens.pools.alter import Script, script
from plexlens.pools.cost import IoCost
from plexlens.pools.outcome import moved_names, states_of
from plexlens.pools.prediction import Engine, Prediction, State
from plexlens.pools.search.recommendation import Recommendation
from plexlens.pools.settings import Configuration, PoolSettings, pool_page_bytes
from plexlens.pools.simulated_pool import with_trial
from plexlens.pools.site import completed
from plexlens.pools.trace import Trace
from plexlens.pools.work import Work
from plexlens.progress import Progress

#: How predictions are made.
ENGINE = Engine(
    "policy simulation",
    text="every getpage of the trace simulated with page steal, prefetch and write thresholds, from what the "
    "trace found in the pools when it began",
)

#: How predictions for a group are made.
GROUP_ENGINE = Engine(
    "group simulation",
    text="every getpage of all members simulated with page steal, prefetch, write thresholds, cross-invalidation and "
    "castout, from what the trace found in the pools when it began",
)


def check_against(work: Work, configuration: Configuration) -> None:
    """Check that settings name pools that occur in the trace, or to which an object moves.

    Raises
    ------
    UsageError
        A pool or object that is not in the trace, a move to a pool without size or of another page size.
    """
    targets = set(configuration.placement.values())
    there = work.pools
    unknown = [
        name for name, pool in configuration.pools.items() if pool.name not in there and pool.name not in targets
    ]
    if unknown:
        raise UsageError(
            file="",
            what=f"{', '.join(unknown)}: the trace has no such pool, and no object moves to it",
            remedy=f"the trace has {', '.join(there)}",
        )
    numbers = work.numbers_of(configuration.placement)
    objects = {work.object_name(number) for number, _ in numbers}
    sized = configuration.pool_names
    for name, target in configuration.placement.items():
        if target not in sized:
            raise UsageError(
                file="",
                what=f"{name} goes to {target}, whose size is not known",
                remedy=f"give it with --pool {target}=SIZE",
            )
        source = work.home.get(name, "") or next(
            work.home[configuration] for configuration in objects if configuration.upper() == name.upper()
        )
        if pool_page_bytes(source) != pool_page_bytes(target):
            raise UsageError(
                file="",
                what=f"{name} cannot move from {source} to {target}: pages of {pool_page_bytes(source)} and "
                f"{pool_page_bytes(target)} bytes",
                remedy="name a pool of the same page size",
            )


def known_names(work: Work, configuration: Configuration) -> Configuration:
    """The configuration with object names spelled as in the trace, whatever case they were given in."""
    folded = {name.upper(): name for name in work.home}
    placement = {folded.get(name.upper(), name): pool for name, pool in configuration.placement.items()}
    return replace(configuration, placement=placement)


def predict(
    trace: Trace,
    work: Work,
    before: Configuration,
    after: Configuration,
    *,
    cost: IoCost,
    progress: Progress | None = None,
) -> Prediction:
    """Predict the effect of a pool change.

    Parameters
    ----------
    trace
        The trace.
    work
        What it is (`look_at`).
    before, after
        The pools now and then. Pools of the trace without settings are left out, of both.
    cost
        Prices of I/O.
    progress
        Told how far the reading is.

    Raises
    ------
    UsageError
        Pools, objects or moves that cannot be.
    """
    after = known_names(work, after)
    before = known_names(work, before)
    for configuration in (before, after):
        check_against(work, configuration)
    if work.members:
        before, after = _coupled(trace, work, before, after, progress)
    known = [configuration for configuration in (before, after) if configuration.pools]
    states = states_of(trace, known, work=work, cost=cost, progress=progress)
    text = text_of(work, before, after)
    return Prediction(
        sources=tuple(path.name for path in trace.sources),
        seconds=work.seconds,
        members=trace.facts.members,
        before=states[0] if before.pools else State(before),
        after=states[-1] if after.pools else State(after),
        cost=cost.to_json(),
        engine=GROUP_ENGINE if work.members else ENGINE,
        commands=text.change,
        reverse=text.reverse,
        notes=(
            *dict.fromkeys((*before.notes, *after.notes)),
            *_left_out(work, after),
            *trace.facts.notes,
            *_sides(before),
        ),
    )


def _coupled(
    trace: Trace, work: Work, before: Configuration, after: Configuration, progress: Progress | None
) -> tuple[Configuration, Configuration]:
    """Both configurations with the group buffer pools that are needed; unknown ones are assumed."""
    then = completed(after, work, trace, progress=progress)
    now = completed(before, work, trace, progress=progress)
    # A group buffer pool that is assumed, or stated where none was known, is the same before and after.
    pools = now.pool_names
    same = {
        pool: structure
        for pool, structure in then.structures.items()
        if pool not in before.structures and pool in pools
    }
    return now.with_structures(same), then


def text_of(work: Work, before: Configuration, after: Configuration) -> Script:
    """Text for Db2; for pools whose present settings are unknown, only the requested settings, without a reverse."""
    there = work.pool_names
    unknown = [name for name in after.pools if name in there and name not in before.pools]
    # Another size and the defaults of Db2, so that the size and whatever is not by default are named.
    assumed = {name: PoolSettings.of(after.pools[name].name, after.pools[name].size + 1) for name in unknown}
    known = replace(before, pools={**before.pools, **assumed}, assumed=before.assumed | set(assumed))
    return with_trial(script(known, after, moved_names(work), work.home), known, after, work.home)


def _left_out(work: Work, configuration: Configuration) -> Sequence[str]:
    left = [name for name in work.pool_names if name not in configuration.pools]
    return [f"Pools without settings are left out: {', '.join(left)}."] if left else []


def _sides(before: Configuration) -> Sequence[str]:
    if before.pools:
        return []
    return ["The saving cannot be computed, because the present pools are not known: give --settings."]


def prediction_of(recommendation: Recommendation, trace: Trace, work: Work, cost: IoCost) -> Prediction:
    """The prediction of a recommendation, to be saved and checked later."""
    state: State = recommendation.after
    engine = replace(GROUP_ENGINE if work.members else ENGINE, sample=recommendation.sample)
    return Prediction(
        sources=tuple(path.name for path in trace.sources),
        seconds=work.seconds,
        members=trace.facts.members,
        before=recommendation.before,
        after=state,
        cost=cost.to_json(),
        engine=engine,
        commands=recommendation.script.change,
        reverse=recommendation.script.reverse,
        notes=(*recommendation.notes, *trace.facts.notes),
    )
