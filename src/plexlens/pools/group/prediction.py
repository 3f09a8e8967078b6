"""What a change of a group's pools would do: stated, or recommended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plexlens.pools.alter import Script, script
from plexlens.pools.group.alter import group_script
from plexlens.pools.group.cost import GroupCost
from plexlens.pools.group.recommend import GroupRecommendation
from plexlens.pools.group.settings import GroupConfiguration
from plexlens.pools.group.states import GroupPoolActivity, GroupState, group_states
from plexlens.pools.group.work import GroupWork
from plexlens.pools.outcome import moved_names
from plexlens.pools.prediction import Engine, Prediction, State, save
from plexlens.pools.settings import Configuration
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: How predictions for a group are made.
ENGINE = Engine(
    "group simulation",
    text="every getpage of all members simulated with page steal, prefetch, write thresholds, cross-invalidation and "
    "castout; nothing is in the pools when the trace begins",
)


@dataclass(frozen=True)
class GroupPrediction:
    """What a change is expected to do to a group.

    Attributes
    ----------
    sources
        Names of the trace's files.
    seconds
        Time that the trace covers; 0 where it tells no times.
    before
        The group now; without pools where nothing tells their sizes.
    after
        The group after the change.
    cost
        Prices.
    script
        Text of the change, and of what undoes it.
    objects
        Home of each object in the trace.
    notes
        What must be known to judge it.
    """

    sources: tuple[str, ...]
    seconds: float
    before: GroupState
    after: GroupState
    cost: GroupCost
    script: Script
    objects: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether the group is known as it is, and changes."""
        return bool(self.before.members) and self.before.configuration != self.after.configuration


def predict_group(
    trace: Trace,
    before: GroupConfiguration,
    after: GroupConfiguration,
    *,
    work: GroupWork,
    cost: GroupCost,
    progress: Progress | None = None,
) -> GroupPrediction:
    """What a stated change of a group would do.

    Parameters
    ----------
    trace
        The references of all members.
    before, after
        The group now and then. Where pools of the trace have no size before, nothing is said of what is saved.
    work
        What the members do.
    cost
        Prices.
    progress
        Told how far the reading is.

    Raises
    ------
    UsageError
        Settings that cannot be simulated, an unknown object, a shared pool without a group buffer pool.
    """
    missing = [
        f"{member}.{pool}"
        for member, one in work.members.items()
        for pool in one.pools
        if pool not in before.members[member].pools
    ]
    notes = list(after.notes)
    if missing:
        notes.append(
            f"The present size of {', '.join(missing)} is not known, so nothing is said of what the change saves"
        )
        (then,) = group_states(trace, [after], work=work, cost=cost, progress=progress)
        now = GroupState(GroupConfiguration({name: Configuration() for name in before.members}, name=before.name))
        text = Script((), ())
    else:
        now, then = group_states(trace, [before, after], work=work, cost=cost, progress=progress)
        text = group_script(before, after, moved_names(work.whole), work.whole.home)
    if then.left_out:
        names = ", ".join(f"{member}.{pool}" for member, pool in then.left_out)
        notes.append(f"Pools without settings are left out: {names}")
    return GroupPrediction(
        sources=tuple(path.name for path in trace.sources),
        seconds=work.whole.seconds,
        before=GroupState(now.configuration) if missing else now,
        after=then,
        cost=cost,
        script=text,
        objects=work.whole.home,
        notes=(*notes, *trace.facts.notes),
    )


def prediction_of(found: GroupRecommendation, trace: Trace, work: GroupWork, cost: GroupCost) -> GroupPrediction:
    """The prediction that a recommendation makes."""
    return GroupPrediction(
        sources=tuple(path.name for path in trace.sources),
        seconds=work.whole.seconds,
        before=found.before,
        after=found.after,
        cost=cost,
        script=found.script,
        objects=work.whole.home,
        notes=(*found.notes, *trace.facts.notes),
    )


def save_members(path: Path, found: GroupPrediction) -> list[Path]:
    """Write the prediction of each member, to be checked against the statistics of that Db2 later.

    ``prediction.json`` becomes ``prediction.DB1A.json`` and so on.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    UsageError
        One cannot be written there.
    """
    written = []
    for member, after in found.after.members.items():
        before = found.before.members.get(member, State(Configuration()))
        text = Script((), ())
        if before.configuration.pools:
            text = script(
                Configuration(before.configuration.pools), Configuration(after.configuration.pools), {}, found.objects
            )
        one = Prediction(
            sources=found.sources,
            seconds=found.seconds,
            members=(member,),
            before=before,
            after=after,
            cost=found.cost.to_json(),
            engine=ENGINE,
            commands=text.change,
            reverse=text.reverse,
            notes=found.notes,
        )
        target = path.with_name(f"{path.stem}.{member}{path.suffix}")
        save(target, one)
        written.append(target)
    return written


def to_json(found: GroupPrediction) -> dict[str, Any]:
    """The prediction as one JSON object."""
    return {
        "sources": list(found.sources),
        "seconds": found.seconds,
        "name": found.after.configuration.name,
        "engine": asdict(ENGINE),
        "cost": found.cost.to_json(),
        "dependent": {pool: list(names) for pool, names in found.after.dependent.items()},
        "before": _state_to_json(found.before),
        "after": _state_to_json(found.after),
        "commands": list(found.script.change),
        "reverse": list(found.script.reverse),
        "notes": list(dict.fromkeys(found.notes)),
    }


def _state_to_json(state: GroupState) -> dict[str, Any]:
    settings = state.configuration
    return {
        "members": {
            name: {
                pool: asdict(settings.members[name].pools[pool]) | {"activity": asdict(activity)}
                for pool, activity in one.pools.items()
            }
            for name, one in state.members.items()
        },
        "group_pools": {
            f"G{pool}": {
                "data_entries": settings.structures[pool].data_entries,
                "directory_entries": settings.structures[pool].directory_entries,
                "ratio": settings.structures[pool].ratio,
                "bytes": settings.structures[pool].bytes,
                "activity": asdict(activity),
                "members": {member: asdict(use) for (member, of), use in state.uses.items() if of == pool and member},
            }
            for pool, activity in state.structures.items()
        },
        "placement": dict(settings.placement),
        "cpu_seconds": state.cpu_seconds,
    }


def recommendation_to_json(found: GroupRecommendation) -> dict[str, Any]:
    """The steps of a recommendation as one JSON object."""
    return {
        "steps": [
            {
                "title": step.title,
                "worth": step.worth,
                "why": step.why,
                "value": step.value,
                "cpu_seconds_saved": step.before.cpu_seconds - step.after.cpu_seconds,
                "read_ios_saved": step.before.total.read_ios - step.after.total.read_ios,
                "commands": list(step.script.change),
                "reverse": list(step.script.reverse),
            }
            for step in found.steps
        ],
        "gaps": dict(found.gaps),
        "references": found.stretch,
        "budgets": dict(found.limits.budgets),
        "group_pool_budget": found.limits.structures,
    }


def hit_share(one: GroupPoolActivity) -> float | None:
    """Share of the reads of invalid pages that the group buffer pool had; None without such reads."""
    return one.invalid_with_data / one.invalid_reads if one.invalid_reads else None
